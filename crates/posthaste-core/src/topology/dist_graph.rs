//! Graphs of which each rank knows its own edges (MPI-5.0 §8.5.4, §8.5.5).
//!
//! Either each rank names the edges at itself ([`DistGraph::adjacent`]), or any rank names any edges ([`Edges`]); then each edge
//! goes to both of its ends. First everybody learns how many edges it gets from whom, then it gets them:
//!
//! ```text
//!   Edges::plan  --schedule-->  Announced::plan  --schedule-->  Delivered::finish
//! ```
//!
//! What must stay true: both ends of several edges between the same two ranks have them in the same order, that of who named
//! them and within those the order of naming; so weights agree, and so do neighbourhood collectives.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Schedule};
use crate::comm::{Comm, Creation};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::ContextId;
use crate::topology::{Topology, intra};

/// The edges at one rank of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistGraph {
    sources: Vec<i32>,
    destinations: Vec<i32>,
    /// Of the edges from the sources and of those to the destinations.
    weights: Option<[Vec<i32>; 2]>,
}

impl DistGraph {
    /// The edges at this rank of `comm`: where they come from, where they lead to, and what both weigh, if anything.
    ///
    /// # Errors
    /// On an intercommunicator; a rank that nobody has; a negative weight, or not one for each edge. Edges that are named at one
    /// of their ends only are found by neighbourhood collectives.
    pub fn adjacent(
        comm: &Comm,
        sources: &[i32],
        destinations: &[i32],
        weights: Option<[&[i32]; 2]>,
    ) -> Result<Self> {
        intra(comm)?;
        check_ranks(comm, "sources", sources)?;
        check_ranks(comm, "destinations", destinations)?;
        if let Some([from, to]) = weights {
            check_weights("sourceweights", from, sources.len())?;
            check_weights("destweights", to, destinations.len())?;
        }
        let weights = weights.map(|weights| weights.map(<[i32]>::to_vec));
        Ok(Self { sources: sources.to_vec(), destinations: destinations.to_vec(), weights })
    }

    /// Plans the communicator that carries the graph, for the function `name`. Ranks stay as they are.
    ///
    /// # Errors
    /// When no context can be allocated.
    pub fn plan(
        self,
        comm: &Comm,
        name: &'static str,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        comm.plan_subset(name, comm.group(), Some(Topology::DistGraph(self).stored()), allocate)
    }

    /// The ranks that edges come from.
    pub fn sources(&self) -> &[i32] {
        &self.sources
    }

    /// The ranks that edges lead to.
    pub fn destinations(&self) -> &[i32] {
        &self.destinations
    }

    /// Weights of the edges from the sources and of those to the destinations, if edges have any.
    pub fn weights(&self) -> Option<[&[i32]; 2]> {
        self.weights.as_ref().map(|weights| weights.each_ref().map(Vec::as_slice))
    }
}

/// Edges that any rank may name.
#[derive(Clone, Copy, Debug)]
pub struct Edges<'a> {
    /// Where they begin.
    pub sources: &'a [i32],
    /// How many begin at each of the sources.
    pub degrees: &'a [i32],
    /// Where they lead to, those of one source after those of another.
    pub destinations: &'a [i32],
    /// What they weigh, if anything: the same of all ranks.
    pub weights: Option<&'a [i32]>,
}

/// Bytes sent to each end of an edge: which end it is, the rank at the other, the weight.
const EDGE: usize = 12;
/// Bytes sent in advance: how many edges come, and whether they have weights.
const AHEAD: usize = 8;
/// Most edges at one rank: they are counted by a C `int`.
const MOST: u64 = i32::MAX as u64;

/// Which end of an edge a rank is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Source,
    Destination,
}

