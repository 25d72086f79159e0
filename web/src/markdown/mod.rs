//! A page's main content as Markdown.
//!
//! ```text
//!  HTML ─ tags: too many? cut ─────────► parse ─ tidy ─┬─ all of the body ──────────┬─► the fuller one, with its title
//!            └─ too deep? only its text ─────┘          └─ main content (readability) ┘
//! ```
//!
//! What is main is guessed, after Readability; where the guess keeps little of a page (a list, a thread, a short page), the
//! whole body, which is tidied as well, is the better answer. Depth and number of elements are bounded before anything is built
//! from them: what builds a tree is not made for hostile pages.

mod code;
mod tags;
mod tidy;

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

use crate::page::{Cut, Note};

/// Elements that are laid out. A tree of so many takes less than 40 MB.
const MOST_ELEMENTS: usize = 40_000;

/// Elements one in the other. Browsers stop at 512, and writers of lists and quotes recurse.
const DEEPEST: usize = 200;

/// Attributes of one element: to look for doubles takes the parser their square.
const MOST_ATTRIBUTES: usize = 300;

/// Main content that is less than this part of the body, in percent, is not taken for main.
const LEAST_KEPT: usize = 65;

/// What there is to read of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// Its title.
    pub title: Option<String>,
    /// Markdown.
    pub text: String,
    /// What is to be said about it.
    pub notes: Vec<Note>,
}

/// The main content of a page that was found at `base`.
pub fn markdown(html: String, base: &Url) -> Rendered {
    let mut notes = Vec::new();
    let bounds =
        tags::Bounds { elements: MOST_ELEMENTS, depth: DEEPEST, attributes: MOST_ATTRIBUTES };
    let outline = tags::outline(&html, bounds);
    let html = match outline.shape {
        tags::Shape::Ordinary => html,
        tags::Shape::Long { end } => {
            notes.push(Note::Cut(Cut::Elements { most: MOST_ELEMENTS }));
            let mut html = html;
            html.truncate(end);
            html
        }
        tags::Shape::Deep => {
            notes.push(Note::TextOnly);
            tags::flat(&html)
        }
    };
    if outline.end == tags::Ending::InTag {
        notes.push(Note::Cut(Cut::Tag));
    }
    let document = Document::from(html);
    tidy::tidy(&document, base);
    let heading = tidy::heading(&document);
    let title = tidy::title(&document).or_else(|| heading.clone());
    let around = tidy::body(&document).md(None).to_string();
    let around = clean(&around);
    let main = main_content(document, base).map(|main| clean(&main));
    let mut text = match main {
        Some(main) if weight(&main) * 100 >= weight(&around) * LEAST_KEPT => main,
        _ => around,
    };
    if let Some(heading) = heading.or_else(|| title.clone()) {
        text = headed(text, &heading);
    }
    Rendered { title, text, notes }
}

fn main_content(document: Document, base: &Url) -> Option<String> {
    let config =
        Config { text_mode: TextMode::Markdown, disable_json_ld: true, ..Config::default() };
    let mut readability =
        Readability::with_document(document, Some(base.as_str()), Some(config)).ok()?;
    let article = readability.parse().ok()?;
    Some(article.text_content.to_string())
}

/// A text with a heading of the first level: the page's own, which readability makes one of the second or leaves out.
fn headed(text: String, heading: &str) -> String {
    let second = format!("## {heading}");
    if text.lines().any(|line| line.starts_with("# ")) {
        text
    } else if text.lines().any(|line| line == second) {
        text.replacen(&second, &second[1..], 1)
    } else if text.is_empty() {
        format!("# {heading}")
    } else {
        format!("# {heading}\n\n{text}")
    }
}

/// How much there is to read in a text.
fn weight(text: &str) -> usize {
    text.chars().filter(|character| character.is_alphanumeric()).count()
}

/// A text without blank space at the ends of its lines, and with one blank line where there were several; code stays as it is.
fn clean(text: &str) -> String {
    let (mut out, mut blank, mut fence) =
        (String::with_capacity(text.len()), 0_usize, None::<String>);
    for line in text.lines() {
        let run: String = line.trim_start().chars().take_while(|mark| *mark == '`').collect();
        match &fence {
            Some(open) if run.len() >= open.len() && line.trim() == run => fence = None,
            None if run.len() >= 3 => fence = Some(run),
            _ => {}
        }
        let line = if fence.is_some() { line } else { line.trim_end() };
        if line.is_empty() && fence.is_none() {
            blank += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        out.push_str(line);
    }
    out
}
