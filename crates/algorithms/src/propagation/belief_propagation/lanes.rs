//! An exponential and a logarithm that compilers vectorize. They are in single precision, and of
//! plain operations in a fixed order, so that bits are the same for all instructions.

/// 1.5 * 2^23. Floats of that size are whole numbers, so adding it to a number rounds the number.
/// The low bits of the sum hold the result.
const ROUND: f32 = 12_582_912.0;
/// ln 2, as a part of few bits and the rest.
const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
/// The least exponent. With lesser ones, products of exponentials would be subnormal numbers, on
/// which processors spend a hundred times as long.
const EXPONENT_MIN: f32 = -64.0;

/// Returns the exponential of a number of at most 0, within 2 units in the last place. Below -64,
/// this is the exponential of -64, 10^-28.
///
/// (S. L. Moshier, *Methods and Programs for Mathematical Functions*, 1989: the polynomial is that
/// of Cephes.)
#[inline(always)]
pub fn exp(exponent: f32) -> f32 {
    let exponent = exponent.max(EXPONENT_MIN);
    let shifted = exponent * std::f32::consts::LOG2_E + ROUND;
    let power = shifted - ROUND;
    let rest = (exponent - power * LN_2.0) - power * LN_2.1;
    let mut sum = 1.987_569_1e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = sum * rest + coefficient;
    }
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    (sum * rest * rest + rest + 1.0) * scale
}

/// Returns the logarithm of a positive normal number, within 1 unit in the last place.
///
/// (As in FreeBSD's `e_logf.c`: 2^k (1 + f) with 1 + f between the square roots of 1/2 and 2, and
/// `ln(1 + f)` by `s = f / (2 + f)`.)
#[inline(always)]
pub fn ln(number: f32) -> f32 {
    let root_half = std::f32::consts::FRAC_1_SQRT_2.to_bits();
    let above = number.to_bits().wrapping_sub(root_half);
    let power = (above as i32 >> 23) as f32;
    let f = f32::from_bits((above & 0x007f_ffff).wrapping_add(root_half)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = z * (0.666_666_6 + w * 0.284_987_87);
    let odd = w * (0.400_009_72 + w * 0.242_790_79);
    let half_square = 0.5 * f * f;
    // The small terms are added first, so that they keep their digits.
    let low = s * (half_square + (even + odd)) + power * 9.058_001e-6;
    low - half_square + f + power * 0.693_138_1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many units in the last place a number is from the truth.
    fn units(found: f32, truth: f64) -> f64 {
        let nearest = truth as f32;
        let unit =
            f64::from(f32::from_bits(nearest.abs().to_bits() + 1)) - f64::from(nearest.abs());
        (f64::from(found) - truth).abs() / unit
    }

    #[test]
    fn exponentials_are_within_two_units_of_the_truth() {
        let mut worst = 0.0_f64;
        for step in 0..2_000_000 {
            let exponent = EXPONENT_MIN * step as f32 / 2e6;
            worst = worst.max(units(exp(exponent), libm::exp(exponent.into())));
        }
        for bits in (1.0e-9_f32.to_bits()..1.0_f32.to_bits()).step_by(101) {
            let exponent = -f32::from_bits(bits);
            worst = worst.max(units(exp(exponent), libm::exp(exponent.into())));
        }
        assert!(worst < 2.0, "{worst}");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!([exp(-88.0), exp(f32::NEG_INFINITY)], [exp(EXPONENT_MIN); 2]);
    }

    #[test]
    fn logarithms_are_within_one_unit_of_the_truth() {
        let mut worst = 0.0_f64;
        for bits in (f32::MIN_POSITIVE.to_bits()..f32::INFINITY.to_bits()).step_by(997) {
            let number = f32::from_bits(bits);
            worst = worst.max(units(ln(number), libm::log(number.into())));
        }
        for bits in 0.5_f32.to_bits()..0.5_f32.to_bits() + (1 << 24) {
            let number = f32::from_bits(bits);
            worst = worst.max(units(ln(number), libm::log(number.into())));
        }
        assert!(worst < 1.0, "{worst}");
        assert_eq!(ln(1.0), 0.0);
    }
}
