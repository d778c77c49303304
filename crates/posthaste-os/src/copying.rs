//! What is found out about copying between two CPUs of this machine: how large a bounce buffer should be, and with which
//! kind of store it is filled.
//!
//! Processors differ. On some, a line that was written by one core and not yet evicted is fast to fetch for another: a small
//! buffer that stays in the caches is best. On others such a line is slow to fetch, while one that has been evicted to the
//! shared cache is fast: there a buffer of twice the second-level cache, gone round and round, is up to three times as fast,
//! and a small one gains from stores that go past the cache. No rule tells one from the other, so it is measured: two
//! threads on two CPUs play ping-pong through the bounce buffers of a node segment, for some milliseconds, once a day for each
//! model of processor; the answer is cached in the user's cache folder.
//!
//! Whoever makes a node segment (launcher, lowest rank) says there what was found. What must stay true: an answer is
//! cached only if it was measured well; whatever is wrong with the file (stale, torn, foreign, unwritable) costs a
//! measurement and nothing else; measuring ends after [`LONGEST`]; nothing here makes a job fail. Part: `measure`.

mod measure;

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::machine;
use crate::mem::Store;
use crate::node::Node;

/// How to copy between two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copying {
    /// Bytes of a bounce buffer that a pair of ranks has of its own; 0: small ones, which ranks lend each other, are right.
    pub own_buffer: usize,
    /// How bytes are copied into and out of own buffers.
    pub own_store: Store,
    /// The same for small ones.
    pub store: Store,
}

impl Default for Copying {
    /// What is right where lines are fast to fetch from another core, and where ranks share CPUs.
    fn default() -> Self {
        Self { own_buffer: 0, own_store: Store::Plain, store: Store::Plain }
    }
}

impl fmt::Display for Copying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { own_buffer, own_store, store } = self;
        if *own_buffer > 0 {
            write!(
                f,
                "a bounce buffer of {} KiB for each pair, by {own_store} copies, else ",
                own_buffer >> 10
            )?;
        }
        write!(f, "small bounce buffers, by {store} copies")
    }
}

impl Copying {
    /// How bytes are copied into and out of a buffer of a pair's own, or a small one.
    #[inline]
    pub fn store_of(&self, own: bool) -> Store {
        if own { self.own_store } else { self.store }
    }

    /// As a word of the node segment; never 0.
    pub fn word(self) -> u32 {
        let number = |store| Store::NAMES.iter().position(|(_, one)| *one == store).unwrap_or(0) as u32;
        1 | number(self.store) << 1 | number(self.own_store) << 3 | ((self.own_buffer >> 12) as u32) << 5
    }

    /// What such a word says; `None` for 0 and for what none of them says.
    pub fn from_word(word: u32) -> Option<Self> {
        let store = |shift: u32| Store::NAMES.get(word as usize >> shift & 3).map(|(_, store)| *store);
        let (own_buffer, own_store, store) = ((word as usize >> 5) << 12, store(3)?, store(1)?);
        (word & 1 == 1).then_some(Self { own_buffer, own_store, store })
    }
}

/// How the answer came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was measured now, and is cached for the next time unless the text says why not.
    Measured(Measured, Option<String>),
    /// It was measured earlier, and cached in this file.
    Cached(PathBuf),
    /// It could not be measured, for this reason: messages of the job will tell ([`crate::pool`]).
    Unknown(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured(measured, None) => write!(f, "measured: {measured}"),
            Self::Measured(measured, Some(why)) => write!(f, "measured: {measured}; not cached: {why}"),
            Self::Cached(path) => write!(f, "measured earlier, see {}", path.display()),
            Self::Unknown(why) => {
                write!(f, "not measured: {why}; ranks with a CPU each find out by their messages")
            }
        }
    }
}

/// Time of a message one way, in ns: of 16 KiB and of 64 KiB.
pub type Pair = [u64; 2];

/// Such times for each kind of copy, in the order of [`Store::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Through a small buffer.
    pub small: [Pair; 3],
    /// Through a large one.
    pub large: [Pair; 3],
    /// Bytes of the large one.
    pub large_bytes: usize,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} KiB one way take", MEDIUM >> 10, LONG >> 10)?;
        let large = format!("; through one of {} KiB", self.large_bytes >> 10);
        for (times, through) in [(&self.small, " through a small buffer"), (&self.large, &large)] {
            f.write_str(through)?;
            for (at, ((name, _), [medium, long])) in Store::NAMES.iter().zip(times).enumerate() {
                write!(f, "{} {medium} and {long} ns ({name})", if at == 0 { "" } else { "," })?;
            }
        }
        Ok(())
    }
}

