//! Layout: which bytes one element of a datatype occupies, in packing order, as compactly as possible.
//!
//! The constructors (`build`) compose the layout of a type from its children's; `segment` walks it.
//!
//! What must stay true:
//! - The runs appear in the order of the type map, because that is the order of the packed bytes
//!   (MPI-5.0 §5.1).
//! - A shape begins at offset 0: its first run starts there; the offset stands in the [`Piece`] around it.
//! - Neighbouring runs are merged and regular repetition is recognised, so the layout depends on the bytes
//!   described and not on how the user spelled them. Below [`FLAT_LIMIT`] runs this holds exactly, because
//!   everything but plain loop nests is written out run by run and folded again by one rule; beyond it the
//!   constructors' structure is kept, neighbours in a list are joined, and a loop of short turns becomes what a
//!   few of its turns fold to. Regular nests of loops come out the same all the way.
//! - A loop turns at least twice and every shape has at least one byte, so nesting is at most 63 loops deep
//!   however deep the constructors were nested, and walking a shape may recurse.

use crate::buffer::Span;
use std::fmt;
use std::sync::Arc;

/// Up to this many runs a layout is folded from its flat list of runs.
const FLAT_LIMIT: u64 = 4096;
/// Up to this many pieces a list inside a list is spliced into it.
const SPLICE_LIMIT: usize = 1 << 20;
/// The longest period searched for, and the total work a search may cost.
const LONGEST_PERIOD: usize = 16;
const SEARCH_WORK: usize = 1 << 20;

/// The bytes of one element of a datatype. Empty for types without data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    piece: Option<Piece>,
}

/// A shape at an offset from the element's origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the first run, in bytes.
    pub offset: i64,
    /// The runs, relative to that offset.
    pub shape: Shape,
}

/// Runs of bytes in packing order; the first one starts at offset 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One run of so many bytes.
    Run(u64),
    /// The same shape several times at a constant stride.
    Loop(Arc<Loop>),
    /// Runs of one length at irregular offsets.
    Blocks(Arc<Blocks>),
    /// Runs of differing lengths at irregular offsets.
    Runs(Arc<Runs>),
    /// Differing shapes at irregular offsets.
    List(Arc<List>),
}

/// A shape repeated at a constant stride. `count >= 2`.
#[derive(Debug, PartialEq, Eq)]
pub struct Loop {
    facts: Facts,
    /// Number of repetitions.
    pub count: u64,
    /// Distance between the starts of two repetitions, in bytes; may be negative or zero.
    pub stride: i64,
    /// What is repeated.
    pub body: Shape,
}

/// Runs of one length.
#[derive(Debug, PartialEq, Eq)]
pub struct Blocks {
    facts: Facts,
    /// Length of every run.
    pub len: u64,
    /// Where each run starts.
    pub offsets: Box<[i64]>,
}

/// Runs of differing lengths.
#[derive(Debug, PartialEq, Eq)]
pub struct Runs {
    facts: Facts,
    /// The runs with their positions in the packed stream.
    pub spans: Box<[Span]>,
}

/// Differing shapes.
#[derive(Debug, PartialEq, Eq)]
pub struct List {
    facts: Facts,
    /// The shapes with their positions in the packed stream.
    pub items: Box<[Item]>,
}

/// One entry of a [`List`].
#[derive(Debug, PartialEq, Eq)]
pub struct Item {
    /// Packed bytes before this entry.
    pub start: u64,
    /// The entry.
    pub piece: Piece,
}

/// What is asked of a shape often enough to keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    /// Packed bytes.
    size: u64,
    /// Number of runs.
    runs: u64,
    /// Lowest offset of any byte.
    low: i64,
    /// One past the highest offset of any byte.
    high: i64,
    /// One past the last byte of the last run.
    end: i64,
}

