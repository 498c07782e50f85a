//! Where bytes come from: a path or stdin, plain or compressed, once or several times.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// An input. A regular file can be read any number of times; stdin, pipes and other streams only once, unless
/// [`Source::keep`] has put their contents aside in a temporary file.
#[derive(Debug)]
pub struct Source {
    name: String,
    extensions: String,
    from: From,
}

enum From {
    File(PathBuf),
    Stream(Option<Box<dyn Read + Send>>),
    /// Decompressed bytes in a file without a name, gone when it is closed.
    Kept(File),
}

impl std::fmt::Debug for From {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Stream(_) => "Stream",
            Self::Kept(_) => "Kept",
        })
    }
}

/// Decompressed bytes of a source, and how far the reading has come.
pub(crate) struct Bytes {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) progress: Progress,
}

/// How many of how many bytes have been taken from a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    taken: Arc<AtomicU64>,
    total: Option<u64>,
}

impl Progress {
    pub(crate) fn share(&self) -> Option<f64> {
        let total = self.total.filter(|&total| total > 0)?;
        Some((self.taken.load(Ordering::Relaxed) as f64 / total as f64).min(1.0))
    }
}

impl Source {
    /// The file at a path, or stdin for `-`. Nothing is opened yet.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Self::from_reader("stdin", Box::new(io::stdin()));
        }
        let name = path.display().to_string();
        Self { extensions: extensions(path), name, from: From::File(path.to_path_buf()) }
    }

    /// Bytes from elsewhere that can be read once.
    pub fn from_reader(name: impl Into<String>, reader: Box<dyn Read + Send>) -> Self {
        Self { name: name.into(), extensions: String::new(), from: From::Stream(Some(reader)) }
    }

    /// What errors call it: the path as given, or `stdin`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The extension in lower case, without that of a compression; empty for stdin.
    pub fn extension(&self) -> &str {
        let mut parts = self.extensions.rsplit('.');
        match parts.next() {
            Some("gz" | "zst") => parts.next().unwrap_or(""),
            last => last.unwrap_or(""),
        }
    }

    /// Makes sure that the input can be opened more than once: what is not a regular file is copied, decompressed,
    /// to a temporary file.
    pub fn keep(&mut self) -> Result<()> {
        if self.is_regular_file()? || matches!(self.from, From::Kept(_)) {
            return Ok(());
        }
        let bytes = self.bytes()?;
        self.keep_rest(bytes.reader)
    }

    /// Takes the bytes of a half-read stream over into a temporary file.
    pub(crate) fn keep_rest(&mut self, mut bytes: impl Read) -> Result<()> {
        let name = self.name.clone();
        let fail = |error| Error::io(&name, error);
        let mut file = tempfile::tempfile().map_err(fail)?;
        io::copy(&mut bytes, &mut file).map_err(fail)?;
        self.from = From::Kept(file);
        Ok(())
    }

    /// Whether the bytes can be had again.
    pub(crate) fn is_repeatable(&self) -> Result<bool> {
        Ok(matches!(self.from, From::Kept(_)) || self.is_regular_file()?)
    }

    fn is_regular_file(&self) -> Result<bool> {
        match &self.from {
            From::File(path) => Ok(std::fs::metadata(path).map_err(|error| self.io(error))?.is_file()),
            From::Stream(_) | From::Kept(_) => Ok(false),
        }
    }

    fn io(&self, error: io::Error) -> Error {
        Error::io(&self.name, error)
    }

    /// The decompressed bytes from the start.
    pub(crate) fn bytes(&mut self) -> Result<Bytes> {
        let (raw, total): (Box<dyn Read + Send>, _) = match &mut self.from {
            From::File(path) => {
                let file = File::open(&*path).map_err(|error| Error::io(&self.name, error))?;
                let meta = file.metadata().map_err(|error| Error::io(&self.name, error))?;
                if meta.is_dir() {
                    return Err(Error::io(&self.name, io::ErrorKind::IsADirectory.into()));
                }
                (Box::new(file), meta.is_file().then_some(meta.len()))
            }
            From::Stream(stream) => (stream.take().ok_or_else(|| Error::ReadTwice { file: self.name.clone() })?, None),
            From::Kept(_) => {
                let file = self.kept_file()?;
                let total = file.metadata().map_err(|error| self.io(error))?.len();
                let progress = Progress { total: Some(total), ..Progress::default() };
                let reader = Counted { inner: file, taken: progress.taken.clone() };
                return Ok(Bytes { reader: Box::new(reader), progress });
            }
        };
        let progress = Progress { total, ..Progress::default() };
        let counted = Counted { inner: raw, taken: progress.taken.clone() };
        let reader = decompress(counted, &self.extensions).map_err(|error| self.io(error))?;
        Ok(Bytes { reader, progress })
    }

    /// The decompressed bytes as a file that can seek: the file itself if it is plain, else a temporary copy.
    pub(crate) fn file(&mut self) -> Result<File> {
        if let From::Kept(_) = self.from {
            return self.kept_file();
        }
        if let From::File(path) = &self.from
            && self.is_regular_file()?
        {
            let mut file = File::open(path).map_err(|error| self.io(error))?;
            let start = prefix(&mut file, 4).map_err(|error| self.io(error))?;
            if Compression::of(&self.extensions, &start) == Compression::None {
                file.seek(SeekFrom::Start(0)).map_err(|error| self.io(error))?;
                return Ok(file);
            }
        }
        let bytes = self.bytes()?;
        self.keep_rest(bytes.reader)?;
        self.kept_file()
    }

    fn kept_file(&self) -> Result<File> {
        let From::Kept(file) = &self.from else { unreachable!("called only for kept bytes") };
        // The copies share one position, so a source is read by one reader at a time.
        let mut file = file.try_clone().map_err(|error| self.io(error))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| self.io(error))?;
        Ok(file)
    }
}

