//! Operations on memory that only its owner reaches: [`onesided`](crate::onesided) carries them, and here is kept what is
//! under way.
//!
//! Elements of a target that are not one run are one operation where packets carry it: its datatype travels once and is named after
//! that. A few runs are an operation each, and so are long ones where the method or the kernel moves them, and all where memory is attached.
//!
//! What must stay true: every operation that was started ends once, with its target known; a request of one ends in
//! `request/complete.rs`, when all its parts have. The first error of an operation without a request stays with its target
//! until the synchronisation that completes it tells it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::place::{At, Place};
use super::{Flavor, LockKind, Update, Window, lock};
use crate::datatype::{Builtin, Segment};
use crate::error::{Error, Result};
use crate::ids::RequestId;
use crate::method::Methods;
use crate::onesided::{Atomic, Done, OneSided, RemoteKey, Scattered, Target, Token};
use crate::pt2pt::Engine;
use crate::request::{Composite, Status, complete, composite};

/// Runs of a target that are better an operation each: less to say than how they lie.
pub(crate) const FEW: u64 = 3;
/// Bytes of a run, in the mean, from which on the method or the kernel moves each by itself: shorter ones are moved faster by the
/// target, all at once.
const LONG_RUN: u64 = 1024;

/// What goes on between one member of a window and those targets with which anything does. It changes under the lock of the
/// window's VCI.
#[derive(Debug, Default)]
pub struct Traffic(Mutex<Courses>);

#[derive(Debug, Default)]
struct Courses {
    of: BTreeMap<usize, Course>,
    age: Age,
}

/// What begins between two synchronisations has one age, so that each waits for what began before it, and not for what other threads
/// begin meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(u64);

#[cfg(test)]
impl Age {
    /// That of whatever begins.
    pub const LAST: Self = Self(u64::MAX);
}

/// Some targets of a window.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// All members.
    All,
    /// Those with these ranks.
    These(&'a [usize]),
}

#[derive(Clone, Debug, Default)]
struct Course {
    /// Operations whose buffers are not the program's again, flushes and locks that are not answered: how many of each age.
    open: VecDeque<(Age, usize)>,
    /// The target may not have done everything.
    dirty: bool,
    error: Option<Error>,
}

impl Course {
    fn is_busy(&self) -> bool {
        self.dirty || !self.open.is_empty()
    }

    fn begun(&mut self, age: Age) {
        match self.open.back_mut() {
            Some((last, count)) if *last == age => *count += 1,
            _ => self.open.push_back((age, 1)),
        }
    }

    fn ended(&mut self, age: Age) {
        let Some(at) = self.open.iter().position(|(of, _)| *of == age) else { return };
        self.open[at].1 -= 1;
        if self.open[at].1 == 0 {
            self.open.remove(at);
        }
    }
}

impl Traffic {
    /// The age of what has begun so far; what begins from now on is younger.
    pub fn so_far(&self) -> Age {
        let mut courses = lock(&self.0);
        let age = courses.age;
        courses.age.0 += 1;
        age
    }

    /// The age of what begins now.
    fn now(&self) -> Age {
        lock(&self.0).age
    }

    /// Whether the buffers of all operations towards a target that are of this age or older are the program's again, and all such
    /// questions are answered.
    pub fn is_quiet(&self, target: usize, age: Age) -> bool {
        let courses = lock(&self.0);
        let oldest = courses.of.get(&target).and_then(|course| course.open.front());
        oldest.is_none_or(|(oldest, _)| *oldest > age)
    }

    /// What went wrong with an operation of which nobody has been told.
    ///
    /// # Errors
    /// That.
    pub fn outcome(&self, target: usize) -> Result<()> {
        let mut error = None;
        if lock(&self.0).of.contains_key(&target) {
            self.change(target, |course| error = course.error.take());
        }
        error.map_or(Ok(()), Err)
    }

    /// The targets that may not have done everything.
    pub fn dirty(&self, targets: &[usize]) -> Vec<usize> {
        let courses = lock(&self.0);
        let is_dirty = |target: &usize| courses.of.get(target).is_some_and(|course| course.dirty);
        targets.iter().copied().filter(is_dirty).collect()
    }

