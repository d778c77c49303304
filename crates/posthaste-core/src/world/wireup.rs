//! Wire-up: which ranks share a node, how this rank reaches each other one, and what they have to publish for
//! that before the first message.
//!
//! What must stay true: every rank comes to the same answer about who is on which node, and whether CPUs are shared
//! anywhere; all ranks pass the same fences; connections are made later, by those who talk.
//!
//! What ranks say of themselves there: `node` (its name, where the launcher does not say or is not believed), `segment`
//! (where the lowest rank of a node has the node segment), `cpus` (which ones this rank may use), `shared-cpus` (the lowest rank of a
//! node: how many and which ones its ranks have, and how many VCIs there may be), `secret` (rank 0), `card` (where this rank can be reached by TCP;
//! `fabric` and `plugin` likewise, and `link0` and so on where there are several links).

use std::collections::HashMap;
use std::hash::Hash;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_os::node::Node;
use posthaste_os::{copying, machine};
use posthaste_pmi::client;
use posthaste_pmi::launcher::Launcher;

use super::cpus::Claim;
use crate::config::{Config, LinkChoice, Way, Ways};
use crate::datatype::Format;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::method::bundle::{Bundle, Link};
use crate::method::fabric::{Fabric, FabricBook, FabricCard, FabricSetup};
use crate::method::plugin::{Plugin, PluginSetup};
use crate::method::tcp::{AddressBook, BusinessCard, Tcp, TcpSetup};
use crate::method::{Route, Routes};

/// The launcher, shared by those who ask it while the program runs.
pub(super) type Shared = Arc<Mutex<Option<Launcher>>>;

/// The launcher for several questions.
pub(super) fn lock(launcher: &Shared) -> MutexGuard<'_, Option<Launcher>> {
    launcher.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There is no launcher where one has started this process.
pub(super) fn gone() -> Error {
    Error::other(ErrorClass::Other, "the launcher's connection is gone")
}

/// Does something with the launcher, if there is one.
pub(super) fn ask<T>(launcher: &Shared, with: impl FnOnce(&mut Launcher) -> T) -> Option<T> {
    lock(launcher).as_mut().map(with)
}

/// Which ranks are together. Launchers fill one host after the other, or deal ranks out in turns, so a job of a million
/// takes a few bytes for each host, not for each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    size: u32,
    pattern: Pattern,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// From each of these ranks on, ranks are with that one, the lowest of them all: (first rank, lowest).
    Runs(Vec<(u32, u32)>),
    /// Each rank is with its remainder by this number.
    Turns(u32),
}

impl Places {
    /// Ranks are together when their `places` are equal.
    pub(super) fn of<T: Eq + Hash>(places: &[T]) -> Self {
        let (mut lowest, mut runs) = (HashMap::new(), Vec::new());
        for (rank, place) in (0..).zip(places) {
            let with = *lowest.entry(place).or_insert(rank);
            if runs.last().is_none_or(|(_, last)| *last != with) {
                runs.push((rank, with));
            }
        }
        let (size, turn) = (places.len() as u32, lowest.len() as u32);
        let in_turns = turn > 1 && turn < size && runs.iter().all(|(rank, with)| rank % turn == *with);
        let in_turns = in_turns && runs.len() == size as usize;
        Self { size, pattern: if in_turns { Pattern::Turns(turn) } else { Pattern::Runs(runs) } }
    }

    /// All ranks are together.
    pub(super) fn one(size: usize) -> Self {
        Self { size: size as u32, pattern: Pattern::Runs(vec![(0, 0)]) }
    }

    /// Number of ranks.
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// The lowest rank of those that `rank` is with.
    pub(super) fn leader(&self, rank: u32) -> u32 {
        match &self.pattern {
            Pattern::Turns(turn) => rank % turn,
            Pattern::Runs(runs) => match runs.partition_point(|(first, _)| *first <= rank) {
                0 => rank,
                after => runs[after - 1].1,
            },
        }
    }

    /// The ranks that `rank` is with, itself included, in order.
    pub(super) fn with(&self, rank: u32) -> Vec<u32> {
        let leader = self.leader(rank);
        match &self.pattern {
            Pattern::Turns(turn) => (leader..self.size).step_by(*turn as usize).collect(),
            Pattern::Runs(runs) => {
                let ends = runs.iter().skip(1).map(|(first, _)| *first).chain([self.size]);
                let with = runs.iter().zip(ends).filter(|((_, with), _)| *with == leader);
                with.flat_map(|((first, _), end)| *first..end).collect()
            }
        }
    }

