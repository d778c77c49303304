//! Starts the processes of a job: environment, CPUs, descriptors, fork.
//!
//! What must stay true: a rank inherits its standard streams, its PMI connection and the node segment, and nothing else
//! of ours; the variables of a job that we ourselves may be part of do not reach it.

use super::resolve::resolve;
use super::talk::Common;
use super::{Bind, Part, Program, Refused};
use crate::client::JOB_VARIABLES;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::SigSet;
use posthaste_os::node::Node;
use posthaste_os::process::{self, Image, Place};
use posthaste_os::resources::Resource;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// A program of the job, ready to be started any number of times.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    program: &'a Program,
    path: PathBuf,
    debugger: Option<PathBuf>,
    environment: BTreeMap<OsString, OsString>,
}

impl<'a> Prepared<'a> {
    /// Finds the program and settles its environment.
    pub(super) fn new(job: &Common, program: &'a Program) -> Result<Self, Refused> {
        let common = if program.replaces_environment { &[][..] } else { &job.environment[..] };
        let mut environment: BTreeMap<OsString, OsString> =
            common.iter().chain(&program.environment).cloned().collect();
        environment.retain(|name, _| !belongs_to_a_job(name));
        if let Some(folder) = own_libraries() {
            add_libraries(&mut environment, &folder);
        }
        for (name, value) in &environment {
            let bad = |bytes: &[u8]| bytes.contains(&0) || bytes.is_empty();
            if bad(name.as_bytes()) || name.as_bytes().contains(&b'=') || value.as_bytes().contains(&0) {
                return Err(Refused::new(
                    1,
                    format!("{name:?} cannot be the name of an environment variable"),
                ));
            }
        }
        let usual = environment.get(OsStr::new("PATH")).cloned().or_else(|| std::env::var_os("PATH"));
        let directory = program.directory.as_deref();
        let path = resolve(&program.name, directory, program.path.as_deref().or(usual.as_deref()))?;
        let debugger = program.debugger.first().map(|name| resolve(name, directory, usual.as_deref()));
        Ok(Self { program, path, debugger: debugger.transpose()?, environment })
    }

    /// The name the user gave.
    pub(super) fn name(&self) -> String {
        self.program.name.to_string_lossy().into_owned()
    }

    /// The working directory that it is to have, where the user has said so.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.program.directory.as_deref()
    }

    /// The path of what is executed.
    pub(super) fn path(&self) -> String {
        self.executed().to_string_lossy().into_owned()
    }

    fn executed(&self) -> &Path {
        self.debugger.as_ref().unwrap_or(&self.path)
    }

    fn image(&self, contract: &[(&str, String)]) -> io::Result<Image> {
        // A debugger looks in other places for a program: it gets the path.
        let name = if self.debugger.is_some() { self.path.as_os_str() } else { &self.program.name };
        let words = self.program.debugger.iter().map(OsString::as_os_str).chain([name]);
        let words = words.chain(self.program.arguments.iter().map(OsString::as_os_str));
        let arguments: Vec<&[u8]> = words.map(OsStr::as_bytes).collect();
        let mut environment: Vec<Vec<u8>> = Vec::with_capacity(self.environment.len() + contract.len());
        for (name, value) in &self.environment {
            let mut pair = name.clone().into_vec();
            pair.push(b'=');
            pair.extend_from_slice(value.as_bytes());
            environment.push(pair);
        }
        environment.extend(contract.iter().map(|(name, value)| format!("{name}={value}").into_bytes()));
        Image::new(self.executed(), &arguments, &environment, self.program.directory.as_deref())
    }
}

/// Variables that tie a process to one job and would mislead a process of another.
fn belongs_to_a_job(name: &OsStr) -> bool {
    let name = name.as_bytes();
    JOB_VARIABLES.iter().any(|spent| spent.as_bytes() == name)
        || [&b"PMIX_"[..], b"PMI_", b"OMPI_COMM_WORLD_", b"HYDI_"]
            .iter()
            .any(|foreign| name.starts_with(foreign))
        || name == b"PRTE_LAUNCHED"
}

/// The folder of the library that is installed with this launcher, on this host.
fn own_libraries() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.parent()?.join("lib");
    folder.join("libmpi_abi.so.1").exists().then_some(folder)
}

