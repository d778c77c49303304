//! `bench --forced`: what posthaste chooses by itself for messages of 2 KiB to 16 MiB in shared memory, against everything
//! that settings force: protocols, rings (bounce buffers), kinds of stores and chunks.
//!
//! The program is `bench/copies.c`, which checks the bytes that arrive. The least of many values that chance has a part in is less
//! than another run of the same way gives. So heats choose for each row the forced ways that were fastest, and only the final is
//! told: they and the automatic choice in turns. What must stay true: a way that could not be forced, as its counter shows,
//! has no value.

use std::time::Duration;

use crate::{
    bench::Plan,
    copies::{Ratio, TO_FORCED, bytes, counted},
    measured::{Better, Measured, short},
    project::Fallible,
};

/// How messages go, as `copies` calls it and its results, and in words.
const HOWS: [(&str, &str, &str); 4] = [
    ("one_way", "oneway", "the same buffer, there and back"),
    ("rotating", "rotating", "rotating buffers that no cache holds, there and back"),
    ("window", "window", "window of 16"),
    ("both", "both", "both directions at once"),
];

/// Sizes that are measured in one go: few, so that a machine that changes under way costs only these.
const BANDS: [&[usize]; 4] = [
    &[2 << 10, 4 << 10, 8 << 10, 16 << 10],
    &[32 << 10, 64 << 10, 128 << 10, 256 << 10],
    &[512 << 10, 1 << 20, 2 << 20],
    &[4 << 20, 8 << 20, 16 << 20],
];

const RINGS: [&str; 4] = ["small", "131072", "524288", "2097152"];
const STORES: [&str; 3] = ["plain", "streaming", "string"];
const CHUNKS: [&str; 3] = ["4096", "8192", "32768"];
/// The shortest message for which a protocol is forced that asks before it sends.
const ASKED: usize = 16 << 10;
const AUTO: &str = "auto";
/// Before the names of the results: other groups have results of the same names.
const HEAT: &str = "heat_";
const FINAL: &str = "final_";
/// Forced ways in a final, and its turns.
const FINALISTS: usize = 3;
const TURNS: usize = 5;

/// Seconds that a job takes to start and end, and that one size takes; a window of 16 of the longest takes more.
const JOB: f64 = 0.3;
const SIZE: f64 = 0.2;
const LONG_WINDOW: f64 = 1.0;

/// A way of copying, by settings.
struct Way {
    name: String,
    settings: Vec<(&'static str, &'static str)>,
    /// The shortest message for which it is measured, and the longest.
    sizes: (usize, usize),
    /// The counter of its messages.
    proof: Option<&'static str>,
}

/// Everything, the automatic choice first.
fn ways() -> Vec<Way> {
    let any = (0, usize::MAX);
    let way = |name: &str, settings, sizes, proof| Way { name: name.into(), settings, sizes, proof };
    let mut ways = vec![
        way(AUTO, vec![], any, None),
        // What one record of a ring holds is sent so for certain; a counter would count barriers, too.
        way("eager", vec![("POSTHASTE_EAGER_LIMIT", "16384")], (0, 2 << 10), None),
    ];
    for (protocol, counter) in
        [("get", "messages.get.shm"), ("write", "messages.write.shm"), ("put", "messages.put.shm")]
    {
        ways.push(way(
            protocol,
            vec![("POSTHASTE_LONG_PROTOCOL", protocol)],
            (ASKED, usize::MAX),
            Some(counter),
        ));
    }
    for ring in RINGS {
        for store in STORES {
            for chunk in CHUNKS {
                let settings = vec![
                    ("POSTHASTE_EAGER_LIMIT", "1024"),
                    ("POSTHASTE_LONG_PROTOCOL", "stream"),
                    ("POSTHASTE_BOUNCE_BUFFER", ring),
                    ("POSTHASTE_COPY_STORE", store),
                    ("POSTHASTE_STREAM_CHUNK", chunk),
                ];
                let name = format!("stream {ring}/{store}/{chunk}");
                ways.push(Way { name, settings, sizes: any, proof: Some("messages.stream.shm") });
            }
        }
    }
    ways
}

