//! FFTW's MPI transforms: its own `mpi-bench --verify` compares each with what a transform must do to impulses, sums and
//! shifts, and says three relative errors.

use super::{Program, RANKS, Site, Tier, numbers};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "fftw",
    tier: Tier::Deep,
    source: "fftw3",
    parts: &[],
    needs: &["make"],
    build: "./configure --enable-mpi --disable-fortran --disable-doc CFLAGS=-O1
            make -s -j$JOBS",
    tests: RANKS.len(),
    check,
};

/// In FFTW's notation: in or out of place, forward or backward, complex, real (r) or real to real (k), sizes; `]` and `[`
/// leave the output or the input transposed, `v` transforms several arrays at once.
const PROBLEMS: [&str; 16] = [
    "ofc1000",
    "ibc4096",
    "ofc729",
    "ofc64x81",
    "ib100x7",
    "of]33x50",
    "ib[48x20",
    "if13x17x19",
    "ob8x9x10x11",
    "ofr20x30",
    "ibr12x9x7",
    "ofr]40x21",
    "obr[40x21",
    "okd7e01x9o11",
    "ik16e10x5b",
    "ofc24x25v3",
];

/// Double precision loses no more in transforms of this size; FFTW's own check allows as much.
const TOLERANCE: f64 = 1e-10;

fn check(site: &Site, tally: &mut Tally) {
    for ranks in RANKS {
        tally.test(&format!("fftw with {ranks}: {} transforms are right", PROBLEMS.len()), || {
            let mut job = site.mpiexec(ranks, &site.source).args(["mpi/mpi-bench", "--verbose=1"]);
            for problem in PROBLEMS {
                job = job.args(["--verify", problem]);
            }
            let said = job.succeed()?.stdout;
            PROBLEMS.iter().try_for_each(|problem| right(&said, problem))
        });
    }
}

/// `problem error error error`.
fn right(said: &str, problem: &str) -> Fallible {
    let line = said.lines().find(|line| line.split_whitespace().next() == Some(problem));
    let errors = numbers::all(line.ok_or_else(|| format!("    nothing about {problem} in\n{said}"))?);
    if errors.len() != 3 {
        return Err(format!("    {problem} has not three errors in\n{said}"));
    }
    let small = |error: &f64| numbers::at_most(&format!("an error of {problem}"), *error, TOLERANCE);
    errors.iter().try_for_each(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_error_and_a_missing_transform_are_seen() {
        let said = "ofr20x30 3.8e-16 1.0e-15 9.3e-16\nofc1000 1e-16 2e-3 1e-16\nof]33x50 nan 0 0\n";
        assert!(right(said, "ofr20x30").is_ok() && right(said, "ofc1000").is_err());
        assert!(right(said, "ibc4096").is_err() && right(said, "of]33x50").is_err());
    }
}
