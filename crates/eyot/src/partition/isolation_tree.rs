//! Isolation trees: cut at a random place of a random column until every sampled row is alone. A cell is a leaf.
//!
//! The column is drawn among those that are not constant in the node, and the cut uniformly between the smallest and
//! largest value there, so both sides keep a row. There is no height limit unless one is asked for. Sparse rows follow
//! the same rule exactly: a column counts as soon as one row has an entry in it, absent entries being 0.
//! Cost: building O(entries in the node) per node, of sparse rows O(entries · log ψ) in all but for logarithms; finding a
//! leaf O(depth).

use std::hint::select_unpredictable;
use std::ops::Range;

use super::varying::{Part, SparseRows};
use crate::data::{Points, Real, Row, Values};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, bad_part, expect_len};
use crate::partition::Cell;
use crate::rng::Rng;

/// One tree. Nodes lie in depth-first order, left child first, so the left child is the next node.
#[derive(Debug, Clone, PartialEq)]
pub struct IsolationTree {
    nodes: Vec<Node>,
    /// Per leaf its depth and the number of sampled rows in it.
    leaves: Vec<Leaf>,
    /// The nodes once more, made for descending; none where there are too many nodes or columns.
    steps: Vec<Step>,
}

/// A node in eight bytes. A leaf leads to itself, so that no step needs to ask.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    /// The [`rank`] of the threshold. Rounding keeps the order, so only equal ranks leave open where a row goes.
    threshold: i32,
    column: u16,
    right: u16,
}

/// A whole number in the order of numbers rounded to `f32`.
fn rank(value: f64) -> i32 {
    // Adding 0 makes one of both zeros.
    let bits = (value as f32 + 0.0).to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    /// x < threshold goes left.
    threshold: f64,
    /// [`Node::LEAF`] in a leaf.
    column: u32,
    /// The right child; in a leaf its number.
    right: u32,
}

impl Node {
    const LEAF: u32 = u32::MAX;
}

/// Descents side by side, of rows or in trees. Each step waits for the one before, so one row alone leaves the processor idle:
/// eight take a quarter of the time of eight in turn.
const ABREAST: usize = 8;

/// Columns up to which a single row descends in several trees at a time.
const FEW_COLUMNS: usize = 64;

/// What is known of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Cuts on the way from the root.
    pub depth: u32,
    /// Sampled rows that ended here: more than one if they are equal, or the height limit was reached.
    pub size: u32,
}

