//! This process's part in the job: start, the blocking and nonblocking calls, end.
//!
//! Who we are is found out in `start`. MPI-5.0 §11.2. What opens and closes it, and who shares it: `instance`.
//!
//! Parts: `fast_paths`, those of the blocking calls; `handlers`, of the program; `scope`, the calls that take borrowed slices;
//! `persistent`, `repeated`, `partitioned` and `buffered`, those whose memory is theirs; `several`, waits for some of several requests;
//! `probes`; `local`, copies; `meeting`, other jobs; `faults`, what the living do when others end; `founding`, communicators of a group alone; `process_sets`, those with names; `vcis`, and who belongs to which.
//!
//! What must stay true: one engine for each VCI, and one open world per process, whatever the number of [`World`] values; a process that was meant to be one of many never goes on as one
//! of one.

mod local;
mod outside;
mod process_sets;
mod vcis;
mod probes;
mod resources;
mod fast_paths;
mod buffered;
mod handlers;
mod meeting;
mod partitioned;
mod persistent;
mod scope;
mod exchange;
mod packing;
mod repeated;
mod several;
mod tasks;
mod owned;
mod descriptor;
mod faults;
mod founding;
mod windows;

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use posthaste_os::heap::{Block, Heap};
use posthaste_os::node::{Life, Node, VCIS};
use posthaste_os::socket::Set;
use posthaste_os::sync::Lock;
use posthaste_os::wake::Doorbell;
use posthaste_os::{machine, peer_copy, process};

use crate::buffer::{OwnedBuf, device};
use crate::coll::{self, Accord, Boards, Schedule, Walk};
use crate::comm::Comm;
use crate::config::{Config, LongProtocol, Way};
use crate::datatype::{Segment, Types};
use crate::error::{Error, ErrorClass, Result, say};
use crate::ids::{ANY_SOURCE, ANY_TAG, Founder, PROC_NULL, Peer, RequestId, TAG_UB, Wrong};
use crate::info::Info;
use crate::method::shm::Shm;
use crate::method::tcp::Tcp;
use crate::method::{Methods, Route};
use crate::progress::Vci;
use crate::pt2pt::arrival::Found;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, agreed, recv, send};
use crate::request::{Request, State, Status, Table, complete};
use crate::runtime::{Opener, Runtime};
use crate::trace::Counts;
use crate::wait::{Awaited, ProgressThread, Waiting};
use crate::wire::{Envelope, Mode};

mod cpus;
mod start;
mod wireup;

pub use crate::pt2pt::matching::Unexpected;
pub use crate::win::{Flavor, LockKind, Spot};
pub use buffered::Buffered;
pub use descriptor::Bell;
pub use faults::{Deciding, Shrinking};
pub use handlers::deadlock;
use meeting::Abroad;
pub use meeting::Parents;
pub use owned::{Ended, Owned, Transfer};
pub use partitioned::{PartitionedReceive, PartitionedSend};
pub use persistent::Persistent;
pub use probes::Matched;
pub use repeated::Repeated;
pub use resources::{Hardware, Part, Split, TYPE};
pub use scope::{Operation, Scope, Told};
pub(crate) use start::Membership;
use start::Start;
pub use tasks::Listener;
use vcis::Further;
pub use windows::{Closed, Epoch, Exposed, Extent, Fenced, Members, NewWindow, OwnedWindow};
use wireup::{Places, Shared};

/// Longest wait for peers on other nodes to close their connections at the end, and of a share that is not the last for what it
/// has sent.
const LEAVE: Duration = Duration::from_secs(2);

/// What a door calls its blocking functions: the names that stand in sentences about calls that wait.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    /// A send that ends when the buffer may be used again.
    pub send: &'static str,
    /// A send that ends when its receive has begun.
    pub send_synchronous: &'static str,
    /// A receive.
    pub receive: &'static str,
    /// A send and a receive at once.
    pub exchange: &'static str,
    /// A look at the next message.
    pub probe: &'static str,
    /// The same, and the message is taken out of the queue.
    pub matched_probe: &'static str,
    /// The wait for a request.
    pub wait: &'static str,
    /// The wait for one of several requests.
    pub wait_any: &'static str,
    /// The end.
    pub finalize: &'static str,
}

