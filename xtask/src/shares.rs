//! Several copies of posthaste in one process: the C library, an extension with the Rust crate linked in, and a Rust program,
//! in all orders; and the engine opened again and again under other launchers. The part `shares` of `cargo xtask test`.
//!
//! What must stay true: the copies that are to share an engine are of the build that is staged, whatever the optimisation; a
//! copy of another build is made of the same sources with other settings.

use std::path::PathBuf;

use crate::{
    face,
    leftovers::Watch,
    mpi::Mpi,
    process::{Job, Outcome},
    project::{Fallible, Project, QUICKLY},
    tally::Tally,
};

/// Orders in which three copies begin and end: each is first, second and last in both.
const ORDERS: [(&str, &str); 6] =
    [("CER", "CER"), ("CRE", "ERC"), ("ECR", "REC"), ("ERC", "CRE"), ("RCE", "RCE"), ("REC", "ECR")];

/// The examples in a folder of their own, without what a debug build checks, so that they are of the staged build.
pub(crate) fn built(project: &Project) -> Fallible<PathBuf> {
    let target = project.folder("shares")?;
    let mut arguments = vec!["build", "--quiet", "-p", "posthaste"];
    arguments.extend(["extension", "host", "stranger"].map(|name| ["--example", name]).concat());
    arguments.extend(QUICKLY);
    let job = project.cargo(&arguments).arg("--target-dir").arg(&target);
    job.env("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false").succeed()?;
    Ok(target.join("debug/examples"))
}

/// All of them.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let built = built(project).and_then(|folder| {
        project.build_debug()?;
        let other = project.target.join("debug/examples");
        let program = crate::ctests::helper(project, mpi, "shares", "program")?;
        Ok(Shares { library: project.stage.join("lib/libmpi_abi.so.1"), folder, other, program, mpi })
    });
    let shares = match built {
        Ok(shares) => shares,
        Err(complaint) => return tally.test("shares: build", || Err(complaint)),
    };
    for (open, close) in ORDERS {
        for ranks in [1, 2] {
            let name = format!("shares: three copies begin as {open} and end as {close}, {ranks} ranks");
            tally.test(&name, || shares.host(ranks, open, close));
        }
    }
    for order in ["CE", "EC", "T"] {
        tally.test(&format!("shares: a C program and an extension, {order}, 2 ranks"), || {
            shares.works(mpi.mpiexec(2, false).arg(&shares.program).arg(shares.extension()).arg(order))
        });
    }
    tally.test("shares: two faces of the C library and a Rust program", || shares.two_faces(project));
    tally.test("shares: two faces of the C library in the global scope", || shares.rivals(project));
    tally.test("shares: a copy of another build is refused by a sentence", || shares.other_build());
    tally.test("shares: an allocator of its own is refused by a sentence", || shares.other_allocator());
}

/// A Rust program whose ranks open and close the engine many times, under any launcher.
pub(crate) fn rounds(project: &Project, launcher: Job, ranks: usize) -> Fallible {
    let host = built(project)?.join("host");
    let watch = Watch::begin();
    let outcome = watch.mark(launcher).arg(host).args(["rounds", "20"]).limit(60).succeed()?;
    let said = format!("one engine after another, {ranks} ranks");
    if outcome.stdout.matches(&said).count() != ranks {
        return Err(format!("{said:?} was expected of each\n{}", outcome.complaint()));
    }
    watch.nothing_left()
}

struct Shares<'a> {
    library: PathBuf,
    /// The examples of the staged build, and of another one.
    folder: PathBuf,
    other: PathBuf,
    program: PathBuf,
    mpi: &'a Mpi,
}

impl Shares<'_> {
    fn extension(&self) -> PathBuf {
        self.folder.join("libextension.so")
    }

    fn works(&self, job: Job) -> Fallible {
        let outcome = job.limit(30).succeed()?;
        if outcome.stdout.contains("one engine") { Ok(()) } else { Err(outcome.complaint()) }
    }

    fn host(&self, ranks: usize, open: &str, close: &str) -> Fallible {
        let host = self.folder.join("host");
        let job = if ranks == 1 { self.mpi.alone(&host) } else { self.mpi.mpiexec(ranks, false).arg(host) };
        self.works(job.arg(&self.library).arg(self.extension()).args([open, close]))
    }

    /// Both faces are of the build without optimisation, and each is in a scope of its own.
    fn two_faces(&self, project: &Project) -> Fallible {
        let face = face::install(project)?;
        let extension = project.folder("face/lib")?.join("libextension.so");
        let source = project.root.join("tests/c/shares/other_face.c");
        face.compile(&[source], &extension, &["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"])?;
        let library = project.target.join("debug/libmpi_abi.so");
        for (open, close) in [("CFR", "CFR"), ("FRC", "CRF"), ("RCF", "FRC")] {
            let job = self.mpi.mpiexec(2, false).env("LD_LIBRARY_PATH", project.folder("face/lib")?);
            let job = job.arg(self.other.join("host")).arg(&library).arg(&extension);
            self.works(job.args([open, close]))?;
        }
        Ok(())
    }

    /// A program that is linked to one face says so when the other is loaded, which it does before MPI begins and after.
    fn rivals(&self, project: &Project) -> Fallible {
        let library = project.stage.join("mpich/lib/libmpi.so.12");
        let files = [&self.library, &library].map(|file| file.to_string_lossy().into_owned());
        for (preloaded, order) in [(true, "before"), (false, "inside")] {
            let program = crate::ctests::helper(project, self.mpi, "shares", "rivals")?;
            let job = self.mpi.alone(&program).limit(20).arg(order);
            let job = if preloaded { job.env("LD_PRELOAD", &library) } else { job.arg(&library) };
            let said = job.succeed()?;
            let (first, other) = if preloaded { (1, 0) } else { (0, 1) };
            let sentence = format!("{} takes the calls that are meant for {}", files[first], files[other]);
            if said.stderr.matches(&sentence).count() == 0 {
                return Err(format!("{sentence:?} was expected\n{}", said.complaint()));
            }
        }
        let alone =
            self.mpi.alone(&crate::ctests::helper(project, self.mpi, "shares", "rivals")?).arg("inside");
        let said = alone.limit(20).succeed()?;
        if said.stderr.is_empty() { Ok(()) } else { Err(said.complaint()) }
    }

    /// Both builds and both files are named.
    fn other_build(&self) -> Fallible {
        let stranger = self.other.join("libextension.so");
        let job = self.mpi.alone(&self.program).arg(&stranger).arg("CE").limit(20);
        let files = [self.library.as_path(), &stranger].map(|file| file.to_string_lossy().into_owned());
        refused(&job.run()?, &["must be built alike", "posthaste 0.", &files[0], &files[1]])
    }

    fn other_allocator(&self) -> Fallible {
        let stranger = self.folder.join("stranger");
        let said = ["#[global_allocator]", "stranger"];
        let job = || self.mpi.alone(&stranger).arg(&self.library).limit(20);
        refused(&job().run()?, &said)?;
        refused(&job().arg("first").run()?, &said)
    }
}

fn refused(outcome: &Outcome, said: &[&str]) -> Fallible {
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    let missing = said.iter().find(|words| !all.contains(**words));
    match missing {
        None if !outcome.timed_out && !all.contains("has succeeded") => Ok(()),
        _ => Err(format!("{missing:?} is missing\n{}", outcome.complaint())),
    }
}
