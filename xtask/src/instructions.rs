//! Guards the fast paths by instruction counts, which do not depend on how busy the machine is. The part `instructions`
//! of `cargo xtask test`, which runs programs of `bench` under callgrind, and an example of the typed API, whose calls take at most
//! 5 % more than those of the C library.
//!
//! What must stay true: a limit is raised only together with the reason for it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    mpi::Mpi,
    mpich::optimized_by_debian,
    packages,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

/// A program of two ranks whose functions are counted.
struct Program {
    /// Its name in `bench`, or among the examples of the typed API, without the ending.
    name: &'static str,
    language: Language,
    /// What is counted, in words.
    what: &'static str,
    /// Its first argument; the second one is a folder.
    rounds: u64,
    functions: &'static [Function],
}

enum Language {
    C,
    /// With MPICH's ABI.
    Mpich,
    Fortran,
    /// With the modules of Debian's MPICH.
    MpichFortran,
    Rust,
}

/// What a function of the program, or of the library, may take.
struct Function {
    name: &'static str,
    /// Messages or calls in each round.
    each: u64,
    /// Most instructions for one of them, all callees included.
    limit: u64,
}

/// What a message of a rank to itself takes that is received by a nonblocking receive and waited for. With a handler it may take
/// so much more: one that returns, and one that completes its request.
const WAITED: u64 = 2650; // 40 with receives that know their process, where who waits looks for it
const RETURNS: u64 = 2600;
const COMPLETES: u64 = 4300; // 3910 to 4050, by how often somebody looks meanwhile

/// A limit of its own: 2 % more are let pass, because a compiler lays code out differently when something else changes.
const fn at_most(name: &'static str, each: u64, limit: u64) -> Function {
    Function { name, each, limit: limit + limit / 50 }
}

/// A limit that another one gives. It is what users are promised, so nothing more is let pass.
const fn beside(name: &'static str, limit: u64) -> Function {
    Function { name, each: 1, limit }
}

/// A function of the typed API, beside the limit of its like in C.
const fn typed(name: &'static str, limit_in_c: u64) -> Function {
    beside(name, limit_in_c * 105 / 100)
}

/// A routine of Fortran, beside the limit of what it calls: 10 ns are more instructions than these, also where it looks at the
/// descriptor of a buffer, which takes 54 at most for an array without gaps.
const fn fortran(name: &'static str, limit_in_c: u64) -> Function {
    beside(name, limit_in_c + 30)
}
const fn descriptor(name: &'static str, limit_in_c: u64) -> Function {
    beside(name, limit_in_c + 60)
}

/// The same of a routine with 64 requests, whose handles have other lengths in C: 4 instructions for each, there and back. To the limit in
/// C comes what is let pass there.
const fn fortran_all(name: &'static str, each: u64, limit_in_c: u64) -> Function {
    Function { name, each, limit: limit_in_c + limit_in_c / 50 + 30 + 64 * 4 }
}
/// With MPICH's ABI the array of Fortran is that of C; an address is held against two ranges. What is looked at in the descriptor of
/// a buffer takes 55 to 70 besides.
const fn mpich_fortran(name: &'static str, each: u64, limit_in_c: u64) -> Function {
    Function { name, each, limit: limit_in_c + limit_in_c / 50 + 50 }
}
const fn mpich_descriptor(name: &'static str, limit_in_c: u64) -> Function {
    beside(name, limit_in_c + 130)
}

/// Calls that end 64 requests, or one: what they take in C.
const WAITALL: u64 = 23_900;
const STATUSES: u64 = 24_500;
const TESTALL: u64 = 35_390; // 8 for each request came by nothing but how the compiler lays out code that has not changed
const WAIT: u64 = 1440; // 1290 to 1423: a look at everything, of which there is one in 1024 operations, may fall into it
const TEST: u64 = 250;

/// What calls about a vector type of four elements take.
const TYPE_SIZE: u64 = 101;
const TYPE_EXTENT: u64 = 102;
const TYPE_VECTOR: u64 = 2536;
const PACK: u64 = 1080;

/// A function of MPICH's ABI, beside the limit of its like: 5 ns are more instructions than these.
const fn mpich(name: &'static str, limit_in_c: u64) -> Function {
    beside(name, limit_in_c + 20)
}

/// The same of a call that takes nothing but a datatype, whose handle is looked for in two ranges, and which 5 ns let take 35.
const fn mpich_type(name: &'static str, limit_in_c: u64) -> Function {
    beside(name, limit_in_c + 35)
}

