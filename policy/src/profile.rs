//! What one session may do: its mode, its roots and its network, and the rules that follow from them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::grant::{Access, Grant, GrantReason};
use crate::{Mode, Namespaces, Network, Preset, protect};

/// Devices that every confined command may use: `null zero full random urandom tty` (policy, "Modes").
///
/// `/dev/tty` is harmless without a controlling terminal (the driver answers ENXIO) and every bash opens it.
pub const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The folder of a session in which `workspace-write` keeps its journal of changes to files, beside the temporary one.
pub const JOURNAL: &str = "changes";

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
    /// What inside the roots stays as it is: relative to each root, or absolute.
    #[serde(default = "default_protect", skip_serializing_if = "is_default_protect")]
    pub protect: Vec<PathBuf>,
    /// Absolute paths that are hidden from confined commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny_read: Vec<PathBuf>,
    /// Whether confined commands get namespaces.
    #[serde(default, skip_serializing_if = "Namespaces::is_auto")]
    pub namespaces: Namespaces,
    /// Devices that confined commands may use besides those of every session, or folders of such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<PathBuf>,
    /// Sockets that confined commands may connect to wherever they are. Absolute, without symbolic links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unix_sockets: Vec<PathBuf>,
}

/// The protected paths of whoever was written down before there were any.
fn default_protect() -> Vec<PathBuf> {
    protect::DEFAULT.map(PathBuf::from).to_vec()
}

fn is_default_protect(protect: &[PathBuf]) -> bool {
    protect == default_protect()
}

impl Profile {
    /// The same profile in another mode.
    pub fn with_mode(&self, mode: Mode) -> Profile {
        Profile { mode, ..self.clone() }
    }

    /// The same profile with more that is hidden.
    pub fn hiding(mut self, more: &[PathBuf]) -> Profile {
        for path in more {
            if !self.deny_read.contains(path) {
                self.deny_read.push(path.clone());
            }
        }
        self
    }

    /// The folder beside the private temporary one in which `workspace-write` keeps its journal of changes to files.
    pub fn journal(&self) -> PathBuf {
        self.temp.with_file_name(JOURNAL)
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
        let devices = DEVICES.into_iter().map(Path::new);
        let devices = devices.chain(self.devices.iter().map(PathBuf::as_path));
        grants.extend(devices.map(|path| rule(path, Access::Device, GrantReason::Device)));
        let sockets = self.unix_sockets.iter();
        grants.extend(sockets.map(|path| rule(path, Access::Connect, GrantReason::UnixSocket)));
        if self.mode == Mode::WorkspaceWrite {
            grants.push(rule(&self.journal(), Access::Write, GrantReason::Journal));
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
            protect: default_protect(),
            deny_read: Vec::new(),
            namespaces: Namespaces::Auto,
            devices: Vec::new(),
            unix_sockets: Vec::new(),
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
            [
                Path::new("/state/tmp"),
                Path::new("/dev/shm"),
                Path::new("/state/changes"),
                Path::new("/ws")
            ]
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
    fn more_devices_and_sockets_have_rules_in_both_confined_modes() {
        for mode in [Mode::ReadOnly, Mode::WorkspaceWrite] {
            let devices = vec!["/dev/kvm".into()];
            let unix_sockets = vec!["/run/d.sock".into()];
            let grants = Profile { devices, unix_sockets, ..profile(mode) }.grants();
            let has = |path: &str, access, reason| {
                grants.contains(&Grant { path: path.into(), access, reason })
            };
            assert!(has("/dev/kvm", Access::Device, GrantReason::Device));
            assert!(has("/run/d.sock", Access::Connect, GrantReason::UnixSocket));
        }
    }

    #[test]
    fn what_is_hidden_twice_is_hidden_once() {
        let own = profile(Mode::ReadOnly).hiding(&["/a".into()]);
        let both = own.hiding(&["/a".into(), "/b".into()]);
        assert_eq!(both.deny_read, [Path::new("/a"), Path::new("/b")]);
    }

    #[test]
    fn an_unconfined_profile_has_no_rules() {
        assert_eq!(profile(Mode::DangerFullAccess).grants(), []);
    }
}
