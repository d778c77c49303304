//! The C tests: every `tests/c/*.c` is compiled with the wrapper compiler and run under mpiexec, once for each
//! number of ranks that its first lines ask for. `cargo xtask c`, and parts of `cargo xtask test`.
//!
//! A test speaks to this runner by comment lines near its top:
//! ```text
//! // ranks: 1 2 4        numbers of ranks to run with (default 2)
//! // timeout: 60         seconds (default 60)
//! // env: NAME=VALUE     environment, may be repeated
//! // args: A B           arguments
//! // options: -fA -fB    further options of the compiler
//! // exit: 3             the exit code that is right (default 0), or `nonzero`
//! // says: TEXT          the output must contain this, may be repeated
//! // alone               run without mpiexec as well, as a singleton
//! // only: posthaste     not a test for other implementations
//! // cpus: 2             all ranks share so many CPUs, or as many as there are
//! // hosts in turns: 2    ranks pretend to be on so many hosts, one after the other
//! // of memory           a test of what only shared memory does
//! // not over libfabric: WHY
//! ```
//! What must stay true: a test passes only when it ended in time with the right code and said what it must.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    device,
    mpi::Mpi,
    process::{Job, Outcome},
    project::{Fallible, Project, files, stem},
    tally::{Tally, show},
};

const OPTIONS: [&str; 6] = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"];

/// Tests that nothing else may run beside: one counts how often ranks lose a CPU; in the other, two ranks hand over so often that
/// without a CPU each they take ten times as long.
pub(crate) const BY_ITSELF: [&str; 2] = ["coll_switches", "large_messages_put"];

/// The plug-in in `examples`, and tests that are run over it.
const PLUGIN: &str = "libposthaste_unix.so";
/// The networks beside TCP alone that the tests run over, or their samples.
const NETWORKS: [Over; 3] = [Over::Fabric, Over::Hosts, Over::Links];

/// Tests that are run over TCP and libfabric side by side, and over each of [`NETWORKS`].
const BY_BOTH: [&str; 16] = [
    "ring",
    "modes",
    "matrix",
    "pt2pt_order",
    "stress",
    "large_messages",
    "win_attended",
    "win_counters",
    "win_dynamic",
    "win_local",
    "win_objects",
    "win_order",
    "win_put_get",
    "win_random",
    "win_requests",
    "win_types",
];
/// Tests that are run over a network that does atomic operations by itself.
const BY_ATOMICS: [&str; 9] = [
    "win_all_ops",
    "win_asserts",
    "win_counters",
    "win_mixed",
    "win_named_types",
    "win_order",
    "win_random",
    "win_requests",
    "win_types",
];
const BY_PLUGIN: [&str; 20] = [
    "coll_random",
    "ring",
    "modes",
    "matrix",
    "pt2pt_order",
    "reductions",
    "wakeups",
    "win_all_ops",
    "win_asserts",
    "win_attended",
    "win_counters",
    "win_dynamic",
    "win_local",
    "win_mixed",
    "win_objects",
    "win_order",
    "win_put_get",
    "win_random",
    "win_requests",
    "win_types",
];

/// Tests that are run as if several threads called, with a real lock and a VCI for each communicator.
const IN_VCIS: [&str; 16] = [
    "coll_random",
    "comms",
    "partitioned",
    "bsend",
    "cancel",
    "continuations",
    "handlers",
    "modes",
    "intercomm",
    "stress",
    "requests_full",
    "win_attended",
    "win_counters",
    "win_dynamic",
    "win_random",
    "win_requests",
];

/// Tests that are run with each kind of bounce buffer, whichever is right for this processor.
const BY_COPIES: [&str; 9] =
    ["ring", "modes", "matrix", "pt2pt_order", "stress", "alltoall", "cancel_send", "flood_tiny", "torture"];

/// Tests that are run with their message buffers in memory of a simulated device: all that neither take long, nor look
/// whether a request is over already, nor take a later message for a sign that a receive which was freed is over: a device
/// copies in its own order.
const BY_DEVICE: [&str; 24] = [
    "abi_bsend",
    "abi_coll_forms",
    "abi_pt2pt_forms",
    "alltoall",
    "check_types",
    "coll_data",
    "comms",
    "datatypes",
    "intercomm",
    "pack",
    "pack_external",
    "partitioned",
    "probe",
    "pt2pt_order",
    "pt2pt_sizes",
    "reductions",
    "requests_full_coll",
    "ring",
    "self_messages",
    "sendrecv",
    "truncate",
    "type_nesting",
    "user_op",
    "vcis",
];

