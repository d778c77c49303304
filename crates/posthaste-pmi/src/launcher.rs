//! The launcher of this process's job, as a rank sees it: who am I, what have the others said, a fence.
//!
//! It speaks PMI-1.1 over an inherited descriptor (`client`), or through the PMIx library of the launcher. What must
//! stay true: nothing is asked of the launcher before somebody wants to know it, for each question is a round trip; a
//! rank that cannot join the job it belongs to says so.

use crate::client::{self, Client, Error};
use crate::mapping;
use crate::sets::{self, Sets};
use crate::spawning::{self, Spawning};
use posthaste_os::pmix::Pmix;
use posthaste_os::process::{self, Image};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The argument that makes an mpiexec serve the process at the other end of its standard input, which must be a socket.
pub const SERVE: &str = "--posthaste-serve";

/// How long an mpiexec that this process started has to answer when leave of it is taken.
const FAREWELL: Duration = Duration::from_secs(5);

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
    /// It was asked where they wait.
    has_asked: bool,
    /// This process started it.
    is_own: bool,
    /// It starts processes that programs of ours ask for. A launcher that speaks PMIx is not asked. Slurm starts them in a step that
    /// waits for CPUs, and those of the allocation are taken by the steps that run.
    starts_others: bool,
    /// The mpiexec that does it otherwise.
    helper: Option<Box<Self>>,
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
    /// rank of its job, and may ask for others. The mpiexec ends when this process and all of those have. It is no child of this
    /// process, whose program may wait for its own, and has none of its descriptors but the standard streams.
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
                "no launcher does it for this process, and there is no mpiexec of ours beside {library}"
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
        let environment: Vec<Vec<u8>> = std::env::vars_os()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .collect();
        let arguments = [mpiexec.as_os_str().as_bytes(), SERVE.as_bytes()];
        // Whoever has our streams reads what the new processes write. It outlives us if they do.
        let image = Image::new(mpiexec, &arguments, &environment, None).map_err(refused)?;
        process::start_apart(&image, theirs.as_fd()).map_err(refused)?;
        drop(theirs);
        let mut client = Client::over(ours.into());
        client.init()?;
        Ok(Self {
            is_own: true,
            is_spawned: false,
            starts_others: true,
            ..Self::new(Kind::Pmi(client, None))
        })
    }

    fn new(kind: Kind) -> Self {
        // Before the variables of the job are spent.
        let is_spawned = std::env::var("PMI_SPAWNED").is_ok_and(|value| !["", "0"].contains(&value.trim()));
        Self {
            starts_others: matches!(kind, Kind::Pmi(..))
                && !is_in_foreign_step(|name| std::env::var_os(name).is_some()),
            kind,
            opening: 1,
            has_left: false,
            is_spawned,
            has_asked: false,
            is_own: false,
            helper: None,
        }
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

    /// Whether it is an mpiexec that this process has started, and is no more: it ends when what it has started fails. Another one
    /// can be started.
    pub fn has_ended(&mut self) -> bool {
        match &mut self.kind {
            Kind::Pmi(client, _) => self.is_own && client.is_closed(),
            Kind::Pmix(_) => false,
        }
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

    /// Where those who asked for this job wait for it; `None` when nobody did, when it was a program of another library, or when
    /// this was asked before: they wait once.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn parents_port(&mut self) -> Result<Option<String>, Error> {
        let waits = self.is_spawned && !std::mem::replace(&mut self.has_asked, true);
        if waits { self.left_for_us(spawning::PARENTS_PORT) } else { Ok(None) }
    }

    /// Says that those who asked for this job have been met.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn has_met_parents(&mut self) -> Result<(), Error> {
        self.say(spawning::MET)
    }

    /// Says that this job, which somebody asked for, is connected with no other job any more.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn has_parted(&mut self) -> Result<(), Error> {
        if self.is_spawned { self.say(spawning::PARTED) } else { Ok(()) }
    }

    /// Says something that launchers of ours understand.
    fn say(&mut self, key: &str) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Pmi(client, space) => {
                let space = own_space(client, space)?;
                client.put(&space, key, "1")
            }
            Kind::Pmix(_) => Ok(()),
        }
    }

    /// How many processes the launcher could start in all, with those that run; `None` when it does not say.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn universe_size(&mut self) -> Result<Option<usize>, Error> {
        match &mut self.kind {
            Kind::Pmi(client, _) => Ok(known(client.get_universe_size()?)),
            Kind::Pmix(pmix) => pmix.universe_size().map_err(Error::Library),
        }
    }

    /// The number of the program that this rank runs, of those that its job was started with; `None` when the launcher does
    /// not say.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn application(&mut self) -> Result<Option<usize>, Error> {
        match &mut self.kind {
            Kind::Pmi(client, _) => Ok(known(client.get_appnum()?)),
            Kind::Pmix(pmix) => pmix.application().map_err(Error::Library),
        }
    }

    /// The process sets that the launcher knows; `None` when it does not say.
    ///
    /// # Errors
    /// See [`Launcher::nodes`].
    pub fn process_sets(&mut self) -> Result<Option<Sets>, Error> {
        if let Kind::Pmix(pmix) = &self.kind {
            return Ok(Some(sets_of(pmix)));
        }
        let (size, text) = (self.size(), Sets::gather(|key| self.left_for_us(key))?);
        Ok(text.and_then(|text| Sets::parse(&text, size)))
    }

    /// Asks for a new job and waits until the launcher says that its processes run. Gives an error code for each process
    /// that was asked for, 0 for one that runs.
    ///
    /// # Errors
    /// See [`Launcher::nodes`]; when none was started, or this launcher starts none: the reason.
    pub fn spawn(&mut self, request: &Spawning) -> Result<Vec<i32>, Error> {
        self.prepare_to_spawn()?;
        self.spawner()?.spawn(request)
    }

    /// Sees to it that there is somebody to ask for processes: where this launcher starts none for a program of ours, an mpiexec of our own. One
    /// that has ended is replaced; who waits for it hears that it has.
    ///
    /// # Errors
    /// As [`Launcher::start`].
    pub fn prepare_to_spawn(&mut self) -> Result<(), Error> {
        let starts_others = self.starts_others && matches!(self.kind, Kind::Pmi(..));
        if !starts_others && self.helper.as_mut().is_none_or(|helper| helper.has_ended()) {
            self.helper = Some(Box::new(Self::start()?));
        }
        Ok(())
    }

    /// The connection on which processes are asked for: [`Client::ask_for`], then [`Client::hear_of`].
    ///
    /// # Errors
    /// There is none ([`Launcher::prepare_to_spawn`]).
    pub fn spawner(&mut self) -> Result<&mut Client, Error> {
        let asked = match &mut self.kind {
            Kind::Pmi(client, _) if self.starts_others => Some(client),
            _ => self.helper.as_mut().and_then(|helper| match &mut helper.kind {
                Kind::Pmi(client, _) => Some(client),
                Kind::Pmix(_) => None,
            }),
        };
        asked.ok_or_else(|| Error::CannotSpawn("there is no launcher that starts processes".into()))
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
    /// See [`Launcher::nodes`]. [`Error::Own`] is the end of an mpiexec that this process started, or its silence for five seconds;
    /// leave of the launcher that started this process has been taken before.
    pub fn finalize(&mut self) -> Result<(), Error> {
        self.finalize_within(FAREWELL)
    }

    fn finalize_within(&mut self, limit: Duration) -> Result<(), Error> {
        self.has_left = true;
        let left = match &mut self.kind {
            Kind::Pmi(client, _) if self.is_own => {
                let left = client.wait_at_most(limit).and_then(|()| client.finalize());
                left.map_err(|why| Error::Own(Box::new(why)))
            }
            Kind::Pmi(client, _) => client.finalize(),
            Kind::Pmix(pmix) => pmix.finalize().map_err(Error::Library),
        };
        // What it has started may go on.
        let helper = self.helper.take().map_or(Ok(()), |mut helper| helper.finalize_within(limit));
        left.and(helper)
    }
}

