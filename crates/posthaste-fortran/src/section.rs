//! Choice buffers of `mpi_f08`: assumed-rank arguments, which come as descriptors (`descriptor.rs`) and may be array
//! sections that are not contiguous (MPI-5.0 §19.1.12).
//!
//! A contiguous one is an address. Of another one, a call that is over when it returns gets a contiguous copy. An operation that
//! ends later gets a datatype that describes the section, where the count and the datatype of the program describe elements one
//! behind the other; everything else is refused with MPI_ERR_BUFFER. What must stay true: the elements keep the order in which
//! Fortran has them.

use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use crate::abi::{BYTE, COMBINER_NAMED, COMM_SELF, DATATYPE_NULL};
use crate::argument::{Address, Handle, Integer, place};
use crate::c;
pub(crate) use crate::descriptor::{Choice, element};
use crate::descriptor::{Dimension, base, dimension, is_plain, rank};

/// Its first element, or what the address stands for.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn first_of(section: Choice) -> Address {
    // SAFETY: as promised.
    place(unsafe { base(section) })
}

#[inline]
unsafe fn is_contiguous(section: Choice) -> bool {
    // SAFETY: the caller has a descriptor.
    if unsafe { is_plain(section) } {
        return true;
    }
    // SAFETY: the caller has a descriptor, which has a dimension if it has a rank.
    unsafe {
        if rank(section) == 1 && dimension(section, 0).step == element(section) as isize {
            return true;
        }
        has_no_gaps(section)
    }
}

/// Of whatever rank. Out of line, so that the one dimension of most arrays costs each routine a few instructions.
///
/// # Safety
/// It is a descriptor.
#[inline(never)]
unsafe fn has_no_gaps(section: Choice) -> bool {
    // SAFETY: the caller has a descriptor; no more dimensions are asked for than it has.
    let (mut dense, rank) = unsafe { (element(section) as isize, rank(section)) };
    let dimension = |at| {
        // SAFETY: as above.
        unsafe { dimension(section, at) }
    };
    for at in 0..rank {
        let Dimension { extent, step } = dimension(at);
        match extent {
            // Of assumed size, whose elements lie side by side.
            -1 => return true,
            0 => return true,
            1 => {}
            extent if step == dense => dense *= extent,
            // Of an array that is not allocated the dimensions say nothing: it is where nobody looks at it.
            // SAFETY: as above.
            _ => return unsafe { base(section) }.is_null() || (at..rank).any(|at| dimension(at).extent == 0),
        }
    }
    true
}

/// The address of a contiguous one; no other is taken.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn whole(section: Choice) -> Option<Address> {
    // SAFETY: as promised.
    unsafe { is_contiguous(section).then(|| first_of(section)) }
}

// For calls that are over when they return.

/// A buffer that is contiguous: the program's, or a copy until this is dropped.
pub(crate) struct Copied {
    address: Address,
    /// Where the copy goes in the end, and what it is made of.
    copy: Option<Box<(Vec<u8>, Choice, bool)>>,
}

/// A contiguous buffer for a call that is over when it returns; `back`: the call may write it.
///
/// # Safety
/// The descriptor and its elements are there until this is dropped.
#[inline]
pub(crate) unsafe fn copied(section: Choice, back: bool) -> Copied {
    // SAFETY: as promised.
    unsafe {
        match whole(section) {
            Some(address) => Copied { address, copy: None },
            None => copy(section, back),
        }
    }
}

#[cold]
unsafe fn copy(section: Choice, back: bool) -> Copied {
    let mut bytes = Vec::new();
    // SAFETY: every run lies in the section.
    unsafe {
        runs(section, &mut |run, len| bytes.extend_from_slice(std::slice::from_raw_parts(run, len)));
    }
    let mut copy = Box::new((bytes, section, back));
    Copied { address: copy.0.as_mut_ptr().cast(), copy: Some(copy) }
}

impl Copied {
    #[inline]
    pub(crate) fn address(&self) -> Address {
        self.address
    }
}

impl Drop for Copied {
    #[inline]
    fn drop(&mut self) {
        if let Some(copy) = self.copy.take()
            && copy.2
        {
            let mut rest = copy.0.as_slice();
            // SAFETY: the section is still what it was when it was copied, run by run.
            unsafe {
                runs(copy.1, &mut |run, len| {
                    let (now, later) = rest.split_at(len);
                    run.copy_from_nonoverlapping(now.as_ptr(), len);
                    rest = later;
                });
            }
        }
    }
}

