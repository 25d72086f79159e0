//! A page of HTML for a reader: its main content as Markdown.
//!
//! ```text
//!  HTML ─ tags: too many? cut ──► parse (html5ever) ──► sink ──► tree ──► reading ──► markdown
//!           └─ too deep? only its text ─┘  a piece at a time    a cap    what is the page's, what the site's
//! ```
//!
//! Written for pages of which any may be hostile: neither time nor memory follows from what a page claims. Parsing is a library's;
//! what is read of the tree and how it is worded is here, because the libraries that do it lost tables, languages and lines of
//! listings, and comments of threads on our corpus, and are not made for trees that nobody has bounded.

mod element;
mod markdown;
mod parse;
mod reading;
mod sink;
mod tags;
mod tree;

use std::time::{Duration, Instant};

use url::Url;

use crate::page::{Cut, Note};
use parse::Extent;
use tree::{NodeId, Tree};

/// Elements that are laid out. A tree of so many takes less than 40 MB.
const MOST_ELEMENTS: usize = 40_000;

/// Elements one in the other. Browsers stop at 512, but pages that close none of them are shown all the same.
const DEEPEST: usize = 2000;

/// Attributes of one element: to look for doubles takes the parser their square.
const MOST_ATTRIBUTES: usize = 300;

/// How long a page may be read. A long one takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(10);

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
    let mut html = html;
    match outline.shape {
        tags::Shape::Ordinary => {}
        tags::Shape::Long { end } => html.truncate(end),
        tags::Shape::Deep => {
            notes.push(Note::TextOnly);
            html = tags::flat(&html);
        }
    }
    let read = read(&html, base, Instant::now() + PATIENCE);
    let is_cut =
        read.extent == Extent::Beginning || matches!(outline.shape, tags::Shape::Long { .. });
    notes.extend(is_cut.then_some(Note::Cut(Cut::Elements { most: MOST_ELEMENTS })));
    if outline.end == tags::Ending::InTag {
        notes.push(Note::Cut(Cut::Tag));
    }
    Rendered { title: read.title, text: read.text, notes }
}

/// What was read of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    title: Option<String>,
    text: String,
    extent: Extent,
}

fn read(text: &str, base: &Url, deadline: Instant) -> Read {
    let (tree, parsed) = parse::parse(text, deadline);
    let base = declared_base(&tree, base);
    let reading = reading::read(&tree);
    let (text, written) = markdown::write(&tree, &reading, &base, deadline);
    let extent = if parsed == Extent::Whole { written } else { parsed };
    Read { title: reading::named(&tree), text, extent }
}

/// Where relative addresses start, which a page may say.
fn declared_base(tree: &Tree, from: &Url) -> Url {
    let is_base = |id: &NodeId| tree.tag(*id) == Some("base") && tree.has(*id, "href");
    let declared = tree.downwards(NodeId::DOCUMENT).find(is_base);
    let declared = declared.and_then(|id| tree.attribute(id, "href"));
    declared.and_then(|href| from.join(href.trim()).ok()).unwrap_or_else(|| from.clone())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
