//! Partitioned operations: one message in parts that leave when they are ready and can be looked at when they have arrived.
//!
//! MPI-5.0 chapter 4. As those of persistent operations, the elements are the request's own; core's `world` shows a partition to nobody
//! while it is under way.

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::world;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::point_to_point::outcome;

/// A partitioned send ([`Communicator::partitioned_send`]).
///
/// One that is dropped while it is active keeps its memory for good.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut send = world.partitioned_send::<u32>(2, 3, 0, 0)?;
/// let mut receive = world.partitioned_receive::<u32>(1, 6, 0, 0)?;
/// receive.start()?;
/// send.start()?;
/// send.partition_mut(1)?.fill(5);
/// send.ready(1)?;
/// let error = send.partition_mut(1).unwrap_err();
/// assert!(error.to_string().contains("which is ready"), "it may be on its way: {error}");
/// let error = send.wait().unwrap_err();
/// assert!(error.to_string().contains("partition 0 not ready"), "nothing would ever end: {error}");
/// send.ready(0)?;
/// send.wait()?;
/// receive.wait()?;
/// assert_eq!(receive.partition(0)?, [0, 0, 0, 5, 5, 5]);
/// # Ok(())
/// # }
/// ```
///
/// While a partition is being filled nothing leaves:
///
/// ```compile_fail,E0499
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut send = world.partitioned_send::<u32>(2, 3, 0, 0).unwrap();
/// send.start().unwrap();
/// let first = send.partition_mut(0).unwrap();
/// send.ready(0).unwrap(); // error: cannot borrow as mutable more than once
/// first[0] = 5;
/// ```
#[doc(alias = "MPI_Psend_init")]
pub struct PartitionedSend<'u, T: Equivalence> {
    communicator: Communicator<'u>,
    end: world::PartitionedSend<'u, T>,
}

/// A partitioned receive ([`Communicator::partitioned_receive`]).
///
/// One that is dropped while it is active keeps its memory for good.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut receive = world.partitioned_receive::<f32>(2, 4, 0, 9)?;
/// let mut send = world.partitioned_send::<f32>(2, 4, 0, 9)?;
/// receive.start()?;
/// assert!(!receive.has_arrived(0)?);
/// assert!(receive.partition(0).is_err(), "it has not arrived");
/// send.start()?;
/// send.ready_all(0..2)?;
/// while receive.test()?.is_none() {}
/// send.wait()?;
/// assert_eq!(receive.partition(1)?, [0.0; 4]);
/// # Ok(())
/// # }
/// ```
///
/// Who looks at a partition does not start the next round:
///
/// ```compile_fail,E0502
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut receive = world.partitioned_receive::<f32>(2, 4, 0, 9).unwrap();
/// let first = receive.partition(0).unwrap();
/// receive.start().unwrap(); // error: cannot borrow as mutable because it is borrowed
/// println!("{first:?}");
/// ```
#[doc(alias = "MPI_Precv_init")]
pub struct PartitionedReceive<'u, T: Equivalence> {
    communicator: Communicator<'u>,
    end: world::PartitionedReceive<'u, T>,
}

impl<'u> Communicator<'u> {
    /// Prepares to send `partitions` parts of `each` elements (`MPI_Psend_init`), of which every number is 0 at first. The receiver may
    /// divide the same bytes otherwise.
    ///
    /// # Errors
    /// A rank or a tag that does not exist; more partitions than `i32::MAX`; no memory.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut send = world.partitioned_send::<f64>(4, 100, 0, 0)?;
    /// let mut receive = world.partitioned_receive::<f64>(4, 100, 0, 0)?;
    /// for round in 0..2 {
    ///     receive.start()?;
    ///     send.start()?;
    ///     for partition in [2, 0, 3, 1] {
    ///         send.partition_mut(partition)?.fill((10 * round + partition) as f64);
    ///         send.ready(partition)?;
    ///     }
    ///     while !receive.has_arrived(3)? {}
    ///     assert_eq!(receive.partition(3)?, [(10 * round + 3) as f64; 100]);
    ///     receive.wait()?;
    ///     send.wait()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Psend_init")]
    pub fn partitioned_send<T: Equivalence>(
        &self,
        partitions: usize,
        each: usize,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<PartitionedSend<'u, T>> {
        const CALL: &str = "partitioned_send";
        let to = self.named(CALL, to.into().number(self.peers()))?;
        let end = world::PartitionedSend::new(self.engine(), self.shared(), (partitions, each), to, tag);
        Ok(PartitionedSend { communicator: self.clone(), end: self.named(CALL, end)? })
    }