/// Lets the loader look for libraries in this folder, too, after all others that the variable names: programs that were
/// not linked by our mpicc start, and a choice of the user stands.
fn add_libraries(environment: &mut BTreeMap<OsString, OsString>, folder: &Path) {
    const SEPARATORS: &[u8] = b":;";
    let is_separator = |byte: &u8| SEPARATORS.contains(byte);
    if folder.as_os_str().as_bytes().iter().any(is_separator) {
        return;
    }
    let path = environment.entry("LD_LIBRARY_PATH".into()).or_default();
    if path.as_bytes().split(is_separator).any(|known| known == folder.as_os_str().as_bytes()) {
        return;
    }
    // An element that is empty is the working directory: an empty variable has none, and gets none.
    if !path.is_empty() {
        path.push(":");
    }
    path.push(folder);
}

/// CPUs for each of `ranks` processes; empty lists when they are not confined. `width` CPUs each.
pub(super) fn cpus(bind: Bind, ranks: usize, usable: &[usize], width: usize) -> Vec<Vec<usize>> {
    // A single process gains nothing from staying on one CPU, and its threads would lose the others.
    let wanted = match bind {
        Bind::Core | Bind::Within(_) => true,
        Bind::Auto => ranks > 1,
        Bind::None => false,
    };
    match ranks.checked_mul(width.max(1)) {
        Some(needed) if wanted && needed <= usable.len() => {
            usable.chunks(width.max(1)).take(ranks).map(<[usize]>::to_vec).collect()
        }
        _ => vec![Vec::new(); ranks],
    }
}

/// CPUs for each of `ranks` processes, of which `each` are on a part, one part after the other; empty lists when they are not
/// confined.
pub(super) fn cpus_by_part(
    bind: Bind,
    ranks: usize,
    parts: &[Vec<usize>],
    each: usize,
    width: usize,
) -> Vec<Vec<usize>> {
    // A part may have one rank of many.
    let bind = if bind == Bind::Auto && ranks > 1 { Bind::Core } else { bind };
    let here = |part: usize| ranks.saturating_sub(part * each).min(each);
    let of_parts = parts.iter().enumerate().map(|(part, usable)| cpus(bind, here(part), usable, width));
    let cpus: Vec<Vec<usize>> = of_parts.flatten().collect();
    if cpus.iter().any(Vec::is_empty) { vec![Vec::new(); ranks] } else { cpus }
}

/// The usable CPUs of each part that has some, parts in the order of their first ones; `None` where a CPU belongs to none that
/// the system knows.
pub(super) fn parts(
    usable: &[usize],
    part_of: impl Fn(usize) -> Option<Vec<usize>>,
) -> Option<Vec<Vec<usize>>> {
    let mut parts: Vec<(usize, Vec<usize>)> = Vec::new();
    for &cpu in usable {
        let name = part_of(cpu)?.into_iter().min()?;
        match parts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, cpus)) => cpus.push(cpu),
            None => parts.push((name, vec![cpu])),
        }
    }
    Some(parts.into_iter().map(|(_, cpus)| cpus).collect())
}

/// CPUs in the order in which ranks take them: neighbours are on different parts, when that is wanted. `part_of` gives the
/// CPUs of a part, in any order, that this CPU belongs to.
pub(super) fn in_turn(usable: &[usize], part_of: impl Fn(usize) -> Option<Vec<usize>>) -> Vec<usize> {
    let parts = parts(usable, |cpu| part_of(cpu).or(Some(vec![cpu]))).unwrap_or_default();
    let most = parts.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|turn| parts.iter().filter_map(move |cpus| cpus.get(turn).copied())).collect()
}

/// These CPUs with all usable ones of their parts.
pub(super) fn widened(
    cpus: &[usize],
    usable: &[usize],
    part_of: impl Fn(usize) -> Option<Vec<usize>>,
) -> Vec<usize> {
    let parts: Vec<usize> = cpus.iter().flat_map(|&cpu| part_of(cpu).unwrap_or(vec![cpu])).collect();
    usable.iter().copied().filter(|cpu| parts.contains(cpu)).collect()
}