/// Some sizes in one of the ways in which messages go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    how: (&'static str, &'static str, &'static str),
    sizes: &'static [usize],
}

/// All of them.
pub(crate) fn bands() -> Vec<Band> {
    let of = |how| BANDS.iter().map(move |sizes| Band { how, sizes });
    HOWS.into_iter().flat_map(of).collect()
}

/// How long so many rounds take, if all are quiet.
pub(crate) fn estimate(rounds: usize) -> Duration {
    let jobs = bands().into_iter().flat_map(|band| ways().into_iter().map(move |way| band.seconds(&way)));
    let finals: f64 = bands().into_iter().map(Band::final_seconds).sum();
    Duration::from_secs_f64(rounds as f64 * (jobs.sum::<f64>() + finals))
}

impl Band {
    fn of(self, way: &Way) -> impl Iterator<Item = usize> {
        let (least, most) = way.sizes;
        self.sizes.iter().copied().filter(move |size| (least..=most).contains(size))
    }

    fn seconds(self, way: &Way) -> f64 {
        let sizes: f64 = self.of(way).map(|size| self.seconds_of(size)).sum();
        if sizes > 0.0 { JOB + sizes } else { 0.0 }
    }

    fn seconds_of(self, size: usize) -> f64 {
        SIZE + if self.how.0 == "window" && size >= 4 << 20 { LONG_WINDOW } else { 0.0 }
    }

    fn final_seconds(self) -> f64 {
        let of_size = |size: &usize| (FINALISTS + 1) as f64 * TURNS as f64 * (JOB + self.seconds_of(*size));
        self.sizes.iter().map(of_size).sum()
    }

    /// The heats, and a final for each size.
    pub(crate) fn in_turns(self, plan: &Plan, measured: &mut Measured) -> Fallible {
        let ways = ways();
        let (autos, forced): (Vec<&Way>, Vec<&Way>) = ways.iter().partition(|way| way.name == AUTO);
        for way in &forced {
            let sizes: Vec<usize> = self.of(way).collect();
            if !sizes.is_empty() {
                self.measure(plan, way, &sizes, HEAT, measured)?;
            }
        }
        for size in self.sizes {
            let row = format!("{HEAT}{}_{size}", self.how.1);
            let time =
                |way: &&Way| measured.values(&way.name, &row).first().copied().unwrap_or(f64::INFINITY);
            let mut finalists = forced.clone();
            finalists.sort_by(|a, b| time(a).total_cmp(&time(b)));
            finalists.truncate(FINALISTS);
            finalists.extend(&autos);
            for _ in 0..TURNS {
                finalists.iter().try_for_each(|way| self.measure(plan, way, &[*size], FINAL, measured))?;
            }
        }
        Ok(())
    }

    /// Some sizes by one way. Without a value where it could not be forced.
    fn measure(
        self,
        plan: &Plan,
        way: &Way,
        sizes: &[usize],
        prefix: &str,
        measured: &mut Measured,
    ) -> Fallible {
        let [mpi] = plan.contenders() else { return Err("others can't be forced".into()) };
        let job = plan.bound_pair(mpi, "copies", &["-counters"]);
        let job = way.settings.iter().fold(job, |job, (name, value)| job.env(name, value));
        let sizes = sizes.iter().map(usize::to_string);
        let outcome = job.arg(self.how.0).args(sizes).limit(300).succeed()?;
        match way.proof {
            Some(counter) if !counted(&outcome.stderr, counter) => {
                eprintln!("{} could not be forced here: {counter} counts nothing", way.name);
            }
            _ => measured.take_as(prefix, &way.name, &outcome.stdout),
        }
        Ok(())
    }
}

