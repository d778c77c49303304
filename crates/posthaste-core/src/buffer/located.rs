//! Pairs of a value and its index, as the reductions of MPI-5.0 §6.9.4 combine them.

use super::{Equivalence, Shape};
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
    ($($value:ty = $value_named:ident, $index:ty = $index_named:ident);* $(;)?) => {$(
        impl Locate for $value { type Index = $index; }
        // SAFETY: two numbers of one size, so there is no padding, and the pair of their datatypes lies like this.
        unsafe impl Equivalence for Located<$value> {
            const SHAPE: &'static Shape = &Shape::Pair(Named::$value_named, Named::$index_named, size_of::<Self>());
        }
    )*};
}
located! {
    i32 = Int32, i32 = Int32; u32 = Uint32, i32 = Int32; f32 = Float, i32 = Int32;
    i64 = Int64, i64 = Int64; u64 = Uint64, i64 = Int64; f64 = Double, i64 = Int64;
}
#[cfg(target_pointer_width = "64")]
located! { isize = Int64, i64 = Int64; usize = Uint64, i64 = Int64 }
