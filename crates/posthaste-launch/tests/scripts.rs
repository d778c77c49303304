//! The real `mpiexec`, called as run scripts call it: what an option of another launcher means is what happens.

mod common;

use common::{Said, finish, mpiexec, run, unique};
use posthaste_pmi::spawn::Part;
use std::collections::HashSet;
use std::fs;

/// Where a rank runs.
const WHERE: &str = "echo $PMI_RANK: $MPI_LOCALRANKID of $MPI_LOCALNRANKS";

/// Runs a shell's `script` on each rank, with options as a line.
fn script(options: &str, script: &str) -> Said {
    let words: Vec<&str> = options.split_whitespace().chain(["sh", "-c", script]).collect();
    let said = run(&words);
    assert_eq!(said.code, 0, "{options}: {}", said.err);
    said
}

#[test]
fn ranks_are_where_each_launcher_would_put_them() {
    let file = std::env::temp_dir().join(format!("mpiexec-scripts-{}", unique()));
    fs::write(&file, "a slots=2 max_slots=4\nb:2\n").unwrap();
    let shown = file.display();
    let in_blocks = ["0: 0 of 2", "1: 1 of 2", "2: 0 of 2", "3: 1 of 2"];
    let in_turn = ["0: 0 of 2", "1: 0 of 2", "2: 1 of 2", "3: 1 of 2"];
    let one_each = ["0: 0 of 1", "1: 0 of 1"];
    for (options, expected) in [
        ("--host a:2,b:2 -np 4".to_owned(), &in_blocks[..]),
        ("-hosts a,b -ppn 2".into(), &in_blocks),
        ("-hosts a,b -perhost 2 -n 4".into(), &in_blocks),
        ("-H a,b -N 2 --oversubscribe --allow-run-as-root".into(), &in_blocks),
        ("--host a:2,b:2 --map-by ppr:2:node".into(), &in_blocks),
        (format!("-hostfile {shown} -n 4 --use-hwthread-cpus"), &in_blocks),
        (format!("-f {shown} -n 4 -disable-auto-cleanup"), &in_blocks),
        (format!("-machinefile {shown} -rr -n 4"), &in_turn),
        ("--host a:2,b:2 --map-by node -n 4".into(), &in_turn),
        ("-hosts a,b --pernode".into(), &one_each),
        ("-hosts-group n[1-2] -ppn 1".into(), &one_each),
        ("-hosts localhost,a,b -nolocal -ppn 1".into(), &one_each),
    ] {
        let said = script(&format!("-launcher fork {options}"), WHERE);
        assert_eq!(said.sorted(), expected, "{options}");
    }
    fs::remove_file(file).unwrap();
}

