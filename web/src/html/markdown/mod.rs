//! What is to be read of a page as Markdown.
//!
//! ```text
//!  tree, reading ──► writer ── block ──► blocks   lists, quotations, terms
//!                       │        ├─────► code     listings and their languages
//!                       │        ├─────► table
//!                       └─ inline ─────► line     emphasis, links, pictures
//! ```
//!
//! Nothing of a page's size or depth is taken for granted: what nests deeper than anybody reads is flattened, and a text that grows
//! beyond its cap ends there.

mod block;
mod blocks;
mod code;
mod inline;
mod line;
mod table;
mod writer;

pub(super) use writer::write;
