//! How long work reports its progress, and how it is cancelled. Libraries print nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Receives the progress of long work. All methods may be called from any thread.
pub trait Progress: Sync {
    /// Begins a new stage, with its name ("reading edges"), its total where that is known, and the
    /// unit that is counted.
    fn begin(&self, stage: &str, total: Option<u64>, unit: ProgressUnit);
    /// Reports `done` more units of the current stage.
    fn advance(&self, done: u64);
    /// Ends the current stage.
    fn end(&self);
}

/// What a stage counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressUnit {
    /// Bytes of a file.
    Bytes,
    /// Edges of the graph.
    Edges,
    /// Vertices of the graph.
    Vertices,
    /// Iterations (supersteps) of an algorithm.
    Iterations,
    /// Jobs of a batch.
    Jobs,
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _stage: &str, _total: Option<u64>, _unit: ProgressUnit) {}
    fn advance(&self, _done: u64) {}
    fn end(&self) {}
}

/// A switch that stops work which checks it. Clones share the switch.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    switch: Arc<AtomicBool>,
    parent: Option<Arc<Cancel>>,
}

impl Cancel {
    /// Makes a switch for a piece of this work. It stops that piece alone; the switch of the whole
    /// work stops both.
    #[must_use]
    pub fn child(&self) -> Cancel {
        Cancel { switch: Arc::default(), parent: Some(Arc::new(self.clone())) }
    }

    /// Stops the work soon. Safe to call from a signal handler's thread.
    pub fn cancel(&self) {
        self.switch.store(true, Ordering::Relaxed);
    }

    /// Returns the switch itself, for a signal handler: setting it stops the work.
    pub fn switch(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.switch)
    }

    /// Returns whether the work should stop.
    pub fn is_cancelled(&self) -> bool {
        self.switch.load(Ordering::Relaxed)
            || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled())
    }

    /// Returns `Err(Error::Cancelled)` once the work should stop: `cancel.check()?` inside loops.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_stops_alone_or_with_its_parent() {
        let parent = Cancel::default();
        let (first, second) = (parent.child(), parent.child());
        first.cancel();
        assert!(first.is_cancelled() && first.child().is_cancelled());
        assert!(!second.is_cancelled() && parent.check().is_ok());
        parent.cancel();
        assert!(second.is_cancelled() && second.child().check().is_err());
    }
}
