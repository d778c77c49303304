//! Attributes: values that users hang on communicators, datatypes and windows under keys of their own
//! (MPI-5.0 §7.7).
//!
//! What must stay true: no lock of ours is held while a callback runs, so a callback may use attributes itself;
//! a key that was freed lives on in the values set under it; a number that names no key finds nothing. Several API layers may
//! hang values on one object, each with keys of its own table and its own names for the object, so what concerns all
//! values of an object concerns those of one table.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorClass};

/// An attribute's value: an address or an integer of the user.
pub type Value = usize;

/// Asked when an object is duplicated: handle of the old object, value. The answer is the value of the copy, or
/// `None` for no copy; an error is the code that the user's function returned.
pub type Copy = dyn Fn(usize, Value) -> Result<Option<Value>, i32> + Send + Sync;

/// Called before a value goes: handle of the object, value. An error is the code that the user's function returned.
pub type Delete = dyn Fn(usize, Value) -> Result<(), i32> + Send + Sync;

/// What keys belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Communicators.
    Comm,
    /// Datatypes.
    Type,
    /// Windows.
    Win,
}

/// A key.
pub struct Keyval {
    kind: Kind,
    number: i32,
    /// Address of the table that made it.
    table: usize,
    copy: Box<Copy>,
    delete: Box<Delete>,
}

impl Keyval {
    /// The number by which users name it.
    pub fn number(&self) -> i32 {
        self.number
    }

    /// What it belongs to.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Debug for Keyval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keyval {} of {:?}", self.number, self.kind)
    }
}

/// All keys of an API layer, at one address as long as there are any. A number is `2^30 | generation (15 bits) | slot (15
/// bits)`, so it is none of the predefined ones.
#[derive(Debug, Default)]
pub struct Keyvals {
    slots: Mutex<Vec<Slot>>,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    keyval: Option<Arc<Keyval>>,
}

const SLOT_BITS: u32 = 15;
const GENERATION_BITS: u32 = 13;
/// The highest bit that the number of a key has, and every key has it.
pub const KEYVAL_MARK: i32 = 1 << (SLOT_BITS + GENERATION_BITS);

impl Keyvals {
    /// No keys.
    pub const fn new() -> Self {
        Self { slots: Mutex::new(Vec::new()) }
    }

    /// Makes a key.
    ///
    /// # Errors
    /// When there are 32768 already.
    pub fn create(&self, kind: Kind, copy: Box<Copy>, delete: Box<Delete>) -> Result<Arc<Keyval>, Error> {
        let mut slots = self.slots();
        let free = slots.iter().position(|slot| slot.keyval.is_none());
        let at = match free {
            Some(at) => at,
            None if slots.len() == 1 << SLOT_BITS => {
                return Err(Error::no_memory(format!(
                    "{} attribute keys exist and were not freed",
                    slots.len()
                )));
            }
            None => {
                slots.push(Slot::default());
                slots.len() - 1
            }
        };
        let number = KEYVAL_MARK | ((slots[at].generation << SLOT_BITS) as i32) | at as i32;
        let keyval = Arc::new(Keyval { kind, number, table: self.address(), copy, delete });
        slots[at].keyval = Some(keyval.clone());
        Ok(keyval)
    }

    /// The key with this number.
    ///
    /// # Errors
    /// A number that names no key of that kind.
    pub fn get(&self, kind: Kind, number: i32) -> Result<Arc<Keyval>, Error> {
        let slots = self.slots();
        let found = slots.get(slot_of(number)).and_then(|slot| slot.keyval.as_ref());
        found
            .filter(|keyval| keyval.number == number && keyval.kind == kind)
            .cloned()
            .ok_or_else(|| wrong(kind, number))
    }

