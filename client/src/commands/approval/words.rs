//! A question in words for people. Whatever a model or a command chose of it is escaped: nothing of it moves the cursor,
//! begins a line, or looks like a field of ours.

use std::time::Duration;

use brattice_protocol::approval::{ApprovalOutcome, ApprovalRequest, ApprovalSettled};
use brattice_protocol::editor::EditorContent;
use brattice_protocol::outcome::Denial;

use crate::cli::terminal::Style;
use crate::cli::{diff, duration};

/// Said with every question about a command: what an approval does not hold on to.
const NOT_PINNED: &str =
    "the files that it runs and reads are not part of the approval, and may change until it runs";

/// Said with every question about a change of files: what it does hold on to.
const PINNED: &str = "it is made to exactly these files while they are as shown, or not at all";

/// A question: a line, and below it all that it is about. The time until it ends is from `now` on.
pub(crate) fn question(request: &ApprovalRequest, style: Style, now: u64) -> String {
    let ApprovalRequest { id, session, tool, from, to, command, workdir, .. } = request;
    let mode = match from == to {
        true => format!("in {to}"),
        false => format!("{from} → {}", style.bold(to.as_str())),
    };
    let left = Duration::from_millis(request.expires.saturating_sub(now));
    let left = duration::words(left);
    let mut text = format!("{id}  {}  {mode}  ends in {left}\n", plain(tool));
    let mut field = |name: &str, value: &str| {
        text.push_str(&format!("  {name:<8} {value}\n"));
    };
    field("session", &plain(session.as_str()));
    field("folder", &plain(workdir));
    let note = match request.diff.is_empty() {
        true => NOT_PINNED,
        false => PINNED,
    };
    match request.diff.is_empty() {
        true => told_command(command.as_deref().unwrap_or(&request.title), &mut field),
        false => told_change(&request.diff, style, &mut field),
    }
    if let Some(rule) = &request.rule {
        field("rule", &plain(rule));
    }
    if let Some(justification) = &request.justification {
        field("because", &plain(justification));
    }
    for (number, denial) in request.denials.iter().enumerate() {
        field(if number == 0 { "denied" } else { "" }, &denied(denial));
    }
    if from != to && request.denials.is_empty() {
        field("denied", "nothing that was recorded");
    }
    field("note", note);
    text
}

fn told_command(command: &str, field: &mut impl FnMut(&str, &str)) {
    for (number, line) in command.split('\n').enumerate() {
        field(if number == 0 { "command" } else { "" }, &format!("│ {}", plain(line)));
    }
    let (lines, bytes) = (command.split('\n').count(), command.len());
    if lines > 1 {
        field("", &format!("({lines} lines, {bytes} bytes)"));
    }
}

/// Every place of every file that is changed.
fn told_change(content: &[EditorContent], style: Style, field: &mut impl FnMut(&str, &str)) {
    for EditorContent::Diff { path, old_text, new_text } in content {
        let made = if old_text.is_none() { " (new)" } else { "" };
        field("change", &format!("{}{made}", plain(path)));
        for line in diff::lines(old_text.as_deref().unwrap_or_default(), new_text, style) {
            field("", &format!("│ {line}"));
        }
    }
}

fn denied(denial: &Denial) -> String {
    let Denial { operation, path, second_path, count, .. } = denial;
    let to = second_path.as_deref().map_or_else(String::new, |to| format!(" to {}", plain(to)));
    let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
    format!("{} {}{to}{times}", plain(operation), plain(path))
}

/// How it ended, on a line.
pub(super) fn settled(settled: &ApprovalSettled, style: Style) -> String {
    let ApprovalSettled { id, outcome, by, .. } = settled;
    let word = outcome.as_str();
    let word = match outcome {
        ApprovalOutcome::AllowedOnce | ApprovalOutcome::AllowedForSession => style.green(word),
        ApprovalOutcome::Rejected => style.red(word),
        ApprovalOutcome::Cancelled | ApprovalOutcome::Expired | ApprovalOutcome::Withdrawn => {
            style.yellow(word)
        }
    };
    format!("{id}  {word} by the {}\n", by.as_str())
}