/// The bytes described would not fit into 63-bit sizes and offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Layout {
    /// No bytes.
    pub const EMPTY: Self = Self { piece: None };

    /// One run of `len` bytes at offset 0.
    pub const fn run(len: u64) -> Self {
        Self { piece: if len == 0 { None } else { Some(Piece { offset: 0, shape: Shape::Run(len) }) } }
    }

    /// Packed bytes of one element.
    pub fn size(&self) -> u64 {
        self.piece.as_ref().map_or(0, |piece| piece.shape.size())
    }

    /// Number of contiguous runs of one element.
    pub fn runs(&self) -> u64 {
        self.piece.as_ref().map_or(0, |piece| piece.shape.facts().runs)
    }

    /// Lowest offset of any byte, 0 without bytes.
    pub fn true_lb(&self) -> i64 {
        self.piece.as_ref().map_or(0, Piece::low)
    }

    /// One past the highest offset of any byte, 0 without bytes.
    pub fn true_ub(&self) -> i64 {
        self.piece.as_ref().map_or(0, Piece::high)
    }

    /// The runs, if there are any.
    pub fn piece(&self) -> Option<&Piece> {
        self.piece.as_ref()
    }

    /// This layout `count` times at `stride`.
    pub(crate) fn repeated(&self, count: u64, stride: i64) -> Result<Self, TooLarge> {
        match &self.piece {
            Some(piece) if count > 0 => Ok(Self { piece: Some(repeat(piece.clone(), count, stride)?) }),
            _ => Ok(Self::EMPTY),
        }
    }

    /// This layout moved by `by` bytes.
    pub(crate) fn moved(self, by: i64) -> Result<Self, TooLarge> {
        let Some(mut piece) = self.piece else { return Ok(Self::EMPTY) };
        let facts = piece.shape.facts();
        piece.offset = piece.offset.checked_add(by).ok_or(TooLarge)?;
        piece.offset.checked_add(facts.low).ok_or(TooLarge)?;
        piece.offset.checked_add(facts.high).ok_or(TooLarge)?;
        piece.offset.checked_add(facts.end).ok_or(TooLarge)?;
        Ok(Self { piece: Some(piece) })
    }

    /// The parts one after the other, in packing order.
    pub(crate) fn sequence(parts: impl IntoIterator<Item = Self>) -> Result<Self, TooLarge> {
        let pieces: Vec<Piece> = parts.into_iter().filter_map(|part| part.piece).collect();
        let (mut size, mut low, mut high) = (0u64, i64::MAX, i64::MIN);
        for piece in &pieces {
            size = size.checked_add(piece.shape.size()).ok_or(TooLarge)?;
            (low, high) = (low.min(piece.low()), high.max(piece.high()));
        }
        if pieces.is_empty() {
            return Ok(Self::EMPTY);
        }
        // Offsets inside a shape are relative to its first run, so the distance must fit as well.
        if size > i64::MAX as u64 || high.checked_sub(low).is_none() {
            return Err(TooLarge);
        }
        Ok(Self { piece: Some(fold(pieces)) })
    }
}

impl Piece {
    /// Lowest offset of any byte.
    pub fn low(&self) -> i64 {
        self.offset + self.shape.facts().low
    }

    /// One past the highest offset of any byte.
    pub fn high(&self) -> i64 {
        self.offset + self.shape.facts().high
    }

    fn run(offset: i64, len: u64) -> Self {
        Self { offset, shape: Shape::Run(len) }
    }
}

