//! The values of `glrs`, which reproduces the tools of the runtime of that name: a login shell, the beginning of long output, a
//! time limit that fails the call, and edits that build on each other.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    CallTimes, OutputRules, TaskRules, TimeLimits, TimeRules, ToolRules, Toolset, UnknownArguments,
};
use super::file_rules::{
    Declared, EditWords, FileRules, ListCut, MissingWords, Order, ReadFirst, Shown, Told,
};
use super::options::SessionOption;
use super::parameter::COMMAND;
use super::parameter::files::{
    CONTENT, FILES_IN_TURN, FIXED_STRING, GLOB, IGNORE_CASE, INCLUDE_IGNORED, MAX_FILES,
    MAX_MATCHES, NAMES, PATH, PATTERN, ROOT,
};
use super::parameter::people::{PLAIN_QUESTIONS, SKILL_NAME};
use super::parameter::web::URLS;
use super::skills::{AGENTS, Flat, SkillRules};
use super::tool::ToolKind;
use super::wording::{
    AnswerForm, CommandRules, CutLine, DenialHint, Folder, Kept, Layout, LimitLine, LoopDetector,
    Rejection, ResultCap, Shell, Silence, StatusLine,
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
        ToolRules { kind: ToolKind::Read, name: "read", parameters: &[PATH.required()] },
        ToolRules {
            kind: ToolKind::Write,
            name: "write",
            parameters: &[PATH.required(), CONTENT.required()],
        },
        ToolRules { kind: ToolKind::Edit, name: "edit", parameters: &[FILES_IN_TURN.required()] },
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
            ],
        },
        ToolRules {
            kind: ToolKind::Glob,
            name: "glob",
            parameters: &[NAMES.required(), ROOT, INCLUDE_IGNORED, MAX_FILES],
        },
        ToolRules { kind: ToolKind::WebFetch, name: "web_fetch", parameters: &[URLS.required()] },
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
    files: FileRules {
        declared: Declared::Always,
        shown: Shown::Bare,
        missing: MissingWords::CloseNames,
        told: Told::Wrote,
        read_first: ReadFirst::NotRequired,
        order: Order::Sequence,
        edits: EditWords::WITH_ALL,
        list: ListCut::Bare,
    },
    approvals: Choices::ForSessionToo,
    rejection: Rejection::Sentence,
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
