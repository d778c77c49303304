//! One function under several names, as in `posthaste-fortran`; and names that only MPICH's library has, which lead to the
//! others.

#[path = "../../posthaste-fortran/src/export.rs"]
mod together;

pub(crate) use together::export;

/// `elsewhere! { "mpi_send" "MPI_SEND" }`: these names lead to the one with an underscore behind, which may be that of a tool,
/// with whatever arguments there are.
macro_rules! elsewhere {
    ($($plain:literal $capital:literal)*) => {$(
        const _: () = {
            unsafe extern "C" {
                #[link_name = concat!($plain, "_")]
                fn routine();
            }
            $crate::export::leads! { $plain routine }
            $crate::export::leads! { $capital routine }
        };
    )*};
}

macro_rules! leads {
    ($name:literal $to:ident) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn leads() {
                #[cfg(target_arch = "x86_64")]
        std::arch::naked_asm!("jmp {}", sym $to);
                #[cfg(target_arch = "aarch64")]
        std::arch::naked_asm!("b {}", sym $to);
            }
        };
    };
}

pub(crate) use {elsewhere, leads};