impl Calls {
    /// The names of the C functions.
    pub const C: Self = Self {
        send: "MPI_Send",
        send_synchronous: "MPI_Ssend",
        receive: "MPI_Recv",
        exchange: "MPI_Sendrecv",
        probe: "MPI_Probe",
        matched_probe: "MPI_Mprobe",
        wait: "MPI_Wait",
        wait_any: "MPI_Waitany",
        finalize: "MPI_Finalize",
    };
}

/// This process's part in the job, as one of those sees it who share it.
///
/// The value stays on its thread.
#[derive(Debug)]
pub struct World {
    runtime: Arc<Runtime>,
    waiting: Arc<Waiting>,
    calls: Calls,
    world: Arc<Comm>,
    own: Arc<Comm>,
    founding: Arc<Comm>,
    common: Arc<Common>,
    /// Calls of `block_on` that are under way.
    block_ons: Cell<u32>,
    on_one_thread: PhantomData<*const ()>,
}

/// The open engine of this process, from which every share has its [`World`].
#[derive(Debug)]
pub(crate) struct Engines {
    runtime: Arc<Runtime>,
    waiting: Arc<Waiting>,
    world: Arc<Comm>,
    own: Arc<Comm>,
    founding: Arc<Comm>,
    common: Arc<Common>,
}

/// What is off the path of messages.
#[derive(Debug)]
struct Common {
    progress: Mutex<Option<ProgressThread>>,
    /// For windows; it calls no function of the program.
    serving: Mutex<Option<ProgressThread>>,
    /// What an event loop of the program watches, made when it is first asked for.
    bell: Mutex<Option<Arc<Bell>>>,
    node: Node,
    local_rank: usize,
    nodes: Places,
    node_name: Option<String>,
    launcher: Shared,
    /// Process sets beyond those that every process is in, made when they are first asked for.
    sets: OnceLock<process_sets::Sets>,
    /// Processes of other jobs, and the ports at which they come.
    abroad: Abroad,
    founder: Founder,
    /// VCIs among which the communicators made here are shared out.
    vcis: usize,
    /// Memory that this process shares with its peers on the host.
    heap: Option<Arc<Heap>>,
    /// Memory of windows that it shares with their members.
    mappings: windows::Mappings,
    /// Where the ranks of this host share CPUs.
    boards: Option<Arc<Boards>>,
    /// How many CPUs the ranks of this host share, if they outnumber them.
    shared_cpus: Option<u32>,
    shows_types: bool,
    threaded: bool,
}

impl Engines {
    /// Joins the job as a member that may have been in it before, and opens the engine. `threaded`: several threads may call at
    /// the same time.
    ///
    /// # Errors
    /// When this process cannot join the job it was started for, or there is not enough memory.
    pub(crate) fn open(threaded: bool, membership: &mut Option<Membership>) -> Result<Self> {
        let config = Config::read(|name| std::env::var(name).ok())?;
        if config.simulated_device > 0 {
            device::register_simulated(config.simulated_device);
        }
        let threaded = threaded || config.threaded;
        Self::with(start::join(&config, membership)?, config, threaded)
    }

    /// What one of those sees who share it, whose blocking calls have these names. Unless it is threaded, calls on two of these
    /// values must not overlap, which whoever asks for them sees to (`instance`).
    pub(crate) fn world(&self, calls: Calls) -> World {
        let Self { runtime, waiting, world, own, founding, common } = self;
        World {
            runtime: Arc::clone(runtime),
            waiting: Arc::clone(waiting),
            calls,
            world: Arc::clone(world),
            own: Arc::clone(own),
            founding: Arc::clone(founding),
            common: Arc::clone(common),
            block_ons: Cell::new(0),
            on_one_thread: PhantomData,
        }
    }

    /// As [`World::is_threaded`].
    pub(crate) fn is_threaded(&self) -> bool {
        self.common.threaded
    }

