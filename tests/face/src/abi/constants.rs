//! The numbers of this face: other ones than the standard ABI's and the engine's, wherever the library looks at one. They are
//! nobody's; the header of the tests is made from this file.

use std::ffi::c_int;

use super::define::constants;
use super::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
    MPI_Session, MPI_T_cvar_handle, MPI_T_enum, MPI_T_pvar_handle, MPI_T_pvar_session, MPI_Win,
};

constants! {
    "version of the standard; this is not its ABI" {
        MPI_VERSION: c_int = 5;
        MPI_SUBVERSION: c_int = 0;
        MPI_ABI_VERSION: c_int = -1;
        MPI_ABI_SUBVERSION: c_int = -1;
    }
    "Reduction operations (MPI-5.0 section 6.9)" {
        MPI_OP_NULL: MPI_Op = MPI_Op(0x18000000);
        MPI_SUM: MPI_Op = MPI_Op(0x58000003);
        MPI_MIN: MPI_Op = MPI_Op(0x58000002);
        MPI_MAX: MPI_Op = MPI_Op(0x58000001);
        MPI_PROD: MPI_Op = MPI_Op(0x58000004);
        MPI_BAND: MPI_Op = MPI_Op(0x58000006);
        MPI_BOR: MPI_Op = MPI_Op(0x58000008);
        MPI_BXOR: MPI_Op = MPI_Op(0x5800000a);
        MPI_LAND: MPI_Op = MPI_Op(0x58000005);
        MPI_LOR: MPI_Op = MPI_Op(0x58000007);
        MPI_LXOR: MPI_Op = MPI_Op(0x58000009);
        MPI_MINLOC: MPI_Op = MPI_Op(0x5800000b);
        MPI_MAXLOC: MPI_Op = MPI_Op(0x5800000c);
        MPI_REPLACE: MPI_Op = MPI_Op(0x5800000d);
        MPI_NO_OP: MPI_Op = MPI_Op(0x5800000e);
    }
    "Communicators and groups (chapter 7)" {
        MPI_COMM_NULL: MPI_Comm = MPI_Comm(0x04000000);
        MPI_COMM_WORLD: MPI_Comm = MPI_Comm(0x44000000);
        MPI_COMM_SELF: MPI_Comm = MPI_Comm(0x44000001);
        MPI_GROUP_NULL: MPI_Group = MPI_Group(0x08000000);
        MPI_GROUP_EMPTY: MPI_Group = MPI_Group(0x48000000);
    }
    "Null handles of windows, files and sessions; messages of matched probes" {
        MPI_WIN_NULL: MPI_Win = MPI_Win(0x20000000);
        MPI_FILE_NULL: MPI_File = MPI_File(0x24000000);
        MPI_SESSION_NULL: MPI_Session = MPI_Session(0x38000000);
        MPI_MESSAGE_NULL: MPI_Message = MPI_Message(0x30000000);
        MPI_MESSAGE_NO_PROC: MPI_Message = MPI_Message(0x70000000);
    }
    "Info objects (chapter 10)" {
        MPI_INFO_NULL: MPI_Info = MPI_Info(0x1c000000);
        MPI_INFO_ENV: MPI_Info = MPI_Info(0x5c000001);
    }
    "Error handlers (section 9.3)" {
        MPI_ERRHANDLER_NULL: MPI_Errhandler = MPI_Errhandler(0x14000000);
        MPI_ERRORS_ARE_FATAL: MPI_Errhandler = MPI_Errhandler(0x54000000);
        MPI_ERRORS_ABORT: MPI_Errhandler = MPI_Errhandler(0x54000003);
        MPI_ERRORS_RETURN: MPI_Errhandler = MPI_Errhandler(0x54000001);
    }
    "Requests" {
        MPI_REQUEST_NULL: MPI_Request = MPI_Request(0x2c000000);
    }
    "Datatypes: addresses, counts, packed bytes (section 3.2.2)" {
        MPI_DATATYPE_NULL: MPI_Datatype = MPI_Datatype(0x0c000000);
        MPI_AINT: MPI_Datatype = MPI_Datatype(0x4c000601);
        MPI_COUNT: MPI_Datatype = MPI_Datatype(0x4c000b02);
        MPI_OFFSET: MPI_Datatype = MPI_Datatype(0x4c001003);
        MPI_PACKED: MPI_Datatype = MPI_Datatype(0x4c000504);
    }
    "Datatypes: integers of C" {
        MPI_SHORT: MPI_Datatype = MPI_Datatype(0x4c000a05);
        MPI_INT: MPI_Datatype = MPI_Datatype(0x4c000f06);
        MPI_LONG: MPI_Datatype = MPI_Datatype(0x4c000407);
        MPI_LONG_LONG: MPI_Datatype = MPI_Datatype(0x4c000908);
        MPI_LONG_LONG_INT: MPI_Datatype = MPI_LONG_LONG;
        MPI_UNSIGNED_SHORT: MPI_Datatype = MPI_Datatype(0x4c000e09);
        MPI_UNSIGNED: MPI_Datatype = MPI_Datatype(0x4c00030a);
        MPI_UNSIGNED_LONG: MPI_Datatype = MPI_Datatype(0x4c00080b);
        MPI_UNSIGNED_LONG_LONG: MPI_Datatype = MPI_Datatype(0x4c000d0c);
    }
    "Datatypes: floating point of C and C++, basic types of Fortran" {
        MPI_FLOAT: MPI_Datatype = MPI_Datatype(0x4c00020d);
        MPI_C_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00070e);
        MPI_C_COMPLEX: MPI_Datatype = MPI_C_FLOAT_COMPLEX;
        MPI_CXX_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000c0f);
        MPI_DOUBLE: MPI_Datatype = MPI_Datatype(0x4c000110);
        MPI_C_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000611);
        MPI_CXX_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000b12);
        MPI_LOGICAL: MPI_Datatype = MPI_Datatype(0x4c001013);
        MPI_INTEGER: MPI_Datatype = MPI_Datatype(0x4c000514);
        MPI_REAL: MPI_Datatype = MPI_Datatype(0x4c000a15);
        MPI_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000f16);
        MPI_DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x4c000417);
        MPI_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000918);
        MPI_CHARACTER: MPI_Datatype = MPI_Datatype(0x4c000e19);
        MPI_LONG_DOUBLE: MPI_Datatype = MPI_Datatype(0x4c00031a);
        MPI_C_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00081b);
        MPI_CXX_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000d1c);
    }
    "Datatypes: pairs for MPI_MINLOC and MPI_MAXLOC (section 6.9.4)" {
        MPI_FLOAT_INT: MPI_Datatype = MPI_Datatype(0x4c00021d);
        MPI_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x4c00071e);
        MPI_LONG_INT: MPI_Datatype = MPI_Datatype(0x4c000c1f);
        MPI_2INT: MPI_Datatype = MPI_Datatype(0x4c000120);
        MPI_SHORT_INT: MPI_Datatype = MPI_Datatype(0x4c000621);
        MPI_LONG_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x4c000b22);
        MPI_2REAL: MPI_Datatype = MPI_Datatype(0x4c001023);
        MPI_2DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x4c000524);
        MPI_2INTEGER: MPI_Datatype = MPI_Datatype(0x4c000a25);
    }
    "Datatypes: booleans, characters, bytes and integers of fixed size" {
        MPI_C_BOOL: MPI_Datatype = MPI_Datatype(0x4c000f26);
        MPI_CXX_BOOL: MPI_Datatype = MPI_Datatype(0x4c000427);
        MPI_WCHAR: MPI_Datatype = MPI_Datatype(0x4c000928);
        MPI_INT8_T: MPI_Datatype = MPI_Datatype(0x4c000e29);
        MPI_UINT8_T: MPI_Datatype = MPI_Datatype(0x4c00032a);
        MPI_CHAR: MPI_Datatype = MPI_Datatype(0x4c00082b);
        MPI_SIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x4c000d2c);
        MPI_UNSIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x4c00022d);
        MPI_BYTE: MPI_Datatype = MPI_Datatype(0x4c00072e);
        MPI_INT16_T: MPI_Datatype = MPI_Datatype(0x4c000c2f);
        MPI_UINT16_T: MPI_Datatype = MPI_Datatype(0x4c000130);
        MPI_INT32_T: MPI_Datatype = MPI_Datatype(0x4c000631);
        MPI_UINT32_T: MPI_Datatype = MPI_Datatype(0x4c000b32);
        MPI_INT64_T: MPI_Datatype = MPI_Datatype(0x4c001033);
        MPI_UINT64_T: MPI_Datatype = MPI_Datatype(0x4c000534);
    }
    "Datatypes: Fortran types of fixed size" {
        MPI_LOGICAL1: MPI_Datatype = MPI_Datatype(0x4c000a35);
        MPI_INTEGER1: MPI_Datatype = MPI_Datatype(0x4c000f36);
        MPI_LOGICAL2: MPI_Datatype = MPI_Datatype(0x4c000437);
        MPI_INTEGER2: MPI_Datatype = MPI_Datatype(0x4c000938);
        MPI_REAL2: MPI_Datatype = MPI_Datatype(0x4c000e39);
        MPI_LOGICAL4: MPI_Datatype = MPI_Datatype(0x4c00033a);
        MPI_INTEGER4: MPI_Datatype = MPI_Datatype(0x4c00083b);
        MPI_REAL4: MPI_Datatype = MPI_Datatype(0x4c000d3c);
        MPI_COMPLEX4: MPI_Datatype = MPI_Datatype(0x4c00023d);
        MPI_LOGICAL8: MPI_Datatype = MPI_Datatype(0x4c00073e);
        MPI_INTEGER8: MPI_Datatype = MPI_Datatype(0x4c000c3f);
        MPI_REAL8: MPI_Datatype = MPI_Datatype(0x4c000140);
        MPI_COMPLEX8: MPI_Datatype = MPI_Datatype(0x4c000641);
        MPI_LOGICAL16: MPI_Datatype = MPI_Datatype(0x4c000b42);
        MPI_INTEGER16: MPI_Datatype = MPI_Datatype(0x4c001043);
        MPI_REAL16: MPI_Datatype = MPI_Datatype(0x4c000544);
        MPI_COMPLEX16: MPI_Datatype = MPI_Datatype(0x4c000a45);
        MPI_COMPLEX32: MPI_Datatype = MPI_Datatype(0x4c000f46);
    }
    "Entries of structures that say where they begin and end: of posthaste_removed.h, not of the standard" {
        MPI_LB: MPI_Datatype = MPI_Datatype(0x4c000ffe);
        MPI_UB: MPI_Datatype = MPI_Datatype(0x4c000fff);
    }
    "Special buffer addresses" {
        MPI_BOTTOM: usize = 0;
        MPI_IN_PLACE: usize = usize::MAX;
        MPI_BUFFER_AUTOMATIC: usize = usize::MAX - 1;
    }
    "Arguments that are left out" {
        MPI_ARGV_NULL: usize = 0;
        MPI_ARGVS_NULL: usize = 0;
        MPI_ERRCODES_IGNORE: usize = 0;
        MPI_STATUS_IGNORE: usize = 1;
        MPI_STATUSES_IGNORE: usize = 1;
        MPI_UNWEIGHTED: usize = usize::MAX - 2;
        MPI_WEIGHTS_EMPTY: usize = usize::MAX - 3;
    }
    "Lengths of strings, each with room for the closing zero" {
        MPI_MAX_DATAREP_STRING: c_int = 128;
        MPI_MAX_ERROR_STRING: c_int = 512;
        MPI_MAX_INFO_KEY: c_int = 256;
        MPI_MAX_INFO_VAL: c_int = 1024;
        MPI_MAX_LIBRARY_VERSION_STRING: c_int = 8192;
        MPI_MAX_OBJECT_NAME: c_int = 128;
        MPI_MAX_PORT_NAME: c_int = 1024;
        MPI_MAX_PROCESSOR_NAME: c_int = 256;
        MPI_MAX_STRINGTAG_LEN: c_int = 1024;
        MPI_MAX_PSET_NAME_LEN: c_int = 1024;
    }
    "Room that a message takes in a bsend buffer beyond its data (section 3.6)" {
        MPI_BSEND_OVERHEAD: c_int = 512;
    }
    "Predefined attribute callbacks: the library knows these values and never calls them (section 7.7)" {
        MPI_NULL_COPY_FN: usize = 0x0;
        MPI_DUP_FN: usize = 3;
        MPI_NULL_DELETE_FN: usize = 0x0;
        MPI_COMM_NULL_COPY_FN: usize = 0x0;
        MPI_COMM_DUP_FN: usize = 3;
        MPI_COMM_NULL_DELETE_FN: usize = 0x0;
        MPI_TYPE_NULL_COPY_FN: usize = 0x0;
        MPI_TYPE_DUP_FN: usize = 3;
        MPI_TYPE_NULL_DELETE_FN: usize = 0x0;
        MPI_WIN_NULL_COPY_FN: usize = 0x0;
        MPI_WIN_DUP_FN: usize = 3;
        MPI_WIN_NULL_DELETE_FN: usize = 0x0;
    }
    "Null handles of the tool interface (section 15.3)" {
        MPI_T_ENUM_NULL: MPI_T_enum = MPI_T_enum(0);
        MPI_T_CVAR_HANDLE_NULL: MPI_T_cvar_handle = MPI_T_cvar_handle(0);
        MPI_T_PVAR_SESSION_NULL: MPI_T_pvar_session = MPI_T_pvar_session(0);
        MPI_T_PVAR_HANDLE_NULL: MPI_T_pvar_handle = MPI_T_pvar_handle(0);
        MPI_T_PVAR_ALL_HANDLES: MPI_T_pvar_handle = MPI_T_pvar_handle(1);
    }
    "Error classes (section 9.4)" {
        MPI_SUCCESS: c_int = 0;
        MPI_ERR_BUFFER: c_int = 90;
        MPI_ERR_COUNT: c_int = 89;
        MPI_ERR_TYPE: c_int = 88;
        MPI_ERR_TAG: c_int = 87;
        MPI_ERR_COMM: c_int = 86;
        MPI_ERR_RANK: c_int = 85;
        MPI_ERR_REQUEST: c_int = 84;
        MPI_ERR_ROOT: c_int = 83;
        MPI_ERR_GROUP: c_int = 82;
        MPI_ERR_OP: c_int = 81;
        MPI_ERR_TOPOLOGY: c_int = 80;
        MPI_ERR_DIMS: c_int = 79;
        MPI_ERR_ARG: c_int = 78;
        MPI_ERR_UNKNOWN: c_int = 77;
        MPI_ERR_TRUNCATE: c_int = 76;
        MPI_ERR_OTHER: c_int = 75;
        MPI_ERR_INTERN: c_int = 74;
        MPI_ERR_PENDING: c_int = 73;
        MPI_ERR_IN_STATUS: c_int = 72;
        MPI_ERR_ACCESS: c_int = 71;
        MPI_ERR_AMODE: c_int = 70;
        MPI_ERR_ASSERT: c_int = 69;
        MPI_ERR_BAD_FILE: c_int = 68;
        MPI_ERR_BASE: c_int = 67;
        MPI_ERR_CONVERSION: c_int = 66;
        MPI_ERR_DISP: c_int = 65;
        MPI_ERR_DUP_DATAREP: c_int = 64;
        MPI_ERR_FILE_EXISTS: c_int = 63;
        MPI_ERR_FILE_IN_USE: c_int = 62;
        MPI_ERR_FILE: c_int = 61;
        MPI_ERR_INFO_KEY: c_int = 60;
        MPI_ERR_INFO_NOKEY: c_int = 59;
        MPI_ERR_INFO_VALUE: c_int = 58;
        MPI_ERR_INFO: c_int = 57;
        MPI_ERR_IO: c_int = 56;
        MPI_ERR_KEYVAL: c_int = 55;
        MPI_ERR_LOCKTYPE: c_int = 54;
        MPI_ERR_NAME: c_int = 53;
        MPI_ERR_NO_MEM: c_int = 52;
        MPI_ERR_NOT_SAME: c_int = 51;
        MPI_ERR_NO_SPACE: c_int = 50;
        MPI_ERR_NO_SUCH_FILE: c_int = 49;
        MPI_ERR_PORT: c_int = 48;
        MPI_ERR_QUOTA: c_int = 47;
        MPI_ERR_READ_ONLY: c_int = 46;
        MPI_ERR_RMA_ATTACH: c_int = 45;
        MPI_ERR_RMA_CONFLICT: c_int = 44;
        MPI_ERR_RMA_RANGE: c_int = 43;
        MPI_ERR_RMA_SHARED: c_int = 42;
        MPI_ERR_RMA_SYNC: c_int = 41;
        MPI_ERR_SERVICE: c_int = 40;
        MPI_ERR_SIZE: c_int = 39;
        MPI_ERR_SPAWN: c_int = 38;
        MPI_ERR_UNSUPPORTED_DATAREP: c_int = 37;
        MPI_ERR_UNSUPPORTED_OPERATION: c_int = 36;
        MPI_ERR_WIN: c_int = 35;
        MPI_ERR_RMA_FLAVOR: c_int = 34;
        MPI_ERR_PROC_ABORTED: c_int = 33;
        MPI_ERR_VALUE_TOO_LARGE: c_int = 32;
        MPI_ERR_SESSION: c_int = 31;
        MPI_ERR_ERRHANDLER: c_int = 30;
        MPI_ERR_ABI: c_int = 29;
        MPIX_ERR_PROC_FAILED: c_int = 1034;
        MPIX_ERR_PROC_FAILED_PENDING: c_int = 1035;
        MPIX_ERR_REVOKED: c_int = 1036;
    }
    "Error classes of the tool interface" {
        MPI_T_ERR_CANNOT_INIT: c_int = 300;
        MPI_T_ERR_NOT_ACCESSIBLE: c_int = 303;
        MPI_T_ERR_NOT_INITIALIZED: c_int = 306;
        MPI_T_ERR_NOT_SUPPORTED: c_int = 309;
        MPI_T_ERR_MEMORY: c_int = 312;
        MPI_T_ERR_INVALID: c_int = 315;
        MPI_T_ERR_INVALID_INDEX: c_int = 318;
        MPI_T_ERR_INVALID_ITEM: c_int = 321;
        MPI_T_ERR_INVALID_SESSION: c_int = 324;
        MPI_T_ERR_INVALID_HANDLE: c_int = 327;
        MPI_T_ERR_INVALID_NAME: c_int = 330;
        MPI_T_ERR_OUT_OF_HANDLES: c_int = 333;
        MPI_T_ERR_OUT_OF_SESSIONS: c_int = 336;
        MPI_T_ERR_CVAR_SET_NOT_NOW: c_int = 339;
        MPI_T_ERR_CVAR_SET_NEVER: c_int = 342;
        MPI_T_ERR_PVAR_NO_WRITE: c_int = 345;
        MPI_T_ERR_PVAR_NO_STARTSTOP: c_int = 348;
        MPI_T_ERR_PVAR_NO_ATOMIC: c_int = 351;
    }
    "The last error code that is predefined" {
        MPI_ERR_LASTCODE: c_int = 16383;
    }
    "Wildcards and special ranks" {
        MPI_ANY_SOURCE: c_int = -2;
        MPI_ANY_TAG: c_int = -1;
        MPI_PROC_NULL: c_int = -1;
        MPI_ROOT: c_int = -3;
        MPI_UNDEFINED: c_int = -31766;
    }
    "Assertions about windows (section 12.5.5)" {
        MPI_MODE_NOCHECK: c_int = 16;
        MPI_MODE_NOPRECEDE: c_int = 8;
        MPI_MODE_NOPUT: c_int = 4;
        MPI_MODE_NOSTORE: c_int = 2;
        MPI_MODE_NOSUCCEED: c_int = 1;
    }
    "Kinds of locks, of windows, and their attributes (sections 12.2.6, 12.5.3)" {
        MPI_LOCK_EXCLUSIVE: c_int = 71;
        MPI_LOCK_SHARED: c_int = 72;
        MPI_WIN_FLAVOR_CREATE: c_int = 81;
        MPI_WIN_FLAVOR_ALLOCATE: c_int = 82;
        MPI_WIN_FLAVOR_DYNAMIC: c_int = 83;
        MPI_WIN_FLAVOR_SHARED: c_int = 84;
        MPI_WIN_UNIFIED: c_int = 91;
        MPI_WIN_SEPARATE: c_int = 92;
        MPI_WIN_BASE: c_int = 201;
        MPI_WIN_SIZE: c_int = 202;
        MPI_WIN_DISP_UNIT: c_int = 203;
        MPI_WIN_CREATE_FLAVOR: c_int = 204;
        MPI_WIN_MODEL: c_int = 205;
    }
    "Levels of thread support (section 11.6)" {
        MPI_THREAD_SINGLE: c_int = 0;
        MPI_THREAD_FUNNELED: c_int = 1;
        MPI_THREAD_SERIALIZED: c_int = 2;
        MPI_THREAD_MULTIPLE: c_int = 3;
    }
    "Order of array dimensions and distributions (sections 5.1.3, 5.1.4)" {
        MPI_ORDER_C: c_int = 56;
        MPI_ORDER_FORTRAN: c_int = 57;
        MPI_DISTRIBUTE_NONE: c_int = 123;
        MPI_DISTRIBUTE_BLOCK: c_int = 121;
        MPI_DISTRIBUTE_CYCLIC: c_int = 122;
        MPI_DISTRIBUTE_DFLT_DARG: c_int = -49767;
    }
    "Combiners (section 5.1.13)" {
        MPI_COMBINER_NAMED: c_int = 1;
        MPI_COMBINER_DUP: c_int = 3;
        MPI_COMBINER_CONTIGUOUS: c_int = 5;
        MPI_COMBINER_VECTOR: c_int = 7;
        MPI_COMBINER_HVECTOR: c_int = 9;
        MPI_COMBINER_INDEXED: c_int = 11;
        MPI_COMBINER_HINDEXED: c_int = 13;
        MPI_COMBINER_INDEXED_BLOCK: c_int = 15;
        MPI_COMBINER_HINDEXED_BLOCK: c_int = 17;
        MPI_COMBINER_STRUCT: c_int = 19;
        MPI_COMBINER_SUBARRAY: c_int = 21;
        MPI_COMBINER_DARRAY: c_int = 23;
        MPI_COMBINER_F90_REAL: c_int = 25;
        MPI_COMBINER_F90_COMPLEX: c_int = 27;
        MPI_COMBINER_F90_INTEGER: c_int = 29;
        MPI_COMBINER_RESIZED: c_int = 31;
        MPI_COMBINER_VALUE_INDEX: c_int = 33;
    }
    "Type classes of MPI_Type_match_size" {
        MPIX_TYPECLASS_LOGICAL: c_int = 4;
        MPI_TYPECLASS_INTEGER: c_int = 2;
        MPI_TYPECLASS_REAL: c_int = 1;
        MPI_TYPECLASS_COMPLEX: c_int = 3;
    }
    "Results of comparing communicators and groups" {
        MPI_IDENT: c_int = 0;
        MPI_CONGRUENT: c_int = 1;
        MPI_SIMILAR: c_int = 2;
        MPI_UNEQUAL: c_int = 3;
    }
    "Kinds of topology" {
        MPI_CART: c_int = 2;
        MPI_GRAPH: c_int = 1;
        MPI_DIST_GRAPH: c_int = 3;
    }
    "Kinds of MPI_Comm_split_type" {
        MPI_COMM_TYPE_SHARED: c_int = 1;
        MPI_COMM_TYPE_HW_UNGUIDED: c_int = 3;
        MPI_COMM_TYPE_HW_GUIDED: c_int = 2;
        MPI_COMM_TYPE_RESOURCE_GUIDED: c_int = 4;
    }
    "Keys of predefined attributes (sections 7.7, 9.1.2)" {
        MPI_KEYVAL_INVALID: c_int = 0x24000000;
        MPI_TAG_UB: c_int = 0x24400001;
        MPI_IO: c_int = 0x24400005;
        MPI_HOST: c_int = 0x24400003;
        MPI_WTIME_IS_GLOBAL: c_int = 0x24400007;
        MPI_APPNUM: c_int = 0x2440000d;
        MPI_LASTUSEDCODE: c_int = 0x2440000b;
        MPI_UNIVERSE_SIZE: c_int = 0x24400009;
    }
}
