//! C functions for Cartesian topologies, and which topology a communicator has (MPI-5.0 §8.5).

use std::ffi::c_int;

use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::topology::dims::balance;
use posthaste_core::topology::{self, Cart, Topology};

use super::room_for;
use crate::abi::constants::{MPI_CART, MPI_COMM_NULL, MPI_DIST_GRAPH, MPI_GRAPH, MPI_UNDEFINED};
use crate::abi::pointer::{In, Out};
use crate::abi::types::MPI_Comm;
use crate::call::mpi_fn;
use crate::comm::communicator::make;
use crate::layer::communicator::allocate_from;
use crate::layer::library::library;
use crate::mapping::ranks::rank_out;
use crate::object::communicator;
use crate::object::memory::length;

// Cartesian constructor.
mpi_fn! {
    /// MPI-5.0 §8.5.1. Ranks are reordered where fewer neighbours are then on different hosts.
    fn MPI_Cart_create / PMPI_Cart_create(comm_old: MPI_Comm, ndims: c_int, dims: In<c_int>,
        periods: In<c_int>, reorder: c_int, comm_cart: Out<MPI_Comm>) raises comm_old => {
        comm_cart.set("comm_cart", MPI_COMM_NULL)?;
        let old = communicator::find("comm_old", comm_old)?;
        make(comm_cart, grid(&old, ndims, dims, periods)?.plan(&old, reorder != 0, allocate_from(&old))?)
    }
    /// MPI-5.0 §8.5.2
    fn MPI_Dims_create / PMPI_Dims_create(nnodes: c_int, ndims: c_int, dims: Out<c_int>) anytime {
        let mut sizes = dims.slice("dims", length("ndims", ndims.into())?)?.to_vec();
        balance(nnodes, &mut sizes)?;
        sizes.into_iter().enumerate().try_for_each(|(at, size)| dims.set_at("dims", at, size))
    }
}

// Inquiry.
mpi_fn! {
    /// MPI-5.0 §8.5.5
    fn MPI_Topo_test / PMPI_Topo_test(comm: MPI_Comm, status: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        status.set("status", match topology::of(&comm) {
            Some(Topology::Cart(_)) => MPI_CART,
            Some(Topology::Graph(_)) => MPI_GRAPH,
            Some(Topology::DistGraph(_)) => MPI_DIST_GRAPH,
            None => MPI_UNDEFINED,
        })
    }
    /// MPI-5.0 §8.5.5
    fn MPI_Cartdim_get / PMPI_Cartdim_get(comm: MPI_Comm, ndims: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        ndims.set("ndims", topology::cart(&comm)?.dimensions() as c_int)
    }
    /// MPI-5.0 §8.5.5
    fn MPI_Cart_get / PMPI_Cart_get(comm: MPI_Comm, maxdims: c_int, dims: Out<c_int>, periods: Out<c_int>,
        coords: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let cart = topology::cart(&comm)?;
        room_for("maxdims", maxdims, "dimensions", cart.dimensions())?;
        for (at, ((size, periodic), coord)) in cart.sizes().zip(cart.coords(comm.rank())?).enumerate() {
            dims.set_at("dims", at, size)?;
            periods.set_at("periods", at, c_int::from(periodic))?;
            coords.set_at("coords", at, coord)?;
        }
        Ok(())
    }
    /// MPI-5.0 §8.5.5
    fn MPI_Cart_rank / PMPI_Cart_rank(comm: MPI_Comm, coords: In<c_int>, rank: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let cart = topology::cart(&comm)?;
        rank.set("rank", cart.rank(coords.slice("coords", cart.dimensions())?)?)
    }
    /// MPI-5.0 §8.5.5
    fn MPI_Cart_coords / PMPI_Cart_coords(comm: MPI_Comm, rank: c_int, maxdims: c_int, coords: Out<c_int>)
        raises comm => {
        let comm = communicator::find("comm", comm)?;
        let cart = topology::cart(&comm)?;
        let found = cart.coords(rank)?;
        room_for("maxdims", maxdims, "dimensions", cart.dimensions())?;
        found.into_iter().enumerate().try_for_each(|(at, coord)| coords.set_at("coords", at, coord))
    }
}

// Shift, partition, mapping.
mpi_fn! {
    /// MPI-5.0 §8.5.6
    fn MPI_Cart_shift / PMPI_Cart_shift(comm: MPI_Comm, direction: c_int, disp: c_int,
        rank_source: Out<c_int>, rank_dest: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let (source, dest) = topology::cart(&comm)?.shift(comm.rank(), direction, disp)?;
        rank_source.set("rank_source", rank_out(source))?;
        rank_dest.set("rank_dest", rank_out(dest))
    }
    /// MPI-5.0 §8.5.7
    fn MPI_Cart_sub / PMPI_Cart_sub(comm: MPI_Comm, remain_dims: In<c_int>, newcomm: Out<MPI_Comm>)
        raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let comm = communicator::find("comm", comm)?;
        let cart = topology::cart(&comm)?;
        let remain = remain_dims.slice("remain_dims", cart.dimensions())?;
        make(newcomm, cart.plan_sub(&comm, remain, allocate_from(&comm))?)
    }
    /// MPI-5.0 §8.5.8. The rank that MPI_Cart_create gives where it may reorder. In a grid without places nobody has one.
    fn MPI_Cart_map / PMPI_Cart_map(comm: MPI_Comm, ndims: c_int, dims: In<c_int>, periods: In<c_int>,
        newrank: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let sizes = dims.slice("dims", length("ndims", ndims.into())?)?;
        let is_empty = sizes.contains(&0) && sizes.iter().all(|size| *size >= 0) && !library().strict;
        let rank = comm.rank() as u32;
        let place = if is_empty { None } else { grid(&comm, ndims, dims, periods)?.place_of(&comm, rank) };
        newrank.set("newrank", place.map_or(MPI_UNDEFINED, |place| place as c_int))
    }
}

/// The grid that the arguments describe.
fn grid(comm: &Comm, ndims: c_int, dims: In<c_int>, periods: In<c_int>) -> Result<Cart> {
    let ndims = length("ndims", ndims.into())?;
    Cart::new(comm, dims.slice("dims", ndims)?, periods.slice("periods", ndims)?)
}
