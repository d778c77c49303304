//! Several hosts on this machine: network namespaces on one bridge, each with a real sshd of its own.
//!
//! All of it, processes, networks, mounts, lives in namespaces whose first process ends with xtask, whatever way xtask
//! ends; then the kernel takes everything away. Files are under the target folder. What must stay true: nothing outside
//! these namespaces is changed, neither the machine's network nor its /etc or /run.
//!
//! The hosts share the kernel, the names of the machine and /dev/shm, so nothing that is asked of the system but the
//! network tells them apart: what holds here holds for containers on one machine, too.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    leftovers::{self, Watch},
    packages,
    process::{Job, Running, wait_until},
    project::{Fallible, Project},
};

/// Programs that are needed; iproute2 and openssh-server are the packages that may be missing.
const PROGRAMS: [&str; 5] = ["ip", "sshd", "ssh-keygen", "nsenter", "unshare"];

/// How long the hosts may take to come up.
const PATIENCE: Duration = Duration::from_secs(10);

/// A world of processes, mounts and networks of its own, which ends with xtask.
const NAMESPACE: [&str; 9] = [
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--pid",
    "--mount",
    "--net",
    "--mount-proc",
    "--kill-child",
];

/// What the first process there does, in the folder with the files: `$1` hosts, each with two networks to the others
/// (eth0 in 10.77.0.0/24, eth1 in 10.77.1.0/24). The last word says that all is ready.
const SCRIPT: &str = "
    set -e
    mount -t tmpfs none /run
    mkdir /run/sshd /run/netns
    mount --bind hosts /etc/hosts
    ip link set lo up
    for net in 0 1; do
        ip link add br$net type bridge
        ip link set br$net up
    done
    for i in $(seq $1); do
        ip netns add host$i
        ip -n host$i link set lo up
        for net in 0 1; do
            ip link add v$i.$net type veth peer name eth$net netns host$i
            ip link set v$i.$net master br$net up
            ip -n host$i addr add 10.77.$net.$i/24 dev eth$net
            ip -n host$i link set eth$net up
        done
        ip netns exec host$i $(command -v sshd) -D -e -f sshd_config &
    done
    echo ready
    wait";

/// The hosts.
#[derive(Debug)]
pub(crate) struct Rig {
    folder: PathBuf,
    first: Option<Running>,
    /// The first process of the namespaces, as seen from outside.
    init: u32,
}

/// Why there can be no hosts on this machine, if so.
pub(crate) fn impossible() -> Option<String> {
    if !Job::new("true").under(&NAMESPACE).run().is_ok_and(|outcome| outcome.ok()) {
        return Some("needs root and namespaces of processes and networks (unshare)".into());
    }
    let missing = PROGRAMS.iter().find(|program| !packages::present(program))?;
    Some(format!("no {missing} here (apt install iproute2 openssh-server)"))
}

impl Rig {
    /// So many hosts, called host1, host2 and so on.
    pub(crate) fn start(project: &Project, hosts: usize, watch: &Watch) -> Fallible<Self> {
        let folder = project.target.join("hosts");
        let _ = fs::remove_dir_all(&folder);
        // sshd wants nobody else to be able to write here.
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut rig = Self { folder, first: None, init: 0 };
        rig.configure(hosts)?;
        let script = ["-c", SCRIPT, "rig", &hosts.to_string()].map(str::to_owned);
        let first = Job::new("sh").args(script).dir(&rig.folder).env("PATH", path()).under(&NAMESPACE);
        let first = watch.mark(first).limit(3600).start()?;
        rig.init = child_of(first.pid());
        let ready = first.wait_for_output("ready", PATIENCE.as_secs());
        rig.first = Some(first);
        rig.until("the script has ended", || ready)?;
        rig.init = rig.first.as_ref().map_or(0, |first| child_of(first.pid()));
        for host in 1..=hosts {
            rig.until(&format!("host{host} answers"), || {
                rig.on(1, rig.ssh(host).arg("true")).limit(5).run().is_ok_and(|outcome| outcome.ok())
            })?;
        }
        Ok(rig)
    }

    /// `job` on a host.
    pub(crate) fn on(&self, host: usize, job: Job) -> Job {
        self.inside(self.exec(host, job))
    }

    /// `ssh` as every program of the hosts finds it, to a host.
    fn ssh(&self, host: usize) -> Job {
        Job::new(self.folder.join("bin/ssh")).arg(format!("host{host}"))
    }

    /// Where files of the hosts are, which all of them see.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// `ip` with these arguments in the namespace of a host, which has to succeed: `["link", "set", "eth0", "down"]`.
    pub(crate) fn ip(&self, host: usize, arguments: &[&str]) -> Fallible {
        let name = format!("host{host}");
        self.inside(Job::new("ip").args(["-n", &name]).args(arguments)).succeed().map(drop)
    }

