//! The real `mpiexec` with programs that ask it for processes: what spawned ranks find, what becomes of them, and what the
//! one who asked hears when it cannot be done.
//!
//! As in `ranks.rs` the ranks are this test program itself: the test `as_a_rank` plays the role that the variable `ROLE` or
//! `CHILD` names. What must stay true: whatever happens, no process is left.

mod common;

use common::{PATIENCE, Said, finish, marked, mpiexec, read_lines, said, say, send, unique, wait_for};
use nix::sys::signal::Signal;
use posthaste_os::machine;
use posthaste_os::node::Node;
use posthaste_os::process;
use posthaste_pmi::launcher::Launcher;
use posthaste_pmi::spawning::{PARENTS_PORT, Spawning, Spec};
use std::os::unix::process::parent_id;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Options for one host, and for two, which are this one with an agent each.
const HOSTS: [&[&str]; 2] = [&[], &["-launcher", "fork", "-hosts", "a,b"]];

/// mpiexec with these options for `ranks` ranks in a role.
fn role(role: &str, ranks: usize, options: &[&str]) -> std::process::Command {
    let own = std::env::current_exe().unwrap();
    let ranks = ranks.to_string();
    let program = ["-n", &ranks, own.to_str().unwrap(), "--exact", "as_a_rank", "--nocapture"];
    let mut command = mpiexec(&[options, &program].concat());
    command.env("ROLE", role);
    command
}

fn play(name: &str, ranks: usize, options: &[&str]) -> Said {
    finish(role(name, ranks, options))
}

/// The lines on standard error that ranks wrote, without what labels put in front, in alphabetical order.
fn words(said: &Said) -> Vec<&str> {
    let mut lines: Vec<&str> = said.err.lines().filter(|line| line.contains("word ")).collect();
    lines.sort_unstable();
    lines
}

/// So many processes of this program in a role, with these hints.
fn children(role: &str, count: usize, info: &[(&str, &str)]) -> Spec {
    let own = std::env::current_exe().unwrap().to_str().unwrap().to_string();
    let role = format!("CHILD={role}");
    let env = [("env", role.as_str())];
    let info = env.iter().chain(info);
    // For command lines that have to be found again.
    let mark = std::env::var("MARK").ok();
    Spec {
        count,
        name: own,
        arguments: ["--exact", "as_a_rank", "--nocapture"]
            .map(String::from)
            .into_iter()
            .chain(mark)
            .collect(),
        info: info.map(|(key, value)| ((*key).into(), (*value).into())).collect(),
    }
}

fn request(specs: Vec<Spec>) -> Spawning {
    Spawning { specs, preput: vec![("port".into(), "here=1".into())] }
}

fn program(name: &str) -> Spec {
    Spec { count: 2, name: name.into(), ..Spec::default() }
}

fn join() -> Launcher {
    Launcher::connect().unwrap().unwrap()
}

fn long_sleep() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(100));
    }
}

/// Two processes that say where they are, with the hints of `text`; there, `program` is no hint but another name of the program.
fn hinted(text: &str) -> Spec {
    let (programs, hints): (Vec<_>, Vec<_>) =
        text.split(' ').filter_map(|hint| hint.split_once('=')).partition(|(key, _)| *key == "program");
    let spec = children("placed", 2, &hints);
    let name = programs.first().map_or(spec.name.clone(), |(_, name)| (*name).into());
    Spec { name, ..spec }
}

/// The CPUs that this process may use, as the kernel lists them.
fn usable() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().into()
}

/// Adds to this rank's first counter.
fn count(by: u64) {
    let fd = std::env::var("POSTHASTE_NODE_FD").unwrap().parse().unwrap();
    let node = Node::attach(process::inherited(fd).unwrap()).unwrap();
    let local = std::env::var("POSTHASTE_LOCAL_RANK").unwrap().parse().unwrap();
    node.counters(local)[0].fetch_add(by, Ordering::Relaxed);
}

#[test]
fn as_a_rank() {
    if let Ok(role) = std::env::var("CHILD") {
        child(&role);
    } else if let Ok(role) = std::env::var("ROLE") {
        parent(&role);
    } else {
        return;
    }
    std::process::exit(0);
}

