//! Wrong arguments, and operations that fail at some of their members.

use super::data::allgather;
use super::*;
use crate::buffer::OwnedBuf;
use crate::coll::plan::Draft;
use crate::datatype::Segment;
use crate::pt2pt::contexts::{Membership, Name};

#[test]
fn counts_that_differ_are_errors_and_do_no_harm() {
    let word = Datatype::of::<u64>();
    let sum = Op::from(Predefined::Sum);
    for oversubscribed in [false, true] {
        for n in [2, 3, 5, 8] {
            let mut room = Room::new(n, oversubscribed, u64::from(n), ROUGH);
            // Rank 1 has fewer elements than the others, then more.
            for (few, class) in [(true, ErrorClass::Truncate), (false, ErrorClass::NotSame)] {
                let count = |rank: u32| if (rank == 1) == few { 3 } else { 5 };
                let bufs: Vec<Words> = (0..n).map(|_| Words::new(&[7; 8])).collect();
                let statuses = room.run(|team, rank| {
                    coll::bcast(team, Operand::new(bufs[rank as usize].buf(), count(rank), &word), 0)
                });
                let error = statuses[1].error.as_ref().expect("an error at rank 1");
                assert_eq!(error.class(), class, "{error}");
                assert!(error.to_string().starts_with("MPI_Bcast: rank 0 sent"), "{error}");
                assert_eq!(bufs[1].get()[3..], [7; 5], "rank 1 wrote past its buffer");

                let recvs: Vec<Words> = (0..n).map(|_| Words::new(&[7; 8])).collect();
                let statuses = room.run(|team, rank| {
                    let (send, recv) = (bufs[rank as usize].buf(), recvs[rank as usize].buf());
                    coll::allreduce(team, Reduced::new(Some(send), recv, count(rank), &word), &sum)
                });
                assert!(statuses.iter().any(|status| status.error.is_some()));
                for (rank, recv) in (0..n).zip(&recvs) {
                    let room = if (rank == 1) == few { 3 } else { 5 };
                    assert_eq!(recv.get()[room..], vec![7; 8 - room], "rank {rank} wrote past its buffer");
                }
            }
            // Nothing is left over for the next operation.
            allgather(&mut room, n, 2, false, &word);
        }
    }
}

#[test]
fn wrong_arguments_are_named() {
    let word = Datatype::of::<u64>();
    let (float, band) = (Datatype::of::<f64>(), Op::from(Predefined::Band));
    let team = &teams(ContextId::WORLD, 3, false)[1];
    let none = || Operand::new(UserBuf::none(), 0, &word);
    for root in [-1, 3, i32::MAX] {
        let error = coll::bcast(team, none(), root).unwrap_err();
        assert_eq!(error.to_string(), format!("root is {root}, expected 0..=2"));
        assert_eq!(error.class(), ErrorClass::Root);
    }
    let error = coll::allreduce(team, Reduced::new(None, UserBuf::none(), 1, &float), &band).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Op);
    let error =
        coll::reduce(team, Reduced::new(None, UserBuf::none(), 1, &word), &band, 0).unwrap_err().to_string();
    assert!(error.contains("MPI_IN_PLACE at rank 1") && error.contains("rank 0"), "{error}");
    assert!(coll::gather(team, None, None, 0).unwrap_err().to_string().contains("sendbuf is MPI_IN_PLACE"));
    assert!(
        coll::gather(team, Some(none()), None, 1).unwrap_err().to_string().contains("recvbuf is missing")
    );
    let short = Blocks { buf: UserBuf::none(), counts: &[1], displacements: &[0], datatype: &word };
    assert!(coll::allgatherv(team, None, short).unwrap_err().to_string().contains("3 ranks"));
    assert!(coll::alltoallv(team, None, short).is_err());
    assert!(coll::reduce_scatter(team, Reduced::new(None, UserBuf::none(), &[1], &word), &band).is_err());
}

