//! `posthaste_missing.h`: by which the compiler warns of calls of functions that are not implemented. All of them can be
//! linked, so that a configure script finds them; without a warning nobody hears of it before the run.
//!
//! Written by `cargo xtask conformance` from the Rust sources; `abi_check` fails when the file is not what would be
//! written. What must stay true: a function is marked if and only if its Rust definition is `unsupported!`.

use std::{fmt::Write as _, fs, path::Path};

use crate::{
    abi_check::{self, Entry},
    project::Fallible,
};

const HEADER: &str = "crates/posthaste-abi/include/posthaste_missing.h";

const START: &str = "\
/* posthaste_missing.h: the functions that posthaste does not implement yet, so that the compiler warns of their calls.
 * Written by `cargo xtask conformance`; do not edit.
 *
 * Included by mpi.h. All functions of MPI-5.0 can be linked, also these; at run time they raise
 * MPI_ERR_UNSUPPORTED_OPERATION (those of the tool interface return MPI_T_ERR_NOT_SUPPORTED). The warning is
 * -Wattribute-warning of gcc, and -Wuser-defined-warnings of clang, which warns of their addresses, too.
 * POSTHASTE_MISSING_SILENT, defined before mpi.h is included, leaves it out.
 */
#ifndef POSTHASTE_MISSING_H
#define POSTHASTE_MISSING_H

#if defined(__has_attribute)
#if defined(__clang__) && __has_attribute(diagnose_if)
/* clang wants the attribute `warning` on the first declaration. */
#define POSTHASTE_MISSING_BY(text) diagnose_if(1, text, \"warning\")
#elif __has_attribute(warning)
#define POSTHASTE_MISSING_BY(text) warning(text)
#endif
#endif

#if defined(POSTHASTE_MISSING_BY)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Wredundant-decls\"
#if defined(__clang__)
#pragma GCC diagnostic ignored \"-Wgcc-compat\"
#endif

#define POSTHASTE_MISSING(name) POSTHASTE_MISSING_ONE(name) POSTHASTE_MISSING_ONE(P##name)
#define POSTHASTE_MISSING_ONE(name) \\
    extern __typeof__(name) name \\
        __attribute__((POSTHASTE_MISSING_BY(#name \" is not implemented by posthaste yet: it fails\")));

";

const END: &str = "
#undef POSTHASTE_MISSING
#undef POSTHASTE_MISSING_ONE
#undef POSTHASTE_MISSING_BY
#pragma GCC diagnostic pop

#endif
#endif
";

/// The header that these functions ask for.
fn text(functions: &[Entry]) -> String {
    let mut text = START.to_owned();
    for function in functions.iter().filter(|function| !function.supported) {
        let _ = writeln!(text, "POSTHASTE_MISSING({})", function.name);
    }
    text + END
}

/// Writes the header.
pub(crate) fn write(root: &Path) -> Fallible {
    let path = root.join(HEADER);
    fs::write(&path, text(&abi_check::survey(root)?))
        .map_err(|e| format!("can't write {}: {e}", path.display()))
}

/// Where the header and what is implemented disagree.
pub(crate) fn check(root: &Path, functions: &[Entry], problems: &mut Vec<String>) {
    let found = fs::read_to_string(root.join(HEADER)).unwrap_or_default();
    problems.extend(differences(&found, functions));
}

fn differences(found: &str, functions: &[Entry]) -> Vec<String> {
    let marked = |name: &str| found.contains(&format!("\nPOSTHASTE_MISSING({name})\n"));
    let difference = |Entry { name, supported, .. }: &Entry| match (*supported, marked(name)) {
        (true, true) => Some(format!("{HEADER} marks {name}, which is implemented")),
        (false, false) => Some(format!("{HEADER} does not mark {name}, which is not implemented")),
        _ => None,
    };
    let mut differences: Vec<String> = functions.iter().filter_map(difference).collect();
    if found != text(functions) {
        differences.push(format!("{HEADER} is out of date; write it anew with `cargo xtask conformance`"));
    }
    differences
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::PathBuf};

    use super::*;

    fn entry(name: &str, supported: bool) -> Entry {
        Entry { name: name.into(), file: PathBuf::new(), supported, tests: BTreeSet::new() }
    }

    #[test]
    fn only_what_is_missing_is_marked() {
        let text = text(&[entry("MPI_Send", true), entry("MPI_Put", false)]);
        assert!(text.contains("\nPOSTHASTE_MISSING(MPI_Put)\n") && !text.contains("MPI_Send"));
    }

    #[test]
    fn marks_that_are_wrong_are_found() {
        let text = text(&[entry("MPI_Send", true), entry("MPI_Put", false)]);
        assert!(differences(&text, &[entry("MPI_Send", true), entry("MPI_Put", false)]).is_empty());
        let found = differences(&text, &[entry("MPI_Send", false), entry("MPI_Put", true)]).join("\n");
        assert!(
            found.contains("does not mark MPI_Send,")
                && found.contains("marks MPI_Put, which is implemented")
        );
        assert_eq!(differences(&text.replace("it fails", ""), &[entry("MPI_Put", false)]).len(), 1);
    }
}
