//! A result as the JSON text that goes on the wire: written once, whoever keeps it and however often it is sent.

use std::sync::Arc;

use brattice_protocol::{ErrorCode, RpcError};
use serde::Serialize;

/// A result's JSON text. Clones share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body(Arc<str>);

impl Body {
    /// Writes a result.
    ///
    /// # Errors
    /// `unavailable`, where it has no JSON form.
    pub(crate) fn of(result: &(impl Serialize + ?Sized)) -> Result<Body, RpcError> {
        match serde_json::to_string(result) {
            Ok(text) => Ok(Body(text.into())),
            Err(error) => {
                let text = format!("the result cannot be written: {error}");
                Err(RpcError::new(ErrorCode::Unavailable, text))
            }
        }
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
