//! The error of every call: what core found wrong, with the call and the rank added.
//!
//! MPI-5.0 §9.3, §9.4.
//!
//! What must stay true: [`ErrorClass`] of an error is the one that core's only mapping gives; an error is one
//! pointer, so that the results of the short calls stay in registers.

use std::fmt;

use posthaste_core::error::Error as Cause;
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::ErrorClass;
/// let error = world.send(&1, 0, -5).unwrap_err();
/// assert_eq!(error.class(), ErrorClass::Tag);
/// assert_eq!((error.class().name(), error.class().text()), ("MPI_ERR_TAG", ErrorClass::Tag.text()));
/// assert!(ErrorClass::ALL.contains(&ErrorClass::Truncate));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::error::ErrorClass;

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A failed call. Its text names the rank, the call, the wrong value and what was expected.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// let universe = posthaste::init()?;
/// let error = universe.world().send(&[1u8], 9, 0).unwrap_err();
/// assert_eq!(error.class(), posthaste::ErrorClass::Rank);
/// assert_eq!(error.call(), "send");
/// assert_eq!(error.rank(), Some(0));
/// assert!(error.to_string().starts_with("rank 0: send: "));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    call: &'static str,
    rank: Option<usize>,
    cause: Cause,
}

impl Error {
    #[cold]
    pub(crate) fn new(call: &'static str, rank: Option<usize>, cause: Cause) -> Self {
        Self(Box::new(Inner { call, rank, cause }))
    }

    /// The class of the error (MPI-5.0 §9.4).
    pub fn class(&self) -> ErrorClass {
        self.0.cause.class()
    }

    /// The call that failed, by its name in this crate, such as `all_reduce`.
    pub fn call(&self) -> &'static str {
        self.0.call
    }

    /// The rank in the world of the process that has ended, if that is what went wrong: one that the call needed. The class is
    /// [`ErrorClass::ProcAborted`] then. A process of another job has a number beyond the ranks of the world.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// let universe = posthaste::init()?;
    /// let error = universe.world().send(&[1u8], 9, 0).unwrap_err();
    /// assert_eq!(error.lost_rank(), None); // nobody has rank 9, and so nobody was lost
    /// # Ok(())
    /// # }
    /// ```
    pub fn lost_rank(&self) -> Option<usize> {
        self.0.cause.lost_process().map(|process| process as usize)
    }

    /// The rank in the world on which it failed; `None` when it had none yet.
    pub fn rank(&self) -> Option<usize> {
        self.0.rank
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rank) = self.0.rank {
            write!(f, "rank {rank}: ")?;
        }
        write!(f, "{}: {} ({})", self.0.call, self.0.cause, self.class().name())
    }
}

impl fmt::Debug for Error {
    /// The same sentence: it is what a `main` that returns the error prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_who_and_what() {
        let cause = Cause::invalid(ErrorClass::Tag, "tag", -7, "0..=2147483647");
        let error = Error::new("receive", Some(3), cause.clone());
        assert_eq!(error.to_string(), "rank 3: receive: tag is -7, expected 0..=2147483647 (MPI_ERR_TAG)");
        assert_eq!(format!("{error:?}"), error.to_string());
        let error = Error::new("init", None, cause);
        assert!(error.to_string().starts_with("init: tag is"));
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
