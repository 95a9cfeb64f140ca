//! Neighbours of random vertices, straight from the disk.

use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Unit};
use crate::bench::graphs::{Model, Recipe};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::number;

/// Look-ups per run.
const COUNT: &str = "10000";

/// Measures one look-up at a time, and many.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let program = Example::build(lab.root, "look_up")?;
    let graph = lab.make(Recipe::new(Model::Rmat(lab.settings.scale)))?;
    let mut figures = Vec::new();
    for (in_flight, title) in [("1", "one at a time"), ("64", "64 in flight")] {
        let (mut rates, mut p50, mut p99) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds {
            lab.cache.drop(&graph.graph)?;
            let done = program.run(&[text(&graph.graph)?, COUNT, in_flight])?;
            rates.push(number(&done, "/count")? / number(&done, "/seconds")?);
            p50.push(number(&done, "/p50")?);
            p99.push(number(&done, "/p99")?);
        }
        let title = format!("{}, {title}", graph.title);
        figures.push(Figure::new(format!("{title}, median"), Unit::Seconds, p50));
        figures.push(Figure::new(format!("{title}, 99 of 100 within"), Unit::Seconds, p99));
        figures.push(Figure::new(format!("{title}, rate"), Unit::PerSecond, rates));
    }
    Ok(figures)
}
