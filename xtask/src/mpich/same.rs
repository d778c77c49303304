//! That our face of MPICH's ABI is MPICH's: names, numbers, layouts and functions, held against the header and the library of its
//! Python package, as the part `mpich` and `cargo xtask abi-check --abi mpich` do.
//!
//! What must stay true: the comparison goes both ways; a name of MPICH's header that ours lacks is described in
//! `tests/mpich/header-without.txt`, with the reason, and one of its library in `tests/mpich/library-without.txt`.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use super::{fortran, header};
use crate::{
    install,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
};

const LIST: &str = "tests/mpich/header-without.txt";
const OTHERS: &str = "tests/mpich/library-without.txt";

const LIBRARY: &str = "lib/libmpi.so.12";

/// What is compared, with the folder in which MPICH is installed.
pub(super) type Comparison = (&'static str, fn(&Project, &Path) -> Fallible);

pub(super) const COMPARISONS: [Comparison; 7] = [
    ("names of the library are those of its own", |project, home| {
        same_names(&home.join(LIBRARY), &project.stage.join("mpich").join(LIBRARY))
    }),
    ("names that only MPICH has are there, or the list says why not", |project, home| {
        other_names(project, &home.join(LIBRARY), &project.stage.join("mpich").join(LIBRARY))
    }),
    ("variables of the library are as long as those of its own", |project, home| {
        same_variables(&home.join(LIBRARY), &project.stage.join("mpich").join(LIBRARY))
    }),
    ("constants and layouts are those of its header", |project, home| {
        same_numbers(project, &home.join("include"))
    }),
    ("our header of its ABI has its numbers, and all that its own has", |project, home| {
        let ours = project.stage.join("mpich/include");
        same_numbers(project, &ours)?;
        all_names(project, &home.join("include"), &ours)
    }),
    ("our header declares the functions as its own does", |project, home| {
        same_functions(project, &home.join("include"), &project.stage.join("mpich/include"))
    }),
    ("of our libraries only those of Fortran find functions of MPI by the loader", |project, _| {
        calls_nobody(project)
    }),
];

/// `cargo xtask abi-check --abi mpich`: all of them.
pub(crate) fn check(project: &Project) -> Fallible<bool> {
    install::stage(project)?;
    let mpich = Mpi::rival(project, "mpich")?;
    let home = mpich.launcher().parent().and_then(Path::parent).unwrap_or(&project.target);
    let mut differences = 0;
    for (what, compare) in COMPARISONS {
        match compare(project, home) {
            Ok(()) => println!("abi-check: {what}"),
            Err(complaint) => {
                differences += 1;
                println!("abi-check: not so: {what}\n{complaint}");
            }
        }
    }
    println!(
        "abi-check: {differences} of {} comparisons with MPICH's ABI found a difference",
        COMPARISONS.len()
    );
    Ok(differences == 0)
}

/// The functions and variables that a library exports.
fn exported(library: &Path) -> Fallible<BTreeSet<String>> {
    let listed = Job::new("nm").args(["-D", "--defined-only"]).arg(library).succeed()?.stdout;
    Ok(listed.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect())
}

/// Whether a name is one of MPI, and not of one implementation.
fn is_of_mpi(name: &str) -> bool {
    name.trim_start_matches('P').starts_with("MPI_")
}

fn same_names(theirs: &Path, ours: &Path) -> Fallible {
    let [theirs, ours] = [exported(theirs)?, exported(ours)?]
        .map(|names| names.into_iter().filter(|name| is_of_mpi(name)).collect::<BTreeSet<String>>());
    let missing: Vec<&String> = theirs.difference(&ours).collect();
    if missing.is_empty() && theirs.len() > 1000 {
        Ok(())
    } else {
        Err(format!("of {} names these are missing: {missing:?}", theirs.len()))
    }
}

/// Extensions, and what MPICH's libraries for other languages and its header call.
fn other_names(project: &Project, theirs: &Path, ours: &Path) -> Fallible {
    let (mut theirs, ours) = (exported(theirs)?, exported(ours)?);
    theirs.retain(|name| !is_of_mpi(name));
    let text =
        fs::read_to_string(project.root.join(OTHERS)).map_err(|e| format!("can't read {OTHERS}: {e}"))?;
    if theirs.len() < 100 {
        return Err(format!("only {} names could be compared", theirs.len()));
    }
    fortran::none_missing(&theirs, &ours, &text, OTHERS)
}

/// A program may have a copy of a variable, which the loader fills from the library.
fn same_variables(theirs: &Path, ours: &Path) -> Fallible {
    let read = |library: &Path| -> Fallible<BTreeSet<(String, String)>> {
        Ok(variables(&Job::new("readelf").args(["-W", "--dyn-syms"]).arg(library).succeed()?.stdout))
    };
    let (theirs, ours) = (read(theirs)?, read(ours)?);
    let differ: Vec<_> = theirs.difference(&ours).collect();
    if differ.is_empty() && theirs.len() > 5 {
        Ok(())
    } else {
        Err(format!("of {} variables these are no such objects in ours: {differ:?}", theirs.len()))
    }
}

/// Name and size of MPI's variables: `number: value size OBJECT GLOBAL DEFAULT section name`.
fn variables(said: &str) -> BTreeSet<(String, String)> {
    let one = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, size, "OBJECT", "GLOBAL", "DEFAULT", section, name] = words[..] else { return None };
        (section != "UND" && is_of_mpi(name)).then(|| (name.to_owned(), size.to_owned()))
    };
    said.lines().filter_map(one).collect()
}

