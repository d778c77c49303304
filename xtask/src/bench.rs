//! `cargo xtask bench`: posthaste against what the machine allows and, with `--rivals`, against MPICH, Intel MPI
//! and Open MPI, which are installed into the target folder.
//!
//! Everything that is compared is measured in the same run, in turns (limit, A, limit, B, ...), in several rounds.
//! A virtual machine moves its CPUs, so two CPUs are compared only where they are equally far apart: programs on two
//! ranks measure the hand-off of a cache line before and after each batch, and count batches at the wanted one alone
//! (`bench/apart.h`). For more ranks it is measured between all runs; where it wanders by more than two times while the
//! contenders take their turns, the round says nothing about them and is thrown away. A result is a ratio.
//! Every table names its processor. `--realtime` is for machines that others use, too.
//! What must stay true: one source for all; the same binary for all implementations of the standard ABI.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use clap::Args;

use crate::{
    beside,
    copies::{self, Band},
    forced, install, machine,
    measured::{LIMIT, Measured, Row, short},
    mpi::Mpi,
    networked, packages,
    process::Job,
    project::{Fallible, Project, up_to_date},
    rows,
};

/// The command line.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Also measure MPICH, Intel MPI and Open MPI
    #[arg(long)]
    rivals: bool,
    /// Only these groups (comma-separated): latency, bandwidth, rate, rotating, modes, queues, threads, pair, crowd, exchange,
    /// jobs, coll, rma, startup, idle, datatypes, tcp, mixed, copies, async, spawn, faults, bindings, hosts
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How many rounds must be kept. Without --only and --full, those after the first are begun for ten minutes at most
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// All groups, those too that take long. Says first how long that takes
    #[arg(long, conflicts_with_all = ["only", "forced"])]
    full: bool,
    /// Only these rivals (comma-separated): mpich, intel, openmpi
    #[arg(long, value_delimiter = ',', default_value = "mpich,intel,openmpi")]
    against: Vec<String>,
    /// Leave posthaste out, to see how the rivals do
    #[arg(long)]
    without_us: bool,
    /// Only posthaste's own choices for messages of 2 KiB to 16 MiB in shared memory, against every protocol, ring, kind
    /// of store and chunk that settings force. Says first how long that takes
    #[arg(long, conflicts_with_all = ["rivals", "only", "without_us"])]
    forced: bool,
    /// Measure at real-time priority (`chrt -r 10`), where there is a CPU for each thread that is measured
    #[arg(long)]
    realtime: bool,
    /// Of two ranks, count only what is measured at about this hand-off of a cache line, in us: from 2/3 to 3/2 of it. What is
    /// usual at the beginning unless given
    #[arg(long, value_name = "US")]
    handoff: Option<f64>,
}

const GROUPS: [&str; 24] = [
    "latency",
    "bandwidth",
    "rate",
    "rotating",
    "modes",
    "queues",
    "threads",
    "pair",
    "crowd",
    "exchange",
    "jobs",
    "coll",
    "rma",
    "startup",
    "idle",
    "datatypes",
    "tcp",
    "mixed",
    "copies",
    "async",
    "spawn",
    "faults",
    "bindings",
    "hosts",
];
/// What is compiled for everybody.
const PROGRAMS: [&str; 14] = [
    "hosts",
    "pt2pt",
    "modes",
    "queues",
    "threads",
    "coll",
    "exchange",
    "sizes",
    "rma",
    "startup",
    "datatypes",
    "copies",
    "spawn",
    "agree",
];
/// What programs are run under with `--realtime`: in turns with others of the same priority. With the policy that knows no
/// turns (`-f`), two jobs that spin for their other halves, each on the other's CPU, stop each other for ever.
const REALTIME: [&str; 3] = ["chrt", "-r", "10"];
const CROWDS: [usize; 4] = [4, 8, 16, 32];
/// Groups that are measured unless others are asked for.
const USUAL: [&str; 9] = ["latency", "bandwidth", "rate", "modes", "pair", "crowd", "startup", "idle", "tcp"];
/// For so long rounds of the others are begun.
const ENOUGH: Duration = Duration::from_secs(540);
const STARTED: [usize; 3] = [2, 16, 64];
const AGREED: [usize; 3] = [2, 8, 16];
const EXCHANGED: [usize; 3] = [2, 4, 8];
/// How long a program of [`Part::Ranks`] may take, in seconds, and how long [`Part::Limits`] takes.
const RANKS_LIMIT: u64 = 300;
const LIMITS: f64 = 5.0;
/// By how much the hand-off may differ between the turns of one round.
const MAY_WANDER: f64 = 2.0;
/// By how much it may differ from what is wanted, either way, where batches are chosen by it.
const MAY_DIFFER: f64 = 1.5;
/// What tells programs between which bounds it is to be.
const BOUNDS: &str = "BENCH_HANDOFF";

