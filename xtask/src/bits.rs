//! The bits of reductions on other hosts, nodes and CPUs: with `POSTHASTE_REPRODUCIBLE=1` they are the same. The part `bits` of `cargo
//! xtask test`.
//!
//! What must stay true: without the setting the same program sees other bits somewhere, or this would prove nothing.

use crate::{
    ctests::{self, cpus_of_this_process},
    leftovers::Watch,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

const RANKS: usize = 8;

/// Where the ranks are.
#[derive(Clone, Copy, Debug)]
enum Placement {
    /// All on so many CPUs of one host.
    Cpus(usize),
    /// As if each had a CPU of its own.
    Alone,
    /// On two hosts.
    Hosts,
    /// On three hosts, in turns.
    Turns,
    /// On two nodes of one host.
    Nodes,
    /// By TCP alone.
    Tcp,
    /// With boards for everything, and types that are checked.
    Settings,
}

const PLACEMENTS: [Placement; 7] = [
    Placement::Cpus(1),
    Placement::Cpus(2),
    Placement::Alone,
    Placement::Hosts,
    Placement::Turns,
    Placement::Nodes,
    Placement::Tcp,
];

/// All of them.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let program = match ctests::helper(project, mpi, "", "same_bits") {
        Ok(program) => program,
        Err(complaint) => return tally.test("bits: compile same_bits.c", || Err(complaint)),
    };
    let said = |placement: Placement, reproducible: bool| -> Fallible<Vec<String>> {
        let watch = Watch::begin();
        let start =
            |options: &[&str], ranks: usize| mpi.plain().args(options).arg("-n").arg(ranks.to_string());
        let finish = |job: Job| job.arg(&program).arg("print");
        let job = match placement {
            Placement::Nodes => {
                let job = finish(start(&[], RANKS / 2).args(["-env", "POSTHASTE_NODE", "a"])).arg(":");
                finish(job.args(["-n", "4", "-env", "POSTHASTE_NODE", "b"]))
            }
            Placement::Hosts => finish(start(&["-launcher", "fork", "-hosts", "a:4,b:4"], RANKS)),
            Placement::Turns => finish(start(&["-launcher", "fork", "-hosts", "a,b,c", "-ppn", "1"], RANKS)),
            Placement::Alone => {
                let command = format!("POSTHASTE_CPUS={RANKS} exec {} print", program.display());
                start(&[], RANKS).args(["sh", "-c", &command])
            }
            _ => finish(start(&[], RANKS)),
        };
        let job = match placement {
            Placement::Cpus(cpus) => job.under(&["taskset", "-c", &cpus_of_this_process(cpus)]),
            Placement::Tcp => job.env("POSTHASTE_METHODS", "tcp"),
            Placement::Settings => job
                .env("POSTHASTE_BOARD_LIMIT", "1")
                .env("POSTHASTE_SHARED_LIMIT", "1")
                .env("POSTHASTE_CHECK_TYPES", "1"),
            _ => job,
        };
        let job = job.env("POSTHASTE_REPRODUCIBLE", if reproducible { "1" } else { "0" });
        let outcome = watch.mark(job).limit(120).succeed()?;
        watch.nothing_left()?;
        let lines: Vec<String> =
            outcome.stdout.lines().filter(|line| line.starts_with("bits ")).map(Into::into).collect();
        if lines.len() < 200 {
            return Err(format!("{} lines of bits were said, more were expected", lines.len()));
        }
        Ok(lines)
    };
    let first = said(PLACEMENTS[0], true);
    for placement in PLACEMENTS.into_iter().chain([Placement::Settings]).skip(1) {
        tally.test(&format!("bits: {placement:?} gives those of one CPU"), || {
            let (first, here) = (first.as_ref().map_err(Clone::clone)?, said(placement, true)?);
            let other = first.iter().zip(&here).find(|(first, here)| first != here);
            match other {
                Some((first, here)) => Err(format!("\"{first}\" is \"{here}\" there")),
                None if first.len() == here.len() => Ok(()),
                None => Err("another number of results".into()),
            }
        });
    }
    tally.test("bits: without the setting they depend on the CPUs", || {
        match said(Placement::Cpus(1), false)? == said(Placement::Alone, false)? {
            true => Err("they are the same, so nothing is proved".into()),
            false => Ok(()),
        }
    });
}