/// Says how a request went, in one line.
fn tell(launcher: &mut Launcher, specs: Vec<Spec>) {
    match launcher.spawn(&request(specs)) {
        Ok(codes) => say(format_args!("word codes {codes:?}")),
        Err(why) => say(format_args!("word refused {why}")),
    }
}

fn parent(role: &str) {
    let extra = std::env::var("EXTRA").unwrap_or_default();
    if role == "alone" {
        let mut launcher = Launcher::start_by(env!("CARGO_BIN_EXE_mpiexec").as_ref()).unwrap();
        tell(&mut launcher, vec![hinted(&extra)]);
        return launcher.finalize().unwrap();
    }
    if role == "forks" {
        let mut launcher = Launcher::start_by(env!("CARGO_BIN_EXE_mpiexec").as_ref()).unwrap();
        launcher.spawn(&request(vec![children("wait", 2, &[])])).unwrap();
        // SAFETY: the child does nothing but sleep, with our end of the connection.
        match unsafe { nix::unistd::fork() }.unwrap() {
            nix::unistd::ForkResult::Child => long_sleep(),
            nix::unistd::ForkResult::Parent { child } => println!("forked {child}"),
        }
        long_sleep();
    }
    let mut launcher = join();
    assert!(!launcher.is_spawned());
    let rank = launcher.rank();
    match role {
        "family" if rank == 0 => {
            tell(&mut launcher, vec![children("meet", 2, &[("wdir", "/")]), children("meet", 1, &[])]);
        }
        "several" => {
            let mut codes = Vec::new();
            for _ in 0..5 {
                codes.extend(launcher.spawn(&request(vec![children("meet", 1, &[])])).unwrap());
            }
            say(format_args!("word parent {rank} codes {codes:?}"));
        }
        "refused" => {
            let (name, hints) = extra.split_once(' ').unwrap_or((&extra, ""));
            let mut spec = program(name);
            spec.info =
                hints.split_once('=').map(|(key, value)| (key.into(), value.into())).into_iter().collect();
            tell(&mut launcher, vec![spec]);
            // Another attempt is none the worse for it.
            tell(&mut launcher, vec![children("meet", 1, &[])]);
        }
        "mapped" => {
            for _ in 0..2 {
                let strange = [("mapper", "seq"), ("map_by", "socket"), ("unknown", "key"), ("ppn", "1")];
                tell(&mut launcher, vec![children("meet", 1, &strange)]);
            }
        }
        "hinted" => {
            tell(&mut launcher, vec![hinted(&extra)]);
            say(format_args!("word parent on {}", usable()));
        }
        "counted" => {
            count(1);
            for _ in 0..2 {
                tell(&mut launcher, vec![children("counted", 2, &[])]);
            }
        }
        "soft" => tell(&mut launcher, vec![children("meet", 4, &[("soft", "1:4:2")])]),
        "universe" => {
            say(format_args!(
                "word universe {:?} {:?}",
                launcher.universe_size().unwrap(),
                launcher.application()
            ));
        }
        "paired" => {
            for _ in 0..2 {
                // Refused by whoever reads it, and by whoever would start it.
                tell(&mut launcher, vec![Spec { count: 0, ..program("true") }]);
                tell(&mut launcher, vec![program("/no/such/program")]);
                let preput = vec![(PARENTS_PORT.into(), "here".into())];
                let specs = vec![children("never come", 2, &[])];
                let number = {
                    let spawner = launcher.spawner().unwrap();
                    spawner.spawn(&Spawning { specs, preput }).unwrap();
                    spawner.started()
                };
                let mut lost = Ok(());
                wait_for(PATIENCE, || {
                    lost = launcher.spawner().unwrap().check_spawned(number);
                    lost.is_err()
                });
                say(format_args!("word lost {} {lost:?}", number.unwrap().number));
            }
        }
        "child" => {
            launcher.spawn(&request(vec![children(&extra, 2, &[])])).unwrap();
            // The children end first, or end us.
            if extra != "late code" {
                long_sleep();
            }
        }
        _ => {}
    }
    launcher.finalize().unwrap();
}

