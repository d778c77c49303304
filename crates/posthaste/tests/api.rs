//! What the documentation promises, read from the sources: every public item has an example that runs, and every function of
//! MPI-5.0 chapters 3 to 8 has a Rust form, or `docs/rust.md` says why it has none.
//!
//! An example counts if the doctests run it, not only compile it. A method may be shown by the example of its type or of another
//! method, which then calls it by name. The forms that a macro makes of one declaration (`Scope`, `Plans`) share the example of the
//! blocking form. What needs a second job (`jobs`) is compiled here, and run by the tests of programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A public item with its documentation and attributes.
struct Item {
    place: String,
    name: String,
    is_function: bool,
    /// In whose `impl` or `trait` it stands; empty outside.
    of: String,
    about: String,
    aliases: Vec<String>,
}

impl Item {
    fn path(&self) -> String {
        if self.of.is_empty() { self.name.clone() } else { format!("{}::{}", self.of, self.name) }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The word at the beginning of a text.
fn word(text: &str) -> &str {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("")
}

/// What stands between quotation marks behind each `alias = `, or in the list of names of a declared operation.
fn names_in(line: &str) -> Vec<String> {
    let quoted = || line.split('"').skip(1).step_by(2).map(str::to_owned);
    let is_alias = line.starts_with("#[doc(alias");
    let is_list = line.starts_with("(\"MPI_");
    if is_alias || is_list { quoted().collect() } else { Vec::new() }
}

/// The type that an `impl` or a `trait` is about.
fn owner(line: &str) -> Option<String> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    if let Some(name) = line.strip_prefix("trait ") {
        return Some(word(name).to_owned());
    }
    let about = line.strip_prefix("impl")?;
    let about = about.rsplit(" for ").next()?;
    // Without the parameters of the `impl` itself.
    let mut depth = 0;
    let start = about.char_indices().find_map(|(at, c)| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 && c.is_alphabetic() => return Some(at),
            _ => {}
        }
        None
    })?;
    Some(word(&about[start..]).to_owned())
}

/// The public items of a file.
fn items(path: &Path) -> Vec<Item> {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("\n#[cfg(test)]").next().unwrap();
    let (mut found, mut about, mut aliases) = (Vec::new(), String::new(), Vec::new());
    let (mut of, mut is_trait, mut in_attribute) = (String::new(), false, false);
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim();
        if let Some(said) = bare.strip_prefix("///") {
            about.push_str(said);
            about.push('\n');
            continue;
        }
        if in_attribute || bare.starts_with("#[") || bare.starts_with("(\"MPI_") {
            aliases.extend(names_in(bare));
            in_attribute = (in_attribute || bare.starts_with("#[")) && !bare.ends_with(']');
            continue;
        }
        if let Some(name) = owner(bare) {
            is_trait = bare.starts_with("pub trait");
            // A macro has the methods of both ends; here stands one of them.
            of = match (&name[..], path.file_stem().and_then(|stem| stem.to_str())) {
                ("request", Some("persistent")) => "PersistentSend".to_owned(),
                ("request", Some("partitioned")) => "PartitionedSend".to_owned(),
                _ => name,
            };
        } else if let Some(declared) = bare.strip_prefix("collectives! { ") {
            (of, is_trait) = (word(declared).to_owned(), false);
        } else if line.starts_with('}') {
            (of, is_trait) = (String::new(), false);
        }
        let declared = bare.strip_prefix("pub ").map(|rest| rest.strip_prefix("async ").unwrap_or(rest));
        let declared = declared.map(|rest| rest.strip_prefix("const fn").map_or(rest, |_| &rest[6..]));
        let in_trait = (is_trait && bare.starts_with("fn ")).then_some(bare);
        let in_list =
            (bare.starts_with("fn ") && bare.contains('[') && of.ends_with("ommunicator")).then_some(bare);
        if let Some(declared) = declared.or(in_trait).or(in_list) {
            let (kind, name) = declared.split_once(' ').unwrap_or((declared, ""));
            let place = format!("{}:{}", path.file_name().unwrap().to_string_lossy(), at + 1);
            let item = |name: &str, of: &str| Item {
                place: place.clone(),
                name: name.to_owned(),
                is_function: kind == "fn",
                of: of.to_owned(),
                about: about.clone(),
                aliases: aliases.clone(),
            };
            match kind {
                _ if name.starts_with('$') => {}
                "fn" => found.push(item(word(name), &of)),
                "struct" | "enum" | "trait" | "const" => found.push(item(word(name), "")),
                // What core has and this crate shows as its own.
                "use" if name.starts_with("posthaste_core::") => {
                    let names = name.rsplit("::").next().unwrap().split(|c: char| !c.is_alphanumeric());
                    let is_type = |name: &&str| name.starts_with(char::is_uppercase);
                    found.extend(names.filter(is_type).map(|name| item(name, "")));
                }
                _ => {}
            }
        }
        if !bare.is_empty() {
            about.clear();
            aliases.clear();
        }
    }
    found
}

/// All of the crate.
fn all() -> Vec<Item> {
    let sources = files(&root().join("crates/posthaste/src"));
    let sealed = |item: &Item| item.name == "Sealed" || item.of == "Sealed";
    sources.iter().flat_map(|path| items(path)).filter(|item| !sealed(item)).collect()
}

