//! The tests of MPICH, from its published source: each program knows what is right and says " No Errors". Run as its
//! `testlist` files say, with our mpicc and mpiexec.
//!
//! What must stay true: a test that is left out, or fails, stands in `tests/programs/mpich-without.txt` with the reason and is
//! counted; one that stands there and could run is an error, so the list shrinks. Tests that only set switches of MPICH
//! are the same test once more and do not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Instant,
};

use super::{Program, Site, Tier};
use crate::{process::Outcome, project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "mpich-tests",
    tier: Tier::Deep,
    source: "mpich",
    parts: &["*/test", "*/confdb", "*/maint"],
    needs: &["make", "xz-utils", "perl"],
    build: "
        cd test/mpi
        ./configure --with-mpi=\"$(dirname \"$(dirname \"$(command -v mpicc)\")\")\" --with-pm=no \\
            --disable-fortran --disable-cxx --disable-romio --disable-spawn --disable-rma CFLAGS='-O0 -w'
        make -s -C util
        make -s -C dtpools
        # Some programs can't be built, for instance with what MPI-3.0 removed; the list of tests left out has them.
        for folder in group attr info init topo errhan comm pt2pt datatype coll part \\
            threads/pt2pt threads/comm threads/coll threads/init threads/part errors; do
            make -s -k -j$JOBS -C $folder || echo \"not all of $folder\"
        done",
    tests: FOLDERS.len(),
    check,
};

/// Those that need what is implemented.
const FOLDERS: [&str; 22] = [
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
    "errors/group",
    "errors/pt2pt",
    "errors/topo",
];

const LIST: &str = "tests/programs/mpich-without.txt";

/// A line of a testlist.
#[derive(Debug, PartialEq, Eq)]
struct Test {
    program: String,
    ranks: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    /// In seconds.
    limit: u64,
    /// The job has to fail.
    fails: bool,
}

fn check(site: &Site, tally: &mut Tally) {
    let without = match without(&site.root) {
        Ok(without) => without,
        Err(complaint) => return tally.test("MPICH's tests: the list of those left out", || Err(complaint)),
    };
    let mut used = BTreeSet::new();
    let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in FOLDERS {
        let start = Instant::now();
        let (mut passed, mut complaints) = (0, Vec::new());
        let place = site.source.join("test/mpi").join(folder);
        let list = place.join("testlist");
        let text = match fs::read_to_string(&list) {
            Ok(text) => text,
            Err(e) => {
                tally.test(&format!("MPICH's tests of {folder}"), || Err(format!("{}: {e}", list.display())));
                continue;
            }
        };
        for test in parse(&text) {
            let name = format!("{folder}/{}", test.program);
            if let Some(why) = without.get(&name) {
                used.insert(name);
                *left_out.entry(why).or_default() += 1;
                continue;
            }
            match one(site, &place, &test) {
                Ok(()) => passed += 1,
                Err(complaint) => complaints.push(complaint),
            }
        }
        let name = format!("MPICH's tests of {folder}");
        tally.counted(&name, passed, complaints.len(), start.elapsed(), &complaints.join("\n"));
    }
    for (why, count) in left_out {
        tally.not_run(count, format!("MPICH's tests: {why}"));
    }
    if let Some(unknown) = without.keys().find(|name| !used.contains(*name)) {
        tally.test(&format!("{LIST} names tests that there are"), || {
            Err(format!("    no test is called {unknown}"))
        });
    }
}

fn one(site: &Site, folder: &Path, test: &Test) -> Fallible {
    let program = format!("./{}", test.program);
    let mut job =
        site.run("mpiexec", folder).args(["-bind-to", "none", "-timeout"]).arg(test.limit.to_string());
    job = job.args(["-n", &test.ranks, &program]).args(&test.arguments).limit(test.limit + 10);
    for (name, value) in &test.environment {
        job = job.env(name, value);
    }
    let outcome = job.run()?;
    if right(test, &outcome) { Ok(()) } else { Err(outcome.complaint()) }
}

fn right(test: &Test, outcome: &Outcome) -> bool {
    const TIMED_OUT: i32 = 124;
    if test.fails {
        !outcome.timed_out && ![0, TIMED_OUT].contains(&outcome.code())
    } else {
        outcome.ok() && outcome.stdout.lines().any(|line| line.trim().eq_ignore_ascii_case("No Errors"))
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
            limit: 180,
            fails: false,
        };
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            match key {
                "arg" => test.arguments.push(value.to_owned()),
                "env" => {
                    if let Some((name, value)) = value.split_once('=') {
                        test.environment.push((name.to_owned(), value.to_owned()));
                    }
                }
                "timeLimit" => test.limit = value.parse().unwrap_or(180),
                "resultTest" => test.fails = true,
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

/// `folder/program: reason`, one in a line; `#` begins a comment.
fn without(root: &Path) -> Fallible<BTreeMap<String, String>> {
    let text = fs::read_to_string(root.join(LIST)).map_err(|e| format!("can't read {LIST}: {e}"))?;
    let mut without = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (name, why) = line
            .split_once(": ")
            .ok_or_else(|| format!("{LIST}: `{line}` is not `folder/program: reason`"))?;
        without.insert(name.to_owned(), why.trim().to_owned());
    }
    Ok(without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_testlist_is_read() {
        let text = "# all\none 2\none 2 env=MPIR_CVAR_X=1\none 2\ntwo 4 arg=-a=1 timeLimit=600 env=A=b\n\
                    coll\nend 1 resultTest=TestStatus\n";
        let tests = parse(text);
        let names: Vec<&str> = tests.iter().map(|test| test.program.as_str()).collect();
        assert_eq!(names, ["one", "two", "end"]);
        assert_eq!(
            (tests[1].arguments[0].as_str(), tests[1].limit, tests[1].environment.len()),
            ("-a=1", 600, 1)
        );
        assert!(tests[2].fails && !tests[0].fails);
    }
}