impl Edges<'_> {
    /// How many edges there are.
    ///
    /// # Errors
    /// A negative degree.
    pub fn count(degrees: &[i32]) -> Result<usize> {
        degrees.iter().enumerate().try_fold(0_usize, |all, (at, degree)| match usize::try_from(*degree) {
            Ok(degree) => Ok(all.saturating_add(degree)),
            Err(_) => {
                let got = format_args!("{degree} at index {at}");
                Err(Error::invalid(ErrorClass::Arg, "degrees", got, "0 or more"))
            }
        })
    }

    /// Plans to announce to everybody how many edges it will get.
    ///
    /// # Errors
    /// On an intercommunicator; lists that do not fit each other; a rank that nobody has; a negative weight.
    pub fn plan(self, comm: &Comm) -> Result<(Schedule, Announced<'_>)> {
        intra(comm)?;
        check_ranks(comm, "sources", self.sources)?;
        check_length("degrees", self.degrees.len(), "source", self.sources.len())?;
        let count = Self::count(self.degrees)?;
        check_length("destinations", self.destinations.len(), "edge", count)?;
        check_ranks(comm, "destinations", self.destinations)?;
        if let Some(weights) = self.weights {
            check_weights("weights", weights, count)?;
        }
        let mut edges = vec![Vec::new(); comm.size() as usize];
        let mut send = |rank: i32, end: End, other: i32, weight: i32| {
            edges[rank as usize].extend([end as i32, other, weight].map(i32::to_le_bytes).as_flattened());
        };
        let sources = self.sources.iter().zip(self.degrees);
        let sources = sources.flat_map(|(source, degree)| std::iter::repeat_n(*source, *degree as usize));
        for (at, (source, destination)) in sources.zip(self.destinations).enumerate() {
            let weight = self.weights.map_or(0, |weights| weights[at]);
            send(source, End::Source, *destination, weight);
            send(*destination, End::Destination, source, weight);
        }
        let weighted = self.weights.is_some();
        let ahead = |edges: &Vec<u8>| {
            [(edges.len() / EDGE) as u32, weighted.into()].map(u32::to_le_bytes).as_flattened().to_vec()
        };
        let blocks: Vec<Vec<u8>> = edges.iter().map(ahead).collect();
        let lengths = vec![AHEAD; blocks.len()];
        let (schedule, received) = exchange(comm, &blocks, &lengths)?;
        Ok((schedule, Announced { comm, edges, weighted, received }))
    }
}

/// Everybody learns how many edges it gets.
#[derive(Debug)]
pub struct Announced<'a> {
    comm: &'a Comm,
    /// For each rank.
    edges: Vec<Vec<u8>>,
    weighted: bool,
    received: Received,
}

impl Announced<'_> {
    /// Plans to bring the edges to their ends, once the first schedule is over and went well.
    ///
    /// # Errors
    /// Weights at some ranks only; more edges at one rank than an `int` counts.
    pub fn plan(self) -> Result<(Schedule, Delivered)> {
        let Self { comm, edges, weighted, received } = self;
        let mut lengths = Vec::with_capacity(edges.len());
        let mut all = 0;
        for (rank, ahead) in received.blocks().iter().enumerate() {
            let [count, theirs] = [0, 4].map(|at| word(ahead, at));
            if (theirs != 0) != weighted {
                let has = |weighted| if weighted { "weights" } else { "MPI_UNWEIGHTED" };
                let got = format_args!("{} at rank {rank}", has(theirs != 0));
                let expected =
                    format_args!("the same at all ranks: rank {} gave {}", comm.rank(), has(weighted));
                return Err(Error::invalid(ErrorClass::Arg, "weights", got, expected));
            }
            all += u64::from(count as u32);
            lengths.push(count as u32 as usize * EDGE);
        }
        if all > MOST {
            let expected = format_args!("at most {MOST}");
            return Err(Error::invalid(
                ErrorClass::Count,
                "degrees",
                format_args!("{all} edges at one rank"),
                expected,
            ));
        }
        let (schedule, received) = exchange(comm, &edges, &lengths)?;
        Ok((schedule, Delivered { size: comm.size(), weighted, received }))
    }
}

