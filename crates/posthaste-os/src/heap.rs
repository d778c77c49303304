//! Memory of one process that its peers on the host can reach: MPI_Alloc_mem (MPI-5.0 §9.2, seed 001 "Mem_alloc").
//!
//! Each process has one file without a name (a memfd); an allocation is a range of it, mapped here when it is made, and
//! a byte is named by its place in the file, to peers as to ourselves. A peer opens the file by way of `/proc` and maps
//! all of it at the first message.
//!
//! What must stay true: a range is reserved when it is given, so that a full system is an error and never SIGBUS, and
//! the file never shrinks (it is sealed); what is given back is punched out, which takes the pages from the maps
//! of peers as well, so that nothing of theirs has to be forgotten and a range given again is new memory at a
//! place that they know already. The file has no name and dies with the last process that has it. A program may close
//! descriptors that it does not know, and their numbers come to name other files: ours is looked at before each use,
//! and a range is punched out by its mapping.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::machine;
use crate::mapped::{self, Mapped};
use crate::mem::{Sink, Source};
use crate::node::{Node, file_size_limit};
use crate::watch::page_size;

/// Shorter memory comes from the process's own: messages from it are too short for this.
const SHORTEST: usize = 4096;
/// Longer memory is compared with what there is before it is reserved: to reserve is to take.
const LONG: usize = 16 << 20;
/// Alignment of memory of the process's own: a cache line.
const ALIGN: usize = 64;
/// Least part of a peer's file that is mapped.
const WINDOW: u64 = 4 << 20;

/// The memory of this process that peers can reach.
#[derive(Debug)]
pub struct Heap {
    node: Node,
    rank: usize,
    /// Bounds of the addresses given so far, for those who ask about other memory.
    lowest: AtomicUsize,
    highest: AtomicUsize,
    ranges: Mutex<Ranges>,
}

#[derive(Debug, Default)]
struct Ranges {
    file: Option<Own>,
    /// Where the part of the file ends that has been in use so far.
    end: u64,
    /// Parts in front of that which are not in use: place and length.
    free: BTreeMap<u64, u64>,
    /// Parts in use by their addresses: length and place.
    given: BTreeMap<usize, (usize, u64)>,
    /// Addresses of those that are not given again ([`Heap::retire`]).
    retired: BTreeSet<usize>,
}

/// Our file.
#[derive(Debug)]
struct Own {
    /// Not closed where the number names another file.
    file: ManuallyDrop<File>,
    inode: u64,
}

/// Memory that has been allocated; zero at first. It goes back when it is dropped.
#[derive(Debug)]
pub struct Block {
    base: NonNull<u8>,
    len: usize,
    home: Home,
}

#[derive(Debug)]
enum Home {
    Heap(Arc<Heap>),
    Process(Layout),
}

