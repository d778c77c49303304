//! Handlers against the rules of the seed, on one engine without networks. Threads and calls: `runtime::handlers`, `tests/c`.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::thread;

use super::*;
use crate::config::Config;
use crate::request::{Invoke, states};

const ENABLED: (bool, bool) = (false, false);
const DISABLED: (bool, bool) = (true, true);

/// Counts its invocations.
#[derive(Default)]
struct Counts(AtomicUsize);

impl Invoke for Counts {
    fn invoke(&self, _request: RequestId) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counts() -> (Arc<Counts>, impl Fn(&Arc<Counts>) -> usize) {
    (Arc::default(), |counts: &Arc<Counts>| counts.0.load(Ordering::Relaxed))
}

fn engine() -> Engine {
    Engine::new(Config::default())
}

fn active(engine: &mut Engine) -> RequestId {
    engine.requests.insert(Request::new(State::External)).unwrap()
}

fn attach(engine: &mut Engine, id: RequestId, handler: SharedHandler) -> Step {
    engine.set_handler(id, &mut Some(handler), false).unwrap()
}

fn ends(engine: &mut Engine, id: RequestId) {
    complete::complete(&mut engine.requests, &mut engine.finished, id, Status { bytes: 5, ..Status::EMPTY });
}

/// Runs what is due; `inside` is what the handlers do.
fn run(engine: &mut Engine, mut inside: impl FnMut(&mut Engine, RequestId)) {
    while let Some(due) = engine.next_due(true) {
        let Due::Invoke(id) = due else { panic!("only handlers of the program are due") };
        let handler = engine.begin_run(id).unwrap();
        handler.invoke(id);
        inside(engine, id);
        engine.end_run(id);
    }
}

fn nothing(_: &mut Engine, _: RequestId) {}

fn bytes(taken: &Taken) -> Option<u64> {
    match taken {
        Taken::Completed(status) => Some(status.bytes),
        _ => None,
    }
}

/// A persistent request, inactive.
fn persistent(engine: &mut Engine) -> RequestId {
    let id = engine.requests.insert(Request::new(State::Inactive)).unwrap();
    engine.persistent.insert(id, None);
    id
}

fn started(engine: &mut Engine, id: RequestId) -> RequestId {
    engine.persistent.check_inactive(&engine.requests, id).unwrap();
    let behind = active(engine);
    engine.persistent.begin(id, behind);
    engine.arm(id).unwrap();
    behind
}

#[test]
fn a_handler_that_only_returns_is_detached_and_the_waiter_gets_the_status() {
    let (handler, count) = counts();
    let mut engine = engine();
    let id = active(&mut engine);
    assert_eq!(attach(&mut engine, id, handler.clone()), Step::Done(id));
    assert!(engine.handlers.get(id).is_some());
    assert!(matches!(engine.take_handled(id, false, ENABLED), Taken::NotYet { returns: false }));
    ends(&mut engine, id);
    assert!(
        matches!(engine.take_handled(id, true, ENABLED), Taken::NotYet { returns: false }),
        "it runs first"
    );
    run(&mut engine, nothing);
    assert_eq!((count(&handler), engine.handlers.len()), (1, 0));
    assert_eq!(bytes(&engine.take_handled(id, true, ENABLED)), Some(5));
    assert!(engine.requests.is_empty() && engine.next_due(true).is_none());
}

#[test]
fn a_handler_completes_its_request_and_the_waiter_is_told_once_and_nothing_more() {
    let (handler, count) = counts();
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, handler.clone());
    ends(&mut engine, id);
    run(&mut engine, |engine, id| {
        assert_eq!(bytes(&engine.take_handled(id, false, ENABLED)), Some(5));
        assert_eq!(engine.state_of(id), states::State::Null);
    });
    assert!(engine.requests.is_empty() && engine.handlers.is_empty() && count(&handler) == 1);
    assert!(engine.handlers.is_unreported(Table::handle(id)));
    assert!(engine.handlers.report_gone(Table::handle(id)));
    assert!(!engine.handlers.report_gone(Table::handle(id)), "the second one waits for a stale request");
}

#[test]
fn a_sleeper_hears_of_a_request_that_its_handler_completes() {
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, counts().0);
    ends(&mut engine, id);
    let sleepers = posthaste_os::park::Sleepers::default();
    let wants = posthaste_os::park::Wants::Ends(1);
    let sleeper = sleepers.with(|parked| parked.register(wants, false));
    assert!(complete::watch(&mut engine.requests, &mut engine.finished, id, sleeper));
    run(&mut engine, |engine, id| _ = engine.take_handled(id, false, ENABLED));
    assert_eq!(engine.finished.sleepers, [sleeper]);
}

