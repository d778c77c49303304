//! The processes of other jobs that this one has met, and how it parts from them.
//!
//! What must stay true: a process keeps its number, so it is the same in every group; one that is in no communicator with this
//! process after a disconnect leaves no connection behind.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use posthaste_os::{copying, machine};
use posthaste_pmi::launcher::Launcher;

use crate::coll::{self, inter};
use crate::comm::Comm;
use crate::config::Way;
use crate::datatype::Format;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::Peer;
use crate::jobs::{JobId, ProcessName};
use crate::meeting::{Line, Member, Party, Port, PortName};
use crate::method::Route;
use crate::method::near::Near;
use crate::method::tcp::{BusinessCard, Pass, Shelf, Tcp, TcpSetup};
use crate::progress::Vci;
use crate::pt2pt::loss;
use crate::wait::Awaited;
use crate::world::{LEAVE, World, wireup};

/// What this process knows of other jobs.
#[derive(Debug)]
pub(in crate::world) struct Abroad {
    secret: [u8; 32],
    pub(super) own: ProcessName,
    /// Whether it shares memory with peers of its own job.
    shares: bool,
    known: Mutex<Known>,
    pub(super) ports: Mutex<HashMap<String, Arc<Mutex<Port>>>>,
    /// By the service, the connections to a names server by which publications live.
    pub(super) published: Mutex<HashMap<String, Line>>,
    /// Calls of ranks of this job, so far.
    pub(super) calls: AtomicU32,
    /// The communicator with those who started this job.
    pub(super) parents: Mutex<Weak<Comm>>,
}

/// A process keeps its number, so that it is the same in every group.
#[derive(Debug, Default)]
pub(super) struct Known {
    peers: HashMap<ProcessName, Peer>,
    names: HashMap<Peer, ProcessName>,
    /// Communicators with members of several jobs.
    comms: Vec<Weak<Comm>>,
}

impl Abroad {
    pub(in crate::world) fn new(secret: [u8; 32], rank: u32, shares: bool) -> Self {
        let job = blake3::Hasher::new_keyed(&secret).update(b"job").finalize();
        let job = u64::from_le_bytes(*job.as_bytes().first_chunk().unwrap_or(&[1; 8]));
        let own = ProcessName { job: JobId(job.max(1)), rank };
        let (known, ports, published, calls, parents) = Default::default();
        Self { secret, own, shares, known, ports, published, calls, parents }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This process is in a new communicator.
    pub(in crate::world) fn connects(&self, comm: &Arc<Comm>) {
        if comm.context().spans_jobs() {
            let comms = &mut self.known().comms;
            comms.retain(|comm| comm.strong_count() > 0);
            comms.push(Arc::downgrade(comm));
        }
    }

    /// Who has met at one of a port's addresses may have called others: nothing of that stays.
    fn look_at_ports(&self) {
        let ports: Vec<_> = {
            let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
            ports.values().cloned().collect()
        };
        ports.iter().for_each(|port| super::lock(port).look());
    }

    pub(super) fn port(&self, name: &str) -> Result<Arc<Mutex<Port>>> {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        ports.get(name).cloned().ok_or_else(|| {
            let got =
                name.parse::<PortName>().map_or_else(|_| "no name of a port".into(), |name| name.shown());
            Error::invalid(ErrorClass::Port, "port_name", got, "a port that this process has opened")
        })
    }
}

impl World {
    /// Where this process is reached by other jobs, from now on.
    pub(super) fn own_card(&self) -> Result<String> {
        let mut vci = self.vci();
        let config = vci.engine.config.clone();
        let me = Peer(self.rank());
        if vci.methods.tcp().is_none() {
            let Abroad { secret, shares, .. } = &self.common.abroad;
            let (peers, node) = (self.world.size() as usize, self.node_name());
            let setup = TcpSetup { me, peers, secret: *secret, format: Format::NATIVE, node };
            let (tcp, _) = Tcp::new(setup, &config, Box::new(Shelf::default()))?;
            let tcp = if *shares { tcp.sharing() } else { tcp };
            self.runtime.sleep_on(&tcp.set()).map_err(|e| Error::system("watching connections", e))?;
            vci.methods.add(tcp);
        }
        if Way::Shm.is_built() && config.methods.admit(Way::Shm) && !vci.methods.has_near() {
            let doorbell = self.runtime.doorbell.clone();
            vci.methods.add(Near::new(me, doorbell, &config, self.founding.accord().shares_cpus));
            let host = Tcp::host_of(config.node.as_deref());
            let copying = copying::between_jobs(&self.common.node, &machine::affinity());
            vci.methods.tcp().into_iter().for_each(|tcp| tcp.shares_memory_on(host, copying));
        }
        let nobody = || Error::other(ErrorClass::Intern, "no TCP");
        Ok(vci.methods.tcp().ok_or_else(nobody)?.own_card().to_string())
    }

