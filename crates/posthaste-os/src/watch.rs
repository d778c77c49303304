//! Hears of memory that goes away: unmapped, moved, or emptied, by whoever and however (munmap, mremap, brk, madvise,
//! a mapping over it, free).
//!
//! So registrations of user memory can be cached while one can be sure of the memory. The kernel reports through
//! userfaultfd, which needs no privilege: only events are asked for, no page fault is ever taken over. A thread reads
//! them; the call that lets the memory go returns when its event has been read, and an event is read and noted under
//! one lock. So whoever asks [`Watcher::gone`] after such a call hears of it.
//!
//! What must stay true: the thread and whoever holds the lock neither allocate nor free memory, because that memory could
//! be watched and the thread would wait for itself; a watch is asked for before the memory is used. Not heard of:
//! `shmdt` of System V memory, which the kernel does not report.

use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Ranges noted before they are counted as "everything".
const NOTES: usize = 512;

/// What has gone away since it was asked last.
pub struct Gone {
    ranges: [(usize, usize); NOTES],
    count: usize,
    everything: bool,
}

impl fmt::Debug for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ranges()).finish()
    }
}

impl Default for Gone {
    fn default() -> Self {
        Self { ranges: [(0, 0); NOTES], count: 0, everything: false }
    }
}

impl Gone {
    fn note(&mut self, start: usize, end: usize) {
        match self.ranges.get_mut(self.count) {
            Some(range) => {
                *range = (start, end);
                self.count += 1;
            }
            None => self.everything = true,
        }
    }

    /// The ranges, as (start, end). One that holds all addresses stands for more than could be noted.
    pub fn ranges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let all = self.everything.then_some((0, usize::MAX));
        self.ranges[..self.count].iter().copied().chain(all)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && !self.everything
    }
}

/// Watches memory of this process.
#[derive(Debug)]
pub struct Watcher {
    events: Arc<OwnedFd>,
    /// Readable when the thread is to end.
    stop: OwnedFd,
    gone: Arc<Mutex<Gone>>,
    thread: Option<JoinHandle<()>>,
}

const O_CLOEXEC: libc::c_int = libc::O_CLOEXEC;
/// Only faults in user mode could be taken over, which is all that a process without privilege may ask for.
const USER_MODE_ONLY: libc::c_int = 1;
const API: u64 = 0xaa;
const FEATURE_REMAP: u64 = 1 << 2;
const FEATURE_REMOVE: u64 = 1 << 3;
const FEATURE_UNMAP: u64 = 1 << 6;
const MODE_WRITE_PROTECT: u64 = 1 << 1;
const EVENT_REMAP: u8 = 0x14;
const EVENT_REMOVE: u8 = 0x15;
const EVENT_UNMAP: u8 = 0x16;

#[repr(C)]
struct ApiArgument {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct Range {
    start: u64,
    len: u64,
}

#[repr(C)]
struct RegisterArgument {
    range: Range,
    mode: u64,
    ioctls: u64,
}

/// One event as the kernel writes it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Message {
    event: u8,
    reserved: [u8; 7],
    arguments: [u64; 3],
}

/// The number of an ioctl of userfaultfd that reads, or reads and writes, an argument of this size.
const fn ioctl_number(direction: u64, number: u64, size: usize) -> u64 {
    direction << 30 | (size as u64) << 16 | 0xaa << 8 | number
}
const IOCTL_API: u64 = ioctl_number(3, 0x3f, size_of::<ApiArgument>());
const IOCTL_REGISTER: u64 = ioctl_number(3, 0x00, size_of::<RegisterArgument>());
const IOCTL_UNREGISTER: u64 = ioctl_number(2, 0x01, size_of::<Range>());

