//! Several links between two hosts: both carry what is sent, one that fails is stood in for, and with none left the other
//! rank is named.
//!
//! What must stay true: the counters prove that both links carried data before one of them is cut; every byte is looked at
//! by the program (`tests/c/hosts/links.c`).

use super::House;
use crate::{
    leftovers::Watch,
    process::{Job, Outcome},
    project::Fallible,
    tally::Tally,
};

/// How many tests there are.
pub(super) const TESTS: usize = 13;

const TWO: &str = "tcp@eth0,tcp@eth1";
const BOTH: &str = "tcp@eth0,fabric";
/// The same with libfabric over eth0.
const SECOND: &str = "tcp@eth1,fabric";
/// Megabits a second of each link, and by what two have to be faster than one.
const RATE: u32 = 1000;
const GAIN: f64 = 1.85;

pub(super) fn run(house: &House<'_>, tally: &mut Tally) {
    // Unbounded links of one machine are as fast as its CPUs, and then it says nothing who carried how much.
    tally.test(&format!("hosts: all networks are bounded to {RATE} Mbit/s"), || house.bound(Some(RATE)));
    for (links, name) in [(TWO, "two TCP links"), (BOTH, "TCP and libfabric")] {
        tally.test(&format!("hosts: {name} carry long messages together"), || house.carried(links));
        for (what, during) in
            [("long", "long messages"), ("short", "short messages"), ("window", "accesses to a window")]
        {
            tally.test(&format!("hosts: {name}: the first goes down during {during}"), || {
                house.goes_on(links, what)
            });
        }
    }
    tally.test("hosts: TCP and libfabric: the second falls silent", || house.goes_on(SECOND, "long"));
    tally.test("hosts: with the last of two links the other rank is lost, by name", || house.last_link());
    let mut gain = Ok(0.0);
    tally.test(&format!("hosts: two links of {RATE} Mbit/s bring {GAIN} times what one brings"), || {
        gain = house.gain();
        match gain {
            Ok(gain) if gain < GAIN => Err(format!("{gain:.2} times")),
            _ => gain.clone().map(drop),
        }
    });
    tally.test("hosts: networks are not bounded any more", || house.bound(None));
    if let Ok(gain) = gain {
        crate::tally::show(&format!("       two links bring {gain:.2} times what one brings"));
    }
}

impl House<'_> {
    /// The test program on two hosts over these links.
    fn over(&self, links: &str, what: &str, n: &str) -> Job {
        let job = self.ours(&["1", "2"], 1).env("POSTHASTE_LINKS", links).env("POSTHASTE_TCP_DEAD_S", "2");
        let job = job.env("POSTHASTE_FABRIC_PROVIDER", if links == SECOND { "tcp@eth0" } else { "tcp@eth1" });
        job.arg("-counters").arg(&self.links).args([what, n])
    }

    fn carried(&self, links: &str) -> Fallible {
        let outcome = self.succeed(self.over(links, "long", "2"))?;
        let carried = [1, 2].map(|link| counter(&outcome, &format!("bytes.link{link}")));
        let down = counter(&outcome, "links.down");
        if carried.iter().any(|bytes| *bytes < 10 << 20) || down > 0 {
            return Err(format!(
                "both links have to carry long messages: {carried:?} bytes, and {down} times one went down\n{}",
                outcome.complaint()
            ));
        }
        Ok(())
    }

    /// eth0 of the second host goes down while messages are on their way, and all of them arrive.
    fn goes_on(&self, links: &str, what: &str) -> Fallible {
        let watch = Watch::begin();
        let job = self.rig.on(1, watch.mark(self.over(links, what, "8"))).start()?;
        if !job.wait_for_output("begun", 20) {
            return Err(job.wait()?.complaint());
        }
        self.rig.ip(2, &["link", "set", "eth0", "down"])?;
        let outcome = job.wait();
        self.rig.ip(2, &["link", "set", "eth0", "up"])?;
        let outcome = outcome?;
        let down = counter(&outcome, "links.down");
        let lost = if links == SECOND { "fabric" } else { "tcp@eth0" };
        let loss = &format!("has lost its link {lost} to rank");
        if !outcome.ok() || down != 2 || !outcome.stderr.contains(loss.as_str()) {
            return Err(format!(
                "both ranks have to lose a link, say so, and go on; {down} did\n{}",
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// Both links go over the same network, which fails.
    fn last_link(&self) -> Fallible {
        let watch = Watch::begin();
        let job = self.rig.on(1, watch.mark(self.over("tcp@eth0,tcp@eth0", "long", "40"))).start()?;
        if !job.wait_for_output("begun", 20) {
            return Err(job.wait()?.complaint());
        }
        self.rig.ip(2, &["link", "set", "eth0", "down"])?;
        let outcome = job.wait();
        self.rig.ip(2, &["link", "set", "eth0", "up"])?;
        self.fails(&watch, &outcome?, "of the world is lost on every link: tcp@eth0: ", 20)
    }

    /// How many times as fast two shaped links are as one.
    fn gain(&self) -> Fallible<f64> {
        let speed = |job: Job| {
            let outcome = self.succeed(job)?;
            let found =
                outcome.stdout.lines().find_map(|line| line.strip_prefix("speed ")?.strip_suffix(" MiB/s"));
            found.and_then(|speed| speed.parse::<f64>().ok()).ok_or_else(|| outcome.complaint())
        };
        let one = || speed(self.over("", "speed", "128").env("POSTHASTE_TCP_INTERFACES", "eth0"));
        let two = || speed(self.over(TWO, "speed", "256"));
        // The best of a few, for the machine may be busy with something else.
        let mut best = 0.0;
        for _ in 0..3 {
            let gain = two()? / one()?;
            best = if gain > best { gain } else { best };
            if best >= GAIN {
                break;
            }
        }
        Ok(best)
    }

    fn bound(&self, rate: Option<u32>) -> Fallible {
        let mut all = [1, 2].into_iter().flat_map(|host| ["eth0", "eth1"].map(|link| (host, link)));
        all.try_for_each(|(host, link)| self.rig.shape(host, link, rate))
    }
}

/// The sum of a counter over all ranks, as `mpiexec -counters` says.
fn counter(outcome: &Outcome, name: &str) -> u64 {
    let begin = format!("counter {name} ");
    let said = outcome.stdout.lines().chain(outcome.stderr.lines());
    said.filter_map(|line| line.strip_prefix(&begin)?.trim().parse::<u64>().ok()).sum()
}
