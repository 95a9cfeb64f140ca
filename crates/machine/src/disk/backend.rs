//! The choice of a backend.

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

/// How files are read.
#[derive(Debug, Clone)]
pub enum Backend {
    /// io_uring where a ring can be created, else threads.
    Auto,
    /// One thread that keeps many reads in flight in an io_uring. Fails where there is none.
    Uring,
    /// Threads, each of which reads one request at a time: this number, or as many as the system
    /// starts. If it starts none, the calling threads read.
    Threads(NonZeroUsize),
    /// No disk: the bytes of these files, by path.
    Memory(HashMap<PathBuf, Vec<u8>>),
    /// Another backend, with faults.
    Faulty(Box<Backend>, FaultPlan),
}

impl Backend {
    /// Returns this backend with the faults of `plan`.
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
