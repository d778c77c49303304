//! Tests of the analysis with states made by hand.

use super::*;
use crate::explain::List;

const NOW: Duration = Duration::from_secs(100);

fn message(part: Part, peer: u32, tag: i32) -> Message {
    Message { part, peer: Some(peer), rank: peer as i32, tag, communicator: Some(0), bytes: 4 }
}

fn from_anybody() -> Message {
    Message { peer: None, rank: ANY_SOURCE, ..message(Part::Posted, 0, 0) }
}

fn waiting(call: &str, any: bool, goals: Vec<Goal>) -> State {
    let since = NOW - Duration::from_secs(2);
    let wait = Wait { call: call.into(), since, any, goals, more: 0 };
    let names = vec![(0, "MPI_COMM_WORLD".into()), (4, "row".into())];
    let report =
        Report { at: NOW - Duration::from_millis(100), waits: vec![wait], names, ..Report::default() };
    State { pid: 7, life: Life::Inside, process: Process::Asleep, report: Some(report) }
}

fn for_message(call: &str, message: Message) -> State {
    waiting(call, false, vec![Goal::Message(message)])
}

fn receiving(from: u32, tag: i32) -> State {
    for_message("MPI_Recv", message(Part::Posted, from, tag))
}

fn in_operation(name: &str, number: i32, peers: &[u32]) -> State {
    let messages = peers.iter().map(|peer| message(Part::Posted, *peer, number)).collect();
    let operation = Operation { name: name.into(), communicator: 0, number, root: -1, messages };
    waiting(name, false, vec![Goal::Operation(operation)])
}

fn not_waiting(life: Life, process: Process) -> State {
    State { pid: 7, life, process, report: Some(Report::default()) }
}

fn with(mut state: State, change: impl FnOnce(&mut Report)) -> State {
    change(state.report.as_mut().unwrap());
    state
}

/// What follows from the states, without the lines about each rank.
fn so(states: &[State]) -> Vec<String> {
    let text = explain(states, NOW);
    text.lines().filter_map(|line| line.strip_prefix("  so: ")).map(Into::into).collect()
}

#[test]
fn persistent_operations_are_told_from_those_that_are_done_once() {
    let again = |name: &str, number, peers: &[u32]| in_operation(name, number | PERSISTENT, peers);
    assert_eq!(
        so(&[again("MPI_Scan", 7, &[1]), again("MPI_Reduce", 7, &[])])[0],
        "rank 0 is in MPI_Scan and rank 1 in MPI_Reduce, both as persistent collective operation 7 of MPI_COMM_WORLD: \
         all ranks must call the same"
    );
    // The number alone says nothing, nor does the order.
    for other in [in_operation("MPI_Reduce", 7, &[0]), again("MPI_Reduce", 9, &[0])] {
        let said = so(&[again("MPI_Scan", 7, &[1]), other]);
        assert!(said.iter().all(|line| !line.contains("must call the same")), "{said:?}");
        let absent = "rank 1 has not come to MPI_Scan, persistent collective operation 7 of MPI_COMM_WORLD, where rank 0 waits";
        assert!(said.iter().any(|line| line == absent), "{said:?}");
    }
}

#[test]
fn cycles_are_deadlocks_and_who_waits_for_them_is_stuck() {
    let send = |to| for_message("MPI_Ssend", message(Part::ForMatch, to, 5));
    assert_eq!(so(&[send(1), send(0)]), ["rank 0 waits for rank 1, which waits for rank 0: a deadlock"]);
    assert_eq!(
        so(&[receiving(1, 0), receiving(2, 0), receiving(0, 0), receiving(1, 0)]),
        [
            "rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0: a deadlock",
            "rank 3 waits for rank 1, which is stuck"
        ]
    );
    let many: Vec<State> = [1, 0, 1, 1, 2].map(|from| receiving(from, 0)).into();
    assert_eq!(
        so(&many)[1..],
        ["ranks 2 and 3 wait for rank 1, which is stuck", "rank 4 waits for rank 2, which is stuck"]
    );
    assert_eq!(
        so(&[receiving(1, 0), receiving(1, 0)]),
        ["rank 1 waits for itself: a deadlock", "rank 0 waits for rank 1, which is stuck"]
    );
}

