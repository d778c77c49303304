//! Making windows and freeing them (MPI-5.0 §12.2).
//!
//! ```text
//!   a communicator of the window's own: agree that all have it
//!   share: size, unit, node, whether this member can and would map memory, and whether in pieces
//!   all can:    rank 0 makes the memory, tells its ticket; the others attach it; share: did it go well?
//!               created: rank 0 makes the words alone, and each maps what the others have allocated, or have of a window of all
//!   otherwise:  each has memory of its own, and exposes it
//!               dynamic: the first of each node makes memory in which its members tell each other what they have attached
//!   share: the keys, where methods that read and write memory by themselves find it, and what a network changes by itself
//!               near memory that its owner shares with the node: mapped
//!   many:       `asked`, instead of all that
//!   agree that all have the window
//! ```
//!
//! What must stay true: what goes wrong at one member is told to all before any goes on, and who misses what another one has
//! told, because somebody is lost, revokes the communicator; so all members that are left get a window or none does, nobody waits
//! for who has failed, and nothing stays exposed.

use std::sync::Arc;

use posthaste_os::mapped::{Mapped, Name, PAGE, Ticket};

use crate::buffer::{OwnedBuf, UserBuf};
use crate::coll;
use crate::comm::Comm;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::info::Info;
use crate::method::{Methods, Route};
use crate::onesided::{RemoteKey, RemoteMemory};
use crate::progress::Vci;
use crate::pt2pt::Engine;
use crate::win::{
    Attachments, Flavor, Heeded, Memory, Part, Targets, WIDE, Window, alignment, control, granularity,
    noncontiguous,
};
use crate::world::World;
use crate::world::windows::lost_member;
use crate::world::windows::mappings::InWindow;

/// What a program says of a new window.
#[derive(Debug)]
pub struct NewWindow<'a> {
    /// The members.
    pub comm: &'a Comm,
    /// Bytes of a unit of displacement.
    pub unit: u64,
    /// Hints.
    pub info: &'a Info,
}

/// Memory of a program that others can map.
#[derive(Clone, Copy)]
enum Shared {
    /// Of `MPI_Alloc_mem`.
    Allocated(RemoteMemory),
    /// Of a window that they have mapped.
    InWindow(InWindow),
}

impl Shared {
    /// What marks numbers of memory of a window; the kinds of [`RemoteMemory`] are shorter.
    const IN_WINDOW: u64 = u64::MAX;

    fn numbers(self) -> [u64; 4] {
        match self {
            Self::Allocated(memory) => {
                let (kind, address, key) = memory.numbers();
                [kind.into(), address, key, 0]
            }
            Self::InWindow(InWindow { name, at }) => [Self::IN_WINDOW, name.pid.into(), name.inode, at],
        }
    }

    fn of_numbers([kind, first, second, third]: [u64; 4]) -> Option<Self> {
        if kind == Self::IN_WINDOW {
            let name = Name { pid: u32::try_from(first).ok()?, inode: second };
            return Some(Self::InWindow(InWindow { name, at: third }));
        }
        RemoteMemory::of_numbers((u32::try_from(kind).ok()?, first, second)).map(Self::Allocated)
    }
}

/// What members know of each other while the window is made, if they are few. That and what they have told takes some 200 bytes for
/// each member until then; of it the window keeps what accesses need, in [`Parts`](crate::win::Parts).
#[derive(Clone, Copy)]
struct Member {
    size: u64,
    unit: u64,
    /// Jobs number their nodes each by themselves.
    job: u64,
    node: u64,
    /// Its number there, by which it is rung.
    local: u64,
    maps: bool,
    /// It does not need the memory of a shared window in one piece.
    apart: bool,
    /// It changes more elements at once than the processor does.
    in_arrays: bool,
}

impl Member {
    /// Whether the two can map memory with each other.
    fn maps_with(&self, other: &Self) -> bool {
        self.maps && other.maps && (self.job, self.node) == (other.job, other.node)
    }
}

/// The members of a window that is being made.
enum Members {
    /// What each has told all others.
    All(Vec<Member>),
    /// There are many, and each knows what it has itself.
    Many,
}

impl Members {
    /// All of them, if they are known and can map memory with each other.
    fn on_one_node(&self) -> Option<&[Member]> {
        match self {
            Self::All(all) => all.iter().all(|member| member.maps_with(&all[0])).then_some(all),
            Self::Many => None,
        }
    }
}