fn child(role: &str) {
    let mut launcher = join();
    let rank = launcher.rank();
    assert!(launcher.is_spawned());
    launcher.put("name", &rank.to_string()).unwrap();
    // Before that, whatever happens to a rank means that the job could not be spawned.
    launcher.fence().unwrap();
    match role {
        "meet" => {
            let port = launcher.left_for_us("port").unwrap();
            let size = launcher.size();
            let other = launcher.get((rank + 1) % size, "name").unwrap();
            let folder = std::env::current_dir().unwrap();
            let folder = if folder.as_os_str() == "/" { "/" } else { "." };
            let application = launcher.application().unwrap();
            say(format_args!("word child {rank} of {size} {port:?} {other:?} {application:?} {folder}"));
        }
        "placed" => say(format_args!("word child {rank} below {} on {}", parent_id(), usable())),
        "counted" => count(100),
        "never come" => {
            launcher.left_for_us(PARENTS_PORT).unwrap();
        }
        "late code" => {
            launcher.finalize().unwrap();
            std::process::exit(if rank == 1 { 7 } else { 0 });
        }
        "crash" if rank == 1 => std::process::abort(),
        "abort" if rank == 1 => {
            launcher.abort(5).unwrap();
            std::process::exit(5);
        }
        "wait" => {
            println!("ready {}", std::process::id());
            long_sleep();
        }
        _ => long_sleep(),
    }
    launcher.finalize().unwrap();
}

#[test]
fn spawned_ranks_have_what_first_ones_have() {
    for hosts in HOSTS {
        let said = play("family", 2, &[hosts, &["-l"]].concat());
        assert_eq!(said.code, 0, "{said:?}");
        let of = |rank, other, application, folder| {
            format!(
                "[1:{rank}] word child {rank} of 3 Some(\"here=1\") Some(\"{other}\") Some({application}) {folder}"
            )
        };
        let expected =
            ["[0] word codes [0, 0, 0]".to_string(), of(0, 1, 0, "/"), of(1, 2, 0, "/"), of(2, 0, 1, ".")];
        assert_eq!(words(&said), expected, "{said:?}");
    }
}

#[test]
fn two_ranks_spawn_at_the_same_time_again_and_again() {
    let said = play("several", 2, &[]);
    assert_eq!((said.code, words(&said).len()), (0, 12), "{said:?}");
    assert!(words(&said).contains(&"word parent 1 codes [0, 0, 0, 0, 0]"), "{said:?}");
}

/// What `refused` says when asked for `extra`, with these options.
fn refused(extra: &str, options: &[&str]) -> String {
    let mut command = role("refused", 1, options);
    command.env("EXTRA", extra);
    let said = finish(command);
    assert_eq!(said.code, 0, "{said:?}");
    let [first, .., last] = &words(&said)[..] else { panic!("{said:?}") };
    assert!(first.starts_with("word child 0 of 1"), "the second attempt: {said:?}");
    assert!(said.sentences().iter().any(|line| line.contains("rank 0 cannot spawn processes: ")), "{said:?}");
    (*last).to_string()
}

#[test]
fn what_cannot_be_spawned_is_an_error_for_the_one_who_asked_and_nobody_else() {
    for hosts in HOSTS {
        for (extra, part) in [
            ("/no/such/program", "there is no program \"/no/such/program\""),
            ("no-such-program", "there is no program \"no-such-program\" in PATH"),
            ("/etc", "is a directory"),
            ("true", "exited with code 0 without calling MPI_Init"),
            ("false", "exited with code 1"),
            ("true wdir=/no/such", "the working directory \"/no/such\" does not exist"),
            ("true soft=7", "soft=7 allows none"),
            ("true hostfile=/no/such", "/no/such"),
            ("true host=-x", "is not the name of a host"),
        ] {
            let last = refused(extra, hosts);
            assert!(last.starts_with("word refused spawn of ") && last.contains(part), "{extra}: {last}");
        }
    }
}

