//! Starting processes, and making sure that none of them outlives the launcher.
//!
//! What must stay true: between `fork` and `execve` the child calls only async-signal-safe functions on memory that was
//! prepared before; a job's processes share one process group, whose leader is the guardian, so that one `kill` reaches
//! them all even when the launcher is gone. Seed B12 (spawn), MPI-5.0 §11.5 (the startup command).

mod apart;

pub use apart::start_apart;

use crate::pulse::{Pulse, without_signals};
use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// A program with its arguments, environment and working directory, ready for `execve`.
#[derive(Debug)]
pub struct Image {
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    directory: Option<CString>,
}

impl Image {
    /// Prepares a program; `arguments` begins with the name it is called by, `environment` has `NAME=value`.
    ///
    /// # Errors
    /// When any of them contains a zero byte.
    pub fn new<A, E>(
        path: &Path,
        arguments: &[A],
        environment: &[E],
        directory: Option<&Path>,
    ) -> io::Result<Self>
    where
        A: AsRef<[u8]>,
        E: AsRef<[u8]>,
    {
        fn strings<T: AsRef<[u8]>>(all: &[T]) -> io::Result<Vec<CString>> {
            all.iter().map(|one| CString::new(one.as_ref()).map_err(io::Error::from)).collect()
        }
        Ok(Self {
            path: CString::new(path.as_os_str().as_bytes())?,
            arguments: strings(arguments)?,
            environment: strings(environment)?,
            directory: directory.map(|dir| CString::new(dir.as_os_str().as_bytes())).transpose()?,
        })
    }
}

/// Where and how an [`Image`] is started.
#[derive(Debug)]
pub struct Place<'a> {
    /// Standard input, output and error; each is either that stream's own number or above 2.
    pub stdio: [BorrowedFd<'a>; 3],
    /// Further descriptors that the program inherits, under their own numbers.
    pub inherit: &'a [BorrowedFd<'a>],
    /// The process group to join.
    pub group: i32,
    /// CPUs the process is confined to; empty means no change.
    pub cpus: &'a [usize],
    /// Soft limit of open files to give back, when the launcher raised its own.
    pub open_files: Option<u64>,
    /// Signals blocked in the new program.
    pub mask: &'a libc::sigset_t,
    /// Where the child writes a [`Report`] when it cannot become the program.
    pub report: BorrowedFd<'a>,
    /// Put into that report.
    pub tag: u32,
}

/// The step at which a child could not go on to become its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Joining the job's process group.
    Group,
    /// Setting up descriptors.
    Descriptors,
    /// Entering the working directory.
    Directory,
    /// Executing the program.
    Execute,
}

/// What a child says when it cannot become its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// [`Place::tag`] of the child.
    pub tag: u32,
    /// How far it came.
    pub step: Step,
    /// Error number of the system.
    pub errno: i32,
}

impl Report {
    /// Length of a report on its pipe; shorter than `PIPE_BUF`, so reports never mix.
    pub const LEN: usize = 12;

    fn emit(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.tag.to_ne_bytes());
        bytes[4..8].copy_from_slice(&(self.step as u32).to_ne_bytes());
        bytes[8..].copy_from_slice(&self.errno.to_ne_bytes());
        bytes
    }

    /// Reads a report; `None` when the bytes are not one.
    pub fn parse(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let word = |at: usize| -> [u8; 4] { [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] };
        let step = match u32::from_ne_bytes(word(4)) {
            0 => Step::Group,
            1 => Step::Descriptors,
            2 => Step::Directory,
            3 => Step::Execute,
            _ => return None,
        };
        Some(Self { tag: u32::from_ne_bytes(word(0)), step, errno: i32::from_ne_bytes(word(8)) })
    }
}

/// Pointers to C strings, closed by a null pointer, as `execve` wants them.
fn pointers<'a>(strings: impl Iterator<Item = &'a CStr>) -> Vec<*const c_char> {
    strings.map(CStr::as_ptr).chain(std::iter::once(std::ptr::null())).collect()
}