/// The CPUs of this machine that are in one part with a CPU.
pub(super) fn part_of(part: Part, cpu: usize) -> Option<Vec<usize>> {
    let resource = match part {
        Part::Package => Resource::Package,
        Part::NumaNode => Resource::NumaNode,
        Part::L3Cache => Resource::L3Cache,
        Part::L2Cache => Resource::L2Cache,
        Part::Core => Resource::Core,
    };
    resource.cpus(cpu)
}

/// What the processes of a job on this host share.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub(super) node: &'a Node,
    /// Ranks in the whole job.
    pub(super) size: usize,
    pub(super) spawned: bool,
    pub(super) secret: &'a str,
    pub(super) group: i32,
    pub(super) mask: &'a SigSet,
    /// CPUs that the whole job may keep busy: a bound rank cannot see that for itself.
    pub(super) cpus: usize,
    /// Which ones it may use.
    pub(super) cpu_list: &'a str,
    pub(super) open_files: Option<u64>,
    pub(super) report: BorrowedFd<'a>,
}

/// Our ends of what ties us to a started process.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) pid: i32,
    pub(super) pmi: UnixStream,
    pub(super) out: File,
    pub(super) err: File,
}

/// Starts one process as `rank`, which is number `local` on this host.
pub(super) fn start(
    prepared: &Prepared<'_>,
    common: &Shared<'_>,
    local: usize,
    rank: u32,
    cpus: &[usize],
    stdin: BorrowedFd<'_>,
) -> io::Result<Started> {
    let (pmi, their_pmi) = UnixStream::pair()?;
    pmi.set_nonblocking(true)?;
    let (out, their_out) = output_pipe()?;
    let (err, their_err) = output_pipe()?;
    let contract = [
        ("PMI_RANK", rank.to_string()),
        ("PMI_SIZE", common.size.to_string()),
        ("PMI_FD", their_pmi.as_raw_fd().to_string()),
        ("PMI_SPAWNED", u8::from(common.spawned).to_string()),
        ("POSTHASTE_NODE_FD", common.node.as_fd().as_raw_fd().to_string()),
        ("POSTHASTE_LOCAL_RANK", local.to_string()),
        ("POSTHASTE_LOCAL_SIZE", common.node.ranks().to_string()),
        ("POSTHASTE_CPUS", common.cpus.to_string()),
        ("POSTHASTE_CPU_LIST", common.cpu_list.to_string()),
        ("POSTHASTE_SECRET", common.secret.to_string()),
        ("MPI_LOCALRANKID", local.to_string()),
        ("MPI_LOCALNRANKS", common.node.ranks().to_string()),
    ];
    let image = prepared.image(&contract)?;
    let place = Place {
        stdio: [stdin, their_out.as_fd(), their_err.as_fd()],
        inherit: &[their_pmi.as_fd(), common.node.as_fd()],
        group: common.group,
        cpus,
        open_files: common.open_files,
        mask: common.mask.as_ref(),
        report: common.report,
        tag: local as u32,
    };
    let pid = process::start(&image, &place)?;
    Ok(Started { pid, pmi, out, err })
}

