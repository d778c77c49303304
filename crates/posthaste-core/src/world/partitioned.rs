//! Partitioned operations, with elements that are theirs. MPI-5.0 chapter 4.
//!
//! What must stay true: nobody changes a partition that has been made ready, nor looks at one that has not arrived, until the operation
//! is completed; the memory of an operation that is dropped while it is active stays for good, and its channel until the start ends.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::World;
use super::persistent::segment;
use super::scope::to_the_end;
use crate::buffer::{Elements, Equivalence};
use crate::comm::Comm;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{RequestId, TAG_UB};
use crate::method::Methods;
use crate::progress::Vci;
use crate::pt2pt::Engine;
use crate::pt2pt::partitioned::{Parts, Receiving, Sending, forget_after};
use crate::request::Status;

/// What both ends have.
#[derive(Debug)]
struct End<'w, T: Equivalence> {
    world: &'w World,
    comm: Arc<Comm>,
    elements: Elements<T>,
    partitions: usize,
    active: Option<RequestId>,
}

/// The sender's end.
#[derive(Debug)]
pub struct PartitionedSend<'w, T: Equivalence> {
    end: End<'w, T>,
    sending: Sending,
    /// Which have been made ready since the start.
    ready: Vec<bool>,
}

/// The receiver's end.
#[derive(Debug)]
pub struct PartitionedReceive<'w, T: Equivalence> {
    end: End<'w, T>,
    receiving: Arc<Mutex<Receiving>>,
}

impl<'w, T: Equivalence> PartitionedSend<'w, T> {
    /// An operation that sends so many partitions of so many elements each.
    ///
    /// # Errors
    /// A wrong rank or tag; no memory.
    pub fn new(
        world: &'w World,
        comm: &Arc<Comm>,
        (partitions, each): (usize, usize),
        to: i32,
        tag: i32,
    ) -> Result<Self> {
        let to = comm.destination(to)?;
        let (end, parts) = End::new(world, comm, (partitions, each), tag)?;
        let channel = world.allocate_context_beside(comm)?;
        let sending = Sending::new(to, comm.rank(), channel, parts);
        {
            let mut vci = world.vci_of(comm);
            let Vci { engine, methods, .. } = &mut *vci;
            sending.announce(engine, methods, comm.context(), tag)?;
        }
        Ok(Self { end, sending, ready: vec![false; partitions] })
    }

    /// Starts; nothing leaves before it is ready.
    ///
    /// # Errors
    /// While it is active; a full table of requests.
    pub fn start(&mut self) -> Result<()> {
        self.end.check_inactive()?;
        self.end.active = Some(self.sending.start(&mut self.end.world.vci_of(&self.end.comm).engine)?);
        self.ready.fill(false);
        Ok(())
    }

    /// A partition, to be filled.
    ///
    /// # Errors
    /// A number that no partition has; one that has been made ready, until the operation is completed.
    pub fn partition_mut(&mut self, partition: usize) -> Result<&mut [T]> {
        let range = self.end.range(partition)?;
        if self.end.active.is_some() && self.ready[partition] {
            let got = format_args!("{partition}, which is ready");
            let expected = "one that is not ready, or a completed operation";
            return Err(Error::invalid(ErrorClass::Arg, "partition", got, expected));
        }
        Ok(self.end.elements.part_mut(range))
    }

    /// A partition may leave.
    ///
    /// # Errors
    /// A number that no partition has; one that is ready already; an operation that is not active.
    pub fn ready(&mut self, partition: usize) -> Result<()> {
        self.end.range(partition)?;
        let mut vci = self.end.world.vci_of(&self.end.comm);
        let Vci { engine, methods, .. } = &mut *vci;
        to_the_end(|| self.sending.ready(engine, methods, partition as u32))?;
        self.ready[partition] = true;
        Ok(())
    }

    /// As [`World::wait`]; empty for an inactive one.
    ///
    /// # Errors
    /// When a partition is not ready, for then nothing would end; otherwise as [`World::wait`].
    pub fn wait(&mut self) -> Result<Status> {
        if self.end.active.is_some()
            && let Some(missing) = self.ready.iter().position(|ready| !ready)
        {
            let got = format_args!("active with partition {missing} not ready");
            let expected = "all partitions ready, or nothing would ever end";
            return Err(Error::invalid(ErrorClass::Request, "request", got, expected));
        }
        self.end.wait()
    }

    /// As [`World::test`]; empty for an inactive one.
    ///
    /// # Errors
    /// As [`World::test`].
    pub fn test(&mut self) -> Result<Option<Status>> {
        self.end.test()
    }
}