    #[allow(unsafe_code)] // the one place that knows why the VCI's lock may be none
    fn with(start: Start, config: Config, threaded: bool) -> Result<Self> {
        let Start {
            rank,
            node,
            local_rank,
            node_local,
            nodes,
            routes,
            networks: wireup::Networks { tcp, fabric, bundle, plugin },
            crowd,
            launcher,
            secret,
        } = start;
        let (me, size) = (Peer(rank), routes.size() as usize);
        let oversubscribed_here = crowd.here.is_some();
        let (shows_types, node_name) = (config.show_types, config.node.clone());
        let spin = if oversubscribed_here { 0 } else { config.spin_us };
        let yielding = Duration::from_micros(config.yield_us.into());
        let doorbell = Doorbell::new(&node, local_rank);
        let shm = (size > 1 && Way::Shm.is_built())
            .then(|| Shm::new(&node, local_rank, node_local.clone(), &config, oversubscribed_here))
            .transpose()?;
        let shares = routes.any(|route| matches!(route, Route::Shm(_)));
        if let Some(shm) = shm.as_ref().filter(|_| config.explain && shares) {
            let (copying, why) = shm.copying(&config);
            say(format_args!("rank {rank} copies long messages on its node through {copying}, {why}"));
        }
        let tcp = tcp.map(|tcp| if shares { tcp.sharing() } else { tcp });
        let bundle = bundle.map(|bundle| if shares { bundle.sharing() } else { bundle });
        let fabric = fabric.map(|fabric| if shares { fabric.sharing() } else { fabric });
        let plugin = plugin.map(|plugin| if shares { plugin.sharing() } else { plugin });
        let mut networks = wireup::Networks { tcp, fabric, bundle, plugin };
        let doorbell = watching(doorbell, &mut networks, threaded)?;
        let wireup::Networks { tcp, fabric, bundle, plugin } = networks;
        // VCIs are for threads, and for jobs whose processes all share memory or are reached over TCP.
        let near = !routes.any(|route| !matches!(route, Route::Shm(_) | Route::Loopback));
        let far = routes.any(|route| !matches!(route, Route::Shm(_) | Route::Loopback | Route::Tcp));
        let vcis = if threaded && !far { config.vcis.min(crowd.vcis) } else { 1 };
        let heap = shm.as_ref().map(|shm| shm.heap().clone());
        let lends = matches!(config.long_protocol, LongProtocol::Auto | LongProtocol::Shared);
        let boards =
            heap.as_ref().filter(|_| oversubscribed_here && lends && config.board_limit <= Boards::LONGEST);
        let boards = boards.map(|heap| Boards::new(heap.clone(), config.board_limit, config.shared_limit));
        let further = (!far).then(|| Further {
            vcis: crowd.vcis,
            node: node.clone(),
            local_rank,
            node_local,
            routes: routes.clone(),
            me,
            heap: heap.clone(),
            tcp: tcp.as_ref().map(Tcp::opener),
            config: config.clone(),
            oversubscribed: oversubscribed_here,
        });
        let mut methods = Methods::new(routes, me).with(shm).with(tcp).with(fabric).with(bundle).with(plugin);
        if !near {
            methods = methods.hearing_of(node.clone());
        }
        let (explain, progress_thread) = (config.explain, config.progress_thread);
        let accord = Accord {
            shares_cpus: crowd.anywhere,
            keeps_bits: config.reproducible,
            checks_types: config.check_types,
        };
        let mut engine = Engine::new(config);
        if explain {
            engine.explain(me, methods.ways());
        }
        let mut world = Comm::world(rank, size as u32);
        world.set_accord(accord);
        let mut own = Comm::own(me);
        own.set_accord(Accord { shares_cpus: false, ..accord });
        let mut founding = Comm::founding(rank, size as u32);
        founding.set_accord(accord);
        world.make_known(&mut engine);
        own.make_known(&mut engine);
        founding.make_known(&mut engine);
        let vci = Vci::new(engine, methods);
        node.set_pid(local_rank, std::process::id());
        node.set_process_namespace(local_rank, machine::process_namespace());
        node.set_world_rank(local_rank, rank, size as u32);
        node.set_probe_address(local_rank, peer_copy::probe_address());
        node.set_life(local_rank, Life::Inside);
        // SAFETY: a `World` is neither `Send` nor `Sync`, and without `threaded` all those of an engine are on one thread,
        // so their calls cannot overlap unless a binding vouches for it (`instance::Threads`). The same holds for
        // further VCIs.
        let locked = move |vci| unsafe { Lock::new(vci, threaded || progress_thread) };
        let further = further.map(Arc::new);
        let calls = further.clone();
        let opener = Opener {
            make: Box::new(move |at| further.as_ref()?.vci(at).map(locked)),
            called: Box::new(move || calls.as_ref()?.called()),
        };
        let runtime = Arc::new(Runtime::new(locked(vci), doorbell).opening(opener));
        let spin = Duration::from_micros(spin.into());
        let waiting = Waiting::new(&runtime, spin, yielding).publishing(&node, local_rank);
        let waiting = Arc::new(if explain { waiting.explaining() } else { waiting });
        let progress = if progress_thread { Some(ProgressThread::start(&waiting)?) } else { None };
        let common = Common {
            progress: Mutex::new(progress),
            serving: Mutex::default(),
            bell: Mutex::new(None),
            node,
            local_rank,
            nodes,
            node_name,
            launcher,
            sets: OnceLock::new(),
            abroad: Abroad::new(secret, rank, shares),
            founder: Founder::new(rank, size as u32),
            vcis,
            heap,
            shared_cpus: crowd.here,
            mappings: windows::Mappings::default(),
            boards,
            shows_types,
            threaded: threaded || progress_thread,
        };
        common.tell_places(rank, &world);
        let (world, own, founding) = (Arc::new(world), Arc::new(own), Arc::new(founding));
        Ok(Self { runtime, waiting, world, own, founding, common: Arc::new(common) })
    }
}

