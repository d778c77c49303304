//! The commands of the project: `cargo xtask demo | test | bench | abi-check | conformance | settings | install | dist | c | fuzz |
//! stage`.
//! Each command is one file; this one only reads the command line. xtask uses no crate of ours: what it tests
//! is what is installed.
#![forbid(unsafe_code)]

mod aarch64;
mod abi_check;
mod arrows;
mod bench;
mod beside;
mod bits;
mod builds;
mod busy_start;
mod coll_killed;
mod comings;
mod conformance;
mod container;
mod copies;
mod counters;
mod ctests;
mod delays;
mod demo;
mod device;
mod dist;
mod face;
mod faults;
mod forced;
mod fortran;
mod futures;
mod fuzz;
mod gate;
mod hangs;
mod headers;
mod hosts;
mod install;
mod killed;
mod instructions;
mod lanes;
mod launchers;
mod leftovers;
mod lost;
mod machine;
mod marks;
mod measured;
mod mpi;
mod mpi4py;
mod mpich;
mod networked;
mod packages;
mod picture;
mod process;
mod programs;
mod project;
mod python;
mod races;
mod rig;
mod rows;
mod rsmpi;
mod settings;
mod shares;
mod single;
mod slurm;
mod tally;
mod unpacked;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::{
    mpi::Mpi,
    project::{Fallible, Project},
    tally::Tally,
};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, shows, tests, measures and installs posthaste")]
struct Arguments {
    /// Use the staged installation as it is, without building
    #[arg(long, global = true)]
    as_staged: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the main job: a heat equation from C and from Rust on 4 ranks, and mpi4py's benches
    Demo {
        /// Fewer steps
        #[arg(long)]
        short: bool,
    },
    /// Run every test; the last line is `N passed, N failed`
    Test {
        /// Only these parts (comma-separated)
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        /// Run whole what is a sample otherwise: the parts `methods`, `mpich`, `programs` and `python`
        #[arg(long)]
        deep: bool,
        /// As root: do not install the Debian packages that are missing, but leave out the tests that need them
        #[arg(long)]
        no_install: bool,
    },
    /// Fetch, build and run other people's programs: those of the part `programs`, or these
    Programs {
        /// Only these
        names: Vec<String>,
        /// All of them, also those that take long
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// As root: do not install the Debian packages that are missing
        #[arg(long)]
        no_install: bool,
    },
    /// Measure against the limits of the machine and, if asked, against other implementations
    Bench(bench::Options),
    /// Compare mpi.h and the library with the tables of the standard ABI, or those of MPICH's ABI with MPICH's own
    AbiCheck {
        /// List what is not implemented
        #[arg(long)]
        list: bool,
        /// Which ABI
        #[arg(long, value_enum, default_value = "standard")]
        abi: Abi,
    },
    /// Write docs/conformance.md, and the header by which compilers warn of functions that are not implemented
    Conformance,
    /// Write the table of docs/settings.md
    Settings,
    /// Write the Fortran interface: routines of the library, mpif.h, the sources of the modules
    Fortran,
    /// Build in release mode and install under a prefix
    Install {
        /// Where to install
        #[arg(long)]
        prefix: PathBuf,
    },
    /// Make the packages: a Python wheel, a Debian package and an archive (target/dist)
    Dist {
        /// Only try whether all crates can be published, built from what a registry gets, documented, and installed by cargo
        #[arg(long)]
        crates: bool,
    },
    /// Check that the crates compile for aarch64 Linux, and run C programs there under qemu
    Aarch64 {
        /// As root: do not install the Debian packages that are missing
        #[arg(long)]
        no_install: bool,
    },
    /// Go through the steps of the Containerfile in a root of its own, and run programs there (as root; takes minutes)
    Container,
    /// Bring the staged installation (target/stage) up to date and print its place
    Stage,
    /// Run the C tests only
    C {
        /// Only tests whose name contains this
        #[arg(default_value = "")]
        filter: String,
        /// Run them with another implementation (mpich, intel, openmpi), to check the tests themselves
        #[arg(long)]
        with: Option<String>,
        /// Over which methods the ranks reach each other
        #[arg(long, value_enum, default_value = "own")]
        over: ctests::Over,
    },
    /// Run all of mpi4py's tests of its futures in every way; the part `python` runs some of them
    Futures,
    /// Let a fuzz target of the engine run, led by coverage
    Fuzz {
        /// types, arguments or packets
        target: String,
        /// For how many seconds
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
}

/// The interface of a library of ours.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Abi {
    Standard,
    Mpich,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(complaint) => {
            eprintln!("cargo xtask: {complaint}");
            ExitCode::FAILURE
        }
    }
}

/// `Ok(false)`: the command ran and found something wrong, and has said so.
fn run(arguments: Arguments) -> Fallible<bool> {
    let project = Project { as_staged: arguments.as_staged, ..Project::find() };
    match arguments.command {
        Command::Demo { short } => {
            let length = if short { demo::Length::Short } else { demo::Length::Full };
            demo::run(&project, &length).map(|()| true)
        }
        Command::Test { only, deep, no_install } => gate::run(&project, &only, deep, !no_install),
        Command::Programs { names, all, no_install } => programs::command(&project, &names, all, !no_install),
        Command::Bench(options) => bench::run(&project, &options).map(|()| true),
        Command::AbiCheck { abi: Abi::Mpich, .. } => mpich::check(&project),
        Command::AbiCheck { list, abi: Abi::Standard } => {
            let _ = list;
            abi_check::run().map(|_| true)
        }
        Command::Conformance => conformance::write(&project).map(|()| true),
        Command::Settings => settings::write(&project).map(|()| true),
        Command::Fortran => fortran::write(&project).map(|()| true),
        Command::Install { prefix } => install::run(&project, &prefix).map(|()| true),
        Command::Stage => {
            install::stage(&project)?;
            println!("{}", project.stage.display());
            Ok(true)
        }
        Command::Dist { crates: true } => dist::publish(&project).map(|()| true),
        Command::Dist { crates: false } => {
            let dist::Packages { wheel, archive, debian } = dist::run(&project)?;
            [Some(wheel), Some(archive), debian]
                .iter()
                .flatten()
                .for_each(|package| println!("{}", package.display()));
            Ok(true)
        }
        Command::Aarch64 { no_install } => aarch64::command(&project, !no_install),
        Command::Container => container::command(&project),
        Command::Futures => futures::command(&project),
        Command::Fuzz { target, seconds } => fuzz::run(&project, &target, seconds),
        Command::C { filter, with, over } => {
            let mpi = match with {
                Some(name) => Mpi::rival(&project, &name)?,
                None => {
                    install::stage(&project)?;
                    Mpi::posthaste(&project)
                }
            };
            let mut tally = Tally::default();
            ctests::run(&project, &mpi, &filter, over, &mut tally)?;
            Ok(tally.finish())
        }
    }
}
