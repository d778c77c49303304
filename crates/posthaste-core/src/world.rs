//! This process's part in the job: start, the blocking and nonblocking calls, end.
//!
//! Called by the doors (`posthaste-abi`, `posthaste`); calls `wait`, `comm`, `coll`, `pt2pt`. Starting finds out who
//! we are: from our launcher (a node segment handed down), from a foreign PMI-1 launcher, or alone. MPI-5.0 §11.2.
//!
//! Parts: `quick`, the fast paths of the blocking calls; `probes`.
//!
//! What must stay true: one engine per process; a process that was meant to be one of many never goes on as one
//! of one.

mod probes;
mod quick;

use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use posthaste_os::node::{Life, Node};
use posthaste_os::{machine, peer_copy, process};
use posthaste_pmi::client::{self, Client};

use crate::coll::Schedule;
use crate::comm::Comm;
use crate::config::Config;
use crate::datatype::{Format, Segment, Types};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId, PROC_NULL, Peer, RequestId, TAG_UB};
use crate::method::shm::Shm;
use crate::method::{Methods, Route};
use crate::progress::Lane;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, recv, send};
use crate::request::{Request, State, Status, Table, complete};
use crate::wait::{Awaited, Entered, Waiting};
use crate::wire::Envelope;

/// The one engine of this process exists.
static TAKEN: AtomicBool = AtomicBool::new(false);

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
    /// The receive of that message.
    pub matched_receive: &'static str,
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
        matched_receive: "MPI_Mrecv",
        wait: "MPI_Wait",
        wait_any: "MPI_Waitany",
        finalize: "MPI_Finalize",
    };
}

/// This process's part in the job.
#[derive(Debug)]
pub struct World {
    waiting: Waiting,
    calls: Calls,
    node: Node,
    local_rank: usize,
    launcher: Mutex<Option<Client>>,
    next_context: AtomicU32,
    world: Arc<Comm>,
    own: Arc<Comm>,
    shows_types: bool,
    on_one_thread: PhantomData<*const ()>,
}

/// What starting found out.
struct Start {
    rank: u32,
    size: u32,
    local_rank: usize,
    node: Node,
    launcher: Option<Client>,
    cpus: usize,
}

impl World {
    /// Starts. `threaded`: several threads may call at the same time.
    ///
    /// # Errors
    /// When this process has an engine already, or cannot join the job it was started for.
    ///
    /// The value stays on its thread. A door that lets several threads reach it (the C library) vouches for what
    /// the level of thread support promises: without `threaded`, that no two calls overlap.
    pub fn init(threaded: bool) -> Result<Self> {
        if TAKEN.swap(true, Ordering::AcqRel) {
            return Err(Error::other(
                ErrorClass::Other,
                "this process already has a posthaste engine (the C library and the Rust crate cannot both be \
                 initialised in one process, and neither twice)",
            ));
        }
        let world = find_job().and_then(|start| Self::with(start, threaded));
        world.inspect_err(|_| TAKEN.store(false, Ordering::Release))
    }

