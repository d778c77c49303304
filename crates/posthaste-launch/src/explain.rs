//! What the ranks of a job are doing, read from outside.
//!
//! It looks at the job of this mpiexec, or at one that another command asks about: at the node segment, and at what the
//! system says about the processes. What must stay true: nothing here needs the help of a rank or of the mpiexec asked
//! about, so both may be stopped; only an mpiexec that has agents, on other hosts or for spawned jobs, is asked itself, and
//! if it does not answer, what can be seen without it is said.

use posthaste_core::explain::{Process, Report, State, explain};
use posthaste_os::machine;
use posthaste_os::node::{Life, Node};
use posthaste_pmi::spawn::{Look, ask, look};
use std::fs::{self, File};
use std::io;
use std::time::Duration;

/// The lines about the ranks of a job, in order.
pub fn of_ranks(looks: &[Look]) -> String {
    let last = looks.last().map_or(0, |look| look.rank as usize + 1);
    // Of ranks on a host that does not answer nothing is known.
    let silent = State { pid: 0, life: Life::Inside, process: Process::Running, report: None };
    of_some(looks, vec![silent; last])
}

/// The lines about those ranks of a job that are on this host.
fn of_job(node: &Node) -> String {
    let size = node.world_size().unwrap_or(0).max(node.ranks());
    // Where all ranks share the segment they have the same numbers in it, also those that have not come yet.
    let number = |local: u32| node.world_rank(local as usize).or((size == node.ranks()).then_some(local));
    let looks: Vec<Look> = (0..node.ranks() as u32)
        .filter_map(|local| Some(look(node, local as usize, number(local)?)))
        .filter(|look| (look.rank as usize) < size)
        .collect();
    of_some(&looks, vec![State::ELSEWHERE; size])
}

fn of_some(looks: &[Look], mut states: Vec<State>) -> String {
    let now = machine::now();
    for look in looks {
        states[look.rank as usize] = state(look, now);
    }
    explain(&states, now)
}

/// The lines about the job to which a running process belongs: its mpiexec, or one of its ranks.
///
/// # Errors
/// One sentence: no such process, not ours to look at, none of ours.
pub fn of_process(pid: u32) -> Result<String, String> {
    let asked = ask(pid);
    if let Ok(Some(text)) = asked {
        return Ok(text);
    }
    if let Some(text) = seen(pid)? {
        return Ok(text);
    }
    Err(match asked {
        Ok(_) => format!(
            "-explain {pid}: the process is neither an mpiexec with a running job nor a rank of one, or belongs to \
             another user"
        ),
        Err(why) => {
            format!("-explain {pid}: the mpiexec of this job on several hosts reports nothing: {why}")
        }
    })
}

/// A line for each rank on this host of the job to which a running process belongs: how to attach a debugger to it.
///
/// # Errors
/// One sentence: no such process, not ours to look at, none of ours.
pub fn debuggers(pid: u32) -> Result<String, String> {
    let Some(node) = segment(pid).map_err(|why| format!("-attach {pid}: {why}"))? else {
        return Err(format!(
            "-attach {pid}: the process has no rank of a job beside it on this host; an mpiexec with agents knows them all: \
             gdb -batch -p {pid} -ex 'print MPIR_proctable[0]@MPIR_proctable_size'"
        ));
    };
    let size = node.world_size().unwrap_or(0).max(node.ranks());
    let line = |local: usize| {
        let rank = node.world_rank(local).or((size == node.ranks()).then_some(local as u32))?;
        let pid = Some(node.pid(local)).filter(|pid| *pid > 0)?;
        Some(format!("rank {rank}: gdb -p {pid}\n"))
    };
    let lines: String = (0..node.ranks()).filter_map(line).collect();
    if lines.is_empty() { Err(format!("-attach {pid}: no rank has come to MPI_Init yet")) } else { Ok(lines) }
}

/// The lines about a job whose node segment this process has; `None` when it has none.
fn seen(pid: u32) -> Result<Option<String>, String> {
    let node = segment(pid).map_err(|why| format!("-explain {pid}: {why}"))?;
    Ok(node.map(|node| of_job(&node)))
}

/// The node segment that this process has.
fn segment(pid: u32) -> Result<Option<Node>, String> {
    let folder = format!("/proc/{pid}/fd");
    let refused = |why: io::Error| match why.kind() {
        io::ErrorKind::NotFound => "there is no such process on this host".to_owned(),
        _ => format!("cannot look at the process: {why}"),
    };
    for entry in fs::read_dir(&folder).map_err(refused)?.flatten() {
        // A descriptor may be closed while we look.
        let Ok(target) = fs::read_link(entry.path()) else { continue };
        if !target.to_string_lossy().starts_with("/memfd:posthaste") {
            continue;
        }
        let file = File::options().read(true).write(true).open(entry.path()).map_err(refused)?;
        // A segment in the making is no job yet.
        if let Ok(node) = Node::attach(file.into()) {
            return Ok(Some(node));
        }
    }
    Ok(None)
}

/// What a look reports, by the clock of this host, which shows `now`.
fn state(look: &Look, now: Duration) -> State {
    let process = match look.process {
        Some('T' | 't') => Process::Stopped,
        Some('S' | 'D' | 'I') => Process::Asleep,
        None | Some('Z' | 'X') => Process::Gone,
        Some(_) => Process::Running,
    };
    let status_page = look.status_page.as_deref();
    let mut report = status_page
        .and_then(|text| if text.is_empty() { Some(Report::default()) } else { Report::decode(text) });
    if let Some(report) = &mut report {
        let here = |there: Duration| now.saturating_sub(look.at.saturating_sub(there));
        report.at = here(report.at);
        report.waits.iter_mut().for_each(|wait| wait.since = here(wait.since));
    }
    State { pid: look.pid, life: look.life, process, report }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_another_host_are_shown_by_our_clock() {
        let second = Duration::from_secs;
        let mut status_page = Report { at: second(95), ..Report::default() }.encode(4096);
        let look = |status_page: &mut Vec<u8>| Look {
            rank: 0,
            pid: 7,
            life: Life::Inside,
            process: Some('S'),
            status_page: Some(std::mem::take(status_page)),
            at: second(100),
        };
        let seen = state(&look(&mut status_page), second(1000));
        assert_eq!((seen.process, seen.report.unwrap().at), (Process::Asleep, second(995)));
    }

    #[test]
    fn what_cannot_be_read_is_no_report() {
        let node = Node::create(1).unwrap();
        node.set_pid(0, std::process::id());
        node.set_life(0, Life::Inside);
        node.status_page(0).write(b"garbage");
        assert!(of_job(&node).contains("publishes nothing that can be read"), "{}", of_job(&node));
    }
}
