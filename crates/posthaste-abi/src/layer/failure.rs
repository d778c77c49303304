//! What becomes of an error (MPI-5.0 §9.3): the sentence, and what an error handler does with it.
//!
//! The sentence names the call, the rank and the communicator; the error itself names the argument. The handler that ends the
//! job prints it once; otherwise it is kept for `MPI_Error_string`.

use std::fmt;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error, ErrorClass, say};

use super::errhandler::Handler;
use super::error_code::remember;
use super::library::{WORLD_RANK, abort};

/// How long who has only heard of an error lets the one speak that knows more of it, and ends the job.
const KNOWS_MORE: Duration = Duration::from_millis(500);

/// `MPI_Send on rank 2 of MPI_COMM_WORLD: tag is -7, expected 0..=2147483647`.
pub(crate) struct Sentence<'a> {
    call: &'static str,
    rank: i32,
    comm: Option<&'a str>,
    error: &'a Error,
}

impl<'a> Sentence<'a> {
    /// Of a call in this process; `comm`: the communicator as [`name_of`] calls it, unless it is the world.
    pub(crate) fn of(call: &'static str, comm: Option<&'a str>, error: &'a Error) -> Self {
        Self { call, rank: WORLD_RANK.load(Ordering::Relaxed), comm, error }
    }
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.call)?;
        if self.rank >= 0 {
            write!(f, " on rank {} of MPI_COMM_WORLD", self.rank)?;
        }
        if let Some(comm) = self.comm {
            write!(f, " (in {comm})")?;
        }
        let text = self.error.to_string();
        // A collective operation begins with its name, which is news only where another call found its error.
        let text = text.strip_prefix(self.call).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text);
        write!(f, ": {text}")
    }
}

/// How to call a communicator.
pub(crate) fn name_of(comm: &Comm) -> String {
    let name = comm.name();
    if name.is_empty() {
        return format!("a communicator of size {}, as rank {}", comm.size(), comm.rank());
    }
    name
}

/// What the library does about an error before it returns: it ends the job with the exit code `exit`, or keeps the sentence.
/// Returns the function of the program that is to be called.
pub(crate) fn treat<'a, U>(
    handler: &'a Handler<U>,
    class: ErrorClass,
    sentence: &Sentence<'_>,
    exit: i32,
) -> Option<&'a U> {
    match handler {
        Handler::Fatal | Handler::Abort => {
            if sentence.error.is_hearsay() {
                thread::sleep(KNOWS_MORE);
            }
            say(format_args!("{sentence} ({})", class.name()));
            abort(exit);
        }
        Handler::Return => {
            remember(class, sentence.to_string());
            None
        }
        Handler::User(function) => {
            remember(class, sentence.to_string());
            Some(function)
        }
    }
}

/// The same of an error code that the program raised itself, with what it means.
pub(crate) fn treat_code<'a, U>(
    handler: &'a Handler<U>,
    call: &'static str,
    code: i32,
    meaning: impl FnOnce() -> String,
) -> Option<&'a U> {
    match handler {
        Handler::Fatal | Handler::Abort => {
            let rank = WORLD_RANK.load(Ordering::Relaxed);
            let meaning = meaning();
            say(format_args!(
                "{call} on rank {rank} of MPI_COMM_WORLD: the program raised error {code}: {meaning}"
            ));
            abort(code);
        }
        Handler::Return => None,
        Handler::User(function) => Some(function),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_call_rank_argument_and_what_was_expected() {
        let error = Error::invalid(ErrorClass::Tag, "tag", -7, "0..=2147483647");
        let sentence = Sentence { call: "MPI_Send", rank: 2, comm: None, error: &error };
        assert_eq!(
            sentence.to_string(),
            "MPI_Send on rank 2 of MPI_COMM_WORLD: tag is -7, expected 0..=2147483647"
        );
        let sentence = Sentence { comm: Some("grid"), ..sentence };
        assert!(sentence.to_string().starts_with("MPI_Send on rank 2 of MPI_COMM_WORLD (in grid): tag is"));
    }

    #[test]
    fn the_sentence_names_a_collective_operation_once() {
        let error = Error::other(ErrorClass::Truncate, "MPI_Ibcast: rank 0 sent 20 bytes");
        let said = |call| Sentence { call, rank: 1, comm: None, error: &error }.to_string();
        assert_eq!(said("MPI_Ibcast"), "MPI_Ibcast on rank 1 of MPI_COMM_WORLD: rank 0 sent 20 bytes");
        assert_eq!(
            said("MPI_Wait"),
            "MPI_Wait on rank 1 of MPI_COMM_WORLD: MPI_Ibcast: rank 0 sent 20 bytes"
        );
    }
}
