//! Jobs, and the files that name them.

use serde_json::{Map, Value, json};

use crate::bench::random::Random;

/// The jobs of the paper's mix.
pub const MIX: usize = 16;
/// Iterations of each job of [`pageranks`].
const ITERATIONS: u64 = 10;
/// The dampings that the paper draws from.
const DAMPING: (f64, f64) = (0.1, 0.85);

/// A job of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub name: String,
    pub algorithm: &'static str,
    pub options: Map<String, Value>,
    /// When it arrives, after the start of the batch.
    pub after_seconds: f64,
}

impl Job {
    /// A job that is there at the start. `options` is an object.
    fn new(name: String, algorithm: &'static str, options: Value) -> Job {
        let options = match options {
            Value::Object(options) => options,
            _ => Map::new(),
        };
        Job { name, algorithm, options, after_seconds: 0.0 }
    }

    fn line(&self) -> String {
        let Job { name, algorithm, options, after_seconds } = self;
        let line = json!({
            "name": name,
            "algorithm": algorithm,
            "options": options,
            "after_seconds": after_seconds,
        });
        format!("{line}\n")
    }
}

/// Returns the text of a file of jobs.
pub fn lines(jobs: &[Job]) -> String {
    jobs.iter().map(Job::line).collect()
}

/// Returns the paper's mix: components by propagation with a random number of iterations, PageRank
/// with a random damping, and shortest paths and searches from the given sources, in turn.
pub fn mix(count: usize, sources: &[String], iterations_max: u64, random: &mut Random) -> Vec<Job> {
    let mut sources = sources.iter().cycle();
    let mut source = || sources.next().cloned().unwrap_or_default();
    let job = |index: usize| {
        let (algorithm, options) = match index % 4 {
            0 => {
                let most = 1 + random.below(iterations_max.max(1));
                ("wcc", json!({ "method": "propagation", "max_iterations": most }))
            }
            1 => ("pagerank", json!({ "damping": damping(random.fraction()) })),
            2 => ("sssp", json!({ "source": source() })),
            _ => ("bfs", json!({ "source": source() })),
        };
        Job::new(format!("{}-{algorithm}", index + 1), algorithm, options)
    };
    (0..count).map(job).collect()
}

/// Returns PageRanks whose dampings lie evenly between the paper's, with a fixed number of
/// iterations as in GridGraph.
pub fn pageranks(count: usize) -> Vec<Job> {
    let job = |index: usize| {
        let share = (index as f64 + 0.5) / count as f64;
        let options = json!({ "damping": damping(share), "iterations": ITERATIONS });
        Job::new(format!("ranks-{}", index + 1), "pagerank", options)
    };
    (0..count).map(job).collect()
}

/// Returns searches from these sources.
pub fn searches(sources: &[String]) -> Vec<Job> {
    let job = |(index, source): (usize, &String)| {
        Job::new(format!("search-{}", index + 1), "bfs", json!({ "source": source }))
    };
    sources.iter().enumerate().map(job).collect()
}

/// Returns a job that reads every tile once, and so brings it into memory.
pub fn loading() -> Job {
    Job::new("loading".to_owned(), "pagerank", json!({ "iterations": 1 }))
}

/// Lets jobs arrive at these times, in order.
pub fn arriving(jobs: Vec<Job>, times: &[f64]) -> Vec<Job> {
    jobs.into_iter().zip(times).map(|(job, &after_seconds)| Job { after_seconds, ..job }).collect()
}

/// Returns the damping at a share of the way from the least to the greatest.
fn damping(share: f64) -> f64 {
    let (least, greatest) = DAMPING;
    // Three digits are enough, and are easy to read in a file of jobs.
    ((least + share * (greatest - least)) * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_has_each_algorithm_in_turn_and_is_always_the_same() {
        let sources = ["5", "6", "7"].map(String::from);
        let mixed = || mix(8, &sources, 6, &mut Random::new(3));
        let jobs = mixed();
        assert_eq!(jobs, mixed());
        let names: Vec<&str> = jobs.iter().map(|job| &*job.name).collect();
        assert_eq!(names[..5], ["1-wcc", "2-pagerank", "3-sssp", "4-bfs", "5-wcc"]);
        let most = jobs[0].options["max_iterations"].as_u64().unwrap();
        assert!((1..=6).contains(&most));
        assert_eq!(jobs[6].options["source"], "7");
        assert!(pageranks(3).iter().all(|job| job.options["damping"].as_f64().unwrap() < 0.85));
    }

    #[test]
    fn a_line_is_a_job() {
        let jobs = arriving(searches(&["5".to_owned()]), &[1.5]);
        let line: Value = serde_json::from_str(&lines(&jobs)).unwrap();
        assert_eq!(line["after_seconds"], 1.5);
        assert_eq!(line["options"]["source"], "5");
    }
}
