//! Launchers and environments that are not ours: MPICH's Hydra runs our programs, our mpiexec runs programs with
//! MPICH's library, and a process that belongs to a job which it can't join says so instead of running alone.
//! The part `launchers` of `cargo xtask test`.
//!
//! One binary serves all: it is linked to the standard ABI, and `LD_LIBRARY_PATH` decides whose library it gets.
//! What must stay true: a test looks at rank, number of ranks and name of the library that the program prints.

mod jobs;

pub(crate) use jobs::{WAYS, by, meet};

use std::path::{Path, PathBuf};

use crate::{
    leftovers::Watch,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    shares, slurm,
    tally::Tally,
};

/// All of them; those with other launchers are left out when these can't be installed.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let house = match House::new(project, mpi) {
        Ok(house) => house,
        Err(complaint) => return tally.test("launchers: compile", || Err(complaint)),
    };
    for environment in NOT_ALONE {
        tally.test(&format!("launchers: {} means a job of several", shown(environment)), || {
            house.refuses(environment)
        });
    }
    for environment in ALONE {
        tally.test(&format!("launchers: {} means a job of one", shown(environment)), || {
            house.accepts(environment)
        });
    }
    tally.test("launchers: a program that a rank runs by system() is a job of one", || {
        house.system(mpi.mpiexec(2, false))
    });
    for name in ["mpich", "intel"] {
        match Mpi::rival(project, name) {
            Ok(rival) => {
                house.hydra(&rival, tally);
                house.serves(&rival, tally);
                tally.test(
                    &format!("launchers: under {name}'s Hydra ranks survive the loss of others"),
                    || house.outlives_hydra(&rival),
                );
                tally.test(&format!("launchers: under {name}'s Hydra the engine is opened again"), || {
                    shares::rounds(project, house.ours(&rival, 3), 3)
                });
            }
            Err(why) => tally.not_run(16, format!("launcher and library of {name}: {}", first_line(&why))),
        }
    }
    match Mpi::rival(project, "openmpi") {
        Ok(openmpi) => {
            house.prrte(&openmpi, tally);
            jobs::spawned(&house, &openmpi, tally);
            tally.test("launchers: under Open MPI's mpirun ranks survive the loss of others", || {
                survives(house.ours(&openmpi, 4).arg("--enable-recovery"), &house.stencil)
            });
            tally.test("launchers: under Open MPI's mpirun the engine is opened again", || {
                shares::rounds(project, house.ours(&openmpi, 3), 3)
            });
        }
        Err(why) => tally.not_run(12 + jobs::SPAWNED, format!("Open MPI's launcher: {}", first_line(&why))),
    }
    jobs::run(project, &house, tally);
    tally.test("launchers: nodes are what POSTHASTE_NODE calls so", || house.named(mpi.plain()));
    tally.test("launchers: a name for ranks of several hosts is refused", || house.named_across_hosts());
    tally.test("launchers: ranks know their program and the universe", || {
        house.applications(mpi.plain().args(["-usize", "7"]))
    });
    slurm::run(project, mpi, tally);
}

type Environment = &'static [(&'static str, &'static str)];

/// Environments of processes that are one of several.
const NOT_ALONE: &[Environment] = &[
    &[("OMPI_COMM_WORLD_SIZE", "2")],
    &[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "n")],
    &[("PMI_SIZE", "2"), ("PMI_RANK", "0")],
    &[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4")],
];

/// Environments that look like those but are not: an allocation without a step, a step of one task.
const ALONE: &[Environment] = &[
    &[("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")],
    &[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "4294967290"), ("SLURM_STEP_NUM_TASKS", "1")],
    &[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "n")],
];

struct House<'a> {
    mpi: &'a Mpi,
    whose: PathBuf,
    application: PathBuf,
    faulty: PathBuf,
    places: PathBuf,
    sets: PathBuf,
    /// It starts workers by MPI_Comm_spawn and lets them go.
    pool: PathBuf,
    /// It starts two processes where it is told to.
    spawner: PathBuf,
    /// It is one of two jobs that meet.
    partner: PathBuf,
    /// It goes on without ranks that kill themselves.
    stencil: PathBuf,
}

