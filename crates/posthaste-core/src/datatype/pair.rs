//! Pairs of a value and its index, for the largest or smallest value and its place (MPI-5.0 §6.9.4,
//! `MPI_Type_get_value_index`).
//!
//! The doors keep one handle for each pair.
//!
//! What must stay true: a pair with a name is the predefined type of that name; any other is laid out like a C
//! structure of its two members, is committed from the start and is never freed.

use super::build::{Combiner, Contents, finish};
use super::{Builtin, Class, Datatype, Kind};
use crate::error::Result;
use crate::named::Named;

/// Pairs with a name: value, index and pair.
const NAMED: [(Named, Named, Named); 9] = [
    (Named::Float, Named::Int, Named::FloatInt),
    (Named::Double, Named::Int, Named::DoubleInt),
    (Named::Long, Named::Int, Named::LongInt),
    (Named::Int, Named::Int, Named::TwoInt),
    (Named::Short, Named::Int, Named::ShortInt),
    (Named::LongDouble, Named::Int, Named::LongDoubleInt),
    (Named::Real, Named::Real, Named::TwoReal),
    (Named::DoublePrecision, Named::DoublePrecision, Named::TwoDoublePrecision),
    (Named::Integer, Named::Integer, Named::TwoInteger),
];

impl Datatype {
    /// The pair of these types; `None` where they do not make one: values can be compared, and indices are signed
    /// integers of 4 or 8 bytes.
    pub fn value_index(value: &Self, index: &Self) -> Result<Option<Self>> {
        let (Some(first), Some(second)) = (value.builtin(), index.builtin()) else { return Ok(None) };
        let named = NAMED.iter().find(|(value, index, _)| (*value, *index) == (first.named, second.named));
        if let Some((_, _, pair)) = named {
            return Ok(Some((*pair).into()));
        }
        if !is_number(first.class) || first.kind == Kind::Float(16) {
            return Ok(None);
        }
        if !is_number(second.class) || !matches!(second.kind, Kind::Signed(4 | 8)) {
            return Ok(None);
        }
        let at = first.size.next_multiple_of(second.align) as i64;
        let record = Self::structure(&[1, 1], &[0, at], &[value.clone(), index.clone()])?;
        let contents = Contents::of(Combiner::ValueIndex, vec![], vec![], &record);
        let made = finish(contents, record.layout().clone(), record.bounds(), record.elements())?;
        made.commit();
        Ok(Some(made))
    }

    /// Value and index of a pair without a name.
    pub fn value_and_index(&self) -> Option<(&'static Builtin, &'static Builtin)> {
        match self.contents().filter(|contents| contents.combiner == Combiner::ValueIndex)?.type_arguments() {
            [value, index] => Some((value.builtin()?, index.builtin()?)),
            _ => None,
        }
    }
}

fn is_number(class: Class) -> bool {
    matches!(class, Class::Integer | Class::FortranInteger | Class::Floating | Class::MultiLanguage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_a_name_or_the_layout_of_a_structure_or_are_none() {
        let builtin = |named: Named| Datatype::from(named);
        let pair = |value, index| Datatype::value_index(&builtin(value), &builtin(index)).unwrap();
        for (value, index, named) in NAMED {
            assert_eq!(pair(value, index).unwrap().named(), Some(named));
        }
        for value in Builtin::all() {
            for index in Builtin::all() {
                let Some(made) = pair(value.named, index.named) else { continue };
                assert!(made.is_predefined() && made.is_committed(), "{made:?}");
                assert_eq!((made.size(), made.elements()), (value.size + index.size, 2), "{made:?}");
                assert_eq!(made.elements_in(value.size), Some(1), "{made:?}");
                let aligned = value.size.next_multiple_of(index.align) + index.size;
                let extent = aligned.next_multiple_of(value.align.max(index.align));
                assert_eq!(made.extent(), extent as i64, "{made:?}");
            }
        }
        let (double, char, int, derived) = (
            Named::Double,
            Named::Char,
            Named::Int,
            Datatype::contiguous(1, &builtin(Named::Double)).unwrap(),
        );
        assert!(
            pair(double, char).is_none()
                && pair(Named::CBool, int).is_none()
                && pair(Named::TwoInt, int).is_none()
        );
        assert!(Datatype::value_index(&derived, &builtin(int)).unwrap().is_none());
    }
}
