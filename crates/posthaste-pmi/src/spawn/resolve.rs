//! Finds the programs and working directories of a job before anything is started.
//!
//! It asks the file system. What must stay true: a mistake in the command line is one clear sentence and an exit code
//! as a shell would give it (127 not found, 126 not executable), and no process.

use super::Refused;
use nix::unistd::{AccessFlags, access};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const NOT_FOUND: i32 = 127;
const NOT_EXECUTABLE: i32 = 126;

/// The path to execute for the program of this name, in this working directory, with `path` as its `PATH`.
pub(super) fn resolve(
    name: &OsStr,
    directory: Option<&Path>,
    path: Option<&OsStr>,
) -> Result<PathBuf, Refused> {
    if let Some(directory) = directory {
        check_directory(directory)?;
    }
    if name.is_empty() {
        return Err(Refused::new(NOT_FOUND, "the name of the program is empty"));
    }
    let here = directory.map(Path::to_path_buf).unwrap_or_default();
    if name.as_bytes().contains(&b'/') {
        // As seen from the process's own directory, where it will be executed.
        return match executable(&here.join(name)) {
            Ok(()) => Ok(PathBuf::from(name)),
            Err(why) => Err(why.sentence(&here.join(name).to_string_lossy())),
        };
    }
    let mut denied = None;
    let path = path.unwrap_or_else(|| OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    for directory in std::env::split_paths(path) {
        let candidate = directory.join(name);
        match executable(&here.join(&candidate)) {
            // An empty or relative entry of PATH counts from the process's directory.
            Ok(()) if candidate.is_relative() => return Ok(Path::new(".").join(candidate)),
            Ok(()) => return Ok(candidate),
            Err(NotRunnable::Missing) => {}
            Err(why) => {
                denied.get_or_insert_with(|| why.sentence(&candidate.to_string_lossy()));
            }
        }
    }
    // Other launchers of the family look into the working directory too.
    if executable(&here.join(name)).is_ok() {
        return Ok(Path::new(".").join(name));
    }
    let missing = || {
        let name = name.to_string_lossy();
        Refused::new(NOT_FOUND, format!("there is no program {name:?} in PATH or in the working directory"))
    };
    Err(denied.unwrap_or_else(missing))
}

enum NotRunnable {
    Missing,
    Directory,
    Denied,
}

impl NotRunnable {
    fn sentence(&self, name: &str) -> Refused {
        match self {
            Self::Missing => Refused::new(NOT_FOUND, format!("there is no program {name:?}")),
            Self::Directory => {
                Refused::new(NOT_EXECUTABLE, format!("{name:?} is a directory, not a program"))
            }
            Self::Denied => Refused::new(
                NOT_EXECUTABLE,
                format!("{name:?} is not executable (no permission to execute it)"),
            ),
        }
    }
}

fn executable(path: &Path) -> Result<(), NotRunnable> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(NotRunnable::Directory),
        Ok(_) => access(path, AccessFlags::X_OK).map_err(|_| NotRunnable::Denied),
        Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => Err(NotRunnable::Denied),
        Err(_) => Err(NotRunnable::Missing),
    }
}

fn check_directory(directory: &Path) -> Result<(), Refused> {
    let refuse = |why: &str| {
        let sentence = format!("the working directory {:?} {why}", directory.to_string_lossy());
        Err(Refused::new(1, sentence))
    };
    match std::fs::metadata(directory) {
        Ok(found) if !found.is_dir() => refuse("is not a directory"),
        Ok(_) if access(directory, AccessFlags::X_OK).is_err() => refuse("may not be entered by this user"),
        Ok(_) => Ok(()),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => refuse("does not exist"),
        Err(why) => refuse(&format!("cannot be used: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str, directory: Option<&str>, path: &str) -> Result<PathBuf, i32> {
        resolve(name.as_ref(), directory.map(Path::new), Some(path.as_ref())).map_err(|refused| refused.code)
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert_eq!(find("sh", None, "/nonexistent:/bin"), Ok("/bin/sh".into()));
        assert_eq!(find("/bin/sh", None, ""), Ok("/bin/sh".into()));
        assert_eq!(find("bin/sh", Some("/"), ""), Ok("bin/sh".into()));
        assert_eq!(find("sh", Some("/bin"), "/nonexistent"), Ok("./sh".into()));
        assert_eq!(find("sh", Some("/"), "bin"), Ok("./bin/sh".into()));
    }

    #[test]
    fn what_is_not_there_has_a_code() {
        assert_eq!(find("no-such-program", None, "/bin"), Err(127));
        assert_eq!(find("/no/such/program", None, "/bin"), Err(127));
        assert_eq!(find("", None, "/bin"), Err(127));
        assert_eq!(find("/dev/null", None, "/bin"), Err(126));
        assert_eq!(find("/etc", None, "/bin"), Err(126));
        assert_eq!(find("sh", Some("/nonexistent"), "/bin"), Err(1));
        assert_eq!(find("sh", Some("/dev/null"), "/bin"), Err(1));
    }
}
