//! The values of `standard`, the default toolset: strict about arguments, output as a reader wants it.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    BackgroundLimit, Detail, Nul, OutputRules, TaskRules, Terminal, TimeLimits, TimeRules,
    ToolRules, Toolset, UnknownArguments,
};
use super::parameter::{
    COMMAND, DESCRIPTION, EOF, OFFSET, REASON, RUN_IN_BACKGROUND, STDIN, TAIL_LINES, TASK_ID, TEXT,
    TIMEOUT_MS, TTY, WAIT, WAIT_MS, WORKDIR,
};
use super::tool::ToolKind;
use crate::exec::spec::Streams;

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Standard,
    tools: &[
        ToolRules {
            kind: ToolKind::Bash,
            parameters: &[
                COMMAND.required(),
                DESCRIPTION,
                TIMEOUT_MS,
                WORKDIR,
                RUN_IN_BACKGROUND,
                STDIN,
                TTY,
            ],
            unavailable: &[],
        },
        ToolRules {
            kind: ToolKind::TaskOutput,
            parameters: &[TASK_ID.required(), WAIT, WAIT_MS, OFFSET, TAIL_LINES],
            unavailable: &[],
        },
        ToolRules {
            kind: ToolKind::TaskKill,
            parameters: &[TASK_ID.required(), REASON],
            unavailable: &[],
        },
        ToolRules { kind: ToolKind::TaskList, parameters: &[], unavailable: &[] },
        ToolRules {
            kind: ToolKind::TaskInput,
            parameters: &[TASK_ID.required(), TEXT.required(), EOF],
            unavailable: &[],
        },
    ],
    unknown: UnknownArguments::Refuse,
    times: TimeRules::Configured,
    tasks: TaskRules {
        limit: BackgroundLimit::AsAsked,
        wait: TimeLimits {
            default: Duration::from_millis(30_000),
            max: Duration::from_millis(600_000),
        },
        detail: Detail::Full,
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
    listed_denials: 5,
    error_prefix: "",
    variables: &[],
};
