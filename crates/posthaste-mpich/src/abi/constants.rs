//! The numbers of MPICH's ABI; `cargo xtask test --only mpich` compiles the comparison with its published header.
//!
//! Some are not numbers there: `MPI_DUP_FN` and its kin are a function of the library (`crate::removed`), and what stands here is
//! never passed; `MPI_UNWEIGHTED`, `MPI_WEIGHTS_EMPTY` and `MPI_T_PVAR_ALL_HANDLES` are variables of the library that have these
//! values (`crate::fortran`).

use std::ffi::c_int;

use super::define::constants;
use super::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Offset, MPI_Op,
    MPI_Request, MPI_Session, MPI_T_cvar_handle, MPI_T_enum, MPI_T_pvar_handle, MPI_T_pvar_session, MPI_Win,
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
        MPI_FILE_NULL: MPI_File = MPI_File(0);
        MPI_SESSION_NULL: MPI_Session = MPI_Session(0x38000000);
        MPI_MESSAGE_NULL: MPI_Message = MPI_Message(0x2c000000);
        MPI_MESSAGE_NO_PROC: MPI_Message = MPI_Message(0x6c000000);
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
        MPI_AINT: MPI_Datatype = MPI_Datatype(0x4c000843);
        MPI_COUNT: MPI_Datatype = MPI_Datatype(0x4c000845);
        MPI_OFFSET: MPI_Datatype = MPI_Datatype(0x4c000844);
        MPI_PACKED: MPI_Datatype = MPI_Datatype(0x4c00010f);
    }
    "Datatypes: integers of C" {
        MPI_SHORT: MPI_Datatype = MPI_Datatype(0x4c000203);
        MPI_INT: MPI_Datatype = MPI_Datatype(0x4c000405);
        MPI_LONG: MPI_Datatype = MPI_Datatype(0x4c000807);
        MPI_LONG_LONG: MPI_Datatype = MPI_Datatype(0x4c000809);
        MPI_LONG_LONG_INT: MPI_Datatype = MPI_LONG_LONG;
        MPI_UNSIGNED_SHORT: MPI_Datatype = MPI_Datatype(0x4c000204);
        MPI_UNSIGNED: MPI_Datatype = MPI_Datatype(0x4c000406);
        MPI_UNSIGNED_LONG: MPI_Datatype = MPI_Datatype(0x4c000808);
        MPI_UNSIGNED_LONG_LONG: MPI_Datatype = MPI_Datatype(0x4c000819);
    }
    "Datatypes: floating point of C and C++, basic types of Fortran" {
        MPI_FLOAT: MPI_Datatype = MPI_Datatype(0x4c00040a);
        MPI_C_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000840);
        MPI_C_COMPLEX: MPI_Datatype = MPI_C_FLOAT_COMPLEX;
        MPI_CXX_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c000834);
        MPI_DOUBLE: MPI_Datatype = MPI_Datatype(0x4c00080b);
        MPI_C_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c001041);
        MPI_CXX_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c001035);
        MPI_LOGICAL: MPI_Datatype = MPI_Datatype(0x4c00041d);
        MPI_INTEGER: MPI_Datatype = MPI_Datatype(0x4c00041b);
        MPI_REAL: MPI_Datatype = MPI_Datatype(0x4c00041c);
        MPI_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c00081e);
        MPI_DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x4c00081f);
        MPI_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c001022);
        MPI_CHARACTER: MPI_Datatype = MPI_Datatype(0x4c00011a);
        MPI_LONG_DOUBLE: MPI_Datatype = MPI_Datatype(0x4c00100c);
        MPI_C_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c002042);
        MPI_CXX_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x4c002036);
    }
    "Datatypes: pairs for MPI_MINLOC and MPI_MAXLOC (section 6.9.4)" {
        MPI_FLOAT_INT: MPI_Datatype = MPI_Datatype(0x8c000000_u32 as i32);
        MPI_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x8c000001_u32 as i32);
        MPI_LONG_INT: MPI_Datatype = MPI_Datatype(0x8c000002_u32 as i32);
        MPI_2INT: MPI_Datatype = MPI_Datatype(0x4c000816);
        MPI_SHORT_INT: MPI_Datatype = MPI_Datatype(0x8c000003_u32 as i32);
        MPI_LONG_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x8c000004_u32 as i32);
        MPI_2REAL: MPI_Datatype = MPI_Datatype(0x4c000821);
        MPI_2DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x4c001023);
        MPI_2INTEGER: MPI_Datatype = MPI_Datatype(0x4c000820);
    }
    "Datatypes: booleans, characters, bytes and integers of fixed size" {
        MPI_C_BOOL: MPI_Datatype = MPI_Datatype(0x4c00013f);
        MPI_CXX_BOOL: MPI_Datatype = MPI_Datatype(0x4c000133);
        MPI_WCHAR: MPI_Datatype = MPI_Datatype(0x4c00040e);
        MPI_INT8_T: MPI_Datatype = MPI_Datatype(0x4c000137);
        MPI_UINT8_T: MPI_Datatype = MPI_Datatype(0x4c00013b);
        MPI_CHAR: MPI_Datatype = MPI_Datatype(0x4c000101);
        MPI_SIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x4c000118);
        MPI_UNSIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x4c000102);
        MPI_BYTE: MPI_Datatype = MPI_Datatype(0x4c00010d);
        MPI_INT16_T: MPI_Datatype = MPI_Datatype(0x4c000238);
        MPI_UINT16_T: MPI_Datatype = MPI_Datatype(0x4c00023c);
        MPI_INT32_T: MPI_Datatype = MPI_Datatype(0x4c000439);
        MPI_UINT32_T: MPI_Datatype = MPI_Datatype(0x4c00043d);
        MPI_INT64_T: MPI_Datatype = MPI_Datatype(0x4c00083a);
        MPI_UINT64_T: MPI_Datatype = MPI_Datatype(0x4c00083e);
    }
    "Datatypes: Fortran types of fixed size" {
        MPI_LOGICAL1: MPI_Datatype = MPI_Datatype(0x4c000147);
        MPI_INTEGER1: MPI_Datatype = MPI_Datatype(0x4c00012d);
        MPI_LOGICAL2: MPI_Datatype = MPI_Datatype(0x4c000248);
        MPI_INTEGER2: MPI_Datatype = MPI_Datatype(0x4c00022f);
        MPI_REAL2: MPI_Datatype = MPI_Datatype(0x4c000226);
        MPI_LOGICAL4: MPI_Datatype = MPI_Datatype(0x4c000449);
        MPI_INTEGER4: MPI_Datatype = MPI_Datatype(0x4c000430);
        MPI_REAL4: MPI_Datatype = MPI_Datatype(0x4c000427);
        MPI_COMPLEX4: MPI_Datatype = MPI_Datatype(0x4c00042e);
        MPI_LOGICAL8: MPI_Datatype = MPI_Datatype(0x4c00084a);
        MPI_INTEGER8: MPI_Datatype = MPI_Datatype(0x4c000831);
        MPI_REAL8: MPI_Datatype = MPI_Datatype(0x4c000829);
        MPI_COMPLEX8: MPI_Datatype = MPI_Datatype(0x4c000828);
        MPI_LOGICAL16: MPI_Datatype = MPI_Datatype(0x4c00104b);
        MPI_INTEGER16: MPI_Datatype = MPI_Datatype(0x4c001032);
        MPI_REAL16: MPI_Datatype = MPI_Datatype(0x4c00102b);
        MPI_COMPLEX16: MPI_Datatype = MPI_Datatype(0x4c00102a);
        MPI_COMPLEX32: MPI_Datatype = MPI_Datatype(0x4c00202c);
    }
    "Entries of structures that say where they begin and end: of posthaste_removed.h, not of the standard" {
        MPI_LB: MPI_Datatype = MPI_Datatype(0x4c000010);
        MPI_UB: MPI_Datatype = MPI_Datatype(0x4c000011);
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
        MPI_MAX_INFO_KEY: c_int = 255;
        MPI_MAX_INFO_VAL: c_int = 1024;
        MPI_MAX_LIBRARY_VERSION_STRING: c_int = 8192;
        MPI_MAX_OBJECT_NAME: c_int = 128;
        MPI_MAX_PORT_NAME: c_int = 256;
        MPI_MAX_PROCESSOR_NAME: c_int = 128;
        MPI_MAX_STRINGTAG_LEN: c_int = 256;
        MPI_MAX_PSET_NAME_LEN: c_int = 256;
    }
    "Room that a message takes in a bsend buffer beyond its data (section 3.6)" {
        MPI_BSEND_OVERHEAD: c_int = 96;
    }
    "Predefined attribute callbacks: the library knows these values and never calls them (section 7.7)" {
        MPI_NULL_COPY_FN: usize = 0;
        MPI_DUP_FN: usize = 3;
        MPI_NULL_DELETE_FN: usize = 0;
        MPI_COMM_NULL_COPY_FN: usize = 0;
        MPI_COMM_DUP_FN: usize = 3;
        MPI_COMM_NULL_DELETE_FN: usize = 0;
        MPI_TYPE_NULL_COPY_FN: usize = 0;
        MPI_TYPE_DUP_FN: usize = 3;
        MPI_TYPE_NULL_DELETE_FN: usize = 0;
        MPI_WIN_NULL_COPY_FN: usize = 0;
        MPI_WIN_DUP_FN: usize = 3;
        MPI_WIN_NULL_DELETE_FN: usize = 0;
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
        MPI_ERR_BUFFER: c_int = 1;
        MPI_ERR_COUNT: c_int = 2;
        MPI_ERR_TYPE: c_int = 3;
        MPI_ERR_TAG: c_int = 4;
        MPI_ERR_COMM: c_int = 5;
        MPI_ERR_RANK: c_int = 6;
        MPI_ERR_REQUEST: c_int = 19;
        MPI_ERR_ROOT: c_int = 7;
        MPI_ERR_GROUP: c_int = 8;
        MPI_ERR_OP: c_int = 9;
        MPI_ERR_TOPOLOGY: c_int = 10;
        MPI_ERR_DIMS: c_int = 11;
        MPI_ERR_ARG: c_int = 12;
        MPI_ERR_UNKNOWN: c_int = 13;
        MPI_ERR_TRUNCATE: c_int = 14;
        MPI_ERR_OTHER: c_int = 15;
        MPI_ERR_INTERN: c_int = 16;
        MPI_ERR_PENDING: c_int = 18;
        MPI_ERR_IN_STATUS: c_int = 17;
        MPI_ERR_ACCESS: c_int = 20;
        MPI_ERR_AMODE: c_int = 21;
        MPI_ERR_ASSERT: c_int = 53;
        MPI_ERR_BAD_FILE: c_int = 22;
        MPI_ERR_BASE: c_int = 46;
        MPI_ERR_CONVERSION: c_int = 23;
        MPI_ERR_DISP: c_int = 52;
        MPI_ERR_DUP_DATAREP: c_int = 24;
        MPI_ERR_FILE_EXISTS: c_int = 25;
        MPI_ERR_FILE_IN_USE: c_int = 26;
        MPI_ERR_FILE: c_int = 27;
        MPI_ERR_INFO_KEY: c_int = 29;
        MPI_ERR_INFO_NOKEY: c_int = 31;
        MPI_ERR_INFO_VALUE: c_int = 30;
        MPI_ERR_INFO: c_int = 28;
        MPI_ERR_IO: c_int = 32;
        MPI_ERR_KEYVAL: c_int = 48;
        MPI_ERR_LOCKTYPE: c_int = 47;
        MPI_ERR_NAME: c_int = 33;
        MPI_ERR_NO_MEM: c_int = 34;
        MPI_ERR_NOT_SAME: c_int = 35;
        MPI_ERR_NO_SPACE: c_int = 36;
        MPI_ERR_NO_SUCH_FILE: c_int = 37;
        MPI_ERR_PORT: c_int = 38;
        MPI_ERR_QUOTA: c_int = 39;
        MPI_ERR_READ_ONLY: c_int = 40;
        MPI_ERR_RMA_ATTACH: c_int = 56;
        MPI_ERR_RMA_CONFLICT: c_int = 49;
        MPI_ERR_RMA_RANGE: c_int = 55;
        MPI_ERR_RMA_SHARED: c_int = 57;
        MPI_ERR_RMA_SYNC: c_int = 50;
        MPI_ERR_SERVICE: c_int = 41;
        MPI_ERR_SIZE: c_int = 51;
        MPI_ERR_SPAWN: c_int = 42;
        MPI_ERR_UNSUPPORTED_DATAREP: c_int = 43;
        MPI_ERR_UNSUPPORTED_OPERATION: c_int = 44;
        MPI_ERR_WIN: c_int = 45;
        MPI_ERR_RMA_FLAVOR: c_int = 58;
        MPI_ERR_PROC_ABORTED: c_int = 76;
        MPI_ERR_VALUE_TOO_LARGE: c_int = 77;
        MPI_ERR_SESSION: c_int = 75;
        MPI_ERR_ERRHANDLER: c_int = 80;
        MPI_ERR_ABI: c_int = 81;
        MPIX_ERR_PROC_FAILED: c_int = 101;
        MPIX_ERR_PROC_FAILED_PENDING: c_int = 102;
        MPIX_ERR_REVOKED: c_int = 103;
    }
    "Error classes of the tool interface" {
        MPI_T_ERR_CANNOT_INIT: c_int = 61;
        MPI_T_ERR_NOT_ACCESSIBLE: c_int = 79;
        MPI_T_ERR_NOT_INITIALIZED: c_int = 60;
        MPI_T_ERR_NOT_SUPPORTED: c_int = 78;
        MPI_T_ERR_MEMORY: c_int = 59;
        MPI_T_ERR_INVALID: c_int = 74;
        MPI_T_ERR_INVALID_INDEX: c_int = 62;
        MPI_T_ERR_INVALID_ITEM: c_int = 63;
        MPI_T_ERR_INVALID_SESSION: c_int = 67;
        MPI_T_ERR_INVALID_HANDLE: c_int = 64;
        MPI_T_ERR_INVALID_NAME: c_int = 73;
        MPI_T_ERR_OUT_OF_HANDLES: c_int = 65;
        MPI_T_ERR_OUT_OF_SESSIONS: c_int = 66;
        MPI_T_ERR_CVAR_SET_NOT_NOW: c_int = 68;
        MPI_T_ERR_CVAR_SET_NEVER: c_int = 69;
        MPI_T_ERR_PVAR_NO_WRITE: c_int = 71;
        MPI_T_ERR_PVAR_NO_STARTSTOP: c_int = 70;
        MPI_T_ERR_PVAR_NO_ATOMIC: c_int = 72;
    }
    "The last error code that is predefined" {
        MPI_ERR_LASTCODE: c_int = 0x3fffffff;
    }
    "Wildcards and special ranks" {
        MPI_ANY_SOURCE: c_int = -2;
        MPI_ANY_TAG: c_int = -1;
        MPI_PROC_NULL: c_int = -1;
        MPI_ROOT: c_int = -3;
        MPI_UNDEFINED: c_int = -32766;
    }
    "Assertions about windows (section 12.5.5)" {
        MPI_MODE_NOCHECK: c_int = 1024;
        MPI_MODE_NOPRECEDE: c_int = 8192;
        MPI_MODE_NOPUT: c_int = 4096;
        MPI_MODE_NOSTORE: c_int = 2048;
        MPI_MODE_NOSUCCEED: c_int = 16384;
    }
    "Kinds of locks, of windows, and their attributes (sections 12.2.6, 12.5.3)" {
        MPI_LOCK_EXCLUSIVE: c_int = 234;
        MPI_LOCK_SHARED: c_int = 235;
        MPI_WIN_FLAVOR_CREATE: c_int = 1;
        MPI_WIN_FLAVOR_ALLOCATE: c_int = 2;
        MPI_WIN_FLAVOR_DYNAMIC: c_int = 3;
        MPI_WIN_FLAVOR_SHARED: c_int = 4;
        MPI_WIN_UNIFIED: c_int = 2;
        MPI_WIN_SEPARATE: c_int = 1;
        MPI_WIN_BASE: c_int = 0x66000001;
        MPI_WIN_SIZE: c_int = 0x66000003;
        MPI_WIN_DISP_UNIT: c_int = 0x66000005;
        MPI_WIN_CREATE_FLAVOR: c_int = 0x66000007;
        MPI_WIN_MODEL: c_int = 0x66000009;
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
        MPI_COMBINER_DUP: c_int = 2;
        MPI_COMBINER_CONTIGUOUS: c_int = 3;
        MPI_COMBINER_VECTOR: c_int = 4;
        MPI_COMBINER_HVECTOR: c_int = 6;
        MPI_COMBINER_INDEXED: c_int = 7;
        MPI_COMBINER_HINDEXED: c_int = 9;
        MPI_COMBINER_INDEXED_BLOCK: c_int = 10;
        MPI_COMBINER_HINDEXED_BLOCK: c_int = 19;
        MPI_COMBINER_STRUCT: c_int = 12;
        MPI_COMBINER_SUBARRAY: c_int = 13;
        MPI_COMBINER_DARRAY: c_int = 14;
        MPI_COMBINER_F90_REAL: c_int = 15;
        MPI_COMBINER_F90_COMPLEX: c_int = 16;
        MPI_COMBINER_F90_INTEGER: c_int = 17;
        MPI_COMBINER_RESIZED: c_int = 18;
        MPI_COMBINER_VALUE_INDEX: c_int = 20;
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
        MPI_TAG_UB: c_int = 0x64400001;
        MPI_IO: c_int = 0x64400005;
        MPI_HOST: c_int = 0x64400003;
        MPI_WTIME_IS_GLOBAL: c_int = 0x64400007;
        MPI_APPNUM: c_int = 0x6440000d;
        MPI_LASTUSEDCODE: c_int = 0x6440000b;
        MPI_UNIVERSE_SIZE: c_int = 0x64400009;
    }
    "Files: modes, places, and the view of MPI_MODE_SEQUENTIAL (chapter 14)" {
        MPI_MODE_APPEND: c_int = 128;
        MPI_MODE_CREATE: c_int = 1;
        MPI_MODE_DELETE_ON_CLOSE: c_int = 16;
        MPI_MODE_EXCL: c_int = 64;
        MPI_MODE_RDONLY: c_int = 2;
        MPI_MODE_RDWR: c_int = 8;
        MPI_MODE_SEQUENTIAL: c_int = 256;
        MPI_MODE_UNIQUE_OPEN: c_int = 32;
        MPI_MODE_WRONLY: c_int = 4;
        MPI_SEEK_CUR: c_int = 602;
        MPI_SEEK_END: c_int = 604;
        MPI_SEEK_SET: c_int = 600;
        MPI_DISPLACEMENT_CURRENT: MPI_Offset = -54278278;
    }
    "No conversion of a data representation (section 14.5)" {
        MPI_CONVERSION_FN_NULL: usize = 0;
        MPI_CONVERSION_FN_NULL_C: usize = 0;
    }
    "The tool interface: who reads what (section 15.3)" {
        MPI_T_VERBOSITY_USER_BASIC: c_int = 221;
        MPI_T_VERBOSITY_USER_DETAIL: c_int = 222;
        MPI_T_VERBOSITY_USER_ALL: c_int = 223;
        MPI_T_VERBOSITY_TUNER_BASIC: c_int = 224;
        MPI_T_VERBOSITY_TUNER_DETAIL: c_int = 225;
        MPI_T_VERBOSITY_TUNER_ALL: c_int = 226;
        MPI_T_VERBOSITY_MPIDEV_BASIC: c_int = 227;
        MPI_T_VERBOSITY_MPIDEV_DETAIL: c_int = 228;
        MPI_T_VERBOSITY_MPIDEV_ALL: c_int = 229;
    }
    "The tool interface: what a variable is bound to" {
        MPI_T_BIND_NO_OBJECT: c_int = 9700;
        MPI_T_BIND_MPI_COMM: c_int = 9701;
        MPI_T_BIND_MPI_DATATYPE: c_int = 9702;
        MPI_T_BIND_MPI_ERRHANDLER: c_int = 9703;
        MPI_T_BIND_MPI_FILE: c_int = 9704;
        MPI_T_BIND_MPI_GROUP: c_int = 9705;
        MPI_T_BIND_MPI_OP: c_int = 9706;
        MPI_T_BIND_MPI_REQUEST: c_int = 9707;
        MPI_T_BIND_MPI_WIN: c_int = 9708;
        MPI_T_BIND_MPI_MESSAGE: c_int = 9709;
        MPI_T_BIND_MPI_INFO: c_int = 9710;
        MPI_T_BIND_MPI_SESSION: c_int = 9711;
    }
    "The tool interface: where a control variable can be changed" {
        MPI_T_SCOPE_CONSTANT: c_int = 60438;
        MPI_T_SCOPE_READONLY: c_int = 60439;
        MPI_T_SCOPE_LOCAL: c_int = 60440;
        MPI_T_SCOPE_GROUP: c_int = 60441;
        MPI_T_SCOPE_GROUP_EQ: c_int = 60442;
        MPI_T_SCOPE_ALL: c_int = 60443;
        MPI_T_SCOPE_ALL_EQ: c_int = 60444;
    }
    "The tool interface: classes of performance variables" {
        MPI_T_PVAR_CLASS_STATE: c_int = 240;
        MPI_T_PVAR_CLASS_LEVEL: c_int = 241;
        MPI_T_PVAR_CLASS_SIZE: c_int = 242;
        MPI_T_PVAR_CLASS_PERCENTAGE: c_int = 243;
        MPI_T_PVAR_CLASS_HIGHWATERMARK: c_int = 244;
        MPI_T_PVAR_CLASS_LOWWATERMARK: c_int = 245;
        MPI_T_PVAR_CLASS_COUNTER: c_int = 246;
        MPI_T_PVAR_CLASS_AGGREGATE: c_int = 247;
        MPI_T_PVAR_CLASS_TIMER: c_int = 248;
        MPI_T_PVAR_CLASS_GENERIC: c_int = 249;
    }
    "The tool interface: events" {
        MPI_T_CB_REQUIRE_NONE: c_int = 0;
        MPI_T_CB_REQUIRE_MPI_RESTRICTED: c_int = 1;
        MPI_T_CB_REQUIRE_THREAD_SAFE: c_int = 2;
        MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE: c_int = 3;
        MPI_T_SOURCE_ORDERED: c_int = 0;
        MPI_T_SOURCE_UNORDERED: c_int = 1;
    }
    "Statuses of Fortran as arrays of C, which count from 0 (section 19.3.5)" {
        MPI_F_STATUS_SIZE: c_int = 5;
        MPI_F_SOURCE: c_int = 2;
        MPI_F_TAG: c_int = 3;
        MPI_F_ERROR: c_int = 4;
    }
}
