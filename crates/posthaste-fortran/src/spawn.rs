//! Commands and their arguments, which are arrays of texts that a blank one ends, all without the blanks around them (MPI-5.0
//! §11.8.2).

use std::ptr::null_mut;

use crate::argument::{
    Address, Few, Handle, Integer, handle, handles, is_no_argument, number, place, report,
};
use crate::c;
use crate::routine::routine;
use crate::text::{letters, stripped};

/// The texts of C, and the array of their addresses, with a null pointer behind them.
struct Texts {
    _texts: Vec<Vec<u8>>,
    addresses: Vec<*const u8>,
}

impl Texts {
    fn new(texts: Vec<Vec<u8>>) -> Self {
        let addresses = texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Self { _texts: texts, addresses }
    }

    fn address(&self) -> Address {
        self.addresses.as_ptr() as Address
    }
}

/// The texts at `first`, `first + step` …, up to a blank one.
///
/// # Safety
/// They are there, and have `len` characters.
unsafe fn up_to_blank(first: *const u8, step: usize, len: usize) -> Texts {
    let mut texts = Vec::new();
    let mut at = first;
    // SAFETY: as promised.
    unsafe {
        while !letters(at, len).is_empty() {
            texts.push(stripped(at, len));
            at = at.add(step * len);
        }
    }
    Texts::new(texts)
}

routine! {
    plain "comm_spawn" MPI_Comm_spawn PMPI_Comm_spawn,
    as call
    (command: *const u8, argv: *const u8, maxprocs: *const Integer, info: *const Integer, root: *const Integer,
        comm: *const Integer, intercomm: *mut Integer, array_of_errcodes: *mut Integer, ierror: *mut Integer,
        command_len: usize, argv_len: usize) {
        let c_command = stripped(command, command_len);
        let is_told = at_root(&1, *root, handle(comm)) == 1 && !is_no_argument(argv);
        let c_argv = is_told.then(|| up_to_blank(argv, 1, argv_len));
        let mut c_intercomm = handle(intercomm);
        let code = call(
            c_command.as_ptr() as Address,
            c_argv.as_ref().map_or(null_mut(), Texts::address),
            *maxprocs,
            handle(info),
            *root,
            handle(comm),
            (&raw mut c_intercomm).cast(),
            place(array_of_errcodes),
        );
        *intercomm = number(c_intercomm);
        report(ierror, code);
    }
}

/// The number of commands counts only at the root, as do their arguments.
unsafe fn at_root(count: *const Integer, root: Integer, comm: Handle) -> Integer {
    let mut rank: Integer = -1;
    // SAFETY: C writes the rank; the caller has an INTEGER.
    unsafe {
        c::PMPI_Comm_rank(comm, (&raw mut rank).cast());
        if rank == root { (*count).max(0) } else { 0 }
    }
}

routine! {
    plain "comm_spawn_multiple" MPI_Comm_spawn_multiple PMPI_Comm_spawn_multiple, as call
    (count: *const Integer, array_of_commands: *const u8, array_of_argv: *const u8, array_of_maxprocs: *const Integer,
        array_of_info: *const Integer, root: *const Integer, comm: *const Integer, intercomm: *mut Integer,
        array_of_errcodes: *mut Integer, ierror: *mut Integer, command_len: usize, argv_len: usize) {
        let n = at_root(count, *root, handle(comm));
        let command = |at| stripped(array_of_commands.add(at * command_len), command_len);
        let commands = Texts::new((0..n as usize).map(command).collect());
        let has_arguments = !is_no_argument(array_of_argv);
        let of_command = |at| up_to_blank(array_of_argv.add(at * argv_len), n as usize, argv_len);
        let texts: Vec<Texts> = (0..n as usize).filter(|_| has_arguments).map(of_command).collect();
        let c_argv: Vec<Address> = texts.iter().map(Texts::address).collect();
        let mut few = Few::new();
        let mut infos = handles(&mut few, array_of_info, n);
        let mut c_intercomm = handle(intercomm);
        let code = call(
            n,
            commands.address(),
            if has_arguments { c_argv.as_ptr() as Address } else { null_mut() },
            array_of_maxprocs as Address,
            infos.address(),
            *root,
            handle(comm),
            (&raw mut c_intercomm).cast(),
            place(array_of_errcodes),
        );
        *intercomm = number(c_intercomm);
        report(ierror, code);
    }
}