// SAFETY: plain memory without ties to a thread; what is in it is reached through raw addresses only.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Heap {
    /// The memory of local rank `rank`; there is none as long as nobody wants any.
    pub fn new(node: &Node, rank: usize) -> Arc<Self> {
        let (lowest, highest) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
        Arc::new(Self { node: node.clone(), rank, lowest, highest, ranges: Mutex::default() })
    }

    /// The place in our file of `len` bytes at an address, if they are ours.
    #[inline]
    pub fn find(&self, address: usize, len: u64) -> Option<u64> {
        let (lowest, highest) = (&self.lowest, &self.highest);
        if address < lowest.load(Ordering::Relaxed) || address >= highest.load(Ordering::Relaxed) {
            return None;
        }
        self.find_range(address, len)
    }

    #[inline(never)]
    fn find_range(&self, address: usize, len: u64) -> Option<u64> {
        let ranges = self.ranges();
        let (base, (size, place)) = ranges.given.range(..=address).next_back()?;
        let skip = (address - base) as u64;
        (skip.checked_add(len)? <= *size as u64).then_some(place + skip)
    }

    /// Peers may write to the memory at an address also when it has been freed: it is nobody else's then. A write that comes so
    /// late takes a page of its own. Memory that is not ours is left alone.
    pub fn retire(&self, address: usize) {
        let mut ranges = self.ranges();
        let below = ranges.given.range(..=address).next_back().map(|(base, (len, _))| (*base, *len));
        if let Some((base, _)) = below.filter(|(base, len)| address - base < *len) {
            ranges.retired.insert(base);
        }
    }

    /// `len` bytes, a multiple of a page. `Ok(None)`: not here, but there may be other memory.
    fn allocate(&self, len: usize) -> io::Result<Option<NonNull<u8>>> {
        let mut ranges = self.ranges();
        let Some(fd) = self.file(&mut ranges) else { return Ok(None) };
        let (place, size) = ranges.take(len as u64);
        if place.saturating_add(size) > file_size_limit() {
            ranges.put_back(place, size); // the kernel would end us with SIGXFSZ
            return Ok(None);
        }
        let reserved = mapped::reserve(fd, place, size);
        if let Err(why) = reserved {
            ranges.put_back(place, size);
            return match why.raw_os_error() {
                Some(libc::ENOSPC | libc::ENOMEM) => Err(why),
                _ => Ok(None),
            };
        }
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let base = unsafe { map(std::ptr::null_mut(), len, fd, place) };
        let Some(base) = base else {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: a system call on a descriptor that `ranges` owns.
            unsafe { libc::fallocate(fd, mode, place as libc::off_t, size as libc::off_t) };
            ranges.put_back(place, size);
            return Ok(None);
        };
        let address = base.addr().get();
        ranges.given.insert(address, (len, place));
        self.lowest.fetch_min(address, Ordering::Relaxed);
        self.highest.fetch_max(address + len, Ordering::Relaxed);
        Ok(Some(base))
    }

    /// Our file, which is made at the first call, and published to the peers; `None` when the program has closed it.
    fn file(&self, ranges: &mut Ranges) -> Option<i32> {
        if ranges.file.is_none() {
            let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
            // SAFETY: a C string; the call makes a new descriptor that nobody else owns.
            let fd = unsafe { libc::memfd_create(c"posthaste-memory".as_ptr(), flags) };
            if fd < 0 {
                return None;
            }
            // SAFETY: the fresh descriptor from above.
            let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
            // SAFETY: a system call on a descriptor that `file` owns.
            unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL) };
            let inode = file.metadata().ok()?.ino();
            self.node.set_heap(self.rank, fd as u32, inode);
            ranges.file = Some(Own { file: ManuallyDrop::new(file), inode });
        }
        ranges.file.as_ref().filter(|own| own.is_there()).map(|own| own.file.as_raw_fd())
    }

    fn free(&self, base: NonNull<u8>) {
        let mut ranges = self.ranges();
        let Some((len, place)) = ranges.given.remove(&base.addr().get()) else { return };
        // SAFETY: `allocate` mapped it, and only `Block::drop`, once, comes here.
        unsafe {
            libc::madvise(base.as_ptr().cast(), len, libc::MADV_REMOVE);
            libc::munmap(base.as_ptr().cast(), len);
        }
        if !ranges.retired.remove(&base.addr().get()) {
            ranges.put_back(place, len as u64);
        }
    }

    fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ranges {
    /// A part of the file for `len` bytes that is not in use.
    fn take(&mut self, len: u64) -> (u64, u64) {
        let fits = self.free.iter().find(|(_, free)| **free >= len).map(|(place, free)| (*place, *free));
        let Some((place, free)) = fits else {
            let place = self.end;
            self.end = place.saturating_add(len);
            return (place, len);
        };
        self.free.remove(&place);
        if free > len {
            self.free.insert(place + len, free - len);
        }
        (place, len)
    }

    /// A part of the file is not in use any more, and has no memory. Neighbours are joined.
    fn put_back(&mut self, mut place: u64, mut len: u64) {
        if let Some(behind) = self.free.remove(&(place + len)) {
            len += behind;
        }
        if let Some((before, size)) = self.free.range(..place).next_back().map(|(place, len)| (*place, *len))
            && before + size == place
        {
            self.free.remove(&before);
            (place, len) = (before, len + size);
        }
        if place + len == self.end {
            self.end = place;
        } else {
            self.free.insert(place, len);
        }
    }
}

