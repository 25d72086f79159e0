//! Paths and errnos as data. A path that is no UTF-8 is shown as people see it: it can be read, and names no file.

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

/// An errno by its number.
pub(crate) mod errno {
    use rustix::io::Errno;
    use serde::{Deserialize, Deserializer, Serializer};

    /// The number.
    pub(crate) fn serialize<S: Serializer>(
        errno: &Errno,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(errno.raw_os_error())
    }

    /// What a number stands for.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Errno, D::Error> {
        i32::deserialize(from).map(Errno::from_raw_os_error)
    }
}
