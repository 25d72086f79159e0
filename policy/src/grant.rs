//! Path rules: which paths a profile opens, and for what.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::profile::PresetRule;

/// What a [`Grant`] allows below its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Read, list and execute.
    Read,
    /// Everything `Read` allows, and create, write, truncate, rename, link and remove; no device nodes.
    Write,
    /// Read, write, truncate and `ioctl` an existing device; nothing can be created or removed.
    Device,
    /// Connect to an existing socket.
    Connect,
}

/// One rule of a session's sandbox: a path, what is allowed below it, and why the rule is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// An absolute path; the kernel holds the inode it had when the rule was made.
    pub path: PathBuf,
    /// What is allowed on it and below.
    pub access: Access,
    /// Why: shown by `policy show` and `policy explain`.
    pub reason: GrantReason,
}

/// Where a [`Grant`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrantReason {
    /// Every mode reads what the user can read, but for devices: the rule stands for `/` without `/dev`.
    ReadAll,
    /// The session's workspace.
    Workspace,
    /// A root that the session was opened with.
    Writable,
    /// A root of the user's configuration.
    Configured,
    /// A root of the operator's configuration.
    Operator,
    /// The git directory of a linked worktree or submodule.
    GitDir,
    /// The common directory of a linked worktree.
    GitCommonDir,
    /// The session's private temporary folder.
    Temp,
    /// The journal of what is done to files in this mode: nobody who may do less writes to it.
    Journal,
    /// Shared memory and POSIX semaphores.
    SharedMemory,
    /// A harmless device that programs expect, or one of the configuration.
    Device,
    /// A socket of the configuration.
    UnixSocket,
    /// A folder of a tool's caches.
    #[serde(untagged)]
    Preset(PresetRule),
}

impl GrantReason {
    /// The rule's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            GrantReason::ReadAll => "read-all",
            GrantReason::Workspace => "workspace",
            GrantReason::Writable => "writable",
            GrantReason::Configured => "configured",
            GrantReason::Operator => "operator",
            GrantReason::Preset(rule) => rule.as_str(),
            GrantReason::GitDir => "git-dir",
            GrantReason::GitCommonDir => "git-common-dir",
            GrantReason::Temp => "temp",
            GrantReason::Journal => "journal",
            GrantReason::SharedMemory => "shared-memory",
            GrantReason::Device => "device",
            GrantReason::UnixSocket => "unix-socket",
        }
    }
}