/// Every run of bytes that lie side by side, in the order of the elements.
unsafe fn runs(section: Choice, each: &mut dyn FnMut(*mut u8, usize)) {
    // SAFETY: the caller has a descriptor, which has as many dimensions.
    let (mut run, dimensions) = unsafe {
        let dimensions: Vec<Dimension> = (0..rank(section)).map(|at| dimension(section, at)).collect();
        (element(section), dimensions)
    };
    let mut outer = dimensions.as_slice();
    while let Some((first, rest)) = outer.split_first()
        && first.step == run as isize
    {
        run *= first.extent.max(0) as usize;
        outer = rest;
    }
    if run > 0 && outer.iter().all(|dimension| dimension.extent > 0) {
        // SAFETY: as above.
        unsafe { walk(base(section).cast(), run, outer, each) };
    }
}

unsafe fn walk(at: *mut u8, run: usize, dimensions: &[Dimension], each: &mut dyn FnMut(*mut u8, usize)) {
    let Some((last, inner)) = dimensions.split_last() else { return each(at, run) };
    for index in 0..last.extent {
        // SAFETY: the element is in the section.
        unsafe { walk(at.offset(index * last.step), run, inner, each) };
    }
}

// For operations that end later.

/// A buffer as an operation gets it that ends later.
pub(crate) struct Described {
    pub(crate) address: Address,
    pub(crate) count: i64,
    pub(crate) datatype: Handle,
    is_ours: bool,
}

/// The same data as `count` elements of `datatype`, one behind the other in the order of the section's elements. None when the
/// section cannot be described: its elements must be of a predefined datatype without gaps.
///
/// # Safety
/// It is a descriptor.
#[inline]
pub(crate) unsafe fn described(
    section: Choice,
    count: impl Into<i64>,
    datatype: Handle,
) -> Option<Described> {
    let count = count.into();
    // SAFETY: as promised.
    unsafe {
        match whole(section) {
            Some(address) => Some(Described { address, count, datatype, is_ours: false }),
            None => describe(section, count, datatype),
        }
    }
}

impl Drop for Described {
    #[inline]
    fn drop(&mut self) {
        if self.is_ours {
            free(self.datatype);
        }
    }
}

/// By value, so that what describes a buffer without gaps stays in registers.
#[cold]
fn free(mut datatype: Handle) {
    // SAFETY: we made it; the operation keeps what it needs of it.
    unsafe { c::PMPI_Type_free((&raw mut datatype).cast()) };
}

#[cold]
unsafe fn describe(section: Choice, count: i64, datatype: Handle) -> Option<Described> {
    // SAFETY: the caller has a descriptor; the rest are calls of C with room for their answers.
    unsafe {
        let size = dense(datatype)?;
        let mut rest = count.checked_mul(size).filter(|bytes| *bytes >= 0)?;
        let (mut places, mut lengths) = (Vec::new(), Vec::new());
        runs(section, &mut |run, len| {
            let len = rest.min(len as i64);
            if len > 0 {
                places.push(run as i64 - base(section) as i64);
                lengths.push(len);
                rest -= len;
            }
        });
        if rest > 0 {
            return None;
        }
        // Elements of the program's datatype where none of them is in two parts.
        let (unit, old) =
            if lengths.iter().all(|len| len % size == 0) { (size, datatype) } else { (1, BYTE) };
        lengths.iter_mut().for_each(|len| *len /= unit);
        let mut made = DATATYPE_NULL;
        let new = (&raw mut made).cast();
        let blocks = lengths.len() as i64;
        let code = match even(&places, &lengths) {
            Some((length, step)) => c::PMPI_Type_create_hvector_c(blocks, length, step, old, new),
            None => {
                let (lengths, places) = (lengths.as_ptr() as Address, places.as_ptr() as Address);
                c::PMPI_Type_create_hindexed_c(blocks, lengths, places, old, new)
            }
        };
        if code != 0 || c::PMPI_Type_commit((&raw mut made).cast()) != 0 {
            return None;
        }
        Some(Described { address: first_of(section), count: 1, datatype: made, is_ours: true })
    }
}

/// The length and the distance of blocks that are all alike and begin with the first element.
fn even(places: &[i64], lengths: &[i64]) -> Option<(i64, i64)> {
    let (&length, &second) = (lengths.first()?, places.get(1)?);
    let are_alike = lengths.iter().all(|len| *len == length);
    let are_apart = places.windows(2).all(|two| two[1] - two[0] == second);
    (are_alike && are_apart).then_some((length, second))
}

