//! Random topologies against an exchange by messages, one for each edge, over the simulated network.
//!
//! They have several edges between two ranks, edges from a rank to itself, periodic dimensions of one and two places, borders.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Blocks, Neighbors, Nodes, Operand, Schedule, TypedBlocks, Walk};
use crate::comm::{Comm, tests::Room};
use crate::config::Config;
use crate::datatype::{Datatype, Segment};
use crate::error::{ErrorClass, Result};
use crate::ids::{PROC_NULL, RequestId};
use crate::progress::Vci;
use crate::pt2pt::send::Started;
use crate::testing::{Bench, ROUGH};
use crate::topology::{self, Cart, DistGraph, Edges, Graph};

/// What memory has that nobody touched.
const UNTOUCHED: u8 = 0xee;

/// A room whose longer messages ask before they are sent, and whose ranks are on some nodes.
fn room(n: u32, seed: u64) -> Room {
    let mut room = Room::new(n, seed);
    room.bench = Bench::new(seed, n, ROUGH, &Config { eager_limit: 90, ..Config::default() });
    let places: Vec<u32> = (0..n).map(|_| random(&room, 3) as u32).collect();
    for (world, rank) in room.worlds.iter().zip(0..) {
        Nodes::of(rank, places.iter().copied()).into_iter().for_each(|nodes| world.is_on(nodes));
    }
    room
}

/// The process with a rank of `comm`, as messages name it; nobody stays nobody.
fn named(comm: &Comm, rank: i32) -> i32 {
    u32::try_from(rank).map_or(rank, |rank| comm.group().peer(rank).expect("a member").0 as i32)
}

fn random(room: &Room, below: usize) -> usize {
    room.bench.network.random(below as u64) as usize
}

fn shuffled<T>(room: &Room, mut list: Vec<T>) -> Vec<T> {
    (1..list.len()).for_each(|at| list.swap(at, random(room, at + 1)));
    list
}

/// Edges between random ranks; the same may come twice.
fn random_edges(room: &Room, n: usize) -> Vec<(i32, i32)> {
    (0..random(room, 4 * n)).map(|_| (random(room, n) as i32, random(room, n) as i32)).collect()
}

/// A communicator for each rank of a grid.
fn grid(room: &mut Room, n: usize) -> Vec<Option<Arc<Comm>>> {
    let (mut dims, mut periods, mut left) = (Vec::new(), Vec::new(), n);
    for _ in 0..random(room, 4) {
        let size = 1 + random(room, left.min(3));
        left /= size;
        dims.push(size as i32);
        periods.push(i32::from(random(room, 4) > 0));
    }
    let made = room.make(0..n, |room, at| {
        let cart = Cart::new(&room.worlds[at], &dims, &periods)?;
        cart.plan(&room.worlds[at], true, || room.allocate(at))
    });
    for comm in made.iter().flatten() {
        let cart = topology::cart(comm).expect("a grid");
        let mut coords = cart.coords(comm.rank()).expect("a place");
        for (at, pair) in topology::neighbors(comm).expect("neighbours").sources().chunks(2).enumerate() {
            for (step, neighbor) in [-1, 1].into_iter().zip(pair) {
                coords[at] += step;
                assert_eq!(*neighbor, cart.rank(&coords).unwrap_or(PROC_NULL), "{dims:?} {periods:?}");
                coords[at] -= step;
            }
        }
    }
    made
}

/// The same of a graph that all ranks know; where it leads to another rank, it also leads back.
fn graph(room: &mut Room, n: usize) -> Vec<Option<Arc<Comm>>> {
    let nodes = 1 + random(room, n);
    let mut lists = vec![Vec::new(); nodes];
    for (from, to) in random_edges(room, nodes) {
        lists[from as usize].push(to);
        if from != to {
            lists[to as usize].push(from);
        }
    }
    let lists: Vec<Vec<i32>> = lists.into_iter().map(|list| shuffled(room, list)).collect();
    let ends = lists.iter().scan(0, |end, list| {
        *end += list.len() as i32;
        Some(*end)
    });
    let (index, edges) = (ends.collect::<Vec<i32>>(), lists.concat());
    let made = room.make(0..n, |room, at| {
        Graph::new(&room.worlds[at], &index, &edges)?.plan(&room.worlds[at], true, || room.allocate(at))
    });
    for (rank, comm) in made.iter().enumerate() {
        assert_eq!(comm.is_some(), rank < nodes);
        if let Some(comm) = comm {
            let list = &lists[comm.rank() as usize];
            let expected = Neighbors::of_graph(list, list);
            assert_eq!(topology::neighbors(comm).expect("neighbours"), expected);
        }
    }
    made
}

