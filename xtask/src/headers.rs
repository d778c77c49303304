//! What `mpi.h` has beside the standard, as compilers see it: no warning of a program that includes it, C or C++; handles
//! for Fortran in both languages; what posthaste.h has, which other libraries of the ABI have not; a warning of every call of a function that is not implemented, and of names that MPI-3.0
//! removed. The part `headers` of `cargo xtask test`. What must stay true: a warning that is wanted is looked for in
//! what the compiler said, never assumed.

use std::{fmt::Write as _, fs, path::PathBuf};

use crate::{
    abi_check,
    process::{Job, Outcome},
    project::{Fallible, Project},
    tally::Tally,
};

const FOLDER: &str = "tests/c/build";
const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wredundant-decls", "-Wshadow"];
/// Compilers and what they are asked for.
const LANGUAGES: [(&str, &str, &str); 7] = [
    ("mpicc", "c", "-std=gnu90"),
    ("mpicc", "c", "-std=c99"),
    ("mpicc", "c", "-std=c11"),
    ("mpicc", "c", "-std=c2x"),
    ("mpicxx", "c++", "-std=c++11"),
    ("mpicxx", "c++", "-std=c++17"),
    ("mpicxx", "c++", "-std=c++20"),
];

/// All of it.
pub(crate) fn run(project: &Project, tally: &mut Tally) {
    let folder = match project.folder("builds/headers") {
        Ok(folder) => folder,
        Err(complaint) => return tally.test("headers", || Err(complaint)),
    };
    let headers = Headers { project, folder };
    tally.test("headers: mpi.h by itself, in every language, without a warning", || headers.plain());
    tally.test("headers: handles for Fortran, in C and C++", || headers.fortran());
    tally.test("headers: posthaste.h, in every language, with this library and another one", || {
        headers.beside()
    });
    tally.test("headers: the compiler warns of every function that is missing", || headers.missing());
    tally.test("headers: the compiler warns of names that were removed", || headers.removed());
}

struct Headers<'a> {
    project: &'a Project,
    folder: PathBuf,
}

