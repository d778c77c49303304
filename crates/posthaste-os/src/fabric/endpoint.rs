//! One endpoint: packets from and into registered buffers, reads and writes of remote memory, and their completions.
//!
//! libfabric is called through the tables of functions in its objects. Buffers to send from are claimed, filled, sent,
//! and free again when their completion has been polled; buffers to receive into are always posted, but for those whose
//! packet is being looked at. What must stay true: one thread at a time calls into a domain (`FI_THREAD_DOMAIN`), which
//! `&mut` on the endpoint says; the context of an operation stays where it is until the operation has completed.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::abi::*;
use super::library::{Handlers, Provider};
use super::memory::{Pages, Registration, bind, close, enable};
use crate::mem::{Sink, Source};

/// Bytes at the front of each operation's context that belong to the provider.
pub(super) const CONTEXT: usize = 64;
/// Completions read at a time.
const BATCH: usize = 16;
/// Longest address of an endpoint.
const ADDRESS: usize = 256;

/// How much of everything an endpoint has.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of a packet, at most.
    pub packet: usize,
    /// Buffers to send from.
    pub sends: usize,
    /// Buffers to receive into.
    pub receives: usize,
    /// Reads and writes under way.
    pub transfers: usize,
}

/// A peer's endpoint, as this one knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote(pub(super) u64);

impl Remote {
    /// Nobody, for tests.
    pub fn nowhere() -> Self {
        Self(FI_ADDR_UNSPEC)
    }
}

/// A buffer to send from.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot(pub(super) usize);

/// A packet that has arrived. Its buffer is posted again by [`Endpoint::repost`].
#[derive(Debug)]
pub struct Arrived {
    index: usize,
    len: usize,
}

/// Memory of a peer, in its own words: what its registration's place said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Address, or offset in the registration, as the provider counts.
    pub address: u64,
    /// Key of the registration.
    pub key: u64,
}

/// Why an operation did not start.
#[derive(Debug)]
pub enum NotStarted<T> {
    /// Too many are under way; later it may.
    Full(T),
    /// It never will.
    Failed(T, io::Error),
}

/// What a poll found.
#[derive(Debug)]
pub enum Completion {
    /// A packet has arrived.
    Arrived(Arrived),
    /// A packet has left; its buffer is free.
    Sent,
    /// The read or write with this token is done.
    Moved(u64),
    /// The packet to send from a buffer was lost: the peer cannot be reached.
    Lost(Remote, io::Error),
    /// The read or write with this token failed.
    Failed(u64, io::Error),
    /// The atomic operation with this token is done, and what it has fetched is in its buffer; or it failed, and the buffer is free.
    Changed(u64, io::Result<Slot>),
}

/// What an operation is, behind the provider's part of its context.
#[derive(Debug, Default)]
#[repr(C)]
struct Operation {
    providers: [u64; CONTEXT / 8],
    token: u64,
    /// To whom.
    remote: u64,
    /// The buffer of an atomic operation.
    slot: Option<usize>,
}

/// The objects behind an endpoint and its registrations.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) ep: NonNull<FidEp>,
    cq: NonNull<FidCq>,
    av: NonNull<FidAv>,
    pub(super) domain: NonNull<FidDomain>,
    fabric: NonNull<FidFabric>,
    pub(super) mr_mode: i32,
    key: AtomicU64,
    pub(super) provider: Provider,
    /// Of `pages`, where the provider wants that.
    registered: Option<NonNull<FidMr>>,
    // What the network may use until the objects are closed.
    operations: Box<[UnsafeCell<Operation>]>,
    pub(super) pages: Pages,
}

// SAFETY: `Endpoint` lets one thread at a time call; counting keys is atomic.
unsafe impl Send for Open {}
// SAFETY: as above: what a shared reference can do besides is closing registrations, which their owner does in the same
// thread as everything else.
unsafe impl Sync for Open {}

/// An endpoint.
#[derive(Debug)]
pub struct Endpoint {
    free: Vec<usize>,
    pub(super) free_transfers: Vec<usize>,
    address: Vec<u8>,
    wait: Option<RawFd>,
    pub(super) sizes: Sizes,
    /// Receives that could not be posted again yet.
    idle: Vec<usize>,
    pub(super) open: Arc<Open>,
}

