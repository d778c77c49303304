//! A thread inside a VCI, and what leaving it does.
//!
//! Leaving wakes the sleeping threads of this process that have to know of what happened: one look, while nobody sleeps.
//! It is a destructor and not a call, because a call of MPI has many ways out of a VCI, each error is one, and a way that
//! forgot to wake would leave a thread asleep for good.

use std::ops::{Deref, DerefMut};

use posthaste_os::sync::Guard;

use crate::progress::Vci;
use crate::runtime::Runtime;

/// A VCI, entered. Leaving it wakes sleeping threads of this process that have to know of what happened.
#[derive(Debug)]
pub struct Entered<'a> {
    vci: Guard<'a, Vci>,
    runtime: &'a Runtime,
}

impl Deref for Entered<'_> {
    type Target = Vci;
    #[inline(always)]
    fn deref(&self) -> &Vci {
        &self.vci
    }
}

impl DerefMut for Entered<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vci {
        &mut self.vci
    }
}

impl Drop for Entered<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.vci.concerns(&self.runtime.sleepers) {
            self.wake_sleepers();
        }
    }
}

impl<'a> Entered<'a> {
    #[inline(always)]
    pub(super) fn new(vci: Guard<'a, Vci>, runtime: &'a Runtime) -> Self {
        Self { vci, runtime }
    }

    /// Whether no other thread has been here for a while.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.vci.is_alone()
    }

    /// Is outside while something is done. Nobody is woken yet.
    #[inline]
    pub(crate) fn leave_while(&mut self, does: impl FnOnce()) {
        self.vci.leave_while(does);
    }

    /// Leaves and enters again.
    #[inline]
    pub(crate) fn let_others_in(&mut self) {
        if self.vci.concerns(&self.runtime.sleepers) {
            self.wake_sleepers();
        } else {
            self.vci.leave_while(|| ());
        }
    }

    /// Wakes whom what happened concerns, outside the VCI.
    #[cold]
    fn wake_sleepers(&mut self) {
        let Self { vci, runtime } = self;
        let wakes = vci.wakes(&runtime.sleepers);
        vci.leave_while(|| wakes.into_iter().for_each(|wake| runtime.wake(wake)));
    }
}
