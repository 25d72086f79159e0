//! Fetching pages for `web_fetch`: what may be reached, bodies that are bounded, and main content as Markdown.
//!
//! ```text
//!  URL ─ target ─► resolve ─ address ─► exchange ─► body ─► charset ─► markdown ─► Page
//!          ▲      (the very addresses        │
//!          └────── that are connected to) ◄──┘ a redirect on the same host: each hop from the beginning
//! ```
//!
//! Blocking, values in, values out: one call of [`fetch()`] is one page. It holds nothing between pages and keeps to its time by
//! itself, as far as code of its own runs; a parser that does not end, or memory without bound, is for whoever runs it to stop. So
//! it is run in a process that can be killed. It knows no sandbox, no tool and no wire.

mod address;
mod body;
mod charset;
mod exchange;
mod fault;
mod fetch;
mod html;
mod media;
mod page;
mod resolve;
mod target;
mod zstd;

pub use address::{Reserved, reserved};
pub use fault::{PageFault, UrlFault};
pub use fetch::fetch;
pub use html::{Rendered, markdown};
pub use page::{Cut, Note, Page, PageRequest, Times};
pub use target::{Allowance, Target};
