//! Finds libfabric at run time and asks it which providers there are.
//!
//! What must stay true: functions are taken by the symbol version whose layouts `abi` describes, never by name alone; a
//! library that has been loaded stays loaded, because its providers may have started threads.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::abi::*;

/// The file that the dynamic linker looks for unless another one is named.
pub const FILE: &str = "libfabric.so.1";

/// Version of the interface that we ask for: enough for every mode of registration.
const API: u32 = version(1, 9);

type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const Info, *mut *mut Info) -> c_int;

/// The loaded library.
#[derive(Debug)]
pub struct Library {
    get_info: GetInfo,
    free_info: unsafe extern "C" fn(*mut Info),
    dup_info: unsafe extern "C" fn(*const Info) -> *mut Info,
    pub(super) fabric: unsafe extern "C" fn(*mut FabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
    version: u32,
}

/// One way to use a network: a provider and where it leads.
#[derive(Debug)]
pub struct Provider {
    library: Arc<Library>,
    info: NonNull<Info>,
}

// SAFETY: nothing but this value refers to the list entry, which is plain memory.
unsafe impl Send for Provider {}

/// What providers to look for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Name of the provider (`tcp`, `shm`, `verbs;ofi_rxm`); any if `None`.
    pub provider: Option<&'a str>,
    /// Name of its domain, which is that of a network interface or device; any if `None`.
    pub domain: Option<&'a str>,
    /// They do atomic operations, too.
    pub atomics: bool,
}

