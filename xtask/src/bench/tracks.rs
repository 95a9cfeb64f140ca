//! Bytes that ranks move over time, as a plot: a row of panels for each rank. (DFOGraph, Yu et al.,
//! PPoPP 2021, Figure 5.)

use plotters::coord::Shift;
use plotters::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::results::Measured;
use crate::tegula::Result;

const WIDTH: u32 = 760;
const HEIGHT_OF_RANK: u32 = 190;
const HEIGHT_OF_TITLE: u32 = 30;
const MEGABYTE: f64 = 1e6;

/// What each rank of a run has moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tracks {
    /// The name of the plot's file, without its ending.
    pub plot: String,
    /// By rank.
    pub ranks: Vec<Vec<Interval>>,
}

/// A part of a run, as `tegula run --json` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    ended_seconds: f64,
    bytes_read: f64,
    bytes_written: f64,
    bytes_sent: f64,
}

/// A panel: its title, the bytes that it shows, and their colour.
type Panel = (&'static str, fn(&Interval) -> f64, RGBColor);

const PANELS: [Panel; 3] = [
    ("read from disk", |interval| interval.bytes_read, BLUE),
    ("written to disk", |interval| interval.bytes_written, RED),
    ("sent to other ranks", |interval| interval.bytes_sent, BLACK),
];

/// A bar: when it begins and ends in seconds, and its height in MB/s.
type Bar = (f64, f64, f64);

impl Tracks {
    /// Takes the intervals of all ranks from the report of a run.
    ///
    /// # Errors
    /// Where the report has no intervals.
    pub fn of(run: &Value, plot: &str) -> Result<Tracks> {
        let ranks = run.get("ranks").and_then(Value::as_array);
        let ranks = ranks.ok_or_else(|| format!("there are no ranks in {run}"))?;
        let intervals = |rank: &Value| serde_json::from_value(rank["intervals"].clone());
        let ranks = ranks.iter().map(intervals).collect::<serde_json::Result<_>>()?;
        Ok(Tracks { plot: plot.to_owned(), ranks })
    }

    /// Returns the name of the plot's file.
    pub fn plot_name(&self) -> String {
        format!("{}.svg", self.plot)
    }

    /// Draws the tracks as SVG. A kind of bytes has the same axis on all ranks.
    pub fn svg(&self, title: &str) -> Result<String> {
        let size = (WIDTH, HEIGHT_OF_TITLE + HEIGHT_OF_RANK * self.ranks.len() as u32);
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let titled = area.titled(title, ("sans-serif", 16))?;
        let panels = titled.split_evenly((self.ranks.len(), PANELS.len()));
        let ended = self.ranks.iter().flatten().map(|it| it.ended_seconds).fold(0.0, f64::max);
        let most = PANELS.map(|(_, bytes, _)| {
            let bars = self.ranks.iter().flat_map(|intervals| bars(intervals, bytes));
            bars.map(|(.., rate)| rate).fold(0.0, f64::max)
        });
        for (rank, (intervals, row)) in
            self.ranks.iter().zip(panels.chunks(PANELS.len())).enumerate()
        {
            for ((panel, area), most) in PANELS.iter().zip(row).zip(most) {
                draw(area, rank, panel, intervals, (ended, most))?;
            }
        }
        area.present()?;
        drop((panels, titled, area));
        Ok(svg)
    }
}

/// Draws a panel, whose axes reach to the given time in seconds and the given rate in MB/s.
fn draw(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    rank: usize,
    (title, bytes, colour): &Panel,
    intervals: &[Interval],
    (ended, most): (f64, f64),
) -> Result<()> {
    // An axis needs a length.
    let (ended, most) = (ended.max(f64::EPSILON), if most > 0.0 { most * 1.1 } else { 1.0 });
    let mut chart = ChartBuilder::on(area)
        .caption(format!("rank {rank}, {title}"), ("sans-serif", 13))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..ended, 0.0..most)?;
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("MB/s")
        .x_labels(4)
        .y_labels(4)
        .light_line_style(TRANSPARENT)
        .draw()?;
    chart.draw_series(bars(intervals, *bytes).into_iter().map(|(begun, ended, rate)| {
        Rectangle::new([(begun, 0.0), (ended, rate)], colour.mix(0.6).filled())
    }))?;
    Ok(())
}

/// Returns a bar for each interval that takes time.
fn bars(intervals: &[Interval], bytes: fn(&Interval) -> f64) -> Vec<Bar> {
    let begun = std::iter::once(0.0).chain(intervals.iter().map(|it| it.ended_seconds));
    let bars = begun.zip(intervals).map(|(begun, interval)| {
        let seconds = interval.ended_seconds - begun;
        (begun, interval.ended_seconds, bytes(interval) / seconds / MEGABYTE)
    });
    bars.filter(|(begun, ended, _)| ended > begun).collect()
}

/// Returns the tracks of a group, each with the title of its figure.
pub fn of_group(group: &Measured) -> impl Iterator<Item = (&Tracks, &str)> {
    let figures = group.figures.iter();
    figures.filter_map(|figure| Some((figure.tracks.as_ref()?, figure.title.as_str())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn interval(ended: f64, read: u64) -> Value {
        json!({
            "ended_seconds": ended, "bytes_read": read, "bytes_written": 0, "bytes_sent": 7,
            "bytes_received": 7,
        })
    }

    fn tracks() -> Tracks {
        let intervals = [interval(2.0, 6_000_000), interval(2.0, 5), interval(3.0, 1_000_000)];
        let run = json!({"ranks": [{"intervals": intervals}, {"intervals": intervals}]});
        Tracks::of(&run, "bytes").unwrap()
    }

    #[test]
    fn an_interval_without_a_length_has_no_bar() {
        let read = bars(&tracks().ranks[1], |interval| interval.bytes_read);
        assert_eq!(read, [(0.0, 2.0, 3.0), (2.0, 3.0, 1.0)]);
    }

    #[test]
    fn each_rank_has_a_row_of_panels() {
        let svg = tracks().svg("PageRank").unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("PageRank"));
        for panel in ["rank 0, read from disk", "rank 1, written to disk", "rank 1, sent to other"]
        {
            assert!(svg.contains(panel), "{panel}");
        }
        // The background, and two bars in each of six panels.
        assert_eq!(svg.matches("<rect").count(), 1 + 2 * 6);
    }

    #[test]
    fn a_report_without_intervals_is_refused() {
        assert!(Tracks::of(&json!({}), "bytes").is_err());
        assert!(Tracks::of(&json!({"ranks": [{}]}), "bytes").is_err());
    }
}
