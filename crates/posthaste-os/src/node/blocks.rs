//! The words of a node segment outside the rings: what each rank says of itself in its block, and what all of them share in the
//! header. Each has one writer, or is set once by whoever comes first.

use std::ops::Range;

use super::*;

/// The bit that says so in an announced loss; no rank has a number like that.
const WHOLE_HOST: u32 = 1 << 31;

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Life {
    /// Not initialised (or not a message-passing program at all).
    Absent = 0,
    /// Between initialisation and finalisation.
    Inside = 1,
    /// Finalised.
    Finalised = 2,
    /// Asked for the job's end.
    Aborted = 3,
}

impl Node {
    /// How far `rank` has come.
    pub fn life(&self, rank: usize) -> Life {
        match self.word32(self.block(rank) + block::LIFE).load(Ordering::Acquire) {
            1 => Life::Inside,
            2 => Life::Finalised,
            3 => Life::Aborted,
            _ => Life::Absent,
        }
    }

    /// Says how far `rank` has come; only that rank says it.
    pub fn set_life(&self, rank: usize, life: Life) {
        self.word32(self.block(rank) + block::LIFE).store(life as u32, Ordering::Release);
    }

    /// Process id of `rank`, 0 before it attached.
    pub fn pid(&self, rank: usize) -> u32 {
        self.word32(self.block(rank) + block::PID).load(Ordering::Acquire)
    }

    /// Says the process id of `rank`; only that rank says it.
    pub fn set_pid(&self, rank: usize, pid: u32) {
        self.word32(self.block(rank) + block::PID).store(pid, Ordering::Release);
    }

    /// The namespace in which the process id of `rank` is one ([`crate::machine::process_namespace`]).
    pub fn process_namespace(&self, rank: usize) -> u64 {
        self.word64(self.block(rank) + block::NAMESPACE).load(Ordering::Acquire)
    }

    /// Says that namespace; only that rank says it, before it says that it is inside.
    pub fn set_process_namespace(&self, rank: usize, namespace: u64) {
        self.word64(self.block(rank) + block::NAMESPACE).store(namespace, Ordering::Release);
    }

    /// The rank in the whole job of `rank` of this segment; `None` before it attached.
    pub fn world_rank(&self, rank: usize) -> Option<u32> {
        self.word32(self.block(rank) + block::RANK_OF_JOB).load(Ordering::Acquire).checked_sub(1)
    }

    /// Says that `rank` of this segment is rank `world` of a job of `size`. All who say it say the same.
    pub fn set_world_rank(&self, rank: usize, world: u32, size: u32) {
        self.word32(WORLD).store(size, Ordering::Release);
        self.word32(self.block(rank) + block::RANK_OF_JOB).store(world.saturating_add(1), Ordering::Release);
    }

    /// Says that these ranks of the job are lost: their processes have ended, or with `whole_host` their host is out of reach. The
    /// launcher alone says it, and of each rank once. Whether there was room for it.
    pub fn announce_loss(&self, ranks: Range<u32>, whole_host: bool) -> bool {
        let count = self.announced_losses();
        let fits = count < MOST_LOSSES && ranks.end <= WHOLE_HOST;
        if fits {
            let end = ranks.end | if whole_host { WHOLE_HOST } else { 0 };
            let word = u64::from(end) << 32 | u64::from(ranks.start);
            self.word64(LOSSES_AT + 8 * count).store(word, Ordering::Relaxed);
            // SYNC: pairs with the Acquire load in `announced_losses`: whoever sees the number sees the ranks.
            self.word32(LOSSES).store(count as u32 + 1, Ordering::Release);
        }
        fits
    }

    /// How often the launcher has announced a loss.
    #[inline]
    pub fn announced_losses(&self) -> usize {
        (self.word32(LOSSES).load(Ordering::Acquire) as usize).min(MOST_LOSSES)
    }

    /// The ranks of one of these announcements, and whether their whole host is out of reach.
    pub fn announced_loss(&self, index: usize) -> Option<(Range<u32>, bool)> {
        let word = (index < self.announced_losses()).then(|| self.word64(LOSSES_AT + 8 * index));
        let word = word?.load(Ordering::Relaxed);
        let end = (word >> 32) as u32;
        Some((word as u32..end & !WHOLE_HOST, end & WHOLE_HOST != 0))
    }

    /// Number of ranks of the whole job; `None` before the first rank attached.
    pub fn world_size(&self) -> Option<usize> {
        Some(self.word32(WORLD).load(Ordering::Acquire) as usize).filter(|size| *size > 0)
    }

    /// Where `rank` keeps [`crate::peer_copy::PROBE`] in its own memory, 0 before it attached.
    pub fn probe_address(&self, rank: usize) -> u64 {
        self.word64(self.block(rank) + block::PROBE).load(Ordering::Acquire)
    }

    /// Says where the probe word of `rank` is; only that rank says it.
    pub fn set_probe_address(&self, rank: usize, address: u64) {
        self.word64(self.block(rank) + block::PROBE).store(address, Ordering::Release);
    }

    /// Says that `rank` sleeps on a pipe, too, whose writing end has this number there; only that rank says it.
    ///
    /// # Errors
    /// What the system said of the pipe.
    pub(crate) fn set_pipe(&self, rank: usize, writer: BorrowedFd<'_>) -> io::Result<()> {
        let inode = std::fs::File::from(writer.try_clone_to_owned()?).metadata()?.ino();
        self.word32(self.block(rank) + block::PIPE).store(writer.as_raw_fd() as u32, Ordering::Relaxed);
        // SYNC: pairs with the Acquire load in `open_pipe`: whoever sees the pipe's name sees the number.
        self.word64(self.block(rank) + block::PIPE_INODE).store(inode, Ordering::Release);
        Ok(())
    }

