//! Objects that a call uses, however they were found.

use std::cell::Cell;
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

/// An object of the user that a thread uses, and is likely to use again: found without a lock and without counting references.
/// Its mark is its handle, and how many objects of the kind had been freed when it was found.
pub(crate) struct Recent<T> {
    /// Elsewhere while a call uses it.
    object: Cell<Option<Arc<T>>>,
    handle: Cell<usize>,
    freed: Cell<usize>,
}

impl<T> Recent<T> {
    /// None so far.
    pub(crate) const fn new() -> Self {
        Self { object: Cell::new(None), handle: Cell::new(0), freed: Cell::new(0) }
    }

    /// The object with this mark, for a call.
    #[inline]
    pub(crate) fn take(&self, mark: (usize, usize)) -> Option<Arc<T>> {
        if self.mark() == mark { self.object.take() } else { None }
    }

    /// The call is over: the next one is likely to use the same object.
    #[inline]
    pub(crate) fn give_back(&self, object: Arc<T>, mark: (usize, usize)) {
        if self.mark() != mark {
            self.handle.set(mark.0);
            self.freed.set(mark.1);
        }
        self.object.set(Some(object));
    }

    /// Keeps it no more.
    pub(crate) fn forget(&self) {
        drop(self.object.take());
    }

    #[inline]
    fn mark(&self) -> (usize, usize) {
        (self.handle.get(), self.freed.get())
    }
}
