//! The frame of a figure: title, legend, axes and margins, wide enough for what is written in them, and the mapping
//! from data to pixels. Texts never overlap data: the legend has rows of its own above the plot.

use super::axis::{Scale, Tick};
use super::svg::{Anchor, Figure, Marks, escape, num, shortened, text_width, wrapped};

/// Font sizes of the style sheet.
pub(crate) const TICK_FONT: f64 = 11.0;
const NAME_FONT: f64 = 12.0;
const TITLE_FONT: f64 = 13.5;
/// How far names that do not fit side by side are turned.
const TURN: f64 = 35.0;
/// Series colours in the style sheet.
const N_COLOURS: usize = 8;
/// Dash patterns by which series differ besides colour.
const DASHES: [&str; 4] = ["", "7 4", "2 4", "9 3 2 3"];

/// What every figure is told: words and size.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Head {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        let [about, x, y] = [const { String::new() }; 3];
        Self { title: title.into(), about, x, y, width: 440.0, height: 300.0 }
    }
}

/// The builder methods that all figures share.
macro_rules! head_methods {
    () => {
        /// The label of the horizontal axis.
        #[must_use]
        pub fn x(mut self, label: impl Into<String>) -> Self {
            self.head.x = label.into();
            self
        }

        /// The label of the vertical axis.
        #[must_use]
        pub fn y(mut self, label: impl Into<String>) -> Self {
            self.head.y = label.into();
            self
        }

        /// One sentence that says what is to be seen, for readers who cannot see it.
        #[must_use]
        pub fn about(mut self, sentence: impl Into<String>) -> Self {
            self.head.about = sentence.into();
            self
        }

        /// Width and height in pixels at natural text size; at least 200 × 120.
        #[must_use]
        pub fn size(mut self, width: f64, height: f64) -> Self {
            self.head.width = width.max(200.0);
            self.head.height = height.max(120.0);
            self
        }
    };
}
pub(crate) use head_methods;

/// What an axis shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Axis<'a> {
    /// Numbers on a scale.
    Numbers(Scale),
    /// One slot for each name: left to right, or top to bottom.
    Names(&'a [String]),
}

/// How a series looks in the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyShape {
    Line,
    Box,
    Dot,
}

/// The places of a figure.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    head: &'a Head,
    x: Axis<'a>,
    y: Axis<'a>,
    /// The plot area: left, top, width, height.
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    total_height: f64,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    turned: bool,
    head_marks: Marks,
}

impl<'a> Frame<'a> {
    /// Lays a figure out. `keys` are the names in the legend (left out if there are fewer than two), `right` is room
    /// kept beside the plot, and `aspect`, if given, is the plot's height over its width, whatever the head says.
    pub(crate) fn new(
        head: &'a Head,
        x: Axis<'a>,
        y: Axis<'a>,
        keys: &[(&str, KeyShape)],
        right: f64,
        aspect: Option<f64>,
    ) -> Self {
        let mut marks = Marks::default();
        let mut top = 8.0;
        for line in wrapped(&head.title, TITLE_FONT * 1.04, head.width - 20.0) {
            marks.text("title", Anchor::Start, [10.0, top + 13.0], &line);
            top += 18.0;
        }
        if keys.len() > 1 {
            top = legend(&mut marks, keys, top + 2.0, head.width);
        }
        top += 10.0;

        let y_ticks = match y {
            Axis::Numbers(scale) => scale.ticks(((head.height - top - 40.0) / 42.0).clamp(2.0, 8.0) as usize),
            Axis::Names(names) => slots(names, head.width * 0.38, (head.height - top) / 13.0),
        };
        let y_label = if head.y.is_empty() { 0.0 } else { 19.0 };
        let mut left = 10.0 + y_label + widest(&y_ticks) + 7.0;
        let right = right + 14.0;

        let plot_width = head.width - left - right;
        let x_ticks = match x {
            Axis::Numbers(scale) => {
                let fits = |ticks: &[Tick]| (widest(ticks) + 12.0) * (ticks.len() as f64 - 1.0) <= plot_width;
                let ticks_for = |most| scale.ticks(most);
                (2..=9).rev().map(ticks_for).find(|ticks| fits(ticks)).unwrap_or_else(|| ticks_for(1))
            }
            Axis::Names(names) => slots(names, 130.0, plot_width / 13.0),
        };
        let slot = match x {
            Axis::Names(names) => plot_width / names.len().max(1) as f64,
            Axis::Numbers(_) => f64::INFINITY,
        };
        let turned = widest(&x_ticks) + 6.0 > slot;
        let turn = TURN.to_radians();
        if turned {
            left = left.max(4.0 + turn.cos() * widest(&x_ticks) - slot / 2.0);
        }
        let width = (head.width - left - right).max(40.0);

        let x_text = if turned { turn.sin() * widest(&x_ticks) + 14.0 } else { 16.0 };
        let bottom = 5.0 + x_text + if head.x.is_empty() { 0.0 } else { 19.0 } + 6.0;
        let height = aspect.map_or(head.height - top - bottom, |aspect| width * aspect).max(30.0);
        let total_height = top + height + bottom;
        Self { head, x, y, left, top, width, height, total_height, x_ticks, y_ticks, turned, head_marks: marks }
    }

