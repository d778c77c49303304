//! Jobs on several hosts: network namespaces with real sshd (`rig`), over which MPICH's Hydra and our own mpiexec start
//! our programs; and what users see when the network fails. The part `hosts` of `cargo xtask test`.
//!
//! What must stay true: ranks of one host share memory and those of different hosts do not, although all hosts have one
//! name, one kernel and one /dev/shm; every failure is one sentence that names what failed, in bounded time.

mod links;
mod meetings;
mod network;
mod ours;
mod programs;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    ctests,
    leftovers::Watch,
    mpi::Mpi,
    process::{Job, Outcome, Running},
    project::{Fallible, Project},
    rig::{self, Rig},
    tally::Tally,
};

/// How many tests there are, for when none of them can be run: with both launchers, and for all.
const EACH: usize = 9;
const OTHERS: usize = 3 + ours::TESTS + links::TESTS + meetings::TESTS + network::TESTS + programs::TESTS;
/// Hosts that are made.
const HOSTS: usize = 3;

/// All of them, when this machine has what is needed.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    if let Some(why) = rig::impossible() {
        return tally.not_run(2 * EACH + OTHERS, format!("several hosts: {why}"));
    }
    let watch = Watch::begin();
    let mut house = None;
    tally.test("hosts: three hosts with sshd come up", || {
        house = Some(House::start(project, mpi, &watch)?);
        Ok(())
    });
    let Some(mut house) = house else {
        return tally.not_run(2 * EACH + OTHERS - 1, "several hosts: they did not come up");
    };
    house.under("mpiexec", mpi, tally);
    ours::run(&house, tally);
    links::run(&house, tally);
    meetings::run(project, &house, tally);
    network::run(project, &house, tally);
    programs::run(project, &house, tally);
    tally.test("hosts: a rank with another secret reaches nobody", || house.wrong_secret());
    match Mpi::rival(project, "mpich") {
        Ok(mpich) => house.under("Hydra", &mpich, tally),
        Err(why) => tally.not_run(EACH, format!("Hydra: {}", why.lines().next().unwrap_or_default())),
    }
    tally.test("hosts: they end, and nothing is left", || {
        house.rig.stop()?;
        watch.nothing_left()
    });
}

/// Compiles what is loaded before mpiexec.
fn stall(project: &Project) -> Fallible<PathBuf> {
    let library = project.folder("c-tests/hosts")?.join("stall.so");
    let source = project.root.join("tests/c/fault/stall.c");
    let compiler =
        Job::new("cc").args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&library).arg(source);
    compiler.succeed().map(|_| library)
}

struct House<'a> {
    mpi: &'a Mpi,
    rig: Rig,
    places: PathBuf,
    steady: PathBuf,
    links: PathBuf,
    faulty: PathBuf,
    hang: PathBuf,
    unheard: PathBuf,
    stall: PathBuf,
    partner: PathBuf,
    spawner: PathBuf,
    tests: Vec<PathBuf>,
}

impl<'a> House<'a> {
    fn start(project: &Project, mpi: &'a Mpi, watch: &Watch) -> Fallible<Self> {
        let tests =
            ["stress", "coll_data", "pt2pt_order", "probe", "intercomm", "cancel_send", "pt2pt_sizes"];
        Ok(Self {
            mpi,
            places: ctests::helper(project, mpi, "hosts", "places")?,
            steady: ctests::helper(project, mpi, "hosts", "steady")?,
            links: ctests::helper(project, mpi, "hosts", "links")?,
            faulty: ctests::helper(project, mpi, "fault", "faulty")?,
            hang: ctests::helper(project, mpi, "fault", "hang")?,
            unheard: ctests::helper(project, mpi, "fault", "unheard")?,
            stall: stall(project)?,
            partner: ctests::helper(project, mpi, "build", "partner")?,
            spawner: ctests::helper(project, mpi, "build", "spawner")?,
            tests: tests
                .iter()
                .map(|name| ctests::helper(project, mpi, "", name))
                .collect::<Fallible<_>>()?,
            rig: Rig::start(project, HOSTS, watch)?,
        })
    }

