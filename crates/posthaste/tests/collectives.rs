//! The collective operations on several ranks, against what a naive program computes.

use std::cell::RefCell;

use posthaste::{
    Communicator, Counts, ErrorClass, Located, Operation, Plans, Reduction, Result, Topology, Universe,
    UserOperation, balanced_sizes,
};

mod common;

use common::{BODY, build, launch, launch_with, on_ranks, programs, run, text};

const LENGTHS: [usize; 5] = [0, 1, 3, 1000, 40_000];

/// Runs bodies on so many ranks.
macro_rules! on_ranks {
    ($($ranks:literal: $name:ident = $body:path;)*) => {$(
        #[test]
        fn $name() {
            on_ranks($ranks, stringify!($name), $body);
        }
    )*};
}

on_ranks! {
    2: data_moves_between_two = data_moves;
    5: data_moves_between_five = data_moves;
    8: data_moves_between_eight = data_moves;
    1: blocks_of_one_vary = blocks_vary;
    3: blocks_of_three_vary = blocks_vary;
    6: blocks_of_six_vary = blocks_vary;
    2: data_of_two_is_combined = data_is_combined;
    5: data_of_five_is_combined = data_is_combined;
    8: data_of_eight_is_combined = data_is_combined;
    4: the_order_of_four_is_kept = order_is_kept;
    7: the_order_of_seven_is_kept = order_is_kept;
    3: extrema_are_located = located;
    1: one_starts_again = started_again;
    4: four_start_again = started_again;
    3: a_panic_of_a_function_is_an_error = function_panics;
    3: wrong_arguments_are_refused_before_anything_leaves = refused;
    6: neighbours_exchange_blocks_of_any_length = neighbors;
    6: topologies_are_made_and_asked = topologies;
}

/// Element `i` of what `from` has for `to`.
fn element(from: usize, to: usize, i: usize) -> u32 {
    (from * 1_000_003 + to * 10_007 + i * 7 + 1) as u32
}

fn block(from: usize, to: usize, length: usize) -> Vec<u32> {
    (0..length).map(|i| element(from, to, i)).collect()
}

/// What all ranks have for one, in their order.
fn blocks_for(to: usize, size: usize, length: impl Fn(usize) -> usize) -> Vec<u32> {
    (0..size).flat_map(|from| block(from, to, length(from))).collect()
}

/// What one rank has for all.
fn blocks_from(from: usize, size: usize, length: impl Fn(usize) -> usize) -> Vec<u32> {
    (0..size).flat_map(|to| block(from, to, length(to))).collect()
}

fn data_moves(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for length in LENGTHS {
        for root in [0, size - 1] {
            let is_root = rank == root;
            let mine = block(rank, 0, length);
            let everything = blocks_for(0, size, |_| length);
            let mut all = vec![0; if is_root { size * length } else { 0 }];
            world.gather(&mine, &mut all, root)?;
            let mut place = if is_root { vec![0; size * length] } else { mine.clone() };
            if is_root {
                assert_eq!(all, everything);
                place[rank * length..][..length].copy_from_slice(&mine);
            }
            world.gather_in_place(&mut place, root)?;
            assert_eq!(place, if is_root { everything } else { mine });

            let sent = if is_root { blocks_from(root, size, |_| length) } else { vec![] };
            let mut got = vec![0; length];
            world.scatter(&sent, &mut got, root)?;
            assert_eq!(got, block(root, rank, length));
            let mut place = if is_root { sent.clone() } else { vec![0; length] };
            world.scatter_in_place(&mut place, root)?;
            assert_eq!(place, if is_root { sent.clone() } else { got.clone() });

            let (mut later, mut copy) =
                (vec![0; length], if is_root { got.clone() } else { vec![0; length] });
            world.scope(|s| {
                s.scatter(&sent, &mut later, root)?;
                s.broadcast(&mut copy, root)?;
                s.barrier()?;
                Ok(())
            })?;
            assert_eq!(later, got);
            assert_eq!(copy, block(root, root, length));
        }
        let mine = block(rank, 0, length);
        let mut all = vec![0; size * length];
        all[rank * length..][..length].copy_from_slice(&mine);
        world.all_gather_in_place(&mut all)?;
        assert_eq!(all, blocks_for(0, size, |_| length));

        let data = blocks_from(rank, size, |_| length);
        let expected = blocks_for(rank, size, |_| length);
        let (mut now, mut later, mut place) = (vec![0; size * length], vec![0; size * length], data.clone());
        world.all_to_all(&data, &mut now)?;
        world.scope(|s| {
            s.all_to_all(&data, &mut later)?;
            s.all_to_all_in_place(&mut place)?;
            Ok(())
        })?;
        assert!(now == expected && later == expected && place == expected, "{length} for each");
    }
    Ok(())
}

