//! One walk through a tree of points that finds the nearest member of up to 128 sets at once.
//!
//! The tree has no pointers: points are in such an order that every run of 16, 256, 4096 … is one subtree. A leaf is
//! 16 points column by column, a node the boxes of its 16 children side by side. Eight rows go down together. Each row
//! has a limit per set, a little above the smallest distance seen; a box beyond the largest limit cannot matter, a point
//! within the limit of one of its sets is noted. Rows begin with the finds of a neighbour, so that few points are news.
//! Boxes are in `f32`, points in `f32` or in whole steps (half the work, where steps are fine enough), all with bounds
//! on all rounding, so that whatever could be nearest by the canonical distance is the best of its set or a rival; the
//! caller settles the few sets with rivals.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use super::f32x16::{F32x16, NAMES, WIDE, dispatch};
use super::i32x16::{I32x16, dispatch_whole};
use super::whole::{NOBODY, doubled_and_turned, square};

/// Sets that one walk serves at the most: bits of a membership mask.
pub(crate) const SETS: usize = 128;

/// Unit roundoff of `f32`.
pub(super) const ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;

/// Sets that hold more than so many times the points: compare a point with all sets at once instead of one by one.
const CROWDED: usize = 5;

/// Points in blocks of 16 and the boxes above them.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    leaves: Leaves,
    /// Columns of the boxes.
    k: usize,
    /// From the leaves up: per node and column the lower and upper ends of the boxes of its 16 children.
    levels: Vec<Vec<f32>>,
    members: Members,
    precision: Precision,
}

/// The sets that points are members of.
#[derive(Debug, Clone)]
enum Members {
    /// Of each point, where it is in many: it is compared with all sets at once.
    Crowded(Vec<u128>),
    /// Of each leaf, where points are in few: lanes and sets of its members, sixteen by sixteen, from the places named on.
    Sparse { starts: Vec<u32>, lists: Vec<[[u8; WIDE]; 2]> },
}

impl Members {
    fn new(members: Vec<u128>) -> Self {
        let memberships: usize = members.iter().map(|sets| sets.count_ones() as usize).sum();
        if memberships >= CROWDED * members.len() {
            return Self::Crowded(members);
        }
        let (mut starts, mut lists) = (vec![0], Vec::new());
        for leaf in members.chunks(WIDE) {
            let of = |(lane, &sets): (usize, &u128)| {
                (0..SETS as u8).filter(move |set| sets >> set & 1 == 1).map(move |set| [lane as u8, set])
            };
            let pairs: Vec<[u8; 2]> = leaf.iter().enumerate().flat_map(of).collect();
            for pairs in pairs.chunks(WIDE) {
                let pair = |at: usize| pairs.get(at).copied().unwrap_or([0, NO_SET]);
                lists.push([0, 1].map(|part| std::array::from_fn(|at| pair(at)[part])));
            }
            starts.push(lists.len() as u32);
        }
        Self::Sparse { starts, lists }
    }
}

/// A name for no set, whose limit is below all distances.
const NO_SET: u8 = u8::MAX;

/// The points in blocks of 16.
#[derive(Debug, Clone)]
pub(crate) enum Leaves {
    /// Column by column.
    Narrow { d: usize, values: Vec<f32> },
    /// −2z, two columns by two, and ‖z‖², in steps of which a unit has so many, as in [`WholePanel`](super::WholePanel);
    /// rounded points lie at most `residual` steps off.
    Whole { d: usize, pairs: usize, values: Vec<i32>, squares: Vec<i32>, steps: f64, residual: f64 },
}

impl Leaves {
    /// Points in tree order, `d` columns each.
    pub(crate) fn narrow(points: &[f32], d: usize) -> Self {
        Self::Narrow { d, values: in_blocks(points, d, f32::INFINITY) }
    }

    /// Points in tree order, `pairs` pairs of `d` columns each.
    pub(crate) fn whole(points: &[i32], d: usize, pairs: usize, steps: f64, residual: f64) -> Self {
        let doubled: Vec<i32> = points.iter().map(|&pair| doubled_and_turned(pair)).collect();
        let squares: Vec<i32> = points.chunks_exact(pairs).map(square).collect();
        let (values, squares) = (in_blocks(&doubled, pairs, 0), in_blocks(&squares, 1, NOBODY));
        Self::Whole { d, pairs, values, squares, steps, residual }
    }

