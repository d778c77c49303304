//! Pairs of a value and its index, as the reductions of MPI-5.0 §6.9.4 combine them.

use super::Equivalence;
use crate::named::Named;

/// A value, and where it is: what reductions for the place of an extremum combine (`MPI_MINLOC`, MPI-5.0 §6.9.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Located<V: Locate> {
    /// The value.
    pub value: V,
    /// Whose it is: a rank, or any other number.
    pub index: V::Index,
}

/// Values that have an index beside them.
pub trait Locate: Equivalence {
    /// The signed integer of the value's size, so that a pair has no padding.
    type Index: Equivalence + Default + PartialEq + Eq + std::fmt::Debug;
}

macro_rules! located {
    ($($value:ty, $index:ty);* $(;)?) => {$(
        impl Locate for $value { type Index = $index; }
        // SAFETY: two numbers of one size, so there is no padding, and the pair of their datatypes lies like this.
        unsafe impl Equivalence for Located<$value> {
            const NAMED: Named = <$value>::NAMED;
            const INDEX: Option<Named> = Some(<$index>::NAMED);
        }
    )*};
}
located! { i32, i32; u32, i32; f32, i32; i64, i64; u64, i64; f64, i64; isize, i64; usize, i64 }
