//! Windows on several ranks: mapped, reached by packets, and over TCP.

use posthaste::{Communicator, ErrorClass, Lock, Operation, Result, Update, wait_all, wait_any};

mod common;

use common::{BODY, build, launch_with, programs, run_with, text};

/// How the ranks reach each other's memory.
const WAYS: [&[(&str, &str)]; 4] = [
    &[],
    &[("POSTHASTE_WINDOW_TABLE", "1")],
    &[("POSTHASTE_MAP_WINDOWS", "0"), ("POSTHASTE_WINDOW_TRANSPORT", "0")],
    &[("POSTHASTE_METHODS", "tcp")],
];

/// Runs `body` on so many ranks, by each way.
fn by_all_ways(ranks: usize, name: &str, body: impl FnOnce(&Communicator<'_>) -> Result<()>) {
    if std::env::var(BODY).is_ok_and(|asked| asked == name) {
        let universe = posthaste::init().unwrap();
        assert_eq!(universe.world().size(), ranks);
        body(&universe.world()).unwrap();
        return universe.finalize().unwrap();
    }
    for settings in WAYS {
        let output = launch_with(ranks, name, settings);
        assert!(output.status.success(), "{settings:?}: {}\n{}", output.status, text(&output));
    }
}

#[test]
fn every_epoch_brings_its_accesses_to_an_end() {
    by_all_ways(3, "every_epoch_brings_its_accesses_to_an_end", |world| {
        let (rank, size) = (world.rank(), world.size());
        let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
        // Parts of different lengths.
        let mut window = world.window().allocate::<u32>(1000 * (rank + 1))?;
        assert_eq!((window.len(), window.len_of(2)?), (1000 * (rank + 1), 3000));
        assert!(window.lock_own(|own| own.iter().all(|element| *element == 0))?);

        for round in 0..4 {
            let mine: Vec<u32> = (0..900).map(|i| round * 100_000 + rank as u32 * 1000 + i).collect();
            let theirs = |of: usize| (0..900).map(move |i| round * 100_000 + of as u32 * 1000 + i);
            let mut back = vec![0; 900];
            match round {
                0 => {
                    window.fence(|epoch| epoch.put(&mine, right, 50))?;
                    window.fence(|epoch| epoch.get(&mut back, right, 50))?;
                }
                1 => {
                    let (from, to) = (window.group().include(&[left])?, window.group().include(&[right])?);
                    window.post(&from, |_| window.start(&to, |epoch| epoch.put(&mine, right, 50)))?;
                    window.post(&from, |exposure| {
                        window.start(&to, |epoch| epoch.get(&mut back, right, 50))?;
                        while !exposure.test()? {}
                        Ok(())
                    })?;
                }
                2 => {
                    window.lock(right, Lock::Exclusive, |epoch| epoch.put(&mine, right, 50))?;
                    window.lock(right, Lock::Shared, |epoch| epoch.get(&mut back, right, 50))?;
                    world.barrier()?;
                }
                _ => {
                    window.lock_all(|epoch| {
                        epoch.put(&mine, right, 50)?;
                        epoch.flush(right)?;
                        epoch.get(&mut back, right, 50)?;
                        epoch.flush_local_all()
                    })?;
                    world.barrier()?;
                }
            }
            assert_eq!(back, mine, "round {round}");
            let came = window.lock_own(|own| own[50..950].iter().copied().eq(theirs(left)))?;
            assert!(came, "round {round}");
            world.barrier()?;
        }
        window.free()
    });
}

#[test]
fn buffers_come_back_with_their_part_of_an_epoch() {
    by_all_ways(2, "buffers_come_back_with_their_part_of_an_epoch", |world| {
        let other = 1 - world.rank();
        let window = world.window().create(vec![0u64; 4000])?;
        let mut block = vec![0; 3000];
        window.lock_all(|epoch| {
            for round in 0..20 {
                block.fill(round);
                epoch.flushed(|part| part.put(&block, other, 500))?;
                block.fill(u64::MAX);
                epoch.flushed(|part| part.rget(&mut block, other, 500)?.wait().map(drop))?;
                assert!(block.iter().all(|element| *element == round));
            }
            Ok(())
        })?;
        let elements = window.free()?;
        assert!(elements[500..3500].iter().all(|element| *element == 19));
        assert!(elements[..500].iter().chain(&elements[3500..]).all(|element| *element == 0));
        Ok(())
    });
}

#[test]
fn requests_of_windows_are_requests() {
    by_all_ways(2, "requests_of_windows_are_requests", |world| {
        let (rank, other) = (world.rank(), 1 - world.rank());
        let window = world.window().allocate::<i64>(40)?;
        let (data, ten) = ([rank as i64 + 1; 10], [10; 10]);
        let (mut first, mut second, mut message) = ([0; 10], [0; 10], [0]);
        window.lock_all(|epoch| {
            wait_all([epoch.rput(&data, other, 0)?, epoch.raccumulate(&ten, other, 10, Operation::Sum)?])?;
            epoch.flush_all()?;
            world.barrier()?;
            // Beside a message.
            world.scope(|s| {
                let sent = s.send(&data[..1], other, 3)?;
                let came = s.receive(&mut message, other, 3)?;
                let mut requests = [
                    epoch.rget(&mut first, other, 0)?,
                    epoch.rget_accumulate(&ten, &mut second, other, 10, Update::NoOp)?,
                ];
                let mut ended = [false; 2];
                while let Some((which, _)) = wait_any(&mut requests)? {
                    ended[which] = true;
                }
                assert_eq!(ended, [true; 2]);
                wait_all([sent, came]).map(drop)
            })
        })?;
        assert_eq!((first, second, message), ([rank as i64 + 1; 10], [10; 10], [other as i64 + 1]));

        // Awaited; and left to the end of the epoch.
        let (mut third, mut fourth) = ([0; 10], [0; 10]);
        window.lock(other, Lock::Shared, |epoch| {
            epoch.rget(&mut fourth, other, 10)?;
            world.scope_async(async |_| epoch.rget(&mut third, other, 10)?.await.map(drop))
        })?;
        assert_eq!((third, fourth), ([10; 10], [10; 10]));
        Ok(())
    });
}

#[test]
fn updates_are_atomic_whoever_makes_them() {
    by_all_ways(4, "updates_are_atomic_whoever_makes_them", |world| {
        const ROUNDS: u64 = 50;
        let (rank, size) = (world.rank() as u64, world.size() as u64);
        let window = world.window().allocate::<u64>(4)?;
        let mut tickets = Vec::new();
        let (ones, mut old) = ([1, 2], [0; 2]);
        window.lock_all(|epoch| {
            for _ in 0..ROUNDS {
                tickets.push(epoch.fetch_and_op(1, 0, 0, Operation::Sum)?);
                epoch.flushed(|part| part.accumulate(&ones, 0, 1, Operation::Sum))?;
                // A counter by compare-and-swap.
                let mut seen = epoch.get_one(0, 3)?;
                loop {
                    let was = epoch.compare_and_swap(seen, seen + 1, 0, 3)?;
                    if was == seen {
                        break;
                    }
                    seen = was;
                }
            }
            Ok(())
        })?;
        assert!(tickets.is_sorted(), "rank {rank}: {tickets:?}");
        let mut sum = [tickets.iter().sum::<u64>()];
        world.all_reduce_in_place(&mut sum, Operation::Sum)?;
        let all = ROUNDS * size;
        assert_eq!(sum[0], all * (all - 1) / 2, "every ticket was given once");
        window.lock(0, Lock::Shared, |epoch| epoch.get_accumulate(&ones, &mut old, 0, 1, Update::NoOp))?;
        assert_eq!(old, [all, 2 * all]);
        assert_eq!(window.lock(0, Lock::Shared, |epoch| epoch.get_one(0, 3))?, all);
        // To nobody.
        let nothing = window.lock(None, Lock::Exclusive, |epoch| {
            epoch.flush_all()?;
            epoch.fetch_and_op(5, None, 0, Update::Replace)
        })?;
        assert_eq!(nothing, 0);
        Ok(())
    });
}

#[test]
fn an_exclusive_lock_keeps_everybody_away() {
    by_all_ways(3, "an_exclusive_lock_keeps_everybody_away", |world| {
        const ROUNDS: usize = 30;
        let mut window = world.window().allocate::<usize>(2)?;
        for round in 0..ROUNDS {
            // Each time another rank changes its own elements as a slice, while others change them from afar.
            let owner = round % world.size();
            if owner == world.rank() {
                window.lock_own(|own| own.iter_mut().for_each(|element| *element += 1))?;
            } else {
                window.lock(owner, Lock::Exclusive, |epoch| {
                    for at in 0..2 {
                        let before = epoch.get_one(owner, at)?;
                        epoch.put_one(before + 1, owner, at)?;
                        epoch.flush(owner)?;
                    }
                    Ok(())
                })?;
            }
        }
        world.barrier()?;
        assert_eq!(window.lock_own(|own| [own[0], own[1]])?, [ROUNDS; 2]);
        Ok(())
    });
}

#[test]
fn elements_of_several_numbers_have_no_holes_in_windows() {
    #[derive(Clone, Copy, Debug, PartialEq, posthaste::Equivalence)]
    struct Particle {
        kind: u8,
        at: [f64; 2],
    }
    by_all_ways(2, "elements_of_several_numbers_have_no_holes_in_windows", |world| {
        let other = 1 - world.rank();
        let mine = [Particle { kind: world.rank() as u8, at: [0.5, world.rank() as f64] }; 3];
        let mut window = world.window().create(vec![mine[0]; 8])?;
        window.fence(|epoch| epoch.put(&mine, other, 5))?;
        let one = window.lock(other, Lock::Shared, |epoch| epoch.get_one(other, 7))?;
        assert_eq!(one, mine[0]);
        world.barrier()?;
        let elements = window.free()?;
        assert_eq!((elements[4].kind, elements[5].kind), (world.rank() as u8, other as u8));
        Ok(())
    });
}

#[test]
fn a_window_that_is_forgotten_keeps_its_memory() {
    by_all_ways(2, "a_window_that_is_forgotten_keeps_its_memory", |world| {
        let (rank, other) = (world.rank(), 1 - world.rank());
        let window = world.window().create(vec![0u32; 5000])?;
        if rank == 0 {
            std::mem::forget(window);
            world.barrier()?;
            return world.barrier();
        }
        world.barrier()?;
        // The other one has nothing of it any more, and it is still there.
        let data = vec![7; 5000];
        let last = window.lock(other, Lock::Exclusive, |epoch| {
            epoch.put(&data, other, 0)?;
            epoch.flush(other)?;
            epoch.get_one(other, 4999)
        })?;
        assert_eq!(last, 7);
        std::mem::forget(window);
        world.barrier()
    });
}

#[test]
fn memory_of_the_library_and_what_is_shared_is_reached_in_place() {
    let name = "memory_of_the_library_and_what_is_shared_is_reached_in_place";
    common::on_ranks(3, name, |world| {
        let (rank, size) = (world.rank(), world.size());
        let right = (rank + 1) % size;
        let mut shared = world.window().allocate_shared::<f32>(5)?;
        shared.fence(|epoch| {
            let theirs = epoch.cells(right)?.expect("memory is shared");
            theirs.write(1, &[rank as f32; 3]);
            assert_eq!(theirs.len(), 5);
            Ok(())
        })?;
        let left = (rank + size - 1) % size;
        shared.lock_own(|own| assert_eq!(own, [0.0, left as f32, left as f32, left as f32, 0.0]))?;
        // Of different types at different ranks the elements may not be aligned.
        world.barrier()?;
        if rank == 0 {
            let bytes = world.window().allocate_shared::<u8>(3)?;
            return bytes.free();
        }
        let mut words = world.window().allocate_shared::<u64>(1)?;
        let error = words.lock_own(|own| own[0]).unwrap_err();
        assert!(error.to_string().contains("aligned"), "{error}");
        words.free()
    });
}

#[test]
fn elements_of_a_member_that_was_not_accessed_before_are_reached_or_not() {
    let name = "elements_of_a_member_that_was_not_accessed_before_are_reached_or_not";
    by_all_ways(2, name, |world| {
        let other = 1 - world.rank();
        let window = world.window().allocate::<u32>(2000 + world.rank())?;
        window.lock_all(|epoch| {
            let cells = epoch.cells(other)?;
            assert!(cells.is_none_or(|cells| cells.len() == 2000 + other));
            Ok(())
        })?;
        window.free()
    });
}

#[test]
fn wrong_accesses_are_told_by_name() {
    by_all_ways(2, "wrong_accesses_are_told_by_name", |world| {
        let mut window = world.window().allocate::<u16>(if world.rank() == 0 { 10 } else { 0 })?;
        let (data, mut short) = ([1; 4], [0; 3]);
        let class = |outcome: Result<()>| outcome.map_err(|error| error.class());
        // The sizes are those of the target.
        assert_eq!(class(window.fence(|epoch| epoch.put(&data, 1, 0))), Err(ErrorClass::RmaRange));
        assert_eq!(class(window.fence(|epoch| epoch.put(&data, 0, 7))), Err(ErrorClass::RmaRange));
        assert_eq!(class(window.fence(|epoch| epoch.put(&data, 2, 0))), Err(ErrorClass::Rank));
        window.lock(0, Lock::Shared, |epoch| {
            let outcome = epoch.get_accumulate(&data, &mut short, 0, 0, Operation::Sum);
            assert_eq!(class(outcome), Err(ErrorClass::Count));
            assert_eq!(class(epoch.put_one(1, 1, 0)), Err(ErrorClass::RmaSync));
            assert_eq!(class(epoch.put_one(1, 0, usize::MAX)), Err(ErrorClass::Disp));
            assert_eq!(class(window.lock_all(|_| Ok(()))), Err(ErrorClass::RmaSync));
            Ok(())
        })?;
        let group = window.group();
        window.post(&group, |_| {
            assert_eq!(class(window.post(&group, |_| Ok(()))), Err(ErrorClass::RmaSync));
            window.start(&group, |_| Ok(()))
        })?;
        let error = window.lock_all(|epoch| epoch.put_one(1, 0, 10)).unwrap_err();
        assert!(error.to_string().starts_with(&format!("rank {}: put_one: ", world.rank())), "{error}");
        // It is as good as before.
        window.fence(|epoch| epoch.put_one(7, 0, 9))?;
        assert_eq!(window.lock(0, Lock::Shared, |epoch| epoch.get_one(0, 9))?, 7);
        Ok(())
    });
}

#[test]
fn a_panic_in_an_epoch_leaves_no_lock_and_no_reference_behind() {
    by_all_ways(2, "a_panic_in_an_epoch_leaves_no_lock_and_no_reference_behind", |world| {
        use std::panic::{AssertUnwindSafe, catch_unwind};
        let mut window = world.window().allocate::<u32>(1000)?;
        let data = vec![3; 1000];
        for kind in [Lock::Exclusive, Lock::Shared] {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                window.lock(0, kind, |epoch| -> Result<()> {
                    epoch.put(&data, 0, 0)?;
                    panic!("on purpose")
                })
            }));
            assert!(panicked.is_err());
        }
        assert!(catch_unwind(AssertUnwindSafe(|| window.lock_own(|_| panic!("on purpose")))).is_err());
        assert_eq!(window.lock(0, Lock::Exclusive, |epoch| epoch.get_one(0, 999))?, 3);
        world.barrier()?;

        // Out of a fence there is no way back: nobody knows how many the others have come to.
        let mut lost = world.window().allocate::<u32>(10)?;
        let panicked =
            catch_unwind(AssertUnwindSafe(|| lost.fence(|_| -> Result<()> { panic!("on purpose") })));
        assert!(panicked.is_err());
        assert_eq!(lost.lock_own(|own| own[0]).unwrap_err().class(), ErrorClass::RmaSync);
        assert_eq!(lost.fence(|_| Ok(())).unwrap_err().class(), ErrorClass::RmaSync);
        assert_eq!(lost.free().unwrap_err().class(), ErrorClass::RmaSync);
        Ok(())
    });
}

