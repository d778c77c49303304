//! Every limit and tunable: default, environment name, meaning. Read once, at initialisation.
//!
//! The table in docs/settings.md and the list of `posthaste-info` are [`TUNABLES`]. A value that cannot be read is an
//! error that names the variable, what it holds and what was expected; it is never ignored.

mod read;

use posthaste_os::mem::Store;
use posthaste_os::node::VCIS;
use read::{
    bounce_buffer, choice_of_links, choice_of_ways, names, number, ports, renamed, switch, text, word,
};

use crate::error::{Error, ErrorClass, Result};

/// How long messages travel when a setting forces one way (tests do).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongProtocol {
    /// Chosen by rule for each message.
    Auto,
    /// BufferCursor a bounce buffer, both sides copying.
    Stream,
    /// The receiver reads the sender's memory in one copy.
    Get,
    /// The receiver asks, the sender puts in fragments.
    Put,
    /// The sender writes into the receiver's memory in one copy.
    Write,
    /// The first bytes come with the question, the next are written part by part, the last come in fragments.
    Pipeline,
    /// Whoever can reach the other's memory from MPI_Alloc_mem copies.
    Shared,
}

/// BufferCursor what long messages are copied in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BounceBuffer {
    /// What was found out for this processor.
    Auto,
    /// Small buffers, which ranks lend each other.
    Small,
    /// A buffer of so many bytes for each pair of ranks.
    Own(usize),
}

/// What is said of a message in ready mode that came before its receive was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyCheck {
    /// A line on standard error.
    Warn,
    /// The receive fails, though it has got the message.
    Error,
    /// Nothing.
    Off,
}

/// What a failing call does where the program has not said it (MPI-5.0 §9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialHandler {
    /// It ends the job.
    Fatal,
    /// It ends the processes of its communicator.
    Abort,
    /// It returns an error code.
    Return,
}

/// What they are called on the command line of mpiexec (MPI-5.0 §11.5) and in settings.
pub const INITIAL_HANDLERS: [(&str, InitialHandler); 3] = [
    ("mpi_errors_are_fatal", InitialHandler::Fatal),
    ("mpi_errors_abort", InitialHandler::Abort),
    ("mpi_errors_return", InitialHandler::Return),
];

/// The setting that chooses one.
pub const INITIAL_HANDLER: &str = "POSTHASTE_INITIAL_ERRHANDLER";

/// Whether memory that was registered with a network stays registered when its message is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeavePinned {
    /// If the system reports memory that goes away.
    Auto,
    /// Yes: the program gives no memory back that it has sent from or received into.
    On,
    /// No.
    Off,
}

/// A way of messages to other processes that settings may exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Shared memory.
    Shm,
    /// TCP connections.
    Tcp,
    /// A network that libfabric knows.
    Fabric,
    /// A method from a shared object.
    Plugin,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Shm, Self::Tcp, Self::Fabric, Self::Plugin];
    /// Those that may be used unless a setting names others.
    const USUAL: [Self; 2] = [Self::Shm, Self::Tcp];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Tcp => "tcp",
            Self::Fabric => "fabric",
            Self::Plugin => "plugin",
        }
    }

    /// Whether this build has it.
    pub const fn is_built(self) -> bool {
        match self {
            Self::Shm => cfg!(feature = "shm"),
            Self::Tcp => cfg!(feature = "tcp"),
            Self::Fabric => cfg!(feature = "fabric"),
            Self::Plugin => cfg!(feature = "plugin"),
        }
    }
}

/// A link to ranks of other nodes, one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkChoice {
    /// [`Way::Tcp`] or [`Way::Fabric`].
    pub way: Way,
    /// The network interface that TCP uses for it; `None`: those that it may use.
    pub interface: Option<String>,
}

impl std::fmt::Display for LinkChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.way.name())?;
        self.interface.as_ref().map_or(Ok(()), |interface| write!(f, "@{interface}"))
    }
}

/// Some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ways(Vec<Way>);

impl Ways {
    /// Those of `some` that this build has.
    pub fn built(some: &[Way]) -> Self {
        Self(some.iter().copied().filter(|way| way.is_built()).collect())
    }

    /// Whether this one is among them.
    pub fn admit(&self, way: Way) -> bool {
        self.0.contains(&way)
    }
}

impl std::fmt::Display for Ways {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|way| way.name()).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}
/// Most requests at one time: as many as the handles of the first VCI can name, less a reserve for collective operations.
pub const HIGHEST_REQUESTS: usize = (1 << 20) - (1 << 16);