    /// What has to hold with any launcher.
    fn under(&self, name: &str, launcher: &Mpi, tally: &mut Tally) {
        let mut test = |what: &str, body: &dyn Fn() -> Fallible| {
            tally.test(&format!("hosts: {name} over ssh: {what}"), body);
        };
        test("one rank on each of two hosts", &|| self.places(launcher, 2, 1));
        test("two ranks on each of three hosts", &|| self.places(launcher, 3, 2));
        test("C tests on two hosts", &|| self.c_tests(launcher));
        test("an abort ends the ranks of all hosts", &|| self.abort(launcher));
        test("a rank that is killed ends the job", &|| self.killed(launcher));
        test("a host whose links are cut is named", &|| self.cut(launcher));
        test("a host that vanishes without a word is named", &|| self.vanished(launcher));
        test("an address that swallows everything is passed by for another", &|| self.swallowed(launcher));
        test("a port that is taken is named", &|| self.port_taken(launcher));
    }

    /// The launcher on the first host, for so many hosts and ranks on each, with our library; to be completed with a
    /// program.
    fn launch(&self, launcher: &Mpi, hosts: usize, each: usize) -> Job {
        let names: Vec<String> = (1..=hosts).map(|host| format!("host{host}")).collect();
        launcher
            .plain()
            .env("LD_LIBRARY_PATH", self.mpi.library())
            .args(["-launcher", "ssh", "-hosts", &names.join(","), "-ppn", &each.to_string(), "-n"])
            .arg((hosts * each).to_string())
            .limit(60)
    }

    /// `program` with its arguments, as ranks whose standard error is kept: Hydra ends the ranks of a job that fails
    /// before it has passed on what they said.
    fn keeping(&self, job: Job, program: &Path, arguments: &[&str]) -> Job {
        let _ = fs::remove_file(self.said());
        let script = format!("exec \"$@\" 2>>'{}'", self.said().display());
        job.args(["sh", "-c", &script, "sh"]).arg(program).args(arguments)
    }

    /// Where that is.
    fn said(&self) -> PathBuf {
        self.rig.folder().join("said")
    }

    fn succeed(&self, job: Job) -> Fallible<Outcome> {
        let watch = Watch::begin();
        let outcome = self.rig.on(1, watch.mark(job)).succeed()?;
        watch.nothing_left()?;
        Ok(outcome)
    }