/// Starts a process and returns its id without waiting until it executes its program: several start at once.
///
/// # Errors
/// When no process can be made. What goes wrong later in the child arrives as a [`Report`].
pub fn start(image: &Image, place: &Place<'_>) -> io::Result<i32> {
    let arguments = pointers(image.arguments.iter().map(CString::as_c_str));
    let environment = pointers(image.environment.iter().map(CString::as_c_str));
    // A script without an interpreter line is handed to the shell, as `execvp` does.
    let rest = image.arguments.iter().skip(1).map(CString::as_c_str);
    let script = pointers([c"/bin/sh", image.path.as_c_str()].into_iter().chain(rest));
    let plan = Plan {
        image,
        place,
        arguments: &arguments,
        environment: &environment,
        script: &script,
        parent: own_pid(),
    };
    // SAFETY: the child calls `become_program` only, which keeps to async-signal-safe functions and never
    // returns; so it is no matter whether this process has other threads.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => become_program(&plan),
        _ => {
            // Both sides set the group, so that it holds whoever runs first; the child reports a failure.
            // SAFETY: a plain system call.
            unsafe { libc::setpgid(pid, place.group) };
            Ok(pid)
        }
    }
}

/// All that a child needs after `fork`, prepared before it.
struct Plan<'a> {
    image: &'a Image,
    place: &'a Place<'a>,
    arguments: &'a [*const c_char],
    environment: &'a [*const c_char],
    script: &'a [*const c_char],
    parent: i32,
}

fn own_pid() -> i32 {
    // SAFETY: a plain system call.
    unsafe { libc::getpid() }
}

fn errno() -> i32 {
    // SAFETY: `errno` is this thread's own word.
    unsafe { *libc::__errno_location() }
}

/// The child's side of [`start`].
fn become_program(plan: &Plan<'_>) -> ! {
    let Err((step, errno)) = try_become_program(plan);
    let report = Report { tag: plan.place.tag, step, errno }.emit();
    // SAFETY: async-signal-safe calls on memory of this process.
    unsafe {
        libc::write(plan.place.report.as_raw_fd(), report.as_ptr().cast(), report.len());
        libc::_exit(127)
    }
}

fn try_become_program(plan: &Plan<'_>) -> Result<std::convert::Infallible, (Step, i32)> {
    let place = plan.place;
    let check = |step: Step, result: c_int| if result < 0 { Err((step, errno())) } else { Ok(()) };
    // SAFETY: async-signal-safe system calls only; every pointer is to memory prepared before `fork`, the
    // pointer arrays end with null, and the descriptors are open.
    unsafe {
        check(Step::Group, libc::setpgid(0, place.group))?;
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != plan.parent {
            // The launcher died before its death could be noticed.
            libc::_exit(127);
        }
        for (number, fd) in (0..).zip(&place.stdio) {
            if fd.as_raw_fd() == number {
                check(Step::Descriptors, libc::fcntl(number, libc::F_SETFD, 0))?;
            } else {
                check(Step::Descriptors, libc::dup2(fd.as_raw_fd(), number))?;
            }
        }
        for fd in place.inherit {
            check(Step::Descriptors, libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0))?;
        }
        if let Some(soft) = place.open_files {
            let mut limit: libc::rlimit = std::mem::zeroed();
            if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
                limit.rlim_cur = soft;
                libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
            }
        }
        if !place.cpus.is_empty() {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            for &cpu in place.cpus.iter().filter(|&&cpu| cpu < libc::CPU_SETSIZE as usize) {
                libc::CPU_SET(cpu, &mut set);
            }
            // Without this the program is slower, not wrong.
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
        }
        if let Some(directory) = &plan.image.directory {
            check(Step::Directory, libc::chdir(directory.as_ptr()))?;
        }
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_SETMASK, place.mask, std::ptr::null_mut());
        let path = plan.image.path.as_ptr();
        libc::execve(path, plan.arguments.as_ptr(), plan.environment.as_ptr());
        let refused = errno();
        if refused == libc::ENOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), plan.script.as_ptr(), plan.environment.as_ptr());
        }
        Err((Step::Execute, refused))
    }
}

