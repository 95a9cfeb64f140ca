//! How messages to one target become one.
//!
//! A program names its reduction. The name supplies the identity, the functions, and whether it is
//! exact. It also tells which operation of MPI or which atomic of a GPU is the same.

use std::marker::PhantomData;

use super::{Program, Value};

/// The message type of a program.
pub type Message<P> = <<P as Program>::Reduction as Reduction>::Message;
/// The type that messages of a program are reduced to.
pub type Accumulator<P> = <<P as Program>::Reduction as Reduction>::Accumulator;

/// An associative and commutative function of messages, up to rounding, with an identity.
///
/// ```
/// use tegula_engine::{Min, Reduction};
///
/// type Nearest = Min<f64>;
/// assert_eq!(Nearest::reduce(2.0, 1.5), 1.5);
/// assert_eq!(Nearest::reduce(2.0, Nearest::IDENTITY), 2.0);
/// ```
pub trait Reduction: Send + Sync + 'static {
    /// What travels along an edge.
    type Message: Value + PartialEq;
    /// What many messages to one target are reduced to. Sums of `f32` need an `f64`: they lose
    /// precision with the number of terms, and the greatest vertices have millions.
    type Accumulator: Value + From<Self::Message>;

    /// The message that changes nothing.
    const IDENTITY: Self::Message;
    /// Whether both functions are associative and commutative to the bit. A minimum is, a sum of
    /// floats is not.
    const IS_EXACT: bool;

    /// Merges two messages. A scan reduces short runs of messages with this, and accumulates the
    /// results.
    fn reduce(a: Self::Message, b: Self::Message) -> Self::Message;

    /// Merges the reductions of two sets of messages.
    fn accumulate(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;
}

/// A reduction that moves a state in one direction only, in whatever order and however often
/// messages come.
pub trait Monotone: Reduction {
    /// Merges reduced messages into a state. Returns whether they changed it.
    fn absorb(state: &mut Self::Message, reduced: Self::Accumulator) -> bool;

    /// Returns whether a message would change a state.
    fn would_change(state: &Self::Message, message: Self::Message) -> bool;
}

/// A number type with a least and a greatest value. For floats, NaN and -0.0 are not allowed as
/// messages: it is unspecified which of the two zeros is smaller, so a reduction of both would not
/// be exact.
pub trait Number: Value + PartialOrd {
    /// The least value.
    const LEAST: Self;
    /// The greatest value.
    const GREATEST: Self;
    /// Returns the smaller of two.
    fn smaller(self, other: Self) -> Self;
    /// Returns the greater of two.
    fn greater(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($number:ty: $least:expr, $greatest:expr;)*) => {$(
        impl Number for $number {
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline(always)]
            fn greater(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}

numbers! {
    u32: u32::MIN, u32::MAX;
    u64: u64::MIN, u64::MAX;
    i32: i32::MIN, i32::MAX;
    i64: i64::MIN, i64::MAX;
    f32: f32::NEG_INFINITY, f32::INFINITY;
    f64: f64::NEG_INFINITY, f64::INFINITY;
}

/// The minimum of all messages.
#[derive(Debug)]
pub struct Min<T>(PhantomData<fn() -> T>);

impl<T: Number> Reduction for Min<T> {
    type Message = T;
    type Accumulator = T;
    const IDENTITY: T = T::GREATEST;
    const IS_EXACT: bool = true;

    #[inline(always)]
    fn reduce(a: T, b: T) -> T {
        a.smaller(b)
    }

    #[inline(always)]
    fn accumulate(a: T, b: T) -> T {
        a.smaller(b)
    }
}

impl<T: Number> Monotone for Min<T> {
    #[inline(always)]
    fn absorb(state: &mut T, reduced: T) -> bool {
        let is_smaller = reduced < *state;
        *state = reduced.smaller(*state);
        is_smaller
    }

    #[inline(always)]
    fn would_change(state: &T, message: T) -> bool {
        message < *state
    }
}

/// The maximum of all messages.
#[derive(Debug)]
pub struct Max<T>(PhantomData<fn() -> T>);

impl<T: Number> Reduction for Max<T> {
    type Message = T;
    type Accumulator = T;
    const IDENTITY: T = T::LEAST;
    const IS_EXACT: bool = true;

    #[inline(always)]
    fn reduce(a: T, b: T) -> T {
        a.greater(b)
    }

    #[inline(always)]
    fn accumulate(a: T, b: T) -> T {
        a.greater(b)
    }
}

impl<T: Number> Monotone for Max<T> {
    #[inline(always)]
    fn absorb(state: &mut T, reduced: T) -> bool {
        let is_greater = reduced > *state;
        *state = reduced.greater(*state);
        is_greater
    }

    #[inline(always)]
    fn would_change(state: &T, message: T) -> bool {
        message > *state
    }
}

/// A number type that can be summed.
pub trait Addend: Value + PartialEq {
    /// The type of a long sum: the number type itself if its sums are exact.
    type Total: Value + From<Self>;
    /// Zero.
    const ZERO: Self;
    /// Whether sums do not depend on the order of the terms. Sums of integers wrap around.
    const IS_EXACT: bool;
    /// Returns the sum of two terms.
    fn plus(self, other: Self) -> Self;
    /// Returns the sum of two sums.
    fn total(a: Self::Total, b: Self::Total) -> Self::Total;
}

macro_rules! addends {
    ($($addend:ty => $total:ty, $is_exact:expr, $a:ident, $b:ident: $sum:expr;)*) => {$(
        impl Addend for $addend {
            type Total = $total;
            const ZERO: Self = 0 as $addend;
            const IS_EXACT: bool = $is_exact;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $sum
            }
            #[inline(always)]
            fn total($a: $total, $b: $total) -> $total {
                $sum
            }
        }
    )*};
}

addends! {
    u32 => u32, true, a, b: a.wrapping_add(b);
    u64 => u64, true, a, b: a.wrapping_add(b);
    u128 => u128, true, a, b: a.wrapping_add(b);
    f32 => f64, false, a, b: a + b;
    f64 => f64, false, a, b: a + b;
}

/// The sum of all messages.
#[derive(Debug)]
pub struct Sum<T>(PhantomData<fn() -> T>);

impl<T: Addend> Reduction for Sum<T> {
    type Message = T;
    type Accumulator = T::Total;
    const IDENTITY: T = T::ZERO;
    const IS_EXACT: bool = T::IS_EXACT;

    #[inline(always)]
    fn reduce(a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn accumulate(a: T::Total, b: T::Total) -> T::Total {
        T::total(a, b)
    }
}

/// The bitwise or of all messages.
#[derive(Debug)]
pub struct Or<T>(PhantomData<fn() -> T>);

macro_rules! bit_sets {
    ($($bits:ty)*) => {$(
        impl Reduction for Or<$bits> {
            type Message = $bits;
            type Accumulator = $bits;
            const IDENTITY: $bits = 0;
            const IS_EXACT: bool = true;

            #[inline(always)]
            fn reduce(a: $bits, b: $bits) -> $bits {
                a | b
            }

            #[inline(always)]
            fn accumulate(a: $bits, b: $bits) -> $bits {
                a | b
            }
        }

        impl Monotone for Or<$bits> {
            #[inline(always)]
            fn absorb(state: &mut $bits, reduced: $bits) -> bool {
                let before = *state;
                *state |= reduced;
                *state != before
            }

            #[inline(always)]
            fn would_change(state: &$bits, message: $bits) -> bool {
                message & !state != 0
            }
        }
    )*};
}

bit_sets! { u32 u64 }
