//! A private Slurm of two nodes on this machine, and our programs under it: in a step that they can join, in one
//! that they can't, in the shell of `salloc` and in the script of `sbatch`.
//!
//! munged, slurmctld and two slurmd run on free ports, with keys, sockets and state under the target folder; a Slurm
//! that the machine itself may have is neither used nor disturbed. What must stay true: the daemons and all that they
//! start live in a process namespace of their own, which ends with xtask, whatever way xtask ends.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    thread,
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    ctests,
    launchers::{WAYS, by, expect, meet, spawns, survives},
    leftovers::Watch,
    mpi::Mpi,
    packages::present,
    process::{Job, Running, wait_until},
    project::{Fallible, Project},
    shares,
    tally::Tally,
};

/// How many tests there are, for when none of them can be run.
const TESTS: usize = 21 + WAYS.len();

/// Every program that is needed; all are of the Debian packages slurm-wlm and munge.
const PROGRAMS: [&str; 6] = ["munged", "slurmctld", "slurmd", "srun", "salloc", "sbatch"];

/// How long the daemons may take to come up, and a batch script to end.
const PATIENCE: Duration = Duration::from_secs(15);

/// A world of processes of its own, all of which the kernel ends with its first one, and that one with xtask.
const NAMESPACE: [&str; 7] =
    ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--mount-proc", "--kill-child"];

/// The daemons, in the folder where their files are.
const DAEMONS: &str = "
    munged --foreground --force --socket=$PWD/socket --key-file=$PWD/key \\
        --pid-file=$PWD/munged.pid --seed-file=$PWD/seed &
    until [ -S socket ]; do sleep 0.02; done
    slurmctld -D &
    slurmd -D -N gate1 &
    slurmd -D -N gate2 &
    wait";

