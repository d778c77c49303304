//! The tests of MPICH, from its published source: each program knows what is right and says " No Errors". Run as its
//! `testlist` files say, with our compilers and mpiexec; those in Fortran are in `fortran`.
//!
//! What must stay true: a test that is left out, or fails, stands in a list under `tests/programs` with the reason and is
//! counted; one that stands there and does not exist is an error, and so is one of Fortran that could run, so the list shrinks.
//! Tests that only set switches of MPICH are the same test once more and do not count.

pub(super) mod fortran;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use super::{Program, Site, Tier};
use crate::{
    process::Outcome,
    project::Fallible,
    tally::{Tally, show},
};

/// What of the archive all suites need.
const PARTS: &[&str] = &["*/test", "*/confdb", "*/maint"];

/// A build of those in C: these lines follow their configuration.
macro_rules! in_c {
    ($build:literal) => {
        concat!(
            "
        cd test/mpi
        ./configure --with-mpi=\"$(dirname \"$(dirname \"$(command -v mpicc)\")\")\" --with-pm=no \\
            --disable-fortran --disable-cxx --disable-romio CFLAGS='-O0 -w'
",
            $build
        )
    };
}

/// All of them.
pub(super) const PROGRAM: Program = Program {
    name: "mpich-tests",
    tier: Tier::Deep,
    source: "mpich",
    parts: PARTS,
    needs: &["make", "xz-utils", "perl"],
    build: in_c!(
        "
        make -s -C util
        make -s -C dtpools
        # Some programs can't be built, for instance with what MPI-3.0 removed; the list of tests left out has them.
        for folder in group attr info init topo errhan comm pt2pt datatype coll part rma \\
            threads/pt2pt threads/comm threads/coll threads/init threads/part threads/rma errors \\
            mpi_t spawn threads/spawn; do
            make -s -k -j$JOBS -C $folder || echo \"not all of $folder\"
        done
        # What is beyond MPI-5.0 stands in MPICH's own mpi.h.
        make -s -k -j$JOBS -C ft CFLAGS='-O0 -w -include mpi-ext.h' || echo 'not all of ft'"
    ),
    tests: SUITE.folders.len() + SPAWNED.folders.len() + ONE_SIDED.folders.len(),
    check: |site, tally| {
        SUITE.check(site, tally);
        SPAWNED.check(site, tally);
        ONE_SIDED.check(site, tally);
    },
};

/// Those of one-sided communication that take no more than seconds, each with the first of its arguments.
pub(super) const RMA: Program = Program {
    name: "mpich-rma",
    tier: Tier::Deep,
    source: "mpich",
    parts: PARTS,
    needs: &["make", "xz-utils", "perl"],
    build: in_c!(
        "
        for folder in util dtpools rma errors/rma threads/rma; do
            make -s -j$JOBS -C $folder
        done"
    ),
    tests: ONE_SIDED.folders.len(),
    check: |site, tally| {
        Suite { wanted: |test| !is_long(test), first_arguments: true, ..ONE_SIDED }.check(site, tally);
        show(&format!(
            "      those that take longer, and with all arguments: cargo xtask programs {}",
            PROGRAM.name
        ));
    },
};

/// Those that need what is implemented.
const SUITE: Suite = Suite {
    name: "MPICH's tests",
    folders: &[
        "group",
        "attr",
        "info",
        "init",
        "topo",
        "errhan",
        "comm",
        "pt2pt",
        "datatype",
        "coll",
        "part",
        "threads/pt2pt",
        "threads/comm",
        "threads/coll",
        "threads/init",
        "threads/part",
        "errors/attr",
        "errors/coll",
        "errors/comm",
        "errors/datatype",
        "errors/group",
        "errors/pt2pt",
        "errors/topo",
        "mpi_t",
        "ft",
    ],
    wanted: |_| true,
    first_arguments: false,
    list: "tests/programs/mpich-without.txt",
    options: &[],
    at_once: 1,
    try_all: false,
};

/// Those that start processes, which they do only where MPI_UNIVERSE_SIZE has room for them.
const SPAWNED: Suite =
    Suite { folders: &["spawn", "threads/spawn", "errors/spawn"], options: &["-usize", "64"], ..SUITE };

