//! The command line of mpiexec.
//!
//! Pure, apart from what it is given. What must stay true: options with one dash and with two are the same, what
//! follows the name of a program belongs to the program, and every mistake is one clear sentence. The options are those
//! of MPI-5.0 §11.5 and those of the commands of Hydra, Intel MPI and Open MPI that run scripts have (`table`); those that ask
//! for what this version does not do are accepted with a warning if the program still runs rightly, and refused with
//! what to write instead if not.

mod hosts;
mod lists;
mod places;
#[cfg(test)]
mod script_tests;
mod shown;
mod table;
#[cfg(test)]
mod tests;

use crate::show;
use hosts::HostList;
use posthaste_core::config::{INITIAL_HANDLER, INITIAL_HANDLERS};
use posthaste_pmi::hosts::{By, Host, Launcher, Means, Placement};
use posthaste_pmi::spawn::{Job, Part, Program};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use table::{KNOWN, Kind};

/// Most ranks in a job: beyond it is a mistake.
const MOST_RANKS: usize = 1 << 16;

/// Most configuration files: beyond it is one that names itself.
const MOST_FILES: usize = 100;

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
    /// How to attach a debugger to the ranks of the job to which this process belongs.
    Attach(u32),
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
    /// Nothing is started.
    pub only_shown: bool,
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
    /// How many parts of a kind it has with one of these usable CPUs (all when empty); `None` where the system does not say.
    pub parts: fn(Part, &[usize]) -> Option<usize>,
}

/// Which of our variables a program gets.
#[derive(Clone, Debug)]
enum Base {
    All,
    None,
    Only(Vec<OsString>),
    Except(Vec<OsString>),
}

