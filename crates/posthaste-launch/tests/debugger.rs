//! Debuggers: gdb finds the ranks of a running `mpiexec` in rank order, stops one that it has started when they are there, and
//! `-gdb` says where a rank fails.

mod common;

use common::{PATIENCE, Said, mpiexec, put_program, put_script, run, unique, wait_for};
use posthaste_os::node::{Life, Node};
use posthaste_os::process;
use posthaste_pmi::client;
use posthaste_pmi::spawning::{Spawning, Spec};
use std::fs;
use std::process::{Command, Stdio};

const MPIEXEC: &str = env!("CARGO_BIN_EXE_mpiexec");

/// What gdb prints, called so; nothing where it is not installed, or may not do so.
fn gdb(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("gdb");
    command.args(["-nx", "-batch", "-iex", "set auto-load off"]).args(arguments).stdin(Stdio::null());
    command.env_remove("DEBUGINFOD_URLS");
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            may_trace(&said).then_some(said)
        }
        Err(_) => {
            println!("omitted: gdb is not installed");
            None
        }
    }
}

/// Whether gdb, which has said this, may look at processes. A container, or the system, may forbid it.
fn may_trace(said: &str) -> bool {
    let forbidden = said.contains("ptrace: Operation not permitted")
        || said.contains("Could not trace the inferior process");
    if forbidden {
        println!("omitted: gdb may not look at processes here");
    }
    !forbidden
}

/// The lines that gdb prints for values, without their numbers.
fn values(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.starts_with('$'))
        .filter_map(|line| Some(line.split_once(" = ")?.1))
        .collect()
}

