//! Reductions: the predefined operations on every predefined type, and the user's own (MPI-5.0 §6.9).
//!
//! `buffer` has the loops over user memory, `datatype` says what the bytes mean.
//!
//! What must stay true: `apply` computes `inout = input op inout` for each element by itself, with
//! one rounding per operation, so a result depends on the order of the calls alone; integers wrap around; of
//! equal values minloc and maxloc keep the lower index. Which operation is allowed on which type is decided
//! in [`Op::check`] and [`Op::check_strict`] and nowhere else.

mod inside;
#[cfg(test)]
mod tests;

use crate::buffer::{
    Base, Element, Equivalence, Extended, Half, Operands, OwnedBuf, Pair, Quad, UserBuf, combine,
    combine_slices,
};
use crate::datatype::{Builtin, Class, Combination, Datatype, Kind, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::named::Named;
use posthaste_os::mem::Source;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{BitAnd, BitOr, BitXor};
use std::sync::Arc;

pub(crate) use inside::panics_inside;
pub use inside::{calling, is_called, leaves_by_panic};

/// A reduction operation. Cheap to clone; clones are the same operation.
#[derive(Clone, Debug)]
pub struct Op(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Predefined(Predefined),
    User(Arc<User>),
    Typed(Arc<Typed>),
}

/// The operations of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the operation of its name")]
pub enum Predefined {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    Replace,
    NoOp,
}

/// A user's function: input, inout, number of elements, their type.
pub type UserFunction = dyn Fn(*mut u8, *mut u8, u64, &Datatype) + Send + Sync;

struct User {
    function: Box<UserFunction>,
    commutative: bool,
}

/// A user's function on slices of one Rust type, which is reached through that of the operands.
type SliceFunction = dyn Fn(UserBuf, UserBuf, u64) + Send + Sync;

/// A user's function that knows no addresses.
struct Typed {
    function: Box<SliceFunction>,
    /// The datatype of its operands.
    datatype: Datatype,
    commutative: bool,
}

impl Typed {
    /// Operands of another size would be read beyond their end.
    fn check(&self, datatype: &Datatype) -> Result<()> {
        let own = &self.datatype;
        let same = |of: fn(&Datatype) -> i64| of(own) == of(datatype);
        if own.named() == datatype.named() && same(Datatype::extent) && same(Datatype::true_extent) {
            return Ok(());
        }
        let expected = format_args!("{own:?}, the type of its function");
        Err(Error::invalid(ErrorClass::Op, "op", format_args!("an operation on {datatype:?}"), expected))
    }

    /// A panic of the function ends here, because the peers wait for what comes next.
    fn apply(&self, input: UserBuf, inout: UserBuf, count: u64) -> Result<()> {
        inside::caught(|| (self.function)(input, inout, count))
    }
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = if self.commutative { "commutative " } else { "" };
        write!(f, "a {which}function of slices of {:?}", self.datatype)
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.commutative { "a commutative user function" } else { "a user function" })
    }
}

impl Predefined {
    const ALL: [(Self, &'static str); 14] = [
        (Self::Sum, "MPI_SUM"),
        (Self::Min, "MPI_MIN"),
        (Self::Max, "MPI_MAX"),
        (Self::Prod, "MPI_PROD"),
        (Self::Band, "MPI_BAND"),
        (Self::Bor, "MPI_BOR"),
        (Self::Bxor, "MPI_BXOR"),
        (Self::Land, "MPI_LAND"),
        (Self::Lor, "MPI_LOR"),
        (Self::Lxor, "MPI_LXOR"),
        (Self::Minloc, "MPI_MINLOC"),
        (Self::Maxloc, "MPI_MAXLOC"),
        (Self::Replace, "MPI_REPLACE"),
        (Self::NoOp, "MPI_NO_OP"),
    ];

    /// The name in C.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(op, _)| *op == self).map_or("", |(_, name)| name)
    }

    /// As a message says it; never 0.
    pub const fn on_the_wire(self) -> u32 {
        self as u32 + 1
    }

    /// What a message means by this number; `None` if it says nothing.
    pub fn from_the_wire(number: u32) -> Option<Self> {
        Some(Self::ALL.get((number as usize).checked_sub(1)?)?.0)
    }

