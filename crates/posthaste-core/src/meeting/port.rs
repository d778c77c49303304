//! Names of ports: `ph1/PORT/SECRET/ADDRESS,ADDRESS/OWNER`, such as `ph1/40123/5f0c…/10.0.0.1,fd00::1/1d3e….2`.
//!
//! The secret has 32 hexadecimal digits; the owner is a job, in hexadecimal digits, and a rank there, and is missing where no
//! rank has it. What must stay true: a name fits into the 256 bytes that the shortest ABI has for it; text from a user is checked; a name is never shown whole, for whoever reads it can connect.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::error::{Error, ErrorClass, Result};
use crate::jobs::{JobId, ProcessName};
use crate::method::tcp::push_addresses;

/// Most letters of a name.
const LONGEST: usize = 255;
const FORM: &str = "ph1";

/// Where a root waits for others, and by what they know each other.
#[derive(Clone, PartialEq, Eq)]
pub struct PortName {
    /// The rank that has opened it; none is that of a names server.
    pub owner: Option<ProcessName>,
    /// The TCP port.
    pub port: u16,
    /// What only those know who have the name.
    pub secret: [u8; 16],
    /// Its host's addresses, the likeliest first.
    pub addresses: Vec<IpAddr>,
}

impl PortName {
    /// Where to connect.
    pub fn endpoints(&self) -> impl Iterator<Item = SocketAddr> {
        self.addresses.iter().map(|address| SocketAddr::new(*address, self.port))
    }

    /// What stands in sentences about it.
    pub fn shown(&self) -> String {
        let first = self.endpoints().next();
        first.map_or_else(|| format!("port {}", self.port), |at| format!("port {at}"))
    }
}

impl fmt::Debug for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret: String = self.secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let owner = self.owner.map_or_else(String::new, |name| format!("/{:x}.{}", name.job.0, name.rank));
        let mut text = format!("{FORM}/{}/{secret}/", self.port);
        push_addresses(&mut text, &self.addresses, LONGEST - owner.len());
        f.write_str(&(text + &owner))
    }
}

impl FromStr for PortName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let got = format!("a text of {} letters", text.chars().count());
            let expected =
                format!("{FORM}/port/secret/addresses/owner, as from MPI_Open_port or MPI_Lookup_name");
            Error::invalid(ErrorClass::Port, "port_name", got, expected)
        };
        let parts: Vec<&str> = text.split('/').collect();
        let (port, digits, addresses, owner) = match *parts.as_slice() {
            [FORM, port, digits, addresses] => (port, digits, addresses, None),
            [FORM, port, digits, addresses, owner] => {
                (port, digits, addresses, Some(process(owner).ok_or_else(wrong)?))
            }
            _ => return Err(wrong()),
        };
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?;
        let mut secret = [0; 16];
        if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        for (at, byte) in secret.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
        }
        let addresses: std::result::Result<Vec<IpAddr>, _> = addresses.split(',').map(str::parse).collect();
        Ok(Self { owner, port, secret, addresses: addresses.map_err(|_| wrong())? })
    }
}

/// `JOB.RANK`.
fn process(text: &str) -> Option<ProcessName> {
    let (job, rank) = text.split_once('.')?;
    let job = u64::from_str_radix(job, 16).ok().filter(|job| *job > 0)?;
    Some(ProcessName { job: JobId(job), rank: rank.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(addresses: usize) -> PortName {
        let addresses = (0..addresses).map(|n| format!("fd00:1:2:3:4:5:6:{n:x}").parse().unwrap()).collect();
        let owner = Some(ProcessName { job: JobId(u64::MAX - 1), rank: 1_000_000 });
        PortName { owner, port: 40123, secret: [0x5f; 16], addresses }
    }

    #[test]
    fn a_name_survives_its_text_and_fits() {
        assert_eq!(name(3).to_string().parse::<PortName>().unwrap(), name(3));
        let nobodys = PortName { owner: None, ..name(1) };
        assert_eq!(nobodys.to_string().parse::<PortName>().unwrap(), nobodys);
        let long = name(200).to_string();
        assert!(long.len() <= LONGEST, "{}", long.len());
        assert!(long.parse::<PortName>().unwrap().addresses.len() > 8);
        assert!(!format!("{:?}", name(1)).contains("5f5f"), "the secret is shown");
    }

    #[test]
    fn other_text_is_refused() {
        let good = name(1).to_string();
        (0..good.len()).for_each(|end| drop(good[..end].parse::<PortName>()));
        let digits = "5f".repeat(16);
        let wrong = [
            String::new(),
            "ph1".into(),
            good.replace("ph1", "ph2"),
            good.replace(".1000000", ""),
            good.replace(".1000000", ".x"),
            good.replace("fffffffffffffffe.", "0."),
            good.replace("fffffffffffffffe.1000000", ""),
            good.replace("40123", "0"),
            good.replace("40123", "70000"),
            good.replace(&digits, "5f"),
            good.replace(&digits, &"é".repeat(16)),
            good.replace(&digits, &"5g".repeat(16)),
            format!("{good},"),
            format!("{good}/"),
            good.replace("fd00", "gd00"),
        ];
        for text in wrong {
            let error = text.parse::<PortName>().unwrap_err();
            assert_eq!(error.class(), ErrorClass::Port, "{text}");
        }
    }
}
