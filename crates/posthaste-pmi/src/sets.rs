//! Process sets that the launcher knows: what it tells the ranks of a job, and what they read (MPI-5.0 §11.3.2).
//!
//! They are told as `4,2;ocean=0-3;ice=4,5`: how many ranks run each program, then sets with the names that the user gave them. A
//! text that is longer than a value may be stands under several keys, and a value of the greatest length is not the last one. What must
//! stay true: what [`Sets::emit`] wrote [`Sets::gather`] and [`Sets::parse`] read back; nothing that is read names a rank twice or
//! beyond the job; two names that differ by case alone are one, for so sets are looked for.

use crate::kvs::LONGEST_VALUE;
use crate::spawning::Pair;

/// What the keys begin with; the number of the piece follows.
const KEY: &str = "posthaste-process-sets-";

/// Longest name in bytes: MPI_MAX_PSET_NAME_LEN is 256 or more.
const LONGEST_NAME: usize = 255;

/// The sets of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    /// How many ranks run each program, in the order of the ranks.
    pub programs: Vec<usize>,
    /// Names and ranks, ascending, each once.
    pub named: Vec<(String, Vec<u32>)>,
}

/// Whether a set may have this name.
///
/// # Errors
/// Why not.
pub fn check_name(name: &str) -> Result<(), String> {
    let scheme = name.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if matches!(scheme.as_deref(), Some("mpi" | "mpix")) {
        return Err(format!("a process set cannot be called {name:?}: names of MPI begin so"));
    }
    if name.len() > LONGEST_NAME {
        return Err(format!(
            "the name of a process set has {} bytes, expected {LONGEST_NAME} or fewer",
            name.len()
        ));
    }
    let fits = |c: char| c.is_ascii_graphic() && !matches!(c, ';' | '=' | ',');
    if name.is_empty() || !name.chars().all(fits) {
        return Err(format!(
            "a process set cannot be called {name:?}, expected letters without spaces and without ; = ,"
        ));
    }
    Ok(())
}

fn key(piece: usize) -> String {
    format!("{KEY}{piece}")
}

impl Sets {
    /// Adds ranks to the set of this name, which keeps the case that it was first written in.
    pub fn add(&mut self, name: &str, ranks: impl IntoIterator<Item = u32>) {
        let place =
            self.named.iter().position(|(known, _)| known.eq_ignore_ascii_case(name)).unwrap_or_else(|| {
                self.named.push((name.to_owned(), Vec::new()));
                self.named.len() - 1
            });
        let set = &mut self.named[place].1;
        set.extend(ranks);
        set.sort_unstable();
        set.dedup();
    }

    /// What the ranks find in their key-value space.
    pub fn emit(&self) -> Vec<Pair> {
        let programs: Vec<String> = self.programs.iter().map(usize::to_string).collect();
        let mut text = programs.join(",");
        for (name, ranks) in &self.named {
            let spans = ranks.chunk_by(|rank, next| rank + 1 == *next).map(|span| match span {
                [first, .., last] => format!("{first}-{last}"),
                _ => span[0].to_string(),
            });
            text.extend([";", name, "=", &spans.collect::<Vec<_>>().join(",")]);
        }
        // Names have no letters of several bytes ([`check_name`]).
        let pieces = text.as_bytes().chunks(LONGEST_VALUE).map(String::from_utf8_lossy);
        (0..).zip(pieces).map(|(number, piece)| (key(number), piece.into_owned())).collect()
    }

    /// The text of the sets, from the values under keys; `None` when there is none.
    ///
    /// # Errors
    /// Those of `get`.
    pub fn gather<E>(mut get: impl FnMut(&str) -> Result<Option<String>, E>) -> Result<Option<String>, E> {
        let Some(mut text) = get(&key(0))? else { return Ok(None) };
        for number in 1.. {
            if text.len() < number * LONGEST_VALUE {
                break;
            }
            let Some(piece) = get(&key(number))? else { break };
            text.push_str(&piece);
        }
        Ok(Some(text))
    }

