//! Predefined handles as variables of MPICH's module `mpi_f08_compile_constants`, under the names that gfortran and Intel's compilers
//! give them: to pass one by address a compiler may name its variable.
//!
//! What must stay true: the numbers are those of `posthaste-mpich`, which a test of xtask compares.

use crate::argument::Integer;

macro_rules! handles {
    ($($stem:literal $number:literal)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("__mpi_f08_compile_constants_MOD_mpi_", $stem))]
            static GNU: Integer = $number as u32 as Integer;
            #[unsafe(export_name = concat!("mpi_f08_compile_constants_mp_mpi_", $stem, "_"))]
            static INTEL: Integer = $number as u32 as Integer;
        };
    )*};
}

handles! {
    "2double_precision" 0x4c001023
    "2int" 0x4c000816
    "2integer" 0x4c000820
    "2real" 0x4c000821
    "aint" 0x4c000843
    "band" 0x58000006
    "bor" 0x58000008
    "bxor" 0x5800000a
    "byte" 0x4c00010d
    "c_bool" 0x4c00013f
    "c_complex" 0x4c000840
    "c_double_complex" 0x4c001041
    "c_float_complex" 0x4c000840
    "c_long_double_complex" 0x4c002042
    "char" 0x4c000101
    "character" 0x4c00011a
    "comm_null" 0x04000000
    "comm_self" 0x44000001
    "comm_world" 0x44000000
    "complex" 0x4c00081e
    "complex16" 0x4c00102a
    "complex32" 0x4c00202c
    "complex8" 0x4c000828
    "count" 0x4c000845
    "cxx_bool" 0x4c000133
    "cxx_double_complex" 0x4c001035
    "cxx_float_complex" 0x4c000834
    "cxx_long_double_complex" 0x4c002036
    "datatype_null" 0x0c000000
    "double" 0x4c00080b
    "double_complex" 0x4c001022
    "double_int" 0x8c000001
    "double_precision" 0x4c00081f
    "errhandler_null" 0x14000000
    "errors_are_fatal" 0x54000000
    "errors_return" 0x54000001
    "file_null" 0x00000000
    "float" 0x4c00040a
    "float_int" 0x8c000000
    "group_empty" 0x48000000
    "group_null" 0x08000000
    "info_env" 0x5c000001
    "info_null" 0x1c000000
    "int" 0x4c000405
    "int16_t" 0x4c000238
    "int32_t" 0x4c000439
    "int64_t" 0x4c00083a
    "int8_t" 0x4c000137
    "integer" 0x4c00041b
    "integer1" 0x4c00012d
    "integer16" 0x4c001032
    "integer2" 0x4c00022f
    "integer4" 0x4c000430
    "integer8" 0x4c000831
    "land" 0x58000005
    "lb" 0x4c000010
    "logical" 0x4c00041d
    "logical1" 0x4c000147
    "logical16" 0x4c00104b
    "logical2" 0x4c000248
    "logical4" 0x4c000449
    "logical8" 0x4c00084a
    "long" 0x4c000807
    "long_double" 0x4c00100c
    "long_double_int" 0x8c000004
    "long_int" 0x8c000002
    "long_long" 0x4c000809
    "long_long_int" 0x4c000809
    "lor" 0x58000007
    "lxor" 0x58000009
    "max" 0x58000001
    "maxloc" 0x5800000c
    "message_no_proc" 0x6c000000
    "message_null" 0x2c000000
    "min" 0x58000002
    "minloc" 0x5800000b
    "no_op" 0x5800000e
    "offset" 0x4c000844
    "op_null" 0x18000000
    "packed" 0x4c00010f
    "prod" 0x58000004
    "real" 0x4c00041c
    "real16" 0x4c00102b
    "real4" 0x4c000427
    "real8" 0x4c000829
    "replace" 0x5800000d
    "request_null" 0x2c000000
    "session_null" 0x38000000
    "short" 0x4c000203
    "short_int" 0x8c000003
    "signed_char" 0x4c000118
    "sum" 0x58000003
    "ub" 0x4c000011
    "uint16_t" 0x4c00023c
    "uint32_t" 0x4c00043d
    "uint64_t" 0x4c00083e
    "uint8_t" 0x4c00013b
    "unsigned" 0x4c000406
    "unsigned_char" 0x4c000102
    "unsigned_long" 0x4c000808
    "unsigned_long_long" 0x4c000819
    "unsigned_short" 0x4c000204
    "wchar" 0x4c00040e
    "win_null" 0x20000000
}