/// A column that varies within a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) column: u32,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl IsolationTree {
    /// Grows a tree on the rows `members` of `points`.
    pub(crate) fn grow(points: Points<'_>, members: &[u32], max_height: Option<u32>, rng: &mut Rng) -> Self {
        if points.is_sparse() {
            let (rows, all) = SparseRows::new(points, members);
            Self::grow_on(rows, all, max_height, rng)
        } else {
            let (rows, all) = DenseRows::new(points, members);
            Self::grow_on(rows, all, max_height, rng)
        }
    }

    fn grow_on<G: Growing>(mut rows: G, all: G::Part, max_height: Option<u32>, rng: &mut Rng) -> Self {
        let n = G::len(&all);
        let (mut nodes, mut leaves) = (Vec::with_capacity(2 * n), Vec::with_capacity(n));
        // (rows, depth, the node whose right child this is); the left side is pushed last, hence grown first.
        let mut todo = vec![(all, 0, None)];
        while let Some((mut part, depth, parent)) = todo.pop() {
            let number = nodes.len() as u32;
            if let Some(parent) = parent {
                let parent: &mut Node = &mut nodes[parent as usize];
                parent.right = number;
            }
            let capped = max_height.is_some_and(|height| depth >= height);
            let drawn = if G::len(&part) == 1 || capped { None } else { rows.draw(&mut part, rng) };
            let Some(Spread { column, min, max }) = drawn else {
                nodes.push(Node { threshold: 0.0, column: Node::LEAF, right: leaves.len() as u32 });
                leaves.push(Leaf { depth, size: G::len(&part) as u32 });
                continue;
            };
            let threshold = cut(min, max, rng.open01());
            let [left, right] = rows.split(part, column, threshold);
            nodes.push(Node { threshold, column, right: 0 });
            todo.push((right, depth + 1, Some(number)));
            todo.push((left, depth + 1, None));
        }
        Self::new(nodes, leaves)
    }

    fn new(nodes: Vec<Node>, leaves: Vec<Leaf>) -> Self {
        let step = |(at, node): (usize, &Node)| match node.column {
            // Nothing ranks below the lowest number: the right child it is, which is the leaf itself.
            Node::LEAF => Step { threshold: i32::MIN, column: 0, right: at as u16 },
            column => Step { threshold: rank(node.threshold), column: column as u16, right: node.right as u16 },
        };
        let most = usize::from(u16::MAX);
        let small = |node: &Node| node.column == Node::LEAF || node.column as usize <= most;
        let fits = nodes.len() <= most && nodes.iter().all(small);
        let steps = if fits { nodes.iter().enumerate().map(step).collect() } else { Vec::new() };
        Self { nodes, leaves, steps }
    }

    /// Calls `put(row, cell)` for every row of a dense table; `tiles` are the ranks of its values, column by column
    /// within [`ABREAST`] rows.
    fn dense_cells(&self, points: Points<'_>, tiles: &[[i32; ABREAST]], mut put: impl FnMut(usize, Cell)) {
        let tiles = if self.steps.is_empty() { &[] } else { tiles };
        let mut done = 0;
        for tile in tiles.chunks_exact(points.n_columns()) {
            let (at, open) = descend_abreast(&[self.steps.as_slice(); ABREAST], |lane, column| tile[column][lane]);
            for (row, &at) in (done..).zip(&at) {
                put(row, if open { self.cell_of(points.row(row)) } else { self.nodes[at as usize].right });
            }
            done += ABREAST;
        }
        (done..points.n_rows()).for_each(|row| put(row, self.cell_of(points.row(row))));
    }

    /// The leaf of a row.
    #[inline]
    pub fn cell_of(&self, row: Row<'_>) -> Cell {
        match row {
            Row::F32(values) => self.descend(|column| f64::from(values[column])),
            Row::F64(values) => self.descend(|column| values[column]),
            Row::Sparse(_) => self.descend(|column| row.get(column)),
        }
    }

    #[inline]
    fn descend(&self, value: impl Fn(usize) -> f64) -> Cell {
        let mut at = 0;
        loop {
            let node = &self.nodes[at];
            if node.column == Node::LEAF {
                return node.right;
            }
            at = if value(node.column as usize) < node.threshold { at + 1 } else { node.right as usize };
        }
    }

    /// All cuts, every one after the one above it, level by level.
    pub(super) fn cuts(&self) -> Vec<Cut> {
        // Of every node the leaves before it; leaves are numbered in the order of the nodes.
        let is_leaf = |node: &Node| u32::from(node.column == Node::LEAF);
        let before: Vec<u32> =
            self.nodes.iter().scan(0, |sum, node| Some(std::mem::replace(sum, *sum + is_leaf(node)))).collect();
        let mut order: Vec<usize> = Vec::with_capacity(self.nodes.len() / 2);
        let is_cut = |&at: &usize| self.nodes[at].column != Node::LEAF;
        order.extend(Some(0).filter(is_cut));
        let mut cuts = Vec::with_capacity(self.nodes.len() / 2);
        while let Some(&at) = order.get(cuts.len()) {
            let node = &self.nodes[at];
            let right = node.right as usize;
            let mut next = |child: usize| {
                let number = order.len();
                is_cut(&child).then(|| order.push(child)).map(|()| number)
            };
            let next = [next(at + 1), next(right)];
            let left = before[right] - before[at];
            cuts.push(Cut { column: node.column as usize, threshold: node.threshold, left, next });
        }
        cuts
    }

    /// What is known of the leaves, by number.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }
}

/// A cut of a tree.
pub(super) struct Cut {
    pub(super) column: usize,
    pub(super) threshold: f64,
    /// Leaves on its left.
    pub(super) left: u32,
    /// The cuts below it on the left and on the right, as numbered from the root on; none where a leaf is.
    pub(super) next: [Option<usize>; 2],
}

