//! The policy of a Brattice session as plain data, and pure functions over it.
//!
//! Nothing here does I/O or knows a runtime. A [`Profile`] says what a session may do; [`Profile::grants`] turns
//! it into the list of path rules that Landlock enforces, and [`explain`](explain::explain) answers questions from
//! that very list, so that what is told and what is enforced cannot drift apart.
//!
//! The feature `enforce` (only the daemon turns it on) adds `enforce`, which builds and applies the
//! kernel's layers, and `sys`, the one module of the workspace that holds unsafe code.

pub mod config;
pub mod environment;
pub mod explain;
pub mod grant;
pub mod layer;
pub mod limits;
pub mod mode;
pub mod network;
pub mod profile;

#[cfg(feature = "enforce")]
pub mod enforce;
#[cfg(feature = "enforce")]
#[allow(unsafe_code)]
pub mod sys;

pub use explain::{Operation, Verdict};
pub use grant::{Access, Grant};
pub use layer::{Layer, LayerName, LayerState};
pub use limits::{LeftoverRule, Limits};
pub use mode::Mode;
pub use network::Network;
pub use profile::{Profile, Root, RootKind};
