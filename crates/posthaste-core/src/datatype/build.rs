//! The constructors of derived datatypes, and what they remember for get_envelope and get_contents
//! (MPI-5.0 §5.1.2 to §5.1.13).
//!
//! `layout` keeps the result in its simplest form.
//!
//! What must stay true: every constructor checks its arguments before anything is computed; sizes, bounds and
//! offsets fit into 63 bits or the constructor refuses; the contents are kept as the user gave them, whatever
//! became of the layout.

use super::layout::{Layout, TooLarge};
use super::signature::Signature;
use super::{Bounds, Datatype, Repr, Type};
use crate::error::{Error, ErrorClass, Result};
use std::fmt::Display;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// How a type was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the constructor of its name")]
pub enum Combiner {
    Named,
    Dup,
    Contiguous,
    Vector,
    Hvector,
    Indexed,
    Hindexed,
    IndexedBlock,
    HindexedBlock,
    Struct,
    Subarray,
    Darray,
    F90Real,
    F90Complex,
    F90Integer,
    Resized,
    ValueIndex,
}

impl Combiner {
    /// The constructor's name in C.
    pub fn name(self) -> &'static str {
        match self {
            Self::Named => "predefined",
            Self::Dup => "MPI_Type_dup",
            Self::Contiguous => "MPI_Type_contiguous",
            Self::Vector => "MPI_Type_vector",
            Self::Hvector => "MPI_Type_create_hvector",
            Self::Indexed => "MPI_Type_indexed",
            Self::Hindexed => "MPI_Type_create_hindexed",
            Self::IndexedBlock => "MPI_Type_create_indexed_block",
            Self::HindexedBlock => "MPI_Type_create_hindexed_block",
            Self::Struct => "MPI_Type_create_struct",
            Self::Subarray => "MPI_Type_create_subarray",
            Self::Darray => "MPI_Type_create_darray",
            Self::F90Real => "MPI_Type_create_f90_real",
            Self::F90Complex => "MPI_Type_create_f90_complex",
            Self::F90Integer => "MPI_Type_create_f90_integer",
            Self::Resized => "MPI_Type_create_resized",
            Self::ValueIndex => "MPI_Type_get_value_index",
        }
    }
}

/// Order of the dimensions of an array in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last dimension is contiguous.
    C,
    /// The first dimension is contiguous.
    Fortran,
}

/// The arguments a type was built from.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The constructor.
    pub combiner: Combiner,
    /// Its integer arguments, in the order of MPI-5.0 §5.1.13 (counts, block lengths, displacements in elements).
    pub ints: Vec<i64>,
    /// Its address arguments (displacements in bytes, bounds).
    pub aints: Vec<i64>,
    /// Its datatype arguments, or the type that has its data (see [`Contents::type_arguments`]).
    pub types: Vec<Datatype>,
    /// Whether it was built by the large-count form (`_c`), so that its arguments are large counts.
    pub large: bool,
}

impl Contents {
    /// Numbers of integers, addresses, large counts and datatypes, as get_envelope returns them.
    pub fn envelope(&self) -> (usize, usize, usize, usize) {
        let (ints, counts) = self.split_large();
        let aints = if self.large { 0 } else { self.aints.len() };
        (ints.len(), aints, counts.len(), self.type_arguments().len())
    }

    /// The datatype arguments as the program gave them. A type of a Fortran kind had none and a pair two, but either
    /// has one child that says where its data lie, so that whoever walks down a type need not know them.
    pub fn type_arguments(&self) -> &[Datatype] {
        match (self.combiner, self.types.first().and_then(Datatype::contents)) {
            (Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer, _) => &[],
            (Combiner::ValueIndex, Some(record)) => &record.types,
            _ => &self.types,
        }
    }

