//! Memory that is attached to dynamic windows: its owner tells the members on its node, and these have the system copy there
//! (MPI-5.0 §12.2.4).
//!
//! What must stay true: when memory is detached nobody copies there any more. What the system does not copy, or its owner has not
//! told, goes by packets, as a whole.

use posthaste_os::machine;
use posthaste_os::ranges::Version;

use crate::datatype::Segment;
use crate::error::Result;
use crate::explain::Part;
use crate::method::{Direction, Piece};
use crate::onesided::{OneSided, RemoteKey};
use crate::trace::Counter;
use crate::wait::{Awaited, OfWindow};
use crate::win::{At, Attachments, FEW, Place, Window, is_short};
use crate::world::World;
use crate::world::windows::AWAKE;

impl World {
    /// Changes what this member has attached, and tells the members on its node: which version of it this is.
    pub(super) fn change_attached(
        &self,
        window: &Window,
        change: impl FnOnce(&mut OneSided, RemoteKey) -> Result<()>,
    ) -> Result<Option<Version>> {
        let (key, me) = (window.own().key, window.comm().rank() as usize);
        let mut vci = self.vci_of(window.comm());
        vci.engine.with_onesided(|onesided, _| {
            change(onesided, key)?;
            let tell = |attachments: &Attachments| attachments.tell(me, onesided.attached(key).into_iter());
            Ok(window.attachments().and_then(tell))
        })
    }

    /// Waits until no living member copies where this one had something attached before that version. Each copies a piece at a time, and
    /// rings nobody afterwards, so that this does not sleep.
    pub(super) fn until_unused(&self, call: &'static str, window: &Window, version: Option<Version>) {
        let (Some(attachments), Some(version)) = (window.attachments(), version) else { return };
        let (me, context) = (window.comm().rank() as usize, window.comm().context());
        let (mut began, mut told) = (None, self.waiting.aloud());
        loop {
            let mut users: Vec<usize> = attachments.users_before(me, version).collect();
            users.retain(|user| self.vci_of(window.comm()).engine.losses.check(window.peer(*user)).is_ok());
            if users.is_empty() {
                return;
            }
            let began = *began.get_or_insert_with(machine::now);
            if machine::now() - began > AWAKE {
                let need = |user: &usize| (Some(window.peer(*user)), Part::ForOwner, *user as i32);
                let needs = users.iter().map(need).collect();
                let awaited = Awaited::Window(OfWindow { context, needs, is_there: None });
                told.say(call, began, context.vci(), &awaited);
            }
            machine::yield_now();
            // Who copies may have ended.
            self.runtime.enter(0).methods.look_at_sockets();
            self.vci_of(window.comm()).methods.look_at_sockets();
            self.step_in(window.comm());
        }
    }

    /// This member has nothing attached any more.
    pub(super) fn detach_all(&self, call: &'static str, window: &Window) {
        let me = window.comm().rank() as usize;
        let told = window.attachments().and_then(|attachments| attachments.tell(me, std::iter::empty()));
        self.until_unused(call, window, told);
    }

    /// Copies between a segment and memory that a member on this node has attached, as far as the system does that. Whether all of it
    /// is done.
    ///
    /// # Errors
    /// None that a part of a segment does not have.
    pub(super) fn copy_attached(
        &self,
        window: &Window,
        direction: Direction,
        (at, place): (&At<'_>, Place),
        segment: &Segment,
    ) -> Result<bool> {
        let Some(attachments) = window.attachments() else { return Ok(false) };
        if segment.is_on_device() || !attachments.include(place.target) {
            return Ok(false);
        }
        let runs = at.runs();
        if runs.len() as u64 > FEW && is_short(at, runs.len() as u64) {
            return Ok(false);
        }
        let (me, peer) = (window.comm().rank() as usize, window.peer(place.target));
        let mut from = 0;
        for (by, len) in runs {
            let mut part = segment.part(from, from + len)?;
            let start = place.offset.wrapping_add(by) as u64;
            loop {
                // Others need this engine between two pieces.
                let mut vci = self.vci_of(window.comm());
                let Some(_using) = attachments.begin(me, place.target, start, len) else { return Ok(false) };
                match vci.methods.copy_at_once(peer, direction, start, &mut part) {
                    Piece::More => {}
                    Piece::Last => {
                        vci.engine.counts.add(Counter::OneSidedTransfers, 1);
                        break;
                    }
                    Piece::Refused | Piece::Unreadable => return Ok(false),
                }
            }
            from += len;
        }
        Ok(true)
    }
}
