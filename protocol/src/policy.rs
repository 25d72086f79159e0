//! `policy.explain` and `policy.show`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use brattice_policy::config::Setting;
use brattice_policy::{Grant, Mode, Network, Operation};

use crate::SessionId;

pub use brattice_policy::Verdict;

/// Parameters of `policy.explain`; the result is an [`Explanation`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainParams {
    /// The session.
    pub session: SessionId,
    /// The path; a relative one starts at the session's cwd.
    pub path: String,
    /// What somebody wants to do with it.
    pub operation: Operation,
}

/// The result of `policy.explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Where the path leads, as the daemon resolved it: absolute, and without links and `..` as far as it exists. The
    /// verdict is about this one. What is not UTF-8 in it is shown as U+FFFD.
    pub path: String,
    /// Whether the operation is allowed there, and why.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Parameters of `policy.show`; the result is a [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowParams {
    /// The session.
    pub session: SessionId,
}

/// The policy that holds a session's commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The mode.
    pub mode: Mode,
    /// The network setting.
    pub network: Network,
    /// The path rules, the very ones that Landlock was given.
    pub grants: Vec<Grant>,
    /// Every setting that holds for the session, with where it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// Whether `/tmp` is the session's own.
    #[serde(default)]
    pub private_temp: bool,
    /// Paths inside the roots that `workspace-write` cannot change.
    #[serde(default)]
    pub protected: Vec<PathBuf>,
    /// Those that are to be protected and are not: there are no namespaces, or the path does not exist.
    #[serde(default)]
    pub unprotected: Vec<PathBuf>,
    /// Paths that are hidden.
    #[serde(default)]
    pub hidden: Vec<PathBuf>,
}
