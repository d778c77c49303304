//! The crate on several ranks: each test starts itself again under `mpiexec`, and the examples run as they are.

use std::time::{Duration, Instant};

use posthaste::{
    ANY, Communicator, ErrorClass, Operation, Parts, Result, Session, Strided, StridedMut, Universe,
};

mod common;

use common::{BODY, build, launch, launch_going_on, on_ranks, programs, run, text};

fn example(name: &str, ranks: usize) -> String {
    let output = run(ranks, &programs().join("examples").join(name), &[], None);
    assert!(output.status.success(), "{}\n{}", output.status, text(&output));
    String::from_utf8(output.stdout).expect("examples print text")
}

/// Element `i` of the message of `rank`.
fn pattern(rank: usize, i: usize) -> u32 {
    (rank * 1_000_003 + i * 7 + 1) as u32
}

const LENGTHS: [usize; 11] = [0, 1, 2, 9, 100, 1000, 1024, 2048, 20_000, 100_000, 1_300_000];

#[test]
fn messages_of_all_lengths_arrive_whole() {
    on_ranks(2, "messages_of_all_lengths_arrive_whole", |world| {
        for (tag, length) in (0..).zip(LENGTHS) {
            let other = 1 - world.rank();
            let mine: Vec<u32> = (0..length).map(|i| pattern(world.rank(), i)).collect();
            let mut theirs = vec![u32::MAX; length + 1];
            let status = if world.rank() == 0 {
                world.send(&mine, other, tag)?;
                world.receive(&mut theirs, other, tag)?
            } else {
                let status = world.receive(&mut theirs, ANY, ANY)?;
                world.send_synchronous(&mine, status.source(), status.tag())?;
                status
            };
            assert_eq!(
                (status.source(), status.tag(), status.count::<u32>()),
                (Some(other), tag, Some(length))
            );
            assert!(theirs[..length].iter().enumerate().all(|(i, got)| *got == pattern(other, i)));
            assert_eq!(theirs[length], u32::MAX);
        }
        Ok(())
    });
}

#[test]
fn sessions_come_and_go_beside_a_universe() {
    on_ranks(3, "sessions_come_and_go_beside_a_universe", |world| {
        for round in 0..20 {
            let session = Session::begin()?;
            let all = session.communicator("mpi://WORLD", "all")?;
            assert_eq!((all.rank(), all.size()), (world.rank(), world.size()));
            // Whoever is in both has a second session meanwhile.
            let second = (world.rank() < 2).then(Session::begin).transpose()?;
            if let Some(second) = &second {
                let pair = second.communicator_of(&[1, 0], "pair")?;
                assert_eq!(pair.all_reduce_one(pair.rank() as u64, Operation::Sum)?, 1);
                assert_eq!(pair.rank(), 1 - world.rank());
            }
            assert_eq!(all.all_reduce_one(round, Operation::Maximum)?, round);
            let error = session.communicator_of(&[0, 0], "twice").expect_err("a rank twice");
            assert!(error.to_string().contains("0 twice"), "{error}");
            let own = session.ranks("MPI://self")?;
            assert_eq!(own, [world.rank()]);
        }
        Ok(())
    });
}

#[test]
fn groups_are_connected_without_a_communicator() {
    on_ranks(3, "groups_are_connected_without_a_communicator", |world| {
        let session = Session::begin()?;
        let all = session.group("mpi://WORLD")?;
        let turned = session.communicator_from(&all.include(&[2, 1, 0])?, "turned")?;
        assert_eq!(turned.rank(), 2 - world.rank());
        let (pair, one) = (all.include(&[2, 0])?, all.include(&[1])?);
        let is_one = world.rank() == 1;
        let (own, remote) = if is_one { (&one, &pair) } else { (&pair, &one) };
        // Rank 0 of the world leads the pair, as rank 1 of it; who does not lead need not know the others.
        let led = if is_one { 0 } else { 1 };
        let known = (world.rank() < 2).then_some((remote, 1 - led));
        let bridge = session.intercommunicator(own, led, known, "bridge")?;
        assert_eq!((bridge.size(), bridge.remote_size()), (own.size(), remote.size()));
        if is_one {
            (0..2).try_for_each(|rank| bridge.send(&[rank as u64], rank, 7))?;
        } else {
            assert_eq!(bridge.receive_vec::<u64>(0, 7)?.0, [bridge.rank() as u64]);
        }
        assert_eq!(bridge.merge(is_one)?.size(), 3);
        let error = session.intercommunicator(own, 5, known, "x").expect_err("no such leader");
        assert_eq!(error.class(), ErrorClass::Root, "{error}");
        let error = session.communicator_from(&all.exclude(&[world.rank()])?, "x").expect_err("others");
        assert!(error.class() == ErrorClass::Group && error.to_string().contains("without this"), "{error}");
        let error = session.communicator_from(&all, &"x".repeat(1024)).expect_err("a long tag");
        assert!(error.class() == ErrorClass::Arg && error.to_string().contains("1024 bytes"), "{error}");
        // All members hear from their leader what it lacks.
        let error = session.intercommunicator(own, led, None, "nobody").expect_err("nobody knows the others");
        assert_eq!(error.class(), ErrorClass::Group, "{error}");
        Ok(())
    });
}