/// A device that fails does not keep the others waiting, and its rank hears of it.
#[test]
fn a_copy_that_fails_ends_the_operation_of_its_rank_alone() {
    let (pair, compose) = (pair(), compose());
    let device = simulated(3, 40);
    let mut failures = 0;
    for seed in 1..40 {
        let mut room = Room::new(4, seed % 2 == 0, seed, ROUGH);
        let on_device = |rank: u32| rank.is_multiple_of(2).then_some(&device);
        let bufs = |_| -> Vec<Buffer> { (0..4).map(|rank| Buffer::new(32, on_device(rank))).collect() };
        let [sends, recvs] = [0, 1].map(bufs);
        let statuses = room.run(|team, rank| {
            let (send, recv) = (sends[rank as usize].user_buf(), recvs[rank as usize].user_buf());
            coll::allreduce(team, Reduced::new(Some(send), recv, 2, &pair), &compose)
        });
        for (rank, status) in statuses.iter().enumerate() {
            let Some(error) = &status.error else { continue };
            assert!(rank % 2 == 0, "rank {rank}: {error} (seed {seed})");
            assert!(error.to_string().contains("the simulated device failed"), "{error}");
            failures += 1;
        }
    }
    assert!(failures > 20, "{failures} of 78 ranks");
}

/// A communicator that is freed while an operation runs in it is known until that has ended, however many others come
/// meanwhile: also where no receive of the operation is posted just then.
#[test]
fn a_loss_ends_what_runs_in_a_freed_communicator() {
    let context = ContextId::allocated(0, 0, ContextId::FIRST_COUNT).expect("a small count");
    let mut room = Room::new(3, false, 5, CALM);
    let word = Datatype::of::<u64>();
    let [greeting, long, back] = [1, 5000, 1].map(|len| OwnedBuf::new(len * 8));
    // They have spoken, or nobody would notice.
    let hello = room.bench.recv(0, 2, 1, &greeting);
    room.bench.send(2, 0, 1, &greeting, false);
    room.bench.finish(0, hello);
    // Ranks are not numbers of peers here: rank 0 is peer 2.
    let group = Arc::new(Group::of([2, 1, 0].map(Peer).to_vec()));
    let [_, near, own] = [0, 1, 2].map(|rank| Team::new(context, group.clone(), rank, false));
    let segment = |buf: &OwnedBuf| Segment::new(buf.user_buf(), buf.len() as u64 / 8, &word);
    let mut draft = Draft::new(&own, "test", 3);
    draft.send(1, segment(&long));
    draft.fence();
    draft.receive(0, segment(&back));
    let schedule = draft.done();
    let membership = Membership::new(Name::default(), group.clone(), 2);
    let learn = |room: &mut Room, context: ContextId, membership| {
        let engine = &mut room.bench.vcis[0].engine;
        engine.contexts.learn(context.collective(), membership, &engine.matching, &engine.requests);
    };
    learn(&mut room, context, membership.clone());
    let id = room.start(0, schedule);
    membership.free();
    for count in 1..300 {
        let next = ContextId::allocated(0, 0, ContextId::FIRST_COUNT + count * ContextId::STEP);
        let other = Membership::new(Name::default(), group.clone(), 2);
        learn(&mut room, next.expect("a small count"), other);
    }
    room.bench.network.cut(Peer(0), Peer(2));
    (0..200).for_each(|_| room.bench.step());
    assert!(room.bench.take(0, id).is_none(), "it waits for its message to leave");
    let mut draft = Draft::new(&near, "test", 1);
    draft.receive(2, segment(&long));
    let taken = room.start(1, draft.done());
    let statuses = room.finish(&[(1, taken), (0, id)]);
    assert!(statuses[0].error.is_none(), "{:?}", statuses[0].error);
    let error = statuses[1].error.as_ref().expect("the sender of the answer is gone");
    assert_eq!(error.class(), ErrorClass::ProcAborted, "{error}");
}
