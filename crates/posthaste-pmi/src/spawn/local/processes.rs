//! Signals for the ranks, and the ends of processes.
//!
//! What must stay true: before the end of a process is judged, everything it said to us is read; a process is signalled
//! only while it is ours to wait for.

use super::Local;
use crate::server::Phase;
use crate::spawn::input::Feed;
use crate::spawn::output::Stream;
use crate::spawn::talk::Report as Up;
use crate::spawn::verdict::{self, Cause, Death, Ended, Stage, Verdict};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid};
use posthaste_os::node::Life;
use posthaste_os::process::Report;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// How long after a signal of the user the ends of processes count as its consequence.
const USER_WINDOW: Duration = Duration::from_secs(10);

impl Local {
    /// Passes a signal of the user on to the ranks.
    pub(super) fn pass_on(&mut self, number: i32) {
        let Ok(signal) = Signal::try_from(number) else { return };
        match signal {
            Signal::SIGTSTP | Signal::SIGCONT => self.guardian.signal(number),
            // A shell around a rank would die of it: it is for the ranks alone.
            Signal::SIGUSR1 => {
                for rank in self.ranks.iter().filter(|rank| rank.ended.is_none()) {
                    let _ = kill(Pid::from_raw(rank.pid), signal);
                }
            }
            _ => {
                self.passed_on = Some((number, Instant::now()));
                // A stopped process hears it only when it goes on.
                for signal in [signal, Signal::SIGCONT] {
                    self.guardian.signal(signal as i32);
                    self.signal_strays(signal);
                }
            }
        }
    }

    /// The signal of the user whose consequence an end is by now.
    pub(super) fn user_signal(&self, now: Instant) -> Option<i32> {
        self.passed_on.filter(|(_, at)| now.duration_since(*at) < USER_WINDOW).map(|user| user.0)
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

    /// Judges processes that have ended.
    pub(super) fn judge(&mut self, dead: &[Death]) {
        let mut batch = Vec::new();
        for &Death { pid, how: ended, core } in dead {
            if pid == self.guardian.group() {
                self.guardian.set_reaped();
            }
            if let Some(rank) = self.by_pid.remove(&pid) {
                self.ranks[rank].ended = Some(ended);
                self.running -= 1;
                // At once: another rank may be about to write a file of the same name.
                let core = core.then(|| self.keep_core(rank));
                batch.push((rank, pid, ended, core));
            }
        }
        self.read_reports();
        for &(rank, ..) in &batch {
            self.serve(rank);
        }
        let mut now: Option<Cause> = None;
        for (rank, pid, ended, core) in batch {
            let number = self.ranks[rank].number;
            self.report(Up::Ended { rank: number, pid, host: self.host.clone(), how: ended });
            let stage = self.stage(rank);
            let missing = self.missing_library(rank, ended, stage);
            match verdict::judge(number as usize, pid, ended, stage, missing, core) {
                // Its parents would wait for it.
                Verdict::Fine if self.spawned && !self.server.has_come(rank) => {
                    let number = number as usize;
                    now.get_or_insert(Cause::Death {
                        rank: number,
                        pid,
                        ended,
                        stage,
                        missing: None,
                        core: None,
                    });
                }
                Verdict::Fine => {}
                Verdict::Now(cause @ Cause::Death { stage: Stage::Inside | Stage::Finalised, .. })
                    if self.goes_on =>
                {
                    self.report(Up::FailedLater(self.fault(cause)));
                }
                Verdict::Later(cause) => self.report(Up::FailedLater(self.fault(cause))),
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
        if self.running == 0 {
            self.cores.tidy();
            self.feed(Feed::close);
        }
    }

    /// Lets the ranks here know that others are lost. They look for it themselves; of more than there is room for they hear by
    /// their networks only.
    pub(super) fn announce(&mut self, lost: &[u32], whole_host: bool) {
        for run in lost.chunk_by(|rank, next| rank.checked_add(1) == Some(*next)) {
            self.node.announce_loss(run[0]..run[0].saturating_add(run.len() as u32), whole_host);
        }
    }

    /// Calls the core file of a rank after it. What a sentence says of it.
    fn keep_core(&mut self, rank: usize) -> String {
        let rank = &self.ranks[rank];
        let name = format!("core.{}rank-{}", self.label, rank.number);
        self.cores.keep(rank.pid, &rank.directory, &name)
    }

    /// The library for want of which a rank has ended, if its loader has said so.
    fn missing_library(&mut self, rank: usize, ended: Ended, stage: Stage) -> Option<String> {
        if (ended, stage) != (Ended::Code(verdict::NOT_FOUND), Stage::Outside) {
            return None;
        }
        self.read_output(rank, Stream::Err);
        self.ranks[rank].missing.take()
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
        if self.failed {
            return;
        }
        let (Some(gone), Some(waiting)) = (&self.gone, self.server.waiting()) else { return };
        if self.ranks[waiting].ended.is_none() {
            let waiting = self.ranks[waiting].number as usize;
            let cause =
                Cause::Stuck { rank: gone.rank as usize, pid: gone.pid, host: gone.host.clone(), waiting };
            self.fail(cause);
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
                let Some(rank) = self.ranks.get(tag as usize) else { continue };
                let program = self.programs[tag as usize].clone();
                self.fail(Cause::NotStarted { rank: rank.number as usize, program, step, errno });
            }
        }
    }
}