    /// `inout = input op inout` for as many elements without gaps as a packed stream holds, where the standard defines that. Whether it does.
    pub(crate) fn combine(self, element: &Builtin, input: Source<'_>, inout: UserBuf) -> bool {
        let is_defined = self.classes().contains(&element.class) && check_kind(self, element).is_ok();
        if !is_defined || element.size as i64 != element.extent {
            return false;
        }
        let count = input.len() as u64 / element.size;
        by_kind(self, element, Operands::packed(input, inout), inout, count);
        true
    }

    /// What an integer of up to 8 bytes becomes of an operand and its value, each in the low bytes of a word, where the standard defines it.
    pub(crate) fn on_words(self, element: &Builtin) -> Option<fn(u64, u64) -> u64> {
        if !self.classes().contains(&element.class) {
            return None;
        }
        match element.kind {
            Kind::Signed(1) => on_words::<i8>(self),
            Kind::Signed(2) => on_words::<i16>(self),
            Kind::Signed(4) => on_words::<i32>(self),
            Kind::Signed(8) => on_words::<i64>(self),
            Kind::Unsigned(1) => on_words::<u8>(self),
            Kind::Unsigned(2) => on_words::<u16>(self),
            Kind::Unsigned(4) => on_words::<u32>(self),
            Kind::Unsigned(8) => on_words::<u64>(self),
            _ => None,
        }
    }

    /// The table of MPI-5.0 §6.9.2.
    fn classes(self) -> &'static [Class] {
        use Class::{Byte, Complex, Floating, FortranInteger, Integer, Logical, MultiLanguage, Pair};
        match self {
            Self::Max | Self::Min => &[Integer, FortranInteger, Floating, MultiLanguage],
            Self::Sum | Self::Prod => &[Integer, FortranInteger, Floating, Complex, MultiLanguage],
            Self::Land | Self::Lor | Self::Lxor => &[Integer, Logical],
            Self::Band | Self::Bor | Self::Bxor => &[Integer, FortranInteger, Byte, MultiLanguage],
            Self::Minloc | Self::Maxloc => &[Pair],
            Self::Replace | Self::NoOp => &[],
        }
    }

    /// What that table leaves out, and other libraries compute: `MPI_CHAR` is C's `char`, an integer, `MPI_BYTE` an
    /// unsigned one, and addresses, counts and offsets have a truth value.
    fn reaches(self, builtin: &Builtin) -> bool {
        match builtin.class {
            Class::Character => builtin.named == Named::Char && self.classes().contains(&Class::Integer),
            Class::Byte => matches!(self, Self::Sum | Self::Prod | Self::Max | Self::Min),
            Class::MultiLanguage => matches!(self, Self::Land | Self::Lor | Self::Lxor),
            _ => false,
        }
    }
}

impl From<Predefined> for Op {
    fn from(op: Predefined) -> Self {
        Self(Repr::Predefined(op))
    }
}

impl Op {
    /// The predefined operation; `None` for a user's.
    pub fn predefined(&self) -> Option<Predefined> {
        match &self.0 {
            Repr::Predefined(op) => Some(*op),
            Repr::User(_) | Repr::Typed(_) => None,
        }
    }

    /// A user's operation.
    pub fn user(
        function: impl Fn(*mut u8, *mut u8, u64, &Datatype) + Send + Sync + 'static,
        commutative: bool,
    ) -> Self {
        Self(Repr::User(Arc::new(User { function: Box::new(function), commutative })))
    }

    /// A user's operation on slices of a Rust type: the function combines the first into the second, element by element,
    /// the first being the left operands. When it panics, the operation on this rank fails.
    pub fn of_slices<T: Equivalence>(
        function: impl Fn(&[T], &mut [T]) + Send + Sync + 'static,
        commutative: bool,
    ) -> Self {
        let function = Box::new(move |input, inout, count| combine_slices(input, inout, count, &function));
        Self(Repr::Typed(Arc::new(Typed { function, datatype: Datatype::of::<T>(), commutative })))
    }

    /// Whether operands may be exchanged.
    pub fn is_commutative(&self) -> bool {
        match &self.0 {
            Repr::Predefined(op) => *op != Predefined::Replace && *op != Predefined::NoOp,
            Repr::User(user) => user.commutative,
            Repr::Typed(typed) => typed.commutative,
        }
    }

