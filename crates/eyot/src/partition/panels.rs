//! The plain search in `f32`: every centre of every partitioning, sixteen partitionings at once, with a certificate.
//!
//! Where best and second best are closer than rounding can tell, the search is not sure, and the caller settles the
//! case by canonical distances. Copies within a partitioning are left out first, so that they are no ties.

use super::frame::{FAR, Frame};
use crate::backend::{Form, NarrowTiles, Panel, Path, Proposal};
use crate::data::{Points, PointsBuf};

/// Partitionings of a panel.
const WIDE: usize = 16;

/// The frame makes the longest centre 1, up to rounding.
const LONGEST: f64 = 1.001;

/// All partitionings, in panels of sixteen.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    frame: Frame,
    sixteens: Vec<Panel>,
    t: usize,
}

impl Panels {
    /// The centres of partitionings of ψ members each, given as rows of `points`; `None` if they do not fit `f32`.
    pub(crate) fn new(points: &PointsBuf, members: &[u32], psi: usize, form: Form) -> Option<Self> {
        let (d, t) = (points.n_columns(), members.len() / psi);
        let frame = Frame::new(points, 0)?;
        let copies = copies(points, members, psi);
        let sixteens = (0..t.div_ceil(WIDE)).map(|panel| {
            Panel::new(d, psi, form, |lane, j, z| {
                let i = panel * WIDE + lane;
                if i >= t || copies[i * psi + j] {
                    return false;
                }
                frame.moved(points.row(members[i * psi + j] as usize), z);
                true
            })
        });
        let sixteens = sixteens.collect();
        Some(Self { frame, sixteens, t })
    }

    /// Calls `found(row, i, scale, proposal)` with the nearest of the first `ends[scale]` centres for every row and
    /// partitioning, scales ascending; bounds are those of the canonical squared distance.
    pub(crate) fn nearest(
        &self,
        points: Points<'_>,
        path: Path,
        ends: &[usize],
        mut found: impl FnMut(usize, usize, usize, Proposal),
    ) {
        let mut rows = NarrowTiles::new(points.n_rows(), self.frame.d);
        let mut x = vec![0.0; self.frame.d];
        let mut far = vec![false; points.n_rows()];
        for (at, row) in points.rows().enumerate() {
            let length = self.frame.moved(row, &mut x);
            far[at] = length.is_nan() || length > FAR;
            if !far[at] {
                rows.place(at, &x, length);
            }
        }
        for (number, panel) in self.sixteens.iter().enumerate() {
            panel.nearest(path, &rows, LONGEST, ends, |row, lane, scale, proposal| {
                let i = number * WIDE + lane;
                if i < self.t {
                    let proposal = if far[row] { UNKNOWN } else { self.in_units_of_rows(proposal) };
                    found(row, i, scale, proposal);
                }
            });
        }
    }

    /// Bounds of squares that numbers near the ends of the range can express; none where they cannot.
    fn in_units_of_rows(&self, proposal: Proposal) -> Proposal {
        let unit = self.frame.unit();
        if !unit.is_normal() {
            return Proposal { sure: proposal.sure, centre: proposal.centre, ..UNKNOWN };
        }
        let at_least = Some(proposal.at_least * unit).filter(|bound| *bound >= f64::MIN_POSITIVE).unwrap_or(0.0);
        Proposal { at_least, at_most: (proposal.at_most * unit).max(f64::MIN_POSITIVE), ..proposal }
    }
}

const UNKNOWN: Proposal = Proposal { centre: 0, sure: false, at_least: 0.0, at_most: f64::INFINITY };

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
