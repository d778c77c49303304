//! Helpers of the tests that run the real `mpiexec`: start it, bound its time, look for what it left behind.

#![allow(dead_code, unreachable_pub, missing_docs)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine before the test gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// `mpiexec` with these arguments, signals as a login shell would give them, nothing on standard input.
pub fn mpiexec(arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,QUIT,HUP", env!("CARGO_BIN_EXE_mpiexec")]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["OMP_NUM_THREADS", "MPIEXEC_TIMEOUT"] {
        command.env_remove(name);
    }
    command
}

/// Puts a program that may be run at once at `to`. Another process writes it: a file that this one has open for writing is open
/// in the children that other tests start meanwhile too, and the kernel refuses to run it ("text file busy").
pub fn put_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let put =
        Command::new("install").args(["-m", "755"]).arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
    assert!(put.success(), "{}", to.as_ref().display());
}

/// Writes a script that may be run at once.
pub fn put_script(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    let mut source = path.as_ref().as_os_str().to_owned();
    source.push(".source");
    std::fs::write(&source, text).unwrap();
    put_program(&source, path);
    std::fs::remove_file(source).unwrap();
}

/// Writes a line to standard error at once, where ranks and their launcher share it: the pieces that `eprintln!` writes would mix
/// with theirs.
pub fn say(line: std::fmt::Arguments<'_>) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// What a finished command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

impl Said {
    /// The lines of standard output, in alphabetical order.
    pub fn sorted(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.out.lines().collect();
        lines.sort_unstable();
        lines
    }
    /// The lines on standard error that mpiexec itself wrote.
    pub fn sentences(&self) -> Vec<&str> {
        self.err.lines().filter(|line| line.starts_with("mpiexec: ")).collect()
    }
}

/// Runs a command to its end.
pub fn finish(mut command: Command) -> Said {
    let began = Instant::now();
    said(command.spawn().unwrap(), began)
}

/// Waits for a command that was started at `began`.
pub fn said(child: Child, began: Instant) -> Said {
    let pid = Pid::from_raw(child.id() as i32);
    let (done, watch) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if watch.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = kill(pid, Signal::SIGKILL);
        }
    });
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let took = began.elapsed();
    drop(done);
    watchdog.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr), took }
}

/// Runs `mpiexec` with these arguments.
pub fn run(arguments: &[&str]) -> Said {
    finish(mpiexec(arguments))
}

/// Runs `mpiexec` with these arguments and this standard input, which may stay unread.
pub fn run_with_input(arguments: &[&str], input: &[u8]) -> Said {
    let mut command = mpiexec(arguments);
    command.stdin(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let said = said(child, began);
    writer.join().unwrap();
    said
}

/// Whether a process is there and alive (a zombie is not).
pub fn is_alive(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X']),
        Err(_) => false,
    }
}

/// Processes, alive or zombies, whose command line holds `marker`.
pub fn marked(marker: &str) -> Vec<i32> {
    let own = std::process::id() as i32;
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&pid| pid != own)
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(marker)
        })
        .collect()
}

/// Waits until `true`, for at most `limit`.
pub fn wait_for(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + limit;
    loop {
        if done() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads lines from a stream until `count` of them have come.
pub fn read_lines(stream: &mut impl Read, count: usize) -> Vec<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 256];
    while bytes.iter().filter(|&&byte| byte == b'\n').count() < count {
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "only {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&bytes).lines().map(String::from).collect()
}

/// Sends a signal to a started command.
pub fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// A number that no other test uses, for command lines that have to be found again.
pub fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:03}{:07}", 9000, NEXT.fetch_add(1, Ordering::Relaxed), std::process::id())
}
