//! Requests that are ended from outside the engine, by threads that MPI does not know of.

use std::thread;
use std::time::{Duration, Instant};

use posthaste_core::comm::Comm;
use posthaste_core::instance::{self, Job, Threads};
use posthaste_core::request::Status;
use posthaste_core::world::Calls;

/// The time that a thread which waits may take to notice an end: far less than the longest sleep between two looks.
const SOON: Duration = Duration::from_millis(100);

#[test]
fn whoever_sleeps_for_a_request_hears_of_its_end_from_any_thread() {
    let world = instance::share(Threads::This, Calls::C).expect("a process of its own");
    // Early, while the waiting thread spins, and while it sleeps.
    for pause in [0, 1, 10, 400, 1000] {
        let (id, ender) = world.external().unwrap();
        let (late, other) = world.external().unwrap();
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(pause));
            let ended = Instant::now();
            ender.end(Status { bytes: pause, ..Status::EMPTY });
            ended
        });
        assert!(pause < 10 || world.test(id).unwrap().is_none());
        let status = world.wait(id).unwrap();
        let noticed = Instant::now();
        assert_eq!(status.bytes, pause);
        let ended = thread.join().unwrap();
        assert!(noticed - ended < SOON, "after {pause} ms: {:?}", noticed - ended);
        other.end(Status::EMPTY);
        assert!(world.test(late).unwrap().is_some());
    }
    // Many at once, some before anybody looks.
    let all: Vec<_> = (0..200).map(|_| world.external().unwrap()).collect();
    let (ids, enders): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let thread = thread::spawn(move || enders.into_iter().for_each(|ender| ender.end(Status::EMPTY)));
    ids.into_iter().for_each(|id| _ = world.wait(id).unwrap());
    thread.join().unwrap();
    let own: &Comm = world.own();
    assert_eq!(own.size(), 1);
    world.close(Job::Left).unwrap();
}
