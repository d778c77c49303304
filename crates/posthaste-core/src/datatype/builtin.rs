//! The predefined datatypes: one table.
//!
//! What must stay true: sizes, extents and alignments are those of C on x86-64 (System V) and of Fortran with its default kinds; the pair types are laid
//! out like the C structures of MPI-5.0 §6.9.4.

use super::layout::Layout;
use crate::named::Named;
use std::sync::LazyLock;

/// A predefined datatype.
#[derive(Debug)]
pub struct Builtin {
    /// Which one it is.
    pub named: Named,
    /// Name in C.
    pub name: &'static str,
    /// Packed bytes.
    pub size: u64,
    /// Distance of neighbours in an array, in bytes.
    pub extent: i64,
    /// Alignment in a C structure, in bytes.
    pub align: u64,
    /// The class that decides which reductions are allowed.
    pub class: Class,
    /// How a value is represented.
    pub kind: Kind,
    layout: Layout,
}

/// Groups of basic types in the rules for reductions (MPI-5.0 §6.9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// C integers.
    Integer,
    /// Fortran integers.
    FortranInteger,
    /// Floating point.
    Floating,
    /// Logical values of C, C++ and Fortran.
    Logical,
    /// Complex numbers.
    Complex,
    /// `MPI_BYTE`.
    Byte,
    /// Integers that every language shares: addresses, offsets, counts.
    MultiLanguage,
    /// Printable characters: no arithmetic.
    Character,
    /// A value and its index.
    Pair,
    /// `MPI_PACKED`: no arithmetic.
    Packed,
}

impl Class {
    /// The group's name, for error messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "C integer",
            Self::FortranInteger => "Fortran integer",
            Self::Floating => "floating point",
            Self::Logical => "logical",
            Self::Complex => "complex",
            Self::Byte => "byte",
            Self::MultiLanguage => "multi-language",
            Self::Character => "character",
            Self::Pair => "value and index",
            Self::Packed => "packed",
        }
    }
}

/// Representation of a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two's complement, so many bytes.
    Signed(u8),
    /// Unsigned integer, so many bytes.
    Unsigned(u8),
    /// IEEE 754 (16 bytes: quadruple precision).
    Float(u8),
    /// The 80-bit format of C's `long double`, in 16 bytes.
    Extended,
    /// Real and imaginary part, each so many bytes of IEEE 754.
    Complex(u8),
    /// Real and imaginary part in the 80-bit format.
    ComplexExtended,
    /// Zero is false, anything else true; so many bytes.
    Logical(u8),
    /// `float` and `int`.
    FloatInt,
    /// `double` and `int`.
    DoubleInt,
    /// `long` and `int`.
    LongInt,
    /// Two `int`.
    TwoInt,
    /// `short` and `int`.
    ShortInt,
    /// `long double` and `int`.
    LongDoubleInt,
    /// Two `REAL`.
    TwoReal,
    /// Two `DOUBLE PRECISION`.
    TwoDouble,
    /// Two `INTEGER`.
    TwoInteger,
}

impl Kind {
    /// The representation of C's `long double`.
    pub(super) const LONG_DOUBLE: Self = Self::Extended;

    /// Size, extent, alignment.
    const fn measures(self) -> (u64, i64, u64) {
        match self {
            Self::Signed(n) | Self::Unsigned(n) | Self::Float(n) | Self::Logical(n) => {
                (n as u64, n as i64, n as u64)
            }
            Self::Extended => (16, 16, 16),
            Self::Complex(n) => (2 * n as u64, 2 * n as i64, n as u64),
            Self::ComplexExtended => (32, 32, 16),
            Self::FloatInt | Self::TwoInt | Self::TwoReal | Self::TwoInteger => (8, 8, 4),
            Self::DoubleInt | Self::LongInt => (12, 16, 8),
            Self::ShortInt => (6, 8, 4),
            Self::LongDoubleInt => (20, 32, 16),
            Self::TwoDouble => (16, 16, 8),
        }
    }
}