    const fn d(&self) -> usize {
        match self {
            Self::Narrow { d, .. } | Self::Whole { d, .. } => *d,
        }
    }

    /// These leaves and, after them, others of the same kind.
    pub(crate) fn and(mut self, other: Self) -> Self {
        match (&mut self, other) {
            (Self::Narrow { values, .. }, Self::Narrow { values: others, .. }) => values.extend(others),
            (
                Self::Whole { values, squares, residual, .. },
                Self::Whole { values: others, squares: of_others, residual: off, .. },
            ) => {
                values.extend(others);
                squares.extend(of_others);
                *residual = residual.max(off);
            }
            _ => unreachable!("leaves of one kind"),
        }
        self
    }

    /// So many leaves of the same kind, without points.
    fn empty(&self, leaves: usize) -> Self {
        match self {
            Self::Narrow { d, .. } => Self::narrow(&vec![f32::INFINITY; leaves * WIDE * d], *d),
            Self::Whole { d, pairs, steps, residual, .. } => {
                let values = vec![0; leaves * WIDE * pairs];
                Self::Whole {
                    d: *d,
                    pairs: *pairs,
                    values,
                    squares: vec![NOBODY; leaves * WIDE],
                    steps: *steps,
                    residual: *residual,
                }
            }
        }
    }

    /// Takes over a point of leaves of the same kind.
    fn copy(&mut self, at: usize, from: &Self, point: usize) {
        fn lane<T: Copy>(out: &mut [T], at: usize, from: &[T], point: usize, width: usize) {
            let out = out[at / WIDE * WIDE * width..].iter_mut().skip(at % WIDE).step_by(WIDE);
            let from = from[point / WIDE * WIDE * width..].iter().skip(point % WIDE).step_by(WIDE);
            out.zip(from).take(width).for_each(|(slot, &value)| *slot = value);
        }
        match (self, from) {
            (Self::Narrow { d, values }, Self::Narrow { values: from, .. }) => lane(values, at, from, point, *d),
            (Self::Whole { pairs, values, squares, .. }, Self::Whole { values: from, squares: of_points, .. }) => {
                lane(values, at, from, point, *pairs);
                squares[at] = of_points[point];
            }
            _ => unreachable!("leaves of one kind"),
        }
    }
}

