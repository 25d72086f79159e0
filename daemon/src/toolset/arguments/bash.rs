//! What a call of `bash` asks for. Whether the working directory exists is found out by whoever starts the command.

use std::time::Duration;

use serde_json::{Map, Value};

use super::fault::ArgumentFault;
use super::given::{Given, checked};
use super::wish::{Wish, wish};
use crate::toolset::definition::{BackgroundLimit, TimeLimits};
use crate::toolset::parameter::{
    COMMAND, DESCRIPTION, RUN_IN_BACKGROUND, STDIN, TIMEOUT_MS, TTY, WORKDIR,
};
use crate::toolset::tool::{SessionTools, ToolKind};

/// The longest command, in bytes.
pub(in crate::toolset) const MAX_COMMAND_BYTES: usize = 1024 * 1024;

/// The longest path that the kernel takes, in bytes without the final NUL (`PATH_MAX`, limits.h).
pub(super) const MAX_PATH_BYTES: usize = 4095;

/// What a call of `bash` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BashArguments {
    /// The text for bash.
    pub(crate) command: String,
    /// What it is for, in the model's words.
    pub(crate) description: Option<String>,
    /// Where it runs, absolute or relative to the session's cwd; the session's cwd where none is given.
    pub(crate) workdir: Option<String>,
    /// Whether the call waits for it, and its time limit.
    pub(crate) placement: Placement,
    /// Its standard input.
    pub(crate) input: Input,
    /// The wider mode that it asks for, if it asks.
    pub(crate) wish: Option<Wish>,
}

/// Whether a call waits for its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// It does, and the command has this limit.
    Foreground(Timeout),
    /// It does not. The limit, in whole milliseconds, where one was asked for and applies.
    Background(Option<Duration>),
}

/// A command's standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// `/dev/null`.
    None,
    /// A pipe that stays open for what is sent.
    Pipe,
    /// A terminal of its own, which is its output too.
    Terminal,
}

/// The time limit of what a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout {
    /// The limit that applies, in whole milliseconds.
    pub(crate) limit: Duration,
    /// Where it comes from.
    pub(crate) origin: TimeoutOrigin,
}

/// Where a time limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutOrigin {
    /// The call named none.
    Default,
    /// The call named it.
    AsAsked,
    /// The call named a longer one than there may be.
    Clamped,
}

impl Timeout {
    /// The limit where a call asked for so many milliseconds, or for none.
    pub(super) fn within(asked: Option<f64>, limits: TimeLimits) -> Self {
        match asked {
            None => Timeout { limit: limits.default, origin: TimeoutOrigin::Default },
            Some(asked) if asked > limits.max.as_secs_f64() * 1000.0 => {
                Timeout { limit: limits.max, origin: TimeoutOrigin::Clamped }
            }
            Some(asked) => Timeout { limit: whole(asked), origin: TimeoutOrigin::AsAsked },
        }
    }
}

/// Milliseconds above 0, rounded up. What no integer can hold counts as the largest there is.
fn whole(milliseconds: f64) -> Duration {
    Duration::from_millis(milliseconds.ceil() as u64)
}

/// Parses the arguments of a call of `bash`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_bash(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<BashArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Bash, arguments)?;
    let command = given.required_text(&COMMAND)?;
    Ok(BashArguments {
        command: checked(&COMMAND, command, MAX_COMMAND_BYTES)?,
        description: given.text(&DESCRIPTION)?.map(str::to_owned),
        placement: placement(tools, &given)?,
        workdir: given
            .text(&WORKDIR)?
            .map(|path| checked(&WORKDIR, path, MAX_PATH_BYTES))
            .transpose()?,
        input: input(&given)?,
        wish: wish(&given, &[&RUN_IN_BACKGROUND, &STDIN, &TTY])?,
    })
}

fn placement(tools: SessionTools<'_>, given: &Given<'_>) -> Result<Placement, ArgumentFault> {
    let asked = given.milliseconds(&TIMEOUT_MS)?;
    if !given.flag(&RUN_IN_BACKGROUND)? {
        return Ok(Placement::Foreground(Timeout::within(asked, tools.times().limits)));
    }
    Ok(Placement::Background(match tools.toolset().tasks.limit {
        BackgroundLimit::None => None,
        BackgroundLimit::AsAsked => asked.map(whole),
    }))
}

/// A terminal is an input as well, so asking for both is asking for the terminal.
fn input(given: &Given<'_>) -> Result<Input, ArgumentFault> {
    Ok(match (given.flag(&TTY)?, given.flag(&STDIN)?) {
        (true, _) => Input::Terminal,
        (false, true) => Input::Pipe,
        (false, false) => Input::None,
    })
}

#[cfg(test)]
#[path = "tests/bash.rs"]
mod tests;
