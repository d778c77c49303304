//! Signatures: the basic types of a datatype in packing order, without where they lie (MPI-5.0 §5.1.1, type
//! signature; §3.3.1, type matching).
//!
//! The constructors (`build`) compose them.
//!
//! A signature carries a hash of its sequence that composes: `H(a·b) = H(a)·B^|b| + H(b)` modulo a prime, so the
//! spelling does not matter and repetition costs a logarithm. A pair type counts as its two basic types, as MPI-5.0
//! §6.9.4 defines it.
//!
//! What must stay true:
//! - An item's body is a basic type or a sequence of at least two items; repetitions of repetitions are multiplied
//!   and sequences inside sequences written out. So every level of nesting at least doubles the number of elements,
//!   nesting is at most 63 deep however deep the constructors were, and walking may recurse.
//! - The number of elements and of bytes fits into 63 bits, because the layout of the same type does.

use super::builtin::{Builtin, Kind};
use crate::named::Named;
use std::sync::{Arc, LazyLock};

/// The basic types of one element of a datatype, in packing order. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Signature(Arc<Sequence>);

/// Items one after the other.
#[derive(Debug)]
struct Sequence {
    items: Box<[Item]>,
    sum: Sum,
}

/// A body so many times.
#[derive(Clone, Debug)]
struct Item {
    /// What comes before it in the sequence.
    before: Sum,
    /// One body.
    once: Sum,
    count: u64,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Basic(&'static Builtin),
    Sequence(Arc<Sequence>),
}

/// Runs of a signature that a sentence names.
const DESCRIBED: usize = 3;

/// A number of bytes of the packed stream, in either measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bytes {
    native: u64,
    external: u64,
}

/// In what the packed stream is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes as they are in memory.
    Native,
    /// Bytes of external32 (MPI-5.0 §14.5.2).
    External32,
}

/// What is known of a sequence of basic elements.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// Number of elements.
    elements: u64,
    bytes: Bytes,
    hash: u64,
    /// `B^elements`.
    power: u64,
    /// `MPI_PACKED` is among them, which matches everything.
    wild: bool,
}

/// What a message says of its types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// The hash of its signature; 0 when nothing is known.
    pub hash: u32,
    /// The handle of the first basic type.
    pub first: u16,
    /// All elements are of that type.
    pub uniform: bool,
    /// The data is in the canonical form, because sender and receiver represent numbers differently.
    pub canonical: bool,
}

impl Types {
    /// Nothing is known, so nothing is checked or converted.
    pub const UNKNOWN: Self = Self { hash: 0, first: 0, uniform: false, canonical: false };

    /// Whether there is something to check.
    #[inline(always)]
    pub fn is_known(&self) -> bool {
        self.hash != 0
    }
}

/// Elements of one basic type that are neighbours in the packed stream.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Their type.
    pub basic: &'static Builtin,
    /// How many there are.
    pub count: u64,
    /// Native bytes before them.
    pub native: u64,
    /// Bytes before them in the measure that was asked for.
    pub start: u64,
}

impl Measure {
    fn of(self, bytes: Bytes) -> u64 {
        match self {
            Self::Native => bytes.native,
            Self::External32 => bytes.external,
        }
    }
}

impl Signature {
    /// The signature of a predefined type.
    pub fn of(builtin: &Builtin) -> Self {
        // Of several copies of this code in a process each has its own; signatures are compared by what is in them.
        static ALL: LazyLock<Vec<Signature>> =
            LazyLock::new(|| Builtin::all().iter().map(Signature::of_one).collect());
        ALL[builtin.named.index()].clone()
    }

    fn of_one(builtin: &'static Builtin) -> Self {
        let mut items = Vec::with_capacity(2);
        for named in parts(builtin) {
            push(&mut items, 1, Body::Basic(Builtin::of(named)));
        }
        Self::from_items(items)
    }

    /// The signature of a type without data.
    pub fn empty() -> Self {
        static EMPTY: LazyLock<Signature> = LazyLock::new(|| Signature::from_items(Vec::new()));
        EMPTY.clone()
    }

    /// This one `count` times.
    #[must_use]
    pub fn repeated(&self, count: u64) -> Self {
        Self::sequence([(count, self)])
    }

