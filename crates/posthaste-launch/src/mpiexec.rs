//! `mpiexec`: reads its command line and hands a job to `posthaste_pmi::spawn`, or to `posthaste_pmi::hosts` when it runs
//! on other hosts too.
//!
//! What must stay true: its exit is that of the job, everything it says itself begins with its name and goes to
//! standard error.

use crate::explain;
use crate::options::{self, Request, Surroundings, Wish};
use crate::show::{Show, rank_map, say};
use posthaste_os::machine;
use posthaste_pmi::hosts;
use posthaste_pmi::spawn::spawn;
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
    let ranks = request.job.programs.iter().map(|program| program.count).sum();
    let map = match &request.placement {
        None => vec![(machine::host_name(), (0..ranks).collect())],
        Some(placement) => placement.map(ranks),
    };
    if request.show.rank_map {
        // If nobody reads it, the job runs as well.
        print(&rank_map(&map));
    }
    let mut show = match Show::new(name, &request.show, &map) {
        Ok(show) => show,
        Err(sentence) => {
            say(&format!("{name}: {sentence}\n"));
            return 1;
        }
    };
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
        Ok(outcome) => show.code(outcome.code),
        Err(refused) => {
            say(&format!("{name}: {refused}\n"));
            refused.code
        }
    }
}

fn print(text: &str) -> i32 {
    i32::from(io::stdout().write_all(text.as_bytes()).is_err())
}
