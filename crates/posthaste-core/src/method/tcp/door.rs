//! Connections that are not trusted yet: the steps of the handshake, for both sides.
//!
//! `reach` decides what becomes of them. What must stay true: nothing is read behind the handshake, for it belongs to
//! the messages; a door takes no more memory than the longest part of a handshake. The other end may be a rank that
//! computes and looks at its connections only now and then, so there is no time limit here.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::mem::{Sink, Source};
use posthaste_os::socket::{Set, Stream};

use crate::ids::Peer;
use crate::method::tcp::handshake::{GO, GREETING, HELLO, Identity, Introduction, NO, PROOF, is_same};

/// A connection before its handshake is over.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) stream: Stream,
    /// Where the other end is.
    pub(super) address: SocketAddr,
    pub(super) since: Duration,
    stage: Stage,
    /// The caller's hello and the front of the answer to it.
    hello: [u8; HELLO],
    answer: [u8; HELLO],
    got: [u8; GREETING],
    got_len: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// We call: the connection stands.
    Connected(Peer),
    /// We call: the answer.
    Answer(Peer),
    /// We call: the last word.
    Go(Introduction),
    /// We answer: the hello.
    Hello,
    /// We answer: the proof.
    Proof(Introduction),
    /// We answer: nothing; the caller waits for our last word.
    Decision,
}

/// What a step has come to.
#[derive(Debug)]
pub(super) enum Step {
    /// More has to come.
    Wait,
    /// It cannot be used.
    Failed(Why),
    /// We call, and it is the peer whom we look for: no other address need be tried.
    Found,
    /// We call: the connection is the one.
    Open(Introduction),
    /// We answer: the caller has proved who it is, and waits for [`Door::go`].
    Proven(Introduction),
}

/// Why a door is of no use.
#[derive(Debug)]
pub(super) enum Why {
    /// Nobody can be reached there.
    Unreachable(String),
    /// The other end was there, and has gone.
    Gone(String),
    /// It is there, but not who it should be.
    Stranger(String),
}

impl Door {
    /// We call.
    pub(super) fn calling(stream: Stream, address: SocketAddr, peer: Peer, now: Duration) -> Self {
        Self::new(stream, address, Stage::Connected(peer), now)
    }

    /// We answer.
    pub(super) fn answering(stream: Stream, address: SocketAddr, now: Duration) -> Self {
        Self::new(stream, address, Stage::Hello, now)
    }

    fn new(stream: Stream, address: SocketAddr, stage: Stage, since: Duration) -> Self {
        let (hello, answer) = ([0; HELLO], [0; HELLO]);
        Self { stream, address, since, stage, hello, answer, got: [0; GREETING], got_len: 0 }
    }

    /// The peer that we call, if we do.
    pub(super) fn called(&self) -> Option<Peer> {
        match self.stage {
            Stage::Connected(peer) | Stage::Answer(peer) => Some(peer),
            Stage::Go(introduction) => Some(introduction.from),
            Stage::Hello | Stage::Proof(_) | Stage::Decision => None,
        }
    }

    /// Whether we call, and nobody has taken the call.
    pub(super) fn is_unanswered(&self) -> bool {
        matches!(self.stage, Stage::Connected(_))
    }

    /// Whether somebody calls and has not said a word that only ranks of this job can say.
    pub(super) fn is_strange(&self) -> bool {
        self.stage == Stage::Hello
    }

    /// Goes on as far as possible.
    pub(super) fn advance(&mut self, identity: &Identity, set: &Set, token: u64) -> Step {
        loop {
            let step = match self.stage {
                Stage::Connected(peer) => self.connected(identity, peer, set, token),
                Stage::Answer(peer) => self.answered(identity, peer),
                Stage::Go(introduction) => self.part(1).map(|word| match word {
                    Some([GO, ..]) => Some(Step::Open(introduction)),
                    Some(_) => Some(stranger("it does not speak our protocol")),
                    None => Some(Step::Wait),
                }),
                Stage::Hello => self.greeted(identity),
                Stage::Proof(introduction) => self.proven(identity, introduction),
                Stage::Decision => self.part(1).map(|word| match word {
                    Some(_) => Some(stranger("it speaks out of turn")),
                    None => Some(Step::Wait),
                }),
            };
            match step {
                Ok(Some(step)) => return step,
                Ok(None) => {} // the next stage
                Err(error) => return Step::Failed(Why::Gone(error.to_string())),
            }
        }
    }

