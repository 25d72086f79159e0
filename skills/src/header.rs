//! What stands before a skill's text: YAML between two lines `---`, as people write it by hand.
//!
//! Only the first such line and the next end it, so that rules in the text stay rules. A header that is no YAML (a colon in a
//! description is enough) is read line by line, and the fault is kept: what it says is not lost, its restrictions least of all.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde::{Deserialize, Serialize};

/// Longest header in bytes.
const MOST_HEADER: usize = 64 << 10;

/// Longest value in characters.
const MOST_VALUE: usize = 4 << 10;

/// A header, as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// `name`. The skill's own is that of its file.
    pub name: Option<String>,
    /// `description`, on one line.
    pub description: Option<String>,
    /// What it says about tools (`allowed-tools` and the like), each key with its value on one line.
    pub restrictions: Vec<(String, String)>,
    /// What is wrong with it.
    pub faults: Vec<String>,
}

/// A file, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) header: Header,
    pub(crate) body: &'a str,
}

/// Takes a file apart, or the beginning of one, of which only the header is of interest.
pub(crate) fn parse(text: &str) -> Parts<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match split(text) {
        Split::None => Parts { header: Header::default(), body: text },
        Split::Header { header, body } => Parts { header: read(header), body },
        Split::Unended(rest) => {
            let lines = rest.split_inclusive('\n').take_while(|line| !line.trim().is_empty());
            let mut header = by_lines(&lines.collect::<String>());
            header.faults.insert(0, "its header has no end: a line `---` is missing".to_owned());
            Parts { header, body: text }
        }
    }
}

enum Split<'a> {
    None,
    Header {
        header: &'a str,
        body: &'a str,
    },
    /// What follows the first line.
    Unended(&'a str),
}

fn split(text: &str) -> Split<'_> {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return Split::None;
    };
    let rest = &text[first.len()..];
    let mut at = 0;
    for line in lines {
        if ["---", "..."].contains(&line.trim_end()) {
            return Split::Header { header: &rest[..at], body: &rest[at + line.len()..] };
        }
        at += line.len();
        if at > MOST_HEADER {
            break;
        }
    }
    Split::Unended(rest)
}

fn read(text: &str) -> Header {
    // Its line ends mean nothing, and not every parser takes them all.
    let text = text.replace("\r\n", "\n");
    match by_yaml(&text) {
        Ok(header) => header,
        Err(fault) => {
            let mut header = by_lines(&text);
            header
                .faults
                .insert(0, format!("its header is no YAML, and was read line by line: {fault}"));
            header
        }
    }
}

/// The pairs of a mapping, and whatever stands in them on one line.
fn by_yaml(text: &str) -> Result<Header, String> {
    let mut header = Header::default();
    let mut keys: Vec<String> = Vec::new();
    let mut events = Parser::new_from_str(text);
    let mut next = || match events.next() {
        Some(Ok((event, _))) => Ok(event),
        Some(Err(error)) => Err(error.to_string()),
        None => Ok(Event::StreamEnd),
    };
    loop {
        match next()? {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
            Event::MappingStart(..) => break,
            Event::StreamEnd | Event::DocumentEnd => return Ok(header),
            _ => return Err("expected `key: value`".to_owned()),
        }
    }
    loop {
        let key = match next()? {
            Event::MappingEnd => return Ok(header),
            Event::Scalar(key, ..) => key.into_owned(),
            _ => return Err("a key is no text".to_owned()),
        };
        let value = value(&mut next)?;
        if keys.contains(&key) {
            header.faults.push(format!("its header has {key:?} twice, and the first counts"));
        } else {
            header.take(&key, value);
            keys.push(key);
        }
    }
}

/// A value on one line: texts of a list side by side, and what is deeper left out.
fn value<'a>(
    next: &mut impl FnMut() -> Result<Event<'a>, String>,
) -> Result<Option<String>, String> {
    let mut texts = Vec::new();
    let mut depth = 0_usize;
    loop {
        match next()? {
            Event::Scalar(text, style, ..) => {
                let is_null = style == ScalarStyle::Plain && ["", "~", "null"].contains(&&*text);
                if depth <= 1 && !is_null {
                    texts.push(text.into_owned());
                }
            }
            Event::SequenceStart(..) => depth += 1,
            Event::MappingStart(..) => depth += 2,
            Event::SequenceEnd => depth = depth.saturating_sub(1),
            Event::MappingEnd => depth = depth.saturating_sub(2),
            Event::Alias(_) => return Err("it has an alias".to_owned()),
            Event::Nothing | Event::DocumentStart(_) | Event::StreamStart => {}
            Event::DocumentEnd | Event::StreamEnd => return Err("it ends early".to_owned()),
        }
        if depth == 0 {
            return Ok((!texts.is_empty()).then(|| texts.join(", ")));
        }
    }
}

/// `key: value` at the beginning of a line, the value to the end of it, and what is indented below.
fn by_lines(text: &str) -> Header {
    let mut pairs: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t', '-']);
        match (line.split_once(':'), pairs.last_mut()) {
            (Some((key, value)), _) if !is_indented && is_key(key) => {
                pairs.push((key.trim().to_owned(), vec![value.trim()]));
            }
            (_, Some((_, values))) => values.push(line.trim().trim_start_matches("- ")),
            (_, None) => {}
        }
    }
    let mut header = Header::default();
    for (key, values) in pairs {
        let values = values.into_iter().filter(|value| ![">", "|", ""].contains(value));
        let value = values.map(unquoted).collect::<Vec<_>>().join(" ");
        header.take(&key, (!value.is_empty()).then_some(value));
    }
    header
}

