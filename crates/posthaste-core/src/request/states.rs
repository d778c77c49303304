//! The four states of a request, its handler, and what every event does then: seed 004 as one table.
//!
//! Pure. [`outcome`] is asked by `pt2pt::handlers`, which does what it says, so the table is the rule and not a picture of
//! it. `docs/handlers.md` shows it; a test holds the two together.
//!
//! Two words differ from those of MPI-5.0 §3.7.3: a request is *finished* when its transfer is over, and *completed*
//! when a test or wait has taken its status.

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is none: it was completed or freed.
    Null,
    /// It is persistent and may be started.
    Inactive,
    /// Its transfer goes on.
    Active,
    /// Its transfer is over, and nobody has taken its status.
    Finished,
}

/// How it stands with its handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// None is attached.
    None,
    /// One is attached. That of a finished request is about to be invoked.
    Attached,
    /// One is attached, and handlers are disabled.
    Disabled,
    /// It runs: for the message that has finished, or for one that it has completed already. Who asks is in it.
    RunningHere,
    /// The same, and who asks is on another thread.
    RunningElsewhere,
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is started.
    Start,
    /// Its transfer is over.
    End,
    /// It is cancelled.
    Cancel,
    /// Somebody tests it.
    Test,
    /// Somebody waits for it.
    Wait,
    /// It is freed.
    Free,
    /// A handler is attached.
    Attach,
    /// Its handler is detached.
    Detach,
    /// Somebody asks for its handler.
    Query,
    /// Its handler returns.
    Return,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This cannot happen.
    Never,
    /// It is an error.
    Refused,
    /// There is nothing to do; a test or wait tells an empty status.
    Nothing,
    /// It is active.
    Begins,
    /// It is finished.
    Finishes,
    /// It is finished, and its handler is due: invoked at the earliest opportunity.
    Due,
    /// It is finished, and its handler is due when handlers are enabled.
    Postponed,
    /// It finishes with the mark that it was cancelled, unless it is too late.
    Cancels,
    /// It is completed, and its status told.
    Completes,
    /// Not yet: a test tells so, a wait goes on.
    NotYet,
    /// Whoever waits here waits for ever: an error.
    Deadlock,
    /// Its handler is invoked first, and then the same is asked once more.
    RunsFirst,
    /// Its handler returns first, and then the same is asked once more.
    AwaitsReturn,
    /// It has this handler from now on, or none.
    Sets,
    /// The same, and it is due.
    SetsDue,
    /// It has this handler, or none, when the one that runs returns; a new one is due then if the request is still finished.
    SetsAtReturn,
    /// It has this handler, in the place of one that is not invoked any more.
    Replaces,
    /// It is null, and nobody hears of it again; its handler is detached.
    Forgets,
    /// Its handler is told.
    Reports,
    /// Its handler is detached, and a test or wait may complete it.
    Detaches,
    /// Its handler stays attached.
    Stays,
}

/// The events, in the order of the columns of the table.
pub const EVENTS: [Event; 10] = [
    Event::Start,
    Event::End,
    Event::Cancel,
    Event::Test,
    Event::Wait,
    Event::Free,
    Event::Attach,
    Event::Detach,
    Event::Query,
    Event::Return,
];

type Row = (State, Handler, [Outcome; EVENTS.len()]);

