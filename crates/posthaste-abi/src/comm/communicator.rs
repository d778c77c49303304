//! C functions for communicators and intercommunicators (MPI-5.0 §7.4, §7.6).

use std::ffi::{c_char, c_int};
use std::sync::{Arc, Mutex, PoisonError};

use posthaste_core::attribute::Attributes;
use posthaste_core::coll::Schedule;
use posthaste_core::comm::{Comm, Creation};
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::group::Group;
use posthaste_core::info::Info;
use posthaste_core::request::Status;
use posthaste_core::world::{Split, TYPE};

use crate::abi::constants::{
    MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_HW_UNGUIDED,
    MPI_COMM_TYPE_RESOURCE_GUIDED, MPI_COMM_TYPE_SHARED, MPI_COMM_WORLD, MPI_MAX_OBJECT_NAME, MPI_UNDEFINED,
};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Group, MPI_Info, MPI_Request};
use crate::call::mpi_fn;
use crate::layer::attribute::KEYVALS;
use crate::layer::bsend;
use crate::layer::communicator::{adorn, allocate_from, copy_attributes, duplicate, session_of};
use crate::layer::library::library;
use crate::layer::object_ref::ObjectRef;
use crate::layer::request::AtEnd;
use crate::mapping::ranks::{self, rank_in};
use crate::object::attribute;
use crate::object::communicator::{self, Reserved};
use crate::object::group;
use crate::object::info;
use crate::object::object_name;
use crate::object::site::Site;
use crate::request::completion;

// Accessors.
mpi_fn! {
    /// MPI-5.0 §7.4.1
    fn MPI_Comm_size / PMPI_Comm_size(comm: MPI_Comm, size: Out<c_int>) raises comm => {
        size.set("size", communicator::find("comm", comm)?.size())
    }
    /// MPI-5.0 §7.4.1
    fn MPI_Comm_rank / PMPI_Comm_rank(comm: MPI_Comm, rank: Out<c_int>) raises comm => {
        rank.set("rank", communicator::find("comm", comm)?.rank())
    }
    /// MPI-5.0 §7.4.1
    fn MPI_Comm_compare / PMPI_Comm_compare(comm1: MPI_Comm, comm2: MPI_Comm, result: Out<c_int>)
        raises comm1 => {
        let one = communicator::find("comm1", comm1)?;
        let other = communicator::find("comm2", comm2)?;
        result.set("result", ranks::comparison(one.compare(&other)))
    }
    /// MPI-5.0 §7.6.1
    fn MPI_Comm_test_inter / PMPI_Comm_test_inter(comm: MPI_Comm, flag: Out<c_int>) raises comm => {
        flag.set("flag", c_int::from(communicator::find("comm", comm)?.remote().is_some()))
    }
    /// MPI-5.0 §7.8
    fn MPI_Comm_set_name / PMPI_Comm_set_name(comm: MPI_Comm, comm_name: In<c_char>) raises comm => {
        let name = object_name("comm_name", comm_name)?;
        communicator::find("comm", comm)?.set_name(&name);
        Ok(())
    }
    /// MPI-5.0 §7.8
    fn MPI_Comm_get_name / PMPI_Comm_get_name(comm: MPI_Comm, comm_name: Out<c_char>, resultlen: Out<c_int>)
        raises comm => {
        let name = if comm == MPI_COMM_NULL {
            "MPI_COMM_NULL".to_string()
        } else {
            communicator::find("comm", comm)?.name()
        };
        resultlen.set("resultlen", comm_name.set_text("comm_name", &name, MPI_MAX_OBJECT_NAME as usize)?)
    }
}

// Destructor.
mpi_fn! {
    /// MPI-5.0 §7.4.3. Messages under way go on: they hold what they need.
    fn MPI_Comm_free / PMPI_Comm_free(comm: Out<MPI_Comm>) raises site_of(comm) => {
        check_freeable(comm.get("comm")?)?;
        free(comm)
    }
}

