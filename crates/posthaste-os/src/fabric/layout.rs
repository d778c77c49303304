//! Compares our idea of libfabric's layout with that of a C compiler, where libfabric's headers are installed.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::process::Command;

use super::abi::*;
use super::atomic::{Number, Step};

/// One line of C and the number that we expect it to print.
fn expectations() -> Vec<(String, u64)> {
    let mut list = Vec::new();
    macro_rules! layout {
        ($rust:ident is $c:literal: $($field:ident = $name:literal),* $(,)?) => {
            list.push((format!("sizeof(struct {})", $c), size_of::<$rust>() as u64));
            $(list.push((format!("offsetof(struct {}, {})", $c, $name), offset_of!($rust, $field) as u64));)*
        };
    }
    macro_rules! values {
        ($($name:ident),* $(,)?) => { $(list.push((stringify!($name).to_owned(), $name as u64));)* };
    }
    layout!(Ops is "fi_ops": close = "close", bind = "bind", control = "control");
    layout!(Fid is "fid": context = "context", ops = "ops");
    layout!(TxAttr is "fi_tx_attr": op_flags = "op_flags", msg_order = "msg_order", inject_size = "inject_size",
        size = "size", tclass = "tclass");
    layout!(RxAttr is "fi_rx_attr": op_flags = "op_flags", msg_order = "msg_order", size = "size");
    layout!(EpAttr is "fi_ep_attr": kind = "type", max_msg_size = "max_msg_size",
        msg_prefix_size = "msg_prefix_size", auth_key = "auth_key");
    layout!(DomainAttr is "fi_domain_attr": name = "name", threading = "threading",
        data_progress = "data_progress", resource_mgmt = "resource_mgmt", av_type = "av_type",
        mr_mode = "mr_mode", mr_key_size = "mr_key_size", caps = "caps", tclass = "tclass");
    layout!(FabricAttr is "fi_fabric_attr": name = "name", prov_name = "prov_name", api_version = "api_version");
    layout!(Info is "fi_info": caps = "caps", mode = "mode", addr_format = "addr_format", src_addr = "src_addr",
        tx_attr = "tx_attr", rx_attr = "rx_attr", ep_attr = "ep_attr", domain_attr = "domain_attr",
        fabric_attr = "fabric_attr", nic = "nic");
    layout!(OpsFabric is "fi_ops_fabric": domain = "domain", trywait = "trywait");
    layout!(FidFabric is "fid_fabric": ops = "ops", api_version = "api_version");
    layout!(AvAttr is "fi_av_attr": kind = "type", count = "count", flags = "flags");
    layout!(OpsAv is "fi_ops_av": insert = "insert");
    layout!(FidAv is "fid_av": ops = "ops");
    layout!(FidMr is "fid_mr": mem_desc = "mem_desc", key = "key");
    layout!(OpsDomain is "fi_ops_domain": av_open = "av_open", cq_open = "cq_open", endpoint = "endpoint");
    layout!(OpsMr is "fi_ops_mr": reg = "reg");
    layout!(FidDomain is "fid_domain": ops = "ops", mr = "mr");
    layout!(OpsCm is "fi_ops_cm": getname = "getname");
    layout!(OpsMsg is "fi_ops_msg": recv = "recv", send = "send", inject = "inject");
    layout!(OpsRma is "fi_ops_rma": read = "read", write = "write");
    layout!(OpsAtomic is "fi_ops_atomic": readwrite = "readwrite", compwrite = "compwrite",
        readwritevalid = "readwritevalid", compwritevalid = "compwritevalid");
    layout!(FidEp is "fid_ep": cm = "cm", msg = "msg", rma = "rma", atomic = "atomic");
    layout!(CqAttr is "fi_cq_attr": format = "format", wait_obj = "wait_obj", wait_set = "wait_set");
    layout!(CqMsgEntry is "fi_cq_msg_entry": flags = "flags", len = "len");
    layout!(CqErrEntry is "fi_cq_err_entry": err = "err", prov_errno = "prov_errno", err_data_size = "err_data_size");
    layout!(OpsCq is "fi_ops_cq": read = "read", readerr = "readerr");
    layout!(FidCq is "fid_cq": ops = "ops");
    values!(
        FI_MSG,
        FI_RMA,
        FI_ATOMIC,
        FI_READ,
        FI_WRITE,
        FI_RECV,
        FI_SEND,
        FI_REMOTE_READ,
        FI_REMOTE_WRITE,
        FI_DELIVERY_COMPLETE,
        FI_CONTEXT,
        FI_CONTEXT2,
        FI_MR_LOCAL,
        FI_MR_VIRT_ADDR,
        FI_MR_ALLOCATED,
        FI_MR_PROV_KEY,
        FI_MR_ENDPOINT,
        FI_ORDER_SAW,
        FI_ORDER_SAS,
        FI_THREAD_DOMAIN,
        FI_PROGRESS_AUTO,
        FI_RM_ENABLED,
        FI_EP_RDM,
        FI_CQ_FORMAT_MSG,
        FI_WAIT_NONE,
        FI_WAIT_FD,
        FI_GETWAIT,
        FI_ENABLE,
        FI_ADDR_UNSPEC,
        FI_EAVAIL,
    );
    list.extend(Number::ALL.map(|number| (number.name().to_owned(), number as u64)));
    list.extend(Step::ALL.map(|step| (step.name().to_owned(), step as u64)));
    list.push(("FI_VERSION(1, 9)".to_owned(), u64::from(version(1, 9))));
    list.push(("sizeof(struct fi_context2)".to_owned(), super::endpoint::CONTEXT as u64));
    list
}

#[test]
fn offsets_and_numbers_are_those_of_the_headers() {
    let expected = expectations();
    let mut source = String::from(
        "#include <stdio.h>\n#include <stddef.h>\n#include <rdma/fabric.h>\n#include <rdma/fi_domain.h>\n\
         #include <rdma/fi_endpoint.h>\n#include <rdma/fi_rma.h>\n#include <rdma/fi_atomic.h>\n#include <rdma/fi_cm.h>\n#include <rdma/fi_eq.h>\n\
         int main(void) {\n",
    );
    for (expression, _) in &expected {
        let _ = writeln!(source, "printf(\"%llu\\n\", (unsigned long long)({expression}));");
    }
    source.push_str("return 0; }\n");
    let place = std::env::temp_dir().join(format!("posthaste-layout-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let (c, program) = (place.join("layout.c"), place.join("layout"));
    std::fs::write(&c, source).unwrap();
    let has_headers =
        Command::new("cc").args(["-E", "-o", "/dev/null", "-include", "rdma/fabric.h"]).arg(&c).output();
    if !has_headers.is_ok_and(|output| output.status.success()) {
        println!("omitted: libfabric's headers or a C compiler are not installed");
        let _ = std::fs::remove_dir_all(&place);
        return;
    }
    let compiled = Command::new("cc").arg("-o").arg(&program).arg(&c).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
    let _ = std::fs::remove_dir_all(&place);
    let printed: Vec<u64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(printed.len(), expected.len());
    for ((expression, ours), theirs) in expected.iter().zip(printed) {
        assert_eq!(*ours, theirs, "{expression}");
    }
}
