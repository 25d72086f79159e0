//! The word that a supervisor leaves when it ends in order without a daemon: the session can go on under another one.
//!
//! A session whose folder holds neither this nor a held lock had a supervisor that was killed.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The name of the file in a session's folder.
pub(crate) const RETIRED: &str = "retired";

/// What the next supervisor of the session, or its daemon, must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retired {
    /// The highest number that a task was given.
    pub(crate) highest: u64,
    /// Whether tasks were stopped because no daemon had come in time: the session is over.
    pub(crate) is_expired: bool,
}

impl Retired {
    /// The word in a session's folder, if there is one.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn read(folder: &Path) -> io::Result<Option<Retired>> {
        match std::fs::read(folder.join(RETIRED)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
