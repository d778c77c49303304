//! The predefined datatypes of the standard ABI: one table.
//!
//! What must stay true: handles are those of the standard ABI (MPI-5.0, chapter on the ABI); sizes, extents and
//! alignments are those of C on x86-64 (System V) and of Fortran with its default kinds; the pair types are laid
//! out like the C structures of MPI-5.0 §6.9.4.

use super::layout::Layout;
use std::sync::LazyLock;

/// A predefined datatype.
#[derive(Debug)]
pub struct Builtin {
    /// Handle in the standard ABI.
    pub abi: u32,
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
    const fn new(abi: u32, name: &'static str, class: Class, kind: Kind) -> Self {
        let (size, extent, align) = kind.measures();
        Self { abi, name, size, extent, align, class, kind, layout: Layout::run(size) }
    }

    /// The handle of `MPI_CHAR`.
    pub const CHAR: u32 = 0x243;

    /// `MPI_BYTE`.
    pub(super) const BYTE: &'static Self = &TABLE[BYTE_INDEX];

    /// The type with this handle.
    pub fn from_abi(handle: u32) -> Option<&'static Self> {
        let index = *INDEX.get(handle.checked_sub(FIRST)? as usize)?;
        TABLE.get(usize::from(index))
    }

    /// Every predefined type, by ascending handle.
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
        match self.abi {
            0x20a | 0x20e => 4,
            0x23c => 2,
            0x22a => 4 + 4,
            _ => self.size,
        }
    }
}

// These tables are alike in all copies of this code in a process; types are compared by their numbers, not by their addresses.
static SHORT_INT: LazyLock<Layout> = LazyLock::new(|| {
    let index = Layout::run(4).moved(4).unwrap_or(Layout::EMPTY);
    Layout::sequence([Layout::run(2), index]).unwrap_or(Layout::EMPTY)
});

const BYTE_INDEX: usize = {
    let mut i = 0;
    while TABLE[i].abi != 0x247 {
        i += 1;
    }
    i
};

const FIRST: u32 = 0x200;
const NOWHERE: u8 = u8::MAX;

/// Index into the table by handle.
static INDEX: [u8; 0x100] = {
    let mut index = [NOWHERE; 0x100];
    let mut i = 0;
    while i < TABLE.len() {
        index[(TABLE[i].abi - FIRST) as usize] = i as u8;
        i += 1;
    }
    index
};

use Class::{Byte, Character, FortranInteger, Integer, MultiLanguage, Packed};
use Kind::{Float, Signed, Unsigned};

