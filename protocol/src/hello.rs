//! `hello`: the first request on every connection.

use serde::{Deserialize, Serialize};

use brattice_policy::layer::LayerReport;

/// Parameters of `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HelloParams {
    /// The protocol version that the client speaks; see [`crate::PROTOCOL`].
    pub protocol: u32,
    /// Who is calling.
    pub client: Peer,
    /// The kinds of question that this client answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answers>,
    /// Whose word this client's answers are; a person's unless given.
    #[serde(default, skip_serializing_if = "Answerer::is_person")]
    pub answerer: Answerer,
    /// What this client wants to be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watch: Vec<Watch>,
}

/// A program's name and version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A kind of question that a client can put to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// Approvals of escalations.
    Approval,
    /// The model's questions.
    Question,
    /// Plans to approve.
    Plan,
}

/// Whose word an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    /// A person's, whom this client asks.
    #[default]
    Person,
    /// That of an MCP client, by elicitation: it counts for an approval only where the configuration trusts it, and only
    /// while no operator is attached.
    McpClient,
}

impl Answerer {
    /// Whether it is a person's.
    pub fn is_person(&self) -> bool {
        *self == Answerer::Person
    }
}

/// What a client is told without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watch {
    /// `call.output` of its sessions' calls.
    Output,
    /// `task.started` and `task.finished`.
    Tasks,
}

/// The result of `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol version that is spoken.
    pub protocol: u32,
    /// The daemon's name and version.
    pub daemon: Peer,
    /// By which socket the client came.
    pub role: Role,
    /// What this machine can enforce.
    pub sandbox: LayerReport,
    /// Limits that a client must know.
    pub limits: WireLimits,
}

/// What a connection may do, by the socket it came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// `brattice.sock`: its own sessions.
    Client,
    /// `control.sock`: all sessions, approvals and the daemon itself.
    Operator,
}

/// Limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireLimits {
    /// Longest message in bytes.
    pub message_bytes: usize,
    /// Deepest nesting.
    pub message_depth: usize,
    /// Requests in flight on one connection.
    pub in_flight: usize,
    /// Longest text of a result in bytes; more is read with `task.output`.
    pub inline_bytes: usize,
}