/// The examples in a text that the doctests run.
fn examples(item: &Item) -> String {
    let needs_jobs = item.place.starts_with("jobs.rs");
    let mut examples = String::new();
    let mut runs = None;
    for line in item.about.lines() {
        match (line.trim().strip_prefix("```"), runs) {
            (Some(kind), None) => {
                runs = Some(["", "rust", "should_panic"].contains(&kind) || (needs_jobs && kind == "no_run"));
            }
            (Some(_), Some(_)) => runs = None,
            (None, Some(true)) => {
                examples.push_str(line);
                examples.push('\n');
            }
            (None, _) => {}
        }
    }
    examples
}

#[test]
fn every_public_item_has_an_example_that_runs() {
    let all = all();
    assert!(all.len() > 250, "only {} items were found", all.len());
    let mut every = String::new();
    all.iter().for_each(|item| every.push_str(&examples(item)));
    let is_called = |name: &str| {
        ["", "::<"].iter().any(|generic| {
            let end = if generic.is_empty() { "(" } else { "::<" };
            every.contains(&format!(".{name}{end}")) || every.contains(&format!("::{name}{end}"))
        })
    };
    let without: Vec<String> = all
        .iter()
        .filter(|item| {
            examples(item).is_empty()
                && !(item.is_function && is_called(&item.name))
                && item.place.split(":").next() != Some("jobs.rs")
        })
        .map(|item| format!("{}: {}", item.place, item.path()))
        .collect();
    assert!(without.is_empty(), "{} without an example:\n{}", without.len(), without.join("\n"));
}

/// The C functions of MPI-5.0 chapters 3 to 8, by the headings of `docs/conformance.md`; without those that differ from others by
/// the type of their counts alone.
fn functions() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let chapters = ["chapter 3)", "chapter 4)", "§3.7", "§5.", "§6.", "§7.", "§8."];
    let sections = text.split("\n## ").skip(1).filter_map(|section| {
        let (heading, rows) = section.split_once('\n')?;
        let other = heading.contains("chapters 9");
        if other || !chapters.iter().any(|chapter| heading.contains(chapter)) {
            return None;
        }
        let names = rows.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        let names: BTreeSet<&str> = names.filter(|name| name.starts_with("MPI_")).collect();
        let is_large = |name: &&&str| name.strip_suffix("_c").is_some_and(|small| names.contains(small));
        let all = names.iter().filter(|name| !is_large(name)).map(|name| (*name).to_owned()).collect();
        Some((heading.to_owned(), all))
    });
    sections.collect()
}

/// The table of `docs/rust.md`, by the aliases under which a search of the documentation finds the items.
fn table() -> String {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in all() {
        let forms = match &item.aliases[..] {
            [.., blocking, started, kept] if kept.ends_with("_init") => {
                let [of, scope, plans] = match &item.of[..] {
                    "Intercommunicator" => ["Intercommunicator", "InterScope", "InterPlans"],
                    _ => ["Communicator", "Scope", "Plans"],
                };
                [(blocking, of), (started, scope), (kept, plans)].map(|(c, of)| (c.clone(), of)).to_vec()
            }
            aliases => aliases.iter().map(|alias| (alias.clone(), item.of.as_str())).collect(),
        };
        for (alias, of) in forms {
            let path = if of.is_empty() { item.name.clone() } else { format!("{of}::{}", item.name) };
            found.entry(alias).or_default().insert(format!("`{path}`"));
        }
    }
    let mut table = String::new();
    for (heading, functions) in functions() {
        let rows: Vec<String> = functions
            .iter()
            .filter_map(|function| {
                let forms: Vec<&str> = found.get(function)?.iter().map(String::as_str).collect();
                Some(format!("| `{function}` | {} |\n", forms.join(", ")))
            })
            .collect();
        if !rows.is_empty() {
            table.push_str(&format!("\n### {heading}\n\n| C | Rust |\n|---|---|\n{}", rows.concat()));
        }
    }
    table
}

/// `POSTHASTE_WRITE=1` writes the table instead.
#[test]
fn every_function_of_chapters_3_to_8_has_a_rust_form_or_a_reason() {
    const START: &str = "<!-- written by POSTHASTE_WRITE=1 cargo test -p posthaste --test api -->\n";
    let page = root().join("docs/rust.md");
    let text = fs::read_to_string(&page).unwrap();
    let (said, written) = text.split_once(START).expect("the page has a place for the table");
    let table = table();
    if std::env::var_os("POSTHASTE_WRITE").is_some() {
        fs::write(&page, format!("{said}{START}{table}")).unwrap();
        return;
    }
    assert!(
        written == table,
        "docs/rust.md is not up to date: POSTHASTE_WRITE=1 cargo test -p posthaste --test api"
    );
    let mut count = 0;
    for function in functions().into_iter().flat_map(|(_, functions)| functions) {
        count += 1;
        let named = format!("`{function}`");
        assert!(table.contains(&named) || said.contains(&named), "{function} is not in docs/rust.md");
        assert!(
            !(table.contains(&named) && said.contains(&named)),
            "{function} has a form, and a reason for none"
        );
    }
    assert!(count > 200, "only {count} functions were found");
}
