//! Memory that several processes of a host have mapped, each where it likes: windows of one-sided communication (MPI-5.0
//! §12.2.2, §12.2.3), with the words that their synchronisation needs.
//!
//! One process makes a file without a name (a memfd) and tells the others its [`Ticket`]; they open it by way of `/proc`.
//! What must stay true: all of it is reserved when it is made, so that a full system is an error and never SIGBUS; the file
//! never shrinks (it is sealed), and it dies with the last process that has it mapped. It begins at a page everywhere, so an
//! element is aligned for all processes or for none.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::counted_word::CountedWord;
use crate::lock_words::{LINE, LockWords};
use crate::machine;
use crate::node::file_size_limit;
use crate::ranges::{self, Ranges};
use crate::watch::page_size;

/// Bytes at whose multiples each member's memory begins: of a page, where pages are short.
pub const PAGE: usize = 4096;
/// Longer memory is compared with what there is before it is reserved: to reserve is to take.
const LONG: usize = 16 << 20;

/// Memory that several processes have mapped; zero at first.
#[derive(Debug)]
pub struct Mapped {
    base: NonNull<u8>,
    len: usize,
    /// Open until all have attached it.
    file: Mutex<Option<File>>,
    name: Option<Name>,
}

/// What tells memory of one [`Mapped::create`] from that of all others that are mapped anywhere on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The process that has made it.
    pub pid: u32,
    /// The number of the file.
    pub inode: u64,
}

/// What others need to attach the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The process that has made it.
    pub pid: u32,
    /// Its descriptor there.
    pub fd: u32,
    /// The number of the file, by which a wrong one is recognised.
    pub inode: u64,
}

// SAFETY: plain memory without ties to a thread; it is reached as atomics and by address only.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