/// `MPI_Recv` and the probes spin, so they have no counts of their own.
const PROGRAMS: [Program; 18] = [
    Program {
        name: "instructions",
        language: Language::C,
        what: "short sends and receives",
        rounds: 6400,
        functions: &[
            // 9 in each came with communicators that can be revoked, where it is looked up who is behind a rank, with a thread that
            // serves windows, and with handlers that are found by slots. 6 came with segments that combine what arrives.
            at_most("PMPI_Send", 1, 304),
            // Of these 2 by nothing but how the compiler lays out code that has not changed.
            at_most("PMPI_Isend", 1, 360),
            at_most("PMPI_Irecv", 1, 379),
            // Of these 4 by nothing but how the compiler lays out code that has not changed.
            at_most("PMPI_Start", 1, 385),
            at_most("PMPI_Bsend", 1, 582),
            // Of 435, 3 came with processes that survive others, and some with the thread that serves windows.
            at_most("PMPI_Mrecv", 2, 450),
        ],
    },
    Program {
        name: "instructions",
        language: Language::Mpich,
        what: "the same with MPICH's ABI",
        rounds: 3200,
        functions: &[
            mpich("PMPI_Send", 304),
            mpich("PMPI_Isend", 360),
            mpich("PMPI_Irecv", 379),
            mpich("PMPI_Start", 385),
            mpich("PMPI_Bsend", 582),
        ],
    },
    Program {
        name: "instructions_fortran",
        language: Language::Fortran,
        what: "the same in Fortran",
        rounds: 3200,
        functions: &[
            fortran("mpi_send_", 304),
            descriptor("mpi_send_f08ts", 304),
            descriptor("mpi_isend_f08ts", 358),
            descriptor("mpi_irecv_f08ts", 379),
        ],
    },
    Program {
        name: "instructions_threads",
        language: Language::C,
        what: "sends of 8 bytes and of 8 KiB by a program with threads",
        rounds: 3200,
        functions: &[at_most("threads_short", 1, 330), at_most("threads_medium", 1, 1816)],
    },
    Program {
        name: "completions",
        language: Language::C,
        what: "calls that end 64 requests, or one",
        rounds: 100,
        functions: &[
            at_most("completions_waitall", 1, WAITALL),
            at_most("completions_statuses", 1, STATUSES),
            at_most("completions_testall", 1, TESTALL),
            at_most("completions_wait", 1, WAIT),
            at_most("completions_test", 1, TEST),
        ],
    },
    Program {
        name: "completions",
        language: Language::Mpich,
        what: "the same with MPICH's ABI",
        rounds: 100,
        functions: &[
            mpich("completions_waitall", WAITALL),
            mpich("completions_statuses", STATUSES),
            mpich("completions_testall", TESTALL),
            mpich("completions_wait", WAIT),
            mpich("completions_test", TEST),
        ],
    },
    Program {
        name: "completions_fortran",
        language: Language::Fortran,
        what: "the same in Fortran",
        rounds: 100,
        functions: &[
            // With statuses and without.
            fortran_all("mpi_waitall_", 2, (WAITALL + STATUSES) / 2),
            fortran_all("mpi_testall_", 1, TESTALL),
            // With what is let pass in C: there, too, a look at everything may fall into it.
            fortran("mpi_wait_", WAIT + WAIT / 50),
            fortran("mpi_test_", TEST),
        ],
    },
    Program {
        name: "instructions_fortran",
        language: Language::MpichFortran,
        what: "short sends and receives in Fortran with MPICH's ABI",
        rounds: 3200,
        functions: &[
            mpich_fortran("mpi_send_", 1, 304),
            mpich_descriptor("mpi_send_f08ts_", 304),
            mpich_descriptor("mpi_isend_f08ts_", 358),
            mpich_descriptor("mpi_irecv_f08ts_", 379),
        ],
    },
    Program {
        name: "completions_fortran",
        language: Language::MpichFortran,
        what: "calls that end 64 requests, or one, in Fortran with MPICH's ABI",
        rounds: 100,
        functions: &[
            mpich_fortran("mpi_waitall_", 2, (WAITALL + STATUSES) / 2),
            mpich_fortran("mpi_testall_", 1, TESTALL),
            mpich_fortran("mpi_wait_", 1, WAIT),
            mpich_fortran("mpi_test_", 1, TEST),
        ],
    },
    Program {
        name: "matching",
        language: Language::C,
        what: "windows of 64 messages of a vector type, in mixed order",
        rounds: 100,
        functions: &[
            at_most("matching_post", 64, 781), // with the same
            at_most("matching_meet", 64, 1197),
            at_most("matching_keep", 64, 702), // 8 with segments that may combine
            at_most("matching_take", 64, 1464),
            at_most("matching_there", 64, 1510),
            at_most("matching_end", 128, 225), // 1 with what the progress thread leaves to others
        ],
    },
    Program {
        name: "windows",
        language: Language::C,
        what: "accesses of 8 bytes to a window that both ranks have mapped",
        rounds: 1000,
        functions: &[
            // One of each came with windows that are revoked.
            at_most("PMPI_Put", 1, 165),
            at_most("PMPI_Get", 1, 165),
            at_most("PMPI_Win_flush", 1, 85),
            at_most("PMPI_Accumulate", 1, 297),
            at_most("PMPI_Fetch_and_op", 1, 318),
            at_most("PMPI_Compare_and_swap", 1, 270),
            // For each double of 1024, where the processor has AVX2.
            at_most("PMPI_Accumulate_c", 1024, 1),
        ],
    },
    Program {
        name: "arrived",
        language: Language::C,
        what: "collective operations of two ranks on 8 bytes, and messages that have come",
        rounds: 1000,
        functions: &[
            // 500 went when messages were told by their whole header, and steps taken without lists where nothing is out of the
            // ordinary. Of those with data, 110 take a plan to other buffers; to make one takes 1,500. 15 more look where
            // operands lie elsewhere than results, and 12 whether there are enough of them for wide vectors.
            at_most("PMPI_Barrier", 1, 940),
            at_most("PMPI_Allreduce", 1, 1330), // 7 with groups of more than two
            at_most("PMPI_Alltoall", 1, 1310),
            at_most("PMPI_Allgather", 1, 1300),
            at_most("arrived_recv", 1, 530),
            at_most("arrived_wait", 1, 1060),
        ],
    },
    Program {
        name: "windows",
        language: Language::Mpich,
        what: "accesses to a window with MPICH's ABI",
        rounds: 1000,
        functions: &[
            mpich("PMPI_Put", 165),
            mpich("PMPI_Get", 165),
            mpich("PMPI_Win_flush", 85),
            mpich("PMPI_Accumulate", 305),
            mpich("PMPI_Fetch_and_op", 324),
            mpich("PMPI_Compare_and_swap", 270),
        ],
    },
    Program {
        name: "arrived",
        language: Language::Mpich,
        what: "collective operations with MPICH's ABI",
        rounds: 1000,
        functions: &[
            mpich("PMPI_Barrier", 940),
            mpich("PMPI_Allreduce", 1315),
            mpich("PMPI_Alltoall", 1300),
            mpich("PMPI_Allgather", 1300),
        ],
    },
    Program {
        name: "types",
        language: Language::C,
        what: "calls about a vector type",
        rounds: 1000,
        functions: &[
            at_most("PMPI_Type_size", 1, TYPE_SIZE),
            at_most("PMPI_Type_get_extent", 1, TYPE_EXTENT),
            at_most("PMPI_Type_vector", 1, TYPE_VECTOR),
            at_most("PMPI_Pack", 1, PACK),
        ],
    },
    Program {
        name: "types",
        language: Language::Mpich,
        what: "the same with MPICH's ABI",
        rounds: 1000,
        functions: &[
            mpich_type("PMPI_Type_size", TYPE_SIZE),
            mpich_type("PMPI_Type_get_extent", TYPE_EXTENT),
            mpich("PMPI_Type_vector", TYPE_VECTOR),
            mpich("PMPI_Pack", PACK),
        ],
    },
    Program {
        name: "handlers",
        language: Language::C,
        what: "messages that are waited for, and messages with handlers",
        rounds: 8000, // so that what is done once, by one that waits longer, does not count
        functions: &[
            at_most("handlers_wait", 1, WAITED),
            at_most("handlers_run", 1, WAITED + RETURNS),
            at_most("handlers_complete", 1, WAITED + COMPLETES),
        ],
    },
    Program {
        name: "typed_instructions",
        language: Language::Rust,
        what: "short sends and receives of the typed API",
        rounds: 6400,
        functions: &[
            typed("typed_send", 304),
            typed("typed_isend", 363),
            // 366 or 424 instructions from one build to the next, by what the compiler inlines; C has 379 at most.
            typed("typed_irecv", 410),
            typed("typed_start", 384),
        ],
    },
];