/// Calls `put(row, i, cell)` for every row and tree.
pub(super) fn cells_of_trees(trees: &[IsolationTree], points: Points<'_>, mut put: impl FnMut(usize, usize, Cell)) {
    if points.is_sparse() || points.n_rows() < ABREAST {
        for (row, x) in points.rows().enumerate() {
            cells_of_row(trees, x, |i, cell| put(row, i, cell));
        }
        return;
    }
    let tiles = match points.values() {
        Values::F32(values) => tiles_of(values, points.n_columns()),
        Values::F64(values) => tiles_of(values, points.n_columns()),
        Values::Sparse { .. } => unreachable!("sparse rows go one by one"),
    };
    for (i, tree) in trees.iter().enumerate() {
        tree.dense_cells(points, &tiles, |row, cell| put(row, i, cell));
    }
}

/// The cells of one row: dense, it descends in [`ABREAST`] trees at a time.
fn cells_of_row(trees: &[IsolationTree], x: Row<'_>, mut put: impl FnMut(usize, Cell)) {
    let columns = match x {
        Row::F32(values) => values.len(),
        Row::F64(values) => values.len(),
        Row::Sparse(_) => usize::MAX,
    };
    let mut first = 0;
    if columns <= FEW_COLUMNS {
        let ranks: [i32; FEW_COLUMNS] =
            std::array::from_fn(|column| if column < columns { rank(x.get(column)) } else { 0 });
        for trees in trees.as_chunks::<ABREAST>().0 {
            if trees.iter().any(|tree| tree.steps.is_empty()) {
                break;
            }
            let (at, open) =
                descend_abreast(&trees.each_ref().map(|tree| tree.steps.as_slice()), |_, column| ranks[column]);
            for (seat, (tree, at)) in trees.iter().zip(at).enumerate() {
                put(first + seat, if open { tree.cell_of(x) } else { tree.nodes[at as usize].right });
            }
            first += ABREAST;
        }
    }
    for (i, tree) in trees.iter().enumerate().skip(first) {
        put(i, tree.cell_of(x));
    }
}

/// The leaves of [`ABREAST`] descents; `rank(seat, column)` is that of a value. Also returns whether a rank was equal to
/// that of a threshold, so that rounding may have gone astray.
#[inline]
fn descend_abreast(steps: &[&[Step]; ABREAST], rank: impl Fn(usize, usize) -> i32) -> ([u32; ABREAST], bool) {
    let mut at = [0u32; ABREAST];
    let mut open = false;
    loop {
        let mut moved = 0;
        for (seat, (at, steps)) in at.iter_mut().zip(steps).enumerate() {
            let step = steps[*at as usize];
            let value = rank(seat, usize::from(step.column));
            open |= value == step.threshold;
            let next = select_unpredictable(value < step.threshold, *at + 1, u32::from(step.right));
            moved |= next ^ *at;
            *at = next;
        }
        if moved == 0 {
            return (at, open);
        }
    }
}

/// Ranks of whole groups of rows, column by column within a group.
fn tiles_of<F: Real>(values: &[F], columns: usize) -> Vec<[i32; ABREAST]> {
    let groups = values.chunks_exact(ABREAST * columns);
    let column = |group: &[F], column: usize| std::array::from_fn(|lane| rank(group[lane * columns + column].into()));
    groups.flat_map(|group| (0..columns).map(move |k| column(group, k))).collect()
}

/// Puts trees into a model file, one after another.
pub(super) fn save_trees(trees: &[IsolationTree], out: &mut ModelWriter, prefix: &str) {
    let nodes = || trees.iter().flat_map(|tree| &tree.nodes);
    let leaves = || trees.iter().flat_map(|tree| &tree.leaves);
    let sizes: Vec<u32> = trees.iter().map(|tree| tree.nodes.len() as u32).collect();
    out.put_u32(&format!("{prefix}.tree_sizes"), &sizes);
    out.put_f64(&format!("{prefix}.thresholds"), &nodes().map(|node| node.threshold).collect::<Vec<_>>());
    out.put_u32(&format!("{prefix}.columns"), &nodes().map(|node| node.column).collect::<Vec<_>>());
    out.put_u32(&format!("{prefix}.right"), &nodes().map(|node| node.right).collect::<Vec<_>>());
    out.put_u32(&format!("{prefix}.leaf_sizes"), &leaves().map(|leaf| leaf.size).collect::<Vec<_>>());
}

