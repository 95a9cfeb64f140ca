//! Asking for memory ahead of its use.

/// Has an element of a slice brought into the nearest cache, where the processor can be asked for that. It waits for
/// nothing, and an index beyond the slice does no harm.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = slice.as_ptr().wrapping_add(index).cast();
        // SAFETY: a prefetch reads nothing that a program could see, and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
