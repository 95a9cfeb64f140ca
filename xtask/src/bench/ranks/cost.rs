//! COST: one rank of one thread against one thread that loops over a list of edges (McSherry et al.,
//! HotOS 2015).

use super::mpi::{Mpi, Share, iteration};
use crate::bench::ablations::cost::{LIST, check_ranks, start};
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::Lab;
use crate::tegula::Result;
use crate::tegula::command::number;
use crate::tegula::scratch::remove;

const ITERATIONS: u64 = 10;

/// Measures PageRank in memory.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale)?;
    let cut = lab.cut(&graph.graph, 1)?;
    let file = lab.scratch.join("hilbert.bin32");
    let mut list = start(lab, &graph, &file)?;
    let iterations = ITERATIONS.to_string();
    let share = Share { threads: 1, memory: None };
    let (mut rank, mut loops) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let run = mpi.run(lab, "pagerank", &cut, share, &["--iterations", &iterations])?;
        rank.push(iteration(&run)?);
        let round = list.ask(&format!("memory pagerank {iterations}"))?;
        loops.push(iteration(&round)?);
        check_ranks(number(&run, "/summary/top/0/rank")?, number(&round, "/greatest")?)?;
    }
    drop(list);
    remove(&file)?;
    cut.discard()?;
    let title =
        format!("PageRank iteration, R-MAT {}, one rank of one thread, in memory", graph.scale);
    let figure =
        Figure::new(title, Unit::Seconds, rank).compared_with(LIST, loops, Ratio::TimesAsFast);
    Ok(vec![lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, 1.0, None))])
}
