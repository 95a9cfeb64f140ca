//! Buffers that are reused between calls.

use std::sync::Mutex;

use super::locks::{lock, unlocked};

/// Buffers for workers that do not know their own number: each call takes a buffer and gives it
/// back. There are never more buffers than simultaneous calls.
pub struct Stash<T>(Mutex<Vec<T>>);

impl<T> Default for Stash<T> {
    fn default() -> Stash<T> {
        Stash(Mutex::new(Vec::new()))
    }
}

impl<T> Stash<T> {
    /// Lends a buffer, or a new one where all are in use.
    pub fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let kept = lock(&self.0).pop();
        let mut item = kept.unwrap_or_else(new);
        let result = work(&mut item);
        lock(&self.0).push(item);
        result
    }

    /// Returns all buffers, once nobody uses them any more.
    pub fn into_items(self) -> Vec<T> {
        unlocked(self.0)
    }
}