    /// Those of these targets, or of all, with something under way, be it that of another thread, or not flushed, or with an error
    /// that nobody has been told of.
    pub fn busy(&self, targets: Targets<'_>) -> Vec<usize> {
        let courses = lock(&self.0);
        match targets {
            Targets::All => courses.of.keys().copied().collect(),
            Targets::These(these) => these.iter().copied().filter(|at| courses.of.contains_key(at)).collect(),
        }
    }

    fn change(&self, target: usize, change: impl FnOnce(&mut Course)) {
        let Courses { of, .. } = &mut *lock(&self.0);
        let course = of.entry(target).or_default();
        change(course);
        if !course.is_busy() && course.error.is_none() {
            of.remove(&target);
        }
    }
}

/// The operations under way of all windows of a VCI.
#[derive(Debug, Default)]
pub struct Operations {
    open: HashMap<u64, Open>,
    last: u64,
    /// Windows that were freed after a member was lost. Other members may not have heard of that, and still write to memory that
    /// is the library's, so it stays until the engine ends.
    kept: Vec<Arc<Window>>,
}

#[derive(Debug)]
struct Open {
    traffic: Arc<Traffic>,
    target: usize,
    age: Age,
    ends: Ends,
}

/// What the end of an operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// The use of a buffer.
    Operation,
    /// A part of this request.
    Part(RequestId),
    /// A flush, or the wait for a lock.
    Question,
}

/// Where an operation starts.
#[derive(Debug)]
pub struct Origin<'a> {
    /// The window's engine.
    pub engine: &'a mut Engine,
    /// Its ways to the peers.
    pub methods: &'a mut Methods,
    /// The request that ends with it, if it has one ([`Operations::request`]).
    pub request: Option<RequestId>,
}

impl Operations {
    /// A request that expects one part more than it is told of, until [`Operations::sealed`].
    ///
    /// # Errors
    /// A full table of requests.
    pub fn request(engine: &mut Engine) -> Result<RequestId> {
        composite::begin(&mut engine.requests, Composite::of(1), Status::EMPTY)
    }

    /// All parts of a request have been started.
    pub fn sealed(engine: &mut Engine, request: RequestId) {
        let Engine { requests, finished, .. } = engine;
        complete::part_ended(requests, finished, request, Status::EMPTY, false);
    }

    /// The memory of a window is not given back.
    pub fn keep(&mut self, window: &Arc<Window>) {
        self.kept.push(window.clone());
    }

