//! `mpiexec`: reads its command line and hands a job to `posthaste_pmi::family`.
//!
//! What must stay true: its exit is that of the job, everything it says itself begins with its name and goes to
//! standard error.

use crate::explain;
use crate::options::{self, Request, Surroundings, Wish};
use crate::show::{self, Show, rank_map, say};
use posthaste_os::debugger::ProcessTable;
use posthaste_os::machine;
use posthaste_pmi::family::{self, Caller};
use posthaste_pmi::hosts;
use posthaste_pmi::launcher::SERVE;
use posthaste_pmi::spawn::{Part, Refused};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

/// Runs the command and returns its exit code. Debuggers find the ranks of its job in `table`.
pub fn main(table: &ProcessTable) -> i32 {
    let mut arguments = std::env::args_os();
    let name = own_name(arguments.next().as_deref());
    let mut arguments = arguments.peekable();
    if arguments.peek().is_some_and(|first| first == hosts::AGENT) {
        return hosts::agent();
    }
    let serves = arguments.peek().and_then(|first| calls(first));
    let around = Surroundings {
        environment: std::env::vars_os().collect(),
        host: machine::host_name(),
        addresses: hosts::own_addresses,
        parts: Part::count,
    };
    if let Some(called) = serves {
        arguments.next();
        return serve(called, arguments, &name, &around);
    }
    match options::parse(arguments, &around) {
        Ok(Wish::Run(request)) => run(&request, &name, &around, table),
        Ok(Wish::Explain(pid)) => print_or_say(explain::of_process(pid), &name),
        Ok(Wish::Attach(pid)) => print_or_say(explain::debuggers(pid), &name),
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
fn own_name(called: Option<&OsStr>) -> String {
    let file = called.map(Path::new).and_then(Path::file_name);
    file.map_or_else(|| "mpiexec".into(), |file| file.to_string_lossy().into_owned())
}

/// Who calls us to serve a process that runs already.
#[derive(Clone, Copy, Debug)]
enum Call {
    /// Our library, at our standard input.
    Ours,
    /// A program of MPICH or Intel MPI that no launcher started.
    Mpich,
}

fn calls(first: &OsStr) -> Option<Call> {
    match first.to_str()? {
        SERVE => Some(Call::Ours),
        "-pmi_args" => Some(Call::Mpich),
        _ => None,
    }
}

/// Serves such a process. Hosts come from variables and batch systems as for any other job.
fn serve(call: Call, arguments: impl Iterator<Item = OsString>, name: &str, around: &Surroundings) -> i32 {
    let served = || -> Result<i32, Refused> {
        let sentence = |sentence: String| Refused { code: 1, sentence };
        let caller = match call {
            Call::Ours => Caller::at_stdin()?,
            Call::Mpich => {
                // PORT INTERFACE KEY PID
                let numbers: Vec<Option<i32>> =
                    arguments.map(|argument| argument.to_str().and_then(|text| text.parse().ok())).collect();
                let &[Some(port), _, _, Some(pid)] = &numbers[..] else {
                    return Err(sentence("-pmi_args needs PORT INTERFACE KEY PID after it".into()));
                };
                let port = u16::try_from(port).map_err(|_| sentence(format!("{port} is no port")))?;
                Caller::at_port(port, pid)?
            }
        };
        let request = match options::parse(["-".into()], around).map_err(sentence)? {
            Wish::Run(request) => request,
            _ => Box::default(),
        };
        let wishes = show::Wishes::default();
        let map = vec![(around.host.clone(), vec![0])];
        let mut show = Show::new(name, &wishes, &map).map_err(sentence)?;
        with_place(&request, name, around, |place| family::serve(caller, place, name, &mut show))
            .map(|outcome| outcome.code)
    };
    served().unwrap_or_else(|refused| {
        say(&format!("{name}: {refused}\n"));
        refused.code
    })
}

/// Calls a function with where the jobs of this request run.
fn with_place<T>(
    request: &Request,
    name: &str,
    around: &Surroundings,
    call: impl FnOnce(&family::Place<'_>) -> T,
) -> T {
    // An installation has the same path on all hosts.
    let agent = std::env::current_exe().unwrap_or_else(|_| name.into()).into();
    call(&family::Place {
        placement: request.placement.clone(),
        launcher: hosts::Launcher { agent, ..request.launcher.clone() },
        listed: &|list| options::hosts_of_list(list, around),
        in_file: &|file| options::hosts_of_file(file.as_ref(), around),
    })
}

fn run(request: &Request, name: &str, around: &Surroundings, table: &ProcessTable) -> i32 {
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
    if request.only_shown {
        return 0;
    }
    let mut show = match Show::new(name, &request.show, &map) {
        Ok(show) => show.found_in(table),
        Err(sentence) => {
            say(&format!("{name}: {sentence}\n"));
            return 1;
        }
    };
    let outcome =
        with_place(request, name, around, |place| family::spawn(&request.job, place, name, &mut show));
    match outcome {
        Ok(outcome) => show.code(outcome.code),
        Err(refused) => {
            say(&format!("{name}: {refused}\n"));
            refused.code
        }
    }
}

fn print_or_say(text: Result<String, String>, name: &str) -> i32 {
    text.map_or_else(
        |sentence| {
            say(&format!("{name}: {sentence}\n"));
            1
        },
        |text| print(&text),
    )
}

fn print(text: &str) -> i32 {
    i32::from(io::stdout().write_all(text.as_bytes()).is_err())
}