#[test]
fn those_that_are_left_go_on() {
    const NAME: &str = "those_that_are_left_go_on";
    if std::env::var(BODY).is_ok_and(|asked| asked == NAME) {
        let universe = posthaste::init().unwrap();
        let world = universe.world();
        let other = world.dup().unwrap();
        if world.rank() == 1 {
            std::process::abort();
        }
        let error = world.receive_one::<u32>(1, 0).unwrap_err();
        assert_eq!((error.class(), error.lost_rank()), (ErrorClass::ProcAborted, Some(1)), "{error}");
        assert_eq!((world.failed().size(), world.acknowledge(5)), (1, 1));
        let agreed = world.agree(!(1 << world.rank())).unwrap();
        assert!(agreed.flags & 0b1101 == 0 && agreed.unacknowledged.is_none(), "{agreed:?}");
        let agreed = other.agree(6).unwrap();
        assert_eq!(agreed.flags, 6);
        assert_eq!(agreed.unacknowledged.and_then(|why| why.lost_rank()), Some(1));
        if world.rank() == 0 {
            other.revoke();
        }
        assert_eq!(other.receive_one::<u32>([2, 0, 3, 0][world.rank()], 0).unwrap_err().lost_rank(), None);
        assert!(other.is_revoked());
        let left = other.shrink().unwrap();
        assert_eq!((left.size(), left.all_reduce_one(world.rank() as u64, Operation::Sum).unwrap()), (3, 5));
        println!("rank {} goes on", world.rank());
        drop((left, other, world));
        return universe.finalize().unwrap();
    }
    let output = launch_going_on(4, NAME);
    let (code, said) = (output.status.code(), text(&output));
    assert!(code == Some(134) && said.matches("goes on").count() == 3, "{code:?}\n{said}");
}

#[test]
fn a_vector_takes_a_message_of_any_length() {
    on_ranks(3, "a_vector_takes_a_message_of_any_length", |world| {
        for length in LENGTHS {
            if world.rank() == 0 {
                for _ in 1..world.size() {
                    let status = world.probe(ANY, 1)?;
                    let sender = status.source().expect("somebody sent it");
                    let (got, same) = world.receive_vec::<u32>(sender, 1)?;
                    assert_eq!(status, same);
                    assert_eq!(got.len(), length);
                    assert!(got.iter().enumerate().all(|(i, got)| *got == pattern(sender, i)));
                }
            } else {
                let mine: Vec<u32> = (0..length).map(|i| pattern(world.rank(), i)).collect();
                world.send(&mine, 0, 1)?;
            }
            world.barrier()?;
        }
        if world.rank() == 1 {
            world.send(&[1u8; 7], 2, 0)?;
        } else if world.rank() == 2 {
            let error = world.receive_vec::<u32>(1, 0).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Type);
            assert!(error.to_string().contains("is 7, expected a multiple of 4"), "{error}");
        }
        Ok(())
    });
}

#[test]
fn a_message_that_is_too_long_is_an_error_and_nothing_worse() {
    on_ranks(2, "a_message_that_is_too_long_is_an_error_and_nothing_worse", |world| {
        for length in LENGTHS.into_iter().filter(|length| *length > 2) {
            if world.rank() == 0 {
                world.send(&vec![5u16; length], 1, 0)?;
                world.send_one(6u16, 1, 0)?;
            } else {
                let mut guarded = vec![9u16; length];
                let error = world.receive(&mut guarded[1..length - 1], 0, 0).unwrap_err();
                assert_eq!((error.class(), error.call()), (ErrorClass::Truncate, "receive"));
                assert!(error.to_string().starts_with("rank 1: receive: "), "{error}");
                assert_eq!((guarded[0], guarded[length - 1]), (9, 9));
                assert_eq!(world.receive_one::<u16>(0, 0)?.0, 6);
            }
        }
        Ok(())
    });
}