/// Compiles a program that holds only if our numbers are those of a header of MPICH's ABI.
fn same_numbers(project: &Project, header: &Path) -> Fallible {
    let there = fs::read_to_string(header.join("mpi.h")).map_err(|e| format!("{}: {e}", header.display()))?;
    let known: BTreeSet<&str> = there.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut text = String::from("#include <mpi.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    text.push_str(
        "_Static_assert(sizeof(MPI_Comm) == 4 && sizeof(MPI_File) == 8 && sizeof(MPI_Status) == 20, \"\");\n",
    );
    for (field, place) in [
        ("count_lo", 0),
        ("count_hi_and_cancelled", 4),
        ("MPI_SOURCE", 8),
        ("MPI_TAG", 12),
        ("MPI_ERROR", 16),
    ] {
        let _ = writeln!(text, "_Static_assert(offsetof(MPI_Status, {field}) == {place}, \"{field}\");");
    }
    let constants = header::constants(&project.root)?;
    let numbers = constants.iter().filter(|(name, ..)| known.contains(name.as_str()));
    let mut compared = 0;
    for (name, _, value) in numbers.filter(|(name, ..)| !header::is_no_number(name)) {
        let number = header::number(value);
        let _ =
            writeln!(text, "_Static_assert((uint32_t)(intptr_t){name} == (uint32_t)({number}), \"{name}\");");
        compared += 1;
    }
    if compared < 330 {
        return Err(format!("only {compared} constants could be compared"));
    }
    let source = project.folder("mpich")?.join("same.c");
    fs::write(&source, text + "int main(void) { return 0; }\n")
        .map_err(|e| format!("{}: {e}", source.display()))?;
    let cc = Job::new("cc").args(["-std=gnu11", "-Wno-pointer-to-int-cast", "-fsyntax-only", "-I"]);
    cc.arg(header).arg(&source).succeed().map(drop)
}

/// Compiles MPICH's declarations behind our header, which a compiler takes only where they agree.
fn same_functions(project: &Project, theirs: &Path, ours: &Path) -> Fallible {
    let source = project.folder("mpich")?.join("declared.c");
    let put = |text: &str| fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()));
    put("#include <mpi.h>\n")?;
    let expanded = Job::new("cc").args(["-E", "-P", "-I"]).arg(theirs).arg(&source).succeed()?.stdout;
    let mut text = String::from("#include <mpi.h>\n");
    let mut compared = 0;
    for declaration in expanded.split(';').map(|declaration| declaration.replace('\n', " ")) {
        let declaration = declaration.trim();
        let head = declaration.split_once('(').map_or("", |(head, _)| head);
        let name = head.rsplit(' ').next().unwrap_or_default();
        // Both read the low half of the count of these.
        let differs = name.ends_with("Psend_init") || name.ends_with("Precv_init");
        if is_of_mpi(name) && !differs && !head.contains(['{', '*', '=']) && !head.starts_with("typedef") {
            let plain = declaration.split("__attribute__").next().unwrap_or_default();
            let _ = writeln!(text, "{plain};");
            compared += 1;
        }
    }
    put(&text)?;
    if compared < 1200 {
        return Err(format!("only {compared} functions could be compared"));
    }
    let cc = Job::new("cc").args(["-std=gnu11", "-fsyntax-only", "-I"]);
    cc.arg(ours).arg(&source).succeed().map(drop)
}

