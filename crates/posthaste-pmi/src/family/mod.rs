//! A job with all the jobs that its processes ask for, seen to their end: one function, [`spawn`]. mpiexec is a small program
//! over it.
//!
//! The first job and a spawned one are started by the same function and watched by the same loop. A spawned job is a
//! job on hosts (`hosts`), also when all of them are this one, so it has everything the first one has: labels, files,
//! signals, `-explain`, CPUs of its own, counters, and a clean end when anything above it dies. What must stay true: when
//! [`spawn`] returns, nothing of any of the jobs is left. Seed B12 ("mpirun is a small program over spawn_multiple"),
//! MPI-5.0 §11.5 and §11.8.
//!
//! Parts: `soft` (how many processes will do) → `plan` (a request becomes a job) → `guest` (a first job that runs already) →
//! `jobs` (many jobs look like one).

mod guest;
mod jobs;
mod plan;
mod soft;

pub use guest::Caller;

use crate::hosts::{Host, Launcher, Placement, Plan, Tree};
use crate::spawn::console::Console;
use crate::spawn::input::Source;
use crate::spawn::local::{Local, Ties, refused};
use crate::spawn::run::{self, Below, Signals};
use crate::spawn::talk::{Common, Seats};
use crate::spawn::{Hooks, Input, Job, Outcome, Refused};
use guest::Guest;
use jobs::Jobs;
use nix::sys::epoll::Epoll;
use nix::unistd::dup2_stdin;
use posthaste_os::machine;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::rc::Rc;

/// Where jobs run, and how hosts are reached.
pub struct Place<'a> {
    /// The hosts of the first job, and of spawned ones that ask for no others; this host alone when absent.
    pub placement: Option<Placement>,
    /// How agents are started.
    pub launcher: Launcher,
    /// Reads the hosts that a process asks for: a list with commas.
    pub listed: &'a dyn Fn(&str) -> Result<Vec<Host>, String>,
    /// The same from a file.
    pub in_file: &'a dyn Fn(&str) -> Result<Vec<Host>, String>,
}

/// Starts the processes of `job` and of every job that they ask for, serves them, passes their output on to our own standard
/// streams and returns when all have ended. What failed is said in one sentence on standard error, begun with `name`.
/// Standard input goes where the job says; on one host our own becomes the empty file when it is handed on as it is.
///
/// # Errors
/// When the job cannot be started: no such program or directory, no memory, no processes. What goes wrong on another host
/// is reported as a failure of the job.
pub fn spawn(job: &Job, place: &Place<'_>, name: &str, hooks: &mut dyn Hooks) -> Result<Outcome, Refused> {
    let programs = job.programs_of_ranks()?;
    let epoll = run::epoll().map_err(refused("cannot make an epoll"))?;
    let new_console = |hooks, common: &mut Common| {
        Console::new(hooks, name, job.timeout, common, epoll.clone())
            .map_err(refused("cannot use the standard streams"))
    };
    let readers = job.input.count(programs.len());
    match &place.placement {
        None => {
            let mapping = format!("(vector,(0,1,{}))", programs.len());
            let mut common = job.common(programs.len(), mapping, machine::usable_cpus())?;
            let signals = Signals::catch(&epoll).map_err(refused("cannot catch signals"))?;
            let mut console = new_console(hooks, &mut common)?;
            let seats = Seats { host: machine::host_name(), ranks: (0..).zip(programs).collect() };
            let passed_on = readers > 1 || (readers == 1 && io::stdin().is_terminal());
            let ties = Ties { passed_on, patience: None };
            let first = Local::start(&common, &seats, ties, &signals.before(), epoll.clone())?;
            if passed_on {
                console.read_from(Source::new().map_err(refused("cannot use standard input"))?);
            } else if let Ok(null) = File::open("/dev/null") {
                // A rank has it; nobody would see that it has closed it if we held it too.
                let _ = dup2_stdin(null);
            }
            see_to_end(Box::new(first), 0, common, job, place, (&epoll, &signals), console)
        }
        Some(placement) => {
            let placed = placement.place(&programs);
            let mut common = job.common(programs.len(), placed.mapping, placement.slots().unwrap_or(0))?;
            let mut console = new_console(hooks, &mut common)?;
            let plan = Plan { common: common.clone(), seats: placed.seats, launcher: place.launcher.clone() };
            // Before signals are caught: what is started shall not find them blocked.
            let first = Tree::start(plan, false, 0, epoll.clone())?;
            let signals = Signals::catch(&epoll).map_err(refused("cannot catch signals"))?;
            console.take_questions();
            if readers > 0 {
                console.read_from(Source::new().map_err(refused("cannot use standard input"))?);
            }
            let agents = first.end();
            see_to_end(Box::new(first), agents, common, job, place, (&epoll, &signals), console)
        }
    }
}

/// Serves a process that runs already and asks for others, as [`spawn`] does the ranks of a first job, until it and all of
/// them have ended.
///
/// # Errors
/// When it cannot be served.
pub fn serve(
    caller: Caller,
    place: &Place<'_>,
    name: &str,
    hooks: &mut dyn Hooks,
) -> Result<Outcome, Refused> {
    let job =
        Job { environment: std::env::vars_os().collect(), input: Input::Ranks(Vec::new()), ..Job::default() };
    let epoll = run::epoll().map_err(refused("cannot make an epoll"))?;
    let mut common = job.common(1, "(vector,(0,1,1))".into(), machine::usable_cpus())?;
    let signals = Signals::catch(&epoll).map_err(refused("cannot catch signals"))?;
    let console = Console::new(hooks, name, None, &mut common, epoll.clone());
    let console = console.map_err(refused("cannot use the standard streams"))?;
    let first = Guest::new(caller, &common, &epoll).map_err(refused("cannot serve a program"))?;
    if let Ok(null) = File::open("/dev/null") {
        let _ = dup2_stdin(null);
    }
    see_to_end(Box::new(first), 0, common, &job, place, (&epoll, &signals), console)
}

/// Runs the loop for a family whose first job, with so many agents, is `first`.
fn see_to_end(
    first: Box<dyn Below>,
    agents: usize,
    common: Common,
    job: &Job,
    place: &Place<'_>,
    (epoll, signals): (&Rc<Epoll>, &Signals),
    mut console: Console<'_>,
) -> Result<Outcome, Refused> {
    let mut jobs = Jobs::new(first, agents, common, job.limit, place, epoll.clone());
    run::run(epoll, signals, &mut console, &mut jobs)?;
    Ok(console.outcome())
}
