//! What a call of `web_fetch` asks for. Whether a text is a URL is found out for each by itself: one that is not spoils no other.

use serde_json::{Map, Value};

use super::fault::ArgumentFault;
use super::given::Given;
use super::nested::Nested;
use crate::toolset::parameter::web::{LEAST_URLS, MOST_URLS, URLS};
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
    let urls = Nested::of(URLS.name, given.value(&URLS)).texts(LEAST_URLS, MOST_URLS)?;
    urls.iter().map(|url| url.bounded(MAX_URL_BYTES).map(str::to_owned)).collect()
}

#[cfg(test)]
#[path = "tests/web.rs"]
mod tests;