impl Open {
    /// Opens everything; what was opened is closed again when a step fails.
    fn new(provider: Provider, sizes: &Sizes) -> io::Result<(Self, Option<RawFd>)> {
        let library = provider.library().clone();
        let info = provider.as_ptr();
        // SAFETY: the entry is complete; every table of functions belongs to a new, open object, and is asked for what
        // every provider has.
        unsafe {
            let fabric = made(|to| {
                library.check((library.fabric)((*info).fabric_attr, to, ptr::null_mut()) as isize, || {
                    "opening the fabric".into()
                })
            })?;
            let domain = made(|to| {
                let open = (*(*fabric.0.as_ptr()).ops).domain.ok_or(io::ErrorKind::Unsupported)?;
                let code = open(fabric.0.as_ptr(), info, to, ptr::null_mut());
                library.check(code as isize, || "opening the domain".into())
            })?;
            let table = &*(*domain.0.as_ptr()).ops;
            let (av_open, cq_open, ep_open) = (table.av_open, table.cq_open, table.endpoint);
            let (Some(av_open), Some(cq_open), Some(ep_open)) = (av_open, cq_open, ep_open) else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            let av = made(|to| {
                let mut attr: AvAttr = std::mem::zeroed();
                attr.kind = (*(*info).domain_attr).av_type;
                let code = av_open(domain.0.as_ptr(), &mut attr, to, ptr::null_mut());
                library.check(code as isize, || "opening the address vector".into())
            })?;
            let queue = |wait| {
                let mut attr: CqAttr = std::mem::zeroed();
                attr.size = sizes.operations();
                attr.format = FI_CQ_FORMAT_MSG;
                attr.wait_obj = wait;
                made(|to| {
                    let code = cq_open(domain.0.as_ptr(), &mut attr, to, ptr::null_mut());
                    library.check(code as isize, || "opening the completion queue".into())
                })
            };
            let (cq, wait) = match queue(FI_WAIT_FD).and_then(|cq| descriptor_of(&cq).map(|fd| (cq, fd))) {
                Ok((cq, fd)) => (cq, Some(fd)),
                Err(_) => (queue(FI_WAIT_NONE)?, None),
            };
            let ep: Made<FidEp> = made(|to| {
                let code = ep_open(domain.0.as_ptr(), info, to, ptr::null_mut());
                library.check(code as isize, || "opening the endpoint".into())
            })?;
            let fid = ep.0.as_ptr().cast::<Fid>();
            let steps = [
                (bind(fid, av.0.as_ptr().cast(), 0), "tying the address vector to the endpoint"),
                (bind(fid, cq.0.as_ptr().cast(), FI_SEND | FI_RECV), "tying the queue to the endpoint"),
                (enable(fid), "enabling the endpoint"),
            ];
            for (code, step) in steps {
                library.check(code as isize, || step.into())?;
            }
            let mr_mode = (*(*info).domain_attr).mr_mode;
            let pages = Pages::new(sizes.sends + sizes.receives, sizes.packet)?;
            let mut open = Self {
                ep: ep.into_raw(),
                cq: cq.into_raw(),
                av: av.into_raw(),
                domain: domain.into_raw(),
                fabric: fabric.into_raw(),
                mr_mode,
                key: AtomicU64::new(1),
                provider,
                registered: None,
                operations: (0..sizes.operations()).map(|_| UnsafeCell::default()).collect(),
                pages,
            };
            if mr_mode & FI_MR_LOCAL != 0 {
                open.registered = Some(open.register(
                    open.pages.start(),
                    open.pages.len(),
                    FI_SEND | FI_RECV | FI_READ | FI_WRITE,
                )?);
            }
            Ok((open, wait))
        }
    }

    /// How peers reach this endpoint.
    fn address(&self) -> io::Result<Vec<u8>> {
        let mut address = [0u8; ADDRESS];
        let mut len = ADDRESS;
        // SAFETY: an open endpoint, and room for as many bytes as is said.
        let code = unsafe {
            let ep = self.ep.as_ptr();
            let Some(getname) = (*(*ep).cm).getname else { return Err(io::ErrorKind::Unsupported.into()) };
            getname(ep.cast(), address.as_mut_ptr().cast(), &mut len)
        };
        self.provider.library().check(code as isize, || "asking for the endpoint's address".into())?;
        Ok(address[..len.min(ADDRESS)].to_vec())
    }

