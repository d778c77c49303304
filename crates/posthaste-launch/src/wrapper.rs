//! `mpicc`, `mpicxx` and `mpifort`: the compiler with the options that our header, modules and libraries need. With `-abi=mpich`
//! these are those of MPICH's ABI, in the prefix `mpich` below ours: nothing is of both.
//!
//! What must stay true: without our options the command is the user's, word for word; the library is added only when
//! something is linked. The prefix is where the command itself lies (`PREFIX/bin`), or `POSTHASTE_PREFIX`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{environment, modules};

/// A language with its compiler.
#[derive(Debug)]
pub struct Language {
    name: &'static str,
    compiler: &'static str,
    /// Variables that name another compiler, the first set one counts.
    variables: [&'static str; 3],
    /// The option that does so.
    option: &'static str,
    /// The linker names of its libraries.
    libraries: &'static [&'static str],
    /// It needs modules that only its own compiler can read.
    has_modules: bool,
}

/// C.
pub const C: Language = Language {
    name: "mpicc",
    compiler: "cc",
    variables: ["POSTHASTE_CC", "MPICH_CC", "OMPI_CC"],
    option: "-cc=",
    libraries: &["mpi_abi"],
    has_modules: false,
};

/// C++.
pub const CXX: Language = Language {
    name: "mpicxx",
    compiler: "c++",
    variables: ["POSTHASTE_CXX", "MPICH_CXX", "OMPI_CXX"],
    option: "-cxx=",
    libraries: &["mpi_abi"],
    has_modules: false,
};

/// Fortran.
pub const FORTRAN: Language = Language {
    name: "mpifort",
    compiler: "gfortran",
    variables: ["POSTHASTE_FC", "MPICH_FC", "OMPI_FC"],
    option: "-fc=",
    libraries: &["mpifort_abi", "mpi_abi"],
    has_modules: true,
};

/// What a command builds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Abi {
    Standard,
    Mpich,
}

impl Abi {
    /// The one that the arguments name last, the standard's when they name none.
    fn named(arguments: &[OsString]) -> Result<Self, String> {
        let named = arguments.iter().rev().find_map(|argument| argument.to_str()?.strip_prefix(OPTION));
        match named {
            None | Some("standard") => Ok(Self::Standard),
            Some("mpich") => Ok(Self::Mpich),
            Some(other) => Err(format!("there is no ABI {other:?}: {OPTION} takes standard or mpich")),
        }
    }

    /// The prefix with its files.
    fn home(self, prefix: &Path) -> PathBuf {
        match self {
            Self::Standard => prefix.to_path_buf(),
            Self::Mpich => prefix.join("mpich"),
        }
    }

    fn libraries(self, language: &Language) -> &'static [&'static str] {
        match self {
            Self::Standard => language.libraries,
            Self::Mpich => &["mpi"],
        }
    }

    /// Files that another MPI may have replaced.
    fn files(self) -> [&'static str; 2] {
        match self {
            Self::Standard => ["include/mpi.h", "lib/libmpi_abi.so.1"],
            Self::Mpich => ["mpich/include/mpi.h", "mpich/lib/libmpi.so.12"],
        }
    }
}

/// The option that names the ABI.
const OPTION: &str = "-abi=";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// Print this.
    Print(String),
    /// Become this.
    Execute(Vec<OsString>),
}

/// Runs the command; returns an exit code only when there was nothing to compile or no compiler.
pub fn main(language: &Language) -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let variable = &variable;
    let prefix = match variable("POSTHASTE_PREFIX") {
        Some(prefix) => PathBuf::from(prefix),
        None => match std::env::current_exe().ok().as_deref().and_then(Path::parent).and_then(Path::parent) {
            Some(prefix) => prefix.to_path_buf(),
            None => Path::new("/usr/local").to_path_buf(),
        },
    };
    let complain = |sentence: &str| {
        let _ = writeln!(std::io::stderr(), "{}: {sentence}", language.name);
    };
    let abi = match Abi::named(&arguments) {
        Ok(Abi::Mpich) if language.has_modules => Err(format!(
            "{} builds for the standard ABI; what MPICH's own has built runs with {}",
            language.name,
            prefix.join("mpich/lib/libmpifort.so.12").display()
        )),
        named => named,
    };
    let abi = match abi {
        Ok(abi) => abi,
        Err(sentence) => {
            complain(&sentence);
            return 1;
        }
    };
    let made = || match refused(&arguments) {
        Some(option) => Err(format!(
            "{option} makes INTEGER other than a C int, which the arguments of MPI are; give the longer ones of the program a \
             kind, as integer(8)"
        )),
        None => modules::folder(&prefix, &compiler(language, &arguments, variable), &arguments),
    };
    let modules = match language.has_modules.then(made) {
        Some(Err(sentence)) => {
            complain(&sentence);
            return 1;
        }
        made => made.and_then(Result::ok),
    };
    let home = abi.home(&prefix);
    match plan((language, abi), &prefix, modules.as_deref(), &arguments, variable) {
        Plan::Print(text) => i32::from(std::io::stdout().write_all(text.as_bytes()).is_err()),
        Plan::Execute(command) => {
            if !home.join("include/mpi.h").exists() {
                complain(&format!(
                    "there is no include/mpi.h below {}; POSTHASTE_PREFIX can say where it is",
                    home.display()
                ));
                return 1;
            }
            if let Some(sentence) = environment::replaced(&prefix, &abi.files()) {
                complain(&sentence);
                return 1;
            }
            let Some((compiler, options)) = command.split_first() else { return 1 };
            let why = Command::new(compiler).args(options).exec();
            complain(&format!("cannot run the compiler {:?}: {why}", compiler.to_string_lossy()));
            127
        }
    }
}

