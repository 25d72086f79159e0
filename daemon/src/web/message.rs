//! What a web worker is asked and what it answers.

use brattice_web::{Allowance, Page, PageFault};
use serde::{Deserialize, Serialize};

/// Pages to fetch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Their URLs, as the call names them.
    pub(crate) urls: Vec<String>,
    /// What may be reached although it is reserved.
    pub(crate) allowed: Allowance,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// A result for each URL, in their order.
    Fetched(Vec<Fetched>),
    /// The worker failed in a way that it should not; it goes on.
    Broken,
}

/// What came of one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fetched {
    /// The URL as it was asked for.
    pub(crate) url: String,
    /// The page, or why there is none.
    pub(crate) outcome: Result<Page, FetchFault>,
    /// Whether it was fetched before, for another call.
    pub(crate) source: Source,
}

/// Where a page came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    /// The web, just now.
    Web,
    /// The worker's memory.
    Cache,
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum FetchFault {
    /// Its own process says why.
    #[error("{0}")]
    Page(PageFault),
    /// Its process took too long.
    #[error("the page was given up: it was not fetched and read within {seconds} s")]
    Late {
        /// How long it may take.
        seconds: u64,
    },
    /// Its process ended.
    #[error(
        "the page was given up: the process that read it ended ({how}); a page that takes more memory than one may is ended so"
    )]
    Died {
        /// How.
        how: String,
    },
    /// It has no process.
    #[error("a process to read the page in could not be started: {reason}")]
    Start {
        /// Why.
        reason: String,
    },
    /// The call was withdrawn.
    #[error("the call was withdrawn")]
    Withdrawn,
}
