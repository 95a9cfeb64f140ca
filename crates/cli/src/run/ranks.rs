//! Runs an algorithm on ranks: threads of this process, or several processes like this one.

use std::path::Path;
use std::time::{Duration, Instant};

use tegula_algorithms::algorithm::Request;
use tegula_comm::{Comm, Error as CommError, Tag, Threads};
use tegula_engine::{Executor, of_comm};
use tegula_machine::threads::{Cancel, start_in};
use tegula_store::Error;
use tegula_store::graph::is_directory;
use tegula_store::partition::shard_paths;

use super::options::RunArgs;
use super::{one, rank_estimates};
use crate::errors::{Failure, Result, guarded};
use crate::session::Session;

/// How long a rank waits for the failure of each rank before it.
const PATIENCE: Duration = Duration::from_millis(500);
/// The most ranks for which a rank waits.
const PATIENCE_RANKS_MAX: usize = 4;
/// No message has this tag.
const NOTHING: Tag = Tag(0);

/// Runs an algorithm on `count` ranks that are threads. If any rank fails, all end, and the failure
/// is that of the first one.
pub fn run(request: &Request, args: &RunArgs, count: usize, session: &Session) -> Result<()> {
    check(args, count)?;
    // Shards that lie apart cannot be counted.
    if args.ranks.rank_directory.is_none() {
        check_count(args, count)?;
    }
    if args.estimate {
        return rank_estimates::show(request, args, count, session);
    }
    let ranks = Threads::ranks(count);
    let silent = session.of_other_rank();
    let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
        let others = ranks[1..].iter().map(|comm| {
            let run = || run_rank(request, args, comm, count, &silent);
            let started = start_in(scope, &format!("tegula-rank-{}", comm.rank()), run);
            started.inspect_err(|error| comm.abort(&format!("no thread for it: {error}")))
        });
        // All threads start now, before the first rank waits for them.
        let others: Vec<_> = others.collect();
        let first = run_rank(request, args, &ranks[0], count, session);
        let joined = others
            .into_iter()
            // A rank whose thread did not start has ended the others, who tell why.
            .flatten()
            .map(|rank| rank.join().unwrap_or_else(|panic| Err(Failure::panic(&*panic))));
        std::iter::once(first).chain(joined).collect()
    });
    first_failure(outcomes)
}

/// Runs an algorithm as one of several ranks that are processes.
pub fn run_process(
    request: &Request,
    args: &RunArgs,
    comm: &dyn Comm,
    session: &Session,
) -> Result<()> {
    failing_for_all(comm, &session.cancel, || {
        let count = comm.size();
        if let Some(asked) = args.ranks.ranks.filter(|asked| asked.get() as usize != count) {
            let message = format!("--ranks is {asked}, but {count} processes were started");
            let help = format!("leave it out, or start {asked} with `mpirun -n {asked}`");
            return Err(Failure::usage_with(message, help));
        }
        check(args, count)?;
        if args.estimate {
            let message = "--estimate reads the shards of all ranks";
            let help = format!("run `tegula run ... --ranks {count} --estimate`, without mpirun");
            return Err(Failure::usage_with(message, help));
        }
        run_one(request, args, comm, 1, session)
    })
}

/// Runs a rank that is one of `sharers` threads.
fn run_rank(
    request: &Request,
    args: &RunArgs,
    comm: &dyn Comm,
    sharers: usize,
    session: &Session,
) -> Result<()> {
    failing_for_all(comm, &session.cancel, || run_one(request, args, comm, sharers, session))
}

fn run_one(
    request: &Request,
    args: &RunArgs,
    comm: &dyn Comm,
    sharers: usize,
    session: &Session,
) -> Result<()> {
    let _made = args.make_checkpoint_folder()?;
    one::run(request, &args.of_rank(comm.rank(), sharers)?, Some(comm), session)
}

/// Refuses options that ranks do not have, and a graph that is not cut.
fn check(args: &RunArgs, count: usize) -> Result<()> {
    if args.executor() == Executor::Seek {
        let message = "ranks scan tiles, and cannot follow rows";
        return Err(Failure::usage_with(message, "use --executor scan or auto"));
    }
    match args.graph.as_deref().filter(|folder| is_directory(folder)) {
        Some(whole) if args.ranks.rank_directory.is_none() => {
            let name = whole.display();
            let message = format!("{name} is a graph of one machine");
            let cut = format!("tegula partition {name} --ranks {count} -o DIR");
            Err(Failure::usage_with(message, format!("cut it with `{cut}`, and run on DIR")))
        }
        _ => Ok(()),
    }
}

/// Refuses a folder that is not cut into `count` shards.
fn check_count(args: &RunArgs, count: usize) -> Result<()> {
    let folder = args.graph.as_deref().unwrap_or(Path::new("."));
    match shard_paths(folder)?.len() {
        found if found == count => Ok(()),
        found => {
            let message = format!("{} is cut into {found} shards, not {count}", folder.display());
            Err(Failure::usage_with(message, format!("run it on {found} ranks, or cut it again")))
        }
    }
}

/// Does the work of a rank. If it fails, the work of the others ends too.
fn failing_for_all(
    comm: &dyn Comm,
    cancel: &Cancel,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    guarded(work).map_err(|failure| {
        let failure = match failure.is_of_another_rank() {
            true => failure,
            false => failure_of_another(comm).map_or(failure, Failure::from),
        };
        if !failure.is_of_another_rank() {
            comm.abort(&failure.to_string());
        }
        // Ranks that are threads share this, so those that compute stop too.
        cancel.cancel();
        failure
    })
}

/// Waits a moment for the failure of another rank: the longer, the greater the number of this rank
/// is. All ranks may fail for the same reason, such as a vertex that the graph does not have. Then
/// the first one tells it.
fn failure_of_another(comm: &dyn Comm) -> Option<Error> {
    let patience = PATIENCE * comm.rank().min(PATIENCE_RANKS_MAX) as u32;
    let since = Instant::now();
    loop {
        match comm.poll(comm.rank(), NOTHING) {
            Err(CommError::Aborted { rank, reason }) if rank != comm.rank() => {
                return Some(of_comm(CommError::Aborted { rank, reason }));
            }
            // The first rank that is left tells that one is lost.
            Err(CommError::Silent { rank: lost, .. }) if comm.rank() > usize::from(lost == 0) => {
                let detail = "another rank tells that it is lost".to_owned();
                return Some(Error::RankFailed { rank: lost, detail });
            }
            _ if since.elapsed() >= patience => return None,
            _ => std::thread::park_timeout(PATIENCE / 50),
        }
    }
}

/// Returns the failure that ended the others, if there is one.
fn first_failure(outcomes: Vec<Result<()>>) -> Result<()> {
    let failures = outcomes.into_iter().filter_map(Result::err);
    let (others, own): (Vec<_>, Vec<_>) = failures.partition(Failure::is_of_another_rank);
    own.into_iter().chain(others).next().map_or(Ok(()), Err)
}