/// The option that changes how long an INTEGER is, of gfortran, flang or Intel's compilers.
fn refused(arguments: &[OsString]) -> Option<&str> {
    let known = ["-fdefault-integer-8", "-finteger-4-integer-8", "-i8", "-i2"];
    arguments.iter().filter_map(|argument| argument.to_str()).find(|option| known.contains(option))
}

/// The compiler that the variables and the arguments name, with its options: the last one named counts.
fn compiler(
    language: &Language,
    arguments: &[OsString],
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<OsString> {
    let named = |argument: &OsString| argument.to_str()?.strip_prefix(language.option).map(String::from);
    if let Some(other) = arguments.iter().rev().find_map(named) {
        return split(OsStr::new(&other));
    }
    let words = language.variables.iter().find_map(|name| variable(name));
    words.map_or_else(|| vec![language.compiler.into()], |words| split(&words))
}

fn plan(
    (language, abi): (&Language, Abi),
    prefix: &Path,
    modules: Option<&Path>,
    arguments: &[OsString],
    variable: impl Fn(&str) -> Option<OsString>,
) -> Plan {
    let joined = |flag: &str, path: PathBuf| {
        let mut word = OsString::from(flag);
        word.push(path);
        word
    };
    let home = abi.home(prefix);
    let include = joined("-I", home.join("include"));
    let library = home.join("lib");
    let modules = modules.map(Path::to_path_buf);
    let compile: Vec<OsString> =
        [include].into_iter().chain(modules.clone().map(|folder| joined("-I", folder))).collect();
    let libraries: Vec<OsString> = abi.libraries(language).iter().map(OsString::from).collect();
    let mut link = vec![joined("-L", library.clone()), joined("-Wl,-rpath,", library.clone())];
    link.extend(libraries.iter().map(|name| joined("-l", name.into())));
    let compiler = compiler(language, arguments, variable);
    let mut show = false;
    let mut own = Vec::new();
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        if text.starts_with(language.option) || text.starts_with(OPTION) {
            continue;
        }
        let question = text.trim_start_matches('-').replace('_', "-");
        let line = |words: &[&[OsString]]| Plan::Print(format!("{}\n", quoted(words.concat().iter())));
        match question.as_str() {
            _ if !text.starts_with('-') => own.push(argument.clone()),
            "show" | "showme" => show = true,
            "showme:compile" => return line(&[&compile]),
            "showme:link" => return line(&[&link]),
            "showme:command" => return line(&[&compiler]),
            "showme:incdirs" => {
                let folders = [home.join("include")].into_iter().chain(modules);
                return line(&[&folders.map(OsString::from).collect::<Vec<_>>()]);
            }
            "showme:libdirs" => return line(&[&[library.into()]]),
            "showme:libs" => return line(&[&libraries]),
            "showme:version" => {
                return Plan::Print(format!(
                    "{} of posthaste {}\n",
                    language.name,
                    env!("CARGO_PKG_VERSION")
                ));
            }
            "compile-info" => return line(&[&compiler, &compile]),
            "link-info" => return line(&[&compiler, &link]),
            _ => own.push(argument.clone()),
        }
    }
    // Asked about nothing in particular, both kinds of options are shown.
    let links = links(&own) || (show && own.is_empty());
    let command = [compiler, compile, own, if links { link } else { Vec::new() }].concat();
    if show { Plan::Print(format!("{}\n", quoted(command.iter()))) } else { Plan::Execute(command) }
}

/// Whether the compiler will link: there is something to link and nothing that stops before.
fn links(arguments: &[OsString]) -> bool {
    let mut inputs = false;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or("file");
        match text {
            "-c" | "-S" | "-E" | "-M" | "-MM" | "-fsyntax-only" => return false,
            // These take the next word, which is no input.
            "-o" | "-I" | "-D" | "-U" | "-L" | "-include" | "-isystem" | "-iquote" | "-idirafter" | "-x"
            | "-MF" | "-MT" | "-MQ" | "-Xlinker" | "-Xpreprocessor" | "-Xassembler" | "-imacros" | "-T"
            | "-u" | "-z" | "-arch" | "-target" | "--param" => {
                arguments.next();
            }
            "-" => inputs = true,
            "-l" => {
                inputs = true;
                arguments.next();
            }
            _ => inputs |= !text.starts_with('-') || text.starts_with("-l"),
        }
    }
    inputs
}

