//! The values of `standard`, the default toolset: strict about arguments, output as a reader wants it.

use std::time::Duration;

use brattice_protocol::session::ToolsetName;

use super::definition::{
    BashRules, Nul, OutputRules, Terminal, TimeLimits, Toolset, UnknownArguments,
};
use super::parameter::{COMMAND, DESCRIPTION, TIMEOUT_MS, WORKDIR};
use crate::exec::spec::Streams;

/// The toolset.
pub(super) static TOOLSET: Toolset = Toolset {
    name: ToolsetName::Standard,
    bash: BashRules {
        parameters: &[COMMAND.required(), DESCRIPTION, TIMEOUT_MS, WORKDIR],
        unknown: UnknownArguments::Refuse,
        unavailable: &[],
    },
    limits: TimeLimits {
        default: Duration::from_millis(120_000),
        max: Duration::from_millis(600_000),
    },
    grace: Duration::from_secs(5),
    streams: Streams::Separate,
    output: OutputRules {
        kept_bytes: 64_000,
        nul: Nul::Symbol,
        terminal: Terminal::Cleaned,
        words: "A line that was redrawn with carriage returns is shown as its last state (where its last text \
                did not cover an older one, the older one keeps a line of its own), escape sequences and other \
                control characters are left out, and NUL is shown as ␀; the file keeps every byte.",
    },
    error_prefix: "",
    variables: &[],
};
