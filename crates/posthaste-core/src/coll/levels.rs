//! Operations in two levels, where members are on several nodes of which some have several members: inside the nodes, and between one
//! member of each, its leader.
//!
//! What goes over the network goes there once for each node, and only leaders have connections; in prefix reductions the last members
//! of nodes lead. Each level is an ordinary way of the
//! operation among some of the members ([`Draft::among`]); what is long goes on to the members of a node while it still comes.
//!
//! What must stay true: all members take two levels, or none. A root leads its node.

use std::sync::Arc;

use crate::buffer::UserBuf;
use crate::coll::choose::{self, Allreduce, Bcast, Scan};
use crate::coll::label::Function;
use crate::coll::nodes::Nodes;
use crate::coll::plan::{Blocks, Draft, Operand, described};
use crate::coll::{Schedule, Team, allgather, barrier, bcast, gather, reduce, scan, tree};
use crate::datatype::{Datatype, Segment};
use crate::error::Result;

/// What is added to the number of a way that is taken in lanes, for the label.
const LANES: u32 = 128;

/// Members of different nodes combine what each has for its own.
fn combine_for_all(draft: &mut Draft<'_>, way: Allreduce, value: Operand<'_>) {
    match way {
        Allreduce::Blocks(owners) => reduce::by_blocks_to_all(draft, value, value, owners, |_, _| ()),
        Allreduce::Multiplying(radix) | Allreduce::Tree(radix) => {
            reduce::by_multiplying(draft, value, value, radix);
        }
    }
}

/// The two levels as one of the members sees them.
pub(super) struct Levels<'n> {
    nodes: &'n Nodes,
    leaders: Arc<[u32]>,
    /// Which of the members of the own node is its leader, and which of the leaders is the root.
    head: u32,
    root: u32,
    leads: bool,
}

impl<'n> Levels<'n> {
    /// Those of a team that has several nodes, for an operation with this root.
    pub(super) fn of(team: &'n Team, root: u32) -> Option<Self> {
        let nodes = team.nodes()?;
        let leaders = nodes.leaders_for(root);
        let me = team.rank() as u32;
        let leader = leaders[nodes.node(me) as usize];
        let head = nodes.own().iter().position(|member| *member == leader).unwrap_or(0) as u32;
        Some(Self { nodes, leaders, head, root: nodes.node(root), leads: leader == me })
    }

    /// Whether the ranks of each node follow each other.
    pub(super) fn are_runs(&self) -> bool {
        self.nodes.are_runs()
    }

    /// Whether blocks of so many bytes that all send to all are gathered for each node.
    pub(super) fn gather_blocks_of(&self, bytes: u64) -> bool {
        let largest = (0..self.nodes.count()).map(|node| self.nodes.members(node).len()).max();
        self.are_runs() && choose::alltoall_goes_through_leaders(largest.unwrap_or(0) as u32, bytes)
    }

    /// Whether a draft counts all members.
    pub(super) fn are_for_all(&self, draft: &Draft<'_>) -> bool {
        draft.n() == self.nodes.size()
    }

    /// From now on ranks count the members of the own node.
    fn inside(&self, draft: &mut Draft<'_>) {
        draft.among(self.nodes.own());
    }