/// Tests of what arrives between two ranks, and of nothing that depends on where these are: on two hosts they reach each other
/// by TCP alone, over which the tests have run already.
const BY_ONE_LINK: [&str; 2] = ["large_messages", "matrix"];

/// How the names of tests begin whose matter is what becomes of data, by whatever it comes: of the networks, they run over TCP alone.
const BY_ONE_NETWORK: [&str; 6] =
    ["flood_budget_default", "matrix", "reductions", "same_bits", "type_", "win_counters_kinds"];

/// How the names of tests begin that take many seconds: each runs over one of [`NETWORKS`] and no other, unless all run over all.
const LONG: [&str; 5] = ["large_messages", "win_all_ops", "win_counters", "win_mixed", "win_order"];

/// Enough ranks for whatever a method does with more than one peer.
const SEVERAL: usize = 4;

/// The folder of tests whose message buffers lie on a device.
const ON_DEVICE: &str = "c-tests-on-device";

/// What the comment lines of a test ask for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    pub(crate) ranks: Vec<usize>,
    timeout: u64,
    environment: Vec<(String, String)>,
    arguments: Vec<String>,
    options: Vec<String>,
    /// None: any but 0.
    exit: Option<i32>,
    says: Vec<String>,
    alone: bool,
    only: Option<String>,
    /// So many CPUs for all ranks together, or fewer on a machine that has no more.
    cpus: Option<usize>,
    /// Ranks are dealt out to so many hosts that they pretend to be on.
    in_turns: Option<usize>,
    is_of_memory: bool,
    not_over_libfabric: bool,
}

/// By which methods the ranks of a test reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Over {
    /// By those that they choose themselves: shared memory.
    Own,
    /// By TCP alone.
    Tcp,
    /// By libfabric alone, with its provider for TCP.
    Fabric,
    /// By libfabric alone, whose provider does the atomic operations on windows.
    Atomics,
    /// By the plug-in in `examples` alone.
    Plugin,
    /// By two TCP connections side by side.
    Links,
    /// By TCP and libfabric side by side.
    Both,
    /// By shared memory, as if several threads called.
    Vcis,
    /// As on two hosts, as if several threads called.
    HostsVcis,
    /// By shared memory with a bounce buffer for each pair.
    OwnBuffers,
    /// By shared memory with small bounce buffers that are filled past the caches.
    Streaming,
    /// They are on what our mpiexec takes for two hosts: by shared memory inside, by TCP between them.
    Hosts,
    /// By shared memory, with all message buffers in memory of a simulated device.
    Device,
}

/// Runs all C tests whose name contains `filter`.
pub(crate) fn run(project: &Project, mpi: &Mpi, filter: &str, over: Over, tally: &mut Tally) -> Fallible {
    run_those(project, mpi, |name| name.contains(filter), over, tally)
}

/// Runs those C tests whose names are wanted.
pub(crate) fn run_those(
    project: &Project,
    mpi: &Mpi,
    wanted: impl Fn(&str) -> bool,
    over: Over,
    tally: &mut Tally,
) -> Fallible {
    let folder = project.folder(&format!("c-tests/{}", mpi.name.replace(' ', "-")))?;
    if over == Over::Plugin {
        example(project, &folder.join(PLUGIN))?;
    }
    let folder =
        if over == Over::Device { project.folder(&format!("{ON_DEVICE}/{}", mpi.name))? } else { folder };
    if over == Over::Device {
        device::header(project, &folder)?;
    }
    for source in files(&project.root.join("tests/c"), "c") {
        let name = stem(&source);
        if wanted(&name) {
            run_one(mpi, &source, &folder.join(&name), over, tally);
        }
    }
    Ok(())
}

/// Runs the C tests with these names, by whichever ways the ranks choose.
pub(crate) fn run_some(project: &Project, mpi: &Mpi, names: &[&str], tally: &mut Tally) {
    match project.folder(&format!("c-tests/{}", mpi.name.replace(' ', "-"))) {
        Ok(folder) => {
            for name in names {
                let source = project.root.join("tests/c").join(format!("{name}.c"));
                run_one(mpi, &source, &folder.join(name), Over::Own, tally);
            }
        }
        Err(complaint) => tally.test("a folder for C tests", || Err(complaint)),
    }
}

