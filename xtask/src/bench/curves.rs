//! Figures as a plot: curves along any axis.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::figure::{Figure, Point, Unit};
use super::results::Measured;
use crate::tegula::Result;

const SIZE: (u32, u32) = (760, 440);
/// A plot needs a curve of at least this number of points.
const POINTS_MIN: usize = 2;
/// The most numbers along the axis. With 10 or more, some are no powers of 2.
const NUMBERS_MAX: usize = 9;
/// On a linear scale, the greatest value is at most this number of times the least.
const LINEAR_MAX: f64 = 100.0;
/// The approximate ratio of a legend's width to its height.
const LEGEND_ASPECT: i32 = 3;
/// A green that shows on white and on black.
const GREEN: RGBColor = RGBColor(0, 150, 0);
const COLOURS: [RGBColor; 4] = [BLUE, RED, BLACK, GREEN];

/// A curve.
#[derive(Default)]
struct Curve<'a> {
    name: &'a str,
    points: Vec<(f64, f64)>,
    /// From the least to the greatest sample of each point; only curves of values have them.
    ranges: Vec<[(f64, f64); 2]>,
    /// What stands beside the figures of a curve of values.
    beside: Vec<(f64, f64)>,
}

impl Curve<'_> {
    /// Returns every place where something is drawn.
    fn places(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().chain(self.ranges.iter().flatten()).chain(&self.beside).copied()
    }
}

/// Whether a group has a curve with at least [`POINTS_MIN`] points.
pub fn is_drawn(group: &Measured) -> bool {
    curves(group).iter().any(|curve| curve.points.len() >= POINTS_MIN)
}

