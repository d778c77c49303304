//! `cargo xtask test`: everything that must hold before a change is taken.
//!
//! Tier 1 needs rustc, cargo, gcc and python3. Tier 2 needs root (mount namespaces) and more programs, which root gets
//! installed (`packages`); what of it can't run is counted and explained. The last line is `N passed, N failed`.
//!
//! What must stay true: parts that measure time, count instructions, or expect something within seconds run alone; the
//! lines of a part stay together.

mod checks;
mod dependencies;

use std::time::Instant;

use crate::{
    abi_check, arrows, bits, builds, busy_start, coll_killed, conformance, counters, ctests, delays, demo,
    dist, face, faults, fortran, hangs, headers, hosts, install, instructions, killed,
    lanes::{self, Lane, Step},
    launchers, lost,
    mpi::Mpi,
    mpich, packages, programs,
    project::{Fallible, Project},
    python, races, rsmpi, shares,
    tally::{Tally, show},
};

/// What the parts work with.
#[derive(Debug)]
pub(crate) struct Gate {
    project: Project,
    mpi: Mpi,
    /// What the gate samples runs whole.
    deep: bool,
}

/// A part of the tests.
pub(crate) struct Part {
    /// As `--only` calls it.
    pub(crate) name: &'static str,
    /// It runs programs with the staged library.
    needs_library: bool,
    /// Builds ahead what the part needs, while something else runs; says nothing.
    pub(crate) prepare: Option<fn(&Gate)>,
    /// Runs it.
    pub(crate) run: fn(&Gate, &mut Tally),
}

const fn part(name: &'static str, run: fn(&Gate, &mut Tally)) -> Part {
    Part { name, needs_library: false, prepare: None, run }
}

const fn with_library(name: &'static str, run: fn(&Gate, &mut Tally)) -> Part {
    Part { name, needs_library: true, prepare: None, run }
}

/// All parts.
pub(crate) const PARTS: &[Part] = &[
    part("fmt", |gate, tally| checks::fmt(&gate.project, tally)),
    part("arrows", |gate, tally| {
        tally.test("arrows between crates and rooms", || arrows::run(&gate.project));
    }),
    part("clippy", |gate, tally| checks::clippy(&gate.project, tally)),
    Part {
        prepare: Some(|gate| checks::build_unit(&gate.project)),
        ..part("unit", |gate, tally| checks::unit(&gate.project, gate.deep, tally))
    },
    part("doctests", |gate, tally| checks::doctests(&gate.project, tally)),
    part("loom", |gate, tally| checks::loom(&gate.project, tally)),
    part("doc", |gate, tally| checks::doc(&gate.project, tally)),
    part("dependencies", |gate, tally| {
        tally.test("licences, sources and names of dependencies", || dependencies::check(&gate.project));
    }),
    part("conformance", |gate, tally| {
        tally.test("docs/conformance.md says what is implemented", || conformance::check(&gate.project));
        tally.test("every function that makes a request has a test with a handler", || {
            conformance::check_requests(&gate.project)
        });
        tally.test("the routines of Fortran are those of the table", || fortran::check(&gate.project));
        tally.test("every routine of Fortran is named in a test for each interface, or has a reason", || {
            fortran::check_called(&gate.project)
        });
    }),
    part("stage", |gate, tally| {
        tally.test(STAGED, || install::stage(&gate.project));
    }),
    with_library("abi", |_, tally| {
        tally.test("abi-check: names, signatures, constants, layouts", || abi_check::run().map(drop));
    }),
    with_library("headers", |gate, tally| headers::run(&gate.project, tally)),
    with_library("builds", |gate, tally| builds::run(&gate.project, &gate.mpi, tally)),
    with_library("dist", |gate, tally| dist::check(&gate.project, tally)),
    with_library("c", |gate, tally| {
        fallible(tally, |tally| {
            let wanted = |name: &str| !ctests::BY_ITSELF.contains(&name);
            ctests::run_those(&gate.project, &gate.mpi, wanted, ctests::Over::Own, tally)
        });
        show("      some of them on another processor, emulated, in ten minutes: cargo xtask aarch64");
    }),
    with_library("fortran", |gate, tally| fortran::tests(&gate.project, &gate.mpi, tally)),
    with_library("face", |gate, tally| face::run(&gate.project, tally)),
    with_library("paths", |gate, tally| {
        faults::paths(&gate.project, &gate.mpi, tally);
        busy_start::run(&gate.project, &gate.mpi, tally);
    }),
    with_library("faults", |gate, tally| {
        faults::run(&gate.project, &gate.mpi, tally);
        lost::run(&gate.project, &gate.mpi, tally);
        killed::run(&gate.project, &gate.mpi, tally);
        coll_killed::run(&gate.project, &gate.mpi, tally);
    }),
    with_library("delays", |gate, tally| {
        delays::run(&gate.project, &gate.mpi, tally);
        delays::beside(&gate.project, &gate.mpi, tally);
        delays::across(&gate.project, &gate.mpi, tally);
        ctests::run_some(&gate.project, &gate.mpi, &ctests::BY_ITSELF, tally);
    }),
    with_library("bits", |gate, tally| bits::run(&gate.project, &gate.mpi, tally)),
    with_library("shares", |gate, tally| shares::run(&gate.project, &gate.mpi, tally)),
    with_library("hangs", |gate, tally| hangs::run(&gate.project, &gate.mpi, tally)),
    with_library("launchers", |gate, tally| launchers::run(&gate.project, &gate.mpi, tally)),
    with_library("methods", |gate, tally| {
        fallible(tally, |tally| ctests::over_methods(&gate.project, &gate.mpi, gate.deep, tally));
        counters::run(&gate.project, &gate.mpi, tally);
    }),
    with_library("hosts", |gate, tally| hosts::run(&gate.project, &gate.mpi, tally)),
    with_library("python", |gate, tally| python::tests(&gate.project, &gate.mpi, gate.deep, tally)),
    with_library("mpich", |gate, tally| mpich::run(&gate.project, gate.deep, tally)),
    with_library("rsmpi", |gate, tally| rsmpi::run(&gate.project, &gate.mpi, tally)),
    with_library("programs", |gate, tally| programs::run(&gate.project, gate.deep, tally)),
    with_library("demo", |gate, tally| {
        tally.test("the demo, short", || demo::run(&gate.project, &demo::Length::Short));
    }),
    with_library("valgrind", |gate, tally| checks::valgrind(&gate.project, &gate.mpi, tally)),
    Part {
        prepare: Some(|gate| drop(races::build(&gate.project))),
        ..with_library("races", |gate, tally| races::run(&gate.project, &gate.mpi, tally))
    },
    Part {
        prepare: Some(|gate| instructions::prepare(&gate.project)),
        ..with_library("instructions", |gate, tally| {
            instructions::run(&gate.project, &gate.mpi, tally);
        })
    },
];