impl Shape {
    /// Packed bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        match self {
            Self::Run(len) => *len,
            Self::Loop(looped) => looped.facts.size,
            Self::Blocks(blocks) => blocks.facts.size,
            Self::Runs(runs) => runs.facts.size,
            Self::List(list) => list.facts.size,
        }
    }

    fn facts(&self) -> Facts {
        match self {
            Self::Run(len) => Facts { size: *len, runs: 1, low: 0, high: *len as i64, end: *len as i64 },
            Self::Loop(looped) => looped.facts,
            Self::Blocks(blocks) => blocks.facts,
            Self::Runs(runs) => runs.facts,
            Self::List(list) => list.facts,
        }
    }

    /// Whether folding the runs one by one could not find anything simpler: a nest of loops around one run, or
    /// around a list short enough to be found as a period, in which no repetition touches the next.
    fn is_simplest(&self) -> bool {
        let mut shape = self;
        while let Self::Loop(looped) = shape {
            if looped.body.facts().end == looped.stride {
                return false;
            }
            shape = &looped.body;
        }
        shape.facts().runs <= LONGEST_PERIOD as u64
    }

    /// How many pieces this is when written out inside a list.
    fn pieces(&self) -> usize {
        match self {
            Self::Run(_) | Self::Loop(_) => 1,
            Self::Blocks(blocks) => blocks.offsets.len(),
            Self::Runs(runs) => runs.spans.len(),
            Self::List(list) => list.items.len(),
        }
    }
}

/// `piece`, `count` times at `stride`, in its simplest form.
fn repeat(piece: Piece, count: u64, stride: i64) -> Result<Piece, TooLarge> {
    let Piece { offset, shape } = piece;
    let facts = shape.facts();
    let reach = i128::from(stride) * i128::from(count - 1);
    let low = i128::from(offset) + i128::from(facts.low) + reach.min(0);
    let high = i128::from(offset) + i128::from(facts.high) + reach.max(0);
    let size = u128::from(facts.size) * u128::from(count);
    let fits =
        low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX) && high - low <= i128::from(i64::MAX);
    if !fits || size > i64::MAX as u128 {
        return Err(TooLarge);
    }
    let piece = Piece { offset, shape: looped(count, stride, shape) };
    if piece.shape.is_simplest() {
        return Ok(piece);
    }
    if piece.shape.facts().runs <= FLAT_LIMIT {
        return Ok(fold(vec![piece]));
    }
    Ok(extrapolated(&piece).unwrap_or(piece))
}

/// A loop whose turns touch, as folding its runs one by one would leave it: what a few turns fold to shows it. `None`
/// when its turns are long, so that one run less in each changes nothing, or when it has no such form.
fn extrapolated(piece: &Piece) -> Option<Piece> {
    const TURNS: u64 = 16;
    let Shape::Loop(whole) = &piece.shape else { return None };
    let turn = whole.body.facts();
    if turn.end != whole.stride || turn.runs.saturating_mul(TURNS + 1) > FLAT_LIMIT {
        return None;
    }
    let folded = |turns| {
        let mut flat = Vec::new();
        write_out(piece.offset, &looped(turns, whole.stride, whole.body.clone()), &mut flat);
        group(flat)
    };
    let (few, more) = (folded(TURNS), folded(TURNS + 1));
    // One turn more makes one loop longer, which may have several turns for each of ours.
    let place = few.iter().zip(&more).position(|(few, more)| few != more)?;
    let (Shape::Loop(short), Shape::Loop(long)) = (&few[place].shape, &more[place].shape) else {
        return None;
    };
    let added = long.count.checked_sub(short.count)?;
    let stretched = |turns: u64| {
        let mut pieces = few.clone();
        pieces[place].shape = looped(short.count + turns * added, short.stride, short.body.clone());
        pieces[place + 1..].iter_mut().for_each(|later| later.offset += turns as i64 * whole.stride);
        pieces
    };
    (stretched(1) == more).then(|| gather(stretched(whole.count - TURNS)))
}

/// A loop, or what it amounts to. The caller has made sure that everything fits.
fn looped(count: u64, stride: i64, body: Shape) -> Shape {
    if count == 1 {
        return body;
    }
    match &body {
        Shape::Run(len) if stride == *len as i64 => return Shape::Run(len * count),
        Shape::Loop(inner) if i128::from(stride) == i128::from(inner.stride) * i128::from(inner.count) => {
            return looped(inner.count * count, inner.stride, inner.body.clone());
        }
        _ => {}
    }
    let facts = body.facts();
    let reach = stride * (count - 1) as i64;
    let facts = Facts {
        size: facts.size * count,
        runs: facts.runs.saturating_mul(count),
        low: facts.low + reach.min(0),
        high: facts.high + reach.max(0),
        end: facts.end + reach,
    };
    Shape::Loop(Arc::new(Loop { facts, count, stride, body }))
}