/// A number that the launcher knows. Others of the family say -1 when they do not, which some write as 4294967295; no number
/// is beyond what an `int` of C holds.
fn known(number: i64) -> Option<usize> {
    i32::try_from(number).ok().and_then(|number| usize::try_from(number).ok())
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

/// What a launcher that speaks PMIx knows. It may know nothing of programs or of sets, and that is no failure.
fn sets_of(pmix: &Pmix) -> Sets {
    let mut sets = Sets::default();
    let programs = (0..pmix.size()).map(|rank| pmix.application_of(rank).ok().flatten());
    // Each program has the ranks behind those of the one before.
    let mut programs = programs.collect::<Option<Vec<usize>>>().unwrap_or_default();
    if programs.is_sorted() {
        sets.programs = programs.chunk_by_mut(|one, next| one == next).map(|same| same.len()).collect();
    }
    for (name, ranks) in pmix.process_sets().unwrap_or_default() {
        if sets::check_name(&name).is_ok() {
            sets.add(&name, ranks);
        }
    }
    sets
}

/// Whether a launcher that is not ours has put this process into a step of Slurm.
fn is_in_foreign_step(has: impl Fn(&str) -> bool) -> bool {
    has("SLURM_STEP_ID") && !has("POSTHASTE_NODE_FD")
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

    /// A launcher that answers one request, or is silent, and the word with which it ends.
    fn launcher(is_own: bool, answers: bool) -> (Launcher, UnixStream) {
        use std::io::Write;
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        if answers {
            theirs.write_all(b"cmd=finalize_ack rc=0\n").unwrap();
        }
        let kind = Kind::Pmi(Client::over(ours.into()), None);
        (Launcher { is_own, ..Launcher::new(kind) }, theirs)
    }

    #[test]
    fn leave_of_the_launcher_above_is_taken_whatever_became_of_our_own() {
        use std::io::Read;
        for is_dead in [true, false] {
            let (mut above, mut asked) = launcher(false, true);
            let (own, silent) = launcher(true, false);
            let silent = Some(silent).filter(|_| !is_dead);
            above.helper = Some(Box::new(own));
            let said = above.finalize_within(Duration::from_millis(20)).unwrap_err().to_string();
            let part = if is_dead { "Broken pipe" } else { "it has not answered for 0.02 s" };
            assert!(
                said.starts_with("the mpiexec that this process has started") && said.contains(part),
                "{said}"
            );
            drop((above, silent));
            let mut heard = String::new();
            asked.read_to_string(&mut heard).unwrap();
            assert_eq!(heard, "cmd=finalize\n");
        }
    }

    #[test]
    fn what_the_launcher_does_not_know_is_unknown() {
        use std::io::Write;
        for (said, number) in [("0", Some(0)), ("7", Some(7)), ("-1", None), ("4294967295", None)] {
            let (mut launcher, mut server) = launcher(false, false);
            let answers = format!("cmd=appnum appnum={said} rc=0\ncmd=universe_size size={said} rc=0\n");
            server.write_all(answers.as_bytes()).unwrap();
            assert_eq!(launcher.application().unwrap(), number, "{said}");
            assert_eq!(launcher.universe_size().unwrap(), number, "{said}");
        }
    }

    #[test]
    fn our_mpiexec_is_asked_in_a_step_of_slurm_and_slurm_is_not() {
        let is_foreign = |names: &[&str]| is_in_foreign_step(|name| names.contains(&name));
        assert!(is_foreign(&["SLURM_STEP_ID", "PMI_FD"]));
        assert!(!is_foreign(&["SLURM_STEP_ID", "PMI_FD", "POSTHASTE_NODE_FD"]));
        assert!(!is_foreign(&["PMI_FD"]));
    }

    #[test]
    fn no_key_is_put_twice() {
        let names: std::collections::HashSet<String> =
            (1..=30).flat_map(|opening| (0..30).map(move |rank| name("card", opening, rank))).collect();
        assert_eq!(names.len(), 900);
        assert_eq!(name("card", 1, 7), "posthaste-card-7");
    }
}
