//! A set of descriptors that one sleep waits for (epoll).
//!
//! One thread may look at it without waiting while another one sleeps on it. What must stay true: what is ready stays
//! ready until it is dealt with (level-triggered), so no look of one thread takes anything from another.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Descriptors reported by one look.
const MOST: usize = 64;

/// The set. A closed descriptor leaves it by itself.
#[derive(Debug)]
pub struct Set(OwnedFd);

/// A descriptor that has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What it was added with.
    pub token: u64,
    /// It can be read, or has failed.
    pub read: bool,
    /// It can be written, or has failed.
    pub write: bool,
}

impl AsFd for Set {
    /// Can be read while something in it is ready, so one set may be in another.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Set {
    /// An empty set.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a plain system call that makes a new descriptor.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the fresh descriptor from above.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Adds a descriptor, to be reported when it can be read, and, if so wanted, written.
    ///
    /// # Errors
    /// What the system said.
    pub fn add(&self, fd: &impl AsFd, token: u64, write: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, write)
    }

    /// Changes what a descriptor is watched for, and its token.
    ///
    /// # Errors
    /// What the system said.
    pub fn change(&self, fd: &impl AsFd, token: u64, write: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, write)
    }

    /// Takes a descriptor out that stays open.
    ///
    /// # Errors
    /// What the system said.
    pub fn remove(&self, fd: &impl AsFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, false)
    }

    fn control(&self, what: i32, fd: &impl AsFd, token: u64, write: bool) -> io::Result<()> {
        let events = libc::EPOLLIN | if write { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: both descriptors are open, and the event lives over the call.
        let failed =
            unsafe { libc::epoll_ctl(self.0.as_raw_fd(), what, fd.as_fd().as_raw_fd(), &raw mut event) };
        if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Waits until something is ready or the time is over, and appends what is ready to `list`.
    pub fn wait(&self, limit: Duration, list: &mut Vec<Ready>) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        let limit = limit.as_millis().min(i32::MAX as u128) as i32;
        // SAFETY: `events` has room for `MOST` entries.
        let n = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), MOST as i32, limit) };
        // An interrupted wait has found nothing; other failures there are none for an open set.
        for event in &events[..n.max(0) as usize] {
            let (events, token) = (event.events as i32, event.u64);
            let failed = events & (libc::EPOLLERR | libc::EPOLLHUP) != 0;
            list.push(Ready {
                token,
                read: failed || events & libc::EPOLLIN != 0,
                write: failed || events & libc::EPOLLOUT != 0,
            });
        }
    }
}
