//! Checks of arguments that every face makes: counts, lengths, addresses (MPI-5.0 §3.2.2).
//!
//! What must stay true: a count is 0 or more and its bytes fit into 63 bits before the engine sees it.

use std::ops::Range;

use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error, ErrorClass, Result};

/// What an address of the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// NULL, which is `MPI_BOTTOM` as well.
    Null,
    /// `MPI_IN_PLACE`.
    InPlace,
    /// Any other.
    Some,
}

/// Addresses where no data can lie. NULL is right for types with absolute addresses (`MPI_BOTTOM`) only.
pub(crate) const NULL_PAGE: Range<i64> = 0..4096;

/// Checks that an array of `count` elements can lie at such an address.
#[inline(never)]
pub(crate) fn check_array(
    argument: &'static str,
    address: Address,
    count: u64,
    datatype: &Datatype,
) -> Result<()> {
    let has_data = count > 0 && datatype.size() > 0;
    if address == Address::Null && has_data && NULL_PAGE.contains(&datatype.true_lb()) {
        let got = format_args!("NULL for {count} elements of {}", datatype.name());
        return Err(Error::invalid(ErrorClass::Buffer, argument, got, "the address of a buffer"));
    }
    if address == Address::InPlace && has_data {
        return Err(Error::invalid(ErrorClass::Buffer, argument, "MPI_IN_PLACE", "the address of a buffer"));
    }
    let fits = i128::from(count) * i128::from(datatype.size().max(datatype.extent().unsigned_abs()));
    if fits > i128::from(i64::MAX) {
        let got = format_args!("{count} elements of {datatype:?}");
        return Err(Error::invalid(ErrorClass::Count, "count", got, "a buffer within 63 bits"));
    }
    Ok(())
}

/// A count, checked.
#[inline]
pub(crate) fn count(argument: &'static str, count: i64) -> Result<u64> {
    u64::try_from(count).map_err(|_| Error::invalid(ErrorClass::Count, argument, count, "0 or more"))
}

/// A length of an array argument, checked.
#[inline]
pub(crate) fn length(argument: &'static str, length: i64) -> Result<usize> {
    usize::try_from(length).map_err(|_| {
        let class = if argument.ends_with("count") { ErrorClass::Count } else { ErrorClass::Arg };
        Error::invalid(class, argument, length, "0 or more")
    })
}
