//! Lists of numbers on the command line: `0,2-5`.
//!
//! Pure. What must stay true: a mistake is one sentence that names the option.

use super::MOST_RANKS;
use posthaste_pmi::sets::check_name;
use posthaste_pmi::spawn::Input;

/// The ranks that get standard input.
pub(super) fn input(option: &str, given: &str) -> Result<Input, String> {
    match given {
        "all" => Ok(Input::All),
        "none" => Ok(Input::Ranks(Vec::new())),
        list => {
            let ranks = numbers(list).ok_or_else(|| {
                format!("-{option} {given}: expected all, none, or numbers of ranks as in 0,2-5")
            })?;
            Ok(Input::Ranks(ranks.into_iter().map(|rank| rank as u32).collect()))
        }
    }
}

/// A process set: its name and, where they are given, its ranks.
pub(super) fn process_set(option: &str, given: &str) -> Result<(String, Option<Vec<u32>>), String> {
    let (name, list) = given.split_once('=').map_or((given, None), |(name, list)| (name, Some(list)));
    check_name(name).map_err(|why| format!("-{option}: {why}"))?;
    let Some(list) = list else { return Ok((name.into(), None)) };
    let ranks = numbers(list)
        .ok_or_else(|| format!("-{option} {given}: expected numbers of ranks behind the =, as in 0,2-5"))?;
    Ok((name.into(), Some(ranks.into_iter().map(|rank| rank as u32).collect())))
}

/// CPUs.
pub(super) fn cpus(option: &str, given: &str) -> Result<Vec<usize>, String> {
    numbers(given).ok_or_else(|| format!("-{option} {given}: expected numbers of CPUs as in 0,2-5"))
}

/// Which rights new files do not get, in octal digits.
pub(super) fn umask(option: &str, given: &str) -> Result<u32, String> {
    let mask = u32::from_str_radix(given, 8).ok().filter(|mask| *mask <= 0o777);
    mask.ok_or_else(|| format!("-{option} {given}: expected octal digits up to 777, as in 022"))
}

/// The numbers of a list, ascending, each once.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
        if last < first || last >= MOST_RANKS {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::{numbers, process_set};

    #[test]
    fn process_sets_are_read() {
        assert_eq!(process_set("pset", "ocean"), Ok(("ocean".into(), None)));
        assert_eq!(process_set("pset", "ocean=2,0-1"), Ok(("ocean".into(), Some(vec![0, 1, 2]))));
        for (wrong, part) in
            [("", "cannot be called"), ("mpi://A", "begin so"), ("a=x", "behind the ="), ("a=", "behind")]
        {
            let why = process_set("pset", wrong).unwrap_err();
            assert!(why.starts_with("-pset") && why.contains(part), "{why}");
        }
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(numbers("3").unwrap(), [3]);
        assert_eq!(numbers("4, 0-2,1").unwrap(), [0, 1, 2, 4]);
        for wrong in ["", ",", "a", "1-", "-1", "3-2", "0-65536", "1;2"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
