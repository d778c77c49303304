//! Handlers of requests in Rust: a waker of a future is one, and one that panics counts as one that has returned. What handlers
//! do to requests is tested beside `pt2pt::handlers`, and through C programs.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use posthaste_core::ids::RequestId;
use posthaste_core::instance::{self, Job, Threads};
use posthaste_core::request::{Invoke, Status, Table, states};
use posthaste_core::world::{Calls, World};

/// A handler that is a function.
struct Function<F>(F);

impl<F: Fn(RequestId) + Send + Sync + 'static> Invoke for Function<F> {
    fn invoke(&self, request: RequestId) {
        (self.0)(request);
    }
}

fn state(world: &World, id: RequestId) -> states::State {
    world.vci().engine.state_of(id)
}

/// One process has one engine, so one test.
#[test]
fn handlers() {
    let world = instance::share(Threads::This, Calls::C).expect("a process of its own");
    one_that_panics_counts_as_one_that_has_returned(&world);
    a_future_is_woken_by_a_request(&world);
    what_becomes_due_while_handlers_are_disabled_runs_when_they_are_enabled(&world);
    one_that_attaches_another_is_followed_by_it(&world);
    world.close(Job::Left).unwrap();
}

fn one_that_panics_counts_as_one_that_has_returned(world: &World) {
    let (id, ender) = world.external().unwrap();
    let panics = Function(|_| panic!("on purpose"));
    assert_eq!(world.attach(world.vci_with(id.slot as usize), id, Arc::new(panics), |_| ()).unwrap(), id);
    ender.end(Status { bytes: 7, ..Status::EMPTY });
    assert_eq!(world.wait(id).unwrap().bytes, 7);
    assert_eq!(world.run_due_handlers(), 0, "it is detached");
}

fn a_future_is_woken_by_a_request(world: &World) {
    struct Wakes(AtomicUsize);
    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let wakes = Arc::new(Wakes(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&wakes));
    let (id, ender) = world.external().unwrap();
    let mut attached = false;
    let mut ended = pin!(poll_fn(|context: &mut Context<'_>| match world.test(id).unwrap() {
        Some(status) => Poll::Ready(status.bytes),
        None => {
            if !std::mem::replace(&mut attached, true) {
                world
                    .attach(world.vci_with(id.slot as usize), id, Arc::new(context.waker().clone()), |_| ())
                    .unwrap();
            }
            Poll::Pending
        }
    }));
    let mut context = Context::from_waker(&waker);
    assert_eq!(ended.as_mut().poll(&mut context), Poll::Pending);
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        ender.end(Status { bytes: 9, ..Status::EMPTY });
    });
    while wakes.0.load(Ordering::Relaxed) == 0 {
        let (other, soon) = world.external().unwrap();
        soon.end(Status::EMPTY);
        world.wait(other).unwrap(); // whatever waits runs handlers
    }
    assert_eq!(ended.as_mut().poll(&mut context), Poll::Ready(9));
    thread.join().unwrap();
}

fn what_becomes_due_while_handlers_are_disabled_runs_when_they_are_enabled(world: &World) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counts = || {
        let calls = Arc::clone(&calls);
        Arc::new(Function(move |_| _ = calls.fetch_add(1, Ordering::Relaxed)))
    };
    world.disable_handlers();
    let (id, ender) = world.external().unwrap();
    world.attach(world.vci_with(id.slot as usize), id, counts(), |_| ()).unwrap();
    ender.end(Status::EMPTY);
    assert!(world.test(id).unwrap().is_none() && world.test(id).unwrap().is_none());
    assert_eq!(state(world, id), states::State::Finished);
    // What was over before it was started has a name of its own from now on.
    let other = world
        .attach(world.vci_with(Table::DONE.slot as usize), Table::DONE, counts(), |name| {
            assert_ne!(name, Table::DONE)
        })
        .unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    world.enable_handlers().unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert!(world.enable_handlers().is_err());
    assert!(world.test(id).unwrap().is_some() && world.test(other).unwrap().is_some());
    assert!(world.attach(world.vci_with(id.slot as usize), id, counts(), |_| ()).is_err(), "it is null");
}

fn one_that_attaches_another_is_followed_by_it(world: &World) {
    let order: Arc<Mutex<Vec<u32>>> = Arc::default();
    let (id, ender) = world.external().unwrap();
    for number in 0..3 {
        let order = Arc::clone(&order);
        let notes = Function(move |_| order.lock().unwrap().push(number));
        world.attach(world.vci_with(id.slot as usize), id, Arc::new(notes), |_| ()).unwrap();
    }
    ender.end(Status::EMPTY);
    world.wait(id).unwrap();
    assert_eq!(*order.lock().unwrap(), [2], "each replaced the one before");
}
