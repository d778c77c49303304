//! Telling others what this process waits for.
//!
//! A call publishes its wait when it goes to sleep, and again while it sleeps on, by what it sees in its VCI; when it is over the
//! status page is wiped. What must stay true: nothing here runs before a call has waited long enough to sleep; the status page says
//! nothing while no call waits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::node::{Node, VCIS};
use posthaste_os::sync::Mutex;

use crate::coll::About;
use crate::explain::{Goal, Handled, List, Message, Operation, PERSISTENT, Part, Report, Wait};
use crate::ids::{ContextId, Peer, RequestId};
use crate::progress::Vci;
use crate::pt2pt::{Contexts, Pattern};
use crate::request::{Audience, Request, State, Status, complete};
use crate::runtime::Until;
use crate::wire::Envelope;

/// Most messages of a list that are looked at more closely, and goals of a wait.
const MOST: usize = 24;
/// Time between two reports of the same wait.
const REFRESH: Duration = Duration::from_millis(250);

/// What a call waits for.
pub enum Awaited {
    /// The ends of all these requests.
    All(Vec<RequestId>),
    /// The end of one of these requests.
    Any(Vec<RequestId>),
    /// A message that a receive of this pattern would get.
    Message(Pattern),
    /// What these peers have to do on a window.
    Window(OfWindow),
    /// Another job, at this place: `at port 10.0.0.1:40123`, say.
    OtherJob(String),
    /// Everything of ours to have left.
    Departure,
    /// That tasks are woken, which await requests and messages. It says whether one was.
    Tasks(Box<dyn Fn() -> bool>),
    /// That it has to end: until then it keeps things going.
    End(Arc<AtomicBool>),
}

/// What a call on a window waits for.
pub struct OfWindow {
    /// The window's context.
    pub context: ContextId,
    /// Who has to do something, as far as that is known, and what: for a lock with the rank whose lock it is.
    pub needs: Vec<(Option<Peer>, Part, i32)>,
    /// Whether it has been done, where no packet tells: looked at once more by who is about to sleep.
    pub is_there: Option<Box<dyn Fn() -> bool>>,
}

impl fmt::Debug for OfWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfWindow").field("needs", &self.needs).finish()
    }
}

impl Awaited {
    /// Whether it is something that no packet tells.
    pub(super) fn watches_memory(&self) -> bool {
        matches!(self, Self::Window(OfWindow { is_there: Some(_), .. }))
    }

    /// Whether what no packet tells is there.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Self::Window(OfWindow { is_there, .. }) => is_there.as_ref().is_some_and(|is_there| is_there()),
            Self::Tasks(woken) => woken(),
            Self::End(over) => over.load(Ordering::Acquire),
            _ => false,
        }
    }

    /// From now on the ends of those are heard of whose messages it waits for.
    pub(super) fn attend_senders(&self, vci: &mut Vci) {
        self.senders(vci).into_iter().for_each(|peer| vci.methods.attend(peer));
    }

    /// The peers whose messages it waits for, as far as receives name them; those of other jobs, of whose end no launcher tells this
    /// process, also where they do not.
    fn senders(&self, vci: &Vci) -> Vec<Peer> {
        let senders = |pattern: &Pattern| vci.senders(pattern);
        let of_request = |id: &RequestId| match vci.engine.requests.get(*id).map(|request| &request.state) {
            Some(State::Posted { entry, .. }) => {
                vci.engine.matching.posted(*entry).map_or_else(Vec::new, senders)
            }
            _ => Vec::new(),
        };
        match self {
            Self::All(ids) | Self::Any(ids) => {
                let messages = |id: &RequestId| match vci.running.about(*id) {
                    Some(about) => about.under_way,
                    None => parts(vci, *id),
                };
                ids.iter().flat_map(messages).flat_map(|id| of_request(&id)).collect()
            }
            Self::Message(pattern) => senders(pattern),
            Self::Window(window) => window.needs.iter().filter_map(|(peer, ..)| *peer).collect(),
            Self::Tasks(_) => awaited_by_tasks(vci).iter().flat_map(of_request).collect(),
            Self::OtherJob(_) | Self::Departure | Self::End(_) => Vec::new(),
        }
    }

    /// How long it lets a thread sleep.
    pub(super) fn until(&self) -> Until<'_> {
        match self {
            Self::All(ids) => Until::All(ids),
            Self::Any(ids) => Until::Any(ids),
            Self::Window(OfWindow { is_there: Some(_), .. }) => Until::Unannounced,
            Self::Message(_) | Self::Window(_) | Self::OtherJob(_) | Self::Departure | Self::Tasks(_) => {
                Until::Event
            }
            Self::End(_) => Until::Bell,
        }
    }
}