/// Takes back `t` trees of at most `psi` leaves on `columns` columns, refusing nodes that no growth could make: children
/// must come after their parent and inside the tree, so that every descent ends.
pub(super) fn load_trees(
    from: &ModelReader<'_>,
    prefix: &str,
    t: usize,
    psi: usize,
    columns: usize,
) -> Result<Vec<IsolationTree>> {
    let name = format!("{prefix}.tree_sizes");
    let sizes = expect_len(&name, from.u32s(&name)?, t)?;
    let total = sizes.iter().map(|&size| size as usize).sum();
    let threshold_name = format!("{prefix}.thresholds");
    let thresholds = from.finite_f64s(&threshold_name, total)?;
    let column_name = format!("{prefix}.columns");
    let split_columns = expect_len(&column_name, from.u32s(&column_name)?, total)?;
    let right_name = format!("{prefix}.right");
    let rights = expect_len(&right_name, from.u32s(&right_name)?, total)?;
    let leaf_name = format!("{prefix}.leaf_sizes");
    let leaf_sizes = from.u32s(&leaf_name)?;
    let (mut first, mut first_leaf) = (0, 0);
    let mut trees = Vec::with_capacity(t);
    for &size in &sizes {
        let range = first..first + size as usize;
        first = range.end;
        let nodes: Vec<Node> =
            range.map(|at| Node { threshold: thresholds[at], column: split_columns[at], right: rights[at] }).collect();
        let depths = leaf_depths(&nodes, columns).ok_or_else(|| bad_part(&right_name, "a tree is malformed"))?;
        let sizes = leaf_sizes.get(first_leaf..first_leaf + depths.len());
        let sizes =
            sizes.filter(|_| depths.len() <= psi).ok_or_else(|| bad_part(&leaf_name, "the leaves do not fit"))?;
        first_leaf += depths.len();
        let leaves = depths.into_iter().zip(sizes).map(|(depth, &size)| Leaf { depth, size }).collect();
        trees.push(IsolationTree::new(nodes, leaves));
    }
    Ok(trees)
}

/// Walks a tree in the order of its nodes; the depths of its leaves, or `None` if it is not what `grow` makes.
fn leaf_depths(nodes: &[Node], columns: usize) -> Option<Vec<u32>> {
    let mut depths = Vec::new();
    // Right children still to come, with their depths; the node itself must be the next one in order.
    let mut todo = vec![(0u32, 0u32)];
    let mut depth = 0;
    let mut left = false;
    for (at, node) in nodes.iter().enumerate() {
        if !left {
            let (expected, its_depth) = todo.pop()?;
            if expected as usize != at {
                return None;
            }
            depth = its_depth;
        }
        left = node.column != Node::LEAF;
        if left {
            if node.column as usize >= columns {
                return None;
            }
            depth += 1;
            todo.push((node.right, depth));
        } else {
            if node.right as usize != depths.len() {
                return None;
            }
            depths.push(depth);
        }
    }
    (todo.is_empty() && !left).then_some(depths)
}

/// A place between min (exclusive) and max (inclusive), whatever rounding and overflow do.
fn cut(min: f64, max: f64, u: f64) -> f64 {
    let threshold = min + u * (max - min);
    if threshold > min && threshold <= max { threshold } else { max }
}

/// Dense rows of a sample, those of a node side by side.
struct DenseRows<'a> {
    points: Points<'a>,
    rows: Vec<u32>,
    /// Ends of every column, and those of the columns that vary: room that is used from node to node.
    min: Vec<f64>,
    max: Vec<f64>,
    found: Vec<Spread>,
}

impl<'a> DenseRows<'a> {
    /// The rows `members` of dense points, and where all of them are.
    fn new(points: Points<'a>, members: &[u32]) -> (Self, Range<usize>) {
        let (min, max) = (vec![0.0; points.n_columns()], vec![0.0; points.n_columns()]);
        (Self { points, rows: members.to_vec(), min, max, found: Vec::new() }, 0..members.len())
    }
}

