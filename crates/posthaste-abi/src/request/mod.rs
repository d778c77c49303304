//! Requests as C programs have them: by handles, with statuses, and with functions of the program behind some of them.

pub(crate) mod completion;
pub(crate) mod bsend;
pub(crate) mod persistent;
pub(crate) mod grequest;