    pub(super) fn next_key(&self) -> u64 {
        self.key.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(mr) = self.registered {
            close(mr.as_ptr().cast());
        }
        let objects: [*mut Fid; 5] = [
            self.ep.as_ptr().cast(),
            self.cq.as_ptr().cast(),
            self.av.as_ptr().cast(),
            self.domain.as_ptr().cast(),
            self.fabric.as_ptr().cast(),
        ];
        objects.into_iter().for_each(close);
    }
}

/// A new object, closed again unless it is taken over.
struct Made<T>(NonNull<T>);

impl<T> Made<T> {
    fn into_raw(self) -> NonNull<T> {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl<T> Drop for Made<T> {
    fn drop(&mut self) {
        close(self.0.as_ptr().cast());
    }
}

fn made<T>(make: impl FnOnce(*mut *mut T) -> io::Result<usize>) -> io::Result<Made<T>> {
    let mut object = ptr::null_mut();
    make(&mut object)?;
    NonNull::new(object).map(Made).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// The descriptor on which one waits for a queue.
fn descriptor_of(cq: &Made<FidCq>) -> io::Result<RawFd> {
    let mut fd: RawFd = -1;
    // SAFETY: an open queue, and a place for one descriptor.
    let code = unsafe {
        let fid = cq.0.as_ptr().cast::<Fid>();
        (*(*fid).ops).control.map_or(-1, |control| control(fid, FI_GETWAIT, (&raw mut fd).cast()))
    };
    if code == 0 && fd >= 0 { Ok(fd) } else { Err(io::ErrorKind::Unsupported.into()) }
}

impl Sizes {
    fn operations(&self) -> usize {
        self.sends + self.receives + self.transfers
    }
}

impl Endpoint {
    /// Opens an endpoint of this provider.
    ///
    /// # Errors
    /// What libfabric said, and at which step.
    pub fn open(provider: Provider, sizes: Sizes) -> io::Result<Self> {
        let _handlers = Handlers::save();
        let (open, wait) = Open::new(provider, &sizes)?;
        let mut endpoint = Self {
            free: (0..sizes.sends).rev().collect(),
            free_transfers: (0..sizes.transfers).rev().collect(),
            address: open.address()?,
            wait,
            sizes,
            idle: (0..sizes.receives).collect(),
            open: Arc::new(open),
        };
        endpoint.post_idle()?;
        Ok(endpoint)
    }

    /// The provider.
    pub fn provider(&self) -> &Provider {
        &self.open.provider
    }

    /// How peers reach this endpoint.
    pub fn address(&self) -> &[u8] {
        &self.address
    }

    /// Most bytes that one read or write moves.
    pub fn longest_transfer(&self) -> usize {
        // SAFETY: an entry of `fi_getinfo` has its endpoint's attributes.
        unsafe { (*self.open.provider.info().ep_attr).max_msg_size }
    }

    /// Whether reads and writes need a registration of this side's memory, too.
    pub fn needs_local(&self) -> bool {
        self.open.mr_mode & FI_MR_LOCAL != 0
    }

    /// Makes a peer known by what its [`Endpoint::address`] said.
    ///
    /// # Errors
    /// When the address is not one of this provider.
    pub fn connect(&mut self, address: &[u8]) -> io::Result<Remote> {
        let wrong = || io::Error::other(format!("no address of this provider: {} bytes", address.len()));
        if address.is_empty() {
            return Err(wrong());
        }
        // Providers read as many bytes as their own addresses have.
        let mut padded = [0u8; ADDRESS];
        padded.get_mut(..address.len()).ok_or_else(wrong)?.copy_from_slice(address);
        let mut remote = FI_ADDR_UNSPEC;
        // SAFETY: an open address vector, memory longer than any address, and a place for one number.
        let inserted = unsafe {
            let av = self.open.av.as_ptr();
            let Some(insert) = (*(*av).ops).insert else { return Err(io::ErrorKind::Unsupported.into()) };
            insert(av, padded.as_ptr().cast(), 1, &mut remote, 0, ptr::null_mut())
        };
        let count =
            self.open.provider.library().check(inserted as isize, || "inserting an address".into())?;
        if count == 1 && remote != FI_ADDR_UNSPEC { Ok(Remote(remote)) } else { Err(wrong()) }
    }

    /// A free buffer.
    #[inline]
    pub fn claim(&mut self) -> Option<Slot> {
        self.free.pop().map(Slot)
    }

    /// How many buffers are free.
    #[inline]
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Gives a buffer back unused.
    pub fn unclaim(&mut self, slot: Slot) {
        self.free.push(slot.0);
    }

    /// What a buffer will hold.
    #[inline]
    pub fn sink(&mut self, slot: &Slot) -> Sink<'_> {
        self.open.pages.sink(slot.0)
    }

    /// The first `len` bytes of a buffer that has been filled.
    pub fn filled(&self, slot: &Slot, len: usize) -> Source<'_> {
        self.open.pages.source(slot.0, len.min(self.sizes.packet))
    }

    /// Sends the first `len` bytes of a buffer.
    ///
    /// # Errors
    /// [`NotStarted`], with the buffer.
    pub fn send(&mut self, slot: Slot, len: usize, to: Remote) -> Result<(), NotStarted<Slot>> {
        let index = slot.0;
        let context = self.context(index, 0, to, None);
        // SAFETY: an open endpoint; the buffer is ours alone until its completion, since it is neither free nor claimed.
        let answer = unsafe {
            let ep = self.open.ep.as_ptr();
            let memory = self.open.pages.at(index);
            match (*(*ep).msg).send {
                Some(send) => {
                    send(ep, memory.cast(), len.min(self.sizes.packet), self.descriptor(), to.0, context)
                }
                None => -(libc::ENOSYS as isize),
            }
        };
        self.started(answer, "sending a packet").map_err(|why| match why {
            NotStarted::Full(()) => NotStarted::Full(slot),
            NotStarted::Failed((), why) => NotStarted::Failed(slot, why),
        })
    }

    /// The bytes of a packet that has arrived.
    #[inline]
    pub fn bytes(&self, arrived: &Arrived) -> Source<'_> {
        self.open.pages.source(self.sizes.sends + arrived.index, arrived.len)
    }

