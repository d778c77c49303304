//! HPC Challenge: Linpack (HPL), PTRANS, RandomAccess, FFT and others in one program, each of which checks its result;
//! and the norms of Linpack's matrix and solution, which must be those of one rank.

use std::{fmt::Write as _, fs};

use super::{Program, RANKS, Site, Tier, numbers};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "hpcc",
    tier: Tier::Gate,
    source: "hpcc",
    parts: &[],
    needs: &["make", "libopenblas-dev"],
    build: BUILD,
    tests: RANKS.len(),
    check,
};

/// Its makefile for this machine. With several receives at once, RandomAccess takes the end of a peer for the end of its
/// updates, although MPI_Testany may give the later message first: updates are lost. So it posts one.
const BUILD: &str = r"
    cat >hpl/Make.here <<'END'
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir
RM = /bin/rm -f
TOUCH = touch
ARCH = here
TOPdir = ../../..
INCdir = $(TOPdir)/include
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) -lblas -lm
HPL_DEFS = -DHPL_CALL_CBLAS $(HPL_INCLUDES)
CC = mpicc
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O1 -w
LINKER = mpicc
LINKFLAGS =
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
END
    sed -i '/#define USE_MULTIPLE_RECV/d' RandomAccess/RandomAccess.h
    make -j$JOBS arch=here
    test -x hpcc";

/// The grids of processes for Linpack and PTRANS; more processes than these take part in the other programs.
fn grids(ranks: usize) -> &'static [(usize, usize)] {
    match ranks {
        1 => &[(1, 1)],
        2 => &[(1, 2), (2, 1)],
        3 => &[(1, 3), (3, 1)],
        4..=6 => &[(2, 2), (1, 4)],
        _ => &[(7, 1), (2, 3)],
    }
}

/// The order of Linpack's matrix; the block sizes.
const ORDER: usize = 300;
const BLOCKS: [usize; 2] = [16, 33];

/// What does not depend on how many ranks work.
const NORMS: [&str; 5] = ["HPL_Anorm1=", "HPL_AnormI=", "HPL_Xnorm1=", "HPL_XnormI=", "HPL_BnormI="];

fn check(site: &Site, tally: &mut Tally) {
    let mut serial = None;
    for ranks in RANKS {
        let name = format!("hpcc with {ranks}: residuals, errors, and the norms of one rank");
        tally.test(&name, || {
            let folder = site.scratch("hpcc")?;
            let input = folder.join("hpccinf.txt");
            let grids = grids(ranks.count);
            fs::write(&input, settings(grids)).map_err(|e| format!("{}: {e}", input.display()))?;
            let job = site.mpiexec(ranks, &folder).arg(site.source.join("hpcc"));
            job.succeed()?;
            let output = folder.join("hpccoutf.txt");
            let said = fs::read_to_string(&output).map_err(|e| format!("{}: {e}", output.display()))?;
            right(&said, ranks.count, grids.len())?;
            let serial = serial.get_or_insert_with(|| said.clone());
            NORMS
                .iter()
                .try_for_each(|norm| numbers::agree(norm, value(&said, norm), value(serial, norm), 1e-5))
        });
    }
}

/// A value of the summary at the end, where lines are `NAME=VALUE`.
fn value(said: &str, name: &str) -> f64 {
    let value = said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    value.unwrap_or(f64::NAN)
}

/// What each of the parts says about itself.
fn right(said: &str, ranks: usize, grids: usize) -> Fallible {
    let exactly = |name: &str, wanted: f64| numbers::agree(name, value(said, name), wanted, 0.0);
    let count = |words: &str| said.matches(words).count();
    exactly("Success=", 1.0)?;
    #[expect(clippy::cast_precision_loss, reason = "a few ranks")]
    exactly("CommWorldProcs=", ranks as f64)?;
    exactly("MPIRandomAccess_Errors=", 0.0)?;
    exactly("MPIRandomAccess_LCG_Errors=", 0.0)?;
    numbers::at_most("PTRANS_residual=", value(said, "PTRANS_residual="), 1e-9)?;
    numbers::at_most("MPIFFT_maxErr=", value(said, "MPIFFT_maxErr="), 1e-12)?;
    // Linpack for each grid and block size, and once more on one rank for each.
    let solved = count("...... PASSED");
    if solved < grids * BLOCKS.len() || count("...... FAILED") > 0 {
        return Err(format!(
            "    Linpack's residual passed {solved} times and failed {}; it should pass {} times\n{said}",
            count("...... FAILED"),
            grids * BLOCKS.len()
        ));
    }
    Ok(())
}

/// Its input file; the first words of each line count.
fn settings(grids: &[(usize, usize)]) -> String {
    let list = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.fold(String::new(), |mut line, number| {
            let _ = write!(line, "{number} ");
            line
        })
    };
    let rows = list(&mut grids.iter().map(|grid| grid.0));
    let columns = list(&mut grids.iter().map(|grid| grid.1));
    let blocks = list(&mut BLOCKS.into_iter());
    format!(
        "two lines\nof comment\nHPL.out file\n8 device\n1 orders\n{ORDER}\n{} block sizes\n{blocks}\n0 row-major\n\
         {} grids\n{rows}\n{columns}\n16.0 threshold\n1 panel factorisations\n2\n1 stopping criteria\n4\n\
         1 panels in recursion\n2\n1 recursive factorisations\n1\n1 broadcasts\n1\n1 depths\n1\n2 swap\n64\n\
         0 L1\n0 U\n1 equilibration\n8 alignment\nseparator\n0 more orders for PTRANS\n100\n\
         0 more block sizes for PTRANS\n16\n",
        BLOCKS.len(),
        grids.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_part_complains_about_is_seen() {
        let said = "...... PASSED\n...... PASSED\nSuccess=1\nCommWorldProcs=2\nMPIRandomAccess_Errors=0\n\
                    MPIRandomAccess_LCG_Errors=0\nPTRANS_residual=0\nMPIFFT_maxErr=1e-15\n";
        assert!(right(said, 2, 1).is_ok() && right(said, 3, 1).is_err() && right(said, 2, 2).is_err());
        for (good, bad) in [
            ("Success=1", "Success=0"),
            ("LCG_Errors=0", "LCG_Errors=3"),
            ("residual=0", "residual=0.1"),
            ("maxErr=1e-15", "maxErr=nan"),
            ("...... PASSED\nSuccess", "...... FAILED\nSuccess"),
            ("MPIFFT", "nothing"),
        ] {
            assert!(right(&said.replace(good, bad), 2, 1).is_err(), "{bad}");
        }
    }
}
