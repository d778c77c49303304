//! What an assumed-rank argument of a procedure that is bound to its name comes as: the descriptor of ISO_Fortran_binding.h.

use std::ffi::c_int;

use crate::argument::Address;

/// CFI_cdesc_t, of which the dimensions follow.
#[repr(C)]
pub(crate) struct Descriptor {
    base: Address,
    element: usize,
    version: c_int,
    rank: i8,
    kind: [u8; 3],
}

/// CFI_dim_t.
#[repr(C)]
#[derive(Clone, Copy)]
struct Bounds {
    lower: isize,
    extent: isize,
    /// Bytes from one element to the next.
    step: isize,
}

/// A dimension of an array.
#[derive(Clone, Copy)]
pub(crate) struct Dimension {
    /// How many elements; -1: as many as there are.
    pub(crate) extent: isize,
    /// Bytes from one element to the next.
    pub(crate) step: isize,
}

/// An argument of assumed rank.
pub(crate) type Choice = *const Descriptor;

/// Whether it is contiguous at first sight: all of these are looked at in one way.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn is_plain(section: Choice) -> bool {
    // SAFETY: as promised.
    unsafe { (*section).rank == 0 }
}

/// Where its first element is.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn base(section: Choice) -> Address {
    // SAFETY: as promised.
    unsafe { (*section).base }
}

/// How long one element is, in bytes.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn element(section: Choice) -> usize {
    // SAFETY: as promised.
    unsafe { (*section).element }
}

/// How many dimensions it has.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn rank(section: Choice) -> usize {
    // SAFETY: as promised.
    unsafe { (*section).rank.max(0) as usize }
}

/// # Safety
/// It is a descriptor, with more dimensions than `at`.
#[inline]
pub(crate) unsafe fn dimension(section: Choice, at: usize) -> Dimension {
    // SAFETY: the dimensions follow, as many as the rank says.
    let Bounds { extent, step, .. } = unsafe { *section.add(1).cast::<Bounds>().add(at) };
    Dimension { extent, step }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[repr(C)]
    pub(crate) struct Array {
        header: Descriptor,
        dimensions: [Bounds; 3],
    }

    /// A section of i32 elements.
    pub(crate) fn section(data: &[i32], dimensions: &[(isize, isize)]) -> Array {
        let mut all = [Bounds { lower: 0, extent: 0, step: 0 }; 3];
        for (to, (extent, step)) in all.iter_mut().zip(dimensions) {
            (to.extent, to.step) = (*extent, *step * 4);
        }
        let base = data.as_ptr() as Address;
        let header = Descriptor { base, element: 4, version: 1, rank: dimensions.len() as i8, kind: [0; 3] };
        Array { header, dimensions: all }
    }
}
