//! The real `mpiexec` on several hosts, which are this one with an agent each: what works there as on one host, and what
//! happens when an agent, an mpiexec or the way between them is lost.

mod common;

use common::{
    Said, finish, is_alive, marked, mpiexec, put_script, read_lines, run, run_with_input, said, send, unique,
    wait_for,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use posthaste_pmi::spawn::Part;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// Whatever is lost, everybody is gone within this, with something for a busy machine.
const LOST: Duration = Duration::from_millis(6500);
/// Everybody is ended within this after a failure.
const ENDED: Duration = Duration::from_millis(3500);

/// Two hosts that are this one.
const TWO: &[&str] = &["-launcher", "fork", "-hosts", "a,b"];

fn on(hosts: &[&str], rest: &[&str]) -> Said {
    run(&[hosts, rest].concat())
}

/// A program that is called as ssh is: `PROGRAM HOST COMMAND`.
struct FakeSsh(PathBuf);

impl FakeSsh {
    /// The shell lines have the host in `$host` and the command in `$line`.
    fn new(lines: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mpiexec-ssh-{}", unique()));
        put_script(&path, format!("#!/bin/sh\nhost=$1; line=$2\n{lines}\nexec sh -c \"$line\"\n"));
        Self(path)
    }

    fn run(&self, arguments: &[&str]) -> Said {
        let path = self.0.to_str().unwrap();
        run(&[&["-launcher-exec", path], arguments].concat())
    }
}

impl Drop for FakeSsh {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The children of a process.
fn children(pid: i32) -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid_of| {
            let stat = std::fs::read_to_string(format!("/proc/{pid_of}/stat")).unwrap_or_default();
            let parent = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(1);
            parent.and_then(|parent| parent.parse().ok()) == Some(pid)
        })
        .collect()
}

/// A job of two ranks on each of two hosts that ignore every polite signal, with a child in the background each.
struct Stubborn {
    child: Child,
    marker: String,
    began: Instant,
}

impl Stubborn {
    fn start() -> Self {
        let marker = unique();
        let script = format!("trap '' TERM INT HUP; sleep {marker} & echo ready; sleep {marker}; true");
        let mut child = mpiexec(&[TWO, &["-n", "4", "sh", "-c", &script]].concat()).spawn().unwrap();
        read_lines(child.stdout.as_mut().unwrap(), 4);
        Self { child, marker, began: Instant::now() }
    }

    /// The agents, of which the first is that of host `a`.
    fn agents(&self) -> Vec<i32> {
        let mut agents = children(self.child.id() as i32);
        agents.sort_unstable();
        assert_eq!(agents.len(), 2);
        agents
    }

    /// Waits for the end of mpiexec and of everything else.
    fn end(self) -> Said {
        let Self { child, marker, began } = self;
        let said = said(child, began);
        assert!(said.took < LOST, "{:?}", said.took);
        let left = LOST.saturating_sub(began.elapsed());
        assert!(wait_for(left, || marked(&marker).is_empty()), "{:?}", marked(&marker));
        said
    }
}

/// mpiexec said one sentence, with all of these words.
fn one_sentence(said: &Said, words: &[&str]) {
    let [sentence] = said.sentences()[..] else { panic!("{}", said.err) };
    assert!(words.iter().all(|word| sentence.contains(word)), "{sentence}");
}

