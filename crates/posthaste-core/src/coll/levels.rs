//! Operations in two levels, where members are on several nodes of which some have several members: inside the nodes, and between one
//! member of each, its leader.
//!
//! What goes over the network goes there once for each node, and only leaders have connections. Each level is an ordinary way of the
//! operation among some of the members ([`Draft::among`]); what is long goes on to the members of a node while it still comes.
//!
//! What must stay true: all members take two levels, or none. A root leads its node.

use std::sync::Arc;

use crate::buffer::UserBuf;
use crate::coll::choose::{self, Allreduce, Bcast, Cpus};
use crate::coll::label::Function;
use crate::coll::nodes::Nodes;
use crate::coll::plan::{Draft, Operand};
use crate::coll::{Schedule, Team, allgather, barrier, bcast, gather, reduce, tree};
use crate::datatype::{Datatype, Segment};
use crate::error::Result;

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
            draft.meet();
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

    /// Everybody gets the combination of all operands.
    pub(super) fn allreduce(&self, draft: &mut Draft<'_>, own: Operand<'_>, result: Operand<'_>) {
        let team = draft.team;
        let way = choose::allreduce(self.nodes.count(), own.bytes(), Cpus::Own);
        draft.going(way.number());
        self.inside(draft);
        reduce::onto(draft, own, result.buf, self.head);
        self.between(draft, |draft| {
            draft.fence();
            match way {
                Allreduce::Blocks(owners) => reduce::by_blocks_to_all(draft, result, result, owners),
                _ => reduce::by_doubling(draft, result, result),
            }
        });
        self.inside(draft);
        bcast::down(draft, &result, self.head, team.is_oversubscribed());
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
        draft.going(1); // the other way is that of all exchanges
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