/// Every pair of a state and a handler, and what each event does.
#[rustfmt::skip]
pub const TABLE: [Row; 20] = {
    use Handler::{Attached, Disabled, None, RunningElsewhere, RunningHere};
    use Outcome::*;
    use State::{Active, Finished, Inactive, Null};
    [
        //                            Start    End        Cancel   Test          Wait          Free          Attach        Detach        Query    Return
        (Null,     None,             [Refused, Never,     Refused, Nothing,      Nothing,      Refused,      Refused,      Refused,      Refused, Never]),
        (Null,     Attached,         [Never,   Never,     Never,   Never,        Never,        Never,        Never,        Never,        Never,   Never]),
        (Null,     Disabled,         [Never,   Never,     Never,   Never,        Never,        Never,        Never,        Never,        Never,   Never]),
        (Null,     RunningHere,      [Refused, Never,     Refused, Nothing,      Nothing,      Refused,      Refused,      Refused,      Refused, Nothing]),
        (Null,     RunningElsewhere, [Refused, Never,     Refused, Nothing,      Nothing,      Refused,      Refused,      Refused,      Refused, Never]),
        (Inactive, None,             [Begins,  Never,     Nothing, Nothing,      Nothing,      Forgets,      Sets,         Sets,         Reports, Never]),
        (Inactive, Attached,         [Begins,  Never,     Nothing, Nothing,      Nothing,      Forgets,      Sets,         Sets,         Reports, Never]),
        (Inactive, Disabled,         [Begins,  Never,     Nothing, Nothing,      Nothing,      Forgets,      Sets,         Sets,         Reports, Never]),
        (Inactive, RunningHere,      [Begins,  Never,     Nothing, Nothing,      Nothing,      Forgets,      Sets,         Sets,         Reports, Stays]),
        (Inactive, RunningElsewhere, [Begins,  Never,     Nothing, Nothing,      Nothing,      AwaitsReturn, AwaitsReturn, AwaitsReturn, Reports, Never]),
        (Active,   None,             [Refused, Finishes,  Cancels, NotYet,       NotYet,       Forgets,      Sets,         Sets,         Reports, Never]),
        (Active,   Attached,         [Refused, Due,       Cancels, NotYet,       NotYet,       Forgets,      Sets,         Sets,         Reports, Never]),
        (Active,   Disabled,         [Refused, Postponed, Cancels, NotYet,       Deadlock,     Forgets,      Sets,         Sets,         Reports, Never]),
        (Active,   RunningHere,      [Refused, Finishes,  Cancels, NotYet,       NotYet,       Forgets,      Sets,         Sets,         Reports, Stays]),
        (Active,   RunningElsewhere, [Refused, Finishes,  Cancels, NotYet,       NotYet,       AwaitsReturn, AwaitsReturn, AwaitsReturn, Reports, Never]),
        (Finished, None,             [Refused, Never,     Nothing, Completes,    Completes,    Forgets,      SetsDue,      Sets,         Reports, Never]),
        (Finished, Attached,         [Refused, Never,     Nothing, RunsFirst,    RunsFirst,    RunsFirst,    RunsFirst,    RunsFirst,    Reports, Never]),
        (Finished, Disabled,         [Refused, Never,     Nothing, NotYet,       Deadlock,     Forgets,      Replaces,     Sets,         Reports, Never]),
        (Finished, RunningHere,      [Refused, Never,     Nothing, Completes,    Completes,    Forgets,      SetsAtReturn, SetsAtReturn, Reports, Detaches]),
        (Finished, RunningElsewhere, [Refused, Never,     Nothing, AwaitsReturn, AwaitsReturn, AwaitsReturn, AwaitsReturn, AwaitsReturn, Reports, Never]),
    ]
};

