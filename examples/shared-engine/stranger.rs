//! A program with an allocator of its own: nobody can share its engine, for one would free what the other has allocated.
//! `stranger LIBRARY` calls `MPI_Init` of the C library beside its own engine; `stranger LIBRARY first` does so before.

mod loaded;

use std::alloc::{GlobalAlloc, Layout, System};

use loaded::Loaded;

/// C's allocator, but each block begins behind a head.
struct Headed;

const HEAD: usize = 64;

fn headed(layout: Layout) -> Layout {
    Layout::from_size_align(layout.size() + HEAD, layout.align().max(HEAD)).expect("a size that memory has")
}

// SAFETY: a block with its head comes from the system's allocator, and goes back there from where it began.
unsafe impl GlobalAlloc for Headed {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        let block = unsafe { System.alloc(headed(layout)) };
        if block.is_null() { block } else { block.wrapping_add(HEAD) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: it was made above.
        unsafe { System.dealloc(block.wrapping_sub(HEAD), headed(layout)) }
    }
}

#[global_allocator]
static ALLOCATOR: Headed = Headed;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let library = Loaded::new(&arguments[0]);
    if arguments.len() > 1 {
        assert_eq!(library.mpi_init(), 0, "MPI_Init comes first");
        println!("{}", posthaste::init().expect_err("another copy has an engine"));
    } else {
        let _universe = posthaste::init().expect("an engine of its own");
        // The error handler before MPI_Init ends the program.
        library.mpi_init();
        println!("MPI_Init has succeeded");
    }
}
