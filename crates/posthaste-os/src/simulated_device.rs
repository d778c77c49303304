//! A device for tests: memory that the processor must not touch, and copies that wait, end in any order, and fail.
//!
//! The memory is mapped twice. Where its addresses are handed out nothing may be accessed, so whoever follows one dies at
//! once; the second mapping, its view, is what the device itself works on. Copies are made when they end, so who looks too
//! early sees what was there before.
//!
//! What must stay true: the random numbers are a function of the seed and of the order of calls.

use std::collections::BTreeMap;
use std::io;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most polls that a copy waits for, with others under way.
const LONGEST: u64 = 40;
/// Allocations begin at multiples of this.
const ALIGN: usize = 64;

/// A simulated device and its memory, which stays until the process ends.
#[derive(Debug)]
pub struct SimulatedDevice {
    regions: Vec<Region>,
    /// Copies of a hundred that fail.
    failing: u64,
    state: Mutex<State>,
}

/// A range of device memory: its addresses, and where the view of it lies (exposed).
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The first address.
    pub base: usize,
    /// The number of bytes.
    pub len: usize,
    /// The first address of the view.
    pub view: usize,
}

impl Region {
    /// Where the device finds memory of the region.
    fn find(&self, address: usize, len: usize) -> Option<usize> {
        let at = address.wrapping_sub(self.base);
        (at < self.len && len <= self.len - at).then_some(self.view + at)
    }
}

#[derive(Debug)]
struct State {
    random: u64,
    /// Offsets and lengths of allocations.
    given: BTreeMap<usize, usize>,
    copies: Vec<Copy>,
}

#[derive(Debug)]
struct Copy {
    token: u64,
    polls_left: u64,
    fails: bool,
    out: bool,
    /// Addresses in a view and, exposed, in host memory.
    runs: Vec<(usize, usize, usize)>,
}

