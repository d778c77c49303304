//! MUMPS, a direct solver of sparse systems: Fortran with `mpif.h`, whose processes send each other packed pieces of fronts in an order that
//! depends on who is ready. It solves a system with a known solution.
//!
//! It is built without ScaLAPACK, which it has for a dense root of hundreds of rows; ours is smaller.

use std::fmt::Write as _;

use super::{Program, RANKS, Site, Tier};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "mumps",
    tier: Tier::Deep,
    source: "mumps",
    parts: &[],
    needs: &["make", "gfortran", "libopenblas-dev"],
    build: BUILD,
    tests: RANKS.len(),
    check,
};

/// Its makefile for this machine, and routines of ScaLAPACK that say that they are missing, should one be called.
const BUILD: &str = r#"
    cat >Makefile.inc <<'END'
LPORDDIR = $(topdir)/PORD/lib/
IPORD = -I$(topdir)/PORD/include/
LORDERINGS = -L$(LPORDDIR) -lpord
ORDERINGSF = -Dpord
ORDERINGSC = -Dpord
IORDERINGSC = $(IPORD)
LIBEXT = .a
OUTC = -o # a blank
OUTF = -o # a blank
RM = /bin/rm -f
CC = mpicc
FC = mpifort
FL = mpifort
AR = ar r # a blank
RANLIB = echo
LIBS = $(topdir)/missing.o -llapack
LIBBLAS = -lblas
CDEFS = -DAdd_
OPTF = -O1 -w -fallow-argument-mismatch
OPTC = -O1 -w -I.
END
    {
        echo '#include <stdio.h>'
        echo '#include <stdlib.h>'
        for name in blacs_gridexit blacs_gridinfo blacs_gridinit descinit numroc pdgetrf pdgetrs pdpotrf pdpotrs; do
            echo "void ${name}_(void) { puts(\"ScaLAPACK's $name is missing\"); abort(); }"
        done
    } >missing.c
    cc -c missing.c
    make -s prerequisites
    make -s -j$JOBS -C src d
    make -s -C examples dsimpletest"#;

/// The grid of unknowns has so many rows and columns.
const SIDE: usize = 90;
/// How far a number may be off.
const TOLERANCE: f64 = 1e-9;

fn check(site: &Site, tally: &mut Tally) {
    let system = system(SIDE);
    for ranks in RANKS {
        tally.test(&format!("mumps with {ranks}: the known solution of {} equations", SIDE * SIDE), || {
            let folder = site.scratch("mumps")?;
            let job = site.mpiexec(ranks, &folder).arg(site.source.join("examples/dsimpletest"));
            solved(&job.input(system.as_bytes()).succeed()?.stdout, SIDE * SIDE)
        });
    }
}

/// What unknown number `at` has to be.
fn known(at: usize) -> f64 {
    f64::from(u8::try_from(at % 7).unwrap_or_default()) + 1.0
}

/// The input: unknowns on a grid, each coupled with its neighbors, not symmetrically; the right-hand side is that of the known solution.
fn system(side: usize) -> String {
    const COUPLED: [(usize, usize, f64); 5] =
        [(1, 1, 8.0), (2, 1, -1.0), (0, 1, -2.0), (1, 2, -1.0), (1, 0, -3.0)];
    let (mut entries, mut right) = (Vec::new(), String::new());
    for (row, column) in (0..side * side).map(|at| (at / side, at % side)) {
        let mut sum = 0.0;
        for (down, across, value) in COUPLED {
            // One more than the neighbor's place, so that it is never less than nothing.
            let (row_there, column_there) = (row + down, column + across);
            if (1..=side).contains(&row_there) && (1..=side).contains(&column_there) {
                let there = (row_there - 1) * side + column_there - 1;
                entries.push(format!("{} {} {value:.1}", row * side + column + 1, there + 1));
                sum += value * known(there);
            }
        }
        let _ = writeln!(right, "{sum:.1}");
    }
    format!("{}\n{}\n{}\n{right}", side * side, entries.len(), entries.join("\n"))
}

/// The solution is the line behind these words.
fn solved(said: &str, unknowns: usize) -> Fallible {
    let line = said.lines().find_map(|line| line.split_once("Solution is")).map(|(_, line)| line);
    let line = line.ok_or_else(|| format!("    no solution in\n{said}"))?;
    let numbers: Vec<f64> =
        line.split_whitespace().map(|number| number.parse().unwrap_or(f64::NAN)).collect();
    if numbers.len() != unknowns {
        return Err(format!("    {} numbers; it should be {unknowns}", numbers.len()));
    }
    for (at, found) in numbers.into_iter().enumerate() {
        super::numbers::agree(&format!("unknown {at}"), found, known(at), TOLERANCE)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_of_four_unknowns_is_right() {
        let text = system(2);
        let lines: Vec<&str> = text.lines().collect();
        // 8 - 2 (below) - 3 (right), and so on: unknowns 1 2 3 4.
        assert_eq!(lines[..2], ["4", "12"]);
        assert_eq!(lines[14..], ["3.0", "9.0", "18.0", "19.0"]);
    }

    #[test]
    fn a_wrong_number_and_a_missing_one_are_seen() {
        assert!(solved("  Solution is 1.0 2.0 3.0\n", 3).is_ok());
        assert!(solved("  Solution is 1.0 2.0 3.1\n", 3).is_err());
        assert!(solved("  Solution is 1.0 2.0\n", 3).is_err() && solved("nothing", 3).is_err());
    }
}
