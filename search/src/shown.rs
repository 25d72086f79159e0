//! Paths as data. A path that is no UTF-8 is shown as people see it: it can be read, and names no file.

use std::path::{Path, PathBuf};

use serde::{Serialize as _, Serializer};

/// A path.
pub(crate) fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}

/// Several.
pub(crate) fn paths<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}