/// What one run of the command works with.
pub(crate) struct Plan {
    project: Project,
    contenders: Vec<Mpi>,
    groups: Vec<&'static str>,
    raw: PathBuf,
    awaits: PathBuf,
    programs: PathBuf,
    realtime: bool,
    forced: bool,
    /// The hand-off at which batches of two ranks count, in microseconds.
    at: f64,
}

/// Measures and prints.
pub(crate) fn run(project: &Project, options: &Options) -> Fallible {
    let groups = options.groups()?;
    let parts = parts(&groups, options.forced);
    if options.full || options.forced {
        let seconds = match options.forced {
            true => forced::estimate(options.rounds).as_secs_f64(),
            false => estimate(&parts, &options.names(), options.rounds),
        };
        eprintln!(
            "this takes about {:.0} minutes and what it builds, if the machine is quiet (--rounds {})",
            seconds / 60.0,
            options.rounds
        );
    }
    let plan = Plan::make(project, options, groups)?;
    let limit = (options.only.is_empty() && !options.full && !options.forced).then_some(ENOUGH);
    let mut kept = Measured::default();
    let mut noisy: Vec<Measured> = parts.iter().map(|_| Measured::default()).collect();
    let mut quiet_rounds = vec![0; parts.len()];
    let mut thrown = 0;
    let start = Instant::now();
    let mut took = vec![0.0; parts.len()];
    let is_enough = |attempt: usize| attempt > 1 && limit.is_some_and(|limit| start.elapsed() >= limit);
    for attempt in 1..=options.rounds * 3 {
        for (i, part) in parts.iter().enumerate() {
            if quiet_rounds[i] >= options.rounds || is_enough(attempt) {
                continue;
            }
            let mut measured = Measured::default();
            let began = Instant::now();
            let wander = plan.in_turns(*part, attempt == 1, &mut measured)?;
            took[i] += began.elapsed().as_secs_f64();
            let complaint = match measured.away() {
                0 if wander <= MAY_WANDER => {
                    kept.merge(measured);
                    quiet_rounds[i] += 1;
                    continue;
                }
                0 => format!("its hand-off wandered {wander:.1} x"),
                away => format!("{away} results had no batch at a hand-off of {}", short(plan.at)),
            };
            noisy[i].merge(measured);
            thrown += 1;
            eprintln!("thrown away: {part:?}, {complaint}");
        }
        let least = quiet_rounds.iter().min().copied().unwrap_or(0);
        eprintln!(
            "attempt {attempt} after {:.0} s: {least} quiet rounds of everything",
            start.elapsed().as_secs_f64()
        );
        if least >= options.rounds || is_enough(attempt + 1) {
            break;
        }
        // Where nothing has been quiet so far, more of the same tells no more.
        if attempt >= options.rounds && quiet_rounds.iter().all(|rounds| *rounds == 0) {
            eprintln!("this machine is not quiet");
            break;
        }
    }
    for (part, took) in parts.iter().zip(&took) {
        eprintln!("{took:7.1} s  {part:?}");
    }
    for (i, part) in parts.iter().enumerate().filter(|(i, _)| quiet_rounds[*i] == 0) {
        println!("NOT QUIET: {part:?} is shown from rounds that should have been thrown away");
        kept.merge(std::mem::take(&mut noisy[i]));
    }
    plan.report(project, &kept, thrown, &quiet_rounds)
}

impl Options {
    /// The groups that are asked for.
    fn groups(&self) -> Fallible<Vec<&'static str>> {
        if let Some(unknown) = self.only.iter().find(|o| !GROUPS.contains(&o.to_lowercase().as_str())) {
            return Err(format!("no group is called {unknown}; the groups are {}", GROUPS.join(" ")));
        }
        let wanted = |group: &&str| {
            let is_asked_for = self.only.iter().any(|o| o.eq_ignore_ascii_case(group));
            is_asked_for || (self.only.is_empty() && (self.full || USUAL.contains(group)))
        };
        Ok(if self.forced { Vec::new() } else { GROUPS.into_iter().filter(wanted).collect() })
    }

    /// The contenders, by the names in the tables.
    fn names(&self) -> Vec<&'static str> {
        let ours = (!self.without_us).then_some("posthaste");
        let rivals = if self.rivals || self.without_us { &self.against[..] } else { &[] };
        ours.into_iter().chain(rivals.iter().filter_map(|word| Mpi::rival_name(word))).collect()
    }
}

