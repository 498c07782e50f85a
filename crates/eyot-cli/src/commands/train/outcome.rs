//! What `eyot train` found, as JSON and as lines for people.

use eyot::{ClassifierModel, ClassifierParams, Confusion, CvTable, TunedClassifier};
use serde::Serialize;

use crate::messages::count;

/// What came out.
pub(super) struct Outcome<'a> {
    pub(super) model: &'a ClassifierModel,
    pub(super) tuned: Option<&'a TunedClassifier>,
    pub(super) tested: Option<&'a Confusion>,
}

#[derive(Serialize)]
pub(super) struct Summary<'a> {
    classes: &'a [String],
    accuracy: f64,
    macro_f1: f64,
    measured_on: &'static str,
    per_class: Vec<PerClass<'a>>,
    confusion: Vec<&'a [u64]>,
    unseen: u64,
    probability: bool,
    cv: Vec<Cv>,
}

#[derive(Serialize)]
struct PerClass<'a> {
    class: &'a str,
    #[serde(flatten)]
    score: eyot::ClassScore,
}

#[derive(Serialize)]
struct Cv {
    parameters: serde_json::Map<String, serde_json::Value>,
    mean: f64,
    standard_error: f64,
    dropped: bool,
}

/// The parameters that candidates differ in.
pub(super) fn varied(params: &ClassifierParams) -> Vec<(&'static str, f64)> {
    let json = serde_json::to_value(params).unwrap_or_default();
    let number = |path: &str| json.pointer(path).and_then(serde_json::Value::as_f64);
    let places = [
        ("psi", "/map/psi"),
        ("gamma", "/kernel/gamma"),
        ("lambda", "/kernel/lambda"),
        ("c", "/svm/c"),
    ];
    places.into_iter().filter_map(|(name, path)| Some((name, number(path)?))).collect()
}

impl Outcome<'_> {
    /// The counts that the accuracy is from.
    pub(super) fn confusion(&self) -> &Confusion {
        self.tested.or(self.tuned.map(|tuned| &tuned.confusion)).expect("measured on one of the two")
    }

    /// On --test, or the mean over the folds.
    pub(super) fn accuracy(&self) -> f64 {
        match (self.tested, self.tuned) {
            (None, Some(tuned)) => tuned.table.best().mean,
            _ => self.confusion().accuracy(),
        }
    }

    fn measured_on(&self) -> &'static str {
        if self.tested.is_some() { "test" } else { "held-out folds" }
    }

    pub(super) fn table(&self) -> Option<&CvTable<ClassifierParams>> {
        self.tuned.map(|tuned| &tuned.table)
    }

    pub(super) fn summary(&self) -> Summary<'_> {
        let (confusion, names) = (self.confusion(), self.model.classes.names());
        Summary {
            classes: names,
            accuracy: self.accuracy(),
            macro_f1: confusion.macro_f1(),
            measured_on: self.measured_on(),
            per_class: names
                .iter()
                .enumerate()
                .map(|(class, name)| PerClass { class: name, score: confusion.class(class) })
                .collect(),
            confusion: confusion.counts().chunks(names.len()).collect(),
            unseen: confusion.unseen(),
            probability: self.model.classifier.calibration().is_some(),
            cv: self.table().map_or(vec![], |table| table.entries.iter().map(cv_line).collect()),
        }
    }

    /// Lines for people.
    pub(super) fn facts(&self, rows: usize, columns: usize) -> Vec<(String, String)> {
        let mut facts = vec![
            ("method".into(), self.model.params.name().into()),
            ("rows".into(), format!("{}, in {} columns", count(rows), count(columns))),
        ];
        for (name, value) in varied(&self.model.params) {
            facts.push((name.into(), short(value)));
        }
        if let Some(table) = self.table().filter(|table| table.entries.len() > 1) {
            for (number, entry) in table.entries.iter().enumerate() {
                let name: Vec<String> =
                    varied(&entry.parameters).into_iter().map(|(name, value)| format!("{name} {}", short(value))).collect();
                let end = if number == table.best { "  best" } else if entry.dropped { "  given up" } else { "" };
                let value = format!("{:.4} ± {:.4}{end}", entry.mean, entry.standard_error);
                facts.push((format!("  {}", name.join(", ")), value));
            }
        }
        if self.model.classifier.calibration().is_some() {
            facts.push(("probabilities".into(), "in the model, by Platt scaling".into()));
        }
        let confusion = self.confusion();
        facts.push(("accuracy".into(), format!("{:.4} on {}", self.accuracy(), self.measured_on())));
        facts.push(("macro F1".into(), format!("{:.4}", confusion.macro_f1())));
        for (class, name) in self.model.classes.names().iter().enumerate().take(20) {
            let score = confusion.class(class);
            let value = format!("precision {:.3}, recall {:.3}, {} rows", score.precision, score.recall, score.rows);
            facts.push((format!("  class {name}"), value));
        }
        if self.model.classes.len() > 20 {
            facts.push((String::new(), format!("and {} more classes", self.model.classes.len() - 20)));
        }
        facts
    }
}

fn cv_line(entry: &eyot::CvEntry<ClassifierParams>) -> Cv {
    let number = |value: f64| if value.fract() == 0.0 { (value as i64).into() } else { value.into() };
    let parameters =
        varied(&entry.parameters).into_iter().map(|(name, value)| (name.to_owned(), number(value))).collect();
    Cv { parameters, mean: entry.mean, standard_error: entry.standard_error, dropped: entry.dropped }
}

/// A parameter as people write it.
pub(super) fn short(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 0.001 { format!("{}", (value * 1e6).round() / 1e6) } else { format!("{value:.3e}") }
}
