//! Jobs that run side by side.

use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::graphs::{Model, Recipe};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::{number, whole};

/// Vertices along a side of the grid; it is 4,000 hops from corner to corner.
const SIDE: u64 = 2001;

/// Measures a search of many short levels, alone and beside a PageRank on the same scheduler.
pub fn search(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let program = Example::build(lab.root, "beside")?;
    let graph = lab.make(Recipe::new(Model::Grid(SIDE)))?;
    let (mut beside, mut alone, mut levels) = (Vec::new(), Vec::new(), 0);
    for _ in 0..lab.settings.rounds {
        let found = program.run(&[text(&graph.graph)?, &graph.source])?;
        beside.push(number(&found, "/beside")?);
        alone.push(number(&found, "/alone")?);
        levels = whole(&found, "/levels")?;
    }
    let title = format!("search beside PageRank, {}", graph.title);
    let figure = Figure::new(title, Unit::Seconds, beside)
        .compared_with("the search alone", alone, Ratio::TimesAsLong)
        .note(format!("{levels} levels"));
    Ok(vec![figure.at_most(Of::Ratio, 2.0, None)])
}