/// A tiny process that leads the job's process group and kills the group when the launcher is gone, however
/// it went. Dropping this kills the group too.
#[derive(Debug)]
pub struct Guardian {
    pid: i32,
    /// The guardian reads the other end: end of file means that the launcher is gone.
    lifeline: OwnedFd,
    /// Says that the launcher is there.
    _pulse: Option<Pulse>,
    reaped: bool,
}

impl Guardian {
    /// Forks the guardian. Best called before any other process is started. With `patience`, a launcher that has been stopped for so
    /// long counts as gone too, and is killed: nobody is there who could let it go on.
    ///
    /// # Errors
    /// When there are no descriptors, processes or threads to be had.
    pub fn new(patience: Option<Duration>) -> io::Result<Self> {
        let (end, lifeline) = io::pipe()?;
        let (end, lifeline) = (OwnedFd::from(end), OwnedFd::from(lifeline));
        let launcher = own_pid();
        let milliseconds = patience.map_or(-1, |patience| patience.as_millis().min(1 << 30) as c_int);
        // SAFETY: plain system calls. All signals are blocked across the fork, so that none of them can end the guardian before it
        // watches; the child calls `watch` only, which is async-signal-safe and never returns.
        let forked = without_signals(|| unsafe {
            // Whoever started us may have left it ignored, and then nobody could wait for children.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            match libc::fork() {
                0 => watch(end.as_raw_fd(), launcher, milliseconds),
                -1 => Err(io::Error::last_os_error()),
                pid => {
                    libc::setpgid(pid, pid);
                    Ok(pid)
                }
            }
        });
        let mut guardian = Self { pid: forked?, lifeline, _pulse: None, reaped: false };
        guardian._pulse = patience.map(|patience| guardian.assure(patience)).transpose()?;
        Ok(guardian)
    }

    /// Says several times in `patience` that the launcher is there.
    fn assure(&self, patience: Duration) -> io::Result<Pulse> {
        let lifeline = self.lifeline.try_clone()?;
        let beat = move || {
            // SAFETY: a plain system call on constant memory. The guardian reads all the time; should it be gone, this fails (Rust
            // programs ignore SIGPIPE).
            unsafe { libc::write(lifeline.as_raw_fd(), c"b".as_ptr().cast(), 1) };
        };
        Pulse::start(patience / 8, beat)
    }

    /// The group to join, which is also the guardian's process id.
    pub fn group(&self) -> i32 {
        self.pid
    }

    /// To hear when somebody has already waited for the guardian: its id may then belong to others.
    pub fn set_reaped(&mut self) {
        self.reaped = true;
    }

    /// Whether [`Guardian::set_reaped`] was called.
    pub fn is_reaped(&self) -> bool {
        self.reaped
    }

    /// Sends `signal` to every process of the group; the guardian itself minds only SIGKILL.
    pub fn signal(&self, signal: i32) {
        if !self.reaped {
            // SAFETY: a plain system call; the group exists as long as its leader is not reaped.
            unsafe { libc::kill(-self.pid, signal) };
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(libc::SIGKILL);
            // SAFETY: a plain system call on our own child.
            while unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) } < 0 && errno() == libc::EINTR {}
        }
    }
}

/// The guardian's whole life. `patience` is in milliseconds, or negative.
fn watch(end: RawFd, launcher: i32, patience: c_int) -> ! {
    // SAFETY: async-signal-safe system calls only. All descriptors but `end` are closed, so that nobody
    // waits for an end of file because of the guardian.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_NAME, c"mpiexec-guard".as_ptr());
        close_all_but(end);
        libc::chdir(c"/".as_ptr());
        let mut bytes = [0u8; 64];
        loop {
            let mut poll = libc::pollfd { fd: end, events: libc::POLLIN, revents: 0 };
            let ready = libc::poll(&raw mut poll, 1, patience);
            if ready == 0 {
                // It has been stopped. It is our parent still, so the number is its own.
                if libc::getppid() == launcher {
                    libc::kill(launcher, libc::SIGKILL);
                }
                break;
            }
            let got = libc::read(end, bytes.as_mut_ptr().cast(), bytes.len());
            if got == 0 || (got < 0 && errno() != libc::EINTR) {
                break;
            }
        }
        libc::kill(0, libc::SIGKILL);
        libc::_exit(0)
    }
}

