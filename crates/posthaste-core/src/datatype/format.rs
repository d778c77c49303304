//! How a process represents data, and what processes say to each other of it at the start.
//!
//! `external` converts between formats of different byte order. What must stay true: two processes whose formats are
//! equal exchange bytes as they are.

use std::fmt;

use super::builtin::Kind;

/// Order of the bytes of a number in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

/// The representation of data in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Order of bytes.
    pub order: Order,
    /// Bytes of a `long`.
    pub long: u8,
    /// Bytes of a `wchar_t`.
    pub wide: u8,
    /// A `long double` has the 80-bit format, in 16 bytes; otherwise quadruple precision.
    pub extended: bool,
}

impl Format {
    /// The format of this process. The sizes are those of the table in `builtin`.
    pub const NATIVE: Self = Self {
        order: if cfg!(target_endian = "big") { Order::Big } else { Order::Little },
        long: size_of::<std::ffi::c_long>() as u8,
        wide: 4,
        extended: matches!(Kind::LONG_DOUBLE, Kind::Extended),
    };

    /// The same with the bytes of every number in the other order.
    #[must_use]
    pub fn swapped(self) -> Self {
        let order = match self.order {
            Order::Little => Order::Big,
            Order::Big => Order::Little,
        };
        Self { order, ..self }
    }

    /// The word that travels in a handshake; never 0.
    pub fn word(self) -> u32 {
        let order = match self.order {
            Order::Little => 1,
            Order::Big => 2,
        };
        order << 24 | u32::from(self.long) << 16 | u32::from(self.wide) << 8 | u32::from(self.extended)
    }

    /// The format behind such a word.
    pub fn from_word(word: u32) -> Option<Self> {
        let [extended, wide, long, order] = word.to_le_bytes();
        let order = match order {
            1 => Order::Little,
            2 => Order::Big,
            _ => return None,
        };
        (extended < 2).then_some(Self { order, long, wide, extended: extended == 1 })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            Order::Little => "little-endian",
            Order::Big => "big-endian",
        };
        let double = if self.extended { "the 80-bit format" } else { "quadruple precision" };
        write!(
            f,
            "{order}, {} bytes a long, {} bytes a wchar_t, long double in {double}",
            self.long, self.wide
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Builtin;
    use crate::named::Named;

    #[test]
    fn formats_travel_as_words() {
        for format in
            [Format::NATIVE, Format::NATIVE.swapped(), Format { long: 4, extended: false, ..Format::NATIVE }]
        {
            assert_eq!(Format::from_word(format.word()), Some(format));
            assert_ne!(format.word(), 0);
        }
        assert_eq!(Format::from_word(0), None);
        assert_eq!(Format::from_word(0x0108_0405), None);
        let size = |named| Builtin::of(named).size;
        assert_eq!(
            (size(Named::Long), size(Named::Wchar)),
            (Format::NATIVE.long.into(), Format::NATIVE.wide.into())
        );
        assert!(Format::NATIVE.swapped().to_string().starts_with("big-endian, 8 bytes a long"));
    }
}
