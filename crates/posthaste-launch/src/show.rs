//! What becomes of the ranks' output: marks in front of lines, files, counters at the end.
//!
//! These are the hooks of a job. What must stay true: a file gets what the screen would get; lines of different ranks
//! never mix in one file; output that could not be written is reported, and the exit code says it.

use crate::explain;
use posthaste_core::trace::COUNTERS;
use posthaste_os::debugger::{Process, ProcessTable};
use posthaste_pmi::spawn::{Begun, Ended, Hooks, Look, Stream};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files that are open at a time; others are opened again when they are written to.
const MOST_OPEN: usize = 256;

/// How a job is to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Put `[rank] ` in front of each line.
    pub label: bool,
    /// Put this in front of each line.
    pub mark: Option<Pattern>,
    /// Put the time in front of each line.
    pub timestamps: bool,
    /// Print which ranks run where.
    pub rank_map: bool,
    /// Print how each rank ended.
    pub exit_codes: bool,
    /// Print the sums of the counters at the end.
    pub counters: bool,
    /// The files for standard output and standard error.
    pub files: [Option<Pattern>; 2],
    /// What goes to files goes to our own streams, too.
    pub copied: bool,
}

/// A text for each rank, such as the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Rank,
    /// With zeros in front, so that names sort as ranks do.
    PaddedRank,
    Host,
    HostIndex,
    Job,
    /// With a point behind it; nothing for the first job.
    SpawnedJob,
}

impl Pattern {
    /// `%r` is the rank, `%h` its host, `%p` the number of the host, `%g` the number of the job (0, or in which order it was
    /// spawned), `%%` a percent sign.
    ///
    /// # Errors
    /// Names what follows a percent sign wrongly.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text.split('%');
        pieces.extend(rest.next().map(|first| Piece::Text(first.into())));
        while let Some(part) = rest.next() {
            let after = |length: usize| Piece::Text(part[length..].into());
            match part.chars().next() {
                Some('r') => pieces.extend([Piece::Rank, after(1)]),
                Some('h') => pieces.extend([Piece::Host, after(1)]),
                Some('p') => pieces.extend([Piece::HostIndex, after(1)]),
                Some('g') => pieces.extend([Piece::Job, after(1)]),
                None if rest.clone().next().is_some() => {
                    let next = rest.next().unwrap_or_default();
                    pieces.push(Piece::Text(format!("%{next}")));
                }
                other => {
                    let found = other.map_or("its end".into(), |c| format!("{c:?}"));
                    return Err(format!("{text:?}: % is followed by {found}, expected r, h, p, g or %"));
                }
            }
        }
        Ok(Self(pieces))
    }

    /// `FILE.RANK`, and of a spawned job `FILE.JOB.RANK`.
    pub fn numbered(file: &str) -> Self {
        Self(vec![Piece::Text(format!("{file}.")), Piece::SpawnedJob, Piece::PaddedRank])
    }

    fn text(&self, place: &Place, size: usize) -> String {
        let width = size.saturating_sub(1).max(1).ilog10() as usize + 1;
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Rank => place.rank.to_string(),
            Piece::PaddedRank => format!("{:0width$}", place.rank),
            Piece::Host => place.host.clone(),
            Piece::HostIndex => place.index.to_string(),
            Piece::Job => place.job.to_string(),
            Piece::SpawnedJob if place.job > 0 => format!("{}.", place.job),
            Piece::SpawnedJob => String::new(),
        });
        pieces.collect()
    }
}

/// Where a rank runs.
struct Place {
    job: usize,
    rank: usize,
    host: String,
    index: usize,
}

/// Shows a job.
pub struct Show<'a> {
    name: &'a str,
    wishes: &'a Wishes,
    files: Files,
    /// What stands in front of the lines of each rank, where a pattern says so.
    marks: Vec<String>,
    /// How each rank has ended.
    ended: Vec<Option<Ended>>,
    /// Where debuggers find the ranks.
    table: Option<&'a ProcessTable>,
    /// For each job its first rank among the ranks of all.
    jobs: Vec<usize>,
    ranks: usize,
}

