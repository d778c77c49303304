//! The real `mpiexec` with programs that speak PMI: joining, barriers, aborts, and leaving without a word.
//!
//! The ranks are this test program itself: started by mpiexec, the test `as_a_rank` plays the role that the
//! variable `ROLE` names and exits.

mod common;

use common::{finish, mpiexec};
use posthaste_os::node::{Life, Node};
use posthaste_os::process;
use posthaste_pmi::client::{self, Client};
use std::io::Write;
use std::time::Duration;

/// Runs this program as `ranks` ranks in a role.
fn play(role: &str, ranks: usize) -> common::Said {
    let own = std::env::current_exe().unwrap();
    let ranks = ranks.to_string();
    let mut command = mpiexec(&["-n", &ranks, own.to_str().unwrap(), "--exact", "as_a_rank", "--nocapture"]);
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
}

impl Me {
    fn join() -> Self {
        let client = client::connect().unwrap().unwrap();
        let fd = std::env::var("POSTHASTE_NODE_FD").unwrap().parse().unwrap();
        let node = Node::attach(process::inherited(fd).unwrap()).unwrap();
        assert_eq!(node.ranks(), client.size);
        node.set_life(client.rank, Life::Inside);
        Self { client, node }
    }
    fn leave(mut self) {
        self.node.set_life(self.client.rank, Life::Finalised);
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
        "abort" => {
            let mut me = Me::join();
            if me.rank() == 1 {
                me.node.set_life(1, Life::Aborted);
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
            eprintln!("word {rank}");
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
            me.node.counters(rank)[0].store(rank as u64 + 1, std::sync::atomic::Ordering::Relaxed);
            me.leave();
        }
        other => panic!("{other}"),
    }
    std::process::exit(0);
}

/// Everybody puts a card into the key-value space and reads all of them, three times.
fn exchange() {
    let mut me = Me::join();
    let kvs = me.client.get_my_kvsname().unwrap();
    let (rank, size) = (me.rank(), me.client.size);
    let mapping = me.client.get(&kvs, "PMI_process_mapping").unwrap();
    assert_eq!(mapping, Some(format!("(vector,(0,1,{size}))")));
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
    eprintln!("word {rank}");
}

#[test]
fn ranks_meet_and_exchange() {
    for ranks in [1, 4, 16] {
        let said = play("exchange", ranks);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(words(&said).len(), ranks, "{}", said.err);
        assert_eq!(said.sentences(), [""; 0]);
    }
}

fn fails(role: &str, ranks: usize, code: i32, expected: &str) {
    let said = play(role, ranks);
    assert_eq!(said.code, code, "{role}: {}", said.err);
    let [sentence] = said.sentences()[..] else { panic!("{role}: {}", said.err) };
    assert!(sentence.contains(expected), "{role}: {sentence}");
    assert!(said.took < Duration::from_millis(3500), "{role}: {:?}", said.took);
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
fn the_cause_is_told_and_not_its_consequence() {
    fails("crash", 4, 134, "rank 1 (process ");
    fails("crash", 4, 134, "killed by signal 6 (SIGABRT)");
}

#[test]
fn a_code_after_finalize_leaves_the_others_alone() {
    let said = play("late code", 3);
    assert_eq!(said.code, 7, "{}", said.err);
    assert_eq!(words(&said), ["word 1", "word 2"]);
    assert!(said.sentences()[0].contains("code 7 after MPI_Finalize"), "{}", said.err);
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
    let own = std::env::current_exe().unwrap();
    let mut command =
        mpiexec(&["-counters", "-n", "3", own.to_str().unwrap(), "--exact", "as_a_rank", "--nocapture"]);
    command.env("ROLE", "counters");
    let said = finish(command);
    let first = said.err.lines().find(|line| line.starts_with("counter ")).unwrap();
    assert!(first.ends_with(" 6"), "{}", said.err);
}
