//! Collective operations between the two groups of an intercommunicator, on borrowed slices: what one group gives, the other one
//! gets (MPI-5.0 §6.2.2, §6.2.3).
//!
//! What must stay true: as in `collective`. No operation is in place, and lengths count by the ranks of the other group.

use super::Counts;
use super::collective::{block, check_length, read, written};
use super::reduction::{apart, check_counts, check_result};
use crate::buffer::{Equivalence, UserBuf};
use crate::coll::{Bridge, Operand, Pieces, Reduced, inter};
use crate::comm::Comm;
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::ROOT;
use crate::op::Op;
use crate::slice::Collective;

impl<'a> Collective<'a> {
    /// Everybody of both groups has started it.
    ///
    /// # Errors
    /// A communicator of one group.
    pub fn across_barrier(comm: &Comm) -> Result<Self> {
        Ok(Self::of(inter::barrier(bridge(comm)?)))
    }

    /// The root's `data` is copied to every rank of the other group. `root` is here and below a rank of the other group, `ROOT`, or
    /// `PROC_NULL` for who is in the root's group.
    ///
    /// # Errors
    /// A communicator of one group; a root that is none of these.
    pub fn across_bcast<T: Equivalence>(comm: &Comm, data: &'a mut [T], root: i32) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let data = written(data, data.len(), &datatype);
        inter::bcast(bridge(comm)?, Some(data), root).map(Self::of)
    }