/// Every name in capital letters in MPICH's header is one of ours, but for those of the list.
fn all_names(project: &Project, theirs: &Path, ours: &Path) -> Fallible {
    let read = |folder: &Path| -> Fallible<BTreeSet<String>> {
        let path = folder.join("mpi.h");
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(constants_of(&text))
    };
    let (theirs, ours) = (read(theirs)?, read(ours)?);
    let text = fs::read_to_string(project.root.join(LIST)).map_err(|e| format!("can't read {LIST}: {e}"))?;
    if theirs.len() < 350 {
        return Err(format!("only {} names could be compared", theirs.len()));
    }
    fortran::none_missing(&theirs, &ours, &text, LIST)
}

/// The names of constants in a header, comments left out.
fn constants_of(header: &str) -> BTreeSet<String> {
    let mut plain = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        plain.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_constant = |word: &&str| {
        (word.starts_with("MPI_") || word.starts_with("MPIX_"))
            && !word.contains(|c: char| c.is_ascii_lowercase())
    };
    words.filter(is_constant).map(str::to_owned).collect()
}

/// Functions of MPI that a library does not have itself.
fn needed(library: &Path) -> Fallible<BTreeSet<String>> {
    let listed = Job::new("nm").args(["-D", "--undefined-only"]).arg(library).succeed()?.stdout;
    let names = listed.lines().filter_map(|line| line.split_whitespace().last());
    Ok(names.filter(|name| name.trim_start_matches('P').starts_with("MPI")).map(str::to_owned).collect())
}

/// Two faces in one process would else get each other's functions.
fn calls_nobody(project: &Project) -> Fallible {
    for folder in ["lib", "mpich/lib"] {
        let folder = project.stage.join(folder);
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let names: BTreeSet<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let libraries: Vec<&String> = names.iter().filter(|name| name.contains(".so.")).collect();
        if libraries.len() < 2 {
            return Err(format!("{} has only {libraries:?}", folder.display()));
        }
        for name in libraries {
            let needed = needed(&folder.join(name))?;
            let is_of_fortran = name.contains("fort");
            if is_of_fortran && needed.len() < 300 {
                return Err(format!("{name} needs only {} functions of MPI: what was read?", needed.len()));
            }
            if !is_of_fortran && !needed.is_empty() {
                let some: Vec<&String> = needed.iter().take(5).collect();
                return Err(format!("{name} finds {} by the loader, as {some:?}", needed.len()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_from_functions_and_from_what_is_elsewhere() {
        let said = "   12: 0000000000003d10     8 OBJECT  GLOBAL DEFAULT   21 MPI_UNWEIGHTED\n\
                    13: 0000000000003d10     8 FUNC    GLOBAL DEFAULT   21 MPI_Send\n\
                    14: 0000000000000000     8 OBJECT  GLOBAL DEFAULT  UND MPI_F_STATUS_IGNORE\n\
                    15: 0000000000003d20     4 OBJECT  GLOBAL DEFAULT   21 MPIR_fortran_true\n";
        let found = variables(said);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("MPI_UNWEIGHTED".into(), "8".into())]);
    }

    #[test]
    fn constants_are_found_in_macros_and_enumerations() {
        let header =
            "#define MPI_A 1 /* MPI_NOT */\nenum { MPI_T_B,\n MPIX_C = 2 }; int MPI_Send(int MPI_D);";
        let names = constants_of(header);
        assert_eq!(
            names.iter().map(String::as_str).collect::<Vec<_>>(),
            ["MPIX_C", "MPI_A", "MPI_D", "MPI_T_B"]
        );
    }
}