    /// Posts the buffer of a packet that has been looked at again.
    #[inline]
    pub fn repost(&mut self, arrived: Arrived) {
        self.idle.push(arrived.index);
        // What cannot be posted now is tried again with the next poll; a lasting reason shows there.
        let _ = self.post_idle();
    }

    /// Makes memory known to the network. Peers that know its place can reach it while the registration lives.
    ///
    /// # Errors
    /// What libfabric said.
    pub fn register(&mut self, start: usize, len: usize) -> io::Result<Registration> {
        Registration::new(&self.open, start, len)
    }

    /// Reads from a peer's memory into ours; ends with [`Completion::Moved`] or [`Completion::Failed`] with `token`.
    ///
    /// # Errors
    /// [`NotStarted`].
    ///
    /// # Safety
    /// The memory is writable, and nobody holds a reference into it, until the end is reported or the endpoint and all
    /// its registrations are dropped; `local`, if needed, is a registration of it that lives as long.
    pub unsafe fn read(
        &mut self,
        memory: (usize, usize),
        local: Option<&Registration>,
        from: Remote,
        place: Place,
        token: u64,
    ) -> Result<(), NotStarted<()>> {
        let Some(transfer) = self.free_transfers.pop() else { return Err(NotStarted::Full(())) };
        let context = self.context(self.sizes.sends + self.sizes.receives + transfer, token, from, None);
        let descriptor = local.map_or(ptr::null_mut(), Registration::descriptor);
        // SAFETY: an open endpoint; the memory is as the caller says.
        let answer = unsafe {
            let ep = self.open.ep.as_ptr();
            let to = ptr::with_exposed_provenance_mut(memory.0);
            match (*(*ep).rma).read {
                Some(read) => read(ep, to, memory.1, descriptor, from.0, place.address, place.key, context),
                None => -(libc::ENOSYS as isize),
            }
        };
        let started = self.started(answer, "reading remote memory");
        if started.is_err() {
            self.free_transfers.push(transfer);
        }
        started
    }