/// As PBS and LSF name them: a line for each slot.
#[test]
fn hosts_are_those_that_a_batch_system_names() {
    let file = std::env::temp_dir().join(format!("mpiexec-batch-{}", unique()));
    fs::write(&file, "a\na\nb\nb\n").unwrap();
    for variable in ["PBS_NODEFILE", "LSB_DJOB_HOSTFILE"] {
        let mut command = mpiexec(&["-launcher", "fork", "-n", "4", "sh", "-c", WHERE]);
        command.env(variable, &file);
        let said = finish(command);
        assert_eq!(said.code, 0, "{variable}: {}", said.err);
        assert_eq!(said.sorted(), ["0: 0 of 2", "1: 1 of 2", "2: 0 of 2", "3: 1 of 2"], "{variable}");
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn a_job_ends_when_the_time_of_the_variable_is_over() {
    let mut command = mpiexec(&["-n", "1", "sleep", "50"]);
    command.env("MPIEXEC_TIMEOUT", "1");
    let said = finish(command);
    assert_eq!(said.code, 124, "{}", said.err);
}

#[test]
fn ranks_get_the_variables_that_each_launcher_would_give() {
    for (options, expected) in [
        ("-genv A 1", "1 b"),
        ("-x A=1", "1 b"),
        ("--set-env A=1", "1 b"),
        ("-env A 2", "2 b"),
        ("-genvlist PATH", " "),
        ("-env A 1 -genvnone", "1 "),
        ("-genvexcl BEEHIVE,C -env A 1", "1 "),
        ("-genv A 2 -envexcl BEEHIVE", "2 "),
        ("-genvnone -x BEE*", " b"),
        ("--unset-env BEE* -x A=3", "3 "),
    ] {
        let words: Vec<&str> = options.split_whitespace().chain(["-n", "2", "/bin/sh", "-c"]).collect();
        let mut command = mpiexec(&[&words[..], &["echo \"$A $BEEHIVE\""]].concat());
        command.env("BEEHIVE", "b").env_remove("A");
        let said = finish(command);
        assert_eq!((said.out, said.code), (format!("{expected}\n{expected}\n"), 0), "{options}");
    }
}

#[test]
fn ranks_have_the_umask_that_is_asked_for_on_this_host_and_others() {
    for hosts in ["", "-launcher fork -hosts a,b"] {
        let said = script(&format!("{hosts} -umask 0137 -n 2"), "umask");
        assert_eq!(said.sorted(), ["0137", "0137"], "{hosts}");
    }
}

#[test]
fn output_is_marked_as_each_launcher_would_mark_it() {
    for (options, expected) in [
        ("--tag-output", ["[0] x", "[1] x"]),
        ("-prepend-rank", ["[0] x", "[1] x"]),
        ("--output tag", ["[0] x", "[1] x"]),
        ("-launcher fork -hosts a,b -prepend-pattern %h/%r:%%", ["a/0:%x", "b/1:%x"]),
    ] {
        assert_eq!(script(&format!("{options} -n 2"), "echo x").sorted(), expected, "{options}");
    }
}

#[test]
fn exit_codes_are_printed_and_nothing_is_started_that_is_only_shown() {
    let said = run(&["-print-all-exitcodes", "-n", "1", "sh", "-c", "exit 3"]);
    assert!(said.err.contains("exit codes: 3\n"), "{}", said.err);
    let said = run(&["-print-all-exitcodes", "-n", "2", "true"]);
    assert!(said.err.contains("exit codes: 0,0\n"), "{}", said.err);
    let said = script("--do-not-launch --display-map -hosts a:1,b:2 -n 3", "echo x");
    assert_eq!(said.out, "(a:0)\n(b:1,2)\n");
}

/// The CPUs in `/proc/self/status` of each rank, in their order.
fn cpus(options: &str) -> Vec<Vec<usize>> {
    let said = script(options, "echo $PMI_RANK $(grep Cpus_allowed_list /proc/self/status | cut -f 2)");
    said.sorted().iter().map(|line| posthaste_os::machine::cpu_list(&line[2..]).unwrap()).collect()
}

#[test]
fn ranks_are_bound_as_each_launcher_would_bind_them() {
    let usable = posthaste_os::machine::affinity();
    let one = usable[usable.len() - 1];
    assert_eq!(cpus("-n 2 --bind-to none"), [usable.clone(), usable.clone()]);
    assert_eq!(cpus(&format!("-n 1 --bind-to core --cpu-set {one}")), [[one]]);
    assert_eq!(cpus(&format!("-n 1 --bind-to socket --cpu-list {one}")), [[one]]);
    assert_eq!(cpus(&format!("-n 1 --map-by pe-list={one}")), [[one]]);
    // As many ranks as this machine has parts of a kind, each on CPUs of its own.
    for (part, word) in [(Part::Package, "socket"), (Part::NumaNode, "numa"), (Part::Core, "core")] {
        let Some(count) = part.count(&[]) else { continue };
        let found = cpus(&format!("--map-by ppr:1:{word}"));
        let all: HashSet<usize> = found.iter().flatten().copied().collect();
        assert_eq!((found.len(), all.len()), (count, usable.len()), "{word}: {found:?}");
        assert_eq!(cpus(&format!("--map-by ppr:1:{word}:PE=1 --cpu-set {one}")), [[one]], "{word}");
        if word == "socket" {
            assert_eq!(cpus("-npersocket 1"), found);
        }
    }
    let [socket] = &cpus("-n 1 -bind-to socket --map-by socket:PE=1")[..] else { panic!() };
    assert!(socket.contains(&usable[0]) && socket.iter().all(|cpu| usable.contains(cpu)), "{socket:?}");
    if usable.len() < 2 {
        println!("omitted: binding to several CPUs, on a machine with one");
        return;
    }
    assert_eq!(cpus("-n 2 --bind-to core"), [[usable[0]], [usable[1]]]);
    for two in ["-bind-to core:2", "--map-by slot:PE=2 --bind-to core", "--cpus-per-proc 2 --bind-to-core"] {
        assert_eq!(cpus(&format!("-n 1 {two}")), [[usable[0], usable[1]]], "{two}");
    }
    // A rank with threads has as many CPUs.
    let mut threads =
        mpiexec(&["-n", "1", "--bind-to", "core", "grep", "Cpus_allowed_list", "/proc/self/status"]);
    threads.env("OMP_NUM_THREADS", "2");
    let said = finish(threads);
    let list = said.out.split_whitespace().last().unwrap();
    assert_eq!(posthaste_os::machine::cpu_list(list).unwrap(), [usable[0], usable[1]]);
}
