//! Segment: a cursor over the packed bytes of (buffer, count, datatype) (seed 000, "segments"; mission A2).
//!
//! `layout` has the shape, `buffer` makes the moves, and `external` converts where the packed bytes are not those of
//! memory.
//!
//! What must stay true:
//! - A segment reaches only bytes that somebody vouched for or lent: outside of this crate it is made of a [`Base`], and from
//!   then on it neither grows nor moves.
//! - Any byte of the packed stream is a valid position, in the middle of an element too. A segment keeps nothing
//!   but its position: each call finds its place in the layout by division and binary search, which costs
//!   nothing beside the kilobytes it then moves, and makes segments small, cloneable and free of allocation.
//! - What is combined where it arrives (`combination`) comes in order and once, so such a segment hands out no address.
//! - A segment that is one run of bytes knows it from the start and never looks at its type again, unless it is
//!   typed: then somebody asks what the bytes mean.
//! - Walking recurses once per loop of the layout: 63 levels at most (see `layout`).

use super::combination::Combination;
use super::external::{self, Form};
use super::layout::{Piece, Shape};
use super::{ByteOrder, Datatype, Format, Measure, Signature, Types};
use crate::buffer::{Base, Mover, Span, Turns, UserBuf, Visitor, device};
use crate::error::Result;
use posthaste_os::mem::{Sink, Source, Store};
use std::ops::Range;
use std::sync::Arc;

/// Packed bytes in user memory, and how far they have been moved.
#[derive(Clone, Debug)]
pub struct Segment {
    buf: UserBuf,
    total: u64,
    position: u64,
    elements: Elements,
    meaning: Meaning,
}

/// What the packed bytes are.
#[derive(Clone, Debug)]
enum Elements {
    /// One run that starts at `buf`.
    Run,
    /// Elements of a datatype. They may be one run, too, if the segment is typed.
    Of(Datatype),
    /// Elements that are combined with what lies there.
    Combined(Arc<Combination>),
}

/// Whether anybody will ask what the bytes mean, and whether they can be touched here: what is not `Bytes` keeps off the
/// fast paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Nobody: the datatype only says where they are.
    Bytes,
    /// The datatype is remembered in any case.
    Typed,
    /// And packed bytes are those of the canonical form; memory has this order.
    Canonical(ByteOrder),
    /// Nobody: they are combined with what lies there, one after the other.
    Combined,
    /// As `Bytes`, in memory of a device: its runs can be listed, and nothing else.
    Device,
    /// As `Typed`, in memory of a device.
    DeviceTyped,
}

impl Meaning {
    fn in_host_memory(self) -> Self {
        match self {
            Self::Device => Self::Bytes,
            Self::DeviceTyped => Self::Typed,
            other => other,
        }
    }
}

impl Segment {
    /// No bytes.
    pub fn empty() -> Self {
        Self::contiguous(UserBuf::none(), 0)
    }

    /// `len` bytes of the program, in one run.
    #[inline]
    pub fn bytes_at(base: Base, len: u64) -> Self {
        // Made of numbers alone, so that a short message's segment stays in registers.
        let is_device = device::is_registered() && len > 0 && device::is_owned(base.address(), 1);
        let meaning = if is_device { Meaning::Device } else { Meaning::Bytes };
        Self { meaning, ..Self::contiguous(base.buf(), len) }
    }

    /// `count` elements of a datatype, in the program's memory.
    #[inline]
    pub fn elements_at(base: Base, count: u64, datatype: &Datatype) -> Self {
        Self::new(base.buf(), count, datatype).placed()
    }

    /// The same for a caller who has no more use for the datatype: counting its users up and down again takes
    /// two atomic steps, which a message of a few KiB feels.
    #[inline]
    pub fn owning_at(base: Base, count: u64, datatype: Datatype) -> Self {
        let buf = base.buf();
        match Self::one_run(buf, count, &datatype) {
            Some(run) => run.placed(),
            None => Self::walked(buf, count, datatype).placed(),
        }
    }

    /// `count` elements of a datatype, which is remembered even where everything is one run: for checking that both
    /// sides mean the same, and for converting between formats.
    pub fn typed_at(base: Base, count: u64, datatype: &Datatype) -> Self {
        Self::typed(base.buf(), count, datatype).placed()
    }

