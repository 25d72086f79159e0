//! A session on disk, `<session>/session.json`: what the next daemon needs to go on with it.
//!
//! The daemon is the file's one writer. It is written when the session is opened and when its mode changes, beside the old one
//! and renamed. Fields of a newer version are kept when an older one writes the file again.

use std::io;
use std::path::{Path, PathBuf};

use brattice_policy::Profile;
use brattice_protocol::SessionId;
use brattice_protocol::session::{Options, ToolsetName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::exec::spec::Timestamp;

/// The file's name in a session's folder.
const FILE: &str = "session.json";

/// A session as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedSession {
    /// Its id.
    pub(super) session: SessionId,
    /// Its name for people.
    #[serde(default)]
    pub(super) label: Option<String>,
    /// What its commands may do; the mode is that of commands that start from now on.
    pub(super) profile: Profile,
    /// Where relative paths start.
    pub(super) cwd: PathBuf,
    /// Its toolset.
    pub(super) toolset: ToolsetName,
    /// Settings of the toolset.
    #[serde(default)]
    pub(super) options: Options,
    /// When it was opened.
    pub(super) opened: Timestamp,
    /// What a newer version has written besides.
    #[serde(flatten)]
    pub(super) more: Map<String, Value>,
}

impl SavedSession {
    /// Writes it down in its folder.
    ///
    /// # Errors
    /// The folder takes no file; the one that was there stays.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let beside = folder.join("session.json.new");
        std::fs::write(&beside, serde_json::to_vec(self)?)?;
        std::fs::rename(&beside, folder.join(FILE))
    }

    /// Reads it; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub(super) fn read(folder: &Path) -> io::Result<Option<SavedSession>> {
        match std::fs::read(folder.join(FILE)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
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
    use brattice_policy::{Mode, Network, Root, RootKind};

    use super::*;
    use crate::session::testing::Scratch;

    fn saved() -> SavedSession {
        SavedSession {
            session: SessionId::new("one"),
            label: Some("build".to_owned()),
            profile: Profile {
                mode: Mode::ReadOnly,
                network: Network::Full,
                roots: vec![Root { path: "/ws".into(), kind: RootKind::Workspace }],
                temp: "/state/sessions/one/tmp".into(),
            },
            cwd: "/ws/sub".into(),
            toolset: ToolsetName::Dsh,
            options: Options::default(),
            opened: Timestamp(5),
            more: Map::new(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let scratch = Scratch::new();
        assert_eq!(SavedSession::read(&scratch.path("")).unwrap(), None);
        saved().write(&scratch.path("")).unwrap();
        assert_eq!(SavedSession::read(&scratch.path("")).unwrap(), Some(saved()));
    }

    #[test]
    fn t103_fields_of_a_newer_version_survive() {
        let scratch = Scratch::new();
        let newer = serde_json::to_string(&saved()).unwrap().replacen('{', "{\"newer\":[1],", 1);
        scratch.file(FILE, &newer);
        let mut read = SavedSession::read(&scratch.path("")).unwrap().unwrap();
        read.profile.mode = Mode::WorkspaceWrite;
        read.write(&scratch.path("")).unwrap();
        let text = std::fs::read_to_string(scratch.path(FILE)).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["newer"], serde_json::json!([1]));
        assert_eq!(value["profile"]["mode"], "workspace-write");
    }
}