impl<'a> Show<'a> {
    /// Makes the files of a job whose ranks run as `map` says. `name` begins what we say ourselves.
    ///
    /// # Errors
    /// When a file cannot be made: one sentence.
    pub fn new(name: &'a str, wishes: &'a Wishes, map: &[(String, Vec<usize>)]) -> Result<Self, String> {
        let mut show = Self {
            name,
            wishes,
            files: Files::default(),
            marks: Vec::new(),
            ended: Vec::new(),
            table: None,
            jobs: Vec::new(),
            ranks: 0,
        };
        show.add(map)?;
        Ok(show)
    }

    /// Debuggers find the ranks in this table.
    pub fn found_in(mut self, table: &'a ProcessTable) -> Self {
        self.table = Some(table);
        self
    }

    /// Makes the files of the next job.
    fn add(&mut self, map: &[(String, Vec<usize>)]) -> Result<(), String> {
        let job = self.jobs.len();
        self.jobs.push(self.ranks);
        self.ranks += map.iter().map(|(_, ranks)| ranks.len()).sum::<usize>();
        self.ended.resize(self.ranks, None);
        if let Some(mark) = &self.wishes.mark {
            self.marks.extend(texts(mark, job, map));
        }
        // Every stream has names for every rank, whatever becomes of its files.
        let mut made = Ok(());
        for (stream, pattern) in self.wishes.files.iter().enumerate() {
            let Some(pattern) = pattern else { continue };
            let added =
                self.files.add(stream, texts(pattern, job, map).into_iter().map(PathBuf::from).collect());
            made = made.and(added);
        }
        made
    }

    /// The job of a rank of any, and its number there.
    fn find(&self, rank: usize) -> (usize, usize) {
        let job = self.jobs.partition_point(|&first| first <= rank).saturating_sub(1);
        (job, rank - self.jobs[job])
    }

    /// The exit code: that of the job, unless output of it was lost.
    pub fn code(&self, code: i32) -> i32 {
        if code == 0 && self.files.failed { 1 } else { code }
    }
}

/// What a pattern is for each rank.
fn texts(pattern: &Pattern, job: usize, map: &[(String, Vec<usize>)]) -> Vec<String> {
    let size = map.iter().map(|(_, ranks)| ranks.len()).sum();
    let mut texts = vec![String::new(); size];
    for (index, (host, ranks)) in map.iter().enumerate() {
        for &rank in ranks {
            texts[rank] = pattern.text(&Place { job, rank, host: host.clone(), index }, size);
        }
    }
    texts
}

/// Which ranks run where, a line for each host, as other launchers print it.
pub fn rank_map(map: &[(String, Vec<usize>)]) -> String {
    let line = |(host, ranks): &(String, Vec<usize>)| {
        let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
        format!("({host}:{})\n", ranks.join(","))
    };
    map.iter().map(line).collect()
}