    /// The integers and the large counts, as get_contents_c returns them. Without the large-count form there
    /// are no large counts.
    pub fn split_large(&self) -> (Vec<i64>, Vec<i64>) {
        match self.combiner {
            _ if !self.large => (self.ints.clone(), Vec::new()),
            // The number of dimensions and the order stay integers.
            Combiner::Subarray => match self.ints.as_slice() {
                [ndims, sizes @ .., order] => (vec![*ndims, *order], sizes.to_vec()),
                _ => (Vec::new(), Vec::new()),
            },
            // Only the sizes of the array are large: size of the grid, rank, number of dimensions, then sizes.
            Combiner::Darray => match self.ints.as_slice() {
                [size, rank, ndims, rest @ ..] if *ndims as usize <= rest.len() => {
                    let (sizes, rest) = rest.split_at(*ndims as usize);
                    ([&[*size, *rank, *ndims], rest].concat(), sizes.to_vec())
                }
                _ => (Vec::new(), Vec::new()),
            },
            _ => (Vec::new(), self.ints.iter().chain(&self.aints).copied().collect()),
        }
    }
}

/// One block of an irregular type.
#[derive(Clone, Copy)]
struct Block<'a> {
    length: i64,
    /// In bytes.
    displacement: i64,
    child: &'a Datatype,
}

impl Datatype {
    /// `count` elements one after the other.
    pub fn contiguous(count: i64, child: &Self) -> Result<Self> {
        check_count("count", count)?;
        let contents = Contents::of(Combiner::Contiguous, vec![count], vec![], child);
        regular(contents, count, 0, 1, child)
    }

    /// `count` blocks of `length` elements, `stride` elements apart.
    pub fn vector(count: i64, length: i64, stride: i64, child: &Self) -> Result<Self> {
        check_count("count", count)?;
        check_count("blocklength", length)?;
        let bytes = in_bytes("stride", stride, child)?;
        let contents = Contents::of(Combiner::Vector, vec![count, length, stride], vec![], child);
        regular(contents, length, bytes, count, child)
    }

    /// `count` blocks of `length` elements, `stride` bytes apart.
    pub fn hvector(count: i64, length: i64, stride: i64, child: &Self) -> Result<Self> {
        check_count("count", count)?;
        check_count("blocklength", length)?;
        let contents = Contents::of(Combiner::Hvector, vec![count, length], vec![stride], child);
        regular(contents, length, stride, count, child)
    }

    /// Blocks of differing lengths at displacements in elements.
    pub fn indexed(lengths: &[i64], displacements: &[i64], child: &Self) -> Result<Self> {
        let bytes = displacements_in_bytes(displacements, child)?;
        let ints = [&[lengths.len() as i64], lengths, displacements].concat();
        irregular(Contents::of(Combiner::Indexed, ints, vec![], child), lengths, &bytes)
    }

    /// Blocks of differing lengths at displacements in bytes.
    pub fn hindexed(lengths: &[i64], displacements: &[i64], child: &Self) -> Result<Self> {
        let ints = [&[lengths.len() as i64], lengths].concat();
        let contents = Contents::of(Combiner::Hindexed, ints, displacements.to_vec(), child);
        irregular(contents, lengths, displacements)
    }

    /// Blocks of one length at displacements in elements.
    pub fn indexed_block(length: i64, displacements: &[i64], child: &Self) -> Result<Self> {
        let bytes = displacements_in_bytes(displacements, child)?;
        let ints = [&[displacements.len() as i64, length], displacements].concat();
        let contents = Contents::of(Combiner::IndexedBlock, ints, vec![], child);
        irregular(contents, &vec![length; displacements.len()], &bytes)
    }

    /// Blocks of one length at displacements in bytes.
    pub fn hindexed_block(length: i64, displacements: &[i64], child: &Self) -> Result<Self> {
        let ints = vec![displacements.len() as i64, length];
        let contents = Contents::of(Combiner::HindexedBlock, ints, displacements.to_vec(), child);
        irregular(contents, &vec![length; displacements.len()], displacements)
    }

    /// Blocks of differing types and lengths at displacements in bytes.
    pub fn structure(lengths: &[i64], displacements: &[i64], types: &[Self]) -> Result<Self> {
        if types.len() != lengths.len() {
            let expected = format_args!("one for each of {} block lengths", lengths.len());
            return Err(Error::invalid(ErrorClass::Arg, "array_of_types", types.len(), expected));
        }
        let ints = [&[lengths.len() as i64], lengths].concat();
        let aints = displacements.to_vec();
        irregular(
            Contents { combiner: Combiner::Struct, ints, aints, types: types.to_vec(), large: false },
            lengths,
            displacements,
        )
    }

