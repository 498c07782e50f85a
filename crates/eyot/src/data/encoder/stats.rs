//! What one pass over the training data remembers of each column. Everything here is updated row by row, so batch
//! sizes never matter, and everything but the moments merges exactly.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::hash::{Hash, Hasher};

use super::note::LeftOut;
use crate::data::table::TextColumn;
use crate::data::{Points, PointsBuf};
use crate::rng::RowKeys;

/// Rows in which values are compared to find columns without repetition.
const DISTINCT_ROWS: usize = 65_536;
/// Fewest rows for a column to be taken for an identifier by its values alone.
const FEWEST_ROWS: u64 = 10;
/// Most rows kept for medians.
const MEDIAN_ROWS: usize = 100_000;
/// Most cells kept for medians: 128 MB.
const MEDIAN_CELLS: usize = 1 << 24;

/// Extremes and, if asked for, moments of the values seen (Welford's recurrence, in row order).
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) n: u64,
    pub(super) min: f64,
    pub(super) max: f64,
    mean: f64,
    squares: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Self { n: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 }
    }
}

impl Spread {
    fn add(&mut self, value: f64, moments: bool) {
        self.n += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if moments {
            let difference = value - self.mean;
            self.mean += difference / self.n as f64;
            self.squares += difference * (value - self.mean);
        }
    }

    /// Extremes only: moments of parts do not add up to those of one pass to the last bit.
    fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The same values and `zeros` zeros.
    pub(super) fn with_zeros(mut self, zeros: u64) -> Self {
        if zeros > 0 {
            let (n, all) = (self.n as f64, (self.n + zeros) as f64);
            self.squares += self.mean * self.mean * (n * zeros as f64 / all);
            self.mean *= n / all;
            self.min = self.min.min(0.0);
            self.max = self.max.max(0.0);
            self.n += zeros;
        }
        self
    }

    pub(super) fn range(&self) -> f64 {
        self.max - self.min
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// Of the population; 0 for a constant, whatever the rounding.
    pub(super) fn standard_deviation(&self) -> f64 {
        if self.range() == 0.0 { 0.0 } else { (self.squares / self.n as f64).sqrt() }
    }
}

/// Whether a value has occurred twice among the first rows. Holds hashes, and nothing once it has.
#[derive(Debug, Clone, Default)]
struct Distinct {
    seen: HashSet<u64>,
    repeated: bool,
}

impl Distinct {
    fn add(&mut self, row: usize, hash: impl FnOnce() -> u64) {
        if !self.repeated && row < DISTINCT_ROWS && !self.seen.insert(hash()) {
            *self = Self { seen: HashSet::new(), repeated: true };
        }
    }

    fn merge(&mut self, other: &Self) {
        if self.repeated || other.repeated || !self.seen.is_disjoint(&other.seen) {
            *self = Self { seen: HashSet::new(), repeated: true };
        } else {
            self.seen.extend(&other.seen);
        }
    }
}

/// The earlier of two rows.
fn earlier(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    a.into_iter().chain(b).min()
}

/// Whether a column counts the rows: value − row number is one integer throughout.
#[derive(Debug, Clone, Copy)]
enum RowCount {
    Unknown,
    Offset(f64),
    No,
}

impl RowCount {
    fn of(row: usize, value: f64) -> Self {
        let exact = value.fract() == 0.0 && value.abs() < (1u64 << 53) as f64;
        if exact { Self::Offset(value - row as f64) } else { Self::No }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (Self::Offset(a), Self::Offset(b)) if a == b => self,
            _ => Self::No,
        }
    }
}

/// What is remembered of a number column.
#[derive(Debug, Clone)]
pub(super) struct NumberStats {
    pub(super) spread: Spread,
    /// The first missing cell.
    pub(super) hole: Option<usize>,
    /// The first infinity.
    pub(super) infinite: Option<(usize, f64)>,
    row_count: RowCount,
    integers: bool,
    /// Only for columns named like an identifier.
    distinct: Option<Distinct>,
}

impl NumberStats {
    pub(super) fn new(name: &str) -> Self {
        Self {
            spread: Spread::default(),
            hole: None,
            infinite: None,
            row_count: RowCount::Unknown,
            integers: true,
            distinct: named_like_identifier(name).then(Distinct::default),
        }
    }

