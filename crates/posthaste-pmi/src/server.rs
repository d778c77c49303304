//! The launcher's side of PMI-1.1, as a state machine without I/O: lines in, replies and events out.
//!
//! What must stay true: every request that has a reply gets exactly one, also when it is nonsense; nothing a rank sends
//! panics or grows without bound. Answers are those of version 1.1, whatever 1.x the rank speaks.

use crate::kvs::{Fence, Kvs, LONGEST_KEY, LONGEST_VALUE};
use crate::line::{BadLine, Emit, Line, sendable_words};
use crate::spawning::{self, Blocks, Pair, Spawning};
use std::collections::BTreeMap;

/// What the launcher has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a line, which has its end already, to a rank.
    Reply {
        /// Who gets it.
        rank: usize,
        /// The line.
        line: String,
    },
    /// All ranks here wait at the fence, which the caller opens with [`Server::open`] once all others of the job do:
    /// the pairs that were put here since it last opened.
    Fence(Vec<(String, String)>),
    /// A rank asks for what only one server of the job can know: see [`Names`].
    Ask {
        /// Who asks.
        rank: usize,
        /// What it asks.
        line: String,
    },
    /// A rank asks for a new job, and waits for the answer.
    Spawn {
        /// Who asks.
        rank: usize,
        /// What it asks for.
        request: Spawning,
    },
    /// A rank asks for the end of the job.
    Abort {
        /// The rank that asks.
        rank: usize,
        /// The exit code it asks for.
        code: i32,
    },
}

/// How far a rank has come, as far as it has said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It has not introduced itself.
    #[default]
    Outside,
    /// Between init and finalize.
    Inside,
    /// After finalize.
    Finalised,
}

#[derive(Clone, Debug, Default)]
struct Member {
    phase: Phase,
    /// It has introduced itself, whatever it did then.
    has_come: bool,
    /// It has asked where its parents wait.
    has_asked: bool,
    /// A command of several lines.
    blocks: Blocks,
    application: usize,
}

/// The state of the part of a job that runs on one host. Its ranks are numbered from 0 here, whatever their number in
/// the job is.
#[derive(Debug)]
pub struct Server {
    name: String,
    /// How many processes the program may count on: what `MPI_UNIVERSE_SIZE` says, -1 when that is unknown.
    universe: i64,
    /// How its ranks are placed, which may be longer than what ranks may put.
    mapping: String,
    /// Those who asked for this job wait for it at a port, and have been met.
    has_parents: bool,
    has_met: bool,
    /// It has said that it is connected with no other job any more.
    has_parted: bool,
    members: Vec<Member>,
    kvs: Kvs,
    fence: Fence,
    /// What was put since the fence last opened.
    fresh: BTreeMap<String, String>,
}

impl Server {
    /// The server of the ranks on one host, where rank `r` runs the program number `applications[r]`, of a job of
    /// `size` ranks called `name`. `mapping` says how its ranks are placed on hosts: blocks of (first node, number of
    /// nodes, ranks per node).
    pub fn new(name: &str, size: usize, mapping: &str, applications: &[usize]) -> Self {
        Self {
            name: name.into(),
            universe: size as i64,
            mapping: mapping.into(),
            has_parents: false,
            has_met: false,
            has_parted: false,
            members: applications
                .iter()
                .map(|&application| Member { application, ..Member::default() })
                .collect(),
            kvs: Kvs::default(),
            fence: Fence::new(applications.len()),
            fresh: BTreeMap::new(),
        }
    }

    /// The same with this size of the universe, and with pairs that the ranks find in their space.
    #[must_use]
    pub fn within(mut self, universe: i64, pairs: &[Pair]) -> Self {
        self.universe = universe;
        self.has_parents = spawning::have_parents(pairs);
        for (key, value) in pairs {
            // What is too long is missing, which the rank that gets it learns.
            let _ = self.kvs.put(key, value);
        }
        self
    }

