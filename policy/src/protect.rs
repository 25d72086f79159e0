//! Protected paths: what inside a session's roots its commands must not change, computed from the setting and the roots.

use std::path::{Path, PathBuf};

use crate::Mode;
use crate::profile::{Profile, Root, RootKind};

/// What is protected where nothing else is said: what git runs of its own accord.
pub const DEFAULT: [&str; 1] = [".git/hooks"];

/// A path that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protected {
    /// The outermost root that holds it. The root's own name is safe, for no rule covers it.
    pub root: PathBuf,
    /// The path below that root; never empty.
    pub below: PathBuf,
}

impl Protected {
    /// The absolute path.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }
}

impl Profile {
    /// What is protected from this profile's commands. None where they write to no root, or everywhere.
    ///
    /// A relative path counts below each root. What it says of `.git` holds as well for a root that is a git directory
    /// itself, such as the common one of a linked worktree. An absolute path counts where a root holds it.
    pub fn protected(&self) -> Vec<Protected> {
        if self.mode != Mode::WorkspaceWrite {
            return Vec::new();
        }
        let mut paths: Vec<PathBuf> = Vec::new();
        for root in &self.roots {
            paths.extend(self.protect.iter().filter_map(|path| self.below(root, path)));
        }
        paths.sort();
        paths.dedup();
        paths.iter().filter_map(|path| self.located(path)).collect()
    }

    /// Where a path of the setting is for this root.
    fn below(&self, root: &Root, path: &Path) -> Option<PathBuf> {
        match path.strip_prefix(".git") {
            Ok(_) if self.is_worktrees_own(root) => None,
            Ok(rest) if is_git_directory(root) => Some(root.path.join(rest)),
            Ok(_) | Err(_) => Some(root.path.join(path)),
        }
    }

    /// Whether the root is a linked worktree's own git directory: git runs nothing in there, its hooks are in the common one.
    fn is_worktrees_own(&self, root: &Root) -> bool {
        let is_common = |other: &Root| {
            other.kind == RootKind::GitCommonDir && root.path.starts_with(&other.path)
        };
        root.kind == RootKind::GitDir && self.roots.iter().any(is_common)
    }

    fn located(&self, path: &Path) -> Option<Protected> {
        let holds = |root: &&Path| path.starts_with(root) && path != *root;
        let roots = self.roots.iter().map(|root| root.path.as_path());
        let root = roots.filter(holds).min_by_key(|root| root.components().count())?;
        let below = path.strip_prefix(root).ok()?.to_owned();
        Some(Protected { root: root.to_owned(), below })
    }
}

fn is_git_directory(root: &Root) -> bool {
    matches!(root.kind, RootKind::GitDir | RootKind::GitCommonDir) || root.path.ends_with(".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(roots: &[(&str, RootKind)], protect: &[&str]) -> Vec<(String, String)> {
        let mut profile = crate::profile::tests::profile(Mode::WorkspaceWrite);
        profile.roots =
            roots.iter().map(|(path, kind)| Root { path: path.into(), kind: *kind }).collect();
        profile.protect = protect.iter().map(PathBuf::from).collect();
        let text = |path: PathBuf| path.display().to_string();
        profile.protected().into_iter().map(|it| (text(it.root), text(it.below))).collect()
    }

    fn expected(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(root, below)| ((*root).to_owned(), (*below).to_owned())).collect()
    }

    #[test]
    fn a_relative_path_counts_below_each_root_and_an_absolute_one_where_a_root_holds_it() {
        use RootKind::{Workspace, Writable};
        assert_eq!(
            protected(
                &[("/a/ws", Workspace), ("/b", Writable)],
                &[".git/hooks", "/b/x", "/a/ws", "/c"]
            ),
            expected(&[("/a/ws", ".git/hooks"), ("/b", ".git/hooks"), ("/b", "x")])
        );
    }

    #[test]
    fn the_outermost_root_is_where_names_are_held() {
        use RootKind::{Workspace, Writable};
        assert_eq!(
            protected(&[("/a/ws", Workspace), ("/a", Writable)], &[".git/hooks"]),
            expected(&[("/a", ".git/hooks"), ("/a", "ws/.git/hooks")])
        );
    }

    #[test]
    fn a_git_directory_that_is_a_root_is_protected_like_one_below_a_root() {
        use RootKind::{GitCommonDir, GitDir, Workspace};
        let worktree =
            [("/wt", Workspace), ("/m/.git/worktrees/wt", GitDir), ("/m/.git", GitCommonDir)];
        assert_eq!(
            protected(&worktree, &[".git/hooks", "Makefile"]),
            expected(&[
                ("/m/.git", "Makefile"),
                ("/m/.git", "hooks"),
                ("/m/.git", "worktrees/wt/Makefile"),
                ("/wt", ".git/hooks"),
                ("/wt", "Makefile"),
            ])
        );
        let submodule = [("/s", Workspace), ("/m/.git/modules/s", GitDir)];
        assert_eq!(
            protected(&submodule, &[".git/hooks"]),
            expected(&[("/m/.git/modules/s", "hooks"), ("/s", ".git/hooks")])
        );
        assert_eq!(
            protected(&[("/m/.git", Workspace)], &[".git/hooks"]),
            expected(&[("/m/.git", "hooks")])
        );
    }

    #[test]
    fn where_nothing_is_written_nothing_needs_protection() {
        for mode in [Mode::ReadOnly, Mode::DangerFullAccess] {
            assert_eq!(crate::profile::tests::profile(mode).protected(), []);
        }
    }
}
