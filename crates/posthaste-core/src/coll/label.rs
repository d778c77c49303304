//! Labels: what the tag of a collective operation's messages says of it.
//!
//! ```text
//!   0   number of the operation: 20 bits   function: 6 bits   root: 5 bits
//! ```
//!
//! A message meets only a receive of the same label. So ranks that call different functions, or with different roots, as the
//! same operation of a communicator never take each other's data, and `stray` says what they did (MPI-5.0 §6.14: all
//! members call the same operations in the same order).
//!
//! What must stay true: numbers come round, but no peer is ever so far ahead. Who sends something is throttled long before; but who
//! only stands by, as most of the root's group of an intercommunicator do, waits for nobody. So in every [`MEETING`]th operation all
//! members meet before anything else. Operations that are started again keep their number for ever, so what their tags say is no
//! label: it keeps their messages apart from others of that number, and proves no mistake.

const ROOT_BITS: u32 = 5;
const FUNCTION_BITS: u32 = 6;
/// How many operations have numbers of their own.
const NUMBERS: u32 = 1 << (31 - ROOT_BITS - FUNCTION_BITS);
/// In how many operations all members meet once: nobody is further ahead than the next meeting, so a number that has come round is
/// never taken for that of an operation under way.
pub(super) const MEETING: u32 = NUMBERS / 4;
/// Roots that differ by a multiple of this look alike; 0 in their place is no root.
const ROOTS: u32 = (1 << ROOT_BITS) - 1;
/// In the place of the function: one that is started again, told apart from others by what follows; the last one for the rest.
const AGAIN: u32 = Function::ALL.len() as u32;
const NONE: u32 = (1 << FUNCTION_BITS) - 1;
/// Operations before the last one whose messages are still told from those of later ones.
const RECENT: u32 = 64;

macro_rules! functions {
    ($($function:ident: $name:literal,)*) => {
        /// A function that all members of a communicator call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function {
            $(#[doc = $name] $function,)*
        }

        impl Function {
            const ALL: &[Self] = &[$(Self::$function),*];

            /// Its name, without what tells its forms apart.
            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$function => $name,)* }
            }
        }
    };
}

functions! {
    Other: "another function",
    Barrier: "MPI_Barrier",
    Bcast: "MPI_Bcast",
    Gather: "MPI_Gather",
    Gatherv: "MPI_Gatherv",
    Scatter: "MPI_Scatter",
    Scatterv: "MPI_Scatterv",
    Allgather: "MPI_Allgather",
    Allgatherv: "MPI_Allgatherv",
    Alltoall: "MPI_Alltoall",
    Alltoallv: "MPI_Alltoallv",
    Alltoallw: "MPI_Alltoallw",
    Reduce: "MPI_Reduce",
    Allreduce: "MPI_Allreduce",
    ReduceScatter: "MPI_Reduce_scatter",
    ReduceScatterBlock: "MPI_Reduce_scatter_block",
    Scan: "MPI_Scan",
    Exscan: "MPI_Exscan",
    NeighborAllgather: "MPI_Neighbor_allgather",
    NeighborAllgatherv: "MPI_Neighbor_allgatherv",
    NeighborAlltoall: "MPI_Neighbor_alltoall",
    NeighborAlltoallv: "MPI_Neighbor_alltoallv",
    NeighborAlltoallw: "MPI_Neighbor_alltoallw",
    CommDup: "MPI_Comm_dup",
    CommSplit: "MPI_Comm_split",
    CommSplitType: "MPI_Comm_split_type",
    CommCreate: "MPI_Comm_create",
    IntercommCreate: "MPI_Intercomm_create",
    IntercommMerge: "MPI_Intercomm_merge",
    CartCreate: "MPI_Cart_create",
    CartSub: "MPI_Cart_sub",
    GraphCreate: "MPI_Graph_create",
    DistGraphCreate: "MPI_Dist_graph_create",
    WinCreate: "MPI_Win_create",
    WinAllocate: "MPI_Win_allocate",
    WinAllocateShared: "MPI_Win_allocate_shared",
    WinCreateDynamic: "MPI_Win_create_dynamic",
    Finalize: "MPI_Finalize",
}

/// The last function that has a form which is started again.
const LAST_AGAIN: u32 = Function::NeighborAlltoallw as u32;

const _: () = assert!(AGAIN + LAST_AGAIN < NONE);

impl Function {
    /// The function with this name.
    pub(super) fn called(name: &str) -> Self {
        Self::ALL.iter().copied().find(|function| function.name() == name).unwrap_or(Self::Other)
    }
}

/// Whether all members meet in the operation with this number; the first of all need not.
#[inline(always)]
pub(super) const fn is_meeting(number: u32) -> bool {
    number.is_multiple_of(MEETING) && number != 0
}

/// A label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    /// How many operations came before it on the communicator, coming round.
    pub(super) number: u32,
    function: Function,
    /// 0, or 1 more than the root, coming round.
    root: u32,
}

impl Label {
    /// Of an operation without a root.
    #[inline(always)]
    pub(super) const fn new(number: u32, function: Function) -> Self {
        Self { number: number % NUMBERS, function, root: 0 }
    }