/// A text on one line, without signs that a terminal acts on or does not show.
pub(super) fn plain(text: &str) -> String {
    let mut shown = String::new();
    for sign in text.chars() {
        match sign {
            '"' | '\'' | '\\' => shown.push(sign),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use brattice_protocol::{ApprovalId, CallId, Mode, SessionId};

    use super::*;

    fn request() -> ApprovalRequest {
        ApprovalRequest {
            id: ApprovalId::new("a-1"),
            session: SessionId::new("s-1"),
            call: CallId::new("c-1"),
            tool: "bash".to_owned(),
            title: "make".to_owned(),
            kind: "execute".to_owned(),
            command: Some("make \"it\"\nrm x".to_owned()),
            diff: Vec::new(),
            workdir: "/ws".to_owned(),
            from: Mode::ReadOnly,
            to: Mode::WorkspaceWrite,
            justification: Some("it builds".to_owned()),
            rule: None,
            denials: vec![Denial {
                operation: "rename".to_owned(),
                path: "/ws/out".to_owned(),
                second_path: Some("/ws/in".to_owned()),
                grant: None,
                layer: "landlock".to_owned(),
                needs: "workspace-write".to_owned(),
                count: 2,
            }],
            options: Vec::new(),
            expires: 0,
        }
    }

    #[test]
    fn a_question_shows_all_that_it_is_about() {
        assert_eq!(
            question(&request(), Style::Plain, 0),
            format!(
                "a-1  bash  read-only → workspace-write  ends in 0s\n  \
                 session  s-1\n  \
                 folder   /ws\n  \
                 command  │ make \"it\"\n           │ rm x\n           (2 lines, 14 bytes)\n  \
                 because  it builds\n  \
                 denied   rename /ws/out to /ws/in (2 times)\n  \
                 note     {NOT_PINNED}\n"
            )
        );
    }

    #[test]
    fn nothing_in_a_question_reaches_the_terminal_as_a_command_or_a_line() {
        let hostile = "x\u{1b}[2J\r\u{9b}1m\u{202e}\u{200b}\t";
        let request = ApprovalRequest {
            command: Some(hostile.to_owned()),
            justification: Some("fine\n  folder   /elsewhere".to_owned()),
            workdir: hostile.to_owned(),
            ..request()
        };
        let text = question(&request, Style::Plain, 0);
        let escaped = "x\\u{1b}[2J\\r\\u{9b}1m\\u{202e}\\u{200b}\\t";
        assert_eq!(text.lines().nth(2), Some(format!("  folder   {escaped}").as_str()));
        assert_eq!(text.lines().nth(3), Some(format!("  command  │ {escaped}").as_str()));
        assert_eq!(text.lines().nth(4), Some("  because  fine\\n  folder   /elsewhere"));
        assert!(text.chars().all(|sign| sign == '\n' || !sign.is_control()), "{text:?}");
    }

    #[test]
    fn a_change_is_shown_with_what_comes_and_goes() {
        let diff = |path: &str, old: Option<&str>, new_text: &str| EditorContent::Diff {
            path: path.to_owned(),
            old_text: old.map(str::to_owned),
            new_text: new_text.to_owned(),
        };
        let request = ApprovalRequest {
            tool: "edit".to_owned(),
            command: None,
            diff: vec![diff("/ws/a", Some("x\ny\n"), "x\nz\n"), diff("/ws/\u{1b}", None, "n\n")],
            ..request()
        };
        let text = question(&request, Style::Plain, 0);
        let change = "  change   /ws/a\n           │  x\n           │ -y\n           │ +z\n  \
                      change   /ws/\\u{1b} (new)\n           │ +n\n  because  it builds\n";
        assert!(text.contains(change), "{text}");
        assert!(
            text.ends_with(&format!("  note     {PINNED}\n")) && !text.contains("command"),
            "{text}"
        );
        let coloured = question(&request, Style::Coloured, 0);
        assert!(coloured.contains("│ \u{1b}[31m-y\u{1b}[0m\n"), "{coloured:?}");
    }

    #[test]
    fn a_rules_question_and_one_without_grounds_say_so() {
        let rule = ApprovalRequest {
            from: Mode::WorkspaceWrite,
            justification: None,
            rule: Some("publishing\n".to_owned()),
            denials: Vec::new(),
            ..request()
        };
        let text = question(&rule, Style::Plain, 0);
        assert!(text.contains("\n  rule     publishing\\n\n"), "{text}");
        assert!(
            text.starts_with("a-1  bash  in workspace-write  ") && !text.contains("denied"),
            "{text}"
        );
        let groundless = ApprovalRequest { denials: Vec::new(), ..request() };
        assert!(
            question(&groundless, Style::Plain, 0)
                .contains("\n  denied   nothing that was recorded\n")
        );
    }
}
