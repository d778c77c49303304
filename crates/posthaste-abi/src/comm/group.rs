//! C functions for groups of processes (MPI-5.0 §7.3).

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use posthaste_core::error::Result;
use posthaste_core::group::Group;
use posthaste_core::ids::Peer;

use crate::abi::constants::{MPI_GROUP_EMPTY, MPI_GROUP_NULL, MPI_UNDEFINED};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Group, MPI_Session};
use crate::call::mpi_fn;
use crate::layer::communicator::session_of;
use crate::layer::library::library;
use crate::mapping::ranks::{self, rank_in, rank_out};
use crate::object::communicator;
use crate::object::group::{self, find, remove, store};
use crate::object::memory::length;
use crate::object::session;
use crate::object::site::Site;

// Accessors.
mpi_fn! {
    /// MPI-5.0 §7.3.1
    fn MPI_Group_size / PMPI_Group_size(group: MPI_Group, size: Out<c_int>) raises Site::Process => {
        size.set("size", find("group", group)?.size() as c_int)
    }
    /// MPI-5.0 §7.3.1
    fn MPI_Group_rank / PMPI_Group_rank(group: MPI_Group, rank: Out<c_int>) raises Site::Process => {
        let me = Peer(library().world.rank());
        rank.set("rank", find("group", group)?.rank_of(me).map_or(MPI_UNDEFINED, |rank| rank as c_int))
    }
    /// MPI-5.0 §7.3.1
    fn MPI_Group_translate_ranks / PMPI_Group_translate_ranks(group1: MPI_Group, n: c_int, ranks1: In<c_int>,
        group2: MPI_Group, ranks2: Out<c_int>) raises Site::Process => {
        let (from, to) = (find("group1", group1)?, find("group2", group2)?);
        let ranks = ranks1.slice("ranks1", length("n", n.into())?)?;
        let ranks: Vec<_> = ranks.iter().map(|rank| rank_in(*rank)).collect();
        for (at, rank) in from.translate(&ranks, &to)?.into_iter().enumerate() {
            ranks2.set_at("ranks2", at, rank.map_or(MPI_UNDEFINED, rank_out))?;
        }
        Ok(())
    }
    /// MPI-5.0 §7.3.1
    fn MPI_Group_compare / PMPI_Group_compare(group1: MPI_Group, group2: MPI_Group, result: Out<c_int>)
        raises Site::Process => {
        let (one, other) = (find("group1", group1)?, find("group2", group2)?);
        result.set("result", ranks::comparison(one.compare(&other)))
    }
}

// Constructors and destructor.
mpi_fn! {
    /// MPI-5.0 §7.3.2
    fn MPI_Comm_group / PMPI_Comm_group(comm: MPI_Comm, group: Out<MPI_Group>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        group.set("group", store(comm.group().clone(), session_of(&comm))?)
    }
    /// MPI-5.0 §7.3.2
    fn MPI_Group_union / PMPI_Group_union(group1: MPI_Group, group2: MPI_Group, newgroup: Out<MPI_Group>)
        raises Site::Process => {
        let (one, other) = (find("group1", group1)?, find("group2", group2)?);
        make(newgroup, &[group1, group2], one.union(&other))
    }
    /// MPI-5.0 §7.3.2
    fn MPI_Group_intersection / PMPI_Group_intersection(group1: MPI_Group, group2: MPI_Group, newgroup: Out<MPI_Group>)
        raises Site::Process => {
        let (one, other) = (find("group1", group1)?, find("group2", group2)?);
        make(newgroup, &[group1, group2], one.intersection(&other))
    }
    /// MPI-5.0 §7.3.2
    fn MPI_Group_difference / PMPI_Group_difference(group1: MPI_Group, group2: MPI_Group, newgroup: Out<MPI_Group>)
        raises Site::Process => {
        let (one, other) = (find("group1", group1)?, find("group2", group2)?);
        make(newgroup, &[group1, group2], one.difference(&other))
    }
    /// MPI-5.0 §7.3.2
    fn MPI_Group_incl / PMPI_Group_incl(group: MPI_Group, n: c_int, ranks: In<c_int>, newgroup: Out<MPI_Group>)
        raises Site::Process => {
        let found = find("group", group)?;
        make(newgroup, &[group], found.incl(ranks.slice("ranks", length("n", n.into())?)?)?)
    }
    /// MPI-5.0 §7.3.2
    fn MPI_Group_range_incl / PMPI_Group_range_incl(group: MPI_Group, n: c_int, ranges: Out<[c_int; 3]>,
        newgroup: Out<MPI_Group>) raises Site::Process => {
        let found = find("group", group)?;
        make(newgroup, &[group], found.range_incl(ranges.slice("ranges", length("n", n.into())?)?)?)
    }
    /// MPI-5.0 §7.3.2
    fn MPI_Group_excl / PMPI_Group_excl(group: MPI_Group, n: c_int, ranks: In<c_int>, newgroup: Out<MPI_Group>)
        raises Site::Process => {
        let found = find("group", group)?;
        make(newgroup, &[group], found.excl(ranks.slice("ranks", length("n", n.into())?)?)?)
    }
    /// MPI-5.0 §7.3.2
    fn MPI_Group_range_excl / PMPI_Group_range_excl(group: MPI_Group, n: c_int, ranges: Out<[c_int; 3]>,
        newgroup: Out<MPI_Group>) raises Site::Process => {
        let found = find("group", group)?;
        make(newgroup, &[group], found.range_excl(ranges.slice("ranges", length("n", n.into())?)?)?)
    }
    /// MPI-5.0 §7.3.3
    fn MPI_Group_free / PMPI_Group_free(group: Out<MPI_Group>) raises Site::Process => {
        let handle = group.get("group")?;
        // MPI_GROUP_EMPTY may come out of a constructor, so programs free it like any other.
        if handle != MPI_GROUP_EMPTY {
            remove(handle)?;
        }
        group.set("group", MPI_GROUP_NULL)
    }
}

mpi_fn! {
    /// MPI-5.0 §7.3.2
    fn MPI_Group_from_session_pset / PMPI_Group_from_session_pset(session: MPI_Session, pset_name: In<c_char>,
        newgroup: Out<MPI_Group>) raises session => {
        newgroup.set("newgroup", MPI_GROUP_NULL)?;
        session::find("session", session)?;
        let group = library().world.process_set(&pset_name.text("pset_name")?)?;
        newgroup.set("newgroup", store(Arc::new(group), Some(session.number()))?)
    }
}

/// Gives a group to the program that was made of others.
fn make(newgroup: Out<MPI_Group>, of: &[MPI_Group], group: Group) -> Result<()> {
    newgroup.set("newgroup", MPI_GROUP_NULL)?;
    let session = of.iter().find_map(|of| group::session_of(*of));
    newgroup.set("newgroup", store(Arc::new(group), session)?)
}
