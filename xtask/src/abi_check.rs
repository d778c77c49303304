//! `cargo xtask abi-check`: compares the C library with the tables of the standard ABI (MPI-5.0 chapter 20).
//!
//! Compared are: the header (a generated C program of static assertions and function pointers must compile), the
//! symbols that `libmpi_abi.so` exports, and the Rust definitions (names, argument types, constants). What must stay
//! true: a function counts as implemented only when its Rust definition is not `unsupported!` and a C program under
//! `tests/c` calls it; one that is not implemented is marked in `posthaste_missing.h` (`marks`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::marks;
use crate::project::Project;

/// What the check found; printing it gives the summary, and with `--list` the names.
pub(crate) struct Report {
    /// Functions in the table.
    pub total: usize,
    /// Implemented, and called by a C test.
    pub implemented: BTreeSet<String>,
    /// Defined with a body, but no C test calls them.
    pub untested: BTreeSet<String>,
    /// Raise `MPI_ERR_UNSUPPORTED_OPERATION`.
    pub unsupported: BTreeSet<String>,
    /// Differences between the tables and what we have.
    pub problems: Vec<String>,
    /// Whether the names are wanted too.
    pub list: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list {
            let parts = [
                ("implemented", &self.implemented),
                ("without a C test", &self.untested),
                ("unsupported", &self.unsupported),
            ];
            for (title, names) in parts {
                writeln!(f, "{title}: {}", names.len())?;
                names.iter().try_for_each(|name| writeln!(f, "  {name}"))?;
            }
        }
        for problem in &self.problems {
            writeln!(f, "abi-check: {problem}")?;
        }
        writeln!(f, "implemented {} of {}", self.implemented.len(), self.total)?;
        write!(
            f,
            "abi-check: {} more have a body but no C test, {} are unsupported, {} differences from the tables",
            self.untested.len(),
            self.unsupported.len(),
            self.problems.len()
        )
    }
}

/// Runs the whole check and prints the report. `Err` when something differs from the tables, or when the check
/// could not be run at all (no compiler, no tables, build failed).
pub(crate) fn run() -> Result<Report, String> {
    let report = examine()?;
    println!("{report}");
    match report.problems.len() {
        0 => Ok(report),
        n => Err(format!("abi-check: {n} differences from the tables of the standard ABI")),
    }
}

fn examine() -> Result<Report, String> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent folder")?.to_path_buf();
    let abi = root.join("crates/posthaste-abi");
    let functions = functions(&abi.join("abi/functions.csv"))?;
    let callbacks = table(&abi.join("abi/callbacks.csv"))?;
    let constants = table(&abi.join("abi/constants.csv"))?;
    let callback_names: BTreeSet<String> = callbacks.iter().map(|row| row[0].clone()).collect();

    let mut problems = Vec::new();
    check_header(&abi, &functions, &callbacks, &constants, &mut problems)?;
    check_exports(&functions, &mut problems)?;
    let sources = rust_functions(&abi.join("src"))?;
    check_sources(&functions, &sources, &callback_names, &mut problems);
    check_rust_constants(&abi.join("src/abi/constants.rs"), &constants, &mut problems)?;

    let mut report = Report {
        total: functions.len(),
        implemented: BTreeSet::new(),
        untested: BTreeSet::new(),
        unsupported: BTreeSet::new(),
        problems,
        list: std::env::args().any(|arg| arg == "--list"),
    };
    let functions = survey(&root)?;
    marks::check(&root, &functions, &mut report.problems);
    for entry in functions {
        let set = match (entry.supported, entry.tests.is_empty()) {
            (false, _) => &mut report.unsupported,
            (true, true) => &mut report.untested,
            (true, false) => &mut report.implemented,
        };
        set.insert(entry.name);
    }
    Ok(report)
}

/// A function in the Rust sources, for the page about conformance.
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: String,
    /// The chapter file it stands in.
    pub file: PathBuf,
    pub supported: bool,
    /// The C programs under `tests/c` that call it.
    pub tests: BTreeSet<String>,
}

