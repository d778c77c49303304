//! The addresses of this host's network interfaces.
//!
//! What must stay true: only what the kernel has configured is listed; no name is looked up.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One address of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// The interface is up and its link works.
    pub running: bool,
}

/// All addresses of all interfaces, in the kernel's order.
///
/// # Errors
/// What the system said.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `first` is a place for the list, which is freed below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut at = first;
    while !at.is_null() {
        // SAFETY: a node of the list, which lives until it is freed below.
        let node = unsafe { &*at };
        at = node.ifa_next;
        // SAFETY: the list's addresses are null or socket addresses of the family that they name.
        let Some(address) = (unsafe { address(node.ifa_addr) }) else { continue };
        // SAFETY: the name is a C string of the list.
        let name = unsafe { CStr::from_ptr(node.ifa_name) }.to_string_lossy().into_owned();
        let works = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        found.push(Interface { name, address, running: node.ifa_flags & works == works });
    }
    // SAFETY: the list from above, freed once.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// # Safety
/// `at` is null or points to a socket address of the family that it names.
unsafe fn address(at: *const libc::sockaddr) -> Option<IpAddr> {
    if at.is_null() {
        return None;
    }
    // SAFETY: every socket address begins with its family (the caller); the family says what follows.
    unsafe {
        match i32::from((*at).sa_family) {
            libc::AF_INET => {
                let bits = (*at.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                Some(Ipv4Addr::from(bits.to_ne_bytes()).into())
            }
            libc::AF_INET6 => {
                Some(Ipv6Addr::from((*at.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}
