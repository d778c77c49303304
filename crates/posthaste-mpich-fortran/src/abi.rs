//! What is only MPICH's: its numbers, and the variables of its `mpif.h` and modules whose addresses stand for something else.
//! `cargo xtask test --only mpich` runs programs that were built with them.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use crate::argument::{Address, Handle, Integer};

/// A handle in an array of C.
pub(crate) type Word = Integer;

/// The INTEGERs of a status.
pub(crate) const STATUS_SIZE: usize = 5;

/// MPI_IN_PLACE in C.
pub(crate) const IN_PLACE: usize = usize::MAX;

pub(crate) const CART: Integer = 2;
pub(crate) const GRAPH: Integer = 1;
pub(crate) const DIST_GRAPH: Integer = 3;

pub(crate) const COMBINER_NAMED: Integer = 1;
pub(crate) const BYTE: Handle = 0x4c00_010d;
pub(crate) const DATATYPE_NULL: Handle = 0x0c00_0000;
pub(crate) const COMM_SELF: Handle = 0x4400_0001;

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

/// The predefined keys of Fortran come one behind those of C: these bits, and at most that much more.
const OF_COMMS: Integer = 0x6440_0000;
const OF_WINDOWS: Integer = 0x6600_0000;
const MOST: Integer = 16;

/// The key in C, and what C gives for it: no key of a program has one of these numbers.
pub(crate) fn attribute(keyval: Integer) -> (Integer, Attribute) {
    match (keyval.wrapping_sub(OF_COMMS), keyval.wrapping_sub(OF_WINDOWS)) {
        (1..=MOST, _) => (keyval - 1, Attribute::Int),
        // MPI_WIN_BASE and MPI_WIN_SIZE.
        (_, 2) => (keyval - 1, Attribute::Itself),
        (_, 4) => (keyval - 1, Attribute::Aint),
        (_, 1..=MOST) => (keyval - 1, Attribute::Int),
        _ => (keyval, Attribute::Itself),
    }
}

// The variables.

/// Variables that programs declare, or copy out of this library when they are loaded: whichever the loader has chosen is asked
/// for by the address, so the library is not linked with -Bsymbolic. Their lengths are those of MPICH's, as the loader compares
/// them.
macro_rules! variables {
    ($($name:ident $symbol:literal: $ty:ty;)*) => {$(
        #[unsafe(export_name = $symbol)]
        // SAFETY: numbers may be 0.
        static $name: $ty = unsafe { std::mem::zeroed() };
    )*};
}

variables! {
    // Of mpif.h and mpi: MPI_BOTTOM, MPI_IN_PLACE and a status; statuses and MPI_ERRCODES_IGNORE; MPI_ARGVS_NULL, MPI_ARGV_NULL.
    PLACES "mpipriv1_": [Integer; 7];
    STATUSES "mpipriv2_": [Integer; 6];
    TEXTS "mpiprivc_": [u8; 2];
    UNWEIGHTED "mpifcmb5_": Integer;
    WEIGHTS_EMPTY "mpifcmb9_": Integer;
    AUTOMATIC "mpifcmba_": Integer;
    // Of mpi_f08.
    F08_BOTTOM "MPIR_F08_MPI_BOTTOM": Integer;
    F08_IN_PLACE "MPIR_F08_MPI_IN_PLACE": Integer;
    F08_STATUS "MPIR_F08_MPI_STATUS_IGNORE_OBJ": [Integer; 5];
    F08_STATUSES "MPIR_F08_MPI_STATUSES_IGNORE_OBJ": [Integer; 5];
    F08_ERRCODES "__mpi_f08_link_constants_MOD_mpi_errcodes_ignore": Integer;
    F08_UNWEIGHTED "__mpi_f08_link_constants_MOD_mpi_unweighted": Integer;
    F08_WEIGHTS_EMPTY "__mpi_f08_link_constants_MOD_mpi_weights_empty": Integer;
    F08_ARGV "__mpi_f08_link_constants_MOD_mpi_argv_null": u8;
    F08_ARGVS "__mpi_f08_link_constants_MOD_mpi_argvs_null": u8;
    // The same by Intel's compilers.
    INTEL_ERRCODES "mpi_f08_link_constants_mp_mpi_errcodes_ignore_": Integer;
    INTEL_UNWEIGHTED "mpi_f08_link_constants_mp_mpi_unweighted_": Integer;
    INTEL_WEIGHTS_EMPTY "mpi_f08_link_constants_mp_mpi_weights_empty_": Integer;
    INTEL_ARGV "mpi_f08_link_constants_mp_mpi_argv_null_": u8;
    INTEL_ARGVS "mpi_f08_link_constants_mp_mpi_argvs_null_": u8;
}