/// The same of a graph whose ranks name the edges at themselves, in any order.
fn adjacent(room: &mut Room, n: usize) -> Vec<Option<Arc<Comm>>> {
    let edges = random_edges(room, n);
    let at = |rank: usize| {
        let from = edges.iter().filter(|edge| edge.1 == rank as i32).map(|edge| edge.0);
        let to = edges.iter().filter(|edge| edge.0 == rank as i32).map(|edge| edge.1);
        (shuffled(room, from.collect()), shuffled(room, to.collect()))
    };
    let ends: Vec<(Vec<i32>, Vec<i32>)> = (0..n).map(at).collect();
    let made = room.make(0..n, |room, at| {
        let graph = DistGraph::adjacent(&room.worlds[at], &ends[at].0, &ends[at].1, None)?;
        graph.plan(&room.worlds[at], "MPI_Dist_graph_create_adjacent", || room.allocate(at))
    });
    for (comm, (sources, destinations)) in made.iter().zip(&ends) {
        let comm = comm.as_ref().expect("a communicator");
        assert_eq!(
            topology::neighbors(comm).expect("neighbours"),
            Neighbors::of_graph(sources, destinations)
        );
    }
    made
}

/// Edges as one rank names them.
#[derive(Clone, Default)]
struct Named {
    sources: Vec<i32>,
    degrees: Vec<i32>,
    destinations: Vec<i32>,
    weights: Vec<i32>,
}

impl Named {
    fn edges(&self, weighted: bool) -> Edges<'_> {
        let Self { sources, degrees, destinations, weights } = self;
        Edges { sources, degrees, destinations, weights: weighted.then_some(weights) }
    }
}

/// The same of a graph of which any rank names any edges, with and without weights.
fn distributed(room: &mut Room, n: usize) -> Vec<Option<Arc<Comm>>> {
    let mut named = vec![Named::default(); n];
    // By rank: (source, weight) of the edges to it, (destination, weight) of those from it, in the order of naming.
    let mut expected = vec![(Vec::new(), Vec::new()); n];
    let weighted = random(room, 2) == 0;
    for name in &mut named {
        for (weight, (from, to)) in random_edges(room, n.div_ceil(2)).into_iter().enumerate() {
            let weight = weight as i32 * 7;
            match name.sources.last() {
                Some(last) if *last == from => *name.degrees.last_mut().expect("as many") += 1,
                _ => {
                    name.sources.push(from);
                    name.degrees.push(1);
                }
            }
            name.destinations.push(to);
            name.weights.push(weight);
            expected[to as usize].0.push((from, weight));
            expected[from as usize].1.push((to, weight));
        }
        name.sources.push(0);
        name.degrees.push(0);
    }
    let worlds = room.worlds.clone();
    let first = worlds.iter().zip(&named);
    let first = first.map(|(world, named)| named.edges(weighted).plan(world).expect("right arguments"));
    let (schedules, announced): (Vec<Schedule>, Vec<_>) = first.unzip();
    room.run(schedules.into_iter().enumerate().collect());
    let next = announced.into_iter().map(|announced| announced.plan().expect("the same at all ranks"));
    let (schedules, delivered): (Vec<Schedule>, Vec<_>) = next.unzip();
    room.run(schedules.into_iter().enumerate().collect());
    let graphs: Vec<DistGraph> = delivered.into_iter().map(|one| one.finish().expect("edges")).collect();
    for (graph, (from, to)) in graphs.iter().zip(&expected) {
        let [sources, destinations] = [from, to].map(|ends| ends.iter().map(|end| end.0).collect::<Vec<_>>());
        assert_eq!((graph.sources(), graph.destinations()), (&sources[..], &destinations[..]));
        let weights = [from, to].map(|ends| ends.iter().map(|end| end.1).collect::<Vec<_>>());
        let expected = weighted.then_some(weights.each_ref().map(Vec::as_slice));
        assert_eq!(graph.weights(), expected);
    }
    room.make(0..n, |room, at| {
        graphs[at].clone().plan(&room.worlds[at], "MPI_Dist_graph_create", || room.allocate(at))
    })
}

