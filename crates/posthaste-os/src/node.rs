//! The node segment: the memory that the ranks of one host and their launcher share.
//!
//! Made by the launcher (or by the first rank under a foreign launcher) as a memfd, inherited or attached by
//! descriptor. What must stay true: every shared word has one writer or is claimed by an atomic operation; all memory
//! is reserved at creation, so that a full system is an error here and never SIGBUS later; fresh memory is zero and
//! zero is a valid state of everything.
//!
//! ```text
//! header | rank blocks | status pages | ring heads (to, from) | ring cells (to, from) | bounce buffers (to) | further VCIs | own
//! bounce buffers
//! a further VCI: active rings (to) | ring heads (to, from) | ring cells (to, from) | bounce buffers (to)
//! ```
//!
//! A VCI has rings and bounce buffers of its own; everything else is there once. The memory of the first VCI is reserved
//! at creation, that of a further one when somebody is about to use it ([`Node::reserve_vci`]). An own bounce buffer, one of
//! a pair of ranks alone, is reserved by the pair's sender and mapped by the two (`take_own_buffer`).

mod blocks;
mod layout;
mod own;

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(not(loom))]
use crate::status_page::StatusPage;
use crate::sync::Mutex;
pub use blocks::Life;
use layout::*;
pub use layout::{ACTIVE_BITS, ACTIVE_WORDS, COUNTERS, PAIR_CELLS, VCIS};
pub(crate) use layout::{BUFFER_CONTROL, OWN_BUFFER_CONTROL};
pub(crate) use own::OwnBuffer;

/// The two ends of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum End {
    /// Where records are written.
    Writer,
    /// Where they are read.
    Reader,
}

/// The file of a pair's segment keeps its size: a process of another job cannot take memory away that is mapped here.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// A segment of at most so many bytes gets its pages when it is mapped: no page faults on the message path.
const MOST_AT_ONCE: usize = 4 << 20;

/// What a segment says of its size, and its file.
struct Header {
    file_size: u64,
    ranks: usize,
    vcis: usize,
    crowded: bool,
    own_buffers: usize,
    own_buffer_bytes: usize,
}

#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    layout: Layout,
    fd: OwnedFd,
    /// Ends of rings that exist in this process, by VCI: there is never a second one of any.
    ends: Mutex<HashSet<(usize, End, usize, usize)>>,
    /// Pipes of ranks that were to be woken, where the system lets us open them.
    pipes: Mutex<HashMap<usize, Option<std::fs::File>>>,
}

// SAFETY: the mapping is plain memory; all shared words are reached as atomics, payload through `Source` and
// `Sink`, whose exclusive use the ring and pool protocols arrange.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` and the length are those of the successful `mmap` in `Node::map`; no view outlives the
        // `Arc` that holds this value.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.layout.whole()) };
    }
}

/// The node segment, mapped, with one of its VCIs. Clones share the mapping.
#[derive(Clone, Debug)]
pub struct Node {
    map: Arc<Mapping>,
    vci: usize,
    /// How much further behind the rings and bounce buffers of the VCI are than those of the first one.
    shift: usize,
    /// The bitmap of rings towards the first rank, and the bytes from there to the next rank's.
    actives: (usize, usize),
}

impl Node {
    /// Makes the segment for `ranks` ranks with a CPU each, and reserves all of its memory.
    ///
    /// # Errors
    /// What the system said, with the number of bytes needed.
    pub fn create(ranks: usize) -> io::Result<Self> {
        Self::create_on(ranks, ranks)
    }

    /// The same where they have so many CPUs together.
    ///
    /// # Errors
    /// As [`Node::create`].
    pub fn create_on(ranks: usize, cpus: usize) -> io::Result<Self> {
        let layout = Layout::new(ranks, ranks > cpus);
        Self::reserve(file(0, layout)?, layout, MAGIC)
    }

