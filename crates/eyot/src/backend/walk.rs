//! One walk through a tree of points that finds the nearest member of up to 128 sets at once.
//!
//! The tree has no pointers: points are in such an order that every run of 16, 256, 4096 … is one subtree. A leaf is
//! 16 points column by column, a node the boxes of its 16 children side by side. Eight rows go down together. Each row
//! has a limit per set, a little above the smallest distance seen; a box beyond the largest limit cannot matter, a point
//! within the limit of one of its sets is noted. Everything is in `f32` with bounds on all rounding, so that whatever
//! could be nearest by the canonical distance is among the points noted; the caller settles the few doubtful cases.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use super::f32x16::{F32x16, WIDE, dispatch};

/// Sets that one walk serves at the most: bits of a membership mask.
pub(crate) const SETS: usize = 128;

/// Unit roundoff of `f32`.
const ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;

/// Sets that hold more than so many times the points: compare a point with all sets at once instead of one by one.
const CROWDED: usize = 5;

/// Points in blocks of 16 and the boxes above them.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// Columns of the points, and of the boxes.
    d: usize,
    k: usize,
    /// Blocks of 16 points, column by column.
    leaves: Vec<f32>,
    /// From the leaves up: per node and column the lower and upper ends of the boxes of its 16 children.
    levels: Vec<Vec<f32>>,
    /// The sets that each point is a member of.
    members: Vec<u128>,
    crowded: bool,
    precision: Precision,
}

/// How far computed distances can be off; see [`Precision::limit`].
#[derive(Debug, Clone, Copy)]
struct Precision {
    /// Relative error of a square root of a sum, both ways.
    relative: f64,
    /// Error of box coordinates per length of the point.
    coordinates: f64,
    /// What underflow can take away from a distance.
    underflow: f64,
}

impl Precision {
    fn new(d: usize, k: usize) -> Self {
        let terms = (d.max(k) + 8) as f64;
        Self {
            relative: 2.5 * terms * ROUNDOFF,
            // Rounding to f32, and the left-over length as the root of a difference of squares in f64.
            coordinates: 2.0 * ROUNDOFF + 2.0 * (terms * f64::EPSILON).sqrt(),
            underflow: 2.0 * (terms * f64::from(f32::MIN_POSITIVE)).sqrt(),
        }
    }

    /// With a computed squared distance `squared` to one member of a set, no member whose *computed* squared distance
    /// is above the result can be nearer by the true distance.
    ///
    /// A coordinate of row x or point z, rounded to `f32`, is off by at most u of itself, so the difference vector is
    /// off by at most u(‖x‖ + ‖z‖) ≤ u(2‖x‖ + D) in length, D the true distance; the sum of squares adds a relative
    /// error of d·u. Both errors count twice, once for each of the two distances compared.
    fn limit(self, squared: f64, length: f64) -> f32 {
        let distance = squared.sqrt();
        let most = distance * (1.0 + self.relative) + 4.5 * ROUNDOFF * length + self.underflow;
        round_up(most * most)
    }

    /// A box whose computed squared distance is above the result holds no point within the limit `bound`.
    fn box_limit(self, bound: f32, length: f64) -> f32 {
        let distance = f64::from(bound).sqrt();
        let most = distance * (1.0 + self.relative + 2.0 * self.coordinates)
            + 2.5 * self.coordinates * length
            + self.underflow;
        round_up(most * most * (1.0 + self.relative))
    }
}

/// At least `value`, and finite.
fn round_up(value: f64) -> f32 {
    let up = value * (1.0 + 4.0 * ROUNDOFF) + f64::from(f32::MIN_POSITIVE);
    if up < f64::from(f32::MAX) { up as f32 } else { f32::MAX }
}

/// A point that was within the limit of some sets when it was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) point: u32,
    pub(crate) squared: f32,
    pub(crate) sets: u128,
}

/// What a row has found so far.
#[derive(Debug, Clone)]
pub(crate) struct Seeker {
    limits: [f32; SETS],
    /// The largest limit, and the same for boxes.
    bound: f32,
    box_bound: f32,
    /// The length of the row.
    length: f64,
    pub(crate) hits: Vec<Hit>,
}

