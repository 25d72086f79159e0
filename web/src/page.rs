//! A page as it was fetched, and what is asked for it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::target::Allowance;

/// One page to fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRequest {
    /// Its URL, as somebody wrote it.
    pub url: String,
    /// What may be reached although it is reserved.
    pub allowed: Allowance,
    /// How long it may take.
    pub times: Times,
    /// Most bytes of its body, once it is no longer compressed.
    pub most_bytes: usize,
    /// Most bytes of its text.
    pub most_text: usize,
}

/// How long a page may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Until its body ends; what has come by then is the page.
    pub body: Duration,
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Where it was found, after redirects.
    pub url: String,
    /// The answer's status.
    pub status: u16,
    /// The answer's media type, as it was sent.
    pub media_type: Option<String>,
    /// The charset that its text was decoded from; none where it is no text.
    pub charset: Option<String>,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Bytes of its body that came, no longer compressed.
    pub bytes: u64,
    /// What there is to read.
    pub text: String,
    /// What is to be said about it, after its text.
    pub notes: Vec<Note>,
}

impl Page {
    /// Whether part of it is missing.
    pub fn is_cut(&self) -> bool {
        self.notes.iter().any(|note| matches!(note, Note::Cut(_)))
    }
}

/// Cuts a text between two characters and tells how many bytes went.
pub(crate) fn cut_at(text: &mut String, most: usize) -> u64 {
    if text.len() <= most {
        return 0;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let omitted = text.len() - end;
    text.truncate(end);
    omitted as u64
}

/// Why the end of a page is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cut {
    /// The body is longer than may be.
    Size {
        /// Bytes that were kept.
        kept: u64,
    },
    /// The time was over.
    Time {
        /// Seconds.
        seconds: u64,
    },
    /// The connection, or what was compressed, broke off.
    Broken,
    /// It ends in the middle of a tag.
    Tag,
    /// It has more elements than are laid out.
    Elements {
        /// How many were.
        most: usize,
    },
    /// Its text is longer than may be.
    Text {
        /// Bytes of text that were left out.
        omitted: u64,
    },
}

/// What is said about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// Part of it is missing.
    Cut(Cut),
    /// It is nested so deeply that only its text is shown.
    TextOnly,
    /// Bytes that are no characters were replaced.
    Replaced,
}

impl std::fmt::Display for Note {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Note::Cut(Cut::Size { kept }) => {
                write!(
                    out,
                    "[truncated: the page is larger than {kept} bytes; this is its beginning]"
                )
            }
            Note::Cut(Cut::Time { seconds }) => {
                write!(
                    out,
                    "[truncated: the page had not ended after {seconds} s; this is what had come]"
                )
            }
            Note::Cut(Cut::Broken) => {
                out.write_str("[truncated: the page broke off; this is what had come]")
            }
            Note::Cut(Cut::Tag) => {
                out.write_str("[truncated: the page ends in the middle of a tag]")
            }
            Note::Cut(Cut::Elements { most }) => {
                write!(
                    out,
                    "[truncated: the page has more than {most} elements; these are the first]"
                )
            }
            Note::Cut(Cut::Text { omitted }) => {
                write!(out, "[truncated: {omitted} bytes of text omitted]")
            }
            Note::TextOnly => out.write_str(
                "[the page is nested too deeply to be laid out: only its text is shown]",
            ),
            Note::Replaced => {
                out.write_str("[some bytes of the page are no characters of its charset]")
            }
        }
    }
}