/// Reserves a range of a file, or nothing of it. In pieces, for a signal makes the system begin one anew: a program that gets
/// signals again and again would come to no end with all at once.
pub(crate) fn reserve(fd: RawFd, place: u64, size: u64) -> io::Result<()> {
    const PIECE: u64 = 4 << 20;
    let allocate = |mode, at: u64, len: u64| {
        // SAFETY: a system call on a descriptor; it touches no memory of ours.
        match unsafe { libc::fallocate(fd, mode, at as libc::off_t, len as libc::off_t) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let end = place + size;
    let mut at = place;
    while at < end {
        match allocate(0, at, PIECE.min(end - at)) {
            Ok(()) => at += PIECE.min(end - at),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => {
                let _ = allocate(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, place, size);
                return Err(why);
            }
        }
    }
    Ok(())
}

impl Mapped {
    /// New memory of `len` bytes, and what others need to attach it.
    ///
    /// # Errors
    /// When there is not so much memory, or the system has no such files.
    pub fn create(len: usize) -> io::Result<(Self, Ticket)> {
        let out_of = |why: String| io::Error::new(io::ErrorKind::OutOfMemory, why);
        if len >= LONG
            && let Some(there) = machine::memory_available().filter(|there| *there < len as u64)
        {
            return Err(out_of(format!("{len} bytes are wanted and {there} are available")));
        }
        if len as u64 > file_size_limit() {
            return Err(out_of(format!("{len} bytes are more than the limit on the size of files")));
        }
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a C string; the call makes a new descriptor that nobody else owns.
        let fd = unsafe { libc::memfd_create(c"posthaste-window".as_ptr(), flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the fresh descriptor from above.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        reserve(fd, 0, len.max(1) as u64).map_err(|why| out_of(format!("{len} bytes: {why}")))?;
        // SAFETY: as above.
        unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL) };
        let ticket = Ticket { pid: std::process::id(), fd: fd as u32, inode: file.metadata()?.ino() };
        Ok((Self::map(file, len, ticket)?, ticket))
    }

    /// Attaches what another process of the host has made.
    ///
    /// # Errors
    /// When the system does not let us, or it is not that memory.
    pub fn attach(ticket: Ticket, len: usize) -> io::Result<Self> {
        let Ticket { pid, fd, inode } = ticket;
        let file = File::options().read(true).write(true).open(format!("/proc/{pid}/fd/{fd}"))?;
        let about = file.metadata()?;
        // SAFETY: a system call on a descriptor that `file` owns.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        let is_sealed = seals >= 0 && seals & libc::F_SEAL_SHRINK != 0;
        if about.ino() != inode || about.len() < len as u64 || !is_sealed {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        Self::map(file, len, ticket)
    }

    /// Part of a file that has it and never shrinks, from a page on.
    pub(crate) fn part(file: &File, from: u64, len: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let (at, fd) = (std::ptr::null_mut(), file.as_raw_fd());
        // SAFETY: a fresh shared mapping of the file at an address of the kernel's choice.
        let base = unsafe { libc::mmap(at, len.max(1), access, libc::MAP_SHARED, fd, from as libc::off_t) };
        match NonNull::new(base.cast()).filter(|_| base != libc::MAP_FAILED) {
            Some(base) => Ok(Self { base, len, file: Mutex::default(), name: None }),
            None => Err(io::Error::last_os_error()),
        }
    }

    /// `len` bytes of the memory from `at` on in another mapping, which stays when this one goes, and where in it they are.
    ///
    /// # Errors
    /// When the memory ends before, has been let go, or the system has no room for one more mapping.
    pub fn again(&self, at: usize, len: usize) -> io::Result<(Self, usize)> {
        let (skip, end) = (at % page_size(), at.checked_add(len).filter(|end| *end <= self.len));
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let whole = end.map(|end| end - (at - skip)).filter(|whole| *whole > 0).ok_or_else(invalid)?;
        let from = self.base.as_ptr().wrapping_add(at - skip).cast();
        // SAFETY: an old length of 0 leaves the mapping as it is and makes a second one of the same pages, of which the first is
        // within the mapping and `whole` does not go beyond its last one; memory that is not shared is refused.
        let base = unsafe { libc::mremap(from, 0, whole, libc::MREMAP_MAYMOVE) };
        match NonNull::new(base.cast()).filter(|_| base != libc::MAP_FAILED) {
            Some(base) => Ok((Self { base, len: whole, file: Mutex::default(), name: None }, skip)),
            None => Err(io::Error::last_os_error()),
        }
    }

    /// Its name, if it is all of the memory that somebody has made.
    pub fn name(&self) -> Option<Name> {
        self.name
    }

    fn map(file: File, len: usize, Ticket { pid, inode, .. }: Ticket) -> io::Result<Self> {
        let mut mapped = Self::part(&file, 0, len)?;
        mapped.name = Some(Name { pid, inode });
        *mapped.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        Ok(mapped)
    }

    /// Everybody has attached it: the descriptor is not needed any more.
    pub fn close(&self) {
        drop(self.file.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Gives the memory back before this value goes, of which others may still have a share: where it was are zeros that nobody
    /// else sees. Without room in the system's tables it stays.
    pub fn let_go(&self) {
        self.close();
        let (at, access) = (self.base.as_ptr().cast(), libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: exactly the mapping of this value is replaced, by memory that may be read and written as before. Atomic
        // views of it stay valid, and nothing else borrows it.
        unsafe { libc::mmap(at, self.len.max(1), access, flags, -1, 0) };
    }

    /// Address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element of `size` bytes at `at`, if the processor can change it in one step: of 1, 2, 4 or 8 bytes, aligned, and
    /// within the memory.
    #[inline]
    pub fn atom(&self, at: usize, size: usize) -> Option<Atom<'_>> {
        if at.checked_add(size).is_none_or(|end| end > self.len) {
            return None;
        }
        // SAFETY: inside the mapping, which lives as long as the borrow.
        unsafe { Atom::at(self.base.as_ptr().wrapping_add(at), size) }
    }

    /// The words of a lock at `at`.
    ///
    /// # Panics
    /// When there are none: they are aligned and within the memory.
    #[inline]
    pub fn lock_words(&self, at: usize) -> &LockWords {
        let end = at.checked_add(size_of::<LockWords>());
        assert!(at.is_multiple_of(LINE) && end.is_some_and(|end| end <= self.len), "no lock at {at}");
        // SAFETY: inside the mapping, which lives as long as the borrow, and aligned, as it begins at a page. All of it is
        // atomics, which any bits are, and which other processes may change at any time.
        unsafe { &*self.base.as_ptr().add(at).cast() }
    }

    /// The ranges that a process tells at `at`.
    ///
    /// # Panics
    /// When there are none: they are aligned and within the memory.
    pub fn ranges(&self, at: usize) -> &Ranges {
        let end = at.checked_add(ranges::ROOM);
        let is_there = at.is_multiple_of(align_of::<Ranges>()) && end.is_some_and(|end| end <= self.len);
        assert!(is_there, "no ranges at {at}");
        // SAFETY: as for the words of a lock.
        unsafe { &*self.base.as_ptr().add(at).cast() }
    }

    /// The word at `at` that one writer counts up.
    ///
    /// # Panics
    /// When there is none: it is aligned and within the memory.
    #[inline]
    pub fn counted_word(&self, at: usize) -> &CountedWord {
        let word: *const AtomicU64 = self.word(at);
        // SAFETY: a `CountedWord` is such a word and nothing else; it is inside the mapping, which lives as long as the
        // borrow.
        unsafe { &*word.cast() }
    }

    /// The word of eight bytes at `at`.
    ///
    /// # Panics
    /// When there is none: it is aligned and within the memory.
    #[inline]
    pub fn word(&self, at: usize) -> &AtomicU64 {
        match self.atom(at, 8) {
            Some(Atom::Eight(word)) => word,
            _ => panic!("no word at {at} of {} bytes", self.len),
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: address and length are those of the successful `mmap`; every view borrows this value.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len.max(1)) };
    }
}

/// An element that the processor changes in one step. Values are the bits of the element in the low bytes of 64.
///
/// All steps are sequentially consistent: on x86-64 a step that changes is that anyway, and elsewhere counters that several
/// ranks share would surprise their programs.
#[derive(Clone, Copy, Debug)]
pub enum Atom<'a> {
    /// Of one byte.
    One(&'a AtomicU8),
    /// Of two bytes.
    Two(&'a AtomicU16),
    /// Of four bytes.
    Four(&'a AtomicU32),
    /// Of eight bytes.
    Eight(&'a AtomicU64),
}

macro_rules! step {
    ($self:ident, $atom:ident => $step:expr) => {
        match $self {
            Atom::One($atom) => u64::from($step),
            Atom::Two($atom) => u64::from($step),
            Atom::Four($atom) => u64::from($step),
            Atom::Eight($atom) => $step,
        }
    };
}

impl Atom<'_> {
    /// The element of `size` bytes at an address, if the processor can change it in one step: of 1, 2, 4 or 8 bytes, aligned.
    ///
    /// # Safety
    /// So many bytes may be read and written there for as long as the element is used, and no reference to them is. Other
    /// processes and the program itself may change them at any time, which atomics allow.
    #[inline(always)]
    pub unsafe fn at(place: *mut u8, size: usize) -> Option<Self> {
        if !place.addr().is_multiple_of(size.max(1)) {
            return None;
        }
        // SAFETY: aligned; the rest is the caller's promise.
        unsafe {
            match size {
                1 => Some(Atom::One(&*place.cast())),
                2 => Some(Atom::Two(&*place.cast())),
                4 => Some(Atom::Four(&*place.cast())),
                8 => Some(Atom::Eight(&*place.cast())),
                _ => None,
            }
        }
    }

    /// What it is.
    #[inline]
    pub fn load(self) -> u64 {
        step!(self, atom => atom.load(Ordering::SeqCst))
    }

    /// Replaces it while nobody else changes it.
    #[inline]
    pub fn store(self, new: u64) {
        match self {
            Atom::One(atom) => atom.store(new as u8, Ordering::Relaxed),
            Atom::Two(atom) => atom.store(new as u16, Ordering::Relaxed),
            Atom::Four(atom) => atom.store(new as u32, Ordering::Relaxed),
            Atom::Eight(atom) => atom.store(new, Ordering::Relaxed),
        }
    }

    /// Replaces it; what it was.
    #[inline]
    pub fn swap(self, new: u64) -> u64 {
        step!(self, atom => atom.swap(new as _, Ordering::SeqCst))
    }

    /// Adds to it, going round; what it was.
    #[inline]
    pub fn fetch_add(self, by: u64) -> u64 {
        step!(self, atom => atom.fetch_add(by as _, Ordering::SeqCst))
    }

    /// Clears the bits that are not set in the operand; what it was.
    #[inline]
    pub fn fetch_and(self, with: u64) -> u64 {
        step!(self, atom => atom.fetch_and(with as _, Ordering::SeqCst))
    }

    /// Sets bits; what it was.
    #[inline]
    pub fn fetch_or(self, with: u64) -> u64 {
        step!(self, atom => atom.fetch_or(with as _, Ordering::SeqCst))
    }

    /// Turns bits over; what it was.
    #[inline]
    pub fn fetch_xor(self, with: u64) -> u64 {
        step!(self, atom => atom.fetch_xor(with as _, Ordering::SeqCst))
    }

    /// Replaces it if it is as expected; what it was.
    #[inline]
    pub fn compare_and_swap(self, expected: u64, new: u64) -> u64 {
        step!(self, atom => {
            let swapped =
                atom.compare_exchange(expected as _, new as _, Ordering::SeqCst, Ordering::SeqCst);
            swapped.unwrap_or_else(|was| was)
        })
    }

    /// Replaces it by what `combine` makes of it; what it was.
    #[inline]
    pub fn update(self, mut combine: impl FnMut(u64) -> u64) -> u64 {
        let mut was = self.load();
        loop {
            let found = self.compare_and_swap(was, combine(was));
            if found == was {
                return was;
            }
            was = found;
        }
    }
}

/// An element of 16 bytes that the processor changes in one step, where it has one.
#[derive(Clone, Copy, Debug)]
pub struct WideAtom<'a>(NonNull<u128>, PhantomData<&'a AtomicU64>);

impl WideAtom<'_> {
    /// The element at an address, if the processor can change it in one step.
    ///
    /// # Safety
    /// As for [`Atom::at`], of 16 bytes.
    pub unsafe fn at(place: *mut u8) -> Option<Self> {
        let place = NonNull::new(place.cast::<u128>()).filter(|_| place.addr().is_multiple_of(16))?;
        has_wide_step().then_some(Self(place, PhantomData))
    }

    /// Replaces it by what `combine` makes of it; what it was.
    pub fn update(self, mut combine: impl FnMut(u128) -> u128) -> u128 {
        // Whatever it is: it stays.
        let mut was = self.compare_and_swap(0, 0);
        loop {
            let found = self.compare_and_swap(was, combine(was));
            if found == was {
                return was;
            }
            was = found;
        }
    }

    /// Replaces it if it is as expected; what it was.
    #[cfg(target_arch = "x86_64")]
    fn compare_and_swap(self, expected: u128, new: u128) -> u128 {
        let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
        // The intrinsic is no step without optimisation, and the compiler keeps rbx to itself.
        // SAFETY: the processor has the step (`at`); the rest is the promise of who made this: aligned memory that may be changed, by
        // others at the same time, too, who do so by such steps. What was in rbx is there again at the end.
        unsafe {
            std::arch::asm!(
                "xchg {low}, rbx",
                "lock cmpxchg16b [rdi]",
                "mov rbx, {low}",
                low = inout(reg) new as u64 => _,
                in("rcx") (new >> 64) as u64,
                in("rdi") self.0.as_ptr(),
                inout("rax") low,
                inout("rdx") high,
                options(nostack),
            );
        }
        u128::from(high) << 64 | u128::from(low)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn compare_and_swap(self, expected: u128, _new: u128) -> u128 {
        expected
    }
}

#[cfg(target_arch = "x86_64")]
fn has_wide_step() -> bool {
    std::arch::is_x86_feature_detected!("cmpxchg16b")
}

/// None that stable Rust knows.
#[cfg(not(target_arch = "x86_64"))]
fn has_wide_step() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bytes_change_in_one_step() {
        const TIMES: u128 = 20_000;
        let (memory, _) = Mapped::create(4096).unwrap();
        // SAFETY: within the mapping, which outlives it.
        let at = |offset: usize| unsafe { WideAtom::at(memory.as_ptr().wrapping_add(offset)) };
        let Some(wide) = at(32) else { return assert!(!has_wide_step()) };
        assert!(at(40).is_none());
        let both = TIMES << 64 | 1;
        std::thread::scope(|s| {
            for _ in 0..2 {
                let memory = &memory;
                s.spawn(move || {
                    // SAFETY: as above.
                    let wide = unsafe { WideAtom::at(memory.as_ptr().wrapping_add(32)) }.unwrap();
                    for _ in 0..TIMES {
                        wide.update(|was| was.wrapping_add(both));
                    }
                });
            }
        });
        assert_eq!(wide.update(|_| 7), both.wrapping_mul(2 * TIMES));
        assert_eq!(wide.update(|was| was), 7);
    }

    #[test]
    fn what_one_mapping_writes_the_other_one_reads() {
        let (made, ticket) = Mapped::create(10_000).unwrap();
        let other = Mapped::attach(ticket, 10_000).unwrap();
        made.close();
        assert!(made.as_ptr() != other.as_ptr() && made.len() == 10_000 && !made.is_empty());
        made.word(4096).store(7, Ordering::Relaxed);
        assert_eq!(other.word(4096).load(Ordering::Relaxed), 7);
        assert!(Mapped::attach(ticket, 10_000).is_err(), "the descriptor is closed");
    }

    #[test]
    fn what_was_let_go_is_there_for_the_others() {
        let (made, ticket) = Mapped::create(5000).unwrap();
        let other = Mapped::attach(ticket, 5000).unwrap();
        made.word(8).store(7, Ordering::Relaxed);
        made.let_go();
        assert_eq!((made.word(8).load(Ordering::Relaxed), other.word(8).load(Ordering::Relaxed)), (0, 7));
        made.word(8).store(9, Ordering::Relaxed);
        assert_eq!(other.word(8).load(Ordering::Relaxed), 7);
    }

    #[test]
    fn a_second_mapping_stays_when_the_first_goes() {
        let (made, ticket) = Mapped::create(3 * page_size()).unwrap();
        let other = Mapped::attach(ticket, 3 * page_size()).unwrap();
        assert!(made.name() == other.name() && made.name().is_some());
        let at = page_size() + 24;
        let (again, skip) = other.again(at, 100).unwrap();
        assert_eq!((skip, again.len(), again.name()), (24, 124, None));
        made.word(at).store(7, Ordering::Relaxed);
        other.let_go();
        assert!(other.again(at, 8).is_err(), "what was let go is nobody else's");
        drop(other);
        again.word(skip + 8).store(9, Ordering::Relaxed);
        assert_eq!(
            (again.word(skip).load(Ordering::Relaxed), made.word(at + 8).load(Ordering::Relaxed)),
            (7, 9)
        );
        assert!(made.again(2 * page_size(), page_size() + 1).is_err() && made.again(usize::MAX, 2).is_err());
    }

    #[test]
    fn another_file_is_not_taken_for_it() {
        let (first, ticket) = Mapped::create(100).unwrap();
        let (_second, other) = Mapped::create(100).unwrap();
        assert!(Mapped::attach(Ticket { inode: other.inode, ..ticket }, 100).is_err());
        assert!(Mapped::attach(ticket, 1 << 20).is_err(), "longer than the file");
        assert!(Mapped::create(1 << 62).is_err());
        drop(first);
    }

    #[test]
    fn elements_of_every_size_change_in_one_step() {
        let (memory, _) = Mapped::create(4096).unwrap();
        for size in [1usize, 2, 4, 8] {
            let atom = memory.atom(size * 8, size).unwrap();
            let all = u64::MAX >> (64 - 8 * size);
            assert_eq!((atom.fetch_add(all), atom.fetch_add(2), atom.load()), (0, all, 1));
            assert_eq!((atom.fetch_or(6), atom.fetch_and(3), atom.fetch_xor(1), atom.load()), (1, 7, 3, 2));
            assert_eq!((atom.compare_and_swap(5, 9), atom.compare_and_swap(2, 9)), (2, 2));
            assert_eq!((atom.swap(4), atom.update(|was| was * 3), atom.load()), (9, 4, 12));
            assert!(memory.atom(size * 8 + 1, size).is_none_or(|_| size == 1));
            assert!(memory.atom(4096, size).is_none());
        }
        assert!(memory.atom(0, 16).is_none() && memory.atom(usize::MAX, 1).is_none());
    }

    #[test]
    fn threads_lose_no_update() {
        let (memory, _) = Mapped::create(64).unwrap();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    let atom = memory.atom(4, 4).unwrap();
                    (0..1000).for_each(|_| _ = atom.update(|was| was + 1));
                });
            }
        });
        assert_eq!(memory.atom(4, 4).unwrap().load(), 4000);
    }
}