fn blocks_vary(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for scale in [1, 500] {
        // Rank 1 has nothing.
        let length = |rank: usize| if rank == 1 { 0 } else { scale * (rank + 1) };
        let counts: Vec<usize> = (0..size).map(length).collect();
        let mine = block(rank, 0, length(rank));
        let packed = blocks_for(0, size, length);
        // The same with a gap of two behind each block, the last block first.
        let mut places = vec![0; size];
        for at in (0..size).rev() {
            places[at] = if at + 1 == size { 0 } else { places[at + 1] + counts[at + 1] + 2 };
        }
        let turned = Counts::at(&counts, &places);
        let reach = places[0] + counts[0];
        let mut spread = vec![u32::MAX; reach];
        for from in 0..size {
            spread[places[from]..][..counts[from]].copy_from_slice(&block(from, 0, counts[from]));
        }

        let root = size - 1;
        let is_root = rank == root;
        let mut all = vec![0; if is_root { packed.len() } else { 0 }];
        world.gather_varying(&mine, &mut all, &counts, root)?;
        let mut loose = vec![u32::MAX; if is_root { reach } else { 0 }];
        world.gather_varying(&mine, &mut loose, &turned, root)?;
        let mut place = if is_root { vec![u32::MAX; reach] } else { mine.clone() };
        if is_root {
            assert!(all == packed && loose == spread);
            place[places[rank]..][..mine.len()].copy_from_slice(&mine);
        }
        world.gather_varying_in_place(&mut place, &turned, root)?;
        assert_eq!(place, if is_root { spread.clone() } else { mine.clone() });
        let gathered = world.gather_vec(&mine, root)?;
        assert_eq!(gathered, is_root.then(|| (packed.clone(), counts.clone())));

        let mut got = vec![0; mine.len()];
        world.scatter_varying(&spread, &turned, &mut got, 0)?;
        assert_eq!(got, mine);
        let known = if rank == 0 { (&packed[..], &counts[..]) } else { (&[][..], &[][..]) };
        assert_eq!(world.scatter_vec(known.0, known.1, 0)?, mine);

        let mut all = vec![0; packed.len()];
        world.all_gather_varying(&mine, &mut all, &counts)?;
        let mut loose = vec![u32::MAX; reach];
        loose[places[rank]..][..mine.len()].copy_from_slice(&mine);
        world.all_gather_varying_in_place(&mut loose, &turned)?;
        assert!(all == packed && loose == spread);
        assert_eq!(world.all_gather_vec(&mine)?, (packed, counts));

        // From one rank to another go as many as the two differ in rank, and a few.
        let length = |from: usize, to: usize| scale * (from.abs_diff(to) + to % 2);
        let sent: Vec<usize> = (0..size).map(|to| length(rank, to)).collect();
        let received: Vec<usize> = (0..size).map(|from| length(from, rank)).collect();
        let data = blocks_from(rank, size, |to| length(rank, to));
        let expected = blocks_for(rank, size, |from| length(from, rank));
        let (mut now, mut later) = (vec![0; expected.len()], vec![0; expected.len()]);
        world.all_to_all_varying(&data, &sent, &mut now, &received)?;
        world.scope(|s| s.all_to_all_varying(&data, &sent, &mut later, &received).map(drop))?;
        assert!(now == expected && later == expected);
        assert_eq!(world.all_to_all_vec(&data, &sent)?, (expected, received));
        // In place both directions are of one length.
        let length = |from: usize, to: usize| scale * (from + to);
        let counts: Vec<usize> = (0..size).map(|other| length(rank, other)).collect();
        let mut place = blocks_from(rank, size, |to| length(rank, to));
        world.all_to_all_varying_in_place(&mut place, &counts)?;
        assert_eq!(place, blocks_for(rank, size, |from| length(from, rank)));

        let mut text = if rank == root { block(3, 4, scale) } else { vec![9; 2] };
        world.broadcast_vec(&mut text, root)?;
        assert_eq!(text, block(3, 4, scale));
    }
    Ok(())
}

/// What the ranks `from..to` have, combined by adding.
fn sums(from: usize, to: usize, length: usize) -> Vec<u32> {
    (0..length).map(|i| (from..to).fold(0, |sum: u32, rank| sum.wrapping_add(element(rank, 0, i)))).collect()
}

