//! What runs did, from which rates are fitted.

use serde_json::Value;

use super::fit::Observed;
use crate::tegula::Result;
use crate::tegula::command::{number, whole};

/// Visits to edges, the bytes that these take, and visits to vertices; the value is seconds of threads.
pub type Time = Observed<3>;
/// Bytes of arrays and of the layout; the value is what is held at the peak beside the code.
pub type Peak = Observed<2>;

/// A run that takes longer varies little, and is not repeated.
pub const LONG_SECONDS: f64 = 2.0;

/// Threads of a run.
pub fn threads() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}

/// The time of some visits to edges, of so many bytes each, and to vertices.
pub fn time(edges: f64, edge_bytes: f64, vertices: f64, thread_seconds: f64) -> Time {
    let parts = [edges, edge_bytes * edges, vertices];
    Time { parts, value: thread_seconds, whole: thread_seconds }
}

/// The time of a run, whose estimate counts the work.
pub fn time_of(estimate: &Value, run: &Value) -> Result<Time> {
    let of_estimate = |name: &str| number(estimate, name);
    let thread_seconds = number(run, "/seconds/run")? * of_estimate("/work/threads")?;
    let [edges, vertices] = [of_estimate("/work/edges")?, of_estimate("/work/vertices")?];
    Ok(time(edges, of_estimate("/work/edge_bytes")?, vertices, thread_seconds))
}

/// The peak of a run.
pub fn peak_of(estimate: &Value, run: &Value) -> Result<Peak> {
    let of_estimate = |name: &str| number(estimate, name);
    let beside = of_estimate("/resident_bytes")? + of_estimate("/lists_bytes")?;
    let peak = number(run, "/peak_memory_bytes")?;
    let parts = [of_estimate("/vertex_bytes")?, of_estimate("/layout_bytes")?];
    Ok(Peak { parts, value: peak - beside, whole: peak })
}

/// Bytes within which a run holds a small part of its tiles or rows.
pub fn scarce(estimate: &Value) -> Result<u64> {
    Ok(whole(estimate, "/needed_bytes")? + whole(estimate, "/layout_bytes")? / 10)
}