/// Closes every descriptor but `keep`.
///
/// # Safety
/// Nobody may use the closed descriptors afterwards; meant for a forked child that does nothing else.
unsafe fn close_all_but(keep: RawFd) {
    // SAFETY: plain system calls; the caller vouches for the descriptors.
    unsafe {
        let keep = keep as libc::c_uint;
        let below = if keep == 0 { 0 } else { libc::syscall(libc::SYS_close_range, 0, keep - 1, 0) };
        if below != 0 {
            // Kernels before 5.9.
            for fd in 0..keep {
                libc::close(fd as c_int);
            }
        }
        close_from(keep as RawFd + 1);
    }
}

/// Closes every descriptor from `first` on.
///
/// # Safety
/// As [`close_all_but`].
unsafe fn close_from(first: RawFd) {
    // SAFETY: plain system calls; the caller vouches for the descriptors.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, 0) != 0 {
            // Kernels before 5.9.
            for fd in first..first.max(4096) {
                libc::close(fd);
            }
        }
    }
}

/// Takes ownership of a descriptor that the launcher left open for this process, and makes it close-on-exec.
///
/// # Errors
/// When the descriptor is a standard stream, is not open, or was taken before.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // Of several copies of this code in a process the one that opens the engine first takes descriptors, and removes the variables
    // that name them.
    static TAKEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());
    let refuse =
        |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, format!("descriptor {number} {why}")));
    if number <= 2 {
        return refuse("cannot be one that the launcher handed down");
    }
    let mut taken = TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if taken.contains(&number) {
        return refuse("has been taken already");
    }
    // SAFETY: `fcntl` on a number that is not open fails and does nothing.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return refuse("is not open");
    }
    taken.push(number);
    // SAFETY: the descriptor is open, came over `execve` (so no object of this program made it), and is
    // handed out once only.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// How many descriptors this process may have open at most.
pub fn most_open_files() -> u64 {
    open_files().map_or(0, |limit| limit.rlim_max)
}

/// Lets this process have so many descriptors open, as far as its hard limit goes; programs that it starts inherit that.
/// Returns how many it may have.
pub fn allow_open_files(count: u64) -> u64 {
    let Some(mut limit) = open_files() else { return 0 };
    if limit.rlim_cur >= count {
        return limit.rlim_cur;
    }
    let before = std::mem::replace(&mut limit.rlim_cur, count.min(limit.rlim_max));
    // SAFETY: a plain system call on a value of this frame.
    let refused = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0;
    if refused { before } else { limit.rlim_cur }
}

/// The limits on open descriptors, if the system says them.
fn open_files() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a place for the answer.
    let is_told = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    is_told.then_some(limit)
}

/// Removes variables from the environment, so that programs started later do not take them for theirs.
///
/// Rust code is kept out by the lock of `std::env`; C code that reads the environment at this very moment in
/// another thread is not, which is why this belongs into initialisation.
pub fn remove_variables<'a>(names: impl IntoIterator<Item = &'a str>) {
    for name in names {
        // SAFETY: called during initialisation, before the program's other threads read the environment.
        unsafe { std::env::remove_var(name) };
    }
}

/// Has something done when this process ends by `exit` or by the end of `main`, the first thing that it was called with; not in
/// the processes that this one forks, which inherit the wish.
pub fn at_exit(what: fn()) {
    // Several copies of this code in a process may each have theirs.
    static WISH: OnceLock<(u32, fn())> = OnceLock::new();
    extern "C" fn run() {
        if let Some((process, what)) = WISH.get()
            && *process == std::process::id()
        {
            what();
        }
    }
    let wish = (std::process::id(), what);
    if WISH.set(wish).is_ok() {
        // SAFETY: a function that takes nothing and stays, for what opens an engine is never unloaded (`slot`). Without
        // memory to note it the wish is lost.
        unsafe { libc::atexit(run) };
    }
}

