//! The reduction operations.
//!
//! MPI-5.0 §6.9.2.

use posthaste_core::op::{Op, Predefined};

/// How a reduction combines the ranks' elements, position by position.
///
/// Integers wrap around. A result that several ranks get is the same on each of them, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The smallest.
    Minimum,
    /// The largest.
    Maximum,
    /// Bits set on every rank. For integers only, as are all below.
    BitAnd,
    /// Bits set on some rank.
    BitOr,
    /// Bits set on an odd number of ranks.
    BitXor,
    /// 1 where every rank has something other than 0, else 0.
    LogicalAnd,
    /// 1 where some rank has something other than 0, else 0.
    LogicalOr,
    /// 1 where an odd number of ranks have something other than 0, else 0.
    LogicalXor,
}

impl Operation {
    /// As core spells it.
    pub(crate) fn op(self) -> Op {
        let predefined = match self {
            Self::Sum => Predefined::Sum,
            Self::Product => Predefined::Prod,
            Self::Minimum => Predefined::Min,
            Self::Maximum => Predefined::Max,
            Self::BitAnd => Predefined::Band,
            Self::BitOr => Predefined::Bor,
            Self::BitXor => Predefined::Bxor,
            Self::LogicalAnd => Predefined::Land,
            Self::LogicalOr => Predefined::Lor,
            Self::LogicalXor => Predefined::Lxor,
        };
        predefined.into()
    }
}
