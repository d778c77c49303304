//! The real `mpiexec` with programs that speak PMI: joining, barriers, aborts, and leaving without a word.
//!
//! The ranks are this test program itself: started by mpiexec, the test `as_a_rank` plays the role that the
//! variable `ROLE` names and exits. Every role is played on one host and on two.

mod common;

use common::{finish, mpiexec, say};
use posthaste_os::node::{Life, Node};
use posthaste_os::process;
use posthaste_pmi::client::{self, Client};
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

/// Options for one host, and for two, which are this one with an agent each.
const HOSTS: [&[&str]; 2] = [&[], &["-launcher", "fork", "-hosts", "a,b"]];

/// Runs this program as `ranks` ranks in a role.
fn play(role: &str, ranks: usize, hosts: &[&str]) -> common::Said {
    let own = std::env::current_exe().unwrap();
    let ranks = ranks.to_string();
    let program = ["-n", &ranks, own.to_str().unwrap(), "--exact", "as_a_rank", "--nocapture"];
    let mut command = mpiexec(&[hosts, &program].concat());
    command.env("ROLE", role);
    finish(command)
}

/// Standard error without the noise of the test harness.
fn words(said: &common::Said) -> Vec<&str> {
    let mut lines: Vec<&str> = said.err.lines().filter(|line| line.starts_with("word ")).collect();
    lines.sort_unstable();
    lines
}

struct Me {
    client: Client,
    node: Node,
    local: usize,
}

impl Me {
    fn join() -> Self {
        let client = client::connect().unwrap().unwrap();
        let fd = std::env::var("POSTHASTE_NODE_FD").unwrap().parse().unwrap();
        let node = Node::attach(process::inherited(fd).unwrap()).unwrap();
        let number = |name: &str| std::env::var(name).unwrap().parse::<usize>().unwrap();
        assert_eq!(node.ranks(), number("POSTHASTE_LOCAL_SIZE"));
        assert_eq!(std::env::var("POSTHASTE_SECRET").unwrap().len(), 64);
        let local = number("POSTHASTE_LOCAL_RANK");
        node.set_life(local, Life::Inside);
        Self { client, node, local }
    }
    fn leave(mut self) {
        self.node.set_life(self.local, Life::Finalised);
        self.client.finalize().unwrap();
    }
    fn rank(&self) -> usize {
        self.client.rank
    }
}

fn long_sleep() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(100));
    }
}

#[test]
fn as_a_rank() {
    let Ok(role) = std::env::var("ROLE") else { return };
    match role.as_str() {
        "exchange" => exchange(),
        "names" => names(),
        "abort" => {
            let mut me = Me::join();
            if me.rank() == 1 {
                me.node.set_life(me.local, Life::Aborted);
                me.client.abort(42).unwrap();
                std::process::exit(42);
            }
            me.client.barrier().unwrap();
        }
        "no finalize" => {
            let mut me = Me::join();
            if me.rank() == 2 {
                std::process::exit(0);
            }
            me.client.barrier().unwrap();
        }
        "no finalize, other library" => {
            let mut client = client::connect().unwrap().unwrap();
            client.get_maxes().unwrap();
            if client.rank == 0 {
                std::process::exit(0);
            }
            long_sleep();
        }
        "crash" => {
            let mut me = Me::join();
            if me.rank() == 1 {
                std::process::abort();
            }
            // The others notice that their peer is gone and exit with a code of their own.
            let _ = me.client.barrier();
            std::process::exit(9);
        }
        "late code" => {
            let me = Me::join();
            let rank = me.rank();
            me.leave();
            if rank == 0 {
                std::process::exit(7);
            }
            std::thread::sleep(Duration::from_millis(300));
            say(format_args!("word {rank}"));
        }
        "never joins" => {
            if std::env::var("PMI_RANK").unwrap() == "1" {
                std::process::exit(0);
            }
            Me::join().client.barrier().unwrap();
        }
        "nonsense" => {
            let fd = std::env::var("PMI_FD").unwrap().parse().unwrap();
            let mut stream = std::fs::File::from(process::inherited(fd).unwrap());
            stream.write_all(b"hello\ncmd=\ncmd=dance a=b\n\xff\n").unwrap();
            long_sleep();
        }
        "endless line" => {
            let fd = std::env::var("PMI_FD").unwrap().parse().unwrap();
            let mut stream = std::fs::File::from(process::inherited(fd).unwrap());
            while stream.write_all(&[b'x'; 1000]).is_ok() {}
            long_sleep();
        }
        "unread answers" => {
            let fd = std::env::var("PMI_FD").unwrap().parse().unwrap();
            let mut stream = std::fs::File::from(process::inherited(fd).unwrap());
            while stream.write_all(&b"cmd=get_maxes\n".repeat(500)).is_ok() {}
            long_sleep();
        }
        "counters" => {
            let me = Me::join();
            let rank = me.rank();
            me.node.counters(me.local)[0].store(rank as u64 + 1, std::sync::atomic::Ordering::Relaxed);
            me.leave();
        }
        other => panic!("{other}"),
    }
    std::process::exit(0);
}

