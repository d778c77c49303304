//! A request becomes a job: which programs, how many processes, where.
//!
//! It starts nothing. Keys of MPI-5.0 §11.8.4 and those that other launchers know; any other key is passed over, as the
//! standard says, and what has a meaning elsewhere and none here is a warning. What must stay true: a request that cannot be
//! fulfilled is one sentence.

use super::{Place, soft};
use crate::hosts::{By, Host, Launcher, NO_SLOTS, Placed, Placement, Plan, place_each};
use crate::spawn::talk::Common;
use crate::spawn::{Bind, Input, Program, process_sets, secret};
use crate::spawning::{Spawning, Spec};
use posthaste_os::machine;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variable that core reads the initial error handler from.
const INITIAL_HANDLER: &str = "POSTHASTE_INITIAL_ERRHANDLER";
/// What a request gets when a process was not started for want of room.
const NO_ROOM: i32 = -1;

/// Keys of hosts, and of files with hosts.
const HOSTS: [&str; 3] = ["host", "hosts", "add-host"];
const HOST_FILES: [&str; 3] = ["hostfile", "machinefile", "add-hostfile"];
const PER_HOST: [&str; 3] = ["ppn", "perhost", "npernode"];
const MAP_BY: [&str; 2] = ["map_by", "map-by"];
const BIND_TO: [&str; 2] = ["bind_to", "bind-to"];
/// Keys of other launchers that say where or how processes run, and are not followed.
const NOT_FOLLOWED: [&str; 7] =
    ["mapper", "npersocket", "ppr", "preload_binary", "preload_files", "rank_by", "rank-by"];

/// A job to be started.
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// The hosts that have ranks, each with its own.
    pub(super) map: Vec<(String, Vec<usize>)>,
    /// The error code of each process that was asked for: not all are started where fewer will do.
    pub(super) codes: Vec<i32>,
    /// Keys that are not followed, each with a sentence.
    pub(super) warnings: Vec<(String, String)>,
}

/// Plans job number `job` of the family that began with `first`. `room`: for how many processes there is room; `busy`: how many run on
/// each host.
pub(super) fn plan(
    request: &Spawning,
    job: usize,
    first: &Common,
    place: &Place<'_>,
    room: Option<usize>,
    busy: &HashMap<&str, usize>,
) -> Result<Planned, String> {
    let own = place.placement.clone().unwrap_or_else(this_host);
    let mut left = room.unwrap_or(usize::MAX);
    let (mut programs, mut placements, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bind, mut warnings) = (first.bind, Vec::new());
    // Commands that will do with fewer processes leave room for those that will not.
    let fixed = |spec: &Spec| if spec.hint(&["soft"]).is_none() { spec.count } else { 0 };
    let mut reserved: usize = request.specs.iter().map(fixed).sum();
    for spec in &request.specs {
        reserved -= fixed(spec);
        let count = count(spec, left.saturating_sub(reserved))?;
        left -= count;
        codes.extend((0..spec.count).map(|index| if index < count { 0 } else { NO_ROOM }));
        placements.push(placement(spec, &own, place)?);
        bind = match spec.hint(&BIND_TO) {
            Some("none") => Bind::None,
            Some("core" | "cpu" | "hwthread") => Bind::Core,
            _ => bind,
        };
        warnings.extend(not_followed(spec));
        programs.push(program(spec, count));
    }
    // Who names hosts, or numbers for them, means those.
    let nobody = HashMap::new();
    let busy_for = |placement: &Placement| if *placement == own { busy } else { &nobody };
    let parts: Vec<_> = placements
        .iter()
        .zip(&programs)
        .map(|(placement, program)| (placement, program.count, busy_for(placement)))
        .collect();
    let placed: Placed = place_each(&parts);
    let size = programs.iter().map(|program| program.count).sum::<usize>();
    if size == 0 {
        return Err("soft allows no processes where there is room for none".into());
    }
    let map = placed.map();
    let preput = request.preput.iter().cloned().chain(process_sets(&programs, &[])?).collect();
    let common = Common {
        name: format!("{}-{job}", first.family),
        spawned: true,
        preput,
        size,
        mapping: placed.mapping,
        secret: secret().map_err(|why| format!("cannot read random bytes from /dev/urandom: {why}"))?,
        programs,
        bind,
        // That counts the ranks of the first job.
        per_part: None,
        input: Input::Ranks(Vec::new()),
        at_once: false,
        ..first.clone()
    };
    let mut launcher: Launcher = place.launcher.clone();
    launcher.own.push(machine::host_name());
    Ok(Planned { plan: Plan { common, seats: placed.seats, launcher }, map, codes, warnings })
}

fn this_host() -> Placement {
    let host = Host { name: machine::host_name(), slots: None };
    Placement { hosts: vec![host], ..Placement::default() }
}

