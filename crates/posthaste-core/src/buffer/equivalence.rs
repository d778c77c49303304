//! What an element of a Rust type is made of: the proof that slices of it can be sent and received, and the datatype that
//! says so to other processes (MPI-5.0 §5.1).
//!
//! Part of the room `buffer`, because the typed API rests on it: what is no [`Equivalence`] has no way into the engine.
//!
//! What must stay true: a shape reaches only bytes that are part of a number, so padding is never sent, and nothing that is
//! received makes an invalid value. All of it is known when the program is compiled.

use std::marker::PhantomData;

use crate::named::Named;

/// Rust types whose elements are made of numbers, so that slices of them can be sent and received.
///
/// Numbers are, arrays and [`PhantomData`] of such types, and structures of them: `#[derive(Equivalence)]` of the crate `posthaste`.
/// `bool`, `char` and enumerations are not: not every byte that a peer may send is one.
///
/// # Safety
/// Every bit pattern is a valid value, and [`SHAPE`](Self::SHAPE) says what numbers an element has, and where: only initialized
/// bytes, within the size of the type. [`equivalence_of_fields`](crate::equivalence_of_fields) makes sure of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a message",
    label = "not made of numbers alone, or not known to be",
    note = "numbers, arrays of them, and structures with `#[derive(Clone, Copy, Equivalence)]` can be sent and received; `bool`, `char`, enumerations, references and pointers cannot, because not all bytes that may arrive are one"
)]
pub unsafe trait Equivalence: Copy + Send + Sync + 'static {
    /// What an element is made of.
    const SHAPE: &'static Shape;
}

/// What an element is made of.
#[derive(Debug)]
pub enum Shape {
    /// A number of so many bytes.
    Number(Named, usize),
    /// A value and its index, which reductions see as one; so many bytes, without padding.
    Pair(Named, Named, usize),
    /// Neighbours.
    Array {
        /// What each is made of.
        element: &'static Self,
        /// How many there are.
        count: usize,
        /// Their distance in bytes.
        stride: usize,
    },
    /// A structure.
    Record {
        /// Its fields, in the order in which they were declared.
        fields: &'static [Field],
        /// Its size in bytes, with padding.
        size: usize,
    },
}

/// A field of a structure.
#[derive(Debug)]
pub struct Field {
    /// Its distance from the beginning of the structure in bytes.
    pub offset: usize,
    /// What it is made of.
    pub shape: &'static Shape,
}

impl Shape {
    /// Bytes of all numbers of an element: what it takes in a message.
    pub const fn bytes(&self) -> usize {
        match self {
            Self::Number(_, size) | Self::Pair(_, _, size) => *size,
            Self::Array { element, count, .. } => element.bytes() * *count,
            Self::Record { fields, .. } => {
                let (mut sum, mut at) = (0, 0);
                while at < fields.len() {
                    sum += fields[at].shape.bytes();
                    at += 1;
                }
                sum
            }
        }
    }

    /// Whether the numbers lie one behind the other, in their order and without gaps.
    const fn is_dense(&self) -> bool {
        match self {
            Self::Number(..) | Self::Pair(..) => true,
            Self::Array { element, stride, .. } => element.is_dense() && element.bytes() == *stride,
            Self::Record { fields, size } => {
                let (mut end, mut at) = (0, 0);
                while at < fields.len() {
                    let Field { offset, shape } = &fields[at];
                    if !shape.is_dense() || *offset != end && shape.bytes() > 0 {
                        return false;
                    }
                    end += shape.bytes();
                    at += 1;
                }
                end == *size
            }
        }
    }
}

/// Bytes that an element takes in a message.
pub const fn packed_size<T: Equivalence>() -> usize {
    T::SHAPE.bytes()
}

/// Whether a slice in memory is what a message of it looks like: no padding, and fields in the order of their declaration.
pub const fn is_dense<T: Equivalence>() -> bool {
    T::SHAPE.is_dense()
}

/// The value of which every number is 0.
#[inline]
pub fn zeroed<T: Equivalence>() -> T {
    // SAFETY: every bit pattern is a valid value.
    unsafe { std::mem::zeroed() }
}

/// The shape of a field, whose type is that of what the function returns.
#[doc(hidden)]
pub const fn shape_of_field<S, F: Equivalence>(_: fn(S) -> F) -> &'static Shape {
    F::SHAPE
}

