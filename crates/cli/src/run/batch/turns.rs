//! Turns to write tables, which take memory beside the memory of the jobs.
//!
//! One run at a time may always write. A second one may write beside it while the ledger has room
//! for its buffers.

use std::sync::{Condvar, Mutex};

use tegula_engine::WriterMemory;
use tegula_machine::threads::lock;

/// Which turns are taken.
#[derive(Default)]
pub struct Turns {
    are_taken: Mutex<[bool; 2]>,
    /// Notified when a turn has ended.
    ended: Condvar,
}

/// A turn, which ends when this is dropped.
pub struct Turn<'t> {
    turns: &'t Turns,
    number: usize,
    memory: Option<WriterMemory<'t>>,
}

impl Turns {
    /// Waits for a turn. `memory` leases the memory for the second one, if there is room now.
    pub fn wait<'t>(&'t self, memory: impl Fn() -> Option<WriterMemory<'t>>) -> Turn<'t> {
        let mut are_taken = lock(&self.are_taken);
        loop {
            if !are_taken[0] {
                are_taken[0] = true;
                return Turn { turns: self, number: 0, memory: None };
            }
            if !are_taken[1]
                && let Some(memory) = memory()
            {
                are_taken[1] = true;
                return Turn { turns: self, number: 1, memory: Some(memory) };
            }
            are_taken = self.ended.wait(are_taken).unwrap_or_else(|lock| lock.into_inner());
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Before the turn, because a run that takes it next asks for memory.
        self.memory = None;
        lock(&self.turns.are_taken)[self.number] = false;
        self.turns.ended.notify_all();
    }
}