/// Those of one-sided communication, whose ranks mostly wait for each other.
const ONE_SIDED: Suite = Suite { folders: &["errors/rma", "threads/rma", "rma"], at_once: 2, ..SUITE };

/// Tests that are run in the same way.
struct Suite {
    /// What they are called.
    name: &'static str,
    /// Where they are, below `test/mpi`.
    folders: &'static [&'static str],
    /// Which of their lists are run.
    wanted: fn(&Test) -> bool,
    /// Of those each program once, as it is listed first.
    first_arguments: bool,
    /// Which are left out, and why.
    list: &'static str,
    /// Options of mpiexec.
    options: &'static [&'static str],
    /// How many run side by side.
    at_once: usize,
    /// What is left out is run, too, to see that it has to be.
    try_all: bool,
}

/// Programs of one-sided communication that take longer than five seconds, or with these arguments do.
const LONG: [(&str, &str); 13] = [
    ("rma_contig", "-iter=10000"),
    ("derived_acc_flush_local", ""),
    ("large_acc_flush_local", ""),
    ("win_shared_put_flush_load", ""),
    ("win_shared_cas_flush_load", ""),
    ("lock_contention_dt", "-testsize=1024"),
    ("lockall_dt_flush", "-testsize=1024"),
    ("lockall_dt_flushall", "-testsize=1024"),
    ("lockall_dt_flushlocal", "-testsize=1024"),
    ("lockall_dt_flushlocalall", "-testsize=1024"),
    ("lockall_dt", "-testsize=1024"),
    ("epochtest", "-testsize=1024"),
    ("mutex_bench_shm", ""),
];

/// Elements of a test's messages from which it takes long.
const MANY: u64 = 65_530;

/// A switch without which programs of MPICH do not survive a loss; ours always may.
const SURVIVES: &str = "MPIR_CVAR_ENABLE_FT";

fn is_long(test: &Test) -> bool {
    let count = test.arguments.iter().find_map(|argument| argument.strip_prefix("-count=")?.parse().ok());
    let named = |(program, argument): &(&str, &str)| {
        test.program == *program && (argument.is_empty() || test.arguments.iter().any(|own| own == argument))
    };
    count.is_some_and(|count: u64| count >= MANY) || LONG.iter().any(named)
}

/// A line of a testlist.
#[derive(Debug, PartialEq, Eq)]
struct Test {
    program: String,
    ranks: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    /// Of mpiexec.
    options: Vec<String>,
    /// In seconds.
    limit: u64,
    ending: Ending,
}

/// How a job has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It says " No Errors" and ends with 0.
    Well,
    /// Not with 0.
    Badly,
    /// Not with 0, because a rank has ended itself; another one says " No Errors".
    Survived,
}

impl Suite {
    fn check(&self, site: &Site, tally: &mut Tally) {
        let Self { name, folders, list, .. } = self;
        let without = match self.without(&site.root) {
            Ok(without) => without,
            Err(complaint) => {
                return tally.test(&format!("{name}: the list of those left out"), || Err(complaint));
            }
        };
        let mut used = BTreeSet::new();
        let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
        for folder in *folders {
            let start = Instant::now();
            let place = site.source.join("test/mpi").join(folder);
            let all = match testlist(&place, folder) {
                Ok(tests) => tests,
                Err(complaint) => {
                    tally.test(&format!("{name} of {folder}"), || Err(complaint));
                    continue;
                }
            };
            let mut tests: Vec<&Test> = all.iter().filter(|test| (self.wanted)(test)).collect();
            if self.first_arguments {
                let mut programs = BTreeSet::new();
                tests.retain(|test| programs.insert(&test.program));
            }
            if let Some(why) = without.get(*folder) {
                used.insert((*folder).to_owned());
                *left_out.entry(why).or_default() += tests.len();
                continue;
            }
            let listed = |test: &Test| {
                let name = format!("{folder}/{}", test.program);
                without.get(&name).map(|why| (name, why.as_str()))
            };
            used.extend(all.iter().filter_map(listed).map(|(name, _)| name));
            for (_, why) in tests.iter().filter_map(|test| listed(test)) {
                *left_out.entry(why).or_default() += 1;
            }
            let wanted: Vec<&Test> =
                tests.iter().copied().filter(|test| self.try_all || listed(test).is_none()).collect();
            let (mut passed, mut complaints) = (0, Vec::new());
            let ended = each(&wanted, self.at_once, |test| self.one(site, &place, test));
            for (test, ended) in wanted.iter().zip(ended) {
                match (ended, listed(test)) {
                    (Ok(()), None) => passed += 1,
                    (Ok(()), Some((name, _))) => {
                        complaints.push(format!("    {name} runs, but {list} leaves it out"))
                    }
                    (Err(complaint), None) => complaints.push(complaint),
                    (Err(_), Some(_)) => {}
                }
            }
            if passed + complaints.len() == 0 {
                continue;
            }
            let name = format!("{name} of {folder}");
            tally.counted(&name, passed, complaints.len(), start.elapsed(), &complaints.join("\n"));
        }
        for (why, count) in left_out {
            tally.not_run(count, format!("{name}: {why}"));
        }
        let unknown = without.keys().find(|name| self.has(name) && !used.contains(*name));
        if let Some(unknown) = unknown {
            tally.test(&format!("{list} names tests that there are"), || {
                Err(format!("    no test is called {unknown}"))
            });
        }
    }

