//! A folder of its own for a test, removed with it.

use std::path::{Path, PathBuf};

/// A private folder; paths in it are named from its root.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new, empty folder.
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().canonicalize().unwrap();
        let path = path.join(format!("brattice-test-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    /// A path in it, or an absolute one as it stands.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// Makes a folder and its parents.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        std::fs::create_dir_all(self.path(name)).unwrap();
        self.path(name)
    }

    /// Writes a file whose folder is there.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}
