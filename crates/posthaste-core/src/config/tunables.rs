//! Every setting as users see it: the table of docs/settings.md and the list of `posthaste-info`.

use crate::config::INITIAL_HANDLER;

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
                  processor; `plain`, by loads and stores of vectors; `streaming`, into them with stores that go \
                  past the caches; `string`, by the processor's string instruction. Other processors than x86-64 \
                  have `plain` alone",
    },
    Tunable {
        name: "POSTHASTE_STREAM_CHUNK",
        default: "8192",
        meaning: "bytes that the sender copies into a bounce buffer before it notifies the receiver (64 to 1 GiB); \
                  cut to half a bounce buffer; pieces grow to four times that in a long message; a message of up to \
                  two chunks is copied in whole, one of up to eight before its send returns, if it is \
                  no longer than a small bounce buffer",
    },
    Tunable {
        name: "POSTHASTE_GET_LIMIT",
        default: "65537",
        meaning: "shortest message for the direct copy where ranks outnumber CPUs, in bytes; shorter ones are copied \
                  so if they are longer than a bounce buffer (of 8192 to 131072 bytes, by the number of ranks), or find \
                  none free",
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
        default: "32768",
        meaning: "shortest data of a collective operation, in bytes, that a rank copies once into memory \
                  from which several ranks of its node copy it, where ranks outnumber CPUs; a process keeps \
                  8 MiB of such memory at most between operations, and has none where this is more than 4194304",
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
        meaning: "time spent spinning before the CPU is given away, in µs, where every rank has a CPU: half of it \
                  looking for the message that a call waits for, half making progress; where ranks share CPUs \
                  nobody spins",
    },
    Tunable {
        name: "POSTHASTE_YIELD_US",
        default: "1000",
        meaning: "time spent yielding before sleeping, in µs; up to the default none where every rank has a CPU and \
                  a program that computes has taken its turn there",
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
                  share one. Jobs have more than one whose ranks share memory or reach each other over TCP; with 17 ranks \
                  or more on a node there are 4, with 65 or more 2. Each takes as much memory as the node segment \
                  once a communicator uses it, 2 MiB with 2 ranks, 33 MiB with 64, and over TCP a connection to \
                  each peer that is talked to there: there are as many VCIs as 2048 connections, or the descriptors \
                  that a process may have, suffice for",
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
        name: "POSTHASTE_WINDOW_TABLE",
        default: "4096",
        meaning: "members of a window up to which each knows the memory of all others from the beginning. Of more, each \
                  is asked by whoever accesses it for the first time, and nothing of a window that not all of them \
                  have to map is mapped by all: see windows.md. All ranks have to say the same",
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
        name: "POSTHASTE_REPRODUCIBLE",
        default: "0",
        meaning: "1: the bits of a reduction depend on its operands, their count and the number of members alone, and \
                  not on which hosts and CPUs the ranks are on. All ranks have to say the same, and where ranks share \
                  CPUs reductions take longer. With 0 they are the same in every run of the same placement",
    },
    Tunable {
        name: "POSTHASTE_CHECK_TYPES",
        default: "0",
        meaning: "1: every point-to-point message carries a hash of its type signature, and so does each of a \
                  collective operation that goes straight out of the program's memory; a receive into it whose \
                  types are others fails with MPI_ERR_TYPE and a sentence that names both sides; the data \
                  arrives all the same. Types are compared by the names of their basic types as MPI-5.0 §3.3.1 \
                  wants (`MPI_INT` is not `MPI_INT32_T`), a pair type counts as its two, and `MPI_PACKED` \
                  matches everything. A put or get whose target has other types than its origin fails with \
                  MPI_ERR_TYPE, too, and does nothing. For finding mistakes: short messages take the general way. All ranks \
                  have to say the same",
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
        name: "POSTHASTE_FABRIC_ATOMICS",
        default: "auto",
        meaning: "whether libfabric's provider does the atomic operations on windows whose members all are on hosts of \
                  their own: `auto`, where the network does them without the process whose memory it is; `on`, \
                  wherever the provider has them; `off`, never. See docs/windows.md",
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
                  call goes before it. MPI_Comm_accept and MPI_Comm_join wait for ever unless they have that key. It is also the time for \
                  spawned processes to come to MPI_Init where a launcher that is not ours has started them",
    },
    Tunable {
        name: "POSTHASTE_NAMES",
        default: "(the user's)",
        meaning: "where MPI_Publish_name leaves its names, the same for all jobs that are to find each other: a folder, on several \
                  hosts one that they share, or what posthaste-names prints: a server that they all reach (docs/jobs.md). The \
                  user's folder: /tmp/posthaste-UID",
    },
    Tunable {
        name: "POSTHASTE_TCP_DEAD_S",
        default: "20",
        meaning: "time after which a rank whose system does not answer is given up, in s (2 to 86400). A rank \
                  that is busy and does not read, or is stopped, still has a system that answers. Over \
                  libfabric, half of it is the longest silence before a peer is looked after (docs/fabric.md)",
    },
];
