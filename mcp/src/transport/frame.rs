//! One line as a message of rmcp's, or what is wrong with it. Pure.

use brattice_client::protocol::ErrorCode as Code;
use brattice_client::protocol::codec::{MAX_DEPTH, MAX_MESSAGE, depth};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId};
use serde_json::{Value, json};

/// Messages of one batch, which one revision of the protocol has.
const MOST_OF_BATCH: usize = 64;

/// What a line is.
#[derive(Debug)]
pub(super) enum Frame {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Several; each is answered by itself.
    Batch(Vec<Value>),
    /// Nothing: a blank line, or a notification that rmcp does not know.
    Nothing,
}

/// Why a line is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("message is longer than {MAX_MESSAGE} bytes")]
    TooLong,
    #[error("message is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("message is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// JSON, of another shape; the client may go on.
    #[error("{}", .error.message)]
    NoMessage {
        /// The request's id, where it has one.
        id: Option<RequestId>,
        /// What it is told.
        error: ErrorData,
    },
}

impl From<Fault> for ErrorData {
    fn from(fault: Fault) -> Self {
        let code = match &fault {
            Fault::TooLong | Fault::TooDeep => ErrorCode::INVALID_REQUEST,
            Fault::NotJson(_) => ErrorCode::PARSE_ERROR,
            Fault::NoMessage { error, .. } => return error.clone(),
        };
        ErrorData::new(code, fault.to_string(), None)
    }
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Result<Frame, Fault> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(Frame::Nothing);
    }
    if depth(line) > MAX_DEPTH {
        return Err(Fault::TooDeep);
    }
    match serde_json::from_slice(line).map_err(Fault::NotJson)? {
        Value::Array(values) if (1..=MOST_OF_BATCH).contains(&values.len()) => {
            Ok(Frame::Batch(values))
        }
        Value::Array(values) => Err(no_message(
            &Value::Null,
            &format!("a batch has 1 to {MOST_OF_BATCH} messages, this one {}", values.len()),
        )),
        value => message(value),
    }
}

/// A value as a message.
pub(super) fn message(value: Value) -> Result<Frame, Fault> {
    match serde_json::from_value(value.clone()) {
        Ok(message) => Ok(Frame::Message(Box::new(message))),
        // Nobody waits for an answer to it.
        Err(_) if value.get("method").is_some() && value.get("id").is_none() => Ok(Frame::Nothing),
        Err(error) => Err(no_message(&value, &format!("not a message of MCP: {error}"))),
    }
}

fn no_message(value: &Value, text: &str) -> Fault {
    let id = value.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
    Fault::NoMessage { id, error: ErrorData::invalid_request(text.to_owned(), None) }
}

/// What a request is answered that is one too many.
pub(super) fn busy(most: usize) -> ErrorData {
    let text = format!("{most} requests are in flight, and no more are taken: wait for an answer");
    let data = json!({"code": Code::Busy});
    ErrorData::internal_error(text, Some(data))
}