/// The status page of this process and what stands on it.
#[derive(Debug)]
pub(super) struct Reporter {
    node: Node,
    local_rank: usize,
    published: Mutex<Published>,
}

#[derive(Debug)]
struct Published {
    report: Report,
    /// Whose the waits in the report are, and in which VCI.
    notes: Vec<(u64, usize)>,
    last: u64,
    /// What else was in each VCI when a wait there was last published.
    vcis: [Surroundings; VCIS],
}

/// What is posted, unexpected and under way in a VCI.
#[derive(Debug, Default)]
struct Surroundings {
    posted: List,
    unexpected: List,
    sends: List,
    handled: Vec<Handled>,
    under_way: Vec<(u64, i32)>,
    locks: Vec<(u32, u32)>,
    /// How its communicators are called, as far as there is anything to say of them.
    names: BTreeMap<u64, String>,
}

/// A wait that stands on the status page.
#[derive(Debug)]
pub(super) struct Note {
    id: u64,
    at: Duration,
}

impl Reporter {
    /// `threaded`: several threads may call.
    pub(super) fn new(node: Node, local_rank: usize, threaded: bool) -> Self {
        let report = Report { threaded, ..Report::default() };
        Self {
            node,
            local_rank,
            published: Mutex::new(Published { report, notes: Vec::new(), last: 0, vcis: Default::default() }),
        }
    }

    /// Whether a call that goes on waiting has been published just now.
    pub(super) fn is_fresh(note: Option<&Note>) -> bool {
        note.is_some_and(|note| machine::now().saturating_sub(note.at) < REFRESH)
    }

    /// Publishes what a call waits for in the VCI `at`. `began`: when it was first seen waiting. `further`: it waits for
    /// something in other VCIs, too, which has been published.
    pub(super) fn publish(
        &self,
        note: &mut Option<Note>,
        (call, began): (&'static str, Duration),
        (at, vci): (usize, &Vci),
        awaited: &Awaited,
        further: bool,
    ) {
        if matches!(awaited, Awaited::End(_)) {
            return;
        }
        let now = machine::now();
        self.published.with(|published| {
            let id = match note {
                Some(note) => note.id,
                None => {
                    published.last += 1;
                    published.last
                }
            };
            *note = Some(Note { id, at: now });
            published.add((id, at), wait(vci, call, began, awaited), further);
            published.report.at = now;
            published.vcis[at] = surroundings(vci, &published.report);
            self.write(published);
        });
    }

    /// A call goes on.
    pub(super) fn retract(&self, note: &Note) {
        self.published.with(|published| {
            published.remove(note.id);
            if published.notes.is_empty() {
                self.node.status_page(self.local_rank).wipe();
            } else {
                self.write(published);
            }
        });
    }

    fn write(&self, published: &mut Published) {
        published.join_vcis();
        let status_page = self.node.status_page(self.local_rank);
        status_page.write(&published.report.encode(status_page.room()));
    }
}

impl Published {
    fn add(&mut self, (id, at): (u64, usize), wait: Wait, further: bool) {
        match self.notes.iter().position(|(known, _)| *known == id) {
            Some(place) if further => {
                let known = &mut self.report.waits[place];
                known.goals.extend(wait.goals);
                known.more += wait.more;
            }
            Some(place) => self.report.waits[place] = wait,
            None => {
                self.notes.push((id, at));
                self.report.waits.push(wait);
            }
        }
    }

    fn remove(&mut self, id: u64) {
        let Some(place) = self.notes.iter().position(|(known, _)| *known == id) else { return };
        let (_, at) = self.notes.remove(place);
        self.report.waits.remove(place);
        if self.notes.iter().all(|(_, other)| *other != at) {
            self.vcis[at] = Surroundings::default(); // nobody keeps it up to date
        }
    }

