//! A session on disk, `<session>/session.json`: what the next daemon needs to go on with it.
//!
//! The daemon is the file's one writer. It is written when the session is opened and when it is changed, beside the old one
//! and renamed. Fields of a newer version are kept when an older one writes the file again.

use std::io;
use std::path::{Path, PathBuf};

use brattice_policy::{Approval, Profile};
use brattice_protocol::SessionId;
use brattice_protocol::session::{Options, ToolsetName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ceiling::SavedBounds;
use super::session::{Intake, Session};
use crate::exec::spec::Timestamp;
use crate::regular;

/// The file's name in a session's folder.
const FILE: &str = "session.json";

/// Its name from the moment on at which the session's closing begins.
const CLOSED: &str = "closed";

/// What a folder says of its session.
#[derive(Debug, PartialEq)]
pub(super) enum Saved {
    /// It was open.
    Open(SavedSession),
    /// It was being closed.
    Closed(SavedSession),
    /// Nothing: its opening was not finished.
    Nothing,
}

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
    /// Whether its calls may ask a person.
    #[serde(default)]
    pub(super) approval: Approval,
    /// Whether it only plans.
    #[serde(default)]
    pub(super) plan: bool,
    /// What it does not go beyond, whatever the next daemon lets others do.
    #[serde(default)]
    pub(super) ceiling: Option<SavedBounds>,
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
        regular::replace(&folder.join(FILE), &serde_json::to_vec(self)?).map(drop)
    }

    fn read(path: &Path) -> io::Result<Option<SavedSession>> {
        match regular::read(path) {
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

impl Session {
    /// Writes down how it stands. Where that fails the next daemon takes it for what was written last. Blocks.
    pub(super) fn save(&self) {
        let _saving = self.saving.blocking_lock();
        if self.intake() == Intake::Closing {
            return;
        }
        let standing = self.standing().clone();
        if let Err(error) = self.setup.saved(&standing).write(self.setup.folder.path()) {
            tracing::error!(session = %self.id(), %error, "how the session stands is not on record");
        }
    }
}

impl Saved {
    /// What is written in a session's folder.
    ///
    /// # Errors
    /// It cannot be read, or is no session.
    pub(super) fn read(folder: &Path) -> io::Result<Saved> {
        if let Some(saved) = SavedSession::read(&folder.join(FILE))? {
            return Ok(Saved::Open(saved));
        }
        let closed = SavedSession::read(&folder.join(CLOSED))?;
        Ok(closed.map_or(Saved::Nothing, Saved::Closed))
    }
}

/// A session's closing begins: whoever finds its folder from now on goes on with that. By a name, which a full disk takes.
///
/// # Errors
/// The folder takes no other name.
pub(super) fn begin_closing(folder: &Path) -> io::Result<()> {
    std::fs::rename(folder.join(FILE), folder.join(CLOSED))
}

#[cfg(test)]
mod tests {
    use brattice_policy::{Mode, Namespaces, Network, Root, RootKind};

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
                protect: vec![".git/hooks".into()],
                deny_read: Vec::new(),
                namespaces: Namespaces::Auto,
                devices: Vec::new(),
                unix_sockets: Vec::new(),
            },
            cwd: "/ws/sub".into(),
            toolset: ToolsetName::Dsh,
            options: Options::default(),
            approval: Approval::Never,
            plan: true,
            ceiling: None,
            opened: Timestamp(5),
            more: Map::new(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let scratch = Scratch::new();
        assert_eq!(Saved::read(&scratch.path("")).unwrap(), Saved::Nothing);
        saved().write(&scratch.path("")).unwrap();
        assert_eq!(Saved::read(&scratch.path("")).unwrap(), Saved::Open(saved()));
        begin_closing(&scratch.path("")).unwrap();
        assert_eq!(Saved::read(&scratch.path("")).unwrap(), Saved::Closed(saved()));
    }

    #[test]
    fn t103_fields_of_a_newer_version_survive() {
        let scratch = Scratch::new();
        let newer = serde_json::to_string(&saved()).unwrap().replacen('{', "{\"newer\":[1],", 1);
        scratch.file(FILE, &newer);
        let Saved::Open(mut read) = Saved::read(&scratch.path("")).unwrap() else { panic!() };
        read.profile.mode = Mode::WorkspaceWrite;
        read.write(&scratch.path("")).unwrap();
        let text = std::fs::read_to_string(scratch.path(FILE)).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["newer"], serde_json::json!([1]));
        assert_eq!(value["profile"]["mode"], "workspace-write");
    }
}
