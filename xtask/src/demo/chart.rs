//! Bars made of block characters.

/// Eighths of a character, filled from below.
const FROM_BELOW: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Eighths of a character, filled from the left.
const FROM_LEFT: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
/// The widest bar of a chart, in characters.
const BAR_WIDTH_MAX: usize = 5;

/// Draws upright bars in a chart `width` characters wide and `height` lines tall. Every value above
/// 0 is visible. If there are more values than characters, neighbours are summed in groups of equal
/// size.
pub fn upright(values: &[f64], width: usize, height: usize) -> Vec<String> {
    let values = fold(values, width);
    let most = values.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let steps = 8 * height;
    let steps_of = |value: f64| match (value / most * steps as f64).round() as usize {
        0 if value > 0.0 => 1,
        steps => steps,
    };
    let heights: Vec<usize> = values.iter().map(|&value| steps_of(value)).collect();
    let columns = (width / values.len().max(1)).clamp(1, BAR_WIDTH_MAX);
    let line = |below: usize| -> String {
        let bar = |&steps: &usize| {
            let part = FROM_BELOW[steps.saturating_sub(below).min(8)];
            // Wide bars have a gap between them.
            let gap = usize::from(columns > 1);
            String::from(part).repeat(columns - gap) + &" ".repeat(gap)
        };
        let text: String = heights.iter().map(bar).collect();
        format!("{text:<width$}")
    };
    (0..height).rev().map(|row| line(8 * row)).collect()
}

/// Returns how many of `width` characters the bars of `values` values take.
pub fn used_width(values: usize, width: usize) -> usize {
    let count = values.clamp(1, width);
    count * (width / count).clamp(1, BAR_WIDTH_MAX)
}

/// Sums neighbours until there are at most `count` values.
fn fold(values: &[f64], count: usize) -> Vec<f64> {
    if values.len() <= count {
        return values.to_vec();
    }
    let first = |index: usize| index * values.len() / count;
    (0..count).map(|index| values[first(index)..first(index + 1)].iter().sum()).collect()
}

/// Draws a horizontal bar of at most `width` characters, padded with blanks.
pub fn lying(value: f64, most: f64, width: usize) -> String {
    let share = (value / most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let eighths = (share * (8 * width) as f64).round() as usize;
    let eighths = if value > 0.0 { eighths.max(1) } else { 0 };
    format!("{:<width$}", "█".repeat(eighths / 8) + FROM_LEFT[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upright_bars_fill_their_lines() {
        let lines = upright(&[0.0, 1.0, 800.0, 400.0], 8, 2);
        assert_eq!(lines, ["    █   ", "  ▁ █ █ "]);
        assert_eq!(used_width(4, 8), 8);
    }

    #[test]
    fn too_many_values_are_summed_in_groups() {
        assert_eq!(fold(&[1.0, 2.0, 3.0, 4.0, 5.0], 2), [3.0, 12.0]);
        let lines = upright(&[1.0; 100], 10, 3);
        assert_eq!(lines, ["██████████"; 3]);
        assert_eq!(used_width(100, 10), 10);
    }

    #[test]
    fn horizontal_bars_have_one_width() {
        assert_eq!(lying(1.0, 2.0, 3), "█▌ ");
        assert_eq!(lying(2.0, 2.0, 3), "███");
        assert_eq!(lying(1e-9, 2.0, 3), "▏  ");
        assert_eq!(lying(0.0, 0.0, 2), "  ");
    }
}
