//! The real `mpiexec` on plain programs: environment, input, output, exit codes, signals, and nothing left behind.

mod common;

use common::{
    PATIENCE, finish, is_alive, marked, mpiexec, put_script, read_lines, run, run_with_input, said, send,
    unique, wait_for,
};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Everybody is ended within this after a failure, with something for a busy machine.
const ENDED: Duration = Duration::from_millis(3500);

#[test]
fn ranks_know_who_they_are() {
    let script = "echo $PMI_RANK/$PMI_SIZE $POSTHASTE_LOCAL_RANK/$POSTHASTE_LOCAL_SIZE $MPI_LOCALRANKID \
                  $MPI_LOCALNRANKS $PMI_SPAWNED; test -S /dev/fd/$PMI_FD && test -e /dev/fd/$POSTHASTE_NODE_FD";
    let said = run(&["-n", "3", "sh", "-c", script]);
    assert_eq!(said.sorted(), ["0/3 0/3 0 3 0", "1/3 1/3 1 3 0", "2/3 2/3 2 3 0"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

#[test]
fn one_rank_is_the_default_and_arguments_belong_to_the_program() {
    let said = run(&["echo", "-n", "a", "-np", "2", "", "b c"]);
    assert_eq!((said.out.as_str(), said.code), ("a -np 2  b c", 0));
}

#[test]
fn several_programs_share_the_ranks() {
    let said =
        run(&["-n", "2", "sh", "-c", "echo a $PMI_RANK", ":", "-np", "1", "sh", "-c", "echo b $PMI_RANK"]);
    assert_eq!(said.sorted(), ["a 0", "a 1", "b 2"]);
}

#[test]
fn the_environment_is_as_asked() {
    let mut command =
        mpiexec(&["-genv", "A", "1", "-env", "B", "2", "-x", "C=3", "sh", "-c", "echo $A $B $C $D $HOME"]);
    command.env("D", "4").env("HOME", "/h");
    assert_eq!(finish(command).out, "1 2 3 4 /h\n");
    let mut command = mpiexec(&["-genvlist", "D", "/bin/sh", "-c", "echo $D $HOME; echo ${PMI_RANK}"]);
    command.env("D", "4").env("HOME", "/h");
    assert_eq!(finish(command).out, "4\n0\n");
    assert_eq!(run(&["-genvnone", "-env", "X", "y", "/bin/sh", "-c", "echo $X $HOME"]).out, "y\n");
}

#[test]
fn variables_of_an_outer_job_do_not_reach_an_inner_one() {
    let mut command = mpiexec(&["sh", "-c", "echo $PMI_SIZE $PMI_ID $PMIX_RANK"]);
    command.env("PMI_SIZE", "9").env("PMI_ID", "8").env("PMIX_RANK", "7");
    assert_eq!(finish(command).out, "1\n");
    let inner = format!("{} -n 2 sh -c 'echo $PMI_RANK $PMI_SIZE'", env!("CARGO_BIN_EXE_mpiexec"));
    let said = run(&["-n", "2", "sh", "-c", &inner]);
    assert_eq!((said.sorted(), said.code), (vec!["0 2", "0 2", "1 2", "1 2"], 0));
}

#[test]
fn the_working_directory_is_entered() {
    assert_eq!(run(&["-wdir", "/dev", "pwd"]).out, "/dev\n");
    assert_eq!(run(&["--wd", "/bin", "./sh", "-c", "pwd -P >&2; echo $0"]).out, "./sh\n");
    let missing = run(&["-n", "2", "-wdir", "/no/such/place", "true"]);
    assert_eq!(missing.err, "mpiexec: the working directory \"/no/such/place\" does not exist\n");
    assert_eq!(missing.code, 1);
}

#[test]
fn standard_input_goes_to_rank_0() {
    let input: Vec<u8> = (0..10_000_000u32).map(|n| b'a' + (n % 25) as u8).collect();
    let said = run_with_input(&["-n", "3", "sh", "-c", "cat | cksum"], &input);
    let alone = Command::new("sh").args(["-c", "cksum < /dev/null"]).output().unwrap();
    let alone = String::from_utf8_lossy(&alone.stdout).trim().to_string();
    let lines = said.sorted();
    assert_eq!(lines.iter().filter(|line| **line == alone).count(), 2, "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with(" 10000000")), "{lines:?}");
}

#[test]
fn input_that_nobody_reads_blocks_nobody() {
    let input = vec![b'x'; 5_000_000];
    let said = run_with_input(&["-n", "2", "true"], &input);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(run_with_input(&["-n", "2", "sh", "-c", "exec <&-; exit 0"], &input).code, 0);
}

#[test]
fn input_that_no_rank_read_stays_for_the_next_program() {
    let script = format!("{} -n 2 true; cat", env!("CARGO_BIN_EXE_mpiexec"));
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"one\ntwo\n").unwrap();
    assert_eq!(said(child, Instant::now()).out, "one\ntwo\n");
}

#[test]
fn a_terminal_s_keys_reach_rank_0() {
    let script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    let mut child = Command::new("python3")
        .args([
            "-c",
            script,
            env!("CARGO_BIN_EXE_mpiexec"),
            "-n",
            "2",
            "sh",
            "-c",
            "read a; echo got $a from $PMI_RANK",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"hello\n").unwrap();
    let said = said(child, Instant::now());
    assert!(said.out.contains("got hello from 0"), "{said:?}");
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn lines_of_ranks_never_mix() {
    let script = "i=0; while [ $i -lt 400 ]; do \
                  printf 'r%s-' $PMI_RANK; printf '%0200d' $i; printf ' out%s\\n' $PMI_RANK; \
                  printf 'r%s-%0300d err%s\\n' $PMI_RANK $i $PMI_RANK >&2; i=$((i+1)); done";
    // Both streams into one pipe, which is where they could mix.
    let line =
        format!("exec {} -n 8 sh -c '{}' 2>&1", env!("CARGO_BIN_EXE_mpiexec"), script.replace('\'', "'\\''"));
    let mut command = Command::new("sh");
    command.args(["-c", &line]).stdin(Stdio::null()).stdout(Stdio::piped());
    let said = finish(command);
    let mut seen = std::collections::HashMap::new();
    for line in said.out.lines() {
        let (head, tail) = line.split_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        let (rank, number) = head[1..].split_once('-').unwrap();
        let (stream, digits) = if tail.starts_with("out") { ("out", 200) } else { ("err", 300) };
        assert_eq!(tail, format!("{stream}{rank}"), "{line:?}");
        assert_eq!(number.len(), digits, "{line:?}");
        let next = seen.entry((rank.to_string(), stream)).or_insert(0);
        assert_eq!(number.parse::<usize>().unwrap(), *next, "{line:?}");
        *next += 1;
    }
    assert_eq!(seen.len(), 16);
    assert!(seen.values().all(|&count| count == 400));
}

#[test]
fn labels_and_last_lines_without_an_end() {
    let said = run(&["-l", "-n", "2", "sh", "-c", "printf 'a\\nb'; echo c >&2"]);
    assert_eq!(said.sorted(), ["[0] a", "[0] b", "[1] a", "[1] b"]);
    assert!(said.err.contains("[0] c\n") && said.err.contains("[1] c\n"));
    assert_eq!(run(&["printf", "no end"]).out, "no end");
}

#[test]
fn a_slow_reader_loses_nothing() {
    let mut command = mpiexec(&["-n", "4", "sh", "-c", "seq -f line-%06.0f 200000"]);
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let mut out = child.stdout.take().unwrap();
    let mut bytes = Vec::new();
    let mut piece = vec![0; 50_000];
    while let length @ 1.. = out.read(&mut piece).unwrap() {
        if bytes.len() < 1_000_000 {
            std::thread::sleep(Duration::from_millis(5));
        }
        bytes.extend_from_slice(&piece[..length]);
    }
    assert_eq!(bytes.len(), 4 * 200_000 * 12);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.lines().all(|line| line.len() == 11));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_does_not_read_hides_no_death() {
    let script = "if [ $PMI_RANK = 0 ]; then sleep 0.3; kill -9 $$; else yes; fi";
    let mut child = mpiexec(&["-n", "2", "sh", "-c", script]).spawn().unwrap();
    let ranks = || marked("sleep 0.3; kill -9").len();
    assert!(wait_for(PATIENCE, || ranks() >= 2));
    assert!(wait_for(ENDED, || marked("if [ $PMI_RANK = 0 ]; then sleep 0.3").len() <= 1), "{:?}", ranks());
    // Only now somebody reads.
    let mut err = String::new();
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()).unwrap());
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(reader.join().unwrap() > 60_000);
    assert!(err.contains("rank 0") && err.contains("SIGKILL"), "{err}");
    assert_eq!(child.wait().unwrap().code(), Some(137));
}

#[test]
fn a_non_blocking_output_loses_nothing() {
    let (mut out, ours) = std::io::pipe().unwrap();
    fcntl(&ours, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let mut command = mpiexec(&["-n", "2", "seq", "300000"]);
    command.stdout(ours);
    let mut child = command.spawn().unwrap();
    drop(command);
    std::thread::sleep(Duration::from_millis(300));
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 600_000);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_socket_as_output_loses_nothing() {
    let (mut out, ours) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = mpiexec(&["-n", "2", "seq", "300000"]);
    command.stdout(std::os::fd::OwnedFd::from(ours));
    let mut child = command.spawn().unwrap();
    drop(command);
    std::thread::sleep(Duration::from_millis(300));
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 600_000);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn output_goes_to_files_and_a_full_one_is_reported() {
    let path = std::env::temp_dir().join(format!("mpiexec-test-{}", std::process::id()));
    let mut command = mpiexec(&["-n", "2", "seq", "1000"]);
    command.stdout(std::fs::File::create(&path).unwrap());
    assert_eq!(finish(command).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2000);
    std::fs::remove_file(&path).unwrap();
    // Also where it is the last thing that is written, when whoever is left behind has been waited for.
    for script in ["yes", "sleep 3 & printf done"] {
        let mut command = mpiexec(&["-n", "2", "sh", "-c", script]);
        command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
        let said = finish(command);
        assert_eq!(said.code, 1, "{script}: {}", said.err);
        assert!(said.sentences()[0].contains("No space left"), "{}", said.err);
    }
}

#[test]
fn a_reader_that_leaves_ends_the_job_quietly() {
    let mut child = mpiexec(&["-n", "2", "yes"]).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 2]).unwrap();
    drop(out);
    let said = said(child, Instant::now());
    assert_eq!((said.code, said.err.as_str()), (141, ""));
    assert!(said.took < ENDED);
}

#[test]
fn the_exit_code_is_that_of_the_first_failure() {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for (script, code, words) in [
        ("exit 3", 3, "exited with code 3"),
        ("kill -9 $$", 137, "killed by signal 9 (SIGKILL)"),
        ("kill -SEGV $$", 139, "killed by signal 11 (SIGSEGV)"),
        ("kill -TERM $$", 143, "killed by signal 15 (SIGTERM)"),
        ("kill -34 $$", 162, "killed by signal 34 (a real-time signal)"),
    ] {
        // The others ignore the request to end, and are killed.
        let script = format!("if [ $PMI_RANK = 2 ]; then {script}; fi; trap '' TERM; sleep 100; sleep 100");
        let said = run(&["-n", "4", "sh", "-c", &script]);
        assert_eq!(said.code, code, "{script}: {}", said.err);
        let [sentence] = said.sentences()[..] else { panic!("{}", said.err) };
        assert!(sentence.starts_with("mpiexec: rank 2 (process "), "{sentence}");
        assert!(sentence.contains(words) && sentence.contains(host.trim()), "{sentence}");
        assert!(sentence.ends_with("the other 3 ranks were ended"), "{sentence}");
        assert!(said.took < ENDED, "{:?}", said.took);
    }
}

#[test]
fn what_cannot_be_started_is_one_sentence() {
    let file = std::env::temp_dir().join(format!("mpiexec-itself-{}", std::process::id()));
    std::fs::write(&file, format!("-configfile {}\n", file.display())).unwrap();
    for (arguments, code, words) in [
        (&["-n", "2", "no-such-program"][..], 127, "\"no-such-program\""),
        (&["-n", "2", "/no/such/program"], 127, "\"/no/such/program\""),
        (&["-n", "2", "/dev/null"], 126, "not executable"),
        (&["-n", "2", "/tmp"], 126, "a directory"),
        (&["-n", "0", "true"], 1, "-n 0"),
        (&["-n", "many", "true"], 1, "not a number"),
        (&["-n", "2"], 1, "no program"),
        (&[], 1, "no program"),
        (&["-nonsense", "true"], 1, "-nonsense"),
        (&["-hosts", "elsewhere", "true"], 1, "elsewhere"),
        (&["-launcher", "fork", "-hosts", "a:0,b:0", "-n", "2", "true"], 1, "no host has a slot"),
        (&["-configfile", file.to_str().unwrap()], 1, "name each other"),
        (&["-wdir", "/dev/null", "true"], 1, "not a directory"),
        (&["-wdir", "/usr", "bin/no-such-program"], 127, "\"/usr/bin/no-such-program\""),
        (&["-n", "1", "true", ":", "-n", "1", "no-such-program"], 127, "no-such-program"),
    ] {
        let said = run(arguments);
        assert_eq!(said.code, code, "{arguments:?}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        assert!(said.err.starts_with("mpiexec: ") && said.err.contains(words), "{}", said.err);
        assert_eq!(said.out, "");
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_program_that_the_system_refuses_is_named() {
    let folder = std::env::temp_dir().join(format!("mpiexec-refused-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = |name: &str, text: &[u8]| {
        let path = folder.join(name);
        put_script(&path, text);
        path.to_str().unwrap().to_string()
    };
    let broken = program("broken", b"#!/no/such/interpreter\n");
    let said = run(&["-n", "3", &broken]);
    assert_eq!(said.code, 127, "{}", said.err);
    assert!(said.sentences()[0].contains("could not execute"), "{}", said.err);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    // A script without an interpreter line runs in the shell.
    let script = program("script", b"echo $1 $PMI_RANK\n");
    assert_eq!(run(&["-n", "2", &script, "x"]).sorted(), ["x 0", "x 1"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn signals_are_passed_on() {
    for (signal, name) in [(Signal::SIGINT, "INT"), (Signal::SIGTERM, "TERM"), (Signal::SIGUSR1, "USR1")] {
        let script = format!("trap 'echo caught; exit 0' {name}; echo ready; while :; do sleep 0.05; done");
        let mut child = mpiexec(&["-n", "2", "sh", "-c", &script]).spawn().unwrap();
        read_lines(child.stdout.as_mut().unwrap(), 2);
        send(&child, signal);
        let said = said(child, Instant::now());
        assert_eq!((said.sorted(), said.code), (vec!["caught", "caught"], 0), "{name}: {}", said.err);
    }
}

#[test]
fn a_signal_that_ends_the_ranks_is_the_exit_code() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        // The second one has been stopped, by a debugger say, and would never hear the signal.
        for script in ["echo ready; exec sleep 100", "echo ready; kill -STOP $$; exec sleep 100"] {
            let mut child = mpiexec(&["-n", "2", "sh", "-c", script]).spawn().unwrap();
            read_lines(child.stdout.as_mut().unwrap(), 2);
            send(&child, signal);
            let said = said(child, Instant::now());
            assert_eq!(said.code, code, "{script}: {}", said.err);
            assert!(said.sentences()[0].contains(signal.as_str()), "{}", said.err);
            assert!(said.took < ENDED);
        }
    }
}

#[test]
fn a_second_interrupt_kills() {
    let script = "trap '' INT TERM; echo ready; while :; do sleep 0.1; done";
    let mut child = mpiexec(&["-n", "2", "sh", "-c", script]).spawn().unwrap();
    read_lines(child.stdout.as_mut().unwrap(), 2);
    send(&child, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    let began = Instant::now();
    send(&child, Signal::SIGINT);
    let said = said(child, began);
    assert_eq!(said.code, 130, "{}", said.err);
    assert!(said.took < Duration::from_secs(2), "{:?}", said.took);
}

#[test]
fn a_killed_mpiexec_takes_everybody_along() {
    let marker = unique();
    // A shell around a program that ignores every polite signal, and a child of it in the background.
    let script = format!("trap '' TERM INT HUP; sleep {marker} & echo $$ $!; sleep {marker}; true");
    let mut child = mpiexec(&["-n", "4", "sh", "-c", &script]).spawn().unwrap();
    let lines = read_lines(child.stdout.as_mut().unwrap(), 4);
    let pids: Vec<i32> =
        lines.iter().flat_map(|line| line.split(' ')).map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 8);
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    send(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let gone = || !pids.iter().any(|&pid| is_alive(pid)) && marked(&marker).is_empty();
    assert!(wait_for(Duration::from_secs(2), gone), "{:?}", marked(&marker));
}

#[test]
fn nothing_is_left_behind() {
    let before = shared_files();
    let marker = unique();
    // Every rank leaves a child behind that holds its output open, and one that does not.
    let script = format!("sleep {marker} & sleep {marker} >/dev/null 2>&1 & echo $$ $!; [ $PMI_RANK != 1 ]");
    let said = run(&["-n", "3", "sh", "-c", &script]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.took < ENDED, "{:?}", said.took);
    for pid in said.out.split_whitespace() {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "process {pid} is left");
    }
    assert_eq!(marked(&marker), []);
    let new = || shared_files().into_iter().filter(|name| !before.contains(name)).collect::<Vec<_>>();
    assert!(wait_for(Duration::from_secs(2), || new().is_empty()), "{:?}", new());
}

fn shared_files() -> Vec<String> {
    let files = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    files
        .filter_map(|file| file.file_name().into_string().ok())
        .filter(|name| name.contains("posthaste"))
        .collect()
}

#[test]
fn a_child_in_the_background_does_not_hold_the_job() {
    let marker = unique();
    let script = format!("sleep {marker} & echo done");
    let said = run(&["-n", "2", "sh", "-c", &script]);
    assert_eq!((said.out.as_str(), said.code), ("done\ndone\n", 0));
    assert!(said.took < ENDED, "{:?}", said.took);
    assert_eq!(marked(&marker), []);
}

#[test]
fn a_rank_inherits_only_what_it_needs() {
    let alone =
        Command::new("sh").args(["-c", "exec ls /proc/self/fd"]).stdin(Stdio::null()).output().unwrap();
    let alone = String::from_utf8_lossy(&alone.stdout).lines().count();
    let said = run(&["-n", "3", "sh", "-c", "exec ls /proc/self/fd"]);
    // What any program gets here, the PMI connection, and the node segment.
    assert_eq!(said.out.lines().count(), 3 * (alone + 2), "{}", said.out);
}

#[test]
fn sixty_four_ranks_start_and_end() {
    let said = run(&["-n", "64", "sh", "-c", "echo $PMI_RANK"]);
    let mut ranks: Vec<usize> = said.out.lines().map(|line| line.parse().unwrap()).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, (0..64).collect::<Vec<_>>());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

#[test]
fn a_job_may_be_limited_in_time() {
    let said = run(&["-timeout", "0.5", "-n", "2", "sleep", "100"]);
    assert_eq!(said.code, 124);
    let [doing, late] = said.sentences()[..] else { panic!("{}", said.err) };
    assert_eq!(doing, "mpiexec: what the ranks are doing:");
    assert!(late.contains("longer than its 0.5 s"), "{}", said.err);
    assert!(said.err.contains("  rank 1 has not called MPI_Init of this library\n"), "{}", said.err);
    assert!(said.took >= Duration::from_millis(500) && said.took < ENDED, "{:?}", said.took);
}

#[test]
fn a_running_job_is_explained() {
    let mut child = mpiexec(&["-n", "2", "sh", "-c", "echo ready; exec sleep 100"]).spawn().unwrap();
    read_lines(child.stdout.as_mut().unwrap(), 2);
    let asked = run(&["-explain", &child.id().to_string()]);
    assert_eq!(asked.code, 0, "{}", asked.err);
    assert!(
        asked.out.starts_with("  rank 0 has not called MPI_Init of this library\n  rank 1 "),
        "{}",
        asked.out
    );
    send(&child, Signal::SIGUSR2);
    let mut text = read_lines(child.stderr.as_mut().unwrap(), 4).into_iter();
    assert_eq!(text.next().as_deref(), Some("mpiexec: what the ranks are doing:"));
    assert_eq!(text.next().as_deref(), Some("  rank 0 has not called MPI_Init of this library"));
    send(&child, Signal::SIGTERM);
    assert_eq!(said(child, Instant::now()).code, 143);
    for (pid, why) in [("4194304000", "no such process"), ("1x", "not a process id")] {
        let refused = run(&["-explain", pid]);
        assert_eq!((refused.code, refused.sentences().len()), (1, 1));
        assert!(refused.err.contains(why), "{}", refused.err);
    }
    let own = run(&["-explain", &std::process::id().to_string()]);
    assert!(own.err.contains("neither an mpiexec with a running job nor a rank"), "{}", own.err);
}

#[test]
fn ranks_are_bound_when_there_are_cpus_for_all() {
    let cpus = |options: &[&str]| {
        let script = "grep Cpus_allowed_list /proc/self/status";
        let arguments = [options, &["-n", "2", "sh", "-c", script]].concat();
        let said = run(&arguments);
        said.out.lines().map(|line| line.split('\t').nth(1).unwrap().to_string()).collect::<Vec<_>>()
    };
    let free = cpus(&["-bind-to", "none"]);
    assert_eq!(free[0], free[1]);
    if std::thread::available_parallelism().unwrap().get() >= 2 {
        let mut bound = cpus(&[]);
        bound.sort_unstable();
        bound.dedup();
        assert_eq!(bound.len(), 2, "{bound:?}");
        assert!(bound.iter().all(|list| list.parse::<usize>().is_ok()), "{bound:?}");
    }
    // More ranks than CPUs are not refused, and who asked for binding hears of it.
    let crowd = (std::thread::available_parallelism().unwrap().get() + 1).to_string();
    let said = run(&["--oversubscribe", "--allow-run-as-root", "-n", &crowd, "true"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let said = run(&["-bind-to", "core:overload-allowed", "-n", &crowd, "true"]);
    assert_eq!((said.code, said.err.contains("ranks are not bound")), (0, true), "{}", said.err);
}

#[test]
fn help_version_counters_and_warnings() {
    assert!(run(&["-help"]).out.contains("-genvlist"));
    assert!(run(&["--version"]).out.contains("posthaste"));
    let said = run(&["-counters", "--mca", "btl", "self", "true"]);
    assert!(said.err.starts_with("mpiexec: warning: -mca btl self has no effect here\n"), "{}", said.err);
    assert!(said.err.lines().skip(1).all(|line| line.starts_with("counter ") && line.ends_with(" 0")));
    assert!(said.err.lines().count() > 5);
}
