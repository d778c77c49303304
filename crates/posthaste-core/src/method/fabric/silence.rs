//! Peers that nothing is heard of: a network of unconnected endpoints does not report that a process has ended, only, at
//! best, that a packet did not get there.
//!
//! A peer that has been silent for a while is sent a packet without meaning: when the network cannot get it there, it
//! says so, and the peer is lost. Providers over TCP do not: they refuse packets while they try to connect, again and
//! again. So where packets are refused we knock at the peer's port ourselves: nobody listens there when its process has
//! ended. What must stay true: one who computes for hours is not flooded; nothing waits for an answer, because one who
//! does not look gives none; only a refusal is proof, time never is.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::{Stream, Tuning};

use super::Fabric;
use super::link::{Frame, Link};
use crate::config::Config;

/// Polls between two looks at the clock, and time between two looks at everybody.
const POLLS_PER_CLOCK: u32 = 256;
const BETWEEN_CHECKS: Duration = Duration::from_millis(250);
/// Silence after which a peer is asked for the first time; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(500);

/// Providers that listen on a port of TCP, which is in their address.
const OVER_TCP: [&str; 3] = ["tcp", "net", "sockets"];
const AF_INET: i32 = 2;
const AF_INET6: i32 = 10;

/// When everybody's silence is looked at.
#[derive(Debug)]
pub(super) struct Listening {
    polls: u32,
    checked: Duration,
    /// Longest silence of a peer that is not asked.
    longest: Duration,
}

/// The silence of one peer.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// Since when, or since it was last asked; `None`: something has been heard since the last look.
    since: Option<Duration>,
    /// How long until it is asked; zero: not asked yet.
    patience: Duration,
    /// Where its process listens, if the provider is one over TCP.
    door: Option<SocketAddr>,
    /// Our knock there.
    knock: Option<Stream>,
}

impl Listening {
    pub(super) fn new(config: &Config) -> Self {
        let longest = Duration::from_secs(config.tcp_dead_s.into()) / 2;
        Self { polls: 0, checked: Duration::ZERO, longest }
    }

    /// How long a peer may be silent before a connection to it would be taken for broken.
    pub(super) fn dead(&self) -> Duration {
        2 * self.longest
    }

    /// The next poll looks at the clock.
    fn soon(&mut self) {
        self.polls = POLLS_PER_CLOCK;
    }

    /// Whether it is time to look at the clock.
    #[inline]
    pub(super) fn is_time(&mut self) -> bool {
        self.polls += 1;
        self.polls > POLLS_PER_CLOCK
    }
}

impl Silence {
    /// Of a peer with this address.
    pub(super) fn of(provider: &str, address: &[u8]) -> Self {
        let is_tcp = provider.split(';').next().is_some_and(|name| OVER_TCP.contains(&name));
        Self { door: is_tcp.then(|| socket_address(address)).flatten(), ..Self::default() }
    }

    #[inline]
    pub(super) fn heard(&mut self) {
        self.since = None;
    }

    /// Whether the peer has to be asked now.
    fn is_over(&mut self, now: Duration, longest: Duration) -> bool {
        let Some(since) = self.since else {
            (self.since, self.patience) = (Some(now), FIRST);
            return false;
        };
        let is_over = now - since >= self.patience;
        if is_over {
            (self.since, self.patience) = (Some(now), (2 * self.patience).min(longest));
        }
        is_over
    }

    /// Knocks at the peer's port. Whether it has ended.
    fn knock(&mut self, dead: Duration) -> bool {
        self.knock = None;
        let Some(door) = self.door else { return false };
        match Stream::connect(door, &Tuning { buffer: 0, dead }) {
            Ok(knock) => self.knock = Some(knock),
            Err(error) => return error.kind() == ErrorKind::ConnectionRefused,
        }
        self.nobody_opens()
    }

    /// Whether an earlier knock was refused.
    fn nobody_opens(&self) -> bool {
        let refused =
            |knock: &Stream| knock.connected().is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused);
        self.knock.as_ref().is_some_and(refused)
    }
}

/// A socket address as C programs write it.
fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes(*bytes.first_chunk()?));
    let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
    match family {
        AF_INET => Some((Ipv4Addr::from(*bytes.get(4..)?.first_chunk::<4>()?), port).into()),
        AF_INET6 => Some((Ipv6Addr::from(*bytes.get(8..)?.first_chunk::<16>()?), port).into()),
        _ => None,
    }
}

impl Fabric {
    /// The next poll looks at the network and at the clock: this process has slept.
    pub(super) fn look_at_network(&mut self) {
        self.turns.soon();
        self.listening.soon();
    }

    /// Asks those that have been silent for long.
    #[cold]
    pub(super) fn ask_the_silent(&mut self) {
        self.listening.polls = 0;
        let now = machine::now();
        if now - self.listening.checked < BETWEEN_CHECKS || self.is_leaving {
            return;
        }
        self.listening.checked = now;
        let longest = self.listening.longest;
        let is_full = self.endpoint.free() == 0;
        let mut ended = Vec::new();
        for (peer, link) in self.links.iter_mut().filter(|(_, link)| !link.is_down() && !link.is_leaving) {
            let refuses = is_full || !link.backlog.is_empty();
            let Link { silence, .. } = link;
            let has_ended = match silence.is_over(now, longest) {
                false => silence.nobody_opens(),
                true if refuses => silence.knock(longest),
                true => {
                    self.transfers.send_control(peer, Frame::Ask);
                    false
                }
            };
            if has_ended {
                ended.push(peer);
            }
        }
        for peer in ended {
            self.lose(peer, "its process has ended: nobody listens at its address any more");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_peer_is_asked_less_and_less_often() {
        let (mut silence, longest) = (Silence::default(), Duration::from_secs(2));
        let asked = |silence: &mut Silence, from: u64| -> Vec<u64> {
            let times = (from..from + 10_000).step_by(250);
            times.filter(|at| silence.is_over(Duration::from_millis(*at), longest)).collect()
        };
        assert_eq!(asked(&mut silence, 0), [500, 1500, 3500, 5500, 7500, 9500]);
        silence.heard();
        assert_eq!(asked(&mut silence, 10_000)[..2], [10_500, 11_500]);
    }

    #[test]
    fn a_knock_is_refused_only_where_nobody_listens() {
        use std::net::TcpListener;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut address = vec![0; 16];
        address[..2].copy_from_slice(&(AF_INET as u16).to_ne_bytes());
        address[2..4].copy_from_slice(&port.to_be_bytes());
        address[4..8].copy_from_slice(&[127, 0, 0, 1]);
        let knock = |provider: &str| {
            let mut silence = Silence::of(provider, &address);
            silence.knock(Duration::from_secs(2)) || silence.nobody_opens()
        };
        assert!(!knock("tcp;ofi_rxm"));
        drop(listener);
        assert!(knock("tcp;ofi_rxm") && knock("sockets"));
        assert!(!knock("verbs;ofi_rxm"), "its port is none of TCP");
        assert_eq!(socket_address(&address[..7]), None);
    }
}