#[test]
fn keys_that_are_not_followed_are_named_once() {
    for hosts in HOSTS {
        let said = play("mapped", 1, hosts);
        assert_eq!((said.code, words(&said).len()), (0, 4), "{said:?}");
        for key in ["mapper", "map_by"] {
            let warning = format!("warning: rank 0 spawns processes: the info key {key} has no effect");
            assert_eq!(said.err.matches(&warning).count(), 1, "{said:?}");
        }
        assert_eq!(said.err.matches("has no effect").count(), 2, "{said:?}");
    }
}

#[test]
fn a_job_that_is_lost_is_told_from_those_that_were_refused() {
    for hosts in HOSTS {
        let said = play("paired", 1, hosts);
        assert_eq!(said.code, 0, "{said:?}");
        let words = words(&said);
        let [first, second, refused @ ..] = &words[..] else { panic!("{said:?}") };
        for (number, line) in [(1, first), (2, second)] {
            assert!(line.starts_with(&format!("word lost {number} Err(")), "{said:?}");
            assert!(line.contains("ended before they met those who asked for them"), "{said:?}");
        }
        assert!(
            refused.len() == 4 && refused.iter().all(|line| line.starts_with("word refused ")),
            "{said:?}"
        );
    }
}

#[test]
fn a_host_that_cannot_be_reached_is_named() {
    let last = refused("true host=b", &["-launcher-exec", "/bin/false"]);
    assert!(last.contains("no agent could be started on b (false exited with code 1)"), "{last}");
}

#[test]
fn a_universe_is_as_large_as_the_user_says() {
    let said = play("universe", 2, &["-usize", "7"]);
    assert_eq!(words(&said), ["word universe Some(7) Ok(Some(0))"; 2], "{said:?}");
    let last = refused("true", &["-usize", "2"]);
    assert!(last.contains("2 processes of true are to be started, but -usize leaves room for 1"), "{last}");
    let said = play("soft", 1, &["-usize", "4"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(words(&said).contains(&"word codes [0, 0, 0, -1]"), "{said:?}");
    assert!(words(&said)[0].starts_with("word child 0 of 3"), "{said:?}");
}

#[test]
fn how_a_spawned_rank_ends_is_how_the_job_ends() {
    for hosts in HOSTS {
        for (role_of_child, code, part) in [
            ("late code", 7, "job 1: rank 1"),
            ("crash", 134, "was killed by signal 6 (SIGABRT)"),
            ("abort", 5, "job 1: rank 1"),
        ] {
            let mut command = role("child", 1, hosts);
            command.env("EXTRA", role_of_child);
            let said = finish(command);
            assert_eq!(said.code, code, "{role_of_child}: {said:?}");
            assert_eq!(said.sentences().len(), 1, "{role_of_child}: {said:?}");
            assert!(said.sentences()[0].contains(part), "{role_of_child}: {said:?}");
        }
    }
}

/// A job whose two spawned ranks wait, started with `mark` in every command line.
fn waiting(mark: &str, options: &[&str]) -> std::process::Child {
    let mut command = role("child", 1, options);
    command.arg(mark).env("MARK", mark).env("EXTRA", "wait").stdout(Stdio::piped());
    let mut job = command.spawn().unwrap();
    let lines = &mut Vec::new();
    while lines.iter().filter(|line: &&String| line.contains("ready ")).count() < 2 {
        lines.extend(read_lines(job.stdout.as_mut().unwrap(), 1));
    }
    job
}

#[test]
fn nothing_is_left_when_the_launcher_is_killed() {
    for hosts in HOSTS {
        let mark = unique();
        let job = waiting(&mark, hosts);
        // `env` has become mpiexec; one rank, two children of it.
        assert!(marked(&mark).len() >= 4);
        let began = Instant::now();
        send(&job, Signal::SIGKILL);
        said(job, began);
        assert!(wait_for(PATIENCE, || marked(&mark).is_empty()));
    }
}

#[test]
fn spawned_ranks_are_explained_and_hear_signals() {
    for hosts in HOSTS {
        let job = waiting(&unique(), hosts);
        let explained = finish(mpiexec(&["-explain", &job.id().to_string()]));
        assert!(explained.out.contains("job 1, which was spawned:"), "{explained:?}");
        let began = Instant::now();
        send(&job, Signal::SIGINT);
        let said = said(job, began);
        assert_eq!(said.code, 130, "{said:?}");
    }
}

#[test]
fn a_process_that_nobody_started_starts_its_own_launcher() {
    let mpiexec = std::path::Path::new(env!("CARGO_BIN_EXE_mpiexec"));
    let mut launcher = Launcher::start_by(mpiexec).unwrap();
    assert_eq!((launcher.rank(), launcher.size(), launcher.is_spawned()), (0, 1, false));
    let codes = launcher.spawn(&request(vec![children("meet", 2, &[])])).unwrap();
    assert_eq!(codes, [0, 0]);
    let why = launcher.spawn(&request(vec![program("/no/such/program")])).unwrap_err().to_string();
    assert!(why.contains("there is no program"), "{why}");
    launcher.finalize().unwrap();
}

#[test]
fn nothing_is_left_when_a_process_is_killed_that_nobody_started_and_that_has_forked() {
    let mark = unique();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "as_a_rank", "--nocapture", &mark]).env("ROLE", "forks").env("MARK", &mark);
    let mut program = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = Vec::new();
    let forked = |lines: &[String]| {
        lines.iter().find_map(|line| line.split_once("forked ")?.1.trim().parse::<i32>().ok())
    };
    while forked(&lines).is_none() || lines.iter().filter(|line| line.contains("ready ")).count() < 2 {
        lines.extend(read_lines(program.stdout.as_mut().unwrap(), 1));
    }
    program.kill().unwrap();
    program.wait().unwrap();
    let forked = nix::unistd::Pid::from_raw(forked(&lines).unwrap());
    let is_alone = wait_for(PATIENCE, || marked(&mark).len() == 1);
    nix::sys::signal::kill(forked, Signal::SIGKILL).unwrap();
    assert!(is_alone, "the two that it has asked for are left: {:?}", marked(&mark));
    assert!(wait_for(PATIENCE, || marked(&mark).is_empty()));
}

