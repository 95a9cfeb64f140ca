//! Puts large tables with random look-ups on huge pages, where the system has any. With small
//! pages, half of the time of a look-up goes to finding its page.

use rustix::mm::{Advice, madvise};
use zerocopy::FromZeros;

/// Below this number of bytes, huge pages are not worth asking for.
const BYTES_MIN: usize = 4 << 20;

/// Bytes of a huge page where a small page has 4 KiB; a multiple of any small page.
const HUGE_PAGE: usize = 2 << 20;

/// Returns an empty vector with room for `len` items on huge pages.
pub fn with_capacity<T>(len: usize) -> Vec<T> {
    let items = Vec::<T>::with_capacity(len);
    advise(items.as_ptr().cast(), items.capacity() * size_of::<T>());
    items
}

/// Returns zeroes on huge pages. They take memory only once some thread writes to them.
pub fn zeroes<T: FromZeros>(len: usize) -> Vec<T> {
    let items = T::new_vec_zeroed(len).unwrap_or_else(|_| {
        let mut items = Vec::with_capacity(len);
        items.resize_with(len, T::new_zeroed);
        items
    });
    advise(items.as_ptr().cast(), size_of_val(&items[..]));
    items
}

fn advise(start: *const u8, len: usize) {
    let skip = start.align_offset(HUGE_PAGE);
    if len < BYTES_MIN || skip >= len {
        return;
    }
    let first = start.wrapping_add(skip).cast_mut().cast();
    let whole_pages = (len - skip) / HUGE_PAGE * HUGE_PAGE;
    // SAFETY: the pages lie within an allocation of the caller, and this advice changes neither
    // their content nor their protection. A refusal does no harm.
    let _ = unsafe { madvise(first, whole_pages, Advice::LinuxHugepage) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_changes_nothing_but_speed() {
        for len in [0, 1, 1000, 5 << 20] {
            let mut zeroes = zeroes::<u16>(len);
            assert!(zeroes.len() == len && zeroes.iter().all(|&item| item == 0));
            zeroes.iter_mut().for_each(|item| *item = 7);
            let mut items = with_capacity::<u64>(len);
            items.resize(len, 7);
            assert!(items.capacity() >= len && items.iter().all(|&item| item == 7));
        }
    }
}