    /// The name in C of a predefined operation, for messages.
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Repr::Predefined(op) => op.name(),
            Repr::User(_) | Repr::Typed(_) => "a user-defined operation",
        }
    }

    /// Whether the operation is computed on the type: where the standard defines it, and where programs rely on it all
    /// the same. User operations take any type; replace and no-op too.
    pub fn check(&self, datatype: &Datatype) -> Result<()> {
        self.check_in(datatype, Predefined::reaches)
    }

    /// As [`Op::check`], only where the standard defines it.
    pub fn check_strict(&self, datatype: &Datatype) -> Result<()> {
        self.check_in(datatype, |_, _| false)
    }

    fn check_in(&self, datatype: &Datatype, beyond: fn(Predefined, &Builtin) -> bool) -> Result<()> {
        let op = match &self.0 {
            Repr::Predefined(op) => op,
            Repr::User(_) => return Ok(()),
            Repr::Typed(typed) => return typed.check(datatype),
        };
        let classes = op.classes();
        if classes.is_empty() {
            return Ok(());
        }
        if let (Some((value, _)), true) = (datatype.value_and_index(), classes.contains(&Class::Pair)) {
            return check_kind(*op, value);
        }
        let Some(builtin) = datatype.stands_for() else {
            let got = format_args!("{} on the derived type {datatype:?}", op.name());
            return Err(Error::invalid(
                ErrorClass::Op,
                "op",
                got,
                "a predefined datatype or a user operation",
            ));
        };
        if !classes.contains(&builtin.class) && !beyond(*op, builtin) {
            let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
            let got = format_args!("{} on {} ({})", op.name(), builtin.name, builtin.class.name());
            let expected = format_args!("a datatype of the groups {}", names.join(", "));
            return Err(Error::invalid(ErrorClass::Op, "op", got, expected));
        }
        check_kind(*op, builtin)
    }

    /// `inout = input op inout` for `count` elements of the program.
    ///
    /// # Errors
    /// An operation that the type does not have.
    pub fn apply_at(&self, datatype: &Datatype, input: Base, inout: Base, count: u64) -> Result<()> {
        self.apply(datatype, input.buf(), inout.buf(), count)
    }

    /// See [`Op::apply_at`].
    pub(crate) fn apply(
        &self,
        datatype: &Datatype,
        input: UserBuf,
        inout: UserBuf,
        count: u64,
    ) -> Result<()> {
        self.check(datatype)?;
        self.apply_checked(datatype, input, inout, count)
    }

    /// The same of a type that [`Op::check`] has let pass.
    pub(crate) fn apply_checked(
        &self,
        datatype: &Datatype,
        input: UserBuf,
        inout: UserBuf,
        count: u64,
    ) -> Result<()> {
        match &self.0 {
            Repr::User(user) => (user.function)(input.as_ptr(), inout.as_ptr(), count, datatype),
            Repr::Typed(typed) => return typed.apply(input, inout, count),
            Repr::Predefined(Predefined::NoOp) => {}
            Repr::Predefined(Predefined::Replace) => {
                let mut from = Segment::new(input, count, datatype);
                crate::datatype::copy(&mut from, &mut Segment::new(inout, count, datatype));
            }
            Repr::Predefined(op) => {
                let operands = Operands::arrays(input, inout);
                if let Some(builtin) = datatype.stands_for() {
                    by_kind(*op, builtin, operands, inout, count);
                } else if let Some((value, index)) = datatype.value_and_index() {
                    match index.kind {
                        Kind::Signed(4) => by_value::<i32>(*op, value.kind, operands, inout, count),
                        _ => by_value::<i64>(*op, value.kind, operands, inout, count),
                    }
                }
            }
        }
        Ok(())
    }

    /// `inout = input op inout` for `count` elements of the program, the input straight out of a packed stream that holds
    /// them.
    ///
    /// # Errors
    /// An operation that the type does not have; an input that is too short.
    pub fn apply_packed_at(
        &self,
        datatype: &Datatype,
        input: Source<'_>,
        inout: Base,
        count: u64,
    ) -> Result<()> {
        self.apply_packed(datatype, input, inout.buf(), count)
    }

    /// See [`Op::apply_packed_at`].
    pub(crate) fn apply_packed(
        &self,
        datatype: &Datatype,
        input: Source<'_>,
        inout: UserBuf,
        count: u64,
    ) -> Result<()> {
        self.check(datatype)?;
        let needed = count.saturating_mul(datatype.size());
        if (input.len() as u64) < needed {
            let got = format_args!("{count} elements of {datatype:?}");
            let expected = format_args!("as many as {} packed bytes hold", input.len());
            return Err(Error::invalid(ErrorClass::Count, "count", got, expected));
        }
        let (input, _) = input.split_at(needed as usize);
        match (&self.0, datatype.stands_for()) {
            (Repr::Predefined(Predefined::NoOp), _) => {}
            (Repr::Predefined(Predefined::Replace), _) => {
                Segment::new(inout, count, datatype).unpack(input);
            }
            (Repr::Predefined(op), Some(builtin)) if builtin.size as i64 == builtin.extent => {
                by_kind(*op, builtin, Operands::packed(input, inout), inout, count);
            }
            _ => return self.apply_unpacked(datatype, input, inout, count),
        }
        Ok(())
    }

    /// How elements are combined where they arrive, as the left operands. `None`: a function of the program is not called there, in the
    /// middle of whatever the engine is doing; and elements with gaps take the plain way.
    pub(crate) fn on_arrival(&self, datatype: &Datatype) -> Option<Combination> {
        let op = self.predefined().filter(|op| !op.classes().is_empty())?;
        let builtin = datatype.stands_for().filter(|builtin| builtin.size as i64 == builtin.extent)?;
        self.check(datatype).ok()?;
        Combination::new(datatype, move |input, right, result, count| {
            by_kind(op, builtin, Operands::packed(input, right), result, count);
        })
    }

    /// As [`Op::apply_packed`], by way of a temporary array, in portions that stay in the cache.
    fn apply_unpacked(
        &self,
        datatype: &Datatype,
        input: Source<'_>,
        inout: UserBuf,
        count: u64,
    ) -> Result<()> {
        const PORTION: i64 = 32 * 1024;
        const ALIGN: i64 = 64;
        let (extent, low) = (datatype.extent(), datatype.true_lb());
        let high = low.saturating_add(datatype.true_extent());
        let portion = (PORTION / extent.saturating_abs().max(1)).clamp(1, i64::MAX);
        let portion = portion.min(count.min(i64::MAX as u64) as i64).max(1);
        let reach = extent.saturating_mul(portion - 1);
        let (low, high) = (low.saturating_add(reach.min(0)), high.saturating_add(reach.max(0)));
        // The array keeps its alignment: its origin is at a multiple of a cache line in the temporary.
        let origin = -(low.div_euclid(ALIGN).saturating_mul(ALIGN));
        let temporary = OwnedBuf::new(origin.saturating_add(high).max(0) as usize);
        let array = temporary.user_buf().offset(origin as isize);
        let (mut rest, mut done) = (input, 0u64);
        while done < count {
            let now = (count - done).min(portion as u64);
            let packed;
            (packed, rest) = rest.split_at((now * datatype.size()) as usize);
            Segment::new(array, now, datatype).unpack(packed);
            let to = inout.offset((done as i64).wrapping_mul(extent) as isize);
            self.apply(datatype, array, to, now)?;
            done += now;
        }
        Ok(())
    }
}

