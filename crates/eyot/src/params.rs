//! Parameters are checked once. A method's parameters are a plain struct with a consuming builder; `check` turns
//! them into [`Checked`] ones, and only those can fit, so no front end can slip past the check.

use std::fmt::Display;
use std::ops::{Deref, RangeInclusive};

use crate::error::{Error, Result};

/// Parameters that have passed their check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<P>(P);

impl<P> Checked<P> {
    /// Marks parameters as checked; to be called at the end of `check` only.
    pub(crate) fn new(params: P) -> Self {
        Self(params)
    }

    /// The parameters themselves.
    pub fn into_inner(self) -> P {
        self.0
    }
}

impl<P> Deref for Checked<P> {
    type Target = P;
    fn deref(&self) -> &P {
        &self.0
    }
}

/// Refuses a value outside a closed range.
#[expect(clippy::needless_pass_by_value, reason = "callers pass plain numbers")]
pub(crate) fn in_range<T: PartialOrd + Display>(name: &'static str, value: T, range: RangeInclusive<T>) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    let expected = format!("from {} to {}", range.start(), range.end());
    Err(Error::Param { name, expected, got: value.to_string() })
}

/// Refuses a value that is not a finite number above zero.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::Param { name, expected: "a number above 0".into(), got: value.to_string() })
}

/// Refuses a value that is not a finite number of at least zero.
pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::Param { name, expected: "a number of at least 0".into(), got: value.to_string() })
}

/// Declares a method's parameters: a plain struct with defaults, one consuming setter per field, readable from JSON.
macro_rules! params {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$note:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name { $($(#[$note])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            $($(#[$note])* #[must_use]
            pub fn $field(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            })*
        }
    };
}
pub(crate) use params;
