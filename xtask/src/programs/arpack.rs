//! PARPACK, eigenvalues of large matrices: its own parallel programs, in Fortran with `mpif.h`. Each prints what it has found and how
//! far that is from an eigenvalue, as it works out with the matrix itself.

use super::{Program, Ranks, Site, Tier};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "parpack",
    tier: Tier::Gate,
    source: "arpack",
    parts: &["*/SRC", "*/UTIL", "*/PARPACK", "*/*.f", "*/*.h"],
    needs: &["gfortran", "libopenblas-dev"],
    build: BUILD,
    tests: PROGRAMS.len() * RANKS.len(),
    check,
};

/// Everything into one folder; what finds the precision of the machine is not optimized.
const BUILD: &str = r#"
    mkdir -p built
    cd built
    ls ../SRC/*.f ../UTIL/*.f ../PARPACK/SRC/MPI/*.f ../PARPACK/UTIL/MPI/*.f ../dbgini.f ../staini.f \
        | grep -v second_NONE | xargs -P "$JOBS" -n 12 \
        mpifort -O1 -w -std=legacy -fallow-argument-mismatch -I.. -I../SRC -I../PARPACK/SRC/MPI -c
    for precise in pslamch10 pdlamch10; do mpifort -O0 -w -std=legacy -c ../PARPACK/SRC/MPI/$precise.f; done
    rm -f libparpack.a
    ar rcs libparpack.a *.o
    for source in ../PARPACK/EXAMPLES/MPI/*.f ../PARPACK/TESTS/MPI/*.f; do
        program=$(basename "$source" .f)
        echo "mpifort -O1 -w -std=legacy -fallow-argument-mismatch -I../PARPACK/EXAMPLES/MPI $source -o $program \
            libparpack.a -llapack -lblas"
    done | xargs -P "$JOBS" -I LINE sh -c LINE"#;

/// With how far from an eigenvalue a value may be, as a part of it: those in single precision and in double.
const PROGRAMS: [(&str, f64); 9] = [
    ("pssdrv1", 1e-3),
    ("psndrv1", 1e-3),
    ("psndrv3", 1e-3),
    ("pcndrv1", 1e-3),
    ("pdsdrv1", 1e-9),
    ("pdndrv1", 1e-9),
    ("pdndrv3", 1e-9),
    ("pzndrv1", 1e-9),
    // On halves of the processes at a time.
    ("issue46", 1e-9),
];

const RANKS: [Ranks; 4] = [Ranks::of(1), Ranks::of(2), Ranks::of(4), Ranks::tcp(3)];

fn check(site: &Site, tally: &mut Tally) {
    for (program, precision) in PROGRAMS {
        for ranks in RANKS {
            tally.test(&format!("parpack's {program} with {ranks}: residuals"), || {
                let job = site.mpiexec(ranks, &site.source).arg(site.source.join("built").join(program));
                converged(&job.succeed()?.stdout, precision)
            });
        }
    }
}

/// As many values as were wanted, each with a small residual, which is the last number of its row.
fn converged(said: &str, precision: f64) -> Fallible {
    let number = |line: &str| line.split_whitespace().last()?.parse::<usize>().ok();
    let told = |what: &str| said.lines().find(|line| line.contains(what)).and_then(number);
    let wanted = told("The number of Ritz values requested is");
    let found = told("The number of converged Ritz values is");
    let rows: Vec<Vec<f64>> = said.lines().filter_map(row).collect();
    if wanted.is_none() || found < wanted || Some(rows.len()) < wanted {
        return Err(format!("    {wanted:?} values were wanted\n{said}"));
    }
    let is_far = |row: &&Vec<f64>| match &row[..] {
        [value @ .., residual] => {
            let size = value.iter().map(|part| part * part).sum::<f64>().sqrt();
            !(size > 0.0 && *residual <= precision * size)
        }
        [] => true,
    };
    match rows.iter().find(is_far) {
        Some(row) => {
            Err(format!("    {row:?} is none of the matrix, whose residual may be {precision} of it\n{said}"))
        }
        None => Ok(()),
    }
}

/// The numbers of `Row   1:    9.5D+02   1.2D-10`.
fn row(line: &str) -> Option<Vec<f64>> {
    let (_, numbers) = line.trim().strip_prefix("Row")?.split_once(':')?;
    numbers.split_whitespace().map(|number| number.replace('D', "E").parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_missing_or_none_of_the_matrix_is_seen() {
        let text = "   Row   1:      7.16197D+02   -1.02910D+03    1.05D-08\n  Row   2:      6.95E+02    0.0    1E-09\n  \
                    The number of Ritz values requested is            2\n The number of converged Ritz values is   2\n";
        assert!(converged(text, 1e-10).is_ok(), "{:?}", converged(text, 1e-10));
        assert!(converged(&text.replace("D-08", "D-06"), 1e-10).is_err());
        assert!(converged(&text.replace("values is   2", "values is   1"), 1e-10).is_err());
        assert!(converged(&text.replace("Row   2", "No"), 1e-10).is_err());
        assert!(converged("", 1.0).is_err());
    }
}