/// Whether this machine computes with such values.
fn check_kind(op: Predefined, builtin: &Builtin) -> Result<()> {
    let computable = match builtin.kind {
        Kind::Extended | Kind::ComplexExtended | Kind::LongDoubleInt => Extended::SUPPORTED,
        _ => true,
    };
    if computable {
        return Ok(());
    }
    let text = format!("{} on {}: this machine has no arithmetic for it", op.name(), builtin.name);
    Err(Error::other(ErrorClass::UnsupportedOperation, text))
}

/// Chooses the element type. [`Op::check`] has let only valid pairs through.
fn by_kind(op: Predefined, builtin: &Builtin, operands: Operands<'_>, result: UserBuf, count: u64) {
    // Complex numbers are added part by part.
    let (kind, count) = match builtin.kind {
        Kind::Complex(size) if op == Predefined::Sum => (Kind::Float(size), 2 * count),
        kind => (kind, count),
    };
    match kind {
        Kind::Signed(1) => integer::<i8>(op, operands, result, count),
        Kind::Signed(2) => integer::<i16>(op, operands, result, count),
        Kind::Signed(4) => integer::<i32>(op, operands, result, count),
        Kind::Signed(8) => integer::<i64>(op, operands, result, count),
        Kind::Signed(_) => integer::<i128>(op, operands, result, count),
        Kind::Unsigned(1) => integer::<u8>(op, operands, result, count),
        Kind::Unsigned(2) => integer::<u16>(op, operands, result, count),
        Kind::Unsigned(4) => integer::<u32>(op, operands, result, count),
        Kind::Unsigned(_) => integer::<u64>(op, operands, result, count),
        Kind::Float(2) => number::<Half>(op, operands, result, count),
        Kind::Float(4) => number::<f32>(op, operands, result, count),
        Kind::Float(16) => number::<Quad>(op, operands, result, count),
        Kind::Float(_) => number::<f64>(op, operands, result, count),
        Kind::Extended => number::<Extended>(op, operands, result, count),
        Kind::Complex(2) => arithmetic::<[Half; 2]>(op, operands, result, count),
        Kind::Complex(4) => arithmetic::<[f32; 2]>(op, operands, result, count),
        Kind::Complex(16) => arithmetic::<[Quad; 2]>(op, operands, result, count),
        Kind::Complex(_) => arithmetic::<[f64; 2]>(op, operands, result, count),
        Kind::ComplexExtended => arithmetic::<[Extended; 2]>(op, operands, result, count),
        Kind::Logical(1) => logical::<u8>(op, operands, result, count),
        Kind::Logical(2) => logical::<u16>(op, operands, result, count),
        Kind::Logical(4) => logical::<u32>(op, operands, result, count),
        Kind::Logical(8) => logical::<u64>(op, operands, result, count),
        Kind::Logical(_) => logical::<u128>(op, operands, result, count),
        Kind::FloatInt => located::<f32, i32>(op, operands, result, count),
        Kind::DoubleInt => located::<f64, i32>(op, operands, result, count),
        Kind::LongInt => located::<i64, i32>(op, operands, result, count),
        Kind::TwoInt | Kind::TwoInteger => located::<i32, i32>(op, operands, result, count),
        Kind::ShortInt => located::<i16, i32>(op, operands, result, count),
        Kind::LongDoubleInt => located::<Extended, i32>(op, operands, result, count),
        Kind::TwoReal => located::<f32, f32>(op, operands, result, count),
        Kind::TwoDouble => located::<f64, f64>(op, operands, result, count),
    }
}

