//! Agreement of processes of which some end before it is over: what each alive one contributes is combined by "and", and all that
//! are alive in the end get the same outcome, with the processes that were lost when it was found. A pure state machine: who
//! uses it carries messages, in order between two processes, and reports each lost process to each other one, after
//! its last message.
//!
//! ```text
//!   contribute    a process and all below it in the tree have contributed   --Contribution-->  the one above
//!                 the root combines and decides                             --Decided------->  those below
//!                 where two are left, one contributes                       --Contribution-->  the other one; both decide
//!   lose          tells those above and below in the tree of those that are left; contributions are sent again, with any decision
//!                 that is known
//! ```
//!
//! The tree is a binomial one of those that a process does not know to be lost, in the order of their ranks: without a loss
//! each process sends one message for each edge of the tree and direction, 2 log2(n) at most. Where processes share CPUs it is a flat one, in
//! which all but those with others below them run once. The news of a loss goes along all edges,
//! once in each direction at most, so everything takes a multiple of log2(n) rounds (`rounds_tests`). A contribution says which processes
//! its sender knows to be lost, and counts only where the same are known, so that both have the same tree.
//!
//! Why all get the same: a root decides by contributions of everybody whom it does not know to be lost, and each says whether it
//! has heard of a decision; if so, that is the root's, too. Nobody takes a message of a process that it knows to be lost. So if a decision was made under an earlier
//! root and anybody alive has it or will still take it, somebody who is alive under the new root had it before it contributed,
//! and on its way up everybody takes it over. A decided process goes on answering, because others may still depend on it:
//! it may be forgotten once the same processes have decided a later agreement. Where two are left, both are roots: they decide by the same two
//! contributions, unless one of them ends, and then there is only one.
//!
//! This is the consensus that the functions of fault tolerance stand on (MPI_Comm_agree, MPI_Comm_shrink in the proposals of the
//! MPI forum's fault tolerance working group); `pt2pt::agreed` carries its messages.

mod words;

use std::collections::BTreeSet;

/// What was agreed on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// What all contributions have in common that were counted: those of everybody alive, and maybe of some that were lost.
    pub common: Common,
    /// What one of those has proposed that were counted.
    pub proposal: Proposal,
    /// The ranks that were known to be lost, in order.
    pub lost: Vec<u32>,
}

/// What some processes have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Common {
    /// The bits that all of them have.
    pub flags: i64,
    /// All of them have acknowledged all that are lost.
    pub acknowledged: bool,
}

impl Common {
    /// What nobody has in common.
    const ALL: Self = Self { flags: -1, acknowledged: true };

    fn and(self, other: Self) -> Self {
        let acknowledged = self.acknowledged && other.acknowledged;
        Self { flags: self.flags & other.flags, acknowledged }
    }
}

/// A number that everybody makes, and of which one is taken: the words of a context.
pub type Proposal = [u64; 2];

/// What a process contributes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contribution {
    /// Bits, which are combined by "and".
    pub flags: i64,
    /// The lost ranks that it has acknowledged.
    pub acknowledged: BTreeSet<u32>,
    /// What is decided if it decides.
    pub proposal: Proposal,
}

/// What one process says to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// The sender and all below it have contributed.
    Contribution {
        /// What all of them have in common.
        common: Common,
        /// What the sender proposes.
        proposal: Proposal,
        /// The decision, if the sender has heard of it.
        decided: Option<Decision>,
        /// Whom the sender knows to be lost, in order.
        lost: Vec<u32>,
    },
    /// It is decided.
    Decided(Decision),
    /// These are lost.
    Lost(Vec<u32>),
}

/// Nobody has contributed.
const NOBODY: (u64, (Common, Proposal)) = (0, (Common::ALL, [0; 2]));

/// A message and the rank that it goes to.
pub type Outgoing = (u32, Message);

/// The shape of the tree: the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tree {
    /// log2(n) rounds, and as many messages of one process at most in each direction.
    Binomial,
    /// As many below one as this says, [`MOST_BELOW`] at most.
    Flat(u32),
}

/// No process has more others directly below it.
pub const MOST_BELOW: u32 = u64::BITS;

