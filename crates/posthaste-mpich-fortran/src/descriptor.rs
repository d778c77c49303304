//! What an assumed-rank argument of MPICH's `mpi_f08` comes as. Its procedures are bound to no name, so each compiler passes a
//! descriptor of its own: gfortran and Intel's compilers their array descriptors, flang that of ISO_Fortran_binding.h, as for
//! everything else.
//!
//! What must stay true: of a descriptor of no kind that is known only the address is read, which stands first in all of them.

use crate::argument::Address;

/// Its words: `base, offset, length of an element, type, span` of gfortran, then `stride, lower, upper` for each dimension;
/// `base, length of an element, version and rank` of flang, then `lower, extent, step`; `base, length of an element, reserved, flags,
/// rank, reserved` of Intel's, as their guide has it, then `extent, step, lower`.
pub(crate) type Descriptor = usize;

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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gnu,
    Standard,
    Intel,
    Unknown,
}

/// The versions that flang gives its descriptors are dates: year, month, day.
const DATES: std::ops::Range<u32> = 20_180_000..21_000_000;

/// Flags of Intel's: the array is there, and it is contiguous.
const DEFINED: usize = 1;
const CONTIGUOUS: usize = 4;

/// The rank and the type of a word in which they have a byte each, behind a version.
const fn rank_and_type(word: usize) -> (u8, u8) {
    ((word >> 32) as u8, (word >> 40) as u8)
}

/// More dimensions than this no array has.
const MOST: usize = 15;

/// Where gfortran has how long an element is, flang has the version and the type: an element may be as long as a date, but not of a
/// type.
#[inline]
unsafe fn kind(section: Choice) -> Kind {
    // SAFETY: the caller has a descriptor, of three words at least, and of five where it is not flang's.
    unsafe {
        let third = *section.add(2);
        if DATES.contains(&(third as u32)) && rank_and_type(third).1 != 0 {
            return Kind::Standard;
        }
        // A version, which is 0, or 1 where the descriptor was made of one of C; no type is 0.
        let fourth = *section.add(3);
        let (rank, ty) = rank_and_type(fourth);
        if fourth as u32 <= 1 && usize::from(rank) <= MOST && ty != 0 {
            Kind::Gnu
        } else if fourth & DEFINED != 0 && ty == 0 && *section.add(4) <= MOST {
            Kind::Intel
        } else {
            Kind::Unknown
        }
    }
}

/// Whether it is a variable or an array of one dimension of gfortran's, contiguous: most are, and this is told at once.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn is_plain(section: Choice) -> bool {
    // SAFETY: as of `kind`; one with a dimension has it.
    unsafe {
        let len = *section.add(2);
        if DATES.contains(&(len as u32)) {
            return false;
        }
        let fourth = *section.add(3);
        let (rank, ty) = rank_and_type(fourth);
        let is_dense = || *section.add(4) == len && *section.add(5) == 1;
        fourth as u32 <= 1 && ty != 0 && (rank == 0 || rank == 1 && is_dense())
    }
}

/// Where its first element is.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn base(section: Choice) -> Address {
    // SAFETY: as promised.
    unsafe { *section as Address }
}

/// How long one element is, in bytes.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn element(section: Choice) -> usize {
    // SAFETY: as promised.
    unsafe { *section.add(if kind(section) == Kind::Gnu { 2 } else { 1 }) }
}

/// How many dimensions it has, as far as they have to be read: none where the descriptor says that it is contiguous.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn rank(section: Choice) -> usize {
    // SAFETY: as promised.
    unsafe {
        match kind(section) {
            Kind::Gnu => (*section.add(3) >> 32) & 0xff,
            Kind::Standard => (*section.add(2) >> 32) & 0xff,
            Kind::Intel if *section.add(3) & CONTIGUOUS == 0 => *section.add(4),
            Kind::Intel | Kind::Unknown => 0,
        }
    }
}