    /// The same with the kind of memory found out, once: all of one description lies in one memory.
    #[inline(always)]
    fn placed(self) -> Self {
        if device::is_registered() { self.found() } else { self }
    }

    #[cold]
    fn found(self) -> Self {
        let mut first = Vec::new();
        self.clone().runs(1, 1, &mut first);
        match first.first() {
            Some((address, _)) if device::is_owned(*address, 1) => self.on_device(),
            _ => self,
        }
    }

    fn on_device(self) -> Self {
        let meaning = if self.is_typed() { Meaning::DeviceTyped } else { Meaning::Device };
        Self { meaning, ..self }
    }

    /// The same packed bytes, lying in one piece at `base`, from the beginning. They must not lie in memory of a device.
    pub fn repacked_at(&self, base: Base) -> Self {
        self.repacked(base.buf())
    }

    /// `len` bytes in one run.
    #[inline]
    pub(crate) fn contiguous(buf: UserBuf, len: u64) -> Self {
        Self { buf, total: len, position: 0, elements: Elements::Run, meaning: Meaning::Bytes }
    }

    /// `count` elements of a datatype.
    #[inline]
    pub(crate) fn new(buf: UserBuf, count: u64, datatype: &Datatype) -> Self {
        Self::one_run(buf, count, datatype).unwrap_or_else(|| Self::walked(buf, count, datatype.clone()))
    }

    /// See [`Segment::typed_at`].
    pub(crate) fn typed(buf: UserBuf, count: u64, datatype: &Datatype) -> Self {
        let total = count.saturating_mul(datatype.size());
        Self { buf, total, position: 0, elements: Elements::Of(datatype.clone()), meaning: Meaning::Typed }
    }

    /// `count` elements that are combined with what lies at `buf`, where they arrive. The bytes have to come in their order, and
    /// each of them once.
    pub(crate) fn combined(buf: UserBuf, count: u64, combination: Arc<Combination>) -> Self {
        let total = count.saturating_mul(combination.datatype().size());
        Self {
            buf,
            total,
            position: 0,
            elements: Elements::Combined(combination),
            meaning: Meaning::Combined,
        }
    }

    /// See [`Segment::repacked_at`].
    pub(crate) fn repacked(&self, buf: UserBuf) -> Self {
        let elements = match self.datatype().filter(|_| self.is_typed()) {
            Some(datatype) => Elements::Of(datatype.packed()),
            None => Elements::Run,
        };
        Self { buf, position: 0, elements, meaning: self.meaning.in_host_memory(), ..*self }
    }

    /// The same with the packed bytes in the canonical form (see `external`), for a peer of unlike format; `format` is
    /// that of this process. A segment that is not typed is bytes, which are the same in every format.
    #[must_use]
    pub fn canonical(self, format: Format) -> Self {
        if self.is_typed() { Self { meaning: Meaning::Canonical(format.order), ..self } } else { self }
    }

    /// The same with the packed bytes as they are in memory.
    pub(super) fn in_memory(&self) -> Self {
        Self { meaning: Meaning::Typed, ..self.clone() }
    }

    /// The type of its elements, if it is not one run or is remembered.
    #[inline]
    fn datatype(&self) -> Option<&Datatype> {
        match &self.elements {
            Elements::Run => None,
            Elements::Of(datatype) => Some(datatype),
            Elements::Combined(combination) => Some(combination.datatype()),
        }
    }

    /// Whether the datatype is remembered in any case.
    #[inline]
    pub fn is_typed(&self) -> bool {
        !matches!(self.meaning, Meaning::Bytes | Meaning::Device | Meaning::Combined)
    }

    /// Whether what arrives is combined with what lies there.
    #[inline]
    pub fn is_combined(&self) -> bool {
        self.meaning == Meaning::Combined
    }

    /// The memory of elements that are combined, as elements that are written.
    pub(crate) fn overwritten(&self) -> Self {
        match &self.elements {
            Elements::Combined(combination) => {
                let datatype = combination.datatype();
                Self::new(self.buf, self.total / datatype.size(), datatype)
            }
            _ => self.clone(),
        }
    }

    /// All of it, made of numbers alone, if it may take a fast path and is one run from the start.
    #[inline(always)]
    pub(crate) fn run(&self) -> Option<Self> {
        let is_run = matches!(self.elements, Elements::Run) && self.is_plain();
        is_run.then(|| Self::contiguous(self.buf, self.total))
    }

