//! The line codec: one JSON message a line, with limits on length and nesting.

use serde_json::{Map, Value, json};

use crate::rpc::{ErrorCode, Message, Notification, Request, RequestId, Response, RpcError};

/// Longest message in bytes, its newline not counted.
pub const MAX_MESSAGE: usize = 4 << 20;

/// Deepest nesting of arrays and objects.
pub const MAX_DEPTH: usize = 64;

/// Why a line is no message. After any of these the connection closes: the peer does not speak the protocol.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The line is longer than [`MAX_MESSAGE`].
    #[error("message is longer than {MAX_MESSAGE} bytes")]
    TooLong,
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`].
    #[error("message is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Not JSON, or not UTF-8.
    #[error("message is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// A batch, which this protocol does not have.
    #[error("batches are not supported: send one message a line")]
    Batch,
    /// JSON, and no JSON-RPC 2.0 message.
    #[error("not a JSON-RPC 2.0 message: {0}")]
    NotRpc(&'static str),
}

impl DecodeError {
    /// The error response that is sent before the connection closes.
    pub fn to_rpc(&self) -> RpcError {
        let (number, code) = match self {
            DecodeError::TooLong | DecodeError::TooDeep => {
                (RpcError::INVALID_REQUEST, ErrorCode::TooLarge)
            }
            DecodeError::NotJson(_) => (RpcError::PARSE_ERROR, ErrorCode::Invalid),
            DecodeError::Batch | DecodeError::NotRpc(_) => {
                (RpcError::INVALID_REQUEST, ErrorCode::Invalid)
            }
        };
        let text = match self {
            DecodeError::NotJson(source) => format!("{self}: {source}"),
            other => other.to_string(),
        };
        RpcError::numbered(number, code, text)
    }
}

/// Reads one line, without its newline, as a message.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode(line: &[u8]) -> Result<Message, DecodeError> {
    if line.len() > MAX_MESSAGE {
        return Err(DecodeError::TooLong);
    }
    if depth(line) > MAX_DEPTH {
        return Err(DecodeError::TooDeep);
    }
    match serde_json::from_slice(line).map_err(DecodeError::NotJson)? {
        Value::Object(object) => classify(object),
        Value::Array(_) => Err(DecodeError::Batch),
        _ => Err(DecodeError::NotRpc("expected an object")),
    }
}

/// Writes a message as one line, its newline included.
pub fn encode(message: &Message) -> Vec<u8> {
    let value = match message {
        Message::Request(Request { id, method, params }) => {
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        }
        Message::Notification(Notification { method, params }) => {
            json!({"jsonrpc": "2.0", "method": method, "params": params})
        }
        Message::Response(Response { id, outcome: Ok(result) }) => {
            json!({"jsonrpc": "2.0", "id": id, "result": result})
        }
        Message::Response(Response { id, outcome: Err(error) }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    };
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// The deepest nesting of arrays and objects in a JSON text, whether or not the text is valid; found without
/// recursion, before the parser sees it.
pub fn depth(line: &[u8]) -> usize {
    let (mut now, mut deepest, mut in_string, mut escaped) = (0usize, 0usize, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                now += 1;
                deepest = deepest.max(now);
            }
            b'}' | b']' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn classify(mut object: Map<String, Value>) -> Result<Message, DecodeError> {
    if object.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(DecodeError::NotRpc("\"jsonrpc\" must be \"2.0\""));
    }
    let id = match object.remove("id") {
        None => None,
        Some(Value::Null) => Some(None),
        Some(value) => Some(Some(
            serde_json::from_value::<RequestId>(value)
                .map_err(|_| DecodeError::NotRpc("\"id\" must be a text or a whole number"))?,
        )),
    };
    match object.remove("method") {
        Some(Value::String(method)) => call(id, method, object.remove("params")),
        Some(_) => Err(DecodeError::NotRpc("\"method\" must be a text")),
        None => response(id, object),
    }
}

fn call(
    id: Option<Option<RequestId>>,
    method: String,
    params: Option<Value>,
) -> Result<Message, DecodeError> {
    let params = match params {
        None | Some(Value::Null) => json!({}),
        Some(params @ Value::Object(_)) => params,
        Some(_) => return Err(DecodeError::NotRpc("\"params\" must be an object")),
    };
    match id {
        Some(Some(id)) => Ok(Message::Request(Request { id, method, params })),
        Some(None) => Err(DecodeError::NotRpc("\"id\" of a request must not be null")),
        None => Ok(Message::Notification(Notification { method, params })),
    }
}

fn response(
    id: Option<Option<RequestId>>,
    mut object: Map<String, Value>,
) -> Result<Message, DecodeError> {
    let id = id.ok_or(DecodeError::NotRpc("neither \"method\" nor \"id\""))?;
    let outcome = match (object.remove("result"), object.remove("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(serde_json::from_value(error)
            .map_err(|_| DecodeError::NotRpc("\"error\" has a wrong shape"))?),
        _ => return Err(DecodeError::NotRpc("a response has either \"result\" or \"error\"")),
    };
    Ok(Message::Response(Response { id, outcome }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(line: &str) -> String {
        decode(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn says_what_is_wrong_with_a_line() {
        assert_eq!(fault("{"), "message is not JSON");
        assert_eq!(fault("[]"), "batches are not supported: send one message a line");
        assert_eq!(fault("7"), "not a JSON-RPC 2.0 message: expected an object");
        assert_eq!(
            fault(r#"{"id":1,"method":"x"}"#),
            "not a JSON-RPC 2.0 message: \"jsonrpc\" must be \"2.0\""
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#),
            "not a JSON-RPC 2.0 message: \"id\" must be a text or a whole number"
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#),
            "not a JSON-RPC 2.0 message: \"params\" must be an object"
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#),
            "not a JSON-RPC 2.0 message: a response has either \"result\" or \"error\""
        );
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(64), "]".repeat(64));
        assert_eq!(fault(&deep), "message is nested deeper than 64 levels");
        let long = format!("\"{}\"", "x".repeat(MAX_MESSAGE));
        assert_eq!(fault(&long), "message is longer than 4194304 bytes");
    }

    #[test]
    fn brackets_in_strings_are_not_nesting() {
        assert_eq!(depth(br#"{"a":"[[[[\"[["}"#), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(line in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(message) = decode(&line) {
                let mut again = encode(&message);
                prop_assert_eq!(again.pop(), Some(b'\n'));
                prop_assert_eq!(decode(&again).ok(), Some(message));
            }
        }

        #[test]
        fn requests_survive(id in any::<i64>(), method in ".*", text in ".*") {
            let request = Message::Request(Request { id: RequestId::Number(id), method, params: json!({"x": text}) });
            let mut line = encode(&request);
            prop_assert_eq!(line.pop(), Some(b'\n'));
            prop_assert!(!line.contains(&b'\n'));
            prop_assert_eq!(decode(&line).unwrap(), request);
        }
    }
}
