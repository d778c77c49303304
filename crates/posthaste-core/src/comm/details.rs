//! What users hang on a communicator: name, hints, attributes, error handler (MPI-5.0 §7.4.4, §7.7, §7.8, §9.3).

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::attribute::Attributes;
use crate::comm::Comm;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::ContextId;
use crate::info::Info;
use crate::pt2pt::Engine;
use crate::pt2pt::contexts::{Membership, Name};

/// Longest name, in bytes; a C program needs one more.
pub const MAX_NAME: usize = 127;

/// An error handler of the API layer that set it; the engine only hands it on.
type Handler = Arc<dyn Any + Send + Sync>;

/// A topology; `topology` knows what is in it, here it is only kept, and handed on to duplicates.
#[derive(Clone)]
pub struct Topology(pub Arc<dyn Any + Send + Sync>);

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Topology")
    }
}

/// What a new communicator takes over from the one it was made from.
#[derive(Clone, Default)]
pub(super) struct Inherited {
    /// Of each API layer one at most: they differ in their types.
    handlers: Vec<Handler>,
}

impl fmt::Debug for Inherited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inherited").field("handlers", &self.handlers.len()).finish()
    }
}

/// Hints that promise something, by their bits (MPI-5.0 §7.4.4).
const PROMISES: [&str; 4] = [
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
];
const NO_ANY_TAG: u8 = 1 << 0;
const NO_ANY_SOURCE: u8 = 1 << 1;
/// Those that are made use of; the others are heard and change nothing.
const USED: u8 = NO_ANY_TAG | NO_ANY_SOURCE;

#[derive(Debug)]
pub(super) struct Details {
    name: Name,
    info: Info,
    /// What the hints promise: a bit for each of the [`PROMISES`].
    promised: AtomicU8,
    /// Gone with the communicator.
    life: Arc<()>,
    /// The program has freed it.
    left: AtomicBool,
    attributes: Attributes,
    inherited: Mutex<Inherited>,
    topology: Option<Topology>,
}

impl Details {
    pub(super) fn new(name: &str, inherited: Inherited) -> Self {
        Self {
            name: Arc::new(Mutex::new(name.to_owned())),
            info: Info::new(),
            promised: AtomicU8::new(0),
            life: Arc::new(()),
            left: AtomicBool::new(false),
            attributes: Attributes::default(),
            inherited: Mutex::new(inherited),
            topology: None,
        }
    }

    pub(super) fn with_topology(self, topology: Option<Topology>) -> Self {
        Self { topology, ..self }
    }
}

/// The contexts of a communicator and who is behind them, for the engine of its VCI. Dropped with the communicator.
#[derive(Debug)]
pub(super) struct Known(pub(super) [(ContextId, Arc<Membership>); 3]);

impl Known {
    /// Messages go to `target`; collective operations count through `everybody`, where this process has rank `own`.
    pub(super) fn new(
        context: ContextId,
        details: &Details,
        (target, own): (&Arc<Group>, i32),
        (everybody, own_among_all): (&Arc<Group>, i32),
    ) -> Self {
        let membership = |group: &Arc<Group>, own| Membership::new(details.name.clone(), group.clone(), own);
        let users = membership(target, own);
        let collective = membership(everybody, own_among_all);
        Self([(context, users.clone()), (context.partitioned(), users), (context.collective(), collective)])
    }

    /// Says whether they share CPUs.
    pub(super) fn set_crowded(&self, crowded: bool) {
        self.0[2].1.set_crowded(crowded);
    }

    /// Who point-to-point messages go to and come from.
    #[inline(always)]
    pub(super) fn users(&self) -> &Membership {
        &self.0[0].1
    }
}

impl Known {
    /// Nobody uses the communicator any more.
    pub(super) fn free(&self) {
        self.0.iter().for_each(|(_, membership)| membership.free());
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.free();
    }
}

impl Comm {
    /// Nothing more is sent or received in it, although it is still here.
    pub(crate) fn ends(&self) {
        self.known.free();
    }

    /// The program has freed it: it connects this process with nobody any more, whoever still has it at hand.
    pub fn leave(&self) {
        // SYNC: nothing is read on account of it.
        self.details.left.store(true, Ordering::Relaxed);
    }

    /// Whether it has.
    pub(crate) fn is_left(&self) -> bool {
        self.details.left.load(Ordering::Relaxed)
    }

