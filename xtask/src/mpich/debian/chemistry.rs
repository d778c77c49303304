//! Programs of quantum chemistry: BAGEL, in C++, and NWChem, in Fortran with Global Arrays. Each works out the energy of a small molecule.

use std::{fs, path::Path};

use super::program;
use crate::{
    mpi::Mpi,
    project::{Fallible, Project},
    tally::Tally,
    unpacked::{Needs, Unpacked},
};

const PROGRAMS: [&str; 3] = ["bagel", "nwchem-mpich", "nwchem-data"];

/// Hydrogen fluoride, by Hartree-Fock; the basis comes first.
const BAGEL: &str = r#"{ "bagel" : [
{ "title" : "molecule", "basis" : "BASIS/svp.json", "df_basis" : "BASIS/svp-jkfit.json", "angstrom" : "true",
  "geometry" : [ { "atom" : "H", "xyz" : [0.0, 0.0, 0.0] }, { "atom" : "F", "xyz" : [0.0, 0.0, 1.0] } ] },
{ "title" : "hf", "thresh" : 1.0e-8 } ]}
"#;
const BAGEL_ENERGY: f64 = -99.922_522_81;

/// Water, by Hartree-Fock.
const NWCHEM: &str = "start water
geometry units angstroms
 O 0 0 0
 H 0 0.757 0.587
 H 0 -0.757 0.587
end
basis
 * library 6-31g
end
task scf energy
";
const NWCHEM_ENERGY: f64 = -75.983_948_50;

/// How many tests these are.
pub(super) const COUNT: usize = 3;

/// All of them.
pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let chemistry = match Unpacked::fetch(project, "chemistry", &PROGRAMS, Needs::Too) {
        Ok(unpacked) => Chemistry { project, mpi, unpacked },
        Err(complaint) => {
            return tally.not_run(COUNT, format!("mpich: BAGEL and NWChem can't be fetched: {complaint}"));
        }
    };
    tally.test("mpich: Debian's BAGEL, 2 ranks", || chemistry.bagel());
    for ranks in [1, 2] {
        tally.test(&format!("mpich: Debian's NWChem, {ranks} ranks"), || chemistry.nwchem(ranks));
    }
}

struct Chemistry<'a> {
    project: &'a Project,
    mpi: &'a Mpi,
    unpacked: Unpacked,
}

impl Chemistry<'_> {
    fn bagel(&self) -> Fallible {
        let Unpacked { root } = &self.unpacked;
        let here = self.project.folder("debian/bagel")?;
        let basis = root.join("usr/share/bagel");
        let input = here.join("hf.json");
        write(&input, &BAGEL.replace("BASIS", &basis.display().to_string()))?;
        let job = program(self.mpi, &self.unpacked, 2, &root.join("usr/bin/BAGEL")).arg(&input).dir(&here);
        let said = job.env("BAGEL_NUM_THREADS", "1").limit(180).succeed()?.stdout;
        // A line of each iteration: number, energy, error, seconds.
        let iterations = said.lines().take_while(|line| !line.contains("SCF iteration converged"));
        let energy = iterations.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).last();
        same(energy, BAGEL_ENERGY, &said)
    }

    fn nwchem(&self, ranks: usize) -> Fallible {
        let Unpacked { root } = &self.unpacked;
        let here = self.project.folder(&format!("debian/nwchem-{ranks}"))?;
        let input = here.join("water.nw");
        write(&input, NWCHEM)?;
        let basis = format!("{}/", root.join("usr/share/nwchem/libraries").display());
        let job = program(self.mpi, &self.unpacked, ranks, &root.join("usr/bin/nwchem.mpich"));
        let said = job.arg(&input).dir(&here).env("NWCHEM_BASIS_LIBRARY", basis).limit(180).succeed()?.stdout;
        let energy = said.lines().find(|line| line.contains("Total SCF energy"));
        same(energy.and_then(|line| line.split_whitespace().last()?.parse().ok()), NWCHEM_ENERGY, &said)
    }
}

fn write(file: &Path, text: &str) -> Fallible {
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

/// What converges does not end with the same digits everywhere.
fn same(energy: Option<f64>, expected: f64, said: &str) -> Fallible {
    match energy {
        Some(energy) if (energy - expected).abs() < 1e-6 => Ok(()),
        Some(energy) => Err(format!("the energy is {energy}, expected {expected}")),
        None => Err(format!("no energy was found:\n{said}")),
    }
}