/// The values in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// Longest message sent eagerly, in bytes; cut to what one ring record holds.
    pub eager_limit: usize,
    /// How messages longer than that travel.
    pub long_protocol: LongProtocol,
    /// BufferCursor what long messages are copied in shared memory.
    pub bounce_buffer: BounceBuffer,
    /// How bytes are copied into and out of bounce buffers. `None`: as was found out for this processor.
    pub copy_store: Option<Store>,
    /// Bytes that a side copies before it notifies the other side.
    pub stream_chunk: usize,
    /// Shortest message for a direct copy when the ranks outnumber the CPUs.
    pub get_limit: usize,
    /// Shortest mean piece of a direct copy from or into many pieces, in bytes.
    pub run_limit: usize,
    /// Shortest message that is copied directly from or into memory from MPI_Alloc_mem.
    pub shared_limit: usize,
    /// Shortest data that goes on a board, out of which several ranks of a node copy it.
    pub board_limit: usize,
    /// Most requests at one time.
    pub requests: usize,
    /// Memory that the unexpected messages of one peer may take here, in bytes.
    pub unexpected_bytes: u64,
    /// Time spent spinning before the CPU is given away, in µs, when every rank has a CPU.
    pub spin_us: u32,
    /// Time spent yielding before sleeping, in µs.
    pub yield_us: u32,
    /// Whether several threads may call even if the program has not said so.
    pub threaded: bool,
    /// Most VCIs, among which the communicators of a process with several threads are shared out.
    pub vcis: usize,
    /// Whether a thread of the library keeps transfers going while the program computes.
    pub progress_thread: bool,
    /// Whether windows of memory of the library are mapped by their members where these share a node.
    pub map_windows: bool,
    /// Whether methods that read and write memory of peers by themselves do so for windows.
    pub window_transport: bool,
    /// Whether the first window whose owner does operations for others starts a thread for that.
    pub window_thread: bool,
    /// Most handlers of the program that run inside each other on one thread.
    pub handler_depth: usize,
    /// Whether messages carry their types and receives check them.
    pub check_types: bool,
    /// Whether every committed datatype is shown on stderr.
    pub show_types: bool,
    /// Whether each message is explained on standard error.
    pub explain: bool,
    /// What is said of a message in ready mode that came before its receive was posted.
    pub ready_check: ReadyCheck,
    /// What a failing call does where the program has not said it.
    pub initial_handler: InitialHandler,
    /// Whether memory stays registered with a network.
    pub leave_pinned: LeavePinned,
    /// Most bytes that stay registered.
    pub pinned_bytes: usize,
    /// Shortest message that is registered part by part, where registrations are not cached.
    pub pipeline_limit: usize,
    /// Bytes of a part.
    pub pipeline_part: usize,
    /// Whether what the standard leaves out, and other libraries accept, is refused.
    pub strict: bool,
    /// Ways to other processes that may be used.
    pub methods: Ways,
    /// Links to ranks of other nodes, if there are to be several.
    pub links: Vec<LinkChoice>,
    /// Shortest message that is split over several links, in bytes.
    pub stripe_limit: usize,
    /// The provider of libfabric, and perhaps `@` and its domain. `None`: the best one.
    pub fabric_provider: Option<String>,
    /// The file that holds libfabric. `None`: where the system looks.
    pub fabric_library: Option<String>,
    /// The shared object of the method `plugin`: a path, or a word in its file name.
    pub plugin: Option<String>,
    /// Seed of the simulated device of the tests; 0: there is none.
    pub simulated_device: u64,
    /// What this process's node is called; ranks with the same name share memory. `None`: found out.
    pub node: Option<String>,
    /// First and last port that TCP may listen on; 0 is any.
    pub tcp_ports: (u16, u16),
    /// Interfaces that TCP may use, by name; `^` in front excludes them, and none named means all.
    pub tcp_interfaces: String,
    /// The system's buffers of a TCP connection for each direction, in bytes; 0 leaves them to the system.
    pub tcp_buffer: usize,
    /// Longest message sent eagerly over TCP, in bytes; beyond what a record holds only from where it lies.
    pub tcp_eager_limit: usize,
    /// Time for an address of a peer to take a TCP connection, in s.
    pub tcp_connect_s: u32,
    /// Time for the other side of `MPI_Comm_connect` to accept, in s.
    pub connect_s: u32,
    /// The folder in which names of services are published. `None`: the user's own on this host.
    pub names: Option<String>,
    /// Time after which a peer whose system does not answer is given up, in s.
    pub tcp_dead_s: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            eager_limit: 4 << 10,
            long_protocol: LongProtocol::Auto,
            bounce_buffer: BounceBuffer::Auto,
            copy_store: None,
            stream_chunk: 8 << 10,
            get_limit: 256 << 10,
            run_limit: 4 << 10,
            shared_limit: 16 << 10,
            board_limit: 64 << 10,
            requests: HIGHEST_REQUESTS,
            unexpected_bytes: 16 << 20,
            spin_us: 50,
            yield_us: 1000,
            threaded: false,
            vcis: VCIS,
            progress_thread: false,
            map_windows: true,
            window_transport: true,
            window_thread: true,
            handler_depth: 32,
            check_types: false,
            show_types: false,
            explain: false,
            ready_check: ReadyCheck::Warn,
            initial_handler: InitialHandler::Fatal,
            leave_pinned: LeavePinned::Auto,
            pinned_bytes: 1 << 30,
            pipeline_limit: 256 << 10,
            pipeline_part: 256 << 10,
            strict: false,
            methods: Ways::built(&Way::USUAL),
            links: Vec::new(),
            stripe_limit: 128 << 10,
            fabric_provider: None,
            fabric_library: None,
            plugin: None,
            simulated_device: 0,
            node: None,
            tcp_ports: (0, 0),
            tcp_interfaces: String::new(),
            tcp_buffer: 0,
            tcp_eager_limit: 256 << 10,
            tcp_connect_s: 20,
            connect_s: 180,
            names: None,
            tcp_dead_s: 20,
        }
    }
}

