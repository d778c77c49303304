//! What the counters say of real jobs (`mpiexec -counters`). In the part `methods` of `cargo xtask test`.

use crate::{
    copies,
    ctests::{Over, cpus_of_this_process, helper},
    mpi::Mpi,
    project::{Fallible, Project},
    tally::Tally,
};

/// All of it.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    if Over::Atomics.can_be_used(project).is_ok() {
        let name = "c over libfabric: its provider does the atomic operations on windows";
        tally.test(name, || by_provider(project, mpi));
    }
    tally.test("c over tcp and a plug-in: short accesses leave together", || gathered(project, mpi));
    tally.test("c over tcp: a connection for each VCI that is used", || connections(project, mpi));
    tally.test("c: bytes that collective operations copy for each that they deliver", || {
        collective(project, mpi)
    });
}

/// Counters are changed by libfabric's provider where that is asked for, and by their owner otherwise; puts and gets go through the
/// network's access to memory, which TCP alone does not have.
fn by_provider(project: &Project, mpi: &Mpi) -> Fallible {
    let program = helper(project, mpi, "", "win_requests")?;
    for (over, changes, transfers) in
        [(Over::Atomics, true, true), (Over::Fabric, false, true), (Over::Tcp, false, false)]
    {
        let job = over.method(project, mpi.mpiexec(2, false).arg("-counters").arg(&program));
        let said = job.env("POSTHASTE_MAP_WINDOWS", "0").succeed()?.all();
        for (counter, expected) in [("onesided.changes", changes), ("onesided.transfers", transfers)] {
            if copies::counted(&said, counter) != expected {
                return Err(format!(
                    "over {}, a counter {counter}: {expected} was expected\n{said}",
                    over.name()
                ));
            }
        }
    }
    Ok(())
}

/// Two ranks that use ten communicators and MPI_COMM_WORLD have one connection, or one for each VCI.
fn connections(project: &Project, mpi: &Mpi) -> Fallible {
    let program = helper(project, mpi, "", "vcis")?;
    for (vcis, expected) in [("1", 1), ("3", 3), ("8", 8)] {
        let job = Over::Tcp.method(project, mpi.mpiexec(2, false).arg("-counters").arg(&program));
        let said = job.env("POSTHASTE_VCIS", vcis).succeed()?.all();
        // Each rank counts its end; where both have called, one of the two connections has been given up.
        let made = copies::count(&said, "connections.made");
        if !(2 * expected..=3 * expected).contains(&made) {
            return Err(format!(
                "with {vcis} VCIs {made} ends of connections, expected {}\n{said}",
                2 * expected
            ));
        }
    }
    Ok(())
}

/// Of thousands of short accesses in a row nearly all leave together with others.
fn gathered(project: &Project, mpi: &Mpi) -> Fallible {
    const ACCESSES: u64 = 12_000; // by two ranks, 2,000 in each of three rounds
    let program = helper(project, mpi, "", "win_gathered")?;
    for over in [Over::Tcp, Over::Plugin] {
        over.can_be_used(project)?;
        let job = over.method(project, mpi.mpiexec(2, false).arg("-counters").arg(&program));
        let said = job.env("POSTHASTE_MAP_WINDOWS", "0").succeed()?.all();
        let gathered = copies::count(&said, "packets.gathered");
        if gathered < ACCESSES * 9 / 10 {
            let name = over.name();
            return Err(format!(
                "over {name}, of {ACCESSES} accesses {gathered} left together with others\n{said}"
            ));
        }
    }
    Ok(())
}

/// What goes to memory of the program is copied there once, and what a rank gives itself, too; operands are combined as they arrive. Each
/// function with the bytes that four ranks deliver for each of an operand or a block, and those that they copy, in twelfths.
const COLLECTIVE: [(&str, u64, u64); 6] = [
    ("bcast", 36, 36),
    ("reduce", 45, 9), // a quarter of the ranks' sums goes to the root in blocks
    ("allreduce", 72, 36),
    ("gather", 36, 48),
    ("scatter", 36, 48),
    ("alltoall", 144, 192),
];

fn collective(project: &Project, mpi: &Mpi) -> Fallible {
    const ELEMENTS: u64 = 1 << 16;
    const TURNS: u64 = 10;
    let program = helper(project, mpi, "count", "coll_copies")?;
    for over in [Over::Own, Over::Tcp] {
        for (function, delivered, copied) in COLLECTIVE {
            let job = over.method(project, mpi.mpiexec(4, false).arg("-counters").arg(&program));
            // Without the memory from which several ranks copy, which is one more copy, so that none waits for another one's CPU.
            let job = job.args([function, &ELEMENTS.to_string()]).env("POSTHASTE_BOARD_LIMIT", "100000000");
            // On two CPUs, because the ways depend on them.
            let said = job.under(&["taskset", "-c", &cpus_of_this_process(2)]).succeed()?.all();
            for (counter, twelfths) in
                [("bytes.collective.delivered", delivered), ("bytes.collective.copied", copied)]
            {
                let (bytes, expected) = (copies::count(&said, counter), ELEMENTS * 8 * TURNS * twelfths / 12);
                // A few more come with the end of the job.
                if bytes < expected || bytes > expected + 4096 {
                    let name = over.name();
                    return Err(format!(
                        "{function} over {name}: {counter} is {bytes}, expected {expected}\n{said}"
                    ));
                }
            }
        }
    }
    Ok(())
}
