//! The columns that vary among sparse rows, kept up to date while rows leave.
//!
//! A cut through a column that few rows have leaves one or two of them alone, so that trees on sparse rows are deep and
//! most nodes are nearly as large as the one above. Counting every node anew would cost ψ times the entries. Here the
//! larger side of a cut keeps what is known and forgets the rows that leave; only the smaller side is counted anew. A row
//! is on the smaller side log₂ ψ times at the most.

use super::isolation_tree::Spread;
use crate::data::{Points, Row, SparseRow};
use crate::rng::Rng;

/// Sparse rows, and the part each of them is in now.
pub(super) struct SparseRows<'a> {
    rows: Vec<SparseRow<'a>>,
    part_of: Vec<u32>,
    /// How many parts there have been.
    n_parts: u32,
}

/// The rows of one node.
pub(super) struct Part {
    number: u32,
    /// Rows of the part, and perhaps some that have left.
    rows: Vec<u32>,
    /// How many have not left.
    n: usize,
    /// Made when it is asked for: a single row needs nothing.
    counts: Option<Counts>,
}

/// What is known of the columns of a part.
struct Counts {
    /// The columns that occur, ascending; lists below have one place for each.
    columns: Vec<u32>,
    /// Values and their rows by column, ascending, some of rows that have left.
    entries: Vec<(f64, u32)>,
    /// The entries of each column; first and last are of rows that have not left.
    window: Vec<(u32, u32)>,
    /// Rows of the part that have an entry.
    count: Vec<u32>,
    varies: Vec<bool>,
    /// Sums of `varies` over runs of places, as a Fenwick tree has them: place i ends a run as long as its lowest bit.
    sums: Vec<u32>,
    /// How many vary.
    total: usize,
    /// Columns that had so many entries at some time: when the rows become as few, none has the value 0 by absence.
    with_count: Vec<Vec<u32>>,
}

impl<'a> SparseRows<'a> {
    /// The rows `members` of sparse points, and all of them as a part.
    pub(super) fn new(points: Points<'a>, members: &[u32]) -> (Self, Part) {
        let sparse = |&row: &u32| match points.row(row as usize) {
            Row::Sparse(row) => row,
            _ => unreachable!("a sparse table has sparse rows"),
        };
        let rows: Vec<SparseRow<'a>> = members.iter().map(sparse).collect();
        let n = rows.len();
        let all = Part { number: 0, rows: (0..n as u32).collect(), n, counts: None };
        (Self { part_of: vec![0; n], rows, n_parts: 1 }, all)
    }

    fn is_in(&self, row: u32, part: u32) -> bool {
        self.part_of[row as usize] == part
    }

    /// One of the varying columns at random; none if all rows are equal.
    pub(super) fn draw(&self, part: &mut Part, rng: &mut Rng) -> Option<Spread> {
        let counts = part.counts.get_or_insert_with(|| Counts::new(&self.rows, &part.rows));
        if counts.total == 0 {
            return None;
        }
        let at = counts.nth(rng.below(counts.total));
        let (min, max) = counts.ends(at, part.n);
        Some(Spread { column: counts.columns[at], min, max })
    }

    /// The rows below the threshold, and the others. The column must have been drawn and the threshold lie above its
    /// minimum and not above its maximum.
    pub(super) fn split(&mut self, mut part: Part, column: u32, threshold: f64) -> [Part; 2] {
        let mut counts = part.counts.take().expect("a column of it was drawn");
        // Rows without an entry stay; those with an entry on the other side go.
        let zeros_go_left = 0.0 < threshold;
        let number = self.n_parts;
        self.n_parts += 1;
        let at = counts.place_of(column, 0);
        let gone: Vec<u32> = counts
            .entries_of(at, |row| self.is_in(row, part.number))
            .filter(|(value, _)| (*value < threshold) != zeros_go_left)
            .map(|&(_, row)| row)
            .collect();
        for &row in &gone {
            self.part_of[row as usize] = number;
        }
        // The larger side keeps what is known.
        let few = if gone.len() <= part.n - gone.len() {
            Part { number, n: gone.len(), rows: gone, counts: None }
        } else {
            let stayed: Vec<u32> = part.rows.iter().copied().filter(|&row| self.is_in(row, part.number)).collect();
            let few = Part { number: part.number, n: stayed.len(), rows: stayed, counts: None };
            (part.number, part.rows) = (number, gone);
            few
        };
        part.n -= few.n;
        let left: Vec<SparseRow<'_>> = few.rows.iter().map(|&row| self.rows[row as usize]).collect();
        counts.forget(&left, part.n, |row| self.is_in(row, part.number));
        part.counts = Some(counts);
        let zeros = if part.number == number { few.number } else { part.number };
        if (few.number == zeros) == zeros_go_left { [few, part] } else { [part, few] }
    }
}

