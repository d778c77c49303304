//! Messages that stay behind when their operation is over: their data lies on boards, so the program has its buffers back.
//!
//! Where ranks share CPUs, who waits until its peers have copied takes a turn more for it, and can never be ahead of them.
//!
//! What must stay true: a board goes back when all messages that lie there are over. No more stays behind than [`Boards`](super::Boards) lets,
//! and nothing when the process leaves the job.

use crate::coll::board::Board;
use crate::ids::RequestId;
use crate::pt2pt::Engine;
use crate::request::complete;

/// What stayed behind of operations that are over.
#[derive(Debug, Default)]
pub(super) struct Behind(Vec<Rest>);

/// The same of one of them.
#[derive(Debug)]
struct Rest {
    sends: Vec<RequestId>,
    /// Where their data lies.
    _boards: Vec<Board>,
}

impl Behind {
    /// Whether nothing is.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps boards until these messages are over.
    pub(super) fn add(&mut self, mut boards: Vec<Board>, sends: impl Iterator<Item = RequestId>) {
        boards.iter_mut().for_each(Board::stay_behind);
        self.0.push(Rest { sends: sends.collect(), _boards: boards });
    }

    /// Gives boards back whose messages are over; whether there were any. Nobody hears how those ended, as of any message that has left.
    pub(super) fn settle(&mut self, engine: &mut Engine) -> bool {
        let before = self.0.len();
        self.0.retain_mut(|rest| {
            rest.sends.retain(|id| match engine.requests.get(*id) {
                Some(request) if !complete::is_complete(request) => true,
                _ => {
                    engine.requests.remove(*id);
                    false
                }
            });
            !rest.sends.is_empty()
        });
        self.0.len() < before
    }
}