    /// Enters the members of another group in the table of processes, and appends them to `peers`, also when not all of them can be
    /// entered. Those that are known are found again, unless they were lost: then their engine has been opened again since, and
    /// for whoever still has the communicators of before they are lost for good.
    pub(super) fn enter(&self, theirs: &Party, pass: Pass, peers: &mut Vec<Peer>) -> Result<()> {
        let own = self.common.abroad.own;
        let mut known = self.common.abroad.known();
        let mut vci = self.vci();
        for Member { name, card } in &theirs.members {
            if name.job == own.job {
                if name.rank >= self.world.size() as u32 {
                    return Err(Error::other(ErrorClass::Intern, format!("{name} is not in this job")));
                }
                peers.push(Peer(name.rank));
                continue;
            }
            let card: BusinessCard = card.parse()?;
            let peer = match known.peers.get(name) {
                Some(peer) if vci.engine.losses.check(*peer).is_ok() => *peer,
                _ => {
                    let peer = vci.methods.join(Route::Tcp);
                    known.peers.insert(*name, peer);
                    known.names.insert(peer, *name);
                    peer
                }
            };
            let tcp = vci.methods.tcp().ok_or_else(|| Error::other(ErrorClass::Intern, "no TCP"))?;
            tcp.welcome(own, peer, *name, pass, card);
            peers.push(peer);
        }
        Ok(())
    }

    /// What names this process in all jobs.
    pub(in crate::world) fn own_name(&self) -> ProcessName {
        self.common.abroad.own
    }

    /// The names of a group's members; `None` where all are of this job.
    pub(in crate::world) fn names_of(&self, group: &Group) -> Result<Option<Vec<ProcessName>>> {
        let (own, processes) = (self.own_name(), self.world.size() as u32);
        if group.peers().all(|peer| peer.0 < processes) {
            return Ok(None);
        }
        let known = self.common.abroad.known();
        let name = |peer: Peer| match peer.0 < processes {
            true => Ok(ProcessName { rank: peer.0, ..own }),
            false => known.names.get(&peer).copied().ok_or_else(|| {
                Error::other(ErrorClass::Intern, format!("process {} of another job has no name", peer.0))
            }),
        };
        group.peers().map(name).collect::<Result<_>>().map(Some)
    }

    /// Makes sure that this process and the member of a group with this rank still know each other.
    ///
    /// # Errors
    /// A process of another job that this one has parted from.
    pub(in crate::world) fn check_connected(
        &self,
        argument: &'static str,
        (rank, peer): (u32, Peer),
    ) -> Result<()> {
        let is_connected = |vci: &mut Vci| vci.methods.tcp().is_some_and(|tcp| tcp.label_with(peer) != 0);
        if peer.0 < self.world.size() as u32 || is_connected(&mut self.vci()) {
            return Ok(());
        }
        let got = format_args!(
            "a group whose rank {rank} is a process of another job that this one has parted from"
        );
        let expected = "processes of this job, and of those with which a communicator connects it (MPI_Comm_connect, MPI_Comm_spawn)";
        Err(Error::invalid(ErrorClass::Group, argument, got, expected))
    }

    /// A meeting came to nothing.
    pub(super) fn withdraw(&self, peers: &[Peer], label: u64) {
        if let Some(tcp) = self.vci().methods.tcp() {
            tcp.withdraw(peers, label);
        }
    }

