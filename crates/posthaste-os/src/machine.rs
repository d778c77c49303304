//! Facts about this machine and about what this process may use of it.

use std::time::{Duration, SystemTime};

/// Looks at two clocks, of which the fastest counts.
const LOOKS: usize = 5;

/// CPUs in this process's affinity mask, in order.
pub fn affinity() -> Vec<usize> {
    // SAFETY: an all-zero `cpu_set_t` is a valid empty set; the kernel fills at most `size_of` bytes of it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return vec![0];
        }
        set
    };
    // SAFETY: `cpu` stays below CPU_SETSIZE, the number of bits in the set.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect()
}

/// The CPUs of [`affinity`]; where that is a single one, as launchers bind ranks, those of the machine from there on.
pub fn neighbours() -> Vec<usize> {
    let own = affinity();
    let [only] = own[..] else { return own };
    let all = online().max(1);
    (0..all).map(|step| (only + step) % all).collect()
}

/// The CPUs of a list such as `0-3,8`.
pub fn cpu_list(list: &str) -> Option<Vec<usize>> {
    let run = |run: &str| -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let number = |text: &str| text.parse::<u16>().ok().map(usize::from);
        Some(number(first)?..=number(last)?)
    };
    Some(list.split(',').map(run).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

/// CPUs in order as such a list.
pub fn list_of(cpus: &[usize]) -> String {
    let runs = cpus.chunk_by(|cpu, next| cpu + 1 == *next).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(usize::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// Whether this process has more rights than the user that started it.
pub fn is_privileged() -> bool {
    // SAFETY: takes no memory.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// CPUs that the machine has.
pub fn online() -> usize {
    // SAFETY: takes no memory.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1)
}

/// How many CPUs the processes of this one's control group can keep busy together, whatever each of them is bound to.
pub fn cpus_of_group() -> usize {
    let granted = of_group("cpuset.cpus.effective").and_then(|list| cpu_list(list.trim()));
    within_quota(granted.map_or_else(online, |cpus| cpus.len()))
}

/// Confines this process to one CPU; false when the system refuses.
pub fn pin(cpu: usize) -> bool {
    if cpu >= libc::CPU_SETSIZE as usize {
        return false;
    }
    // SAFETY: an all-zero set is valid and `cpu` is one of its bits.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
    }
}

/// How many CPUs this process can really keep busy: its affinity mask, cut by the control group's quota.
pub fn usable_cpus() -> usize {
    within_quota(affinity().len().max(1))
}

/// How many of `cpus` CPUs the control group's quota can keep busy.
pub fn within_quota(cpus: usize) -> usize {
    match quota() {
        Some(by_quota) => cpus.min(by_quota.ceil().max(1.0) as usize),
        None => cpus,
    }
}

/// CPUs' worth of time that the control group grants, if it limits it.
fn quota() -> Option<f64> {
    parse_quota(&of_group("cpu.max")?)
}

/// What the control group of this process says in one of its files.
fn of_group(name: &str) -> Option<String> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    // Version 2 has one line `0::/path`; a container often sees its own group as `/`.
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    std::fs::read_to_string(format!("/sys/fs/cgroup{path}/{name}"))
        .or_else(|_| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")))
        .ok()
}

/// Parses `cpu.max`: `max 100000` or `<µs of CPU> <µs of period>`.
fn parse_quota(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|p| *p > 0.0)?)
}

/// Bytes of memory that this process could still get without anybody being thrown out: what the host has, cut by the
/// control group's limit. `None` where the kernel does not say.
pub fn memory_available() -> Option<u64> {
    let host = field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")? << 10;
    Some(within_group().map_or(host, |group| group.min(host)))
}

/// What the control group's memory limit leaves; files that are only cached do not count.
fn within_group() -> Option<u64> {
    let number = |name: &str| of_group(name)?.trim().parse::<u64>().ok();
    let (limit, used, stat) = (number("memory.max")?, number("memory.current")?, of_group("memory.stat")?);
    let cached = field(&stat, "file ")?.saturating_sub(field(&stat, "shmem ")?);
    Some((limit + cached).saturating_sub(used))
}

/// The number behind a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// This host's name as the kernel knows it; never looked up on a network.
pub fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_else(|_| "localhost".to_owned())
}