    /// Whether `rank` has ever come as far as whoever asked for this job waits for: it has introduced itself, and asked for the
    /// port of parents that have one.
    pub fn has_come(&self, rank: usize) -> bool {
        let is_there = |member: &Member| member.has_come && (member.has_asked || !self.has_parents);
        self.members.get(rank).is_some_and(is_there)
    }

    /// Whether the job has said here that it has met those who asked for it.
    pub fn has_met(&self) -> bool {
        self.has_met
    }

    /// Whether the job has said here that it is connected with no other one any more.
    pub fn has_parted(&self) -> bool {
        self.has_parted
    }

    /// Whether all ranks here have come.
    pub fn all_have_come(&self) -> bool {
        (0..self.members.len()).all(|rank| self.has_come(rank))
    }

    /// How far `rank` has come.
    pub fn phase(&self, rank: usize) -> Phase {
        self.members.get(rank).map_or(Phase::Outside, |member| member.phase)
    }

    /// A rank that waits in a barrier for others.
    pub fn waiting(&self) -> Option<usize> {
        self.fence.waiting()
    }

    /// Handles one line (without its end) of `rank`.
    pub fn line(&mut self, rank: usize, text: &str) -> Vec<Action> {
        let Some(member) = self.members.get_mut(rank) else { return Vec::new() };
        let text = text.trim_end_matches(['\n', '\r']);
        if member.blocks.is_open() {
            // Its lines are arguments that may hold anything.
            return match member.blocks.push(text) {
                None => Vec::new(),
                Some(Ok(request)) => vec![Action::Spawn { rank, request }],
                Some(Err(bad)) => reply(rank, spawning::refused(&bad.to_string())),
            };
        }
        if text.starts_with("mcmd=") {
            member.blocks.open();
            return Vec::new();
        }
        match Line::parse(text) {
            Ok(line) => self.command(rank, &line, text).unwrap_or_else(|bad| {
                // The request has a reply of its own kind, which says why it failed.
                reply(rank, failed(line.command, &bad.to_string()))
            }),
            Err(bad) => reply(rank, failed("unknown", &bad.to_string())),
        }
    }

    fn command(&mut self, rank: usize, line: &Line<'_>, text: &str) -> Result<Vec<Action>, BadLine> {
        let answer = match line.command {
            "init" => self.init(rank, line)?,
            "get_maxes" => Emit::new("maxes")
                .number("kvsname_max", LONGEST_KEY as i64)
                .number("keylen_max", LONGEST_KEY as i64)
                .number("vallen_max", LONGEST_VALUE as i64)
                .number("rc", 0),
            "get_appnum" => {
                Emit::new("appnum").number("appnum", self.members[rank].application as i64).number("rc", 0)
            }
            "get_my_kvsname" => Emit::new("my_kvsname").pair("kvsname", &self.name).number("rc", 0),
            "get_universe_size" => Emit::new("universe_size").number("size", self.universe).number("rc", 0),
            "put" => self.put(line)?,
            "get" => self.get(rank, line)?,
            "barrier_in" => return Ok(self.barrier(rank)),
            "publish_name" | "lookup_name" | "unpublish_name" => {
                return Ok(vec![Action::Ask { rank, line: text.to_string() }]);
            }
            "finalize" => {
                self.members[rank].phase = Phase::Finalised;
                Emit::new("finalize_ack").number("rc", 0)
            }
            "abort" => {
                let code = line.number("exitcode").unwrap_or(1);
                return Ok(vec![Action::Abort { rank, code: code as i32 }]);
            }
            unknown => failed(unknown, "unknown command"),
        };
        Ok(reply(rank, answer))
    }

    fn init(&mut self, rank: usize, line: &Line<'_>) -> Result<Emit, BadLine> {
        let version = line.number("pmi_version")?;
        if version == 1 {
            self.members[rank].phase = Phase::Inside;
            self.members[rank].has_come = true;
        }
        let answer = Emit::new("response_to_init")
            .number("pmi_version", 1)
            .number("pmi_subversion", 1)
            .number("rc", if version == 1 { 0 } else { -1 });
        Ok(answer)
    }

