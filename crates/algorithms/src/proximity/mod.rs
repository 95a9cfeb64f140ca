//! How alike vertices are, and walks from which models learn that.

pub mod random_walks;
pub mod similarity;