/// What a member shows of memory that it has exposed.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    size: u64,
    unit: u64,
    key: RemoteKey,
    /// Where peers on its node, and those elsewhere, find it without the member's help: kind, address and key.
    found: [[u64; 3]; 2],
}

impl Shown {
    /// Numbers of which it consists.
    const NUMBERS: usize = 9;
    /// Numbers of which members on other nodes need to know.
    pub(super) const ELSEWHERE: usize = 6;
    /// Its length as peers read it.
    pub(super) const BYTES: usize = 8 * Self::NUMBERS;

    /// Whether it has been read: no key is 0.
    pub(super) fn is_told(&self) -> bool {
        self.key.to_bytes() != [0; RemoteKey::BYTES]
    }

    pub(super) fn key(&self) -> RemoteKey {
        self.key
    }

    pub(super) fn numbers(&self) -> [u64; Self::NUMBERS] {
        let [[a, b, c], [d, e, f]] = self.found;
        [self.size, self.unit, u64::from_le_bytes(self.key.to_bytes()), a, b, c, d, e, f]
    }

    fn of_numbers([size, unit, key, a, b, c, d, e, f]: [u64; Self::NUMBERS]) -> Self {
        Self { size, unit, key: RemoteKey::from_bytes(key.to_le_bytes()), found: [[a, b, c], [d, e, f]] }
    }

    /// As a peer has read it.
    pub(super) fn of(bytes: &OwnedBuf) -> Self {
        let bytes = bytes.source().to_vec();
        let number = |at: usize| bytes.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
        Self::of_numbers(std::array::from_fn(|at| u64::from_le_bytes(number(at).unwrap_or_default())))
    }

    /// What members on other nodes need to know.
    pub(super) fn elsewhere(&self) -> [u64; Self::ELSEWHERE] {
        let [size, unit, key, _, _, _, found @ ..] = self.numbers();
        let [kind, address, of] = found;
        [size, unit, key, kind, address, of]
    }

    /// The own memory. Where the network changes elements, it does so for this member, too.
    pub(super) fn own(&self, flavor: Flavor, changes: u64, base: UserBuf) -> Part {
        let memory = if changes == 0 { None } else { self.memory(Route::Fabric) };
        let base = (flavor != Flavor::Dynamic).then_some(base);
        Part { key: self.key, memory, size: self.size, unit: self.unit, base }
    }

    /// Where this way finds it.
    pub(super) fn memory(&self, route: Route) -> Option<RemoteMemory> {
        let [kind, address, key] = match route {
            // What leads to a process of another job is not settled before they talk.
            Route::Loopback | Route::Near(_) | Route::Tcp => return None,
            Route::Shm(_) => self.found[0],
            _ => self.found[1],
        };
        RemoteMemory::of_numbers((u32::try_from(kind).ok()?, address, key))
    }

    /// The memory of a peer that shows this, mapped here if that can be.
    pub(super) fn reached(
        &self,
        engine: &Engine,
        methods: &mut Methods,
        peer: Option<Peer>,
    ) -> (Part, Option<Mapped>) {
        let peer = peer.unwrap_or(Peer(u32::MAX));
        let memory = self.memory(methods.route(peer));
        let mapped = memory.filter(|_| engine.config.map_windows);
        let mapped = mapped.and_then(|memory| methods.map(peer, memory, self.size));
        let base = mapped.as_ref().map(|(mapped, at)| UserBuf::mapped(mapped, *at));
        let part = Part { key: self.key, memory, size: self.size, unit: self.unit, base };
        (part, mapped.map(|(mapped, _)| mapped))
    }
}

