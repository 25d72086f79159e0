//! The web worker: the process that fetches pages for a session, and the processes in which it does.
//!
//! ```text
//! bratticed ── line::Client ══ socket (its standard input) ══ bratticed web     a task of the session in `read-only`, network `full`
//!                                                               ├─ bratticed page   one for each page, killed at its deadline
//!                                                               └─ …
//! ```
//!
//! What a stranger wrote is parsed by none of the others: a page that makes its process grow or loop costs that page. The worker
//! keeps what was fetched (`cache`), bounds how many there are at once, and kills what takes too long or is withdrawn.
//!
//! | dies | then |
//! |---|---|
//! | a page's process | that page is told as failed |
//! | the worker | its task ends, and its keeper kills what is left of it; the call fails, and the next one starts another |
//! | the daemon, the supervisor | as of a file worker |

mod cache;
mod message;
mod page;
mod worker;

pub(crate) use message::{Answer, FetchFault, Fetched, Request, Source};
pub(crate) use page::{PAGE_SECONDS, main as page_main};
pub(crate) use worker::{AT_ONCE, main as worker_main};

/// The line to a web worker.
pub(crate) type Client = crate::line::Client<Request, Answer>;
