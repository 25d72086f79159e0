//! What a call of `web_fetch` asks for. Whether a URL is one is found out for each by itself: one that is not spoils no other.

use serde_json::{Map, Value};

use super::fault::{ArgumentFault, Came, Expected};
use super::given::{Given, unexpected};
use crate::toolset::parameter::ParameterKind;
use crate::toolset::parameter::web::URLS;
use crate::toolset::tool::{SessionTools, ToolKind};

/// Most bytes of a URL; one beyond what servers take is refused further on, with its own words.
const MAX_URL_BYTES: usize = 64 * 1024;

/// Parses the arguments of a call of `web_fetch`: its URLs.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_web_fetch(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<Vec<String>, ArgumentFault> {
    let given = Given::check(tools, ToolKind::WebFetch, arguments)?;
    let expected = Expected::of(URLS.kind);
    let ParameterKind::Texts { least, most } = URLS.kind else {
        return Err(unexpected(&URLS, expected, Came::Nothing));
    };
    let entries = match given.value(&URLS) {
        Some(Value::Array(entries)) => entries,
        other => {
            let came = other.map_or(Came::Nothing, Came::value);
            return Err(unexpected(&URLS, expected, came));
        }
    };
    if !(least..=most).contains(&entries.len()) {
        return Err(unexpected(&URLS, expected, Came::Entries(entries.len())));
    }
    entries.iter().enumerate().map(|(number, entry)| url(number, entry)).collect()
}

fn url(number: usize, entry: &Value) -> Result<String, ArgumentFault> {
    let inside = |expected, came| ArgumentFault::Inside {
        place: format!("{}[{number}]", URLS.name),
        expected,
        came,
    };
    match entry {
        Value::String(text) if text.len() > MAX_URL_BYTES => {
            Err(inside(Expected::TextOfAtMost(MAX_URL_BYTES), Came::Bytes(text.len())))
        }
        Value::String(text) => Ok(text.clone()),
        other => Err(inside(Expected::Text, Came::value(other))),
    }
}

#[cfg(test)]
#[path = "tests/web.rs"]
mod tests;
