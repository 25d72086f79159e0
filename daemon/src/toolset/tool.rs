//! Which tools a session declares: those of its toolset, less the ones that it disabled. What they are called in full
//! is in `declare`, what they take in `arguments`.

use std::time::Duration;

use brattice_policy::{Limits, Mode};
use brattice_protocol::editor::EditorKind;
use brattice_protocol::session::Options;
use brattice_skills::Catalogue;

use super::definition::{CallTimes, TimeLimits, ToolRules, Toolset};
use super::parameter::{JUSTIFICATION, Parameter, RUN_IN_BACKGROUND, SANDBOX_PERMISSIONS};
use super::wording::{LoopDetector, ResultCap};

/// How many characters of a name a fault repeats.
const REPEATED_CHARS: usize = 60;

/// A tool that a session can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Runs a command.
    Bash,
    /// Reads a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Replaces text in files.
    Edit,
    /// Searches in files.
    Grep,
    /// Finds files by their names.
    Glob,
    /// Reads a task's output and waits for its end.
    TaskOutput,
    /// Ends a task.
    TaskKill,
    /// Lists the session's tasks.
    TaskList,
    /// Writes to a task's standard input.
    TaskInput,
    /// Asks a person questions.
    AskUser,
    /// Shows a person a plan, for plan mode to end.
    ExitPlanMode,
    /// Reads a skill.
    Skill,
    /// Replaces the to-do list.
    TodoWrite,
}

impl ToolKind {
    /// What it does, as editors show it.
    pub(crate) const fn editor_kind(self) -> EditorKind {
        match self {
            ToolKind::Bash | ToolKind::TaskKill | ToolKind::TaskInput => EditorKind::Execute,
            ToolKind::Read | ToolKind::Skill | ToolKind::TaskOutput | ToolKind::TaskList => {
                EditorKind::Read
            }
            ToolKind::Write | ToolKind::Edit => EditorKind::Edit,
            ToolKind::Grep | ToolKind::Glob => EditorKind::Search,
            ToolKind::ExitPlanMode | ToolKind::TodoWrite => EditorKind::Think,
            ToolKind::AskUser => EditorKind::Other,
        }
    }

    /// Whether calling it again and again is going in circles. To look at what runs is to wait.
    pub(crate) const fn repetition(self) -> Repetition {
        match self {
            ToolKind::Bash
            | ToolKind::Read
            | ToolKind::Write
            | ToolKind::Edit
            | ToolKind::Grep
            | ToolKind::Glob
            | ToolKind::TaskKill
            | ToolKind::TaskInput
            | ToolKind::AskUser
            | ToolKind::ExitPlanMode
            | ToolKind::Skill
            | ToolKind::TodoWrite => Repetition::Loop,
            ToolKind::TaskOutput | ToolKind::TaskList => Repetition::Expected,
        }
    }
}

/// What it means that a tool is called again and finds the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// A loop, perhaps.
    Loop,
    /// Nothing.
    Expected,
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

/// Whether a session's calls may ask for a wider mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EscalationOffer {
    /// They may.
    Offered {
        /// The widest that may be asked for.
        ceiling: Mode,
    },
    /// Nobody is asked in this session.
    Withheld,
}

/// Whether a tool that takes a certain state is declared just then. It can be called in any, and says what is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Offer {
    /// It is.
    Offered,
    /// It is not.
    #[default]
    Withheld,
}

impl Offer {
    /// One that depends on this.
    pub(crate) const fn when(is_so: bool) -> Self {
        if is_so { Offer::Offered } else { Offer::Withheld }
    }
}

/// What the state of a session offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    /// Plan mode is on, so that it can be left.
    pub(crate) plan: Offer,
    /// Somebody can answer questions.
    pub(crate) questions: Offer,
}

impl Offers {
    /// Whatever the state is.
    pub(crate) const ALL: Offers = Offers { plan: Offer::Offered, questions: Offer::Offered };
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

/// Where nobody has looked for any.
static NO_SKILLS: Catalogue = Catalogue { skills: Vec::new(), unreadable: Vec::new(), omitted: 0 };

/// The tools of one session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionTools<'a> {
    toolset: &'static Toolset,
    disabled: &'a [String],
    times: CallTimes,
    escalation: EscalationOffer,
    offers: Offers,
    skills: &'a Catalogue,
    cap: ResultCap,
    loops: LoopDetector,
}

impl<'a> SessionTools<'a> {
    /// The tools of a session with this toolset, under these limits, that disabled those of these names.
    pub(crate) fn of(toolset: &'static Toolset, disabled: &'a [String], limits: &Limits) -> Self {
        let escalation = EscalationOffer::Offered { ceiling: Mode::DangerFullAccess };
        let (times, cap, loops) = (toolset.times(limits), toolset.cap, toolset.loops);
        let (offers, skills) = (Offers::default(), &NO_SKILLS);
        SessionTools { toolset, disabled, times, escalation, offers, skills, cap, loops }
    }

    /// The same in a session in which these skills were found: the tool for them is declared where there are some.
    pub(crate) const fn with_skills(self, skills: &'a Catalogue) -> Self {
        SessionTools { skills, ..self }
    }

