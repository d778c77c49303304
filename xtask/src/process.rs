//! Running programs: captured output, a time limit that takes the whole process group along, exact wall time.
//! What must stay true: a program that hangs, or that leaves something behind which keeps the output open, never hangs
//! xtask.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    io::{Read, Write as _},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

/// How long a job that is to be ended has to say what it waits for.
const EXPLAINED: Duration = Duration::from_secs(2);

/// A program to run.
#[derive(Debug)]
pub(crate) struct Job {
    command: Command,
    shown: String,
    limit: Duration,
    input: Vec<u8>,
    is_seen: bool,
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The command line, for messages.
    pub(crate) shown: String,
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// What it wrote.
    pub(crate) stdout: String,
    /// What it complained about.
    pub(crate) stderr: String,
    /// From before the fork until its end was seen.
    pub(crate) took: Duration,
    /// It was ended by force because the time was over.
    pub(crate) timed_out: bool,
    /// Something else still held the output open after its end.
    pub(crate) output_held: bool,
}

/// A program that was started and not yet waited for.
#[derive(Debug)]
pub(crate) struct Running {
    /// The process that was started; it leads a process group of its own.
    pub(crate) pid: u32,
    shown: String,
    limit: Duration,
    started: Instant,
    ended: Receiver<(std::io::Result<ExitStatus>, Instant)>,
    stdout: Pipe,
    stderr: Pipe,
}

#[derive(Debug)]
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    closed: Receiver<()>,
}

impl Job {
    /// The program `name`, without arguments, limited to a minute.
    pub(crate) fn new(name: impl AsRef<OsStr>) -> Self {
        let shown = name.as_ref().to_string_lossy().into_owned();
        Self {
            command: Command::new(name),
            shown,
            limit: Duration::from_secs(60),
            input: Vec::new(),
            is_seen: false,
        }
    }