/// The simplest piece with exactly these runs in this order. `pieces` is not empty.
fn fold(pieces: Vec<Piece>) -> Piece {
    let runs = pieces.iter().fold(0u64, |sum, piece| sum.saturating_add(piece.shape.facts().runs));
    let spliced = pieces.iter().fold(0usize, |sum, piece| sum.saturating_add(piece.shape.pieces()));
    let mut flat = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if runs <= FLAT_LIMIT {
            write_out(piece.offset, &piece.shape, &mut flat);
        } else if spliced <= SPLICE_LIMIT {
            splice(piece, &mut flat);
        } else {
            append(piece, &mut flat);
        }
    }
    gather(group(flat))
}

/// Appends every run of `shape`.
fn write_out(offset: i64, shape: &Shape, to: &mut Vec<Piece>) {
    match shape {
        Shape::Run(len) => append(Piece::run(offset, *len), to),
        Shape::Loop(looped) => {
            for turn in 0..looped.count as i64 {
                write_out(offset + turn * looped.stride, &looped.body, to);
            }
        }
        Shape::Blocks(blocks) => {
            blocks.offsets.iter().for_each(|at| append(Piece::run(offset + at, blocks.len), to));
        }
        Shape::Runs(runs) => {
            runs.spans.iter().for_each(|span| append(Piece::run(offset + span.offset, span.len), to));
        }
        Shape::List(list) => {
            list.items.iter().for_each(|item| write_out(offset + item.piece.offset, &item.piece.shape, to));
        }
    }
}

/// Appends the entries of a list, loops kept as they are.
fn splice(piece: Piece, to: &mut Vec<Piece>) {
    match &piece.shape {
        Shape::Run(_) | Shape::Loop(_) => append(piece, to),
        Shape::List(list) => {
            for item in &list.items {
                append(
                    Piece { offset: piece.offset + item.piece.offset, shape: item.piece.shape.clone() },
                    to,
                );
            }
        }
        shape => write_out(piece.offset, shape, to),
    }
}

/// Appends one piece; one that continues the piece before it is merged into that.
fn append(piece: Piece, to: &mut Vec<Piece>) {
    if let Some(last) = to.last_mut()
        && let Some(both) = joined(&last.shape, piece.offset - last.offset, &piece.shape)
    {
        last.shape = both;
        return;
    }
    to.push(piece);
}

/// Two shapes, the second one `by` bytes behind the first, as one: adjacent runs, and further turns of a loop.
fn joined(first: &Shape, by: i64, second: &Shape) -> Option<Shape> {
    let follows = |looped: &Loop| i128::from(by) == i128::from(looped.stride) * i128::from(looped.count);
    match (first, second) {
        (Shape::Run(len), Shape::Run(more)) => (*len as i64 == by).then(|| Shape::Run(len + more)),
        (Shape::Loop(a), Shape::Loop(b)) if follows(a) && a.stride == b.stride && a.body == b.body => {
            Some(looped(a.count + b.count, a.stride, a.body.clone()))
        }
        (Shape::Loop(a), more) if follows(a) && a.body == *more => {
            Some(looped(a.count + 1, a.stride, a.body.clone()))
        }
        (one, Shape::Loop(b)) if by == b.stride && *one == b.body => {
            Some(looped(b.count + 1, b.stride, b.body.clone()))
        }
        _ => None,
    }
}

