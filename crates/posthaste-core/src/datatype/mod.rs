//! Datatypes: what a buffer's bytes mean and where they lie (MPI-5.0 chapter 5; seed 000, segments).
//!
//! - `combination`: elements that are combined where they arrive. `builtin`: the predefined types; `build`, `darray`, `fortran`, `pair`: the constructors and what they remember
//!   for get_contents; `layout`: where the bytes lie, independent of how the user spelled the type; `segment`: the
//!   cursor that packs and unpacks; `signature`: the basic types in packing order, whatever the layout; `elements`:
//!   counting them; `overlap`: whether two buffers share bytes; `shape`: types of Rust programs; `format`: how a process represents data; `external`:
//!   conversion to canonical forms.
//!
//! What must stay true: a type never changes once built, apart from its name and its commit mark; a type in use
//! lives on after it was freed, because users hold a counted reference; dropping a type does not recurse, however
//! deep it was nested.

mod build;
mod builtin;
mod combination;
mod darray;
mod elements;
pub mod external;
mod format;
mod fortran;
mod layout;
mod overlap;
mod pair;
mod segment;
mod shape;
mod signature;

pub use build::{Combiner, Contents, Order};
pub use builtin::{Builtin, Class, Kind};
pub(crate) use combination::Combination;
pub use darray::{DEFAULT_DARG, Dimension, Distribution};
pub use format::{Format, Order as ByteOrder};
pub use fortran::{OPEN, TypeClass};
pub use layout::{Blocks, Item, Layout, List, Loop, Piece, Runs, Shape};
pub use overlap::{Array, Overlap, overlap};
pub use segment::{Segment, copy};
pub use signature::{Measure, Run, Signature, Types};

use crate::buffer::{self, Equivalence};
use crate::error::{Error, ErrorClass, Result};
use crate::named::Named;
use std::any::TypeId;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A datatype: predefined, or built by a constructor. Cheap to clone; clones are the same type.
#[derive(Clone)]
pub struct Datatype(Repr);

#[derive(Clone)]
enum Repr {
    Builtin(&'static Builtin),
    Derived(Arc<Type>),
}

/// A derived type.
struct Type {
    contents: Contents,
    layout: Layout,
    bounds: Bounds,
    signature: Signature,
    /// The one predefined type that every basic element has, if there is one.
    uniform: Option<&'static Builtin>,
    committed: AtomicBool,
    name: Mutex<Option<String>>,
}

/// Lower and upper bound of a type, and what decides them (MPI-5.0 §5.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    lb: i64,
    ub: i64,
    /// Set by resized, subarray and the like: such bounds win over those computed from the data.
    marked: bool,
    /// The strictest alignment of any basic element.
    align: u64,
}

impl Drop for Type {
    fn drop(&mut self) {
        // A chain of types, each the last user of the next, is taken apart here and not by recursion.
        let mut types = std::mem::take(&mut self.contents.types);
        while let Some(Datatype(repr)) = types.pop() {
            if let Repr::Derived(child) = repr
                && let Some(mut child) = Arc::into_inner(child)
            {
                types.append(&mut child.contents.types);
            }
        }
    }
}

impl From<Named> for Datatype {
    #[inline]
    fn from(named: Named) -> Self {
        Self(Repr::Builtin(Builtin::of(named)))
    }
}

impl Datatype {
    /// The name of a predefined type; `None` for a derived one.
    pub fn named(&self) -> Option<Named> {
        self.builtin().map(|builtin| builtin.named)
    }

    /// The type of a Rust program's elements: a predefined one for a number.
    pub fn of<T: Equivalence>() -> Self {
        match T::SHAPE {
            buffer::Shape::Number(named, _) => (*named).into(),
            shape => shape::datatype(TypeId::of::<T>(), shape),
        }
    }

    /// `MPI_BYTE`.
    pub fn byte() -> Self {
        Self(Repr::Builtin(Builtin::BYTE))
    }