/// One process's part in an agreement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agreement {
    rank: u32,
    size: u32,
    tree: Tree,
    own: Option<Contribution>,
    lost: BTreeSet<u32>,
    /// The place of this process among those that are left: a place without its lowest bit is the one above.
    place: u32,
    /// Who has contributed in the tree of those that are left, a bit for each in the order of [`Agreement::below`].
    heard: u64,
    /// What these have in common, and what the last one has proposed.
    theirs: (Common, Proposal),
    /// What this process reports in that tree is said.
    has_reported: bool,
    decided: Option<Decision>,
}

impl Agreement {
    /// The part of the process `rank` of `size`, which has not contributed yet, and knows that some ranks are lost.
    pub fn new(rank: u32, size: u32, tree: Tree, lost: impl IntoIterator<Item = u32>) -> Self {
        let lost: BTreeSet<u32> = lost.into_iter().filter(|other| *other < size && *other != rank).collect();
        let place = place(rank, &lost);
        let tree = if let Tree::Flat(most) = tree { Tree::Flat(most.min(MOST_BELOW)) } else { tree };
        let (heard, theirs) = NOBODY;
        Self { rank, size, tree, own: None, lost, place, heard, theirs, has_reported: false, decided: None }
    }

    /// The decision, once there is one.
    pub fn decision(&self) -> Option<&Decision> {
        self.decided.as_ref()
    }

    /// Those whose contributions this process waits for.
    pub fn awaited(&self) -> impl Iterator<Item = u32> {
        let waits = self.own.is_some() && !self.has_heard_all();
        self.below()
            .take(if waits { usize::MAX } else { 0 })
            .zip(0..)
            .filter_map(|(other, number)| (self.heard & 1 << number == 0).then_some(other))
    }

    /// This process contributes; done again it does nothing.
    pub fn contribute(&mut self, own: Contribution) -> Vec<Outgoing> {
        let mut out = Vec::new();
        if self.own.is_none() {
            self.own = Some(own);
            self.advance(&mut out);
        }
        out
    }

    /// A message has come. One from a process that is known to be lost is not taken, nor one that cannot be.
    pub fn receive(&mut self, from: u32, message: Message) -> Vec<Outgoing> {
        let mut out = Vec::new();
        if from >= self.size || from == self.rank || self.lost.contains(&from) {
            return out;
        }
        match message {
            Message::Contribution { common, proposal, decided, lost } => {
                self.learn(&lost, Some(from), &mut out);
                match (decided, &self.decided) {
                    (Some(decision), _) => self.decide(decision, &mut out),
                    (None, Some(own)) => out.push((from, Message::Decided(own.clone()))),
                    (None, None) => {}
                }
                let number = self.below().position(|other| other == from);
                if !lost.iter().eq(self.lost.iter()) {
                    // In another tree: it contributes again when it knows what we know.
                    out.push((from, Message::Lost(self.known())));
                } else if let Some(number) = number {
                    self.heard |= 1 << number;
                    self.theirs = (self.theirs.0.and(common), proposal);
                }
            }
            Message::Decided(decision) => self.decide(decision, &mut out),
            Message::Lost(lost) => self.learn(&lost, Some(from), &mut out),
        }
        self.advance(&mut out);
        out
    }

    /// A process is lost, and nothing more comes from it.
    pub fn lose(&mut self, rank: u32) -> Vec<Outgoing> {
        let mut out = Vec::new();
        self.learn(&[rank], None, &mut out);
        self.advance(&mut out);
        out
    }

    /// With more losses known there is another tree, in which all begins anew but what is decided. The news goes up at once as well
    /// as down, from wherever it has come, and does not wait for contributions.
    fn learn(&mut self, lost: &[u32], from: Option<u32>, out: &mut Vec<Outgoing>) {
        let before = self.lost.len();
        let others = lost.iter().copied().filter(|other| *other < self.size && *other != self.rank);
        self.lost.extend(others);
        if self.lost.len() > before {
            self.place = place(self.rank, &self.lost);
            (self.heard, self.theirs) = NOBODY;
            self.has_reported = false;
            let known = self.known();
            // Who has told it needs no answer, unless that one knows less.
            let tells = |other: &u32| Some(*other) != from || known != lost;
            let others = self.above().into_iter().chain(self.below()).filter(tells);
            out.extend(others.map(|other| (other, Message::Lost(known.clone()))));
        }
    }

