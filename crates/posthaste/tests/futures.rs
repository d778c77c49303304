//! Requests as futures on several ranks: scopes, combinators, futures that are dropped and forgotten, streams, executors.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, join, join_all, select, try_join_all};
use futures::stream::{FuturesUnordered, StreamExt};
use posthaste::{ANY, Communicator, ErrorClass, Operation, OwnedBuffer, Result, Universe};

mod common;

use common::{BODY, launch, on_ranks, text};

/// More than any buffer on the way of a message holds.
const LONG: usize = 4_000_000;

/// Runs `body` on each of `ranks` ranks, each with a progress thread; `name` is that of the test.
fn on_ranks_with_progress(ranks: usize, name: &str, body: impl FnOnce(&Universe, &Communicator<'_>)) {
    if std::env::var(BODY).is_ok_and(|asked| asked == name) {
        let universe = posthaste::init_with_progress().unwrap();
        body(&universe, &universe.world());
        return universe.finalize().unwrap();
    }
    let output = launch(ranks, name);
    assert!(output.status.success(), "{}\n{}", output.status, text(&output));
}

/// A buffer that counts how often it is freed.
struct Counted(Vec<u64>, Arc<AtomicUsize>);

impl Counted {
    fn new(len: usize, freed: &Arc<AtomicUsize>) -> Self {
        Self((0..len as u64).collect(), Arc::clone(freed))
    }
}

impl OwnedBuffer for Counted {
    type Element = u64;

    fn elements(&self) -> &[u64] {
        &self.0
    }

    fn elements_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

/// Makes progress until a buffer has been freed.
fn await_freed(world: &Communicator<'_>, freed: &AtomicUsize) {
    while freed.load(Ordering::SeqCst) == 0 {
        assert!(world.probe_now(ANY, 999).unwrap().is_none());
    }
}

/// What the C library's processor clock says of this process, in ticks of 10 ms.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn requests_of_a_scope_are_awaited_in_any_order() {
    on_ranks(3, "requests_of_a_scope_are_awaited_in_any_order", |world| {
        let (rank, size) = (world.rank(), world.size());
        let mine: Vec<u64> = (0..20_000).map(|i| rank as u64 * 1_000_000 + i).collect();
        let mut all = vec![vec![0u64; 20_000]; size];
        let total = world.scope_async(async |s| {
            let receives: Result<Vec<_>> =
                all.iter_mut().enumerate().map(|(from, room)| s.receive(room, from, 0)).collect();
            let sends: Result<Vec<_>> = (0..size).map(|to| s.send(&mine, to, 0)).collect();
            let (received, sent) = join(join_all(receives?), try_join_all(sends?)).await;
            assert_eq!(sent?.len(), size);
            let mut total = 0;
            for status in received {
                total += status?.count::<u64>().unwrap();
            }
            s.barrier()?.await?;
            Ok(total)
        })?;
        assert_eq!(total, size * 20_000);
        for (from, got) in all.iter().enumerate() {
            assert!(got.iter().zip(0..).all(|(got, i)| *got == from as u64 * 1_000_000 + i));
        }
        Ok(())
    });
}

#[test]
fn a_scope_waits_for_requests_that_were_polled_and_forgotten() {
    on_ranks(2, "a_scope_waits_for_requests_that_were_polled_and_forgotten", |world| {
        let other = 1 - world.rank();
        let mine = vec![world.rank() as u64 + 1; LONG];
        let mut theirs = vec![0u64; LONG];
        world.scope_async(async |s| {
            let mut receive = s.receive(&mut theirs, other, 0)?;
            let mut context = Context::from_waker(Waker::noop());
            let polled = pin!(&mut receive).poll(&mut context);
            assert!(polled.is_pending(), "nothing has been sent");
            s.barrier()?.await?;
            std::mem::forget(receive);
            s.send(&mine, other, 0)?;
            Ok(())
        })?;
        assert!(theirs.iter().all(|got| *got == other as u64 + 1));
        // A body that fails takes back what has no message.
        let mut room = [0u8; 4];
        let failed: Result<()> = world.scope_async(async |s| {
            let mut never = s.receive(&mut room, other, 77)?;
            assert!(pin!(&mut never).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            s.send(&[1u8], 99, 0)?.await.map(drop)
        });
        assert_eq!(failed.unwrap_err().class(), ErrorClass::Rank);
        Ok(())
    });
}

#[test]
fn the_first_of_several_is_taken() {
    on_ranks(2, "the_first_of_several_is_taken", |world| {
        if world.rank() == 0 {
            let (early, late) =
                (world.receive_owned(vec![0u8; 3], 1, 1), world.receive_owned(vec![0u8; 3], 1, 2));
            world.scope_async(async |_| {
                let Either::Left(((status, got), late)) = select(early, late).await else {
                    panic!("its message is sent later")
                };
                assert_eq!((status?.tag(), got), (1, vec![1, 1, 1]));
                world.send_owned(vec![0u8; 0], 1, 0).await.0?;
                let (status, got) = late.await;
                assert_eq!((status?.tag(), got), (2, vec![2, 2, 2]));
                Ok(())
            })
        } else {
            world.send(&[1u8; 3], 0, 1)?;
            world.receive(&mut [0u8; 0], 0, 0)?;
            world.send(&[2u8; 3], 0, 2)
        }
    });
}

#[test]
fn a_dropped_receive_leaves_its_message_to_another() {
    on_ranks(2, "a_dropped_receive_leaves_its_message_to_another", |world| {
        if world.rank() == 0 {
            let freed = Arc::new(AtomicUsize::new(0));
            let mut receive = world.receive_owned(Counted::new(4, &freed), 1, 0);
            assert!(pin!(&mut receive).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            drop(receive);
            assert_eq!(freed.load(Ordering::SeqCst), 1, "it has been taken back");
            world.barrier()?;
            assert_eq!(world.receive_vec::<u64>(1, 0)?.0, [7, 8]);
            Ok(())
        } else {
            world.barrier()?;
            world.send(&[7u64, 8], 0, 0)
        }
    });
}

#[test]
fn a_dropped_send_goes_on_and_frees_its_buffer_at_its_end() {
    on_ranks(2, "a_dropped_send_goes_on_and_frees_its_buffer_at_its_end", |world| {
        if world.rank() == 0 {
            let freed = Arc::new(AtomicUsize::new(0));
            let mut send = world.send_owned(Counted::new(LONG, &freed), 1, 0);
            assert!(pin!(&mut send).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            drop(send);
            assert_eq!(freed.load(Ordering::SeqCst), 0, "its receiver has not begun");
            world.barrier()?;
            await_freed(world, &freed);
            assert_eq!(freed.load(Ordering::SeqCst), 1);
        } else {
            world.barrier()?;
            let (got, _) = world.receive_vec::<u64>(0, 0)?;
            assert!(got.len() == LONG && got.iter().zip(0..).all(|(got, i)| *got == i));
        }
        world.barrier()
    });
}

/// Whenever a receive is dropped, nobody writes into memory that has been freed: what is allocated there next stays as it is.
#[test]
fn nobody_writes_into_the_buffer_of_a_dropped_receive_once_it_is_freed() {
    on_ranks(2, "nobody_writes_into_the_buffer_of_a_dropped_receive_once_it_is_freed", |world| {
        for polls in 0..12 {
            if world.rank() == 0 {
                let freed = Arc::new(AtomicUsize::new(0));
                let mut receive = world.receive_owned(Counted::new(LONG, &freed), 1, 0);
                world.send_one(0u8, 1, 1)?;
                let mut over = false;
                for _ in 0..polls {
                    over |= pin!(&mut receive).poll(&mut Context::from_waker(Waker::noop())).is_ready();
                    if over {
                        break;
                    }
                }
                drop(receive);
                let others: Vec<Vec<u64>> = (0..3).map(|i| vec![0x5555 + i; LONG]).collect();
                // If it was taken back the message is ours; else its buffer is freed when it is whole.
                let taken_back = !over && freed.load(Ordering::SeqCst) == 1;
                if taken_back {
                    let (got, _) = world.receive_vec::<u64>(1, 0)?;
                    assert!(got.len() == LONG && got.iter().all(|got| *got == 1));
                }
                await_freed(world, &freed);
                for (other, i) in others.iter().zip(0..) {
                    assert!(other.iter().all(|got| *got == 0x5555 + i), "after {polls} polls");
                }
            } else {
                world.receive_one::<u8>(0, 1)?;
                world.send(&vec![1u64; LONG], 0, 0)?;
            }
            world.barrier()?;
        }
        Ok(())
    });
}

#[test]
fn a_forgotten_operation_goes_on_and_its_buffer_is_never_freed() {
    on_ranks(2, "a_forgotten_operation_goes_on_and_its_buffer_is_never_freed", |world| {
        let other = 1 - world.rank();
        let freed = Arc::new(AtomicUsize::new(0));
        let mut receive = world.receive_owned(Counted::new(LONG, &freed), other, 0);
        assert!(pin!(&mut receive).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        std::mem::forget(receive);
        world.barrier()?;
        std::mem::forget(world.send_owned(Counted::new(LONG, &freed), other, 0));
        // The first message is the forgotten receive's, so this is the second.
        let (sent, (status, got)) = {
            let send = world.send_owned(vec![world.rank() as u64], other, 0);
            let receive = world.receive_owned(vec![0u64; 1], other, 0);
            (send.wait().0, receive.wait())
        };
        sent?;
        assert_eq!((status?.count::<u64>(), got), (Some(1), vec![other as u64]));
        world.barrier()?;
        assert_eq!(freed.load(Ordering::SeqCst), 0);
        Ok(())
    });
}

#[test]
fn a_stream_gives_all_messages_in_their_order() {
    const MESSAGES: usize = 200;
    on_ranks(3, "a_stream_gives_all_messages_in_their_order", |world| {
        if world.rank() > 0 {
            for number in 0..MESSAGES {
                let len = if number % 20 == 19 { 100_000 } else { number };
                world.send(&vec![number as u32; len], 0, 5)?;
            }
            return world.barrier();
        }
        let mut next = vec![0; world.size()];
        let mut messages = world.incoming::<u32>(ANY, 5)?;
        world.scope_async(async |_| {
            for round in 0..2 * MESSAGES {
                let (message, status) = if round % 2 == 0 {
                    // Looking and giving up loses nothing.
                    let looked = futures::poll!(pin!(messages.next()));
                    match looked {
                        Poll::Ready(message) => message.unwrap()?,
                        Poll::Pending => messages.next().await.unwrap()?,
                    }
                } else {
                    StreamExt::next(&mut messages).await.unwrap()?
                };
                let sender = status.source().unwrap();
                let number = std::mem::replace(&mut next[sender], 0);
                next[sender] = number + 1;
                let len = if number % 20 == 19 { 100_000 } else { number };
                assert_eq!((message.len(), message.iter().all(|got| *got == number as u32)), (len, true));
            }
            Ok(())
        })?;
        assert_eq!(next[1..], [MESSAGES, MESSAGES]);
        drop(messages);
        let mut nobody = world.incoming::<u8>(None, 0)?;
        assert!(world.scope_async(async |_| Ok(nobody.next().await.is_none()))?);
        world.barrier()
    });
}

#[test]
fn a_next_message_that_is_given_up_again_and_again_is_not_lost() {
    on_ranks(2, "a_next_message_that_is_given_up_again_and_again_is_not_lost", |world| {
        if world.rank() == 1 {
            world.receive_one::<u8>(0, 1)?;
            return world.send(&vec![3u64; LONG], 0, 0);
        }
        let mut messages = world.incoming::<u64>(1, 0)?;
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(messages.next()).poll(&mut context).is_pending());
        world.send_one(0u8, 1, 1)?;
        loop {
            if let Poll::Ready(Some(message)) = pin!(messages.next()).poll(&mut context) {
                let (got, status) = message?;
                assert_eq!((status.source(), got.len(), got[LONG - 1]), (Some(1), LONG, 3));
                return Ok(());
            }
        }
    });
}

#[test]
fn collective_operations_are_futures() {
    on_ranks(4, "collective_operations_are_futures", |world| {
        let (rank, size) = (world.rank(), world.size());
        world.scope_async(async |_| {
            let settings = world.broadcast_owned(vec![if rank == 2 { 9 } else { 0 }; 3], 2);
            let sum = world.all_reduce_owned(vec![rank as u64; 1000], Operation::Sum);
            let ranks = world.all_gather_owned(vec![rank], vec![0; size]);
            world.barrier_async().await.0?;
            let (_, (everyone, everyones)) = ranks.await;
            assert_eq!((everyone, everyones), (vec![rank], (0..size).collect()));
            let (sum, settings) = join(sum, settings).await;
            sum.0?;
            assert_eq!((sum.1, settings.1), (vec![6; 1000], vec![9; 3]));
            let (refused, back) = world.broadcast_owned(vec![1], 4).await;
            assert_eq!((refused.unwrap_err().class(), back), (ErrorClass::Root, vec![1]));
            Ok(())
        })?;
        // One that is dropped goes on.
        drop(world.all_reduce_owned(vec![1u64; 100_000], Operation::Sum));
        world.barrier()
    });
}

#[test]
fn ten_thousand_are_awaited_at_once() {
    const MANY: usize = 10_000;
    on_ranks(2, "ten_thousand_are_awaited_at_once", |world| {
        let other = 1 - world.rank();
        let receives: FuturesUnordered<_> =
            (0..MANY).map(|tag| world.receive_owned(vec![0usize], other, tag as i32)).collect();
        let sends = (0..MANY).rev().map(|tag| world.send_owned(vec![tag], other, tag as i32));
        let sends: Vec<_> = sends.collect();
        world.scope_async(async |_| {
            let mut seen = vec![false; MANY];
            for (status, got) in receives.collect::<Vec<_>>().await {
                assert_eq!(status?.tag() as usize, got[0]);
                assert!(!std::mem::replace(&mut seen[got[0]], true));
            }
            assert!(seen.iter().all(|seen| *seen));
            assert!(join_all(sends).await.into_iter().all(|(status, _)| status.is_ok()));
            Ok(())
        })
    });
}

/// Somebody who waits for a message that never comes, or goes on with other things, is woken by other threads, too.
#[test]
fn other_threads_wake_a_future_that_sleeps() {
    on_ranks(2, "other_threads_wake_a_future_that_sleeps", |world| {
        let (tell, told) = oneshot::channel();
        let teller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300)); // longer than it takes to fall asleep
            tell.send(11).unwrap();
        });
        let never = world.receive_owned(vec![0u8; 1], ANY, 3);
        world.scope_async(async |_| {
            let Either::Left((Ok(11), _)) = select(told, never).await else {
                panic!("nothing has been sent")
            };
            Ok(())
        })?;
        teller.join().unwrap();
        world.barrier()
    });
}

