//! What tells one content from another: SHA-256 of a file's bytes, which needs no stored copy and no trust in time stamps.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a whole content. Written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

/// A text that is no fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits")]
pub struct NoFingerprint;

impl Fingerprint {
    /// Of a content that is in memory.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Fingerprint(Sha256::digest(content).into())
    }
}

/// Adds up a content piece by piece.
#[derive(Default)]
pub(crate) struct Fingerprinting(Sha256);

impl Fingerprinting {
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(crate) fn finish(self) -> Fingerprint {
        Fingerprint(self.0.finalize().into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = NoFingerprint;

    fn try_from(text: String) -> Result<Self, NoFingerprint> {
        text.parse()
    }
}

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> Result<Self, NoFingerprint> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(NoFingerprint);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let value =
                |digit: u8| char::from(digit).to_digit(16).and_then(|v| u8::try_from(v).ok());
            let (Some(high), Some(low)) = (value(pair[0]), value(pair[1])) else {
                return Err(NoFingerprint);
            };
            *byte = high << 4 | low;
        }
        Ok(Fingerprint(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_sha256_and_survives_its_text() {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let print = Fingerprint::of(b"abc");
        assert_eq!(print.to_string(), text);
        assert_eq!(text.parse(), Ok(print));
        for wrong in [&text[1..], "+a", &text.replace("ba", "+a")] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(NoFingerprint));
        }
        let mut pieces = Fingerprinting::default();
        pieces.add(b"a");
        pieces.add(b"bc");
        assert_eq!(pieces.finish(), print);
    }
}