/// A pipe whose reading end, ours, never makes us wait.
fn output_pipe() -> io::Result<(File, OwnedFd)> {
    let (ours, theirs) = io::pipe()?;
    fcntl(&ours, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((File::from(OwnedFd::from(ours)), OwnedFd::from(theirs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_gets_its_cpu_if_there_are_enough() {
        let one = |cpu: usize| vec![cpu];
        assert_eq!(cpus(Bind::Auto, 2, &[1, 3, 5], 1), [one(1), one(3)]);
        assert_eq!(cpus(Bind::Auto, 2, &[0, 1, 2, 3], 2), [vec![0, 1], vec![2, 3]]);
        assert_eq!(cpus(Bind::Auto, 3, &[0, 1], 1), vec![Vec::<usize>::new(); 3]);
        assert_eq!(cpus(Bind::Auto, 1, &[0, 1], 1), [Vec::new()]);
        assert_eq!(cpus(Bind::Core, 1, &[4, 5], 1), [one(4)]);
        assert_eq!(cpus(Bind::None, 2, &[0, 1], 1), [Vec::new(), Vec::new()]);
    }

    #[test]
    fn neighbours_are_on_different_parts_and_a_part_has_all_its_cpus() {
        // Two parts: the even and the odd CPUs; 8 is of none.
        let part_of = |cpu: usize| (cpu < 8).then(|| (0..8).filter(|other| other % 2 == cpu % 2).collect());
        assert_eq!(in_turn(&[0, 2, 4, 1, 3, 8], part_of), [0, 1, 8, 2, 3, 4]);
        assert_eq!(in_turn(&[], part_of), []);
        assert_eq!(widened(&[2], &[0, 1, 2, 3, 8], part_of), [0, 2]);
        assert_eq!(widened(&[1, 8], &[0, 1, 2, 3, 8], part_of), [1, 3, 8]);
        // Whatever this machine is, its parts have the CPU that is asked about.
        let own = posthaste_os::machine::affinity()[0];
        let has = |part| super::part_of(part, own).is_none_or(|cpus| cpus.contains(&own));
        assert!([Part::Package, Part::NumaNode, Part::L3Cache, Part::L2Cache].into_iter().all(has));
    }

    #[test]
    fn ranks_are_counted_for_each_part_and_take_its_cpus() {
        // Two sockets of four CPUs, whose CPUs are numbered in turn, as some machines do; 8 is of none.
        let part_of = |cpu: usize| (cpu < 8).then(|| (0..8).filter(|other| other % 2 == cpu % 2).collect());
        let sockets = parts(&[0, 1, 2, 3, 4, 5, 6, 7], part_of).unwrap();
        assert_eq!(sockets, [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!(parts(&[3, 4, 5], part_of).unwrap(), [vec![3, 5], vec![4]]);
        assert_eq!(parts(&[0, 8], part_of), None);
        let table = [
            // ppr:1:socket:PE=4, ppr:2:socket:PE=2, ppr:2:socket.
            ((Bind::Auto, 2, 1, 4), vec![vec![0, 2, 4, 6], vec![1, 3, 5, 7]]),
            ((Bind::Auto, 4, 2, 2), vec![vec![0, 2], vec![4, 6], vec![1, 3], vec![5, 7]]),
            ((Bind::Core, 4, 2, 1), vec![vec![0], vec![2], vec![1], vec![3]]),
            // Fewer ranks than the parts would take: the last part has fewer.
            ((Bind::Auto, 3, 2, 1), vec![vec![0], vec![2], vec![1]]),
            ((Bind::Auto, 1, 2, 1), vec![vec![]]),
            // A part has too few CPUs.
            ((Bind::Core, 2, 1, 5), vec![vec![], vec![]]),
            ((Bind::None, 2, 1, 1), vec![vec![], vec![]]),
        ];
        for ((bind, ranks, each, width), expected) in table {
            let found = cpus_by_part(bind, ranks, &sockets, each, width);
            assert_eq!(found, expected, "{bind:?} {ranks} {each} {width}");
        }
    }

    #[test]
    fn our_library_is_found_last() {
        let path = |given: Option<&str>, folder: &str| {
            let mut environment = BTreeMap::new();
            if let Some(given) = given {
                environment.insert("LD_LIBRARY_PATH".into(), given.into());
            }
            add_libraries(&mut environment, Path::new(folder));
            environment.remove(OsStr::new("LD_LIBRARY_PATH")).map(|path| path.into_string().unwrap())
        };
        for (given, expected) in [
            (None, "/p/lib"),
            (Some(""), "/p/lib"),
            (Some("/a"), "/a:/p/lib"),
            (Some("/a:"), "/a::/p/lib"),
            (Some("/p/lib:/a"), "/p/lib:/a"),
        ] {
            assert_eq!(path(given, "/p/lib").as_deref(), Some(expected));
        }
        assert_eq!(path(Some("/a"), "/p:q/lib").as_deref(), Some("/a"));
        assert_eq!(path(None, "/p:q/lib"), None);
    }

    #[test]
    fn variables_of_another_job_stay_away() {
        for name in
            ["PMI_RANK", "PMIX_NAMESPACE", "POSTHASTE_NODE_FD", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_RANK"]
        {
            assert!(belongs_to_a_job(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "POSTHASTE_EAGER_LIMIT", "OMP_NUM_THREADS", "PMI"] {
            assert!(!belongs_to_a_job(OsStr::new(name)), "{name}");
        }
    }
}
