//! The part of libfabric's binary interface that we use: objects, their tables of functions, attributes, numbers.
//!
//! The layout is that of symbol version FABRIC_1.3 (libfabric 1.7 and every later one, which keeps it under that
//! version). Functions that we do not call are [`Unused`]. What must stay true: offsets and sizes are those of
//! libfabric's headers; `layout` compares them with a C compiler where the headers are installed.

use std::ffi::{c_char, c_int, c_void};

/// A function we do not call.
pub(super) type Unused = *const c_void;

pub(super) const fn version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

// What an endpoint is to do (`fi_info::caps`) and rights of a registration.
pub(super) const FI_MSG: u64 = 1 << 1;
pub(super) const FI_RMA: u64 = 1 << 2;
pub(super) const FI_ATOMIC: u64 = 1 << 4;
pub(super) const FI_READ: u64 = 1 << 8;
pub(super) const FI_WRITE: u64 = 1 << 9;
pub(super) const FI_RECV: u64 = 1 << 10;
pub(super) const FI_SEND: u64 = 1 << 11;
pub(super) const FI_REMOTE_READ: u64 = 1 << 12;
pub(super) const FI_REMOTE_WRITE: u64 = 1 << 13;
/// A write counts as done when its bytes are in the target's memory.
pub(super) const FI_DELIVERY_COMPLETE: u64 = 1 << 28;

// What the provider may want of us (`fi_info::mode`): room for its own use behind each context.
pub(super) const FI_CONTEXT: u64 = 1 << 59;
pub(super) const FI_CONTEXT2: u64 = 1 << 52;

// What it may want of registrations (`fi_domain_attr::mr_mode`).
pub(super) const FI_MR_LOCAL: c_int = 1 << 2;
pub(super) const FI_MR_VIRT_ADDR: c_int = 1 << 4;
pub(super) const FI_MR_ALLOCATED: c_int = 1 << 5;
pub(super) const FI_MR_PROV_KEY: c_int = 1 << 6;
pub(super) const FI_MR_ENDPOINT: c_int = 1 << 9;

// Order between two endpoints: sends stay in order; a send does not overtake a write.
pub(super) const FI_ORDER_SAW: u64 = 1 << 7;
pub(super) const FI_ORDER_SAS: u64 = 1 << 8;

// Values of enumerations.
pub(super) const FI_THREAD_DOMAIN: c_int = 3;
pub(super) const FI_PROGRESS_AUTO: c_int = 1;
pub(super) const FI_RM_ENABLED: c_int = 2;
pub(super) const FI_EP_RDM: c_int = 3;
pub(super) const FI_CQ_FORMAT_MSG: c_int = 2;
pub(super) const FI_WAIT_NONE: c_int = 0;
pub(super) const FI_WAIT_FD: c_int = 3;
pub(super) const FI_GETWAIT: c_int = 5;
pub(super) const FI_ENABLE: c_int = 6;

/// Nothing is known of the source of a receive: any.
pub(super) const FI_ADDR_UNSPEC: u64 = u64::MAX;

/// There is an entry of a failed operation in the queue.
pub(super) const FI_EAVAIL: isize = 259;

#[repr(C)]
pub(super) struct Ops {
    pub(super) size: usize,
    pub(super) close: Option<unsafe extern "C" fn(*mut Fid) -> c_int>,
    pub(super) bind: Option<unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int>,
    pub(super) control: Option<unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int>,
    pub(super) ops_open: Unused,
    pub(super) tostr: Unused,
    pub(super) ops_set: Unused,
}

/// What every object begins with.
#[repr(C)]
pub(super) struct Fid {
    pub(super) fclass: usize,
    pub(super) context: *mut c_void,
    pub(super) ops: *const Ops,
}

#[repr(C)]
pub(super) struct TxAttr {
    pub(super) caps: u64,
    pub(super) mode: u64,
    pub(super) op_flags: u64,
    pub(super) msg_order: u64,
    pub(super) comp_order: u64,
    pub(super) inject_size: usize,
    pub(super) size: usize,
    pub(super) iov_limit: usize,
    pub(super) rma_iov_limit: usize,
    pub(super) tclass: u32,
}