/// Rows of `width` numbers in blocks of 16, column by column, the last block filled up.
fn in_blocks<T: Copy>(rows: &[T], width: usize, nothing: T) -> Vec<T> {
    let n = rows.len() / width;
    let mut blocks = vec![nothing; n.next_multiple_of(WIDE) * width];
    for (at, row) in rows.chunks_exact(width).enumerate() {
        let block = &mut blocks[at / WIDE * WIDE * width..][..WIDE * width];
        block.iter_mut().skip(at % WIDE).step_by(WIDE).zip(row).for_each(|(slot, &value)| *slot = value);
    }
    blocks
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

/// How far the coordinates of a row of length 1 can be off: by rounding to `f32`, and by the left-over length as the root of
/// a difference of squares in `f64`.
pub(crate) fn coordinates_off(d: usize, k: usize) -> f64 {
    2.0 * ROUNDOFF + 2.0 * ((d.max(k) + 8) as f64 * f64::EPSILON).sqrt()
}

impl Precision {
    fn new(d: usize, k: usize) -> Self {
        let terms = (d.max(k) + 8) as f64;
        Self {
            relative: 2.5 * terms * ROUNDOFF,
            coordinates: coordinates_off(d, k),
            underflow: 2.0 * (terms * f64::from(f32::MIN_POSITIVE)).sqrt(),
        }
    }

    /// With a computed distance D to one member of a set, no member whose *computed* distance is above s·D + m can be
    /// nearer by the true distance; returns s and m.
    ///
    /// A coordinate of row x or point z, rounded to `f32`, is off by at most u of itself, so the difference vector is
    /// off by at most u(‖x‖ + ‖z‖) ≤ u(2‖x‖ + D) in length, D the true distance; the sum of squares adds a relative
    /// error of d·u. Both errors count twice, once for each of the two distances compared. In steps, the distance is
    /// off by what row and point were rounded by. The rest is for computing with all this in `f32`.
    fn limits(self, leaves: &Leaves, length: f64, residual: f64) -> (f32, f32) {
        let (scale, more) = match leaves {
            Leaves::Narrow { .. } => (self.relative, 4.5 * ROUNDOFF * length + self.underflow),
            Leaves::Whole { residual: of_points, .. } => (0.0, 2.0 * (of_points + residual)),
        };
        (round_up(1.0 + scale + 24.0 * ROUNDOFF), round_up(more * (1.0 + 24.0 * ROUNDOFF)))
    }

    /// A box whose computed squared distance is above the result holds no point within the limit `bound`.
    fn box_limit(self, leaves: &Leaves, bound: f32, seeker: &Seeker) -> f32 {
        let (distance, length) = (f64::from(bound).sqrt(), seeker.length);
        let distance = match leaves {
            Leaves::Narrow { .. } => distance,
            Leaves::Whole { steps, residual, .. } => {
                (distance * (1.0 + 8.0 * ROUNDOFF) + residual + seeker.residual) / steps
            }
        };
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

/// A member of a set that is about as near as another: canonical distances must decide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rival {
    pub(crate) set: u8,
    pub(crate) point: u32,
    squared: f32,
}

/// What a row has found so far.
#[derive(Debug, Clone)]
pub(crate) struct Seeker {
    /// One per set; −1, below all distances, where there is no set.
    limits: [f32; NAMES],
    /// The smallest squared distance of each set, and a member that has it or may have it.
    nearest: [f32; SETS],
    best: [i32; SETS],
    /// Members that may be nearer than the best, or were when they were seen.
    rivals: Vec<Rival>,
    /// The largest limit, and the same for boxes.
    bound: f32,
    box_bound: f32,
    /// The length of the row, and how far it was rounded in steps.
    length: f64,
    residual: f64,
    /// See [`Precision::limits`].
    limit: (f32, f32),
    /// Whether a limit has fallen since the bounds were renewed.
    fallen: bool,
}

/// Nobody is the best of a set so far.
const NOBODY_YET: i32 = -1;

impl Seeker {
    /// The best of each set, as far as distances on the way can tell.
    pub(crate) fn best(&self) -> impl Iterator<Item = u32> + '_ {
        self.best.iter().map(|point| point.cast_unsigned())
    }

    /// The members that may be nearer than the best of their sets, in the order in which they were met.
    pub(crate) fn rivals(&self) -> impl Iterator<Item = Rival> + '_ {
        self.rivals.iter().copied().filter(|rival| rival.squared <= self.limits[usize::from(rival.set)])
    }

    /// Takes note of a member of a set that is within its limit; `sure` says that no other can be as near.
    #[inline(always)]
    fn note(&mut self, set: usize, point: u32, squared: f32, sure: bool) {
        let best = &mut self.best[set];
        if sure || *best == NOBODY_YET {
            *best = point.cast_signed();
        } else if *best != point.cast_signed() {
            self.rivals.push(Rival { set: set as u8, point, squared });
        }
    }
}