    fn put(&mut self, line: &Line<'_>) -> Result<Emit, BadLine> {
        if line.need("kvsname")? != self.name {
            return Ok(failed("put", "no such kvsname"));
        }
        let (key, value) = (line.need("key")?, line.need("value")?);
        self.has_met |= key == spawning::MET;
        self.has_parted |= key == spawning::PARTED;
        Ok(match self.kvs.put(key, value) {
            Ok(()) => {
                self.fresh.insert(key.into(), value.into());
                Emit::new("put_result").number("rc", 0).pair("msg", "success")
            }
            Err(why) => failed("put", &why.to_string()),
        })
    }

    fn get(&mut self, rank: usize, line: &Line<'_>) -> Result<Emit, BadLine> {
        if line.need("kvsname")? != self.name {
            return Ok(failed("get", "no such kvsname"));
        }
        let found = match line.need("key")? {
            "PMI_process_mapping" => Some(self.mapping.as_str()),
            key => {
                self.members[rank].has_asked |= key == spawning::PARENTS_PORT;
                self.kvs.get(key)
            }
        };
        Ok(match found {
            Some(value) => {
                Emit::new("get_result").number("rc", 0).pair("msg", "success").pair("value", value)
            }
            None => failed("get", "no such key"),
        })
    }

    fn barrier(&mut self, rank: usize) -> Vec<Action> {
        if self.fence.arrive(rank) {
            vec![Action::Fence(std::mem::take(&mut self.fresh).into_iter().collect())]
        } else {
            Vec::new()
        }
    }

    /// All ranks of the job wait at the fence: lets those here go on, after they can get what all have put.
    pub fn open(&mut self, pairs: &[(String, String)]) -> Vec<Action> {
        for (key, value) in pairs {
            // Bounded where they were put; what is too much for this host is missing, which the rank that gets it learns.
            let _ = self.kvs.put(key, value);
        }
        self.fence.open();
        (0..self.members.len())
            .flat_map(|rank| reply(rank, Emit::new("barrier_out").number("rc", 0)))
            .collect()
    }
}

/// The names that ranks of a job publish: one table, whatever host they run on.
#[derive(Debug, Default)]
pub struct Names {
    published: Kvs,
}

impl Names {
    /// The answer to the line of an [`Action::Ask`].
    pub fn answer(&mut self, text: &str) -> String {
        let answer = match Line::parse(text) {
            Ok(line) => self
                .command(&line)
                .unwrap_or_else(|bad| failed(line.command, &bad.to_string()).pair("info", "fail")),
            Err(bad) => failed("unknown", &bad.to_string()),
        };
        sendable(answer)
    }

    fn command(&mut self, line: &Line<'_>) -> Result<Emit, BadLine> {
        let service = line.need("service")?;
        Ok(match line.command {
            "publish_name" => match self.published.put(service, line.need("port")?) {
                Ok(()) => Emit::new("publish_result").number("rc", 0).pair("info", "ok"),
                Err(why) => failed("publish_name", &why.to_string()).pair("info", "fail"),
            },
            "lookup_name" => match self.published.get(service) {
                Some(port) => {
                    Emit::new("lookup_result").number("rc", 0).pair("port", port).pair("info", "ok")
                }
                None => failed("lookup_name", "service not found").pair("info", "fail"),
            },
            "unpublish_name" if self.published.remove(service) => {
                Emit::new("unpublish_result").number("rc", 0).pair("info", "ok")
            }
            command => failed(command, "service not found").pair("info", "fail"),
        })
    }
}

/// The failed reply to `command`: same name as the good one, `rc` not 0.
fn failed(command: &str, why: &str) -> Emit {
    let name = match command {
        "init" => "response_to_init",
        "get_maxes" => "maxes",
        "get_appnum" => "appnum",
        "get_my_kvsname" => "my_kvsname",
        "get_universe_size" => "universe_size",
        "put" => "put_result",
        "get" => "get_result",
        "publish_name" => "publish_result",
        "lookup_name" => "lookup_result",
        "unpublish_name" => "unpublish_result",
        _ => "error",
    };
    Emit::new(name).number("rc", -1).pair("msg", &sendable_words(why))
}

