//! Whether ranks have a CPU each: those of a host, and those of several hosts that are one machine, as pods may be. And how many VCIs
//! every host has room for.
//!
//! What must stay true: all ranks read the same claims, so all come to the same answer.

use std::collections::HashSet;
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::node::VCIS;
use posthaste_pmi::launcher::Launcher;

use super::wireup::{self, Places, Shared};
use crate::error::{Error, ErrorClass, Result};

/// Hosts of one machine agree so far on when its kernel has started: the clock of the day may be set meanwhile.
const SAME_START: Duration = Duration::from_millis(100);

/// What a launcher carries of a list of CPUs: some take values of 1,023 bytes.
const LONGEST: usize = 800;

/// What the lowest rank of a host says for all of them, of CPUs and VCIs, in the launcher's key-value space under `shared-cpus`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    ranks: u32,
    /// How many CPUs they may keep busy together.
    most: u32,
    /// Which ones they may use, as a list; empty: that is not known.
    cpus: String,
    /// What tells the machine from others.
    boot: String,
    started: Duration,
    /// How many VCIs there may be.
    vcis: usize,
}

/// Who shares CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crowd {
    /// How many CPUs the ranks of this host have, if they outnumber them.
    pub(super) here: Option<u32>,
    /// Whether the ranks of any host share CPUs.
    pub(super) anywhere: bool,
    /// How many VCIs there may be on every host.
    pub(super) vcis: usize,
}

impl Crowd {
    /// A host alone, with so many ranks, CPUs and VCIs.
    pub(super) fn alone(ranks: usize, cpus: usize, vcis: usize) -> Self {
        let here = (ranks > cpus).then_some(cpus.max(1) as u32);
        Self { here, anywhere: here.is_some(), vcis }
    }

    /// The host whose lowest rank is `leader`, once all have said what they claim and have met.
    pub(super) fn among(launcher: &Shared, hosts: &Places, leader: u32) -> Result<Self> {
        let read = |leader: u32| {
            let published = wireup::ask(launcher, |launcher| launcher.get(leader as usize, "shared-cpus"));
            let published = published.unwrap_or(Ok(None)).map_err(wireup::failed)?;
            let claim = published.as_deref().and_then(Claim::parse);
            claim.map(|claim| (leader, claim)).ok_or_else(|| {
                let text = format!("rank {leader} says {published:?} of the CPUs that its host shares");
                Error::other(ErrorClass::Other, text)
            })
        };
        let claims: Vec<(u32, Claim)> = hosts.leaders().map(read).collect::<Result<_>>()?;
        let here = claims.iter().position(|(rank, _)| *rank == leader).unwrap_or(0);
        let claims: Vec<Claim> = claims.into_iter().map(|(_, claim)| claim).collect();
        let shares = shares(&claims);
        let vcis = claims.iter().map(|claim| claim.vcis).min().unwrap_or(1);
        let (here, anywhere) = (shares.get(here).copied().flatten(), shares.iter().any(Option::is_some));
        Ok(Self { here, anywhere, vcis })
    }
}

impl Claim {
    /// Of these ranks of one node, under a foreign launcher, after the fence behind [`publish`].
    pub(super) fn of_node(launcher: &mut Launcher, ranks: &[u32]) -> Result<Self> {
        let mut all = HashSet::new();
        for rank in ranks {
            let published = launcher.get(*rank as usize, "cpus").map_err(wireup::failed)?.unwrap_or_default();
            all.extend(machine::cpu_list(&published).ok_or_else(|| {
                let text = format!(
                    "rank {rank} says that it may use the CPUs {published:?}, expected such as 0-3,8"
                );
                Error::other(ErrorClass::Other, text)
            })?);
        }
        let mut cpus: Vec<usize> = all.into_iter().collect();
        cpus.sort_unstable();
        Ok(Self::new(ranks.len(), machine::within_quota(cpus.len()), &cpus))
    }

    /// Of so many ranks that may use these CPUs and keep so many busy.
    pub(super) fn new(ranks: usize, most: usize, cpus: &[usize]) -> Self {
        let (boot, started) = machine::boot();
        let cpus = Some(machine::list_of(cpus)).filter(|list| list.len() <= LONGEST).unwrap_or_default();
        Self { ranks: ranks as u32, most: most as u32, cpus, boot, started, vcis: 1 }
    }

    /// The same with room for so many VCIs.
    #[must_use]
    pub(super) fn with_vcis(self, vcis: usize) -> Self {
        Self { vcis, ..self }
    }

    /// What others read.
    pub(super) fn text(&self) -> String {
        let Self { ranks, most, cpus, boot, started, vcis } = self;
        format!("{ranks}:{most}:{boot}:{}:{vcis}:{cpus}", started.as_millis())
    }

    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.split(':').collect();
        let [ranks, most, boot, started, vcis, cpus] = fields[..] else { return None };
        if !cpus.is_empty() {
            machine::cpu_list(cpus)?;
        }
        let started = Duration::from_millis(started.parse().ok()?);
        let (ranks, most, vcis) = (ranks.parse().ok()?, most.parse().ok()?, vcis.parse().ok()?);
        if !(1..=VCIS).contains(&vcis) {
            return None;
        }
        Some(Self { ranks, most, cpus: cpus.into(), boot: boot.into(), started, vcis })
    }

    /// Whether both are hosts of one machine.
    fn is_with(&self, other: &Self) -> bool {
        self.boot == other.boot && self.started.abs_diff(other.started) < SAME_START
    }
}

