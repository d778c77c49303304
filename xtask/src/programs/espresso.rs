//! Quantum ESPRESSO's PWscf: electrons of crystals and molecules as plane waves, in Fortran with `mpif.h`. Ranks share a grid that they
//! transform together (MPI_Alltoall, MPI_Alltoallv), groups of them share points k and bands, and a square of them small matrices.
//!
//! It runs those of its own tests whose pseudopotentials come with it. Energies, forces, pressures and bands must be those that come with it.

use std::fs;

use super::{Program, RANKS, Ranks, Site, Tier};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "espresso",
    tier: Tier::Deep,
    source: "espresso",
    parts: &PARTS,
    needs: &["make", "gfortran", "libopenblas-dev"],
    build: BUILD,
    tests: tests(),
    check,
};

/// What PWscf needs; the archive has a dozen programs more.
const PARTS: [&str; 15] = [
    "*/configure",
    "*/Makefile",
    "*/install",
    "*/include",
    "*/archive/fox.tgz",
    "*/archive/libbeef-*",
    "*/*lib",
    "*/dft-d3",
    "*/KS_Solvers",
    "*/Modules",
    "*/PW/src",
    "*/pseudo",
    "*/EPW/examples/*/pp",
    "*/test-suite/pw_*",
    "*/test-suite/epw_*",
];

