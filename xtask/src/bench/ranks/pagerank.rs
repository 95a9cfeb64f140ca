//! An iteration of PageRank on ranks, beside one of one process.

use super::mpi::{Mpi, Share, bytes_read, iteration};
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::{Lab, Prepared};
use crate::tegula::{Result, units};

/// Iterations of a run, and of one from disk, which takes longer. A sample is the median of their
/// times, so the first one, which finds nothing in memory, does not count.
const ITERATIONS: u64 = 10;
const ITERATIONS_FROM_DISK: u64 = 5;
/// The most rounds from disk.
const ROUNDS_FROM_DISK_MAX: usize = 3;
/// How much longer an iteration may take on two ranks of one thread than in one process of two.
const LONGER_IN_MEMORY: f64 = 1.15;
const LONGER_FROM_DISK: f64 = 1.25;
/// How much longer an iteration may take on one rank than without ranks.
const LONGER_ON_ONE_RANK: f64 = 1.02;

/// Measures two ranks in memory.
pub fn in_memory(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale)?;
    let found = Ways::in_memory(2, 1).measure(lab, &mpi, &graph)?;
    let title = format!("iteration, R-MAT {}, 2 ranks of one thread, in memory", graph.scale);
    let figure = found.figure(title, "one process of two threads");
    let wanted = |figure: Figure| figure.at_most(Of::Ratio, LONGER_IN_MEMORY, None);
    Ok(vec![lab.with_targets(figure, wanted)])
}

/// Measures two ranks from disk, beside one process with the budget of a rank.
pub fn from_disk(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let budget = units::bytes(memory as f64);
    let ways = Ways::from_disk(memory);
    let title = format!("iteration, R-MAT {}, 2 ranks within {budget} each", graph.scale);
    if let Some(refusal) = ways.refusal(lab, &mpi, &graph)? {
        lab.leave_out(&format!("{title}. The command says: {refusal}"));
        return Ok(Vec::new());
    }
    let found = ways.measure(lab, &mpi, &graph)?;
    let beside = format!("one process within {budget}");
    let figure = found.figure(title, &beside).note(found.bytes_read(&beside, ways.iterations));
    let wanted = |figure: Figure| figure.at_most(Of::Ratio, LONGER_FROM_DISK, None);
    Ok(vec![lab.with_targets(figure, wanted)])
}

/// Measures one rank with all threads.
pub fn one_rank(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale)?;
    let threads = std::thread::available_parallelism()?.get();
    let found = Ways::in_memory(1, threads).measure(lab, &mpi, &graph)?;
    let title = format!("iteration, R-MAT {}, one rank, in memory", graph.scale);
    let figure = found.figure(title, "one process without ranks");
    let wanted = |figure: Figure| figure.at_most(Of::Ratio, LONGER_ON_ONE_RANK, None);
    Ok(vec![lab.with_targets(figure, wanted)])
}

/// Ranks, and the process that is measured in turn with them. It has the threads of all ranks.
#[derive(Debug, Clone, Copy)]
struct Ways {
    ranks: usize,
    /// The process has the same memory as a rank.
    share: Share,
    iterations: u64,
    rounds_max: usize,
}

/// Samples of an iteration, and the bytes that all ranks or the process read in a run.
#[derive(Debug, Default)]
struct Found {
    ranks: Vec<f64>,
    ranks_read: Vec<f64>,
    process: Vec<f64>,
    process_read: Vec<f64>,
}

impl Ways {
    fn in_memory(ranks: usize, threads: usize) -> Ways {
        let share = Share { threads, memory: None };
        Ways { ranks, share, iterations: ITERATIONS, rounds_max: usize::MAX }
    }

    /// Returns two ranks of one thread within `memory` bytes each.
    fn from_disk(memory: u64) -> Ways {
        let share = Share { threads: 1, memory: Some(memory) };
        let (iterations, rounds_max) = (ITERATIONS_FROM_DISK, ROUNDS_FROM_DISK_MAX);
        Ways { ranks: 2, share, iterations, rounds_max }
    }

    /// Returns why the command refuses to run on ranks like this, if it does.
    fn refusal(&self, lab: &Lab<'_>, mpi: &Mpi, graph: &Prepared) -> Result<Option<String>> {
        let cut = lab.cut(&graph.graph, self.ranks)?;
        let run = mpi.run(lab, "pagerank", &cut, self.share, &["--iterations", "1"]);
        cut.discard()?;
        Ok(run.err().map(|error| error.to_string()))
    }

    fn measure(&self, lab: &Lab<'_>, mpi: &Mpi, graph: &Prepared) -> Result<Found> {
        let cut = lab.cut(&graph.graph, self.ranks)?;
        let iterations = self.iterations.to_string();
        let options = ["--iterations", &iterations];
        let threads = (self.ranks * self.share.threads).to_string();
        let alone = [&options[..], &["--threads", &threads]].concat();
        let mut found = Found::default();
        for _ in 0..lab.settings.rounds.min(self.rounds_max) {
            let run = mpi.run(lab, "pagerank", &cut, self.share, &options)?;
            found.ranks.push(iteration(&run)?);
            found.ranks_read.push(bytes_read(&run)?);
            let run = lab.run("pagerank", &graph.graph, self.share.memory, &alone)?;
            found.process.push(iteration(&run)?);
            found.process_read.push(bytes_read(&run)?);
        }
        cut.discard()?;
        Ok(found)
    }
}

impl Found {
    fn figure(&self, title: String, beside: &str) -> Figure {
        Figure::new(title, Unit::Seconds, self.ranks.clone()).compared_with(
            beside,
            self.process.clone(),
            Ratio::TimesAsLong,
        )
    }

    fn bytes_read(&self, beside: &str, iterations: u64) -> String {
        let [ranks, process] = [&self.ranks_read, &self.process_read]
            .map(|read| units::bytes(median(read) / iterations as f64));
        format!("an iteration reads {ranks} on both ranks together, and {process} in {beside}")
    }
}
