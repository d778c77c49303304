//! `posthaste-names`: a server for the names of services, where hosts share no folder for them (docs/jobs.md).
//!
//! What must stay true: the secret of the server is told on standard output alone, which is for whoever starts it; it stands on no
//! command line and in no sentence. In the background it holds nothing of who has started it.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use posthaste_core::config::Config;
use posthaste_core::meeting::{Inquiry, Next, Question, Server, Told};
use posthaste_os::process::{self, Image};
use posthaste_os::socket::Set;

use crate::show::say;

/// How the server in the background is called; who has started it hears of it at the server's standard input.
const DETACHED: &str = "--detached";
/// What gives it standard streams of its own.
const SCRIPT: &str = "exec \"$0\" \"$1\" >/dev/null 2>&1";
/// What its first word begins with: the value of the setting, or why there is none.
const READY: char = '+';
const REFUSED: char = '-';
/// The pause of a server that strangers keep busy.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a question sleeps at most: it tries a further address now and then.
const NAP: Duration = Duration::from_millis(50);

const USAGE: &str = "\
posthaste-names                serves names of services (MPI_Publish_name) and prints the setting by which jobs find it
posthaste-names --background   the same beside the shell, once it serves: export POSTHASTE_NAMES=$(posthaste-names --background)
posthaste-names --list         the services whose ports are published where POSTHASTE_NAMES says
posthaste-names --end          ends the server of POSTHASTE_NAMES
";

/// Runs the command and returns its exit code.
pub fn main() -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(|one| one.to_str().unwrap_or_default()).collect();
    let outcome = match arguments[..] {
        [] => serve(|value| print(&format!("POSTHASTE_NAMES={value}\n"))),
        ["--background"] => in_background().and_then(|value| print(&format!("{value}\n"))),
        [DETACHED] => detached(),
        ["--list"] => ask(Question::List).and_then(|told| print(&lines(&told.texts))),
        ["--end"] => ask(Question::End).map(drop),
        ["-h" | "-help" | "--help"] => print(USAGE),
        ["-V" | "--version"] => {
            print(&format!("posthaste-names of posthaste {}\n", env!("CARGO_PKG_VERSION")))
        }
        _ => {
            say(USAGE);
            return 1;
        }
    };
    outcome.map_or_else(
        |why| {
            say(&format!("posthaste-names: {why}\n"));
            1
        },
        |()| 0,
    )
}

fn config() -> Result<Config, String> {
    Config::read(|name| std::env::var(name).ok()).map_err(|why| why.to_string())
}

/// Serves until somebody asks it to end; `is_ready` gets the value of the setting before.
fn serve(is_ready: impl FnOnce(&str) -> Result<(), String>) -> Result<(), String> {
    let open_files = process::allow_open_files(Server::OPEN_FILES);
    let mut server = Server::open(&config()?, open_files).map_err(|why| why.to_string())?;
    let watched = Set::new().and_then(|set| server.watch_in(&set).map(|()| set));
    let set = watched.map_err(|why| format!("watching the port: {why}"))?;
    is_ready(&server.name().to_string())?;
    let mut ready = Vec::new();
    loop {
        ready.clear();
        set.wait(Server::NAP, &mut ready);
        match server.step(&set, &ready).map_err(|why| why.to_string())? {
            Next::Wait => {}
            Next::Pause => thread::sleep(PAUSE),
            Next::End => return Ok(()),
        }
    }
}

/// Starts the server beside this process and returns the value of the setting.
fn in_background() -> Result<String, String> {
    let refused = |why: io::Error| format!("the server cannot be started: {why}");
    let program = std::env::current_exe().map_err(refused)?;
    let environment: Vec<Vec<u8>> =
        std::env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect();
    let arguments =
        [b"sh", &b"-c"[..], SCRIPT.as_bytes(), program.as_os_str().as_bytes(), DETACHED.as_bytes()];
    let image = Image::new(Path::new("/bin/sh"), &arguments, &environment, None).map_err(refused)?;
    let (ours, theirs) = UnixStream::pair().map_err(refused)?;
    process::start_apart(&image, theirs.as_fd()).map_err(refused)?;
    drop(theirs);
    let mut said = String::new();
    BufReader::new(ours).read_line(&mut said).map_err(refused)?;
    let said = said.trim_end();
    match (said.strip_prefix(READY), said.strip_prefix(REFUSED)) {
        (Some(value), _) => Ok(value.to_owned()),
        (_, Some(why)) => Err(why.to_owned()),
        _ => Err("the server has ended before it was ready".to_owned()),
    }
}

/// The server in the background, which says at its standard input how it went.
fn detached() -> Result<(), String> {
    let input = io::stdin().as_fd().try_clone_to_owned().map_err(|why| why.to_string())?;
    let mut starter = UnixStream::from(input);
    // A terminal that goes takes its session with it, and a folder that is somebody's stays in use.
    let apart = nix::unistd::setsid().map_err(|why| format!("a session of its own: {why}"));
    let apart = apart.and_then(|_| std::env::set_current_dir("/").map_err(|why| why.to_string()));
    let told = |starter: &mut UnixStream, mark: char, text: &str| {
        let line = format!("{mark}{}\n", text.replace('\n', " "));
        starter.write_all(line.as_bytes()).map_err(|why| why.to_string())
    };
    let mut to_starter = starter.try_clone().map_err(|why| why.to_string())?;
    let outcome = apart.and_then(|()| serve(|value| told(&mut to_starter, READY, value)));
    if let Err(why) = &outcome {
        // After the first word nobody listens.
        let _ = told(&mut starter, REFUSED, why);
    }
    outcome
}

/// Asks where the settings say that names are.
fn ask(question: Question) -> Result<Told, String> {
    let mut inquiry = Inquiry::begin(&config()?, question).map_err(|why| why.to_string())?;
    let set = Set::new().map_err(|why| format!("watching a connection: {why}"))?;
    let mut ready = Vec::new();
    loop {
        if let Some(told) = inquiry.step(&set).map_err(|why| why.to_string())? {
            return Ok(told);
        }
        ready.clear();
        set.wait(NAP, &mut ready);
    }
}

/// One service in a line, whatever letters it has.
fn lines(services: &[String]) -> String {
    services.iter().map(|service| format!("{}\n", service.escape_debug())).collect()
}

fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|why| format!("standard output: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_one_line() {
        assert_eq!(lines(&["ocean".into(), "a\nb é".into()]), "ocean\na\\nb é\n");
        assert_eq!(lines(&[]), "");
    }
}
