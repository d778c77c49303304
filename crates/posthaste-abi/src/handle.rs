//! Handles: the numbers that C programs hold for our objects (MPI-5.0 §2.5.1, chapter 20).
//!
//! There is one [`Table`] for each kind of object. Numbers below 4096 are the predefined objects of the ABI; their
//! users never look into a table. All other handles have at most 31 bits, so that `MPI_*_toint` loses nothing:
//!
//! ```text
//! request        1 | 30 bits that the engine's request table made
//! other objects  0 | kind: 4 bits | generation: 7 bits | slot: 19 bits
//! ```
//!
//! What must stay true: a handle finds its object or nothing, whatever number it is. A freed slot rests until
//! [`REST`] others have been freed after it, so a stale handle is taken for a new object only after thousands
//! of allocations.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use posthaste_core::error::{Error, ErrorClass, Result};

/// Handles below this number are predefined by the ABI.
pub(crate) const FIRST_USER_HANDLE: usize = 4096;

const SLOT_BITS: u32 = 19;
const GENERATION_BITS: u32 = 7;
const KIND_SHIFT: u32 = SLOT_BITS + GENERATION_BITS;
const REQUEST_BIT: usize = 1 << 30;

/// Freed slots that wait before one is used again.
const REST: usize = 64;

/// The kinds of objects that have handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Comm = 1,
    Group,
    Datatype,
    Op,
    Info,
    Errhandler,
    Message,
    Win,
    File,
    Session,
    Request,
}

impl Kind {
    const TABLED: [Self; 10] = [
        Self::Comm,
        Self::Group,
        Self::Datatype,
        Self::Op,
        Self::Info,
        Self::Errhandler,
        Self::Message,
        Self::Win,
        Self::File,
        Self::Session,
    ];

    /// The object in words, with its article.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Comm => "a communicator",
            Self::Group => "a group",
            Self::Datatype => "a datatype",
            Self::Op => "a reduction operation",
            Self::Info => "an info object",
            Self::Errhandler => "an error handler",
            Self::Message => "a message of a matched probe",
            Self::Win => "a window",
            Self::File => "a file",
            Self::Session => "a session",
            Self::Request => "a request",
        }
    }

    /// Name of the null handle, and its value.
    fn null(self) -> (&'static str, usize) {
        match self {
            Self::Comm => ("MPI_COMM_NULL", 0x100),
            Self::Group => ("MPI_GROUP_NULL", 0x108),
            Self::Datatype => ("MPI_DATATYPE_NULL", 0x200),
            Self::Op => ("MPI_OP_NULL", 0x20),
            Self::Info => ("MPI_INFO_NULL", 0x130),
            Self::Errhandler => ("MPI_ERRHANDLER_NULL", 0x140),
            Self::Message => ("MPI_MESSAGE_NULL", 0x128),
            Self::Win => ("MPI_WIN_NULL", 0x110),
            Self::File => ("MPI_FILE_NULL", 0x118),
            Self::Session => ("MPI_SESSION_NULL", 0x120),
            Self::Request => ("MPI_REQUEST_NULL", 0x180),
        }
    }

    /// Error class of a bad handle of this kind.
    pub(crate) fn class(self) -> ErrorClass {
        match self {
            Self::Comm => ErrorClass::Comm,
            Self::Group => ErrorClass::Group,
            Self::Datatype => ErrorClass::Type,
            Self::Op => ErrorClass::Op,
            Self::Info => ErrorClass::Info,
            Self::Errhandler => ErrorClass::Errhandler,
            Self::Message | Self::Request => ErrorClass::Request,
            Self::Win => ErrorClass::Win,
            Self::File => ErrorClass::File,
            Self::Session => ErrorClass::Session,
        }
    }

    /// The kind a handle claims to be, by its number alone.
    fn claimed(handle: usize) -> Option<Self> {
        match handle {
            0x20..=0x3f => Some(Self::Op),
            0x100..=0x107 => Some(Self::Comm),
            0x108..=0x10f => Some(Self::Group),
            0x110..=0x117 => Some(Self::Win),
            0x118..=0x11f => Some(Self::File),
            0x120..=0x127 => Some(Self::Session),
            0x128..=0x12f => Some(Self::Message),
            0x130..=0x137 => Some(Self::Info),
            0x140..=0x147 => Some(Self::Errhandler),
            0x180 => Some(Self::Request),
            0x200..=0x2ff => Some(Self::Datatype),
            _ if handle < FIRST_USER_HANDLE || handle > i32::MAX as usize => None,
            _ if handle & REQUEST_BIT != 0 => Some(Self::Request),
            _ => Self::TABLED.into_iter().find(|kind| *kind as usize == handle >> KIND_SHIFT),
        }
    }
}

