//! Operations on device memory: a plan is rewritten so that it works in memory of the engine, between copies.
//!
//! ```text
//!   copies out of what the steps read before they write it, a fence,
//!   the steps as planned, each address moved to its place in a mirror of the device's memory, a fence,
//!   copies into what the steps have written
//! ```
//!
//! It reads nothing but the steps, so it holds for every operation, blocking, nonblocking and persistent, and no algorithm
//! knows of it. What must stay true: what the steps do not write keeps its bytes in the device's memory; a copy that fails
//! does not stop the steps, because the peers wait for our messages; but after an error nothing is copied in.

use std::collections::BTreeMap;

use crate::buffer::{Direction, OwnedBuf, UserBuf, device};
use crate::coll::steps::{Plan, Step};
use crate::datatype::{Datatype, Segment};

/// Mirrors keep alignments below this.
const ALIGN: usize = 64;

/// A range of addresses in device memory, and the engine's memory for it.
struct Mirror {
    low: usize,
    high: usize,
    memory: OwnedBuf,
}

/// Rewrites a plan some of whose steps name device memory.
#[cold]
#[inline(never)]
pub(super) fn stage(plan: &mut Plan) {
    let mirrors = mirrors(plan);
    if mirrors.is_empty() {
        return;
    }
    let (mut read, mut written) = (Ranges::default(), Ranges::default());
    for step in &plan.steps {
        let (reads, writes) = touched(plan, step);
        for (low, high) in runs(&reads, &mirrors) {
            written.gaps(low, high).into_iter().for_each(|(low, high)| read.add(low, high));
        }
        runs(&writes, &mirrors).for_each(|(low, high)| written.add(low, high));
    }
    let copies = |direction, ranges: &Ranges| -> Vec<Step> {
        let copy = |mirror: &Mirror| {
            let runs = ranges.within(mirror.low, mirror.high);
            let runs = runs.map(|(low, high)| (low, mirror.at(low), high - low)).collect::<Vec<_>>();
            (!runs.is_empty()).then_some(Step::Stage { direction, runs })
        };
        mirrors.iter().filter_map(copy).collect()
    };
    let mut steps = copies(Direction::Out, &read);
    if !steps.is_empty() {
        steps.push(Step::Fence);
    }
    let end = copies(Direction::In, &written);
    for mut step in plan.steps.drain(..) {
        relocate(&mut step, &mirrors, plan.reduction.as_ref().map(|(_, datatype)| datatype));
        steps.push(step);
    }
    if !matches!(steps.last(), None | Some(Step::Fence)) {
        steps.push(Step::Fence);
    }
    steps.extend(end);
    plan.steps = steps;
    plan.temporaries.extend(mirrors.into_iter().map(|mirror| mirror.memory));
}

/// What a step reads and writes.
fn touched(plan: &Plan, step: &Step) -> (Vec<Segment>, Vec<Segment>) {
    match step {
        Step::Send { segment, .. } => (vec![segment.clone()], Vec::new()),
        Step::Receive { segment, .. } if segment.is_combined() => {
            (vec![segment.overwritten()], vec![segment.overwritten()])
        }
        Step::Receive { segment, .. } => (Vec::new(), vec![segment.clone()]),
        Step::Copy { from, to } => (vec![from.clone()], vec![to.clone()]),
        Step::Combine { input, inout, count } => {
            let Some((_, datatype)) = &plan.reduction else { return (Vec::new(), Vec::new()) };
            let array = |buf| Segment::new(buf, *count, datatype);
            (vec![array(*input), array(*inout)], vec![array(*inout)])
        }
        Step::Fence | Step::Turn | Step::Stage { .. } => (Vec::new(), Vec::new()),
    }
}

/// The runs of those segments that lie in device memory.
fn runs<'a>(segments: &'a [Segment], mirrors: &'a [Mirror]) -> impl Iterator<Item = (usize, usize)> + 'a {
    segments.iter().filter(|segment| mirror_of(segment, mirrors).is_some()).flat_map(|segment| {
        let mut runs = Vec::new();
        segment.clone().runs(usize::MAX, u64::MAX, &mut runs);
        runs.into_iter().map(|(address, len)| (address, address + len))
    })
}