impl Measured {
    /// The choice. A change for the usual has to pay for one length and must not cost for the other.
    ///
    /// Where stores past the caches pay, lines of other cores are slow to fetch, which may be so today because of the cores that a
    /// hypervisor gives. Pairs find out again and again for buffers of their own, so they have them there if they cost little.
    pub fn choice(&self) -> Copying {
        let costs = |this: Pair, usual: Pair, percent: u64| {
            (0..2).any(|at| this[at] * 100 > usual[at] * (100 + percent))
        };
        let pays = |this: Pair, usual: Pair| {
            (0..2).any(|at| this[at] * 100 <= usual[at] * 97) && !costs(this, usual, 2)
        };
        let best = |times: &[Pair; 3]| {
            let others = [1, 2].into_iter().filter(|at| pays(times[*at], times[0]));
            others.min_by_key(|at| times[*at][0] + times[*at][1]).unwrap_or(0)
        };
        let (small, large) = (best(&self.small), best(&self.large));
        let may_change =
            Store::NAMES[small].1 == Store::Streaming && !costs(self.large[large], self.small[small], 25);
        let has_own = may_change || pays(self.large[large], self.small[small]);
        let own_buffer = if has_own { self.large_bytes } else { 0 };
        Copying { own_buffer, own_store: Store::NAMES[large].1, store: Store::NAMES[small].1 }
    }
}

/// Bytes of the messages that are measured.
const MEDIUM: usize = 16 << 10;
/// See [`MEDIUM`].
const LONG: usize = 64 << 10;
/// Longest time that measuring takes: after that the machine is too busy to measure anything.
pub const LONGEST: Duration = Duration::from_millis(40);
/// An answer that is older is measured anew: systems and firmware change, and what a hypervisor gives.
const OLDEST: Duration = Duration::from_secs(24 * 3600);
/// In front of a cached answer; another number for another way of measuring.
const FORMAT: &str = "posthaste-copying 2";

/// The answer for the processor of this machine, and where it comes from. `cpus`: those that the ranks will use.
pub fn find_out(cpus: &[usize]) -> (Copying, Origin) {
    find_out_in(cache_folder().as_deref(), &processor(), || match cfg!(debug_assertions) {
        true => Err("this is a debug build, whose copies say nothing".to_owned()),
        false => measure::measure(cpus),
    })
}

/// Finds out how ranks of a new node segment should copy, says it there unless the machine is too busy to tell, and makes places for own bounce buffers. `cpus`:
/// those that the ranks may use; where there are more ranks nobody copies at once, and nothing is measured.
#[must_use]
pub fn publish(node: Node, cpus: &[usize]) -> Node {
    let ranks = node.ranks();
    if ranks < 2 {
        return node;
    }
    if ranks <= cpus.len() {
        let (found, origin) = find_out(cpus);
        if !matches!(origin, Origin::Unknown(_)) {
            node.set_copying(found.word());
        }
    }
    node.with_own_buffers(large_bytes(), most_own_buffers().min(ranks * (ranks - 1)))
}

/// Makes the segment of two processes of different jobs, says there what is known, if anything is, and makes places for own bounce buffers unless
/// the process has very many such segments: it has so many already.
///
/// # Errors
/// As [`Node::create_pair`].
pub fn publish_pair(known: Option<Copying>, segments: usize) -> io::Result<Node> {
    let has_own = 2 * segments < most_own_buffers();
    let node = Node::create_pair(if has_own { large_bytes() } else { 0 })?;
    known.iter().for_each(|known| node.set_copying(known.word()));
    Ok(node)
}

/// What is right between a process of this node segment and one of another job on these CPUs. Nobody may have asked yet, for a
/// rank alone copies to none of its own job.
pub fn between_jobs(node: &Node, cpus: &[usize]) -> Option<Copying> {
    let is_alone = node.ranks() < 2 && cpus.len() > 1;
    let find_out = || match find_out(cpus) {
        (_, Origin::Unknown(_)) => None,
        (found, _) => Some(found),
    };
    Copying::from_word(node.copying()).or_else(|| if is_alone { find_out() } else { None })
}