fn data_is_combined(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let add = Operation::from_fn(
        |incoming: &[u32], result: &mut [u32]| {
            incoming.iter().zip(result).for_each(|(from, to)| *to = to.wrapping_add(*from));
        },
        true,
    );
    for length in LENGTHS {
        combined_by(world, length, Operation::Sum)?;
        combined_by(world, length, &add)?;
    }
    assert_eq!(world.scan_one(rank + 1, Operation::Product)?, (1..=rank + 1).product());
    assert_eq!(world.exclusive_scan_one(rank, Operation::Maximum)?, rank.checked_sub(1));
    assert_eq!(world.all_reduce_one(1u8 << rank, Operation::BitXor)?, ((1u16 << size) - 1) as u8);
    Ok(())
}

fn combined_by<R: Reduction<u32> + Copy>(world: &Communicator<'_>, length: usize, sum: R) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mine = block(rank, 0, length);
    let total = sums(0, size, length);
    for root in [0, size - 1] {
        let is_root = rank == root;
        let mut result = vec![0; if is_root { length } else { 0 }];
        world.reduce(&mine, &mut result, sum, root)?;
        assert_eq!(result, if is_root { total.clone() } else { vec![] });
        let mut place = mine.clone();
        world.reduce_in_place(&mut place, sum, root)?;
        assert_eq!(place, if is_root { total.clone() } else { mine.clone() });
    }
    let (mut all, mut up_to, mut before) = (vec![0; length], vec![0; length], vec![77; length]);
    world.scope(|s| {
        s.all_reduce(&mine, &mut all, sum)?;
        s.scan(&mine, &mut up_to, sum)?;
        s.exclusive_scan(&mine, &mut before, sum)?;
        Ok(())
    })?;
    assert_eq!(all, total);
    assert_eq!(up_to, sums(0, rank + 1, length));
    assert_eq!(before, if rank == 0 { vec![77; length] } else { sums(0, rank, length) });
    let mut place = mine.clone();
    world.all_reduce_in_place(&mut place, sum)?;
    assert_eq!(place, total);
    place.clone_from(&mine);
    world.scan_in_place(&mut place, sum)?;
    assert_eq!(place, up_to);
    place.clone_from(&mine);
    world.exclusive_scan_in_place(&mut place, sum)?;
    assert_eq!(place, if rank == 0 { mine.clone() } else { before });

    // A block for each rank.
    let parts = block(rank, 0, size * length);
    let part = |from: usize, len: usize| sums(0, size, size * length)[from..][..len].to_vec();
    let mut result = vec![0; length];
    world.reduce_scatter_block(&parts, &mut result, sum)?;
    assert_eq!(result, part(rank * length, length));
    let mut place = parts.clone();
    world.reduce_scatter_block_in_place(&mut place, sum)?;
    assert_eq!(place[..length], result);
    // The first rank gets all that the last one leaves over.
    let counts: Vec<usize> = (0..size)
        .map(|at| if at == 0 { size * length - (size - 1) * (length / 2) } else { length / 2 })
        .collect();
    let first = counts[..rank].iter().sum();
    let mut result = vec![0; counts[rank]];
    world.reduce_scatter(&parts, &mut result, &counts, sum)?;
    assert_eq!(result, part(first, counts[rank]));
    let mut place = parts;
    world.reduce_scatter_in_place(&mut place, &counts, sum)?;
    assert_eq!(place[..counts[rank]], result);
    let mut local = mine.clone();
    world.reduce_local(&mine, &mut local, sum)?;
    assert!(local.iter().zip(&mine).all(|(twice, once)| *twice == once.wrapping_add(*once)));
    Ok(())
}

/// Maps x to a x + b modulo a prime, as a in the upper half and b in the lower.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Map(u64);

impl Map {
    const PRIME: u64 = 65_521;

    fn new(a: u64, b: u64) -> Self {
        Self(((a % Self::PRIME) << 32) | (b % Self::PRIME))
    }

    fn of(rank: usize, i: usize) -> Self {
        Self::new(2 + (rank * 31 + i) as u64 % 1000, (rank * 17 + i * 3 + 1) as u64)
    }

    /// First this one, then the other.
    fn then(self, Self(next): Self) -> Self {
        let (a, b, c, d) =
            (self.0 >> 32, self.0 & u64::from(u32::MAX), next >> 32, next & u64::from(u32::MAX));
        Self::new(a * c, b * c + d)
    }

    fn of_ranks(ranks: std::ops::Range<usize>, i: usize) -> Option<Self> {
        ranks.map(|rank| Self::of(rank, i)).reduce(Self::then)
    }
}

fn composition() -> UserOperation<u64> {
    Operation::from_fn(
        |incoming, result| {
            for (left, right) in incoming.iter().zip(result) {
                *right = Map(*left).then(Map(*right)).0;
            }
        },
        false,
    )
}