    /// The lowest rank of each place.
    pub(super) fn leaders(&self) -> impl Iterator<Item = u32> {
        let (turns, runs) = match &self.pattern {
            Pattern::Turns(turn) => (0..*turn, &[][..]),
            Pattern::Runs(runs) => (0..0, &runs[..]),
        };
        turns.chain(runs.iter().filter(|(first, with)| first == with).map(|(first, _)| *first))
    }

    /// These places, if each of them is on one host.
    ///
    /// # Errors
    /// When `POSTHASTE_NODE` says that ranks of different hosts are together: they would take each other for who shares memory and CPUs.
    pub(super) fn within(self, hosts: &Self) -> Result<Self> {
        let is_apart = |rank: &u32| hosts.leader(*rank) != hosts.leader(self.leader(*rank));
        let Some(rank) = (0..self.size).find(is_apart) else { return Ok(self) };
        let text = format!(
            "ranks {} and {rank} are on different hosts, and POSTHASTE_NODE gives both the same name: only ranks of one host \
             may be on one node",
            self.leader(rank),
        );
        Err(Error::other(ErrorClass::Other, text))
    }

    /// Whether all are together.
    pub(super) fn are_one(&self) -> bool {
        self.leaders().nth(1).is_none()
    }
}

/// The way to each rank from `rank`, which shares a segment with the ranks `beside`, and a node with `nodes.with(rank)`.
///
/// # Errors
/// When the settings leave no way to some rank.
pub(super) fn routes(rank: u32, node_local: &[u32], nodes: &Places, config: &Config) -> Result<Routes> {
    let near = nodes.leader(rank);
    let shares = |peer: u32| config.methods.admit(Way::Shm) && nodes.leader(peer) == near;
    let network = match config.methods {
        _ if config.methods.admit(Way::Plugin) => Some(Route::Plugin),
        _ if !config.links.is_empty() => Some(Route::Bundle),
        _ if config.methods.admit(Way::Fabric) => Some(Route::Fabric),
        _ if config.methods.admit(Way::Tcp) => Some(Route::Tcp),
        _ => None,
    };
    let sharing = || (0..).zip(node_local).filter(|(_, other)| **other != rank && shares(**other));
    let size = nodes.size();
    if network.is_none()
        && let Some(peer) = (0..size).find(|peer| *peer != rank && sharing().all(|(_, other)| other != peer))
    {
        let place = if nodes.leader(peer) == near { "the same node as" } else { "another node than" };
        let built = Ways::built(&Way::ALL);
        let text = format!(
            "rank {peer} is on {place} rank {rank}, and no method that may be used leads there (POSTHASTE_METHODS \
             admits {}, and this build of posthaste has {built})",
            config.methods
        );
        return Err(Error::other(ErrorClass::Other, text));
    }
    let own = Routes::new(size, network.unwrap_or(Route::Loopback)).with(Peer(rank), Route::Loopback);
    Ok(sharing().fold(own, |routes, (index, other)| routes.with(Peer(*other), Route::Shm(index))))
}

/// What goes wrong when the launcher is asked.
pub(super) fn failed(error: client::Error) -> Error {
    Error::system("joining the job of this launcher", error)
}

/// Asks every rank for the name of its node; a fence.
pub(super) fn by_names(launcher: &mut Launcher, name: Option<&str>) -> Result<Places> {
    let name = name.map_or_else(machine::identity, str::to_owned);
    launcher.put("node", &name).map_err(failed)?;
    launcher.fence().map_err(failed)?;
    let mut names = Vec::with_capacity(launcher.size());
    for rank in 0..launcher.size() {
        let Some(name) = launcher.get(rank, "node").map_err(failed)? else {
            let text = format!(
                "rank {rank} has not said which node it is on: POSTHASTE_NODE must be set for all ranks or for none"
            );
            return Err(Error::other(ErrorClass::Other, text));
        };
        names.push(name);
    }
    Ok(Places::of(&names))
}

