//! Finds out who this process is: from our launcher (a node segment handed down), from a foreign launcher, or alone;
//! and brings it together with the others as far as that is done before the first message. MPI-5.0 §11.2.
//!
//! What must stay true: a process that was meant to be one of many never goes on as one of one; a job on one host under
//! our launcher asks for nothing and waits for nobody.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock};

use posthaste_os::node::Node;
use posthaste_os::process;
use posthaste_pmi::client;
use posthaste_pmi::launcher::Launcher;

use super::wireup::{self, Places, Shared};
use crate::config::{Config, Way};
use crate::datatype::Format;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::method::{Route, Routes};

/// What starting found out.
pub(super) struct Start {
    pub(super) rank: u32,
    pub(super) node: Node,
    /// Number of this rank in the node segment.
    pub(super) local_rank: usize,
    /// The ranks of the node segment, by their numbers there.
    pub(super) beside: Vec<Peer>,
    /// Which ranks are on the same node.
    pub(super) nodes: Places,
    pub(super) routes: Routes,
    pub(super) networks: wireup::Networks,
    /// Whether the ranks of this host share CPUs.
    pub(super) oversubscribed_here: bool,
    /// Whether those of any host do.
    pub(super) oversubscribed: bool,
    pub(super) launcher: Shared,
}

/// The launcher of a job that this process could not join.
static NOT_JOINED: OnceLock<Shared> = OnceLock::new();

/// Ends this process with `code`, and with it the job that it could not join, if there is one: not every launcher ends
/// the other ranks when one of them exits before it has joined.
pub fn abort_not_joined(code: i32) -> ! {
    if let Some(launcher) = NOT_JOINED.get() {
        process::ignore_request_to_end();
        let _ = wireup::ask(launcher, |launcher| launcher.abort(code));
    }
    std::process::exit(if code == 0 { 1 } else { code })
}

/// Finds out which job this process belongs to, and joins it.
pub(super) fn join(config: &Config) -> Result<Start> {
    let Some(launcher) = Launcher::connect().map_err(|e| Error::system("joining the job", e))? else {
        return alone();
    };
    let launcher = Arc::new(Mutex::new(Some(launcher)));
    let start = match std::env::var("POSTHASTE_NODE_FD") {
        Ok(fd) => ours(&launcher, &fd, config),
        Err(_) => foreign(&launcher, config),
    };
    if start.is_err() {
        // A launcher may take the end of the connection for that of the process, and kill it before it has said why.
        let _ = NOT_JOINED.set(launcher);
    }
    // Spent: a program that this rank starts is on its own (MPI-5.0 §11.2 leaves that open; users expect it).
    process::remove_variables(client::JOB_VARIABLES.iter().copied());
    start
}

/// A job of one.
fn alone() -> Result<Start> {
    let node = Node::create(1).map_err(|e| Error::no_memory(e.to_string()))?;
    agree(&node, Format::NATIVE, &Config::default())?;
    Ok(Start {
        rank: 0,
        node,
        local_rank: 0,
        beside: vec![Peer(0)],
        nodes: Places::one(1),
        routes: Routes::new(1, Route::Loopback),
        networks: wireup::Networks::default(),
        oversubscribed_here: false,
        oversubscribed: false,
        launcher: Arc::default(),
    })
}

