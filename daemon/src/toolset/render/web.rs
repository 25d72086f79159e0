//! Fetched pages, in words and as data.

use brattice_protocol::web::{PageFetched, PagesFetched};
use brattice_web::PageFault;

use super::characters::StreamLength;
use super::cut::cut;
use super::lines::{one_line, push_line, short_line};
use super::task_words::Said;
use crate::toolset::tool::SessionTools;
use crate::toolset::wording::{CutLine, ResultCap};
use crate::web::{FetchFault, Fetched, Source};

/// Bytes of all pages of a result whose toolset caps none. With the rest it stays below what a result may have.
const MOST_BYTES: usize = 200 * 1024;

/// Characters of a URL in a heading. Ten of those leave room for the pages in every cap.
const HEADING: usize = 2_000;

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

/// In what the length of a result is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Bytes.
    Bytes,
    /// Characters; their toolset has a line that tells a cut.
    Characters(CutLine),
}

impl Unit {
    fn count(self, text: &str) -> usize {
        match self {
            Unit::Bytes => text.len(),
            Unit::Characters(_) => text.chars().count(),
        }
    }

    /// Cuts a text to so many. The line tells the cut, where there is one.
    fn cut(self, text: &mut String, most: usize) -> Option<String> {
        match self {
            Unit::Bytes => {
                let omitted = shorten(text, most);
                (omitted > 0).then(|| format!("[truncated: {omitted} bytes of text omitted]"))
            }
            Unit::Characters(line) => {
                cut(ResultCap::Characters(most, line), text, StreamLength::AsRead)
            }
        }
    }
}

/// A page as it is shown.
struct Block {
    /// Its heading, where it has one, and what is said of it in place of what it says.
    said: String,
    /// What it says, of which a cap may leave the beginning.
    text: String,
    /// What is said of that.
    notes: Vec<String>,
}

/// The pages of a call, in their order. Where they are more than a result may have, they share it: what is said of one is there
/// whatever the others are.
pub(crate) fn render_fetched(
    tools: SessionTools<'_>,
    fetched: &[Fetched],
) -> (Said<PagesFetched>, Success) {
    let (most, unit) = match tools.cap() {
        ResultCap::None => (MOST_BYTES, Unit::Bytes),
        ResultCap::Characters(most, line) => (most, Unit::Characters(line)),
    };
    let share = most / fetched.len().max(1);
    let block = |(number, one): (usize, &Fetched)| {
        let heading = match (fetched.len(), number) {
            (0 | 1, _) => String::new(),
            (_, 0) => format!("## {}\n\n", short_line(&one.url, HEADING)),
            (_, _) => format!("\n## {}\n\n", short_line(&one.url, HEADING)),
        };
        Block::of(one, heading, (unit, share))
    };
    let blocks: Vec<Block> = fetched.iter().enumerate().map(block).collect();
    let said: usize = blocks.iter().map(|block| unit.count(&block.said)).sum();
    let texts: Vec<usize> = blocks.iter().map(|block| unit.count(&block.text)).collect();
    let shares = shares(most.saturating_sub(said), &texts);
    let mut text = String::new();
    let mut pages = Vec::new();
    for ((one, block), share) in fetched.iter().zip(blocks).zip(shares) {
        let is_cut = block.push_to(&mut text, unit, share);
        pages.push(facts(one, is_cut));
    }
    let has_failed = |one: &Fetched| match &one.outcome {
        Ok(_) | Err(FetchFault::Page(PageFault::Elsewhere { .. })) => false,
        Err(_) => true,
    };
    let success = if fetched.iter().all(has_failed) { Success::None } else { Success::Some };
    (Said { text, facts: PagesFetched { pages } }, success)
}

impl Block {
    /// Of a page. What is said of it is at most as long as its share of a result.
    fn of(one: &Fetched, heading: String, (unit, share): (Unit, usize)) -> Self {
        let line = |fault: &FetchFault| {
            let mut line = one_line(&fault.to_string());
            if unit.cut(&mut line, share.saturating_sub(unit.count(&heading))).is_some() {
                line.push('…');
            }
            line
        };
        let (lead, text, notes) = match &one.outcome {
            Ok(page) => {
                let notes = page.notes.iter().map(ToString::to_string).collect();
                match page.text.trim().is_empty() {
                    true => ("[the page has no text]".to_owned(), String::new(), notes),
                    false => (String::new(), page.text.clone(), notes),
                }
            }
            Err(fault @ FetchFault::Page(PageFault::Elsewhere { .. })) => {
                (format!("[{}]", line(fault)), String::new(), Vec::new())
            }
            Err(fault) => {
                let answer = match fault {
                    FetchFault::Page(PageFault::Status { text, .. }) => text.trim_end(),
                    FetchFault::Page(_)
                    | FetchFault::Late { .. }
                    | FetchFault::Died { .. }
                    | FetchFault::Start { .. }
                    | FetchFault::Withdrawn => "",
                };
                (format!("[failed: {}]", line(fault)), answer.to_owned(), Vec::new())
            }
        };
        Block { said: heading + &lead, text, notes }
    }

    /// Appends it with so much of its text. Whether this cut it is told.
    fn push_to(mut self, text: &mut String, unit: Unit, share: usize) -> bool {
        let omission = unit.cut(&mut self.text, share);
        for line in [&self.said, &self.text].into_iter().chain(&omission).chain(&self.notes) {
            if !line.is_empty() {
                push_line(text, line);
            }
        }
        omission.is_some()
    }
}

/// Shares a room among those who want so much of it: what one does not want is left to those who want more.
fn shares(mut room: usize, wanted: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|place| wanted[*place]);
    let mut shares = vec![0; wanted.len()];
    for (served, place) in order.into_iter().enumerate() {
        shares[place] = wanted[place].min(room / (wanted.len() - served));
        room -= shares[place];
    }
    shares
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
                FetchFault::Page(
                    PageFault::Url(_)
                    | PageFault::Refused { .. }
                    | PageFault::Hop { .. }
                    | PageFault::Nowhere { .. }
                    | PageFault::Hops { .. }
                    | PageFault::Name { .. }
                    | PageFault::Answer { .. }
                    | PageFault::Late { .. }
                    | PageFault::Encoding { .. }
                    | PageFault::Body { .. },
                )
                | FetchFault::Late { .. }
                | FetchFault::Died { .. }
                | FetchFault::Start { .. }
                | FetchFault::Withdrawn => {}
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
