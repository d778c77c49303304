//! The launcher of this process's job, as a rank sees it: who am I, what have the others said, a fence.
//!
//! It speaks PMI-1.1 over an inherited descriptor (`client`), or through the PMIx library of the launcher. What must
//! stay true: nothing is asked of the launcher before somebody wants to know it, for each question is a round trip; a
//! rank that cannot join the job it belongs to says so.

use crate::client::{self, Client, Error};
use crate::mapping;
use posthaste_os::pmix::Pmix;

/// The connection of a rank to its launcher.
///
/// A process may leave its job's engine and open it again, as often as it likes; the connection stays meanwhile. What ranks say
/// of themselves belongs to one opening: keys carry its number, for a launcher need not take a key twice.
#[derive(Debug)]
pub struct Launcher {
    kind: Kind,
    /// The number of this opening, from 1 on.
    opening: u32,
    /// Leave was taken.
    has_left: bool,
}

#[derive(Debug)]
enum Kind {
    /// PMI-1.1, with the name of the job's key-value space once it was asked for.
    Pmi(Client, Option<String>),
    Pmix(Box<Pmix>),
}

impl Launcher {
    /// Joins the job that the environment names: `None` without a launcher. Done once per process.
    ///
    /// # Errors
    /// When the environment contradicts itself, names a launcher that we cannot talk to, or the launcher does not answer
    /// as it should.
    pub fn connect() -> Result<Option<Self>, Error> {
        match client::connect() {
            Ok(client) => Ok(client.map(|client| Self::new(Kind::Pmi(client, None)))),
            Err(foreign @ Error::Foreign { .. }) if has_pmix_server() => {
                let pmix = Pmix::join().map_err(|why| foreign.because(why))?;
                Ok(Some(Self::new(Kind::Pmix(Box::new(pmix)))))
            }
            Err(error) => Err(error),
        }
    }

    fn new(kind: Kind) -> Self {
        Self { kind, opening: 1, has_left: false }
    }

    /// Begins the next opening: nobody has said anything yet. After leave was taken, the launcher is asked to let this rank in
    /// again.
    ///
    /// # Errors
    /// When it does not.
    pub fn open_again(&mut self) -> Result<(), Error> {
        if self.has_left {
            match &mut self.kind {
                Kind::Pmi(client, _) => client.init(),
                Kind::Pmix(_) => Err(Error::Library("a PMIx client joins once".into())),
            }
            .map_err(|why| Error::Left(Box::new(why)))?;
            self.has_left = false;
        }
        self.opening += 1;
        Ok(())
    }

    /// Whether leave was taken.
    pub fn has_left(&self) -> bool {
        self.has_left
    }

    /// Rank in the job.
    pub fn rank(&self) -> usize {
        match &self.kind {
            Kind::Pmi(client, _) => client.rank,
            Kind::Pmix(pmix) => pmix.rank(),
        }
    }

    /// Ranks in the job.
    pub fn size(&self) -> usize {
        match &self.kind {
            Kind::Pmi(client, _) => client.size,
            Kind::Pmix(pmix) => pmix.size(),
        }
    }

    /// The node of each rank, if the launcher says so. Nodes are numbered in any way.
    ///
    /// # Errors
    /// When the connection breaks or the answer is wrong; so for every request below.
    pub fn nodes(&mut self) -> Result<Option<Vec<u32>>, Error> {
        let size = self.size();
        match &mut self.kind {
            Kind::Pmi(client, space) => {
                let space = own_space(client, space)?;
                let mapping_text = client.get(&space, "PMI_process_mapping")?;
                Ok(mapping_text.and_then(|text| mapping::parse(&text, size)))
            }
            Kind::Pmix(pmix) => {
                (0..size).map(|rank| pmix.node_of(rank)).collect::<Result<_, _>>().map_err(Error::Library)
            }
        }
    }

    /// Says something about this rank; others hear it after the next fence.
    ///
    /// # Errors
    /// See [`Launcher::nodes`]; also when key or value cannot be sent or are refused.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let name = name(key, self.opening, self.rank());
        match &mut self.kind {
            Kind::Pmi(client, space) => {
                let space = own_space(client, space)?;
                client.put(&space, &name, value)
            }
            Kind::Pmix(pmix) => pmix.put(&name, value).map_err(Error::Library),
        }
    }

    /// What `rank` has said of itself, `None` when it has said nothing.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn get(&mut self, rank: usize, key: &str) -> Result<Option<String>, Error> {
        let name = name(key, self.opening, rank);
        match &mut self.kind {
            Kind::Pmi(client, space) => {
                let space = own_space(client, space)?;
                client.get(&space, &name)
            }
            Kind::Pmix(pmix) => pmix.get(rank, &name).map_err(Error::Library),
        }
    }

    /// Waits until all ranks of the job have come here.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn fence(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Pmi(client, _) => client.barrier(),
            Kind::Pmix(pmix) => pmix.fence().map_err(Error::Library),
        }
    }

    /// Asks for the end of the job with an exit code; the caller exits next.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn abort(&mut self, code: i32) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Pmi(client, _) => client.abort(code),
            Kind::Pmix(pmix) => pmix.abort(code).map_err(Error::Library),
        }
    }

    /// Takes leave.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn finalize(&mut self) -> Result<(), Error> {
        self.has_left = true;
        match &mut self.kind {
            Kind::Pmi(client, _) => client.finalize(),
            Kind::Pmix(pmix) => pmix.finalize().map_err(Error::Library),
        }
    }
}

/// A launcher that speaks PMIx has said where it listens.
fn has_pmix_server() -> bool {
    std::env::vars_os().any(|(name, _)| name.as_encoded_bytes().starts_with(b"PMIX_SERVER_URI"))
}

/// One space for all ranks and openings, so the name of a key has both in it.
fn name(key: &str, opening: u32, rank: usize) -> String {
    match opening {
        1 => format!("posthaste-{key}-{rank}"),
        _ => format!("posthaste-{key}-{rank}-{opening}"),
    }
}

fn own_space(client: &mut Client, space: &mut Option<String>) -> Result<String, Error> {
    if space.is_none() {
        *space = Some(client.get_my_kvsname()?);
    }
    Ok(space.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_put_twice() {
        let names: std::collections::HashSet<String> =
            (1..=30).flat_map(|opening| (0..30).map(move |rank| name("card", opening, rank))).collect();
        assert_eq!(names.len(), 900);
        assert_eq!(name("card", 1, 7), "posthaste-card-7");
    }
}
