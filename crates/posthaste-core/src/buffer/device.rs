//! Memory of devices, which the processor cannot touch: who copies into it and out of it, and the copies under way.
//!
//! What must stay true:
//! - An address in device memory is compared and handed on, never followed.
//! - A copy that has been started keeps its host memory until the device says that it has ended; who starts one keeps the
//!   memory so long.
//! - As long as no device is registered, asking whether memory is a device's costs one load of a flag.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, RwLock};

use posthaste_os::simulated_device::{Region, SimulatedDevice};

use crate::buffer::UserBuf;
use crate::error::{Error, ErrorClass};
use crate::ids::RequestId;

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Out of device memory.
    Out,
    /// Into device memory.
    In,
}

/// One piece of a copy: address in device memory, address in host memory, length in bytes.
pub type Run = (usize, *mut u8, usize);

/// What a device says of a copy that failed.
pub type Outcome = Result<(), String>;

/// The memory of a kind of device. Copies may wait, end in any order, and fail.
///
/// # Safety
/// The host memory of a copy is not touched before it is started nor after it has been reported by `poll`, and only within
/// the bytes of its runs.
pub unsafe trait DeviceMemory: Send + Sync {
    /// What error messages call it.
    fn name(&self) -> &str;

    /// Whether the memory at an address is this device's, so that the processor must not touch it. Memory that both may
    /// touch is not.
    fn owns(&self, address: usize, len: usize) -> bool;

    /// Starts a copy between runs of device memory and of host memory.
    ///
    /// # Errors
    /// Why the copy cannot be done; then nothing is reported of it any more.
    ///
    /// # Safety
    /// The runs lie in memory that this device owns; their host memory is valid, and nobody else touches it until the copy is
    /// reported.
    unsafe fn start(&self, token: u64, direction: Direction, runs: &[Run]) -> Outcome;

    /// Reports copies that have ended, each once. It does not wait.
    fn poll(&self, ended: &mut dyn FnMut(u64, Outcome));
}

// SAFETY: the simulated device touches the host memory of a copy when it ends only, and within the bytes of its runs.
unsafe impl DeviceMemory for SimulatedDevice {
    fn name(&self) -> &str {
        "the simulated device"
    }

    fn owns(&self, address: usize, len: usize) -> bool {
        Self::owns(self, address, len)
    }

    unsafe fn start(&self, token: u64, direction: Direction, runs: &[Run]) -> Outcome {
        // SAFETY: handed on to the caller.
        unsafe { Self::start(self, token, direction == Direction::Out, runs) }
    }

    fn poll(&self, ended: &mut dyn FnMut(u64, Outcome)) {
        Self::poll(self, ended);
    }
}

/// The devices of a process, and those of their copies that have ended.
pub struct Devices {
    /// Whether there are any.
    are_there: AtomicBool,
    devices: RwLock<Vec<Arc<dyn DeviceMemory>>>,
    /// Copies that have ended and that nobody has asked for yet. Whoever polls a device hears of the copies of others.
    ended: Mutex<Vec<(u64, Outcome)>>,
    /// The name of the next copy.
    next: AtomicU64,
}

/// The table of this copy of the code, and the one in use: where another copy's engine is shared, that copy's, because one
/// starts copies that the other hears of.
static OWN: Devices = Devices {
    are_there: AtomicBool::new(false),
    devices: RwLock::new(Vec::new()),
    ended: Mutex::new(Vec::new()),
    next: AtomicU64::new(0),
};
static IN_USE: AtomicPtr<Devices> = AtomicPtr::new((&raw const OWN).cast_mut());

impl std::fmt::Debug for Devices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Devices")
    }
}

impl Devices {
    /// The table in use.
    #[inline(always)]
    pub fn of_process() -> &'static Self {
        // SAFETY: `OWN`, or what `adopt` was given, which lives as long as the process.
        unsafe { &*IN_USE.load(Ordering::Acquire) }
    }

    /// Uses the table of another copy of the code, before this one has started any copies; devices that are known here become
    /// known there.
    pub fn adopt(table: &'static Self) {
        let before = IN_USE.swap(std::ptr::from_ref(table).cast_mut(), Ordering::AcqRel);
        if !std::ptr::eq(before, table) {
            let own = std::mem::take(&mut *OWN.devices.write().unwrap_or_else(PoisonError::into_inner));
            own.into_iter().for_each(register);
        }
    }
}

/// Takes a device in, for as long as the process lives. To be done before buffers in its memory are used.
pub fn register(device: Arc<dyn DeviceMemory>) {
    let table = Devices::of_process();
    table.devices.write().unwrap_or_else(PoisonError::into_inner).push(device);
    table.are_there.store(true, Ordering::Release);
}

/// The bit that makes an address one of the simulated device of a test program. No such address can be accessed.
const SIMULATED: usize = 1 << 52;
/// Addresses of user space are below this.
const USER_SPACE: usize = 1 << 47;

/// Registers the simulated device of a test program (`tests/c/device.h`): addresses with a certain bit, whose bytes lie where
/// the address without it says.
pub(crate) fn register_simulated(seed: u64) {
    // Another copy of this code that opens the engine later makes another one of the same memory; the first is asked.
    static ONCE: Once = Once::new();
    let region = Region { base: SIMULATED, len: USER_SPACE, view: 0 };
    // SAFETY: a program that sets that bit in the address of a buffer vouches for the buffer (`Base::new`).
    ONCE.call_once(|| register(Arc::new(unsafe { SimulatedDevice::over(vec![region], seed, 0) })));
}

/// Whether there is any device memory.
#[inline(always)]
pub(crate) fn is_registered() -> bool {
    Devices::of_process().are_there.load(Ordering::Relaxed)
}