/// Everybody puts a business card into the key-value space and reads all of them, three times.
fn exchange() {
    let mut me = Me::join();
    let kvs = me.client.get_my_kvsname().unwrap();
    let (rank, size) = (me.rank(), me.client.size);
    let mapping = me.client.get(&kvs, "PMI_process_mapping").unwrap().unwrap();
    let each = me.node.ranks();
    assert_eq!(mapping, format!("(vector,(0,{},{each}))", size / each));
    assert!(me.client.get_universe_size().unwrap() >= size as i64);
    for round in 0..3 {
        me.client.put(&kvs, &format!("card-{round}-{rank}"), &(rank * 10 + round).to_string()).unwrap();
        me.client.barrier().unwrap();
        let sum: usize = (0..size)
            .map(|other| {
                let card = me.client.get(&kvs, &format!("card-{round}-{other}")).unwrap();
                card.unwrap().parse::<usize>().unwrap()
            })
            .sum();
        assert_eq!(sum, (0..size).map(|other| other * 10 + round).sum());
    }
    me.leave();
    say(format_args!("word {rank}"));
}

/// The last rank publishes a name, the first looks it up. Our client has no words for it, other libraries have.
fn names() {
    let number = |name: &str| std::env::var(name).unwrap().parse::<usize>().unwrap();
    let (rank, size) = (number("PMI_RANK"), number("PMI_SIZE"));
    let stream = std::fs::File::from(process::inherited(number("PMI_FD") as i32).unwrap());
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut ask = |line: &str| {
        (&stream).write_all(format!("cmd={line}\n").as_bytes()).unwrap();
        answers.next().unwrap().unwrap()
    };
    ask("init pmi_version=1 pmi_subversion=1");
    if rank == size - 1 {
        assert!(ask("publish_name service=s port=p").contains("rc=0"));
    }
    ask("barrier_in");
    assert!(ask("lookup_name service=s").contains("port=p"));
    ask("barrier_in");
    if rank == 0 {
        assert!(ask("unpublish_name service=s").contains("rc=0"));
    }
    ask("barrier_in");
    assert!(ask("lookup_name service=s").contains("rc=-1"));
    ask("finalize");
    say(format_args!("word {rank}"));
}

#[test]
fn ranks_meet_and_exchange() {
    for (hosts, ranks) in [(HOSTS[0], 1), (HOSTS[0], 4), (HOSTS[0], 16), (HOSTS[1], 2), (HOSTS[1], 16)] {
        let said = play("exchange", ranks, hosts);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(words(&said).len(), ranks, "{}", said.err);
        assert_eq!(said.sentences(), [""; 0]);
    }
}

#[test]
fn names_are_known_to_all_ranks() {
    for hosts in HOSTS {
        let said = play("names", 4, hosts);
        assert_eq!((said.code, words(&said).len()), (0, 4), "{}", said.err);
    }
}

fn fails(role: &str, ranks: usize, code: i32, expected: &str) {
    for hosts in &HOSTS[..ranks.min(2)] {
        let said = play(role, ranks, hosts);
        assert_eq!(said.code, code, "{role}: {}", said.err);
        let [sentence] = said.sentences()[..] else { panic!("{role}: {}", said.err) };
        assert!(sentence.contains(expected), "{role}: {sentence}");
        assert!(said.took < Duration::from_millis(3500), "{role}: {:?}", said.took);
    }
}

#[test]
fn an_abort_ends_all_with_its_code() {
    fails("abort", 3, 42, "rank 1 on ");
    fails("abort", 3, 42, "called MPI_Abort with error code 42");
}

#[test]
fn leaving_without_finalize_is_a_failure() {
    fails(
        "no finalize",
        3,
        1,
        "exited with code 0 without calling MPI_Finalize; the other 2 ranks were ended",
    );
    fails("no finalize, other library", 2, 1, "without calling MPI_Finalize");
}

#[test]
fn the_cause_is_reported_and_not_its_consequence() {
    fails("crash", 4, 134, "rank 1 (process ");
    fails("crash", 4, 134, "killed by signal 6 (SIGABRT)");
}

#[test]
fn a_code_after_finalize_leaves_the_others_alone() {
    for hosts in HOSTS {
        let said = play("late code", 3, hosts);
        assert_eq!(said.code, 7, "{}", said.err);
        assert_eq!(words(&said), ["word 1", "word 2"]);
        assert!(said.sentences()[0].contains("code 7 after MPI_Finalize"), "{}", said.err);
    }
}

#[test]
fn a_barrier_that_cannot_open_is_a_failure() {
    fails("never joins", 2, 1, "rank 0 waits for it");
}

#[test]
fn nonsense_on_the_connection_is_survived() {
    fails("nonsense", 1, 1, "broke the PMI protocol");
    fails("endless line", 2, 1, "broke the PMI protocol");
    fails("unread answers", 2, 1, "does not read its answers");
}

#[test]
fn counters_are_summed_over_the_ranks() {
    for hosts in HOSTS {
        let said = play("counters", 3, &[&["-counters"], hosts].concat());
        let first = said.err.lines().find(|line| line.starts_with("counter ")).unwrap();
        assert!(first.ends_with(" 6"), "{}", said.err);
    }
}
