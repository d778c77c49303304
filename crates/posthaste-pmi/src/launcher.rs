//! The launcher of this process's job, as a rank sees it: who am I, a space of keys and values, a fence.
//!
//! Called by the engine's initialisation, by its end, and when an address is looked up; calls `client`. What must stay
//! true: nothing is asked of the launcher before somebody wants to know it, for each question is a round trip.

use crate::client::{self, Client, Error};
use crate::mapping;

/// The connection of a rank to its launcher.
#[derive(Debug)]
pub struct Launcher {
    client: Client,
    /// Name of the job's key-value space, once it was asked for.
    space: Option<String>,
}

impl Launcher {
    /// Joins the job that the environment names: `None` without a launcher. Done once per process.
    ///
    /// # Errors
    /// When the environment contradicts itself, names a launcher that we cannot talk to, or the launcher does not answer
    /// as it should.
    pub fn connect() -> Result<Option<Self>, Error> {
        Ok(client::connect()?.map(|client| Self { client, space: None }))
    }

    /// Rank in the job.
    pub fn rank(&self) -> usize {
        self.client.rank
    }

    /// Ranks in the job.
    pub fn size(&self) -> usize {
        self.client.size
    }

    /// The node of each rank, if the launcher tells. Nodes are numbered in any way.
    ///
    /// # Errors
    /// When the connection breaks or the answer is wrong; so for every request below.
    pub fn nodes(&mut self) -> Result<Option<Vec<u32>>, Error> {
        let told = self.get("PMI_process_mapping")?;
        Ok(told.and_then(|text| mapping::parse(&text, self.size())))
    }

    /// Puts a pair; others see it after the next fence.
    ///
    /// # Errors
    /// See [`Launcher::nodes`]; also when key or value cannot be sent or are refused.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let space = self.space()?;
        self.client.put(&space, key, value)
    }

    /// Gets the value of a key, `None` when nobody has put it.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn get(&mut self, key: &str) -> Result<Option<String>, Error> {
        let space = self.space()?;
        self.client.get(&space, key)
    }

    /// Waits until all ranks of the job have come here. What they put before can be got by all afterwards.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn fence(&mut self) -> Result<(), Error> {
        self.client.barrier()
    }

    /// Asks for the end of the job with an exit code. There is no answer; the caller exits next.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn abort(&mut self, code: i32) -> Result<(), Error> {
        self.client.abort(code)
    }

    /// Takes leave.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn finalize(&mut self) -> Result<(), Error> {
        self.client.finalize()
    }

    fn space(&mut self) -> Result<String, Error> {
        if self.space.is_none() {
            self.space = Some(self.client.get_my_kvsname()?);
        }
        Ok(self.space.clone().unwrap_or_default())
    }
}
