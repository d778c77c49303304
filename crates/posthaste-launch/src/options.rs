//! The command line of mpiexec.
//!
//! Pure, apart from what it is given. What must stay true: options with one dash and with two are the same, what
//! follows the name of a program belongs to the program, and every mistake is one clear sentence. The options are those
//! of MPI-5.0 §11.5 and the common ones of MPICH's and Open MPI's commands; those that ask for what this version does
//! not do are accepted with a warning if the program still runs rightly.

mod hosts;
mod lists;
mod table;
#[cfg(test)]
mod tests;

use crate::show::{self, Pattern};
use hosts::HostList;
use posthaste_core::config::{INITIAL_HANDLER, INITIAL_HANDLERS};
use posthaste_pmi::hosts::{By, Host, Launcher, Means, Placement};
use posthaste_pmi::spawn::{Bind, Job, Program};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use table::{KNOWN, Kind};

/// Most ranks in a job: beyond it is a mistake.
const MOST_RANKS: usize = 1 << 16;

/// What the user wants.
#[derive(Clone, Debug)]
pub enum Wish {
    /// Run a job.
    Run(Box<Request>),
    /// The help text.
    Help,
    /// Name and version.
    Version,
    /// What the job is doing to which this process belongs.
    Explain(u32),
}

/// A job, and how it is to be shown.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What to start.
    pub job: Job,
    /// What becomes of its output.
    pub show: show::Wishes,
    /// Sentences about options that have no effect.
    pub warnings: Vec<String>,
    /// Where the ranks run; this host alone when absent.
    pub placement: Option<Placement>,
    /// How other hosts are reached.
    pub launcher: Launcher,
}

/// What the command line is read against.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Our environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Name of this host.
    pub host: String,
    /// Its addresses; asked for only when hosts are named.
    pub addresses: fn() -> Vec<IpAddr>,
}

/// Which of our variables a program gets.
#[derive(Clone, Debug)]
enum Base {
    All,
    None,
    Only(Vec<OsString>),
}

impl Base {
    fn of(&self, ours: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        match self {
            Self::All => ours.to_vec(),
            Self::None => Vec::new(),
            Self::Only(names) => ours.iter().filter(|(name, _)| names.contains(name)).cloned().collect(),
        }
    }
}

/// One program as the command line says it.
#[derive(Debug, Default)]
struct Draft {
    count: Option<usize>,
    base: Option<Base>,
    environment: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
}

struct Reader<'a> {
    around: &'a Surroundings,
    request: Request,
    base: Base,
    global: Vec<(OsString, OsString)>,
    drafts: Vec<(Draft, OsString, Vec<OsString>)>,
    hosts: Option<HostList>,
    per_host: Option<usize>,
    by: By,
    means: Option<Means>,
}

/// Reads the arguments, without our own name.
///
/// # Errors
/// One sentence about the first mistake.
pub fn parse(arguments: impl IntoIterator<Item = OsString>, around: &Surroundings) -> Result<Wish, String> {
    let mut reader = Reader {
        around,
        request: Request::default(),
        base: Base::All,
        global: Vec::new(),
        drafts: Vec::new(),
        hosts: None,
        per_host: None,
        by: By::Slot,
        means: None,
    };
    if let Some((_, seconds)) = around.environment.iter().find(|(name, _)| name == "MPIEXEC_TIMEOUT") {
        reader.request.job.timeout = Some(seconds_of("MPIEXEC_TIMEOUT", seconds)?);
    }
    let mut arguments: VecDeque<OsString> = arguments.into_iter().collect();
    loop {
        let mut draft = Draft::default();
        let mut options = 0;
        while let Some(option) = arguments.pop_front_if(|argument| is_option(argument)) {
            options += 1;
            if option == "--" {
                break;
            }
            if let Some(wish) = reader.option(&option, &mut arguments, &mut draft)? {
                return Ok(wish);
            }
        }
        let Some(program) = arguments.pop_front_if(|argument| argument != ":") else {
            let after = if options > 0 || !reader.drafts.is_empty() { " after the options" } else { "" };
            return Err(format!("there is no program to run{after}; -help shows the options"));
        };
        let own: Vec<OsString> =
            std::iter::from_fn(|| arguments.pop_front_if(|argument| argument != ":")).collect();
        reader.drafts.push((draft, program, own));
        if arguments.pop_front().is_none() {
            break;
        }
    }
    reader.finish()
}

fn is_option(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.len() > 1 && bytes[0] == b'-'
}

