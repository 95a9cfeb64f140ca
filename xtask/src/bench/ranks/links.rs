//! An iteration of PageRank by the rate of the link between two ranks.

use super::mpi::{Mpi, Share, iteration};
use super::namespaces::Namespaces;
use super::traffic::Traffic;
use crate::bench::figure::{Figure, Unit, median};
use crate::bench::lab::Lab;
use crate::tegula::{Result, units};

/// Rates of the link in Mbit/s.
const RATES: [f64; 5] = [100.0, 300.0, 1000.0, 3000.0, 10_000.0];
const BITS_PER_MEGABIT: f64 = 1e6;
const ITERATIONS: u64 = 5;
const AXIS: &str = "link in Mbit/s";

/// Measures two ranks in network namespaces with a slow link between them.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let namespaces = match Namespaces::new(lab) {
        Ok(namespaces) => namespaces,
        Err(error) => {
            lab.leave_out(&format!("there can be no network namespaces here ({error})."));
            return Ok(Vec::new());
        }
    };
    let graph = lab.rmat(lab.settings.scale)?;
    let cut = lab.cut(&graph.graph, 2)?;
    let bytes = Traffic::count(lab, &cut)?.busiest;
    let linked = mpi.under(namespaces.launcher());
    let iterations = ITERATIONS.to_string();
    let measure = |mpi: &Mpi| -> Result<f64> {
        let share = Share { threads: 1, memory: None };
        iteration(&mpi.run(lab, "pagerank", &cut, share, &["--iterations", &iterations])?)
    };
    let (mut shared_memory, mut by_rate) = (Vec::new(), vec![Vec::new(); RATES.len()]);
    for _ in 0..lab.settings.rounds {
        shared_memory.push(measure(&mpi)?);
        for (rate, samples) in RATES.iter().zip(&mut by_rate) {
            namespaces.limit(rate * BITS_PER_MEGABIT)?;
            samples.push(measure(&linked)?);
        }
    }
    cut.discard()?;
    let without = median(&shared_memory);
    let name = format!("iteration, R-MAT {}, 2 ranks", graph.scale);
    let mut figures = vec![
        Figure::new(format!("{name}, messages through memory"), Unit::Seconds, shared_memory)
            .note(format!("{} in each direction in an iteration", units::bytes(bytes))),
    ];
    for (rate, samples) in RATES.into_iter().zip(by_rate) {
        let arithmetic = without + bytes * 8.0 / (rate * BITS_PER_MEGABIT);
        let figure = |title: String, samples: Vec<f64>, curve: &str| {
            Figure::new(title, Unit::Seconds, samples).on_curve(curve, rate, AXIS)
        };
        figures.push(figure(format!("{name}, {rate} Mbit/s"), samples, "measured"));
        let title = format!("{name}, {rate} Mbit/s, by arithmetic");
        figures.push(figure(title, vec![arithmetic], "by arithmetic"));
    }
    lab.remarks.push(
        "Both ranks run on this machine, in network namespaces of their own; `tc` limits the link in each \
         direction. TCP takes time of the same processors. *By arithmetic* is the iteration with messages through \
         memory, and the time in which the link carries the bytes of one direction."
            .to_owned(),
    );
    Ok(figures)
}
