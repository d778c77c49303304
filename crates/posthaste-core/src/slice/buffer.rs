//! What can be lent for a message: an element, a slice, whatever holds one, and views of it.

use super::{RecvBuf, SendBuf};
use crate::buffer::{Equivalence, Memory};

/// What can be sent: one element, a slice, a vector, memory that was allocated for messages, or a view of some elements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent",
    label = "neither an element of a message nor a slice or a view of such elements",
    note = "elements are numbers, arrays of them, and structures with `#[derive(Clone, Copy, Equivalence)]`; `bool`, `char`, enumerations, references and pointers are none, because not all bytes that may arrive are one"
)]
pub trait Buffer {
    /// What is sent.
    fn lent(&self) -> SendBuf<'_>;
}

/// What can be received into: one element, a slice, a vector up to its length, memory that was allocated for messages, or a view of
/// some elements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be received into",
    label = "neither an element of a message nor a slice or a view of such elements",
    note = "elements are numbers, arrays of them, and structures with `#[derive(Clone, Copy, Equivalence)]`; `bool`, `char`, enumerations, references and pointers are none, because not all bytes that may arrive are one"
)]
pub trait BufferMut {
    /// The room.
    fn lent_mut(&mut self) -> RecvBuf<'_>;
}

impl<T: Equivalence> Buffer for T {
    #[inline]
    fn lent(&self) -> SendBuf<'_> {
        SendBuf::new(std::slice::from_ref(self))
    }
}

impl<T: Equivalence> BufferMut for T {
    #[inline]
    fn lent_mut(&mut self) -> RecvBuf<'_> {
        RecvBuf::new(std::slice::from_mut(self))
    }
}

macro_rules! sent {
    ($($buffer:ty),*) => {$(
        impl<T: Equivalence> Buffer for $buffer {
            #[inline]
            fn lent(&self) -> SendBuf<'_> {
                SendBuf::new(&self[..])
            }
        }
    )*};
}
sent!([T], Vec<T>, Box<[T]>, Memory<T>, &[T], &mut [T], &Vec<T>, &mut Vec<T>);

macro_rules! received_into {
    ($($buffer:ty),*) => {$(
        impl<T: Equivalence> BufferMut for $buffer {
            #[inline]
            fn lent_mut(&mut self) -> RecvBuf<'_> {
                RecvBuf::new(&mut self[..])
            }
        }
    )*};
}
received_into!([T], Vec<T>, Box<[T]>, Memory<T>, &mut [T], &mut Vec<T>);

impl<'a, B: Buffer + ?Sized> From<&'a B> for SendBuf<'a> {
    #[inline]
    fn from(buffer: &'a B) -> Self {
        buffer.lent()
    }
}

impl<'a, B: BufferMut + ?Sized> From<&'a mut B> for RecvBuf<'a> {
    #[inline]
    fn from(buffer: &'a mut B) -> Self {
        buffer.lent_mut()
    }
}
