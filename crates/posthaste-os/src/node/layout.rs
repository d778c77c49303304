//! What lies where in a node segment: a pure function of the number of ranks, and of whether CPUs are shared.

/// First word of every node segment.
pub(super) const MAGIC: u64 = 0x7073_7468_7374_0007;
/// First word of a segment of two processes of different jobs.
pub(super) const PAIR_MAGIC: u64 = 0x7073_7468_7061_0005;
pub(super) const PAGE: usize = 4096;
pub(super) const LINE: usize = 64;
pub(super) const RANK_BLOCK: usize = 1024;
/// Where the header keeps the format of data that all ranks share.
pub(super) const FORMAT: usize = 12;
/// Where the header keeps which methods all ranks use.
pub(super) const METHODS: usize = 16;
/// Where the header keeps the number of ranks of the whole job.
pub(super) const WORLD: usize = 20;
/// Where the header keeps how many VCIs there are.
pub(super) const VCIS_AT: usize = 24;
/// Where the header keeps how many own bounce buffers there may be, …
pub(super) const OWN_BUFFERS: usize = 28;
/// … how many bytes each has, …
pub(super) const OWN_BUFFER_BYTES: usize = 32;
/// … and how many have been taken.
pub(super) const OWN_TAKEN: usize = 36;
/// Where the header keeps what is known of copying on this processor.
pub(super) const COPYING: usize = 40;
/// Where the header keeps whether there were fewer CPUs than ranks.
pub(super) const CROWDED: usize = 48;
/// Where the header keeps how many losses the launcher has announced, and those, 8 bytes each.
pub(super) const LOSSES: usize = 64;
pub(super) const LOSSES_AT: usize = 128;
/// Most of them.
pub(super) const MOST_LOSSES: usize = (PAGE - LOSSES_AT) / 8;
/// Most VCIs of a process.
pub const VCIS: usize = 8;
/// Where the block of a rank keeps what: the only list, so that no two things share a place. The first line is what
/// senders read after each message.
pub(super) mod block {
    pub(in crate::node) const SLEEPING: usize = 0;
    pub(in crate::node) const FUTEX: usize = 4;
    pub(in crate::node) const ACTIVE: usize = 8; // 48 bytes
    pub(in crate::node) const LIFE: usize = 64;
    pub(in crate::node) const PID: usize = 68;
    pub(in crate::node) const PROBE: usize = 72; // 8 bytes
    pub(in crate::node) const PIPE: usize = 80;
    pub(in crate::node) const PIPE_OUT_OF_REACH: usize = 84;
    pub(in crate::node) const PIPE_INODE: usize = 88; // 8 bytes
    pub(in crate::node) const RANK_OF_JOB: usize = 96;
    pub(in crate::node) const HEAP: usize = 100;
    pub(in crate::node) const HEAP_INODE: usize = 104; // 8 bytes
    pub(in crate::node) const NAMESPACE: usize = 112; // 8 bytes
    pub(in crate::node) const COUNTS: usize = 128; // 768 bytes
}
/// Bytes of the status page on which a rank says what it waits for.
pub(super) const STATUS_PAGE: usize = 2 * PAGE;
/// Words of the active-ring bitmap; source `s` uses bit `s % ACTIVE_BITS`.
pub const ACTIVE_WORDS: usize = 6;
/// Number of distinct bits in the active-ring bitmap.
pub const ACTIVE_BITS: usize = ACTIVE_WORDS * 64;
/// Number of counters per rank.
pub const COUNTERS: usize = 96;

/// Cells of a ring of two processes of different jobs.
pub const PAIR_CELLS: usize = 256;

/// Own bounce buffers of two such processes: one for each direction.
pub(super) const PAIR_OWN_BUFFERS: usize = 2;

