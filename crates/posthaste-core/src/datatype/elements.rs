//! Basic elements in a stretch of packed bytes, and the reverse (MPI-5.0 §3.2.5, §5.1.11, §13.3).
//!
//! Called by the doors for get_elements and status_set_elements. Walks down what a type was built from.
//!
//! What must stay true: no recursion, since types are nested as deep as the program likes; the two directions are
//! inverse to each other wherever both are defined.

use super::{Builtin, Combiner, Datatype};

/// A way to measure a datatype: its size or its basic elements.
type Measure = fn(&Datatype) -> u64;

impl Datatype {
    /// How many basic elements the first `bytes` packed bytes of an array of this type hold; `None` when the
    /// last one is incomplete.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        self.convert(bytes, Self::size, Self::elements, |pair, bytes| {
            (bytes == pair.first_element()).then_some(1)
        })
    }

    /// How many packed bytes the first `elements` basic elements of an array of this type take; `None` when the
    /// type has no elements, or when the bytes do not fit into 64 bits.
    pub fn bytes_of_elements(&self, elements: u64) -> Option<u64> {
        self.convert(elements, Self::elements, Self::size, |pair, _| Some(pair.first_element()))
    }

    /// Goes `amount` far into an array of this type by one measure and tells how far that is by another. `within`
    /// knows it for a part of a predefined pair.
    fn convert(
        &self,
        amount: u64,
        by: Measure,
        to: Measure,
        within: fn(&Builtin, u64) -> Option<u64>,
    ) -> Option<u64> {
        let (mut found, mut rest, mut at) = (0u64, amount, self);
        while rest > 0 {
            let whole = rest.checked_div(by(at))?;
            found = found.checked_add(whole.checked_mul(to(at))?)?;
            rest -= whole * by(at);
            if rest == 0 {
                break;
            }
            let Some(contents) = at.contents() else {
                return found.checked_add(within(at.builtin()?, rest)?);
            };
            // Only a structure has children of several kinds, each with its block length.
            if contents.combiner != Combiner::Struct {
                at = contents.types.first()?;
                continue;
            }
            for (child, length) in contents.types.iter().zip(contents.ints.get(1..)?) {
                at = child;
                let block = by(child) * *length as u64;
                if rest < block {
                    break;
                }
                rest -= block;
                found += to(child) * *length as u64;
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_bytes_are_inverse() {
        let builtin = |handle| Datatype::from_abi(handle).unwrap();
        let (int, double, pair) = (builtin(0x209), builtin(0x214), builtin(0x229));
        let vector = Datatype::vector(2, 2, 3, &pair).unwrap();
        let types = [int.clone(), vector, double];
        let record = Datatype::structure(&[3, 2, 1], &[0, 16, 512], &types).unwrap();
        let array = Datatype::contiguous(5, &record).unwrap();
        let nothing = Datatype::contiguous(0, &int).unwrap();
        assert_eq!((array.size(), array.elements()), (5 * 116, 5 * 20));
        // Three integers, eight pairs of eight and four bytes, one double.
        assert_eq!(array.bytes_of_elements(4), Some(20));
        assert_eq!(array.bytes_of_elements(19), Some(108));
        assert_eq!(array.bytes_of_elements(20 + 1), Some(116 + 4));
        for elements in 0..300 {
            let bytes = array.bytes_of_elements(elements).unwrap();
            assert_eq!(array.elements_in(bytes), Some(elements));
            assert_eq!(array.elements_in(bytes + 1), None);
        }
        assert_eq!(nothing.bytes_of_elements(0), Some(0));
        assert_eq!((nothing.bytes_of_elements(1), nothing.elements_in(1)), (None, None));
        assert_eq!(int.bytes_of_elements(u64::MAX), None);
    }
}