/// Own bounce buffers in a 128th of the memory that is there, for all pairs of a node together; further pairs use small ones. A
/// place costs nothing before somebody takes it.
fn most_own_buffers() -> usize {
    (machine::memory_available().unwrap_or(8 << 30) / 128) as usize / large_bytes()
}

fn find_out_in(
    folder: Option<&Path>,
    processor: &str,
    measure: impl FnOnce() -> Result<Measured, String>,
) -> (Copying, Origin) {
    let file = folder.map(|folder| folder.join(format!("copying-{processor}")));
    if let Some((path, cached)) = file.as_deref().and_then(|path| Some((path, read(path)?))) {
        return (cached, Origin::Cached(path.to_owned()));
    }
    match measure() {
        Ok(measured) => {
            let cached = match &file {
                Some(path) => write(path, &measured).map_err(|e| format!("{}: {e}", path.display())).err(),
                None => Some("neither XDG_CACHE_HOME nor HOME names a folder".to_owned()),
            };
            (measured.choice(), Origin::Measured(measured, cached))
        }
        Err(why) => (Copying::default(), Origin::Unknown(why)),
    }
}

/// Where the user's programs keep what they can find out again: below a folder that is there. A program that runs with
/// more rights than its user has does not ask the user's variables.
fn cache_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if machine::is_privileged() {
        return None;
    }
    let folder = match named("XDG_CACHE_HOME") {
        Some(cache) => cache.parent().filter(|parent| parent.is_dir()).map(|_| cache.clone()),
        None => named("HOME").filter(|home| home.is_dir()).map(|home| home.join(".cache")),
    };
    Some(folder?.join("posthaste"))
}

/// A cached answer, if it is one and not too old.
fn read(path: &Path) -> Option<Copying> {
    let age = SystemTime::now().duration_since(fs::metadata(path).ok()?.modified().ok()?).unwrap_or_default();
    if age > OLDEST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    if lines.next() != Some(FORMAT) {
        return None;
    }
    let mut number = |name: &str| lines.next()?.strip_prefix(name)?.trim().parse::<u64>().ok();
    let mut measured = Measured { small: [[0; 2]; 3], large: [[0; 2]; 3], large_bytes: 0 };
    for (size, times) in [("small", &mut measured.small), ("large", &mut measured.large)] {
        for ((name, _), pair) in Store::NAMES.iter().zip(times) {
            for ns in pair {
                *ns = number(&format!("{size} {name} ns"))?;
            }
        }
    }
    measured.large_bytes = number("large bytes")? as usize;
    let Measured { small, large, large_bytes } = measured;
    let is_sane = |ns: u64| (20..100_000_000).contains(&ns);
    let has_times = small.iter().chain(&large).flatten().all(|ns| is_sane(*ns));
    let has_size = SIZES.contains(&large_bytes) && large_bytes.is_power_of_two();
    (has_times && has_size && text.ends_with("end\n")).then(|| measured.choice())
}

/// Keeps an answer: whole or not at all, whoever else writes at the same time.
fn write(path: &Path, measured: &Measured) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let new = path.with_extension(format!("new-{}-{}", machine::host_name(), std::process::id()));
    let mut text = format!("{FORMAT}\n");
    for (size, times) in [("small", &measured.small), ("large", &measured.large)] {
        for ((name, _), pair) in Store::NAMES.iter().zip(times) {
            text.extend(pair.map(|ns| format!("{size} {name} ns {ns}\n")));
        }
    }
    let _ = fs::remove_file(&new);
    // A new file: a link of that name is not followed.
    let mut file = fs::File::options().write(true).create_new(true).open(&new)?;
    write!(file, "{text}large bytes {}\nend\n", measured.large_bytes)?;
    fs::rename(&new, path).inspect_err(|_| drop(fs::remove_file(&new)))
}

/// What this processor is called in the name of a file: maker, family, model, stepping and size of the second-level cache.
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        let value = line.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim();
        value.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect::<String>()
    };
    let names = match text.contains("vendor_id") {
        true => ["vendor_id", "cpu family", "model", "stepping"],
        false => ["CPU implementer", "CPU part", "CPU variant", "CPU revision"],
    };
    format!("{}-{}k", names.map(field).join("-"), second_level_cache() >> 10)
}

