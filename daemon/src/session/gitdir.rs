//! Git directories outside the workspace: those of a linked worktree or a submodule, found without running git.
//!
//! In such a workspace `.git` is a file, `gitdir: PATH`, and git must write to that path. Whoever can write to the
//! workspace can write that file, so it is only a hint. A folder becomes a root on evidence that lies **outside**
//! the workspace:
//!
//! - it must point back: a worktree's `gitdir` file names this workspace's `.git`, a submodule's `core.worktree`
//!   names this workspace. An attacker who can write to the workspace alone cannot put that into `~/.ssh`;
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
use rustix::fs::{CWD, Mode, OFlags, openat};

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
    let names_us = back.file_name() == Some(OsStr::new(".git"))
        && back.parent()?.canonicalize().ok()? == workspace;
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
            .and_then(|path| folder(git_dir, &path))
            .is_some_and(|path| path == workspace)
    });
    names_us && is_repository(git_dir)
}

/// Git's own test (`is_git_directory` in gitrepository-layout(5)'s terms): `HEAD`, `objects/` and `refs/`.
fn is_repository(path: &Path) -> bool {
    path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir()
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
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    /// A repository `repo/.git` with a linked worktree at `tree`, as `git worktree add` makes it.
    fn worktree(scratch: &Scratch) {
        for name in ["repo/.git/objects", "repo/.git/refs", "repo/.git/worktrees/w", "tree"] {
            scratch.folder(name);
        }
        scratch.file("repo/.git/HEAD", "ref: refs/heads/main\n");
        scratch.file("repo/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
        scratch.file("repo/.git/worktrees/w/commondir", "../..\n");
        scratch.file(
            "repo/.git/worktrees/w/gitdir",
            &format!("{}\n", scratch.path("tree/.git").display()),
        );
        scratch.file(
            "tree/.git",
            &format!("gitdir: {}\n", scratch.path("repo/.git/worktrees/w").display()),
        );
    }

    /// A submodule at `super/sub`, as `git submodule add` makes it.
    fn submodule(scratch: &Scratch) {
        for name in ["super/.git/modules/sub/objects", "super/.git/modules/sub/refs", "super/sub"] {
            scratch.folder(name);
        }
        scratch.file("super/.git/modules/sub/HEAD", "ref: refs/heads/main\n");
        scratch.file(
            "super/.git/modules/sub/config",
            "[core]\n\tbare = false\n\tworktree = ../../../sub\n",
        );
        scratch.file("super/sub/.git", "gitdir: ../.git/modules/sub\n");
    }

    fn root(scratch: &Scratch, name: &str, kind: RootKind) -> Root {
        Root { path: scratch.path(name), kind }
    }

    #[test]
    fn a_linked_worktree_gets_its_git_directory_and_the_common_one() {
        let scratch = Scratch::new();
        worktree(&scratch);
        let expected = vec![
            root(&scratch, "repo/.git/worktrees/w", RootKind::GitDir),
            root(&scratch, "repo/.git", RootKind::GitCommonDir),
        ];
        assert_eq!(find(&scratch.path("tree")), expected);

        scratch.file("repo/.git/worktrees/w/gitdir", "../../../../tree/.git\n");
        scratch.file("tree/.git", "gitdir: ../repo/.git/worktrees/w\n");
        assert_eq!(find(&scratch.path("tree")), expected, "with relative pointers");
    }

    #[test]
    fn a_submodule_gets_its_git_directory() {
        let scratch = Scratch::new();
        submodule(&scratch);
        let expected = vec![root(&scratch, "super/.git/modules/sub", RootKind::GitDir)];
        assert_eq!(find(&scratch.path("super/sub")), expected);

        scratch.file("super/.git/modules/sub/config", "[core]\n\tbare = false\n");
        scratch.file(
            "super/.git/modules/sub/config.worktree",
            "[core]\n\tworktree = \"../../../sub\" ; x\n",
        );
        assert_eq!(find(&scratch.path("super/sub")), expected, "with extensions.worktreeConfig");
    }

    #[test]
    fn a_plain_clone_and_a_plain_folder_need_nothing() {
        let scratch = Scratch::new();
        scratch.folder("clone/.git/objects");
        assert_eq!(find(&scratch.path("clone")), []);
        assert_eq!(find(&scratch.folder("plain")), []);
    }

    #[test]
    fn a_foreign_folder_that_does_not_point_back_is_no_root() {
        let scratch = Scratch::new();
        worktree(&scratch);
        submodule(&scratch);
        scratch.folder("ssh");
        let evil = scratch.folder("evil");
        for target in
            ["ssh", "repo/.git", "repo/.git/worktrees/w", "super/.git/modules/sub", "missing", "/"]
        {
            let target = scratch.path(target);
            scratch.file("evil/.git", &format!("gitdir: {}\n", target.display()));
            assert_eq!(find(&evil), [], "{}", target.display());
        }
    }

    #[test]
    fn what_a_command_can_make_inside_the_workspace_opens_nothing_outside() {
        let scratch = Scratch::new();
        scratch.folder("home/worktrees/ws");
        let workspace = scratch.path("home/worktrees/ws");
        scratch.file("home/worktrees/ws/.git", "gitdir: .\n");
        scratch.file("home/worktrees/ws/HEAD", "ref: refs/heads/x\n");
        scratch.file("home/worktrees/ws/gitdir", &format!("{}/.git\n", workspace.display()));
        scratch.file("home/worktrees/ws/commondir", "../..\n");
        assert_eq!(find(&workspace), []);

        // The same from a neighbour that another session may write to: its grandparent is no repository.
        scratch.folder("home/worktrees/other");
        for name in ["HEAD", "gitdir", "commondir"] {
            std::fs::copy(workspace.join(name), scratch.path("home/worktrees/other").join(name))
                .unwrap();
        }
        scratch.file("home/worktrees/ws/.git", "gitdir: ../other\n");
        assert_eq!(find(&workspace), []);
    }

    #[test]
    fn a_common_directory_elsewhere_than_git_puts_it_is_no_root() {
        let scratch = Scratch::new();
        worktree(&scratch);
        for name in ["victim/objects", "victim/refs"] {
            scratch.folder(name);
        }
        scratch.file("victim/HEAD", "ref: refs/heads/main\n");
        scratch
            .file("repo/.git/worktrees/w/commondir", &scratch.path("victim").display().to_string());
        assert_eq!(find(&scratch.path("tree")), []);
    }

    #[test]
    fn links_fifos_and_nonsense_are_no_pointers() {
        let scratch = Scratch::new();
        worktree(&scratch);
        let dot_git = scratch.path("tree/.git");
        let real = scratch.path("tree/real");
        std::fs::rename(&dot_git, &real).unwrap();
        std::os::unix::fs::symlink(&real, &dot_git).unwrap();
        assert_eq!(find(&scratch.path("tree")), [], "a link");
        for text in ["", "gitdir: ", "gitdir: \n", "gitdir: a\0b\n", "nonsense\n"] {
            std::fs::remove_file(&dot_git).unwrap();
            scratch.file("tree/.git", text);
            assert_eq!(find(&scratch.path("tree")), [], "{text:?}");
        }
        std::fs::remove_file(&dot_git).unwrap();
        rustix::fs::mknodat(CWD, &dot_git, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert_eq!(find(&scratch.path("tree")), [], "a FIFO");
    }

    #[test]
    fn core_worktree_is_read_as_git_writes_it() {
        let cases: [(&str, Option<&str>); 7] = [
            ("[core]\n\tworktree = ../a b\n", Some("../a b")),
            ("[core]\nworktree=\"/a;b\\\\c\"\n", Some("/a;b\\c")),
            ("[core]\nworktree = /a # comment\n", Some("/a")),
            ("[CORE]\nWorkTree = /a\nworktree = /b\n", Some("/b")),
            ("[core \"x\"]\nworktree = /a\n", None),
            ("[core]\nworktree =\n", None),
            ("[remote \"o\"]\nworktree = /a\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(core_worktree(text.as_bytes()), expected.map(PathBuf::from), "{text:?}");
        }
    }
}