impl Library {
    /// Loads the library from this file, which the dynamic linker looks for if it is a bare name.
    ///
    /// # Errors
    /// What the dynamic linker said.
    pub fn open(file: &str) -> io::Result<Arc<Self>> {
        let name = CString::new(file).map_err(io::Error::other)?;
        let _handlers = Handlers::save();
        // SAFETY: a nul-terminated name; libfabric's initialiser is made to be run by whoever loads it.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(io::Error::other(linker_says()));
        }
        let symbol = |name: &CStr, version: &CStr| {
            // SAFETY: a handle that is never closed, and two nul-terminated names.
            let found = unsafe { libc::dlvsym(handle, name.as_ptr(), version.as_ptr()) };
            NonNull::new(found).ok_or_else(|| io::Error::other(linker_says()))
        };
        let get_info = symbol(c"fi_getinfo", c"FABRIC_1.3")?;
        let free_info = symbol(c"fi_freeinfo", c"FABRIC_1.3")?;
        let dup_info = symbol(c"fi_dupinfo", c"FABRIC_1.3")?;
        let fabric = symbol(c"fi_fabric", c"FABRIC_1.1")?;
        let error_text = symbol(c"fi_strerror", c"FABRIC_1.0")?;
        let number = symbol(c"fi_version", c"FABRIC_1.0")?;
        // SAFETY: these functions have had these types since the versions asked for.
        let library = unsafe {
            let number: unsafe extern "C" fn() -> u32 = std::mem::transmute(number);
            Self {
                get_info: std::mem::transmute::<NonNull<c_void>, GetInfo>(get_info),
                free_info: std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut Info)>(free_info),
                dup_info: std::mem::transmute::<
                    NonNull<c_void>,
                    unsafe extern "C" fn(*const Info) -> *mut Info,
                >(dup_info),
                fabric: std::mem::transmute::<
                    NonNull<c_void>,
                    unsafe extern "C" fn(*mut FabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int,
                >(fabric),
                error_text: std::mem::transmute::<
                    NonNull<c_void>,
                    unsafe extern "C" fn(c_int) -> *const c_char,
                >(error_text),
                version: number(),
            }
        };
        Ok(Arc::new(library))
    }

    /// Version of the library, as "1.17".
    pub fn version(&self) -> String {
        format!("{}.{}", self.version >> 16, self.version & 0xffff)
    }

    /// The providers that can do what we need, the best one first: reliable unconnected messages, remote memory, and
    /// either sends that do not overtake writes, or writes that are reported only when they are visible.
    ///
    /// # Errors
    /// What libfabric said; the text names what was looked for.
    pub fn providers(self: &Arc<Self>, wanted: Wanted<'_>) -> io::Result<Vec<Provider>> {
        let ordered = self.ask(wanted, FI_ORDER_SAS | FI_ORDER_SAW, 0);
        let mut found = match ordered {
            Err(_) => self.ask(wanted, FI_ORDER_SAS, FI_DELIVERY_COMPLETE)?,
            found => found?,
        };
        // Asked for a core provider, libfabric may answer with one that is layered over it, and that is meant.
        if let Some(name) = wanted.provider {
            found.retain(|provider| provider.name().split(';').next() == name.split(';').next());
        }
        // Providers that are layered over others do not always keep to the domain that was asked for.
        if let Some(domain) = wanted.domain {
            found.retain(|provider| provider.domain() == domain);
            if found.is_empty() {
                return Err(io::Error::other(format!("none of its providers is on {domain}")));
            }
        }
        Ok(found)
    }

    fn ask(self: &Arc<Self>, wanted: Wanted<'_>, order: u64, flags: u64) -> io::Result<Vec<Provider>> {
        // SAFETY: a null argument asks for an empty entry.
        let hints = unsafe { (self.dup_info)(ptr::null()) };
        let Some(hints) = NonNull::new(hints) else { return Err(io::ErrorKind::OutOfMemory.into()) };
        let hints = Provider { library: self.clone(), info: hints };
        // SAFETY: a new entry has all its attributes, and nobody else refers to them. The names are allocated as
        // libfabric will free them.
        unsafe {
            let info = &mut *hints.info.as_ptr();
            info.caps = FI_MSG | FI_RMA | if wanted.atomics { FI_ATOMIC } else { 0 };
            info.mode = FI_CONTEXT | FI_CONTEXT2;
            let (ep, tx, rx) = (&mut *info.ep_attr, &mut *info.tx_attr, &mut *info.rx_attr);
            ep.kind = FI_EP_RDM;
            tx.msg_order = order;
            tx.op_flags = flags;
            rx.msg_order = order;
            let domain = &mut *info.domain_attr;
            domain.mr_mode =
                FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
            domain.threading = FI_THREAD_DOMAIN;
            domain.resource_mgmt = FI_RM_ENABLED;
            domain.name = copied(wanted.domain)?;
            (*info.fabric_attr).prov_name = copied(wanted.provider)?;
        }
        let mut list = ptr::null_mut();
        let _handlers = Handlers::save();
        // SAFETY: the hints are a complete entry, and the answer is a place for one pointer.
        let code =
            unsafe { (self.get_info)(API, ptr::null(), ptr::null(), 0, hints.info.as_ptr(), &mut list) };
        let asked = || match wanted {
            Wanted { provider: Some(name), .. } => format!("asking libfabric for provider \"{name}\""),
            Wanted { provider: None, .. } => "asking libfabric for a provider".to_owned(),
        };
        self.check(code as isize, asked)?;
        let mut found = Vec::new();
        let mut next = list;
        while let Some(info) = NonNull::new(next) {
            // SAFETY: entries of a list that is ours; each is copied because the list is freed as a whole.
            unsafe {
                next = info.as_ref().next;
                if let Some(info) = NonNull::new((self.dup_info)(info.as_ptr())) {
                    found.push(Provider { library: self.clone(), info });
                }
            }
        }
        // SAFETY: the list that `fi_getinfo` made, freed once.
        unsafe { (self.free_info)(list) };
        Ok(found)
    }

    /// The meaning of an answer: a count, or an error number below zero.
    pub(super) fn check(&self, answer: isize, doing: impl FnOnce() -> String) -> io::Result<usize> {
        usize::try_from(answer).map_err(|_| self.error(-answer, &doing()))
    }

    /// An error with libfabric's text.
    pub(super) fn error(&self, number: isize, doing: &str) -> io::Error {
        // SAFETY: any number is answered with a text that lives as long as the library.
        let text = unsafe { CStr::from_ptr((self.error_text)(number as c_int)) };
        io::Error::other(format!("{doing}: {} (error {number})", text.to_string_lossy()))
    }
}