fn order_is_kept(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let then = composition();
    assert!(!then.is_commutative());
    for length in LENGTHS {
        let mine: Vec<u64> = (0..length).map(|i| Map::of(rank, i).0).collect();
        let of = |ranks: std::ops::Range<usize>| -> Vec<u64> {
            (0..length).filter_map(|i| Map::of_ranks(ranks.clone(), i).map(|map| map.0)).collect()
        };
        for root in [0, size / 2] {
            let mut result = vec![0; if rank == root { length } else { 0 }];
            world.reduce(&mine, &mut result, &then, root)?;
            assert_eq!(result, if rank == root { of(0..size) } else { vec![] });
        }
        let (mut all, mut up_to, mut before) = (vec![0; length], vec![0; length], vec![0; length]);
        world.all_reduce(&mine, &mut all, &then)?;
        world.scan(&mine, &mut up_to, &then)?;
        world.scope(|s| s.exclusive_scan(&mine, &mut before, &then).map(drop))?;
        assert_eq!(all, of(0..size));
        assert_eq!(up_to, of(0..rank + 1));
        assert_eq!(before, if rank == 0 { vec![0; length] } else { of(0..rank) });
        let parts: Vec<u64> = (0..size * length).map(|i| Map::of(rank, i).0).collect();
        let mut part = vec![0; length];
        world.reduce_scatter_block(&parts, &mut part, &then)?;
        let expected =
            (rank * length..(rank + 1) * length).map(|i| Map::of_ranks(0..size, i).map(|map| map.0));
        assert!(part.iter().copied().map(Some).eq(expected));
    }
    Ok(())
}

fn located(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // Ranks 0 and 2 have the same extremes.
    let value = |rank: usize| (rank % 2) as i64;
    let index = rank as i64;
    let pairs = [Located { value: value(rank), index }, Located { value: -value(rank), index: 100 + index }];
    let mut lowest = [Located::default(); 2];
    world.all_reduce(&pairs, &mut lowest, Operation::MinimumLocation)?;
    assert_eq!(lowest, [Located { value: 0, index: 0 }, Located { value: -1, index: 101 }]);
    let highest = world.all_reduce_one(pairs[0], Operation::MaximumLocation)?;
    assert_eq!(highest, Located { value: 1, index: 1 });

    let small = Located { value: rank as f32 / 2.0, index: -(rank as i32) };
    assert_eq!(world.all_reduce_one(small, Operation::MaximumLocation)?.index, 1 - size as i32);
    let wide = Located { value: usize::MAX - rank, index };
    assert_eq!(world.all_reduce_one(wide, Operation::MinimumLocation)?.index, size as i64 - 1);
    // A pair is a message like any other.
    let mut theirs = [Located { value: 0.0f64, index: 0 }];
    let mine = [Located { value: 0.5, index }];
    world.send_receive(&mine, (rank + 1) % size, 0, &mut theirs, (rank + size - 1) % size, 0)?;
    assert_eq!(theirs[0], Located { value: 0.5, index: ((rank + size - 1) % size) as i64 });

    let refused = world.all_reduce_one(mine[0], Operation::Sum).unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Op, "{refused}");
    let refused = world.all_reduce_one(1.0, Operation::MinimumLocation).unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Op, "{refused}");
    Ok(())
}

