//! What an approval is about: one exact command in one folder, or one exact change of files, from one mode to another.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use brattice_policy::Mode;
use brattice_protocol::editor::EditorContent;
use sha2::{Digest as _, Sha256};

use crate::session::CallDigest;

/// What a person allows. Two subjects are the same question only if they are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Subject {
    /// What is to be done.
    pub(crate) deed: Deed,
    /// Where a command runs; the session's working directory for a change, whose paths name no other.
    pub(crate) folder: Folder,
    /// The session's mode.
    pub(crate) from: Mode,
    /// The mode in which it is done; the same where it is only asked about.
    pub(crate) to: Mode,
}

/// Something that a call is to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Deed {
    /// Run a command, by its whole text.
    Command(String),
    /// Change files.
    Change(Change),
}

impl Deed {
    /// What tells it from any other.
    pub(super) fn digest(&self) -> [u8; 32] {
        match self {
            Deed::Command(command) => Sha256::digest(command.as_bytes()).into(),
            Deed::Change(change) => change.digest,
        }
    }
}

/// A change of files. What their contents were when it was shown is the worker's to compare, not a part of it: who allows it for
/// a session allows it for those to come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Change {
    digest: [u8; 32],
    paths: Vec<PathBuf>,
}

impl Change {
    /// Of files at these paths, which are without links, by something that tells all of what is done to them.
    pub(crate) fn new(what: &[u8], paths: Vec<PathBuf>) -> Change {
        let mut digest = Sha256::new();
        // No command's text begins so.
        digest.update(b"\0change\0");
        digest.update(what);
        Change { digest: digest.finalize().into(), paths }
    }

    /// The files.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

/// What makes a call equal to one that a person was asked about before: its tool and all its arguments, and what the person is
/// shown of the files that it changes. Another content under the same edits is another change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Likeness {
    call: CallDigest,
    shown: [u8; 32],
}

impl Likeness {
    /// Of a call that shows this.
    pub(super) fn of(call: CallDigest, diff: &[EditorContent]) -> Likeness {
        let mut shown = Sha256::new();
        for EditorContent::Diff { path, old_text, new_text } in diff {
            for text in [Some(path), old_text.as_ref(), Some(new_text)] {
                let length = text.map_or(u64::MAX, |text| text.len() as u64);
                shown.update(length.to_le_bytes());
                shown.update(text.map_or("", String::as_str));
            }
        }
        Likeness { call, shown: shown.finalize().into() }
    }
}

/// A folder as it was when it was looked at: by its path without links, and by what stands there. Another one under the same
/// name is another folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Folder {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Folder {
    /// Looks at a folder. Blocks.
    ///
    /// # Errors
    /// It does not exist, is none, or cannot be looked at.
    pub(crate) fn look(path: &Path) -> io::Result<Folder> {
        let path = path.canonicalize()?;
        let found: Metadata = path.metadata()?;
        if !found.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Folder { path, device: found.dev(), inode: found.ino() })
    }

    /// Its path, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    #[cfg(test)]
    pub(crate) fn of(path: &str, inode: u64) -> Folder {
        Folder { path: path.into(), device: 1, inode }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_what_stands_there_and_not_its_name() {
        let scratch = Scratch::new();
        let (real, other) = (scratch.folder("real"), scratch.folder("other"));
        symlink(&real, scratch.path("link")).unwrap();
        let folder = Folder::look(&scratch.path("link")).unwrap();
        assert_eq!(folder.path(), real);
        assert_eq!(folder, Folder::look(&scratch.path("other/../real/.")).unwrap());
        std::fs::remove_dir(&real).unwrap();
        assert_eq!(Folder::look(&real).unwrap_err().kind(), io::ErrorKind::NotFound);
        symlink(&other, &real).unwrap();
        assert_ne!(Folder::look(&real).unwrap(), folder);
        let file = scratch.file("file", "");
        assert_eq!(Folder::look(&file).unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }
}