/// Rows that walk together, with room for the way.
pub(crate) struct Party<const R: usize> {
    /// Columns of the rows, row by row within a column: as in the leaves, and for boxes.
    x: Vec<f32>,
    x_pairs: Vec<i32>,
    /// ‖x‖² of the rows in steps.
    x_squares: [i32; R],
    y: Vec<f32>,
    pub(crate) seekers: [Seeker; R],
    /// A member of each set that is likely near, one per lane: rows measure them first, so that few points on their
    /// way are news. None before the first walk.
    guides: Option<(Leaves, [i32; SETS])>,
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
        let seeker = Seeker {
            limits: [-1.0; NAMES],
            nearest: [0.0; SETS],
            best: [NOBODY_YET; SETS],
            rivals: Vec::new(),
            bound: 0.0,
            box_bound: 0.0,
            length: 0.0,
            residual: 0.0,
            limit: (1.0, 0.0),
            fallen: false,
        };
        let frame = Frame { node: 0, bounds: [[0.0; WIDE]; R], sums: [0.0; WIDE], left: 0 };
        let (narrow, whole) = match &tree.leaves {
            Leaves::Narrow { d, .. } => (*d, 0),
            Leaves::Whole { pairs, .. } => (0, *pairs),
        };
        Self {
            x: vec![0.0; narrow * R],
            x_pairs: vec![0; whole * R],
            x_squares: [0; R],
            y: vec![0.0; tree.k * R],
            seekers: std::array::from_fn(|_| seeker.clone()),
            guides: None,
            frames: vec![frame; tree.levels.len()],
            nodes: 0,
            leaves: 0,
        }
    }

    /// Lets the next rows begin with what one of these rows has found, which lies near them.
    pub(crate) fn guide_on(&mut self, tree: &Tree, sets: usize, row: usize) {
        let guides = self.guides.get_or_insert_with(|| (tree.leaves.empty(sets.div_ceil(WIDE)), [NOBODY_YET; SETS]));
        for (set, &point) in self.seekers[row].best[..sets].iter().enumerate() {
            // Many stay.
            if guides.1[set] != point {
                guides.0.copy(set, &tree.leaves, point as usize);
                guides.1[set] = point;
            }
        }
    }

    /// Takes up a row: its columns as the leaves have them, its box coordinates, its length, and how far it was rounded.
    pub(crate) fn place(&mut self, at: usize, x: Walker<'_>, y: &[f32], length: f64, residual: f64) {
        fn put<T: Copy>(out: &mut [T], at: usize, abreast: usize, values: &[T]) {
            out.iter_mut().skip(at).step_by(abreast).zip(values).for_each(|(slot, &value)| *slot = value);
        }
        match x {
            Walker::Narrow(x) => put(&mut self.x, at, R, x),
            Walker::Whole(x) => {
                self.x_squares[at] = square(x);
                put(&mut self.x_pairs, at, R, x);
            }
        }
        put(&mut self.y, at, R, y);
        self.seekers[at].length = length;
        self.seekers[at].residual = residual;
    }
}