impl Plan {
    fn make(project: &Project, options: &Options, groups: Vec<&'static str>) -> Fallible<Self> {
        if options.realtime {
            let tried = Job::new(REALTIME[0]).args(&REALTIME[1..]).arg("true").succeed();
            tried.map_err(|complaint| format!("--realtime is not possible here: {complaint}"))?;
        }
        let mut contenders = Vec::new();
        if !options.without_us {
            install::stage(project)?;
            contenders.push(Mpi::posthaste(project));
        }
        if options.rivals || options.without_us {
            for name in &options.against {
                contenders.push(Mpi::rival(project, name)?);
            }
        }
        let programs = project.folder("bench")?;
        let source = project.root.join("bench");
        for mpi in &contenders {
            fs::create_dir_all(programs.join(mpi.flavour)).map_err(|e| e.to_string())?;
            // The first contender with the standard ABI compiles for all of them.
            let first = contenders.iter().find(|other| other.flavour == mpi.flavour).unwrap_or(mpi);
            for name in PROGRAMS {
                let program = programs.join(mpi.flavour).join(name);
                first.compile(
                    &[source.join(name).with_extension("c")],
                    &program,
                    &["-O2", "-w", "-Wl,--enable-new-dtags", "-ldl"],
                )?;
            }
        }
        let awaits = project.target.join("release/examples/awaits");
        if groups.contains(&"async") && !options.without_us {
            let handlers = programs.join("abi/handlers");
            Mpi::posthaste(project).compile(&[source.join("handlers.c")], &handlers, &["-O2", "-w"])?;
            let build = ["build", "--release", "--quiet", "-p", "posthaste", "--example", "awaits"];
            project.cargo(&build).succeed()?;
        }
        if groups.contains(&"bindings") && !options.without_us {
            bindings(project, &programs.join("abi"))?;
        }
        let raw = programs.join("raw");
        if !up_to_date(&raw, &["raw.c", "apart.h"].map(|name| source.join(name))) {
            Job::new("cc").args(["-O2", "-o"]).arg(&raw).arg(source.join("raw.c")).succeed()?;
        }
        let at = match options.handoff {
            Some(at) => at,
            None => value_of("usual", &Job::new(&raw).arg("usual").succeed()?.stdout)?,
        };
        Ok(Self {
            project: project.clone(),
            contenders,
            groups,
            raw,
            awaits,
            programs,
            realtime: options.realtime,
            forced: options.forced,
            at,
        })
    }

    /// One part, all contenders in turns; gives by how much the hand-off wandered meanwhile, where that matters. `first`: those
    /// too that take long.
    fn in_turns(&self, part: Part, first: bool, measured: &mut Measured) -> Fallible<f64> {
        let handoff = || if part.chooses_batches() { Ok(self.at) } else { self.handoff() };
        let mut handoffs = vec![handoff()?];
        if let Part::Limits = part {
            measured.take(LIMIT, &self.raw("all").limit(120).succeed()?.stdout);
            handoffs.push(handoff()?);
        }
        if let Part::Startup(ranks) = part {
            self.forks(ranks, measured)?;
        }
        if let Part::Tcp | Part::WindowsOverTcp = part {
            measured.take(LIMIT, &self.raw("sockets").succeed()?.stdout);
        }
        if let Part::Pair("idle") = part {
            measured.take(LIMIT, &self.raw("wake").succeed()?.stdout);
        }
        if let Part::Copies(band) = part {
            band.in_turns(self, measured)?;
        }
        if let Part::Forced(band) = part {
            band.in_turns(self, measured)?;
        }
        if let Part::Hosts(at) = part {
            networked::in_turns(self, &self.project, networked::HOSTS[at], measured)?;
            handoffs.push(handoff()?);
        }
        for mpi in
            self.contenders.iter().filter(|mpi| part.concerns(mpi.name) && (first || !part.is_slow(mpi.name)))
        {
            if let Err(complaint) = part.run(self, mpi, measured) {
                if mpi.name == "posthaste" {
                    return Err(complaint);
                }
                eprintln!("{} can't do this: {complaint}", mpi.name);
            }
            handoffs.push(handoff()?);
        }
        handoffs.sort_by(f64::total_cmp);
        // One disturbance among many does not speak against the rest.
        let high = handoffs[handoffs.len() - 1 - handoffs.len() / 10];
        Ok(high / handoffs[0])
    }

