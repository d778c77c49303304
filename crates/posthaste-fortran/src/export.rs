//! One function under several names.

/// `export! { [names] (arguments) [-> result] { body } }`: of no names nothing is made.
macro_rules! export {
    ([] $($rest:tt)*) => {};
    ([$one:expr $(, $more:expr)*] $arguments:tt $result:tt $body:tt) => {
        const _: () = {
            $crate::export::export! { @ $one, first $arguments $result $body }
            $($crate::export::export! { @@ $more, $arguments $result })*
        };
    };
    (@ $one:expr, $name:ident ($($argument:ident: $ty:ty),*) [$($result:tt)*] $body:tt) => {
        #[unsafe(export_name = $one)]
        unsafe extern "C" fn $name($($argument: $ty),*) $($result)* $body
    };
    (@@ $more:expr, ($($argument:ident: $ty:ty),*) [$($result:tt)*]) => {
        const _: () = {
            #[unsafe(export_name = $more)]
            unsafe extern "C" fn second($($argument: $ty),*) $($result)* {
                // SAFETY: what the caller has promised for the one holds for the other.
                unsafe { first($($argument),*) }
            }
        };
    };
}

pub(crate) use export;
