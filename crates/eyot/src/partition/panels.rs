//! The plain search with a certificate: every centre of every partitioning, sixteen partitionings at once, in `f32` or
//! in whole numbers.
//!
//! Where best and second best are closer than rounding can tell, the search is not sure, and the caller settles the
//! case by canonical distances. Copies within a partitioning are left out first, so that they are no ties.

use super::frame::{FAR, Frame};
use crate::backend::{Form, NarrowTiles, Panel, Path, Proposal, REACH, Room, WholePanel, WholeTiles};
use crate::data::{Points, PointsBuf};

/// Partitionings of a panel.
const WIDE: usize = 16;

/// Up to so many columns a single row asks for no memory.
const FEW_COLUMNS: usize = 64;

/// The frame makes the longest centre 1, up to rounding.
const LONGEST: f64 = 1.001;

/// How distances are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// In whole steps, where a row is some hundred of them from its nearest centre: the fastest.
    Whole,
    F32(Form),
}

/// All partitionings, in panels of sixteen.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    frame: Frame,
    sixteens: Sixteens,
    t: usize,
}

#[derive(Debug, Clone)]
enum Sixteens {
    Narrow(Vec<Panel>),
    Whole {
        panels: Vec<WholePanel>,
        /// Steps per unit of the frame.
        steps: f64,
        /// How far rounded centres lie from the true ones at the most, in steps.
        residual: f64,
    },
}

impl Panels {
    /// The centres of partitionings of ψ members each, given as rows of `points`; `None` if they do not fit `f32`.
    pub(crate) fn new(points: &PointsBuf, members: &[u32], psi: usize, numbers: Numbers) -> Option<Self> {
        let (d, t) = (points.n_columns(), members.len() / psi);
        let frame = Frame::new(points, 0)?;
        let copies = copies(points, members, psi);
        let centre = |panel: usize, lane: usize, j: usize, z: &mut [f64]| {
            let i = panel * WIDE + lane;
            if i >= t || copies[i * psi + j] {
                return false;
            }
            frame.moved(points.row(members[i * psi + j] as usize), z);
            true
        };
        let panels = 0..t.div_ceil(WIDE);
        let sixteens = match numbers {
            Numbers::Whole => {
                let steps = REACH / frame.longest;
                let panels = panels.map(|panel| {
                    let partitionings = (t - panel * WIDE).min(WIDE);
                    WholePanel::new(d, partitionings, psi, steps, |i, j, z| centre(panel, i, j, z))
                });
                let (panels, residuals): (_, Vec<f64>) = panels.unzip();
                Sixteens::Whole { panels, steps, residual: residuals.into_iter().fold(0.0, f64::max) }
            }
            Numbers::F32(form) => {
                let panels = panels.map(|panel| Panel::new(d, psi, form, |lane, j, z| centre(panel, lane, j, z)));
                Sixteens::Narrow(panels.collect())
            }
        };
        Some(Self { frame, sixteens, t })
    }

    /// Calls `found(row, i, scale, proposal, rivals)` with the nearest of the first `ends[scale]` centres for every row and
    /// partitioning, scales ascending; bounds are those of the canonical squared distance.
    pub(crate) fn nearest(
        &self,
        points: Points<'_>,
        path: Path,
        ends: &[usize],
        mut found: impl FnMut(usize, usize, usize, Proposal, &[u32]),
    ) {
        let (n, d) = (points.n_rows(), self.frame.d);
        let mut x = Room::<f64, FEW_COLUMNS>::new(d, 0.0);
        match &self.sixteens {
            Sixteens::Narrow(panels) => {
                let mut far = Room::<bool, 1>::new(n, false);
                let mut rows = NarrowTiles::new(n, d);
                for (at, row) in points.rows().enumerate() {
                    let length = self.frame.moved(row, &mut x);
                    far[at] = length.is_nan() || length > FAR;
                    if !far[at] {
                        rows.place(at, &x, length);
                    }
                }
                let unit = Some(self.frame.unit()).filter(|unit| unit.is_normal());
                for (number, panel) in panels.iter().enumerate() {
                    panel.nearest(path, &rows, LONGEST, ends, |row, lane, scale, proposal, named| {
                        let i = number * WIDE + lane;
                        if i < self.t {
                            found(row, i, scale, in_units_of_rows(proposal, unit, far[row]), named);
                        }
                    });
                }
            }
            Sixteens::Whole { panels, steps, residual } => {
                let mut rows = WholeTiles::new(n, d);
                for (at, row) in points.rows().enumerate() {
                    let length = self.frame.moved(row, &mut x);
                    rows.place(at, &x, length, *steps);
                }
                let unit = Some(self.frame.unit() / (steps * steps)).filter(|unit| unit.is_normal());
                for (number, panel) in panels.iter().enumerate() {
                    panel.nearest(path, &rows, (*residual, unit), ends, |row, lane, scale, proposal, named| {
                        let i = number * WIDE + lane;
                        if i < self.t {
                            found(row, i, scale, proposal, named);
                        }
                    });
                }
            }
        }
    }
}

/// Bounds in squared units of the rows; none where numbers cannot express them, nor for a row that is too far away.
#[inline]
fn in_units_of_rows(proposal: Proposal, unit: Option<f64>, far: bool) -> Proposal {
    match unit {
        _ if far => Proposal::UNKNOWN,
        None => Proposal { rivals: proposal.rivals, centre: proposal.centre, ..Proposal::UNKNOWN },
        Some(unit) => Proposal { at_least: proposal.at_least * unit, at_most: proposal.at_most * unit, ..proposal },
    }
}

/// Which members of a partitioning repeat the values of one before them.
fn copies(points: &PointsBuf, members: &[u32], psi: usize) -> Vec<bool> {
    let same = super::union::same_values(points);
    let mut last = vec![u32::MAX; points.n_rows()];
    let mut copies = Vec::with_capacity(members.len());
    for (i, members) in members.chunks_exact(psi).enumerate() {
        for &member in members {
            let value = same[member as usize] as usize;
            copies.push(last[value] == i as u32);
            last[value] = i as u32;
        }
    }
    copies
}