impl Hooks for Show<'_> {
    fn output(&mut self, rank: usize, stream: Stream, text: &[u8], continues: bool, out: &mut Vec<u8>) {
        let mark = self.mark(rank);
        if self.files.names[stream as usize].is_empty() {
            return marked(&mark, text, continues, out);
        }
        let mut bytes = Vec::with_capacity(text.len());
        marked(&mark, text, continues, &mut bytes);
        if let Err(sentence) = self.files.write(rank, stream, &bytes) {
            say(&format!("{}: {sentence}\n", self.name));
        }
        if self.wishes.copied {
            out.append(&mut bytes);
        }
    }

    fn wants_lines(&self) -> bool {
        self.wishes.label || self.wishes.timestamps || self.wishes.mark.is_some()
    }

    fn joined(&mut self, map: &[(String, Vec<usize>)]) {
        if let Err(sentence) = self.add(map) {
            self.files.failed = true;
            say(&format!("{}: {sentence}\n", self.name));
        }
    }

    fn explain(&mut self, ranks: &[Look]) -> String {
        let jobs = ranks.chunk_by(|a, b| self.find(a.rank as usize).0 == self.find(b.rank as usize).0);
        let of_job = |looks: &[Look]| {
            let (job, _) = self.find(looks[0].rank as usize);
            let numbered =
                |look: &Look| Look { rank: self.find(look.rank as usize).1 as u32, ..look.clone() };
            let text = explain::of_ranks(&looks.iter().map(numbered).collect::<Vec<_>>());
            if job > 0 && !text.is_empty() { format!("job {job}, which was spawned:\n{text}") } else { text }
        };
        jobs.map(of_job).collect()
    }

    fn begun(&mut self, ranks: &[Begun]) {
        let Some(table) = self.table else { return };
        let process = |Begun { host, executable, pid, .. }: &Begun| Process {
            host: host.clone(),
            executable: executable.clone(),
            pid: *pid,
        };
        table.publish(&ranks.iter().map(process).collect::<Vec<_>>());
    }

    fn failing(&mut self, sentence: &str) {
        if let Some(table) = self.table {
            table.aborts(sentence);
        }
    }

    fn ended(&mut self, rank: usize, how: Ended) {
        self.ended[rank] = Some(how);
    }

    fn finished(&mut self, counters: &[u64]) {
        if self.wishes.exit_codes {
            say(&exit_codes(&self.jobs, &self.ended));
        }
        if self.wishes.counters {
            say(&sums(counters));
        }
    }
}

impl Show<'_> {
    /// What stands in front of each line of a rank.
    fn mark(&self, rank: usize) -> String {
        let mut mark = String::new();
        if self.wishes.timestamps {
            mark = format!("{} ", humantime::format_rfc3339_millis(SystemTime::now()));
        }
        if let Some(text) = self.marks.get(rank) {
            mark.push_str(text);
        }
        if self.wishes.label {
            mark.push_str(&match self.find(rank) {
                (0, rank) => format!("[{rank}] "),
                (job, rank) => format!("[{job}:{rank}] "),
            });
        }
        mark
    }
}

/// Puts a mark in front of each line.
fn marked(mark: &str, text: &[u8], continues: bool, out: &mut Vec<u8>) {
    if mark.is_empty() {
        return out.extend_from_slice(text);
    }
    for (index, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        if index > 0 || !continues {
            out.extend_from_slice(mark.as_bytes());
        }
        out.extend_from_slice(line);
    }
}

/// A line for each job: how its ranks ended, in their order, as a shell says it; `?` for one that nobody has seen end.
fn exit_codes(jobs: &[usize], ended: &[Option<Ended>]) -> String {
    let code = |how: &Option<Ended>| match how {
        Some(Ended::Code(code)) => code.to_string(),
        Some(Ended::Signal(signal)) => (128 + signal).to_string(),
        None => "?".into(),
    };
    let ends = jobs.iter().copied().skip(1).chain([ended.len()]);
    let line = |(job, (&first, end)): (usize, (&usize, usize))| {
        let codes: Vec<String> = ended[first..end].iter().map(code).collect();
        let whose = if job > 0 { format!(" of job {job}") } else { String::new() };
        format!("exit codes{whose}: {}\n", codes.join(","))
    };
    jobs.iter().zip(ends).enumerate().map(line).collect()
}

/// One line for each counter.
fn sums(counters: &[u64]) -> String {
    COUNTERS.iter().zip(counters).map(|(name, sum)| format!("counter {name} {sum}\n")).collect()
}

/// Says something on standard error; if that is closed, nobody wants to know.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The files that output goes to.
#[derive(Default)]
struct Files {
    /// Per stream, the file of each rank; empty when the stream goes to no file.
    names: [Vec<PathBuf>; 2],
    open: HashMap<PathBuf, File>,
    /// Files whose last piece lacks a line end, and who wrote it.
    halves: HashMap<PathBuf, (usize, Stream)>,
    failed: bool,
}

