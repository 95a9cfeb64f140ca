//! The result of a task.

/// Nothing, or why the task failed.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;
