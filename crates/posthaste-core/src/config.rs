//! Every limit and tunable. Read once, at initialisation. `tunables` has the name, default and meaning of each for users.
//!
//! What must stay true: each has a row there, and the same default. A value that cannot be read is an
//! error that names the variable, what it holds and what was expected; it is never ignored.

mod read;
mod tunables;

use posthaste_os::mem::Store;
use posthaste_os::node::VCIS;
use read::{
    bounce_buffer, choice_of_links, choice_of_ways, names, number, place_of_names, ports, renamed, switch,
    text, word,
};

use crate::error::{Error, ErrorClass, Result};

pub use tunables::{TUNABLES, Tunable};

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

/// Through what long messages are copied in shared memory.
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

/// Whether networks do atomic operations on windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricAtomics {
    /// Those that do them without the help of the process whose memory it is.
    Auto,
    /// All that can.
    On,
    /// None.
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
    /// Shortest message for a direct copy when the ranks outnumber the CPUs, cut to what is longer than a bounce buffer.
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
    /// Members of a window up to which each knows the memory of all others from the beginning.
    pub window_table: usize,
    /// Whether methods that read and write memory of peers by themselves do so for windows.
    pub window_transport: bool,
    /// Whether the first window whose owner does operations for others starts a thread for that.
    pub window_thread: bool,
    /// Most handlers of the program that run inside each other on one thread.
    pub handler_depth: usize,
    /// Whether the bits of a reduction depend on counts, sizes and operands alone.
    pub reproducible: bool,
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
    /// Whether networks do atomic operations.
    pub fabric_atomics: FabricAtomics,
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
    /// Where names of services are published: a folder, or the name of a server's port. `None`: the user's own folder on this host.
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
            get_limit: (64 << 10) + 1,
            run_limit: 4 << 10,
            shared_limit: 16 << 10,
            board_limit: 32 << 10,
            requests: HIGHEST_REQUESTS,
            unexpected_bytes: 16 << 20,
            spin_us: 50,
            yield_us: 1000,
            threaded: false,
            vcis: VCIS,
            progress_thread: false,
            map_windows: true,
            window_table: 4096,
            window_transport: true,
            window_thread: true,
            handler_depth: 32,
            reproducible: false,
            check_types: false,
            show_types: false,
            explain: false,
            ready_check: ReadyCheck::Warn,
            initial_handler: InitialHandler::Fatal,
            fabric_atomics: FabricAtomics::Auto,
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
        number(&lookup, "POSTHASTE_WINDOW_TABLE", 0..=usize::MAX, &mut config.window_table)?;
        switch(&lookup, "POSTHASTE_WINDOW_TRANSPORT", &mut config.window_transport)?;
        switch(&lookup, "POSTHASTE_WINDOW_THREAD", &mut config.window_thread)?;
        number(&lookup, "POSTHASTE_HANDLER_DEPTH", 1..=1024, &mut config.handler_depth)?;
        switch(&lookup, "POSTHASTE_REPRODUCIBLE", &mut config.reproducible)?;
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
        let atomics = [("auto", FabricAtomics::Auto), ("on", FabricAtomics::On), ("off", FabricAtomics::Off)];
        word(&lookup, "POSTHASTE_FABRIC_ATOMICS", &atomics, &mut config.fabric_atomics)?;
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
        place_of_names(&lookup, "POSTHASTE_NAMES", &mut config.names)?;
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