impl Builtin {
    const fn new(named: Named, class: Class, kind: Kind) -> Self {
        let (size, extent, align) = kind.measures();
        Self { named, name: named.name(), size, extent, align, class, kind, layout: Layout::run(size) }
    }

    /// `MPI_BYTE`.
    pub(super) const BYTE: &'static Self = &TABLE[Named::Byte.index()];

    /// The type of this name.
    #[inline]
    pub fn of(named: Named) -> &'static Self {
        &TABLE[named.index()]
    }

    /// Every predefined type, by ascending number of its name.
    pub fn all() -> &'static [Self] {
        &TABLE
    }

    /// Which bytes of the extent are data.
    pub fn layout(&self) -> &Layout {
        // The only one with a hole between its parts.
        if self.kind == Kind::ShortInt { &SHORT_INT } else { &self.layout }
    }

    /// Number of basic elements: two for a pair, else one (MPI-5.0 §5.1.11).
    pub fn elements(&self) -> u64 {
        if self.class == Class::Pair { 2 } else { 1 }
    }

    /// Bytes of a value in external32 (MPI-5.0 §14.5.2): as many as in memory but for `long` and `wchar_t`, which
    /// have 4 and 2 there, whatever they have here.
    pub const fn external32_size(&self) -> u64 {
        match self.named {
            Named::Long | Named::UnsignedLong => 4,
            Named::Wchar => 2,
            Named::LongInt => 4 + 4,
            _ => self.size,
        }
    }
}

// These tables are alike in all copies of this code in a process; types are compared by their numbers, not by their addresses.
static SHORT_INT: LazyLock<Layout> = LazyLock::new(|| {
    let index = Layout::run(4).moved(4).unwrap_or(Layout::EMPTY);
    Layout::sequence([Layout::run(2), index]).unwrap_or(Layout::EMPTY)
});

/// A name is a place in the table.
const _: () = {
    let mut i = 0;
    while i < TABLE.len() {
        assert!(TABLE[i].named.index() == i);
        i += 1;
    }
};

use Class::{Byte, Character, FortranInteger, Integer, MultiLanguage, Packed};
use Kind::{Float, Signed, Unsigned};

