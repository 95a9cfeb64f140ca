//! Observations of runs, to which rates are fitted.

use serde_json::Value;

use super::fit::Observed;
use crate::tegula::Result;
use crate::tegula::command::{number, whole};

/// Parts: visits to edges, bytes of these edges, visits to vertices, and rounds. The value is
/// seconds of threads.
pub type Time = Observed<4>;
/// Parts: one for every run, bytes of arrays, and bytes of the layout. The value is the peak
/// without what was held when the run began.
pub type Peak = Observed<3>;

/// A run that takes longer than this varies little, and is not repeated.
pub const LONG_SECONDS: f64 = 2.0;

/// The number of threads of a run.
pub fn threads() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}

/// The time of visits to edges, of `edge_bytes` each, and to vertices, in `rounds` rounds.
pub fn time(
    (edges, edge_bytes, vertices): (f64, f64, f64),
    rounds: f64,
    thread_seconds: f64,
) -> Time {
    let parts = [edges, edge_bytes * edges, vertices, rounds];
    Time { parts, value: thread_seconds, whole: thread_seconds }
}

/// The time of a run that did the share `done` of the work that its estimate counts.
pub fn time_of(estimate: &Value, done: f64, run: &Value) -> Result<Time> {
    let of_estimate = |name: &str| number(estimate, name);
    let thread_seconds = number(run, "/seconds/run")? * of_estimate("/work/threads")?;
    let [edges, vertices] = [of_estimate("/work/edges")?, of_estimate("/work/vertices")?];
    let visits = (done * edges, of_estimate("/work/edge_bytes")?, done * vertices);
    Ok(time(visits, done * of_estimate("/work/rounds")?, thread_seconds))
}

/// Returns how often each round of a run within [`scarce`] bytes read the layout. After the first
/// pass, memory held a part of the layout.
pub fn passes_of(estimate: &Value, done: f64, run: &Value) -> Result<f64> {
    let layout = number(estimate, "/layout_bytes")?;
    let read = number(run, "/bytes_read")?;
    let missing = layout * (1.0 - 1.0 / HELD_SHARE as f64);
    let passes = if read <= layout { read / layout } else { 1.0 + (read - layout) / missing };
    Ok(passes / (number(estimate, "/work/rounds")? * done).max(1.0))
}

/// The peak of a run.
pub fn peak_of(estimate: &Value, run: &Value) -> Result<Peak> {
    let of_estimate = |name: &str| number(estimate, name);
    let beside = of_estimate("/resident_bytes")? + of_estimate("/lists_bytes")?;
    let peak = number(run, "/peak_memory_bytes")?;
    let parts = [1.0, of_estimate("/vertex_bytes")?, of_estimate("/layout_bytes")?];
    Ok(Peak { parts, value: peak - beside, whole: peak })
}

/// Within little memory, a run holds the size of its tiles or rows divided by this.
const HELD_SHARE: u64 = 10;

/// Returns a budget within which a run holds a small part of its tiles or rows.
pub fn scarce(estimate: &Value) -> Result<u64> {
    Ok(whole(estimate, "/needed_bytes")? + whole(estimate, "/layout_bytes")? / HELD_SHARE)
}
