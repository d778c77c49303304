//! The modules `mpi` and `mpi_f08` as one Fortran compiler reads them: no compiler reads those of another, so they are compiled
//! by the user's own from the sources in `include/fortran`, once.
//!
//! They lie in the prefix where that can be written (whoever installs runs `mpifort` once), else in the user's cache, in a folder
//! named by the compiler, its version, its options that change them and the sources. What must stay true: a folder with that name
//! is complete; several compilations at a time do not meet, also where processes of several containers have the same id.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the order in which they are compiled.
const SOURCES: [&str; 3] = ["mpi_f08_types.f90", "mpi.f90", "mpi_f08.f90"];

/// Options that make REAL or DOUBLE PRECISION longer; constants such as MPI_REAL then stand for longer types.
const LENGTHS: [&str; 2] = ["-fdefault-real-8", "-fdefault-double-8"];

/// The folder of the modules for this compiler and those of the options that change them, which is made when it is not there.
///
/// # Errors
/// One sentence: the compiler cannot be run, does not take the sources, or there is no place for the modules.
pub fn folder(prefix: &Path, compiler: &[OsString], options: &[OsString]) -> Result<PathBuf, String> {
    let lengths = LENGTHS.iter().filter(|length| options.iter().any(|option| option == *length));
    let compiler = &[compiler, &lengths.map(OsString::from).collect::<Vec<_>>()].concat();
    let mut hasher = DefaultHasher::new();
    compiler[1..].hash(&mut hasher);
    for source in SOURCES {
        let path = prefix.join("include/fortran").join(source);
        let text = fs::read(&path).map_err(|why| format!("can't read {}: {why}", path.display()))?;
        text.hash(&mut hasher);
    }
    let version = run(compiler, &["--version".into()], Path::new("."))?;
    version.hash(&mut hasher);
    let first = version.lines().next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = first.chars().take(60).map(plain).collect();
    let name = format!("{}-{:08x}", name.trim_matches('-'), hasher.finish() as u32);
    let homes = homes(prefix);
    if let Some(there) = homes.iter().map(|home| home.join(&name)).find(|folder| folder.is_dir()) {
        return Ok(there);
    }
    let mut trouble =
        String::from("there is no place for the modules: neither HOME nor XDG_CACHE_HOME is set");
    for home in homes {
        match make(prefix, compiler, &home, &name) {
            Ok(folder) => return Ok(folder),
            Err((sentence, true)) => trouble = sentence,
            Err((sentence, false)) => return Err(sentence),
        }
    }
    Err(trouble)
}

/// Where the modules of all compilers may be, in the order in which places are tried.
fn homes(prefix: &Path) -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let of_user = cache.map(|cache| cache.join("posthaste/fortran"));
    [prefix.join("lib/fortran")].into_iter().chain(of_user).collect()
}

/// Compiles the modules in a folder of their own and gives it its name at the end; the error says whether another place may do.
fn make(prefix: &Path, compiler: &[OsString], home: &Path, name: &str) -> Result<PathBuf, (String, bool)> {
    let made = home.join(name);
    let no_place = |why| (format!("can't make the modules in {}: {why}", home.display()), true);
    let beside = of_our_own(home, &format!(".{name}.{}", std::process::id())).map_err(no_place)?;
    for source in SOURCES {
        let path = std::path::absolute(prefix.join("include/fortran").join(source)).map_err(no_place)?;
        // Compilers put modules into the folder that they run in, and look there for them.
        if let Err(sentence) = run(compiler, &["-fsyntax-only".into(), path.into()], &beside) {
            let _ = fs::remove_dir_all(&beside);
            return Err((sentence, false));
        }
    }
    match fs::rename(&beside, &made) {
        Ok(()) => Ok(made),
        // Another one was quicker.
        Err(why) if made.is_dir() && why.kind() != ErrorKind::NotFound => {
            let _ = fs::remove_dir_all(&beside);
            Ok(made)
        }
        Err(why) => Err(no_place(why)),
    }
}

/// A new folder with a name that begins so.
fn of_our_own(home: &Path, name: &str) -> Result<PathBuf, Error> {
    fs::create_dir_all(home)?;
    let mut made = (0..u32::MAX).map(|at| {
        let folder = home.join(format!("{name}.{at}"));
        fs::create_dir(&folder).map(|()| folder)
    });
    let is_there =
        |made: &Result<_, Error>| matches!(made, Err(why) if why.kind() == ErrorKind::AlreadyExists);
    made.find(|made| !is_there(made)).unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))
}

/// What the compiler prints.
fn run(compiler: &[OsString], arguments: &[OsString], folder: &Path) -> Result<String, String> {
    let Some((program, options)) = compiler.split_first() else { return Err("no compiler is named".into()) };
    let program = program.to_string_lossy();
    let output = Command::new(&*program).args(options).args(arguments).current_dir(folder).output();
    let output = output.map_err(|why| format!("cannot run the compiler {program:?}: {why}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {} ended with {}:\n{}", arguments.join(" "), output.status, said.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_with_one_id_have_folders_of_their_own() {
        let home = std::env::temp_dir().join(format!("posthaste-modules-{}", std::process::id()));
        let [one, two] = [(); 2].map(|()| of_our_own(&home, ".name.1").unwrap());
        assert!(one != two && one.is_dir() && two.is_dir());
        fs::remove_dir_all(&home).unwrap();
        fs::write(&home, "a file").unwrap();
        assert!(of_our_own(&home, ".name.1").is_err());
        fs::remove_file(&home).unwrap();
    }
}
