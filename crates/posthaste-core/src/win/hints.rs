//! Hints of windows (MPI-5.0 §12.2.1 to §12.2.4, §12.4.3).
//!
//! What must stay true: a window shows the hints that it knows, each with the value in force; `mpi_accumulate_granularity` as it was given, which
//! all members have to give alike. What is unknown, has a value that means nothing, or is not so, is ignored and not shown.

use std::sync::atomic::{AtomicBool, Ordering};

use posthaste_os::mapped::PAGE;

use super::Flavor;
use crate::info::Info;

/// Orders of accumulate operations, of which a program may want any.
const ORDERS: [&str; 4] = ["rar", "raw", "war", "waw"];

/// The hints of a window.
#[derive(Debug)]
pub struct Hints {
    shown: Info,
    /// The program takes no locks.
    no_locks: AtomicBool,
    flavor: Flavor,
}

/// What is so of a new window, whatever a program says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) same_size: bool,
    pub(crate) same_unit: bool,
    /// The library's memory of each member begins at a place of its own.
    pub(crate) apart: bool,
}

impl Hints {
    /// Those of a new window.
    pub(crate) fn new(flavor: Flavor, facts: Facts, given: &Info) -> Self {
        let hints = Self { shown: Info::new(), no_locks: AtomicBool::new(false), flavor };
        hints.show("no_locks", "false");
        hints.show("accumulate_ordering", "rar,raw,war,waw");
        hints.show("accumulate_ops", "same_op_no_op");
        hints.show("mpi_accumulate_granularity", &granularity(given).to_string());
        let really = |key: &str, is_so: bool| is_so && value(given, key).as_deref() == Some("true");
        hints.show("same_size", truth(really("same_size", facts.same_size)));
        hints.show("same_disp_unit", truth(really("same_disp_unit", facts.same_unit)));
        hints.show("mpi_memory_alloc_kinds", "mpi,system");
        if flavor == Flavor::Shared {
            hints.show("alloc_shared_noncontig", truth(facts.apart));
        }
        if let Some(wanted) = alignment(given).filter(|_| facts.apart) {
            hints.show("mpi_minimum_memory_alignment", &wanted.to_string());
        }
        hints.set(given);
        hints
    }

    /// `MPI_Win_set_info`: what may change while there is a window.
    pub fn set(&self, given: &Info) {
        if let Some(no_locks) = value(given, "no_locks").filter(|value| is_truth(value)) {
            self.no_locks.store(no_locks == "true", Ordering::Relaxed);
            self.show("no_locks", &no_locks);
        }
        if let Some(order) = value(given, "accumulate_ordering").and_then(|value| order(&value)) {
            self.show("accumulate_ordering", &order);
        }
        let known = |value: &String| ["same_op", "same_op_no_op"].contains(&value.as_str());
        if let Some(operations) = value(given, "accumulate_ops").filter(known) {
            self.show("accumulate_ops", &operations);
        }
    }

    /// All of them.
    pub fn shown(&self) -> &Info {
        &self.shown
    }

    /// Whether the program takes no locks.
    #[inline]
    pub(crate) fn no_locks(&self) -> bool {
        self.no_locks.load(Ordering::Relaxed)
    }

    fn show(&self, key: &str, value: &str) {
        // Keys and values are short.
        let set = self.shown.set(key.as_bytes(), value.as_bytes());
        debug_assert!(set.is_ok(), "{key} of {:?}", self.flavor);
    }
}

/// Whether this member does not need the memory of a shared window in one piece. It is in pieces if that is so of all of them.
pub(crate) fn noncontiguous(given: &Info) -> bool {
    value(given, "alloc_shared_noncontig").as_deref() == Some("true")
}

/// The alignment in force of memory of the library, in bytes: what is wanted, a page at most, of where each member's memory
/// begins. One behind the other, parts of memory begin where they must.
pub(crate) fn alignment(given: &Info) -> Option<usize> {
    wanted_alignment(given).map(|wanted| wanted.min(PAGE))
}

