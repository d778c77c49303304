//! The intercommunicator of two jobs that have met, or of two parts of one job.

use std::collections::HashSet;
use std::sync::Arc;

use crate::coll::Accord;
use crate::comm::Comm;
use crate::comm::create::Members;
use crate::comm::details::Details;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::Peer;

impl Comm {
    /// An intercommunicator of this communicator's group and these peers, in a context as it was sent. `is_first`: our group
    /// is the first, which is not so on the other side. All members of both groups make one alike.
    ///
    /// # Errors
    /// What cannot be a context; a list that names nobody, a process twice, or one of our own.
    pub fn met(
        &self,
        remote: Vec<Peer>,
        context: [u64; 2],
        accord: Accord,
        is_first: bool,
    ) -> Result<Arc<Self>> {
        let distinct: HashSet<&Peer> = remote.iter().collect();
        let own = |peer: &Peer| self.group().rank_of(*peer).is_some();
        if remote.is_empty() || distinct.len() != remote.len() || remote.iter().any(own) {
            let text = "the other group names nobody, a process twice, or one of our own".to_owned();
            return Err(Error::other(ErrorClass::Intern, text));
        }
        let group = self.group().clone();
        let remote = Some((Arc::new(Group::of(remote)), is_first));
        let members = Members { group, rank: self.rank() as u32, remote };
        members.comm(context, accord, Details::new("", self.inherited()))
    }
}
