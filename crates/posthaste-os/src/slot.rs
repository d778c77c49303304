//! One value for all copies of this code that a process has loaded: the C library, a second one, extension libraries, a program
//! with the crate linked in.
//!
//! Each copy carries a slot in an ELF note, which everybody can find however the object was loaded: in a local scope, or as an
//! executable that exports nothing. All copies use the slot of the first object in the loader's list that has one.
//!
//! What must stay true: the slot is laid out as `Slot` says for good; a later form has another `LAYOUT`. What uses the
//! value, and what holds the slot, is never unloaded. The code of one build alone uses a value, for nothing else knows how it
//! is laid out; and only copies that take memory from the same allocator, for one frees what another one has made.

use std::alloc::{GlobalAlloc, Layout, System, alloc, dealloc};
use std::cell::UnsafeCell;
use std::ffi::{OsStr, c_int, c_void};
use std::fmt;
use std::hint::black_box;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::scope::object_of;

/// Who the note is from, as long as it is with its padding.
const NAME: [u8; 12] = *b"posthaste\0\0\0";
const NAME_BYTES: u32 = 10;
/// What the note holds: a [`Slot`].
const KIND: u32 = 1;
const MAGIC: u64 = u64::from_le_bytes(*b"posthast");
const LAYOUT: u32 = 1;
/// Longest name of a build.
const BUILD_BYTES: usize = 96;

/// The note. Its head has 24 bytes, so what follows is in the same place whether notes are aligned to 4 or to 8 bytes.
#[repr(C)]
struct Note {
    name_bytes: u32,
    slot_bytes: u32,
    kind: u32,
    name: [u8; 12],
    slot: Slot,
}

#[repr(C)]
struct Slot {
    magic: u64,
    layout: u32,
    /// 1 while somebody looks at what follows or changes it.
    lock: AtomicU32,
    value: AtomicPtr<c_void>,
    /// An address in the object that has made the value.
    maker: AtomicPtr<c_void>,
    /// Whether that object takes its memory from C's `malloc`.
    by_malloc: AtomicU32,
    value_bytes: AtomicU32,
    build_bytes: AtomicU32,
    build: UnsafeCell<[u8; BUILD_BYTES]>,
}

// SAFETY: `build` is reached only by who holds the lock, everything else is atomic or constant.
unsafe impl Sync for Note {}

#[used]
#[unsafe(link_section = ".note.posthaste")]
static NOTE: Note = Note {
    name_bytes: NAME_BYTES,
    slot_bytes: size_of::<Slot>() as u32,
    kind: KIND,
    name: NAME,
    slot: Slot {
        magic: MAGIC,
        layout: LAYOUT,
        lock: AtomicU32::new(0),
        value: AtomicPtr::new(ptr::null_mut()),
        maker: AtomicPtr::new(ptr::null_mut()),
        by_malloc: AtomicU32::new(0),
        value_bytes: AtomicU32::new(0),
        build_bytes: AtomicU32::new(0),
        build: UnsafeCell::new([0; BUILD_BYTES]),
    },
};

/// Why a copy cannot use what another one has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// They are of two builds: that of the first copy and its file, and the same of this one.
    Build {
        /// The build of the copy that came first.
        first: String,
        /// Its file.
        first_file: PathBuf,
        /// The build of this copy.
        this: String,
        /// Its file.
        this_file: PathBuf,
    },
    /// One of them has an allocator of its own; this file.
    Allocator(PathBuf),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build { first, first_file, this, this_file } => write!(
                f,
                "this process has an engine already, that of posthaste {first} in {}, which posthaste {this} in {} \
                 cannot use: a process has one engine, and all that share it must be built alike",
                first_file.display(),
                this_file.display()
            ),
            Self::Allocator(file) => write!(
                f,
                "{} has a #[global_allocator] of its own, so it cannot share the engine of this process with another \
                 copy of posthaste: one would free what the other has allocated",
                file.display()
            ),
        }
    }
}

