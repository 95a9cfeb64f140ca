//! Control groups with a memory limit that the kernel enforces.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A control group with a memory limit. At the limit, the kernel first takes the page cache of its
/// processes, and then kills. Dropping this value removes the group, once it is empty.
#[derive(Debug)]
pub struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// Makes a group with a limit in bytes.
    ///
    /// # Errors
    /// Why the group could not be made.
    pub fn new(limit: u64) -> Result<MemoryGroup, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tegula-test-{}-{number}", std::process::id());
        // Version 2 of control groups has one tree for all controllers; version 1 has one for each.
        let is_unified = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let (parent, limit_file) = if is_unified {
            ("/sys/fs/cgroup", "memory.max")
        } else {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        };
        let path = Path::new(parent).join(name);
        fs::create_dir(&path).map_err(refused(&path))?;
        let group = MemoryGroup(path);
        // A version 2 group may lack the memory controller.
        let limit_path = group.0.join(limit_file);
        fs::write(&limit_path, limit.to_string()).map_err(refused(&limit_path))?;
        // Swap would replace memory beyond the limit. Version 1 counts both together.
        let (swap_file, swap_limit) = if is_unified {
            ("memory.swap.max", "0".to_owned())
        } else {
            ("memory.memsw.limit_in_bytes", limit.to_string())
        };
        let swap_path = group.0.join(swap_file);
        match fs::write(&swap_path, swap_limit) {
            Err(error) if has_swap() => Err(refused(&swap_path)(error)),
            _ => Ok(group),
        }
    }

    /// Returns a command that runs `command` within the group.
    #[must_use]
    pub fn enclose(&self, command: &Command) -> Command {
        let mut enclosed = Command::new("sh");
        enclosed.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs"));
        enclosed.arg(command.get_program()).args(command.get_args());
        command.get_current_dir().into_iter().for_each(|folder| {
            enclosed.current_dir(folder);
        });
        enclosed
    }

    /// Runs `work` with this process in the group.
    ///
    /// # Errors
    /// Why the process cannot enter or leave the group.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, String> {
        let move_to = |group: &Path| {
            let processes = group.join("cgroup.procs");
            fs::write(&processes, std::process::id().to_string()).map_err(refused(&processes))
        };
        move_to(&self.0)?;
        let outcome = work();
        move_to(self.0.parent().unwrap_or(&self.0))?;
        Ok(outcome)
    }
}

fn refused(path: &Path) -> impl FnOnce(io::Error) -> String {
    move |error| format!("no memory limit by the kernel, {} is refused: {error}", path.display())
}

/// Returns whether there is swap: the list has a header line.
fn has_swap() -> bool {
    fs::read_to_string("/proc/swaps").is_ok_and(|list| list.lines().count() > 1)
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