    pub(super) fn observe(&mut self, first_row: usize, values: &[f64], moments: bool) {
        for (row, &value) in (first_row..).zip(values) {
            if !value.is_finite() {
                self.row_count = RowCount::No;
                if value.is_nan() {
                    self.hole = earlier(self.hole, Some(row));
                } else if self.infinite.is_none_or(|(first, _)| row < first) {
                    self.infinite = Some((row, value));
                }
                continue;
            }
            let value = value + 0.0; // no negative zero
            self.spread.add(value, moments);
            self.integers &= value.fract() == 0.0;
            if !matches!(self.row_count, RowCount::No) {
                self.row_count = self.row_count.and(RowCount::of(row, value));
            }
            if let Some(distinct) = &mut self.distinct {
                distinct.add(row, || value.to_bits());
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.spread.merge(&other.spread);
        self.hole = earlier(self.hole, other.hole);
        self.infinite = match (self.infinite, other.infinite) {
            (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
            (a, b) => a.or(b),
        };
        self.row_count = self.row_count.and(other.row_count);
        self.integers &= other.integers;
        if let (Some(mine), Some(others)) = (&mut self.distinct, &other.distinct) {
            mine.merge(others);
        }
    }

    pub(super) fn left_out(&self) -> Option<LeftOut> {
        if self.infinite.is_some() {
            return None;
        }
        let distinct = self.integers && self.distinct.as_ref().is_some_and(|distinct| !distinct.repeated);
        let counts_rows = matches!(self.row_count, RowCount::Offset(_));
        match self.spread.n {
            0 => Some(LeftOut::Empty),
            FEWEST_ROWS.. if counts_rows => Some(LeftOut::Consecutive),
            2.. if distinct => Some(LeftOut::NamedIdentifier),
            _ => None,
        }
    }
}

/// What is remembered of a text column.
#[derive(Debug, Clone)]
pub(super) struct TextStats {
    /// The first missing cell.
    pub(super) hole: Option<usize>,
    n: u64,
    /// Rows per level; `None` once there are too many.
    levels: Option<BTreeMap<String, u64>>,
    distinct: Distinct,
    named: bool,
}

impl TextStats {
    pub(super) fn new(name: &str) -> Self {
        Self {
            hole: None,
            n: 0,
            levels: Some(BTreeMap::new()),
            distinct: Distinct::default(),
            named: named_like_identifier(name),
        }
    }

    pub(super) fn observe(&mut self, first_row: usize, text: &TextColumn, max_levels: usize) {
        let mut counts = vec![0u64; text.levels.len()];
        for (row, &code) in (first_row..).zip(&text.codes) {
            if code == TextColumn::MISSING {
                self.hole = earlier(self.hole, Some(row));
            } else {
                counts[code as usize] += 1;
                self.distinct.add(row, || hash_of(&text.levels[code as usize]));
            }
        }
        for (level, count) in text.levels.iter().zip(counts).filter(|(_, count)| *count > 0) {
            self.count(level, count, max_levels);
        }
    }

    fn count(&mut self, level: &str, count: u64, max_levels: usize) {
        self.n += count;
        let Some(levels) = &mut self.levels else { return };
        if let Some(known) = levels.get_mut(level) {
            *known += count;
        } else if levels.len() < max_levels {
            levels.insert(level.to_owned(), count);
        } else {
            self.levels = None;
        }
    }

    pub(super) fn merge(&mut self, other: &Self, max_levels: usize) {
        self.hole = earlier(self.hole, other.hole);
        self.distinct.merge(&other.distinct);
        if let Some(levels) = &other.levels {
            for (level, &count) in levels {
                self.count(level, count, max_levels);
            }
        } else {
            self.n += other.n;
            self.levels = None;
        }
    }

    pub(super) fn left_out(&self) -> Option<LeftOut> {
        let distinct =
            !self.distinct.repeated && self.levels.as_ref().is_none_or(|levels| levels.len() as u64 == self.n);
        match (&self.levels, self.n) {
            (_, 0) => Some(LeftOut::Empty),
            (_, FEWEST_ROWS..) if distinct => Some(LeftOut::Distinct),
            (_, 2..) if distinct && self.named => Some(LeftOut::NamedIdentifier),
            (None, _) => Some(LeftOut::ManyLevels),
            _ => None,
        }
    }

    /// The levels in order, and which is the most frequent (the first of equals).
    pub(super) fn into_levels(self) -> (Vec<String>, u32) {
        let levels = self.levels.unwrap_or_default();
        let most = levels.values().max().copied();
        let first = levels.values().position(|&count| Some(count) == most).unwrap_or(0);
        (levels.into_keys().collect(), first as u32)
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// `id`, `user_id`, `userId`, `index`, `Unnamed: 0` and the like.
fn named_like_identifier(name: &str) -> bool {
    const NAMES: [&str; 11] =
        ["", "id", "uuid", "guid", "index", "idx", "row", "rowid", "rownum", "row_number", "unnamed: 0"];
    let name = name.trim();
    let lower = name.to_lowercase();
    let camel = name.strip_suffix("Id").or_else(|| name.strip_suffix("ID")).unwrap_or("");
    NAMES.contains(&lower.as_str())
        || ["_id", "-id", ".id", " id", "_uuid", "_guid"].iter().any(|suffix| lower.ends_with(suffix))
        || camel.ends_with(char::is_lowercase)
}

/// What is remembered of the sparse columns; memory goes with the columns that have an entry, not with the width.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseStats {
    pub(super) width: usize,
    columns: HashMap<u32, Spread>,
}

impl SparseStats {
    pub(super) fn observe(&mut self, block: &PointsBuf, moments: bool) {
        let points: Points<'_> = block.as_points();
        self.width = self.width.max(points.n_columns());
        for (column, value) in points.rows().flat_map(crate::data::Row::nonzeros) {
            self.columns.entry(column as u32).or_default().add(value, moments);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.width = self.width.max(other.width);
        other.columns.iter().for_each(|(&column, spread)| self.columns.entry(column).or_default().merge(spread));
    }

    /// The columns that have an entry, ascending.
    pub(super) fn into_columns(self) -> Vec<(u32, Spread)> {
        let mut columns: Vec<_> = self.columns.into_iter().collect();
        columns.sort_unstable_by_key(|&(column, _)| column);
        columns
    }
}

/// The rows of smallest key, for medians: a uniform sample that neither batches nor shards change.
#[derive(Debug, Clone)]
pub(super) struct RowSample {
    keys: RowKeys,
    capacity: usize,
    /// Key and slot of each row kept, the largest key on top.
    kept: BinaryHeap<(u64, u32)>,
    /// By column, the values of the slots.
    columns: Vec<Vec<f64>>,
}

impl RowSample {
    pub(super) fn new(n_columns: usize) -> Self {
        let capacity = MEDIAN_ROWS.min((MEDIAN_CELLS / n_columns.max(1)).max(1000));
        // The last stream, which no partitioning uses.
        let keys = RowKeys::new(0, u64::MAX);
        Self { keys, capacity, kept: BinaryHeap::new(), columns: vec![Vec::new(); n_columns] }
    }

    /// Takes a batch; a column without numbers is `None`.
    pub(super) fn observe(&mut self, first_row: usize, n_rows: usize, columns: &[Option<&[f64]>]) {
        let keys = self.keys;
        let chosen = self.choose((0..n_rows).map(|i| keys.key((first_row + i) as u64)));
        for (kept, values) in self.columns.iter_mut().zip(columns) {
            put(kept, &chosen, |i| values.map_or(f64::NAN, |values| values[i]));
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let mut slots = vec![0; other.kept.len()];
        other.kept.iter().for_each(|&(key, slot)| slots[slot as usize] = key);
        let chosen = self.choose(slots.into_iter());
        for (kept, others) in self.columns.iter_mut().zip(&other.columns) {
            put(kept, &chosen, |i| others[i]);
        }
    }

    /// Which of the offered rows enter, and into which slot.
    fn choose(&mut self, keys: impl Iterator<Item = u64>) -> Vec<(usize, u32)> {
        let mut chosen = Vec::new();
        for (i, key) in keys.enumerate() {
            let slot = if self.kept.len() < self.capacity {
                self.kept.len() as u32
            } else if self.kept.peek().is_some_and(|&(largest, _)| key < largest) {
                self.kept.pop().expect("there is a largest key").1
            } else {
                continue;
            };
            self.kept.push((key, slot));
            chosen.push((i, slot));
        }
        chosen
    }

    /// The median of the values of a column that are finite; of an even number, the middle of the middle two.
    pub(super) fn median(&mut self, column: usize) -> Option<f64> {
        let values = &mut self.columns[column];
        values.retain(|value| value.is_finite());
        values.sort_unstable_by(f64::total_cmp);
        let (upper, lower) = (*values.get(values.len() / 2)?, values[(values.len() - 1) / 2]);
        Some(lower + (upper - lower) / 2.0)
    }
}

fn put(kept: &mut Vec<f64>, chosen: &[(usize, u32)], value: impl Fn(usize) -> f64) {
    for &(i, slot) in chosen {
        match kept.get_mut(slot as usize) {
            Some(place) => *place = value(i),
            None => kept.push(value(i)),
        }
    }
}
