//! Empties the page cache.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{Advice, fadvise, sync};

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// How the page cache is emptied here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageCache {
    /// The system empties all of it.
    All,
    /// The system is asked to drop the pages of given files, which it may ignore.
    Files,
}

impl PageCache {
    /// Detects what this process may do.
    pub fn detect() -> PageCache {
        match OpenOptions::new().write(true).open(DROP_CACHES) {
            Ok(_) => PageCache::All,
            Err(_) => PageCache::Files,
        }
    }

    /// Drops cached pages of a file, or of the files in a folder.
    pub fn drop(self, path: &Path) -> io::Result<()> {
        match self {
            PageCache::All => {
                sync();
                OpenOptions::new().write(true).open(DROP_CACHES)?.write_all(b"3")
            }
            PageCache::Files if path.is_dir() => {
                for entry in fs::read_dir(path)? {
                    self.drop(&entry?.path())?;
                }
                Ok(())
            }
            PageCache::Files => {
                let file = File::open(path)?;
                file.sync_all()?;
                Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
            }
        }
    }

    /// Describes it in words.
    pub fn describe(self) -> &'static str {
        match self {
            PageCache::All => "dropped before every figure from disk (drop_caches)",
            PageCache::Files => {
                "only asked to forget the files (posix_fadvise): drop_caches is not writable here"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outlive_their_pages() {
        let folder = std::env::temp_dir().join(format!("tegula-page-cache-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("file"), b"text").unwrap();
        PageCache::Files.drop(&folder).unwrap();
        assert_eq!(fs::read(folder.join("file")).unwrap(), b"text");
        fs::remove_dir_all(&folder).unwrap();
    }
}