    /// fork + exec of as many programs, the limit of every start-up.
    fn forks(&self, ranks: usize, measured: &mut Measured) -> Fallible {
        let started = Instant::now();
        let all: Vec<_> =
            (0..ranks).map(|_| Job::new(&self.raw).arg("nothing").start()).collect::<Result<_, _>>()?;
        for one in all {
            one.wait()?;
        }
        measured.add(LIMIT, &format!("fork_{ranks}"), started.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    /// Who is measured.
    pub(crate) fn contenders(&self) -> &[Mpi] {
        &self.contenders
    }

    /// `raw` with this word, at the hand-off that is wanted.
    pub(crate) fn raw(&self, what: &str) -> Job {
        self.raw_anywhere(what).env(BOUNDS, self.bounds())
    }

    /// The same at whatever hand-off there is.
    fn raw_anywhere(&self, what: &str) -> Job {
        let job = Job::new(&self.raw).arg(what);
        if self.realtime { job.under(&REALTIME) } else { job }
    }

    /// A program on two bound ranks, with options of mpiexec, to be completed with the program's arguments.
    pub(crate) fn bound_pair(&self, mpi: &Mpi, program: &str, options: &[&str]) -> Job {
        let job = mpi.mpiexec(2, true).env(BOUNDS, self.bounds()).args(options);
        self.ranks(job, 2).arg(self.program(mpi, program))
    }

    /// The same where another pair uses these CPUs, too.
    pub(crate) fn bound_beside(&self, mpi: &Mpi, program: &str) -> Job {
        self.ranks(mpi.mpiexec(2, true), 4).arg(self.program(mpi, program))
    }

    /// Before so many busy threads: at real-time priority if that was asked for, and each has a CPU. A thread that spins
    /// for one that it keeps from running would never see it at that priority.
    fn ranks(&self, job: Job, threads: usize) -> Job {
        if self.realtime && threads <= cpus() { job.args(REALTIME) } else { job }
    }

    /// The hand-off now, whatever it is, in microseconds.
    pub(crate) fn handoff(&self) -> Fallible<f64> {
        value_of("handoff", &self.raw_anywhere("handoff").succeed()?.stdout)
    }

    /// Between which hand-offs batches count.
    fn bounds(&self) -> String {
        format!("{:.3} {:.3}", self.at / MAY_DIFFER, self.at * MAY_DIFFER)
    }

    fn report(&self, project: &Project, kept: &Measured, thrown: usize, rounds: &[usize]) -> Fallible {
        let names: Vec<&str> = self.contenders.iter().map(|mpi| mpi.name).collect();
        let (least, most) = (rounds.iter().min().unwrap_or(&0), rounds.iter().max().unwrap_or(&0));
        let mut heading = machine::heading(kept);
        if self.realtime {
            heading +=
                "priority: real-time (chrt -r 10), except for jobs of more threads than CPUs and start-up\n";
        }
        heading += &format!(
            "two ranks: batches at hand-offs of {} us\n\
             best (median) of {least} to {most} rounds; {thrown} were thrown away because the hand-off was another\n\
             \"to limit\" is value / limit; \"to rivals\" is how many times as good as the best rival\n",
            self.bounds().replace(' ', " to ")
        );
        println!("{heading}");
        let (sizes, hosts) = (rows::of_sizes(), networked::rows());
        let all = rows::ROWS.iter().chain(rows::SHAPES.as_flattened()).chain(&sizes).chain(&hosts);
        let wanted: Vec<Row> = all.filter(|row| self.groups.contains(&row.group)).copied().collect();
        let mut table = if wanted.is_empty() { String::new() } else { kept.table(&wanted, &names) };
        if self.groups.contains(&"copies") {
            let rivals: Vec<&str> = names.iter().copied().filter(|name| *name != "posthaste").collect();
            table += &copies::table(kept, &rivals);
        }
        if self.forced {
            table += &forced::table(kept);
        }
        println!("{table}");
        let limits: Vec<Row> = rows::ROWS.iter().filter(|row| row.group == "limit").copied().collect();
        let limits = kept.table(&limits, &[LIMIT]);
        println!("{limits}");
        let report = project.folder("bench")?.join("last.txt");
        fs::write(&report, format!("{heading}\n{table}\n{limits}"))
            .map_err(|e| format!("can't write {}: {e}", report.display()))
    }

    /// A program as it is built for an implementation.
    pub(crate) fn program(&self, mpi: &Mpi, name: &str) -> PathBuf {
        self.programs.join(mpi.flavour).join(name)
    }
}

/// One run of one program.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// What the machine allows.
    Limits,
    /// Two bound ranks.
    Pair(&'static str),
    /// Two bound ranks of a program of its own.
    Program(&'static str),
    /// Two ranks of two threads each, which are not bound.
    Threads,
    /// A program of its own with so many ranks.
    Ranks(&'static str, usize),
    /// Two jobs side by side.
    Jobs,
    /// The wall time of a small job.
    Startup(usize),
    /// Processes that one rank starts, and two ranks that meet.
    Spawn,
    /// Derived types: packing by one rank, messages of two.
    Types(usize),
    /// Two bound ranks over TCP on this machine.
    Tcp,
    /// The same with a window.
    WindowsOverTcp,
    /// Two ranks in shared memory, alone and beside one that is reached by TCP; posthaste only.
    Mixed,
    /// What awaiting costs in the Rust API; posthaste only.
    Async,
    /// What the other bindings for C and Fortran cost, in turns in one process; posthaste only.
    Bindings,
    /// Several hosts, of which all take their turns.
    Hosts(usize),
    /// Long messages of some sizes, in all ways that settings force.
    Copies(Band),
    /// The same of more sizes, for the comparison with the automatic choice alone.
    Forced(forced::Band),
}

/// What is run for these groups, or to compare what is chosen with what is forced.
fn parts(groups: &[&'static str], is_forced: bool) -> Vec<Part> {
    let mut parts = vec![Part::Limits];
    if is_forced {
        parts.extend(forced::bands().into_iter().map(Part::Forced));
    }
    for group in groups {
        match *group {
            "pair" => parts.push(Part::Ranks("coll", 2)),
            "crowd" => parts.extend(CROWDS.map(|ranks| Part::Ranks("coll", ranks))),
            "exchange" => parts.extend(EXCHANGED.map(|ranks| Part::Ranks("exchange", ranks))),
            "jobs" => parts.push(Part::Jobs),
            "coll" => parts.extend(rows::SIZED.map(|ranks| Part::Ranks("sizes", ranks))),
            "rma" => {
                parts.extend([2, 8, 16].map(|ranks| Part::Ranks("rma", ranks)));
                parts.push(Part::WindowsOverTcp);
            }
            "spawn" => parts.push(Part::Spawn),
            "bindings" => parts.push(Part::Bindings),
            "hosts" => parts.extend((0..networked::HOSTS.len()).map(Part::Hosts)),
            "faults" => parts.extend(AGREED.map(|ranks| Part::Ranks("agree", ranks))),
            "startup" => parts.extend(STARTED.map(Part::Startup)),
            "modes" => parts.push(Part::Program("modes")),
            "queues" => parts.push(Part::Program("queues")),
            "threads" => parts.push(Part::Threads),
            "tcp" => parts.push(Part::Tcp),
            "mixed" => parts.push(Part::Mixed),
            "async" => parts.push(Part::Async),
            "copies" => parts.extend(copies::BANDS.map(Part::Copies)),
            "datatypes" => parts.extend([Part::Types(1), Part::Types(2)]),
            group => parts.push(Part::Pair(group)),
        }
    }
    parts
}

/// About how long so many rounds of these parts take, in seconds, if all are quiet.
fn estimate(parts: &[Part], contenders: &[&str], rounds: usize) -> f64 {
    let all =
        |part: &Part, name: &str| part.seconds(name) * if part.is_slow(name) { 1.0 } else { rounds as f64 };
    let all = parts.iter().flat_map(|part| contenders.iter().map(move |name| all(part, name)));
    LIMITS * rounds as f64 + all.sum::<f64>()
}

/// The libraries of `bindings`: name, compiler of C in the staged installation, and options. The first one is what others are compared with.
const BINDINGS: [(&str, &str, &[&str]); 4] = [
    ("standard", "bin/mpicc", &[]),
    ("mpich", "mpich/bin/mpicc", &[]),
    ("fortran", "bin/mpicc", &["-DFORTRAN", "-lmpifort_abi"]),
    ("f08", "bin/mpicc", &["-DF08", "bindings_f08.o", "-lmpifort_abi", "-lgfortran"]),
];

/// Builds them, and the program that loads them; without gfortran, all but the last.
fn bindings(project: &Project, folder: &Path) -> Fallible {
    let sources = project.root.join("bench");
    let source = sources.join("bindings.c");
    let program = Job::new("cc").args(["-O2", "-DPROGRAM", "-o"]).arg(folder.join("bindings"));
    program.arg(&source).arg("-ldl").succeed()?;
    let has_fortran = packages::present("gfortran");
    if has_fortran {
        let job = Job::new(project.stage.join("bin/mpifort")).args(["-O2", "-fPIC", "-c"]).dir(folder);
        job.arg(sources.join("bindings_f08.f90")).limit(120).succeed()?;
    } else {
        println!("no rows of mpi_f08: gfortran is not installed");
    }
    for (name, compiler, options) in BINDINGS {
        if name == "f08" && !has_fortran {
            // What an earlier run has left is not measured.
            let _ = fs::remove_file(folder.join("f08.so"));
            continue;
        }
        let job = Job::new(project.stage.join(compiler)).args(["-O2", "-shared", "-fPIC"]).dir(folder);
        let job = job.arg(format!("-DBINDING=\"{name}\"")).arg("-o").arg(format!("{name}.so"));
        job.arg(&source).args(options).succeed()?;
    }
    Ok(())
}

/// What makes everybody use TCP on one machine; each ignores what is meant for the others.
const OVER_TCP: [(&str, &str); 10] = [
    ("POSTHASTE_METHODS", "tcp"),
    ("MPIR_CVAR_NOLOCAL", "1"),
    ("UCX_TLS", "tcp,self"),
    ("I_MPI_FABRICS", "ofi"),
    ("I_MPI_OFI_PROVIDER", "tcp"),
    ("FI_PROVIDER", "tcp"),
    ("FI_TCP_IFACE", "lo"),
    ("OMPI_MCA_pml", "ob1"),
    ("OMPI_MCA_btl", "tcp,self"),
    ("OMPI_MCA_btl_tcp_if_include", "lo"),
];

fn over_tcp(job: Job) -> Job {
    OVER_TCP.iter().fold(job, |job, (name, value)| job.env(name, value))
}

/// Two ranks on a node that are bound to CPUs and spin, and perhaps a third one that is reached by TCP and sleeps
/// between the batches. It needs no CPU meanwhile, so all are assured that there are CPUs enough: three ranks on two CPUs
/// would wait in another way than two do, whatever lies between them.
fn beside_a_peer(mpi: &Mpi, program: &Path, words: &str, has_peer: bool) -> Job {
    let bound = format!("POSTHASTE_CPUS=3 exec taskset -c $MPI_LOCALRANKID {} {words}", program.display());
    let job = mpi.plain().args(["-bind-to", "none", "-n", "2", "-env", "POSTHASTE_NODE", "here"]);
    let job = job.args(["sh", "-c", &bound]);
    if !has_peer {
        return job;
    }
    let job = job.args([":", "-n", "1", "-env", "POSTHASTE_NODE", "there"]);
    let job = job.args(["-env", "POSTHASTE_SPIN_US", "0", "-env", "POSTHASTE_YIELD_US", "0"]);
    job.args(["env", "POSTHASTE_CPUS=3"]).arg(program).args(words.split(' '))
}

impl Part {
    /// About how long one round takes for one contender, in seconds, as measured on two CPUs.
    fn seconds(self, contender: &str) -> f64 {
        let ours = contender == "posthaste";
        match self {
            // These take their turns themselves, and we go more ways.
            Self::Copies(_) if ours => 8.0,
            Self::Copies(_) => 1.5,
            Self::Hosts(_) => 20.0,
            // For `--forced` there is an estimate of its own, and the limits are counted once for all.
            Self::Limits | Self::Forced(_) => 0.0,
            _ if !self.concerns(contender) => 0.0,
            Self::Ranks("sizes", _) if self.is_slow(contender) => RANKS_LIMIT as f64,
            Self::Ranks("rma", 16) if self.is_slow(contender) => 120.0,
            Self::Ranks("sizes", 2) => 15.0,
            Self::Ranks("sizes", _) => 50.0,
            Self::Ranks("coll", ranks) if ranks > 2 => 8.0 + ranks as f64 / 8.0,
            Self::Ranks("rma", _) => 7.0,
            Self::Ranks("exchange", _) | Self::Program(_) | Self::Tcp => 5.0,
            Self::Jobs => 6.0,
            Self::Mixed | Self::Async | Self::Bindings => 12.0,
            Self::Startup(ranks) => 1.0 + ranks as f64 / 8.0,
            Self::Spawn if ours => 2.0,
            Self::Spawn => 40.0,
            _ => 3.0,
        }
    }

    /// Whether it takes minutes: MPICH's ranks do not give up their CPUs while they wait.
    fn is_slow(self, contender: &str) -> bool {
        matches!(self, Self::Ranks(program, ranks) if program != "exchange" && ranks > cpus())
            && contender == "MPICH"
    }

    /// Whether its programs, which run on two ranks, choose their batches by the hand-off themselves.
    fn chooses_batches(self) -> bool {
        match self {
            Self::Limits | Self::Program(_) | Self::Copies(_) | Self::Forced(_) => true,
            Self::Tcp | Self::WindowsOverTcp => true,
            Self::Pair(group) => group != "idle",
            Self::Ranks(_, ranks) => ranks == 2,
            _ => false,
        }
    }

    fn concerns(self, contender: &str) -> bool {
        match self {
            // It maps the memory of a window in a node, whatever it is told.
            Self::WindowsOverTcp => contender != "Open MPI",
            Self::Mixed | Self::Async | Self::Bindings => contender == "posthaste",
            Self::Copies(_) | Self::Forced(_) | Self::Hosts(_) => false, // these take their turns themselves
            _ => true,
        }
    }

    fn run(self, plan: &Plan, mpi: &Mpi, measured: &mut Measured) -> Fallible {
        match self {
            Self::Limits | Self::Copies(_) | Self::Forced(_) | Self::Hosts(_) => {}
            Self::Pair(group) => {
                let outcome = plan.bound_pair(mpi, "pt2pt", &[]).arg(group).limit(120).succeed()?;
                measured.take(mpi.name, &outcome.stdout);
            }
            Self::Program(name) => {
                let outcome = plan.bound_pair(mpi, name, &[]).limit(120).succeed()?;
                measured.take(mpi.name, &outcome.stdout);
            }
            Self::Threads => {
                let job = plan.ranks(mpi.mpiexec(2, false), 4).arg(plan.program(mpi, "threads"));
                let outcome = job.limit(120).succeed()?;
                measured.take(mpi.name, &outcome.stdout);
            }
            Self::Ranks(program, ranks) => {
                let job = mpi.mpiexec(ranks, ranks <= cpus()).env(BOUNDS, plan.bounds());
                let job = plan.ranks(job, ranks);
                let job = job.arg(plan.program(mpi, program)).arg(cpus().to_string());
                measured.take(mpi.name, &job.limit(RANKS_LIMIT).succeed()?.stdout);
            }
            Self::Jobs => beside::run(plan, mpi, measured)?,
            Self::Types(ranks) => {
                let what = if ranks == 1 { "pack" } else { "pingpong" };
                let job =
                    plan.ranks(mpi.mpiexec(ranks, true), ranks).arg(plan.program(mpi, "datatypes")).arg(what);
                measured.take(mpi.name, &job.limit(120).succeed()?.stdout);
            }
            Self::Tcp => {
                let job = over_tcp(plan.bound_pair(mpi, "pt2pt", &[])).args(["latency", "rate", "bandwidth"]);
                measured.take_as("tcp_", mpi.name, &job.limit(120).succeed()?.stdout);
                if mpi.name == "posthaste" {
                    let job = over_tcp(plan.bound_pair(mpi, "pt2pt", &[])).env("POSTHASTE_SPIN_US", "0");
                    let job = job.env("POSTHASTE_YIELD_US", "0").arg("latency");
                    measured.take_as("tcp_asleep_", mpi.name, &job.limit(120).succeed()?.stdout);
                }
            }
            Self::WindowsOverTcp => {
                let job = over_tcp(plan.bound_pair(mpi, "rma", &[])).env("POSTHASTE_MAP_WINDOWS", "0");
                let job = job.env("POSTHASTE_WINDOW_TRANSPORT", "0").arg("over");
                measured.take_as("tcp_", mpi.name, &job.limit(120).succeed()?.stdout);
            }
            Self::Mixed => {
                let program = plan.program(mpi, "pt2pt");
                for (prefix, words) in
                    [("", "latency"), ("posted_", "posted latency"), ("multiple_", "multiple latency")]
                {
                    for (name, has_peer) in [("near_", false), ("mixed_", true)] {
                        let outcome = beside_a_peer(mpi, &program, words, has_peer).limit(120).succeed()?;
                        measured.take_as(&format!("{name}{prefix}"), mpi.name, &outcome.stdout);
                    }
                }
            }
            Self::Async => {
                let job = plan.ranks(mpi.mpiexec(2, true), 2).arg(&plan.awaits);
                measured.take(mpi.name, &job.limit(120).succeed()?.stdout);
                for what in ["costs", "loop"] {
                    let job = plan.bound_pair(mpi, "handlers", &[]).arg(what);
                    measured.take(mpi.name, &job.limit(120).succeed()?.stdout);
                }
            }
            Self::Bindings => {
                let program = plan.program(mpi, "bindings");
                let libraries = BINDINGS.map(|(name, ..)| program.with_file_name(format!("{name}.so")));
                let libraries = libraries.into_iter().filter(|library| library.exists());
                let job = plan.ranks(mpi.mpiexec(1, true), 1).arg(program).args(libraries);
                measured.take(mpi.name, &job.limit(120).succeed()?.stdout);
            }
            Self::Spawn => {
                // Not bound: a launcher that binds may not start more.
                for ranks in [1, 2] {
                    let job = plan.ranks(mpi.mpiexec(ranks, false), 2).arg(plan.program(mpi, "spawn"));
                    // Intel MPI over shared memory alone has no way to processes that come later.
                    match job.env("I_MPI_FABRICS", "shm:ofi").limit(120).succeed() {
                        Ok(outcome) => measured.take(mpi.name, &outcome.stdout),
                        Err(why) if mpi.name == "posthaste" => return Err(why),
                        Err(why) => eprintln!("{} can't do this with {ranks} ranks: {why}", mpi.name),
                    }
                }
            }
            Self::Startup(ranks) => {
                for _ in 0..3 {
                    let outcome =
                        mpi.mpiexec(ranks, ranks <= 2).arg(plan.program(mpi, "startup")).succeed()?;
                    measured.add(mpi.name, &format!("startup_{ranks}"), outcome.took.as_secs_f64() * 1e3);
                }
            }
        }
        Ok(())
    }
}

/// How many CPUs can be used.
fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The value of a line `result NAME VALUE UNIT`.
fn value_of(name: &str, output: &str) -> Fallible<f64> {
    let value = |line: &str| {
        line.strip_prefix("result ")?.strip_prefix(name)?.split_whitespace().next()?.parse().ok()
    };
    output.lines().find_map(value).ok_or_else(|| format!("no result {name} in {output}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_group() {
        let command = Options::augment_args(clap::Command::new("bench"));
        let only = command.get_arguments().find(|argument| argument.get_id() == "only").expect("it is there");
        let help = only.get_help().expect("it is documented").to_string();
        let named: Vec<&str> = help.split([',', ' ', '\n']).collect();
        assert!(GROUPS.iter().all(|group| named.contains(group)), "{help}");
    }

    const ALL: [&str; 4] = ["posthaste", "MPICH", "Intel MPI", "Open MPI"];

    #[test]
    fn the_usual_groups_have_a_whole_round_within_ten_minutes() {
        let usual = estimate(&parts(&USUAL, false), &ALL, 1);
        assert!(usual < ENOUGH.as_secs_f64(), "{usual}");
        assert!(!USUAL.contains(&"exchange") && !USUAL.contains(&"jobs") && !USUAL.contains(&"rotating"));
    }

    #[test]
    fn the_estimate_counts_contenders_and_rounds_and_once_what_is_slow() {
        let jobs = parts(&["jobs"], false);
        let more = |contenders, rounds| estimate(&jobs, contenders, rounds) - LIMITS * rounds as f64;
        assert!((more(&ALL[..], 5) - 20.0 * more(&ALL[..1], 1)).abs() < 1e-6);
        let slow = parts(&["crowd"], false);
        let mpich = |rounds| estimate(&slow[slow.len() - 1..], &["MPICH"], rounds) - LIMITS * rounds as f64;
        assert!((mpich(5) - mpich(1)).abs() < 1e-6 || cpus() >= CROWDS[3]);
        let ours = estimate(&parts(&["mixed"], false), &ALL[..1], 1);
        assert!((estimate(&parts(&["mixed"], false), &ALL, 1) - ours).abs() < 1e-6);
    }

    /// Nothing would fill them otherwise.
    #[test]
    fn long_messages_have_rows_for_all_ranks_and_lengths() {
        let program = include_str!("../../bench/exchange.c");
        assert!(program.contains("LONGEST = 1 << 20") && program.contains("{64 << 10, LONGEST}"));
        let rows = |group| rows::ROWS.iter().filter(move |row| row.group == group);
        for (ranks, bytes) in EXCHANGED.into_iter().flat_map(|ranks| [(ranks, 65536), (ranks, 1048576)]) {
            for name in [format!("exchange_{bytes}_{ranks}"), format!("exchange_fresh_{bytes}_{ranks}")] {
                assert!(
                    rows("exchange").any(|row| row.name == name && row.rival_goal == Some(1.2)),
                    "{name}"
                );
            }
        }
        let beside: Vec<_> = rows("jobs").filter(|row| row.name.starts_with("beside_")).collect();
        assert!(beside.len() == 2 && beside.iter().all(|row| row.within == Some(2.2)));
        let rotating = ["rotating_65536", "rotating_262144", "rotating_1048576", "rotating_4194304"];
        assert!(rows("rotating").map(|row| row.name).eq(rotating));
    }
}
