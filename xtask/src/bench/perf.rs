//! Counts of the processor while a program runs, by `perf stat`.

use std::path::Path;
use std::process::Command;

use crate::tegula::Result;

/// Whether `perf` is installed and counts an event on this machine.
pub fn counts(event: &str) -> bool {
    count(event, Path::new("true"), &[]).is_ok()
}

/// Counts an event while a program runs.
///
/// # Errors
/// Where the program fails, or the event is not counted.
pub fn count(event: &str, program: &Path, arguments: &[&str]) -> Result<f64> {
    let mut command = Command::new("perf");
    command.args(["stat", "-x", ",", "-e", event, "--"]).arg(program).args(arguments);
    let output = command.output().map_err(|error| format!("perf: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("perf stat {}: {}", program.display(), report.trim()).into());
    }
    counted(&report, event).ok_or_else(|| format!("perf does not count {event}").into())
}

/// Finds the count in a report of comma-separated fields, between lines of the program itself.
fn counted(report: &str, event: &str) -> Option<f64> {
    // `:u` follows the event's name where the kernel may not be observed.
    let is_of_event = |line: &&str| {
        let name = line.split(',').nth(2).and_then(|name| name.split(':').next());
        name == Some(event)
    };
    let line = report.lines().find(is_of_event)?;
    line.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_count_or_says_that_there_is_none() {
        let report = "ranks, of all\n12345,,LLC-load-misses,1000,100.00,,\n";
        assert_eq!(counted(report, "LLC-load-misses"), Some(12345.0));
        let of_user = report.replace("misses,", "misses:u,");
        assert_eq!(counted(&of_user, "LLC-load-misses"), Some(12345.0));
        assert_eq!(counted(report, "cycles"), None);
        assert_eq!(counted("<not supported>,,cycles,0,100.00,,\n", "cycles"), None);
    }
}
