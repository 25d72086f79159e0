//! What a session's commands may do with sockets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A session's network setting. It bounds socket families by seccomp; see `enforce::seccomp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// IPv4, IPv6 and the routing netlink family that name resolution needs.
    #[default]
    Full,
    /// A loopback of the session's own. Needs a network namespace: where none can be had, such a session is refused
    /// rather than opened with less.
    Loopback,
    /// No sockets but pairs within the command.
    None,
}

impl Network {
    /// Every setting, widest first.
    pub const ALL: [Network; 3] = [Network::Full, Network::Loopback, Network::None];

    /// The name on the wire, on the command line and in configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Network::Full => "full",
            Network::Loopback => "loopback",
            Network::None => "none",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no [`Network`] setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown network setting {0:?}: expected full, loopback or none")]
pub struct UnknownNetwork(pub String);

impl FromStr for Network {
    type Err = UnknownNetwork;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Network::ALL
            .into_iter()
            .find(|network| network.as_str() == text)
            .ok_or_else(|| UnknownNetwork(text.to_owned()))
    }
}