    #[allow(unsafe_code)] // the one place that knows why the lane's lock may be none
    fn with(start: Start, threaded: bool) -> Result<Self> {
        let Start { rank, size, local_rank, node, launcher, cpus } = start;
        let config = Config::read(|name| std::env::var(name).ok())?;
        agree_on_format(&node, Format::NATIVE)?;
        let crowded = node.ranks() > cpus;
        let shows_types = config.show_types;
        let me = Peer(rank);
        let first = rank - local_rank as u32; // the ranks of a host are neighbours
        let route = |peer: u32| {
            if peer == rank { Route::Loopback } else { Route::Shm(peer - first) }
        };
        let spin = if crowded { 0 } else { config.spin_us };
        let yielding = Duration::from_micros(config.yield_us.into());
        let (shm, doorbell) = if size > 1 {
            let peers = (0..node.ranks() as u32).map(|local| Peer(first + local)).collect();
            let shm = Shm::new(&node, local_rank, peers, &config, crowded);
            let doorbell = shm.doorbell().clone();
            (Some(shm), Some(doorbell))
        } else {
            (None, None)
        };
        let methods = Methods::new((0..size).map(route).collect(), shm, None, me);
        let explain = config.explain;
        let mut engine = Engine::new(config, size as usize);
        if explain {
            engine.explain(me);
        }
        let lane = Lane::new(engine, methods);
        node.set_pid(local_rank, std::process::id());
        node.set_probe_address(local_rank, peer_copy::probe_address());
        node.set_life(local_rank, Life::Inside);
        // SAFETY: a `World` is neither `Send` nor `Sync`, so calls on it come from one thread and cannot overlap
        // unless a door vouches for it (see `init`).
        let lane = unsafe { posthaste_os::sync::Lock::new(lane, threaded) };
        let mut world = Comm::world(rank, size);
        world.set_crowded(crowded);
        let waiting = Waiting::new(lane, doorbell, Duration::from_micros(spin.into()), yielding)
            .telling(&node, local_rank);
        Ok(Self {
            waiting: if explain { waiting.explaining() } else { waiting },
            calls: Calls::C,
            node,
            local_rank,
            launcher: Mutex::new(launcher),
            next_context: AtomicU32::new(ContextId::FIRST_COUNT),
            world: Arc::new(world),
            own: Arc::new(Comm::own(me)),
            shows_types,
            on_one_thread: PhantomData,
        })
    }

    /// Whether committed datatypes are to be shown (`POSTHASTE_SHOW_TYPES`).
    pub fn shows_types(&self) -> bool {
        self.shows_types
    }

    /// The same with other names for the blocking calls.
    pub fn calling(self, calls: Calls) -> Self {
        Self { calls, ..self }
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

    /// Rank in the world.
    pub fn rank(&self) -> u32 {
        self.world.rank() as u32
    }

    /// Rank among the ranks of this host.
    pub fn local_rank(&self) -> usize {
        self.local_rank
    }

    /// Number of ranks of this host.
    pub fn local_size(&self) -> usize {
        self.node.ranks()
    }

    /// Whether several threads may call at the same time.
    pub fn is_threaded(&self) -> bool {
        self.waiting.lane.is_threaded()
    }

    /// The lane, for what needs several steps under one lock.
    pub fn lane(&self) -> Entered<'_> {
        self.waiting.enter()
    }

    /// A context that this process founds.
    ///
    /// # Errors
    /// When its numbers are used up.
    pub fn found_context(&self) -> Result<ContextId> {
        let count = self.next_context.fetch_add(2, Ordering::Relaxed);
        ContextId::founded(self.rank(), count).ok_or_else(|| {
            Error::no_memory(format!("rank {} has founded {count} communicators", self.rank()))
        })
    }

    /// Sends and returns when the buffer is the user's again; with `synchronous`, when the receive has begun.
    ///
    /// # Errors
    /// A wrong rank or tag; a failed transfer.
    #[inline]
    pub fn send(&self, comm: &Comm, to: i32, tag: i32, segment: Segment, synchronous: bool) -> Result<()> {
        let call = |calls: &Calls| if synchronous { calls.send_synchronous } else { calls.send };
        self.send_as(call, comm, to, tag, segment, synchronous)
    }

