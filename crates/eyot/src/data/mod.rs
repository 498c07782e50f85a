//! Stage 1, what comes in: a [`Table`] of raw columns, and [`Points`], the finite numbers that methods see.

mod bag;
mod distinct;
mod encoder;
mod features;
mod label;
mod points;
mod table;

pub use bag::Bags;
pub(crate) use distinct::Distinct;
pub use encoder::{
    ArrayPlan, EncodeCounts, Encoded, Encoder, EncoderFit, EncoderParams, InputKind, LeftOut, Missing, Note, RawArray,
    RawRows, RawValues, Roles, Scale,
};
pub use features::Features;
pub use label::{Classes, regression_targets};
pub use points::{Points, PointsBuf, Real, Row, SparseRow, Values};
pub use table::{Column, Table, TableColumn, TextColumn};
