//! Datatypes of the elements of Rust programs, made of their shapes: what `MPI_Type_create_struct` makes of a C structure
//! (MPI-5.0 §5.1.2).

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Datatype;
use crate::buffer::{Field, Shape};
use crate::error::Result;

/// Those that have been made: a type of a program is looked up with each message that needs it.
static MADE: Mutex<Option<HashMap<TypeId, Datatype>>> = Mutex::new(None);

/// The datatype of a type with this shape.
pub(super) fn datatype(of: TypeId, shape: &Shape) -> Datatype {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        // A type that the compiler has laid out has at most isize::MAX bytes, so all of its numbers fit.
        let made = made_of(shape).unwrap_or_else(|error| unreachable!("a type of the program: {error}"));
        made.commit();
        made
    };
    made.get_or_insert_default().entry(of).or_insert_with(make).clone()
}

fn made_of(shape: &Shape) -> Result<Datatype> {
    match shape {
        Shape::Number(named, _) => Ok((*named).into()),
        Shape::Pair(value, index, _) => {
            let (value, index) = (Datatype::from(*value), Datatype::from(*index));
            Ok(Datatype::value_index(&value, &index)?.unwrap_or_else(|| unreachable!("numbers make a pair")))
        }
        Shape::Array { element, count, .. } => Datatype::contiguous(*count as i64, &made_of(element)?),
        Shape::Record { fields, size } => {
            let children =
                fields.iter().map(|Field { shape, .. }| made_of(shape)).collect::<Result<Vec<_>>>()?;
            let offsets: Vec<i64> = fields.iter().map(|field| field.offset as i64).collect();
            let record = Datatype::structure(&vec![1; fields.len()], &offsets, &children)?;
            Datatype::resized(&record, 0, *size as i64)
        }
    }
}