unsafe extern "C" {
    #[link_name = "MPI_UNWEIGHTED"]
    static C_UNWEIGHTED: usize;
    #[link_name = "MPI_WEIGHTS_EMPTY"]
    static C_WEIGHTS_EMPTY: usize;
}

// Where C finds the statuses that Fortran ignores.
unsafe extern "C" {
    static MPI_F_STATUS_IGNORE: AtomicPtr<Integer>;
    static MPI_F_STATUSES_IGNORE: AtomicPtr<Integer>;
    static MPI_F08_STATUS_IGNORE: AtomicPtr<Integer>;
    static MPI_F08_STATUSES_IGNORE: AtomicPtr<Integer>;
    static posthaste_ignored_statuses: [AtomicUsize; 4];
}

const STATUS_IGNORE: usize = 1;
const BUFFER_AUTOMATIC: usize = usize::MAX - 1;

/// Bytes in which an address stands for something: where they begin, how many there are, what they are in C.
type Meaning = (usize, usize, usize);

fn meanings() -> [Meaning; 18] {
    const ONE: usize = size_of::<Integer>();
    let [places, statuses] = [(&raw const PLACES) as usize, (&raw const STATUSES) as usize];
    // SAFETY: the C library exports both, and nobody writes them.
    let (unweighted, empty) = unsafe { (C_UNWEIGHTED, C_WEIGHTS_EMPTY) };
    [
        (places, ONE, 0),
        (places + ONE, ONE, IN_PLACE),
        (places + 2 * ONE, STATUS_SIZE * ONE, STATUS_IGNORE),
        (statuses, STATUS_SIZE * ONE, STATUS_IGNORE),
        (statuses + STATUS_SIZE * ONE, ONE, 0),
        ((&raw const UNWEIGHTED) as usize, ONE, unweighted),
        ((&raw const WEIGHTS_EMPTY) as usize, ONE, empty),
        (automatic(), ONE, BUFFER_AUTOMATIC),
        ((&raw const F08_BOTTOM) as usize, ONE, 0),
        ((&raw const F08_IN_PLACE) as usize, ONE, IN_PLACE),
        ((&raw const F08_STATUS) as usize, STATUS_SIZE * ONE, STATUS_IGNORE),
        ((&raw const F08_STATUSES) as usize, STATUS_SIZE * ONE, STATUS_IGNORE),
        ((&raw const F08_ERRCODES) as usize, ONE, 0),
        ((&raw const F08_UNWEIGHTED) as usize, ONE, unweighted),
        ((&raw const F08_WEIGHTS_EMPTY) as usize, ONE, empty),
        ((&raw const INTEL_ERRCODES) as usize, ONE, 0),
        ((&raw const INTEL_UNWEIGHTED) as usize, ONE, unweighted),
        ((&raw const INTEL_WEIGHTS_EMPTY) as usize, ONE, empty),
    ]
}

fn automatic() -> usize {
    (&raw const AUTOMATIC) as usize
}

/// Where they all lie: some in the program, the rest in this library, so in two ranges, whose starts and lengths these are. Other
/// variables of the program may lie between them.
static RANGES: [[AtomicUsize; 2]; 2] = [const { [const { AtomicUsize::new(0) }; 2] }; 2];

/// Runs when the library is loaded, before anybody can call it.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = arrange;