impl Own {
    /// Whether the descriptor still names our file.
    fn is_there(&self) -> bool {
        self.file.metadata().is_ok_and(|about| about.ino() == self.inode)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if self.is_there() {
            // SAFETY: once, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

impl Block {
    /// Least alignment of its first byte.
    pub const ALIGN: usize = ALIGN;

    /// `len` bytes, in `heap` if there is one and the system lets us.
    ///
    /// # Errors
    /// When there is not so much memory.
    pub fn new(heap: Option<&Arc<Heap>>, len: usize) -> io::Result<Self> {
        if len >= LONG
            && let Some(there) = machine::memory_available().filter(|there| *there < len as u64)
        {
            let why = format!("{len} bytes are wanted and {there} are available");
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, why));
        }
        let wanted = |why| io::Error::new(io::ErrorKind::OutOfMemory, format!("{len} bytes: {why}"));
        if let Some(heap) = heap
            && len >= SHORTEST
            && let Some(pages) = len.checked_next_multiple_of(page_size())
            && let Some(base) = heap.allocate(pages).map_err(|why| wanted(why.to_string()))?
        {
            return Ok(Self { base, len, home: Home::Heap(Arc::clone(heap)) });
        }
        let layout = Layout::from_size_align(len.max(1), ALIGN).map_err(|why| wanted(why.to_string()))?;
        // SAFETY: the size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) });
        let base = base.ok_or_else(|| wanted("the system has no more".to_owned()))?;
        Ok(Self { base, len, home: Home::Process(layout) })
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
}

impl Drop for Block {
    fn drop(&mut self) {
        match &self.home {
            Home::Heap(heap) => heap.free(self.base),
            // SAFETY: allocated in `new` with this layout, freed once.
            Home::Process(layout) => unsafe { dealloc(self.base.as_ptr(), *layout) },
        }
    }
}

/// The memory of a peer, as far as this process has reached into it.
#[derive(Debug)]
pub struct PeerHeap {
    file: File,
    /// Length of the file when it was last looked at; it never shrinks.
    size: u64,
    base: NonNull<u8>,
    mapped: usize,
}

// SAFETY: a mapping of its own, unmapped when dropped, reached only through `&mut self`.
unsafe impl Send for PeerHeap {}

impl PeerHeap {
    /// Opens the memory of local rank `rank`.
    ///
    /// # Errors
    /// When it has none, or the system does not let us.
    pub fn open(node: &Node, rank: usize) -> io::Result<Self> {
        let (fd, inode) = node.heap(rank).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let path = format!("/proc/{}/fd/{fd}", node.pid(rank));
        let file = File::options().read(true).write(true).open(path)?;
        // SAFETY: a system call on a descriptor that `file` owns.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        let about = file.metadata()?;
        if about.ino() != inode || seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
            return Err(io::Error::from(io::ErrorKind::InvalidData)); // another file: that one has been closed
        }
        Ok(Self { file, size: about.len(), base: NonNull::dangling(), mapped: 0 })
    }

    /// `len` bytes at a place in the peer's file, to copy from.
    ///
    /// # Errors
    /// When there are no such bytes, or the system does not let us map them.
    #[inline]
    pub fn source(&mut self, place: u64, len: usize) -> io::Result<Source<'_>> {
        let from = self.reach(place, len)?;
        // SAFETY: mapped, and inside a file that does not shrink (`reach`).
        Ok(unsafe { Source::from_raw(from, len) })
    }

    /// `len` bytes at a place in the peer's file, to copy to.
    ///
    /// # Errors
    /// As [`PeerHeap::source`].
    #[inline]
    pub fn sink(&mut self, place: u64, len: usize) -> io::Result<Sink<'_>> {
        let to = self.reach(place, len)?;
        // SAFETY: as in `source`; nobody in this process holds a reference into this mapping, which is ours alone.
        Ok(unsafe { Sink::from_raw(to, len) })
    }

    /// `len` bytes at a place in the peer's file, in a mapping of their own, which stays where it is; where in it they begin.
    ///
    /// # Errors
    /// As [`PeerHeap::source`].
    pub fn part(&mut self, place: u64, len: usize) -> io::Result<(Mapped, usize)> {
        self.check(place, len)?;
        let skip = place % page_size() as u64;
        Ok((Mapped::part(&self.file, place - skip, len + skip as usize)?, skip as usize))
    }

    /// Where these bytes end, if the file has them.
    fn check(&mut self, place: u64, len: usize) -> io::Result<u64> {
        let end = place.saturating_add(len as u64);
        if end > self.size {
            self.size = self.file.metadata()?.len();
            if end > self.size {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
        }
        Ok(end)
    }

    fn reach(&mut self, place: u64, len: usize) -> io::Result<*mut u8> {
        let end = self.check(place, len)?;
        if end > self.mapped as u64 {
            self.extend()?;
        }
        // SAFETY: `end` is inside the mapping.
        Ok(unsafe { self.base.as_ptr().add(place as usize) })
    }

    /// Maps the whole file, and some room for its growth.
    #[cold]
    fn extend(&mut self) -> io::Result<()> {
        let wanted = self.size.max(WINDOW).checked_next_power_of_two().map(usize::try_from);
        let Some(Ok(wanted)) = wanted else { return Err(io::Error::from(io::ErrorKind::OutOfMemory)) };
        // SAFETY: the old mapping, if any, is this value's own and no view of it is left (`&mut self`).
        let base = unsafe {
            if self.mapped == 0 {
                map(std::ptr::null_mut(), wanted, self.file.as_raw_fd(), 0)
            } else {
                let old = self.base.as_ptr().cast();
                let new = libc::mremap(old, self.mapped, wanted, libc::MREMAP_MAYMOVE);
                if new == libc::MAP_FAILED { None } else { NonNull::new(new.cast()) }
            }
        };
        self.base = base.ok_or_else(io::Error::last_os_error)?;
        self.mapped = wanted;
        Ok(())
    }
}