impl<'a> House<'a> {
    fn new(project: &Project, mpi: &'a Mpi) -> Fallible<Self> {
        Ok(Self {
            mpi,
            whose: crate::ctests::helper(project, mpi, "build", "whose")?,
            application: crate::ctests::helper(project, mpi, "build", "application")?,
            faulty: crate::ctests::helper(project, mpi, "fault", "faulty")?,
            places: crate::ctests::helper(project, mpi, "hosts", "places")?,
            sets: crate::ctests::helper(project, mpi, "build", "sets")?,
            pool: crate::ctests::helper(project, mpi, "", "example_pool")?,
            spawner: crate::ctests::helper(project, mpi, "build", "spawner")?,
            partner: crate::ctests::helper(project, mpi, "build", "partner")?,
            stencil: crate::ctests::helper(project, mpi, "fault", "example_stencil")?,
        })
    }

    fn alone(&self, environment: Environment) -> Job {
        environment.iter().fold(self.mpi.alone(&self.whose), |job, (name, value)| job.env(name, value))
    }

    fn refuses(&self, environment: Environment) -> Fallible {
        let outcome = self.alone(environment).limit(10).run()?;
        let sentences = outcome.stderr.lines().filter(|line| line.contains("can't join it")).count();
        if outcome.code() == 0 || outcome.timed_out || sentences != 1 || !outcome.stdout.is_empty() {
            return Err(format!("one sentence and a failure were expected\n{}", outcome.complaint()));
        }
        Ok(())
    }

    fn accepts(&self, environment: Environment) -> Fallible {
        let outcome = self.alone(environment).limit(10).succeed()?;
        expect(&outcome.stdout, 1, "posthaste")
    }

    /// The ranks are two, the program that rank 0 runs is one of one.
    fn system(&self, launcher: Job) -> Fallible {
        let watch = Watch::begin();
        let job = launcher.arg(&self.whose).arg(&self.whose).limit(20);
        let said = watch.mark(job).succeed()?.stdout;
        expect(&said, 2, "posthaste")?;
        expect(&said, 1, "posthaste")?;
        watch.nothing_left()
    }

    /// A launcher that speaks PMI-1 with our programs, and its library under our mpiexec.
    fn hydra(&self, rival: &Mpi, tally: &mut Tally) {
        let name = rival.name;
        for ranks in [1, 3, 8] {
            tally.test(&format!("launchers: {name}'s Hydra runs our programs with {ranks} ranks"), || {
                self.under_launcher(rival, ranks)
            });
            tally.test(&format!("launchers: our mpiexec runs {name}'s library with {ranks} ranks"), || {
                self.ours_with_theirs(rival, ranks)
            });
        }
        tally
            .test(&format!("launchers: under {name}'s Hydra nodes are what POSTHASTE_NODE calls so"), || {
                self.named(rival.plain())
            });
        tally.test(
            &format!("launchers: under {name}'s Hydra a program that a rank runs is a job of one"),
            || self.system(self.ours(rival, 2)),
        );
        tally.test(
            &format!("launchers: {name}'s Hydra serves a rank's first program only, and we say so"),
            || self.second_program(rival),
        );
        tally.test(&format!("launchers: {name}'s Hydra ends our programs when one aborts"), || {
            self.abort_under_hydra(rival)
        });
        tally.test(&format!("launchers: {name}'s Hydra starts what our programs ask for"), || {
            // With -bind-to it cannot start its proxies for new processes.
            let job = rival.plain().env("LD_LIBRARY_PATH", self.mpi.library()).args(["-n", "1"]);
            spawns(job.arg(&self.pool))
        });
        tally.test(
            &format!("launchers: {name}'s Hydra starts what never comes to MPI_Init, and we say so"),
            || {
                let job =
                    rival.plain().env("LD_LIBRARY_PATH", self.mpi.library()).env("POSTHASTE_CONNECT_S", "2");
                ends_with(job.args(["-n", "2"]).arg(&self.spawner).arg("never"), "they have not come")
            },
        );
    }