/// Counts, if callgrind is there.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    if !Job::new("valgrind").arg("--version").run().is_ok_and(|outcome| outcome.ok()) {
        return tally.not_run(
            1,
            "instruction counts of the fast paths: valgrind is not installed (apt install valgrind)",
        );
    }
    for program in &PROGRAMS {
        if matches!(program.language, Language::Fortran | Language::MpichFortran)
            && !packages::present("gfortran")
        {
            tally.not_run(
                1,
                "instruction counts in Fortran: gfortran is not installed (apt install gfortran)",
            );
            continue;
        }
        if matches!(program.language, Language::MpichFortran) && !packages::present("apt-get") {
            tally.not_run(1, "instruction counts in Fortran with MPICH's ABI: Debian's modules take apt-get");
            continue;
        }
        tally.test(&format!("instruction counts of {}", program.what), || count(project, mpi, program));
    }
}

/// Links the Rust programs, which keeps one CPU busy.
pub(crate) fn prepare(project: &Project) {
    for program in PROGRAMS.iter().filter(|program| matches!(program.language, Language::Rust)) {
        // What can't be built is reported by its test.
        let _ = build_rust(project, program.name);
    }
}

fn build_rust(project: &Project, name: &str) -> Fallible<PathBuf> {
    let arguments = ["build", "--quiet", "--release", "-p", "posthaste", "--example", name];
    project.cargo(&arguments).succeed()?;
    Ok(project.target.join("release/examples").join(name))
}