    #[inline(always)]
    fn send_as(
        &self,
        call: impl FnOnce(&Calls) -> &'static str,
        comm: &Comm,
        to: i32,
        tag: i32,
        segment: Segment,
        synchronous: bool,
    ) -> Result<()> {
        if segment.is_typed() {
            return self.send_typed(call(&self.calls), comm, to, tag, segment, synchronous);
        }
        let Some(peer) = comm.destination(to)? else { return to_nobody(tag) };
        let envelope = envelope(comm, tag, &segment, synchronous, Types::UNKNOWN)?;
        let mut lane = self.waiting.enter();
        let Lane { engine, methods, .. } = &mut *lane;
        match send::start(engine, methods, peer, &envelope, segment)? {
            Started::Complete => Ok(()),
            Started::Request(id) => {
                if synchronous {
                    self.acknowledged_at_once(&mut lane, peer, id);
                }
                drop(lane);
                self.wait_in(call(&self.calls), id).and_then(fate)
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
        let letter = envelope(comm, send_tag, &outgoing, false, Types::UNKNOWN)?;
        let sought = sought(comm, from, receive_tag)?;
        if let Some(peer) = destination
            && self.left_at_once(peer, &letter, &outgoing)
        {
            return self.recv_sought(|calls| calls.exchange, sought, incoming);
        }
        let id = self.irecv(comm, from, receive_tag, incoming)?;
        let sent = self.send_as(|calls| calls.exchange, comm, to, send_tag, outgoing, false);
        if sent.is_err() {
            // The buffer is on loan until the receive is over, and without the exchange it may never be.
            recv::cancel(&mut self.waiting.enter().engine, id);
        }
        let received = self.wait_in(self.calls.exchange, id);
        sent.and(received)
    }

    /// Starts a send.
    ///
    /// # Errors
    /// A wrong rank or tag; a full table of requests.
    #[inline]
    pub fn isend(
        &self,
        comm: &Comm,
        to: i32,
        tag: i32,
        segment: Segment,
        synchronous: bool,
    ) -> Result<RequestId> {
        if segment.is_typed() {
            return self.isend_typed(comm, to, tag, segment, synchronous);
        }
        let Some(peer) = comm.destination(to)? else { return to_nobody(tag).map(|()| Table::DONE) };
        let envelope = envelope(comm, tag, &segment, synchronous, Types::UNKNOWN)?;
        let mut lane = self.waiting.enter();
        let Lane { engine, methods, .. } = &mut *lane;
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
        synchronous: bool,
    ) -> Result<()> {
        let id = self.isend_typed(comm, to, tag, segment, synchronous)?;
        self.wait_in(call, id).and_then(fate)
    }

    /// A message that says what its types are.
    #[cold]
    #[inline(never)]
    fn isend_typed(
        &self,
        comm: &Comm,
        to: i32,
        tag: i32,
        segment: Segment,
        synchronous: bool,
    ) -> Result<RequestId> {
        let Some(peer) = comm.destination(to)? else { return to_nobody(tag).map(|()| Table::DONE) };
        let envelope = envelope(comm, tag, &segment, synchronous, segment.types())?;
        let mut lane = self.waiting.enter();
        let Lane { engine, methods, .. } = &mut *lane;
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
        let mut segment = segment;
        if let Some(status) = self.recv_at_once(peer, &pattern, &mut segment) {
            return Ok(status);
        }
        let id = {
            let mut lane = self.waiting.enter();
            let Lane { engine, methods, .. } = &mut *lane;
            recv::start(engine, methods, &pattern, segment)?
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
            return self.completed(from_nobody());
        };
        let mut lane = self.waiting.enter();
        if let Some(peer) = peer
            && lane.methods.is_next_there(peer)
        {
            lane.stay_fair();
            let Lane { engine, methods, .. } = &mut *lane;
            return recv::start_there(engine, methods, peer, &pattern, segment);
        }
        let Lane { engine, methods, .. } = &mut *lane;
        recv::start(engine, methods, &pattern, segment)
    }

    /// A request that is over from the start.
    fn completed(&self, status: Status) -> Result<RequestId> {
        let request = Request { status, ..Request::new(State::Complete) };
        self.waiting.enter().engine.requests.insert(request)
    }

    /// Waits for a request and takes its status; the id is stale afterwards. The message's fate is in the
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
        self.waiting.until(call, |_| Awaited::All(vec![id]), |lane| take_if_complete(lane, id))
    }

    /// Takes the status if the request is over; one step of progress otherwise, and another look.
    ///
    /// # Errors
    /// A stale id.
    #[inline]
    pub fn test(&self, id: RequestId) -> Result<Option<Status>> {
        if let Some(done) = take_if_complete(&mut self.waiting.enter(), id) {
            return done.map(Some);
        }
        self.waiting.step();
        take_if_complete(&mut self.waiting.enter(), id).transpose()
    }

    /// Waits until one of the requests is over; which, and its status. `None` when there is none to wait for.
    ///
    /// # Errors
    /// A stale id.
    pub fn wait_any(&self, ids: &[Option<RequestId>]) -> Result<Option<(usize, Status)>> {
        if ids.iter().all(Option::is_none) {
            return Ok(None);
        }
        let awaited = |_: &Lane| Awaited::Any(ids.iter().flatten().copied().collect());
        self.waiting.until(self.calls.wait_any, awaited, |lane| first_complete(lane, ids)).map(Some)
    }

    /// Like [`World::wait_any`], but one step of progress at most. The inner `None`: nothing is over yet.
    ///
    /// # Errors
    /// A stale id.
    pub fn test_any(&self, ids: &[Option<RequestId>]) -> Result<Option<Option<(usize, Status)>>> {
        if ids.iter().all(Option::is_none) {
            return Ok(None);
        }
        self.waiting.step();
        first_complete(&mut self.waiting.enter(), ids).transpose().map(Some)
    }

    /// Advances until `done` gives a value; for waits over several requests, which are those of `awaited`.
    pub fn wait_until<T>(
        &self,
        call: &'static str,
        awaited: impl Fn(&Lane) -> Awaited,
        done: impl FnMut(&mut Lane) -> Option<T>,
    ) -> T {
        self.waiting.until(call, awaited, done)
    }

    /// One step of progress.
    pub fn step(&self) {
        self.waiting.step();
    }

    /// Starts a collective operation.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn start(&self, schedule: Schedule) -> Result<RequestId> {
        let mut lane = self.waiting.enter();
        let Lane { engine, methods, running, .. } = &mut *lane;
        running.start(engine, methods, schedule)
    }

