//! `brattice attach`: a full-screen view of sessions, tasks and their output, and of what waits for an answer.
//!
//! ```text
//!  terminal ──keys──┐                              ┌──▶ view ──▶ screen
//!                   ├─▶ open ──Event──▶ state ─────┤
//!  daemon ◀──watch──┘                     └ output └──▶ watch: what to read, answers, kills
//! ```
//!
//! [`state`], [`output`] and [`view`] are pure; [`open`] is the loop, [`screen`] the terminal, [`keys`] what is pressed there,
//! [`watch`] the daemon. Whoever is attached counts as somebody who can be asked.
//!
//! | dies | then |
//! |---|---|
//! | the daemon | it is said, its questions are forgotten, the connection is made again to the next one |
//! | the terminal | this program ends |
//! | this program | nothing of what it shows; questions to it go to whoever else is there |

mod keys;
mod layout;
mod open;
mod output;
#[cfg(test)]
mod samples;
mod screen;
mod state;
mod view;
mod watch;

pub(crate) use open::attach;