/// The words of a parent that has started two processes with these hints, and of the two.
fn placed(hints: &str, options: &[&str]) -> Vec<String> {
    let mut command = role("hinted", 1, options);
    command.env("EXTRA", hints);
    let said = finish(command);
    assert_eq!(said.code, 0, "{said:?}");
    words(&said).into_iter().map(String::from).collect()
}

#[test]
fn spawned_ranks_are_bound_as_first_ones_are_and_to_other_cpus() {
    let (all, count) = (usable(), machine::affinity().len());
    let cpus = |hints: &str, options: &[&str], hosts: &[&str]| {
        let words = placed(hints, &[hosts, options].concat());
        let places = words.iter().filter_map(|line| line.split_once(" on ").map(|line| line.1.to_string()));
        let places: Vec<String> = places.collect();
        assert_eq!(places.len(), 3, "{words:?}");
        // Two children come first.
        (places[..2].to_vec(), places[2].clone())
    };
    let one = machine::affinity()[0].to_string();
    for hosts in HOSTS {
        // The first host has the parent.
        let (children, parent) = cpus("bind_to=none", &["-bind-to", "core"], hosts);
        assert_eq!(children, vec![all.clone(); 2]);
        assert!(parent.parse::<usize>().is_ok(), "{parent}");
        let (children, parent) = cpus("", &["-cpu-set", &one], hosts);
        assert_eq!((children, parent), (vec![one.clone(); 2], one.clone()));
        if count < 2 {
            println!("omitted: CPUs of their own, on a machine with one");
            continue;
        }
        let (children, parent) = cpus("bind_to=core", &["-bind-to", "none"], hosts);
        assert_eq!(parent, all);
        assert!(children.iter().all(|list| list.parse::<usize>().is_ok()), "{children:?}");
        assert_ne!(children[0], children[1]);
        // Where there are CPUs for all three each has its own; otherwise some have all.
        let (mut bound, parent) = cpus("", &["-bind-to", "core"], hosts);
        bound.push(parent);
        bound.retain(|list| *list != all);
        let taken = bound.len();
        assert!(bound.iter().all(|list| list.parse::<usize>().is_ok()), "{bound:?}");
        assert!(count < 3 || taken == 3, "{bound:?}");
        bound.sort_unstable();
        bound.dedup();
        assert_eq!(bound.len(), taken, "{bound:?}");
    }
}

