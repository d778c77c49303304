//! The group `copies` of `bench`: long messages in shared memory against a bare copy pipeline, and what is chosen by
//! itself against everything that settings force.
//!
//! The programs are `bench/copies.c` and the part `copy` of `bench/raw.c`.
//! What must stay true: the pipeline and all ways of a band are measured in one round; a protocol that was forced is proved by
//! its counter, or has no value.

use crate::{
    bench::Plan,
    measured::{Better, LIMIT, Measured, short},
    project::Fallible,
};

/// Sizes that are measured in one go: few, so that a machine that changes under way costs only these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    /// Messages there and back.
    one_way: &'static [usize],
    /// Windows of 16 messages.
    windows: &'static [usize],
}

/// All sizes.
pub(crate) const BANDS: [Band; 3] = [
    Band { one_way: &[2 << 10, 4 << 10, 16 << 10], windows: &[] },
    Band { one_way: &[64 << 10, 256 << 10], windows: &[64 << 10] },
    Band { one_way: &[1 << 20, 4 << 20], windows: &[1 << 20, 4 << 20] },
];

/// One way of copying, by settings.
#[derive(Debug)]
struct Way {
    name: &'static str,
    settings: &'static [(&'static str, &'static str)],
    /// The shortest message for which it is measured.
    least: usize,
    /// The counter of its messages.
    proof: Option<&'static str>,
}

const AUTO: &str = "auto";

const SMALL: (&str, &str) = ("POSTHASTE_BOUNCE_BUFFER", "small");
const LARGE: (&str, &str) = ("POSTHASTE_BOUNCE_BUFFER", "2097152");
const PLAIN: (&str, &str) = ("POSTHASTE_COPY_STORE", "plain");
const STREAMING: (&str, &str) = ("POSTHASTE_COPY_STORE", "streaming");
const STRING: (&str, &str) = ("POSTHASTE_COPY_STORE", "string");
const GET: (&str, &str) = ("POSTHASTE_LONG_PROTOCOL", "get");
const WRITE: (&str, &str) = ("POSTHASTE_LONG_PROTOCOL", "write");

const WAYS: [Way; 9] = [
    Way { name: AUTO, settings: &[], least: 0, proof: None },
    Way { name: "small/plain", settings: &[SMALL, PLAIN], least: 0, proof: None },
    Way { name: "small/stream", settings: &[SMALL, STREAMING], least: 0, proof: None },
    Way { name: "small/string", settings: &[SMALL, STRING], least: 0, proof: None },
    Way { name: "2M/plain", settings: &[LARGE, PLAIN], least: 0, proof: None },
    Way { name: "2M/stream", settings: &[LARGE, STREAMING], least: 0, proof: None },
    Way { name: "2M/string", settings: &[LARGE, STRING], least: 0, proof: None },
    Way { name: "get", settings: &[GET], least: 64 << 10, proof: Some("messages.get.shm") },
    Way { name: "write", settings: &[WRITE], least: 64 << 10, proof: Some("messages.write.shm") },
];

/// How slow the automatic choice may be against the best forced one: at least 0.95 of its speed.
pub(crate) const TO_FORCED: f64 = 1.05;
/// How slow it may be against the pipeline, from `PIPELINED_FROM` on: at least 0.9 of its speed.
const TO_LIMIT: f64 = 1.0 / 0.9;
const PIPELINED_FROM: usize = 16 << 10;
/// How many times as fast as the best rival it should be, from there on.
const TO_RIVALS: f64 = 1.1;

/// Before the names of the rows: other groups have rows of the same names, in other units.
const PREFIX: &str = "copies_";
/// Before the shape of a pipeline, in the name under which its times are kept beside those of the limit.
const PIPELINE: &str = "pipeline ";

