//! What the launcher says of ranks that are lost, for those who have never talked to them: no connection breaks there.
//!
//! The launcher writes it into the node segment, once for each host; each rank looks there when nothing else has come. What must
//! stay true: what a lost rank has sent and what has arrived is received before it is taken for lost. So whoever still has a
//! connection to a process that has ended hears of it by that, behind all that was sent; and otherwise news rests for a while
//! before it counts, and counts when a poll that looks everywhere finds nothing else. Where others keep this process busy it does not
//! wait for that for ever.

use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::node::Node;

use crate::error::{Error, ErrorClass};
use crate::ids::Peer;

/// How long news rests: what was on its way when the launcher heard of it arrives meanwhile.
const REST: Duration = Duration::from_millis(100);
/// How long it waits for a poll that finds nothing.
const LONGEST_REST: Duration = Duration::from_millis(800);

/// The losses of a job, as its launcher announces them.
#[derive(Debug)]
pub(super) struct News {
    node: Node,
    peers: u32,
    heard: usize,
    resting: Vec<Loss>,
    /// There was news at the last poll, so that this one has looked everywhere.
    looked: bool,
}

/// A rank that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) peer: Peer,
    /// Not its process alone.
    pub(super) whole_host: bool,
    since: Duration,
}

impl Loss {
    pub(super) fn why(self) -> Error {
        let peer = self.peer.0;
        let text = match self.whole_host {
            false => format!("the launcher says that rank {peer} of the world has ended"),
            true => format!("the launcher says that the host of rank {peer} of the world is out of reach"),
        };
        Error::other(ErrorClass::ProcAborted, text)
    }
}

impl News {
    /// That of a job of so many ranks.
    pub(super) fn new(node: Node, peers: u32) -> Self {
        Self { node, peers, heard: 0, resting: Vec::new(), looked: false }
    }

    /// Whether there is anything that does not count yet.
    #[inline]
    pub(super) fn is_some(&self) -> bool {
        self.node.announced_losses() > self.heard || !self.resting.is_empty()
    }

    /// Those whose loss counts from now on, after a poll; `busy`: it has found something. The next one has to look everywhere.
    #[cold]
    pub(super) fn due(&mut self, busy: bool) -> Vec<Loss> {
        let now = machine::now();
        while let Some((ranks, whole_host)) = self.node.announced_loss(self.heard) {
            self.heard += 1;
            let ranks = ranks.start..ranks.end.min(self.peers);
            self.resting.extend(ranks.map(|rank| Loss { peer: Peer(rank), whole_host, since: now }));
        }
        let found_nothing = !busy && std::mem::replace(&mut self.looked, true);
        let rest = if found_nothing { REST } else { LONGEST_REST };
        let due: Vec<Loss> =
            self.resting.extract_if(.., |loss| now.saturating_sub(loss.since) >= rest).collect();
        self.looked &= !self.resting.is_empty();
        due
    }

    /// A loss rests once more: something else is about to tell of it, or fails to.
    pub(super) fn rest_again(&mut self, loss: Loss) {
        self.resting.push(Loss { since: machine::now(), ..loss });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_rests_and_counts_once() {
        let node = Node::create(2).unwrap();
        let mut news = News::new(node.clone(), 6);
        assert!(!news.is_some());
        assert!(node.announce_loss(3..4, false) && node.announce_loss(4..9, true));
        assert!(news.is_some() && news.due(false).is_empty());
        std::thread::sleep(REST);
        assert!(news.due(true).is_empty(), "what has come goes before");
        let due: Vec<_> = news.due(false).iter().map(|loss| (loss.peer.0, loss.whole_host)).collect();
        assert_eq!(due, [(3, false), (4, true), (5, true)], "and nobody beyond the job");
        assert!(!news.is_some() && news.due(false).is_empty());
        assert!(node.announce_loss(1..2, false) && news.due(false).is_empty());
        std::thread::sleep(REST);
        assert_eq!(news.due(false).len(), 1);
    }

    #[test]
    fn who_comes_late_looks_everywhere_before_it_counts() {
        let node = Node::create(2).unwrap();
        let mut news = News::new(node.clone(), 6);
        assert!(node.announce_loss(3..4, false) && news.due(true).is_empty());
        std::thread::sleep(REST);
        assert!(news.due(false).is_empty(), "the poll before that had not been told to look everywhere");
        assert_eq!(news.due(false).len(), 1);
    }

    #[test]
    fn who_is_always_busy_hears_of_it_all_the_same() {
        let node = Node::create(2).unwrap();
        let mut news = News::new(node.clone(), 6);
        assert!(node.announce_loss(3..4, false) && news.due(true).is_empty());
        std::thread::sleep(LONGEST_REST);
        assert_eq!(news.due(true).len(), 1);
    }

    #[test]
    fn a_full_list_takes_no_more() {
        let node = Node::create(1).unwrap();
        let room = (0..).take_while(|rank| node.announce_loss(*rank..rank + 1, false)).count();
        assert!(room > 400 && node.announced_losses() == room);
        assert_eq!(node.announced_loss(room - 1), Some((room as u32 - 1..room as u32, false)));
        assert_eq!(node.announced_loss(room), None);
    }
}
