//! mpi4py's own tests, from its published source: programs that nobody here wrote.
//!
//! `tests/python/mpi4py-tests.txt` names the modules that need only what is implemented, with the numbers of
//! ranks and the tests to leave out. All other modules are run too, on one rank: they may fail, but must neither
//! crash nor hang. What must stay true: every test that ran is counted once for each number of ranks, and every test
//! that left itself out with every number of ranks is counted once, with its reason; of processes that come and go
//! such a test has failed, unless it is named here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant},
};

use crate::{
    mpi::Mpi,
    process::{Job, Outcome},
    project::{Fallible, Project, files, stem},
    python::Environment,
    tally::{Tally, show},
};

const LIST: &str = "tests/python/mpi4py-tests.txt";

/// What stands before the lines of rank 0.
const OF_RANK_0: &str = "[0] ";

/// The modules about processes that come and go: a test of theirs that leaves itself out has failed.
const NEVER_SKIPPED: [&str; 4] = ["test_dynproc", "test_session", "test_spawn", "test_ulfm"];

/// The tests of these modules that may leave themselves out, as their runs name them, and why. One that does not has to go from here.
const MAY_BE_SKIPPED: &[(&str, &str)] = &[];

/// The gate runs each module of another build of mpi4py once: with so many ranks, or the first of its numbers if that is none of them. What
/// depends on the number, our build has shown.
const OF_ANOTHER_BUILD: usize = 2;

/// A line of the list.
#[derive(Debug, PartialEq, Eq)]
struct Module {
    name: String,
    /// Empty: the module is not run, because it waits for what never comes.
    ranks: Vec<usize>,
    without: Vec<String>,
}

/// What one run of a module counted, as seen by rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) ran: usize,
    pub(crate) wrong: usize,
    pub(crate) skipped: usize,
}

/// With so many ranks the gate runs the modules of the list: with a pair, and with several in place of more.
const OF_GATE: [usize; 2] = [2, 3];

/// Runs the modules of the list, then all others; `is_deep`: with all numbers of ranks.
pub(crate) fn run(project: &Project, mpi: &Mpi, environment: &Environment, is_deep: bool, tally: &mut Tally) {
    let mut listed = match read_list(project) {
        Ok(listed) => listed,
        Err(complaint) => return tally.test("mpi4py: the list of its tests", || Err(complaint)),
    };
    if !is_deep {
        listed.iter_mut().for_each(|module| module.ranks = of_gate(&module.ranks));
        show("      with all numbers of ranks, in three minutes more: cargo xtask test --deep --only python");
    }
    let runner = Runner { mpi, environment };
    runner.each_number(&listed, "mpi4py's own tests", tally);
    runner.others(&listed, tally);
}

/// What of the list is left out with another build of mpi4py.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Without {
    pub(crate) module: &'static str,
    /// Of this module these tests, which are run with fewer kinds of numbers.
    pub(crate) of_kinds: (&'static str, &'static [&'static str]),
}

/// Runs the modules of the list once more, with another build of mpi4py, but for `without`; `is_deep`: with all numbers of ranks.
pub(crate) fn run_again(
    project: &Project,
    mpi: &Mpi,
    environment: &Environment,
    (name, without): (&str, Without),
    is_deep: bool,
    tally: &mut Tally,
) {
    let (module, tests) = without.of_kinds;
    let listed = read_list(project).and_then(|mut listed| {
        let known = |name: &&&str| listed.iter().any(|module| module.name == ***name);
        if let Some(unknown) = [without.module, module].iter().find(|name| !known(name)) {
            return Err(format!("{LIST} has no module {unknown} that could be left out"));
        }
        listed.retain(|module| module.name != without.module);
        for module in listed.iter_mut().filter(|_| !is_deep) {
            let usual = module.ranks.contains(&OF_ANOTHER_BUILD).then_some(OF_ANOTHER_BUILD);
            module.ranks = usual.or(module.ranks.first().copied()).into_iter().collect();
        }
        for listed in listed.iter_mut().filter(|listed| listed.name == module) {
            listed.without.extend(tests.iter().map(ToString::to_string));
        }
        Ok(listed)
    });
    let runner = Runner { mpi, environment };
    match listed {
        Ok(listed) => runner.each_number(&listed, name, tally),
        Err(complaint) => return tally.test(name, || Err(complaint)),
    }
    tally.test(&format!("{name}: tests of {module}, with fewer kinds of numbers"), || {
        runner.of_fewer_kinds(module, tests)
    });
}

/// The numbers of ranks of the gate.
fn of_gate(ranks: &[usize]) -> Vec<usize> {
    let [pair, several] = OF_GATE;
    let mut some = Vec::new();
    some.extend(ranks.contains(&pair).then_some(pair));
    some.extend(ranks.iter().any(|ranks| *ranks >= several).then_some(several));
    if some.is_empty() { ranks.iter().copied().take(1).collect() } else { some }
}

struct Runner<'a> {
    mpi: &'a Mpi,
    environment: &'a Environment,
}