/// Bytes of elements that accumulate operations change at once, as far as the program says, in a new window; 0: as the library likes.
pub(crate) fn granularity(given: &Info) -> u64 {
    value(given, "mpi_accumulate_granularity").and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// The alignment that a program wants, in bytes; what is no power of two means nothing.
pub fn wanted_alignment(given: &Info) -> Option<usize> {
    let wanted = value(given, "mpi_minimum_memory_alignment")?.parse::<usize>().ok()?;
    wanted.is_power_of_two().then_some(wanted)
}

/// A value as text; one that is none means nothing here.
fn value(given: &Info, key: &str) -> Option<String> {
    given
        .get(key.as_bytes())
        .and_then(|value| String::from_utf8(value).ok())
        .map(|value| value.trim().to_owned())
}

fn is_truth(value: &str) -> bool {
    ["true", "false"].contains(&value)
}

fn truth(is_so: bool) -> &'static str {
    if is_so { "true" } else { "false" }
}

/// The orders that are wanted, as they are shown; more are kept in any case.
fn order(value: &str) -> Option<String> {
    if value == "none" {
        return Some(value.to_owned());
    }
    let wanted: Vec<&str> = value.split(',').map(str::trim).collect();
    let known = wanted.iter().all(|order| ORDERS.contains(order));
    let all = ORDERS.into_iter().filter(|order| wanted.contains(order)).collect::<Vec<_>>();
    known.then(|| all.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pairs: &[(&str, &str)]) -> Info {
        let info = Info::new();
        pairs.iter().for_each(|(key, value)| info.set(key.as_bytes(), value.as_bytes()).unwrap());
        info
    }

    fn shown(hints: &Hints, key: &str) -> Option<String> {
        value(hints.shown(), key)
    }

    #[test]
    fn hints_in_force_are_shown_and_others_are_not() {
        let facts = Facts { same_size: true, same_unit: false, apart: false };
        let given = info(&[
            ("no_locks", "true"),
            ("same_size", "true"),
            ("same_disp_unit", "true"),
            ("accumulate_ordering", "waw, rar"),
            ("accumulate_ops", "any"),
            ("mpi_accumulate_granularity", "-3"),
            ("mpi_minimum_memory_alignment", "1048576"),
            ("alloc_shared_noncontig", "yes"),
            ("who_knows", "this"),
        ]);
        let hints = Hints::new(Flavor::Shared, facts, &given);
        let expected = [
            ("no_locks", Some("true")),
            ("same_size", Some("true")),
            ("same_disp_unit", Some("false")),
            ("accumulate_ordering", Some("rar,waw")),
            ("accumulate_ops", Some("same_op_no_op")),
            ("mpi_accumulate_granularity", Some("0")),
            ("mpi_minimum_memory_alignment", None),
            ("mpi_memory_alloc_kinds", Some("mpi,system")),
            ("alloc_shared_noncontig", Some("false")),
            ("who_knows", None),
        ];
        for (key, value) in expected {
            assert_eq!(shown(&hints, key).as_deref(), value, "{key}");
        }
        let wanted = info(&[("alloc_shared_noncontig", "true"), ("mpi_minimum_memory_alignment", "1048576")]);
        let alone = Hints::new(Flavor::Shared, facts, &wanted);
        assert_eq!(
            shown(&alone, "alloc_shared_noncontig").as_deref(),
            Some("false"),
            "others need one piece"
        );
        assert_eq!(shown(&alone, "mpi_minimum_memory_alignment"), None);
        let apart = Hints::new(Flavor::Shared, Facts { apart: true, ..facts }, &wanted);
        assert_eq!(shown(&apart, "alloc_shared_noncontig").as_deref(), Some("true"));
        assert_eq!(shown(&apart, "mpi_minimum_memory_alignment").as_deref(), Some("4096"), "a page at most");
        hints.set(&info(&[("no_locks", "false"), ("same_size", "false"), ("accumulate_ordering", "raw,no")]));
        assert!(!hints.no_locks() && shown(&hints, "no_locks").as_deref() == Some("false"));
        assert_eq!(shown(&hints, "same_size").as_deref(), Some("true"), "it cannot change");
        assert_eq!(shown(&hints, "accumulate_ordering").as_deref(), Some("rar,waw"));
    }
}