    /// Bounds what leaves a host by an interface to so many megabits a second; `None` ends that.
    pub(crate) fn shape(&self, host: usize, interface: &str, rate: Option<u32>) -> Fallible {
        let name = format!("host{host}");
        let job = Job::new("tc").args(["-n", &name, "qdisc"]);
        let job = match rate {
            Some(rate) => {
                // What a system that wakes up late lets pass at once: a millisecond's worth.
                let burst = (rate * 125).max(128 << 10).to_string();
                let rate = format!("{rate}mbit");
                let how = ["tbf", "rate", &rate, "burst", &burst, "latency", "20ms"];
                job.args(["replace", "dev", interface, "root"]).args(how)
            }
            None => job.args(["del", "dev", interface, "root"]),
        };
        self.inside(job).succeed().map(drop)
    }

    /// `ip` with these arguments between the hosts, where the bridges `br0`, `br1` and the other ends of the hosts' links
    /// are: `v1.0` is that of eth0 on host 1.
    pub(crate) fn between(&self, arguments: &[&str]) -> Fallible {
        self.inside(Job::new("ip").args(arguments)).succeed().map(drop)
    }

    /// The processes of a host, as seen from outside: those whose network is the host's.
    pub(crate) fn processes(&self, host: usize) -> Fallible<Vec<u32>> {
        let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let asked = self.on(host, Job::new("readlink").arg("/proc/self/ns/net")).succeed()?.stdout;
        let theirs =
            |pid: &u32| network(&pid.to_string()).is_some_and(|name| name.as_os_str() == asked.trim());
        Ok(leftovers::processes().filter(theirs).collect())
    }

    fn exec(&self, host: usize, job: Job) -> Job {
        let name = format!("host{host}");
        let path = format!("{}:{}", self.folder.join("bin").display(), path());
        job.env("PATH", path).under(&["ip", "netns", "exec", &name])
    }

    /// `job` between the hosts.
    pub(crate) fn inside(&self, job: Job) -> Job {
        let init = self.init.to_string();
        job.under(&["nsenter", "--target", &init, "--mount", "--pid", "--net", "--"])
    }

    /// Keys, and the configuration of sshd and ssh: nothing but keys opens a door, and these keys open no other.
    fn configure(&self, hosts: usize) -> Fallible {
        for key in ["host_key", "user_key"] {
            let arguments = ["-q", "-t", "ed25519", "-N", "", "-C", key, "-f", key];
            Job::new("ssh-keygen").args(arguments).dir(&self.folder).succeed()?;
        }
        let here = self.folder.display();
        self.write(
            "sshd_config",
            &format!(
                "HostKey {here}/host_key\n\
                 AuthorizedKeysFile {here}/user_key.pub\n\
                 PidFile none\n\
                 UsePAM no\n\
                 StrictModes no\n\
                 PasswordAuthentication no\n\
                 PermitRootLogin prohibit-password\n\
                 MaxStartups 100\n\
                 LogLevel ERROR\n"
            ),
        )?;
        self.write(
            "ssh_config",
            &format!(
                "IdentityFile {here}/user_key\n\
                 UserKnownHostsFile /dev/null\n\
                 StrictHostKeyChecking no\n\
                 BatchMode yes\n\
                 LogLevel ERROR\n"
            ),
        )?;
        // The names lead to the second network, so that tests may do what they want with the first.
        let names: String = (1..=hosts).map(|host| format!("10.77.1.{host} host{host}\n")).collect();
        self.write("hosts", &format!("127.0.0.1 localhost\n{names}"))?;
        let programs = self.folder.join("bin");
        fs::create_dir(&programs).map_err(|e| format!("{}: {e}", programs.display()))?;
        self.write("bin/ssh", &format!("#!/bin/sh\nexec /usr/bin/ssh -F '{here}/ssh_config' \"$@\"\n"))?;
        let ssh = programs.join("ssh");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&ssh, mode).map_err(|e| format!("{}: {e}", ssh.display()))
    }

    fn write(&self, name: &str, text: &str) -> Fallible {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Waits for it, at most as long as our patience lasts.
    fn until(&self, what: &str, done: impl Fn() -> bool) -> Fallible {
        if wait_until(PATIENCE, done) {
            return Ok(());
        }
        let said = self.first.as_ref().map(Running::said).unwrap_or_default();
        Err(format!("waited in vain until {what}\n{said}"))
    }

    /// Ends the hosts and everything on them.
    pub(crate) fn stop(&mut self) -> Fallible {
        if let Some(first) = self.first.take() {
            first.signal(Signal::KILL);
            first.wait()?;
        }
        match fs::remove_dir_all(&self.folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("{}: {e}", self.folder.display()))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // After a start that failed half-way; the failure is reported already.
        let _ = self.stop();
    }
}

/// The only child of a process, 0 while it has none.
fn child_of(pid: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().next().and_then(|child| child.parse().ok()).unwrap_or(0)
}

/// Where programs are, also those of the administrator.
fn path() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{path}:/usr/sbin:/sbin")
}
