//! Sessions: a part in the job that comes and goes without the other ranks (MPI-5.0 §11.3).
//!
//! What must stay true: a session stays on its thread and no communicator outlives it, as of a [`Universe`], which it is
//! underneath; its end waits for nobody.

use std::sync::Arc;

use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::group;
use posthaste_core::ids::Peer;

use crate::argument;
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::intercommunicator::Intercommunicator;
use crate::universe::Universe;

/// Longest string tag in bytes, as in C programs (`MPI_MAX_STRINGTAG_LEN`).
const MOST: usize = 1023;

/// A session: the way to communicators for a library that knows nothing of the program that it is in (`MPI_Session`, MPI-5.0
/// §11.3).
///
/// It is a share of the process's one engine, like [`init`](crate::init), but it begins and ends on each rank alone: only the
/// first opening of the engine waits for others, and between hosts only. The engine stays open until the process ends.
///
/// ```
/// use posthaste::{Operation, Session};
///
/// let session = Session::begin()?;
/// let all = session.communicator("mpi://WORLD", "org.example.solver")?;
/// assert_eq!(all.all_reduce_one(1_u64, Operation::Sum)?, all.size() as u64);
/// # Ok::<(), posthaste::Error>(())
/// ```
pub struct Session {
    part: Universe,
}

impl Session {
    /// Begins one (`MPI_Session_init`). There may be several, one after the other and at the same time.
    ///
    /// # Errors
    /// As [`init`](crate::init).
    pub fn begin() -> Result<Self> {
        Universe::session().map(|part| Self { part })
    }