/// The error of a handle that names no object of `kind`.
#[cold]
pub(crate) fn invalid(kind: Kind, argument: &'static str, handle: usize) -> Error {
    let (null, value) = kind.null();
    let got = if handle == value {
        null.to_string()
    } else {
        match Kind::claimed(handle) {
            Some(claimed) if claimed == kind && handle >= FIRST_USER_HANDLE => {
                format!("{handle:#x} ({} that was freed)", kind.noun())
            }
            Some(claimed) if claimed == kind => format!("{handle:#x} (predefined or reserved)"),
            Some(claimed) => format!("{handle:#x} ({})", claimed.noun()),
            _ => format!("{handle:#x} (no handle of this library)"),
        }
    };
    Error::invalid(kind.class(), argument, got, kind.noun())
}

/// The user's objects of one kind.
pub(crate) struct Table<T> {
    kind: Kind,
    slots: RwLock<Slots<Arc<T>>>,
}

/// Places for objects, or for what points to them.
struct Slots<P> {
    entries: Vec<Entry<P>>,
    free: VecDeque<u32>,
}

struct Entry<P> {
    generation: usize,
    object: Option<P>,
}

impl<P> Slots<P> {
    const fn new() -> Self {
        Self { entries: Vec::new(), free: VecDeque::new() }
    }

    /// Takes a place for an object, which may come later; its handle.
    fn place(&mut self, kind: Kind, object: Option<P>) -> Result<usize> {
        let full = self.entries.len() >= 1 << SLOT_BITS;
        let slot = match self.free.pop_front_if_rested(full) {
            Some(slot) => slot as usize,
            None if full => return Err(too_many(kind)),
            None => {
                self.entries.push(Entry { generation: 0, object: None });
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[slot];
        entry.object = object;
        Ok((kind as usize) << KIND_SHIFT | entry.generation << SLOT_BITS | slot)
    }

    fn get(&self, kind: Kind, handle: usize) -> Option<&P> {
        let (slot, generation) = split(kind, handle)?;
        self.entries.get(slot).filter(|entry| entry.generation == generation)?.object.as_ref()
    }

    fn get_mut(&mut self, kind: Kind, handle: usize) -> Option<&mut P> {
        let (slot, generation) = split(kind, handle)?;
        self.entries.get_mut(slot).filter(|entry| entry.generation == generation)?.object.as_mut()
    }

    /// Takes the object out; its handle is stale from now on.
    fn remove(&mut self, kind: Kind, handle: usize) -> Option<P> {
        let (slot, generation) = split(kind, handle)?;
        let entry = self.entries.get_mut(slot).filter(|entry| entry.generation == generation)?;
        let object = entry.object.take()?;
        entry.generation = (entry.generation + 1) % (1 << GENERATION_BITS);
        self.free.push_back(slot as u32);
        Some(object)
    }
}

/// Slot and generation of a handle of this kind.
#[inline]
fn split(kind: Kind, handle: usize) -> Option<(usize, usize)> {
    let ours = handle >> KIND_SHIFT == kind as usize;
    ours.then_some((handle & ((1 << SLOT_BITS) - 1), handle >> SLOT_BITS & ((1 << GENERATION_BITS) - 1)))
}

/// The user's objects of a kind that one call makes and another one takes back, and nobody uses in between.
pub(crate) struct Deposit<T> {
    kind: Kind,
    slots: Mutex<Slots<T>>,
}

impl<T> Deposit<T> {
    /// An empty one.
    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind, slots: Mutex::new(Slots::new()) }
    }

    /// Stores an object and returns its handle.
    pub(crate) fn insert(&self, object: T) -> Result<usize> {
        self.slots().place(self.kind, Some(object))
    }

    /// What `take` makes of the object with this handle. Unless that is an error, the object is gone and its handle is
    /// stale from now on.
    pub(crate) fn consume<R>(
        &self,
        argument: &'static str,
        handle: usize,
        take: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let mut slots = self.slots();
        let object = slots.get_mut(self.kind, handle);
        let taken = take(object.ok_or_else(|| invalid(self.kind, argument, handle))?)?;
        slots.remove(self.kind, handle);
        Ok(taken)
    }

    /// What `look` takes from the object with this handle.
    pub(crate) fn look<R>(&self, handle: usize, look: impl FnOnce(&T) -> R) -> Option<R> {
        self.slots().get(self.kind, handle).map(look)
    }