/// The same for pairs without a name, of which [`Datatype::value_index`] makes no others.
fn by_value<I: Element + PartialOrd>(
    op: Predefined,
    value: Kind,
    operands: Operands<'_>,
    result: UserBuf,
    count: u64,
) {
    match value {
        Kind::Signed(1) => located::<i8, I>(op, operands, result, count),
        Kind::Signed(2) => located::<i16, I>(op, operands, result, count),
        Kind::Signed(4) => located::<i32, I>(op, operands, result, count),
        Kind::Signed(8) => located::<i64, I>(op, operands, result, count),
        Kind::Signed(_) => located::<i128, I>(op, operands, result, count),
        Kind::Unsigned(1) => located::<u8, I>(op, operands, result, count),
        Kind::Unsigned(2) => located::<u16, I>(op, operands, result, count),
        Kind::Unsigned(4) => located::<u32, I>(op, operands, result, count),
        Kind::Unsigned(_) => located::<u64, I>(op, operands, result, count),
        Kind::Float(2) => located::<Half, I>(op, operands, result, count),
        Kind::Float(4) => located::<f32, I>(op, operands, result, count),
        Kind::Float(16) => located::<Quad, I>(op, operands, result, count),
        Kind::Extended => located::<Extended, I>(op, operands, result, count),
        _ => located::<f64, I>(op, operands, result, count),
    }
}