    /// What a tag says, if it is a label.
    #[inline]
    pub(super) fn of(tag: i32) -> Option<Self> {
        let bits = u32::try_from(tag).ok()?;
        let function = *Function::ALL.get((bits >> ROOT_BITS & NONE) as usize)?;
        Some(Self { number: bits >> (ROOT_BITS + FUNCTION_BITS), function, root: bits & ROOTS })
    }

    /// The tag that says so.
    #[inline(always)]
    pub(super) const fn tag(self) -> i32 {
        (self.number << (ROOT_BITS + FUNCTION_BITS) | (self.function as u32) << ROOT_BITS | self.root) as i32
    }

    /// The same tag with another number.
    #[inline(always)]
    pub(super) const fn renumbered(tag: i32, number: u32) -> i32 {
        const REST: u32 = (1 << (ROOT_BITS + FUNCTION_BITS)) - 1;
        ((number % NUMBERS) << (ROOT_BITS + FUNCTION_BITS) | tag as u32 & REST) as i32
    }

    /// The same tag with a root.
    #[inline(always)]
    pub(super) const fn rooted(tag: i32, root: u32) -> i32 {
        (tag as u32 & !ROOTS | (1 + root % ROOTS)) as i32
    }

    /// A tag of the same number, function and root that is no label, for an operation that is started again and again.
    pub(super) const fn again(tag: i32) -> i32 {
        if tag < 0 {
            return tag;
        }
        let (bits, place) = (tag as u32, NONE << ROOT_BITS);
        let function = (bits & place) >> ROOT_BITS;
        let code = if function <= LAST_AGAIN { AGAIN + function } else { NONE };
        (bits & !place | code << ROOT_BITS) as i32
    }

    /// The name of the function.
    pub(super) fn name(self) -> &'static str {
        self.function.name()
    }

    /// Whether it is of the same operation of a communicator, and yet another one.
    pub(super) fn clashes(self, other: Self) -> bool {
        self.number == other.number && self != other
    }

    /// Whether it is of this operation, or of one that was called shortly before.
    pub(super) fn is_up_to(self, last: Self) -> bool {
        last.number.wrapping_sub(self.number) % NUMBERS < RECENT
    }

    /// `MPI_Bcast with root 3`, as far as it can be told among so many members.
    pub(super) fn describe(self, members: u32) -> String {
        match self.root {
            0 => self.function.name().to_owned(),
            root if members <= ROOTS => format!("{} with root {}", self.function.name(), root - 1),
            _ => format!("{} with another root", self.function.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_what_was_put_in() {
        for number in [0, 1, 77, NUMBERS - 1, NUMBERS, NUMBERS + 5] {
            for function in Function::ALL {
                let plain = Label::new(number, *function);
                assert!(plain.tag() >= 0);
                assert_eq!(Label::of(plain.tag()), Some(plain));
                assert_eq!(Function::called(function.name()), *function);
                for root in [0, 1, 30, 31, 4000] {
                    let tag = Label::rooted(plain.tag(), root);
                    let label = Label::of(tag).expect("a label");
                    assert_eq!((label.number, label.function), (plain.number, *function));
                    assert!(label.clashes(plain) && !label.clashes(label));
                    assert_eq!(
                        Label::of(Label::renumbered(tag, 9)).map(|other| other.root),
                        Some(label.root)
                    );
                    assert_eq!(Label::of(Label::again(tag)), None);
                }
            }
        }
        assert_eq!(Label::of(-1), None);
        assert_eq!(Label::of(i32::MIN), None);
    }

    #[test]
    fn operations_that_are_started_again_are_told_apart() {
        let persistent = &Function::ALL[..=LAST_AGAIN as usize];
        let tags =
            |number| persistent.iter().map(move |function| Label::again(Label::new(number, *function).tag()));
        let all: std::collections::HashSet<i32> = (0..50).flat_map(tags).collect();
        assert_eq!(all.len(), 50 * persistent.len());
        let plain = |number| Function::ALL.iter().map(move |function| Label::new(number, *function).tag());
        assert!((0..50).flat_map(plain).all(|tag| !all.contains(&tag)));
        let rooted = |root| Label::again(Label::rooted(Label::new(7, Function::Bcast).tag(), root));
        assert_ne!(rooted(1), rooted(2));
        assert_eq!(Label::again(-5), -5);
    }

    #[test]
    fn labels_are_described() {
        let label =
            |root| Label::of(Label::rooted(Label::new(3, Function::Bcast).tag(), root)).expect("a label");
        assert_eq!(Label::new(3, Function::Barrier).describe(4), "MPI_Barrier");
        assert_eq!(label(3).describe(4), "MPI_Bcast with root 3");
        assert_eq!(label(30).describe(31), "MPI_Bcast with root 30");
        assert_eq!(label(3).describe(32), "MPI_Bcast with another root");
    }

    #[test]
    fn what_was_called_shortly_before_is_told_from_what_comes() {
        let label = |number| Label::new(number, Function::Scan);
        assert!(label(7).is_up_to(label(7)) && label(5).is_up_to(label(7)));
        assert!(label(NUMBERS - 1).is_up_to(label(2)));
        assert!(!label(8).is_up_to(label(7)) && !label(NUMBERS - 1).is_up_to(label(RECENT)));
    }
}
