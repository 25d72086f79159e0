//! Fetched pages, in words and as data.

use brattice_protocol::web::{PageFetched, PagesFetched};
use brattice_web::PageFault;

use super::characters::StreamLength;
use super::cut::cut;
use super::lines::{one_line, push_line};
use super::task_words::Said;
use crate::toolset::tool::SessionTools;
use crate::web::{FetchFault, Fetched, Source};

/// Bytes of all pages of a result. With the rest it stays below what a result may have.
const MOST_BYTES: usize = 200 * 1024;

/// Bytes of a URL or a title as data; together with the text they stay below what a result may have.
const SHORT: usize = 512;

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Success {
    /// At least one page is there, or told to be elsewhere.
    Some,
    /// Every page failed.
    None,
}

/// The pages of a call, in their order. Where there are several, each has its share of what a result may have.
pub(crate) fn render_fetched(
    tools: SessionTools<'_>,
    fetched: &[Fetched],
) -> (Said<PagesFetched>, Success) {
    let share = MOST_BYTES / fetched.len().max(1);
    let mut text = String::new();
    let mut pages = Vec::new();
    for one in fetched {
        let (shown, is_cut) = page_text(one, share);
        if fetched.len() > 1 {
            let gap = if text.is_empty() { "" } else { "\n" };
            push_line(&mut text, &format!("{gap}## {}", one_line(&one.url)));
            text.push_str("\n\n");
        }
        push_line(&mut text, &shown);
        pages.push(facts(one, is_cut));
    }
    if let Some(line) = cut(tools.cap(), &mut text, StreamLength::AsRead) {
        push_line(&mut text, &line);
        pages.iter_mut().for_each(|page| page.truncated |= page.error.is_none());
    }
    let has_failed = |one: &Fetched| match &one.outcome {
        Ok(_) | Err(FetchFault::Page(PageFault::Elsewhere { .. })) => false,
        Err(_) => true,
    };
    let success = if fetched.iter().all(has_failed) { Success::None } else { Success::Some };
    (Said { text, facts: PagesFetched { pages } }, success)
}

/// A page as it is shown, and whether this cut it.
fn page_text(one: &Fetched, share: usize) -> (String, bool) {
    let page = match &one.outcome {
        Ok(page) => page,
        Err(FetchFault::Page(fault @ PageFault::Elsewhere { .. })) => {
            return (format!("[{}]", one_line(&fault.to_string())), false);
        }
        Err(fault) => return (failure(fault), false),
    };
    let mut text = page.text.clone();
    let is_cut = text.len() > share;
    if is_cut {
        let omitted = shorten(&mut text, share);
        push_line(&mut text, &format!("[truncated: {omitted} bytes of text omitted]"));
    }
    if text.trim().is_empty() {
        text = "[the page has no text]".to_owned();
    }
    for note in &page.notes {
        push_line(&mut text, &note.to_string());
    }
    (text, is_cut)
}

fn failure(fault: &FetchFault) -> String {
    let mut text = format!("[failed: {}]", one_line(&fault.to_string()));
    if let FetchFault::Page(PageFault::Status { text: said, .. }) = fault
        && !said.trim().is_empty()
    {
        push_line(&mut text, said.trim_end());
    }
    text
}

fn facts(one: &Fetched, is_cut: bool) -> PageFetched {
    let mut facts = PageFetched {
        url: short(&one.url),
        found: None,
        status: None,
        media_type: None,
        charset: None,
        title: None,
        bytes: None,
        truncated: is_cut,
        cached: one.source == Source::Cache,
        redirect: None,
        error: None,
    };
    match &one.outcome {
        Ok(page) => {
            facts.found = Some(short(&page.url));
            facts.status = Some(page.status);
            facts.media_type = page.media_type.as_deref().map(short);
            facts.charset.clone_from(&page.charset);
            facts.title = page.title.as_deref().map(short);
            facts.bytes = Some(page.bytes);
            facts.truncated |= page.is_cut();
        }
        Err(fault) => {
            facts.error = Some(short(&fault.to_string()));
            match fault {
                FetchFault::Page(PageFault::Elsewhere { status, to }) => {
                    facts.status = Some(*status);
                    facts.redirect = Some(short(to));
                    facts.error = None;
                }
                FetchFault::Page(PageFault::Status { status, .. }) => facts.status = Some(*status),
                _ => {}
            }
        }
    }
    facts
}

fn short(text: &str) -> String {
    let mut text = text.to_owned();
    if shorten(&mut text, SHORT) > 0 {
        text.push('…');
    }
    text
}

/// Cuts a text between characters and tells how many bytes went.
fn shorten(text: &mut String, most: usize) -> usize {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let omitted = text.len() - end;
    text.truncate(end);
    omitted
}

#[cfg(test)]
#[path = "tests/web.rs"]
mod tests;