/// The examples, and what they say on 2 and on 4 ranks.
const EXAMPLES: [(&str, [&str; 2]); 3] = [
    ("hash_table", ["100 keys of 2 ranks", "180 keys of 4 ranks"]),
    ("work_queue", ["1000 items by 2 ranks, each of them once", "1000 items by 4 ranks, each of them once"]),
    (
        "halo",
        [
            "40 steps with fences and 40 with post and start on 2 ranks are those of a serial run",
            "40 steps with fences and 40 with post and start on 4 ranks are those of a serial run",
        ],
    ),
];

#[test]
fn the_examples_of_windows_are_right_by_all_ways() {
    let names = EXAMPLES.iter().flat_map(|(name, _)| ["--example", *name]);
    build(&["-p", "posthaste"].into_iter().chain(names).collect::<Vec<_>>());
    for (name, said) in EXAMPLES {
        for (ranks, said) in [2, 4].into_iter().zip(said) {
            for settings in WAYS {
                let program = programs().join("examples").join(name);
                let output = run_with(ranks, &program, &[], None, settings);
                let what = format!("{name} on {ranks} with {settings:?}");
                assert!(output.status.success(), "{what}: {}\n{}", output.status, text(&output));
                assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{said}\n"), "{what}");
            }
        }
    }
}

#[test]
fn a_revoked_window_ends_what_ranks_wait_for() {
    by_all_ways(3, "a_revoked_window_ends_what_ranks_wait_for", |world| {
        let mut window = world.window().allocate::<u64>(10)?;
        assert!(!window.is_revoked());
        world.barrier()?;
        if world.rank() == 2 {
            std::thread::sleep(std::time::Duration::from_millis(30));
            window.revoke();
        }
        let numbers = [7; 10];
        let told = window.fence(|epoch| epoch.put(&numbers, 2, 0)).unwrap_err();
        assert_eq!(told.class(), ErrorClass::Revoked, "{told}");
        assert!(window.is_revoked());
        let refused = window.lock(0, Lock::Shared, |_| Ok(())).unwrap_err();
        assert_eq!(refused.class(), ErrorClass::Revoked, "{refused}");
        // Its memory stays for ever: somebody may not have heard of it.
        assert_eq!(window.free().unwrap_err().class(), ErrorClass::Revoked);
        world.barrier()
    });
}
