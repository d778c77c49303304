//! What the end of a process means for its job, and the one sentence that says so.
//!
//! What must stay true: of several ends that are noticed together, the cause is reported and not its consequence; the exit
//! code is never 0 after a failure.

use posthaste_os::process::Step;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// How far the process had come as a message-passing program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// It never initialised.
    Outside,
    /// Initialised, not finalised.
    Inside,
    /// Finalised.
    Finalised,
    /// It asked for the end of the job.
    Aborted,
}

/// What went wrong first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cause {
    /// The ranks of a host were not started.
    Refused { code: i32, sentence: String },
    /// A host, or our connection to it, is gone.
    Lost { why: String },
    /// A process could not become its program.
    NotStarted {
        rank: usize,
        program: String,
        #[serde(with = "StepOnWire")]
        step: Step,
        errno: i32,
    },
    /// A process asked for the end.
    Abort { rank: usize, code: i32 },
    /// A process ended as it should not.
    Death {
        rank: usize,
        pid: i32,
        ended: Ended,
        stage: Stage,
        /// The library that its loader did not find.
        missing: Option<String>,
        /// What became of its core file, if it has left one.
        core: Option<String>,
    },
    /// A rank ended without taking part where `waiting` waits for it.
    Stuck { rank: usize, pid: Option<i32>, host: String, waiting: usize },
    /// The job took too long.
    Timeout { limit: Duration },
    /// Our standard output takes no more.
    Output { errno: i32 },
    /// The user ended it.
    User { signal: i32 },
    /// A rank broke the protocol with its launcher.
    Protocol { rank: usize, pid: i32, why: String },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Step")]
enum StepOnWire {
    Group,
    Descriptors,
    Directory,
    Execute,
}

/// A child process that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    pub(crate) pid: i32,
    pub(crate) how: Ended,
    /// The kernel has written its core.
    pub(crate) core: bool,
}

/// What an end asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Fine,
    /// The job fails, but the others do not depend on this rank any more and may finish.
    Later(Cause),
    /// The job is over.
    Now(Cause),
}

/// The exit code of a loader or a shell that does not find something.
pub(super) const NOT_FOUND: i32 = 127;

/// Judges one end. `missing`: the library that the loader of the program did not find; `core`: what became of its core file.
pub(super) fn judge(
    rank: usize,
    pid: i32,
    ended: Ended,
    stage: Stage,
    missing: Option<String>,
    core: Option<String>,
) -> Verdict {
    let death = Cause::Death { rank, pid, ended, stage, missing, core };
    match (ended, stage) {
        (Ended::Code(code), Stage::Aborted) => Verdict::Now(Cause::Abort { rank, code }),
        (Ended::Code(0), Stage::Outside | Stage::Finalised) => Verdict::Fine,
        (Ended::Code(_), Stage::Finalised) => Verdict::Later(death),
        _ => Verdict::Now(death),
    }
}

impl Cause {
    /// Of causes noticed together, the one with the lowest weight is the likeliest to have come first: a rank
    /// that loses a peer aborts or exits with a code, hardly ever the other way round.
    pub(super) fn weight(&self) -> u32 {
        match self {
            Self::User { .. } | Self::Timeout { .. } | Self::Output { .. } => 0,
            Self::NotStarted { .. } | Self::Refused { .. } | Self::Lost { .. } => 1,
            Self::Death { ended: Ended::Signal(_), .. } => 2,
            Self::Abort { .. } => 3,
            Self::Protocol { .. } => 4,
            Self::Death { stage: Stage::Inside, ended: Ended::Code(0), .. } => 5,
            Self::Death { .. } => 6,
            Self::Stuck { .. } => 7,
        }
    }

    /// Whether it cannot be a consequence of another failure in the job.
    pub(super) fn is_first_hand(&self) -> bool {
        self.weight() <= 2
    }

    /// Exit code of the launcher; never 0 except after an abort that asked for it.
    pub(super) fn code(&self) -> i32 {
        match self {
            Self::NotStarted { errno, .. } if *errno == nix::libc::ENOENT => 127,
            Self::NotStarted { .. } => 126,
            Self::Refused { code, .. } => *code,
            Self::Abort { code, .. } => match code & 255 {
                0 if *code != 0 => 1,
                code => code,
            },
            Self::Death { ended: Ended::Code(0), .. }
            | Self::Stuck { .. }
            | Self::Protocol { .. }
            | Self::Lost { .. }
            | Self::Output { .. } => 1,
            Self::Death { ended: Ended::Code(code), .. } => *code,
            Self::Death { ended: Ended::Signal(signal), .. } | Self::User { signal } => 128 + signal,
            // As `timeout` of the core utilities.
            Self::Timeout { .. } => 124,
        }
    }

