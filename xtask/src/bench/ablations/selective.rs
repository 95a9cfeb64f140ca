//! Selective scheduling: tiles without an active source or an open target are passed over, or read
//! nevertheless.

use std::path::Path;

use super::comparison::{ROUNDS_MAX, in_turn};
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::lab::Lab;
use crate::tegula::Result;
use crate::tegula::command::number;

/// Options that pass over tiles without a use, or read them.
const VARIANTS: [&[&str]; 2] = [&[], &["--every-tile"]];

/// Measures searches and components from disk (MOSAIC, section 6.4 and Figure 10).
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let both_ways = lab.rmat_both_ways(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let runs: [(&str, &Path, &[&str]); 3] = [
        ("bfs", &graph.graph, &["--source", &graph.hub]),
        ("wcc", &both_ways, &["--method", "propagation"]),
        ("sssp", &graph.graph, &["--source", &graph.hub]),
    ];
    let mut figures = Vec::new();
    for (algorithm, directory, options) in runs {
        let (mut bytes, rounds) = ([Vec::new(), Vec::new()], lab.settings.rounds.min(ROUNDS_MAX));
        let seconds = in_turn(rounds, &[0, 1], |&variant| {
            let options = [&["--executor", "scan"], options, VARIANTS[variant]].concat();
            let run = lab.run(algorithm, directory, Some(memory), &options)?;
            bytes[variant].push(number(&run, "/bytes_read")?);
            number(&run, "/seconds/run")
        })?;
        let saved = 1.0 - median(&bytes[0]) / median(&bytes[1]);
        let [selective, every] = bytes;
        let title = format!("{algorithm}, R-MAT {}, from disk", graph.scale);
        let times = Figure::new(title.clone(), Unit::Seconds, seconds[0].clone()).compared_with(
            "every tile",
            seconds[1].clone(),
            Ratio::TimesAsLong,
        );
        let sizes = Figure::new(format!("{title}, read"), Unit::Bytes, selective)
            .compared_with("every tile", every, Ratio::TimesAsLarge)
            .note(format!("{:.0} % of the bytes are not read", 100.0 * saved));
        figures.extend([times, sizes]);
    }
    Ok(figures)
}
