//! Our own mpiexec on several hosts, over real ssh: what works there, and what is said and left when a host, an agent,
//! an mpiexec or the network between them is lost.
//!
//! What must stay true: every loss ends the job on every host within seconds, with one sentence that names the host.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use super::House;
use crate::{
    hangs,
    leftovers::{self, Watch},
    process::{Job, Outcome, Running},
    project::Fallible,
    tally::Tally,
};

/// How many tests there are.
pub(super) const TESTS: usize = 15;

/// Within this everybody is gone after a loss; five seconds are promised, the rest is for a busy machine.
pub(super) const SECONDS: u64 = 8;

/// What an agent is called as.
const AGENT: &str = "--posthaste-agent";

/// What the mpi-operator of Kubernetes says to the launcher in one of its ways: the variable that names its list of hosts, that
/// with arguments for ssh, others, and what stands behind a host in the list.
struct Operator {
    hosts: &'static str,
    ssh: &'static str,
    others: &'static [(&'static str, &'static str)],
    slots: &'static str,
}

const OPERATOR: [Operator; 3] = [
    Operator { hosts: "HYDRA_HOST_FILE", ssh: "HYDRA_LAUNCH_EXTRA_ARGS", others: &[], slots: ":2" },
    Operator {
        hosts: "I_MPI_HYDRA_HOST_FILE",
        ssh: "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
        others: &[("I_MPI_PERHOST", "2")],
        slots: ":2",
    },
    Operator {
        hosts: "OMPI_MCA_orte_default_hostfile",
        ssh: "OMPI_MCA_plm_rsh_args",
        others: &[("OMPI_MCA_orte_keep_fqdn_hostnames", "true"), ("OMPI_MCA_orte_set_default_slots", "2")],
        slots: " slots=2",
    },
];

pub(super) fn run(house: &House<'_>, tally: &mut Tally) {
    tally.test("hosts: our mpiexec: output, input, environment and directory are as on one host", || {
        house.surroundings()
    });
    tally.test("hosts: our mpiexec: hosts and ssh as the mpi-operator sets them, in its three ways", || {
        OPERATOR.iter().try_for_each(|way| house.operated(way))
    });
    tally.test("hosts: our mpiexec: an abort on another host is the exit code", || {
        let job = house.ours(&["1", "2"], 2).arg(&house.faulty).args(["abort", "7"]);
        house.is_reported(job, 7, &["called MPI_Abort with error code 7"])
    });
    tally.test("hosts: our mpiexec: a host that is not there is named", || {
        house.is_reported(
            house.ours(&["1", "9"], 1).arg("true"),
            1,
            &["no agent could be started on host9 (ssh exited with code 255: "],
        )
    });
    tally.test("hosts: our mpiexec: a deadlock across hosts is explained to who asks", || house.explained());
    for (name, signal) in [("killed", "-KILL"), ("stopped", "-STOP")] {
        tally.test(&format!("hosts: our mpiexec: an agent that is {name} ends the job"), || {
            house.loses(|house| house.signal(signal, AGENT), "host")
        });
    }
    tally.test("hosts: our mpiexec: a file that takes no output for six seconds ends nothing", || {
        house.waits_for_file(&[], "write")
    });
    tally.test(
        "hosts: our mpiexec: agents that get into their folder after six seconds are waited for",
        || house.waits_for_file(&["-launcher", "fork"], "chdir"),
    );
    for (is_killed, why) in [(true, "it is killed"), (false, "its time is over")] {
        tally.test(&format!("hosts: our mpiexec: agents that wait for a file end when {why}"), || {
            house.ends_who_waits(is_killed)
        });
    }
    for lost in ["rank", "silent"] {
        tally.test(
            &format!("hosts: our mpiexec: who never talked to one that is lost hears of it ({lost})"),
            || house.unheard(lost),
        );
    }
    tally.test("hosts: our mpiexec: one that is killed leaves nothing on any host", || {
        house.loses(|house| house.signal("-KILL", "-hosts"), "")
    });
    tally.test("hosts: our mpiexec: a host that is cut off ends the job on both sides", || {
        let outcome = house.loses(|house| house.links("down"), "host2 has not answered");
        house.links("up")?;
        outcome
    });
}

