//! Where an access lies: its target, and the elements there (MPI-5.0 §12.3).
//!
//! What must stay true: nothing outside of the memory that the target's owner has told is accessed; the target checks that once
//! more.

use crate::buffer::UserBuf;
use crate::datatype::{Builtin, Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::PROC_NULL;
use crate::op::Op;

use super::{Flavor, Part, Window};

/// The target of an access, as a program names it.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// Rank in the window's group, or `MPI_PROC_NULL`.
    pub rank: i32,
    /// Displacement in units of the target; the address in a dynamic window.
    pub disp: i64,
    /// Number of elements.
    pub count: u64,
    /// What they are.
    pub datatype: &'a Datatype,
}

/// A place in a target's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub target: usize,
    /// Bytes from the beginning of its memory; the address in a dynamic window.
    pub offset: i64,
}

impl Window {
    /// Where an access of so many bytes of the origin lies; `None`: nowhere, it is to nobody or of nothing. `passive`: it
    /// has a request.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`, `MPI_ERR_TYPE` when both sides differ in length, `MPI_ERR_DISP`,
    /// `MPI_ERR_RMA_RANGE`; `MPIX_ERR_REVOKED`.
    #[inline]
    pub fn locate(&self, at: &At<'_>, bytes: u64, passive: bool) -> Result<Option<Place>> {
        let Some(target) = self.target_of(at, bytes, passive)? else { return Ok(None) };
        self.place(at, target).map(Some)
    }

    /// Whose memory an access is of: what [`Window::locate`] finds out without that memory.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(crate) fn target_of(&self, at: &At<'_>, bytes: u64, passive: bool) -> Result<Option<usize>> {
        self.check_revoked()?;
        if at.rank == PROC_NULL {
            return Ok(None);
        }
        let target = self.target(at.rank)?;
        self.epochs().check(target, passive)?;
        let theirs = at.count.saturating_mul(at.datatype.size());
        if theirs != bytes {
            return Err(unlike(at, theirs, bytes));
        }
        Ok(Some(target).filter(|_| bytes != 0))
    }

    /// Where in that memory it lies.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(crate) fn place(&self, at: &At<'_>, target: usize) -> Result<Place> {
        if self.flavor() == Flavor::Dynamic {
            return Ok(Place { target, offset: at.disp });
        }
        let part = self.part(target)?;
        let (low, high) = reach(at);
        let offset = i128::from(at.disp) * i128::from(part.unit);
        if at.disp < 0 || offset + low < 0 || offset + high > i128::from(part.size) {
            return Err(outside(at, &part, (offset + low, offset + high)));
        }
        Ok(Place { target, offset: offset as i64 })
    }

    /// The predefined type of the elements of an accumulate operation, which both sides have: the datatypes of the origin, with the
    /// names of their arguments.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` when they differ or there is none; `MPI_ERR_OP` for an operation that is not for them.
    pub fn element(
        at: &At<'_>,
        origin: &[(&'static str, Option<&Datatype>)],
        op: &Op,
    ) -> Result<&'static Builtin> {
        let uniform = |argument: &'static str, datatype: &Datatype| {
            datatype.uniform().or_else(|| datatype.stands_for()).ok_or_else(|| {
                let expected = "a predefined datatype, or one made of one predefined datatype";
                Error::invalid(ErrorClass::Type, argument, datatype.title(), expected)
            })
        };
        let element = uniform("target_datatype", at.datatype)?;
        if op.predefined().is_none() {
            let expected = "a predefined operation, MPI_REPLACE or MPI_NO_OP";
            return Err(Error::invalid(ErrorClass::Op, "op", op.name(), expected));
        }
        op.check(&Datatype::from(element.named))?;
        for (argument, datatype) in origin {
            let Some(datatype) = datatype else { continue };
            let ours = uniform(argument, datatype)?;
            if ours.named != element.named {
                let expected = format_args!("elements of {}, as at the target", element.name);
                return Err(Error::invalid(ErrorClass::Type, argument, ours.name, expected));
            }
        }
        Ok(element)
    }
}

