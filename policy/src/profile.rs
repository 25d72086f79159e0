//! What one session may do: its mode, its roots and its network, and the rules that follow from them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::grant::{Access, Grant, GrantReason};
use crate::{Mode, Network, Preset};

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
    /// An extra root of the user's configuration.
    Configured,
    /// An extra root of the operator's configuration.
    Operator,
    /// The git directory of a linked worktree or submodule that the workspace is.
    GitDir,
    /// The common directory of such a worktree.
    GitCommonDir,
    /// A folder of a tool's caches.
    #[serde(untagged)]
    Preset(PresetRule),
}

crate::named::named! {
    /// The rule of a preset, by its name on the wire.
    pub enum PresetRule {
        /// Rust's package manager.
        Cargo = "cargo-preset",
        /// Node's package manager.
        Npm = "npm-preset",
        /// Python's package installer.
        Pip = "pip-preset",
        /// Python's package manager uv.
        Uv = "uv-preset",
        /// The Go toolchain.
        Go = "go-preset",
        /// The Gradle build tool.
        Gradle = "gradle-preset",
        /// The compiler cache.
        Ccache = "ccache-preset",
        /// The Bazel build tool.
        Bazel = "bazel-preset",
    }
}

impl From<Preset> for PresetRule {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::Cargo => PresetRule::Cargo,
            Preset::Npm => PresetRule::Npm,
            Preset::Pip => PresetRule::Pip,
            Preset::Uv => PresetRule::Uv,
            Preset::Go => PresetRule::Go,
            Preset::Gradle => PresetRule::Gradle,
            Preset::Ccache => PresetRule::Ccache,
            Preset::Bazel => PresetRule::Bazel,
        }
    }
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
            RootKind::Configured => GrantReason::Configured,
            RootKind::Operator => GrantReason::Operator,
            RootKind::Preset(rule) => GrantReason::Preset(rule),
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
    fn a_presets_rule_is_a_word_like_any_other() {
        use crate::named::Named as _;
        for preset in Preset::NAMED {
            let kind = RootKind::Preset((*preset).into());
            let root = Root { path: "/p".into(), kind };
            let text = toml::to_string(&root).unwrap();
            assert_eq!(text, format!("path = \"/p\"\nkind = \"{preset}-preset\"\n"));
            assert_eq!(toml::from_str::<Root>(&text).unwrap(), root);
            assert_eq!(GrantReason::from(kind).as_str(), format!("{preset}-preset"));
        }
        let root = Root { path: "/p".into(), kind: RootKind::GitDir };
        assert_eq!(toml::to_string(&root).unwrap(), "path = \"/p\"\nkind = \"git-dir\"\n");
    }

    #[test]
    fn an_unconfined_profile_has_no_rules() {
        assert_eq!(profile(Mode::DangerFullAccess).grants(), []);
    }
}