impl World {
    /// Whether several threads may call at the same time.
    pub fn is_threaded(&self) -> bool {
        self.common.threaded
    }

    /// Whether committed datatypes are to be shown (`POSTHASTE_SHOW_TYPES`).
    pub fn shows_types(&self) -> bool {
        self.common.shows_types
    }

    /// The communicator of all ranks.
    #[inline]
    pub fn world(&self) -> &Arc<Comm> {
        &self.world
    }

    /// The communicator of this process alone.
    #[inline]
    pub fn own(&self) -> &Arc<Comm> {
        &self.own
    }

    /// All processes of the job, who found communicators in it that are made of a group alone ([`Comm::plan_from_group`]).
    pub fn founding(&self) -> &Arc<Comm> {
        &self.founding
    }

    /// Rank in the world.
    pub fn rank(&self) -> u32 {
        self.world.rank() as u32
    }

    /// A number for the node that this rank is on: ranks with the same number share memory.
    pub fn node(&self) -> u32 {
        self.common.nodes.leader(self.rank())
    }

    /// Whether all ranks of the job share memory.
    pub fn is_on_one_node(&self) -> bool {
        self.common.nodes.are_one()
    }

    /// The name of the node: that of the host, unless a setting gives it another one.
    pub fn node_name(&self) -> String {
        self.common.node_name.clone().unwrap_or_else(machine::host_name)
    }

    /// Gives a communicator hints.
    ///
    /// # Errors
    /// As [`Comm::set_hints`].
    pub fn set_hints(&self, comm: &Comm, hints: &Info) -> Result<()> {
        comm.set_hints(&mut self.vci_of(comm).engine, hints)
    }

    /// Memory for messages, zero at first: peers on the host can reach it, so that messages between them are copied once.
    ///
    /// # Errors
    /// When there is not so much memory.
    pub fn allocate(&self, len: usize) -> Result<Block> {
        Block::new(self.common.heap.as_ref(), len)
            .map_err(|why| Error::no_memory(format!("there is no memory to allocate {why}")))
    }

    /// Sends and returns when the buffer is the user's again; in synchronous mode, when the receive has begun.
    ///
    /// # Errors
    /// A wrong rank or tag; a failed transfer.
    #[inline]
    pub fn send(&self, comm: &Comm, to: i32, tag: i32, segment: Segment, mode: Mode) -> Result<()> {
        let call =
            |calls: &Calls| if mode == Mode::Synchronous { calls.send_synchronous } else { calls.send };
        self.send_as(call, comm, to, tag, segment, mode)
    }

    #[inline(always)]
    fn send_as(
        &self,
        call: impl FnOnce(&Calls) -> &'static str,
        comm: &Comm,
        to: i32,
        tag: i32,
        segment: Segment,
        mode: Mode,
    ) -> Result<()> {
        if !segment.is_plain() {
            return self.send_typed(call(&self.calls), comm, to, tag, segment, mode);
        }
        let Some(peer) = comm.destination(to)? else { return to_nobody(tag) };
        let envelope = envelope(comm, tag, &segment, mode, Types::UNKNOWN)?;
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        match send::start(engine, methods, peer, &envelope, segment)? {
            Started::Complete => {
                methods.flush_gathered();
                Ok(())
            }
            Started::Request(id) => {
                if mode == Mode::Synchronous {
                    self.acknowledged_at_once(&mut vci, peer, id);
                }
                drop(vci);
                self.wait_in(call(&self.calls), id).and_then(outcome)
            }
        }
    }

