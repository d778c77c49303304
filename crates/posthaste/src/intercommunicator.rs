//! Intercommunicators: two groups of processes that send to each other.
//!
//! MPI-5.0 §7.6. What all ranks of both groups do together is in `between`.
//!
//! What must stay true: ranks in messages are those of the other group. What stands for the messages alone
//! ([`Intercommunicator::messages`]) refuses what is for one group.

mod between;

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::error::{Error as Cause, ErrorClass};
use posthaste_core::slice::{Buffer, BufferMut};

use crate::argument::{self, Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::group::Group;

pub use between::{InterPlans, InterScope, Root};

/// Two groups of processes: a message goes from one to the other, and ranks are those of the other group
/// ([`Communicator::intercommunicator`]).
///
/// The blocking calls for messages are methods; [`Intercommunicator::messages`] has all other forms of them. In a collective operation
/// what one group gives, the other one gets; [`Root`] says whose the root is. Each has a nonblocking form in
/// [`Intercommunicator::scope`], and a persistent one by [`Intercommunicator::persistent`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
/// // The even ranks and the odd ones, led by the ranks 0 and 1 of the world.
/// let side = world.rank() % 2;
/// let half = world.split(Some(side), 0)?.expect("every rank has a color");
/// let bridge = (half.rank() == 0).then_some((&world, 1 - side));
/// let others = half.intercommunicator(0, bridge, 0)?;
/// assert_eq!(others.size() + others.remote_size(), world.size());
/// assert_eq!((others.rank(), others.group().size()), (half.rank(), half.size()));
/// assert_eq!(others.remote_group().rank(), None);
///
/// if half.rank() == 0 {
///     others.send(&[world.rank()], 0, 0)?;
///     assert_eq!(others.probe(0, 0)?.count::<usize>(), Some(1));
///     assert_eq!(others.receive_vec::<usize>(0, 0)?.0, [1 - side]);
/// }
/// let whole = others.merge(side == 1)?; // the odd ranks come second
/// assert_eq!(whole.size(), world.size());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias = "MPI_Intercomm", alias = "InterCommunicator")]
pub struct Intercommunicator<'u>(Communicator<'u>);

impl<'u> Communicator<'u> {
    /// Connects the ranks of this communicator with those of another one (`MPI_Intercomm_create`, MPI-5.0 §7.6.2). All ranks of both
    /// call it.
    ///
    /// One rank of each group, its `leader`, knows a communicator that it shares with the other leader: `bridge` is that one, with the
    /// rank of the other leader in it. Others pass `None`. Calls at the same time are told apart by `tag`, from 0 on.
    ///
    /// # Errors
    /// A leader that is no rank; a leader without a bridge; a negative tag; groups that share a process; a rank that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // The even ranks and the odd ones, led by the ranks 0 and 1 of the world.
    /// let half = world.split(Some(world.rank() % 2), 0)?.expect("every rank has a color");
    /// let bridge = (half.rank() == 0).then_some((&world, 1 - world.rank() % 2));
    /// let others = half.intercommunicator(0, bridge, 0);
    /// if world.size() == 1 {
    ///     assert!(others.is_err(), "there is no odd rank");
    /// } else if half.rank() < others.as_ref().map_or(0, |others| others.remote_size()) {
    ///     others?.send(&[world.rank()], half.rank(), 0)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Intercomm_create")]
    pub fn intercommunicator(
        &self,
        leader: usize,
        bridge: Option<(&Communicator<'_>, usize)>,
        tag: i32,
    ) -> Result<Intercommunicator<'u>> {
        const CALL: &str = "intercommunicator";
        self.named(CALL, self.of_one_group())?;
        let engine = self.engine();
        let local_leader = self.named(CALL, argument::root(leader, self.core().size()))?;
        // Who is no leader is not asked; a leader without one tells its group.
        let (peer_comm, remote_leader) = match bridge {
            Some((communicator, rank)) => (Ok(communicator.core()), i32::try_from(rank).unwrap_or(i32::MAX)),
            None => (Err(no_bridge()), 0),
        };
        let made = engine.introduce(self.core(), local_leader, peer_comm, remote_leader, tag);
        Ok(Intercommunicator(Communicator::new(self.universe(), self.named(CALL, made)?)))
    }
}

#[cold]
fn no_bridge() -> Cause {
    Cause::invalid(ErrorClass::Comm, "bridge", "None at the leader", "a communicator with the other leader")
}

impl<'u> Intercommunicator<'u> {
    pub(crate) fn new(communicator: Communicator<'u>) -> Self {
        Self(communicator)
    }

