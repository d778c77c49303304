//! Business cards: how a process can be reached over TCP, and where the business cards of others are found.
//!
//! A process makes its business card when it opens its listener; whoever starts it puts the business card's text where every process of
//! the job finds it (the key-value space of the launcher). Business cards are looked up when a connection is first needed, never
//! on the message path. What must stay true: a business card's text is one word of at most [`LONGEST`] characters, and text from
//! others is checked.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use posthaste_os::socket;

use crate::config::Config;
use crate::datatype::Format;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;

/// Longest text of a business card.
pub(super) const LONGEST: usize = 1000;
/// Longest name of a node in it.
const LONGEST_NODE: usize = 64;
/// First word of a business card, which changes when its form does.
const FORM: &str = "tcp2";

/// How a process can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusinessCard {
    /// How its data looks.
    pub format: Format,
    /// The port of its listener.
    pub port: u16,
    /// Addresses of its host, the likeliest first.
    pub addresses: Vec<IpAddr>,
    /// The same for processes of other jobs with which it can share memory; 0: with none.
    pub host: u64,
    /// What its node is called in sentences.
    pub node: String,
}

/// Where business cards are found.
pub trait AddressBook: Send + fmt::Debug {
    /// The business card of a peer. May take as long as an answer of the launcher.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    fn card(&mut self, peer: Peer) -> Result<BusinessCard>;
}

impl BusinessCard {
    /// Addresses with the port.
    pub fn endpoints(&self) -> impl Iterator<Item = SocketAddr> {
        self.addresses.iter().map(|address| SocketAddr::new(*address, self.port))
    }
}

/// Appends addresses with commas between, as many as fit into so many bytes: the likelier ones come first.
pub(crate) fn push_addresses(text: &mut String, addresses: &[impl fmt::Display], longest: usize) {
    let mut between = "";
    for address in addresses {
        let next = format!("{between}{address}");
        if text.len() + next.len() > longest {
            break;
        }
        *text += &next;
        between = ",";
    }
}

impl fmt::Display for BusinessCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let node: String = self.node.chars().take(LONGEST_NODE).map(plain).collect();
        let mut text = format!("{FORM}/{:x}/{}/{:x}/{node}/", self.format.word(), self.port, self.host);
        push_addresses(&mut text, &self.addresses, LONGEST);
        f.write_str(&text)
    }
}

impl FromStr for BusinessCard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let shown: String = text.chars().take(100).collect();
            let expected = format!("{FORM}/format/port/host/node/addresses");
            Error::invalid(ErrorClass::Other, "the business card of a rank", format!("\"{shown}\""), expected)
        };
        let mut parts = text.split('/');
        let mut part = || parts.next().ok_or_else(wrong);
        if part()? != FORM {
            return Err(wrong());
        }
        let format = u32::from_str_radix(part()?, 16).ok().and_then(Format::from_word).ok_or_else(wrong)?;
        let port = part()?.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?;
        let host = u64::from_str_radix(part()?, 16).map_err(|_| wrong())?;
        let node = part()?.to_owned();
        let all: std::result::Result<Vec<IpAddr>, _> = part()?.split(',').map(str::parse).collect();
        Ok(Self { format, port, host, node, addresses: all.map_err(|_| wrong())? })
    }
}

/// The addresses under which others may reach this host, the likeliest first: those of interfaces that are up and may be
/// used, IPv4 before IPv6, this host's own loopback last.
///
/// # Errors
/// When the interfaces cannot be listed, or none is left.
pub(crate) fn own_addresses(config: &Config) -> Result<Vec<IpAddr>> {
    let known = socket::interfaces().map_err(|e| Error::system("listing the network interfaces", e))?;
    // An address that is good only on its own link needs the interface, whose number is another on each host.
    let is_local = |address: IpAddr| match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    let mut usable: Vec<IpAddr> = known
        .iter()
        .filter(|known| known.running && config.admits_interface(&known.name) && !is_local(known.address))
        .map(|known| known.address)
        .collect();
    usable.sort_by_key(|address| (address.is_loopback(), address.is_ipv6())); // stable
    if usable.is_empty() {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let what = format!(
            "no network interface can be used: POSTHASTE_TCP_INTERFACES is \"{}\", this host has {}",
            config.tcp_interfaces,
            names.join(", ")
        );
        return Err(Error::other(ErrorClass::Other, what));
    }
    Ok(usable)
}

/// An address book in the memory of one process, for tests.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<Mutex<HashMap<Peer, String>>>);

impl Shelf {
    /// Puts in the business card of a peer.
    pub fn put(&self, peer: Peer, card: &BusinessCard) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(peer, card.to_string());
    }
}

impl AddressBook for Shelf {
    fn card(&mut self, peer: Peer) -> Result<BusinessCard> {
        let cards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let none = || Error::other(ErrorClass::Other, format!("rank {} has left no business card", peer.0));
        cards.get(&peer).ok_or_else(none)?.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(addresses: usize) -> BusinessCard {
        let addresses = (0..addresses).map(|n| format!("fd00:1:2:3:4:5:6:{n:x}").parse().unwrap()).collect();
        BusinessCard {
            format: Format::NATIVE,
            port: 40123,
            addresses,
            host: 0x7a,
            node: "node-7.cluster".into(),
        }
    }

    #[test]
    fn a_card_survives_its_text() {
        let mut one = card(3);
        one.addresses.push("10.0.0.1".parse().unwrap());
        assert_eq!(one.to_string().parse::<BusinessCard>().unwrap(), one);
        assert_eq!(one.endpoints().last().unwrap().to_string(), "10.0.0.1:40123");
        let strange = BusinessCard { node: "a b/c,d=e;f".into(), ..card(1) };
        assert_eq!(strange.to_string().parse::<BusinessCard>().unwrap().node, "a_b_c_d_e_f");
    }

    #[test]
    fn a_card_is_never_too_long() {
        let text = card(200).to_string();
        assert!((LONGEST - 30..=LONGEST).contains(&text.len()), "{}", text.len());
        assert!(text.parse::<BusinessCard>().unwrap().addresses.len() > 40);
    }

    #[test]
    fn other_text_is_refused() {
        let good = card(1).to_string();
        for end in 0..good.len() - 1 {
            let _ = good[..end].parse::<BusinessCard>(); // whatever it is, no panic
        }
        for bad in [
            "",
            "tcp2",
            "tcp1/1080401/1/0/n/10.0.0.1",
            "tcp2/0/1/0/n/10.0.0.1",
            "tcp2/1080401/0/0/n/10.0.0.1",
            "tcp2/1080401/1/n/n/10.0.0.1",
        ] {
            let error = bad.parse::<BusinessCard>().unwrap_err().to_string();
            assert!(error.contains("expected tcp2/format/port/host/node/addresses"), "{error}");
        }
    }

    #[test]
    fn this_host_has_addresses_and_names_choose_among_them() {
        let of = |names: &str| own_addresses(&Config { tcp_interfaces: names.into(), ..Config::default() });
        let all = of("").unwrap();
        assert!(!all.is_empty());
        let lo: Vec<IpAddr> = of("lo").unwrap();
        assert!(lo.iter().all(IpAddr::is_loopback));
        assert!(!of("^lo").is_ok_and(|rest| rest.iter().any(IpAddr::is_loopback)));
        let error = of("none0").unwrap_err().to_string();
        assert!(error.contains("POSTHASTE_TCP_INTERFACES is \"none0\", this host has"), "{error}");
    }
}
