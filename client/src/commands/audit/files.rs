//! The log's files, and their lines in order. A daemon may be writing to the newest and removing the oldest meanwhile.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use brattice_protocol::audit::{FileNumber, Place};

/// No daemon writes a line as long as this. What is longer is none, and is not read to its end.
const TOO_LONG: u64 = 64 << 20;

/// Why the log cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// There is none.
    #[error("there is no audit log in {}", folder.display())]
    None { folder: PathBuf },
    /// Its folder cannot be read.
    #[error("cannot list the audit log's files in {}", folder.display())]
    List { folder: PathBuf, source: io::Error },
    /// A file cannot be read.
    #[error("cannot read the audit log's file {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The kernel tells nothing of the folder.
    #[error("cannot watch {}", folder.display())]
    Watch { folder: PathBuf, source: io::Error },
}

impl LogError {
    /// The way out.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            LogError::None { .. } => {
                Some("a daemon begins one; BRATTICE_STATE or --folder say where it is")
            }
            LogError::List { .. } | LogError::Read { .. } | LogError::Watch { .. } => None,
        }
    }

    /// Whether a file was no longer there: the daemon removes the oldest.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, LogError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// The folder of a log.
#[derive(Clone, Debug)]
pub(super) struct LogFiles(PathBuf);

impl LogFiles {
    /// The log in this folder.
    pub(super) fn new(folder: PathBuf) -> Self {
        LogFiles(folder)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// A file's path.
    pub(super) fn path(&self, file: FileNumber) -> PathBuf {
        self.0.join(file.to_string())
    }

    /// The files, oldest first, at least one.
    pub(super) fn list(&self) -> Result<Vec<FileNumber>, LogError> {
        let folder = || self.0.clone();
        let entries = match std::fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LogError::None { folder: folder() });
            }
            entries => entries.map_err(|source| LogError::List { folder: folder(), source })?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| LogError::List { folder: folder(), source })?;
            files.extend(
                entry.file_name().to_str().and_then(|name| name.parse::<FileNumber>().ok()),
            );
        }
        if files.is_empty() {
            return Err(LogError::None { folder: folder() });
        }
        files.sort_unstable();
        Ok(files)
    }

    /// The lines of a file from a line's beginning on, each with its newline where it has one.
    pub(super) fn lines(&self, file: FileNumber, offset: u64) -> Result<Lines, LogError> {
        let path = self.path(file);
        let opened = File::open(&path).and_then(|mut open| {
            open.seek(SeekFrom::Start(offset))?;
            Ok(open)
        });
        match opened {
            Ok(open) => Ok(Lines { reader: BufReader::new(open), path }),
            Err(source) => Err(LogError::Read { path, source }),
        }
    }

    /// All lines of these files with their places.
    pub(super) fn all_lines(
        &self,
        files: Vec<FileNumber>,
    ) -> impl Iterator<Item = Result<(Place, Vec<u8>), LogError>> {
        files.into_iter().flat_map(|file| {
            let (lines, fault) = match self.lines(file, 0) {
                Ok(lines) => (Some(lines), None),
                Err(fault) => (None, Some(Err(fault))),
            };
            let place = move |line| Place { file, line };
            let lines = (1..).zip(lines.into_iter().flatten());
            fault.into_iter().chain(lines.map(move |(line, text)| Ok((place(line), text?))))
        })
    }
}

/// The lines of one file.
#[derive(Debug)]
pub(super) struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
}

impl Iterator for Lines {
    type Item = Result<Vec<u8>, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        match self.reader.by_ref().take(TOO_LONG).read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(read) => {
                if read as u64 == TOO_LONG {
                    // As a line of its own it is found to be none.
                    line.push(b'\n');
                }
                Some(Ok(line))
            }
            Err(source) => Some(Err(LogError::Read { path: self.path.clone(), source })),
        }
    }
}