impl Seeker {
    /// Whether a hit can still be the nearest of set `i`.
    #[inline]
    pub(crate) fn within(&self, squared: f32, set: usize) -> bool {
        squared <= self.limits[set]
    }
}

/// Rows that walk together, with room for the way.
pub(crate) struct Party<const R: usize> {
    /// Columns of the rows, row by row within a column; the same for box coordinates.
    x: Vec<f32>,
    y: Vec<f32>,
    pub(crate) seekers: [Seeker; R],
    frames: Vec<Frame<R>>,
    /// Nodes and leaves that were measured on all walks so far.
    pub(crate) nodes: usize,
    pub(crate) leaves: usize,
}

/// A node on the way down.
#[derive(Clone)]
struct Frame<const R: usize> {
    node: usize,
    /// Squared distances of the children's boxes, per row, and their sums.
    bounds: [[f32; WIDE]; R],
    sums: [f32; WIDE],
    /// Children not yet visited.
    left: u16,
}

impl<const R: usize> Party<R> {
    pub(crate) fn new(tree: &Tree) -> Self {
        let seeker =
            Seeker { limits: [0.0; SETS], bound: 0.0, box_bound: 0.0, length: 0.0, hits: Vec::with_capacity(1024) };
        let frame = Frame { node: 0, bounds: [[0.0; WIDE]; R], sums: [0.0; WIDE], left: 0 };
        Self {
            x: vec![0.0; tree.d * R],
            y: vec![0.0; tree.k * R],
            seekers: std::array::from_fn(|_| seeker.clone()),
            frames: vec![frame; tree.levels.len()],
            nodes: 0,
            leaves: 0,
        }
    }

    /// Takes up a row: its columns, its box coordinates and its length.
    pub(crate) fn place(&mut self, at: usize, x: &[f32], y: &[f32], length: f64) {
        self.x.iter_mut().skip(at).step_by(R).zip(x).for_each(|(slot, &value)| *slot = value);
        self.y.iter_mut().skip(at).step_by(R).zip(y).for_each(|(slot, &value)| *slot = value);
        self.seekers[at].length = length;
    }
}

impl Tree {
    /// `points` in tree order, `d` columns each, `coordinates` of `k` columns likewise: a map of the points that
    /// lengthens no distance. `members` are the sets of each point.
    pub(crate) fn new(points: &[f32], d: usize, coordinates: &[f32], k: usize, members: Vec<u128>) -> Self {
        let n = members.len();
        let n_leaves = n.div_ceil(WIDE);
        let mut leaves = vec![f32::INFINITY; n_leaves * WIDE * d];
        for (at, point) in points.chunks_exact(d).enumerate() {
            let leaf = &mut leaves[at / WIDE * WIDE * d..][..WIDE * d];
            leaf.iter_mut().skip(at % WIDE).step_by(WIDE).zip(point).for_each(|(slot, &value)| *slot = value);
        }
        // Boxes as (lower, upper) per column, then sixteen side by side.
        let mut boxes: Vec<[f32; 2]> = Vec::with_capacity(n_leaves * k);
        for leaf in coordinates.chunks(WIDE * k) {
            for column in 0..k {
                let values = leaf.iter().skip(column).step_by(k);
                boxes.push(values.fold([f32::INFINITY, f32::NEG_INFINITY], |[lo, hi], &v| [lo.min(v), hi.max(v)]));
            }
        }
        let mut levels = Vec::new();
        loop {
            levels.push(side_by_side(&boxes, k));
            let nodes = boxes.len().div_ceil(WIDE * k);
            if nodes <= 1 {
                break;
            }
            let mut above = Vec::with_capacity(nodes * k);
            for node in boxes.chunks(WIDE * k) {
                for column in 0..k {
                    let of_children = node.iter().skip(column).step_by(k);
                    above.push(
                        of_children
                            .fold([f32::INFINITY, f32::NEG_INFINITY], |[lo, hi], &[l, h]| [lo.min(l), hi.max(h)]),
                    );
                }
            }
            boxes = above;
        }
        let memberships: usize = members.iter().map(|sets| sets.count_ones() as usize).sum();
        let crowded = memberships >= CROWDED * n;
        Self { d, k, leaves, levels, members, crowded, precision: Precision::new(d, k) }
    }
}

