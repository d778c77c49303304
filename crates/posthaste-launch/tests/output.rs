//! The real `mpiexec` with the options that say where output goes and where input comes from, on one host and on two, which
//! are this one with an agent each.

mod common;

use common::{Said, finish, mpiexec, put_program, run, run_with_input, unique};
use std::path::PathBuf;
use std::process::Command;

const ONE: &[&str] = &[];
const TWO: &[&str] = &["-launcher", "fork", "-hosts", "a,b"];

fn on(hosts: &[&str], rest: &[&str]) -> Said {
    run(&[hosts, rest].concat())
}

/// A folder of a test's own.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("mpiexec-output-{}", unique()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Name and content of each file, in order.
    fn files(&self) -> Vec<(String, String)> {
        let files = std::fs::read_dir(&self.0).unwrap().flatten();
        let read = |path: PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        };
        let mut files: Vec<_> = files.map(|entry| read(entry.path())).collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
}

const TALK: &str = "echo out $PMI_RANK; echo err $PMI_RANK >&2";

#[test]
fn each_rank_has_its_files() {
    for (hosts, of_1) in [(ONE, "1-0"), (TWO, "1-1")] {
        let folder = Folder::new();
        let (out, err) = (folder.path("o.%r-%p"), folder.path("e.%r"));
        let said =
            on(hosts, &["-outfile-pattern", &out, "-errfile-pattern", &err, "-n", "2", "sh", "-c", TALK]);
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""), "{said:?}");
        let name = format!("o.{of_1}");
        let expected =
            [("e.0", "err 0\n"), ("e.1", "err 1\n"), ("o.0-0", "out 0\n"), (name.as_str(), "out 1\n")];
        assert_eq!(folder.files(), pairs(&expected));
    }
}

#[test]
fn output_goes_to_numbered_files_and_to_the_screen() {
    for hosts in [ONE, TWO] {
        let folder = Folder::new();
        let file = folder.path("log");
        let said = on(hosts, &["--output-filename", &file, "-l", "-n", "2", "sh", "-c", TALK]);
        assert_eq!(said.sorted(), ["[0] out 0", "[1] out 1"]);
        let names: Vec<String> = folder.files().into_iter().map(|file| file.0).collect();
        assert_eq!(names, ["log.0", "log.1"]);
        for (rank, (_, text)) in folder.files().iter().enumerate() {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines, [format!("[{rank}] err {rank}"), format!("[{rank}] out {rank}")]);
        }
        let quiet = format!("{file}:nocopy");
        assert_eq!(on(hosts, &["--output-filename", &quiet, "-n", "2", "sh", "-c", TALK]).out, "");
    }
}

