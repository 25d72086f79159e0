//! The values of `dsh`, which reproduces the tools of the runtime of that name: lenient about unknown arguments,
//! output verbatim.
//!
//! Its runtime knows arguments that this version does not declare. Ignoring them like any unknown one would run
//! something else than was asked for, in the foreground or without the permission, so those that ask for something
//! are faults. `justification` alone asks for nothing and is ignored.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    Asks, BashRules, Nul, OutputRules, Terminal, TimeLimits, Toolset, Unavailable, UnknownArguments,
};
use super::parameter::{COMMAND, DESCRIPTION, TIMEOUT_MS, WORKDIR};
use super::variables::{Variable, VariableValue};
use crate::exec::spec::Streams;

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Dsh,
    bash: BashRules {
        parameters: &[COMMAND.required(), DESCRIPTION.required(), TIMEOUT_MS, WORKDIR],
        unknown: UnknownArguments::Ignore,
        unavailable: &[
            Unavailable { name: "run_in_background", asks: Asks::UnlessFalse },
            Unavailable { name: "sandbox_permissions", asks: Asks::Always },
        ],
    },
    limits: TimeLimits {
        default: Duration::from_millis(120_000),
        max: Duration::from_millis(600_000),
    },
    grace: Duration::from_secs(3),
    streams: Streams::Separate,
    output: OutputRules {
        kept_bytes: 64_000,
        nul: Nul::Verbatim,
        terminal: Terminal::Verbatim,
        words: "Carriage returns, escape sequences and other control characters are kept as the command printed \
                them.",
    },
    error_prefix: "Error: ",
    variables: &[
        Variable { name: "DSH_SHELL", value: VariableValue::Fixed("1") },
        Variable { name: "DSH_SESSION_ID", value: VariableValue::SessionId },
        Variable { name: "DSH_HOME", value: VariableValue::DshHome },
    ],
};
