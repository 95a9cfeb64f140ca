//! The machine on which figures were measured.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::tegula::command::first_line;
use crate::tegula::page_cache::PageCache;

/// The machine and its state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub caches: String,
    pub vectors: String,
    pub memory_bytes: u64,
    pub kernel: String,
    pub rustc: String,
    pub page_cache: String,
    /// The rate of one tile file, read sequentially past the page cache.
    pub disk_bytes_per_second: Option<f64>,
}

impl Machine {
    /// Describes this machine; what the system does not tell is left empty.
    pub fn describe(root: &Path) -> Machine {
        let cpu = text("/proc/cpuinfo");
        let memory = text("/proc/meminfo");
        let kibibytes = field(&memory, "MemTotal").and_then(|size| {
            size.split_whitespace().next().and_then(|number| number.parse::<u64>().ok())
        });
        Machine {
            cpu: cpu_name(&cpu),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            caches: caches(),
            vectors: vectors(&field(&cpu, "flags").unwrap_or_default()).to_owned(),
            memory_bytes: kibibytes.unwrap_or(0) * 1024,
            kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
            rustc: first_line("rustc", &["--version"], root).unwrap_or_default(),
            page_cache: PageCache::detect().describe().to_owned(),
            disk_bytes_per_second: None,
        }
    }

    /// Whether figures of both machines may stand in one table.
    pub fn is_same(&self, other: &Machine) -> bool {
        let of = |machine: &Machine| (machine.cpu.clone(), machine.cores, machine.memory_bytes);
        of(self) == of(other)
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the value after `name :` in the first line that has it.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    })
}

fn cpu_name(cpu: &str) -> String {
    let name = field(cpu, "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let part = |name: &str| field(cpu, name).unwrap_or_default();
    match field(cpu, "cpu family") {
        Some(family) => format!("{name} (family {family}, model {})", part("model")),
        None => name,
    }
}

/// Returns the widest vectors of the processor.
fn vectors(flags: &str) -> &'static str {
    let has = |name: &str| flags.split(' ').any(|flag| flag == name);
    match (has("avx512f"), has("avx2")) {
        (true, _) => "AVX-512",
        (false, true) => "AVX2",
        (false, false) => "none known",
    }
}

/// Returns the caches of the first core.
fn caches() -> String {
    let mut found = Vec::new();
    for index in 0..8 {
        let of = |name: &str| {
            text(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}"))
                .trim()
                .to_owned()
        };
        let kind = match of("type").as_str() {
            "" => break,
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        found.push(format!("L{}{kind} {}", of("level"), of("size")));
    }
    found.join(", ")
}

/// Returns the average number of runnable processes in the last minute.
pub fn load() -> f64 {
    text("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// Returns today's date in UTC.
pub fn today() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(elapsed.as_secs() / 86400)
}

/// Returns the date that is `days` days after the first of January 1970.
fn date(days: u64) -> String {
    // Years begin in March, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

/// Returns the commit that is checked out, and whether files differ from it.
pub fn commit(root: &Path) -> String {
    let commit = first_line("git", &["rev-parse", "--short", "HEAD"], root);
    let is_changed = first_line("git", &["status", "--porcelain", "--untracked-files=no"], root)
        .is_some_and(|l| !l.is_empty());
    let changed = if is_changed { " with changes" } else { "" };
    commit.map_or_else(|| "unknown".to_owned(), |commit| commit + changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        let dates = [0, 59, 11_016, 19_782, 20_513].map(date);
        assert_eq!(dates, ["1970-01-01", "1970-03-01", "2000-02-29", "2024-02-29", "2026-03-01"]);
    }

    #[test]
    fn fields_are_found_by_their_name() {
        let text = "model\t\t: 167\nmodel name\t: A CPU\nflags\t\t: avx2 avx512f\n";
        assert_eq!(field(text, "model").as_deref(), Some("167"));
        assert_eq!(field(text, "model name").as_deref(), Some("A CPU"));
        assert_eq!(field(text, "cpu family"), None);
        assert_eq!(vectors(&field(text, "flags").unwrap()), "AVX-512");
    }
}
