//! Processes that start others, and jobs that meet.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use common::{BODY, mpiexec, on_ranks};
use posthaste::{Command, ErrorClass, Group, Operation, Result, Session, SplitType, Universe};
use posthaste_core::config::Config;
use posthaste_core::meeting::Call;
use posthaste_os::socket::Set;

/// This program once more, as one test on so many ranks.
fn again(name: &str, ranks: usize) -> Command {
    let own = std::env::current_exe().unwrap();
    let command = Command::new(own, ranks).argument("--exact").argument(name);
    command.argument("--nocapture").argument("--test-threads=1").hint("env", format!("{BODY}=child"))
}

fn is_child() -> bool {
    std::env::var(BODY).is_ok_and(|asked| asked == "child")
}

/// Groups of this job and of the other one become communicators without one that they have in common.
fn connected(all: &Group, is_first: bool) -> Result<()> {
    let session = Session::begin()?;
    assert_eq!(session.communicator_from(all, "all")?.all_reduce_one(1_u64, Operation::Sum)?, 4);
    let (low, high) = (all.include(&[0, 1])?, all.include(&[2, 3])?);
    let (own, remote) = if is_first { (low, high) } else { (high, low) };
    let bridge = session.intercommunicator(&own, 1, Some((&remote, 1)), "bridge")?;
    assert_eq!((bridge.size(), bridge.remote_size()), (2, 2));
    bridge.barrier()
}

/// What a process does that was started.
fn work(universe: &Universe) -> Result<()> {
    let parents = universe.parent().expect("somebody has started this job");
    assert_eq!((parents.rank(), parents.size()), (universe.world().rank(), 2));
    // A second share has the same ones.
    assert_eq!(posthaste::init()?.parent().expect("the same ones").remote_size(), parents.remote_size());
    let all = parents.merge(true)?;
    // Jobs share no memory, and no process set, although their names and numbers are the same.
    assert_eq!(all.split_type(SplitType::Shared, 0)?.size(), 2);
    let sum = all.all_reduce_one(1_u64, Operation::Sum)?;
    parents.send(&[sum], 0, 3)?;
    connected(&all.group(), false)?;
    all.disconnect()?;
    parents.disconnect()?;
    assert!(universe.parent().is_none());
    Ok(())
}