/// Mirrors of all device memory that the steps name; what touches each other is in one.
fn mirrors(plan: &Plan) -> Vec<Mirror> {
    let mut reached = Ranges::default();
    for step in &plan.steps {
        let (reads, writes) = touched(plan, step);
        for segment in reads.iter().chain(&writes) {
            if let Some((low, high)) = segment.reach()
                && device::is_owned(low, 1)
            {
                reached.add(low, high);
            }
        }
    }
    let mirror = |(low, high)| Mirror { low, high, memory: OwnedBuf::new(high - low + low % ALIGN) };
    reached.within(0, usize::MAX).map(mirror).collect()
}

fn mirror_of<'a>(segment: &Segment, mirrors: &'a [Mirror]) -> Option<&'a Mirror> {
    let (low, _) = segment.reach()?;
    mirrors.iter().find(|mirror| (mirror.low..mirror.high).contains(&low))
}

impl Mirror {
    /// The place of an address of the device, which may be one that displacements count from.
    fn at(&self, address: usize) -> UserBuf {
        let first = self.memory.user_buf().offset((self.low % ALIGN) as isize);
        first.offset(address.wrapping_sub(self.low) as isize)
    }
}

/// Moves the addresses of a step.
fn relocate(step: &mut Step, mirrors: &[Mirror], reduced: Option<&Datatype>) {
    let segment = |segment: &mut Segment| {
        if let Some(mirror) = mirror_of(segment, mirrors) {
            *segment = segment.moved(|buf| mirror.at(buf.address()));
        }
    };
    match step {
        Step::Send { segment: out, .. } => segment(out),
        Step::Receive { segment: into, .. } => segment(into),
        Step::Copy { from, to } => {
            segment(from);
            segment(to);
        }
        Step::Combine { input, inout, count } => {
            for buf in [input, inout] {
                let array = reduced.map(|datatype| Segment::new(*buf, *count, datatype));
                if let Some(mirror) = array.and_then(|array| mirror_of(&array, mirrors)) {
                    *buf = mirror.at(buf.address());
                }
            }
        }
        Step::Fence | Step::Turn | Step::Stage { .. } => {}
    }
}

/// Sets of addresses, as ranges that neither overlap nor touch.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<usize, usize>);

impl Ranges {
    fn add(&mut self, mut low: usize, mut high: usize) {
        while let Some((first, last)) = self.0.range(..=high).next_back().map(|(first, last)| (*first, *last))
            && last >= low
        {
            self.0.remove(&first);
            (low, high) = (low.min(first), high.max(last));
        }
        self.0.insert(low, high);
    }

    /// What of a range is not in the set.
    fn gaps(&self, low: usize, high: usize) -> Vec<(usize, usize)> {
        let (mut gaps, mut at) = (Vec::new(), low);
        for (first, last) in self.within(low, high) {
            if first > at {
                gaps.push((at, first));
            }
            at = last;
        }
        if at < high {
            gaps.push((at, high));
        }
        gaps
    }

    /// What of the set is in a range.
    fn within(&self, low: usize, high: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let before = self.0.range(..low).next_back().filter(move |(_, last)| **last > low);
        let ranges = before.into_iter().chain(self.0.range(low..high));
        ranges.map(move |(first, last)| ((*first).max(low), (*last).min(high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sets_of_addresses() {
        let mut random = 1u64;
        let mut draw = |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % n
        };
        for _ in 0..300 {
            let (mut ranges, mut model) = (Ranges::default(), [false; 64]);
            for _ in 0..draw(12) {
                let (low, len) = (draw(56) as usize, 1 + draw(8) as usize);
                ranges.add(low, low + len);
                model[low..low + len].fill(true);
            }
            let (low, high) = (draw(32) as usize, 33 + draw(31) as usize);
            let all = |ranges: Vec<(usize, usize)>| ranges.into_iter().flat_map(|(low, high)| low..high);
            let there: Vec<usize> = all(ranges.within(low, high).collect()).collect();
            let missing: Vec<usize> = all(ranges.gaps(low, high)).collect();
            assert_eq!(there, (low..high).filter(|at| model[*at]).collect::<Vec<_>>());
            assert_eq!(missing, (low..high).filter(|at| !model[*at]).collect::<Vec<_>>());
            assert!(ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|((_, last), (first, _))| last < first));
        }
    }
}