/// Rows of which every node has a part.
trait Growing {
    type Part;
    fn len(part: &Self::Part) -> usize;
    /// One of the columns that vary within a part, at random; none if all rows are equal.
    fn draw(&mut self, part: &mut Self::Part, rng: &mut Rng) -> Option<Spread>;
    /// The rows below the threshold of a column that was drawn, and the others.
    fn split(&mut self, part: Self::Part, column: u32, threshold: f64) -> [Self::Part; 2];
}

impl Growing for DenseRows<'_> {
    type Part = Range<usize>;

    fn len(part: &Range<usize>) -> usize {
        part.len()
    }

    fn draw(&mut self, part: &mut Range<usize>, rng: &mut Rng) -> Option<Spread> {
        self.min.fill(f64::INFINITY);
        self.max.fill(f64::NEG_INFINITY);
        for &row in &self.rows[part.clone()] {
            let ends = self.min.iter_mut().zip(&mut self.max);
            match self.points.row(row as usize) {
                Row::F32(values) => widen_ends(ends, values.iter().map(|&value| f64::from(value))),
                Row::F64(values) => widen_ends(ends, values.iter().copied()),
                Row::Sparse(_) => unreachable!("a dense table has dense rows"),
            }
        }
        self.found.clear();
        for (column, (&min, &max)) in self.min.iter().zip(&self.max).enumerate() {
            if min < max {
                self.found.push(Spread { column: column as u32, min, max });
            }
        }
        if self.found.is_empty() { None } else { Some(self.found[rng.below(self.found.len())]) }
    }

    fn split(&mut self, part: Range<usize>, column: u32, threshold: f64) -> [Range<usize>; 2] {
        let mut middle = part.start;
        for at in part.clone() {
            if self.points.row(self.rows[at] as usize).get(column as usize) < threshold {
                self.rows.swap(at, middle);
                middle += 1;
            }
        }
        [part.start..middle, middle..part.end]
    }
}

impl Growing for SparseRows<'_> {
    type Part = Part;

    fn len(part: &Part) -> usize {
        part.len()
    }

    fn draw(&mut self, part: &mut Part, rng: &mut Rng) -> Option<Spread> {
        SparseRows::draw(self, part, rng)
    }

    fn split(&mut self, part: Part, column: u32, threshold: f64) -> [Part; 2] {
        SparseRows::split(self, part, column, threshold)
    }
}

