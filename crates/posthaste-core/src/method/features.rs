//! Which methods this build has: each is a feature of Cargo, and all are on unless a build turns them off.
//!
//! A method is made with such a proof and keeps it, as does the room in it that it hands out. What must stay true:
//! where a feature is off there is no proof, so there is no value of the method's type either. Every match keeps its
//! cases; the compiler sees which of them cannot come about, and leaves out what only they use.

use std::convert::Infallible;

use crate::config::Way;
use crate::error::{Error, ErrorClass, Result};

/// Shared memory is built.
pub(super) type HasShm = Built<{ lacking(Way::Shm) }>;
/// TCP is built.
pub(super) type HasTcp = Built<{ lacking(Way::Tcp) }>;
/// libfabric is built.
pub(super) type HasFabric = Built<{ lacking(Way::Fabric) }>;
/// Plug-ins are built.
pub(super) type HasPlugin = Built<{ lacking(Way::Plugin) }>;

/// Proof that nothing lacks: an array of no impossible things can be had, one of a single impossible thing cannot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Built<const LACKING: usize>([Infallible; LACKING]);

/// How many methods lack if this one is needed.
const fn lacking(way: Way) -> usize {
    if way.is_built() { 0 } else { 1 }
}

impl<const LACKING: usize> Built<LACKING> {
    /// The proof for the method of this name.
    pub(super) fn proof(name: &str) -> Result<Self> {
        let proof = <[Infallible; LACKING]>::try_from(&[][..]).map(Self);
        proof.map_err(|_| {
            Error::other(ErrorClass::Other, format!("this build of posthaste has no method {name}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_built_has_no_proof_and_leaves_no_trace() {
        assert!(Built::<0>::proof("tcp").is_ok());
        let error = Built::<1>::proof("tcp").unwrap_err().to_string();
        assert_eq!(error, "this build of posthaste has no method tcp");
        assert_eq!(size_of::<Option<Built<1>>>(), 0, "its only value is None");
    }
}