impl Files {
    /// Adds the files of further ranks, and makes them, empty, so that what cannot be written is reported before anything is
    /// started. A file that others write to already stays as it is.
    fn add(&mut self, stream: usize, names: Vec<PathBuf>) -> Result<(), String> {
        let known: HashSet<PathBuf> = self.names.iter().flatten().cloned().collect();
        self.names[stream].extend(names.iter().cloned());
        for path in names.iter().filter(|path| !known.contains(*path)) {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let made = folder.map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| File::create(path).map(drop)).map_err(|why| {
                format!("output of the ranks cannot be written to {:?}: {why}", path.display().to_string())
            })?;
        }
        Ok(())
    }

    /// Appends what a rank wrote; the sentence is for the first failure only.
    fn write(&mut self, rank: usize, stream: Stream, bytes: &[u8]) -> Result<(), String> {
        let path = self.names[stream as usize][rank].clone();
        let writer = (rank, stream);
        let mut text = Vec::new();
        if self.halves.remove(&path).is_some_and(|half| half != writer) {
            text.push(b'\n');
        }
        text.extend_from_slice(bytes);
        if text.last() != Some(&b'\n') {
            self.halves.insert(path.clone(), writer);
        }
        self.append(&path, &text).or_else(|why| {
            if std::mem::replace(&mut self.failed, true) {
                return Ok(());
            }
            let path = path.display().to_string();
            Err(format!("output of rank {rank} was lost, as {path:?} cannot be written: {why}"))
        })
    }

    fn append(&mut self, path: &Path, text: &[u8]) -> io::Result<()> {
        if !self.open.contains_key(path) {
            if self.open.len() >= MOST_OPEN {
                self.open.clear();
            }
            self.open.insert(path.into(), OpenOptions::new().append(true).open(path)?);
        }
        match self.open.get_mut(path) {
            Some(file) => file.write_all(text),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_in_front_of_each_line() {
        let mut out = Vec::new();
        marked("[3] ", b"a\n\nb", false, &mut out);
        marked("[3] ", b"c\nd\n", true, &mut out);
        marked("", b"e", false, &mut out);
        assert_eq!(out, b"[3] a\n[3] \n[3] bc\n[3] d\ne");
    }

    #[test]
    fn counters_have_names() {
        assert!(sums(&[5, 6]).starts_with(&format!("counter {} 5\n", COUNTERS[0])));
    }

    fn map() -> Vec<(String, Vec<usize>)> {
        vec![("a".into(), vec![0, 2]), ("b".into(), vec![1])]
    }

    #[test]
    fn each_rank_has_its_file() {
        let of_job = |pattern: &Pattern, job, rank: usize| texts(pattern, job, &map())[rank].clone();
        let file = |pattern: &Pattern, rank| of_job(pattern, 0, rank);
        let pattern = |text: &str| Pattern::parse(text).unwrap();
        assert_eq!(file(&pattern("x%r/%h-%p.%g%%"), 1), "x1/b-1.0%");
        assert_eq!(file(&pattern("x%r/%h-%p.%g%%%r"), 2), "x2/a-0.0%2");
        assert_eq!(file(&pattern("all"), 2), "all");
        assert_eq!(file(&Pattern::numbered("o%r"), 2), "o%r.2");
        assert_eq!(of_job(&pattern("%g"), 3, 0), "3");
        assert_eq!(of_job(&Pattern::numbered("o"), 3, 0), "o.3.0");
        let many = [("a".to_string(), (0..11).collect())];
        assert_eq!(texts(&Pattern::numbered("o"), 0, &many)[3], "o.03");
        for (wrong, part) in [("a%x", "followed by 'x'"), ("a%", "followed by its end")] {
            assert!(Pattern::parse(wrong).unwrap_err().contains(part), "{wrong}");
        }
    }

    #[test]
    fn exit_codes_have_a_line_for_each_job() {
        let ended = [Some(Ended::Code(3)), Some(Ended::Signal(9)), None];
        assert_eq!(exit_codes(&[0, 2], &ended), "exit codes: 3,137\nexit codes of job 1: ?\n");
    }

    #[test]
    fn the_map_is_printed_as_others_do() {
        assert_eq!(rank_map(&map()), "(a:0,2)\n(b:1)\n");
    }
}
