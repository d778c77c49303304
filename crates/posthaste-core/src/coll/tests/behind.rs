//! Messages that stay behind when their operation is over.

use super::plans::Memory;
use super::*;

const N: u32 = 3;
/// More than an eager message holds, and of a length that goes on a board.
const COUNT: u64 = 8 << 10;

/// Members that all have boards in memory of their own.
fn room() -> Room {
    let mut room = Room::new(N, false, 1, CALM);
    let group = Arc::new(Group::range(0, N));
    let team = |rank| Team::new(ContextId::WORLD, group.clone(), rank, Accord::of_cpus(true));
    room.teams = (0..N).map(team).collect();
    BOARDS.with(|boards| room.teams.iter().for_each(|team| team.is_crowd(1, Some(&**boards))));
    room
}

fn numbers(rank: u32, round: u32) -> Vec<u64> {
    (0..COUNT).map(|at| at * 1009 + u64::from(rank) * 17 + u64::from(round)).collect()
}

/// Who gives blocks to a root that has not come goes on, changes them, and gives the next ones.
#[test]
fn a_gather_leaves_its_blocks_behind() {
    let mut room = room();
    let word = Datatype::of::<u64>();
    let sends: Vec<_> = (0..N).map(|rank| Memory::new(&numbers(rank, 0))).collect();
    let gathered = |team: &Team, send: &Memory, recv: Option<&Memory>| {
        let block = |memory: &Memory| Operand::new(memory.buf(), COUNT, &word);
        coll::gather(team, Some(block(send)), recv.map(block), 0).unwrap()
    };
    for round in 0..2 {
        for rank in [1, 2] {
            sends[rank as usize].fill(&numbers(rank, round));
            let schedule = gathered(&room.teams[rank as usize], &sends[rank as usize], None);
            let mut walk = Walk::new(schedule);
            let Vci { engine, methods, running, .. } = &mut room.bench.vcis[rank as usize];
            assert!(walk.look(engine, methods, running), "it need not wait");
            running.over(engine, methods, walk).unwrap();
            assert!(!running.has_left() && running.is_empty());
            sends[rank as usize].fill(&vec![0; COUNT as usize]);
        }
    }
    for round in 0..2 {
        let recv = Memory::new(&vec![0; (COUNT * u64::from(N)) as usize]);
        sends[0].fill(&numbers(0, round));
        let schedule = gathered(&room.teams[0], &sends[0], Some(&recv));
        let id = room.start(0, schedule);
        assert!(room.finish(&[(0, id)])[0].error.is_none());
        let expected: Vec<u64> = (0..N).flat_map(|rank| numbers(rank, round)).collect();
        assert!(recv.get(expected.len()) == expected, "round {round}");
    }
    room.all_leave();
}

/// What would be more than may stay behind goes where it lies, and its sender waits for it.
#[test]
fn little_stays_behind() {
    let mut room = room();
    let word = Datatype::of::<u64>();
    let send = Memory::new(&numbers(1, 0));
    let ahead = (0..1000).find(|_| {
        let schedule = coll::gather(&room.teams[1], Some(Operand::new(send.buf(), COUNT, &word)), None, 0);
        let mut walk = Walk::new(schedule.unwrap());
        let Vci { engine, methods, running, .. } = &mut room.bench.vcis[1];
        let over = walk.look(engine, methods, running);
        if over {
            running.over(engine, methods, walk).unwrap();
        }
        !over
    });
    assert_eq!(ahead, Some(32), "gathers of 64 KiB");
}
