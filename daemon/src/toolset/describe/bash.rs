//! The description of `bash`. Its parts on the background and on input are there where the session has them.

use brattice_policy::Mode;

use crate::toolset::arguments::{MAX_COMMAND_BYTES, MAX_JUSTIFICATION_BYTES};
use crate::toolset::definition::{BackgroundLimit, CallTimes, Toolset};
use crate::toolset::parameter::{TIMEOUT_MS, TTY};
use crate::toolset::tool::{Background, EscalationOffer, SessionTools, ToolKind};
use crate::toolset::wording::{Folder, Kept, ResultCap, Shell};

use super::result::result;

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
        shell(toolset, feeding),
        limits(tools, background),
    ];
    if background == Background::Offered {
        paragraphs.push(in_background(toolset));
    }
    paragraphs.extend(fed(feeding));
    if tools.takes_wishes(ToolKind::Bash) {
        paragraphs.push(escalation(tools.escalation(), background, feeding));
    }
    paragraphs.push(result(tools));
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

fn shell(toolset: &Toolset, feeding: Feeding) -> String {
    let unless = match feeding {
        Feeding::ByTool | Feeding::ByClient => "Unless asked for with `stdin` or `tty`, standard",
        Feeding::None => "Standard",
    };
    let shell = match toolset.command.shell {
        Shell::Plain => "`bash -c`",
        Shell::Login => "`bash -lc`",
    };
    let folder = match toolset.command.folder {
        Folder::Cwd => "",
        Folder::Workspace => " in the workspace",
    };
    format!(
        "\
Each call is a fresh {shell}{folder}: files stay, but no directory change, variable or function outlives the call. \
{unless} input is empty and there is no terminal, so a program that asks gets no answer; use its options that \
avoid questions. What may be read, written and reached is decided by the session's sandbox mode; an access that \
it forbids fails inside the command with an ordinary error such as `Permission denied`."
    )
}

fn limits(tools: SessionTools<'_>, background: Background) -> String {
    let left = match background {
        Background::Offered => {
            "processes that it left running go on as a background task, which the result names, or are stopped where \
             the settings say so; the result tells either"
        }
        Background::Withheld => "processes that it left in the background are stopped",
    };
    format!(
        "\
Limits: the command may be {MAX_COMMAND_BYTES} bytes long and hold anything but NUL. It is stopped after {limit}: \
SIGTERM to everything that it started, SIGKILL {grace} \
later to what is left. The call returns when the shell exits; {left}. {kept}",
        limit = limit(tools),
        grace = tools.times().grace_in_words(),
        kept = kept(tools),
    )
}

/// The time limit, which a call may choose where it has the argument for it.
fn limit(tools: SessionTools<'_>) -> String {
    let CallTimes { limits, .. } = tools.times();
    let (default, max) = (limits.default.as_millis(), limits.max.as_millis());
    if tools.parameters(ToolKind::Bash).iter().any(|known| known.name == TIMEOUT_MS.name) {
        format!("`timeoutMs` milliseconds ({default} unless given, {max} at most)")
    } else {
        format!("{default} milliseconds")
    }
}

/// How much of a long output is shown.
fn kept(tools: SessionTools<'_>) -> String {
    let tail = || {
        let bytes = tools.toolset().output.kept_bytes;
        format!("Of each stream the last {bytes} bytes are shown.")
    };
    match (tools.toolset().command.kept, tools.cap()) {
        (Kept::Heads { stdout, stderr }, _) => format!(
            "The first {stdout} characters of standard output and the first {stderr} of standard error are shown."
        ),
        (Kept::Result, ResultCap::Characters(most, _)) => {
            format!("The first {most} characters of the output are shown.")
        }
        (Kept::Tail, _) | (Kept::Result, ResultCap::None) => tail(),
    }
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

fn escalation(escalation: EscalationOffer, background: Background, feeding: Feeding) -> String {
    let ceiling = match escalation {
        EscalationOffer::Withheld => {
            return "\
Escalation: approval prompts are disabled in this session, so that no call runs beyond the session's sandbox mode."
                .to_owned();
        }
        EscalationOffer::Offered { ceiling: Mode::DangerFullAccess } => String::new(),
        EscalationOffer::Offered { ceiling } => {
            format!(" Nothing beyond {ceiling} can be asked for on this machine.")
        }
    };
    let mut others = Vec::new();
    if background == Background::Offered {
        others.push("`run_in_background`");
    }
    if feeding != Feeding::None {
        others.extend(["`stdin`", "`tty`"]);
    }
    let alone = match others.is_empty() {
        true => String::new(),
        false => format!(" It goes with none of {}.", others.join(", ")),
    };
    format!(
        "\
Escalation: when the sandbox has refused a command something that it needs, repeat the same call once with \
`sandbox_permissions`, a mode wider than the session's, and `justification` (at most {MAX_JUSTIFICATION_BYTES} bytes). \
A person is shown the exact command and folder and decides; the call waits for that. Allowed, the command runs once in \
exactly that mode, and what it leaves running is stopped. A command that was rejected is not asked about again before \
the user has spoken.{ceiling}{alone}"
    )
}