impl Reader<'_> {
    /// Takes one option with its values.
    fn option(
        &mut self,
        given: &OsStr,
        rest: &mut VecDeque<OsString>,
        draft: &mut Draft,
    ) -> Result<Option<Wish>, String> {
        let text = given.to_str().ok_or_else(|| format!("{given:?} is not an option; -help shows them"))?;
        let name = text.trim_start_matches('-');
        let (name, attached) = match name.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (name, None),
        };
        let known = KNOWN
            .iter()
            .find(|known| known.names.contains(&name))
            .ok_or_else(|| format!("there is no option {text:?}; -help shows the options"))?;
        let mut values: Vec<OsString> = attached.into_iter().collect();
        if known.values.is_empty() && !values.is_empty() {
            return Err(format!("-{name} takes no value"));
        }
        while values.len() < known.values.len() {
            let value = rest.pop_front().ok_or_else(|| {
                format!("-{name} needs {} after it", known.values[values.len()..].join(" and "))
            })?;
            // `-env NAME=VALUE` is as good as `-env NAME VALUE`.
            let pair = values.is_empty() && known.values == ["NAME", "VALUE"];
            if let Some((left, right)) = value.to_str().and_then(|both| both.split_once('=')).filter(|_| pair)
            {
                values = vec![left.into(), right.into()];
            } else {
                values.push(value);
            }
        }
        if known.option == Kind::ConfigFile {
            for word in config_file(&values[0])?.into_iter().rev() {
                rest.push_front(word);
            }
            return Ok(None);
        }
        self.apply(known.option, name, values, draft)
    }

    fn apply(
        &mut self,
        option: Kind,
        name: &str,
        values: Vec<OsString>,
        draft: &mut Draft,
    ) -> Result<Option<Wish>, String> {
        let mut values = values.into_iter();
        let first = values.next().unwrap_or_default();
        let second = values.next().unwrap_or_default();
        match option {
            Kind::Count => draft.count = Some(count_of(name, &first)?),
            Kind::Env => draft.environment.push((first, second)),
            Kind::EnvList => draft.base = Some(Base::Only(names(&first))),
            Kind::EnvNone => draft.base = Some(Base::None),
            Kind::EnvAll => draft.base = Some(Base::All),
            Kind::Directory => draft.directory = Some(first.into()),
            Kind::GlobalEnv => self.global.push((first, second)),
            Kind::GlobalEnvList => self.base = Base::Only(names(&first)),
            Kind::GlobalEnvNone => self.base = Base::None,
            Kind::GlobalEnvAll => self.base = Base::All,
            Kind::Export => self.export(&first),
            Kind::Label => self.request.show.label = true,
            Kind::Timestamps => self.request.show.timestamps = true,
            Kind::OutputFiles => self.output_files(&first.to_string_lossy()),
            Kind::OutPattern => self.file_pattern(0, name, &first)?,
            Kind::ErrPattern => self.file_pattern(1, name, &first)?,
            Kind::RankMap => self.request.show.rank_map = true,
            Kind::Display => self.display(&first.to_string_lossy()),
            Kind::Stdin => self.request.job.input = lists::input(name, &first.to_string_lossy())?,
            Kind::CpuSet => self.request.job.cpu_set = lists::cpus(name, &first.to_string_lossy())?,
            Kind::Timeout => self.request.job.timeout = Some(seconds_of("-timeout", &first)?),
            Kind::Universe => match first.to_str() {
                Some("SYSTEM" | "INFINITE") => self.request.job.limit = None,
                _ => self.request.job.limit = Some(count_of(name, &first)?),
            },
            Kind::GoesOn => self.request.job.goes_on = true,
            Kind::InitialHandler => {
                let known = INITIAL_HANDLERS.iter().find(|(name, _)| first == *name);
                let names = INITIAL_HANDLERS.map(|(name, _)| name).join(", ");
                let (name, _) = known
                    .ok_or_else(|| format!("-{name} {first:?} is not known, expected one of {names}"))?;
                draft.environment.push((INITIAL_HANDLER.into(), name.into()));
            }
            Kind::BindTo => {
                // Ranks that outnumber the CPUs are neither bound nor refused, which is what these ask for.
                let given = first.to_string_lossy();
                let place = ["overload-allowed", "if-supported"]
                    .iter()
                    .find_map(|qualifier| given.strip_suffix(qualifier)?.strip_suffix(':'))
                    .unwrap_or(&given);
                self.request.job.bind = match place {
                    "none" => Bind::None,
                    "core" | "cpu" | "hwthread" => Bind::Core,
                    "socket" | "numa" | "l3cache" | "l2cache" | "l1cache" | "board" | "user" => {
                        let warning = format!("-bind-to {place} has no effect here: ranks are not bound");
                        self.request.warnings.push(warning);
                        Bind::None
                    }
                    _ => return Err(format!("-bind-to {first:?} is not known, expected none or core")),
                }
            }
            Kind::Hosts => self.hosts = Some(HostList::parse(&first.to_string_lossy())?),
            Kind::HostFile => self.hosts = Some(HostList::read(&first)?),
            Kind::PerHost => self.per_host = Some(count_of(name, &first)?),
            Kind::MapBy => self.map_by(&first.to_string_lossy())?,
            Kind::Launcher => match hosts::means(&first.to_string_lossy()) {
                Some(means) => self.means = Some(means),
                None => return Err(format!("-{name} {first:?} is not known, expected ssh, srun or fork")),
            },
            Kind::LauncherProgram => self.request.launcher.program = Some(first),
            Kind::ConfigFile => {}
            Kind::Counters => self.request.show.counters = true,
            Kind::Explain => {
                let pid = first.to_str().and_then(|text| text.parse().ok()).filter(|pid| *pid > 0);
                let wrong = || format!("-explain {}: not a process id", first.display());
                return Ok(Some(Wish::Explain(pid.ok_or_else(wrong)?)));
            }
            Kind::Help => return Ok(Some(Wish::Help)),
            Kind::Version => return Ok(Some(Wish::Version)),
            Kind::Accepted => {}
            Kind::Ignored => {
                let values: String = [first, second]
                    .iter()
                    .filter(|value| !value.is_empty())
                    .map(|value| format!(" {}", value.to_string_lossy()))
                    .collect();
                self.request.warnings.push(format!("-{name}{values} has no effect here"));
            }
        }
        Ok(None)
    }

    /// `-x NAME` or `-x NAME=VALUE`. Scripts name variables that are not set everywhere.
    fn export(&mut self, given: &OsStr) {
        if let Some((name, value)) = given.to_str().and_then(|both| both.split_once('=')) {
            self.global.push((name.into(), value.into()));
            return;
        }
        match self.around.environment.iter().find(|(name, _)| name == given) {
            Some(found) => self.global.push(found.clone()),
            None => {
                self.request.warnings.push(format!("-x {}: there is no such variable", given.display()));
            }
        }
    }

    /// `FILE` or `FILE:nocopy`.
    fn output_files(&mut self, given: &str) {
        let (file, copied) = match given.strip_suffix(":nocopy") {
            Some(file) => (file, false),
            None => (given.strip_suffix(":copy").unwrap_or(given), true),
        };
        let pattern = Pattern::numbered(file);
        self.request.show.files = [Some(pattern.clone()), Some(pattern)];
        self.request.show.copied = copied;
    }

    fn file_pattern(&mut self, stream: usize, name: &str, given: &OsStr) -> Result<(), String> {
        let given = given.to_str().filter(|given| !given.is_empty());
        let given = given.ok_or_else(|| format!("-{name} needs the name of a file after it"))?;
        let pattern = Pattern::parse(given).map_err(|why| format!("-{name} {why}"))?;
        self.request.show.files[stream] = Some(pattern);
        self.request.show.copied = false;
        Ok(())
    }

    /// `map`, and other words for what we do not print.
    fn display(&mut self, given: &str) {
        for word in given.split(',') {
            match word {
                "map" | "map-devel" => self.request.show.rank_map = true,
                _ => self.request.warnings.push(format!("-display {word} has no effect here")),
            }
        }
    }

    fn map_by(&mut self, given: &str) -> Result<(), String> {
        let mut words = given.split(':');
        match words.next() {
            Some("node" | "host") => self.by = By::Node,
            Some("slot" | "core" | "hwthread" | "cpu" | "socket" | "package" | "numa" | "l3cache") => {
                self.by = By::Slot
            }
            // Qualifiers of the default.
            Some("") if words.clone().next().is_some() => {}
            Some("ppr") if words.clone().nth(1).is_some_and(|place| place == "node") => {
                self.per_host = Some(count_of("map-by ppr", OsStr::new(words.next().unwrap_or_default()))?);
            }
            _ => return Err(format!("-map-by {given:?} is not known, expected slot, node or ppr:N:node")),
        }
        Ok(())
    }

    /// Settles where the ranks run: what the command line says, else a variable, else the Slurm allocation.
    fn place(&mut self) -> Result<(), String> {
        let named = match self.hosts.take() {
            Some(hosts) => Some(hosts),
            None => HostList::from_variables(self.around)?,
        };
        let slurm = HostList::from_slurm(self.around)?;
        hosts::complete(&mut self.request.launcher, self.around);
        let means = self.means.or_else(|| hosts::means_from_variables(self.around));
        let usual = if slurm.is_some() { Means::Srun } else { Means::Ssh };
        self.request.launcher.means = means.unwrap_or(usual);
        let Some(hosts) = named.or(slurm) else { return Ok(()) };
        let mut hosts = hosts.on(self.around);
        for host in &mut hosts {
            host.slots = self.per_host.or(host.slots);
        }
        if let ([draft], Some(each)) = (&mut self.drafts[..], self.per_host) {
            draft.0.count.get_or_insert(each * hosts.len());
        }
        let here = hosts.iter().all(|host| host.name == self.around.host);
        if !here || self.request.launcher.means == Means::Fork {
            self.request.placement = Some(Placement { hosts, by: self.by });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Wish, String> {
        self.place()?;
        let ours = &self.around.environment;
        let common = |base: &Base| -> BTreeMap<OsString, OsString> {
            base.of(ours).into_iter().chain(self.global.iter().cloned()).collect()
        };
        self.request.job.environment = common(&self.base).into_iter().collect();
        let mut ranks = 0usize;
        for (draft, name, arguments) in self.drafts {
            let mut environment: Vec<_> = draft.base.iter().flat_map(&common).collect();
            environment.extend(draft.environment);
            let count = draft.count.unwrap_or(1);
            ranks += count;
            self.request.job.programs.push(Program {
                count,
                name,
                arguments,
                environment,
                replaces_environment: draft.base.is_some(),
                path: None,
                directory: draft.directory,
            });
        }
        if ranks > MOST_RANKS {
            return Err(format!("{ranks} ranks are more than the {MOST_RANKS} of the largest job"));
        }
        if let Some(limit) = self.request.job.limit.filter(|&limit| limit < ranks) {
            return Err(format!("-usize {limit} leaves no room for {ranks} ranks"));
        }
        Ok(Wish::Run(Box::new(self.request)))
    }
}

/// The hosts of a list as `-hosts` takes it.
///
/// # Errors
/// One sentence about the first entry that is no host.
pub fn hosts_of_list(list: &str, around: &Surroundings) -> Result<Vec<Host>, String> {
    Ok(HostList::parse(list)?.on(around))
}

/// The hosts of a file as `-hostfile` takes it.
///
/// # Errors
/// One sentence: the file cannot be read, or a line is no host.
pub fn hosts_of_file(file: &OsStr, around: &Surroundings) -> Result<Vec<Host>, String> {
    Ok(HostList::read(file)?.on(around))
}

fn names(list: &OsStr) -> Vec<OsString> {
    list.to_string_lossy().split(',').map(|name| OsString::from(name.trim())).collect()
}

fn count_of(option: &str, value: &OsStr) -> Result<usize, String> {
    let text = value.to_string_lossy();
    match text.trim().parse::<usize>() {
        Ok(0) => Err(format!("-{option} 0: the number of ranks must be 1 or more")),
        Ok(count) if count > MOST_RANKS => {
            Err(format!("-{option} {count}: more than the {MOST_RANKS} ranks of the largest job"))
        }
        Ok(count) => Ok(count),
        Err(_) => Err(format!("-{option} {text}: not a number, expected how many ranks to start")),
    }
}

/// The words of a configuration file: each line is what stands between two colons.
fn config_file(path: &OsStr) -> Result<Vec<OsString>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|why| format!("cannot read the configuration file {:?}: {why}", path.to_string_lossy()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let blocks: Vec<Vec<OsString>> = lines.map(words_of).collect();
    Ok(blocks.join(&OsString::from(":")))
}

/// The words of a line; quotes of either kind hold words together.
fn words_of(line: &str) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => words.extend(word.take().map(OsString::from)),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

fn seconds_of(name: &str, value: &OsStr) -> Result<Duration, String> {
    let text = value.to_string_lossy();
    let seconds = text.trim().parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("{name} {text}: expected a number of seconds above 0"))
}