/// What this process does on signals, put back when the value goes: the libraries behind some providers install handlers
/// of their own that end the process with a backtrace, and take these signals from the program and from the launcher.
pub(super) struct Handlers([(c_int, libc::sigaction); 7]);

impl Handlers {
    pub(super) fn save() -> Self {
        let signals = [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGABRT,
            libc::SIGINT,
            libc::SIGTERM,
        ];
        Self(signals.map(|signal| {
            // SAFETY: all zeros are a valid action, which the call fills in.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: a signal that exists, and a place for its action.
            unsafe { libc::sigaction(signal, ptr::null(), &mut action) };
            (signal, action)
        }))
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        for (signal, action) in &self.0 {
            // SAFETY: an action that was in force before.
            unsafe { libc::sigaction(*signal, action, ptr::null_mut()) };
        }
    }
}

/// A copy that C code may free.
fn copied(text: Option<&str>) -> io::Result<*mut c_char> {
    let Some(text) = text else { return Ok(ptr::null_mut()) };
    let text = CString::new(text).map_err(io::Error::other)?;
    // SAFETY: a nul-terminated string.
    Ok(unsafe { libc::strdup(text.as_ptr()) })
}

/// What the dynamic linker said last.
fn linker_says() -> String {
    // SAFETY: the text, if any, stays until the next call of the dynamic linker by this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker gives no reason".to_owned();
    }
    // SAFETY: as above; a nul-terminated string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl Provider {
    /// The provider's name.
    pub fn name(&self) -> String {
        // SAFETY: an entry of `fi_getinfo` has its fabric's attributes.
        text(unsafe { (*self.info().fabric_attr).prov_name })
    }

    /// Why nobody should use it, if so.
    pub fn flaw(&self) -> Option<&'static str> {
        let name = self.name();
        let is_rxd = name.split(';').any(|part| part == "ofi_rxd");
        is_rxd.then_some("it never reports that a peer is lost, so whoever waits for one would wait for ever")
    }

    /// The same, asked for atomic operations, too, if it has them.
    pub fn with_atomics(&self) -> Option<Self> {
        let (name, domain, fabric) = (self.name(), self.domain(), self.fabric());
        let wanted = Wanted { provider: Some(&name), domain: Some(&domain), atomics: true };
        let found = self.library.providers(wanted).ok()?;
        found.into_iter().find(|other| other.name() == name && other.fabric() == fabric)
    }

    /// Whether it was asked for atomic operations.
    pub fn has_atomics(&self) -> bool {
        self.info().caps & FI_ATOMIC != 0
    }

    /// Whether the network changes memory while the process there does something else.
    pub fn needs_no_help(&self) -> bool {
        // SAFETY: an entry of `fi_getinfo` has its domain's attributes.
        unsafe { (*self.info().domain_attr).data_progress == FI_PROGRESS_AUTO }
    }

    /// Whether it is used only if it is asked for by name: it stays on one host, or a better one is there wherever it is.
    pub fn is_second_choice(&self) -> bool {
        ["shm", "sockets"].contains(&&*self.name())
    }

    /// The network that it leads to.
    pub fn fabric(&self) -> String {
        // SAFETY: as above.
        text(unsafe { (*self.info().fabric_attr).name })
    }

    /// The interface or device.
    pub fn domain(&self) -> String {
        // SAFETY: an entry of `fi_getinfo` has its domain's attributes.
        text(unsafe { (*self.info().domain_attr).name })
    }

    pub(super) fn library(&self) -> &Arc<Library> {
        &self.library
    }

    pub(super) fn info(&self) -> &Info {
        // SAFETY: a complete entry that this value owns.
        unsafe { self.info.as_ref() }
    }

    pub(super) fn as_ptr(&self) -> *mut Info {
        self.info.as_ptr()
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} ({})", self.name(), self.domain(), self.fabric())
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // SAFETY: made by `fi_dupinfo`, freed once.
        unsafe { (self.library.free_info)(self.info.as_ptr()) };
    }
}

fn text(name: *const c_char) -> String {
    if name.is_null() {
        return String::new();
    }
    // SAFETY: names in attributes are nul-terminated and live as long as these.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}
