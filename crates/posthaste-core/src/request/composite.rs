//! Composite requests: a whole that ends when all of its parts have ended. `MPI_Isendrecv` is one, of a send and a receive;
//! so is each start of a partitioned operation, of its partitions' messages. MPI-5.0 §3.10, chapter 4.
//!
//! A part that is a request reports its end to its whole ([`Audience::Part`]) and leaves the table; whatever else a whole
//! waits for is reported by [`complete::part_ended`]. So nobody looks at parts to find out about the whole.
//!
//! What must stay true: a whole hears of as many ends as it expects.

use std::any::Any;

use crate::error::Error;
use crate::ids::RequestId;
use crate::request::complete::{self, Finished};
use crate::request::{Audience, Request, State, Status, Table};

/// What a composite request still waits for.
#[derive(Default)]
pub struct Composite {
    /// Ends that are missing.
    missing: usize,
    /// The requests among what it waits for, whether they have ended or not.
    parts: Vec<RequestId>,
    /// What is said if a part is truncated, in terms of the whole.
    truncated: Option<Error>,
    /// What has to live until the end.
    _keeps_alive: Option<Box<dyn Any + Send>>,
}

impl std::fmt::Debug for Composite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Composite").field("missing", &self.missing).field("parts", &self.parts).finish()
    }
}

impl Composite {
    /// A whole of so many parts.
    pub fn of(parts: usize) -> Self {
        Self { missing: parts, ..Self::default() }
    }

    /// The same, which keeps something until its end: memory that a part uses.
    #[must_use]
    pub fn keeping_alive(self, what: impl Any + Send) -> Self {
        Self { _keeps_alive: Some(Box::new(what)), ..self }
    }

    /// The requests among what it waits for; some may have ended.
    pub fn parts(&self) -> &[RequestId] {
        &self.parts
    }

    /// One part has ended. Whether that was the last.
    pub(super) fn ends_one(&mut self) -> bool {
        self.missing = self.missing.saturating_sub(1);
        self.missing == 0
    }

    /// An error of a part, as the whole reports it.
    pub(super) fn explained(&self, error: Error) -> Error {
        match &self.truncated {
            Some(whole) if error.is_truncation() => whole.clone(),
            _ => error,
        }
    }
}

/// Takes a whole in, which reports `status` as far as its parts do not change that. One without parts is over.
///
/// # Errors
/// When the table is full.
pub fn begin(table: &mut Table, whole: Composite, status: Status) -> crate::error::Result<RequestId> {
    let state = if whole.missing == 0 { State::Complete } else { State::Composite(Box::new(whole)) };
    table.insert(Request { status, ..Request::new(state) })
}

/// The request `part` is a part of `whole`, and one of those that it expects. With `leads` the whole reports what the
/// part reports; otherwise only its error and its bytes.
pub fn add(table: &mut Table, finished: &mut Finished, whole: RequestId, part: RequestId, leads: bool) {
    match table.get_mut(part) {
        Some(request) if !complete::is_complete(request) => {
            request.audience = Audience::Part { whole: whole.slot, leads };
            if let Some(composite) = get(table, whole) {
                composite.parts.push(part);
            }
        }
        Some(_) => {
            let status = table.remove(part).map_or(Status::EMPTY, |ended| ended.status);
            complete::part_ended(table, finished, whole, status, leads);
        }
        None => complete::part_ended(table, finished, whole, Status::EMPTY, leads),
    }
}

/// The whole waits for this request, too, whose end somebody else reports.
pub fn mention(table: &mut Table, whole: RequestId, request: RequestId) {
    if let Some(composite) = get(table, whole) {
        composite.parts.push(request);
    }
}

/// The whole expects so many further parts.
pub fn expect(table: &mut Table, whole: RequestId, further: usize) {
    if let Some(composite) = get(table, whole) {
        composite.missing += further;
    }
}

/// The whole expects a further part, even if all others have ended; nobody has completed it.
pub fn reopen(table: &mut Table, whole: RequestId) {
    let Some(request) = table.get_mut(whole) else { return };
    match &mut request.state {
        State::Composite(composite) => composite.missing += 1,
        state => *state = State::Composite(Box::new(Composite::of(1))),
    }
}

/// What is said if a part of the whole is truncated.
pub fn says_when_truncated(table: &mut Table, whole: RequestId, error: Error) {
    if let Some(composite) = get(table, whole) {
        composite.truncated = Some(error);
    }
}