impl World {
    /// `MPI_Win_create`: a window of memory of the program, in one piece.
    ///
    /// # Errors
    /// `MPI_ERR_COMM` for an intercommunicator; no memory; a lost member.
    pub fn create_window(&self, new: &NewWindow<'_>, memory: &Segment) -> Result<Arc<Window>> {
        self.made_by_all(Flavor::Create, new, |comm| {
            let (base, size) = memory.contiguous_rest().unwrap_or((UserBuf::none(), 0));
            let shared = self.shared_with_members(comm, memory);
            let maps = self.maps_windows() && (size == 0 || comm.size() == 1 || shared.is_some());
            let maps = maps && !memory.is_on_device();
            let members = self.members((Flavor::Create, comm), new, size, maps)?;
            if let Some(all) = members.on_one_node()
                && let Some(window) = self.map_created(new, comm, (all, base), shared)?
            {
                return Ok(window);
            }
            let key = self.vci_of(comm).engine.with_onesided(|onesided, _| onesided.expose(memory));
            self.exposed((Flavor::Create, comm), new, members, (base, size), Memory::Program, key)
        })
    }

    /// `MPI_Win_create_dynamic`: a window without memory at first.
    ///
    /// # Errors
    /// As [`World::create_window`].
    pub fn create_dynamic_window(&self, new: &NewWindow<'_>) -> Result<Arc<Window>> {
        self.made_by_all(Flavor::Dynamic, new, |comm| {
            let copies = self.vci_of(comm).engine.config.window_transport;
            let members = self.members((Flavor::Dynamic, comm), new, 0, copies)?;
            let attachments = match &members {
                Members::All(all) => self.attachments(comm, all)?,
                Members::Many => None,
            };
            let memory = attachments.map_or(Memory::Program, Memory::Attached);
            let key = self.vci_of(comm).engine.with_onesided(|onesided, _| onesided.expose_attached());
            let window =
                self.exposed((Flavor::Dynamic, comm), new, members, (UserBuf::none(), 0), memory, Ok(key))?;
            window.attachments().into_iter().for_each(Attachments::known_to_all);
            Ok(window)
        })
    }

    /// `MPI_Win_allocate`, `MPI_Win_allocate_shared`: a window of `size` bytes of the library's memory, zero at first. It is
    /// mapped by all members if they are on one node, as it has to be where it is shared.
    ///
    /// # Errors
    /// As [`World::create_window`]; `MPI_ERR_RMA_SHARED` when not all members can share memory.
    pub fn allocate_window(&self, new: &NewWindow<'_>, size: u64, flavor: Flavor) -> Result<Arc<Window>> {
        self.made_by_all(flavor, new, |comm| {
            let members = self.members((flavor, comm), new, size, self.maps_windows())?;
            if let Some(all) = members.on_one_node()
                && let Some(window) = self.map_window(new, flavor, comm, all)?
            {
                return Ok(window);
            }
            if flavor == Flavor::Shared {
                let text = "not all processes of the communicator can share memory: \
                            MPI_Comm_split_type with MPI_COMM_TYPE_SHARED finds those that can";
                return Err(Error::other(ErrorClass::RmaShared, text));
            }
            let alignment = alignment(new.info).unwrap_or(1);
            let block = usize::try_from(size)
                .ok()
                .and_then(|size| size.checked_add(alignment - 1))
                .ok_or_else(|| Error::no_memory(format!("there is no memory of {size} bytes")))
                .and_then(|size| self.allocate(size));
            let block = match block {
                Ok(block) => block,
                // The others hear of it where they are told the key.
                Err(why) => {
                    let nowhere = (UserBuf::none(), size);
                    return self.exposed((flavor, comm), new, members, nowhere, Memory::Program, Err(why));
                }
            };
            let base = UserBuf::block(&block);
            let pad = base.address().next_multiple_of(alignment) - base.address();
            let base = base.offset(pad as isize);
            let memory = Segment::contiguous(base, size);
            let key = self.vci_of(comm).engine.with_onesided(|onesided, _| onesided.expose(&memory));
            self.exposed((flavor, comm), new, members, (base, size), Memory::Block(Some(block).into()), key)
        })
    }

    /// `MPI_Win_free`: when all members have done everything. After the loss of a member, memory of the library that peers may
    /// still write to stays until the engine ends, and what `MPI_Alloc_mem` gave the program is not given again when it is freed.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`; what went wrong with an operation. The window is gone in the latter case, too.
    pub fn free_window(&self, window: &Arc<Window>) -> Result<()> {
        const CALL: &str = "MPI_Win_free";
        window.check_free()?;
        let completed = self.complete(CALL, window, Targets::All, super::Extent::Target);
        let met = self.run_in(CALL, coll::free_window(window.comm()));
        let living = lost_member(&self.vci_of(window.comm()).engine, window);
        // Members that have not heard of a loss may still copy.
        self.detach_all(CALL, window);
        if window.has_block() && (met.is_err() || living.is_err()) {
            // A barrier without a member does not say that the others are done.
            self.vci_of(window.comm()).operations.keep(window);
        } else {
            if (met.is_err() || living.is_err())
                && let Some(heap) = &self.common.heap
            {
                // Memory of the program, too, may still be written to by a member that has heard of the loss later.
                heap.retire(window.memory().0);
            }
            self.forget_window(window);
            self.common.mappings.remove(window);
            window.let_go();
        }
        completed.and(met).and(living)
    }

