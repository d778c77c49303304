//! C functions for partitioned communication (MPI-5.0 chapter 4).
//!
//! Called by user programs; calls `posthaste_core::pt2pt::partitioned`, whose two ends stand behind driven requests.
//!
//! Some headers for this ABI pass the count of `MPI_Psend_init` and `MPI_Precv_init` as a 64-bit integer, others as
//! `int`. Read as an `int`, the low half of what the former pass is the same count.
//!
//! What must stay true: an end is locked inside the lane's lock, never the other way round.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::{RequestId, TAG_UB};
use posthaste_core::progress::Lane;
use posthaste_core::pt2pt::partitioned::{Parts, Receiving, Sending, Standing};
use posthaste_core::request::Status;
use posthaste_core::wait::Entered;

use crate::abi::constants::MPI_REQUEST_NULL;
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request};
use crate::call::mpi_fn;
use crate::handle::Held;
use crate::layer::library::library;
use crate::object::communicator;
use crate::object::info::hints;
use crate::object::memory::{self, length, segment};
use crate::object::site::{Located, Outcome, Site};
use crate::request::completion::{self, AtEnd, SharedAtEnd, Stand};

mpi_fn! {
    /// MPI-5.0 §4.2.1
    fn MPI_Psend_init / PMPI_Psend_init(buf: *const c_void, partitions: c_int, count: c_int,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        send_init((buf, partitions, count.into(), datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Psend_init_c / PMPI_Psend_init_c(buf: *const c_void, partitions: c_int, count: MPI_Count,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        send_init((buf, partitions, count, datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Precv_init / PMPI_Precv_init(buf: *mut c_void, partitions: c_int, count: c_int,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        recv_init((buf, partitions, count.into(), datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Precv_init_c / PMPI_Precv_init_c(buf: *mut c_void, partitions: c_int, count: MPI_Count,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        recv_init((buf, partitions, count, datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Pready / PMPI_Pready(partition: c_int, request: MPI_Request) raises where it belongs {
        ready(request, "partition", std::iter::once(partition))
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Pready_range / PMPI_Pready_range(partition_low: c_int, partition_high: c_int,
        request: MPI_Request) raises where it belongs {
        if partition_low > partition_high {
            let expected = format_args!("partition_high ({partition_high}) or less");
            return Err(Error::invalid(ErrorClass::Arg, "partition_low", partition_low, expected).into());
        }
        ready(request, "partition", partition_low..=partition_high)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Pready_list / PMPI_Pready_list(length: c_int, array_of_partitions: In<c_int>,
        request: MPI_Request) raises where it belongs {
        let list = array_of_partitions.slice("array_of_partitions", self::length("length", length.into())?)?;
        ready(request, "an entry of array_of_partitions", list.iter().copied())
    }
    /// MPI-5.0 §4.2.2
    fn MPI_Parrived / PMPI_Parrived(request: MPI_Request, partition: c_int, flag: Out<c_int>)
        raises where it belongs {
        flag.ready("flag")?;
        if request == MPI_REQUEST_NULL {
            return Ok(flag.set("flag", 1)?);
        }
        let arrived = has_arrived(request, partition)?;
        Ok(flag.set("flag", c_int::from(arrived))?)
    }
}

/// A partitioned request.
struct Partitioned {
    comm: MPI_Comm,
    /// Where: its lane is that of the partitions, too.
    held: Held<Comm>,
    end: Mutex<End>,
}

enum End {
    Sending(Sending),
    Receiving(Receiving),
}

impl Partitioned {
    fn lane(&self) -> Entered<'static> {
        library().world.lane_of(&self.held)
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Errors belong to the communicator.
    fn located(&self, error: Error) -> Located {
        Located { site: Site::Comm(self.comm), error }
    }

    fn ready(&self, argument: &'static str, partitions: impl Iterator<Item = c_int> + Clone) -> Result<()> {
        let mut lane = self.lane();
        let End::Sending(sending) = &mut *self.end() else {
            let got = "that of a partitioned receive";
            return Err(Error::invalid(ErrorClass::Request, "request", got, "that of a partitioned send"));
        };
        // A wrong number is found before any partition leaves.
        for partition in partitions.clone() {
            sending.may_be_ready(sending.parts().number(argument, partition)?)?;
        }
        let Lane { engine, methods, .. } = &mut *lane;
        for partition in partitions {
            sending.ready(engine, methods, sending.parts().number(argument, partition)?)?;
        }
        Ok(())
    }

    fn has_arrived(&self, partition: c_int) -> Result<bool> {
        let look = || {
            let lane = self.lane();
            let End::Receiving(receiving) = &mut *self.end() else {
                let got = "that of a partitioned send";
                return Err(Error::invalid(
                    ErrorClass::Request,
                    "request",
                    got,
                    "that of a partitioned receive",
                ));
            };
            let partition = receiving.parts().number("partition", partition)?;
            Ok(receiving.has_arrived(&lane.engine.requests, partition))
        };
        if look()? {
            return Ok(true);
        }
        library().world.step_in(&self.held);
        look()
    }
}

impl AtEnd for Partitioned {
    fn start(&self) -> Outcome {
        let mut lane = self.lane();
        let Lane { engine, methods, .. } = &mut *lane;
        let started = match &mut *self.end() {
            End::Sending(sending) => sending.start(),
            End::Receiving(receiving) => receiving.start(engine, methods),
        };
        started.map_err(|error| self.located(error))
    }

    fn stands(&self, lane: &Lane) -> Stand {
        let requests = &lane.engine.requests;
        let standing = match &mut *self.end() {
            End::Sending(sending) => sending.stands(requests),
            End::Receiving(receiving) => receiving.stands(requests),
        };
        match standing {
            Standing::Inactive => Stand::Inactive,
            Standing::Active => Stand::Active,
            Standing::Over(status) => Stand::Over(status),
        }
    }

    fn behind(&self) -> Vec<RequestId> {
        match &*self.end() {
            End::Sending(sending) => sending.messages(),
            End::Receiving(receiving) => receiving.messages(),
        }
    }

    fn clear(&self, lane: &mut Lane) {
        let requests = &mut lane.engine.requests;
        match &mut *self.end() {
            End::Sending(sending) => sending.clear(requests),
            End::Receiving(receiving) => receiving.clear(requests),
        }
    }

    fn stays(&self) -> bool {
        true
    }

    fn cancel(&self, _over: bool) -> Result<bool> {
        let got = "a partitioned request";
        Err(Error::invalid(ErrorClass::Request, "request", got, "one that can be cancelled (MPI-5.0 §4.2.1)"))
    }

    fn let_go(&self) -> Result<bool> {
        let mut lane = self.lane();
        match self.stands(&lane) {
            Stand::Inactive => {}
            Stand::Over(_) => self.clear(&mut lane),
            Stand::Active => {
                let got = "an active partitioned request";
                let expected = "one that is complete: it cannot be freed before (MPI-5.0 §4.2.1)";
                return Err(Error::invalid(ErrorClass::Request, "request", got, expected));
            }
        }
        Ok(true)
    }
}

/// The buffer of a partitioned operation, checked: address, partitions, elements of each, their datatype.
fn parts(
    (buf, partitions, count, datatype): (*const c_void, c_int, MPI_Count, MPI_Datatype),
) -> Result<Parts> {
    let number = u32::try_from(partitions)
        .map_err(|_| Error::invalid(ErrorClass::Arg, "partitions", partitions, "0 or more"))?;
    memory::count("count", count)?;
    let elements = count.checked_mul(number.into()).ok_or_else(|| {
        let got = format_args!("{count} in each of {partitions} partitions");
        Error::invalid(ErrorClass::Count, "count", got, "a buffer within 63 bits")
    })?;
    Ok(Parts::new(segment(buf, elements, datatype)?, number))
}

fn send_init(
    data: (*const c_void, c_int, MPI_Count, MPI_Datatype),
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: Out<MPI_Request>,
) -> Result<()> {
    let world = &library().world;
    let found = communicator::find("comm", comm)?;
    let to = found.destination(dest)?;
    check_tag(tag)?;
    let parts = parts(data)?;
    hints(info)?;
    let channel = world.found_beside(&found)?;
    let sending = Sending::new(to, found.rank(), channel, parts);
    let partitioned = give(comm, found.clone(), End::Sending(sending), request)?;
    let announced = {
        let mut lane = world.lane_of(&found);
        let Lane { engine, methods, .. } = &mut *lane;
        match &*partitioned.end() {
            End::Sending(sending) => sending.announce(engine, methods, found.context(), tag),
            End::Receiving(_) => Ok(()),
        }
    };
    announced.or_else(|error| take_back(request, error))
}

fn recv_init(
    data: (*const c_void, c_int, MPI_Count, MPI_Datatype),
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: Out<MPI_Request>,
) -> Result<()> {
    let found = communicator::find("comm", comm)?;
    let from = found.source(source)?;
    check_tag(tag)?;
    let parts = parts(data)?;
    hints(info)?;
    if from.is_none() {
        let nobody = Receiving::from_nobody(&Status { source, ..Status::EMPTY }, parts);
        return give(comm, found, End::Receiving(nobody), request).map(drop);
    }
    let receiving = End::Receiving(Receiving::new(source, tag, parts));
    let partitioned = give(comm, found.clone(), receiving, request)?;
    let told = partitioned.clone();
    let handler = move |_, status: &Status| {
        let mut lane = told.lane();
        let Lane { engine, methods, .. } = &mut *lane;
        if let End::Receiving(receiving) = &mut *told.end() {
            receiving.told(engine, methods, status);
        }
    };
    let listening = {
        let mut lane = partitioned.lane();
        let Lane { engine, methods, .. } = &mut *lane;
        match &mut *partitioned.end() {
            End::Receiving(receiving) => {
                receiving.listen(engine, methods, found.context(), Box::new(handler))
            }
            End::Sending(_) => Ok(()),
        }
    };
    listening.or_else(|error| take_back(request, error))
}

fn give(comm: MPI_Comm, held: Held<Comm>, end: End, request: Out<MPI_Request>) -> Result<Arc<Partitioned>> {
    let partitioned = Arc::new(Partitioned { comm, held, end: Mutex::new(end) });
    completion::give_driven(&partitioned.held, comm, partitioned.clone(), request)?;
    Ok(partitioned)
}

/// A request was given that cannot be: the other side does not hear of it.
#[cold]
fn take_back(request: Out<MPI_Request>, error: Error) -> Result<()> {
    completion::let_go(request.get("request")?)?;
    request.set("request", MPI_REQUEST_NULL)?;
    Err(error)
}

/// Partitioned operations have no wildcards.
fn check_tag(tag: c_int) -> Result<()> {
    if tag < 0 {
        return Err(Error::invalid(ErrorClass::Tag, "tag", tag, format_args!("0..={TAG_UB}")));
    }
    Ok(())
}

/// What is behind the handle of a partitioned request.
fn behind(request: MPI_Request) -> Result<SharedAtEnd> {
    completion::find(&completion::lane_of(request), request)?;
    completion::special(request).filter(|behind| as_partitioned(behind).is_some()).ok_or_else(|| {
        let got = format_args!("{:#x}, which is not partitioned", request.0);
        Error::invalid(ErrorClass::Request, "request", got, "a partitioned request")
    })
}

fn as_partitioned(behind: &SharedAtEnd) -> Option<&Partitioned> {
    let behind: &dyn Any = &**behind;
    behind.downcast_ref()
}

fn ready(
    request: MPI_Request,
    argument: &'static str,
    partitions: impl Iterator<Item = c_int> + Clone,
) -> Outcome {
    let behind = behind(request)?;
    as_partitioned(&behind).map_or(Ok(()), |partitioned| {
        partitioned.ready(argument, partitions).map_err(|error| partitioned.located(error))
    })
}

fn has_arrived(request: MPI_Request, partition: c_int) -> std::result::Result<bool, Located> {
    let behind = behind(request)?;
    as_partitioned(&behind).map_or(Ok(true), |partitioned| {
        partitioned.has_arrived(partition).map_err(|error| partitioned.located(error))
    })
}