/// One setting, as users see it in `posthaste-info` and in docs/settings.md.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Environment variable.
    pub name: &'static str,
    /// What holds while it is not set: a value, or in parentheses what takes the place of one.
    pub default: &'static str,
    /// What it does, as Markdown; a page is named by its path, as in `docs/hosts.md`.
    pub meaning: &'static str,
}

/// All settings.
pub const TUNABLES: &[Tunable] = &[
    Tunable {
        name: "POSTHASTE_EAGER_LIMIT",
        default: "4096",
        meaning: "longest message sent eagerly, in bytes (at most 1 GiB); cut to what one record of a ring \
                  holds (docs/settings.md#shared-memory)",
    },
    Tunable {
        name: "POSTHASTE_LONG_PROTOCOL",
        default: "auto",
        meaning: "how longer messages travel: `auto`, `stream` (bounce buffer, both sides copy), `get` (direct \
                  copy: by the receiver, or by the sender where only the sent data lies in pieces), `put` \
                  (fragments), `write` (direct copy by the sender), `pipeline` (by the sender, part by part, \
                  for networks that want memory registered), `shared` (one copy from or into memory from \
                  MPI_Alloc_mem). A message for which this way is not possible is asked for, and goes when the \
                  receiver grants it; see docs/protocols.md",
    },
    Tunable {
        name: "POSTHASTE_BOUNCE_BUFFER",
        default: "auto",
        meaning: "through what long messages are copied between ranks of a node: `auto`, what was found out \
                  for this processor, where each rank has a CPU \
                  (docs/settings.md#how-long-messages-are-copied); `small`, buffers that ranks lend each \
                  other; a number (16384 to 1073741824), the bytes of a buffer for each ordered pair of ranks, \
                  cut to twice the second-level cache (1 to 4 MiB), as long as there are some",
    },
    Tunable {
        name: "POSTHASTE_COPY_STORE",
        default: "auto",
        meaning: "how bytes are copied into and out of bounce buffers: `auto`, as was found out for this \
                  processor; `plain`, as the C library copies; `streaming`, into them with stores that go past \
                  the caches; `string`, by the processor's string instruction. Other processors than x86-64 \
                  have neither and copy as `plain`",
    },
    Tunable {
        name: "POSTHASTE_STREAM_CHUNK",
        default: "8192",
        meaning: "bytes that the sender copies into a bounce buffer before it notifies the receiver (64 to 1 GiB); \
                  pieces grow to four times that in a long message; a message of up to two chunks is copied in \
                  whole; cut to half a bounce buffer",
    },
    Tunable {
        name: "POSTHASTE_GET_LIMIT",
        default: "262144",
        meaning: "shortest message for the direct copy where ranks outnumber CPUs, in bytes",
    },
    Tunable {
        name: "POSTHASTE_RUN_LIMIT",
        default: "4096",
        meaning: "data in pieces that are shorter than this on average, in bytes, goes through a bounce buffer \
                  and not by a direct copy: the kernel takes longer over many short pieces than two copies \
                  through the cache",
    },
    Tunable {
        name: "POSTHASTE_SHARED_LIMIT",
        default: "16384",
        meaning: "shortest message that is copied directly from or into memory from MPI_Alloc_mem, in bytes",
    },
    Tunable {
        name: "POSTHASTE_BOARD_LIMIT",
        default: "65536",
        meaning: "shortest data of a collective operation, in bytes, that a rank copies once into memory \
                  from which several ranks of its node copy it, where ranks outnumber CPUs; a process \
                  keeps 8 MiB of such memory at most",
    },
    Tunable {
        name: "POSTHASTE_REQUESTS",
        default: "983040",
        meaning: "most requests at one time (64 to 983040; in a VCI other than the first at most 122880). A \
                  message, persistent or generalized request beyond it is refused with MPI_ERR_NO_MEM; the \
                  requests of collective operations and of the creation of communicators may go beyond it, by \
                  65536 at least, because the other ranks count on them",
    },
    Tunable {
        name: "POSTHASTE_UNEXPECTED_BYTES",
        default: "16777216",
        meaning: "memory that the messages of one peer may take at a receiver before they are received, in \
                  bytes, in each VCI; each counts 256 for its envelope. A peer that sends more is throttled \
                  until half of them have been received; at most one ring full of further messages \
                  comes late, over TCP what the system's buffers hold (docs/tcp.md). Nothing is lost or \
                  reordered, and a receive or probe for a throttled message finds it; a blocking send waits, \
                  so a program that relies on buffering (unsafe by MPI-5.0 §3.5) needs a budget to match. Once \
                  a peer's messages have taken more for two seconds, a line on stderr, one for each peer, \
                  names it, the communicator's context and the tag; `mpiexec -counters` has `peers.throttled` \
                  and `messages.sought`",
    },
    Tunable {
        name: "POSTHASTE_SPIN_US",
        default: "50",
        meaning: "time spent spinning before the CPU is given away, in µs, where every rank has a CPU; where \
                  ranks share CPUs nobody spins",
    },
    Tunable {
        name: "POSTHASTE_YIELD_US",
        default: "1000",
        meaning: "time spent yielding before sleeping, in µs",
    },
    Tunable {
        name: "POSTHASTE_THREADED",
        default: "0",
        meaning: "1: several threads may call, and communicators have VCIs, even if the program asks for less \
                  than MPI_THREAD_MULTIPLE. For programs that call from several threads without having said \
                  so; the level that MPI_Init_thread provides stays what was asked for",
    },
    Tunable {
        name: "POSTHASTE_VCIS",
        default: "8",
        meaning: "most VCIs (1 to 8) among which the communicators that a process with MPI_THREAD_MULTIPLE \
                  makes are shared out, so that threads on different ones do not wait for each other. 1: all \
                  share one. Only jobs on one node have more than one; with 17 ranks or more there are 4, with \
                  65 or more 2. Each takes as much memory as the node segment once a communicator uses it, 2 \
                  MiB with 2 ranks, 33 MiB with 64",
    },
    Tunable {
        name: "POSTHASTE_PROGRESS_THREAD",
        default: "0",
        meaning: "1: a thread of the library keeps transfers going while the program computes. It sleeps while \
                  there is nothing to do, and looks around less and less often while the program itself is \
                  inside the library",
    },
    Tunable {
        name: "POSTHASTE_MAP_WINDOWS",
        default: "1",
        meaning: "0: memory of windows is not mapped by members that share a node: puts and gets go by direct copies \
                  of the system, all other accesses to the owner of the memory, as between nodes; \
                  MPI_Win_allocate_shared fails",
    },
    Tunable {
        name: "POSTHASTE_WINDOW_TRANSPORT",
        default: "1",
        meaning: "0: memory of a window that is not mapped by all members is not read and written by the system or \
                  the network: every access goes to its owner",
    },
    Tunable {
        name: "POSTHASTE_WINDOW_THREAD",
        default: "1",
        meaning: "0: what others ask of a window that is not mapped by all members waits until its owner calls MPI. \
                  Otherwise the first such window with other members starts a thread of the library, which serves \
                  them while the owner computes or sleeps, and calls no function of the program",
    },
    Tunable {
        name: "POSTHASTE_HANDLER_DEPTH",
        default: "32",
        meaning: "most handlers of requests (1 to 1024) that run inside each other on one thread: a handler that \
                  waits runs others that are due. Those beyond run when one of them returns",
    },
    Tunable {
        name: "POSTHASTE_CHECK_TYPES",
        default: "0",
        meaning: "1: every point-to-point message carries a hash of its type signature, and so does each of a \
                  collective operation that goes straight out of the program's memory; a receive into it whose \
                  types are others fails with MPI_ERR_TYPE and a sentence that names both sides; the data \
                  arrives all the same. Types are compared by the names of their basic types as MPI-5.0 §3.3.1 \
                  wants (`MPI_INT` is not `MPI_INT32_T`), a pair type counts as its two, and `MPI_PACKED` \
                  matches everything. For finding mistakes: short messages take the general way",
    },
    Tunable {
        name: "POSTHASTE_SHOW_TYPES",
        default: "0",
        meaning: "1: a line on stderr shows what each datatype became when it is committed: name or \
                  constructor, size, bounds, number and mean length of its contiguous runs, and the layout, in \
                  which `@16 100 x +64 (8)` is 100 runs of 8 bytes, 64 bytes apart, the first one at offset 16",
    },
    Tunable {
        name: "POSTHASTE_EXPLAIN",
        default: "0",
        meaning: "1: each message is explained by a line of its sender and one of its receiver on stderr, see \
                  docs/hangs.md. The fast paths are off then",
    },
    Tunable {
        name: "POSTHASTE_READY_CHECK",
        default: "warn",
        meaning: "what is said of a message sent in ready mode that came before its receive was posted, and is \
                  delivered all the same: `warn`, a line on stderr with both ranks, tag and communicator, once \
                  for each; `error`, the receive fails with MPI_ERR_OTHER and the same sentence; `off`, \
                  nothing. The counter `messages.ready.early` counts them in any case",
    },
    Tunable {
        name: INITIAL_HANDLER,
        default: "mpi_errors_are_fatal",
        meaning: "the error handler of every communicator until the program sets another one, and of calls \
                  before MPI_Init and after MPI_Finalize: `mpi_errors_are_fatal`, `mpi_errors_abort` or \
                  `mpi_errors_return`. `mpiexec -initial-errhandler` sets it",
    },
    Tunable {
        name: "POSTHASTE_STRICT",
        default: "0",
        meaning: "1: what MPI-5.0 does not define, and other libraries accept, is refused. The list is in \
                  docs/strict.md",
    },
    Tunable {
        name: "POSTHASTE_METHODS",
        default: "shm,tcp",
        meaning: "ways to other processes that may be used: a list of `shm`, `tcp`, `fabric` and `plugin`, or \
                  `^` and a list of those of `shm` and `tcp` that may not. Each pair of ranks takes the first \
                  that reaches; the same for all ranks. See docs/hosts.md",
    },
    Tunable {
        name: "POSTHASTE_NODE",
        default: "(found out)",
        meaning: "name of the node that a rank is on (up to 64 letters, digits, `.`, `-`, `_`): ranks with the \
                  same name share memory, others reach each other over the network. Set for all ranks or for \
                  none",
    },
    Tunable {
        name: "POSTHASTE_LINKS",
        default: "",
        meaning: "several links to each rank of another node, side by side: a list of 2 to 4 of `tcp`, \
                  `tcp@interface` and `fabric`, such as `tcp@eth0,tcp@eth1`, as many and of the same kinds for \
                  all ranks; they take the place of `tcp` and `fabric` in POSTHASTE_METHODS. Long messages are \
                  split over them, and the others stand in for one that fails; see docs/links.md. Empty: one \
                  link",
    },
    Tunable {
        name: "POSTHASTE_STRIPE_LIMIT",
        default: "131072",
        meaning: "shortest message that is split over several links, in bytes (at least 1); the shortest part \
                  is a quarter of that",
    },
    Tunable {
        name: "POSTHASTE_FABRIC_PROVIDER",
        default: "(the best one)",
        meaning: "libfabric's provider for the method `fabric`: a name (`tcp`, `shm`, `verbs`), or name and \
                  domain, which is a network interface or a device (`verbs@mlx5_0`); the same for all ranks. \
                  See docs/fabric.md",
    },
    Tunable {
        name: "POSTHASTE_FABRIC_LIBRARY",
        default: "(libfabric.so.1)",
        meaning: "the file that holds libfabric; the dynamic linker looks for a bare name",
    },
    Tunable {
        name: "POSTHASTE_PLUGIN",
        default: "(none)",
        meaning: "the shared object for the method `plugin`: a path, or a word, where `unix` means \
                  `libposthaste_unix.so`, which the dynamic linker looks for; the same for all ranks. See \
                  docs/plugins.md",
    },
    Tunable {
        name: "POSTHASTE_SIMULATED_DEVICE",
        default: "0",
        meaning: "for tests only: not 0, the seed of a simulated device. Buffers whose addresses have bit 52 \
                  set are in its memory; copies out of it and into it wait and end in any order",
    },
    Tunable {
        name: "POSTHASTE_LEAVE_PINNED",
        default: "auto",
        meaning: "whether memory that was registered with a network stays so for the next message: `auto`, if \
                  the kernel reports memory that goes away; `on`, always (the program gives no memory back \
                  that it has sent from or received into); `off`, never",
    },
    Tunable {
        name: "POSTHASTE_PINNED_BYTES",
        default: "1073741824",
        meaning: "most bytes that stay registered with a network; beyond, what was used longest ago goes",
    },
    Tunable {
        name: "POSTHASTE_PIPELINE_LIMIT",
        default: "262144",
        meaning: "shortest message that is registered with a network part by part, in bytes, where \
                  registrations are not cached",
    },
    Tunable {
        name: "POSTHASTE_PIPELINE_PART",
        default: "262144",
        meaning: "bytes of such a part (64 to 1 GiB)",
    },
    Tunable {
        name: "POSTHASTE_TCP_PORTS",
        default: "0",
        meaning: "port on which a rank listens for ranks of other nodes, or `first-last`: the first free one \
                  is taken; 0 is any",
    },
    Tunable {
        name: "POSTHASTE_TCP_INTERFACES",
        default: "",
        meaning: "names of the network interfaces whose addresses are published to other ranks, with commas \
                  between; `^` in front: all but these. Usually not needed: all addresses of a peer are tried \
                  at once, and the first that answers with a proof is used. Empty: all",
    },
    Tunable {
        name: "POSTHASTE_TCP_BUFFER",
        default: "0",
        meaning: "the system's buffers of a TCP connection for each direction, in bytes (at most 1 GiB); 0 \
                  leaves them to the system, which lets them grow",
    },
    Tunable {
        name: "POSTHASTE_TCP_EAGER_LIMIT",
        default: "262144",
        meaning: "longest message sent eagerly to another node, in bytes (at most 1 GiB; cut to 16 MiB). \
                  Beyond 16 KiB only with POSTHASTE_LONG_PROTOCOL=auto, and if the data need not be converted \
                  and lies in pieces of 512 bytes or more on average: it leaves from where it lies. \
                  POSTHASTE_EAGER_LIMIT is for the own node",
    },
    Tunable {
        name: "POSTHASTE_TCP_CONNECT_S",
        default: "20",
        meaning: "time for an address of a rank to take a TCP connection, in s (1 to 3600); when none does, \
                  the rank counts as down",
    },
    Tunable {
        name: "POSTHASTE_CONNECT_S",
        default: "180",
        meaning: "time for another job to accept what MPI_Comm_connect asks for, in s (1 to 86400); the info key timeout of a \
                  call goes before it. MPI_Comm_accept and MPI_Comm_join wait for ever unless they have that key",
    },
    Tunable {
        name: "POSTHASTE_NAMES",
        default: "(the user's)",
        meaning: "the folder in which MPI_Publish_name leaves its names, the same for all jobs that are to find each other: on \
                  several hosts, one that they share. The user's: /tmp/posthaste-UID",
    },
    Tunable {
        name: "POSTHASTE_TCP_DEAD_S",
        default: "20",
        meaning: "time after which a rank whose system does not answer is given up, in s (2 to 86400). A rank \
                  that is busy and does not read, or is stopped, still has a system that answers. Over \
                  libfabric, half of it is the longest silence before a peer is looked after (docs/fabric.md)",
    },
];

