//! Prefetching into the cache.

/// Prefetches an element of a slice into the nearest cache, where the processor has an instruction
/// for it. It never waits, and an index beyond the slice does no harm.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = slice.as_ptr().wrapping_add(index).cast();
        // SAFETY: a prefetch has no effect that a program could see, and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
