//! Which tools a session declares: those of its toolset, less the ones that it disabled. What they are called in full
//! is in `declare`, what they take in `arguments`.
//!
//! ```text
//!  kind: the tools there are ──┐
//!                              ├──▶ session: those of one session, what they take, and how long they may take
//!  offer: what its state has ──┘
//! ```

mod kind;
mod offer;
mod session;

pub(crate) use kind::{Repetition, ToolKind};
pub(crate) use offer::{Background, EscalationOffer, Offer, Offers};
pub(crate) use session::SessionTools;