    /// `MPI_Win_attach`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_FLAVOR`; what [`OneSided::attach`](crate::onesided::OneSided::attach) says.
    pub fn attach_memory(&self, window: &Window, memory: &Segment) -> Result<()> {
        dynamic(window)?;
        self.change_attached(window, |onesided, key| onesided.attach(key, memory)).map(drop)
    }

    /// `MPI_Win_detach`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_FLAVOR`; `MPI_ERR_BASE` where no memory is attached.
    pub fn detach_memory(&self, window: &Window, address: u64) -> Result<()> {
        dynamic(window)?;
        let told = self.change_attached(window, |onesided, key| onesided.detach(key, address))?;
        self.until_unused("MPI_Win_detach", window, told);
        Ok(())
    }

    /// Whether this process may map memory of windows with others.
    fn maps_windows(&self) -> bool {
        self.vci().engine.config.map_windows
    }

    /// Makes a window at all members or at none, on a communicator of its own. What `make` needs of the others it shares.
    fn made_by_all(
        &self,
        flavor: Flavor,
        new: &NewWindow<'_>,
        make: impl FnOnce(&Arc<Comm>) -> Result<Arc<Window>>,
    ) -> Result<Arc<Window>> {
        if new.comm.remote().is_some() {
            let expected = "an intracommunicator";
            return Err(Error::invalid(ErrorClass::Comm, "comm", "an intercommunicator", expected));
        }
        new.comm.check_revoked()?;
        // Who has no communicator could not tell the others that it has failed.
        let own = self.comm_of_window(flavor, new);
        let members = own.as_ref().ok().cloned();
        let comm = self.at_all(flavor, new.comm, own);
        self.leave_if_revoked(members, &comm);
        let comm = comm?;
        let made = make(&comm);
        let window = made.as_ref().ok().cloned();
        let agreed = self.at_all(flavor, new.comm, made);
        self.leave_if_revoked(Some(comm.clone()), &agreed);
        if let (Some(window), Err(why)) = (window, &agreed) {
            self.forget_window(&window);
            self.common.mappings.remove(&window);
            if why.class() == ErrorClass::Revoked {
                // Others may have it until they hear that it is revoked: its memory stays.
                if let Some(heap) = &self.common.heap {
                    heap.retire(window.memory().0);
                }
                self.vci_of(&comm).operations.keep(&window);
            } else {
                // No member has it, so no member accesses its memory.
                window.let_go();
            }
        }
        agreed
    }

    /// This member does not wait for the others, since the communicator is revoked: these do not wait for it, either.
    fn leave_if_revoked<T>(&self, members: Option<Arc<Comm>>, outcome: &Result<T>) {
        if let (Some(members), Err(why)) = (members, outcome)
            && why.class() == ErrorClass::Revoked
        {
            self.revoke(&members);
        }
    }

    /// What this member has come to, if all members that are left have come so far.
    fn at_all<T>(&self, flavor: Flavor, comm: &Comm, own: Result<T>) -> Result<T> {
        let (all, living) = self.agree_on_making(flavor.call(), comm, own.is_ok().into())?;
        let own = match (own, living) {
            // Who is lost says more than that somebody has revoked a communicator on that account.
            (Err(why), Err(lost)) if why.class() == ErrorClass::Revoked => Err(lost),
            (own, living) => own.and_then(|own| living.map(|()| own)),
        };
        if all == 0 {
            let text = "another member of the communicator has failed to make its part of the window";
            return own.and(Err(Error::other(ErrorClass::Other, text)));
        }
        own
    }

