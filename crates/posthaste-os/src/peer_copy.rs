//! Reading and writing another process's memory in one copy (process_vm_readv, process_vm_writev), and the live probe
//! that says whether the system lets us.
//!
//! Containers, seccomp filters and ptrace rules forbid it in ways that no file shows reliably, so each pair of ranks is
//! tried once with known bytes.

use std::io;

/// The word every rank keeps in its memory for its peers to read. Of several copies of this code in a process, that of the one
/// which opens the engine is read.
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
    // SAFETY: handed on to the caller.
    unsafe { copy(libc::process_vm_readv, pid, remote, local) }
}

/// Copies the local runs (address, length), in order, to `remote` in process `pid`. Returns the number of bytes copied,
/// which is short only when the remote memory ends.
///
/// # Errors
/// As [`read`].
///
/// # Safety
/// Nobody may write the local runs meanwhile, and process `pid` must have lent us its memory from `remote` on for as
/// many bytes (it matters where `pid` is this very process).
pub unsafe fn write(pid: u32, remote: u64, local: &[(usize, usize)]) -> io::Result<usize> {
    // SAFETY: handed on to the caller.
    unsafe { copy(libc::process_vm_writev, pid, remote, local) }
}

/// One of the two system calls.
type Call = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

/// # Safety
/// As for [`read`] or [`write`], whichever is called.
unsafe fn copy(call: Call, pid: u32, remote: u64, local: &[(usize, usize)]) -> io::Result<usize> {
    // The kernel takes at most IOV_MAX (1024) pieces a call; some on the stack keep this path free of malloc.
    const PIECES: usize = 256;
    let mut copied = 0usize;
    for runs in local.chunks(PIECES) {
        let mut pieces = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; PIECES];
        let mut wanted = 0usize;
        for (piece, (address, len)) in pieces.iter_mut().zip(runs) {
            *piece = libc::iovec { iov_base: *address as *mut libc::c_void, iov_len: *len };
            wanted += len;
        }
        let from = (remote as usize).wrapping_add(copied) as *mut libc::c_void;
        let other = libc::iovec { iov_base: from, iov_len: wanted };
        let (count, pid) = (runs.len() as libc::c_ulong, pid as libc::pid_t);
        // SAFETY: the local pieces are as this function's contract says; the kernel checks the other side.
        let n = unsafe { call(pid, pieces.as_ptr(), count, &other, 1, 0) };
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

    #[test]
    fn runs_are_gathered_and_scattered() {
        let pid = std::process::id();
        let mut from: Vec<u8> = (0..=255).cycle().take(4000).collect();
        let mut middle = vec![0u8; 2000];
        let mut to = vec![0u8; 4000];
        let runs = |base: *mut u8| (0..400).map(|i| (base as usize + 10 * i, 5)).collect::<Vec<_>>();
        // SAFETY: all three are alive and ours, and the runs lie inside them.
        unsafe {
            let gathered = write(pid, middle.as_mut_ptr() as u64, &runs(from.as_mut_ptr()));
            assert_eq!(gathered.unwrap(), 2000);
            assert_eq!(read(pid, middle.as_ptr() as u64, &runs(to.as_mut_ptr())).unwrap(), 2000);
            assert!(write(pid, 8, &runs(from.as_mut_ptr())).is_err());
        }
        for (at, (from, to)) in from.iter().zip(&to).enumerate() {
            assert_eq!(*to, if at % 10 < 5 { *from } else { 0 });
        }
    }
}
