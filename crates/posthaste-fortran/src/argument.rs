//! How Fortran passes what C takes by value, and arrays of handles (MPI-5.0 §19.1, §19.3).

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::abi::Word;
pub(crate) use crate::abi::{detached, is_no_argument, place};

/// An INTEGER.
pub(crate) type Integer = c_int;

/// Any pointer of the C interface.
pub(crate) type Address = *mut c_void;

/// A handle of the C interface, whose number Fortran has.
pub(crate) type Handle = usize;

/// # Safety
/// There is an INTEGER.
#[inline]
pub(crate) unsafe fn handle(number: *const Integer) -> Handle {
    // SAFETY: as promised.
    unsafe { *number as u32 as Handle }
}

/// The INTEGER for a handle.
#[inline]
pub(crate) fn number(handle: Handle) -> Integer {
    handle as Integer
}

/// A LOGICAL as C has it. What C writes, 0 or 1, is a LOGICAL as it is: compilers differ only in what else is `.TRUE.`.
///
/// # Safety
/// There is a LOGICAL.
#[inline]
pub(crate) unsafe fn logical(value: *const Integer) -> Integer {
    // SAFETY: as promised.
    Integer::from(unsafe { *value } != 0)
}

/// MPI_UNDEFINED.
pub(crate) const UNDEFINED: Integer = -32766;

/// Ends a routine: `ierror` is absent when the program left it out.
///
/// # Safety
/// `ierror` is null or an INTEGER.
#[inline]
pub(crate) unsafe fn report(ierror: *mut Integer, code: Integer) {
    if !ierror.is_null() {
        // SAFETY: as promised.
        unsafe { *ierror = code };
    }
}

/// Indices count from 1 in Fortran; MPI_UNDEFINED, which is negative, stays as it is.
///
/// # Safety
/// There are `len` INTEGERs, or `len` is not positive.
pub(crate) unsafe fn count_from_one(indices: *mut Integer, len: Integer) {
    for at in 0..usize::try_from(len).unwrap_or(0) {
        // SAFETY: as promised.
        let index = unsafe { &mut *indices.add(at) };
        if *index >= 0 {
            *index += 1;
        }
    }
}

// Arrays of handles.

/// Whether C has handles as long as Fortran's, so that the array of the one is the array of the other.
const ARE_ALIKE: bool = size_of::<Word>() == size_of::<Integer>();

/// So many handles need no memory from the heap.
const FEW: usize = if ARE_ALIKE { 0 } else { 64 };

/// Room for an array of handles, in the routine: to move it would be to copy it.
pub(crate) struct Few([MaybeUninit<Word>; FEW]);

impl Few {
    #[inline]
    pub(crate) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; FEW])
    }
}

/// An array of handles as C has it: that of the program where both are alike, else a copy.
pub(crate) struct Handles<'a> {
    array: Address,
    program: *mut Integer,
    len: usize,
    /// Whether the program's array gets the copy in the end.
    back: bool,
    /// What the array points into.
    _few: PhantomData<&'a mut Few>,
    _many: Vec<Word>,
}

/// Handles that C only reads.
///
/// # Safety
/// There are `len` INTEGERs until this is dropped, or `len` is not positive.
#[inline]
pub(crate) unsafe fn handles(few: &mut Few, from: *const Integer, len: Integer) -> Handles<'_> {
    // SAFETY: as promised.
    unsafe { taken(few, from.cast_mut(), len, false) }
}

/// Handles that C also writes: Fortran has them when this is dropped.
///
/// # Safety
/// As of [`handles`].
#[inline]
pub(crate) unsafe fn handles_and_back(few: &mut Few, from: *mut Integer, len: Integer) -> Handles<'_> {
    // SAFETY: as promised.
    unsafe { taken(few, from, len, true) }
}

#[inline]
unsafe fn taken(few: &mut Few, program: *mut Integer, len: Integer, back: bool) -> Handles<'_> {
    let len = usize::try_from(len).unwrap_or(0);
    let mut many = Vec::new();
    let mut array: Address = program.cast();
    if !ARE_ALIKE {
        let to = if len > FEW {
            many.reserve_exact(len);
            many.as_mut_ptr()
        } else {
            few.0.as_mut_ptr().cast::<Word>()
        };
        // SAFETY: the caller has as many INTEGERs, and there is room for as many.
        unsafe { convert(program.cast_const(), to, len, |number| number as u32 as Word) };
        array = to.cast();
    }
    Handles { array, program, len, back, _few: PhantomData, _many: many }
}

/// Elements in one turn of the loop: with four, as compilers choose, a third of the instructions are those of the loop itself.
const UNROLLED: usize = 16;

/// Copies an array into one of another type.
///
/// # Safety
/// `from` and `to` have `len` elements each, and share no memory.
#[inline]
unsafe fn convert<F: Copy, T>(from: *const F, to: *mut T, len: usize, each: impl Fn(F) -> T + Copy) {
    let whole = len - len % UNROLLED;
    for at in (0..whole).step_by(UNROLLED) {
        let (from, to) =
            (from.wrapping_add(at).cast::<[F; UNROLLED]>(), to.wrapping_add(at).cast::<[T; UNROLLED]>());
        // SAFETY: as many elements are left on both sides, as promised, for `at` ends that far before `len`.
        unsafe { to.write(from.read().map(each)) };
    }
    for at in whole..len {
        // SAFETY: as promised, for `at` is less than `len`.
        unsafe { to.add(at).write(each(from.add(at).read())) };
    }
}

impl Handles<'_> {
    /// The array of C.
    #[inline]
    pub(crate) fn address(&mut self) -> Address {
        self.array
    }
}

impl Drop for Handles<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.back && !ARE_ALIKE {
            let copy = self.array.cast_const().cast::<Word>();
            // SAFETY: `taken` has written as many, and the program's array is as long.
            unsafe { convert(copy, self.program, self.len, |handle| handle as Integer) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_c_are_those_of_fortran_and_come_back_where_they_should() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut of_program: Vec<Integer> = (0..len as Integer).map(|at| at - 3).collect();
            for goes_back in [false, true] {
                let before = of_program.clone();
                let from = of_program.as_mut_ptr();
                let (count, mut few) = (len as Integer, Few::new());
                // SAFETY: there are as many.
                let mut all = unsafe {
                    if goes_back {
                        handles_and_back(&mut few, from, count)
                    } else {
                        handles(&mut few, from, count)
                    }
                };
                for (at, number) in before.iter().enumerate() {
                    // SAFETY: the array of C is as long.
                    let word = unsafe { &mut *all.address().cast::<Word>().add(at) };
                    assert_eq!(*word, *number as u32 as Word);
                    *word = at as Word + 100;
                }
                drop(all);
                for (at, number) in of_program.iter().enumerate() {
                    let expected = if goes_back || ARE_ALIKE { at as Integer + 100 } else { before[at] };
                    assert_eq!(*number, expected);
                }
            }
        }
        let mut few = Few::new();
        // SAFETY: no length, no array.
        let none = unsafe { handles(&mut few, std::ptr::null(), -1).len };
        assert_eq!(none, 0);
    }
}
