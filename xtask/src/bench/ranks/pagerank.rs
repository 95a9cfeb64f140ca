//! An iteration of PageRank on ranks, beside one of one process.

use super::mpi::{Mpi, Share, bytes_read, iteration};
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::{Lab, Prepared};
use crate::tegula::{Result, units};

/// Iterations of a run. A sample is the median of their times, so the first one, which finds
/// nothing in memory, does not count.
const ITERATIONS: u64 = 10;
/// How much longer an iteration may take on two ranks of one thread than in one process of two.
const LONGER_IN_MEMORY: f64 = 1.15;
const LONGER_FROM_DISK: f64 = 1.25;
/// How much longer an iteration may take on one rank than without ranks.
const LONGER_ON_ONE_RANK: f64 = 1.02;

/// Measures two ranks in memory.
pub fn in_memory(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale)?;
    let ways = Ways::new(2, 1, None);
    let found = ways.measure(lab, &mpi, &graph)?;
    let title = format!("iteration, R-MAT {}, 2 ranks of one thread, in memory", graph.scale);
    let figure = found.figure(title, "one process of two threads");
    let wanted = |figure: Figure| figure.at_most(Of::Ratio, LONGER_IN_MEMORY, None);
    Ok(vec![lab.with_targets(figure, wanted)])
}

/// Measures two ranks from disk: beside one process with the budget of a rank, and beside one with
/// the budgets of both ranks.
pub fn from_disk(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let budget = units::bytes(memory as f64);
    let ways = Ways::new(2, 1, Some(memory));
    let title = format!("iteration, R-MAT {}, 2 ranks within {budget} each", graph.scale);
    if let Some(refusal) = ways.refusal(lab, &mpi, &graph)? {
        lab.leave_out(&format!("{title}. The command says: {refusal}"));
        return Ok(Vec::new());
    }
    let same = ways.measure(lab, &mpi, &graph)?;
    let both = Ways { memory_of_process: Some(2 * memory), ..ways }.measure(lab, &mpi, &graph)?;
    let beside_same = format!("one process within {budget}");
    let beside_both = format!("one process within twice {budget}");
    let figure = same.figure(title.clone(), &beside_same).note(same.bytes_read(&beside_same));
    let wanted = |figure: Figure| figure.at_most(Of::Ratio, LONGER_FROM_DISK, None);
    Ok(vec![
        lab.with_targets(figure, wanted),
        both.figure(title, &beside_both).note(both.bytes_read(&beside_both)),
    ])
}

/// Measures one rank with all threads.
pub fn one_rank(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale)?;
    let threads = std::thread::available_parallelism()?.get();
    let found = Ways::new(1, threads, None).measure(lab, &mpi, &graph)?;
    let title = format!("iteration, R-MAT {}, one rank, in memory", graph.scale);
    let figure = found.figure(title, "one process without ranks");
    let wanted = |figure: Figure| figure.at_most(Of::Ratio, LONGER_ON_ONE_RANK, None);
    Ok(vec![lab.with_targets(figure, wanted)])
}

/// Ranks, and the process that is measured in turn with them. It has the threads of all ranks.
#[derive(Debug, Clone, Copy)]
struct Ways {
    ranks: usize,
    share: Share,
    memory_of_process: Option<u64>,
}

/// Samples of an iteration, and the bytes that all ranks or the process read in it.
#[derive(Debug, Default)]
struct Found {
    ranks: Vec<f64>,
    ranks_read: Vec<f64>,
    process: Vec<f64>,
    process_read: Vec<f64>,
}

impl Ways {
    fn new(ranks: usize, threads: usize, memory: Option<u64>) -> Ways {
        Ways { ranks, share: Share { threads, memory }, memory_of_process: memory }
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
        let iterations = ITERATIONS.to_string();
        let options = ["--iterations", &iterations];
        let threads = (self.ranks * self.share.threads).to_string();
        let alone = [&options[..], &["--threads", &threads]].concat();
        let mut found = Found::default();
        for _ in 0..lab.settings.rounds {
            let run = mpi.run(lab, "pagerank", &cut, self.share, &options)?;
            found.ranks.push(iteration(&run)?);
            found.ranks_read.push(bytes_read(&run)? / ITERATIONS as f64);
            let run = lab.run("pagerank", &graph.graph, self.memory_of_process, &alone)?;
            found.process.push(iteration(&run)?);
            found.process_read.push(bytes_read(&run)? / ITERATIONS as f64);
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

    fn bytes_read(&self, beside: &str) -> String {
        let [ranks, process] =
            [&self.ranks_read, &self.process_read].map(|read| units::bytes(median(read)));
        format!("an iteration reads {ranks} on both ranks together, and {process} in {beside}")
    }
}
