//! The word that a supervisor leaves when it ends in order without a daemon: the session can go on under another one.
//!
//! A session whose folder holds neither this nor a held lock had a supervisor that was killed.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::regular;

/// The name of the file in a session's folder.
pub(crate) const RETIRED: &str = "retired";

/// What the next supervisor of the session, or its daemon, must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retired {
    /// The highest number that a task was given.
    pub(crate) highest: u64,
    /// The highest number that a denial was given.
    #[serde(default)]
    pub(crate) denied: u64,
    /// Whether tasks were stopped because no daemon had come in time: the session is over.
    pub(crate) is_expired: bool,
}

impl Retired {
    /// Leaves the word in a session's folder, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        regular::replace(&folder.join(RETIRED), &serde_json::to_vec(self)?).map(drop)
    }

    /// The word in a session's folder, if there is one.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn read(folder: &Path) -> io::Result<Option<Retired>> {
        match regular::read(&folder.join(RETIRED)) {
            // What is no word is none: the session counts as one whose supervisor was killed.
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::InvalidInput
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn a_word_is_read_and_half_a_word_is_none() {
        let scratch = Scratch::new();
        assert_eq!(Retired::read(&scratch.path("")).unwrap(), None);
        let word = Retired { highest: 7, denied: 2, is_expired: false };
        word.write(&scratch.path("")).unwrap();
        assert_eq!(Retired::read(&scratch.path("")).unwrap(), Some(word));
        scratch.file(RETIRED, "{\"high");
        assert_eq!(Retired::read(&scratch.path("")).unwrap(), None);
    }
}
