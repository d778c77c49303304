//! hypre, a library of linear solvers: its own test suites on 1 to 8 ranks, whose iteration counts and residuals it
//! compares with those that come with it.

use std::fs;

use super::{Program, Site, Tier};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "hypre",
    tier: Tier::Deep,
    source: "hypre",
    parts: &[],
    needs: &["make"],
    build: "
        cd src
        ./configure --disable-fortran --with-MPI CC=mpicc CXX=mpicxx CFLAGS=-O1
        make -s -j$JOBS
        # One after the other: they write the same files.
        make -s -C test ij struct sstruct struct_migrate",
    tests: SUITES.len(),
    check,
};

/// Folder and name of each suite that runs.
const SUITES: [&str; 9] = [
    "TEST_struct/solvers",
    "TEST_struct/migrate",
    "TEST_struct/periodic",
    "TEST_ij/default",
    "TEST_ij/vector",
    "TEST_sstruct/neighborpart",
    "TEST_sstruct/sharedpart",
    "TEST_sstruct/default2d",
    "TEST_ij/solvers",
];

fn check(site: &Site, tally: &mut Tally) {
    for suite in SUITES {
        tally.test(&format!("hypre's own {suite}: the iterations and residuals that come with it"), || {
            one(site, suite)
        });
    }
}

/// Its script writes what differs into a file, and a list of the runs' last lines into another.
fn one(site: &Site, suite: &str) -> Fallible {
    let folder = site.source.join("src/test");
    let read = |end: &str| fs::read_to_string(folder.join(format!("{suite}.{end}")));
    let _ = fs::remove_file(folder.join(format!("{suite}.out")));
    let _ = fs::remove_file(folder.join(format!("{suite}.err")));
    let script =
        format!("bash ./runtest.sh -mpi 'mpiexec -bind-to none -n' -rtol 1e-6 -atol 1e-6 {suite}.sh");
    let outcome = site.script(&script, &folder).limit(900).succeed()?;
    let differs = read("err").map_err(|e| format!("    no {suite}.err: {e}\n{}", outcome.complaint()))?;
    let said = read("out").unwrap_or_default();
    if !differs.trim().is_empty() {
        Err(format!("    {suite}.err says\n{differs}"))
    } else if !said.bytes().any(|byte| byte.is_ascii_digit()) {
        Err(format!("    {suite}.out has no numbers\n{}", outcome.complaint()))
    } else {
        Ok(())
    }
}