async fn ping_pong(world: &Communicator<'_>, rounds: usize) {
    let other = 1 - world.rank();
    for round in 0..rounds {
        if world.rank() == 0 {
            world.send_owned(vec![round; 1 + round % 3 * 20_000], other, 0).await.0.unwrap();
        }
        let (got, _) = world.receive_vec_async::<usize>(other, 0).await.unwrap();
        assert!(got.iter().all(|got| *got == round));
        if world.rank() == 1 {
            world.send_owned(got, other, 0).await.0.unwrap();
        }
    }
}

#[test]
fn any_executor_runs_futures_without_a_progress_thread() {
    on_ranks(2, "any_executor_runs_futures_without_a_progress_thread", |world| {
        futures::executor::block_on(ping_pong(world, 100));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(ping_pong(world, 100));
        Ok(())
    });
}

#[test]
fn any_executor_sleeps_with_a_progress_thread() {
    on_ranks_with_progress(2, "any_executor_sleeps_with_a_progress_thread", |universe, world| {
        futures::executor::block_on(ping_pong(world, 100));
        universe.block_on(ping_pong(world, 100));
        idle(world, futures::executor::block_on);
    });
}

/// A buffer whose destructor panics.
struct Bomb(Counted);

impl OwnedBuffer for Bomb {
    type Element = u64;

