//! Point-to-point communication, and completion of all requests (MPI-5.0 chapters 3 and 4).

pub mod send_recv;
pub mod request;
pub mod partitioned;
