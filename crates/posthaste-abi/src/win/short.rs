//! Accesses that are over at once: what the program says is taken to the engine's short way, if all of it is simple.
//!
//! What must stay true: nothing is done unless all arguments are certainly right; what is not goes the general way.

use std::ffi::{c_int, c_void};

use posthaste_core::buffer::Run;
use posthaste_core::datatype::{Builtin, Class};
use posthaste_core::named::Named;
use posthaste_core::op::Predefined;
use posthaste_core::win::{Spot, Window};

use crate::abi::types::{MPI_Aint, MPI_Datatype, MPI_Op, MPI_Win};
use crate::layer::library::library;
use crate::mapping::ranks::rank_in;
use crate::mapping::types;
use crate::object::memory::plain_run;
use crate::object::window;

/// A buffer as the program describes it: address, count, datatype.
#[derive(Clone, Copy)]
pub(crate) struct Data(pub(crate) *const c_void, pub(crate) i64, pub(crate) MPI_Datatype);

/// A target as the program describes it: rank, displacement, count, datatype.
#[derive(Clone, Copy)]
pub(crate) struct Target(pub(crate) c_int, pub(crate) MPI_Aint, pub(crate) i64, pub(crate) MPI_Datatype);

/// Puts or gets elements of a predefined type, the same on both sides. Whether that is done.
#[inline(always)]
pub(crate) fn copied(
    Data(address, count, datatype): &Data,
    Target(rank, disp, elements, target_datatype): &Target,
    win: MPI_Win,
    copy: impl FnOnce(&Window, Run, Spot) -> bool,
) -> bool {
    if (count, datatype) != (elements, target_datatype) {
        return false;
    }
    let Some(run) = plain_run(*address, *count, *datatype) else { return false };
    let spot = Spot { rank: rank_in(*rank), disp: *disp as i64 };
    window::look_at_recent(win, |window| copy(window, run, spot)).unwrap_or(false)
}

/// Combines elements of a predefined type with operands, and fetches what one was. Whether that is done.
#[inline(always)]
pub(crate) fn combined(
    origin: &Data,
    result: Option<&Data>,
    target @ Target(rank, disp, elements, datatype): &Target,
    op: MPI_Op,
    win: MPI_Win,
) -> bool {
    let one = |Data(address, count, handle): &Data| match (*count, handle == datatype) {
        (1, true) => plain_run(*address, 1, *handle),
        _ => None,
    };
    let (Some(named), Some(op)) = (types::named(*datatype), types::operation(op)) else { return false };
    let fetches_only = op == Predefined::NoOp;
    if *elements != 1 {
        return result.is_none() && array_combined(origin, target, (named, op), win);
    }
    if fetches_only && result.is_none() {
        return false;
    }
    let operand = if fetches_only { None } else { one(origin) };
    let old = result.and_then(one);
    if operand.is_none() && !fetches_only || old.is_some() != result.is_some() {
        return false;
    }
    let spot = Spot { rank: rank_in(*rank), disp: *disp as i64 };
    let element = Builtin::of(named);
    window::look_at_recent(win, |window| window.update_now(element, op, operand, old, spot)).unwrap_or(false)
}

/// The same of an array: by itself, so that one element does not pay for its registers.
#[inline(never)]
fn array_combined(origin: &Data, target: &Target, (named, op): (Named, Predefined), win: MPI_Win) -> bool {
    copied(origin, target, win, |window, run, spot| window.combine_now(Builtin::of(named), op, run, spot))
}

/// Compares and swaps one element: with what, for what, where the old value goes. Whether that is done.
#[inline(always)]
pub(crate) fn swapped(
    [expected, new, old]: [*const c_void; 3],
    datatype: MPI_Datatype,
    (rank, disp): (c_int, i64),
    win: MPI_Win,
) -> bool {
    let one = |address: *const c_void| plain_run(address, 1, datatype);
    let Some(element) = types::named(datatype).map(Builtin::of).filter(|element| is_comparable(element))
    else {
        return false;
    };
    let (Some(expected), Some(new), Some(old)) = (one(expected), one(new), one(old)) else { return false };
    let spot = Spot { rank: rank_in(rank), disp };
    window::look_at_recent(win, |window| window.swap_now(element, [expected, new, old], spot))
        .unwrap_or(false)
}

/// Whether elements of this type can be compared (MPI-5.0 §12.3.4).
#[inline]
pub(crate) fn is_comparable(element: &Builtin) -> bool {
    match element.class {
        Class::Integer | Class::FortranInteger | Class::Logical | Class::MultiLanguage | Class::Byte => true,
        // As in reductions, it is a small integer.
        Class::Character => element.named == Named::Char && !library().strict,
        _ => false,
    }
}
