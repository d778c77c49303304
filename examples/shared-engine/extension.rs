//! A shared object that sends messages by the `posthaste` crate, for programs in any language: with a program that uses the C
//! library, or has the crate linked in, it shares one engine, whichever of them comes first.
//!
//! Each function gives -1 when something fails, which it says on standard error. All are called on one
//! thread, which need not be that of the others who share the engine if it was opened for several.

use std::cell::RefCell;
use std::ffi::c_int;

use posthaste::{Result, Universe};

thread_local! {
    static UNIVERSE: RefCell<Option<Universe>> = const { RefCell::new(None) };
}

fn code_of(result: Result<c_int>) -> c_int {
    result.unwrap_or_else(|why| {
        eprintln!("extension: {why}");
        -1
    })
}

/// Does something with the share that is open.
fn with(what: impl FnOnce(&Universe) -> Result<c_int>) -> c_int {
    UNIVERSE.with_borrow(|universe| universe.as_ref().map_or(-1, |universe| code_of(what(universe))))
}

/// Takes a share of the engine.
#[unsafe(no_mangle)]
pub extern "C" fn extension_open() -> c_int {
    code_of(posthaste::init().map(|universe| {
        UNIVERSE.set(Some(universe));
        0
    }))
}

/// The rank of this process.
#[unsafe(no_mangle)]
pub extern "C" fn extension_rank() -> c_int {
    with(|universe| Ok(universe.world().rank() as c_int))
}

/// Sends a number.
#[unsafe(no_mangle)]
pub extern "C" fn extension_send(number: c_int, to: c_int) -> c_int {
    with(|universe| universe.world().send(&[number], to as usize, 7).map(|()| 0))
}

/// Receives a number, which is 0 or more.
#[unsafe(no_mangle)]
pub extern "C" fn extension_receive(from: c_int) -> c_int {
    with(|universe| {
        let mut number = [0];
        universe.world().receive(&mut number, from as usize, 7)?;
        Ok(number[0])
    })
}

/// Receives so many numbers under tag 8 from a rank and sends each back under tag 9.
#[unsafe(no_mangle)]
pub extern "C" fn extension_echo(rank: c_int, rounds: c_int) -> c_int {
    with(|universe| {
        let world = universe.world();
        for _ in 0..rounds {
            let mut number = [0];
            world.receive(&mut number, rank as usize, 8)?;
            world.send(&number, rank as usize, 9)?;
        }
        Ok(0)
    })
}

/// Gives the share back.
#[unsafe(no_mangle)]
pub extern "C" fn extension_close() -> c_int {
    UNIVERSE.take().map_or(-1, |universe| code_of(universe.finalize().map(|()| 0)))
}
