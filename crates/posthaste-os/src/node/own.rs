//! Bounce buffers that pairs of ranks have to themselves, behind the VCIs of the node segment.
//!
//! What must stay true: places for them are made before anybody else attaches the segment; one is taken for good, by the sender
//! of its pair, which reserves its memory, and only the two of the pair map it.

use super::*;

/// An own bounce buffer, mapped.
#[derive(Debug)]
pub(crate) struct OwnBuffer {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: as for `Mapping`: words are reached as atomics, payload by the protocol of `pool`.
unsafe impl Send for OwnBuffer {}
// SAFETY: as above.
unsafe impl Sync for OwnBuffer {}

impl OwnBuffer {
    /// Where its control lines are.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }
}

impl Drop for OwnBuffer {
    fn drop(&mut self) {
        // SAFETY: address and length are those of the successful `mmap` in `Node::own_buffer`; views hold this value.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

impl Node {
    /// The same segment with places for `count` own bounce buffers of `bytes` bytes each (whole pages), before anybody else
    /// attaches it. Fewer where a limit on the size of files says so, and none where the system refuses them.
    #[must_use]
    pub fn with_own_buffers(self, bytes: usize, count: usize) -> Self {
        let mut layout = self.map.layout;
        layout.own_buffer_bytes = bytes.next_multiple_of(PAGE);
        layout.own_buffers = count;
        while layout.file() as u64 > file_size_limit() {
            layout.own_buffers /= 2;
            if layout.own_buffers == 0 {
                return self;
            }
        }
        let resize = |bytes: usize| {
            let fd = self.as_fd().try_clone_to_owned()?;
            std::fs::File::from(fd.try_clone()?).set_len(bytes as u64).map(|()| fd)
        };
        match resize(layout.file()).and_then(|fd| Self::map(fd, layout)) {
            Ok(larger) => {
                self.word32(OWN_BUFFER_BYTES).store(layout.own_buffer_bytes as u32, Ordering::Relaxed);
                self.word32(OWN_BUFFERS).store(layout.own_buffers as u32, Ordering::Relaxed);
                larger
            }
            Err(_) => {
                // Who attaches it compares the length with what the header says.
                let _ = resize(self.map.layout.file());
                self
            }
        }
    }

    /// Bytes of an own bounce buffer; 0 where there are none.
    pub fn own_buffer_bytes(&self) -> usize {
        self.map.layout.own_buffer_bytes
    }

    /// Number of own bounce buffers that there may be.
    pub fn own_buffers(&self) -> usize {
        self.map.layout.own_buffers
    }

    /// Takes an own bounce buffer, for good, and reserves so many bytes of it; `None` when there is none or the system has no
    /// memory.
    pub(crate) fn take_own_buffer(&self, bytes: usize) -> Option<usize> {
        let (layout, taken) = (&self.map.layout, self.word32(OWN_TAKEN));
        let number = taken.load(Ordering::Relaxed) as usize;
        if number >= layout.own_buffers {
            return None;
        }
        let number = taken.fetch_add(1, Ordering::Relaxed) as usize;
        if number >= layout.own_buffers {
            // Others were faster. The word stays below twice the number of ranks and buffers.
            return None;
        }
        let bytes = OWN_BUFFER_CONTROL + bytes.min(layout.own_buffer_bytes);
        allocate(self.as_fd(), layout.own_buffer_at(number), bytes).ok().map(|()| number)
    }

    /// Maps the own bounce buffer of this number, if it has been taken and the system lets us.
    pub(crate) fn own_buffer(&self, number: usize) -> Option<OwnBuffer> {
        let layout = &self.map.layout;
        let taken = self.word32(OWN_TAKEN).load(Ordering::Relaxed) as usize;
        if number >= taken.min(layout.own_buffers) {
            return None;
        }
        let bytes = OWN_BUFFER_CONTROL + layout.own_buffer_bytes;
        let at = layout.own_buffer_at(number) as libc::off_t;
        let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, self.as_fd().as_raw_fd());
        // SAFETY: a fresh shared mapping of a part of the file, at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd, at) };
        let base = if base == libc::MAP_FAILED { None } else { NonNull::new(base.cast()) };
        base.map(|base| OwnBuffer { base, bytes })
    }
}
