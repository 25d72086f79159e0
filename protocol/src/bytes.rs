//! Bytes in JSON: as text where they are UTF-8, else in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// How a `data` field holds its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// The text is the bytes.
    #[default]
    Utf8,
    /// The text is the bytes in base64 (RFC 4648, section 4, with padding).
    Base64,
}

/// A `data` field that says it is base64 and is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("data is not valid base64")]
pub struct BadBase64;

/// The `data` text and its encoding for these bytes.
pub fn encode(bytes: &[u8]) -> (String, Encoding) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), Encoding::Utf8),
        Err(_) => (STANDARD.encode(bytes), Encoding::Base64),
    }
}

/// The bytes of a `data` text.
///
/// # Errors
/// Text that claims to be base64 and is not.
pub fn decode(data: &str, encoding: Encoding) -> Result<Vec<u8>, BadBase64> {
    match encoding {
        Encoding::Utf8 => Ok(data.as_bytes().to_vec()),
        Encoding::Base64 => STANDARD.decode(data).map_err(|_| BadBase64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_survive(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let (data, encoding) = encode(&bytes);
            prop_assert_eq!(decode(&data, encoding), Ok(bytes));
        }
    }

    #[test]
    fn says_what_is_not_base64() {
        assert_eq!(decode("~~", Encoding::Base64), Err(BadBase64));
    }
}
