//! Which hosts a job may use: lists, host files of several launchers, variables, Slurm allocations.
//!
//! It reads files and the variables that it is given. What must stay true: what is no host name never reaches a command
//! line; every mistake is one sentence that names the place.

use super::Surroundings;
use posthaste_pmi::hosts::{Host, Launcher, Means};
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::path::Path;

/// Variables of other launchers that name a host file.
const FILES: &[&str] = &[
    "HYDRA_HOST_FILE",
    "I_MPI_HYDRA_HOST_FILE",
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
];
/// Those of batch systems: a line for each slot.
const BATCH: &[&str] = &["PBS_NODEFILE", "LSB_DJOB_HOSTFILE"];
/// Variables with arguments for the program that reaches other hosts.
const ARGUMENTS: &[&str] = &[
    "HYDRA_LAUNCH_EXTRA_ARGS",
    "HYDRA_LAUNCHER_EXTRA_ARGS",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
    "OMPI_MCA_plm_rsh_args",
];
/// Variables that name that program.
const PROGRAMS: &[&str] = &[
    "HYDRA_LAUNCHER_EXEC",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC",
    "OMPI_MCA_plm_rsh_agent",
    "PRTE_MCA_plm_ssh_agent",
];
/// Variables that say what kind of program it is.
const MEANS: &[&str] = &["HYDRA_LAUNCHER", "I_MPI_HYDRA_BOOTSTRAP"];

/// Those that say how many ranks a host has for which nobody else says so. `I_MPI_PERHOST` may be a word, too.
const SLOTS: &[&str] =
    &["I_MPI_PERHOST", "OMPI_MCA_orte_set_default_slots", "PRTE_MCA_prte_set_default_slots"];

/// Longest host file that a running process names.
const MOST_BYTES: u64 = 1 << 20;

/// Hosts as somebody has written them down.
#[derive(Debug)]
pub(super) struct HostList(Vec<Host>);

fn variable<'a>(around: &'a Surroundings, name: &str) -> Option<&'a OsStr> {
    let found = around.environment.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
}

impl HostList {
    /// Hosts with commas between them.
    pub(super) fn parse(list: &str) -> Result<Self, String> {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let hosts: Vec<Host> = entries
            .map(host)
            .collect::<Result<_, _>>()
            .map_err(|why| format!("the list of hosts {list:?}: {why}"))?;
        if hosts.is_empty() { Err(format!("the list of hosts {list:?} names none")) } else { Ok(Self(hosts)) }
    }

    /// The same with ranges of numbers.
    pub(super) fn group(list: &str) -> Result<Self, String> {
        let names = node_list(list).ok_or_else(|| format!("the hosts {list:?} are no list as n[01-04,7]"))?;
        Ok(Self(names.into_iter().map(|name| Host { name, slots: None }).collect()))
    }

    /// Hosts in the lines of a file.
    pub(super) fn read(path: &OsStr) -> Result<Self, String> {
        let shown = path.to_string_lossy();
        let text = std::fs::read_to_string(path)
            .map_err(|why| format!("cannot read the host file {shown:?}: {why}"))?;
        Self::from_file(&shown, &text)
    }

    /// The same where somebody waits who must not wait for long: of a regular file that is not too long.
    pub(super) fn read_quickly(path: &OsStr) -> Result<Self, String> {
        let why = match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => "it is no regular file".into(),
            Ok(found) if found.len() > MOST_BYTES => format!("it is longer than {MOST_BYTES} bytes"),
            Ok(_) => return Self::read(path),
            Err(why) => why.to_string(),
        };
        Err(format!("cannot read the host file {:?}: {why}", path.to_string_lossy()))
    }

    fn from_file(name: &str, text: &str) -> Result<Self, String> {
        let mut hosts = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                hosts
                    .push(host(line).map_err(|why| format!("the host file {name:?}, line {number}: {why}"))?);
            }
        }
        if hosts.is_empty() { Err(format!("the host file {name:?} names no host")) } else { Ok(Self(hosts)) }
    }

    /// Hosts in the file that a variable of another launcher names.
    pub(super) fn from_variables(around: &Surroundings) -> Result<Option<Self>, String> {
        // Variables of batch systems come along to hosts and containers that do not have the file.
        let is_meant = |name: &str, path: &OsStr| !BATCH.contains(&name) || Path::new(path).exists();
        let named = FILES.iter().chain(BATCH).find_map(|name| Some((name, variable(around, name)?)));
        let named = named.filter(|(name, path)| is_meant(name, path));
        named
            .map(|(name, path)| Self::read(path).map_err(|why| format!("{why} (named by {name})")))
            .transpose()
    }

    /// Hosts of the Slurm allocation that we are in.
    pub(super) fn from_slurm(around: &Surroundings) -> Result<Option<Self>, String> {
        let text = |name: &str| variable(around, name).and_then(OsStr::to_str);
        let Some(list) = text("SLURM_JOB_NODELIST").or(text("SLURM_NODELIST")) else { return Ok(None) };
        let wrong = |name: &str, value: &str| format!("{name}={value:?} is not what Slurm sets");
        let names = node_list(list).ok_or_else(|| wrong("SLURM_JOB_NODELIST", list))?;
        let slots = match text("SLURM_TASKS_PER_NODE") {
            None => vec![None; names.len()],
            Some(tasks) => {
                let slots = repeated(tasks).ok_or_else(|| wrong("SLURM_TASKS_PER_NODE", tasks))?;
                slots.into_iter().map(Some).chain(std::iter::repeat(None)).take(names.len()).collect()
            }
        };
        Ok(Some(Self(names.into_iter().zip(slots).map(|(name, slots)| Host { name, slots }).collect())))
    }

    /// Each host once; this one by its name.
    pub(super) fn on(self, around: &Surroundings) -> Vec<Host> {
        let mut hosts: Vec<Host> = Vec::new();
        for mut host in self.0 {
            if is_own(&host.name, around) {
                host.name.clone_from(&around.host);
            }
            match hosts.iter_mut().find(|known| known.name == host.name) {
                // Named once for each rank, as batch systems do.
                Some(known) => known.slots = Some(known.slots.unwrap_or(1) + host.slots.unwrap_or(1)),
                None => hosts.push(host),
            }
        }
        hosts
    }
}