/// # Safety
/// It is a descriptor, with more dimensions than `at`.
#[inline]
pub(crate) unsafe fn dimension(section: Choice, at: usize) -> Dimension {
    // SAFETY: the dimensions follow, as many as the rank says.
    unsafe {
        match kind(section) {
            Kind::Standard => {
                let [_, extent, step] = *section.add(3 + 3 * at).cast::<[isize; 3]>();
                return Dimension { extent, step };
            }
            Kind::Intel => {
                let [extent, step, _] = *section.add(6 + 3 * at).cast::<[isize; 3]>();
                return Dimension { extent, step };
            }
            Kind::Gnu | Kind::Unknown => {}
        }
        let [stride, lower, upper] = *section.add(5 + 3 * at).cast::<[isize; 3]>();
        // The last dimension of an array of assumed size ends before it begins, at -1.
        Dimension { extent: (upper - lower + 1).max(-1), step: stride * *section.add(4) as isize }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// As gfortran has it.
    pub(crate) type Array = [usize; 14];

    const INTEGER: usize = 1;

    /// A section of i32 elements.
    pub(crate) fn section(data: &[i32], dimensions: &[(isize, isize)]) -> Array {
        let mut all = [0; 14];
        all[..5].copy_from_slice(&[data.as_ptr() as usize, 7, 4, INTEGER << 40 | dimensions.len() << 32, 4]);
        for (to, (extent, stride)) in all[5..].chunks_mut(3).zip(dimensions) {
            to.copy_from_slice(&[*stride as usize, 1, *extent as usize]);
        }
        all
    }

    #[test]
    fn the_layouts_are_told_from_each_other() {
        let data = [0_i32; 8];
        let all = data.as_ptr() as usize;
        let gnu = section(&data, &[(4, 2)]);
        let mut from_c = gnu;
        from_c[3] |= 1;
        for version in [20_180_515_usize, 20_240_719] {
            let standard = [all, 4, 0x09_01 << 32 | version, 0, 4, 8];
            let scalar = [all, 4, 0x09_00 << 32 | version];
            let intel = [all, 4, 0, 0x81, 1, 0, 4, 8, 1];
            // SAFETY: these are descriptors.
            unsafe {
                for section in [gnu.as_ptr(), from_c.as_ptr(), standard.as_ptr(), intel.as_ptr()] {
                    assert!(!is_plain(section));
                    assert_eq!((base(section) as usize, element(section), rank(section)), (all, 4, 1));
                    let Dimension { extent, step } = dimension(section, 0);
                    assert_eq!((extent, step), (4, 8));
                }
                assert_eq!((base(scalar.as_ptr()) as usize, rank(scalar.as_ptr())), (all, 0));
            }
        }
    }

    #[test]
    fn what_is_plain_is_told_at_once() {
        let data = [0_i32; 8];
        let standard = [data.as_ptr() as usize, 4, 0x09_00 << 32 | 20_180_515];
        let intel = [data.as_ptr() as usize, 4, 0, 0x85, 1, 0, 4, 4, 1];
        let plain: [&[(isize, isize)]; 3] = [&[], &[(8, 1)], &[(-1, 1)]];
        let others: [&[(isize, isize)]; 3] = [&[(4, 2)], &[(8, -1)], &[(4, 1), (2, 4)]];
        // SAFETY: these are descriptors.
        unsafe {
            assert!(plain.iter().all(|dimensions| is_plain(section(&data, dimensions).as_ptr())));
            assert!(!others.iter().any(|dimensions| is_plain(section(&data, dimensions).as_ptr())));
            assert!(!is_plain(standard.as_ptr()) && !is_plain(intel.as_ptr()));
            // Parts of longer elements.
            let mut part = section(&data, &[(4, 1)]);
            part[4] = 8;
            assert!(!is_plain(part.as_ptr()));
        }
    }

    #[test]
    fn an_element_may_be_as_long_as_a_date() {
        let data = [0_i32; 1];
        let mut gnu = section(&data, &[(4, 2)]);
        (gnu[2], gnu[4]) = (20 << 20, 20 << 20);
        assert!(DATES.contains(&(20 << 20)));
        // SAFETY: it is a descriptor, whose elements nobody reads.
        unsafe {
            assert_eq!((element(gnu.as_ptr()), rank(gnu.as_ptr())), (20 << 20, 1));
            let Dimension { extent, step } = dimension(gnu.as_ptr(), 0);
            assert_eq!((extent, step), (4, 2 * (20 << 20)));
        }
    }

    #[test]
    fn where_a_descriptor_says_that_it_is_contiguous_or_nothing_known_the_address_is_enough() {
        let data = [0_i32; 8];
        let all = data.as_ptr() as usize;
        for words in [[all, 4, 0, 0x85, 1, 0, 4, 4, 1], [all, 4, 0, 0x80, 1, 0, 4, 4, 1]] {
            // SAFETY: no more is read than these words.
            assert_eq!(unsafe { (base(words.as_ptr()) as usize, rank(words.as_ptr())) }, (all, 0));
        }
    }
}