#[test]
fn ranks_know_who_they_are_on_two_hosts() {
    let script =
        "echo $PMI_RANK/$PMI_SIZE $POSTHASTE_LOCAL_RANK/$POSTHASTE_LOCAL_SIZE $MPI_LOCALRANKID $A $B; pwd";
    let arguments = ["-n", "4", "-wdir", "/dev", "-genv", "A", "x", "-env", "B", "y z", "sh", "-c", script];
    let said = on(TWO, &arguments);
    let mut lines = vec!["/dev"; 4];
    lines.extend(["0/4 0/2 0 x y z", "1/4 1/2 1 x y z", "2/4 0/2 0 x y z", "3/4 1/2 1 x y z"]);
    assert_eq!((said.sorted(), said.code, said.err.as_str()), (lines, 0, ""));
    let said = on(
        &["-launcher", "fork", "-hosts", "a:1,b:3", "-map-by", "node"],
        &["-n", "4", "sh", "-c", "echo $POSTHASTE_LOCAL_SIZE"],
    );
    assert_eq!(said.sorted(), ["1", "3", "3", "3"]);
}

#[test]
fn one_secret_for_all_and_another_for_the_next_job() {
    let secrets = || {
        let said = on(TWO, &["-n", "4", "sh", "-c", "echo $POSTHASTE_SECRET"]);
        let mut lines: Vec<String> = said.out.lines().map(String::from).collect();
        lines.dedup();
        lines
    };
    let (first, second) = (secrets(), secrets());
    assert_eq!((first.len(), first[0].len(), second.len()), (1, 64, 1));
    assert_ne!(first, second);
}

#[test]
fn several_programs_and_their_environment_are_spread() {
    let said =
        on(TWO, &["-n", "3", "sh", "-c", "echo a $PMI_RANK", ":", "-n", "1", "sh", "-c", "echo b $PMI_RANK"]);
    assert_eq!(said.sorted(), ["a 0", "a 1", "a 2", "b 3"]);
    let mut command =
        mpiexec(&[TWO, &["-genvlist", "D", "-n", "2", "/bin/sh", "-c", "echo $D $HOME"]].concat());
    command.env("D", "4").env("HOME", "/h");
    assert_eq!(finish(command).out, "4\n4\n");
}

#[test]
fn host_files_and_variables_are_followed() {
    let path = std::env::temp_dir().join(format!("mpiexec-hosts-{}", unique()));
    std::fs::write(&path, "a slots=1\n# nobody\nb:2\n").unwrap();
    let script = "echo $PMI_RANK $POSTHASTE_LOCAL_SIZE";
    for variable in ["HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile"] {
        let mut command = mpiexec(&["-launcher", "fork", "-n", "3", "sh", "-c", script]);
        command.env(variable, &path);
        assert_eq!(finish(command).sorted(), ["0 1", "1 2", "2 2"], "{variable}");
    }
    std::fs::write(&path, "\n").unwrap();
    let said = run(&["-f", path.to_str().unwrap(), "true"]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(said.code, 1);
    one_sentence(&said, &["names no host"]);
}

#[test]
fn a_slurm_allocation_is_used() {
    let ssh = FakeSsh::new(
        "for word; do case $word in --nodelist=*) host=${word#*=};; esac; done; shift $(($# - 2)); line=\"$*\"",
    );
    let mut command = mpiexec(&[
        "-launcher-exec",
        ssh.0.to_str().unwrap(),
        "-n",
        "4",
        "sh",
        "-c",
        "echo $PMI_RANK $POSTHASTE_LOCAL_SIZE",
    ]);
    command.env("SLURM_JOB_NODELIST", "n[08-09]").env("SLURM_TASKS_PER_NODE", "3,1");
    let said = finish(command);
    assert_eq!(said.sorted(), ["0 3", "1 3", "2 3", "3 1"], "{}", said.err);
}

#[test]
fn lines_are_labelled_and_whole() {
    let said = on(TWO, &["-l", "-n", "4", "sh", "-c", "printf 'a\\nb'; echo c >&2"]);
    let lines: Vec<String> = (0..4).flat_map(|rank| [format!("[{rank}] a"), format!("[{rank}] b")]).collect();
    assert_eq!(said.sorted(), lines);
    assert_eq!(said.err.lines().filter(|line| line.ends_with("] c")).count(), 4);
}

#[test]
fn a_slow_reader_loses_nothing_and_an_early_one_ends_the_job() {
    use std::io::Read;
    let mut child =
        mpiexec(&[TWO, &["-n", "4", "sh", "-c", "seq -f line-%06.0f 200000"]].concat()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 800_000);
    assert!(text.lines().all(|line| line.len() == 11));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut child = mpiexec(&[TWO, &["-n", "2", "yes"]].concat()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 2]).unwrap();
    let said = said(child, Instant::now());
    assert_eq!((said.code, said.err.as_str()), (141, ""));
}

