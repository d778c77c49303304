//! What users hang on a communicator: name, hints, attributes, error handler (MPI-5.0 §7.4.4, §7.7, §7.8, §9.3).

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::attribute::Attributes;
use crate::comm::Comm;
use crate::explain::names::{self, Named};
use crate::group::Group;
use crate::ids::{ContextId, Peer};
use crate::info::Info;

/// Longest name, in bytes: `MPI_MAX_OBJECT_NAME` of the standard ABI counts the final zero too.
pub const MAX_NAME: usize = 127;

/// An error handler of the door that set it; the engine only hands it on.
pub type Handler = Arc<dyn Any + Send + Sync>;

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
    handler: Option<Handler>,
}

impl fmt::Debug for Inherited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inherited").field("handler", &self.handler.is_some()).finish()
    }
}

#[derive(Debug)]
pub(super) struct Details {
    name: Arc<Mutex<String>>,
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

/// How a communicator is called in sentences (`explain::names`).
pub(super) struct Label {
    name: Arc<Mutex<String>>,
    /// The ranks that messages go to and come from.
    group: Arc<Group>,
    own: i32,
}

impl Label {
    /// Makes the communicator with this context known, as long as the label lives.
    pub(super) fn register(context: ContextId, details: &Details, group: &Arc<Group>, own: i32) -> Arc<Self> {
        let label = Arc::new(Self { name: details.name.clone(), group: group.clone(), own });
        let named: Arc<dyn Named> = label.clone();
        names::register(context.0, Arc::downgrade(&named));
        label
    }
}

impl Named for Label {
    fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn own(&self) -> i32 {
        self.own
    }

    fn peer(&self, rank: i32) -> Option<u32> {
        self.group.peer(u32::try_from(rank).ok()?).map(|peer| peer.0)
    }

    fn rank(&self, peer: u32) -> Option<i32> {
        self.group.rank_of(Peer(peer)).map(|rank| rank as i32)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Label")
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

    /// The error handler, if one was set here or on the communicator this one was made from.
    pub fn handler(&self) -> Option<Handler> {
        self.details.inherited.lock().unwrap_or_else(PoisonError::into_inner).handler.clone()
    }

    /// Sets the error handler.
    pub fn set_handler(&self, handler: Option<Handler>) {
        self.details.inherited.lock().unwrap_or_else(PoisonError::into_inner).handler = handler;
    }

    /// The topology (MPI-5.0 chapter 8), if it was made with one.
    pub fn topology(&self) -> Option<&Topology> {
        self.details.topology.as_ref()
    }

    pub(super) fn inherited(&self) -> Inherited {
        self.details.inherited.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
