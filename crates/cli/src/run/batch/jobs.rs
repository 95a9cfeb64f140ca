//! The jobs of a batch: what a line of their file says.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Map, Value};
use tegula_algorithms::algorithm::{Entry, Request};
use tegula_algorithms::find;
use tegula_algorithms::jobs::Job;
use tegula_algorithms::side_table::{LocalPaths, TableSource, TableSources};
use tegula_machine::Bytes;
use tegula_machine::threads::Cancel;
use tegula_store::Result as StoreResult;
use tegula_tables::read::bad_file;
use tegula_tables::{TableFormat, TablePlace, read_text};

use crate::errors::{Failure, Result};
use crate::output::Format;

/// The greatest size of the file in bytes.
const TEXT_MAX: u64 = 64 << 20;
/// The latest arrival of a job in seconds.
const AFTER_MAX: f64 = 1e9;
/// The longest name in bytes: a file system takes 255, and a table has a longer name until it is
/// complete.
const NAME_MAX: usize = 200;

/// A job of a batch.
#[derive(Debug)]
pub struct BatchJob {
    /// Its name, which no other job has.
    pub name: String,
    /// The algorithm and its options.
    pub request: Request,
    /// The format of its table.
    pub format: Format,
    /// When it arrives, after the start of the batch.
    pub after: Duration,
    sources: Arc<JobPaths>,
}

impl BatchJob {
    /// Returns the name of the file of its table.
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.name, self.format.ending())
    }
}

impl Job for BatchJob {
    fn request(&self) -> &Request {
        &self.request
    }

    fn table_sources(&self) -> &dyn TableSources {
        &*self.sources
    }

    fn after(&self) -> Duration {
        self.after
    }
}

/// Paths of tables. The batch and all its jobs together may name standard input once.
#[derive(Debug, Default)]
struct JobPaths {
    is_standard_input_taken: AtomicBool,
}

impl TableSources for JobPaths {
    fn find<'s>(
        &'s self,
        option: &'static str,
        source: &'s TableSource,
    ) -> StoreResult<TablePlace<'s>> {
        let was_taken = source.is_standard_input()
            && self.is_standard_input_taken.swap(true, Ordering::Relaxed);
        if was_taken {
            let detail = "standard input can be read only once, and the batch or another job \
                          names it too";
            return Err(bad_file(source.name(), detail));
        }
        LocalPaths.find(option, source)
    }
}

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: Option<String>,
    algorithm: String,
    #[serde(default)]
    options: Map<String, Value>,
    each: Option<Map<String, Value>>,
    after_seconds: Option<f64>,
    format: Option<String>,
}

/// Reads the jobs of a file, in the order of their arrival.
///
/// # Errors
/// [`Failure::Usage`] that names the first bad line, and how many more there are.
pub fn read(path: &Path, cancel: &Cancel) -> Result<Vec<BatchJob>> {
    let text = text_of(path, cancel)?;
    let (mut jobs, mut bad) = (Vec::new(), Vec::new());
    let mut names = HashSet::new();
    let is_standard_input_taken = AtomicBool::new(path.as_os_str() == "-");
    let sources = Arc::new(JobPaths { is_standard_input_taken });
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (index, line) in lines {
        match of_line(line, index + 1, &mut names, &sources) {
            Ok(of_line) => jobs.extend(of_line),
            Err(detail) => bad.push((index + 1, detail)),
        }
    }
    let path = path.display();
    if let [(line, detail), others @ ..] = &bad[..] {
        let others: Vec<String> = others.iter().map(|(line, _)| line.to_string()).collect();
        let others = match others.len() {
            0 => String::new(),
            1 => format!("; line {} is wrong too", others[0]),
            count => format!("; {count} further lines are wrong too: {}", others.join(", ")),
        };
        let help = format!("mend the line; no job was run{others}");
        return Err(Failure::usage_with(format!("{path}, line {line}: {detail}"), help));
    }
    if jobs.is_empty() {
        return Err(Failure::usage_with(
            format!("{path} has no job"),
            r#"write a line for each job, for example {"algorithm": "pagerank"}"#,
        ));
    }
    // A stable sort: jobs that arrive together keep the order of their lines.
    jobs.sort_by_key(|job: &BatchJob| job.after);
    Ok(jobs)
}

