//! Targets that several groups share.

/// How many times as long as its yardstick a search of an open graph may take, and a better ratio:
/// for a skewed graph, and for one with many levels.
pub const SKEWED: (f64, f64) = (1.0, 0.7);
pub const LONG: (f64, f64) = (1.2, 0.9);
