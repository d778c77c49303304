//! The Python wheel: `bin`, `lib`, `include` and `share` of the environment that it is installed into, and nothing to import but what
//! tells mpi4py where the library is.
//!
//! What must stay true: a wheel has no symbolic links, so a second name is a script; the tag names the C library that the
//! binaries ask for; each folder has the files of one ABI.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{SUMMARY, VERSION, c_library, copy_all, fresh, write};
use crate::{install, process::Job, project::Fallible, project::Project, python};

/// A second name of the program of that name beside it.
fn second_name(program: &str) -> String {
    format!("#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/{program}\" \"$@\"\n")
}

/// The name of the module for mpi4py.
const FOR_MPI4PY: &str = "posthaste_mpi4py";

/// Runs when the interpreter starts. mpi4py's own wheel asks for MPICH's ABI, and looks for it in `lib` of the environment, where the
/// standard's is; what `MPI4PY_LIBMPI` names comes before that. Another MPI in that folder, or what the user says, comes first.
const MODULE: &str = r#"import os
import sys

_prefix = os.path.abspath(__file__)
for _ in range(4):  # PREFIX/lib/python3.x/site-packages/posthaste_mpi4py.py
    _prefix = os.path.dirname(_prefix)
_ours = os.path.join(_prefix, "mpich", "lib", "libmpi.so.12")
_names = ("libmpi.so", "libmpi.so.12", "libmpi.so.40")
_others = [os.path.join(_home, "lib", _name) for _home in (_prefix, sys.exec_prefix) for _name in _names]
if os.path.exists(_ours) and not any(map(os.path.exists, _others)):
    os.environ.setdefault("MPI4PY_LIBMPI", _ours)
"#;

pub(super) fn pack(project: &Project, tree: &Path, folder: &Path) -> Fallible<PathBuf> {
    let root = fresh(&folder.join("wheel"))?;
    let data = root.join(format!("posthaste-{VERSION}.data/data"));
    fs::create_dir_all(&data).map_err(|e| format!("{}: {e}", data.display()))?;
    copy_all(tree, &data)?;
    // Of libraries the names that the linker asks for; a program that asks for another when it runs takes what a folder beside
    // it has.
    for (what, second) in install::LINKS {
        let at = data.join(second);
        fs::remove_file(&at).map_err(|e| format!("{}: {e}", at.display()))?;
        if second.starts_with("bin/") {
            write(&at, &second_name(what), 0o755)?;
        } else if second.ends_with(".so") {
            write(&at, &format!("INPUT({what})\n"), 0o644)?;
        }
    }
    write(&root.join(format!("{FOR_MPI4PY}.py")), MODULE, 0o644)?;
    write(&root.join(format!("{FOR_MPI4PY}.pth")), &format!("import {FOR_MPI4PY}\n"), 0o644)?;
    let (major, minor) = c_library(tree)?;
    let tag = format!("py3-none-manylinux_{major}_{minor}_{}", std::env::consts::ARCH);
    let about = root.join(format!("posthaste-{VERSION}.dist-info"));
    let metadata = format!(
        "Metadata-Version: 2.1\nName: posthaste\nVersion: {VERSION}\nSummary: {SUMMARY}\n\
         License: MIT OR Apache-2.0\nRequires-Python: >=3.8\n"
    );
    write(&about.join("METADATA"), &metadata, 0o644)?;
    let wheel =
        format!("Wheel-Version: 1.0\nGenerator: posthaste xtask\nRoot-Is-Purelib: false\nTag: {tag}\n");
    write(&about.join("WHEEL"), &wheel, 0o644)?;
    let python = python::tool(project, "wheel")?;
    Job::new(python).args(["-m", "wheel", "pack", "--dest-dir"]).arg(folder).arg(&root).succeed()?;
    Ok(folder.join(format!("posthaste-{VERSION}-{tag}.whl")))
}
