//! A server with those who ask, in one process: publications and their ends, strangers, and those who say half of it.

use std::net::TcpStream;

use proptest::prelude::*;

use super::super::{Inquiry, Told, setting_shown};
use super::*;
use crate::error::ErrorClass;

struct Running {
    server: Server,
    set: Set,
    config: Config,
}

fn publish(service: &str, port: &str) -> Question {
    Question::Publish { service: service.into(), port: port.into() }
}

fn look_up(service: &str) -> Question {
    Question::LookUp { service: service.into() }
}

fn unpublish(service: &str, port: &str) -> Question {
    Question::Unpublish { service: service.into(), port: port.into() }
}

impl Running {
    fn start(open_files: u64) -> Self {
        let mut server = Server::open(&Config::default(), open_files).unwrap();
        let set = Set::new().unwrap();
        server.watch_in(&set).unwrap();
        let names = Some(server.name().to_string());
        Self { server, set, config: Config { names, connect_s: 20, ..Config::default() } }
    }

    fn step(&mut self) -> Next {
        let mut ready = Vec::new();
        self.set.wait(Duration::from_millis(1), &mut ready);
        self.server.step(&self.set, &ready).unwrap()
    }

    fn ask(&mut self, question: Question) -> Result<Told> {
        let (mut inquiry, set) = (Inquiry::begin(&self.config, question)?, Set::new().unwrap());
        loop {
            if let Some(told) = inquiry.step(&set)? {
                return Ok(told);
            }
            self.step();
        }
    }

    fn port_of(&mut self, service: &str) -> Option<String> {
        match self.ask(look_up(service)) {
            Ok(told) => told.texts.into_iter().next(),
            Err(why) => {
                assert_eq!(why.class(), ErrorClass::Name, "{why}");
                None
            }
        }
    }

    fn until(&mut self, what: &str, mut done: impl FnMut(&mut Self) -> bool) {
        let end = machine::now() + Duration::from_secs(60);
        while !done(self) {
            assert!(machine::now() < end, "waited in vain until {what}");
            self.step();
        }
    }

    /// Somebody who has been let in and says these bytes, without a frame around them.
    fn says(&mut self, bytes: &[u8]) -> Line {
        let mut call = crate::meeting::Call::new(self.server.name().clone(), &self.config);
        let set = Set::new().unwrap();
        let mut line = loop {
            self.step();
            if let Some(Meeting { line, .. }) = call.step(&set).unwrap() {
                break line;
            }
        };
        line.say(bytes);
        line.flush().unwrap();
        line
    }
}

#[test]
fn a_name_is_found_by_others_until_it_is_taken_back() {
    let mut running = Running::start(Server::OPEN_FILES);
    let odd = "a name/with\nlines and é".to_owned() + &"length".repeat(200);
    for service in ["ocean", "", &odd] {
        assert_eq!(running.port_of(service), None);
        let kept = running.ask(publish(service, "one")).unwrap().line;
        assert!(kept.is_some(), "the publication has no connection");
        let refused = running.ask(publish(service, "other")).unwrap_err();
        assert!(refused.class() == ErrorClass::Service && refused.to_string().contains("not published"));
        assert_eq!(running.port_of(service).as_deref(), Some("one"));
        assert_eq!(running.ask(Question::List).unwrap().texts, [service]);
        let refused = running.ask(unpublish(service, "other")).unwrap_err();
        assert!(refused.class() == ErrorClass::Service && refused.to_string().starts_with("port_name"));
        // As by another process, which knows the port.
        running.ask(unpublish(service, "one")).unwrap();
        assert_eq!(running.ask(unpublish(service, "one")).unwrap_err().class(), ErrorClass::Service);
        // The end of the first connection is none of the second publication.
        let again = running.ask(publish(service, "two")).unwrap().line;
        drop(kept);
        assert_eq!(running.port_of(service).as_deref(), Some("two"));
        drop(again);
        running.until("the name has gone", |running| running.port_of(service).is_none());
    }
    assert!(running.server.table.names.is_empty() && running.server.table.owners.is_empty());
}