#[test]
fn a_persistent_request_runs_its_handler_once_for_each_start_while_that_completes_it() {
    let (handler, count) = counts();
    let mut engine = engine();
    let id = persistent(&mut engine);
    assert_eq!(attach(&mut engine, id, handler.clone()), Step::Done(id));
    for round in 1..=3 {
        let behind = started(&mut engine, id);
        assert!(engine.persistent.check_inactive(&engine.requests, id).is_err());
        ends(&mut engine, behind);
        let text = engine.persistent.check_inactive(&engine.requests, id).unwrap_err().to_string();
        assert!(text.contains("a finished persistent request"), "{text}");
        run(&mut engine, |engine, id| assert_eq!(bytes(&engine.take_handled(id, true, ENABLED)), Some(5)));
        assert_eq!((count(&handler), engine.state_of(id)), (round, states::State::Inactive));
        assert!(matches!(engine.take_handled(id, true, ENABLED), Taken::ByHandler));
        assert!(matches!(engine.take_handled(id, true, ENABLED), Taken::Inactive));
    }
    let behind = started(&mut engine, id);
    ends(&mut engine, behind);
    run(&mut engine, nothing);
    assert!(engine.handlers.is_empty(), "it has returned without completing it");
    assert_eq!(engine.persistent.active_plain(id), Some(behind), "as if it had never had one");
    assert_eq!(bytes(&engine.take_handled(id, true, ENABLED)), Some(5));
}

#[test]
fn a_request_that_its_handler_starts_again_is_not_handled_inside_itself() {
    let (handler, count) = counts();
    let mut engine = engine();
    let id = persistent(&mut engine);
    attach(&mut engine, id, handler.clone());
    let behind = started(&mut engine, id);
    ends(&mut engine, behind);
    let mut depth = 0;
    run(&mut engine, |engine, id| {
        depth += 1;
        if depth < 4 {
            assert!(bytes(&engine.take_handled(id, false, ENABLED)).is_some());
            let behind = started(engine, id);
            ends(engine, behind);
            assert!(engine.next_due(true).is_none(), "its handler runs already");
        }
    });
    assert_eq!((depth, count(&handler)), (4, 4));
}

#[test]
fn what_was_over_when_it_was_started_gets_a_request_to_be_handled() {
    let (handler, count) = counts();
    let mut engine = engine();
    let Step::Done(name) = attach(&mut engine, Table::DONE, handler.clone()) else { panic!("it is over") };
    assert_ne!(name, Table::DONE);
    assert!(engine.handlers.get(Table::DONE).is_none());
    run(&mut engine, nothing);
    assert_eq!(bytes(&engine.take_handled(name, true, ENABLED)), Some(0));
    let id = persistent(&mut engine);
    attach(&mut engine, id, handler.clone());
    engine.persistent.begin(id, Table::DONE);
    engine.arm(id).unwrap();
    run(&mut engine, |engine, id| assert!(bytes(&engine.take_handled(id, true, ENABLED)).is_some()));
    assert_eq!((count(&handler), engine.requests.len()), (2, 1));
}

#[test]
fn a_new_handler_of_a_finished_request_comes_after_the_current_one() {
    let order: Arc<Mutex<Vec<u32>>> = Arc::default();
    struct Notes(u32, Arc<Mutex<Vec<u32>>>);
    impl Invoke for Notes {
        fn invoke(&self, _request: RequestId) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let notes = |number| Arc::new(Notes(number, order.clone()));
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, notes(0));
    attach(&mut engine, id, notes(1));
    ends(&mut engine, id);
    assert_eq!(attach(&mut engine, id, notes(2)), Step::RunsFirst);
    let mut replaces = true;
    run(&mut engine, |engine, id| {
        if std::mem::take(&mut replaces) {
            assert_eq!(attach(engine, id, notes(2)), Step::Done(id), "in the handler, it runs next");
        }
    });
    assert_eq!(*order.lock().unwrap(), [1, 2], "the first one was replaced before");
    assert_eq!(attach(&mut engine, id, notes(3)), Step::Done(id));
    assert!(matches!(engine.take_handled(id, false, ENABLED), Taken::NotYet { .. }));
    run(&mut engine, nothing);
    assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
    assert!(engine.set_handler(RequestId { slot: 9, generation: 9 }, &mut Some(notes(4)), false).is_err());
}

#[test]
fn what_is_disabled_is_neither_run_nor_completed() {
    let (handler, count) = counts();
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, handler.clone());
    assert!(matches!(engine.take_handled(id, false, DISABLED), Taken::NotYet { returns: false }));
    assert!(
        matches!(engine.take_handled(id, true, DISABLED), Taken::Deadlock),
        "also before it has finished"
    );
    ends(&mut engine, id);
    assert!(engine.next_due(false).is_none() && engine.finished.handlers.is_empty());
    assert_eq!(engine.handled(9)[0].standing, Standing::TooDeep);
    engine.handlers.are_disabled(Some(Duration::ZERO));
    assert_eq!(engine.handled(9)[0].standing, Standing::Disabled);
    assert!(matches!(engine.take_handled(id, false, DISABLED), Taken::NotYet { returns: false }));
    assert!(matches!(engine.take_handled(id, true, DISABLED), Taken::Deadlock));
    assert!(
        matches!(engine.take_handled(id, true, (true, false)), Taken::NotYet { .. }),
        "another may enable"
    );
    engine.release_postponed();
    run(&mut engine, nothing);
    assert_eq!(count(&handler), 1);
    assert_eq!(bytes(&engine.take_handled(id, true, ENABLED)), Some(5));

    let id = active(&mut engine);
    attach(&mut engine, id, handler.clone());
    ends(&mut engine, id);
    assert!(engine.next_due(false).is_none());
    assert_eq!(engine.set_handler(id, &mut None, true).unwrap(), Step::Done(id));
    assert_eq!(bytes(&engine.take_handled(id, true, DISABLED)), Some(5), "detached, it can be completed");
    engine.release_postponed();
    run(&mut engine, nothing);
    assert_eq!(count(&handler), 1);
}