    /// Our mpiexec starts what a program with their library asks for, also for one that nobody has started, which finds it in
    /// `PATH`.
    fn serves(&self, rival: &Mpi, tally: &mut Tally) {
        let name = rival.name;
        // Intel's library cannot spawn over shared memory alone, under its own mpiexec either.
        let theirs = |job: Job| job.envs(rival.environment()).env("I_MPI_FABRICS", "shm:ofi");
        tally.test(&format!("launchers: our mpiexec starts what {name}'s library asks for"), || {
            spawns(theirs(self.mpi.mpiexec(1, false)).arg(&self.pool))
        });
        tally.test(
            &format!(
                "launchers: our mpiexec starts it in the folder and on the host that {name}'s library names"
            ),
            || {
                let job = theirs(self.mpi.mpiexec(2, false)).arg(&self.spawner);
                ends_with(job.args(["meet", "/usr", "localhost"]), "they have met and parted")
            },
        );
        tally.test(
            &format!("launchers: our mpiexec serves a program with {name}'s library that nobody has started"),
            || {
                let bin = self.mpi.launcher().parent().ok_or("it is in no folder")?;
                let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
                spawns(theirs(Job::new(&self.pool)).env("PATH", path))
            },
        );
    }

    /// `launcher` with our library.
    fn ours(&self, launcher: &Mpi, ranks: usize) -> Job {
        let library = self.mpi.library().to_owned();
        launcher.mpiexec(ranks, false).env("LD_LIBRARY_PATH", library).limit(60)
    }

    fn under_launcher(&self, mpich: &Mpi, ranks: usize) -> Fallible {
        let watch = Watch::begin();
        let said = watch.mark(self.ours(mpich, ranks)).arg(&self.whose).succeed()?.stdout;
        expect(&said, ranks, "posthaste")?;
        watch.nothing_left()
    }

