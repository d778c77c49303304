//! The constants of the standard ABI, as Rust sees them (MPI-5.0 chapter 20).
//!
//! `cargo xtask abi-check` compares every line with `abi/constants.csv`. Addresses and callbacks with a special meaning
//! are compared as numbers and have the type `usize` here.

use std::ffi::c_int;

use super::define::constants;
use super::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Offset, MPI_Op,
    MPI_Request, MPI_Session, MPI_T_cvar_handle, MPI_T_enum, MPI_T_pvar_handle, MPI_T_pvar_session, MPI_Win,
};

constants! {
    "version of the standard and of its ABI" {
        MPI_VERSION: c_int = 5;
        MPI_SUBVERSION: c_int = 0;
        MPI_ABI_VERSION: c_int = 1;
        MPI_ABI_SUBVERSION: c_int = 0;
    }
    "Reduction operations (MPI-5.0 section 6.9)" {
        MPI_OP_NULL: MPI_Op = MPI_Op(0x00000020);
        MPI_SUM: MPI_Op = MPI_Op(0x00000021);
        MPI_MIN: MPI_Op = MPI_Op(0x00000022);
        MPI_MAX: MPI_Op = MPI_Op(0x00000023);
        MPI_PROD: MPI_Op = MPI_Op(0x00000024);
        MPI_BAND: MPI_Op = MPI_Op(0x00000028);
        MPI_BOR: MPI_Op = MPI_Op(0x00000029);
        MPI_BXOR: MPI_Op = MPI_Op(0x0000002a);
        MPI_LAND: MPI_Op = MPI_Op(0x00000030);
        MPI_LOR: MPI_Op = MPI_Op(0x00000031);
        MPI_LXOR: MPI_Op = MPI_Op(0x00000032);
        MPI_MINLOC: MPI_Op = MPI_Op(0x00000038);
        MPI_MAXLOC: MPI_Op = MPI_Op(0x00000039);
        MPI_REPLACE: MPI_Op = MPI_Op(0x0000003c);
        MPI_NO_OP: MPI_Op = MPI_Op(0x0000003d);
    }
    "Communicators and groups (chapter 7)" {
        MPI_COMM_NULL: MPI_Comm = MPI_Comm(0x00000100);
        MPI_COMM_WORLD: MPI_Comm = MPI_Comm(0x00000101);
        MPI_COMM_SELF: MPI_Comm = MPI_Comm(0x00000102);
        MPI_GROUP_NULL: MPI_Group = MPI_Group(0x00000108);
        MPI_GROUP_EMPTY: MPI_Group = MPI_Group(0x00000109);
    }
    "Null handles of windows, files and sessions; messages of matched probes" {
        MPI_WIN_NULL: MPI_Win = MPI_Win(0x00000110);
        MPI_FILE_NULL: MPI_File = MPI_File(0x00000118);
        MPI_SESSION_NULL: MPI_Session = MPI_Session(0x00000120);
        MPI_MESSAGE_NULL: MPI_Message = MPI_Message(0x00000128);
        MPI_MESSAGE_NO_PROC: MPI_Message = MPI_Message(0x00000129);
    }
    "Info objects (chapter 10)" {
        MPI_INFO_NULL: MPI_Info = MPI_Info(0x00000130);
        MPI_INFO_ENV: MPI_Info = MPI_Info(0x00000131);
    }
    "Error handlers (section 9.3)" {
        MPI_ERRHANDLER_NULL: MPI_Errhandler = MPI_Errhandler(0x00000140);
        MPI_ERRORS_ARE_FATAL: MPI_Errhandler = MPI_Errhandler(0x00000141);
        MPI_ERRORS_ABORT: MPI_Errhandler = MPI_Errhandler(0x00000142);
        MPI_ERRORS_RETURN: MPI_Errhandler = MPI_Errhandler(0x00000143);
    }
    "Requests" {
        MPI_REQUEST_NULL: MPI_Request = MPI_Request(0x00000180);
    }
    "Datatypes: addresses, counts, packed bytes (section 3.2.2)" {
        MPI_DATATYPE_NULL: MPI_Datatype = MPI_Datatype(0x00000200);
        MPI_AINT: MPI_Datatype = MPI_Datatype(0x00000201);
        MPI_COUNT: MPI_Datatype = MPI_Datatype(0x00000202);
        MPI_OFFSET: MPI_Datatype = MPI_Datatype(0x00000203);
        MPI_PACKED: MPI_Datatype = MPI_Datatype(0x00000207);
    }
    "Datatypes: integers of C" {
        MPI_SHORT: MPI_Datatype = MPI_Datatype(0x00000208);
        MPI_INT: MPI_Datatype = MPI_Datatype(0x00000209);
        MPI_LONG: MPI_Datatype = MPI_Datatype(0x0000020a);
        MPI_LONG_LONG: MPI_Datatype = MPI_Datatype(0x0000020b);
        MPI_LONG_LONG_INT: MPI_Datatype = MPI_LONG_LONG;
        MPI_UNSIGNED_SHORT: MPI_Datatype = MPI_Datatype(0x0000020c);
        MPI_UNSIGNED: MPI_Datatype = MPI_Datatype(0x0000020d);
        MPI_UNSIGNED_LONG: MPI_Datatype = MPI_Datatype(0x0000020e);
        MPI_UNSIGNED_LONG_LONG: MPI_Datatype = MPI_Datatype(0x0000020f);
    }
    "Datatypes: floating point of C and C++, basic types of Fortran" {
        MPI_FLOAT: MPI_Datatype = MPI_Datatype(0x00000210);
        MPI_C_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x00000212);
        MPI_C_COMPLEX: MPI_Datatype = MPI_C_FLOAT_COMPLEX;
        MPI_CXX_FLOAT_COMPLEX: MPI_Datatype = MPI_Datatype(0x00000213);
        MPI_DOUBLE: MPI_Datatype = MPI_Datatype(0x00000214);
        MPI_C_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x00000216);
        MPI_CXX_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x00000217);
        MPI_LOGICAL: MPI_Datatype = MPI_Datatype(0x00000218);
        MPI_INTEGER: MPI_Datatype = MPI_Datatype(0x00000219);
        MPI_REAL: MPI_Datatype = MPI_Datatype(0x0000021a);
        MPI_COMPLEX: MPI_Datatype = MPI_Datatype(0x0000021b);
        MPI_DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x0000021c);
        MPI_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x0000021d);
        MPI_CHARACTER: MPI_Datatype = MPI_Datatype(0x0000021e);
        MPI_LONG_DOUBLE: MPI_Datatype = MPI_Datatype(0x00000220);
        MPI_C_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x00000224);
        MPI_CXX_LONG_DOUBLE_COMPLEX: MPI_Datatype = MPI_Datatype(0x00000225);
    }
    "Datatypes: pairs for MPI_MINLOC and MPI_MAXLOC (section 6.9.4)" {
        MPI_FLOAT_INT: MPI_Datatype = MPI_Datatype(0x00000228);
        MPI_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x00000229);
        MPI_LONG_INT: MPI_Datatype = MPI_Datatype(0x0000022a);
        MPI_2INT: MPI_Datatype = MPI_Datatype(0x0000022b);
        MPI_SHORT_INT: MPI_Datatype = MPI_Datatype(0x0000022c);
        MPI_LONG_DOUBLE_INT: MPI_Datatype = MPI_Datatype(0x0000022d);
        MPI_2REAL: MPI_Datatype = MPI_Datatype(0x00000230);
        MPI_2DOUBLE_PRECISION: MPI_Datatype = MPI_Datatype(0x00000231);
        MPI_2INTEGER: MPI_Datatype = MPI_Datatype(0x00000232);
    }
    "Datatypes: booleans, characters, bytes and integers of fixed size" {
        MPI_C_BOOL: MPI_Datatype = MPI_Datatype(0x00000238);
        MPI_CXX_BOOL: MPI_Datatype = MPI_Datatype(0x00000239);
        MPI_WCHAR: MPI_Datatype = MPI_Datatype(0x0000023c);
        MPI_INT8_T: MPI_Datatype = MPI_Datatype(0x00000240);
        MPI_UINT8_T: MPI_Datatype = MPI_Datatype(0x00000241);
        MPI_CHAR: MPI_Datatype = MPI_Datatype(0x00000243);
        MPI_SIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x00000244);
        MPI_UNSIGNED_CHAR: MPI_Datatype = MPI_Datatype(0x00000245);
        MPI_BYTE: MPI_Datatype = MPI_Datatype(0x00000247);
        MPI_INT16_T: MPI_Datatype = MPI_Datatype(0x00000248);
        MPI_UINT16_T: MPI_Datatype = MPI_Datatype(0x00000249);
        MPI_INT32_T: MPI_Datatype = MPI_Datatype(0x00000250);
        MPI_UINT32_T: MPI_Datatype = MPI_Datatype(0x00000251);
        MPI_INT64_T: MPI_Datatype = MPI_Datatype(0x00000258);
        MPI_UINT64_T: MPI_Datatype = MPI_Datatype(0x00000259);
    }
    "Datatypes: Fortran types of fixed size" {
        MPI_LOGICAL1: MPI_Datatype = MPI_Datatype(0x000002c0);
        MPI_INTEGER1: MPI_Datatype = MPI_Datatype(0x000002c1);
        MPI_LOGICAL2: MPI_Datatype = MPI_Datatype(0x000002c8);
        MPI_INTEGER2: MPI_Datatype = MPI_Datatype(0x000002c9);
        MPI_REAL2: MPI_Datatype = MPI_Datatype(0x000002ca);
        MPI_LOGICAL4: MPI_Datatype = MPI_Datatype(0x000002d0);
        MPI_INTEGER4: MPI_Datatype = MPI_Datatype(0x000002d1);
        MPI_REAL4: MPI_Datatype = MPI_Datatype(0x000002d2);
        MPI_COMPLEX4: MPI_Datatype = MPI_Datatype(0x000002d3);
        MPI_LOGICAL8: MPI_Datatype = MPI_Datatype(0x000002d8);
        MPI_INTEGER8: MPI_Datatype = MPI_Datatype(0x000002d9);
        MPI_REAL8: MPI_Datatype = MPI_Datatype(0x000002da);
        MPI_COMPLEX8: MPI_Datatype = MPI_Datatype(0x000002db);
        MPI_LOGICAL16: MPI_Datatype = MPI_Datatype(0x000002e0);
        MPI_INTEGER16: MPI_Datatype = MPI_Datatype(0x000002e1);
        MPI_REAL16: MPI_Datatype = MPI_Datatype(0x000002e2);
        MPI_COMPLEX16: MPI_Datatype = MPI_Datatype(0x000002e3);
        MPI_COMPLEX32: MPI_Datatype = MPI_Datatype(0x000002eb);
    }
    "Entries of structures that say where they begin and end: of posthaste_removed.h, not of the standard" {
        MPI_LB: MPI_Datatype = MPI_Datatype(0x00000f01);
        MPI_UB: MPI_Datatype = MPI_Datatype(0x00000f02);
    }
    "Special buffer addresses" {
        MPI_BOTTOM: usize = 0;
        MPI_IN_PLACE: usize = 1;
        MPI_BUFFER_AUTOMATIC: usize = 2;
    }
    "Arguments that are left out" {
        MPI_ARGV_NULL: usize = 0;
        MPI_ARGVS_NULL: usize = 0;
        MPI_ERRCODES_IGNORE: usize = 0;
        MPI_STATUS_IGNORE: usize = 0;
        MPI_STATUSES_IGNORE: usize = 0;
        MPI_UNWEIGHTED: usize = 10;
        MPI_WEIGHTS_EMPTY: usize = 11;
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
    "File view of MPI_MODE_SEQUENTIAL (section 14.3)" {
        MPI_DISPLACEMENT_CURRENT: MPI_Offset = -1;
    }
    "Predefined attribute callbacks: the library knows these values and never calls them (section 7.7)" {
        MPI_NULL_COPY_FN: usize = 0x0;
        MPI_DUP_FN: usize = 0x1;
        MPI_NULL_DELETE_FN: usize = 0x0;
        MPI_COMM_NULL_COPY_FN: usize = 0x0;
        MPI_COMM_DUP_FN: usize = 0x1;
        MPI_COMM_NULL_DELETE_FN: usize = 0x0;
        MPI_TYPE_NULL_COPY_FN: usize = 0x0;
        MPI_TYPE_DUP_FN: usize = 0x1;
        MPI_TYPE_NULL_DELETE_FN: usize = 0x0;
        MPI_WIN_NULL_COPY_FN: usize = 0x0;
        MPI_WIN_DUP_FN: usize = 0x1;
        MPI_WIN_NULL_DELETE_FN: usize = 0x0;
    }
    "No conversion of a data representation (section 14.5)" {
        MPI_CONVERSION_FN_NULL: usize = 0x0;
        MPI_CONVERSION_FN_NULL_C: usize = 0x0;
    }
    "Null handles of the tool interface (section 15.3)" {
        MPI_T_ENUM_NULL: MPI_T_enum = MPI_T_enum(0);
        MPI_T_CVAR_HANDLE_NULL: MPI_T_cvar_handle = MPI_T_cvar_handle(0);
        MPI_T_PVAR_SESSION_NULL: MPI_T_pvar_session = MPI_T_pvar_session(0);
        MPI_T_PVAR_HANDLE_NULL: MPI_T_pvar_handle = MPI_T_pvar_handle(0);
        MPI_T_PVAR_ALL_HANDLES: MPI_T_pvar_handle = MPI_T_pvar_handle(1);
    }
    "A status as an array of Fortran integers (section 19.3)" {
        MPI_F_STATUS_SIZE: c_int = 8;
        MPI_F_SOURCE: c_int = 0;
        MPI_F_TAG: c_int = 1;
        MPI_F_ERROR: c_int = 2;
    }
    "Error classes (section 9.4)" {
        MPI_SUCCESS: c_int = 0;
        MPI_ERR_BUFFER: c_int = 1;
        MPI_ERR_COUNT: c_int = 2;
        MPI_ERR_TYPE: c_int = 3;
        MPI_ERR_TAG: c_int = 4;
        MPI_ERR_COMM: c_int = 5;
        MPI_ERR_RANK: c_int = 6;
        MPI_ERR_REQUEST: c_int = 7;
        MPI_ERR_ROOT: c_int = 8;
        MPI_ERR_GROUP: c_int = 9;
        MPI_ERR_OP: c_int = 10;
        MPI_ERR_TOPOLOGY: c_int = 11;
        MPI_ERR_DIMS: c_int = 12;
        MPI_ERR_ARG: c_int = 13;
        MPI_ERR_UNKNOWN: c_int = 14;
        MPI_ERR_TRUNCATE: c_int = 15;
        MPI_ERR_OTHER: c_int = 16;
        MPI_ERR_INTERN: c_int = 17;
        MPI_ERR_PENDING: c_int = 18;
        MPI_ERR_IN_STATUS: c_int = 19;
        MPI_ERR_ACCESS: c_int = 20;
        MPI_ERR_AMODE: c_int = 21;
        MPI_ERR_ASSERT: c_int = 22;
        MPI_ERR_BAD_FILE: c_int = 23;
        MPI_ERR_BASE: c_int = 24;
        MPI_ERR_CONVERSION: c_int = 25;
        MPI_ERR_DISP: c_int = 26;
        MPI_ERR_DUP_DATAREP: c_int = 27;
        MPI_ERR_FILE_EXISTS: c_int = 28;
        MPI_ERR_FILE_IN_USE: c_int = 29;
        MPI_ERR_FILE: c_int = 30;
        MPI_ERR_INFO_KEY: c_int = 31;
        MPI_ERR_INFO_NOKEY: c_int = 32;
        MPI_ERR_INFO_VALUE: c_int = 33;
        MPI_ERR_INFO: c_int = 34;
        MPI_ERR_IO: c_int = 35;
        MPI_ERR_KEYVAL: c_int = 36;
        MPI_ERR_LOCKTYPE: c_int = 37;
        MPI_ERR_NAME: c_int = 38;
        MPI_ERR_NO_MEM: c_int = 39;
        MPI_ERR_NOT_SAME: c_int = 40;
        MPI_ERR_NO_SPACE: c_int = 41;
        MPI_ERR_NO_SUCH_FILE: c_int = 42;
        MPI_ERR_PORT: c_int = 43;
        MPI_ERR_QUOTA: c_int = 44;
        MPI_ERR_READ_ONLY: c_int = 45;
        MPI_ERR_RMA_ATTACH: c_int = 46;
        MPI_ERR_RMA_CONFLICT: c_int = 47;
        MPI_ERR_RMA_RANGE: c_int = 48;
        MPI_ERR_RMA_SHARED: c_int = 49;
        MPI_ERR_RMA_SYNC: c_int = 50;
        MPI_ERR_SERVICE: c_int = 51;
        MPI_ERR_SIZE: c_int = 52;
        MPI_ERR_SPAWN: c_int = 53;
        MPI_ERR_UNSUPPORTED_DATAREP: c_int = 54;
        MPI_ERR_UNSUPPORTED_OPERATION: c_int = 55;
        MPI_ERR_WIN: c_int = 56;
        MPI_ERR_RMA_FLAVOR: c_int = 57;
        MPI_ERR_PROC_ABORTED: c_int = 58;
        MPI_ERR_VALUE_TOO_LARGE: c_int = 59;
        MPI_ERR_SESSION: c_int = 60;
        MPI_ERR_ERRHANDLER: c_int = 61;
        MPI_ERR_ABI: c_int = 62;
        MPIX_ERR_PROC_FAILED: c_int = MPI_ERR_PROC_ABORTED;
        MPIX_ERR_PROC_FAILED_PENDING: c_int = 16352;
        MPIX_ERR_REVOKED: c_int = 16353;
    }
    "Error classes of the tool interface" {
        MPI_T_ERR_CANNOT_INIT: c_int = 1001;
        MPI_T_ERR_NOT_ACCESSIBLE: c_int = 1002;
        MPI_T_ERR_NOT_INITIALIZED: c_int = 1003;
        MPI_T_ERR_NOT_SUPPORTED: c_int = 1004;
        MPI_T_ERR_MEMORY: c_int = 1005;
        MPI_T_ERR_INVALID: c_int = 1006;
        MPI_T_ERR_INVALID_INDEX: c_int = 1007;
        MPI_T_ERR_INVALID_ITEM: c_int = 1008;
        MPI_T_ERR_INVALID_SESSION: c_int = 1009;
        MPI_T_ERR_INVALID_HANDLE: c_int = 1010;
        MPI_T_ERR_INVALID_NAME: c_int = 1011;
        MPI_T_ERR_OUT_OF_HANDLES: c_int = 1012;
        MPI_T_ERR_OUT_OF_SESSIONS: c_int = 1013;
        MPI_T_ERR_CVAR_SET_NOT_NOW: c_int = 1014;
        MPI_T_ERR_CVAR_SET_NEVER: c_int = 1015;
        MPI_T_ERR_PVAR_NO_WRITE: c_int = 1016;
        MPI_T_ERR_PVAR_NO_STARTSTOP: c_int = 1017;
        MPI_T_ERR_PVAR_NO_ATOMIC: c_int = 1018;
    }
    "The last error code that is predefined" {
        MPI_ERR_LASTCODE: c_int = 16383;
    }
    "Modes of opening a file (section 14.2.1)" {
        MPI_MODE_APPEND: c_int = 1;
        MPI_MODE_CREATE: c_int = 2;
        MPI_MODE_DELETE_ON_CLOSE: c_int = 4;
        MPI_MODE_EXCL: c_int = 8;
        MPI_MODE_RDONLY: c_int = 16;
        MPI_MODE_RDWR: c_int = 32;
        MPI_MODE_SEQUENTIAL: c_int = 64;
        MPI_MODE_UNIQUE_OPEN: c_int = 128;
        MPI_MODE_WRONLY: c_int = 256;
    }
    "Assertions about windows (section 12.5.5)" {
        MPI_MODE_NOCHECK: c_int = 1024;
        MPI_MODE_NOPRECEDE: c_int = 2048;
        MPI_MODE_NOPUT: c_int = 4096;
        MPI_MODE_NOSTORE: c_int = 8192;
        MPI_MODE_NOSUCCEED: c_int = 16384;
    }
    "Wildcards and special ranks" {
        MPI_ANY_SOURCE: c_int = -1;
        MPI_ANY_TAG: c_int = -2;
        MPI_PROC_NULL: c_int = -3;
        MPI_ROOT: c_int = -4;
        MPI_UNDEFINED: c_int = -32766;
    }
    "Levels of thread support (section 11.6)" {
        MPI_THREAD_SINGLE: c_int = 0;
        MPI_THREAD_FUNNELED: c_int = 1024;
        MPI_THREAD_SERIALIZED: c_int = 2048;
        MPI_THREAD_MULTIPLE: c_int = 4096;
    }
    "Order of array dimensions and distributions (sections 5.1.3, 5.1.4)" {
        MPI_ORDER_C: c_int = 0xc;
        MPI_ORDER_FORTRAN: c_int = 0xf;
        MPI_DISTRIBUTE_NONE: c_int = 16;
        MPI_DISTRIBUTE_BLOCK: c_int = 17;
        MPI_DISTRIBUTE_CYCLIC: c_int = 18;
        MPI_DISTRIBUTE_DFLT_DARG: c_int = 19;
    }
    "Combiners (section 5.1.13)" {
        MPI_COMBINER_NAMED: c_int = 101;
        MPI_COMBINER_DUP: c_int = 102;
        MPI_COMBINER_CONTIGUOUS: c_int = 103;
        MPI_COMBINER_VECTOR: c_int = 104;
        MPI_COMBINER_HVECTOR: c_int = 105;
        MPI_COMBINER_INDEXED: c_int = 106;
        MPI_COMBINER_HINDEXED: c_int = 107;
        MPI_COMBINER_INDEXED_BLOCK: c_int = 108;
        MPI_COMBINER_HINDEXED_BLOCK: c_int = 109;
        MPI_COMBINER_STRUCT: c_int = 110;
        MPI_COMBINER_SUBARRAY: c_int = 111;
        MPI_COMBINER_DARRAY: c_int = 112;
        MPI_COMBINER_F90_REAL: c_int = 113;
        MPI_COMBINER_F90_COMPLEX: c_int = 114;
        MPI_COMBINER_F90_INTEGER: c_int = 115;
        MPI_COMBINER_RESIZED: c_int = 116;
        MPI_COMBINER_VALUE_INDEX: c_int = 117;
    }
    "Type classes of MPI_Type_match_size" {
        MPIX_TYPECLASS_LOGICAL: c_int = 191;
        MPI_TYPECLASS_INTEGER: c_int = 192;
        MPI_TYPECLASS_REAL: c_int = 193;
        MPI_TYPECLASS_COMPLEX: c_int = 194;
    }
    "Results of comparing communicators and groups" {
        MPI_IDENT: c_int = 201;
        MPI_CONGRUENT: c_int = 202;
        MPI_SIMILAR: c_int = 203;
        MPI_UNEQUAL: c_int = 204;
    }
    "Kinds of topology" {
        MPI_CART: c_int = 211;
        MPI_GRAPH: c_int = 212;
        MPI_DIST_GRAPH: c_int = 213;
    }
    "Kinds of MPI_Comm_split_type" {
        MPI_COMM_TYPE_SHARED: c_int = 221;
        MPI_COMM_TYPE_HW_UNGUIDED: c_int = 222;
        MPI_COMM_TYPE_HW_GUIDED: c_int = 223;
        MPI_COMM_TYPE_RESOURCE_GUIDED: c_int = 224;
    }
    "Locks, flavours and memory models of windows (chapter 12)" {
        MPI_LOCK_EXCLUSIVE: c_int = 301;
        MPI_LOCK_SHARED: c_int = 302;
        MPI_WIN_FLAVOR_CREATE: c_int = 311;
        MPI_WIN_FLAVOR_ALLOCATE: c_int = 312;
        MPI_WIN_FLAVOR_DYNAMIC: c_int = 313;
        MPI_WIN_FLAVOR_SHARED: c_int = 314;
        MPI_WIN_UNIFIED: c_int = 321;
        MPI_WIN_SEPARATE: c_int = 322;
    }
    "Positioning in a file" {
        MPI_SEEK_CUR: c_int = 401;
        MPI_SEEK_END: c_int = 402;
        MPI_SEEK_SET: c_int = 403;
    }
    "Keys of predefined attributes (sections 7.7, 9.1.2)" {
        MPI_KEYVAL_INVALID: c_int = 0;
        MPI_TAG_UB: c_int = 501;
        MPI_IO: c_int = 502;
        MPI_HOST: c_int = 503;
        MPI_WTIME_IS_GLOBAL: c_int = 504;
        MPI_APPNUM: c_int = 505;
        MPI_LASTUSEDCODE: c_int = 506;
        MPI_UNIVERSE_SIZE: c_int = 507;
    }
    "Keys of predefined attributes of windows (section 12.2.6)" {
        MPI_WIN_BASE: c_int = 601;
        MPI_WIN_DISP_UNIT: c_int = 602;
        MPI_WIN_SIZE: c_int = 603;
        MPI_WIN_CREATE_FLAVOR: c_int = 604;
        MPI_WIN_MODEL: c_int = 605;
    }
    "What a tool callback may do: values of MPI_T_cb_safety" {
        MPI_T_CB_REQUIRE_NONE: c_int = 0x00;
        MPI_T_CB_REQUIRE_MPI_RESTRICTED: c_int = 0x03;
        MPI_T_CB_REQUIRE_THREAD_SAFE: c_int = 0x0f;
        MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE: c_int = 0x3f;
    }
    "Order of events of a source: values of MPI_T_source_order" {
        MPI_T_SOURCE_ORDERED: c_int = 1;
        MPI_T_SOURCE_UNORDERED: c_int = 2;
    }
    "Verbosity of a variable" {
        MPI_T_VERBOSITY_USER_BASIC: c_int = 0x09;
        MPI_T_VERBOSITY_USER_DETAIL: c_int = 0x0a;
        MPI_T_VERBOSITY_USER_ALL: c_int = 0x0c;
        MPI_T_VERBOSITY_TUNER_BASIC: c_int = 0x11;
        MPI_T_VERBOSITY_TUNER_DETAIL: c_int = 0x12;
        MPI_T_VERBOSITY_TUNER_ALL: c_int = 0x14;
        MPI_T_VERBOSITY_MPIDEV_BASIC: c_int = 0x21;
        MPI_T_VERBOSITY_MPIDEV_DETAIL: c_int = 0x22;
        MPI_T_VERBOSITY_MPIDEV_ALL: c_int = 0x24;
    }
    "Object a variable belongs to" {
        MPI_T_BIND_NO_OBJECT: c_int = 1;
        MPI_T_BIND_MPI_COMM: c_int = 2;
        MPI_T_BIND_MPI_DATATYPE: c_int = 3;
        MPI_T_BIND_MPI_ERRHANDLER: c_int = 4;
        MPI_T_BIND_MPI_FILE: c_int = 5;
        MPI_T_BIND_MPI_GROUP: c_int = 6;
        MPI_T_BIND_MPI_OP: c_int = 7;
        MPI_T_BIND_MPI_REQUEST: c_int = 8;
        MPI_T_BIND_MPI_WIN: c_int = 9;
        MPI_T_BIND_MPI_MESSAGE: c_int = 10;
        MPI_T_BIND_MPI_INFO: c_int = 11;
        MPI_T_BIND_MPI_SESSION: c_int = 12;
    }
    "Scope of a control variable" {
        MPI_T_SCOPE_CONSTANT: c_int = 1;
        MPI_T_SCOPE_READONLY: c_int = 2;
        MPI_T_SCOPE_LOCAL: c_int = 3;
        MPI_T_SCOPE_GROUP: c_int = 4;
        MPI_T_SCOPE_GROUP_EQ: c_int = 5;
        MPI_T_SCOPE_ALL: c_int = 6;
        MPI_T_SCOPE_ALL_EQ: c_int = 7;
    }
    "Classes of performance variables" {
        MPI_T_PVAR_CLASS_STATE: c_int = 1;
        MPI_T_PVAR_CLASS_LEVEL: c_int = 2;
        MPI_T_PVAR_CLASS_SIZE: c_int = 3;
        MPI_T_PVAR_CLASS_PERCENTAGE: c_int = 4;
        MPI_T_PVAR_CLASS_HIGHWATERMARK: c_int = 5;
        MPI_T_PVAR_CLASS_LOWWATERMARK: c_int = 6;
        MPI_T_PVAR_CLASS_COUNTER: c_int = 7;
        MPI_T_PVAR_CLASS_AGGREGATE: c_int = 8;
        MPI_T_PVAR_CLASS_TIMER: c_int = 9;
        MPI_T_PVAR_CLASS_GENERIC: c_int = 10;
    }
}