/// The C tests once more over other methods than shared memory: all over TCP, and each over one more network, or, `deep`, over
/// each of them.
pub(crate) fn over_methods(project: &Project, mpi: &Mpi, deep: bool, tally: &mut Tally) -> Fallible {
    run(project, mpi, "", Over::Tcp, tally)?;
    for over in NETWORKS {
        let comes_by_it = |name: &str| match over {
            Over::Hosts => !BY_ONE_LINK.contains(&name) && name != "flood_budget_default",
            _ => !BY_ONE_NETWORK.iter().any(|begin| name.starts_with(begin)),
        };
        let wanted = |name: &str| comes_by_it(name) && (deep || is_sample(name, over));
        match over.can_be_used(project) {
            Ok(()) => run_those(project, mpi, wanted, over, tally)?,
            Err(why) => {
                let count = files(&project.root.join("tests/c"), "c")
                    .iter()
                    .filter(|file| wanted(&stem(file)))
                    .count();
                tally.not_run(count, format!("c over {}: {why}", over.name()))
            }
        }
    }
    if !deep {
        let ways = NETWORKS.map(Over::name).join(", ");
        show(&format!(
            "      each over all of {ways}, in five minutes more: cargo xtask test --deep --only methods"
        ));
    }
    if Over::Both.can_be_used(project).is_ok() {
        run_those(project, mpi, |name| is_of(&BY_BOTH, name), Over::Both, tally)?;
    }
    if Over::Atomics.can_be_used(project).is_ok() {
        run_those(project, mpi, |name| BY_ATOMICS.contains(&name), Over::Atomics, tally)?;
    }
    for over in [Over::Vcis, Over::HostsVcis] {
        run_those(project, mpi, |name| is_of(&IN_VCIS, name), over, tally)?;
    }
    for over in [Over::OwnBuffers, Over::Streaming] {
        run_those(project, mpi, |name| is_of(&BY_COPIES, name), over, tally)?;
    }
    run_those(project, mpi, |name| BY_DEVICE.contains(&name), Over::Device, tally)?;
    // Enough to see that it works under mpiexec: the engine's suite goes through all of it.
    run_those(project, mpi, |name| is_of(&BY_PLUGIN, name), Over::Plugin, tally)
}

/// Whether a part of its name is in the list. The tests of counters in each kind of number are about data, take up to 40 s each, and
/// have run over TCP.
fn is_of(list: &[&str], name: &str) -> bool {
    list.iter().any(|part| name.contains(part)) && !name.starts_with("win_counters_kinds")
}

/// Whether the gate runs this test over this one of [`NETWORKS`].
fn is_sample(name: &str, over: Over) -> bool {
    // Each test keeps its network when others come and go.
    let turn = name.bytes().map(usize::from).sum::<usize>() % NETWORKS.len();
    let takes_long = LONG.iter().any(|begin| name.starts_with(begin));
    (BY_BOTH.contains(&name) && !takes_long) || NETWORKS[turn] == over
}

/// Compiles the plug-in in `examples` as its users would.
fn example(project: &Project, file: &Path) -> Fallible {
    let source = project.root.join("examples/unix-method/unix_method.c");
    let include = project.stage.join("include");
    let compiler =
        Job::new("cc").args(["-shared", "-fPIC"]).args(OPTIONS).arg("-I").arg(include).arg("-o").arg(file);
    compiler.arg(source).succeed().map(drop)
}

/// Whether ranks can use libfabric here; if not, why.
fn libfabric(project: &Project) -> Fallible {
    let said = over_libfabric(Job::new(project.stage.join("bin/posthaste-info"))).limit(60).succeed()?;
    let line = said
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("fabric "))
        .unwrap_or("not known")
        .trim();
    if line.starts_with("usable") { Ok(()) } else { Err(line.to_owned()) }
}

fn over_libfabric(job: Job) -> Job {
    job.env("POSTHASTE_METHODS", "fabric").env("POSTHASTE_FABRIC_PROVIDER", "tcp")
}

