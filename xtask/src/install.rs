//! `install --prefix DIR`, and the staged installation that demo, test and bench use: both are the same layout.
//!
//! ```text
//! bin/mpiexec mpirun mpicc mpicxx mpifort mpif90 mpif77 posthaste-info posthaste-names    lib/libmpi_abi.so.1, libmpi_abi.so,
//! libmpifort_abi.so.1, libmpifort_abi.so, posthastempi.o    include/mpi.h, posthaste.h, posthaste_*.h, mpif.h, fortran/*.f90
//! mpich/lib/libmpi.so.12, libmpifort.so.12, libmpi.so    mpich/include/mpi.h, mpi-ext.h, posthaste.h    mpich/bin/mpicc mpicxx mpiexec mpirun
//! lib/pkgconfig/posthaste.pc, mpi.pc, posthaste-fortran.pc    mpich/lib/pkgconfig/mpich.pc
//! lib/cmake/posthaste/posthaste-config.cmake, posthaste-config-version.cmake
//! ```
//! CMake's own FindMPI works through `bin/mpicc -show`; the config file is for those who prefer a package.
//! What must stay true: nothing inside knows the prefix, so it may be moved; a file in use is replaced, never overwritten in place (a running program keeps the old
//! one), and the staged files are only touched when they changed.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use crate::{
    fortran, mpich, packages,
    process::Job,
    project::{Fallible, Project},
};

const PROGRAMS: [&str; 6] = ["mpiexec", "mpicc", "mpicxx", "mpifort", "posthaste-info", "posthaste-names"];

/// The libraries of the standard ABI for C and for Fortran, and those of MPICH's in a prefix of its own: who builds with one never
/// finds the other. Each with what cargo calls it.
pub(crate) const LIBRARIES: [&str; 4] = [
    "lib/libmpi_abi.so.1",
    "lib/libmpifort_abi.so.1",
    "mpich/lib/libmpi.so.12",
    "mpich/lib/libmpifort.so.12",
];
const BUILT: [&str; 4] = ["libmpi_abi.so", "libmpifort_abi.so", "libmpi.so", "libmpifort.so"];

/// Second names: of programs, of libraries for the linker, and those of MPICH's that Debian's programs ask for.
pub(crate) const LINKS: [(&str, &str); 7] = [
    ("mpiexec", "bin/mpirun"),
    ("mpifort", "bin/mpif90"),
    ("mpifort", "bin/mpif77"),
    ("libmpi_abi.so.1", "lib/libmpi_abi.so"),
    ("libmpi.so.12", "mpich/lib/libmpi.so"),
    ("libmpi.so.12", "mpich/lib/libmpich.so.12"),
    ("libmpifort.so.12", "mpich/lib/libmpichfort.so.12"),
];

/// `mpi.h`, the parts of it that the standard's own does not have, what posthaste has besides under two kinds of names, and the interface of plug-ins.
const HEADERS: [&str; 7] = [
    "mpi.h",
    "mpi-ext.h",
    "posthaste.h",
    "posthaste_fortran.h",
    "posthaste_removed.h",
    "posthaste_missing.h",
    "posthaste_method.h",
];

/// What every program and library is linked with that uses the library for Fortran, and what the linker finds by that name.
const CELLS: &str = "posthastempi.o";
const FORTRAN: &str = "INPUT(libmpifort_abi.so.1 posthastempi.o)\n";

/// Builds in release mode and brings the staged installation up to date.
pub(crate) fn stage(project: &Project) -> Fallible {
    stage_built(project, |job| job.arg("--quiet"))
}

/// The same for somebody who waits for it.
pub(crate) fn stage_seen(project: &Project) -> Fallible {
    stage_built(project, Job::seen)
}

fn stage_built(project: &Project, shown: fn(Job) -> Job) -> Fallible {
    if project.as_staged {
        return if project.stage.join("lib/libmpi_abi.so.1").exists() {
            Ok(())
        } else {
            Err(format!("nothing is staged in {}", project.stage.display()))
        };
    }
    build(project, shown)?;
    copy(project, &project.stage)
}