    /// The `data` of the other group's ranks is collected in `all` on the root.
    ///
    /// # Errors
    /// As [`Collective::across_bcast`]; on the root an `all` that is no block for each rank of the other group.
    pub fn across_gather<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        all: &'a mut [T],
        root: i32,
    ) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let mut recv = None;
        if root == ROOT {
            let block = block("the length of all", all.len(), peers(comm).0)?;
            recv = Some(written(all, block, &datatype));
        }
        inter::gather(bridge(comm)?, Some(read(data, &datatype)), recv, root).map(Self::of)
    }

    /// As [`Collective::across_gather`], with blocks of different lengths.
    ///
    /// # Errors
    /// As [`Collective::across_bcast`]; on the root blocks outside of `all`, or one over another.
    pub fn across_gatherv<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        (all, counts): (&'a mut [T], &Counts<'_>),
        root: i32,
    ) -> Result<Self> {
        let recv =
            if root == ROOT { Some(counts.write("the length of all", all, peers(comm))?) } else { None };
        let (recv, datatype) = (recv.as_ref().map(Pieces::blocks), Datatype::of::<T>());
        inter::gatherv(bridge(comm)?, Some(read(data, &datatype)), recv, root).map(Self::of)
    }

    /// Each rank of the other group gets its block of the root's `all` in `data`.
    ///
    /// # Errors
    /// As [`Collective::across_bcast`]; on the root an `all` that is no block for each rank of the other group.
    pub fn across_scatter<T: Equivalence>(
        comm: &Comm,
        all: &'a [T],
        data: &'a mut [T],
        root: i32,
    ) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let mut send = None;
        if root == ROOT {
            let block = block("the length of all", all.len(), peers(comm).0)?;
            send = Some(Operand::new(UserBuf::borrowed(all), block as u64, &datatype));
        }
        inter::scatter(bridge(comm)?, send, Some(written(data, data.len(), &datatype)), root).map(Self::of)
    }

    /// As [`Collective::across_scatter`], with blocks of different lengths.
    ///
    /// # Errors
    /// As [`Collective::across_bcast`]; on the root blocks outside of `all`.
    pub fn across_scatterv<T: Equivalence>(
        comm: &Comm,
        (all, counts): (&'a [T], &Counts<'_>),
        data: &'a mut [T],
        root: i32,
    ) -> Result<Self> {
        let send =
            if root == ROOT { Some(counts.read("the length of all", all, peers(comm))?) } else { None };
        let (send, datatype) = (send.as_ref().map(Pieces::blocks), Datatype::of::<T>());
        inter::scatterv(bridge(comm)?, send, Some(written(data, data.len(), &datatype)), root).map(Self::of)
    }

    /// The `data` of the other group's ranks is collected in `all` on every rank.
    ///
    /// # Errors
    /// A communicator of one group; an `all` that is no block for each rank of the other group.
    pub fn across_allgather<T: Equivalence>(comm: &Comm, data: &'a [T], all: &'a mut [T]) -> Result<Self> {
        let block = block("the length of all", all.len(), peers(comm).0)?;
        let datatype = Datatype::of::<T>();
        let recv = written(all, block, &datatype);
        inter::allgather(bridge(comm)?, Some(read(data, &datatype)), recv).map(Self::of)
    }

    /// As [`Collective::across_allgather`], with blocks of different lengths.
    ///
    /// # Errors
    /// A communicator of one group; blocks outside of `all`, or one over another.
    pub fn across_allgatherv<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        (all, counts): (&'a mut [T], &Counts<'_>),
    ) -> Result<Self> {
        let recv = counts.write("the length of all", all, peers(comm))?;
        let datatype = Datatype::of::<T>();
        inter::allgatherv(bridge(comm)?, Some(read(data, &datatype)), recv.blocks()).map(Self::of)
    }

    /// Each rank of the other group gets its block of `data`, and their blocks are collected in `all`.
    ///
    /// # Errors
    /// A communicator of one group; a `data` or an `all` that is no block for each rank of the other group.
    pub fn across_alltoall<T: Equivalence>(comm: &Comm, data: &'a [T], all: &'a mut [T]) -> Result<Self> {
        let (others, _) = peers(comm);
        let (sent, received) = (
            block("the length of data", data.len(), others)?,
            block("the length of all", all.len(), others)?,
        );
        let datatype = Datatype::of::<T>();
        let send = Operand::new(UserBuf::borrowed(data), sent as u64, &datatype);
        inter::alltoall(bridge(comm)?, Some(send), written(all, received, &datatype)).map(Self::of)
    }

    /// As [`Collective::across_alltoall`], with blocks of different lengths.
    ///
    /// # Errors
    /// A communicator of one group; blocks outside of their slices, or one over another in `all`.
    pub fn across_alltoallv<T: Equivalence>(
        comm: &Comm,
        (data, sent): (&'a [T], &Counts<'_>),
        (all, received): (&'a mut [T], &Counts<'_>),
    ) -> Result<Self> {
        let send = sent.read("the length of data", data, peers(comm))?;
        let recv = received.write("the length of all", all, peers(comm))?;
        inter::alltoallv(bridge(comm)?, Some(send.blocks()), recv.blocks()).map(Self::of)
    }

    /// The `data` of the other group's ranks is combined into the root's `result`.
    ///
    /// # Errors
    /// As [`Collective::across_bcast`]; an operation that `T` does not have.
    pub fn across_reduce<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        result: &'a mut [T],
        op: &Op,
        root: i32,
    ) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let count = if root == ROOT { result.len() } else { data.len() };
        inter::reduce(bridge(comm)?, apart(data, result, count, &datatype), op, root).map(Self::of)
    }

    /// The `data` of the other group's ranks is combined into every rank's `result`.
    ///
    /// # Errors
    /// A communicator of one group; a `result` of another length; an operation that `T` does not have.
    pub fn across_allreduce<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        result: &'a mut [T],
        op: &Op,
    ) -> Result<Self> {
        check_length("the length of result", result.len(), data.len(), 1)?;
        let datatype = Datatype::of::<T>();
        inter::allreduce(bridge(comm)?, apart(data, result, data.len(), &datatype), op).map(Self::of)
    }

    /// The `data` of the other group's ranks is combined, and each rank of this one gets a block of it in `result`.
    ///
    /// # Errors
    /// A communicator of one group; a `data` that is no block for each rank of the own group, a `result` of another length than a
    /// block; an operation that `T` does not have.
    pub fn across_reduce_scatter_block<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        result: &'a mut [T],
        op: &Op,
    ) -> Result<Self> {
        let block = block("the length of data", data.len(), comm.size() as usize)?;
        check_result(result.len(), block)?;
        let datatype = Datatype::of::<T>();
        inter::reduce_scatter_block(bridge(comm)?, apart(data, result, block, &datatype), op).map(Self::of)
    }

    /// As [`Collective::across_reduce_scatter_block`], with blocks of different lengths, which all ranks of the own group know.
    ///
    /// # Errors
    /// A communicator of one group; counts that do not add up to the length of `data`; a `result` of another length than this
    /// rank's; an operation that `T` does not have.
    pub fn across_reduce_scatter<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        result: &'a mut [T],
        counts: &[usize],
        op: &Op,
    ) -> Result<Self> {
        let counts = check_counts(comm.size() as usize, data.len(), counts)?;
        check_result(result.len(), counts[comm.rank() as usize] as usize)?;
        let datatype = Datatype::of::<T>();
        let (send, recv) = (UserBuf::borrowed(data), UserBuf::borrowed_mut(result));
        let reduced = Reduced::new(Some(send), recv, &counts[..], &datatype);
        inter::reduce_scatter(bridge(comm)?, reduced, op).map(Self::of)
    }
}

fn bridge(comm: &Comm) -> Result<&Bridge> {
    let expected = "an intercommunicator";
    comm.bridge()
        .ok_or_else(|| Error::invalid(ErrorClass::Comm, "comm", "a communicator of one group", expected))
}

/// How many ranks the other group has.
fn peers(comm: &Comm) -> (usize, &'static str) {
    (comm.peers() as usize, "rank of the other group")
}