    fn abort_under_hydra(&self, mpich: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let outcome = watch.mark(self.ours(mpich, 3)).arg(&self.faulty).args(["abort", "7"]).run()?;
        if outcome.code() == 0 || outcome.timed_out {
            return Err(format!("a failure was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    /// Hydra ends all when something is killed that it has started, and sends the others a signal: so that is a shell.
    fn outlives_hydra(&self, hydra: &Mpi) -> Fallible {
        let job = hydra.plain().env("LD_LIBRARY_PATH", self.mpi.library());
        let shell = ["-disable-auto-cleanup", "-n", "4", "sh", "-c", "trap '' USR1; \"$0\" \"$@\"; exit 0"];
        survives(job.args(shell), &self.stencil)
    }

    /// A shell as the rank, with two programs in turn. Our mpiexec takes that, Hydra closes the connection.
    fn second_program(&self, hydra: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let twice = format!("'{0}'; '{0}'", self.whose.display());
        let outcome = watch.mark(self.ours(hydra, 2)).args(["sh", "-c", &twice]).run()?;
        let sentences = outcome.stderr.matches("the connection to the launcher broke").count();
        if outcome.code() == 0 || outcome.timed_out || sentences == 0 {
            return Err(format!("a sentence and a failure were expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()?;
        let said = self.mpi.plain().args(["-n", "2", "sh", "-c", &twice]).succeed()?.stdout;
        expect(&said, 2, "posthaste")
    }

    fn ours_with_theirs(&self, rival: &Mpi, ranks: usize) -> Fallible {
        let watch = Watch::begin();
        let job = self.mpi.mpiexec(ranks, false).envs(rival.environment());
        let said = watch.mark(job).arg(&self.whose).succeed()?.stdout;
        expect(&said, ranks, rival.name.split_whitespace().next().unwrap_or_default())?;
        watch.nothing_left()
    }

    /// Open MPI's mpirun, which speaks PMIx by a library of its own.
    fn prrte(&self, openmpi: &Mpi, tally: &mut Tally) {
        for ranks in [1, 2, 4] {
            tally.test(&format!("launchers: Open MPI's mpirun runs our programs with {ranks} ranks"), || {
                self.under_launcher(openmpi, ranks)
            });
        }
        tally.test("launchers: under Open MPI's mpirun a program that a rank runs is a job of one", || {
            self.system(self.ours(openmpi, 2))
        });
        tally.test("launchers: under Open MPI's mpirun ranks reach each other by TCP as well", || {
            let watch = Watch::begin();
            let job = watch.mark(self.ours(openmpi, 3)).env("POSTHASTE_METHODS", "tcp").arg(&self.places);
            let said = job.succeed()?.stdout;
            if said.lines().filter(|line| line.ends_with(" with 0 1 2")).count() != 3 {
                return Err(format!("three ranks on one node were expected, this was said:\n{said}"));
            }
            watch.nothing_left()
        });
        tally.test("launchers: under Open MPI's mpirun ranks know their program and the universe", || {
            let job = openmpi.plain().args(["--allow-run-as-root", "--bind-to", "none", "-H", "localhost:7"]);
            self.applications(job.env("LD_LIBRARY_PATH", self.mpi.library()))
        });
        tally.test(
            "launchers: under Open MPI's mpirun sessions have a set for each program and those it names",
            || self.sets(openmpi),
        );
        tally.test("launchers: Open MPI's mpirun ends our programs when one aborts", || {
            self.abort_under_hydra(openmpi)
        });
        tally.test("launchers: under Open MPI's mpirun our programs start others by our mpiexec", || {
            spawns(self.ours(openmpi, 2).arg(&self.pool))
        });
        tally.test("launchers: without the library of PMIx our programs say that they can't join", || {
            self.without_library(openmpi)
        });
    }

    /// Three ranks of two programs, where there is room for seven.
    fn applications(&self, launcher: Job) -> Fallible {
        let watch = Watch::begin();
        let job = watch.mark(launcher).args(["-n", "1"]).arg(&self.application);
        let said = job.args([":", "-n", "2"]).arg(&self.application).limit(60).succeed()?.stdout;
        for (rank, program) in [0, 1, 1].iter().enumerate() {
            let wanted = format!("rank {rank} of 3 runs program {program} in a universe of 7");
            if !said.lines().any(|line| line == wanted) {
                return Err(format!("\"{wanted}\" was expected, this was said:\n{said}"));
            }
        }
        watch.nothing_left()
    }

    /// Two programs, of which one has a name; every rank is in the set of its own.
    fn sets(&self, openmpi: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let job = watch.mark(self.ours(openmpi, 2)).args(["--pset", "ocean"]).arg(&self.sets);
        let said = job.args([":", "-n", "1"]).arg(&self.sets).succeed()?.stdout;
        for (rank, named, members) in [(0, true, 2), (1, true, 2), (2, false, 1)] {
            let program = format!("rank {rank} is in mpix://PROGRAM/{} of {members}", usize::from(!named));
            let ocean = format!("rank {rank} is in ocean of 2");
            let has = |wanted: &str| said.lines().any(|line| line == wanted);
            if !has(&program) || has(&ocean) != named {
                return Err(format!("\"{program}\" was expected, and ocean of the first two:\n{said}"));
            }
        }
        watch.nothing_left()
    }

    /// Every rank says it, unless the launcher ends it before because of another that has; and none of them goes on.
    fn without_library(&self, openmpi: &Mpi) -> Fallible {
        let watch = Watch::begin();
        // A file that is no library stands in the way of those that the system may have.
        let folder = self.whose.with_file_name("no-pmix");
        let file = folder.join("libpmix.so.2");
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&file, ""))
            .map_err(|e| format!("{}: {e}", file.display()))?;
        let path = format!("LD_LIBRARY_PATH={}:{}", folder.display(), self.mpi.library().to_string_lossy());
        let job =
            watch.mark(self.ours(openmpi, 4)).args(["env", "-u", "PMIX_PREFIX", "-u", "OPAL_PREFIX", &path]);
        let outcome = job.arg(&self.whose).run()?;
        let sentences = outcome.stderr.matches("can't join it (").count();
        if outcome.code() == 0
            || outcome.timed_out
            || !(1..=4).contains(&sentences)
            || !outcome.stdout.is_empty()
        {
            return Err(format!(
                "one to four sentences and a failure were expected\n{}",
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// Ranks of one host are on different nodes when a setting says so, with all launchers of the family.
    fn named(&self, launcher: Job) -> Fallible {
        let watch = Watch::begin();
        let job = ["here", "there"].iter().fold(watch.mark(launcher), |job, node| {
            let job = if *node == "there" { job.arg(":") } else { job };
            job.args(["-n", "2", "-env", "POSTHASTE_NODE", node]).arg(&self.places)
        });
        let said = job.env("LD_LIBRARY_PATH", self.mpi.library()).succeed()?.stdout;
        for (rank, place) in
            ["here with 0 1", "here with 0 1", "there with 2 3", "there with 2 3"].iter().enumerate()
        {
            let wanted = format!("rank {rank} of 4, sum 6, on {place}");
            if !said.lines().any(|line| line == wanted) {
                return Err(format!("\"{wanted}\" was expected, this was said:\n{said}"));
            }
        }
        watch.nothing_left()
    }
}

impl House<'_> {
    /// Ranks of several hosts are not on one node, whatever a setting says.
    fn named_across_hosts(&self) -> Fallible {
        let watch = Watch::begin();
        let job =
            self.mpi.plain().args(["-launcher", "fork", "-hosts", "a:2,b:2", "-n", "4"]).arg(&self.places);
        let outcome = watch.mark(job).env("POSTHASTE_NODE", "x").limit(30).run()?;
        let said = "ranks 0 and 2 are on different hosts, and POSTHASTE_NODE gives both the same name";
        if outcome.code() == 0 || !outcome.stderr.contains(said) {
            return Err(format!("\"{said}\" was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }
}

/// Each of `ranks` ranks has written its line, with a library of this name.
pub(crate) fn expect(said: &str, ranks: usize, library: &str) -> Fallible {
    let sum = ranks * (ranks - 1) / 2;
    for rank in 0..ranks {
        let wanted = format!("rank {rank} of {ranks}, sum {sum}, ");
        if !said.lines().any(|line| line.strip_prefix(&wanted).is_some_and(|rest| rest.contains(library))) {
            return Err(format!("\"{wanted}{library}...\" was expected, this was said:\n{said}"));
        }
    }
    Ok(())
}

/// The pool of workers does its work, and nothing is left.
pub(crate) fn spawns(job: Job) -> Fallible {
    let watch = Watch::begin();
    let said = watch.mark(job).succeed()?.stdout;
    if !said.contains("pool: pi is 3.141593") {
        return Err(format!("pi was expected, this was said:\n{said}"));
    }
    watch.nothing_left()
}

/// The job says this, ends well, and nothing is left.
pub(crate) fn ends_with(job: Job, says: &str) -> Fallible {
    let watch = Watch::begin();
    let said = watch.mark(job).succeed()?.stdout;
    if !said.lines().any(|line| line == says) {
        return Err(format!("\"{says}\" was expected, this was said:\n{said}"));
    }
    watch.nothing_left()
}

/// Two of four ranks are killed, and those that are left get the same result.
pub(crate) fn survives(job: Job, stencil: &Path) -> Fallible {
    let watch = Watch::begin();
    let outcome = watch.mark(job).arg(stencil).args(["1", "37", "3", "95"]).limit(60).run()?;
    let says = "the same bit for bit after 200 steps, on 2 of 4 ranks";
    if !outcome.stdout.contains(says) {
        return Err(format!("\"{says}\" was expected\n{}{}", outcome.stdout, outcome.complaint()));
    }
    watch.nothing_left()
}

fn shown(environment: Environment) -> String {
    environment.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
