//! The windows of this process whose memory all members have mapped, and which memory of a program lies in one of them: a window
//! that MPI_Win_create makes of it is mapped, too (MPI-5.0 §12.2.1).
//!
//! What must stay true: who maps such memory again has a mapping of its own, which stays when the window that the memory is of is
//! freed; a freed window is not found.

use std::sync::{Arc, Mutex, Weak};

use posthaste_os::mapped::{Mapped, Name};

use crate::win::{Flavor, Window, lock};

/// The windows with the library's memory that were made and not freed.
#[derive(Debug, Default)]
pub(in crate::world) struct Mappings(Mutex<Vec<Weak<Window>>>);

/// A place in memory of a window: it is the same at all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InWindow {
    pub(super) name: Name,
    pub(super) at: u64,
}

impl Mappings {
    pub(super) fn add(&self, window: &Arc<Window>) {
        if matches!(window.flavor(), Flavor::Allocate | Flavor::Shared) && window.mapped().is_some() {
            lock(&self.0).push(Arc::downgrade(window));
        }
    }

    pub(super) fn remove(&self, window: &Arc<Window>) {
        lock(&self.0).retain(|known| known.strong_count() > 0 && !known.ptr_eq(&Arc::downgrade(window)));
    }

    /// Where memory at an address lies, if it is of a window.
    pub(super) fn find(&self, address: usize, len: u64) -> Option<InWindow> {
        self.first(|mapped| {
            let at = address.checked_sub(mapped.as_ptr().addr())? as u64;
            let is_in = at.checked_add(len)? <= mapped.len() as u64;
            Some(InWindow { name: mapped.name()?, at }).filter(|_| is_in)
        })
    }

    /// Such memory in a mapping of its own, and where in it; `None`: this process has no part in that window.
    pub(super) fn map(&self, there: InWindow, len: u64) -> Option<(Mapped, usize)> {
        self.first(|mapped| {
            let is_it = mapped.name() == Some(there.name);
            let (at, len) = (usize::try_from(there.at).ok()?, usize::try_from(len).ok()?);
            is_it.then(|| mapped.again(at, len).ok()).flatten()
        })
    }

    /// The list is free again when the windows are looked at and dropped: the last share of one may go here.
    fn first<T>(&self, look: impl Fn(&Mapped) -> Option<T>) -> Option<T> {
        let windows: Vec<_> = lock(&self.0).iter().filter_map(Weak::upgrade).collect();
        windows.iter().find_map(|window| window.mapped().and_then(&look))
    }
}
