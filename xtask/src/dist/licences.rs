//! The licences of the crates that are linked into the programs and the libraries, with their texts, and those of Rust's standard
//! library and what is in it, as the compiler's own packages have them.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use super::write as write_file;
use crate::{
    install::CRATES,
    process::Job,
    project::{Fallible, Project, files_named},
};

/// One crate: its name and version, its licence's short name, the texts that it comes with.
type Crate = (String, String, Vec<String>);

/// Writes them into one file, each text once.
pub(super) fn write(project: &Project, to: &Path) -> Fallible {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::from(
        "posthaste is licensed under MIT or Apache-2.0, at your choice, as is the standard library of Rust that is\n\
         linked in. rust-standard-library.html has its notices and those of crates in it. It leaves out addr2line, adler2,\n\
         miniz_oxide and object, which are here under Apache-2.0 (LICENSE-APACHE), and memchr, under the Unlicense.\n\
         These crates are linked in, too, under their own licences, whose texts follow:\n\n",
    );
    for (name, licence, own) in crates(project)? {
        list += &format!("{name}: {licence}\n");
        for text in own {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    for (text, names) in texts {
        list += &format!("\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim());
    }
    write_file(to, &list, 0o644)
}

/// The notices of the standard library and of the crates that it is made of.
pub(super) fn of_standard_library(to: &Path) -> Fallible {
    let home = Job::new("rustc").args(["--print", "sysroot"]).succeed()?.stdout;
    let notices = Path::new(home.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    let text = fs::read_to_string(&notices).map_err(|e| {
        format!(
            "the notices of Rust's standard library are not in {}: {e}; rustup has them",
            notices.display()
        )
    })?;
    // Most of its lines are empty.
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    write_file(to, &text, 0o644)
}

/// The crates of others, by name.
fn crates(project: &Project) -> Fallible<Vec<Crate>> {
    let options = ["-e", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
    let linked = project.cargo(&["tree", "--locked"]).args(CRATES).args(options).succeed()?.stdout;
    let mut linked: Vec<&str> = linked.lines().filter_map(|line| line.split(" (").next()).collect();
    linked.sort_unstable();
    linked.dedup();
    let known = project.metadata(["--locked"])?;
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for package in known["packages"].as_array().into_iter().flatten() {
        let name = format!("{} v{}", text(package, "name"), text(package, "version"));
        if package["source"].is_null() || linked.binary_search(&name.as_str()).is_err() {
            continue;
        }
        let manifest = text(package, "manifest_path");
        let folder = Path::new(&manifest).parent().unwrap_or(Path::new("/"));
        let licences = files_named(folder, &["LICENSE", "LICENCE", "COPYING", "NOTICE"]);
        if licences.is_empty() {
            return Err(format!("{name} comes without a file that holds its licence"));
        }
        let texts = licences.iter().map(fs::read_to_string).collect::<Result<_, _>>();
        found.push((name, text(package, "license"), texts.map_err(|e| format!("{manifest}: {e}"))?));
    }
    if found.len() < 3 {
        return Err(format!("only {} crates of others are linked in, says cargo", found.len()));
    }
    Ok(found)
}