impl<'w, T: Equivalence> PartitionedReceive<'w, T> {
    /// An operation that receives so many partitions of so many elements each.
    ///
    /// # Errors
    /// A wrong rank or tag; no memory.
    pub fn new(
        world: &'w World,
        comm: &Arc<Comm>,
        (partitions, each): (usize, usize),
        from: i32,
        tag: i32,
    ) -> Result<Self> {
        let source = comm.source(from)?;
        let (end, parts) = End::new(world, comm, (partitions, each), tag)?;
        if source.is_none() {
            let nobody = Status { source: from, ..Status::EMPTY };
            let receiving = Receiving::from_nobody(&nobody, parts);
            return Ok(Self { end, receiving: Arc::new(Mutex::new(receiving)) });
        }
        let receiving = Arc::new(Mutex::new(Receiving::new(from, tag, parts)));
        // The request that listens is the engine's, which it must not keep.
        let (at, runtime) = (Arc::downgrade(&receiving), Arc::downgrade(&world.runtime));
        let home = comm.context().vci();
        let handler = move |_, status: &Status| {
            let (Some(at), Some(runtime)) = (at.upgrade(), runtime.upgrade()) else { return };
            let mut vci = runtime.enter(home);
            let Vci { engine, methods, .. } = &mut *vci;
            locked(&at).announced(engine, methods, status);
        };
        {
            let mut vci = world.vci_of(comm);
            let Vci { engine, methods, .. } = &mut *vci;
            locked(&receiving).listen(engine, methods, comm.context(), Box::new(handler))?;
        }
        Ok(Self { end, receiving })
    }

    /// Starts.
    ///
    /// # Errors
    /// While it is active; a full table of requests.
    pub fn start(&mut self) -> Result<()> {
        self.end.check_inactive()?;
        let mut vci = self.end.world.vci_of(&self.end.comm);
        let Vci { engine, methods, .. } = &mut *vci;
        self.end.active = Some(to_the_end(|| locked(&self.receiving).start(engine, methods))?);
        Ok(())
    }

    /// Whether a partition has arrived; one of an operation that is not active has.
    ///
    /// # Errors
    /// A number that no partition has.
    pub fn has_arrived(&self, partition: usize) -> Result<bool> {
        self.end.range(partition)?;
        if self.look(partition) {
            return Ok(true);
        }
        self.end.world.step_in(&self.end.comm);
        Ok(self.look(partition))
    }

    /// A partition that has arrived.
    ///
    /// # Errors
    /// A number that no partition has; one that has not arrived.
    pub fn partition(&self, partition: usize) -> Result<&[T]> {
        let range = self.end.range(partition)?;
        if self.has_arrived(partition)? {
            return Ok(self.end.elements.part(range));
        }
        let got = format_args!("{partition}, which has not arrived");
        Err(Error::invalid(ErrorClass::Arg, "partition", got, "one that has arrived"))
    }

    /// As [`World::wait`]; empty for an inactive one.
    ///
    /// # Errors
    /// As [`World::wait`].
    pub fn wait(&mut self) -> Result<Status> {
        self.end.wait()
    }

    /// As [`World::test`]; empty for an inactive one.
    ///
    /// # Errors
    /// As [`World::test`].
    pub fn test(&mut self) -> Result<Option<Status>> {
        self.end.test()
    }

    fn look(&self, partition: usize) -> bool {
        let vci = self.end.world.vci_of(&self.end.comm);
        locked(&self.receiving).has_arrived(&vci.engine.requests, partition as u32)
    }
}

