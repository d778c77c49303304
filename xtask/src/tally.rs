//! Counts of tests and the lines that show them. Every part of `cargo xtask test` reports here.
//! What must stay true: a test counts once; what could not be run is counted and explained, never hidden.

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use crate::project::Fallible;

/// The running count.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Tests that did what they should.
    pub(crate) passed: usize,
    /// Tests that did not.
    pub(crate) failed: usize,
    not_run: Vec<(usize, String)>,
    failures: Vec<String>,
}

impl Tally {
    /// Runs one test and shows how it went.
    pub(crate) fn test(&mut self, name: &str, body: impl FnOnce() -> Fallible) {
        let start = Instant::now();
        let result = body();
        self.record(name, result, start.elapsed());
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
            self.failures.push(name.into());
        }
    }

    /// Tests that can't run here, and why.
    pub(crate) fn not_run(&mut self, count: usize, reason: impl Into<String>) {
        let reason = reason.into();
        show(&format!("skip  {count} not run: {reason}"));
        self.not_run.push((count, reason));
    }

    /// The end: what failed, what was not run, and the line with the counts.
    pub(crate) fn finish(self) -> bool {
        for name in &self.failures {
            println!("failed: {name}");
        }
        let missing: usize = self.not_run.iter().map(|(count, _)| count).sum();
        if missing > 0 {
            println!("{missing} tests were not run:");
        }
        for (count, reason) in &self.not_run {
            println!("  {count:3}  {reason}");
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
                self.failures.push(name.into());
            }
        }
    }
}

fn show(line: &str) {
    println!("{line}");
    let _ = std::io::stdout().flush();
}
