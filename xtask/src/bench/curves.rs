//! Figures as a plot: curves along any axis.

use std::ops::Range;

use plotters::prelude::*;

use super::figure::{Figure, Point, Unit};
use super::results::Measured;
use crate::tegula::Result;

const SIZE: (u32, u32) = (760, 440);
/// The least number of points for a plot.
const POINTS_MIN: usize = 2;
/// About how many times as wide as high a legend is.
const LEGEND_ASPECT: i32 = 3;
const COLOURS: [RGBColor; 4] = [BLUE, RED, BLACK, GREEN];

/// A curve: its name, and its points in the order of the axis.
type Curve<'a> = (&'a str, Vec<(f64, f64)>);

/// Whether a group has such a plot.
pub fn is_drawn(group: &Measured) -> bool {
    curves(group).iter().any(|(_, points)| points.len() >= POINTS_MIN)
}

/// Draws the curves of a group as SVG: ratios, or values where nothing stands beside the figures.
pub fn svg(group: &Measured) -> Result<Option<String>> {
    let curves = curves(group);
    let first = group.figures.iter().find_map(|figure| Some((figure, figure.point.as_ref()?)));
    let Some((figure, Point { axis, .. })) = first.filter(|_| is_drawn(group)) else {
        return Ok(None);
    };
    let points = || curves.iter().flat_map(|(_, points)| points);
    let least = points().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
    let greatest = points().map(|(at, _)| *at).fold(0.0, f64::max);
    let most = points().map(|(_, value)| *value).fold(0.0, f64::max);
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(&group.title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(56)
        .build_cartesian_2d((least * 0.9..greatest * 1.1).log_scale().base(2.0), 0.0..most * 1.2)?;
    chart
        .configure_mesh()
        .x_desc(axis)
        .y_desc(label(figure))
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|at| at.to_string())
        .draw()?;
    for ((name, points), colour) in curves.iter().zip(COLOURS.into_iter().cycle()) {
        chart
            .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour));
        chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, colour.filled())))?;
    }
    let (across, down) = chart.plotting_area().get_pixel_range();
    let drawn: Vec<(i32, i32)> = points().map(|at| chart.backend_coord(at)).collect();
    chart
        .configure_series_labels()
        .position(free_corner(&across, &down, &drawn))
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    drop(chart);
    drop(area);
    Ok(Some(svg))
}

/// Returns the corner of an area of pixels that is farthest from all points.
fn free_corner(
    across: &Range<i32>,
    down: &Range<i32>,
    points: &[(i32, i32)],
) -> SeriesLabelPosition {
    let corners = [
        (SeriesLabelPosition::UpperLeft, across.start, down.start),
        (SeriesLabelPosition::UpperRight, across.end, down.start),
        (SeriesLabelPosition::LowerLeft, across.start, down.end),
        (SeriesLabelPosition::LowerRight, across.end, down.end),
    ];
    // Legends are wider than high.
    let distance = |x: i32, y: i32| {
        points.iter().map(|at| (at.0 - x).abs().max(LEGEND_ASPECT * (at.1 - y).abs())).min()
    };
    let farthest = corners.into_iter().max_by_key(|(_, x, y)| distance(*x, *y));
    farthest.map_or(SeriesLabelPosition::LowerRight, |(corner, ..)| corner)
}

fn curves(group: &Measured) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for figure in &group.figures {
        let Some(point) = &figure.point else { continue };
        let at = (point.at, value(figure));
        // No axis reaches to infinity.
        if !at.1.is_finite() {
            continue;
        }
        match curves.iter_mut().find(|(name, _)| *name == point.curve) {
            Some((_, points)) => points.push(at),
            None => curves.push((&point.curve, vec![at])),
        }
    }
    curves.iter_mut().for_each(|(_, points)| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    curves
}

fn value(figure: &Figure) -> f64 {
    figure.beside.as_ref().map_or(figure.samples.median, |beside| beside.ratios.median)
}

fn label(figure: &Figure) -> String {
    match &figure.beside {
        None if figure.unit == Unit::Seconds => "seconds".to_owned(),
        None => "value".to_owned(),
        Some(beside) => format!("times {}", beside.ratio.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::Ratio;

    #[test]
    fn each_curve_has_its_points() {
        let figure = |curve: &str, at: f64| {
            Figure::new("jobs", Unit::Seconds, vec![1.0])
                .compared_with("alone", vec![at], Ratio::TimesAsFast)
                .on_curve(curve, at, "jobs at once")
        };
        let figures = vec![figure("a", 4.0), figure("b", 2.0), figure("a", 2.0), figure("b", 8.0)];
        let group = Measured::sample("g", figures);
        assert!(is_drawn(&group));
        let svg = svg(&group).unwrap().unwrap();
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(svg.contains("jobs at once") && svg.contains("times as fast"));
        assert_eq!(curves(&group)[0].1, [(2.0, 2.0), (4.0, 4.0)]);
    }

    #[test]
    fn a_ratio_to_nothing_is_left_out() {
        let figure = |at: f64, beside: f64| {
            Figure::new("bytes", Unit::Bytes, vec![1e9])
                .compared_with("none", vec![beside], Ratio::TimesAsLarge)
                .on_curve("a", at, "ranks")
        };
        let figures = vec![figure(2.0, 1.0), figure(4.0, 0.0), figure(8.0, 1.0)];
        assert_eq!(curves(&Measured::sample("g", figures))[0].1.len(), 2);
    }

    #[test]
    fn a_legend_covers_no_curve() {
        let corner = |points: &[(i32, i32)]| free_corner(&(0..600), &(0..300), points);
        let falling = [(0, 20), (300, 200), (600, 290)];
        assert!(matches!(corner(&falling), SeriesLabelPosition::UpperRight));
        let high = [(0, 50), (300, 60), (600, 40)];
        assert!(matches!(corner(&high), SeriesLabelPosition::LowerRight));
        let there_and_back = [(0, 290), (300, 20), (600, 290)];
        assert!(matches!(corner(&there_and_back), SeriesLabelPosition::UpperRight));
    }

    #[test]
    fn one_point_is_no_curve() {
        let figure = Figure::new("jobs", Unit::Seconds, vec![1.0]).on_curve("a", 1.0, "jobs");
        assert!(super::svg(&Measured::sample("g", vec![figure])).unwrap().is_none());
    }
}