/// The automatic choice beside the best forced way, for everything that was measured.
pub(crate) fn table(measured: &Measured) -> String {
    let ways = ways();
    let forced: Vec<&str> = ways.iter().map(|way| &*way.name).filter(|name| *name != AUTO).collect();
    let mut text = format!(
        "automatic choice and the fastest of {} forced ways, of which {FINALISTS} come into a final of {TURNS} turns; us of a \
         message in the final: best (median); ratios of times, so less is better: of the bests (of the medians); goal: both \
         <= {TO_FORCED}\n",
        forced.len()
    );
    for (_, name, words) in HOWS {
        text += &format!(
            "\n{words}\n{:<10}{:>18}{:>18}  {:<30}{:>14}\n",
            "", AUTO, "forced", "by", "auto/forced"
        );
        for size in BANDS.concat() {
            text += &line(measured, &forced, &format!("{FINAL}{name}_{size}"), size);
        }
    }
    text
}

fn line(measured: &Measured, forced: &[&str], row: &str, size: usize) -> String {
    let both = |contender: &str| measured.best_and_median(contender, row, Better::Lower);
    let cell = |contender: &str| {
        both(contender).map_or("-".into(), |(best, median)| format!("{} ({})", short(best), short(median)))
    };
    let medians = forced.iter().filter_map(|name| Some((both(name)?.1, *name)));
    let best = medians.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name);
    let ratio = both(AUTO).and_then(|auto| {
        let least = |part: fn((f64, f64)) -> f64| {
            forced.iter().filter_map(|name| both(name)).map(part).min_by(f64::total_cmp)
        };
        Some(Ratio { best: auto.0 / least(|both| both.0)?, median: auto.1 / least(|both| both.1)? })
    });
    let verdict = match ratio {
        Some(ratio) if ratio.at_most(TO_FORCED) => "  met",
        Some(_) => "  MISSED",
        None => "",
    };
    format!(
        "{:<10}{:>18}{:>18}  {:<30}{:>14}{verdict}\n",
        bytes(size),
        cell(AUTO),
        best.map_or("-".into(), cell),
        best.unwrap_or("-"),
        ratio.map_or("-".into(), |r| format!("{:.2} ({:.2})", r.best, r.median)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ring_store_and_chunk_is_forced_once() {
        let ways = ways();
        assert_eq!(ways.len(), 5 + RINGS.len() * STORES.len() * CHUNKS.len());
        let mut names: Vec<&str> = ways.iter().map(|way| &*way.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ways.len());
        assert!(ways.iter().filter(|way| way.proof.is_none()).map(|way| &way.name).eq([AUTO, "eager"]));
    }

    #[test]
    fn the_estimate_grows_with_the_rounds_and_counts_every_job() {
        let one = estimate(1).as_secs_f64();
        let jobs = bands().len() as f64 * 37.0; // those that take every size, and "auto"
        assert!(one >= jobs * (JOB + 3.0 * SIZE), "{one}");
        assert!((estimate(5).as_secs_f64() / one - 5.0).abs() < 1e-6);
    }

    #[test]
    fn the_table_names_the_best_forced_way_and_shows_what_was_missed() {
        let mut m = Measured::default();
        for (name, us) in [(AUTO, 1.2), ("get", 2.0), ("stream 524288/plain/8192", 1.0)] {
            m.add(name, "final_rotating_65536", us);
        }
        m.add(AUTO, "final_both_2048", 1.0);
        m.add("eager", "final_both_2048", 1.0);
        let table = table(&m);
        let (_, rotating) = table.split_once("rotating buffers").unwrap();
        let line = rotating.lines().find(|line| line.starts_with("64 KiB")).unwrap();
        assert!(line.contains("stream 524288/plain/8192"), "{line}");
        assert!(line.ends_with("1.20 (1.20)  MISSED"), "{line}");
        assert!(
            table.lines().any(|line| line.contains(" eager ") && line.ends_with("1.00 (1.00)  met")),
            "{table}"
        );
        assert!(
            table.lines().any(|line| line.starts_with("16 MiB") && line.trim_end().ends_with('-')),
            "{table}"
        );
    }
}