impl Band {
    /// The pipeline and then everybody.
    pub(crate) fn in_turns(self, plan: &Plan, measured: &mut Measured) -> Fallible {
        let output = plan.raw("copy").args(self.words(0)).limit(120).succeed()?.stdout;
        take_pipelines(measured, &output);
        for mpi in plan.contenders() {
            let ours = mpi.name == "posthaste";
            let ways = WAYS.iter().filter(|way| (ours || way.name == AUTO) && way.least <= self.longest());
            for way in ways {
                let job = plan.bound_pair(mpi, "copies", if ours { &["-counters"] } else { &[] });
                let job = way.settings.iter().fold(job, |job, (name, value)| job.env(name, value));
                let outcome = job.args(self.words(way.least)).limit(120).run()?;
                match (outcome.ok(), way.proof) {
                    (false, _) if ours => return Err(outcome.complaint()),
                    (false, _) => eprintln!("{} can't do this: {}", mpi.name, outcome.complaint()),
                    (true, Some(counter)) if !counted(&outcome.stderr, counter) => {
                        eprintln!("{} could not be forced here: {counter} counts nothing", way.name);
                    }
                    (true, _) => {
                        measured.take_as(PREFIX, if ours { way.name } else { mpi.name }, &outcome.stdout)
                    }
                }
            }
        }
        Ok(())
    }

    fn longest(self) -> usize {
        self.one_way.iter().chain(self.windows).copied().max().unwrap_or(0)
    }

    /// What the programs are given: the sizes from the shortest one on.
    fn words(self, least: usize) -> Vec<String> {
        let mut words = Vec::new();
        for (how, sizes) in [("one_way", self.one_way), ("window", self.windows)] {
            words.push(how.to_owned());
            words.extend(sizes.iter().filter(|size| **size >= least).map(usize::to_string));
        }
        words
    }
}

/// Takes the lines `result copy_SIZE|stream_SIZE GB/S GB/s ring R slot S stores KIND` as microseconds of a message under
/// the names of the rows.
fn take_pipelines(measured: &mut Measured, output: &str) {
    for line in output.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["result", name, speed, "GB/s", "ring", ring, "slot", slot, "stores", stores] = words[..] else {
            continue;
        };
        let row = name.replace("copy_", "oneway_").replace("stream_", "window_");
        let size = row.split('_').nth(1).map(str::parse::<f64>);
        let row = format!("{PREFIX}{row}");
        if let (Some(Ok(size)), Ok(speed), Ok(ring), Ok(slot)) =
            (size, speed.parse::<f64>(), ring.parse(), slot.parse())
        {
            let us = size / speed / 1e3;
            measured.add(LIMIT, &row, us);
            measured.add(&format!("{PIPELINE}{}/{} {stores}", bytes(ring), bytes(slot)), &row, us);
        }
    }
}

/// Whether the lines `counter NAME SUM` of the launcher count anything under this name.
pub(crate) fn counted(output: &str, counter: &str) -> bool {
    count(output, counter) > 0
}

/// How often a counter says that something happened.
pub(crate) fn count(output: &str, counter: &str) -> u64 {
    let sum = |line: &str| line.strip_prefix("counter ")?.strip_prefix(counter)?.trim().parse().ok();
    output.lines().find_map(sum).unwrap_or(0)
}

/// The table of all sizes: best (median), and ratios of the best.
pub(crate) fn table(measured: &Measured, rivals: &[&str]) -> String {
    let mut text = format!(
        "copies, us of a message: there and back, halved, and in windows of 16\n\
         limit: a bare pipeline of two processes through the best ring, slot and stores\n\
         auto: as posthaste chooses; small, 2M: POSTHASTE_BOUNCE_BUFFER=small or 2097152; plain, stream, string: \
         POSTHASTE_COPY_STORE; get, write: POSTHASTE_LONG_PROTOCOL\n\
         auto/limit and auto/forced are ratios of times, so less is better: of the bests (median of the rounds' own)\n\
         goals, for both: auto/forced <= {TO_FORCED}, \
         from {} on auto/limit <= {TO_LIMIT:.2} and to rivals >= {TO_RIVALS}\n",
        bytes(PIPELINED_FROM)
    );
    text += &format!("{:<12}{:>14}  {:<23}", "", LIMIT, "through");
    for name in WAYS.iter().map(|way| way.name).chain(rivals.iter().copied()) {
        text += &format!("{name:>14}");
    }
    text += &format!("{:>14}{:>14}{:>14}  goals\n", "auto/limit", "auto/forced", "to rivals");
    let sizes = |of: fn(&Band) -> &'static [usize]| BANDS.iter().flat_map(of).copied();
    for size in sizes(|band| band.one_way) {
        text += &line(measured, rivals, &format!("{PREFIX}oneway_{size}"), &bytes(size), size);
    }
    for size in sizes(|band| band.windows) {
        let label = format!("{} x 16", bytes(size));
        text += &line(measured, rivals, &format!("{PREFIX}window_{size}"), &label, size);
    }
    text
}