#[repr(C)]
pub(super) struct RxAttr {
    pub(super) caps: u64,
    pub(super) mode: u64,
    pub(super) op_flags: u64,
    pub(super) msg_order: u64,
    pub(super) comp_order: u64,
    pub(super) total_buffered_recv: usize,
    pub(super) size: usize,
    pub(super) iov_limit: usize,
}

#[repr(C)]
pub(super) struct EpAttr {
    pub(super) kind: c_int,
    pub(super) protocol: u32,
    pub(super) protocol_version: u32,
    pub(super) max_msg_size: usize,
    pub(super) msg_prefix_size: usize,
    pub(super) max_order_raw_size: usize,
    pub(super) max_order_war_size: usize,
    pub(super) max_order_waw_size: usize,
    pub(super) mem_tag_format: u64,
    pub(super) tx_ctx_cnt: usize,
    pub(super) rx_ctx_cnt: usize,
    pub(super) auth_key_size: usize,
    pub(super) auth_key: *mut u8,
}

#[repr(C)]
pub(super) struct DomainAttr {
    pub(super) domain: *mut FidDomain,
    pub(super) name: *mut c_char,
    pub(super) threading: c_int,
    pub(super) control_progress: c_int,
    pub(super) data_progress: c_int,
    pub(super) resource_mgmt: c_int,
    pub(super) av_type: c_int,
    pub(super) mr_mode: c_int,
    pub(super) mr_key_size: usize,
    pub(super) cq_data_size: usize,
    pub(super) cq_cnt: usize,
    pub(super) ep_cnt: usize,
    pub(super) tx_ctx_cnt: usize,
    pub(super) rx_ctx_cnt: usize,
    pub(super) max_ep_tx_ctx: usize,
    pub(super) max_ep_rx_ctx: usize,
    pub(super) max_ep_stx_ctx: usize,
    pub(super) max_ep_srx_ctx: usize,
    pub(super) cntr_cnt: usize,
    pub(super) mr_iov_limit: usize,
    pub(super) caps: u64,
    pub(super) mode: u64,
    pub(super) auth_key: *mut u8,
    pub(super) auth_key_size: usize,
    pub(super) max_err_data: usize,
    pub(super) mr_cnt: usize,
    pub(super) tclass: u32,
}

#[repr(C)]
pub(super) struct FabricAttr {
    pub(super) fabric: *mut FidFabric,
    pub(super) name: *mut c_char,
    pub(super) prov_name: *mut c_char,
    pub(super) prov_version: u32,
    pub(super) api_version: u32,
}

#[repr(C)]
pub(super) struct Info {
    pub(super) next: *mut Self,
    pub(super) caps: u64,
    pub(super) mode: u64,
    pub(super) addr_format: u32,
    pub(super) src_addrlen: usize,
    pub(super) dest_addrlen: usize,
    pub(super) src_addr: *mut c_void,
    pub(super) dest_addr: *mut c_void,
    pub(super) handle: *mut Fid,
    pub(super) tx_attr: *mut TxAttr,
    pub(super) rx_attr: *mut RxAttr,
    pub(super) ep_attr: *mut EpAttr,
    pub(super) domain_attr: *mut DomainAttr,
    pub(super) fabric_attr: *mut FabricAttr,
    pub(super) nic: *mut c_void,
}

#[repr(C)]
pub(super) struct OpsFabric {
    pub(super) size: usize,
    pub(super) domain:
        Option<unsafe extern "C" fn(*mut FidFabric, *mut Info, *mut *mut FidDomain, *mut c_void) -> c_int>,
    pub(super) passive_ep: Unused,
    pub(super) eq_open: Unused,
    pub(super) wait_open: Unused,
    pub(super) trywait: Option<unsafe extern "C" fn(*mut FidFabric, *mut *mut Fid, c_int) -> c_int>,
    pub(super) domain2: Unused,
}

#[repr(C)]
pub(super) struct FidFabric {
    pub(super) fid: Fid,
    pub(super) ops: *const OpsFabric,
    pub(super) api_version: u32,
}