impl Base {
    fn of(&self, ours: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        match self {
            Self::All => ours.to_vec(),
            Self::None => Vec::new(),
            Self::Only(names) => ours.iter().filter(|(name, _)| names.contains(name)).cloned().collect(),
            Self::Except(names) => ours.iter().filter(|(name, _)| !names.contains(name)).cloned().collect(),
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
    path: Option<OsString>,
    sets: Vec<String>,
}

struct Reader<'a> {
    around: &'a Surroundings,
    request: Request,
    base: Base,
    global: Vec<(OsString, OsString)>,
    /// Variables of ours that no program gets.
    unset: Vec<OsString>,
    drafts: Vec<(Draft, OsString, Vec<OsString>)>,
    hosts: Option<HostList>,
    per_host: Option<usize>,
    by: By,
    means: Option<Means>,
    /// No rank runs on this host.
    nolocal: bool,
    /// More ranks than slots are a mistake.
    nooversubscribe: bool,
    /// No host is used but this one.
    only_here: bool,
    /// Programs run under a debugger.
    debugger: bool,
    /// Configuration files that were read.
    files: usize,
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
        unset: Vec::new(),
        drafts: Vec::new(),
        hosts: None,
        per_host: None,
        by: By::Slot,
        means: None,
        nolocal: false,
        nooversubscribe: false,
        only_here: false,
        debugger: false,
        files: 0,
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
        if known.option == Kind::Refused {
            return Err(format!("-{name} is not an option here: {}", known.text));
        }
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
            self.files += 1;
            if self.files > MOST_FILES {
                return Err(format!("-{name} {:?}: more than {MOST_FILES} files name each other", values[0]));
            }
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
            Kind::EnvExcept => draft.base = Some(Base::Except(names(&first))),
            Kind::EnvNone => draft.base = Some(Base::None),
            Kind::EnvAll => draft.base = Some(Base::All),
            Kind::Directory => draft.directory = Some(first.into()),
            Kind::Path => draft.path = Some(first),
            Kind::ProcessSet => match lists::process_set(name, &first.to_string_lossy())? {
                (name, None) => draft.sets.push(name),
                (name, Some(ranks)) => self.request.job.sets.push((name, ranks)),
            },
            Kind::GlobalEnv => self.global.push((first, second)),
            Kind::GlobalEnvList => self.base = Base::Only(names(&first)),
            Kind::GlobalEnvExcept => self.base = Base::Except(names(&first)),
            Kind::GlobalEnvNone => self.base = Base::None,
            Kind::GlobalEnvAll => self.base = Base::All,
            Kind::Export => self.export(name, &first),
            Kind::Unset => self.unset.push(first),
            Kind::Stdin => self.request.job.input = lists::input(name, &first.to_string_lossy())?,
            Kind::Timeout => self.request.job.timeout = Some(seconds_of("-timeout", &first)?),
            Kind::Universe => match first.to_str() {
                Some("SYSTEM" | "INFINITE") => self.request.job.limit = None,
                _ => self.request.job.limit = Some(count_of(name, &first)?),
            },
            Kind::Umask => self.request.job.umask = Some(lists::umask(name, &first.to_string_lossy())?),
            Kind::GoesOn => self.request.job.goes_on = true,
            Kind::InitialHandler => {
                let known = INITIAL_HANDLERS.iter().find(|(name, _)| first == *name);
                let names = INITIAL_HANDLERS.map(|(name, _)| name).join(", ");
                let (name, _) = known
                    .ok_or_else(|| format!("-{name} {first:?} is not known, expected one of {names}"))?;
                draft.environment.push((INITIAL_HANDLER.into(), name.into()));
            }
            Kind::OnlyShown => self.request.only_shown = true,
            Kind::Debugger => self.debugger = true,
            Kind::Explain => return Ok(Some(Wish::Explain(process_of(name, &first)?))),
            Kind::Attach => return Ok(Some(Wish::Attach(process_of(name, &first)?))),
            Kind::Help => return Ok(Some(Wish::Help)),
            Kind::Version => return Ok(Some(Wish::Version)),
            Kind::Accepted | Kind::ConfigFile | Kind::Refused => {}
            Kind::Ignored => self.ignore(name, &[first, second]),
            _ if self.show(option, name, &first)? => {}
            _ => self.place(option, name, first, second)?,
        }
        Ok(None)
    }

    /// Warns of an option that has no effect.
    fn ignore(&mut self, name: &str, values: &[OsString]) {
        let given = values.iter().filter(|value| !value.is_empty());
        let values: String = given.map(|value| format!(" {}", value.to_string_lossy())).collect();
        self.request.warnings.push(format!("-{name}{values} has no effect here"));
    }

    /// `NAME`, `NAME=VALUE`, or `NAME*`. Scripts name variables that are not set everywhere.
    fn export(&mut self, option: &str, given: &OsStr) {
        if let Some((name, value)) = given.to_str().and_then(|both| both.split_once('=')) {
            self.global.push((name.into(), value.into()));
            return;
        }
        let found = self.around.environment.iter().filter(|(name, _)| is_named(name, given));
        let before = self.global.len();
        self.global.extend(found.cloned());
        if self.global.len() == before {
            let warning = format!("-{option} {}: there is no such variable", given.display());
            self.request.warnings.push(warning);
        }
    }

    fn finish(mut self) -> Result<Wish, String> {
        self.settle_places()?;
        let ours = &self.around.environment;
        let common = |base: &Base| -> BTreeMap<OsString, OsString> {
            let base = base.of(ours).into_iter();
            let wanted = base.filter(|(name, _)| !self.unset.iter().any(|unset| is_named(name, unset)));
            wanted.chain(self.global.iter().cloned()).collect()
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
                debugger: if self.debugger { DEBUGGER.map(OsString::from).into() } else { Vec::new() },
                environment,
                replaces_environment: draft.base.is_some(),
                path: draft.path,
                directory: draft.directory,
                sets: draft.sets,
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

/// The hosts of a file as `-hostfile` takes it, for a process that asks for others while the launcher sees to them all.
///
/// # Errors
/// One sentence: the file cannot be read, is none or is longer than 1 MiB, or a line is no host.
pub fn hosts_of_file(file: &OsStr, around: &Surroundings) -> Result<Vec<Host>, String> {
    Ok(HostList::read_quickly(file)?.on(around))
}

/// What runs programs with `-gdb`: they run at once, and where one fails, every thread says where it is. The exit code is that of
/// the program.
const DEBUGGER: [&str; 9] = [
    "gdb",
    "-quiet",
    "-batch",
    "-return-child-result",
    "-ex",
    "run",
    "-ex",
    "thread apply all backtrace",
    "--args",
];

/// Whether a variable is called so; a star at the end stands for anything.
fn is_named(name: &OsStr, wanted: &OsStr) -> bool {
    match wanted.as_encoded_bytes().strip_suffix(b"*") {
        Some(beginning) => name.as_encoded_bytes().starts_with(beginning),
        None => name == wanted,
    }
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

fn process_of(option: &str, value: &OsStr) -> Result<u32, String> {
    let pid = value.to_str().and_then(|text| text.parse().ok()).filter(|pid| *pid > 0);
    pid.ok_or_else(|| format!("-{option} {}: not a process id", value.display()))
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
    for known in KNOWN.iter().filter(|known| known.is_shown) {
        let names: Vec<String> = known.names.iter().map(|name| format!("-{name}")).collect();
        let left = format!("{} {}", names.join(", "), known.values.join(" "));
        text.push_str(&format!("  {:<38} {}\n", left.trim_end(), known.text));
    }
    text.push_str(
        "\nExit code: 0, or that of the first rank that failed (128 + number for a signal), the code given to\n\
         MPI_Abort, 124 after -timeout, 127 when there is no such program.\n\
         When a rank fails the others are asked to end (SIGTERM), and killed a second later.\n\
         SIGINT and SIGTERM are passed on to the ranks; a second SIGINT kills them.\n\
         SIGUSR1 is passed on; on SIGUSR2, and before -timeout ends the job, mpiexec says what each rank waits for.\n\
         Lines of output are kept whole up to 4 MiB. Standard input goes to rank 0. Options end at the program's name, or at --.\n\
         Without -hosts and -hostfile, the files named by HYDRA_HOST_FILE, I_MPI_HYDRA_HOST_FILE and\n\
         OMPI_MCA_orte_default_hostfile are looked at, then those of PBS and LSF, then the Slurm allocation.\n\
         Options of other launchers that are not here stand in docs/mpiexec.md.\n",
    );
    text
}