    /// Where it lies, if it is bytes in one run that nobody asks for types of, or such bytes are combined where they arrive.
    pub(crate) fn place(&self) -> Option<(UserBuf, u64)> {
        let is_one = match &self.elements {
            Elements::Run => self.is_plain(),
            Elements::Of(_) => false,
            Elements::Combined(_) => true,
        };
        is_one.then_some((self.buf, self.total))
    }

    /// Where the right operands of what is combined lie, if elsewhere.
    pub(crate) fn right(&self) -> Option<(UserBuf, u64)> {
        let Elements::Combined(combination) = &self.elements else { return None };
        Some((combination.right()?, self.total))
    }

    /// Moves a segment that has a [`place`](Segment::place) to another one.
    #[inline]
    pub(crate) fn move_by(&mut self, moved: impl FnOnce(UserBuf) -> UserBuf) {
        debug_assert!(self.place().is_some() && self.position == 0, "{self:?} moves");
        self.buf = moved(self.buf);
    }

    /// Moves the right operands of what is combined, if they lie elsewhere.
    pub(crate) fn move_right(&mut self, moved: impl FnOnce(UserBuf) -> UserBuf) {
        if let Elements::Combined(combination) = &mut self.elements
            && let Some(right) = combination.right()
        {
            Combination::move_right(combination, moved(right));
        }
    }

