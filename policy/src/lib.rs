//! The policy of a Brattice session as plain data, and pure functions over it.
//!
//! Nothing here does I/O or knows a runtime. A [`Profile`] says what a session may do; [`Profile::grants`] turns
//! it into the list of path rules that Landlock enforces, and [`explain`](explain::explain) answers questions from
//! that very list, so that what is told and what is enforced cannot drift apart.
//!
//! The feature `enforce` (only the daemon turns it on) adds `enforce`, which builds and applies the
//! kernel's layers, and `sys`, the one module of the workspace that holds unsafe code.

pub mod ambient;
pub mod approval;
pub mod config;
pub mod denial;
pub mod environment;
pub mod explain;
pub mod grant;
pub mod layer;
pub mod limits;
pub mod mode;
pub mod named;
pub mod namespaces;
pub mod network;
pub mod preset;
pub mod profile;
pub mod protect;
pub mod rules;
pub mod view;

#[cfg(feature = "enforce")]
pub mod enforce;
#[cfg(feature = "enforce")]
#[allow(unsafe_code)]
pub mod sys;

pub use approval::{Approval, Escalation};
pub use denial::{Denial, DeniedOperation};
pub use explain::{Operation, Verdict};
pub use grant::{Access, Grant};
pub use layer::{Layer, LayerName, LayerState};
pub use limits::{LeftoverRule, Limits};
pub use mode::Mode;
pub use named::Named;
pub use namespaces::Namespaces;
pub use network::Network;
pub use preset::Preset;
pub use profile::{PresetRule, Profile, Root, RootKind};
