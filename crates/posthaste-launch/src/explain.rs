//! What the ranks of a job are doing, read from outside.
//!
//! Called by `mpiexec`, for its own job and for one that another command asks about; calls
//! `posthaste_core::explain` with what stands in the node segment and what the system says about the processes. What
//! must stay true: nothing here needs the help of a rank or of the mpiexec asked about, so both may be stopped.

use posthaste_core::explain::{Process, Report, State, explain};
use posthaste_os::machine;
use posthaste_os::node::{Life, Node};
use std::fs::{self, File};
use std::io;

/// The lines about those ranks of a job that share this node segment.
pub fn of_job(node: &Node) -> String {
    let mut states = vec![State::ELSEWHERE; node.world_size().unwrap_or(node.ranks()).max(node.ranks())];
    // Where all ranks share the segment they have the same numbers in it, also those that have not come yet.
    let is_whole = states.len() == node.ranks();
    for local in 0..node.ranks() {
        let rank = node.world_rank(local).map(|rank| rank as usize).or(is_whole.then_some(local));
        if let Some(state) = rank.and_then(|rank| states.get_mut(rank)) {
            *state = self::state(node, local);
        }
    }
    explain(&states, machine::now())
}

/// The lines about the job to which a running process belongs: its mpiexec, or one of its ranks.
///
/// # Errors
/// One sentence: no such process, not ours to look at, none of ours.
pub fn of_process(pid: u32) -> Result<String, String> {
    let folder = format!("/proc/{pid}/fd");
    let refused = |why: io::Error| match why.kind() {
        io::ErrorKind::NotFound => format!("-explain {pid}: there is no such process on this host"),
        _ => format!("-explain {pid}: cannot look at the process: {why}"),
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
            return Ok(of_job(&node));
        }
    }
    Err(format!("-explain {pid}: the process is neither an mpiexec with a running job nor a rank of one"))
}

fn state(node: &Node, rank: usize) -> State {
    let pid = node.pid(rank);
    let told = node.board(rank).read();
    let report =
        told.and_then(|text| if text.is_empty() { Some(Report::default()) } else { Report::decode(&text) });
    let life = node.life(rank);
    let process = if life == Life::Absent { Process::Running } else { process(pid) };
    State { pid, life, process, report }
}

/// What the system says about a process.
fn process(pid: u32) -> Process {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    parse_stat(&stat)
}

/// The state in `/proc/PID/stat`: the first word behind the name, which stands in brackets and may hold brackets.
fn parse_stat(stat: &str) -> Process {
    match stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next()) {
        Some('T' | 't') => Process::Stopped,
        Some('S' | 'D' | 'I') => Process::Asleep,
        None | Some('Z' | 'X') => Process::Gone,
        Some(_) => Process::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_stands_behind_the_name_whatever_that_is() {
        for (stat, process) in [
            ("7 (a) S 1 2", Process::Asleep),
            ("7 (a) R) T 1 2", Process::Stopped),
            ("7 (a b) R 1 2", Process::Running),
            ("7 (a) Z 1", Process::Gone),
            ("", Process::Gone),
        ] {
            assert_eq!(parse_stat(stat), process, "{stat}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_report() {
        let node = Node::create(1).unwrap();
        node.set_pid(0, std::process::id());
        node.set_life(0, Life::Inside);
        node.board(0).write(b"garbage");
        assert!(of_job(&node).contains("tells nothing that can be read"), "{}", of_job(&node));
    }
}
