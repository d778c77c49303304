//! What processes that agree say to each other, as words of 32 bits: how it travels.
//!
//! What must stay true: words from a peer give a message or nothing, never a panic, whatever they are.

use super::{Common, Decision, Message, Proposal};

const CONTRIBUTION: u32 = 1;
const DECIDED: u32 = 2;
const LOST: u32 = 3;
impl Message {
    /// As it travels, put behind what is there: what it is; what all have in common; a proposal; who is lost; a decision.
    pub fn put_words(&self, words: &mut Vec<u32>) {
        match self {
            Self::Contribution { common, proposal, decided, lost } => {
                words.push(CONTRIBUTION);
                put_common(words, *common);
                put_proposal(words, *proposal);
                put_lost(words, lost);
                if let Some(decision) = decided {
                    put_decision(words, decision);
                }
            }
            Self::Decided(decision) => {
                words.push(DECIDED);
                put_decision(words, decision);
            }
            Self::Lost(lost) => {
                words.push(LOST);
                put_lost(words, lost);
            }
        }
    }

    /// What travelled like this, if it can be something.
    pub fn of_words(mut words: &[u32]) -> Option<Self> {
        let message = match take(&mut words)? {
            CONTRIBUTION => {
                let (common, proposal) = (take_common(&mut words)?, take_proposal(&mut words)?);
                let lost = take_lost(&mut words)?;
                let decided = if words.is_empty() { None } else { Some(take_decision(&mut words)?) };
                Self::Contribution { common, proposal, decided, lost }
            }
            DECIDED => Self::Decided(take_decision(&mut words)?),
            LOST => Self::Lost(take_lost(&mut words)?),
            _ => return None,
        };
        words.is_empty().then_some(message)
    }
}

fn put_common(words: &mut Vec<u32>, Common { flags, acknowledged }: Common) {
    words.extend([flags as u32, (flags >> 32) as u32, acknowledged.into()]);
}

fn put_lost(words: &mut Vec<u32>, lost: &[u32]) {
    words.push(lost.len() as u32);
    words.extend(lost);
}

fn put_decision(words: &mut Vec<u32>, Decision { common, proposal, lost }: &Decision) {
    put_common(words, *common);
    put_proposal(words, *proposal);
    put_lost(words, lost);
}

fn put_proposal(words: &mut Vec<u32>, proposal: Proposal) {
    words.extend(proposal.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]));
}

fn take(words: &mut &[u32]) -> Option<u32> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    Some(*first)
}

fn take_common(words: &mut &[u32]) -> Option<Common> {
    let flags = take_long(words)? as i64;
    let acknowledged = take(words)?;
    (acknowledged < 2).then_some(Common { flags, acknowledged: acknowledged == 1 })
}

fn take_lost(words: &mut &[u32]) -> Option<Vec<u32>> {
    let count = take(words)? as usize;
    let (lost, rest) = words.split_at_checked(count)?;
    *words = rest;
    Some(lost.to_vec())
}

fn take_decision(words: &mut &[u32]) -> Option<Decision> {
    let (common, proposal) = (take_common(words)?, take_proposal(words)?);
    Some(Decision { common, proposal, lost: take_lost(words)? })
}

fn take_proposal(words: &mut &[u32]) -> Option<Proposal> {
    let mut proposal = [0; 2];
    for word in &mut proposal {
        *word = take_long(words)?;
    }
    Some(proposal)
}

fn take_long(words: &mut &[u32]) -> Option<u64> {
    Some(u64::from(take(words)?) | u64::from(take(words)?) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Message> {
        let common = Common { flags: -5 << 31 | 7, acknowledged: true };
        let decision = Decision { common, proposal: [1 << 40 | 3, u64::MAX - 1], lost: vec![1, 9] };
        vec![
            Message::Contribution { common, proposal: [3, 1 << 33], decided: None, lost: Vec::new() },
            Message::Contribution {
                common,
                proposal: [0, u64::MAX],
                decided: Some(decision.clone()),
                lost: vec![0, 2, 70_000],
            },
            Message::Decided(decision),
            Message::Lost(vec![4]),
        ]
    }

    fn words(message: &Message) -> Vec<u32> {
        let mut words = Vec::new();
        message.put_words(&mut words);
        words
    }

    #[test]
    fn what_is_said_arrives() {
        for message in all() {
            assert_eq!(Message::of_words(&words(&message)), Some(message));
        }
    }

    #[test]
    fn what_is_cut_or_changed_is_refused_or_another_message() {
        for message in all() {
            let words = words(&message);
            for len in 0..words.len() {
                assert_ne!(Message::of_words(&words[..len]), Some(message.clone()));
            }
            for (at, value) in (0..words.len()).flat_map(|at| [0, 1, u32::MAX].map(|value| (at, value))) {
                let mut changed = words.clone();
                changed[at] = value;
                assert_eq!(changed == words, Message::of_words(&changed) == Some(message.clone()), "{at}");
            }
            assert_eq!(
                Message::of_words(&[&words[..], &[0]].concat()).filter(|other| *other == message),
                None
            );
        }
    }
}
