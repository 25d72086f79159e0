//! Questions of the model to a person, and plans for a person to judge.
//!
//! ```text
//!  tools ──► ask ──► desk: what is open ── question.pending, plan.pending ──► operators ── question.respond ──┐
//!    ▲        │                                                                                              │
//!    │        └── question.request, plan.request ──► the session's client ── answer ─────────────────────────┤
//!    │                                                                                                       ▼
//!    └──── Settlement ◄──── the first answer that makes sense, or an end: withdrawn, closed, deserted ◄── inquiry
//! ```
//!
//! | thing | owner | when it ends |
//! |---|---|---|
//! | what is open | the desk | at its first answer; with its call, that call's patience, its session, or the last who could answer; a plan also with plan mode |
//! | an answer | the call that asked | with its result: nothing is remembered, and nothing is answered twice |
//!
//! Nothing is ever answered but by a person: what ends without an answer says so, whatever a session's approvals are set to,
//! and has no time limit of its own but the patience of a call that has one. A daemon that dies has answered nothing, and the next one knows no such question; an id
//! is never used again. Approvals of commands are another matter, with their own desk (`crate::approval`): they grant rights,
//! and are bound to what was asked.

mod ask;
mod desk;
mod inquiry;

pub(crate) use ask::{NotAsked, ask};
pub(crate) use desk::{Attendance, Desk, RespondError};
pub(crate) use inquiry::{Ending, Matter, Settlement};