    /// Makes the segment of two processes of different jobs, which never changes its size, with places for own bounce buffers
    /// of so many bytes; 0: with none.
    ///
    /// # Errors
    /// As [`Node::create`].
    pub fn create_pair(own_buffer_bytes: usize) -> io::Result<Self> {
        let layout = Layout::pair();
        let fd = file(libc::MFD_ALLOW_SEALING, layout)?;
        let own_buffers = if own_buffer_bytes > 0 { PAIR_OWN_BUFFERS } else { 0 };
        let node = Self::reserve(fd, layout, PAIR_MAGIC)?.with_own_buffers(own_buffer_bytes, own_buffers);
        // SAFETY: a plain system call on a descriptor that `node` owns.
        let refused = unsafe { libc::fcntl(node.as_fd().as_raw_fd(), libc::F_ADD_SEALS, SEALS) };
        if refused == 0 { Ok(node) } else { Err(io::Error::last_os_error()) }
    }

    /// Maps the segment that the other of two such processes has made.
    ///
    /// # Errors
    /// When the descriptor is none of a segment like that, or cannot be mapped.
    pub fn attach_pair(fd: OwnedFd) -> io::Result<Self> {
        // SAFETY: a plain system call on a descriptor that we own.
        let seals = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) };
        if seals < 0 || seals & SEALS != SEALS {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its size may change"));
        }
        let Header { file_size, own_buffers, own_buffer_bytes, .. } = Self::header(&fd, PAIR_MAGIC)?;
        let is_pair = own_buffers <= PAIR_OWN_BUFFERS && own_buffer_bytes.is_multiple_of(PAGE);
        let layout = Layout { own_buffers, own_buffer_bytes, ..Layout::pair() };
        if !is_pair || file_size != layout.file() as u64 {
            let why = format!("not a segment of two processes of this version ({file_size} bytes)");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Self::map(fd, layout)
    }

    /// What names the file of the segment on this host.
    ///
    /// # Errors
    /// What the system said.
    pub fn inode(&self) -> io::Result<u64> {
        Ok(std::fs::File::from(self.as_fd().try_clone_to_owned()?).metadata()?.ino())
    }

    /// Whether both are the same mapping.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.map, &other.map)
    }

    fn reserve(fd: OwnedFd, mut layout: Layout, magic: u64) -> io::Result<Self> {
        let limit = file_size_limit();
        if limit < layout.whole() as u64 {
            layout.vcis = 1;
        }
        if limit < layout.total as u64 {
            // The kernel would end the process with SIGXFSZ instead of answering.
            let why = format!("the limit on the size of a file (ulimit -f) is {} KiB", limit >> 10);
            return Err(needed(io::Error::other(why), layout.total));
        }
        allocate(fd.as_fd(), 0, layout.total).map_err(|why| needed(why, layout.total))?;
        std::fs::File::from(fd.try_clone()?)
            .set_len(layout.whole() as u64)
            .map_err(|why| needed(why, layout.whole()))?;
        let node = Self::map(fd, layout)?;
        node.word32(8).store(layout.ranks as u32, Ordering::Relaxed);
        node.word32(VCIS_AT).store(layout.vcis as u32, Ordering::Relaxed);
        node.word32(CROWDED).store(layout.crowded.into(), Ordering::Relaxed);
        // SYNC: pairs with the Acquire load in `attach`: whoever sees the magic sees the rank count.
        node.word64(0).store(magic, Ordering::Release);
        Ok(node)
    }

    /// Maps a segment that somebody else made.
    ///
    /// # Errors
    /// When the descriptor is not a node segment or cannot be mapped.
    pub fn attach(fd: OwnedFd) -> io::Result<Self> {
        // The header says how many ranks there are, which says how large the segment is.
        let Header { file_size, ranks, vcis, crowded, own_buffers, own_buffer_bytes } =
            Self::header(&fd, MAGIC)?;
        let layout = Layout { vcis, own_buffers, own_buffer_bytes, ..Layout::new(ranks, crowded) };
        if ranks == 0 || !(1..=VCIS).contains(&vcis) || file_size != layout.file() as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("not a node segment of this version ({file_size} bytes, {ranks} ranks)"),
            ));
        }
        Self::map(fd, layout)
    }

    /// What the header of a segment says, which begins with this word; zeros where something else does.
    fn header(fd: &OwnedFd, magic: u64) -> io::Result<Header> {
        let header = Self::map(fd.try_clone()?, Layout { total: PAGE, vcis: 1, ..Layout::new(0, false) })?;
        let file_size = std::fs::File::from(fd.try_clone()?).metadata()?.len();
        let said = |at| header.word32(at).load(Ordering::Relaxed) as usize;
        // Nothing is read of a file that is shorter than its header: that would end the process.
        // SYNC: pairs with the Release store in `reserve`.
        let is_one = file_size >= PAGE as u64 && header.word64(0).load(Ordering::Acquire) == magic;
        let at = [8, VCIS_AT, CROWDED, OWN_BUFFERS, OWN_BUFFER_BYTES];
        let [ranks, vcis, crowded, own_buffers, own_buffer_bytes] =
            if is_one { at.map(said) } else { [0; 5] };
        Ok(Header { file_size, ranks, vcis, crowded: crowded > 0, own_buffers, own_buffer_bytes })
    }

    fn map(fd: OwnedFd, layout: Layout) -> io::Result<Self> {
        let map = |at: *mut libc::c_void, bytes: usize, flags: libc::c_int| {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a fresh shared mapping at an address of the kernel's choice, or over the first part of one.
            let base = unsafe { libc::mmap(at, bytes, access, libc::MAP_SHARED | flags, fd.as_raw_fd(), 0) };
            let failed = base == libc::MAP_FAILED;
            if failed { Err(needed(io::Error::last_os_error(), bytes)) } else { Ok(base) }
        };
        let base = map(std::ptr::null_mut(), layout.whole(), 0)?;
        if layout.total <= MOST_AT_ONCE {
            map(base, layout.total, libc::MAP_FIXED | libc::MAP_POPULATE)?;
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        let map = Arc::new(Mapping { base, layout, fd, ends: Mutex::default(), pipes: Mutex::default() });
        Ok(Self { map, vci: 0, shift: 0, actives: (PAGE + block::ACTIVE, RANK_BLOCK) })
    }

    /// Number of VCIs that there is a place for.
    pub fn vcis(&self) -> usize {
        self.map.layout.vcis
    }

    /// The segment with another VCI, whose memory somebody must have reserved before anybody writes there.
    ///
    /// # Panics
    /// When there is no such VCI.
    #[must_use]
    pub fn with_vci(&self, vci: usize) -> Self {
        let layout = &self.map.layout;
        assert!(vci < layout.vcis, "VCI {vci} of {}", layout.vcis);
        let map = self.map.clone();
        if vci == 0 {
            return Self { map, vci, shift: 0, actives: (PAGE + block::ACTIVE, RANK_BLOCK) };
        }
        let at = layout.vci_at(vci);
        Self { map, vci, shift: at + layout.actives() - layout.heads, actives: (at, LINE) }
    }

    /// Reserves the memory of a VCI; done again it does nothing.
    ///
    /// # Errors
    /// What the system said; there may be no such VCI.
    pub fn reserve_vci(&self, vci: usize) -> io::Result<()> {
        let layout = &self.map.layout;
        match vci {
            0 => Ok(()),
            _ if vci < layout.vcis => {
                let (at, bytes) = (layout.vci_at(vci), layout.vci());
                allocate(self.as_fd(), at, bytes).map_err(|why| needed(why, bytes))
            }
            _ => Err(io::Error::other(format!("VCI {vci} of {}", layout.vcis))),
        }
    }

    /// Makes what belongs to `rank` what it was when the segment was new: its block but for the counters, and what leads to it in
    /// the first VCI; rank 0 does so with what belongs to all, and gives back the memory of further VCIs and of own bounce buffers.
    /// Every rank does this while nobody has rings or buffers in the segment.
    ///
    /// # Errors
    /// What the system said to memory that is given back.
    pub fn clear(&self, rank: usize) -> io::Result<()> {
        let layout = &self.map.layout;
        for at in (0..block::COUNTS).step_by(8) {
            self.word64(self.block(rank) + at).store(0, Ordering::Relaxed);
        }
        let first = self.with_vci(0);
        let zero = |at: *mut u8, bytes: usize| {
            // SAFETY: whole lines that the layout gives to this rank; nobody else uses them now.
            unsafe { std::ptr::write_bytes(at, 0, bytes) }
        };
        zero(self.at(layout.heads + self.pair(rank, 0) * LINE), layout.ranks * LINE);
        zero(first.ring_base(rank, 0), layout.ranks * layout.ring_cells * LINE);
        first.buffers_taken(rank).store(0, Ordering::Relaxed);
        (0..layout.buffers).for_each(|index| zero(first.buffer_base(rank, index), BUFFER_CONTROL));
        if rank > 0 {
            return Ok(());
        }
        [FORMAT, METHODS, WORLD, OWN_TAKEN]
            .iter()
            .for_each(|at| self.word32(*at).store(0, Ordering::Relaxed));
        give_back(self.as_fd(), layout.total, layout.file() - layout.total)
    }

    /// The descriptor, to be inherited by ranks.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.fd.as_fd()
    }

    /// Number of ranks on this host.
    #[inline]
    pub fn ranks(&self) -> usize {
        self.map.layout.ranks
    }

    /// The word a sleeper of `rank` sets before it sleeps; senders read it after each message.
    #[inline(always)]
    pub(crate) fn sleeping(&self, rank: usize) -> &AtomicU32 {
        self.word32(self.block(rank) + block::SLEEPING)
    }

    /// The futex word of `rank`.
    #[inline]
    pub(crate) fn futex(&self, rank: usize) -> &AtomicU32 {
        self.word32(self.block(rank) + block::FUTEX)
    }

    /// Which rings towards `rank` have been written since it last cleared them.
    #[inline(always)]
    pub(crate) fn active(&self, rank: usize) -> &[AtomicU64; ACTIVE_WORDS] {
        let ranks = self.map.layout.ranks;
        assert!(rank < ranks, "rank {rank} of {ranks}");
        let (first, stride) = self.actives;
        // SAFETY: within the rank's block or line, 8-byte aligned, only reached as atomics.
        unsafe { &*self.at(first + rank * stride).cast() }
    }

    /// Takes one end of a ring for this process.
    ///
    /// # Panics
    /// When it is taken.
    pub(crate) fn take_end(&self, end: End, to: usize, from: usize) {
        let is_new = self.map.ends.with(|ends| ends.insert((self.vci, end, to, from)));
        assert!(is_new, "a second {end:?} of the ring from {from} to {to}");
    }

    /// Cells of one ring; a power of two.
    #[inline]
    pub(crate) fn ring_cells(&self) -> usize {
        self.map.layout.ring_cells
    }

    /// The word in which the reader of the ring (`to`, `from`) says how many cells it is done with.
    pub(crate) fn ring_head(&self, to: usize, from: usize) -> &AtomicU64 {
        self.word64(self.shift + self.map.layout.heads + self.pair(to, from) * LINE)
    }

    /// First cell of the ring (`to`, `from`).
    pub(crate) fn ring_base(&self, to: usize, from: usize) -> *mut u8 {
        let layout = &self.map.layout;
        self.at(self.shift + layout.cells + self.pair(to, from) * layout.ring_cells * LINE)
    }

    /// Number of bounce buffers per receiver.
    pub(crate) fn buffers(&self) -> usize {
        self.map.layout.buffers
    }

    /// Bytes in each bounce buffer.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.map.layout.buffer_bytes
    }

    /// Bitmap of the bounce buffers of receiver `to` that are taken.
    pub(crate) fn buffers_taken(&self, to: usize) -> &AtomicU64 {
        self.word64(self.pool_at(to))
    }

    /// Control lines and data of bounce buffer `index` of receiver `to`.
    pub(crate) fn buffer_base(&self, to: usize, index: usize) -> *mut u8 {
        let layout = &self.map.layout;
        assert!(index < layout.buffers, "bounce buffer {index} of {}", layout.buffers);
        self.at(self.pool_at(to) + LINE + index * (BUFFER_CONTROL + layout.buffer_bytes))
    }

    fn pool_at(&self, to: usize) -> usize {
        let layout = &self.map.layout;
        assert!(to < layout.ranks, "rank {to} of {}", layout.ranks);
        let stride = (layout.total - layout.pool) / layout.ranks;
        self.shift + layout.pool + to * stride
    }

    fn pair(&self, to: usize, from: usize) -> usize {
        let ranks = self.map.layout.ranks;
        assert!(to < ranks && from < ranks, "pair ({to}, {from}) of {ranks} ranks");
        to * ranks + from
    }

    #[inline(always)]
    fn block(&self, rank: usize) -> usize {
        assert!(rank < self.map.layout.ranks, "rank {rank} of {}", self.map.layout.ranks);
        PAGE + rank * RANK_BLOCK
    }

    #[inline(always)]
    fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.map.layout.whole());
        // SAFETY: every caller derives `offset` from `Layout`, inside the mapping.
        unsafe { self.map.base.as_ptr().add(offset) }
    }

    #[inline(always)]
    fn word32(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: in the mapping (see `at`), 4-byte aligned by layout, only reached as an atomic.
        unsafe { &*self.at(offset).cast() }
    }

    #[inline(always)]
    fn word64(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: in the mapping (see `at`), 8-byte aligned by layout, only reached as an atomic.
        unsafe { &*self.at(offset).cast() }
    }
}

