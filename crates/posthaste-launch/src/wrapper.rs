//! `mpicc` and `mpicxx`: the compiler with the options that our header and library need.
//!
//! What must stay true: without our options the command is the user's, word for word; the library is added only when
//! something is linked. The prefix is where the command itself lies (`PREFIX/bin`), or `POSTHASTE_PREFIX`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment;

/// A language with its compiler.
#[derive(Debug)]
pub struct Language {
    name: &'static str,
    compiler: &'static str,
    /// Variables that name another compiler, the first set one counts.
    variables: [&'static str; 3],
    /// The option that does so.
    option: &'static str,
}

/// C.
pub const C: Language = Language {
    name: "mpicc",
    compiler: "cc",
    variables: ["POSTHASTE_CC", "MPICH_CC", "OMPI_CC"],
    option: "-cc=",
};

/// C++.
pub const CXX: Language = Language {
    name: "mpicxx",
    compiler: "c++",
    variables: ["POSTHASTE_CXX", "MPICH_CXX", "OMPI_CXX"],
    option: "-cxx=",
};

/// The library's linker name.
const LIBRARY: &str = "mpi_abi";

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
    let prefix = match variable("POSTHASTE_PREFIX") {
        Some(prefix) => PathBuf::from(prefix),
        None => match std::env::current_exe().ok().as_deref().and_then(Path::parent).and_then(Path::parent) {
            Some(prefix) => prefix.to_path_buf(),
            None => Path::new("/usr/local").to_path_buf(),
        },
    };
    match plan(language, &prefix, &arguments, variable) {
        Plan::Print(text) => i32::from(std::io::stdout().write_all(text.as_bytes()).is_err()),
        Plan::Execute(command) => {
            let complain = |sentence: &str| {
                let _ = writeln!(std::io::stderr(), "{}: {sentence}", language.name);
            };
            if !prefix.join("include/mpi.h").exists() {
                complain(&format!(
                    "there is no include/mpi.h below {}; POSTHASTE_PREFIX can say where it is",
                    prefix.display()
                ));
                return 1;
            }
            if let Some(sentence) = environment::replaced(&prefix, &["include/mpi.h", "lib/libmpi_abi.so.1"])
            {
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

fn plan(
    language: &Language,
    prefix: &Path,
    arguments: &[OsString],
    variable: impl Fn(&str) -> Option<OsString>,
) -> Plan {
    let joined = |flag: &str, path: PathBuf| {
        let mut word = OsString::from(flag);
        word.push(path);
        word
    };
    let include = joined("-I", prefix.join("include"));
    let library = prefix.join("lib");
    let compile = vec![include];
    let link = vec![
        joined("-L", library.clone()),
        joined("-Wl,-rpath,", library.clone()),
        OsString::from(format!("-l{LIBRARY}")),
    ];
    let mut compiler: Vec<OsString> = language
        .variables
        .iter()
        .find_map(|name| variable(name))
        .map_or_else(|| vec![language.compiler.into()], |words| split(&words));
    let mut show = false;
    let mut own = Vec::new();
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        if let Some(other) = text.strip_prefix(language.option) {
            compiler = split(OsStr::new(other));
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
            "showme:incdirs" => return line(&[&[prefix.join("include").into()]]),
            "showme:libdirs" => return line(&[&[library.into()]]),
            "showme:libs" => return line(&[&[LIBRARY.into()]]),
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
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        match plan(&C, Path::new("/p"), &arguments, variable) {
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
    fn other_compilers_are_taken() {
        let both = [("OMPI_CC", "clang"), ("MPICH_CC", "ccache gcc")];
        assert_eq!(planned("-c a.c", &both), "ccache gcc -I/p/include -c a.c");
        assert_eq!(planned("-cc=tcc -c a.c", &both), "tcc -I/p/include -c a.c");
    }

    #[test]
    fn odd_words_are_quoted() {
        let words = ["a b".into(), "it's".into(), OsString::new(), "-DX=1".into()];
        assert_eq!(quoted(words.iter()), r"'a b' 'it'\''s' '' -DX=1");
    }
}
