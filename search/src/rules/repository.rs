//! Where a repository keeps the rules that it shares with nobody: `info/exclude` in its own folder, which a linked
//! worktree and a submodule only point to.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::file;

/// The exclude file that belongs to a `.git`, whether it is there or not.
pub(super) fn exclude_file(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.join("info/exclude"));
    }
    let parent = dot_git.parent()?;
    let own = parent.join(pointed(dot_git, b"gitdir: ")?);
    // A submodule's folder is complete; a worktree's names the one that all share.
    let shared = pointed(&own.join("commondir"), b"").map(|common| own.join(common));
    Some(shared.unwrap_or(own).join("info/exclude"))
}

/// The path in the first line of a small file, after a word.
fn pointed(path: &Path, word: &[u8]) -> Option<PathBuf> {
    let text = file::content(path).ok()?;
    let line = text.split(|&byte| byte == b'\n').next()?.strip_prefix(word)?;
    let line = line.trim_ascii_end();
    (!line.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(line)))
}
