//! C functions for point-to-point communication (MPI-5.0 chapter 3).
//!
//! What must stay true: a send or receive with a predefined communicator and datatype takes no lock of this library,
//! counts no references and allocates nothing.

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;

use posthaste_core::buffer::Base;
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Segment;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::{RequestId, TAG_UB};
use posthaste_core::pt2pt::matching::Unexpected;
use posthaste_core::pt2pt::{probe, recv as receiving};
use posthaste_core::request::Status;
use posthaste_core::wire::Mode;
use posthaste_core::world::World;

use crate::abi::constants::{
    MPI_COMM_SELF, MPI_COMM_WORLD, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL, MPI_UNDEFINED,
};
use crate::abi::pointer::Out;
use crate::abi::types::{
    MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, MPI_Session, MPI_Status,
};
use crate::call::mpi_fn;
use crate::handle::{Deposit, Kind};
use crate::layer::library::{library, of_world};
use crate::mapping::ranks::{rank_in, source_in, tag_in};
use crate::object::communicator;
use crate::object::memory::{length, plain_segment, segment};
use crate::object::session;
use crate::object::site::{Located, Outcome, Site};
use crate::request::bsend::{self, Owner};
use crate::request::completion;
use crate::request::persistent::{self, Plan};

// Blocking send and receive, and the modes of sending.
mpi_fn! {
    /// MPI-5.0 §3.2.1
    fn MPI_Send / PMPI_Send(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        send(buf, count.into(), datatype, dest, tag, comm, Mode::Standard)
    }
    /// MPI-5.0 §3.2.1
    fn MPI_Send_c / PMPI_Send_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        send(buf, count, datatype, dest, tag, comm, Mode::Standard)
    }
    /// MPI-5.0 §3.4
    fn MPI_Ssend / PMPI_Ssend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        send(buf, count.into(), datatype, dest, tag, comm, Mode::Synchronous)
    }
    /// MPI-5.0 §3.4
    fn MPI_Ssend_c / PMPI_Ssend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        send(buf, count, datatype, dest, tag, comm, Mode::Synchronous)
    }
    /// MPI-5.0 §3.4
    fn MPI_Rsend / PMPI_Rsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        send(buf, count.into(), datatype, dest, tag, comm, Mode::Ready)
    }
    /// MPI-5.0 §3.4
    fn MPI_Rsend_c / PMPI_Rsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        send(buf, count, datatype, dest, tag, comm, Mode::Ready)
    }
    /// MPI-5.0 §3.2.4
    fn MPI_Recv / PMPI_Recv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int,
        tag: c_int, comm: MPI_Comm, status: Out<MPI_Status>) raises comm => {
        recv(buf, count.into(), datatype, source, tag, comm, status)
    }
    /// MPI-5.0 §3.2.4
    fn MPI_Recv_c / PMPI_Recv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int,
        tag: c_int, comm: MPI_Comm, status: Out<MPI_Status>) raises comm => {
        recv(buf, count, datatype, source, tag, comm, status)
    }
}

// Buffered mode.
mpi_fn! {
    /// MPI-5.0 §3.4
    fn MPI_Bsend / PMPI_Bsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        let found = communicator::find("comm", comm)?;
        let (dest, tag) = check_send(&found, (dest, tag))?;
        bsend::send(&found, dest, tag, &segment(buf, count.into(), datatype)?)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Ibsend / PMPI_Ibsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let found = communicator::find("comm", comm)?;
        let (dest, tag) = check_send(&found, (dest, tag))?;
        bsend::isend(comm, &found, (dest, tag), &segment(buf, count.into(), datatype)?, request)
    }
    /// MPI-5.0 §3.4
    fn MPI_Bsend_c / PMPI_Bsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm) raises comm => {
        let found = communicator::find("comm", comm)?;
        let (dest, tag) = check_send(&found, (dest, tag))?;
        bsend::send(&found, dest, tag, &segment(buf, count, datatype)?)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Ibsend_c / PMPI_Ibsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let found = communicator::find("comm", comm)?;
        let (dest, tag) = check_send(&found, (dest, tag))?;
        bsend::isend(comm, &found, (dest, tag), &segment(buf, count, datatype)?, request)
    }
}