impl Part {
    pub(super) const fn len(&self) -> usize {
        self.n
    }
}

impl Counts {
    fn new(all: &[SparseRow<'_>], rows: &[u32]) -> Self {
        let mut found: Vec<(u32, f64, u32)> = Vec::new();
        for &row in rows {
            let SparseRow { columns, values } = all[row as usize];
            found.extend(columns.iter().zip(values).map(|(&column, &value)| (column, value, row)));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut columns, mut window) = (Vec::new(), Vec::new());
        for (at, &(column, ..)) in found.iter().enumerate() {
            if columns.last() != Some(&column) {
                columns.push(column);
                window.push((at as u32, at as u32));
            }
            window.last_mut().expect("pushed before").1 += 1;
        }
        let entries = found.into_iter().map(|(_, value, row)| (value, row)).collect();
        let count: Vec<u32> = window.iter().map(|(first, end)| end - first).collect();
        let mut with_count = vec![Vec::new(); rows.len() + 1];
        count.iter().zip(0..).for_each(|(&count, at)| with_count[count as usize].push(at));
        let n = columns.len();
        let mut counts = Self {
            columns,
            entries,
            window,
            count,
            varies: vec![false; n],
            sums: vec![0; n + 1],
            total: 0,
            with_count,
        };
        for at in 0..n {
            let (min, max) = counts.ends(at, rows.len());
            counts.varies[at] = min < max;
            counts.sums[at + 1] += u32::from(min < max);
            counts.total += usize::from(min < max);
            let above = at + 1 + lowest_bit(at + 1);
            if above <= n {
                counts.sums[above] += counts.sums[at + 1];
            }
        }
        counts
    }

    /// The place of a column that occurs, at `from` or later.
    fn place_of(&self, column: u32, from: usize) -> usize {
        from + self.columns[from..].partition_point(|&known| known < column)
    }

    /// The entries of a column whose rows have not left; the others are thrown away.
    fn entries_of(&mut self, at: usize, is_in: impl Fn(u32) -> bool) -> impl Iterator<Item = &(f64, u32)> {
        let (first, end) = (self.window[at].0 as usize, self.window[at].1 as usize);
        let mut kept = first;
        for from in first..end {
            let entry = self.entries[from];
            if is_in(entry.1) {
                self.entries[kept] = entry;
                kept += 1;
            }
        }
        self.window[at].1 = kept as u32;
        self.entries[first..kept].iter()
    }

    /// The smallest and largest value of a column among `n` rows.
    fn ends(&self, at: usize, n: usize) -> (f64, f64) {
        let (first, end) = self.window[at];
        if first == end {
            return (0.0, 0.0);
        }
        let (min, max) = (self.entries[first as usize].0, self.entries[end as usize - 1].0);
        // A row without an entry has the value 0.
        if (self.count[at] as usize) < n { (min.min(0.0), max.max(0.0)) } else { (min, max) }
    }

    /// Takes rows away, so that `n` are left.
    fn forget(&mut self, rows: &[SparseRow<'_>], n: usize, is_in: impl Fn(u32) -> bool) {
        let mut touched = Vec::new();
        for row in rows {
            let mut at = 0;
            for &column in row.columns {
                at = self.place_of(column, at);
                self.count[at] -= 1;
                touched.push(at as u32);
            }
        }
        for &at in &touched {
            let window = &mut self.window[at as usize];
            while window.0 < window.1 && !is_in(self.entries[window.0 as usize].1) {
                window.0 += 1;
            }
            while window.0 < window.1 && !is_in(self.entries[window.1 as usize - 1].1) {
                window.1 -= 1;
            }
            self.renew(at as usize, n);
            self.with_count[self.count[at as usize] as usize].push(at);
        }
        for at in std::mem::take(&mut self.with_count[n]) {
            self.renew(at as usize, n);
        }
    }

    /// Looks again whether a column varies among `n` rows.
    fn renew(&mut self, at: usize, n: usize) {
        let (min, max) = self.ends(at, n);
        let varies = min < max;
        if varies == self.varies[at] {
            return;
        }
        self.varies[at] = varies;
        let step = if varies { 1 } else { u32::MAX };
        self.total = if varies { self.total + 1 } else { self.total - 1 };
        let mut place = at + 1;
        while place < self.sums.len() {
            self.sums[place] = self.sums[place].wrapping_add(step);
            place += lowest_bit(place);
        }
    }

    /// The place of the varying column with `before` varying ones before it.
    fn nth(&self, before: usize) -> usize {
        let (mut place, mut left) = (0, before as u32);
        let mut run = self.sums.len().next_power_of_two() / 2;
        while run > 0 {
            if place + run < self.sums.len() && self.sums[place + run] <= left {
                place += run;
                left -= self.sums[place];
            }
            run /= 2;
        }
        place
    }
}

const fn lowest_bit(number: usize) -> usize {
    number & number.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    /// Counted anew, plainly.
    fn spreads(points: Points<'_>, rows: &[u32]) -> Vec<(u32, f64, f64)> {
        let ends = |column: usize| {
            let values = rows.iter().map(|&row| points.row(row as usize).get(column));
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| (min.min(value), max.max(value)))
        };
        (0..points.n_columns())
            .map(|column| (column as u32, ends(column).0, ends(column).1))
            .filter(|x| x.1 < x.2)
            .collect()
    }

    #[test]
    fn what_is_known_after_many_cuts_is_what_a_count_finds() {
        // Rare columns, full ones, ones of equal values and of both signs, and rows twice over.
        let mut rng = rng_of(8, Component::Synthetic, 0);
        let mut points = PointsBuf::sparse(40);
        for row in 0..120 {
            let mut values = [0.0; 40];
            for (column, value) in values.iter_mut().enumerate() {
                if rng.below(1 + column) < 2 {
                    *value = if column % 3 == 0 { 1.0 } else { rng.normal() };
                }
            }
            values[0] = f64::from(u8::from(row % 7 > 0));
            points.push(Row::F64(&values));
            if row % 5 == 0 {
                points.push(Row::F64(&values));
            }
        }
        let points = points.as_points();
        let members: Vec<u32> = (0..points.n_rows() as u32).rev().collect();
        let (mut rows, all) = SparseRows::new(points, &members);
        let mut todo = vec![all];
        let mut cuts = 0;
        while let Some(mut part) = todo.pop() {
            let here: Vec<u32> = (0..members.len() as u32)
                .filter(|&row| rows.is_in(row, part.number))
                .map(|row| members[row as usize])
                .collect();
            assert_eq!(here.len(), part.len());
            let expected = spreads(points, &here);
            let mut again = rng.clone();
            let Some(Spread { column, min, max }) = rows.draw(&mut part, &mut rng) else {
                assert!(expected.is_empty());
                continue;
            };
            assert_eq!(expected[again.below(expected.len())], (column, min, max));
            // Cuts at the ends are the hardest.
            let threshold = [max, min + 0.3 * (max - min)][rng.below(2)];
            let below = here.iter().filter(|&&row| points.row(row as usize).get(column as usize) < threshold).count();
            let parts = rows.split(part, column, threshold);
            assert_eq!(parts[0].len(), below);
            assert_eq!(parts[1].len(), here.len() - below);
            todo.extend(parts);
            cuts += 1;
        }
        assert!(cuts > 80, "{cuts}");
    }
}
