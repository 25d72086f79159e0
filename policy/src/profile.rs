//! What one session may do: its mode, its roots and its network, and the rules that follow from them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::grant::{Access, Grant, GrantReason};
use crate::{Mode, Network};

/// Devices that every confined command may use: `null zero full random urandom tty` (policy, "Modes").
///
/// `/dev/tty` is harmless without a controlling terminal (the driver answers ENXIO) and every bash opens it.
pub const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Where POSIX shared memory and semaphores live (shm_overview(7)).
pub const SHARED_MEMORY: &str = "/dev/shm";

/// Why a folder is a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RootKind {
    /// The session's workspace.
    Workspace,
    /// An extra root asked for at opening.
    Writable,
    /// The git directory of a linked worktree or submodule that the workspace is.
    GitDir,
    /// The common directory of such a worktree.
    GitCommonDir,
}

/// A folder below which `workspace-write` may write. Canonical when it was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The canonical path.
    pub path: PathBuf,
    /// Why it is a root.
    pub kind: RootKind,
}

/// Everything that decides what a session's commands may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The session's mode.
    pub mode: Mode,
    /// The session's network setting.
    pub network: Network,
    /// Writable roots; the workspace comes first. They count only in `workspace-write`.
    pub roots: Vec<Root>,
    /// The private temporary folder, writable in both confined modes.
    pub temp: PathBuf,
}

impl Profile {
    /// The same profile in another mode.
    pub fn with_mode(&self, mode: Mode) -> Profile {
        Profile { mode, ..self.clone() }
    }

    /// The session's workspace.
    pub fn workspace(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), |root| &root.path)
    }

    /// The path rules of this profile, the very ones that Landlock is given. Empty when the mode is not confined:
    /// there is nothing to enforce.
    pub fn grants(&self) -> Vec<Grant> {
        if !self.mode.is_confined() {
            return Vec::new();
        }
        let rule = |path: &Path, access, reason| Grant { path: path.to_owned(), access, reason };
        let mut grants = vec![
            rule(Path::new("/"), Access::Read, GrantReason::ReadAll),
            rule(&self.temp, Access::Write, GrantReason::Temp),
            rule(Path::new(SHARED_MEMORY), Access::Write, GrantReason::SharedMemory),
        ];
        grants
            .extend(DEVICES.map(|path| rule(Path::new(path), Access::Device, GrantReason::Device)));
        if self.mode == Mode::WorkspaceWrite {
            grants.extend(
                self.roots.iter().map(|root| rule(&root.path, Access::Write, root.kind.into())),
            );
        }
        grants
    }
}

impl From<RootKind> for GrantReason {
    fn from(kind: RootKind) -> Self {
        match kind {
            RootKind::Workspace => GrantReason::Workspace,
            RootKind::Writable => GrantReason::Writable,
            RootKind::GitDir => GrantReason::GitDir,
            RootKind::GitCommonDir => GrantReason::GitCommonDir,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn profile(mode: Mode) -> Profile {
        Profile {
            mode,
            network: Network::Full,
            roots: vec![Root { path: "/ws".into(), kind: RootKind::Workspace }],
            temp: "/state/tmp".into(),
        }
    }

    fn writable(mode: Mode) -> Vec<PathBuf> {
        profile(mode)
            .grants()
            .into_iter()
            .filter(|grant| grant.access == Access::Write)
            .map(|grant| grant.path)
            .collect()
    }

    #[test]
    fn roots_are_writable_in_workspace_write_only() {
        assert_eq!(writable(Mode::ReadOnly), [Path::new("/state/tmp"), Path::new("/dev/shm")]);
        assert_eq!(
            writable(Mode::WorkspaceWrite),
            [Path::new("/state/tmp"), Path::new("/dev/shm"), Path::new("/ws")]
        );
    }

    #[test]
    fn an_unconfined_profile_has_no_rules() {
        assert_eq!(profile(Mode::DangerFullAccess).grants(), []);
    }
}