fn is_own(name: &str, around: &Surroundings) -> bool {
    let own = around.host.as_str();
    let short = own.split('.').next().unwrap_or(own);
    ["localhost", own, short].contains(&name)
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback() || (around.addresses)().contains(&address))
}

/// `host`, `host:4`, `[address]:4`, `host slots=4`; other words behind it are for other launchers.
fn host(entry: &str) -> Result<Host, String> {
    let mut words = entry.split_whitespace();
    let first = words.next().unwrap_or_default();
    let number = |text: &str| {
        text.parse::<usize>().map_err(|_| format!("{entry:?}: {text:?} is not a number of ranks"))
    };
    let (name, count) = match first.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => (address, rest.strip_prefix(':')),
        // An address of IPv6 has colons of its own.
        None if first.matches(':').count() > 1 => (first, None),
        None => first.split_once(':').map_or((first, None), |(name, count)| (name, Some(count))),
    };
    let mut slots = count.map(number).transpose()?;
    for word in words {
        if let Some((key, value)) = word.split_once('=')
            && key.eq_ignore_ascii_case("slots")
        {
            slots = Some(number(value)?);
        }
    }
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.@:%".contains(c);
    if name.is_empty() || name.starts_with('-') || !name.chars().all(good) {
        return Err(format!("{name:?} is not the name of a host"));
    }
    Ok(Host { name: name.into(), slots })
}

/// Names with ranges, as Slurm writes them: `n[01-03,7],gpu`.
fn node_list(list: &str) -> Option<Vec<String>> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(expanded(&list[start..at])?);
                start = at + 1;
            }
            _ => {}
        }
    }
    // All brackets are closed, and what comes out are names of hosts.
    let whole = start > list.len();
    let whole = whole && names.iter().all(|name| host(name).is_ok_and(|host| host.name == *name));
    whole.then_some(names)
}

/// The names that one entry stands for.
fn expanded(entry: &str) -> Option<Vec<String>> {
    /// Beyond this it is a mistake.
    const MOST: usize = 1 << 16;
    let Some((front, rest)) = entry.split_once('[') else { return Some(vec![entry.into()]) };
    let (ranges, back) = rest.split_once(']')?;
    let backs = expanded(back)?;
    let mut names = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (low, high) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if high.checked_sub(low)? >= MOST || names.len() > MOST {
            return None;
        }
        let width = first.len();
        for number in low..=high {
            names.extend(backs.iter().map(|back| format!("{front}{number:0width$}{back}")));
        }
    }
    Some(names)
}

/// Numbers as Slurm writes them: `4(x2),1`.
fn repeated(list: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for word in list.split(',') {
        let (number, times) = match word.split_once("(x") {
            Some((number, times)) => (number, times.strip_suffix(')')?.parse::<usize>().ok()?),
            None => (word, 1),
        };
        numbers.extend(std::iter::repeat_n(number.parse::<usize>().ok()?, times.min(1 << 16)));
    }
    Some(numbers)
}

/// A means of reaching other hosts, by any of the names that launchers use.
pub(super) fn means(name: &str) -> Option<Means> {
    Some(match name {
        "ssh" | "rsh" => Means::Ssh,
        "srun" | "slurm" => Means::Srun,
        "fork" => Means::Fork,
        _ => return None,
    })
}

