//! What a run begins with.

use crate::program::Program;
use crate::states::States;

/// A program, and what is known about the vertices before its first iteration.
#[derive(Debug)]
pub struct Start<P: Program> {
    /// The program.
    pub program: P,
    /// The states for [`Program::init_from`] by dense id, if there are any. They lie in memory only
    /// for a run whose arrays lie there.
    pub known: Option<States<P::State>>,
    /// Whether a rank needs the final states of its own vertices only. Then
    /// other ranks do not send theirs, which are undefined here.
    pub is_own_enough: bool,
}

impl<P: Program> From<P> for Start<P> {
    fn from(program: P) -> Start<P> {
        Start { program, known: None, is_own_enough: false }
    }
}
