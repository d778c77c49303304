//! The table by which debuggers find the processes of a job: the MPIR Process Acquisition Interface, version 1.0, §4 and §5.
//!
//! A debugger reads variables of a launcher that are called so, in a launcher that it has started or attached to; it needs
//! their types. What must stay true: the table is in rank order, and whole whenever its size is not 0; the variables are in
//! a program that calls [`process_table!`](crate::process_table), and in no library.
//!
//! Statics of Rust would not do: a debugger finds them under the names of their modules only, and optimised programs are built
//! without types. So the variables and their description (DWARF 4) are written out. The description is in a part of
//! its own of each section, behind what the compiler writes there.

use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// A process as debuggers are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The host that it runs on, as the user calls it.
    pub host: String,
    /// The path of its program there.
    pub executable: String,
    /// Its number there.
    pub pid: i32,
}

/// `MPIR_PROCDESC`, of 24 bytes.
#[derive(Debug)]
#[repr(C)]
pub struct Entry {
    host_name: *const c_char,
    executable_name: *const c_char,
    pid: c_int,
}

/// The processes have been started: `MPIR_DEBUG_SPAWNED`.
const SPAWNED: i32 = 1;
/// They are being ended, and there is a text that says why: `MPIR_DEBUG_ABORTING`.
const ABORTING: i32 = 2;

/// The variables of this program that debuggers read.
#[derive(Debug)]
pub struct ProcessTable {
    entries: &'static AtomicPtr<Entry>,
    size: &'static AtomicI32,
    state: &'static AtomicI32,
    why: &'static AtomicPtr<c_char>,
    breakpoint: extern "C" fn(),
    texts: Mutex<Vec<CString>>,
    why_text: Mutex<CString>,
}

impl ProcessTable {
    #[doc(hidden)]
    pub fn new(
        entries: &'static AtomicPtr<Entry>,
        size: &'static AtomicI32,
        state: &'static AtomicI32,
        why: &'static AtomicPtr<c_char>,
        breakpoint: extern "C" fn(),
    ) -> Self {
        Self { entries, size, state, why, breakpoint, texts: Mutex::default(), why_text: Mutex::default() }
    }

    /// Says which processes there are, in the order of their ranks. The first time a debugger that has started this program
    /// stops it here.
    pub fn publish(&self, processes: &[Process]) {
        let mut texts: Vec<CString> = Vec::with_capacity(2 * processes.len());
        let mut entries = Vec::with_capacity(processes.len());
        for process in processes {
            let (host, executable) = (text(&process.host), text(&process.executable));
            entries.push(Entry {
                host_name: host.as_ptr(),
                executable_name: executable.as_ptr(),
                pid: process.pid,
            });
            texts.extend([host, executable]);
        }
        let mut kept = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.size.swap(0, Ordering::Relaxed);
        let entries = Box::leak(entries.into_boxed_slice());
        let old = self.entries.swap(entries.as_mut_ptr(), Ordering::Relaxed);
        self.size.store(entries.len() as i32, Ordering::Relaxed);
        *kept = texts;
        if !old.is_null() {
            let old = ptr::slice_from_raw_parts_mut(old, usize::try_from(before).unwrap_or(0));
            // SAFETY: `entries` and `size` are written here alone, under the lock; so this is the slice that was leaked here
            // the last time, and nobody else in this process refers to it.
            drop(unsafe { Box::from_raw(old) });
        }
        if self.state.compare_exchange(0, SPAWNED, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            (self.breakpoint)();
        }
    }

    /// Says that the processes are being ended, and why. The first time a debugger stops this program here.
    pub fn aborts(&self, why: &str) {
        let mut kept = self.why_text.lock().unwrap_or_else(PoisonError::into_inner);
        let why = text(why);
        self.why.store(why.as_ptr().cast_mut(), Ordering::Relaxed);
        *kept = why;
        if self.state.swap(ABORTING, Ordering::Relaxed) != ABORTING {
            (self.breakpoint)();
        }
    }
}

fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Defines the variables in the program that calls this at its top level, and a static of this name that writes them.
#[macro_export]
macro_rules! process_table {
    ($name:ident) => {
        std::arch::global_asm!(
            r#"
            .macro mpir_variable name, size
            .globl \name
            .type \name, @object
            .size \name, \size
            \name: .zero \size
            .endm
            .pushsection .data.mpir, "aw", @progbits
            .balign 8
            mpir_variable MPIR_proctable, 8
            mpir_variable MPIR_debug_abort_string, 8
            mpir_variable MPIR_proctable_size, 4
            mpir_variable MPIR_debug_state, 4
            mpir_variable MPIR_being_debugged, 4
            mpir_variable MPIR_i_am_starter, 4
            mpir_variable MPIR_partial_attach_ok, 4
            .popsection
            .pushsection .text.mpir, "ax", @progbits
            .balign 16
            .globl MPIR_Breakpoint
            .type MPIR_Breakpoint, @function
            MPIR_Breakpoint: ret
            .Lmpir_after:
            .size MPIR_Breakpoint, . - MPIR_Breakpoint
            .popsection

            // The kinds of entries: number, tag, whether others follow inside, then pairs of attribute and form.
            .pushsection .debug_abbrev, "", @progbits
            .subsection 1
            .Lmpir_kinds:
            .byte 1, 0x11, 1, 0x03, 0x08, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x06, 0, 0 // unit: name, language, start, length
            .byte 2, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0 // base type: name, size, encoding
            .byte 3, 0x0f, 0, 0x0b, 0x0b, 0x49, 0x13, 0, 0 // pointer: size, type
            .byte 4, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0 // structure: name, size
            .byte 5, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0 // member: name, type, place
            .byte 6, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x3f, 0x19, 0x02, 0x18, 0, 0 // variable: name, type, external, place
            .byte 7, 0x2e, 0, 0x03, 0x08, 0x3f, 0x19, 0x11, 0x01, 0x12, 0x06, 0, 0 // function: name, external, start, length
            .byte 0
            .popsection

            .macro mpir_member name, type, place
            .byte 5
            .asciz "\name"
            .long .Lmpir_\type - .Lmpir_unit
            .byte \place
            .endm
            .macro mpir_described name, type
            .byte 6
            .asciz "\name"
            .long .Lmpir_\type - .Lmpir_unit
            .byte 9, 3
            .quad \name
            .endm
            .pushsection .debug_info, "", @progbits
            .subsection 1
            .Lmpir_unit:
            .long .Lmpir_end - .Lmpir_version
            .Lmpir_version:
            .short 4
            .long .Lmpir_kinds
            .byte 8
            .byte 1
            .asciz "MPIR"
            .byte 0x0c // C
            .quad MPIR_Breakpoint
            .long .Lmpir_after - MPIR_Breakpoint
            .Lmpir_char:
            .byte 2
            .asciz "char"
            .byte 1, 6
            .Lmpir_int:
            .byte 2
            .asciz "int"
            .byte 4, 5
            .Lmpir_text:
            .byte 3, 8
            .long .Lmpir_char - .Lmpir_unit
            .Lmpir_entry:
            .byte 4
            .asciz "MPIR_PROCDESC"
            .byte 24
            mpir_member host_name, text, 0
            mpir_member executable_name, text, 8
            mpir_member pid, int, 16
            .byte 0
            .Lmpir_table:
            .byte 3, 8
            .long .Lmpir_entry - .Lmpir_unit
            mpir_described MPIR_proctable, table
            mpir_described MPIR_proctable_size, int
            mpir_described MPIR_debug_state, int
            mpir_described MPIR_debug_abort_string, text
            mpir_described MPIR_being_debugged, int
            mpir_described MPIR_i_am_starter, int
            mpir_described MPIR_partial_attach_ok, int
            .byte 7
            .asciz "MPIR_Breakpoint"
            .quad MPIR_Breakpoint
            .long .Lmpir_after - MPIR_Breakpoint
            .byte 0
            .Lmpir_end:
            .popsection
            "#
        );

        // SAFETY: these are the symbols above, of these sizes, all zero at first, which is a value of each type; only
        // `ProcessTable` and a debugger write there.
        unsafe extern "C" {
            safe static MPIR_proctable: std::sync::atomic::AtomicPtr<$crate::debugger::Entry>;
            safe static MPIR_proctable_size: std::sync::atomic::AtomicI32;
            safe static MPIR_debug_state: std::sync::atomic::AtomicI32;
            safe static MPIR_debug_abort_string: std::sync::atomic::AtomicPtr<std::ffi::c_char>;
            safe fn MPIR_Breakpoint();
        }

        static $name: std::sync::LazyLock<$crate::debugger::ProcessTable> = std::sync::LazyLock::new(|| {
            $crate::debugger::ProcessTable::new(
                &MPIR_proctable,
                &MPIR_proctable_size,
                &MPIR_debug_state,
                &MPIR_debug_abort_string,
                MPIR_Breakpoint,
            )
        });
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;
    use std::sync::atomic::AtomicUsize;

    static STOPS: AtomicUsize = AtomicUsize::new(0);
    static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());
    static SIZE: AtomicI32 = AtomicI32::new(0);
    static STATE: AtomicI32 = AtomicI32::new(0);
    static WHY: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

    extern "C" fn stop() {
        match STATE.load(Ordering::Relaxed) {
            SPAWNED => assert_eq!(SIZE.load(Ordering::Relaxed), 1),
            state => assert_eq!((state, why().as_str()), (ABORTING, "rank 0 is gone")),
        }
        STOPS.fetch_add(1, Ordering::Relaxed);
    }

    fn why() -> String {
        // SAFETY: what a debugger relies on: a text of C is there once the state says so.
        unsafe { CStr::from_ptr(WHY.load(Ordering::Relaxed)) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_debugger_finds_the_processes_and_stops_once() {
        assert_eq!(size_of::<Entry>(), 24);
        let table = ProcessTable::new(&ENTRIES, &SIZE, &STATE, &WHY, stop);
        let process = |pid: i32| Process { host: format!("h{pid}"), executable: "/bin/a".into(), pid };
        for processes in [vec![process(1)], vec![process(2), process(3)], vec![]] {
            table.publish(&processes);
            let entries = ENTRIES.load(Ordering::Relaxed);
            let size = SIZE.load(Ordering::Relaxed) as usize;
            // SAFETY: what a debugger relies on: so many entries are there, with texts of C.
            let found = unsafe { std::slice::from_raw_parts(entries, size) }.iter().map(|entry| unsafe {
                let text = |text| CStr::from_ptr(text).to_str().unwrap().to_owned();
                Process {
                    host: text(entry.host_name),
                    executable: text(entry.executable_name),
                    pid: entry.pid,
                }
            });
            assert_eq!(found.collect::<Vec<_>>(), processes);
        }
        assert_eq!(STOPS.load(Ordering::Relaxed), 1);
        for reason in ["rank 0 is gone", "no: rank 1 was the first"] {
            table.aborts(reason);
            assert_eq!(why(), reason);
        }
        table.publish(&[]);
        assert_eq!((STATE.load(Ordering::Relaxed), STOPS.load(Ordering::Relaxed)), (ABORTING, 2));
    }
}