/// Everybody gets the edges at itself.
#[derive(Debug)]
pub struct Delivered {
    size: i32,
    weighted: bool,
    received: Received,
}

impl Delivered {
    /// The edges at this rank, once the second schedule is over and went well.
    ///
    /// # Errors
    /// When what the others sent makes no sense.
    pub fn finish(self) -> Result<DistGraph> {
        let mut ends = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
        for edge in self.received.blocks().iter().flat_map(|block| block.chunks_exact(EDGE)) {
            let [end, other, weight] = [0, 4, 8].map(|at| word(edge, at));
            let at = [End::Destination, End::Source].iter().position(|known| *known as i32 == end);
            let Some(at) = at.filter(|_| (0..self.size).contains(&other)) else {
                let text = format!("an edge came that cannot be ({end}, {other}, {weight})");
                return Err(Error::other(ErrorClass::Intern, text));
            };
            ends[at].0.push(other);
            ends[at].1.push(weight);
        }
        // The destination of an edge gets its source.
        let [(sources, from), (destinations, to)] = ends;
        Ok(DistGraph { sources, destinations, weights: self.weighted.then_some([from, to]) })
    }
}

/// What comes from each rank in an exchange.
#[derive(Debug)]
struct Received {
    outcome: Arc<OwnedBuf>,
    /// Bytes of the own blocks, which lie before.
    own: usize,
    lengths: Vec<usize>,
}

impl Received {
    fn blocks(&self) -> Vec<Vec<u8>> {
        let all = self.outcome.source().to_vec();
        let mut at = self.own;
        let block = |len: &usize| {
            let block = all[at..at + len].to_vec();
            at += len;
            block
        };
        self.lengths.iter().map(block).collect()
    }
}

/// Everybody sends everybody a block of bytes, and gets blocks of these lengths.
fn exchange(comm: &Comm, blocks: &[Vec<u8>], lengths: &[usize]) -> Result<(Schedule, Received)> {
    let own = blocks.concat();
    let mut outcome = OwnedBuf::new(own.len() + lengths.iter().sum::<usize>());
    outcome.sink().copy_from(&own);
    let received = Received { outcome: Arc::new(outcome), own: own.len(), lengths: lengths.to_vec() };
    let sent: Vec<usize> = blocks.iter().map(Vec::len).collect();
    let schedule = coll::exchange(comm, "MPI_Dist_graph_create", &sent, lengths, received.outcome.clone())?;
    Ok((schedule, received))
}

fn word(bytes: &[u8], at: usize) -> i32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    i32::from_le_bytes(word.copied().unwrap_or_default())
}

fn check_ranks(comm: &Comm, argument: &'static str, ranks: &[i32]) -> Result<()> {
    let wrong = ranks.iter().enumerate().find(|(_, rank)| !(0..comm.size()).contains(*rank));
    wrong.map_or(Ok(()), |(at, rank)| {
        let got = format_args!("{rank} at index {at}");
        Err(Error::invalid(ErrorClass::Rank, argument, got, format_args!("0..={}", comm.size() - 1)))
    })
}

fn check_weights(argument: &'static str, weights: &[i32], edges: usize) -> Result<()> {
    check_length(argument, weights.len(), "edge", edges)?;
    let wrong = weights.iter().enumerate().find(|(_, weight)| **weight < 0);
    wrong.map_or(Ok(()), |(at, weight)| {
        let got = format_args!("{weight} at index {at}");
        Err(Error::invalid(ErrorClass::Arg, argument, got, "0 or more"))
    })
}

fn check_length(argument: &'static str, len: usize, of: &str, expected: usize) -> Result<()> {
    if len == expected {
        return Ok(());
    }
    let expected = format_args!("one for each {of}, {expected}");
    Err(Error::invalid(ErrorClass::Arg, argument, format_args!("{len} entries long"), expected))
}