fn integer<T>(op: Predefined, operands: Operands<'_>, result: UserBuf, count: u64)
where
    T: Arithmetic + PartialOrd + From<bool> + BitAnd<Output = T> + BitOr<Output = T> + BitXor<Output = T>,
{
    match op {
        Predefined::Band => combine(operands, result, count, |a: T, b| a & b),
        Predefined::Bor => combine(operands, result, count, |a: T, b| a | b),
        Predefined::Bxor => combine(operands, result, count, |a: T, b| a ^ b),
        Predefined::Land | Predefined::Lor | Predefined::Lxor => logical::<T>(op, operands, result, count),
        _ => number::<T>(op, operands, result, count),
    }
}

/// See [`Predefined::on_words`].
fn on_words<T: Word>(op: Predefined) -> Option<fn(u64, u64) -> u64> {
    Some(match op {
        Predefined::Sum => |a, b| T::of(a).plus(T::of(b)).word(),
        Predefined::Prod => |a, b| T::of(a).times(T::of(b)).word(),
        Predefined::Max => |a, b| T::of(a).max(T::of(b)).word(),
        Predefined::Min => |a, b| T::of(a).min(T::of(b)).word(),
        Predefined::Land => |a, b| u64::from((a != 0) & (b != 0)),
        Predefined::Lor => |a, b| u64::from((a != 0) | (b != 0)),
        Predefined::Lxor => |a, b| u64::from((a != 0) ^ (b != 0)),
        Predefined::Band => |a, b| a & b,
        Predefined::Bor => |a, b| a | b,
        Predefined::Bxor => |a, b| a ^ b,
        _ => return None,
    })
}

/// Integers of up to 8 bytes, which lie in the low bytes of words.
trait Word: Arithmetic + Ord {
    fn of(word: u64) -> Self;
    fn word(self) -> u64;
}

macro_rules! words {
    ($($rust:ty as $unsigned:ty),* $(,)?) => {$(
        impl Word for $rust {
            #[inline(always)]
            fn of(word: u64) -> Self { word as Self }
            #[inline(always)]
            fn word(self) -> u64 { u64::from(self as $unsigned) }
        }
    )*};
}
words! { i8 as u8, i16 as u16, i32 as u32, i64 as u64, u8 as u8, u16 as u16, u32 as u32, u64 as u64 }

fn number<T: Arithmetic + PartialOrd>(op: Predefined, operands: Operands<'_>, result: UserBuf, count: u64) {
    match op {
        Predefined::Max => combine(operands, result, count, |a: T, b| if a > b { a } else { b }),
        Predefined::Min => combine(operands, result, count, |a: T, b| if a < b { a } else { b }),
        _ => arithmetic::<T>(op, operands, result, count),
    }
}

fn arithmetic<T: Arithmetic>(op: Predefined, operands: Operands<'_>, result: UserBuf, count: u64) {
    match op {
        Predefined::Sum => combine(operands, result, count, T::plus),
        Predefined::Prod => combine(operands, result, count, T::times),
        _ => {}
    }
}

fn logical<T: Element + PartialEq + From<bool>>(
    op: Predefined,
    operands: Operands<'_>,
    result: UserBuf,
    count: u64,
) {
    let is = |value: T| value != T::from(false);
    match op {
        Predefined::Land => combine(operands, result, count, |a: T, b| T::from(is(a) & is(b))),
        Predefined::Lor => combine(operands, result, count, |a: T, b| T::from(is(a) | is(b))),
        Predefined::Lxor => combine(operands, result, count, |a: T, b| T::from(is(a) ^ is(b))),
        _ => {}
    }
}

fn located<V, I>(op: Predefined, operands: Operands<'_>, result: UserBuf, count: u64)
where
    V: Element + PartialOrd,
    I: Element + PartialOrd,
{
    let pick = |a: Pair<V, I>, b: Pair<V, I>, better: bool, worse: bool| match (better, worse) {
        (true, _) => a,
        (_, true) => b,
        _ => Pair { value: b.value, index: if a.index < b.index { a.index } else { b.index } },
    };
    match op {
        Predefined::Minloc => {
            combine(operands, result, count, |a: Pair<V, I>, b| {
                pick(a, b, a.value < b.value, b.value < a.value)
            });
        }
        Predefined::Maxloc => {
            combine(operands, result, count, |a: Pair<V, I>, b| {
                pick(a, b, a.value > b.value, b.value > a.value)
            });
        }
        _ => {}
    }
}

/// Sum and product.
trait Arithmetic: Element {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    ($plus:ident, $times:ident: $($rust:ty),*) => {$(
        impl Arithmetic for $rust {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.$plus(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.$times(other) }
        }
    )*};
}
use std::ops::{Add as _, Mul as _};
arithmetic! { wrapping_add, wrapping_mul: i8, i16, i32, i64, i128, u8, u16, u32, u64 }
arithmetic! { add, mul: f32, f64 }

impl Arithmetic for Half {
    #[inline]
    fn plus(self, other: Self) -> Self {
        Self::rounded(self.widened() + other.widened())
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        Self::rounded(self.widened() * other.widened())
    }
}

impl Arithmetic for Quad {
    #[inline]
    fn plus(self, other: Self) -> Self {
        Self::plus(self, other)
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        Self::times(self, other)
    }
}

impl Arithmetic for Extended {
    #[inline]
    fn plus(self, other: Self) -> Self {
        Self::plus(self, other)
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        Self::times(self, other)
    }
}

macro_rules! complex {
    ($($rust:ty, $minus:expr);* $(;)?) => {$(
        impl Arithmetic for [$rust; 2] {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let ([a, b], [c, d]) = (self, other);
                [Arithmetic::plus(a, c), Arithmetic::plus(b, d)]
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                let ([a, b], [c, d]) = (self, other);
                let minus: fn($rust, $rust) -> $rust = $minus;
                let real = minus(Arithmetic::times(a, c), Arithmetic::times(b, d));
                [real, Arithmetic::plus(Arithmetic::times(a, d), Arithmetic::times(b, c))]
            }
        }
    )*};
}
complex! {
    f32, |a, b| a - b;
    f64, |a, b| a - b;
    Half, |a, b| Half::rounded(a.widened() - b.widened());
    Extended, Extended::minus;
    Quad, Quad::minus;
}

impl PartialOrd for Extended {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.compare(*other)
    }
}