    /// The pixel of a value (of a slot's middle) on the horizontal axis.
    pub(crate) fn x(&self, value: f64) -> Option<f64> {
        share_of(self.x, value).map(|share| self.left + share * self.width)
    }

    /// The pixel of a value (of a slot's middle) on the vertical axis; slots run downwards.
    pub(crate) fn y(&self, value: f64) -> Option<f64> {
        let share = share_of(self.y, value)?;
        let down = if matches!(self.y, Axis::Names(_)) { share } else { 1.0 - share };
        Some(self.top + down * self.height)
    }

    /// The pixel of a point.
    pub(crate) fn at(&self, point: [f64; 2]) -> Option<[f64; 2]> {
        Some([self.x(point[0])?, self.y(point[1])?])
    }

    /// A dashed line across the plot at a value of the horizontal axis, with its name at the top.
    pub(crate) fn rule_x(&self, marks: &mut Marks, value: f64, name: &str) {
        let Some(x) = self.x(value) else { return };
        marks.line("rule", [x, self.top], [x, self.top + self.height]);
        let (anchor, x) =
            if x < self.left + self.width / 2.0 { (Anchor::Start, x + 6.0) } else { (Anchor::End, x - 6.0) };
        marks.text("key halo", anchor, [x, self.top + 14.0], name);
    }

    /// A dashed line across the plot at a value of the vertical axis, with its name at the right.
    pub(crate) fn rule_y(&self, marks: &mut Marks, value: f64, name: &str) {
        let Some(y) = self.y(value) else { return };
        marks.line("rule", [self.left, y], [self.left + self.width, y]);
        let y = if y < self.top + 20.0 { y + 14.0 } else { y - 5.0 };
        marks.text("key halo", Anchor::End, [self.left + self.width - 5.0, y], name);
    }

    /// The figure: grid, then `marks` cut off at the edge of the plot, then axes, words, and `over` unclipped.
    pub(crate) fn finish(self, marks: Marks, over: Marks) -> Figure {
        let [left, top, width, height] = [self.left, self.top, self.width, self.height];
        let marks = marks.into_string();
        let mut all = Marks::default();
        for tick in &self.x_ticks {
            if let (Some(x), Axis::Numbers(_)) = (self.x(tick.at), self.x) {
                all.line("grid", [x, top], [x, top + height]);
            }
        }
        for tick in &self.y_ticks {
            if let (Some(y), Axis::Numbers(_)) = (self.y(tick.at), self.y) {
                all.line("grid", [left, y], [left + width, y]);
            }
        }
        if marks.is_empty() {
            all.text("name", Anchor::Middle, [left + width / 2.0, top + height / 2.0], "no data");
        } else {
            let [x, y, w, h] = [left, top, width, height].map(num);
            all.raw(&format!(
                "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">{marks}</svg>"
            ));
        }
        all.line("axis", [left, top], [left, top + height]);
        all.line("axis", [left, top + height], [left + width, top + height]);
        for tick in &self.y_ticks {
            if let Some(y) = self.y(tick.at) {
                all.text("tick", Anchor::End, [left - 6.0, y + 4.0], &tick.label);
            }
        }
        for tick in &self.x_ticks {
            if let Some(x) = self.x(tick.at) {
                if self.turned {
                    all.turned_text("tick", Anchor::End, [x + 4.0, top + height + 13.0], -TURN, &tick.label);
                } else {
                    all.text("tick", Anchor::Middle, [x, top + height + 16.0], &tick.label);
                }
            }
        }
        if !self.head.x.is_empty() {
            let at = [left + width / 2.0, self.total_height - 8.0];
            all.text(
                "name",
                Anchor::Middle,
                at,
                &shortened(&self.head.x, NAME_FONT, 2.0 * (self.head.width - at[0]).min(at[0]) - 12.0),
            );
        }
        if !self.head.y.is_empty() {
            let at = [19.0, top + height / 2.0];
            let label = shortened(&self.head.y, NAME_FONT, 2.0 * (self.total_height - at[1]).min(at[1]) - 12.0);
            all.turned_text("name", Anchor::Middle, at, -90.0, &label);
        }
        all.raw(&self.head_marks.into_string());
        all.raw(&over.into_string());
        Figure::new(&self.head.title, &self.head.about, self.head.width, self.total_height, all.into_string())
    }
}

