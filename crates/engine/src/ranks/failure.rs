//! The failures of other ranks, as errors of a run.

use tegula_comm::Error as CommError;
use tegula_machine::Error as MachineError;
use tegula_store::Error;

/// Returns the error of a run for one of communication.
pub fn of_comm(error: CommError) -> Error {
    match error {
        CommError::Cancelled => Error::cancelled(),
        CommError::Aborted { rank, reason } => rank_failed(rank, reason),
        CommError::Silent { rank, seconds } => {
            rank_lost(rank, format!("it gave no sign of life for {seconds} s"))
        }
        CommError::Left { from, .. } => rank_lost(from, "it has ended its work".to_owned()),
        other => MachineError::WorkerFailed { detail: other.to_string() }.into(),
    }
}

/// Returns the error for a rank that is gone.
fn rank_lost(rank: usize, detail: String) -> Error {
    Error::RankLost { rank, detail }
}

/// Returns the error for a rank that has said why it failed.
pub fn rank_failed(rank: usize, detail: String) -> Error {
    Error::RankFailed { rank, detail }
}
