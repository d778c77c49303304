//! The communicator of those that are left when members are lost (MPIX_Comm_shrink in the proposals of the MPI forum's fault
//! tolerance working group).

use std::sync::Arc;

use crate::agreement::Decision;
use crate::comm::Comm;
use crate::comm::create::Members;
use crate::comm::details::Details;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;

impl Comm {
    /// The members that a decision of all members does not call lost, in their order, in the context that it proposes. Of an
    /// intercommunicator both groups lose their lost members.
    ///
    /// # Errors
    /// Nobody is left on one side of an intercommunicator, or this process is called lost.
    pub fn shrunk(&self, decision: &Decision) -> Result<Arc<Self>> {
        let everybody = self.everybody().group();
        let lost = Group::of(decision.lost.iter().filter_map(|rank| everybody.peer(*rank)).collect());
        let left = |group: &Arc<Group>| Arc::new(group.difference(&lost));
        let (group, other) = (left(self.group()), self.remote().map(left));
        let Some(rank) = group.rank_of(self.me()) else {
            let text = "the other members have taken this process for lost";
            return Err(Error::other(ErrorClass::ProcAborted, text));
        };
        if other.as_ref().is_some_and(|other| other.size() == 0) {
            let text = "nobody of the remote group is left, so there is no intercommunicator";
            return Err(Error::other(ErrorClass::ProcAborted, text));
        }
        let is_first = self.bridge().is_some_and(crate::coll::Bridge::is_first);
        let members = Members { group, rank, remote: other.map(|other| (other, is_first)) };
        let details = Details::new("", self.inherited());
        members.comm(decision.proposal, self.everybody().accord(), details)
    }
}