// Buffers for the buffered mode.
mpi_fn! {
    /// MPI-5.0 §3.6
    fn MPI_Buffer_attach / PMPI_Buffer_attach(buffer: *mut c_void, size: c_int) raises Site::Process => {
        bsend::attach(Owner::PROCESS, buffer, size.into())
    }
    /// MPI-5.0 §3.6
    fn MPI_Buffer_detach / PMPI_Buffer_detach(buffer_addr: *mut c_void, size: Out<c_int>)
        raises Site::Process => {
        size.ready("size")?;
        let bytes = bsend::detach(Owner::PROCESS, buffer_addr)?;
        size.set("size", c_int::try_from(bytes).unwrap_or(MPI_UNDEFINED))
    }
    /// MPI-5.0 §3.6
    fn MPI_Buffer_attach_c / PMPI_Buffer_attach_c(buffer: *mut c_void, size: MPI_Count)
        raises Site::Process => {
        bsend::attach(Owner::PROCESS, buffer, size)
    }
    /// MPI-5.0 §3.6
    fn MPI_Buffer_detach_c / PMPI_Buffer_detach_c(buffer_addr: *mut c_void, size: Out<MPI_Count>)
        raises Site::Process => {
        size.ready("size")?;
        let bytes = bsend::detach(Owner::PROCESS, buffer_addr)?;
        size.set("size", bytes as MPI_Count)
    }
    /// MPI-5.0 §3.6
    fn MPI_Buffer_flush / PMPI_Buffer_flush() raises Site::Process => {
        bsend::flush(Owner::PROCESS)
    }
    /// MPI-5.0 §3.6
    fn MPI_Buffer_iflush / PMPI_Buffer_iflush(request: Out<MPI_Request>) raises Site::Process => {
        bsend::iflush(Owner::PROCESS, request)
    }
    /// MPI-5.0 §3.6
    fn MPI_Comm_attach_buffer / PMPI_Comm_attach_buffer(comm: MPI_Comm, buffer: *mut c_void, size: c_int)
        raises comm => {
        bsend::attach(owner(comm)?, buffer, size.into())
    }
    /// MPI-5.0 §3.6
    fn MPI_Comm_detach_buffer / PMPI_Comm_detach_buffer(comm: MPI_Comm, buffer_addr: *mut c_void, size: Out<c_int>)
        raises comm => {
        let owner = owner(comm)?;
        size.ready("size")?;
        let bytes = bsend::detach(owner, buffer_addr)?;
        size.set("size", c_int::try_from(bytes).unwrap_or(MPI_UNDEFINED))
    }
    /// MPI-5.0 §3.6
    fn MPI_Comm_attach_buffer_c / PMPI_Comm_attach_buffer_c(comm: MPI_Comm, buffer: *mut c_void, size: MPI_Count)
        raises comm => {
        bsend::attach(owner(comm)?, buffer, size)
    }
    /// MPI-5.0 §3.6
    fn MPI_Comm_detach_buffer_c / PMPI_Comm_detach_buffer_c(comm: MPI_Comm, buffer_addr: *mut c_void, size: Out<MPI_Count>)
        raises comm => {
        let owner = owner(comm)?;
        size.ready("size")?;
        let bytes = bsend::detach(owner, buffer_addr)?;
        size.set("size", bytes as MPI_Count)
    }
    /// MPI-5.0 §3.6
    fn MPI_Comm_flush_buffer / PMPI_Comm_flush_buffer(comm: MPI_Comm) raises comm => {
        bsend::flush(owner(comm)?)
    }
    /// MPI-5.0 §3.6
    fn MPI_Comm_iflush_buffer / PMPI_Comm_iflush_buffer(comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        bsend::iflush(owner(comm)?, request)
    }
}