/// Whether something is so within so many seconds.
fn comes_true(seconds: u64, is_so: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(seconds) {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

impl House<'_> {
    /// Our mpiexec on the first host, to be completed with a program.
    pub(super) fn ours(&self, hosts: &[&str], each: usize) -> Job {
        let names: Vec<String> = hosts.iter().map(|host| format!("host{host}")).collect();
        self.mpi.plain().args(["-hosts", &names.join(","), "-ppn", &each.to_string()]).limit(60)
    }

    /// Ranks are on the hosts of the list, as many as it says, and ssh gets its arguments.
    fn operated(&self, way: &Operator) -> Fallible {
        let list = self.rig.folder().join(way.hosts);
        fs::write(&list, format!("host1{0}\nhost2{0}\n", way.slots))
            .map_err(|e| format!("{}: {e}", list.display()))?;
        let job = self.mpi.plain().args(["-n", "4", "-print-rank-map"]).arg(&self.places).limit(60);
        let job = job
            .env(way.hosts, &list)
            .env(way.ssh, "-o ConnectionAttempts=10")
            .env("K_MPI_JOB_ROLE", "launcher");
        let job = way.others.iter().fold(job, |job, (name, value)| job.env(name, value));
        let said = self.succeed(job)?.stdout;
        Self::have_places(&said, 4, 2)?;
        if !said.contains("(host1:0,1)\n(host2:2,3)\n") {
            return Err(format!("{}: two ranks on each of two hosts were expected:\n{said}", way.hosts));
        }
        Ok(())
    }

    fn surroundings(&self) -> Fallible {
        let script = "read word; echo $PMI_RANK $word $SHADE; pwd; echo $PMI_RANK >&2";
        let job = self
            .ours(&["1", "2"], 1)
            .args(["-l", "-wdir", "/usr", "-genv", "SHADE", "teal", "sh", "-c", script]);
        let outcome = self.succeed(job.input("hello\n"))?;
        let mut lines: Vec<&str> = outcome.stdout.lines().chain(outcome.stderr.lines()).collect();
        lines.sort_unstable();
        if lines != ["[0] /usr", "[0] 0", "[0] 0 hello teal", "[1] /usr", "[1] 1", "[1] 1 teal"] {
            return Err(outcome.complaint());
        }
        let job = self.ours(&["1", "2"], 1).args(["-print-rank-map", "-s", "all", "-l", "cat"]);
        let outcome = self.succeed(job.input("hello\n"))?;
        let mut lines: Vec<&str> = outcome.stdout.lines().collect();
        lines.sort_unstable();
        if lines != ["(host1:0)", "(host2:1)", "[0] hello", "[1] hello"] {
            return Err(outcome.complaint());
        }
        Ok(())
    }

    /// A job whose output goes into a file; this call of mpiexec, and of agents that have its environment, takes so many seconds.
    fn with_stalls(&self, options: &[&str], call: &str, seconds: &str) -> Job {
        let script = format!(
            "STALL={call} STALL_S={seconds} LD_PRELOAD='{}' exec \"$@\" >'{}'",
            self.stall.display(),
            self.output().display()
        );
        let program = ["sh", "-c", "echo here; sleep 1; echo still here"];
        self.ours(&["1", "2"], 1).args(options).args(program).under(&["sh", "-c", &script, "sh"])
    }

    fn output(&self) -> PathBuf {
        self.rig.folder().join("output")
    }

    /// A job with such a call goes on behind it; its time tells that there was one.
    fn waits_for_file(&self, options: &[&str], call: &str) -> Fallible {
        let outcome = self.succeed(self.with_stalls(options, call, "6"))?;
        let said = fs::read_to_string(self.output()).map_err(|e| e.to_string())?;
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        if lines != ["here", "here", "still here", "still here"] {
            return Err(said);
        }
        if outcome.took < Duration::from_secs(6) { Err("nothing took long".into()) } else { Ok(()) }
    }

    /// Agents wait for a file until long after mpiexec has ended, by a signal or because its time is over: they end, too.
    fn ends_who_waits(&self, is_killed: bool) -> Fallible {
        let options = ["-launcher", "fork", "-timeout", if is_killed { "60" } else { "1" }];
        let watch = Watch::begin();
        let job = self.rig.on(1, watch.mark(self.with_stalls(&options, "chdir", "50"))).start()?;
        let is_begun =
            || watch.processes().iter().filter(|(_, command)| command.contains(AGENT)).count() == 2;
        comes_true(20, is_begun).then_some(()).ok_or("no agents began")?;
        if is_killed {
            self.signal("-KILL", "-hosts")?;
        }
        let outcome = job.wait()?;
        let is_over = || watch.processes().is_empty();
        if !comes_true(SECONDS, is_over) || outcome.took > Duration::from_secs(25) {
            return Err(outcome.complaint());
        }
        watch.nothing_left()
    }

    /// A failure with this code, of which mpiexec says one sentence with these words, and nothing is left.
    fn is_reported(&self, job: Job, code: i32, words: &[&str]) -> Fallible {
        let watch = Watch::begin();
        let outcome = self.rig.on(1, watch.mark(job)).run()?;
        Self::check(&outcome, code, words)?;
        watch.nothing_left()
    }

    pub(super) fn check(outcome: &Outcome, code: i32, words: &[&str]) -> Fallible {
        let sentences: Vec<&str> =
            outcome.stderr.lines().filter(|line| line.starts_with("mpiexec: ")).collect();
        let reported = sentences.len() == 1 && words.iter().all(|word| sentences[0].contains(word));
        if outcome.code() != code || outcome.timed_out || !reported {
            return Err(format!(
                "code {code} and one sentence with {words:?} were expected\n{}",
                outcome.complaint()
            ));
        }
        Ok(())
    }

    /// A job on two hosts, to which `loss` happens: it ends in time, and mpiexec, if it still can, says one sentence with
    /// `words`.
    pub(super) fn loses(&self, loss: impl Fn(&Self) -> Fallible, words: &str) -> Fallible {
        let watch = Watch::begin();
        let job = self.ours(&["1", "2"], 2).arg(&self.steady).arg("40");
        let job: Running = self.rig.on(1, watch.mark(job)).start()?;
        if !job.wait_for_output("begun", 20) {
            return Err(job.wait()?.complaint());
        }
        loss(self)?;
        let began = Instant::now();
        let outcome = job.wait()?;
        if !words.is_empty() {
            Self::check(&outcome, 1, &[words])?;
        }
        let left = || {
            watch.processes().iter().any(|(_, command)| command.starts_with(&*self.steady.to_string_lossy()))
        };
        if !comes_true(SECONDS.saturating_sub(began.elapsed().as_secs()), || !left()) {
            return Err(format!("after {SECONDS} s something is left\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    /// A rank of a job that goes on is killed, or the cables of its host are pulled out: those hear of it who have nothing to do with it.
    fn unheard(&self, lost: &str) -> Fallible {
        let watch = Watch::begin();
        let job =
            self.mpi.plain().args(["-continue-on-loss", "-hosts", "host1:2,host3:1,host2:1", "-n", "4"]);
        let job = self.rig.on(1, watch.mark(job.arg(&self.unheard).arg(lost).limit(60))).start()?;
        if !job.wait_for_output("is to be lost", 20) {
            return Err(job.wait()?.complaint());
        }
        let outcome = if lost == "silent" {
            self.plug("nomaster")?;
            let outcome = job.wait();
            self.plug("master")?;
            outcome?
        } else {
            job.wait()?
        };
        let code = if lost == "rank" { 137 } else { 1 };
        if outcome.code() != code || outcome.stdout.matches("has heard of it").count() != 3 {
            return Err(outcome.complaint());
        }
        let began = Instant::now();
        while watch
            .processes()
            .iter()
            .any(|(_, command)| command.starts_with(&*self.unheard.to_string_lossy()))
        {
            if began.elapsed() > Duration::from_secs(SECONDS) {
                return Err(format!("after {SECONDS} s something is left\n{}", outcome.complaint()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        watch.nothing_left()
    }

    /// What `mpiexec -explain` says of two ranks on two hosts that wait for each other.
    fn explained(&self) -> Fallible {
        let watch = Watch::begin();
        let job = self.ours(&["1", "2"], 1).arg(&self.hang).arg("ssend");
        let running = self.rig.on(1, watch.mark(job)).start()?;
        let began = Instant::now();
        let parts = ["  rank 0 (pid ", "  rank 1 (pid ", hangs::DEADLOCK];
        let mut said = String::new();
        while !parts.iter().all(|part| said.contains(part)) {
            if began.elapsed() > Duration::from_secs(20) {
                return Err(format!("{parts:?} were expected, this was said:\n{said}"));
            }
            std::thread::sleep(Duration::from_millis(200));
            let Ok(pid) = self.process("-hosts") else { continue };
            // The hosts have a namespace of processes of their own.
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let inside =
                status.lines().find_map(|line| line.strip_prefix("NSpid:")?.split_whitespace().last());
            let asking = self.mpi.plain().args(["-explain", inside.unwrap_or_default()]).limit(10);
            said = self.rig.on(1, asking).run()?.all();
        }
        self.signal("-TERM", "-hosts")?;
        let outcome = running.wait()?;
        if outcome.stderr.contains("rank 0 (pid") {
            return Err(format!("it was said by the mpiexec asked, too\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    /// Sends a signal to that process.
    fn signal(&self, signal: &str, word: &str) -> Fallible {
        Job::new("kill").args([signal, &self.process(word)?.to_string()]).succeed().map(drop)
    }

    /// The last process on a host that is our mpiexec, or an agent of it, with this word as its first argument. Agents do not
    /// carry the mark of the job: ssh hands no environment on. Other tests may run the same on this machine itself.
    fn process(&self, word: &str) -> Fallible<u32> {
        let begin = format!("{} {word}", self.mpi.launcher().display());
        // Its guardian has the same command line and a name of its own.
        let is_named =
            |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "mpiexec\n");
        let network = |of: &str| fs::read_link(format!("/proc/{of}/ns/net")).ok();
        let here = network("self");
        let found = leftovers::processes().filter(|pid| leftovers::command_line(*pid).starts_with(&begin));
        let there = found.filter(|pid| network(&pid.to_string()).is_some_and(|there| Some(there) != here));
        there.filter(is_named).max().ok_or_else(|| format!("no process \"{begin}\" was found"))
    }
}
