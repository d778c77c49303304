//! A profiling tool that is linked or preloaded first overrides `MPI_X` and reaches the library through
//! `PMPI_X`, whichever file of the program calls (MPI-5.0 §15.2). Built with the C compiler, run as a program.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts calls of two functions, in both directions: the tool's `MPI_X` calls `PMPI_X`, and the library's
/// own `PMPI_X` must never come back to the tool.
const TOOL: &str = r#"
#include <mpi.h>
#include <stdio.h>
static int depth;
int tool_calls;
int MPI_Get_version(int *version, int *subversion) {
    int code;
    if (depth++) { printf("came back into the tool\n"); return 99; }
    tool_calls++;
    code = PMPI_Get_version(version, subversion);
    depth--;
    return code;
}
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
    tool_calls += 100;
    return PMPI_Aint_add(base, disp);
}
void tool_report(void) { printf("tool saw %d\n", tool_calls); }
"#;

const MAIN: &str = r#"
#include <mpi.h>
#include <stdio.h>
void other_file(void);
void tool_report(void) __attribute__((weak));
int main(void) {
    int version = 0, subversion = -1;
    if (MPI_Get_version(&version, &subversion) != MPI_SUCCESS) return 1;
    if (PMPI_Get_version(&version, &subversion) != MPI_SUCCESS) return 1;
    other_file();
    printf("version %d.%d sum %d\n", version, subversion, (int)MPI_Aint_diff(MPI_Aint_add(40, 2), 0));
    if (tool_report) tool_report();
    return 0;
}
"#;

const OTHER: &str = r#"
#include <mpi.h>
void other_file(void);
void other_file(void) { int a, b; MPI_Get_version(&a, &b); MPI_Pcontrol(1, "x", 2.0); }
"#;

struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in [("tool.c", TOOL), ("main.c", MAIN), ("other.c", OTHER)] {
            std::fs::write(folder.join(file), text).unwrap();
        }
        let shop = Self { folder };
        std::os::unix::fs::symlink(library(), shop.folder.join("libmpi_abi.so")).unwrap();
        std::os::unix::fs::symlink(library(), shop.folder.join("libmpi_abi.so.1")).unwrap();
        shop
    }

    fn compile(&self, arguments: &[&str]) {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let output = Command::new("cc")
            .current_dir(&self.folder)
            .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
            .arg(include)
            .args(arguments)
            .output()
            .expect("the C compiler starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn run(&self, preload: Option<&str>) -> String {
        let mut command = Command::new(self.folder.join("program"));
        command.env("LD_LIBRARY_PATH", &self.folder);
        if let Some(tool) = preload {
            command.env("LD_PRELOAD", self.folder.join(tool));
        }
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The C library that cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let deps = test.parent().unwrap();
    [deps.join("libmpi_abi.so"), deps.parent().unwrap().join("libmpi_abi.so")]
        .into_iter()
        .find(|path| path.exists())
        .expect("cargo builds libmpi_abi.so before the tests")
}

#[test]
fn without_a_tool_the_library_answers() {
    let shop = Workshop::new("plain");
    shop.compile(&["-o", "program", "main.c", "other.c", "-L.", "-lmpi_abi"]);
    assert_eq!(shop.run(None), "version 5.0 sum 42\n");
}

#[test]
fn a_tool_linked_first_overrides_every_file() {
    let shop = Workshop::new("linked");
    shop.compile(&["-shared", "-fPIC", "-o", "libtool.so", "tool.c", "-L.", "-lmpi_abi"]);
    shop.compile(&["-o", "program", "main.c", "other.c", "-L.", "-ltool", "-lmpi_abi"]);
    assert_eq!(shop.run(None), "version 5.0 sum 42\ntool saw 102\n");
}

#[test]
fn a_tool_in_the_program_overrides_every_file() {
    let shop = Workshop::new("static");
    shop.compile(&["-o", "program", "main.c", "other.c", "tool.c", "-L.", "-lmpi_abi"]);
    assert_eq!(shop.run(None), "version 5.0 sum 42\ntool saw 102\n");
}

#[test]
fn a_preloaded_tool_overrides_a_finished_program() {
    let shop = Workshop::new("preloaded");
    shop.compile(&["-o", "program", "main.c", "other.c", "-L.", "-lmpi_abi"]);
    shop.compile(&["-shared", "-fPIC", "-o", "libtool.so", "tool.c", "-L.", "-lmpi_abi"]);
    assert_eq!(shop.run(Some("libtool.so")), "version 5.0 sum 42\ntool saw 102\n");
}