#[test]
fn everybody_exchanges_with_everybody_in_one_scope() {
    on_ranks(5, "everybody_exchanges_with_everybody_in_one_scope", |world| {
        for length in [1, 300, 30_000] {
            let mine: Vec<u32> = (0..length).map(|i| pattern(world.rank(), i)).collect();
            let mut all = vec![vec![0u32; length]; world.size()];
            let total = world.scope(|s| {
                for (from, buffer) in all.iter_mut().enumerate() {
                    s.receive(buffer, from, 0)?;
                }
                let mut tested = s.send(&mine, 0, 0)?;
                let sends: Vec<_> =
                    (1..world.size()).map(|to| s.send(&mine, to, 0)).collect::<Result<_>>()?;
                for request in sends {
                    request.wait()?;
                }
                while tested.test()?.is_none() {}
                assert!(tested.test()?.is_some(), "the answer stays");
                tested.wait()?;
                Ok(17)
            })?;
            assert_eq!(total, 17);
            for (from, got) in all.iter().enumerate() {
                assert!(got.iter().enumerate().all(|(i, got)| *got == pattern(from, i)));
            }
        }
        Ok(())
    });
}

#[test]
fn a_scope_left_by_an_error_is_over() {
    on_ranks(2, "a_scope_left_by_an_error_is_over", |world| {
        let mut never = [7; 4];
        let error = world.scope(|s| {
            s.receive(&mut never, 1 - world.rank(), 99)?;
            s.send(&[1], 2, 0)?; // there is no rank 2
            Ok(())
        });
        let error = error.unwrap_err();
        assert_eq!((error.class(), error.call()), (ErrorClass::Rank, "send"));
        assert!(error.to_string().contains("dest is 2"), "{error}");
        assert_eq!(never, [7; 4]);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.scope(|s| {
                s.receive(&mut never, 1 - world.rank(), 99)?;
                if true {
                    panic!("as a user's mistake would");
                }
                Ok(())
            })
        }));
        assert!(panicked.is_err());
        // Neither receive is left behind to take this message.
        let mut got = [0];
        world.send_receive(&[world.rank()], 1 - world.rank(), 99, &mut got, 1 - world.rank(), 99)?;
        assert_eq!(got, [1 - world.rank()]);
        // A truncation that nobody waited for is reported by the scope.
        let mut short = [0u8; 1];
        let error = world.scope(|s| {
            s.send(&[1u8, 2, 3], 1 - world.rank(), 0)?;
            s.receive(&mut short, ANY, ANY)?;
            Ok(())
        });
        assert_eq!(error.unwrap_err().class(), ErrorClass::Truncate);
        Ok(())
    });
}

#[test]
fn columns_travel_between_halos() {
    const ROWS: usize = 40;
    const WIDTH: usize = 30;
    on_ranks(4, "columns_travel_between_halos", |world| {
        let (rank, size) = (world.rank(), world.size());
        let left = rank.checked_sub(1);
        let right = Some(rank + 1).filter(|right| *right < size);
        let value = |rank: usize, row: usize, column: usize| (rank * 10_000 + row * 100 + column) as f64;
        let mut field: Vec<f64> = (0..ROWS * WIDTH).map(|at| value(rank, at / WIDTH, at % WIDTH)).collect();
        let mut parts = Parts::new(&mut field);
        let (first, last) = (parts.read(1, ROWS, WIDTH)?, parts.read(WIDTH - 2, ROWS, WIDTH)?);
        let (from_left, from_right) = (parts.write(0, ROWS, WIDTH)?, parts.write(WIDTH - 1, ROWS, WIDTH)?);
        world.scope(|s| {
            s.receive(from_left, left, 1)?;
            s.receive(from_right, right, 2)?;
            s.send(first, left, 2)?;
            s.send(last, right, 1)?;
            Ok(())
        })?;
        for row in 0..ROWS {
            let expected = left.map_or(value(rank, row, 0), |left| value(left, row, WIDTH - 2));
            assert_eq!(field[row * WIDTH], expected);
            let expected = right.map_or(value(rank, row, WIDTH - 1), |right| value(right, row, 1));
            assert_eq!(field[row * WIDTH + WIDTH - 1], expected);
        }
        // A column may arrive as a row and a row as a column.
        if rank == 0 {
            world.send(&Strided::new(&field, 2, ROWS, WIDTH)?, 1, 0)?;
        } else if rank == 1 {
            let mut target = vec![0.0; 3 * ROWS];
            world.receive(&mut StridedMut::new(&mut target, 1, ROWS, 3)?, 0, 0)?;
            assert!((0..ROWS).all(|row| target[3 * row + 1] == value(0, row, 2) && target[3 * row] == 0.0));
        }
        Ok(())
    });
}

