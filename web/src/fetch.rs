//! One page, from its URL to its text: hops, the body, and what to make of it.

use std::time::{Duration, Instant};

use ureq::Body;
use ureq::http::{Response, header};

use crate::body::{self, Taken};
use crate::charset::{Declares, End, decode};
use crate::exchange::{self, Remaining};
use crate::fault::{PageFault, UrlFault};
use crate::html::markdown;
use crate::media::{ContentType, Media, media};
use crate::page::{Cut, Note, Page, PageRequest, cut_at};
use crate::resolve::resolve;
use crate::target::{Allowance, Target};

/// Redirects in a row that are followed.
const MOST_HOPS: usize = 10;

/// Bytes of what a server says beside an error.
const ERROR_TEXT: usize = 2000;

/// Bytes of a title.
const MOST_TITLE: usize = 2000;

/// Bytes of a media type. Its two names have 127 each at most (RFC 6838).
const MOST_MEDIA_TYPE: usize = 500;

/// Bytes of a `Location` that is told as no URL.
const MOST_LOCATION: usize = 2000;

/// Fetches a page.
///
/// # Errors
/// See [`PageFault`].
pub fn fetch(request: &PageRequest) -> Result<Page, PageFault> {
    let until = Instant::now() + request.times.body;
    let target = Target::parse(&request.url).map_err(PageFault::Url)?;
    let (target, answer) = follow(target, request, until)?;
    let status = answer.status().as_u16();
    let page = read(request, &target, answer, until);
    if (200..300).contains(&status) {
        return page;
    }
    // What it said beside its status may be missing; the status is there.
    let mut text = page.map_or_else(|_| String::new(), |page| page.text);
    cut_at(&mut text, ERROR_TEXT);
    Err(PageFault::Status { status, text })
}

fn follow(
    mut target: Target,
    PageRequest { allowed, times, .. }: &PageRequest,
    until: Instant,
) -> Result<(Target, Response<Body>), PageFault> {
    let mut before: Option<Target> = None;
    for _ in 0..=MOST_HOPS {
        let judged = resolve(&target, allowed, until).map_err(|fault| match &before {
            Some(from) => hop(from, target.as_str(), fault),
            None => fault,
        })?;
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let answer = exchange::ask(&target, judged, Remaining { left, of: times.body })?;
        let status = answer.status().as_u16();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Ok((target, answer));
        }
        let location = exchange::header(&answer, header::LOCATION);
        let location = location.ok_or(PageFault::Nowhere { status })?;
        let next = next(&target, &location, status, allowed)?;
        before = Some(std::mem::replace(&mut target, next));
    }
    Err(PageFault::Hops { most: MOST_HOPS })
}

/// Where a redirect leads, if it stays on its host. What is refused by its look alone is said to be, whatever its host.
fn next(
    from: &Target,
    location: &str,
    status: u16,
    allowed: &Allowance,
) -> Result<Target, PageFault> {
    let refused = |fault: UrlFault| {
        let mut location = location.to_owned();
        cut_at(&mut location, MOST_LOCATION);
        hop(from, &location, PageFault::Url(fault))
    };
    let to = from.join(location).map_err(refused)?;
    if to.is_beside(from) {
        return Ok(to);
    }
    if !matches!(to.host(), url::Host::Domain(_)) {
        resolve(&to, allowed, Instant::now()).map_err(|fault| hop(from, to.as_str(), fault))?;
    }
    Err(PageFault::Elsewhere { status, to: to.as_str().to_owned() })
}

fn hop(from: &Target, to: &str, fault: PageFault) -> PageFault {
    PageFault::Hop { from: from.as_str().to_owned(), to: to.to_owned(), fault: Box::new(fault) }
}

fn read(
    request: &PageRequest,
    target: &Target,
    answer: Response<Body>,
    until: Instant,
) -> Result<Page, PageFault> {
    let status = answer.status().as_u16();
    let media_type = exchange::header(&answer, header::CONTENT_TYPE);
    let encoding = exchange::header(&answer, header::CONTENT_ENCODING);
    let length = exchange::header(&answer, header::CONTENT_LENGTH);
    let content_type = ContentType::parse(media_type.as_deref().unwrap_or_default());
    let seconds = request.times.body.as_secs();
    let body = answer.into_body().into_reader();
    let Taken { bytes, cut } =
        body::take(body, encoding.as_deref(), request.most_bytes, until, seconds)?;
    let bounded = |mut text: String, most: usize| {
        cut_at(&mut text, most);
        text
    };
    let mut page = Page {
        url: target.as_str().to_owned(),
        status,
        media_type: media_type.map(|told| bounded(told, MOST_MEDIA_TYPE)),
        charset: None,
        title: None,
        bytes: bytes.len() as u64,
        text: String::new(),
        notes: Vec::new(),
    };
    let kind = media(&content_type.essence, &bytes);
    if let Media::Other { name } = kind {
        // It is named, not shown; how much there is the header may know better.
        page.text = named(name, &page, length.filter(|_| encoding.is_none()).as_deref(), cut);
        return Ok(page);
    }
    let is_html = kind == Media::Html;
    let declares = match is_html || content_type.essence.ends_with("xml") {
        true => Declares::Itself,
        false => Declares::Nothing,
    };
    let end = if cut.is_none() { End::Own } else { End::Cut };
    let decoded = decode(&bytes, content_type.charset.as_deref(), declares, end);
    drop(bytes);
    page.charset = Some(decoded.charset.to_owned());
    let mut notes: Vec<Note> = Vec::new();
    if is_html {
        let rendered = markdown(decoded.text, target.url());
        page.title = rendered.title.map(|title| bounded(title, MOST_TITLE));
        page.text = rendered.text;
        // A page that was cut ends in the middle of a tag as a matter of course.
        notes.extend(
            rendered.notes.into_iter().filter(|note| cut.is_none() || *note != Note::Cut(Cut::Tag)),
        );
    } else {
        page.text = decoded.text;
    }
    let omitted = cut_at(&mut page.text, request.most_text);
    notes.extend((omitted > 0).then_some(Note::Cut(Cut::Text { omitted })));
    notes.extend(cut.map(Note::Cut));
    notes.extend(decoded.is_replaced.then_some(Note::Replaced));
    page.notes = notes;
    Ok(page)
}

/// What is said of a body that is not shown.
fn named(name: &str, page: &Page, length: Option<&str>, cut: Option<Cut>) -> String {
    let size = match (length.and_then(|length| length.parse::<u64>().ok()), cut) {
        (Some(length), _) => format!("{length} bytes"),
        (None, None) => format!("{} bytes", page.bytes),
        (None, Some(_)) => format!("more than {} bytes", page.bytes),
    };
    match &page.media_type {
        Some(media_type) => format!("[{name}, {media_type}, {size}: not shown]"),
        None => format!("[{name}, {size}: not shown]"),
    }
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
