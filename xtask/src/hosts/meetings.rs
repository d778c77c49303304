//! Jobs on different hosts that meet, also those of different launchers, and processes that are spawned on another host.
//!
//! What must stay true: nothing but the network and the folder of names connects the hosts, with a names server only the network;
//! each of two jobs may be there first.

use std::{ffi::OsStr, path::PathBuf};

use super::House;
use crate::{
    launchers::{WAYS, by, ends_with, meet},
    leftovers::Watch,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

/// How many tests there are.
pub(super) const TESTS: usize = OURS + OTHERS;
const OURS: usize = WAYS.len() + 3;
const OTHERS: usize = 3 * WAYS.len() + 1;

pub(super) fn run(project: &Project, house: &House<'_>, tally: &mut Tally) {
    for way in WAYS {
        tally.test(&format!("hosts: jobs on two hosts meet by {}", by(way)), || {
            house.meet(way, || Ok([house.ours(&["1"], 2), house.ours(&["2", "3"], 1)]))
        });
    }
    tally.test("hosts: jobs on two hosts find each other by a names server on a third one", || {
        house.meet_by_server()
    });
    tally.test("hosts: our mpiexec: what ranks spawn is on the host they name", || {
        let job = house.ours(&["1"], 2).arg(&house.spawner).args(["miss", "/usr", "host2"]);
        ends_with(house.rig.on(1, job), "they have met and parted")
    });
    tally.test("hosts: what a program that nobody has started spawns is on the hosts it names", || {
        // The ssh of the hosts.
        let bin = house.rig.folder().join("bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let job = house.mpi.alone(&house.spawner).env("PATH", path).limit(60);
        ends_with(house.rig.on(1, job.args(["miss", "/usr", "host2:1,host3:1"])), "they have met and parted")
    });
    let rivals = Mpi::rival(project, "mpich").and_then(|mpich| Ok((mpich, Mpi::rival(project, "openmpi")?)));
    let (mpich, openmpi) = match rivals {
        Ok(rivals) => rivals,
        Err(why) => {
            let why = why.lines().next().unwrap_or_default();
            return tally.not_run(OTHERS, format!("other launchers on several hosts: {why}"));
        }
    };
    let hydra = |host: &str| {
        let job = mpich.plain().env("LD_LIBRARY_PATH", house.mpi.library());
        job.args(["-launcher", "ssh", "-hosts", host, "-n", "2"])
    };
    let prrte = || house.prrte(&openmpi, "host2:1,host3:1", 2);
    for way in WAYS {
        let mut test = |who: &str, jobs: &dyn Fn() -> [Job; 2]| {
            let label = format!("hosts: a job of {who} on another host by {}", by(way));
            tally.test(&label, || house.meet(way, || Ok(jobs())));
        };
        test("mpirun meets one of our mpiexec", &|| [house.ours(&["1"], 2), prrte()]);
        test("mpirun meets one of Hydra", &|| [hydra("host1"), prrte()]);
        test("Hydra meets one of our mpiexec", &|| [house.ours(&["1", "3"], 1), hydra("host2")]);
    }
    tally.test("hosts: Open MPI's mpirun over ssh: what ranks spawn is on the host they name", || {
        // Ranks that sshd has started do not have the PATH of this machine, where the ssh of the hosts is.
        let bin = house.rig.folder().join("bin");
        let path = format!("PATH={}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let job = house.prrte(&openmpi, "host1:1,host2:1", 2).arg(path).arg(&house.spawner);
        ends_with(house.rig.on(1, job.args(["miss", "/usr", "host3"])), "they have met and parted")
    });
}

impl House<'_> {
    /// The folder of names that all hosts have.
    pub(super) fn names(&self) -> PathBuf {
        self.rig.folder().join("names")
    }

    /// Two jobs, started on the first and on the second host, each of them first once.
    fn meet(&self, way: &str, jobs: impl Fn() -> Fallible<[Job; 2]>) -> Fallible {
        self.meet_by(self.names().as_os_str(), way, jobs)
    }

    /// By a name that only a server on the third host has.
    fn meet_by_server(&self) -> Fallible {
        let watch = Watch::begin();
        let program = self.mpi.launcher().with_file_name("posthaste-names");
        let names = |argument: &str| watch.mark(Job::new(&program).arg(argument).limit(60));
        let said = self.rig.on(3, names("--background")).succeed()?.stdout;
        let place = OsStr::new(said.trim());
        let met = self.meet_by(place, "name", || Ok([self.ours(&["1"], 2), self.ours(&["2"], 2)]));
        let ended = self.rig.on(1, names("--end").env("POSTHASTE_NAMES", place)).succeed();
        met.and(ended.map(drop))?;
        watch.nothing_left()
    }

    /// As [`Self::meet`], with names at this place.
    fn meet_by(&self, names: &OsStr, way: &str, jobs: impl Fn() -> Fallible<[Job; 2]>) -> Fallible {
        let file = self.rig.folder().join("port");
        [true, false].iter().try_for_each(|accepts_first| {
            let [one, other] = jobs()?.map(|job| job.env("POSTHASTE_NAMES", names));
            let jobs = [self.rig.on(1, one), self.rig.on(2, other)];
            meet(&self.partner, jobs, way, &file, *accepts_first)
        })
    }
}
