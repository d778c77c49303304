//! Operations that are started again and again, with elements that are theirs. MPI-5.0 §3.9.
//!
//! What must stay true: nobody sees the elements while an operation is under way, and their memory outlives it, even if the value is
//! forgotten.

use super::World;
use super::scope::to_the_end;
use crate::buffer::{Elements, Equivalence, UserBuf, is_dense};
use crate::comm::Comm;
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::RequestId;
use crate::pt2pt::recv;
use crate::request::Status;
use crate::wire::Mode;

/// Elements with which one operation at a time is under way.
#[derive(Debug)]
pub struct Persistent<'w, T: Equivalence> {
    world: &'w World,
    elements: Elements<T>,
    active: Option<RequestId>,
}

impl<'w, T: Equivalence> Persistent<'w, T> {
    /// So many elements, of which every number is 0.
    ///
    /// # Errors
    /// No memory.
    pub fn new(world: &'w World, len: usize) -> Result<Self> {
        Ok(Self { world, elements: Elements::new(len)?, active: None })
    }

    /// Whether an operation has been started and not been completed.
    pub fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// The elements.
    ///
    /// # Errors
    /// While it is active.
    pub fn elements(&self) -> Result<&[T]> {
        self.check_inactive()?;
        Ok(self.elements.part(0..self.elements.len()))
    }

    /// The elements, to be changed.
    ///
    /// # Errors
    /// While it is active.
    pub fn elements_mut(&mut self) -> Result<&mut [T]> {
        self.check_inactive()?;
        Ok(self.elements.part_mut(0..self.elements.len()))
    }

    /// As [`World::isend`], of all elements.
    ///
    /// # Errors
    /// While it is active; otherwise as [`World::isend`].
    #[inline]
    pub fn isend(&mut self, comm: &Comm, to: i32, tag: i32, mode: Mode) -> Result<()> {
        self.check_inactive()?;
        let segment = segment(&self.elements);
        self.active = Some(to_the_end(|| self.world.isend(comm, to, tag, segment, mode))?);
        Ok(())
    }

    /// As [`World::irecv`], into all elements.
    ///
    /// # Errors
    /// While it is active; otherwise as [`World::irecv`].
    #[inline]
    pub fn irecv(&mut self, comm: &Comm, from: i32, tag: i32) -> Result<()> {
        self.check_inactive()?;
        let segment = segment(&self.elements);
        self.active = Some(to_the_end(|| self.world.irecv(comm, from, tag, segment))?);
        Ok(())
    }

    /// As [`World::wait`]; empty for an inactive one.
    ///
    /// # Errors
    /// As [`World::wait`].
    #[inline]
    pub fn wait(&mut self) -> Result<Status> {
        let Some(id) = self.active else { return Ok(Status::EMPTY) };
        let status = to_the_end(|| self.world.wait(id));
        self.active = None;
        status
    }

    /// As [`World::test`]; empty for an inactive one.
    ///
    /// # Errors
    /// As [`World::test`].
    pub fn test(&mut self) -> Result<Option<Status>> {
        let Some(id) = self.active else { return Ok(Some(Status::EMPTY)) };
        let status = to_the_end(|| self.world.test(id))?;
        if status.is_some() {
            self.active = None;
        }
        Ok(status)
    }

    /// As [`World::cancel`].
    pub fn cancel(&self) {
        if let Some(id) = self.active {
            self.world.cancel(id);
        }
    }

    fn check_inactive(&self) -> Result<()> {
        if self.active.is_none() { Ok(()) } else { Err(is_active()) }
    }
}

impl<T: Equivalence> Drop for Persistent<'_, T> {
    fn drop(&mut self) {
        let Some(id) = self.active.take() else { return };
        if std::thread::panicking() {
            // The job ends with this rank, and nobody waits before.
            return self.elements.leak();
        }
        to_the_end(|| {
            // A message may never come; what has begun ends.
            recv::cancel(&mut self.world.vci_with(id.slot as usize).engine, id);
            _ = self.world.wait(id);
        });
    }
}

#[cold]
fn is_active() -> Error {
    let expected = "one that is inactive: complete it by a test or wait before";
    Error::invalid(ErrorClass::Request, "request", "an active persistent request", expected)
}

/// All of the elements.
#[inline]
pub(super) fn segment<T: Equivalence>(elements: &Elements<T>) -> Segment {
    let (buf, len): (UserBuf, usize) = (elements.user_buf(), elements.len());
    if const { is_dense::<T>() } {
        Segment::contiguous(buf, (len * size_of::<T>()) as u64)
    } else {
        Segment::new(buf, len as u64, &Datatype::of::<T>())
    }
}