#[repr(C)]
pub(super) struct AvAttr {
    pub(super) kind: c_int,
    pub(super) rx_ctx_bits: c_int,
    pub(super) count: usize,
    pub(super) ep_per_node: usize,
    pub(super) name: *const c_char,
    pub(super) map_addr: *mut c_void,
    pub(super) flags: u64,
}

#[repr(C)]
pub(super) struct OpsAv {
    pub(super) size: usize,
    pub(super) insert:
        Option<unsafe extern "C" fn(*mut FidAv, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int>,
    pub(super) insertsvc: Unused,
    pub(super) insertsym: Unused,
    pub(super) remove: Unused,
    pub(super) lookup: Unused,
    pub(super) straddr: Unused,
    pub(super) av_set: Unused,
}

#[repr(C)]
pub(super) struct FidAv {
    pub(super) fid: Fid,
    pub(super) ops: *const OpsAv,
}

#[repr(C)]
pub(super) struct FidMr {
    pub(super) fid: Fid,
    pub(super) mem_desc: *mut c_void,
    pub(super) key: u64,
}

#[repr(C)]
pub(super) struct OpsDomain {
    pub(super) size: usize,
    pub(super) av_open:
        Option<unsafe extern "C" fn(*mut FidDomain, *mut AvAttr, *mut *mut FidAv, *mut c_void) -> c_int>,
    pub(super) cq_open:
        Option<unsafe extern "C" fn(*mut FidDomain, *mut CqAttr, *mut *mut FidCq, *mut c_void) -> c_int>,
    pub(super) endpoint:
        Option<unsafe extern "C" fn(*mut FidDomain, *mut Info, *mut *mut FidEp, *mut c_void) -> c_int>,
    pub(super) scalable_ep: Unused,
    pub(super) cntr_open: Unused,
    pub(super) poll_open: Unused,
    pub(super) stx_ctx: Unused,
    pub(super) srx_ctx: Unused,
    pub(super) query_atomic: Unused,
    pub(super) query_collective: Unused,
    pub(super) endpoint2: Unused,
}

/// `fi_mr_reg`: object, memory, length, rights, offset, requested key, flags, the registration, context.
type Register = unsafe extern "C" fn(
    *mut Fid,
    *const c_void,
    usize,
    u64,
    u64,
    u64,
    u64,
    *mut *mut FidMr,
    *mut c_void,
) -> c_int;

#[repr(C)]
pub(super) struct OpsMr {
    pub(super) size: usize,
    pub(super) reg: Option<Register>,
    pub(super) regv: Unused,
    pub(super) regattr: Unused,
}

#[repr(C)]
pub(super) struct FidDomain {
    pub(super) fid: Fid,
    pub(super) ops: *const OpsDomain,
    pub(super) mr: *const OpsMr,
}

#[repr(C)]
pub(super) struct OpsCm {
    pub(super) size: usize,
    pub(super) setname: Unused,
    pub(super) getname: Option<unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int>,
    pub(super) getpeer: Unused,
    pub(super) connect: Unused,
    pub(super) listen: Unused,
    pub(super) accept: Unused,
    pub(super) reject: Unused,
    pub(super) shutdown: Unused,
    pub(super) join: Unused,
}

/// `fi_recv` or `fi_send`: endpoint, memory, length, its registration, the other side, context.
type Recv = unsafe extern "C" fn(*mut FidEp, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
type Send = unsafe extern "C" fn(*mut FidEp, *const c_void, usize, *mut c_void, u64, *mut c_void) -> isize;

#[repr(C)]
pub(super) struct OpsMsg {
    pub(super) size: usize,
    pub(super) recv: Option<Recv>,
    pub(super) recvv: Unused,
    pub(super) recvmsg: Unused,
    pub(super) send: Option<Send>,
    pub(super) sendv: Unused,
    pub(super) sendmsg: Unused,
    pub(super) inject: Option<unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64) -> isize>,
    pub(super) senddata: Unused,
    pub(super) injectdata: Unused,
}

/// `fi_read` or `fi_write`: as above, and address and key on the other side before the context.
type Read =
    unsafe extern "C" fn(*mut FidEp, *mut c_void, usize, *mut c_void, u64, u64, u64, *mut c_void) -> isize;
type Write =
    unsafe extern "C" fn(*mut FidEp, *const c_void, usize, *mut c_void, u64, u64, u64, *mut c_void) -> isize;

#[repr(C)]
pub(super) struct OpsRma {
    pub(super) size: usize,
    pub(super) read: Option<Read>,
    pub(super) readv: Unused,
    pub(super) readmsg: Unused,
    pub(super) write: Option<Write>,
    pub(super) writev: Unused,
    pub(super) writemsg: Unused,
    pub(super) inject: Unused,
    pub(super) writedata: Unused,
    pub(super) injectdata: Unused,
}

/// `fi_fetch_atomic`: endpoint, operands, how many, their registration, results, theirs, the other side, address and key there,
/// datatype, operation, context.
type FetchAtomic = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
/// `fi_compare_atomic`: as above, and what is expected and its registration before the results.
type CompareAtomic = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    *const c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
/// Whether there is such an operation: endpoint, datatype, operation, how many elements at a time.
type IsValid = unsafe extern "C" fn(*mut FidEp, c_int, c_int, *mut usize) -> c_int;

#[repr(C)]
pub(super) struct OpsAtomic {
    pub(super) size: usize,
    pub(super) write: Unused,
    pub(super) writev: Unused,
    pub(super) writemsg: Unused,
    pub(super) inject: Unused,
    pub(super) readwrite: Option<FetchAtomic>,
    pub(super) readwritev: Unused,
    pub(super) readwritemsg: Unused,
    pub(super) compwrite: Option<CompareAtomic>,
    pub(super) compwritev: Unused,
    pub(super) compwritemsg: Unused,
    pub(super) writevalid: Unused,
    pub(super) readwritevalid: Option<IsValid>,
    pub(super) compwritevalid: Option<IsValid>,
}

#[repr(C)]
pub(super) struct FidEp {
    pub(super) fid: Fid,
    pub(super) ops: Unused,
    pub(super) cm: *const OpsCm,
    pub(super) msg: *const OpsMsg,
    pub(super) rma: *const OpsRma,
    pub(super) tagged: Unused,
    /// Null where the endpoint was not asked for any.
    pub(super) atomic: *const OpsAtomic,
    pub(super) collective: Unused,
}

#[repr(C)]
pub(super) struct CqAttr {
    pub(super) size: usize,
    pub(super) flags: u64,
    pub(super) format: c_int,
    pub(super) wait_obj: c_int,
    pub(super) signaling_vector: c_int,
    pub(super) wait_cond: c_int,
    pub(super) wait_set: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CqMsgEntry {
    pub(super) op_context: *mut c_void,
    pub(super) flags: u64,
    pub(super) len: usize,
}

#[repr(C)]
pub(super) struct CqErrEntry {
    pub(super) op_context: *mut c_void,
    pub(super) flags: u64,
    pub(super) len: usize,
    pub(super) buf: *mut c_void,
    pub(super) data: u64,
    pub(super) tag: u64,
    pub(super) olen: usize,
    pub(super) err: c_int,
    pub(super) prov_errno: c_int,
    pub(super) err_data: *mut c_void,
    pub(super) err_data_size: usize,
}

#[repr(C)]
pub(super) struct OpsCq {
    pub(super) size: usize,
    pub(super) read: Option<unsafe extern "C" fn(*mut FidCq, *mut c_void, usize) -> isize>,
    pub(super) readfrom: Unused,
    pub(super) readerr: Option<unsafe extern "C" fn(*mut FidCq, *mut CqErrEntry, u64) -> isize>,
    pub(super) sread: Unused,
    pub(super) sreadfrom: Unused,
    pub(super) signal: Unused,
    pub(super) strerror: Unused,
}

#[repr(C)]
pub(super) struct FidCq {
    pub(super) fid: Fid,
    pub(super) ops: *const OpsCq,
}