fn line(measured: &Measured, rivals: &[&str], row: &str, label: &str, size: usize) -> String {
    let both = |contender: &str| measured.best_and_median(contender, row, Better::Lower);
    let cell = |contender: &str| {
        both(contender).map_or("-".into(), |(best, median)| format!("{} ({})", short(best), short(median)))
    };
    let through = measured.best_contender(PIPELINE, row, Better::Lower).unwrap_or("-");
    let mut text = format!("{label:<12}{:>14}  {through:<23}", cell(LIMIT));
    for name in WAYS.iter().map(|way| way.name).chain(rivals.iter().copied()) {
        text += &format!("{:>14}", cell(name));
    }
    let forced: Vec<&str> = WAYS.iter().map(|way| way.name).filter(|name| *name != AUTO).collect();
    let to_limit = Ratio::of_auto(measured, row, &[LIMIT]);
    let to_forced = Ratio::of_auto(measured, row, &forced);
    let to_rivals = Ratio::of_auto(measured, row, rivals).map(Ratio::inverse);
    for ratio in [to_limit, to_forced, to_rivals] {
        text += &format!("{:>14}", ratio.map_or("-".into(), |r| format!("{:.2} ({:.2})", r.best, r.median)));
    }
    text + &goals(size, to_limit, to_forced, to_rivals) + "\n"
}

/// By how much the times of the automatic choice differ from the best of others. Bests may all come from rounds in which
/// the two CPUs were near each other; the median of the rounds' own ratios shows the others, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) best: f64,
    pub(crate) median: f64,
}

impl Ratio {
    pub(crate) fn of_auto(measured: &Measured, row: &str, others: &[&str]) -> Option<Self> {
        let auto = measured.values(AUTO, row);
        let others: Vec<&[f64]> = others.iter().map(|name| measured.values(name, row)).collect();
        let least = |values: &mut dyn Iterator<Item = f64>| values.min_by(f64::total_cmp);
        let best = least(&mut auto.iter().copied())? / least(&mut others.concat().into_iter())?;
        // Who failed in a round has no values whose rounds are known.
        let whole = others.iter().filter(|values| values.len() == auto.len());
        let of_round = |(round, auto): (usize, &f64)| {
            Some(auto / least(&mut whole.clone().map(|values| values[round]))?)
        };
        let mut rounds: Vec<f64> = auto.iter().enumerate().filter_map(of_round).collect();
        rounds.sort_by(f64::total_cmp);
        Some(Self { best, median: rounds.get(rounds.len() / 2).copied().unwrap_or(best) })
    }

    fn inverse(self) -> Self {
        Self { best: 1.0 / self.best, median: 1.0 / self.median }
    }

    pub(crate) fn at_most(self, goal: f64) -> bool {
        self.best <= goal && self.median <= goal
    }

    fn at_least(self, goal: f64) -> bool {
        self.best >= goal && self.median >= goal
    }
}

/// Whether the goals are met, in words.
fn goals(size: usize, to_limit: Option<Ratio>, to_forced: Option<Ratio>, to_rivals: Option<Ratio>) -> String {
    let long = size >= PIPELINED_FROM;
    let goals = [
        ("forced", to_forced.map(|is| is.at_most(TO_FORCED))),
        ("limit", to_limit.filter(|_| long).map(|is| is.at_most(TO_LIMIT))),
        ("rivals", to_rivals.filter(|_| long).map(|is| is.at_least(TO_RIVALS))),
    ];
    let words = |(name, met): (&str, Option<bool>)| {
        met.map_or(String::new(), |met| format!("  {name} {}", if met { "met" } else { "MISSED" }))
    };
    goals.map(words).concat()
}

