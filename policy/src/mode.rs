//! Sandbox modes and their strict order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How far a command is confined. The order is strict: `ReadOnly < WorkspaceWrite < DangerFullAccess`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reads everything the user can read, writes nothing but the session's private temporary folder.
    ReadOnly,
    /// As `ReadOnly`, and writes below the workspace roots.
    #[default]
    WorkspaceWrite,
    /// Not confined at all: `sudo` works, the host's `/tmp` is used.
    DangerFullAccess,
}

impl Mode {
    /// Every mode, narrowest first.
    pub const ALL: [Mode; 3] = [Mode::ReadOnly, Mode::WorkspaceWrite, Mode::DangerFullAccess];

    /// The name on the wire, on the command line and in configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Mode::ReadOnly => "read-only",
            Mode::WorkspaceWrite => "workspace-write",
            Mode::DangerFullAccess => "danger-full-access",
        }
    }

    /// Whether the kernel's layers are applied in this mode.
    pub const fn is_confined(self) -> bool {
        !matches!(self, Mode::DangerFullAccess)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode {0:?}: expected read-only, workspace-write or danger-full-access")]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Mode::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_strict_and_names_round_trip() {
        assert!(
            Mode::ReadOnly < Mode::WorkspaceWrite && Mode::WorkspaceWrite < Mode::DangerFullAccess
        );
        for mode in Mode::ALL {
            assert_eq!(mode.as_str().parse::<Mode>(), Ok(mode));
        }
        assert_eq!("rw".parse::<Mode>(), Err(UnknownMode("rw".to_owned())));
    }
}
