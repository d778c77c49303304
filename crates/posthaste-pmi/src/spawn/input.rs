//! Standard input goes to rank 0, or to the ranks that the user names.
//!
//! [`Source`] is the side of the user, [`Feed`] that of the ranks. On one host a file, a pipe or a socket is simply
//! handed to the rank as it is: nothing is copied, nothing can deadlock, and what it does not read stays for the next
//! program. A terminal cannot be handed on (the rank is not in the terminal's foreground group and would be stopped),
//! nor can anything be handed to several ranks or to another host: then what is read here is passed on through pipes.
//! What must stay true: we never wait for either side; one piece is under way at a time, and the next one is read when
//! all have taken it, so a rank that does not read costs no memory.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Which ranks get our standard input; all others find theirs empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Each of them gets all of it.
    All,
    /// These do; perhaps none.
    Ranks(Vec<u32>),
}

impl Default for Input {
    /// Rank 0 does.
    fn default() -> Self {
        Self::Ranks(vec![0])
    }
}

impl Input {
    /// Whether this rank gets it.
    pub(crate) fn is_for(&self, rank: u32) -> bool {
        match self {
            Self::All => true,
            Self::Ranks(ranks) => ranks.contains(&rank),
        }
    }

    /// How many ranks of a job of `size` get it.
    pub(crate) fn count(&self, size: usize) -> usize {
        match self {
            Self::All => size,
            Self::Ranks(ranks) => ranks.len(),
        }
    }

    /// A rank that is to get it and is not in a job of `size`.
    pub(crate) fn beyond(&self, size: usize) -> Option<u32> {
        match self {
            Self::All => None,
            Self::Ranks(ranks) => ranks.iter().copied().find(|&rank| rank as usize >= size),
        }
    }
}

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

/// The pipe to the standard input of a rank.
#[derive(Debug)]
pub(super) struct Feed {
    /// The rank reads the other end; gone after end of file or when the rank has closed it.
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
    /// A pipe, and the end of it for the rank.
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

    /// Ends the input of the rank.
    pub(super) fn close(&mut self) -> Fed {
        self.pipe = None;
        Fed::Closed
    }

    /// Whether bytes wait for room.
    pub(super) fn is_waiting(&self) -> bool {
        self.pipe.is_some() && !self.waiting.is_empty()
    }

    /// The pipe to the rank.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }
}
