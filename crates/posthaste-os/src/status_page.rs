//! A status page: a few KiB of shared words on which one rank writes and anybody reads, without the rank's help.
//!
//! It is reached through [`crate::node::Node::status_page`]. A sequence lock: the writer makes the number odd, writes, and
//! makes it even again; a reader takes what it has read only if the number was the same even one before and after.
//! Nobody waits for the other side, so a rank that is stopped or killed while it writes costs a reader nothing but the
//! text.
//!
//! What must stay true: one writer at a time (the rank's VCI is locked); a text is read whole or not at all.

use std::sync::atomic::Ordering;

use crate::memory::AtomicU64;

/// Words in front of the text: the number, the length.
const FRONT: usize = 2;
/// How often a reader tries before it gives up on a writer that does not get ahead.
const TRIES: usize = if cfg!(loom) { 2 } else { 1000 };

/// The words of one status page.
#[derive(Clone, Copy, Debug)]
pub struct StatusPage<'a> {
    words: &'a [AtomicU64],
}

impl<'a> StatusPage<'a> {
    /// A status page on these words, at least three; zeros are an empty status page.
    pub fn over(words: &'a [AtomicU64]) -> Self {
        Self { words }
    }

    /// Longest text, in bytes.
    pub fn room(&self) -> usize {
        (self.words.len() - FRONT) * 8
    }

    /// Writes a text in place of the one before; what does not fit is cut off. Only the owner writes.
    pub fn write(&self, text: &[u8]) {
        let text = &text[..text.len().min(self.room())];
        let number = self.words[0].load(Ordering::Relaxed);
        self.words[0].store(number | 1, Ordering::Relaxed);
        // SYNC: each of these pairs with the Acquire load in `try_read`: whoever reads a new word sees the odd number.
        self.words[1].store(text.len() as u64, Ordering::Release);
        for (word, bytes) in self.words[FRONT..].iter().zip(text.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(eight), Ordering::Release);
        }
        // SYNC: pairs with the first load in `try_read`: whoever sees the even number sees the whole text.
        self.words[0].store((number | 1).wrapping_add(1), Ordering::Release);
    }

    /// Takes the text off. Only the owner does.
    pub fn wipe(&self) {
        self.write(&[]);
    }

    /// The text, empty when there is none; `None` while the owner is caught in the middle of writing.
    pub fn read(&self) -> Option<Vec<u8>> {
        (0..TRIES).find_map(|_| {
            let text = self.try_read();
            if text.is_none() {
                std::hint::spin_loop();
            }
            text
        })
    }

    fn try_read(&self) -> Option<Vec<u8>> {
        let number = self.words[0].load(Ordering::Acquire);
        if number & 1 == 1 {
            return None;
        }
        let len =
            usize::try_from(self.words[1].load(Ordering::Acquire)).ok().filter(|len| *len <= self.room())?;
        let used = &self.words[FRONT..FRONT + len.div_ceil(8)];
        let mut text: Vec<u8> =
            used.iter().flat_map(|word| word.load(Ordering::Acquire).to_le_bytes()).collect();
        text.truncate(len);
        (self.words[0].load(Ordering::Relaxed) == number).then_some(text)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn words(count: usize) -> Vec<AtomicU64> {
        (0..count).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn texts_come_back_whole_and_long_ones_are_cut() {
        let words = words(4);
        let status_page = StatusPage::over(&words);
        assert_eq!(status_page.read(), Some(vec![]));
        for text in [&b"a"[..], b"eight by", b"nine byte", b""] {
            status_page.write(text);
            assert_eq!(status_page.read().as_deref(), Some(text));
        }
        status_page.write(b"seventeen bytes..");
        assert_eq!(status_page.read().as_deref(), Some(&b"seventeen bytes."[..]));
        status_page.wipe();
        assert_eq!(status_page.read(), Some(vec![]));
    }

    #[test]
    fn a_writer_that_stopped_halfway_and_a_wrong_length_give_nothing() {
        let words = words(4);
        let status_page = StatusPage::over(&words);
        status_page.write(b"text");
        words[0].fetch_add(1, Ordering::Relaxed);
        assert_eq!(status_page.read(), None);
        status_page.write(b"more");
        assert_eq!(status_page.read().as_deref(), Some(&b"more"[..]));
        words[1].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(status_page.read(), None);
    }

    #[test]
    fn a_reader_never_sees_parts_of_two_texts() {
        let words = words(66);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..20_000u32 {
                    StatusPage::over(&words).write(&vec![round as u8; (round % 500) as usize]);
                }
                over.store(true, Ordering::Release);
            });
            while !over.load(Ordering::Acquire) {
                if let Some(text) = StatusPage::over(&words).read() {
                    assert!(text.windows(2).all(|pair| pair[0] == pair[1]), "{text:?}");
                }
            }
        });
    }
}