/// How many processes of a command are started where there is room for so many.
fn count(spec: &Spec, room: usize) -> Result<usize, String> {
    match spec.hint(&["soft"]) {
        None if spec.count <= room => Ok(spec.count),
        None => Err(format!(
            "{} processes of {} are to be started, but -usize leaves room for {room}",
            spec.count, spec.name
        )),
        Some(list) if !soft::is_list(list) => {
            Err(format!("soft={list} is no list of numbers, expected a, a:b or a:b:c with commas between them"))
        }
        Some(list) => soft::largest(list, spec.count.min(room)).ok_or_else(|| {
            format!(
                "soft={list} allows none of the numbers from 0 to {} (the processes of {} that are asked for and have room)",
                spec.count.min(room),
                spec.name
            )
        }),
    }
}

fn placement(spec: &Spec, own: &Placement, place: &Place<'_>) -> Result<Placement, String> {
    let named = spec.info.iter().find_map(|(key, value)| match key.as_str() {
        key if HOSTS.contains(&key) => Some((place.listed)(value)),
        key if HOST_FILES.contains(&key) => Some((place.in_file)(value)),
        _ => None,
    });
    let mut hosts = named.unwrap_or_else(|| Ok(own.hosts.clone()))?;
    let mapped = spec.hint(&MAP_BY).and_then(Mapped::read);
    let each = match (spec.hint(&PER_HOST), &mapped) {
        (Some(number), _) => Some(number.to_string()),
        (None, Some(Mapped::PerHost(number))) => Some(number.clone()),
        _ => None,
    };
    if let Some(number) = each {
        let each = number.trim().parse().ok().filter(|&each: &usize| each > 0);
        let each = each.ok_or_else(|| format!("{number:?} is no number of processes for each host"))?;
        hosts.iter_mut().for_each(|host| host.slots = Some(each));
    }
    if hosts.iter().all(|host| host.slots == Some(0)) {
        return Err(NO_SLOTS.into());
    }
    Ok(Placement { hosts, by: if let Some(Mapped::By(by)) = mapped { by } else { own.by } })
}

/// What the key `map_by` asks for.
enum Mapped {
    By(By),
    /// So many on each host.
    PerHost(String),
}

impl Mapped {
    fn read(value: &str) -> Option<Self> {
        match value.to_ascii_lowercase().split(':').collect::<Vec<_>>()[..] {
            ["node" | "host"] => Some(Self::By(By::Node)),
            ["slot" | "core" | "hwthread"] => Some(Self::By(By::Slot)),
            ["ppr", number, "node" | "host"] => Some(Self::PerHost(number.into())),
            _ => None,
        }
    }
}

/// Keys of a command that other launchers know and that have no effect here, each with a sentence.
fn not_followed(spec: &Spec) -> impl Iterator<Item = (String, String)> {
    spec.info.iter().filter_map(|(key, value)| {
        let expected = match key.as_str() {
            key if NOT_FOLLOWED.contains(&key) => "",
            key if MAP_BY.contains(&key) && Mapped::read(value).is_none() => {
                ", expected slot, node or ppr:N:node"
            }
            key if BIND_TO.contains(&key)
                && !["none", "core", "cpu", "hwthread"].contains(&value.as_str()) =>
            {
                ", expected core or none"
            }
            "env" if value.lines().any(|line| !line.contains('=')) => ", expected NAME=value in each line",
            _ => return None,
        };
        Some((key.clone(), format!("the info key {key} has no effect with the value {value:?}{expected}")))
    })
}

