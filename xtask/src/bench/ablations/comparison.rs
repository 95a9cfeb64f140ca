//! Choices measured in turn, and their figures.

use crate::bench::figure::{Figure, Ratio, Unit};
use crate::tegula::Result;

/// Rounds of measurements that take long.
pub const ROUNDS_MAX: usize = 3;

/// Measures things in turn, round by round; returns the samples of each thing.
pub fn in_turn<T>(
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
pub fn beside_first(
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