    fn slots(&self) -> MutexGuard<'_, Slots<T>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Table<T> {
    /// An empty table.
    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind, slots: RwLock::new(Slots::new()) }
    }

    /// Stores an object and returns its handle.
    pub(crate) fn insert(&self, object: Arc<T>) -> Result<usize> {
        self.place(Some(object))
    }

    fn place(&self, object: Option<Arc<T>>) -> Result<usize> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner).place(self.kind, object)
    }

    /// The object with this handle.
    #[inline]
    pub(crate) fn get(&self, argument: &'static str, handle: usize) -> Result<Arc<T>> {
        self.peek(handle).ok_or_else(|| invalid(self.kind, argument, handle))
    }

    /// The object with this handle, if there is one.
    #[inline]
    pub(crate) fn peek(&self, handle: usize) -> Option<Arc<T>> {
        self.look(handle, Arc::clone)
    }

    /// What `look` takes from the object with this handle, which stays locked meanwhile.
    #[inline]
    pub(crate) fn look<R>(&self, handle: usize, look: impl FnOnce(&Arc<T>) -> R) -> Option<R> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).get(self.kind, handle).map(look)
    }

    /// Takes the object out; its handle is stale from now on.
    pub(crate) fn remove(&self, argument: &'static str, handle: usize) -> Result<Arc<T>> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        slots.remove(self.kind, handle).ok_or_else(|| invalid(self.kind, argument, handle))
    }

    /// The handle of the first object that `is_it` recognises.
    pub(crate) fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let found =
            slots.entries.iter().enumerate().find(|(_, entry)| entry.object.as_deref().is_some_and(&is_it));
        found.map(|(slot, entry)| (self.kind as usize) << KIND_SHIFT | entry.generation << SLOT_BITS | slot)
    }

    /// A handle whose object comes later; until then it finds nothing.
    pub(crate) fn reserve(&self) -> Result<usize> {
        self.place(None)
    }

    /// Stores the object of a handle that was reserved.
    pub(crate) fn fill(&self, handle: usize, object: Arc<T>) {
        if let Some((slot, generation)) = split(self.kind, handle) {
            let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(entry) = slots.entries.get_mut(slot).filter(|entry| entry.generation == generation) {
                entry.object = Some(object);
            }
        }
    }

    /// How many objects there are now.
    pub(crate) fn len(&self) -> usize {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.entries.len() - slots.free.len()
    }
}

trait RestingQueue {
    fn pop_front_if_rested(&mut self, anyhow: bool) -> Option<u32>;
}

impl RestingQueue for VecDeque<u32> {
    fn pop_front_if_rested(&mut self, anyhow: bool) -> Option<u32> {
        if anyhow || self.len() > REST { self.pop_front() } else { None }
    }
}

#[cold]
fn too_many(kind: Kind) -> Error {
    let text = format!("{} more cannot be made: {} exist and were not freed", kind.noun(), 1 << SLOT_BITS);
    Error::other(ErrorClass::NoMem, text)
}

/// The handle of a request, from the number below 2^30 that the engine's table gave it.
#[inline]
pub(crate) fn of_request(number: u32) -> usize {
    REQUEST_BIT | number as usize
}

/// That number again; `None` if the handle cannot be a request's. The engine knows whether it exists.
#[inline]
pub(crate) fn to_request(handle: usize) -> Option<u32> {
    (handle >> 30 == 1).then_some((handle & (REQUEST_BIT - 1)) as u32)
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {:?}", self.len(), self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_handle_finds_nothing_even_after_its_slot_was_used_again() {
        let table = Table::new(Kind::Comm);
        let first = table.insert(Arc::new(0)).unwrap();
        assert!(first >= FIRST_USER_HANDLE && first <= i32::MAX as usize);
        assert_eq!(*table.get("comm", first).unwrap(), 0);
        table.remove("comm", first).unwrap();
        for i in 0..20 * REST {
            let handle = table.insert(Arc::new(i)).unwrap();
            assert_ne!(handle, first);
            assert!(table.peek(first).is_none());
            table.remove("comm", handle).unwrap();
        }
        assert!(table.remove("comm", first).is_err());
        assert_eq!(table.len(), 0);
        assert!(table.slots.read().unwrap().entries.len() <= REST + 2, "slots are used again");
    }

    #[test]
    fn any_number_finds_an_object_or_nothing() {
        let table = Table::new(Kind::Datatype);
        let handle = table.insert(Arc::new(())).unwrap();
        for garbage in (0..5000).chain([usize::MAX, 1 << 31, handle + 1, handle | 1 << 40, !handle]) {
            assert!(table.peek(garbage).is_none(), "{garbage:#x}");
        }
    }

    #[test]
    fn a_bad_handle_is_explained() {
        let say = |handle| invalid(Kind::Comm, "comm", handle).to_string();
        assert_eq!(say(0x100), "comm is MPI_COMM_NULL, expected a communicator");
        assert_eq!(say(0x209), "comm is 0x209 (a datatype), expected a communicator");
        assert_eq!(
            say(0x00de_adbe_ef00),
            "comm is 0xdeadbeef00 (no handle of this library), expected a communicator"
        );
        assert_eq!(say(0), "comm is 0x0 (no handle of this library), expected a communicator");
        assert_eq!(
            say(1 << KIND_SHIFT),
            "comm is 0x4000000 (a communicator that was freed), expected a communicator"
        );
        assert_eq!(invalid(Kind::Datatype, "datatype", 3).class(), ErrorClass::Type);
    }

    #[test]
    fn request_handles_come_back_as_they_were() {
        for number in [1 << 20, 0x3fff_ffff] {
            let handle = of_request(number);
            assert!(handle >= FIRST_USER_HANDLE && handle <= i32::MAX as usize);
            assert_eq!(to_request(handle), Some(number));
        }
        assert_eq!(to_request(0x180), None);
        assert_eq!(to_request(usize::MAX), None);
    }
}
