//! Parts of the tests side by side: one lane whose lines are seen as they come, and others behind it whose parts are shown
//! whole.
//!
//! What must stay true: the lines of a part stay together, whoever runs beside it; every part counts the same as alone;
//! a panic in a lane is a failure, not a silent end.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use crate::{
    gate::{Gate, PARTS, Part},
    tally::{self, Tally, show},
};

/// What a lane does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lane {
    /// This part.
    Run(&'static str),
    /// What this part, which runs later, needs.
    Prepare(&'static str),
}

/// Lanes, side by side.
#[derive(Debug)]
pub(crate) struct Step {
    /// Seen as it comes.
    pub(crate) front: &'static [Lane],
    /// Seen when a part of that lane has ended.
    pub(crate) behind: &'static [&'static [Lane]],
}

impl Step {
    /// Everything in it.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Lane> {
        self.front.iter().chain(self.behind.iter().copied().flatten())
    }
}

impl Lane {
    /// The part in question.
    pub(crate) fn part(self) -> &'static Part {
        let (Self::Run(name) | Self::Prepare(name)) = self;
        PARTS.iter().find(|part| part.name == name).expect("a test looks at every lane")
    }

    /// Does it, and says how long it took.
    fn go(self, gate: &Gate, tally: &mut Tally) {
        let part = self.part();
        let start = Instant::now();
        let body = || match self {
            Self::Run(_) => (part.run)(gate, tally),
            Self::Prepare(_) => part.prepare.iter().for_each(|prepare| prepare(gate)),
        };
        if catch_unwind(AssertUnwindSafe(body)).is_err() {
            tally.test(&format!("part {}", part.name), || Err("the test program itself panicked".into()));
        }
        let name = match self {
            Self::Run(name) => name.to_owned(),
            Self::Prepare(name) => format!("building for {name}"),
        };
        let took = start.elapsed();
        show(&format!("      {name} took {:.0} s", took.as_secs_f64()));
        tally.took(&name, took);
    }
}

/// Runs what is wanted of a step.
pub(crate) fn run(step: &Step, gate: &Gate, wanted: &dyn Fn(&str) -> bool, tally: &mut Tally) {
    let chosen = |lanes: &'static [Lane]| -> Vec<Lane> {
        lanes.iter().copied().filter(|lane| wanted(lane.part().name)).collect()
    };
    // What is wanted first is seen as it comes.
    let lanes = [step.front].into_iter().chain(step.behind.iter().copied());
    let mut lanes = lanes.map(chosen).filter(|lane| !lane.is_empty());
    let front = lanes.next().unwrap_or_default();
    thread::scope(|scope| {
        let (sender, finished) = mpsc::channel();
        for behind in lanes {
            let sender = sender.clone();
            scope.spawn(move || {
                for lane in behind {
                    let mut own = Tally::default();
                    let lines = tally::collected(|| lane.go(gate, &mut own));
                    // The other end stays until all have come.
                    let _ = sender.send((lines, own));
                }
            });
        }
        drop(sender);
        let take = |tally: &mut Tally, (lines, own): (Vec<String>, Tally)| {
            lines.iter().for_each(|line| show(line));
            tally.absorb(own);
        };
        for lane in front {
            lane.go(gate, tally);
            finished.try_iter().for_each(|part| take(tally, part));
        }
        finished.iter().for_each(|part| take(tally, part));
    });
}

/// How long each part took, a few in a line.
pub(crate) fn show_times(times: &[(String, Duration)], all: Duration) {
    let shown: Vec<String> =
        times.iter().map(|(name, took)| format!("{name} {:.0}", took.as_secs_f64())).collect();
    println!("seconds of each part, some of them side by side:");
    for line in shown.chunks(8) {
        println!("  {}", line.join(", "));
    }
    println!("all of it took {:.0} s", all.as_secs_f64());
}
