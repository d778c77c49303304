//! Which routines the Fortran tests call: every routine of the table in each interface that has it, but those with a reason in
//! `tests/fortran/not_called.csv`. Its rows are `routine,interface,reason`; a routine may end in `*`, no interface stands for all.
//!
//! What must stay true: a row is an error when the tests call what it names, or when its reason is `not implemented` and C
//! implements it. Two ways of looking: names in the sources take no compiler, so the part `conformance` looks at them; what
//! programs are linked to is what they call, whatever the preprocessor left out and however a name was resolved, so the part
//! `fortran` looks at that.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::{
    table::{self, Routine},
    tests::{INTERFACES, is_for, procedures},
};
use crate::{
    abi_check,
    process::Job,
    project::{Fallible, Project, files},
};

const REASONS: &str = "tests/fortran/not_called.csv";
const NOT_IMPLEMENTED: &str = "not implemented";

/// Every routine is named in a test for each interface.
pub(crate) fn check(project: &Project) -> Fallible {
    let mut named = Called::new();
    for source in files(&project.root.join("tests/fortran"), "F90") {
        let words = words(&read(&source)?);
        let is_large = is_for(&source, "large");
        for interface in INTERFACES {
            if is_for(&source, interface) || is_large && interface == "f08" {
                let all = named.entry(interface).or_default();
                all.extend(words.iter().cloned());
                // Routines of the same names with longer counts.
                if is_large && interface != "mpif" {
                    all.extend(words.iter().map(|word| format!("{word}_c")));
                }
            }
        }
    }
    judge(project, "named", &named)
}

/// These programs, each built for an interface, call every routine, and all that the modules have under its name.
pub(super) fn linked(project: &Project, programs: &[(&'static str, PathBuf)]) -> Fallible {
    let (mut called, mut symbols) = (Called::new(), BTreeMap::<&str, BTreeSet<String>>::new());
    for (interface, program) in programs {
        let listed = Job::new("nm").args(["-D", "--undefined-only"]).arg(program).succeed()?.stdout;
        let listed = listed.lines().filter_map(|line| line.split_whitespace().last());
        for symbol in listed.filter(|symbol| symbol.starts_with("mpi_")) {
            called.entry(interface).or_default().insert(routine_of(symbol).to_owned());
            symbols.entry(interface).or_default().insert(symbol.to_owned());
        }
    }
    judge(project, "called", &called)?;
    let mut missing = Vec::new();
    for (interface, module) in [("mpi", "mpi.f90"), ("f08", "mpi_f08.f90")] {
        let text = read(&project.stage.join("include/fortran").join(module))?;
        let there = &symbols[interface];
        let is_known = |symbol: &str| called[interface].contains(routine_of(symbol));
        let of_mpi = procedures(&text).into_iter().filter(|symbol| symbol.starts_with("mpi_"));
        missing.extend(of_mpi.filter(|symbol| is_known(symbol) && !there.contains(symbol)));
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("other forms of these are called, these are not: {}", missing.join(" ")))
    }
}

/// By interface, in small letters.
type Called = BTreeMap<&'static str, BTreeSet<String>>;

fn judge(project: &Project, verb: &str, called: &Called) -> Fallible {
    let table = table::read(&project.root)?;
    let reasons = abi_check::table(&project.root.join(REASONS))?;
    let survey = abi_check::survey(&project.root)?;
    let missing_in_c: BTreeSet<String> =
        survey.into_iter().filter(|entry| !entry.supported).map(|entry| entry.name).collect();
    let wrong = wrong(&table, called, &reasons, &missing_in_c);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("what tests/fortran has {verb} and {REASONS} do not go together:\n{}", wrong.join("\n")))
    }
}

/// Routines without a call or a reason, and reasons that are not true.
fn wrong(
    table: &[Routine],
    called: &Called,
    reasons: &[Vec<String>],
    missing_in_c: &BTreeSet<String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut is_used = vec![false; reasons.len()];
    for routine in table.iter().filter(|routine| !routine.is_absent) {
        for interface in interfaces(routine) {
            let name = &routine.name;
            if called.get(interface).is_some_and(|called| called.contains(&name.to_lowercase())) {
                continue;
            }
            let row = reasons.iter().position(|row| covers(row, name, interface));
            match row {
                None => wrong.push(format!("{name} ({interface}): no test calls it")),
                Some(row) if reasons[row][2] == NOT_IMPLEMENTED && !missing_in_c.contains(name) => {
                    wrong.push(format!("{name} ({interface}): no test calls it, and it is implemented"));
                    is_used[row] = true;
                }
                Some(row) => is_used[row] = true,
            }
        }
    }
    let unused = reasons.iter().zip(is_used).filter(|(_, is_used)| !is_used);
    wrong.extend(unused.map(|(row, _)| format!("{}: nothing of {REASONS} needs this row", row.join(","))));
    wrong
}

