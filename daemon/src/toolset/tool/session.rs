//! The tools of one session. What offers there are is in `offer`; whoever opens the session knows which of them it has.

use std::time::Duration;

use brattice_policy::{Limits, Mode, Network};
use brattice_protocol::session::{AskRule, Options};
use brattice_skills::Catalogue;

use super::kind::ToolKind;
use super::offer::{Background, EscalationOffer, Offer, Offers};
use crate::toolset::definition::{CallTimes, TimeLimits, ToolRules, Toolset};
use crate::toolset::file_rules::Declared;
use crate::toolset::options::SessionOption;
use crate::toolset::parameter::{JUSTIFICATION, Parameter, RUN_IN_BACKGROUND, SANDBOX_PERMISSIONS};
use crate::toolset::wording::{LoopDetector, ResultCap};

/// How many characters of a name a fault repeats.
const REPEATED_CHARS: usize = 60;

/// Tools without which nothing may run in the background: it could not be read, ended or found.
const BACKGROUND: [ToolKind; 3] = [ToolKind::TaskOutput, ToolKind::TaskKill, ToolKind::TaskList];

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
    network: Network,
    times: CallTimes,
    escalation: EscalationOffer,
    offers: Offers,
    skills: &'a Catalogue,
    cap: ResultCap,
    loops: LoopDetector,
    edit_tools: bool,
    asks: AskRule,
}

impl<'a> SessionTools<'a> {
    /// The tools of a session with this toolset, under these limits, that disabled those of these names.
    pub(crate) fn of(toolset: &'static Toolset, disabled: &'a [String], limits: &Limits) -> Self {
        let escalation = EscalationOffer::Offered { ceiling: Mode::DangerFullAccess };
        let (times, cap, loops) = (toolset.times(limits), toolset.cap, toolset.loops);
        // Only a session of the toolset that has the option asks before whatever it does.
        let asks = match toolset.options.contains(&SessionOption::Ask) {
            true => AskRule::default(),
            false => AskRule::Never,
        };
        let (offers, edit_tools) = (Offers::default(), toolset.files.declared == Declared::Always);
        let (network, skills) = (Network::Full, &NO_SKILLS);
        SessionTools {
            toolset,
            disabled,
            network,
            times,
            escalation,
            offers,
            skills,
            cap,
            loops,
            edit_tools,
            asks,
        }
    }

    /// The same in a session in which these skills were found: the tool for them is declared where there are some.
    pub(crate) const fn with_skills(self, skills: &'a Catalogue) -> Self {
        SessionTools { skills, ..self }
    }

    /// The skills that were found.
    pub(in crate::toolset) const fn skills(self) -> &'a Catalogue {
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

    /// The same in a session with this network.
    pub(crate) const fn with_network(self, network: Network) -> Self {
        SessionTools { network, ..self }
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
        self.edit_tools |= options.edit_tools == Some(true);
        self.asks = options.ask.unwrap_or(self.asks);
        self
    }

    /// Whether a person is asked before whatever it does.
    pub(crate) const fn asks(self) -> AskRule {
        self.asks
    }

    /// Whether the tool has arguments for a wider mode at all.
    pub(in crate::toolset) fn takes_wishes(self, kind: ToolKind) -> bool {
        let rules = self.toolset.tools.iter().find(|rules| rules.kind == kind);
        rules.is_some_and(|rules| {
            rules.parameters.iter().any(|known| known.name == SANDBOX_PERMISSIONS.name)
        })
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
    pub(in crate::toolset) fn declares(self, kind: ToolKind) -> bool {
        self.name(kind).is_some()
    }

    /// What the tool takes in this session, in the order in which it is told.
    pub(in crate::toolset) fn parameters(self, kind: ToolKind) -> Vec<&'static Parameter> {
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
    pub(in crate::toolset) fn rules(self) -> impl Iterator<Item = &'static ToolRules> {
        let is_offered = move |rules: &&ToolRules| match rules.kind {
            ToolKind::AskUser => self.offers.questions == Offer::Offered,
            ToolKind::ExitPlanMode => self.offers.plan == Offer::Offered,
            ToolKind::Skill => !self.skills.skills.is_empty(),
            ToolKind::Bash
            | ToolKind::Read
            | ToolKind::Write
            | ToolKind::Edit
            | ToolKind::Grep
            | ToolKind::Glob
            | ToolKind::WebFetch
            | ToolKind::TaskOutput
            | ToolKind::TaskKill
            | ToolKind::TaskList
            | ToolKind::TaskInput
            | ToolKind::TodoWrite => true,
        };
        self.enabled().filter(is_offered)
    }

    /// All that the session has and does not disable.
    fn enabled(self) -> impl Iterator<Item = &'static ToolRules> {
        let is_disabled =
            move |rules: &&ToolRules| self.disabled.iter().any(|name| name == rules.name);
        let is_left_out = move |rules: &&ToolRules| match rules.kind {
            ToolKind::Read | ToolKind::Write | ToolKind::Edit => !self.edit_tools,
            ToolKind::WebFetch => self.network != Network::Full,
            ToolKind::Bash
            | ToolKind::Grep
            | ToolKind::Glob
            | ToolKind::TaskOutput
            | ToolKind::TaskKill
            | ToolKind::TaskList
            | ToolKind::TaskInput
            | ToolKind::AskUser
            | ToolKind::ExitPlanMode
            | ToolKind::Skill
            | ToolKind::TodoWrite => false,
        };
        let tools = self.toolset.tools.iter();
        tools.filter(move |rules| !is_disabled(rules) && !is_left_out(rules))
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
        let others = [
            (ToolsetName::Glrs, "`bash`, `read`, `write`, `edit`, `grep`, `glob`, `web_fetch`"),
            (ToolsetName::Minimal, "`bash`"),
        ];
        for (name, declared) in others {
            assert_eq!(find(name, &[], "bash"), Ok(ToolKind::Bash));
            assert_eq!(
                find(name, &[], "task_list"),
                Err(format!("unknown tool `task_list`: expected one of {declared}"))
            );
        }
        let all = [
            "bash",
            "read",
            "write",
            "edit",
            "grep",
            "glob",
            "web_fetch",
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
    fn pages_are_fetched_only_where_the_network_is_full() {
        for name in [ToolsetName::Standard, ToolsetName::Glrs] {
            let declares = |network| {
                let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
                tools.with_network(network).declares(ToolKind::WebFetch)
            };
            let networks = [Network::Full, Network::Loopback, Network::None];
            assert_eq!(networks.map(declares), [true, false, false]);
        }
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