    fn elements(&self) -> &[u64] {
        self.0.elements()
    }

    fn elements_mut(&mut self) -> &mut [u64] {
        self.0.elements_mut()
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("as a mistake of the program would");
    }
}

#[test]
fn a_buffer_that_panics_when_it_is_freed_stops_nobody() {
    on_ranks_with_progress(2, "a_buffer_that_panics_when_it_is_freed_stops_nobody", |_, world| {
        let (other, freed) = (1 - world.rank(), Arc::new(AtomicUsize::new(0)));
        let mut room = vec![0u64; LONG];
        world
            .scope(|s| {
                s.receive(&mut room, other, 0)?;
                drop(world.send_owned(Bomb(Counted::new(LONG, &freed)), other, 0));
                Ok(())
            })
            .unwrap();
        assert!(room.iter().zip(0..).all(|(got, i)| *got == i));
        await_freed(world, &freed);
        // An executor that sleeps is woken by the progress thread alone.
        futures::executor::block_on(ping_pong(world, 10));
    });
}

#[test]
fn an_operation_polled_after_its_end_panics_as_futures_may() {
    on_ranks(1, "an_operation_polled_after_its_end_panics_as_futures_may", |world| {
        for to in [0, 9] {
            let mut send = world.send_owned(vec![1u8], to, 0);
            let mut poll = || pin!(&mut send).poll(&mut Context::from_waker(Waker::noop()));
            let Poll::Ready((sent, buffer)) = poll() else { panic!("it is short") };
            assert_eq!((sent.is_ok(), buffer), (to == 0, vec![1]));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).unwrap_err();
        }
        // A request of a scope says the same again.
        let mut room = [0u8];
        world.scope_async(async |s| {
            let mut received = s.receive(&mut room, 0, 0)?;
            assert_eq!((&mut received).await?, (&mut received).await?);
            Ok(())
        })
    });
}