    /// Whether it may take a fast path: bytes in memory of the processor, whose types nobody asks for.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.meaning == Meaning::Bytes
    }

    /// Whether the bytes lie in memory of a device, where nothing of this process can touch them.
    #[inline]
    pub fn is_on_device(&self) -> bool {
        matches!(self.meaning, Meaning::Device | Meaning::DeviceTyped)
    }

    /// What a message from a typed segment says of its types; nothing if the segment is not typed.
    #[inline]
    pub fn types(&self) -> Types {
        if self.is_typed() { self.all_types() } else { Types::UNKNOWN }
    }

    #[cold]
    fn all_types(&self) -> Types {
        let Some(datatype) = self.datatype() else { return Types::UNKNOWN };
        datatype.signature().types(self.total.checked_div(datatype.size()).unwrap_or(0))
    }

    /// The basic types of one element of a typed segment.
    pub fn signature(&self) -> Option<Signature> {
        self.datatype().filter(|_| self.is_typed()).map(Datatype::signature)
    }

    /// Everything as one run, if it is one.
    #[inline]
    fn one_run(buf: UserBuf, count: u64, datatype: &Datatype) -> Option<Self> {
        let total = count.saturating_mul(datatype.size());
        if let Some(builtin) = datatype.builtin()
            && builtin.size as i64 == builtin.extent
        {
            return Some(Self::contiguous(buf, total));
        }
        let alone = count == 1 || datatype.size() as i64 == datatype.extent();
        match datatype.layout().piece() {
            Some(Piece { offset, shape: Shape::Run(_) }) if alone => {
                Some(Self::contiguous(buf.offset(*offset as isize), total))
            }
            Some(_) if total > 0 => None,
            _ => Some(Self::contiguous(buf, 0)),
        }
    }

    /// Packed bytes `from..to` as a segment of their own, as far as there are that many. A part that ends inside of
    /// an element is described run by run, and is bytes to everybody.
    ///
    /// # Errors
    /// When such a part has more runs than a datatype can have.
    pub fn part(&self, from: u64, to: u64) -> Result<Self> {
        let to = to.min(self.total);
        let from = from.min(to);
        if self.is_on_device() && from < to {
            let host = Self { meaning: self.meaning.in_host_memory(), ..self.clone() };
            return host.part(from, to).map(Self::on_device);
        }
        debug_assert!(!self.is_combined());
        let Some(datatype) = self.datatype().filter(|_| from < to) else {
            return Ok(Self::contiguous(self.buf.offset(from as isize), to - from));
        };
        let size = datatype.size();
        if from.is_multiple_of(size) && to.is_multiple_of(size) {
            let by = ((from / size) as i64).wrapping_mul(datatype.extent());
            let (buf, count) = (self.buf.offset(by as isize), (to - from) / size);
            return Ok(Self { meaning: self.meaning, ..Self::typed(buf, count, datatype) });
        }
        let mut runs = Vec::new();
        Self { position: from, ..self.clone() }.runs(usize::MAX, to - from, &mut runs);
        let by = |address: usize| address.wrapping_sub(self.buf.address()) as i64;
        let (displacements, lengths): (Vec<i64>, Vec<i64>) =
            runs.into_iter().map(|(address, length)| (by(address), length as i64)).unzip();
        Ok(Self::new(self.buf, 1, &Datatype::hindexed(&lengths, &displacements, &Datatype::byte())?))
    }

    #[inline]
    fn walked(buf: UserBuf, count: u64, datatype: Datatype) -> Self {
        let total = count.saturating_mul(datatype.size());
        Self { buf, total, position: 0, elements: Elements::Of(datatype), meaning: Meaning::Bytes }
    }

    /// The lowest address that all of it reaches, and the one behind the highest.
    pub(crate) fn reach(&self) -> Option<(usize, usize)> {
        if self.total == 0 {
            return None;
        }
        let (mut low, mut high) = (0, self.total as i64);
        if let Some(datatype) = self.datatype() {
            let turns = (self.total / datatype.size()).saturating_sub(1) as i64;
            let last = turns.saturating_mul(datatype.extent());
            low = datatype.true_lb().saturating_add(last.min(0));
            high = datatype.true_lb() + datatype.true_extent() + last.max(0);
        }
        let at = |by: i64| self.buf.address().wrapping_add_signed(by as isize);
        Some((at(low), at(high)))
    }

    /// The same elsewhere, in memory of the processor.
    pub(crate) fn moved(&self, to: impl FnOnce(UserBuf) -> UserBuf) -> Self {
        Self { buf: to(self.buf), meaning: self.meaning.in_host_memory(), ..self.clone() }
    }

    /// Packed bytes in all.
    #[inline]
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether there are no bytes at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Packed bytes moved so far.
    #[inline]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Packed bytes still to move.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.total - self.position
    }

    /// Goes to a position; beyond the end is the end.
    #[inline]
    pub fn seek(&mut self, position: u64) {
        self.position = position.min(self.total);
    }

    /// Where the remaining bytes lie and how many they are, if they are one run.
    pub fn rest(&self) -> Option<(usize, u64)> {
        self.contiguous_rest().map(|(buf, len)| (buf.address(), len))
    }

    /// The remaining bytes, if they are one run: then a pointer can be handed out instead of copying.
    #[inline]
    pub(crate) fn contiguous_rest(&self) -> Option<(UserBuf, u64)> {
        match &self.elements {
            Elements::Run => Some((self.buf.offset(self.position as isize), self.remaining())),
            Elements::Of(datatype) => self.last_run(datatype),
            Elements::Combined(_) => None,
        }
    }

    /// Fills `sink` with the next bytes. Returns how many: fewer than asked only at the end of the segment.
    #[inline(always)]
    pub fn pack(&mut self, sink: Sink<'_>) -> usize {
        debug_assert!(!self.is_on_device());
        let len = self.remaining().min(sink.len() as u64);
        let (sink, _) = sink.split_at(len as usize);
        match &self.elements {
            Elements::Run => self.buf.copy_out(self.position as isize, sink),
            _ if self.is_converted() => self.pack_converted(sink),
            Elements::Of(datatype) => {
                self.walk(datatype, self.position..self.position + len, &mut Mover::packing(sink));
            }
            Elements::Combined(_) => {}
        }
        self.position += len;
        len as usize
    }

    /// As [`Segment::pack`], by this kind of copy where the bytes lie in one piece.
    #[inline]
    pub fn pack_with(&mut self, sink: Sink<'_>, store: Store) -> usize {
        if store == Store::Plain || !matches!(self.elements, Elements::Run) {
            return self.pack(sink);
        }
        let len = self.remaining().min(sink.len() as u64);
        let (sink, _) = sink.split_at(len as usize);
        self.buf.send_out(self.position as isize, sink, store);
        self.position += len;
        len as usize
    }

    /// Puts the bytes of `source` in their places. Returns how many found one: fewer than given only at the end
    /// of the segment.
    #[inline(always)]
    pub fn unpack(&mut self, source: Source<'_>) -> usize {
        let len = self.unpack_at(self.position, source);
        self.position += len as u64;
        len
    }

    /// The same from a position on, wherever the segment is.
    #[inline(always)]
    pub fn unpack_at(&self, position: u64, source: Source<'_>) -> usize {
        debug_assert!(!self.is_on_device());
        let len = self.total.saturating_sub(position).min(source.len() as u64);
        let (source, _) = source.split_at(len as usize);
        match &self.elements {
            Elements::Run => self.buf.copy_in(position as isize, source),
            _ if self.is_converted() => self.unpack_converted(position, source),
            Elements::Of(datatype) => {
                self.walk(datatype, position..position + len, &mut Mover::unpacking(source));
            }
            Elements::Combined(_) => {}
        }
        len as usize
    }

    /// As [`Segment::unpack`], by this kind of copy where the bytes lie in one piece.
    #[inline]
    pub fn unpack_with(&mut self, source: Source<'_>, store: Store) -> usize {
        let len = self.unpack_with_at(self.position, source, store);
        self.position += len as u64;
        len
    }

    /// The same from a position on.
    #[inline]
    pub fn unpack_with_at(&self, position: u64, source: Source<'_>, store: Store) -> usize {
        if store == Store::Plain || !matches!(self.elements, Elements::Run) {
            return self.unpack_at(position, source);
        }
        let len = self.total.saturating_sub(position).min(source.len() as u64);
        let (source, _) = source.split_at(len as usize);
        self.buf.receive_in(position as isize, source, store);
        len as usize
    }

    /// Appends the next runs as (address, length) to `list`, for a copy by the kernel: at most `max_runs` runs
    /// with `max_bytes` bytes in all. Goes past them and returns their bytes. What has to be converted or combined has no runs.
    pub fn runs(&mut self, max_runs: usize, max_bytes: u64, list: &mut Vec<(usize, usize)>) -> u64 {
        let len = self.remaining().min(max_bytes);
        if len == 0 || max_runs == 0 || self.is_converted() {
            return 0;
        }
        let mut collector = Collector { first: list.len(), list, max_runs, bytes: 0 };
        match self.datatype() {
            None => {
                collector.run(self.buf.offset(self.position as isize), len);
            }
            Some(datatype) => {
                self.walk(datatype, self.position..self.position + len, &mut collector);
            }
        }
        let bytes = collector.bytes;
        self.position += bytes;
        bytes
    }

    /// Whether packed bytes are not simply those of memory.
    #[inline]
    fn is_converted(&self) -> bool {
        matches!(self.meaning, Meaning::Canonical(_) | Meaning::Combined)
    }

    #[cold]
    #[inline(never)]
    fn pack_converted(&self, sink: Sink<'_>) {
        debug_assert!(!self.is_combined(), "nothing is sent from where something is combined");
        if let Meaning::Canonical(order) = self.meaning {
            // The sizes are those of memory, so every value fits.
            external::pack_as(self, Form { measure: Measure::Native, order }, self.position, sink);
        }
    }

    #[cold]
    #[inline(never)]
    fn unpack_converted(&self, position: u64, source: Source<'_>) {
        match (&self.elements, self.meaning) {
            (Elements::Combined(combination), _) => combination.unpack(self.buf, position, source),
            (_, Meaning::Canonical(order)) => {
                external::unpack_as(self, Form { measure: Measure::Native, order }, position, source);
            }
            _ => {}
        }
    }

    /// Whether parts of this length, one behind the other, end between elements.
    pub(crate) fn has_whole_elements_in(&self, len: u64) -> bool {
        self.datatype().is_none_or(|datatype| len.is_multiple_of(datatype.size()))
    }

    /// Mean length of the runs, in bytes.
    pub fn mean_run(&self) -> u64 {
        match self.datatype() {
            Some(datatype) if !datatype.is_contiguous() => datatype.size() / datatype.layout().runs().max(1),
            _ => self.total,
        }
    }

    #[cold]
    fn last_run(&self, datatype: &Datatype) -> Option<(UserBuf, u64)> {
        if self.remaining() == 0 {
            return Some((self.buf, 0));
        }
        if self.is_converted() {
            return None;
        }
        let mut first = First { found: None };
        self.walk(datatype, self.position..self.total, &mut first);
        first.found.filter(|(_, len)| *len == self.remaining())
    }

    /// Shows these packed bytes to a visitor.
    fn walk<V: Visitor>(&self, datatype: &Datatype, bytes: Range<u64>, visitor: &mut V) {
        if let Some(piece) = datatype.layout().piece()
            && !bytes.is_empty()
        {
            let at = self.buf.offset(piece.offset as isize);
            if let Shape::Run(len) = piece.shape
                && (self.total == len || datatype.extent() == len as i64)
            {
                visitor.run(at.offset(bytes.start as isize), bytes.end - bytes.start);
                return;
            }
            walk_turns(&piece.shape, datatype.extent(), at, bytes.start, bytes.end, visitor);
        }
    }
}