fn reply(rank: usize, answer: Emit) -> Vec<Action> {
    vec![Action::Reply { rank, line: sendable(answer) }]
}

/// Values come from parsed lines and can therefore be sent; should one not, the rank still gets a reply.
fn sendable(answer: Emit) -> String {
    answer.line().unwrap_or_else(|_| "cmd=error rc=-1 msg=unsendable\n".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn job(applications: &[usize]) -> Server {
        Server::new("job", applications.len(), "(vector,(0,1,4))", applications)
    }

    fn ask(server: &mut Server, rank: usize, line: &str) -> String {
        match &server.line(rank, line)[..] {
            [Action::Reply { rank: to, line }] if *to == rank => line.trim_end_matches('\n').to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_rank_introduces_itself_and_leaves() {
        let mut server = Server::new("job", 7, "", &[0, 0, 1]);
        assert_eq!(server.phase(2), Phase::Outside);
        let welcome = ask(&mut server, 2, "cmd=init pmi_version=1 pmi_subversion=1");
        assert_eq!(welcome, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
        assert_eq!(server.phase(2), Phase::Inside);
        assert_eq!(ask(&mut server, 2, "cmd=get_appnum"), "cmd=appnum appnum=1 rc=0");
        assert_eq!(ask(&mut server, 2, "cmd=get_universe_size"), "cmd=universe_size size=7 rc=0");
        assert_eq!(ask(&mut server, 2, "cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=job rc=0");
        assert!(ask(&mut server, 2, "cmd=get_maxes").contains("vallen_max=4096"));
        assert_eq!(ask(&mut server, 2, "cmd=finalize"), "cmd=finalize_ack rc=0");
        assert_eq!(server.phase(2), Phase::Finalised);
        assert_eq!(ask(&mut server, 2, "cmd=init pmi_version=1 pmi_subversion=1"), welcome);
        assert_eq!(server.phase(2), Phase::Inside, "it has come back");
    }

    #[test]
    fn pairs_travel_and_the_mapping_is_there() {
        let mut server = job(&[0; 4]);
        assert_eq!(
            ask(&mut server, 1, "cmd=put kvsname=job key=card value=a=b"),
            "cmd=put_result rc=0 msg=success"
        );
        let get = |key: &str| format!("cmd=get kvsname=job key={key}");
        assert_eq!(ask(&mut server, 0, &get("card")), "cmd=get_result rc=0 msg=success value=a=b");
        assert_eq!(
            ask(&mut server, 0, &get("PMI_process_mapping")),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,4))"
        );
        assert_eq!(ask(&mut server, 0, &get("none")), "cmd=get_result rc=-1 msg=no_such_key");
        assert!(ask(&mut server, 0, "cmd=put kvsname=other key=a value=b").contains("rc=-1"));
        assert!(ask(&mut server, 0, "cmd=get key=a").starts_with("cmd=get_result rc=-1"));
    }

    #[test]
    fn a_barrier_lets_all_go_at_once() {
        let mut server = job(&[0; 2]);
        assert_eq!(server.line(1, "cmd=barrier_in"), []);
        assert_eq!(server.waiting(), Some(1));
        let out = |rank| Action::Reply { rank, line: "cmd=barrier_out rc=0\n".into() };
        let put = ("k".to_string(), "v".to_string());
        assert!(ask(&mut server, 0, "cmd=put kvsname=job key=k value=v").contains("rc=0"));
        assert_eq!(server.line(0, "cmd=barrier_in"), [Action::Fence(vec![put.clone()])]);
        assert_eq!(server.waiting(), Some(0));
        assert_eq!(server.open(&[put, ("far".into(), "x".into())]), [out(0), out(1)]);
        assert_eq!(server.waiting(), None);
        assert!(ask(&mut server, 1, "cmd=get kvsname=job key=far").contains("value=x"));
    }

    #[test]
    fn parents_are_told_of_a_job_that_asks_for_them() {
        let mut server = job(&[0; 2]).within(2, &[(spawning::PARENTS_PORT.into(), "here".into())]);
        for rank in 0..2 {
            ask(&mut server, rank, "cmd=init pmi_version=1 pmi_subversion=1");
        }
        for rank in 0..2 {
            assert!(!server.all_have_come(), "rank {rank} has not asked");
            let said = ask(&mut server, rank, &format!("cmd=get kvsname=job key={}", spawning::PARENTS_PORT));
            assert!(said.ends_with("value=here"), "{said}");
        }
        assert!(server.all_have_come());
        let mut server = job(&[0]).within(2, &[("another".into(), "here".into())]);
        ask(&mut server, 0, "cmd=init pmi_version=1 pmi_subversion=1");
        assert!(server.all_have_come());
    }

    #[test]
    fn an_abort_is_an_event_and_nonsense_gets_an_error() {
        let mut server = job(&[0; 2]);
        assert_eq!(server.line(1, "cmd=abort exitcode=3"), [Action::Abort { rank: 1, code: 3 }]);
        assert_eq!(server.line(0, "cmd=abort"), [Action::Abort { rank: 0, code: 1 }]);
        assert_eq!(ask(&mut server, 0, "cmd=dance"), "cmd=error rc=-1 msg=unknown_command");
        assert!(ask(&mut server, 0, "what?").starts_with("cmd=error rc=-1 msg="));
        assert!(ask(&mut server, 0, "cmd=init pmi_version=2 pmi_subversion=0").contains("rc=-1"));
        assert_eq!(server.phase(0), Phase::Outside);
        assert_eq!(server.line(9, "cmd=init"), []);
    }

    #[test]
    fn names_are_published_and_spawn_is_refused_after_its_last_line() {
        let mut server = job(&[0]);
        let mut names = Names::default();
        let mut asked = |line: &str| match &server.line(0, line)[..] {
            [Action::Ask { rank: 0, line }] => names.answer(line),
            other => panic!("{other:?}"),
        };
        assert!(asked("cmd=publish_name service=s port=p").contains("rc=0"));
        assert!(asked("cmd=lookup_name service=s").contains("port=p"));
        assert!(asked("cmd=unpublish_name service=s").contains("rc=0"));
        assert!(asked("cmd=lookup_name service=s").contains("rc=-1"));
        assert!(asked("cmd=unpublish_name service=s").starts_with("cmd=unpublish_result rc=-1"));
        assert!(asked("cmd=lookup_name").starts_with("cmd=lookup_result rc=-1"));
        assert_eq!(server.line(0, "mcmd=spawn"), []);
        assert_eq!(server.line(0, "arg1=cmd=abort exitcode=3"), []);
        assert!(ask(&mut server, 0, "endcmd").starts_with("cmd=spawn_result rc=-1"));
    }

    proptest! {
        #[test]
        fn nothing_panics(lines in prop::collection::vec((0usize..3, ".*"), 0..20)) {
            let mut server = job(&[0; 2]);
            for (rank, line) in lines {
                server.line(rank, &line);
            }
        }

        #[test]
        fn every_request_gets_one_reply(
            words in prop::collection::vec(("[a-z_]{1,9}", "[a-z0-9(),=]{0,9}"), 0..4),
            command in prop::sample::select(vec![
                "init", "get", "put", "get_maxes", "get_appnum", "publish_name", "lookup_name", "finalize", "other",
            ]),
        ) {
            let mut server = job(&[0; 2]);
            let pairs: String = words.iter().map(|(key, value)| format!(" {key}={value}")).collect();
            let actions = server.line(1, &format!("cmd={command}{pairs}"));
            prop_assert_eq!(actions.len(), 1);
            let answered = match &actions[0] {
                Action::Reply { rank: 1, line } => line.clone(),
                Action::Ask { rank: 1, line } => Names::default().answer(line),
                other => panic!("{other:?}"),
            };
            prop_assert!(Line::parse(&answered).is_ok());
        }
    }
}