/// The value that all copies of this code in the process share, made by whichever asks first. `build` names the build: two that
/// lay out `T` differently, or treat it differently, have different names.
///
/// # Errors
/// When another build has made it, or one that takes memory from another allocator.
pub fn shared<T: Sync>(build: &str, make: impl FnOnce() -> T) -> Result<&'static T, Refused> {
    let bytes = size_of::<T>() as u32;
    let found = first();
    let slot = found.unwrap_or(&NOTE.slot);
    let _lock = Locked::new(slot);
    let own = ptr::from_ref(&NOTE).cast_mut().cast::<c_void>();
    let value = slot.value.load(Ordering::Acquire);
    if value.is_null() {
        let made = ptr::from_mut(Box::leak(Box::new(make())));
        let text = &build.as_bytes()[..build.len().min(BUILD_BYTES)];
        // SAFETY: under the lock.
        unsafe { (&mut *slot.build.get())[..text.len()].copy_from_slice(text) };
        slot.value_bytes.store(bytes, Ordering::Relaxed);
        slot.build_bytes.store(text.len() as u32, Ordering::Relaxed);
        slot.by_malloc.store(u32::from(allocates_by_malloc()), Ordering::Relaxed);
        slot.maker.store(own, Ordering::Relaxed);
        slot.value.store(made.cast(), Ordering::Release);
        pin(own);
        pin(ptr::from_ref(slot).cast_mut().cast());
        // SAFETY: made and leaked above.
        return Ok(unsafe { &*made });
    }
    let maker = slot.maker.load(Ordering::Relaxed);
    let len = (slot.build_bytes.load(Ordering::Relaxed) as usize).min(BUILD_BYTES);
    // SAFETY: under the lock.
    let first = unsafe { &(&*slot.build.get())[..len] };
    if first != build.as_bytes() || slot.value_bytes.load(Ordering::Relaxed) != bytes {
        return Err(Refused::Build {
            first: String::from_utf8_lossy(first).into_owned(),
            first_file: file_of(maker),
            this: build.to_owned(),
            this_file: file_of(own),
        });
    }
    if maker != own {
        if slot.by_malloc.load(Ordering::Relaxed) == 0 {
            return Err(Refused::Allocator(file_of(maker)));
        }
        if !allocates_by_malloc() {
            return Err(Refused::Allocator(file_of(own)));
        }
        pin(own);
    }
    // SAFETY: a copy of the same build has made it, of this type, and leaked it; that copy is never unloaded.
    Ok(unsafe { &*value.cast::<T>() })
}

/// The lock of a slot.
struct Locked<'a>(&'a Slot);

impl<'a> Locked<'a> {
    fn new(slot: &'a Slot) -> Self {
        while slot.lock.swap(1, Ordering::Acquire) != 0 {
            std::thread::yield_now();
        }
        Self(slot)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.lock.store(0, Ordering::Release);
    }
}

/// The slot of the first object that has one of this layout.
fn first() -> Option<&'static Slot> {
    let mut found: Option<&'static Slot> = None;
    // SAFETY: the function is called with what follows, before this call returns.
    unsafe { libc::dl_iterate_phdr(Some(look), ptr::from_mut(&mut found).cast()) };
    found
}

/// Looks for a slot in one object; what it returns ends the search.
unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the loader hands over a description of an object that is loaded, and what `first` has given it.
    let (object, found) = unsafe { (&*object, &mut *found.cast::<Option<&'static Slot>>()) };
    if object.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: so many program headers are there.
    let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    for header in headers.iter().filter(|header| header.p_type == libc::PT_NOTE) {
        let start = (object.dlpi_addr + header.p_vaddr) as usize;
        let align = if header.p_align == 8 { 8 } else { 4 };
        // SAFETY: the loader has mapped the notes there.
        *found = unsafe { slot_in(start, header.p_memsz as usize, align) };
        if found.is_some() {
            return 1;
        }
    }
    0
}

/// The slot among the notes of a segment.
///
/// # Safety
/// The segment is mapped, and stays so while the slot is used.
unsafe fn slot_in(start: usize, bytes: usize, align: usize) -> Option<&'static Slot> {
    const HEAD: usize = 12;
    let mut at = 0;
    while at + HEAD <= bytes {
        let note = ptr::with_exposed_provenance::<u8>(start + at);
        // SAFETY: the head of a note is within the segment.
        let [name_bytes, slot_bytes, kind] = unsafe { note.cast::<[u32; 3]>().read_unaligned() };
        let value = at + (HEAD + name_bytes as usize).next_multiple_of(align);
        let end = value.checked_add((slot_bytes as usize).next_multiple_of(align))?;
        // SAFETY: within the segment, as the lengths say.
        let is_ours = (name_bytes, slot_bytes as usize, kind) == (NAME_BYTES, size_of::<Slot>(), KIND)
            && end <= bytes
            && unsafe { note.add(HEAD).cast::<[u8; NAME.len()]>().read_unaligned() } == NAME;
        if is_ours {
            let slot = ptr::with_exposed_provenance::<Slot>(start + value);
            // SAFETY: a note of ours of this length, which only this module writes, holds a slot.
            return (unsafe { &*slot }).is_of_this_layout().then(|| unsafe { &*slot });
        }
        at = end;
    }
    None
}