#[test]
fn names_go_with_the_connection_of_their_publisher() {
    let mut running = Running::start(Server::OPEN_FILES);
    let first = running.ask(publish("ocean", "one")).unwrap().line;
    let second = running.ask(publish("ice", "two")).unwrap().line;
    assert_eq!(running.ask(Question::List).unwrap().texts, ["ice", "ocean"]);
    drop(first);
    running.until("one name is left", |running| running.server.table.names.len() == 1);
    assert_eq!((running.port_of("ocean"), running.port_of("ice").as_deref()), (None, Some("two")));
    let again = running.ask(publish("ocean", "three")).unwrap().line;
    assert_eq!(running.port_of("ocean").as_deref(), Some("three"));
    drop((second, again));
    running.until("nobody is left", |running| running.server.clients.is_empty());
}

#[test]
fn whose_last_name_others_have_taken_back_is_let_go() {
    let mut running = Running::start(Server::OPEN_FILES);
    let mut line = running.ask(publish("ocean", "one")).unwrap().line.unwrap();
    assert!(line.step().is_ok());
    running.ask(unpublish("ocean", "one")).unwrap();
    running.until("the connection is closed", |_| line.step().is_err());
}

#[test]
fn there_is_room_for_so_many_names() {
    let mut running = Running::start((MOST_ASKING + OTHERS + 2) as u64);
    let kept: Vec<_> = ["a", "b"].iter().map(|name| running.ask(publish(name, "p")).unwrap().line).collect();
    let full = running.ask(publish("c", "p")).unwrap_err();
    assert!(
        full.class() == ErrorClass::Service && full.to_string().contains("room for no more names"),
        "{full}"
    );
    assert_eq!(running.port_of("a").as_deref(), Some("p"));
    running.ask(unpublish("a", "p")).unwrap();
    running.ask(publish("c", "p")).unwrap();
    drop(kept);
    assert_eq!(Server::open(&Config::default(), 0).unwrap().table.most, 1);
    assert_eq!(Server::open(&Config::default(), u64::MAX).unwrap().table.most, MOST_NAMES);
}

#[test]
fn nobody_waits_for_the_silent_and_they_go_in_time() {
    let mut running = Running::start(Server::OPEN_FILES);
    let strangers: Vec<_> =
        (0..3).map(|_| TcpStream::connect(("127.0.0.1", running.server.name().port)).unwrap()).collect();
    let silent = running.says(&[]);
    let half = running.says(&Question::List.bytes()[..1]); // a length that is cut off
    let named = running.ask(publish("ocean", "one")).unwrap().line;
    // Questions whose answers nobody reads.
    let deaf = running.says(&[1, 0, 0, 0, b'A'].repeat(1000));
    assert_eq!(running.port_of("ocean").as_deref(), Some("one"));
    assert!(running.server.clients.len() >= 4, "{:?}", running.server.clients);
    running.server.clients.values_mut().for_each(|client| client.since = Duration::ZERO);
    running.server.looked = Duration::ZERO;
    running.until("only who has a name is left", |running| running.server.clients.len() == 1);
    assert_eq!(running.port_of("ocean").as_deref(), Some("one"));
    drop((strangers, silent, half, deaf, named));
}

#[test]
fn who_asks_something_else_is_let_go_alone() {
    let mut running = Running::start(Server::OPEN_FILES);
    let named = running.ask(publish("ocean", "one")).unwrap().line;
    let framed = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat();
    let long = (MOST_QUESTION as u32 + 1).to_le_bytes();
    for wrong in
        [framed(b""), framed(b"?"), framed(b"L\x09\0\0\0x"), framed(b"L\x01\0\0\0\xff"), long.to_vec()]
    {
        let mut line = running.says(&wrong);
        running.until("it is let go", |_| line.step().is_err());
        assert_eq!(running.port_of("ocean").as_deref(), Some("one"), "{wrong:?}");
    }
    drop(named);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever somebody says who has been let in, the server answers others.
    #[test]
    fn any_bytes_end_their_connection_at_most(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut running = Running::start(Server::OPEN_FILES);
        let named = running.ask(publish("ocean", "one")).unwrap().line;
        let strange = running.says(&bytes);
        prop_assert_eq!(running.port_of("ocean"), Some("one".to_owned()));
        drop((strange, named));
    }
}