impl Config {
    /// Defaults overridden by what `lookup` finds (the environment, in a real process).
    ///
    /// # Errors
    /// When a variable holds something that cannot be read.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let lookup = |name: &str| renamed(&lookup, name);
        let mut config = Self::default();
        number(&lookup, "POSTHASTE_EAGER_LIMIT", 0..=1 << 30, &mut config.eager_limit)?;
        bounce_buffer(&lookup, "POSTHASTE_BOUNCE_BUFFER", &mut config.bounce_buffer)?;
        let [plain, streaming, string] = Store::NAMES.map(|(name, store)| (name, Some(store)));
        let stores = [("auto", None), plain, streaming, string];
        word(&lookup, "POSTHASTE_COPY_STORE", &stores, &mut config.copy_store)?;
        number(&lookup, "POSTHASTE_STREAM_CHUNK", 64..=1 << 30, &mut config.stream_chunk)?;
        number(&lookup, "POSTHASTE_GET_LIMIT", 0..=usize::MAX, &mut config.get_limit)?;
        number(&lookup, "POSTHASTE_RUN_LIMIT", 0..=usize::MAX, &mut config.run_limit)?;
        number(&lookup, "POSTHASTE_SHARED_LIMIT", 0..=usize::MAX, &mut config.shared_limit)?;
        number(&lookup, "POSTHASTE_BOARD_LIMIT", 0..=usize::MAX, &mut config.board_limit)?;
        number(&lookup, "POSTHASTE_REQUESTS", 64..=HIGHEST_REQUESTS, &mut config.requests)?;
        number(&lookup, "POSTHASTE_UNEXPECTED_BYTES", 0..=1 << 40, &mut config.unexpected_bytes)?;
        number(&lookup, "POSTHASTE_SPIN_US", 0..=1_000_000_000, &mut config.spin_us)?;
        number(&lookup, "POSTHASTE_YIELD_US", 0..=1_000_000_000, &mut config.yield_us)?;
        switch(&lookup, "POSTHASTE_THREADED", &mut config.threaded)?;
        number(&lookup, "POSTHASTE_VCIS", 1..=VCIS, &mut config.vcis)?;
        switch(&lookup, "POSTHASTE_PROGRESS_THREAD", &mut config.progress_thread)?;
        switch(&lookup, "POSTHASTE_MAP_WINDOWS", &mut config.map_windows)?;
        switch(&lookup, "POSTHASTE_WINDOW_TRANSPORT", &mut config.window_transport)?;
        switch(&lookup, "POSTHASTE_WINDOW_THREAD", &mut config.window_thread)?;
        number(&lookup, "POSTHASTE_HANDLER_DEPTH", 1..=1024, &mut config.handler_depth)?;
        switch(&lookup, "POSTHASTE_CHECK_TYPES", &mut config.check_types)?;
        switch(&lookup, "POSTHASTE_SHOW_TYPES", &mut config.show_types)?;
        switch(&lookup, "POSTHASTE_EXPLAIN", &mut config.explain)?;
        let ways = [
            ("auto", LongProtocol::Auto),
            ("stream", LongProtocol::Stream),
            ("get", LongProtocol::Get),
            ("put", LongProtocol::Put),
            ("write", LongProtocol::Write),
            ("pipeline", LongProtocol::Pipeline),
            ("shared", LongProtocol::Shared),
        ];
        word(&lookup, "POSTHASTE_LONG_PROTOCOL", &ways, &mut config.long_protocol)?;
        let checks = [("warn", ReadyCheck::Warn), ("error", ReadyCheck::Error), ("off", ReadyCheck::Off)];
        word(&lookup, "POSTHASTE_READY_CHECK", &checks, &mut config.ready_check)?;
        word(&lookup, INITIAL_HANDLER, &INITIAL_HANDLERS, &mut config.initial_handler)?;
        switch(&lookup, "POSTHASTE_STRICT", &mut config.strict)?;
        let leaves = [("auto", LeavePinned::Auto), ("on", LeavePinned::On), ("off", LeavePinned::Off)];
        word(&lookup, "POSTHASTE_LEAVE_PINNED", &leaves, &mut config.leave_pinned)?;
        number(&lookup, "POSTHASTE_PIPELINE_LIMIT", 0..=usize::MAX, &mut config.pipeline_limit)?;
        number(&lookup, "POSTHASTE_PIPELINE_PART", 64..=1 << 30, &mut config.pipeline_part)?;
        number(&lookup, "POSTHASTE_PINNED_BYTES", 0..=usize::MAX, &mut config.pinned_bytes)?;
        choice_of_ways(&lookup, "POSTHASTE_METHODS", &mut config.methods)?;
        choice_of_links(&lookup, "POSTHASTE_LINKS", &mut config.links)?;
        number(&lookup, "POSTHASTE_STRIPE_LIMIT", 1..=usize::MAX, &mut config.stripe_limit)?;
        text(&lookup, "POSTHASTE_FABRIC_PROVIDER", "the name of a provider", &mut config.fabric_provider)?;
        text(&lookup, "POSTHASTE_FABRIC_LIBRARY", "the name of a file", &mut config.fabric_library)?;
        text(&lookup, "POSTHASTE_PLUGIN", "a path or a name", &mut config.plugin)?;
        number(&lookup, "POSTHASTE_SIMULATED_DEVICE", 0..=u64::MAX, &mut config.simulated_device)?;
        config.node = lookup("POSTHASTE_NODE").filter(|name| !name.is_empty());
        if let Some(name) = config.node.as_deref().filter(|name| !is_node_name(name)) {
            let expected = "1 to 64 letters, digits, dots, hyphens and underscores";
            return Err(Error::invalid(ErrorClass::Arg, "POSTHASTE_NODE", format!("\"{name}\""), expected));
        }
        ports(&lookup, "POSTHASTE_TCP_PORTS", &mut config.tcp_ports)?;
        names(&lookup, "POSTHASTE_TCP_INTERFACES", &mut config.tcp_interfaces)?;
        number(&lookup, "POSTHASTE_TCP_BUFFER", 0..=1 << 30, &mut config.tcp_buffer)?;
        number(&lookup, "POSTHASTE_TCP_EAGER_LIMIT", 0..=1 << 30, &mut config.tcp_eager_limit)?;
        number(&lookup, "POSTHASTE_TCP_CONNECT_S", 1..=3600, &mut config.tcp_connect_s)?;
        number(&lookup, "POSTHASTE_CONNECT_S", 1..=86400, &mut config.connect_s)?;
        text(&lookup, "POSTHASTE_NAMES", "a folder", &mut config.names)?;
        number(&lookup, "POSTHASTE_TCP_DEAD_S", 2..=86400, &mut config.tcp_dead_s)?;
        Ok(config)
    }

    /// Whether TCP may use the network interface of this name.
    pub fn admits_interface(&self, name: &str) -> bool {
        let wanted = &self.tcp_interfaces;
        let named = |list: &str| list.split(',').any(|one| one == name);
        wanted.is_empty() || wanted.strip_prefix('^').map_or_else(|| named(wanted), |list| !named(list))
    }
}