    /// Waits for all ranks of both groups and ends the connections with those of other jobs that are in no other communicator with
    /// this rank (`MPI_Comm_disconnect`, MPI-5.0 §11.10.4). All ranks of both call it, when they have nothing more to say.
    ///
    /// # Errors
    /// A rank that has ended.
    #[doc(alias = "MPI_Comm_disconnect")]
    pub fn disconnect(self) -> Result<()> {
        self.0.disconnect()
    }

    /// This process's rank in its own group (`MPI_Comm_rank`).
    #[doc(alias = "MPI_Comm_rank")]
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// Number of ranks of the own group (`MPI_Comm_size`).
    #[doc(alias = "MPI_Comm_size")]
    pub fn size(&self) -> usize {
        self.0.size()
    }

    /// Number of ranks of the other group (`MPI_Comm_remote_size`).
    #[doc(alias = "MPI_Comm_remote_size")]
    pub fn remote_size(&self) -> usize {
        self.0.peers() as usize
    }

    /// The own group.
    #[doc(alias = "MPI_Comm_group")]
    pub fn group(&self) -> Group {
        self.0.group()
    }

    /// The other group (`MPI_Comm_remote_group`).
    #[doc(alias = "MPI_Comm_remote_group")]
    pub fn remote_group(&self) -> Group {
        let remote = self.0.core().remote().unwrap_or(self.0.core().group());
        Group::of(remote, self.0.me())
    }

    /// Makes one communicator of both groups (`MPI_Intercomm_merge`, MPI-5.0 §7.6.2). All ranks of both call it. The ranks of the group
    /// that says `high` come second; if both say the same, the order is arbitrary.
    ///
    /// # Errors
    /// Ranks of one group that say different things; a rank that has ended.
    #[doc(alias = "MPI_Intercomm_merge")]
    pub fn merge(&self, high: bool) -> Result<Communicator<'u>> {
        const CALL: &str = "merge";
        let comm = &self.0;
        let plan = comm.core().plan_merge(high, || comm.engine().allocate_context_from(comm.core()));
        let made = comm.create_of_any(CALL, plan)?;
        comm.named(
            CALL,
            made.ok_or_else(|| Cause::other(ErrorClass::Intern, "this rank got no communicator")),
        )
    }

    /// All other calls for messages, where ranks are those of the other group: in a scope, persistent, partitioned, as futures and
    /// streams, in any mode.
    ///
    /// What is for one group is refused there: collective operations, and making communicators
    /// ([`ErrorClass::Comm`](crate::ErrorClass::Comm)).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// let (mine, mut theirs) = ([world.rank()], [0]);
    /// if half.rank() == 0 {
    ///     others.messages().scope(|s| {
    ///         s.receive(&mut theirs, 0, 0)?;
    ///         s.send(&mine, 0, 0).map(drop)
    ///     })?;
    ///     assert_eq!(theirs[0], 1 - side);
    /// }
    /// assert_eq!(others.messages().barrier().unwrap_err().class(), posthaste::ErrorClass::Comm);
    /// # Ok(())
    /// # }
    /// ```
    pub fn messages(&self) -> &Communicator<'u> {
        &self.0
    }

    /// As [`Communicator::send`], to a rank of the other group.
    ///
    /// # Errors
    /// As [`Communicator::send`].
    #[doc(alias = "MPI_Send")]
    pub fn send<B: Buffer + ?Sized>(&self, data: &B, to: impl Into<Destination>, tag: i32) -> Result<()> {
        self.0.send(data, to, tag)
    }

    /// As [`Communicator::send_synchronous`], to a rank of the other group.
    ///
    /// # Errors
    /// As [`Communicator::send_synchronous`].
    #[doc(alias = "MPI_Ssend")]
    pub fn send_synchronous<B: Buffer + ?Sized>(
        &self,
        data: &B,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<()> {
        self.0.send_synchronous(data, to, tag)
    }

    /// As [`Communicator::receive`], from a rank of the other group.
    ///
    /// # Errors
    /// As [`Communicator::receive`].
    #[doc(alias = "MPI_Recv")]
    pub fn receive<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        self.0.receive(buffer, from, tag)
    }

    /// As [`Communicator::receive_vec`], from a rank of the other group.
    ///
    /// # Errors
    /// As [`Communicator::receive_vec`].
    #[doc(alias = "MPI_Mrecv")]
    pub fn receive_vec<T: Equivalence>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<T>, Status)> {
        self.0.receive_vec(from, tag)
    }

    /// As [`Communicator::probe`], for a message from the other group.
    ///
    /// # Errors
    /// As [`Communicator::probe`].
    #[doc(alias = "MPI_Probe")]
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Status> {
        self.0.probe(from, tag)
    }
}

impl fmt::Debug for Intercommunicator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Intercommunicator(rank {} of {}, and {} others)",
            self.rank(),
            self.size(),
            self.remote_size()
        )
    }
}
