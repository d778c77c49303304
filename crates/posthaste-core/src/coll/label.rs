//! Labels: what the tag of a collective operation's messages says of it.
//!
//! ```text
//!   0   number of the operation: 20 bits   function, root and way: 11 bits
//! ```
//!
//! A message meets only a receive of the same label. So ranks that call different functions, or with different roots, as the
//! same operation of a communicator never take each other's data, and `stray` says what they did (MPI-5.0 §6.14: all
//! members call the same operations in the same order). The same goes for counts for which an operation goes different ways: who goes
//! another way would wait for messages that nobody sends. Who has noticed such a thing says so in the label of what it still sends, and so does
//! who lacks what a lost member should have given: what it would send is not what it seems.
//!
//! What must stay true: numbers come round, but no peer is ever so far ahead. Who sends something is throttled long before; but who
//! only stands by, as most of the root's group of an intercommunicator do, waits for nobody. So in every [`MEETING`]th operation all
//! members meet before anything else. Operations that are started again keep their number for ever, so their
//! labels keep their messages apart from others of that number, and prove no mistake, unless only the way differs.

use crate::pt2pt::matching::OPERATION_BITS;

const CODE_BITS: u32 = OPERATION_BITS;
/// How many operations have numbers of their own.
const NUMBERS: u32 = 1 << (31 - CODE_BITS);
/// In how many operations all members meet once: nobody is further ahead than the next meeting, so a number that has come round is
/// never taken for that of an operation under way.
pub(super) const MEETING: u32 = NUMBERS / 4;
/// Roots that differ by a multiple of this look alike; 0 in their place is no root.
const ROOTS: u32 = 29;
/// Of so many roots that look alike all are named.
const FEW_ROOTS: usize = 4;
/// In the place of the code: of an operation that is started again and has none of its own.
const NONE: u32 = (1 << CODE_BITS) - 1;
/// Of so many members it is said which one is lost.
const NAMED: u32 = 126;
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
    Lacking: "what lacks the part of a lost member",
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
    WinFence: "MPI_Win_fence",
    WinFree: "MPI_Win_free",
    CommDisconnect: "MPI_Comm_disconnect",
    Finalize: "MPI_Finalize",
}

/// The last function that has a form which is started again.
const LAST_AGAIN: Function = Function::NeighborAlltoallw;
/// Where the codes of each function begin.
type Firsts = [u32; Function::ALL.len() + 1];
/// Those of operations that are done once.
const FIRSTS: Firsts = firsts(false);
/// Those of operations that are started again, behind the others.
const FIRSTS_AGAIN: Firsts = firsts(true);
const AGAIN: u32 = FIRSTS[Function::ALL.len()];

const _: () = assert!(AGAIN + FIRSTS_AGAIN[LAST_AGAIN as usize + 1] <= NONE);

/// Of each function there are codes of roots for each way, and those of who gives up.
const fn firsts(again: bool) -> Firsts {
    let mut firsts = [0; Function::ALL.len() + 1];
    let mut at = 0;
    while at < Function::ALL.len() {
        let function = Function::ALL[at];
        firsts[at + 1] = firsts[at] + function.roots() * function.ways() + function.roots_given_up(again);
        at += 1;
    }
    firsts
}

impl Function {
    /// The function with this name.
    pub(super) fn called(name: &str) -> Self {
        Self::ALL.iter().copied().find(|function| function.name() == name).unwrap_or(Self::Other)
    }

    /// In how many ways it goes, as far as they are told apart: those that depend on the bytes of a message.
    const fn ways(self) -> u32 {
        match self {
            // Some member is lost, or a certain one.
            Self::Lacking => 1 + NAMED,
            Self::Bcast | Self::Gather | Self::Scatter => 2,
            Self::Alltoall | Self::ReduceScatter | Self::ReduceScatterBlock => 3,
            Self::Allgather => 4,
            Self::Reduce => 8,
            Self::Allreduce => 256,
            _ => 1,
        }
    }

    /// How many roots are told apart, and that there is none.
    const fn roots(self) -> u32 {
        match self {
            Self::Bcast | Self::Reduce | Self::Gather | Self::Gatherv | Self::Scatter | Self::Scatterv => {
                1 + ROOTS
            }
            _ => 1,
        }
    }

    /// How many roots are told apart of who gives up: there is no room for those of operations that are started again.
    const fn roots_given_up(self, again: bool) -> u32 {
        if again { 1 } else { self.roots() }
    }