/// What becomes of a request in `state`, with a handler that stands so, when `event` happens.
pub fn outcome(state: State, handler: Handler, event: Event) -> Outcome {
    TABLE[state as usize * 5 + handler as usize].2[event as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [State; 4] = [State::Null, State::Inactive, State::Active, State::Finished];
    const HANDLERS: [Handler; 5] = [
        Handler::None,
        Handler::Attached,
        Handler::Disabled,
        Handler::RunningHere,
        Handler::RunningElsewhere,
    ];

    fn all() -> impl Iterator<Item = (State, Handler, Event, Outcome)> {
        let pairs = STATES.into_iter().flat_map(|state| HANDLERS.map(|handler| (state, handler)));
        pairs.flat_map(|(state, handler)| {
            EVENTS.map(|event| (state, handler, event, outcome(state, handler, event)))
        })
    }

    #[test]
    fn every_pair_stands_in_the_table_in_its_place() {
        let rows = STATES.into_iter().flat_map(|state| HANDLERS.map(|handler| (state, handler)));
        for (row, (state, handler)) in TABLE.iter().zip(rows) {
            assert_eq!((row.0, row.1), (state, handler));
        }
        for (place, event) in EVENTS.into_iter().enumerate() {
            assert_eq!(event as usize, place);
        }
        assert_eq!(all().count(), 200);
    }

    /// The seed's sentences, each over the whole table.
    #[test]
    fn the_table_says_what_the_seed_says() {
        for (state, handler, event, outcome) in all() {
            let about = format!("{state:?}, {handler:?}, {event:?}");
            let runs = matches!(handler, Handler::RunningHere | Handler::RunningElsewhere);
            if state == State::Null && matches!(handler, Handler::Attached | Handler::Disabled) {
                assert_eq!(outcome, Outcome::Never, "{about}: a null request has no handler");
                continue;
            }
            match (event, state) {
                (Event::Start, State::Inactive) => assert_eq!(outcome, Outcome::Begins, "{about}"),
                (Event::Start, _) => assert_eq!(outcome, Outcome::Refused, "{about}: a finished one neither"),
                (Event::End, State::Active) => {
                    assert!(
                        matches!(outcome, Outcome::Finishes | Outcome::Due | Outcome::Postponed),
                        "{about}"
                    );
                    assert_eq!(outcome == Outcome::Due, handler == Handler::Attached, "{about}");
                }
                (Event::End, _) => assert_eq!(outcome, Outcome::Never, "{about}: only what is active ends"),
                (Event::Cancel, State::Active) => assert_eq!(outcome, Outcome::Cancels, "{about}"),
                (Event::Attach | Event::Detach, State::Null) => {
                    assert_eq!(outcome, Outcome::Refused, "{about}")
                }
                (Event::Query, _) => assert_eq!(outcome == Outcome::Refused, state == State::Null, "{about}"),
                (Event::Test | Event::Wait, State::Finished) => match handler {
                    Handler::None | Handler::RunningHere => {
                        assert_eq!(outcome, Outcome::Completes, "{about}")
                    }
                    Handler::Attached => assert_eq!(outcome, Outcome::RunsFirst, "{about}"),
                    Handler::RunningElsewhere => assert_eq!(outcome, Outcome::AwaitsReturn, "{about}"),
                    Handler::Disabled if event == Event::Test => {
                        assert_eq!(outcome, Outcome::NotYet, "{about}")
                    }
                    Handler::Disabled => assert_eq!(outcome, Outcome::Deadlock, "{about}"),
                },
                (Event::Wait, State::Active) => {
                    assert_eq!(outcome == Outcome::Deadlock, handler == Handler::Disabled, "{about}");
                }
                (Event::Attach, State::Finished) if handler == Handler::Attached => {
                    assert_eq!(outcome, Outcome::RunsFirst, "{about}: the current one first");
                }
                (Event::Return, _) if !runs => assert_eq!(outcome, Outcome::Never, "{about}"),
                (Event::Return, State::Finished) if handler == Handler::RunningHere => {
                    assert_eq!(outcome, Outcome::Detaches, "{about}: once for each message");
                }
                _ => assert_ne!(outcome, Outcome::Deadlock, "{about}: only a wait may not end"),
            }
            if outcome == Outcome::Deadlock {
                assert_eq!((event, handler), (Event::Wait, Handler::Disabled), "{about}");
            }
            if handler == Handler::RunningHere {
                let waits = matches!(outcome, Outcome::AwaitsReturn | Outcome::RunsFirst);
                assert!(!waits, "{about}: a handler never waits for itself");
            }
        }
    }

    /// What `docs/handlers.md` has to show.
    fn shown() -> String {
        let mut text = String::from("| state | handler |");
        EVENTS.iter().for_each(|event| text.push_str(&format!(" {event:?} |")));
        text.push_str("\n|---|---|");
        EVENTS.iter().for_each(|_| text.push_str("---|"));
        for (state, handler, outcomes) in TABLE {
            if state == State::Null && matches!(handler, Handler::Attached | Handler::Disabled) {
                continue;
            }
            text.push_str(&format!("\n| {state:?} | {handler:?} |"));
            for outcome in outcomes {
                match outcome {
                    Outcome::Never => text.push_str(" – |"),
                    outcome => text.push_str(&format!(" {outcome:?} |")),
                }
            }
        }
        text
    }

    #[test]
    fn the_document_shows_the_table() {
        let document = include_str!("../../../../docs/handlers.md");
        assert!(document.contains(&shown()), "docs/handlers.md should have:\n{}", shown());
    }
}
