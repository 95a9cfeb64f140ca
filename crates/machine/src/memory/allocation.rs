//! What an allocation costs.

/// Bytes that an allocation takes beside its content, for estimates of many small ones.
pub const ALLOCATION_SIZE: u64 = 16;