    /// The same data with new bounds.
    pub fn resized(child: &Self, lb: i64, extent: i64) -> Result<Self> {
        let ub = lb.checked_add(extent).ok_or_else(|| too_large("extent", extent))?;
        let contents = Contents::of(Combiner::Resized, vec![], vec![lb, extent], child);
        let bounds = Bounds { lb, ub, marked: true, align: child.bounds().align };
        finish(contents, child.layout().clone(), bounds, child.elements())
    }

    /// The same type under a new handle. It is committed if the original is.
    pub fn dup(child: &Self) -> Result<Self> {
        let contents = Contents::of(Combiner::Dup, vec![], vec![], child);
        let dup = finish(contents, child.layout().clone(), child.bounds(), child.elements())?;
        if child.is_committed() {
            dup.commit();
        }
        Ok(dup)
    }

    /// The same basic types one after the other without holes: what packing makes of an element.
    pub(super) fn packed(&self) -> Self {
        if self.is_contiguous() && self.true_lb() == 0 {
            return self.clone();
        }
        let size = self.size();
        let derived = Type {
            contents: Contents::of(Combiner::Contiguous, vec![1], vec![], self),
            layout: Layout::run(size),
            bounds: Bounds { lb: 0, ub: size as i64, marked: true, align: 1 },
            signature: self.signature(),
            uniform: self.uniform(),
            committed: AtomicBool::new(true),
            name: Mutex::new(None),
        };
        Self(Repr::Derived(Arc::new(derived)))
    }

    /// A block of an array: `subsizes` out of `sizes` elements, beginning at `starts`, in each dimension.
    pub fn subarray(
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: Order,
        child: &Self,
    ) -> Result<Self> {
        check_subarray(sizes, subsizes, starts)?;
        let extent = child.extent();
        let mut layout = child.layout().clone();
        let (mut stride, mut origin, mut elements) =
            (i128::from(extent), 0i128, i128::from(child.elements()));
        let dimensions: Vec<usize> = match order {
            Order::C => (0..sizes.len()).rev().collect(),
            Order::Fortran => (0..sizes.len()).collect(),
        };
        let fits = |value: i128| i64::try_from(value).map_err(|_| too_large("array_of_sizes", value));
        for dimension in dimensions {
            layout = layout
                .repeated(subsizes[dimension] as u64, fits(stride)?)
                .map_err(|TooLarge| too_large("array_of_subsizes", subsizes[dimension]))?;
            origin += i128::from(fits(stride)?) * i128::from(starts[dimension]);
            elements = i128::from(fits(elements)?) * i128::from(subsizes[dimension]);
            stride = i128::from(fits(stride)?) * i128::from(sizes[dimension]);
        }
        let layout = layout.moved(fits(origin)?).map_err(|TooLarge| too_large("array_of_starts", origin))?;
        // The lower bound is that of the whole array (MPI-5.0 §5.1.3), which is also its origin.
        let bounds = Bounds { lb: 0, ub: fits(stride)?, marked: true, align: child.bounds().align };
        let ints = [&[sizes.len() as i64], sizes, subsizes, starts, &[order as i64]].concat();
        let contents = Contents::of(Combiner::Subarray, ints, vec![], child);
        finish(contents, layout, bounds, fits(elements)? as u64)
    }

    /// Notes that the type just built came from the large-count form of its constructor. Without effect on a
    /// type that is in use already.
    #[must_use]
    pub fn from_large_counts(mut self) -> Self {
        if let Repr::Derived(derived) = &mut self.0
            && let Some(derived) = Arc::get_mut(derived)
        {
            derived.contents.large = true;
        }
        self
    }
}

impl Contents {
    pub(super) fn of(combiner: Combiner, ints: Vec<i64>, aints: Vec<i64>, child: &Datatype) -> Self {
        Self { combiner, ints, aints, types: vec![child.clone()], large: false }
    }
}

