//! Which processes of a node have ended: the system tells of each by a descriptor (pidfd), whoever started it.
//!
//! What must stay true: only a process of our own namespace of processes is watched, for elsewhere its number names
//! another one; a number is given out anew only after its owner has ended, so a rank that says it is inside is watched
//! at the first look, or has ended.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::machine;
use crate::node::{Life, Node};

/// The processes of a node, as far as they are watched.
#[derive(Debug)]
pub struct Lives {
    watched: Vec<Watch>,
    namespace: u64,
    /// A rank has ended that had not finalised.
    lost: bool,
}

#[derive(Debug)]
enum Watch {
    /// It was not there yet.
    NotYet,
    /// It is there.
    Alive(OwnedFd),
    /// It has finalised, and its end says nothing unless somebody is lost.
    Left,
    /// The system does not let us, or its end has been told.
    Never,
}

impl Lives {
    /// For the node of rank `me`, which is not watched.
    pub fn new(node: &Node, me: usize) -> Self {
        let watch = |rank| if rank == me { Watch::Never } else { Watch::NotYet };
        Self {
            watched: (0..node.ranks()).map(watch).collect(),
            namespace: machine::process_namespace(),
            lost: false,
        }
    }

    /// The ranks that have ended inside since the last look, and once there is one, also those that ended after they had
    /// finalised: nobody waits for them but in vain.
    pub fn ended(&mut self, node: &Node) -> Vec<usize> {
        let gone: Vec<usize> = (0..self.watched.len()).filter(|rank| self.is_gone(node, *rank)).collect();
        let mut told = Vec::new();
        for rank in gone {
            // What it said last, now that it says nothing more.
            if node.life(rank) == Life::Finalised {
                self.watched[rank] = Watch::Left;
            } else {
                self.watched[rank] = Watch::Never;
                self.lost = true;
                told.push(rank);
            }
        }
        if self.lost {
            for (rank, watch) in self.watched.iter_mut().enumerate() {
                if matches!(watch, Watch::Left) {
                    *watch = Watch::Never;
                    told.push(rank);
                }
            }
        }
        told
    }

    fn is_gone(&mut self, node: &Node, rank: usize) -> bool {
        let watch = &mut self.watched[rank];
        if let Watch::NotYet = watch {
            if node.life(rank) == Life::Absent {
                return false;
            }
            if self.namespace == 0 || node.process_namespace(rank) != self.namespace {
                *watch = Watch::Never;
                return false;
            }
            match open(node.pid(rank)) {
                Ok(descriptor) => *watch = Watch::Alive(descriptor),
                Err(why) if why.raw_os_error() == Some(libc::ESRCH) => return true,
                Err(_) => *watch = Watch::Never,
            }
        }
        matches!(watch, Watch::Alive(descriptor) if has_ended(descriptor))
    }
}

/// A descriptor of a process.
fn open(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that the system has just made, and nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as i32) })
}

/// Whether the process of a descriptor has ended; a zombie has.
fn has_ended(process: &OwnedFd) -> bool {
    let mut asked = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    unsafe { libc::poll(&raw mut asked, 1, 0) > 0 }
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
    fn a_process_that_ends_inside_is_told_once() {
        let node = Node::create(5).unwrap();
        let mut lives = Lives::new(&node, 0);
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
        assert_eq!(lives.ended(&node), [1, 2]);
        assert!(lives.ended(&node).is_empty());
        // Ended before anybody looked.
        end(&mut sleeper(&node, 4, own));
        assert_eq!(lives.ended(&node), [4]);
    }
}
