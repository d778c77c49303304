//! Requests that are ended from outside the engine, by threads that MPI does not know of.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use posthaste_core::comm::Comm;
use posthaste_core::instance::{self, Job, Threads};
use posthaste_core::request::Status;
use posthaste_core::world::{Calls, World};

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
    descriptors_end_requests(&world);
    let own: &Comm = world.own();
    assert_eq!(own.size(), 1);
    world.close(Job::Left).unwrap();
}

/// Of several descriptors each ends its request, and only when its owner says so.
fn descriptors_end_requests(world: &World) {
    for pause in [0, 10, 400] {
        let (ids, writers): (Vec<_>, Vec<_>) = (0..3u64)
            .map(|number| {
                let (reader, writer) = std::io::pipe().unwrap();
                let mut heard = 0;
                let when_ready = Box::new(move |fd: std::os::fd::BorrowedFd<'_>| {
                    let mut byte = [0];
                    let mut reader = std::fs::File::from(fd.try_clone_to_owned().unwrap());
                    heard += reader.read(&mut byte).unwrap();
                    (heard == 2).then_some(Status { bytes: number, ..Status::EMPTY })
                });
                (world.when_readable(reader.into(), when_ready).unwrap(), writer)
            })
            .unzip();
        let thread = thread::spawn(move || {
            let mut ended = Instant::now();
            for mut writer in writers {
                writer.write_all(&[1]).unwrap();
                thread::sleep(Duration::from_millis(pause));
                ended = Instant::now();
                writer.write_all(&[2]).unwrap();
            }
            ended
        });
        for (number, id) in ids.into_iter().enumerate() {
            assert_eq!(world.wait(id).unwrap().bytes, number as u64);
        }
        let noticed = Instant::now();
        let ended = thread.join().unwrap();
        assert!(noticed - ended < SOON, "after {pause} ms: {:?}", noticed - ended);
    }
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let why = world.when_readable(file.into(), Box::new(|_| None)).unwrap_err().to_string();
    assert!(why.contains("watching a descriptor"), "{why}");
}