#[test]
fn another_secret_opens_nothing() {
    let mut running = Running::start(Server::OPEN_FILES);
    let name = PortName { secret: [9; 16], ..running.server.name().clone() };
    running.config.names = Some(name.to_string());
    for question in [publish("ocean", "one"), look_up("ocean"), Question::End] {
        let error = running.ask(question).unwrap_err();
        let text = error.to_string();
        assert!(error.class() == ErrorClass::Service && text.contains("POSTHASTE_NAMES"), "{text}");
        assert!(text.contains("posthaste-names") && !text.contains("0909"), "{text}");
    }
    assert!(running.server.table.names.is_empty() && running.server.clients.is_empty());
}

#[test]
fn a_server_that_is_not_there_or_silent_is_an_error_in_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().port();
    let names = Some(format!("ph1/{at}/{}/127.0.0.1", "5f".repeat(16)));
    let config = Config { names, connect_s: 1, ..Config::default() };
    let ask = || {
        let (mut inquiry, set) = (Inquiry::begin(&config, look_up("ocean")).unwrap(), Set::new().unwrap());
        loop {
            match inquiry.step(&set) {
                Ok(told) => assert!(told.is_none()),
                Err(error) => break error,
            }
        }
    };
    let silent = ask();
    drop(listener);
    let nobody = ask();
    for (error, says) in [(silent, "1 s are over (POSTHASTE_CONNECT_S)"), (nobody, "refused")] {
        let text = error.to_string();
        assert!(error.class() == ErrorClass::Service && text.contains(says), "{text}");
        assert!(text.contains("POSTHASTE_NAMES") && !text.contains("5f5f"), "{text}");
    }
}

#[test]
fn a_setting_that_is_no_server_is_named_without_its_secret() {
    let secret = "5f".repeat(16);
    for wrong in
        [format!("ph1/0/{secret}/127.0.0.1"), format!("ph1/1/{secret}"), format!("ph1/1/{secret}/\"x\"\n")]
    {
        let config = Config { names: Some(wrong.clone()), ..Config::default() };
        let error = Inquiry::begin(&config, Question::List).unwrap_err();
        let text = error.to_string();
        assert!(
            error.class() == ErrorClass::Service && text.starts_with("POSTHASTE_NAMES is a text"),
            "{text}"
        );
        assert!(!text.contains("5f5f") && !setting_shown(&wrong).contains("5f5f"), "{text}");
        let read = Config::read(|name| (name == "POSTHASTE_NAMES").then(|| wrong.clone())).unwrap();
        assert_eq!(read.names, Some(wrong));
    }
    assert_eq!(setting_shown(&format!("ph1/7/{secret}/10.0.0.1")), "a names server, port 10.0.0.1:7");
    assert_eq!(setting_shown("/home/me/names"), "/home/me/names");
}

#[test]
fn it_ends_when_somebody_asks_for_that() {
    let mut running = Running::start(Server::OPEN_FILES);
    let (mut inquiry, set) = (Inquiry::begin(&running.config, Question::End).unwrap(), Set::new().unwrap());
    while running.step() != Next::End {
        assert!(inquiry.step(&set).unwrap().is_none());
    }
    drop(running);
    while inquiry.step(&set).unwrap().is_none() {}
}

#[test]
fn strangers_that_stay_make_it_pause() {
    let mut running = Running::start(Server::OPEN_FILES);
    let at = ("127.0.0.1", running.server.name().port);
    // More than are looked at together.
    let strangers: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(at).unwrap()).collect();
    running.until("it pauses", |running| running.step() == Next::Pause);
    drop(strangers);
    assert_eq!(running.port_of("ocean"), None);
    assert!(running.server.in_vain <= STEPS, "it goes on pausing");
}
