//! Business cards: how a process can be reached by libfabric, and where the business cards of others are found.
//!
//! A process makes its business card when it opens its endpoint; whoever starts it puts the business card's text where every process of the
//! job finds it. Business cards are looked up when a peer is first needed, never on the message path. What must stay true: a
//! business card's text is one word that fits into a launcher's key-value space, and text from others is checked.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::datatype::Format;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;

/// First word of a business card, which changes when its form does.
const FORM: &str = "fabric1";
/// Longest address of an endpoint, in bytes.
const LONGEST: usize = 256;

/// How a process can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricCard {
    /// How its data looks.
    pub format: Format,
    /// The provider, which must be that of everybody.
    pub provider: String,
    /// The address of its endpoint, in the provider's form.
    pub address: Vec<u8>,
}

/// Where business cards are found.
pub trait FabricBook: Send + fmt::Debug {
    /// The business card of a peer. May take as long as an answer of the launcher.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    fn card(&mut self, peer: Peer) -> Result<FabricCard>;
}

impl fmt::Display for FabricCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names of layered providers have semicolons, which a launcher's protocol may not like.
        write!(f, "{FORM}/{:x}/{}/", self.format.word(), self.provider.replace(';', "+"))?;
        self.address.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for FabricCard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let shown: String = text.chars().take(100).collect();
            let expected = format!("{FORM}/format/provider/address");
            Error::invalid(ErrorClass::Other, "the business card of a rank", format!("\"{shown}\""), expected)
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [FORM, format, provider, digits] = parts[..] else { return Err(wrong()) };
        let format = u32::from_str_radix(format, 16).ok().and_then(Format::from_word).ok_or_else(wrong)?;
        let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        let pairs = digits.as_bytes().chunks(2);
        let byte = |pair: &[u8]| Some(value(pair[0])? << 4 | value(*pair.get(1)?)?);
        let address: Option<Vec<u8>> = pairs.map(byte).collect();
        let fits = |address: &Vec<u8>| !address.is_empty() && address.len() <= LONGEST;
        let address = address.filter(fits).ok_or_else(wrong)?;
        Ok(Self { format, provider: provider.replace('+', ";"), address })
    }
}

/// Business cards in the memory of one process, for tests.
#[derive(Clone, Debug, Default)]
pub struct FabricShelf(Arc<Mutex<HashMap<Peer, String>>>);

impl FabricShelf {
    /// Puts in the business card of a peer.
    pub fn put(&self, peer: Peer, card: &FabricCard) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(peer, card.to_string());
    }
}

impl FabricBook for FabricShelf {
    fn card(&mut self, peer: Peer) -> Result<FabricCard> {
        let cards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let none = || Error::other(ErrorClass::Other, format!("rank {} has left no business card", peer.0));
        cards.get(&peer).ok_or_else(none)?.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_survives_its_text_and_other_text_is_refused() {
        let card =
            FabricCard { format: Format::NATIVE, provider: "tcp;ofi_rxm".into(), address: vec![2, 0, 255] };
        let text = card.to_string();
        assert!(text.ends_with("/tcp+ofi_rxm/0200ff"), "{text}");
        assert_eq!(text.parse::<FabricCard>().unwrap(), card);
        for end in 0..text.len() {
            let _ = text[..end].parse::<FabricCard>(); // whatever it is, no panic
        }
        for bad in ["", "tcp1/1/a/00", "fabric1/zz/tcp/00", "fabric1/1080401/tcp/0", "fabric1/1080401/tcp/é"]
        {
            let error = bad.parse::<FabricCard>().unwrap_err().to_string();
            assert!(error.ends_with("expected fabric1/format/provider/address"), "{error}");
        }
    }
}
