//! The arrow test: which crate may use which, and which room of a crate may use which.
//! Reads the manifests and the source lines that name crates or rooms. What must stay true: the lists below, and the order of
//! rooms in each `lib.rs`, are the architecture (see ARCHITECTURE.md); a new arrow is a decision.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::project::{Fallible, Project};

/// For each crate, the crates of this workspace that it may depend on.
const CRATES: [(&str, &[&str]); 10] = [
    ("posthaste-os", &[]),
    ("posthaste-pmi", &["posthaste-os"]),
    ("posthaste-core", &["posthaste-os", "posthaste-pmi"]),
    ("posthaste-derive", &[]),
    ("posthaste", &["posthaste-core", "posthaste-derive"]),
    ("posthaste-abi", &["posthaste-core"]),
    ("posthaste-mpich", &["posthaste-core"]),
    // It knows the C library by its functions alone.
    ("posthaste-fortran", &[]),
    ("posthaste-mpich-fortran", &[]),
    ("posthaste-launch", &["posthaste-core", "posthaste-os", "posthaste-pmi"]),
];

/// The crates whose rooms have an order, that of the `mod` lines in `lib.rs`: a room uses only rooms before it.
const ORDERED: [&str; 2] = ["posthaste-core", "posthaste-abi"];

/// The crates in which the files of a room have an order, too, that of the `mod` lines in the room's `mod.rs`.
const ORDERED_INSIDE: [&str; 1] = ["posthaste-abi"];

/// What the launcher may use of posthaste-core: `meeting` for the names server alone.
const LAUNCH_ROOMS: &[&str] = &["config", "explain", "trace", "meeting"];

/// What the typed API may use of posthaste-core: what carries a borrow, and what shows nobody's memory. Not `datatype`, whose
/// segments have no lifetime, nor the rooms where they are under way.
const TYPED_ROOMS: &[&str] = &[
    "buffer", "coll", "comm", "error", "group", "ids", "info", "instance", "meeting", "op", "request",
    "slice", "topology", "wire", "world",
];

/// Checks everything; the error lists every wrong arrow.
pub(crate) fn run(project: &Project) -> Fallible {
    let mut wrong = Vec::new();
    for (name, allowed) in CRATES {
        let folder = project.root.join("crates").join(name);
        let manifest = read(&folder.join("Cargo.toml"))?;
        for used in workspace_dependencies(&manifest) {
            if !allowed.contains(&used.as_str()) {
                wrong
                    .push(format!("{name}/Cargo.toml depends on {used}; it may depend on {}", list(allowed)));
            }
        }
    }
    check_known_crates(project, &mut wrong);
    for name in ORDERED {
        check_rooms(&project.root.join("crates"), name, &mut wrong)?;
    }
    for name in ORDERED_INSIDE {
        check_files(&project.root.join("crates"), name, &mut wrong)?;
    }
    check_faces(project, &mut wrong)?;
    for (name, rooms) in [("posthaste-launch", LAUNCH_ROOMS), ("posthaste", TYPED_ROOMS)] {
        check_user(name, rooms, &project.root.join("crates").join(name), &mut wrong)?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("    {}", wrong.join("\n    "))) }
}

/// The crates of this workspace that a manifest names, development dependencies left out.
fn workspace_dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut section = String::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
            if let Some((kind, name)) = section.rsplit_once('.')
                && kind.ends_with("dependencies")
                && kind != "dev-dependencies"
                && name.starts_with("posthaste")
            {
                found.insert(name.to_owned());
            }
        } else if section.ends_with("dependencies") && section != "dev-dependencies" {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            if name.starts_with("posthaste") {
                found.insert(name.to_owned());
            }
        }
    }
    found
}

fn check_known_crates(project: &Project, wrong: &mut Vec<String>) {
    let folders = fs::read_dir(project.root.join("crates")).into_iter().flatten().flatten();
    for folder in folders.filter(|f| f.path().join("Cargo.toml").exists()) {
        let name = folder.file_name().to_string_lossy().into_owned();
        if !CRATES.iter().any(|(known, _)| *known == name) {
            wrong.push(format!("the crate {name} is not in the list of arrows"));
        }
    }
}

fn check_rooms(crates: &Path, name: &str, wrong: &mut Vec<String>) -> Fallible {
    let source = crates.join(name).join("src");
    let order = order(&read(&source.join("lib.rs"))?);
    for file in rust_files(&source) {
        let inside = file.strip_prefix(&source).unwrap_or(&file);
        let room = inside.components().next().map(|c| c.as_os_str().to_string_lossy().into_owned());
        let room = room.unwrap_or_default().trim_end_matches(".rs").to_owned();
        if !file.to_string_lossy().ends_with("tests.rs") {
            let shown = format!("{name}/src/{}", inside.display());
            check_file(&order, &room, &["crate"], &shown, &read(&file)?, wrong);
        }
    }
    Ok(())
}

/// Other faces have the rooms of the C library, in their order: what the tests' leaves out is not shown to be free of numbers
/// of an ABI. MPICH's has two more behind them.
fn check_faces(project: &Project, wrong: &mut Vec<String>) -> Fallible {
    let rooms = |folder: &str| Ok::<_, String>(order(&read(&project.root.join(folder).join("src/lib.rs"))?));
    let all = rooms("crates/posthaste-abi")?;
    for (folder, more) in [("tests/face", &[][..]), ("crates/posthaste-mpich", &["fortran", "removed"])] {
        let shown = rooms(folder)?;
        let wanted: Vec<&str> = all.iter().map(String::as_str).chain(more.iter().copied()).collect();
        if shown != wanted {
            wrong.push(format!(
                "{folder} has the rooms {}, wanted are {}",
                shown.join(" "),
                wanted.join(" ")
            ));
        }
    }
    Ok(())
}

