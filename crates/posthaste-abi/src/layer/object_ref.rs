//! Objects that a call uses, however they were found.

use std::ops::Deref;
use std::sync::Arc;

/// An object that a face has found, kept alive while the call uses it.
pub(crate) enum ObjectRef<T: 'static> {
    /// A predefined object; it lives as long as the process.
    Predefined(&'static T),
    /// An object of the user.
    User(Arc<T>),
    /// An object of the user that is given back when the call is over.
    Lent(Lent<T>),
}

/// An object of the user that is given back when the call is over: to whom, and with which mark.
pub(crate) struct Lent<T: 'static> {
    object: Option<Arc<T>>,
    mark: (usize, usize),
    back: fn(Arc<T>, (usize, usize)),
}

impl<T> Lent<T> {
    /// Lends an object.
    #[inline]
    pub(crate) fn new(object: Arc<T>, mark: (usize, usize), back: fn(Arc<T>, (usize, usize))) -> Self {
        Self { object: Some(object), mark, back }
    }

    #[inline]
    fn object(&self) -> &Arc<T> {
        self.object.as_ref().expect("there until it is given back")
    }
}

impl<T> Drop for Lent<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            (self.back)(object, self.mark);
        }
    }
}

impl<T> Clone for ObjectRef<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Predefined(object) => Self::Predefined(object),
            Self::User(object) => Self::User(object.clone()),
            Self::Lent(lent) => Self::User(lent.object().clone()),
        }
    }
}

impl<T> Deref for ObjectRef<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Predefined(object) => object,
            Self::User(object) => object,
            Self::Lent(lent) => lent.object(),
        }
    }
}