/// Reads the text of a file, which may be compressed; `-` is standard input.
fn text_of(path: &Path, cancel: &Cancel) -> Result<String> {
    let text = read_text(path, TEXT_MAX, cancel)?.ok_or_else(|| {
        let message = format!("{} has more than {}", path.display(), Bytes(TEXT_MAX));
        Failure::usage_with(message, "divide it into several batches")
    })?;
    // Some editors begin a text with a mark of its encoding.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Returns the jobs of a line, or what is wrong with it.
fn of_line(
    text: &str,
    number: usize,
    names: &mut HashSet<String>,
    sources: &Arc<JobPaths>,
) -> std::result::Result<Vec<BatchJob>, String> {
    let line: Line = serde_json::from_str(text).map_err(|error| wrong_json(&error))?;
    let Line { name, algorithm, options, each, after_seconds, format } = line;
    let entry = find(&algorithm).ok_or_else(|| {
        format!("there is no algorithm `{algorithm}`; `tegula run --help` lists all")
    })?;
    let after =
        // No range contains NaN, so that is refused, too.
        Some(after_seconds.unwrap_or(0.0)).filter(|after| (0.0..=AFTER_MAX).contains(after));
    let after = after.ok_or("after_seconds must be a number from 0 to 10^9")?;
    let after = Duration::from_secs_f64(after);
    let format = format_of(format.as_deref(), entry)?;
    let name = name.unwrap_or_else(|| number.to_string());
    let each = each.map(|each| values(each, &options)).transpose()?;
    let all: Vec<(String, Map<String, Value>)> = match each {
        None => vec![(name, options)],
        Some((option, values)) => {
            let with = |(index, value): (usize, Value)| {
                let mut options = options.clone();
                options.insert(option.clone(), value);
                (format!("{name}-{}", index + 1), options)
            };
            values.into_iter().enumerate().map(with).collect()
        }
    };
    let job = |(name, options): (String, Map<String, Value>)| {
        check_name(&name)?;
        if !names.insert(name.clone()) {
            return Err(format!("an earlier job has the name `{name}`"));
        }
        let request = entry.request(Value::Object(options)).map_err(|error| error.to_string())?;
        if request.model.is_some() {
            return Err("a job runs on the graph of the batch, not on a model".to_owned());
        }
        Ok(BatchJob { name, request, format, after, sources: Arc::clone(sources) })
    };
    all.into_iter().map(job).collect()
}

/// Says what is wrong with a line, without the number of a line within the line.
fn wrong_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) => format!("{what}, column {}", error.column()),
        None => text,
    }
}

/// Returns the option of `each`, and its values.
fn values(
    each: Map<String, Value>,
    options: &Map<String, Value>,
) -> std::result::Result<(String, Vec<Value>), String> {
    let mut each = each.into_iter();
    let (Some((option, values)), None) = (each.next(), each.next()) else {
        return Err("`each` must name one option".to_owned());
    };
    if options.contains_key(&option) {
        return Err(format!("`options` and `each` both give `{option}`"));
    }
    match values {
        Value::Array(values) if !values.is_empty() => Ok((option, values)),
        _ => Err(format!("`each` must give a list of values for `{option}`")),
    }
}

/// Refuses a name that is no name of a file in a folder.
fn check_name(name: &str) -> std::result::Result<(), String> {
    if name.len() > NAME_MAX {
        return Err(format!("a name has at most {NAME_MAX} bytes, but this one {}", name.len()));
    }
    let is_wrong = |c: char| c == '/' || c.is_control();
    // A leading dot would allow `..`, and hide the table.
    if name.is_empty() || name.starts_with('.') || name.contains(is_wrong) {
        return Err(format!("`{}` cannot be the name of a file", name.escape_debug()));
    }
    Ok(())
}

