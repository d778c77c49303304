//! Guards the fast paths by instruction counts, which do not depend on how busy the machine is. The part `instructions`
//! of `cargo xtask test`, which runs `bench/instructions.c` under callgrind.
//!
//! What must stay true: a limit is raised only together with the reason for it.

use std::fs;

use crate::{
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

/// Calls of most functions in one run.
const CALLS: u64 = 6400;
/// Most instructions per call, all callees included: a tenth above what was measured when the limit was set
/// (267, 326 and 390; a nonblocking receive looks at its peer's ring before it is posted; 359 for the start of a
/// persistent send, 532 for a buffered send, 415 for the receive of a probed message). `MPI_Recv` and the probes spin,
/// so they have no counts of their own.
const LIMITS: [(&str, u64); 6] = [
    ("PMPI_Send", 294),
    ("PMPI_Isend", 359),
    ("PMPI_Irecv", 420),
    ("PMPI_Start", 395),
    ("PMPI_Bsend", 585),
    ("PMPI_Mrecv", 457),
];

/// Calls of a function in one run.
fn calls(function: &str) -> u64 {
    if function == "PMPI_Mrecv" { 2 * CALLS } else { CALLS }
}

/// Counts, if callgrind is there.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    if !Job::new("valgrind").arg("--version").run().is_ok_and(|outcome| outcome.ok()) {
        return tally.not_run(
            1,
            "instruction counts of the fast paths: valgrind is not installed (apt install valgrind)",
        );
    }
    tally.test("instruction counts of short sends and receives", || count(project, mpi));
}

fn count(project: &Project, mpi: &Mpi) -> Fallible {
    let folder = project.folder("instructions")?;
    let program = folder.join("instructions");
    mpi.compile(&[project.root.join("bench/instructions.c")], &program, &["-O2"])?;
    for old in fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten() {
        if old.file_name().to_string_lossy().starts_with("counts.") {
            fs::remove_file(old.path()).map_err(|e| e.to_string())?;
        }
    }
    let out = format!("--callgrind-out-file={}/counts.%p", folder.display());
    let job = mpi.mpiexec(2, false).args(["valgrind", "--tool=callgrind", &out]);
    job.arg(&program).arg(CALLS.to_string()).limit(240).succeed()?;
    let mut report = String::new();
    for counts in fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten() {
        if counts.file_name().to_string_lossy().starts_with("counts.") {
            let job = Job::new("callgrind_annotate").args(["--inclusive=yes", "--threshold=100"]);
            report.push_str(&job.arg(counts.path()).succeed()?.stdout);
        }
    }
    for (function, limit) in LIMITS {
        let per_call = inclusive(&report, function)
            .ok_or_else(|| format!("{function} is not in the profile"))?
            / calls(function);
        crate::tally::show(&format!("    {function}: {per_call} instructions, at most {limit}"));
        if per_call > limit {
            return Err(format!(
                "{function} takes {per_call} instructions for 8 bytes, expected at most {limit}"
            ));
        }
    }
    Ok(())
}

/// The most instructions that a line of the report gives to a function, callees included.
fn inclusive(report: &str, function: &str) -> Option<u64> {
    let of_function =
        |line: &&str| line.split_whitespace().any(|word| word.rsplit(':').next() == Some(function));
    let number = |line: &str| line.split_whitespace().next()?.replace(',', "").parse::<u64>().ok();
    report.lines().filter(of_function).filter_map(number).max()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_count_of_a_function_is_found() {
        let report = "1,000 (10%)  file.rs:PMPI_Send [lib]\n 2,152,000 (20%)  call.rs:PMPI_Send [lib]\n 9 (1%) x:PMPI_Sendrecv\n";
        assert_eq!(super::inclusive(report, "PMPI_Send"), Some(2_152_000));
        assert_eq!(super::inclusive(report, "PMPI_Recv"), None);
    }
}