    /// Waits for all members of `comm`, and parts from the processes of other jobs with which this one has no other communicator;
    /// nobody has anything more to say in it (MPI-5.0 §11.10.4).
    ///
    /// # Errors
    /// When a member is lost.
    pub fn disconnect(&self, comm: &Comm) -> Result<()> {
        self.run(comm.bridge().map_or_else(|| coll::disconnect(comm), inter::disconnect))?;
        self.part(comm);
        self.common.abroad.look_at_ports();
        Ok(())
    }

    fn part(&self, comm: &Comm) {
        self.forget_parents(comm);
        let peers = self.common.abroad.known().leave(comm);
        if peers.is_empty() {
            return;
        }
        if self.rank() == 0 && self.common.abroad.known().is_alone() {
            // Whether the launcher cares or not: what ends others ends this job no more.
            let _ = wireup::ask(&self.common.launcher, Launcher::has_parted);
        }
        let until = machine::now() + LEAVE;
        let call = "MPI_Comm_disconnect";
        let has_parted = |vci: &mut Vci| {
            let tcp = vci.methods.tcp();
            tcp.is_none_or(|tcp| peers.iter().all(|peer| tcp.has_parted(*peer)))
        };
        let over = |vci: &mut Vci| machine::now() > until || has_parted(vci);
        let drained = |vci: &mut Vci| {
            let is_drained = |peer: &Peer| loss::is_drained(&vci.engine, *peer);
            (peers.iter().all(is_drained) || machine::now() > until).then_some(())
        };
        self.waiting.until(0, call, |_| Awaited::Departure, drained);
        if let Some(tcp) = self.vci().methods.tcp() {
            peers.iter().for_each(|peer| tcp.begin_parting(*peer));
        }
        self.waiting.until(0, call, |_| Awaited::Departure, |vci| over(vci).then_some(()));
        comm.ends();
        let mut vci = self.vci();
        let Vci { engine, methods, .. } = &mut *vci;
        peers.iter().for_each(|peer| loss::parted(engine, *peer));
        methods.forget_peers(&peers);
    }

    /// A number that ranks of a communicator have in common that share memory, and no others.
    pub fn memory_in(&self, comm: &Comm) -> u32 {
        if !comm.context().spans_jobs() {
            return self.node();
        }
        // Ranks of other jobs do not share memory with ours: the first one that does is the number.
        self.first_of(comm, |peer| self.common.nodes.leader(peer.0) == self.node()).unwrap_or(0)
    }

    /// Which member is the first of this job of which this is true, where those of both groups are numbered through: the same at
    /// all of them.
    pub(in crate::world) fn first_of(&self, comm: &Comm, is_one: impl Fn(Peer) -> bool) -> Option<u32> {
        let own_job = self.world.size() as u32;
        let members = comm.bridge().map_or(comm.group(), |bridge| bridge.team().group());
        (0..).zip(members.peers()).find(|(_, peer)| peer.0 < own_job && is_one(*peer)).map(|(at, _)| at)
    }
}

impl Known {
    /// Whether no communicator has members of other jobs.
    fn is_alone(&self) -> bool {
        let has_foreign = |comm: Arc<Comm>| !comm.is_left() && !self.abroad(&comm).is_empty();
        !self.comms.iter().filter_map(Weak::upgrade).any(has_foreign)
    }

    /// The members of a communicator that are processes of other jobs.
    fn abroad(&self, comm: &Comm) -> HashSet<Peer> {
        let remote = comm.remote().into_iter().flat_map(|group| group.peers());
        comm.group().peers().chain(remote).filter(|peer| self.names.contains_key(peer)).collect()
    }

    /// This process is not in `comm` any more, whoever still has it: the processes of other jobs that are in it and in no other
    /// one.
    fn leave(&mut self, comm: &Comm) -> Vec<Peer> {
        let mut peers = self.abroad(comm);
        self.comms.retain(|other| !std::ptr::eq(other.as_ptr(), comm));
        for other in self.comms.iter().filter_map(Weak::upgrade).filter(|other| !other.is_left()) {
            let theirs = self.abroad(&other);
            peers.retain(|peer| !theirs.contains(peer));
        }
        peers.into_iter().collect()
    }
}