fn collectives(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for length in [0, 1, 3, 1000, 50_000] {
        for root in [0, size - 1] {
            let mut data: Vec<u32> =
                (0..length).map(|i| if rank == root { pattern(root, i) } else { 0 }).collect();
            world.broadcast(&mut data, root)?;
            assert!(data.iter().enumerate().all(|(i, got)| *got == pattern(root, i)));

            let mine: Vec<u32> = (0..length).map(|i| pattern(rank, i)).collect();
            let mut all = vec![0; if rank == root { size * length } else { 0 }];
            world.gather(&mine, &mut all, root)?;
            assert!(all.iter().enumerate().all(|(at, got)| *got == pattern(at / length, at % length)));

            let sum = |i| (0..size).fold(0u32, |sum, rank| sum.wrapping_add(pattern(rank, i)));
            let mut sums = vec![0; if rank == root { length } else { 0 }];
            world.reduce(&mine, &mut sums, Operation::Sum, root)?;
            assert!(sums.iter().enumerate().all(|(i, got)| *got == sum(i)));
        }
        let mine: Vec<u32> = (0..length).map(|i| pattern(rank, i)).collect();
        let mut all = vec![0; size * length];
        world.all_gather(&mine, &mut all)?;
        assert!(all.iter().enumerate().all(|(at, got)| *got == pattern(at / length, at % length)));

        let largest = |i| (0..size).map(|rank| pattern(rank, i)).max();
        let mut result = vec![0; length];
        world.all_reduce(&mine, &mut result, Operation::Maximum)?;
        assert!(result.iter().enumerate().all(|(i, got)| Some(*got) == largest(i)));
        let mut place = mine.clone();
        world.all_reduce_in_place(&mut place, Operation::Maximum)?;
        assert_eq!(place, result);

        // The same once more, all at once.
        let (mut again, mut everything) = (vec![0; length], vec![0; size * length]);
        world.scope(|s| {
            s.all_reduce(&mine, &mut again, Operation::Maximum)?;
            s.barrier()?;
            s.all_gather(&mine, &mut everything)?;
            Ok(())
        })?;
        assert_eq!((again, everything), (result, all));
    }
    assert_eq!(world.all_reduce_one(1.5, Operation::Sum)?, 1.5 * size as f64);
    assert_eq!(world.all_reduce_one(1u8 << rank, Operation::BitOr)?, ((1u16 << size) - 1) as u8);
    assert_eq!(world.all_reduce_one(rank, Operation::LogicalAnd)?, 0);
    assert_eq!(world.broadcast_one(rank, size - 1)?, size - 1);
    let error = world.all_reduce_one(1.0, Operation::BitAnd).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Op, "{error}");
    let error = world.broadcast(&mut [1], size).unwrap_err();
    assert_eq!((error.class(), error.call()), (ErrorClass::Root, "broadcast"), "{error}");
    let error = world.all_gather(&[1, 2], &mut vec![0; 2 * size + 1]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Count, "{error}");
    world.barrier()
}

#[test]
fn collectives_on_two_ranks() {
    on_ranks(2, "collectives_on_two_ranks", collectives);
}

#[test]
fn collectives_on_seven_ranks() {
    on_ranks(7, "collectives_on_seven_ranks", collectives);
}