/// A new file for a segment.
fn file(flags: libc::c_uint, layout: Layout) -> io::Result<OwnedFd> {
    // SAFETY: a C string; the call makes a new descriptor that nobody else owns.
    let fd = unsafe { libc::memfd_create(c"posthaste".as_ptr(), libc::MFD_CLOEXEC | flags) };
    if fd < 0 {
        return Err(needed(io::Error::last_os_error(), layout.total));
    }
    // SAFETY: `fd` is the fresh descriptor from above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The largest file that this process may make (`RLIMIT_FSIZE`), in bytes.
pub(crate) fn file_size_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a place for the answer; without one it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur
}

/// Reserves memory for a part of a file.
fn allocate(fd: BorrowedFd<'_>, at: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: a plain system call on a descriptor that the caller has.
    let refused = unsafe { libc::fallocate(fd.as_raw_fd(), 0, at as libc::off_t, bytes as libc::off_t) };
    if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives the memory of a part of a file back; what is read there afterwards is zero.
fn give_back(fd: BorrowedFd<'_>, at: usize, bytes: usize) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: a plain system call on a descriptor that the caller has.
    let refused = unsafe { libc::fallocate(fd.as_raw_fd(), how, at as libc::off_t, bytes as libc::off_t) };
    if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn needed(error: io::Error, bytes: usize) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("shared memory for the ranks of this host: {} KiB needed: {error}", bytes >> 10),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool;

    #[test]
    fn sixty_four_ranks_fit_into_64_mib() {
        for (ranks, most) in [(64, 64 << 20), (6, MOST_AT_ONCE), (2, MOST_AT_ONCE)] {
            let needed = [false, true].map(|crowded| Layout::new(ranks, crowded).total);
            assert!(needed.iter().all(|bytes| *bytes <= most), "{ranks} ranks need {needed:?} bytes");
        }
        for ranks in [2, 8, 16, 32, 64, 300] {
            let node = Node::create_on(ranks, 2).unwrap();
            let other = Node::attach(node.as_fd().try_clone_to_owned().unwrap()).unwrap();
            assert_eq!((other.buffers(), other.buffer_bytes()), (node.buffers(), node.buffer_bytes()));
            let is_crowd = (6..=32).contains(&ranks);
            assert!(
                !is_crowd || pool::suffice_for_all(&node),
                "{ranks} ranks have {} buffers",
                node.buffers()
            );
        }
    }

    #[test]
    fn a_pair_of_two_jobs_has_a_segment_that_keeps_its_size() {
        let a = Node::create_pair(1 << 20).unwrap();
        assert!(a.map.layout.total <= 1 << 20, "{}", a.map.layout.total);
        let again = |node: &Node| node.as_fd().try_clone_to_owned().unwrap();
        let b = Node::attach_pair(again(&a)).unwrap();
        a.set_life(1, Life::Inside);
        assert_eq!(
            (b.ranks(), b.vcis(), b.life(1), b.inode().unwrap()),
            (2, 1, Life::Inside, a.inode().unwrap())
        );
        assert!(a.is(&a.clone()) && !a.is(&b));
        assert!(std::fs::File::from(again(&a)).set_len(0).is_err(), "it was cut short");
        assert!(
            Node::attach(again(&a)).is_err() && Node::attach_pair(again(&Node::create(2).unwrap())).is_err()
        );
        let taken = [a.take_own_buffer(1 << 20), b.take_own_buffer(1 << 20), a.take_own_buffer(1 << 20)];
        assert_eq!(taken, [Some(0), Some(1), None], "one for each direction");
        assert!(a.own_buffer(1).is_some() && b.own_buffer(0).is_some() && b.own_buffer(2).is_none());
    }

    #[test]
    fn a_pair_that_says_what_is_not_so_is_refused() {
        let attach = |node: &Node| Node::attach_pair(node.as_fd().try_clone_to_owned().unwrap());
        let plain = Node::create_pair(0).unwrap();
        assert_eq!(attach(&plain).unwrap().own_buffers(), 0);
        for (at, said) in
            [(OWN_BUFFERS, 3), (OWN_BUFFERS, u32::MAX), (OWN_BUFFER_BYTES, 1), (OWN_BUFFER_BYTES, 1 << 31)]
        {
            let node = Node::create_pair(1 << 16).unwrap();
            node.word32(at).store(said, Ordering::Relaxed);
            assert!(attach(&node).is_err(), "{at}: {said}");
        }
    }

    #[test]
    fn what_one_mapping_writes_the_other_reads() {
        let a = Node::create(3).unwrap();
        let b = Node::attach(a.as_fd().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!((b.ranks(), b.life(2), b.world_rank(2), b.world_size()), (3, Life::Absent, None, None));
        a.set_world_rank(2, 0, 9);
        assert_eq!(b.world_size(), Some(9));
        assert_eq!((b.world_rank(2), b.agree_on_methods(5), a.agree_on_methods(6)), (Some(0), 5, 5));
        a.set_life(2, Life::Inside);
        a.counters(1)[63].store(7, Ordering::Relaxed);
        assert_eq!((b.life(2), b.counters(1)[63].load(Ordering::Relaxed)), (Life::Inside, 7));
        a.status_page(1).write(&[7; STATUS_PAGE]);
        let published = |rank| b.status_page(rank).read().unwrap().len();
        assert_eq!((published(0), published(1), published(2)), (0, a.status_page(1).room(), 0));
    }

    #[test]
    fn vcis_lie_apart_and_inside() {
        let node = Node::create(3).unwrap();
        assert_eq!(node.vcis(), VCIS);
        let end = |node: &Node| node.buffer_base(2, node.buffers() - 1) as usize;
        let mut last = end(&node);
        for vci in 1..VCIS {
            node.reserve_vci(vci).unwrap();
            node.reserve_vci(vci).unwrap();
            let own = node.with_vci(vci);
            let first = own.active(0).as_ptr() as usize;
            assert!(
                first >= last + BUFFER_CONTROL + node.buffer_bytes(),
                "VCI {vci} begins inside the one before"
            );
            assert!(own.active(2).as_ptr() as usize + LINE <= own.ring_head(0, 0) as *const _ as usize);
            own.active(1)[0].store(vci as u64, Ordering::Relaxed);
            own.ring_head(2, 2).store(vci as u64, Ordering::Relaxed);
            last = end(&own);
        }
        let (base, whole) = (node.map.base.as_ptr() as usize, node.map.layout.whole());
        assert!(last + BUFFER_CONTROL + node.buffer_bytes() <= base + whole);
        let other = Node::attach(node.as_fd().try_clone_to_owned().unwrap()).unwrap();
        for vci in 1..VCIS {
            let own = other.with_vci(vci);
            assert_eq!(own.active(1)[0].load(Ordering::Relaxed), vci as u64);
            assert_eq!(own.ring_head(2, 2).load(Ordering::Relaxed), vci as u64);
            assert_eq!(own.sleeping(1) as *const AtomicU32, other.sleeping(1) as *const AtomicU32);
        }
        assert_eq!(other.active(1)[0].load(Ordering::Relaxed), 0);
        assert!(node.reserve_vci(VCIS).is_err());
    }

    #[test]
    fn what_is_cleared_is_as_in_a_new_segment() {
        use std::os::unix::fs::FileExt;
        let node = Node::create(3).unwrap().with_own_buffers(1 << 16, 4);
        let layout = node.map.layout;
        let file = std::fs::File::from(node.as_fd().try_clone_to_owned().unwrap());
        file.write_all_at(&vec![0xaa; layout.file() - PAGE], PAGE as u64).unwrap();
        let marks = [FORMAT, METHODS, WORLD, OWN_TAKEN, COPYING];
        marks.iter().for_each(|at| node.word32(*at).store(5, Ordering::Relaxed));
        let again = Node::attach(node.as_fd().try_clone_to_owned().unwrap()).unwrap();
        (0..3).for_each(|rank| again.clear(rank).unwrap());
        assert_eq!(marks.map(|at| again.word32(at).load(Ordering::Relaxed)), [0, 0, 0, 0, 5]);
        assert_eq!((again.ranks(), again.vcis(), again.own_buffers()), (3, VCIS, 4));
        let mut bytes = vec![0; layout.file()];
        file.read_exact_at(&mut bytes, 0).unwrap();
        let zero = |from: usize, len: usize| bytes[from..from + len].iter().all(|byte| *byte == 0);
        for rank in 0..3 {
            assert!(zero(again.block(rank), block::COUNTS), "the block of rank {rank}");
            assert_eq!(bytes[again.block(rank) + block::COUNTS], 0xaa, "counters go on");
            assert_eq!(again.buffers_taken(rank).load(Ordering::Relaxed), 0);
            let base = again.map.base.as_ptr().addr();
            let buffers = (0..layout.buffers).map(|index| again.buffer_base(rank, index).addr() - base);
            assert!(buffers.into_iter().all(|at| zero(at, BUFFER_CONTROL)), "buffers of rank {rank}");
        }
        assert!(zero(layout.heads, 9 * LINE) && zero(layout.cells, 9 * layout.ring_cells * LINE), "rings");
        assert!(zero(layout.total, layout.file() - layout.total), "further VCIs and own bounce buffers");
    }

    #[test]
    fn anything_else_is_refused() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(Node::attach(file.into()).is_err());
        let path = std::env::temp_dir().join(format!("posthaste-empty-{}", std::process::id()));
        let file = std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path);
        assert!(Node::attach(file.unwrap().into()).is_err());
        std::fs::remove_file(path).unwrap();
    }
}