/// Where one block lies in a buffer.
#[derive(Clone, Debug)]
struct Block {
    at: usize,
    count: u64,
    datatype: Datatype,
}

/// The blocks of one buffer, and its bytes.
#[derive(Debug)]
struct Layout {
    blocks: Vec<Block>,
    len: usize,
}

impl Layout {
    /// Blocks behind each other, with a gap where `gaps` says so.
    fn new(counts: &[u64], datatypes: &[Datatype], gaps: &[usize]) -> Self {
        let mut len = 0;
        let blocks = counts.iter().zip(datatypes).zip(gaps).map(|((count, datatype), gap)| {
            let at = len + gap;
            len = at + *count as usize * datatype.extent() as usize;
            Block { at, count: *count, datatype: datatype.clone() }
        });
        Self { blocks: blocks.collect(), len }
    }

    fn counts(&self) -> Vec<u64> {
        self.blocks.iter().map(|block| block.count).collect()
    }

    fn displacements(&self) -> Vec<i64> {
        self.blocks.iter().map(|block| block.at as i64).collect()
    }

    fn datatypes(&self) -> Vec<Datatype> {
        self.blocks.iter().map(|block| block.datatype.clone()).collect()
    }

    fn segment(&self, block: usize, buf: &OwnedBuf) -> Segment {
        let Block { at, count, datatype } = &self.blocks[block];
        Segment::new(buf.user_buf().offset(*at as isize), *count, datatype)
    }

