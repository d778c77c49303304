//! Which rank runs on which host.
//!
//! Pure. What must stay true: every rank has one host; hosts without a rank are not started; the mapping given to the
//! ranks is the one that is used.

use crate::mapping;
use crate::spawn::talk::Seats;
use nix::ifaddrs::InterfaceAddress;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::iter::repeat_n;
use std::net::IpAddr;

/// A host that ranks may run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// How the user calls it.
    pub name: String,
    /// How many ranks it takes before the next host has its turn; unknown when nobody said so.
    pub slots: Option<usize>,
}

/// In which order hosts are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// One host after the other: neighbours share a host.
    #[default]
    Slot,
    /// One rank to each host in turn.
    Node,
}

/// Where the ranks of a job may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The hosts, each once, in order.
    pub hosts: Vec<Host>,
    /// The order.
    pub by: By,
}

/// Where they run.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) seats: Vec<Seats>,
    /// As the key `PMI_process_mapping` says it.
    pub(crate) mapping: String,
}

impl Placed {
    /// The hosts that have ranks, each with its own.
    pub(crate) fn map(&self) -> Vec<(String, Vec<usize>)> {
        let numbers = |seats: &Seats| seats.ranks.iter().map(|seat| seat.0 as usize).collect();
        self.seats.iter().map(|seats| (seats.host.clone(), numbers(seats))).collect()
    }
}

/// What is wrong with hosts that may have no ranks.
pub const NO_SLOTS: &str = "no host has a slot: each of them says 0";

impl Placement {
    /// Places ranks whose programs these are. When there are more ranks than slots, hosts are filled again from the first.
    pub(crate) fn place(&self, programs: &[u32]) -> Placed {
        let hosts = self.hosts_of_ranks(programs.len(), &HashMap::new());
        seat(
            programs.iter().copied().zip(hosts.into_iter().map(|host| self.hosts[host].name.as_str())),
            &self.hosts,
        )
    }

    /// The slots of all hosts, where all are known.
    pub(crate) fn slots(&self) -> Option<usize> {
        self.hosts.iter().map(|host| host.slots).sum()
    }

    /// The hosts that have ranks, each with its own, of so many.
    pub fn map(&self, ranks: usize) -> Vec<(String, Vec<usize>)> {
        self.place(&vec![0; ranks]).map()
    }

    /// The index of its host for each of `count` ranks, beside those that run there already.
    fn hosts_of_ranks(&self, count: usize, busy: &HashMap<&str, usize>) -> Vec<usize> {
        let busy: Vec<usize> =
            self.hosts.iter().map(|host| busy.get(host.name.as_str()).copied().unwrap_or(0)).collect();
        if self.hosts.iter().all(|host| host.slots.is_none()) {
            // Nobody said how many: equal shares.
            return self.round(&shares(count, &busy));
        }
        // No more than there are ranks, whatever somebody has written.
        let slots: Vec<usize> = self.hosts.iter().map(|host| host.slots.unwrap_or(1).min(count)).collect();
        let free = |(host, busy): (&Host, &usize)| host.slots.unwrap_or(1).saturating_sub(*busy).min(count);
        let free: Vec<usize> = self.hosts.iter().zip(&busy).map(free).collect();
        self.round(&free).into_iter().chain(self.round(&slots).into_iter().cycle()).take(count).collect()
    }

    /// So many ranks for each host, in the order in which they are placed.
    fn round(&self, each: &[usize]) -> Vec<usize> {
        match self.by {
            By::Slot => each.iter().enumerate().flat_map(|(host, ranks)| repeat_n(host, *ranks)).collect(),
            By::Node => {
                let most = each.iter().copied().max().unwrap_or(0);
                (0..most).flat_map(|turn| (0..each.len()).filter(move |&host| turn < each[host])).collect()
            }
        }
    }
}

/// How many of `count` ranks each host gets: each goes where the fewest are, with those that run there already.
fn shares(count: usize, busy: &[usize]) -> Vec<usize> {
    let mut hosts: BinaryHeap<_> =
        busy.iter().copied().enumerate().map(|(host, ranks)| Reverse((ranks, host))).collect();
    let mut each = vec![0; busy.len()];
    for _ in 0..count {
        if let Some(mut fewest) = hosts.peek_mut() {
            fewest.0.0 += 1;
            each[fewest.0.1] += 1;
        }
    }
    each
}

/// Places the ranks of several programs, each as its own placement says, beside those that run already. Programs behind each other with
/// the same placement are placed as one.
pub(crate) fn place_each(parts: &[(&Placement, usize, &HashMap<&str, usize>)]) -> Placed {
    let mut program = 0;
    let ranks = parts.chunk_by(|one, next| one.0 == next.0).flat_map(|alike| {
        let (placement, _, busy) = alike[0];
        let counts: Vec<usize> = alike.iter().map(|part| part.1).collect();
        let programs = (program..).zip(counts.clone()).flat_map(|(program, count)| repeat_n(program, count));
        program += alike.len() as u32;
        let hosts = placement.hosts_of_ranks(counts.into_iter().sum(), busy);
        programs.zip(hosts).map(|(program, host)| (program, placement.hosts[host].name.as_str()))
    });
    let hosts: Vec<Host> = parts.iter().flat_map(|(placement, ..)| placement.hosts.clone()).collect();
    seat(ranks, &hosts)
}

