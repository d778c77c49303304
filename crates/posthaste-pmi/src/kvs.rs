//! The key-value space of a job, and the fence that all its ranks meet at.
//!
//! What must stay true: what one rank puts is bounded, so a rank cannot fill the launcher's memory; who is at a fence
//! stays there until it is opened, and then it stands again.

use std::collections::HashMap;
use thiserror::Error;

/// Longest key.
pub const LONGEST_KEY: usize = 256;
/// Longest value.
pub const LONGEST_VALUE: usize = 4096;
/// Most bytes of keys and values in one space.
pub const MOST_BYTES: usize = 256 << 20;

/// Why a pair was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The key is too long.
    #[error("key longer than {LONGEST_KEY}")]
    Key,
    /// The value is too long.
    #[error("value longer than {LONGEST_VALUE}")]
    Value,
    /// The space is full.
    #[error("space holds {MOST_BYTES} bytes already")]
    Full,
}

/// A key-value space. A later put of a key replaces the earlier one.
#[derive(Debug, Default)]
pub struct Kvs {
    pairs: HashMap<String, String>,
    bytes: usize,
}

impl Kvs {
    /// Puts a pair.
    ///
    /// # Errors
    /// When it is too long or the space is full.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), Refused> {
        if key.len() > LONGEST_KEY {
            return Err(Refused::Key);
        }
        if value.len() > LONGEST_VALUE {
            return Err(Refused::Value);
        }
        let before = self.pairs.get(key).map_or(0, |old| old.len() + key.len());
        let bytes = self.bytes - before + key.len() + value.len();
        if bytes > MOST_BYTES {
            return Err(Refused::Full);
        }
        self.bytes = bytes;
        self.pairs.insert(key.into(), value.into());
        Ok(())
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.get(key).map(String::as_str)
    }

    /// Removes a pair, says whether there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        let value = self.pairs.remove(key);
        self.bytes -= value.as_ref().map_or(0, |value| value.len() + key.len());
        value.is_some()
    }
}

/// A fence for a fixed number of ranks.
#[derive(Debug)]
pub struct Fence {
    waiting: Vec<bool>,
    count: usize,
}

impl Fence {
    /// A fence for `ranks` ranks.
    pub fn new(ranks: usize) -> Self {
        Self { waiting: vec![false; ranks], count: 0 }
    }

    /// `rank` has come; true when it is the last one. Coming twice is no more than once.
    pub fn arrive(&mut self, rank: usize) -> bool {
        let Some(waits) = self.waiting.get_mut(rank) else { return false };
        if std::mem::replace(waits, true) {
            return false;
        }
        self.count += 1;
        self.count == self.waiting.len()
    }

    /// Lets everybody who waits go on; the fence then stands again.
    pub fn open(&mut self) {
        self.waiting.fill(false);
        self.count = 0;
    }

    /// A rank that waits at the fence.
    pub fn waiting(&self) -> Option<usize> {
        if self.count == 0 { None } else { self.waiting.iter().position(|&waits| waits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_kept_replaced_and_removed() {
        let mut kvs = Kvs::default();
        kvs.put("a", "1").unwrap();
        kvs.put("a", "22").unwrap();
        assert_eq!((kvs.get("a"), kvs.get("b"), kvs.bytes), (Some("22"), None, 3));
        assert!(kvs.remove("a") && !kvs.remove("a"));
        assert_eq!(kvs.bytes, 0);
    }

    #[test]
    fn too_much_is_refused() {
        let mut kvs = Kvs::default();
        assert_eq!(kvs.put(&"k".repeat(LONGEST_KEY + 1), ""), Err(Refused::Key));
        assert_eq!(kvs.put("k", &"v".repeat(LONGEST_VALUE + 1)), Err(Refused::Value));
        kvs.bytes = MOST_BYTES;
        assert_eq!(kvs.put("k", ""), Err(Refused::Full));
    }

    #[test]
    fn a_fence_opens_for_all_and_stands_again() {
        let mut fence = Fence::new(2);
        assert_eq!(fence.waiting(), None);
        assert!(!fence.arrive(1) && !fence.arrive(1) && !fence.arrive(7));
        assert_eq!(fence.waiting(), Some(1));
        assert!(fence.arrive(0) && !fence.arrive(0));
        assert_eq!(fence.waiting(), Some(0));
        fence.open();
        assert_eq!(fence.waiting(), None);
        assert!(!fence.arrive(0) && fence.arrive(1));
    }
}