/// How many ranks a host has for which nobody says so, if a variable of another launcher does.
pub(super) fn usual_slots(around: &Surroundings) -> Option<usize> {
    let slots = SLOTS.iter().find_map(|name| variable(around, name)?.to_str()?.parse().ok());
    slots.filter(|slots| *slots > 0)
}

/// The means that a variable of another launcher names, if we know it.
pub(super) fn means_from_variables(around: &Surroundings) -> Option<Means> {
    MEANS.iter().find_map(|name| means(variable(around, name)?.to_str()?))
}

/// Completes what the command line says of the way to other hosts by what variables say.
pub(super) fn complete(launcher: &mut Launcher, around: &Surroundings) {
    let words = |name: &&str| -> Vec<OsString> {
        let value = variable(around, name).unwrap_or_default().to_string_lossy().into_owned();
        value.split_whitespace().map(OsString::from).collect()
    };
    if launcher.program.is_none() {
        // It may come with arguments.
        let mut program =
            PROGRAMS.iter().map(words).find(|words| !words.is_empty()).unwrap_or_default().into_iter();
        launcher.program = program.next();
        launcher.arguments.extend(program);
    }
    launcher.arguments.extend(ARGUMENTS.iter().flat_map(words));
    launcher.own = vec![around.host.clone()];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(variables: &[(&str, &str)]) -> Surroundings {
        let pair = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        Surroundings {
            environment: variables.iter().map(pair).collect(),
            host: "n1".into(),
            addresses: Vec::new,
            parts: |_, _| None,
        }
    }

    fn shown(hosts: &[Host]) -> String {
        let one = |host: &Host| match host.slots {
            Some(slots) => format!("{}:{slots}", host.name),
            None => host.name.clone(),
        };
        hosts.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn host_files_of_all_launchers_are_read() {
        let text = "# nodes\na\n\nb:4\nc slots=2 max_slots=4 # fast\nme@d.cluster:3 binding=x\nfe80::1%eth0\n[::5]:2\n";
        let list = HostList::from_file("f", text).unwrap();
        assert_eq!(shown(&list.0), "a b:4 c:2 me@d.cluster:3 fe80::1%eth0 ::5:2");
        let twice = HostList::from_file("f", "a\nn1\na\nlocalhost\na slots=2\n").unwrap();
        assert_eq!(shown(&twice.on(&around(&[]))), "a:4 n1:2");
    }

    #[test]
    fn mistakes_in_host_files_are_sentences() {
        for (text, part) in [
            ("# none\n", "names no host"),
            ("a\nb:x\n", "line 2: \"b:x\": \"x\" is not a number"),
            ("a slots=many", "\"many\""),
            ("-oProxyCommand=evil", "is not the name of a host"),
            ("a;b", "is not the name of a host"),
        ] {
            let said = HostList::from_file("f", text).unwrap_err();
            assert!(said.contains(part) && said.contains("\"f\""), "{said}");
        }
        assert!(HostList::parse(" , ").unwrap_err().contains("names none"));
    }

    #[test]
    fn slurm_s_lists_are_expanded() {
        let list = |nodes, tasks| {
            let around = around(&[("SLURM_JOB_NODELIST", nodes), ("SLURM_TASKS_PER_NODE", tasks)]);
            HostList::from_slurm(&around).map(|list| shown(&list.unwrap().0))
        };
        assert_eq!(list("n[08-10,12],gpu", "4(x2),1").unwrap(), "n08:4 n09:4 n10:1 n12 gpu");
        assert_eq!(list("r[1-2]n[3-4]", "2(x4)").unwrap(), "r1n3:2 r1n4:2 r2n3:2 r2n4:2");
        for (nodes, tasks) in
            [("n[1-", "1"), ("n[2-1]", "1"), ("n1", "x"), ("n]1[", "1"), ("n[1-99999999]", "1"), ("-x", "1")]
        {
            assert!(list(nodes, tasks).is_err(), "{nodes} {tasks}");
        }
        assert!(HostList::from_slurm(&around(&[])).unwrap().is_none());
    }

    #[test]
    fn variables_of_other_launchers_count() {
        let around = around(&[
            ("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10"),
            ("OMPI_MCA_plm_rsh_agent", "/usr/bin/ssh -q"),
            ("HYDRA_LAUNCHER", "slurm"),
            ("I_MPI_HYDRA_HOST_FILE", "/no/such/file"),
        ]);
        assert_eq!(usual_slots(&around), None);
        let mut launcher = Launcher::default();
        complete(&mut launcher, &around);
        assert_eq!(launcher.program.as_deref(), Some(OsStr::new("/usr/bin/ssh")));
        assert_eq!(launcher.arguments, ["-q", "-o", "ConnectionAttempts=10"]);
        assert_eq!(means_from_variables(&around), Some(Means::Srun));
        let said = HostList::from_variables(&around).unwrap_err();
        assert!(said.contains("/no/such/file") && said.contains("I_MPI_HYDRA_HOST_FILE"), "{said}");
    }
}