#[test]
fn lines_of_ranks_do_not_mix_in_one_file() {
    let folder = Folder::new();
    let file = folder.path("sub/all");
    let script =
        "for i in 1 2 3 4 5 6 7 8 9; do printf %s-%s $PMI_RANK $i; sleep 0.002; echo; done; printf end";
    let said = run(&["-outfile-pattern", &file, "-n", "4", "sh", "-c", script]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> =
        (0..4).flat_map(|rank| (1..10).map(move |i| format!("{rank}-{i}"))).collect();
    expected.extend(std::iter::repeat_n("end".to_string(), 4));
    assert_eq!(lines, expected);
}

#[test]
fn a_file_that_cannot_be_written_is_reported() {
    let said = run(&["-outfile-pattern", "/proc/no/such", "sh", "-c", "echo started >&2"]);
    assert_eq!((said.code, said.sentences().len()), (1, 1));
    assert!(said.err.contains("\"/proc/no/such\"") && !said.err.contains("started"), "{said:?}");
    let full = run(&["-outfile-pattern", "/dev/full", "-n", "2", "sh", "-c", "echo a; echo b; echo on >&2"]);
    assert_eq!((full.code, full.sentences().len()), (1, 1), "{full:?}");
    assert!(full.err.contains("was lost, as \"/dev/full\" cannot be written: No space left"), "{full:?}");
    assert_eq!(full.err.lines().filter(|line| *line == "on").count(), 2);
}

#[test]
fn lines_have_their_time() {
    for hosts in [ONE, TWO] {
        let said = on(hosts, &["--timestamp-output", "-l", "-n", "2", "echo", "x"]);
        let lines = said.sorted();
        assert_eq!(lines.len(), 2, "{said:?}");
        for line in lines {
            let (time, rest) = line.split_once(' ').unwrap();
            assert!(["[0] x", "[1] x"].contains(&rest), "{line}");
            assert!(time.len() == 24 && time.starts_with("20") && time.ends_with('Z'), "{line}");
        }
    }
}

#[test]
fn the_map_of_ranks_is_printed_first() {
    let said = on(TWO, &["-ppn", "2", "-print-rank-map", "-n", "3", "true"]);
    assert_eq!((said.out.as_str(), said.code), ("(a:0,1)\n(b:2)\n", 0));
    let here = run(&["--display-map", "-n", "2", "true"]).out;
    assert!(here.starts_with('(') && here.ends_with(":0,1)\n"), "{here}");
}

/// What each of four ranks reads, in order of ranks: how many bytes, and their sum.
fn read_by(hosts: &[&str], ranks: &str, input: &[u8]) -> Vec<String> {
    let script = "echo $PMI_RANK $(cksum)";
    let said = run_with_input(&[hosts, &["-s", ranks, "-n", "4", "sh", "-c", script]].concat(), input);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    said.sorted().iter().map(|line| line[2..].to_string()).collect()
}

#[test]
fn input_goes_to_the_ranks_that_are_named() {
    let input: Vec<u8> = (0..3_000_000u32).map(|n| b'a' + (n % 25) as u8).collect();
    for hosts in [ONE, TWO] {
        let all = read_by(hosts, "all", &input);
        assert!(all[0].ends_with(" 3000000") && all.iter().all(|sum| *sum == all[0]), "{all:?}");
        let empty = "4294967295 0".to_string();
        assert_eq!(read_by(hosts, "none", &input), vec![empty.clone(); 4]);
        let [whole, none] = [&all[0], &empty].map(String::clone);
        assert_eq!(read_by(hosts, "2", &input), [&none, &none, &whole, &none].map(String::clone));
        assert_eq!(read_by(hosts, "1,3", &input), [&none, &whole, &none, &whole].map(String::clone));
    }
}

#[test]
fn a_rank_that_does_not_read_does_not_stop_the_others_for_ever() {
    let input = vec![b'x'; 2_000_000];
    for hosts in [ONE, TWO] {
        // Rank 1 closes its input, rank 2 ends, rank 3 is slow.
        let script = "case $PMI_RANK in 1) exec <&-; sleep 0.3;; 2) ;; 3) sleep 0.5; wc -c;; *) wc -c;; esac";
        let said = run_with_input(&[hosts, &["--stdin=all", "-n", "4", "sh", "-c", script]].concat(), &input);
        assert_eq!((said.sorted(), said.code), (vec!["2000000", "2000000"], 0), "{said:?}");
    }
    let beyond = run(&["--stdin", "7", "-n", "4", "true"]);
    assert_eq!((beyond.code, beyond.sentences().len()), (1, 1));
    assert!(beyond.err.contains("rank 7, but the job has 4 ranks"), "{beyond:?}");
}

#[test]
fn ranks_keep_to_the_cpus_that_are_named() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    let first: String = allowed.chars().take_while(char::is_ascii_digit).collect();
    let script = "grep Cpus_allowed_list /proc/self/status | tr -d '\t'; echo $POSTHASTE_CPUS";
    for hosts in [ONE, TWO] {
        let said = on(hosts, &["--cpu-set", &first, "-n", "3", "sh", "-c", script]);
        let expected = format!("Cpus_allowed_list:{first}");
        let expected = [&["1"; 3][..], &[expected.as_str(); 3]].concat();
        assert_eq!((said.sorted(), said.err.as_str()), (expected, ""));
    }
    let none = run(&["--cpu-set", "1023", "true"]);
    assert_eq!((none.code, none.sentences().len()), (1, 1));
    assert!(none.err.contains("the CPUs [1023] only, but usable here are"), "{none:?}");
}

#[test]
fn programs_after_two_dashes_and_from_files() {
    assert_eq!(run(&["-n", "2", "--", "echo", "x"]).out, "x\nx\n");
    let folder = Folder::new();
    let file = folder.path("app");
    std::fs::write(&file, "# two\n-n 1 echo a\n-n 2 echo b\n").unwrap();
    assert_eq!(run(&["--app", &file]).sorted(), ["a", "b", "b"]);
}

/// An installation: our mpiexec in `bin`, and in `lib` a library whose one function gives `answer`.
fn installation(folder: &Folder, name: &str, answer: u32) -> (String, String) {
    let (bin, lib) = (folder.0.join(name).join("bin"), folder.0.join(name).join("lib"));
    std::fs::create_dir_all(&bin).unwrap();
    let mpiexec = bin.join("mpiexec").display().to_string();
    put_program(env!("CARGO_BIN_EXE_mpiexec"), &mpiexec);
    library(folder, &lib.display().to_string(), "libmpi_abi.so.1", answer);
    (mpiexec, lib.display().to_string())
}

