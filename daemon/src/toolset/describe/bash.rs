//! The description of `bash`. Its parts on the background and on input are there where the session has them.

use crate::toolset::arguments::MAX_COMMAND_BYTES;
use crate::toolset::definition::{BackgroundLimit, CallTimes, Toolset};
use crate::toolset::parameter::TTY;
use crate::toolset::tool::{Background, SessionTools, ToolKind};

/// Whether a command can be given a standard input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeding {
    /// `stdin` and `tty` are declared, and `task_input` as well.
    ByTool,
    /// `stdin` and `tty` are declared; what is sent comes from the client.
    ByClient,
    /// It is always empty.
    None,
}

pub(super) fn bash(tools: SessionTools<'_>) -> String {
    let toolset = tools.toolset();
    let (background, feeding) = (tools.background(), feeding(tools));
    let mut paragraphs = vec![
        "Runs a command in bash within the session's sandbox and returns what it printed."
            .to_owned(),
        shell(feeding),
        limits(tools, background),
    ];
    if background == Background::Offered {
        paragraphs.push(in_background(toolset));
    }
    paragraphs.extend(fed(feeding));
    paragraphs.push(result(tools, background));
    paragraphs.join("\n\n")
}

fn feeding(tools: SessionTools<'_>) -> Feeding {
    let takes_input =
        tools.parameters(ToolKind::Bash).iter().any(|parameter| parameter.name == TTY.name);
    match (takes_input, tools.declares(ToolKind::TaskInput)) {
        (true, true) => Feeding::ByTool,
        (true, false) => Feeding::ByClient,
        (false, _) => Feeding::None,
    }
}

fn shell(feeding: Feeding) -> String {
    let unless = match feeding {
        Feeding::ByTool | Feeding::ByClient => "Unless asked for with `stdin` or `tty`, standard",
        Feeding::None => "Standard",
    };
    format!(
        "\
Each call is a fresh `bash -c`: files stay, but no directory change, variable or function outlives the call. \
{unless} input is empty and there is no terminal, so a program that asks gets no answer; use its options that \
avoid questions. What may be read, written and reached is decided by the session's sandbox mode; an access that \
it forbids fails inside the command with an ordinary error such as `Permission denied`."
    )
}

fn limits(tools: SessionTools<'_>, background: Background) -> String {
    let CallTimes { limits, .. } = tools.times();
    let left = match background {
        Background::Offered => {
            "processes that it left running go on as a background task, which the result names, or are stopped where \
             the settings say so; the result tells either"
        }
        Background::Withheld => "processes that it left in the background are stopped",
    };
    format!(
        "\
Limits: the command may be {command} bytes long and hold anything but NUL. It is stopped after `timeoutMs` \
milliseconds ({default} unless given, {max} at most): SIGTERM to everything that it started, SIGKILL {grace} \
later to what is left. The call returns when the shell exits; {left}. Of each stream the last {kept} bytes are shown.",
        command = MAX_COMMAND_BYTES,
        default = limits.default.as_millis(),
        max = limits.max.as_millis(),
        grace = tools.times().grace_in_words(),
        kept = tools.toolset().output.kept_bytes,
    )
}

fn in_background(toolset: &Toolset) -> String {
    let limit = match toolset.tasks.limit {
        BackgroundLimit::None => "no time limit applies, with or without `timeoutMs`",
        BackgroundLimit::AsAsked => {
            "there is no time limit by default, and a `timeoutMs` that is given applies without a cap"
        }
    };
    format!(
        "\
Background: with `run_in_background` the call returns at once with `started background task ID`, and the command \
runs on until it ends, is ended, or the session is closed; {limit}. `task_output` reads it and waits for its end, \
`task_kill` ends it with all that it started, `task_list` shows every task."
    )
}

fn fed(feeding: Feeding) -> Option<String> {
    let source = match feeding {
        Feeding::ByTool => "`task_input`",
        Feeding::ByClient => "the client",
        Feeding::None => return None,
    };
    Some(format!(
        "\
Input: with `stdin` standard input is a pipe, with `tty` the command runs on a terminal of its own (which includes \
`stdin`; standard error then comes with standard output, in the order of its arrival). It reads what {source} sends; \
a command that is waited for can be sent input while its call waits. Until input comes or is ended, a program that \
reads waits, up to the time limit."
    ))
}

fn result(tools: SessionTools<'_>, background: Background) -> String {
    let (went_on, ended) = match background {
        Background::Offered => (
            "\n- `[N processes still running: now task ID]`: what the shell left behind; it goes on as that task.",
            "\n- `[background task ID: …]`: that task has ended since the last result, and how; told once.",
        ),
        Background::Withheld => ("", ""),
    };
    format!(
        "\
Result: standard output, then, if there is any, a line `[stderr]` and standard error; `(no output)` if nothing \
was printed. Bytes that are not UTF-8 are shown as U+FFFD. {output} These lines may follow, each added by the \
tool and not printed by the command:
- `[stdout truncated: N bytes omitted; full output: PATH]`: only the end is shown and the file holds the rest, \
unless it says `file unavailable`; the same for stderr.
- `[stdout dropped: N bytes from the middle, offsets A-B]`: the stream outgrew its cap and the file lacks these.
- `[output lost: ENOSPC]`: output could not be kept, here because the disk was full. The command ran on.{went_on}
- `[stopped N processes left running]`: what the shell left behind and is gone now.
- `[could not be killed: NAME (pid N)]`: what is still there in spite of SIGKILL.
- `[timeout clamped to {max}ms]`: a longer limit was asked for.
- `[timed out after Nms]`: the limit passed; the output up to then is shown.
- `[out of memory]`: the kernel ended the command for want of memory.
- `[killed]` or `[killed: REASON]`: somebody else stopped the command.
- `[lost: …]`: the process that watched the command died, so how it ended is not known.
- `[killed by signal: SIGKILL]`: a signal ended the shell, and there is no exit code.
- `[exit code: N]`: the shell's exit code where it is not 0. Such a result is no failure of the tool.
- `[cancelled]`: the call was withdrawn; the output up to then is shown.{ended}",
        max = tools.times().limits.max.as_millis(),
        output = tools.toolset().output.words,
    )
}
