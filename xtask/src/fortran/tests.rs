//! The Fortran tests: every `tests/fortran/*.F90` is compiled for `mpif.h`, `mpi` and `mpi_f08`, and run under mpiexec. The part
//! `fortran` of `cargo xtask test`.
//!
//! A test speaks to this runner by comments near its top, as C tests do (`ctests`), and by `! interfaces: mpif mpi f08 large`, of
//! which the last is `mpi_f08` with counts longer than an INTEGER; without this line it is for the others. What must stay true: the modules are compiled by `mpifort` itself, in a cache of their own; tests are built side by side.

mod flang;

use std::{collections::BTreeSet, fs, path::Path, path::PathBuf, thread, time::Instant};

use super::called;
use crate::{
    builds,
    ctests::Wishes,
    install,
    mpi::Mpi,
    packages,
    process::Job,
    project::{Fallible, Project, files, stem},
    tally::Tally,
};

pub(super) const INTERFACES: [&str; 3] = ["mpif", "mpi", "f08"];
/// What a test may be built for.
const BUILDS: [&str; 4] = ["mpif", "mpi", "f08", "large"];

/// What the tool says of the program that it counts for.
pub(crate) const COUNTED: &str = "counter: 3 sends, 1 + 1 nonblocking, 2 reductions, 1 + 1 + 1 + 1 collective, \
                                  1 + 3 persistent, 1 + 3 + 1 + 1 + 1 + 1 one-sided, 0 of its own";