    /// The place of a way among those that are told apart; 0 stays 0.
    const fn told_apart(self, way: u32) -> u32 {
        match (way, self.ways()) {
            (0, _) | (_, 1) => 0,
            (way, ways) => 1 + (way - 1) % (ways - 1),
        }
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
    /// The way, unless it is of who has given up.
    way: Option<u32>,
    /// Of an operation that is started again and again.
    again: bool,
}

impl Label {
    /// Of an operation without a root, in its first way.
    #[inline(always)]
    pub(super) const fn new(number: u32, function: Function) -> Self {
        Self { number: number % NUMBERS, function, root: 0, way: Some(0), again: false }
    }

    /// The same with a root.
    #[inline(always)]
    pub(super) const fn rooted(self, root: u32) -> Self {
        if self.function.roots() == 1 { self } else { Self { root: 1 + root % ROOTS, ..self } }
    }

    /// The same in another way.
    #[inline(always)]
    pub(super) const fn going(self, way: u32) -> Self {
        Self { way: Some(self.function.told_apart(way)), ..self }
    }

    /// What a tag says, if it is a label of an operation that is done once.
    #[inline]
    pub(super) fn of(tag: i32) -> Option<Self> {
        Self::read(tag).filter(|label| !label.again)
    }

    /// What a tag says, if it is a label.
    fn read(tag: i32) -> Option<Self> {
        let bits = u32::try_from(tag).ok()?;
        let code = bits & NONE;
        let (again, code) = if code < AGAIN { (false, code) } else { (true, code - AGAIN) };
        let firsts = if again { &FIRSTS_AGAIN } else { &FIRSTS };
        let at = firsts.partition_point(|first| *first <= code).checked_sub(1)?;
        let function =
            *Function::ALL.get(at).filter(|function| !again || **function as u32 <= LAST_AGAIN as u32)?;
        let (detail, roots) = (code - firsts[at], function.roots());
        let given_up = detail.checked_sub(roots * function.ways());
        let root = given_up.unwrap_or(detail % roots);
        let way = if given_up.is_some() { None } else { Some(detail / roots) };
        Some(Self { number: bits >> CODE_BITS, function, root, way, again })
    }

    /// The tag that says so.
    #[inline(always)]
    pub(super) const fn tag(self) -> i32 {
        let Self { number, function, root, way, again } = self;
        let detail = match way {
            Some(way) => function.roots() * way + root,
            None => self.given_up(),
        };
        let first = if again { AGAIN + FIRSTS_AGAIN[function as usize] } else { FIRSTS[function as usize] };
        let code = first + detail;
        (number << CODE_BITS | code) as i32
    }

    /// The place, among the codes of its function, of who has given up.
    #[cold]
    const fn given_up(self) -> u32 {
        let Self { function, root, again, .. } = self;
        function.roots() * function.ways() + root % function.roots_given_up(again)
    }

    /// The same tag with another number.
    #[inline(always)]
    pub(super) const fn renumbered(tag: i32, number: u32) -> i32 {
        ((number % NUMBERS) << CODE_BITS | tag as u32 & NONE) as i32
    }

    /// A tag of the same number, function, root and way for an operation that is started again and again.
    pub(super) fn again(tag: i32) -> i32 {
        match Self::of(tag) {
            Some(label) if label.function as u32 <= LAST_AGAIN as u32 => Self { again: true, ..label }.tag(),
            _ if tag < 0 => tag,
            _ => (tag as u32 | NONE) as i32,
        }
    }

    /// The tag of what is sent for this operation by who has been told that its members do not do the same.
    #[cold]
    pub(super) fn giving_up(tag: i32) -> i32 {
        Self::read(tag).map_or(tag, |label| Self { way: None, ..label }.tag())
    }

    /// The tag of what is sent for this operation by who lacks what a lost member should have given; that of this rank, if it is known.
    #[cold]
    pub(super) fn lacking(tag: i32, rank: Option<u32>) -> i32 {
        let way = Some(rank.filter(|rank| *rank < NAMED).map_or(0, |rank| 1 + rank));
        let lacks = |label| Self { function: Function::Lacking, root: 0, way, ..label };
        Self::read(tag).map_or(tag, |label| lacks(label).tag())
    }

    /// Whether it says that, and which member it is.
    pub(super) fn lacks(tag: i32) -> Option<Option<u32>> {
        let label = Self::read(tag).filter(|label| label.function == Function::Lacking)?;
        Some(label.way?.checked_sub(1))
    }

    /// Whether its messages say only that somebody, and all for whom that one speaks, have come.
    pub(super) fn is_barrier(tag: i32) -> bool {
        use Function::{Barrier, CommDisconnect, WinFence, WinFree};
        let is_one = |label: Self| matches!(label.function, Barrier | WinFence | WinFree | CommDisconnect);
        Self::read(tag).is_some_and(is_one)
    }

    /// What is the same in all labels of an operation, and in no other one's of its communicator: its number, and whether it is
    /// started again.
    pub(super) fn operation(tag: i32) -> Option<(u32, bool)> {
        Self::read(tag).map(|label| (label.number, label.again))
    }

