//! Approvals: a question to a person before one command runs, and what becomes of the answer.
//!
//! ```text
//!  tools ──Question──► ask ──► memory: allowed for the session, or rejected before: nobody is asked
//!    ▲                  │
//!    │                  ├──► desk: open questions ── approval.pending ──► operators ── approval.respond ──┐
//!    │                  │      │                                                                         │
//!    │                  │      └────── approval.request ──► the session's client ── answer ─────────────┤
//!    │                  │                                                                               ▼
//!    └──── Permit ◄─────┴◄── the first answer, or an end: expired, cancelled, withdrawn ◄──────────── state
//! ```
//!
//! | thing | owner | when it ends |
//! |---|---|---|
//! | an open question | the desk | at its first answer; unanswered after `approval_ttl`; with its call, its session, or the last who could answer |
//! | a permit | the call that asked | when its command starts: it is claimed once, for exactly what was asked |
//! | what is remembered | the session | rejections at the next turn or change of the session, all of it with the daemon |
//!
//! A daemon that dies with a question open has started nothing: its call is answered by nobody, and the next daemon knows
//! no such question. Whether a call may ask at all is `tools`' part; that a wider mode really applies, the session's.

mod ask;
mod desk;
mod memory;
mod refusal;
mod state;
mod subject;

pub(crate) use ask::{Permit, Question, Why, ask, remembered};
pub(crate) use desk::{Desk, RespondError};
pub(crate) use memory::Memory;
pub(crate) use refusal::NotAllowed;
pub(crate) use state::{Choices, ClaimRefused, Ending};
pub(crate) use subject::{Folder, Subject};