/// `count` blocks of `length` elements, `stride` bytes apart.
fn regular(contents: Contents, length: i64, stride: i64, count: i64, child: &Datatype) -> Result<Datatype> {
    let large = |TooLarge| {
        let what = format_args!("{count} blocks of {length} elements, {stride} bytes apart");
        too_large("datatype", what)
    };
    let layout = child.layout().repeated(length as u64, child.extent()).map_err(large)?;
    let layout = layout.repeated(count as u64, stride).map_err(large)?;
    let mut bounds = Gathered::new();
    if count > 0 {
        let reach = i128::from(stride) * i128::from(count - 1);
        bounds.add(Block { length, displacement: 0, child }, 0);
        bounds.add(Block { length, displacement: 0, child }, reach);
    }
    let elements = i128::from(child.elements()) * i128::from(length) * i128::from(count);
    let elements = u64::try_from(elements).map_err(|_| large(TooLarge))?;
    finish(contents, layout, bounds.finish()?, elements)
}

/// Blocks at displacements in bytes. The children are those of the contents: one for all, or one for each.
fn irregular(contents: Contents, lengths: &[i64], displacements: &[i64]) -> Result<Datatype> {
    if lengths.len() != displacements.len() {
        let expected = format_args!("one for each of {} block lengths", lengths.len());
        let got = displacements.len();
        return Err(Error::invalid(ErrorClass::Arg, "array_of_displacements", got, expected));
    }
    let shared = contents.types.len() == 1 && contents.combiner != Combiner::Struct;
    let mut bounds = Gathered::new();
    let mut parts = Vec::with_capacity(lengths.len());
    let mut elements = 0u64;
    for (i, (&length, &displacement)) in lengths.iter().zip(displacements).enumerate() {
        if length < 0 {
            let got = format_args!("{length} at index {i}");
            return Err(Error::invalid(ErrorClass::Arg, "array_of_blocklengths", got, "0 or more"));
        }
        let child = &contents.types[if shared { 0 } else { i }];
        let block = Block { length, displacement, child };
        bounds.add(block, 0);
        let large = |TooLarge| {
            let what =
                format_args!("a block of {length} elements at displacement {displacement} (index {i})");
            too_large("datatype", what)
        };
        let part = child.layout().repeated(length as u64, child.extent()).map_err(large)?;
        parts.push(part.moved(displacement).map_err(large)?);
        elements = child
            .elements()
            .checked_mul(length as u64)
            .and_then(|more| elements.checked_add(more))
            .ok_or_else(|| large(TooLarge))?;
    }
    let layout =
        Layout::sequence(parts).map_err(|TooLarge| too_large("datatype", "the sum of all blocks"))?;
    finish(contents, layout, bounds.finish()?, elements)
}

pub(super) fn finish(contents: Contents, layout: Layout, bounds: Bounds, elements: u64) -> Result<Datatype> {
    // The difference of the bounds is the extent and must fit.
    if bounds.ub.checked_sub(bounds.lb).is_none() {
        return Err(too_large("extent", i128::from(bounds.ub) - i128::from(bounds.lb)));
    }
    let mut kinds = contents.types.iter().filter(|child| child.size() > 0).map(Datatype::uniform);
    let first = kinds.next().flatten();
    let uniform = first.filter(|first| kinds.all(|kind| kind.is_some_and(|kind| kind.named == first.named)));
    let signature = match &contents.types[..] {
        types if contents.combiner == Combiner::Struct => {
            let lengths = contents.ints.iter().skip(1).map(|length| *length as u64);
            let parts: Vec<Signature> = types.iter().map(Datatype::signature).collect();
            Signature::sequence(lengths.zip(&parts))
        }
        [child] => child.signature().repeated(elements / child.elements().max(1)),
        _ => Signature::empty(),
    };
    let derived = Type {
        contents,
        layout,
        bounds,
        signature,
        uniform,
        committed: AtomicBool::new(false),
        name: Mutex::new(None),
    };
    Ok(Datatype(Repr::Derived(Arc::new(derived))))
}

/// Bounds of a union of blocks (MPI-5.0 §5.1.6 and §5.1.7).
struct Gathered {
    lb: i128,
    ub: i128,
    marked: bool,
    align: u64,
    any: bool,
}