fn covers(row: &[String], name: &str, interface: &str) -> bool {
    let fits = match row[0].split_once('*') {
        Some((start, _)) => name.starts_with(start),
        None => row[0] == name,
    };
    fits && (row[1].is_empty() || row[1] == interface)
}

/// Those that have it.
fn interfaces(routine: &Routine) -> Vec<&'static str> {
    let has = |interface: &&str| match *interface {
        "mpif" => !routine.is_large(),
        "mpi" => !routine.is_large() || routine.is_in_mpi,
        _ => !routine.is_old,
    };
    INTERFACES.into_iter().filter(has).collect()
}

/// `mpi_send_c_f08ts` is `mpi_send_c`, `mpi_alloc_mem_cptr_` is `mpi_alloc_mem`.
fn routine_of(symbol: &str) -> &str {
    let symbol = symbol.strip_suffix("_f08ts").unwrap_or(symbol).trim_end_matches('_');
    symbol.strip_suffix("_cptr").unwrap_or(symbol)
}

/// All names of MPI in a source, in small letters, but not those in comments.
fn words(text: &str) -> BTreeSet<String> {
    let code = text.lines().map(|line| line.split('!').next().unwrap_or(line).to_lowercase());
    let words = code.flat_map(|line| {
        let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.filter(|word| word.starts_with("mpi_")).map(String::from).collect::<Vec<_>>()
    });
    words.collect()
}

fn read(path: &Path) -> Fallible<String> {
    fs::read_to_string(path).map_err(|e| format!("can't read {}: {e}", path.display()))
}

#[cfg(test)]
mod unit {
    use super::*;

    fn row(text: &str) -> Vec<String> {
        text.split(',').map(String::from).collect()
    }

    #[test]
    fn symbols_have_routines() {
        let of = ["mpi_send_", "mpi_send_c_f08ts", "mpi_alloc_mem_cptr_", "mpi_init__"].map(routine_of);
        assert_eq!(of, ["mpi_send", "mpi_send_c", "mpi_alloc_mem", "mpi_init"]);
    }

    #[test]
    fn comments_call_nothing() {
        let found = words("call MPI_Send(a) ! not MPI_Recv\n! MPI_Bcast\ncall mpi_Isend_x\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["mpi_isend_x", "mpi_send"]);
    }

    #[test]
    fn reasons_that_are_not_true_are_told() {
        let table = table::read(&Project::find().root).unwrap();
        let all = |interface| {
            let names = table.iter().filter(|routine| interfaces(routine).contains(&interface));
            (interface, names.map(|routine| routine.name.to_lowercase()).collect::<BTreeSet<_>>())
        };
        let mut called: Called = INTERFACES.into_iter().map(all).collect();
        let missing = BTreeSet::from(["MPI_File_open".to_owned()]);
        assert_eq!(wrong(&table, &called, &[], &missing), [""; 0]);
        let told = wrong(&table, &called, &[row("MPI_Send,,slow")], &missing);
        assert!(told.len() == 1 && told[0].starts_with("MPI_Send,,slow"), "{told:?}");
        for names in called.values_mut() {
            names.remove("mpi_file_open");
            names.remove("mpi_send");
        }
        called.get_mut("f08").unwrap().remove("mpi_send_c");
        let rows = ["MPI_File_*,,not implemented", "MPI_Send,mpif,slow"].map(row);
        let told = wrong(&table, &called, &rows, &missing);
        let send = ["MPI_Send (mpi)", "MPI_Send (f08)", "MPI_Send_c (f08)"];
        assert_eq!(told, send.map(|name| format!("{name}: no test calls it")));
        let told = wrong(&table, &called, &[row("MPI_*,,not implemented")], &missing);
        assert!(told.len() == 4 && told.iter().all(|told| told.ends_with("it is implemented")), "{told:?}");
    }
}
