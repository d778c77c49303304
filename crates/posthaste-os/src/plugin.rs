//! Methods from shared objects: loads one by the table of `posthaste_method.h`, and makes safe functions of its functions.
//!
//! The layouts below are those of the header, version 1. What must stay true: the version is read before anything
//! behind it; every text is copied before the plug-in is called again; nothing that a plug-in says is believed beyond
//! its type; a library that has been loaded stays loaded, because it may have started threads.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{self, NonNull};

use crate::mem::Source;

/// Version of the table.
pub const VERSION: u32 = 1;
/// Most pieces of one packet.
pub const PIECES: usize = 4;
/// Longest text of an address, in bytes.
pub const ADDRESS: usize = 256;
/// Bytes of a sentence of the plug-in.
const TEXT: usize = 256;
/// Lengths that a plug-in may call its longest packet.
const LONGEST: std::ops::RangeInclusive<u32> = 256..=16 << 20;

#[repr(C)]
struct Job {
    rank: u32,
    ranks: u32,
    secret: *const u8,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Piece {
    base: *const u8,
    len: usize,
}

#[repr(C)]
struct Receiver<'a> {
    context: *mut c_void,
    packet: unsafe extern "C" fn(*mut c_void, u32, *const u8, usize),
    down: unsafe extern "C" fn(*mut c_void, u32, *const c_char),
    of: PhantomData<&'a mut ()>,
}

type Open = unsafe extern "C" fn(*const Job, *mut c_char) -> *mut c_void;
type Address = unsafe extern "C" fn(*mut c_void) -> *const c_char;
type Connect = unsafe extern "C" fn(*mut c_void, u32, *const c_char, *mut c_char) -> c_int;
type Send = unsafe extern "C" fn(*mut c_void, u32, *const Piece, usize) -> c_int;
type Poll = unsafe extern "C" fn(*mut c_void, *const Receiver<'_>) -> c_int;
type Number = unsafe extern "C" fn(*mut c_void) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void);

/// The table as the plug-in has it.
#[repr(C)]
struct Raw {
    version: u32,
    longest: u32,
    name: *const c_char,
    open: Option<Open>,
    address: Option<Address>,
    connect: Option<Connect>,
    send: Option<Send>,
    poll: Option<Poll>,
    descriptor: Option<Number>,
    flush: Option<Number>,
    close: Option<Close>,
}

/// A plug-in that has been loaded.
#[derive(Clone, Debug)]
pub struct Plugin {
    name: String,
    longest: usize,
    open: Open,
    address: Address,
    connect: Connect,
    send: Send,
    poll: Poll,
    descriptor: Option<Number>,
    flush: Number,
    close: Close,
}

/// A plug-in at work.
#[derive(Debug)]
pub struct Started {
    plugin: Plugin,
    instance: NonNull<c_void>,
    ranks: u32,
}

// SAFETY: the header promises calls from one thread at a time, but not from always the same one. That holds, for the value
// is not `Sync`.
unsafe impl std::marker::Send for Started {}

/// What a poll has found.
#[derive(Debug)]
pub enum Found<'a> {
    /// A packet of this rank.
    Packet(u32, Source<'a>),
    /// This rank is lost, and why.
    Down(u32, String),
}

/// The file that a setting means: a path, or a word for a file that the dynamic linker looks for.
fn file(setting: &str) -> String {
    if setting.contains('/') { setting.to_owned() } else { format!("libposthaste_{setting}.so") }
}