/// Makes the segment of a node with so many ranks and publishes where it is to the others of that node.
pub(super) fn make_segment(launcher: &mut Launcher, ranks: usize) -> Result<Node> {
    // This rank may be bound to few CPUs, and others to others.
    let node =
        Node::create_on(ranks, machine::cpus_of_group()).map_err(|e| Error::no_memory(e.to_string()))?;
    let node = copying::publish(node, &machine::neighbours());
    let path = format!("/proc/{}/fd/{}", std::process::id(), node.as_fd().as_raw_fd());
    let published = format!("{}:{path}", machine::identity());
    launcher.put("segment", &published).map_err(failed)?;
    Ok(node)
}

/// Attaches the segment that the lowest rank of this node has made.
pub(super) fn attach_segment(launcher: &mut Launcher, leader: u32) -> Result<Node> {
    let published = launcher.get(leader as usize, "segment").map_err(failed)?.unwrap_or_default();
    let (place, path) = published.split_once(':').unwrap_or_default();
    // Another kernel or another namespace of processes: the path would lead to somebody else's descriptor. The network
    // does not matter for shared memory.
    let memory = |identity: &str| identity.rsplit_once('.').map(|(memory, _)| memory.to_owned());
    if memory(place) != memory(&machine::identity()) {
        return Err(Error::other(
            ErrorClass::Other,
            format!(
                "the launcher has put ranks {leader} and {} on one node, but they cannot share memory (they are in \
                 different containers or on different hosts); give their nodes different names with POSTHASTE_NODE",
                launcher.rank()
            ),
        ));
    }
    let file = std::fs::File::options().read(true).write(true).open(path);
    let file =
        file.map_err(|e| Error::system(format!("opening the node segment of rank {leader} at {path}"), e))?;
    Node::attach(file.into())
        .map_err(|e| Error::system(format!("attaching the node segment of rank {leader}"), e))
}

/// Rank 0 makes the secret by which processes of the job know each other, and publishes it; before a fence.
pub(super) fn offer_secret(launcher: &mut Launcher) -> Result<()> {
    if launcher.rank() > 0 {
        return Ok(());
    }
    let secret: [u8; 32] = machine::random().map_err(|e| Error::system("making a secret for the job", e))?;
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    launcher.put("secret", &text).map_err(failed)
}

/// The secret that rank 0 has made, after that fence.
pub(super) fn secret(launcher: &mut Launcher) -> Result<[u8; 32]> {
    match launcher.get(0, "secret").map_err(failed)? {
        Some(text) => read_secret(&text),
        None => Err(Error::other(
            ErrorClass::Other,
            format!(
                "rank {} needs connections to other ranks, and rank 0, which makes the secret for them, does not: \
                 POSTHASTE_METHODS must be the same for all ranks",
                launcher.rank()
            ),
        )),
    }
}

/// A secret of 64 hexadecimal digits.
pub(super) fn read_secret(text: &str) -> Result<[u8; 32]> {
    let mut secret = [0; 32];
    let digits = text.as_bytes();
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    for (byte, pair) in secret.iter_mut().zip(digits.chunks_exact(2)) {
        let (Some(high), Some(low)) = (value(pair[0]), value(pair[1])) else { return Err(no_secret(text)) };
        *byte = high << 4 | low;
    }
    if digits.len() == 64 { Ok(secret) } else { Err(no_secret(text)) }
}

/// The wrong secret itself is not shown.
fn no_secret(text: &str) -> Error {
    let got = format!("{} letters", text.chars().count());
    Error::invalid(
        ErrorClass::Other,
        "the secret of the job (POSTHASTE_SECRET)",
        got,
        "64 hexadecimal digits",
    )
}

/// The methods to ranks of other nodes that are in use.
#[derive(Debug, Default)]
pub(super) struct Networks {
    pub(super) tcp: Option<Tcp>,
    pub(super) fabric: Option<Fabric>,
    pub(super) bundle: Option<Bundle>,
    pub(super) plugin: Option<Plugin>,
}

impl Networks {
    /// How many VCIs there is room for in this segment, and with these connections.
    pub(super) fn vcis(&self, node: &Node) -> usize {
        self.tcp.as_ref().map_or(node.vcis(), |tcp| tcp.most_vcis().min(node.vcis()))
    }

    /// Whether all ranks share memory.
    pub(super) fn are_none(&self) -> bool {
        self.tcp.is_none() && self.fabric.is_none() && self.bundle.is_none() && self.plugin.is_none()
    }
}

