//! How much memory this process may use.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// Address space of the program and its libraries. The limits of a process count it, a budget does
/// not.
const PROGRAM_BYTES: u64 = 64 << 20;
/// Address space of the stack of a thread, whether it is written to or not.
const STACK_BYTES: u64 = 2 << 20;
/// The most threads besides one per core: those that read.
pub const READING_THREADS_MAX: u32 = 64;

/// A limit on the memory of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    /// What sets the limit, in the user's words.
    pub name: &'static str,
    /// Bytes that the limit leaves for a budget.
    pub bytes: u64,
}

/// Returns the least limit that was set for this process, by its control groups or as a resource
/// limit; none where nothing is limited.
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

/// Returns the default budget: half of the installed memory, or half of what the limits of this
/// process leave, whichever is less.
pub fn default_memory() -> u64 {
    let installed = match rustix::system::sysinfo() {
        info if info.totalram > 0 => info.totalram * u64::from(info.mem_unit.max(1)),
        _ => u64::MAX,
    };
    memory_limit().map_or(installed, |limit| limit.bytes.min(installed)) / 2
}

/// Returns the least limit of the control groups that `groups` (the text of `/proc/self/cgroup`)
/// names, and of the groups around them. `root` is where the hierarchies are mounted.
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
        // Within a container, the group's own path may not be visible, only the root.
        let group: PathBuf = hierarchy.join(group.trim_start_matches('/'));
        for folder in group.ancestors().take_while(|folder| folder.starts_with(&hierarchy)) {
            let limit = fs::read_to_string(folder.join(file)).ok();
            let limit = limit.and_then(|text| text.trim().parse().ok());
            least = least.min(limit.unwrap_or(u64::MAX));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_default_budget_is_plausible() {
        assert!(default_memory() > 1 << 20);
        assert!(default_memory() < 1 << 50);
    }
}
