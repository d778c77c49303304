//! Signals of the user, and the ends of processes.
//!
//! Called by the loop; calls `verdict` and `posthaste_os::process`. What must stay true: before the end of a
//! process is judged, everything it said to us is read; a process is signalled only while it is ours to wait for.

use super::Run;
use crate::server::Phase;
use crate::spawn::ending::Ending;
use crate::spawn::input::Next;
use crate::spawn::output::Sink;
use crate::spawn::verdict::{self, Cause, Ended, Stage, Verdict};
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgid};
use posthaste_os::node::Life;
use posthaste_os::process::Report;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// A second interrupt kills, but not when it comes with the first (a shell and a terminal both sending it).
const SECOND_INTERRUPT: Duration = Duration::from_millis(50);

impl Run<'_> {
    /// Reads what signals came; true when a child may have ended.
    pub(super) fn read_signals(&mut self) -> bool {
        let mut children = false;
        while let Ok(Some(info)) = self.signals.read_signal() {
            match Signal::try_from(info.ssi_signo as i32) {
                Ok(Signal::SIGCHLD) => children = true,
                Ok(signal) => self.user_signal(signal),
                Err(_) => {}
            }
        }
        children
    }

    fn user_signal(&mut self, signal: Signal) {
        let now = Instant::now();
        self.hooks.signal(signal as i32);
        match signal {
            Signal::SIGTSTP => {
                self.guardian.signal(Signal::SIGTSTP as i32);
                // Stops here; the terminal's shell lets us go on with SIGCONT.
                let _ = raise(Signal::SIGSTOP);
            }
            Signal::SIGCONT => {
                self.guardian.signal(Signal::SIGCONT as i32);
                if self.watching_input == Next::Later {
                    self.watch_input(Next::Terminal);
                }
            }
            Signal::SIGUSR2 => self.explain(),
            // A shell around a rank would die of it: it is for the ranks alone.
            Signal::SIGUSR1 => {
                for rank in self.ranks.iter().filter(|rank| rank.ended.is_none()) {
                    let _ = kill(Pid::from_raw(rank.pid), signal);
                }
            }
            _ => {
                if self.running == 0 {
                    // Nothing runs any more; what the reader of our output did not take is dropped.
                    self.close_outputs();
                    self.sinks.iter_mut().for_each(Sink::give_up);
                }
                let again = self.passed_on.is_some_and(|(before, at)| {
                    before == Signal::SIGINT as i32 && now.duration_since(at) >= SECOND_INTERRUPT
                });
                if signal == Signal::SIGINT && again {
                    self.fail(Cause::User { signal: signal as i32 });
                    self.ending = Some(Ending::kill(now));
                    return;
                }
                self.passed_on = Some((signal as i32, now));
                // A stopped process hears it only when it goes on.
                for signal in [signal, Signal::SIGCONT] {
                    self.guardian.signal(signal as i32);
                    self.signal_strays(signal);
                }
            }
        }
    }

    /// Sends a signal to ranks that have left the job's process group.
    pub(super) fn signal_strays(&self, signal: Signal) {
        let group = Pid::from_raw(self.guardian.group());
        for rank in self.ranks.iter().filter(|rank| rank.ended.is_none()) {
            let pid = Pid::from_raw(rank.pid);
            if self.guardian.is_reaped() || getpgid(Some(pid)) != Ok(group) {
                let _ = kill(pid, signal);
            }
        }
    }

    /// Learns which processes have ended, and judges them.
    pub(super) fn reap(&mut self) {
        let mut batch = Vec::new();
        loop {
            let (pid, ended) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid.as_raw(), Ended::Code(code)),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid.as_raw(), Ended::Signal(signal as i32)),
                Ok(WaitStatus::StillAlive) | Err(_) => break,
                Ok(_) => continue,
            };
            if pid == self.guardian.group() {
                self.guardian.set_reaped();
            }
            if let Some(rank) = self.by_pid.remove(&pid) {
                self.ranks[rank].ended = Some(ended);
                self.running -= 1;
                self.hooks.ended(rank, ended);
                batch.push((rank, pid, ended));
            }
        }
        self.read_reports();
        for &(rank, ..) in &batch {
            self.serve(rank);
        }
        let mut now: Option<Cause> = None;
        for (rank, pid, ended) in batch {
            match verdict::judge(rank, pid, ended, self.stage(rank)) {
                Verdict::Fine => {}
                Verdict::Later(cause) => drop(self.later.get_or_insert(cause)),
                Verdict::Now(cause) => {
                    if now.as_ref().is_none_or(|first| cause.weight() < first.weight()) {
                        now = Some(cause);
                    }
                }
            }
        }
        if let Some(cause) = now {
            self.fail(cause);
        }
        if self.running == 0
            && let Some(input) = &mut self.input
        {
            let next = input.close();
            self.watch_input(next);
        }
    }

    fn stage(&self, rank: usize) -> Stage {
        match (self.node.life(rank), self.server.phase(rank)) {
            (Life::Aborted, _) => Stage::Aborted,
            (Life::Finalised, _) => Stage::Finalised,
            (Life::Inside, _) => Stage::Inside,
            // A program built with another library of the family says so on the PMI connection only.
            (Life::Absent, Phase::Outside) => Stage::Outside,
            (Life::Absent, Phase::Inside) => Stage::Inside,
            (Life::Absent, Phase::Finalised) => Stage::Finalised,
        }
    }

    /// A barrier at which a rank waits for one that has ended never opens.
    pub(super) fn check_barrier(&mut self) {
        if self.cause.is_some() || self.running == self.ranks.len() {
            return;
        }
        let Some(waiting) = self.server.waiting() else { return };
        let gone = self.ranks.iter().enumerate().find(|(_, rank)| rank.ended.is_some());
        if let Some((rank, state)) = gone
            && self.ranks[waiting].ended.is_none()
        {
            self.fail(Cause::Stuck { rank, pid: state.pid, waiting });
        }
    }

    /// Reads what children say that could not become their program.
    pub(super) fn read_reports(&mut self) {
        let mut bytes = [0; 64 * Report::LEN];
        loop {
            match self.reports.read(&mut bytes) {
                Ok(0) => {
                    let _ = self.epoll.delete(&self.reports);
                    break;
                }
                Ok(count) => self.report_bytes.extend_from_slice(&bytes[..count]),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        while let Some(first) = self.report_bytes.first_chunk::<{ Report::LEN }>() {
            let report = Report::parse(first);
            self.report_bytes.drain(..Report::LEN);
            if let Some(Report { tag, step, errno }) = report {
                let rank = tag as usize;
                let program = self.programs.get(rank).cloned().unwrap_or_default();
                self.fail(Cause::NotStarted { rank, program, step, errno });
            }
        }
    }
}