    /// The sentence, given the host and how many other processes had to be ended.
    pub(crate) fn sentence(&self, host: &str, others: usize) -> String {
        let end = match others {
            0 => String::new(),
            1 => "; the other rank was ended".to_string(),
            _ => format!("; the other {others} ranks were ended"),
        };
        format!("{}{end}", Described { cause: self, host })
    }
}

struct Described<'a> {
    cause: &'a Cause,
    host: &'a str,
}

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host;
        match self.cause {
            Cause::Refused { sentence, .. } => write!(f, "{sentence}"),
            Cause::Lost { why } => write!(f, "{why}"),
            Cause::NotStarted { rank, program, step, errno } => {
                let why = std::io::Error::from_raw_os_error(*errno);
                let what = match step {
                    Step::Group => "could not join the job's process group",
                    Step::Descriptors => "could not set up its descriptors",
                    Step::Directory => "could not enter its working directory",
                    Step::Execute => {
                        return write!(f, "rank {rank} on {host} could not execute {program}: {why}");
                    }
                };
                write!(f, "rank {rank} on {host} {what}: {why}")
            }
            Cause::Abort { rank, code } => {
                write!(f, "rank {rank} on {host} called MPI_Abort with error code {code}")
            }
            Cause::Death { rank, pid, ended, stage, missing, core } => {
                write!(f, "rank {rank} (process {pid}) on {host} ")?;
                match ended {
                    Ended::Code(code) => write!(f, "exited with code {code}")?,
                    Ended::Signal(signal) => write!(f, "was killed by signal {signal} ({})", name(*signal))?,
                }
                match (stage, ended, missing) {
                    (Stage::Inside, Ended::Code(_), _) => write!(f, " without calling MPI_Finalize"),
                    // Both only of spawned processes: their parents wait for them.
                    (Stage::Finalised, Ended::Code(0), _) => write!(
                        f,
                        " without connecting to its parents, which MPI_Init does and sessions alone do not"
                    ),
                    (Stage::Finalised, ..) => write!(f, " after MPI_Finalize"),
                    (Stage::Outside, Ended::Code(0), None) => write!(f, " without calling MPI_Init"),
                    (.., Some(library)) => {
                        write!(f, ": its loader did not find {library}{}", advice(library))
                    }
                    _ => Ok(()),
                }?;
                core.as_ref().map_or(Ok(()), |core| write!(f, "; {core}"))
            }
            Cause::Stuck { rank, pid: Some(pid), host, waiting } => write!(
                f,
                "rank {rank} (process {pid}) on {host} has exited and rank {waiting} waits for it in MPI_Init or \
                 MPI_Finalize"
            ),
            Cause::Stuck { rank, pid: None, host, waiting } => write!(
                f,
                "rank {rank} on {host} is out of reach and rank {waiting} waits for it in MPI_Init or MPI_Finalize"
            ),
            Cause::Timeout { limit } => {
                write!(f, "the job on {host} ran longer than its {} s and was ended", limit.as_secs_f64())
            }

            Cause::Output { errno } => {
                let why = std::io::Error::from_raw_os_error(*errno);
                write!(
                    f,
                    "output of the ranks on {host} was lost, as standard output cannot be written: {why}"
                )
            }
            Cause::User { signal } => write!(f, "the job on {host} was ended by {}", name(*signal)),
            Cause::Protocol { rank, pid, why } => {
                write!(f, "rank {rank} (process {pid}) on {host} broke the PMI protocol: {why}")
            }
        }
    }
}

/// What can be done where a library of this name is missing.
fn advice(library: &str) -> &'static str {
    match library {
        "libmpi_abi.so.1" => {
            ", the library of the standard ABI, which is installed in lib beside the bin of mpiexec; LD_LIBRARY_PATH of \
             the program can name that folder"
        }
        "libmpi.so.12" | "libmpich.so.12" => {
            ", the library of MPICH or Intel MPI; build the program with our mpicc, or name the folder of that library \
             in LD_LIBRARY_PATH"
        }
        "libmpi.so.40" => {
            ", the library of Open MPI, whose programs only its own mpirun can start; build the program with our mpicc"
        }
        _ => "; LD_LIBRARY_PATH can name its folder",
    }
}

