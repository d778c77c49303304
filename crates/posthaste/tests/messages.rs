//! Messages of several ranks: modes, views, structures, requests that are started again, and requests of which some are over.

use posthaste::{
    ANY, Communicator, Equivalence, ErrorClass, Indexed, IndexedMut, Operation, Request, Result, Universe,
    test_all, wait_all, wait_any, wait_some,
};

mod common;

use common::on_ranks;

/// 19 bytes of 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Equivalence)]
#[repr(C)]
struct Loose {
    kind: u8,
    place: [f64; 2],
    weight: u16,
}

/// 12 bytes of 12.
#[derive(Clone, Copy, Debug, PartialEq, Equivalence)]
#[repr(C)]
struct Dense<T>(T, [u32; 2]);

fn loose(rank: usize, i: usize) -> Loose {
    Loose { kind: rank as u8, place: [i as f64, -(rank as f64)], weight: (i % 1000) as u16 }
}

const LENGTHS: [usize; 6] = [0, 1, 7, 900, 5000, 90_000];

#[test]
fn structures_arrive_as_they_were_sent() {
    on_ranks(2, "structures_arrive_as_they_were_sent", |world| {
        let (me, other) = (world.rank(), 1 - world.rank());
        for length in LENGTHS {
            let mine: Vec<Loose> = (0..length).map(|i| loose(me, i)).collect();
            let mut theirs = vec![Loose::default(); length];
            let status = world.send_receive(&mine, other, 0, &mut theirs, other, 0)?;
            assert_eq!(status.bytes(), 19 * length as u64);
            assert_eq!(status.count::<Loose>(), Some(length));
            assert!(theirs.iter().enumerate().all(|(i, got)| *got == loose(other, i)));

            let mine = vec![Dense(me as f32, [1, 2]); length];
            let (sent, got) =
                (world.send_buffered(&mine, other, 1), world.receive_vec::<Dense<f32>>(other, 1)?.0);
            sent?;
            assert_eq!(got, vec![Dense(other as f32, [1, 2]); length]);
        }
        // A structure is the numbers that it is made of.
        world.send_buffered(&Dense(me as u32, [8, 9]), other, 2)?;
        assert_eq!(world.receive_vec::<u32>(other, 2)?.0, [other as u32, 8, 9]);
        // Collective operations move structures, and refuse to add them.
        let mut all = [Loose::default(); 2];
        world.all_gather(&[loose(me, 5)], &mut all)?;
        assert_eq!(all, [loose(0, 5), loose(1, 5)]);
        assert_eq!(world.broadcast_one(loose(me, 3), 1)?, loose(1, 3));
        let error = world.all_reduce(&[loose(me, 1)], &mut [Loose::default()], Operation::Sum).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Op);
        Ok(())
    });
}

