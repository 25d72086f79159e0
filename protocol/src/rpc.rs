//! JSON-RPC 2.0 envelopes and Brattice's error codes.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request's id: a number or a text, echoed in the response (JSON-RPC 2.0, section 4).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Number(number) => write!(f, "{number}"),
            RequestId::Text(text) => f.write_str(text),
        }
    }
}

/// One line on the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Asks for an answer.
    Request(Request),
    /// Tells without asking.
    Notification(Notification),
    /// Answers a request.
    Response(Response),
}

/// A method call that is answered under its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Echoed in the response.
    pub id: RequestId,
    /// The method's name.
    pub method: String,
    /// The parameters; `{}` when absent.
    pub params: Value,
}

/// A method call that is not answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// The method's name.
    pub method: String,
    /// The parameters; `{}` when absent.
    pub params: Value,
}

/// The answer to a request. `id` is null when the request could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The request's id.
    pub id: Option<RequestId>,
    /// The result or the error.
    pub outcome: Result<Value, RpcError>,
}

/// An error on the wire: `{code, message, data: {code, hint}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// JSON-RPC's number.
    pub code: i64,
    /// One sentence that names the thing.
    pub message: String,
    /// The stable text code and the way out.
    #[serde(default)]
    pub data: ErrorDetail,
}

/// The stable part of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDetail {
    /// What kind of error it is; `None` from a peer that does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Stable text codes. Programs match on these, never on messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// `hello` has not been said.
    NotReady,
    /// No such session, or not this client's.
    UnknownSession,
    /// No such task in this session.
    UnknownTask,
    /// Policy does not allow it.
    Refused,
    /// A limit is reached; try again.
    Busy,
    /// Something that is needed cannot be had here.
    Unavailable,
    /// The request makes no sense as it stands.
    Invalid,
    /// The message or a field is too large.
    TooLarge,
    /// The daemon is going away.
    ShuttingDown,
}

impl ErrorCode {
    /// JSON-RPC's number for the code: its own where it has one, else in the range left to servers.
    pub const fn number(self) -> i64 {
        match self {
            ErrorCode::Invalid => -32602,
            ErrorCode::NotReady => -32000,
            ErrorCode::UnknownSession => -32001,
            ErrorCode::UnknownTask => -32002,
            ErrorCode::Refused => -32003,
            ErrorCode::Busy => -32004,
            ErrorCode::Unavailable => -32005,
            ErrorCode::TooLarge => -32006,
            ErrorCode::ShuttingDown => -32007,
        }
    }
}

impl RpcError {
    /// The line is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The line is JSON and no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;

    /// An error of a kind with its number.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::numbered(code.number(), code, message)
    }

    /// An error whose number JSON-RPC prescribes.
    pub fn numbered(number: i64, code: ErrorCode, message: impl Into<String>) -> Self {
        RpcError {
            code: number,
            message: message.into(),
            data: ErrorDetail { code: Some(code), hint: None },
        }
    }

    /// The same error with the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.data.hint = Some(hint.into());
        self
    }

    /// Whether the error is of this kind.
    pub fn is(&self, code: ErrorCode) -> bool {
        self.data.code == Some(code)
    }
}

/// Decodes a request's parameters.
///
/// # Errors
/// `invalid` (-32602), naming the path of the field at fault.
pub fn decode_params<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_path_to_error::deserialize(params).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { "params".to_owned() } else { format!("params.{path}") };
        RpcError::new(ErrorCode::Invalid, format!("{at}: {}", error.inner()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        outer: Inner,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        number: u32,
    }

    #[test]
    fn a_bad_parameter_is_named_by_its_path() {
        let message = |value| decode_params::<Sample>(value).unwrap_err().message;
        assert_eq!(
            message(json!({"outer": {"number": "x"}})),
            "params.outer.number: invalid type: string \"x\", expected u32"
        );
        assert_eq!(
            message(json!({"outer": {"number": 1, "more": 2}})),
            "params.outer.more: unknown field `more`, expected `number`"
        );
        assert_eq!(message(json!({})), "params: missing field `outer`");
    }
}
