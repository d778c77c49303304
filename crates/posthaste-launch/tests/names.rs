//! The real `posthaste-names` with jobs of the real `mpiexec`, whose ranks find each other by what it keeps for them.
//!
//! As in `ranks.rs` the ranks are this test program itself, with the engine; the variable `ROLE` says what they do. What must stay
//! true: whatever happens, no server is left.

mod common;

use common::{PATIENCE, Said, finish, is_alive, mpiexec, read_lines, said, say, wait_for};
use posthaste_core::error::ErrorClass;
use posthaste_core::instance::{self, Job, Threads};
use posthaste_core::world::Calls;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SERVICE: &str = "a service\nof two lines";
const LISTED: &str = "a service\\nof two lines\n";

/// `posthaste-names` with this argument, asking at `place`.
fn names(argument: &str, place: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posthaste-names"));
    command.arg(argument).env("POSTHASTE_NAMES", place).env("POSTHASTE_CONNECT_S", "20");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Two ranks of this program in a role, whose names are at `place`.
fn role(role: &str, place: &str) -> Command {
    let own = std::env::current_exe().unwrap();
    let mut command = mpiexec(&["-n", "2", own.to_str().unwrap(), "--exact", "as_a_rank", "--nocapture"]);
    command.env("ROLE", role).env("POSTHASTE_NAMES", place).env("POSTHASTE_CONNECT_S", "20");
    command
}

/// A server in the background, which ends with the test.
struct Server {
    place: String,
    pid: i32,
}

impl Server {
    fn start() -> Self {
        // What a shell does for $(...): it reads until nobody can write any more.
        let said = finish(names("--background", "unused"));
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        let place = said.out.trim_end().to_owned();
        assert!(place.starts_with("ph1/") && !place.contains('\n'), "{place}");
        let port = place.split('/').nth(1).unwrap();
        Self { pid: listener(port.parse().unwrap()), place }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = finish(names("--end", &self.place));
    }
}

/// The process of `posthaste-names` that listens at this port.
fn listener(port: u16) -> i32 {
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = fields.get(1)?.ends_with(&format!(":{port:04X}")) && *fields.get(3)? == "0A";
        is_it.then(|| format!("socket:[{}]", fields[9]))
    };
    let sockets: Vec<String> = ["/proc/net/tcp6", "/proc/net/tcp"]
        .iter()
        .flat_map(|file| {
            std::fs::read_to_string(file).unwrap_or_default().lines().filter_map(inode).collect::<Vec<_>>()
        })
        .collect();
    let has_it = |pid: &i32| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.filter_map(|fd| std::fs::read_link(fd.path()).ok())
            .any(|link| sockets.contains(&link.to_string_lossy().into_owned()))
    };
    common::marked("--detached").into_iter().find(has_it).expect("a server listens")
}

#[test]
fn as_a_rank() {
    let Ok(role) = std::env::var("ROLE") else { return };
    let world = instance::share(Threads::This, Calls::C).unwrap();
    let all = world.world().clone();
    let at = |name: &str| Ok((name.to_owned(), Some(Duration::from_secs(40))));
    let is_root = all.rank() == 0;
    match &*role {
        "accept" => {
            let port = if is_root { world.open_port().unwrap() } else { String::new() };
            if is_root {
                world.publish_name("publish", SERVICE, &port).unwrap();
                let again = world.publish_name("publish", SERVICE, &port).unwrap_err();
                assert_eq!(again.class(), ErrorClass::Service, "{again}");
                say(format_args!("word published"));
            }
            let met = world.accept("accept", &all, 0, || at(&port)).unwrap();
            world.disconnect(&met).unwrap();
        }
        "connect" => {
            let port = if is_root { world.look_up_name("look up", SERVICE).unwrap() } else { String::new() };
            let met = world.connect("connect", &all, 0, || at(&port)).unwrap();
            world.disconnect(&met).unwrap();
        }
        "take back" if is_root => {
            let port = world.look_up_name("look up", SERVICE).unwrap();
            let wrong = world.unpublish_name("unpublish", SERVICE, "another port").unwrap_err();
            assert_eq!(wrong.class(), ErrorClass::Service, "{wrong}");
            world.unpublish_name("unpublish", SERVICE, &port).unwrap();
        }
        "hold" => {
            if is_root {
                world.publish_name("publish", SERVICE, "a port").unwrap();
                say(format_args!("word published"));
            }
            std::thread::sleep(PATIENCE);
        }
        "say" if is_root => say(format_args!("word {}", world.look_up_name("look up", SERVICE).unwrap_err())),
        _ => {}
    }
    // A process that publishes and does not take it back ends all the same.
    world.close(Job::Left).unwrap();
    std::process::exit(0);
}

