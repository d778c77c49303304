//! Who and which: destinations, sources and tags as arguments, and the status that names them.
//!
//! MPI-5.0 §3.2.3 (envelope), §3.2.5 (status), §3.10 (nobody).
//!
//! What must stay true: the negative numbers by which MPI spells wildcards and nobody are made here and nowhere
//! else; a negative number from the user is an error and never taken for one of them.

use posthaste_core::buffer::packed_size;
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::ids::{ANY_SOURCE, ANY_TAG, PROC_NULL, TAG_UB};
use posthaste_core::request;
use posthaste_core::wire::Envelope;
use posthaste_core::world::Matched;

/// Largest tag: every tag from 0 to this one is valid (MPI-5.0 §9.1.2, `MPI_TAG_UB`).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::TAG_MAX;
/// world.send(&1, 0, TAG_MAX)?;
/// assert_eq!(world.receive_one::<i32>(0, TAG_MAX)?.1.tag(), TAG_MAX);
/// # Ok(())
/// # }
/// ```
pub const TAG_MAX: i32 = TAG_UB;

/// The type of [`ANY`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// use posthaste::{ANY, Any, Source};
/// assert_eq!(Source::from(Any), Source::from(ANY));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Any;

/// The wildcard of receives and probes: a message from any rank, or with any tag (MPI-5.0 §3.2.4).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::ANY;
/// world.send(b"from whom?", 0, 17)?;
/// let (_, status) = world.receive_vec::<u8>(ANY, ANY)?;
/// assert_eq!((status.source(), status.tag()), (Some(0), 17));
/// # Ok(())
/// # }
/// ```
pub const ANY: Any = Any;

/// Whom to send to: a rank, or `None` for nobody.
///
/// A send to nobody does nothing (MPI-5.0 §3.10), which saves the special case at the border of a domain:
/// the neighbour is an `Option<usize>`.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::Destination;
/// let left: Option<usize> = world.rank().checked_sub(1);
/// assert_eq!(Destination::from(left), if world.rank() == 0 { None.into() } else { (world.rank() - 1).into() });
/// world.send(&[1.5], left, 0)?; // nothing happens on rank 0
/// # if let Some(next) = Some(world.rank() + 1).filter(|next| *next < world.size()) { world.receive(&mut [0.0], next, 0)?; }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination(Option<usize>);

/// Whom to receive from: a rank, [`ANY`], or `None` for nobody.
///
/// A receive from nobody completes at once and leaves the buffer as it is (MPI-5.0 §3.10).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut border = [7.5];
/// assert_eq!(world.receive(&mut border, None, 0)?.source(), None);
/// assert_eq!(border, [7.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(Sender);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Rank(usize),
    Any,
    Nobody,
}

/// The tag a message must have: a number from 0 to [`TAG_MAX`], or [`ANY`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// world.send(&1, 0, 5)?;
/// world.send(&2, 0, 6)?;
/// assert_eq!(world.receive_one::<i32>(0, 6)?.0, 2); // not the first one
/// assert_eq!(world.receive_one::<i32>(0, posthaste::ANY)?.0, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(Option<i32>);

impl From<usize> for Destination {
    fn from(rank: usize) -> Self {
        Self(Some(rank))
    }
}

impl From<Option<usize>> for Destination {
    fn from(rank: Option<usize>) -> Self {
        Self(rank)
    }
}

impl From<usize> for Source {
    fn from(rank: usize) -> Self {
        Self(Sender::Rank(rank))
    }
}

impl From<Option<usize>> for Source {
    fn from(rank: Option<usize>) -> Self {
        Self(rank.map_or(Sender::Nobody, Sender::Rank))
    }
}

impl From<Any> for Source {
    fn from(_: Any) -> Self {
        Self(Sender::Any)
    }
}

impl From<i32> for Tag {
    fn from(tag: i32) -> Self {
        Self(Some(tag))
    }
}

impl From<Any> for Tag {
    fn from(_: Any) -> Self {
        Self(None)
    }
}

impl Destination {
    /// As core spells it. Whether the rank exists is checked there.
    #[inline]
    pub(crate) fn number(self, size: i32) -> Checked<i32> {
        self.0.map_or(Ok(PROC_NULL), |rank| number("dest", rank, size))
    }
}

impl Source {
    /// As core spells it. Whether the rank exists is checked there.
    #[inline]
    pub(crate) fn number(self, size: i32) -> Checked<i32> {
        match self.0 {
            Sender::Rank(rank) => number("source", rank, size),
            Sender::Any => Ok(ANY_SOURCE),
            Sender::Nobody => Ok(PROC_NULL),
        }
    }
}

impl Tag {
    /// As core spells it.
    #[inline]
    pub(crate) fn number(self) -> Checked<i32> {
        match self.0 {
            None => Ok(ANY_TAG),
            Some(tag) if tag >= 0 => Ok(tag),
            Some(tag) => {
                let expected = format_args!("0..={TAG_MAX} or ANY");
                Err(Cause::invalid(ErrorClass::Tag, "tag", tag, expected))
            }
        }
    }
}

/// Ranks that must exist in a communicator of this size.
pub(crate) fn ranks(argument: &'static str, ranks: &[usize], size: i32) -> Checked<Vec<i32>> {
    ranks.iter().map(|rank| number(argument, *rank, size)).collect()
}

/// A rank of core, where there may be nobody.
pub(crate) fn somebody(rank: i32) -> Option<usize> {
    usize::try_from(rank).ok()
}

