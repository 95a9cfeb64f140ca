//! A single job by an earlier build of the command, and by this one.

use super::subject::Subject;
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::{Tegula, number, whole};

/// The environment variable that names the earlier build.
const BEFORE_VARIABLE: &str = "TEGULA_BEFORE";
/// How much longer a job may take.
const LONGER: f64 = 1.02;

/// Measures jobs from disk and in memory, in turn with the earlier build.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(before) = std::env::var_os(BEFORE_VARIABLE).map(Tegula::at) else {
        lab.leave_out(&format!("{BEFORE_VARIABLE} names no earlier build."));
        return Ok(Vec::new());
    };
    let subject = Subject::rmat(lab)?;
    let source = subject.hub.clone();
    let jobs: [(&str, &[&str]); 3] = [
        ("pagerank", &["--iterations", "10"]),
        ("bfs", &["--source", &source]),
        ("wcc", &["--method", "propagation"]),
    ];
    let mut figures = Vec::new();
    for (algorithm, options) in jobs {
        let estimate =
            lab.run(algorithm, &subject.graph, None, &[options, &["--estimate"]].concat())?;
        let needed = whole(&estimate, "/needed_bytes")?;
        let from_disk = needed + subject.tile_bytes / 4;
        let in_memory = needed + subject.tile_bytes + subject.tile_bytes / 4;
        for (place, memory) in [("from disk", from_disk), ("in memory", in_memory)] {
            let memory = memory.to_string();
            let mut arguments = vec!["run", algorithm, text(&subject.graph)?];
            arguments.extend(options);
            arguments.extend(["--memory", &memory]);
            let (mut earlier, mut now) = (Vec::new(), Vec::new());
            for _ in 0..lab.settings.rounds {
                for (tegula, seconds) in [(&before, &mut earlier), (&lab.tegula, &mut now)] {
                    lab.cache.drop(&subject.graph)?;
                    seconds.push(number(&tegula.json(&arguments)?, "/seconds/run")?);
                }
            }
            let title = format!("{algorithm}, {place}");
            let figure = Figure::new(title, Unit::Seconds, now).compared_with(
                "before",
                earlier,
                Ratio::TimesAsLong,
            );
            figures.push(figure.at_most(Of::Ratio, LONGER, None));
        }
    }
    Ok(figures)
}