    /// Writes what the leaders do among themselves, at a leader.
    fn between(&self, draft: &mut Draft<'_>, write: impl FnOnce(&mut Draft<'_>)) {
        if self.leads {
            draft.among(&self.leaders);
            write(draft);
        }
    }

    /// Nobody leaves before everybody has come.
    pub(super) fn barrier(&self, team: &Team, function: Function) -> Schedule {
        let mut draft = Draft::new(team, function, 12);
        self.inside(&mut draft);
        let node = tree::place(draft.me(), draft.n(), choose::radix(team.is_oversubscribed()));
        barrier::come(&mut draft, &node);
        self.between(&mut draft, |draft| {
            draft.fence();
            draft.meet(choose::radix_of_nodes(team.is_oversubscribed()));
            draft.fence();
        });
        self.inside(&mut draft);
        barrier::go(&mut draft, &node);
        draft.done()
    }

    /// Everybody gets what the root has.
    pub(super) fn bcast(&self, draft: &mut Draft<'_>, data: &Operand<'_>) {
        let oversubscribed = draft.team.is_oversubscribed();
        let way = choose::bcast(self.nodes.count(), data.bytes(), false);
        draft.going(way.number());
        match way {
            Bcast::Blocks => {
                self.between(draft, |draft| bcast::by_blocks(draft, data, self.root));
                self.inside(draft);
                bcast::down(draft, data, self.head, oversubscribed);
            }
            Bcast::Tree(radix) => {
                let mut shape = bcast::Shape::default();
                self.between(draft, |draft| shape.add(draft, self.root, radix));
                self.inside(draft);
                shape.add(draft, self.head, choose::radix(oversubscribed));
                draft.everywhere();
                bcast::by_shape(draft, &data.all(), &shape, true);
            }
        }
    }

    /// The members that stand at one place on their nodes, which have so many each.
    fn lane(&self, place: u32, members: u32) -> Arc<[u32]> {
        (0..self.nodes.count()).map(|node| node * members + place).collect()
    }

    /// Everybody gets the combination of all operands.
    pub(super) fn allreduce(&self, draft: &mut Draft<'_>, own: Operand<'_>, result: Operand<'_>) {
        let team = draft.team;
        if let Some(members) = self.nodes.members_of_each()
            && choose::takes_lanes(members, own.bytes() / u64::from(members), team.is_oversubscribed())
        {
            return self.allreduce_in_lanes(draft, own, result, members);
        }
        let way = choose::allreduce_of_nodes(self.nodes.count(), own.bytes(), team.is_oversubscribed());
        draft.going(way.number());
        self.inside(draft);
        reduce::onto(draft, own, result.buf, self.head);
        self.between(draft, |draft| {
            draft.fence();
            combine_for_all(draft, way, result);
        });
        self.inside(draft);
        bcast::down(draft, &result, self.head, team.is_oversubscribed());
    }

    /// The same of long operands, with as many members on each node, which follow each other: each combines a part of those of its
    /// node, and that with those that stand at the same place on the other nodes.
    fn allreduce_in_lanes(&self, draft: &mut Draft<'_>, own: Operand<'_>, result: Operand<'_>, members: u32) {
        let nodes = self.nodes.count();
        let way = choose::allreduce_of_nodes(
            nodes,
            own.bytes() / u64::from(members),
            draft.team.is_oversubscribed(),
        );
        draft.going(LANES + way.number());
        self.inside(draft);
        let lane = self.lane(draft.me(), members);
        reduce::by_blocks_to_all(draft, own, result, members, |draft, mine| {
            draft.among(&lane);
            combine_for_all(draft, way, mine);
            draft.fence();
            self.inside(draft);
        });
    }

    /// The root gets the combination of all operands, of an operation that commutes.
    pub(super) fn reduce(&self, draft: &mut Draft<'_>, own: Operand<'_>, result: UserBuf, is_root: bool) {
        draft.going(draft.way_of_reduction(self.nodes.count(), own.bytes()).number());
        self.inside(draft);
        // A leader that is no root has no memory for the result.
        let at_node = if is_root || !self.leads {
            Operand { buf: result, ..own }
        } else {
            draft.temporary(1, own.count, own.datatype).get(0)
        };
        reduce::onto(draft, own, at_node.buf, self.head);
        self.between(draft, |draft| {
            draft.fence();
            reduce::onto(draft, at_node, result, self.root);
        });
    }

    /// Everybody gets everybody's block; the nodes are runs of ranks.
    pub(super) fn allgather(&self, draft: &mut Draft<'_>, send: Option<Operand<'_>>, recv: Operand<'_>) {
        if let Some(members) = self.nodes.members_of_each()
            && choose::gathers_in_lanes(members, recv.bytes(), draft.team.is_oversubscribed())
        {
            return self.allgather_in_lanes(draft, send, recv, members);
        }
        let (nodes, rank) = (self.nodes, draft.team.rank() as u32);
        let run = |node: u32| {
            let members = nodes.members(node);
            (members[0], members.len() as u32)
        };
        let block = |node: u32| {
            let (first, count) = run(node);
            recv.blocks(first, count)
        };
        let (first, _) = run(nodes.node(rank));
        let element = |rank: u32| recv.element(u64::from(rank).wrapping_mul(recv.count));
        let own = if self.leads { send } else { send.or(Some(Operand { buf: element(rank), ..recv })) };
        let of_node = self.leads.then(|| Operand { buf: element(first), ..recv });
        self.inside(draft);
        gather::collect(draft, own, of_node, 0, choose::moving_radix());
        self.between(draft, |draft| {
            draft.fence();
            let mine = block(draft.me());
            allgather::direct(draft, &mine, block);
        });
        self.inside(draft);
        let all = Operand { count: recv.count.wrapping_mul(u64::from(nodes.size())), ..recv };
        bcast::down(draft, &all, 0, draft.team.is_oversubscribed());
    }

    /// The same of long blocks, with as many members on each node, which follow each other: each exchanges its own with those that stand
    /// at the same place on the other nodes, one node after the other, and meanwhile its node exchanges what came before.
    fn allgather_in_lanes(
        &self,
        draft: &mut Draft<'_>,
        send: Option<Operand<'_>>,
        recv: Operand<'_>,
        members: u32,
    ) {
        draft.going(LANES);
        let (nodes, rank) = (self.nodes.count(), draft.me());
        let (here, place) = (rank / members, rank % members);
        let own = recv.block(rank);
        if let Some(send) = send {
            draft.copy(send.all(), own.clone());
        }
        for turn in 0..nodes {
            let came = (here + nodes - turn) % nodes;
            let (to, from) = ((here + turn + 1) % nodes, (came + nodes - 1) % nodes);
            if to != here {
                draft.send(to * members + place, own.clone());
                draft.receive(from * members + place, recv.block(from * members + place));
            }
            let mine = recv.block(came * members + place);
            for distance in 1..members {
                let (to, from) = ((place + distance) % members, (place + members - distance) % members);
                draft.send(here * members + to, mine.clone());
                draft.receive(here * members + from, recv.block(came * members + from));
            }
            draft.turn();
        }
    }

    /// Everybody gets its block of the combination of all operands, the blocks short: the leader of a node combines what is for all of
    /// them, and gives the leader of each other node one message. `place` gives first element and length of each member's block, one behind
    /// the other; the nodes are runs of ranks.
    pub(super) fn reduce_scatter(
        &self,
        draft: &mut Draft<'_>,
        own: Operand<'_>,
        recv: UserBuf,
        place: impl Fn(u32) -> (u64, u64),
    ) {
        draft.going(1); // others are that of all exchanges and through one member
        let nodes = self.nodes;
        let mine = place(draft.team.rank() as u32);
        let mine = Operand { buf: recv, count: mine.1, ..own };
        self.inside(draft);
        let members = draft.n();
        if !self.leads {
            reduce::onto(draft, own, own.buf, 0);
            // In place the result takes the place of what has left.
            draft.fence();
            draft.receive(0, mine.all());
            return;
        }
        let at_node = draft.temporary(1, own.count, own.datatype).get(0);
        reduce::onto(draft, own, at_node.buf, 0);
        draft.fence();
        let block = |node: u32| {
            let members = nodes.members(node);
            let ((first, _), (last, len)) = (place(members[0]), place(members[members.len() - 1]));
            Some((first, last + len - first))
        };
        let here = nodes.node(draft.team.rank() as u32);
        let (first, _) = block(here).unwrap_or_default();
        draft.among(&self.leaders);
        reduce::combine_block(draft, at_node, block, at_node.element(first), true);
        draft.fence();
        self.inside(draft);
        let of_member = |member: u32| {
            let (first, len) = place(nodes.own()[member as usize]);
            at_node.part(first, len)
        };
        for member in 1..members {
            draft.send(member, of_member(member));
        }
        draft.copy(of_member(0), mine.all());
    }

    /// Turns everybody's value into the combination of those up to it; the nodes are runs of ranks.
    pub(super) fn scan(&self, draft: &mut Draft<'_>, value: Operand<'_>) {
        self.inside(draft);
        scan::inclusive(draft, value, self.way_inside(draft));
        if let Some(before) = self.before_node(draft, value) {
            draft.combine(before.buf, value.buf, value.count);
        }
    }

    /// Makes everybody's value, but the first one's, the combination of the operands before its own, which may lie in the same place; the
    /// nodes are runs of ranks.
    pub(super) fn exscan(&self, draft: &mut Draft<'_>, own: Operand<'_>, value: Operand<'_>) {
        self.inside(draft);
        let (is_first, is_last) = (draft.me() == 0, draft.me() + 1 == draft.n());
        let total = if is_last { draft.temporary(1, own.count, own.datatype).get(0) } else { own };
        if is_last {
            draft.copy(own.all(), total.all());
        }
        scan::exclusive(draft, own, value, self.way_inside(draft));
        if is_last && !is_first {
            draft.fence();
            draft.combine(value.buf, total.buf, value.count);
        }
        match self.before_node(draft, total) {
            Some(before) if is_first => draft.copy(before.all(), value.all()),
            Some(before) => draft.combine(before.buf, value.buf, value.count),
            None => {}
        }
    }

    /// The way of a prefix reduction inside of a node.
    fn way_inside(&self, draft: &Draft<'_>) -> Scan {
        choose::scan(draft.n(), draft.team.is_oversubscribed())
    }

    /// What the operands of all nodes before the own one combine to; nothing in the first. The last member of each node has the `total` of
    /// its own.
    fn before_node<'d>(&self, draft: &mut Draft<'_>, total: Operand<'d>) -> Option<Operand<'d>> {
        let is_behind = self.nodes.node(draft.team.rank() as u32) > 0;
        // The first node's last member gets nothing.
        let before = if is_behind { draft.temporary(1, total.count, total.datatype).get(0) } else { total };
        let last = draft.n() - 1;
        if draft.me() == last {
            draft.among(&self.nodes.lasts());
            draft.fence();
            scan::exclusive(draft, total, before, Scan::Doubling);
            draft.fence();
        }
        self.inside(draft);
        if is_behind {
            // Always a tree: another way would have to be in the label.
            bcast::by_tree(draft, &before.all(), last, choose::radix(draft.team.is_oversubscribed()));
            draft.fence();
        }
        is_behind.then_some(before)
    }

    /// The root gets a short block of everybody: the leader of each other node has those of all its members. The nodes are runs of ranks.
    /// `own` and `all` are as in [`gather::collect`].
    pub(super) fn gather(
        &self,
        draft: &mut Draft<'_>,
        own: Option<Operand<'_>>,
        all: Option<Operand<'_>>,
        block: u64,
    ) {
        let byte = Datatype::byte();
        let (packed, of_node) = self.of_node(draft, all, block, &byte);
        self.inside(draft);
        gather::collect(draft, own, of_node, self.head, choose::moving_radix());
        self.between(draft, |draft| {
            draft.fence();
            match all {
                Some(all) => {
                    self.of_others(|node, first, count| draft.receive(node, all.blocks(first, count)))
                }
                None => draft.send(self.root, packed),
            }
        });
    }

    /// Everybody gets a short block of the root: the leader of each other node gets those of all its members. As [`Levels::gather`].
    pub(super) fn scatter(
        &self,
        draft: &mut Draft<'_>,
        all: Option<Operand<'_>>,
        own: Option<Operand<'_>>,
        block: u64,
    ) {
        let byte = Datatype::byte();
        let (packed, of_node) = self.of_node(draft, all, block, &byte);
        self.between(draft, |draft| match all {
            Some(all) => self.of_others(|node, first, count| draft.send(node, all.blocks(first, count))),
            None => {
                draft.receive(self.root, packed);
                draft.fence();
            }
        });
        self.inside(draft);
        gather::distribute(draft, of_node, own, self.head, choose::moving_radix());
    }

    /// The blocks of the own node at its leader: among those of all at the root, and packed elsewhere.
    fn of_node<'d>(
        &self,
        draft: &mut Draft<'_>,
        all: Option<Operand<'d>>,
        block: u64,
        byte: &'d Datatype,
    ) -> (Segment, Option<Operand<'d>>) {
        let own = self.nodes.own();
        let (first, count) = (u64::from(own[0]), own.len() as u64);
        let nothing = Segment::contiguous(UserBuf::none(), 0);
        match all {
            Some(all) => (nothing, Some(Operand { buf: all.element(first.wrapping_mul(all.count)), ..all })),
            None if self.leads => {
                let packed = draft.bytes((count * block) as usize);
                let of_node = Operand { buf: packed, count: block, datatype: byte };
                (Segment::contiguous(packed, count * block), Some(of_node))
            }
            None => (nothing, None),
        }
    }

    /// Shows each node but the root's, with its first member and how many it has.
    fn of_others(&self, mut each: impl FnMut(u32, u32, u32)) {
        for node in (0..self.nodes.count()).filter(|node| *node != self.root) {
            let members = self.nodes.members(node);
            each(node, members[0], members.len() as u32);
        }
    }

    /// As [`Levels::allgather`], with blocks of different lengths in any place.
    ///
    /// # Errors
    /// A datatype that cannot be built of the blocks.
    pub(super) fn allgatherv(
        &self,
        draft: &mut Draft<'_>,
        send: Option<Operand<'_>>,
        recv: Blocks<'_>,
    ) -> Result<()> {
        let nodes = self.nodes;
        let rank = draft.team.rank() as u32;
        let of_members = |members: &[u32]| recv.together(members[0], members.len() as u32);
        let of_nodes: Vec<Datatype> =
            (0..nodes.count()).map(|node| of_members(nodes.members(node))).collect::<Result<_>>()?;
        let all = recv.together(0, nodes.size())?;
        let of_node = |node: u32| described(recv.buf, 1, &of_nodes[node as usize]);
        self.inside(draft);
        let own = send.map_or_else(|| recv.block(rank), |send| send.all());
        if self.leads {
            for (member, of) in (0..).zip(nodes.own().iter()).skip(1) {
                draft.receive(member, recv.block(*of));
            }
            if send.is_some() {
                draft.copy(own, recv.block(rank));
            }
        } else {
            draft.send(0, own);
            // In place what comes takes the place of what has left.
            draft.fence();
        }
        self.between(draft, |draft| {
            draft.fence();
            let mine = of_node(draft.me());
            allgather::direct(draft, &mine, of_node);
            draft.fence();
        });
        self.inside(draft);
        let all = Operand { buf: recv.buf, count: 1, datatype: &all };
        bcast::down(draft, &all, 0, draft.team.is_oversubscribed());
        Ok(())
    }

    /// Everybody sends everybody a short block of its own: the leader of a node has those of all its members, and gives the leader of each
    /// other node one message. The nodes are runs of ranks.
    ///
    /// # Errors
    /// A datatype that cannot be built of the blocks.
    pub(super) fn alltoall(
        &self,
        draft: &mut Draft<'_>,
        send: Option<Operand<'_>>,
        recv: Operand<'_>,
    ) -> Result<()> {
        draft.going(1); // others are that of all exchanges and through one member
        let (nodes, n) = (self.nodes, self.nodes.size());
        let (own, all) = (send.unwrap_or(recv).blocks(0, n), recv.blocks(0, n));
        self.inside(draft);
        if !self.leads {
            // In place what comes takes the place of what has left: it comes when all has.
            draft.send(0, own);
            draft.receive(0, all);
            return Ok(());
        }
        // By what is received: who sends more or less is told so.
        let (block, members) = (recv.bytes(), draft.n());
        let row = block * u64::from(n);
        let (wide, byte) = (row as i64, Datatype::byte());
        // What leaves has a row for each member of this node, what comes a row for each process there is.
        let outgoing = draft.bytes((row * u64::from(members)) as usize);
        let incoming = draft.bytes((row * u64::from(members)) as usize);
        let out_row =
            |member: u32| Segment::contiguous(outgoing.offset((u64::from(member) * row) as isize), row);
        draft.copy(own, out_row(0));
        for member in 1..members {
            draft.receive(member, out_row(member));
        }
        draft.fence();
        let columns = |node: u32| -> Result<Segment> {
            let (first, count) = (nodes.members(node)[0], nodes.members(node).len() as i64);
            let column = Datatype::hvector(i64::from(members), count * block as i64, wide, &byte)?;
            Ok(Segment::new(outgoing.offset((u64::from(first) * block) as isize), 1, &column))
        };
        let rows = |node: u32| {
            let (first, count) = (nodes.members(node)[0], nodes.members(node).len() as u64);
            let width = u64::from(members) * block;
            Segment::contiguous(incoming.offset((u64::from(first) * width) as isize), count * width)
        };
        let here = nodes.node(draft.team.rank() as u32);
        let columns: Vec<Segment> = (0..nodes.count()).map(columns).collect::<Result<_>>()?;
        draft.copy(columns[here as usize].clone(), rows(here));
        draft.among(&self.leaders);
        draft.with_all_others(|draft, to, from| {
            draft.send(to, columns[to as usize].clone());
            draft.receive(from, rows(from));
        });
        draft.fence();
        self.inside(draft);
        let column = Datatype::hvector(i64::from(n), block as i64, i64::from(members) * block as i64, &byte)?;
        let of =
            |member: u32| Segment::new(incoming.offset((u64::from(member) * block) as isize), 1, &column);
        for member in 1..members {
            draft.send(member, of(member));
        }
        draft.copy(of(0), all);
        Ok(())
    }
}