    /// Sends and receives at the same time: unless the send is over at once, the receive is posted before it begins,
    /// so that two ranks may exchange long messages. The status carries a truncation.
    ///
    /// # Errors
    /// A wrong rank or tag, of which neither message is started; a failed transfer.
    pub fn exchange(
        &self,
        comm: &Comm,
        (outgoing, to, send_tag): (Segment, i32, i32),
        (incoming, from, receive_tag): (Segment, i32, i32),
    ) -> Result<Status> {
        // Everything is checked before either begins.
        let destination = comm.destination(to)?;
        let letter = envelope(comm, send_tag, &outgoing, Mode::Standard, Types::UNKNOWN)?;
        let sought = sought(comm, from, receive_tag)?;
        if let Some(peer) = destination
            && self.left_at_once(peer, &letter, &outgoing)
        {
            return self.recv_sought(|calls| calls.exchange, sought, incoming);
        }
        let id = self.irecv(comm, from, receive_tag, incoming)?;
        let sent = self.send_as(|calls| calls.exchange, comm, to, send_tag, outgoing, Mode::Standard);
        if sent.is_err() {
            // The buffer is on loan until the receive is over, and without the exchange it may never be.
            recv::cancel(&mut self.vci_of(comm).engine, id);
        }
        let received = self.wait_in(self.calls.exchange, id);
        sent.and(received)
    }

    /// Starts a send.
    ///
    /// # Errors
    /// A wrong rank or tag; a full table of requests.
    #[inline]
    pub fn isend(&self, comm: &Comm, to: i32, tag: i32, segment: Segment, mode: Mode) -> Result<RequestId> {
        if !segment.is_plain() {
            return self.isend_typed(comm, to, tag, segment, mode);
        }
        let Some(peer) = comm.destination(to)? else { return to_nobody(tag).map(|()| Table::DONE) };
        let envelope = envelope(comm, tag, &segment, mode, Types::UNKNOWN)?;
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        match send::start(engine, methods, peer, &envelope, segment)? {
            Started::Request(id) => Ok(id),
            Started::Complete => Ok(Table::DONE),
        }
    }

    #[cold]
    #[inline(never)]
    fn send_typed(
        &self,
        call: &'static str,
        comm: &Comm,
        to: i32,
        tag: i32,
        segment: Segment,
        mode: Mode,
    ) -> Result<()> {
        let id = self.isend_typed(comm, to, tag, segment, mode)?;
        self.wait_in(call, id).and_then(outcome)
    }

    /// A message that says what its types are.
    #[cold]
    #[inline(never)]
    fn isend_typed(&self, comm: &Comm, to: i32, tag: i32, segment: Segment, mode: Mode) -> Result<RequestId> {
        let Some(peer) = comm.destination(to)? else { return to_nobody(tag).map(|()| Table::DONE) };
        let envelope = envelope(comm, tag, &segment, mode, segment.types())?;
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        match send::start_general(engine, methods, peer, &envelope, segment)? {
            Started::Request(id) => Ok(id),
            Started::Complete => Ok(Table::DONE),
        }
    }

    /// Receives. The status carries a truncation.
    ///
    /// # Errors
    /// A wrong rank or tag; a full table of requests.
    #[inline]
    pub fn recv(&self, comm: &Comm, from: i32, tag: i32, segment: Segment) -> Result<Status> {
        self.recv_sought(|calls| calls.receive, sought(comm, from, tag)?, segment)
    }

    #[inline(always)]
    fn recv_sought(
        &self,
        call: impl FnOnce(&Calls) -> &'static str,
        sought: Option<Sought>,
        segment: Segment,
    ) -> Result<Status> {
        let Some(Sought { pattern, peer }) = sought else { return Ok(from_nobody()) };
        let mut waited = false;
        let found = match segment.is_on_device() {
            true => Found::Other,
            false => self.recv_at_once(peer, &pattern, &segment, &mut waited),
        };
        if let Found::Message(status) = found {
            return Ok(status);
        }
        let id = {
            let mut vci = self.runtime.enter(pattern.context.vci());
            let Vci { engine, methods, .. } = &mut *vci;
            match (found, peer) {
                (Found::Taken(message), _) => recv::start_unexpected(engine, methods, message, segment)?,
                (_, Some(peer)) if !waited && methods.is_next_there(peer) => {
                    recv::start_there(engine, methods, peer, &pattern, segment)?
                }
                _ => recv::start_from(engine, methods, peer, &pattern, segment)?,
            }
        };
        self.wait_in(call(&self.calls), id)
    }