/// Opens those that some route needs, and publishes where this rank is reached by them; before a fence.
pub(super) fn open_networks(
    launcher: &Shared,
    me: Peer,
    routes: &Routes,
    secret: Option<[u8; 32]>,
    config: &Config,
) -> Result<Networks> {
    Ok(Networks {
        tcp: open_tcp(launcher, me, routes, secret, config)?,
        fabric: open_fabric(launcher, me, routes, secret, config)?,
        bundle: open_bundle(launcher, me, routes, secret, config)?,
        plugin: open_plugin(launcher, me, routes, secret, config)?,
    })
}

/// Opens this rank to connections, if some rank can be reached no other way, and publishes where it is reached; before a fence.
fn open_tcp(
    launcher: &Shared,
    me: Peer,
    routes: &Routes,
    secret: Option<[u8; 32]>,
    config: &Config,
) -> Result<Option<Tcp>> {
    let Some(secret) = secret.filter(|_| Way::Tcp.is_built() && routes.any(|route| route == Route::Tcp))
    else {
        return Ok(None);
    };
    tcp(launcher, (me, routes.size() as usize), "card", secret, config).map(Some)
}

/// Opens this rank to connections, and publishes under `key` where it is reached.
fn tcp(
    launcher: &Shared,
    (me, peers): (Peer, usize),
    key: &str,
    secret: [u8; 32],
    config: &Config,
) -> Result<Tcp> {
    let node = config.node.clone().unwrap_or_else(machine::host_name);
    let setup = TcpSetup { me, peers, secret, format: Format::NATIVE, node };
    let (tcp, card) = Tcp::new(setup, config, Box::new(Book::new(launcher, key)))?;
    let put = |launcher: &mut Launcher| launcher.put(key, &card.to_string());
    ask(launcher, put).unwrap_or(Ok(())).map_err(failed)?;
    Ok(tcp)
}

/// The same for libfabric's network.
fn open_fabric(
    launcher: &Shared,
    me: Peer,
    routes: &Routes,
    secret: Option<[u8; 32]>,
    config: &Config,
) -> Result<Option<Fabric>> {
    let Some(secret) =
        secret.filter(|_| Way::Fabric.is_built() && routes.any(|route| route == Route::Fabric))
    else {
        return Ok(None);
    };
    fabric(launcher, (me, routes.size() as usize), "fabric", secret, config).map(Some)
}

/// Opens an endpoint of libfabric, and publishes under `key` where it is reached.
fn fabric(
    launcher: &Shared,
    (me, peers): (Peer, usize),
    key: &str,
    secret: [u8; 32],
    config: &Config,
) -> Result<Fabric> {
    // Packets of other jobs that go astray are recognised by this; it is no protection against those who mean harm.
    let (mark, _) = secret.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let mark = u64::from_le_bytes(*mark);
    let setup = FabricSetup { me, peers, mark, format: Format::NATIVE };
    let (fabric, card) = Fabric::new(setup, config, Box::new(Book::new(launcher, key)))?;
    let put = |launcher: &mut Launcher| launcher.put(key, &card.to_string());
    ask(launcher, put).unwrap_or(Ok(())).map_err(failed)?;
    Ok(fabric)
}

/// The same for several links, one by one; they are published under `link0`, `link1` and so on.
fn open_bundle(
    launcher: &Shared,
    me: Peer,
    routes: &Routes,
    secret: Option<[u8; 32]>,
    config: &Config,
) -> Result<Option<Bundle>> {
    let Some(secret) = secret.filter(|_| routes.any(|route| route == Route::Bundle)) else { return Ok(None) };
    let who = (me, routes.size() as usize);
    let open = |(number, choice): (usize, &LinkChoice)| {
        let (key, name) = (format!("link{number}"), choice.to_string());
        if choice.way == Way::Fabric {
            return Ok(Link::fabric(name, fabric(launcher, who, &key, secret, config)?));
        }
        let mut config = config.clone();
        config.tcp_interfaces = choice.interface.clone().unwrap_or(config.tcp_interfaces);
        Ok(Link::tcp(name, tcp(launcher, who, &key, secret, &config)?))
    };
    let named = |link: (usize, &LinkChoice)| {
        open(link).map_err(|why: Error| {
            let text = format!("the link {} of POSTHASTE_LINKS cannot be used: {why}", link.1);
            Error::other(why.class(), text)
        })
    };
    let links = config.links.iter().enumerate().map(named).collect::<Result<_>>()?;
    Ok(Some(Bundle::new(me, links, config)))
}

