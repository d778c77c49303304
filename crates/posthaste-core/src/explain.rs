//! Words for wait states and for the way a message took.
