//! The numbers of which the memory in tests of windows consists: elements of one predefined datatype, of any length.

use crate::buffer::OwnedBuf;
use crate::datatype::{Builtin, Class, Datatype};
use crate::named::Named;
use crate::op::Predefined;
use crate::testing::Bench;

/// Numbers of one datatype. Their values are those of 64 bits that it has; floating-point numbers are whole ones here, and small, so
/// that sums are exact.
#[derive(Clone, Copy, Debug)]
pub(in crate::win) struct Numbers(&'static Builtin);

impl Numbers {
    pub(in crate::win) fn of(named: Named) -> Self {
        Self(Builtin::of(named))
    }

    /// Those of any datatype.
    pub(in crate::win) fn random(bench: &Bench) -> Self {
        let all = [
            Named::Unsigned,
            Named::UnsignedChar,
            Named::UnsignedShort,
            Named::Uint64,
            Named::Float,
            Named::Double,
        ];
        Self::of(all[bench.network.random(all.len() as u64) as usize])
    }

    pub(in crate::win) fn element(self) -> &'static Builtin {
        self.0
    }

    pub(in crate::win) fn datatype(self) -> Datatype {
        Datatype::from(self.0.named)
    }

    /// Bytes of one.
    pub(in crate::win) fn size(self) -> u64 {
        self.0.size
    }

    /// Whether they are compared and swapped, and have operations on bits.
    pub(in crate::win) fn are_integers(self) -> bool {
        self.0.class == Class::Integer
    }

    /// What is kept of a value.
    pub(in crate::win) fn kept(self, value: u64) -> u64 {
        if self.are_integers() { value & (u64::MAX >> (64 - 8 * self.size())) } else { value }
    }

    /// An operation that they have.
    pub(in crate::win) fn operation(self, bench: &Bench) -> Predefined {
        let all = [Predefined::Sum, Predefined::Max, Predefined::Replace, Predefined::NoOp, Predefined::Bxor];
        all[bench.network.random(4 + u64::from(self.are_integers())) as usize]
    }

    /// What an operation makes of a number.
    pub(in crate::win) fn combined(self, operation: Predefined, was: u64, value: u64) -> u64 {
        match operation {
            Predefined::Sum => self.kept(was.wrapping_add(value)),
            Predefined::Max => was.max(value),
            Predefined::Bxor => was ^ value,
            Predefined::Replace => value,
            _ => was,
        }
    }

    /// Numbers with these values, as far as they are kept.
    pub(in crate::win) fn filled(self, values: &[u64]) -> OwnedBuf {
        let size = self.size() as usize;
        let mut buf = OwnedBuf::new(size * values.len());
        let bytes = values.iter().flat_map(|value| match self.0.named {
            Named::Float => (*value as f32).to_le_bytes().to_vec(),
            Named::Double => (*value as f64).to_le_bytes().to_vec(),
            _ => value.to_le_bytes()[..size].to_vec(),
        });
        buf.sink().copy_from(&bytes.collect::<Vec<u8>>());
        buf
    }

    /// The values of all numbers in a buffer.
    pub(in crate::win) fn values(self, buffer: &OwnedBuf) -> Vec<u64> {
        let value = |bytes: &[u8]| match self.0.named {
            Named::Float => f32::from_le_bytes(bytes.try_into().expect("four bytes")) as u64,
            Named::Double => f64::from_le_bytes(bytes.try_into().expect("eight bytes")) as u64,
            _ => bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)),
        };
        buffer.source().to_vec().chunks_exact(self.size() as usize).map(value).collect()
    }
}
