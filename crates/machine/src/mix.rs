//! Spreading what differs over all bits.

/// The output of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) for a state: neighbouring numbers become
/// unrelated ones, and different numbers different ones.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
