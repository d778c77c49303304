//! Sends in buffered mode, out of memory of the library's own. MPI-5.0 §3.6.
//!
//! What must stay true: such a send never waits for its receive, and the memory of a message outlives its way.

use std::cell::{Cell, RefCell};

use super::{World, outcome, take_if_complete};
use crate::buffer::OwnedBuf;
use crate::comm::Comm;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::RequestId;
use crate::request::Table;
use crate::slice::SendBuf;
use crate::wire::Mode;

/// Copies of messages that have not left yet, and how many bytes they may take.
#[derive(Debug, Default)]
pub struct Buffered {
    messages: RefCell<Vec<(RequestId, OwnedBuf)>>,
    /// `None`: as many as there are.
    limit: Cell<Option<usize>>,
    /// What went wrong with the first of those that have left and failed.
    failed: RefCell<Option<Error>>,
}

impl Buffered {
    /// Allows so many bytes at the same time.
    ///
    /// # Errors
    /// When there is a limit already.
    pub fn attach(&self, bytes: usize) -> Result<()> {
        if let Some(limit) = self.limit.get() {
            let got = format_args!("a second one of {bytes} bytes beside one of {limit}");
            return Err(Error::invalid(ErrorClass::Buffer, "buffer", got, "none attached yet"));
        }
        self.limit.set(Some(bytes));
        Ok(())
    }

    /// Waits until all messages have left, and allows any number of bytes again; returns the limit that there was.
    ///
    /// # Errors
    /// What went wrong with a message.
    pub fn detach(&self, world: &World) -> Result<Option<usize>> {
        self.flush(world)?;
        Ok(self.limit.take())
    }

    /// Waits until all messages have left.
    ///
    /// # Errors
    /// What went wrong with the first of those that failed.
    pub fn flush(&self, world: &World) -> Result<()> {
        let mut result = self.failed.take().map_or(Ok(()), Err);
        for (id, memory) in self.messages.take() {
            let sent = super::scope::to_the_end(|| world.wait(id).and_then(outcome));
            drop(memory);
            result = result.and(sent);
        }
        result
    }

    /// Sends a copy if the message does not leave at once.
    ///
    /// # Errors
    /// A wrong rank or tag; no room, or no memory.
    pub fn send(&self, world: &World, comm: &Comm, to: i32, tag: i32, data: SendBuf<'_>) -> Result<()> {
        let data = data.lend();
        if !self.messages.borrow().is_empty() {
            world.step_in(comm);
            self.reap(world);
        }
        let len = usize::try_from(data.len()).unwrap_or(usize::MAX);
        let used: usize = self.messages.borrow().iter().map(|(_, memory)| memory.len()).sum();
        if let Some(limit) = self.limit.get()
            && len > limit.saturating_sub(used)
        {
            let got = format_args!("{limit} bytes, of which messages under way take {used}");
            return Err(Error::invalid(
                ErrorClass::Buffer,
                "attached buffer",
                got,
                format_args!("{len} free bytes"),
            ));
        }
        if world.send_at_once(comm, to, tag, &data)? {
            return Ok(());
        }
        let memory = OwnedBuf::try_new(len)?;
        let packed = data.repacked(memory.user_buf());
        super::scope::to_the_end(|| {
            world.copy(data, packed.clone())?;
            let id = world.isend(comm, to, tag, packed, Mode::Standard)?;
            if id != Table::DONE {
                self.messages.borrow_mut().push((id, memory));
            }
            Ok(())
        })
    }

    /// Forgets the messages that have left, but not what went wrong with the first of those that failed.
    fn reap(&self, world: &World) {
        let mut failed = self.failed.take();
        let mut is_under_way = |(id, _): &(RequestId, OwnedBuf)| {
            let Some(over) = take_if_complete(&mut world.vci_with(id.slot as usize), *id) else {
                return true;
            };
            failed = failed.take().or(over.and_then(outcome).err());
            false
        };
        self.messages.borrow_mut().retain(&mut is_under_way);
        self.failed.replace(failed);
    }
}

impl Drop for Buffered {
    fn drop(&mut self) {
        // Nobody has waited for these, so the engine has their memory for good.
        self.messages.take().into_iter().for_each(|(_, memory)| std::mem::forget(memory));
    }
}
