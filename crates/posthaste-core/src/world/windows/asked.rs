//! Windows of many members, each of which tells what it has when it is accessed for the first time (MPI-5.0 §12.2).
//!
//! ```text
//!   all made it   what is the same of all, and a name under which each shows what it has
//!   origin        -- reads that name --> target        before its first access; nothing where all have the same
//! ```
//!
//! What must stay true: such a window takes a member a few words for itself, for each other one on its node and for each that it has
//! accessed, however many there are, and to make it a reduction of a few words; what a member shows is there before any other one has
//! the window. To lock a member it need not be asked: the name is enough.

use std::sync::Arc;

use posthaste_os::machine;
use posthaste_os::mapped::Mapped;

use super::create::{NewWindow, Shown};
use crate::buffer::{OwnedBuf, UserBuf};
use crate::coll;
use crate::comm::Comm;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::PROC_NULL;
use crate::method::Route;
use crate::onesided::RemoteKey;
use crate::progress::Vci;
use crate::win::{Alike, At, Flavor, Many, Memory, Part, Parts, Place, Window};
use crate::world::World;

impl World {
    /// Whether so many members ask each other for what they have, instead of telling it all others.
    pub(super) fn has_many(&self, flavor: Flavor, comm: &Comm) -> bool {
        flavor != Flavor::Shared && comm.size() as usize > self.vci_of(comm).engine.config.window_table
    }

    /// A window whose members show what they have under a name, and tell each other what is the same of all.
    pub(super) fn shown_by_all(
        &self,
        (flavor, comm): (Flavor, &Arc<Comm>),
        new: &NewWindow<'_>,
        base: UserBuf,
        kept: Memory,
        own: Result<(Shown, u64)>,
    ) -> Result<Arc<Window>> {
        let me = comm.rank() as usize;
        let name = if me == 0 { new_name() } else { Ok(0) };
        let own = own.and_then(|own| name.map(|name| (own, name)));
        let said = match &own {
            Ok(((shown, changes), name)) => {
                let alike = shown.elsewhere();
                [0, !changes, *name].into_iter().chain(alike).chain(alike.map(|number| !number)).collect()
            }
            Err(_) => vec![1; 3 + 2 * Shown::ELSEWHERE],
        };
        let any = self.unite_numbers(flavor, comm, &said)?;
        let ((shown, _), _) = own?;
        let [failed, lacks, name, same @ ..] = &any[..] else { return Err(not_told()) };
        if *failed != 0 {
            let text = "another member has failed to make its part of the window";
            return Err(Error::other(ErrorClass::Other, text));
        }
        // Whoever has a bit that another one lacks has it in the one half, and that one in the other.
        let is_same = |at: usize| same[at] == !same[at + Shown::ELSEWHERE];
        let is_alike = (0..Shown::ELSEWHERE).all(is_same);
        let changes = !lacks;
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        let bytes: Vec<u8> = shown.numbers().into_iter().flat_map(u64::to_le_bytes).collect();
        if !engine.with_onesided(|onesided, _| onesided.name(RemoteKey::named(*name), shown.key(), &bytes)) {
            let text = format!("the name {name:x} of the window is taken");
            return Err(Error::other(ErrorClass::Intern, text));
        }
        let routes = || {
            let others = comm.group().peers().enumerate().filter(|(rank, _)| *rank != me);
            others.map(|(rank, peer)| (rank, methods.route(peer)))
        };
        let leads_elsewhere = |route: Route| !matches!(route, Route::Shm(_) | Route::Near(_));
        let far = routes().map(|(_, route)| route).find(|route| leads_elsewhere(*route));
        let memory = far.and_then(|route| shown.memory(route));
        let is_other = |route| !leads_elsewhere(route) || shown.memory(route) != memory;
        let others: Vec<usize> =
            routes().filter(|(_, route)| is_other(*route)).map(|(rank, _)| rank).collect();
        let own = shown.own(flavor, changes, base);
        let all = is_alike.then_some(Part { memory, base: None, ..own });
        let alike = Alike { size: is_same(0), unit: is_same(1), all };
        let parts = Parts::Many(Box::new(Many::new(comm.size() as usize, (me, own), *name, alike, others)));
        drop(vci);
        let hints = (new.info, flavor == Flavor::Allocate);
        let window = Window::new(comm.clone(), flavor, parts, (kept, Vec::new()), hints);
        Ok(Arc::new(window.changed_by_network(changes)))
    }

