//! The log's folder and its files as the file system has them: 0700 and 0600, whoever changed that.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use brattice_protocol::audit::FileNumber;
use rustix::fs::OFlags;

use super::error::AuditError;
use crate::regular;

/// A file to read, and to write at its end.
const APPEND: OFlags = OFlags::RDWR.union(OFlags::APPEND);

/// The folder. What is in it is looked up each time: others can touch it.
#[derive(Clone, Debug)]
pub(super) struct LogFolder(PathBuf);

impl LogFolder {
    /// The folder at this path, which may not be there yet.
    pub(super) fn new(path: PathBuf) -> Self {
        LogFolder(path)
    }

    /// The path of a file in it.
    pub(super) fn path_of(&self, file: FileNumber) -> PathBuf {
        self.0.join(file.to_string())
    }

    /// Makes it where it is missing, and private where it is not.
    pub(super) fn make(&self) -> Result<(), AuditError> {
        let path = || self.0.clone();
        match DirBuilder::new().mode(0o700).create(&self.0) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(AuditError::Make { path: path(), source }),
        }
        let found = fs::symlink_metadata(&self.0)
            .map_err(|source| AuditError::Make { path: path(), source })?;
        if !found.is_dir() {
            return Err(AuditError::NoFolder { path: path() });
        }
        close_to_others(&self.0, found.permissions().mode(), 0o700)
    }

    /// Its files, oldest first. Whatever else lies there is none of the log's.
    pub(super) fn files(&self) -> Result<Vec<FileNumber>, AuditError> {
        let fault = |source| AuditError::List { path: self.0.clone(), source };
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(fault)? {
            let name = entry.map_err(fault)?.file_name();
            files.extend(name.to_str().and_then(|name| name.parse::<FileNumber>().ok()));
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Opens a file to write at its end, and makes it private.
    pub(super) fn open_to_append(&self, file: FileNumber) -> Result<File, AuditError> {
        let path = self.path_of(file);
        let opened = regular::open(&path, APPEND);
        let open = opened.map_err(|source| AuditError::Open { path: path.clone(), source })?;
        let mode = open.metadata().map(|found| found.permissions().mode());
        let mode = mode.map_err(|source| AuditError::Look { path: path.clone(), source })?;
        close_to_others(&path, mode, 0o600)?;
        Ok(open)
    }

    /// Makes a file that is not there yet.
    pub(super) fn create(&self, file: FileNumber) -> Result<File, AuditError> {
        let path = self.path_of(file);
        let made = regular::open(&path, APPEND | OFlags::CREATE | OFlags::EXCL);
        made.map_err(|source| AuditError::Open { path, source })
    }

    /// Opens a file to read.
    pub(super) fn open_to_read(&self, file: FileNumber) -> Result<File, AuditError> {
        let path = self.path_of(file);
        let opened = regular::open(&path, OFlags::RDONLY);
        opened.map_err(|source| AuditError::Open { path, source })
    }

    /// Removes a file.
    pub(super) fn remove(&self, file: FileNumber) -> io::Result<()> {
        fs::remove_file(self.path_of(file))
    }
}

fn close_to_others(path: &Path, mode: u32, private: u32) -> Result<(), AuditError> {
    if mode & 0o077 == 0 {
        return Ok(());
    }
    tracing::warn!(path = %path.display(), mode = format!("{:04o}", mode & 0o7777), "others had rights on the audit log");
    fs::set_permissions(path, Permissions::from_mode(private))
        .map_err(|source| AuditError::Close { path: path.to_owned(), source })
}