// Buffers of sessions.
mpi_fn! {
    /// MPI-5.0 §3.6
    fn MPI_Session_attach_buffer / PMPI_Session_attach_buffer(session: MPI_Session, buffer: *mut c_void,
        size: c_int) raises session => {
        bsend::attach(owner_session(session)?, buffer, size.into())
    }
    /// MPI-5.0 §3.6
    fn MPI_Session_attach_buffer_c / PMPI_Session_attach_buffer_c(session: MPI_Session, buffer: *mut c_void,
        size: MPI_Count) raises session => {
        bsend::attach(owner_session(session)?, buffer, size)
    }
    /// MPI-5.0 §3.6
    fn MPI_Session_detach_buffer / PMPI_Session_detach_buffer(session: MPI_Session, buffer_addr: *mut c_void,
        size: Out<c_int>) raises session => {
        let owner = owner_session(session)?;
        size.ready("size")?;
        let bytes = bsend::detach(owner, buffer_addr)?;
        size.set("size", c_int::try_from(bytes).unwrap_or(MPI_UNDEFINED))
    }
    /// MPI-5.0 §3.6
    fn MPI_Session_detach_buffer_c / PMPI_Session_detach_buffer_c(session: MPI_Session,
        buffer_addr: *mut c_void, size: Out<MPI_Count>) raises session => {
        let owner = owner_session(session)?;
        size.ready("size")?;
        let bytes = bsend::detach(owner, buffer_addr)?;
        size.set("size", bytes as MPI_Count)
    }
    /// MPI-5.0 §3.6
    fn MPI_Session_flush_buffer / PMPI_Session_flush_buffer(session: MPI_Session) raises session => {
        bsend::flush(owner_session(session)?)
    }
    /// MPI-5.0 §3.6
    fn MPI_Session_iflush_buffer / PMPI_Session_iflush_buffer(session: MPI_Session,
        request: Out<MPI_Request>) raises session => {
        bsend::iflush(owner_session(session)?, request)
    }
}

// Nonblocking send and receive.
mpi_fn! {
    /// MPI-5.0 §3.7.2
    fn MPI_Isend / PMPI_Isend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        isend(buf, count.into(), datatype, dest, tag, comm, Mode::Standard, request)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Isend_c / PMPI_Isend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        isend(buf, count, datatype, dest, tag, comm, Mode::Standard, request)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Issend / PMPI_Issend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        isend(buf, count.into(), datatype, dest, tag, comm, Mode::Synchronous, request)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Issend_c / PMPI_Issend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        isend(buf, count, datatype, dest, tag, comm, Mode::Synchronous, request)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Irsend / PMPI_Irsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        isend(buf, count.into(), datatype, dest, tag, comm, Mode::Ready, request)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Irsend_c / PMPI_Irsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        isend(buf, count, datatype, dest, tag, comm, Mode::Ready, request)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Irecv / PMPI_Irecv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        irecv(buf, count.into(), datatype, source, tag, comm, request)
    }
    /// MPI-5.0 §3.7.2
    fn MPI_Irecv_c / PMPI_Irecv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int,
        tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        irecv(buf, count, datatype, source, tag, comm, request)
    }
}

// Probe.
mpi_fn! {
    /// MPI-5.0 §3.8.1
    fn MPI_Probe / PMPI_Probe(source: c_int, tag: c_int, comm: MPI_Comm, status: Out<MPI_Status>)
        raises comm => {
        let comm = communicator::find("comm", comm)?;
        status.set_status(&MPI_Status::of(&library().world.probe(&comm, source_in(source), tag_in(tag))?));
        Ok(())
    }
    /// MPI-5.0 §3.8.1
    fn MPI_Iprobe / PMPI_Iprobe(source: c_int, tag: c_int, comm: MPI_Comm, flag: Out<c_int>,
        status: Out<MPI_Status>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let found = library().world.iprobe(&comm, source_in(source), tag_in(tag))?;
        if let Some(found) = &found {
            status.set_status(&MPI_Status::of(found));
        }
        flag.set("flag", c_int::from(found.is_some()))
    }
    /// MPI-5.0 §3.8.2
    fn MPI_Mprobe / PMPI_Mprobe(source: c_int, tag: c_int, comm: MPI_Comm, message: Out<MPI_Message>,
        status: Out<MPI_Status>) raises comm => {
        message.set("message", MPI_MESSAGE_NULL)?;
        let site = comm;
        let comm = communicator::find("comm", comm)?;
        matched(library().world.mprobe(&comm, source_in(source), tag_in(tag))?, site, message, status)
    }
    /// MPI-5.0 §3.8.2
    fn MPI_Improbe / PMPI_Improbe(source: c_int, tag: c_int, comm: MPI_Comm, flag: Out<c_int>,
        message: Out<MPI_Message>, status: Out<MPI_Status>) raises comm => {
        message.set("message", MPI_MESSAGE_NULL)?;
        flag.set("flag", 0)?;
        let site = comm;
        let comm = communicator::find("comm", comm)?;
        let Some(found) = library().world.improbe(&comm, source_in(source), tag_in(tag))? else { return Ok(()) };
        matched(found, site, message, status)?;
        flag.set("flag", 1)
    }
}

