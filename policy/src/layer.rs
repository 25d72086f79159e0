//! The layers of a sandbox and how far each one is in force.

use serde::{Deserialize, Serialize};

/// One of the sandbox's layers, in the order in which they are set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerName {
    /// `no_new_privs`, dropped capabilities, no core dumps, own session, closed descriptors.
    Privileges,
    /// Landlock's rules on files.
    Landlock,
    /// Landlock's scopes on signals and abstract sockets (ABI 6).
    LandlockScopes,
    /// The table of refused system calls.
    Seccomp,
    /// Exact denial records by seccomp user notification.
    Observer,
    /// Private `/tmp` and `/dev/shm`, protected paths.
    Namespaces,
    /// Memory, process and CPU limits by cgroup v2.
    Cgroup,
}

impl LayerName {
    /// The name on the wire and in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            LayerName::Privileges => "privileges",
            LayerName::Landlock => "landlock",
            LayerName::LandlockScopes => "landlock-scopes",
            LayerName::Seccomp => "seccomp",
            LayerName::Observer => "observer",
            LayerName::Namespaces => "namespaces",
            LayerName::Cgroup => "cgroup",
        }
    }
}

/// How far a layer is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerState {
    /// In force, whole.
    On,
    /// In force as far as this kernel can; `reason` says what is missing.
    Partial,
    /// Not in force and not needed by the mode; `reason` says why.
    Off,
    /// Needed by the mode and not to be had: no command runs.
    Missing,
}

/// A layer's name, its state and why it is not wholly on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Which layer.
    pub name: LayerName,
    /// How far it is in force.
    pub state: LayerState,
    /// What the kernel answered and what it costs; absent when the layer is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Layer {
    /// A layer that is wholly in force.
    pub const fn on(name: LayerName) -> Self {
        Layer { name, state: LayerState::On, reason: None }
    }

    /// A layer in another state, with the reason.
    pub fn with(name: LayerName, state: LayerState, reason: impl Into<String>) -> Self {
        Layer { name, state, reason: Some(reason.into()) }
    }
}

/// Landlock's ABI version and the state of every layer: what `hello`, a result's `sandbox` field and `doctor` tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerReport {
    /// The running kernel's Landlock ABI; 0 where there is none.
    pub landlock_abi: u32,
    /// Every layer, in the order in which they are set up.
    pub layers: Vec<Layer>,
}

impl LayerReport {
    /// The first layer that is needed and missing, if any.
    pub fn missing(&self) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.state == LayerState::Missing)
    }
}