impl Slot {
    fn is_of_this_layout(&self) -> bool {
        (self.magic, self.layout) == (MAGIC, LAYOUT)
    }
}

/// The file of the object that has this address.
fn file_of(address: *const c_void) -> PathBuf {
    let Some((_, name)) = object_of(address) else { return PathBuf::from("an unknown file") };
    let name = PathBuf::from(OsStr::from_bytes(name.as_bytes()));
    // The executable is called as it was when it was started.
    if name.is_absolute() { name } else { std::env::current_exe().unwrap_or(name) }
}

/// Keeps the object with this address loaded for good.
fn pin(address: *mut c_void) {
    if let Some((_, name)) = object_of(address) {
        // SAFETY: what is loaded already is not loaded again; the executable, which has no such name, stays anyway.
        unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NODELETE | libc::RTLD_LAZY) };
    }
}

/// Whether memory of Rust's comes from C's `malloc`, as far as can be seen: then what one gives back, the other soon gives out
/// again. Two allocators have no address in common. (The compiler takes two blocks for different ones, hence the black boxes.)
fn allocates_by_malloc() -> bool {
    const TRIES: usize = 64;
    (0..TRIES).any(|n| {
        let Ok(layout) = Layout::from_size_align(24 + 16 * n, 8) else { return false };
        // SAFETY: the layout is not empty; each block goes back to where it came from.
        unsafe {
            let ours = black_box(alloc(layout));
            if ours.is_null() {
                return false;
            }
            dealloc(ours, layout);
            let theirs = black_box(System.alloc(layout));
            if theirs.is_null() {
                return false;
            }
            System.dealloc(theirs, layout);
            ours.addr() == theirs.addr()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_for_all_who_ask_of_one_build() {
        assert!(first().is_some_and(|slot| ptr::eq(slot, &NOTE.slot)), "the loader's list leads to the note");
        let ask = |build| shared(build, || AtomicU32::new(7));
        let (one, two) = (ask("1"), ask("1"));
        assert!(ptr::eq(one.unwrap(), two.unwrap()));
        let Err(refused @ Refused::Build { .. }) = ask("2") else { panic!("another build") };
        let text = refused.to_string();
        assert!(text.contains("posthaste 1 in /") && text.contains("posthaste 2 in /"), "{text}");
        let other = shared("1", || 0u64).unwrap_err();
        assert!(matches!(other, Refused::Build { .. }), "of another size");
    }

    #[test]
    fn the_allocator_of_this_program_is_that_of_c() {
        assert!(allocates_by_malloc());
    }

    #[test]
    fn notes_of_others_are_passed_over() {
        let of = |align: usize, ours: bool| {
            let mut bytes = Vec::new();
            bytes.extend([4u32, 5, 3].map(u32::to_ne_bytes).concat());
            bytes.extend(*b"GNU\0");
            bytes.resize(bytes.len().next_multiple_of(align), 0);
            bytes.extend([1; 5]);
            bytes.resize(bytes.len().next_multiple_of(align), 0);
            if ours {
                let start = ptr::from_ref(&NOTE).cast::<u8>();
                // SAFETY: the bytes of the note; nobody changes them meanwhile but for the lock of a slot that is not used.
                bytes.extend(unsafe { std::slice::from_raw_parts(start, size_of::<Note>()) });
            }
            let words: Vec<u64> = bytes
                .chunks(8)
                .map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_ne_bytes(word)
                })
                .collect();
            let start = words.as_ptr().expose_provenance();
            // SAFETY: so many bytes are there.
            let found =
                unsafe { slot_in(start, bytes.len(), align) }.map(|slot| ptr::from_ref(slot).addr() - start);
            drop(words);
            found
        };
        assert_eq!((of(8, false), of(4, false)), (None, None));
        assert_eq!(of(8, true), Some(24 + 24));
    }
}
