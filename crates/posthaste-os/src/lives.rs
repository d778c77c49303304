//! Which processes of a node have ended: the system reports each by a descriptor (pidfd), whoever started it.
//!
//! What must stay true: only a process of our own namespace of processes is watched, for elsewhere its number names
//! another one. A rank that says that it is inside is watched from the next look on; if it has ended by then, and its number
//! names nobody, that is its end. A look takes no memory from the heap: it comes in the middle of messages.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::machine;
use crate::node::{Life, Node};

/// The processes of a node, as far as they are watched.
#[derive(Debug)]
pub struct Lives {
    watched: Vec<Watch>,
    namespace: u64,
    /// Those that have finalised are reported as well.
    tells_of_all: bool,
    /// What the system is asked, with room for all.
    asked: Vec<libc::pollfd>,
}

#[derive(Debug)]
enum Watch {
    /// It was not there yet.
    NotYet,
    /// It is there.
    Alive(OwnedFd),
    /// It has ended, which was reported.
    Lost,
    /// It is none of ours to watch, or the system does not let us.
    Never,
}

impl Lives {
    /// Watches nobody.
    pub fn none() -> Self {
        Self { watched: Vec::new(), namespace: 0, tells_of_all: false, asked: Vec::new() }
    }

    /// Watches the ranks of the node for which this holds.
    pub fn new(node: &Node, watched: impl Fn(usize) -> bool) -> Self {
        let watch = |rank| if watched(rank) { Watch::NotYet } else { Watch::Never };
        let watched: Vec<Watch> = (0..node.ranks()).map(watch).collect();
        let asked = Vec::with_capacity(watched.len());
        Self { watched, namespace: machine::process_namespace(), tells_of_all: false, asked }
    }

    /// From now on also ranks that have finalised are reported, whether their processes have ended or not: nothing comes from
    /// them any more, and who waits for them waits in vain. So it is for who finalises, and once somebody is lost.
    pub fn report_all(&mut self) {
        self.tells_of_all = true;
    }

    /// The ranks that have ended inside since the last look; see [`Lives::report_all`].
    pub fn ended(&mut self, node: &Node) -> Vec<usize> {
        let mut gone = self.open(node);
        self.find_ended(&mut gone);
        // What such a rank said last, now that it says nothing more.
        gone.retain(|rank| node.life(*rank) != Life::Finalised);
        self.tells_of_all |= !gone.is_empty();
        if self.tells_of_all {
            let there = |watch: &Watch| matches!(watch, Watch::NotYet | Watch::Alive(_));
            let finalised = self.watched.iter().enumerate().filter(|(_, watch)| there(watch));
            gone.extend(finalised.map(|(rank, _)| rank).filter(|rank| node.life(*rank) == Life::Finalised));
        }
        gone.sort_unstable();
        gone.iter().for_each(|rank| self.watched[*rank] = Watch::Lost);
        gone
    }

    /// Whether a rank lives as far as is known, and its end will be reported.
    pub fn may_live(&self, rank: usize) -> bool {
        self.watched.get(rank).is_some_and(|watch| matches!(watch, Watch::NotYet | Watch::Alive(_)))
    }

    /// Begins to watch those that have come; those of them that are not there any more.
    fn open(&mut self, node: &Node) -> Vec<usize> {
        let mut gone = Vec::new();
        for (rank, watch) in self.watched.iter_mut().enumerate() {
            if !matches!(watch, Watch::NotYet) || node.life(rank) == Life::Absent {
                continue;
            }
            if self.namespace == 0 || node.process_namespace(rank) != self.namespace {
                *watch = Watch::Never;
                continue;
            }
            match open(node.pid(rank)) {
                Ok(descriptor) => *watch = Watch::Alive(descriptor),
                Err(why) if why.raw_os_error() == Some(libc::ESRCH) => gone.push(rank),
                // Tried again when there are descriptors.
                Err(why) if matches!(why.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => break,
                Err(_) => *watch = Watch::Never,
            }
        }
        gone
    }

    /// Adds those whose processes have ended.
    fn find_ended(&mut self, gone: &mut Vec<usize>) {
        let Self { watched, asked, .. } = self;
        asked.clear();
        asked.extend(watched.iter().map(|watch| match watch {
            Watch::Alive(process) => {
                libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 }
            }
            // Passed over by the system.
            Watch::NotYet | Watch::Lost | Watch::Never => libc::pollfd { fd: -1, events: 0, revents: 0 },
        }));
        if asked.iter().all(|asked| asked.fd < 0) {
            return;
        }
        // SAFETY: the entries live through the call, which does not wait.
        unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, 0) };
        gone.extend(asked.iter().zip(0..).filter(|(asked, _)| asked.revents != 0).map(|(_, rank)| rank));
    }
}

/// A descriptor of a process, readable when it has ended.
///
/// # Errors
/// When it has ended and was waited for, or there are no descriptors to be had.
pub fn open(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that the system has just made, and nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as i32) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn sleeper(node: &Node, rank: usize, namespace: u64) -> Child {
        let child = Command::new("sleep").arg("100").spawn().unwrap();
        node.set_pid(rank, child.id());
        node.set_process_namespace(rank, namespace);
        node.set_life(rank, Life::Inside);
        child
    }

    fn end(child: &mut Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_ends_inside_is_reported_once() {
        let node = Node::create(5).unwrap();
        let mut lives = Lives::new(&node, |rank| rank != 0);
        let own = machine::process_namespace();
        assert!(own != 0 && lives.ended(&node).is_empty(), "nobody is there");
        let [mut killed, mut finalised, mut elsewhere] =
            [(1, own), (2, own), (3, own + 1)].map(|(rank, namespace)| sleeper(&node, rank, namespace));
        assert!(lives.ended(&node).is_empty(), "all live");
        node.set_life(2, Life::Finalised);
        end(&mut finalised);
        end(&mut elsewhere);
        assert!(lives.ended(&node).is_empty(), "one has finalised, and of the other nothing is known");
        end(&mut killed);
        assert!(lives.may_live(1) && !lives.may_live(3), "nobody has looked, and nobody will");
        assert_eq!(lives.ended(&node), [1, 2], "nothing more comes from the one that has finalised");
        assert!(!lives.may_live(1) && lives.may_live(4));
        assert!(lives.ended(&node).is_empty());
        // Ended before anybody looked.
        end(&mut sleeper(&node, 4, own));
        assert_eq!(lives.ended(&node), [4]);
    }

    #[test]
    fn who_finalises_hears_of_those_that_have() {
        let node = Node::create(3).unwrap();
        let mut lives = Lives::new(&node, |rank| rank == 1);
        let mut others = [1, 2].map(|rank| sleeper(&node, rank, machine::process_namespace()));
        node.set_life(1, Life::Finalised);
        node.set_life(2, Life::Finalised);
        assert!(lives.ended(&node).is_empty());
        lives.report_all();
        assert_eq!(lives.ended(&node), [1], "and the other is none of ours");
        others.iter_mut().for_each(end);
        assert!(lives.ended(&node).is_empty());
    }
}
