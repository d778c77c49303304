//! Networks that are slow, narrow, half broken or out of order: part of the C tests over each, and what becomes of a job
//! when a host vanishes.
//!
//! What must stay true: a bad network costs time and nothing else; a host that says nothing any more ends what waits for
//! it, in bounded time, with a sentence that names it; after each test the network is what it was before.

use std::{path::PathBuf, process, time::Duration, time::Instant};

use rustix::process::Signal;

use super::House;
use crate::{
    ctests,
    leftovers::{self, Watch},
    process::{Job, Running},
    project::{Fallible, Project},
    tally::Tally,
};

/// How many tests there are.
pub(super) const TESTS: usize = 7;

/// The C tests that are run over each network, with two ranks on each of two hosts.
const PROGRAMS: [&str; 4] = ["stress", "ring", "alltoall", "cancel_send"];

/// Longest delay of a frame, in ms, where they overtake each other.
const DELAY: &str = "3";

/// A network, as it is made and unmade again, and what the ranks hear of it.
struct Network<'a> {
    name: &'a str,
    make: Change<'a>,
    unmake: Change<'a>,
    environment: &'a [(&'a str, &'a str)],
}

type Change<'a> = &'a dyn Fn(&House<'_>) -> Fallible;

pub(super) fn run(project: &Project, house: &House<'_>, tally: &mut Tally) {
    let networks = [
        Network {
            name: "of 200 Mbit/s",
            make: &|house| house.shape("add", "200mbit"),
            unmake: &|house| house.shape("del", "200mbit"),
            environment: &[],
        },
        Network {
            name: "with buffers of 4 KiB",
            make: &|_| Ok(()),
            unmake: &|_| Ok(()),
            environment: &[("POSTHASTE_TCP_BUFFER", "4096")],
        },
        Network {
            name: "with a route that swallows everything",
            make: &|house| house.rig.ip(2, &["route", "add", "blackhole", "10.77.0.1/32"]),
            unmake: &|house| house.rig.ip(2, &["route", "del", "blackhole", "10.77.0.1/32"]),
            environment: &[],
        },
        Network {
            name: "with a link that is down",
            make: &|house| house.rig.ip(2, &["link", "set", "eth0", "down"]),
            unmake: &|house| house.rig.ip(2, &["link", "set", "eth0", "up"]),
            environment: &[],
        },
    ];
    let programs: Fallible<Vec<PathBuf>> =
        PROGRAMS.iter().map(|name| ctests::helper(project, house.mpi, "", name)).collect();
    let programs = match programs {
        Ok(programs) => programs,
        Err(complaint) => return tally.test("hosts: compile", || Err(complaint)),
    };
    for Network { name, make, unmake, environment } in networks {
        tally.test(&format!("hosts: C tests over a network {name}"), || {
            make(house)?;
            let outcome = house.all_of(&programs, environment);
            unmake(house)?;
            outcome
        });
    }
    let seed = process::id();
    tally.test(&format!("hosts: C tests over a network that delays and reorders, seed {seed}"), || {
        house.reordered(project, seed, || house.all_of(&programs, &[]))
    });
    tally.test("hosts: our mpiexec: a host that vanishes without a word ends the job on both sides", || {
        let outcome = house.loses(|house| house.plug("nomaster"), "host2 has not answered");
        house.plug("master")?;
        outcome
    });
    tally.test(
        "hosts: our mpiexec: a host on which everything is stopped is named, and ends when it goes on",
        || house.stopped(),
    );
}

impl House<'_> {
    fn all_of(&self, programs: &[PathBuf], environment: &[(&str, &str)]) -> Fallible {
        programs.iter().try_for_each(|program| {
            let job = self.ours(&["1", "2"], 2).limit(120);
            let job = environment.iter().fold(job, |job, (name, value)| job.env(name, value));
            self.succeed(job.arg(program)).map(drop)
        })
    }

    /// What both hosts send, on both links, goes at this rate.
    fn shape(&self, word: &str, rate: &str) -> Fallible {
        for (host, link) in [(1, "eth0"), (1, "eth1"), (2, "eth0"), (2, "eth1")] {
            let job = Job::new("tc").args(["qdisc", word, "dev", link, "root"]);
            let job = if word == "add" {
                job.args(["tbf", "rate", rate, "burst", "64kb", "latency", "50ms"])
            } else {
                job
            };
            self.rig.on(host, job).succeed()?;
        }
        Ok(())
    }

    /// Pulls the cables of host 2 out of the bridges, or puts them back: its links stay up, and nothing passes.
    pub(super) fn plug(&self, word: &str) -> Fallible {
        for net in ["0", "1"] {
            let (cable, bridge) = (format!("v2.{net}"), format!("br{net}"));
            let way: &[&str] = if word == "master" { &["master", &bridge] } else { &["nomaster"] };
            self.rig.between(&[&["link", "set", &cable], way].concat())?;
        }
        Ok(())
    }

    /// `body` while the only way to host 2 delays frames, which overtake each other.
    fn reordered(&self, project: &Project, seed: u32, body: impl FnOnce() -> Fallible) -> Fallible {
        self.rig.ip(2, &["link", "set", "eth0", "down"])?;
        self.rig.between(&["link", "set", "v2.1", "nomaster"])?;
        self.rig.between(&["link", "add", "delayed", "type", "veth", "peer", "name", "behind"])?;
        self.rig.between(&["link", "set", "behind", "master", "br1", "up"])?;
        self.rig.between(&["link", "set", "delayed", "up"])?;
        let outcome = self.delayed(project, seed, body);
        self.rig.between(&["link", "del", "delayed"])?;
        self.rig.between(&["link", "set", "v2.1", "master", "br1"])?;
        self.rig.ip(2, &["link", "set", "eth0", "up"])?;
        outcome
    }

    fn delayed(&self, project: &Project, seed: u32, body: impl FnOnce() -> Fallible) -> Fallible {
        for host in 1..=2 {
            self.rig.on(host, whole_frames("eth1")).succeed()?;
        }
        let script = project.root.join("tests/hosts/reorder.py");
        let job = Job::new("python3").arg(script).args([&seed.to_string(), DELAY, "v2.1", "delayed"]);
        let between = self.rig.inside(job.limit(600)).start()?;
        let outcome = if between.wait_for_output("joined", 10) {
            body()
        } else {
            Err(format!("the interfaces are not joined:\n{}", between.said()))
        };
        between.end();
        outcome
    }

    /// All of host 2: the agent, its guardian, the ranks and the sshd that they came by.
    fn stopped(&self) -> Fallible {
        let watch = Watch::begin();
        let job = self.ours(&["1", "2"], 2).arg(&self.steady).arg("60");
        let job: Running = self.rig.on(1, watch.mark(job)).start()?;
        if !job.wait_for_output("begun", 20) {
            return Err(job.wait()?.complaint());
        }
        let there = self.rig.processes(2)?;
        send(Signal::STOP, &there)?;
        let began = Instant::now();
        let outcome = job.wait();
        let took = began.elapsed();
        send(Signal::CONT, &there)?;
        let outcome = outcome?;
        Self::check(&outcome, 1, &["host2 has not answered"])?;
        if took > Duration::from_secs(super::ours::SECONDS) {
            return Err(format!("the end came {took:?} after the fault\n{}", outcome.complaint()));
        }
        let program = self.steady.to_string_lossy();
        let is_left =
            || leftovers::processes().any(|pid| leftovers::command_line(pid).starts_with(&*program));
        while is_left() {
            if began.elapsed() > took + Duration::from_secs(super::ours::SECONDS) {
                return Err("ranks of the host go on after it has".into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        watch.nothing_left()
    }
}

/// Lets an interface send whole frames with their checksums, as no hardware will complete them.
fn whole_frames(interface: &str) -> Job {
    // SIOCETHTOOL with the commands that turn checksums, and segmentation of TCP and in general, off.
    let script = "import fcntl, socket, struct, sys, array\n\
                  s = socket.socket()\n\
                  for command in 0x17, 0x1f, 0x24:\n    \
                      value = array.array('I', [command, 0])\n    \
                      request = struct.pack('16sP16x', sys.argv[1].encode(), value.buffer_info()[0])\n    \
                      fcntl.ioctl(s, 0x8946, request)\n";
    Job::new("python3").args(["-c", script, interface])
}

fn send(signal: Signal, pids: &[u32]) -> Fallible {
    let job = |name| Job::new("kill").arg(name).args(pids.iter().map(u32::to_string));
    match signal {
        Signal::STOP => job("-STOP").succeed().map(drop),
        // Who goes on first ends the others, maybe before they are told to.
        _ => job("-CONT").run().map(drop),
    }
}
