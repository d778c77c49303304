//! Standard input goes to rank 0.
//!
//! Called by `run`. A file, a pipe or a socket is simply handed to rank 0 as it is: nothing is copied, nothing can
//! deadlock, and what rank 0 does not read stays for the next program. A terminal cannot be handed on (rank 0 is
//! not in the terminal's foreground group and would be stopped), so its keys are passed on through a pipe. What
//! must stay true: we never wait for either side.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What becomes of the standard input of rank 0.
#[derive(Debug)]
pub(super) enum Input {
    /// It is handed on as it is.
    Same,
    /// It is passed on.
    Terminal(Forward),
}

/// Passes a terminal's input on to a pipe.
#[derive(Debug)]
pub(super) struct Forward {
    terminal: File,
    /// Rank 0 reads the other end; gone after end of file or when rank 0 has closed it.
    pipe: Option<File>,
    waiting: Vec<u8>,
}

impl Input {
    /// Decides, and gives the end of the pipe for rank 0 if there is one.
    pub(super) fn new() -> io::Result<(Self, Option<OwnedFd>)> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return Ok((Self::Same, None));
        }
        let (end, pipe) = io::pipe()?;
        let (end, pipe) = (OwnedFd::from(end), OwnedFd::from(pipe));
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let terminal = File::from(stdin.as_fd().try_clone_to_owned()?);
        Ok((Self::Terminal(Forward { terminal, pipe: Some(pipe.into()), waiting: Vec::new() }), Some(end)))
    }
}

/// What to watch next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The terminal, for keys.
    Terminal,
    /// The pipe, for room.
    Pipe,
    /// Nothing now: we are in the background and may not read the terminal. Try again later.
    Later,
    /// Nothing any more.
    Nothing,
}

impl Forward {
    /// To be called when the terminal has keys.
    pub(super) fn read(&mut self) -> Next {
        let mut keys = [0; 4096];
        match self.terminal.read(&mut keys) {
            Ok(0) => self.close(),
            Ok(count) => {
                self.waiting.extend_from_slice(&keys[..count]);
                self.write()
            }
            Err(why) if why.kind() == io::ErrorKind::Interrupted => Next::Terminal,
            // SIGTTIN is blocked, so the system says this to a reader in the background.
            Err(why) if why.raw_os_error() == Some(Errno::EIO as i32) => Next::Later,
            Err(_) => self.close(),
        }
    }

    /// To be called when the pipe has room.
    pub(super) fn write(&mut self) -> Next {
        let Some(pipe) = &mut self.pipe else { return Next::Nothing };
        while !self.waiting.is_empty() {
            match pipe.write(&self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Next::Pipe,
                Err(_) => return self.close(),
            }
        }
        Next::Terminal
    }

    /// Ends the input of rank 0.
    pub(super) fn close(&mut self) -> Next {
        self.pipe = None;
        Next::Nothing
    }

    /// The terminal.
    pub(super) fn terminal(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }

    /// The pipe to rank 0.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }
}