    fn comm_of_window(&self, flavor: Flavor, new: &NewWindow<'_>) -> Result<Arc<Comm>> {
        let (schedule, creation) = new.comm.plan_dup(|| self.allocate_context_beside(new.comm))?;
        self.run_in(flavor.call(), schedule)?;
        let comm = self.finish(creation)?;
        let comm = comm.ok_or_else(|| Error::other(ErrorClass::Intern, "the duplicate has no members"))?;
        comm.set_name(&format!("a window of {}", new.comm.name()));
        Ok(comm)
    }

    fn members(
        &self,
        (flavor, comm): (Flavor, &Comm),
        new: &NewWindow<'_>,
        size: u64,
        maps: bool,
    ) -> Result<Members> {
        if self.has_many(flavor, comm) {
            return Ok(Members::Many);
        }
        let (job, node, apart) = (self.job().0, self.node().into(), noncontiguous(new.info));
        let local = self.common.local_rank as u64;
        let in_arrays = granularity(new.info) > WIDE;
        let own = [size, new.unit, job, node, local, maps.into(), apart.into(), in_arrays.into()];
        let told = self.share_numbers(flavor, comm, own)?;
        let member = |[size, unit, job, node, local, maps, apart, in_arrays]: [u64; 8]| Member {
            size,
            unit,
            job,
            node,
            local,
            // Whoever tells a place that this node does not have shares nothing with us.
            maps: maps != 0 && local < self.common.node.ranks() as u64,
            apart: apart != 0,
            in_arrays: in_arrays != 0,
        };
        Ok(Members::All(told.into_iter().map(member).collect()))
    }

    /// Memory that all members map; `None`: it cannot be had.
    fn map_window(
        &self,
        new: &NewWindow<'_>,
        flavor: Flavor,
        comm: &Arc<Comm>,
        members: &[Member],
    ) -> Result<Option<Arc<Window>>> {
        // A member of its own mind would see the parts of others elsewhere, and its own part in theirs.
        let apart = flavor == Flavor::Allocate || members.iter().all(|member| member.apart);
        let (starts, len) = layout(members, apart);
        let (mapped, is_made) = self.mapping(flavor, comm, 0, len)?;
        let Some(mapped) = self.if_all_have(flavor, comm, mapped)? else {
            if !is_made && flavor == Flavor::Shared {
                let text = format!("there is no memory for a window of {len} bytes in all");
                return Err(Error::no_memory(text));
            }
            return Ok(None);
        };
        mapped.close();
        let bases = starts.into_iter().map(|start| Some(UserBuf::mapped(&mapped, start)));
        let parts = members.iter().zip(bases).map(mapped_part).collect();
        let memory = (Memory::Mapped(mapped, heeded(comm, members)), Vec::new());
        let window = Window::new(comm.clone(), flavor, parts, memory, (new.info, apart));
        let window = Arc::new(window.changed_under_lock(under_lock(members)));
        self.common.mappings.add(&window);
        Ok(Some(window))
    }

    /// Where this memory lies in what this process shares with all other members, if it lies there.
    fn shared_with_members(&self, comm: &Comm, memory: &Segment) -> Option<Shared> {
        let (base, len) = memory.contiguous_rest()?;
        // Who has no part in that window shows when the others map theirs.
        if let Some(there) = self.common.mappings.find(base.address(), len) {
            return Some(Shared::InWindow(there));
        }
        let vci = self.vci_of(comm);
        let me = comm.rank() as usize;
        // Who is not led to by shared memory shows when the others map theirs.
        let mut others = comm.group().peers().enumerate().filter(|(rank, _)| *rank != me);
        others.next().and_then(|(_, peer)| vci.methods.shared(peer, memory)).map(Shared::Allocated)
    }

