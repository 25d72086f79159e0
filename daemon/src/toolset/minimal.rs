//! The values of `minimal`, which reproduces the tools of a small terminal agent: one parameter, both streams in the order
//! of their arrival, and short results.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    CallTimes, FileRules, OutputRules, TaskRules, TimeLimits, TimeRules, ToolRules, Toolset,
    UnknownArguments,
};
use super::options::SessionOption;
use super::parameter::COMMAND;
use super::parameter::people::SKILL_NAME;
use super::skills::{Flat, HomeSkills, NameRule, SkillRules, SkillShown};
use super::tool::ToolKind;
use super::wording::{
    AnswerForm, CommandRules, CutLine, DenialHint, Folder, Kept, Layout, LimitLine, LoopDetector,
    ResultCap, Shell, Silence, StatusLine,
};
use crate::approval::Choices;
use crate::exec::spec::Streams;

/// The time limit.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Minimal,
    tools: &[
        ToolRules { kind: ToolKind::Bash, name: "bash", parameters: &[COMMAND.required()] },
        ToolRules {
            kind: ToolKind::Skill,
            name: "read_skill",
            parameters: &[SKILL_NAME.required()],
        },
    ],
    unknown: UnknownArguments::Ignore,
    options: &[SessionOption::MaxOutput],
    times: TimeRules::Own(CallTimes {
        limits: TimeLimits { default: TIMEOUT, max: TIMEOUT },
        grace: Duration::from_secs(5),
    }),
    tasks: TaskRules::WITHOUT_TOOLS,
    command: CommandRules {
        shell: Shell::Plain,
        folder: Folder::Cwd,
        kept: Kept::Result,
        layout: Layout::Headed,
        silence: Silence::Words,
        limit: LimitLine::Exceeded,
        status: StatusLine::Status,
        hint: DenialHint::Withheld,
    },
    streams: Streams::Merged,
    output: OutputRules::VERBATIM,
    files: FileRules::WITHOUT_TOOLS,
    approvals: Choices::ForSessionToo,
    answers: AnswerForm::Lines,
    cap: ResultCap::Characters(8_000, CutLine::OutputTruncated),
    loops: LoopDetector::On,
    skills: SkillRules {
        workspace: &[],
        home: HomeSkills::Ignored,
        flat: Flat::Skills,
        name: NameRule::LastComponent,
        shown: SkillShown::Whole,
    },
    listed_denials: 0,
    error_prefix: "",
    variables: &[],
};