    /// A failure within so many seconds of which somebody said `sentence`, and nothing is left on any host.
    fn fails(&self, watch: &Watch, outcome: &Outcome, sentence: &str, seconds: u64) -> Fallible {
        let said = fs::read_to_string(self.said()).unwrap_or_default() + &outcome.stderr;
        let in_time = outcome.took < Duration::from_secs(seconds);
        if outcome.code() == 0 || outcome.timed_out || !in_time || !said.contains(sentence) {
            return Err(format!(
                "a failure that says \"{sentence}\" was expected within {seconds} s, this was said:\n{said}{}",
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// Neighbours share memory, and everybody reaches everybody.
    fn places(&self, launcher: &Mpi, hosts: usize, each: usize) -> Fallible {
        let said = self.succeed(self.launch(launcher, hosts, each).arg(&self.places))?.stdout;
        Self::have_places(&said, hosts * each, each)
    }

    /// So many ranks have said where they are, with so many neighbours each.
    fn have_places(said: &str, size: usize, each: usize) -> Fallible {
        for rank in 0..size {
            let first = rank / each * each;
            let with: String = (first..first + each).map(|near| format!(" {near}")).collect();
            let begin = format!("rank {rank} of {size}, sum {}, on ", size * (size - 1) / 2);
            let end = format!(" with{with}");
            if !said.lines().any(|line| line.starts_with(&begin) && line.ends_with(&end)) {
                return Err(format!("\"{begin}...{end}\" was expected, this was said:\n{said}"));
            }
        }
        Ok(())
    }

    fn c_tests(&self, launcher: &Mpi) -> Fallible {
        self.tests.iter().try_for_each(|test| self.succeed(self.launch(launcher, 2, 2).arg(test)).map(drop))
    }

    fn abort(&self, launcher: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let job = self.keeping(self.launch(launcher, 2, 2), &self.faulty, &["abort", "7"]);
        let outcome = self.rig.on(1, watch.mark(job)).run()?;
        self.fails(&watch, &outcome, "MPI_Abort(7)", 10)
    }

    /// Two ranks on two hosts that send each other messages, begun.
    fn talk(&self, launcher: &Mpi, watch: &Watch) -> Fallible<Running> {
        let job = self.launch(launcher, 2, 1).env("POSTHASTE_TCP_DEAD_S", "3");
        let job = self.rig.on(1, watch.mark(self.keeping(job, &self.steady, &["40"]))).start()?;
        if job.wait_for_output("begun", 20) { Ok(job) } else { Err(job.wait()?.complaint()) }
    }

    /// Its launcher may end the other one before that can say anything.
    fn killed(&self, launcher: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let job = self.talk(launcher, &watch)?;
        let ours = |(_, command): &(u32, String)| command.starts_with(&*self.steady.to_string_lossy());
        let Some((pid, _)) = watch.processes().into_iter().rfind(ours) else {
            return Err("no rank was found".into());
        };
        Job::new("kill").args(["-KILL", &pid.to_string()]).succeed()?;
        self.fails(&watch, &job.wait()?, "", 10)
    }

    /// Both links of a host go down while messages are on their way.
    fn cut(&self, launcher: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let job = self.talk(launcher, &watch)?;
        self.links("down")?;
        let outcome = job.wait();
        self.links("up")?;
        // The launcher names the host, or a rank names the other one.
        let outcome = outcome?;
        self.fails(&watch, &outcome, "host2", 20).or_else(|_| self.fails(&watch, &outcome, "rank 1", 20))
    }

    /// The cables of a host are pulled out at the other end: its links are up, and nothing comes back.
    fn vanished(&self, launcher: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let job = self.talk(launcher, &watch)?;
        self.plug("nomaster")?;
        let outcome = job.wait();
        self.plug("master")?;
        let outcome = outcome?;
        self.fails(&watch, &outcome, "host2", 20).or_else(|_| self.fails(&watch, &outcome, "rank 1", 20))
    }

    fn links(&self, state: &str) -> Fallible {
        ["eth0", "eth1"].iter().try_for_each(|link| self.rig.ip(2, &["link", "set", link, state]))
    }

    /// Host 2 does not answer at its first address, as behind a firewall: another one serves.
    fn swallowed(&self, launcher: &Mpi) -> Fallible {
        self.rig.ip(2, &["route", "add", "blackhole", "10.77.0.1/32"])?;
        let outcome = self.places(launcher, 2, 1);
        self.rig.ip(2, &["route", "del", "blackhole", "10.77.0.1/32"])?;
        outcome
    }

    fn port_taken(&self, launcher: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let job = self.launch(launcher, 2, 2).env("POSTHASTE_TCP_PORTS", "7070");
        let outcome = self.rig.on(1, watch.mark(self.keeping(job, &self.places, &[]))).run()?;
        self.fails(&watch, &outcome, "POSTHASTE_TCP_PORTS is 7070", 15)
    }

    /// As if it belonged to another job: it gets an error, and those that it has called say that they refused it.
    fn wrong_secret(&self) -> Fallible {
        let watch = Watch::begin();
        let job = self.launch(self.mpi, 2, 1).env("POSTHASTE_TCP_CONNECT_S", "5");
        let other = "[ $PMI_RANK = 0 ] || export POSTHASTE_SECRET=$(printf %064d 7); exec \"$@\"";
        let job = job.args(["sh", "-c", other, "sh"]).arg(&self.places);
        let outcome = self.rig.on(1, watch.mark(job)).run()?;
        self.fails(&watch, &outcome, "secret", 15)
    }
}
