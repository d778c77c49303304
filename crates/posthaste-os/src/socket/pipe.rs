//! A pipe that wakes whoever sleeps on it.
//!
//! What must stay true: neither end ever blocks.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Both ends of a pipe.
#[derive(Debug)]
pub struct Pipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Pipe {
    /// A new one.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        for end in [reader.as_fd(), writer.as_fd()] {
            // SAFETY: plain system calls on a descriptor we own.
            let failed = unsafe {
                let flags = libc::fcntl(end.as_raw_fd(), libc::F_GETFL);
                libc::fcntl(end.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK)
            };
            if failed < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(Self { reader, writer })
    }

    /// The end that others write to.
    pub fn writer(&self) -> BorrowedFd<'_> {
        self.writer.as_fd()
    }

    /// Wakes whoever sleeps on it.
    pub fn ring(&self) {
        // A full pipe wakes as well as one more byte would.
        let _ = (&self.writer).write(&[1]);
    }

    /// Forgets what has rung.
    pub fn drain(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.reader).read(&mut bytes), Ok(n) if n == bytes.len()) {}
    }
}

impl AsFd for Pipe {
    /// The end that is slept on.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}
