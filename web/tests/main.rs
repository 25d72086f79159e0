//! The corpus: pages of the kinds that matter, each with the Markdown that it must become, compared whole; and pages that are made to
//! hurt.

mod corpus;
mod hostile;
