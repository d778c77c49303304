//! Programs that people run, over two hosts of two ranks each: shared memory inside, TCP between.
//!
//! What must stay true: what they compute is what they compute on one host, bit for bit.

use super::House;
use crate::{demo, mpi::Mpi, process::Job, project::Project, python, tally::Tally};

/// How many tests there are.
pub(super) const TESTS: usize = 4 + OPENMPI;
const OPENMPI: usize = 3;

pub(super) fn run(project: &Project, house: &House<'_>, tally: &mut Tally) {
    tally.test("hosts: the demo's heat equation on two hosts, bit for bit as on one rank", || {
        demo::across(project, house.mpi, house.rig.on(1, house.ours(&["1", "2"], 2)))
    });
    match python::environment(project) {
        Ok(environment) => {
            let benches: [(&str, usize, &[&str]); 3] = [
                ("helloworld", 2, &[]),
                ("ringtest", 2, &["--size", "1024", "--loop", "1000"]),
                ("pingpong", 1, &["--max-size", "1048576", "--loop", "1000", "--loop-large", "100"]),
            ];
            for (bench, each, options) in benches {
                tally.test(&format!("hosts: mpi4py's {bench} on two hosts"), || {
                    let job = house.ours(&["1", "2"], each).arg(&environment.python);
                    house.succeed(job.args(["-m", "mpi4py.bench", bench]).args(options)).map(drop)
                });
            }
        }
        Err(complaint) => tally.test("hosts: environment with mpi4py", || Err(complaint)),
    }
    match Mpi::rival(project, "openmpi") {
        Ok(openmpi) => house.under_prrte(&openmpi, tally),
        Err(why) => {
            tally.not_run(OPENMPI, format!("Open MPI's launcher: {}", why.lines().next().unwrap_or_default()))
        }
    }
}

impl House<'_> {
    /// So many ranks of Open MPI's launcher, over ssh, on a list of hosts, with our library and its settings.
    pub(super) fn prrte(&self, openmpi: &Mpi, hosts: &str, ranks: usize) -> Job {
        let job = openmpi.plain().args(["--allow-run-as-root", "--bind-to", "none", "--host", hosts]);
        let library = format!("LD_LIBRARY_PATH={}", self.mpi.library().to_string_lossy());
        let names = format!("POSTHASTE_NAMES={}", self.names().display());
        job.args(["-n", &ranks.to_string(), "env", &library, &names]).limit(60)
    }

    /// What Open MPI's launcher does with them.
    fn under_prrte(&self, openmpi: &Mpi, tally: &mut Tally) {
        let launch = || self.prrte(openmpi, "host1:2,host2:2", 4);
        tally.test("hosts: Open MPI's mpirun over ssh: two ranks on each of two hosts", || {
            let said = self.succeed(launch().arg(&self.places))?.stdout;
            Self::have_places(&said, 4, 2)
        });
        tally.test("hosts: Open MPI's mpirun over ssh: C tests on two hosts", || {
            self.tests.iter().try_for_each(|test| self.succeed(launch().arg(test)).map(drop))
        });
        tally.test("hosts: Open MPI's mpirun over ssh: an abort ends the ranks of all hosts", || {
            let watch = crate::leftovers::Watch::begin();
            let job: Job = self.keeping(launch(), &self.faulty, &["abort", "7"]);
            let outcome = self.rig.on(1, watch.mark(job)).run()?;
            self.fails(&watch, &outcome, "MPI_Abort(7)", 20)
        });
    }
}