/// A compiler may come with options: `ccache gcc`.
fn split(words: &OsStr) -> Vec<OsString> {
    match words.to_str() {
        Some(text) => text.split_whitespace().map(OsString::from).collect(),
        None => vec![words.to_os_string()],
    }
}

/// The words as a shell would have to be given them.
fn quoted<'a>(words: impl Iterator<Item = &'a OsString>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(c);
    let words: Vec<String> = words
        .map(|word| {
            let word = word.to_string_lossy();
            if !word.is_empty() && word.chars().all(plain) {
                word.into_owned()
            } else {
                format!("'{}'", word.replace('\'', "'\\''"))
            }
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(line: &str, variables: &[(&str, &str)]) -> String {
        planned_in(&C, None, line, variables)
    }

    fn planned_in(
        language: &Language,
        modules: Option<&Path>,
        line: &str,
        variables: &[(&str, &str)],
    ) -> String {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let abi = Abi::named(&arguments).unwrap();
        match plan((language, abi), Path::new("/p"), modules, &arguments, variable) {
            Plan::Print(text) => text,
            Plan::Execute(command) => quoted(command.iter()),
        }
    }

    const LINK: &str = "-L/p/lib -Wl,-rpath,/p/lib -lmpi_abi";

    #[test]
    fn the_library_is_added_when_something_is_linked() {
        assert_eq!(planned("a.c -o a", &[]), format!("cc -I/p/include a.c -o a {LINK}"));
        assert_eq!(planned("a.o b.o", &[]), format!("cc -I/p/include a.o b.o {LINK}"));
        for line in
            ["-c a.c", "-E a.c", "-S a.c", "-fsyntax-only a.c", "-M a.c", "--version", "-v", "-o a -I b"]
        {
            assert_eq!(planned(line, &[]), format!("cc -I/p/include {line}"));
        }
    }

    #[test]
    fn questions_are_answered() {
        assert_eq!(planned("-show", &[]), format!("cc -I/p/include {LINK}\n"));
        assert_eq!(planned("--showme -c a.c", &[]), "cc -I/p/include -c a.c\n");
        assert_eq!(planned("-showme:compile", &[]), "-I/p/include\n");
        assert_eq!(planned("-showme:link", &[]), format!("{LINK}\n"));
        assert_eq!(planned("-compile_info", &[]), "cc -I/p/include\n");
        assert_eq!(planned("-link-info", &[]), format!("cc {LINK}\n"));
        assert_eq!(planned("-showme:libdirs", &[]), "/p/lib\n");
    }

    #[test]
    fn one_abi_is_built_for() {
        let link = "-L/p/mpich/lib -Wl,-rpath,/p/mpich/lib -lmpi";
        assert_eq!(planned("-abi=mpich a.c", &[]), format!("cc -I/p/mpich/include a.c {link}"));
        assert_eq!(planned("-abi=mpich -abi=standard -c a.c", &[]), "cc -I/p/include -c a.c");
        assert_eq!(planned("-abi=mpich -showme:libs", &[]), "mpi\n");
        assert!(Abi::named(&["-abi=other".into()]).unwrap_err().contains("standard or mpich"));
    }

    #[test]
    fn other_compilers_are_taken() {
        let both = [("OMPI_CC", "clang"), ("MPICH_CC", "ccache gcc")];
        assert_eq!(planned("-c a.c", &both), "ccache gcc -I/p/include -c a.c");
        assert_eq!(planned("-cc=tcc -c a.c", &both), "tcc -I/p/include -c a.c");
    }

    #[test]
    fn fortran_has_modules_and_another_library() {
        let planned = |line: &str| planned_in(&FORTRAN, Some(Path::new("/m")), line, &[("OMPI_FC", "flang")]);
        let link = "-L/p/lib -Wl,-rpath,/p/lib -lmpifort_abi -lmpi_abi";
        assert_eq!(planned("a.f90"), format!("flang -I/p/include -I/m a.f90 {link}"));
        assert_eq!(planned("-fc=gfortran -c a.f90"), "gfortran -I/p/include -I/m -c a.f90");
        assert_eq!(planned("-showme:incdirs"), "/p/include /m\n");
        assert_eq!(planned("-showme:libs"), "mpifort_abi mpi_abi\n");
    }

    #[test]
    fn odd_words_are_quoted() {
        let words = ["a b".into(), "it's".into(), OsString::new(), "-DX=1".into()];
        assert_eq!(quoted(words.iter()), r"'a b' 'it'\''s' '' -DX=1");
    }
}