    fn connected(
        &mut self,
        identity: &Identity,
        peer: Peer,
        set: &Set,
        token: u64,
    ) -> io::Result<Option<Step>> {
        match self.stream.connected() {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(Some(Step::Wait)),
            Err(error) => return Ok(Some(Step::Failed(Why::Unreachable(error.to_string())))),
            Ok(()) => {}
        }
        set.change(&self.stream, token, false)?;
        self.hello = identity.hello(peer, machine::random()?);
        self.say(&[&self.hello[..], &identity.seal(&self.hello)].concat())?;
        self.stage = Stage::Answer(peer);
        Ok(None)
    }

    fn answered(&mut self, identity: &Identity, peer: Peer) -> io::Result<Option<Step>> {
        let answer = match self.part(GREETING) {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(Some(Step::Wait)),
            Err(_) if self.got[..self.got_len] == [NO] => return Ok(Some(stranger(NO_SECRET))),
            Err(error) => return Err(error),
        };
        let Some((front, proof)) = answer.split_first_chunk::<HELLO>() else { return Ok(Some(Step::Wait)) };
        let introduction = match identity.read(front) {
            Ok(introduction) if introduction.from == peer => introduction,
            Ok(introduction) => {
                return Ok(Some(stranger(format!("{} is there", identity.name(introduction.from)))));
            }
            Err(why) => return Ok(Some(stranger(why))),
        };
        self.answer = *front;
        let expected = identity.answerer_proof(&self.hello, &self.answer);
        if !proof.first_chunk().is_some_and(|proof| is_same(proof, &expected)) {
            return Ok(Some(stranger(NO_SECRET)));
        }
        self.say(&identity.caller_proof(&self.hello, &self.answer))?;
        self.stage = Stage::Go(introduction);
        Ok(Some(Step::Found))
    }

    fn greeted(&mut self, identity: &Identity) -> io::Result<Option<Step>> {
        let Some(greeting) = self.part(GREETING)? else { return Ok(Some(Step::Wait)) };
        let Some((hello, seal)) = greeting.split_first_chunk::<HELLO>() else { return Ok(Some(Step::Wait)) };
        let introduction = match identity.read(hello) {
            Ok(introduction) => introduction,
            Err(why) => return Ok(Some(stranger(why))),
        };
        if !seal.first_chunk().is_some_and(|seal| is_same(seal, &identity.seal(hello))) {
            let _ = self.say(&[NO]);
            return Ok(Some(stranger(NO_SECRET)));
        }
        self.hello = *hello;
        self.answer = identity.answer(&introduction, machine::random()?);
        let proof = identity.answerer_proof(&self.hello, &self.answer);
        self.say(&[&self.answer[..], &proof].concat())?;
        self.stage = Stage::Proof(introduction);
        Ok(None)
    }

    fn proven(&mut self, identity: &Identity, introduction: Introduction) -> io::Result<Option<Step>> {
        let Some(proof) = self.part(PROOF)? else { return Ok(Some(Step::Wait)) };
        let expected = identity.caller_proof(&self.hello, &self.answer);
        if !proof.first_chunk().is_some_and(|proof| is_same(proof, &expected)) {
            return Ok(Some(stranger(NO_SECRET)));
        }
        self.stage = Stage::Decision;
        Ok(Some(Step::Proven(introduction)))
    }

    /// The last word to a caller: this connection is the one.
    ///
    /// # Errors
    /// When it is gone.
    pub(super) fn go(&self) -> io::Result<()> {
        self.say(&[GO])
    }

    /// The next `n` bytes, once they are all here.
    fn part(&mut self, n: usize) -> io::Result<Option<[u8; GREETING]>> {
        while self.got_len < n {
            match self.stream.read_one(&mut Sink::from(&mut self.got[self.got_len..n]))? {
                None => return Ok(None),
                Some(0) => return Err(io::Error::other("it closed the connection")),
                Some(more) => self.got_len += more,
            }
        }
        self.got_len = 0;
        Ok(Some(self.got))
    }

    /// A part of a handshake finds room in any connection.
    fn say(&self, bytes: &[u8]) -> io::Result<()> {
        match self.stream.write(&[Source::from(bytes)])? {
            Some(n) if n == bytes.len() => Ok(()),
            _ => Err(io::Error::other("it takes no bytes")),
        }
    }
}

const NO_SECRET: &str = "it does not know the secret of this job, or knows another one";

fn stranger(why: impl Into<String>) -> Step {
    Step::Failed(Why::Stranger(why.into()))
}
