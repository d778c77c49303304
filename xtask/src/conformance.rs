//! `docs/conformance.md`: chapter by chapter, which functions of MPI-5.0 are implemented and which C tests call
//! them. Written by `cargo xtask conformance`; `cargo xtask test` fails when the page is not what would be
//! written. What must stay true: a function stands in the table only when it is implemented and a C test calls it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use crate::{
    abi_check::{self, Entry},
    marks,
    project::{Fallible, Project, stem},
};

const PAGE: &str = "docs/conformance.md";
/// A function that is called everywhere need not name every caller.
const MOST_TESTS: usize = 4;

/// Writes the page, and the header that marks what is missing.
pub(crate) fn write(project: &Project) -> Fallible {
    marks::write(&project.root)?;
    let path = project.root.join(PAGE);
    fs::write(&path, page(project)?).map_err(|e| format!("can't write {}: {e}", path.display()))
}

/// The committed page is what would be written now.
pub(crate) fn check(project: &Project) -> Fallible {
    let wanted = page(project)?;
    let found = fs::read_to_string(project.root.join(PAGE)).unwrap_or_default();
    if found == wanted {
        return Ok(());
    }
    let line = found.lines().zip(wanted.lines()).position(|(found, wanted)| found != wanted);
    let line = line.unwrap_or(found.lines().count().min(wanted.lines().count())) + 1;
    Err(format!("{PAGE} is out of date from line {line} on; write it anew with `cargo xtask conformance`"))
}

/// The test of handlers with requests of every kind, and functions that have a request to do something with.
const OF_EVERY_KIND: &str = "tests/c/handlers_kinds.c";
const TAKE_A_REQUEST: [&str; 3] = ["MPI_Cancel", "MPI_Request_free", "MPI_Start"];

/// Every function that makes a request is in the test of handlers.
pub(crate) fn check_requests(project: &Project) -> Fallible {
    let path = project.root.join(OF_EVERY_KIND);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let signatures = abi_check::signatures(&project.root)?;
    let makes = |name: &str| {
        let last = signatures.get(name).and_then(|parameters| parameters.last());
        last.is_some_and(|last| last == "MPI_Request *request") && !TAKE_A_REQUEST.contains(&name)
    };
    let there = abi_check::survey(&project.root)?.into_iter().filter(|function| function.supported);
    let mut made: Vec<String> = there.map(|function| function.name).filter(|name| makes(name)).collect();
    made.extend(made_beside(project)?);
    let is_missing = |name: &&String| !words.contains(name.strip_suffix("_c").unwrap_or(name));
    let missing: Vec<&String> = made.iter().filter(is_missing).collect();
    if missing.is_empty() && made.len() > 100 {
        return Ok(());
    }
    Err(format!(
        "of {} functions that make requests, {OF_EVERY_KIND} has no handler for {missing:?}",
        made.len()
    ))
}

/// The functions beside the standard that make requests.
fn made_beside(project: &Project) -> Fallible<Vec<String>> {
    let path = project.root.join("crates/posthaste-abi/include/mpi-ext.h");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let makes = |line: &&str| line.starts_with("int MPIX_") && line.ends_with("MPI_Request *request);");
    let name = |line: &str| line.trim_start_matches("int ").split('(').next().unwrap_or(line).to_owned();
    Ok(text.lines().filter(makes).map(name).collect())
}

/// The functions of one chapter file.
#[derive(Default)]
struct Chapter {
    tested: Vec<Entry>,
    untested: Vec<String>,
    missing: Vec<String>,
}

fn page(project: &Project) -> Fallible<String> {
    let mut chapters: BTreeMap<(Vec<u32>, String), Chapter> = BTreeMap::new();
    for entry in abi_check::survey(&project.root)? {
        let chapter = chapters.entry(heading(&entry.file)?).or_default();
        match (entry.supported, entry.tests.is_empty()) {
            (false, _) => chapter.missing.push(entry.name),
            (true, true) => chapter.untested.push(entry.name),
            (true, false) => chapter.tested.push(entry),
        }
    }
    let tested: usize = chapters.values().map(|chapter| chapter.tested.len()).sum();
    let all: usize = chapters.values().map(Chapter::all).sum();
    let mut text = format!(
        "# Conformance to MPI-5.0\n\n\
         <!-- Written by `cargo xtask conformance`; do not edit. -->\n\n\
         {tested} of the {all} C functions are implemented and called by at least one C program under `tests/c`. \
         All {all} can be linked; the compiler warns of a call of one that is missing, which at run time raises \
         MPI_ERR_UNSUPPORTED_OPERATION and names itself.\n\n\
         | chapter | implemented and tested | of |\n|---|--:|--:|\n"
    );
    for ((_, title), chapter) in &chapters {
        let _ = writeln!(text, "| {title} | {} | {} |", chapter.tested.len(), chapter.all());
    }
    for ((_, title), chapter) in &chapters {
        let _ = write!(text, "\n## {}\n", capital(title));
        if !chapter.tested.is_empty() {
            text += "\n| function | called by |\n|---|---|\n";
        }
        for entry in &chapter.tested {
            let tests: Vec<&str> = entry.tests.iter().take(MOST_TESTS).map(String::as_str).collect();
            let more = if entry.tests.len() > MOST_TESTS { ", ..." } else { "" };
            let _ = writeln!(text, "| `{}` | {}{more} |", entry.name, tests.join(", "));
        }
        for (what, names) in [
            ("Implemented, but no C test calls it", &chapter.untested),
            ("Not implemented", &chapter.missing),
        ] {
            if !names.is_empty() {
                let _ = writeln!(text, "\n{what}: `{}`", names.join("`, `"));
            }
        }
    }
    Ok(text)
}

impl Chapter {
    fn all(&self) -> usize {
        self.tested.len() + self.untested.len() + self.missing.len()
    }
}

/// What a chapter file says it is about, with the numbers of its first section to sort by:
/// `//! C functions for groups of processes (MPI-5.0 §7.3).`
fn heading(file: &Path) -> Fallible<(Vec<u32>, String)> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
    let said = lines.join(" ");
    let title =
        said.strip_prefix("C functions for ").and_then(|said| said.split_once(").")).map(|(title, _)| title);
    let title = title.ok_or_else(|| {
        format!("{}.rs does not begin with `//! C functions for ... (MPI-5.0 ...).`", stem(file))
    })?;
    let section = title.split_once("(MPI-5.0 ").map_or("", |(_, section)| section);
    let digits = section.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let numbers = digits[..end].split('.').filter_map(|number| number.parse().ok()).collect();
    Ok((numbers, format!("{title})")))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
