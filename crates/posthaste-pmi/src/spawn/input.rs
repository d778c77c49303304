//! Standard input goes to rank 0.
//!
//! [`Source`] is used by `console`, [`Feed`] by `local`. On one host a file, a pipe or a socket is simply handed to rank
//! 0 as it is: nothing is copied, nothing can deadlock, and what rank 0 does not read stays for the next program. A
//! terminal cannot be handed on (rank 0 is not in the terminal's foreground group and would be stopped), nor can
//! anything be handed to another host: then what is read here is passed on through a pipe. What must stay true: we
//! never wait for either side; one piece is under way at a time, so a rank that does not read costs no memory.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Our standard input, read to be passed on.
#[derive(Debug)]
pub(crate) struct Source {
    file: File,
}

/// What a reading gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// This; nothing is the end.
    Bytes(Vec<u8>),
    /// Nothing yet.
    None,
    /// Nothing now: we are in the background and may not read the terminal. Try again later.
    Later,
}

impl Source {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: File::from(io::stdin().as_fd().try_clone_to_owned()?) })
    }

    /// Reads what is there, when the system says that something is.
    pub(super) fn read(&mut self) -> Piece {
        let mut bytes = vec![0; 64 << 10];
        match self.file.read(&mut bytes) {
            Ok(count) => {
                bytes.truncate(count);
                Piece::Bytes(bytes)
            }
            Err(why) if matches!(why.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {
                Piece::None
            }
            // SIGTTIN is blocked, so the system says this to a reader in the background.
            Err(why) if why.raw_os_error() == Some(Errno::EIO as i32) => Piece::Later,
            Err(_) => Piece::Bytes(Vec::new()),
        }
    }
}

impl AsFd for Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The pipe to the standard input of rank 0.
#[derive(Debug)]
pub(super) struct Feed {
    /// Rank 0 reads the other end; gone after end of file or when rank 0 has closed it.
    pipe: Option<File>,
    waiting: Vec<u8>,
}

/// How far a [`Feed`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fed {
    /// All is in the pipe.
    All,
    /// The pipe is full.
    Waits,
    /// Nobody reads, or the input has ended.
    Closed,
}

impl Feed {
    /// A pipe, and the end of it for rank 0.
    pub(super) fn new() -> io::Result<(Self, OwnedFd)> {
        let (end, pipe) = io::pipe()?;
        let pipe = OwnedFd::from(pipe);
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok((Self { pipe: Some(pipe.into()), waiting: Vec::new() }, OwnedFd::from(end)))
    }

    /// Takes a piece; an empty one is the end.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Fed {
        if bytes.is_empty() {
            return self.close();
        }
        self.waiting.extend_from_slice(bytes);
        self.write()
    }

    /// To be called when the pipe has room.
    pub(super) fn write(&mut self) -> Fed {
        let Some(pipe) = &mut self.pipe else { return Fed::Closed };
        while !self.waiting.is_empty() {
            match pipe.write(&self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Fed::Waits,
                Err(_) => return self.close(),
            }
        }
        Fed::All
    }

    /// Ends the input of rank 0.
    pub(super) fn close(&mut self) -> Fed {
        self.pipe = None;
        Fed::Closed
    }

    /// The pipe to rank 0.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }
}