/// The columns of a row as the leaves have them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Walker<'a> {
    Narrow(&'a [f32]),
    Whole(&'a [i32]),
}

impl Tree {
    /// `coordinates` of `k` columns of all points in tree order: a map of the points that lengthens no distance.
    /// `members` are the sets of each point.
    pub(crate) fn new(leaves: Leaves, coordinates: &[f32], k: usize, members: Vec<u128>) -> Self {
        let n = members.len();
        let n_leaves = n.div_ceil(WIDE);
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
        let precision = Precision::new(leaves.d(), k);
        Self { leaves, k, levels, members: Members::new(members), precision }
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

dispatch_whole! {
    /// Lets the party walk for `sets` sets: every point that could be the nearest member of a set is
    /// its best or among its rivals.
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
        let [bounds] = box_distances::<V, 1>(&level[node * tree.k * 2 * WIDE..], tree.k, y);
        node = node * WIDE + nearest_of(bounds, u16::MAX);
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
            let outside = y.sub(y.min(hi).max(lo));
            sums[r] = outside.square_add(sums[r]);
        }
    }
    sums
}

#[inline(always)]
fn walk_on<W: I32x16, const R: usize>(tree: &Tree, sets: usize, party: &mut Party<R>) {
    let Party { x, x_pairs, x_squares, y, seekers, guides, frames, nodes, leaves } = party;
    for seeker in seekers.iter_mut() {
        seeker.limits[..sets].fill(f32::MAX);
        (seeker.bound, seeker.box_bound) = (f32::MAX, f32::MAX);
        seeker.limit = tree.precision.limits(&tree.leaves, seeker.length, seeker.residual);
        seeker.fallen = false;
        seeker.rivals.clear();
        seeker.nearest = [f32::MAX; SETS];
        seeker.best = guides.as_ref().map_or([NOBODY_YET; SETS], |(_, points)| *points);
    }
    if let Some((guides, _)) = guides {
        for block in 0..sets.div_ceil(WIDE) {
            let sums = leaf_distances::<W, R>(guides, block, x, (x_pairs, *x_squares));
            for (seeker, sum) in seekers.iter_mut().zip(sums) {
                let nearest = &mut seeker.nearest.as_chunks_mut::<WIDE>().0[block];
                sum.store(nearest);
                let limits = seeker.limits[..sets].iter_mut().skip(block * WIDE);
                limits.zip(nearest).for_each(|(slot, squared)| *slot = limit_of(seeker.limit, *squared));
            }
        }
        for seeker in seekers.iter_mut() {
            renew::<W>(tree, sets, seeker);
        }
    }
    let top = tree.levels.len() - 1;
    let mut at = top;
    open::<W::Float, R>(tree, at, 0, y, &mut frames[at]);
    *nodes += 1;
    loop {
        if at == 0 {
            *leaves += visit_leaves::<W, R>(tree, sets, &frames[0], x, (x_pairs, *x_squares), seekers);
            if top == 0 {
                return;
            }
            at = 1;
        }
        // The nearest child that some row still needs.
        let frame = &mut frames[at];
        let mut wanted = 0;
        for (bounds, seeker) in frame.bounds.iter().zip(seekers.iter()) {
            wanted |= W::Float::load(bounds).at_most(W::Float::splat(seeker.box_bound));
        }
        frame.left &= wanted;
        if frame.left == 0 {
            if at == top {
                return;
            }
            at += 1;
            continue;
        }
        let nearest = nearest_of(W::Float::load(&frame.sums), frame.left);
        frame.left &= !(1 << nearest);
        let node = frame.node * WIDE + nearest;
        at -= 1;
        open::<W::Float, R>(tree, at, node, y, &mut frames[at]);
        *nodes += 1;
    }
}

/// The nearest of some children, of equal ones the first.
#[inline(always)]
fn nearest_of<V: F32x16>(distances: V, children: u16) -> usize {
    let distances = V::splat(f32::INFINITY).lowered(children, distances);
    let least = folded(distances, f32::min);
    (distances.at_most(V::splat(least)) & children).trailing_zeros() as usize
}

/// All lanes in one.
#[inline(always)]
fn folded<V: F32x16>(values: V, f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; WIDE];
    values.store(&mut lanes);
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] = f(lanes[lane], lanes[lane + half]);
        }
    }
    lanes[0]
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
fn visit_leaves<W: I32x16, const R: usize>(
    tree: &Tree,
    sets: usize,
    frame: &Frame<R>,
    x: &[f32],
    x_whole: (&[i32], [i32; R]),
    seekers: &mut [Seeker; R],
) -> usize {
    let mut wanted = 0;
    for (bounds, seeker) in frame.bounds.iter().zip(seekers.iter()) {
        wanted |= W::Float::load(bounds).at_most(W::Float::splat(seeker.box_bound));
    }
    let visited = wanted.count_ones() as usize;
    let mut bounds = [0.0; R];
    for (slot, seeker) in bounds.iter_mut().zip(seekers.iter()) {
        *slot = seeker.bound;
    }
    while wanted != 0 {
        let leaf = frame.node * WIDE + wanted.trailing_zeros() as usize;
        wanted &= wanted - 1;
        let sums = leaf_distances::<W, R>(&tree.leaves, leaf, x, x_whole);
        // First who is near, for all rows: one guess of the processor instead of one per row.
        let mut near = [0; R];
        let mut rows = 0u32;
        for r in 0..R {
            near[r] = sums[r].at_most(W::Float::splat(bounds[r]));
            rows |= u32::from(near[r] != 0) << r;
        }
        while rows != 0 {
            let r = rows.trailing_zeros() as usize % R;
            rows &= rows - 1;
            let (seeker, sum) = (&mut seekers[r], sums[r]);
            match &tree.members {
                Members::Crowded(members) => meet_all::<W>(sets, seeker, leaf, sum, near[r], members),
                Members::Sparse { starts, lists } => {
                    let lists = &lists[starts[leaf] as usize..starts[leaf + 1] as usize];
                    meet_members(seeker, leaf, sum, lists);
                }
            }
        }
    }
    for seeker in seekers.iter_mut().filter(|seeker| seeker.fallen) {
        seeker.fallen = false;
        renew::<W>(tree, sets, seeker);
    }
    visited
}