fn widen_ends<'e>(ends: impl Iterator<Item = (&'e mut f64, &'e mut f64)>, values: impl Iterator<Item = f64>) {
    for ((min, max), value) in ends.zip(values) {
        *min = if value < *min { value } else { *min };
        *max = if value > *max { value } else { *max };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    fn grow(points: &PointsBuf, max_height: Option<u32>, i: u64) -> IsolationTree {
        let members: Vec<u32> = (0..points.n_rows() as u32).collect();
        IsolationTree::grow(points.as_points(), &members, max_height, &mut rng_of(0, Component::Tree, i))
    }

    fn noise(n: usize, d: usize) -> PointsBuf {
        let mut rng = rng_of(1, Component::Synthetic, 0);
        PointsBuf::from_dense((0..n * d).map(|_| rng.normal()).collect(), d).unwrap()
    }

    #[test]
    fn every_distinct_row_is_alone_in_its_leaf() {
        let points = noise(100, 3);
        for i in 0..20 {
            let tree = grow(&points, None, i);
            let mut cells: Vec<Cell> = points.as_points().rows().map(|row| tree.cell_of(row)).collect();
            cells.sort_unstable();
            assert_eq!(cells, (0..100).collect::<Vec<_>>());
            assert!(tree.leaves().iter().all(|leaf| leaf.size == 1));
        }
    }

    #[test]
    fn leaves_are_numbered_from_left_to_right() {
        let points = PointsBuf::from_rows(&[[3.0], [1.0], [2.0]]).unwrap();
        for i in 0..10 {
            let tree = grow(&points, None, i);
            let cells: Vec<Cell> = points.as_points().rows().map(|row| tree.cell_of(row)).collect();
            assert_eq!(cells, [2, 0, 1]);
        }
    }

    #[test]
    fn rows_abreast_end_where_each_ends_alone() {
        // Noise, and numbers that only `f64` tells apart, so that cuts round to the values beside them.
        let mut close = PointsBuf::dense(3);
        for row in noise(101, 3).as_points().rows() {
            close.push(Row::F64(&[1.0 + 1e-9 * row.get(0), 1e9 + row.get(1), 1e300 * row.get(2)]));
        }
        let many = noise(101, 3);
        let few = many.as_points().slice(0..5);
        let trees: Vec<IsolationTree> = (0..21).map(|i| grow(&many, None, i)).collect();
        cells_of_trees(&trees, few, |row, i, cell| assert_eq!(cell, trees[i].cell_of(few.row(row))));
        for points in [noise(101, 3), close] {
            let mut single = PointsBuf::dense_f32(3);
            noise(101, 3).as_points().rows().for_each(|row| single.push(row));
            let trees: Vec<IsolationTree> = (0..10).map(|i| grow(&points, None, i)).collect();
            for points in [&points, &single] {
                let mut seen = 0;
                cells_of_trees(&trees, points.as_points(), |row, i, cell| {
                    assert_eq!(cell, trees[i].cell_of(points.row(row)));
                    seen += 1;
                });
                assert_eq!(seen, 10 * 101);
            }
        }
    }

    #[test]
    fn equal_rows_share_a_leaf() {
        let points = PointsBuf::from_rows(&[[1.0, 2.0], [1.0, 2.0], [5.0, 2.0]]).unwrap();
        let tree = grow(&points, None, 0);
        assert_eq!(tree.leaves(), [Leaf { depth: 1, size: 2 }, Leaf { depth: 1, size: 1 }]);
    }

    #[test]
    fn a_height_limit_leaves_rows_together() {
        let tree = grow(&noise(100, 2), Some(3), 0);
        assert!(tree.leaves().iter().all(|leaf| leaf.depth <= 3) && tree.leaves().len() <= 8);
        assert_eq!(tree.leaves().iter().map(|leaf| leaf.size).sum::<u32>(), 100);
    }

    #[test]
    fn sparse_and_dense_storage_grow_the_same_tree() {
        let mut rng = rng_of(4, Component::Synthetic, 0);
        let values = (0..60 * 30).map(|_| if rng.below(5) == 0 { rng.normal() } else { 0.0 }).collect();
        let dense = PointsBuf::from_dense(values, 30).unwrap();
        let mut sparse = PointsBuf::sparse(30);
        dense.as_points().rows().for_each(|row| sparse.push(row));
        for i in 0..20 {
            let (a, b) = (grow(&dense, None, i), grow(&sparse, None, i));
            assert_eq!(a, b);
            for row in 0..60 {
                assert_eq!(a.cell_of(dense.row(row)), a.cell_of(sparse.row(row)));
            }
        }
    }

    #[test]
    fn malformed_trees_are_not_loaded() {
        let tree = grow(&noise(20, 3), None, 0);
        assert_eq!(leaf_depths(&tree.nodes, 3).unwrap(), tree.leaves.iter().map(|leaf| leaf.depth).collect::<Vec<_>>());
        assert!(leaf_depths(&[], 3).is_none());
        assert!(leaf_depths(&tree.nodes[..tree.nodes.len() - 1], 3).is_none());
        for at in 0..tree.nodes.len() {
            let mut nodes = tree.nodes.clone();
            nodes[at].right ^= 1;
            assert!(leaf_depths(&nodes, 3).is_none());
            let mut nodes = tree.nodes.clone();
            nodes[at].column = if nodes[at].column == Node::LEAF { 0 } else { 3 };
            assert!(leaf_depths(&nodes, 3).is_none());
        }
    }

    #[test]
    fn cuts_survive_rounding_and_overflow() {
        assert_eq!(cut(1.0, 1.0 + f64::EPSILON, 0.01), 1.0 + f64::EPSILON);
        assert_eq!(cut(-1e308, 1e308, 0.5), 1e308);
        let points = PointsBuf::from_rows(&[[-1e308], [1e308], [0.0], [5e-324]]).unwrap();
        for i in 0..20 {
            assert_eq!(grow(&points, None, i).leaves().len(), 4);
        }
    }
}