#[test]
fn communicators_keep_their_messages_apart() {
    on_ranks(6, "communicators_keep_their_messages_apart", |world| {
        let (rank, size) = (world.rank(), world.size());
        let own = world.dup()?;
        assert_eq!((own.rank(), own.size()), (rank, size));
        // The same envelope on both; the duplicate's message is received first.
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        world.send_one(10 * rank, right, 3)?;
        own.send_one(10 * rank + 1, right, 3)?;
        assert_eq!(own.receive_one::<usize>(ANY, ANY)?.0, 10 * left + 1);
        assert_eq!(world.receive_one::<usize>(ANY, ANY)?.0, 10 * left);

        // Even and odd ranks in reverse order; rank 5 stays out.
        let color = (rank != 5).then_some(rank % 2);
        let half = world.split(color, -(rank as i32))?;
        let Some(half) = half else {
            assert_eq!(rank, 5);
            return world.barrier();
        };
        assert_eq!(half.size(), if rank % 2 == 0 { 3 } else { 2 });
        let mut members = vec![0; half.size()];
        half.all_gather(&[rank], &mut members)?;
        assert_eq!(members, if rank % 2 == 0 { vec![4, 2, 0] } else { vec![3, 1] });
        assert_eq!(half.all_reduce_one(rank, Operation::Sum)?, members.iter().sum());
        half.send_one(rank, half.size() - 1 - half.rank(), 0)?;
        let (got, status) = half.receive_one::<usize>(ANY, 0)?;
        assert_eq!(got, members[status.source().expect("somebody sent it")]);

        // Of the halves again, down to single ranks.
        let alone = half.split(Some(half.rank()), 0)?.unwrap();
        assert_eq!((alone.rank(), alone.size()), (0, 1));
        alone.barrier()?;
        world.barrier()
    });
}

#[test]
fn neighbours_exchange_blocks() {
    on_ranks(6, "neighbours_exchange_blocks", |world| {
        let rank = world.rank();
        // Two by three; the first dimension goes round, so the rank below is the one above.
        let plane = world.cartesian(&[2, 3], &[true, false])?.expect("a place for every rank");
        let (row, column) = (rank / 3, rank % 3);
        assert_eq!(plane.coordinates(rank)?, [row, column]);
        assert_eq!(plane.rank_at(&[-1, column as i32])?, 3 + column);
        let other = Some((rank + 3) % 6);
        let expected = [other, other, (column > 0).then(|| rank - 1), (column < 2).then(|| rank + 1)];
        assert_eq!(plane.sources()?, expected);
        assert_eq!(plane.destinations()?, expected);
        let blocks: Vec<usize> = (0..4).flat_map(|block| [rank * 10 + block, 7]).collect();
        let (mut came, mut later) = ([usize::MAX; 8], [usize::MAX; 8]);
        plane.neighbor_all_to_all(&blocks, &mut came)?;
        plane.dup()?.scope(|s| s.neighbor_all_to_all(&blocks, &mut later).map(drop))?;
        assert_eq!(came, later);
        for (block, source) in expected.iter().enumerate() {
            let wanted = source.map_or([usize::MAX; 2], |source| [source * 10 + (block ^ 1), 7]);
            assert_eq!(came[2 * block..][..2], wanted, "block {block} of rank {rank}");
        }

        // Rank 0 names two edges from each rank to the next.
        let edges: Vec<(usize, usize)> = (0..12).map(|at| (at % 6, (at + 1) % 6)).collect();
        let ring = world.distributed_graph(if rank == 0 { &edges } else { &[] })?;
        let before = (rank + 5) % 6;
        assert_eq!(ring.sources()?, [Some(before); 2]);
        let mut twice = [0; 2];
        ring.neighbor_all_to_all(&[rank, rank + 100], &mut twice)?;
        assert_eq!(twice, [before, before + 100]);
        ring.neighbor_all_gather(&[rank], &mut twice)?;
        assert_eq!(twice, [before; 2]);

        // A pair; the others are in no graph.
        let pair = world.graph(&[[1], [0]])?;
        assert_eq!(pair.is_some(), rank < 2);
        if let Some(pair) = pair {
            let (mine, mut theirs) = ([rank], [9]);
            pair.scope(|s| s.neighbor_all_gather(&mine, &mut theirs).map(drop))?;
            assert_eq!(theirs, [1 - rank]);
        }

        let error = world.neighbor_all_gather(&[1], &mut [0]).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Topology);
        let error = ring.neighbor_all_to_all(&[1, 2, 3], &mut [0; 2]).unwrap_err();
        assert!(error.to_string().contains("the length of data is 3, expected 2 times 1"), "{error}");
        for room in [1, 3] {
            let error = ring.neighbor_all_to_all(&[1, 2], &mut vec![0; room]).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Count);
            let error = ring.neighbor_all_gather(&[1], &mut vec![0; room]).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Count);
        }
        assert_eq!(world.adjacent_graph(&[6], &[]).unwrap_err().class(), ErrorClass::Rank);
        assert_eq!(world.cartesian(&[2], &[]).unwrap_err().class(), ErrorClass::Dims);
        assert_eq!(ring.shift(0, 1).unwrap_err().class(), ErrorClass::Topology);
        Ok(())
    });
}