/// The help text of `name`.
pub fn help(name: &str) -> String {
    let mut text = format!(
        "usage: {name} [options] program [arguments] [: [options] program [arguments]]...\n\n\
         Starts the ranks of a message-passing job and waits for them.\n\
         Options have one dash or two.\n\n"
    );
    for known in KNOWN.iter().filter(|known| !known.help.is_empty()) {
        let names: Vec<String> = known.names.iter().map(|name| format!("-{name}")).collect();
        let left = format!("{} {}", names.join(", "), known.values.join(" "));
        text.push_str(&format!("  {:<38} {}\n", left.trim_end(), known.help));
    }
    text.push_str(
        "\nExit code: 0, or that of the first rank that failed (128 + number for a signal), the code given to\n\
         MPI_Abort, 124 after -timeout, 127 when there is no such program.\n\
         When a rank fails the others are asked to end (SIGTERM), and killed a second later.\n\
         SIGINT and SIGTERM are passed on to the ranks; a second SIGINT kills them.\n\
         SIGUSR1 is passed on; on SIGUSR2, and before -timeout ends the job, mpiexec says what each rank waits for.\n\
         Lines of output are kept whole up to 4 MiB. Standard input goes to rank 0. Options end at the program's name, or at --.\n\
         Without -hosts and -hostfile, the files named by HYDRA_HOST_FILE, I_MPI_HYDRA_HOST_FILE and\n\
         OMPI_MCA_orte_default_hostfile are looked at, then the Slurm allocation.\n",
    );
    text
}
