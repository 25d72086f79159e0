//! The worker role: the pages of a call, a few at a time and in order, from the cache or each from a process of its own.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use brattice_web::Target;

use super::cache::Cache;
use super::message::{Answer, FetchFault, Fetched, Request, Source};
use super::page::{Withdrawal, fetch_apart};
use crate::line::{self, Flag as _, Work};

/// Calls that are worked on at the same time; the next one waits.
const MOST_CALLS: usize = 8;

/// Pages of a call that are fetched at the same time.
pub(crate) const AT_ONCE: usize = 4;

#[derive(Default)]
struct Pages {
    cache: Mutex<Cache>,
}

impl Work for Pages {
    type Request = Request;
    type Answer = Answer;
    type Flag = Withdrawal;

    const MOST_CALLS: usize = MOST_CALLS;

    fn answer(&self, request: Request, withdrawal: &Withdrawal) -> Answer {
        let fetched: Vec<Mutex<Option<Fetched>>> =
            request.urls.iter().map(|_| Mutex::default()).collect();
        let places: Vec<_> = request.urls.iter().zip(&fetched).collect();
        let next = AtomicUsize::new(0);
        let fetch = || {
            let ahead = || places.get(next.fetch_add(1, Ordering::Relaxed));
            while let Some((url, place)) = ahead() {
                let done = self.fetch(url, &request, withdrawal);
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            }
        };
        thread::scope(|scope| {
            for _ in 1..request.urls.len().min(AT_ONCE) {
                // Where no thread can be had the others do its part.
                thread::Builder::new().spawn_scoped(scope, fetch).ok();
            }
            fetch();
        });
        let fetched = fetched
            .into_iter()
            .map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
        fetched.collect::<Option<_>>().map_or(Answer::Broken, Answer::Fetched)
    }

    fn broken() -> Answer {
        Answer::Broken
    }
}

impl Pages {
    fn fetch(&self, url: &str, request: &Request, withdrawal: &Withdrawal) -> Fetched {
        let told = |outcome, source| Fetched { url: url.to_owned(), outcome, source };
        if withdrawal.is_raised() {
            return told(Err(FetchFault::Withdrawn), Source::Web);
        }
        // What is no URL needs no process to be told.
        let target = match Target::parse(url) {
            Ok(target) => target.as_str().to_owned(),
            Err(fault) => {
                let fault = FetchFault::Page(brattice_web::PageFault::Url(fault));
                return told(Err(fault), Source::Web);
            }
        };
        if let Some(page) = self.cache().find(&target, Instant::now()) {
            return told(Ok(page), Source::Cache);
        }
        let outcome = fetch_apart(url, &request.allowed, withdrawal);
        if let Ok(page) = &outcome {
            self.cache().keep(target, page.clone(), Instant::now());
        }
        told(outcome, Source::Web)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the worker role; its socket is standard input.
pub(crate) fn main() -> ExitCode {
    line::serve(Pages::default())
}
