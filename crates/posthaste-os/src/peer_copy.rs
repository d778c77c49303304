//! Reading another process's memory in one copy (process_vm_readv), and the live probe that says whether the
//! system lets us.
//!
//! Called by `core::method::shm`. Containers, seccomp filters and ptrace rules forbid it in ways that no file
//! tells reliably, so each pair of ranks is tried once with known bytes.

use std::io;

/// The word every rank keeps in its memory for its peers to read.
pub static PROBE: u64 = 0x706f_7374_6861_7374;

/// The system's answer when memory cannot be read or written.
pub const EFAULT: i32 = libc::EFAULT;

/// Address of [`PROBE`] in this process.
pub fn probe_address() -> u64 {
    (&raw const PROBE) as u64
}

/// Whether this process may read the memory of `pid`: the word at `address` there must be [`PROBE`].
pub fn probe(pid: u32, address: u64) -> bool {
    let mut word = 0u64;
    let local = [((&raw mut word) as usize, 8)];
    // SAFETY: the local range is `word`, alive and exclusively ours.
    matches!(unsafe { read(pid, address, &local) }, Ok(8)) && word == PROBE
}

/// Copies from `remote` in process `pid` into the local runs (address, length), in order. Returns the number of
/// bytes copied, which is short only when the remote memory ends.
///
/// # Errors
/// What the system said (EPERM, EFAULT, ESRCH, …).
///
/// # Safety
/// Every local run must be writable memory that nobody in this process holds a reference into.
pub unsafe fn read(pid: u32, remote: u64, local: &[(usize, usize)]) -> io::Result<usize> {
    let mut copied = 0usize;
    // The kernel takes at most IOV_MAX (1024) pieces a call; a few on the stack keep this path free of malloc.
    for runs in local.chunks(64) {
        let mut pieces = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; 64];
        let mut wanted = 0usize;
        for (piece, (address, len)) in pieces.iter_mut().zip(runs) {
            *piece = libc::iovec { iov_base: *address as *mut libc::c_void, iov_len: *len };
            wanted += len;
        }
        let from = libc::iovec { iov_base: (remote as usize + copied) as *mut libc::c_void, iov_len: wanted };
        // SAFETY: the local pieces are writable by this function's contract; the kernel checks the remote side.
        let n = unsafe {
            libc::process_vm_readv(pid as libc::pid_t, pieces.as_ptr(), runs.len() as u64, &from, 1, 0)
        };
        if n < 0 {
            return Err(io::Error::last_os_error());
        }
        copied += n as usize;
        if (n as usize) < wanted {
            break;
        }
    }
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_can_read_ourselves_and_a_wrong_address_is_noticed() {
        let pid = std::process::id();
        assert!(probe(pid, probe_address()));
        assert!(!probe(pid, 8));
        let other = [1u64];
        assert!(!probe(pid, other.as_ptr() as u64));
    }
}
