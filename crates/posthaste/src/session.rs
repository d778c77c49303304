//! Sessions: a part in the job that comes and goes without the other ranks (MPI-5.0 §11.3).
//!
//! What must stay true: a session stays on its thread and no communicator outlives it, as of a [`Universe`], which it is
//! underneath; its end waits for nobody.

use std::sync::Arc;

use posthaste_core::error::{Error as Cause, ErrorClass};
use posthaste_core::group::Group;

use crate::communicator::Communicator;
use crate::error::{Error, Result};
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
    /// mpiexec `mpix://PROGRAM/0` or another number, the ranks of its program, and those of `mpiexec -pset`.
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
        Ok(set.peers().map(posthaste_core::ids::Peer::index).collect())
    }

    /// The communicator of a process set (`MPI_Comm_create_from_group`, MPI-5.0 §7.4.2), which its ranks make together.
    /// `tag` tells such calls apart that several threads make at the same time; it has 1023 bytes at most.
    ///
    /// # Errors
    /// A name that no set has; a tag that is too long; when a rank has ended.
    #[doc(alias = "MPI_Comm_create_from_group")]
    pub fn communicator(&self, process_set: &str, tag: &str) -> Result<Communicator<'_>> {
        let set = self.named("communicator", self.part.engine().process_set(process_set))?;
        self.make(set, tag)
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
        self.make(group, tag)
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

    fn make(&self, group: Group, tag: &str) -> Result<Communicator<'_>> {
        let world = self.part.engine();
        let make = || {
            if tag.len() > MOST {
                let got = format_args!("{} bytes long", tag.len());
                return Err(Cause::invalid(
                    ErrorClass::Arg,
                    "tag",
                    got,
                    format_args!("at most {MOST} bytes"),
                ));
            }
            let allocate = || world.allocate_context();
            let founding = world.founding();
            let (schedule, creation) =
                founding.plan_from_group("communicator", &Arc::new(group), tag.as_bytes(), allocate)?;
            world.run(schedule)?;
            let made = world.finish(creation)?;
            made.ok_or_else(|| Cause::other(ErrorClass::Intern, "a member got no communicator"))
        };
        self.named("communicator", make()).map(|comm| Communicator::new(&self.part, comm))
    }

    fn named<T>(&self, call: &'static str, outcome: posthaste_core::error::Result<T>) -> Result<T> {
        let rank = Some(self.part.engine().rank() as usize);
        outcome.map_err(|cause| Error::new(call, rank, cause))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("rank", &self.part.engine().rank()).finish()
    }
}