/// What tells processes apart that cannot share memory although they may run on one machine, or that have another view of
/// the network: the kernel's start, the namespace of processes and that of the network.
pub fn identity() -> String {
    let namespace = |name: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap_or_default();
        link.to_string_lossy().chars().filter(char::is_ascii_digit).collect::<String>()
    };
    format!("{}.{}.{}", boot_id(), namespace("pid"), namespace("net"))
}

/// What tells machines apart that run a kernel each: a number that it has made when it started, empty where it does not say, and when that was. A
/// copy of a running machine has the same number.
pub fn boot() -> (String, Duration) {
    // Who loses its CPU between two looks at clocks looks again.
    let look = || {
        let (before, day, after) = (now(), SystemTime::now(), now());
        let day = day.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        (after - before, day.saturating_sub(after))
    };
    let started = (0..LOOKS).map(|_| look()).min().map_or(Duration::ZERO, |(_, started)| started);
    (boot_id(), started)
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// A number for the namespace in which this process's number names it; 0 where the system does not say.
pub fn process_namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid")
        .map_or(0, |namespace| std::os::unix::fs::MetadataExt::ino(&namespace))
}

/// Bytes that nobody can guess.
///
/// # Errors
/// When the system has none.
pub fn random() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0u8; 32];
    // SAFETY: the buffer has room for its own length.
    let n = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    // So few bytes come whole or not at all.
    if n == bytes.len() as isize { Ok(bytes) } else { Err(std::io::Error::last_os_error()) }
}

/// Gives the CPU to whoever else is runnable.
#[inline]
pub fn yield_now() {
    // SAFETY: takes no arguments, touches no memory.
    unsafe { libc::sched_yield() };
}

/// The calling thread is awake for moments only, and has them soon where it shares a CPU with one that computes: its turns are as short as
/// the system allows. Systems before Linux 6.12 know nothing of that and let it wait as ever.
pub fn take_short_turns() {
    /// `struct sched_attr` as it was first.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    /// Nanoseconds of a turn.
    const SHORTEST: u64 = 100_000;
    let mut own = Attributes::default();
    let len = size_of::<Attributes>();
    // SAFETY: `own` has room for so many bytes. The call says what holds for the calling thread.
    let known = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut own, len, 0) } == 0;
    if known && own.policy == libc::SCHED_OTHER as u32 {
        own.runtime = SHORTEST;
        // SAFETY: as above; the call changes nothing but this, and where it fails nothing.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const own, 0) };
    }
}

/// Time since an arbitrary start, never going back.
#[inline]
pub fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The same to a few milliseconds, for a fraction of what it costs.
#[inline]
pub fn now_coarsely() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A number that no other thread of this process has while this one lives; never 0.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[inline(always)]
pub fn this_thread() -> usize {
    let block: usize;
    // SAFETY: reads the first word of the thread's control block, which the ABI says is the address of that block.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) block, options(pure, readonly, nostack, preserves_flags))
    };
    block
}

/// A number that no other thread of this process has while this one lives; never 0. It is the same in all copies of this code
/// that the process has loaded, which the address of something local to the thread would not be.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[inline]
pub fn this_thread() -> usize {
    // SAFETY: asks for a number that every thread has.
    unsafe { libc::pthread_self() as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_runs() {
        assert_eq!(cpu_list("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(cpu_list("5"), Some(vec![5]));
        let wrong = ["", "1-", "a", "70000", "1,,2"].map(cpu_list);
        assert_eq!(wrong, [const { None }; 5]);
    }

    #[test]
    fn quotas() {
        assert_eq!(parse_quota("max 100000\n"), None);
        assert_eq!(parse_quota("150000 100000\n"), Some(1.5));
        assert_eq!(parse_quota("1 0"), None);
        assert!(usable_cpus() >= 1);
        assert!(usable_cpus() <= cpus_of_group());
        assert!(!host_name().is_empty());
        assert_eq!(identity().split('.').filter(|part| !part.is_empty()).count(), 3);
        assert_ne!(random().unwrap(), random().unwrap());
    }

    #[test]
    fn memory() {
        assert_eq!(field("MemTotal: 5 kB\nMemAvailable:   77 kB\n", "MemAvailable:"), Some(77));
        assert_eq!(field("file 3\n", "shmem "), None);
        assert!(memory_available().is_none_or(|bytes| bytes > 1 << 20));
    }
}