/// Our own launcher has handed everything down.
fn ours(shared: &Shared, fd: &str, config: &Config) -> Result<Start> {
    let mut held = wireup::hold(shared);
    let launcher = held.as_mut().ok_or_else(wireup::gone)?;
    let number = |name: &'static str| -> Result<usize> {
        let text = std::env::var(name).unwrap_or_default();
        text.parse().map_err(|_| Error::invalid(ErrorClass::Other, name, format!("\"{text}\""), "a number"))
    };
    let fd =
        fd.parse().map_err(|_| Error::invalid(ErrorClass::Other, "POSTHASTE_NODE_FD", fd, "a descriptor"))?;
    let inherited: OwnedFd =
        process::inherited(fd).map_err(|e| Error::system("taking over the node segment", e))?;
    let node = Node::attach(inherited).map_err(|e| Error::system("attaching the node segment", e))?;
    agree(&node, Format::NATIVE, config)?;
    let (local_rank, rank, size) = (number("POSTHASTE_LOCAL_RANK")?, launcher.rank() as u32, launcher.size());
    let hosts = if node.ranks() == size {
        Places::one(size)
    } else {
        // Of a job on several hosts the launcher says which rank is where; without that, nothing below fits.
        Places::of(&launcher.nodes().map_err(wireup::failed)?.unwrap_or_default())
    };
    let beside = hosts.with(rank);
    if beside.len() != node.ranks() || beside.get(local_rank) != Some(&rank) {
        return Err(Error::other(
            ErrorClass::Other,
            format!(
                "the launcher contradicts itself: rank {rank} of {size} is number {local_rank} of {} on its host, and \
                 the ranks there are {beside:?}",
                node.ranks()
            ),
        ));
    }
    // The launcher may have bound each rank to one CPU; it says how many there are for all.
    let oversubscribed_here = node.ranks() > number("POSTHASTE_CPUS")?;
    let nodes = match &config.node {
        Some(name) => wireup::by_names(launcher, Some(name))?,
        None => hosts.clone(),
    };
    let routes = wireup::routes(rank, &beside, &nodes, config)?;
    let secret = match std::env::var("POSTHASTE_SECRET") {
        Ok(text) => Some(wireup::read_secret(&text)?),
        Err(_) if wireup::needs_secret(&routes) => {
            wireup::offer_secret(launcher)?;
            launcher.fence().map_err(wireup::failed)?;
            Some(wireup::secret(launcher)?)
        }
        Err(_) => None,
    };
    drop(held);
    let launcher = shared.clone();
    let networks = wireup::open_networks(&launcher, Peer(rank), &routes, secret, config)?;
    if !networks.are_none() || !hosts.are_one() {
        wireup::meet(&launcher, (!hosts.are_one() && local_rank == 0).then_some(oversubscribed_here))?;
    }
    let oversubscribed = if hosts.are_one() {
        oversubscribed_here
    } else {
        wireup::oversubscribed_anywhere(&launcher, &hosts)?
    };
    let beside = beside.into_iter().map(Peer).collect();
    Ok(Start {
        rank,
        node,
        local_rank,
        beside,
        nodes,
        routes,
        networks,
        oversubscribed_here,
        oversubscribed,
        launcher,
    })
}

/// A foreign launcher: the lowest rank of each node makes its node segment and tells the others of that node through the
/// key-value space.
fn foreign(shared: &Shared, config: &Config) -> Result<Start> {
    let mut held = wireup::hold(shared);
    let launcher = held.as_mut().ok_or_else(wireup::gone)?;
    let rank = launcher.rank() as u32;
    let told = if config.node.is_none() { launcher.nodes().map_err(wireup::failed)? } else { None };
    let nodes = match told {
        Some(nodes) => Places::of(&nodes),
        None => wireup::by_names(launcher, config.node.as_deref())?,
    };
    let (beside, leader) = (nodes.with(rank), nodes.leader(rank));
    let routes = wireup::routes(rank, &beside, &nodes, config)?;
    let needs_secret = wireup::needs_secret(&routes);
    if needs_secret {
        wireup::offer_secret(launcher)?;
    }
    let own = if rank == leader { Some(wireup::make_segment(launcher, beside.len())?) } else { None };
    wireup::tell_cpus(launcher)?;
    launcher.fence().map_err(wireup::failed)?;
    let node = own.map_or_else(|| wireup::attach_segment(launcher, leader), Ok)?;
    agree(&node, Format::NATIVE, config)?;
    let secret = if needs_secret { Some(wireup::secret(launcher)?) } else { None };
    let outnumber = if rank == leader { Some(wireup::share_cpus(launcher, &beside)?) } else { None };
    drop(held);
    let launcher = shared.clone();
    let networks = wireup::open_networks(&launcher, Peer(rank), &routes, secret, config)?;
    wireup::meet(&launcher, outnumber)?;
    let oversubscribed_here = wireup::is_oversubscribed(&launcher, leader)?;
    let oversubscribed = oversubscribed_here || wireup::oversubscribed_anywhere(&launcher, &nodes)?;
    let local_rank = beside.iter().position(|other| *other == rank).unwrap_or_default();
    let beside = beside.into_iter().map(Peer).collect();
    Ok(Start {
        rank,
        node,
        local_rank,
        beside,
        nodes,
        routes,
        networks,
        oversubscribed_here,
        oversubscribed,
        launcher,
    })
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