/// Every function with its chapter file and its tests, by name; needs neither a compiler nor the library.
pub(crate) fn survey(root: &Path) -> Result<Vec<Entry>, String> {
    let mut callers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for program in crate::project::files(&root.join("tests/c"), "c") {
        let test = crate::project::stem(&program);
        for name in names_before_parenthesis(&without_comments(&read(&program)?)) {
            callers.entry(name).or_default().insert(test.clone());
        }
    }
    let sources = rust_functions(&root.join("crates/posthaste-abi/src"))?;
    let entry = |(name, source): (String, Source)| Entry {
        tests: callers.get(&name).cloned().unwrap_or_default(),
        name,
        file: source.file,
        supported: source.supported,
    };
    Ok(sources.into_iter().map(entry).collect())
}

/// The parameters of every function of the table, each with its type and name.
pub(crate) fn signatures(root: &Path) -> Result<BTreeMap<String, Vec<String>>, String> {
    let table = functions(&root.join("crates/posthaste-abi/abi/functions.csv"))?;
    Ok(table.into_iter().map(|(name, function)| (name, function.parameters)).collect())
}

/// One function of the table.
struct Function {
    returns: String,
    parameters: Vec<String>,
}

/// One definition in the Rust sources.
struct Source {
    returns: String,
    parameters: Vec<String>,
    supported: bool,
    file: PathBuf,
}

fn functions(path: &Path) -> Result<BTreeMap<String, Function>, String> {
    let rows = table(path)?;
    let function = |row: Vec<String>| {
        let parameters = row[2].split(',').map(|p| p.trim().to_string());
        let parameters = parameters.filter(|p| !p.is_empty() && p != "void").collect();
        (row[0].clone(), Function { returns: row[1].clone(), parameters })
    };
    Ok(rows.into_iter().map(function).collect())
}

/// The rows of a table after its heading; fields may be quoted.
pub(crate) fn table(path: &Path) -> Result<Vec<Vec<String>>, String> {
    let text = read(path)?;
    let columns = text.lines().next().map_or(0, |heading| heading.split(',').count());
    let rows: Vec<Vec<String>> = text.lines().skip(1).map(fields).collect();
    match rows.iter().position(|row| row.len() != columns) {
        Some(row) => Err(format!("{}: line {} has not {columns} fields", path.display(), row + 2)),
        None => Ok(rows),
    }
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("there is always a field").push(c),
        }
    }
    fields
}

// The header.