// Constructors.
mpi_fn! {
    /// MPI-5.0 §7.4.2
    fn MPI_Comm_dup / PMPI_Comm_dup(comm: MPI_Comm, newcomm: Out<MPI_Comm>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        newcomm.set("newcomm", dup(comm, None)?)
    }
    /// MPI-5.0 §7.4.2
    fn MPI_Comm_dup_with_info / PMPI_Comm_dup_with_info(comm: MPI_Comm, info: MPI_Info,
        newcomm: Out<MPI_Comm>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let info = info::hints(info)?;
        newcomm.set("newcomm", dup(comm, Some(info))?)
    }
    /// MPI-5.0 §7.4.2
    fn MPI_Comm_idup / PMPI_Comm_idup(comm: MPI_Comm, newcomm: Out<MPI_Comm>, request: Out<MPI_Request>)
        raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        idup(comm, None, newcomm, request)
    }
    /// MPI-5.0 §7.4.2
    fn MPI_Comm_idup_with_info / PMPI_Comm_idup_with_info(comm: MPI_Comm, info: MPI_Info,
        newcomm: Out<MPI_Comm>, request: Out<MPI_Request>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let info = info::hints(info)?;
        idup(comm, Some(info), newcomm, request)
    }
    /// MPI-5.0 §7.4.2
    fn MPI_Comm_create / PMPI_Comm_create(comm: MPI_Comm, group: MPI_Group, newcomm: Out<MPI_Comm>)
        raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let (comm, group) = (communicator::find("comm", comm)?, group::find("group", group)?);
        make(newcomm, comm.plan_create(&group, allocate_from(&comm))?)
    }
    /// MPI-5.0 §7.4.2
    fn MPI_Comm_create_group / PMPI_Comm_create_group(comm: MPI_Comm, group: MPI_Group, tag: c_int,
        newcomm: Out<MPI_Comm>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let (comm, group) = (communicator::find("comm", comm)?, group::find("group", group)?);
        // Only members call it; programs in which all do expect the others to get MPI_COMM_NULL.
        let me = comm.group().peer(comm.rank() as u32);
        if comm.remote().is_none() && me.is_some_and(|me| group.rank_of(me).is_none()) {
            return Ok(());
        }
        make(newcomm, comm.plan_create_group(&group, tag, allocate_from(&comm))?)
    }
    /// MPI-5.0 §7.4.2
    fn MPI_Comm_split / PMPI_Comm_split(comm: MPI_Comm, color: c_int, key: c_int, newcomm: Out<MPI_Comm>)
        raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let color = (color != MPI_UNDEFINED).then_some(color);
        let comm = communicator::find("comm", comm)?;
        make(newcomm, comm.plan_split(color, key, allocate_from(&comm))?)
    }
    /// MPI-5.0 §7.4.2. Of a kind of hardware that nobody knows, and of one that this process is not restricted to, nothing is
    /// shared.
    fn MPI_Comm_split_type / PMPI_Comm_split_type(comm: MPI_Comm, split_type: c_int, key: c_int,
        info: MPI_Info, newcomm: Out<MPI_Comm>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let hints = info::hints(info)?;
        let split = match split_type {
            MPI_COMM_TYPE_SHARED => Some(Split::Shared),
            MPI_COMM_TYPE_HW_GUIDED => Some(Split::Guided),
            MPI_COMM_TYPE_RESOURCE_GUIDED => Some(Split::Resource),
            MPI_COMM_TYPE_HW_UNGUIDED => Some(Split::Unguided),
            MPI_UNDEFINED => None,
            _ => return Err(Error::invalid(ErrorClass::Arg, "split_type", split_type,
                "MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_HW_GUIDED, \
                 MPI_COMM_TYPE_RESOURCE_GUIDED or MPI_UNDEFINED")),
        };
        let comm = communicator::find("comm", comm)?;
        let part = library().world.part_in(&comm, split, &hints)?;
        let color = part.map(|part| part.color);
        let (schedule, creation) = comm.plan_split(color, key, allocate_from(&comm))?;
        library().world.run(schedule)?;
        let made = library().world.finish(creation)?;
        if let Some((made, found)) = made.as_ref().zip(part.and_then(|part| part.found)) {
            let hint = Info::default();
            hint.set(TYPE, found.as_bytes())?;
            library().world.set_hints(made, &hint)?;
        }
        newcomm.set("newcomm", communicator::store(made)?)
    }
}

// Hints.
mpi_fn! {
    /// MPI-5.0 §7.4.4. `mpi_assert_no_any_tag` and `mpi_assert_no_any_source` have an effect; other hints are kept, and
    /// other promises not even that.
    fn MPI_Comm_set_info / PMPI_Comm_set_info(comm: MPI_Comm, info: MPI_Info) raises comm => {
        library().world.set_hints(&*communicator::find("comm", comm)?, &*info::hints(info)?)
    }
    /// MPI-5.0 §7.4.4
    fn MPI_Comm_get_info / PMPI_Comm_get_info(comm: MPI_Comm, info_used: Out<MPI_Info>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        info_used.set("info_used", info::store(comm.hints())?)
    }
}

// Intercommunicators.
mpi_fn! {
    /// MPI-5.0 §7.6.1
    fn MPI_Comm_remote_size / PMPI_Comm_remote_size(comm: MPI_Comm, size: Out<c_int>) raises comm => {
        size.set("size", remote(&*communicator::find("comm", comm)?)?.size() as c_int)
    }
    /// MPI-5.0 §7.6.1
    fn MPI_Comm_remote_group / PMPI_Comm_remote_group(comm: MPI_Comm, group: Out<MPI_Group>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        group.set("group", group::store(remote(&comm)?.clone(), session_of(&comm))?)
    }
    /// MPI-5.0 §7.6.2. Only the leader looks at `peer_comm` and `remote_leader`.
    fn MPI_Intercomm_create / PMPI_Intercomm_create(local_comm: MPI_Comm, local_leader: c_int,
        peer_comm: MPI_Comm, remote_leader: c_int, tag: c_int, newintercomm: Out<MPI_Comm>)
        raises local_comm => {
        newintercomm.set("newintercomm", MPI_COMM_NULL)?;
        let local = communicator::find("local_comm", local_comm)?;
        let peer = communicator::find("peer_comm", peer_comm);
        let peer = peer.as_deref().map_err(Error::clone);
        let (local_leader, remote_leader) = (rank_in(local_leader), rank_in(remote_leader));
        let made = library().world.introduce(&local, local_leader, peer, remote_leader, tag)?;
        newintercomm.set("newintercomm", communicator::store(Some(made))?)
    }
    /// MPI-5.0 §7.6.2
    fn MPI_Intercomm_merge / PMPI_Intercomm_merge(intercomm: MPI_Comm, high: c_int,
        newintracomm: Out<MPI_Comm>) raises intercomm => {
        newintracomm.set("newintracomm", MPI_COMM_NULL)?;
        let comm = communicator::find("intercomm", intercomm)?;
        make(newintracomm, comm.plan_merge(high != 0, allocate_from(&comm))?)
    }
}