    /// Writes our memory into a peer's; ends with [`Completion::Moved`], when a packet sent from then on is behind the
    /// bytes, or with [`Completion::Failed`].
    ///
    /// # Errors
    /// [`NotStarted`].
    ///
    /// # Safety
    /// The memory is readable, and not written, until the end is reported or the endpoint and all its registrations are
    /// dropped; `local`, if needed, is a registration of it that lives as long.
    pub unsafe fn write(
        &mut self,
        memory: (usize, usize),
        local: Option<&Registration>,
        to: Remote,
        place: Place,
        token: u64,
    ) -> Result<(), NotStarted<()>> {
        let Some(transfer) = self.free_transfers.pop() else { return Err(NotStarted::Full(())) };
        let context = self.context(self.sizes.sends + self.sizes.receives + transfer, token, to, None);
        let descriptor = local.map_or(ptr::null_mut(), Registration::descriptor);
        // SAFETY: as in `read`.
        let answer = unsafe {
            let ep = self.open.ep.as_ptr();
            let from = ptr::with_exposed_provenance(memory.0);
            match (*(*ep).rma).write {
                Some(write) => write(ep, from, memory.1, descriptor, to.0, place.address, place.key, context),
                None => -(libc::ENOSYS as isize),
            }
        };
        let started = self.started(answer, "writing remote memory");
        if started.is_err() {
            self.free_transfers.push(transfer);
        }
        started
    }

    /// Lets the network make progress and puts what has completed into `found`.
    ///
    /// # Errors
    /// When the endpoint itself is broken.
    pub fn poll(&mut self, found: &mut Vec<Completion>) -> io::Result<()> {
        if !self.idle.is_empty() {
            self.post_idle()?;
        }
        let nothing = CqMsgEntry { op_context: ptr::null_mut(), flags: 0, len: 0 };
        let mut entries = [nothing; BATCH];
        // SAFETY: an open queue of entries of this format, and room for as many.
        let answer = unsafe {
            let cq = self.open.cq.as_ptr();
            let Some(read) = (*(*cq).ops).read else { return Err(io::ErrorKind::Unsupported.into()) };
            read(cq, entries.as_mut_ptr().cast(), BATCH)
        };
        match answer {
            0 => Ok(()),
            n if n > 0 => {
                for entry in &entries[..(n as usize).min(BATCH)] {
                    found.extend(self.completed(entry.op_context, entry.len, None));
                }
                Ok(())
            }
            n if n == -FI_EAVAIL => self.failed(found),
            n if n == -(libc::EAGAIN as isize) || n == -(libc::EINTR as isize) => Ok(()),
            n => Err(self.open.provider.library().error(-n, "reading the network's completions")),
        }
    }

    /// A descriptor that becomes readable when a poll would find something, if the provider has one.
    pub fn wait_fd(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the descriptor belongs to the queue, which is open as long as `self`.
        self.wait.map(|fd| unsafe { BorrowedFd::borrow_raw(fd) })
    }

    /// Whether one may now sleep until [`Endpoint::wait_fd`] is readable; if not, there is something to be polled.
    pub fn may_sleep(&self) -> bool {
        if self.wait.is_none() {
            return false;
        }
        // SAFETY: an open fabric and a list of one open object.
        unsafe {
            let fabric = self.open.fabric.as_ptr();
            let mut queues = [self.open.cq.as_ptr().cast::<Fid>()];
            (*(*fabric).ops).trywait.is_some_and(|trywait| trywait(fabric, queues.as_mut_ptr(), 1) == 0)
        }
    }

    /// Whether no packet, read or write is under way from here.
    pub fn is_drained(&self) -> bool {
        self.free.len() == self.sizes.sends && self.free_transfers.len() == self.sizes.transfers
    }

    pub(super) fn descriptor(&self) -> *mut c_void {
        // SAFETY: a live registration.
        self.open.registered.map_or(ptr::null_mut(), |mr| unsafe { mr.as_ref().mem_desc })
    }

