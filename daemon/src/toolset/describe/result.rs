//! What the description of `bash` says of its result: how the output stands in it, and each line that may follow.

use brattice_protocol::session::AskRule;

use crate::toolset::parameter::TIMEOUT_MS;
use crate::toolset::tool::{Background, SessionTools, ToolKind};
use crate::toolset::wording::{
    CutLine, Kept, Layout, LimitLine, LoopDetector, Rejection, ResultCap, Silence, StatusLine,
};

pub(super) fn result(tools: SessionTools<'_>) -> String {
    let mut lines = vec![output(tools)];
    lines.extend(cut_lines(tools));
    let mut line = |text: &str| lines.push(format!("- {text}"));
    line(
        "`[output lost: ENOSPC]`: output could not be kept, here because the disk was full. The command ran on.",
    );
    if tools.background() == Background::Offered {
        line(
            "`[N processes still running: now task ID]`: what the shell left behind; it goes on as that task.",
        );
    }
    line("`[stopped N processes left running]`: what the shell left behind and is gone now.");
    line("`[could not be killed: NAME (pid N)]`: what is still there in spite of SIGKILL.");
    limit_lines(tools).iter().for_each(|text| line(text));
    line("`[out of memory]`: the kernel ended the command for want of memory.");
    line("`[killed]` or `[killed: REASON]`: somebody else stopped the command.");
    line("`[lost: …]`: the process that watched the command died, so how it ended is not known.");
    status_lines(tools).into_iter().for_each(&mut line);
    rejection_line(tools).into_iter().for_each(&mut line);
    line("`[cancelled]`: the call was withdrawn; the output up to then is shown.");
    if tools.background() == Background::Offered {
        line(
            "`[background task ID: …]`: that task has ended since the last result, and how; told once.",
        );
    }
    if tools.loops() == LoopDetector::On {
        line(
            "`[LOOP_DETECTED: same call and result N times in a row]`: calling it once more will not help.",
        );
    }
    lines.join("\n")
}

fn output(tools: SessionTools<'_>) -> String {
    let toolset = tools.toolset();
    let rules = &toolset.command;
    let streams = match (rules.kept, rules.layout) {
        (Kept::Result, _) => "standard output and standard error in the order of their arrival",
        (_, Layout::Headed) => {
            "standard output, then, if there is any, a line `[stderr]` and standard error"
        }
        (_, Layout::Trimmed) => {
            "standard output, then standard error, each without the blank space at its end"
        }
    };
    let silence = match rules.silence {
        Silence::Words => "`(no output)` if nothing was printed",
        Silence::ExitLine => "`[exit 0]` if nothing was printed and all went well",
    };
    format!(
        "Result: {streams}; {silence}. Bytes that are not UTF-8 are shown as U+FFFD. {} These lines may follow, each added by \
         the tool and not printed by the command:",
        toolset.output.words,
    )
}

fn cut_lines(tools: SessionTools<'_>) -> Vec<String> {
    let part = match (tools.toolset().command.kept, tools.cap()) {
        (Kept::Result, ResultCap::Characters(_, CutLine::Truncated)) => {
            return vec![
                "- `[truncated, N chars omitted]`: only the beginning is shown.".to_owned(),
            ];
        }
        (Kept::Result, ResultCap::Characters(_, CutLine::OutputTruncated)) => {
            return vec![
                "- `[output truncated: N characters omitted]`: only the beginning is shown."
                    .to_owned(),
            ];
        }
        (Kept::Heads { .. }, _) => "beginning",
        (Kept::Tail, _) | (Kept::Result, ResultCap::None) => "end",
    };
    vec![
        format!(
            "- `[stdout truncated: N bytes omitted; full output: PATH]`: only the {part} is shown and the file holds the \
             rest, unless it says `file unavailable`; the same for stderr."
        ),
        "- `[stdout dropped: N bytes from the middle, offsets A-B]`: the stream outgrew its cap and the file lacks these."
            .to_owned(),
    ]
}

/// How a rejection reads where the session asks before whatever it does.
fn rejection_line(tools: SessionTools<'_>) -> Option<&'static str> {
    let is_bracketed = tools.toolset().rejection == Rejection::Bracketed;
    (is_bracketed && tools.asks() != AskRule::Never).then_some(
        "`[command rejected by the user]`: a person was asked and did not want it; nothing ran.",
    )
}

fn limit_lines(tools: SessionTools<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if tools.parameters(ToolKind::Bash).iter().any(|known| known.name == TIMEOUT_MS.name) {
        let max = tools.times().limits.max.as_millis();
        lines.push(format!("`[timeout clamped to {max}ms]`: a longer limit was asked for."));
    }
    let limit = match tools.toolset().command.limit {
        LimitLine::Milliseconds => "`[timed out after Nms]`".to_owned(),
        LimitLine::SecondsFailed => "`[timed out after Ns]`".to_owned(),
        LimitLine::Exceeded => "`[error: Ns timeout exceeded]`".to_owned(),
    };
    lines.push(format!("{limit}: the limit passed; the output up to then is shown."));
    lines
}

fn status_lines(tools: SessionTools<'_>) -> Vec<&'static str> {
    match tools.toolset().command.status {
        StatusLine::CodeOrSignal => vec![
            "`[killed by signal: SIGKILL]`: a signal ended the shell, and there is no exit code.",
            "`[exit code: N]`: the shell's exit code where it is not 0. Such a result is no failure of the tool.",
        ],
        StatusLine::Number => vec![
            "`[exit N]`: the shell's exit code where it is not 0, or 128 and the number of the signal that ended it. Such a \
             result is no failure of the tool.",
        ],
        StatusLine::Status => vec![
            "`[exit code: signal: killed]`: a signal ended the shell, and there is no exit code.",
            "`[exit code: exit status N]`: the shell's exit code where it is not 0. Such a result is no failure of the tool.",
        ],
    }
}
