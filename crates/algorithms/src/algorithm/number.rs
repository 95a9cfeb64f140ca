//! Numbers within limits, for options: a number beyond the limits is no value of the type.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Defines a number whose type says its limits. `$expected` is the error for a number beyond them.
macro_rules! number {
    ($(#[doc = $doc:literal])* $name:ident, $expected:literal, |$number:ident| $is_within:expr,
     $($bound:literal: $limit:literal),+) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Makes a number within the limits. For a constant, the compiler checks it.
            ///
            /// # Panics
            /// When the number is beyond the limits.
            pub const fn new(number: f64) -> $name {
                assert!($name::is_within(number), $expected);
                $name(number)
            }

            const fn is_within($number: f64) -> bool {
                // NaN fails every comparison, so no type accepts it.
                $is_within
            }

            /// Returns the number.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = &'static str;

            fn try_from(number: f64) -> Result<$name, &'static str> {
                if $name::is_within(number) { Ok($name(number)) } else { Err($expected) }
            }
        }

        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<$name, &'static str> {
                text.parse::<f64>().map_err(|_| $expected)?.try_into()
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> f64 {
                number.0
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "number", $($bound: $limit),+ })
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// A probability of less than 1.
    Probability, "it must be a number from 0 to below 1", |number| number >= 0.0 && number < 1.0,
    "minimum": 0, "exclusiveMaximum": 1
}

number! {
    /// At least 0; may be infinite.
    NotNegative, "it must be a number of at least 0", |number| number >= 0.0,
    "minimum": 0
}

number! {
    /// From 0 to 10^12, which leaves room for multiplications.
    Factor, "it must be a number from 0 to 1e12", |number| number >= 0.0 && number <= 1e12,
    "minimum": 0, "maximum": 1e12
}

number! {
    /// From 10^-9 to 10^9, so that it and its inverse may be multiplied by weights.
    Bias, "it must be a number from 1e-9 to 1e9", |number| number >= 1e-9 && number <= 1e9,
    "minimum": 1e-9, "maximum": 1e9
}

number! {
    /// Above 0, and finite.
    Positive, "it must be a finite number above 0", |number| number > 0.0 && number.is_finite(),
    "exclusiveMinimum": 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_the_limits_are_refused() {
        for (number, is_probability, is_not_negative, is_factor, is_positive) in [
            (-0.1, false, false, false, false),
            (0.0, true, true, true, false),
            (0.5, true, true, true, true),
            (1.0, false, true, true, true),
            (f64::INFINITY, false, true, false, false),
            (f64::NAN, false, false, false, false),
        ] {
            let text = number.to_string();
            assert_eq!(Probability::try_from(number).is_ok(), is_probability, "{number}");
            assert_eq!(text.parse::<Probability>().is_ok(), is_probability, "{number}");
            assert_eq!(text.parse::<NotNegative>().is_ok(), is_not_negative, "{number}");
            assert_eq!(text.parse::<Factor>().is_ok(), is_factor, "{number}");
            assert_eq!(text.parse::<Positive>().is_ok(), is_positive, "{number}");
            if number.is_finite() {
                let json = serde_json::from_str::<Positive>(&text);
                assert_eq!(json.is_ok(), is_positive, "{number}");
            }
        }
        assert!("x".parse::<NotNegative>().is_err());
    }
}
