//! Which tools a session declares: those of its toolset, less the ones that it disabled. What they are called in full
//! is in `declare`, what they take in `arguments`.

use brattice_policy::Limits;

use super::definition::{CallTimes, ToolRules, Toolset};
use super::parameter::{Parameter, RUN_IN_BACKGROUND};

/// How many characters of a name a fault repeats.
const REPEATED_CHARS: usize = 60;

/// A tool that a session can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Runs a command.
    Bash,
    /// Reads a task's output and waits for its end.
    TaskOutput,
    /// Ends a task.
    TaskKill,
    /// Lists the session's tasks.
    TaskList,
    /// Writes to a task's standard input.
    TaskInput,
}

impl ToolKind {
    /// The name that a call uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ToolKind::Bash => "bash",
            ToolKind::TaskOutput => "task_output",
            ToolKind::TaskKill => "task_kill",
            ToolKind::TaskList => "task_list",
            ToolKind::TaskInput => "task_input",
        }
    }
}

/// Tools without which nothing may run in the background: it could not be read, ended or found.
const BACKGROUND: [ToolKind; 3] = [ToolKind::TaskOutput, ToolKind::TaskKill, ToolKind::TaskList];

/// Whether a session's tools may leave something running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// `run_in_background` is declared, and leftovers may become tasks.
    Offered,
    /// One of the tools that it takes is not declared.
    Withheld,
}

/// A call's tool that the session does not declare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tool `{name}`: expected one of {declared}")]
pub(crate) struct UnknownTool {
    /// The name, shortened.
    name: String,
    /// The session's tools.
    declared: String,
}

/// The tools of one session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionTools<'a> {
    toolset: &'static Toolset,
    disabled: &'a [String],
    times: CallTimes,
}

impl<'a> SessionTools<'a> {
    /// The tools of a session with this toolset, under these limits, that disabled those of these names.
    pub(crate) fn of(toolset: &'static Toolset, disabled: &'a [String], limits: &Limits) -> Self {
        SessionTools { toolset, disabled, times: toolset.times(limits) }
    }

    /// The toolset.
    pub(crate) const fn toolset(self) -> &'static Toolset {
        self.toolset
    }

    /// The times of its commands.
    pub(crate) const fn times(self) -> CallTimes {
        self.times
    }

    /// Whether the session may leave something running.
    pub(crate) fn background(self) -> Background {
        if BACKGROUND.iter().all(|kind| self.declares(*kind)) {
            Background::Offered
        } else {
            Background::Withheld
        }
    }

    /// The tool of that name among those that the session declares.
    ///
    /// # Errors
    /// There is none; the fault names those there are.
    pub(crate) fn find(self, name: &str) -> Result<ToolKind, UnknownTool> {
        self.kinds().find(|kind| kind.name() == name).ok_or_else(|| {
            let declared: Vec<_> = self.kinds().map(|kind| format!("`{}`", kind.name())).collect();
            UnknownTool {
                name: name.chars().take(REPEATED_CHARS).collect(),
                declared: if declared.is_empty() { "none".to_owned() } else { declared.join(", ") },
            }
        })
    }

    /// The tools, in the order of declaration.
    pub(super) fn kinds(self) -> impl Iterator<Item = ToolKind> {
        self.rules().map(|rules| rules.kind)
    }

    /// Whether the session declares the tool.
    pub(super) fn declares(self, kind: ToolKind) -> bool {
        self.kinds().any(|declared| declared == kind)
    }

    /// What the tool takes in this session, in the order in which it is told.
    pub(super) fn parameters(self, kind: ToolKind) -> Vec<&'static Parameter> {
        let rules = self.rules().find(|rules| rules.kind == kind);
        let parameters = rules.map_or(&[] as &[Parameter], |rules| rules.parameters);
        let is_taken = |parameter: &&Parameter| {
            parameter.name != RUN_IN_BACKGROUND.name || self.background() == Background::Offered
        };
        parameters.iter().filter(is_taken).collect()
    }

    fn rules(self) -> impl Iterator<Item = &'static ToolRules> {
        let is_disabled =
            move |kind: ToolKind| self.disabled.iter().any(|name| name == kind.name());
        self.toolset.tools.iter().filter(move |rules| !is_disabled(rules.kind))
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::session::ToolsetName;

    use super::*;

    fn find(name: ToolsetName, disabled: &[&str], tool: &str) -> Result<ToolKind, String> {
        let disabled: Vec<String> = disabled.iter().map(|name| (*name).to_owned()).collect();
        SessionTools::of(Toolset::of(name), &disabled, &Limits::default())
            .find(tool)
            .map_err(|unknown| unknown.to_string())
    }

    #[test]
    fn an_unknown_tool_is_named_with_those_there_are() {
        assert_eq!(find(ToolsetName::Standard, &[], "bash"), Ok(ToolKind::Bash));
        assert_eq!(find(ToolsetName::Standard, &[], "task_input"), Ok(ToolKind::TaskInput));
        assert_eq!(
            find(ToolsetName::Dsh, &[], "task_input"),
            Err("unknown tool `task_input`: expected one of `bash`, `task_kill`, `task_list`, `task_output`"
                .to_owned())
        );
        let all = ["bash", "task_output", "task_kill", "task_list", "task_input", "read"];
        assert_eq!(
            find(ToolsetName::Standard, &all, "bash"),
            Err("unknown tool `bash`: expected one of none".to_owned())
        );
    }

    #[test]
    fn the_background_needs_all_three_tools() {
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            let background = |disabled: &str| {
                let disabled = [disabled.to_owned()];
                SessionTools::of(Toolset::of(name), &disabled, &Limits::default()).background()
            };
            for missing in ["task_output", "task_kill", "task_list"] {
                assert_eq!(background(missing), Background::Withheld, "{missing}");
            }
            for other in ["bash", "task_input", "read"] {
                assert_eq!(background(other), Background::Offered, "{other}");
            }
        }
    }
}