impl SimulatedDevice {
    /// A device with so many bytes of memory, a multiple of a page, that lets so many copies of a hundred fail.
    ///
    /// # Errors
    /// What the system said.
    pub fn new(len: usize, seed: u64, failing: u64) -> io::Result<Self> {
        // SAFETY: a system call without pointers but for a constant name.
        let fd = unsafe { libc::memfd_create(c"posthaste-device".as_ptr(), libc::MFD_CLOEXEC) };
        let check = |failed| if failed { Err(io::Error::last_os_error()) } else { Ok(()) };
        check(fd < 0)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh range of addresses of the kernel's choice, and a mapping within it of a descriptor that is ours.
        let base = unsafe {
            let base = libc::mmap(ptr::null_mut(), 2 * len, libc::PROT_NONE, flags, -1, 0);
            let mut failed = base == libc::MAP_FAILED || libc::ftruncate(fd, len as libc::off_t) != 0;
            if !failed {
                let (access, flags) =
                    (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
                failed = libc::mmap(base.byte_add(len), len, access, flags, fd, 0) == libc::MAP_FAILED;
            }
            let why = check(failed);
            libc::close(fd);
            why.map(|()| base)
        }?;
        base.expose_provenance();
        // SAFETY: the second half is memory that nobody else has, and stays.
        Ok(unsafe {
            Self::over(vec![Region { base: base.addr(), len, view: base.addr() + len }], seed, failing)
        })
    }

    /// A device over memory that others have mapped twice.
    ///
    /// # Safety
    /// The views stay readable and writable for as long as the process lives.
    pub unsafe fn over(regions: Vec<Region>, seed: u64, failing: u64) -> Self {
        let state = State { random: seed, given: BTreeMap::new(), copies: Vec::new() };
        Self { regions, failing, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory of the device's first region; there may be none left.
    pub fn allocate(&self, len: usize) -> Option<*mut u8> {
        let region = self.regions.first()?;
        let len = len.max(1).next_multiple_of(ALIGN);
        let mut state = self.state();
        let mut at = 0;
        for (given, size) in &state.given {
            if given - at >= len {
                break;
            }
            at = given + size;
        }
        if region.len - at < len {
            return None;
        }
        state.given.insert(at, len);
        Some(ptr::with_exposed_provenance_mut(region.base + at))
    }

    /// Takes memory back that was given out at this address. Whether it was.
    pub fn free(&self, address: usize) -> bool {
        let Some(region) = self.regions.first() else { return false };
        let at = address.wrapping_sub(region.base);
        self.state().given.remove(&at).is_some()
    }

    /// Whether memory at an address is the device's.
    pub fn owns(&self, address: usize, len: usize) -> bool {
        self.find(address, len).is_some()
    }

    fn find(&self, address: usize, len: usize) -> Option<usize> {
        self.regions.iter().find_map(|region| region.find(address, len))
    }

    /// Starts a copy, `out` of its memory or into it: address there, address in host memory, length.
    ///
    /// # Errors
    /// When the copy fails at once, or a run is none of this device's memory.
    ///
    /// # Safety
    /// The host memory of the runs is valid, and nobody else touches it until [`SimulatedDevice::poll`] has reported the
    /// copy.
    pub unsafe fn start(
        &self,
        token: u64,
        out: bool,
        runs: &[(usize, *mut u8, usize)],
    ) -> Result<(), String> {
        let run = |(address, host, len): &(usize, *mut u8, usize)| {
            let own = self.find(*address, *len);
            let own = own.ok_or_else(|| format!("{len} bytes at {address:#x} are not in its memory"))?;
            Ok((own, host.expose_provenance(), *len))
        };
        let runs = runs.iter().map(run).collect::<Result<_, String>>()?;
        let mut state = self.state();
        let fails = state.random(100) < self.failing;
        if fails && state.random(3) == 0 {
            return Err("it takes no more copies".to_owned());
        }
        let polls_left = state.random(LONGEST);
        state.copies.push(Copy { token, polls_left, fails, out, runs });
        Ok(())
    }

    /// Works on the copies under way, and reports those that have ended.
    pub fn poll(&self, ended: &mut dyn FnMut(u64, Result<(), String>)) {
        let mut state = self.state();
        let mut at = 0;
        while let Some(copy) = state.copies.get_mut(at) {
            if copy.polls_left > 0 {
                copy.polls_left -= 1;
                at += 1;
                continue;
            }
            let copy = state.copies.swap_remove(at);
            copy.make();
            ended(copy.token, if copy.fails { Err("a bus fault half way".to_owned()) } else { Ok(()) });
        }
    }

    /// Number of copies under way.
    pub fn under_way(&self) -> usize {
        self.state().copies.len()
    }

    /// Writes bytes to memory of the device, as a program on the device would.
    pub fn write(&self, address: usize, bytes: &[u8]) {
        let Some(to) = self.find(address, bytes.len()) else { panic!("{address:#x} is not in its memory") };
        let to = ptr::with_exposed_provenance_mut::<u8>(to);
        // SAFETY: within a view.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// Bytes in memory of the device, as a program on the device sees them.
    pub fn read(&self, address: usize, len: usize) -> Vec<u8> {
        let Some(from) = self.find(address, len) else { panic!("{address:#x} is not in its memory") };
        let mut bytes = vec![0; len];
        let from = ptr::with_exposed_provenance::<u8>(from);
        // SAFETY: within a view.
        unsafe { ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), len) };
        bytes
    }
}

impl State {
    /// A random number below `n` (SplitMix64).
    fn random(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }
}

impl Copy {
    /// Moves the bytes; of a copy that fails, some of them.
    fn make(&self) {
        for (own, host, len) in &self.runs {
            let moved = if self.fails { len / 2 } else { *len };
            let own = ptr::with_exposed_provenance_mut::<u8>(*own);
            let host = ptr::with_exposed_provenance_mut::<u8>(*host);
            // SAFETY: `own` lies in a view, which `start` has checked; `host` by the promise of its caller.
            unsafe {
                let (from, to) = if self.out { (own, host) } else { (host, own) };
                ptr::copy(from, to, moved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_made_late_out_of_order_and_some_of_them_half() {
        let device = SimulatedDevice::new(1 << 16, 7, 30).unwrap();
        let at = device.allocate(64).unwrap().addr();
        assert!(device.owns(at, 64) && !device.owns(at - 1, 1) && !device.owns(at + (1 << 16), 1));
        device.write(at, &[7; 64]);
        let mut hosts = vec![[0u8; 8]; 50];
        let mut refused = 0;
        for (token, host) in hosts.iter_mut().enumerate() {
            let (low, high) = host.split_at_mut(4);
            let runs = [(at, low.as_mut_ptr(), 4), (at + 16, high.as_mut_ptr(), 4)];
            // SAFETY: `hosts` outlives the copies, and is looked at behind them.
            refused += usize::from(unsafe { device.start(token as u64, true, &runs) }.is_err());
        }
        let mut ended = Vec::new();
        while device.under_way() > 0 {
            device.poll(&mut |token, outcome| ended.push((token, outcome.is_ok())));
        }
        let good = |bytes: &[u8; 8]| *bytes == [7; 8];
        assert_eq!(ended.len() + refused, 50);
        assert!(ended.iter().all(|(token, ok)| good(&hosts[*token as usize]) == *ok));
        assert!(ended.iter().any(|(_, ok)| !ok) && refused > 0);
        assert!(!ended.is_sorted());
    }

    #[test]
    fn memory_is_found_again() {
        let device = SimulatedDevice::new(1 << 12, 1, 0).unwrap();
        let all: Vec<usize> = std::iter::from_fn(|| device.allocate(1000)).map(|at| at.addr()).collect();
        assert_eq!(all.len(), 4);
        assert!(device.free(all[1]) && !device.free(all[1]) && !device.free(1));
        assert_eq!(device.allocate(900).map(|at| at.addr()), Some(all[1]));
    }
}