fn started_again(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for length in [1, 3000] {
        let empty = || vec![0u32; length];
        let mut sum = world.persistent(empty(), empty(), |plans: Plans<'_>, data, result| {
            plans.all_reduce(data, result, Operation::Sum)
        })?;
        let mut copy = world.persistent(vec![], empty(), |plans, _, data| plans.broadcast(data, 0))?;
        let mut turn =
            world.persistent(vec![0; size * length], vec![0; size * length], |plans, data, all| {
                plans.all_to_all(data, all)
            })?;
        let mut barrier = world.persistent(Vec::<u8>::new(), vec![], |plans, _, _| plans.barrier())?;
        for step in 0..4 {
            // All at once, and others between.
            sum.data_mut().copy_from_slice(&block(rank, step, length));
            copy.result_mut().fill(if rank == 0 { step as u32 } else { 99 });
            turn.data_mut().copy_from_slice(&blocks_from(rank + step, size, |_| length));
            let _ = sum.start()?; // whoever looks at the result waits
            let (copying, turning) = (copy.start()?, turn.start()?);
            let mut waiting = barrier.start()?;
            assert_eq!(world.all_reduce_one(1, Operation::Sum)?, size);
            turning.wait()?;
            copying.wait()?;
            while !waiting.test()? {}
            assert!(waiting.test()?);
            waiting.wait()?;
            let expected = (0..length)
                .map(|i| (0..size).fold(0u32, |sum, from| sum.wrapping_add(element(from, step, i))));
            assert_eq!(sum.result(), Vec::from_iter(expected));
            assert_eq!(copy.result(), vec![step as u32; length]);
            let expected: Vec<u32> = (0..size).flat_map(|from| block(from + step, rank, length)).collect();
            assert_eq!(turn.result(), expected);
        }
        // Left under way: their ends wait.
        let _ = (sum.start()?, copy.start()?);
    }
    // What a run without a wait ends in is the error of the next start.
    let picky = Operation::from_fn(|_: &[u8], _: &mut [u8]| panic!("not again"), true);
    let mut wrong =
        world.persistent(vec![1], vec![0], |plans, data, result| plans.all_reduce(data, result, &picky))?;
    let _ = wrong.start()?;
    let failed = wrong.start().map(drop).is_err();
    assert!(world.all_reduce_one(u32::from(failed), Operation::Sum)? > 0 || size == 1);
    if failed {
        let _ = wrong.start()?;
    }
    let refused = world.persistent(vec![1], vec![], |plans, data, all| plans.all_gather(data, all));
    assert_eq!(refused.unwrap_err().call(), "all_gather");
    Ok(())
}

thread_local! {
    /// For functions of operations, which get none.
    static UNIVERSE: RefCell<Option<Universe>> = const { RefCell::new(None) };
}

/// A function that looks at communication, which it must not do: who has made which call is said.
fn function_probes(world: &Communicator<'_>) -> Result<()> {
    let rank = world.rank();
    UNIVERSE.set(Some(posthaste::init()?));
    let wrong = Operation::from_fn(|_: &[u64], _: &mut [u64]| communicate("probe_now"), true);
    let outcome = world.all_reduce(&[1], &mut [0], &wrong);
    if let Err(error) = &outcome {
        let (own, said) = (error.to_string(), format!(" in probe_now on rank {rank}: "));
        assert!(own.starts_with(&format!("rank {rank}: all_reduce: ")) && own.contains(&said), "{own}");
        assert!(own.contains("which it must not do"), "{own}");
    }
    assert!(world.all_reduce_one(u32::from(outcome.is_err()), Operation::Sum)? >= 1);
    UNIVERSE.take().map_or(Ok(()), Universe::finalize)
}

fn communicate(call: &str) {
    UNIVERSE.with_borrow(|universe| {
        let world = universe.as_ref().expect("it is there").world();
        let made = match call {
            "barrier" => world.barrier(),
            "MPI_Send" => world.send(&[1], 0, 3),
            "MPI_Recv" => world.receive(&mut [0], 0, 3).map(drop),
            "probe_now" => world.probe_now(0, 3).map(drop),
            "receive" => {
                let mut got = [0];
                world.scope(|s| s.receive(&mut got, 0, 3).map(drop))
            }
            _ => world.all_reduce_one(1, Operation::Sum).map(drop),
        };
        made.expect("it is not made");
    });
}

/// A call that is lent buffers cannot be left by a panic, so the process ends, and says before that which call it was.
#[test]
fn a_function_that_communicates_ends_the_job_and_its_call_is_named() {
    const NAME: &str = "a_function_that_communicates_ends_the_job_and_its_call_is_named";
    const CALL: &str = "POSTHASTE_TEST_CALL";
    if std::env::var(BODY).is_ok_and(|asked| asked == NAME) {
        let universe = posthaste::init().unwrap();
        UNIVERSE.set(Some(posthaste::init().unwrap()));
        let call = std::env::var(CALL).unwrap();
        let wrong = Operation::from_fn(move |_: &[u64], _: &mut [u64]| communicate(&call), true);
        let _ = universe.world().reduce(&[1], &mut [0], &wrong, 0);
        return;
    }
    for call in ["barrier", "MPI_Send", "MPI_Recv", "receive", "all_reduce_one"] {
        let output = launch_with(2, NAME, &[(CALL, call)]);
        let said = text(&output);
        assert!(!output.status.success(), "{said}");
        let made = "the function of a reduction operation (MPI_Op_create) has made this call";
        assert!(said.contains(&format!("rank 0: {call}: {made}")), "{said}");
    }
}