    fn buffer(&self, fill: impl FnMut(usize) -> u8) -> OwnedBuf {
        let mut buf = OwnedBuf::new(self.len);
        buf.sink().copy_from(&(0..self.len).map(fill).collect::<Vec<u8>>());
        buf
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
}

/// One rank with its neighbours and buffers.
struct Member {
    at: usize,
    comm: Arc<Comm>,
    /// For each block the neighbour and what tells its edge from others between the two.
    from: Vec<(i32, usize)>,
    to: Vec<(i32, usize)>,
    send: Layout,
    recv: Layout,
    sent: OwnedBuf,
}

/// For each neighbour how often it came before: on a graph the k-th edge to a process meets the k-th edge from it.
fn numbered(ranks: &[i32]) -> Vec<(i32, usize)> {
    let before = |at: usize| ranks[..at].iter().filter(|rank| **rank == ranks[at]).count();
    ranks.iter().enumerate().map(|(at, rank)| (*rank, before(at))).collect()
}

fn member(room: &Room, at: usize, comm: &Arc<Comm>, operation: Operation) -> Member {
    let neighbors = topology::neighbors(comm).expect("neighbours");
    let (from, to) = match topology::of(comm) {
        // What goes down along a dimension comes from above there.
        Some(topology::Topology::Cart(_)) => (
            neighbors.sources().iter().enumerate().map(|(block, rank)| (*rank, block ^ 1)).collect(),
            neighbors.destinations().iter().enumerate().map(|(block, rank)| (*rank, block)).collect(),
        ),
        _ => (numbered(neighbors.sources()), numbered(neighbors.destinations())),
    };
    let me = comm.rank() as usize;
    // Known at both ends of an edge; some are longer than what is sent at once.
    let length = |from: usize, to: usize, edge: usize| match operation {
        Operation::Allgather | Operation::Alltoall => 37,
        Operation::Allgatherv => [0, 130, 5][from % 3],
        Operation::Alltoallv | Operation::Alltoallw => [3, 200, 0, 91][(from * 5 + to * 3 + edge) % 4],
    };
    let spaced = Datatype::resized(&Datatype::byte(), 0, 3).expect("a type with gaps");
    spaced.commit();
    let typed = |block: usize| match operation {
        Operation::Alltoallw if block % 2 == 1 => spaced.clone(),
        _ => Datatype::byte(),
    };
    let contiguous = matches!(operation, Operation::Allgather | Operation::Alltoall);
    let layout = |counts: Vec<u64>, contiguous: bool| {
        let gaps: Vec<usize> = counts.iter().map(|_| if contiguous { 0 } else { random(room, 9) }).collect();
        Layout::new(&counts, &(0..counts.len()).map(typed).collect::<Vec<_>>(), &gaps)
    };
    let counts = |edges: &[(i32, usize)], outwards: bool| {
        let count = |(other, edge): &(i32, usize)| match usize::try_from(*other) {
            Ok(other) if outwards => length(me, other, *edge),
            Ok(other) => length(other, me, *edge),
            Err(_) => 37,
        };
        edges.iter().map(count).collect::<Vec<u64>>()
    };
    let send = match operation {
        Operation::Allgather | Operation::Allgatherv => layout(vec![length(me, 0, 0)], true),
        _ => layout(counts(&to, true), contiguous),
    };
    let recv = layout(counts(&from, false), contiguous);
    let sent = send.buffer(|byte| (me * 83 + byte * 7) as u8);
    Member { at, comm: comm.clone(), from, to, send, recv, sent }
}

impl Member {
    fn plan(&self, operation: Operation, into: &OwnedBuf) -> Result<Schedule> {
        let (comm, neighbors) = (&*self.comm, topology::neighbors(&self.comm)?);
        let (send, recv) = (self.sent.user_buf(), into.user_buf());
        let byte = Datatype::byte();
        let (counts, displacements) = (self.send.counts(), self.send.displacements());
        let (recvcounts, rdispls) = (self.recv.counts(), self.recv.displacements());
        let blocks = Blocks { buf: recv, counts: &recvcounts, displacements: &rdispls, datatype: &byte };
        let each = |layout: &Layout| layout.blocks.first().map_or(0, |block| block.count);
        let [send_one, recv_one] = [(send, &self.send), (recv, &self.recv)]
            .map(|(buf, layout)| Operand::new(buf, each(layout), &byte));
        let send_blocks =
            Blocks { buf: send, counts: &counts, displacements: &displacements, datatype: &byte };
        match operation {
            Operation::Allgather => coll::neighbor_allgather(comm, &neighbors, send_one, recv_one),
            Operation::Allgatherv => coll::neighbor_allgatherv(comm, &neighbors, send_one, blocks),
            Operation::Alltoall => coll::neighbor_alltoall(comm, &neighbors, send_one, recv_one),
            Operation::Alltoallv => coll::neighbor_alltoallv(comm, &neighbors, send_blocks, blocks),
            Operation::Alltoallw => {
                let (types, recvtypes) = (self.send.datatypes(), self.recv.datatypes());
                let typed = |buf, counts, displacements, datatypes| TypedBlocks {
                    buf,
                    counts,
                    displacements,
                    datatypes,
                };
                let send = typed(send, &counts, &displacements, &types);
                coll::neighbor_alltoallw(
                    comm,
                    &neighbors,
                    send,
                    typed(recv, &recvcounts, &rdispls, &recvtypes),
                )
            }
        }
    }