/// Boxes of 16 siblings, column by column: 16 lower ends, then 16 upper ends. Missing siblings are infinitely far.
fn side_by_side(boxes: &[[f32; 2]], k: usize) -> Vec<f32> {
    let nodes = boxes.len().div_ceil(WIDE * k);
    let mut out = vec![f32::INFINITY; nodes * k * 2 * WIDE];
    for (at, &[lo, hi]) in boxes.iter().enumerate() {
        let (child, column) = (at / k, at % k);
        let base = ((child / WIDE * k + column) * 2) * WIDE + child % WIDE;
        out[base] = lo;
        out[base + WIDE] = hi;
    }
    out
}

dispatch! {
    /// Lets the party walk for `sets` sets: every point that could be the nearest member of a set is among the hits.
    pub(crate) fn walk = walk_on<const R: usize>(tree: &Tree, sets: usize, party: &mut Party<R>)
}

dispatch! {
    /// The leaf a row falls into, going down by the nearest box; rows of equal leaves walk well together.
    pub(crate) fn leaf_of = leaf_on(tree: &Tree, y: &[f32]) -> u32
}

#[inline(always)]
fn leaf_on<V: F32x16>(tree: &Tree, y: &[f32]) -> u32 {
    let mut node = 0;
    for level in tree.levels.iter().rev() {
        let mut bounds = [0.0; WIDE];
        box_distances::<V, 1>(&level[node * tree.k * 2 * WIDE..], tree.k, y)[0].store(&mut bounds);
        let nearest = (0..WIDE).reduce(|best, child| if bounds[child] < bounds[best] { child } else { best });
        node = node * WIDE + nearest.unwrap_or(0);
    }
    node as u32
}

/// Squared distances of R rows to the 16 boxes of a node.
#[inline(always)]
fn box_distances<V: F32x16, const R: usize>(boxes: &[f32], k: usize, y: &[f32]) -> [V; R] {
    let mut sums = [V::splat(0.0); R];
    let ends = boxes.as_chunks::<WIDE>().0[..2 * k].as_chunks::<2>().0;
    for ([lo, hi], y) in ends.iter().zip(y.as_chunks::<R>().0) {
        let (lo, hi) = (V::load(lo), V::load(hi));
        for r in 0..R {
            let y = V::splat(y[r]);
            let outside = lo.sub(y).max(y.sub(hi)).max(V::splat(0.0));
            sums[r] = outside.square_add(sums[r]);
        }
    }
    sums
}

#[inline(always)]
fn walk_on<V: F32x16, const R: usize>(tree: &Tree, sets: usize, party: &mut Party<R>) {
    let Party { x, y, seekers, frames, nodes, leaves } = party;
    for seeker in seekers.iter_mut() {
        seeker.limits = [-1.0; SETS];
        seeker.limits[..sets].fill(f32::MAX);
        (seeker.bound, seeker.box_bound) = (f32::MAX, f32::MAX);
        seeker.hits.clear();
    }
    let top = tree.levels.len() - 1;
    let mut at = top;
    open::<V, R>(tree, at, 0, y, &mut frames[at]);
    *nodes += 1;
    loop {
        if at == 0 {
            *leaves += visit_leaves::<V, R>(tree, sets, &frames[0], x, seekers);
            if top == 0 {
                return;
            }
            at = 1;
        }
        // The nearest child that some row still needs.
        let frame = &mut frames[at];
        let mut wanted = 0;
        for (bounds, seeker) in frame.bounds.iter().zip(seekers.iter()) {
            wanted |= V::load(bounds).at_most(V::splat(seeker.box_bound));
        }
        frame.left &= wanted;
        if frame.left == 0 {
            if at == top {
                return;
            }
            at += 1;
            continue;
        }
        let mut nearest = frame.left.trailing_zeros() as usize;
        let mut others = frame.left & (frame.left - 1);
        while others != 0 {
            let child = others.trailing_zeros() as usize;
            others &= others - 1;
            if frame.sums[child] < frame.sums[nearest] {
                nearest = child;
            }
        }
        frame.left &= !(1 << nearest);
        let node = frame.node * WIDE + nearest;
        at -= 1;
        open::<V, R>(tree, at, node, y, &mut frames[at]);
        *nodes += 1;
    }
}