/// All of them.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let sources = files(&project.root.join("tests/fortran"), "F90");
    if !packages::present("gfortran") {
        return tally.not_run(
            sources.len() * INTERFACES.len(),
            "fortran: gfortran is not installed (apt install gfortran)",
        );
    }
    let tests = match project.folder("fortran") {
        Ok(folder) => Tests { project, mpi, folder },
        Err(complaint) => return tally.test("fortran", || Err(complaint)),
    };
    tally.test("fortran: modules by mpifort, when it is installed", || tests.modules_at_install());
    tally.test("fortran: modules by mpifort, at its first call, for a prefix that can't be written", || {
        tests.modules()
    });
    tally.test(
        "fortran: the library has every routine of the modules, and C every function that it calls",
        || tests.symbols(),
    );
    let all = sources.iter().flat_map(|source| BUILDS.map(|interface| (source, interface)));
    let builds: Vec<(&PathBuf, &'static str)> =
        all.filter(|(source, interface)| is_for(source, interface)).collect();
    let built = side_by_side(&builds, |source, interface| tests.build(source, interface));
    let there = builds.iter().zip(&built).filter_map(|((_, interface), program)| {
        let interface = if *interface == "large" { "f08" } else { interface };
        Some((interface, program.clone().ok()?))
    });
    let there: Vec<(&'static str, PathBuf)> = there.collect();
    tally.test("fortran: tests call every routine of each interface, and all of its forms", || {
        called::linked(project, &there)
    });
    for ((source, interface), program) in builds.iter().zip(built) {
        tests.one(source, interface, program, tally);
    }
    tests.others(tally);
    flang::run(project, mpi, tally);
}

/// Programs of these sources for these interfaces, in the same order.
fn side_by_side(
    builds: &[(&PathBuf, &'static str)],
    build: impl Fn(&Path, &str) -> Fallible<PathBuf> + Sync,
) -> Vec<Fallible<PathBuf>> {
    thread::scope(|scope| {
        let halves: Vec<_> = (0..2)
            .map(|half| {
                let mine = builds.iter().skip(half).step_by(2);
                let build = &build;
                scope.spawn(move || {
                    mine.map(|(source, interface)| build(source, interface)).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut halves: Vec<_> =
            halves.into_iter().map(|half| half.join().unwrap_or_default().into_iter()).collect();
        (0..builds.len()).map(|at| halves[at % 2].next().unwrap_or_else(|| Err("not built".into()))).collect()
    })
}

struct Tests<'a> {
    project: &'a Project,
    mpi: &'a Mpi,
    folder: PathBuf,
}

impl Tests<'_> {
    fn compiler(&self) -> Job {
        Job::new(self.project.stage.join("bin/mpifort")).limit(120)
    }

    /// A second prefix without modules, where they can't be put either: they go into the user's cache, and are used from there.
    fn modules(&self) -> Fallible {
        let prefix = self.folder.join("prefix");
        let cache = self.folder.join("cache");
        let _ = fs::remove_dir_all(&prefix);
        let _ = fs::remove_dir_all(&cache);
        install::copy_staged(self.project, &prefix)?;
        // A file where the folder would be keeps even root from making it.
        fs::write(prefix.join("lib/fortran"), "").map_err(|e| format!("{}: {e}", prefix.display()))?;
        let source = self.project.root.join("tests/fortran/environment.F90");
        let compile = || {
            Job::new(prefix.join("bin/mpifort"))
                .args(["-c", "-DF08", "-o", "/dev/null"])
                .arg(&source)
                .env("XDG_CACHE_HOME", &cache)
                .limit(120)
        };
        compile().succeed()?;
        let made = |folder: &Path| fs::read_dir(folder).map(|entries| entries.flatten().count()).unwrap_or(0);
        let home = cache.join("posthaste/fortran");
        let folders = made(&home);
        compile().succeed()?;
        if (folders, made(&home)) == (1, 1) {
            Ok(())
        } else {
            Err(format!("{}: {folders} folders, then {}; expected 1", home.display(), made(&home)))
        }
    }

    fn symbols(&self) -> Fallible {
        let stage = &self.project.stage;
        let listed = |which: &str, library: &str| -> Fallible<BTreeSet<String>> {
            let listed =
                Job::new("nm").args(["-D", which]).arg(stage.join("lib").join(library)).succeed()?.stdout;
            Ok(listed.lines().filter_map(|line| line.split_whitespace().last()).map(String::from).collect())
        };
        let ours = listed("--defined-only", "libmpifort_abi.so.1")?;
        let mut missing = Vec::new();
        for source in files(&stage.join("include/fortran"), "f90") {
            let text =
                fs::read_to_string(&source).map_err(|e| format!("can't read {}: {e}", source.display()))?;
            missing.extend(procedures(&text).into_iter().filter(|name| !ours.contains(name)));
        }
        let of_c = listed("--defined-only", "libmpi_abi.so.1")?;
        let needed = listed("--undefined-only", "libmpifort_abi.so.1")?;
        let is_of_mpi = |name: &String| name.starts_with("MPI_") || name.starts_with("PMPI_");
        missing.extend(needed.into_iter().filter(is_of_mpi).filter(|name| !of_c.contains(name)));
        if missing.is_empty() { Ok(()) } else { Err(format!("not there: {}", missing.join(" "))) }
    }

    /// A prefix whose modules are compiled when it is installed.
    fn modules_at_install(&self) -> Fallible {
        let prefix = self.folder.join("installed");
        let _ = fs::remove_dir_all(&prefix);
        install::copy_staged(self.project, &prefix)?;
        install::modules(&prefix)?;
        let folder = prefix.join("lib/fortran");
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let has_all =
            |folder: &Path| ["mpi.mod", "mpi_f08.mod"].iter().all(|file| folder.join(file).exists());
        if entries.flatten().any(|entry| has_all(&entry.path())) {
            Ok(())
        } else {
            Err(format!("{}: no modules", folder.display()))
        }
    }

    fn build(&self, source: &Path, interface: &str) -> Fallible<PathBuf> {
        let name = format!("{}-{interface}", stem(source));
        let program = self.folder.join(&name);
        // Where the compiler puts the modules of a test.
        let modules = self.project.folder(&format!("fortran/modules/{name}"))?;
        let strict =
            ["-O1", "-g", "-Wall", "-Wno-unused-dummy-argument", "-Wno-maybe-uninitialized", "-Werror"];
        // What mpif.h does not declare, compilers compare from call to call.
        let lenient = if interface == "mpif" { "-fallow-argument-mismatch" } else { "-fimplicit-none" };
        let lenient = if interface == "mpif" { vec![lenient, "-w"] } else { vec![lenient] };
        self.compiler()
            .args(strict)
            .args(lenient)
            .args(defined(interface))
            .dir(&modules)
            .arg(source)
            .arg("-o")
            .arg(&program)
            .succeed()?;
        Ok(program)
    }

    fn one(&self, source: &Path, interface: &str, program: Fallible<PathBuf>, tally: &mut Tally) {
        let name = format!("fortran/{} ({interface})", stem(source));
        let program = match program {
            Ok(program) => program,
            Err(complaint) => return tally.test(&format!("{name}: compile"), || Err(complaint)),
        };
        let wishes =
            match fs::read_to_string(source).map_err(|e| e.to_string()).and_then(|text| Wishes::parse(&text))
            {
                Ok(wishes) => wishes,
                Err(complaint) => return tally.test(&name, || Err(complaint)),
            };
        let (mut passed, mut complaints) = (0, Vec::new());
        let start = Instant::now();
        for &ranks in &wishes.ranks {
            let job = self.mpi.plain().arg("-n").arg(ranks.to_string()).arg(&program);
            match wishes.prepare(job).run().and_then(|outcome| wishes.judge(&outcome)) {
                Ok(()) => passed += 1,
                Err(complaint) => complaints.push(complaint),
            }
        }
        tally.counted(&name, passed, complaints.len(), start.elapsed(), &complaints.join("\n"));
    }

    /// What is not a test for each interface.
    fn others(&self, tally: &mut Tally) {
        tally.test("fortran: fixed form, two underscores, not position independent (mpif77)", || {
            self.alone("mpif77", "fixed_form.f", &["-fsecond-underscore", "-no-pie"], "fixed: right")
        });
        tally.test("fortran: two underscores with the module mpi", || {
            self.alone("mpifort", "heat.F90", &["-fsecond-underscore", "-DMPI"], "heat: right")
        });
        tally.test("fortran: two underscores with mpi_f08", || {
            self.alone("mpifort", "underscores.f90", &["-fsecond-underscore"], "underscores: right")
        });
        tally.test("fortran: longer REALs (-fdefault-real-8), in each interface", || self.longer_reals());
        tally.test("fortran: longer INTEGERs are refused in a sentence, by mpifort and by mpif.h", || {
            self.longer_integers()
        });
        tally
            .test("fortran: libraries that a program opens one by one know MPI_IN_PLACE and its kin", || {
                self.plugins()
            });
        tally.test("fortran: all three interfaces in one program (mpif90)", || {
            self.alone("mpif90", "mixed.f90", &["-fallow-argument-mismatch"], "mixed: right")
        });
        tally.test("fortran: handles and statuses between Fortran and C", || {
            let object = self.folder.join("languages-c.o");
            let source = self.project.root.join("tests/fortran/languages.c");
            let compiler = Job::new(self.project.stage.join("bin/mpicc")).args(["-Wall", "-Werror", "-c"]);
            compiler.arg(source).arg("-o").arg(&object).succeed()?;
            self.alone("mpifort", "languages.f90", &[&object.display().to_string()], "languages: right")
        });
        for interface in INTERFACES {
            tally.test(&format!("fortran: attributes between Fortran and C ({interface})"), || {
                self.attributes(interface)
            });
        }
        match builds::cmake(self.project) {
            Some(cmake) => {
                tally.test("fortran: CMake, find_package(MPI COMPONENTS Fortran)", || self.cmake(&cmake));
            }
            None => tally.not_run(1, "fortran: cmake is not installed, and pip can't install it"),
        }
        for interface in INTERFACES {
            tally.test(&format!("fortran: a profiling tool in C sees every call once ({interface})"), || {
                self.profiled(interface)
            });
        }
    }

    /// A program of its own, on two ranks.
    fn alone(&self, compiler: &str, source: &str, options: &[&str], wanted: &str) -> Fallible {
        let program = self.folder.join(source.replace('.', "-"));
        let source = self.project.root.join("tests/fortran").join(source);
        let compiler = Job::new(self.project.stage.join("bin").join(compiler)).args(options).limit(120);
        let compiler = compiler.dir(&self.project.folder("fortran/modules")?);
        compiler.arg(source).arg("-o").arg(&program).succeed()?;
        said(&self.mpi.plain().args(["-n", "2"]).arg(&program).succeed()?.stdout, wanted)
    }

    /// The test of lengths once more, with constants that stand for longer types.
    fn longer_reals(&self) -> Fallible {
        for interface in INTERFACES {
            let program = self.folder.join(format!("longer-{interface}"));
            let options = ["-fdefault-real-8", "-Wall", "-Werror", "-fallow-argument-mismatch", "-w"];
            let compiler = self.compiler().args(options).arg(format!("-D{}", interface.to_uppercase()));
            let compiler = compiler.dir(&self.project.folder("fortran/modules")?);
            let source = self.project.root.join("tests/fortran/lengths.F90");
            compiler.arg(source).arg("-o").arg(&program).succeed()?;
            let job = self.mpi.plain().args(["-n", "2"]).arg(&program);
            said(&job.succeed()?.stdout, "lengths: right")?;
        }
        Ok(())
    }

    fn attributes(&self, interface: &str) -> Fallible {
        let root = self.project.root.join("tests/fortran");
        let object = self.folder.join("attributes-c.o");
        let compiler = Job::new(self.project.stage.join("bin/mpicc")).args(["-Wall", "-Werror", "-c"]);
        compiler.arg(root.join("attributes.c")).arg("-o").arg(&object).succeed()?;
        let name = format!("attributes-{interface}");
        let program = self.folder.join(&name);
        let compiler = self.compiler().args(["-fallow-argument-mismatch", "-w"]);
        let compiler = compiler.arg(format!("-D{}", interface.to_uppercase()));
        let compiler = compiler.dir(&self.project.folder(&format!("fortran/modules/{name}"))?);
        compiler.arg(root.join("attributes.F08")).arg(&object).arg("-o").arg(&program).succeed()?;
        said(&self.mpi.plain().args(["-n", "2"]).arg(&program).succeed()?.stdout, "attributes: right")
    }

    fn longer_integers(&self) -> Fallible {
        let source = self.project.root.join("tests/fortran/fixed_form.f");
        let option = "-fdefault-integer-8";
        let refused = self.compiler().args([option, "-c", "-o", "/dev/null"]).arg(&source).run()?;
        if refused.ok() || !refused.stderr.contains("makes INTEGER other than a C int") {
            return Err(format!("mpifort took {option}, or did not say why not:\n{}", refused.stderr));
        }
        let compiler = Job::new("gfortran").args([option, "-fsyntax-only", "-I"]);
        let refused = compiler.arg(self.project.stage.join("include")).arg(&source).run()?;
        if refused.ok() || !refused.stderr.contains("mpif.h") {
            return Err(format!("mpif.h did not refuse {option}:\n{}", refused.stderr));
        }
        Ok(())
    }

    /// Each library has common blocks of its own.
    fn plugins(&self) -> Fallible {
        let root = self.project.root.join("tests/fortran");
        let mut libraries = Vec::new();
        for interface in ["mpif", "f08"] {
            let library = self.folder.join(format!("plugin-{interface}.so"));
            let compiler = self.compiler().args(["-shared", "-fPIC", "-fallow-argument-mismatch", "-w"]);
            let compiler = compiler.arg(format!("-D{}", interface.to_uppercase()));
            compiler.arg(root.join("plugin.F08")).arg("-o").arg(&library).succeed()?;
            libraries.push(library);
        }
        let program = self.folder.join("plugins");
        let compiler = Job::new(self.project.stage.join("bin/mpicc")).args(["-Wall", "-Werror"]);
        compiler.arg(root.join("plugins.c")).arg("-o").arg(&program).arg("-ldl").succeed()?;
        let job = self.mpi.plain().args(["-n", "2"]).arg(&program).args(&libraries);
        said(&job.succeed()?.stdout, "plugins: right")
    }

    fn cmake(&self, cmake: &Path) -> Fallible {
        let build = self.folder.join("cmake");
        let _ = fs::remove_dir_all(&build);
        let source = self.project.root.join("tests/cmake/fortran");
        let home = format!("-DMPI_HOME={}", self.project.stage.display());
        Job::new(cmake).arg("-S").arg(source).arg("-B").arg(&build).arg(home).limit(120).succeed()?;
        Job::new(cmake).arg("--build").arg(&build).limit(120).succeed()?;
        let heat = self.mpi.plain().args(["-n", "4"]).arg(build.join("heat"));
        said(&heat.succeed()?.stdout, "heat: right")
    }

    fn profiled(&self, interface: &str) -> Fallible {
        let tool = self.folder.join(format!("counter-{interface}.so"));
        let source = self.project.root.join("tests/fortran/counter.c");
        let compiler = Job::new(self.project.stage.join("bin/mpicc")).args(["-shared", "-fPIC"]);
        compiler.arg(source).arg("-o").arg(&tool).succeed()?;
        let preload = format!("LD_PRELOAD={}", tool.display());
        let program = self.folder.join(format!("profiled-{interface}"));
        let job = self.mpi.plain().args(["-n", "2", "env", &preload]).arg(program);
        said(&job.succeed()?.stdout, COUNTED)
    }
}

/// Whether a program said what it must.
pub(crate) fn said(output: &str, wanted: &str) -> Fallible {
    if output.contains(wanted) {
        Ok(())
    } else {
        Err(format!("\"{wanted}\" was expected, this was said:\n{output}"))
    }
}

/// The symbols of the procedures in a module.
pub(super) fn procedures(text: &str) -> Vec<String> {
    let text = text.replace("&\n", "");
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("end")) {
        let start = ["subroutine ", "function "].iter().find_map(|word| Some(line.find(word)? + word.len()));
        let Some((name, rest)) = start.and_then(|start| line[start..].split_once('(')) else { continue };
        let label = rest.split_once("name=\"").and_then(|(_, rest)| rest.split_once('"'));
        // Those of callbacks are no procedures.
        if !name.ends_with("_function") && !name.ends_with("_function_c") {
            found.push(label.map_or_else(|| format!("{}_", name.to_lowercase()), |(label, _)| label.into()));
        }
    }
    found
}

/// What chooses it in `interface.h`.
fn defined(interface: &str) -> Vec<String> {
    match interface {
        "large" => vec!["-DF08".into(), "-DLARGE".into()],
        interface => vec![format!("-D{}", interface.to_uppercase())],
    }
}

/// Whether a test is built for an interface: for each of the standard's when it does not say.
pub(super) fn is_for(source: &Path, interface: &str) -> bool {
    let text = fs::read_to_string(source).unwrap_or_default();
    let said = text.lines().take(10).find_map(|line| line.strip_prefix("! interfaces:"));
    said.map_or(INTERFACES.contains(&interface), |said| said.split_whitespace().any(|word| word == interface))
}

#[cfg(test)]
mod unit {
    use super::procedures;

    #[test]
    fn procedures_have_symbols() {
        let text = "  interface\n    subroutine MPI_A(x, &\n        y) bind(C, name=\"mpi_a_f08ts\")\n    end subroutine\n    \
                    double precision function MPI_B()\n    end function\n    subroutine MPI_C_function(x)\n";
        assert_eq!(procedures(text), ["mpi_a_f08ts", "mpi_b_"]);
    }
}
