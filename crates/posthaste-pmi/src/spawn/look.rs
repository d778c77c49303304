//! What is to be seen of the ranks of a node from outside, without their help.
//!
//! It reads the node segment and `/proc`, also for a job that another mpiexec runs. What must stay true: nothing here
//! waits for a rank, so a stopped one may be looked at.

use super::talk::Look;
use posthaste_os::machine;
use posthaste_os::node::{Life, Node};
use std::fs;

/// Looks at the rank that has number `local` on this host and `rank` in its job.
pub fn look(node: &Node, local: usize, rank: u32) -> Look {
    let pid = node.pid(local);
    let life = node.life(local);
    let process = if life == Life::Absent { Some('S') } else { process(pid) };
    Look { rank, pid, life, process, status_page: node.status_page(local).read(), at: machine::now() }
}

/// What the system says about a process.
fn process(pid: u32) -> Option<char> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default())
}

/// The state in `/proc/PID/stat`: the first word behind the name, which stands in brackets and may hold brackets.
fn parse_stat(stat: &str) -> Option<char> {
    stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_stands_behind_the_name_whatever_that_is() {
        for (stat, state) in [
            ("7 (a) S 1 2", Some('S')),
            ("7 (a) R) T 1 2", Some('T')),
            ("7 (a b) R 1 2", Some('R')),
            ("", None),
        ] {
            assert_eq!(parse_stat(stat), state, "{stat}");
        }
    }
}