/// Returns the format of a name, parquet without one.
fn format_of(name: Option<&str>, entry: &Entry) -> std::result::Result<Format, String> {
    let Some(name) = name else { return Ok(Format::Table(TableFormat::Parquet)) };
    let is_possible = |format: &&Format| matches!(format, Format::Table(_)) || entry.finds_graph;
    let formats: Vec<&Format> = Format::value_variants().iter().filter(is_possible).collect();
    let is_named = |format: &&&Format| format.name() == name;
    let found = formats.iter().find(is_named).map(|format| **format);
    found.ok_or_else(|| {
        let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
        format!("there is no format `{name}`; choose one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the jobs of a line, or what is wrong with it.
    fn names(line: &str) -> std::result::Result<Vec<String>, String> {
        let jobs = of_line(line, 7, &mut HashSet::new(), &Arc::default())?;
        Ok(jobs.into_iter().map(|job| job.name).collect())
    }

    #[test]
    fn a_line_is_a_job_or_one_for_each_value() {
        assert_eq!(names(r#"{"algorithm": "pagerank"}"#).unwrap(), ["7"]);
        let each = r#"{"name": "b", "algorithm": "bfs", "each": {"source": [1, 2, "x"]}}"#;
        assert_eq!(names(each).unwrap(), ["b-1", "b-2", "b-3"]);
    }

    #[test]
    fn wrong_lines_say_what_is_wrong() {
        for (line, words) in [
            ("{", "EOF while parsing an object, column 1"),
            ("[]", "column"),
            (r#"{"name": "a"}"#, "missing field `algorithm`"),
            (r#"{"algorithm": "pagerank", "optoins": {}}"#, "unknown field `optoins`"),
            (r#"{"algorithm": "pagernk"}"#, "no algorithm `pagernk`"),
            (r#"{"algorithm": "pagerank", "options": {"dampng": 1}}"#, "`dampng`"),
            (r#"{"algorithm": "pagerank", "options": {"damping": 2}}"#, "damping: it must be"),
            (r#"{"algorithm": "bfs"}"#, "source"),
            (r#"{"algorithm": "pagerank", "after_seconds": -1}"#, "from 0 to 10^9"),
            (r#"{"algorithm": "pagerank", "after_seconds": 1e19}"#, "from 0 to 10^9"),
            (r#"{"algorithm": "pagerank", "format": "xls"}"#, "choose one of csv, tsv, parquet"),
            (r#"{"algorithm": "pagerank", "format": "gexf"}"#, "no format `gexf`"),
            (r#"{"algorithm": "pagerank", "name": "../a"}"#, "the name of a file"),
            (r#"{"algorithm": "pagerank", "name": ""}"#, "the name of a file"),
            (r#"{"algorithm": "bfs", "each": {}}"#, "must name one option"),
            (r#"{"algorithm": "bfs", "each": {"source": 1}}"#, "a list of values for `source`"),
            (r#"{"algorithm": "bfs", "each": {"source": []}}"#, "a list of values"),
            (
                r#"{"algorithm": "bfs", "options": {"source": 1}, "each": {"source": [2]}}"#,
                "both give `source`",
            ),
        ] {
            let detail = names(line).unwrap_err();
            assert!(detail.contains(words), "{line}: {detail}");
        }
        let long = format!(r#"{{"algorithm": "wcc", "name": "{}"}}"#, "a".repeat(NAME_MAX + 1));
        assert!(names(&long).unwrap_err().contains("at most 200 bytes"));
        let mut taken = HashSet::new();
        let line = r#"{"name": "a", "algorithm": "wcc"}"#;
        assert!(of_line(line, 1, &mut taken, &Arc::default()).is_ok());
        let again = of_line(line, 2, &mut taken, &Arc::default()).unwrap_err();
        assert!(again.contains("an earlier job has the name `a`"), "{again}");
    }
}
