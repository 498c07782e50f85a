//! Files that appear whole or not at all: written under a temporary name beside the final one, brought to the disk,
//! then renamed. After any failure the previous file is as it was.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// A file under construction. It takes its name only when [`AtomicFile::commit`] succeeds; until then the bytes are in
/// a temporary file beside it, which goes away if this is dropped. A name ending in `.gz` or `.zst` compresses.
///
/// `-` is stdout, and what exists but is no regular file (a pipe, a device) is written directly: there is nothing to
/// replace.
pub struct AtomicFile {
    name: String,
    bytes: Bytes,
    /// The temporary file and the name it will take.
    renaming: Option<(NamedTempFile, PathBuf)>,
}

enum Bytes {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(GzEncoder<BufWriter<Box<dyn Write + Send>>>),
    Zstd(zstd::Encoder<'static, BufWriter<Box<dyn Write + Send>>>),
}

impl AtomicFile {
    /// Begins a file. Fails at once if its folder cannot be written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path == Path::new("-") {
            let bytes = Bytes::Plain(BufWriter::new(Box::new(io::stdout())));
            return Ok(Self { name: "stdout".into(), bytes, renaming: None });
        }
        let compression = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
        Self::begin(path, &compression)
    }

    fn begin(path: &Path, compression: &str) -> Result<Self> {
        let name = path.display().to_string();
        if !folder(path).is_dir() {
            return Err(Error::NoFolder { file: name, folder: folder(path).display().to_string() });
        }
        let begin = || -> io::Result<_> {
            let (raw, renaming) = open(path)?;
            let raw = BufWriter::with_capacity(1 << 17, raw);
            let bytes = match compression {
                "gz" => Bytes::Gzip(GzEncoder::new(raw, flate2::Compression::default())),
                "zst" => Bytes::Zstd(zstd::Encoder::new(raw, 0)?),
                _ => Bytes::Plain(raw),
            };
            Ok((bytes, renaming))
        };
        let (bytes, renaming) = begin().map_err(|error| Error::io(&name, error))?;
        Ok(Self { name, bytes, renaming })
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ends the file, waits until it is on the disk and gives it its name.
    pub fn commit(self) -> Result<()> {
        let Self { name, bytes, renaming } = self;
        let commit = || -> io::Result<()> {
            let mut raw = match bytes {
                Bytes::Plain(raw) => raw,
                Bytes::Gzip(encoder) => encoder.finish()?,
                Bytes::Zstd(encoder) => encoder.finish()?,
            };
            raw.flush()?;
            if let Some((file, target)) = renaming {
                file.as_file().sync_all()?;
                file.persist(&target).map_err(|error| error.error)?;
                // The new name is only safe once its folder is on the disk too; not every system allows to ask.
                let _ = File::open(folder(&target)).and_then(|folder| folder.sync_all());
            }
            Ok(())
        };
        commit().map_err(|error| Error::io(name, error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.bytes {
            Bytes::Plain(raw) => raw.write(bytes),
            Bytes::Gzip(encoder) => encoder.write(bytes),
            Bytes::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::Plain(raw) => raw.flush(),
            Bytes::Gzip(encoder) => encoder.flush(),
            Bytes::Zstd(encoder) => encoder.flush(),
        }
    }
}

/// Writes a whole file at once, uncompressed whatever its name.
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::begin(path.as_ref(), "")?;
    file.write_all(bytes).map_err(|error| Error::io(&file.name, error))?;
    file.commit()
}

type Raw = (Box<dyn Write + Send>, Option<(NamedTempFile, PathBuf)>);

fn open(path: &Path) -> io::Result<Raw> {
    let there = match fs::metadata(path) {
        Ok(there) => Some(there),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        // A folder fails here, with the system's own words.
        return Ok((Box::new(File::options().write(true).open(path)?), None));
    }
    // A link stays a link: what it points to is replaced.
    let target = if there.is_some() { fs::canonicalize(path)? } else { path.to_path_buf() };
    if target.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not the name of a file"));
    }
    let file = beside(&target)?;
    if let Some(there) = there {
        file.as_file().set_permissions(there.permissions())?;
    }
    Ok((Box::new(file.reopen()?), Some((file, target))))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file in the folder of `path`, with the rights that a new file would have.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".eyot-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The system's words would come with the temporary name, which only puzzles.
    builder.tempfile_in(folder(path)).map_err(|error| error.kind().into())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::Source;

    fn entries(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn the_name_appears_only_with_commit_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        fs::write(&path, "before").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        file.flush().unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"before");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(entries(folder.path()), ["out.txt"]);
    }

    #[test]
    fn names_ending_in_gz_and_zst_are_compressed() {
        let folder = tempfile::tempdir().unwrap();
        for end in ["csv", "csv.gz", "csv.zst"] {
            let path = folder.path().join(format!("x.{end}"));
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(&b"1,2\n".repeat(5000)).unwrap();
            file.commit().unwrap();
            let mut bytes = Vec::new();
            Source::new(&path).bytes().unwrap().reader.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, b"1,2\n".repeat(5000));
            assert_eq!(fs::metadata(&path).unwrap().len() < 1000, end != "csv");
        }
    }

    #[test]
    fn a_missing_folder_is_named_at_once() {
        let error = AtomicFile::create("/no/such/folder/x.csv").err().unwrap();
        assert!(error.to_string().starts_with("/no/such/folder/x.csv: "), "{error}");
        assert!(AtomicFile::create(std::env::temp_dir()).is_err());
        assert!(AtomicFile::create("").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_rights_stay_and_devices_are_not_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "before").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"after").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"after");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        write_file("/dev/null", b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let error = write_file("/dev/full", b"too much").unwrap_err();
        assert!(error.to_string().starts_with("/dev/full: No space left"), "{error}");
    }
}