/// Measures the boxes of a node's children.
#[inline(always)]
fn open<V: F32x16, const R: usize>(tree: &Tree, level: usize, node: usize, y: &[f32], frame: &mut Frame<R>) {
    let sums = box_distances::<V, R>(&tree.levels[level][node * tree.k * 2 * WIDE..], tree.k, y);
    let mut total = V::splat(0.0);
    for (bounds, sum) in frame.bounds.iter_mut().zip(sums) {
        sum.store(bounds);
        total = total.add(sum);
    }
    total.store(&mut frame.sums);
    frame.node = node;
    frame.left = u16::MAX;
}

/// Measures all points of the leaves that some row needs, and renews the limits; returns how many leaves there were.
#[inline(always)]
fn visit_leaves<V: F32x16, const R: usize>(
    tree: &Tree,
    sets: usize,
    frame: &Frame<R>,
    x: &[f32],
    seekers: &mut [Seeker; R],
) -> usize {
    let mut wanted = 0;
    for (bounds, seeker) in frame.bounds.iter().zip(seekers.iter()) {
        wanted |= V::load(bounds).at_most(V::splat(seeker.box_bound));
    }
    let visited = wanted.count_ones() as usize;
    while wanted != 0 {
        let leaf = frame.node * WIDE + wanted.trailing_zeros() as usize;
        wanted &= wanted - 1;
        let columns = tree.leaves[leaf * WIDE * tree.d..][..WIDE * tree.d].as_chunks::<WIDE>().0;
        let mut sums = [V::splat(0.0); R];
        for (z, x) in columns.iter().zip(x.as_chunks::<R>().0) {
            let z = V::load(z);
            for r in 0..R {
                sums[r] = V::splat(x[r]).sub(z).square_add(sums[r]);
            }
        }
        for (seeker, sum) in seekers.iter_mut().zip(sums) {
            let mut near = sum.at_most(V::splat(seeker.bound));
            if near == 0 {
                continue;
            }
            let mut squared = [0.0; WIDE];
            sum.store(&mut squared);
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let point = leaf * WIDE + lane;
                if let Some(&members) = tree.members.get(point) {
                    meet::<V>(tree, seeker, point as u32, squared[lane], members);
                }
            }
        }
    }
    for seeker in seekers {
        let mut most = V::splat(-1.0);
        for limits in &seeker.limits.as_chunks::<WIDE>().0[..sets.div_ceil(WIDE)] {
            most = most.max(V::load(limits));
        }
        let mut lanes = [0.0; WIDE];
        most.store(&mut lanes);
        let bound = lanes.iter().fold(-1.0, |a: f32, &b| if a > b { a } else { b });
        if bound < seeker.bound {
            seeker.bound = bound;
            seeker.box_bound = tree.precision.box_limit(bound, seeker.length);
        }
    }
    visited
}

/// Compares a point with the limits of its sets.
#[inline(always)]
fn meet<V: F32x16>(tree: &Tree, seeker: &mut Seeker, point: u32, squared: f32, members: u128) {
    let mut sets = 0;
    if tree.crowded {
        let here = V::splat(squared);
        for (chunk, limits) in seeker.limits.as_chunks::<WIDE>().0.iter().enumerate() {
            sets |= u128::from(here.at_most(V::load(limits))) << (chunk * WIDE);
        }
        sets &= members;
    } else {
        let mut left = members;
        while left != 0 {
            let set = left.trailing_zeros() as usize;
            sets |= u128::from(squared <= seeker.limits[set]) << set;
            left &= left - 1;
        }
    }
    if sets == 0 {
        return;
    }
    let limit = tree.precision.limit(squared.into(), seeker.length);
    let mut left = sets;
    while left != 0 {
        let set = left.trailing_zeros() as usize;
        seeker.limits[set] = seeker.limits[set].min(limit);
        left &= left - 1;
    }
    seeker.hits.push(Hit { point, squared, sets });
}