    /// A window of memory that each member has allocated, or has of another window, mapped by all; `None`: that cannot be had.
    fn map_created(
        &self,
        new: &NewWindow<'_>,
        comm: &Arc<Comm>,
        (members, base): (&[Member], UserBuf),
        shared: Option<Shared>,
    ) -> Result<Option<Arc<Window>>> {
        const FLAVOR: Flavor = Flavor::Create;
        let (words, _) = self.mapping(FLAVOR, comm, 0, control(members.len()))?;
        let told = self.share_numbers(FLAVOR, comm, shared.map_or([0; 4], Shared::numbers))?;
        let me = comm.rank() as usize;
        let mut near = Vec::new();
        let mut vci = self.vci_of(comm);
        let mut mapped = |(rank, (member, numbers)): (usize, (&Member, &[u64; 4]))| {
            if rank == me || member.size == 0 {
                return Some((rank == me).then_some(base));
            }
            let (mapped, at) = match Shared::of_numbers(*numbers)? {
                Shared::Allocated(memory) => {
                    vci.methods.map(comm.group().peer(rank as u32)?, memory, member.size)?
                }
                Shared::InWindow(there) => self.common.mappings.map(there, member.size)?,
            };
            let base = UserBuf::mapped(&mapped, at);
            near.push(mapped);
            Some(Some(base))
        };
        let bases: Option<Vec<_>> = members.iter().zip(&told).enumerate().map(&mut mapped).collect();
        drop(vci);
        let Some((words, bases)) = self.if_all_have(FLAVOR, comm, words.zip(bases))? else { return Ok(None) };
        words.close();
        let parts = members.iter().zip(bases).map(mapped_part).collect();
        let memory = (Memory::Mapped(words, heeded(comm, members)), near);
        let window = Window::new(comm.clone(), FLAVOR, parts, memory, (new.info, false));
        Ok(Some(Arc::new(window.changed_under_lock(under_lock(members)))))
    }

    /// Memory in which the members of this node tell each other what they have attached to a dynamic window; `None`: there is one
    /// member here alone, or it cannot be had.
    fn attachments(&self, comm: &Comm, members: &[Member]) -> Result<Option<Attachments>> {
        let me = comm.rank() as usize;
        let is_near = |rank: &usize| members[*rank].maps_with(&members[me]);
        let near: Vec<usize> = (0..members.len()).filter(is_near).collect();
        let (maker, len) = match near[..] {
            [first, _, ..] => (first, Attachments::room(near.len())),
            _ => (me, 0),
        };
        let (mapped, _) = self.mapping(Flavor::Dynamic, comm, maker, len)?;
        Ok(mapped.map(|mapped| Attachments::new(mapped, near)))
    }

    /// So many bytes that this member has mapped, of memory that the maker, a rank of its node, has made; and whether it has. Nothing is
    /// made where no bytes are wanted.
    fn mapping(
        &self,
        flavor: Flavor,
        comm: &Comm,
        maker: usize,
        len: usize,
    ) -> Result<(Option<Mapped>, bool)> {
        let made = (comm.rank() as usize == maker && len > 0).then(|| Mapped::create(len));
        let ticket = match &made {
            Some(Ok((_, Ticket { pid, fd, inode }))) => [1, u64::from(*pid), u64::from(*fd), *inode],
            _ => [0; 4],
        };
        let [is_made, pid, fd, inode] = self.share_numbers(flavor, comm, ticket)?[maker];
        let mapped = match made {
            Some(made) => made.ok().map(|(mapped, _)| mapped),
            None if is_made == 0 => None,
            None => Mapped::attach(Ticket { pid: pid as u32, fd: fd as u32, inode }, len).ok(),
        };
        Ok((mapped, is_made != 0))
    }

    /// What this member has, if all members have it.
    fn if_all_have<T>(&self, flavor: Flavor, comm: &Comm, own: Option<T>) -> Result<Option<T>> {
        let told = self.share_numbers(flavor, comm, [own.is_some().into()])?;
        Ok(own.filter(|_| told.iter().all(|[has]| *has != 0)))
    }

    /// A window of memory that each member has exposed, or has failed to.
    fn exposed(
        &self,
        (flavor, comm): (Flavor, &Arc<Comm>),
        new: &NewWindow<'_>,
        members: Members,
        (base, size): (UserBuf, u64),
        memory: Memory,
        key: Result<RemoteKey>,
    ) -> Result<Arc<Window>> {
        let exposed = key.as_ref().ok().copied();
        // Others need this process for atomic operations, for locks, and for what no method does by itself.
        let attended = if comm.size() > 1 { self.attend_windows() } else { Ok(()) };
        let own = attended.and(key).map(|key| {
            let found = self.found_at(comm, flavor, key);
            let is_shown = found[1].is_some() || size == 0;
            let changes = if is_shown { self.changes_by_network(comm, flavor) } else { 0 };
            let found = found.map(|memory| memory.map_or([0; 3], numbers));
            (Shown { size, unit: new.unit, key, found }, changes)
        });
        let window = match members {
            Members::All(_) => self.known_to_all((flavor, comm), new, base, memory, own),
            Members::Many => self.shown_by_all((flavor, comm), new, base, memory, own),
        };
        if let Some(own) = exposed.filter(|_| window.is_err()) {
            self.forget(comm, own);
        }
        window
    }