impl Watcher {
    /// Starts watching, of nothing yet.
    ///
    /// # Errors
    /// What the system said: kernels before 5.11 and some containers do not allow it.
    pub fn start() -> io::Result<Self> {
        let flags = O_CLOEXEC | libc::O_NONBLOCK | USER_MODE_ONLY;
        // SAFETY: a system call without pointers.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that nobody else knows.
        let events = Arc::new(unsafe { OwnedFd::from_raw_fd(fd as i32) });
        let mut api =
            ApiArgument { api: API, features: FEATURE_REMAP | FEATURE_REMOVE | FEATURE_UNMAP, ioctls: 0 };
        ioctl(&events, IOCTL_API, &mut api)?;
        // SAFETY: a system call without pointers.
        let stop = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if stop < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        let stop = unsafe { OwnedFd::from_raw_fd(stop) };
        let gone = Arc::new(Mutex::new(Gone::default()));
        // The thread's own descriptor, so that nothing is freed when it ends before us.
        let (its_events, its_gone, its_stop) = (events.clone(), gone.clone(), stop.try_clone()?);
        let thread = std::thread::Builder::new()
            .name("posthaste-watch".to_owned())
            .spawn(move || listen(&its_events, &its_stop, &its_gone))?;
        Ok(Self { events, stop, gone, thread: Some(thread) })
    }

    /// Watches whole pages from `start` to `end`.
    ///
    /// # Errors
    /// When it cannot be done for this memory: nothing is mapped there, or it is that of a file.
    pub fn watch(&self, start: usize, end: usize) -> io::Result<()> {
        let range = Range { start: start as u64, len: (end - start) as u64 };
        ioctl(
            &self.events,
            IOCTL_REGISTER,
            &mut RegisterArgument { range, mode: MODE_WRITE_PROTECT, ioctls: 0 },
        )
    }

    /// Ends that.
    pub fn unwatch(&self, start: usize, end: usize) {
        let mut range = Range { start: start as u64, len: (end - start) as u64 };
        // Fails where the memory has gone away meanwhile, which is as good.
        let _ = ioctl(&self.events, IOCTL_UNREGISTER, &mut range);
    }

    /// Takes over what has gone away since the last call; `into` is overwritten.
    pub fn gone(&self, into: &mut Gone) {
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        (into.count, into.everything) = (gone.count, gone.everything);
        into.ranges[..gone.count].copy_from_slice(&gone.ranges[..gone.count]);
        (gone.count, gone.everything) = (0, false);
    }
}