#[test]
fn where_several_threads_call_another_one_might_help() {
    let threaded = |from| with(receiving(from, 0), |report| report.threaded = true);
    let found = so(&[threaded(1), threaded(0)]);
    assert!(found[0].ends_with("rank 0: a deadlock, unless another thread of theirs helps"), "{found:?}");
    // Of two calls that wait one may end, and its thread go on.
    let two = with(threaded(1), |report| {
        let other = waiting("MPI_Recv", false, vec![Goal::Message(message(Part::Posted, 2, 0))]);
        report.waits.extend(other.report.unwrap().waits);
    });
    let found = so(&[two, threaded(0), not_waiting(Life::Inside, Process::Running)]);
    assert_eq!(found, ["rank 0 waits for rank 2, which is outside MPI, computing"]);
}

#[test]
fn a_wait_that_has_just_begun_is_no_deadlock() {
    let recent = with(receiving(0, 0), |report| report.waits[0].since = NOW - Duration::from_millis(100));
    assert_eq!(so(&[receiving(1, 0), recent]), ["no rank is known to be stuck"]);
    // It has not looked since the other one began to wait: a message may be there.
    let starved = with(receiving(0, 0), |report| report.at = NOW - Duration::from_secs(3));
    assert_eq!(so(&[receiving(1, 0), starved]), ["no rank is known to be stuck"]);
}

#[test]
fn any_source_is_stuck_only_if_all_others_are() {
    let any = || for_message("MPI_Recv", from_anybody());
    let computing = || not_waiting(Life::Inside, Process::Running);
    assert!(so(&[any(), receiving(0, 0), receiving(0, 0)])[0].ends_with("a deadlock"));
    assert_eq!(so(&[any(), any()]), ["rank 0 waits for rank 1, which waits for rank 0: a deadlock"]);
    assert_eq!(so(&[any()]), ["rank 0 waits for itself: a deadlock"]);
    assert_eq!(
        so(&[any(), receiving(0, 0), computing()]),
        ["rank 0 waits for rank 2, which is outside MPI, computing"]
    );
    assert_eq!(so(&[any(), computing(), computing()]), ["no rank is known to be stuck"]);
}

#[test]
fn one_of_several_is_stuck_only_if_all_of_them_are() {
    let goals =
        || vec![Goal::Message(message(Part::Posted, 1, 0)), Goal::Message(message(Part::Posted, 2, 0))];
    let others = || [receiving(0, 0), not_waiting(Life::Inside, Process::Running)];
    let [first, second] = others();
    assert!(so(&[waiting("MPI_Waitall", false, goals()), first, second])[0].ends_with("a deadlock"));
    let [first, second] = others();
    let found = so(&[waiting("MPI_Waitany", true, goals()), first, second]);
    assert_eq!(found, ["rank 0 waits for rank 2, which is outside MPI, computing"]);
}

#[test]
fn data_under_way_and_missing_room_hold_nobody() {
    for part in [Part::Reassembly, Part::ForRoom] {
        assert_eq!(
            so(&[for_message("MPI_Wait", message(part, 1, 0)), receiving(0, 1)]),
            ["no rank is known to be stuck"]
        );
    }
}

#[test]
fn ranks_that_do_not_wait_are_named_with_what_they_do() {
    for (life, process, what) in [
        (Life::Inside, Process::Running, "is outside MPI, computing"),
        (Life::Inside, Process::Asleep, "is outside MPI, asleep in a call to the system"),
        (Life::Inside, Process::Stopped, "is stopped by a signal or a debugger"),
        (Life::Absent, Process::Running, "has not called MPI_Init of this library"),
    ] {
        let found = so(&[receiving(1, 0), not_waiting(life, process), receiving(1, 0)]);
        assert_eq!(found, [format!("ranks 0 and 2 wait for rank 1, which {what}")]);
    }
    for (life, process, what) in [
        (Life::Finalised, Process::Running, "has left MPI (MPI_Finalize)"),
        (Life::Inside, Process::Gone, "has ended"),
    ] {
        let found = so(&[receiving(1, 0), not_waiting(life, process)]);
        assert_eq!(found, [format!("rank 0 waits for rank 1, which {what}: that never ends")]);
    }
    let stopped = State { process: Process::Stopped, ..receiving(0, 0) };
    assert_eq!(
        so(&[receiving(1, 0), stopped]),
        ["rank 0 waits for rank 1, which is stopped by a signal or a debugger in MPI_Recv"]
    );
}

