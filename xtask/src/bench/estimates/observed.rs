//! What runs did, from which rates are fitted.

use serde_json::Value;

use crate::tegula::Result;
use crate::tegula::command::{number, whole};

/// Threads of a run.
pub fn threads() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}

/// What a run did, for a fit.
#[derive(Debug, Clone, Copy)]
pub struct Observed {
    pub edges: f64,
    pub vertices: f64,
    pub thread_seconds: f64,
}

impl Observed {
    /// Of an estimate, which counts the work, and a run.
    pub fn of(estimate: &Value, run: &Value) -> Result<Observed> {
        Ok(Observed {
            edges: number(estimate, "/work/edges")?,
            vertices: number(estimate, "/work/vertices")?,
            thread_seconds: number(run, "/seconds/run")? * number(estimate, "/work/threads")?,
        })
    }
}

/// Bytes within which a run holds next to nothing of its tiles or rows.
pub fn scarce(estimate: &Value) -> Result<u64> {
    Ok(whole(estimate, "/needed_bytes")? + whole(estimate, "/layout_bytes")? / 50)
}