/// Whether `signal` was ignored when this program was started (`nohup`, a background job of a script), which
/// the launcher should then go on doing.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: only asks for the action in force, into a local value.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// From now on the request to end (`SIGTERM`) has no effect, because this process is ending already and has
/// something left to do, such as to write out what is in the C library's buffers.
pub fn ignore_request_to_end() {
    // SAFETY: sets an action without a handler.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;

    fn mask() -> libc::sigset_t {
        // SAFETY: an all-zero set is valid and is emptied right away.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            set
        }
    }

    fn wait(pid: i32) -> i32 {
        let mut status = 0;
        // SAFETY: waits for our own child.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        status
    }

    /// Starts `path` with `arguments` and returns its standard output, report and status.
    fn run(path: &str, arguments: &[&str], directory: Option<&Path>) -> (String, Option<Report>, i32) {
        let guardian = Guardian::new(None).unwrap();
        let (mut out, to_out) = io::pipe().unwrap();
        let (mut reports, report) = io::pipe().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        let image = Image::new(Path::new(path), arguments, &["COLOUR=teal"], directory).unwrap();
        let mask = mask();
        let place = Place {
            stdio: [null.as_fd(), to_out.as_fd(), to_out.as_fd()],
            inherit: &[],
            group: guardian.group(),
            cpus: &[],
            open_files: None,
            mask: &mask,
            report: report.as_fd(),
            tag: 7,
        };
        let pid = start(&image, &place).unwrap();
        drop((to_out, report));
        let mut bytes = Vec::new();
        reports.read_to_end(&mut bytes).unwrap();
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        let report = <&[u8; Report::LEN]>::try_from(&bytes[..]).ok().and_then(Report::parse);
        (text, report, wait(pid))
    }

    #[test]
    fn a_program_gets_arguments_environment_and_directory() {
        let (text, report, status) =
            run("/bin/sh", &["sh", "-c", "echo $COLOUR $1; pwd; exit 3", "x", "y"], Some(Path::new("/dev")));
        assert_eq!((text.as_str(), report), ("teal y\n/dev\n", None));
        assert_eq!(libc::WEXITSTATUS(status), 3);
    }

    #[test]
    fn what_cannot_be_executed_is_reported() {
        let (_, report, status) = run("/dev/null", &["null"], None);
        assert_eq!(report, Some(Report { tag: 7, step: Step::Execute, errno: libc::EACCES }));
        assert_eq!(libc::WEXITSTATUS(status), 127);
        let (_, report, _) = run("/bin/sh", &["sh"], Some(Path::new("/nonexistent")));
        assert_eq!(report, Some(Report { tag: 7, step: Step::Directory, errno: libc::ENOENT }));
    }

    #[test]
    fn reports_survive_the_pipe_and_bad_ones_are_refused() {
        let report = Report { tag: 3, step: Step::Group, errno: -4 };
        assert_eq!(Report::parse(&report.emit()), Some(report));
        assert_eq!(Report::parse(&[9; Report::LEN]), None);
    }

    #[test]
    fn open_files_are_allowed_up_to_the_hard_limit() {
        let now = allow_open_files(0);
        assert!(now > 0);
        assert_eq!(allow_open_files(now), now);
        let most = allow_open_files(u64::MAX);
        assert!(most >= now && allow_open_files(0) == most && most == most_open_files());
    }

    #[test]
    fn descriptors_are_taken_once() {
        let (end, _other) = io::pipe().unwrap();
        let number = OwnedFd::from(end);
        // Hand it over by number, as `execve` would.
        let raw = std::os::fd::IntoRawFd::into_raw_fd(number);
        let owned = inherited(raw).unwrap();
        assert!(inherited(raw).is_err());
        drop(owned);
        assert!(inherited(1).is_err());
        assert!(inherited(999_999).is_err());
    }
}
