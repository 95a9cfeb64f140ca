//! A slow disk: a control group whose processes read at a limited rate.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{major, minor};

use crate::tegula::Result;

/// Where the first version of control groups limits disks.
const CONTROLLER: &str = "/sys/fs/cgroup/blkio";
/// Puts the shell into a group, and becomes the program.
const ENTER: &str = r#"echo $$ > "$0/cgroup.procs" && exec "$@""#;

/// A group of processes that read slowly. Dropping this value removes the group.
#[derive(Debug)]
pub struct Throttle {
    group: PathBuf,
}

impl Throttle {
    /// Makes a group that reads `bytes_per_second` from the disk on which `path` lies.
    ///
    /// # Errors
    /// Where this process may not, or the disk cannot be limited.
    pub fn new(path: &Path, bytes_per_second: u64) -> Result<Throttle> {
        let throttle = Throttle {
            group: Path::new(CONTROLLER).join(format!("tegula-bench-{}", std::process::id())),
        };
        let explained = |error: std::io::Error| format!("{}: {error}", throttle.group.display());
        fs::create_dir_all(&throttle.group).map_err(explained)?;
        let limit = format!("{} {bytes_per_second}", disk_of(path)?);
        let file = throttle.group.join("blkio.throttle.read_bps_device");
        fs::write(file, limit).map_err(explained)?;
        Ok(throttle)
    }

    /// Returns a command that runs a program in the group.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", ENTER]).arg(&self.group).arg(program);
        command
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // The next run has another group, and an empty one limits nobody.
        let _ = fs::remove_dir(&self.group);
    }
}

/// Returns the numbers of the disk that holds a file, not those of its partition.
fn disk_of(path: &Path) -> Result<String> {
    let device = fs::metadata(path)?.dev();
    let numbers = format!("{}:{}", major(device), minor(device));
    let known = Path::new("/sys/dev/block").join(&numbers);
    if !known.join("partition").exists() {
        return Ok(numbers);
    }
    Ok(fs::read_to_string(known.join("../dev"))?.trim().to_owned())
}