    /// Whether this line of the list is about its folders: one list may be that of several suites.
    fn has(&self, name: &str) -> bool {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.folders.contains(&name) || self.folders.contains(&folder)
    }

    fn one(&self, site: &Site, folder: &Path, test: &Test) -> Fallible {
        let program = format!("./{}", test.program);
        let mut job = site.run("mpiexec", folder).args(["-bind-to", "none", "-timeout"]);
        job = job.arg(test.limit.to_string()).args(self.options).args(&test.options);
        job = job.args(["-n", &test.ranks, &program]);
        job = job.args(&test.arguments).limit(test.limit + 10);
        for (name, value) in &test.environment {
            job = job.env(name, value);
        }
        let outcome = job.run()?;
        if right(test, &outcome) { Ok(()) } else { Err(outcome.complaint()) }
    }

    /// `folder/program: reason`, or `folder: reason`, one in a line; `#` begins a comment.
    fn without(&self, root: &Path) -> Fallible<BTreeMap<String, String>> {
        let list = self.list;
        let text = fs::read_to_string(root.join(list)).map_err(|e| format!("can't read {list}: {e}"))?;
        let mut without = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (name, why) = line
                .split_once(": ")
                .ok_or_else(|| format!("{list}: `{line}` is not `folder/program: reason`"))?;
            without.insert(name.to_owned(), why.trim().to_owned());
        }
        Ok(without)
    }
}