    /// The tag of an operation that is done once, half a round of numbers away from this one.
    pub(super) fn far_from(tag: i32) -> Option<i32> {
        Self::of(tag).map(|label| Self { number: (label.number + NUMBERS / 2) % NUMBERS, ..label }.tag())
    }

    /// The name of the function.
    pub(super) fn name(self) -> &'static str {
        self.function.name()
    }

    /// Whether two tags are of the same operation of a communicator, and yet of different ones.
    pub(super) fn clash(a: i32, b: i32) -> bool {
        // Most are of other operations: their numbers alone tell.
        if a >> CODE_BITS != b >> CODE_BITS {
            return false;
        }
        let (Some(a), Some(b)) = (Self::read(a), Self::read(b)) else { return false };
        let is_same = (a.number, a.again) == (b.number, b.again);
        // Of those that are started again another one may have the same number, but not also the same function and root: those two
        // would take each other's messages. Where a member is lost, it is lost to both.
        let is_certain = !a.again
            || [a, b].iter().any(|label| label.function == Function::Lacking)
            || a.function == b.function && (a.root == b.root || a.way.is_none() || b.way.is_none());
        is_same && a != b && is_certain
    }

    /// Whether a tag is of who has been told that the members do not do the same.
    pub(super) fn gives_up(tag: i32) -> bool {
        Self::read(tag).is_some_and(|label| label.way.is_none())
    }

    /// Whether two tags are of the same operation, and say that something else was called: another function, or one with another root.
    pub(super) fn differ_in_call(a: i32, b: i32) -> bool {
        let (Some(a), Some(b)) = (Self::of(a), Self::of(b)) else { return false };
        a.number == b.number && (a.function, a.root) != (b.function, b.root)
    }

    /// Whether two tags differ only in the way.
    pub(super) fn differ_in_way(a: i32, b: i32) -> bool {
        let way = |tag| Self::read(tag).map(|label| Self { way: label.way.map(|_| 0), ..label });
        a != b && way(a) == way(b)
    }

    /// What a tag says, if it is a label of this operation, or of one that was called shortly before.
    #[inline]
    pub(super) fn is_recent(self, tag: i32) -> Option<Self> {
        // Most are of later operations: their numbers alone tell.
        let number = tag as u32 >> CODE_BITS;
        let is_up_to = self.number.wrapping_sub(number) % NUMBERS < RECENT;
        if is_up_to { Self::of(tag) } else { None }
    }