fn library(folder: &Folder, lib: &str, name: &str, answer: u32) {
    std::fs::create_dir_all(lib).unwrap();
    let source = folder.path("library.c");
    std::fs::write(&source, format!("int answer(void) {{ return {answer}; }}\n")).unwrap();
    let soname = format!("-Wl,-soname,{name}");
    compile(&["-shared", "-fPIC", &soname, &source, "-o", &format!("{lib}/{name}")]);
}

/// A program that prints the answer of this library, which it does not know the folder of.
fn program(folder: &Folder, library: &str) -> String {
    let (source, program) = (folder.path("program.c"), folder.path(&format!("uses-{}", unique())));
    let text =
        "#include <stdio.h>\nint answer(void);\nint main(void) { printf(\"%d\\n\", answer()); return 0; }\n";
    std::fs::write(&source, text).unwrap();
    compile(&[&source, library, "-o", &program]);
    program
}

fn compile(arguments: &[&str]) {
    let said = Command::new("cc").args(arguments).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

/// As [`common::run`], with the mpiexec of an installation and this `LD_LIBRARY_PATH`.
fn installed(mpiexec_path: &str, path: Option<&str>, arguments: &[&str]) -> Said {
    let mut command = Command::new("env");
    command.args(["--unset=LD_LIBRARY_PATH"]).args(path.map(|path| format!("LD_LIBRARY_PATH={path}")));
    command.arg(mpiexec_path).args(arguments);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    finish(command)
}

#[test]
fn a_program_that_does_not_know_our_library_finds_it() {
    let folder = Folder::new();
    let (mpiexec, lib) = installation(&folder, "ours", 1);
    let (_, other) = installation(&folder, "other", 2);
    let program = program(&folder, &format!("{lib}/libmpi_abi.so.1"));
    for hosts in [ONE, TWO] {
        let ranks = |path: Option<&str>, options: &[&str]| {
            let said = installed(&mpiexec, path, &[hosts, options, &["-n", "2", &program]].concat());
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
            said.out
        };
        assert_eq!(ranks(None, &[]), "1\n1\n");
        assert_eq!(ranks(Some(""), &[]), "1\n1\n");
        assert_eq!(ranks(Some("/no/such"), &["-genvnone"]), "1\n1\n");
        // The user's choice is first, wherever it is made.
        assert_eq!(ranks(Some(&other), &[]), "2\n2\n");
        assert_eq!(ranks(None, &["-env", "LD_LIBRARY_PATH", &other]), "2\n2\n");
        assert_eq!(ranks(None, &["-genvnone", "-genv", "LD_LIBRARY_PATH", &other]), "2\n2\n");
    }
    // What mpiexec adds is its folder and nothing else.
    let show = ["sh", "-c", "echo $LD_LIBRARY_PATH"];
    assert_eq!(installed(&mpiexec, None, &show).out, format!("{lib}\n"));
    assert_eq!(installed(&mpiexec, Some("/a"), &show).out, format!("/a:{lib}\n"));
    std::fs::remove_file(format!("{lib}/libmpi_abi.so.1")).unwrap();
    assert_eq!(installed(&mpiexec, Some("/a"), &show).out, "/a\n");
}

#[test]
fn a_library_that_is_missing_is_named() {
    let folder = Folder::new();
    for (name, hint) in [
        ("libmpi_abi.so.1", "the library of the standard ABI"),
        ("libmpi.so.12", "MPICH or Intel MPI"),
        ("libmpi.so.40", "Open MPI"),
        ("libunknown.so.3", "LD_LIBRARY_PATH can name its folder"),
    ] {
        library(&folder, &folder.path("lib"), name, 1);
        let program = program(&folder, &format!("{}/{name}", folder.path("lib")));
        for hosts in [ONE, TWO] {
            let mut command = mpiexec(&[hosts, &["-n", "2", &program]].concat());
            command.env_remove("LD_LIBRARY_PATH");
            let said = finish(command);
            assert_eq!((said.code, said.sentences().len()), (127, 1), "{said:?}");
            let sentence = said.sentences()[0];
            let words = format!("exited with code 127: its loader did not find {name}");
            assert!(sentence.contains(&words) && sentence.contains(hint), "{sentence}");
        }
    }
    let shell = run(&["sh", "-c", "exit 127"]);
    assert!(shell.err.ends_with("exited with code 127\n"), "{shell:?}");
}
