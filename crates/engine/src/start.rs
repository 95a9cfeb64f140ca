//! What a run begins with.

use crate::external::States;
use crate::program::Program;

/// A program, and what is known of the vertices before its first iteration.
#[derive(Debug)]
pub struct Start<P: Program> {
    /// The program.
    pub program: P,
    /// The states that [`Program::init_from`] is given, where there are any: by dense id, in memory only for a run that
    /// has its arrays there.
    pub known: Option<States<P::State>>,
}

impl<P: Program> From<P> for Start<P> {
    fn from(program: P) -> Start<P> {
        Start { program, known: None }
    }
}
