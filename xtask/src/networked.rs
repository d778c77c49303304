//! Collective operations on several hosts, measured: network namespaces with sshd ([`Rig`]), whose links pass ten gigabits a second.
//!
//! What must stay true: all contenders run on the same hosts, in turns, with as many ranks on each, and use the same network.

use crate::{
    bench::Plan,
    leftovers::Watch,
    measured::{Better, Measured, Row},
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    rig::{self, Rig},
};

/// How many hosts there are, and how many ranks on each.
pub(crate) const HOSTS: [(usize, usize); 2] = [(2, 4), (4, 2)];
/// What leaves a host, in megabits a second.
const RATE: u32 = 10_000;
/// The interface that all use.
const INTERFACE: &str = "eth1";

/// All contenders in turns; who can't do it says why, unless it is us.
pub(crate) fn in_turns(
    plan: &Plan,
    project: &Project,
    (hosts, each): (usize, usize),
    measured: &mut Measured,
) -> Fallible {
    if let Some(why) = rig::impossible() {
        return Err(format!("no hosts: {why}"));
    }
    let watch = Watch::begin();
    let mut rig = Rig::start(project, hosts, &watch)?;
    for host in 1..=hosts {
        rig.shape(host, INTERFACE, Some(RATE))?;
    }
    for mpi in plan.contenders() {
        let job = launch(mpi, &rig, hosts, each).arg(plan.program(mpi, "hosts")).arg(hosts.to_string());
        match rig.on(1, watch.mark(job)).limit(300).succeed() {
            Ok(outcome) => measured.take(mpi.name, &outcome.stdout),
            Err(why) if mpi.name == "posthaste" => return Err(why),
            Err(why) => eprintln!("{} can't do this on {hosts} hosts: {why}", mpi.name),
        }
    }
    rig.stop()
}

/// So many ranks on each of the hosts, to be completed with a program.
fn launch(mpi: &Mpi, rig: &Rig, hosts: usize, each: usize) -> Job {
    let names: Vec<String> = (1..=hosts).map(|host| format!("host{host}")).collect();
    let all = (hosts * each).to_string();
    let job = mpi.plain();
    match mpi.name {
        "Open MPI" => {
            let slots: Vec<String> = names.iter().map(|name| format!("{name}:{each}")).collect();
            let agent = rig.folder().join("bin/ssh");
            let job = job.args(["--allow-run-as-root", "--host", &slots.join(","), "--map-by", "slot"]);
            let job = job.args(["--bind-to", "none", "--prtemca", "plm_ssh_agent"]).arg(agent);
            let job = job.args(["--mca", "pml", "ob1", "--mca", "btl", "self,sm,tcp"]);
            job.args(["--mca", "btl_tcp_if_include", INTERFACE, "-x", "LD_LIBRARY_PATH", "-n", &all])
        }
        "Intel MPI" => {
            let job = job.env("I_MPI_FABRICS", "shm:ofi").env("I_MPI_OFI_PROVIDER", "tcp");
            let job = job.env("FI_TCP_IFACE", INTERFACE).env("I_MPI_PIN", "0");
            job.args(["-launcher", "ssh", "-hosts", &names.join(","), "-ppn", &each.to_string(), "-n", &all])
        }
        _ => {
            // Without being told, UCX copies between processes of one machine, whatever network they have.
            let job = job.env("UCX_TLS", "tcp,self").env("UCX_NET_DEVICES", INTERFACE);
            let job = job.env("POSTHASTE_TCP_INTERFACES", INTERFACE);
            let job = job.args(["-launcher", "ssh", "-bind-to", "none", "-hosts", &names.join(",")]);
            job.args(["-ppn", &each.to_string(), "-n", &all])
        }
    }
}

/// The rows, as `bench/hosts.c` reports them.
pub(crate) fn rows() -> Vec<Row> {
    const OPERATIONS: [(&str, &str); 5] = [
        ("barrier", "Barrier"),
        ("bcast", "Bcast"),
        ("allreduce", "Allreduce"),
        ("allgather", "Allgather"),
        ("alltoall", "Alltoall"),
    ];
    const LENGTHS: [(usize, &str); 5] =
        [(8, "8 B"), (1 << 10, "1 KiB"), (16 << 10, "16 KiB"), (128 << 10, "128 KiB"), (1 << 20, "1 MiB")];
    let mut rows = Vec::new();
    for (operation, title) in OPERATIONS {
        for (bytes, length) in
            LENGTHS.into_iter().take(if operation == "barrier" { 1 } else { LENGTHS.len() })
        {
            for (hosts, each) in HOSTS {
                let ranks = hosts * each;
                let label = match operation {
                    "barrier" => format!("{title}, {ranks} ranks on {hosts} hosts"),
                    _ => format!("{title} {length}, {ranks} ranks on {hosts} hosts"),
                };
                rows.push(Row {
                    name: format!("hosts_{operation}_{bytes}_{hosts}").leak(),
                    label: label.leak(),
                    unit: "us",
                    better: Better::Lower,
                    limit: None,
                    within: None,
                    most: None,
                    rival_goal: Some(1.2),
                    group: "hosts",
                });
            }
        }
    }
    rows
}