/// Sizes of a large buffer.
const SIZES: std::ops::RangeInclusive<usize> = 1 << 20..=4 << 20;

/// Twice the second-level cache: what is written is evicted before it is written anew.
fn large_bytes() -> usize {
    (2 * second_level_cache()).next_power_of_two().clamp(*SIZES.start(), *SIZES.end())
}

/// Bytes of the second-level cache of a core; 1 MiB where the system does not say.
fn second_level_cache() -> usize {
    let text = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size").unwrap_or_default();
    let kib = text.trim().strip_suffix('K').and_then(|number| number.parse::<usize>().ok());
    kib.unwrap_or(1024) << 10
}

#[cfg(test)]
mod tests {
    use super::measure::{Times, judge, measure};
    use super::*;

    /// A processor of the Zen 4 generation as it was seen, and one on which a small buffer is right.
    const LARGE_WINS: Measured = Measured {
        small: [[1900, 7300], [1500, 4500], [1890, 7250]],
        large: [[810, 2500], [900, 2700], [815, 2510]],
        large_bytes: 2 << 20,
    };
    const SMALL_WINS: Measured = Measured {
        small: [[390, 1200], [1380, 3500], [400, 1190]],
        large: [[410, 1140], [1100, 3300], [410, 1150]],
        large_bytes: 2 << 20,
    };
    const LARGE: Copying = Copying { own_buffer: 2 << 20, own_store: Store::Plain, store: Store::Streaming };

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("posthaste-copying-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn the_choice_follows_what_was_measured() {
        assert_eq!(SMALL_WINS.choice(), Copying::default());
        assert_eq!(LARGE_WINS.choice(), LARGE);
        let large =
            |plain| Measured { large: [plain, [9999; 2], [9999; 2]], ..SMALL_WINS }.choice().own_buffer;
        assert_eq!((large([390, 1180]), large([385, 1190])), (0, 0), "a small gain may be none");
        assert_eq!((large([390, 1160]), large([370, 1220])), (2 << 20, 2 << 20));
        assert_eq!(
            (large([300, 1300]), large([400, 1000])),
            (0, 0),
            "what one length gains another must not lose"
        );
        // The same machine in one second and the next.
        let near = Measured {
            small: [[1376, 5137], [1692, 5402], [1439, 4949]],
            large: [[1300, 3924], [1839, 5633], [6944, 25293]],
            large_bytes: 1 << 20,
        };
        let far = Measured {
            small: [[3899, 13570], [2180, 6020], [3820, 20595]],
            large: [[4586, 14938], [2582, 6986], [10702, 35208]],
            large_bytes: 1 << 20,
        };
        let own = |own_store, store| Copying { own_buffer: 1 << 20, own_store, store };
        assert_eq!(near.choice(), own(Store::Plain, Store::Plain));
        assert_eq!(far.choice(), own(Store::Streaming, Store::Streaming));
        // Far cores whose loads of each other's lines are slow.
        let strings = Measured {
            small: [[3600, 11000], [3500, 10900], [1380, 3250]],
            large: [[3300, 9200], [3300, 9100], [1260, 3050]],
            large_bytes: 2 << 20,
        };
        let copying = Copying { own_buffer: 2 << 20, own_store: Store::String, store: Store::String };
        assert_eq!(strings.choice(), copying);
    }

    #[test]
    fn words_say_the_same() {
        let other = Copying { own_buffer: 4 << 20, own_store: Store::String, store: Store::Plain };
        for copying in [Copying::default(), LARGE, other] {
            assert_eq!(Copying::from_word(copying.word()), Some(copying));
        }
        assert_eq!([Copying::from_word(0), Copying::from_word(7)], [None; 2]);
    }