    /// Writes to a target.
    ///
    /// # Errors
    /// The peer is lost; memory of a device.
    pub fn put(
        &mut self,
        origin: &mut Origin<'_>,
        window: &Window,
        (at, place): (&At<'_>, Place),
        data: &Segment,
    ) -> Result<()> {
        if let Some(scattered) = scatter(origin, window, (at, place)) {
            let data = data.clone();
            return self.start(
                origin,
                window,
                place,
                (0, Some(scattered)),
                |onesided, methods, target, token| onesided.put(methods, target, data, token),
            );
        }
        let mut from = 0;
        for (by, len) in at.runs() {
            let part = data.part(from, from + len)?;
            self.start(origin, window, place, (by, None), |onesided, methods, target, token| {
                onesided.put(methods, target, part, token)
            })?;
            from += len;
        }
        Ok(())
    }

    /// Reads from a target.
    ///
    /// # Errors
    /// As [`Operations::put`].
    pub fn get(
        &mut self,
        origin: &mut Origin<'_>,
        window: &Window,
        (at, place): (&At<'_>, Place),
        into: &Segment,
    ) -> Result<()> {
        if let Some(scattered) = scatter(origin, window, (at, place)) {
            let into = into.clone();
            return self.start(
                origin,
                window,
                place,
                (0, Some(scattered)),
                |onesided, methods, target, token| onesided.get(methods, target, into, token),
            );
        }
        let mut from = 0;
        for (by, len) in at.runs() {
            let part = into.part(from, from + len)?;
            self.start(origin, window, place, (by, None), |onesided, methods, target, token| {
                onesided.get(methods, target, part, token)
            })?;
            from += len;
        }
        Ok(())
    }

    /// Changes elements of a target; `old` gets what they were.
    ///
    /// # Errors
    /// As [`Operations::put`]; what [`OneSided::atomic`] says.
    pub fn update(
        &mut self,
        origin: &mut Origin<'_>,
        window: &Window,
        (at, place): (&At<'_>, Place),
        (element, update): (&'static Builtin, Update),
        operands: &Segment,
        old: Option<&Segment>,
    ) -> Result<()> {
        let by_network = window.is_changed_by_network(element);
        if let Update::Combine(op) = update
            && !by_network
            && element.size as i64 == element.extent
            && let Some(scattered) = scatter(origin, window, (at, place))
        {
            let (what, old) = (Atomic::Combine(op, operands.clone()), old.cloned());
            return self.start(
                origin,
                window,
                place,
                (0, Some(scattered)),
                |onesided, methods, target, token| {
                    onesided.atomic(methods, target, element, what, old, token)
                },
            );
        }
        let mut from = 0;
        for (by, count) in at.arrays(element) {
            let to = from + count * element.size;
            let old = old.map(|old| old.part(from, to)).transpose()?;
            let what = match update {
                Update::Combine(op) => Atomic::Combine(op, operands.part(from, to)?),
                Update::CompareAndSwap => {
                    let [expected, new] = [0, 1].map(|half| half * element.size);
                    let half = |from: u64| operands.part(from, from + element.size);
                    Atomic::CompareAndSwap(half(expected)?, half(new)?)
                }
            };
            self.start(origin, window, place, (by, None), |onesided, methods, target, token| {
                if by_network {
                    onesided.change(methods, target, element, what, old, token)
                } else {
                    onesided.atomic(methods, target, element, what, old, token)
                }
            })?;
            from = to;
        }
        Ok(())
    }

    /// Starts one operation, `by` bytes behind a place, on one run or on elements that lie so.
    fn start(
        &mut self,
        Origin { engine, methods, request }: &mut Origin<'_>,
        window: &Window,
        place: Place,
        (by, scattered): (i64, Option<Scattered>),
        start: impl FnOnce(&mut OneSided, &mut Methods, Target, Token) -> Result<()>,
    ) -> Result<()> {
        let part = window.part(place.target)?;
        let (peer, key, offset) = (window.peer(place.target), part.key, place.offset.wrapping_add(by) as u64);
        let target = Target { peer, key, memory: part.memory, offset, scattered };
        let ends = request.map_or(Ends::Operation, Ends::Part);
        let (token, age) = self.begin(window, place.target, ends);
        let started = engine.with_onesided(|onesided, _| start(onesided, methods, target, token));
        if let Err(why) = started {
            self.open.remove(&token.0);
            return Err(why);
        }
        if let Some(request) = request {
            composite::expect(&mut engine.requests, *request, 1);
        }
        window.traffic().change(place.target, |course| {
            course.dirty = true;
            course.begun(age);
        });
        Ok(())
    }

    /// Reads what a member shows under a name.
    ///
    /// # Errors
    /// The peer is lost.
    pub fn read_named(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        window: &Window,
        (member, key): (usize, RemoteKey),
        into: Segment,
    ) -> Result<()> {
        let from = Target { peer: window.peer(member), key, memory: None, offset: 0, scattered: None };
        // An operation, and no question: it is waited for in any case, for the sake of the memory that it goes into.
        self.begin_one(engine, window, member, Ends::Operation, |onesided, token| {
            onesided.get(methods, from, into, token)
        })
    }

    /// Asks a target whether it has done everything that was started before.
    ///
    /// # Errors
    /// The peer is lost.
    pub fn flush(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        window: &Window,
        target: usize,
    ) -> Result<()> {
        let of = (window.peer(target), window.part(target)?.key);
        let asked = self.ask(engine, window, target, |onesided, token| onesided.flush(methods, of, token));
        // Only now: another thread's flush must see that something goes on until the answer has come.
        window.traffic().change(target, |course| course.dirty = false);
        asked
    }

    /// Asks for the lock of a target.
    ///
    /// # Errors
    /// The peer is lost.
    pub fn lock(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        window: &Window,
        (target, kind): (usize, LockKind),
    ) -> Result<()> {
        let of = (window.peer(target), window.key_of_lock(target)?);
        self.ask(engine, window, target, |onesided, token| {
            onesided.lock(methods, of, kind == LockKind::Exclusive, token)
        })
    }

    /// Gives it back.
    ///
    /// # Errors
    /// The peer is lost.
    pub fn unlock(engine: &mut Engine, methods: &mut Methods, window: &Window, target: usize) -> Result<()> {
        let of = (window.peer(target), window.key_of_lock(target)?);
        engine.with_onesided(|onesided, _| onesided.unlock(methods, of))
    }

    fn ask(
        &mut self,
        engine: &mut Engine,
        window: &Window,
        target: usize,
        ask: impl FnOnce(&mut OneSided, Token) -> Result<()>,
    ) -> Result<()> {
        self.begin_one(engine, window, target, Ends::Question, ask)
    }

    fn begin_one(
        &mut self,
        engine: &mut Engine,
        window: &Window,
        target: usize,
        ends: Ends,
        begin: impl FnOnce(&mut OneSided, Token) -> Result<()>,
    ) -> Result<()> {
        let (token, age) = self.begin(window, target, ends);
        if let Err(why) = engine.with_onesided(|onesided, _| begin(onesided, token)) {
            self.open.remove(&token.0);
            return Err(why);
        }
        window.traffic().change(target, |course| course.begun(age));
        Ok(())
    }

    /// Nobody waits for the answers to questions of a window any more, which has been revoked: who has a lock may never give it back.
    pub fn ask_no_more(&mut self, window: &Window) {
        let traffic = window.traffic();
        let given_up = |open: &Open| open.ends == Ends::Question && Arc::ptr_eq(&open.traffic, traffic);
        for (_, Open { target, age, .. }) in self.open.extract_if(|_, open| given_up(open)) {
            traffic.change(target, |course| course.ended(age));
        }
    }

    fn begin(&mut self, window: &Window, target: usize, ends: Ends) -> (Token, Age) {
        self.last += 1;
        let token = Token::OF_WINDOW | self.last;
        let traffic = window.traffic().clone();
        let age = traffic.now();
        self.open.insert(token, Open { traffic, target, age, ends });
        (Token(token), age)
    }

    /// Takes the ends of operations. Whether there were any.
    #[cold]
    pub fn settle(&mut self, engine: &mut Engine) -> bool {
        let mut busy = false;
        while let Some(Done { token, outcome }) =
            engine.with_onesided(|onesided, _| onesided.next_done_of_window())
        {
            busy = true;
            let Some(Open { traffic, target, age, ends }) = self.open.remove(&token.0) else { continue };
            match ends {
                Ends::Part(request) => {
                    let Engine { requests, finished, .. } = &mut *engine;
                    let status = Status { error: outcome.err(), ..Status::EMPTY };
                    complete::part_ended(requests, finished, request, status, false);
                    // Local completion of all, of those with requests too (MPI-5.0 §12.5.4).
                    traffic.change(target, |course| course.ended(age));
                }
                Ends::Operation | Ends::Question => traffic.change(target, |course| {
                    course.ended(age);
                    course.error = course.error.take().or(outcome.err());
                }),
            }
        }
        busy
    }
}

/// Whether so many runs of an access are short in the mean.
pub(crate) fn is_short(at: &At<'_>, runs: u64) -> bool {
    at.datatype.size().saturating_mul(at.count) < runs.saturating_mul(LONG_RUN)
}

/// How the elements of an access lie, as its target is told, if that makes it one operation.
fn scatter(
    Origin { engine, methods, .. }: &mut Origin<'_>,
    window: &Window,
    (at, place): (&At<'_>, Place),
) -> Option<Scattered> {
    if at.datatype.is_contiguous() {
        return None;
    }
    let runs = at.datatype.layout().runs().saturating_mul(at.count);
    let has_packets = window.flavor() != Flavor::Dynamic;
    let memory = window.parts().get(place.target).and_then(|part| part.memory);
    let is_moved_by_itself = memory.is_some() && !is_short(at, runs);
    if runs <= FEW || !has_packets || is_moved_by_itself {
        return None;
    }
    let peer = window.peer(place.target);
    engine.with_onesided(|onesided, _| onesided.scatter(methods, peer, (at.datatype, at.count)))
}
