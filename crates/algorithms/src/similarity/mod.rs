//! How alike vertices are, and walks from which models learn that.

pub mod random_walks;
#[expect(clippy::module_inception, reason = "the family has the name of its first algorithm")]
pub mod similarity;
