//! What is only the standard ABI's: its numbers, and the variables of its `mpif.h` and modules whose addresses stand for something
//! else (MPI-5.0 §2.5.4, §20).

use crate::argument::{Address, Handle, Integer};

/// A handle in an array of C.
pub(crate) type Word = usize;

/// The INTEGERs of a status.
pub(crate) const STATUS_SIZE: usize = 8;

/// MPI_IN_PLACE in C.
pub(crate) const IN_PLACE: usize = 1;

pub(crate) const CART: Integer = 211;
pub(crate) const GRAPH: Integer = 212;
pub(crate) const DIST_GRAPH: Integer = 213;

pub(crate) const COMBINER_NAMED: Integer = 101;
pub(crate) const BYTE: Handle = 0x247;
pub(crate) const DATATYPE_NULL: Handle = 0x200;
pub(crate) const COMM_SELF: Handle = 0x102;

/// What C gives as a predefined attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// The address of an int.
    Int,
    /// The address of an MPI_Aint.
    Aint,
    /// The attribute itself.
    Itself,
}

/// The key in C, and what C gives for it: no key of a program has one of these numbers.
pub(crate) fn attribute(keyval: Integer) -> (Integer, Attribute) {
    let kind = match keyval {
        // MPI_TAG_UB to MPI_UNIVERSE_SIZE; MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR and MPI_WIN_MODEL.
        501..=507 | 602 | 604 | 605 => Attribute::Int,
        // MPI_WIN_SIZE.
        603 => Attribute::Aint,
        _ => Attribute::Itself,
    };
    (keyval, kind)
}

/// The common block of the variables whose addresses mean something; `mpif.h` and the modules declare it alike. The one of
/// the program wins when it is loaded, so its address is always asked of the loader: this static is exported, and the library
/// not linked with -Bsymbolic. Libraries that a program opens later agree on one of theirs, by `posthastempi.o`, with which
/// the linker links whatever is linked with this library.
#[repr(C, align(64))]
pub(crate) struct Cells([Integer; 32]);

/// What each INTEGER of the block is in C: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_ERRCODES_IGNORE,
/// MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY; the rest are statuses that are ignored.
const MEANINGS: [usize; 6] = [0, 1, 2, 0, 10, 11];
const AUTOMATIC: usize = 2;

#[unsafe(export_name = "posthastempi_")]
static CELLS: Cells = Cells([0; 32]);

/// The block of MPI_ARGV_NULL and MPI_ARGVS_NULL.
#[repr(C, align(64))]
pub(crate) struct Letters([u8; 64]);

#[unsafe(export_name = "posthastempitext_")]
static LETTERS: Letters = Letters([b' '; 64]);

/// An address of Fortran as the one that C knows.
#[inline]
pub(crate) fn place<T>(address: *const T) -> Address {
    let offset = (address as usize).wrapping_sub(&raw const CELLS as usize);
    if offset >= size_of::<Cells>() { address as Address } else { meaning(offset) }
}

/// What `mpi_f08` gets of MPI_BUFFER_DETACH: for the address that C knows as MPI_BUFFER_AUTOMATIC that of its variable.
///
/// # Safety
/// There is an address.
pub(crate) unsafe fn detached(buffer: Address) {
    // SAFETY: as promised; the variable lies in the block.
    unsafe {
        let buffer = buffer.cast::<usize>();
        if *buffer == MEANINGS[AUTOMATIC] {
            *buffer = (&raw const CELLS).cast::<Integer>().add(AUTOMATIC) as usize;
        }
    }
}

#[cold]
fn meaning(offset: usize) -> Address {
    MEANINGS.get(offset / size_of::<Integer>()).copied().unwrap_or(0) as Address
}

/// Whether an argument is MPI_ARGV_NULL or MPI_ARGVS_NULL.
pub(crate) fn is_no_argument(text: *const u8) -> bool {
    (text as usize).wrapping_sub(&raw const LETTERS as usize) < size_of::<Letters>()
}

unsafe extern "C" {
    // Of this library; asked of the loader, as a program may have an address of its own for them.
    fn mpi_conversion_fn_null_();
    fn mpi_conversion_fn_null__();
    fn mpi_conversion_fn_null_c_();
    fn mpi_conversion_fn_null_c__();
}

/// Whether a function is MPI_CONVERSION_FN_NULL or MPI_CONVERSION_FN_NULL_C.
pub(crate) fn converts_nothing(function: Address) -> bool {
    [
        mpi_conversion_fn_null_ as Address,
        mpi_conversion_fn_null__ as Address,
        mpi_conversion_fn_null_c_ as Address,
        mpi_conversion_fn_null_c__ as Address,
    ]
    .contains(&function)
}
