//! Finds out who this process is: from our launcher (a node segment handed down), from a foreign launcher, or alone;
//! and brings it together with the others as far as that is done before the first message. MPI-5.0 §11.2.
//!
//! What must stay true: a process that was meant to be one of many never goes on as one of one; a job on one host under
//! our launcher asks for nothing and waits for nobody.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use posthaste_os::node::Node;
use posthaste_os::{machine, process};
use posthaste_pmi::client;
use posthaste_pmi::launcher::Launcher;

use super::cpus::{self, Claim, Crowd};
use super::wireup::{self, Places, Shared};
use crate::coll;
use crate::config::{Config, INITIAL_HANDLER, InitialHandler, Way};
use crate::datatype::Format;
use crate::error::{self, Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::method::{Route, Routes};

/// What starting found out.
pub(super) struct Start {
    pub(super) rank: u32,
    pub(super) node: Node,
    /// Number of this rank in the node segment.
    pub(super) local_rank: usize,
    /// The ranks of the node segment, by their numbers there.
    pub(super) node_local: Vec<Peer>,
    /// Which ranks are on the same node.
    pub(super) nodes: Places,
    pub(super) routes: Routes,
    pub(super) networks: wireup::Networks,
    pub(super) crowd: Crowd,
    pub(super) launcher: Shared,
    /// What only processes of this job know.
    pub(super) secret: [u8; 32],
}

/// This process as a member of its job: what stays while its engine is closed, so that it can be opened again.
#[derive(Debug)]
pub(crate) struct Membership {
    /// The connection to the launcher; none in a job of one.
    launcher: Shared,
    /// What our own launcher has handed down.
    handed: Option<Handed>,
    openings: u32,
    /// The error handler that it was started with.
    initial_handler: InitialHandler,
    /// It could not join, and for the others of its job it is lost.
    has_failed: bool,
}

/// What our own launcher hands down to a rank.
#[derive(Debug)]
struct Handed {
    node: OwnedFd,
    local_rank: usize,
    /// CPUs for all ranks of this host: each rank may have been bound to one.
    cpus: usize,
    /// Which ones they may use; none where the launcher does not say.
    cpu_list: Vec<usize>,
    secret: Option<[u8; 32]>,
}

impl Membership {
    fn new(launcher: Option<Launcher>, initial_handler: InitialHandler) -> Self {
        let launcher = Arc::new(Mutex::new(launcher));
        Self { launcher, handed: None, openings: 0, initial_handler, has_failed: false }
    }

    /// The error handler that the process was started with.
    pub(crate) fn initial_handler(&self) -> InitialHandler {
        self.initial_handler
    }

    /// Takes leave of the launcher, if there is one and it has not been done.
    pub(crate) fn leave(&self) {
        // The job is over for us either way.
        let left =
            wireup::ask(&self.launcher, |launcher| (!launcher.has_left()).then(|| launcher.finalize()));
        if let Some(Some(Err(why @ client::Error::Own(_)))) = left {
            error::say(format_args!("{why}"));
        }
    }

    /// Ends the job, if there is one that this process has not left: not every launcher ends the other ranks when one of them
    /// exits.
    pub(crate) fn abort(&self, code: i32) {
        wireup::ask(&self.launcher, |launcher| (!launcher.has_left()).then(|| launcher.abort(code)));
    }
}

/// Joins the job that this process belongs to; finds out which one that is when there is no `membership` yet.
pub(super) fn join(config: &Config, membership: &mut Option<Membership>) -> Result<Start> {
    let member = match membership {
        Some(member) => member,
        None => {
            let launcher = Launcher::connect().map_err(|e| Error::system("joining the job", e))?;
            if launcher.is_some() {
                // It is meant for this job, not for programs that its processes start.
                process::remove_variables([INITIAL_HANDLER]);
            }
            membership.insert(Membership::new(launcher, config.initial_handler))
        }
    };
    if member.has_failed {
        let text = "this process could not join its job before, and the others do not wait for it any more";
        return Err(Error::other(ErrorClass::Other, text));
    }
    member.openings += 1;
    coll::check_types(config.check_types);
    let start = open(member, config);
    if member.openings == 1 {
        // Spent: a program that this rank starts is on its own (MPI-5.0 §11.2 leaves that open; users expect it).
        process::remove_variables(client::JOB_VARIABLES.iter().copied());
    }
    // The connection stays: a launcher may take its end for that of the process, and kill it before it has said why.
    member.has_failed = start.is_err();
    start
}

fn open(member: &mut Membership, config: &Config) -> Result<Start> {
    let Membership { launcher, handed, openings, .. } = member;
    let mut guard = wireup::lock(launcher);
    // One that this process started itself says nothing of the job, and nothing any more when leave was taken.
    if guard.as_ref().is_some_and(|launcher| launcher.is_own() && launcher.has_left()) {
        *guard = None;
    }
    if guard.as_ref().is_none_or(Launcher::is_own) {
        drop(guard);
        return alone(launcher);
    }
    drop(guard);
    if *openings > 1 {
        wireup::ask(launcher, Launcher::open_again).unwrap_or(Ok(())).map_err(wireup::failed)?;
    } else if let Ok(node) = std::env::var("POSTHASTE_NODE_FD") {
        *handed = Some(Handed::read(&node)?);
    }
    match handed {
        Some(handed) => ours(launcher, handed, *openings > 1, config),
        None => foreign(launcher, config),
    }
}

impl Handed {
    /// From the variables that the launcher has set; `node` is the descriptor of the node segment.
    fn read(node: &str) -> Result<Self> {
        let number = |name: &'static str| -> Result<usize> {
            let text = std::env::var(name).unwrap_or_default();
            text.parse()
                .map_err(|_| Error::invalid(ErrorClass::Other, name, format!("\"{text}\""), "a number"))
        };
        let node = node
            .parse()
            .map_err(|_| Error::invalid(ErrorClass::Other, "POSTHASTE_NODE_FD", node, "a descriptor"))?;
        Ok(Self {
            node: process::inherited(node).map_err(|e| Error::system("taking over the node segment", e))?,
            local_rank: number("POSTHASTE_LOCAL_RANK")?,
            cpus: number("POSTHASTE_CPUS")?,
            cpu_list: std::env::var("POSTHASTE_CPU_LIST")
                .ok()
                .and_then(|list| machine::cpu_list(&list))
                .unwrap_or_default(),
            secret: std::env::var("POSTHASTE_SECRET")
                .ok()
                .map(|text| wireup::read_secret(&text))
                .transpose()?,
        })
    }
}

