//! Sockets that never block, of TCP and inside a host, and the epoll set that waits for several of them at once.
//!
//! Payload goes through [`Source`] and [`Sink`], so that it leaves the user's buffer and arrives there without a copy
//! of ours. What must stay true: no function here waits but [`Set::wait`]; every descriptor is close-on-exec; a peer
//! that is gone is an error and never a signal; no name is ever looked up.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::mem::{Sink, Source};

mod interfaces;
mod local;
mod pipe;
mod set;

pub use interfaces::{Interface, interfaces};
pub use local::LocalListener;
pub use pipe::Pipe;
pub use set::{Ready, Set};

/// Pieces of one read or write.
pub const PIECES: usize = 64;
/// Connections that may wait to be accepted: a whole job may come at once.
const BACKLOG: i32 = 4096;

/// Whether an error says that a process has no such memory as it wanted read or written.
pub fn is_of_memory(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EFAULT)
}

/// A socket that accepts connections over both families, if the system has both.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// Listens on the first free port of a range; port 0 means any.
    ///
    /// # Errors
    /// What the system said of the last port.
    pub fn open(ports: RangeInclusive<u16>) -> io::Result<Self> {
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        for port in ports {
            let every = [IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED)];
            for address in every {
                match TcpListener::bind((address, port)) {
                    Ok(listener) => {
                        listener.set_nonblocking(true)?;
                        // SAFETY: a plain system call on a descriptor we own; listening again only changes the backlog.
                        unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) };
                        return Ok(Self(listener));
                    }
                    Err(error) => last = error,
                }
                if last.kind() == ErrorKind::AddrInUse {
                    break;
                }
            }
        }
        Err(last)
    }

    /// The port.
    ///
    /// # Errors
    /// What the system said.
    pub fn port(&self) -> io::Result<u16> {
        self.0.local_addr().map(|address| address.port())
    }

    /// The next connection; `None` while there is none.
    ///
    /// # Errors
    /// What the system said, such as that there are no descriptors left.
    pub fn accept(&self) -> io::Result<Option<(Stream, SocketAddr)>> {
        loop {
            match self.0.accept() {
                Ok((stream, address)) => {
                    stream.set_nonblocking(true)?;
                    return Ok(Some((Stream(stream), plain(address))));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                // Gone before it was accepted.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// An IPv4 address that a socket for both families shows in the form of IPv6, as what it is.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// How a connection is set up.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// Bytes of the system's buffers for each direction; 0 leaves them to the system.
    pub buffer: usize,
    /// After so long without any answer an idle peer is given up.
    pub dead: Duration,
}

/// How a connection fares, as the system sees it.
#[derive(Clone, Copy, Debug)]
pub struct Health {
    /// Since the peer's system has last answered.
    pub silent: Duration,
    /// The system repeats what the peer has not acknowledged, or asks it for room without getting an answer. A peer that
    /// is only slow to read does answer.
    pub unanswered: bool,
}

/// A connection.
#[derive(Debug)]
pub struct Stream(TcpStream);

impl Stream {
    /// Begins to connect; [`Stream::connected`] says how it went, once the socket can be written.
    ///
    /// # Errors
    /// What the system said at once.
    pub fn connect(to: SocketAddr, tuning: &Tuning) -> io::Result<Self> {
        let family = if to.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: a plain system call that makes a new descriptor.
        let fd = unsafe { libc::socket(family, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the fresh descriptor from above, which nobody else owns.
        let stream = Self(TcpStream::from(unsafe { OwnedFd::from_raw_fd(fd) }));
        stream.tune(tuning)?; // the size of buffers is agreed on while connecting
        let failed = match to {
            SocketAddr::V4(to) => {
                let address = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: to.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
                    sin_zero: [0; 8],
                };
                begin(fd, &address, size_of_val(&address))
            }
            SocketAddr::V6(to) => {
                let address = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: to.port().to_be(),
                    sin6_flowinfo: to.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: to.ip().octets() },
                    sin6_scope_id: to.scope_id(),
                };
                begin(fd, &address, size_of_val(&address))
            }
        };
        match failed {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(stream),
        }
    }

    /// A connection of the program's, which keeps its descriptor and does not notice.
    ///
    /// # Errors
    /// When the descriptor is no connected stream socket.
    pub fn of_program(fd: RawFd) -> io::Result<Self> {
        let (mut kind, mut len) = (0_i32, size_of::<i32>() as libc::socklen_t);
        // SAFETY: `kind` has room for `len` bytes; a number that is no descriptor is refused.
        let failed = unsafe {
            let place = (&raw mut kind).cast();
            libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, place, &mut len)
        };
        if failed != 0 {
            return Err(io::Error::last_os_error());
        }
        if kind != libc::SOCK_STREAM {
            return Err(io::Error::other("not a stream"));
        }
        // SAFETY: an all-zero address is a valid empty one.
        let mut address: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let mut len = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        // SAFETY: `address` has room for `len` bytes.
        if unsafe { libc::getpeername(fd, (&raw mut address).cast(), &mut len) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the system has just shown that it is open, and the program keeps it so during its call.
        let own = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?;
        Ok(Self(TcpStream::from(own)))
    }

    /// Whether the connection stands, once its socket can be written.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn connected(&self) -> io::Result<()> {
        match self.0.take_error()? {
            Some(error) => Err(error),
            None => self.0.peer_addr().map(|_| ()),
        }
    }

    /// Sets the connection up for short messages and for noticing a dead peer.
    ///
    /// # Errors
    /// What the system said.
    pub fn tune(&self, tuning: &Tuning) -> io::Result<()> {
        self.0.set_nodelay(true)?;
        let fd = self.0.as_raw_fd();
        // Three questions, the first after half of the time. A time limit on unacknowledged data (TCP_USER_TIMEOUT) would
        // also end connections to peers that compute and do not read; see `health`.
        let idle = (tuning.dead.as_secs() / 2).clamp(1, 3600) as i32;
        let between = (tuning.dead.as_secs() / 6).clamp(1, 3600) as i32;
        set_option(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
        set_option(fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, idle)?;
        set_option(fd, libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, between)?;
        set_option(fd, libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 3)?;
        if tuning.buffer > 0 {
            let bytes = tuning.buffer.min(i32::MAX as usize) as i32;
            set_option(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes)?;
            set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes)?;
        }
        Ok(())
    }

    /// Fills the pieces in order; how many bytes came, 0 at the end. `None` while there is nothing.
    ///
    /// # Errors
    /// What became of the connection.
    #[inline]
    pub fn read(&self, pieces: &mut [Sink<'_>]) -> io::Result<Option<usize>> {
        let mut vector = [EMPTY; PIECES];
        let mut count = 0;
        for (to, piece) in vector.iter_mut().zip(pieces.iter_mut()) {
            *to = libc::iovec { iov_base: piece.as_mut_ptr().cast(), iov_len: piece.len() };
            count += 1;
        }
        let fd = self.0.as_raw_fd();
        outcome(|| {
            // SAFETY: the sinks say that these ranges may be written and that nobody refers into them.
            unsafe { libc::readv(fd, vector.as_ptr(), count) }
        })
    }

    /// Fills one piece; as [`Stream::read`], with the cheapest call there is.
    ///
    /// # Errors
    /// As [`Stream::read`].
    #[inline]
    pub fn read_one(&self, piece: &mut Sink<'_>) -> io::Result<Option<usize>> {
        let (fd, to, len) = (self.0.as_raw_fd(), piece.as_mut_ptr(), piece.len());
        outcome(|| {
            // SAFETY: the sink says that this range may be written and that nobody refers into it.
            unsafe { libc::recv(fd, to.cast(), len, libc::MSG_DONTWAIT) }
        })
    }

    /// Writes the pieces in order; how many bytes left. `None` while there is no room.
    ///
    /// # Errors
    /// What became of the connection.
    #[inline]
    pub fn write(&self, pieces: &[Source<'_>]) -> io::Result<Option<usize>> {
        let fd = self.0.as_raw_fd();
        if let [piece] = pieces {
            let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
            return outcome(|| {
                // SAFETY: the source says that this range may be read.
                unsafe { libc::send(fd, piece.as_ptr().cast(), piece.len(), flags) }
            });
        }
        let mut vector = [EMPTY; PIECES];
        let mut count = 0;
        for (to, piece) in vector.iter_mut().zip(pieces) {
            *to = libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() };
            count += 1;
        }
        // SAFETY: an all-zero message header is a valid empty one.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        (message.msg_iov, message.msg_iovlen) = (vector.as_mut_ptr(), count);
        outcome(|| {
            // SAFETY: the header names `count` ranges of `vector`, and the sources say that they may be read.
            unsafe { libc::sendmsg(fd, &raw const message, libc::MSG_NOSIGNAL) }
        })
    }

    /// Our port and the peer's.
    ///
    /// # Errors
    /// What the system said.
    pub fn ports(&self) -> io::Result<(u16, u16)> {
        Ok((self.0.local_addr()?.port(), self.0.peer_addr()?.port()))
    }

    /// Nothing more will be written; what was written still arrives.
    pub fn close_writing(&self) {
        // A connection that is gone already needs no closing.
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }

    /// Nothing more will be written, nor is anything waited for; what has arrived can be read.
    pub fn close(&self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }

    /// Whether the peer still answers.
    ///
    /// # Errors
    /// What the system said.
    pub fn health(&self) -> io::Result<Health> {
        // SAFETY: plain numbers, of which all zero is a value.
        let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
        let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
        let (fd, at) = (self.0.as_raw_fd(), &raw mut info);
        // SAFETY: `info` has room for `len` bytes, and the kernel writes no more.
        let failed = unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, at.cast(), &mut len) };
        if failed != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Health {
            silent: Duration::from_millis(info.tcpi_last_ack_recv.into()),
            unanswered: info.tcpi_retransmits > 0 || info.tcpi_probes > 1,
        })
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

const EMPTY: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

/// Calls until no signal interrupts; `None` for "not now".
#[inline]
fn outcome(mut call: impl FnMut() -> isize) -> io::Result<Option<usize>> {
    loop {
        let n = call();
        if n >= 0 {
            return Ok(Some(n as usize));
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            ErrorKind::Interrupted => {}
            ErrorKind::WouldBlock => return Ok(None),
            _ => return Err(error),
        }
    }
}

/// Begins to connect with what the first `len` bytes of a socket address say.
fn begin<T>(fd: RawFd, address: &T, len: usize) -> io::Result<()> {
    assert!(len <= size_of::<T>());
    // SAFETY: `address` is a socket address of the system's (all callers), and `len` bytes of it are there.
    let failed = unsafe { libc::connect(fd, std::ptr::from_ref(address).cast(), len as libc::socklen_t) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_option(fd: RawFd, level: i32, option: i32, value: i32) -> io::Result<()> {
    let len = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the value is a number of `len` bytes that lives over the call.
    let failed = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), len) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests;