    /// What the text says, for a job of `size` ranks; `None` where it makes no sense.
    pub fn parse(text: &str, size: usize) -> Option<Self> {
        let (programs, named) =
            text.split_once(';').map_or((text, None), |(programs, rest)| (programs, Some(rest)));
        let programs = programs.split(',').map(|count| count.parse().ok()).collect::<Option<Vec<usize>>>()?;
        let sum = programs.iter().try_fold(0usize, |sum, count| sum.checked_add(*count))?;
        if sum != size {
            return None;
        }
        let mut sets = Self { programs, named: Vec::new() };
        for set in named.into_iter().flat_map(|named| named.split(';')) {
            let (name, spans) = set.split_once('=')?;
            let mut ranks: Vec<u32> = Vec::new();
            for span in spans.split(',') {
                let (first, last) = span.split_once('-').unwrap_or((span, span));
                let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
                let behind = ranks.last().is_none_or(|before| *before < first);
                if !behind || last < first || last as usize >= size {
                    return None;
                }
                ranks.extend(first..=last);
            }
            sets.named.push((name.to_owned(), ranks));
        }
        Some(sets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn what_is_written_is_read() {
        let mut sets = Sets { programs: vec![4, 2], named: Vec::new() };
        sets.add("ocean", 0..4);
        sets.add("edge", [5, 0]);
        sets.add("edge", [3, 5]);
        assert_eq!(sets.emit(), [(key(0), "4,2;ocean=0-3;edge=0,3,5".into())]);
        assert_eq!(Sets::parse("4,2;ocean=0-3;edge=0,3,5", 6), Some(sets));
        assert_eq!(Sets::parse("3", 3).unwrap().programs, [3]);
    }

    #[test]
    fn names_that_differ_by_case_are_one() {
        let mut sets = Sets { programs: vec![4], named: Vec::new() };
        sets.add("Ocean", [1]);
        sets.add("oCEAN", [0]);
        assert_eq!(sets.named, [("Ocean".into(), vec![0, 1])]);
    }

    #[test]
    fn a_long_text_is_told_in_pieces() {
        for programs in [2047, 2048, 2049, 70_000] {
            let mut sets = Sets { programs: vec![1; programs], named: Vec::new() };
            sets.add(&"n".repeat(LONGEST_NAME), (0..programs as u32).step_by(2));
            for sets in [sets.clone(), Sets { named: Vec::new(), ..sets }] {
                let told: HashMap<String, String> = sets.emit().into_iter().collect();
                assert!(told.values().all(|piece| piece.len() <= LONGEST_VALUE));
                let text = Sets::gather(|key| Ok::<_, ()>(told.get(key).cloned())).unwrap().unwrap();
                assert!(Sets::parse(&text, programs) == Some(sets), "{programs} programs");
            }
        }
        // Two pieces to the last byte.
        let full =
            |key: &str| Ok::<_, ()>((key < "posthaste-process-sets-2").then(|| "1".repeat(LONGEST_VALUE)));
        assert_eq!(Sets::gather(full).unwrap().unwrap().len(), 2 * LONGEST_VALUE);
        assert_eq!(Sets::gather(|_| Ok::<_, ()>(None)), Ok(None));
    }

    #[test]
    fn nonsense_is_no_set() {
        for wrong in [
            "",
            "2",
            "4,x",
            "6;",
            "6;a",
            "6;a=",
            "6;a=6",
            "6;a=2-1",
            "6;a=1,1",
            "6;a=3,1",
            "6;a=0-4294967295",
        ] {
            assert_eq!(Sets::parse(wrong, 6), None, "{wrong}");
        }
        for wrong in ["", "a b", "a=b", "a,b", "mpi://x", "MPIX://x", "é"] {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
        assert!(check_name("app://ocean-2.1").is_ok());
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[0-9,;=a-]{0,30}") {
            let _ = Sets::parse(&text, 5);
        }
    }
}
