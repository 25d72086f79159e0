//! `session.*`: opening, resuming, changing, listing and closing sessions.

use serde::{Deserialize, Serialize};

use brattice_policy::layer::LayerReport;
use brattice_policy::{Approval, Mode, Network};

use crate::SessionId;

/// A toolset: which tools a session declares and how results are put into words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsetName {
    /// The default, which can do all that the rest can.
    #[default]
    Standard,
    /// The tools of the `dsh` runtime.
    Dsh,
    /// The tools of the `glrs` runtime.
    Glrs,
    /// The tools of a small terminal agent.
    Minimal,
}

impl ToolsetName {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ToolsetName::Standard => "standard",
            ToolsetName::Dsh => "dsh",
            ToolsetName::Glrs => "glrs",
            ToolsetName::Minimal => "minimal",
        }
    }
}

impl brattice_policy::Named for ToolsetName {
    const NAMED: &'static [Self] =
        &[ToolsetName::Standard, ToolsetName::Dsh, ToolsetName::Glrs, ToolsetName::Minimal];

    fn name(self) -> &'static str {
        self.as_str()
    }
}

/// Parameters of `session.open`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenParams {
    /// The absolute path of the workspace, an existing folder.
    pub workspace: String,
    /// Where relative paths start; the workspace unless given. Widens nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The sandbox mode; `workspace-write` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether its calls may ask a person; `ask` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The toolset; `standard` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<ToolsetName>,
    /// The network setting; `full` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Extra writable roots: absolute paths of existing folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// A name for people, shown in listings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether it only plans at first: until a plan is approved, or `session.update` says otherwise, its mode is `read-only`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan: bool,
    /// Settings of the toolset.
    #[serde(default, skip_serializing_if = "Options::is_empty")]
    pub options: Options,
}

/// `options` of `session.open`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tools that are not declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disable: Vec<String>,
    /// Folders of skills, which come before all others: absolute, or relative to the working directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Whether repeated calls are told; the toolset decides unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_detector: Option<bool>,
    /// `dsh`: the value of `DSH_HOME`; `~/.dsh` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsh_home: Option<String>,
    /// `glrs`: the time limit of a command, in milliseconds; 600,000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_timeout_ms: Option<u64>,
    /// `minimal`: how many characters a result may have, from 1 to 65,536; 8,000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// `minimal`: how many lines of a result clients show people, from 0 to 10,000; [`PREVIEW_LINES`] unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_lines: Option<u64>,
    /// `minimal`: whether the tools for files are declared; not unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit_tools: Option<bool>,
    /// `minimal`: whether a person is asked before it acts; `auto` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<AskRule>,
}

/// How many lines of a result clients show people unless the session says otherwise.
pub const PREVIEW_LINES: u64 = 10;

/// Whether a person is asked before a command runs or a file is changed, within the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskRule {
    /// Where somebody can answer.
    #[default]
    Auto,
    /// Always; where nobody can answer, nothing is done.
    Always,
    /// Never.
    Never,
}

impl Options {
    /// Whether every option has its default.
    pub fn is_empty(&self) -> bool {
        *self == Options::default()
    }
}

/// The result of `session.open`, `session.resume` and `session.update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The session's id.
    pub session: SessionId,
    /// The canonical workspace.
    pub workspace: String,
    /// Where relative paths start.
    pub cwd: String,
    /// The mode of commands that start from now on; while it plans, `read-only`.
    pub mode: Mode,
    /// Whether it only plans.
    #[serde(default)]
    pub plan: bool,
    /// The toolset.
    pub toolset: ToolsetName,
    /// The network setting.
    pub network: Network,
    /// The layers that hold a command of this session.
    pub sandbox: LayerReport,
    /// How many lines of a result clients show people, where the session was opened with a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_lines: Option<u64>,
}

/// Parameters that name a session and nothing else: `session.resume`, `session.turn`, `session.close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionParams {
    /// The session.
    pub session: SessionId,
}

/// Parameters of `session.update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateParams {
    /// The session.
    pub session: SessionId,
    /// The mode of commands that start from now on; running ones keep theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether its calls may ask a person, from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Whether it only plans, from now on; running commands go on as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<bool>,
}

/// The result of `session.turn`: the counters of the turn that ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The counters.
    pub counters: Counters,
}

/// What a turn did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Results of `bash`.
    pub commands: u64,
    /// Results of `read`, `write` and `edit`.
    pub file_ops: u64,
    /// Results of the skill tools.
    pub skills: u64,
}

/// Notification `session.changed`: what starts in the session from now on stands otherwise, whoever changed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChanged {
    /// The session.
    pub session: SessionId,
    /// The mode of commands that start from now on; while it plans, `read-only`.
    pub mode: Mode,
    /// Whether it only plans.
    pub plan: bool,
    /// Whether its calls may ask a person.
    pub approval: Approval,
    /// Whether its supervisor died: nothing starts in it any more.
    pub lost: bool,
}

/// One line of `session.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The session's id.
    pub session: SessionId,
    /// The name for people, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The canonical workspace.
    pub workspace: String,
    /// The mode of commands that start from now on; while it plans, `read-only`.
    pub mode: Mode,
    /// Whether it only plans.
    #[serde(default)]
    pub plan: bool,
    /// The toolset.
    pub toolset: ToolsetName,
    /// The network setting.
    pub network: Network,
    /// Whether a client holds it.
    pub attached: bool,
    /// Whether its supervisor died: nothing starts in it any more, and what its tasks left can still be read.
    #[serde(default)]
    pub lost: bool,
    /// Tasks that run.
    pub running: usize,
    /// When it was opened, in milliseconds since 1970.
    pub opened: u64,
}
