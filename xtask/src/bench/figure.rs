//! A measurement: samples, something to compare with, and targets.

use serde::{Deserialize, Serialize};

use super::tracks::Tracks;
use crate::tegula::units;

/// Repeated measurements of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// In the order of measurement.
    pub all: Vec<f64>,
}

impl Samples {
    /// Summarizes values; without values every figure is 0.
    pub fn new(all: Vec<f64>) -> Samples {
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
        let last = sorted.len().saturating_sub(1);
        let median = (at(last / 2) + at(sorted.len() / 2)) / 2.0;
        Samples { median, min: at(0), max: at(last), all }
    }

    /// Divides each value by the other one of the same round.
    fn over(&self, other: &Samples) -> Samples {
        let pairs = self.all.iter().zip(&other.all);
        Samples::new(pairs.map(|(one, other)| one / other.max(f64::MIN_POSITIVE)).collect())
    }
}

/// The median of a list.
pub fn median(values: &[f64]) -> f64 {
    Samples::new(values.to_vec()).median
}

/// The unit of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Seconds,
    EdgesPerSecond,
    BytesPerEdge,
    BitsPerEdge,
    BytesPerVertex,
    Bytes,
    /// A number of things.
    Count,
    /// Things per second.
    PerSecond,
    /// A share of a whole, from 0 to 1.
    Share,
    /// How good an answer is, at most 1.
    Quality,
}

impl Unit {
    /// Formats a value with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Seconds => units::seconds(value),
            Unit::EdgesPerSecond => format!("{} edges/s", units::decimal(value)),
            Unit::BytesPerEdge => format!("{value:.2} bytes"),
            Unit::BitsPerEdge => format!("{value:.2} bits"),
            Unit::BytesPerVertex => format!("{value:.2} bytes"),
            Unit::Bytes => units::bytes(value),
            Unit::Count => units::decimal(value),
            Unit::PerSecond => format!("{}/s", units::decimal(value)),
            Unit::Share => format!("{:.2} %", 100.0 * value),
            Unit::Quality => format!("{value:.4}"),
        }
    }
}

/// The relation between a figure and what stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "they are said as they are read: times as fast")]
pub enum Ratio {
    /// How many times as fast: the other time divided by ours.
    TimesAsFast,
    /// How many times as long: our time divided by the other.
    TimesAsLong,
    /// How many times as large: our value divided by the other.
    TimesAsLarge,
}

impl Ratio {
    /// Returns the words behind a number.
    pub fn words(self) -> &'static str {
        match self {
            Ratio::TimesAsFast => "as fast",
            Ratio::TimesAsLong => "as long",
            Ratio::TimesAsLarge => "as large",
        }
    }
}

/// A quantity that was measured in turn with the figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    pub title: String,
    pub samples: Samples,
    pub ratio: Ratio,
    /// The ratio of each round.
    pub ratios: Samples,
}

/// Whether a target is for the value or the ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    Value,
    Ratio,
}

/// A target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Target {
    pub of: Of,
    pub is_minimum: bool,
    pub at: f64,
    /// A better value, worth aiming at next.
    pub stretch: Option<f64>,
}

/// How a figure compares with its targets, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Missed,
    Reached,
    Stretch,
}

/// The place of a figure on a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The curve; a plot may have several.
    pub curve: String,
    /// Where along the axis.
    pub at: f64,
    /// What the axis shows.
    pub axis: String,
    /// Whether the curve shows values. Then a dashed line shows what stands beside the figures.
    /// Other curves show the ratio where something stands beside the figure, else the value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_values: bool,
}

/// A measured quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub title: String,
    pub unit: Unit,
    pub samples: Samples,
    pub beside: Option<Beside>,
    pub targets: Vec<Target>,
    pub verdict: Option<Verdict>,
    pub notes: Vec<String>,
    /// Where it stands in the plot of its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// What each rank has moved in the last round, for a plot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracks: Option<Tracks>,
}

impl Figure {
    /// A figure with nothing beside it and no target.
    pub fn new(title: impl Into<String>, unit: Unit, samples: Vec<f64>) -> Figure {
        let samples = Samples::new(samples);
        let title = title.into();
        let (targets, notes) = (Vec::new(), Vec::new());
        let (beside, verdict, point, tracks) = (None, None, None, None);
        Figure { title, unit, samples, beside, targets, verdict, notes, point, tracks }
    }

    /// Makes it a point of its group's curve over budgets.
    pub fn with_budget(self, bytes: u64) -> Figure {
        let mebibytes = bytes as f64 / f64::from(1 << 20);
        self.on_curve_of_values("an iteration within the budget", mebibytes, "budget in MiB")
    }