/// The seats of ranks (program, name of the host), hosts in this order.
fn seat<'a>(ranks: impl Iterator<Item = (u32, &'a str)>, hosts: &[Host]) -> Placed {
    let mut seats: Vec<Seats> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for host in hosts {
        places.entry(&host.name).or_insert_with(|| {
            seats.push(Seats { host: host.name.clone(), ranks: Vec::new() });
            seats.len() - 1
        });
    }
    let mut of_rank = Vec::new();
    for (rank, (program, host)) in (0..).zip(ranks) {
        let place = places.get(host).copied().unwrap_or_default();
        seats[place].ranks.push((rank, program));
        of_rank.push(place);
    }
    // Nodes are the hosts that have ranks.
    let node_of: Vec<usize> = seats
        .iter()
        .scan(0, |next, seats| {
            let node = *next;
            *next += usize::from(!seats.ranks.is_empty());
            Some(node)
        })
        .collect();
    let nodes: Vec<usize> = of_rank.iter().map(|&place| node_of[place]).collect();
    seats.retain(|seats| !seats.ranks.is_empty());
    Placed { seats, mapping: mapping::emit(&nodes) }
}

/// The addresses of this host.
pub fn own_addresses() -> Vec<IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let address = |interface: InterfaceAddress| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|address| IpAddr::from(address.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::from(address.ip())))
    };
    interfaces.filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(hosts: &[(&str, Option<usize>)], by: By, ranks: usize) -> (String, String) {
        let hosts = hosts.iter().map(|&(name, slots)| Host { name: name.into(), slots }).collect();
        let placed = Placement { hosts, by }.place(&vec![0; ranks]);
        let seats = placed.seats.iter().map(|seats| {
            let ranks: Vec<String> = seats.ranks.iter().map(|(rank, _)| rank.to_string()).collect();
            format!("{}:{}", seats.host, ranks.join("+"))
        });
        (seats.collect::<Vec<_>>().join(" "), placed.mapping)
    }

    #[test]
    fn hosts_are_filled_one_after_the_other_or_in_turn() {
        let unknown = [("a", None), ("b", None)];
        assert_eq!(placed(&unknown, By::Slot, 4), ("a:0+1 b:2+3".into(), "(vector,(0,2,2))".into()));
        assert_eq!(placed(&unknown, By::Slot, 3), ("a:0+1 b:2".into(), "(vector,(0,1,2),(1,1,1))".into()));
        assert_eq!(placed(&unknown, By::Node, 3), ("a:0+2 b:1".into(), "(vector,(0,2,1),(0,1,1))".into()));
        let known = [("a", Some(1)), ("b", Some(0)), ("c", Some(2))];
        assert_eq!(placed(&known, By::Slot, 3), ("a:0 c:1+2".into(), "(vector,(0,1,1),(1,1,2))".into()));
        assert_eq!(placed(&known, By::Slot, 5).0, "a:0+3 c:1+2+4");
        assert_eq!(placed(&known, By::Node, 3).0, "a:0 c:1+2");
        assert_eq!(placed(&[("a", Some(8)), ("b", None)], By::Slot, 2).0, "a:0+1");
    }

    #[test]
    fn those_that_run_already_have_their_slots() {
        let named = |hosts: &[(&str, Option<usize>)], by| {
            let hosts = hosts.iter().map(|&(name, slots)| Host { name: name.into(), slots }).collect();
            Placement { hosts, by }
        };
        let hosts_of = |placement: &Placement, counts: &[usize], busy: &[(&str, usize)]| {
            let busy = busy.iter().copied().collect();
            let parts: Vec<_> = counts.iter().map(|count| (placement, *count, &busy)).collect();
            let placed = place_each(&parts);
            let seats = placed.seats.iter().map(|seats| {
                let ranks: Vec<String> =
                    seats.ranks.iter().map(|(rank, program)| format!("{rank}/{program}")).collect();
                format!("{}:{}", seats.host, ranks.join("+"))
            });
            seats.collect::<Vec<_>>().join(" ")
        };
        let known = named(&[("a", Some(2)), ("b", Some(2))], By::Slot);
        assert_eq!(hosts_of(&known, &[2], &[("a", 2)]), "b:0/0+1/0");
        assert_eq!(hosts_of(&known, &[1, 1, 1], &[("a", 1)]), "a:0/0 b:1/1+2/2");
        assert_eq!(hosts_of(&known, &[3], &[("a", 9), ("b", 2)]), "a:0/0+1/0 b:2/0", "all are full");
        let unknown = named(&[("a", None), ("b", None)], By::Slot);
        assert_eq!(hosts_of(&unknown, &[1, 1, 1, 1], &[]), "a:0/0+1/1 b:2/2+3/3", "as one");
        assert_eq!(hosts_of(&unknown, &[3], &[("a", 2), ("c", 7)]), "a:0/0 b:1/0+2/0");
        let in_turn = named(&[("a", None), ("b", None)], By::Node);
        assert_eq!(hosts_of(&in_turn, &[3], &[("a", 2)]), "a:0/0 b:1/0+2/0");
    }
}
