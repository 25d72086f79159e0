//! The values of `standard`, the default toolset: strict about arguments, output as a reader wants it.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    BackgroundLimit, Detail, FileRules, Nul, OutputRules, Shown, TaskRules, Terminal, TimeLimits,
    TimeRules, ToolRules, Toolset, UnknownArguments,
};
use super::parameter::files::{
    AROUND, CONTENT, DRY_RUN, FILE_PATH, FILES, FIRST_LINE, FIXED_STRING, GLOB, IGNORE_CASE,
    INCLUDE_IGNORED, LINES, MAX_FILES, MAX_MATCHES, MULTILINE, NAMES, NEW_STRING, OLD_STRING,
    OUTPUT_MODE, PATTERN, REPLACE_ALL, ROOT,
};
use super::parameter::people::{PLAN, QUESTIONS, SKILL_NAME, TODOS};
use super::parameter::{
    COMMAND, DESCRIPTION, EOF, JUSTIFICATION, OFFSET, REASON, RUN_IN_BACKGROUND,
    SANDBOX_PERMISSIONS, STDIN, TAIL_LINES, TASK_ID, TEXT, TIMEOUT_MS, TTY, WAIT, WAIT_MS, WORKDIR,
};
use super::skills::SkillRules;
use super::tool::ToolKind;
use super::wording::{
    AnswerForm, CommandRules, DenialHint, Folder, Kept, Layout, LimitLine, LoopDetector, ResultCap,
    Shell, Silence, StatusLine,
};
use crate::approval::Choices;
use crate::exec::spec::Streams;

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Standard,
    tools: &[
        ToolRules {
            kind: ToolKind::Bash,
            name: "bash",
            parameters: &[
                COMMAND.required(),
                DESCRIPTION,
                TIMEOUT_MS,
                WORKDIR,
                RUN_IN_BACKGROUND,
                SANDBOX_PERMISSIONS,
                JUSTIFICATION,
                STDIN,
                TTY,
            ],
        },
        ToolRules {
            kind: ToolKind::Read,
            name: "read",
            parameters: &[FILE_PATH.required(), FIRST_LINE, LINES],
        },
        ToolRules {
            kind: ToolKind::Write,
            name: "write",
            parameters: &[FILE_PATH.required(), CONTENT.required()],
        },
        ToolRules {
            kind: ToolKind::Edit,
            name: "edit",
            parameters: &[FILE_PATH, OLD_STRING, NEW_STRING, REPLACE_ALL, FILES, DRY_RUN],
        },
        ToolRules {
            kind: ToolKind::Grep,
            name: "grep",
            parameters: &[
                PATTERN.required(),
                ROOT,
                GLOB,
                IGNORE_CASE,
                FIXED_STRING,
                INCLUDE_IGNORED,
                MAX_MATCHES,
                AROUND,
                MULTILINE,
                OUTPUT_MODE,
            ],
        },
        ToolRules {
            kind: ToolKind::Glob,
            name: "glob",
            parameters: &[NAMES.required(), ROOT, INCLUDE_IGNORED, MAX_FILES],
        },
        ToolRules {
            kind: ToolKind::TaskOutput,
            name: "task_output",
            parameters: &[TASK_ID.required(), WAIT, WAIT_MS, OFFSET, TAIL_LINES],
        },
        ToolRules {
            kind: ToolKind::TaskKill,
            name: "task_kill",
            parameters: &[TASK_ID.required(), REASON],
        },
        ToolRules { kind: ToolKind::TaskList, name: "task_list", parameters: &[] },
        ToolRules {
            kind: ToolKind::TaskInput,
            name: "task_input",
            parameters: &[TASK_ID.required(), TEXT.required(), EOF],
        },
        ToolRules { kind: ToolKind::Skill, name: "skill", parameters: &[SKILL_NAME.required()] },
        ToolRules {
            kind: ToolKind::AskUser,
            name: "ask_user_question",
            parameters: &[QUESTIONS.required()],
        },
        ToolRules {
            kind: ToolKind::ExitPlanMode,
            name: "exit_plan_mode",
            parameters: &[PLAN.required()],
        },
        ToolRules {
            kind: ToolKind::TodoWrite,
            name: "todo_write",
            parameters: &[TODOS.required()],
        },
    ],
    unknown: UnknownArguments::Refuse,
    options: &[],
    times: TimeRules::Configured,
    tasks: TaskRules {
        limit: BackgroundLimit::AsAsked,
        wait: TimeLimits {
            default: Duration::from_millis(30_000),
            max: Duration::from_millis(600_000),
        },
        detail: Detail::Full,
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
    output: OutputRules {
        kept_bytes: 64_000,
        nul: Nul::Symbol,
        terminal: Terminal::Cleaned,
        words: "A line that was redrawn with carriage returns is shown as its last state (where its last text \
                did not cover an older one, the older one keeps a line of its own), escape sequences and other \
                control characters are left out, and NUL is shown as ␀; the file keeps every byte.",
    },
    approvals: Choices::ForSessionToo,
    answers: AnswerForm::Json,
    cap: ResultCap::None,
    loops: LoopDetector::On,
    files: FileRules { shown: Shown::Numbered, detail: Detail::Full },
    skills: SkillRules::COMMON,
    listed_denials: 5,
    error_prefix: "",
    variables: &[],
};