    /// Starts a receive.
    ///
    /// # Errors
    /// A wrong rank or tag; a full table of requests.
    #[inline]
    pub fn irecv(&self, comm: &Comm, from: i32, tag: i32, segment: Segment) -> Result<RequestId> {
        let Some(Sought { pattern, peer }) = sought(comm, from, tag)? else {
            return self.completed(comm.context().vci(), from_nobody());
        };
        let mut vci = self.vci_of(comm);
        if let Some(peer) = peer
            && vci.methods.is_next_there(peer)
        {
            vci.stay_fair();
            let Vci { engine, methods, .. } = &mut *vci;
            return recv::start_there(engine, methods, peer, &pattern, segment);
        }
        let Vci { engine, methods, .. } = &mut *vci;
        recv::start_from(engine, methods, peer, &pattern, segment)
    }

    /// A request that is over from the start.
    fn completed(&self, vci: usize, status: Status) -> Result<RequestId> {
        let request = Request { status, ..Request::new(State::Complete) };
        self.vci_at(vci).engine.requests.insert(request)
    }

    /// Waits for a request and takes its status; the id is stale afterwards. The message's outcome is in the
    /// status.
    ///
    /// # Errors
    /// A stale id.
    #[inline]
    pub fn wait(&self, id: RequestId) -> Result<Status> {
        self.wait_in(self.calls.wait, id)
    }

    /// As [`World::wait`], in a call with this name.
    ///
    /// # Errors
    /// A stale id.
    #[inline]
    pub fn wait_in(&self, call: &'static str, id: RequestId) -> Result<Status> {
        let awaited = |_: &Vci| Awaited::All(vec![id]);
        self.wait_in_order(id.slot as usize, call, awaited, |_| Some(id), |vci| take_if_complete(vci, id))
    }

    /// Takes the status if the request is over; one step of progress otherwise, and another look.
    ///
    /// # Errors
    /// A stale id.
    #[inline]
    pub fn test(&self, id: RequestId) -> Result<Option<Status>> {
        let at = self.vci_number(id.slot as usize);
        if let Some(done) = take_if_complete(&mut self.runtime.enter(at), id) {
            return done.map(Some);
        }
        self.runtime.step(at);
        take_if_complete(&mut self.runtime.enter(at), id).transpose()
    }

