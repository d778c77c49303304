//! The module file of `docs/install.md`, loaded by Debian's environment modules, which are unpacked and not installed: a shell then finds
//! our commands, and a program that was built elsewhere our library.

use std::{fs, path::Path};

use super::fresh;
use crate::{
    process::Job,
    project::{Fallible, Project},
    unpacked::{Needs, Unpacked, system},
};

const PAGE: &str = "docs/install.md";

/// What reads module files.
pub(super) fn fetch(project: &Project) -> Fallible<Unpacked> {
    Unpacked::fetch(project, "modules", &["environment-modules"], Needs::Too)
}

/// With the installation in `prefix`.
pub(super) fn check(project: &Project, unpacked: &Unpacked, prefix: &Path) -> Fallible {
    let folder = fresh(&project.folder("dist")?.join("modules"))?;
    let page = fs::read_to_string(project.root.join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    let text = module_file(&page).ok_or_else(|| format!("{PAGE} has no module file"))?;
    let text = text.replace("PREFIX", &prefix.display().to_string());
    super::write(&folder.join("files/posthaste"), &text, 0o644)?;
    // The interpreter may have come along.
    let libraries = unpacked.root.join("usr/lib").join(system());
    let script = r#"
        for tclsh in "$ROOT"/usr/bin/tclsh8* tclsh; do command -v "$tclsh" >/dev/null && break; done
        for library in "$ROOT"/usr/share/tcltk/tcl8*; do
            if [ -e "$library/init.tcl" ]; then export TCL_LIBRARY="$library"; fi
        done
        said=$(LD_LIBRARY_PATH="$LIBRARIES" "$tclsh" "$LIBRARIES/modulecmd.tcl" sh load posthaste)
        eval "$said"
        test "$(command -v mpicc)" = "$PREFIX/bin/mpicc"
        test "$MPI_HOME" = "$PREFIX"
        mpicc "$SOURCE" -o program
        mpiexec -n 2 ./program
        case ":$LD_LIBRARY_PATH:" in *":$PREFIX/lib:"*) ;; *) echo "$LD_LIBRARY_PATH"; exit 1 ;; esac
        pkg-config --exists posthaste || test ! -x "$(command -v pkg-config)""#;
    let job = Job::new("sh").args(["-e", "-u", "-c", script]).dir(&folder);
    let job = job.env("ROOT", &unpacked.root).env("LIBRARIES", libraries).env("PREFIX", prefix);
    let job = job.env("MODULEPATH", folder.join("files")).env("LD_LIBRARY_PATH", "");
    let said = job.env("SOURCE", project.root.join("tests/c/build/program.c")).succeed()?.stdout;
    if said.contains("program: 2 ranks, sum 1") { Ok(()) } else { Err(said) }
}

/// The block of the page that begins as such files do.
fn module_file(page: &str) -> Option<&str> {
    let start = page.find("#%Module")?;
    page[start..].split("```").next()
}

#[cfg(test)]
mod tests {
    use super::module_file;

    #[test]
    fn the_block_of_the_page_is_found() {
        assert_eq!(
            module_file("text\n```tcl\n#%Module\nsetenv A B\n```\nmore"),
            Some("#%Module\nsetenv A B\n")
        );
        assert_eq!(module_file("text"), None);
    }
}