#[test]
fn counters_of_all_jobs_are_summed() {
    for hosts in HOSTS {
        let said = play("counted", 2, &[&["-counters"], hosts].concat());
        assert_eq!(said.code, 0, "{said:?}");
        let sums: Vec<&str> = said.err.lines().filter(|line| line.starts_with("counter ")).collect();
        // Each of the two has counted 1, and has started two jobs of two that have counted 100 each.
        assert!(sums[0].ends_with(" 802"), "{said:?}");
        assert_eq!(sums.iter().filter(|line| line.split(' ').nth(1) == sums[0].split(' ').nth(1)).count(), 1);
    }
}

#[test]
fn a_program_is_found_where_the_path_says() {
    let own = std::env::current_exe().unwrap();
    let (folder, name) = (own.parent().unwrap().display(), own.file_name().unwrap().to_str().unwrap());
    for hosts in HOSTS {
        let found = placed(&format!("program={name} path=/no/such:{folder}"), hosts);
        assert_eq!(found.iter().filter(|line| line.contains("word child ")).count(), 2, "{found:?}");
        assert!(found.contains(&"word codes [0, 0]".to_string()), "{found:?}");
        for elsewhere in ["", " path=/usr"] {
            let missed = placed(&format!("program={name}{elsewhere}"), hosts);
            let refused = missed.iter().find(|line| line.starts_with("word refused ")).expect("no program");
            assert!(refused.contains(&format!("there is no program \"{name}\"")), "{refused}");
        }
    }
}

#[test]
fn spawned_ranks_are_on_the_hosts_that_a_list_or_a_file_names() {
    let file = std::env::temp_dir().join(format!("mpiexec-hosts-{}", unique()));
    std::fs::write(&file, "# two of one\ny:2\nx\n").unwrap();
    let file = file.to_str().unwrap();
    for (hints, hosts) in [
        ("host=x,y".to_string(), ["x", "y"]),
        ("hosts=y".into(), ["y", "y"]),
        ("hosts=x:1,y:1".into(), ["x", "y"]),
        (format!("hostfile={file}"), ["y", "y"]),
        (format!("machinefile={file} map_by=node"), ["y", "x"]),
    ] {
        for own in HOSTS {
            let mark = ["-launcher", "fork", "-prepend-pattern", "%h: "];
            let said = placed(&hints, &[own, &mark].concat());
            let children = said.iter().filter_map(|line| line.split_once(": word child "));
            let mut places: Vec<(&str, &str)> =
                children.map(|(host, rest)| (rest.split(' ').next().unwrap(), host)).collect();
            places.sort_unstable();
            assert_eq!(places, [("0", hosts[0]), ("1", hosts[1])], "{hints}: {said:?}");
        }
    }
    std::fs::remove_file(file).unwrap();
}

/// Hosts are told apart by their agents.
#[test]
fn a_process_that_nobody_started_spawns_on_other_hosts() {
    for (hosts, agents) in [("hosts=a,b", 2), ("hosts=a", 1)] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "as_a_rank", "--nocapture"]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("ROLE", "alone").env("EXTRA", hosts).env("HYDRA_LAUNCHER", "fork");
        let said = finish(command);
        let words = words(&said);
        assert_eq!((said.code, words.len()), (0, 3), "{said:?}");
        let below = words.iter().filter_map(|line| line.split(" below ").nth(1)?.split(' ').next());
        let mut below: Vec<&str> = below.collect();
        below.dedup();
        assert_eq!((below.len(), words[2]), (agents, "word codes [0, 0]"), "{said:?}");
    }
}
