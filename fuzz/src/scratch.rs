//! Files for readers that take a path. They lie in memory, in a folder for each process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::LazyLock;

const PREFIX: &str = "tegula-fuzz-";

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let in_memory = Path::new("/dev/shm");
    let above = if in_memory.is_dir() { in_memory.to_owned() } else { std::env::temp_dir() };
    remove_abandoned(&above);
    let folder = above.join(format!("{PREFIX}{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder for files");
    folder
});

/// Removes the folders of processes that have ended.
fn remove_abandoned(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The folder of this process.
pub(crate) fn folder() -> &'static Path {
    &FOLDER
}

/// Writes a file into the folder of this process, and returns its path.
pub fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.join(name);
    fs::write(&path, bytes).expect("a folder that is written to");
    path
}