extern "C" fn arrange() {
    let mut all = meanings();
    all.sort_unstable();
    let gap = |at: &usize| all[at + 1].0 - all[*at].0;
    let cut = (0..all.len() - 1).max_by_key(gap).unwrap_or(0) + 1;
    for (range, part) in RANGES.iter().zip([&all[..cut], &all[cut..]]) {
        if let [(start, ..), ..] = part
            && let [.., (last, len, _)] = part
        {
            range[0].store(*start, Relaxed);
            range[1].store(last + len - start, Relaxed);
        }
    }
    let variables = [
        (&raw const MPI_F_STATUS_IGNORE, (&raw const PLACES).cast::<Integer>().wrapping_add(2)),
        (&raw const MPI_F_STATUSES_IGNORE, (&raw const STATUSES).cast()),
        (&raw const MPI_F08_STATUS_IGNORE, (&raw const F08_STATUS).cast()),
        (&raw const MPI_F08_STATUSES_IGNORE, (&raw const F08_STATUSES).cast()),
    ];
    // SAFETY: the C library has been loaded, and exports all of them as this.
    let ignored = unsafe { &posthaste_ignored_statuses };
    for ((variable, status), ignored) in variables.into_iter().zip(ignored) {
        // SAFETY: as above.
        unsafe { &*variable }.store(status.cast_mut(), Relaxed);
        ignored.store(status.addr(), Relaxed);
    }
}

/// An address of Fortran as the one that C knows.
#[inline]
pub(crate) fn place<T>(address: *const T) -> Address {
    let is_in = |range: &[AtomicUsize; 2]| {
        (address as usize).wrapping_sub(range[0].load(Relaxed)) < range[1].load(Relaxed)
    };
    if RANGES.iter().any(is_in) { meaning(address as usize) } else { address as Address }
}

/// What calls often get first.
#[inline(never)]
fn meaning(address: usize) -> Address {
    const ONE: usize = size_of::<Integer>();
    let [places, statuses] = [(&raw const PLACES) as usize, (&raw const STATUSES) as usize];
    let [f08, all_f08] = [(&raw const F08_STATUS) as usize, (&raw const F08_STATUSES) as usize];
    let is_at = |start: usize, len: usize| address.wrapping_sub(start) < len * ONE;
    if [places + 2 * ONE, f08, statuses, all_f08].into_iter().any(|start| is_at(start, STATUS_SIZE)) {
        return STATUS_IGNORE as Address;
    }
    if is_at(places + ONE, 1) || is_at((&raw const F08_IN_PLACE) as usize, 1) {
        return IN_PLACE as Address;
    }
    meaning_of_others(address)
}

#[cold]
fn meaning_of_others(address: usize) -> Address {
    let found = meanings().into_iter().find(|(start, len, _)| address.wrapping_sub(*start) < *len);
    found.map_or(address, |(.., meaning)| meaning) as Address
}

/// What `mpi_f08` gets of MPI_BUFFER_DETACH: for the address that C knows as MPI_BUFFER_AUTOMATIC that of its variable.
///
/// # Safety
/// There is an address.
pub(crate) unsafe fn detached(buffer: Address) {
    // SAFETY: as promised.
    unsafe {
        let buffer = buffer.cast::<usize>();
        if *buffer == BUFFER_AUTOMATIC {
            *buffer = automatic();
        }
    }
}

/// Whether an argument is MPI_ARGV_NULL or MPI_ARGVS_NULL.
pub(crate) fn is_no_argument(text: *const u8) -> bool {
    let texts = (&raw const TEXTS).cast::<u8>();
    let intel = [&raw const INTEL_ARGV, &raw const INTEL_ARGVS];
    [texts, texts.wrapping_add(1), &raw const F08_ARGV, &raw const F08_ARGVS].contains(&text)
        || intel.contains(&text)
}

unsafe extern "C" {
    // Of this library; asked of the loader, as a program may have an address of its own for them.
    fn mpi_conversion_fn_null_();
    fn mpi_conversion_fn_null__();
    #[link_name = "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null"]
    fn gnu();
    #[link_name = "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c"]
    fn gnu_large();
    #[link_name = "mpi_f08_callbacks_mp_mpi_conversion_fn_null_"]
    fn intel();
    #[link_name = "mpi_f08_callbacks_mp_mpi_conversion_fn_null_c_"]
    fn intel_large();
}

/// Whether a function is MPI_CONVERSION_FN_NULL or MPI_CONVERSION_FN_NULL_C.
pub(crate) fn converts_nothing(function: Address) -> bool {
    let plain = [mpi_conversion_fn_null_ as Address, mpi_conversion_fn_null__ as Address];
    let of_modules = [gnu as Address, gnu_large as Address, intel as Address, intel_large as Address];
    plain.contains(&function) || of_modules.contains(&function)
}