fn program(spec: &Spec, count: usize) -> Program {
    let hint = |keys: &[&str]| spec.hint(keys).map(OsString::from);
    let variables = spec.info.iter().filter(|pair| pair.0 == "env").flat_map(|pair| pair.1.lines());
    let variables = variables.filter_map(|pair| pair.split_once('='));
    let handler = spec.hint(&["mpi_initial_errhandler"]).map(|handler| (INITIAL_HANDLER, handler));
    Program {
        count,
        environment: variables.chain(handler).map(|(name, value)| (name.into(), value.into())).collect(),
        replaces_environment: false,
        path: hint(&["path"]),
        directory: hint(&["wdir", "wd", "cwd"]).map(PathBuf::from),
        sets: spec.hint(&["pset"]).into_iter().flat_map(|names| names.split(',')).map(Into::into).collect(),
        arguments: spec.arguments.iter().map(OsString::from).collect(),
        debugger: Vec::new(),
        name: OsString::from(&spec.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::Part;

    fn planned(info: &[(&str, &str)], count: usize, room: Option<usize>) -> Result<Planned, String> {
        let listed =
            |list: &str| Ok(list.split(',').map(|name| Host { name: name.into(), slots: Some(1) }).collect());
        let in_file = |file: &str| Err(format!("no file {file}"));
        let place =
            Place { placement: None, launcher: Launcher::default(), listed: &listed, in_file: &in_file };
        let info = info.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let spec = Spec { count, name: "a".into(), info, ..Spec::default() };
        let other = Spec { count: 1, name: "b".into(), ..Spec::default() };
        let request = Spawning { specs: vec![spec, other], preput: vec![("k".into(), "v".into())] };
        let first = Common {
            family: "f".into(),
            name: "f".into(),
            goes_on: true,
            per_part: Some((Part::Package, 1)),
            umask: Some(0o27),
            ..Common::default()
        };
        plan(&request, 3, &first, &place, room, &HashMap::new())
    }

    #[test]
    fn hints_are_followed() {
        let hints =
            [("wdir", "/tmp"), ("path", "/opt"), ("env", "A=1=2"), ("host", "x,y"), ("unknown", "key")];
        let Planned { plan, map, codes, .. } = planned(&hints, 2, None).unwrap();
        let [first, second] = &plan.common.programs[..] else { panic!() };
        assert_eq!((first.directory.as_deref(), second.directory.as_deref()), (Some("/tmp".as_ref()), None));
        assert_eq!(first.path.as_deref(), Some("/opt".as_ref()));
        assert_eq!(first.environment, [("A".into(), "1=2".into())]);
        assert_eq!((plan.common.size, plan.common.spawned, plan.common.goes_on), (3, true, true));
        assert_eq!((plan.common.per_part, plan.common.umask), (None, Some(0o27)));
        assert_eq!((plan.common.name.as_str(), plan.common.family.as_str()), ("f-3", "f"));
        let here = machine::host_name();
        assert_eq!(map, [("x".into(), vec![0]), ("y".into(), vec![1]), (here, vec![2])]);
        assert_eq!(codes, [0; 3]);
    }

    #[test]
    fn keys_of_other_launchers_have_their_meaning_or_a_warning() {
        let here = machine::host_name();
        for (hints, ranks) in [
            (&[("add-host", "x,y"), ("ppn", "2")][..], [vec![0, 1], vec![2]]),
            (&[("host", "x,y"), ("npernode", "1")], [vec![0, 2], vec![1]]),
            (&[("hosts", "x,y"), ("map_by", "PPR:2:node")], [vec![0, 1], vec![2]]),
            (&[("hosts", "x,y"), ("map_by", "node")], [vec![0, 2], vec![1]]),
        ] {
            let Planned { map, warnings, .. } = planned(hints, 3, None).unwrap();
            let [first, second] = ranks;
            assert_eq!(
                map,
                [("x".into(), first), ("y".into(), second), (here.clone(), vec![3])],
                "{hints:?}"
            );
            assert_eq!(warnings, []);
        }
        assert_eq!(planned(&[("add-hostfile", "x")], 1, None).err().unwrap(), "no file x");
        assert_eq!(
            planned(&[("ppn", "x")], 1, None).err().unwrap(),
            "\"x\" is no number of processes for each host"
        );
        let strange = [("map_by", "socket"), ("mapper", "seq"), ("bind_to", "socket"), ("unknown", "key")];
        let keys: Vec<String> =
            planned(&strange, 1, None).unwrap().warnings.into_iter().map(|said| said.0).collect();
        assert_eq!(keys, ["map_by", "mapper", "bind_to"]);
    }

    #[test]
    fn room_is_a_limit_and_soft_bends_to_it() {
        // One is for the second command.
        let said = planned(&[], 4, Some(3)).err().unwrap();
        assert_eq!(said, "4 processes of a are to be started, but -usize leaves room for 2");
        let Planned { plan, codes, .. } = planned(&[("soft", "1:4")], 4, Some(3)).unwrap();
        assert_eq!((plan.common.size, codes), (3, vec![0, 0, NO_ROOM, NO_ROOM, 0]));
    }

    #[test]
    fn what_cannot_be_read_is_a_sentence() {
        assert_eq!(planned(&[("hostfile", "x")], 1, None).err().unwrap(), "no file x");
        assert!(planned(&[("soft", "9")], 4, None).err().unwrap().starts_with("soft=9 allows none"));
        for list in ["abc", "", "1,x", "1:2:0"] {
            assert!(planned(&[("soft", list)], 4, None).err().unwrap().contains("is no list of numbers"));
        }
        let warnings = planned(&[("env", "A=1\nB")], 1, None).unwrap().warnings;
        assert!(warnings[0].1.ends_with("expected NAME=value in each line"), "{warnings:?}");
        assert_eq!(planned(&[("env", "A=1\nB=")], 1, None).unwrap().warnings, []);
    }
}
