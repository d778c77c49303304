//! Counts of tests and the lines that show them. Every part of `cargo xtask test` reports here.
//! What must stay true: a test counts once; what could not be run is counted and explained, never hidden.

use std::{
    cell::RefCell,
    io::Write as _,
    thread,
    time::{Duration, Instant},
};

use crate::project::Fallible;

/// Lines of a complaint that are shown once more at the end.
const LINES_OF_A_FAILURE: usize = 12;

/// The running count.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Tests that did what they should.
    pub(crate) passed: usize,
    /// Tests that did not.
    pub(crate) failed: usize,
    not_run: Vec<(usize, String)>,
    /// What failed, and why.
    failures: Vec<(String, String)>,
    times: Vec<(String, Duration)>,
}

impl Tally {
    /// Runs one test and shows how it went.
    pub(crate) fn test(&mut self, name: &str, body: impl FnOnce() -> Fallible) {
        let start = Instant::now();
        let result = body();
        self.record(name, result, start.elapsed());
    }

    /// Runs a test for each case, so many at once, and shows them in their order: for tests that mostly wait.
    pub(crate) fn test_together<T: Sync>(
        &mut self,
        at_once: usize,
        cases: &[T],
        name: impl Fn(&T) -> String,
        body: impl Fn(&T) -> Fallible + Sync,
    ) {
        let timed = |case: &T| {
            let start = Instant::now();
            (body(case), start.elapsed())
        };
        for some in cases.chunks(at_once) {
            let ended: Vec<_> = thread::scope(|scope| {
                let started: Vec<_> = some.iter().map(|case| scope.spawn(|| timed(case))).collect();
                started.into_iter().map(thread::ScopedJoinHandle::join).collect()
            });
            for (case, ended) in some.iter().zip(ended) {
                let (result, took) = ended
                    .unwrap_or_else(|_| (Err("the test program itself panicked".into()), Duration::ZERO));
                self.record(&name(case), result, took);
            }
        }
    }

    /// Several tests of one kind that a program ran: how many passed and failed.
    pub(crate) fn counted(
        &mut self,
        name: &str,
        passed: usize,
        failed: usize,
        took: Duration,
        complaint: &str,
    ) {
        self.passed += passed;
        self.failed += failed;
        if failed == 0 {
            show(&format!("ok    {name}: {passed} passed ({:.1} s)", took.as_secs_f64()));
        } else {
            show(&format!("FAIL  {name}: {passed} passed, {failed} failed\n{complaint}"));
            self.failures.push((name.into(), complaint.into()));
        }
    }

    /// Tests that can't run here, and why.
    pub(crate) fn not_run(&mut self, count: usize, reason: impl Into<String>) {
        let reason = reason.into();
        show(&format!("skip  {count} not run: {reason}"));
        self.not_run.push((count, reason));
    }

    /// Adds what another one has counted.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.not_run.extend(other.not_run);
        self.failures.extend(other.failures);
        self.times.extend(other.times);
    }

    /// Whether a test of this name has failed.
    pub(crate) fn has_failed(&self, name: &str) -> bool {
        self.failures.iter().any(|(failed, _)| failed == name)
    }

    /// A part of the tests took so long.
    pub(crate) fn took(&mut self, part: &str, time: Duration) {
        self.times.push((part.into(), time));
    }

    /// How long the parts took.
    pub(crate) fn times(&self) -> &[(String, Duration)] {
        &self.times
    }

    /// The end: what was not run, what failed and how that began, and the line with the counts.
    pub(crate) fn finish(self) -> bool {
        let missing: usize = self.not_run.iter().map(|(count, _)| count).sum();
        if missing > 0 {
            println!("{missing} tests were not run:");
        }
        for (count, reason) in &self.not_run {
            println!("  {count:3}  {reason}");
        }
        for (name, complaint) in &self.failures {
            println!("failed: {name}");
            complaint.lines().take(LINES_OF_A_FAILURE).for_each(|line| println!("    {line}"));
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }

    fn record(&mut self, name: &str, result: Fallible, took: Duration) {
        match result {
            Ok(()) => {
                self.passed += 1;
                show(&format!("ok    {name} ({:.1} s)", took.as_secs_f64()));
            }
            Err(complaint) => {
                self.failed += 1;
                show(&format!("FAIL  {name}\n{complaint}"));
                self.failures.push((name.into(), complaint));
            }
        }
    }
}

thread_local! {
    /// Lines of this thread that are shown later, if so.
    static LATER: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Shows a line; every part of the tests does it like this, so that what runs side by side is shown apart.
pub(crate) fn show(line: &str) {
    let kept = LATER.with_borrow_mut(|later| later.as_mut().map(|lines| lines.push(line.into())).is_some());
    if !kept {
        println!("{line}");
        let _ = std::io::stdout().flush();
    }
}

/// What `body` shows, instead of showing it. It must not show anything from other threads.
pub(crate) fn collected(body: impl FnOnce()) -> Vec<String> {
    LATER.set(Some(Vec::new()));
    body();
    LATER.take().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn what_runs_side_by_side_adds_up() {
        let (mut sum, mut other) = (Tally::default(), Tally::default());
        let lines = collected(|| {
            other.test("good", || Ok(()));
            other.test("bad", || Err("why".into()));
            other.not_run(3, "no such thing");
        });
        assert!(lines[0].starts_with("ok    good") && lines[1] == "FAIL  bad\nwhy" && lines.len() == 3);
        sum.test("first", || Ok(()));
        sum.absorb(other);
        let both = Barrier::new(2);
        let lines = collected(|| {
            sum.test_together(
                2,
                &["third", "fourth", "bad too"],
                |name| (*name).into(),
                |name| match *name {
                    "bad too" => Err("why".into()),
                    _ => {
                        both.wait();
                        Ok(())
                    }
                },
            );
        });
        assert!(
            lines[0].starts_with("ok    third") && lines[1].starts_with("ok    fourth") && lines.len() == 3
        );
        assert_eq!((sum.passed, sum.failed), (4, 2));
        assert!(sum.has_failed("bad") && !sum.has_failed("good"));
    }
}