/// The composite, while it is not over.
fn get(table: &mut Table, whole: RequestId) -> Option<&mut Composite> {
    match &mut table.get_mut(whole)?.state {
        State::Composite(composite) => Some(composite),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorClass;
    use crate::ids::ContextId;

    fn part(table: &mut Table) -> RequestId {
        table.insert(Request::new(State::Schedule(ContextId::WORLD))).unwrap()
    }

    #[test]
    fn a_whole_ends_with_its_last_part_and_reports_what_the_leading_one_did() {
        for first in [0, 1] {
            let (mut table, mut finished) = (Table::new(8), Finished::default());
            let parts = [part(&mut table), part(&mut table)];
            let whole = begin(&mut table, Composite::of(2).keeping_alive(vec![1u8]), Status::EMPTY).unwrap();
            for (at, id) in parts.into_iter().enumerate() {
                add(&mut table, &mut finished, whole, id, at == 0);
            }
            for at in [first, 1 - first] {
                assert!(matches!(table.get(whole).unwrap().state, State::Composite(_)));
                let status =
                    [Status { source: 3, tag: 4, bytes: 8, ..Status::EMPTY }, Status::EMPTY][at].clone();
                complete::complete(&mut table, &mut finished, parts[at], status);
            }
            assert_eq!(table.len(), 1, "parts leave by themselves");
            let removed = table.remove(whole).unwrap();
            assert!(complete::is_complete(&removed));
            assert_eq!((removed.status.source, removed.status.tag, removed.status.bytes), (3, 4, 8));
        }
    }

    #[test]
    fn parts_that_are_over_already_count_and_the_first_error_stays() {
        let (mut table, mut finished) = (Table::new(8), Finished::default());
        let over = part(&mut table);
        complete::complete(&mut table, &mut finished, over, Status { bytes: 5, ..Status::EMPTY });
        let late = part(&mut table);
        let whole = begin(&mut table, Composite::of(2), Status::EMPTY).unwrap();
        expect(&mut table, whole, 2);
        says_when_truncated(&mut table, whole, Error::truncated(40, 30));
        for id in [over, Table::DONE, late] {
            add(&mut table, &mut finished, whole, id, false);
        }
        let error = Some(Error::truncated(8, 4));
        complete::complete(&mut table, &mut finished, late, Status { error, bytes: 4, ..Status::EMPTY });
        assert!(!complete::is_complete(table.get(whole).unwrap()));
        let error = Some(Error::other(ErrorClass::Other, "later"));
        complete::part_ended(&mut table, &mut finished, whole, Status { error, ..Status::EMPTY }, false);
        let status = table.remove(whole).unwrap().status;
        assert_eq!(
            (status.bytes, status.error.unwrap().to_string()),
            (9, Error::truncated(40, 30).to_string())
        );
        assert!(table.is_empty());
    }

    #[test]
    fn a_whole_that_is_over_is_opened_again_and_keeps_its_error() {
        let (mut table, mut finished) = (Table::new(8), Finished::default());
        let whole = begin(&mut table, Composite::of(0), Status::EMPTY).unwrap();
        for (round, error) in [Some(Error::truncated(8, 4)), None].into_iter().enumerate() {
            reopen(&mut table, whole);
            reopen(&mut table, whole);
            let status = Status { error, ..Status::EMPTY };
            complete::part_ended(&mut table, &mut finished, whole, status, false);
            assert!(!complete::is_complete(table.get(whole).unwrap()));
            complete::part_ended(&mut table, &mut finished, whole, Status::EMPTY, false);
            assert!(complete::is_complete(table.get(whole).unwrap()), "round {round}");
        }
        assert!(table.remove(whole).unwrap().status.error.is_some());
    }

    #[test]
    fn a_whole_without_parts_is_over_and_one_let_go_leaves() {
        let (mut table, mut finished) = (Table::new(8), Finished::default());
        let empty = begin(&mut table, Composite::of(0), Status::EMPTY).unwrap();
        assert!(complete::is_complete(table.get(empty).unwrap()));
        let free = begin(&mut table, Composite::of(1), Status::EMPTY).unwrap();
        table.get_mut(free).unwrap().audience = Audience::Nobody;
        complete::part_ended(&mut table, &mut finished, free, Status::EMPTY, false);
        assert!(table.get(free).is_none());
    }
}