/// What is built and checked first: nothing here looks at the time.
const BUILDS: Step = Step {
    front: &[
        Lane::Run("fmt"),
        Lane::Run("arrows"),
        Lane::Run("conformance"),
        Lane::Run("dependencies"),
        Lane::Run("clippy"),
        Lane::Run("doc"),
        Lane::Prepare("unit"),
    ],
    // A link of the library keeps one CPU busy for a minute.
    behind: &[&[Lane::Run("stage"), Lane::Run("loom")]],
};

/// What runs when the library is there, cheap things first. Beside programs that mostly wait for each other run those that
/// have only to be right.
const PROGRAMS: [Step; 3] = [
    Step {
        front: &[
            Lane::Run("abi"),
            Lane::Run("headers"),
            Lane::Run("c"),
            Lane::Run("fortran"),
            Lane::Run("face"),
            Lane::Run("bits"),
            Lane::Run("shares"),
            Lane::Run("methods"),
            Lane::Run("mpich"),
        ],
        behind: &[&[
            Lane::Run("doctests"),
            Lane::Run("valgrind"),
            Lane::Run("dist"),
            Lane::Run("builds"),
            Lane::Run("rsmpi"),
            Lane::Run("python"),
            Lane::Run("programs"),
        ]],
    },
    // The first two mostly wait, for ranks that are killed and for links that are cut: builds get the CPUs meanwhile.
    Step {
        front: &[Lane::Run("faults"), Lane::Run("paths"), Lane::Run("unit")],
        behind: &[&[Lane::Run("hosts")], &[Lane::Prepare("instructions"), Lane::Prepare("races")]],
    },
    Step {
        front: &[
            Lane::Run("delays"),
            Lane::Run("hangs"),
            Lane::Run("launchers"),
            Lane::Run("demo"),
            Lane::Run("races"),
            Lane::Run("instructions"),
        ],
        behind: &[],
    },
];

/// Runs the parts in `only`, or all of them; `deep`: whole what the gate samples; `may_install`: the Debian packages that they
/// need, too. `Ok(true)` when nothing failed.
pub(crate) fn run(project: &Project, only: &[String], deep: bool, may_install: bool) -> Fallible<bool> {
    if let Some(unknown) = only.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("no part is called {unknown}; the parts are {}", names.join(" ")));
    }
    let needs_library = PARTS.iter().any(|part| part.needs_library && is_named(only, part.name));
    // What needs the library needs it to be built.
    let wanted = |name: &str| is_named(only, name) || (name == "stage" && needs_library);
    let start = Instant::now();
    packages::ensure(project, &wanted, may_install);
    let project = &Project { builds_once: only.is_empty(), ..project.clone() };
    let gate = Gate { project: project.clone(), mpi: Mpi::posthaste(project), deep };
    let mut tally = Tally::default();
    lanes::run(&BUILDS, &gate, &wanted, &mut tally);
    let usable = !tally.has_failed(STAGED);
    let can_run = |name: &str| usable || PARTS.iter().all(|part| part.name != name || !part.needs_library);
    for step in &PROGRAMS {
        lanes::run(step, &gate, &|name| wanted(name) && can_run(name), &mut tally);
    }
    if !usable {
        tally.not_run(1, "everything that needs the library: it can't be built");
    }
    lanes::show_times(tally.times(), start.elapsed());
    Ok(tally.finish())
}

/// The name of the test that builds the library.
const STAGED: &str = "release build, staged installation";

fn is_named(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|part| part == name)
}

/// What keeps a part from running is one test that fails.
fn fallible(tally: &mut Tally, part: impl FnOnce(&mut Tally) -> Fallible) {
    if let Err(complaint) = part(tally) {
        tally.test("what it needs is there", || Err(complaint));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_runs_once_and_after_what_it_needs() {
        let steps = || [&BUILDS].into_iter().chain(&PROGRAMS);
        for part in PARTS {
            let times = |step: &Step| {
                step.all().filter(|lane| matches!(lane, Lane::Run(name) if *name == part.name)).count()
            };
            assert_eq!(steps().map(times).sum::<usize>(), 1, "{}", part.name);
            assert!(
                !part.needs_library || times(&BUILDS) == 0,
                "{} runs before the library is there",
                part.name
            );
        }
        for lane in steps().flat_map(Step::all) {
            let name = lane.part().name;
            assert!(!matches!(lane, Lane::Prepare(_)) || lane.part().prepare.is_some(), "{name}");
        }
    }
}
