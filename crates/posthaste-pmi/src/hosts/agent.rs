//! What mpiexec is on another host: an agent.
//!
//! mpiexec is one when its first argument is [`super::AGENT`]. It greets its parent, takes its plan, and runs the ranks
//! of its host, or the agents of the hosts it stands for. What must stay true: it ends when its parent is gone, and
//! then nothing of the job is left here.

use super::PATIENCE;
use super::frame::{Down, Frames, Plan, greeting};
use super::link::Link;
use super::tree::Tree;
use crate::spawn::Refused;
use crate::spawn::local::{Local, Ties, refused};
use crate::spawn::run::{self, Below, Signals, Token};
use crate::spawn::talk::{Common, Fault, Order, Report, Seats};
use crate::spawn::verdict::{Cause, Death};
use nix::sys::epoll::Epoll;
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Instant;

/// Variables that say something about the host or the session in which they are set: an agent's ranks get its own.
const OF_THE_HOST: &[&str] = &[
    "HOST",
    "HOSTNAME",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_PROCID",
    "SLURM_TASK_PID",
    "SLURMD_NODENAME",
    "SSH_AUTH_SOCK",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_ID",
];

/// Runs this process as an agent and returns its exit code. What goes wrong is reported to the parent, or, when that is not
/// possible, on standard error.
pub fn agent() -> i32 {
    match run_agent() {
        Ok(()) => 0,
        Err(refused) => {
            // If nobody listens, nobody wants to know. At once, for others write there, too.
            let _ = io::stderr().write_all(format!("{refused}\n").as_bytes());
            refused.code
        }
    }
}

fn run_agent() -> Result<(), Refused> {
    // An mpiexec that runs a job already has blocked the signals that it handles, and we would have that from it.
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
    let mut frames = Frames::default();
    let Some(mut plan) = first_plan(&mut frames)? else { return Ok(()) };
    settle_environment(&mut plan.common, |name| std::env::var_os(name));
    let epoll = run::epoll().map_err(refused("cannot make an epoll"))?;
    let host = plan.seats.first().map_or(String::new(), |seats| seats.host.clone());
    let mut link =
        Link::new(&host, frames, epoll.clone()).map_err(refused("cannot use the standard streams"))?;
    link.take_frames();
    let catch = || Signals::catch(&epoll).map_err(refused("cannot catch signals"));
    let signals;
    let mut below: Box<dyn Below> = match &plan.seats[..] {
        [seats] => {
            signals = catch()?;
            match start(&plan.common, seats, &signals, epoll.clone()) {
                Ok(local) => Box::new(local),
                Err(refused) => Box::new(Unstarted::new(seats, refused)),
            }
        }
        _ => {
            // Before signals are caught: what is started shall not find them blocked.
            let tree = Tree::start(*plan, true, 0, epoll.clone())?;
            signals = catch()?;
            Box::new(tree)
        }
    };
    run::run(&epoll, &signals, &mut link, below.as_mut())
}

/// Variables of the host are those of this one, or none.
fn settle_environment(common: &mut Common, own: impl Fn(&OsStr) -> Option<OsString>) {
    let whole = common.programs.iter_mut().filter(|program| program.replaces_environment);
    let whole = whole.map(|program| &mut program.environment);
    for environment in std::iter::once(&mut common.environment).chain(whole) {
        environment.retain_mut(|(name, value)| {
            if !OF_THE_HOST.iter().any(|of_the_host| name == of_the_host) {
                return true;
            }
            own(name).map(|own| *value = own).is_some()
        });
    }
}

/// Greets the parent and reads what is to be done; nothing when the parent is gone.
fn first_plan(frames: &mut Frames) -> Result<Option<Box<Plan>>, Refused> {
    let mut out = io::stdout();
    let greeted = out.write_all(greeting().as_bytes()).and_then(|()| out.flush());
    greeted.map_err(refused("cannot greet the one who started this agent"))?;
    let mut input =
        File::from(io::stdin().as_fd().try_clone_to_owned().map_err(refused("cannot read what to do"))?);
    let mut piece = vec![0; 64 << 10];
    loop {
        match frames.next() {
            Ok(Some(Down::Start(plan))) => return Ok(Some(plan)),
            Ok(Some(_)) => return Err(Refused::new(1, "this agent was ordered about before it had a plan")),
            Ok(None) => {}
            Err(bad) => {
                return Err(Refused::new(
                    1,
                    format!("whoever started this agent cannot be understood: {bad}"),
                ));
            }
        }
        match input.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(count) => frames.push(&piece[..count]),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(refused("cannot read what to do")(why)),
        }
    }
}

fn start(common: &Common, seats: &Seats, signals: &Signals, epoll: Rc<Epoll>) -> Result<Local, Refused> {
    if let Some(directory) = &common.directory {
        enter(directory)?;
    }
    let ties = Ties { passed_on: true, patience: Some(PATIENCE) };
    Local::start(common, seats, ties, &signals.before(), epoll)
}

fn enter(directory: &OsString) -> Result<(), Refused> {
    std::env::set_current_dir(directory).map_err(|why| {
        Refused::new(
            1,
            format!("the working directory {:?} cannot be entered: {why}", directory.to_string_lossy()),
        )
    })
}

/// The ranks of a host that were not started.
struct Unstarted(VecDeque<Report>);

impl Unstarted {
    fn new(seats: &Seats, Refused { code, sentence }: Refused) -> Self {
        let sentence = format!("on {}: {sentence}", seats.host);
        let fault = Fault { job: 0, host: seats.host.clone(), cause: Cause::Refused { code, sentence } };
        let ranks = seats.ranks.iter().map(|seat| seat.0).collect();
        Self([Report::Down { ranks, fault }, Report::Over(Vec::new())].into())
    }
}

impl Below for Unstarted {
    fn event(&mut self, _: Token) {}
    fn children(&mut self, _: &[Death]) {}
    fn order(&mut self, _: Order) {}
    fn report(&mut self) -> Option<Report> {
        self.0.pop_front()
    }
    fn on_time(&mut self, _: Instant) {}
    fn due(&self) -> Option<Instant> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_host_is_its_own() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let environment = vec![pair("PATH", "/bin"), pair("HOSTNAME", "a"), pair("SSH_TTY", "/dev/pts/1")];
        let mut common = Common { environment, ..Common::default() };
        settle_environment(&mut common, |name| (name == "HOSTNAME").then(|| "b".into()));
        assert_eq!(common.environment, [pair("PATH", "/bin"), pair("HOSTNAME", "b")]);
    }
}