fn function_panics(world: &Communicator<'_>) -> Result<()> {
    let picky = Operation::from_fn(
        |incoming: &[u64], result: &mut [u64]| {
            for (from, to) in incoming.iter().zip(result) {
                assert!(*from != 13 && *to != 13, "a thirteen");
                *to += from;
            }
        },
        true,
    );
    for length in [1, 5000] {
        let (good, bad) = (vec![1; length], vec![if world.rank() == 1 { 13 } else { 1 }; length]);
        let mut result = vec![0; length];
        let outcome = world.all_reduce(&bad, &mut result, &picky);
        if let Err(error) = &outcome {
            assert_eq!((error.class(), error.call()), (ErrorClass::Op, "all_reduce"));
            assert!(
                error.to_string().contains("the function of the operation panicked: a thirteen"),
                "{error}"
            );
        }
        // Somebody met it, and everybody can go on.
        assert!(world.all_reduce_one(u32::from(outcome.is_err()), Operation::Sum)? >= 1);
        world.all_reduce(&good, &mut result, &picky)?;
        assert_eq!(result, vec![world.size() as u64; length]);
    }
    function_probes(world)?;
    let error = world.reduce_local(&[13], &mut [1], &picky).unwrap_err();
    assert!(error.to_string().contains("a thirteen"), "{error}");
    Ok(())
}

#[test]
fn a_panic_ends_the_job_also_while_an_operation_repeats() {
    const NAME: &str = "a_panic_ends_the_job_also_while_an_operation_repeats";
    if std::env::var(BODY).is_ok_and(|asked| asked == NAME) {
        let universe = posthaste::init().unwrap();
        let world = universe.world();
        let mut copy =
            world.persistent(vec![], vec![0u8; 9], |plans, _, data| plans.broadcast(data, 0)).unwrap();
        if world.rank() == 1 {
            // Rank 0 never starts it.
            let _ = copy.start().unwrap();
            panic!("rank 1 makes a mistake");
        }
        // Would wait for ever.
        world.receive(&mut [0u8], 1, 0).unwrap();
        return;
    }
    let output = launch(2, NAME);
    assert_eq!(output.status.code(), Some(101), "{}", text(&output));
    assert!(text(&output).contains("rank 1 makes a mistake"), "{}", text(&output));
}

fn refused(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let says = |result: Result<()>, class: ErrorClass, text: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.class(), class, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    let (data, mut all) = ([1; 3], [0; 9]);
    says(
        world.gather(&data, &mut all[..8], rank),
        ErrorClass::Count,
        "gather: the length of all is 8, expected 3 times 3",
    );
    says(
        world.gather(&data, &mut all, size),
        ErrorClass::Root,
        "root is 3, expected a rank of the communicator, 0..=2",
    );
    says(world.scatter(&all[..4], &mut [0; 3], rank), ErrorClass::Count, "the length of all is 4");
    says(world.gather_in_place(&mut all[..8], rank), ErrorClass::Count, "is 8, expected a multiple of 3");
    says(world.all_gather_in_place(&mut all[..7]), ErrorClass::Count, "is 7, expected a multiple of 3");
    says(world.all_to_all(&data, &mut all), ErrorClass::Count, "the length of all is 9");
    says(world.all_to_all_in_place(&mut all[..7]), ErrorClass::Count, "is 7");
    says(world.all_gather_varying(&data, &mut all, &[3, 3]), ErrorClass::Count, "");
    says(world.all_gather_varying(&data, &mut all, &[3, 3, 4]), ErrorClass::Count, "");
    says(
        world.all_gather_varying(&data[..2], &mut all, &[3, 3, 3]),
        ErrorClass::Count,
        "the count of this rank's block, 3",
    );
    let over = Counts::at(&[3; 3], &[0, 2, 6]);
    says(
        world.all_gather_varying(&data, &mut all, &over),
        ErrorClass::Buffer,
        "displacements is 2 for rank 1",
    );
    let beyond = Counts::at(&[3; 3], &[0, 3, 7]);
    says(
        world.all_gather_varying(&data, &mut all, beyond),
        ErrorClass::Count,
        "3 elements from 7 for rank 2",
    );
    let uneven = [3 - rank % 2, 3 - rank % 2, 3 - rank % 2];
    let total = uneven.iter().sum();
    let other = vec![2 + rank % 2; 3];
    let room = &mut vec![0; other.iter().sum()];
    says(
        world.all_to_all_varying(&vec![1; total], &uneven, room, &other),
        ErrorClass::Count,
        "as many as it sends to itself",
    );
    says(
        world.reduce_scatter(&all, &mut [0; 3], &[3, 3, 2], Operation::Sum),
        ErrorClass::Count,
        "the sum of the counts",
    );
    says(
        world.reduce_scatter(&all, &mut [0; 2], &[3, 3, 3], Operation::Sum),
        ErrorClass::Count,
        "the length of this rank's block",
    );
    says(
        world.reduce_scatter_block(&all, &mut [0; 2], Operation::Sum),
        ErrorClass::Count,
        "is 2, expected 3",
    );
    says(world.scan(&[1.0], &mut [0.0], Operation::BitOr), ErrorClass::Op, "scan: op is MPI_BOR");
    // Nothing of all that is under way.
    assert_eq!(world.all_reduce_one(1, Operation::Sum)?, size);
    Ok(())
}

