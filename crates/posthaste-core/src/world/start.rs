//! Finds out who this process is: from our launcher (a node segment handed down), from a foreign PMI-1 launcher, or
//! alone. MPI-5.0 §11.2.
//!
//! Called by `world` when it starts; calls the PMI client and makes or attaches the node segment. What must stay
//! true: a process that was meant to be one of many never goes on as one of one.

use std::os::fd::{AsRawFd, OwnedFd};

use posthaste_os::node::Node;
use posthaste_os::{machine, process};
use posthaste_pmi::client::{self, Client};

use crate::datatype::Format;
use crate::error::{Error, ErrorClass, Result};

/// What starting found out.
pub(super) struct Start {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) local_rank: usize,
    pub(super) node: Node,
    pub(super) launcher: Option<Client>,
    pub(super) cpus: usize,
}

/// Finds out which job this process belongs to.
pub(super) fn find_job() -> Result<Start> {
    let variable = |name: &str| std::env::var(name).ok();
    let start = match client::membership(variable).map_err(|e| Error::system("joining the job", e))? {
        None => {
            let node = Node::create(1).map_err(|e| Error::no_memory(e.to_string()))?;
            Start { rank: 0, size: 1, local_rank: 0, node, launcher: None, cpus: 1 }
        }
        Some(member) => match variable("POSTHASTE_NODE_FD") {
            Some(fd) => ours(&member, &fd)?,
            None => foreign()?,
        },
    };
    // Spent: a program that this rank starts is on its own (MPI-5.0 §11.2 leaves that open; users expect it).
    process::remove_variables(client::JOB_VARIABLES.iter().copied());
    Ok(start)
}

/// Makes sure that all ranks of this host represent data alike: they read each other's memory.
pub(super) fn agree_on_format(node: &Node, own: Format) -> Result<()> {
    let agreed = node.agree_on_format(own.word());
    if agreed == own.word() {
        return Ok(());
    }
    let theirs =
        Format::from_word(agreed).map_or_else(|| format!("{agreed:#x}"), |format| format.to_string());
    Err(Error::other(
        ErrorClass::Other,
        format!(
            "another rank on this host represents data as {theirs}, this one as {own}: ranks on one host must be alike"
        ),
    ))
}

/// Our own launcher has handed everything down.
fn ours(member: &client::Membership, fd: &str) -> Result<Start> {
    let number = |name: &'static str| -> Result<usize> {
        let text = std::env::var(name).unwrap_or_default();
        text.parse().map_err(|_| Error::invalid(ErrorClass::Other, name, format!("\"{text}\""), "a number"))
    };
    let fd =
        fd.parse().map_err(|_| Error::invalid(ErrorClass::Other, "POSTHASTE_NODE_FD", fd, "a descriptor"))?;
    let inherited: OwnedFd =
        process::inherited(fd).map_err(|e| Error::system("taking over the node segment", e))?;
    let node = Node::attach(inherited).map_err(|e| Error::system("attaching the node segment", e))?;
    let local_rank = number("POSTHASTE_LOCAL_RANK")?;
    if local_rank >= node.ranks() || local_rank > member.rank || node.ranks() != member.size {
        return Err(Error::other(
            ErrorClass::Other,
            format!(
                "the launcher's variables contradict each other: rank {} of {}, local rank {local_rank} of {}",
                member.rank,
                member.size,
                node.ranks()
            ),
        ));
    }
    let launcher = client::connect().map_err(|e| Error::system("greeting the launcher", e))?;
    // The launcher may have bound each rank to one CPU; it says how many there are for all.
    let cpus = number("POSTHASTE_CPUS")?;
    Ok(Start { rank: member.rank as u32, size: member.size as u32, local_rank, node, launcher, cpus })
}

/// A foreign PMI-1 launcher: the first rank makes the node segment and tells the others through the key-value
/// space.
fn foreign() -> Result<Start> {
    let wrong = |e: client::Error| Error::system("joining the job of this launcher", e);
    let Some(mut pmi) = client::connect().map_err(wrong)? else {
        return Err(Error::other(ErrorClass::Other, "the launcher's connection is gone"));
    };
    let space = pmi.get_my_kvsname().map_err(wrong)?;
    let (rank, size) = (pmi.rank, pmi.size);
    const KEY: &str = "posthaste-node";
    let mut own = None;
    if rank == 0 {
        let node = Node::create(size).map_err(|e| Error::no_memory(e.to_string()))?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), node.as_fd().as_raw_fd());
        pmi.put(&space, KEY, &format!("{}:{path}", machine::host_name())).map_err(wrong)?;
        own = Some(node);
    }
    pmi.barrier().map_err(wrong)?;
    let node = match own {
        Some(node) => node,
        None => {
            let told = pmi.get(&space, KEY).map_err(wrong)?.unwrap_or_default();
            let (host, path) = told.split_once(':').unwrap_or_default();
            if host != machine::host_name() {
                return Err(Error::other(
                    ErrorClass::Other,
                    format!(
                        "rank {rank} runs on {} and rank 0 on {host}: more than one host is not supported yet",
                        machine::host_name()
                    ),
                ));
            }
            let file = std::fs::File::options().read(true).write(true).open(path);
            let file =
                file.map_err(|e| Error::system(format!("opening rank 0's node segment at {path}"), e))?;
            Node::attach(file.into()).map_err(|e| Error::system("attaching rank 0's node segment", e))?
        }
    };
    // Every rank must come to the same answer on whether CPUs are shared, so it is asked of all ranks together: a
    // launcher may have bound each to a CPU of its own.
    node.add_cpus(&machine::affinity());
    // Everybody has the segment: rank 0 may go.
    pmi.barrier().map_err(wrong)?;
    let cpus = machine::within_quota(node.cpus());
    let start =
        Start { rank: rank as u32, size: size as u32, local_rank: rank, node, launcher: Some(pmi), cpus };
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_unlike_format_on_one_host_are_refused() {
        let node = Node::create(2).unwrap();
        agree_on_format(&node, Format::NATIVE).unwrap();
        agree_on_format(&node, Format::NATIVE).unwrap();
        let error = agree_on_format(&node, Format::NATIVE.swapped()).unwrap_err().to_string();
        assert!(
            error.contains("as little-endian, 8 bytes a long") && error.contains("this one as big-endian"),
            "{error}"
        );
    }
}
