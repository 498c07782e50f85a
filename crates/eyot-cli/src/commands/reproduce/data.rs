//! Where data sets are and how they are read: by the names of this project's layout (`online/a9a.train.svm.zst`), or by
//! the names under which they are public (`a9a`), in the folder of the user or in the folders of that.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use eyot::{Column, PointsBuf, Row, SparseRow, Table, TableColumn, permutation};
use eyot_io::{Format, ReadOptions, Source, open, read_table};

/// Endings of data files, in the order in which they are looked for.
const ENDINGS: [&str; 9] = ["parquet", "svm.zst", "svm", "csv", "csv.gz", "npy", "arrow", "libsvm", "svm.gz"];
/// Endings that a public file may have besides none.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// Rows that tell what a data set is like where nothing is computed.
const HEAD_ROWS: usize = 1000;

/// A public file and how it becomes a table like ours.
struct Public {
    set: &'static str,
    file: &'static str,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    /// LIBSVM text as it is.
    Sparse,
    /// The same, every value times a factor.
    Times(f64),
    /// One file of which this many random rows are for training: those, or the others.
    Train(usize),
    Test(usize),
    /// CSV whose column of this name is the target.
    Target(&'static str),
    /// CSV without names of columns whose last one is the class.
    Last,
    /// The same, the class being 2 against all others.
    Second,
    /// Musk: the molecule, the conformation, 166 columns, the class.
    Molecules,
}

const fn public(set: &'static str, file: &'static str, shape: Shape) -> Public {
    Public { set, file, shape }
}

/// LIBSVM's and UCI's names.
const PUBLIC: [Public; 33] = [
    public("online/a9a.train", "a9a", Shape::Sparse),
    public("online/a9a.test", "a9a.t", Shape::Sparse),
    public("online/ijcnn1.train", "ijcnn1", Shape::Sparse),
    public("online/ijcnn1.test", "ijcnn1.t", Shape::Sparse),
    public("online/covtype", "covtype.libsvm.binary", Shape::Sparse),
    public("online/covtype", "covtype.libsvm.binary.scale", Shape::Sparse),
    public("online/covtype", "covtype.data", Shape::Second),
    public("online/mnist.train", "mnist.scale", Shape::Times(255.0)),
    public("online/mnist.test", "mnist.scale.t", Shape::Times(255.0)),
    public("online/mnist.train", "mnist", Shape::Sparse),
    public("online/mnist.test", "mnist.t", Shape::Sparse),
    public("online/news20.train", "news20.binary", Shape::Train(15_997)),
    public("online/news20.test", "news20.binary", Shape::Test(15_997)),
    public("online/rcv1.train", "rcv1_train.binary", Shape::Sparse),
    public("online/rcv1.test", "rcv1_test.binary", Shape::Sparse),
    public("online/real-sim.train", "real-sim", Shape::Train(57_848)),
    public("online/real-sim.test", "real-sim", Shape::Test(57_848)),
    public("online/cifar10.train", "cifar10", Shape::Sparse),
    public("online/cifar10.test", "cifar10.t", Shape::Sparse),
    public("online/phishing", "phishing", Shape::Sparse),
    public("online/codrna.train", "cod-rna", Shape::Sparse),
    public("online/codrna.test", "cod-rna.t", Shape::Sparse),
    public("online/codrna.rest", "cod-rna.r", Shape::Sparse),
    public("online/poker.train", "poker", Shape::Sparse),
    public("online/poker.test", "poker.t", Shape::Sparse),
    public("online/poker.train", "poker-hand-training-true.data", Shape::Last),
    public("online/poker.test", "poker-hand-testing.data", Shape::Last),
    public("online/cadata", "cadata", Shape::Sparse),
    public("online/abalone", "abalone_scale", Shape::Sparse),
    public("online/abalone", "abalone", Shape::Sparse),
    public("online/casp", "CASP.csv", Shape::Target("RMSD")),
    public("mil/musk1", "clean1.data", Shape::Molecules),
    public("mil/musk2", "clean2.data", Shape::Molecules),
];

/// Names of files that many have but that no reader here opens, with what to do about it.
const UNREADABLE: [(&str, &str); 2] = [
    ("bz2", "bzip2 is not read here: unpack it"),
    ("mat", "MATLAB files are not read here: write its matrix X and its column y as label to a CSV file"),
];

/// The user's folder of data sets.
pub(super) struct Shelf {
    /// The folder and the folders in it.
    folders: Vec<PathBuf>,
}

/// A file that holds a data set.
pub(super) struct Found {
    path: PathBuf,
    /// `None` for a file of our own layout.
    shape: Option<Shape>,
}

impl Shelf {
    pub(super) fn new(folder: &Path) -> anyhow::Result<Self> {
        let mut folders = vec![folder.to_path_buf()];
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry.with_context(|| folder.display().to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
        folders[1..].sort();
        Ok(Self { folders })
    }

    /// The file of a data set, for example `anomaly/http`.
    pub(super) fn find(&self, set: &str) -> Option<Found> {
        let short = set.rsplit('/').next().unwrap_or(set);
        let own = |folder: &Path, name: &str| {
            let path = ENDINGS.iter().map(|ending| folder.join(format!("{name}.{ending}"))).find(|path| path.is_file())?;
            Some(Found { path, shape: None })
        };
        if let Some(found) = own(&self.folders[0], set) {
            return Some(found);
        }
        let public = |folder: &Path| {
            PUBLIC.iter().filter(|public| public.set == set).find_map(|public| {
                let path = PACKED.iter().map(|end| folder.join(format!("{}{end}", public.file))).find(|path| path.is_file())?;
                Some(Found { path, shape: Some(public.shape) })
            })
        };
        self.folders.iter().find_map(|folder| public(folder).or_else(|| own(folder, short)))
    }

    /// Why a data set that is there cannot be used, for example because it is packed in a way that is not read.
    pub(super) fn unreadable(&self, set: &str) -> Option<String> {
        let short = set.rsplit('/').next().unwrap_or(set);
        let names = PUBLIC.iter().filter(|public| public.set == set).map(|public| public.file).chain([short]);
        for name in names {
            for (ending, advice) in UNREADABLE {
                let path = self.folders.iter().map(|folder| folder.join(format!("{name}.{ending}"))).find(|path| path.is_file());
                if let Some(path) = path {
                    return Some(format!("{} is there, but {advice}", path.display()));
                }
            }
        }
        None
    }
}

impl Found {
    /// The whole table, or its first rows alone.
    pub(super) fn read(&self, head: bool) -> anyhow::Result<Table> {
        let name = || self.path.display().to_string();
        let options = match self.shape {
            None => ReadOptions::default(),
            Some(Shape::Sparse | Shape::Times(_) | Shape::Train(_) | Shape::Test(_)) => {
                ReadOptions::default().format(Format::Svmlight)
            }
            Some(Shape::Target(_)) => ReadOptions::default().format(Format::Csv),
            Some(Shape::Last | Shape::Second | Shape::Molecules) => {
                ReadOptions::default().format(Format::Csv).header(false)
            }
        };
        let mut source = Source::new(&self.path);
        let table = if head {
            let mut reader = open(&mut source, &options.batch_rows(HEAD_ROWS))?;
            reader.next_batch()?.with_context(name)?
        } else {
            read_table(&mut source, &options)?
        };
        match self.shape {
            None => Ok(table),
            Some(shape) => shaped(table, shape).with_context(name),
        }
    }
}

/// A public table in the form of ours: a column `label`, or `bag` and `bag_label`.
fn shaped(mut table: Table, shape: Shape) -> anyhow::Result<Table> {
    match shape {
        Shape::Sparse => {}
        Shape::Times(factor) => table.sparse = table.sparse.map(|points| times(&points, factor)),
        Shape::Train(n) | Shape::Test(n) => {
            let order = permutation(table.n_rows, 0, 0);
            let (train, test) = order.split_at(n.min(order.len()));
            table = table.select(if matches!(shape, Shape::Train(_)) { train } else { test });
        }
        Shape::Target(name) => {
            let column = table.columns.iter_mut().find(|column| column.name == name);
            "label".clone_into(&mut column.with_context(|| format!("there is no column `{name}`"))?.name);
        }
        Shape::Last | Shape::Second => {
            let last = table.columns.last_mut().context("there are no columns")?;
            "label".clone_into(&mut last.name);
            if let (Shape::Second, Column::Numbers(classes)) = (shape, &mut last.values) {
                for class in classes.iter_mut() {
                    *class = if *class == 2.0 { 1.0 } else { -1.0 };
                }
            }
        }
        Shape::Molecules => {
            anyhow::ensure!(table.columns.len() == 169, "169 columns are expected, but there are {}", table.columns.len());
            let mut columns = std::mem::take(&mut table.columns);
            let label = columns.pop().expect("169 columns").values;
            let bag = columns.remove(0).values;
            // The name of the conformation.
            columns.remove(0);
            columns.push(TableColumn { name: "bag".into(), values: bag });
            columns.push(TableColumn { name: "bag_label".into(), values: label });
            table.columns = columns;
        }
    }
    Ok(table)
}

fn times(points: &PointsBuf, factor: f64) -> PointsBuf {
    let mut scaled = PointsBuf::sparse(points.n_columns());
    for row in points.as_points().rows() {
        let (columns, values): (Vec<u32>, Vec<f64>) = row.nonzeros().map(|(column, value)| (column as u32, value * factor)).unzip();
        scaled.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(files: &[(&str, &str)]) -> (tempfile::TempDir, Shelf) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let shelf = Shelf::new(folder.path()).unwrap();
        (folder, shelf)
    }

    fn label(table: &Table) -> &Column {
        &table.columns.iter().find(|column| column.name == "label").unwrap().values
    }

    #[test]
    fn public_names_are_found_in_the_folder_and_in_its_folders() {
        let (_folder, shelf) = shelf(&[("a9a", "+1 3:1\n-1 1:1\n"), ("libsvm/a9a.t", "-1 2:1\n"), ("uci/CASP.csv", "RMSD,F1\n2.5,1\n3,4\n")]);
        let table = shelf.find("online/a9a.train").unwrap().read(false).unwrap();
        assert_eq!((table.n_rows, label(&table)), (2, &Column::Numbers(vec![1.0, -1.0])));
        assert_eq!(shelf.find("online/a9a.test").unwrap().read(false).unwrap().n_rows, 1);
        let table = shelf.find("online/casp").unwrap().read(false).unwrap();
        assert_eq!(label(&table), &Column::Numbers(vec![2.5, 3.0]));
        assert!(shelf.find("online/ijcnn1.train").is_none());
        assert_eq!(shelf.find("online/a9a.train").unwrap().read(true).unwrap().n_rows, 2);
    }

    #[test]
    fn our_own_layout_goes_before_public_names() {
        let (_folder, shelf) = shelf(&[("a9a", "+1 3:1\n-1 1:1\n"), ("online/a9a.train.svm", "1 1:1\n")]);
        assert_eq!(shelf.find("online/a9a.train").unwrap().read(false).unwrap().n_rows, 1);
    }

    #[test]
    fn forms_of_public_files_become_ours() {
        let (_folder, shelf) = shelf(&[
            ("covtype.data", "1,2,2\n3,4,7\n"),
            ("mnist.scale", "3 1:0.2 4:1\n5 2:0.4\n"),
            ("news20.binary", "1 1:1\n-1 2:1\n"),
        ]);
        let table = shelf.find("online/covtype").unwrap().read(false).unwrap();
        assert_eq!(label(&table), &Column::Numbers(vec![1.0, -1.0]));
        let table = shelf.find("online/mnist.train").unwrap().read(false).unwrap();
        assert_eq!(table.sparse.unwrap().row(0).nonzeros().collect::<Vec<_>>(), [(0, 51.0), (3, 255.0)]);
        // Fewer rows than are for training: all of them are.
        assert_eq!(shelf.find("online/news20.train").unwrap().read(false).unwrap().n_rows, 2);
        assert_eq!(shelf.find("online/news20.test").unwrap().read(false).unwrap().n_rows, 0);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_the_way_out() {
        let (_folder, shelf) = shelf(&[("a9a.bz2", ""), ("odds/http.mat", "")]);
        assert!(shelf.find("online/a9a.train").is_none() && shelf.find("anomaly/http").is_none());
        assert!(shelf.unreadable("online/a9a.train").unwrap().contains("bzip2 is not read here"));
        assert!(shelf.unreadable("anomaly/http").unwrap().contains("MATLAB"));
        assert!(shelf.unreadable("anomaly/smtp").is_none());
    }
}