/// Moves bytes from one segment to another until one of them ends, without a copy in between when either is one
/// run. Returns how many.
pub fn copy(from: &mut Segment, to: &mut Segment) -> u64 {
    const MIDDLE: usize = 8192;
    let len = from.remaining().min(to.remaining());
    match (from.contiguous_rest(), to.contiguous_rest()) {
        (Some((source, _)), Some((target, _))) => {
            target.copy_from(source, len as usize);
            from.position += len;
            to.position += len;
        }
        (Some((source, _)), None) => {
            to.unpack(source.source(len as usize));
            from.position += len;
        }
        (None, Some((target, _))) => {
            from.pack(target.sink(len as usize));
            to.position += len;
        }
        (None, None) => {
            let mut middle = [0u8; MIDDLE];
            let mut left = len;
            while left > 0 {
                let now = left.min(MIDDLE as u64) as usize;
                from.pack(Sink::from(&mut middle[..now]));
                to.unpack(Source::from(&middle[..now]));
                left -= now as u64;
            }
        }
    }
    len
}

/// Shows bytes `from..to` of `body` repeated at `stride`; `from < to`.
fn walk_turns<V: Visitor>(
    body: &Shape,
    stride: i64,
    at: UserBuf,
    from: u64,
    to: u64,
    visitor: &mut V,
) -> bool {
    let size = body.size();
    let turn = |index: u64| at.offset((index as i64).wrapping_mul(stride) as isize);
    let (mut first, skip) = (from / size, from % size);
    let (last, tail) = (to / size, to % size);
    if first == last {
        return walk(body, turn(first), skip, tail, visitor);
    }
    if skip > 0 {
        if !walk(body, turn(first), skip, size, visitor) {
            return false;
        }
        first += 1;
    }
    if first < last && !walk_whole(body, turn(first), Turns { count: last - first, stride }, visitor) {
        return false;
    }
    tail == 0 || walk(body, turn(last), 0, tail, visitor)
}