#[test]
fn a_debugger_that_attaches_finds_all_ranks_in_order() {
    let folder = std::env::temp_dir().join(format!("mpiexec-debugger-{}", unique()));
    fs::create_dir(&folder).unwrap();
    let script = folder.join("rank");
    // Each says its process id and that it is there.
    put_script(
        &script,
        "#!/bin/sh\necho $$ > $1/part.$PMI_RANK; mv $1/part.$PMI_RANK $1/$PMI_RANK; exec sleep 100\n",
    );
    for hosts in [&[][..], &["-launcher", "fork", "-hosts", "a,b,a"]] {
        let program = [script.to_str().unwrap(), folder.to_str().unwrap()];
        let mut job = mpiexec(&[hosts, &["-n", "3"], &program].concat()).spawn().unwrap();
        let place = |rank: usize| folder.join(rank.to_string());
        assert!(wait_for(PATIENCE, || (0..3).all(|rank| place(rank).exists())));
        let printed = gdb(&[
            "-p",
            &job.id().to_string(),
            "-ex",
            "print MPIR_proctable_size",
            "-ex",
            "print MPIR_debug_state",
            "-ex",
            "print MPIR_proctable[0]@3",
            "-ex",
            "ptype MPIR_proctable[0]",
        ]);
        let pids: Vec<String> = (0..3).map(|rank| fs::read_to_string(place(rank)).unwrap()).collect();
        (0..3).for_each(|rank| fs::remove_file(place(rank)).unwrap());
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(job.id() as i32), nix::sys::signal::SIGTERM)
            .unwrap();
        job.wait().unwrap();
        let Some(printed) = printed else { continue };
        let values = values(&printed);
        let [size, state, table] = values[..] else { panic!("{printed}") };
        assert_eq!((size, state), ("3", "1"), "{printed}");
        let ranks: Vec<&str> = table.split("}, {").collect();
        assert_eq!(ranks.len(), 3, "{table}");
        for (rank, (entry, pid)) in ranks.iter().zip(&pids).enumerate() {
            let host = ["\"a\"", "\"a\"", "\"b\""][rank];
            assert!(hosts.is_empty() || entry.contains(host), "{rank}: {entry}");
            assert!(entry.contains(&format!("\"{}\"", script.display())), "{rank}: {entry}");
            assert!(
                entry.trim_end_matches('}').ends_with(&format!("pid = {}", pid.trim())),
                "{rank}: {entry}"
            );
        }
        assert!(printed.contains("char *host_name;") && printed.contains("int pid;"), "{printed}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_debugger_that_starts_mpiexec_stops_it_when_the_ranks_are_there() {
    let Some(printed) = gdb(&[
        "-ex",
        "break MPIR_Breakpoint",
        "-ex",
        "run",
        "-ex",
        "print MPIR_debug_state",
        "-ex",
        "print MPIR_proctable_size",
        "-ex",
        "print MPIR_proctable[1].executable_name",
        "-ex",
        "continue",
        "--args",
        MPIEXEC,
        "-n",
        "2",
        "/bin/echo",
        "ranks go on",
    ]) else {
        return;
    };
    let values = values(&printed);
    assert!(printed.contains("Breakpoint 1, "), "{printed}");
    assert_eq!(values[..2], ["1", "2"], "{printed}");
    assert!(values[2].ends_with("echo\""), "{printed}");
    assert_eq!(printed.matches("ranks go on").count(), 2, "{printed}");
}

#[test]
fn a_debugger_that_starts_mpiexec_stops_it_when_the_job_fails() {
    for hosts in [&[][..], &["-launcher", "fork", "-hosts", "a,b"]] {
        let options = ["-ex", "break MPIR_Breakpoint", "-ex", "run", "-ex", "continue"];
        let shown = [
            "-ex",
            "print MPIR_debug_state",
            "-ex",
            "print MPIR_debug_abort_string",
            "-ex",
            "ptype MPIR_debug_abort_string",
            "-ex",
            "continue",
            "--args",
            MPIEXEC,
        ];
        // If it failed before all have been started, the table would never come, and this stop would be the only one.
        let job = ["-n", "2", "sh", "-c", "[ $PMI_RANK = 0 ] || { sleep 2; exit 3; }; exec sleep 100"];
        let Some(printed) = gdb(&[&options[..], &shown, hosts, &job].concat()) else { return };
        let values = values(&printed);
        let [state, why] = values[..] else { panic!("{printed}") };
        assert_eq!(state, "2", "{printed}");
        assert!(why.contains("\"rank 1 (process ") && why.contains("exited with code 3"), "{why}");
        assert!(printed.contains("type = char *") && printed.contains("exited with code 03"), "{printed}");
    }
}

/// A rank under a debugger: this program, started by mpiexec, plays it. It says when it has been started and when `MPI_Init` would be over;
/// the first one asks for two more then, if it is to.
#[test]
fn as_a_rank_under_a_debugger() {
    let Ok(folder) = std::env::var("DEBUGGED_IN") else { return };
    let is_child = std::env::var_os("DEBUGGED_CHILD").is_some();
    let rank: usize = std::env::var("PMI_RANK").unwrap().parse().unwrap();
    let say = |what: &str| {
        let name = format!("{}{what}.{rank}", if is_child { "child-" } else { "" });
        fs::write(format!("{folder}/part-{name}"), std::process::id().to_string()).unwrap();
        fs::rename(format!("{folder}/part-{name}"), format!("{folder}/{name}")).unwrap();
    };
    say("started");
    let mut client = client::connect().unwrap().unwrap();
    client.barrier().unwrap();
    say("behind");
    if std::env::var_os("DEBUGGED_PARENT").is_none() {
        return client.finalize().unwrap();
    }
    if !is_child && rank == 0 {
        let name = std::env::current_exe().unwrap().to_str().unwrap().to_string();
        let arguments = ["--exact", "as_a_rank_under_a_debugger", "--nocapture"].map(String::from).into();
        let info = vec![("env".into(), "DEBUGGED_CHILD=1".into())];
        let specs = vec![Spec { count: 2, name, arguments, info }];
        client.spawn(&Spawning { specs, preput: Vec::new() }).unwrap();
    }
    std::thread::sleep(PATIENCE);
}

/// This program as ranks under a debugger.
fn debugged() -> [String; 3] {
    let own = std::env::current_exe().unwrap();
    [own.to_str().unwrap(), "as_a_rank_under_a_debugger", "--nocapture"].map(String::from)
}

#[test]
fn spawned_ranks_stand_behind_the_others() {
    let folder = std::env::temp_dir().join(format!("mpiexec-spawned-{}", unique()));
    fs::create_dir(&folder).unwrap();
    let [own, test, shown] = debugged();
    for hosts in [&[][..], &["-launcher", "fork", "-hosts", "a,b"]] {
        let program = ["-n", "2", &own, "--exact", &test, &shown];
        let mut job = mpiexec(&[hosts, &program].concat());
        let mut job = job.env("DEBUGGED_IN", &folder).env("DEBUGGED_PARENT", "1").spawn().unwrap();
        let places =
            ["behind.0", "behind.1", "child-behind.0", "child-behind.1"].map(|name| folder.join(name));
        assert!(wait_for(PATIENCE, || places.iter().all(|place| place.exists())));
        let table = ["-ex", "print MPIR_proctable_size", "-ex", "print MPIR_proctable[0]@4"];
        let printed = gdb(&[&["-p", &job.id().to_string()], &table[..]].concat());
        let pids: Vec<String> = places.iter().map(|place| fs::read_to_string(place).unwrap()).collect();
        places.iter().for_each(|place| fs::remove_file(place).unwrap());
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(job.id() as i32), nix::sys::signal::SIGTERM)
            .unwrap();
        job.wait().unwrap();
        let Some(printed) = printed else { continue };
        let values = values(&printed);
        let [size, table] = values[..] else { panic!("{printed}") };
        assert_eq!(size, "4", "{printed}");
        let ranks: Vec<&str> = table.split("}, {").collect();
        assert_eq!(ranks.len(), 4, "{table}");
        for (entry, pid) in ranks.iter().zip(&pids) {
            assert!(entry.trim_end_matches('}').ends_with(&format!("pid = {pid}")), "{pid}: {table}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ranks_come_no_further_than_the_start_before_the_debugger_goes_on() {
    let folder = std::env::temp_dir().join(format!("mpiexec-held-{}", unique()));
    fs::create_dir(&folder).unwrap();
    let [own, test, shown] = debugged();
    let place = folder.to_str().unwrap();
    // At the breakpoint it waits until both have been started, and half a second more.
    let wait = format!(
        "shell for i in $(seq 100); do [ -e {place}/started.0 ] && [ -e {place}/started.1 ] && break; sleep 0.1; \
         done; sleep 0.5; echo here are $(ls {place})"
    );
    let start =
        ["-ex", "break MPIR_Breakpoint", "-ex", "run", "-ex", &wait, "-ex", "continue", "--args", MPIEXEC];
    let folder_is = format!("DEBUGGED_IN={place}");
    let job = ["-n", "2", "env", &folder_is, &own, "--exact", &test, &shown];
    let printed = gdb(&[&start[..], &job].concat());
    let later = (0..2).all(|rank| folder.join(format!("behind.{rank}")).exists());
    fs::remove_dir_all(&folder).unwrap();
    if let Some(printed) = printed {
        assert!(printed.contains("Breakpoint 1, "), "{printed}");
        assert!(printed.contains("here are started.0 started.1\n") && later, "{printed}");
    }
}

/// A rank that has come to `MPI_Init` and then hangs: this program, started by mpiexec, plays it.
#[test]
fn as_a_rank_that_hangs() {
    let Ok(folder) = std::env::var("HANGS_IN") else { return };
    let client = client::connect().unwrap().unwrap();
    let number = |name: &str| std::env::var(name).unwrap().parse::<i32>().unwrap();
    let node = Node::attach(process::inherited(number("POSTHASTE_NODE_FD")).unwrap()).unwrap();
    let local = number("POSTHASTE_LOCAL_RANK") as usize;
    node.set_pid(local, std::process::id());
    node.set_life(local, Life::Inside);
    fs::write(format!("{folder}/{}", client.rank), std::process::id().to_string()).unwrap();
    std::thread::sleep(PATIENCE);
}

#[test]
fn the_lines_to_attach_to_the_ranks_of_a_job_that_hangs_are_right() {
    let folder = std::env::temp_dir().join(format!("mpiexec-attach-{}", unique()));
    fs::create_dir(&folder).unwrap();
    let own = std::env::current_exe().unwrap();
    let program = ["-n", "2", own.to_str().unwrap(), "--exact", "as_a_rank_that_hangs", "--nocapture"];
    let mut job = mpiexec(&program).env("HANGS_IN", &folder).spawn().unwrap();
    let pid = |rank: usize| fs::read_to_string(folder.join(rank.to_string())).unwrap_or_default();
    let both = || (0..2).all(|rank| !pid(rank).is_empty());
    assert!(wait_for(PATIENCE, both));
    let expected = format!("rank 0: gdb -p {}\nrank 1: gdb -p {}\n", pid(0), pid(1));
    for asked in [job.id().to_string(), pid(0), pid(1)] {
        let said = run(&["-attach", &asked]);
        assert_eq!((said.code, said.out.as_str()), (0, expected.as_str()), "{asked}: {}", said.err);
    }
    // The line itself, with what a batch needs in front of its words.
    for line in expected.lines() {
        let (_, words) = line.split_once(": gdb ").unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        let Some(printed) = gdb(&[&words[..], &["-ex", "thread apply all backtrace"]].concat()) else {
            break;
        };
        assert!(printed.contains("as_a_rank_that_hangs"), "{line}: {printed}");
    }
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(job.id() as i32), nix::sys::signal::SIGTERM).unwrap();
    job.wait().unwrap();
    fs::remove_dir_all(folder).unwrap();
}

/// Whether this system writes core files into the directories of processes.
fn cores_are_written() -> bool {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    let allowed =
        Command::new("sh").args(["-c", "ulimit -c unlimited"]).status().is_ok_and(|is| is.success());
    let written = allowed && !pattern.contains(['|', '/']);
    if !written {
        println!("omitted: core files are not written here, or not into the directory: {pattern}");
    }
    written
}

#[test]
fn a_core_file_is_called_after_its_rank_and_gdb_reads_it() {
    if !cores_are_written() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("mpiexec-cores-{}", unique()));
    fs::create_dir(&folder).unwrap();
    let place = folder.to_str().unwrap();
    let script = "ulimit -c unlimited; [ $PMI_RANK = 1 ] && kill -SEGV $$; exec sleep 100";
    for hosts in [&[][..], &["-launcher", "fork", "-hosts", "a,b"]] {
        let said = run(&[hosts, &["-wdir", place, "-n", "2", "sh", "-c", script]].concat());
        let sentence = format!(
            "was killed by signal 11 (SIGSEGV); its core file is {place}/core.rank-1; the other rank"
        );
        assert!(said.code == 139 && said.err.contains(&sentence), "{}", said.err);
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["core.rank-1"]);
        let core = folder.join("core.rank-1");
        if let Some(printed) = gdb(&["-ex", "bt", "/bin/sh", core.to_str().unwrap()]) {
            let told = printed.contains("Program terminated with signal SIGSEGV") && printed.contains("#0 ");
            assert!(told, "{printed}");
        }
        fs::remove_file(core).unwrap();
    }
    // Without leave of the limit nothing is said.
    let script = "ulimit -c 0; kill -SEGV $$";
    let said = run(&["-wdir", place, "-n", "1", "sh", "-c", script]);
    assert!(said.code == 139 && !said.err.contains("core"), "{}", said.err);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ranks_that_crash_together_have_core_files_of_their_own() {
    if !cores_are_written() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("mpiexec-cores-{}", unique()));
    fs::create_dir(&folder).unwrap();
    let place = folder.to_str().unwrap();
    // In one directory they may take each other's away, that of the first one, too, but none has that of another one.
    let script = "ulimit -c unlimited; echo $$ > pid.$PMI_RANK; kill -SEGV $$";
    let said = run(&["-wdir", place, "-n", "4", "sh", "-c", script]);
    assert!(said.code == 139 && said.err.contains("was killed by signal 11"), "{}", said.err);
    assert!(!folder.join("core").exists());
    for rank in 0..4 {
        let core = folder.join(format!("core.rank-{rank}"));
        let Ok(pid) = fs::read_to_string(folder.join(format!("pid.{rank}"))) else { continue };
        if !core.exists() {
            continue;
        }
        let Some(printed) = gdb(&["-ex", "info inferiors", "/bin/sh", core.to_str().unwrap()]) else {
            continue;
        };
        assert!(printed.contains(&format!("process {}", pid.trim())), "{rank}: {printed}");
    }
    // In directories that scripts make, each has its own. The program is known to be there when it has come to MPI_Init.
    let script = "ulimit -c unlimited; mkdir rank.$PMI_RANK && cd rank.$PMI_RANK && exec \"$@\"";
    let own = std::env::current_exe().unwrap();
    let program = [own.to_str().unwrap(), "--exact", "as_a_rank_that_hangs", "--nocapture"];
    let mut job = mpiexec(&[&["-wdir", place, "-n", "2", "sh", "-c", script, "sh"], &program[..]].concat());
    let job = job.env("HANGS_IN", &folder).spawn().unwrap();
    let pid = |rank: usize| fs::read_to_string(folder.join(rank.to_string())).unwrap_or_default();
    assert!(wait_for(PATIENCE, || (0..2).all(|rank| !pid(rank).is_empty())));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid(1).parse().unwrap()), nix::sys::signal::SIGABRT)
        .unwrap();
    let said = common::said(job, std::time::Instant::now());
    let sentence = format!("its core file is {place}/rank.1/core.rank-1");
    assert!(said.code == 134 && said.err.contains(&sentence), "{}", said.err);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_rank_under_gdb_says_where_it_failed() {
    let Some(said) = under_gdb(&["-n", "1", "sh", "-c", "kill -SEGV $$"]) else { return };
    assert!(said.out.contains("received signal SIGSEGV"), "{}\n{}", said.out, said.err);
    let Some(said) = under_gdb(&["-n", "2", "true"]) else { return };
    assert_eq!(said.out.matches("exited normally").count(), 2, "{}", said.out);
}

