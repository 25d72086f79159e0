//! The values of `dsh`, which reproduces the tools of the runtime of that name: lenient about unknown arguments,
//! output verbatim.
//!
//! What a person is asked they allow once or not at all.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    BackgroundLimit, CallTimes, Detail, FileRules, OutputRules, Shown, TaskRules, TimeLimits,
    TimeRules, ToolRules, Toolset, UnknownArguments,
};
use super::options::SessionOption;
use super::parameter::files::{
    CONTENT, FILE_PATH, FIRST_LINE, LINES, NEW_STRING, OLD_STRING, REPLACE_ALL,
};
use super::parameter::people::{PLAN, QUESTIONS, SKILL_NAME, TODOS};
use super::parameter::{
    COMMAND, DESCRIPTION, JUSTIFICATION, REASON, RUN_IN_BACKGROUND, SANDBOX_PERMISSIONS, TASK_ID,
    TIMEOUT_MS, WAIT, WAIT_MS, WORKDIR,
};
use super::skills::{AGENTS, SkillRules};
use super::tool::ToolKind;
use super::variables::{Variable, VariableValue};
use super::wording::{
    AnswerForm, CommandRules, DenialHint, Folder, Kept, Layout, LimitLine, LoopDetector, ResultCap,
    Shell, Silence, StatusLine,
};
use crate::approval::Choices;
use crate::exec::spec::Streams;

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Dsh,
    tools: &[
        ToolRules {
            kind: ToolKind::AskUser,
            name: "ask_user_question",
            parameters: &[QUESTIONS.required()],
        },
        ToolRules {
            kind: ToolKind::Bash,
            name: "bash",
            parameters: &[
                COMMAND.required(),
                DESCRIPTION.required(),
                TIMEOUT_MS,
                WORKDIR,
                RUN_IN_BACKGROUND,
                SANDBOX_PERMISSIONS,
                JUSTIFICATION,
            ],
        },
        ToolRules {
            kind: ToolKind::Edit,
            name: "edit",
            parameters: &[
                FILE_PATH.required(),
                OLD_STRING.required(),
                NEW_STRING.required(),
                REPLACE_ALL,
            ],
        },
        ToolRules {
            kind: ToolKind::ExitPlanMode,
            name: "exit_plan_mode",
            parameters: &[PLAN.required()],
        },
        ToolRules {
            kind: ToolKind::Read,
            name: "read",
            parameters: &[FILE_PATH.required(), FIRST_LINE, LINES],
        },
        ToolRules { kind: ToolKind::Skill, name: "skill", parameters: &[SKILL_NAME.required()] },
        ToolRules {
            kind: ToolKind::TaskKill,
            name: "task_kill",
            parameters: &[TASK_ID.required(), REASON],
        },
        ToolRules { kind: ToolKind::TaskList, name: "task_list", parameters: &[] },
        ToolRules {
            kind: ToolKind::TaskOutput,
            name: "task_output",
            parameters: &[TASK_ID.required(), WAIT, WAIT_MS],
        },
        ToolRules {
            kind: ToolKind::TodoWrite,
            name: "todo_write",
            parameters: &[TODOS.required()],
        },
        ToolRules {
            kind: ToolKind::Write,
            name: "write",
            parameters: &[FILE_PATH.required(), CONTENT.required()],
        },
    ],
    unknown: UnknownArguments::Ignore,
    options: &[SessionOption::DshHome],
    times: TimeRules::Own(CallTimes {
        limits: TimeLimits {
            default: Duration::from_millis(120_000),
            max: Duration::from_millis(600_000),
        },
        grace: Duration::from_secs(3),
    }),
    tasks: TaskRules {
        limit: BackgroundLimit::None,
        wait: TimeLimits {
            default: Duration::from_millis(30_000),
            max: Duration::from_millis(600_000),
        },
        detail: Detail::Plain,
    },
    command: CommandRules {
        shell: Shell::Plain,
        folder: Folder::Cwd,
        kept: Kept::Tail,
        layout: Layout::Headed,
        silence: Silence::Words,
        limit: LimitLine::Milliseconds,
        status: StatusLine::CodeOrSignal,
        hint: DenialHint::Told,
    },
    streams: Streams::Separate,
    output: OutputRules::VERBATIM,
    approvals: Choices::OnceOrNot,
    answers: AnswerForm::Json,
    cap: ResultCap::None,
    loops: LoopDetector::Off,
    files: FileRules { shown: Shown::Tagged, detail: Detail::Plain },
    skills: SkillRules { workspace: &[".dsh/skills", AGENTS], ..SkillRules::COMMON },
    listed_denials: 0,
    error_prefix: "Error: ",
    variables: &[
        Variable { name: "DSH_SHELL", value: VariableValue::Fixed("1") },
        Variable { name: "DSH_SESSION_ID", value: VariableValue::SessionId },
        Variable { name: "DSH_HOME", value: VariableValue::DshHome },
    ],
};