impl Gathered {
    fn new() -> Self {
        Self { lb: 0, ub: 0, marked: false, align: 1, any: false }
    }

    /// Adds a block moved by `by` bytes.
    fn add(&mut self, block: Block<'_>, by: i128) {
        let child = block.child;
        if block.length == 0 || child.is_void() {
            return;
        }
        let bounds = child.bounds();
        self.align = self.align.max(bounds.align);
        // Marked bounds win over computed ones: the first marked block forgets what was there, and after it
        // unmarked blocks no longer count.
        if self.marked && !bounds.marked {
            return;
        }
        let reach = i128::from(child.extent()) * i128::from(block.length - 1);
        let origin = i128::from(block.displacement) + by;
        let lb = origin + i128::from(bounds.lb) + reach.min(0);
        let ub = origin + i128::from(bounds.ub) + reach.max(0);
        if !self.any || (bounds.marked && !self.marked) {
            (self.lb, self.ub) = (lb, ub);
        } else {
            (self.lb, self.ub) = (self.lb.min(lb), self.ub.max(ub));
        }
        (self.any, self.marked) = (true, self.marked || bounds.marked);
    }

    fn finish(mut self) -> Result<Bounds> {
        let align = i128::from(self.align);
        if !self.marked && align > 1 {
            // The extent is rounded up so that neighbours in an array are aligned (MPI-5.0 §5.1.6).
            let odd = (self.ub - self.lb).rem_euclid(align);
            self.ub += if odd == 0 { 0 } else { align - odd };
        }
        let fits = |bound: i128| i64::try_from(bound).map_err(|_| too_large("bound of the datatype", bound));
        Ok(Bounds { lb: fits(self.lb)?, ub: fits(self.ub)?, marked: self.marked, align: self.align })
    }
}

fn check_count(argument: &'static str, value: i64) -> Result<()> {
    if value >= 0 {
        return Ok(());
    }
    let class = if argument == "count" { ErrorClass::Count } else { ErrorClass::Arg };
    Err(Error::invalid(class, argument, value, "0 or more"))
}

fn check_subarray(sizes: &[i64], subsizes: &[i64], starts: &[i64]) -> Result<()> {
    let dimensions = sizes.len();
    let wrong = |argument, got: &dyn Display, expected: &dyn Display| {
        Err(Error::invalid(ErrorClass::Arg, argument, got, expected))
    };
    if dimensions == 0 {
        return wrong("ndims", &0, &"1 or more");
    }
    for (argument, list) in [("array_of_subsizes", subsizes), ("array_of_starts", starts)] {
        if list.len() != dimensions {
            return wrong(argument, &list.len(), &format_args!("one for each of {dimensions} dimensions"));
        }
    }
    for (i, ((&size, &subsize), &start)) in sizes.iter().zip(subsizes).zip(starts).enumerate() {
        if size < 1 {
            return wrong("array_of_sizes", &format_args!("{size} in dimension {i}"), &"1 or more");
        }
        if subsize < 1 || subsize > size {
            let got = format_args!("{subsize} in dimension {i}");
            return wrong("array_of_subsizes", &got, &format_args!("1 to the size {size}"));
        }
        if start < 0 || start > size - subsize {
            let got = format_args!("{start} in dimension {i}");
            let expected = format_args!("0 to {} (size {size} minus subsize {subsize})", size - subsize);
            return wrong("array_of_starts", &got, &expected);
        }
    }
    Ok(())
}

fn in_bytes(argument: &'static str, elements: i64, child: &Datatype) -> Result<i64> {
    elements.checked_mul(child.extent()).ok_or_else(|| too_large(argument, elements))
}

fn displacements_in_bytes(displacements: &[i64], child: &Datatype) -> Result<Vec<i64>> {
    displacements.iter().map(|&at| in_bytes("array_of_displacements", at, child)).collect()
}

pub(super) fn too_large(argument: &'static str, got: impl Display) -> Error {
    Error::invalid(ErrorClass::Arg, argument, got, "sizes, offsets and bounds within 63 bits")
}
