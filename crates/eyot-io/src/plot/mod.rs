//! The plotting room: data in, one self-contained SVG picture out. One file per kind of figure; everything they share
//! (scales, ticks, margins, legend) is in `axis.rs` and `frame.rs`, the writing of SVG in `svg.rs`.
//!
//! Every picture scales (`viewBox`), carries a title and a description for screen readers, follows the reader's light
//! or dark setting through CSS variables, tells series apart by dash or shape as well as by colour (Okabe–Ito; ramps
//! are monotone in lightness), and is the same bytes for the same data. Values that are not finite are left out, and
//! a figure without any data says so.
//!
//! Why our own: of the plotting crates, `plotters` and `kuva` bake colours into the file, so that one picture cannot
//! serve light and dark; `poloto` and `splot` are themeable but have neither contours nor heat maps; `charming` and
//! `plotly` need a script of megabytes in the reader's browser. What reports need is a few hundred lines without any
//! dependency.
//!
//! ```
//! use eyot_io::plot::LineChart;
//!
//! let figure = LineChart::new("Accuracy while learning")
//!     .x("points seen")
//!     .y("accuracy")
//!     .log_x()
//!     .series("IK-OGD", &[[10.0, 0.6], [100.0, 0.8], [1000.0, 0.9]])
//!     .figure();
//! assert!(figure.to_svg().starts_with("<svg"));
//! ```

mod svg;
mod axis;
mod frame;
mod line;
mod histogram;
mod bars;
mod scatter;
mod marching;
mod contour;
mod cells;
mod heatmap;
mod boxes;
#[cfg(test)]
mod laws;

pub use bars::Bars;
pub use boxes::BoxPlot;
pub use cells::CellMap;
pub use contour::Contour;
pub use heatmap::HeatMap;
pub use histogram::Histogram;
pub use line::LineChart;
pub use scatter::Scatter;
pub use svg::Figure;
pub(crate) use svg::{STYLE, escape};