/// The size of a predefined datatype whose elements lie side by side without gaps.
unsafe fn dense(datatype: Handle) -> Option<i64> {
    let (mut size, mut lb, mut extent) = (0_i64, 0_i64, 0_i64);
    let (mut integers, mut addresses, mut datatypes, mut combiner) = (0 as c_int, 0 as c_int, 0 as c_int, 0);
    // SAFETY: C writes into these variables.
    unsafe {
        let envelope = c::PMPI_Type_get_envelope(
            datatype,
            (&raw mut integers).cast(),
            (&raw mut addresses).cast(),
            (&raw mut datatypes).cast(),
            (&raw mut combiner).cast(),
        );
        let code = c::PMPI_Type_size_c(datatype, (&raw mut size).cast());
        let bounds = c::PMPI_Type_get_extent_c(datatype, (&raw mut lb).cast(), (&raw mut extent).cast());
        let is_known = envelope == 0 && code == 0 && bounds == 0 && combiner == COMBINER_NAMED;
        (is_known && lb == 0 && size > 0 && extent == size).then_some(size)
    }
}

// What is refused.

/// Whose error handler hears of it.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Comm(Handle),
    Win(Handle),
    File(Handle),
    Session(Handle),
    Process,
}

const MPI_ERR_BUFFER: Integer = 1;

/// Raises MPI_ERR_BUFFER for a section that a call cannot take, and gives its code.
///
/// # Safety
/// MPI is initialised.
#[cold]
pub(crate) unsafe fn refuse(owner: Owner, call: &'static str, argument: &'static str) -> Integer {
    // SAFETY: as promised.
    unsafe {
        let code = code(call, argument);
        match owner {
            Owner::Comm(comm) => c::PMPI_Comm_call_errhandler(comm, code),
            Owner::Win(win) => c::PMPI_Win_call_errhandler(win, code),
            Owner::File(file) => c::PMPI_File_call_errhandler(file, code),
            Owner::Session(session) => c::PMPI_Session_call_errhandler(session, code),
            Owner::Process => c::PMPI_Comm_call_errhandler(COMM_SELF, code),
        };
        code
    }
}

/// The error code for an argument of a call, made when it is needed first.
unsafe fn code(call: &'static str, argument: &'static str) -> Integer {
    static KNOWN: Mutex<Vec<(&str, &str, Integer)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, code)) = known.iter().find(|known| (known.0, known.1) == (call, argument)) {
        return *code;
    }
    let sentence = format!(
        "{call}: {argument} is an array section that is not contiguous; this operation ends later, and takes one only as \
         elements of a predefined datatype without gaps, of a message or a one-sided operation\0"
    );
    let mut code = MPI_ERR_BUFFER;
    // SAFETY: C writes the code and reads the text.
    unsafe {
        if c::PMPI_Add_error_code(MPI_ERR_BUFFER, (&raw mut code).cast()) == 0 {
            c::PMPI_Add_error_string(code, sentence.as_ptr() as Address);
        }
    }
    known.push((call, argument, code));
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::tests::{Array, section};

    fn choice(array: &Array) -> Choice {
        (&raw const *array).cast()
    }

    #[test]
    fn only_sections_with_gaps_are_copied_and_they_come_back() {
        let mut data: Vec<i32> = (0..24).collect();
        for (dimensions, elements) in [
            (&[][..], None),
            (&[(24, 1)], None),
            (&[(4, 1), (6, 4)], None),
            (&[(4, 1), (1, 99), (-1, 0)], None),
            (&[(0, 7)], None),
            (&[(4, 2), (0, 7)], None),
            (&[(4, 6)], Some(vec![0, 6, 12, 18])),
            (&[(2, 1), (3, 4)], Some(vec![0, 1, 4, 5, 8, 9])),
            (&[(2, 2), (2, 4), (2, 12)], Some(vec![0, 2, 4, 6, 12, 14, 16, 18])),
        ] {
            let array = section(&data, dimensions);
            // SAFETY: the descriptor and its elements are there.
            let copied = unsafe { copied(choice(&array), true) };
            let Some(elements) = elements else {
                assert_eq!(copied.address(), data.as_ptr() as Address, "{dimensions:?}");
                continue;
            };
            let copy = copied.address().cast::<i32>();
            // SAFETY: the copy has as many elements.
            let copy = unsafe { std::slice::from_raw_parts_mut(copy, elements.len()) };
            assert_eq!(copy, elements, "{dimensions:?}");
            copy.iter_mut().for_each(|element| *element += 100);
            drop(copied);
            for element in elements {
                assert_eq!(std::hint::black_box(&mut data)[element as usize], element + 100);
                data[element as usize] = element;
            }
        }
    }

    #[test]
    fn a_section_may_run_backwards() {
        let data = [1, 2, 3, 4];
        let array = section(&data[3..], &[(4, -1)]);
        // SAFETY: the descriptor and its elements are there.
        let copied = unsafe { copied(choice(&array), false) };
        // SAFETY: the copy has four elements.
        assert_eq!(unsafe { std::slice::from_raw_parts(copied.address().cast::<i32>(), 4) }, [4, 3, 2, 1]);
    }
}
