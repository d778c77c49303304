//! Ranks and tags with the special values in their places, and how alike groups are.

use std::ffi::c_int;

use posthaste_core::group::Comparison;
use posthaste_core::ids::{ANY_SOURCE, ANY_TAG, MEANINGLESS, PROC_NULL, ROOT};

use crate::abi::constants::{
    MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_CONGRUENT, MPI_IDENT, MPI_PROC_NULL, MPI_ROOT, MPI_SIMILAR, MPI_UNEQUAL,
};

/// The special values in one place: each the face's, and the engine's.
type Specials = [(c_int, i32)];

const NOBODY: &Specials = &[(MPI_PROC_NULL, PROC_NULL)];
const SOURCES: &Specials = &[(MPI_PROC_NULL, PROC_NULL), (MPI_ANY_SOURCE, ANY_SOURCE)];
const ROOTS: &Specials = &[(MPI_PROC_NULL, PROC_NULL), (MPI_ROOT, ROOT)];
const TAGS: &Specials = &[(MPI_ANY_TAG, ANY_TAG)];

/// Whether the face's special values are the engine's.
pub(crate) const SAME: bool =
    MPI_ANY_SOURCE == ANY_SOURCE && MPI_PROC_NULL == PROC_NULL && MPI_ROOT == ROOT && MPI_ANY_TAG == ANY_TAG;

/// A rank for the engine, where `MPI_PROC_NULL` is allowed and no other special value.
#[inline(always)]
pub(crate) fn rank_in(rank: c_int) -> i32 {
    if SAME || rank >= 0 { rank } else { special_in(NOBODY, rank) }
}

/// The source of a receive or probe for the engine.
#[inline(always)]
pub(crate) fn source_in(source: c_int) -> i32 {
    if SAME || source >= 0 { source } else { special_in(SOURCES, source) }
}

/// The root of a collective operation for the engine.
#[inline(always)]
pub(crate) fn root_in(root: c_int) -> i32 {
    if SAME || root >= 0 { root } else { special_in(ROOTS, root) }
}

/// The tag of a receive or probe for the engine. That of a send has no special value, and goes there as it is.
#[inline(always)]
pub(crate) fn tag_in(tag: c_int) -> i32 {
    if SAME || tag >= 0 { tag } else { special_in(TAGS, tag) }
}

/// A rank of the engine for the program.
#[inline(always)]
pub(crate) fn rank_out(rank: i32) -> c_int {
    if SAME || rank >= 0 { rank } else { special_out(SOURCES, rank) }
}

/// A tag of the engine for the program.
#[inline(always)]
pub(crate) fn tag_out(tag: i32) -> c_int {
    if SAME || tag >= 0 { tag } else { special_out(TAGS, tag) }
}

fn special_in(table: &Specials, number: c_int) -> i32 {
    match table.iter().find(|(face, _)| *face == number) {
        Some((_, engine)) => *engine,
        None if table.iter().any(|(_, engine)| *engine == number) => MEANINGLESS,
        None => number,
    }
}

fn special_out(table: &Specials, number: i32) -> c_int {
    table.iter().find(|(_, engine)| *engine == number).map_or(number, |(face, _)| *face)
}

/// How alike two groups or communicators are.
pub(crate) fn comparison(found: Comparison) -> c_int {
    match found {
        Comparison::Ident => MPI_IDENT,
        Comparison::Congruent => MPI_CONGRUENT,
        Comparison::Similar => MPI_SIMILAR,
        Comparison::Unequal => MPI_UNEQUAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values_go_there_and_back_and_nothing_else_becomes_one() {
        for (face, engine) in SOURCES {
            assert_eq!((source_in(*face), rank_out(*engine)), (*engine, *face));
        }
        assert_eq!((root_in(MPI_ROOT), rank_in(MPI_PROC_NULL)), (ROOT, PROC_NULL));
        assert_eq!((tag_in(MPI_ANY_TAG), tag_out(ANY_TAG)), (ANY_TAG, MPI_ANY_TAG));
        // A face whose numbers are the engine's in another order, and one of whose is none of them.
        let other = [(-2, ANY_SOURCE), (-1, PROC_NULL), (-9, ROOT)];
        assert_eq!([-1, -2, -9].map(|number| special_in(&other, number)), [PROC_NULL, ANY_SOURCE, ROOT]);
        assert_eq!([-3, -4, -5].map(|number| special_in(&other, number)), [MEANINGLESS, MEANINGLESS, -5]);
        assert_eq!([ANY_SOURCE, ROOT, 7].map(|number| special_out(&other, number)), [-2, -9, 7]);
    }
}