    /// One more argument.
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        let _ = write!(self.shown, " {}", argument.as_ref().to_string_lossy());
        self.command.arg(argument);
        self
    }

    /// More arguments.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        for argument in arguments {
            self = self.arg(argument);
        }
        self
    }

    /// One environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The same program with its arguments and environment, run by another one that is given before it.
    pub(crate) fn under(self, prefix: &[&str]) -> Self {
        let mut command = Command::new(prefix[0]);
        command.args(&prefix[1..]).arg(self.command.get_program()).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        Self { command, shown: format!("{} {}", prefix.join(" "), self.shown), ..self }
    }

    /// It gets the CPU that others leave: builds beside tests whose ranks wait for each other, which would wait for a turn each time.
    pub(crate) fn behind_others(self) -> Self {
        self.under(&["nice", "-n", "10"])
    }

    /// Environment variables.
    pub(crate) fn envs(mut self, variables: &[(String, OsString)]) -> Self {
        for (name, value) in variables {
            self.command.env(name, value);
        }
        self
    }

    /// The working directory.
    pub(crate) fn dir(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// What the program reads from its standard input.
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// What it complains about is seen as it comes, and is in no outcome: the progress of a build somebody waits for.
    pub(crate) fn seen(self) -> Self {
        Self { is_seen: true, ..self }
    }

    /// The time limit in seconds.
    pub(crate) fn limit(mut self, seconds: u64) -> Self {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Result<Running, String> {
        let started = Instant::now();
        let stdin = if self.input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let stderr = if self.is_seen { Stdio::inherit() } else { Stdio::piped() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(stderr).process_group(0);
        let mut child = self.command.spawn().map_err(|e| format!("can't start `{}`: {e}", self.shown))?;
        let pid = child.id();
        if let Some(mut stdin) = child.stdin.take() {
            let input = std::mem::take(&mut self.input);
            // A program may end without reading everything: then this write fails, and that is all right.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let stdout = Pipe::read(child.stdout.take());
        let stderr = Pipe::read(child.stderr.take());
        let ended = wait_in_background(child);
        Ok(Running { pid, shown: self.shown, limit: self.limit, started, ended, stdout, stderr })
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Result<Outcome, String> {
        self.start()?.wait()
    }

    /// Runs it; any end but exit code 0 is an error that shows the output.
    pub(crate) fn succeed(self) -> Result<Outcome, String> {
        let outcome = self.run()?;
        if outcome.ok() { Ok(outcome) } else { Err(outcome.complaint()) }
    }
}

impl Running {
    /// Waits for the end, or for the time limit. Who is still there then is asked why before it is ended.
    pub(crate) fn wait(self) -> Result<Outcome, String> {
        let left = self.limit.saturating_sub(self.started.elapsed());
        let (end, timed_out) = match self.ended.recv_timeout(left) {
            Ok(end) => (Ok(end), false),
            Err(_) => {
                // Our mpiexec says what each rank waits for. Others end by this signal, as they would by the next one.
                self.signal(Signal::USR2);
                let at_once = self.ended.recv_timeout(EXPLAINED);
                self.signal_group(Signal::KILL);
                (at_once.or_else(|_| self.ended.recv_timeout(Duration::from_secs(5))), true)
            }
        };
        let (status, at) =
            end.map_err(|_| format!("`{}` can't be ended, not even by SIGKILL", self.shown))?;
        let status = status.map_err(|e| format!("can't wait for `{}`: {e}", self.shown))?;
        let held_out = self.stdout.wait();
        let held_err = self.stderr.wait();
        Ok(Outcome {
            shown: self.shown,
            status,
            stdout: self.stdout.text(),
            stderr: self.stderr.text(),
            took: at - self.started,
            timed_out,
            output_held: held_out || held_err,
        })
    }

    /// What it has written so far, standard error last.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.stdout.text(), self.stderr.text())
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal to the process that was started, and only to it.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Ends it and what it has started.
    pub(crate) fn end(self) {
        self.signal_group(Signal::KILL);
        let _ = self.wait();
    }

    /// Waits until the program has written this, at most so many seconds.
    pub(crate) fn wait_for_output(&self, text: &str, seconds: u64) -> bool {
        let is_said = || self.stdout.text().contains(text) || self.stderr.text().contains(text);
        wait_until(Duration::from_secs(seconds), is_said)
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Outcome {
    /// It ended by itself with exit code 0.
    pub(crate) fn ok(&self) -> bool {
        self.status.success() && !self.timed_out
    }

    /// The exit code; a signal counts as 128 + its number, as in a shell.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Everything it wrote, standard error last.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// How it ended, in words.
    pub(crate) fn end(&self) -> String {
        match (self.timed_out, self.status.code(), self.status.signal()) {
            (true, ..) => format!("did not end within {:.0} s", self.took.as_secs_f64()),
            (_, Some(code), _) => format!("ended with exit code {code}"),
            (_, _, Some(signal)) => format!("was ended by signal {signal}"),
            _ => "ended in an unknown way".into(),
        }
    }

    /// The command, how it ended, and the last 60 lines that it wrote.
    pub(crate) fn complaint(&self) -> String {
        let all = self.all();
        let lines: Vec<&str> = all.lines().collect();
        let from = lines.len().saturating_sub(60);
        let mut text = format!("`{}` {}", self.shown, self.end());
        if from > 0 {
            let _ = write!(text, "\n    ... {from} lines left out");
        }
        for line in &lines[from..] {
            let _ = write!(text, "\n    | {line}");
        }
        text
    }
}

impl Pipe {
    fn read(source: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, closed) = mpsc::channel();
        if let Some(mut source) = source {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || {
                let mut part = [0u8; 16384];
                while let Ok(got @ 1..) = source.read(&mut part) {
                    bytes.lock().expect("no panic while holding the output").extend_from_slice(&part[..got]);
                }
                let _ = sender.send(());
            });
        }
        Self { bytes, closed }
    }

    /// Waits for the end of the output; true when somebody still holds it open.
    fn wait(&self) -> bool {
        matches!(self.closed.recv_timeout(Duration::from_secs(3)), Err(mpsc::RecvTimeoutError::Timeout))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no panic while holding the output")).into_owned()
    }
}

/// Asks again and again, at most so long, until it is true; whether it is.
pub(crate) fn wait_until(patience: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + patience;
    while !is_true() {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

/// A thread that waits without polling, so that the wall time is exact.
fn wait_in_background(mut child: Child) -> Receiver<(std::io::Result<ExitStatus>, Instant)> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let status = child.wait();
        let _ = sender.send((status, Instant::now()));
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_code_are_seen() {
        let outcome = Job::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).run().unwrap();
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str(), outcome.code()), ("out\n", "err\n", 3));
    }

    #[test]
    fn input_is_given() {
        assert_eq!(Job::new("cat").input("abc").run().unwrap().stdout, "abc");
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let outcome = Job::new("sh").args(["-c", "sleep 100 & sleep 100"]).limit(1).run().unwrap();
        assert!(outcome.timed_out && !outcome.output_held && outcome.took < Duration::from_secs(4));
    }

    #[test]
    fn a_program_that_hangs_may_say_why() {
        let waits = "trap 'echo I wait' USR2; while :; do sleep 0.1; done";
        let outcome = Job::new("sh").args(["-c", waits]).limit(1).run().unwrap();
        assert!(outcome.timed_out && outcome.stdout == "I wait\n", "{}", outcome.complaint());
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(Job::new("no-such-program").run().unwrap_err().contains("no-such-program"));
    }
}
