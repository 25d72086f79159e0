//! The values of `glrs`, which reproduces the tools of the runtime of that name: one parameter, a login shell, the
//! beginning of long output, and a time limit that fails the call.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    CallTimes, FileRules, OutputRules, TaskRules, TimeLimits, TimeRules, ToolRules, Toolset,
    UnknownArguments,
};
use super::options::SessionOption;
use super::parameter::COMMAND;
use super::parameter::people::{PLAIN_QUESTIONS, SKILL_NAME};
use super::skills::{AGENTS, Flat, SkillRules};
use super::tool::ToolKind;
use super::wording::{
    AnswerForm, CommandRules, CutLine, DenialHint, Folder, Kept, Layout, LimitLine, LoopDetector,
    ResultCap, Shell, Silence, StatusLine,
};
use crate::approval::Choices;
use crate::exec::spec::Streams;

/// The time limit unless the session's option `tool_timeout_ms` names another.
const TIMEOUT: Duration = Duration::from_millis(600_000);

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Glrs,
    tools: &[
        ToolRules { kind: ToolKind::Bash, name: "bash", parameters: &[COMMAND.required()] },
        ToolRules {
            kind: ToolKind::AskUser,
            name: "ask_user",
            parameters: &[PLAIN_QUESTIONS.required()],
        },
        ToolRules {
            kind: ToolKind::Skill,
            name: "activate_skill",
            parameters: &[SKILL_NAME.required()],
        },
    ],
    unknown: UnknownArguments::Ignore,
    options: &[SessionOption::ToolTimeout],
    times: TimeRules::Own(CallTimes {
        limits: TimeLimits { default: TIMEOUT, max: TIMEOUT },
        grace: Duration::from_secs(5),
    }),
    tasks: TaskRules::WITHOUT_TOOLS,
    command: CommandRules {
        shell: Shell::Login,
        folder: Folder::Workspace,
        kept: Kept::Heads { stdout: 20_000, stderr: 9_000 },
        layout: Layout::Trimmed,
        silence: Silence::ExitLine,
        limit: LimitLine::SecondsFailed,
        status: StatusLine::Number,
        hint: DenialHint::Withheld,
    },
    streams: Streams::Separate,
    output: OutputRules::VERBATIM,
    files: FileRules::WITHOUT_TOOLS,
    approvals: Choices::ForSessionToo,
    answers: AnswerForm::Lines,
    cap: ResultCap::Characters(30_000, CutLine::Truncated),
    loops: LoopDetector::Off,
    skills: SkillRules {
        workspace: &[".glrs/skills", AGENTS],
        flat: Flat::Ignored,
        ..SkillRules::COMMON
    },
    listed_denials: 0,
    error_prefix: "ERROR: ",
    variables: &[],
};