    /// The block of the send buffer for a destination.
    fn outgoing(&self, operation: Operation, block: usize) -> Segment {
        let same = matches!(operation, Operation::Allgather | Operation::Allgatherv);
        self.send.segment(if same { 0 } else { block }, &self.sent)
    }
}

/// The bytes that each member gets, by a message for each edge.
fn by_messages(room: &mut Room, members: &[Member], operation: Operation) -> Vec<Vec<u8>> {
    let mut ids: Vec<(usize, RequestId)> = Vec::new();
    let recvs: Vec<OwnedBuf> = members.iter().map(|member| member.recv.buffer(|_| UNTOUCHED)).collect();
    for (member, recv) in members.iter().zip(&recvs) {
        for (block, (other, edge)) in member.from.iter().enumerate().filter(|(_, from)| from.0 != PROC_NULL) {
            let into = member.recv.segment(block, recv);
            let from = named(&member.comm, *other);
            ids.push((member.at, room.bench.recv_segment(member.at, from, *edge as i32, into)));
        }
        for (block, (other, edge)) in member.to.iter().enumerate().filter(|(_, to)| to.0 != PROC_NULL) {
            let out = member.outgoing(operation, block);
            let to = named(&member.comm, *other) as u32;
            let started = room.bench.send_segment(member.at, to, *edge as i32, out, false);
            if let Started::Request(id) = started {
                ids.push((member.at, id));
            }
        }
    }
    for (at, id) in ids {
        assert!(room.bench.finish(at, id).error.is_none());
    }
    recvs.iter().map(|recv| recv.source().to_vec()).collect()
}

/// The same by the collective operation: some members start it, others walk through it.
fn by_neighbors(room: &mut Room, members: &[Member], operation: Operation) -> Vec<Vec<u8>> {
    let recvs: Vec<OwnedBuf> = members.iter().map(|member| member.recv.buffer(|_| UNTOUCHED)).collect();
    let mut ids: Vec<(usize, RequestId)> = Vec::new();
    let mut walks: Vec<(usize, Walk)> = Vec::new();
    for (member, recv) in members.iter().zip(&recvs) {
        let schedule = member.plan(operation, recv).expect("right arguments");
        let walks_through = random(room, 2) == 0;
        let Vci { engine, methods, running, .. } = &mut room.bench.vcis[member.at];
        if walks_through {
            walks.push((member.at, Walk::new(schedule)));
        } else {
            ids.push((member.at, running.start(engine, methods, schedule).expect("room for a request")));
        }
    }
    let mut steps = 0;
    while let Some((at, mut walk)) = walks.pop() {
        let Vci { engine, methods, running, .. } = &mut room.bench.vcis[at];
        if walk.look(engine, methods, running) {
            running.over(engine, methods, walk).expect("everything goes well");
        } else {
            let place = random(room, walks.len() + 1);
            walks.insert(place, (at, walk));
        }
        room.bench.step();
        steps += 1;
        assert!(steps < 1_000_000, "{operation:?} does not end");
    }
    for (at, id) in ids {
        let error = room.bench.finish(at, id).error;
        assert!(error.is_none(), "{error:?}");
    }
    recvs.iter().map(|recv| recv.source().to_vec()).collect()
}

#[test]
fn neighbourhood_collectives_do_what_messages_do() {
    const OPERATIONS: [Operation; 5] = [
        Operation::Allgather,
        Operation::Allgatherv,
        Operation::Alltoall,
        Operation::Alltoallv,
        Operation::Alltoallw,
    ];
    let (mut edges, mut copies, mut doubles, mut reordered) = (0, 0, 0, 0);
    for seed in 0..160 {
        println!("seed {seed}");
        let n = 1 + seed as usize % 6;
        let mut room = room(n as u32, seed);
        let make = [grid, graph, adjacent, distributed][random(&room, 4)];
        let comms = make(&mut room, n);
        for operation in OPERATIONS {
            let there = comms.iter().enumerate().filter_map(|(at, comm)| Some((at, comm.as_ref()?)));
            let members: Vec<Member> = there.map(|(at, comm)| member(&room, at, comm, operation)).collect();
            let expected = by_messages(&mut room, &members, operation);
            let got = by_neighbors(&mut room, &members, operation);
            for ((member, expected), got) in members.iter().zip(expected).zip(got) {
                assert_eq!(got, expected, "{operation:?} at rank {} of {n}, seed {seed}", member.at);
                edges += member.to.len();
                reordered += usize::from(member.comm.rank() as usize != member.at);
                copies += member.to.iter().filter(|to| to.0 == member.comm.rank()).count();
                let ranks: Vec<i32> = member.to.iter().map(|to| to.0).collect();
                doubles += numbered(&ranks).iter().filter(|(rank, before)| *rank >= 0 && *before > 0).count();
            }
        }
    }
    // The test is of what it says.
    assert!(
        edges > 2000 && copies > 200 && doubles > 400 && reordered > 50,
        "{edges} edges, {copies} copies, {doubles} doubles, {reordered} under another rank"
    );
}

#[test]
fn what_is_no_edge_is_refused() {
    let world = Comm::world(1, 3);
    let adjacent = |sources: &[i32], destinations: &[i32], weights| {
        DistGraph::adjacent(&world, sources, destinations, weights)
            .map(drop)
            .map_err(|e| (e.class(), e.to_string()))
    };
    assert_eq!(adjacent(&[1, 0, 1], &[1, 2, 1], Some([&[0, 1, 2], &[3, 4, 5]])), Ok(()));
    let wrong = |outcome: std::result::Result<(), (ErrorClass, String)>, class, text: &str| {
        let (found, sentence) = outcome.expect_err("it is wrong");
        assert!(found == class && sentence.starts_with(text), "{found:?}: {sentence}");
    };
    wrong(adjacent(&[3], &[], None), ErrorClass::Rank, "sources is 3 at index 0, expected 0..=2");
    wrong(adjacent(&[], &[0, -3], None), ErrorClass::Rank, "destinations is -3 at index 1");
    wrong(adjacent(&[0], &[], Some([&[-1], &[]])), ErrorClass::Arg, "sourceweights is -1 at index 0");
    wrong(adjacent(&[0], &[0], Some([&[1], &[]])), ErrorClass::Arg, "destweights is 0 entries long");
    // A self edge with one end only can be made, but nothing can be sent along it.
    let neighbors = Neighbors::of_graph(&[1, 0, 1], &[1, 2]);
    let (byte, buf) = (Datatype::byte(), OwnedBuf::new(3));
    let all = Operand::new(buf.user_buf(), 1, &byte);
    let planned = coll::neighbor_allgather(&world, &neighbors, all, all).map(drop);
    wrong(
        planned.map_err(|e| (e.class(), e.to_string())),
        ErrorClass::Topology,
        "comm is a graph where rank 1 has 2 edges from itself",
    );

    let plan = |sources: &[i32], degrees: &[i32], destinations: &[i32], weights| {
        let edges = Edges { sources, degrees, destinations, weights };
        edges.plan(&world).map(drop).map_err(|e| (e.class(), e.to_string()))
    };
    assert_eq!(plan(&[0, 2], &[0, 1], &[2], None), Ok(()));
    wrong(plan(&[0, 5], &[0, 1], &[2], None), ErrorClass::Rank, "sources is 5 at index 1");
    wrong(plan(&[0], &[-1], &[], None), ErrorClass::Arg, "degrees is -1 at index 0");
    wrong(plan(&[0], &[1], &[3], None), ErrorClass::Rank, "destinations is 3 at index 0");
    wrong(plan(&[0], &[2], &[1], None), ErrorClass::Arg, "destinations is 1 entries long");
    wrong(plan(&[0], &[1], &[1], Some(&[-4])), ErrorClass::Arg, "weights is -4 at index 0");
}

#[test]
fn weights_at_some_ranks_only_are_refused_by_all() {
    let mut room = room(3, 5);
    let worlds = room.worlds.clone();
    let edge = |weights| Edges { sources: &[0], degrees: &[1], destinations: &[1], weights };
    let first = (0..).zip(&worlds).map(|(rank, world)| edge((rank == 1).then_some(&[4][..])).plan(world));
    let first = first.map(|planned| planned.expect("right arguments"));
    let (schedules, announced): (Vec<Schedule>, Vec<_>) = first.unzip();
    room.run(schedules.into_iter().enumerate().collect());
    for announced in announced {
        let error = announced.plan().expect_err("ranks differ");
        assert_eq!(error.class(), ErrorClass::Arg);
        assert!(error.to_string().starts_with("weights is "), "{error}");
    }
}

#[test]
fn a_graph_with_edges_in_one_direction_has_no_neighbourhood_collectives() {
    let mut room = room(2, 3);
    let made = room.make(0..2, |room, at| {
        Graph::new(&room.worlds[at], &[1, 1], &[1])?.plan(&room.worlds[at], false, || room.allocate(at))
    });
    for comm in made.iter().flatten() {
        assert_eq!(topology::neighbors(comm).unwrap_err().class(), ErrorClass::Topology);
        assert_eq!(
            topology::cart(comm).unwrap_err().to_string(),
            "comm is a communicator with a graph topology, expected a \
                    communicator with a Cartesian topology"
        );
    }
    let world = &room.worlds[0];
    assert_eq!(topology::neighbors(world).unwrap_err().class(), ErrorClass::Topology);
}
