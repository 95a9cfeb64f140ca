//! What several jobs use together: it is loaded once and counted once.
//!
//! The first job that is admitted with a shared value brings its memory. Jobs that come while the
//! value is held are admitted without this demand. The memory comes back when the last of them
//! leaves.
//!
//! ```text
//!  admit: the first counts it --> load: one of its jobs, the others wait --> the last job leaves
//!                                   |                ^
//!                                   +-- fails -------+  the next job loads
//! ```
//!
//! A job waits for a load only after it was admitted, and a job that loads waits for nobody. So
//! admission and loading cannot block each other.

use std::any::Any;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tegula_machine::threads::{Cancel, lock};
use tegula_store::Result;
use tegula_store::graph::Graph;
use tegula_store::rows::Direction;

/// Time between two checks whether a waiting job was cancelled.
pub const LOOK: Duration = Duration::from_millis(50);

/// The name of a shared value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedKey {
    /// A reader of rows.
    Rows {
        /// The direction of the rows.
        direction: Direction,
        /// Whether it reads weights.
        has_weights: bool,
    },
    /// The out-degrees by dense id.
    OutDegrees,
    /// The id positions by dense id.
    IdPositions,
}

/// A shared value that a job demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Its name.
    pub key: SharedKey,
    /// Least bytes of the value, unless it is held already.
    pub least: u64,
}

impl Share {
    /// The out-degrees of a graph: 4 bytes a vertex.
    pub fn out_degrees(graph: &Graph) -> Share {
        Share { key: SharedKey::OutDegrees, least: 4 * graph.vertex_count() }
    }

    /// The id positions of a graph, which take `least` bytes.
    pub fn id_positions(least: u64) -> Share {
        Share { key: SharedKey::IdPositions, least }
    }
}

/// The content of a shared value, of one type for each key.
type Content = Arc<dyn Any + Send + Sync>;

/// A shared value, as its jobs see it.
#[derive(Clone)]
pub struct SharedValue {
    pub key: SharedKey,
    /// Bytes beyond the least ones.
    pub extra: u64,
    content: Arc<LoadOnce<Content>>,
}

impl SharedValue {
    /// Makes a value that is not loaded yet, with `extra` bytes beyond the least ones.
    pub fn new(key: SharedKey, extra: u64) -> SharedValue {
        SharedValue { key, extra, content: Arc::default() }
    }

    /// Returns the content. The first caller loads it; `load` gets the bytes beyond the least ones.
    ///
    /// # Errors
    /// Cancellation while another job loads. If `load` fails, this call alone ends.
    ///
    /// # Panics
    /// When it was loaded as another type.
    pub fn load<T: Any + Send + Sync>(
        &self,
        cancel: &Cancel,
        load: impl FnOnce(u64) -> Result<T>,
    ) -> Result<Arc<T>> {
        let content = self.content.get(cancel, || Ok(Arc::new(load(self.extra)?) as Content))?;
        Ok(content.downcast().expect("a key has one type"))
    }
}

/// A value that the first of its users loads while the others wait.
pub struct LoadOnce<T> {
    stage: Mutex<LoadStage<T>>,
    /// Notified when a load has ended.
    ended: Condvar,
}

/// How far a load is.
enum LoadStage<T> {
    Empty,
    Loading,
    Loaded(T),
}

impl<T> Default for LoadOnce<T> {
    fn default() -> LoadOnce<T> {
        LoadOnce { stage: Mutex::new(LoadStage::Empty), ended: Condvar::new() }
    }
}

impl<T: Clone> LoadOnce<T> {
    /// Returns the value, which `load` makes if there is none yet. If the load of another caller
    /// fails or panics, this one loads.
    ///
    /// # Errors
    /// Cancellation while another caller loads.
    pub fn get(&self, cancel: &Cancel, load: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut stage = lock(&self.stage);
        loop {
            match &*stage {
                LoadStage::Loaded(value) => return Ok(value.clone()),
                LoadStage::Empty => break,
                LoadStage::Loading => cancel.check()?,
            }
            // With a limit, because a cancellation notifies nobody.
            let waited = self.ended.wait_timeout(stage, LOOK);
            stage = waited.unwrap_or_else(|lock| lock.into_inner()).0;
        }
        *stage = LoadStage::Loading;
        // Other callers wait without the lock, so they can be cancelled.
        drop(stage);
        let loading = Loading(self);
        let value = load()?;
        *lock(&self.stage) = LoadStage::Loaded(value.clone());
        // The value is there now, so this only wakes the others.
        drop(loading);
        Ok(value)
    }
}

/// Ends a load when dropped, even by a panic.
struct Loading<'l, T>(&'l LoadOnce<T>);

impl<T> Drop for Loading<'_, T> {
    fn drop(&mut self) {
        let mut stage = lock(&self.0.stage);
        if matches!(*stage, LoadStage::Loading) {
            *stage = LoadStage::Empty;
        }
        self.0.ended.notify_all();
    }
}

/// Sizes that only the index of rows tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSizes {
    /// Bytes of a batch, with rows of any length.
    pub batch: u64,
    /// Bytes of a batch, with long rows piece by piece.
    pub piece_batch: u64,
    /// Bytes of all rows as plain lists.
    pub unpacked: u64,
}

/// The sizes of the rows of a graph, once they are known: by direction, and without and with
/// weights.
#[derive(Default)]
pub struct KnownRowSizes([[LoadOnce<RowSizes>; 2]; 2]);

impl KnownRowSizes {
    /// Returns the sizes of the rows of a direction.
    pub fn of(&self, direction: Direction, has_weights: bool) -> &LoadOnce<RowSizes> {
        &self.0[usize::from(direction == Direction::Reverse)][usize::from(has_weights)]
    }
}

#[cfg(test)]
mod tests;
