//! Basic elements in a stretch of packed bytes, and the reverse (MPI-5.0 §3.2.5, §5.1.11, §13.3).
//!
//! For get_elements and status_set_elements.
//!
//! What must stay true: the two directions are inverse to each other wherever both are defined.

use super::Datatype;

impl Datatype {
    /// How many basic elements the first `bytes` packed bytes of an array of this type hold; `None` when the
    /// last one is incomplete.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        self.signature().elements_in(bytes)
    }

    /// How many packed bytes the first `elements` basic elements of an array of this type take; `None` when the
    /// type has no elements, or when the bytes do not fit into 64 bits.
    pub fn bytes_of_elements(&self, elements: u64) -> Option<u64> {
        self.signature().bytes_of(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    #[test]
    fn elements_and_bytes_are_inverse() {
        let builtin = |named: Named| Datatype::from(named);
        let (int, double, pair) = (builtin(Named::Int), builtin(Named::Double), builtin(Named::DoubleInt));
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