fn is_node_name(name: &str) -> bool {
    name.len() <= 64 && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b".-_".contains(&letter))
}

impl Config {
    /// The provider of libfabric and its domain, as far as the settings say.
    pub fn fabric_wanted(&self) -> (Option<&str>, Option<&str>) {
        let text = self.fabric_provider.as_deref();
        let split = text.and_then(|text| text.split_once('@'));
        split.map_or((text, None), |(provider, domain)| (Some(provider), Some(domain)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_override_defaults_and_nonsense_is_named() {
        let set = |name: &'static str, value: &'static str| {
            Config::read(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(set("POSTHASTE_EAGER_LIMIT", "100").unwrap().eager_limit, 100);
        assert_eq!(set("POSTHASTE_LONG_PROTOCOL", "get").unwrap().long_protocol, LongProtocol::Get);
        let error = set("POSTHASTE_SPIN_US", "soon").unwrap_err().to_string();
        assert_eq!(error, "POSTHASTE_SPIN_US is \"soon\", expected a number in 0..=1000000000");
        assert!(set("POSTHASTE_LONG_PROTOCOL", "fast").is_err());
        assert_eq!(set("POSTHASTE_BOUNCE_BUFFER", "65536").unwrap().bounce_buffer, BounceBuffer::Own(65536));
        assert_eq!(set("POSTHASTE_BOUNCE_BUFFER", "small").unwrap().bounce_buffer, BounceBuffer::Small);
        let error = set("POSTHASTE_BOUNCE_BUFFER", "1").unwrap_err().to_string();
        assert!(error.ends_with("expected auto, small, or a number in 16384..=1073741824"), "{error}");
        assert_eq!(set("POSTHASTE_TCP_PORTS", "5000-5010").unwrap().tcp_ports, (5000, 5010));
        assert_eq!(set("POSTHASTE_TCP_PORTS", "7").unwrap().tcp_ports, (7, 7));
        for wrong in ["9-8", "0-5", "70000", "1-2-3"] {
            assert!(set("POSTHASTE_TCP_PORTS", wrong).is_err(), "{wrong}");
        }
        let all_but = set("POSTHASTE_TCP_INTERFACES", "^lo,eth0.5").unwrap();
        assert_eq!(["lo", "eth0", "eth0.5"].map(|name| all_but.admits_interface(name)), [false, true, false]);
        assert!(Config::default().admits_interface("lo"));
        assert!(set("POSTHASTE_TCP_INTERFACES", "a,,b").is_err());
    }

    #[test]
    fn lists_choose_or_leave_out() {
        let set = |name: &'static str, value: &'static str| {
            Config::read(move |asked| (asked == name).then(|| value.to_owned()))
        };
        let methods = |value| set("POSTHASTE_METHODS", value).map(|config| config.methods.to_string()).ok();
        let shown = |text: &str| Some(text.to_owned());
        assert_eq!(methods("tcp"), shown("tcp"));
        assert_eq!(methods("tcp, shm"), shown("shm,tcp"));
        assert_eq!(methods("^shm"), shown("tcp"));
        assert_eq!(methods("fabric,shm"), shown("shm,fabric"));
        assert_eq!(methods("^tcp,shm"), shown("none"));
        assert_eq!(
            [methods(""), methods("^"), methods("tcp,"), methods("ethernet")],
            [None, None, None, None]
        );
        let error = set("POSTHASTE_METHODS", "ethernet").unwrap_err().to_string();
        let expected = "expected a list of shm, tcp, fabric, plugin, or ^ and a list of those to be left out";
        assert_eq!(error, format!("POSTHASTE_METHODS is \"ethernet\", {expected}"));
        let links = |value| set("POSTHASTE_LINKS", value).map(|config| config.links);
        let shown =
            |value| -> Vec<String> { links(value).unwrap().iter().map(ToString::to_string).collect() };
        assert_eq!(shown("tcp@eth0, fabric,tcp"), ["tcp@eth0", "fabric", "tcp"]);
        assert!(shown("").is_empty());
        for wrong in ["tcp", "tcp,", "tcp,shm", "tcp@,tcp", "fabric@eth0,tcp", "tcp,tcp,tcp,tcp,tcp"] {
            let error = links(wrong).unwrap_err().to_string();
            assert!(error.ends_with("expected a list of 2 to 4 of tcp, tcp@interface and fabric"), "{error}");
        }
        assert_eq!(set("POSTHASTE_NODE", "").unwrap().node, None);
        assert!(set("POSTHASTE_NODE", "a b").is_err());
    }

    #[test]
    fn a_setting_is_found_under_the_name_that_it_had_before() {
        for (new, old) in read::RENAMED {
            assert!(TUNABLES.iter().any(|tunable| tunable.name == new), "{new}");
            assert!(Config::read(|asked| (asked == old).then(|| "?".to_owned())).is_err(), "{old}");
        }
        let both = |asked: &str| match asked {
            "POSTHASTE_VCIS" => Some("2".to_owned()),
            "POSTHASTE_LANES" => Some("4".to_owned()),
            _ => None,
        };
        assert_eq!(Config::read(both).unwrap().vcis, 2);
    }

    #[test]
    fn every_tunable_is_read() {
        for tunable in TUNABLES {
            let error = Config::read(|asked| (asked == tunable.name).then(|| "?".to_owned()));
            assert!(error.is_err(), "{} is listed but not read", tunable.name);
        }
    }

    #[test]
    fn every_setting_is_listed_once_with_its_default() {
        let asked = std::cell::RefCell::new(Vec::new());
        Config::read(|name| {
            asked.borrow_mut().push(name.to_owned());
            None
        })
        .unwrap();
        let mut read = asked.into_inner();
        read.retain(|name| !read::RENAMED.iter().any(|(_, old)| old == name));
        let mut listed: Vec<&str> = TUNABLES.iter().map(|tunable| tunable.name).collect();
        read.sort_unstable();
        listed.sort_unstable();
        assert_eq!(read, listed);
        let unset = format!("{:?}", Config::default());
        for Tunable { name, default, .. } in TUNABLES.iter().filter(|one| !one.default.starts_with('(')) {
            let set = Config::read(|asked| (asked == *name).then(|| (*default).to_owned())).unwrap();
            assert_eq!(format!("{set:?}"), unset, "{name} is not {default} by default");
        }
    }
}
