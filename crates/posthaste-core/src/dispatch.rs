//! Who a packet is for: the one `match` on packet kinds.
//!
//! Does no I/O.

use crate::error::say;
use crate::method::Event;
use crate::pt2pt::arrival::{self, Body};
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Action, Engine, agreed, cancel, eager, flow, loss, rendezvous};
use crate::trace::Counter;
use crate::wire::Packet;

/// Handles one event; what has to be sent in answer is returned.
#[inline]
pub fn on_event(engine: &mut Engine, event: Event<'_>) -> Option<Action> {
    match event {
        Event::Packet(from, packet) => match packet {
            Packet::Eager { envelope, sender, data } => {
                arrival::arrived(engine, from, &envelope, Body::Whole { data, sender })
            }
            Packet::RequestToSend { envelope, sender, offer, first } => {
                arrival::arrived(engine, from, &envelope, Body::Asked(Asked { sender, offer, first }))
            }
            Packet::OkToSend { sender, receiver, granted } => {
                rendezvous::granted(engine, from, sender, receiver, granted)
            }
            Packet::Written { receiver, outcome } => rendezvous::written(engine, from, receiver, outcome),
            Packet::Fin { sender, unreadable } => rendezvous::finished(engine, from, sender, unreadable),
            Packet::SyncAck { sender } => {
                eager::acknowledged(engine, from, sender);
                None
            }
            Packet::Seek(seek) => flow::asked(engine, from, seek),
            Packet::Found(found) => flow::found(engine, from, found),
            Packet::Resume => {
                flow::resumed(engine, from);
                None
            }
            Packet::TakeBack { sender } => cancel::asked_back(engine, from, sender),
            Packet::TakenBack { sender, taken } => cancel::answered(engine, from, sender, taken),
            Packet::Agreement(said) => {
                agreed::arrived(engine, from, &said);
                None
            }
            Packet::Revoke(context) => Some(Action::Revoke(context, from)),
            Packet::Excluded => Some(loss::excluded(from)),
            Packet::OneSided(packet) => {
                engine.with_onesided(|onesided, counts| onesided.arrived(from, packet, counts));
                None
            }
            // How a granted message comes is the methods' own business; what gets here belongs to nobody.
            Packet::Data { .. }
            | Packet::Stream { .. }
            | Packet::Window(_)
            | Packet::Bundled(_)
            | Packet::Filled(_) => {
                engine.counts.add(Counter::StalePackets, 1);
                None
            }
        },
        Event::Arriving(from, envelope, sender) => {
            arrival::arrived(engine, from, &envelope, Body::Begun { sender })
        }
        Event::Arrived(from, envelope, sender, data) => {
            arrival::arrived(engine, from, &envelope, Body::Owned { data, sender })
        }
        Event::DataArriving(from, data, len, into) => {
            *into = engine.with_onesided(|onesided, _| onesided.arriving(from, data, len));
            None
        }
        Event::DataPlaced(from, data, len) => {
            engine.with_onesided(|onesided, _| onesided.placed(from, data, len));
            None
        }
        Event::Received(receiver) => rendezvous::landed(engine, receiver),
        // Of a link to the method that uses it.
        Event::Placed(..) => None,
        Event::Sent(sender) => {
            rendezvous::sent(engine, sender);
            None
        }
        Event::Over(owner, outcome) => rendezvous::over(engine, owner, outcome),
        Event::PeerDown(peer, why) => Some(Action::Lose { peer, why, may_live: false }),
        Event::PeerGone(peer, why) => Some(Action::Lose { peer, why, may_live: true }),
        Event::Malformed(from) => {
            engine.counts.add(Counter::MalformedPackets, 1);
            say(format_args!(
                "unreadable data from rank {} of the world; nothing more is read from it",
                from.0
            ));
            None
        }
    }
}