/// Finds the largest limit.
#[inline(always)]
fn renew<W: I32x16>(tree: &Tree, sets: usize, seeker: &mut Seeker) {
    let mut most = W::Float::splat(-1.0);
    for limits in &seeker.limits.as_chunks::<WIDE>().0[..sets.div_ceil(WIDE)] {
        most = most.max(W::Float::load(limits));
    }
    let most = folded(most, f32::max);
    if most < seeker.bound {
        seeker.bound = most;
        seeker.box_bound = tree.precision.box_limit(&tree.leaves, most, seeker);
    }
}

/// Squared distances of R rows to the 16 points of a leaf.
#[inline(always)]
fn leaf_distances<W: I32x16, const R: usize>(
    leaves: &Leaves,
    leaf: usize,
    x: &[f32],
    x_whole: (&[i32], [i32; R]),
) -> [W::Float; R] {
    match leaves {
        Leaves::Narrow { d, values } => {
            let columns = values[leaf * WIDE * d..][..WIDE * d].as_chunks::<WIDE>().0;
            let mut sums = [W::Float::splat(0.0); R];
            for (z, x) in columns.iter().zip(x.as_chunks::<R>().0) {
                let z = W::Float::load(z);
                for r in 0..R {
                    sums[r] = W::Float::splat(x[r]).sub(z).square_add(sums[r]);
                }
            }
            sums
        }
        Leaves::Whole { pairs, values, squares, .. } => {
            let columns = values[leaf * WIDE * pairs..][..WIDE * pairs].as_chunks::<WIDE>().0;
            let of_points = W::load(&squares.as_chunks::<WIDE>().0[leaf]);
            let (x_pairs, x_squares) = x_whole;
            // Loops, since what is called by `map` is not compiled for the processor.
            let mut sums = [of_points; R];
            for r in 0..R {
                sums[r] = sums[r].add(W::splat(x_squares[r]));
            }
            for (z, x) in columns.iter().zip(x_pairs.as_chunks::<R>().0) {
                let z = W::load(z);
                for r in 0..R {
                    sums[r] = sums[r].add_products(W::splat(x[r]), z);
                }
            }
            let mut distances = [W::Float::splat(0.0); R];
            for r in 0..R {
                distances[r] = sums[r].to_float();
            }
            distances
        }
    }
}

/// Compares the points of a leaf that are near enough with the limits of all sets.
#[inline(always)]
fn meet_all<W: I32x16>(sets: usize, seeker: &mut Seeker, leaf: usize, sum: W::Float, mut near: u16, members: &[u128]) {
    let mut squared = [0.0; WIDE];
    sum.store(&mut squared);
    // All roots at once, before they are waited for.
    let limits_of = squared.map(|squared| limit_of(seeker.limit, squared));
    while near != 0 {
        let lane = near.trailing_zeros() as usize;
        near &= near - 1;
        let point = leaf * WIDE + lane;
        let Some(&members) = members.get(point) else { return };
        let here = W::Float::splat(squared[lane]);
        // A point that is news to nobody, as most are, costs little more than this.
        let halves = seeker.limits.as_chunks::<WIDE>().0.as_chunks::<CHUNKS>().0;
        let low = sets_within(&halves[0], here) & members as u64;
        let high = if sets > HALF { sets_within(&halves[1], here) & (members >> HALF) as u64 } else { 0 };
        if low | high == 0 {
            continue;
        }
        seeker.fallen = true;
        let limit = W::Float::splat(limits_of[lane]);
        let number = W::splat((point as u32).cast_signed());
        // Whole registers, also those where nothing changes: single numbers would hold up the next read, and branches
        // cost more than they save.
        let limits = seeker.limits.as_chunks_mut::<WIDE>().0.iter_mut();
        let nearest = seeker.nearest.as_chunks_mut::<WIDE>().0.iter_mut();
        let best = seeker.best.as_chunks_mut::<WIDE>().0.iter_mut();
        let mut unsure = [0u16; SETS / WIDE];
        let mut any_unsure = 0;
        for (chunk, ((limits, nearest), best)) in limits.zip(nearest).zip(best).take(sets.div_ceil(WIDE)).enumerate() {
            let lanes = (if chunk < CHUNKS { low } else { high } >> (chunk % CHUNKS * WIDE)) as u16;
            let (before, best_before) = (W::Float::load(nearest), W::load(best));
            let tied = before.at_most(limit);
            W::Float::load(limits).lowered(lanes, limit).store(limits);
            before.lowered(lanes, here).store(nearest);
            best_before.replaced(lanes & !tied, number).store(best);
            unsure[chunk] = lanes & tied & best_before.differs(number);
            any_unsure |= unsure[chunk];
        }
        if any_unsure != 0 {
            for (chunk, mut lanes) in unsure.into_iter().enumerate() {
                while lanes != 0 {
                    seeker.note(chunk * WIDE + lanes.trailing_zeros() as usize, point as u32, squared[lane], false);
                    lanes &= lanes - 1;
                }
            }
        }
    }
}

