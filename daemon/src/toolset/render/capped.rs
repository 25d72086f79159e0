//! The cap on a text that is a result as a whole, with no closing lines of its own.

use super::characters::StreamLength;
use super::cut::cut;
use super::lines::push_line;
use crate::toolset::tool::SessionTools;

/// The text, cut to what a result of the session may have, and the line that tells the cut.
pub(crate) fn capped(tools: SessionTools<'_>, mut text: String) -> String {
    if let Some(line) = cut(tools.cap(), &mut text, StreamLength::AsRead) {
        push_line(&mut text, &line);
    }
    text
}
