//! Groups: ordered sets of processes, of which communicators are made.
//!
//! MPI-5.0 §7.3.
//!
//! What must stay true: nothing here talks to anybody.

use std::fmt;
use std::sync::Arc;

use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::group::{self as core, Comparison};
use posthaste_core::ids::Peer;

use crate::argument::ranks;
use crate::error::{Error, Result};

/// An ordered set of processes (`MPI_Group`), which never changes. A clone is the same group.
///
/// It comes from [`Communicator::group`](crate::Communicator::group), and goes into
/// [`Communicator::create_from`](crate::Communicator::create_from).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let all = world.group();
/// let others = all.exclude(&[world.rank()])?;
/// assert_eq!(others.size(), world.size() - 1);
/// assert_eq!(others.union(&universe.own().group()).size(), world.size());
/// assert!(all.intersection(&others).compare(&others) == posthaste::Comparison::Ident);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias = "MPI_Group", alias = "UserGroup")]
pub struct Group {
    members: Arc<core::Group>,
    me: Option<Peer>,
}

impl Group {
    pub(crate) fn of(members: &Arc<core::Group>, me: Option<Peer>) -> Self {
        Self { members: members.clone(), me }
    }

    pub(crate) fn core(&self) -> &Arc<core::Group> {
        &self.members
    }

    /// Number of processes (`MPI_Group_size`).
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// assert_eq!(universe.own().group().size(), 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_size")]
    pub fn size(&self) -> usize {
        self.members.size() as usize
    }

    /// This process's rank in the group, if it is a member (`MPI_Group_rank`).
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// assert_eq!(universe.own().group().rank(), Some(0));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_rank")]
    pub fn rank(&self) -> Option<usize> {
        self.members.rank_of(self.me?).map(|rank| rank as usize)
    }

    /// How alike two groups are (`MPI_Group_compare`): [`Comparison::Ident`], [`Comparison::Similar`] with the same processes in another
    /// order, or [`Comparison::Unequal`].
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let group = universe.world().group();
    /// assert_eq!(group.compare(&group.clone()), posthaste::Comparison::Ident);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_compare")]
    pub fn compare(&self, other: &Self) -> Comparison {
        self.members.compare(&other.members)
    }

    /// The processes of this group, then those of `other` that are not in it (`MPI_Group_union`).
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let group = universe.world().group();
    /// assert_eq!(group.union(&group).size(), group.size());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_union")]
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.with(self.members.union(&other.members))
    }

    /// The processes of this group that are in `other`, too (`MPI_Group_intersection`).
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let own = universe.own().group();
    /// assert_eq!(universe.world().group().intersection(&own).size(), 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_intersection")]
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.with(self.members.intersection(&other.members))
    }

    /// The processes of this group that are not in `other` (`MPI_Group_difference`).
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let group = universe.world().group();
    /// assert_eq!(group.difference(&group).size(), 0);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_difference")]
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.with(self.members.difference(&other.members))
    }

    /// The processes with these ranks, in this order (`MPI_Group_incl`).
    ///
    /// # Errors
    /// A rank that the group does not have, or that stands there twice.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let group = universe.world().group();
    /// assert_eq!(group.include(&[0])?.size(), 1);
    /// assert!(group.include(&[0, 0]).is_err());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_incl")]
    pub fn include(&self, ranks: &[usize]) -> Result<Self> {
        self.subset("include", self.numbers(ranks).and_then(|ranks| self.members.incl(&ranks)))
    }

    /// The processes without those with these ranks (`MPI_Group_excl`).
    ///
    /// # Errors
    /// As [`Group::include`].
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let group = universe.world().group();
    /// assert_eq!(group.exclude(&[0])?.size(), group.size() - 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_excl")]
    pub fn exclude(&self, ranks: &[usize]) -> Result<Self> {
        self.subset("exclude", self.numbers(ranks).and_then(|ranks| self.members.excl(&ranks)))
    }

    /// The processes that ranges of ranks name: first, last and distance, which is negative where the last is below the first
    /// (`MPI_Group_range_incl`).
    ///
    /// # Errors
    /// As [`Group::include`], and a distance of 0 or one that leads away from the last.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let group = universe.world().group();
    /// let backwards = group.include_ranges(&[(group.size() - 1, 0, -1)])?;
    /// assert_eq!(backwards.translate(&[0], &group)?, [Some(group.size() - 1)]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_range_incl")]
    pub fn include_ranges(&self, ranges: &[(usize, usize, isize)]) -> Result<Self> {
        self.subset("include_ranges", triples(ranges).and_then(|ranges| self.members.range_incl(&ranges)))
    }

    /// The processes without those that the ranges name (`MPI_Group_range_excl`).
    ///
    /// # Errors
    /// As [`Group::include_ranges`].
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let group = universe.world().group();
    /// assert_eq!(group.exclude_ranges(&[(0, group.size() - 1, 1)])?.size(), 0);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_range_excl")]
    pub fn exclude_ranges(&self, ranges: &[(usize, usize, isize)]) -> Result<Self> {
        self.subset("exclude_ranges", triples(ranges).and_then(|ranges| self.members.range_excl(&ranges)))
    }

    /// The ranks in `other` of the processes with these ranks here; `None` for who is not there (`MPI_Group_translate_ranks`).
    ///
    /// # Errors
    /// A rank that this group does not have.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let (all, own) = (universe.world().group(), universe.own().group());
    /// assert_eq!(own.translate(&[0], &all)?, [all.rank()]);
    /// assert!(own.translate(&[1], &all).is_err());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Group_translate_ranks")]
    pub fn translate(&self, ranks: &[usize], other: &Self) -> Result<Vec<Option<usize>>> {
        let translated = self.numbers(ranks).and_then(|ranks| self.members.translate(&ranks, &other.members));
        let translated = translated.map_err(|cause| Error::new("translate", None, cause))?;
        Ok(translated.into_iter().map(|rank| rank.map(|rank| rank as usize)).collect())
    }

    fn numbers(&self, list: &[usize]) -> Checked<Vec<i32>> {
        ranks("ranks", list, self.members.size() as i32)
    }

    fn with(&self, members: core::Group) -> Self {
        Self { members: Arc::new(members), me: self.me }
    }

    fn subset(&self, call: &'static str, members: Checked<core::Group>) -> Result<Self> {
        members.map(|members| self.with(members)).map_err(|cause| Error::new(call, None, cause))
    }
}

/// Ranges as core has them.
fn triples(ranges: &[(usize, usize, isize)]) -> Checked<Vec<[i32; 3]>> {
    let triple = |&(first, last, distance): &(usize, usize, isize)| {
        let (Ok(first), Ok(last), Ok(distance)) =
            (i32::try_from(first), i32::try_from(last), i32::try_from(distance))
        else {
            let got = format_args!("({first}, {last}, {distance})");
            let expected = format_args!("numbers up to {}", i32::MAX);
            return Err(Cause::invalid(ErrorClass::Rank, "ranges", got, expected));
        };
        Ok([first, last, distance])
    };
    ranges.iter().map(triple).collect()
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({} processes)", self.size())
    }
}
