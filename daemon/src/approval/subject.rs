//! What an approval is about: one exact command in one folder, from one mode to another.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use brattice_policy::Mode;

/// What a person allows. Two subjects are the same question only if they are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Subject {
    /// The command's whole text.
    pub(crate) command: String,
    /// Where it runs.
    pub(crate) folder: Folder,
    /// The session's mode.
    pub(crate) from: Mode,
    /// The mode of the command; the same where a rule asks.
    pub(crate) to: Mode,
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