/// The same for a plug-in.
fn open_plugin(
    launcher: &Shared,
    me: Peer,
    routes: &Routes,
    secret: Option<[u8; 32]>,
    config: &Config,
) -> Result<Option<Plugin>> {
    let Some(secret) =
        secret.filter(|_| Way::Plugin.is_built() && routes.any(|route| route == Route::Plugin))
    else {
        return Ok(None);
    };
    let setup = PluginSetup { me, peers: routes.size() as usize, secret, format: Format::NATIVE };
    let book = Book::new(launcher, "plugin");
    let cards = move |peer| book.text(peer)?.parse();
    let (plugin, card) = Plugin::new(setup, config, Box::new(cards))?;
    let put = |launcher: &mut Launcher| launcher.put("plugin", &card.to_string());
    ask(launcher, put).unwrap_or(Ok(())).map_err(failed)?;
    Ok(Some(plugin))
}

/// The business cards that the ranks of the job have put into the launcher's key-value space under one key.
#[derive(Debug)]
struct Book {
    launcher: Shared,
    key: String,
}

impl FabricBook for Book {
    fn card(&mut self, peer: Peer) -> Result<FabricCard> {
        self.text(peer)?.parse()
    }
}

impl AddressBook for Book {
    fn card(&mut self, peer: Peer) -> Result<BusinessCard> {
        self.text(peer)?.parse()
    }
}

impl Book {
    fn new(launcher: &Shared, key: &str) -> Self {
        Self { launcher: launcher.clone(), key: key.into() }
    }

    fn text(&self, peer: Peer) -> Result<String> {
        let published = ask(&self.launcher, |launcher| launcher.get(peer.index(), &self.key));
        let published = published.unwrap_or(Ok(None)).map_err(failed)?;
        published.ok_or_else(|| {
            Error::other(
                ErrorClass::Other,
                format!(
                    "rank {} has not published where it can be reached: POSTHASTE_METHODS must be the same for all ranks, and \
                     POSTHASTE_LINKS name as many links of the same kinds",
                    peer.0
                ),
            )
        })
    }
}

