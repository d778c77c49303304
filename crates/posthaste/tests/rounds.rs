//! The engine is opened, closed and opened again, alone and by several ranks, and by several shares at once.

mod common;

use std::fs;
use std::process::Command;

use common::{BODY, launch_with, text};
use posthaste::{ANY, Operation, Result, Universe};

/// What a process has of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Holdings {
    descriptors: usize,
    threads: usize,
    mappings: usize,
}

fn holdings() -> Holdings {
    let entries = |folder| fs::read_dir(folder).unwrap().count();
    Holdings {
        descriptors: entries("/proc/self/fd"),
        threads: entries("/proc/self/task"),
        mappings: fs::read_to_string("/proc/self/maps").unwrap().lines().count(),
    }
}

/// Bytes of memory that are there.
fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Something for every part of the engine: short and long messages, a collective operation, a communicator, memory.
fn work(universe: &Universe, round: u32) -> Result<()> {
    let world = universe.world();
    let (me, size) = (world.rank(), world.size());
    let (next, previous) = ((me + 1) % size, (me + size - 1) % size);
    for length in [1, 200, 20_000, 200_000] {
        let mut theirs = universe.allocate::<u32>(length)?;
        let mine = vec![round * 100 + me as u32; length];
        world.send_receive(&mine, next, 3, &mut theirs, previous, ANY)?;
        assert!(theirs.iter().all(|word| *word == round * 100 + previous as u32), "round {round}");
    }
    let Some(duplicate) = world.split(Some(0), 0)? else { panic!("rank {me} is left out") };
    // Nobody ever announces what it would receive.
    drop(world.partitioned_receive::<u8>(1, 1 << 16, previous, 77)?);
    let mut sum = [0];
    duplicate.all_reduce(&[round], &mut sum, Operation::Sum)?;
    assert_eq!(sum, [round * size as u32]);
    Ok(())
}

/// Opens and closes the engine so often and compares what the process has after a few rounds and at the end.
fn rounds(count: u32) {
    let round = |number| {
        let universe = posthaste::init().unwrap();
        work(&universe, number).unwrap();
        universe.finalize().unwrap();
    };
    let first = count / 10;
    (0..first).for_each(round);
    let (before, memory) = (holdings(), resident());
    (first..count).for_each(round);
    let (after, grown) = (holdings(), resident().saturating_sub(memory));
    // The heap of the C library grows in steps and joins or parts mappings as it likes.
    let near = Holdings { mappings: before.mappings, ..after };
    assert!(near == before && after.mappings <= before.mappings + 4, "{before:?} became {after:?}");
    assert!(grown < 2 << 20, "{grown} bytes more");
}

fn is_body(name: &str) -> bool {
    std::env::var(BODY).is_ok_and(|asked| asked == name)
}

#[test]
fn a_thousand_rounds_alone_leave_nothing_behind() {
    let name = "a_thousand_rounds_alone_leave_nothing_behind";
    if is_body(name) {
        return rounds(1000);
    }
    // Alone, without the threads of other tests.
    let own = std::env::current_exe().unwrap();
    let arguments = ["--exact", name, "--nocapture", "--test-threads=1"];
    let output = Command::new(own).args(arguments).env(BODY, name).output().unwrap();
    assert!(output.status.success(), "{}\n{}", output.status, text(&output));
}

#[test]
fn rounds_of_two_ranks_leave_nothing_behind() {
    let name = "rounds_of_two_ranks_leave_nothing_behind";
    if is_body(name) {
        return rounds(60);
    }
    let settings: [&[(&str, &str)]; 4] = [
        &[],
        &[("POSTHASTE_METHODS", "tcp")],
        &[("POSTHASTE_PROGRESS_THREAD", "1")],
        &[("POSTHASTE_LINKS", "tcp,tcp"), ("POSTHASTE_METHODS", "tcp")],
    ];
    for settings in settings {
        let output = launch_with(2, name, settings);
        assert!(output.status.success(), "{settings:?}: {}\n{}", output.status, text(&output));
    }
}

/// Runs `body` in a process of its own, the only one of its job.
fn alone(name: &str, body: impl FnOnce()) {
    if is_body(name) {
        return body();
    }
    let output = launch_with(1, name, &[]);
    assert!(output.status.success(), "{}\n{}", output.status, text(&output));
}

#[test]
fn a_progress_thread_ends_with_a_universe_that_panics() {
    alone("a_progress_thread_ends_with_a_universe_that_panics", || {
        let threads = holdings().threads;
        for _ in 0..5 {
            let panicked = std::panic::catch_unwind(|| {
                let universe = posthaste::init_with_progress().unwrap();
                assert_eq!(universe.world().size(), 2, "as a mistake of the program would");
            });
            assert!(panicked.is_err());
        }
        assert_eq!(holdings().threads, threads);
        work(&posthaste::init_with_progress().unwrap(), 1).unwrap();
    });
}

#[test]
fn an_engine_without_locks_is_for_one_thread() {
    use posthaste_core::instance::{self, Job, Threads};
    use posthaste_core::world::Calls;

    alone("an_engine_without_locks_is_for_one_thread", || {
        // As a C program does that promises to call from one thread at a time.
        let of_c = instance::share(Threads::OneAtATime, Calls::C).unwrap();
        let elsewhere = std::thread::spawn(|| posthaste::init_with_progress().map(drop)).join().unwrap();
        let refused = elsewhere.unwrap_err().to_string();
        assert!(refused.contains("another thread of this process"), "{refused}");
        let refused = posthaste::init_with_progress().unwrap_err().to_string();
        assert!(refused.contains("opened for one thread"), "{refused}");
        work(&posthaste::init().unwrap(), 1).unwrap();
        of_c.close(Job::Stays).unwrap();
        // Opened by itself, it has locks and the thread.
        let universe = posthaste::init_with_progress().unwrap();
        universe.descriptor().unwrap();
    });
}

#[test]
fn shares_are_of_one_engine() {
    let name = "shares_are_of_one_engine";
    if !is_body(name) {
        let output = launch_with(2, name, &[]);
        return assert!(output.status.success(), "{}\n{}", output.status, text(&output));
    }
    let first = posthaste::init().unwrap();
    let second = posthaste::init().unwrap();
    let (me, other) = (first.world().rank(), 1 - first.world().rank());
    let mut got = [0];
    first.world().send(&[me], other, 1).unwrap();
    second.world().receive(&mut got, other, 1).unwrap();
    assert_eq!((got, second.world().rank()), ([other], me));
    let refused = std::thread::spawn(|| posthaste::init().map(drop)).join().unwrap().unwrap_err().to_string();
    assert!(refused.contains("another thread of this process"), "{refused}");
    // The engine stays open, whichever of them ends first.
    first.finalize().unwrap();
    work(&second, 1).unwrap();
    second.finalize().unwrap();
    let again = posthaste::init().unwrap();
    work(&again, 2).unwrap();
}