#[test]
fn a_program_under_gdb_is_found_as_without_it() {
    let folder = std::env::temp_dir().join(format!("mpiexec-gdb-{}", unique()));
    fs::create_dir_all(folder.join("elsewhere")).unwrap();
    put_program("/bin/echo", folder.join("elsewhere/says"));
    let elsewhere = folder.join("elsewhere");
    let (folder_name, elsewhere) = (folder.to_str().unwrap(), elsewhere.to_str().unwrap());
    for (hosts, place) in [
        (&[][..], &["-path", elsewhere][..]),
        (&[], &["-wdir", folder_name, "-path", "elsewhere"]),
        (&[], &["-wdir", elsewhere]),
        (&["-launcher", "fork", "-hosts", "a,b"], &["-path", elsewhere]),
    ] {
        let arguments = [hosts, &["-n", "2"], place, &["says", "a  word", "$HOME"]].concat();
        let Some(said) = under_gdb(&arguments) else { break };
        let lines = said.out.lines().filter(|line| *line == "a  word $HOME").count();
        assert_eq!((said.code, lines), (0, 2), "{place:?}: {}\n{}", said.out, said.err);
    }
    let without = run(&["-path", "/nonexistent", "says"]);
    let with = run(&["-gdb", "-path", "/nonexistent", "says"]);
    assert_eq!((with.code, with.err), (without.code, without.err));
    assert_eq!(with.code, 127);
    fs::remove_dir_all(folder).unwrap();
}

/// What `mpiexec -gdb` said; nothing where gdb is not installed, or may not start processes.
fn under_gdb(arguments: &[&str]) -> Option<Said> {
    let said = run(&[&["-gdb"], arguments].concat());
    if said.code == 127 && said.err.contains("there is no program \"gdb\"") {
        println!("omitted: gdb is not installed");
        return None;
    }
    may_trace(&(said.out.clone() + &said.err)).then_some(said)
}

#[test]
fn the_line_to_attach_is_said_of_ranks_only() {
    let said = run(&["-attach", &std::process::id().to_string()]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("print MPIR_proctable[0]@MPIR_proctable_size"), "{}", said.err);
}
