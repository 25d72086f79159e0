//! The descriptions of the tools for tasks.

use crate::toolset::arguments::{MAX_INPUT_BYTES, MAX_REASON_BYTES};
use crate::toolset::definition::{Detail, Toolset};
use crate::toolset::parameter::OFFSET;
use crate::toolset::tool::{SessionTools, ToolKind};

/// What every tool for tasks says of what it takes.
const IDS: &str = "Only this session's tasks can be named.";

pub(super) fn task_output(tools: SessionTools<'_>) -> String {
    let toolset = tools.toolset();
    let rereads =
        tools.parameters(ToolKind::TaskOutput).iter().any(|known| known.name == OFFSET.name);
    let mut paragraphs = vec![
        format!(
            "Reads a background task: what it printed since this session last read it, and how it stands. {IDS}"
        ),
        waiting(toolset),
    ];
    if rereads {
        paragraphs.push(rereading(toolset));
    }
    paragraphs.push(format!("{}\n{}", result(toolset), markers(toolset, rereads)));
    paragraphs.push(status(toolset.tasks.detail));
    paragraphs.join("\n\n")
}

fn waiting(toolset: &Toolset) -> String {
    let wait = toolset.tasks.wait;
    format!(
        "\
Without `wait` it returns at once. With it, it returns when the task has ended, or after `timeout_ms` milliseconds \
({default} unless given, {max} at most); a wait that is over leaves the task alone. A task that has ended can still \
be read.",
        default = wait.default.as_millis(),
        max = wait.max.as_millis(),
    )
}

fn rereading(toolset: &Toolset) -> String {
    format!(
        "\
To read again: `offset` reads on from that byte of each stream, {kept} bytes of each at most, and `tail_lines` its \
last lines. Only one of them can be given, and neither changes what counts as new.",
        kept = toolset.output.kept_bytes,
    )
}

fn result(toolset: &Toolset) -> String {
    format!(
        "\
Result: new standard output, then, if there is any, a line `[stderr]` and new standard error; `(no new output)` if \
there is neither. Of each stream the last {kept} bytes are shown. Bytes that are not UTF-8 are shown as U+FFFD. {output} \
These lines may follow, each added by the tool and not printed by the command:",
        kept = toolset.output.kept_bytes,
        output = toolset.output.words,
    )
}

fn markers(toolset: &Toolset, rereads: bool) -> String {
    let mut lines = vec![
        "- `[stdout truncated: N bytes omitted; full output: PATH]`: only the end is shown and the file holds the \
         rest, unless it says `file unavailable`; the same for stderr."
            .to_owned(),
        "- `[stdout dropped: N bytes from the middle, offsets A-B]`: the stream outgrew its cap, and this read \
         passes over these bytes, which are gone."
            .to_owned(),
        "- `[output lost: ENOSPC]`: output could not be kept, here because the disk was full. The command ran on."
            .to_owned(),
    ];
    if rereads {
        lines.push(
            "- `[stdout: bytes A-B of N; go on with offset B]`: with `offset`, there is more; `(no output from \
             offset N on)` if there is nothing, with `tail_lines` `(no output)`."
                .to_owned(),
        );
    }
    if toolset.tasks.detail == Detail::Full {
        lines.push(
            "- `[the shell exited with N; M processes run on]`: the task ends when they do."
                .to_owned(),
        );
    }
    lines.push(
        "- `[could not be killed: NAME (pid N)]`: what is still there in spite of SIGKILL."
            .to_owned(),
    );
    lines.push(format!(
        "- `[timeout clamped to {}ms]`: a longer wait was asked for.",
        toolset.tasks.wait.max.as_millis()
    ));
    if toolset.tasks.detail == Detail::Full {
        lines.push(
            "- `[no output for Ns: the last line looks like a prompt]`: a hint that the task may wait for input."
                .to_owned(),
        );
    }
    lines.push(
        "- `[background task ID: …]`: another task has ended since the last result, and how; told once."
            .to_owned(),
    );
    lines.join("\n")
}

fn status(detail: Detail) -> String {
    let reason = match detail {
        Detail::Plain => "",
        Detail::Full => {
            " Who ended it and why follows, such as `by task_kill: REASON`, where somebody asked for it."
        }
    };
    format!(
        "\
The last line is always `[status: …]` with one of these:
- `running`; `stopping` from a kill until nothing of the task is left.
- `completed, exit code: N`: its shell exited by itself, whatever the code.
- `killed, signal: NAME`, or `killed, exit code: N` where its shell still exited with a code: it was ended, or ended \
by a signal; `out of memory` follows where the kernel did it for that.{reason}
- `killed, timed out after Nms`: its time limit passed; `timed out: REASON` for a limit of another kind.
- `failed, REASON`: it never started, or what watched it died and how it ended is not known."
    )
}

pub(super) fn task_kill(tools: SessionTools<'_>) -> String {
    format!(
        "\
Ends a background task with everything that it started: SIGTERM now, SIGKILL {grace} later to what is left. {IDS}

It returns at once. The task is `stopping` until nothing of it is left and `killed` after; its output stays readable. \
A task that has ended already is left as it is, and the result says how \
it ended. A `reason` may be {MAX_REASON_BYTES} bytes long.",
        grace = tools.times().grace_in_words(),
    )
}

pub(super) fn task_list(tools: SessionTools<'_>) -> String {
    let lines = match tools.toolset().tasks.detail {
        Detail::Plain => {
            "`ID [bash] STATE — COMMAND` with the command's first line; of one that has ended, STATE also tells how."
        }
        Detail::Full => {
            "`ID [bash] STATE — COMMAND (…)` with the command's first line; of one that has ended, STATE also tells \
             how. In the parentheses: the time since its start or from start to end, CPU time, bytes printed, the age of its last output or its end, how its shell ended where \
             the rest runs on, and how many processes it has."
        }
    };
    format!(
        "\
Lists this session's background tasks, running and finished, the oldest first; `(no background tasks)` if there are none.

Each has a line {lines} A command that is no line for bash has `[argv]`. Where finished tasks are too many, the \
oldest of them are left out, and a line says how many."
    )
}

pub(super) fn task_input() -> String {
    format!(
        "\
Sends text to the standard input of a running task that was started with `stdin` or `tty`. {IDS}

The text goes as it stands and may be {MAX_INPUT_BYTES} bytes long; a program that reads lines needs the newline. \
With `eof` the input ends after it: the pipe is closed, or the terminal is told the end of the input. The call \
returns once the text was taken, which says nothing of what the program makes of it. A task that takes no input, or no more, is an error that says so."
    )
}