#[test]
fn every_mode_delivers() {
    on_ranks(2, "every_mode_delivers", |world| {
        for length in LENGTHS {
            let data: Vec<u64> = (0..length as u64).collect();
            if world.rank() == 0 {
                let mut room = vec![9; length];
                for mode in 0..4 {
                    world.scope(|s| {
                        let incoming = s.receive(&mut room, 1, mode)?;
                        world.send_one(0u8, 1, 9)?; // the receive is there
                        assert_eq!(incoming.wait()?.count::<u64>().unwrap_or(0), length);
                        Ok(())
                    })?;
                    assert_eq!(room, data);
                    room.fill(9);
                }
            } else {
                for mode in 0..4 {
                    world.receive_one::<u8>(0, 9)?;
                    match mode {
                        0 => world.send(&data, 0, mode)?,
                        1 => world.send_synchronous(&data, 0, mode)?,
                        2 => world.send_ready(&data, 0, mode)?,
                        _ => world.send_buffered(&data, 0, mode)?,
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn ranges_of_a_slice_travel_as_one_message() {
    on_ranks(2, "ranges_of_a_slice_travel_as_one_message", |world| {
        let values: Vec<i32> = (0..50_000).collect();
        if world.rank() == 0 {
            world.send(&Indexed::new(&values, &[10..20, 0..5, 30_000..50_000])?, 1, 0)?;
        } else {
            let mut room = vec![-1; 50_000];
            world.receive(&mut IndexedMut::new(&mut room, &[5..20, 100..20_100])?, 0, 0)?;
            assert!(room[5..15].iter().eq(&values[10..20]) && room[15..20] == values[..5]);
            assert!(room[100..20_100] == values[30_000..]);
            assert!(room[..5].iter().chain(&room[20..100]).chain(&room[20_100..]).all(|left| *left == -1));
        }
        Ok(())
    });
}

#[test]
fn an_attached_buffer_is_the_limit() {
    const NAME: &str = "an_attached_buffer_is_the_limit";
    if std::env::var(common::BODY).is_ok_and(|asked| asked == NAME) {
        let universe = posthaste::init().unwrap();
        let world = universe.world();
        // Long enough to stay until its receive begins.
        let data = vec![3u8; 1 << 20];
        if world.rank() == 0 {
            universe.attach_buffer((1 << 20) + 10).unwrap();
            assert_eq!(universe.attach_buffer(1).unwrap_err().class(), ErrorClass::Buffer);
            world.send_buffered(&data, 1, 0).unwrap();
            let full = world.send_buffered(&data, 1, 0).unwrap_err();
            assert_eq!(full.class(), ErrorClass::Buffer);
            world.send_one(1u8, 1, 1).unwrap();
            assert_eq!(universe.detach_buffer().unwrap(), Some((1 << 20) + 10));
        } else {
            world.receive_one::<u8>(0, 1).unwrap();
            assert_eq!(world.receive_vec::<u8>(0, 0).unwrap().0, data);
        }
        return universe.finalize().unwrap();
    }
    let output = common::launch(2, NAME);
    assert!(output.status.success(), "{}\n{}", output.status, common::text(&output));
}

#[test]
fn a_message_taken_out_is_received_or_discarded() {
    on_ranks(3, "a_message_taken_out_is_received_or_discarded", |world| {
        let long = vec![world.rank() as u32; 300_000];
        if world.rank() > 0 {
            world.send(&long, 0, 0)?;
            world.send_synchronous(&long, 0, 0)?; // over when it is discarded
            return Ok(());
        }
        for _ in 0..2 {
            let message = world.matched_probe(ANY, 0)?;
            let source = message.status().source().expect("somebody sent it");
            let (got, status) = message.receive_vec::<u32>()?;
            assert_eq!((status.source(), got), (Some(source), vec![source as u32; 300_000]));
            drop(world.matched_probe(source, 0)?);
        }
        assert!(world.probe_now(ANY, ANY)?.is_none());
        Ok(())
    });
}

#[test]
fn a_full_table_of_requests_loses_no_message_that_was_taken_out() {
    const NAME: &str = "a_full_table_of_requests_loses_no_message_that_was_taken_out";
    if std::env::var(common::BODY).is_ok_and(|asked| asked == NAME) {
        let universe = posthaste::init().unwrap();
        return full_table(&universe, &universe.world()).unwrap();
    }
    let output = common::launch_with(2, NAME, &[("POSTHASTE_REQUESTS", "64")]);
    assert!(output.status.success(), "{}\n{}", output.status, common::text(&output));
}

fn full_table(universe: &Universe, world: &Communicator<'_>) -> Result<()> {
    const LENGTH: usize = 300_000;
    if world.rank() == 1 {
        // Each is over when somebody receives or discards it.
        return (1..=4).try_for_each(|tag| world.send_synchronous(&vec![tag; LENGTH], 0, tag));
    }
    let (mut rooms, mut again) = ([0u8; 65], [0u8]);
    world.scope(|s| {
        let (mut receives, mut full) = (Vec::new(), None);
        for room in &mut rooms {
            match s.receive(room, 1, 99) {
                Ok(receive) => receives.push(receive),
                Err(error) => full = Some(error),
            }
        }
        let full = full.expect("64 requests and no more");
        assert_eq!((full.class(), receives.len()), (ErrorClass::NoMem, 64), "{full}");
        // Received, discarded, kept by a stream for the next time, and discarded by the end of a stream.
        assert_eq!(world.matched_probe(1, 1)?.receive_vec::<i32>()?.0, vec![1; LENGTH]);
        drop(world.matched_probe(1, 2)?);
        let mut messages = world.incoming::<i32>(1, 3)?;
        let refused = universe.block_on(messages.next()).expect("it goes on").unwrap_err();
        assert_eq!(refused.class(), ErrorClass::NoMem, "{refused}");
        receives.pop().map(|mut receive| {
            receive.cancel();
            receive.wait()
        });
        let (got, status) = universe.block_on(messages.next()).expect("it goes on")?;
        assert_eq!((status.tag(), got), (3, vec![3; LENGTH]));
        receives.push(s.receive(&mut again, 1, 99)?);
        let mut messages = world.incoming::<i32>(1, 4)?;
        universe.block_on(messages.next()).expect("it goes on").unwrap_err();
        drop(messages);
        receives.iter_mut().for_each(Request::cancel);
        wait_all(receives).map(drop)
    })
}

#[test]
fn both_directions_are_one_request() {
    on_ranks(3, "both_directions_are_one_request", |world| {
        let (rank, next, before) = (world.rank(), (world.rank() + 1) % 3, (world.rank() + 2) % 3);
        for length in LENGTHS {
            let mine: Vec<Loose> = (0..length).map(|i| loose(rank, i)).collect();
            let (mut theirs, mut replaced) = (vec![Loose::default(); length], mine.clone());
            world.scope(|s| {
                let both = s.send_receive(&mine, next, 1, &mut theirs, before, ANY)?;
                let mut replace = s.send_receive_replace(&mut replaced, before, 2, next, 2)?;
                let status = both.wait()?;
                assert_eq!((status.source(), status.count::<Loose>()), (Some(before), Some(length)));
                while replace.test()?.is_none() {}
                Ok(())
            })?;
            assert!(theirs.iter().enumerate().all(|(i, got)| *got == loose(before, i)));
            assert!(replaced.iter().enumerate().all(|(i, got)| *got == loose(next, i)));
        }
        // Where one cannot be started, neither goes on, and a scope left by an error takes the receive back.
        let (mut room, mut other) = ([0u8], [0u8]);
        let error =
            world.scope(|s| s.send_receive(&[1u8], next, -1, &mut room, before, 5).map(drop)).unwrap_err();
        assert_eq!((error.class(), error.call()), (ErrorClass::Tag, "send_receive"));
        let failed: Result<()> = world.scope(|s| {
            s.send_receive(&[2u8], None, 0, &mut other, before, 5)?;
            s.send(&[3u8], 3, 0).map(drop)
        });
        assert_eq!(failed.unwrap_err().class(), ErrorClass::Rank);
        world.barrier()?;
        world.send_receive(&[rank as u8], next, 5, &mut room, before, 5)?;
        assert_eq!((room, other), ([before as u8], [0]));
        Ok(())
    });
}

#[test]
fn buffered_messages_leave_the_data_at_once() {
    on_ranks(2, "buffered_messages_leave_the_data_at_once", |world| {
        let other = 1 - world.rank();
        for length in LENGTHS {
            let mut data = vec![1u64; length];
            let mut rooms = [vec![0u64; length], vec![0u64; length]];
            world.scope(|s| {
                for number in [1, 2] {
                    data.fill(number);
                    let mut sent = s.send_buffered(&data, other, 0)?;
                    assert!(sent.test()?.is_some_and(|status| status.source().is_none()));
                }
                let mut requests =
                    rooms.iter_mut().map(|room| s.receive(room, other, 0)).collect::<Result<Vec<_>>>()?;
                requests.push(s.send_buffered(&data, None, 0)?);
                assert_eq!(wait_any(&mut requests[2..])?.map(|(at, _)| at), Some(0));
                wait_all(requests).map(drop)
            })?;
            assert!(rooms[0].iter().all(|got| *got == 1) && rooms[1].iter().all(|got| *got == 2));
            let mut send = world.persistent_send_buffered(&data, other, 1)?;
            for number in 0..3 {
                send.data_mut()?.fill(number);
                send.start()?;
            }
            for number in 0..3 {
                assert_eq!(world.receive_vec::<u64>(other, 1)?.0, vec![number; length]);
            }
        }
        Ok(())
    });
}

#[test]
fn too_much_memory_is_an_error() {
    on_ranks(1, "too_much_memory_is_an_error", |world| {
        let refused = |error: posthaste::Error| {
            assert_eq!(error.class(), ErrorClass::NoMem, "{error}");
            assert!(error.to_string().starts_with("rank 0: "), "{error}");
        };
        refused(world.persistent_receive::<u64>(usize::MAX, 0, 0).unwrap_err());
        refused(world.persistent_receive::<u8>(usize::MAX / 2, 0, 0).unwrap_err());
        refused(world.partitioned_send::<f64>(7, usize::MAX, 0, 0).map(drop).unwrap_err());
        refused(world.partitioned_receive::<f64>(7, usize::MAX / 8, 0, 0).map(drop).unwrap_err());
        Ok(())
    });
}

#[test]
fn requests_are_told_of_one_by_one() {
    on_ranks(4, "requests_are_told_of_one_by_one", |world| {
        if world.rank() > 0 {
            world.receive_one::<u8>(0, 0)?;
            return world.send(&[world.rank(); 100], 0, 1);
        }
        let mut rooms = [[0usize; 100]; 3];
        world.scope(|s| {
            let mut requests = Vec::new();
            for (room, source) in rooms.iter_mut().zip(1..) {
                requests.push(s.receive(room, source, 1)?);
            }
            // They end in the order in which they are asked for.
            world.send_one(0u8, 2, 0)?;
            assert_eq!(
                wait_any(&mut requests)?.map(|(at, status)| (at, status.source())),
                Some((1, Some(2)))
            );
            world.send_one(0u8, 3, 0)?;
            let ended = wait_some(&mut requests)?;
            assert_eq!(ended.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2]);
            world.send_one(0u8, 1, 0)?;
            let sources: Vec<_> = wait_all(requests)?.iter().map(|status| status.source()).collect();
            assert_eq!(sources, [Some(1), Some(2), Some(3)]);
            Ok(())
        })?;
        assert_eq!(rooms.map(|room| room[99]), [1, 2, 3]);
        Ok(())
    });
}

/// The last of several requests to end needs progress, though others are over.
#[test]
fn all_requests_are_tested_until_the_last_is_over() {
    on_ranks(2, "all_requests_are_tested_until_the_last_is_over", |world| {
        let (mine, mut theirs) = (vec![1u64; 100_000], [[0u8; 1]; 2]);
        let (mut long, other) = (vec![0u64; 100_000], 1 - world.rank());
        world.scope(|s| {
            let mut requests = Vec::new();
            for room in &mut theirs {
                requests.push(s.receive(room, other, 0)?);
            }
            requests.push(s.receive(&mut long, other, 1)?);
            requests.push(s.send(&mine, other, 1)?);
            world.send(&[1u8], other, 0)?;
            assert_eq!(wait_any(&mut requests[..1])?.map(|(at, _)| at), Some(0));
            world.send(&[2u8], other, 0)?;
            while test_all(&mut requests)?.is_none() {
                std::thread::yield_now(); // both ranks may share a CPU
            }
            assert_eq!(test_all(&mut requests)?.expect("they are over").len(), 4);
            Ok(())
        })?;
        assert_eq!((theirs, long), ([[1], [2]], mine));
        Ok(())
    });
}

#[test]
fn a_cancelled_send_has_one_outcome() {
    on_ranks(2, "a_cancelled_send_has_one_outcome", |world| {
        let long = vec![1u8; 1 << 20];
        if world.rank() == 0 {
            let cancelled = world.scope(|s| {
                let mut request = s.send_synchronous(&long, 1, 0)?;
                request.cancel();
                Ok(request.wait()?.is_cancelled())
            })?;
            world.send_one(u8::from(cancelled), 1, 1)?;
        } else {
            let cancelled = world.receive_one::<u8>(0, 1)?.0 == 1;
            assert_eq!(world.probe_now(0, 0)?.is_some(), !cancelled);
            if !cancelled {
                world.receive_vec::<u8>(0, 0)?;
            }
        }
        Ok(())
    });
}

#[test]
fn persistent_operations_start_again() {
    on_ranks(2, "persistent_operations_start_again", |world| {
        let (me, other) = (world.rank(), 1 - world.rank());
        for length in LENGTHS {
            let mut send = world.persistent_send(&vec![Loose::default(); length], other, 4)?;
            let mut receive = world.persistent_receive::<Loose>(length, other, 4)?;
            for round in 0..5 {
                receive.start()?;
                assert_eq!(receive.start().unwrap_err().class(), ErrorClass::Request);
                for (i, value) in send.data_mut()?.iter_mut().enumerate() {
                    *value = loose(me, i + round);
                }
                send.start()?;
                assert!(receive.is_active() && receive.data().is_err() && send.data_mut().is_err());
                receive.wait()?;
                send.wait()?;
                assert!(receive.data()?.iter().enumerate().all(|(i, got)| *got == loose(other, i + round)));
            }
            // One that nobody sends to is taken back by its end.
            world.persistent_receive::<u8>(1, other, 5)?.start()?;
        }
        Ok(())
    });
}

#[test]
fn partitions_arrive_however_they_are_divided() {
    on_ranks(2, "partitions_arrive_however_they_are_divided", |world| {
        const EACH: usize = 3000;
        if world.rank() == 0 {
            let mut send = world.partitioned_send::<u32>(6, EACH, 1, 0)?;
            assert_eq!(send.ready(0).unwrap_err().class(), ErrorClass::Request);
            for round in 0..3 {
                send.start()?;
                for partition in [5, 1, 0, 4, 2, 3] {
                    assert_eq!(send.wait().unwrap_err().class(), ErrorClass::Request);
                    send.partition_mut(partition)?.fill((round * 10 + partition) as u32);
                    send.ready(partition)?;
                    assert!(send.partition_mut(partition).is_err() && send.ready(partition).is_err());
                }
                send.wait()?;
            }
        } else {
            let mut receive = world.partitioned_receive::<u32>(2, 3 * EACH, 0, 0)?;
            for round in 0..3 {
                receive.start()?;
                receive.wait()?;
                for partition in 0..2 {
                    let wanted = (0..3 * EACH).map(|i| (round * 10 + 3 * partition + i / EACH) as u32);
                    assert!(receive.partition(partition)?.iter().copied().eq(wanted));
                }
                assert!(receive.partition(2).is_err());
            }
        }
        Ok(())
    });
}

#[cfg(feature = "serde")]
#[test]
fn values_of_any_type_travel() {
    use std::collections::BTreeMap;

    on_ranks(3, "values_of_any_type_travel", |world| {
        let of = |rank: usize| BTreeMap::from([(format!("rank {rank}"), vec![Some(rank); rank * 1000])]);
        let (next, before) = ((world.rank() + 1) % 3, (world.rank() + 2) % 3);
        world.scope(|_| {
            if world.rank() == 0 {
                world.send_value(&of(0), next, 0)?;
            }
            let (got, _) = world.receive_value::<BTreeMap<String, Vec<Option<usize>>>>(before, 0)?;
            assert_eq!(got, of(before));
            if world.rank() > 0 {
                world.send_value(&of(world.rank()), next, 0)?;
            }
            Ok(())
        })?;
        assert_eq!(world.broadcast_value((world.rank() == 2).then(|| of(2)), 2)?, of(2));
        // Nobody waits for a root that has nothing.
        assert!(world.broadcast_value(None::<u8>, 1).is_err());
        world.barrier()
    });
}