    /// The name.
    pub fn name(&self) -> String {
        self.details.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names it; of a name that is too long the beginning is kept (MPI-5.0 §7.8).
    pub fn set_name(&self, name: &str) {
        let end = name.floor_char_boundary(MAX_NAME);
        *self.details.name.lock().unwrap_or_else(PoisonError::into_inner) = name[..end].to_owned();
    }

    /// The hints in use, and those that mean nothing here. A promise that nothing makes use of counts as not given.
    pub fn hints(&self) -> Info {
        let (hints, promised) = (self.details.info.clone(), self.details.promised.load(Ordering::Relaxed));
        for (bit, key) in PROMISES.iter().enumerate() {
            let value = if promised & 1 << bit != 0 { "true" } else { "false" };
            _ = hints.set(key.as_bytes(), value.as_bytes()); // neither is too long
        }
        hints
    }

    /// Takes over hints, in the engine of its VCI. A promise that is neither "true" nor "false" leaves things as they are.
    ///
    /// # Errors
    /// A promise that a posted receive breaks; then nothing is taken over.
    pub fn set_hints(&self, engine: &mut Engine, hints: &Info) -> Result<()> {
        let Details { info, promised, life, .. } = &self.details;
        let before = promised.load(Ordering::Relaxed);
        let mut now = before;
        for (bit, key) in PROMISES.iter().enumerate() {
            match hints.get(key.as_bytes()).as_deref() {
                Some(b"true") => now |= 1 << bit & USED,
                Some(b"false") => now &= !(1 << bit),
                _ => {}
            }
        }
        let (no_any_source, no_any_tag) = (now & NO_ANY_SOURCE != 0, now & NO_ANY_TAG != 0);
        if now != before && !engine.matching.promise(self.context(), no_any_source, no_any_tag, life) {
            let got = "a promise to receive without wildcards";
            let expected = "it while no receive with a wildcard is posted on the communicator";
            return Err(Error::invalid(ErrorClass::InfoValue, "info", got, expected));
        }
        promised.store(now, Ordering::Relaxed);
        info.set_all(hints);
        Ok(())
    }

    /// Checks a receive or a probe that leaves the sender open, or the tag.
    ///
    /// # Errors
    /// When the hints promise that there are none.
    #[inline]
    pub(crate) fn check_wildcards(&self, any_source: bool, any_tag: bool) -> Result<()> {
        let used = (u8::from(any_source) * NO_ANY_SOURCE) | (u8::from(any_tag) * NO_ANY_TAG);
        let broken = self.details.promised.load(Ordering::Relaxed) & used;
        if broken == 0 { Ok(()) } else { Err(self.broken_promise(broken)) }
    }

    #[cold]
    fn broken_promise(&self, broken: u8) -> Error {
        let (class, argument, got, key) = match broken & NO_ANY_SOURCE {
            0 => (ErrorClass::Tag, "tag", "MPI_ANY_TAG", PROMISES[0]),
            _ => (ErrorClass::Rank, "source", "MPI_ANY_SOURCE", PROMISES[1]),
        };
        let name = self.name();
        let expected = format_args!("none: the hint {key} of communicator \"{name}\" promises so");
        Error::invalid(class, argument, got, expected)
    }

    /// The attributes.
    pub fn attributes(&self) -> &Attributes {
        &self.details.attributes
    }

    /// The error handler of this type, if one was set here or on the communicator this one was made from.
    pub fn handler<H: Send + Sync + 'static>(&self) -> Option<Arc<H>> {
        let inherited = self.details.inherited.lock().unwrap_or_else(PoisonError::into_inner);
        inherited.handlers.iter().find_map(|handler| handler.clone().downcast().ok())
    }

    /// Sets the error handler of this type: that of an API layer, which has a type of its own for it. Those of others stay.
    pub fn set_handler<H: Send + Sync + 'static>(&self, handler: H) {
        let mut inherited = self.details.inherited.lock().unwrap_or_else(PoisonError::into_inner);
        inherited.handlers.retain(|other| !other.is::<H>());
        inherited.handlers.push(Arc::new(handler));
    }

    /// The topology (MPI-5.0 chapter 8), if it was made with one.
    pub fn topology(&self) -> Option<&Topology> {
        self.details.topology.as_ref()
    }

    pub(super) fn inherited(&self) -> Inherited {
        self.details.inherited.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