#[test]
fn different_collective_operations_are_named() {
    assert_eq!(
        so(&[in_operation("MPI_Barrier", 3, &[1]), in_operation("MPI_Bcast", 3, &[0])]),
        [
            "rank 0 waits for rank 1, which waits for rank 0: a deadlock",
            "rank 0 is in MPI_Barrier and rank 1 in MPI_Bcast, both as collective operation 3 of MPI_COMM_WORLD: \
             all ranks must call the same"
        ]
    );
    let found = so(&[in_operation("MPI_Barrier", 3, &[1]), in_operation("MPI_Barrier", 4, &[0])]);
    assert!(!found.iter().any(|sentence| sentence.contains("all ranks must call the same")), "{found:?}");
    let rooted = |root: i32, peer| {
        with(in_operation("MPI_Bcast", 3, &[peer]), |report| {
            let Goal::Operation(operation) = &mut report.waits[0].goals[0] else { panic!("an operation") };
            operation.root = root;
        })
    };
    assert_eq!(
        so(&[rooted(1, 1), rooted(0, 0)])[1],
        "rank 0 is in MPI_Bcast with root 1 and rank 1 in MPI_Bcast with root 0, both as collective operation 3 of \
         MPI_COMM_WORLD: all ranks must call the same"
    );
    assert_eq!(so(&[rooted(1, 1), rooted(1, 0)]).len(), 1);
}

#[test]
fn ranks_that_have_not_come_to_a_collective_operation_are_named() {
    let barrier = |peers: &[u32]| in_operation("MPI_Barrier", 3, peers);
    let absent = |states: &[State]| -> Vec<String> {
        so(states).into_iter().filter(|sentence| sentence.contains("not come to")).collect()
    };
    assert_eq!(
        absent(&[barrier(&[1, 3]), receiving(3, 9), barrier(&[0]), receiving(1, 9)]),
        [
            "ranks 1 and 3 have not come to MPI_Barrier, collective operation 3 of MPI_COMM_WORLD, where ranks 0 and 2 \
             wait"
        ]
    );
    // It may have begun to take part, and computes now.
    let computing = not_waiting(Life::Inside, Process::Running);
    assert_eq!(
        absent(&[barrier(&[1]), computing]),
        [
            "rank 1 has not come to MPI_Barrier, collective operation 3 of MPI_COMM_WORLD, or left MPI again before its \
             end, where rank 0 waits"
        ]
    );
    // Nobody waits for rank 3 itself.
    let elsewhere = || receiving(2, 9);
    assert_eq!(
        absent(&[barrier(&[1]), elsewhere(), barrier(&[0]), elsewhere()])[0],
        "ranks 1 and 3 have not come to MPI_Barrier, collective operation 3 of MPI_COMM_WORLD, where ranks 0 and 2 wait"
    );
    assert_eq!(
        absent(&[in_operation("MPI_Gather", 3, &[1]), elsewhere(), barrier(&[0]), elsewhere()])[0],
        "rank 1 has not come to MPI_Gather, collective operation 3 of MPI_COMM_WORLD, where ranks 0 and 2 wait"
    );
    // One is before it, one in it without waiting for it, one past it.
    let earlier = in_operation("MPI_Barrier", 2, &[0]);
    let begun = with(receiving(0, 9), |report| report.under_way.push((0, 3)));
    let past = in_operation("MPI_Barrier", 4, &[3]);
    assert_eq!(
        absent(&[barrier(&[1, 2]), earlier, begun, past])[0],
        "rank 1 has not come to MPI_Barrier, collective operation 3 of MPI_COMM_WORLD, where rank 0 waits"
    );
}

#[test]
fn messages_that_miss_a_receive_by_one_thing_are_pointed_at() {
    let computing = || not_waiting(Life::Inside, Process::Running);
    let base = message(Part::Unexpected, 1, 7);
    let other_rank = Message { peer: Some(0), rank: 0, ..base };
    for (unexpected, sentence) in [
        (Message { tag: 8, ..base }, "rank 1 has sent tag 8"),
        (Message { communicator: Some(4), ..base }, "rank 1 has sent tag 7 on row"),
        (other_rank, "rank 0 has sent tag 7 on MPI_COMM_WORLD too"),
    ] {
        let receiver = with(receiving(1, 7), |report| report.unexpected.shown.push(unexpected));
        let found = so(&[computing(), computing(), receiver]);
        let expected = format!(
            "rank 2 waits for tag 7 from rank 1 on MPI_COMM_WORLD; {sentence}, which lies unexpected at rank 2"
        );
        assert!(found.contains(&expected), "{found:?}");
    }
    // Two things are different: that is another conversation.
    let far = Message { tag: 8, communicator: Some(4), ..base };
    let receiver = with(receiving(1, 7), |report| report.unexpected.shown.push(far));
    assert_eq!(so(&[computing(), computing(), receiver]).len(), 1);
}

