//! Info objects: hints as an ordered list of keys and values (MPI-5.0 chapter 10).
//!
//! Keys and values are bytes, because C strings need not be text (a path may be a value).
//!
//! What must stay true: keys keep the order in which they were first set.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorClass, Result};

/// Longest key, in bytes; a C program needs one more.
pub const MAX_KEY: usize = 255;
/// Longest value, in bytes; a C program needs one more.
pub const MAX_VALUE: usize = 1023;

/// An info object. Threads may share it.
#[derive(Debug, Default)]
pub struct Info {
    pairs: Mutex<Vec<Pair>>,
}

#[derive(Clone, Debug)]
struct Pair {
    key: Box<[u8]>,
    value: Box<[u8]>,
}

impl Info {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key, replacing the value it had.
    ///
    /// # Errors
    /// A key that is empty or too long, a value that is too long.
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key(key)?;
        if value.len() > MAX_VALUE {
            let got = format_args!("{} bytes long", value.len());
            let expected = format_args!("at most {MAX_VALUE} bytes");
            return Err(Error::invalid(ErrorClass::InfoValue, "value", got, expected));
        }
        let mut pairs = self.pairs();
        match pairs.iter_mut().find(|pair| *pair.key == *key) {
            Some(pair) => pair.value = value.into(),
            None => pairs.push(Pair { key: key.into(), value: value.into() }),
        }
        Ok(())
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.pairs().iter().find(|pair| *pair.key == *key).map(|pair| pair.value.to_vec())
    }

    /// Removes a key.
    ///
    /// # Errors
    /// A key that is not there.
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        check_key(key)?;
        let mut pairs = self.pairs();
        match pairs.iter().position(|pair| *pair.key == *key) {
            Some(at) => {
                pairs.remove(at);
                Ok(())
            }
            None => {
                let got = format_args!("\"{}\"", String::from_utf8_lossy(key));
                Err(Error::invalid(ErrorClass::InfoNokey, "key", got, "a key that has been set"))
            }
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.pairs().len()
    }

    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Key number `n`, counted from 0.
    ///
    /// # Errors
    /// A number that no key has.
    pub fn nth_key(&self, n: i32) -> Result<Vec<u8>> {
        let pairs = self.pairs();
        let pair = usize::try_from(n).ok().and_then(|n| pairs.get(n));
        pair.map(|pair| pair.key.to_vec()).ok_or_else(|| {
            let expected = format_args!("a number below {}, the number of keys", pairs.len());
            Error::invalid(ErrorClass::Arg, "n", n, expected)
        })
    }

    /// All keys and values as text; bytes that are not UTF-8 are replaced.
    pub fn texts(&self) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.pairs().iter().map(|pair| (text(&pair.key), text(&pair.value))).collect()
    }

    /// Takes over all keys of another object.
    pub fn set_all(&self, other: &Self) {
        let theirs = other.pairs().clone();
        let mut pairs = self.pairs();
        for pair in theirs {
            match pairs.iter_mut().find(|own| own.key == pair.key) {
                Some(own) => own.value = pair.value,
                None => pairs.push(pair),
            }
        }
    }

    fn pairs(&self) -> MutexGuard<'_, Vec<Pair>> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Info {
    /// An independent object with the same keys (`MPI_Info_dup`).
    fn clone(&self) -> Self {
        Self { pairs: Mutex::new(self.pairs().clone()) }
    }
}

fn check_key(key: &[u8]) -> Result<()> {
    if (1..=MAX_KEY).contains(&key.len()) {
        return Ok(());
    }
    let got = format_args!("{} bytes long", key.len());
    Err(Error::invalid(ErrorClass::InfoKey, "key", got, format_args!("1..={MAX_KEY} bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_copies_are_independent() {
        let info = Info::new();
        for (key, value) in [("b", "1"), ("a", "2"), ("c", ""), ("b", "3")] {
            info.set(key.as_bytes(), value.as_bytes()).unwrap();
        }
        let copy = info.clone();
        info.delete(b"a").unwrap();
        assert_eq!(info.get(b"b").unwrap(), b"3");
        assert_eq!(info.get(b"c").unwrap(), b"");
        assert_eq!(info.get(b"a"), None);
        assert_eq!((0..2).map(|n| info.nth_key(n).unwrap()).collect::<Vec<_>>(), [b"b", b"c"]);
        assert_eq!((copy.len(), copy.nth_key(1).unwrap()), (3, b"a".to_vec()));
        info.set_all(&copy);
        assert_eq!(info.nth_key(2).unwrap(), b"a");
        assert!(!info.is_empty());
    }

    #[test]
    fn limits_are_errors() {
        let info = Info::new();
        assert!(info.set(&[b'k'; MAX_KEY], &[b'v'; MAX_VALUE]).is_ok());
        assert_eq!(info.set(&[b'k'; MAX_KEY + 1], b"").unwrap_err().class(), ErrorClass::InfoKey);
        assert_eq!(info.set(b"", b"").unwrap_err().class(), ErrorClass::InfoKey);
        assert_eq!(info.set(b"k", &[0; MAX_VALUE + 1]).unwrap_err().class(), ErrorClass::InfoValue);
        assert_eq!(info.delete(b"gone").unwrap_err().class(), ErrorClass::InfoNokey);
        assert_eq!(info.nth_key(1).unwrap_err().class(), ErrorClass::Arg);
        assert_eq!(info.nth_key(-1).unwrap_err().class(), ErrorClass::Arg);
    }
}