    /// Starts a collective operation that its caller keeps; it may be started again once it is over.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn start_again(&self, schedule: &Arc<Schedule>) -> Result<RequestId> {
        let mut lane = self.waiting.enter();
        let Lane { engine, methods, running, .. } = &mut *lane;
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
        let mut lane = self.waiting.enter();
        lane.engine.requests.ensure_room()?; // before anything leaves
        let mut walk = lane.running.walk(schedule);
        lane.stay_fair();
        let walked = self.waiting.glance(&mut lane, |Lane { engine, methods, .. }, looks| {
            (0..looks).any(|_| walk.look(engine, methods)).then_some(())
        });
        let Lane { engine, methods, running, .. } = &mut *lane;
        if walked.is_some() {
            return running.over(walk);
        }
        let id = running.go_on(engine, methods, walk)?;
        drop(lane);
        self.wait_in(call, id).and_then(fate)
    }

    /// Leaves: waits for everybody, and for everything of ours to have left.
    ///
    /// # Errors
    /// When the last synchronisation fails.
    pub fn finalize(&self) -> Result<()> {
        let call = self.calls.finalize;
        let all_left =
            |lane: &mut Lane| (!lane.engine.has_pending() && lane.methods.is_drained()).then_some(());
        self.waiting.until(call, |_| Awaited::Departure, all_left);
        self.run_in(call, crate::coll::barrier(&self.world))?;
        self.waiting.until(call, |_| Awaited::Departure, all_left);
        self.publish_counters();
        self.node.set_life(self.local_rank, Life::Finalised);
        if let Some(launcher) = &mut *self.launcher.lock().unwrap_or_else(PoisonError::into_inner) {
            // The job is over for us either way.
            let _ = launcher.finalize();
        }
        Ok(())
    }

    /// Shows the counters to the launcher.
    fn publish_counters(&self) {
        let lane = self.waiting.enter();
        let mut counts = lane.engine.counts.clone();
        counts.merge(&lane.methods.counts);
        counts.publish(self.node.counters(self.local_rank));
    }

    /// Ends the whole job with `code`. Does not return.
    pub fn abort(&self, code: i32) -> ! {
        self.node.set_life(self.local_rank, Life::Aborted);
        if let Some(launcher) = &mut *self.launcher.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = launcher.abort(code);
        }
        std::process::exit(if code == 0 { 1 } else { code });
    }
}

