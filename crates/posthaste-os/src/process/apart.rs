//! A program that runs beside this process and is no child of it.
//!
//! A library may start one without its program noticing: nobody who waits for children finds it, and its end leaves nothing to be
//! waited for. What must stay true: it inherits the standard streams and no other descriptor; between `fork` and `execve` only
//! async-signal-safe functions run, on memory that was prepared before.

use super::{Image, close_from, errno, pointers};
use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Where the report goes in the new process: the first descriptor behind the standard streams.
const REPORT: RawFd = 3;

/// Starts a program with this standard input as an orphan, and returns when it executes its program. It stays in the process
/// group of this process, blocks no signals, and does what is usual on SIGPIPE.
///
/// # Errors
/// When there are no processes or descriptors to be had, or the program cannot be executed.
pub fn start_apart(image: &Image, input: BorrowedFd<'_>) -> io::Result<()> {
    let (report, to_report) = io::pipe()?;
    let to_report = OwnedFd::from(to_report);
    let arguments = pointers(image.arguments.iter().map(std::ffi::CString::as_c_str));
    let environment = pointers(image.environment.iter().map(std::ffi::CString::as_c_str));
    // SAFETY: the child, and its child, call async-signal-safe functions only, on values of this frame that were made before,
    // and never return; so it is no matter whether this process has other threads.
    let between = unsafe {
        match libc::fork() {
            -1 => return Err(io::Error::last_os_error()),
            0 => {
                match libc::fork() {
                    0 => become_program(image, &arguments, &environment, input, to_report.as_fd()),
                    -1 => say(to_report.as_raw_fd(), errno()),
                    _ => {}
                }
                libc::_exit(0)
            }
            pid => pid,
        }
    };
    drop(to_report);
    // SAFETY: a plain system call. Where the program waits for any child, or has them waited for by the system, it has gone.
    while unsafe { libc::waitpid(between, std::ptr::null_mut(), 0) } < 0 && errno() == libc::EINTR {}
    let mut said = Vec::new();
    File::from(OwnedFd::from(report)).read_to_end(&mut said)?;
    match said.first_chunk() {
        None => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(c_int::from_ne_bytes(*number))),
    }
}

/// # Safety
/// In a forked child that does nothing else; both lists end with a null pointer.
unsafe fn become_program(
    image: &Image,
    arguments: &[*const std::ffi::c_char],
    environment: &[*const std::ffi::c_char],
    input: BorrowedFd<'_>,
    report: BorrowedFd<'_>,
) -> ! {
    // SAFETY: as the caller says. The two descriptors are moved away first: any number may be theirs.
    unsafe {
        let (input, report) = (copy_behind(input), copy_behind(report));
        let set_up = libc::dup2(input, 0) >= 0 && libc::dup2(report, REPORT) >= 0;
        if set_up {
            close_from(REPORT + 1);
            libc::fcntl(REPORT, libc::F_SETFD, libc::FD_CLOEXEC);
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            libc::execve(image.path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        }
        say(if set_up { REPORT } else { report }, errno());
        libc::_exit(127)
    }
}

/// # Safety
/// As [`become_program`].
unsafe fn copy_behind(fd: BorrowedFd<'_>) -> RawFd {
    // SAFETY: a plain system call; a failure shows when the copy is used.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD, REPORT + 1) }
}

/// # Safety
/// As [`become_program`].
unsafe fn say(report: RawFd, number: c_int) {
    let bytes = number.to_ne_bytes();
    // SAFETY: a plain system call on memory of this frame.
    unsafe { libc::write(report, bytes.as_ptr().cast(), bytes.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::path::Path;

    #[test]
    fn it_is_no_child_of_ours_and_has_the_standard_streams_only() {
        let script = "exec 1>&0; echo $PPID $COLOUR; exec ls /proc/self/fd";
        let image = Image::new(Path::new("/bin/sh"), &["sh", "-c", script], &["COLOUR=teal"], None).unwrap();
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        // What a program in C has open would be inherited.
        // SAFETY: a plain system call on a descriptor that is ours.
        let open = unsafe { libc::dup(ours.as_raw_fd()) };
        start_apart(&image, theirs.as_fd()).unwrap();
        drop(theirs);
        let mut said = String::new();
        ours.read_to_string(&mut said).unwrap();
        // SAFETY: the descriptor was made above, and nobody else has its number.
        unsafe { libc::close(open) };
        let (first, descriptors) = said.split_once('\n').unwrap();
        let (parent, colour) = first.split_once(' ').unwrap();
        assert_ne!(parent, std::process::id().to_string());
        assert_eq!(colour, "teal");
        // The standard streams, and the folder that it reads.
        assert_eq!(descriptors.lines().count(), 4, "{said}");
    }

    #[test]
    fn what_cannot_be_executed_is_an_error() {
        let image = Image::new(Path::new("/dev/null"), &["null"], &[""; 0], None).unwrap();
        let (_ours, theirs) = UnixStream::pair().unwrap();
        assert_eq!(start_apart(&image, theirs.as_fd()).unwrap_err().raw_os_error(), Some(libc::EACCES));
    }
}