#[test]
fn a_send_that_misses_a_posted_receive_is_pointed_at() {
    let sender = || for_message("MPI_Ssend", message(Part::ForMatch, 1, 5));
    let posted = |tag| List { shown: vec![message(Part::Posted, 0, tag)], more: 0 };
    let receiver = with(receiving(0, 6), |report| report.posted = posted(6));
    let found = so(&[sender(), receiver]);
    assert_eq!(
        found[1],
        "rank 0 waits for rank 1 to receive tag 5 on MPI_COMM_WORLD; rank 1 has posted a receive for tag 6"
    );
    // The same miss seen from the receiver is reported once.
    let receiver = with(receiving(0, 6), |report| {
        report.posted = posted(6);
        report.unexpected.shown.push(message(Part::Unexpected, 0, 5));
    });
    assert_eq!(so(&[sender(), receiver]).len(), 2);
}

#[test]
fn wild_reports_of_other_processes_do_no_harm() {
    for peer in [2, u32::MAX - 1] {
        let states = [receiving(peer, 0), for_message("MPI_Send", message(Part::ForMatch, peer, 1))];
        assert_eq!(so(&states), ["no rank is known to be stuck"]);
    }
    assert_eq!(explain(&[], NOW), "  so: no rank is known to be stuck\n");
}

#[test]
fn the_lines_about_a_rank_say_everything_once() {
    let unexpected = Message { rank: 0, communicator: Some(4), ..message(Part::Unexpected, 1, 8) };
    let state = with(receiving(1, 7), |report| {
        report.posted =
            List { shown: vec![message(Part::Posted, 1, 7), message(Part::Posted, 1, 9)], more: 2 };
        report.unexpected.shown.push(unexpected);
        report.sends.shown.push(message(Part::ForMatch, 1, 3));
    });
    let text = explain(&[state, not_waiting(Life::Inside, Process::Running)], NOW);
    assert_eq!(
        text.lines().take(6).collect::<Vec<_>>(),
        [
            "  rank 0 (pid 7) has been in MPI_Recv for 2.0 s: waits for a message from rank 1 with tag 7, at most 4 bytes, on MPI_COMM_WORLD",
            "    posted: from rank 1 with tag 9, at most 4 bytes, on MPI_COMM_WORLD",
            "    posted: 2 more",
            "    unexpected: from rank 1 (0 there) with tag 8 of 4 bytes on row",
            "    sending: to rank 1 with tag 3 of 4 bytes on MPI_COMM_WORLD: not received yet",
            "  rank 1 (pid 7) is outside MPI, computing",
        ]
    );
}

#[test]
fn ranks_on_other_hosts_are_not_shown_and_never_called_stuck() {
    let text = explain(&[State::ELSEWHERE, receiving(2, 0), receiving(0, 0)], NOW);
    assert!(!text.contains("  rank 0 ") && text.contains("  rank 1 (pid 7) has been in MPI_Recv"), "{text}");
    assert!(text.contains("so: rank 2 waits for rank 0, which is on another host"), "{text}");
    let far = ["rank 1 waits for rank 0, which is on another host"];
    assert_eq!(so(&[State::ELSEWHERE, for_message("MPI_Recv", from_anybody())]), far);
}

#[test]
fn the_owner_of_a_lock_tells_who_has_it() {
    let wants = for_message("MPI_Win_lock", message(Part::ForOwner, 2, 0));
    let owner = with(receiving(0, 1), |report| report.locks = vec![(0, 1), (7, 2)]);
    let states = [wants.clone(), receiving(0, 1), owner.clone()];
    let text = explain(&states, NOW);
    assert!(text.contains("waits for rank 1 to give back the lock of rank 2 there"), "{text}");
    assert!(text.contains("so: rank 0 waits for rank 1, which waits for rank 0: a deadlock"), "{text}");
    let gone = [wants.clone(), receiving(0, 1), with(owner.clone(), |report| report.locks.clear())];
    let text = explain(&gone, NOW);
    assert!(text.contains("rank 2 to do what it was asked for") && !text.contains("deadlock"), "{text}");
    // Another call waits for the owner alone.
    let flushes = for_message("MPI_Win_flush", message(Part::ForOwner, 2, 0));
    assert!(!explain(&[flushes, receiving(0, 1), owner], NOW).contains("lock of rank"));
}

#[test]
fn an_owner_that_is_away_is_why_a_flush_waits() {
    let flushes = || for_message("MPI_Win_flush", message(Part::ForOwner, 1, 0));
    let stopped = not_waiting(Life::Inside, Process::Stopped);
    assert_eq!(
        so(&[flushes(), stopped]),
        ["rank 0 waits for rank 1, which is stopped by a signal or a debugger"]
    );
    assert_eq!(so(&[flushes(), receiving(0, 1)]), ["no rank is known to be stuck"]);
}