fn listed(place: &str) -> String {
    let said = finish(names("--list", place));
    assert_eq!(said.code, 0, "{}", said.err);
    said.out
}

#[test]
fn two_jobs_find_each_other_by_a_server_in_the_background() {
    let server = Server::start();
    let place = &server.place;
    assert_eq!(listed(place), "");
    for round in 0..2 {
        let began = Instant::now();
        let mut one = role("accept", place).spawn().unwrap();
        let words = read_lines(one.stderr.as_mut().unwrap(), 1);
        assert!(words[0].contains("word published"), "{words:?}");
        assert_eq!(listed(place), LISTED);
        let other = finish(role("connect", place));
        assert_eq!(other.code, 0, "round {round}: {}", other.err);
        let one = said(one, began);
        assert_eq!(one.code, 0, "round {round}: {}", one.err);
        assert!(wait_for(PATIENCE, || listed(place).is_empty()), "the name outlives its process");
    }
    let ended = finish(names("--end", place));
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (0, "", ""));
    assert!(wait_for(PATIENCE, || !is_alive(server.pid)), "the server goes on");
    for argument in ["--list", "--end"] {
        refuses(&finish(names(argument, place)), "does not answer", place);
    }
}

#[test]
fn a_name_is_taken_back_by_another_job_and_goes_with_a_process_that_is_killed() {
    let server = Server::start();
    for takes_back in [true, false] {
        let mut holds = role("hold", &server.place).spawn().unwrap();
        read_lines(holds.stderr.as_mut().unwrap(), 1);
        if takes_back {
            let taken = finish(role("take back", &server.place));
            assert_eq!((taken.code, listed(&server.place).as_str()), (0, ""), "{}", taken.err);
        }
        assert_eq!(listed(&server.place).is_empty(), takes_back);
        common::send(&holds, nix::sys::signal::Signal::SIGKILL);
        holds.wait().unwrap();
        assert!(wait_for(PATIENCE, || listed(&server.place).is_empty()), "the name outlives its process");
    }
}

fn refuses(said: &Said, expected: &str, place: &str) {
    assert!(said.code == 1 && said.out.is_empty(), "{said:?}");
    assert!(said.err.starts_with("posthaste-names: ") && said.err.contains(expected), "{said:?}");
    is_kept_secret(&said.err, place);
}

fn is_kept_secret(text: &str, place: &str) {
    assert!(text.contains("POSTHASTE_NAMES"), "{text}");
    if let Some(secret) = place.split('/').nth(2).filter(|part| place.starts_with("ph1/") && !part.is_empty())
    {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn what_is_wrong_with_the_place_is_said_without_its_secret() {
    let server = Server::start();
    let parts: Vec<&str> = server.place.split('/').collect();
    let other_secret = format!("ph1/{}/{}/{}", parts[1], "5f".repeat(16), parts[3]);
    refuses(&finish(names("--list", &other_secret)), "has another secret", &other_secret);
    let said = finish(role("say", &other_secret));
    let word = said.err.lines().find(|line| line.contains("word ")).unwrap();
    assert!(word.contains("start posthaste-names"), "{said:?}");
    is_kept_secret(word, &other_secret);
    let cut = server.place.rsplit_once('/').unwrap().0;
    refuses(&finish(names("--list", cut)), "is a text of", cut);
    refuses(&finish(names("--list", "/dev/null")), "it is no folder", "/dev/null");
    let folder = std::env::temp_dir().join(format!("posthaste-names-test-{}", std::process::id()));
    let folder = folder.to_str().unwrap();
    assert_eq!(listed(folder), "");
    refuses(&finish(names("--end", folder)), "names no server", folder);
    std::fs::remove_dir(folder).unwrap();
}

#[test]
fn a_server_in_the_foreground_says_the_setting_and_goes_with_its_process() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posthaste-names"));
    let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let said = read_lines(server.stdout.as_mut().unwrap(), 1);
    let place = said[0].strip_prefix("POSTHASTE_NAMES=").unwrap();
    assert_eq!(listed(place), "");
    assert_eq!(finish(names("--end", place)).code, 0);
    assert!(server.wait().unwrap().success());
}

#[test]
fn what_cannot_be_served_is_said() {
    let mut command = names("--background", "unused");
    command.env("POSTHASTE_TCP_INTERFACES", "nothing0");
    let said = finish(command);
    assert!(said.code == 1 && said.out.is_empty() && said.err.contains("nothing0"), "{said:?}");
    let said = finish(names("--serve", "unused"));
    assert!(said.code == 1 && said.err.contains("--background"), "{said:?}");
    let said = finish(names("--help", "unused"));
    assert!(said.code == 0 && said.out.contains("--background"), "{said:?}");
}