    /// Starts a collective operation.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn start(&self, schedule: Schedule) -> Result<RequestId> {
        let mut vci = self.runtime.enter(schedule.vci());
        let Vci { engine, methods, running, .. } = &mut *vci;
        engine.contexts.check_revoked(schedule.context())?;
        running.start(engine, methods, schedule)
    }

    /// Starts a collective operation that its caller keeps; it may be started again once it is over.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn start_again(&self, schedule: &Arc<Schedule>) -> Result<RequestId> {
        let mut vci = self.runtime.enter(schedule.vci());
        let Vci { engine, methods, running, .. } = &mut *vci;
        engine.contexts.check_revoked(schedule.context())?;
        running.start_again(engine, methods, schedule)
    }

    /// Runs a collective operation to its end. A short one whose messages come soon takes no request.
    ///
    /// # Errors
    /// A full table of requests; what went wrong with one of its messages.
    pub fn run(&self, schedule: Schedule) -> Result<()> {
        self.run_in(schedule.name(), schedule)
    }

    /// As [`World::run`], in a call with this name.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_in(&self, call: &'static str, schedule: Schedule) -> Result<()> {
        let mut vci = self.runtime.enter(schedule.vci());
        vci.engine.contexts.check_revoked(schedule.context())?;
        vci.engine.requests.ensure_reserved_room()?; // before anything leaves
        let mut walk = Walk::new(schedule);
        vci.stay_fair();
        let walked = self.waiting.spin_poll(&mut vci, |Vci { engine, methods, running, .. }, looks| {
            (0..looks).any(|_| walk.look(engine, methods, running)).then_some(())
        });
        let Vci { engine, methods, running, .. } = &mut *vci;
        methods.flush_gathered();
        if walked.is_some() {
            return running.over(engine, methods, walk);
        }
        let id = running.go_on(engine, methods, walk)?;
        drop(vci);
        self.wait_in(call, id).and_then(outcome)
    }

    /// Waits until everything of ours has left, but not for long: what the others that share the engine have sent may have to wait
    /// for what they do next. What others have still to copy out of our memory goes with this process, so that is waited for.
    pub(crate) fn drain_for_a_while(&self) {
        let until = machine::now() + LEAVE;
        let left = |vci: &mut Vci| {
            (is_drained(vci) || vci.running.has_left() && machine::now() > until).then_some(())
        };
        for at in self.runtime.open_vcis() {
            self.waiting.until(at, self.calls.finalize, |_| Awaited::Departure, left);
        }
    }

    /// Waits for everybody, and for everything of ours to have left. Gives whether the engine stays open: `stays` says so of this
    /// process, and if one of them says so it is so for all, since they could not open theirs again without that one.
    ///
    /// # Errors
    /// When the last synchronisation fails.
    pub(crate) fn take_leave(&self, stays: bool) -> Result<bool> {
        let call = self.calls.finalize;
        self.drain(call);
        self.vci().methods.begin_finalizing();
        let mut outcome = OwnedBuf::new(1);
        outcome.sink().copy_from(&[u8::from(stays)]);
        let outcome = Arc::new(outcome);
        let stays = match self.run_in(call, coll::unite(&self.world, call, outcome.clone())?) {
            // Those that are left need not wait for each other: nobody could say when.
            Err(why) if matches!(why.class(), ErrorClass::ProcAborted | ErrorClass::Revoked) => stays,
            ended => ended.map(|()| outcome.source().to_vec() != [0])?,
        };
        for at in self.runtime.open_vcis() {
            agreed::leave(&mut self.runtime.enter(at).engine);
        }
        self.drain(call);
        if stays {
            self.vci().methods.stay();
        }
        Ok(stays)
    }

    /// Closes the engine, after everything of ours has left. Nothing may be done with it afterwards.
    pub(crate) fn close(&self) {
        self.forget_published();
        self.leave(self.calls.finalize);
        self.stop_progress_thread();
        self.publish_counters();
        self.common.node.set_life(self.common.local_rank, Life::Finalised);
    }

    /// Waits until everything of ours has left.
    fn drain(&self, call: &'static str) {
        let all_left = |vci: &mut Vci| is_drained(vci).then_some(());
        for at in self.runtime.open_vcis() {
            self.waiting.until(at, call, |_| Awaited::Departure, all_left);
        }
    }

    /// Closes the connections to other nodes, when all peers have everything; not for longer than it takes when all goes
    /// well.
    fn leave(&self, call: &'static str) {
        let begin = |at| self.vci_at(at).methods.begin_leaving();
        let known: Vec<usize> = self.runtime.open_vcis().collect();
        known.iter().copied().for_each(begin);
        let until = machine::now() + LEAVE;
        let has_left = |vci: &mut Vci| (vci.methods.has_left() || machine::now() > until).then_some(());
        for at in (0..VCIS).filter(|at| self.runtime.is_open(*at)) {
            // A peer may have called it since.
            if !known.contains(&at) {
                begin(at);
            }
            self.waiting.until(at, call, |_| Awaited::Departure, has_left);
        }
    }

    /// Shows the counters to the launcher.
    fn publish_counters(&self) {
        let mut counts = Counts::default();
        for at in self.runtime.open_vcis() {
            let vci = self.runtime.enter(at);
            counts.merge(&vci.engine.counts);
            counts.merge(&vci.methods.counts);
        }
        counts.publish(self.common.node.counters(self.common.local_rank));
    }

    /// Ends the whole job with `code`. Does not return.
    pub fn abort(&self, code: i32) -> ! {
        self.common.node.set_life(self.common.local_rank, Life::Aborted);
        // The launcher asks everybody to end at once; the buffers of C's stdio are written by `exit` below.
        process::ignore_request_to_end();
        // A thread that waits for the launcher's answer has it until then. That we end like this is known without a word, too.
        if let Ok(mut launcher) = self.common.launcher.try_lock()
            && let Some(launcher) = &mut *launcher
        {
            let _ = launcher.abort(code);
        }
        std::process::exit(if code == 0 { 1 } else { code });
    }
}