    /// The names of the process sets that this rank is in (`MPI_Session_get_nth_pset`): `mpi://WORLD`, all ranks; `mpi://SELF`, this
    /// one; `mpix://SHARED`, those that share memory with it; `mpix://NODE/0` or another number, the ranks of its node; under our
    /// mpiexec and Open MPI's `mpix://PROGRAM/0` or another number, the ranks of its program, and those of `mpiexec -pset`.
    ///
    /// ```
    /// # let session = posthaste::Session::begin()?;
    /// assert!(session.process_sets().contains(&"mpi://SELF".to_owned()));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn process_sets(&self) -> Vec<String> {
        self.part.engine().process_sets()
    }

    /// The ranks of the world that are in a process set, in their order (`MPI_Group_from_session_pset`).
    ///
    /// # Errors
    /// A name that no set has.
    ///
    /// ```
    /// # let session = posthaste::Session::begin()?;
    /// assert_eq!(session.ranks("mpi://SELF")?.len(), 1);
    /// assert!(session.ranks("mpi://NOBODY").unwrap_err().to_string().contains("expected one of mpi://WORLD"));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_from_session_pset")]
    pub fn ranks(&self, process_set: &str) -> Result<Vec<usize>> {
        let set = self.named("ranks", self.part.engine().process_set(process_set))?;
        Ok(set.peers().map(Peer::index).collect())
    }

    /// The same as a group, which others are made of.
    ///
    /// # Errors
    /// A name that no set has.
    ///
    /// ```
    /// # let session = posthaste::Session::begin()?;
    /// let all = session.group("mpi://WORLD")?;
    /// assert_eq!(all.rank(), all.translate(&[all.rank().unwrap()], &all)?[0]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_from_session_pset")]
    pub fn group(&self, process_set: &str) -> Result<Group> {
        let set = self.named("group", self.part.engine().process_set(process_set))?;
        Ok(Group::of(&Arc::new(set), Some(Peer(self.part.engine().rank()))))
    }

    /// The communicator of a process set (`MPI_Comm_create_from_group`, MPI-5.0 §7.4.2), which its ranks make together.
    /// `tag` tells such calls apart that several threads make at the same time; it has 1023 bytes at most.
    ///
    /// # Errors
    /// A name that no set has; a tag that is too long; when a rank has ended.
    #[doc(alias = "MPI_Comm_create_from_group")]
    pub fn communicator(&self, process_set: &str, tag: &str) -> Result<Communicator<'_>> {
        let set = self.named("communicator", self.part.engine().process_set(process_set))?;
        self.make("communicator", &Arc::new(set), tag)
    }

    /// The same of a group, which may have processes of several jobs; only its members call it.
    ///
    /// # Errors
    /// A group without this process, or with one of another job that it has parted from; otherwise as [`Session::communicator`].
    ///
    /// ```
    /// # let session = posthaste::Session::begin()?;
    /// let set = session.group("mpi://WORLD")?;
    /// let all = session.communicator_from(&set, "org.example.solver")?;
    /// assert_eq!(all.size(), set.size());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Comm_create_from_group")]
    pub fn communicator_from(&self, group: &Group, tag: &str) -> Result<Communicator<'_>> {
        self.make("communicator_from", group.core(), tag)
    }

    /// Connects this group with another one (`MPI_Intercomm_create_from_groups`, MPI-5.0 §7.6.2). The members of both call it, and
    /// need no communicator for it. The rank `leader` of `group` says in `remote` who the others are, and which rank leads them there;
    /// the rest pass `None`. `tag` tells such calls apart that are made at the same time; it has 1023 bytes at most.
    ///
    /// # Errors
    /// A leader that is no rank; a leader without the other group; a group without this process; groups that share their leaders;
    /// otherwise as [`Session::communicator`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let session = posthaste::Session::begin()?;
    /// let all = session.group("mpi://WORLD")?;
    /// # if all.size() == 1 { return Ok(()); } // two groups need two ranks
    /// // The first rank, and all others.
    /// let (one, others) = (all.include(&[0])?, all.exclude(&[0])?);
    /// let (own, remote) = if all.rank() == Some(0) { (one, others) } else { (others, one) };
    /// let bridge = session.intercommunicator(&own, 0, Some((&remote, 0)), "org.example.solver")?;
    /// assert_eq!((bridge.size(), bridge.remote_size()), (own.size(), remote.size()));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Intercomm_create_from_groups")]
    pub fn intercommunicator(
        &self,
        group: &Group,
        leader: usize,
        remote: Option<(&Group, usize)>,
        tag: &str,
    ) -> Result<Intercommunicator<'_>> {
        const CALL: &str = "intercommunicator";
        let remote = || {
            let nobody = || {
                let expected = "the other group, and the rank of its leader";
                Cause::invalid(ErrorClass::Group, "remote", "None at the leader", expected)
            };
            let (group, leader) = remote.ok_or_else(nobody)?;
            let leader = argument::root(leader, group.core().size() as i32)?;
            Ok((Arc::clone(group.core()), leader as u32))
        };
        let make = || {
            let leader = argument::root(leader, group.core().size() as i32)?;
            let world = self.part.engine();
            world.found_between(CALL, group.core(), leader, remote, checked(tag)?)
        };
        let made = self.named(CALL, make())?;
        Ok(Intercommunicator::new(Communicator::new(&self.part, made)))
    }

    /// The same of these ranks of the world, in this order; only they call it.
    ///
    /// # Errors
    /// Ranks that there are not, or twice, or without this one; otherwise as [`Session::communicator`].
    ///
    /// ```
    /// # let session = posthaste::Session::begin()?;
    /// let all = session.communicator("mpi://WORLD", "all")?;
    /// let turned: Vec<usize> = (0..all.size()).rev().collect();
    /// let back = session.communicator_of(&turned, "turned")?;
    /// assert_eq!(back.rank(), all.size() - 1 - all.rank());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Comm_create_from_group")]
    pub fn communicator_of(&self, ranks: &[usize], tag: &str) -> Result<Communicator<'_>> {
        let ranks: Vec<i32> = ranks.iter().map(|rank| i32::try_from(*rank).unwrap_or(i32::MAX)).collect();
        let all = self.part.engine().founding().group();
        let group = self.named("communicator_of", all.incl(&ranks))?;
        self.make("communicator_of", &Arc::new(group), tag)
    }

    /// Ends it: what dropping the value does, but errors are reported. It waits for no other rank.
    ///
    /// # Errors
    /// None today.
    ///
    /// ```
    /// let session = posthaste::Session::begin()?;
    /// session.finalize()?;
    /// posthaste::Session::begin()?.finalize()
    /// # .map_err(|error: posthaste::Error| error)?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Session_finalize")]
    pub fn finalize(self) -> Result<()> {
        self.part.finalize()
    }

    fn make(&self, call: &'static str, group: &Arc<group::Group>, tag: &str) -> Result<Communicator<'_>> {
        let made = checked(tag).and_then(|tag| self.part.engine().found(call, group, tag));
        self.named(call, made).map(|comm| Communicator::new(&self.part, comm))
    }

    fn named<T>(&self, call: &'static str, outcome: Checked<T>) -> Result<T> {
        let rank = Some(self.part.engine().rank() as usize);
        outcome.map_err(|cause| Error::new(call, rank, cause))
    }
}

fn checked(tag: &str) -> Checked<&[u8]> {
    if tag.len() > MOST {
        let (got, expected) =
            (format_args!("{} bytes long", tag.len()), format_args!("at most {MOST} bytes"));
        return Err(Cause::invalid(ErrorClass::Arg, "tag", got, expected));
    }
    Ok(tag.as_bytes())
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("rank", &self.part.engine().rank()).finish()
    }
}