    /// Wakes `rank`, which sleeps on its pipe. Where the system does not let us, the rank is asked to sleep for short times
    /// only.
    #[cold]
    pub(crate) fn ring_pipe(&self, rank: usize) {
        self.map.pipes.with(|pipes| match pipes.entry(rank).or_insert_with(|| self.open_pipe(rank)) {
            // A full pipe wakes as well as one more byte would.
            Some(pipe) => drop(pipe.write(&[1])),
            None => self.set_pipe_out_of_reach(rank),
        });
    }

    /// Opens the pipe of `rank`, if what is found under its number is that pipe: process ids and numbers mean something
    /// else in another container.
    fn open_pipe(&self, rank: usize) -> Option<std::fs::File> {
        let inode = self.word64(self.block(rank) + block::PIPE_INODE).load(Ordering::Acquire);
        let number = self.word32(self.block(rank) + block::PIPE).load(Ordering::Relaxed);
        let path = format!("/proc/{}/fd/{number}", self.pid(rank));
        let found = std::fs::metadata(&path).ok()?;
        if inode == 0 || !found.file_type().is_fifo() || found.ino() != inode {
            return None;
        }
        let mut options = std::fs::OpenOptions::new();
        // For reading, too: who writes into a pipe that nobody can read, because the rank has ended, gets a signal that ends it.
        options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path).ok()
    }

    /// Says that somebody cannot ring the pipe of `rank`.
    pub(crate) fn set_pipe_out_of_reach(&self, rank: usize) {
        self.word32(self.block(rank) + block::PIPE_OUT_OF_REACH).store(1, Ordering::Release);
    }

    /// Whether somebody could not ring the pipe of `rank`.
    pub(crate) fn is_pipe_out_of_reach(&self, rank: usize) -> bool {
        self.word32(self.block(rank) + block::PIPE_OUT_OF_REACH).load(Ordering::Acquire) != 0
    }

    /// The file in which `rank` keeps memory that its peers may reach, if it has any: descriptor and inode.
    pub(crate) fn heap(&self, rank: usize) -> Option<(u32, u64)> {
        // SYNC: pairs with the Release store in `set_heap`.
        let fd = self.word32(self.block(rank) + block::HEAP).load(Ordering::Acquire).checked_sub(1)?;
        Some((fd, self.word64(self.block(rank) + block::HEAP_INODE).load(Ordering::Relaxed)))
    }

    /// Whether `rank` has memory that its peers may reach.
    pub fn has_heap(&self, rank: usize) -> bool {
        self.word32(self.block(rank) + block::HEAP).load(Ordering::Relaxed) != 0
    }

    /// Says where that file is; only that rank says it.
    pub(crate) fn set_heap(&self, rank: usize, fd: u32, inode: u64) {
        self.word64(self.block(rank) + block::HEAP_INODE).store(inode, Ordering::Relaxed);
        // SYNC: whoever sees the descriptor sees the inode.
        self.word32(self.block(rank) + block::HEAP).store(fd + 1, Ordering::Release);
    }

    /// Says in which format this process keeps its data, as a word that is not 0, and returns the word of whoever said
    /// it first.
    pub fn agree_on_format(&self, word: u32) -> u32 {
        self.agree(FORMAT, word)
    }

    /// The same for the methods that this process uses.
    pub fn agree_on_methods(&self, word: u32) -> u32 {
        self.agree(METHODS, word)
    }

    fn agree(&self, at: usize, word: u32) -> u32 {
        match self.word32(at).compare_exchange(0, word, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => word,
            Err(first) => first,
        }
    }

    /// Counters of `rank`, written by that rank only; names in `posthaste_core::trace`.
    pub fn counters(&self, rank: usize) -> &[AtomicU64; COUNTERS] {
        let at = self.block(rank) + block::COUNTS;
        // SAFETY: the block lies within the mapping (`block` checks the rank), is 8-byte aligned, and holds
        // 64 words that are only ever reached as atomics.
        unsafe { &*self.at(at).cast() }
    }

    /// The status page on which `rank` says what it waits for; written by that rank only, format in
    /// `posthaste_core::explain`.
    #[cfg(not(loom))]
    pub fn status_page(&self, rank: usize) -> StatusPage<'_> {
        assert!(rank < self.ranks(), "rank {rank} of {}", self.ranks());
        let at = self.at(self.map.layout.status_pages + rank * STATUS_PAGE);
        // SAFETY: the status page lies within the mapping, is 8-byte aligned, and is only ever reached as atomics.
        StatusPage::over(unsafe { std::slice::from_raw_parts(at.cast::<AtomicU64>(), STATUS_PAGE / 8) })
    }

    /// What is known of copying on this processor ([`crate::copying::Copying`]) as a word; 0 before somebody has said it.
    pub fn copying(&self) -> u32 {
        self.word32(COPYING).load(Ordering::Relaxed)
    }

    /// Says it; whoever made the segment does, before anybody else attaches it.
    pub fn set_copying(&self, word: u32) {
        self.word32(COPYING).store(word, Ordering::Relaxed);
    }
}
