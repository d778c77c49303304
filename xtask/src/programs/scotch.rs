//! PT-Scotch, with MPI_THREAD_MULTIPLE: partitions and orders a graph; serial Scotch then measures what came out, and it
//! must be about as good as serial Scotch's own. And the tests of distributed graphs that come with it.

use std::fs;

use super::{Program, RANKS, Ranks, Site, Tier, numbers};
use crate::{project::Fallible, tally::Tally};

pub(super) const PROGRAM: Program = Program {
    name: "scotch",
    tier: Tier::Gate,
    source: "scotch",
    parts: &[],
    needs: &["make", "xz-utils", "zlib1g-dev", "bison", "flex"],
    build: BUILD,
    tests: 2 * RANKS.len() + TESTS.len(),
    check,
};

const BUILD: &str = "
    cd src
    sed 's/-O3/-O1/; s/-ruv/-rc/; s/^CCD.*/CCD = mpicc/' Make.inc/Makefile.inc.x86-64_pc_linux2 >Makefile.inc
    make -s -j$JOBS scotch
    make -s -j$JOBS ptscotch
    make -s -C check -j$JOBS CC='mpicc -DSCOTCH_PTSCOTCH' SCOTCHLIBS='-lptscotch -lscotch -lptscotcherr' \\
        test_scotch_dgraph_band test_scotch_dgraph_check test_scotch_dgraph_coarsen \\
        test_scotch_dgraph_grow test_scotch_dgraph_induce test_scotch_dgraph_redist";

/// Its own programs; each ends with an error when a distributed graph is not what it should be.
const TESTS: [&str; 6] = ["band", "check", "coarsen", "grow", "induce", "redist"];

/// The graph: 9800 vertices, 28989 edges.
const GRAPH: &str = "src/check/data/bump.grf";
const PARTS: &str = "9";

fn check(site: &Site, tally: &mut Tally) {
    for ranks in RANKS {
        let name = format!("scotch: {PARTS} parts by {ranks}, as good as serial");
        tally.test(&name, || partition(site, ranks));
        tally.test(&format!("scotch: an order by {ranks}, as good as serial"), || order(site, ranks));
    }
    for test in TESTS {
        tally.test(&format!("scotch's own test of distributed graphs: {test}"), || {
            let folder = site.source.join("src/check");
            let graph = site.source.join(GRAPH);
            let program = format!("./test_scotch_dgraph_{test}");
            site.mpiexec(Ranks::of(3), &folder).arg(program).arg(graph).succeed().map(drop)
        });
    }
}

/// Few edges are cut, and the parts are even.
fn partition(site: &Site, ranks: Ranks) -> Fallible {
    let folder = site.scratch("scotch")?;
    fs::write(folder.join("target"), format!("cmplt {PARTS}\n")).map_err(|e| format!("target: {e}"))?;
    let (graph, bin) = (site.source.join(GRAPH), site.source.join("bin"));
    let job = site.mpiexec(ranks, &folder).arg(bin.join("dgpart")).arg(PARTS);
    job.arg(&graph).arg("parts").succeed()?;
    site.run(bin.join("gpart"), &folder).arg(PARTS).arg(&graph).arg("serial").succeed()?;
    let measure = |parts: &str| {
        let job = site.run(bin.join("gmtst"), &folder).arg(&graph).arg("target").arg(parts);
        job.succeed().map(|outcome| outcome.stdout)
    };
    let (ours, serial) = (measure("parts")?, measure("serial")?);
    if !ours.contains(&format!("Processors {PARTS}/{PARTS} ")) {
        return Err(format!(
            "    not all of {PARTS} parts have vertices:
{ours}"
        ));
    }
    let cut = |said: &str| numbers::after(said, "CommCutSz=");
    numbers::at_most("the part of the edges that is cut", cut(&ours), 1.2 * cut(&serial))?;
    numbers::at_most("the largest part over the average", numbers::after(&ours, "maxavg="), 1.25)
}

/// An elimination in this order fills in little.
fn order(site: &Site, ranks: Ranks) -> Fallible {
    let folder = site.scratch("scotch")?;
    let (graph, bin) = (site.source.join(GRAPH), site.source.join("bin"));
    site.mpiexec(ranks, &folder).arg(bin.join("dgord")).arg(&graph).arg("order").succeed()?;
    site.run(bin.join("gord"), &folder).arg(&graph).arg("serial").succeed()?;
    let fill = |order: &str| -> Fallible<f64> {
        let said = site.run(bin.join("gotst"), &folder).arg(&graph).arg(order).succeed()?.stdout;
        Ok(numbers::after(&said, "NNZ="))
    };
    numbers::at_most("the factor's entries", fill("order")?, 1.15 * fill("serial")?)
}
