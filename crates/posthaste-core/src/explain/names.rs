//! How communicators are called in sentences.

use crate::ids::ContextId;

/// How a communicator with this context and name is called.
pub fn shown(context: u64, name: &str) -> String {
    if name.is_empty() {
        // Founder and count are the same on every rank, so two sentences can be compared.
        let context = ContextId(context);
        let (founder, count) = (context.within_job() >> 28, context.within_job() & ((1 << 28) - 1));
        let job = context.job().map_or_else(String::new, |job| format!(" of job {:x}", job.0));
        format!("the unnamed communicator {founder}.{}{job}", count / u64::from(ContextId::STEP))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_communicator_without_a_name_is_called_by_its_founder_and_its_count() {
        let context = 1 << 47 | 28;
        assert_eq!(shown(context, "row"), "row");
        assert_eq!(shown(context, ""), format!("the unnamed communicator {}.7", 1 << 19));
    }
}
