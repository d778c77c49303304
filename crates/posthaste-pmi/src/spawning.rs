//! What a program asks its launcher to start (MPI-5.0 §11.8), and how PMI-1.1 writes it.
//!
//! On the wire each command is a block of lines, `mcmd=spawn`, then `key=value`, then `endcmd`; the answer comes after the
//! last block. A value goes to the end of its line, so it may hold spaces. What must stay true: no input panics or takes
//! memory that was not paid for by bytes, and what [`Spawning::emit`] wrote [`Blocks`] read back.

use crate::line::{BadLine, Emit, LONGEST, Line, read_words, sendable_words};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use thiserror::Error;

/// Most bytes of one request.
const MOST_BYTES: usize = 4 << 20;
/// The pairs that say whether another block follows.
const COUNTS: [&str; 2] = ["spawnssofar", "totspawns"];
/// Most processes of one request: beyond it is a mistake.
pub const MOST_PROCESSES: usize = 1 << 16;

/// The key under which our programs leave the name of the port at which they wait for the new job. Each rank of it asks for this
/// once, in MPI_Init; a job that never does leaves them waiting, so until then it is not said to run.
pub const PARENTS_PORT: &str = "posthaste-parent-port";

/// The key under which the new job says that it has met them.
pub const MET: &str = "posthaste-met-parents";

/// The key under which it says that no communicator connects it with another job any more.
pub const PARTED: &str = "posthaste-parted";

/// A key and its value.
pub type Pair = (String, String);

/// Whether who left these pairs for a new job waits for it at a port.
pub fn have_parents(left: &[Pair]) -> bool {
    left.iter().any(|pair| pair.0 == PARENTS_PORT)
}

/// Processes that run the same command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// How many at most.
    pub count: usize,
    /// The program.
    pub name: String,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// Hints: where and how it is to run. Launchers pass over those that they do not know.
    pub info: Vec<Pair>,
}

impl Spec {
    /// The value of the first hint that has one of these keys.
    pub fn hint(&self, keys: &[&str]) -> Option<&str> {
        self.info.iter().find(|pair| keys.contains(&pair.0.as_str())).map(|pair| pair.1.as_str())
    }

    /// The hints with one line for each value: of `env`, whose value may have one for each variable, a hint for each line.
    fn lines_of_info(&self) -> Vec<Pair> {
        let lines = |(key, value): &Pair| -> Vec<Pair> {
            match key.as_str() {
                "env" => value.lines().map(|line| (key.clone(), line.into())).collect(),
                _ => vec![(key.clone(), value.clone())],
            }
        };
        self.info.iter().flat_map(lines).collect()
    }
}

/// A new job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawning {
    /// Its commands; its ranks are numbered through them in order.
    pub specs: Vec<Spec>,
    /// What its ranks find in their key-value space.
    pub preput: Vec<Pair>,
}

/// Why a request is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadSpawning {
    /// A value that is missing or no number.
    #[error("{0}")]
    Line(#[from] BadLine),
    /// A number beyond what makes sense.
    #[error("{key}={value} is out of range, expected {expected}")]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        value: i64,
        /// What it should be.
        expected: &'static str,
    },
    /// More than is read.
    #[error("the request is longer than {MOST_BYTES} bytes")]
    Long,
}

impl Spawning {
    /// The request as PMI-1.1 writes it: blocks of lines, each to be sent as one piece.
    ///
    /// # Errors
    /// When a value has a line end, except that of `env`.
    pub fn emit(&self) -> Result<Vec<String>, BadLine> {
        let block = |(index, spec): (usize, &Spec)| {
            let mut text = String::new();
            let mut lines = Lines(&mut text);
            lines.push("mcmd", "spawn")?;
            lines.push("nprocs", &spec.count.to_string())?;
            lines.push("execname", &spec.name)?;
            lines.push("totspawns", &self.specs.len().to_string())?;
            lines.push("spawnssofar", &(index + 1).to_string())?;
            lines.push("argcnt", &spec.arguments.len().to_string())?;
            for (number, argument) in (1..).zip(&spec.arguments) {
                lines.push(&format!("arg{number}"), argument)?;
            }
            if index == 0 {
                lines.pairs(["preput_num", "preput_key_", "preput_val_"], &self.preput)?;
            }
            lines.pairs(["info_num", "info_key_", "info_val_"], &spec.lines_of_info())?;
            text.push_str("endcmd\n");
            Ok(text)
        };
        self.specs.iter().enumerate().map(block).collect()
    }
}

struct Lines<'a>(&'a mut String);