    /// Makes it a point of one of its group's curves.
    pub fn on_curve(self, curve: &str, at: f64, axis: &str) -> Figure {
        let (curve, axis) = (curve.to_owned(), axis.to_owned());
        Figure { point: Some(Point { curve, at, axis, of_values: false }), ..self }
    }

    /// Makes it a point of a curve of values. What stands beside it becomes a point of a dashed
    /// line.
    pub fn on_curve_of_values(self, curve: &str, at: f64, axis: &str) -> Figure {
        let (curve, axis) = (curve.to_owned(), axis.to_owned());
        Figure { point: Some(Point { curve, at, axis, of_values: true }), ..self }
    }

    /// Puts beside it what was measured in turn with it.
    pub fn compared_with(
        mut self,
        title: impl Into<String>,
        samples: Vec<f64>,
        ratio: Ratio,
    ) -> Figure {
        let samples = Samples::new(samples);
        let ratios = match ratio {
            Ratio::TimesAsFast => samples.over(&self.samples),
            Ratio::TimesAsLong | Ratio::TimesAsLarge => self.samples.over(&samples),
        };
        self.beside = Some(Beside { title: title.into(), samples, ratio, ratios });
        self
    }

    /// Adds a target: at most `at`.
    pub fn at_most(self, of: Of, at: f64, stretch: Option<f64>) -> Figure {
        self.target(Target { of, is_minimum: false, at, stretch })
    }

    /// Adds a target: at least `at`.
    pub fn at_least(self, of: Of, at: f64, stretch: Option<f64>) -> Figure {
        self.target(Target { of, is_minimum: true, at, stretch })
    }

    /// Adds a remark.
    pub fn note(mut self, note: impl Into<String>) -> Figure {
        self.notes.push(note.into());
        self
    }

    fn target(mut self, target: Target) -> Figure {
        self.targets.push(target);
        let worst = self.targets.iter().map(|target| self.judge(target)).min();
        let has_stretch = self.targets.iter().any(|target| target.stretch.is_some());
        // Without any stretch goal, the best verdict is that targets are reached.
        self.verdict =
            worst.map(|worst| if has_stretch { worst } else { worst.min(Verdict::Reached) });
        self
    }

    fn judge(&self, target: &Target) -> Verdict {
        let value = match (target.of, &self.beside) {
            (Of::Ratio, Some(beside)) => beside.ratios.median,
            _ => self.samples.median,
        };
        let holds = |at: f64| if target.is_minimum { value >= at } else { value <= at };
        match target.stretch {
            _ if !holds(target.at) => Verdict::Missed,
            Some(stretch) if !holds(stretch) => Verdict::Reached,
            _ => Verdict::Stretch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_summed_up() {
        let odd = Samples::new(vec![3.0, 1.0, 2.0]);
        assert_eq!((odd.median, odd.min, odd.max), (2.0, 1.0, 3.0));
        assert_eq!(Samples::new(vec![4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(Samples::new(vec![]).median, 0.0);
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        let figure = || Figure::new("f", Unit::Seconds, vec![1.0, 2.0, 4.0]);
        let other = vec![3.0, 8.0, 8.0];
        let faster = figure().compared_with("g", other.clone(), Ratio::TimesAsFast);
        assert_eq!(faster.beside.unwrap().ratios.all, [3.0, 4.0, 2.0]);
        let longer = figure().compared_with("g", other, Ratio::TimesAsLong);
        assert_eq!(longer.beside.unwrap().ratios.all, [1.0 / 3.0, 0.25, 0.5]);
    }

    #[test]
    fn the_worst_of_all_targets_counts() {
        let figure = |seconds| Figure::new("f", Unit::Seconds, vec![seconds]);
        let wants = |figure: Figure| figure.at_most(Of::Value, 2.0, Some(1.0)).verdict;
        assert_eq!(wants(figure(0.5)), Some(Verdict::Stretch));
        assert_eq!(wants(figure(1.5)), Some(Verdict::Reached));
        assert_eq!(wants(figure(2.5)), Some(Verdict::Missed));
        let both = |other| {
            let figure = figure(0.5).compared_with("g", vec![other], Ratio::TimesAsFast);
            figure.at_most(Of::Value, 2.0, Some(1.0)).at_least(Of::Ratio, 3.0, None).verdict
        };
        assert_eq!(both(1.0), Some(Verdict::Missed));
        assert_eq!(both(2.0), Some(Verdict::Stretch));
        assert_eq!(figure(0.5).at_most(Of::Value, 2.0, None).verdict, Some(Verdict::Reached));
        assert_eq!(figure(1.0).verdict, None);
    }
}
