//! Buffer arguments that own their description: whoever has them may look where the memory lies before an operation takes it.
//!
//! What must stay true: a word for an address ([`Base`]) and the description that it was given for do not part.

use crate::buffer::{Base, UserBuf};
use crate::coll::alltoall::TypedBlocks;
use crate::coll::plan::{Blocks, Operand};
use crate::datatype::{Array, Datatype};
use crate::ids::PROC_NULL;

/// So many elements of a datatype; the owner of an [`Operand`].
#[derive(Debug)]
pub struct Data {
    buf: UserBuf,
    count: u64,
    datatype: Datatype,
}

impl Data {
    /// Elements in the program's memory.
    pub fn at(base: Base, count: u64, datatype: Datatype) -> Self {
        Self { buf: base.buf(), count, datatype }
    }

    /// The argument.
    pub fn operand(&self) -> Operand<'_> {
        Operand::new(self.buf, self.count, &self.datatype)
    }

    /// The memory of one block for each of these neighbours; `MPI_PROC_NULL` has a block that nobody touches.
    pub fn memory_of<'a>(&'a self, neighbors: &'a [i32]) -> impl Iterator<Item = Array<'a>> + Clone {
        let block = self.datatype.extent().wrapping_mul(self.count as i64) as isize;
        let somebody = neighbors.iter().enumerate().filter(|(_, rank)| **rank != PROC_NULL);
        somebody.map(move |(at, _)| Array {
            address: self.buf.address().wrapping_add_signed(block.wrapping_mul(at as isize)),
            count: self.count,
            datatype: &self.datatype,
        })
    }

    /// The memory of one block for each of so many ranks.
    pub fn memory(&self, ranks: usize) -> impl Iterator<Item = Array<'_>> + Clone {
        let count = self.count.saturating_mul(ranks as u64);
        std::iter::once(Array { address: self.buf.address(), count, datatype: &self.datatype })
    }
}

/// A block for each rank; the owner of [`Blocks`].
#[derive(Debug)]
pub struct Pieces {
    buf: UserBuf,
    counts: Vec<u64>,
    displacements: Vec<i64>,
    datatype: Datatype,
}

impl Pieces {
    /// Blocks in the program's memory; displacements are in extents of the datatype.
    pub fn at(base: Base, counts: Vec<u64>, displacements: Vec<i64>, datatype: Datatype) -> Self {
        Self::new(base.buf(), counts, displacements, datatype)
    }

    /// See [`Pieces::at`].
    pub(crate) fn new(buf: UserBuf, counts: Vec<u64>, displacements: Vec<i64>, datatype: Datatype) -> Self {
        Self { buf, counts, displacements, datatype }
    }

    /// The argument.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks {
            buf: self.buf,
            counts: &self.counts,
            displacements: &self.displacements,
            datatype: &self.datatype,
        }
    }

    /// The memory of all blocks.
    pub fn memory(&self) -> impl Iterator<Item = Array<'_>> + Clone {
        let extent = self.datatype.extent();
        self.counts.iter().zip(&self.displacements).map(move |(count, displacement)| {
            let address = self.buf.address().wrapping_add_signed(displacement.wrapping_mul(extent) as isize);
            Array { address, count: *count, datatype: &self.datatype }
        })
    }
}

/// A block of its own type for each rank; the owner of [`TypedBlocks`].
#[derive(Debug)]
pub struct TypedPieces {
    buf: UserBuf,
    counts: Vec<u64>,
    displacements: Vec<i64>,
    datatypes: Vec<Datatype>,
}

impl TypedPieces {
    /// Blocks in the program's memory; displacements are in bytes.
    pub fn at(base: Base, counts: Vec<u64>, displacements: Vec<i64>, datatypes: Vec<Datatype>) -> Self {
        Self { buf: base.buf(), counts, displacements, datatypes }
    }

    /// The argument.
    pub fn blocks(&self) -> TypedBlocks<'_> {
        TypedBlocks {
            buf: self.buf,
            counts: &self.counts,
            displacements: &self.displacements,
            datatypes: &self.datatypes,
        }
    }

    /// The memory of all blocks.
    pub fn memory(&self) -> impl Iterator<Item = Array<'_>> + Clone {
        let blocks = self.counts.iter().zip(&self.displacements).zip(&self.datatypes);
        blocks.map(|((count, displacement), datatype)| Array {
            address: self.buf.address().wrapping_add_signed(*displacement as isize),
            count: *count,
            datatype,
        })
    }
}