#[test]
fn a_handler_that_runs_elsewhere_is_waited_for() {
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, counts().0);
    ends(&mut engine, id);
    let Some(Due::Invoke(due)) = engine.next_due(true) else { panic!("it is due") };
    thread::scope(|threads| {
        let begins = threads.spawn(|| engine.begin_run(due).is_some());
        assert!(begins.join().unwrap());
    });
    assert!(engine.handlers.runs(id));
    assert_eq!(engine.handled(9)[0].standing, Standing::Runs);
    assert!(matches!(engine.take_handled(id, false, DISABLED), Taken::NotYet { returns: true }));
    assert_eq!(engine.set_handler(id, &mut None, false).unwrap(), Step::AwaitsReturn);
    assert_eq!(attach(&mut engine, id, counts().0), Step::AwaitsReturn);
    engine.end_run(id);
    assert_eq!(bytes(&engine.take_handled(id, false, ENABLED)), Some(5));
}

#[test]
fn a_request_freed_by_its_handler_leaves_when_that_returns() {
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, counts().0);
    ends(&mut engine, id);
    run(&mut engine, |engine, id| {
        assert_eq!(engine.set_handler(id, &mut None, false).unwrap(), Step::Done(id));
        engine.requests.get_mut(id).unwrap().audience = Audience::Nobody;
    });
    assert!(engine.requests.is_empty() && engine.handlers.is_empty());
    let id = persistent(&mut engine);
    attach(&mut engine, id, counts().0);
    let behind = started(&mut engine, id);
    engine.set_handler(id, &mut None, false).unwrap();
    ends(&mut engine, behind);
    assert!(engine.next_due(true).is_none(), "detached before it finished");
    assert_eq!(engine.persistent.forget(id), Some(behind));
}

#[test]
fn a_handler_that_runs_is_known_while_the_next_request_has_its_slot() {
    let (handler, count) = counts();
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, handler.clone());
    ends(&mut engine, id);
    let mut next = None;
    run(&mut engine, |engine, id| {
        if next.is_none() {
            assert!(bytes(&engine.take_handled(id, true, ENABLED)).is_some());
            let mut other = active(engine);
            while other.slot != id.slot {
                engine.requests.retire(other).unwrap();
                other = active(engine);
            }
            attach(engine, other, handler.clone());
            assert!(engine.handlers.runs(id) && !engine.handlers.runs(other));
            assert_eq!(engine.handled(9)[0].standing, Standing::Runs);
            next = Some(other);
        }
    });
    let next = next.expect("the handler has run");
    assert!(engine.handlers.get(next).is_some() && !engine.handlers.any_runs());
    ends(&mut engine, next);
    run(&mut engine, nothing);
    assert_eq!((count(&handler), bytes(&engine.take_handled(next, true, ENABLED))), (2, Some(5)));
}

#[test]
fn a_handler_that_somebody_counts_on_stays_until_it_has_been_invoked() {
    struct Stays;
    impl Invoke for Stays {
        fn invoke(&self, _request: RequestId) {}
        fn stays(&self) -> bool {
            true
        }
    }
    let mut engine = engine();
    let id = persistent(&mut engine);
    attach(&mut engine, id, Arc::new(Stays));
    let behind = started(&mut engine, id);
    for mut handler in [None, Some(counts().0 as SharedHandler)] {
        let text = engine.set_handler(id, &mut handler, false).unwrap_err().to_string();
        assert!(text.contains("a continuation that has not run"), "{text}");
    }
    ends(&mut engine, behind);
    run(&mut engine, |engine, id| {
        assert!(bytes(&engine.take_handled(id, true, ENABLED)).is_some());
        assert_eq!(engine.set_handler(id, &mut None, false).unwrap(), Step::Done(id), "it runs");
    });
    assert!(engine.handlers.is_empty());
    assert_eq!(attach(&mut engine, id, counts().0), Step::Done(id));
}

#[test]
fn a_waker_is_a_handler() {
    struct Wakes(AtomicUsize);
    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let wakes = Arc::new(Wakes(AtomicUsize::new(0)));
    let mut engine = engine();
    let id = active(&mut engine);
    attach(&mut engine, id, Arc::new(Waker::from(wakes.clone())));
    ends(&mut engine, id);
    run(&mut engine, nothing);
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert_eq!(bytes(&engine.take_handled(id, false, ENABLED)), Some(5));
}