impl Drop for PeerHeap {
    fn drop(&mut self) {
        if self.mapped > 0 {
            // SAFETY: this value's own mapping.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.mapped) };
        }
    }
}

/// A shared mapping of part of a file; it may reach beyond the file's end, where it must not be touched.
///
/// # Safety
/// As for `mmap`: nothing of ours is mapped at `at`, unless that is null.
unsafe fn map(at: *mut libc::c_void, len: usize, fd: i32, place: u64) -> Option<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: handed on to the caller.
    let base = unsafe { libc::mmap(at, len, protection, libc::MAP_SHARED, fd, place as libc::off_t) };
    if base == libc::MAP_FAILED { None } else { NonNull::new(base.cast()) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    fn heap() -> (Node, Arc<Heap>) {
        let node = Node::create(2).unwrap();
        node.set_pid(0, std::process::id());
        let heap = Heap::new(&node, 0);
        (node, heap)
    }

    fn place(heap: &Heap, block: &Block) -> u64 {
        heap.find(block.as_ptr().addr(), block.len() as u64).unwrap()
    }

    #[test]
    fn a_peer_reads_and_writes_what_the_owner_sees() {
        let (node, heap) = heap();
        assert!(PeerHeap::open(&node, 0).is_err());
        let first = Block::new(Some(&heap), 100_000).unwrap();
        let mut peer = PeerHeap::open(&node, 0).unwrap();
        // Beyond what the peer mapped at first.
        let second = Block::new(Some(&heap), 9 << 20).unwrap();
        for block in [&first, &second] {
            let at = place(&heap, block);
            let mut bytes = [9; 3];
            peer.source(at + block.len() as u64 - 3, 3).unwrap().copy_to(&mut bytes);
            assert_eq!(bytes, [0; 3]);
            peer.sink(at + 7, 2).unwrap().copy_from(&[1, 2]);
            // SAFETY: inside the block.
            let seen = unsafe { block.as_ptr().add(6).cast::<[u8; 4]>().read() };
            assert_eq!(seen, [0, 1, 2, 0]);
        }
        assert!(peer.source(u64::MAX - 3, 10).is_err() && peer.sink(1 << 40, 1).is_err());
    }

    #[test]
    fn a_part_in_a_mapping_of_its_own_stays_where_it_is() {
        let (node, heap) = heap();
        let first = Block::new(Some(&heap), 3 * page_size()).unwrap();
        let mut peer = PeerHeap::open(&node, 0).unwrap();
        let at = place(&heap, &first);
        let (part, skip) = peer.part(at + page_size() as u64 + 24, 16).unwrap();
        assert_eq!((skip, part.len()), ((at as usize + 24) % page_size(), skip + 16));
        // The peer's map of all grows meanwhile.
        let second = Block::new(Some(&heap), 9 << 20).unwrap();
        peer.source(place(&heap, &second), 1).unwrap();
        part.word(skip).store(77, Ordering::Relaxed);
        // SAFETY: inside the block.
        let seen = unsafe { first.as_ptr().add(page_size() + 24).cast::<u64>().read() };
        assert_eq!(seen, 77);
        assert!(peer.part(at, 1 << 40).is_err() && peer.part(u64::MAX - 3, 10).is_err());
    }

    #[test]
    fn what_is_given_back_is_used_again_and_new() {
        let (node, heap) = heap();
        let blocks: Vec<Block> = (0..4).map(|_| Block::new(Some(&heap), 3 * page_size()).unwrap()).collect();
        let places: Vec<u64> = blocks.iter().map(|block| place(&heap, block)).collect();
        let mut peer = PeerHeap::open(&node, 0).unwrap();
        places.iter().for_each(|at| assert_eq!(peer.sink(*at, 1).unwrap().copy_from(&[5]), 1));
        let size = || heap.ranges().file.as_ref().unwrap().file.metadata().unwrap().blocks() * 512;
        assert_eq!(size(), 12 * page_size() as u64);
        let [a, b, c, d] = <[Block; 4]>::try_from(blocks).unwrap();
        let stale = b.as_ptr().addr();
        drop((b, c));
        assert_eq!((size(), heap.find(stale, 1)), (6 * page_size() as u64, None));
        // Both together, and clean although the peer has a map of the old.
        let again = Block::new(Some(&heap), 6 * page_size()).unwrap();
        assert_eq!(place(&heap, &again), places[1]);
        let mut byte = [9];
        peer.source(places[1], 1).unwrap().copy_to(&mut byte);
        assert_eq!(byte, [0]);
        drop((a, again, d));
        assert_eq!(size(), 0);
        let ranges = heap.ranges();
        assert_eq!((ranges.end, ranges.free.len()), (0, 0));
    }

    #[test]
    fn what_peers_may_still_write_to_is_not_used_again() {
        let (node, heap) = heap();
        let [kept, other] = [2, 2].map(|pages| Block::new(Some(&heap), pages * page_size()).unwrap());
        let mut peer = PeerHeap::open(&node, 0).unwrap();
        let (part, at) = peer.part(place(&heap, &kept), page_size()).unwrap();
        heap.retire(kept.as_ptr().addr() + page_size() + 1);
        [0, usize::MAX].into_iter().for_each(|nothing| heap.retire(nothing));
        let places = [&kept, &other].map(|block| place(&heap, block));
        drop((kept, other));
        let new = Block::new(Some(&heap), 4 * page_size()).unwrap();
        assert_eq!(place(&heap, &new), places[1]);
        part.word(at).store(77, Ordering::Relaxed);
        // SAFETY: inside the block.
        let seen = (0..4).map(|page| unsafe { new.as_ptr().add(page * page_size()).cast::<u64>().read() });
        assert_eq!(seen.sum::<u64>(), 0);
    }

    #[test]
    fn only_whole_messages_inside_one_block_are_found() {
        let (_, heap) = heap();
        let block = Block::new(Some(&heap), 2 * page_size()).unwrap();
        let at = block.as_ptr().addr();
        let start = place(&heap, &block);
        assert_eq!(heap.find(at + 10, 20), Some(start + 10));
        assert_eq!(heap.find(at + 10, 2 * page_size() as u64 - 9), None);
        assert_eq!(heap.find(at + 10, u64::MAX), None);
        assert_eq!(heap.find(at - 1, 1), None);
        let short = Block::new(Some(&heap), 100).unwrap();
        assert_eq!(heap.find(short.as_ptr().addr(), 1), None);
    }

    #[test]
    fn too_much_is_refused_before_it_is_taken() {
        let (_, heap) = heap();
        for len in [isize::MAX as usize - 100, 1 << 50] {
            let error = Block::new(Some(&heap), len).unwrap_err().to_string();
            assert!(error.contains(&format!("{len} bytes")), "{error}");
        }
    }

    #[test]
    fn another_file_under_the_same_number_is_refused() {
        let (node, heap) = heap();
        let _block = Block::new(Some(&heap), page_size()).unwrap();
        let (fd, inode) = node.heap(0).unwrap();
        node.set_heap(0, fd, inode + 1);
        assert!(PeerHeap::open(&node, 0).is_err());
        let file = File::open("/proc/self/exe").unwrap();
        node.set_heap(0, file.as_raw_fd() as u32, file.metadata().unwrap().ino());
        assert!(PeerHeap::open(&node, 0).is_err());
    }

    #[test]
    fn a_file_that_took_the_number_of_ours_is_left_alone() {
        let (_node, heap) = heap();
        let block = Block::new(Some(&heap), 2 * page_size()).unwrap();
        let fd = heap.file(&mut heap.ranges()).unwrap();
        // SAFETY: system calls; the number names another file from now on, as if a program had closed and opened.
        let other = unsafe { File::from(OwnedFd::from_raw_fd(libc::memfd_create(c"other".as_ptr(), 0))) };
        other.write_all_at(&vec![7; 2 * page_size()], 0).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::dup2(other.as_raw_fd(), fd) }, fd);
        drop(block);
        assert!(matches!(Block::new(Some(&heap), page_size()).unwrap().home, Home::Process(_)));
        drop(heap);
        let mut bytes = vec![0; 2 * page_size()];
        other.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 7));
        // SAFETY: as above.
        assert_eq!(unsafe { libc::close(fd) }, 0, "it has not been closed");
    }
}