    /// `MPI_Bcast with root 3`, or which roots it may be among so many members.
    pub(super) fn describe(self, members: u32) -> String {
        let name = self.function.name();
        let Some(least) = self.root.checked_sub(1) else { return name.to_owned() };
        match (least..members)
            .step_by(ROOTS as usize)
            .map(|root| root.to_string())
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => format!("{name} with another root"),
            [root] => format!("{name} with root {root}"),
            [some @ .., last] if some.len() < FEW_ROOTS => {
                format!("{name} with root {} or {last}", some.join(", "))
            }
            [first, second, ..] => format!("{name} with root {first}, {second}, and so on by {ROOTS}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_rooted(function: Function) -> bool {
        function.roots() > 1
    }

    #[test]
    fn a_tag_says_what_was_put_in() {
        for number in [0, 1, 77, NUMBERS - 1, NUMBERS, NUMBERS + 5] {
            for function in Function::ALL.iter().copied() {
                let plain = Label::new(number, function);
                assert!(plain.tag() >= 0);
                assert_eq!(Label::of(plain.tag()), Some(plain));
                assert_eq!(Function::called(function.name()), function);
                for (root, way) in [(0, 0), (1, 0), (28, 1), (29, 0), (4000, 7)] {
                    let label = plain.rooted(root).going(way);
                    let tag = label.tag();
                    assert_eq!(Label::of(tag), Some(label));
                    assert_eq!(Label::clash(tag, plain.tag()), label != plain);
                    assert!(!is_rooted(function) || label != plain);
                    assert!(!Label::clash(tag, tag));
                    assert_eq!(
                        Label::of(Label::renumbered(tag, 9)).map(|other| other.root),
                        Some(label.root)
                    );
                    let again = Label::again(tag);
                    assert!(again >= 0 && Label::of(again).is_none() && !Label::clash(tag, again));
                    let gives_up = Label::giving_up(tag);
                    let told = Label::of(gives_up).expect("a label");
                    assert!(Label::gives_up(gives_up) && !Label::gives_up(tag));
                    assert_eq!((told.function, told.root), (function, label.root));
                    assert!(Label::clash(gives_up, tag) && !Label::differ_in_way(gives_up, tag));
                    let from_plain = Label::giving_up(plain.tag());
                    assert_eq!(Label::clash(gives_up, from_plain), label.root != plain.root);
                    assert_eq!(Label::differ_in_call(gives_up, from_plain), label.root != plain.root);
                    assert!(Label::gives_up(Label::giving_up(again)) || again as u32 & NONE == NONE);
                }
            }
        }
        assert_eq!(Label::of(-1), None);
        assert_eq!(Label::of(i32::MIN), None);
        assert_eq!((Label::again(-5), Label::giving_up(-5)), (-5, -5));
    }

    #[test]
    fn what_lacks_a_part_says_whose() {
        for function in Function::ALL.iter().copied().filter(|function| *function != Function::Lacking) {
            let once = Label::new(7, function).rooted(2).going(3).tag();
            let again = Label::again(once);
            let tags = if function as u32 <= LAST_AGAIN as u32 { vec![once, again] } else { vec![once] };
            for tag in tags {
                assert_eq!((Label::lacks(tag), Label::lacks(Label::giving_up(tag))), (None, None));
                for (rank, read) in [
                    (None, None),
                    (Some(0), Some(0)),
                    (Some(125), Some(125)),
                    (Some(126), None),
                    (Some(1 << 20), None),
                ] {
                    let said = Label::lacking(tag, rank);
                    assert_eq!(Label::lacks(said), Some(read), "{function:?}, {rank:?}");
                    assert!(Label::clash(said, tag) && !Label::gives_up(said), "{function:?}, {rank:?}");
                    let other = if tag == once { again } else { once };
                    assert!(!Label::clash(said, other));
                }
            }
        }
        assert_eq!(Label::lacking(-5, Some(1)), -5);
    }

    #[test]
    fn ways_are_told_apart() {
        let tag = |number, function, way| Label::new(number, function).rooted(3).going(way).tag();
        for (function, ways) in [
            (Function::Bcast, 2),
            (Function::Reduce, 8),
            (Function::Allreduce, 256),
            (Function::Allgather, 4),
        ] {
            let tags: std::collections::HashSet<i32> = (0..ways).map(|way| tag(5, function, way)).collect();
            assert_eq!(tags.len(), ways as usize);
            // Whatever comes after them is one of them, and never the first.
            assert!((ways..3 * ways).all(|way| tags.contains(&tag(5, function, way))));
            assert!((1..3 * ways).all(|way| tag(5, function, way) != tag(5, function, 0)));
            let [first, second] = [0, 1].map(|way| tag(5, function, way));
            assert!(Label::clash(first, second) && Label::differ_in_way(first, second));
            // So are those of operations that are started again, and nothing else of them.
            let [first, second] = [first, second].map(Label::again);
            assert!(Label::clash(first, second) && Label::differ_in_way(first, second));
            assert!(Label::clash(first, Label::giving_up(second)));
            let other = Label::again(tag(5, Function::Barrier, 0));
            assert!(!Label::clash(first, other) && !Label::differ_in_way(first, other));
            assert!(!Label::clash(first, Label::again(tag(6, function, 1))));
        }
        let rooted = |root| Label::again(Label::new(7, Function::Bcast).rooted(root).tag());
        assert!(!Label::clash(rooted(1), rooted(2)));
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
        let rooted = |root| Label::again(Label::new(7, Function::Bcast).rooted(root).tag());
        assert_ne!(rooted(1), rooted(2));
    }

    #[test]
    fn labels_are_described() {
        let label = |root| Label::new(3, Function::Bcast).rooted(root);
        assert_eq!(Label::new(3, Function::Barrier).describe(4), "MPI_Barrier");
        assert_eq!(label(3).describe(4), "MPI_Bcast with root 3");
        assert_eq!(label(28).describe(29), "MPI_Bcast with root 28");
        assert_eq!(label(3).describe(30), "MPI_Bcast with root 3");
        assert_eq!(label(29).describe(30), "MPI_Bcast with root 0 or 29");
        assert_eq!(label(32).describe(64), "MPI_Bcast with root 3, 32 or 61");
        assert_eq!(label(3).describe(1000), "MPI_Bcast with root 3, 32, and so on by 29");
        assert_eq!(label(3).describe(2), "MPI_Bcast with another root");
    }

    #[test]
    fn what_was_called_shortly_before_is_told_from_what_comes() {
        let label = |number| Label::new(number, Function::Scan);
        let is_up_to = |number, last| label(last).is_recent(label(number).tag()) == Some(label(number));
        assert!(is_up_to(7, 7) && is_up_to(5, 7) && is_up_to(NUMBERS - 1, 2));
        assert!(!is_up_to(8, 7) && !is_up_to(NUMBERS - 1, RECENT));
    }
}
