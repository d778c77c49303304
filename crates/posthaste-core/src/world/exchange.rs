//! A send and a receive under one request, as part of a scope. MPI-5.0 §3.11 (`MPI_Isendrecv`).
//!
//! What must stay true: where one of them cannot be started, neither goes on when the call returns.

use super::{Scope, World, scope::Operation};
use crate::buffer::OwnedBuf;
use crate::comm::Comm;
use crate::datatype::Segment;
use crate::error::Result;
use crate::ids::RequestId;
use crate::progress::Vci;
use crate::pt2pt::recv;
use crate::request::Status;
use crate::request::composite::{self, Composite};
use crate::slice::{RecvBuf, SendBuf};
use crate::wire::Mode;

impl World {
    /// Starts both under one request, which reports what was received; `sent` is memory of ours that the send leaves from.
    fn iexchange(
        &self,
        comm: &Comm,
        (outgoing, to, send_tag): (Segment, i32, i32),
        (incoming, from, receive_tag): (Segment, i32, i32),
        sent: Option<OwnedBuf>,
    ) -> Result<RequestId> {
        comm.destination(to)?;
        // The whole first: nothing that goes on may be left without it.
        let whole = Composite::of(2).keeping_alive(sent);
        let whole = composite::begin(&mut self.vci_of(comm).engine.requests, whole, Status::EMPTY)?;
        let received = self.irecv(comm, from, receive_tag, incoming);
        let both = received.and_then(|receive| {
            let sent = self.isend(comm, to, send_tag, outgoing, Mode::Standard);
            sent.map(|send| (receive, send)).inspect_err(|_| {
                recv::cancel(&mut self.vci_of(comm).engine, receive);
                // What became of it nobody asks.
                let _ = self.wait(receive);
            })
        });
        let Vci { engine, .. } = &mut *self.vci_of(comm);
        match both {
            Ok((receive, send)) => {
                recv::finish(engine, receive);
                composite::add(&mut engine.requests, &mut engine.finished, whole, receive, true);
                composite::add(&mut engine.requests, &mut engine.finished, whole, send, false);
                Ok(whole)
            }
            Err(why) => {
                engine.requests.remove(whole);
                Err(why)
            }
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// As [`World::exchange`], without waiting for either.
    ///
    /// # Errors
    /// A wrong rank or tag; a full table of requests.
    pub fn exchange(
        &self,
        call: &'static str,
        comm: &Comm,
        (data, to, send_tag): (SendBuf<'scope>, i32, i32),
        (room, from, receive_tag): (RecvBuf<'scope>, i32, i32),
    ) -> Result<Operation<'scope>> {
        let (outgoing, incoming) = ((data.lend(), to, send_tag), (room.lend(), from, receive_tag));
        self.started(call, |world| world.iexchange(comm, outgoing, incoming, None))
    }

    /// The same with one buffer: a copy of what is in it is sent.
    ///
    /// # Errors
    /// As [`Scope::exchange`]; no memory for the copy.
    pub fn exchange_in_place(
        &self,
        call: &'static str,
        comm: &Comm,
        room: RecvBuf<'scope>,
        (to, send_tag): (i32, i32),
        (from, receive_tag): (i32, i32),
    ) -> Result<Operation<'scope>> {
        let room = room.lend();
        self.started(call, |world| {
            let memory = OwnedBuf::try_new(usize::try_from(room.len()).unwrap_or(usize::MAX))?;
            let copy = room.repacked(memory.user_buf());
            world.copy(room.clone(), copy.clone())?;
            world.iexchange(comm, (copy, to, send_tag), (room, from, receive_tag), Some(memory))
        })
    }
}