// Receiving the message of a matched probe.
mpi_fn! {
    /// MPI-5.0 §3.8.3
    fn MPI_Mrecv / PMPI_Mrecv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype,
        message: Out<MPI_Message>, status: Out<MPI_Status>) raises where it belongs {
        mrecv(buf, count.into(), datatype, message, status)
    }
    /// MPI-5.0 §3.8.3
    fn MPI_Imrecv / PMPI_Imrecv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype,
        message: Out<MPI_Message>, request: Out<MPI_Request>) raises site_of(message) => {
        imrecv(buf, count.into(), datatype, message, request)
    }
    /// MPI-5.0 §3.8.3
    fn MPI_Mrecv_c / PMPI_Mrecv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        message: Out<MPI_Message>, status: Out<MPI_Status>) raises where it belongs {
        mrecv(buf, count, datatype, message, status)
    }
    /// MPI-5.0 §3.8.3
    fn MPI_Imrecv_c / PMPI_Imrecv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        message: Out<MPI_Message>, request: Out<MPI_Request>) raises site_of(message) => {
        imrecv(buf, count, datatype, message, request)
    }
}

// Send-receive.
mpi_fn! {
    /// MPI-5.0 §3.10
    fn MPI_Sendrecv / PMPI_Sendrecv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        source: c_int, recvtag: c_int, comm: MPI_Comm, status: Out<MPI_Status>) raises comm => {
        let send = segment(sendbuf, sendcount.into(), sendtype)?;
        let recv = segment(recvbuf, recvcount.into(), recvtype)?;
        sendrecv(send, (dest, sendtag), recv, (source, recvtag), comm, status)
    }
    /// MPI-5.0 §3.10
    fn MPI_Sendrecv_replace / PMPI_Sendrecv_replace(buf: *mut c_void, count: c_int, datatype: MPI_Datatype,
        dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm, status: Out<MPI_Status>)
        raises comm => {
        let recv = segment(buf, count.into(), datatype)?;
        let (send, _sent) = copied(&recv)?;
        sendrecv(send, (dest, sendtag), recv, (source, recvtag), comm, status)
    }
    /// MPI-5.0 §3.10
    fn MPI_Sendrecv_c / PMPI_Sendrecv_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        source: c_int, recvtag: c_int, comm: MPI_Comm, status: Out<MPI_Status>) raises comm => {
        let send = segment(sendbuf, sendcount, sendtype)?;
        let recv = segment(recvbuf, recvcount, recvtype)?;
        sendrecv(send, (dest, sendtag), recv, (source, recvtag), comm, status)
    }
    /// MPI-5.0 §3.10
    fn MPI_Sendrecv_replace_c / PMPI_Sendrecv_replace_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm, status: Out<MPI_Status>)
        raises comm => {
        let recv = segment(buf, count, datatype)?;
        let (send, _sent) = copied(&recv)?;
        sendrecv(send, (dest, sendtag), recv, (source, recvtag), comm, status)
    }
}

// Send-receive under one request.
mpi_fn! {
    /// MPI-5.0 §3.10
    fn MPI_Isendrecv / PMPI_Isendrecv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        source: c_int, recvtag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let send = segment(sendbuf, sendcount.into(), sendtype)?;
        let recv = segment(recvbuf, recvcount.into(), recvtype)?;
        isendrecv((send, None), (dest, sendtag), recv, (source, recvtag), comm, request)
    }
    /// MPI-5.0 §3.10
    fn MPI_Isendrecv_replace / PMPI_Isendrecv_replace(buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let recv = segment(buf, count.into(), datatype)?;
        let (send, sent) = copied(&recv)?;
        isendrecv((send, Some(sent)), (dest, sendtag), recv, (source, recvtag), comm, request)
    }
    /// MPI-5.0 §3.10
    fn MPI_Isendrecv_c / PMPI_Isendrecv_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        source: c_int, recvtag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let send = segment(sendbuf, sendcount, sendtype)?;
        let recv = segment(recvbuf, recvcount, recvtype)?;
        isendrecv((send, None), (dest, sendtag), recv, (source, recvtag), comm, request)
    }
    /// MPI-5.0 §3.10
    fn MPI_Isendrecv_replace_c / PMPI_Isendrecv_replace_c(buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let recv = segment(buf, count, datatype)?;
        let (send, sent) = copied(&recv)?;
        isendrecv((send, Some(sent)), (dest, sendtag), recv, (source, recvtag), comm, request)
    }
}