/// With its own Fourier transform, also where FFTW is installed, and without ScaLAPACK: then it spreads matrices by itself.
const BUILD: &str = "
    ./configure --without-scalapack MPIF90=mpifort CC=mpicc ARFLAGS=r CFLAGS='-O1 -w' \\
        FFLAGS='-O1 -w -fallow-argument-mismatch'
    sed -i 's/-D__FFTW3/-D__FFTW/; s/-lfftw3//' make.inc
    make -s -j$JOBS bindir libs mods libks_solvers dftd3
    make -s -j$JOBS -C PW/src pw.x
    cp EPW/examples/*/pp/*.UPF pseudo";

/// One of its tests.
#[derive(Debug)]
struct Case {
    what: &'static str,
    /// Its folder below `test-suite`, the input there, and the output that comes with it.
    folder: &'static str,
    input: &'static str,
    known: &'static str,
    /// How far the total energy may be off, in Ry.
    energy: f64,
    /// How else it runs than with each of [`RANKS`] that all share one grid.
    layouts: &'static [Layout],
}

/// Ranks, the options that say what groups of them share, and what it says of that.
type Layout = (Ranks, &'static str, &'static str);

/// Each half of the ranks has half of the points k.
const POOLS: [Layout; 3] =
    each_with([Ranks::of(2), Ranks::of(4), Ranks::tcp(4)], "-nk 2", "npool     =       2");
/// Each half of the ranks has half of the bands.
const BANDS: [Layout; 3] =
    each_with([Ranks::of(2), Ranks::of(4), Ranks::tcp(4)], "-nb 2", "nbgrp     =       2");
/// Four ranks share small matrices, which they diagonalize together.
const SQUARE: [Layout; 3] =
    each_with([Ranks::of(4), Ranks::of(7), Ranks::tcp(4)], "-nd 4", "custom distributed-memory algorithm");

/// The same options with each of these ranks.
const fn each_with(ranks: [Ranks; 3], options: &'static str, said: &'static str) -> [Layout; 3] {
    [(ranks[0], options, said), (ranks[1], options, said), (ranks[2], options, said)]
}

/// How far an energy may be off where iterations end at 1e-10 Ry, and where they end at 1e-6 or 1e-8. Its own tests allow 8e-4.
const CONVERGED: f64 = 1e-7;
const ROUGH: f64 = 1e-5;

const CASES: [Case; 8] = [
    Case {
        what: "silicon",
        folder: "pw_scf",
        input: "scf.in",
        known: "benchmark.out.git.inp=scf.in",
        energy: ROUGH,
        layouts: &SQUARE,
    },
    Case {
        what: "silicon with real waves",
        folder: "pw_scf",
        input: "scf-gamma.in",
        known: "benchmark.out.git.inp=scf-gamma.in",
        energy: ROUGH,
        layouts: &SQUARE,
    },
    Case {
        what: "silicon, where electrons exchange",
        folder: "pw_hse",
        input: "hse-si111.in",
        known: "benchmark.out.git.inp=hse-si111.in",
        energy: ROUGH,
        layouts: &BANDS,
    },
    Case {
        what: "silicon with spins in any direction",
        folder: "pw_noncolin",
        input: "noncolin-hyb.in",
        known: "benchmark.out.git.inp=noncolin-hyb.in",
        energy: ROUGH,
        layouts: &POOLS,
    },
    Case {
        what: "two atoms that move 50 steps",
        folder: "pw_md",
        input: "md.in",
        known: "benchmark.out.git.inp=md.in",
        energy: ROUGH,
        layouts: &[],
    },
    Case {
        what: "silicon carbide",
        folder: "epw_trev",
        input: "scf_epw.in",
        known: "benchmark.out.git.inp=scf_epw.in.args=1",
        energy: CONVERGED,
        layouts: &POOLS,
    },
    Case {
        what: "lead",
        folder: "epw_metal",
        input: "scf_epw.in",
        known: "benchmark.out.git.inp=scf_epw.in.args=1",
        energy: CONVERGED,
        layouts: &POOLS,
    },
    Case {
        what: "water",
        folder: "pw_uspp",
        input: "uspp1.in",
        known: "benchmark.out.git.inp=uspp1.in",
        energy: ROUGH,
        layouts: &SQUARE,
    },
];

/// How many runs there are.
const fn tests() -> usize {
    let (mut runs, mut at) = (0, 0);
    while at < CASES.len() {
        runs += RANKS.len() + CASES[at].layouts.len();
        at += 1;
    }
    runs
}

fn check(site: &Site, tally: &mut Tally) {
    for case in &CASES {
        let plain = RANKS.map(|ranks| (ranks, "", ""));
        for layout in plain.iter().chain(case.layouts) {
            let (ranks, options, _) = layout;
            let shared = if options.is_empty() { String::new() } else { format!(" and {options}") };
            let name =
                format!("espresso, {}, with {ranks}{shared}: the numbers that come with it", case.what);
            tally.test(&name, || one(site, case, layout));
        }
    }
}

fn one(site: &Site, case: &Case, (ranks, options, shared): &Layout) -> Fallible {
    let folder = site.source.join("test-suite").join(case.folder);
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|e| format!("    can't read {}: {e}", path.display()))
    };
    let (input, known) = (read(case.input)?, read(case.known)?);
    let folder = site.scratch("espresso")?;
    // Where pseudopotentials lie is said below.
    let input: Vec<&str> = input.lines().filter(|line| !line.contains("pseudo_dir")).collect();
    fs::write(folder.join("in"), input.join("\n") + "\n")
        .map_err(|e| format!("{}: {e}", folder.display()))?;
    let job = site.mpiexec(*ranks, &folder).arg(site.source.join("PW/src/pw.x"));
    let job = job.args(options.split_whitespace()).args(["-input", "in"]);
    let said = job.env("ESPRESSO_PSEUDO", site.source.join("pseudo")).succeed()?.stdout;
    if !said.contains(shared) || last(&said, "Parallel version (MPI), running on") != [ranks.count as f64] {
        return Err(format!("    the ranks do not share the work as they should\n{said}"));
    }
    same(&said, &known, case.energy).map_err(|difference| format!("{difference}\n{said}"))
}

/// What stands before numbers of which the last are compared, and how far they may be off: what its own tests allow, in eV, Ry per bohr,
/// and kbar.
const COMPARED: [(&str, f64); 5] = [
    ("Fermi energy is", 1e-2),
    ("highest occupied level (ev):", 1e-2),
    ("highest occupied, lowest unoccupied level (ev):", 1e-2),
    ("Total force =", 1e-3),
    ("(kbar)     P=", 0.9),
];

/// How far a band may be off, in eV. Its own tests allow five times as much.
const BAND: f64 = 1e-2;

/// What was said agrees with all numbers that are known.
fn same(said: &str, known: &str, energy: f64) -> Fallible {
    if !said.contains("JOB DONE.") {
        return Err("    it did not come to its end".into());
    }
    agree("total energy", &energies(said), &energies(known), energy)?;
    for (what, tolerance) in COMPARED {
        let known = last(known, what);
        if !known.is_empty() {
            agree(what, &last(said, what), &known, tolerance)?;
        }
    }
    agree("bands", &bands(said), &bands(known), BAND)
}

/// As many numbers as are known, at least one, and each near.
fn agree(what: &str, found: &[f64], known: &[f64], tolerance: f64) -> Fallible {
    if known.is_empty() || found.len() != known.len() {
        return Err(format!("    {what}: {} numbers; it should be {}", found.len(), known.len()));
    }
    let near = |(found, known): &(&f64, &f64)| (*found - *known).abs() <= tolerance;
    match found.iter().zip(known).find(|pair| !near(pair)) {
        Some((found, known)) => Err(format!("    {what}: {found}; it should be {known}, to {tolerance:e}")),
        None => Ok(()),
    }
}

/// The last total energy, whose line begins with `!`, or `!!` where electrons exchange.
fn energies(text: &str) -> Vec<f64> {
    let line = text.lines().rev().find(|line| line.starts_with('!'));
    line.and_then(|line| line.split_once('=')).map(|(_, rest)| numbers(rest)).unwrap_or_default()
}

/// The numbers behind the last place of these words.
fn last(text: &str, words: &str) -> Vec<f64> {
    text.rsplit_once(words).map(|(_, rest)| numbers(rest.lines().next().unwrap_or(""))).unwrap_or_default()
}

/// The numbers in front of the first word that is none.
fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

/// All bands of all points k: after a heading and an empty line they stand in columns that may touch, up to another empty line.
fn bands(text: &str) -> Vec<f64> {
    let mut all = Vec::new();
    let mut lines = text.lines();
    while lines.any(|line| line.ends_with("bands (ev):")) {
        let table = lines.by_ref().skip(1).take_while(|line| !line.trim().is_empty());
        all.extend(table.flat_map(columns));
    }
    all
}

/// Numbers that are nine characters wide, behind two blanks; what is none is `NaN`.
fn columns(line: &str) -> Vec<f64> {
    let line = line.get(2..).unwrap_or_default().as_bytes();
    let number = |column: &[u8]| std::str::from_utf8(column).ok()?.trim().parse().ok();
    line.chunks(9).map(|column| number(column).unwrap_or(f64::NAN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "
          k = 0.2500 0.2500 0.2500 (   180 PWs)   bands (ev):

    -4.8701   2.3792-105.5371   5.5371   1.0000   2.0000   3.0000   4.0000
     5.5371

          k = 0.2500 0.2500 0.7500 (   186 PWs)   bands (ev):

    -2.9165

     highest occupied level (ev):     5.5371

!    total energy              =     -15.70000000 Ry
     highest occupied level (ev):     5.5373

!!   total energy              =     -15.79449593 Ry
     Total force =     0.215800     Total SCF correction =     0.000148
          total   stress  (Ry/bohr**3)                   (kbar)     P=-1130.30
   JOB DONE.
";

    #[test]
    fn energies_and_bands_are_found() {
        assert_eq!(energies(SAID), [-15.794_495_93]);
        let first = [-4.8701, 2.3792, -105.5371, 5.5371, 1.0, 2.0, 3.0, 4.0, 5.5371];
        assert_eq!(bands(SAID), [&first[..], &[-2.9165]].concat());
        assert_eq!(last(SAID, "highest occupied level (ev):"), [5.5373]);
        assert_eq!(last(SAID, "Total force ="), [0.2158]);
        assert_eq!(last(SAID, "P="), [-1130.3]);
        assert!(last(SAID, "Fermi energy is").is_empty() && energies("").is_empty() && bands("").is_empty());
    }

    #[test]
    fn another_number_and_a_missing_one_are_seen() {
        assert!(same(SAID, SAID, ROUGH).is_ok() && same("JOB DONE.", "JOB DONE.", ROUGH).is_err());
        for (from, to) in [
            ("-15.79449593", "-15.79459593"),
            ("-15.79449593", "NaN"),
            ("0.215800", "0.217800"),
            ("P=-1130.30", "P=-1132.30"),
            ("5.5373", "5.5573"),
            ("-2.9165", "-2.8165"),
            ("    -2.9165\n", "\n"),
            ("-105.5371", "*********"),
            ("Total force", "No force"),
            ("JOB DONE.", ""),
        ] {
            assert!(same(&SAID.replace(from, to), SAID, ROUGH).is_err(), "{from} {to}");
        }
    }
}
