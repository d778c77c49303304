//! The names of `libmpifort.so.12`: ours has those of Debian's MPICH and of Intel MPI, but for those that a list leaves out.
//!
//! What must stay true: a name that is neither ours nor described by the list is an error, and so is a line of the list that
//! describes none. `tests/mpich/fortran-without.txt` has them with reasons.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{
    process::Job,
    project::{Fallible, Project},
};

const LIST: &str = "tests/mpich/fortran-without.txt";

/// Compares with these libraries.
pub(super) fn same_names(project: &Project, theirs: &[&Path]) -> Fallible {
    let text = fs::read_to_string(project.root.join(LIST)).map_err(|e| format!("can't read {LIST}: {e}"))?;
    let ours = exported(&project.stage.join("mpich/lib/libmpifort.so.12"))?;
    let mut needed = BTreeSet::new();
    for library in theirs {
        let names = exported(library)?;
        if names.len() < 4000 {
            return Err(format!("{} exports only {} names", library.display(), names.len()));
        }
        needed.extend(names);
    }
    none_missing(&needed, &ours, &text, LIST)
}

/// Of the `needed` names none is missing, but for those that a list with patterns and reasons leaves out.
pub(super) fn none_missing(
    needed: &BTreeSet<String>,
    ours: &BTreeSet<String>,
    text: &str,
    list: &str,
) -> Fallible {
    let without = patterns(text, list)?;
    let lacking: Vec<&String> = needed.difference(ours).collect();
    let missing: Vec<&&String> =
        lacking.iter().filter(|name| !without.iter().any(|pattern| describes(pattern, name))).collect();
    if !missing.is_empty() {
        return Err(format!("of {} names these are missing: {missing:?}", needed.len()));
    }
    match without.iter().find(|pattern| !lacking.iter().any(|name| describes(pattern, name))) {
        Some(pattern) => Err(format!("{list}: `{pattern}` describes no name that is missing")),
        None => Ok(()),
    }
}

fn exported(library: &Path) -> Fallible<BTreeSet<String>> {
    let listed = Job::new("nm").args(["-D", "--defined-only"]).arg(library).succeed()?.stdout;
    Ok(listed.lines().filter_map(|line| line.split_whitespace().nth(2)).map(String::from).collect())
}

/// `pattern: reason`, one in a line; `#` begins a comment.
fn patterns<'a>(text: &'a str, list: &str) -> Fallible<Vec<&'a str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| match line.split_once(": ") {
            Some((pattern, why)) if !why.trim().is_empty() => Ok(pattern),
            _ => Err(format!("{list}: `{line}` is not `pattern: reason`")),
        })
        .collect()
}

/// Whether a name is what a pattern says, in which `*` stands for anything.
fn describes(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).any(|at| name.is_char_boundary(at) && describes(rest, &name[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::header;
    use super::*;

    const HANDLES: &str = "crates/posthaste-mpich-fortran/src/constants.rs";

    #[test]
    fn a_star_stands_for_anything() {
        assert!(describes("a*_", "abc_") && describes("a*_", "a_") && describes("*x*", "wxy"));
        assert!(!describes("a*_", "abc") && !describes("a", "ab") && describes("a*", "a"));
    }

    /// The handles that have variables have the numbers of the C library.
    fn same_handles(project: &Project) -> Fallible {
        let text = fs::read_to_string(project.root.join(HANDLES))
            .map_err(|e| format!("can't read {HANDLES}: {e}"))?;
        let constants = header::constants(&project.root)?;
        let mut compared = 0;
        for line in text.lines() {
            let Some((stem, value)) = line.trim().strip_prefix('"').and_then(|line| line.split_once("\" "))
            else {
                continue;
            };
            let number = |text: &str| u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
            let wanted = format!("MPI_{}", stem.to_uppercase());
            // Synonyms stand under one of their names.
            let wanted = match wanted.as_str() {
                "MPI_C_COMPLEX" => "MPI_C_FLOAT_COMPLEX".into(),
                "MPI_LONG_LONG_INT" => "MPI_LONG_LONG".into(),
                _ => wanted,
            };
            if wanted == "MPI_FILE_NULL" {
                continue;
            }
            let (_, _, known) = constants
                .iter()
                .find(|(name, ..)| *name == wanted)
                .ok_or_else(|| format!("{HANDLES}: the C library has no {wanted}"))?;
            let known = known.split('(').next_back().unwrap_or_default().trim_end_matches(')');
            let known = known.split("_u32").next().unwrap_or_default();
            if number(known).is_none() || number(known) != number(value) {
                return Err(format!("{HANDLES}: {wanted} is {value}, {known} in C"));
            }
            compared += 1;
        }
        if compared > 100 { Ok(()) } else { Err(format!("only {compared} handles were compared")) }
    }

    #[test]
    fn handles_are_those_of_c() {
        same_handles(&Project::find()).unwrap();
    }
}
