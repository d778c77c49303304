//! LAMMPS without optional packages: two small systems of atoms, whose energies after 100 steps must be those of one rank.

use std::fs;

use super::{Program, RANKS, Ranks, Site, Tier, numbers};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "lammps",
    tier: Tier::Deep,
    source: "lammps",
    parts: &["*/src", "*/bench"],
    needs: &["make", "xz-utils", "g++"],
    build: "make -s -C src -j$JOBS mpi CCFLAGS='-O1 -std=c++11'",
    tests: RANKS.len() * INPUTS.len(),
    check,
};

/// A name, the input, and after how many lines of values it ends.
const INPUTS: [(&str, &str, usize); 2] =
    [("a melt, in bricks", BRICKS, 6), ("a melt with a hole, in tiles", TILES, 6)];

/// A regular grid of ranks.
const BRICKS: &str = "
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo_style custom step temp pe etotal press
thermo 20
thermo_modify format float %20.12g
run 100
";

/// Tiles of unlike size, which are balanced anew while the atoms move.
const TILES: &str = "
units lj
atom_style atomic
comm_style tiled
lattice fcc 0.8442
region box block 0 12 0 9 0 7
create_box 1 box
region hole block 0 6 0 9 0 3
create_atoms 1 box
delete_atoms region hole
mass 1 1.0
velocity all create 1.44 87287 loop geom
balance 1.02 rcb
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 10 check yes
fix 1 all nve
fix 2 all balance 20 1.02 rcb
compute msd all msd
thermo_style custom step temp pe etotal press c_msd[4]
thermo 20
thermo_modify format float %20.12g
run 100
";

/// Sums in another order differ by so much after 100 steps.
const TOLERANCE: f64 = 1e-9;

fn check(site: &Site, tally: &mut Tally) {
    for (what, input, lines) in INPUTS {
        let mut serial: Option<Vec<Vec<f64>>> = None;
        for ranks in RANKS {
            tally.test(&format!("lammps, {what}, with {ranks}: the energies of one rank"), || {
                let values = values(site, input, ranks)?;
                if values.len() != lines {
                    return Err(format!(
                        "    {} lines of values; it should be {lines}: {values:?}",
                        values.len()
                    ));
                }
                let serial = serial.get_or_insert_with(|| values.clone());
                same(&values, serial)
            });
        }
    }
}

/// The lines of numbers between the heading and the end of the run.
fn values(site: &Site, input: &str, ranks: Ranks) -> Fallible<Vec<Vec<f64>>> {
    let folder = site.scratch("lammps")?;
    fs::write(folder.join("in"), input).map_err(|e| format!("{}: {e}", folder.display()))?;
    let job = site.mpiexec(ranks, &folder).arg(site.source.join("src/lmp_mpi"));
    let said = job.args(["-in", "in", "-log", "none"]).succeed()?.stdout;
    let table = said.lines().skip_while(|line| !line.trim_start().starts_with("Step")).skip(1);
    Ok(table.take_while(|line| !line.starts_with("Loop time")).map(numbers::all).collect())
}

fn same(values: &[Vec<f64>], serial: &[Vec<f64>]) -> Fallible {
    for (line, known) in values.iter().zip(serial) {
        if line.len() != known.len() || line.len() < 5 {
            return Err(format!("    {line:?} should be {known:?}"));
        }
        for (value, known) in line.iter().zip(known) {
            numbers::agree(&format!("a value of step {}", line[0]), *value, *known, TOLERANCE)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_energy_is_seen() {
        let known = vec![vec![20.0, 0.65, -5.2, -4.2, 0.91]];
        let mut other = known.clone();
        assert!(same(&other, &known).is_ok());
        other[0][2] = -5.200_001;
        assert!(same(&other, &known).is_err());
    }
}
