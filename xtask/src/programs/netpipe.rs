//! NetPIPE: messages of some 100 sizes between two ranks, each byte of which it checks ("integrity
//! check"); blocking, synchronous, and with receives posted in advance.

use super::{Program, Ranks, Site, Tier};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "netpipe",
    tier: Tier::Gate,
    source: "netpipe",
    parts: &[],
    needs: &["make"],
    build: "make mpi",
    tests: RUNS.len(),
    check,
};

/// Blocking, synchronous, with receives posted in advance, from any source, without copies in the cache. It knows two
/// ranks only.
const RUNS: [(Ranks, &[&str]); 6] = [
    (Ranks::of(2), &[]),
    (Ranks::of(2), &["-S"]),
    (Ranks::of(2), &["-a"]),
    (Ranks::of(2), &["-z"]),
    (Ranks::of(2), &["-I"]),
    (Ranks::tcp(2), &["-a"]),
];

/// Up to this many bytes, with sizes a few bytes beside each step, as it does by itself.
const LARGEST: &str = "300000";
/// So often each; else it chooses by time.
const REPEATS: &str = "50";
/// How many sizes there are up to there.
const SIZES: usize = 33;

fn check(site: &Site, tally: &mut Tally) {
    for (ranks, options) in RUNS {
        let name = format!("netpipe -i {} with {ranks}: every byte is right", options.join(" "));
        tally.test(&name, || {
            let folder = site.scratch("netpipe")?;
            let job = site.mpiexec(ranks, &folder).arg(site.source.join("NPmpi")).args(options);
            intact(&job.args(["-i", "-n", REPEATS, "-u", LARGEST, "-o", "np.out"]).succeed()?.all())
        });
    }
}

/// One line for each size, and each says that the check passed.
fn intact(said: &str) -> Fallible {
    let sizes: Vec<&str> = said.lines().filter(|line| line.contains(" bytes ")).collect();
    match sizes.iter().find(|line| !line.contains("Integrity check passed")) {
        Some(line) => Err(format!("    {line}")),
        None if sizes.len() < SIZES => {
            Err(format!("    {} sizes were checked; it should be at least {SIZES}\n{said}", sizes.len()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_and_a_missing_size_are_seen() {
        let line = "  1:       3 bytes   50 times -->  Integrity check passed\n";
        assert!(intact(&line.repeat(SIZES)).is_ok() && intact(&line.repeat(SIZES - 1)).is_err());
        assert!(intact(&line.repeat(SIZES).replacen("passed", "failed", 1)).is_err());
    }
}
