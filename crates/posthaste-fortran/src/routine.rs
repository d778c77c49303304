//! How a routine of Fortran is defined: once, and exported under all its names (`names.rs`), for the C function of its name and
//! for the one with `P` in front.

/// `routine! { form "x" MPI_X PMPI_X, as call (arguments) { body } }`: the body calls the C function as `call`.
macro_rules! routine {
    ($form:ident $stem:literal $c:ident $pc:ident, as $call:ident $arguments:tt $body:tt) => {
        $crate::routine::routine! { @ $form "mpi_" "mpi_" $stem $c $call $arguments $body }
        $crate::routine::routine! { @ $form "pmpi_" "pmpir_" $stem $pc $call $arguments $body }
    };
    (@ $form:ident $start:literal $f08:literal $stem:literal $c:ident $call:ident
        ($($argument:ident: $ty:ty),* $(,)?) $body:tt) => {
        $crate::names::named! {
            $form $start $f08 $stem ($($argument: $ty),*) [] {
                let $call = $crate::c::$c;
                // SAFETY: the program passes what the interface of the routine says; the compiler has checked it where the
                // program uses a module.
                unsafe { $body }
            }
        }
    };
}

pub(crate) use routine;
