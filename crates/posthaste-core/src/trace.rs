//! Counters that say what the engine did: messages and bytes by protocol and method.
//!
//! The rooms of the message path write them with plain adds; `mpiexec -counters` shows them, and tests prove by them
//! that a forced path ran. The counters live in the node segment, where the launcher reads them without the rank's
//! help.

macro_rules! counters {
    ($($name:ident = $text:literal;)*) => {
        /// One counter; the discriminant is its place in the shared block.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter { $(#[doc = $text] $name,)* }

        /// Names of the counters, by place.
        pub const COUNTERS: &[&str] = &[$($text,)*];
    };
}

counters! {
    EagerShm = "messages.eager.shm";
    EagerShmBytes = "bytes.eager.shm";
    StreamShm = "messages.stream.shm";
    StreamShmBytes = "bytes.stream.shm";
    GetShm = "messages.get.shm";
    GetShmBytes = "bytes.get.shm";
    PutShm = "messages.put.shm";
    PutShmBytes = "bytes.put.shm";
    WriteShm = "messages.write.shm";
    WriteShmBytes = "bytes.write.shm";
    PipelineShm = "messages.pipeline.shm";
    PipelineShmBytes = "bytes.pipeline.shm";
    EagerTcp = "messages.eager.tcp";
    EagerTcpBytes = "bytes.eager.tcp";
    PutTcp = "messages.put.tcp";
    PutTcpBytes = "bytes.put.tcp";
    EagerFabric = "messages.eager.fabric";
    EagerFabricBytes = "bytes.eager.fabric";
    GetFabric = "messages.get.fabric";
    GetFabricBytes = "bytes.get.fabric";
    PutFabric = "messages.put.fabric";
    PutFabricBytes = "bytes.put.fabric";
    WriteFabric = "messages.write.fabric";
    WriteFabricBytes = "bytes.write.fabric";
    PipelineFabric = "messages.pipeline.fabric";
    PipelineFabricBytes = "bytes.pipeline.fabric";
    SharedShm = "messages.shared.shm";
    SharedShmBytes = "bytes.shared.shm";
    EagerPlugin = "messages.eager.plugin";
    EagerPluginBytes = "bytes.eager.plugin";
    PutPlugin = "messages.put.plugin";
    PutPluginBytes = "bytes.put.plugin";
    EagerLoopback = "messages.eager.loopback";
    EagerLoopbackBytes = "bytes.eager.loopback";
    GetLoopback = "messages.get.loopback";
    GetLoopbackBytes = "bytes.get.loopback";
    EagerLinks = "messages.eager.links";
    EagerLinksBytes = "bytes.eager.links";
    PutLinks = "messages.put.links";
    PutLinksBytes = "bytes.put.links";
    Link1Bytes = "bytes.link1";
    Link2Bytes = "bytes.link2";
    Link3Bytes = "bytes.link3";
    Link4Bytes = "bytes.link4";
    LinksDown = "links.down";
    Resent = "packets.resent";
    ResentBytes = "bytes.resent";
    Gathered = "packets.gathered";
    Unexpected = "messages.unexpected";
    UnexpectedBytes = "bytes.unexpected";
    CollectiveDelivered = "bytes.collective.delivered";
    CollectiveCopied = "bytes.collective.copied";
    EarlyReady = "messages.ready.early";
    Pending = "messages.pending";
    Throttled = "peers.throttled";
    Sought = "messages.sought";
    OneSidedTransfers = "onesided.transfers";
    OneSidedChanges = "onesided.changes";
    Layouts = "onesided.layouts";
    StalePackets = "packets.stale";
    MalformedPackets = "packets.malformed";
    ConnectionsMade = "connections.made";
    ConnectionsRefused = "connections.refused";
    PeersDown = "peers.down";
    Revoked = "communicators.revoked";
    Agreements = "agreements";
    Yields = "wait.yields";
    Sleeps = "wait.sleeps";
    Wakes = "wait.wakes";
}

/// The counters of one engine: counted here, shown to the launcher by [`Counts::publish`].
#[derive(Debug, Clone)]
pub struct Counts {
    values: [u64; posthaste_os::node::COUNTERS],
}

impl Default for Counts {
    fn default() -> Self {
        Self { values: [0; posthaste_os::node::COUNTERS] }
    }
}

const _: () = assert!(COUNTERS.len() <= posthaste_os::node::COUNTERS);

impl Counts {
    /// Counts one more.
    #[inline]
    pub fn add(&mut self, counter: Counter, n: u64) {
        self.values[counter as usize] += n;
    }

    /// Counts a message and its bytes; `counter` is the messages' one, its bytes follow it.
    #[inline]
    pub fn message(&mut self, counter: Counter, bytes: u64) {
        self.values[counter as usize] += 1;
        self.values[counter as usize + 1] += bytes;
    }

    /// The value of a counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.values[counter as usize]
    }

    /// Adds what another part of the engine counted.
    pub fn merge(&mut self, other: &Self) {
        for (to, from) in self.values.iter_mut().zip(&other.values) {
            *to += from;
        }
    }

    /// Adds the counters to what the launcher reads: those of all openings of the engine.
    pub fn publish(&self, shared: &[std::sync::atomic::AtomicU64]) {
        for (to, from) in shared.iter().zip(&self.values) {
            to.fetch_add(*from, std::sync::atomic::Ordering::Relaxed);
        }
    }
}