/// Each rank reaches all others over these links; short messages are split over them, too.
fn over_links(links: &str, job: Job) -> Job {
    let job = job.env("POSTHASTE_METHODS", "tcp").env("POSTHASTE_LINKS", links);
    job.env("POSTHASTE_FABRIC_PROVIDER", "tcp").env("POSTHASTE_STRIPE_LIMIT", "20000")
}

fn run_one(mpi: &Mpi, source: &Path, program: &Path, over: Over, tally: &mut Tally) {
    let name = match over {
        Over::Own if mpi.name != "posthaste" => format!("c with {}/{}", mpi.name, stem(source)),
        Over::Own => format!("c/{}", stem(source)),
        Over::Vcis => format!("c in VCIs/{}", stem(source)),
        Over::HostsVcis => format!("c in VCIs on two hosts/{}", stem(source)),
        Over::Hosts => format!("c on two hosts/{}", stem(source)),
        Over::Device => format!("c on a device/{}", stem(source)),
        _ => format!("c over {}/{}", over.name(), stem(source)),
    };
    let text = match fs::read_to_string(source) {
        Ok(text) => text,
        Err(e) => return tally.test(&name, || Err(format!("can't read it: {e}"))),
    };
    let wishes = match Wishes::parse(&text) {
        Ok(wishes) => wishes,
        Err(e) => return tally.test(&name, || Err(e)),
    };
    let has_messages = wishes.ranks.iter().any(|ranks| *ranks > 1) && !wishes.is_of_memory;
    if wishes.only.as_ref().is_some_and(|only| !mpi.name.starts_with(only))
        || (!over.takes_one_rank() && !has_messages)
    {
        return;
    }
    if matches!(over, Over::Fabric | Over::Atomics | Over::Both) && wishes.not_over_libfabric {
        return;
    }
    let mut options = [&OPTIONS.map(str::to_owned)[..], &wishes.options].concat();
    if let (Over::Device, Some(here), Some(calls)) = (over, source.parent(), program.parent()) {
        options.extend(["-D_GNU_SOURCE=".to_owned(), "-include".to_owned()]);
        options.extend([here.join("device.h").display().to_string(), format!("-I{}", calls.display())]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    if let Err(complaint) = mpi.compile(&[source.to_path_buf()], program, &options) {
        return tally.test(&format!("{name}: compile"), || Err(complaint));
    }
    let (mut passed, mut complaints) = (0, Vec::new());
    let start = Instant::now();
    let mut count = |outcome: Result<Outcome, String>| match outcome.and_then(|o| wishes.judge(&o)) {
        Ok(()) => passed += 1,
        Err(complaint) => complaints.push(complaint),
    };
    let numbers = over.numbers(&wishes.ranks);
    for &ranks in &numbers {
        count(over.start(&wishes, mpi, ranks, program).run());
    }
    if wishes.alone && over == Over::Own {
        count(wishes.prepare(mpi.alone(program)).run());
    }
    let shown = format!("{name} with {} ranks", wishes.shown(&numbers, over));
    tally.counted(&shown, passed, complaints.len(), start.elapsed(), &complaints.join("\n"));
}

impl Over {
    /// Whether a rank without others says anything about it.
    fn takes_one_rank(self) -> bool {
        matches!(self, Self::Own | Self::Device)
    }

    /// With how many ranks a test runs of those numbers that it asks for. What depends on the number shows in the node; over the others,
    /// what depends on the way.
    fn numbers(self, asked: &[usize]) -> Vec<usize> {
        let several = || asked.iter().copied().filter(|ranks| *ranks > 1);
        match self {
            Self::Own => asked.to_vec(),
            Self::Tcp | Self::Hosts | Self::HostsVcis => several().max().into_iter().collect(),
            Self::Device => asked.iter().copied().max().into_iter().collect(),
            Self::Atomics => several().min().into_iter().collect(),
            _ => several().filter(|ranks| *ranks <= SEVERAL).max().or(several().min()).into_iter().collect(),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Own => "shared memory",
            Self::Tcp => "tcp",
            Self::Fabric => "libfabric",
            Self::Atomics => "libfabric that does atomic operations",
            Self::Plugin => "a plug-in",
            Self::Links => "two TCP links",
            Self::Both => "TCP and libfabric",
            Self::Vcis => "vcis",
            Self::HostsVcis => "vcis on two hosts",
            Self::OwnBuffers => "own bounce buffers",
            Self::Streaming => "streaming stores",
            Self::Hosts => "two hosts",
            Self::Device => "device memory",
        }
    }

    /// Whether it can be used here; if not, why.
    pub(crate) fn can_be_used(self, project: &Project) -> Fallible {
        match self {
            Self::Fabric | Self::Atomics | Self::Both => libfabric(project),
            Self::Plugin => example(project, &project.folder("c-tests")?.join(PLUGIN)),
            _ => Ok(()),
        }
    }

    /// A job whose ranks reach each other like this; the plug-in is where [`Over::can_be_used`] has put it.
    pub(crate) fn method(self, project: &Project, job: Job) -> Job {
        self.set(job, &project.target.join("c-tests").join(PLUGIN))
    }

    /// The same; the plug-in is in this file.
    fn set(self, job: Job, plugin: &Path) -> Job {
        match self {
            Self::Own | Self::Hosts => job,
            Self::Tcp => job.env("POSTHASTE_METHODS", "tcp"),
            Self::Vcis | Self::HostsVcis => job.env("POSTHASTE_THREADED", "1"),
            Self::Device => job.env("POSTHASTE_SIMULATED_DEVICE", "7"),
            // Not a power of two, and small, so that messages often meet its end.
            Self::OwnBuffers => job.env("POSTHASTE_BOUNCE_BUFFER", "40000"),
            Self::Streaming => {
                job.env("POSTHASTE_BOUNCE_BUFFER", "small").env("POSTHASTE_COPY_STORE", "streaming")
            }
            Self::Links => over_links("tcp,tcp", job),
            Self::Both => over_links("tcp,fabric", job),
            Self::Fabric => over_libfabric(job),
            Self::Atomics => over_libfabric(job).env("POSTHASTE_FABRIC_ATOMICS", "on"),
            Self::Plugin => job.env("POSTHASTE_METHODS", "plugin").env("POSTHASTE_PLUGIN", plugin),
        }
    }

    /// A test on so many ranks, under our mpiexec.
    fn start(self, wishes: &Wishes, mpi: &Mpi, ranks: usize, program: &Path) -> Job {
        let job = self.set(mpi.plain(), &program.with_file_name(PLUGIN));
        let job = match (self, wishes.in_turns) {
            (Self::Hosts | Self::HostsVcis, None) => on_hosts(job, 2, ranks.div_ceil(2)),
            (_, Some(hosts)) => on_hosts(job, hosts, 1),
            _ => job,
        };
        let job = wishes.prepare(job.arg("-n").arg(ranks.to_string()).arg(program));
        match wishes.cpus {
            Some(cpus) => job.under(&["taskset", "-c", &cpus_of_this_process(cpus)]),
            None => job,
        }
    }
}

/// Ranks that pretend to be on so many hosts, so many on one after the other.
pub(crate) fn on_hosts(job: Job, hosts: usize, each: usize) -> Job {
    let names: Vec<String> = (1..=hosts).map(|host| format!("host{host}")).collect();
    job.args(["-launcher", "fork", "-hosts", &names.join(","), "-ppn", &each.to_string()])
}

/// The first so many CPUs that this process may use, as a list.
pub(crate) fn cpus_of_this_process(most: usize) -> String {
    let status = fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    first_cpus(list.trim(), most)
}

/// The first numbers of a list such as `0-3,8`.
fn first_cpus(list: &str, most: usize) -> String {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().unwrap_or(0), last.parse().unwrap_or(0));
        first..=last
    };
    let cpus: Vec<String> =
        list.split(',').flat_map(range).take(most).map(|cpu: u32| cpu.to_string()).collect();
    cpus.join(",")
}