fn neighbors(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // Each rank sends to the next two; the first of them gets one element more.
    let (next, before) = (|by| (rank + by) % size, |by| (rank + size - by) % size);
    let ring = world.adjacent_graph(&[before(1), before(2)], &[next(1), next(2)])?;
    for length in [1, 2000] {
        let data: Vec<u32> = [block(rank, next(1), length + 1), block(rank, next(2), length)].concat();
        let expected = [block(before(1), rank, length + 1), block(before(2), rank, length)].concat();
        let (mut now, mut later) = (vec![0; 2 * length + 1], vec![0; 2 * length + 1]);
        let counts = [length + 1, length];
        ring.neighbor_all_to_all_varying(&data, &counts, &mut now, &counts)?;
        ring.scope(|s| s.neighbor_all_to_all_varying(&data, &counts, &mut later, &counts).map(drop))?;
        assert!(now == expected && later == expected);

        let mine = block(rank, 0, length + rank);
        let (first, second) = (length + before(1), length + before(2));
        let mut all = vec![u32::MAX; first + second];
        ring.neighbor_all_gather_varying(&mine, &mut all, Counts::at(&[first, second], &[second, 0]))?;
        let gathered = [block(before(2), 0, second), block(before(1), 0, first)].concat();
        assert_eq!(all, gathered);
        all.fill(u32::MAX);
        let (counts_there, places) = ([first, second], [second, 0]);
        ring.scope(|s| {
            s.neighbor_all_gather_varying(&mine, &mut all, Counts::at(&counts_there, &places)).map(drop)
        })?;
        assert_eq!(all, gathered);
        let mut gather = ring.persistent(mine, vec![0; first + second], |plans, data, all| {
            plans.neighbor_all_gather_varying(data, all, Counts::at(&counts_there, &places))
        })?;
        let mut exchange = ring.persistent(data, vec![0; 2 * length + 1], |plans, data, all| {
            plans.neighbor_all_to_all_varying(data, &counts, all, &counts)
        })?;
        let mut spread = ring.persistent(vec![rank; length], vec![0; 2 * length], |plans, data, all| {
            plans.neighbor_all_gather(data, all)
        })?;
        for _ in 0..2 {
            gather.start()?.wait()?;
            exchange.start()?.wait()?;
            spread.start()?.wait()?;
            assert!(gather.result() == gathered && exchange.result() == expected);
            assert_eq!(*spread.result(), [vec![before(1); length], vec![before(2); length]].concat());
        }

        let mut halo = ring.persistent(vec![0; 2 * length], vec![0; 2 * length], |plans, data, all| {
            plans.neighbor_all_to_all(data, all)
        })?;
        for step in 0..3 {
            halo.data_mut()
                .copy_from_slice(&[block(rank, step, length), block(rank, step + 9, length)].concat());
            halo.start()?.wait()?;
            let expected = [block(before(1), step, length), block(before(2), step + 9, length)].concat();
            assert_eq!(halo.result(), expected);
        }
    }
    let error = ring.neighbor_all_gather_varying(&[1], &mut [0; 2], &[2]).unwrap_err();
    assert!(
        error.to_string().contains("counts is 1 entries long, expected 2, one for each source"),
        "{error}"
    );
    Ok(())
}