/// A number of bytes that is a power of two.
pub(crate) fn bytes(number: usize) -> String {
    if number >= 1 << 20 { format!("{} MiB", number >> 20) } else { format!("{} KiB", number >> 10) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_leaves_out_what_is_too_short_to_be_forced() {
        assert_eq!(BANDS[1].words(0), ["one_way", "65536", "262144", "window", "65536"]);
        assert_eq!(BANDS[2].words(2 << 20), ["one_way", "4194304", "window", "4194304"]);
        assert_eq!(BANDS.map(Band::longest), [16 << 10, 256 << 10, 4 << 20]);
    }

    #[test]
    fn pipelines_become_times_and_the_shape_of_the_best_is_kept() {
        let mut m = Measured::default();
        take_pipelines(
            &mut m,
            "result copy_65536 32.768 GB/s ring 1048576 slot 8192 stores plain\nresult slots 9",
        );
        take_pipelines(&mut m, "result copy_65536 65.536 GB/s ring 131072 slot 2048 stores streaming\nnoise");
        take_pipelines(&mut m, "result stream_65536 65.536 GB/s ring 1048576 slot 8192 stores plain\n");
        assert_eq!(m.best_and_median(LIMIT, "copies_oneway_65536", Better::Lower), Some((1.0, 2.0)));
        assert_eq!(m.best_and_median(LIMIT, "copies_window_65536", Better::Lower), Some((1.0, 1.0)));
        let through = m.best_contender(PIPELINE, "copies_oneway_65536", Better::Lower);
        assert_eq!(through, Some("128 KiB/2 KiB streaming"));
    }

    #[test]
    fn a_forced_protocol_is_proved_by_its_counter() {
        let output = "counter messages.get.shm 12\ncounter messages.write.shm 0\n";
        assert!(counted(output, "messages.get.shm"));
        assert!(!counted(output, "messages.write.shm") && !counted(output, "messages.put.shm"));
    }

    #[test]
    fn the_table_compares_with_the_limit_the_best_forced_way_and_the_best_rival() {
        let mut m = Measured::default();
        take_pipelines(&mut m, "result copy_65536 65.536 GB/s ring 1048576 slot 8192 stores plain\n");
        for (name, us) in [(AUTO, 1.2), ("small/plain", 2.0), ("2M/string", 1.0), ("A", 1.5), ("B", 3.0)] {
            m.add(name, "copies_oneway_65536", us);
        }
        let table = table(&m, &["A", "B"]);
        let line = table.lines().find(|line| line.starts_with("64 KiB  ")).unwrap();
        assert!(line.contains("1 MiB/8 KiB plain"), "{line}");
        assert!(line.contains(" 1.20 (1.20)   1.20 (1.20)   1.25 (1.25)"), "{line}");
        assert!(line.ends_with("  forced MISSED  limit MISSED  rivals met"), "{line}");
    }

    #[test]
    fn a_round_in_which_the_choice_was_bad_is_not_hidden_by_the_best_one() {
        let mut m = Measured::default();
        for (auto, forced) in [(1.0, 1.0), (3.0, 2.0), (3.2, 2.0)] {
            m.add(AUTO, "row", auto);
            m.add("get", "row", forced);
        }
        m.add("failed twice", "row", 1.25);
        let ratio = Ratio::of_auto(&m, "row", &["get", "failed twice"]).unwrap();
        assert_eq!((ratio.best, ratio.median), (1.0, 1.5));
        assert!(!ratio.at_most(TO_FORCED) && !ratio.at_least(TO_RIVALS));
        assert!(Ratio::of_auto(&m, "row", &["nobody"]).is_none());
    }

    #[test]
    fn goals_are_met_at_their_borders_and_short_messages_have_one() {
        let same = |both: f64| Some(Ratio { best: both, median: both });
        assert_eq!(goals(2 << 10, same(9.0), same(1.05), same(0.1)), "  forced met");
        assert_eq!(goals(2 << 10, None, same(1.06), None), "  forced MISSED");
        assert_eq!(goals(1 << 20, same(1.11), None, None), "  limit met");
    }
}
