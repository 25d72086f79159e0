//! Pages that were fetched, by their URLs, for a while. Bounded in number and bytes: the oldest go first.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use brattice_web::{Cut, Note, Page};

/// How long a page is kept.
const KEPT: Duration = Duration::from_secs(15 * 60);

/// Most pages.
const MOST: usize = 64;

/// Most bytes of text of all of them.
const MOST_BYTES: usize = 8 << 20;

/// The pages.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pages: HashMap<String, (Instant, Page)>,
}

impl Cache {
    /// The page of this URL, unless it is too old by now.
    pub(super) fn find(&self, url: &str, now: Instant) -> Option<Page> {
        let (fetched, page) = self.pages.get(url)?;
        (now.saturating_duration_since(*fetched) < KEPT).then(|| page.clone())
    }

    /// Keeps a page. One whose end is missing for a reason that passes is not kept.
    pub(super) fn keep(&mut self, url: String, page: Page, now: Instant) {
        let passes = |note: &Note| matches!(note, Note::Cut(Cut::Time { .. } | Cut::Broken));
        if page.notes.iter().any(passes) {
            return;
        }
        self.pages.insert(url, (now, page));
        self.pages.retain(|_, (fetched, _)| now.saturating_duration_since(*fetched) < KEPT);
        while self.pages.len() > MOST || self.bytes() > MOST_BYTES {
            let oldest = self.pages.iter().min_by_key(|(_, (fetched, _))| *fetched);
            let Some(url) = oldest.map(|(url, _)| url.clone()) else { return };
            self.pages.remove(&url);
        }
    }

    fn bytes(&self) -> usize {
        self.pages.iter().map(|(url, (_, page))| url.len() + page.text.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: String, notes: Vec<Note>) -> Page {
        Page {
            url: "http://a.example/".to_owned(),
            status: 200,
            media_type: None,
            charset: None,
            title: None,
            bytes: 0,
            text,
            notes,
        }
    }

    #[test]
    fn a_page_is_kept_for_a_quarter_of_an_hour() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        let kept = page("x".to_owned(), Vec::new());
        cache.keep("u".to_owned(), kept.clone(), now);
        assert_eq!(cache.find("u", now + KEPT - Duration::from_secs(1)), Some(kept));
        assert_eq!(cache.find("u", now + KEPT), None);
        assert_eq!(cache.find("v", now), None);
    }

    #[test]
    fn what_broke_off_is_not_kept() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        cache.keep("u".to_owned(), page(String::new(), vec![Note::Cut(Cut::Broken)]), now);
        cache.keep(
            "v".to_owned(),
            page(String::new(), vec![Note::Cut(Cut::Time { seconds: 1 })]),
            now,
        );
        assert!(cache.pages.is_empty());
    }

    #[test]
    fn the_oldest_go_first_by_number_and_by_bytes() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        let at = |number: usize| now + Duration::from_millis(number as u64);
        for number in 0..=MOST {
            cache.keep(number.to_string(), page(String::new(), Vec::new()), at(number));
        }
        assert_eq!((cache.pages.len(), cache.find("0", at(MOST))), (MOST, None));
        cache.keep(
            "large".to_owned(),
            page("x".repeat(MOST_BYTES - 100), Vec::new()),
            at(MOST + 1),
        );
        assert!(cache.bytes() <= MOST_BYTES && cache.pages.contains_key("large"));
        cache.keep("larger".to_owned(), page("x".repeat(MOST_BYTES), Vec::new()), at(MOST + 2));
        assert!(cache.pages.is_empty());
    }
}
