//! The real `mpicc` and `mpicxx` with the system's compiler and a library made for the test.

mod common;

use common::put_program;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn prefix() -> PathBuf {
    let prefix = std::env::temp_dir().join(format!(
        "mpicc-test-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::create_dir_all(prefix.join("include")).unwrap();
    std::fs::create_dir_all(prefix.join("lib")).unwrap();
    std::fs::create_dir_all(prefix.join("bin")).unwrap();
    let c = "#ifdef __cplusplus\nextern \"C\"\n#endif\nint answer(void);\n";
    std::fs::write(prefix.join("include/mpi.h"), c).unwrap();
    std::fs::write(prefix.join("lib.c"), "int answer(void) { return 42; }\n").unwrap();
    let program = "#include <mpi.h>\nint main(void) { return answer(); }\n";
    std::fs::write(prefix.join("main.c"), program).unwrap();
    std::fs::write(prefix.join("main.cc"), program).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "lib/libmpi_abi.so", "lib.c"])
        .current_dir(&prefix)
        .status()
        .unwrap();
    assert!(built.success());
    prefix
}

fn tool(path: &str, prefix: &Path, arguments: &[&str]) -> Output {
    Command::new(path).args(arguments).env("POSTHASTE_PREFIX", prefix).current_dir(prefix).output().unwrap()
}

/// The exit code of a program that finds its library by its own means: cargo's library path leads to the real one.
fn run(program: &Path) -> Option<i32> {
    Command::new(program).env_remove("LD_LIBRARY_PATH").status().unwrap().code()
}

#[test]
fn programs_are_compiled_linked_and_find_their_library() {
    let prefix = prefix();
    for (path, source) in [(env!("CARGO_BIN_EXE_mpicc"), "main.c"), (env!("CARGO_BIN_EXE_mpicxx"), "main.cc")]
    {
        if source == "main.cc" && Command::new("c++").arg("--version").output().is_err() {
            eprintln!("mpicxx was not tried: there is no C++ compiler here");
            continue;
        }
        let built = tool(path, &prefix, &[source, "-o", "main"]);
        assert!(built.status.success(), "{built:?}");
        assert_eq!(run(&prefix.join("main")), Some(42));
        assert!(tool(path, &prefix, &["-c", source, "-o", "main.o"]).status.success());
        assert!(tool(path, &prefix, &["main.o", "-o", "main2"]).status.success());
        assert_eq!(run(&prefix.join("main2")), Some(42));
        assert!(tool(path, &prefix, &["--version"]).status.success());
        assert!(!tool(path, &prefix, &["-c", "missing.c"]).status.success());
    }
    std::fs::remove_dir_all(prefix).unwrap();
}

#[test]
fn the_prefix_is_where_the_command_lies() {
    let prefix = prefix();
    let mpicc = prefix.join("bin/mpicc");
    put_program(env!("CARGO_BIN_EXE_mpicc"), &mpicc);
    let said = Command::new(&mpicc).arg("-show").env_remove("POSTHASTE_PREFIX").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let prefix_name = prefix.canonicalize().unwrap();
    assert!(said.contains(&format!("-I{}/include", prefix_name.display())), "{said}");
    std::fs::remove_dir_all(prefix).unwrap();
}

#[test]
fn a_missing_header_is_said() {
    let said = tool(env!("CARGO_BIN_EXE_mpicc"), Path::new("/"), &["-c", "x.c"]);
    assert_eq!(said.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&said.stderr).contains("no include/mpi.h"), "{said:?}");
}
