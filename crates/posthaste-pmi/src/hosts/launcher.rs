//! How an agent is started on a host.
//!
//! It makes the command line and starts nothing. What must stay true: nothing of a host name is taken for an option or
//! for shell text; ssh never asks anybody anything.

use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;

/// What starts agents on other hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Means {
    /// `ssh HOST AGENT`, or another program called the same way.
    #[default]
    Ssh,
    /// `srun` inside a Slurm allocation, once for each host.
    Srun,
    /// Nothing: all agents run here, whatever their hosts are called. For tests.
    Fork,
}

/// How agents are started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launcher {
    /// By what.
    pub means: Means,
    /// The program to call instead of `ssh` or `srun`.
    pub program: Option<OsString>,
    /// Arguments for it, in front of ours.
    pub arguments: Vec<OsString>,
    /// The agent: the path of mpiexec, the same on all hosts.
    pub agent: OsString,
    /// Names of the host that mpiexec runs on: agents there are started without any of this.
    pub own: Vec<String>,
}

impl Launcher {
    /// The name of the program that starts agents.
    pub(super) fn name(&self, host: &str) -> String {
        self.program(host).map_or("the agent".into(), |program| {
            Path::new(&program).file_name().unwrap_or(&program).to_string_lossy().into_owned()
        })
    }

    /// The program that starts an agent on `host`; `None` when that is the agent itself.
    fn program(&self, host: &str) -> Option<OsString> {
        let usual = match self.means {
            Means::Fork => return None,
            _ if self.own.iter().any(|own| own == host) => return None,
            Means::Ssh => "ssh",
            Means::Srun => "srun",
        };
        Some(self.program.clone().unwrap_or_else(|| usual.into()))
    }

    /// The command that starts an agent on `host`.
    pub(super) fn command(&self, host: &str) -> Command {
        let Some(program) = self.program(host) else {
            let mut command = Command::new(&self.agent);
            command.arg(super::AGENT);
            return command;
        };
        let mut command = Command::new(&program);
        command.args(&self.arguments);
        if self.means == Means::Srun {
            command.args([
                "--nodes=1",
                "--ntasks=1",
                "--overlap",
                "--unbuffered",
                "--mpi=none",
                "--cpu-bind=none",
            ]);
            command.arg(format!("--nodelist={host}")).arg(&self.agent).arg(super::AGENT);
        } else {
            // Of several values for an option ssh takes the first, which is the user's.
            if Path::new(&program).file_name() == Some(OsStr::new("ssh")) {
                command.args(["-x", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
            }
            let mut line = quoted(&self.agent);
            line.push(" ");
            line.push(super::AGENT);
            command.arg(host).arg(line);
        }
        command
    }
}

/// A word as any shell takes it for one word.
fn quoted(word: &OsStr) -> OsString {
    let mut bytes = vec![b'\''];
    for &byte in word.as_bytes() {
        match byte {
            b'\'' => bytes.extend_from_slice(b"'\\''"),
            _ => bytes.push(byte),
        }
    }
    bytes.push(b'\'');
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(launcher: &Launcher, host: &str) -> String {
        let command = launcher.command(host);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn agents_are_started_as_asked() {
        let mut launcher =
            Launcher { agent: "/opt/it's/mpiexec".into(), own: vec!["me".into()], ..Launcher::default() };
        launcher.arguments = vec!["-o".into(), "ConnectionAttempts=10".into()];
        assert_eq!(
            words(&launcher, "b"),
            "ssh -o ConnectionAttempts=10 -x -T -o BatchMode=yes -o ConnectTimeout=10 b '/opt/it'\\''s/mpiexec' \
             --posthaste-agent"
        );
        assert_eq!(words(&launcher, "me"), "/opt/it's/mpiexec --posthaste-agent");
        launcher.program = Some("/bin/rsh".into());
        launcher.arguments.clear();
        assert_eq!(words(&launcher, "b"), "/bin/rsh b '/opt/it'\\''s/mpiexec' --posthaste-agent");
        assert_eq!(launcher.name("b"), "rsh");
        launcher.program = None;
        launcher.means = Means::Srun;
        assert!(words(&launcher, "b").ends_with("--nodelist=b /opt/it's/mpiexec --posthaste-agent"));
        launcher.means = Means::Fork;
        assert_eq!(words(&launcher, "b"), "/opt/it's/mpiexec --posthaste-agent");
    }
}