    /// Where an access lies, of a target that has been asked for its memory if it has to be.
    ///
    /// # Errors
    /// What [`Window::locate`] says; a lost target.
    #[inline]
    pub(super) fn locate(
        &self,
        window: &Window,
        at: &At<'_>,
        bytes: u64,
        passive: bool,
    ) -> Result<Option<Place>> {
        let Some(target) = window.target_of(at, bytes, passive)? else { return Ok(None) };
        if window.parts().must_ask(target) {
            self.learn("the first access to a member of a window", window, target)?;
        }
        window.place(at, target).map(Some)
    }

    /// Address here, length and unit of a member's memory: [`Window::query`], of a member that has been asked if it has to be.
    ///
    /// # Errors
    /// As [`Window::query`]; a lost member.
    pub fn query_window(&self, call: &'static str, window: &Window, rank: i32) -> Result<(usize, u64, u64)> {
        let (parts, one) = (window.parts(), rank as u32 as usize);
        let members = match rank {
            _ if window.flavor() == Flavor::Dynamic => 0..0,
            PROC_NULL if parts.alike().size => 0..1,
            PROC_NULL => 0..parts.len(),
            _ => one..one + 1,
        };
        for member in members {
            self.learn(call, window, member)?;
            if parts.get(member).is_some_and(|part| part.size > 0) {
                break;
            }
        }
        window.query(rank)
    }

    /// Asks a member for what it has, if it has not told that yet, and waits for the answer.
    ///
    /// # Errors
    /// A lost member; `MPIX_ERR_REVOKED`.
    #[cold]
    pub(super) fn learn(&self, call: &'static str, window: &Window, member: usize) -> Result<()> {
        let Some(name) = window.parts().name().filter(|_| window.parts().must_ask(member)) else {
            return Ok(());
        };
        window.check_revoked()?;
        let answer = OwnedBuf::new(Shown::BYTES);
        let into = Segment::contiguous(answer.user_buf(), answer.len() as u64);
        let key = RemoteKey::named(name);
        {
            let mut vci = self.vci_of(window.comm());
            let Vci { engine, methods, operations, .. } = &mut *vci;
            operations.read_named(engine, methods, window, (member, key), into)?;
        }
        self.until_quiet(call, window, &[member], window.traffic().so_far());
        window.check_revoked()?;
        let shown = Shown::of(&answer);
        if !shown.is_told() {
            // Another thread may have been told why, which has waited for this member at the same time.
            window.traffic().outcome(member)?;
            self.vci_of(window.comm()).engine.losses.check(window.peer(member))?;
            return Err(not_told());
        }
        let (part, mapped) = self.reached(window.comm(), member, &shown);
        window.parts().learn(member, part, mapped);
        Ok(())
    }

    fn reached(&self, comm: &Comm, member: usize, shown: &Shown) -> (Part, Option<Mapped>) {
        let mut vci = self.vci_of(comm);
        let Vci { engine, methods, .. } = &mut *vci;
        shown.reached(engine, methods, comm.group().peer(member as u32))
    }

    /// All bits that anybody has set in these numbers. Who misses what a lost member should have passed on revokes the
    /// communicator, or others would wait for this member in their next exchange.
    fn unite_numbers(&self, flavor: Flavor, comm: &Comm, own: &[u64]) -> Result<Vec<u64>> {
        let bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut outcome = OwnedBuf::new(bytes.len());
        outcome.sink().copy_from(&bytes);
        let outcome = Arc::new(outcome);
        let united = coll::unite(comm, flavor.call(), outcome.clone())
            .and_then(|schedule| self.run_in(flavor.call(), schedule));
        if let Err(why) = united {
            self.revoke(comm);
            return Err(why);
        }
        let told = outcome.source().to_vec();
        Ok(told
            .chunks_exact(8)
            .map(|number| u64::from_le_bytes(number.try_into().unwrap_or_default()))
            .collect())
    }
}

/// A name that no other window has.
fn new_name() -> Result<u64> {
    let random = machine::random().map_err(|why| {
        Error::other(
            ErrorClass::Other,
            format!("there is no name for the window: the system gives no random bytes: {why}"),
        )
    })?;
    let (first, _) = random.split_at(8);
    Ok(u64::from_le_bytes(first.try_into().unwrap_or_default()) >> 1)
}

#[cold]
fn not_told() -> Error {
    Error::other(ErrorClass::Intern, "a member of the window has not told what it has")
}
