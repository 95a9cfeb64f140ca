//! Figures as a plot: time over memory budgets.

use plotters::prelude::*;

use super::figure::{Figure, Unit};
use super::results::Measured;
use crate::tegula::Result;

const SIZE: (u32, u32) = (760, 440);
const MEBIBYTE: f64 = (1 << 20) as f64;
/// The least number of figures for a curve.
const POINTS_MIN: usize = 3;

/// Returns the figures of a group that make a curve over budgets, with each budget in MiB. Empty if
/// they are too few.
fn points(group: &Measured) -> Vec<(f64, &Figure)> {
    let mut within: Vec<(f64, &Figure)> = Vec::new();
    for figure in group.figures.iter().filter(|figure| figure.unit == Unit::Seconds) {
        let Some(bytes) = figure.budget_bytes else { continue };
        let mebibytes = bytes as f64 / MEBIBYTE;
        if within.iter().all(|(other, _)| *other != mebibytes) {
            within.push((mebibytes, figure));
        }
    }
    within.sort_by(|a, b| a.0.total_cmp(&b.0));
    if within.len() < POINTS_MIN { Vec::new() } else { within }
}

/// Whether a group has a plot.
pub fn is_drawn(group: &Measured) -> bool {
    !points(group).is_empty()
}

/// Draws these figures as SVG: time over memory, with what was measured beside them.
pub fn over_budgets(group: &Measured) -> Result<Option<String>> {
    let within = points(group);
    let (Some(first), Some(last)) = (within.first(), within.last()) else { return Ok(None) };
    let memory = first.0 * 0.9..last.0 * 1.1;
    let most = within.iter().map(|(_, figure)| figure.samples.max).fold(0.0, f64::max);
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(&group.title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(56)
        .build_cartesian_2d(memory.log_scale().base(2.0), 0.0..most * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("budget (MiB)")
        .y_desc("an iteration (s)")
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|mebibytes| format!("{mebibytes:.0}"))
        .draw()?;
    let medians = within.iter().map(|(at, figure)| (*at, figure.samples.median));
    chart
        .draw_series(LineSeries::new(medians.clone(), BLUE.stroke_width(2)))?
        .label("within the budget: median, least and greatest")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], BLUE));
    chart.draw_series(medians.map(|at| Circle::new(at, 3, BLUE.filled())))?;
    chart.draw_series(within.iter().map(|(at, figure)| {
        PathElement::new([(*at, figure.samples.min), (*at, figure.samples.max)], BLUE)
    }))?;
    let beside = within.iter().filter_map(|(at, figure)| {
        figure.beside.as_ref().map(|beside| (*at, beside.samples.median))
    });
    chart
        .draw_series(DashedLineSeries::new(beside, 6, 4, BLACK.into()))?
        .label("in memory, measured in turn")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], BLACK));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    drop(chart);
    drop(area);
    Ok(Some(svg))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(budgets: &[u64]) -> Measured {
        let within = |&mebibytes: &u64| {
            let seconds = vec![600.0 / mebibytes as f64];
            Figure::new("iteration", Unit::Seconds, seconds).with_budget(mebibytes << 20)
        };
        Measured {
            title: "Arrays".into(),
            ..Measured::sample("a", budgets.iter().map(within).collect())
        }
    }

    #[test]
    fn a_curve_has_a_point_for_each_budget() {
        let svg = over_budgets(&group(&[400, 200, 300, 200])).unwrap().unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("Arrays") && svg.contains("budget (MiB)"));
    }

    #[test]
    fn few_figures_are_no_curve() {
        assert!(over_budgets(&group(&[200, 300])).unwrap().is_none());
    }
}