/// Folds repetition into loops, again and again, as long as that makes the list much shorter. A few
/// accidental loops in an irregular list would only slow it down.
fn group(mut pieces: Vec<Piece>) -> Vec<Piece> {
    while let Some(grouped) = group_once(&pieces) {
        if grouped.len() > 1 && grouped.len() * 4 > pieces.len() {
            break;
        }
        pieces = grouped;
    }
    pieces
}

/// One pass over the list; `None` when nothing repeats.
fn group_once(pieces: &[Piece]) -> Option<Vec<Piece>> {
    let longest = (SEARCH_WORK / pieces.len()).clamp(1, LONGEST_PERIOD);
    let mut grouped = Vec::new();
    // Everything before `kept` is in `grouped`, everything from there to `at` stays as it is.
    let (mut kept, mut at) = (0, 0);
    while at < pieces.len() {
        let rest = &pieces[at..];
        // The period that explains most of what follows; the shortest one among equals.
        let (mut period, mut covered) = (1, 1);
        for candidate in 1..=longest.min(rest.len() / 2) {
            let turns = repetitions(rest, candidate);
            let evidence = candidate * (turns - 1) >= 2 || (at == 0 && candidate * turns == rest.len());
            if turns > 1 && evidence && candidate * turns > covered {
                (period, covered) = (candidate, candidate * turns);
            }
            if covered == rest.len() {
                break;
            }
        }
        if covered > 1 {
            let stride = rest[period].offset - rest[0].offset;
            let body = gather(group(rest[..period].to_vec()));
            let shape = looped((covered / period) as u64, stride, body.shape);
            grouped.extend_from_slice(&pieces[kept..at]);
            grouped.push(Piece { offset: rest[0].offset, shape });
            kept = at + covered;
        }
        at += covered;
    }
    if kept == 0 {
        return None;
    }
    grouped.extend_from_slice(&pieces[kept..]);
    Some(grouped)
}

/// How often the first `period` pieces repeat at one stride, counting themselves.
fn repetitions(pieces: &[Piece], period: usize) -> usize {
    let stride = pieces[period].offset - pieces[0].offset;
    let same = pieces[period..]
        .iter()
        .zip(pieces)
        .take_while(|(later, earlier)| {
            later.offset - earlier.offset == stride && later.shape == earlier.shape
        })
        .count();
    1 + same / period
}

/// One piece out of many, in the most compact kind of list.
fn gather(mut pieces: Vec<Piece>) -> Piece {
    if pieces.len() == 1
        && let Some(piece) = pieces.pop()
    {
        return piece;
    }
    let origin = pieces[0].offset;
    let first = pieces[0].shape.size();
    let mut facts = Facts { size: 0, runs: 0, low: i64::MAX, high: i64::MIN, end: 0 };
    let (mut all_runs, mut all_equal) = (true, true);
    for piece in &mut pieces {
        piece.offset -= origin;
        let own = piece.shape.facts();
        all_runs &= matches!(piece.shape, Shape::Run(_));
        all_equal &= own.size == first;
        facts = Facts {
            size: facts.size + own.size,
            runs: facts.runs.saturating_add(own.runs),
            low: facts.low.min(piece.offset + own.low),
            high: facts.high.max(piece.offset + own.high),
            end: piece.offset + own.end,
        };
    }
    if all_runs && all_equal {
        let offsets = pieces.iter().map(|piece| piece.offset).collect();
        return Piece {
            offset: origin,
            shape: Shape::Blocks(Arc::new(Blocks { facts, len: first, offsets })),
        };
    }
    let mut packed = 0;
    let mut start_of = |piece: &Piece| {
        let start = packed;
        packed += piece.shape.size();
        start
    };
    let shape = if all_runs {
        let span =
            |piece: &Piece| Span { offset: piece.offset, len: piece.shape.size(), start: start_of(piece) };
        let spans = pieces.iter().map(span).collect();
        Shape::Runs(Arc::new(Runs { facts, spans }))
    } else {
        let items = pieces.into_iter().map(|piece| Item { start: start_of(&piece), piece }).collect();
        Shape::List(Arc::new(List { facts, items }))
    };
    Piece { offset: origin, shape }
}