impl At<'_> {
    /// Compares the basic types of both sides, if those of the origin are known (`POSTHASTE_CHECK_TYPES`).
    ///
    /// # Errors
    /// `MPI_ERR_TYPE`: they differ (MPI-5.0 §12.3.1).
    #[inline]
    pub(crate) fn check_types(&self, origin: &Segment) -> Result<()> {
        if origin.is_typed() { self.compare_types(origin) } else { Ok(()) }
    }

    #[cold]
    fn compare_types(&self, origin: &Segment) -> Result<()> {
        let (Some(ours), theirs) = (origin.signature(), self.datatype.signature()) else { return Ok(()) };
        let len = origin.len();
        if ours.is_wild() || theirs.is_wild() || ours.prefix_hash(len) == theirs.prefix_hash(len) {
            return Ok(());
        }
        let expected = format_args!("{}, as at the origin", ours.describe(len));
        Err(Error::invalid(ErrorClass::Type, "target_datatype", theirs.describe(len), expected))
    }

    /// The runs of bytes, from the beginning of the target's datatype.
    pub(crate) fn runs(&self) -> Vec<(i64, u64)> {
        let mut runs = Vec::new();
        Segment::new(UserBuf::none(), self.count, self.datatype).runs(usize::MAX, u64::MAX, &mut runs);
        runs.into_iter().map(|(at, len)| (at as i64, len as u64)).collect()
    }

    /// The elements of this type, as arrays: where each begins, and how many there are.
    pub(super) fn arrays(&self, element: &Builtin) -> Vec<(i64, u64)> {
        if self.datatype.builtin().is_some() {
            return vec![(0, self.count)];
        }
        let mut arrays: Vec<(i64, u64)> = Vec::new();
        let mut add = |at: i64, count: u64| match arrays.last_mut() {
            Some((first, before)) if *first + (*before as i64) * element.extent == at => *before += count,
            _ => arrays.push((at, count)),
        };
        let (size, mut position) = (element.size, 0u64);
        for (at, len) in self.runs() {
            let to_next = position.next_multiple_of(size) - position;
            if to_next == 0 && size as i64 == element.extent && len.is_multiple_of(size) {
                add(at, len / size);
            } else {
                // An element of several runs begins with its first one.
                (to_next..len).step_by(size as usize).for_each(|by| add(at + by as i64, 1));
            }
            position += len;
        }
        arrays
    }
}

/// The lowest byte and the one behind the highest, from the beginning of the first element.
fn reach(at: &At<'_>) -> (i128, i128) {
    let datatype = at.datatype;
    let last = i128::from(at.count - 1) * i128::from(datatype.extent());
    let low = i128::from(datatype.true_lb());
    let high = low + i128::from(datatype.true_extent());
    (low + last.min(0), high + last.max(0))
}

#[cold]
fn unlike(at: &At<'_>, theirs: u64, ours: u64) -> Error {
    let got = format_args!("{} elements of {}, {theirs} bytes", at.count, at.datatype.title());
    let expected = format_args!("{ours} bytes, as at the origin");
    Error::invalid(ErrorClass::Type, "target_datatype", got, expected)
}

#[cold]
fn outside(at: &At<'_>, part: &Part, (from, to): (i128, i128)) -> Error {
    let (count, name) = (at.count, at.datatype.title());
    let got = format_args!("{}: {count} elements of {name} at bytes {from}..{to}", at.disp);
    let expected = format_args!("bytes 0..{} of rank {}, in units of {}", part.size, at.rank, part.unit);
    let class = if at.disp < 0 { ErrorClass::Disp } else { ErrorClass::RmaRange };
    Error::invalid(class, "target_disp", got, expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    fn at(count: u64, datatype: &Datatype) -> At<'_> {
        At { rank: 0, disp: 0, count, datatype }
    }

    #[test]
    fn elements_of_any_layout_are_found() {
        let int = Datatype::from(Named::Int);
        let element = int.builtin().unwrap();
        assert_eq!(at(5, &int).arrays(element), [(0, 5)]);
        let column = Datatype::vector(3, 2, 4, &int).unwrap();
        assert_eq!(at(1, &column).arrays(element), [(0, 2), (16, 2), (32, 2)]);
        let apart = Datatype::resized(&int, 0, 8).unwrap();
        assert_eq!(at(3, &apart).arrays(element), [(0, 1), (8, 1), (16, 1)]);
        let joined = Datatype::contiguous(4, &int).unwrap();
        assert_eq!(at(2, &joined).arrays(element), [(0, 8)]);
    }

    #[test]
    fn elements_with_holes_count_once() {
        for named in [Named::ShortInt, Named::DoubleInt, Named::LongDoubleInt] {
            let pair = Datatype::from(named);
            let element = pair.builtin().unwrap();
            let extent = element.extent;
            let some = Datatype::contiguous(3, &pair).unwrap();
            assert_eq!(at(2, &some).arrays(element), [(0, 6)], "{named:?}");
            let others = Datatype::vector(2, 1, 2, &pair).unwrap();
            assert_eq!(at(1, &others).arrays(element), [(0, 1), (2 * extent, 1)], "{named:?}");
        }
    }

    #[test]
    fn elements_may_lie_before_the_displacement() {
        let double = Datatype::of::<f64>();
        let back = Datatype::hindexed(&[1, 1], &[-16, 8], &double).unwrap();
        assert_eq!(at(1, &back).arrays(double.builtin().unwrap()), [(-16, 1), (8, 1)]);
        assert_eq!((reach(&at(1, &back)), reach(&at(2, &back))), ((-16, 16), (-16, 48)));
    }
}
