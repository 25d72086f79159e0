//! A line of the log for people: when, its number, what happened, and the event's fields as `name=value`.
//!
//! Fields are shown as they come, so that events of a newer daemon are told like any other. What a command holds is the
//! attacker's to choose: nothing of it moves the cursor or begins a line.

use brattice_protocol::audit::Header;
use serde_json::{Map, Value};

use super::time::utc;
use crate::cli::plain::plain;
use crate::cli::terminal::Style;

/// Most characters of a line's fields.
const MOST: usize = 400;

/// Fields that come first, where an event has them.
const FIRST: [&str; 4] = ["session", "task", "call", "by"];

/// A line as it stands in a file.
pub(super) fn line(text: &[u8], style: Style) -> String {
    let header = serde_json::from_slice::<Header>(text);
    let fields = serde_json::from_slice::<Map<String, Value>>(text);
    let (Ok(header), Ok(mut fields)) = (header, fields) else {
        let raw = String::from_utf8_lossy(text);
        return format!("{} {}\n", style.red("no line of the log:"), short(raw.trim_end()));
    };
    fields.retain(|name, _| !matches!(name.as_str(), "seq" | "time" | "prev" | "event"));
    let first = FIRST.iter().filter_map(|name| fields.remove(*name).map(|value| (*name, value)));
    let first: Vec<String> = first.map(|(name, value)| field(name, &value)).collect();
    let rest = fields.iter().map(|(name, value)| field(name, value));
    let shown: Vec<String> = first.into_iter().chain(rest).collect();
    let event = short(&header.event.replace('_', " "));
    let event = style.bold(&format!("{event:<16}"));
    format!("{} {:>7} {event} {}\n", utc(header.time), header.seq, short(&shown.join(" ")))
}

fn field(name: &str, value: &Value) -> String {
    match value {
        Value::String(word) if is_plain(word) => format!("{name}={word}"),
        other => format!("{name}={other}"),
    }
}

/// Whether a text needs no quotes to be told from what is around it.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|sign| sign.is_alphanumeric() || "._-/:@%+,".contains(sign))
}

/// A text on one line, cut where it is long.
fn short(text: &str) -> String {
    let shown = plain(&text.chars().take(MOST).collect::<String>());
    match text.chars().count().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} … ({more} more)"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(event: Value) -> String {
        let mut whole = json!({"seq": 12, "time": 0, "prev": "0".repeat(64)});
        let fields = event.as_object().unwrap().clone();
        whole.as_object_mut().unwrap().extend(fields);
        let text = line(format!("{whole}\n").as_bytes(), Style::Plain);
        text.strip_prefix("1970-01-01 00:00:00.000Z      12 ").unwrap().to_owned()
    }

    #[test]
    fn an_event_is_told_on_one_line_with_its_fields() {
        assert_eq!(
            told(
                json!({"event": "call", "tool": "bash", "arguments": {"command": "ls"}, "call": "c-1", "session": "s"})
            ),
            "call             session=s call=c-1 arguments={\"command\":\"ls\"} tool=bash\n"
        );
        assert_eq!(
            told(json!({"event": "peer_refused", "pid": 7, "socket": "client", "reason": "a b"})),
            "peer refused     pid=7 reason=\"a b\" socket=client\n"
        );
    }

    #[test]
    fn nothing_in_an_event_reaches_the_terminal_as_a_command() {
        let hostile = "a\u{1b}[2J\r\n\u{9b}1m\u{202e}x";
        assert_eq!(
            told(json!({"event": "x\u{1b}c", "reason": hostile})),
            "x\\u{1b}c         reason=\"a\\u001b[2J\\r\\n\\u{9b}1m\\u{202e}x\"\n"
        );
        let long = told(json!({"event": "call", "x": "y".repeat(1_000)}));
        assert_eq!(long, format!("call             x={} … (602 more)\n", "y".repeat(398)));
    }

    #[test]
    fn what_is_no_line_is_said_to_be_none() {
        assert_eq!(line(b"{\x1b]0;\n", Style::Plain), "no line of the log: {\\u{1b}]0;\n");
    }
}