    /// Says upwards what everybody from here on downwards has contributed, once all have; the root decides. One of two says what it
    /// contributes, and decides once both have.
    fn advance(&mut self, out: &mut Vec<Outgoing>) {
        let Some(own) = &self.own else { return };
        let (is_one_of_two, has_heard_all) = (self.is_one_of_two(), self.has_heard_all());
        let mine = Common { flags: own.flags, acknowledged: self.lost.is_subset(&own.acknowledged) };
        let (theirs, proposed) = self.theirs;
        let (common, proposal) = (mine.and(theirs), own.proposal);
        if !self.has_reported && (has_heard_all || is_one_of_two) {
            self.has_reported = true;
            let to = if is_one_of_two { self.below().next() } else { self.above() };
            let (common, decided) = (if is_one_of_two { mine } else { common }, self.decided.clone());
            let report = |to| (to, Message::Contribution { common, proposal, decided, lost: self.known() });
            out.extend(to.map(report));
        }
        if has_heard_all && self.above().is_none() && self.decided.is_none() {
            // Both of two take the one of the first.
            let proposal = if self.place == 0 { proposal } else { proposed };
            self.decide(Decision { common, proposal, lost: self.known() }, out);
        }
    }

    /// Takes over a decision, unless there is one already: it is the same.
    fn decide(&mut self, decision: Decision, out: &mut Vec<Outgoing>) {
        if self.decided.is_none() {
            // Of two each decides for itself.
            let told = self.below().take(if self.is_one_of_two() { 0 } else { usize::MAX });
            out.extend(told.map(|child| (child, Message::Decided(decision.clone()))));
            self.decided = Some(decision);
        }
    }

    fn has_heard_all(&self) -> bool {
        self.heard.count_ones() == self.width()
    }

    /// Two are left: each is below the other, and none above.
    fn is_one_of_two(&self) -> bool {
        self.left() == 2
    }

    fn known(&self) -> Vec<u32> {
        self.lost.iter().copied().collect()
    }

    fn left(&self) -> u32 {
        self.size - self.lost.len() as u32
    }

    /// Who has a place among those that are left.
    fn at(&self, place: u32) -> u32 {
        // Each lost rank up to here pushes the place one further.
        self.lost.iter().fold(place, |rank, lost| rank + u32::from(*lost <= rank))
    }

    fn above(&self) -> Option<u32> {
        let place = self.place;
        let above = match self.tree {
            Tree::Binomial => place & place.wrapping_sub(1),
            Tree::Flat(most) => place.wrapping_sub(1) / most,
        };
        (place > 0 && !self.is_one_of_two()).then(|| self.at(above))
    }

    /// How many are directly below.
    fn width(&self) -> u32 {
        if self.is_one_of_two() {
            return 1;
        }
        let behind = self.left().saturating_sub(self.place + 1);
        match self.tree {
            // As far as there are bits below the lowest one of the place, and places for them.
            Tree::Binomial => {
                let bits = if self.place == 0 { u32::BITS } else { self.place.trailing_zeros() };
                bits.min(behind.checked_ilog2().map_or(0, |bit| bit + 1))
            }
            Tree::Flat(most) => {
                self.left().saturating_sub(self.place.saturating_mul(most).saturating_add(1)).min(most)
            }
        }
    }

    /// The one with most below it comes first: it has most to pass on.
    fn below(&self) -> impl Iterator<Item = u32> {
        let (place, tree, is_one_of_two) = (self.place, self.tree, self.is_one_of_two());
        let child = move |number: u32| match tree {
            _ if is_one_of_two => 1 - place,
            Tree::Binomial => place + (1 << number),
            Tree::Flat(most) => place * most + 1 + number,
        };
        (0..self.width()).rev().map(move |number| self.at(child(number)))
    }
}

/// How many that are left come before this rank.
fn place(rank: u32, lost: &BTreeSet<u32>) -> u32 {
    rank - lost.range(..rank).count() as u32
}

#[cfg(test)]
mod explored_tests;
#[cfg(test)]
mod many_tests;
#[cfg(test)]
mod rounds_tests;
#[cfg(test)]
mod tests;
