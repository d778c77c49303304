//! Business cards: which plug-in a process has loaded, and where that is reached.
//!
//! Made when a plug-in is started and put where every process of the job finds it; read when a peer is first needed. What
//! must stay true: a business card's text is one word that fits into a launcher's key-value space, whatever text the plug-in calls
//! its address; text from others is checked.

use std::fmt;
use std::str::FromStr;

use posthaste_os::plugin::ADDRESS;

use crate::datatype::Format;
use crate::error::{Error, ErrorClass, Result};

/// First word of a business card, which changes when its form does.
const FORM: &str = "plugin1";

/// How a process can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginCard {
    /// How its data looks.
    pub format: Format,
    /// The plug-in's name, which must be that of everybody.
    pub name: String,
    /// The address, in the plug-in's own words.
    pub address: String,
}

impl fmt::Display for PluginCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}/{:x}/{}/", self.format.word(), self.name)?;
        self.address.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for PluginCard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let shown: String = text.chars().take(100).collect();
            let expected = format!("{FORM}/format/name/address");
            Error::invalid(ErrorClass::Other, "the business card of a rank", format!("\"{shown}\""), expected)
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [FORM, format, name, digits] = parts[..] else { return Err(wrong()) };
        let format = u32::from_str_radix(format, 16).ok().and_then(Format::from_word).ok_or_else(wrong)?;
        let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        let byte = |pair: &[u8]| Some(value(pair[0])? << 4 | value(*pair.get(1)?)?);
        let address: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        let address = address.and_then(|address| String::from_utf8(address).ok()).ok_or_else(wrong)?;
        if address.is_empty() || address.len() > ADDRESS || address.contains('\0') {
            return Err(wrong());
        }
        Ok(Self { format, name: name.to_owned(), address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_survives_its_text_and_other_text_is_refused() {
        let card =
            PluginCard { format: Format::NATIVE, name: "unix".into(), address: "any; text = é/\n".into() };
        let text = card.to_string();
        assert_eq!(text.parse::<PluginCard>().unwrap(), card);
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';' && byte != b'='), "{text}");
        for end in 0..text.len() {
            let _ = text[..end].parse::<PluginCard>(); // whatever it is, no panic
        }
        let format = Format::NATIVE.word();
        let long = "41".repeat(ADDRESS + 1);
        for bad in ["", "é", "0", "00", "ff", &long] {
            let error =
                format!("plugin1/{format:x}/unix/{bad}").parse::<PluginCard>().unwrap_err().to_string();
            assert!(error.ends_with("expected plugin1/format/name/address"), "{error}");
        }
    }
}
