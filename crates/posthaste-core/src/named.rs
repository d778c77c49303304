//! Names of the predefined datatypes (MPI-5.0 §3.2.2): by them the engine, its peers and the API layers mean the same type.
//!
//! What must stay true: the numbers are the engine's own and travel in messages; which handle a C program has for a type is
//! known to the API layer alone.

macro_rules! named {
    ($($name:ident $mpi:literal)*) => {
        /// A predefined datatype.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Named { $(#[doc = concat!("`", $mpi, "`.")] $name,)* }

        impl Named {
            /// All of them, by ascending number.
            pub const ALL: [Self; COUNT] = [$(Self::$name),*];

            /// The name in C.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $mpi,)* }
            }
        }

        const COUNT: usize = [$($mpi),*].len();
    };
}

named! {
    Aint "MPI_AINT"
    Count "MPI_COUNT"
    Offset "MPI_OFFSET"
    Packed "MPI_PACKED"
    Short "MPI_SHORT"
    Int "MPI_INT"
    Long "MPI_LONG"
    LongLong "MPI_LONG_LONG_INT"
    UnsignedShort "MPI_UNSIGNED_SHORT"
    Unsigned "MPI_UNSIGNED"
    UnsignedLong "MPI_UNSIGNED_LONG"
    UnsignedLongLong "MPI_UNSIGNED_LONG_LONG"
    Float "MPI_FLOAT"
    CFloatComplex "MPI_C_COMPLEX"
    CxxFloatComplex "MPI_CXX_FLOAT_COMPLEX"
    Double "MPI_DOUBLE"
    CDoubleComplex "MPI_C_DOUBLE_COMPLEX"
    CxxDoubleComplex "MPI_CXX_DOUBLE_COMPLEX"
    Logical "MPI_LOGICAL"
    Integer "MPI_INTEGER"
    Real "MPI_REAL"
    Complex "MPI_COMPLEX"
    DoublePrecision "MPI_DOUBLE_PRECISION"
    DoubleComplex "MPI_DOUBLE_COMPLEX"
    Character "MPI_CHARACTER"
    LongDouble "MPI_LONG_DOUBLE"
    CLongDoubleComplex "MPI_C_LONG_DOUBLE_COMPLEX"
    CxxLongDoubleComplex "MPI_CXX_LONG_DOUBLE_COMPLEX"
    FloatInt "MPI_FLOAT_INT"
    DoubleInt "MPI_DOUBLE_INT"
    LongInt "MPI_LONG_INT"
    TwoInt "MPI_2INT"
    ShortInt "MPI_SHORT_INT"
    LongDoubleInt "MPI_LONG_DOUBLE_INT"
    TwoReal "MPI_2REAL"
    TwoDoublePrecision "MPI_2DOUBLE_PRECISION"
    TwoInteger "MPI_2INTEGER"
    CBool "MPI_C_BOOL"
    CxxBool "MPI_CXX_BOOL"
    Wchar "MPI_WCHAR"
    Int8 "MPI_INT8_T"
    Uint8 "MPI_UINT8_T"
    Char "MPI_CHAR"
    SignedChar "MPI_SIGNED_CHAR"
    UnsignedChar "MPI_UNSIGNED_CHAR"
    Byte "MPI_BYTE"
    Int16 "MPI_INT16_T"
    Uint16 "MPI_UINT16_T"
    Int32 "MPI_INT32_T"
    Uint32 "MPI_UINT32_T"
    Int64 "MPI_INT64_T"
    Uint64 "MPI_UINT64_T"
    Logical1 "MPI_LOGICAL1"
    Integer1 "MPI_INTEGER1"
    Logical2 "MPI_LOGICAL2"
    Integer2 "MPI_INTEGER2"
    Real2 "MPI_REAL2"
    Logical4 "MPI_LOGICAL4"
    Integer4 "MPI_INTEGER4"
    Real4 "MPI_REAL4"
    Complex4 "MPI_COMPLEX4"
    Logical8 "MPI_LOGICAL8"
    Integer8 "MPI_INTEGER8"
    Real8 "MPI_REAL8"
    Complex8 "MPI_COMPLEX8"
    Logical16 "MPI_LOGICAL16"
    Integer16 "MPI_INTEGER16"
    Real16 "MPI_REAL16"
    Complex16 "MPI_COMPLEX16"
    Complex32 "MPI_COMPLEX32"
}

impl Named {
    /// As a table index.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// As a message says it; never 0.
    pub const fn on_the_wire(self) -> u16 {
        self as u16 + 1
    }

    /// What a message means by this number; `None` if it says nothing.
    pub fn from_the_wire(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}