/// All of them, when this machine has what is needed.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    if !Job::new("true").under(&NAMESPACE).run().is_ok_and(|o| o.ok()) {
        return tally.not_run(TESTS, "Slurm: needs root and process namespaces (unshare)");
    }
    if let Some(missing) = PROGRAMS.iter().find(|name| !present(name)) {
        return tally.not_run(TESTS, format!("Slurm: no {missing} here (apt install slurm-wlm munge)"));
    }
    let watch = Watch::begin();
    let mut cluster = None;
    tally.test("slurm: two nodes come up", || {
        cluster = Some(Cluster::start(project, mpi, &watch)?);
        Ok(())
    });
    let Some(mut cluster) = cluster else {
        return tally.not_run(TESTS - 1, "Slurm: it did not come up");
    };
    let pmi = ["--mpi=pmi2", "-N2"];
    tally.test("slurm: srun runs our programs on two nodes", || cluster.joins(&pmi, 4));
    tally.test("slurm: ranks of one node share memory, those of two do not", || {
        cluster.places(cluster.srun(&pmi, 4).arg("--ntasks-per-node=2"))
    });
    tally.test("slurm: on two nodes the engine is opened again", || {
        shares::rounds(project, cluster.srun(&pmi, 4), 4)
    });
    if cluster.has_pmix() {
        // Two servers of PMIx on one machine take each other's clients, so this is one node.
        let pmix = ["--mpi=pmix", "-N1"];
        tally.test("slurm: srun --mpi=pmix runs our programs", || started(|| cluster.joins(&pmix, 4)));
        tally.test("slurm: in a step with PMIx the engine is opened again", || {
            started(|| shares::rounds(project, cluster.srun(&pmix, 4), 4))
        });
        tally.test("slurm: in a step with PMIx, too, MPI_Abort ends it", || {
            started(|| cluster.ends(&pmix, &["abort", "7"], "MPI_Abort(7)"))
        });
    } else {
        tally.not_run(3, "Slurm with PMIx: its plug-in finds no libpmix.so (apt install libpmix-dev)");
    }
    tally.test("slurm: a step of one task is a job of one", || cluster.joins(&["--mpi=none"], 1));
    tally.test("slurm: in a step without PMI every rank says that it can't join", || cluster.refuses());
    tally.test("slurm: a program that a rank runs is a job of one", || cluster.system());
    tally.test("slurm: in a step our programs start others by our mpiexec", || {
        spawns(cluster.srun(&["--mpi=pmi2"], 2).arg(&cluster.pool))
    });
    tally.test("slurm: our mpiexec in an allocation starts what our programs ask for", || {
        spawns(cluster.allocated_to("2").args(["-n", "1"]).arg(&cluster.pool))
    });
    for way in WAYS {
        tally.test(&format!("slurm: a step meets a job of our mpiexec by {}", by(way)), || {
            [true, false].iter().try_for_each(|accepts_first| {
                let jobs = [cluster.srun(&pmi, 4), mpi.mpiexec(2, false)];
                meet(&cluster.partner, jobs, way, &cluster.folder.join("port"), *accepts_first)
            })
        });
    }
    tally.test("slurm: MPI_Abort ends the step", || cluster.ends(&pmi, &["abort", "7"], "MPI_Abort(7)"));
    tally.test("slurm: srun -K ends the step when a rank is killed", || {
        cluster.ends(&["--mpi=pmi2", "-N2", "-K"], &["die", "9"], "Killed")
    });
    tally.test("slurm: ranks survive the loss of others in a step that is not ended", || {
        survives(cluster.srun(&["--mpi=pmi2", "-N2", "--kill-on-bad-exit=0"], 4), &cluster.stencil)
    });
    tally.test("slurm: a command of salloc, alone and with mpiexec", || cluster.allocated());
    tally.test("slurm: mpiexec runs on all nodes of its allocation, by srun", || {
        cluster.places(cluster.allocated_to("2").args(["-n", "4"]))
    });
    tally.test("slurm: a rank that dies ends the mpiexec of an allocation, and its agents", || {
        let watch = Watch::begin();
        let job = cluster.allocated_to("2").args(["-n", "4"]).arg(&cluster.faulty).args(["die", "9"]);
        let outcome = watch.mark(job).limit(15).run()?;
        if outcome.code() != 137 || outcome.timed_out || !outcome.stderr.contains(" was killed by signal 9") {
            return Err(format!("exit code 137 and its cause were expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    });
    tally.test("slurm: the interactive shell of salloc, alone and with mpiexec", || cluster.interactive());
    tally.test("slurm: the script of sbatch, alone and with mpiexec", || cluster.batch());
    tally.test("slurm: it ends, and nothing is left", || {
        cluster.stop()?;
        watch.nothing_left()
    });
}

/// The daemons and what the tests run under them.
struct Cluster<'a> {
    mpi: &'a Mpi,
    folder: PathBuf,
    daemons: Option<Running>,
    whose: PathBuf,
    faulty: PathBuf,
    places: PathBuf,
    pool: PathBuf,
    stencil: PathBuf,
    partner: PathBuf,
}

impl<'a> Cluster<'a> {
    fn start(project: &Project, mpi: &'a Mpi, watch: &Watch) -> Fallible<Self> {
        let folder = project.target.join("slurm");
        // Jobs and nodes of an earlier run are of no use to this one.
        let _ = fs::remove_dir_all(&folder);
        let whose = ctests::helper(project, mpi, "build", "whose")?;
        let faulty = ctests::helper(project, mpi, "fault", "faulty")?;
        let places = ctests::helper(project, mpi, "hosts", "places")?;
        let pool = ctests::helper(project, mpi, "", "example_pool")?;
        let stencil = ctests::helper(project, mpi, "fault", "example_stencil")?;
        let partner = ctests::helper(project, mpi, "build", "partner")?;
        let folder = project.folder("slurm")?;
        let mut cluster = Self { mpi, folder, daemons: None, whose, faulty, places, pool, stencil, partner };
        cluster.configure()?;
        let daemons = cluster.tool("sh").args(["-c", DAEMONS]).under(&NAMESPACE);
        cluster.daemons = Some(watch.mark(daemons).start()?);
        cluster.until("both nodes are idle", || {
            let idle = cluster.tool("sinfo").args(["-h", "-t", "idle", "-o", "%D"]).limit(5).run();
            idle.is_ok_and(|outcome| outcome.stdout.trim() == "2")
        })?;
        Ok(cluster)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Writes munge's key and Slurm's configuration: no control groups, no binding, and nodes with room for several
    /// jobs, so that no test waits for the end of another.
    fn configure(&self) -> Fallible {
        let key = self.path("key");
        write_key(&key).map_err(|e| format!("{key}: {e}"))?;
        let [controller, first, second] = free_ports()?;
        let here = self.folder.display();
        let text = format!(
            "ClusterName=gate\n\
             SlurmctldHost=localhost\n\
             SlurmctldPort={controller}\n\
             SlurmUser=root\n\
             AuthType=auth/munge\n\
             CredType=cred/munge\n\
             AuthInfo=socket={here}/socket\n\
             StateSaveLocation={here}/state\n\
             SlurmdSpoolDir={here}/spool-%n\n\
             SlurmctldPidFile={here}/slurmctld.pid\n\
             SlurmdPidFile={here}/slurmd-%n.pid\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             SchedulerParameters=batch_sched_delay=0\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             SlurmdParameters=config_overrides\n\
             LaunchParameters=use_interactive_step\n\
             MpiDefault=none\n\
             NodeName=gate1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={first} CPUs=64\n\
             NodeName=gate2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={second} CPUs=64\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=5\n"
        );
        let configuration = self.path("slurm.conf");
        fs::write(&configuration, text).map_err(|e| format!("{configuration}: {e}"))?;
        let state = self.path("state");
        fs::create_dir(&state).map_err(|e| format!("{state}: {e}"))
    }

    /// One of Slurm's programs, for this Slurm and no other, with our library for what it runs.
    fn tool(&self, name: &str) -> Job {
        let path = std::env::var("PATH").unwrap_or_default();
        Job::new(name)
            .env("PATH", format!("{path}:/usr/sbin:/sbin"))
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("LD_LIBRARY_PATH", self.mpi.library())
            .dir(&self.folder)
            .limit(20)
    }

    /// Waits for it, at most as long as our patience lasts.
    fn until(&self, what: &str, done: impl Fn() -> bool) -> Fallible {
        if wait_until(PATIENCE, done) {
            return Ok(());
        }
        let said = self.daemons.as_ref().map(Running::said).unwrap_or_default();
        Err(format!("waited in vain until {what}\n{said}"))
    }

    /// `srun` of so many tasks, to be completed with a program.
    fn srun(&self, options: &[&str], ranks: usize) -> Job {
        self.tool("srun").args(options).arg("-n").arg(ranks.to_string())
    }

    fn joins(&self, options: &[&str], ranks: usize) -> Fallible {
        let watch = Watch::begin();
        let said = watch.mark(self.srun(options, ranks)).arg(&self.whose).succeed()?.stdout;
        expect(&said, ranks, "posthaste")?;
        watch.nothing_left()
    }

    /// Two tasks on each of two nodes, which are one machine: Slurm says which is where.
    fn places(&self, job: Job) -> Fallible {
        let watch = Watch::begin();
        let said = watch.mark(job).arg(&self.places).succeed()?.stdout;
        for (rank, with) in ["0 1", "0 1", "2 3", "2 3"].iter().enumerate() {
            let begin = format!("rank {rank} of 4, sum 6, on ");
            let end = format!(" with {with}");
            if !said.lines().any(|line| line.starts_with(&begin) && line.ends_with(&end)) {
                return Err(format!("\"{begin}...{end}\" was expected, this was said:\n{said}"));
            }
        }
        watch.nothing_left()
    }

    /// Whether this Slurm can start a step with PMIx: its plug-in loads a library that may be missing.
    fn has_pmix(&self) -> bool {
        started(|| self.srun(&["--mpi=pmix"], 1).arg("true").limit(10).succeed().map(drop)).is_ok()
    }

    fn refuses(&self) -> Fallible {
        let watch = Watch::begin();
        let outcome = watch.mark(self.srun(&["--mpi=none", "-N2"], 4)).arg(&self.whose).run()?;
        let sentences: Vec<&str> =
            outcome.stderr.lines().filter(|line| line.contains("can't join it")).collect();
        let helpful = sentences.iter().all(|line| line.contains("--mpi=pmi2") && line.contains("mpiexec"));
        if outcome.code() == 0 || outcome.timed_out || sentences.len() != 4 || !helpful {
            return Err(format!("one helpful sentence of each rank was expected\n{}", outcome.complaint()));
        }
        if !outcome.stdout.is_empty() {
            return Err(format!("a rank went on\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    /// The ranks are two, the program that rank 0 runs is one of one.
    fn system(&self) -> Fallible {
        let watch = Watch::begin();
        let job = self.srun(&["--mpi=pmi2"], 2).arg(&self.whose).arg(&self.whose);
        let said = watch.mark(job).succeed()?.stdout;
        expect(&said, 2, "posthaste")?;
        expect(&said, 1, "posthaste")?;
        watch.nothing_left()
    }

    /// Whether all ends at once when one rank does `what`, and `sentence` is said.
    fn ends(&self, options: &[&str], what: &[&str], sentence: &str) -> Fallible {
        let watch = Watch::begin();
        let job = self.srun(options, 4).arg(&self.faulty).args(what);
        let outcome = watch.mark(job).limit(10).run()?;
        if outcome.code() == 0 || outcome.timed_out || !outcome.stderr.contains(sentence) {
            return Err(format!("a failure that says {sentence} was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    /// The program by itself, then under our mpiexec, as lines of a shell.
    fn script(&self) -> String {
        let (program, mpiexec) = (self.whose.display(), self.mpi.launcher().display());
        format!("'{program}'\n'{mpiexec}' -n 4 '{program}'\n")
    }

    fn both(said: &str) -> Fallible {
        expect(said, 1, "posthaste")?;
        expect(said, 4, "posthaste")
    }

    /// `salloc` of two ranks on each of so many nodes with our mpiexec, to be completed.
    fn allocated_to(&self, nodes: &str) -> Job {
        let options = ["-N", nodes, "--ntasks-per-node=2"];
        self.tool("salloc").args(options).arg(self.mpi.launcher())
    }

    fn allocated(&self) -> Fallible {
        let watch = Watch::begin();
        let salloc = self.tool("salloc").args(["-n", "4", "sh", "-e", "-c", &self.script()]);
        Self::both(&watch.mark(salloc).succeed()?.stdout)?;
        watch.nothing_left()
    }

    /// Without a command, the shell that salloc gives runs in a step of its own on the first node.
    fn interactive(&self) -> Fallible {
        let watch = Watch::begin();
        let lines = format!("echo step $SLURM_STEP_ID\n{}exit\n", self.script());
        let salloc = self.tool("salloc").args(["-n", "4"]).env("SHELL", "/bin/sh").input(lines);
        let said = watch.mark(salloc).succeed()?.stdout;
        if !said.lines().any(|line| line == "step 4294967290") {
            return Err(format!("that was no interactive step:\n{said}"));
        }
        Self::both(&said)?;
        watch.nothing_left()
    }

    /// The script sees the variables of a task, of which there are to be several.
    fn batch(&self) -> Fallible {
        let watch = Watch::begin();
        let (script, output) = (self.path("batch.sh"), self.folder.join("batch.out"));
        let text = format!("#!/bin/sh\necho $SLURM_PROCID of $SLURM_NTASKS\n{}echo end\n", self.script());
        fs::write(&script, text).map_err(|e| format!("{script}: {e}"))?;
        let sbatch = self.tool("sbatch").args(["-n", "4", "-N", "2", "-o"]).arg(&output).arg(&script);
        watch.mark(sbatch).succeed()?;
        let said = || fs::read_to_string(&output).unwrap_or_default();
        self.until("the batch script has ended", || said().ends_with("end\n"))?;
        let said = said();
        if !said.starts_with("0 of 4\n") {
            return Err(format!("these are not the variables of a batch script:\n{said}"));
        }
        Self::both(&said)?;
        watch.nothing_left()
    }

    fn stop(&mut self) -> Fallible {
        if let Some(daemons) = self.daemons.take() {
            daemons.signal(Signal::KILL);
            daemons.wait()?;
        }
        fs::remove_dir_all(&self.folder).map_err(|e| format!("{}: {e}", self.folder.display()))
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        // After a start that failed half-way; the failure is reported already.
        let _ = self.stop();
    }
}

/// A test once more while Slurm itself cannot start its step: its plug-in for PMIx fails now and then when it still takes
/// an earlier step away.
fn started(test: impl Fn() -> Fallible) -> Fallible {
    for _ in 0..9 {
        match test() {
            Err(complaint) if complaint.contains("task 0 launch failed") => {
                thread::sleep(Duration::from_millis(300))
            }
            other => return other,
        }
    }
    test()
}

/// A secret for munge, which nobody else may read.
fn write_key(path: &str) -> std::io::Result<()> {
    let mut secret = [0; 128];
    fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(&secret)
}

/// Ports that nobody listens on: taken all at once, so that they differ, and given back.
fn free_ports() -> Fallible<[u16; 3]> {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(listeners) {
        let address = listener.and_then(|listener| listener.local_addr());
        *port = address.map_err(|e| format!("no free port: {e}"))?.port();
    }
    Ok(ports)
}