    /// The parts one after the other, each so many times.
    pub fn sequence<'a>(parts: impl IntoIterator<Item = (u64, &'a Self)>) -> Self {
        let mut items: Vec<Item> = Vec::new();
        let mut last = None;
        for (count, part) in parts {
            if count == 0 || part.elements() == 0 {
                continue;
            }
            match &part.0.items[..] {
                [only] => push(&mut items, only.count.saturating_mul(count), only.body.clone()),
                several if count == 1 => {
                    several.iter().for_each(|item| push(&mut items, item.count, item.body.clone()));
                }
                _ => push(&mut items, count, Body::Sequence(Arc::clone(&part.0))),
            }
            last = Some((count, part));
        }
        match (last, &items[..]) {
            // Nothing new: the same memory.
            (Some((1, part)), now) if now.len() == part.0.items.len() && part.0.sum.same(sum_of(now)) => {
                part.clone()
            }
            // One sequence, once.
            (_, [Item { count: 1, body: Body::Sequence(only), .. }]) => Self(Arc::clone(only)),
            _ => Self::from_items(items),
        }
    }

    fn from_items(mut items: Vec<Item>) -> Self {
        let mut sum = Sum::EMPTY;
        for item in &mut items {
            item.before = sum;
            sum = sum.then(item.once.times(item.count));
        }
        Self(Arc::new(Sequence { items: items.into(), sum }))
    }

    /// Number of basic elements.
    pub fn elements(&self) -> u64 {
        self.0.sum.elements
    }

    /// Packed bytes.
    pub fn bytes(&self, measure: Measure) -> u64 {
        measure.of(self.0.sum.bytes)
    }

    /// Whether `MPI_PACKED` is in it, which matches everything.
    pub fn is_wild(&self) -> bool {
        self.0.sum.wild
    }

    /// The first basic type.
    pub fn first(&self) -> Option<&'static Builtin> {
        let mut items = &self.0.items;
        loop {
            match &items.first()?.body {
                Body::Basic(basic) => return Some(basic),
                Body::Sequence(inner) => items = &inner.items,
            }
        }
    }

    /// The basic type that all elements have, if there is one.
    pub fn uniform(&self) -> Option<&'static Builtin> {
        match &self.0.items[..] {
            [Item { body: Body::Basic(basic), .. }] => Some(basic),
            _ => None,
        }
    }

    /// The hash of `count` repetitions.
    pub fn hash(&self, count: u64) -> u32 {
        self.0.sum.times(count).folded()
    }

    /// What a message of `count` repetitions says of its types. `MPI_PACKED` matches everything.
    pub fn types(&self, count: u64) -> Types {
        if self.0.sum.wild {
            return Types::UNKNOWN;
        }
        let first = self.first().map_or(0, |first| first.named.on_the_wire());
        let uniform = self.uniform().is_some();
        Types { hash: self.hash(count), first, uniform, canonical: false }
    }

    /// The hash of the first `bytes` native packed bytes of endless repetition; `None` when they end inside an
    /// element.
    pub fn prefix_hash(&self, bytes: u64) -> Option<u32> {
        let (whole, rest) = self.turns(bytes, Sum::size)?;
        Some(self.0.sum.times(whole).then(rest).folded())
    }

    /// The first `bytes` native packed bytes of endless repetition, as far as a sentence should go: `2 MPI_INT, 1 MPI_DOUBLE`.
    pub fn describe(&self, bytes: u64) -> String {
        let mut runs: Vec<(u64, &'static str)> = Vec::new();
        let mut end = 0;
        self.runs(Measure::Native, 0, bytes, &mut |run| {
            end = run.native + run.count * run.basic.size;
            match runs.last_mut() {
                Some((count, name)) if *name == run.basic.name => *count += run.count,
                _ => runs.push((run.count, run.basic.name)),
            }
            runs.len() <= DESCRIBED
        });
        let named: Vec<String> =
            runs.iter().take(DESCRIBED).map(|(count, name)| format!("{count} {name}")).collect();
        match named.join(", ") {
            text if text.is_empty() => "no data".to_owned(),
            text if runs.len() > DESCRIBED => text + ", ...",
            text if end > bytes => text + ", the last of them in part",
            text => text,
        }
    }

    /// Number of basic elements in the first `bytes` native packed bytes of endless repetition; `None` when they
    /// end inside an element.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        let (whole, rest) = self.turns(bytes, Sum::size)?;
        whole.checked_mul(self.elements())?.checked_add(rest.elements)
    }

    /// Native packed bytes of the first `elements` basic elements of endless repetition; `None` where there are not
    /// so many, or the bytes do not fit.
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        let (whole, rest) = self.turns(elements, |sum| sum.elements)?;
        whole.checked_mul(self.0.sum.size())?.checked_add(rest.size())
    }

    /// Goes `amount` far into endless repetition: whole turns, and what is left.
    fn turns(&self, amount: u64, by: Measured) -> Option<(u64, Sum)> {
        if amount == 0 {
            return Some((0, Sum::EMPTY));
        }
        let whole = amount.checked_div(by(self.0.sum))?;
        Some((whole, prefix(&self.0, amount % by(self.0.sum), by)?))
    }

    /// Shows the elements that have bytes in `from..to` of endless repetition, run by run and in order; the first
    /// and the last of them may lie there in part. Ends early when `show` returns false.
    pub fn runs(&self, measure: Measure, from: u64, to: u64, show: &mut impl FnMut(Run) -> bool) -> bool {
        let Some(size) = Some(self.bytes(measure)).filter(|size| *size > 0) else { return true };
        let body = Body::Sequence(Arc::clone(&self.0));
        let count = to.div_ceil(size);
        let all = Item { before: Sum::EMPTY, once: self.0.sum, count, body };
        runs(&all, Bytes::default(), measure, from, to, show)
    }
}