static TABLE: [Builtin; 70] = [
    Builtin::new(0x201, "MPI_AINT", MultiLanguage, Signed(8)),
    Builtin::new(0x202, "MPI_COUNT", MultiLanguage, Signed(8)),
    Builtin::new(0x203, "MPI_OFFSET", MultiLanguage, Signed(8)),
    Builtin::new(0x207, "MPI_PACKED", Packed, Unsigned(1)),
    Builtin::new(0x208, "MPI_SHORT", Integer, Signed(2)),
    Builtin::new(0x209, "MPI_INT", Integer, Signed(4)),
    Builtin::new(0x20a, "MPI_LONG", Integer, Signed(8)),
    Builtin::new(0x20b, "MPI_LONG_LONG", Integer, Signed(8)),
    Builtin::new(0x20c, "MPI_UNSIGNED_SHORT", Integer, Unsigned(2)),
    Builtin::new(0x20d, "MPI_UNSIGNED", Integer, Unsigned(4)),
    Builtin::new(0x20e, "MPI_UNSIGNED_LONG", Integer, Unsigned(8)),
    Builtin::new(0x20f, "MPI_UNSIGNED_LONG_LONG", Integer, Unsigned(8)),
    Builtin::new(0x210, "MPI_FLOAT", Class::Floating, Float(4)),
    Builtin::new(0x212, "MPI_C_COMPLEX", Class::Complex, Kind::Complex(4)),
    Builtin::new(0x213, "MPI_CXX_FLOAT_COMPLEX", Class::Complex, Kind::Complex(4)),
    Builtin::new(0x214, "MPI_DOUBLE", Class::Floating, Float(8)),
    Builtin::new(0x216, "MPI_C_DOUBLE_COMPLEX", Class::Complex, Kind::Complex(8)),
    Builtin::new(0x217, "MPI_CXX_DOUBLE_COMPLEX", Class::Complex, Kind::Complex(8)),
    Builtin::new(0x218, "MPI_LOGICAL", Class::Logical, Kind::Logical(4)),
    Builtin::new(0x219, "MPI_INTEGER", FortranInteger, Signed(4)),
    Builtin::new(0x21a, "MPI_REAL", Class::Floating, Float(4)),
    Builtin::new(0x21b, "MPI_COMPLEX", Class::Complex, Kind::Complex(4)),
    Builtin::new(0x21c, "MPI_DOUBLE_PRECISION", Class::Floating, Float(8)),
    Builtin::new(0x21d, "MPI_DOUBLE_COMPLEX", Class::Complex, Kind::Complex(8)),
    Builtin::new(0x21e, "MPI_CHARACTER", Character, Unsigned(1)),
    Builtin::new(0x220, "MPI_LONG_DOUBLE", Class::Floating, Kind::LONG_DOUBLE),
    Builtin::new(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Class::Complex, Kind::ComplexExtended),
    Builtin::new(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Class::Complex, Kind::ComplexExtended),
    Builtin::new(0x228, "MPI_FLOAT_INT", Class::Pair, Kind::FloatInt),
    Builtin::new(0x229, "MPI_DOUBLE_INT", Class::Pair, Kind::DoubleInt),
    Builtin::new(0x22a, "MPI_LONG_INT", Class::Pair, Kind::LongInt),
    Builtin::new(0x22b, "MPI_2INT", Class::Pair, Kind::TwoInt),
    Builtin::new(0x22c, "MPI_SHORT_INT", Class::Pair, Kind::ShortInt),
    Builtin::new(0x22d, "MPI_LONG_DOUBLE_INT", Class::Pair, Kind::LongDoubleInt),
    Builtin::new(0x230, "MPI_2REAL", Class::Pair, Kind::TwoReal),
    Builtin::new(0x231, "MPI_2DOUBLE_PRECISION", Class::Pair, Kind::TwoDouble),
    Builtin::new(0x232, "MPI_2INTEGER", Class::Pair, Kind::TwoInteger),
    Builtin::new(0x238, "MPI_C_BOOL", Class::Logical, Kind::Logical(1)),
    Builtin::new(0x239, "MPI_CXX_BOOL", Class::Logical, Kind::Logical(1)),
    Builtin::new(0x23c, "MPI_WCHAR", Character, Signed(4)),
    Builtin::new(0x240, "MPI_INT8_T", Integer, Signed(1)),
    Builtin::new(0x241, "MPI_UINT8_T", Integer, Unsigned(1)),
    Builtin::new(Builtin::CHAR, "MPI_CHAR", Character, Signed(1)),
    Builtin::new(0x244, "MPI_SIGNED_CHAR", Integer, Signed(1)),
    Builtin::new(0x245, "MPI_UNSIGNED_CHAR", Integer, Unsigned(1)),
    Builtin::new(0x247, "MPI_BYTE", Byte, Unsigned(1)),
    Builtin::new(0x248, "MPI_INT16_T", Integer, Signed(2)),
    Builtin::new(0x249, "MPI_UINT16_T", Integer, Unsigned(2)),
    Builtin::new(0x250, "MPI_INT32_T", Integer, Signed(4)),
    Builtin::new(0x251, "MPI_UINT32_T", Integer, Unsigned(4)),
    Builtin::new(0x258, "MPI_INT64_T", Integer, Signed(8)),
    Builtin::new(0x259, "MPI_UINT64_T", Integer, Unsigned(8)),
    Builtin::new(0x2c0, "MPI_LOGICAL1", Class::Logical, Kind::Logical(1)),
    Builtin::new(0x2c1, "MPI_INTEGER1", FortranInteger, Signed(1)),
    Builtin::new(0x2c8, "MPI_LOGICAL2", Class::Logical, Kind::Logical(2)),
    Builtin::new(0x2c9, "MPI_INTEGER2", FortranInteger, Signed(2)),
    Builtin::new(0x2ca, "MPI_REAL2", Class::Floating, Float(2)),
    Builtin::new(0x2d0, "MPI_LOGICAL4", Class::Logical, Kind::Logical(4)),
    Builtin::new(0x2d1, "MPI_INTEGER4", FortranInteger, Signed(4)),
    Builtin::new(0x2d2, "MPI_REAL4", Class::Floating, Float(4)),
    Builtin::new(0x2d3, "MPI_COMPLEX4", Class::Complex, Kind::Complex(2)),
    Builtin::new(0x2d8, "MPI_LOGICAL8", Class::Logical, Kind::Logical(8)),
    Builtin::new(0x2d9, "MPI_INTEGER8", FortranInteger, Signed(8)),
    Builtin::new(0x2da, "MPI_REAL8", Class::Floating, Float(8)),
    Builtin::new(0x2db, "MPI_COMPLEX8", Class::Complex, Kind::Complex(4)),
    Builtin::new(0x2e0, "MPI_LOGICAL16", Class::Logical, Kind::Logical(16)),
    Builtin::new(0x2e1, "MPI_INTEGER16", FortranInteger, Signed(16)),
    Builtin::new(0x2e2, "MPI_REAL16", Class::Floating, Float(16)),
    Builtin::new(0x2e3, "MPI_COMPLEX16", Class::Complex, Kind::Complex(8)),
    Builtin::new(0x2eb, "MPI_COMPLEX32", Class::Complex, Kind::Complex(16)),
];
