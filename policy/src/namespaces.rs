//! Whether a session's commands get namespaces of their own, and what such a namespace could not hold.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

crate::named::named! {
    /// A session's setting.
    #[derive(Default)]
    pub enum Namespaces {
        /// Where the machine allows them.
        #[default]
        Auto = "auto",
        /// None, for programs that cannot do with what a user namespace shows them.
        Off = "off",
    }
}

impl Namespaces {
    /// Whether it is the default.
    pub(crate) fn is_auto(&self) -> bool {
        *self == Namespaces::Auto
    }
}

/// A protected path that the mount namespace does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unheld {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub why: UnheldReason,
}

/// Why a protected path is not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnheldReason {
    /// A mount needs something to cover, and nothing is made in a workspace for its sake.
    Missing,
    /// A symbolic link stands in its path: it can be replaced, and nothing can be mounted on it.
    Link,
}

impl fmt::Display for Unheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.why {
            UnheldReason::Missing => {
                write!(
                    f,
                    "{path} does not exist, so a command can make it; from then on it is held"
                )
            }
            UnheldReason::Link => write!(f, "a symbolic link leads to {path}"),
        }
    }
}