    #[test]
    fn an_answer_is_measured_once_and_cached() {
        let folder = folder("cached");
        let found = find_out_in(Some(&folder), "p-1", || Ok(LARGE_WINS));
        assert_eq!(found, (LARGE_WINS.choice(), Origin::Measured(LARGE_WINS, None)));
        let again = find_out_in(Some(&folder), "p-1", || panic!("measured again"));
        assert_eq!(again, (LARGE_WINS.choice(), Origin::Cached(folder.join("copying-p-1"))));
        // Another processor is another question.
        let other = find_out_in(Some(&folder), "p-2", || Ok(SMALL_WINS));
        assert_eq!(other.0, SMALL_WINS.choice());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing else is left there");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_not_an_answer_costs_a_measurement() {
        let folder = folder("corrupt");
        find_out_in(Some(&folder), "p", || Ok(LARGE_WINS));
        let path = folder.join("copying-p");
        let good = fs::read_to_string(&path).unwrap();
        let cut = &good[..good.len() - 7];
        let other_format = good.replace(FORMAT, "posthaste-copying 0");
        let absurd = good.replace("2097152", "2097153");
        for bad in [
            "",
            "\0\u{1}garbage",
            cut,
            &other_format,
            &absurd,
            &good.replace("7300", "0"),
            &good.replace("end", ""),
        ] {
            fs::write(&path, bad).unwrap();
            let found = find_out_in(Some(&folder), "p", || Ok(SMALL_WINS));
            assert_eq!(found, (SMALL_WINS.choice(), Origin::Measured(SMALL_WINS, None)), "{bad:?}");
            assert!(matches!(find_out_in(Some(&folder), "p", || unreachable!()).1, Origin::Cached(_)));
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_old_answer_is_measured_anew() {
        let folder = folder("stale");
        find_out_in(Some(&folder), "p", || Ok(LARGE_WINS));
        let file = fs::File::options().write(true).open(folder.join("copying-p")).unwrap();
        file.set_modified(SystemTime::now() - OLDEST - Duration::from_secs(60)).unwrap();
        assert_eq!(find_out_in(Some(&folder), "p", || Ok(SMALL_WINS)).0, SMALL_WINS.choice());
        assert!(matches!(find_out_in(Some(&folder), "p", || unreachable!()).1, Origin::Cached(_)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_cannot_be_cached_is_used_all_the_same() {
        for folder in [Some(Path::new("/proc/nowhere")), None] {
            let (copying, origin) = find_out_in(folder, "p", || Ok(LARGE_WINS));
            assert_eq!(copying, LARGE_WINS.choice());
            assert!(matches!(&origin, Origin::Measured(_, Some(_))), "{origin}");
        }
    }

    #[test]
    fn what_was_measured_under_load_is_not_believed() {
        let kinds = SMALL_WINS.small.into_iter().chain(SMALL_WINS.large);
        let calm: Vec<[Times; 2]> = kinds.map(|pair| pair.map(|ns| [ns, ns + 20])).collect();
        assert_eq!(judge(&calm, 2 << 20), Ok(SMALL_WINS));
        for load in 0..12 {
            let mut times = calm.clone();
            times[load / 2][load % 2][1] *= 3;
            assert!(judge(&times, 2 << 20).unwrap_err().contains("other programs"));
        }
        let folder = folder("load");
        let (copying, origin) = find_out_in(Some(&folder), "p", || judge(&[[[1, 900]; 2]; 6], 2 << 20));
        assert_eq!(copying, Copying::default());
        assert!(matches!(origin, Origin::Unknown(_)));
        assert!(!folder.exists(), "nothing is cached");
    }

    #[test]
    fn measuring_ends_whatever_the_machine_does() {
        let start = std::time::Instant::now();
        let cpus = machine::affinity();
        match measure(&cpus) {
            Ok(measured) => println!("{}: {measured}: {}", processor(), measured.choice()),
            Err(why) => println!("{}: {why}", processor()),
        }
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(measure(&cpus[..1]).is_err());
        assert!(measure(&[100_000, 100_001]).unwrap_err().contains("may not be used"));
    }

    #[test]
    fn a_segment_has_room_within_a_bound() {
        let cpus = machine::affinity();
        let few = publish(Node::create(3).unwrap(), &cpus[..1]);
        assert_eq!((few.copying(), few.own_buffer_bytes(), few.own_buffers()), (0, large_bytes(), 6));
        let many = publish(Node::create(64).unwrap(), &cpus[..1]);
        let bound = machine::memory_available().unwrap() / 128;
        assert!((many.own_buffers() * many.own_buffer_bytes()) as u64 <= bound + bound / 8);
        assert_eq!(publish(Node::create(1).unwrap(), &cpus).own_buffers(), 0);
    }
}