/// The basic types that a predefined type stands for: itself, or the two of a pair.
fn parts(builtin: &Builtin) -> Vec<Named> {
    const INT: Named = Named::Int;
    match builtin.kind {
        Kind::FloatInt => vec![Named::Float, INT],
        Kind::DoubleInt => vec![Named::Double, INT],
        Kind::LongInt => vec![Named::Long, INT],
        Kind::TwoInt => vec![INT, INT],
        Kind::ShortInt => vec![Named::Short, INT],
        Kind::LongDoubleInt => vec![Named::LongDouble, INT],
        Kind::TwoReal => vec![Named::Real, Named::Real],
        Kind::TwoDouble => vec![Named::DoublePrecision, Named::DoublePrecision],
        Kind::TwoInteger => vec![Named::Integer, Named::Integer],
        _ => vec![builtin.named],
    }
}

/// Appends a body so many times; the same body as before only adds to its count.
fn push(items: &mut Vec<Item>, count: u64, body: Body) {
    let once = match &body {
        Body::Basic(basic) => Sum::of(basic),
        Body::Sequence(inner) => inner.sum,
    };
    match items.last_mut() {
        Some(last) if last.once.same(once) => last.count = last.count.saturating_add(count),
        _ => items.push(Item { before: Sum::EMPTY, once, count, body }),
    }
}

fn sum_of(items: &[Item]) -> Sum {
    items.iter().fold(Sum::EMPTY, |sum, item| sum.then(item.once.times(item.count)))
}

/// What a stretch of elements is measured by.
type Measured = fn(Sum) -> u64;

/// The first elements of a sequence, `amount` of it by some measure, which is less than all; `None` when that ends
/// inside an element.
fn prefix(sequence: &Sequence, amount: u64, by: Measured) -> Option<Sum> {
    let at = sequence.items.partition_point(|item| by(item.before) <= amount).checked_sub(1)?;
    let item = &sequence.items[at];
    let (rest, once) = (amount - by(item.before), by(item.once));
    let sum = item.before.then(item.once.times(rest / once));
    match (&item.body, rest % once) {
        (_, 0) => Some(sum),
        (Body::Basic(_), _) => None,
        (Body::Sequence(inner), rest) => Some(sum.then(prefix(inner, rest, by)?)),
    }
}

/// Shows what of an item has bytes in `from..to`; the item begins at `origin`.
fn runs(
    item: &Item,
    origin: Bytes,
    measure: Measure,
    from: u64,
    to: u64,
    show: &mut impl FnMut(Run) -> bool,
) -> bool {
    let (size, start) = (measure.of(item.once.bytes), measure.of(origin));
    if from >= to || to <= start {
        return true;
    }
    let first = (from.saturating_sub(start) / size).min(item.count);
    let last = (to - start).div_ceil(size).min(item.count);
    let place = |turn: u64| Bytes {
        native: origin.native + turn * item.once.bytes.native,
        external: origin.external + turn * item.once.bytes.external,
    };
    match &item.body {
        Body::Basic(_) if first >= last => true,
        Body::Basic(basic) => {
            let at = place(first);
            show(Run { basic, count: last - first, native: at.native, start: measure.of(at) })
        }
        Body::Sequence(inner) => (first..last).all(|turn| {
            let at = place(turn);
            let skipped = from.saturating_sub(measure.of(at));
            let begin =
                inner.items.partition_point(|item| measure.of(item.before.bytes) <= skipped).max(1) - 1;
            inner.items[begin..]
                .iter()
                .take_while(|item| measure.of(at) + measure.of(item.before.bytes) < to)
                .all(|item| {
                    let origin = Bytes {
                        native: at.native + item.before.bytes.native,
                        external: at.external + item.before.bytes.external,
                    };
                    runs(item, origin, measure, from, to, show)
                })
        }),
    }
}