#[test]
fn our_executor_sleeps() {
    on_ranks(2, "our_executor_sleeps", |world| {
        idle(world, |receive| world.scope_async(async |_| Ok(receive.await)).unwrap());
        Ok(())
    });
}

/// One rank waits for a message for two seconds, and uses hardly any of the processor: less than a tenth of that.
fn idle<'u>(
    world: &Communicator<'u>,
    run: impl FnOnce(posthaste::InFlight<'u, Vec<u8>>) -> (Result<posthaste::Status>, Vec<u8>),
) {
    world.barrier().unwrap();
    if world.rank() == 1 {
        thread::sleep(Duration::from_secs(2));
        world.send(b"x", 0, 8).unwrap();
        return;
    }
    let before = cpu_ticks();
    let (status, got) = run(world.receive_owned(vec![0], 1, 8));
    let used = cpu_ticks() - before;
    assert_eq!((status.unwrap().count::<u8>(), got.as_slice()), (Some(1), b"x".as_slice()));
    assert!(used < 20, "{} ms of processor time in 2000 ms", used * 10);
}

#[test]
fn a_descriptor_tells_an_event_loop_what_has_finished() {
    on_ranks_with_progress(2, "a_descriptor_tells_an_event_loop_what_has_finished", |universe, world| {
        let descriptor = universe.descriptor().unwrap();
        let again = universe.descriptor().unwrap();
        assert_eq!(format!("{descriptor:?}"), format!("{again:?}"), "one for the process");
        let mut receive = world.receive_owned(vec![0u64; 2], 1 - world.rank(), 0);
        assert!(descriptor.poll(&mut receive).is_pending());
        world.barrier().unwrap();
        world.send(&[4u64, 5], 1 - world.rank(), 0).unwrap();
        let (status, got) = loop {
            readable(&descriptor);
            descriptor.drain();
            if let Poll::Ready(ended) = descriptor.poll(&mut receive) {
                break ended;
            }
        };
        assert_eq!((status.unwrap().count::<u64>(), got), (Some(2), vec![4, 5]));
    });
}

/// Sleeps until a descriptor can be read, as an event loop does.
fn readable(descriptor: &posthaste::Descriptor) {
    use std::os::fd::AsFd;
    let mut watched =
        [rustix::event::PollFd::from_borrowed_fd(descriptor.as_fd(), rustix::event::PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut watched, None).unwrap(), 1);
}

#[test]
fn without_threads_there_is_no_descriptor() {
    on_ranks(1, "without_threads_there_is_no_descriptor", |_| {
        let universe = posthaste::init()?;
        let why = universe.descriptor().unwrap_err().to_string();
        assert!(why.contains("POSTHASTE_PROGRESS_THREAD=1"), "{why}");
        Ok(())
    });
}
