//! Predefined datatypes and operations by their handles, and the numbers in what a datatype was built from.

use std::ffi::c_int;

use posthaste_core::datatype::{Combiner, DEFAULT_DARG, Datatype, Distribution, OPEN, Order};
use posthaste_core::named::Named;
use posthaste_core::op::Predefined;

use crate::abi::constants::{
    self, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_NONE,
    MPI_ORDER_C, MPI_ORDER_FORTRAN, MPI_UNDEFINED,
};
use crate::abi::types::{MPI_Datatype, MPI_Op, TYPE_PLACES};

macro_rules! handles {
    ($($name:ident $mpi:ident)*) => {
        /// The handle of a predefined datatype.
        pub(crate) const fn handle(named: Named) -> MPI_Datatype {
            match named { $(Named::$name => constants::$mpi,)* }
        }
    };
}

handles! {
    Aint MPI_AINT
    Count MPI_COUNT
    Offset MPI_OFFSET
    Packed MPI_PACKED
    Short MPI_SHORT
    Int MPI_INT
    Long MPI_LONG
    LongLong MPI_LONG_LONG
    UnsignedShort MPI_UNSIGNED_SHORT
    Unsigned MPI_UNSIGNED
    UnsignedLong MPI_UNSIGNED_LONG
    UnsignedLongLong MPI_UNSIGNED_LONG_LONG
    Float MPI_FLOAT
    CFloatComplex MPI_C_COMPLEX
    CxxFloatComplex MPI_CXX_FLOAT_COMPLEX
    Double MPI_DOUBLE
    CDoubleComplex MPI_C_DOUBLE_COMPLEX
    CxxDoubleComplex MPI_CXX_DOUBLE_COMPLEX
    Logical MPI_LOGICAL
    Integer MPI_INTEGER
    Real MPI_REAL
    Complex MPI_COMPLEX
    DoublePrecision MPI_DOUBLE_PRECISION
    DoubleComplex MPI_DOUBLE_COMPLEX
    Character MPI_CHARACTER
    LongDouble MPI_LONG_DOUBLE
    CLongDoubleComplex MPI_C_LONG_DOUBLE_COMPLEX
    CxxLongDoubleComplex MPI_CXX_LONG_DOUBLE_COMPLEX
    FloatInt MPI_FLOAT_INT
    DoubleInt MPI_DOUBLE_INT
    LongInt MPI_LONG_INT
    TwoInt MPI_2INT
    ShortInt MPI_SHORT_INT
    LongDoubleInt MPI_LONG_DOUBLE_INT
    TwoReal MPI_2REAL
    TwoDoublePrecision MPI_2DOUBLE_PRECISION
    TwoInteger MPI_2INTEGER
    CBool MPI_C_BOOL
    CxxBool MPI_CXX_BOOL
    Wchar MPI_WCHAR
    Int8 MPI_INT8_T
    Uint8 MPI_UINT8_T
    Char MPI_CHAR
    SignedChar MPI_SIGNED_CHAR
    UnsignedChar MPI_UNSIGNED_CHAR
    Byte MPI_BYTE
    Int16 MPI_INT16_T
    Uint16 MPI_UINT16_T
    Int32 MPI_INT32_T
    Uint32 MPI_UINT32_T
    Int64 MPI_INT64_T
    Uint64 MPI_UINT64_T
    Logical1 MPI_LOGICAL1
    Integer1 MPI_INTEGER1
    Logical2 MPI_LOGICAL2
    Integer2 MPI_INTEGER2
    Real2 MPI_REAL2
    Logical4 MPI_LOGICAL4
    Integer4 MPI_INTEGER4
    Real4 MPI_REAL4
    Complex4 MPI_COMPLEX4
    Logical8 MPI_LOGICAL8
    Integer8 MPI_INTEGER8
    Real8 MPI_REAL8
    Complex8 MPI_COMPLEX8
    Logical16 MPI_LOGICAL16
    Integer16 MPI_INTEGER16
    Real16 MPI_REAL16
    Complex16 MPI_COMPLEX16
    Complex32 MPI_COMPLEX32
}

/// For each place of a predefined datatype which one it is.
static NAMED: [Option<Named>; TYPE_PLACES] = {
    let mut places = [None; TYPE_PLACES];
    let mut at = 0;
    while at < Named::ALL.len() {
        let place = handle(Named::ALL[at]).place();
        assert!(places[place].is_none(), "two datatypes have one handle");
        places[place] = Some(Named::ALL[at]);
        at += 1;
    }
    places
};

/// The predefined datatype with this handle.
#[inline]
pub(crate) fn named(datatype: MPI_Datatype) -> Option<Named> {
    *NAMED.get(datatype.place())?
}