    /// The skills that were found.
    pub(super) const fn skills(self) -> &'a Catalogue {
        self.skills
    }

    /// The same in a session whose state offers this.
    pub(crate) const fn with_offers(self, offers: Offers) -> Self {
        SessionTools { offers, ..self }
    }

    /// The same in a session that may ask for more, or may not.
    pub(crate) const fn with_escalation(self, escalation: EscalationOffer) -> Self {
        SessionTools { escalation, ..self }
    }

    /// Whether its calls may ask for a wider mode.
    pub(crate) const fn escalation(self) -> EscalationOffer {
        self.escalation
    }

    /// The same with the numbers that the session was opened with. Which options there are the toolset has checked.
    pub(crate) fn opened_with(mut self, options: &Options) -> Self {
        if let Some(limit) = options.tool_timeout_ms.map(Duration::from_millis) {
            self.times.limits = TimeLimits { default: limit, max: limit };
        }
        if let (Some(most), ResultCap::Characters(_, line)) = (options.max_output, self.cap) {
            self.cap = ResultCap::Characters(usize::try_from(most).unwrap_or(usize::MAX), line);
        }
        if let Some(is_on) = options.loop_detector {
            self.loops = if is_on { LoopDetector::On } else { LoopDetector::Off };
        }
        self
    }

    /// The toolset.
    pub(crate) const fn toolset(self) -> &'static Toolset {
        self.toolset
    }

    /// The times of its commands.
    pub(crate) const fn times(self) -> CallTimes {
        self.times
    }

    /// The cap on what any of its tools answers.
    pub(crate) const fn cap(self) -> ResultCap {
        self.cap
    }

    /// Whether repeated calls are told.
    pub(crate) const fn loops(self) -> LoopDetector {
        self.loops
    }

    /// Whether the session may leave something running.
    pub(crate) fn background(self) -> Background {
        if BACKGROUND.iter().all(|kind| self.declares(*kind)) {
            Background::Offered
        } else {
            Background::Withheld
        }
    }

    /// The tool of that name, among those that the session declares in some state.
    ///
    /// # Errors
    /// There is none; the fault names those there are.
    pub(crate) fn find(self, name: &str) -> Result<ToolKind, UnknownTool> {
        self.enabled().find(|rules| rules.name == name).map(|rules| rules.kind).ok_or_else(|| {
            let declared: Vec<_> = self.rules().map(|rules| format!("`{}`", rules.name)).collect();
            UnknownTool {
                name: name.chars().take(REPEATED_CHARS).collect(),
                declared: if declared.is_empty() { "none".to_owned() } else { declared.join(", ") },
            }
        })
    }

    /// What a call of the tool names, where the session declares it.
    pub(crate) fn name(self, kind: ToolKind) -> Option<&'static str> {
        self.rules().find(|rules| rules.kind == kind).map(|rules| rules.name)
    }

    /// Whether the session declares the tool.
    pub(super) fn declares(self, kind: ToolKind) -> bool {
        self.name(kind).is_some()
    }

    /// What the tool takes in this session, in the order in which it is told.
    pub(super) fn parameters(self, kind: ToolKind) -> Vec<&'static Parameter> {
        let rules = self.enabled().find(|rules| rules.kind == kind);
        let parameters = rules.map_or(&[] as &[Parameter], |rules| rules.parameters);
        let is_taken = |parameter: &&Parameter| match parameter.name {
            name if name == RUN_IN_BACKGROUND.name => self.background() == Background::Offered,
            name if name == SANDBOX_PERMISSIONS.name || name == JUSTIFICATION.name => {
                self.escalation != EscalationOffer::Withheld
            }
            _ => true,
        };
        parameters.iter().filter(is_taken).collect()
    }

    /// The tools that are declared, in the order of declaration.
    pub(super) fn rules(self) -> impl Iterator<Item = &'static ToolRules> {
        let is_offered = move |rules: &&ToolRules| match rules.kind {
            ToolKind::AskUser => self.offers.questions == Offer::Offered,
            ToolKind::ExitPlanMode => self.offers.plan == Offer::Offered,
            ToolKind::Skill => !self.skills.skills.is_empty(),
            _ => true,
        };
        self.enabled().filter(is_offered)
    }

    /// All that the session does not disable.
    fn enabled(self) -> impl Iterator<Item = &'static ToolRules> {
        let is_disabled =
            move |rules: &&ToolRules| self.disabled.iter().any(|name| name == rules.name);
        self.toolset.tools.iter().filter(move |rules| !is_disabled(rules))
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
            Err("unknown tool `task_input`: expected one of `bash`, `edit`, `read`, `task_kill`, `task_list`, \
                 `task_output`, `todo_write`, `write`"
                .to_owned())
        );
        for name in [ToolsetName::Glrs, ToolsetName::Minimal] {
            assert_eq!(find(name, &[], "bash"), Ok(ToolKind::Bash));
            assert_eq!(
                find(name, &[], "task_list"),
                Err("unknown tool `task_list`: expected one of `bash`".to_owned())
            );
        }
        let all = [
            "bash",
            "read",
            "write",
            "edit",
            "grep",
            "glob",
            "task_output",
            "task_kill",
            "task_list",
            "task_input",
            "ask_user_question",
            "exit_plan_mode",
            "todo_write",
            "skill",
        ];
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
        for name in [ToolsetName::Glrs, ToolsetName::Minimal] {
            let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
            assert_eq!(tools.background(), Background::Withheld);
        }
    }
}
