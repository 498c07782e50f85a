//! Reports: one HTML file that needs nothing else, no script, no network; readable on a phone, on a wide screen, in
//! the dark and on paper. Everything that comes from outside is escaped. The same report gives the same bytes.
//!
//! ```
//! use eyot_io::report::{Report, Section, Table};
//!
//! let html = Report::new("What stands out in wells.csv")
//!     .lead("3 of 2,000 rows differ from all others.")
//!     .fact("rows", "2,000")
//!     .section(Section::new("Most anomalous rows").table(Table::new(["row", "score"]).row(["17", "0.981"])))
//!     .run("seed", "0")
//!     .to_html();
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! ```

use std::fmt::Write as _;
use std::path::Path;

use crate::error::Result;
use crate::plot::{Figure, STYLE, escape};
use crate::write::write_file;

/// A report, put together from top to bottom.
#[derive(Debug, Clone)]
pub struct Report {
    title: String,
    lead: String,
    facts: Vec<(String, String)>,
    sections: Vec<Section>,
    run: Vec<(String, String)>,
}

/// A part of a report with a heading.
#[derive(Debug, Clone)]
pub struct Section {
    heading: String,
    /// Where links within the page lead to; empty if nothing does.
    anchor: String,
    below: bool,
    blocks: Vec<Block>,
}

/// A table of words and numbers. A column whose cells are all numbers is set to the right.
#[derive(Debug, Clone)]
pub struct Table {
    caption: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone)]
enum Block {
    Text(String),
    Code(String),
    List(Vec<String>),
    /// Anchors of other sections with the words of the link.
    Links(Vec<(String, String)>),
    Table(Table),
    /// A table that is seen when its summary is clicked.
    Folded(String, Table),
    Figures(Vec<Figure>),
}

impl Report {
    /// A report with a title.
    pub fn new(title: impl Into<String>) -> Self {
        let [facts, run] = [const { Vec::new() }; 2];
        Self { title: title.into(), lead: String::new(), facts, sections: Vec::new(), run }
    }

    /// The sentence that says what came out.
    #[must_use]
    pub fn lead(mut self, sentence: impl Into<String>) -> Self {
        self.lead = sentence.into();
        self
    }

    /// Adds a key fact to the strip under the lead.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// Adds a section.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Adds a fact about the run (command line, seed, a parameter, seconds), folded away at the end.
    #[must_use]
    pub fn run(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.run.push((name.into(), value.into()));
        self
    }

    /// Writes the file whole or not at all: a failure leaves what was there before.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_file(path, self.to_html().as_bytes())
    }

    /// The whole file. Well-formed as XML too.
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <title>{title}</title>\n<style>{PAGE_STYLE}{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n"
        );
        if !self.lead.is_empty() {
            let _ = writeln!(html, "<p class=\"lead\">{}</p>", escape(&self.lead));
        }
        if !self.facts.is_empty() {
            html.push_str("<dl class=\"facts\">\n");
            for (name, value) in &self.facts {
                let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
            }
            html.push_str("</dl>\n");
        }
        html.push_str("</header>\n<main>\n");
        for section in &self.sections {
            section.write(&mut html);
        }
        html.push_str("</main>\n");
        if !self.run.is_empty() {
            html.push_str("<footer><details><summary>How this was made</summary>\n<dl class=\"run\">\n");
            for (name, value) in &self.run {
                let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
            }
            html.push_str("</dl></details></footer>\n");
        }
        html.push_str("</body>\n</html>\n");
        html
    }
}

impl Section {
    /// An empty section.
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), anchor: String::new(), below: false, blocks: Vec::new() }
    }

    /// Gives the section a name (letters, digits and `-`) that [`Section::links`] can lead to.
    #[must_use]
    pub fn anchor(mut self, name: impl Into<String>) -> Self {
        self.anchor = name.into();
        self
    }

    /// Makes the section a part of the one before it.
    #[must_use]
    pub fn below(mut self) -> Self {
        self.below = true;
        self
    }

    /// Adds a paragraph, if it says anything.
    #[must_use]
    pub fn text(mut self, paragraph: impl Into<String>) -> Self {
        let paragraph = paragraph.into();
        if !paragraph.is_empty() {
            self.blocks.push(Block::Text(paragraph));
        }
        self
    }

    /// Adds lines that are shown letter by letter as they are.
    #[must_use]
    pub fn code(mut self, lines: impl Into<String>) -> Self {
        self.blocks.push(Block::Code(lines.into()));
        self
    }

    /// Adds a list of sentences, if there are any.
    #[must_use]
    pub fn list<S: Into<String>>(mut self, items: impl IntoIterator<Item = S>) -> Self {
        let items: Vec<String> = items.into_iter().map(Into::into).collect();
        if !items.is_empty() {
            self.blocks.push(Block::List(items));
        }
        self
    }

    /// Adds links to sections of the same page: the anchor and the words of each.
    #[must_use]
    pub fn links<S: Into<String>, T: Into<String>>(mut self, links: impl IntoIterator<Item = (S, T)>) -> Self {
        self.blocks.push(Block::Links(links.into_iter().map(|(to, words)| (to.into(), words.into())).collect()));
        self
    }

    /// Adds a table that is folded away under a summary.
    #[must_use]
    pub fn folded(mut self, summary: impl Into<String>, table: Table) -> Self {
        self.blocks.push(Block::Folded(summary.into(), table));
        self
    }

    /// Adds a table.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }

    /// Adds figures, side by side where there is room. What each is about is written below it.
    #[must_use]
    pub fn figures(mut self, figures: impl IntoIterator<Item = Figure>) -> Self {
        self.blocks.push(Block::Figures(figures.into_iter().collect()));
        self
    }

    fn write(&self, html: &mut String) {
        let level = if self.below { 3 } else { 2 };
        let id = if self.anchor.is_empty() { String::new() } else { format!(" id=\"{}\"", escape(&self.anchor)) };
        let _ = writeln!(html, "<section{id}>\n<h{level}>{}</h{level}>", escape(&self.heading));
        for block in &self.blocks {
            match block {
                Block::Text(text) => _ = writeln!(html, "<p>{}</p>", escape(text)),
                Block::Code(lines) => _ = writeln!(html, "<pre tabindex=\"0\">{}</pre>", escape(lines)),
                Block::List(items) => {
                    html.push_str("<ul>\n");
                    for item in items {
                        let _ = writeln!(html, "<li>{}</li>", escape(item));
                    }
                    html.push_str("</ul>\n");
                }
                Block::Links(links) => {
                    html.push_str("<ul class=\"links\">\n");
                    for (to, words) in links {
                        let _ = writeln!(html, "<li><a href=\"#{}\">{}</a></li>", escape(to), escape(words));
                    }
                    html.push_str("</ul>\n");
                }
                Block::Table(table) => table.write(html),
                Block::Folded(summary, table) => {
                    let _ = writeln!(html, "<details><summary>{}</summary>", escape(summary));
                    table.write(html);
                    html.push_str("</details>\n");
                }
                Block::Figures(figures) => write_figures(html, figures),
            }
        }
        html.push_str("</section>\n");
    }
}

impl Table {
    /// A table with named columns and no rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self { caption: String::new(), columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// A line above the table.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Adds a row. Missing cells stay empty, cells beyond the columns are left out.
    #[must_use]
    pub fn row<S: Into<String>>(mut self, cells: impl IntoIterator<Item = S>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).take(self.columns.len()).collect());
        self
    }

    /// Adds several rows.
    #[must_use]
    pub fn rows<S: Into<String>, R: IntoIterator<Item = S>>(self, rows: impl IntoIterator<Item = R>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    fn write(&self, html: &mut String) {
        let cell = |row: &[String], column: usize| row.get(column).map_or("", String::as_str).to_owned();
        let right: Vec<&str> = (0..self.columns.len())
            .map(|column| {
                let cells = || self.rows.iter().map(|row| cell(row, column)).filter(|text| !text.is_empty());
                if cells().next().is_some() && cells().all(|text| is_number(&text)) { " class=\"n\"" } else { "" }
            })
            .collect();
        html.push_str("<div class=\"scroll\" tabindex=\"0\"><table>");
        if !self.caption.is_empty() {
            let _ = write!(html, "<caption>{}</caption>", escape(&self.caption));
        }
        html.push_str("\n<thead><tr>");
        for (name, right) in self.columns.iter().zip(&right) {
            let _ = write!(html, "<th scope=\"col\"{right}>{}</th>", escape(name));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (column, right) in right.iter().enumerate() {
                let _ = write!(html, "<td{right}>{}</td>", escape(&cell(row, column)));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
    }
}

fn write_figures(html: &mut String, figures: &[Figure]) {
    // Columns as wide as the widest figure at four fifths of its natural size, so that text stays readable.
    let natural = figures.iter().map(Figure::width).fold(200.0, f64::max);
    let _ = writeln!(html, "<div class=\"figures\" style=\"--least:{:.0}px\">", natural * 0.8);
    for figure in figures {
        let _ = write!(html, "<figure style=\"max-width:{:.0}px\">{}", figure.width() * 1.1, figure.to_inline());
        if !figure.about().is_empty() {
            let _ = write!(html, "<figcaption>{}</figcaption>", escape(figure.about()));
        }
        html.push_str("</figure>\n");
    }
    html.push_str("</div>\n");
}

/// Whether a cell reads as a number: digits with sign, point, separators, unit letters, "±" and "%"; or as one number
/// beside another.
fn is_number(text: &str) -> bool {
    if let Some((one, other)) = text.split_once(" / ") {
        return is_number(one) && is_number(other);
    }
    let rest = text.trim_start_matches(['-', '−', '+', '<', '>', '≈', '(', ' ']);
    rest.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && rest.chars().filter(|&c| c == ' ').count() < 3
        && rest.chars().all(|c| c.is_ascii_digit() || " .,−-+±%×/()✗e⁻⁰¹²³⁴⁵⁶⁷⁸⁹kMGT\u{202f}sµm".contains(c))
        || matches!(text, "–" | "NaN")
}

/// The page: one column, figures side by side where there is room. No `<` or `&` here (see the style of plots).
const PAGE_STYLE: &str = "\
:root{color-scheme:light dark;--bg:#ffffff;--fg:#1d2430;--dim:#5b6675;--rule:#dfe4ea;--card:#f5f7f9;--accent:#0072b2}\
@media screen and (prefers-color-scheme:dark){:root{--bg:#14181f;--fg:#e6eaf0;--dim:#a3adba;--rule:#2b333e;\
--card:#1b212a;--accent:#4aa8e0}}\
*{box-sizing:border-box}\
body{margin:0 auto;max-width:1240px;padding:1.5rem clamp(1rem,4vw,2.5rem) 3rem;background:var(--bg);color:var(--fg);\
font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;overflow-wrap:break-word}\
h1{font-size:clamp(1.5rem,1.1rem + 1.8vw,2.2rem);line-height:1.2;margin:.5rem 0 .6rem;text-wrap:balance}\
h2{font-size:1.3rem;line-height:1.3;margin:2.6rem 0 .6rem;padding-top:1.1rem;border-top:1px solid var(--rule)}\
h3{font-size:1.08rem;line-height:1.35;margin:2.2rem 0 .5rem;padding-top:.9rem;border-top:1px dashed var(--rule)}\
p{max-width:75ch;margin:.6rem 0}\
ul{max-width:80ch;margin:.6rem 0;padding-left:1.3rem}li{margin:.25rem 0}\
a{color:var(--accent)}\
.links{columns:22rem auto;max-width:none;list-style:none;padding:0}\
.lead{font-size:1.12rem;color:var(--dim)}\
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;margin:1.2rem 0}\
.facts div{background:var(--card);border-radius:8px;padding:.6rem .9rem}\
.facts dt{font-size:.8rem;color:var(--dim)}\
.facts dd{margin:0;font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums}\
.scroll{overflow:auto;max-height:30rem;width:fit-content;max-width:100%;margin:1rem 0;border:1px solid var(--rule);\
border-radius:8px}\
table{border-collapse:collapse;width:max-content;min-width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}\
caption{text-align:left;padding:.6rem .8rem .3rem;color:var(--dim)}\
th,td{padding:.4rem .9rem;max-width:38ch;text-align:left;border-bottom:1px solid var(--rule)}\
tbody tr:last-child td{border-bottom:0}\
thead th{position:sticky;top:0;background:var(--card);font-weight:600;vertical-align:bottom}\
.n{text-align:right;white-space:nowrap}\
pre{background:var(--card);border-radius:8px;padding:.8rem 1rem;overflow:auto;font-size:.86rem;line-height:1.5;\
max-width:100%;width:fit-content}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,var(--least)),1fr));gap:1.4rem 1.6rem;\
margin:1.2rem 0;align-items:start}\
figure{margin:0;width:100%}\
figure svg{display:block;width:100%;height:auto}\
figcaption{font-size:.88rem;line-height:1.45;color:var(--dim);padding:.3rem .6rem 0}\
footer{margin-top:2.6rem;padding-top:1rem;border-top:1px solid var(--rule);color:var(--dim);font-size:.92rem}\
summary{cursor:pointer}\
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}\
.run{display:grid;grid-template-columns:auto;gap:.2rem;margin:.8rem 0}\
.run div{display:grid;grid-template-columns:minmax(7rem,11rem) 1fr;gap:1rem}\
.run dd{margin:0;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}\
@media (max-width:600px){th,td{padding:.35rem .55rem}h2{margin-top:2rem}}\
@media print{body{max-width:none;padding:0;font-size:11pt}.scroll{max-height:none;overflow:visible}\
section,figure,tr{break-inside:avoid}h2{break-after:avoid}\
.figures{grid-template-columns:repeat(auto-fit,minmax(200px,1fr))}}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::LineChart;

    const HOSTILE: &str = "<script>alert(\"1\")</script> & 'more' \u{0}";

    fn hostile_report() -> Report {
        let chart = LineChart::new(HOSTILE).about(HOSTILE).series(HOSTILE, &[[0.0, 1.0], [1.0, 2.0]]).figure();
        Report::new(HOSTILE).lead(HOSTILE).fact(HOSTILE, HOSTILE).run(HOSTILE, HOSTILE).section(
            Section::new(HOSTILE)
                .anchor(HOSTILE)
                .text(HOSTILE)
                .list([HOSTILE])
                .links([(HOSTILE, HOSTILE)])
                .folded(HOSTILE, Table::new([HOSTILE]).row([HOSTILE]))
                .code(HOSTILE)
                .table(Table::new([HOSTILE, "b"]).caption(HOSTILE).row([HOSTILE, HOSTILE, "beyond"]).row(["1"]))
                .figures([chart.clone(), chart]),
        )
    }

    #[test]
    fn every_word_is_escaped_and_the_page_is_well_formed() {
        let html = hostile_report().to_html();
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&html, options).unwrap();
        assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
        assert!(!html.contains("beyond") && !html.contains('\0'));
    }

    #[test]
    fn a_report_needs_nothing_from_outside() {
        let html = hostile_report().to_html();
        // Links within the page are no outside.
        let outside = html.replace("http://www.w3.org/2000/svg", "").replace("href=\"#", "");
        for word in ["http:", "https:", "src=", "href=", "url(", "@import", "<script"] {
            assert!(!outside.contains(word), "{word}");
        }
    }

    #[test]
    fn the_same_report_gives_the_same_bytes() {
        assert_eq!(hostile_report().to_html(), hostile_report().to_html());
    }

    #[test]
    fn columns_of_numbers_are_set_to_the_right() {
        let table = Table::new(["name", "value"]).row(["a", "−1.5 ± 0.2"]).row(["7", "12%"]).row(["b"]);
        let mut html = String::new();
        table.write(&mut html);
        assert!(html.contains("<th scope=\"col\">name</th><th scope=\"col\" class=\"n\">value</th>"), "{html}");
        assert!(html.contains("<td class=\"n\"></td>"));
        let numbers =
            ["1", "-1.5", "2×10⁻⁷", "12 345", "3.2 s", "10%", "12.5k", "–", "0.84 ± 0.01 / (0.85)", "0.8 / 0.9 ✗"];
        assert!(numbers.iter().all(|text| is_number(text)));
        assert!(["", "a1", "1st of May", "v2", "3 7 1 0 9", "1 / a"].iter().all(|text| !is_number(text)));
    }
}