/// What a finished transfer says: its error, if it has one.
fn fate(status: Status) -> Result<()> {
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
    Error::invalid(ErrorClass::Tag, "tag", tag, format_args!("0..={TAG_UB}"))
}

#[inline]
fn envelope(comm: &Comm, tag: i32, segment: &Segment, synchronous: bool, types: Types) -> Result<Envelope> {
    if tag < 0 {
        return Err(wrong_tag(tag));
    }
    Ok(Envelope { context: comm.context(), source: comm.rank(), tag, len: segment.len(), synchronous, types })
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
    if tag < 0 && tag != ANY_TAG {
        return Err(wrong_tag_sought(tag));
    }
    let peer = if from == ANY_SOURCE { None } else { comm.source(from)? };
    if peer.is_none() && from != ANY_SOURCE {
        return Ok(None);
    }
    Ok(Some(Sought { pattern: Pattern { context: comm.context(), source: from, tag }, peer }))
}

#[cold]
fn wrong_tag_sought(tag: i32) -> Error {
    let expected = format!("0..={TAG_UB} or MPI_ANY_TAG ({ANY_TAG})");
    Error::invalid(ErrorClass::Tag, "tag", tag, expected)
}

#[inline]
fn take_if_complete(lane: &mut Lane, id: RequestId) -> Option<Result<Status>> {
    match lane.engine.requests.get(id) {
        None => Some(Err(stale(id))),
        Some(request) if complete::is_complete(request) => {
            lane.engine.requests.remove(id).map(|request| Ok(request.status))
        }
        Some(_) => None,
    }
}

fn first_complete(lane: &mut Lane, ids: &[Option<RequestId>]) -> Option<Result<(usize, Status)>> {
    ids.iter()
        .enumerate()
        .find_map(|(at, id)| Some(take_if_complete(lane, (*id)?)?.map(|status| (at, status))))
}

#[cold]
fn stale(id: RequestId) -> Error {
    Error::invalid(ErrorClass::Request, "request", id, "a request that has not been completed or freed")
}

/// Makes sure that all ranks of this host represent data alike: they read each other's memory.
fn agree_on_format(node: &Node, own: Format) -> Result<()> {
    let agreed = node.agree_on_format(own.word());
    if agreed == own.word() {
        return Ok(());
    }
    let theirs =
        Format::from_word(agreed).map_or_else(|| format!("{agreed:#x}"), |format| format.to_string());
    Err(Error::other(
        ErrorClass::Other,
        format!(
            "another rank on this host represents data as {theirs}, this one as {own}: ranks on one host must be alike"
        ),
    ))
}

/// Finds out which job this process belongs to.
fn find_job() -> Result<Start> {
    let variable = |name: &str| std::env::var(name).ok();
    let start = match client::membership(variable).map_err(|e| Error::system("joining the job", e))? {
        None => {
            let node = Node::create(1).map_err(|e| Error::no_memory(e.to_string()))?;
            Start { rank: 0, size: 1, local_rank: 0, node, launcher: None, cpus: 1 }
        }
        Some(member) => match variable("POSTHASTE_NODE_FD") {
            Some(fd) => ours(&member, &fd)?,
            None => foreign()?,
        },
    };
    // Spent: a program that this rank starts is on its own (MPI-5.0 §11.2 leaves that open; users expect it).
    process::remove_variables(client::JOB_VARIABLES.iter().copied());
    Ok(start)
}

