//! One configuration file: its keys, as far as it has them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::{LeftoverRule, Mode, Network};

use super::fault::{Fault, Position};
use super::value::{Count, Folder, Size, Span, Word};

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The machine's operator, who also says the ceiling.
    Operator,
    /// The daemon's user.
    User,
}

/// What one file says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table", bound = "T: DeserializeOwned")]
pub struct File<T> {
    pub(super) ceiling: Option<Spanned<CeilingSection>>,
    pub(super) session: Option<SessionSection<T>>,
    pub(super) limits: Option<LimitsSection>,
}

impl<T: DeserializeOwned> File<T> {
    /// Reads a file's text.
    ///
    /// # Errors
    /// The first thing that is wrong with it; nothing of it counts then.
    pub fn parse(text: &str, author: Author) -> Result<File<T>, Fault> {
        let file: File<T> = toml::from_str(text).map_err(|error| Fault::Text {
            at: Position::of(text, error.span()),
            message: error.message().to_owned(),
        })?;
        match (&file.ceiling, author) {
            (Some(ceiling), Author::User) => {
                Err(Fault::UsersCeiling { at: Position::of(text, Some(ceiling.span())) })
            }
            (Some(_) | None, _) => Ok(file),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct CeilingSection {
    pub(super) max_mode: Option<Word<Mode>>,
    pub(super) max_sessions: Option<Count<1, 100_000>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table", bound = "T: DeserializeOwned")]
pub(super) struct SessionSection<T> {
    pub(super) mode: Option<Word<Mode>>,
    pub(super) toolset: Option<Word<T>>,
    pub(super) network: Option<Word<Network>>,
    pub(super) writable: Option<Vec<Folder>>,
    pub(super) detached_ttl: Option<Span>,
    pub(super) leftovers: Option<Word<LeftoverRule>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct LimitsSection {
    pub(super) open_files: Option<Count<256, 1_048_576>>,
    pub(super) max_tasks: Option<Count<1, 100_000>>,
    pub(super) spool: Option<Size<{ 16 << 20 }>>,
    pub(super) state: Option<Size<{ 16 << 20 }>>,
}