/// Shows a body several times, whole.
fn walk_whole<V: Visitor>(body: &Shape, at: UserBuf, turns: Turns, visitor: &mut V) -> bool {
    match body {
        Shape::Run(len) if turns.count == 1 => visitor.run(at, *len),
        Shape::Run(len) => visitor.strided(at, *len, turns, Turns::ONCE),
        Shape::Blocks(blocks) => visitor.blocks(at, blocks.len, &blocks.offsets, turns),
        Shape::Runs(runs) => visitor.pattern(at, &runs.spans, turns),
        Shape::Loop(inner) => {
            let own = Turns { count: inner.count, stride: inner.stride };
            if let Shape::Run(len) = inner.body {
                return visitor.strided(at, len, own, turns);
            }
            (0..turns.count as i64).all(|turn| {
                let at = at.offset(turn.wrapping_mul(turns.stride) as isize);
                walk_whole(&inner.body, at, own, visitor)
            })
        }
        Shape::List(list) => (0..turns.count as i64).all(|turn| {
            let at = at.offset(turn.wrapping_mul(turns.stride) as isize);
            list.items.iter().all(|item| {
                walk_whole(&item.piece.shape, at.offset(item.piece.offset as isize), Turns::ONCE, visitor)
            })
        }),
    }
}

/// Shows bytes `from..to` of a shape; `from < to <= size`.
fn walk<V: Visitor>(shape: &Shape, at: UserBuf, from: u64, to: u64, visitor: &mut V) -> bool {
    if from == 0 && to == shape.size() {
        return walk_whole(shape, at, Turns::ONCE, visitor);
    }
    match shape {
        Shape::Run(_) => visitor.run(at.offset(from as isize), to - from),
        Shape::Loop(looped) => walk_turns(&looped.body, looped.stride, at, from, to, visitor),
        Shape::Blocks(blocks) => walk_blocks(blocks.len, &blocks.offsets, at, from, to, visitor),
        Shape::Runs(runs) => walk_spans(&runs.spans, at, from, to, visitor),
        Shape::List(list) => {
            let first = list.items.partition_point(|item| item.start <= from) - 1;
            for item in &list.items[first..] {
                if item.start >= to {
                    break;
                }
                let shape = &item.piece.shape;
                let from = from.saturating_sub(item.start);
                let to = (to - item.start).min(shape.size());
                if !walk(shape, at.offset(item.piece.offset as isize), from, to, visitor) {
                    return false;
                }
            }
            true
        }
    }
}