/// A job of one, which has a launcher as soon as it starts processes.
fn alone(launcher: &Shared) -> Result<Start> {
    let node = Node::create(1).map_err(|e| Error::no_memory(e.to_string()))?;
    agree(&node, Format::NATIVE, &Config::default())?;
    let secret = machine::random().map_err(|e| Error::system("making a secret for the job", e))?;
    let crowd = Crowd::alone(1, 1, node.vcis());
    Ok(Start {
        rank: 0,
        node,
        local_rank: 0,
        node_local: vec![Peer(0)],
        nodes: Places::one(1),
        routes: Routes::new(1, Route::Loopback),
        networks: wireup::Networks::default(),
        crowd,
        launcher: launcher.clone(),
        secret,
    })
}

/// Our own launcher has handed everything down. `again`: not for the first time, so what the ranks of this host have left in
/// the node segment is cleared, between two fences.
fn ours(shared: &Shared, handed: &Handed, again: bool, config: &Config) -> Result<Start> {
    let mut guard = wireup::lock(shared);
    let launcher = guard.as_mut().ok_or_else(wireup::gone)?;
    let local_rank = handed.local_rank;
    let attached = handed.node.try_clone().and_then(Node::attach);
    let node = attached.map_err(|e| Error::system("attaching the node segment", e))?;
    if again {
        launcher.fence().map_err(wireup::failed)?;
        node.clear(local_rank).map_err(|e| Error::system("clearing the node segment", e))?;
        launcher.fence().map_err(wireup::failed)?;
    }
    agree(&node, Format::NATIVE, config)?;
    let (rank, size) = (launcher.rank() as u32, launcher.size());
    let hosts = if node.ranks() == size {
        Places::one(size)
    } else {
        // Of a job on several hosts the launcher says which rank is where; without that, nothing below fits.
        Places::of(&launcher.nodes().map_err(wireup::failed)?.unwrap_or_default())
    };
    let node_local = hosts.with(rank);
    if node_local.len() != node.ranks() || node_local.get(local_rank) != Some(&rank) {
        return Err(Error::other(
            ErrorClass::Other,
            format!(
                "the launcher contradicts itself: rank {rank} of {size} is number {local_rank} of {} on its host, and \
                 the ranks there are {node_local:?}",
                node.ranks()
            ),
        ));
    }
    let nodes = match &config.node {
        Some(name) => wireup::by_names(launcher, Some(name))?.within(&hosts)?,
        None => hosts.clone(),
    };
    let routes = wireup::routes(rank, &node_local, &nodes, config)?;
    let secret = match handed.secret {
        Some(secret) => secret,
        None => {
            wireup::offer_secret(launcher)?;
            launcher.fence().map_err(wireup::failed)?;
            wireup::secret(launcher)?
        }
    };
    drop(guard);
    let launcher = shared.clone();
    let networks = wireup::open_networks(&launcher, Peer(rank), &routes, Some(secret), config)?;
    if !networks.are_none() || !hosts.are_one() {
        let claims = !hosts.are_one() && local_rank == 0;
        let claim =
            || Claim::new(node.ranks(), handed.cpus, &handed.cpu_list).with_vcis(networks.vcis(&node));
        wireup::meet(&launcher, claims.then(claim))?;
    }
    let crowd = if hosts.are_one() {
        Crowd::alone(node.ranks(), handed.cpus, networks.vcis(&node))
    } else {
        Crowd::among(&launcher, &hosts, hosts.leader(rank))?
    };
    let node_local = node_local.into_iter().map(Peer).collect();
    Ok(Start { rank, node, local_rank, node_local, nodes, routes, networks, crowd, launcher, secret })
}