#[inline]
fn number(argument: &'static str, rank: usize, size: i32) -> Checked<i32> {
    match i32::try_from(rank) {
        Ok(number) if number < size => Ok(number),
        _ => Err(wrong_rank(argument, rank, size)),
    }
}

#[cold]
fn wrong_rank(argument: &'static str, rank: usize, size: i32) -> Cause {
    let expected = format_args!("a rank of the communicator, 0..={}", size - 1);
    Cause::invalid(ErrorClass::Rank, argument, rank, expected)
}

/// A rank that must exist in a communicator of this size, such as the root of a collective.
#[inline]
pub(crate) fn root(rank: usize, size: i32) -> Checked<i32> {
    let wrong = |_| {
        let expected = format_args!("a rank of the communicator, 0..={}", size - 1);
        Cause::invalid(ErrorClass::Root, "root", rank, expected)
    };
    number("root", rank, size).map_err(wrong)
}

/// What is known about a message received or found (MPI-5.0 §3.2.5).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// world.send(&[1.5f32, 2.5], 0, 3)?;
/// let status = world.probe(posthaste::ANY, posthaste::ANY)?;
/// assert_eq!((status.source(), status.tag(), status.bytes()), (Some(0), 3, 8));
/// assert_eq!((status.count::<f32>(), status.count::<[f64; 2]>()), (Some(2), None));
/// assert!(!status.is_cancelled());
/// # world.receive_vec::<f32>(0, 3)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    source: i32,
    tag: i32,
    bytes: u64,
    cancelled: bool,
}

impl Status {
    #[inline]
    pub(crate) fn of(status: &request::Status) -> Self {
        let request::Status { source, tag, bytes, cancelled, .. } = *status;
        Self { source, tag, bytes, cancelled }
    }

    /// That of a message that was found and not received.
    pub(crate) fn of_message(message: Option<&Matched>) -> Self {
        let nobody = Self { source: PROC_NULL, tag: ANY_TAG, bytes: 0, cancelled: false };
        message.map_or(nobody, |Matched { envelope, .. }| {
            let Envelope { source, tag, len, .. } = *envelope;
            Self { source, tag, bytes: len, cancelled: false }
        })
    }

    /// Rank of the sender in the communicator; of an intercommunicator, in the other group. `None` when there was none: a receive
    /// from nobody, one that was cancelled, or the status of a send. As it is, it is a destination or a source.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::ANY;
    /// world.send(b"ping", 0, 3)?;
    /// let (_, ping) = world.receive_vec::<u8>(ANY, ANY)?;
    /// assert_eq!((ping.source(), ping.tag(), ping.bytes()), (Some(0), 3, 4));
    /// world.send(b"pong", ping.source(), ping.tag())?; // back to whoever sent it
    /// assert_eq!(world.receive_vec::<u8>(ping.source(), 3)?.0, b"pong");
    /// assert_eq!(world.receive_vec::<u8>(None, 0)?.1.source(), None);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_SOURCE", alias = "MPI_Status_get_source", alias = "source_rank")]
    pub fn source(&self) -> Option<usize> {
        somebody(self.source)
    }

    /// The message's tag. Negative when there was no message, which no call takes for a tag.
    #[doc(alias = "MPI_TAG", alias = "MPI_Status_get_tag")]
    pub fn tag(&self) -> i32 {
        self.tag
    }

    /// Bytes of the message.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of elements of type `T` in the message (`MPI_Get_count`); `None` when its bytes are no whole number of them, or an
    /// element has none.
    #[doc(alias = "MPI_Get_count")]
    pub fn count<T: crate::Equivalence>(&self) -> Option<usize> {
        let size = packed_size::<T>() as u64;
        let is_whole = size > 0 && self.bytes.is_multiple_of(size);
        if is_whole { usize::try_from(self.bytes / size).ok() } else { None }
    }

    /// Whether the operation was cancelled, and no message was transferred (`MPI_Test_cancelled`).
    #[doc(alias = "MPI_Test_cancelled")]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_the_numbers_of_the_standard() {
        assert_eq!(Destination::from(3).number(4).unwrap(), 3);
        assert_eq!(Destination::from(None).number(4).unwrap(), PROC_NULL);
        assert_eq!(Source::from(Some(2)).number(4).unwrap(), 2);
        assert_eq!(Source::from(ANY).number(4).unwrap(), ANY_SOURCE);
        assert_eq!(Tag::from(ANY).number().unwrap(), ANY_TAG);
        assert_eq!(Tag::from(TAG_MAX).number().unwrap(), TAG_MAX);
    }

    #[test]
    fn wrong_numbers_are_refused_and_never_taken_for_wildcards() {
        for tag in [-1, ANY_TAG, i32::MIN] {
            assert_eq!(Tag::from(tag).number().unwrap_err().class(), ErrorClass::Tag);
        }
        for rank in [4, usize::MAX, 1 << 32, (1 << 32) + 1] {
            let error = Source::from(rank).number(4).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Rank);
            assert!(error.to_string().contains(&rank.to_string()));
            assert!(error.to_string().contains("0..=3"));
            assert_eq!(root(rank, 4).unwrap_err().class(), ErrorClass::Root);
        }
    }

    #[test]
    fn a_status_counts_whole_elements() {
        let status = Status { source: 1, tag: 5, bytes: 12, cancelled: false };
        assert_eq!(status.count::<i32>(), Some(3));
        assert_eq!(status.count::<f64>(), None);
        assert_eq!(status.source(), Some(1));
        assert_eq!(Status { source: PROC_NULL, ..status }.source(), None);
    }
}