// Persistent requests.
mpi_fn! {
    /// MPI-5.0 §3.9
    fn MPI_Send_init / PMPI_Send_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        send_init(buf, count.into(), datatype, dest, tag, comm, Mode::Standard, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Send_init_c / PMPI_Send_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        send_init(buf, count, datatype, dest, tag, comm, Mode::Standard, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Ssend_init / PMPI_Ssend_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        send_init(buf, count.into(), datatype, dest, tag, comm, Mode::Synchronous, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Ssend_init_c / PMPI_Ssend_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        send_init(buf, count, datatype, dest, tag, comm, Mode::Synchronous, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Rsend_init / PMPI_Rsend_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        send_init(buf, count.into(), datatype, dest, tag, comm, Mode::Ready, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Rsend_init_c / PMPI_Rsend_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        send_init(buf, count, datatype, dest, tag, comm, Mode::Ready, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Recv_init / PMPI_Recv_init(buf: *mut c_void, count: c_int, datatype: MPI_Datatype,
        source: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        recv_init(buf, count.into(), datatype, source, tag, comm, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Recv_init_c / PMPI_Recv_init_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        source: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        recv_init(buf, count, datatype, source, tag, comm, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Start / PMPI_Start(request: Out<MPI_Request>) raises where it belongs {
        persistent::start(request.get("request")?)
    }
    /// MPI-5.0 §3.9
    fn MPI_Startall / PMPI_Startall(count: c_int, array_of_requests: Out<MPI_Request>)
        raises where it belongs {
        let requests = array_of_requests.slice("array_of_requests", length("count", count.into())?)?;
        // A wrong handle is found before anything starts.
        requests.iter().try_for_each(|request| completion::enter(*request).map(drop))?;
        requests.iter().try_for_each(|request| persistent::start(*request))
    }
}

mpi_fn! {
    /// MPI-5.0 §3.9
    fn MPI_Bsend_init / PMPI_Bsend_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let found = communicator::find("comm", comm)?;
        let (dest, tag) = check_send(&found, (dest, tag))?;
        let segment = segment(buf, count.into(), datatype)?;
        persistent::prepare(Plan::Buffered { comm: found, segment, dest, tag }, comm, request)
    }
    /// MPI-5.0 §3.9
    fn MPI_Bsend_init_c / PMPI_Bsend_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype,
        dest: c_int, tag: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let found = communicator::find("comm", comm)?;
        let (dest, tag) = check_send(&found, (dest, tag))?;
        let segment = segment(buf, count, datatype)?;
        persistent::prepare(Plan::Buffered { comm: found, segment, dest, tag }, comm, request)
    }
}

/// The fast path of every send and receive: the world and a predefined datatype. `None` leads to the general way,
/// which also finds all mistakes in these arguments.
#[inline(always)]
fn plain(
    comm: MPI_Comm,
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
) -> Option<(&'static World, &'static Comm, Segment)> {
    if comm != MPI_COMM_WORLD {
        return None;
    }
    let world = &of_world()?.world;
    Some((world, world.world(), plain_segment(buf, count, datatype)?))
}

#[inline(always)]
fn send(
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    mode: Mode,
) -> Result<()> {
    if let Some((world, comm, segment)) = plain(comm, buf, count, datatype) {
        return world.send(comm, rank_in(dest), tag, segment, mode);
    }
    send_any(buf, count, datatype, dest, tag, comm, mode)
}

#[inline(never)]
fn send_any(
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    mode: Mode,
) -> Result<()> {
    communicator::with("comm", comm, |comm| {
        library().world.send(comm, rank_in(dest), tag, segment(buf, count, datatype)?, mode)
    })
}

#[inline(always)]
fn isend(
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    mode: Mode,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    let id = match plain(comm, buf, count, datatype) {
        Some((world, comm, segment)) => world.isend(comm, rank_in(dest), tag, segment, mode)?,
        None => isend_any(buf, count, datatype, dest, tag, comm, mode)?,
    };
    completion::give(id, comm, request)
}

#[inline(never)]
fn isend_any(
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    mode: Mode,
) -> Result<RequestId> {
    communicator::with("comm", comm, |comm| {
        library().world.isend(comm, rank_in(dest), tag, segment(buf, count, datatype)?, mode)
    })
}

#[inline(always)]
fn recv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: Out<MPI_Status>,
) -> Result<()> {
    let done = match plain(comm, buf, count, datatype) {
        Some((world, comm, segment)) => world.recv(comm, source_in(source), tag_in(tag), segment)?,
        None => recv_any(buf, count, datatype, source, tag, comm)?,
    };
    status.set_status(&MPI_Status::of(&done));
    done.error.map_or(Ok(()), Err)
}

#[inline(never)]
fn recv_any(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
) -> Result<Status> {
    communicator::with("comm", comm, |comm| {
        library().world.recv(comm, source_in(source), tag_in(tag), segment(buf, count, datatype)?)
    })
}

#[inline(always)]
fn irecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    let id = match plain(comm, buf, count, datatype) {
        Some((world, comm, segment)) => world.irecv(comm, source_in(source), tag_in(tag), segment)?,
        None => irecv_any(buf, count, datatype, source, tag, comm)?,
    };
    completion::give(id, comm, request)
}

#[inline(never)]
fn irecv_any(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
) -> Result<RequestId> {
    communicator::with("comm", comm, |comm| {
        library().world.irecv(comm, source_in(source), tag_in(tag), segment(buf, count, datatype)?)
    })
}

/// Both at once.
fn sendrecv(
    send: Segment,
    to: (c_int, c_int),
    recv: Segment,
    from: (c_int, c_int),
    comm: MPI_Comm,
    status: Out<MPI_Status>,
) -> Result<()> {
    let comm = communicator::find("comm", comm)?;
    let (send, recv) = ((send, rank_in(to.0), to.1), (recv, source_in(from.0), tag_in(from.1)));
    let done = library().world.exchange(&comm, send, recv)?;
    status.set_status(&MPI_Status::of(&done));
    done.error.map_or(Ok(()), Err)
}

/// What is sent leaves from a copy, so that the receive may overwrite the buffer. The memory has to stay until the
/// send is over.
fn copied(data: &Segment) -> Result<(Segment, Vec<u8>)> {
    let bytes = data.len() as usize;
    let mut memory = Vec::new();
    if memory.try_reserve_exact(bytes).is_err() {
        return Err(Error::no_memory(format!("there is no memory for a copy of {bytes} bytes")));
    }
    memory.resize(bytes, 0u8);
    // SAFETY: as long as the packed data; the caller keeps it until the send is over.
    let send = data.repacked_at(unsafe { Base::new(memory.as_mut_ptr()) });
    library().world.copy(data.clone(), send.clone())?;
    Ok((send, memory))
}

/// As `sendrecv`, under one request.
fn isendrecv(
    (send, sent): (Segment, Option<Vec<u8>>),
    to: (c_int, c_int),
    recv: Segment,
    from: (c_int, c_int),
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    let world = &library().world;
    let site = comm;
    let comm = communicator::find("comm", comm)?;
    let to = check_send(&comm, to)?;
    // The receive, the send, and the request that stands for both: all of them or nothing.
    world.vci_of(&comm).engine.requests.ensure_room_for(3)?;
    let receive = world.irecv(&comm, source_in(from.0), tag_in(from.1), recv)?;
    let send = world.isend(&comm, to.0, to.1, send, Mode::Standard).inspect_err(|_| {
        receiving::cancel(&mut world.vci_of(&comm).engine, receive);
        // What became of it nobody asks.
        let _ = world.wait(receive);
    })?;
    persistent::give_both((send, receive), sent, &comm, site, request)
}

/// The communicator a buffer belongs to.
fn owner_session(session: MPI_Session) -> Result<Owner> {
    session::find("session", session).map(|_| Owner::session(session.number()))
}

fn owner(comm: MPI_Comm) -> Result<Owner> {
    communicator::find("comm", comm).map(|found| Owner::of(&found))
}

/// Rank and tag of a send as the engine's, checked.
fn check_send(comm: &Comm, (dest, tag): (c_int, c_int)) -> Result<(i32, i32)> {
    let dest = rank_in(dest);
    comm.destination(dest)?;
    if tag < 0 {
        return Err(Error::invalid(ErrorClass::Tag, "tag", tag, format_args!("0..={TAG_UB}")));
    }
    Ok((dest, tag))
}

fn send_init(
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    mode: Mode,
    request: Out<MPI_Request>,
) -> Result<()> {
    let found = communicator::find("comm", comm)?;
    let segment = segment(buf, count, datatype)?;
    let message = library().world.persistent_send(&found, rank_in(dest), tag, segment, mode)?;
    persistent::prepare_message(message, found, comm, request)
}

fn recv_init(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> Result<()> {
    let found = communicator::find("comm", comm)?;
    let segment = segment(buf, count, datatype)?;
    let message = library().world.persistent_recv(&found, source_in(source), tag_in(tag), segment)?;
    persistent::prepare_message(message, found, comm, request)
}

/// A message that a matched probe took out of the queue and that waits for its `MPI_Mrecv`.
struct Probed {
    /// `None` while it is being received.
    message: Option<Unexpected>,
    comm: MPI_Comm,
}

static MESSAGES: Deposit<Probed> = Deposit::new(Kind::Message);

/// Gives a message taken by a probe to the program.
fn matched(
    found: Option<Unexpected>,
    comm: MPI_Comm,
    message: Out<MPI_Message>,
    status: Out<MPI_Status>,
) -> Result<()> {
    let Some(probed) = found else {
        status.set_status(&MPI_Status::PROC_NULL);
        return message.set("message", MPI_MESSAGE_NO_PROC);
    };
    status.set_status(&MPI_Status::of(&probe::status(&probed)));
    message.set("message", MPI_Message::numbered(MESSAGES.insert(Probed { message: Some(probed), comm })?))
}

/// The communicator through which a message came.
fn site_of(message: Out<MPI_Message>) -> Site {
    let comm =
        message.get("message").ok().and_then(|handle| MESSAGES.look(handle.number(), |probed| probed.comm));
    comm.map_or(Site::Process, Site::Comm)
}

/// Starts to receive the message with `start`, and says where it came from. If that fails, the program still has it.
fn start_probed<R>(
    message: Out<MPI_Message>,
    start: impl FnOnce(&mut Option<Unexpected>) -> Result<R>,
) -> Result<(R, MPI_Comm)> {
    let handle = message.get("message")?;
    let started = if handle == MPI_MESSAGE_NO_PROC {
        (start(&mut None)?, MPI_COMM_SELF)
    } else {
        MESSAGES
            .consume("message", handle.number(), |probed| Ok((start(&mut probed.message)?, probed.comm)))?
    };
    message.set("message", MPI_MESSAGE_NULL)?;
    Ok(started)
}

fn mrecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    message: Out<MPI_Message>,
    status: Out<MPI_Status>,
) -> Outcome {
    let world = &library().world;
    // The site of a message is looked for while there is one, and only if something is wrong.
    let started = segment(buf, count, datatype)
        .and_then(|segment| start_probed(message, |probed| world.start_mrecv(probed, segment)));
    let (started, comm) = started.map_err(|error| Located { site: site_of(message), error })?;
    let done = match started {
        ControlFlow::Break(done) => Ok(done),
        ControlFlow::Continue(id) => world.wait_in("MPI_Mrecv", id),
    };
    let received = done.and_then(|done| {
        status.set_status(&MPI_Status::of(&done));
        done.error.map_or(Ok(()), Err)
    });
    received.map_err(|error| Located { site: Site::Comm(comm), error })
}

fn imrecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    message: Out<MPI_Message>,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    let segment = segment(buf, count, datatype)?;
    let (id, comm) = start_probed(message, |probed| library().world.imrecv(probed, segment))?;
    completion::give(id, comm, request)
}
