//! Options that say where ranks run: hosts, CPUs, and how hosts are reached.
//!
//! What must stay true: each word of another launcher that is taken has its meaning; the first mistake is one sentence.

use super::hosts::{self, HostList};
use super::{Kind, Reader, count_of, lists};
use posthaste_pmi::hosts::{By, Means, NO_SLOTS, Placement};
use posthaste_pmi::spawn::{Bind, Part};
use std::ffi::{OsStr, OsString};

impl Reader<'_> {
    /// Takes an option of this kind.
    pub(super) fn place(
        &mut self,
        option: Kind,
        name: &str,
        first: OsString,
        second: OsString,
    ) -> Result<(), String> {
        let text = first.to_string_lossy();
        match option {
            Kind::CpuSet => self.request.job.cpu_set = lists::cpus(name, &text)?,
            Kind::BindTo => self.bind_to(&text)?,
            Kind::Bound(place) => self.bind_to(place)?,
            Kind::Width => self.request.job.width = Some(count_of(name, &first)?),
            Kind::CpuBind => self.cpu_bind(name, &text)?,
            Kind::LocalOnly => self.only_here = true,
            Kind::Hosts => self.hosts = Some(HostList::parse(&text)?),
            Kind::HostGroup => self.hosts = Some(HostList::group(&text)?),
            Kind::HostFile => self.hosts = Some(HostList::read(&first)?),
            Kind::PerHost => self.per_host = Some(count_of(name, &first)?),
            Kind::MapBy => self.map_by(&text)?,
            Kind::PerSocket => self.map_by(&format!("ppr:{text}:socket"))?,
            Kind::Mapped(by) => self.map_by(&format!("{by}{text}"))?,
            Kind::RankBy => match &*text.to_ascii_lowercase() {
                "slot" | "core" | "hwthread" | "fill" => {}
                "node" | "host" => return Err(format!("-rank-by {text} is not known: write -map-by node")),
                _ => return Err(format!("-rank-by {text:?} is not known, expected slot")),
            },
            Kind::Launcher => match hosts::means(&text) {
                Some(means) => self.means = Some(means),
                None => return Err(format!("-{name} {first:?} is not known, expected ssh, srun or fork")),
            },
            Kind::LauncherProgram => self.request.launcher.program = Some(first),
            Kind::LauncherArguments => {
                self.request.launcher.arguments.extend(text.split_whitespace().map(OsString::from));
            }
            Kind::Interface => self.interface(&text),
            Kind::Parameter => self.parameter(name, first, second)?,
            _ => {}
        }
        Ok(())
    }

    /// A parameter of Open MPI's components: those that say where ranks run or how they reach each other.
    fn parameter(&mut self, option: &str, name: OsString, value: OsString) -> Result<(), String> {
        match name.to_str() {
            Some("plm_rsh_agent" | "plm_ssh_agent") => self.request.launcher.program = Some(value),
            Some("plm_rsh_args" | "plm_ssh_args") => {
                let words = value.to_string_lossy().into_owned();
                self.request.launcher.arguments.extend(words.split_whitespace().map(OsString::from));
            }
            // Subnets are not names of interfaces.
            Some("btl_tcp_if_include") if !value.to_string_lossy().contains('/') => {
                self.interface(&value.to_string_lossy());
            }
            Some("orte_default_hostfile" | "prte_default_hostfile") => {
                self.hosts = Some(HostList::read(&value)?);
            }
            _ => self.ignore(option, &[name, value]),
        }
        Ok(())
    }

    /// Names of network interfaces, with commas.
    fn interface(&mut self, names: &str) {
        self.global.push(("POSTHASTE_TCP_INTERFACES".into(), names.into()));
    }

    /// `core`, `core:2`, `socket`, `none`, with words behind it.
    fn bind_to(&mut self, given: &str) -> Result<(), String> {
        let lower = given.to_ascii_lowercase();
        let mut words = lower.split(':');
        self.request.job.bind = match words.next().unwrap_or_default() {
            "none" => Bind::None,
            "core" | "cpu" | "hwthread" | "rr" | "l1cache" => Bind::Core,
            "board" | "machine" => Bind::None,
            "user" => {
                return Err("-bind-to user is not an option here: write -cpu-set with the CPUs".into());
            }
            word => match part(word) {
                Some(part) => Bind::Within(part),
                None => {
                    return Err(format!(
                        "-bind-to {given:?} is not known, expected core, socket, numa, l3cache, l2cache or none"
                    ));
                }
            },
        };
        for word in words {
            match (word, self.request.job.bind) {
                // Ranks that outnumber the CPUs are neither bound nor refused, which is what these ask for.
                ("overload-allowed" | "overload" | "if-supported" | "no-overload" | "report", _) => {}
                (number, Bind::Core) => {
                    self.request.job.width = Some(count_of("bind-to core", OsStr::new(number))?);
                }
                _ => {
                    return Err(format!("-bind-to {given:?} is not known: a number goes with core alone"));
                }
            }
        }
        Ok(())
    }

    /// `depth`, `core`, `numa`, `none`, with `verbose` before it.
    fn cpu_bind(&mut self, name: &str, given: &str) -> Result<(), String> {
        let lower = given.to_ascii_lowercase();
        let words = lower.split(',').filter(|word| !["verbose", "v", "quiet", "q"].contains(word));
        match &words.collect::<Vec<_>>()[..] {
            [] => Ok(()),
            ["depth" | "core" | "thread" | "rank"] => self.bind_to("core"),
            [word @ ("socket" | "numa" | "none")] => self.bind_to(word),
            _ => Err(format!(
                "-{name} {given} is not an option here: write -cpu-set LIST, and -bind-to core, core:N or none"
            )),
        }
    }

    /// A word for the order, and words behind it: `node`, `slot:PE=2`, `ppr:2:node`, `:OVERSUBSCRIBE`.
    fn map_by(&mut self, given: &str) -> Result<(), String> {
        let wrong = || {
            format!(
                "-map-by {given:?} is not known, expected slot, node, socket, numa, l3cache, l2cache, ppr:N:node \
                 or ppr:N:PART"
            )
        };
        let lower = given.to_ascii_lowercase();
        let mut words = lower.split(':');
        match words.next().unwrap_or_default() {
            "node" | "host" => self.by = By::Node,
            "slot" | "core" | "hwthread" | "cpu" | "l1cache" | "board" => self.by = By::Slot,
            // Qualifiers of the default.
            "" if lower.len() > 1 => {}
            "ppr" => {
                let count = words.next().unwrap_or_default();
                let each = count_of("map-by ppr", OsStr::new(count))?;
                match words.next() {
                    Some("node" | "host") => self.per_host = Some(each),
                    Some("core") => self.request.job.per_part = Some((Part::Core, each)),
                    Some(word) => {
                        self.request.job.per_part = Some((part(word).ok_or_else(wrong)?, each));
                    }
                    None => return Err(wrong()),
                }
            }
            word => match (part(word), word.strip_prefix("pe-list=")) {
                (Some(part), _) => {
                    self.by = By::Slot;
                    self.request.job.spread = Some(part);
                }
                (None, Some(list)) => self.request.job.cpu_set = lists::cpus("map-by pe-list", list)?,
                _ => return Err(wrong()),
            },
        }
        for word in words {
            match word.strip_prefix("pe=") {
                Some(count) => {
                    self.request.job.width = Some(count_of("map-by PE", OsStr::new(count))?);
                }
                None if word == "nolocal" => self.nolocal = true,
                None if word == "nooversubscribe" => self.nooversubscribe = true,
                None if word == "oversubscribe" => self.nooversubscribe = false,
                None if word == "donotlaunch" => self.request.only_shown = true,
                None if word == "display" => self.request.show.rank_map = true,
                // As it is anyway.
                None if [
                    "hwtcpus",
                    "corecpus",
                    "inherit",
                    "noinherit",
                    "ordered",
                    "donotresolve",
                    "span",
                ]
                .contains(&word) => {}
                None => {
                    return Err(format!(
                        "-map-by {given:?}: {word:?} is not known, expected PE=N, NOLOCAL or NOOVERSUBSCRIBE"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Settles where the ranks run: what the command line says, else a variable, else the Slurm allocation.
    pub(super) fn settle_places(&mut self) -> Result<(), String> {
        self.settle_parts()?;
        let named = match self.hosts.take() {
            _ if self.only_here => None,
            Some(hosts) => Some(hosts),
            None => HostList::from_variables(self.around)?,
        };
        let slurm = HostList::from_slurm(self.around)?;
        hosts::complete(&mut self.request.launcher, self.around);
        let means = self.means.or_else(|| hosts::means_from_variables(self.around));
        let usual = if slurm.is_some() { Means::Srun } else { Means::Ssh };
        self.request.launcher.means = means.unwrap_or(usual);
        let Some(hosts) = named.or(slurm).filter(|_| !self.only_here) else { return self.settle_alone() };
        let mut hosts = hosts.on(self.around);
        if self.nolocal {
            hosts.retain(|host| host.name != self.around.host);
            if hosts.is_empty() {
                return Err("-nolocal leaves no host: only this one is named".into());
            }
        }
        let usual = hosts::usual_slots(self.around);
        for host in &mut hosts {
            host.slots = self.per_host.or(host.slots).or(usual);
        }
        if hosts.iter().all(|host| host.slots == Some(0)) {
            return Err(NO_SLOTS.into());
        }
        self.settle_count(hosts.len())?;
        let slots: Option<usize> = hosts.iter().map(|host| host.slots).sum();
        if let Some(slots) = slots.filter(|&slots| self.nooversubscribe && slots < self.ranks()) {
            return Err(format!(
                "the hosts have {slots} slots for {} ranks, and none may have more",
                self.ranks()
            ));
        }
        let here = hosts.iter().all(|host| host.name == self.around.host);
        if !here || self.request.launcher.means == Means::Fork {
            self.request.placement = Some(Placement { hosts, by: self.by });
        }
        Ok(())
    }

    /// The same where no hosts are named.
    fn settle_alone(&mut self) -> Result<(), String> {
        if self.nolocal {
            return Err("-nolocal leaves no host: none is named".into());
        }
        self.settle_count(1)
    }

    /// Settles how many ranks a host has where so many are on each of its parts: all hosts are taken to be as this one is.
    fn settle_parts(&mut self) -> Result<(), String> {
        let job = &mut self.request.job;
        let Some((part, each)) = job.per_part else { return Ok(()) };
        let parts = (self.around.parts)(part, &job.cpu_set).filter(|parts| *parts > 0).ok_or_else(|| {
            format!(
                "this host does not say which CPUs share a part of this kind ({}): write ppr:N:node",
                part.name()
            )
        })?;
        self.per_host = Some(each * parts);
        if job.width.is_none() && job.bind == Bind::Auto {
            job.bind = Bind::Within(part);
        }
        Ok(())
    }

    /// Settles how many ranks there are on these hosts where so many are on each.
    fn settle_count(&mut self, hosts: usize) -> Result<(), String> {
        let Some(each) = self.per_host else { return Ok(()) };
        if let [draft] = &mut self.drafts[..] {
            draft.0.count.get_or_insert(each * hosts);
        }
        match self.request.job.per_part {
            Some((part, own)) if self.ranks() > each * hosts => Err(format!(
                "{} ranks, but {own} on each {} of {hosts} host{} are {}",
                self.ranks(),
                part.name(),
                if hosts == 1 { "" } else { "s" },
                each * hosts
            )),
            _ => Ok(()),
        }
    }

    fn ranks(&self) -> usize {
        self.drafts.iter().map(|(draft, ..)| draft.count.unwrap_or(1)).sum()
    }
}

/// A part of the machine, by the names that launchers have for it.
fn part(word: &str) -> Option<Part> {
    Some(match word {
        "socket" | "package" => Part::Package,
        "numa" => Part::NumaNode,
        "l3cache" | "l3" => Part::L3Cache,
        "l2cache" | "l2" => Part::L2Cache,
        _ => return None,
    })
}