impl Runner<'_> {
    fn job(&self, module: &str, ranks: usize) -> Job {
        let suite = self.environment.source.join("test");
        // Each line shows its rank, so that the lines of rank 0 can be counted. Several threads are a later chapter.
        let job = self.mpi.plain().args(["-l", "-bind-to", "none", "-n"]).arg(ranks.to_string());
        let job = job.arg(&self.environment.python).arg(suite.join("main.py"));
        job.args(["--no-builddir", "--no-threads", "-v", "-i", &format!("^{module}[.]py$")]).dir(&suite)
    }

    /// The modules of the list, with all their numbers of ranks.
    fn each_number(&self, listed: &[Module], name: &str, tally: &mut Tally) {
        let ranks: BTreeSet<usize> = listed.iter().flat_map(|module| module.ranks.iter().copied()).collect();
        let mut leavings = Leavings::default();
        for ranks in ranks {
            self.all_listed(listed, ranks, name, &mut leavings, tally);
        }
        let wrong = leavings.wrong(MAY_BE_SKIPPED);
        let of_jobs = format!("{name}: those of processes that come and go leave nothing out");
        tally.counted(
            &of_jobs,
            usize::from(wrong.is_empty()),
            wrong.len(),
            Duration::ZERO,
            &wrong.join("\n"),
        );
        for (reason, count) in leavings.reasons(MAY_BE_SKIPPED) {
            tally.not_run(count, format!("{name}: those that leave themselves out: {reason}"));
        }
    }

    /// The modules of the list that are run with so many ranks.
    fn all_listed(
        &self,
        listed: &[Module],
        ranks: usize,
        name: &str,
        leavings: &mut Leavings,
        tally: &mut Tally,
    ) {
        let start = Instant::now();
        let (mut passed, mut failed, mut complaints) = (0, 0, Vec::new());
        let wanted: Vec<&Module> = listed.iter().filter(|module| module.ranks.contains(&ranks)).collect();
        // To start Python and to load NumPy takes longer than the tests of a module. What is left out is so for all of a run.
        let is_simple =
            |module: &&Module| module.without.is_empty() && !NEVER_SKIPPED.contains(&&*module.name);
        let (together, apart): (Vec<&Module>, Vec<&Module>) =
            wanted.iter().partition(|module| is_simple(module));
        for some in [&together[..]].into_iter().chain(apart.chunks(1)).filter(|some| !some.is_empty()) {
            match self.listed(some, ranks) {
                Ok((counts, outcome)) => {
                    passed += counts.ran - counts.skipped;
                    leavings.read(&outcome, counts.skipped, some);
                }
                Err((counts, complaint)) => {
                    passed += counts.ran.saturating_sub(counts.wrong + counts.skipped);
                    failed += counts.wrong.max(1);
                    complaints.push(complaint);
                }
            }
        }
        let name = format!("{name}, {} modules with {ranks} ranks", wanted.len());
        tally.counted(&name, passed, failed, start.elapsed(), &complaints.join("\n"));
    }

    /// These modules in one run, without what each of them leaves out.
    fn listed(&self, modules: &[&Module], ranks: usize) -> Result<(Counts, Outcome), (Counts, String)> {
        let names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
        let mut job = self.job(&format!("({})", names.join("|")), ranks).limit(900);
        for pattern in modules.iter().flat_map(|module| &module.without) {
            job = job.args(["-x", pattern]);
        }
        let outcome = job.run().map_err(|complaint| (Counts::default(), complaint))?;
        let counts = Counts::read(&outcome, OF_RANK_0);
        // A module that is left out as a whole stands behind the name of a class.
        let seen = |name: &&str| {
            [format!("({name}."), format!(".{name})")].iter().any(|part| outcome.stderr.contains(part))
        };
        match names.iter().find(|name| !seen(name)) {
            None if outcome.ok() && counts.ran > 0 && counts.wrong == 0 => Ok((counts, outcome)),
            Some(absent) if outcome.ok() => Err((counts, format!("no test of {absent} was run"))),
            _ => Err((counts, complaint(&outcome))),
        }
    }

    /// These tests with the six kinds of numbers that mpi4py's own measurements of coverage take.
    fn of_fewer_kinds(&self, module: &str, tests: &[&str]) -> Fallible {
        let mut job = self.job(module, 1).env("COVERAGE_RUN", "true").limit(300);
        for test in tests {
            job = job.args(["-k", test]);
        }
        let outcome = job.run()?;
        let counts = Counts::read(&outcome, OF_RANK_0);
        if outcome.ok() && counts.ran == tests.len() { Ok(()) } else { Err(complaint(&outcome)) }
    }

    /// The modules that need more than what is implemented.
    fn others(&self, listed: &[Module], tally: &mut Tally) {
        let names =
            files(&self.environment.source.join("test"), "py").iter().map(|path| stem(path)).collect();
        let names: BTreeSet<String> = names;
        let known = |name: &String| listed.iter().any(|module| module.name == *name);
        let start = Instant::now();
        let (mut passed, mut complaints, mut complete, mut tests) = (0, Vec::new(), Vec::new(), 0);
        for name in names.iter().filter(|name| name.starts_with("test_") && !known(name)) {
            match self.job(name, 1).limit(60).run() {
                Ok(outcome)
                    if !outcome.timed_out
                        && outcome.code() < 2
                        && Counts::read(&outcome, OF_RANK_0).ran > 0 =>
                {
                    let counts = Counts::read(&outcome, OF_RANK_0);
                    passed += 1;
                    tests += counts.wrong;
                    if outcome.ok() && counts.ran > counts.skipped {
                        complete.push(name.as_str());
                    }
                }
                Ok(outcome) => complaints.push(complaint(&outcome)),
                Err(complaint) => complaints.push(complaint),
            }
        }
        let name = "mpi4py's other modules neither crash nor hang";
        tally.counted(name, passed, complaints.len(), start.elapsed(), &complaints.join("\n"));
        if !complete.is_empty() {
            show(&format!(
                "      these pass on 1 rank and could be listed in {LIST}: {}",
                complete.join(" ")
            ));
        }
        if tests > 0 {
            tally.not_run(
                tests,
                "mpi4py's own tests of functions that are not implemented (a module may count as one)",
            );
        }
        let never: Vec<&str> = listed
            .iter()
            .filter(|module| module.ranks.is_empty())
            .map(|module| module.name.as_str())
            .collect();
        if !never.is_empty() {
            let why = format!(
                "modules of mpi4py's tests that wait for what is not implemented: {}",
                never.join(" ")
            );
            tally.not_run(never.len(), why);
        }
    }
}