#[test]
fn wrong_arguments_are_reported_and_change_nothing() {
    on_ranks(2, "wrong_arguments_are_reported_and_change_nothing", |world| {
        let class = |result: Result<()>| result.unwrap_err().class();
        assert_eq!(class(world.send(&[1], 2, 0)), ErrorClass::Rank);
        assert_eq!(class(world.send(&[1], usize::MAX, 0)), ErrorClass::Rank);
        assert_eq!(class(world.send(&[1], 1, -1)), ErrorClass::Tag);
        assert_eq!(class(world.receive(&mut [1], 0, -2).map(|_| ())), ErrorClass::Tag);
        assert_eq!(class(world.receive(&mut [1], 2, 0).map(|_| ())), ErrorClass::Rank);
        assert_eq!(class(world.split(Some(1 << 31), 0).map(|_| ())), ErrorClass::Arg);
        assert!(world.probe_now(ANY, ANY)?.is_none());
        // From and to nobody.
        let mut buffer = [3];
        world.send(&[1], None, 0)?;
        assert!(world.receive(&mut buffer, None, 0)?.source().is_none());
        assert!(world.receive_vec::<u8>(None, 0)?.0.is_empty());
        assert_eq!(buffer, [3]);
        Ok(())
    });
}

/// An error of the program's own, in the scopes that it is passed through.
#[derive(Debug)]
enum Failure {
    Mpi(posthaste::Error),
    Wrong(usize),
}

impl From<posthaste::Error> for Failure {
    fn from(error: posthaste::Error) -> Self {
        Self::Mpi(error)
    }
}

#[test]
fn a_program_has_errors_of_its_own() {
    on_ranks(2, "a_program_has_errors_of_its_own", |world| {
        let other = 1 - world.rank();
        let mine = [world.rank(); 3];
        let mut theirs = [usize::MAX; 3];
        // The exchange is over before the error leaves the scope.
        let failed = world.try_scope(|s| {
            s.send_receive(&mine, other, 0, &mut theirs, other, 0)?.wait()?;
            if mine[0] < 2 { Err(Failure::Wrong(mine[0])) } else { Ok(()) }
        });
        assert!(matches!(failed, Err(Failure::Wrong(rank)) if rank == world.rank()));
        assert_eq!(theirs, [other; 3]);
        let failed = world.try_scope_async(async |s| {
            s.send(&mine, other, 1)?;
            s.receive(&mut theirs, other, 1)?.await?;
            s.send(&mine, 2, 1)?.await?; // there is no rank 2
            Err::<(), Failure>(Failure::Wrong(0))
        });
        assert!(matches!(failed, Err(Failure::Mpi(why)) if why.class() == ErrorClass::Rank));
        world.barrier()
    });
}

#[test]
fn a_panic_ends_the_whole_job() {
    const NAME: &str = "a_panic_ends_the_whole_job";
    if std::env::var(BODY).is_ok_and(|asked| asked == NAME) {
        let universe: Universe = posthaste::init().unwrap();
        let world = universe.world();
        assert_ne!(world.rank(), 1, "rank 1 makes a mistake");
        // Would wait for ever.
        world.receive(&mut [0u8], 1, 0).unwrap();
        return;
    }
    let start = Instant::now();
    let output = launch(3, NAME);
    assert_eq!(output.status.code(), Some(101), "{}", text(&output));
    assert!(text(&output).contains("rank 1 makes a mistake"), "{}", text(&output));
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn the_examples_do_what_they_say() {
    build(&["-p", "posthaste", "--examples"]);
    let mut hello: Vec<String> = example("hello", 3).lines().map(String::from).collect();
    hello.sort();
    assert_eq!(hello, (0..3).map(|rank| format!("hello from rank {rank} of 3")).collect::<Vec<_>>());
    assert_eq!(example("ring", 4), "the ranks add up to 6, says rank 3\n");
    assert_eq!(example("async_ring", 4), "the ball was passed 400 times\n");
    assert_eq!(example("tokio", 3), "40 readings with 420 numbers\n");
    assert_eq!(example("scope", 4), "after 100 steps 4 ranks hold 1000.000000 units of heat\n");
}
