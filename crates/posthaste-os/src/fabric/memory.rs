//! Registered memory: what a network may read and write, and the pages that packets are sent from and received into.
//!
//! What must stay true: a registration ends before the domain that it belongs to; the pages of [`Pages`] outlive the
//! endpoint that uses them.

use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::abi::*;
use super::endpoint::Open;
use crate::mem::{Sink, Source};

/// Memory that the network may use until this value is dropped.
#[derive(Debug)]
pub struct Registration {
    mr: NonNull<FidMr>,
    open: Arc<Open>,
    start: usize,
    writable: bool,
}

// SAFETY: the object belongs to its domain, whose calls are made by one thread at a time (`Endpoint` and the cache of
// registrations are entered together).
unsafe impl Send for Registration {}

impl Registration {
    /// Registers `len` bytes at address `start`; first for everything, then, as memory may be read-only, for reading.
    pub(super) fn new(open: &Arc<Open>, start: usize, len: usize) -> io::Result<Self> {
        let read = FI_SEND | FI_WRITE | FI_REMOTE_READ;
        let write = FI_RECV | FI_READ | FI_REMOTE_WRITE;
        match open.register(start, len, read | write) {
            Ok(mr) => Ok(Self { mr, open: open.clone(), start, writable: true }),
            Err(_) => {
                let mr = open.register(start, len, read)?;
                Ok(Self { mr, open: open.clone(), start, writable: false })
            }
        }
    }

    /// Whether the network may write there.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// What a peer has to say to reach the byte at `address`: where, and the key.
    pub fn place(&self, address: usize) -> (u64, u64) {
        let base = if self.open.mr_mode & FI_MR_VIRT_ADDR != 0 { 0 } else { self.start };
        // SAFETY: a live registration.
        (address.wrapping_sub(base) as u64, unsafe { self.mr.as_ref().key })
    }

    /// What local operations have to say.
    pub(super) fn descriptor(&self) -> *mut c_void {
        // SAFETY: a live registration.
        unsafe { self.mr.as_ref().mem_desc }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        close(self.mr.as_ptr().cast());
    }
}

impl Open {
    pub(super) fn register(&self, start: usize, len: usize, rights: u64) -> io::Result<NonNull<FidMr>> {
        let key = if self.mr_mode & FI_MR_PROV_KEY != 0 { 0 } else { self.next_key() };
        let mut mr: *mut FidMr = ptr::null_mut();
        let doing = || format!("registering {len} bytes at {start:#x} with the network");
        // SAFETY: the domain is open and its table has this function; the memory is only looked at by the network when
        // somebody names it, and whether it exists is checked by the provider.
        let code = unsafe {
            let domain = self.domain.as_ptr();
            let Some(reg) = (*(*domain).mr).reg else { return Err(io::ErrorKind::Unsupported.into()) };
            let memory = ptr::with_exposed_provenance(start);
            reg(&raw mut (*domain).fid, memory, len, rights, 0, key, 0, &mut mr, ptr::null_mut())
        };
        self.provider.library().check(code as isize, doing)?;
        let mr = NonNull::new(mr).ok_or(io::ErrorKind::OutOfMemory)?;
        if self.mr_mode & FI_MR_ENDPOINT != 0 {
            // SAFETY: a new registration and an open endpoint of the same domain.
            let bound = unsafe { bind(mr.as_ptr().cast(), self.ep.as_ptr().cast(), 0) };
            let enabled = if bound < 0 { bound } else { enable(mr.as_ptr().cast()) };
            if enabled < 0 {
                close(mr.as_ptr().cast());
                return Err(self.provider.library().error(-(enabled as isize), &doing()));
            }
        }
        Ok(mr)
    }
}

/// Ends an object's life.
pub(super) fn close(fid: *mut Fid) {
    // SAFETY: called once for each object, by its owner, when nothing uses it any more; every object can be closed.
    unsafe {
        if let Some(close) = (*(*fid).ops).close {
            close(fid);
        }
    }
}

/// Ties two objects together.
///
/// # Safety
/// Both are open.
pub(super) unsafe fn bind(fid: *mut Fid, to: *mut Fid, flags: u64) -> c_int {
    // SAFETY: open objects, as the caller says.
    unsafe { (*(*fid).ops).bind.map_or(-libc::ENOSYS, |bind| bind(fid, to, flags)) }
}

/// Puts an object into service.
pub(super) fn enable(fid: *mut Fid) -> c_int {
    // SAFETY: called by the owners of new objects.
    unsafe { (*(*fid).ops).control.map_or(-libc::ENOSYS, |control| control(fid, FI_ENABLE, ptr::null_mut())) }
}

/// Anonymous memory in equal parts, for packets.
#[derive(Debug)]
pub(super) struct Pages {
    base: NonNull<u8>,
    part: usize,
    parts: usize,
}

// SAFETY: plain memory; access goes through views whose users the endpoint keeps apart.
unsafe impl Send for Pages {}

impl Pages {
    pub(super) fn new(parts: usize, part: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory at an address of the kernel's choice.
        let base = unsafe { libc::mmap(ptr::null_mut(), parts * part, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        base.expose_provenance();
        Ok(Self { base, part, parts })
    }

    pub(super) fn start(&self) -> usize {
        self.base.addr().get()
    }

    pub(super) fn len(&self) -> usize {
        self.parts * self.part
    }

    pub(super) fn at(&self, index: usize) -> *mut u8 {
        assert!(index < self.parts, "part {index} of {}", self.parts);
        // SAFETY: inside the memory, as just checked.
        unsafe { self.base.as_ptr().add(index * self.part) }
    }

    pub(super) fn source(&self, index: usize, len: usize) -> Source<'_> {
        // SAFETY: a part is mapped as long as `self`; the length is cut to it.
        unsafe { Source::from_raw(self.at(index), len.min(self.part)) }
    }

    /// Who calls this has claimed the part.
    pub(super) fn sink(&self, index: usize) -> Sink<'_> {
        // SAFETY: as above; no reference is ever made into this memory.
        unsafe { Sink::from_raw(self.at(index), self.part) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, unmapped once; the endpoint that used it is closed.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len()) };
    }
}
