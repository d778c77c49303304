//! Whether ranks have a CPU each: those of a host, and those of several hosts that are one machine, as pods may be.
//!
//! What must stay true: all ranks read the same claims, so all come to the same answer.

use std::collections::HashSet;
use std::time::Duration;

use posthaste_os::machine;
use posthaste_pmi::launcher::Launcher;

use super::wireup::{self, Places, Shared};
use crate::error::{Error, ErrorClass, Result};

/// Hosts of one machine agree so far on when its kernel has started: the clock of the day may be set meanwhile.
const SAME_START: Duration = Duration::from_millis(100);

/// What the lowest rank of a host says for all of them, in the launcher's key-value space under `shared-cpus`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    ranks: u32,
    /// How many CPUs they may keep busy together.
    most: u32,
    /// Which ones they may use; none: that is not known.
    cpus: Vec<usize>,
    /// What tells the machine from others.
    boot: String,
    started: Duration,
}

/// Who shares CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crowd {
    /// How many CPUs the ranks of this host have, if they outnumber them.
    pub(super) here: Option<u32>,
    /// Whether the ranks of any host share CPUs.
    pub(super) anywhere: bool,
}

impl Crowd {
    /// A host alone, with so many ranks and CPUs.
    pub(super) fn alone(ranks: usize, cpus: usize) -> Self {
        let here = (ranks > cpus).then_some(cpus.max(1) as u32);
        Self { here, anywhere: here.is_some() }
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
        Ok(Self { here: shares.get(here).copied().flatten(), anywhere: shares.iter().any(Option::is_some) })
    }
}

impl Claim {
    /// Of so many ranks that may use these CPUs and keep so many busy, under our own launcher.
    pub(super) fn of_ours(ranks: usize, most: usize, cpus: &[usize]) -> Self {
        Self::new(ranks, most, cpus.to_vec())
    }

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
        Ok(Self::new(ranks.len(), machine::within_quota(cpus.len()), cpus))
    }

    fn new(ranks: usize, most: usize, cpus: Vec<usize>) -> Self {
        let (boot, started) = machine::boot();
        Self { ranks: ranks as u32, most: most as u32, cpus, boot, started }
    }

    /// What others read.
    pub(super) fn text(&self) -> String {
        let Self { ranks, most, cpus, boot, started } = self;
        format!("{ranks}:{most}:{boot}:{}:{}", started.as_millis(), machine::list_of(cpus))
    }

    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.split(':').collect();
        let [ranks, most, boot, started, cpus] = fields[..] else { return None };
        let cpus = if cpus.is_empty() { Vec::new() } else { machine::cpu_list(cpus)? };
        let started = Duration::from_millis(started.parse().ok()?);
        Some(Self { ranks: ranks.parse().ok()?, most: most.parse().ok()?, cpus, boot: boot.into(), started })
    }

    /// Whether both are hosts of one machine.
    fn is_with(&self, other: &Self) -> bool {
        !self.boot.is_empty() && self.boot == other.boot && self.started.abs_diff(other.started) < SAME_START
    }
}

/// How many CPUs the ranks of each host have, if they outnumber them: those of its own, or its part of those of the machine.
fn shares(claims: &[Claim]) -> Vec<Option<u32>> {
    let share = |own: &Claim| {
        let mut share = (own.ranks > own.most).then_some(own.most.max(1));
        if !own.cpus.is_empty() {
            let together = || claims.iter().filter(|other| other.is_with(own) && !other.cpus.is_empty());
            let ranks: u32 = together().map(|other| other.ranks).sum();
            let cpus = together().flat_map(|other| &other.cpus).collect::<HashSet<_>>().len() as u32;
            if ranks > cpus {
                let part = (cpus * own.ranks / ranks).max(1);
                share = Some(share.map_or(part, |share| share.min(part)));
            }
        }
        share
    };
    claims.iter().map(share).collect()
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
        Claim::parse(&format!("{ranks}:{most}:{boot}:{started}:{cpus}")).unwrap()
    }

    #[test]
    fn what_is_said_is_read() {
        for cpus in ["0-3,8", "", "7"] {
            let said = claim(4, 5, cpus, "4f-a", 1_796_000_000_123);
            assert_eq!(Claim::parse(&said.text()), Some(said));
        }
        let own = Claim::of_ours(2, 1, &[3]);
        assert_eq!(Claim::parse(&own.text()).map(|claim| claim.ranks), Some(2));
        for wrong in ["", "1:2:a:3", "1:2:a:3:x", "1:2:a:-3:0", "1:2:a:3:0:0"] {
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
