//! Many jobs on one graph at the same time, for any face.
//!
//! One scheduler serves all jobs. A few threads take the jobs in the order of arrival, and each
//! follows one job from its memory to its result. Like jobs become one run where that takes less
//! time. What goes wrong with a job ends that job alone.
//!
//! ```text
//!  face: come --> Queue --> fits? --> group --> memory --> run --> face: deliver
//!                  | in the order of arrival      |
//!                  +-- joins a run that goes on --+
//! ```
//!
//! A [`Face`] says which jobs come, and takes their results. [`JobRunner`] does the rest.

mod face;
mod group;
mod open_run;
mod queue;
mod runner;

use std::num::NonZeroUsize;

pub use face::{Ended, Face, Fault, Job, JobProgress, Wanted};
pub use group::{EstimatedJob, Fit, Group, Grouping};
pub use queue::{Queue, Waiting};
pub use runner::JobRunner;

/// The most jobs at a time, unless the user says otherwise.
pub const CONCURRENT_DEFAULT: NonZeroUsize = NonZeroUsize::new(16).unwrap();
