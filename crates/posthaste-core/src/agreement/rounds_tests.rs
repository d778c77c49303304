//! How long an agreement takes: rounds, in each of which a process takes all that has come and sends one message. A loss is known to one
//! process at first, which may be anywhere; nobody else hears of it but by being told.
//! All of a million take minutes:
//!
//! ```sh
//! cargo test --release -p posthaste-core --lib -- --ignored --nocapture a_million
//! ```

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

/// All of a million, each with its state: nobody lost; the root, of which the farthest one knows; the one with half of all below it.
#[test]
#[ignore = "takes minutes; see the top of the file"]
fn a_million_agree_and_hear_of_a_loss_in_a_multiple_of_the_logarithm() {
    const N: u32 = 1_000_000;
    let log = N.ilog2() as usize + 1;
    assert!(size_of::<Agreement>() <= 256, "{} bytes for each agreement", size_of::<Agreement>());
    let mut rounds = Rounds::begin(N, None, 0);
    let agreed = rounds.until(None, |part| part.decision().is_some());
    println!("nobody lost: all have agreed after {agreed} rounds");
    assert!(agreed <= 2 * log);
    assert_eq!(rounds.sent, 2 * (N as usize - 1));
    drop(rounds);
    for (lost, knows) in [(0, N - 1), (N / 2, 1)] {
        let mut rounds = Rounds::begin(N, Some(lost), knows);
        let told = rounds.until(Some(lost), |part| part.lost.contains(&lost));
        let agreed = told + rounds.until(Some(lost), |part| part.decision().is_some());
        let most = rounds.parts.iter().map(|part| part.heard.count_ones() as usize).max();
        println!(
            "{lost} lost: all know after {told} rounds, have agreed after {agreed}; {} messages",
            rounds.sent
        );
        assert!(told <= 2 * log && agreed <= 4 * log, "{lost}: told in {told} rounds, agreed in {agreed}");
        assert!(rounds.sent <= 5 * N as usize && most <= Some(log), "{} messages, {most:?}", rounds.sent);
    }
}
