//! What users hang on a communicator: name, hints, attributes, error handler (MPI-5.0 §7.4.4, §7.7, §7.8, §9.3).

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::attribute::Attributes;
use crate::comm::Comm;
use crate::group::Group;
use crate::ids::ContextId;
use crate::info::Info;
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

#[derive(Debug)]
pub(super) struct Details {
    name: Name,
    info: Info,
    attributes: Attributes,
    inherited: Mutex<Inherited>,
    topology: Option<Topology>,
}

impl Details {
    pub(super) fn new(name: &str, inherited: Inherited) -> Self {
        Self {
            name: Arc::new(Mutex::new(name.to_owned())),
            info: Info::new(),
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
}

impl Drop for Known {
    fn drop(&mut self) {
        self.0.iter().for_each(|(_, membership)| membership.free());
    }
}

impl Comm {
    /// The name.
    pub fn name(&self) -> String {
        self.details.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names it; of a name that is too long the beginning is kept (MPI-5.0 §7.8).
    pub fn set_name(&self, name: &str) {
        let end = name.floor_char_boundary(MAX_NAME);
        *self.details.name.lock().unwrap_or_else(PoisonError::into_inner) = name[..end].to_owned();
    }

    /// The hints.
    pub fn info(&self) -> &Info {
        &self.details.info
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
