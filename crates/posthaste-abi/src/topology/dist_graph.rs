//! C functions for graphs of which each rank describes a part (MPI-5.0 §8.5.4, §8.5.5).

use std::ffi::c_int;

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::topology::{self, DistGraph, Edges};

use crate::abi::constants::{MPI_COMM_NULL, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Info};
use crate::call::mpi_fn;
use crate::comm::communicator::make;
use crate::layer::communicator::allocate_from;
use crate::layer::library::library;
use crate::object::communicator;
use crate::object::info;
use crate::object::memory::length;

// Constructors.
mpi_fn! {
    /// MPI-5.0 §8.5.4. Ranks are never reordered, and no hint has an effect.
    fn MPI_Dist_graph_create_adjacent / PMPI_Dist_graph_create_adjacent(comm_old: MPI_Comm, indegree: c_int,
        sources: In<c_int>, sourceweights: In<c_int>, outdegree: c_int, destinations: In<c_int>,
        destweights: In<c_int>, info: MPI_Info, reorder: c_int, comm_dist_graph: Out<MPI_Comm>)
        raises comm_old => {
        let _ = reorder;
        comm_dist_graph.set("comm_dist_graph", MPI_COMM_NULL)?;
        let old = communicator::find("comm_old", comm_old)?;
        info::hints(info)?;
        let (indegree, outdegree) = (degree("indegree", indegree)?, degree("outdegree", outdegree)?);
        let from = weights("sourceweights", &sourceweights, indegree)?;
        let to = weights("destweights", &destweights, outdegree)?;
        let both = match (from, to) {
            (Some(from), Some(to)) => Some([from, to]),
            (None, None) => None,
            (Some(_), None) => return Err(unlike("destweights", "sourceweights")),
            (None, Some(_)) => return Err(unlike("sourceweights", "destweights")),
        };
        let (sources, destinations) =
            (sources.slice("sources", indegree)?, destinations.slice("destinations", outdegree)?);
        let graph = DistGraph::adjacent(&old, sources, destinations, both)?;
        make(comm_dist_graph, graph.plan(&old, "MPI_Dist_graph_create_adjacent", allocate_from(&old))?)
    }
    /// MPI-5.0 §8.5.4. Ranks are never reordered, and no hint has an effect.
    fn MPI_Dist_graph_create / PMPI_Dist_graph_create(comm_old: MPI_Comm, n: c_int, sources: In<c_int>,
        degrees: In<c_int>, destinations: In<c_int>, weights: In<c_int>, info: MPI_Info, reorder: c_int,
        comm_dist_graph: Out<MPI_Comm>) raises comm_old => {
        let _ = reorder;
        comm_dist_graph.set("comm_dist_graph", MPI_COMM_NULL)?;
        let old = communicator::find("comm_old", comm_old)?;
        info::hints(info)?;
        let n = degree("n", n)?;
        let degrees = degrees.slice("degrees", n)?;
        let count = Edges::count(degrees)?;
        let edges = Edges {
            sources: sources.slice("sources", n)?,
            degrees,
            destinations: destinations.slice("destinations", count)?,
            weights: self::weights("weights", &weights, count)?,
        };
        let (schedule, announced) = edges.plan(&old)?;
        library().world.run(schedule)?;
        let (schedule, delivered) = announced.plan()?;
        library().world.run(schedule)?;
        make(comm_dist_graph, delivered.finish()?.plan(&old, "MPI_Dist_graph_create", allocate_from(&old))?)
    }
}

// Inquiry.
mpi_fn! {
    /// MPI-5.0 §8.5.5
    fn MPI_Dist_graph_neighbors_count / PMPI_Dist_graph_neighbors_count(comm: MPI_Comm, indegree: Out<c_int>,
        outdegree: Out<c_int>, weighted: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let graph = topology::dist_graph(&comm)?;
        indegree.set("indegree", graph.sources().len() as c_int)?;
        outdegree.set("outdegree", graph.destinations().len() as c_int)?;
        weighted.set("weighted", c_int::from(graph.weights().is_some()))
    }
    /// MPI-5.0 §8.5.5. Where there is less room than there are neighbours, the first of them are given.
    fn MPI_Dist_graph_neighbors / PMPI_Dist_graph_neighbors(comm: MPI_Comm, maxindegree: c_int,
        sources: Out<c_int>, sourceweights: Out<c_int>, maxoutdegree: c_int, destinations: Out<c_int>,
        destweights: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let graph = topology::dist_graph(&comm)?;
        let room = [degree("maxindegree", maxindegree)?, degree("maxoutdegree", maxoutdegree)?];
        let first = |list: &[c_int], room: usize| list[..room.min(list.len())].to_vec();
        sources.set_all("sources", &first(graph.sources(), room[0]))?;
        destinations.set_all("destinations", &first(graph.destinations(), room[1]))?;
        let Some([from, to]) = graph.weights() else { return Ok(()) };
        if sourceweights.address() != MPI_UNWEIGHTED {
            sourceweights.set_all("sourceweights", &first(from, room[0]))?;
        }
        if destweights.address() != MPI_UNWEIGHTED {
            destweights.set_all("destweights", &first(to, room[1]))?;
        }
        Ok(())
    }
}

fn degree(argument: &'static str, degree: c_int) -> Result<usize> {
    length(argument, degree.into())
}

/// Weights of so many edges; `None` for `MPI_UNWEIGHTED`.
fn weights<'a>(argument: &'static str, weights: &'a In<c_int>, edges: usize) -> Result<Option<&'a [c_int]>> {
    match weights.address() {
        MPI_UNWEIGHTED => Ok(None),
        MPI_WEIGHTS_EMPTY if edges == 0 => Ok(Some(&[])),
        MPI_WEIGHTS_EMPTY => {
            let expected = format_args!("a weight for each edge, {edges}, or MPI_UNWEIGHTED");
            Err(Error::invalid(ErrorClass::Arg, argument, "MPI_WEIGHTS_EMPTY", expected))
        }
        _ => weights.slice(argument, edges).map(Some),
    }
}

#[cold]
fn unlike(argument: &'static str, other: &str) -> Error {
    let expected = format_args!("weights, as {other} has them, or MPI_UNWEIGHTED for both");
    Error::invalid(ErrorClass::Arg, argument, "MPI_UNWEIGHTED", expected)
}