/// The colour of series `i`.
pub(crate) fn colour(i: usize) -> String {
    format!("var(--c{})", i % N_COLOURS)
}

/// Stroke attributes of series `i`: colour, and a dash for all but the first.
pub(crate) fn stroke(i: usize) -> String {
    match DASHES[i % DASHES.len()] {
        "" => format!(" stroke=\"{}\"", colour(i)),
        dash => format!(" stroke=\"{}\" stroke-dasharray=\"{dash}\"", colour(i)),
    }
}

/// The path of the marker of group `i` round a pixel: dot, square, diamond, triangle, cross by turns. The first two
/// are strokes of width `2 * radius` with round or square ends, so that a cloud of dots stays small.
pub(crate) fn marker(i: usize, [x, y]: [f64; 2], r: f64) -> String {
    let [px, py] = [num(x), num(y)];
    match i % 5 {
        0 | 1 => format!("M{px} {py}h0"),
        2 => format!("M{px} {}l{r} {r}l-{r} {r}l-{r}-{r}z", num(y - r)),
        3 => format!("M{px} {}l{r} {}h-{}z", num(y - r), num(1.8 * r), num(2.0 * r)),
        _ => format!("M{} {}l{d} {d}m-{d} 0l{d}-{d}", num(x - r), num(y - r), d = num(2.0 * r)),
    }
}

/// The attributes that go with [`marker`].
pub(crate) fn marker_style(i: usize, r: f64) -> String {
    let colour = colour(i);
    match i % 5 {
        0 => format!(" stroke=\"{colour}\" stroke-width=\"{}\"", num(2.0 * r)),
        1 => format!(" style=\"stroke-linecap:square\" stroke=\"{colour}\" stroke-width=\"{}\"", num(1.7 * r)),
        2 | 3 => format!(" style=\"fill:{colour}\""),
        _ => format!(" stroke=\"{colour}\" stroke-width=\"1.6\""),
    }
}

fn legend(marks: &mut Marks, keys: &[(&str, KeyShape)], mut top: f64, width: f64) -> f64 {
    let mut x = 10.0;
    for (i, (name, shape)) in keys.iter().enumerate() {
        let name = shortened(name, NAME_FONT, width - 60.0);
        let needs = 24.0 + text_width(&name, NAME_FONT) + 16.0;
        if x > 10.0 && x + needs - 16.0 > width - 10.0 {
            x = 10.0;
            top += 18.0;
        }
        let middle = top + 9.0;
        match shape {
            KeyShape::Line => {
                marks.path("line", &stroke(i), &format!("M{} {}h19", num(x), num(middle)));
            }
            KeyShape::Box => marks.rect("bar", &colour(i), [x + 4.0, middle - 5.5], [11.0, 11.0], ""),
            KeyShape::Dot => {
                marks.path("dots", &marker_style(i, 3.5), &marker(i, [x + 10.0, middle], 3.5));
            }
        }
        marks.text("key", Anchor::Start, [x + 24.0, middle + 4.0], &name);
        x += needs;
    }
    top + 18.0
}

fn share_of(axis: Axis<'_>, value: f64) -> Option<f64> {
    match axis {
        Axis::Numbers(scale) => scale.share(value),
        Axis::Names(names) => Some((value + 0.5) / names.len().max(1) as f64),
    }
}

/// A tick per name, thinned out if there is room for fewer than all.
fn slots(names: &[String], width: f64, room: f64) -> Vec<Tick> {
    let every = (names.len() as f64 / room.max(1.0)).ceil().max(1.0) as usize;
    let tick = |(i, name): (usize, &String)| Tick { at: i as f64, label: shortened(name, TICK_FONT, width) };
    names.iter().enumerate().step_by(every).map(tick).collect()
}

fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|tick| text_width(&tick.label, TICK_FONT)).fold(0.0, f64::max)
}

/// A tooltip: escaped by who writes it, here only put together.
pub(crate) fn tip(name: &str, value: &str) -> String {
    if name.is_empty() { value.into() } else { format!("{name}: {value}") }
}

/// A group with a tooltip round some marks.
pub(crate) fn named_group(name: &str, inner: &str) -> String {
    if name.is_empty() { inner.into() } else { format!("<g><title>{}</title>{inner}</g>", escape(name)) }
}