/// Name of a signal.
pub(super) fn name(signal: i32) -> &'static str {
    nix::sys::signal::Signal::try_from(signal).map_or("a real-time signal", nix::sys::signal::Signal::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn death(ended: Ended, stage: Stage) -> Cause {
        Cause::Death { rank: 2, pid: 9, ended, stage, missing: None, core: None }
    }

    #[test]
    fn every_end_has_its_verdict() {
        use Ended::{Code, Signal};
        let judged = |ended, stage| judge(2, 9, ended, stage, None, None);
        assert_eq!(judged(Code(0), Stage::Outside), Verdict::Fine);
        assert_eq!(judged(Code(0), Stage::Finalised), Verdict::Fine);
        assert_eq!(judged(Code(3), Stage::Finalised), Verdict::Later(death(Code(3), Stage::Finalised)));
        for (ended, stage) in [
            (Code(0), Stage::Inside),
            (Code(3), Stage::Inside),
            (Code(3), Stage::Outside),
            (Signal(9), Stage::Outside),
            (Signal(9), Stage::Inside),
            (Signal(11), Stage::Finalised),
            (Signal(6), Stage::Aborted),
        ] {
            assert_eq!(judged(ended, stage), Verdict::Now(death(ended, stage)));
        }
        assert_eq!(judged(Code(5), Stage::Aborted), Verdict::Now(Cause::Abort { rank: 2, code: 5 }));
    }

    #[test]
    fn exit_codes_say_failure() {
        assert_eq!(death(Ended::Code(0), Stage::Inside).code(), 1);
        assert_eq!(death(Ended::Code(7), Stage::Outside).code(), 7);
        assert_eq!(death(Ended::Signal(9), Stage::Outside).code(), 137);
        assert_eq!(Cause::Abort { rank: 0, code: 256 }.code(), 1);
        assert_eq!(Cause::Abort { rank: 0, code: 259 }.code(), 3);
        assert_eq!(Cause::Abort { rank: 0, code: -1 }.code(), 255);
        assert_eq!(Cause::User { signal: 2 }.code(), 130);
        assert_eq!(Cause::Timeout { limit: Duration::from_secs(1) }.code(), 124);
    }

    #[test]
    fn a_signal_outweighs_the_exits_that_follow_from_it() {
        let mut causes = [
            death(Ended::Code(1), Stage::Inside),
            Cause::Abort { rank: 1, code: 15 },
            death(Ended::Signal(9), Stage::Inside),
            death(Ended::Code(0), Stage::Inside),
        ];
        causes.sort_by_key(Cause::weight);
        assert_eq!(causes[0], death(Ended::Signal(9), Stage::Inside));
    }

    #[test]
    fn sentences_name_rank_reason_and_host() {
        assert_eq!(
            death(Ended::Signal(9), Stage::Inside).sentence("h", 3),
            "rank 2 (process 9) on h was killed by signal 9 (SIGKILL); the other 3 ranks were ended"
        );
        assert_eq!(
            death(Ended::Code(0), Stage::Inside).sentence("h", 1),
            "rank 2 (process 9) on h exited with code 0 without calling MPI_Finalize; the other rank was ended"
        );
        assert_eq!(
            death(Ended::Code(0), Stage::Finalised).sentence("h", 0),
            "rank 2 (process 9) on h exited with code 0 without connecting to its parents, which MPI_Init does and sessions alone \
             do not"
        );
        let missing = |library: &str| {
            let (ended, stage) = (Ended::Code(127), Stage::Outside);
            Cause::Death { rank: 2, pid: 9, ended, stage, missing: Some(library.into()), core: None }
                .sentence("h", 0)
        };
        assert!(missing("libmpi.so.12").starts_with(
            "rank 2 (process 9) on h exited with code 127: its loader did not find libmpi.so.12, the library of MPICH"
        ));
        assert!(
            missing("libmpi.so.40").contains("Open MPI")
                && missing("libx.so").contains("did not find libx.so;")
        );
        assert_eq!(
            Cause::Abort { rank: 1, code: 5 }.sentence("h", 0),
            "rank 1 on h called MPI_Abort with error code 5"
        );
        let exec = Cause::NotStarted { rank: 0, program: "x".into(), step: Step::Execute, errno: 8 };
        assert!(exec.sentence("h", 0).starts_with("rank 0 on h could not execute x: Exec format error"));
    }
}