fn is_key(text: &str) -> bool {
    let text = text.trim_end();
    !text.is_empty() && text.chars().all(|sign| sign.is_alphanumeric() || "-_".contains(sign))
}

fn unquoted(value: &str) -> &str {
    let within = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

impl Header {
    fn take(&mut self, key: &str, value: Option<String>) {
        let value = value.map(|value| one_line(&value)).filter(|value| !value.is_empty());
        let lower = key.to_lowercase();
        match (lower.as_str(), value) {
            ("name", value) if self.name.is_none() => self.name = value,
            ("description", value) if self.description.is_none() => self.description = value,
            // That there are none is said as well: an empty list of tools allows none.
            (lower, value) if lower.contains("tool") => {
                self.restrictions.push((one_line(key), value.unwrap_or_default()));
            }
            _ => {}
        }
    }
}

/// A value on one line, without what a list could not show.
fn one_line(text: &str) -> String {
    let plain = |sign: char| if sign.is_control() { ' ' } else { sign };
    let text: String = text.chars().map(plain).take(MOST_VALUE).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(text: &str) -> Header {
        parse(text).header
    }

    fn described(text: &str) -> Option<String> {
        header(text).description
    }

    #[test]
    fn a_header_is_read_whatever_its_line_ends_and_styles() {
        let plain = "---\nname: good\ndescription: Fine\n---\nbody\n";
        let parts = parse(plain);
        assert_eq!(parts.body, "body\n");
        let expected = Header {
            name: Some("good".to_owned()),
            description: Some("Fine".to_owned()),
            ..Header::default()
        };
        assert_eq!(parts.header, expected);
        let crlf =
            "\u{feff}---\r\nname: crlf\r\ndescription: >\r\n  two\r\n  lines\r\n---\r\nbody\r\n";
        assert_eq!((described(crlf).as_deref(), parse(crlf).body), (Some("two lines"), "body\r\n"));
        assert_eq!(described("---\ndescription: \"a: b\"\n---\n").as_deref(), Some("a: b"));
        assert_eq!(described("---\ndescription: |\n  a\n  b\n...\nbody").as_deref(), Some("a b"));
        assert_eq!(parse("just text").body, "just text");
        assert_eq!(parse("---\n---\nbody"), Parts { header: Header::default(), body: "body" });
    }

    #[test]
    fn b114_a_colon_costs_neither_the_description_nor_the_restrictions() {
        let parts = parse(
            "---\nname: colon\ndescription: Use when needed. Triggers: a, b\nallowed-tools: read\n---\nDo it: now\n",
        );
        assert_eq!(parts.body, "Do it: now\n");
        let Header { description, restrictions, faults, .. } = parts.header;
        assert_eq!(description.as_deref(), Some("Use when needed. Triggers: a, b"));
        assert_eq!(restrictions, [("allowed-tools".to_owned(), "read".to_owned())]);
        assert!(
            faults[0].starts_with("its header is no YAML, and was read line by line: "),
            "{faults:?}"
        );
    }

    #[test]
    fn restrictions_are_kept_however_they_are_written() {
        let restricted = |text: &str| header(&format!("---\n{text}\n---\n")).restrictions;
        let expected = |value: &str| vec![("allowed-tools".to_owned(), value.to_owned())];
        assert_eq!(restricted("allowed-tools: [read, bash]"), expected("read, bash"));
        assert_eq!(restricted("allowed-tools:\n  - read\n  - bash"), expected("read, bash"));
        assert_eq!(restricted("allowed-tools: []"), expected(""));
        assert_eq!(
            restricted("bad: a: b\nallowed-tools:\n  - read\n  - bash"),
            expected("read bash")
        );
        assert_eq!(restricted("bad: *x\nallowed-tools: read"), expected("read"));
        assert_eq!(restricted("a: 1\na: 2\nallowed-tools: read"), expected("read"));
        let unended = header("---\nallowed-tools: read\ndescription: x\n\nbody\n");
        assert_eq!(unended.restrictions, expected("read"));
        assert_eq!(unended.faults, ["its header has no end: a line `---` is missing"]);
    }

    #[test]
    fn b115_rules_in_the_text_end_nothing() {
        let text = "---\nname: ruled\ndescription: Has rules\n---\npart one\n\n---\n\npart two\n---\nlast: line\n";
        assert_eq!(parse(text).body, "part one\n\n---\n\npart two\n---\nlast: line\n");
        let rule = "part one\n---\npart two\n";
        assert_eq!(parse(rule).body, rule);
    }

    #[test]
    fn an_alias_is_not_followed() {
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\ndescription: *b\n";
        let header = header(&format!("---\n{bomb}---\n"));
        assert!(header.faults[0].ends_with("it has an alias"), "{header:?}");
    }

    proptest! {
        #[test]
        fn whatever_stands_in_a_file_is_taken_apart_and_the_body_is_its_end(text in "(---\n)?[-a:\\[\\]{}&*!|>'\"# \n\r\t]{0,60}(---\n)?\\PC{0,20}") {
            let parts = parse(&text);
            prop_assert!(text.ends_with(parts.body));
            let shown = [parts.header.name, parts.header.description];
            prop_assert!(shown.iter().flatten().all(|value| !value.contains(['\n', '\r'])));
        }
    }
}
