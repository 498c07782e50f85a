//! Nearest centres of sparse rows through inverted lists: a row's products with *all* distinct centres come from one
//! walk over the lists of its own columns. ‖x‖² + ‖z‖² − 2⟨x, z⟩ only proposes; centres whose bounds overlap the best
//! are settled by the canonical distance, so the winner is always the one of the plain loop.

use std::ops::Range;

use super::Distance;
use super::neighbours::{Next, Others};
use crate::backend::Winner;
use crate::data::{PointsBuf, Row};

/// Unit roundoff of `f64`.
const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// The inverted lists of a set of centres: per column the centres with an entry there.
#[derive(Debug, Clone)]
pub(crate) struct Postings {
    starts: Vec<u32>,
    centres: Vec<u32>,
    values: Vec<f64>,
    squared_norms: Vec<f64>,
    supports: Vec<u32>,
    longest: usize,
}

/// Room for one query, reused from row to row.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    products: Vec<f64>,
    common: Vec<u32>,
    /// No centre is nearer than `low`, nor farther than `high`, up to the rounding of the canonical distance.
    low: Vec<f64>,
    high: Vec<f64>,
    /// Canonical squared distances already computed for this row, NaN where not.
    settled: Vec<f64>,
}

impl Postings {
    pub(crate) fn new(points: &PointsBuf) -> Self {
        let mut starts = vec![0u32; points.n_columns() + 1];
        let (mut squared_norms, mut supports) = (Vec::new(), Vec::new());
        for row in points.as_points().rows() {
            squared_norms.push(row.squared_norm());
            row.nonzeros().for_each(|(column, _)| starts[column + 1] += 1);
            supports.push(row.nonzeros().count() as u32);
        }
        for column in 1..starts.len() {
            starts[column] += starts[column - 1];
        }
        let total = starts[points.n_columns()] as usize;
        let (mut centres, mut values) = (vec![0; total], vec![0.0; total]);
        let mut next = starts.clone();
        for (centre, row) in points.as_points().rows().enumerate() {
            for (column, value) in row.nonzeros() {
                let at = next[column] as usize;
                centres[at] = centre as u32;
                values[at] = value;
                next[column] += 1;
            }
        }
        let longest = supports.iter().copied().max().unwrap_or(0) as usize;
        Self { starts, centres, values, squared_norms, supports, longest }
    }

    pub(crate) fn query(&self) -> Query {
        let n = self.squared_norms.len();
        Query {
            products: vec![0.0; n],
            common: vec![0; n],
            low: vec![0.0; n],
            high: vec![0.0; n],
            settled: vec![f64::NAN; n],
        }
    }

    /// Takes up a row: bounds on its squared distance to every centre.
    pub(crate) fn ask(&self, row: Row<'_>, distance: Distance, query: &mut Query) {
        query.products.fill(0.0);
        query.common.fill(0);
        query.settled.fill(f64::NAN);
        let (mut squared_norm, mut support) = (0.0, 0usize);
        for (column, x) in row.nonzeros() {
            squared_norm += x * x;
            support += 1;
            let list = self.starts[column] as usize..self.starts[column + 1] as usize;
            for (&centre, &z) in self.centres[list.clone()].iter().zip(&self.values[list]) {
                query.products[centre as usize] += x * z;
                query.common[centre as usize] += 1;
            }
        }
        // With m columns in play, both this form and the canonical sum stay within (4m + 12) roundoffs of
        // ‖x‖² + ‖z‖²; the rest of the allowance covers the division below.
        let rounding = (4.0 * (support + self.longest) as f64 + 32.0) * ROUNDOFF;
        for centre in 0..self.squared_norms.len() {
            let norms = squared_norm + self.squared_norms[centre];
            let sum = norms - 2.0 * query.products[centre];
            let slack = rounding * norms + f64::MIN_POSITIVE;
            let columns = support + self.supports[centre] as usize - query.common[centre] as usize;
            query.low[centre] = distance.squared(sum - slack, columns);
            query.high[centre] = distance.squared(sum + slack, columns);
        }
    }
}

