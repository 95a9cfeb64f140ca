//! How much memory there is, and how a user writes an amount of it.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// Address space of the program and its libraries. The limits of a process count it; a budget does not.
const PROGRAM_BYTES: u64 = 64 << 20;
/// Address space of the stack of a thread, whether it is written to or not.
const STACK_BYTES: u64 = 2 << 20;
/// The most threads that there are beside one per core: those that read.
pub const READING_THREADS_MAX: u32 = 64;

/// The most memory that this process can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    /// What limits it, as the user knows it.
    pub name: &'static str,
    /// Bytes that are left for a budget.
    pub bytes: u64,
}

/// The least of the limits that were set for this process: by its control groups, and as its resources.
/// None without any.
pub fn memory_limit() -> Option<MemoryLimit> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let beside = PROGRAM_BYTES + STACK_BYTES * (u64::from(READING_THREADS_MAX) + cores);
    let of_process = |resource| {
        getrlimit(resource).current.map_or(u64::MAX, |limit| limit.saturating_sub(beside))
    };
    let limits = [
        MemoryLimit { name: "the control group", bytes: group },
        MemoryLimit { name: "`ulimit -v`", bytes: of_process(Resource::As) },
        MemoryLimit { name: "`ulimit -d`", bytes: of_process(Resource::Data) },
    ];
    limits.into_iter().min_by_key(|limit| limit.bytes).filter(|limit| limit.bytes < u64::MAX)
}

/// The budget that is taken when none is given: half of what the machine has, or of what the limits
/// of this process leave it, whichever is less.
pub fn default_memory() -> u64 {
    let installed = match rustix::system::sysinfo() {
        info if info.totalram > 0 => info.totalram * u64::from(info.mem_unit.max(1)),
        _ => u64::MAX,
    };
    memory_limit().map_or(installed, |limit| limit.bytes.min(installed)) / 2
}

/// The least limit of the control groups that `groups` (the text of `/proc/self/cgroup`) names and
/// of those that contain them; `root` is where the hierarchies are mounted.
fn group_limit(root: &Path, groups: &str) -> u64 {
    let mut least = u64::MAX;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (hierarchy, file) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        // Within a container the group's own path may not be visible: then only the root is.
        let group: PathBuf = hierarchy.join(group.trim_start_matches('/'));
        for folder in group.ancestors().take_while(|folder| folder.starts_with(&hierarchy)) {
            let limit = fs::read_to_string(folder.join(file)).ok();
            let limit = limit.and_then(|text| text.trim().parse().ok());
            least = least.min(limit.unwrap_or(u64::MAX));
        }
    }
    least
}

/// Reads a size as users write it: `512MiB`, `4GB`, `1.5g`, `65536`. One letter means the binary
/// unit, as `MiB` does; `MB` is a million bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let refuse = || format!("`{text}` is not a size; write for example 512MiB or 4GB");
    let text_trimmed = text.trim();
    let unit_at =
        text_trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text_trimmed.len());
    let (number, unit) = text_trimmed.split_at(unit_at);
    let unit = unit.trim().to_ascii_lowercase();
    let (letter, base) = match unit.strip_suffix('b') {
        None => (unit.strip_suffix('i').unwrap_or(&unit), 1024u64),
        Some(rest) => match rest.strip_suffix('i') {
            Some(letter) => (letter, 1024),
            None => (rest, 1000),
        },
    };
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(refuse()),
    };
    let factor = base.pow(power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| format!("`{text}` is too large a size"));
    }
    match number.parse::<f64>() {
        Ok(value) if value * factor as f64 <= u64::MAX as f64 / 2.0 => {
            Ok((value * factor as f64) as u64)
        }
        Ok(_) => Err(format!("`{text}` is too large a size")),
        Err(_) => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_users_write_them() {
        for (text, size) in [
            ("0", 0),
            ("65536", 65536),
            ("10b", 10),
            ("1k", 1024),
            ("512MiB", 512 << 20),
            ("512 mib", 512 << 20),
            ("4GB", 4_000_000_000),
            ("1.5g", 3 << 29),
            ("2TiB", 2 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "MiB", "-1", "4 parsecs", "1e3", "4GBB", "20000000TiB", "1.2.3"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_least_limit_of_all_enclosing_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "1000\n");
        write("a/b/memory.max", "max\n");
        assert_eq!(group_limit(root.path(), "0::/a/b\n"), 1000);
        assert_eq!(group_limit(root.path(), "0::/\n"), u64::MAX);
        write("memory/c/memory.limit_in_bytes", "77\n");
        assert_eq!(group_limit(root.path(), "3:cpu:/c\n9:hugetlb,memory:/c/d\n0::/a\n"), 77);
        assert_eq!(group_limit(root.path(), "nonsense"), u64::MAX);
    }

    #[test]
    fn the_default_is_some_of_this_machine() {
        assert!(default_memory() > 1 << 20);
        assert!(default_memory() < 1 << 50);
    }
}