    fn known_to_all(
        &self,
        (flavor, comm): (Flavor, &Arc<Comm>),
        new: &NewWindow<'_>,
        base: UserBuf,
        memory: Memory,
        own: Result<(Shown, u64)>,
    ) -> Result<Arc<Window>> {
        let told = own.as_ref().map_or([0; 11], |(shown, changes)| {
            let [size, unit, key, a, b, c, d, e, f] = shown.numbers();
            [1, *changes, size, unit, key, a, b, c, d, e, f]
        });
        let told = self.share_numbers(flavor, comm, told)?;
        let (own, _) = own?;
        if let Some(rank) = told.iter().position(|[exposed, ..]| *exposed == 0) {
            let text = format!("rank {rank} has failed to make its part of the window");
            return Err(Error::other(ErrorClass::Other, text));
        }
        let changes = told.iter().fold(u64::MAX, |all, [_, changes, ..]| all & changes);
        let me = comm.rank() as usize;
        let mut near = Vec::new();
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        let part = |(rank, [_, _, shown @ ..]): (usize, &[u64; 11])| {
            if rank == me {
                return own.own(flavor, changes, base);
            }
            let peer = comm.group().peer(rank as u32);
            let (part, mapped) = Shown::of_numbers(*shown).reached(engine, methods, peer);
            near.extend(mapped);
            part
        };
        let parts = told.iter().enumerate().map(part).collect();
        drop(vci);
        let hints = (new.info, flavor == Flavor::Allocate);
        let window = Window::new(comm.clone(), flavor, parts, (memory, near), hints);
        Ok(Arc::new(window.changed_by_network(changes)))
    }

    /// The kinds of elements that the network can change for all members, as far as this one knows: it leads to all others.
    fn changes_by_network(&self, comm: &Comm, flavor: Flavor) -> u64 {
        let mut vci = self.vci_of(comm);
        if !vci.engine.config.window_transport || flavor == Flavor::Dynamic {
            return 0;
        }
        let me = comm.rank() as usize;
        let mut others = comm.group().peers().enumerate().filter(|(rank, _)| *rank != me);
        let leads = others.all(|(_, peer)| vci.methods.route(peer) == Route::Fabric);
        if leads { vci.methods.changes() } else { 0 }
    }

    /// Where peers on this node, and those elsewhere, find memory that this member has exposed without its help.
    fn found_at(&self, comm: &Comm, flavor: Flavor, key: RemoteKey) -> [Option<RemoteMemory>; 2] {
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        if !engine.config.window_transport || flavor == Flavor::Dynamic {
            return [None; 2];
        }
        [true, false].map(|near| {
            let leads = |route: Route| match route {
                Route::Loopback | Route::Near(_) | Route::Tcp => false,
                route => matches!(route, Route::Shm(_)) == near,
            };
            // All peers that the same method leads to find it at one place.
            engine.with_onesided(|onesided, _| {
                let mut found = comm.group().peers().filter_map(|peer| {
                    leads(methods.route(peer)).then(|| onesided.memory_for(methods, key, peer)).flatten()
                });
                found.next()
            })
        })
    }

    /// Peers may access the memory of this member no more.
    fn forget_window(&self, window: &Window) {
        self.forget(window.comm(), window.own().key);
        if let Some(name) = window.parts().name() {
            self.forget(window.comm(), RemoteKey::named(name));
        }
    }

    /// Peers may access the memory no more.
    fn forget(&self, comm: &Comm, key: RemoteKey) {
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        engine.with_onesided(|onesided, _| onesided.forget(methods, key));
    }