/// Builds in release mode and installs under `prefix`.
pub(crate) fn run(project: &Project, prefix: &Path) -> Fallible {
    build(project, Job::seen)?;
    let prefix = std::path::absolute(prefix).map_err(|e| format!("{}: {e}", prefix.display()))?;
    copy(project, &prefix)?;
    println!(
        "installed under {}: bin/mpiexec, bin/mpicc, bin/mpicxx, bin/mpifort, lib/libmpi_abi.so.1, include/mpi.h",
        prefix.display()
    );
    if packages::present("gfortran") { modules(&prefix) } else { Ok(()) }
}

/// Compiles the modules for Fortran: whoever installs may write here, and users may not. Without a Fortran compiler mpifort does so
/// when there is one.
pub(crate) fn modules(prefix: &Path) -> Fallible {
    Job::new(prefix.join("bin/mpifort")).arg("-showme:compile").limit(120).succeed().map(drop)
}

/// What is installed, as options of cargo.
pub(crate) const CRATES: [&str; 5] = [
    "--package=posthaste-launch",
    "--package=posthaste-abi",
    "--package=posthaste-fortran",
    "--package=posthaste-mpich",
    "--package=posthaste-mpich-fortran",
];

fn build(project: &Project, shown: fn(Job) -> Job) -> Fallible {
    shown(project.cargo(&[&["build", "--release"][..], &CRATES].concat())).succeed()?;
    assemble("cc", &project.target.join("release"))
}

/// Makes what cargo does not, by this compiler, and puts it beside what cargo has built.
pub(crate) fn assemble(compiler: &str, built: &Path) -> Fallible {
    let assembler = Job::new(compiler).args(["-c", "-x", "assembler", "-", "-o"]).arg(built.join(CELLS));
    assembler.input(fortran::CELLS).succeed().map(drop)
}

/// Installs what was built last.
pub(crate) fn copy(project: &Project, prefix: &Path) -> Fallible {
    copy_built(project, &project.target.join("release"), prefix)
}

/// Installs what lies in this folder of cargo's.
pub(crate) fn copy_built(project: &Project, built: &Path, prefix: &Path) -> Fallible {
    let libraries = BUILT.map(|library| built.join(library));
    install(project, prefix, |program| built.join(program), &libraries, &built.join(CELLS))
}

/// Installs what is staged.
pub(crate) fn copy_staged(project: &Project, prefix: &Path) -> Fallible {
    let stage = &project.stage;
    let libraries = LIBRARIES.map(|library| stage.join(library));
    let cells = stage.join("lib").join(CELLS);
    install(project, prefix, |program| stage.join("bin").join(program), &libraries, &cells)
}

fn install(
    project: &Project,
    prefix: &Path,
    program: impl Fn(&str) -> PathBuf,
    libraries: &[PathBuf; 4],
    cells: &Path,
) -> Fallible {
    for name in PROGRAMS {
        put(&program(name), &prefix.join("bin").join(name), 0o755)?;
    }
    for (from, to) in libraries.iter().zip(LIBRARIES) {
        put(from, &prefix.join(to), 0o755)?;
    }
    for (what, at) in LINKS {
        link(what, &prefix.join(at))?;
    }
    put(cells, &prefix.join("lib").join(CELLS), 0o644)?;
    write(&prefix.join("lib/libmpifort_abi.so"), FORTRAN)?;
    for (name, text) in fortran::sources(&project.root)? {
        write(&prefix.join("include").join(name), &text)?;
    }
    for header in HEADERS {
        let from = project.root.join("crates/posthaste-abi/include").join(header);
        put(&from, &prefix.join("include").join(header), 0o644)?;
    }
    for (name, script) in [("mpicc", COMPILE), ("mpicxx", COMPILE), ("mpiexec", RUN), ("mpirun", RUN)] {
        replace(&prefix.join("mpich/bin").join(name), script.as_bytes(), 0o755)?;
    }
    write(&prefix.join("mpich/include/mpi.h"), &mpich::header(&project.root)?)?;
    write(&prefix.join("mpich/include/mpi-ext.h"), &mpich::extensions(&project.root)?)?;
    let beside = project.root.join("crates/posthaste-abi/include/posthaste.h");
    put(&beside, &prefix.join("mpich/include/posthaste.h"), 0o644)?;
    let version = env!("CARGO_PKG_VERSION");
    let package = |name: &str, what: &str, libraries: &str| {
        format!(
            "prefix=${{pcfiledir}}/../..\nincludedir=${{prefix}}/include\nlibdir=${{prefix}}/lib\n\nName: {name}\n\
             Description: posthaste, a message-passing system with {what}\n\
             Version: {version}\nCflags: -I${{includedir}}\n\
             Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} {libraries}\n"
        )
    };
    let c = "the standard ABI of MPI-5.0";
    let fortran =
        "the standard ABI of MPI-5.0, for Fortran with mpif.h; mpifort knows the modules of a compiler";
    for (at, name, what, libraries) in [
        ("lib", "posthaste", c, "-lmpi_abi"),
        ("lib", "mpi", c, "-lmpi_abi"),
        ("lib", "posthaste-fortran", fortran, "-lmpifort_abi -lmpi_abi"),
        ("mpich/lib", "mpich", "MPICH's ABI", "-lmpi"),
    ] {
        let text = package(name, what, libraries);
        write(&prefix.join(at).join("pkgconfig").join(format!("{name}.pc")), &text)?;
    }
    let cmake = prefix.join("lib/cmake/posthaste");
    write(&cmake.join("posthaste-config.cmake"), CMAKE)?;
    write(&cmake.join("posthaste-config-version.cmake"), &CMAKE_VERSION.replace("VERSION_OF_OURS", version))
}

