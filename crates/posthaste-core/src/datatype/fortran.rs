//! Types of Fortran kinds by precision and range (MPI-5.0 §19.1.5), and predefined types by class and size
//! (§19.1.6).
//!
//! The doors keep one handle for each list of arguments.
//!
//! What must stay true: a type made here stands for one predefined type ([`Datatype::stands_for`]) wherever data
//! and arithmetic are concerned, is committed from the start, and remembers its arguments; the kinds are those of
//! the usual compilers on x86-64, where the 80-bit format serves between double and quadruple precision.

use super::build::{Combiner, Contents, finish};
use super::{Builtin, Datatype};
use crate::error::{Error, ErrorClass, Result};
use crate::named::Named;

/// Argument that leaves precision or range open (`MPI_UNDEFINED`); it is less than any number.
pub const OPEN: i64 = i64::MIN;

/// A kind of real numbers: decimal digits, decimal exponent, the real and the complex type.
struct RealKind(i64, i64, Named, Named);

const REALS: [RealKind; 4] = [
    RealKind(6, 37, Named::Real4, Named::Complex8),
    RealKind(15, 307, Named::Real8, Named::Complex16),
    RealKind(18, 4931, Named::LongDouble, Named::CLongDoubleComplex),
    RealKind(33, 4931, Named::Real16, Named::Complex32),
];

/// Kinds of integers: decimal digits and type.
const INTEGERS: [(i64, Named); 5] = [
    (2, Named::Integer1),
    (4, Named::Integer2),
    (9, Named::Integer4),
    (18, Named::Integer8),
    (38, Named::Integer16),
];

/// Classes of types for a search by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// `LOGICAL` of Fortran, an extension.
    Logical,
    /// `INTEGER` of Fortran.
    Integer,
    /// `REAL` of Fortran.
    Real,
    /// `COMPLEX` of Fortran.
    Complex,
}

impl Datatype {
    /// The type of `real(selected_real_kind(precision, range))`.
    pub fn f90_real(precision: i64, range: i64) -> Result<Self> {
        let kind = real_kind(precision, range)?;
        stand_in(Combiner::F90Real, vec![precision, range], kind.2)
    }

    /// The type of `complex(selected_real_kind(precision, range))`.
    pub fn f90_complex(precision: i64, range: i64) -> Result<Self> {
        let kind = real_kind(precision, range)?;
        stand_in(Combiner::F90Complex, vec![precision, range], kind.3)
    }

    /// The type of `integer(selected_int_kind(range))`.
    pub fn f90_integer(range: i64) -> Result<Self> {
        let most = INTEGERS[INTEGERS.len() - 1].0;
        match INTEGERS.iter().find(|(digits, _)| (0..=*digits).contains(&range)) {
            Some((_, named)) => stand_in(Combiner::F90Integer, vec![range], *named),
            None => {
                Err(Error::invalid(ErrorClass::Arg, "r", range, format_args!("0..={most} decimal digits")))
            }
        }
    }

    /// The predefined type of Fortran with this size.
    pub fn match_size(class: TypeClass, size: i64) -> Result<Self> {
        let prefix = match class {
            TypeClass::Logical => "MPI_LOGICAL",
            TypeClass::Integer => "MPI_INTEGER",
            TypeClass::Real => "MPI_REAL",
            TypeClass::Complex => "MPI_COMPLEX",
        };
        // Those of a definite size are called by it.
        let name = format!("{prefix}{size}");
        let found = Builtin::all().iter().find(|builtin| size > 0 && builtin.name == name);
        found.map(|builtin| Self::from(builtin.named)).ok_or_else(|| {
            let expected = format_args!("the size of a type of this class, such as that of {prefix}4");
            Error::invalid(ErrorClass::Arg, "size", size, expected)
        })
    }

    /// The predefined type whose values these are: the type itself, or the one that a Fortran kind selects; `None`
    /// for all other derived types, and for duplicates.
    pub fn stands_for(&self) -> Option<&'static Builtin> {
        match self.contents().map(|contents| contents.combiner) {
            Some(Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer) => self.uniform(),
            _ => self.builtin(),
        }
    }
}

fn real_kind(precision: i64, range: i64) -> Result<&'static RealKind> {
    if precision == OPEN && range == OPEN {
        let expected = "a number of decimal digits for p or r: they cannot both be MPI_UNDEFINED";
        return Err(Error::invalid(ErrorClass::Arg, "p", "MPI_UNDEFINED", expected));
    }
    for (argument, value, most) in [("p", precision, 33), ("r", range, 4931)] {
        if value != OPEN && !(0..=most).contains(&value) {
            let expected = format_args!("0..={most} or MPI_UNDEFINED");
            return Err(Error::invalid(ErrorClass::Arg, argument, value, expected));
        }
    }
    // The last kind has all that was let through.
    Ok(REALS.iter().find(|kind| precision <= kind.0 && range <= kind.1).unwrap_or(&REALS[REALS.len() - 1]))
}

/// A type for arguments of the program with the data of a predefined one.
fn stand_in(combiner: Combiner, arguments: Vec<i64>, named: Named) -> Result<Datatype> {
    let real = Datatype::from(named);
    let contents = Contents::of(combiner, arguments, vec![], &real);
    let made = finish(contents, real.layout().clone(), real.bounds(), real.elements())?;
    made.commit();
    Ok(made)
}
