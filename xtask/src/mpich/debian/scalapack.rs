//! ScaLAPACK, in Fortran and C, with its own tests: of BLACS, which passes its messages, of PBLAS, and of each routine.

use std::fs;

use super::program;
use crate::{
    mpi::Mpi,
    project::{Fallible, Project, files},
    tally::{Tally, show},
    unpacked::Unpacked,
};

/// Own tests of a kind.
struct Kind {
    folder: &'static str,
    /// A `?` stands for a letter.
    name: &'static str,
    /// The kinds of numbers that it is there for.
    letters: &'static str,
    /// What comes at its end.
    end: &'static str,
    /// Not if it takes ten seconds and more.
    in_gate: bool,
    /// How often it may run until all its residuals are small enough.
    runs: u32,
}

const fn kind(folder: &'static str, name: &'static str, letters: &'static str, end: &'static str) -> Kind {
    Kind { folder, name, letters, end, in_gate: true, runs: 1 }
}

/// A routine of whatever numbers.
const fn all(name: &'static str) -> Kind {
    kind(".", name, "sdcz", "END OF TESTS.")
}

/// Those of BLACS, by its interfaces in Fortran and C, end with an abort behind this.
const BLACS: &str = "PASSED  BLACS_SET/BLACS_GET TESTS";

/// A test of clustered eigenvalues. How far the eigenvectors are from orthogonal depends on the last bits, and those on the order of
/// arrival; in some matrix of a thousand it is more than the test allows, over any MPI (docs/programs.md).
const fn clustered(name: &'static str) -> Kind {
    Kind { in_gate: false, runs: 3, ..all(name) }
}

const KINDS: [Kind; 26] = [
    kind("BLACS", "x?btest", "F", BLACS),
    Kind { in_gate: false, ..kind("BLACS", "x?btest", "C", BLACS) },
    kind("PBLAS", "?pb1tst", "sdcz", "End of Tests."),
    kind("PBLAS", "?pb2tst", "sdcz", "End of Tests."),
    kind("PBLAS", "?pb3tst", "sdcz", "End of Tests."),
    all("x?lu"),
    all("x?dblu"),
    all("x?dtlu"),
    all("x?gblu"),
    all("x?llt"),
    all("x?pbllt"),
    all("x?ptllt"),
    all("x?inv"),
    all("x?qr"),
    all("x?ls"),
    all("x?brd"),
    all("x?hrd"),
    all("x?trd"),
    all("x?nep"),
    clustered("x?sep"),
    clustered("x?gsep"),
    kind(".", "x?svd", "sd", "End of tests"),
    kind(".", "x?hseqr", "sd", "PASSED"),
    kind(".", "x?evc", "cz", "END OF TESTS."),
    Kind { in_gate: false, ..kind(".", "x?syevr", "sd", "END OF TESTS.") },
    Kind { in_gate: false, ..kind(".", "x?heevr", "cz", "END OF TESTS.") },
];

/// Of five kinds of numbers in BLACS two are enough here.
const FEWER: [(&str, &str); 2] = [
    ("5                               Number of precisions", "2 Number of precisions"),
    ("'I' 'S' 'D' 'C' 'Z'", "'I' 'D'"),
];

/// The tests that run: the quick ones of one kind of numbers, or all. Each with the name of its program.
fn tests(is_deep: bool) -> impl Iterator<Item = (&'static Kind, String)> {
    let kinds = KINDS.iter().filter(move |kind| is_deep || kind.in_gate);
    kinds.flat_map(move |kind| {
        let wanted = move |letter: &char| is_deep || "dF".contains(*letter);
        let letters = kind.letters.chars().filter(wanted);
        letters.map(move |letter| (kind, kind.name.replace('?', &letter.to_string())))
    })
}

/// How many tests these are.
pub(super) fn count(is_deep: bool) -> usize {
    tests(is_deep).count()
}

/// All of them, each with four ranks.
pub(super) fn run(project: &Project, mpi: &Mpi, unpacked: &Unpacked, is_deep: bool, tally: &mut Tally) {
    for (kind, name) in tests(is_deep) {
        tally.test(&format!("mpich: Debian's ScaLAPACK, its own {name}"), || {
            test(project, mpi, unpacked, kind, &name)
        });
    }
    if !is_deep {
        show(&format!(
            "      {} more of ScaLAPACK's own tests: cargo xtask test --deep --only mpich",
            count(true) - count(false)
        ));
    }
}