/// How many CPUs the ranks of each host have, if they outnumber them: those of its own, or its part of those that it has together
/// with other hosts of its machine.
fn shares(claims: &[Claim]) -> Vec<Option<u32>> {
    let alone = |claim: &Claim| (claim.ranks > claim.most).then_some(claim.most.max(1));
    let mut shares: Vec<Option<u32>> = claims.iter().map(alone).collect();
    let mut by_machine: Vec<usize> = (0..claims.len()).filter(|at| !claims[*at].boot.is_empty()).collect();
    by_machine.sort_by_key(|at| (&claims[*at].boot, claims[*at].started));
    let same = |one: &usize, next: &usize| claims[*one].is_with(&claims[*next]);
    for machine in by_machine.chunk_by(same).filter(|hosts| hosts.len() > 1) {
        for (hosts, cpus) in together(claims, machine) {
            let ranks: u64 = hosts.iter().map(|host| u64::from(claims[*host].ranks)).sum();
            for host in hosts.into_iter().filter(|_| ranks > cpus) {
                let part = (cpus * u64::from(claims[host].ranks) / ranks).max(1) as u32;
                shares[host] = Some(shares[host].map_or(part, |share| share.min(part)));
            }
        }
    }
    shares
}

/// Those of these hosts of a machine that have CPUs together, and how many these are.
fn together(claims: &[Claim], machine: &[usize]) -> Vec<(Vec<usize>, u64)> {
    let mut groups: Vec<(Vec<usize>, HashSet<usize>)> = Vec::new();
    for host in machine {
        let mut hosts = vec![*host];
        let mut cpus: HashSet<usize> = machine::cpu_list(&claims[*host].cpus).into_iter().flatten().collect();
        if cpus.is_empty() {
            continue; // nobody knows
        }
        for at in (0..groups.len()).rev() {
            if !groups[at].1.is_disjoint(&cpus) {
                let (others, theirs) = groups.swap_remove(at);
                hosts.extend(others);
                cpus.extend(theirs);
            }
        }
        groups.push((hosts, cpus));
    }
    groups.into_iter().map(|(hosts, cpus)| (hosts, cpus.len() as u64)).collect()
}

/// Says which CPUs this rank may use; before a fence. A launcher may have bound each rank to a CPU of its own, so what one
/// sees says nothing about the others.
pub(super) fn publish(launcher: &mut Launcher) -> Result<()> {
    launcher.put("cpus", &machine::list_of(&machine::affinity())).map_err(wireup::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(ranks: u32, most: u32, cpus: &str, boot: &str, started: u64) -> Claim {
        Claim::parse(&format!("{ranks}:{most}:{boot}:{started}:8:{cpus}")).unwrap()
    }

    #[test]
    fn what_is_said_is_read() {
        for cpus in ["0-3,8", "", "7"] {
            let said = claim(4, 5, cpus, "4f-a", 1_796_000_000_123);
            assert_eq!(Claim::parse(&said.text()), Some(said));
        }
        let own = Claim::new(2, 1, &[3]).with_vcis(4);
        assert_eq!(Claim::parse(&own.text()).map(|claim| (claim.ranks, claim.vcis)), Some((2, 4)));
        for wrong in [
            "",
            "1:2:a:3",
            "1:2:a:3:0",
            "1:2:a:3:8:x",
            "1:2:a:-3:8:0",
            "1:2:a:3:x:0",
            "1:2:a:3:0:0",
            "1:2:a:3:9:0",
            "1:2:a:3:8:0:0",
        ] {
            assert_eq!(Claim::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hosts_of_one_machine_share_its_cpus() {
        let pod = |ranks, cpus| claim(ranks, 2, cpus, "boot", 1000);
        // Enough for all, by one list or by several.
        assert_eq!(shares(&[pod(2, "0-7"), pod(2, "0-7")]), [None, None]);
        assert_eq!(shares(&[pod(2, "0-1"), pod(2, "2-3")]), [None, None]);
        // Each would have enough alone.
        assert_eq!(shares(&[pod(2, "0-1"), pod(2, "0-1"), pod(2, "0-1")]), [Some(1); 3]);
        assert_eq!(shares(&[pod(2, "0-1"), pod(2, "1-2")]), [Some(1); 2]);
        // Those that have none together do not share.
        let wide = |ranks, most, cpus| claim(ranks, most, cpus, "boot", 1000);
        let claims = [wide(4, 4, "0-3"), wide(4, 60, "4-63"), wide(4, 4, "0-3")];
        assert_eq!(shares(&claims), [Some(2), None, Some(2)]);
        assert_eq!(shares(&[pod(4, "0-1"), pod(1, "2-3")]), [Some(2), None]);
        // Two meet by a third one.
        assert_eq!(shares(&[pod(2, "0-1"), pod(2, "2-3"), pod(1, "1-2")]), [Some(1); 3]);
        assert_eq!(shares(&[pod(u32::MAX, "0-3"), pod(u32::MAX, "0-3")]), [Some(2); 2]);
        // One alone has not.
        assert_eq!(shares(&[pod(3, "0-7"), pod(2, "0-7")]), [Some(2), None]);
        assert_eq!(shares(&[claim(4, 0, "", "boot", 1000)]), [Some(1)]);
    }

    #[test]
    fn other_machines_have_other_cpus() {
        let here = claim(2, 2, "0-1", "boot", 1000);
        for there in [
            claim(2, 2, "0-1", "other", 1000),
            // A copy of the same machine.
            claim(2, 2, "0-1", "boot", 5000),
            // Whoever started it does not say which it has.
            claim(2, 2, "", "boot", 1000),
        ] {
            assert_eq!(shares(&[here.clone(), there]), [None, None]);
        }
        let unknown = claim(2, 2, "0-1", "", 0);
        assert_eq!(shares(&[unknown.clone(), unknown]), [None, None]);
        assert_eq!(shares(&[here, claim(2, 2, "0-1", "boot", 1099)]), [Some(1); 2]);
    }
}
