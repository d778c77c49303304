//! Texts: of Fortran with a length and blanks behind, of C with a null byte behind (MPI-5.0 §19.1).

use crate::argument::Address;

/// A text as C has it, without the blanks behind it.
///
/// # Safety
/// There are `len` characters.
pub(crate) unsafe fn text(from: *const u8, len: usize) -> Vec<u8> {
    // SAFETY: as promised.
    let letters = unsafe { letters(from, len) };
    let mut text = Vec::with_capacity(letters.len() + 1);
    text.extend_from_slice(letters);
    text.push(0);
    text
}

/// A key or value of an info object, a command or an argument of one, which also lose the blanks in front (§10, §11.8.2).
///
/// # Safety
/// As of [`text`].
pub(crate) unsafe fn stripped(from: *const u8, len: usize) -> Vec<u8> {
    // SAFETY: as promised.
    let mut text = unsafe { text(from, len) };
    let blanks = text.iter().take_while(|&&letter| letter == b' ').count();
    text.drain(..blanks);
    text
}

/// The characters without the blanks behind them.
///
/// # Safety
/// They are there as long as the caller says.
pub(crate) unsafe fn letters<'a>(from: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: as promised.
    let all = unsafe { std::slice::from_raw_parts(from, len) };
    let end = all.iter().rposition(|&letter| letter != b' ').map_or(0, |last| last + 1);
    &all[..end]
}

/// No text has this byte: C has written nothing.
const UNTOUCHED: u8 = 0xff;

/// Room for a text that C writes, for a variable of Fortran that gets it when this is dropped.
pub(crate) struct Room {
    bytes: Vec<u8>,
    to: *mut u8,
    len: usize,
}

/// Room for `most` bytes with the null byte.
///
/// # Safety
/// There are `len` characters until it is dropped.
pub(crate) unsafe fn room(most: usize, to: *mut u8, len: usize) -> Room {
    let mut bytes = vec![0; most.max(1)];
    bytes[0] = UNTOUCHED;
    Room { bytes, to, len }
}

impl Room {
    pub(crate) fn address(&mut self) -> Address {
        self.bytes.as_mut_ptr().cast()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bytes[0] == UNTOUCHED {
            return;
        }
        let text = self.bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        // SAFETY: whoever made this promised it.
        unsafe { fill(text, self.to, self.len) };
    }
}

/// Writes a text and blanks behind it; what is too long is cut.
///
/// # Safety
/// There are `len` characters.
pub(crate) unsafe fn fill(text: &[u8], to: *mut u8, len: usize) {
    for at in 0..len {
        // SAFETY: as promised.
        unsafe { *to.add(at) = text.get(at).copied().unwrap_or(b' ') };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_go_and_come() {
        let from = b"  two words  ";
        // SAFETY: they are there.
        unsafe {
            assert_eq!(text(from.as_ptr(), from.len()), b"  two words\0");
            assert_eq!(stripped(from.as_ptr(), from.len()), b"two words\0");
            assert_eq!(text(from.as_ptr(), 2), b"\0");
            assert_eq!(text(std::ptr::null(), 0), b"\0");
        }
        let mut to = *b"xxxxxx";
        // SAFETY: as above, and `to` outlives the rooms.
        unsafe {
            drop(room(8, to.as_mut_ptr(), 6));
            assert_eq!(&to, b"xxxxxx");
            let mut small = room(8, to.as_mut_ptr(), 6);
            small.bytes[..4].copy_from_slice(b"abc\0");
            drop(small);
            assert_eq!(&to, b"abc   ");
            fill(b"too long", to.as_mut_ptr(), 3);
        }
        assert_eq!(&to, b"too   ");
    }
}