#[test]
fn processes_are_started_and_let_go() {
    let name = "processes_are_started_and_let_go";
    if is_child() {
        let universe = posthaste::init().unwrap();
        work(&universe).unwrap();
        return universe.finalize().unwrap();
    }
    on_ranks(2, name, |world| {
        for root in [0, 1] {
            // Only the root's commands count.
            let commands = if world.rank() == root { vec![again(name, 2)] } else { Vec::new() };
            let (children, runs) = world.spawn(&commands, root)?;
            assert_eq!((children.remote_size(), runs), (2, vec![true, true]));
            let all = children.merge(false)?;
            assert_eq!(all.split_type(SplitType::Shared, 0)?.size(), 2);
            assert_eq!(all.all_reduce_one(1_u64, Operation::Sum)?, 4);
            if world.rank() == 0 {
                for child in 0..2 {
                    let mut sum = [0_u64];
                    children.receive(&mut sum, child, 3)?;
                    assert_eq!(sum, [4]);
                }
            }
            connected(&all.group(), true)?;
            all.disconnect()?;
            children.disconnect()?;
        }
        for (commands, class, part) in [
            (vec![], ErrorClass::Arg, "commands is none"),
            (vec![Command::new("x", 0)], ErrorClass::Arg, "x on 0 ranks"),
            (vec![Command::new("/no/such", 1)], ErrorClass::Spawn, "there is no program \"/no/such\""),
        ] {
            let error = world.spawn(&commands, 0).unwrap_err();
            assert_eq!(error.class(), class, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
        assert_eq!(world.spawn(&[], 2).unwrap_err().class(), ErrorClass::Root);
        Ok(())
    });
}

#[test]
fn hints_say_where_a_program_is_found_and_where_it_runs() {
    let name = "hints_say_where_a_program_is_found_and_where_it_runs";
    if is_child() {
        let universe = posthaste::init().unwrap();
        universe.parent().expect("somebody has started this job").disconnect().unwrap();
        return universe.finalize().unwrap();
    }
    on_ranks(1, name, |world| {
        let own = std::env::current_exe().unwrap();
        let file = std::env::temp_dir().join(format!("posthaste-hosts-{}", std::process::id()));
        std::fs::write(&file, "localhost:2\n").unwrap();
        let program = |program: &str, hints: &[(&str, &str)]| {
            let command = Command::new(program, 2).argument("--exact").argument(name).argument("--nocapture");
            let command = command.argument("--test-threads=1").hint("env", format!("{BODY}=child"));
            hints.iter().fold(command, |command, (key, value)| command.hint(*key, *value))
        };
        let (folder, short) = (own.parent().unwrap().to_str().unwrap(), own.file_name().unwrap());
        let short = short.to_str().unwrap();
        for (key, value) in [("path", folder), ("hosts", "localhost:2"), ("hostfile", file.to_str().unwrap())]
        {
            let (children, runs) = world.spawn(&[program(short, &[("path", folder), (key, value)])], 0)?;
            assert_eq!((children.remote_size(), runs), (2, vec![true, true]), "{key}");
            children.disconnect()?;
        }
        std::fs::remove_file(&file).unwrap();
        for (hints, part) in [
            (&[][..], "there is no program"),
            (&[("path", "/usr")], "there is no program"),
            (&[("path", folder), ("hosts", "-x")], "is not the name of a host"),
            (&[("path", folder), ("hostfile", file.to_str().unwrap())], "posthaste-hosts-"),
        ] {
            let error = world.spawn(&[program(short, hints)], 0).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Spawn, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
        Ok(())
    });
}

#[test]
fn processes_meet_over_a_socket_of_theirs() {
    on_ranks(2, "processes_meet_over_a_socket_of_theirs", |world| {
        let universe = posthaste::init()?;
        let socket = if world.rank() == 0 {
            let listener = TcpListener::bind(("localhost", 0)).unwrap();
            world.send(&[listener.local_addr().unwrap().port()], 1, 0)?;
            listener.accept().unwrap().0
        } else {
            TcpStream::connect(("localhost", world.receive_one::<u16>(0, 0)?.0)).unwrap()
        };
        let other = universe.meet_over(&socket)?;
        assert_eq!((other.size(), other.remote_size()), (1, 1));
        other.send(&[world.rank() as u64], 0, 1)?;
        assert_eq!(other.receive_vec::<u64>(0, 1)?.0, [1 - world.rank() as u64]);
        other.disconnect()?;
        // It is the program's again.
        (&socket).write_all(&[7]).unwrap();
        let mut byte = [0];
        (&socket).read_exact(&mut byte).unwrap();
        assert_eq!(byte, [7]);
        let error = universe.meet_over(std::io::stdin()).unwrap_err();
        assert!(error.to_string().contains("expected a connected stream socket"), "{error}");
        Ok(())
    });
}

#[test]
fn jobs_meet_by_the_name_of_a_service() {
    let name = "jobs_meet_by_the_name_of_a_service";
    if is_child() {
        let universe = posthaste::init().unwrap();
        let world = universe.world();
        let service = std::env::var("SERVICE").unwrap();
        let port = if world.rank() == 1 { universe.look_up(&service).unwrap() } else { String::new() };
        let others = world.connect(&port, 1, None).unwrap();
        others.send(&[world.rank()], others.rank(), 0).unwrap();
        return others.disconnect().unwrap();
    }
    on_ranks(2, name, |world| {
        let universe = posthaste::init()?;
        let service = format!("{name} of {}", std::process::id());
        if world.rank() == 0 {
            let port = universe.open_port()?;
            universe.publish(&service, &port)?;
            assert_eq!(universe.publish(&service, &port).unwrap_err().class(), ErrorClass::Service);
            let mut other = std::process::Command::new(mpiexec());
            other.args(["-n", "2"]).arg(std::env::current_exe().unwrap());
            other.args(["--exact", name, "--nocapture", "--test-threads=1"]);
            other.env(BODY, "child").env("SERVICE", &service);
            let other = std::thread::spawn(move || other.status().unwrap());
            let met = world.accept(Some(&port), 0, Some(Duration::from_secs(60)))?;
            let mut rank = [9];
            met.receive(&mut rank, 0, 0)?;
            assert_eq!(rank, [0_usize]);
            met.disconnect()?;
            universe.unpublish(&service, &port)?;
            assert_eq!(universe.look_up(&service).unwrap_err().class(), ErrorClass::Name);
            assert!(other.join().unwrap().success());
            let name = port.name().to_owned();
            drop(port);
            let error = universe.own().connect(&name, 0, Some(Duration::from_millis(200))).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Port, "{error}");
        } else {
            let met = world.accept(None, 0, None)?;
            let mut rank = [9];
            met.receive(&mut rank, 1, 0)?;
            assert_eq!(rank, [1_usize]);
            met.disconnect()?;
        }
        let error = universe.own().accept(None, 0, None).unwrap_err();
        assert!(error.to_string().contains("None at the root"), "{error}");
        Ok(())
    });
}

/// Who has been let in and says no more, as if it were stopped, keeps others waiting for a few seconds only.
#[test]
fn a_caller_that_stops_is_left_behind() {
    let name = "a_caller_that_stops_is_left_behind";
    if is_child() {
        let universe = posthaste::init().unwrap();
        let others = universe.own().connect(&std::env::var("PORT").unwrap(), 0, None).unwrap();
        return others.disconnect().unwrap();
    }
    on_ranks(1, name, |world| {
        let universe = posthaste::init()?;
        let port = universe.open_port()?;
        let at = port.name().to_owned();
        let callers = std::thread::spawn(move || {
            let (set, mut call) = (Set::new().unwrap(), Call::new(at.parse().unwrap(), &Config::default()));
            let stopped = loop {
                match call.step(&set).unwrap() {
                    Some(let_in) => break let_in,
                    None => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            let mut other = std::process::Command::new(mpiexec());
            other.args(["-n", "1"]).arg(std::env::current_exe().unwrap());
            other.args(["--exact", name, "--nocapture", "--test-threads=1"]);
            let status = other.env(BODY, "child").env("PORT", at).status().unwrap();
            drop(stopped);
            status
        });
        let met = world.accept(Some(&port), 0, Some(Duration::from_secs(60)))?;
        met.disconnect()?;
        assert!(callers.join().unwrap().success());
        Ok(())
    });
}

/// The longest time limit is none.
#[test]
fn a_limit_may_be_longer_than_the_clock_goes() {
    on_ranks(2, "a_limit_may_be_longer_than_the_clock_goes", |world| {
        let (universe, limit) = (posthaste::init()?, Some(Duration::MAX));
        let met = if world.rank() == 0 {
            let port = universe.open_port()?;
            let mut name = port.name().to_owned().into_bytes();
            world.send(&[name.len()], 1, 0)?;
            world.broadcast(&mut name, 0)?;
            universe.own().accept(Some(&port), 0, limit)?
        } else {
            let mut len = [0];
            world.receive(&mut len, 0, 0)?;
            let mut name = vec![0; len[0]];
            world.broadcast(&mut name, 0)?;
            universe.own().connect(std::str::from_utf8(&name).unwrap(), 0, limit)?
        };
        met.disconnect()
    });
}