/// All that follows the first dot of the file name, in lower case.
fn extensions(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    name.trim_start_matches('.').split_once('.').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// By the last extension, else by the first bytes.
    fn of(extensions: &str, start: &[u8]) -> Self {
        match extensions.rsplit('.').next() {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            _ if start.starts_with(&[0x1f, 0x8b]) => Self::Gzip,
            _ if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => Self::Zstd,
            _ => Self::None,
        }
    }
}

fn decompress(mut raw: impl Read + Send + 'static, extensions: &str) -> io::Result<Box<dyn Read + Send>> {
    let start = prefix(&mut raw, 4)?;
    let compression = Compression::of(extensions, &start);
    let raw = Cursor::new(start).chain(raw);
    Ok(match compression {
        Compression::None => Box::new(raw),
        Compression::Gzip => {
            let raw = BufReader::with_capacity(1 << 17, raw);
            Box::new(flate2::bufread::MultiGzDecoder::new(raw))
        }
        Compression::Zstd => Box::new(zstd::Decoder::new(raw)?),
    })
}

/// Up to `len` bytes, fewer only at the end.
pub(crate) fn prefix(reader: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.inner.read(buffer)?;
        self.taken.fetch_add(taken as u64, Ordering::Relaxed);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn all(source: &mut Source) -> Vec<u8> {
        let mut bytes = Vec::new();
        source.bytes().unwrap().reader.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn extension_skips_the_compression() {
        let extension = |path: &str| Source::new(path).extension().to_owned();
        assert_eq!(extension("a.b/x.train.CSV.GZ"), "csv");
        assert_eq!(extension("x.svm.zst"), "svm");
        assert_eq!(extension("x.gz"), "");
        assert_eq!(extension("x.tgz"), "tgz");
        assert_eq!(extension(".hidden"), "");
        assert_eq!(extension("-"), "");
    }

    #[test]
    fn streams_are_decompressed_by_their_first_bytes_and_kept_for_a_second_reading() {
        let plain = b"1,2\n3,4\n".repeat(1000);
        let twice = [gzip(&plain), gzip(&plain)].concat();
        for (packed, expected) in [
            (plain.clone(), plain.clone()),
            (gzip(&plain), plain.clone()),
            (twice, plain.repeat(2)),
            (zstd::encode_all(&*plain, 3).unwrap(), plain.clone()),
        ] {
            let mut once = Source::from_reader("stdin", Box::new(Cursor::new(packed.clone())));
            assert_eq!(all(&mut once), expected);
            assert!(matches!(once.bytes(), Err(Error::ReadTwice { .. })));
            let mut kept = Source::from_reader("stdin", Box::new(Cursor::new(packed)));
            kept.keep().unwrap();
            assert_eq!(all(&mut kept), expected);
            assert_eq!(all(&mut kept), expected);
            let mut bytes = Vec::new();
            kept.file().unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn a_file_is_read_again_and_again_and_its_progress_ends_at_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.csv.gz");
        std::fs::write(&path, gzip(b"a\n1\n")).unwrap();
        let mut source = Source::new(&path);
        source.keep().unwrap();
        assert_eq!(all(&mut source), b"a\n1\n");
        let mut bytes = source.bytes().unwrap();
        assert!(bytes.progress.share().unwrap() < 1.0 + f64::EPSILON);
        io::copy(&mut bytes.reader, &mut io::sink()).unwrap();
        assert_eq!(bytes.progress.share(), Some(1.0));
    }

    #[test]
    fn a_missing_file_a_folder_and_broken_compression_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("none.csv");
        let error = Source::new(&missing).bytes().err().unwrap();
        assert!(error.to_string().contains("none.csv"));
        assert!(error.hint().is_some());
        assert!(Source::new(directory.path()).bytes().is_err());
        let broken = directory.path().join("x.csv.gz");
        std::fs::write(&broken, "no gzip at all").unwrap();
        let mut bytes = Source::new(&broken).bytes().unwrap();
        assert!(bytes.reader.read(&mut [0; 16]).is_err());
    }
}