/// Shows bytes `from..to` of a list of runs of one length.
fn walk_blocks<V: Visitor>(
    len: u64,
    offsets: &[i64],
    at: UserBuf,
    from: u64,
    to: u64,
    visitor: &mut V,
) -> bool {
    let run = |index: u64, skip: u64| at.offset((offsets[index as usize] + skip as i64) as isize);
    let (mut first, skip) = (from / len, from % len);
    let (last, tail) = (to / len, to % len);
    if first == last {
        return visitor.run(run(first, skip), tail - skip);
    }
    if skip > 0 {
        if !visitor.run(run(first, skip), len - skip) {
            return false;
        }
        first += 1;
    }
    let whole = &offsets[first as usize..last as usize];
    if !whole.is_empty() && !visitor.blocks(at, len, whole, Turns::ONCE) {
        return false;
    }
    tail == 0 || visitor.run(run(last, 0), tail)
}

/// Shows bytes `from..to` of a list of runs of differing lengths.
fn walk_spans<V: Visitor>(spans: &[Span], at: UserBuf, from: u64, to: u64, visitor: &mut V) -> bool {
    let mut first = spans.partition_point(|span| span.start <= from) - 1;
    let span = spans[first];
    let end = span.start + span.len;
    if from > span.start {
        let at = at.offset((span.offset + (from - span.start) as i64) as isize);
        if !visitor.run(at, to.min(end) - from) {
            return false;
        }
        first += 1;
    }
    let whole = spans[first..].partition_point(|span| span.start + span.len <= to);
    let (whole, rest) = spans[first..].split_at(whole);
    if !whole.is_empty() && !visitor.pattern(at, whole, Turns::ONCE) {
        return false;
    }
    match rest.first() {
        Some(span) if span.start < to => visitor.run(at.offset(span.offset as isize), to - span.start),
        _ => true,
    }
}

/// Writes runs into a list, neighbours merged, until it is full.
struct Collector<'a> {
    list: &'a mut Vec<(usize, usize)>,
    /// Where this call's part of the list begins.
    first: usize,
    max_runs: usize,
    bytes: u64,
}

impl Visitor for Collector<'_> {
    fn run(&mut self, at: UserBuf, len: u64) -> bool {
        let own = self.list.len() - self.first;
        if own > 0
            && let Some((last, length)) = self.list.last_mut()
            && last.wrapping_add(*length) == at.address()
        {
            *length += len as usize;
        } else if own < self.max_runs {
            self.list.push((at.address(), len as usize));
        } else {
            return false;
        }
        self.bytes += len;
        true
    }

    fn strided(&mut self, at: UserBuf, len: u64, inner: Turns, outer: Turns) -> bool {
        (0..outer.count as i64).all(|turn| {
            let row = at.offset(turn.wrapping_mul(outer.stride) as isize);
            (0..inner.count as i64)
                .all(|turn| self.run(row.offset(turn.wrapping_mul(inner.stride) as isize), len))
        })
    }

    fn blocks(&mut self, at: UserBuf, len: u64, offsets: &[i64], turns: Turns) -> bool {
        (0..turns.count as i64).all(|turn| {
            let at = at.offset(turn.wrapping_mul(turns.stride) as isize);
            offsets.iter().all(|offset| self.run(at.offset(*offset as isize), len))
        })
    }

    fn pattern(&mut self, at: UserBuf, spans: &[Span], turns: Turns) -> bool {
        (0..turns.count as i64).all(|turn| {
            let at = at.offset(turn.wrapping_mul(turns.stride) as isize);
            spans.iter().all(|span| self.run(at.offset(span.offset as isize), span.len))
        })
    }
}

/// Notes the first run and stops.
struct First {
    found: Option<(UserBuf, u64)>,
}

impl Visitor for First {
    fn run(&mut self, at: UserBuf, len: u64) -> bool {
        self.found = Some((at, len));
        false
    }

    fn strided(&mut self, at: UserBuf, len: u64, _: Turns, _: Turns) -> bool {
        self.run(at, len)
    }

