//! The choices of tegula, each against its alternatives.

mod break_even;
mod checkpoints;
mod cost;
mod encodings;
mod ownership;
mod parts;
mod processes;
mod reading;
mod selective;
mod stars;
mod tile_order;
mod vertex_orders;

use super::figure::{Figure, Ratio, Unit};
use super::figures::Group;
use crate::tegula::Result;

/// Every group, in the order in which they are measured and shown.
pub const ABLATIONS: &[Group] = &[
    Group { name: "vertex-orders", title: "Orders of the vertices", measure: vertex_orders::all },
    Group { name: "encodings", title: "Encodings of rows", measure: encodings::all },
    Group { name: "selective", title: "Selective scheduling", measure: selective::all },
    Group { name: "threads", title: "One thread and two", measure: processes::threads },
    Group { name: "stars", title: "One thread and two on stars", measure: stars::all },
    Group { name: "reading", title: "io_uring and pread, by depth", measure: reading::backends },
    Group {
        name: "run-ahead",
        title: "Whole traversals with run-ahead and without",
        measure: reading::run_ahead,
    },
    Group {
        name: "budgets",
        title: "PageRank with room for 5 to 200 % of the tiles",
        measure: processes::budgets,
    },
    Group { name: "checkpoints", title: "Checkpoints, by how often", measure: checkpoints::all },
    Group { name: "tile-order", title: "Orders of the tiles", measure: tile_order::all },
    Group { name: "ownership", title: "Who writes the sums of a target", measure: ownership::all },
    Group { name: "parts", title: "Parts of a batch, by their edges", measure: parts::all },
    Group { name: "cost", title: "One thread along a list of edges (COST)", measure: cost::all },
    Group {
        name: "break-even",
        title: "Iterations that pay for an import",
        measure: break_even::all,
    },
];

/// Rounds of measurements that take long.
const ROUNDS_MAX: usize = 3;

/// Measures things in turn, round by round; returns the samples of each thing.
fn in_turn<T>(
    rounds: usize,
    things: &[T],
    mut measure: impl FnMut(&T) -> Result<f64>,
) -> Result<Vec<Vec<f64>>> {
    let mut samples: Vec<Vec<f64>> = things.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (thing, samples) in things.iter().zip(&mut samples) {
            samples.push(measure(thing)?);
        }
    }
    Ok(samples)
}

/// Makes a figure for each title. The first one is tegula's choice, and stands beside all others.
fn beside_first(
    subject: &str,
    titles: &[&str],
    samples: &[Vec<f64>],
    unit: Unit,
    ratio: Ratio,
) -> Vec<Figure> {
    let figures = titles.iter().zip(samples).enumerate().map(|(index, (title, own))| {
        let figure = Figure::new(format!("{subject}, {title}"), unit, own.clone());
        if index == 0 { figure } else { figure.compared_with(titles[0], samples[0].clone(), ratio) }
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_measured_in_turn_and_stand_beside_the_choice() {
        let mut order = Vec::new();
        let samples = in_turn(2, &[1.0, 3.0], |&value| {
            order.push(value);
            Ok(value * order.len() as f64)
        });
        let samples = samples.unwrap();
        assert_eq!(order, [1.0, 3.0, 1.0, 3.0]);
        assert_eq!(samples, [vec![1.0, 3.0], vec![6.0, 12.0]]);
        let figures = beside_first("x", &["a", "b"], &samples, Unit::Seconds, Ratio::TimesAsLong);
        assert!(figures[0].beside.is_none());
        assert_eq!(figures[1].beside.as_ref().unwrap().ratios.all, [6.0, 4.0]);
    }
}