/// The device that owns the memory at an address.
#[cold]
fn owner(address: usize, len: usize) -> Option<Arc<dyn DeviceMemory>> {
    let devices = Devices::of_process().devices.read().unwrap_or_else(PoisonError::into_inner);
    devices.iter().find(|device| device.owns(address, len)).cloned()
}

/// Whether the memory at an address is a device's.
#[cold]
pub(crate) fn is_owned(address: usize, len: usize) -> bool {
    owner(address, len).is_some()
}

/// Copies under way, by the requests that wait for them.
#[derive(Default)]
pub(crate) struct Copies {
    by_token: HashMap<u64, Copy>,
    /// The devices at work, and how many copies each has.
    devices: Vec<(Arc<dyn DeviceMemory>, usize)>,
}

/// One of them, as an error names it.
struct Copy {
    id: RequestId,
    device: Option<Arc<dyn DeviceMemory>>,
    direction: Direction,
    address: usize,
    bytes: usize,
}

impl std::fmt::Debug for Copies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copies").field("under_way", &self.by_token.len()).finish()
    }
}

impl Copies {
    /// Starts a copy between runs of one buffer in device memory and runs of host memory. One that cannot be started has
    /// ended, with an error.
    ///
    /// The runs are those of segments, so somebody vouched for them; the caller keeps the host memory until the copy has
    /// ended.
    pub(crate) fn start(&mut self, id: RequestId, direction: Direction, runs: &[(usize, UserBuf, usize)]) {
        let (address, len) = runs.first().map_or((0, 0), |(first, _, len)| (*first, *len));
        let bytes = runs.iter().map(|(.., len)| len).sum();
        let runs: Vec<Run> =
            runs.iter().map(|(address, host, len)| (*address, host.as_ptr(), *len)).collect();
        let token = Devices::of_process().next.fetch_add(1, Ordering::Relaxed);
        let device = owner(address, len);
        let started = match &device {
            // SAFETY: the runs by the promise of `Base::new`, the host memory by that of the caller.
            Some(device) => unsafe { device.start(token, direction, &runs) },
            None => Err("no device owns this memory any more".to_owned()),
        };
        if let Err(why) = started {
            ended(token, Err(why));
        }
        if let Some(device) = &device {
            match self.devices.iter_mut().find(|(other, _)| Arc::ptr_eq(other, device)) {
                Some((_, copies)) => *copies += 1,
                None => self.devices.push((device.clone(), 1)),
            }
        }
        self.by_token.insert(token, Copy { id, device, direction, address, bytes });
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.by_token.is_empty()
    }

    /// The copies that have ended, and how.
    pub(crate) fn take_ended(&mut self) -> Vec<(RequestId, Result<(), Error>)> {
        self.devices.iter().for_each(|(device, _)| device.poll(&mut ended));
        let mut all = Devices::of_process().ended.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = all.extract_if(.., |(token, _)| self.by_token.contains_key(token)).collect::<Vec<_>>();
        drop(all);
        let take = |(token, outcome): (u64, Outcome)| {
            let copy = self.by_token.remove(&token)?;
            if let Some(device) = &copy.device {
                self.devices.retain_mut(|(other, copies)| {
                    *copies -= usize::from(Arc::ptr_eq(other, device));
                    *copies > 0
                });
            }
            Some((copy.id, outcome.map_err(|why| copy.failed(&why))))
        };
        ours.into_iter().filter_map(take).collect()
    }
}

impl Copy {
    #[cold]
    fn failed(&self, why: &str) -> Error {
        let Self { device, direction, address, bytes, .. } = self;
        let way = match direction {
            Direction::Out => "out of",
            Direction::In => "into",
        };
        let device = device.as_ref().map_or("an unknown device", |device| device.name());
        let text =
            format!("the copy of {bytes} bytes {way} the buffer at {address:#x} on {device} failed: {why}");
        Error::other(ErrorClass::Other, text)
    }
}

fn ended(token: u64, outcome: Outcome) {
    Devices::of_process().ended.lock().unwrap_or_else(PoisonError::into_inner).push((token, outcome));
}

/// Buffers of unit tests in memory of a simulated device.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::buffer::Base;

    /// A device of this seed that lets so many copies of a hundred fail.
    pub(crate) fn simulated(seed: u64, failing: u64) -> Arc<SimulatedDevice> {
        let device = Arc::new(SimulatedDevice::new(16 << 20, seed, failing).unwrap());
        register(device.clone());
        device
    }

    #[derive(Debug)]
    pub(crate) struct DeviceBuf {
        device: Arc<SimulatedDevice>,
        base: usize,
        len: usize,
    }

    impl DeviceBuf {
        pub(crate) fn new(device: &Arc<SimulatedDevice>, len: usize) -> Self {
            let base = device.allocate(len).expect("memory of the device").expose_provenance();
            Self { device: device.clone(), base, len }
        }

        pub(crate) fn len(&self) -> usize {
            self.len
        }

        /// For a description within it; it stays as long as the operation in the test that owns it.
        pub(crate) fn base(&self) -> Base {
            // SAFETY: the tests keep their buffers until their operations are over, and look at them behind that.
            unsafe { Base::new(std::ptr::with_exposed_provenance_mut(self.base)) }
        }

        pub(crate) fn fill(&self, bytes: &[u8]) {
            assert!(bytes.len() <= self.len);
            self.device.write(self.base, bytes);
        }

        pub(crate) fn bytes(&self) -> Vec<u8> {
            self.device.read(self.base, self.len)
        }
    }

    impl Drop for DeviceBuf {
        fn drop(&mut self) {
            assert!(self.device.free(self.base));
        }
    }
}