impl Query {
    fn settle(&mut self, centre: u32, canonical: impl Fn(u32) -> f64) -> f64 {
        let known = &mut self.settled[centre as usize];
        if known.is_nan() {
            *known = canonical(centre);
        }
        *known
    }

    /// The least upper bound of all members, four at a time, none of which waits for the others. This is where sparse rows
    /// spend their time; `f64::min` would take three times as long for the sake of numbers that are none.
    fn least_high(&self, members: &[u32]) -> f64 {
        let lower = |least: f64, centre: u32| {
            let high = self.high[centre as usize];
            if high < least { high } else { least }
        };
        let (fours, rest) = members.as_chunks::<4>();
        let mut least = [f64::INFINITY; 4];
        for four in fours {
            for (least, &centre) in least.iter_mut().zip(four) {
                *least = lower(*least, centre);
            }
        }
        rest.iter().fold(least.into_iter().fold(f64::INFINITY, f64::min), |least, &centre| lower(least, centre))
    }

    /// The nearest of `members`, lowest index on ties; its distance is canonical if `exact`, else within the bounds.
    pub(crate) fn nearest(&mut self, members: &[u32], exact: bool, canonical: impl Fn(u32) -> f64 + Copy) -> Winner {
        let bound = self.least_high(members);
        let open = |low: &[f64], centre: u32| maybe_at_most(low[centre as usize], bound);
        let mut candidates = members.iter().enumerate().filter(|&(_, &centre)| open(&self.low, centre));
        let first = candidates.next();
        if let (Some((j, &centre)), None, false) = (first, candidates.next(), exact) {
            return Winner { centre: j as u32, squared_distance: self.low[centre as usize] };
        }
        let mut best = Winner { centre: 0, squared_distance: f64::INFINITY };
        for (j, &centre) in members.iter().enumerate() {
            if open(&self.low, centre) {
                let squared_distance = self.settle(centre, canonical);
                if squared_distance < best.squared_distance {
                    best = Winner { centre: j as u32, squared_distance };
                }
            }
        }
        best
    }

    /// Puts one of the `members` of a range into `next` if it is nearer, counts and is not member `own` itself.
    pub(crate) fn nearer_other(
        &mut self,
        members: &[u32],
        range: Range<usize>,
        own: u32,
        others: Others,
        canonical: impl Fn(u32) -> f64 + Copy,
        next: &mut Next,
    ) {
        let candidates = || range.clone().map(|k| (k as u32, members[k])).filter(|&(k, _)| k != own);
        let counting = candidates().map(|(_, centre)| centre as usize).filter(|&at| others.count(self.low[at]));
        let bound = counting.map(|at| self.high[at]).fold(next.squared_distance, f64::min);
        for (number, centre) in candidates() {
            if maybe_at_most(self.low[centre as usize], bound) {
                let squared_distance = self.settle(centre, canonical);
                if squared_distance < next.squared_distance && others.count(squared_distance) {
                    *next = Next { number, squared_distance };
                }
            }
        }
    }

    /// The nearest of those `members` whose ball of squared radius `within[j]` holds the row.
    pub(crate) fn nearest_within(
        &mut self,
        members: &[u32],
        within: &[f64],
        canonical: impl Fn(u32) -> f64 + Copy,
    ) -> Winner {
        let mut best = Winner { centre: 0, squared_distance: f64::INFINITY };
        for (j, (&centre, &limit)) in members.iter().zip(within).enumerate() {
            let low = self.low[centre as usize];
            if maybe_at_most(low, limit) && maybe_at_most(low, best.squared_distance) {
                let squared_distance = self.settle(centre, canonical);
                if squared_distance <= limit && squared_distance < best.squared_distance {
                    best = Winner { centre: j as u32, squared_distance };
                }
            }
        }
        best
    }
}

/// Whether a value above `low` may be at most `limit`; a bound that is no number, after overflow, excludes nothing.
fn maybe_at_most(low: f64, limit: f64) -> bool {
    // One comparison, which no number fails.
    low.partial_cmp(&limit) != Some(std::cmp::Ordering::Greater)
}
