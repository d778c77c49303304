//! Debian packages that tests need: which, what proves that they are there, and how they are installed. This comes
//! before anything else.
//!
//! A part that needs a package adds a row to [`PACKAGES`], or brings a table of its own to [`tables`]. What must stay
//! true: only what a wanted part needs is installed, and only as root; no service starts because of it; whatever can't be
//! installed is said here with its reason, and counted by the part that then leaves its tests out.

use std::{env, fs, path::Path, time::Instant};

use crate::{
    process::Job,
    project::{Fallible, Project},
};

/// A Debian package and who needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package {
    /// As `apt-get install` knows it.
    pub(crate) name: &'static str,
    /// What is there when it is installed, or when the same came another way.
    pub(crate) proof: Proof,
    /// The parts of `cargo xtask test` that need it.
    pub(crate) parts: &'static [&'static str],
    /// What for, in a few words.
    pub(crate) why: &'static str,
}

/// What shows that a package is not missing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Proof {
    /// A program in PATH or in the administrator's folders.
    Program(&'static str),
    /// A shared library that the loader finds.
    Library(&'static str),
    /// A header that the C compiler finds.
    Header(&'static str),
    /// Python code that ends without an exception.
    Python(&'static str),
    /// A file.
    File(&'static str),
}

/// What the parts need that this crate has of its own.
const PACKAGES: &[Package] = &[
    Package {
        name: "g++",
        proof: Proof::Program("c++"),
        parts: &["builds", "headers", "unit"],
        why: "programs in C++ (mpicxx)",
    },
    Package {
        name: "gfortran",
        proof: Proof::Program("gfortran"),
        parts: &["fortran", "instructions", "mpich"],
        why: "programs in Fortran (mpifort)",
    },
    Package {
        name: "pkg-config",
        proof: Proof::Program("pkg-config"),
        parts: &["builds"],
        why: "programs built with pkg-config",
    },
    Package {
        name: "make",
        proof: Proof::Program("make"),
        parts: &["builds"],
        why: "programs built with CMake",
    },
    Package {
        name: "procps",
        proof: Proof::Program("kill"),
        parts: &["hosts"],
        why: "signals to ranks of other hosts",
    },
    Package {
        name: "libfabric1",
        proof: Proof::Library("libfabric.so.1"),
        parts: &["unit", "faults", "methods", "hosts"],
        why: "messages over libfabric",
    },
    Package {
        name: "libfabric-dev",
        proof: Proof::Header("rdma/fabric.h"),
        parts: &["unit"],
        why: "our declarations against libfabric's headers",
    },
    Package {
        name: "iproute2",
        proof: Proof::Program("ip"),
        parts: &["hosts"],
        why: "several hosts, as network namespaces",
    },
    Package {
        name: "openssh-server",
        proof: Proof::Program("sshd"),
        parts: &["hosts"],
        why: "ranks started over ssh",
    },
    Package {
        name: "openssh-client",
        proof: Proof::Program("ssh"),
        parts: &["hosts"],
        why: "ranks started over ssh",
    },
    Package {
        name: "slurm-wlm",
        proof: Proof::Program("slurmctld"),
        parts: &["launchers"],
        why: "programs under srun, salloc and sbatch",
    },
    Package {
        name: "munge",
        proof: Proof::Program("munged"),
        parts: &["launchers"],
        why: "Slurm's authentication",
    },
    Package {
        name: "libpmix-dev",
        proof: Proof::Library("libpmix.so"),
        parts: &["launchers"],
        why: "srun --mpi=pmix",
    },
    Package {
        name: "valgrind",
        proof: Proof::Program("valgrind"),
        parts: &["valgrind", "races", "instructions"],
        why: "checks of memory and threads, counts of instructions",
    },
    Package {
        name: "gdb",
        proof: Proof::Program("gdb"),
        parts: &["unit", "dist"],
        why: "debuggers that attach to mpiexec",
    },
    Package {
        name: "python3-venv",
        proof: Proof::Python("import ensurepip, venv"),
        parts: &["builds", "dist", "launchers", "hosts", "mpich", "python", "rsmpi", "demo"],
        why: "Python packages under target/",
    },
    Package {
        name: "python3-dev",
        proof: Proof::Python("import sysconfig; open(sysconfig.get_path('include') + '/Python.h')"),
        parts: &["hosts", "mpich", "python", "demo"],
        why: "mpi4py, built from its source",
    },
];

/// All tables; a part with many rows has one of its own.
fn tables() -> [&'static [Package]; 2] {
    [PACKAGES, crate::programs::PACKAGES]
}

/// A file that Debian's tools ask before they start a service; no other way is common to all kinds of init.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Installs packages: `$1` gets the output, `$2` is the file of the policy, the rest are their names.
///
/// It is one script because it goes on, and takes the policy away at its end, when xtask itself is ended meanwhile. The
/// lock keeps two of it from taking away each other's. A policy that the machine already has is left alone: whoever
/// made it has decided. What apt does not know is left out, so that the others are installed.
const SCRIPT: &str = r#"
    exec >"$1" 2>&1
    policy=$2
    shift 2
    exec 9<"${policy%/*}"
    flock 9
    mark='made by cargo xtask test'
    if [ ! -e "$policy" ] || grep -q "$mark" "$policy"; then
        trap 'rm -f "$policy"' EXIT
        trap 'exit 1' HUP INT TERM
        printf '#!/bin/sh\n# %s: no service is started by its installation\nexit 101\n' "$mark" >"$policy"
        chmod 755 "$policy"
    fi
    options='-q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 -o Acquire::http::Timeout=20'
    tries=20
    until apt-get $options update 9<&-; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || exit 1
        sleep 3
    done
    known=
    for name; do
        if apt-cache show --no-all-versions "$name" >/dev/null 2>&1; then
            known="$known $name"
        else
            echo "E: no package is called $name here"
        fi
    done
    [ -n "$known" ] || exit 1
    apt-get $options -o Dpkg::Options::=--force-confold install --no-install-recommends $known 9<&-
"#;

/// Sees to it that the packages are there which the wanted parts need; says what it installs, or why it does not.
pub(crate) fn ensure(project: &Project, wanted: &dyn Fn(&str) -> bool, allowed: bool) {
    ensure_of(project, &tables(), wanted, allowed);
}

/// The same for the packages in these tables.
pub(crate) fn ensure_of(
    project: &Project,
    tables: &[&'static [Package]],
    wanted: &dyn Fn(&str) -> bool,
    allowed: bool,
) {
    let missing = missing(tables, wanted, &|package| package.proof.holds());
    if missing.is_empty() {
        return;
    }
    if let Some(obstacle) = obstacle(allowed) {
        println!("Debian packages are missing ({obstacle}); tests that need them are left out and counted:");
        return show(&missing, wanted);
    }
    let log = project.target.join("packages.log");
    println!("installing Debian packages that tests need (--no-install: leave these tests out):");
    show(&missing, wanted);
    let start = Instant::now();
    let trouble = install(&missing, &log).err();
    let absent: Vec<&str> =
        missing.iter().filter(|package| !package.proof.holds()).map(|package| package.name).collect();
    println!("installing took {:.0} s; its record is {}", start.elapsed().as_secs_f64(), log.display());
    if !absent.is_empty() {
        println!(
            "still missing, so tests that need them are left out and counted: {}\n{}",
            absent.join(" "),
            trouble.unwrap_or_else(|| "    apt-get reported no error".into())
        );
    }
}

/// Whether there is a program of this name, in PATH or where those of the administrator are.
pub(crate) fn present(program: &str) -> bool {
    let path = env::var("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/sbin", "/sbin"]).any(|folder| Path::new(folder).join(program).exists())
}

impl Proof {
    /// Whether it is there.
    pub(crate) fn holds(self) -> bool {
        match self {
            Self::Program(name) => present(name),
            Self::Library(name) => has_library(name),
            Self::File(path) => Path::new(path).exists(),
            Self::Header(name) => {
                let name = format!("#include <{name}>\n");
                let job = Job::new("cc").args(["-E", "-x", "c", "-o", "/dev/null", "-"]).input(name);
                job.run().is_ok_and(|outcome| outcome.ok())
            }
            Self::Python(code) => {
                Job::new("python3").args(["-c", code]).run().is_ok_and(|outcome| outcome.ok())
            }
        }
    }
}

/// Whether the loader knows a library of this name, or the user's path leads to one.
fn has_library(name: &str) -> bool {
    let path = env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let known = Job::new("ldconfig").arg("-p").env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").run();
    known.is_ok_and(|known| known.stdout.lines().any(|line| line.split_whitespace().next() == Some(name)))
        || path.split(':').any(|folder| !folder.is_empty() && Path::new(folder).join(name).exists())
}

/// The rows of wanted parts for which `there` is false, each package once.
fn missing(
    tables: &[&'static [Package]],
    wanted: &dyn Fn(&str) -> bool,
    there: &dyn Fn(&Package) -> bool,
) -> Vec<Package> {
    let mut missing: Vec<Package> = Vec::new();
    for package in tables.iter().copied().flatten() {
        let is_wanted = package.parts.iter().any(|part| wanted(part));
        if is_wanted && missing.iter().all(|other| other.name != package.name) && !there(package) {
            missing.push(*package);
        }
    }
    missing
}

/// Why nothing can be installed, if so.
fn obstacle(allowed: bool) -> Option<&'static str> {
    if !allowed {
        Some("--no-install was given")
    } else if !rustix::process::geteuid().is_root() {
        Some("only root can install them")
    } else if !present("apt-get") {
        Some("there is no apt-get; install what they contain another way")
    } else {
        None
    }
}

/// A line for each: its name, what it is for, and who needs it.
fn show(packages: &[Package], wanted: &dyn Fn(&str) -> bool) {
    for Package { name, why, parts, .. } in packages {
        let parts: Vec<&str> = parts.iter().copied().filter(|part| wanted(part)).collect();
        println!("  {name:16} {why} ({})", parts.join(", "));
    }
}

/// Runs the script; on failure gives what apt called errors.
fn install(packages: &[Package], log: &Path) -> Fallible {
    let path = env::var("PATH").unwrap_or_default();
    let names = packages.iter().map(|package| package.name);
    let job = script(Path::new(POLICY), log).args(names);
    // An installation must not be ended half-way, so the limit is far away.
    let outcome = job.env("PATH", format!("{path}:/usr/sbin:/usr/bin:/sbin:/bin")).limit(3600).run()?;
    let said = fs::read_to_string(log).unwrap_or_default();
    let errors: Vec<String> =
        said.lines().filter(|line| line.starts_with("E:")).map(|line| format!("    | {line}")).collect();
    if outcome.ok() && errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// The script, to be completed with names of packages.
fn script(policy: &Path, log: &Path) -> Job {
    let job = Job::new("sh").args(["-c", SCRIPT, "packages"]).arg(log).arg(policy);
    job.env("DEBIAN_FRONTEND", "noninteractive")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const FIRST: Package =
        Package { name: "one", proof: Proof::Program("one"), parts: &["c", "hosts"], why: "this" };
    const SECOND: Package =
        Package { name: "two", proof: Proof::Program("two"), parts: &["demo"], why: "that" };
    const TABLES: [&[Package]; 2] = [&[FIRST, SECOND], &[FIRST]];

    fn names(wanted: &[&str], there: &[&str]) -> Vec<&'static str> {
        let found =
            missing(&TABLES, &|part| wanted.contains(&part), &|package| there.contains(&package.name));
        found.iter().map(|package| package.name).collect()
    }

    #[test]
    fn only_what_wanted_parts_lack_is_missing_and_once() {
        assert_eq!(names(&["c", "demo"], &[]), ["one", "two"]);
        assert_eq!(names(&["hosts"], &[]), ["one"]);
        assert_eq!(names(&["c", "demo"], &["one"]), ["two"]);
        assert!(names(&["unit"], &[]).is_empty());
    }

    #[test]
    fn every_row_names_parts_that_there_are() {
        for package in tables().iter().copied().flatten() {
            for part in package.parts {
                let known = crate::gate::PARTS.iter().any(|known| known.name == *part);
                assert!(known, "{}: there is no part {part}", package.name);
            }
        }
    }

    #[test]
    fn what_is_there_is_found() {
        assert!(Proof::Program("sh").holds() && !Proof::Program("no-such-program").holds());
        assert!(Proof::Library("libc.so.6").holds() && !Proof::Library("libnone.so.7").holds());
        assert!(Proof::Header("stdio.h").holds() && !Proof::Header("no/such.h").holds());
        assert!(Proof::Python("import sys").holds() && !Proof::Python("import no_such_module").holds());
    }

    /// The script with an apt of our own, which knows every package but `unknown`. Gives apt's calls, what the policy
    /// said to each, and how it ended.
    fn with_apt(test: &str, policy: Option<&str>, packages: &[&str]) -> (String, bool, PathBuf) {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = env::temp_dir().join(format!("posthaste-packages-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| {
            fs::write(folder.join(name), text).unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        };
        file(
            "apt-get",
            "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n./policy-rc.d; echo \"$* policy $?\" >>calls\n",
        );
        file("apt-cache", "#!/bin/sh\n[ \"$3\" != unknown ]\n");
        if let Some(text) = policy {
            file("policy-rc.d", text);
        }
        let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
        let job = script(&folder.join("policy-rc.d"), &folder.join("log")).args(packages).env("PATH", path);
        let ok = job.run().unwrap().ok();
        (fs::read_to_string(folder.join("calls")).unwrap(), ok, folder)
    }

    #[test]
    fn services_do_not_start_and_the_policy_goes_away() {
        let (calls, ok, folder) = with_apt("own", None, &["one", "unknown", "two"]);
        let lines: Vec<&str> = calls.lines().collect();
        assert!(ok && lines.len() == 2, "{calls}");
        assert!(lines[0].contains(" update policy 101"), "{calls}");
        assert!(lines[1].contains("--no-install-recommends one two policy 101"), "{calls}");
        assert!(fs::read_to_string(folder.join("log")).unwrap().contains("E: no package is called unknown"));
        assert!(!folder.join("policy-rc.d").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_policy_of_the_machine_stays_and_one_of_ours_that_was_left_goes() {
        let (calls, ok, folder) = with_apt("theirs", Some("#!/bin/sh\nexit 104\n"), &["one"]);
        assert!(ok && calls.contains("one policy 104"), "{calls}");
        assert!(folder.join("policy-rc.d").exists());
        fs::remove_dir_all(folder).unwrap();
        let left = "#!/bin/sh\n# made by cargo xtask test\nexit 0\n";
        let (calls, _, folder) = with_apt("left", Some(left), &["one"]);
        assert!(calls.contains("one policy 101") && !folder.join("policy-rc.d").exists(), "{calls}");
        fs::remove_dir_all(folder).unwrap();
    }
}