    /// The predefined type behind this one; `None` for a derived one.
    #[inline]
    pub fn builtin(&self) -> Option<&'static Builtin> {
        match &self.0 {
            Repr::Builtin(builtin) => Some(builtin),
            Repr::Derived(_) => None,
        }
    }

    /// Whether the library made the type: with a name, of a Fortran kind, or as a pair.
    pub fn is_predefined(&self) -> bool {
        self.builtin().is_some() || self.stands_for().is_some() || self.value_and_index().is_some()
    }

    /// The predefined type that every basic element has, such as `MPI_INT` for a vector of `MPI_INT`; what
    /// accumulate needs.
    pub fn uniform(&self) -> Option<&'static Builtin> {
        match &self.0 {
            Repr::Builtin(builtin) => Some(builtin),
            Repr::Derived(derived) => derived.uniform,
        }
    }

    /// Packed bytes of one element.
    #[inline]
    pub fn size(&self) -> u64 {
        match &self.0 {
            Repr::Builtin(builtin) => builtin.size,
            Repr::Derived(derived) => derived.layout.size(),
        }
    }

    /// Lower bound, in bytes.
    pub fn lb(&self) -> i64 {
        self.bounds().lb
    }

    /// Upper bound, in bytes.
    pub fn ub(&self) -> i64 {
        self.bounds().ub
    }

    /// Distance of neighbours in an array: upper minus lower bound.
    #[inline]
    pub fn extent(&self) -> i64 {
        match &self.0 {
            Repr::Builtin(builtin) => builtin.extent,
            // Every constructor has checked that the difference fits.
            Repr::Derived(derived) => derived.bounds.ub - derived.bounds.lb,
        }
    }

    /// Lowest offset of any byte.
    pub fn true_lb(&self) -> i64 {
        self.layout().true_lb()
    }

    /// Distance from the lowest byte to the end of the highest.
    pub fn true_extent(&self) -> i64 {
        self.layout().true_ub() - self.layout().true_lb()
    }

    /// Where the bytes of one element lie.
    #[inline]
    pub fn layout(&self) -> &Layout {
        match &self.0 {
            Repr::Builtin(builtin) => builtin.layout(),
            Repr::Derived(derived) => &derived.layout,
        }
    }

    /// Whether any number of elements is one run of bytes.
    pub fn is_contiguous(&self) -> bool {
        self.layout().runs() <= 1 && self.size() as i64 == self.extent()
    }

    /// What the type was built from (get_envelope, get_contents); `None` for a predefined type.
    pub fn contents(&self) -> Option<&Contents> {
        match &self.0 {
            Repr::Builtin(_) => None,
            Repr::Derived(derived) => Some(&derived.contents),
        }
    }

    /// Makes the type ready for communication. Its layout is complete from the start, so this only marks it.
    /// Returns whether it was not ready before.
    pub fn commit(&self) -> bool {
        match &self.0 {
            Repr::Builtin(_) => false,
            Repr::Derived(derived) => !derived.committed.swap(true, Ordering::Relaxed),
        }
    }

    /// Whether the type may be used in communication.
    #[inline]
    pub fn is_committed(&self) -> bool {
        match &self.0 {
            Repr::Builtin(_) => true,
            Repr::Derived(derived) => derived.committed.load(Ordering::Relaxed),
        }
    }

    /// As [`Datatype::is_committed`], as the error that a communication call returns.
    #[inline]
    pub fn check_committed(&self) -> Result<()> {
        if self.is_committed() {
            return Ok(());
        }
        Err(Error::invalid(
            ErrorClass::Type,
            "datatype",
            format_args!("the uncommitted type {self:?}"),
            "a type for which MPI_Type_commit was called",
        ))
    }

    /// The name in C of a predefined type, the name set by the user of a derived one, or nothing.
    pub fn name(&self) -> String {
        match &self.0 {
            Repr::Builtin(builtin) => builtin.name.to_string(),
            Repr::Derived(derived) => {
                derived.name.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
            }
        }
    }

    /// What a sentence calls it: its name, or how it was made.
    pub fn title(&self) -> String {
        match (self.name(), self.contents()) {
            (name, Some(contents)) if name.is_empty() => format!("a type of {}", contents.combiner.name()),
            (name, _) => name,
        }
    }

    /// Names a derived type; the names of predefined types are fixed.
    pub fn set_name(&self, name: &str) -> Result<()> {
        match &self.0 {
            Repr::Builtin(builtin) => Err(Error::invalid(
                ErrorClass::Type,
                "datatype",
                builtin.name,
                "a derived type: the names of predefined types are fixed",
            )),
            Repr::Derived(derived) => {
                *derived.name.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_string());
                Ok(())
            }
        }
    }

    /// Whether both are the same object (not merely alike).
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Builtin(a), Repr::Builtin(b)) => a.named == b.named,
            (Repr::Derived(a), Repr::Derived(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Basic elements in one element of this type.
    pub fn elements(&self) -> u64 {
        match &self.0 {
            Repr::Builtin(builtin) => builtin.elements(),
            Repr::Derived(derived) => derived.signature.elements(),
        }
    }

    /// The basic types in packing order.
    pub fn signature(&self) -> Signature {
        match &self.0 {
            Repr::Builtin(builtin) => Signature::of(builtin),
            Repr::Derived(derived) => derived.signature.clone(),
        }
    }

    fn bounds(&self) -> Bounds {
        match &self.0 {
            Repr::Builtin(builtin) => {
                Bounds { lb: 0, ub: builtin.extent, marked: false, align: builtin.align }
            }
            Repr::Derived(derived) => derived.bounds,
        }
    }

    /// Whether the type map is empty: no data and no bounds of its own.
    fn is_void(&self) -> bool {
        self.size() == 0 && !self.bounds().marked
    }
}

impl fmt::Display for Datatype {
    /// What the type became, in one line: bounds, contiguous runs, and where they lie.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.layout().runs();
        let mean = if runs == 0 { 0.0 } else { self.size() as f64 / runs as f64 };
        write!(f, "{self:?}, true lower bound {}, true extent {}", self.true_lb(), self.true_extent())?;
        write!(f, ", {runs} runs of {mean:.1} bytes on average: ")?;
        match self.layout().piece() {
            Some(piece) => write!(f, "{piece}"),
            None => f.write_str("nothing"),
        }
    }
}

impl fmt::Debug for Datatype {
    /// The name, or how it was built, with size and extent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self.contents() {
            _ if !name.is_empty() => f.write_str(&name)?,
            Some(contents) => f.write_str(contents.combiner.name())?,
            None => {}
        }
        write!(f, " (size {}, lower bound {}, extent {})", self.size(), self.lb(), self.extent())
    }
}
