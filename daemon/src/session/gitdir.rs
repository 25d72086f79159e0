//! Git directories outside the workspace: those of a linked worktree or a submodule, found without running git.
//!
//! In such a workspace `.git` is a file, `gitdir: PATH`, and git must write to that path. Whoever can write to the
//! workspace can write that file, so it is only a hint. A folder becomes a root on evidence that lies **outside**
//! the workspace:
//!
//! - it must point back: a worktree's `gitdir` file names this workspace's `.git`, a submodule's `core.worktree`
//!   names this workspace. An attacker who can write to the workspace alone cannot put that into `~/.ssh`. What is
//!   named is the folder itself, by a path without any symbolic link: commands may have put links (and, for `.git`,
//!   hard links) where the path leads through, which would make it name whatever they like;
//! - it must be a git directory (`HEAD` and, unless a common directory holds them, `objects` and `refs`), so that
//!   a back-pointer somebody left in a folder of another kind opens nothing;
//! - a common directory is taken only where git itself makes it, as the parent of the `worktrees` folder that holds
//!   the git directory, and must be a git directory too. So a `commondir` file alone widens nothing either;
//! - what lies inside the workspace needs no root and gets none, nor does what it points at: all of it could have been
//!   made by a command.
//!
//! Nothing here is an error: what is not found to be a git directory of this workspace stays read-only, and git says
//! so itself. Which roots are refused because they hold the daemon's own files is `workspace`'s business.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use brattice_policy::{Root, RootKind};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat, openat2};

/// Longest pointer file or configuration that is read; git's own are far below.
const MAX_FILE: u64 = 256 << 10;

/// The git directories that a canonical workspace needs besides itself; none for a plain clone.
pub(super) fn find(workspace: &Path) -> Vec<Root> {
    let Some(git_dir) = pointer(&workspace.join(".git"), b"gitdir: ")
        .and_then(|path| folder(workspace, &path))
        .filter(|path| !path.starts_with(workspace))
    else {
        return Vec::new();
    };
    if let Some(common) = worktree_common(workspace, &git_dir) {
        return vec![
            Root { path: git_dir, kind: RootKind::GitDir },
            Root { path: common, kind: RootKind::GitCommonDir },
        ];
    }
    if is_submodule(workspace, &git_dir) {
        return vec![Root { path: git_dir, kind: RootKind::GitDir }];
    }
    Vec::new()
}

/// The common directory, where `git_dir` is that of a linked worktree at `workspace`.
fn worktree_common(workspace: &Path, git_dir: &Path) -> Option<PathBuf> {
    let back = git_dir.join(pointer(&git_dir.join("gitdir"), b"")?);
    let names_us =
        back.file_name() == Some(OsStr::new(".git")) && is_without_links(back.parent()?, workspace);
    let worktrees = git_dir.parent().filter(|path| path.ends_with("worktrees"))?;
    let common = folder(git_dir, &pointer(&git_dir.join("commondir"), b"")?)?;
    let is_gits_layout = worktrees.parent() == Some(&common) && is_repository(&common);
    (names_us && is_gits_layout && git_dir.join("HEAD").is_file()).then_some(common)
}

/// Whether `git_dir` is that of a submodule (or of another repository with `core.worktree`) at `workspace`.
fn is_submodule(workspace: &Path, git_dir: &Path) -> bool {
    // Git moves core.worktree to config.worktree when extensions.worktreeConfig is turned on.
    let names_us = ["config", "config.worktree"].iter().any(|name| {
        read(&git_dir.join(name))
            .and_then(|text| core_worktree(&text))
            .is_some_and(|path| is_without_links(&git_dir.join(path), workspace))
    });
    names_us && is_repository(git_dir)
}

/// Git's own test (`is_git_directory` in gitrepository-layout(5)'s terms): `HEAD`, `objects/` and `refs/`.
fn is_repository(path: &Path) -> bool {
    path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir()
}

/// Whether a recorded path leads to the workspace and through no symbolic link.
///
/// Folders are compared, not the `.git` files in them: a folder has one name, while a file can be linked to where the
/// path leads.
fn is_without_links(recorded: &Path, workspace: &Path) -> bool {
    let identity = |path: &Path| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
        fstat(&fd).ok().map(|stat| (stat.st_dev, stat.st_ino))
    };
    identity(recorded).is_some_and(|found| identity(workspace) == Some(found))
}

/// The canonical folder that `path` names from `base`; `/` is nobody's git directory.
fn folder(base: &Path, path: &Path) -> Option<PathBuf> {
    let path = base.join(path).canonicalize().ok()?;
    (path.is_dir() && path.parent().is_some()).then_some(path)
}

/// The path in a one-line file, after a prefix.
fn pointer(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let text = read(file)?;
    let path = text.strip_prefix(prefix)?;
    let end = path.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))? + 1;
    let path = path.get(..end)?;
    (!path.contains(&0)).then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// A small regular file; not through a link, and never waiting for a FIFO's writer.
fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).ok()?);
    let stat = file.metadata().ok()?;
    if !stat.is_file() || stat.len() > MAX_FILE {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut text).ok()?;
    Some(text)
}

/// The last `worktree` of the section `[core]` in a git configuration (git-config(1), "Syntax"). Includes are not
/// followed: git writes this key into the file itself.
fn core_worktree(text: &[u8]) -> Option<PathBuf> {
    let (mut in_core, mut found) = (false, None);
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if let Some(section) = line.strip_prefix(b"[") {
            in_core = section
                .split(|byte| *byte == b']')
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(b"core"));
            continue;
        }
        let Some(equals) = line.iter().position(|byte| *byte == b'=').filter(|_| in_core) else {
            continue;
        };
        let (key, value) = line.split_at(equals);
        if key.trim_ascii().eq_ignore_ascii_case(b"worktree") {
            found = unquote(value.get(1..).unwrap_or_default().trim_ascii());
        }
    }
    found.map(|path| PathBuf::from(OsStr::from_bytes(&path)))
}

/// A configuration value without its quotes, escapes and comment; nothing where it is empty or holds NUL.
fn unquote(value: &[u8]) -> Option<Vec<u8>> {
    let (mut plain, mut quoted, mut bytes) = (Vec::new(), false, value.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' => plain.push(match bytes.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'b' => 8,
                other => *other,
            }),
            b'#' | b';' if !quoted => {
                plain.truncate(plain.trim_ascii_end().len());
                break;
            }
            other => plain.push(*other),
        }
    }
    (!plain.is_empty() && !plain.contains(&0)).then_some(plain)
}

#[cfg(test)]
#[path = "gitdir_tests.rs"]
mod tests;