/// A foreign launcher: the lowest rank of each node makes its node segment and publishes it to the others of that node through the
/// key-value space.
fn foreign(shared: &Shared, config: &Config) -> Result<Start> {
    let mut guard = wireup::lock(shared);
    let launcher = guard.as_mut().ok_or_else(wireup::gone)?;
    let rank = launcher.rank() as u32;
    let published = if config.node.is_none() { launcher.nodes().map_err(wireup::failed)? } else { None };
    let nodes = match published {
        Some(nodes) => Places::of(&nodes),
        None => wireup::by_names(launcher, config.node.as_deref())?,
    };
    let (node_local, leader) = (nodes.with(rank), nodes.leader(rank));
    let routes = wireup::routes(rank, &node_local, &nodes, config)?;
    wireup::offer_secret(launcher)?;
    let own = if rank == leader { Some(wireup::make_segment(launcher, node_local.len())?) } else { None };
    cpus::publish(launcher)?;
    launcher.fence().map_err(wireup::failed)?;
    let node = own.map_or_else(|| wireup::attach_segment(launcher, leader), Ok)?;
    agree(&node, Format::NATIVE, config)?;
    let secret = wireup::secret(launcher)?;
    let claim = if rank == leader { Some(Claim::of_node(launcher, &node_local)?) } else { None };
    drop(guard);
    let launcher = shared.clone();
    let networks = wireup::open_networks(&launcher, Peer(rank), &routes, Some(secret), config)?;
    wireup::meet(&launcher, claim.map(|claim| claim.with_vcis(networks.vcis(&node))))?;
    let crowd = Crowd::among(&launcher, &nodes, leader)?;
    let local_rank = node_local.iter().position(|other| *other == rank).unwrap_or_default();
    let node_local = node_local.into_iter().map(Peer).collect();
    Ok(Start { rank, node, local_rank, node_local, nodes, routes, networks, crowd, launcher, secret })
}

/// Makes sure that all ranks of this host represent data alike, for they read each other's memory, and that they use the
/// same methods.
fn agree(node: &Node, own: Format, config: &Config) -> Result<()> {
    let agreed = node.agree_on_format(own.word());
    if agreed != own.word() {
        let theirs =
            Format::from_word(agreed).map_or_else(|| format!("{agreed:#x}"), |format| format.to_string());
        return Err(Error::other(
            ErrorClass::Other,
            format!(
                "another rank on this host represents data as {theirs}, this one as {own}: ranks on one host must be \
                 alike"
            ),
        ));
    }
    let ways = (0..).zip(Way::ALL).map(|(bit, way)| u32::from(config.methods.admit(way)) << bit);
    let word = ways.fold(1 << 31 | u32::from(config.node.is_some()) << 30, |word, bit| word | bit);
    let links = (8..).step_by(2).zip(&config.links);
    let links = links.map(|(bit, link)| if link.way == Way::Tcp { 1 << bit } else { 2 << bit });
    let word = links.fold(word, |word, bit: u32| word | bit);
    if node.agree_on_methods(word) == word {
        return Ok(());
    }
    Err(Error::other(
        ErrorClass::Other,
        "another rank on this host was started with other settings: POSTHASTE_METHODS must be the same for all ranks, \
         POSTHASTE_LINKS must name as many links of the same kinds, and POSTHASTE_NODE must be set for all of them or for \
         none",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_unlike_format_on_one_host_are_refused() {
        let (node, config) = (Node::create(2).unwrap(), Config::default());
        agree(&node, Format::NATIVE, &config).unwrap();
        agree(&node, Format::NATIVE, &config).unwrap();
        let error = agree(&node, Format::NATIVE.swapped(), &config).unwrap_err().to_string();
        assert!(
            error.contains("as little-endian, 8 bytes a long") && error.contains("this one as big-endian"),
            "{error}"
        );
    }

    #[test]
    fn ranks_of_one_host_use_the_same_methods() {
        let set = |name: &'static str, value: &'static str| {
            Config::read(|asked| (asked == name).then(|| value.to_owned())).unwrap()
        };
        let node = Node::create(2).unwrap();
        agree(&node, Format::NATIVE, &set("POSTHASTE_METHODS", "shm")).unwrap();
        agree(&node, Format::NATIVE, &set("POSTHASTE_METHODS", "^tcp")).unwrap();
        for other in [set("POSTHASTE_METHODS", "tcp"), set("POSTHASTE_NODE", "a"), Config::default()] {
            let error = agree(&node, Format::NATIVE, &other).unwrap_err().to_string();
            assert!(error.contains("POSTHASTE_METHODS must be the same"), "{error}");
        }
        let (node, links) = (Node::create(2).unwrap(), |value| set("POSTHASTE_LINKS", value));
        agree(&node, Format::NATIVE, &links("tcp@a,fabric")).unwrap();
        agree(&node, Format::NATIVE, &links("tcp@b,fabric")).unwrap();
        for other in [links("tcp,tcp"), links("tcp@a,fabric,tcp"), Config::default()] {
            assert!(agree(&node, Format::NATIVE, &other).is_err(), "{other:?}");
        }
    }
}
