//! The launcher of this process's job, as a rank sees it: who am I, what have the others said, a fence.
//!
//! It speaks PMI-1.1 over an inherited descriptor (`client`), or through the PMIx library of the launcher. What must
//! stay true: nothing is asked of the launcher before somebody wants to know it, for each question is a round trip; a
//! rank that cannot join the job it belongs to says so.

use crate::client::{self, Client, Error};
use crate::mapping;
use crate::spawning::Spawning;
use posthaste_os::pmix::Pmix;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The argument that makes an mpiexec serve the process at the other end of its standard input, which must be a socket.
pub const SERVE: &str = "--posthaste-serve";

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
    /// A process asked for this job.
    is_spawned: bool,
    /// This process started it.
    is_own: bool,
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

    /// Starts the mpiexec that is installed with this library, for a process that no launcher started: it then is the only
    /// rank of its job, and may ask for others. The mpiexec ends when this process and all of those have.
    ///
    /// It is never looked for in `PATH`, where another library's would be found.
    ///
    /// # Errors
    /// When there is none, or it cannot be started.
    pub fn start() -> Result<Self, Error> {
        let library = own_file().map_err(|why| Error::CannotSpawn(format!("/proc/self/maps: {why}")))?;
        let Some(mpiexec) = beside(&library) else {
            let library = library.display();
            return Err(Error::CannotSpawn(format!(
                "no launcher started this process, and there is no mpiexec beside {library}"
            )));
        };
        Self::start_by(&mpiexec)
    }

    /// The same with this mpiexec.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_by(mpiexec: &Path) -> Result<Self, Error> {
        let refused =
            |why: io::Error| Error::CannotSpawn(format!("{} cannot be started: {why}", mpiexec.display()));
        let (ours, theirs) = UnixStream::pair().map_err(refused)?;
        let mut command = Command::new(mpiexec);
        // Whoever has our streams reads what the new processes write. It outlives us if they do.
        command.arg(SERVE).stdin(OwnedFd::from(theirs)).spawn().map_err(refused)?;
        let mut client = Client::over(ours.into());
        client.init()?;
        Ok(Self { is_own: true, is_spawned: false, ..Self::new(Kind::Pmi(client, None)) })
    }

    fn new(kind: Kind) -> Self {
        // Before the variables of the job are spent.
        let is_spawned = std::env::var("PMI_SPAWNED").is_ok_and(|value| !["", "0"].contains(&value.trim()));
        Self { kind, opening: 1, has_left: false, is_spawned, is_own: false }
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

    /// Whether this process started it.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Whether a process asked for this job, which may have left something for it.
    pub fn is_spawned(&self) -> bool {
        self.is_spawned
    }

    /// What whoever asked for this job has left under `key`, `None` when nothing.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn left_for_us(&mut self, key: &str) -> Result<Option<String>, Error> {
        match &mut self.kind {
            Kind::Pmi(client, space) => {
                let space = own_space(client, space)?;
                client.get(&space, key)
            }
            Kind::Pmix(_) => Ok(None),
        }
    }

    /// How many processes the launcher could start in all, with those that run; `None` when it does not say.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn universe_size(&mut self) -> Result<Option<usize>, Error> {
        match &mut self.kind {
            // Others of the family say -1.
            Kind::Pmi(client, _) => Ok(usize::try_from(client.get_universe_size()?).ok()),
            Kind::Pmix(_) => Ok(None),
        }
    }

    /// The number of the program that this rank runs, of those that its job was started with; `None` when the launcher does
    /// not say.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn application(&mut self) -> Result<Option<usize>, Error> {
        match &mut self.kind {
            Kind::Pmi(client, _) => Ok(usize::try_from(client.get_appnum()?).ok()),
            Kind::Pmix(_) => Ok(None),
        }
    }

    /// Asks for a new job and waits until the launcher says that its processes run. Gives an error code for each process
    /// that was asked for, 0 for one that runs.
    ///
    /// # Errors
    /// See [`Launcher::nodes`]; when none was started, or this launcher starts none: the reason.
    pub fn spawn(&mut self, request: &Spawning) -> Result<Vec<i32>, Error> {
        match &mut self.kind {
            Kind::Pmi(client, _) => client.spawn(request),
            Kind::Pmix(_) => Err(Error::CannotSpawn(
                "this job was started by a PMIx launcher (Open MPI's mpirun, say), which is not asked for processes; \
                 start it with posthaste's mpiexec"
                    .into(),
            )),
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

/// The file that this code was loaded from: the library, or a program that has it in itself.
fn own_file() -> io::Result<PathBuf> {
    let here = own_file as *const () as usize;
    let holds = |line: &&str| {
        let range = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        let number = |text| usize::from_str_radix(text, 16).ok();
        range.and_then(|(from, to)| Some((number(from)?..number(to)?).contains(&here))).unwrap_or(false)
    };
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let line = maps.lines().find(holds);
    let path = line.and_then(|line| line.find('/').map(|start| PathBuf::from(&line[start..])));
    path.ok_or_else(|| io::Error::other("this code has no file"))
}

/// The mpiexec that belongs to this file: in `bin` beside its folder, as installed, or in its folder, as built.
fn beside(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let places = [folder.parent().map(|prefix| prefix.join("bin/mpiexec")), Some(folder.join("mpiexec"))];
    places.into_iter().flatten().find(|place| place.is_file())
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
    fn an_mpiexec_is_looked_for_beside_the_library_only() {
        assert_eq!(own_file().unwrap(), std::env::current_exe().unwrap());
        let prefix = std::env::temp_dir().join(format!("beside-{}", std::process::id()));
        std::fs::create_dir_all(prefix.join("bin")).unwrap();
        let library = prefix.join("lib/libmpi_abi.so.1");
        assert_eq!(beside(&library), None);
        std::fs::write(prefix.join("bin/mpiexec"), "").unwrap();
        assert_eq!(beside(&library), Some(prefix.join("bin/mpiexec")));
        let said = Launcher::start_by(&prefix.join("bin/mpiexec")).unwrap_err().to_string();
        assert!(said.contains("bin/mpiexec cannot be started"), "{said}");
        std::fs::remove_dir_all(&prefix).unwrap();
    }

    #[test]
    fn no_key_is_put_twice() {
        let names: std::collections::HashSet<String> =
            (1..=30).flat_map(|opening| (0..30).map(move |rank| name("card", opening, rank))).collect();
        assert_eq!(names.len(), 900);
        assert_eq!(name("card", 1, 7), "posthaste-card-7");
    }
}