/// Whether everything of ours has left.
fn is_drained(vci: &Vci) -> bool {
    !vci.engine.has_pending() && vci.methods.is_drained() && vci.running.has_left()
}

/// The doorbell of a process that sleeps on the descriptors of its networks, too. Where it is `threaded`, each VCI has connections: no thread
/// that looks at some of them asks for the others.
fn watching(bell: Doorbell, networks: &mut wireup::Networks, threaded: bool) -> Result<Doorbell> {
    if networks.are_none() {
        return Ok(bell);
    }
    let wireup::Networks { tcp, fabric, bundle, plugin } = networks;
    let watched = match &tcp {
        Some(tcp) if !threaded => tcp.set(),
        _ => Arc::new(Set::new().map_err(|e| Error::system("making an epoll set", e))?),
    };
    if let Some(tcp) = tcp.as_ref().filter(|_| threaded) {
        tcp.watch_in(&watched).map_err(|e| Error::system("watching connections", e))?;
    }
    if let Some(fabric) = fabric {
        fabric.watch_in(&watched);
    }
    if let Some(bundle) = bundle {
        bundle.watch_in(&watched);
    }
    if let Some(plugin) = plugin {
        plugin.watch_in(&watched);
    }
    let bell = bell.watching(watched.clone()).map_err(|e| Error::system("making a pipe to sleep on", e))?;
    if let Some(tcp) = tcp {
        tcp.set_sleeper(bell.clone(), watched);
    }
    Ok(bell)
}

/// What a finished transfer says: its error, if it has one.
fn outcome(status: Status) -> Result<()> {
    status.error.map_or(Ok(()), Err)
}

/// The status of a message from `MPI_PROC_NULL` (MPI-5.0 §3.10).
fn from_nobody() -> Status {
    Status { source: PROC_NULL, ..Status::EMPTY }
}

/// A send to `MPI_PROC_NULL`, of which nothing leaves; its tag must be one all the same.
#[cold]
fn to_nobody(tag: i32) -> Result<()> {
    if tag < 0 { Err(wrong_tag(tag)) } else { Ok(()) }
}

#[cold]
fn wrong_tag(tag: i32) -> Error {
    Error::invalid(ErrorClass::Tag, "tag", Wrong(tag), format_args!("0..={TAG_UB}"))
}

#[inline]
fn envelope(comm: &Comm, tag: i32, segment: &Segment, mode: Mode, types: Types) -> Result<Envelope> {
    if tag < 0 {
        return Err(wrong_tag(tag));
    }
    Ok(Envelope { context: comm.context(), source: comm.rank(), tag, len: segment.len(), mode, types })
}

/// What a receive or probe asks for.
struct Sought {
    pattern: Pattern,
    /// The only process that it can come from, if there is just one.
    peer: Option<Peer>,
}

/// `None`: a message from `MPI_PROC_NULL`.
#[inline]
fn sought(comm: &Comm, from: i32, tag: i32) -> Result<Option<Sought>> {
    if tag < 0 {
        if tag != ANY_TAG {
            return Err(wrong_tag_sought(tag));
        }
        comm.check_wildcards(false, true)?;
    }
    let peer = if from == ANY_SOURCE {
        comm.check_wildcards(true, false)?;
        comm.check_revoked()?;
        None
    } else {
        comm.source(from)?
    };
    if peer.is_none() && from != ANY_SOURCE {
        return Ok(None);
    }
    Ok(Some(Sought { pattern: Pattern { context: comm.context(), source: from, tag }, peer }))
}

#[cold]
fn wrong_tag_sought(tag: i32) -> Error {
    let expected = format_args!("0..={TAG_UB} or MPI_ANY_TAG");
    Error::invalid(ErrorClass::Tag, "tag", Wrong(tag), expected)
}

#[inline]
fn take_if_complete(vci: &mut Vci, id: RequestId) -> Option<Result<Status>> {
    match vci.engine.requests.get(id) {
        None => Some(Err(stale(id))),
        Some(request) if complete::is_complete(request) => {
            if request.status.error.is_some() {
                recv::finish(&mut vci.engine, id);
            }
            vci.engine.requests.remove(id).map(|request| Ok(request.status))
        }
        Some(_) => None,
    }
}

#[cold]
fn stale(id: RequestId) -> Error {
    Error::invalid(ErrorClass::Request, "request", id, "a request that has not been completed or freed")
}