macro_rules! operations {
    ($($name:ident $mpi:ident)*) => {
        /// The predefined operation with this handle.
        #[inline]
        pub(crate) fn operation(op: MPI_Op) -> Option<Predefined> {
            match op { $(constants::$mpi => Some(Predefined::$name),)* _ => None }
        }
    };
}

operations! {
    Sum MPI_SUM
    Min MPI_MIN
    Max MPI_MAX
    Prod MPI_PROD
    Band MPI_BAND
    Bor MPI_BOR
    Bxor MPI_BXOR
    Land MPI_LAND
    Lor MPI_LOR
    Lxor MPI_LXOR
    Minloc MPI_MINLOC
    Maxloc MPI_MAXLOC
    Replace MPI_REPLACE
    NoOp MPI_NO_OP
}

macro_rules! combiners {
    ($($name:ident $mpi:ident)*) => {
        /// How a datatype was built.
        pub(crate) fn combiner(datatype: &Datatype) -> c_int {
            match datatype.contents().map_or(Combiner::Named, |contents| contents.combiner) {
                $(Combiner::$name => constants::$mpi,)*
            }
        }
    };
}

combiners! {
    Named MPI_COMBINER_NAMED
    Dup MPI_COMBINER_DUP
    Contiguous MPI_COMBINER_CONTIGUOUS
    Vector MPI_COMBINER_VECTOR
    Hvector MPI_COMBINER_HVECTOR
    Indexed MPI_COMBINER_INDEXED
    Hindexed MPI_COMBINER_HINDEXED
    IndexedBlock MPI_COMBINER_INDEXED_BLOCK
    HindexedBlock MPI_COMBINER_HINDEXED_BLOCK
    Struct MPI_COMBINER_STRUCT
    Subarray MPI_COMBINER_SUBARRAY
    Darray MPI_COMBINER_DARRAY
    F90Real MPI_COMBINER_F90_REAL
    F90Complex MPI_COMBINER_F90_COMPLEX
    F90Integer MPI_COMBINER_F90_INTEGER
    Resized MPI_COMBINER_RESIZED
    ValueIndex MPI_COMBINER_VALUE_INDEX
}

/// The length of a block in a distribution.
pub(crate) fn darg(darg: c_int) -> i64 {
    if darg == MPI_DISTRIBUTE_DFLT_DARG { DEFAULT_DARG } else { darg.into() }
}

/// The precision or range of a Fortran kind.
pub(crate) fn digits(digits: c_int) -> i64 {
    if digits == MPI_UNDEFINED { OPEN } else { digits.into() }
}

/// The integers that a datatype was built with, as the program gave them.
pub(crate) fn integers(combiner: Combiner, mut integers: Vec<i64>) -> Vec<i64> {
    match (combiner, &mut integers[..]) {
        (Combiner::Subarray, [.., order]) => *order = written_order(*order),
        // After the sizes, which may be elsewhere: distributions, blocks, processes, order.
        (Combiner::Darray, [_, _, dimensions, .., order]) => {
            let dimensions = *dimensions as usize;
            *order = written_order(*order);
            let first = integers.len() - 1 - 3 * dimensions;
            let (distributions, rest) = integers[first..].split_at_mut(dimensions);
            distributions.iter_mut().for_each(|one| *one = written_distribution(*one));
            let defaults = rest[..dimensions].iter_mut().filter(|darg| **darg == DEFAULT_DARG);
            defaults.for_each(|darg| *darg = MPI_DISTRIBUTE_DFLT_DARG.into());
        }
        (Combiner::F90Real | Combiner::F90Complex, digits) => {
            let open = digits.iter_mut().filter(|digits| **digits == OPEN);
            open.for_each(|digits| *digits = MPI_UNDEFINED.into());
        }
        _ => {}
    }
    integers
}

fn written_order(order: i64) -> i64 {
    i64::from(if order == Order::C as i64 { MPI_ORDER_C } else { MPI_ORDER_FORTRAN })
}

fn written_distribution(distribution: i64) -> i64 {
    i64::from(match distribution {
        none if none == Distribution::None as i64 => MPI_DISTRIBUTE_NONE,
        block if block == Distribution::Block as i64 => MPI_DISTRIBUTE_BLOCK,
        _ => MPI_DISTRIBUTE_CYCLIC,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_names_its_datatype_and_no_other_handle_names_one() {
        for one in Named::ALL {
            assert_eq!(named(handle(one)), Some(one));
        }
        assert_eq!(named(constants::MPI_DATATYPE_NULL), None);
        assert_eq!(operation(constants::MPI_OP_NULL), None);
        assert_eq!(operation(constants::MPI_SUM), Some(Predefined::Sum));
    }
}