#[test]
fn standard_input_goes_to_rank_0_wherever_it_is() {
    let input: Vec<u8> = (0..3_000_000u32).map(|n| b'a' + (n % 25) as u8).collect();
    let said = run_with_input(&[TWO, &["-n", "3", "sh", "-c", "cat | wc -c"]].concat(), &input);
    assert_eq!(said.sorted(), ["0", "0", "3000000"], "{}", said.err);
    // Nobody reads.
    assert_eq!(run_with_input(&[TWO, &["-n", "2", "true"]].concat(), &input).code, 0);
    assert_eq!(
        run_with_input(&[TWO, &["-n", "2", "sh", "-c", "exec <&-; sleep 0.2"]].concat(), &input).code,
        0
    );
    // A file, which cannot be waited for.
    let path = std::env::temp_dir().join(format!("mpiexec-input-{}", unique()));
    std::fs::write(&path, &input).unwrap();
    let mut command = mpiexec(&[TWO, &["-n", "2", "sh", "-c", "wc -c"]].concat());
    command.stdin(std::fs::File::open(&path).unwrap());
    assert_eq!(finish(command).sorted(), ["0", "3000000"]);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn the_first_failure_is_reported_with_its_host() {
    for (script, code, words) in
        [("exit 3", 3, "exited with code 3"), ("kill -9 $$", 137, "killed by signal 9 (SIGKILL)")]
    {
        let script = format!("if [ $PMI_RANK = 2 ]; then {script}; fi; trap '' TERM; sleep 100; sleep 100");
        let said = on(TWO, &["-n", "4", "sh", "-c", &script]);
        assert_eq!(said.code, code, "{}", said.err);
        one_sentence(&said, &["rank 2 (process ", " on b ", words, "the other 3 ranks were ended"]);
        assert!(said.took < ENDED, "{:?}", said.took);
    }
}

#[test]
fn what_cannot_be_started_is_one_sentence() {
    for (arguments, code, words) in [
        (&["-n", "4", "no-such-program"][..], 127, "\"no-such-program\""),
        (&["-n", "4", "-wdir", "/no/such/place", "true"], 1, "\"/no/such/place\" does not exist"),
        (
            &["-n", "1", "sleep", "100", ":", "-n", "1", "/dev/null"],
            126,
            "on b: \"/dev/null\" is not executable",
        ),
    ] {
        let said = on(TWO, arguments);
        assert_eq!(said.code, code, "{}", said.err);
        one_sentence(&said, &[words]);
        assert!(said.took < ENDED, "{:?}", said.took);
    }
}

#[test]
fn an_ssh_that_fails_on_one_host_is_reported_in_its_words() {
    let ssh = FakeSsh::new("[ $host = b ] && { echo 'me@b: Permission denied (publickey).' >&2; exit 255; }");
    let marker = unique();
    let said = ssh.run(&["-hosts", "a,b,c", "-n", "3", "sleep", &marker]);
    assert_eq!(said.code, 1);
    one_sentence(&said, &["on b (", "exited with code 255: me@b: Permission denied (publickey)."]);
    assert!(said.took < ENDED, "{:?}", said.took);
    assert_eq!(marked(&marker), []);
    let said = run(&["-launcher-exec", "/no/such/ssh", "-hosts", "a", "true"]);
    one_sentence(&said, &["cannot execute ssh to start an agent on a: No such file"]);
}

#[test]
fn what_a_login_shell_says_is_passed_over() {
    let ssh = FakeSsh::new("echo; echo Welcome to $host; echo a warning >&2");
    let said = ssh.run(&["-hosts", "a,b", "-n", "2", "echo", "x"]);
    assert_eq!((said.out.as_str(), said.code), ("x\nx\n", 0), "{}", said.err);
}

#[test]
fn another_version_is_reported() {
    let ssh = FakeSsh::new("[ $host = b ] && { echo posthaste-agent 0.0.1; cat >/dev/null; exit; }");
    let said = ssh.run(&["-hosts", "a,b", "-n", "2", "sleep", "100"]);
    assert_eq!(said.code, 1);
    one_sentence(&said, &["the agent on b", "version 0.0.1", "all hosts need the same"]);
    let ssh = FakeSsh::new("[ $host = b ] && exec cat /dev/zero");
    one_sentence(&ssh.run(&["-hosts", "a,b", "-n", "2", "sleep", "100"]), &["the agent on b", "greeting"]);
}

#[test]
fn a_connection_that_breaks_ends_the_job() {
    // The stand-in for ssh dies once the rank there runs; what carries the bytes is left, as a network is.
    let marker = unique();
    let runs = std::env::temp_dir().join(format!("mpiexec-runs-{marker}"));
    let file = runs.display();
    let ssh = FakeSsh::new(&format!(
        "[ $host = b ] && {{ (until [ -e {file} ]; do sleep 0.1; done; kill -9 $$) & cat | sh -c \"$line\" | cat; }}"
    ));
    let script = format!("if [ $PMI_RANK = 1 ]; then : > {file}; fi; sleep {marker}; true");
    let said = ssh.run(&["-hosts", "a,b", "-n", "2", "sh", "-c", &script]);
    let _ = std::fs::remove_file(&runs);
    assert_eq!(said.code, 1);
    one_sentence(&said, &["the connection to b was lost", "killed by signal 9"]);
    assert!(said.took < LOST, "{:?}", said.took);
    assert!(wait_for(LOST, || marked(&marker).is_empty()), "{:?}", marked(&marker));
}

#[test]
fn a_killed_agent_ends_the_job() {
    let job = Stubborn::start();
    kill(Pid::from_raw(job.agents()[1]), Signal::SIGKILL).unwrap();
    let said = job.end();
    assert_eq!(said.code, 1);
    one_sentence(&said, &["the connection to b was lost", "signal 9", "the other 2 ranks were ended"]);
}

#[test]
fn a_stopped_agent_ends_the_job() {
    let job = Stubborn::start();
    let agents = job.agents();
    kill(Pid::from_raw(agents[0]), Signal::SIGSTOP).unwrap();
    let said = job.end();
    assert_eq!(said.code, 1);
    one_sentence(&said, &["a has not answered for 3.5 s"]);
    assert!(!agents.iter().any(|&agent| is_alive(agent)));
}

#[test]
fn an_agent_that_is_asked_to_end_ends_the_job() {
    let job = Stubborn::start();
    kill(Pid::from_raw(job.agents()[1]), Signal::SIGTERM).unwrap();
    let said = job.end();
    one_sentence(&said, &["the agent on b was ended by SIGTERM"]);
}

#[test]
fn a_killed_mpiexec_takes_everybody_along() {
    let mut job = Stubborn::start();
    send(&job.child, Signal::SIGKILL);
    job.child.wait().unwrap();
    assert!(wait_for(LOST, || marked(&job.marker).is_empty()), "{:?}", marked(&job.marker));
}

#[test]
fn a_stopped_mpiexec_is_as_good_as_a_killed_one() {
    let mut job = Stubborn::start();
    let agents = job.agents();
    send(&job.child, Signal::SIGSTOP);
    let gone = || marked(&job.marker).iter().all(|pid| *pid == job.child.id() as i32);
    assert!(wait_for(LOST, gone), "{:?}", marked(&job.marker));
    send(&job.child, Signal::SIGCONT);
    assert_eq!(job.child.wait().unwrap().code(), Some(1));
    assert!(!agents.iter().any(|&agent| is_alive(agent)));
}

/// Of 40 hosts some have their agents behind another one, which is not stopped.
#[test]
fn an_mpiexec_that_the_terminal_stops_is_waited_for() {
    let many: Vec<String> = (0..40).map(|host| format!("h{host}")).collect();
    let many = ["-launcher", "fork", "-hosts", &many.join(",")];
    let jobs = [(TWO, 2), (&many[..], 40)].map(|(hosts, count)| {
        let script = "echo ready; sleep 7; echo done";
        let ranks = count.to_string();
        let mut child = mpiexec(&[hosts, &["-n", &ranks, "sh", "-c", script]].concat()).spawn().unwrap();
        read_lines(child.stdout.as_mut().unwrap(), count);
        send(&child, Signal::SIGTSTP);
        (child, count)
    });
    std::thread::sleep(Duration::from_millis(5500));
    for (mut child, count) in jobs {
        assert!(child.try_wait().unwrap().is_none());
        send(&child, Signal::SIGCONT);
        let said = said(child, Instant::now());
        assert_eq!((said.out, said.code), ("done\n".repeat(count), 0), "{}", said.err);
    }
}

#[test]
fn signals_are_passed_on_to_all_hosts() {
    for (signal, name) in [(Signal::SIGINT, "INT"), (Signal::SIGTERM, "TERM"), (Signal::SIGUSR1, "USR1")] {
        let script = format!("trap 'echo caught; exit 0' {name}; echo ready; while :; do sleep 0.05; done");
        let mut child = mpiexec(&[TWO, &["-n", "4", "sh", "-c", &script]].concat()).spawn().unwrap();
        read_lines(child.stdout.as_mut().unwrap(), 4);
        send(&child, signal);
        let said = said(child, Instant::now());
        assert_eq!((said.sorted(), said.code), (vec!["caught"; 4], 0), "{name}: {}", said.err);
    }
    let mut child =
        mpiexec(&[TWO, &["-n", "4", "sh", "-c", "echo ready; exec sleep 100"]].concat()).spawn().unwrap();
    read_lines(child.stdout.as_mut().unwrap(), 4);
    send(&child, Signal::SIGTERM);
    let said = said(child, Instant::now());
    assert_eq!(said.code, 143, "{}", said.err);
    one_sentence(&said, &["was ended by SIGTERM"]);
    assert!(said.took < ENDED, "{:?}", said.took);
}

#[test]
fn a_second_interrupt_kills_on_all_hosts() {
    let mut job = Stubborn::start();
    send(&job.child, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(300));
    assert!(job.child.try_wait().unwrap().is_none());
    send(&job.child, Signal::SIGINT);
    let said = job.end();
    assert_eq!(said.code, 130, "{}", said.err);
    assert!(said.took < ENDED, "{:?}", said.took);
}

#[test]
fn a_job_on_two_hosts_is_limited_in_time_and_explained() {
    let said = on(TWO, &["-timeout", "0.5", "-n", "4", "sleep", "100"]);
    assert_eq!(said.code, 124);
    let [doing, late] = said.sentences()[..] else { panic!("{}", said.err) };
    assert_eq!(doing, "mpiexec: what the ranks are doing:");
    assert!(late.contains("longer than its 0.5 s"), "{}", said.err);
    for rank in 0..4 {
        assert!(
            said.err.contains(&format!("  rank {rank} has not called MPI_Init of this library\n")),
            "{}",
            said.err
        );
    }
    assert!(said.took < ENDED, "{:?}", said.took);
}

#[test]
fn a_running_job_on_two_hosts_is_explained_to_who_asks() {
    let mut job = Stubborn::start();
    let asked = run(&["-explain", &job.child.id().to_string()]);
    assert_eq!((asked.code, asked.err.as_str()), (0, ""));
    for rank in 0..4 {
        let line = format!("  rank {rank} has not called MPI_Init of this library\n");
        assert!(asked.out.contains(&line), "{}", asked.out);
    }
    send(&job.child, Signal::SIGSTOP);
    let asked = run(&["-explain", &job.child.id().to_string()]);
    assert_eq!(asked.code, 1, "{}", asked.out);
    one_sentence(&asked, &["on several hosts reports nothing: it has not answered for 5s"]);
    job.began = Instant::now();
    send(&job.child, Signal::SIGKILL);
    job.end();
}

#[test]
fn agents_on_one_machine_do_not_bind_to_the_same_cpus() {
    let script = "grep Cpus_allowed_list /proc/self/status";
    let said = on(TWO, &["-n", "4", "sh", "-c", script]);
    assert_eq!((said.code, said.out.lines().count()), (0, 4), "{}", said.err);
    let cpus = said.out.lines().filter_map(|line| line.split('\t').nth(1));
    let mut bound: Vec<u32> = cpus.filter_map(|list| list.parse().ok()).collect();
    let count = bound.len();
    bound.sort_unstable();
    bound.dedup();
    assert_eq!(bound.len(), count, "{}", said.out);
}

#[test]
fn nothing_is_left_behind() {
    let marker = unique();
    let script = format!("sleep {marker} & sleep {marker} >/dev/null 2>&1 & echo $$ $!; [ $PMI_RANK != 1 ]");
    let said = on(TWO, &["-n", "4", "sh", "-c", &script]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.took < ENDED, "{:?}", said.took);
    assert_eq!(marked(&marker), []);
    // Ranks that end at different times: what one leaves behind may stay until the last has ended.
    let script = format!("sleep {marker} & if [ $PMI_RANK = 3 ]; then sleep 1.5; fi; echo done");
    let said = on(TWO, &["-n", "4", "sh", "-c", &script]);
    assert_eq!((said.out.as_str(), said.code, said.err.as_str()), ("done\ndone\ndone\ndone\n", 0, ""));
    assert_eq!(marked(&marker), []);
}

#[test]
fn many_hosts_are_reached_through_others() {
    let hosts: Vec<String> = (0..70).map(|host| format!("h{host}")).collect();
    let said =
        run(&["-launcher", "fork", "-hosts", &hosts.join(","), "-n", "140", "sh", "-c", "echo $PMI_RANK"]);
    let mut ranks: Vec<usize> = said.out.lines().map(|line| line.parse().unwrap()).collect();
    ranks.sort_unstable();
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(ranks, (0..140).collect::<Vec<_>>());
    let said = run(&[
        "-launcher",
        "fork",
        "-hosts",
        &hosts.join(","),
        "-n",
        "70",
        "sh",
        "-c",
        "[ $PMI_RANK = 69 ] && kill -SEGV $$; sleep 100",
    ]);
    assert_eq!(said.code, 139);
    one_sentence(
        &said,
        &["rank 69 (process ", " on h69 was killed by signal 11", "the other 69 ranks were ended"],
    );
}

#[test]
fn a_host_with_fewer_parts_than_that_of_mpiexec_refuses_ranks_for_each_part() {
    let count = Part::Core.count(&[]);
    let Some(cores @ 2..) = count else { return println!("omitted: this machine shows one core: {count:?}") };
    let one = posthaste_os::machine::affinity()[0];
    let ssh = FakeSsh::new(&format!("line=\"taskset -c {one} $line\""));
    let said = ssh.run(&["-hosts", "b", "--map-by", "ppr:1:core", "true"]);
    let sentence = format!("{cores} ranks are to run on b, 1 on each core, but it has 1 with usable CPUs");
    one_sentence(&said, &[&sentence]);
}
