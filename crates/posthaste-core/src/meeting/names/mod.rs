//! Where ports are found by the name of a service (MPI-5.0 §11.9.4): in a folder, or at a names server that `POSTHASTE_NAMES` names.
//!
//! ```text
//!   who asks                                    names server
//!   calls its port   <---- as at any port ---->   `rendezvous`
//!   question         ---------------------->      `words`, `server`
//!                    <----------------------      answer
//!   keeps the connection of a publication         forgets the name when that ends
//! ```
//!
//! Each question has a connection of its own, so threads ask side by side. Parts: `folder`; `words`, what the two say to each
//! other; `server`.
//!
//! What must stay true: a name is published once; one of a process that has ended counts as not published, as far as that can be
//! known; nothing here waits, but for the folder's lock; no sentence has the secret of a server in it.

mod folder;
mod server;
mod words;

use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::Set;

use crate::config::Config;
use crate::error::{Error, ErrorClass, Result};
use crate::meeting::{Call, Line, Meeting, PortName};
use folder::Folder;
pub use server::{Next, Server};
pub use words::Question;
use words::{Answer, MOST_ANSWER};

/// How the value of the setting begins when it is a server and no folder.
const SERVER: &str = "ph1/";

/// A question that is under way.
#[derive(Debug)]
pub struct Inquiry {
    question: Question,
    way: Way,
    /// What stands in sentences about the server.
    place: String,
    limit: Duration,
    until: Duration,
}

#[derive(Debug)]
enum Way {
    /// A folder has answered.
    Over(Option<Told>),
    Calling(Call),
    Talking(Option<Line>),
}

/// The answer to a question.
#[derive(Debug, Default)]
pub struct Told {
    /// The port that was looked up, or the services whose ports are published.
    pub texts: Vec<String>,
    /// The connection by which a publication lives.
    pub line: Option<Line>,
}

impl Inquiry {
    /// Asks where the settings say that names are.
    ///
    /// # Errors
    /// A setting that names no such place; an argument that a server does not take; what a folder answers.
    pub fn begin(config: &Config, question: Question) -> Result<Self> {
        let limit = Duration::from_secs(config.connect_s.into());
        let until = machine::now() + limit;
        let Some(name) = config.names.as_deref().filter(|text| text.starts_with(SERVER)) else {
            let told = asked_of_folder(&Folder::open(config.names.as_deref())?, &question)?;
            return Ok(Self { question, way: Way::Over(Some(told)), place: String::new(), limit, until });
        };
        let name: PortName = name.parse().map_err(|_| {
            let expected = "a folder, or ph1/PORT/SECRET/ADDRESSES as posthaste-names prints it";
            Error::invalid(ErrorClass::Service, "POSTHASTE_NAMES", setting_shown(name), expected)
        })?;
        question.check()?;
        let place = format!("the names server, {}", name.shown());
        let way = Way::Calling(Call::new(name, config));
        Ok(Self { question, way, place, limit, until })
    }

    /// What stands behind the name of the call in reports of what it waits for.
    pub fn place(&self) -> String {
        format!("at {}", self.place)
    }

    /// Goes on; a sleeper waits in `set`, which is this question's own.
    ///
    /// # Errors
    /// A server that is not there, or does not answer in time; what the answer refuses.
    pub fn step(&mut self, set: &Set) -> Result<Option<Told>> {
        if let Way::Over(told) = &mut self.way {
            return Ok(told.take());
        }
        if let Way::Calling(call) = &mut self.way {
            let met = call.step(set).map_err(|why| unanswered(&self.place, &why.to_string()))?;
            if let Some(Meeting { mut line, .. }) = met {
                line.send(&self.question.bytes());
                self.way = Way::Talking(Some(line));
            }
        }
        if let Way::Talking(talking) = &mut self.way
            && let Some(line) = talking
        {
            let said = line.step_within(MOST_ANSWER);
            match said.map_err(|why| unanswered(&self.place, &why.to_string()))? {
                None => line.watch_for_room(set),
                Some(said) => return told(&self.question, &said, &self.place, talking.take()).map(Some),
            }
        }
        if machine::now() < self.until {
            return Ok(None);
        }
        let seconds = self.limit.as_secs();
        Err(unanswered(&self.place, &format!("{seconds} s are over (POSTHASTE_CONNECT_S)")))
    }
}

/// The setting as sentences may have it: without the secret of a server.
pub fn setting_shown(value: &str) -> String {
    if !value.starts_with(SERVER) {
        return value.to_owned();
    }
    match value.parse::<PortName>() {
        Ok(name) => format!("a names server, {}", name.shown()),
        Err(_) => format!("a text of {} letters that begins with {SERVER}", value.chars().count()),
    }
}

fn asked_of_folder(folder: &Folder, question: &Question) -> Result<Told> {
    let texts = match question {
        Question::Publish { service, port } => folder.publish(service, port).map(|()| Vec::new())?,
        Question::LookUp { service } => vec![folder.look_up(service)?],
        Question::Unpublish { service, port } => folder.unpublish(service, port).map(|()| Vec::new())?,
        Question::List => folder.services()?,
        Question::End => {
            let text = "POSTHASTE_NAMES names no server that could be ended: names are in a folder";
            return Err(Error::other(ErrorClass::Service, text));
        }
    };
    Ok(Told { texts, line: None })
}

/// What a server's answer means. Its class is that which a folder's has.
fn told(question: &Question, said: &[u8], place: &str, line: Option<Line>) -> Result<Told> {
    let answer = Answer::read(said).ok_or_else(|| unanswered(place, "it says something else"))?;
    match (question, answer) {
        (Question::Publish { .. }, Answer::Done) => Ok(Told { line, ..Told::default() }),
        (Question::Unpublish { .. } | Question::End, Answer::Done) => Ok(Told::default()),
        (Question::LookUp { .. }, Answer::Port(port)) => Ok(Told { texts: vec![port], line: None }),
        (Question::List, Answer::Services(texts)) => Ok(Told { texts, line: None }),
        (Question::Publish { service, .. }, Answer::Taken) => Err(taken(service)),
        (Question::Publish { .. }, Answer::Full) => {
            let text = format!(
                "{place} (POSTHASTE_NAMES), has room for no more names: take some back, or start posthaste-names where \
                 more descriptors are allowed (ulimit -n)"
            );
            Err(Error::other(ErrorClass::Service, text))
        }
        (Question::LookUp { service }, Answer::Unknown) => Err(not_published(ErrorClass::Name, service)),
        (Question::Unpublish { service, .. }, Answer::Unknown) => {
            Err(not_published(ErrorClass::Service, service))
        }
        (Question::Unpublish { .. }, Answer::OtherPort) => Err(other_port()),
        _ => Err(unanswered(place, "its answer belongs to another question")),
    }
}

fn unanswered(place: &str, why: &str) -> Error {
    let text = format!(
        "{place} (POSTHASTE_NAMES), does not answer: {why}. If it has ended or has another secret, start posthaste-names \
         and set POSTHASTE_NAMES to what it prints"
    );
    Error::other(ErrorClass::Service, text)
}

fn taken(service: &str) -> Error {
    Error::invalid(ErrorClass::Service, "service_name", shown(service), "a name that is not published")
}

fn not_published(class: ErrorClass, service: &str) -> Error {
    Error::invalid(class, "service_name", shown(service), "a name that is published")
}

fn other_port() -> Error {
    let expected = "the port that is published under this name";
    Error::invalid(ErrorClass::Service, "port_name", "another port", expected)
}

fn shown(service: &str) -> String {
    let start: String = service.chars().take(100).collect();
    format!("\"{start}\"")
}