fn count(project: &Project, mpi: &Mpi, program: &Program) -> Fallible {
    let Program { name, language, rounds, functions, .. } = program;
    let other = match language {
        Language::Mpich | Language::MpichFortran => "-mpich",
        _ => "",
    };
    let folder = project.folder(&format!("counts/{name}{other}"))?;
    let mpich =
        || Mpi::other_face(project, &project.stage.join("mpich/bin/mpicc"), &project.stage.join("mpich/lib"));
    let is_mpich = matches!(language, Language::Mpich | Language::MpichFortran);
    let mpi = &if is_mpich { mpich() } else { mpi.clone() };
    let built = match language {
        Language::C | Language::Mpich => {
            let built = folder.join(name);
            mpi.compile(&[project.root.join(format!("bench/{name}.c"))], &built, &["-O2"])?;
            built
        }
        Language::Fortran => {
            let built = folder.join(name);
            let source = project.root.join(format!("bench/{name}.f90"));
            let compiler = Job::new(project.stage.join("bin/mpifort")).args(["-O2", "-w"]).dir(&folder);
            compiler
                .args(["-fallow-argument-mismatch", "-o"])
                .arg(&built)
                .arg(source)
                .limit(120)
                .succeed()?;
            built
        }
        Language::MpichFortran => {
            let built = folder.join(name);
            let source = project.root.join(format!("bench/{name}.f90"));
            optimized_by_debian(project, &source, &built)?;
            built
        }
        Language::Rust => build_rust(project, name)?,
    };
    for old in profiles(&folder)? {
        fs::remove_file(old).map_err(|e| e.to_string())?;
    }
    let out = format!("--callgrind-out-file={}/counts.%p", folder.display());
    let job = mpi.mpiexec(2, false).args(["valgrind", "--tool=callgrind", &out]);
    job.arg(&built).arg(rounds.to_string()).arg(&folder).limit(240).succeed()?;
    let mut report = String::new();
    for counts in profiles(&folder)? {
        let job = Job::new("callgrind_annotate").args(["--inclusive=yes", "--threshold=100"]);
        report.push_str(&job.arg(counts).succeed()?.stdout);
    }
    for Function { name, each, limit } in *functions {
        let all = inclusive(&report, name).ok_or_else(|| format!("{name} is not in the profile"))?;
        let found = all / (rounds * each);
        crate::tally::show(&format!("    {name}: {found} instructions, at most {limit}"));
        if found > *limit {
            return Err(format!("{name} takes {found} instructions, expected at most {limit}"));
        }
    }
    Ok(())
}

/// What callgrind has left in a folder.
fn profiles(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| e.to_string())?.flatten().map(|entry| entry.path());
    let is_profile =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("counts."));
    Ok(entries.filter(is_profile).collect())
}

/// The most instructions that a line of the report gives to a function, callees included.
fn inclusive(report: &str, function: &str) -> Option<u64> {
    let of_function =
        |line: &&str| line.split_whitespace().any(|word| word.rsplit(':').next() == Some(function));
    let number = |line: &str| line.split_whitespace().next()?.replace(',', "").parse::<u64>().ok();
    report.lines().filter(of_function).filter_map(number).max()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_count_of_a_function_is_found() {
        let report = "1,000 (10%)  file.rs:PMPI_Send [lib]\n 2,152,000 (20%)  call.rs:PMPI_Send [lib]\n 9 (1%) x:PMPI_Sendrecv\n";
        assert_eq!(super::inclusive(report, "PMPI_Send"), Some(2_152_000));
        assert_eq!(super::inclusive(report, "PMPI_Recv"), None);
    }
}