fn check_files(crates: &Path, name: &str, wrong: &mut Vec<String>) -> Fallible {
    let source = crates.join(name).join("src");
    let rooms = order(&read(&source.join("lib.rs"))?);
    for room in &rooms {
        let folder = source.join(room);
        if !folder.is_dir() {
            continue;
        }
        let order = order(&read(&folder.join("mod.rs"))?);
        for file in rust_files(&folder) {
            let one = crate::project::stem(&file);
            let shown = format!("{name}/src/{room}/{one}.rs");
            let text = read(&file)?;
            check_file(&order, &one, &["super", &format!("crate::{room}")], &shown, &text, wrong);
            check_file(&rooms, room, &["super::super"], &shown, &text, wrong);
        }
    }
    Ok(())
}

/// Whether a file of the module `own` names a later one by one of these paths. A module that is not in the order is there
/// for tests, and may look at anything.
fn check_file(order: &[String], own: &str, roots: &[&str], shown: &str, text: &str, wrong: &mut Vec<String>) {
    let place = |name: &str| order.iter().position(|known| known == name);
    let Some(own_place) = place(own) else { return };
    for (line, used) in roots.iter().flat_map(|root| rooms_used(text, root)) {
        if place(&used).is_some_and(|other| other > own_place) {
            wrong.push(format!("{shown}:{line}: `{own}` uses `{used}`, which comes after it"));
        }
    }
}

/// The modules that a file declares, in their order, without those for tests.
fn order(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    for line in text.lines().map(str::trim) {
        let declared = ["", "pub ", "pub(crate) "].iter().find_map(|seen| {
            line.strip_prefix(seen)?.strip_prefix("mod ")?.split_once(';').map(|(name, _)| name.to_owned())
        });
        found.extend(declared.filter(|_| before != "#[cfg(test)]"));
        before = line;
    }
    found
}

fn check_user(name: &str, rooms: &[&str], folder: &Path, wrong: &mut Vec<String>) -> Fallible {
    for file in rust_files(&folder.join("src")) {
        for (line, used) in rooms_used(&read(&file)?, "posthaste_core") {
            if !rooms.contains(&used.as_str()) {
                let shown = file.strip_prefix(folder).unwrap_or(&file).display();
                wrong.push(format!("{name}/{shown}:{line}: uses posthaste_core::{used}"));
            }
        }
    }
    Ok(())
}

/// The rooms that code names as `<root>::room` or `<root>::{room, ...}`, with line numbers. Comments and the
/// tests at the end of a file are left out: they may look at anything.
fn rooms_used(text: &str, root: &str) -> Vec<(usize, String)> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String = text
        .lines()
        .map(|line| if line.trim_start().starts_with("//") { "\n".into() } else { format!("{line}\n") })
        .collect();
    let pattern = format!("{root}::");
    let mut found = Vec::new();
    for (at, _) in code.match_indices(&pattern) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$' || c == ':') {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + pattern.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(top_level_names(group).into_iter().map(|name| (line, name))),
            None => found.push((line, first_name(rest))),
        }
    }
    found
}

/// The first path segments inside `{...}`, nested groups left out.
fn top_level_names(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut item) = (0usize, Vec::new(), String::new());
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(std::mem::take(&mut item)),
            _ if depth == 0 => item.push(c),
            _ => {}
        }
    }
    names.push(item);
    names.iter().map(|item| first_name(item.trim())).filter(|name| !name.is_empty()).collect()
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Fallible<String> {
    fs::read_to_string(path).map_err(|e| format!("can't read {}: {e}", path.display()))
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none of ours".into() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_groups_and_alone() {
        let code = "use crate::{\n    buffer::{A, wait::B},\n    comm,\n};\n// crate::world\nfn f() { crate::ids::g(); my_crate::x() }\n#[cfg(test)]\nuse crate::tool;";
        let names: Vec<String> = rooms_used(code, "crate").into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["buffer", "comm", "ids"]);
        assert_eq!(rooms_used(code, "crate")[2].0, 6);
    }

    #[test]
    fn the_order_of_modules_is_that_of_their_declarations() {
        let text = "//! mod x;\nmod b;\n#[allow(unsafe_code)] // why\npub mod a; // last\n#[cfg(test)]\nmod testing;\n\
                    pub(crate) mod c;\npub use a::d;\n";
        assert_eq!(order(text), ["b", "a", "c"]);
    }

    #[test]
    fn a_file_that_uses_a_later_module_is_found() {
        let order = ["object", "failure"].map(str::to_owned);
        let wrong = |own, text| {
            let mut wrong = Vec::new();
            check_file(&order, own, &["crate", "super"], "x.rs", text, &mut wrong);
            wrong
        };
        let later = "x.rs:2: `object` uses `failure`, which comes after it";
        assert_eq!(wrong("object", "\nuse crate::failure::raise;"), [later]);
        assert_eq!(wrong("object", "\nfn f() { super::failure::raise() }"), [later]);
        assert!(wrong("failure", "use crate::object;\nuse super::object::site;").is_empty());
        assert!(wrong("testing", "use crate::failure;").is_empty());
    }

    #[test]
    fn dependencies_are_read() {
        let manifest = "[dependencies]\nposthaste-os = { workspace = true }\nlibc.workspace = true\n\
                        [dev-dependencies]\nposthaste-launch = { path = \"x\" }\n[dependencies.posthaste-pmi]\npath = \"y\"\n";
        let found: Vec<String> = workspace_dependencies(manifest).into_iter().collect();
        assert_eq!(found, ["posthaste-os", "posthaste-pmi"]);
    }
}