/// Draws the curves of a group as SVG; `None` if no curve has enough points. The scale is
/// logarithmic if the greatest value is more than [`LINEAR_MAX`] times the least.
pub fn svg(group: &Measured) -> Result<Option<String>> {
    if !is_drawn(group) {
        return Ok(None);
    }
    let curves = curves(group);
    let values = || curves.iter().flat_map(Curve::places).map(|(_, value)| value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    if least > 0.0 && most > LINEAR_MAX * least {
        draw(&area, group, &curves, (least / 4.0..most * 2.0).log_scale())?;
    } else {
        draw(&area, group, &curves, 0.0..most * 1.2)?;
    }
    drop(area);
    Ok(Some(svg))
}

/// Draws curves within a range of values.
fn draw<Y>(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    group: &Measured,
    curves: &[Curve<'_>],
    values: Y,
) -> Result<()>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let first = group.figures.iter().find_map(|figure| Some((figure, figure.point.as_ref()?)));
    let Some((figure, point)) = first else { return Ok(()) };
    let places = || curves.iter().flat_map(Curve::places);
    let least = places().map(|(at, _)| at).fold(f64::INFINITY, f64::min);
    let greatest = places().map(|(at, _)| at).fold(0.0, f64::max);
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption(&group.title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(56)
        .build_cartesian_2d((least * 0.9..greatest * 1.1).log_scale().base(2.0), values)?;
    chart
        .configure_mesh()
        .x_desc(&point.axis)
        .y_desc(label(figure, point))
        .light_line_style(TRANSPARENT)
        .x_labels(NUMBERS_MAX)
        .x_label_formatter(&|at| at.to_string())
        .draw()?;
    for (curve, colour) in curves.iter().zip(COLOURS.into_iter().cycle()) {
        let points = curve.points.iter().copied();
        chart
            .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
            .label(curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour));
        chart.draw_series(points.map(|at| Circle::new(at, 3, colour.filled())))?;
        chart.draw_series(curve.ranges.iter().map(|range| PathElement::new(*range, colour)))?;
        let beside = curve.beside.iter().copied();
        chart.draw_series(DashedLineSeries::new(beside, 6, 4, colour.into()))?;
    }
    if let Some(beside) = figure.beside.as_ref().filter(|_| point.of_values) {
        let nothing = LineSeries::new([], TRANSPARENT);
        chart.draw_series(nothing)?.label(format!("dashed: {}", beside.title));
    }
    let (across, down) = chart.plotting_area().get_pixel_range();
    let drawn: Vec<(i32, i32)> = places().map(|at| chart.backend_coord(&at)).collect();
    chart
        .configure_series_labels()
        .position(free_corner(&across, &down, &drawn))
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    Ok(area.present()?)
}

/// Returns the corner of an area of pixels whose nearest point is farthest away.
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
    let figures = group.figures.iter().filter_map(|it| Some((it, it.point.as_ref()?)));
    for (figure, point) in figures {
        let (at, value) = (point.at, value(figure, point));
        // No axis reaches to infinity.
        if !value.is_finite() {
            continue;
        }
        let known = curves.iter().position(|curve| curve.name == point.curve);
        let index = known.unwrap_or_else(|| {
            curves.push(Curve { name: &point.curve, ..Curve::default() });
            curves.len() - 1
        });
        let curve = &mut curves[index];
        curve.points.push((at, value));
        if point.of_values {
            curve.ranges.push([(at, figure.samples.min), (at, figure.samples.max)]);
            curve.beside.extend(figure.beside.iter().map(|it| (at, it.samples.median)));
        }
    }
    for points in curves.iter_mut().flat_map(|curve| [&mut curve.points, &mut curve.beside]) {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    curves
}

fn value(figure: &Figure, point: &Point) -> f64 {
    match &figure.beside {
        Some(beside) if !point.of_values => beside.ratios.median,
        _ => figure.samples.median,
    }
}

fn label(figure: &Figure, point: &Point) -> String {
    match &figure.beside {
        Some(beside) if !point.of_values => format!("times {}", beside.ratio.words()),
        _ if figure.unit != Unit::Seconds => "value".to_owned(),
        _ if point.of_values => "seconds: median, least and greatest".to_owned(),
        _ => "seconds".to_owned(),
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
        assert_eq!(curves(&group)[0].points, [(2.0, 2.0), (4.0, 4.0)]);
    }

    #[test]
    fn a_curve_of_values_has_ranges_and_a_dashed_line() {
        let figure = |at: f64, seconds: f64| {
            Figure::new("search", Unit::Seconds, vec![0.5 * seconds, seconds, 2.0 * seconds])
                .compared_with("without", vec![3.0; 3], Ratio::TimesAsLong)
                .on_curve_of_values("a", at, "reads")
        };
        let linear = Measured::sample("g", vec![figure(1.0, 8.0), figure(2.0, 4.0)]);
        let curve = &curves(&linear)[0];
        assert_eq!(curve.points, [(1.0, 8.0), (2.0, 4.0)]);
        assert_eq!(curve.ranges, [[(1.0, 4.0), (1.0, 16.0)], [(2.0, 2.0), (2.0, 8.0)]]);
        assert_eq!(curve.beside, [(1.0, 3.0), (2.0, 3.0)]);
        let linear = svg(&linear).unwrap().unwrap();
        assert!(linear.contains("dashed: without") && linear.contains("seconds: median, least"));
        let wide = vec![figure(1.0, 800.0), figure(2.0, 4.0)];
        let wide = svg(&Measured::sample("g", wide)).unwrap().unwrap();
        assert!(!linear.contains("1000.0") && wide.contains("1000.0"));
    }

    #[test]
    fn a_ratio_to_zero_is_left_out() {
        let figure = |at: f64, beside: f64| {
            Figure::new("bytes", Unit::Bytes, vec![1e9])
                .compared_with("none", vec![beside], Ratio::TimesAsLarge)
                .on_curve("a", at, "ranks")
        };
        let figures = vec![figure(2.0, 1.0), figure(4.0, 0.0), figure(8.0, 1.0)];
        assert_eq!(curves(&Measured::sample("g", figures))[0].points.len(), 2);
    }

    #[test]
    fn a_legend_stands_in_the_corner_farthest_from_the_curves() {
        let corner = |points: &[(i32, i32)]| free_corner(&(0..600), &(0..300), points);
        let falling = [(0, 20), (300, 200), (600, 290)];
        assert!(matches!(corner(&falling), SeriesLabelPosition::UpperRight));
        let high = [(0, 50), (300, 60), (600, 40)];
        assert!(matches!(corner(&high), SeriesLabelPosition::LowerRight));
        let there_and_back = [(0, 290), (300, 20), (600, 290)];
        assert!(matches!(corner(&there_and_back), SeriesLabelPosition::UpperRight));
    }

    #[test]
    fn one_point_makes_no_plot() {
        let figure = Figure::new("jobs", Unit::Seconds, vec![1.0]).on_curve("a", 1.0, "jobs");
        assert!(super::svg(&Measured::sample("g", vec![figure])).unwrap().is_none());
    }
}
