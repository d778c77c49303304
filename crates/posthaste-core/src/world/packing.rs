//! The bytes of a message without the message. MPI-5.0 §5.2.
//!
//! What must stay true: neither buffer is used any more when a call returns.

use super::World;
use super::scope::to_the_end;
use crate::buffer::OwnedBuf;
use crate::error::{Error, ErrorClass, Result};
use crate::slice::{RecvBuf, SendBuf};

impl World {
    /// The bytes as they travel between processes of this format, without padding.
    ///
    /// # Errors
    /// No memory.
    pub fn pack(&self, data: SendBuf<'_>) -> Result<Vec<u8>> {
        let data = data.lend();
        let memory = OwnedBuf::try_new(usize::try_from(data.len()).unwrap_or(usize::MAX))?;
        to_the_end(|| self.copy(data.clone(), data.repacked(memory.user_buf())))?;
        Ok(memory.source().to_vec())
    }

    /// Puts packed bytes where a receive would.
    ///
    /// # Errors
    /// More or fewer bytes than the room has.
    pub fn unpack(&self, bytes: &[u8], room: RecvBuf<'_>) -> Result<()> {
        let room = room.lend();
        if bytes.len() as u64 != room.len() {
            let expected = format_args!("{}, those of the room", room.len());
            return Err(Error::invalid(ErrorClass::Truncate, "the number of bytes", bytes.len(), expected));
        }
        let mut memory = OwnedBuf::try_new(bytes.len())?;
        memory.sink().copy_from(bytes);
        to_the_end(|| self.copy(room.repacked(memory.user_buf()), room))
    }
}