static TABLE: [Builtin; Named::ALL.len()] = [
    Builtin::new(Named::Aint, MultiLanguage, Signed(8)),
    Builtin::new(Named::Count, MultiLanguage, Signed(8)),
    Builtin::new(Named::Offset, MultiLanguage, Signed(8)),
    Builtin::new(Named::Packed, Packed, Unsigned(1)),
    Builtin::new(Named::Short, Integer, Signed(2)),
    Builtin::new(Named::Int, Integer, Signed(4)),
    Builtin::new(Named::Long, Integer, Signed(8)),
    Builtin::new(Named::LongLong, Integer, Signed(8)),
    Builtin::new(Named::UnsignedShort, Integer, Unsigned(2)),
    Builtin::new(Named::Unsigned, Integer, Unsigned(4)),
    Builtin::new(Named::UnsignedLong, Integer, Unsigned(8)),
    Builtin::new(Named::UnsignedLongLong, Integer, Unsigned(8)),
    Builtin::new(Named::Float, Class::Floating, Float(4)),
    Builtin::new(Named::CFloatComplex, Class::Complex, Kind::Complex(4)),
    Builtin::new(Named::CxxFloatComplex, Class::Complex, Kind::Complex(4)),
    Builtin::new(Named::Double, Class::Floating, Float(8)),
    Builtin::new(Named::CDoubleComplex, Class::Complex, Kind::Complex(8)),
    Builtin::new(Named::CxxDoubleComplex, Class::Complex, Kind::Complex(8)),
    Builtin::new(Named::Logical, Class::Logical, Kind::Logical(4)),
    Builtin::new(Named::Integer, FortranInteger, Signed(4)),
    Builtin::new(Named::Real, Class::Floating, Float(4)),
    Builtin::new(Named::Complex, Class::Complex, Kind::Complex(4)),
    Builtin::new(Named::DoublePrecision, Class::Floating, Float(8)),
    Builtin::new(Named::DoubleComplex, Class::Complex, Kind::Complex(8)),
    Builtin::new(Named::Character, Character, Unsigned(1)),
    Builtin::new(Named::LongDouble, Class::Floating, Kind::LONG_DOUBLE),
    Builtin::new(Named::CLongDoubleComplex, Class::Complex, Kind::ComplexExtended),
    Builtin::new(Named::CxxLongDoubleComplex, Class::Complex, Kind::ComplexExtended),
    Builtin::new(Named::FloatInt, Class::Pair, Kind::FloatInt),
    Builtin::new(Named::DoubleInt, Class::Pair, Kind::DoubleInt),
    Builtin::new(Named::LongInt, Class::Pair, Kind::LongInt),
    Builtin::new(Named::TwoInt, Class::Pair, Kind::TwoInt),
    Builtin::new(Named::ShortInt, Class::Pair, Kind::ShortInt),
    Builtin::new(Named::LongDoubleInt, Class::Pair, Kind::LongDoubleInt),
    Builtin::new(Named::TwoReal, Class::Pair, Kind::TwoReal),
    Builtin::new(Named::TwoDoublePrecision, Class::Pair, Kind::TwoDouble),
    Builtin::new(Named::TwoInteger, Class::Pair, Kind::TwoInteger),
    Builtin::new(Named::CBool, Class::Logical, Kind::Logical(1)),
    Builtin::new(Named::CxxBool, Class::Logical, Kind::Logical(1)),
    Builtin::new(Named::Wchar, Character, Signed(4)),
    Builtin::new(Named::Int8, Integer, Signed(1)),
    Builtin::new(Named::Uint8, Integer, Unsigned(1)),
    Builtin::new(Named::Char, Character, Signed(1)),
    Builtin::new(Named::SignedChar, Integer, Signed(1)),
    Builtin::new(Named::UnsignedChar, Integer, Unsigned(1)),
    Builtin::new(Named::Byte, Byte, Unsigned(1)),
    Builtin::new(Named::Int16, Integer, Signed(2)),
    Builtin::new(Named::Uint16, Integer, Unsigned(2)),
    Builtin::new(Named::Int32, Integer, Signed(4)),
    Builtin::new(Named::Uint32, Integer, Unsigned(4)),
    Builtin::new(Named::Int64, Integer, Signed(8)),
    Builtin::new(Named::Uint64, Integer, Unsigned(8)),
    Builtin::new(Named::Logical1, Class::Logical, Kind::Logical(1)),
    Builtin::new(Named::Integer1, FortranInteger, Signed(1)),
    Builtin::new(Named::Logical2, Class::Logical, Kind::Logical(2)),
    Builtin::new(Named::Integer2, FortranInteger, Signed(2)),
    Builtin::new(Named::Real2, Class::Floating, Float(2)),
    Builtin::new(Named::Logical4, Class::Logical, Kind::Logical(4)),
    Builtin::new(Named::Integer4, FortranInteger, Signed(4)),
    Builtin::new(Named::Real4, Class::Floating, Float(4)),
    Builtin::new(Named::Complex4, Class::Complex, Kind::Complex(2)),
    Builtin::new(Named::Logical8, Class::Logical, Kind::Logical(8)),
    Builtin::new(Named::Integer8, FortranInteger, Signed(8)),
    Builtin::new(Named::Real8, Class::Floating, Float(8)),
    Builtin::new(Named::Complex8, Class::Complex, Kind::Complex(4)),
    Builtin::new(Named::Logical16, Class::Logical, Kind::Logical(16)),
    Builtin::new(Named::Integer16, FortranInteger, Signed(16)),
    Builtin::new(Named::Real16, Class::Floating, Float(16)),
    Builtin::new(Named::Complex16, Class::Complex, Kind::Complex(8)),
    Builtin::new(Named::Complex32, Class::Complex, Kind::Complex(16)),
];
