//! Checks that all ranks of a run do the same.

use tegula_comm::{Comm, Tag};
use tegula_engine::of_comm;
use tegula_machine::threads::Cancel;
use tegula_store::Error;

use crate::errors::{Failure, Result};

/// For messages about what a rank runs.
const RUN: Tag = Tag(202);

/// Checks that all ranks give the same description of their run. A rank that runs something else
/// would send messages that others do not expect.
///
/// # Errors
/// [`Failure::Usage`] on the first rank that differs from rank 0, and
/// [`Error::RankFailed`] on the others.
pub fn check(comm: &dyn Comm, run: &str, cancel: &Cancel) -> Result<()> {
    let all = comm.all_gather(run.as_bytes().to_vec(), RUN, cancel).map_err(of_comm)?;
    let Some(rank) = all.iter().position(|other| *other != all[0]) else { return Ok(()) };
    let message = format!("rank {rank} runs another algorithm or other options than rank 0");
    match rank == comm.rank() {
        true => {
            let help = "start all ranks with the same version of tegula and the same command; only \
                        memory, threads and folders may differ";
            Err(Failure::usage_with(message, help))
        }
        false => Err(Error::RankFailed { rank, detail: message }.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tegula_comm::Threads;

    use super::*;

    /// Returns what each rank says, where each gives one of these descriptions.
    fn checked(runs: &[&str]) -> Vec<Result<()>> {
        let ranks = Threads::ranks(runs.len());
        thread::scope(|scope| {
            let each = ranks.iter().zip(runs);
            let each = each.map(|(comm, run)| scope.spawn(|| check(comm, run, &Cancel::default())));
            let each: Vec<_> = each.collect();
            each.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn the_first_rank_that_runs_something_else_says_so() {
        let all = checked(&["wcc {}", "wcc {}", "degree {}", "bfs {}"]);
        for (rank, outcome) in all.into_iter().enumerate() {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.is_of_another_rank(), rank != 2, "{failure}");
            let told = "rank 2 runs another algorithm or other options than rank 0";
            assert!(failure.to_string().contains(told), "{failure}");
        }
    }

    #[test]
    fn ranks_that_run_the_same_go_on() {
        assert!(checked(&["wcc {}"; 3]).iter().all(Result::is_ok));
        assert!(checked(&["wcc {}"]).iter().all(Result::is_ok));
    }
}
