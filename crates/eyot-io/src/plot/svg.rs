//! Writing SVG: numbers, escaped text, the style sheet, and the finished picture.

use std::fmt::Write as _;

/// Colours as CSS variables, once for light and once for dark. Series colours are those of Okabe and Ito, the dark set
/// lightened to stay readable; the ramp `--s0` … `--s9` starts at the page's own lightness and runs away from it, so
/// that "much" stands out on either ground. No `<` or `&` here: the sheet stands in XML and HTML alike.
pub(crate) const STYLE: &str = "\
.eyot-plot{--ink:#1d2430;--soft:#5b6675;--grid:#e3e7ec;--axis:#9aa4b1;--page:#ffffff;\
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#e69f00;--c5:#56b4e9;--c6:#8a6d00;--c7:#59636f;\
--s0:#f1f7f4;--s1:#d8ede4;--s2:#b5dfd0;--s3:#8bcfbf;--s4:#61bab1;--s5:#41a2a6;--s6:#33889b;--s7:#2e6d8e;--s8:#2f527e;\
--s9:#303864;--on-high:#ffffff;--mark:#d55e00;\
font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:12px}\
@media screen and (prefers-color-scheme:dark){.eyot-plot{--ink:#e6eaf0;--soft:#a3adba;--grid:#2b333e;--axis:#66717f;\
--page:#14181f;--c0:#4aa8e0;--c1:#f08a4b;--c2:#2fc79b;--c3:#e59cc4;--c4:#f3bd4a;--c5:#9ad4f5;--c6:#cfb53b;--c7:#a9b4c0;\
--s0:#1a2029;--s1:#24304b;--s2:#2b446b;--s3:#2e5d83;--s4:#317795;--s5:#3b92a3;--s6:#52adad;--s7:#7cc7b7;--s8:#aedcc6;\
--s9:#e2f3dc;--on-high:#10141a;--mark:#ff9a52}}\
.eyot-plot text{fill:var(--ink)}\
.eyot-plot .ground{fill:var(--page)}\
.eyot-plot .title{font-size:13.5px;font-weight:600}\
.eyot-plot .tick,.eyot-plot .key,.eyot-plot .name{fill:var(--soft)}\
.eyot-plot .tick,.eyot-plot .value{font-size:11px;font-variant-numeric:tabular-nums}\
.eyot-plot .tick,.eyot-plot .key{fill:var(--ink);opacity:.85}\
.eyot-plot .grid{stroke:var(--grid);fill:none}\
.eyot-plot .axis{stroke:var(--axis);fill:none}\
.eyot-plot .line{fill:none;stroke-width:1.9;stroke-linejoin:round;stroke-linecap:round}\
.eyot-plot .bar{stroke:var(--page);stroke-width:.6}\
.eyot-plot .error{stroke:var(--ink);stroke-width:1.2;fill:none}\
.eyot-plot .rule{stroke:var(--ink);stroke-opacity:.75;stroke-width:1.4;stroke-dasharray:5 3;fill:none}\
.eyot-plot .halo{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}\
.eyot-plot .dots{fill:none;stroke-linecap:round}\
.eyot-plot .cloud{fill:none;stroke:var(--ink);stroke-linecap:round;stroke-width:2.2;opacity:.45}\
.eyot-plot .band{stroke:none}\
.eyot-plot .level{stroke:var(--ink);stroke-opacity:.45;stroke-width:.7;stroke-linejoin:round}\
.eyot-plot .cell{fill-opacity:.3;stroke:var(--page);stroke-width:1.6;stroke-linejoin:round}\
.eyot-plot .here{fill:var(--mark);stroke:var(--page);stroke-width:1.6}\
.eyot-plot .on-high{fill:var(--on-high)}";

/// A finished picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    title: String,
    description: String,
    width: f64,
    height: f64,
    body: String,
}

impl Figure {
    pub(crate) fn new(title: &str, description: &str, width: f64, height: f64, body: String) -> Self {
        Self { title: title.into(), description: description.into(), width, height, body }
    }

    /// The picture as a file of its own.
    pub fn to_svg(&self) -> String {
        let ground = format!("<rect class=\"ground\" width=\"{}\" height=\"{}\"/>", num(self.width), num(self.height));
        self.wrap(&format!("<style>{STYLE}</style>{ground}"))
    }

    /// The picture as part of a page that carries [`STYLE`].
    pub(crate) fn to_inline(&self) -> String {
        self.wrap("")
    }

    /// The width at which its text has its natural size, in pixels.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// What is to be seen, in a sentence.
    pub fn about(&self) -> &str {
        &self.description
    }

