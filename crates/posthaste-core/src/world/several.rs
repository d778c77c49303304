//! Waits for some of several requests, and requests that nobody wants any more. MPI-5.0 §3.7.5, §3.8.4.

use super::World;
use crate::ids::RequestId;
use crate::progress::Vci;
use crate::pt2pt::cancel;
use crate::request::complete;
use crate::wait::Awaited;

impl World {
    /// Waits until one of these requests is over, and says which of them. It has still to be completed. There is at least one.
    pub fn wait_for_one(&self, ids: &[RequestId]) -> usize {
        let awaited = |_: &Vci| Awaited::Any(ids.to_vec());
        self.wait_among(self.vcis_of(ids), self.calls.wait_any, awaited, || self.first_over(ids))
    }

    /// The first of these requests that is over after one step of progress, if one is. It has still to be completed.
    pub fn find_over(&self, ids: &[RequestId]) -> Option<usize> {
        self.first_over(ids).or_else(|| {
            self.step_among(self.vcis_of(ids));
            self.first_over(ids)
        })
    }

    /// Whether all of these requests are over, after one step of progress if one is not.
    pub fn are_over(&self, ids: &[RequestId]) -> bool {
        let are_over = || ids.iter().all(|id| self.is_over(*id));
        are_over() || {
            self.step_among(self.vcis_of(ids));
            are_over()
        }
    }

    /// Whether a request is over, as far as that is known.
    pub fn is_over(&self, id: RequestId) -> bool {
        let vci = self.vci_with(id.slot as usize);
        vci.engine.requests.get(id).is_none_or(complete::is_complete)
    }

    /// Cancels a request where that is still possible: it is over then, and its status says so (MPI-5.0 §3.8.4). Of a message to
    /// ourselves the answer is there when this returns.
    pub fn cancel(&self, id: RequestId) {
        let mut vci = self.vci_with(id.slot as usize);
        let Vci { engine, methods, .. } = &mut *vci;
        cancel::cancel(engine, methods, id);
        for _ in 0..2 {
            vci.progress();
        }
    }

    fn first_over(&self, ids: &[RequestId]) -> Option<usize> {
        ids.iter().position(|id| self.is_over(*id))
    }

    fn vcis_of(&self, ids: &[RequestId]) -> u32 {
        ids.iter().fold(0, |vcis, id| vcis | 1 << self.vci_number(id.slot as usize))
    }
}