/// In a folder of its own, as some of them leave files.
fn test(project: &Project, mpi: &Mpi, unpacked: &Unpacked, kind: &Kind, name: &str) -> Fallible {
    let &Kind { folder, end, .. } = kind;
    let data = unpacked.root.join("usr/share/scalapack").join(folder);
    let here = project.folder(&format!("debian/{name}"))?;
    for file in files(&data, "dat") {
        let to = here.join(file.file_name().unwrap_or_default());
        let explain = |e| format!("{}: {e}", to.display());
        let text = fs::read_to_string(&file).map_err(explain)?;
        let fewer = FEWER.iter().fold(text, |text, (from, to)| text.replace(from, to));
        fs::write(&to, fewer).map_err(explain)?;
    }
    let tests = unpacked.libraries().join("scalapack/mpich-tests");
    for run in 1.. {
        let outcome =
            program(mpi, unpacked, 4, &tests.join(folder).join(name)).dir(&here).limit(180).run()?;
        if !outcome.ok() && (outcome.timed_out || end != BLACS) {
            return Err(outcome.complaint());
        }
        let Err(wrong) = judge(&outcome.stdout, end) else { break };
        if run == kind.runs || !outcome.stdout.contains(end) {
            return Err(format!("{wrong}\n{}", outcome.complaint()));
        }
        show(&format!("      {name} runs again: {wrong}"));
    }
    Ok(())
}

/// Something has passed, nothing has failed, and the end has come.
fn judge(said: &str, end: &str) -> Fallible {
    if let Some(line) = said.lines().find(|line| has_failed(line)) {
        return Err(line.to_owned());
    }
    if !said.lines().any(|line| !is_heading(line) && line.to_lowercase().contains("passed")) {
        return Err("nothing has passed".into());
    }
    if said.contains(end) { Ok(()) } else { Err(format!("\"{end}\" was expected")) }
}

/// A line about a failure: not one that says that there is none, and none of the headings.
fn has_failed(line: &str) -> bool {
    let is_none = line.trim().starts_with("0 tests") || line.contains(" 0 FAILED.");
    line.to_lowercase().contains("fail") && !is_none && !is_heading(line)
}

fn is_heading(line: &str) -> bool {
    ["RESULT ", "Stop on failure flag", "SUBROUTINE "].iter().any(|start| line.trim().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_seen_in_what_each_kind_prints() {
        for wrong in [
            "    1 tests completed and failed residual checks.",
            "   10 tests completed and failed.",
            "INTEGER SUM TESTS: 1152 TESTS;  854 PASSED,  288 SKIPPED,   10 FAILED.",
            "     ***** Computational check: PDGEMM         FAILED  *****",
            "  500  50    2    2     0.64 FAILED",
        ] {
            assert!(has_failed(wrong), "{wrong}");
        }
        for right in [
            "    0 tests completed and failed residual checks.",
            "    0 tests completed and failed.",
            "INTEGER SUM TESTS: 1152 TESTS;  864 PASSED,  288 SKIPPED,    0 FAILED.",
            "RESULT   : passed; or an indication of which eigen request test failed",
            "  Stop on failure flag      :      F",
            "     SUBROUTINE  TOTAL TESTS  PASSED   FAILED  SKIPPED",
        ] {
            assert!(!has_failed(right), "{right}");
        }
    }

    #[test]
    fn a_run_that_says_nothing_or_stops_early_is_wrong() {
        assert!(judge("PASSED\nEND OF TESTS.\n", "END OF TESTS.").is_ok());
        assert!(judge("END OF TESTS.\n", "END OF TESTS.").is_err());
        assert!(judge("PASSED\n", "END OF TESTS.").is_err());
        assert!(judge("RESULT   : passed; or an indication\nEND OF TESTS.\n", "END OF TESTS.").is_err());
    }

    #[test]
    fn the_gate_has_one_of_most_kinds_and_the_deeper_tier_every_program() {
        assert_eq!((count(false), count(true)), (20, 88));
    }
}