/// Bytes of a page.
pub fn page_size() -> usize {
    // SAFETY: a call without pointers.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let one = 1u64;
        // SAFETY: a descriptor of ours, and eight bytes.
        unsafe { libc::write(self.stop.as_raw_fd(), (&raw const one).cast(), 8) };
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn ioctl<T>(fd: &OwnedFd, number: u64, argument: &mut T) -> io::Result<()> {
    // SAFETY: the number says the size of its argument, which is `T` for each of the three callers' pairs.
    match unsafe { libc::ioctl(fd.as_raw_fd(), number as _, std::ptr::from_mut(argument)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The thread: notes events until it has to stop. Allocates nothing (see above).
fn listen(events: &OwnedFd, stop: &OwnedFd, gone: &Mutex<Gone>) {
    let poll_for = |fd: &OwnedFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    loop {
        let mut fds = [poll_for(events), poll_for(stop)];
        // SAFETY: an array of as many entries.
        unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) };
        if fds[1].revents != 0 || fds[0].revents & (libc::POLLERR | libc::POLLNVAL) != 0 {
            return;
        }
        let mut gone = gone.lock().unwrap_or_else(PoisonError::into_inner);
        let mut message = Message::default();
        loop {
            let size = size_of::<Message>();
            // SAFETY: a descriptor of ours and a place for one event; reading never blocks.
            let n = unsafe { libc::read(events.as_raw_fd(), (&raw mut message).cast(), size) };
            if n != size as isize {
                break;
            }
            let [first, second, third] = message.arguments.map(|argument| argument as usize);
            match message.event {
                EVENT_REMOVE | EVENT_UNMAP => gone.note(first, second),
                // From where, to where, how long.
                EVENT_REMAP => gone.note(first, first.saturating_add(third)),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4096;

    fn map(pages: usize) -> usize {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), pages * PAGE, protection, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        base.expose_provenance()
    }

    /// A watcher, or a line that says why there is none.
    fn watcher() -> Option<Watcher> {
        Watcher::start()
            .inspect_err(|why| println!("omitted: this system lets nobody watch memory: {why}"))
            .ok()
    }

    fn gone(watcher: &Watcher) -> Vec<(usize, usize)> {
        let mut gone = Gone::default();
        watcher.gone(&mut gone);
        gone.ranges().collect()
    }

    #[test]
    fn every_way_of_going_away_is_heard_of() {
        let Some(watcher) = watcher() else { return };
        let base = map(64);
        let at = |page: usize| base + page * PAGE;
        let pointer = |page: usize| std::ptr::with_exposed_provenance_mut::<libc::c_void>(at(page));
        watcher.watch(at(0), at(64)).unwrap();
        assert_eq!(gone(&watcher), []);
        // SAFETY: all of it is the memory mapped above, which nobody refers to.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<u8>(at(3)).write(1);
            assert_eq!(gone(&watcher), [], "use is no event");
            assert_eq!(libc::munmap(pointer(2), 2 * PAGE), 0);
            assert_eq!(gone(&watcher), [(at(2), at(4))]);
            assert_eq!(libc::madvise(pointer(8), PAGE, libc::MADV_DONTNEED), 0);
            assert_eq!(gone(&watcher), [(at(8), at(9))]);
            let (protection, flags) =
                (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
            assert_eq!(libc::mmap(pointer(10), PAGE, protection, flags, -1, 0), pointer(10));
            assert_eq!(gone(&watcher), [(at(10), at(11))]);
            let place = map(4);
            let there = std::ptr::with_exposed_provenance_mut::<libc::c_void>(place);
            let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            assert_eq!(libc::mremap(pointer(20), 4 * PAGE, 4 * PAGE, how, there), there);
            let seen = gone(&watcher);
            assert!(seen.contains(&(at(20), at(24))), "{seen:?} in {:?}", (at(20), at(24)));
            watcher.unwatch(at(40), at(41));
            assert_eq!(libc::munmap(pointer(40), PAGE), 0);
            assert_eq!(gone(&watcher), [], "what is not watched any more");
            libc::munmap(pointer(0), 64 * PAGE);
            libc::munmap(there, 4 * PAGE);
        }
    }

    #[test]
    fn freeing_is_heard_of_by_the_time_it_is_over() {
        let Some(watcher) = watcher() else { return };
        for round in 0..200 {
            // Longer than any block that the allocator would keep for itself.
            let block = Vec::<u8>::with_capacity(64 << 20);
            let start = block.as_ptr().addr().next_multiple_of(PAGE);
            watcher.watch(start, start + (2 << 20)).unwrap();
            drop(block);
            assert!(!gone(&watcher).is_empty(), "round {round}");
        }
    }

    #[test]
    fn more_than_can_be_noted_is_everything() {
        let Some(watcher) = watcher() else { return };
        let base = map(2 * NOTES + 2);
        watcher.watch(base, base + (2 * NOTES + 2) * PAGE).unwrap();
        for page in 0..=NOTES {
            let pointer = std::ptr::with_exposed_provenance_mut::<libc::c_void>(base + 2 * page * PAGE);
            // SAFETY: a page of the memory mapped above.
            assert_eq!(unsafe { libc::munmap(pointer, PAGE) }, 0);
        }
        assert_eq!(gone(&watcher).last(), Some(&(0, usize::MAX)));
        assert_eq!(gone(&watcher), []);
    }

    #[test]
    fn what_is_not_there_cannot_be_watched() {
        let Some(watcher) = watcher() else { return };
        let base = map(1);
        // SAFETY: the page mapped above.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(base), PAGE) };
        assert!(watcher.watch(base, base + PAGE).is_err());
    }
}
