//! The communicator with the processes that have started this job (MPI-5.0 §11.8.2).
//!
//! What must stay true: it is made before `MPI_Init` ends, and every `MPI_Comm_get_parent` gives the same handle, until the
//! program frees or disconnects it.

use std::sync::{Mutex, PoisonError, Weak};

use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::instance::{Job, Share};
use posthaste_core::world::Parents;

use crate::abi::constants::MPI_COMM_NULL;
use crate::abi::types::MPI_Comm;
use crate::object::communicator;

/// Its handle, which may become that of another one when this one is gone.
static PARENTS: Mutex<Option<(MPI_Comm, Weak<Comm>)>> = Mutex::new(None);

/// Connects to the parents, if there are any. All ranks of the job call it, once, before MPI is initialised. Without parents who want
/// it the job ends here, well: an error would end the job of the parents, too.
pub(crate) fn meet(world: &Share) -> Result<()> {
    match world.meet_parents("MPI_Init")? {
        Parents::Nobody => {}
        Parents::Met(made) => {
            let known = std::sync::Arc::downgrade(&made);
            let handle = communicator::store(Some(made))?;
            *PARENTS.lock().unwrap_or_else(PoisonError::into_inner) = Some((handle, known));
        }
        Parents::Gone(why) => {
            if world.rank() == 0 {
                eprintln!("posthaste: {why}");
            }
            world.close(Job::Left)?;
            std::process::exit(0);
        }
    }
    Ok(())
}

/// The handle; null without parents, or when they are gone.
pub(crate) fn handle() -> MPI_Comm {
    let known = PARENTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let is_there = |(handle, known): &(MPI_Comm, Weak<Comm>)| {
        communicator::find("comm", *handle).is_ok_and(|found| std::ptr::eq(known.as_ptr(), &raw const *found))
    };
    known.filter(is_there).map_or(MPI_COMM_NULL, |known| known.0)
}