    /// Everybody's numbers. A step that fails does not stop an exchange, so what a lost member should have passed on is missing:
    /// then the communicator is revoked, or others would wait for this member in their next exchange.
    fn share_numbers<const N: usize>(
        &self,
        flavor: Flavor,
        comm: &Comm,
        own: [u64; N],
    ) -> Result<Vec<[u64; N]>> {
        let len = 8 * (1 + N);
        let mine = [[TOLD].as_slice(), &own].concat().into_iter().flat_map(u64::to_le_bytes);
        let mut outcome = OwnedBuf::new(len * comm.size() as usize);
        let (_, mut place) = outcome.sink().split_at(len * comm.rank() as usize);
        place.copy_from(&mine.collect::<Vec<u8>>());
        let outcome = Arc::new(outcome);
        let shared = self.run_in(flavor.call(), coll::share(comm, flavor.call(), outcome.clone()));
        let told = outcome.source().to_vec();
        drop(outcome);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let missing = told.chunks_exact(len).position(|block| number(&block[..8]) != TOLD);
        let shared = shared.and(missing.map_or(Ok(()), |rank| {
            let text = format!("nothing is known of rank {rank}: a process has been lost");
            Err(Error::other(ErrorClass::ProcAborted, text))
        }));
        if let Err(why) = shared {
            self.revoke(comm);
            return Err(why);
        }
        let numbers = |block: &[u8]| std::array::from_fn(|at| number(&block[8 * (1 + at)..][..8]));
        Ok(told.chunks_exact(len).map(numbers).collect())
    }
}

/// The beginning of what a member has told: a block that has not come is of zeros.
const TOLD: u64 = 1;

fn numbers(memory: RemoteMemory) -> [u64; 3] {
    let (kind, address, key) = memory.numbers();
    [kind.into(), address, key]
}

/// The memory of a member where all have mapped that of all.
fn mapped_part((member, base): (&Member, Option<UserBuf>)) -> Part {
    let key = RemoteKey { slot: u32::MAX, generation: 0 };
    Part { key, memory: None, size: member.size, unit: member.unit, base }
}

/// Whether all say that they change arrays of elements at once: one lock for an array is cheaper than a step of the processor for each
/// element.
fn under_lock(members: &[Member]) -> bool {
    members.iter().all(|member| member.in_arrays)
}

/// What has been heeded of the members' words so far.
fn heeded(comm: &Comm, members: &[Member]) -> Heeded {
    let me = comm.rank() as usize;
    let local = |(rank, member): (usize, &Member)| (rank != me).then_some(member.local as u32);
    Heeded::new(members.iter().enumerate().map(local))
}

/// Where the members' memory begins in one mapping, and its length. `apart`: each begins at a page.
fn layout(members: &[Member], apart: bool) -> (Vec<usize>, usize) {
    let mut end = control(members.len());
    let mut place = |member: &Member| {
        let start = end;
        let next = end.saturating_add(usize::try_from(member.size).unwrap_or(usize::MAX));
        end = if apart { next.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX) } else { next };
        start
    };
    let starts = members.iter().map(&mut place).collect();
    (starts, end)
}

fn dynamic(window: &Window) -> Result<()> {
    if window.flavor() == Flavor::Dynamic {
        return Ok(());
    }
    let got = format_args!("a window of {}", window.flavor().call());
    Err(Error::invalid(ErrorClass::RmaFlavor, "win", got, "a window of MPI_Win_create_dynamic"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(job: u64, node: u64, maps: bool) -> Member {
        Member { size: 8, unit: 1, job, node, local: 0, maps, apart: false, in_arrays: false }
    }

    #[test]
    fn shared_memory_of_a_rank_follows_that_of_the_one_before() {
        let member = |size| Member { size, ..member(0, 0, true) };
        let members = [member(10), member(0), member(5000)];
        let front = control(3);
        assert_eq!(layout(&members, false), (vec![front, front + 10, front + 10], front + 5010));
        let pages = [0, PAGE, PAGE].map(|at| front + at).to_vec();
        assert_eq!(layout(&members, true), (pages, front + 3 * PAGE));
        let (_, len) = layout(&[member(u64::MAX), member(8)], false);
        assert!(len > i64::MAX as usize, "no such memory");
    }

    #[test]
    fn a_node_of_another_job_is_another_node() {
        assert!(member(7, 2, true).maps_with(&member(7, 2, true)));
        for other in [member(8, 2, true), member(7, 3, true), member(7, 2, false)] {
            assert!(!other.maps_with(&member(7, 2, true)) && !member(7, 2, true).maps_with(&other));
        }
    }
}