/// Compiles a C program that holds only if the header has every constant, type and function of the tables.
fn check_header(
    abi: &Path,
    functions: &BTreeMap<String, Function>,
    callbacks: &[Vec<String>],
    constants: &[Vec<String>],
    problems: &mut Vec<String>,
) -> Result<(), String> {
    let header = abi.join("include/mpi.h");
    let mut program = String::from("#include <stddef.h>\n#include <mpi.h>\n");
    for row in constants {
        program += &constant_assertion(row);
    }
    program += LAYOUTS;
    for row in callbacks {
        program += &format!("{} (*check_{})({}) = ({} *)0;\n", row[1], row[0], row[2], row[0]);
    }
    for (name, function) in functions {
        let parameters =
            if function.parameters.is_empty() { "void".to_string() } else { function.parameters.join(", ") };
        for name in [name.clone(), format!("P{name}")] {
            program += &format!("{} (*check_{name})({parameters}) = {name};\n", function.returns);
        }
    }
    let folder = scratch()?;
    let source = folder.join("abi_check.c");
    std::fs::write(&source, program).map_err(|e| format!("{}: {e}", source.display()))?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let output = Command::new(&compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-DPOSTHASTE_ONLY_STANDARD", "-c", "-o"])
        .arg(folder.join("abi_check.o"))
        .arg("-I")
        .arg(abi.join("include"))
        .arg(&source)
        .output()
        .map_err(|e| format!("the C compiler {compiler} does not start: {e}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let errors = errors.lines().filter(|line| line.contains("error:")).take(20);
        problems.extend(errors.map(|line| format!("mpi.h: {line}")));
    }
    std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    check_for_strangers(&read(&header)?, functions, callbacks, constants, problems);
    Ok(())
}

const LAYOUTS: &str = "
_Static_assert(sizeof(MPI_Status) == 32 && _Alignof(MPI_Status) == _Alignof(int), \"MPI_Status\");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, \"MPI_SOURCE\");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == 4, \"MPI_TAG\");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8, \"MPI_ERROR\");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 12, \"MPI_internal\");
_Static_assert(_Generic((MPI_Aint)0, intptr_t: 1, default: 0), \"MPI_Aint\");
_Static_assert(_Generic((MPI_Offset)0, int64_t: 1, default: 0), \"MPI_Offset\");
_Static_assert(_Generic((MPI_Count)0, int64_t: 1, default: 0), \"MPI_Count\");
_Static_assert(_Generic((MPI_Comm)0, struct MPI_ABI_Comm *: 1, default: 0), \"MPI_Comm\");
_Static_assert(_Generic((MPI_Datatype)0, struct MPI_ABI_Datatype *: 1, default: 0), \"MPI_Datatype\");
_Static_assert(_Generic((MPI_Request)0, struct MPI_ABI_Request *: 1, default: 0), \"MPI_Request\");
_Static_assert(_Generic((MPI_Comm_errhandler_fn *)0, MPI_Comm_errhandler_function *: 1, default: 0), \"alias\");
_Static_assert(_Generic((MPI_File_errhandler_fn *)0, MPI_File_errhandler_function *: 1, default: 0), \"alias\");
_Static_assert(_Generic((MPI_Win_errhandler_fn *)0, MPI_Win_errhandler_function *: 1, default: 0), \"alias\");
_Static_assert(
    _Generic((MPI_Session_errhandler_fn *)0, MPI_Session_errhandler_function *: 1, default: 0), \"alias\");
";

/// An assertion about one row of the table of constants: its value and, for handles, its type.
fn constant_assertion(row: &[String]) -> String {
    let (name, kind, value) = (&row[0], &row[1], &row[2]);
    if name.starts_with("MPI_ABI_") && !name.ends_with("VERSION") {
        return String::new(); // macros that choose an integer type; the layouts above check the choice
    }
    if kind == "define" || kind == "int" {
        return format!("_Static_assert({name} == {value}, \"{name}\");\n");
    }
    format!(
        "_Static_assert(__builtin_choose_expr(1, (long){name}, 0) == (long){value}, \"{name}\");\n\
         _Static_assert(_Generic({name}, {kind}: 1, default: 0), \"type of {name}\");\n"
    )
}

/// What the compiler cannot see: names in the header that no table has.
fn check_for_strangers(
    header: &str,
    functions: &BTreeMap<String, Function>,
    callbacks: &[Vec<String>],
    constants: &[Vec<String>],
    problems: &mut Vec<String>,
) {
    let text = without_comments(header);
    let (macros, code): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    for name in names_before_parenthesis(&code.join("\n")) {
        let known = functions.contains_key(name.strip_prefix('P').unwrap_or(&name));
        if !known && !callbacks.iter().any(|row| row[0] == name) {
            problems.push(format!("mpi.h declares {name}, which the table does not have"));
        }
    }
    let defined = macros.iter().filter_map(|line| line.strip_prefix("#define ")?.split_whitespace().next());
    let own = ["MPI_H_INCLUDED", "MPI_ABI_Aint", "POSTHASTE_INLINE"];
    for name in defined.filter(|name| !own.contains(name)) {
        if !constants.iter().any(|row| row[0] == name) {
            problems.push(format!("mpi.h defines {name}, which the table does not have"));
        }
    }
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        out += &rest[..start];
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    out + rest
}

/// Every `MPI_x` or `PMPI_x` that stands directly before a parenthesis.
fn names_before_parenthesis(text: &str) -> BTreeSet<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = text.match_indices('(').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let name = &before[before.rfind(|c| !word(c)).map_or(0, |i| i + 1)..];
        (name.starts_with("MPI_") || name.starts_with("PMPI_")).then(|| name.to_string())
    });
    names.collect()
}

// The library.

fn check_exports(functions: &BTreeMap<String, Function>, problems: &mut Vec<String>) -> Result<(), String> {
    let library = build_library(&Project::find())?;
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(&library)
        .output()
        .map_err(|e| format!("nm does not start: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let exported: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    for name in functions.keys() {
        for name in [name.clone(), format!("P{name}")] {
            if !exported.contains(name.as_str()) {
                problems.push(format!("libmpi_abi.so does not export {name}"));
            }
        }
    }
    let include = Project::find().root.join("crates/posthaste-abi/include");
    let (header, declared) = (read(&include.join("posthaste.h"))?, read(&include.join("mpi-ext.h"))?);
    let beside: BTreeSet<&str> = extensions(&header).union(&declarations(&declared)).copied().collect();
    for name in &beside {
        if !exported.contains(name) {
            problems.push(format!("libmpi_abi.so does not export {name}, which a header declares"));
        }
    }
    for name in exported.difference(&beside) {
        if !functions.contains_key(name.strip_prefix('P').unwrap_or(name)) {
            problems.push(format!("libmpi_abi.so exports {name}, which the table does not have"));
        }
    }
    Ok(())
}

/// The functions beside the standard, which posthaste.h finds at run time.
fn extensions(header: &str) -> BTreeSet<&str> {
    let lines = header.lines().filter_map(|line| line.strip_prefix("POSTHASTE_FUNCTION("));
    lines.filter_map(|line| line.split(',').next()).collect()
}

/// The functions beside the standard that `mpi-ext.h` declares.
fn declarations(header: &str) -> BTreeSet<&str> {
    let lines = header.lines().filter_map(|line| line.strip_prefix("int "));
    lines.filter_map(|line| line.split('(').next()).collect()
}

/// Builds the library as it is installed and returns its path.
fn build_library(project: &Project) -> Result<PathBuf, String> {
    let arguments = ["build", "--release", "-p", "posthaste-abi", "--message-format=json-render-diagnostics"];
    let said = project.cargo(&arguments).succeed()?.stdout;
    let path = said.split('"').find(|part| part.ends_with("/libmpi_abi.so")).map(PathBuf::from);
    path.ok_or_else(|| "cargo did not say where libmpi_abi.so is".to_string())
}

// The Rust sources.

/// Every `fn MPI_X / PMPI_X(…)` of the chapter files.
fn rust_functions(folder: &Path) -> Result<BTreeMap<String, Source>, String> {
    let mut found = BTreeMap::new();
    for file in crate::arrows::rust_files(folder) {
        let text = read(&file)?;
        let mut rest = text.as_str();
        while let Some(at) = rest.find("fn MPI_") {
            rest = &rest[at + 3..];
            let Some((names, tail)) = rest.split_once('(') else { break };
            let Some((name, profiling)) = names.split_once(" / ") else { continue };
            let Some(close) = closing(tail) else { continue };
            if profiling.trim() != format!("P{name}") {
                return Err(format!("{}: {name} has the profiling name {profiling}", file.display()));
            }
            let parameters = split_arguments(&tail[..close]);
            let after = tail[close + 1..].trim_start();
            let returns = after.strip_prefix("->").and_then(|r| r.split('{').next()).unwrap_or("c_int");
            let source = Source {
                returns: returns.trim().to_string(),
                parameters,
                supported: !after.starts_with(';'),
                file: file.clone(),
            };
            if found.insert(name.to_string(), source).is_some() {
                return Err(format!("{name} is defined twice"));
            }
        }
    }
    Ok(found)
}

/// Place of the parenthesis that closes the list `text` is in.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
        None
    })
}

fn split_arguments(text: &str) -> Vec<String> {
    let types = text.split(", ").flat_map(|part| part.split(",\n"));
    let types = types.filter_map(|part| part.split_once(':')).map(|(_, kind)| kind.trim());
    types.map(|kind| kind.trim_end_matches(',').to_string()).collect()
}

fn check_sources(
    functions: &BTreeMap<String, Function>,
    sources: &BTreeMap<String, Source>,
    callbacks: &BTreeSet<String>,
    problems: &mut Vec<String>,
) {
    for (name, function) in functions {
        let Some(source) = sources.get(name) else {
            problems.push(format!("{name} has no Rust definition"));
            continue;
        };
        let expected: Vec<String> = function
            .parameters
            .iter()
            .filter(|p| *p != "...") // fixed arguments are passed alike whether or not more may follow
            .map(|p| c_type(p, callbacks))
            .collect();
        let found: Vec<String> = source.parameters.iter().map(|p| c_type_of_rust(p)).collect();
        if expected != found {
            problems.push(format!(
                "{name} takes ({}) in Rust, expected ({})",
                found.join(", "),
                expected.join(", ")
            ));
        }
        let returns = c_type_of_rust(&source.returns);
        if returns != function.returns {
            problems.push(format!("{name} returns {returns} in Rust, expected {}", function.returns));
        }
    }
    for name in sources.keys().filter(|name| !functions.contains_key(*name)) {
        problems.push(format!("{name} is defined in Rust, but the table does not have it"));
    }
}

/// The type of a C parameter, in one spelling: `const int counts[]` becomes `const int*`.
fn c_type(parameter: &str, callbacks: &BTreeSet<String>) -> String {
    let bounds = parameter.find('[').unwrap_or(parameter.len());
    let name = parameter[..bounds].rfind([' ', '*']).map_or(0, |i| i + 1);
    let mut base: String = parameter[..name].trim().replace(" *", "*");
    base += match &parameter[bounds..] {
        "" => "",
        "[]" => "*",
        "[][3]" => "(*)[3]",
        other => other,
    };
    if let Some(value) = base.strip_prefix("const ").filter(|value| !value.ends_with('*')) {
        base = value.to_string(); // a const argument is the callee's own affair
    }
    // A function passed as an argument is a pointer to it.
    base.strip_suffix('*').filter(|name| callbacks.contains(*name)).map_or(base.clone(), str::to_string)
}

fn c_type_of_rust(kind: &str) -> String {
    let inside = |prefix: &str| kind.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = inside("In<") {
        return format!("const {}*", c_type_of_rust(inner));
    }
    if let Some(inner) = inside("Out<") {
        return if inner == "[c_int; 3]" {
            "int(*)[3]".to_string()
        } else {
            format!("{}*", c_type_of_rust(inner))
        };
    }
    if let Some(inner) = kind.strip_prefix("*mut ") {
        return format!("{}*", c_type_of_rust(inner));
    }
    if let Some(inner) = kind.strip_prefix("*const ") {
        return format!("const {}*", c_type_of_rust(inner));
    }
    match kind {
        "c_int" => "int",
        "c_char" => "char",
        "c_void" => "void",
        "f64" => "double",
        other => other,
    }
    .to_string()
}

/// Every constant of the table stands in `constants.rs` with its value.
fn check_rust_constants(
    path: &Path,
    constants: &[Vec<String>],
    problems: &mut Vec<String>,
) -> Result<(), String> {
    let text = read(path)?;
    let defined: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "))
        .filter_map(|(left, value)| Some((left.split_once(':')?.0, value)))
        .collect();
    for row in constants.iter().filter(|row| !row[0].starts_with("MPI_ABI_") || row[0].ends_with("VERSION")) {
        let Some(found) = defined.get(row[0].as_str()) else {
            problems.push(format!("constants.rs lacks {}", row[0]));
            continue;
        };
        let bare = found.split_once('(').map_or(*found, |(_, value)| value.trim_end_matches(')'));
        let same = match (number(bare), number(&row[2])) {
            (Some(a), Some(b)) => a == b,
            _ => bare == row[2],
        };
        if !same {
            problems.push(format!("constants.rs: {} is {found}, expected {}", row[0], row[2]));
        }
    }
    Ok(())
}

fn number(text: &str) -> Option<i64> {
    match text.to_ascii_lowercase().strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A folder of this run for generated files.
fn scratch() -> Result<PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("posthaste-abi-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_meet_in_one_spelling() {
        let callbacks = BTreeSet::from(["MPI_User_function".to_string()]);
        for (c, rust) in [
            ("const int counts[]", "In<c_int>"),
            ("char *argv[]", "Out<*mut c_char>"),
            ("char ***argv", "Out<*mut *mut c_char>"),
            ("int ranges[][3]", "Out<[c_int; 3]>"),
            ("MPI_User_function *user_fn", "MPI_User_function"),
            ("const void *buf", "*const c_void"),
            ("const int level", "c_int"),
            ("const char datarep[]", "In<c_char>"),
            ("MPI_Comm comm", "MPI_Comm"),
        ] {
            assert_eq!(c_type(c, &callbacks), c_type_of_rust(rust), "{c}");
        }
    }

    #[test]
    fn quoted_fields_keep_their_commas() {
        assert_eq!(fields("a,\"b, c\",d"), ["a", "b, c", "d"]);
        assert_eq!(fields("a,,"), ["a", "", ""]);
    }
}