/// Sets that are compared before the next look, and the registers that their limits fill.
const HALF: usize = u64::BITS as usize;
const CHUNKS: usize = HALF / WIDE;

/// The sets whose limit is no less.
#[inline(always)]
fn sets_within<V: F32x16>(limits: &[[f32; WIDE]; CHUNKS], squared: V) -> u64 {
    let [a, b, c, d] = limits;
    let (a, b) = (squared.at_most(V::load(a)), squared.at_most(V::load(b)));
    let (c, d) = (squared.at_most(V::load(c)), squared.at_most(V::load(d)));
    let (low, high) = (u32::from(a) | u32::from(b) << WIDE, u32::from(c) | u32::from(d) << WIDE);
    u64::from(low) | u64::from(high) << (2 * WIDE)
}

/// Compares the members of a leaf with the limits of their sets, sixteen at a time.
#[inline(always)]
fn meet_members<V: F32x16>(seeker: &mut Seeker, leaf: usize, sum: V, lists: &[[[u8; WIDE]; 2]]) {
    let mut squares = [0.0; WIDE];
    let mut limits = None;
    // A few lists before any limit falls, so that limits are fetched once for all of them.
    for lists in lists.chunks(LISTS) {
        let mut all_within = [0; LISTS];
        for (within, [lanes, sets]) in all_within.iter_mut().zip(lists) {
            *within = sum.pick(lanes).at_most(V::gather(&seeker.limits, sets));
        }
        for (mut within, [lanes, sets]) in all_within.into_iter().zip(lists) {
            while within != 0 {
                // All roots at once take no longer than one.
                let limits = limits.get_or_insert_with(|| {
                    sum.store(&mut squares);
                    squares.map(|squared| limit_of(seeker.limit, squared))
                });
                let at = within.trailing_zeros() as usize;
                within &= within - 1;
                let (lane, set) = (usize::from(lanes[at]) % WIDE, usize::from(sets[at]) % SETS);
                let (squared, limit) = (squares[lane], limits[lane]);
                // Another member of the set may have come before.
                if squared > seeker.limits[set] {
                    continue;
                }
                let before = seeker.nearest[set];
                seeker.limits[set] = seeker.limits[set].min(limit);
                seeker.nearest[set] = before.min(squared);
                seeker.fallen = true;
                seeker.note(set, (leaf * WIDE + lane) as u32, squared, limit < before);
            }
        }
    }
}

/// Lists of members that are compared before any is noted: about those of a leaf.
const LISTS: usize = 4;

/// What a point at a computed squared distance limits its sets to; see [`Precision::limits`].
#[inline(always)]
fn limit_of((scale, more): (f32, f32), squared: f32) -> f32 {
    let most = squared.sqrt() * scale + more;
    (most * most).min(f32::MAX)
}