/// Places and sizes within the segment, a pure function of the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) ranks: usize,
    pub(super) ring_cells: usize,
    pub(super) buffers: usize,
    pub(super) buffer_bytes: usize,
    pub(super) status_pages: usize,
    pub(super) heads: usize,
    pub(super) cells: usize,
    pub(super) pool: usize,
    /// Bytes up to the end of the first VCI.
    pub(super) total: usize,
    /// VCIs that there is a place for.
    pub(super) vcis: usize,
    /// There are fewer CPUs than ranks.
    pub(super) crowded: bool,
    /// Own bounce buffers that there is a place for.
    pub(super) own_buffers: usize,
    pub(super) own_buffer_bytes: usize,
}

/// Control lines in front of an own bounce buffer: a page, so that what follows begins at one.
pub(crate) const OWN_BUFFER_CONTROL: usize = PAGE;

/// Control lines in front of each bounce buffer: one the sender writes, one the receiver writes.
pub(crate) const BUFFER_CONTROL: usize = 2 * LINE;

impl Layout {
    pub(super) fn new(ranks: usize, crowded: bool) -> Self {
        // 64 ranks in an all-to-all have to fit into 64 MiB, so rings shrink as the number of pairs grows.
        let ring_cells = match ranks {
            0..=16 => 256,
            17..=32 => 128,
            33..=64 => 64,
            65..=128 => 32,
            _ => 16,
        };
        // Where CPUs are shared, rather many that are small than few that are large: a sender that finds none waits until the receiver
        // has matched its message, and either of them is given a CPU once more for that.
        let (buffers, buffer_bytes) = match (ranks, crowded) {
            (0..=4, _) => (8, 128 << 10),
            (6..=16, true) => (ranks + 1, 64 << 10),
            (5..=16, _) => (8, 64 << 10),
            (17..=32, true) => (34, 16 << 10),
            (33..=64, true) => (34, 8 << 10),
            (17..=64, false) => (4, 64 << 10),
            _ => (2, 32 << 10),
        };
        let vcis = match ranks {
            0..=16 => VCIS,
            17..=64 => 4,
            _ => 2,
        };
        Self { crowded, ..Self::sized(ranks, ring_cells, (buffers, buffer_bytes), vcis) }
    }

    /// Of two processes of different jobs: little, for a process may have many such segments.
    pub(super) fn pair() -> Self {
        Self::sized(2, PAIR_CELLS, (4, 64 << 10), 1)
    }

    fn sized(ranks: usize, ring_cells: usize, (buffers, buffer_bytes): (usize, usize), vcis: usize) -> Self {
        let page_up = |n: usize| n.next_multiple_of(PAGE);
        let status_pages = PAGE + page_up(ranks * RANK_BLOCK);
        let heads = status_pages + ranks * STATUS_PAGE;
        let cells = heads + page_up(ranks * ranks * LINE);
        let pool = cells + page_up(ranks * ranks * ring_cells * LINE);
        let total = pool + ranks * page_up(LINE + buffers * (BUFFER_CONTROL + buffer_bytes));
        let (own_buffers, own_buffer_bytes) = (0, 0);
        Self {
            ranks,
            ring_cells,
            buffers,
            buffer_bytes,
            status_pages,
            heads,
            cells,
            pool,
            total,
            vcis,
            crowded: false,
            own_buffers,
            own_buffer_bytes,
        }
    }

    /// Bytes of the bitmaps of active rings of a further VCI.
    pub(super) fn actives(&self) -> usize {
        (self.ranks * LINE).next_multiple_of(PAGE)
    }

    /// Bytes of a further VCI.
    pub(super) fn vci(&self) -> usize {
        self.actives() + self.total - self.heads
    }

    /// Where a further VCI begins.
    pub(super) fn vci_at(&self, vci: usize) -> usize {
        self.total + (vci - 1) * self.vci()
    }

    /// Bytes of the segment with all its VCIs: what every rank maps.
    pub(super) fn whole(&self) -> usize {
        self.total + (self.vcis - 1) * self.vci()
    }

    /// Where an own bounce buffer begins.
    pub(super) fn own_buffer_at(&self, number: usize) -> usize {
        self.whole() + number * (OWN_BUFFER_CONTROL + self.own_buffer_bytes)
    }

    /// Bytes of the file.
    pub(super) fn file(&self) -> usize {
        self.own_buffer_at(self.own_buffers)
    }
}