    /// Puts together what was published of each VCI.
    fn join_vcis(&mut self) {
        let Self { report, vcis, .. } = self;
        report.posted = all(vcis, |vci| &vci.posted);
        report.unexpected = all(vcis, |vci| &vci.unexpected);
        report.sends = all(vcis, |vci| &vci.sends);
        report.handled = vcis.iter().flat_map(|vci| vci.handled.iter().copied()).take(MOST).collect();
        report.under_way = vcis.iter().flat_map(|vci| vci.under_way.iter().copied()).take(MOST).collect();
        report.locks = vcis.iter().flat_map(|vci| vci.locks.iter().copied()).take(MOST).collect();
        let name = |context: u64| vcis.iter().find_map(|vci| vci.names.get(&context)).cloned();
        let all = mentioned(report, [&report.posted, &report.unexpected, &report.sends]);
        report.names = all.into_iter().map(|context| (context, name(context).unwrap_or_default())).collect();
    }
}

fn wait(vci: &Vci, call: &'static str, since: Duration, awaited: &Awaited) -> Wait {
    let any = matches!(awaited, Awaited::Any(_) | Awaited::Tasks(_));
    let mut more = 0;
    let goals = match awaited {
        Awaited::All(ids) | Awaited::Any(ids) => goals_of(vci, ids, &mut more),
        Awaited::Tasks(_) => goals_of(vci, &awaited_by_tasks(vci), &mut more),
        Awaited::Message(pattern) => {
            vec![Goal::Message(wanted(&vci.engine.contexts, Part::Probed, pattern, 0))]
        }
        Awaited::Window(OfWindow { context, needs, .. }) => {
            let need = |(peer, part, rank): &(Option<Peer>, Part, i32)| {
                let (peer, communicator) = (peer.map(|peer| peer.0), Some(context.0));
                Goal::Message(Message { part: *part, peer, rank: *rank, tag: 0, communicator, bytes: 0 })
            };
            more = needs.len().saturating_sub(MOST) as u64;
            needs.iter().take(MOST).map(need).collect()
        }
        Awaited::Departure => sends(vci).take(MOST).map(Goal::Message).collect(),
        Awaited::OtherJob(_) | Awaited::End(_) => Vec::new(),
    };
    let call = match awaited {
        Awaited::OtherJob(place) => format!("{call} {place}"),
        _ => call.to_owned(),
    };
    Wait { call, since, any, goals, more }
}

/// Requests, and how many more there are.
fn goals_of(vci: &Vci, ids: &[RequestId], more: &mut u64) -> Vec<Goal> {
    let parts: Vec<RequestId> = ids.iter().flat_map(|id| parts(vci, *id)).collect();
    let mut goals: Vec<Goal> = parts.iter().take(MOST).filter_map(|id| goal(vci, *id)).collect();
    // What is not known is there all the same.
    *more = (parts.len() - goals.len()) as u64;
    goals.truncate(MOST);
    goals
}

/// The requests that tasks await.
fn awaited_by_tasks(vci: &Vci) -> Vec<RequestId> {
    let awaited =
        |(id, request): (RequestId, &Request)| matches!(request.audience, Audience::Task(_)).then_some(id);
    vci.engine.requests.iter().filter_map(awaited).collect()
}

/// A request, or what goes on of a composite one: itself if that is not known.
fn parts(vci: &Vci, id: RequestId) -> Vec<RequestId> {
    let requests = &vci.engine.requests;
    let goes_on = |id: &RequestId| requests.get(*id).is_some_and(|part| !complete::is_complete(part));
    let parts: Vec<RequestId> = match requests.get(id).map(|request| &request.state) {
        Some(State::Composite(composite)) => composite.parts().iter().copied().filter(goes_on).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() { vec![id] } else { parts }
}

fn goal(vci: &Vci, id: RequestId) -> Option<Goal> {
    if let Some(message) = message(vci, id) {
        return Some(Goal::Message(message));
    }
    if let Some(State::Agreeing(context)) = vci.engine.requests.get(id).map(|request| &request.state) {
        let (name, communicator) = ("an agreement".to_owned(), point_to_point(*context));
        let number = vci.engine.agreement_of(id);
        return Some(Goal::Operation(Operation {
            name,
            communicator,
            number,
            root: -1,
            messages: Vec::new(),
        }));
    }
    let about = vci.running.about(id)?;
    let messages = about.under_way.iter().filter_map(|id| message(vci, *id)).take(MOST).collect();
    let (communicator, number) = place(&about);
    let root = about.root.map_or(-1, |root| root as i32);
    Some(Goal::Operation(Operation { name: about.name.to_owned(), communicator, number, root, messages }))
}

/// Communicator and number of a collective operation.
fn place(about: &About) -> (u64, i32) {
    let persistent = if about.again { PERSISTENT } else { 0 };
    (point_to_point(about.context), about.number.map_or(-1, |number| number as i32 | persistent))
}

/// A message on its way to a receive.
fn incoming(request: &Request, from: Peer, len: u64) -> Message {
    let Status { source, tag, .. } = request.status;
    let (part, peer) = (Part::Reassembly, Some(from.0));
    Message { part, peer, rank: source, tag, communicator: None, bytes: len }
}

/// The message behind a request.
fn message(vci: &Vci, id: RequestId) -> Option<Message> {
    let engine = &vci.engine;
    let request = engine.requests.get(id)?;
    let outgoing =
        |part| engine.outgoing.find(id).map(|(to, envelope)| sent(&engine.contexts, part, to.0, &envelope));
    match &request.state {
        State::Posted { segment, entry, .. } => {
            Some(wanted(&engine.contexts, Part::Posted, engine.matching.posted(*entry)?, segment.len()))
        }
        State::Receiving { len, from, .. } => Some(incoming(request, *from, *len)),
        State::Exposed(exposed) => Some(incoming(request, exposed.from, exposed.len)),
        State::SendPending { .. } => outgoing(Part::ForRoom),
        State::SendAsked { .. } | State::Sending { acknowledged: false, .. } => outgoing(Part::ForMatch),
        State::Sending { .. } => outgoing(Part::ForData),
        // Nobody sleeps while a device copies.
        State::Inactive
        | State::Staging
        | State::Schedule(_)
        | State::Agreeing(_)
        | State::Composite(_)
        | State::External
        | State::Finished
        | State::Complete => None,
    }
}

/// What a receive or a probe wants.
fn wanted(contexts: &Contexts, part: Part, pattern: &Pattern, bytes: u64) -> Message {
    let communicator = point_to_point(pattern.context);
    Message {
        part,
        peer: contexts.get(pattern.context).and_then(|known| known.peer(pattern.source)).map(|peer| peer.0),
        rank: pattern.source,
        tag: pattern.tag,
        communicator: Some(communicator),
        bytes,
    }
}

fn sent(contexts: &Contexts, part: Part, to: u32, envelope: &Envelope) -> Message {
    let communicator = point_to_point(envelope.context);
    Message {
        part,
        peer: Some(to),
        rank: contexts.get(envelope.context).and_then(|known| known.rank(Peer(to))).unwrap_or(to as i32),
        tag: envelope.tag,
        communicator: Some(communicator),
        bytes: envelope.len,
    }
}

/// The context by which a communicator is known.
fn point_to_point(context: ContextId) -> u64 {
    context.point_to_point().0
}

/// Whether messages of this context are the user's own.
fn is_users(context: ContextId) -> bool {
    context == ContextId(point_to_point(context))
}

/// The user's sends under way.
fn sends(vci: &Vci) -> impl Iterator<Item = Message> {
    let of_user =
        |id: &RequestId| vci.engine.outgoing.find(*id).is_some_and(|(_, sent)| is_users(sent.context));
    let sends = vci.engine.requests.iter().filter(|(_, request)| {
        matches!(request.state, State::SendPending { .. } | State::SendAsked { .. } | State::Sending { .. })
    });
    sends.map(|(id, _)| id).filter(of_user).filter_map(|id| message(vci, id))
}

/// What else is posted, unexpected and under way in a VCI.
fn surroundings(vci: &Vci, report: &Report) -> Surroundings {
    let engine = &vci.engine;
    let wants: Vec<Option<u32>> = report
        .waits
        .iter()
        .flat_map(|wait| &wait.goals)
        .flat_map(Goal::messages)
        .map(|goal| goal.peer)
        .collect();
    let concerns = |message: &Message| wants.contains(&message.peer);
    let posted = engine.matching.all_posted().filter(|(pattern, _)| is_users(pattern.context));
    let room = |id| match engine.requests.get(id).map(|request| &request.state) {
        Some(State::Posted { segment, .. }) => segment.len(),
        _ => 0,
    };
    let unexpected = engine.matching.all_unexpected().filter(|message| is_users(message.envelope.context));
    let come = unexpected.map(|message| Message {
        rank: message.envelope.source,
        ..sent(&engine.contexts, Part::Unexpected, message.from.0, &message.envelope)
    });
    let mut around = Surroundings {
        posted: list(
            posted.map(|(pattern, id)| wanted(&engine.contexts, Part::Posted, pattern, room(id))),
            concerns,
        ),
        unexpected: list(come, concerns),
        sends: list(sends(vci), concerns),
        handled: engine.handled(MOST),
        under_way: vci
            .running
            .ids()
            .take(MOST)
            .filter_map(|id| vci.running.about(id))
            .map(|about| place(&about))
            .collect(),
        locks: engine.onesided().awaited_locks().take(MOST).map(|(by, of)| (by.0, of.0)).collect(),
        names: BTreeMap::new(),
    };
    let lists = [&around.posted, &around.unexpected, &around.sends];
    let known =
        |context: &u64| engine.contexts.get(ContextId(*context)).map(|known| (*context, known.name()));
    around.names = mentioned(report, lists).iter().filter_map(known).collect();
    around
}

/// The messages of one kind of all VCIs.
fn all(vcis: &[Surroundings; VCIS], kind: impl Fn(&Surroundings) -> &List) -> List {
    let mut all = List::default();
    for list in vcis.iter().map(kind) {
        all.shown.extend(list.shown.iter().copied());
        all.more += list.more;
    }
    all.more += all.shown.len().saturating_sub(MOST) as u64;
    all.shown.truncate(MOST);
    all
}

/// The communicators that a report and these lists mention.
fn mentioned(report: &Report, lists: [&List; 3]) -> BTreeSet<u64> {
    let waits = report.waits.iter().flat_map(|wait| &wait.goals);
    let operations = waits.clone().filter_map(|goal| match goal {
        Goal::Operation(operation) => Some(operation.communicator),
        Goal::Message(_) => None,
    });
    let listed = lists.into_iter().flat_map(|list| &list.shown);
    let messages = waits.flat_map(Goal::messages).chain(listed).filter_map(|message| message.communicator);
    operations.chain(messages).collect()
}

/// As many as are published, first those with ranks that a call waits for: near misses are among them.
fn list(all: impl Iterator<Item = Message>, concerns: impl Fn(&Message) -> bool) -> List {
    let (mut shown, mut others, mut count) = (Vec::new(), Vec::new(), 0);
    for message in all {
        count += 1;
        let chosen = if concerns(&message) { &mut shown } else { &mut others };
        if chosen.len() < MOST {
            chosen.push(message);
        }
    }
    shown.extend(others);
    shown.truncate(MOST);
    List { more: count - shown.len() as u64, shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::OwnedBuf;
    use crate::config::Config;
    use crate::ids::{ANY_SOURCE, ANY_TAG};
    use crate::pt2pt::send::Started;
    use crate::testing::{Bench, CALM};

    fn settle(bench: &mut Bench) {
        (0..1000).for_each(|_| bench.step());
    }

    #[test]
    fn every_state_of_a_message_is_published() {
        let mut bench = Bench::new(7, 2, CALM, &Config::default());
        let short = OwnedBuf::new(8);
        let long = OwnedBuf::new(5000);
        let Started::Request(asked) = bench.send(0, 1, 5, &long, false) else { panic!("it is long") };
        let Started::Request(synchronous) = bench.send(0, 1, 6, &short, true) else { panic!("it waits") };
        bench.send(1, 0, 9, &short, false);
        let posted = bench.recv(0, 1, 3, &short);
        let any = bench.recv(0, ANY_SOURCE, 4, &long);
        settle(&mut bench);
        let vci = &bench.vcis[0];
        let wait =
            wait(vci, "MPI_Waitall", Duration::ZERO, &Awaited::All(vec![asked, synchronous, posted, any]));
        let published: Vec<_> = wait
            .goals
            .iter()
            .flat_map(Goal::messages)
            .map(|message| (message.part, message.rank, message.tag, message.bytes))
            .collect();
        assert_eq!(
            published,
            [
                (Part::ForMatch, 1, 5, 5000),
                (Part::ForMatch, 1, 6, 8),
                (Part::Posted, 1, 3, 8),
                (Part::Posted, ANY_SOURCE, 4, 5000)
            ]
        );
        let report = Report { waits: vec![wait], ..Report::default() };
        let around = surroundings(vci, &report);
        assert_eq!((around.posted.shown.len(), around.sends.shown.len()), (2, 2));
        let unexpected = around.unexpected.shown[0];
        assert_eq!((unexpected.peer, unexpected.tag, unexpected.bytes), (Some(1), 9, 8));
    }

    #[test]
    fn the_board_says_nothing_when_nobody_waits() {
        let node = Node::create(1).unwrap();
        let reporter = Reporter::new(node.clone(), 0, false);
        let bench = Bench::new(7, 1, CALM, &Config::default());
        let pattern = Pattern { context: ContextId::WORLD, source: ANY_SOURCE, tag: ANY_TAG };
        let (mut first, mut second) = (None, None);
        let waits =
            || Report::decode(&node.status_page(0).read().unwrap()).map_or(0, |report| report.waits.len());
        for at_second in [false, true, false] {
            let note = if at_second { &mut second } else { &mut first };
            let call = ("MPI_Probe", Duration::ZERO);
            reporter.publish(note, call, (0, &bench.vcis[0]), &Awaited::Message(pattern), false);
        }
        assert_eq!(waits(), 2);
        reporter.retract(&first.unwrap());
        assert_eq!(waits(), 1);
        reporter.retract(&second.unwrap());
        assert_eq!((waits(), node.status_page(0).read().unwrap().len()), (0, 0));
    }
}