impl Headers<'_> {
    fn compiler(&self, (tool, language, standard): (&str, &str, &str)) -> Job {
        Job::new(self.project.stage.join("bin").join(tool)).args([standard, "-x", language])
    }

    fn source(&self, name: &str) -> PathBuf {
        self.project.root.join(FOLDER).join(name)
    }

    fn plain(&self) -> Fallible {
        for language in LANGUAGES {
            for only in [&[][..], &["-DPOSTHASTE_ONLY_STANDARD"]] {
                let job = self.compiler(language).args(STRICT).args(only).arg(self.source("plain.c"));
                job.arg("-o").arg(self.folder.join("plain")).succeed()?;
            }
        }
        Ok(())
    }

    fn fortran(&self) -> Fallible {
        for language in LANGUAGES {
            let program = self.folder.join(format!("fortran-{}{}", language.0, language.2));
            let job = self.compiler(language).args(STRICT).arg(self.source("fortran.c"));
            job.arg("-o").arg(&program).succeed()?;
            let mpiexec = self.project.stage.join("bin/mpiexec");
            let said = Job::new(mpiexec).args(["-n", "3"]).arg(&program).succeed()?;
            contains(&said, "program: 3 ranks, sum 3")?;
        }
        Ok(())
    }

    /// A program that uses what is beside the standard, with our library and with one that has nothing of it.
    fn beside(&self) -> Fallible {
        let other = self.folder.join("other");
        fs::create_dir_all(&other).map_err(|e| format!("{}: {e}", other.display()))?;
        let library = other.join("libmpi_abi.so.1");
        let include = self.project.stage.join("include");
        let job = Job::new("cc").args([
            "-shared",
            "-fPIC",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-DPOSTHASTE_ONLY_STANDARD",
        ]);
        job.arg("-I").arg(include).arg(self.source("other_library.c")).arg("-o").arg(library).succeed()?;
        for language in LANGUAGES {
            let program = self.folder.join(format!("beside-{}{}", language.0, language.2));
            let job = self.compiler(language).args(STRICT).arg(self.source("beside.c"));
            job.arg("-o").arg(&program).succeed()?;
            let said =
                Job::new(self.project.stage.join("bin/mpiexec")).args(["-n", "1"]).arg(&program).succeed()?;
            contains(&said, "beside: handlers are there")?;
            contains(&said, "beside: 2 calls, state 2, fine")?;
            let said = Job::new(&program).env("LD_LIBRARY_PATH", &other).succeed()?;
            contains(&said, "beside: handlers are not there")?;
            contains(&said, "beside: refused with the right error")?;
            let sentence = "Posthaste_Request_attach is a function of posthaste, and this process runs with another MPI \
                            library: another library 1.0";
            contains(&said, sentence)?;
        }
        Ok(())
    }

    /// A program that calls every function that is missing, by both names, and one that only names them.
    fn missing(&self) -> Fallible {
        let signatures = abi_check::signatures(&self.project.root)?;
        let missing =
            abi_check::survey(&self.project.root)?.into_iter().filter(|function| !function.supported);
        let names: Vec<String> = missing.map(|function| function.name).collect();
        if names.is_empty() {
            return Err("nothing is missing any more: this test and posthaste_missing.h can go".into());
        }
        let (mut calls, mut addresses) = ("#include <mpi.h>\n".to_owned(), "#include <mpi.h>\n".to_owned());
        for name in &names {
            let parameters = signatures.get(name).ok_or_else(|| format!("the table lacks {name}"))?;
            let list = if parameters.is_empty() { "void".into() } else { parameters.join(", ") };
            let arguments: Vec<&str> = parameters.iter().map(|one| argument(one)).collect();
            for name in [name.clone(), format!("P{name}")] {
                let _ = writeln!(calls, "int call_{name}({list});");
                let _ =
                    writeln!(calls, "int call_{name}({list}) {{ return {name}({}); }}", arguments.join(", "));
                let _ = writeln!(addresses, "extern int (*of_{name})({list});");
                let _ = writeln!(addresses, "int (*of_{name})({list}) = {name};");
            }
        }
        let (caller, namer) = (self.folder.join("calls.c"), self.folder.join("addresses.c"));
        fs::write(&caller, calls).map_err(|e| format!("{}: {e}", caller.display()))?;
        fs::write(&namer, addresses).map_err(|e| format!("{}: {e}", namer.display()))?;
        for language in LANGUAGES {
            let object = self.folder.join("missing.o");
            let compile =
                |source| self.compiler(language).args(["-Wall", "-c"]).arg(source).arg("-o").arg(&object);
            // An error only for who asks for it; configure scripts ask for -Werror=implicit.
            let said = compile(&caller).arg("-Werror=implicit").succeed()?;
            for name in &names {
                contains(&said, &format!(" {name} is not implemented by posthaste yet"))?;
                contains(&said, &format!(" P{name} is not implemented by posthaste yet"))?;
            }
            compile(&namer).args(STRICT).succeed()?;
            compile(&caller).args(STRICT).arg("-DPOSTHASTE_MISSING_SILENT").succeed()?;
            compile(&caller).args(STRICT).arg("-Wno-attribute-warning").succeed()?;
        }
        Ok(())
    }

    fn removed(&self) -> Fallible {
        for language in LANGUAGES {
            let compile = || {
                let job = self.compiler(language).arg("-Wall").arg("-c").arg(self.source("removed.c"));
                job.arg("-o").arg(self.folder.join("removed.o"))
            };
            let said = compile().succeed()?;
            for instead in [
                "MPI_Get_address",
                "MPI_Type_create_struct",
                "MPI_Comm_create_errhandler",
                "MPI_Comm_errhandler_function",
                "MPI_Type_create_resized",
                "MPI_COMBINER_STRUCT",
            ] {
                contains(&said, &format!("removed in MPI-3.0; use {instead}"))?;
            }
            compile().args(STRICT).arg("-Wno-deprecated-declarations").succeed()?;
        }
        Ok(())
    }
}

/// The name of a parameter: `char *array_of_commands[]` has `array_of_commands`.
fn argument(parameter: &str) -> &str {
    let parameter = parameter.split('[').next().unwrap_or_default().trim_end();
    parameter.rsplit([' ', '*']).next().unwrap_or_default()
}

fn contains(said: &Outcome, wanted: &str) -> Fallible {
    if said.all().contains(wanted) {
        Ok(())
    } else {
        Err(format!("\"{wanted}\" was expected, this was said:\n{}", said.complaint()))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn parameters_have_names() {
        for (parameter, name) in
            [("int count", "count"), ("char ***argv", "argv"), ("int ranges[][3]", "ranges")]
        {
            assert_eq!(super::argument(parameter), name);
        }
    }
}