impl Counts {
    /// `Ran 5 tests in 0.1s` and `FAILED (failures=1, errors=2, skipped=3)`, in the lines that begin with `label`.
    pub(crate) fn read(outcome: &Outcome, label: &str) -> Self {
        let mut counts = Self::default();
        for line in outcome.stderr.lines().filter_map(|line| line.strip_prefix(label)) {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("Ran") => counts.ran = words.next().and_then(|word| word.parse().ok()).unwrap_or(0),
                Some("OK" | "FAILED") => {
                    for part in line.split(['(', ')', ',']) {
                        let Some((what, number)) = part.trim().split_once('=') else { continue };
                        let number: usize = number.parse().unwrap_or(0);
                        match what {
                            "failures" | "errors" => counts.wrong += number,
                            "skipped" => counts.skipped = number,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        counts
    }
}

/// Which tests left themselves out, over all runs.
#[derive(Debug, Default)]
struct Leavings {
    /// With the reason each gave last.
    skipped: BTreeMap<String, String>,
    ran: BTreeSet<String>,
    /// Counted by the summary of a run, but not seen: its line was mixed with other output.
    unseen: usize,
    /// The same, of modules of which none may be left out.
    wrong: Vec<String>,
}

impl Leavings {
    /// `test (place) ... ok` and `test (place) ... skipped 'reason'`, in the lines of rank 0; `count` were skipped.
    fn read(&mut self, outcome: &Outcome, count: usize, modules: &[&Module]) {
        let mut seen = 0;
        for line in outcome.stderr.lines().filter_map(|line| line.strip_prefix(OF_RANK_0)) {
            let Some((test, end)) = line.split_once(" ... ") else { continue };
            if let Some(reason) = end.strip_prefix("skipped ") {
                seen += 1;
                let reason = reason.trim_matches(['\'', '"']);
                self.skipped.insert(test.into(), reason.into());
            } else {
                self.ran.insert(test.into());
            }
        }
        let unseen = count.saturating_sub(seen);
        match modules.iter().find(|module| NEVER_SKIPPED.contains(&&*module.name)) {
            Some(module) if unseen > 0 => {
                self.wrong.push(format!("{unseen} tests of {} left themselves out unseen", module.name));
            }
            _ => self.unseen += unseen,
        }
    }

    /// The tests that no run has executed, and the reason each gave last.
    fn left_out(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.skipped.iter().map(|(test, reason)| (&**test, &**reason));
        all.filter(|(test, _)| !self.ran.contains(*test))
    }

    /// What is wrong with what has been left out: tests of [`NEVER_SKIPPED`] that are not `named`, and names of tests that were not
    /// left out.
    fn wrong(&self, named: &[(&str, &str)]) -> Vec<String> {
        let is_named = |test: &str| named.iter().any(|(name, _)| *name == test);
        let strange = self.left_out().filter(|(test, _)| must_run(test) && !is_named(test));
        let strange = strange.map(|(test, reason)| format!("{test} left itself out: {reason}"));
        let stale = named.iter().filter(|(name, _)| !self.left_out().any(|(test, _)| test == *name));
        let stale =
            stale.map(|(name, _)| format!("{name} is named as one that leaves itself out, and did not"));
        self.wrong.iter().cloned().chain(strange).chain(stale).collect()
    }

    /// How many tests no run has executed, for each reason; those that [`Leavings::wrong`] has are not among them.
    fn reasons(&self, named: &[(&str, &str)]) -> BTreeMap<String, usize> {
        let mut reasons = BTreeMap::new();
        for (test, reason) in self.left_out() {
            match named.iter().find(|(name, _)| *name == test) {
                Some((_, why)) => *reasons.entry((*why).to_owned()).or_insert(0) += 1,
                None if must_run(test) => {}
                None => *reasons.entry(explained(reason)).or_insert(0) += 1,
            }
        }
        if self.unseen > 0 {
            reasons.insert("why was not seen".into(), self.unseen);
        }
        reasons
    }
}

/// Whether this is a test of [`NEVER_SKIPPED`]: `test (module.Class.test)`, or a class as a whole.
fn must_run(test: &str) -> bool {
    test.split(['(', ')', '.', ' ']).any(|word| NEVER_SKIPPED.contains(&word))
}

/// mpi4py's word for a reason, with what it means.
fn explained(reason: &str) -> String {
    let meaning = match reason {
        "cupy" | "numba" => "arrays in the memory of a GPU",
        "numpy" => "NumPy is not there",
        "comm.size==1" => "they need several ranks and are called with MPI_COMM_SELF, too",
        "File" => "not implemented",
        "mpi-comm_revoke" => "functions beyond MPI-5.0",
        _ if reason.starts_with("mpi-world-size") => "a number of ranks with which its module is not run",
        _ => return reason.into(),
    };
    format!("{reason} ({meaning})")
}

/// The tests that went wrong and what they said, without the lines of those that passed.
pub(crate) fn complaint(outcome: &Outcome) -> String {
    let telling = |line: &&str| {
        !line.ends_with("... ok")
            && ["ERROR", "FAIL", "Error", "Exception", "mpiexec", "posthaste", "signal"]
                .iter()
                .any(|word| line.contains(word))
    };
    let all = outcome.all();
    let lines: Vec<&str> = all.lines().filter(telling).take(20).collect();
    if lines.is_empty() {
        return outcome.complaint();
    }
    format!("    `{}` {}\n    | {}", outcome.shown, outcome.end(), lines.join("\n    | "))
}

fn read_list(project: &Project) -> Fallible<Vec<Module>> {
    let path = project.root.join(LIST);
    let text = fs::read_to_string(&path).map_err(|e| format!("can't read {LIST}: {e}"))?;
    parse_list(&text)
}

/// `module ranks... [without PATTERN...]`, or `module never`; `#` begins a comment.
fn parse_list(text: &str) -> Fallible<Vec<Module>> {
    let mut modules = Vec::new();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(name) = words.next() else { continue };
        let mut module = Module { name: name.into(), ranks: Vec::new(), without: Vec::new() };
        for word in words.by_ref().take_while(|word| *word != "without") {
            match word.parse() {
                Ok(ranks) => module.ranks.push(ranks),
                Err(_) if word == "never" => {}
                Err(_) => {
                    return Err(format!("{LIST}: `{word}` is not a number of ranks in the line of {name}"));
                }
            }
        }
        module.without.extend(words.map(Into::into));
        modules.push(module);
    }
    Ok(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_takes_few_numbers_of_ranks_and_at_least_one() {
        let of = |ranks: &[usize]| of_gate(ranks);
        assert_eq!([of(&[]), of(&[1]), of(&[1, 2])], [vec![], vec![1], vec![2]]);
        assert_eq!([of(&[1, 2, 5]), of(&[2, 3, 5]), of(&[4])], [vec![2, 3], vec![2, 3], vec![3]]);
    }

    #[test]
    fn the_list_is_read() {
        let list =
            parse_list("# all\ntest_a 1 2 # why\n\ntest_b 1 without testX *Y*\ntest_c never\n").unwrap();
        assert_eq!((list.len(), &list[0].ranks[..], list[0].without.len()), (3, &[1, 2][..], 0));
        assert_eq!(list[1].without, ["testX", "*Y*"]);
        assert!(list[2].ranks.is_empty() && parse_list("test_a two").is_err());
    }

    #[test]
    fn tests_that_some_run_executes_are_not_left_out() {
        let run = |said: &str| Job::new("sh").args(["-c", &format!("printf '{said}' >&2")]).run().unwrap();
        let mut leavings = Leavings::default();
        let one = "[0] a (m.A.a) ... skipped \"numpy\"\n[0] b (m.A.b) ... skipped \"size<2\"\n[1] c (m.A.c) ... ok\n";
        leavings.read(&run(one), 3, &[]);
        leavings.read(&run("[0] a (m.A.a) ... skipped \"numpy\"\n[0] b (m.A.b) ... ok\n"), 1, &[]);
        let reasons: Vec<(String, usize)> = leavings.reasons(&[]).into_iter().collect();
        assert_eq!(
            reasons,
            [("numpy (NumPy is not there)".to_string(), 1), ("why was not seen".to_string(), 1)]
        );
    }

    #[test]
    fn what_may_not_be_left_out_is_wrong_unless_it_is_named_and_so_is_a_name_too_many() {
        let run = |said: &str| Job::new("sh").args(["-c", &format!("printf '{said}' >&2")]).run().unwrap();
        let module = parse_list("test_spawn 1 2").unwrap();
        let modules: Vec<&Module> = module.iter().collect();
        let mut leavings = Leavings::default();
        let one =
            "[0] a (test_spawn.A.a) ... skipped \"port\"\n[0] b (test_spawn.A.b) ... skipped \"size<2\"\n";
        leavings.read(&run(one), 2, &modules);
        leavings.read(&run("[0] b (test_spawn.A.b) ... ok\n"), 0, &modules);
        assert_eq!(leavings.wrong(&[]), ["a (test_spawn.A.a) left itself out: port"]);
        assert!(leavings.reasons(&[]).is_empty());
        let named = [("a (test_spawn.A.a)", "no port")];
        assert!(leavings.wrong(&named).is_empty());
        assert_eq!(leavings.reasons(&named).into_iter().collect::<Vec<_>>(), [("no port".to_owned(), 1)]);
        let named = [named[0], ("b (test_spawn.A.b)", "alone")];
        assert_eq!(
            leavings.wrong(&named),
            ["b (test_spawn.A.b) is named as one that leaves itself out, and did not"]
        );
        leavings.read(&run("[0] OK\n"), 1, &modules);
        assert_eq!(leavings.wrong(&named).len(), 2);
    }

    #[test]
    fn the_counts_of_rank_0_are_read() {
        let said = "[1] Ran 9 tests\n[0] Ran 7 tests in 0.1s\n[0] FAILED (failures=1, errors=2, skipped=3)\n";
        let outcome = Job::new("sh").args(["-c", &format!("printf '{said}' >&2")]).run().unwrap();
        assert_eq!(Counts::read(&outcome, OF_RANK_0), Counts { ran: 7, wrong: 3, skipped: 3 });
    }
}