/// An end is locked inside the VCI's lock, never the other way round.
fn locked(receiving: &Mutex<Receiving>) -> MutexGuard<'_, Receiving> {
    receiving.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'w, T: Equivalence> End<'w, T> {
    fn new(
        world: &'w World,
        comm: &Arc<Comm>,
        (partitions, each): (usize, usize),
        tag: i32,
    ) -> Result<(Self, Parts)> {
        if tag < 0 {
            return Err(Error::invalid(ErrorClass::Tag, "tag", tag, format_args!("0..={TAG_UB}")));
        }
        let count = i32::try_from(partitions).map_err(|_| {
            Error::invalid(ErrorClass::Count, "partitions", partitions, format_args!("0..={}", i32::MAX))
        })?;
        let elements = Elements::new(partitions.saturating_mul(each))?;
        let parts = Parts::new(segment(&elements), count as u32);
        Ok((Self { world, comm: comm.clone(), elements, partitions, active: None }, parts))
    }

    fn check_inactive(&self) -> Result<()> {
        if self.active.is_none() {
            return Ok(());
        }
        let expected = "one that is inactive: complete it by a test or wait before";
        Err(Error::invalid(ErrorClass::Request, "request", "an active partitioned request", expected))
    }

    /// The elements of a partition.
    fn range(&self, partition: usize) -> Result<Range<usize>> {
        if partition >= self.partitions {
            let expected = format_args!("a number below {}", self.partitions);
            return Err(Error::invalid(ErrorClass::Arg, "partition", partition, expected));
        }
        let each = self.elements.len() / self.partitions;
        Ok(partition * each..(partition + 1) * each)
    }

    fn wait(&mut self) -> Result<Status> {
        let Some(id) = self.active else { return Ok(Status::EMPTY) };
        let status = to_the_end(|| self.world.wait(id));
        self.active = None;
        status
    }

    fn test(&mut self) -> Result<Option<Status>> {
        let Some(id) = self.active else { return Ok(Some(Status::EMPTY)) };
        let status = to_the_end(|| self.world.test(id))?;
        if status.is_some() {
            self.active = None;
        }
        Ok(status)
    }

    /// Is done when the last start has ended; at once if that is so.
    fn at_the_end(&self, done: impl FnOnce(&mut Engine, &mut Methods) + Send + 'static) {
        if std::thread::panicking() {
            // The job ends with this rank, and perhaps in the middle of a step.
            return;
        }
        let mut vci = self.world.vci_of(&self.comm);
        let Vci { engine, methods, .. } = &mut *vci;
        let Some(active) = self.active else { return done(engine, methods) };
        let (runtime, home) = (Arc::downgrade(&self.world.runtime), self.comm.context().vci());
        let handler = move |_, _: &Status| {
            let Some(runtime) = runtime.upgrade() else { return };
            let mut vci = runtime.enter(home);
            let Vci { engine, methods, .. } = &mut *vci;
            done(engine, methods);
        };
        forget_after(engine, active, Box::new(handler));
    }
}

impl<T: Equivalence> Drop for PartitionedSend<'_, T> {
    fn drop(&mut self) {
        let channel = self.sending.channel();
        self.end.at_the_end(move |engine, _| engine.contexts.forget(channel));
    }
}

impl<T: Equivalence> Drop for PartitionedReceive<'_, T> {
    fn drop(&mut self) {
        let receiving = Arc::clone(&self.receiving);
        self.end.at_the_end(move |engine, methods| locked(&receiving).forget(engine, methods));
    }
}

impl<T: Equivalence> Drop for End<'_, T> {
    fn drop(&mut self) {
        if self.active.is_some() {
            // Partitions that are not ready, or never come, would be waited for in vain.
            self.elements.leak();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Calls, Engines};

    /// A job of one process, which has both ends of each channel.
    fn alone() -> World {
        Engines::open(false, &mut None).expect("an engine").world(Calls::C)
    }

    fn ends(world: &World) -> (PartitionedSend<'_, u32>, PartitionedReceive<'_, u32>) {
        let receive = PartitionedReceive::new(world, world.own(), (2, 3), 0, 7).expect("right arguments");
        (PartitionedSend::new(world, world.own(), (2, 3), 0, 7).expect("right arguments"), receive)
    }

    /// Until no request is left.
    fn go_on(world: &World) {
        for _ in 0..1000 {
            world.step_in(world.own());
            if world.vci_of(world.own()).engine.requests.is_empty() {
                return;
            }
        }
        panic!("requests do not end");
    }

    #[test]
    fn ten_thousand_operations_leave_nothing_behind() {
        let world = alone();
        let sizes = || world.vci_of(world.own()).engine.contexts.sizes();
        let before = sizes();
        for round in 0..10_000 {
            let (mut send, mut receive) = ends(&world);
            if round % 3 == 0 {
                receive.start().unwrap();
                send.start().unwrap();
                (0..2).for_each(|partition| send.ready(partition).unwrap());
                send.wait().unwrap();
                drop(send);
                receive.wait().unwrap();
            } else if round % 3 == 1 {
                drop(receive);
                drop(send);
            }
            go_on(&world);
        }
        assert_eq!(sizes(), before);
    }

    #[test]
    fn a_start_that_nobody_waits_for_ends_and_the_channel_is_known_so_long() {
        let world = alone();
        let known = |channel| world.vci_of(world.own()).engine.contexts.get(channel).is_some();
        let (mut send, mut receive) = ends(&world);
        let channel = send.sending.channel();
        receive.start().unwrap();
        drop(receive);
        (0..100).for_each(|_| world.step_in(world.own()));
        send.start().unwrap();
        (0..2).for_each(|partition| send.ready(partition).unwrap());
        drop(send);
        assert!(known(channel));
        go_on(&world);
        assert!(!known(channel));
    }
}
