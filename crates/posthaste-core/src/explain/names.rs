//! How communicators are called in sentences, found by their contexts.
//!
//! `comm` registers each communicator of this process; whoever makes sentences knows contexts only. What must stay
//! true: a communicator is not kept alive by being known here; a context that is not known any more still has something
//! it is called.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::ids::ContextId;

/// What the sentences need to know of a communicator.
pub trait Named: Send + Sync {
    /// Its name, empty when it has none.
    fn name(&self) -> String;
    /// Our own rank.
    fn own(&self) -> i32;
    /// The rank in the world of a rank that messages go to or come from.
    fn peer(&self, rank: i32) -> Option<u32>;
    /// The other way round.
    fn rank(&self, peer: u32) -> Option<i32>;
}

#[derive(Default)]
struct Known {
    all: HashMap<u64, Weak<dyn Named>>,
    /// When to look for those that are gone.
    purge_at: usize,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Registers a communicator under its point-to-point context.
pub fn register(context: u64, communicator: Weak<dyn Named>) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(Known::default);
    known.all.insert(context, communicator);
    if known.all.len() >= known.purge_at {
        known.all.retain(|_, communicator| communicator.strong_count() > 0);
        known.purge_at = 2 * known.all.len() + 64;
    }
}

/// The communicator with this context, if this process still has it.
pub fn find(context: u64) -> Option<Arc<dyn Named>> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_ref()?.all.get(&context)?.upgrade()
}

/// Makes a communicator known under one more context, in which only some of its messages travel.
pub fn register_alias(context: u64, communicator: u64) {
    if let Some(known) = find(communicator) {
        register(context, Arc::downgrade(&known));
    }
}

/// How a communicator of this process is called.
pub fn of(context: u64) -> String {
    shown(context, &find(context).map_or_else(String::new, |communicator| communicator.name()))
}

/// How a communicator with this context and name is called.
pub fn shown(context: u64, name: &str) -> String {
    if name.is_empty() {
        // Founder and count are the same on every rank, so two sentences can be compared.
        let context = ContextId(context);
        let (founder, count) = (context.within_job() >> 28, context.within_job() & ((1 << 28) - 1));
        let job = context.job().map_or_else(String::new, |job| format!(" of job {:x}", job.0));
        format!("the unnamed communicator {founder}.{}{job}", count / u64::from(ContextId::STEP))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row;

    impl Named for Row {
        fn name(&self) -> String {
            "row".into()
        }
        fn own(&self) -> i32 {
            0
        }
        fn peer(&self, rank: i32) -> Option<u32> {
            u32::try_from(rank).ok().map(|rank| rank + 4)
        }
        fn rank(&self, peer: u32) -> Option<i32> {
            Some(peer as i32 - 4)
        }
    }

    #[test]
    fn a_communicator_is_known_as_long_as_it_lives() {
        let context = 1 << 47 | 28;
        let row: Arc<dyn Named> = Arc::new(Row);
        register(context, Arc::downgrade(&row));
        assert_eq!((of(context), find(context).unwrap().peer(1)), ("row".into(), Some(5)));
        register_alias(context + 4, context);
        assert_eq!(of(context + 4), "row");
        drop(row);
        assert_eq!(of(context), format!("the unnamed communicator {}.7", 1 << 19));
        assert!(find(context).is_none());
    }
}