    /// Frees a key: its number is stale from now on; values set under it stay and keep their callbacks.
    ///
    /// # Errors
    /// As [`Keyvals::get`].
    pub fn free(&self, kind: Kind, number: i32) -> Result<(), Error> {
        let keyval = self.get(kind, number)?;
        let mut slots = self.slots();
        let slot = &mut slots[slot_of(keyval.number)];
        if slot.keyval.take().is_none() {
            return Err(wrong(kind, number));
        }
        slot.generation = (slot.generation + 1) & ((1 << GENERATION_BITS) - 1);
        drop(slots);
        Ok(())
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn slot_of(number: i32) -> usize {
    if !(KEYVAL_MARK..2 * KEYVAL_MARK).contains(&number) {
        usize::MAX
    } else {
        (number & ((1 << SLOT_BITS) - 1)) as usize
    }
}

#[cold]
fn wrong(kind: Kind, number: i32) -> Error {
    let expected = match kind {
        Kind::Comm => "a key made by MPI_Comm_create_keyval and not freed",
        Kind::Type => "a key made by MPI_Type_create_keyval and not freed",
        Kind::Win => "a key made by MPI_Win_create_keyval and not freed",
    };
    Error::invalid(ErrorClass::Keyval, "keyval", number, expected)
}

/// Why an attribute operation failed: the user's callback answered with this error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub i32);

/// The attributes of one object.
#[derive(Debug, Default)]
pub struct Attributes {
    /// In the order in which the keys were first set.
    entries: Mutex<Vec<(Arc<Keyval>, Value)>>,
}

impl Attributes {
    /// The value under a key.
    pub fn get(&self, keyval: &Arc<Keyval>) -> Option<Value> {
        self.entries().iter().find(|(key, _)| Arc::ptr_eq(key, keyval)).map(|(_, value)| *value)
    }

    /// Sets a value; the one before is deleted first.
    ///
    /// # Errors
    /// When the delete callback refuses; then nothing has changed.
    pub fn set(&self, object: usize, keyval: &Arc<Keyval>, value: Value) -> Result<(), Refused> {
        if let Some(old) = self.get(keyval) {
            (keyval.delete)(object, old).map_err(Refused)?;
        }
        let mut entries = self.entries();
        match entries.iter_mut().find(|(key, _)| Arc::ptr_eq(key, keyval)) {
            Some((_, old)) => *old = value,
            None => entries.push((keyval.clone(), value)),
        }
        Ok(())
    }

    /// Deletes the value under a key. Returns whether there was one.
    ///
    /// # Errors
    /// When the delete callback refuses; then nothing has changed.
    pub fn delete(&self, object: usize, keyval: &Arc<Keyval>) -> Result<bool, Refused> {
        let Some(old) = self.get(keyval) else { return Ok(false) };
        (keyval.delete)(object, old).map_err(Refused)?;
        self.entries().retain(|(key, _)| !Arc::ptr_eq(key, keyval));
        Ok(true)
    }

    /// The attributes under these keys of a duplicate of `object`, as the copy callbacks want them.
    ///
    /// # Errors
    /// When a callback refuses. What was copied before is deleted again, as from an object with the handle
    /// `copy`.
    pub fn copied(&self, keys: &Keyvals, object: usize, copy: usize) -> Result<Self, Refused> {
        let entries = self.entries().clone();
        let copies = Self::default();
        for (keyval, value) in entries.into_iter().filter(|(key, _)| key.table == keys.address()) {
            match (keyval.copy)(object, value) {
                Ok(Some(value)) => copies.entries().push((keyval, value)),
                Ok(None) => {}
                Err(code) => {
                    // The first refusal is the one that counts.
                    let _ = copies.delete_all(keys, copy);
                    return Err(Refused(code));
                }
            }
        }
        Ok(copies)
    }

    /// Takes over the attributes of a fresh object that nobody has seen yet.
    pub fn replace(&self, with: Self) {
        let theirs = std::mem::take(&mut *with.entries());
        *self.entries() = theirs;
    }

    /// Deletes all values under these keys, the one set last first (MPI-5.0 §11.2.4 wants that order at the end of
    /// `MPI_COMM_SELF`), also those that callbacks set meanwhile.
    ///
    /// # Errors
    /// When a delete callback refuses; its value and those set earlier stay.
    pub fn delete_all(&self, keys: &Keyvals, object: usize) -> Result<(), Refused> {
        loop {
            let last = self.entries().iter().rfind(|(key, _)| key.table == keys.address()).cloned();
            let Some((keyval, value)) = last else { return Ok(()) };
            (keyval.delete)(object, value).map_err(Refused)?;
            self.entries().retain(|(key, _)| !Arc::ptr_eq(key, &keyval));
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn entries(&self) -> MutexGuard<'_, Vec<(Arc<Keyval>, Value)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Log = Arc<Mutex<Vec<(usize, Value)>>>;

    fn keyval(keys: &Keyvals, log: &Log) -> Arc<Keyval> {
        let log = log.clone();
        let copy = |_, value| if value == 13 { Err(99) } else { Ok((value != 7).then_some(value + 1)) };
        let delete = move |object, value| {
            log.lock().unwrap().push((object, value));
            if value == 666 { Err(77) } else { Ok(()) }
        };
        keys.create(Kind::Comm, Box::new(copy), Box::new(delete)).unwrap()
    }

    #[test]
    fn values_are_set_replaced_copied_and_deleted() {
        let (keys, log) = (Keyvals::new(), Log::default());
        let [a, b, c] = [(); 3].map(|()| keyval(&keys, &log));
        let attributes = Attributes::default();
        for (key, value) in [(&a, 1), (&b, 7), (&c, 3), (&a, 5)] {
            attributes.set(100, key, value).unwrap();
        }
        assert_eq!(log.lock().unwrap().drain(..).collect::<Vec<_>>(), [(100, 1)]);
        let copy = attributes.copied(&keys, 100, 200).unwrap();
        assert_eq!([&a, &b, &c].map(|key| copy.get(key)), [Some(6), None, Some(4)]);
        assert!(attributes.delete(100, &b).unwrap() && !attributes.delete(100, &b).unwrap());
        attributes.delete_all(&keys, 100).unwrap();
        assert_eq!(*log.lock().unwrap(), [(100, 7), (100, 3), (100, 5)]);
        assert!(attributes.is_empty() && copy.len() == 2);
    }

    #[test]
    fn values_of_another_api_layer_are_neither_copied_nor_deleted() {
        let (ours, theirs, log) = (Keyvals::new(), Keyvals::new(), Log::default());
        let [key, other] = [&ours, &theirs].map(|keys| keyval(keys, &log));
        assert_eq!(key.number(), other.number(), "numbers alone do not tell them apart");
        let attributes = Attributes::default();
        attributes.set(1, &key, 3).unwrap();
        attributes.set(501, &other, 13).unwrap();
        let copy = attributes.copied(&ours, 1, 2).unwrap();
        assert_eq!((copy.get(&key), copy.len()), (Some(4), 1));
        attributes.delete_all(&ours, 1).unwrap();
        assert_eq!((attributes.get(&key), attributes.get(&other)), (None, Some(13)));
        assert_eq!(*log.lock().unwrap(), [(1, 3)]);
        attributes.delete_all(&theirs, 501).unwrap();
        assert_eq!(*log.lock().unwrap(), [(1, 3), (501, 13)]);
    }

    #[test]
    fn refusals_change_nothing() {
        let (keys, log) = (Keyvals::new(), Log::default());
        let (a, b) = (keyval(&keys, &log), keyval(&keys, &log));
        let attributes = Attributes::default();
        attributes.set(1, &a, 666).unwrap();
        attributes.set(1, &b, 13).unwrap();
        assert_eq!(attributes.set(1, &a, 2), Err(Refused(77)));
        assert_eq!(attributes.delete(1, &a), Err(Refused(77)));
        assert_eq!(attributes.get(&a), Some(666));
        assert_eq!(attributes.copied(&keys, 1, 2).unwrap_err(), Refused(99));
        assert_eq!(log.lock().unwrap().last(), Some(&(2, 667)));
        assert_eq!(attributes.delete_all(&keys, 1), Err(Refused(77)));
        assert_eq!(attributes.len(), 1);
    }

    #[test]
    fn a_callback_may_use_the_attributes_itself() {
        let keys = Keyvals::new();
        let attributes = Arc::new(Attributes::default());
        let inner = Arc::downgrade(&attributes);
        let delete = move |_, _| {
            assert_eq!(inner.upgrade().unwrap().len(), 1);
            Ok(())
        };
        let key = keys.create(Kind::Type, Box::new(|_, _| Ok(None)), Box::new(delete)).unwrap();
        attributes.set(0, &key, 1).unwrap();
        attributes.delete_all(&keys, 0).unwrap();
    }

    #[test]
    fn freed_and_forged_keys_find_nothing_but_values_stay() {
        let (keys, log) = (Keyvals::new(), Log::default());
        let key = keyval(&keys, &log);
        let attributes = Attributes::default();
        attributes.set(1, &key, 5).unwrap();
        keys.free(Kind::Comm, key.number()).unwrap();
        assert!(keys.free(Kind::Comm, key.number()).is_err());
        let other = keyval(&keys, &log);
        assert_ne!(other.number(), key.number());
        assert!(attributes.get(&other).is_none());
        for number in [key.number(), 0, -1, 501, i32::MAX, i32::MIN, other.number() + 1] {
            assert!(keys.get(Kind::Comm, number).is_err(), "{number}");
        }
        assert!(keys.get(Kind::Win, other.number()).is_err());
        attributes.delete_all(&keys, 1).unwrap();
        assert_eq!(*log.lock().unwrap(), [(1, 5)]);
    }
}
