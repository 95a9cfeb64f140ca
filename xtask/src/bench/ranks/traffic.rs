//! What ranks send each other in an iteration of PageRank.

use super::cut::Cut;
use super::mpi::of_ranks;
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;

/// Iterations of a short run and of a long one. Their difference leaves out what ranks send before
/// the first iteration.
const ITERATIONS: [u64; 2] = [2, 6];
/// Bytes of a message of PageRank.
pub const MESSAGE_BYTES: f64 = 4.0;

/// Bytes in an iteration.
#[derive(Debug, Clone, Copy)]
pub struct Traffic {
    /// What all ranks send.
    pub sent: f64,
    /// What passes the link of the busiest rank in its busier direction.
    pub busiest: f64,
    /// What all ranks send before the first iteration and after the last one.
    pub once: f64,
}

impl Traffic {
    /// Counts the bytes on ranks that are threads. Ranks that are processes send the same.
    pub fn count(lab: &Lab<'_>, cut: &Cut) -> Result<Traffic> {
        let [short, long] = ITERATIONS;
        let (one, other) = (Counted::run(lab, cut, short)?, Counted::run(lab, cut, long)?);
        let each = |one: &[f64], other: &[f64]| -> Vec<f64> {
            let pairs = one.iter().zip(other);
            pairs.map(|(one, other)| (other - one) / (long - short) as f64).collect()
        };
        let (sent, received) = (each(&one.sent, &other.sent), each(&one.received, &other.received));
        let in_iterations: f64 = sent.iter().sum();
        Ok(Traffic {
            sent: in_iterations,
            busiest: sent.iter().chain(&received).copied().fold(0.0, f64::max),
            once: one.sent.iter().sum::<f64>() - in_iterations * short as f64,
        })
    }
}

/// Bytes in a whole run, by rank.
struct Counted {
    sent: Vec<f64>,
    received: Vec<f64>,
}

impl Counted {
    fn run(lab: &Lab<'_>, cut: &Cut, iterations: u64) -> Result<Counted> {
        let (ranks, iterations) = (cut.ranks().to_string(), iterations.to_string());
        let run = ["run", "pagerank", text(&cut.folder)?, "--ranks", &ranks];
        let run = lab.tegula.json(&[&run[..], &["--iterations", &iterations]].concat())?;
        Ok(Counted {
            sent: of_ranks(&run, "bytes_sent")?,
            received: of_ranks(&run, "bytes_received")?,
        })
    }
}
