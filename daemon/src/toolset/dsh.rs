//! The values of `dsh`, which reproduces the tools of the runtime of that name: lenient about unknown arguments,
//! output verbatim.
//!
//! Its runtime knows an argument that this version does not declare, `sandbox_permissions`. Ignoring it like any
//! unknown one would run something else than was asked for, without the permission, so it is a fault.
//! `justification` alone asks for nothing and is ignored.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    BackgroundLimit, CallTimes, Detail, Nul, OutputRules, TaskRules, Terminal, TimeLimits,
    TimeRules, ToolRules, Toolset, UnknownArguments,
};
use super::parameter::{
    COMMAND, DESCRIPTION, REASON, RUN_IN_BACKGROUND, TASK_ID, TIMEOUT_MS, WAIT, WAIT_MS, WORKDIR,
};
use super::tool::ToolKind;
use super::variables::{Variable, VariableValue};
use crate::exec::spec::Streams;

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Dsh,
    tools: &[
        ToolRules {
            kind: ToolKind::Bash,
            parameters: &[
                COMMAND.required(),
                DESCRIPTION.required(),
                TIMEOUT_MS,
                WORKDIR,
                RUN_IN_BACKGROUND,
            ],
            unavailable: &["sandbox_permissions"],
        },
        ToolRules {
            kind: ToolKind::TaskKill,
            parameters: &[TASK_ID.required(), REASON],
            unavailable: &[],
        },
        ToolRules { kind: ToolKind::TaskList, parameters: &[], unavailable: &[] },
        ToolRules {
            kind: ToolKind::TaskOutput,
            parameters: &[TASK_ID.required(), WAIT, WAIT_MS],
            unavailable: &[],
        },
    ],
    unknown: UnknownArguments::Ignore,
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
    streams: Streams::Separate,
    output: OutputRules {
        kept_bytes: 64_000,
        nul: Nul::Verbatim,
        terminal: Terminal::Verbatim,
        words: "Carriage returns, escape sequences and other control characters are kept as the command printed \
                them.",
    },
    listed_denials: 0,
    error_prefix: "Error: ",
    variables: &[
        Variable { name: "DSH_SHELL", value: VariableValue::Fixed("1") },
        Variable { name: "DSH_SESSION_ID", value: VariableValue::SessionId },
        Variable { name: "DSH_HOME", value: VariableValue::DshHome },
    ],
};