impl Lines<'_> {
    fn push(&mut self, key: &str, value: &str) -> Result<(), BadLine> {
        // The wire has no way to write them.
        if value.contains(['\n', '\r', '\0']) {
            return Err(BadLine::Unsendable(value.chars().take(60).collect()));
        }
        // A longer line would end the connection.
        if key.len() + 1 + value.len() > LONGEST {
            return Err(BadLine::Long(key.into(), value.len()));
        }
        self.0.extend([key, "=", value, "\n"]);
        Ok(())
    }

    fn pairs(&mut self, [number, key, value]: [&str; 3], pairs: &[Pair]) -> Result<(), BadLine> {
        self.push(number, &pairs.len().to_string())?;
        for (index, pair) in pairs.iter().enumerate() {
            self.push(&format!("{key}{index}"), &pair.0)?;
            self.push(&format!("{value}{index}"), &pair.1)?;
        }
        Ok(())
    }
}

/// Puts blocks together that arrive line by line.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// The pairs of the block under way.
    block: Option<HashMap<String, String>>,
    bytes: usize,
    whole: Spawning,
    /// What is wrong with a block that has come; the answer is expected after the last one.
    bad: Option<BadSpawning>,
}

impl Blocks {
    /// Whether a block is under way: the next line belongs to it.
    pub fn is_open(&self) -> bool {
        self.block.is_some()
    }

    /// Begins a block.
    pub fn open(&mut self) {
        self.block = Some(HashMap::new());
    }

    /// Takes a line of the block: the request when this was its last line, or what is wrong with it.
    pub fn push(&mut self, line: &str) -> Option<Result<Spawning, BadSpawning>> {
        if line != "endcmd" {
            self.bytes += line.len();
            // Too much is read to its end and forgotten, for only then an answer is expected.
            let is_too_much = self.bytes > MOST_BYTES;
            if let Some(block) = &mut self.block
                && let Some((key, value)) = line.split_once('=')
                && (!is_too_much || COUNTS.contains(&key))
            {
                block.insert(key.into(), value.into());
            }
            return None;
        }
        let block = self.block.take().unwrap_or_default();
        if let Err(bad) = self.take(&block) {
            self.bad.get_or_insert(bad);
        }
        if self.bytes > MOST_BYTES {
            self.bad = Some(BadSpawning::Long);
        }
        if is_followed(&block) {
            return None;
        }
        let Self { whole, bad, .. } = std::mem::take(self);
        Some(bad.map_or(Ok(whole), Err))
    }

    fn take(&mut self, block: &HashMap<String, String>) -> Result<(), BadSpawning> {
        let spec = Spec {
            count: number(block, "nprocs", "1 or more, and no more than 65536")?,
            name: text(block, "execname")?,
            arguments: (1..=count(block, "argcnt")?)
                .map(|number| text(block, &format!("arg{number}")))
                .collect::<Result<_, _>>()?,
            info: pairs(block, ["info_num", "info_key_", "info_val_"])?,
        };
        let processes: usize = self.whole.specs.iter().map(|spec| spec.count).sum();
        if spec.count == 0 || processes + spec.count > MOST_PROCESSES {
            let expected = "1 or more, and no more than 65536 with all others";
            return Err(BadSpawning::Range { key: "nprocs", value: spec.count as i64, expected });
        }
        self.whole.specs.push(spec);
        self.whole.preput.extend(pairs(block, ["preput_num", "preput_key_", "preput_val_"])?);
        Ok(())
    }
}

/// Whether a block says that another one follows.
fn is_followed(block: &HashMap<String, String>) -> bool {
    let number = |key: &str| block.get(key).and_then(|value| value.trim().parse::<u32>().ok());
    let [so_far, total] = COUNTS.map(number);
    so_far.zip(total).is_some_and(|(so_far, total)| so_far < total)
}

fn text(block: &HashMap<String, String>, key: &str) -> Result<String, BadLine> {
    block.get(key).cloned().ok_or_else(|| BadLine::Missing { command: "spawn".into(), key: key.into() })
}

fn number(
    block: &HashMap<String, String>,
    key: &'static str,
    expected: &'static str,
) -> Result<usize, BadSpawning> {
    let value = text(block, key)?;
    let value: i64 =
        value.trim().parse().map_err(|_| BadLine::NotANumber { key: key.into(), value: value.clone() })?;
    usize::try_from(value).map_err(|_| BadSpawning::Range { key, value, expected })
}

/// How many of something there are; none when that is not said.
fn count(block: &HashMap<String, String>, key: &'static str) -> Result<usize, BadSpawning> {
    if block.contains_key(key) { number(block, key, "0 or more") } else { Ok(0) }
}