/// The commands of the prefix for MPICH's ABI; they know the others by where they lie themselves.
const COMPILE: &str = r#"#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/../../bin/$(basename "$0")" -abi=mpich "$@"
"#;
const RUN: &str = r#"#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../../bin/mpiexec" "$@"
"#;

const CMAKE: &str = r#"# posthaste as a CMake package: find_package(posthaste), then link posthaste::mpi.
# find_package(MPI) works as well, with this prefix's bin/ in PATH or MPI_HOME set to the prefix.
get_filename_component(_posthaste_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET posthaste::mpi)
  add_library(posthaste::mpi SHARED IMPORTED)
  set_target_properties(posthaste::mpi PROPERTIES
    IMPORTED_LOCATION "${_posthaste_prefix}/lib/libmpi_abi.so.1"
    IMPORTED_SONAME "libmpi_abi.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_posthaste_prefix}/include")
endif()
set(posthaste_MPIEXEC "${_posthaste_prefix}/bin/mpiexec")
"#;

/// Before 1.0 a minor version may change what the package offers.
const CMAKE_VERSION: &str = r#"# Which versions find_package(posthaste VERSION) may ask for.
set(PACKAGE_VERSION "VERSION_OF_OURS")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _posthaste_series "${PACKAGE_VERSION}")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif(PACKAGE_FIND_VERSION VERSION_LESS PACKAGE_VERSION AND NOT PACKAGE_FIND_VERSION VERSION_LESS _posthaste_series)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"#;

/// Writes a script that can be run.
pub(crate) fn write_script(to: &Path, text: &str) -> Fallible {
    replace(to, text.as_bytes(), 0o755)
}

fn put(from: &Path, to: &Path, mode: u32) -> Fallible {
    let bytes = fs::read(from).map_err(|e| format!("can't read {}: {e}", from.display()))?;
    replace(to, &bytes, mode)
}

fn write(to: &Path, text: &str) -> Fallible {
    replace(to, text.as_bytes(), 0o644)
}

/// Writes beside the old file and renames, unless the old one has this content already.
fn replace(to: &Path, bytes: &[u8], mode: u32) -> Fallible {
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let explain = |e| format!("can't write {}: {e}", to.display());
    let folder = to.parent().ok_or_else(|| format!("{} has no folder", to.display()))?;
    fs::create_dir_all(folder).map_err(explain)?;
    let mut beside = to.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, bytes).map_err(explain)?;
    fs::set_permissions(&beside, fs::Permissions::from_mode(mode)).map_err(explain)?;
    fs::rename(&beside, to).map_err(explain)
}

fn link(what: &str, at: &Path) -> Fallible {
    if fs::read_link(at).is_ok_and(|old| old == Path::new(what)) {
        return Ok(());
    }
    let _ = fs::remove_file(at);
    symlink(what, at).map_err(|e| format!("can't make the link {}: {e}", at.display()))
}