/// Runs each, so many at once, and says how each ended.
fn each(tests: &[&Test], at_once: usize, run: impl Fn(&Test) -> Fallible + Sync) -> Vec<Fallible> {
    let next = AtomicUsize::new(0);
    // Each test is taken by the one thread that gets its number; what they did is known when they have ended.
    let take = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        tests.get(number).map(|test| (number, run(test)))
    };
    let mut ended: BTreeMap<usize, Fallible> = thread::scope(|scope| {
        let one = || scope.spawn(|| std::iter::from_fn(take).collect::<Vec<_>>());
        let threads: Vec<_> = (0..at_once).map(|_| one()).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let lost = || Err("    the thread that ran it panicked".to_owned());
    (0..tests.len()).map(|number| ended.remove(&number).unwrap_or_else(lost)).collect()
}

/// The tests of a folder, of one-sided communication those with datatypes, too. What was not configured has a list with marks
/// before names.
fn testlist(folder: &Path, name: &str) -> Fallible<Vec<Test>> {
    let read = |list: &Path| fs::read_to_string(list).map_err(|e| format!("{}: {e}", list.display()));
    let lists: [PathBuf; 2] = ["testlist", "testlist.in"].map(|name| folder.join(name));
    let mut text = read(lists.iter().find(|list| list.exists()).unwrap_or(&lists[0]))?;
    if name == "rma" {
        text += &read(&folder.join("testlist.dtp"))?;
    }
    Ok(parse(&text))
}

fn right(test: &Test, outcome: &Outcome) -> bool {
    const TIMED_OUT: i32 = 124;
    let fails = !outcome.timed_out && ![0, TIMED_OUT].contains(&outcome.code());
    let says_so = || outcome.stdout.lines().any(|line| line.trim().eq_ignore_ascii_case("No Errors"));
    match test.ending {
        Ending::Well => outcome.ok() && says_so(),
        Ending::Badly => fails,
        Ending::Survived => fails && says_so(),
    }
}

/// `program ranks key=value...`; other lines name folders. Each test once, without those that set MPICH's switches.
fn parse(text: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let (Some(program), Some(ranks)) = (words.next(), words.next()) else { continue };
        let mut test = Test {
            program: program.to_owned(),
            ranks: ranks.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            options: Vec::new(),
            limit: 180,
            ending: Ending::Well,
        };
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            match key {
                "arg" => test.arguments.push(value.to_owned()),
                "env" => {
                    if let Some((name, value)) = value.split_once('=').filter(|(name, _)| *name != SURVIVES) {
                        test.environment.push((name.to_owned(), value.to_owned()));
                    }
                }
                "timeLimit" => test.limit = value.parse().unwrap_or(180),
                "mpiexecarg" => test.options.push(value.to_owned()),
                "resultTest" if value == "TestStatusNoErrors" => test.ending = Ending::Survived,
                "resultTest" => test.ending = Ending::Badly,
                _ => {}
            }
        }
        let ours = !test.environment.iter().any(|(name, _)| name.starts_with("MPIR_"));
        if ours && ranks.parse::<usize>().is_ok() && !tests.contains(&test) {
            tests.push(test);
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_testlist_is_read() {
        let text = "# all\none 2\none 2 env=MPIR_CVAR_X=1\none 2\ntwo 4 arg=-a=1 timeLimit=600 env=A=b\n\
                    coll\nend 1 resultTest=TestStatus\n\
                    lost 3 env=MPIR_CVAR_ENABLE_FT=1 mpiexecarg=-disable-auto-cleanup resultTest=TestStatusNoErrors\n";
        let tests = parse(text);
        let names: Vec<&str> = tests.iter().map(|test| test.program.as_str()).collect();
        assert_eq!(names, ["one", "two", "end", "lost"]);
        assert_eq!(
            (tests[1].arguments[0].as_str(), tests[1].limit, tests[1].environment.len()),
            ("-a=1", 600, 1)
        );
        let endings: Vec<Ending> = tests.iter().map(|test| test.ending).collect();
        assert_eq!(endings, [Ending::Well, Ending::Well, Ending::Badly, Ending::Survived]);
        assert_eq!(
            (&tests[3].options[..], tests[3].environment.len()),
            (&["-disable-auto-cleanup".into()][..], 0)
        );
    }

    #[test]
    fn a_test_of_many_elements_is_long() {
        let tests = parse(
            "rma_contig 2 arg=-iter=10\nrma_contig 2 arg=-iter=10000\nput 2 arg=-count=17 arg=-testsize=1024\n\
             put 2 arg=-count=65530\nlarge_acc_flush_local 3\n",
        );
        let long: Vec<bool> = tests.iter().map(is_long).collect();
        assert_eq!(long, [false, true, false, true, true]);
    }

    #[test]
    fn each_test_runs_once_and_who_fails_is_named() {
        let tests = parse("one 1\ntwo 1\nthree 1\nfour 1\n");
        let tests: Vec<&Test> = tests.iter().collect();
        let fails = |test: &Test| if test.program.contains('o') { Err(test.program.clone()) } else { Ok(()) };
        let failed = |name: &str| Err(name.to_owned());
        for at_once in [1, 3] {
            assert_eq!(each(&tests, at_once, fails), [failed("one"), failed("two"), Ok(()), failed("four")]);
        }
    }

    #[test]
    fn what_is_left_out_is_of_a_folder_that_is_run() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for name in SUITE.without(&root).unwrap().keys() {
            assert!([SUITE, SPAWNED, ONE_SIDED].iter().any(|suite| suite.has(name)), "{name}");
        }
    }
}
