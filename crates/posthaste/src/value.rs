//! Messages that are values of any type that serde can write: what has no fixed number of bytes.
//!
//! A value travels in the format of postcard, as bytes: the receiver names the same type. What does not read as one is an error.
//!
//! What must stay true: bytes that came from a peer never cause a panic.

use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;

/// Broadcast instead of a length by a root that has nothing to send.
const NOTHING: u64 = u64::MAX;

impl Communicator<'_> {
    /// Sends a value of any type that serde can write (feature `serde`); see [`Communicator::send`].
    ///
    /// # Errors
    /// As [`Communicator::send`]; a value that cannot be written ([`ErrorClass::Type`]).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use serde::{Deserialize, Serialize};
    /// #[derive(Serialize, Deserialize, PartialEq, Debug)]
    /// enum Task { Stop, Search { words: Vec<String> } }
    ///
    /// let task = Task::Search { words: vec!["needle".into(), "hay".into()] };
    /// world.send_value(&task, 0, 0)?;
    /// let (got, _) = world.receive_value::<Task>(0, 0)?;
    /// assert_eq!(got, task);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_value<V: Serialize + ?Sized>(
        &self,
        value: &V,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<()> {
        let bytes = self.named("send_value", written(value))?;
        self.send(&bytes[..], to, tag)
    }

    /// Receives a value that was sent by [`Communicator::send_value`] (feature `serde`).
    ///
    /// # Errors
    /// As [`Communicator::receive_vec`]; a message that is no such value ([`ErrorClass::Type`]), which is lost then.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// world.send(&[200u8], 0, 0)?;
    /// let error = world.receive_value::<bool>(0, 0).unwrap_err();
    /// assert_eq!(error.class(), posthaste::ErrorClass::Type);
    /// # Ok(())
    /// # }
    /// ```
    pub fn receive_value<V: DeserializeOwned>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(V, Status)> {
        let (bytes, status) = self.receive_vec::<u8>(from, tag)?;
        Ok((self.named("receive_value", read(&bytes))?, status))
    }

    /// Returns the root's value on every rank (feature `serde`). The root passes it; what others pass is not looked at. All ranks call it.
    ///
    /// # Errors
    /// A root that is no rank; on all ranks, a root that passes nothing or a value that cannot be written; bytes that are no such value; no memory, of
    /// which the others hear nothing.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let name = (world.rank() == 0).then(|| String::from("run 7"));
    /// assert_eq!(world.broadcast_value(name, 0)?, "run 7");
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Bcast")]
    pub fn broadcast_value<V: Serialize + DeserializeOwned>(
        &self,
        value: Option<V>,
        root: usize,
    ) -> Result<V> {
        const CALL: &str = "broadcast_value";
        if self.rank() != root {
            let length = self.broadcast_one(0, root)?;
            if length == NOTHING {
                let text = format!("rank {root}, the root, had no value that could be written");
                return self.named(CALL, Err(Cause::other(ErrorClass::Type, text)));
            }
            let mut bytes = self.named(CALL, room(length))?;
            self.broadcast(&mut bytes[..], root)?;
            return self.named(CALL, read(&bytes));
        }
        let nothing = || Cause::invalid(ErrorClass::Arg, "value", "None at the root", "a value");
        let written = value.ok_or_else(nothing).and_then(|value| Ok((written(&value)?, value)));
        let length = written.as_ref().map_or(NOTHING, |(bytes, _)| bytes.len() as u64);
        self.broadcast_one(length, root)?;
        let (mut bytes, value) = self.named(CALL, written)?;
        self.broadcast(&mut bytes[..], root)?;
        Ok(value)
    }
}

fn written<V: Serialize + ?Sized>(value: &V) -> Checked<Vec<u8>> {
    postcard::to_stdvec(value).map_err(|why| {
        let text = format!("a value of {} cannot be written: {why}", std::any::type_name::<V>());
        Cause::other(ErrorClass::Type, text)
    })
}

fn read<V: DeserializeOwned>(bytes: &[u8]) -> Checked<V> {
    let wrong = |why: String| {
        let text = format!("a message of {} bytes is no {}: {why}", bytes.len(), std::any::type_name::<V>());
        Cause::other(ErrorClass::Type, text)
    };
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(wrong(format!("{} bytes are left over", rest.len()))),
        Err(why) => Err(wrong(why.to_string())),
    }
}

fn room(length: u64) -> Checked<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if bytes.try_reserve_exact(length).is_err() {
        return Err(Cause::no_memory(format!("there is no memory for a value of {length} bytes")));
    }
    bytes.resize(length, 0);
    Ok(bytes)
}
