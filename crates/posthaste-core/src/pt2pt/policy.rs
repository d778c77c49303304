//! Which calls look at the message that is next before progress does, and what each may do with it
//! ([`crate::pt2pt::arrival::look`]).
//!
//! | call | a message that a posted receive is to have | a short one | one whose sender asks |
//! |---|---|---|---|
//! | [`Probe`] | left | heard of | heard of |
//! | [`MatchedProbe`] | left | taken out | taken out |
//! | [`Receive`] | left | received | taken out |
//! | [`Collective`] | there is none | received | taken out |
//! | [`Start`] | served | received | left |
//!
//! Whoever comes late for a message in ready mode takes it out, to have it policed. MPI-5.0 §3.5, §3.8.

use crate::datatype::Segment;

/// What a call may do with the message that is next. It is a type, so that each kind of call compiles to code of its own.
pub trait Policy {
    /// What becomes of a message that a posted receive is to have.
    const POSTED: Posted;
    /// Whether it takes a message whose sender asks, too, or one in a bounce buffer.
    const LONG: bool;

    /// Whether what has arrived came before the call, so that a promise of ready mode was broken.
    fn is_late(&self) -> bool;

    /// What it wants.
    fn wish(&mut self) -> Wish<'_>;
}

/// What a call wants of the message that is next.
#[derive(Debug)]
pub enum Wish<'a> {
    /// To hear of it; it stays where it is.
    Hear,
    /// To have it taken out, so that nobody else gets it.
    Take,
    /// To have its data put here, if it needs nothing but a copy. It is taken out if its sender asks, or if it came early.
    Receive(&'a Segment),
    /// The same, but data is left to progress: each message is explained.
    Explain,
}

/// What becomes of a message that a posted receive is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// There is none: the caller is certain that no receive is posted that the message could fit.
    None,
    /// It is left to progress.
    Left,
    /// It goes to that receive.
    Served,
}

/// A probe.
#[derive(Debug)]
pub struct Probe;

impl Policy for Probe {
    const POSTED: Posted = Posted::Left;
    const LONG: bool = true;

    #[inline(always)]
    fn is_late(&self) -> bool {
        false // that is for the receive to say
    }

    #[inline(always)]
    fn wish(&mut self) -> Wish<'_> {
        Wish::Hear
    }
}

/// A matched probe.
#[derive(Debug)]
pub struct MatchedProbe;

impl Policy for MatchedProbe {
    const POSTED: Posted = Posted::Left;
    const LONG: bool = true;

    #[inline(always)]
    fn is_late(&self) -> bool {
        true
    }

    #[inline(always)]
    fn wish(&mut self) -> Wish<'_> {
        Wish::Take
    }
}

/// A blocking receive.
#[derive(Debug)]
pub struct Receive<'a> {
    /// Its buffer.
    pub into: &'a Segment,
    /// It has looked before.
    pub waited: bool,
}

impl Policy for Receive<'_> {
    const POSTED: Posted = Posted::Left;
    const LONG: bool = true;

    #[inline(always)]
    fn is_late(&self) -> bool {
        !self.waited
    }

    #[inline(always)]
    fn wish(&mut self) -> Wish<'_> {
        Wish::Receive(self.into)
    }
}

/// The receive of a collective operation, which has posted none and shares its context with nobody.
#[derive(Debug)]
pub struct Collective<'a> {
    /// Its buffer.
    pub into: &'a Segment,
}

impl Policy for Collective<'_> {
    const POSTED: Posted = Posted::None;
    const LONG: bool = true;

    #[inline(always)]
    fn is_late(&self) -> bool {
        false
    }

    #[inline(always)]
    fn wish(&mut self) -> Wish<'_> {
        Wish::Receive(self.into)
    }
}

/// The start of a receive. It serves those that were started before it, and leaves long messages alone, whose copy would
/// keep the caller from starting something else.
#[derive(Debug)]
pub struct Start<'a> {
    /// Its buffer.
    pub into: &'a Segment,
    /// Each message is explained.
    pub explained: bool,
}

impl Policy for Start<'_> {
    const POSTED: Posted = Posted::Served;
    const LONG: bool = false;

    #[inline(always)]
    fn is_late(&self) -> bool {
        true
    }

    #[inline(always)]
    fn wish(&mut self) -> Wish<'_> {
        if self.explained { Wish::Explain } else { Wish::Receive(self.into) }
    }
}
