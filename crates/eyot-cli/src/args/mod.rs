//! Options that several commands share, each declared once with the help that teaches it.

/// Declares the names that users write for the values of an enum of the core.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident for $core:ident { $($value:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
        enum $name {
            $(#[value(name = $word)] $value,)*
        }

        impl From<$name> for $core {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$value => Self::$value,)*
                }
            }
        }
    };
}

mod cells;
mod data;
mod files;
mod learn;
mod run;

pub(crate) use cells::CellArgs;
pub(crate) use data::DataArgs;
pub(crate) use files::{OutputArgs, ReportArgs, SaveArgs};
pub(crate) use learn::{LearnerArgs, method};
pub(crate) use run::{MessageArgs, RunArgs};