/// Our own launcher has handed everything down.
fn ours(member: &client::Membership, fd: &str) -> Result<Start> {
    let number = |name: &'static str| -> Result<usize> {
        let text = std::env::var(name).unwrap_or_default();
        text.parse().map_err(|_| Error::invalid(ErrorClass::Other, name, format!("\"{text}\""), "a number"))
    };
    let fd =
        fd.parse().map_err(|_| Error::invalid(ErrorClass::Other, "POSTHASTE_NODE_FD", fd, "a descriptor"))?;
    let inherited: OwnedFd =
        process::inherited(fd).map_err(|e| Error::system("taking over the node segment", e))?;
    let node = Node::attach(inherited).map_err(|e| Error::system("attaching the node segment", e))?;
    let local_rank = number("POSTHASTE_LOCAL_RANK")?;
    if local_rank >= node.ranks() || local_rank > member.rank || node.ranks() != member.size {
        return Err(Error::other(
            ErrorClass::Other,
            format!(
                "the launcher's variables contradict each other: rank {} of {}, local rank {local_rank} of {}",
                member.rank,
                member.size,
                node.ranks()
            ),
        ));
    }
    let launcher = client::connect().map_err(|e| Error::system("greeting the launcher", e))?;
    // The launcher may have bound each rank to one CPU; it says how many there are for all.
    let cpus = number("POSTHASTE_CPUS")?;
    Ok(Start { rank: member.rank as u32, size: member.size as u32, local_rank, node, launcher, cpus })
}

/// A foreign PMI-1 launcher: the first rank makes the node segment and tells the others through the key-value
/// space.
fn foreign() -> Result<Start> {
    let wrong = |e: client::Error| Error::system("joining the job of this launcher", e);
    let Some(mut pmi) = client::connect().map_err(wrong)? else {
        return Err(Error::other(ErrorClass::Other, "the launcher's connection is gone"));
    };
    let space = pmi.get_my_kvsname().map_err(wrong)?;
    let (rank, size) = (pmi.rank, pmi.size);
    const KEY: &str = "posthaste-node";
    let mut own = None;
    if rank == 0 {
        let node = Node::create(size).map_err(|e| Error::no_memory(e.to_string()))?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), node.as_fd().as_raw_fd());
        pmi.put(&space, KEY, &format!("{}:{path}", machine::host_name())).map_err(wrong)?;
        own = Some(node);
    }
    pmi.barrier().map_err(wrong)?;
    let node = match own {
        Some(node) => node,
        None => {
            let told = pmi.get(&space, KEY).map_err(wrong)?.unwrap_or_default();
            let (host, path) = told.split_once(':').unwrap_or_default();
            if host != machine::host_name() {
                return Err(Error::other(
                    ErrorClass::Other,
                    format!(
                        "rank {rank} runs on {} and rank 0 on {host}: more than one host is not supported yet",
                        machine::host_name()
                    ),
                ));
            }
            let file = std::fs::File::options().read(true).write(true).open(path);
            let file =
                file.map_err(|e| Error::system(format!("opening rank 0's node segment at {path}"), e))?;
            Node::attach(file.into()).map_err(|e| Error::system("attaching rank 0's node segment", e))?
        }
    };
    // Every rank must come to the same answer on whether CPUs are shared, so it is asked of all ranks together: a
    // launcher may have bound each to a CPU of its own.
    node.add_cpus(&machine::affinity());
    // Everybody has the segment: rank 0 may go.
    pmi.barrier().map_err(wrong)?;
    let cpus = machine::within_quota(node.cpus());
    let start =
        Start { rank: rank as u32, size: size as u32, local_rank: rank, node, launcher: Some(pmi), cpus };
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_unlike_format_on_one_host_are_refused() {
        let node = Node::create(2).unwrap();
        agree_on_format(&node, Format::NATIVE).unwrap();
        agree_on_format(&node, Format::NATIVE).unwrap();
        let error = agree_on_format(&node, Format::NATIVE.swapped()).unwrap_err().to_string();
        assert!(
            error.contains("as little-endian, 8 bytes a long") && error.contains("this one as big-endian"),
            "{error}"
        );
    }
}