    fn blocks(&mut self, at: UserBuf, len: u64, offsets: &[i64], _: Turns) -> bool {
        self.run(at.offset(offsets.first().copied().unwrap_or(0) as isize), len)
    }

    fn pattern(&mut self, at: UserBuf, spans: &[Span], _: Turns) -> bool {
        spans.first().is_none_or(|span| self.run(at.offset(span.offset as isize), span.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    fn datatype(named: Named) -> Datatype {
        named.into()
    }

    #[test]
    fn a_segment_is_small_and_can_change_threads() {
        fn sent<T: Send + Clone>() {}
        sent::<Segment>();
        assert!(size_of::<Segment>() <= 48);
    }

    #[test]
    fn a_run_knows_its_pointer() {
        let double = datatype(Named::Double);
        let buf = UserBuf::none().offset(4096);
        let mut segment = Segment::new(buf, 10, &double);
        segment.seek(17);
        assert_eq!(segment.contiguous_rest(), Some((buf.offset(17), 63)));
        // Rows that follow each other without a gap are one run too.
        let row = Datatype::vector(4, 3, 3, &double).unwrap();
        assert!(Segment::new(buf, 5, &row).contiguous_rest().is_some());
        // One row of a column is not, its last element is.
        let column = Datatype::vector(4, 1, 3, &double).unwrap();
        let mut segment = Segment::new(buf, 1, &column);
        assert_eq!(segment.contiguous_rest(), None);
        segment.seek(26);
        assert_eq!(segment.contiguous_rest(), Some((buf.offset(9 * 8 + 2), 6)));
    }

    #[test]
    fn a_typed_segment_knows_its_types_and_its_pointer() {
        let int = datatype(Named::Int);
        let buf = UserBuf::none().offset(4096);
        let mut segment = Segment::typed(buf, 10, &int);
        segment.seek(6);
        assert_eq!(segment.contiguous_rest(), Some((buf.offset(6), 34)));
        assert_eq!(segment.types(), int.signature().types(10));
        assert_eq!(Segment::new(buf, 10, &int).types(), Types::UNKNOWN);
        let column = Datatype::vector(4, 1, 3, &int).unwrap();
        let copy = Segment::typed(buf, 2, &column).repacked(buf);
        assert_eq!((copy.contiguous_rest(), copy.types()), (Some((buf, 32)), int.signature().types(8)));
        assert_eq!(Segment::typed(buf, 3, &datatype(Named::Packed)).types(), Types::UNKNOWN);
    }

    #[test]
    fn runs_are_listed_merged_and_in_parts() {
        let double = datatype(Named::Double);
        let column = Datatype::vector(4, 1, 3, &double).unwrap();
        let mut segment = Segment::new(UserBuf::none().offset(1000), 2, &column);
        let mut list = vec![(1, 1)];
        assert_eq!(segment.runs(2, u64::MAX, &mut list), 16);
        assert_eq!(list, [(1, 1), (1000, 8), (1024, 8)]);
        list.clear();
        // The last element of the first column and the first of the second are neighbours.
        assert_eq!(segment.runs(9, 30, &mut list), 30);
        assert_eq!(list, [(1048, 8), (1072, 16), (1104, 6)]);
        assert_eq!(segment.position(), 46);
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let double = datatype(Named::Double);
        let column = Datatype::vector(4, 1, 3, &double).unwrap();
        for (count, datatype) in [(7, &double), (3, &column)] {
            let whole = Segment::new(UserBuf::none().offset(1000), count, datatype);
            let mut expected = Vec::new();
            whole.clone().runs(usize::MAX, u64::MAX, &mut expected);
            for step in [1, 5, 8, 32, 33, 1000] {
                let mut bytes = Vec::new();
                for from in (0..whole.len() + step).step_by(step as usize) {
                    let mut part = whole.part(from, from + step).unwrap();
                    assert_eq!(part.len(), step.min(whole.len().saturating_sub(from)));
                    let mut runs = Vec::new();
                    part.runs(usize::MAX, u64::MAX, &mut runs);
                    bytes.extend(runs.into_iter().flat_map(|(address, length)| address..address + length));
                }
                let all: Vec<usize> =
                    expected.iter().flat_map(|(address, length)| *address..*address + *length).collect();
                assert_eq!(bytes, all, "parts of {step} bytes");
            }
        }
    }
}
