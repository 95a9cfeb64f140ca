//! Who does the reading: the choice a caller makes.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Result};

use super::device::Device;
use super::faulty::{FaultPlan, Faulty};
use super::memory::Memory;
use super::threads::{THREADS_DEFAULT, Threads};
use super::uring::Uring;

/// Who does the reading.
#[derive(Debug, Clone)]
pub enum Backend {
    /// io_uring where a ring can be created, threads elsewhere.
    Auto,
    /// One thread that keeps many reads in flight in an io_uring; fails where there is none.
    Uring,
    /// This number of threads, or as many as the system starts, each of which reads one request at a time. Without
    /// any, whoever asks reads.
    Threads(NonZeroUsize),
    /// No disk: these files, by path.
    Memory(HashMap<PathBuf, Vec<u8>>),
    /// Another backend, with faults.
    Faulty(Box<Backend>, FaultPlan),
}

impl Backend {
    /// This backend with the faults of `plan`.
    #[must_use]
    pub fn with_faults(self, plan: &FaultPlan) -> Backend {
        Backend::Faulty(Box::new(self), plan.clone())
    }

    /// Starts its threads.
    pub(super) fn start(self) -> Result<Arc<dyn Device>> {
        let failed = |name: &'static str| Error::io("start the reading backend", name);
        Ok(match self {
            Backend::Auto => match Uring::start() {
                Ok(uring) => Arc::new(uring),
                Err(error) => {
                    tracing::info!(%error, "no io_uring; reading with threads");
                    Backend::Threads(THREADS_DEFAULT).start()?
                }
            },
            Backend::Uring => Arc::new(Uring::start().map_err(failed("io_uring"))?),
            Backend::Threads(count) => Arc::new(Threads::start(count)),
            Backend::Memory(files) => Arc::new(Memory::new(files)),
            Backend::Faulty(inner, plan) => {
                Arc::new(Faulty::start(inner.start()?, plan).map_err(failed("faulty"))?)
            }
        })
    }
}
