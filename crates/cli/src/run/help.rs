//! The help of `tegula run`: the algorithms by family.

use std::fmt::Write;
use std::io;

use clap::builder::Styles;
use tegula_algorithms::CATALOGUE;
use tegula_algorithms::algorithm::Family;

/// The greatest width of a line in characters, as in all other help.
const WIDTH_MAX: usize = 100;
/// The least width of summaries in characters.
const SUMMARY_WIDTH_MIN: usize = 30;

/// The template of the help.
pub fn template(styles: &Styles) -> String {
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col);
    let width = if columns == 0 { WIDTH_MAX } else { WIDTH_MAX.min(columns.into()) };
    let families = families(styles, width);
    let header = styles.get_header();
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{families}\
         {header}General options:{header:#}\n{{options}}\n\n\
         `tegula run ALGORITHM --help` has the options of an algorithm. To run many jobs on one graph \
         at the\nsame time: `tegula run --batch JOBS GRAPH -o FOLDER`; `tegula run --batch --help` \
         says more."
    )
}

/// Returns a heading for each family, followed by the names and summaries of its algorithms.
fn families(styles: &Styles, width: usize) -> String {
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let longest = CATALOGUE.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let room = width.saturating_sub(longest + 4).max(SUMMARY_WIDTH_MIN);
    let mut text = String::new();
    for family in Family::ALL {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{header}{}:{header:#}", family.title());
        for entry in CATALOGUE.iter().filter(|entry| entry.description.family == family) {
            let mut lines = wrapped(entry.description.summary, room).into_iter();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(text, "  {literal}{:<longest$}{literal:#}  {first}", entry.name);
            for line in lines {
                let _ = writeln!(text, "  {:<longest$}  {line}", "");
            }
        }
        text.push('\n');
    }
    text
}

/// Wraps a text into lines of at most `width` characters, unless a single word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_stands_below_the_title_of_its_family() {
        for width in [40, 80, WIDTH_MAX] {
            let text = families(&Styles::plain(), width);
            let mut shown = 0;
            let mut title = "";
            for line in text.lines() {
                assert!(line.chars().count() <= width.max(52), "{line}");
                match line.strip_prefix("  ").map(|line| line.split(' ').next().unwrap_or("")) {
                    None => title = line.trim_end_matches(':'),
                    Some("") => {}
                    Some(name) => {
                        let entry = tegula_algorithms::find(name).unwrap();
                        assert_eq!(entry.description.family.title(), title, "{name}");
                        shown += 1;
                    }
                }
            }
            assert_eq!(shown, CATALOGUE.len());
        }
    }

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("extraordinary it is", 5), ["extraordinary", "it is"]);
    }
}