/// Waits for all ranks, each of which has said by now what the others have to know. The lowest rank of those that share a
/// segment says for them what they claim of the CPUs.
pub(super) fn meet(launcher: &Shared, claim: Option<Claim>) -> Result<()> {
    ask(launcher, |launcher| {
        if let Some(claim) = claim {
            launcher.put("shared-cpus", &claim.text()).map_err(failed)?;
        }
        launcher.fence().map_err(failed)
    })
    .unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(name: &'static str, value: &'static str) -> Config {
        Config::read(|asked| (asked == name).then(|| value.to_owned())).unwrap()
    }

    #[test]
    fn a_node_is_on_one_host() {
        let hosts = Places::of(&["h", "h", "i", "i"]);
        for names in [["a", "a", "b", "b"], ["a", "b", "c", "d"], ["a", "b", "c", "c"]] {
            assert_eq!(Places::of(&names).within(&hosts).unwrap(), Places::of(&names));
        }
        for (names, said) in
            [(["a"; 4], "ranks 0 and 2 are on"), (["a", "b", "c", "b"], "ranks 1 and 3 are on")]
        {
            let error = Places::of(&names).within(&hosts).unwrap_err().to_string();
            assert!(error.starts_with(said) && error.contains("POSTHASTE_NODE"), "{error}");
        }
        assert!(Places::one(4).within(&Places::one(4)).is_ok());
    }

    #[test]
    fn ranks_with_the_same_name_are_together() {
        let places = Places::of(&["b", "a", "b", "a", "c"]);
        assert_eq!((0..5).map(|rank| places.leader(rank)).collect::<Vec<_>>(), [0, 1, 0, 1, 4]);
        assert_eq!((places.with(2), places.with(4)), (vec![0, 2], vec![4]));
        assert_eq!(places.leaders().collect::<Vec<_>>(), [0, 1, 4]);
        assert_eq!(
            (places.are_one(), Places::one(3).are_one(), Places::of(&[7, 7]).are_one()),
            (false, true, true)
        );
    }

    proptest! {
        /// Against the list of places, in each of the shapes that launchers make.
        #[test]
        fn places_answer_as_a_list_does(
            shape in 0..3, size in 1..40usize, by in 1..9usize, any in proptest::collection::vec(0..6usize, 40),
        ) {
            let list: Vec<usize> = (0..size).map(|rank| match shape {
                0 => rank / by,
                1 => rank % by,
                _ => any[rank],
            }).collect();
            let places = Places::of(&list);
            let lowest = |rank: usize| list.iter().position(|place| *place == list[rank]).unwrap() as u32;
            for rank in 0..size {
                prop_assert_eq!(places.leader(rank as u32), lowest(rank));
                let with: Vec<u32> =
                    (0..size).filter(|other| list[*other] == list[rank]).map(|other| other as u32).collect();
                prop_assert_eq!(places.with(rank as u32), with);
            }
            let leaders: Vec<u32> = (0..size).filter(|rank| lowest(*rank) as usize == *rank).map(|rank| rank as u32).collect();
            prop_assert_eq!(places.are_one(), leaders.len() == 1);
            prop_assert_eq!(places.leaders().collect::<Vec<_>>(), leaders);
        }
    }

    #[test]
    fn a_million_ranks_take_a_few_bytes_for_each_host() {
        let hosts = |place: fn(usize) -> usize| Places::of(&(0..1_000_000).map(place).collect::<Vec<_>>());
        let (blocks, turns) = (hosts(|rank| rank / 64), hosts(|rank| rank % 15_625));
        assert!(matches!(&blocks.pattern, Pattern::Runs(runs) if runs.len() == 15_625));
        assert_eq!(turns.pattern, Pattern::Turns(15_625));
        assert_eq!((blocks.leader(999_999), turns.leader(999_999)), (999_936, 15_624));
    }

    fn list(rank: u32, node_local: &[u32], nodes: &Places, config: &Config) -> Vec<Route> {
        let routes = routes(rank, node_local, nodes, config).unwrap();
        (0..nodes.size()).map(|peer| routes.to(Peer(peer))).collect()
    }

    #[test]
    fn memory_is_shared_on_a_node_and_the_network_leads_to_others() {
        let nodes = Places::of(&[0, 1, 0, 1]);
        let ways = list(2, &[0, 2], &nodes, &Config::default());
        assert_eq!(ways, [Route::Shm(0), Route::Tcp, Route::Loopback, Route::Tcp]);
        let ways = list(2, &[0, 2], &nodes, &set("POSTHASTE_METHODS", "tcp"));
        assert_eq!(ways, [Route::Tcp, Route::Tcp, Route::Loopback, Route::Tcp]);
        let ways = list(2, &[0, 2], &nodes, &set("POSTHASTE_METHODS", "shm,fabric,tcp"));
        assert_eq!(ways, [Route::Shm(0), Route::Fabric, Route::Loopback, Route::Fabric]);
        let ways = list(2, &[0, 2], &nodes, &set("POSTHASTE_LINKS", "tcp@a,tcp@b"));
        assert_eq!(ways, [Route::Shm(0), Route::Bundle, Route::Loopback, Route::Bundle]);
        // Ranks of one host that are said to be on different nodes share a segment all the same.
        let ways = list(0, &[0, 1, 2, 3], &nodes, &Config::default());
        assert_eq!(ways, [Route::Loopback, Route::Tcp, Route::Shm(2), Route::Tcp]);
    }

    #[test]
    fn secrets_have_64_digits() {
        let secret = read_secret(&("0a".repeat(31) + "Ff")).unwrap();
        assert_eq!((secret[0], secret[31]), (10, 255));
        for wrong in ["", "0a", &"0a".repeat(33), &"0g".repeat(32), &"é".repeat(32)] {
            let error = read_secret(wrong).unwrap_err().to_string();
            assert!(error.ends_with("expected 64 hexadecimal digits"), "{error}");
        }
    }

    #[test]
    fn a_rank_that_no_method_leads_to_is_named() {
        let refused = |value, nodes: &[u32]| {
            routes(0, &[0, 1], &Places::of(nodes), &set("POSTHASTE_METHODS", value)).unwrap_err().to_string()
        };
        let far = refused("shm", &[0, 1]);
        assert!(far.starts_with("rank 1 is on another node than rank 0, and no"), "{far}");
        assert!(
            far.ends_with(
                "(POSTHASTE_METHODS admits shm, and this build of posthaste has shm,tcp,fabric,plugin)"
            ),
            "{far}"
        );
        let near = refused("^shm,tcp", &[0, 0]);
        assert!(near.starts_with("rank 1 is on the same node as rank 0, and no"), "{near}");
        assert!(near.contains("admits none, and"), "{near}");
    }
}
