//! The dark form of a plot.
//!
//! The library of plots writes each colour as an attribute of an element. A rule of a style sheet
//! counts more than an attribute, so a few rules turn a plot dark where the reader's pages are dark.

/// The colours of plots, and what takes their places. Green stays, since it shows on both grounds.
const STYLE: &str = r##"<style>
@media (prefers-color-scheme: dark) {
  [fill="#FFFFFF"] { fill: #0d1117; } [fill="#000000"] { fill: #e6edf3; }
  [fill="#0000FF"] { fill: #79b8ff; } [fill="#FF0000"] { fill: #ff7b72; }
  [stroke="#000000"] { stroke: #e6edf3; }
  [stroke="#0000FF"] { stroke: #79b8ff; } [stroke="#FF0000"] { stroke: #ff7b72; }
}
</style>
"##;

/// Adds the dark form to a plot.
pub fn with_dark_form(svg: &str) -> String {
    match svg.split_once(">\n") {
        Some((element, content)) => format!("{element}>\n{STYLE}{content}"),
        None => svg.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plotters::prelude::*;

    use super::*;

    #[test]
    fn every_colour_of_a_plot_has_a_dark_form() {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, (60, 40)).into_drawing_area();
        area.fill(&WHITE).unwrap();
        for colour in [BLACK, BLUE, RED] {
            area.draw(&Circle::new((20, 20), 3, colour.filled())).unwrap();
            area.draw(&PathElement::new([(0, 0), (9, 9)], colour)).unwrap();
        }
        area.present().unwrap();
        drop(area);
        let dark = with_dark_form(&svg);
        assert_eq!(dark.replace(STYLE, ""), svg);
        assert!(dark.starts_with("<svg ") && dark.find("<style>") < dark.find("<rect"), "{dark}");
        let colours: Vec<&str> = svg.split("=\"#").skip(1).map(|text| &text[..6]).collect();
        assert_eq!(colours.len(), 7, "{svg}");
        for colour in colours {
            assert!(STYLE.contains(&format!("=\"#{colour}\"")), "{colour}");
        }
    }
}