impl PartialOrd for Half {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.widened().partial_cmp(&other.widened())
    }
}

impl Half {
    /// The same value in single precision.
    fn widened(self) -> f32 {
        let sign = u32::from(self.0 >> 15) << 31;
        let (exponent, fraction) = (u32::from(self.0 >> 10) & 0x1f, u32::from(self.0) & 0x3ff);
        let bits = match (exponent, fraction) {
            (0, _) => {
                // Zero or subnormal: a multiple of 2^-24, exact in single precision.
                let magnitude = fraction as f32 * f32::from_bits(0x3380_0000);
                return f32::from_bits(sign | magnitude.to_bits());
            }
            (0x1f, _) => sign | 0x7f80_0000 | (fraction << 13),
            _ => sign | ((exponent + 112) << 23) | (fraction << 13),
        };
        f32::from_bits(bits)
    }

    /// The nearest value, ties to even.
    fn rounded(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = ((bits >> 16) & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return Self(sign | 0x7e00);
        }
        // From 65520 on everything rounds to infinity.
        if magnitude >= 0x477f_f000 {
            return Self(sign | 0x7c00);
        }
        let exponent = (magnitude >> 23) as i32 - 127;
        // Weight of the last bit kept: 2^(exponent - 10), but never under 2^-24.
        let dropped = if exponent >= -14 { 13 } else { 13 + (-14 - exponent) as u32 };
        if dropped > 24 {
            return Self(sign);
        }
        let fraction = (magnitude & 0x7f_ffff) | 0x80_0000;
        let kept = fraction >> dropped;
        let rest = fraction & ((1 << dropped) - 1);
        let half = 1 << (dropped - 1);
        let up = u32::from(rest > half || (rest == half && kept & 1 == 1));
        // A normal value's leading bit adds one to the exponent field, which therefore starts one lower; a carry
        // of the rounding goes into the exponent by itself.
        let field = if exponent >= -14 { ((exponent + 14) as u32) << 10 } else { 0 };
        Self(sign | (field + kept + up) as u16)
    }
}
