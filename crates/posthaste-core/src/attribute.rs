//! attribute