/// What an example says on two and on four ranks.
const EXAMPLES: [(&str, [&str; 2]); 16] = [
    ("all_gather", ["powers [2, 4], lists [0]", "powers [2, 4, 8, 16], lists [0, 0, 1, 0, 1, 2]"]),
    (
        "all_to_all",
        ["rank 1 got [0, 1] and [0, 1]", "rank 3 got [0, 1, 2, 3] and [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]"],
    ),
    ("barrier", ["[1, 2]", "[1, 1, 1, 2, 2, 2]"]),
    ("broadcast", ["2 ranks know 1024 and [2, 4, 8, 16]", "4 ranks know 1024 and [2, 4, 8, 16]"]),
    ("cartesian", ["2 rows of 1 ranks met 6 neighbours", "2 rows of 2 ranks met 12 neighbours"]),
    ("communicators", ["2 ranks, 1 of them even, up to 0", "4 ranks, 2 of them even, up to 2"]),
    ("environment", ["2 ranks, 11 calls, 1 rank in a thread", "4 ranks, 11 calls, 1 rank in a thread"]),
    ("exchange", ["rank 0 got [1, 2, 4]", "rank 0 got [3, 6, 12]"]),
    ("gather", ["powers [2, 4], lists [0]", "powers [2, 4, 8, 16], lists [0, 0, 1, 0, 1, 2]"]),
    ("groups", ["the other half adds up to 0, and mine to 1", "the other half adds up to 1, and mine to 5"]),
    ("persistent", ["2 ranks are done after 8 steps", "4 ranks are done after 9 steps"]),
    ("reduce", ["2 ranks add up to 1, counted from one to 3", "4 ranks add up to 6, counted from one to 10"]),
    (
        "requests",
        ["[64, 64, 64, 64] requests, and 3000 numbers", "[64, 64, 64, 64] requests, and 3000 numbers"],
    ),
    (
        "scan",
        ["rank 1: the sum is 1, the product before it 1", "rank 3: the sum is 6, the product before it 6"],
    ),
    ("structures", ["i to the 2 is -1 + 0i", "i to the 4 is 1 + 0i"]),
    ("scatter", ["the squares of 2 ranks add up to 1", "the squares of 4 ranks add up to 14"]),
];

#[test]
fn the_examples_for_users_of_rsmpi_do_what_they_say() {
    let names = EXAMPLES.iter().flat_map(|(name, _)| ["--example", *name]);
    build(&["-p", "posthaste"].into_iter().chain(names).collect::<Vec<_>>());
    for (name, said) in EXAMPLES {
        for (ranks, said) in [2, 4].into_iter().zip(said) {
            let output = run(ranks, &programs().join("examples").join(name), &[], None);
            assert!(output.status.success(), "{name} on {ranks}: {}\n{}", output.status, text(&output));
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{said}\n"), "{name} on {ranks}");
        }
    }
}

fn topologies(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    assert_eq!(balanced_sizes(size, &[0, 2])?, [size / 2, 2]);
    let plane = world.cartesian(&[2, size / 2], &[false, true])?.expect("a place for every rank");
    let (row, column) = (rank / (size / 2), rank % (size / 2));
    let along = plane.cartesian_sub(&[false, true])?;
    let across = plane.cartesian_sub(&[true, false])?;
    assert_eq!((along.rank(), along.size(), along.grid()?), (column, size / 2, vec![(size / 2, true)]));
    assert_eq!((across.rank(), across.size(), across.grid()?), (row, 2, vec![(2, false)]));
    assert_eq!(across.all_reduce_one(rank, Operation::Sum)?, 2 * column + size / 2);
    assert_eq!(plane.cartesian_sub(&[false, false])?.size(), 1);
    assert_eq!(plane.cartesian_sub(&[true]).unwrap_err().class(), ErrorClass::Dims);
    assert_eq!(along.cartesian_sub(&[true])?.topology(), Some(Topology::Cartesian));
    assert_eq!(world.cartesian_sub(&[true]).unwrap_err().class(), ErrorClass::Topology);
    assert_eq!(world.cartesian_map(&[size - 1], &[false])?, Some(rank).filter(|rank| rank + 1 < size));

    // Rank 0 names all edges of a ring and their weights.
    let edges: Vec<(usize, usize, i32)> = (0..size).map(|at| (at, (at + 1) % size, at as i32)).collect();
    let ring = world.distributed_graph_weighted(if rank == 0 { &edges } else { &[] })?;
    let before = (rank + size - 1) % size;
    assert_eq!(ring.weights()?, Some((vec![before as i32], vec![rank as i32])));
    assert_eq!((ring.topology(), ring.sources()?), (Some(Topology::DistributedGraph), vec![Some(before)]));
    let wrong = world.adjacent_graph_weighted(&[(before, -1)], &[((rank + 1) % size, -1)]);
    assert!(wrong.unwrap_err().to_string().contains("-1"));

    let star: Vec<Vec<usize>> =
        (0..size).map(|at| if at == 0 { (1..size).collect() } else { vec![0] }).collect();
    let star = world.graph(&star)?.expect("every rank is in it");
    assert_eq!((star.topology(), star.neighbors_of(0)?), (Some(Topology::Graph), Vec::from_iter(1..size)));
    assert_eq!(star.neighbors_of(size).unwrap_err().class(), ErrorClass::Rank);
    assert_eq!(star.weights().unwrap_err().class(), ErrorClass::Topology);
    Ok(())
}
