//! The parts of this machine that CPUs belong to, as Linux lists them under `/sys/devices/system`.
//!
//! What must stay true: what the system does not say is unknown, never guessed.

use std::fs;
use std::path::Path;

use crate::machine::{affinity, cpu_list};

/// Where Linux lists them.
const SYSTEM: &str = "/sys/devices/system";

/// A kind of part, the widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A socket.
    Package,
    /// CPUs that are near to the same memory.
    NumaNode,
    /// CPUs with one third-level cache.
    L3Cache,
    /// CPUs with one second-level cache.
    L2Cache,
    /// A core.
    Core,
    /// A hardware thread, which Linux calls a CPU.
    Thread,
}

/// How this process lies to the parts of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The system does not say.
    Unknown,
    /// It may run on several of them.
    Several,
    /// It is restricted to the one with this lowest CPU.
    One(usize),
}

impl Resource {
    /// All kinds, the widest first.
    pub const ALL: [Self; 6] =
        [Self::Package, Self::NumaNode, Self::L3Cache, Self::L2Cache, Self::Core, Self::Thread];

    /// How this process lies to them, by the CPUs that it may use now.
    pub fn place(self) -> Place {
        self.place_of(&affinity(), Path::new(SYSTEM))
    }

    /// The CPUs of the part that this CPU belongs to; `None` where the system does not say.
    pub fn cpus(self, cpu: usize) -> Option<Vec<usize>> {
        self.cpus_with(cpu, Path::new(SYSTEM))
    }

    fn place_of(self, cpus: &[usize], system: &Path) -> Place {
        let Some(first) = cpus.first() else { return Place::Unknown };
        match self.cpus_with(*first, system) {
            None => Place::Unknown,
            Some(part) if cpus.iter().all(|cpu| part.contains(cpu)) => {
                part.into_iter().min().map_or(Place::Unknown, Place::One)
            }
            Some(_) => Place::Several,
        }
    }

    /// The CPUs of the part that this one belongs to.
    fn cpus_with(self, cpu: usize, system: &Path) -> Option<Vec<usize>> {
        let own = system.join(format!("cpu/cpu{cpu}"));
        // Older kernels know the second name only.
        let topology =
            |names: [&str; 2]| names.iter().find_map(|name| list(&own.join("topology").join(name)));
        match self {
            Self::Package => topology(["package_cpus_list", "core_siblings_list"]),
            Self::NumaNode => {
                let nodes = fs::read_dir(system.join("node")).ok()?.flatten();
                nodes.filter_map(|node| list(&node.path().join("cpulist"))).find(|cpus| cpus.contains(&cpu))
            }
            Self::L3Cache => cache(&own, "3"),
            Self::L2Cache => cache(&own, "2"),
            Self::Core => topology(["core_cpus_list", "thread_siblings_list"]),
            Self::Thread => Some(vec![cpu]),
        }
    }
}

fn cache(cpu: &Path, level: &str) -> Option<Vec<usize>> {
    let caches = fs::read_dir(cpu.join("cache")).ok()?.flatten();
    let of_level = |path: &Path| fs::read_to_string(path.join("level")).is_ok_and(|is| is.trim() == level);
    caches
        .map(|entry| entry.path())
        .find(|path| of_level(path))
        .and_then(|path| list(&path.join("shared_cpu_list")))
}

fn list(path: &Path) -> Option<Vec<usize>> {
    cpu_list(fs::read_to_string(path).ok()?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sockets with two cores of two threads each; each socket is a NUMA node, and each core has a second-level cache.
    fn machine(root: &Path) {
        let write = |path: String, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, format!("{text}\n")).expect("a file");
        };
        for cpu in 0..8 {
            let (socket, core) = (cpu / 4 * 4, cpu / 2 * 2);
            let (socket, core) = (format!("{socket}-{}", socket + 3), format!("{core},{}", core + 1));
            // The first socket is of an older kernel.
            let names = if cpu < 4 {
                ["core_siblings_list", "thread_siblings_list"]
            } else {
                ["package_cpus_list", "core_cpus_list"]
            };
            write(format!("cpu/cpu{cpu}/topology/{}", names[0]), &socket);
            write(format!("cpu/cpu{cpu}/topology/{}", names[1]), &core);
            write(format!("cpu/cpu{cpu}/cache/index2/level"), "2");
            write(format!("cpu/cpu{cpu}/cache/index2/shared_cpu_list"), &core);
        }
        write("node/node0/cpulist".into(), "0-3");
        write("node/node1/cpulist".into(), "4-7");
    }

    #[test]
    fn a_process_lies_within_one_part_or_over_several() {
        let root = std::env::temp_dir().join(format!("posthaste-resources-{}", std::process::id()));
        machine(&root);
        let places = |cpus: &[usize]| Resource::ALL.map(|resource| resource.place_of(cpus, &root));
        let (one, several, unknown) = (Place::One, Place::Several, Place::Unknown);
        assert_eq!(places(&[5]), [one(4), one(4), unknown, one(4), one(4), one(5)]);
        assert_eq!(places(&[2, 3]), [one(0), one(0), unknown, one(2), one(2), several]);
        assert_eq!(places(&[1, 2]), [one(0), one(0), unknown, several, several, several]);
        assert_eq!(places(&[3, 4]), [several, several, unknown, several, several, several]);
        assert_eq!(places(&[]), [unknown; 6]);
        fs::remove_dir_all(&root).expect("its own folder");
    }
}
