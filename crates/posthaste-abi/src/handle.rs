//! The numbers of the program's objects, out of which a face makes handles and back (MPI-5.0 §2.5.1).
//!
//! There is one [`Table`] for each kind of object. A number has 31 bits, so that a handle can be an `int`; handles of
//! predefined objects give numbers that are in no table:
//!
//! ```text
//! request        1 | 30 bits that the engine's request table made
//! other objects  0 | kind: 4 bits, not 0 | generation: 7 bits, not 0 | slot: 19 bits
//! ```
//!
//! What must stay true: a number finds its object or nothing, whatever it is. A freed slot rests until
//! [`REST`] others have been freed after it, so a stale handle is taken for a new object only after thousands
//! of allocations.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants;
use crate::abi::types::{MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_Op};
use crate::mapping::types;

const SLOT_BITS: u32 = 19;
const GENERATION_BITS: u32 = 7;
const KIND_SHIFT: u32 = SLOT_BITS + GENERATION_BITS;
/// Generations are 1 to this; without one the numbers are a face's own, for predefined objects.
const GENERATIONS: usize = (1 << GENERATION_BITS) - 1;
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

    /// Name of the null handle, and its number.
    fn null(self) -> (&'static str, usize) {
        match self {
            Self::Comm => ("MPI_COMM_NULL", constants::MPI_COMM_NULL.number()),
            Self::Group => ("MPI_GROUP_NULL", constants::MPI_GROUP_NULL.number()),
            Self::Datatype => ("MPI_DATATYPE_NULL", constants::MPI_DATATYPE_NULL.number()),
            Self::Op => ("MPI_OP_NULL", constants::MPI_OP_NULL.number()),
            Self::Info => ("MPI_INFO_NULL", constants::MPI_INFO_NULL.number()),
            Self::Errhandler => ("MPI_ERRHANDLER_NULL", constants::MPI_ERRHANDLER_NULL.number()),
            Self::Message => ("MPI_MESSAGE_NULL", constants::MPI_MESSAGE_NULL.number()),
            Self::Win => ("MPI_WIN_NULL", constants::MPI_WIN_NULL.number()),
            Self::File => ("MPI_FILE_NULL", constants::MPI_FILE_NULL.number()),
            Self::Session => ("MPI_SESSION_NULL", constants::MPI_SESSION_NULL.number()),
            Self::Request => ("MPI_REQUEST_NULL", constants::MPI_REQUEST_NULL.number()),
        }
    }

    /// Whether a predefined object of this kind has this number.
    fn has_predefined(self, number: usize) -> bool {
        match self {
            Self::Comm => {
                [constants::MPI_COMM_WORLD, constants::MPI_COMM_SELF].map(MPI_Comm::number).contains(&number)
            }
            Self::Group => constants::MPI_GROUP_EMPTY.number() == number,
            Self::Datatype => types::named(MPI_Datatype::numbered(number)).is_some(),
            Self::Op => types::operation(MPI_Op::numbered(number)).is_some(),
            Self::Info => constants::MPI_INFO_ENV.number() == number,
            Self::Errhandler => {
                [constants::MPI_ERRORS_ARE_FATAL, constants::MPI_ERRORS_ABORT, constants::MPI_ERRORS_RETURN]
                    .map(MPI_Errhandler::number)
                    .contains(&number)
            }
            Self::Message => constants::MPI_MESSAGE_NO_PROC.number() == number,
            Self::Win | Self::File | Self::Session | Self::Request => false,
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

    /// The kind of an object of the program that this could be or have been the number of.
    fn claimed(number: usize) -> Option<Self> {
        match number {
            _ if number > i32::MAX as usize => None,
            _ if number & REQUEST_BIT != 0 => Some(Self::Request),
            _ => Self::TABLED.into_iter().find(|kind| *kind as usize == number >> KIND_SHIFT),
        }
    }

    /// The kind of the predefined object or null handle with this number.
    fn predefined(number: usize) -> Option<Self> {
        // 0 is the null of kinds whose handles are addresses, and says nothing of others.
        let is_of = |kind: &Self| number != 0 && (kind.null().1 == number || kind.has_predefined(number));
        Self::TABLED.into_iter().chain([Self::Request]).find(is_of)
    }
}

/// The error of a handle, known by its number, that names no object of `kind`.
#[cold]
pub(crate) fn invalid(kind: Kind, argument: &'static str, number: usize) -> Error {
    let (null, of_null) = kind.null();
    let handle = MPI_Comm::numbered(number); // written as all handles are
    let got = if number == of_null {
        null.to_string()
    } else {
        match (Kind::claimed(number), Kind::predefined(number)) {
            (Some(claimed), _) if claimed == kind => format!("{handle:#x} ({} that was freed)", kind.noun()),
            (_, Some(predefined)) if predefined == kind => format!("{handle:#x} (predefined)"),
            (Some(claimed), _) | (None, Some(claimed)) => format!("{handle:#x} ({})", claimed.noun()),
            (None, None) => format!("{handle:#x} (no handle of this library)"),
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
                self.entries.push(Entry { generation: 1, object: None });
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
        self.get(kind, handle)?;
        self.release(kind, handle)
    }

    /// The same where the object may not have come yet.
    fn release(&mut self, kind: Kind, handle: usize) -> Option<P> {
        let (slot, generation) = split(kind, handle)?;
        let entry = self.entries.get_mut(slot).filter(|entry| entry.generation == generation)?;
        entry.generation = entry.generation % GENERATIONS + 1;
        self.free.push_back(slot as u32);
        entry.object.take()
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

    /// Gives a handle back that was reserved and whose object will not come; it is stale from now on.
    pub(crate) fn release(&self, handle: usize) {
        self.slots.write().unwrap_or_else(PoisonError::into_inner).release(self.kind, handle);
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

/// Whether this could be the number of an object of that kind that the program has made.
#[inline]
pub(crate) fn is_of(kind: Kind, number: usize) -> bool {
    Kind::claimed(number) == Some(kind)
}

/// Whether this is no number of an object that the program has made: what has it, if anything, stays as it is. Faces write predefined
/// objects above the 31 bits, or without a generation. Of requests nobody asks.
#[inline]
pub(crate) fn is_lasting(number: usize) -> bool {
    number >> 31 != 0 || (number >> SLOT_BITS) & GENERATIONS == 0
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
        assert!(first >> KIND_SHIFT == Kind::Comm as usize && first <= i32::MAX as usize);
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
    fn what_is_predefined_lasts_and_what_a_program_makes_does_not() {
        let datatypes =
            [constants::MPI_INT, constants::MPI_DOUBLE, constants::MPI_FLOAT_INT, constants::MPI_2INT];
        assert!(datatypes.iter().all(|datatype| is_lasting(datatype.number())));
        assert!([constants::MPI_SUM, constants::MPI_MAXLOC].iter().all(|op| is_lasting(op.number())));
        for kind in [Kind::Datatype, Kind::Op] {
            let table = Table::new(kind);
            for at in 0..1000 {
                let number = table.insert(Arc::new(at)).unwrap();
                assert!(!is_lasting(number), "{number:x}");
                if at % 3 == 0 {
                    table.remove("object", number).unwrap();
                }
            }
        }
    }

    #[test]
    fn a_handle_whose_object_never_comes_is_used_again() {
        let table = Table::<()>::new(Kind::Comm);
        for _ in 0..20 * REST {
            let handle = table.reserve().unwrap();
            assert!(table.peek(handle).is_none() && table.remove("comm", handle).is_err());
            table.release(handle);
            table.fill(handle, Arc::new(()));
            assert!(table.peek(handle).is_none(), "stale");
        }
        assert_eq!(table.len(), 0);
        assert!(table.slots.read().unwrap().entries.len() <= REST + 2, "slots are used again");
    }

    #[test]
    fn any_number_finds_an_object_or_nothing() {
        let table = Table::new(Kind::Datatype);
        let handle = table.insert(Arc::new(())).unwrap();
        for one in posthaste_core::named::Named::ALL {
            assert!(table.peek(types::handle(one).number()).is_none(), "{one:?}");
        }
        for garbage in (0..5000).chain([usize::MAX, 1 << 31, handle + 1, handle | 1 << 40, !handle]) {
            assert!(table.peek(garbage).is_none(), "{garbage:#x}");
        }
    }

    #[test]
    fn a_bad_handle_is_explained() {
        let say = |number| invalid(Kind::Comm, "comm", number).to_string();
        let shown = |number, what| {
            format!("comm is {:#x} ({what}), expected a communicator", MPI_Comm::numbered(number))
        };
        assert_eq!(say(constants::MPI_COMM_NULL.number()), "comm is MPI_COMM_NULL, expected a communicator");
        for (number, what) in [
            (constants::MPI_INT.number(), "a datatype"),
            (constants::MPI_SUM.number(), "a reduction operation"),
            (constants::MPI_COMM_WORLD.number(), "predefined"),
            (of_request(5), "a request"),
            (1 << KIND_SHIFT, "a communicator that was freed"),
            (2 << KIND_SHIFT, "a group"),
            (0, "no handle of this library"),
            (usize::MAX, "no handle of this library"),
        ] {
            assert_eq!(say(number), shown(number, what));
        }
        assert_eq!(invalid(Kind::Datatype, "datatype", 3).class(), ErrorClass::Type);
    }

    #[test]
    fn request_handles_come_back_as_they_were() {
        for number in [1 << 20, 0x3fff_ffff] {
            let handle = of_request(number);
            assert!(handle >> 30 == 1 && handle <= i32::MAX as usize);
            assert_eq!(to_request(handle), Some(number));
        }
        assert_eq!(to_request(constants::MPI_REQUEST_NULL.number()), None);
        assert_eq!(to_request(usize::MAX), None);
    }
}