fn pairs(
    block: &HashMap<String, String>,
    [number, key, value]: [&'static str; 3],
) -> Result<Vec<Pair>, BadSpawning> {
    let pair = |index| Ok((text(block, &format!("{key}{index}"))?, text(block, &format!("{value}{index}"))?));
    (0..count(block, number)?).map(pair).collect()
}

/// Longest list of error codes, one for each process: libraries of the family read lines of 1,024 bytes.
const LONGEST_LIST: usize = 900;

/// The answer: an error code for each process, 0 for one that runs. Where all run none is written, and what would be too long a list
/// for other libraries is written as runs of like codes, `CODE*COUNT`, which ours reads. It says that [`lost`] is said, should it come to that.
pub fn started(codes: &[i32]) -> Emit {
    let answer = Emit::new(ANSWER).number("rc", 0).number(WATCHED, 1);
    if codes.iter().all(|&code| code == 0) {
        return answer;
    }
    let list: Vec<String> = codes.iter().map(i32::to_string).collect();
    let list = list.join(",");
    if list.len() <= LONGEST_LIST {
        return answer.pair("errcodes", &list);
    }
    let runs = codes.chunk_by(|one, next| one == next);
    let runs: Vec<String> = runs.map(|run| format!("{}*{}", run[0], run.len())).collect();
    answer.pair(RUNS, &runs.join(","))
}

const RUNS: &str = "errcode_runs";
const WATCHED: &str = "watched";

/// Whether who gave this answer says [`lost`] when one of the processes ends too early.
pub fn is_watched(answer: &Line<'_>) -> bool {
    answer.get(WATCHED).is_some()
}

/// The answer when nothing was started, with the reason.
pub fn refused(why: &str) -> Emit {
    Emit::new(ANSWER).number("rc", -1).pair("msg", &sendable_words(why))
}

/// The command of the answer.
pub const ANSWER: &str = "spawn_result";
/// The command of what follows unasked when a process of the new job ends before it has met those who wait for it.
pub const LOST: &str = "spawn_lost";

/// What is said of the job number `started` of those that the one who hears it was told to run, from 1 on.
pub fn lost(started: u32, why: &str) -> Emit {
    Emit::new(LOST).number("asked", started).pair("msg", &sendable_words(why))
}

/// What an answer says for a request of `count` processes: the error code of each of them, or why none was started.
///
/// # Errors
/// When it is no answer to such a request.
pub fn read_answer(answer: &Line<'_>, count: usize) -> Result<Result<Vec<i32>, String>, BadLine> {
    if answer.number("rc")? != 0 {
        return Ok(Err(read_words(answer.get("msg").unwrap_or("no reason given"))));
    }
    if let Some(runs) = answer.get(RUNS) {
        let bad = || BadLine::NotANumber { key: RUNS.into(), value: runs.chars().take(60).collect() };
        return read_runs(runs, count).map(Ok).ok_or_else(bad);
    }
    let Some(codes) = answer.get("errcodes") else { return Ok(Ok(vec![0; count])) };
    let bad = || BadLine::NotANumber { key: "errcodes".into(), value: codes.chars().take(60).collect() };
    let read: Vec<i32> =
        codes.split(',').map(|code| code.trim().parse().map_err(|_| bad())).collect::<Result<_, _>>()?;
    if read.len() == count { Ok(Ok(read)) } else { Err(bad()) }
}

/// So many codes, written as runs.
fn read_runs(runs: &str, count: usize) -> Option<Vec<i32>> {
    let mut codes = Vec::new();
    for run in runs.split(',') {
        let (code, len) = run.split_once('*')?;
        let len: usize = len.parse().ok().filter(|len| *len <= count - codes.len())?;
        codes.extend(std::iter::repeat_n(code.parse::<i32>().ok()?, len));
    }
    (codes.len() == count).then_some(codes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> Spawning {
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        Spawning {
            specs: vec![
                Spec {
                    count: 2,
                    name: "./a b".into(),
                    arguments: vec!["x y".into(), String::new(), "k=v".into()],
                    info: vec![pair("wdir", "/tmp/x y"), pair("soft", "1:2")],
                },
                Spec { count: 3, name: "c".into(), ..Spec::default() },
            ],
            preput: vec![pair("PARENT_ROOT_PORT_NAME", "tag#0$a=b$")],
        }
    }

    #[test]
    fn the_codes_of_many_processes_fit_into_a_line() {
        let codes = [vec![0; 16], vec![-1; 60_000], vec![0; 3]].concat();
        let text = started(&codes).line().unwrap();
        let answer = |text: &str| read_answer(&Line::parse(text).unwrap(), codes.len());
        assert_eq!(answer(&text).unwrap().unwrap(), codes);
        for runs in ["0", "0*", "*3", "0*16,-1*60004", "0*16", "0*-1", "0*99999999999999999999", "x*60019"] {
            let text = format!("cmd=spawn_result rc=0 errcode_runs={runs}\n");
            assert!(answer(&text).is_err(), "{runs}");
        }
    }

    fn read(text: &str) -> Option<Result<Spawning, BadSpawning>> {
        let mut blocks = Blocks::default();
        let mut found = None;
        for line in text.lines() {
            assert_eq!(found, None, "after the end: {line}");
            if line == "mcmd=spawn" {
                blocks.open();
            } else {
                found = blocks.push(line);
            }
        }
        found
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(read(&example().emit().unwrap().concat()), Some(Ok(example())));
        assert_eq!(read("mcmd=spawn\nnprocs=1\nexecname=a\nendcmd\n").unwrap().unwrap().specs[0].count, 1);
        let mut bad = example();
        bad.specs[1].arguments.push("two\nlines".into());
        assert!(bad.emit().is_err());
    }

    #[test]
    fn variables_in_one_value_go_over_the_wire_one_by_one() {
        let pair = |value: &str| ("env".to_string(), value.to_string());
        let spec = |info| Spec { count: 1, name: "a".into(), info, ..Spec::default() };
        let several = Spawning { specs: vec![spec(vec![pair("A=1\nB=x y\n")])], preput: Vec::new() };
        let single = vec![spec(vec![pair("A=1"), pair("B=x y")])];
        assert_eq!(read(&several.emit().unwrap().concat()).unwrap().unwrap().specs, single);
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for (text, part) in [
            ("execname=a", "no nprocs="),
            ("nprocs=1", "no execname="),
            ("nprocs=0\nexecname=a", "nprocs=0"),
            ("nprocs=-1\nexecname=a", "nprocs=-1"),
            ("nprocs=70000\nexecname=a", "nprocs=70000"),
            ("nprocs=x\nexecname=a", "not a number"),
            ("nprocs=1\nexecname=a\nargcnt=4000000000", "no arg1="),
            ("nprocs=1\nexecname=a\ninfo_num=1\ninfo_key_0=b", "no info_val_0="),
        ] {
            let said = read(&format!("mcmd=spawn\n{text}\nendcmd\n")).unwrap().unwrap_err().to_string();
            assert!(said.contains(part), "{text:?}: {said}");
        }
        let two = "mcmd=spawn\nnprocs=0\ntotspawns=2\nspawnssofar=1\nendcmd\nmcmd=spawn\nnprocs=1\nendcmd\n";
        assert!(read(two).unwrap().is_err(), "once, at the end");
        let long = format!("mcmd=spawn\narg1={}\nendcmd\n", "x".repeat(MOST_BYTES));
        assert_eq!(read(&long), Some(Err(BadSpawning::Long)));
        // The second block comes after too much, and is none of its own.
        let first =
            format!("mcmd=spawn\narg1={}\ntotspawns=2\nspawnssofar=1\nendcmd\n", "x".repeat(MOST_BYTES));
        assert_eq!(read(&first), None, "another one follows");
        assert_eq!(
            read(&format!("{first}mcmd=spawn\nnprocs=1\nexecname=a\nendcmd\n")),
            Some(Err(BadSpawning::Long))
        );
    }

    #[test]
    fn what_fits_into_no_line_is_refused_before_anything_is_sent() {
        let spec =
            Spec { count: 1, name: "a".into(), arguments: vec!["x".repeat(LONGEST)], info: Vec::new() };
        let why = Spawning { specs: vec![spec], preput: Vec::new() }.emit().unwrap_err();
        assert_eq!(why, BadLine::Long("arg1".into(), LONGEST));
    }

    #[test]
    fn answers_have_a_code_for_each_process() {
        let answer = |emit: Emit, count| {
            let line = emit.line().unwrap();
            read_answer(&Line::parse(&line).unwrap(), count)
        };
        assert_eq!(answer(started(&[0, 0]), 2), Ok(Ok(vec![0, 0])));
        assert_eq!(answer(started(&[0, -1]), 2), Ok(Ok(vec![0, -1])));
        assert!(is_watched(&Line::parse(&started(&[0]).line().unwrap()).unwrap()));
        assert!(!is_watched(&Line::parse("cmd=spawn_result rc=0").unwrap()));
        assert!(answer(started(&[0, -1]), 3).is_err());
        assert_eq!(answer(refused("no such program \"a b\""), 1), Ok(Err("no such program \"a b\"".into())));
    }

    proptest! {
        #[test]
        fn nothing_panics(lines in prop::collection::vec("(nprocs|execname|argcnt|totspawns|info_num)=[0-9a-]{0,12}|endcmd", 0..20)) {
            let mut blocks = Blocks::default();
            blocks.open();
            for line in &lines {
                let _ = blocks.push(line);
            }
        }
    }
}