/// The hash's modulus, a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;
/// The hash's base: any number of that size would do.
const BASE: u64 = 0x0b5a_d4ec_eda1_ce2a;

fn multiply(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn add(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

impl Sum {
    const EMPTY: Self =
        Self { elements: 0, bytes: Bytes { native: 0, external: 0 }, hash: 0, power: 1, wild: false };

    /// One element.
    fn of(basic: &Builtin) -> Self {
        Self {
            elements: 1,
            bytes: Bytes { native: basic.size, external: basic.external32_size() },
            hash: u64::from(basic.named.on_the_wire()),
            power: BASE,
            wild: basic.named == Named::Packed,
        }
    }

    /// Native bytes.
    fn size(self) -> u64 {
        self.bytes.native
    }

    /// This and then that.
    fn then(self, that: Self) -> Self {
        Self {
            elements: self.elements.saturating_add(that.elements),
            bytes: Bytes {
                native: self.bytes.native.saturating_add(that.bytes.native),
                external: self.bytes.external.saturating_add(that.bytes.external),
            },
            hash: add(multiply(self.hash, that.power), that.hash),
            power: multiply(self.power, that.power),
            wild: self.wild || that.wild,
        }
    }

    /// This so many times, by doubling.
    fn times(self, mut count: u64) -> Self {
        let (mut all, mut block) = (Self::EMPTY, self);
        while count > 0 {
            if count & 1 == 1 {
                all = all.then(block);
            }
            count >>= 1;
            if count > 0 {
                block = block.then(block);
            }
        }
        all
    }

    /// Whether both are the same sequence, as far as the hash shows.
    fn same(self, that: Self) -> bool {
        (self.elements, self.hash) == (that.elements, that.hash)
    }

    /// 32 bits of the hash, never 0.
    fn folded(self) -> u32 {
        let mixed = (self.hash ^ self.elements.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 32) as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Datatype;
    use proptest::prelude::*;

    fn builtin(named: Named) -> Signature {
        Signature::of(Builtin::of(named))
    }

    const INT: Named = Named::Int;
    const DOUBLE: Named = Named::Double;

    /// The flat list of types.
    fn flat(signature: &Signature) -> Vec<Named> {
        let mut list = Vec::new();
        signature.runs(Measure::Native, 0, signature.bytes(Measure::Native), &mut |run| {
            list.extend(std::iter::repeat_n(run.basic.named, run.count as usize));
            true
        });
        list
    }

    fn naive_hash(list: &[Named]) -> u32 {
        let one = |named: &Named| Sum::of(Builtin::of(*named));
        list.iter().fold(Sum::EMPTY, |sum, handle| sum.then(one(handle))).folded()
    }

    #[test]
    fn spelling_does_not_matter() {
        let (int, double) = (builtin(INT), builtin(DOUBLE));
        let both = Signature::sequence([(1, &int), (1, &double)]);
        let twice = both.repeated(2);
        let spelled = Signature::sequence([(1, &both), (1, &int), (1, &double)]);
        assert_eq!(twice.hash(3), spelled.hash(3));
        assert_eq!(int.repeated(6).hash(1), int.hash(6));
        assert_eq!(Signature::sequence([(2, &int), (4, &int)]).hash(1), int.hash(6));
        assert_ne!(int.hash(6), int.hash(5));
        assert_ne!(both.hash(1), Signature::sequence([(1, &double), (1, &int)]).hash(1));
        assert_eq!(Signature::empty().hash(5), int.hash(0));
    }

    #[test]
    fn a_pair_is_its_two_types() {
        let pair = builtin(Named::ShortInt);
        assert_eq!(
            pair.hash(1),
            Signature::sequence([(1, &builtin(Named::Short)), (1, &builtin(INT))]).hash(1)
        );
        assert_eq!(builtin(Named::TwoInt).hash(3), builtin(INT).hash(6));
        for builtin in Builtin::all() {
            let signature = Signature::of(builtin);
            assert_eq!(signature.bytes(Measure::Native), builtin.size, "{}", builtin.name);
            assert_eq!(signature.elements(), builtin.elements(), "{}", builtin.name);
        }
    }

    #[test]
    fn nesting_and_huge_counts_cost_nothing() {
        let mut datatype = Datatype::from(INT);
        for depth in 0..100_000 {
            datatype = if depth % 2 == 0 {
                Datatype::dup(&datatype).unwrap()
            } else {
                Datatype::contiguous(1, &datatype).unwrap()
            };
        }
        assert_eq!(datatype.signature().hash(7), builtin(INT).hash(7));
        let huge = builtin(INT).repeated(1 << 30).repeated(1 << 30);
        assert_eq!((huge.elements(), huge.hash(1)), (1 << 60, builtin(INT).hash(1 << 60)));
        // One more element of another type at each level.
        let mut grown = builtin(INT);
        for level in 0..1000 {
            grown =
                Signature::sequence([(1, &grown), (1, &builtin(if level % 2 == 0 { DOUBLE } else { INT }))]);
        }
        assert_eq!(grown.elements(), 1001);
        assert_eq!(grown.prefix_hash(12), Some(naive_hash(&[INT, DOUBLE])));
    }

    #[derive(Clone, Debug)]
    enum Recipe {
        Builtin(Named),
        Repeat(u64, Box<Self>),
        Sequence(Vec<(u64, Self)>),
    }

    fn recipe() -> impl Strategy<Value = Recipe> {
        let leaf = prop_oneof![
            Just(INT),
            Just(DOUBLE),
            Just(Named::Long),
            Just(Named::LongDoubleInt),
            Just(Named::TwoInt),
            Just(Named::Byte),
            Just(Named::Wchar),
            Just(Named::LongDouble),
        ];
        leaf.prop_map(Recipe::Builtin).prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                (0..4u64, inner.clone()).prop_map(|(count, inner)| Recipe::Repeat(count, Box::new(inner))),
                proptest::collection::vec((0..3u64, inner), 0..4).prop_map(Recipe::Sequence),
            ]
        })
    }

    /// The signature, and the naive flat list.
    fn build(recipe: &Recipe) -> (Signature, Vec<Named>) {
        match recipe {
            Recipe::Builtin(handle) => (builtin(*handle), parts(Builtin::of(*handle))),
            Recipe::Repeat(count, inner) => {
                let (signature, list) = build(inner);
                (signature.repeated(*count), list.repeat(*count as usize))
            }
            Recipe::Sequence(parts) => {
                let built: Vec<_> = parts.iter().map(|(count, part)| (*count, build(part))).collect();
                let signature =
                    Signature::sequence(built.iter().map(|(count, (signature, _))| (*count, signature)));
                let list = built.iter().flat_map(|(count, (_, list))| list.repeat(*count as usize)).collect();
                (signature, list)
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_flat_list(recipe in recipe(), count in 1..4u64, cut in 0..10_000u64) {
            let (signature, list) = build(&recipe);
            prop_assert_eq!(flat(&signature), list.clone());
            prop_assert_eq!(signature.elements(), list.len() as u64);
            let all = list.repeat(count as usize);
            prop_assert_eq!(signature.hash(count), naive_hash(&all));
            let sizes: Vec<u64> = all.iter().map(|h| Builtin::of(*h).size).collect();
            let total: u64 = sizes.iter().sum();
            // A prefix of so many bytes: whole elements, or none.
            let cut = cut % (total + 1);
            let (mut at, mut n) = (0, 0);
            while at < cut {
                at += sizes[n];
                n += 1;
            }
            let expected = (at == cut).then(|| naive_hash(&all[..n]));
            prop_assert_eq!(signature.prefix_hash(cut), expected);
            prop_assert_eq!(signature.elements_in(cut), (at == cut).then_some(n as u64));
            prop_assert_eq!(signature.bytes_of(n as u64), Some(at));
        }

        /// Ranges show exactly the elements that have bytes in them, in both measures.
        #[test]
        fn runs_cover_exactly_the_range(recipe in recipe(), a in 0..2000u64, b in 0..2000u64) {
            let (signature, list) = build(&recipe);
            for measure in [Measure::Native, Measure::External32] {
                let (from, to) = (a.min(b), a.max(b));
                let mut expected = Vec::new();
                let (mut at, mut native) = (0, 0);
                if !list.is_empty() {
                    'all: loop {
                        for handle in &list {
                            let basic = Builtin::of(*handle);
                            let size = measure.of(Sum::of(basic).bytes);
                            if at >= to { break 'all; }
                            if at + size > from && from < to { expected.push((*handle, native, at)); }
                            at += size;
                            native += basic.size;
                        }
                    }
                }
                let mut found = Vec::new();
                signature.runs(measure, from, to, &mut |run| {
                    let step = measure.of(Sum::of(run.basic).bytes);
                    for i in 0..run.count {
                        found.push((run.basic.named, run.native + i * run.basic.size, run.start + i * step));
                    }
                    true
                });
                prop_assert_eq!(found, expected);
            }
        }
    }
}
