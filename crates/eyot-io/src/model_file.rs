//! Model files: the bytes of `eyot::ModelWriter` on the disk.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use eyot::ModelReader;

use crate::error::{Error, Result};
use crate::write::write_file;

/// Largest model file that is read: 16 GiB. Nothing that the file itself says makes us allocate more than it holds.
const MAX_BYTES: u64 = 1 << 34;

/// Writes a model. The file appears whole or not at all; a previous one stays as it was if anything fails.
pub fn save_model(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    write_file(path, bytes)
}

/// The bytes of a model file, for [`ModelReader::parse`]. What does not begin like a model is refused before the
/// rest is read.
pub fn load_model(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let io = |error| Error::io(&name, error);
    let mut file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    file.by_ref().take(ModelReader::START_BYTES as u64).read_to_end(&mut bytes).map_err(io)?;
    ModelReader::check_start(&bytes).map_err(|error| Error::data(&name, error))?;
    let size = file.metadata().map_err(io)?.len();
    let too_large = |what: String| Error::data(&name, eyot::Error::Model(what));
    if size > MAX_BYTES {
        return Err(too_large(format!("the model has {size} bytes, but no more than {MAX_BYTES} can be read")));
    }
    let rest = (size as usize).saturating_sub(bytes.len());
    bytes.try_reserve_exact(rest).map_err(|_| too_large(format!("there is no memory for a model of {size} bytes")))?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

/// Whether the file at a path begins like a model. Files that cannot be read do not.
pub fn is_model_file(path: impl AsRef<Path>) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(ModelReader::START_BYTES as u64).read_to_end(&mut start));
    read.is_ok() && ModelReader::check_start(&start).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyot::ModelWriter;

    fn model() -> Vec<u8> {
        let mut out = ModelWriter::new("test");
        out.put_f64("weights", &[1.0, 2.0]);
        out.finish().unwrap()
    }

    #[test]
    fn a_model_comes_back_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.eyot");
        save_model(&path, b"something else").unwrap();
        save_model(&path, &model()).unwrap();
        let bytes = load_model(&path).unwrap();
        assert_eq!(bytes, model());
        assert_eq!(ModelReader::parse(&bytes).unwrap().f64s("weights").unwrap(), [1.0, 2.0]);
        assert!(is_model_file(&path) && !is_model_file(folder.path()));
    }

    #[test]
    fn what_is_no_model_is_refused_with_the_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.csv");
        let message = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            assert!(!is_model_file(&path));
            let message = load_model(&path).unwrap_err().to_string();
            message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
        };
        assert_eq!(message(b""), "this is not an eyot model: it is empty");
        assert_eq!(message(b"a,b,c\n1,2,3\n"), "this is not an eyot model: it does not begin like one");
        assert_eq!(message(&model()[..60]), "the model is truncated: it ends before its contents do");
        assert!(load_model(folder.path().join("none")).unwrap_err().to_string().contains("none: No such file"));
        assert!(load_model(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn an_oversized_file_is_refused_without_reading_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.eyot");
        std::fs::write(&path, model()).unwrap();
        // A hole, not bytes on the disk.
        File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        let message = load_model(&path).unwrap_err().to_string();
        assert!(message.ends_with("the model has 17179869185 bytes, but no more than 17179869184 can be read"));
    }
}