    /// The context of an operation that is about to start.
    pub(super) fn context(
        &mut self,
        index: usize,
        token: u64,
        remote: Remote,
        slot: Option<usize>,
    ) -> *mut c_void {
        let operation = self.open.operations[index].get();
        // SAFETY: this operation is not under way, so nobody else looks at it; `&mut` keeps others of this side away.
        unsafe {
            (*operation).token = token;
            (*operation).remote = remote.0;
            (*operation).slot = slot;
            operation.cast()
        }
    }

    pub(super) fn started(&self, answer: isize, doing: &str) -> Result<(), NotStarted<()>> {
        match answer {
            0 => Ok(()),
            n if n == -(libc::EAGAIN as isize) => Err(NotStarted::Full(())),
            n => Err(NotStarted::Failed((), self.open.provider.library().error(-n, doing))),
        }
    }

    /// Posts the receives that are not.
    fn post_idle(&mut self) -> io::Result<()> {
        while let Some(index) = self.idle.pop() {
            let buffer = self.sizes.sends + index;
            let context = self.context(buffer, 0, Remote(FI_ADDR_UNSPEC), None);
            // SAFETY: an open endpoint; the buffer is the network's until it completes.
            let answer = unsafe {
                let ep = self.open.ep.as_ptr();
                let memory = self.open.pages.at(buffer);
                match (*(*ep).msg).recv {
                    Some(recv) => {
                        recv(ep, memory.cast(), self.sizes.packet, self.descriptor(), FI_ADDR_UNSPEC, context)
                    }
                    None => -(libc::ENOSYS as isize),
                }
            };
            match self.started(answer, "posting a receive") {
                Ok(()) => {}
                Err(NotStarted::Full(())) => {
                    self.idle.push(index);
                    return Ok(());
                }
                Err(NotStarted::Failed((), why)) => {
                    self.idle.push(index);
                    return Err(why);
                }
            }
        }
        Ok(())
    }

    /// Something has ended; what it was is found by its context.
    fn completed(
        &mut self,
        context: *mut c_void,
        len: usize,
        error: Option<io::Error>,
    ) -> Option<Completion> {
        let Sizes { sends, receives, .. } = self.sizes;
        let offset = context.addr().wrapping_sub(self.open.operations.as_ptr().addr());
        let index = offset / size_of::<Operation>();
        let operation = self.open.operations.get(index)?.get(); // none: the provider's mistake
        // SAFETY: this operation has ended, so it is ours again.
        let (token, remote, slot) =
            unsafe { ((*operation).token, Remote((*operation).remote), (*operation).slot.take()) };
        if index < sends {
            self.free.push(index);
            return Some(error.map_or(Completion::Sent, |why| Completion::Lost(remote, why)));
        }
        let index = index - sends;
        if index < receives {
            if error.is_some() {
                self.idle.push(index); // a packet too long, or a receive cancelled by closing
                return None;
            }
            return Some(Completion::Arrived(Arrived { index, len: len.min(self.sizes.packet) }));
        }
        self.free_transfers.push(index - receives);
        if let Some(slot) = slot {
            return Some(Completion::Changed(
                token,
                match error {
                    None => Ok(Slot(slot)),
                    Some(why) => {
                        self.free.push(slot);
                        Err(why)
                    }
                },
            ));
        }
        Some(error.map_or(Completion::Moved(token), |why| Completion::Failed(token, why)))
    }

    /// The first entry of the queue is that of a failed operation.
    fn failed(&mut self, found: &mut Vec<Completion>) -> io::Result<()> {
        // SAFETY: all zeros are an entry of numbers and null pointers.
        let mut entry: CqErrEntry = unsafe { std::mem::zeroed() };
        // SAFETY: an open queue and a place for one entry, whose room for further data is none.
        let answer = unsafe {
            let cq = self.open.cq.as_ptr();
            (*(*cq).ops).readerr.map_or(0, |readerr| readerr(cq, &mut entry, 0))
        };
        if answer > 0 {
            let why = self.open.provider.library().error(entry.err as isize, "the network");
            found.extend(self.completed(entry.op_context, 0, Some(why)));
        }
        Ok(())
    }
}