/// Implements [`Equivalence`](crate::buffer::Equivalence) for a structure, of which it gets all fields: the expansion of
/// `#[derive(Equivalence)]`.
///
/// Nothing that a caller writes here can be wrong and compile. The offset and the shape of a field come from the compiler, which is
/// asked for the field of that name in that type; the pattern has to name every field, and once, so that there is none of which a
/// peer's bytes could make an invalid value; and a type of another crate is refused by the rules of implementations. Enumerations
/// have no such pattern; fields of unions cannot be read outside of unsafe code.
///
/// ```
/// #[derive(Clone, Copy)]
/// struct Pixel { color: [u8; 3], depth: f32 }
/// posthaste_core::equivalence_of_fields!([] Pixel, [] { color, depth });
/// assert_eq!(posthaste_core::buffer::packed_size::<Pixel>(), 7);
/// assert!(!posthaste_core::buffer::is_dense::<Pixel>());
/// ```
///
/// ```compile_fail,E0027
/// #[derive(Clone, Copy)]
/// struct Wrong { number: u32, flag: bool }
/// posthaste_core::equivalence_of_fields!([] Wrong, [] { number }); // error: pattern does not mention field `flag`
/// ```
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Wrong { number: u32, flag: bool }
/// posthaste_core::equivalence_of_fields!([] Wrong, [] { number, flag }); // error: `bool` cannot be an element of a message
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// union Wrong { number: u32 }
/// posthaste_core::equivalence_of_fields!([] Wrong, [] { number }); // error: access to union field is unsafe
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// enum Wrong { One, Two }
/// posthaste_core::equivalence_of_fields!([] Wrong, [] {}); // error: expected struct
/// ```
///
/// ```compile_fail
/// use posthaste_core::buffer::{Equivalence, Shape};
/// #[derive(Clone, Copy)]
/// struct Wrong(bool);
/// struct Other;
/// // error: parameters and bounds have no bodies
/// posthaste_core::equivalence_of_fields!(
///     [] Wrong,
///     [Wrong: Sized { const SHAPE: &'static Shape = <u8 as Equivalence>::SHAPE; } impl Other where] {}
/// );
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! equivalence_of_fields {
    ([$($generics:tt)*] $type:ty, [$($bounds:tt)*] { $($field:tt),* $(,)? }) => {
        // Otherwise they could bring a body of their own.
        $crate::without_braces! { $($generics)* , $($bounds)* }
        // SAFETY: every field is an `Equivalence`, so every bit pattern of it is valid and its shape reaches only its initialized
        // bytes; the shape says where each field is.
        unsafe impl<$($generics)*> $crate::buffer::Equivalence for $type
        where
            $($bounds)*
        {
            const SHAPE: &'static $crate::buffer::Shape = {
                let _: fn(Self) = |Self { $($field: _),* }| ();
                &$crate::buffer::Shape::Record {
                    fields: &[$($crate::buffer::Field {
                        offset: $crate::core_crate::mem::offset_of!(Self, $field),
                        shape: $crate::buffer::shape_of_field(|record: Self| record.$field),
                    }),*],
                    size: $crate::core_crate::mem::size_of::<Self>(),
                }
            };
        }
    };
}

/// Expands to nothing, and to an error if one of the tokens is a group in braces.
#[doc(hidden)]
#[macro_export]
macro_rules! without_braces {
    () => {};
    ({ $($body:tt)* } $($rest:tt)*) => {
        $crate::core_crate::compile_error!("parameters and bounds have no bodies");
    };
    ($first:tt $($rest:tt)*) => {
        $crate::without_braces! { $($rest)* }
    };
}

#[doc(hidden)]
pub use equivalence_of_fields;

macro_rules! numbers {
    ($($rust:ty => $named:ident),* $(,)?) => {$(
        // SAFETY: a primitive number; the name is that of the datatype of its size.
        unsafe impl Equivalence for $rust {
            const SHAPE: &'static Shape = &Shape::Number(Named::$named, size_of::<Self>());
        }
    )*};
}
numbers! {
    i8 => Int8, u8 => Uint8, i16 => Int16, u16 => Uint16, i32 => Int32, u32 => Uint32, i64 => Int64, u64 => Uint64,
    f32 => Float, f64 => Double,
}
#[cfg(target_pointer_width = "64")]
numbers! { isize => Int64, usize => Uint64 }

// SAFETY: neighbours of the element's size, and nothing else.
unsafe impl<T: Equivalence, const N: usize> Equivalence for [T; N] {
    const SHAPE: &'static Shape = &Shape::Array { element: T::SHAPE, count: N, stride: size_of::<T>() };
}

// SAFETY: no bytes.
unsafe impl<T: ?Sized + Send + Sync + 'static> Equivalence for PhantomData<T> {
    const SHAPE: &'static Shape = &Shape::Record { fields: &[], size: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Datatype;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Loose {
        small: u8,
        large: [f64; 2],
        last: u16,
        nothing: PhantomData<str>,
    }
    equivalence_of_fields!([] Loose, [] { small, large, last, nothing });

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Dense<T>(T, [T; 3]);
    equivalence_of_fields!([T] Dense<T>, [T: Equivalence] { 0, 1 });

    #[test]
    fn padding_is_no_part_of_a_shape() {
        assert_eq!((packed_size::<Loose>(), size_of::<Loose>()), (19, 32));
        assert!(!is_dense::<Loose>() && !is_dense::<[Loose; 2]>() && !is_dense::<Dense<Loose>>());
        assert!(is_dense::<Dense<u16>>() && is_dense::<[Dense<f32>; 5]>() && is_dense::<u8>());
        let value = zeroed::<Loose>();
        assert_eq!((value.small, value.large, value.last), (0, [0.0; 2], 0));
    }

    #[test]
    fn fields_out_of_order_are_not_dense() {
        const BYTE: &Shape = &Shape::Number(Named::Uint8, 1);
        let record = |first, second| {
            let fields =
                Box::new([Field { offset: first, shape: BYTE }, Field { offset: second, shape: BYTE }]);
            Shape::Record { fields: Box::leak(fields), size: 2 }.is_dense()
        };
        assert!(record(0, 1) && !record(1, 0));
    }

    #[test]
    fn a_datatype_has_the_numbers_of_the_shape_at_their_places() {
        let loose = Datatype::of::<Loose>();
        assert_eq!((loose.size(), loose.lb(), loose.extent(), loose.elements()), (19, 0, 32, 4));
        assert!(loose.is_committed() && loose.is_same(&Datatype::of::<Loose>()));
        let dense = Datatype::of::<Dense<u32>>();
        assert!(dense.is_contiguous() && dense.size() == 16 && dense.uniform().is_some());
        assert_eq!(Datatype::of::<PhantomData<str>>().size(), 0);
    }
}
