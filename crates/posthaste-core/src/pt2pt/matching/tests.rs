use super::*;
use proptest::prelude::*;

fn envelope(context: u64, source: i32, tag: i32, len: u64) -> Envelope {
    let (context, types) = (ContextId(context), Types::UNKNOWN);
    Envelope { context, source, tag, len, mode: Mode::Standard, types }
}

#[derive(Clone, Debug)]
enum Step {
    Post(Pattern),
    Arrive(u64, i32, i32),
    Probe(Pattern),
    Cancel(usize),
    Promise(u64, bool, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let context = 0..2u64;
    let pattern = (context.clone(), -1..3i32, prop_oneof![Just(ANY_TAG), 0..3i32])
        .prop_map(|(context, source, tag)| Pattern { context: ContextId(context), source, tag });
    let step = prop_oneof![
        3 => pattern.clone().prop_map(Step::Post),
        3 => (context, 0..3i32, 0..3i32).prop_map(|(c, s, t)| Step::Arrive(c, s, t)),
        1 => pattern.prop_map(Step::Probe),
        1 => (0..1000usize).prop_map(Step::Cancel),
        1 => (0..2u64, any::<bool>(), any::<bool>()).prop_map(|(c, s, t)| Step::Promise(c, s, t)),
    ];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    /// Against two plain lists searched from the front, as the standard describes it.
    #[test]
    fn matches_like_the_naive_lists(steps in steps()) {
        let mut matching = Matching::default();
        let mut posted: Vec<(Pattern, RequestId, u32)> = Vec::new();
        let mut unexpected: Vec<Envelope> = Vec::new();
        let (mut promised, life) = ([(false, false); 2], Arc::new(()));
        let keeps = |pattern: &Pattern, (no_any_source, no_any_tag): (bool, bool)| {
            !(no_any_source && pattern.source == ANY_SOURCE || no_any_tag && pattern.tag == ANY_TAG)
        };
        for (n, step) in steps.into_iter().enumerate() {
            let id = RequestId { slot: n as u32, generation: 1 };
            match step {
                Step::Post(pattern) | Step::Probe(pattern)
                    if !keeps(&pattern, promised[pattern.context.0 as usize]) => {}
                Step::Promise(context, no_any_source, no_any_tag) => {
                    let promise = (no_any_source, no_any_tag);
                    let of = ContextId(context);
                    let expected = posted.iter().all(|(p, ..)| p.context != of || keeps(p, promise));
                    prop_assert_eq!(matching.promise(of, no_any_source, no_any_tag, &life), expected);
                    if expected {
                        promised[context as usize] = promise;
                    }
                }
                Step::Post(pattern) => {
                    let expected = unexpected.iter().position(|e| pattern.fits(e)).map(|at| unexpected.remove(at));
                    let found = matching.take_unexpected(&pattern);
                    prop_assert_eq!(found.map(|h| h.envelope), expected);
                    if expected.is_none() {
                        let entry = matching.post(pattern, id);
                        posted.push((pattern, id, entry));
                    }
                }
                Step::Arrive(context, source, tag) => {
                    let envelope = envelope(context, source, tag, n as u64);
                    let expected =
                        posted.iter().position(|(p, ..)| p.fits(&envelope)).map(|at| posted.remove(at).1);
                    prop_assert_eq!(matching.take_posted(&envelope), expected);
                    if expected.is_none() {
                        let content = Content::Eager { data: Vec::new(), sender: None };
                        matching.add_unexpected(Unexpected { envelope, from: Peer(0), content, error: None });
                        unexpected.push(envelope);
                    }
                }
                Step::Probe(pattern) => {
                    let expected = unexpected.iter().find(|e| pattern.fits(e)).copied();
                    prop_assert_eq!(matching.peek_unexpected(&pattern).map(|h| h.envelope), expected);
                }
                Step::Cancel(which) if !posted.is_empty() => {
                    let (_, id, entry) = posted.remove(which % posted.len());
                    prop_assert_eq!(matching.unpost(entry), Some(id));
                }
                Step::Cancel(_) => {}
            }
            prop_assert_eq!(matching.depths(), (posted.len(), unexpected.len()));
        }
    }
}

/// Who is far behind looks at few of the messages that wait for later operations, but at all without data of its own one.
#[test]
fn who_is_far_behind_looks_at_few_early_messages() {
    let mut matching = Matching::default();
    let (context, many) = (ContextId(1).collective(), 10_000);
    let tag = |operation: i32, kind: i32| operation << OPERATION_BITS | kind;
    let arrives = |matching: &mut Matching, tag, len| {
        let envelope = envelope(context.0, 0, tag, len);
        let content = Content::Eager { data: Vec::new(), sender: None };
        matching.add_unexpected(Unexpected { envelope, from: Peer(0), content, error: None });
    };
    for operation in 0..many {
        arrives(&mut matching, tag(operation, 1), 0);
        arrives(&mut matching, tag(operation, 2), 8);
    }
    let middle = many / 2;
    arrives(&mut matching, tag(middle, 3), 0);
    let early = matching.early(context, tag(middle, 0), u64::MAX, |_| true);
    let empty: Vec<i32> = early.iter().map(|early| early.tag).filter(|tag| tag & 3 != 2).collect();
    assert_eq!(empty, [tag(middle, 1), tag(middle, 3)]);
    assert!(early.len() <= MOST_LOOKED_AT + 2, "{}", early.len());
    // What has been taken is not told of.
    let taken = matching.take_unexpected(&Pattern { context, source: 0, tag: tag(middle, 1) });
    assert!(taken.is_some());
    let early = matching.early(context, tag(middle, 0), 1, |_| true);
    assert!(!early.iter().any(|early| early.tag == tag(middle, 1)));
    let all = matching.all_early(|early| early.tag >> OPERATION_BITS == middle);
    assert_eq!(all.len(), 2);
}

/// An operation that is started again and again has the same messages each time, and its receiver is always one behind.
#[test]
fn messages_of_one_kind_are_noted_once() {
    let mut matching = Matching::default();
    let (context, tag) = (ContextId(1).collective(), 5 << OPERATION_BITS);
    let pattern = Pattern { context, source: 0, tag };
    for len in [8, 0] {
        let arrives = |matching: &mut Matching| {
            let envelope = envelope(context.0, 0, tag, len);
            let content = Content::Eager { data: Vec::new(), sender: None };
            matching.add_unexpected(Unexpected { envelope, from: Peer(0), content, error: None });
        };
        arrives(&mut matching);
        for _ in 0..10_000 {
            arrives(&mut matching);
            assert!(matching.take_unexpected(&pattern).is_some());
        }
        assert!(matching.all_early(|_| true).len() <= 70, "of {len} bytes");
        assert!(matching.take_unexpected(&pattern).is_some());
    }
}

/// 100,000 entries in either queue must not make a match dearer: counted in looks, not in time, by a limit
/// that a linear search could not keep within.
#[test]
fn depth_costs_nothing() {
    let start = std::time::Instant::now();
    let mut matching = Matching::default();
    let n = 100_000;
    for tag in 0..n {
        matching.post(
            Pattern { context: ContextId(0), source: 0, tag },
            RequestId { slot: tag as u32, generation: 1 },
        );
    }
    for tag in (0..n).rev() {
        assert_eq!(matching.take_posted(&envelope(0, 0, tag, 0)).unwrap().slot, tag as u32);
    }
    for tag in 0..n {
        let content = Content::Eager { data: Vec::new(), sender: None };
        let envelope = envelope(0, 0, tag, 0);
        matching.add_unexpected(Unexpected { envelope, from: Peer(0), content, error: None });
    }
    for tag in (0..n).rev() {
        let source = if tag % 2 == 0 { ANY_SOURCE } else { 0 };
        assert!(matching.take_unexpected(&Pattern { context: ContextId(0), source, tag }).is_some());
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
