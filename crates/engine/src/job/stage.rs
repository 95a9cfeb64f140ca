//! The stages of the job of a program.

use tegula_store::{Error, Result};

use super::PartWork;
use crate::program::Program;
use crate::start::Start;

/// How far the job of a program is. `S` is the program with its arrays.
pub enum Stage<P: Program, S> {
    New(Start<P>),
    Running(Box<S>),
    /// It failed before it ran.
    Lost,
}

impl<P: Program, S> Stage<P, S> {
    /// Lets a new program run.
    ///
    /// # Errors
    /// If `make` fails, the program is lost.
    pub fn begin(&mut self, make: impl FnOnce(Start<P>) -> Result<S>) -> Result<()> {
        *self = match std::mem::replace(self, Stage::Lost) {
            Stage::New(start) => Stage::Running(Box::new(make(start)?)),
            begun => begun,
        };
        Ok(())
    }

    /// Returns the program while it runs.
    pub fn running(&self) -> Option<&S> {
        match self {
            Stage::Running(step) => Some(step),
            Stage::New(_) | Stage::Lost => None,
        }
    }

    /// Returns the program for its next step.
    ///
    /// # Errors
    /// [`Error::Cancelled`](tegula_machine::Error::Cancelled) if it does not run.
    pub fn advancing(&mut self) -> Result<&mut S> {
        match self {
            Stage::Running(step) => Ok(step),
            Stage::New(_) | Stage::Lost => Err(Error::cancelled()),
        }
    }

    /// Returns the program after its end.
    ///
    /// # Errors
    /// [`Error::Cancelled`](tegula_machine::Error::Cancelled) if it does not run.
    pub fn into_ended(self) -> Result<S> {
        match self {
            Stage::Running(step) => Ok(*step),
            Stage::New(_) | Stage::Lost => Err(Error::cancelled()),
        }
    }

    /// Begins a part of a scan.
    ///
    /// # Panics
    /// When the program does not run.
    pub fn begin_part<'s, W: PartWork + 's>(
        &'s self,
        begin: impl FnOnce(&'s S) -> W,
    ) -> Box<dyn PartWork + 's> {
        let Some(step) = self.running() else { unreachable!("it scans while it runs") };
        Box::new(begin(step))
    }
}
