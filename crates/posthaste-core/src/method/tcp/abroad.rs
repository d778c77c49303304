//! Processes of other jobs: by which names and which secret two of them know each other, and how they part.
//!
//! Inside its job a process is a rank, and one secret is enough. Between jobs it is a rank of a job, and whoever has met has
//! agreed on a secret, which a label names in the hello (`handshake`). Each further meeting of the same two adds its own, so
//! that they always have one in common, in whichever order their threads hear of the meetings.
//!
//! Parting: who has nothing more to say says so and closes its half of the connection; the other side, when it sees that,
//! closes the rest. Neither is a loss.
//!
//! What must stay true: a name that was not welcomed gets no connection; who has parted leaves nothing behind.

use std::collections::HashMap;

use crate::ids::Peer;
use crate::jobs::ProcessName;
use crate::method::tcp::outgoing::PART;
use crate::method::tcp::{BusinessCard, State, Tcp, Way};

/// What processes know that have met.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Names the secret; never 0, which stands for that of the job.
    pub label: u64,
    /// What only they know.
    pub secret: [u8; 32],
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pass").field("label", &self.label).finish_non_exhaustive()
    }
}

/// The processes of other jobs that this one has met.
#[derive(Clone, Debug, Default)]
pub(super) struct Abroad {
    /// What this process is called there, once it has met somebody.
    own: Option<ProcessName>,
    peers: HashMap<ProcessName, Peer>,
    known: HashMap<Peer, Known>,
    passes: HashMap<u64, Pass>,
}

#[derive(Clone, Debug)]
struct Known {
    name: ProcessName,
    card: BusinessCard,
    /// Of the meetings in which the two have met, in their order.
    labels: Vec<u64>,
}

impl Abroad {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// What this process is called by others.
    pub(super) fn own(&self) -> Option<ProcessName> {
        self.own
    }

    pub(super) fn name(&self, peer: Peer) -> Option<ProcessName> {
        self.known.get(&peer).map(|known| known.name)
    }

    pub(super) fn card(&self, peer: Peer) -> Option<&BusinessCard> {
        self.known.get(&peer).map(|known| &known.card)
    }

    /// The label of a secret that this process has in common with a peer.
    pub(super) fn label(&self, peer: Peer) -> Option<u64> {
        self.known.get(&peer)?.labels.first().copied()
    }

    /// Whose name this is, if that process has been given the secret with this label.
    pub(super) fn peer(&self, name: ProcessName, label: u64) -> Option<Peer> {
        let peer = *self.peers.get(&name)?;
        self.known.get(&peer)?.labels.contains(&label).then_some(peer)
    }

    pub(super) fn secret(&self, label: u64) -> Option<&[u8; 32]> {
        self.passes.get(&label).map(|pass| &pass.secret)
    }

    fn welcome(&mut self, own: ProcessName, peer: Peer, name: ProcessName, pass: Pass, card: BusinessCard) {
        self.own = Some(own);
        self.peers.insert(name, peer);
        self.passes.insert(pass.label, pass);
        let known = self.known.entry(peer).or_insert(Known { name, card: card.clone(), labels: Vec::new() });
        known.card = card; // its engine may have been opened again
        if !known.labels.contains(&pass.label) {
            known.labels.push(pass.label);
        }
    }

    /// Takes back the secret of a meeting that came to nothing, or all that is known of a peer.
    fn forget(&mut self, peer: Peer, label: Option<u64>) {
        let Some(known) = self.known.get_mut(&peer) else { return };
        known.labels.retain(|other| label.is_some_and(|label| *other != label));
        if known.labels.is_empty() {
            // One that was lost and came again has another number now.
            if self.peers.get(&known.name) == Some(&peer) {
                self.peers.remove(&known.name);
            }
            self.known.remove(&peer);
        }
    }

    /// Secrets that nobody needs any more.
    fn purge(&mut self) {
        let used: std::collections::HashSet<u64> =
            self.known.values().flat_map(|known| known.labels.iter().copied()).collect();
        self.passes.retain(|label, _| used.contains(label));
    }
}

impl Tcp {
    /// What others need to reach this process.
    pub fn own_card(&self) -> &BusinessCard {
        &self.card
    }

    /// From now on `peer` is the process with this name, and may connect; this process is called `own` by it.
    pub fn welcome(
        &mut self,
        own: ProcessName,
        peer: Peer,
        name: ProcessName,
        pass: Pass,
        card: BusinessCard,
    ) {
        self.identity.abroad.welcome(own, peer, name, pass, card);
    }

    /// The label of a secret that this process has in common with a peer; 0 is that of the job.
    pub fn label_with(&self, peer: Peer) -> u64 {
        self.identity.abroad.label(peer).unwrap_or(0)
    }

    /// The secret with this label, if this process knows it.
    pub fn secret_of(&self, label: u64) -> Option<[u8; 32]> {
        self.identity.secret_of(label)
    }

    /// The meeting with this label came to nothing for these peers.
    pub fn withdraw(&mut self, peers: &[Peer], label: u64) {
        peers.iter().for_each(|peer| self.identity.abroad.forget(*peer, Some(label)));
        self.identity.abroad.purge();
    }

    /// Begins to part from a peer, to which nothing more will be sent.
    pub fn begin_parting(&mut self, peer: Peer) {
        let Some(way) = self.known(peer) else { return };
        way.is_parting = true;
        if way.is_up() {
            self.say_last(peer, PART);
        }
    }

    /// Says to a peer that nothing more comes.
    pub(super) fn say_last(&mut self, peer: Peer, word: u32) {
        let way = self.way(peer);
        way.out.push_own(word);
        way.is_closing = true;
        self.flush(peer);
    }

    /// Whether the other side has closed its half, too, or there is no connection.
    pub fn has_parted(&self, peer: Peer) -> bool {
        !matches!(self.ways.get(peer), Some(Way { state: State::Up(_) | State::Reaching(_), .. }))
    }

    /// Nothing connects this process with these peers any more.
    pub fn forget_peers(&mut self, peers: &[Peer]) {
        for peer in peers {
            if self.identity.abroad.name(*peer).is_some() {
                self.end_way(*peer, State::None);
                self.ways.forget(*peer);
                self.identity.abroad.forget(*peer, None);
            }
        }
        self.identity.abroad.purge();
    }
}