/// The other side of an intercommunicator.
fn remote(comm: &Comm) -> Result<&Arc<Group>> {
    comm.remote().ok_or_else(|| {
        Error::invalid(ErrorClass::Comm, "comm", "an intracommunicator", "an intercommunicator")
    })
}

/// Makes a communicator.
pub(crate) fn make(newcomm: Out<MPI_Comm>, (schedule, creation): (Schedule, Creation)) -> Result<()> {
    library().world.run(schedule)?;
    newcomm.set("newcomm", communicator::store(library().world.finish(creation)?)?)
}

/// Duplicates a communicator with its attributes; `info` replaces its hints.
fn dup(handle: MPI_Comm, info: Option<ObjectRef<Info>>) -> Result<MPI_Comm> {
    let comm = communicator::find("comm", handle)?;
    let Some(made) = duplicate(&comm, info.as_deref())? else { return Ok(MPI_COMM_NULL) };
    let newcomm = communicator::store(Some(made.clone()))?;
    if let Err(refused) = copy_attributes((&comm, handle.number()), (&made, newcomm.number())) {
        communicator::remove("newcomm", newcomm)?;
        return Err(attribute::refused(refused));
    }
    Ok(newcomm)
}

/// What ends the making of a duplicate.
struct Duplicating {
    unfinished: Mutex<Option<Unfinished>>,
    info: Option<ObjectRef<Info>>,
}

/// A duplicate in the making.
struct Unfinished {
    creation: Creation,
    newcomm: Reserved,
    attributes: Attributes,
}

impl AtEnd for Duplicating {
    fn completed(&self, _status: &mut Status) -> Result<()> {
        let unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Unfinished { creation, newcomm, attributes }) = unfinished else { return Ok(()) };
        let Some(made) = library().world.finish(creation)? else { return Ok(()) };
        adorn(&made, self.info.as_deref())?;
        made.attributes().replace(attributes);
        newcomm.fill(made);
        Ok(())
    }
}

/// Starts to duplicate a communicator. The handle is given at once and finds its object when the request is over;
/// attributes are copied now (MPI-5.0 §7.4.2). If the call fails, the handle is given back.
fn idup(
    handle: MPI_Comm,
    info: Option<ObjectRef<Info>>,
    out: Out<MPI_Comm>,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    out.ready("newcomm")?;
    let original = communicator::find("comm", handle)?;
    let newcomm = Reserved::new()?;
    let number = newcomm.handle().number();
    let attributes =
        original.attributes().copied(&KEYVALS, handle.number(), number).map_err(attribute::refused)?;
    let (schedule, creation) = original.plan_dup(allocate_from(&original))?;
    let id = library().world.start(schedule)?;
    out.set("newcomm", newcomm.handle())?;
    let unfinished = Mutex::new(Some(Unfinished { creation, newcomm, attributes }));
    completion::give_special(id, handle, Arc::new(Duplicating { unfinished, info }), request)
}

/// Whether the program may free a communicator.
pub(crate) fn check_freeable(handle: MPI_Comm) -> Result<()> {
    let comm = communicator::find("comm", handle)?;
    if handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF {
        let expected = "a communicator made by the program";
        return Err(Error::invalid(ErrorClass::Comm, "comm", comm.name(), expected));
    }
    Ok(())
}

/// Frees a communicator: its attributes are deleted, its handle finds nothing any more.
pub(crate) fn free(comm: Out<MPI_Comm>) -> Result<()> {
    let handle = comm.get("comm")?;
    forget(handle)?;
    comm.set("comm", MPI_COMM_NULL)
}

/// The same by its handle, which the program keeps.
pub(crate) fn forget(handle: MPI_Comm) -> Result<()> {
    attribute::delete_all_of_comm(handle)?;
    bsend::leave(&*communicator::find("comm", handle)?)?;
    communicator::remove("comm", handle)
}

/// The communicator behind an argument that is also a result.
pub(crate) fn site_of(comm: Out<MPI_Comm>) -> Site {
    comm.get("comm").map_or(Site::Process, Into::into)
}
