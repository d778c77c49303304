//! `install --prefix DIR`, and the staged installation that demo, test and bench use: both are the same layout.
//!
//! ```text
//! bin/mpiexec mpirun mpicc mpicxx posthaste-info    lib/libmpi_abi.so.1, libmpi_abi.so    include/mpi.h,
//! posthaste.h, posthaste_*.h    lib/pkgconfig/posthaste.pc, mpi.pc    lib/cmake/posthaste/posthaste-config.cmake
//! ```
//! CMake's own FindMPI works through `bin/mpicc -show`; the config file is for those who prefer a package.
//! What must stay true: nothing inside knows the prefix, so it may be moved; a file in use is replaced, never overwritten in place (a running program keeps the old
//! one), and the staged files are only touched when they changed.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use crate::project::{Fallible, Project};

const PROGRAMS: [(&str, &str); 5] = [
    ("mpiexec", "mpiexec"),
    ("mpiexec", "mpirun"),
    ("mpicc", "mpicc"),
    ("mpicxx", "mpicxx"),
    ("posthaste-info", "posthaste-info"),
];

/// `mpi.h`, the parts of it that the standard's own does not have, what posthaste has besides, and the interface of plug-ins.
const HEADERS: [&str; 6] = [
    "mpi.h",
    "posthaste.h",
    "posthaste_fortran.h",
    "posthaste_removed.h",
    "posthaste_missing.h",
    "posthaste_method.h",
];

/// Builds in release mode and brings the staged installation up to date.
pub(crate) fn stage(project: &Project) -> Fallible {
    if project.as_staged {
        return if project.stage.join("lib/libmpi_abi.so.1").exists() {
            Ok(())
        } else {
            Err(format!("nothing is staged in {}", project.stage.display()))
        };
    }
    build(project)?;
    copy(project, &project.stage)
}

/// Builds in release mode and installs under `prefix`.
pub(crate) fn run(project: &Project, prefix: &Path) -> Fallible {
    build(project)?;
    let prefix = std::path::absolute(prefix).map_err(|e| format!("{}: {e}", prefix.display()))?;
    copy(project, &prefix)?;
    println!(
        "installed under {}: bin/mpiexec, bin/mpicc, bin/mpicxx, lib/libmpi_abi.so.1, include/mpi.h",
        prefix.display()
    );
    Ok(())
}

fn build(project: &Project) -> Fallible {
    project
        .cargo(&["build", "--release", "--quiet", "-p", "posthaste-launch", "-p", "posthaste-abi"])
        .succeed()
        .map(drop)
}

/// Installs what was built last.
pub(crate) fn copy(project: &Project, prefix: &Path) -> Fallible {
    let built = project.target.join("release");
    install(project, prefix, |program| built.join(program), &built.join("libmpi_abi.so"))
}

/// Installs what is staged.
pub(crate) fn copy_staged(project: &Project, prefix: &Path) -> Fallible {
    let stage = &project.stage;
    install(project, prefix, |program| stage.join("bin").join(program), &stage.join("lib/libmpi_abi.so.1"))
}

fn install(project: &Project, prefix: &Path, program: impl Fn(&str) -> PathBuf, library: &Path) -> Fallible {
    for (from, to) in PROGRAMS {
        put(&program(from), &prefix.join("bin").join(to), 0o755)?;
    }
    put(library, &prefix.join("lib/libmpi_abi.so.1"), 0o755)?;
    link("libmpi_abi.so.1", &prefix.join("lib/libmpi_abi.so"))?;
    for header in HEADERS {
        let from = project.root.join("crates/posthaste-abi/include").join(header);
        put(&from, &prefix.join("include").join(header), 0o644)?;
    }
    let version = env!("CARGO_PKG_VERSION");
    let package = |name: &str| {
        format!(
            "prefix=${{pcfiledir}}/../..\nincludedir=${{prefix}}/include\nlibdir=${{prefix}}/lib\n\nName: {name}\n\
             Description: posthaste, a message-passing system with the standard ABI of MPI-5.0\n\
             Version: {version}\nCflags: -I${{includedir}}\n\
             Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -lmpi_abi\n"
        )
    };
    write(&prefix.join("lib/pkgconfig/posthaste.pc"), &package("posthaste"))?;
    write(&prefix.join("lib/pkgconfig/mpi.pc"), &package("mpi"))?;
    write(&prefix.join("lib/cmake/posthaste/posthaste-config.cmake"), CMAKE)
}

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