impl fmt::Display for Layout {
    /// One line: `@16 100 x +64 (8)` is 100 runs of 8 bytes, 64 bytes apart, the first at offset 16.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.piece {
            None => f.write_str("nothing"),
            Some(piece) => {
                write!(f, "{piece}, {} bytes in {} runs", self.size(), self.runs())
            }
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{} {}", self.offset, self.shape)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let more = |f: &mut fmt::Formatter<'_>, all: usize| match all.saturating_sub(SHOWN) {
            0 => f.write_str("]"),
            rest => write!(f, " and {rest} more]"),
        };
        match self {
            Self::Run(len) => write!(f, "({len})"),
            Self::Loop(looped) => write!(f, "{} x {:+} {}", looped.count, looped.stride, looped.body),
            Self::Blocks(blocks) => {
                write!(f, "({}) at [", blocks.len)?;
                for (i, offset) in blocks.offsets.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{offset}", if i == 0 { "" } else { " " })?;
                }
                more(f, blocks.offsets.len())
            }
            Self::Runs(runs) => {
                f.write_str("[")?;
                for (i, span) in runs.spans.iter().take(SHOWN).enumerate() {
                    write!(f, "{}@{} ({})", if i == 0 { "" } else { " " }, span.offset, span.len)?;
                }
                more(f, runs.spans.len())
            }
            Self::List(list) => {
                f.write_str("[")?;
                for (i, item) in list.items.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { "; " }, item.piece)?;
                }
                more(f, list.items.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(list: &[(i64, u64)]) -> Layout {
        let parts = list.iter().map(|&(at, len)| Layout::run(len).moved(at).unwrap());
        Layout::sequence(parts.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn adjacent_runs_become_one() {
        assert_eq!(runs(&[(0, 4), (4, 4), (8, 8)]), Layout::run(16));
        assert_eq!(Layout::run(8).repeated(1 << 40, 8).unwrap(), Layout::run(1 << 43));
    }

    #[test]
    fn a_list_of_equal_strides_is_a_nest_of_loops() {
        let row = Layout::run(8).repeated(5, 24).unwrap();
        let nest = row.repeated(7, 1000).unwrap();
        let mut list = Vec::new();
        for i in 0..7 {
            for j in 0..5 {
                list.push((i * 1000 + j * 24, 8));
            }
        }
        assert_eq!(runs(&list), nest);
        assert_eq!(nest.to_string(), "@0 7 x +1000 5 x +24 (8), 280 bytes in 35 runs");
    }

    #[test]
    fn repetitions_that_touch_are_merged() {
        let ends = runs(&[(0, 4), (12, 4)]).repeated(10, 16).unwrap();
        let mut list = vec![(0, 4)];
        list.extend((0..9).map(|i| (12 + 16 * i, 8)));
        list.push((156, 4));
        assert_eq!(ends, runs(&list));
        assert_eq!(ends.runs(), 11);
    }

    #[test]
    fn a_pattern_survives_however_it_was_spelled() {
        let record = runs(&[(0, 4), (8, 4), (24, 4)]);
        let array = record.repeated(50, 40).unwrap();
        let list: Vec<_> = (0..50).flat_map(|i| [0, 8, 24].map(|at| (at + 40 * i, 4))).collect();
        assert_eq!(array, runs(&list));
        assert_eq!(array.to_string(), "@0 50 x +40 (4) at [0 8 24], 600 bytes in 150 runs");
    }

    #[test]
    fn sizes_beyond_63_bits_are_refused() {
        assert_eq!(Layout::run(1 << 40).repeated(1 << 30, 1 << 40), Err(TooLarge));
        assert_eq!(Layout::run(8).repeated(3, i64::MAX / 2), Err(TooLarge));
        assert!(Layout::run(8).moved(i64::MAX).is_err());
    }
}
