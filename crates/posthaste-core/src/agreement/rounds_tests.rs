//! How long an agreement takes: rounds, in each of which a process takes all that has come and sends one message. A loss is known to one
//! process at first, which may be anywhere; nobody else hears of it but by being told.

use std::collections::VecDeque;

use super::{Agreement, Contribution, Message, Tree};

struct Rounds {
    parts: Vec<Agreement>,
    unsent: Vec<VecDeque<(u32, Message)>>,
    sent: usize,
}

impl Rounds {
    fn new(n: u32) -> Self {
        let parts = (0..n).map(|rank| Agreement::new(rank, n, Tree::Binomial, [])).collect();
        Self { parts, unsent: vec![VecDeque::new(); n as usize], sent: 0 }
    }

    /// All but the lost one contribute, and one that knows of the loss hears of it then.
    fn begin(n: u32, lost: Option<u32>, knows: u32) -> Self {
        let mut rounds = Self::new(n);
        for rank in (0..n).filter(|rank| Some(*rank) != lost) {
            let own = Contribution { flags: -1, ..Contribution::default() };
            let out = rounds.parts[rank as usize].contribute(own);
            rounds.unsent[rank as usize].extend(out);
        }
        if let Some(lost) = lost {
            let out = rounds.parts[knows as usize].lose(lost);
            rounds.unsent[knows as usize].extend(out);
        }
        rounds
    }

    /// Until this is true of all but the lost one.
    fn until(&mut self, lost: Option<u32>, done: impl Fn(&Agreement) -> bool) -> usize {
        let is_done =
            |parts: &[Agreement]| (0..).zip(parts).all(|(rank, part)| Some(rank) == lost || done(part));
        for round in 0..10_000 {
            if is_done(&self.parts) {
                return round;
            }
            let first =
                |(from, queue): (u32, &mut VecDeque<(u32, Message)>)| Some((from, queue.pop_front()?));
            let leave: Vec<_> = (0..).zip(&mut self.unsent).filter_map(first).collect();
            self.sent += leave.len();
            for (from, (to, message)) in leave.into_iter().filter(|(_, (to, _))| Some(*to) != lost) {
                let out = self.parts[to as usize].receive(from, message);
                self.unsent[to as usize].extend(out);
            }
        }
        panic!("no end");
    }
}

const SIZES: [u32; 3] = [16, 256, 4096];

#[test]
fn without_a_loss_it_takes_twice_the_logarithm() {
    for n in SIZES {
        let mut rounds = Rounds::begin(n, None, 0);
        let took = rounds.until(None, |part| part.decision().is_some());
        assert!(took <= 2 * n.ilog2() as usize, "{n} ranks: {took} rounds");
        assert_eq!(rounds.sent, 2 * (n as usize - 1));
    }
}

/// Who ends is one without anybody below it, the root, or one in the middle; who knows is far from it or not.
fn losses(n: u32) -> Vec<(u32, u32)> {
    let ranks = [0, 1, n / 2 - 1, n / 2, n / 4 * 3 + 1, n - 1];
    let pairs = ranks.iter().flat_map(|lost| ranks.iter().map(move |knows| (*lost, *knows)));
    pairs.filter(|(lost, knows)| lost != knows).collect()
}

#[test]
fn a_loss_is_told_to_all_and_agreed_on_in_a_multiple_of_the_logarithm() {
    for n in SIZES {
        let log = n.ilog2() as usize;
        let (mut told, mut agreed, mut sent) = (0, 0, 0);
        for (lost, knows) in losses(n) {
            let mut rounds = Rounds::begin(n, Some(lost), knows);
            told = told.max(rounds.until(Some(lost), |part| part.lost.contains(&lost)));
            let mut rounds = Rounds::begin(n, Some(lost), knows);
            agreed = agreed.max(rounds.until(Some(lost), |part| part.decision().is_some()));
            sent = sent.max(rounds.sent);
        }
        assert!(told <= 2 * log, "{n} ranks: all know of a loss after {told} rounds");
        assert!(agreed <= 4 * log, "{n} ranks: all have agreed after {agreed} rounds");
        assert!(sent <= 5 * n as usize, "{n} ranks: {sent} messages");
    }
}
