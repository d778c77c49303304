//! `mpiexec`: reads its command line and hands a job to `posthaste_pmi::spawn`, or to `posthaste_pmi::hosts` when it runs
//! on other hosts too.
//!
//! Called by the program of that name; calls `options`, `explain` and those. What must stay true: its exit is that of the job, everything it says itself begins with its name and goes to standard error.

use crate::explain;
use crate::options::{self, Request, Surroundings, Wish};
use posthaste_core::trace::COUNTERS;
use posthaste_os::machine;
use posthaste_pmi::hosts;
use posthaste_pmi::spawn::{Hooks, Look, Stream, spawn};
use std::io::{self, Write};
use std::path::Path;

/// Runs the command and returns its exit code.
pub fn main() -> i32 {
    let mut arguments = std::env::args_os();
    let name = own_name(arguments.next().as_deref());
    let mut arguments = arguments.peekable();
    if arguments.peek().is_some_and(|first| first == hosts::AGENT) {
        return hosts::agent();
    }
    let around = Surroundings {
        environment: std::env::vars_os().collect(),
        host: machine::host_name(),
        addresses: hosts::own_addresses,
    };
    match options::parse(arguments, &around) {
        Ok(Wish::Run(request)) => run(&request, &name),
        Ok(Wish::Explain(pid)) => match explain::of_process(pid) {
            Ok(text) => print(&text),
            Err(sentence) => {
                say(&format!("{name}: {sentence}\n"));
                1
            }
        },
        Ok(Wish::Help) => print(&options::help(&name)),
        Ok(Wish::Version) => print(&format!(
            "{name} of posthaste {}, starting programs of MPI 5.0\n",
            env!("CARGO_PKG_VERSION")
        )),
        Err(sentence) => {
            say(&format!("{name}: {sentence}\n"));
            1
        }
    }
}

/// `mpiexec` or whatever it was called as.
fn own_name(called: Option<&std::ffi::OsStr>) -> String {
    let file = called.map(Path::new).and_then(Path::file_name);
    file.map_or_else(|| "mpiexec".into(), |file| file.to_string_lossy().into_owned())
}

fn run(request: &Request, name: &str) -> i32 {
    for warning in &request.warnings {
        say(&format!("{name}: warning: {warning}\n"));
    }
    let mut show = Show { label: request.label, counters: request.counters };
    let outcome = match &request.placement {
        None => spawn(&request.job, name, &mut show),
        Some(placement) => {
            let mut launcher = request.launcher.clone();
            // An installation has the same path on all hosts.
            launcher.agent = std::env::current_exe().unwrap_or_else(|_| name.into()).into();
            hosts::spawn(&request.job, placement, &launcher, name, &mut show)
        }
    };
    match outcome {
        Ok(outcome) => outcome.code,
        Err(refused) => {
            say(&format!("{name}: {refused}\n"));
            refused.code
        }
    }
}

fn print(text: &str) -> i32 {
    i32::from(io::stdout().write_all(text.as_bytes()).is_err())
}

/// Says something on standard error; if that is closed, nobody wants to know.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

struct Show {
    label: bool,
    counters: bool,
}

impl Hooks for Show {
    fn output(&mut self, rank: usize, _: Stream, text: &[u8], continues: bool, out: &mut Vec<u8>) {
        if self.label {
            label(rank, text, continues, out);
        } else {
            out.extend_from_slice(text);
        }
    }

    fn wants_lines(&self) -> bool {
        self.label
    }

    fn explain(&mut self, ranks: &[Look]) -> String {
        explain::of_ranks(ranks)
    }

    fn finished(&mut self, counters: &[u64]) {
        if self.counters {
            say(&sums(counters));
        }
    }
}

/// Puts the rank in front of each line.
fn label(rank: usize, text: &[u8], continues: bool, out: &mut Vec<u8>) {
    for (index, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        if index > 0 || !continues {
            out.extend_from_slice(format!("[{rank}] ").as_bytes());
        }
        out.extend_from_slice(line);
    }
}

/// One line for each counter.
fn sums(counters: &[u64]) -> String {
    COUNTERS.iter().zip(counters).map(|(name, sum)| format!("counter {name} {sum}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_in_front_of_each_line() {
        let mut out = Vec::new();
        label(3, b"a\n\nb", false, &mut out);
        label(3, b"c\nd\n", true, &mut out);
        assert_eq!(out, b"[3] a\n[3] \n[3] bc\n[3] d\n");
    }

    #[test]
    fn counters_have_names() {
        assert!(sums(&[5, 6]).starts_with(&format!("counter {} 5\n", COUNTERS[0])));
    }
}