    /// Prepares to receive `partitions` parts of `each` elements (`MPI_Precv_init`), of which every number is 0 at first. There are no
    /// wildcards.
    ///
    /// # Errors
    /// A rank or a tag that does not exist; more partitions than `i32::MAX`; no memory.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut nothing = world.partitioned_receive::<u8>(2, 10, None, 0)?;
    /// nothing.start()?;
    /// assert!(nothing.wait()?.source().is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Precv_init")]
    pub fn partitioned_receive<T: Equivalence>(
        &self,
        partitions: usize,
        each: usize,
        from: impl Into<Source>,
        tag: i32,
    ) -> Result<PartitionedReceive<'u, T>> {
        const CALL: &str = "partitioned_receive";
        let (from, tag) = self.named(CALL, self.pattern(from.into(), Tag::from(tag)))?;
        let end = world::PartitionedReceive::new(self.engine(), self.shared(), (partitions, each), from, tag);
        Ok(PartitionedReceive { communicator: self.clone(), end: self.named(CALL, end)? })
    }
}

impl<T: Equivalence> PartitionedSend<'_, T> {
    /// A partition, to be filled.
    ///
    /// # Errors
    /// A number that no partition has; one that has been made ready, until the operation is completed.
    pub fn partition_mut(&mut self, partition: usize) -> Result<&mut [T]> {
        self.communicator.named("partition_mut", self.end.partition_mut(partition))
    }

    /// Lets a partition leave (`MPI_Pready`).
    ///
    /// # Errors
    /// A number that no partition has; one that is ready already; before the start.
    #[doc(alias = "MPI_Pready")]
    pub fn ready(&mut self, partition: usize) -> Result<()> {
        self.communicator.named("ready", self.end.ready(partition))
    }

    /// Lets several partitions leave (`MPI_Pready_range`, `MPI_Pready_list`): a range of numbers, or any list.
    ///
    /// # Errors
    /// As [`PartitionedSend::ready`]; those before the wrong one have left.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut send = world.partitioned_send::<u8>(4, 10, 0, 0)?;
    /// let mut receive = world.partitioned_receive::<u8>(2, 20, 0, 0)?;
    /// receive.start()?;
    /// send.start()?;
    /// send.ready_all(0..2)?;
    /// send.ready_all([3, 2])?;
    /// send.wait()?;
    /// receive.wait()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Pready_range")]
    #[doc(alias = "MPI_Pready_list")]
    pub fn ready_all(&mut self, partitions: impl IntoIterator<Item = usize>) -> Result<()> {
        let all = partitions.into_iter().try_for_each(|partition| self.end.ready(partition));
        self.communicator.named("ready_all", all)
    }
}

impl<T: Equivalence> PartitionedReceive<'_, T> {
    /// Whether a partition has arrived (`MPI_Parrived`); those of an operation that was not started have.
    ///
    /// # Errors
    /// A number that no partition has.
    #[doc(alias = "MPI_Parrived")]
    pub fn has_arrived(&self, partition: usize) -> Result<bool> {
        self.communicator.named("has_arrived", self.end.has_arrived(partition))
    }

    /// A partition that has arrived.
    ///
    /// # Errors
    /// A number that no partition has; one that has not arrived.
    pub fn partition(&self, partition: usize) -> Result<&[T]> {
        self.communicator.named("partition", self.end.partition(partition))
    }
}

macro_rules! requests {
    ($($request:ident),*) => {$(
        impl<T: Equivalence> $request<'_, T> {
            /// Starts (`MPI_Start`).
            ///
            /// # Errors
            /// While it is active.
            #[doc(alias = "MPI_Start")]
            pub fn start(&mut self) -> Result<()> {
                self.communicator.named("start", self.end.start())
            }

            /// Waits until all partitions have left, or have arrived (`MPI_Wait`); at once if it was not started.
            ///
            /// # Errors
            /// A partition to be sent that was not made ready, since nothing would ever end; as [`Request::wait`](crate::Request::wait).
            #[doc(alias = "MPI_Wait")]
            pub fn wait(&mut self) -> Result<Status> {
                let status = self.end.wait();
                self.communicator.named("wait", status.and_then(outcome))
            }

            /// Completes the operation if it is over (`MPI_Test`), and says its status; an empty one if it was not started.
            ///
            /// # Errors
            /// As [`Request::wait`](crate::Request::wait).
            #[doc(alias = "MPI_Test")]
            pub fn test(&mut self) -> Result<Option<Status>> {
                let status = self.end.test().and_then(|status| status.map(outcome).transpose());
                self.communicator.named("test", status)
            }
        }

        impl<T: Equivalence> fmt::Debug for $request<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($request))
            }
        }
    )*};
}
requests!(PartitionedSend, PartitionedReceive);