impl Wishes {
    pub(crate) fn parse(text: &str) -> Fallible<Self> {
        let mut wishes = Self { timeout: 60, exit: Some(0), ..Self::default() };
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
        for line in text.lines().take(40) {
            let line = line.trim();
            let Some(line) = line.strip_prefix("//").or_else(|| line.strip_prefix("! ")) else { continue };
            let (key, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.trim();
            match key.trim() {
                "ranks" => {
                    for part in value.split_whitespace() {
                        wishes.ranks.push(number(part)?);
                    }
                }
                "timeout" => wishes.timeout = number(value)? as u64,
                "env" => {
                    let (name, value) =
                        value.split_once('=').ok_or_else(|| format!("`{value}` is not NAME=VALUE"))?;
                    wishes.environment.push((name.into(), value.into()));
                    // Only shared memory has several.
                    wishes.is_of_memory |= name == "POSTHASTE_LONG_PROTOCOL";
                }
                "args" => wishes.arguments = value.split_whitespace().map(Into::into).collect(),
                "options" => wishes.options = value.split_whitespace().map(Into::into).collect(),
                "exit" if value == "nonzero" => wishes.exit = None,
                "exit" => wishes.exit = Some(number(value)? as i32),
                "says" => wishes.says.push(value.into()),
                "alone" => wishes.alone = true,
                "of memory" => wishes.is_of_memory = true,
                "not over libfabric" => wishes.not_over_libfabric = true,
                "only" => wishes.only = Some(value.into()),
                "cpus" => wishes.cpus = Some(number(value)?),
                "hosts in turns" => wishes.in_turns = Some(number(value)?),
                _ => {}
            }
        }
        if wishes.ranks.is_empty() {
            wishes.ranks.push(2);
        }
        Ok(wishes)
    }

    pub(crate) fn prepare(&self, mut job: Job) -> Job {
        for (name, value) in &self.environment {
            job = job.env(name, value);
        }
        job.args(&self.arguments).limit(self.timeout)
    }

    pub(crate) fn judge(&self, outcome: &Outcome) -> Fallible {
        let right = self.exit.map_or(outcome.code() != 0, |code| outcome.code() == code);
        let problem = if outcome.timed_out || !right {
            match self.exit {
                None => "expected an exit code other than 0".into(),
                Some(0) => String::new(),
                Some(code) => format!("expected exit code {code}"),
            }
        } else if outcome.output_held {
            "a process of this job still lives and holds the output open".into()
        } else if let Some(missing) = self.says.iter().find(|text| !outcome.all().contains(text.as_str())) {
            format!("its output does not contain \"{missing}\"")
        } else {
            return Ok(());
        };
        Err(format!("{problem}\n{}", outcome.complaint()).trim_start().into())
    }

    fn shown(&self, numbers: &[usize], over: Over) -> String {
        let mut shown: Vec<String> = numbers.iter().map(usize::to_string).collect();
        if self.alone && over == Over::Own {
            shown.push("no mpiexec".into());
        }
        shown.join(", ")
    }
}

/// Compiles a C program of `tests/c/<below>` for other parts of the gate.
pub(crate) fn helper(project: &Project, mpi: &Mpi, below: &str, name: &str) -> Fallible<PathBuf> {
    let program = project.folder(&format!("c-tests/{}", below.replace('/', "-")))?.join(name);
    let source = project.root.join("tests/c").join(below).join(format!("{name}.c"));
    mpi.compile(&[source], &program, &OPTIONS)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ways_run_with_one_number_of_ranks() {
        let asked = [1, 2, 3, 5, 8];
        assert_eq!((Over::Own.numbers(&asked), Over::Tcp.numbers(&asked)), (asked.to_vec(), vec![8]));
        assert_eq!((Over::Links.numbers(&asked), Over::Links.numbers(&[1, 8, 5])), (vec![3], vec![5]));
        assert!(Over::Vcis.numbers(&[1]).is_empty());
    }

    #[test]
    fn wishes_are_read() {
        let text = "// ranks: 1 3\n// env: A=b=c\n// exit: 7\n// says: hello: you\n// options: -fA -fB\n// alone\nint main(){}\n";
        let wishes = Wishes::parse(text).unwrap();
        assert_eq!(wishes.ranks, [1, 3]);
        assert_eq!(Wishes::parse("// cpus: 2\n").unwrap().cpus, Some(2));
        assert_eq!(
            (first_cpus("0-3,8", 2), first_cpus("5", 2), first_cpus("1,3-9", 4)),
            ("0,1".into(), "5".into(), "1,3,4,5".into())
        );
        assert_eq!(wishes.environment, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!((wishes.exit, wishes.timeout, wishes.alone), (Some(7), 60, true));
        assert_eq!(wishes.says, ["hello: you"]);
        assert_eq!(wishes.options, ["-fA", "-fB"]);
    }

    #[test]
    fn a_wrong_number_is_an_error() {
        assert!(Wishes::parse("// ranks: two\n").is_err());
        assert_eq!(Wishes::parse("int x;\n").unwrap().ranks, [2]);
    }
}