impl Plugin {
    /// Loads the plug-in that the setting names.
    ///
    /// # Errors
    /// A sentence: there is no such file, it is none of a plug-in, or one for another version.
    pub fn load(setting: &str) -> Result<Self, String> {
        let file = file(setting);
        let path = CString::new(file.as_str()).map_err(|e| e.to_string())?;
        // SAFETY: loading a library runs its initialisers, which is what loading it is for; it is never unloaded.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(linker_says(&file));
        }
        let symbol = c"posthaste_method_table";
        // SAFETY: the library is loaded and stays so; the name is a C string.
        let table = unsafe { libc::dlsym(library, symbol.as_ptr()) };
        let table = NonNull::new(table.cast::<Raw>())
            .ok_or_else(|| format!("{file} is no plug-in of posthaste: it has no posthaste_method_table"))?;
        // SAFETY: the first word of every version of the table.
        let version = unsafe { table.cast::<u32>().read_unaligned() };
        if version != VERSION {
            return Err(format!(
                "{file} is a plug-in for version {version} of posthaste's table of methods, expected version {VERSION}"
            ));
        }
        // SAFETY: a table of this version, of which every word is a number or a pointer.
        let raw = unsafe { table.read_unaligned() };
        Self::check(&raw).map_err(|what| format!("the plug-in {file} {what}"))
    }

    fn check(raw: &Raw) -> Result<Self, String> {
        fn there<F>(function: Option<F>, name: &str) -> Result<F, String> {
            function.ok_or_else(|| format!("has no function {name}"))
        }
        if raw.name.is_null() {
            return Err("has no name".into());
        }
        // SAFETY: not null, so a C string of the plug-in.
        let name = unsafe { CStr::from_ptr(raw.name) }.to_string_lossy().into_owned();
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.is_empty() || name.len() > 32 || !name.chars().all(is_letter) {
            return Err(format!("is called {name:?}, expected 1 to 32 letters, digits, - and _"));
        }
        if !LONGEST.contains(&raw.longest) {
            let (least, most) = LONGEST.into_inner();
            return Err(format!("has packets of {} bytes, expected {least} to {most}", raw.longest));
        }
        Ok(Self {
            name,
            longest: raw.longest as usize,
            open: there(raw.open, "open")?,
            address: there(raw.address, "address")?,
            connect: there(raw.connect, "connect")?,
            send: there(raw.send, "send")?,
            poll: there(raw.poll, "poll")?,
            descriptor: raw.descriptor,
            flush: there(raw.flush, "flush")?,
            close: there(raw.close, "close")?,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its longest packet, in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Starts it for a process of a job, whose processes alone know the secret.
    ///
    /// # Errors
    /// What the plug-in says.
    pub fn start(self, rank: u32, ranks: u32, secret: &[u8; 32]) -> Result<Started, String> {
        let (job, mut why) = (Job { rank, ranks, secret: secret.as_ptr() }, [0; TEXT]);
        // SAFETY: the job and the room for a sentence live over the call.
        let instance = unsafe { (self.open)(&raw const job, why.as_mut_ptr()) };
        let instance = NonNull::new(instance).ok_or_else(|| sentence(why))?;
        Ok(Started { plugin: self, instance, ranks })
    }
}

impl Started {
    /// Where this process is reached.
    ///
    /// # Errors
    /// When the plug-in gives no text, or one that is too long.
    pub fn address(&self) -> Result<String, String> {
        // SAFETY: the instance is open.
        let text = unsafe { (self.plugin.address)(self.instance.as_ptr()) };
        if text.is_null() {
            return Err("it gives no address".into());
        }
        // SAFETY: not null, so a C string of the plug-in that stays.
        let text = unsafe { CStr::from_ptr(text) };
        match text.to_str() {
            Ok(text) if !text.is_empty() && text.len() <= ADDRESS => Ok(text.to_owned()),
            _ => Err(format!("it gives {text:?} as its address, expected 1 to {ADDRESS} bytes of text")),
        }
    }

    /// Says where a rank is reached; once for each, before packets are sent there.
    ///
    /// # Errors
    /// What the plug-in says.
    pub fn connect(&mut self, peer: u32, address: &str) -> Result<(), String> {
        assert!(peer < self.ranks, "rank {peer} of {} is asked for", self.ranks);
        let (address, mut why) = (CString::new(address).map_err(|e| e.to_string())?, [0; TEXT]);
        // SAFETY: the instance is open; address and room for a sentence live over the call.
        let failed = unsafe {
            (self.plugin.connect)(self.instance.as_ptr(), peer, address.as_ptr(), why.as_mut_ptr())
        };
        if failed == 0 { Ok(()) } else { Err(sentence(why)) }
    }

    /// Sends a packet of these pieces to a rank that is connected, or returns false: there is no room at present.
    pub fn send(&mut self, peer: u32, pieces: &[Source<'_>]) -> bool {
        assert!(peer < self.ranks && pieces.len() <= PIECES, "{} pieces for rank {peer}", pieces.len());
        let mut raw = [Piece { base: ptr::null(), len: 0 }; PIECES];
        let mut count = 0;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            raw[count] = Piece { base: piece.as_ptr(), len: piece.len() };
            count += 1;
        }
        // SAFETY: the instance is open; every piece is readable for its length.
        unsafe { (self.plugin.send)(self.instance.as_ptr(), peer, raw.as_ptr(), count) != 0 }
    }

    /// Lets the plug-in work, and shows `on` what has come. Returns whether there was anything.
    pub fn poll(&mut self, on: &mut dyn FnMut(Found<'_>)) -> bool {
        let mut on = on;
        let context = (&raw mut on).cast();
        let receiver = Receiver { context, packet: take_packet, down: take_down, of: PhantomData };
        // SAFETY: the instance is open; the receiver and the closure that it leads to live over the call, and nothing else
        // uses the closure meanwhile.
        unsafe { (self.plugin.poll)(self.instance.as_ptr(), &raw const receiver) != 0 }
    }

    /// What a sleeper has to watch.
    pub fn descriptor(&self) -> Option<impl AsFd> {
        // SAFETY: the instance is open.
        let fd = unsafe { self.plugin.descriptor?(self.instance.as_ptr()) };
        // SAFETY: a descriptor that the plug-in keeps open as long as the instance is, which this borrows.
        (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
    }

    /// Whether everything that was sent has left this process.
    pub fn flush(&self) -> bool {
        // SAFETY: the instance is open.
        unsafe { (self.plugin.flush)(self.instance.as_ptr()) != 0 }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // SAFETY: the instance is open, and nobody uses it behind this.
        unsafe { (self.plugin.close)(self.instance.as_ptr()) }
    }
}

/// Hands a packet to the closure of [`Started::poll`].
unsafe extern "C" fn take_packet(context: *mut c_void, from: u32, bytes: *const u8, len: usize) {
    // SAFETY: the context that `poll` made, handed back by the plug-in while `poll` is waiting for it.
    let on = unsafe { &mut *context.cast::<&mut dyn FnMut(Found<'_>)>() };
    if bytes.is_null() {
        return on(Found::Packet(from, (&[][..]).into()));
    }
    // SAFETY: the plug-in keeps these bytes until this returns.
    on(Found::Packet(from, unsafe { Source::from_raw(bytes, len) }));
}

/// The same for a loss.
unsafe extern "C" fn take_down(context: *mut c_void, peer: u32, why: *const c_char) {
    // SAFETY: as above.
    let on = unsafe { &mut *context.cast::<&mut dyn FnMut(Found<'_>)>() };
    let why = match why.is_null() {
        true => "it does not say why".into(),
        // SAFETY: not null, so a C string of the plug-in.
        false => unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned(),
    };
    on(Found::Down(peer, why));
}

/// A sentence that a plug-in has left, or not.
fn sentence(mut text: [c_char; TEXT]) -> String {
    text[TEXT - 1] = 0;
    // SAFETY: there is a 0 within the array.
    match unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy() {
        text if text.is_empty() => "it does not say why".into(),
        text => text.into_owned(),
    }
}

/// Why a file could not be loaded; the linker's sentence names it, too.
fn linker_says(file: &str) -> String {
    // SAFETY: after a failure this is a C string, or null.
    let why = unsafe { libc::dlerror() };
    if why.is_null() {
        return format!("{file} cannot be loaded");
    }
    // SAFETY: not null, a C string of the dynamic linker, copied before the next of its calls.
    unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned()
}
