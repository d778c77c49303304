//! Connections inside a host: a listener has a name, and no network is asked for anything.
//!
//! What must stay true: names live in the kernel (unix(7), "abstract"), so nothing stays behind when a process is killed; they
//! are seen by everybody on the host, so a name holds no secret.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use super::{Stream, begin};

/// A socket that accepts connections from processes of this host, or of the container that it is in.
#[derive(Debug)]
pub struct LocalListener(UnixListener);

impl LocalListener {
    /// Listens under a name of at most 107 bytes.
    ///
    /// # Errors
    /// A name that somebody has; what the system said.
    pub fn open(name: &[u8]) -> io::Result<Self> {
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    /// The next connection; `None` while there is none.
    ///
    /// # Errors
    /// What the system said, such as that there are no descriptors left.
    pub fn accept(&self) -> io::Result<Option<Stream>> {
        loop {
            match self.0.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true)?;
                    return Ok(Some(Stream(OwnedFd::from(stream).into())));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for LocalListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Stream {
    /// Connects with a listener of this host, at once.
    ///
    /// # Errors
    /// When nobody listens under that name, or too many wait there.
    pub fn connect_local(name: &[u8]) -> io::Result<Self> {
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: a plain system call that makes a new descriptor.
        let fd = unsafe { libc::socket(libc::AF_UNIX, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the fresh descriptor from above, which nobody else owns.
        let stream = Self(unsafe { OwnedFd::from_raw_fd(fd) }.into());
        let mut address =
            libc::sockaddr_un { sun_family: libc::AF_UNIX as libc::sa_family_t, sun_path: [0; 108] };
        let places = address.sun_path.get_mut(1..=name.len()).ok_or(ErrorKind::InvalidInput)?;
        places.iter_mut().zip(name).for_each(|(place, byte)| *place = *byte as libc::c_char);
        let front = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1;
        begin(stream.0.as_raw_fd(), &address, front + name.len())?;
        Ok(stream)
    }
}
