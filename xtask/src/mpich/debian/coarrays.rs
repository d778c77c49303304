//! Coarrays of Fortran, whose library Debian has linked to its MPICH, by that library's own tests: one-sided communication that a compiler
//! has written. And NetPIPE, as Debian has built it for MPICH.

use std::path::Path;

use super::program;
use crate::{
    mpi::Mpi,
    project::{Fallible, Project},
    tally::Tally,
    unpacked::{Needs, Unpacked},
};

const PACKAGES: [&str; 2] = ["libcoarrays-mpich-dev", "netpipe-mpich2"];

/// Where Debian has put the tests.
const TESTS: &str = "open-coarrays/mpich/bin/OpenCoarrays-2.10.1-tests";

/// Tests with the numbers of images that they want. The library is not built for images that fail, so those of failed images have
/// to be left out; two more take a minute, and two (`increment_my_neighbor`,
/// `coarray_burgers_pde`) write to images that may not have set their first values yet, and fail now and then, the former with MPICH, too.
const COARRAYS: [(usize, &[&str]); 3] = [
    (2, &["issue-515-mimic-mpi-gatherv", "issue-552-send_by_ref-singleton"]),
    (
        4,
        &[
            "alloc_comp_get_convert_nums",
            "async_comp_alloc_2",
            "atomics",
            "co_broadcast_test",
            "co_max_test",
            "co_reduce_test",
            "co_sum_test",
            "coarray_distributed_transpose",
            "comp_allocated_1",
            "convert-before-put",
            "duplicate_syncimages",
            "get_communicator",
            "get_with_vector_index",
            "initialize_mpi",
            "register_vector",
            "send_with_vector_index",
            "sendget_convert_nums",
            "static_event_post_issue_293",
            "strided_sendget",
            "sync_image_ring_abort_on_stopped_image",
            "syncimages_status",
            "teams_coarray_sendget",
            "whole_get_array",
        ],
    ),
    (8, &["issue-493-coindex-slice", "sync_team", "team_number"]),
];

/// How many tests these are.
pub(super) const COUNT: usize = COARRAYS.len() + 1;

pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let unpacked = match Unpacked::fetch(project, "coarrays", &PACKAGES, Needs::No) {
        Ok(unpacked) => unpacked,
        Err(complaint) => {
            return tally.not_run(COUNT, format!("mpich: coarrays can't be fetched: {complaint}"));
        }
    };
    for (images, tests) in COARRAYS {
        let name = format!("mpich: Debian's coarrays of Fortran, {} tests with {images} images", tests.len());
        tally.test(&name, || coarrays(mpi, &unpacked, images, tests));
    }
    tally.test("mpich: Debian's NetPIPE, each byte of its messages", || netpipe(project, mpi, &unpacked));
}

fn coarrays(mpi: &Mpi, unpacked: &Unpacked, images: usize, tests: &[&str]) -> Fallible {
    for test in tests {
        let path = unpacked.libraries().join(TESTS).join(test);
        let outcome = program(mpi, unpacked, images, &path).limit(60).run()?;
        if !outcome.ok() || !outcome.stdout.to_lowercase().contains("test passed") {
            return Err(outcome.complaint());
        }
    }
    Ok(())
}

fn netpipe(project: &Project, mpi: &Mpi, unpacked: &Unpacked) -> Fallible {
    let here = project.folder("debian/netpipe")?;
    let path = unpacked.root.join("usr/bin/NPmpich2");
    let job = program(mpi, unpacked, 2, &path).args(["-i", "-u", "20000", "-o"]).arg(here.join("np.out"));
    let said = job.dir(Path::new(&here)).limit(60).succeed()?.all();
    let passed = said.matches("Integrity check passed").count();
    if passed >= 24 { Ok(()) } else { Err(format!("only {passed} lengths passed:\n{said}")) }
}
