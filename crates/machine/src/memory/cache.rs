//! The cache of the processor.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// The size that is assumed if the system tells none.
const TYPICAL: u64 = 32 << 20;

/// Returns the bytes of the last-level cache. The cores that share it have this much together.
pub fn last_level_cache() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE
        .get_or_init(|| size_in(Path::new("/sys/devices/system/cpu/cpu0/cache")).unwrap_or(TYPICAL))
}

/// Returns the size of the greatest cache that a folder of the system describes.
fn size_in(folder: &Path) -> Option<u64> {
    let caches = fs::read_dir(folder).ok()?.flatten();
    let sizes = caches.filter_map(|cache| {
        let text = fs::read_to_string(cache.path().join("size")).ok()?;
        let (number, unit) = text.trim().split_at_checked(text.trim().len().checked_sub(1)?)?;
        let unit = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => return None,
        };
        number.parse::<u64>().ok().map(|number| number * unit)
    });
    sizes.max().filter(|&size| size > 0)
}

#[cfg(test)]
mod tests {
    use tegula_testkit::Scratch;

    use super::*;

    #[test]
    fn the_greatest_cache_counts_and_bad_entries_do_not() {
        let scratch = Scratch::new();
        for (index, size) in ["32K\n", "1024K", "32768K", "what", "", "é"].into_iter().enumerate()
        {
            let folder = scratch.path().join(format!("index{index}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("size"), size).unwrap();
        }
        assert_eq!(size_in(scratch.path()), Some(32 << 20));
        assert_eq!(size_in(&scratch.path().join("none")), None);
        assert!(last_level_cache() > 0);
    }
}