    fn wrap(&self, before: &str) -> String {
        let (width, height) = (num(self.width), num(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"eyot-plot\" role=\"img\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\"><title>{}</title><desc>{}</desc>{before}{}</svg>\n",
            escape(&self.title),
            escape(&self.description),
            self.body
        )
    }
}

/// Text as it may stand in XML and HTML, in content and in attributes. Control characters, which XML forbids, become
/// spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate: a tenth of a pixel is enough, and short.
pub(crate) fn num(value: f64) -> String {
    let tenths = (value.clamp(-1e6, 1e6) * 10.0).round();
    if tenths % 10.0 == 0.0 { format!("{}", (tenths / 10.0) as i64) } else { format!("{:.1}", tenths / 10.0) }
}

/// About how many pixels wide a text is at a font size; no font is at hand, so by classes of letters.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 'I' | '|' | '.' | ',' | ':' | ';' | '\'' | '!' | ' ' | 'f' | 't' | '(' | ')' => 0.34,
            'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' => 0.9,
            'A'..='Z' => 0.68,
            c if (c as u32) < 0x2e80 => 0.57,
            _ => 1.0,
        })
        .sum();
    ems * size
}

/// Breaks a text into lines of at most `width` pixels, at spaces; a single longer word stays whole.
pub(crate) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + 0.34 * size <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// Cuts a text that is wider than `width` pixels and ends it with "…".
pub(crate) fn shortened(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.into();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if text_width(&kept, size) + 1.5 * size > width && !kept.is_empty() {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// SVG elements, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Marks(String);

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Marks {
    pub(crate) fn into_string(self) -> String {
        self.0
    }

    pub(crate) fn raw(&mut self, element: &str) {
        self.0.push_str(element);
    }

    /// A path of class `class`; `attributes` is ready XML such as ` stroke="var(--c0)"` or empty.
    pub(crate) fn path(&mut self, class: &str, attributes: &str, d: &str) {
        if !d.is_empty() {
            let _ = write!(self.0, "<path class=\"{class}\"{attributes} d=\"{d}\"/>");
        }
    }

    pub(crate) fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        self.path(class, "", &format!("M{} {}L{} {}", num(from[0]), num(from[1]), num(to[0]), num(to[1])));
    }

    /// A rectangle with a fill, and a tooltip if `tip` is not empty.
    pub(crate) fn rect(&mut self, class: &str, fill: &str, at: [f64; 2], size: [f64; 2], tip: &str) {
        let [x, y, width, height] = [at[0], at[1], size[0].max(0.0), size[1].max(0.0)].map(num);
        let _ = write!(
            self.0,
            "<rect class=\"{class}\" fill=\"{fill}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""
        );
        if tip.is_empty() {
            self.0.push_str("/>");
        } else {
            let _ = write!(self.0, "><title>{}</title></rect>", escape(tip));
        }
    }

    pub(crate) fn circle(&mut self, class: &str, at: [f64; 2], radius: f64, tip: &str) {
        let [x, y, r] = [at[0], at[1], radius].map(num);
        let _ = write!(self.0, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"");
        if tip.is_empty() {
            self.0.push_str("/>");
        } else {
            let _ = write!(self.0, "><title>{}</title></circle>", escape(tip));
        }
    }

    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, at: [f64; 2], text: &str) {
        self.turned_text(class, anchor, at, 0.0, text);
    }

    /// A text turned by `degrees` round its point.
    pub(crate) fn turned_text(&mut self, class: &str, anchor: Anchor, at: [f64; 2], degrees: f64, text: &str) {
        let [x, y] = at.map(num);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let turn = if degrees == 0.0 { String::new() } else { format!(" transform=\"rotate({degrees} {x} {y})\"") };
        let _ = write!(self.0, "<text class=\"{class}\"{anchor}{turn} x=\"{x}\" y=\"{y}\">{}</text>", escape(text));
    }
}

/// Path data for a run of points in pixels.
pub(crate) fn polyline(points: impl IntoIterator<Item = [f64; 2]>, closed: bool) -> String {
    let mut d = String::new();
    let mut last = [f64::NAN; 2];
    for point in points {
        let point = point.map(|v| (v.clamp(-1e6, 1e6) * 10.0).round());
        if point == last {
            continue;
        }
        d.push(if d.is_empty() { 'M' } else { 'L' });
        let _ = write!(d, "{} {}", num(point[0] / 10.0), num(point[1] / 10.0));
        last = point;
    }
    if closed && !d.is_empty() {
        d.push('Z');
    }
    d
}

/// Path data for dots: strokes of no length with round ends.
pub(crate) fn dots(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut d = String::new();
    for [x, y] in points {
        let _ = write!(d, "M{} {}h0", num(x), num(y));
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_never_minus_zero() {
        let written = [0.0, -0.04, 12.0, 12.34, -7.06, f64::INFINITY].map(num);
        assert_eq!(written, ["0", "0", "12", "12.3", "-7.1", "1000000"]);
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a href=\"x\">'&\u{0}\u{7f}é"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;  é");
    }

    #[test]
    fn long_titles_wrap_and_long_names_are_cut() {
        let lines = wrapped("one two three four five six", 12.0, 80.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| text_width(line, 12.0) <= 80.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six");
        let short = shortened("a very long category name", 12.0, 60.0);
        assert!(short.ends_with('…') && text_width(&short, 12.0) <= 66.0, "{short}");
    }
}
