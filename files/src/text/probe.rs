//! What kind of file begins with these bytes.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::table::{Evidence, FORMATS};

/// Bytes that decide whether a file is binary.
pub(crate) const PROBE: usize = 8192;

/// How a text's bytes are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// UTF-8 without a mark.
    Utf8,
    /// UTF-8 with a byte-order mark, which is kept and never shown.
    Utf8WithMark,
    /// UTF-16, least significant byte first, by its mark.
    Utf16Little,
    /// UTF-16, most significant byte first, by its mark.
    Utf16Big,
}

/// A file that holds no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// A name for people; `data` where no known format begins so.
    pub kind: Cow<'static, str>,
    /// Bytes, as the file system says.
    pub size: u64,
}

impl Encoding {
    /// Bytes of the mark at the beginning.
    pub(crate) fn mark(self) -> usize {
        match self {
            Encoding::Utf8 => 0,
            Encoding::Utf8WithMark => 3,
            Encoding::Utf16Little | Encoding::Utf16Big => 2,
        }
    }
}

/// What the file's first bytes say: all of them, or at least [`PROBE`].
///
/// # Errors
/// The name of a binary format, or `data`.
pub(crate) fn probe(head: &[u8]) -> Result<Encoding, &'static str> {
    let head = &head[..head.len().min(PROBE)];
    let has_nul = memchr::memchr(0, head).is_some();
    let format = FORMATS.iter().find(|(_, place, bytes, evidence)| {
        head.get(*place..).is_some_and(|rest| rest.starts_with(bytes))
            && (has_nul || *evidence == Evidence::Enough)
    });
    if let Some((name, ..)) = format {
        return Err(name);
    }
    match head {
        [0xef, 0xbb, 0xbf, ..] if !has_nul => Ok(Encoding::Utf8WithMark),
        [0xff, 0xfe, ..] => Ok(Encoding::Utf16Little),
        [0xfe, 0xff, ..] => Ok(Encoding::Utf16Big),
        _ if has_nul => Err("data"),
        _ => Ok(Encoding::Utf8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_encodings() {
        assert_eq!(probe(b""), Ok(Encoding::Utf8));
        assert_eq!(probe(b"plain"), Ok(Encoding::Utf8));
        assert_eq!(probe(b"\xef\xbb\xbfa"), Ok(Encoding::Utf8WithMark));
        assert_eq!(probe(b"\xff\xfea\0"), Ok(Encoding::Utf16Little));
        assert_eq!(probe(b"\xfe\xff\0a"), Ok(Encoding::Utf16Big));
        assert_eq!(probe(b"\xff\xfe\0\0a\0\0\0"), Err("UTF-32 text"));
        assert_eq!(probe(b"caf\xe9\n"), Ok(Encoding::Utf8));
    }

    #[test]
    fn formats_are_named_and_letters_alone_are_no_format() {
        assert_eq!(probe(b"\x89PNG\r\n\x1a\n\0\0"), Err("PNG image"));
        assert_eq!(probe(b"%PDF-1.7\n"), Err("PDF document"));
        assert_eq!(probe(b"BMX bikes\n"), Ok(Encoding::Utf8));
        assert_eq!(probe(b"MZ\0"), Err("Windows program"));
        assert_eq!(probe(b"a\0b"), Err("data"));
    }

    #[test]
    fn what_comes_after_the_probe_decides_nothing() {
        let mut bytes = vec![b'a'; PROBE];
        bytes.push(0);
        assert_eq!(probe(&bytes), Ok(Encoding::Utf8));
        bytes[PROBE - 1] = 0;
        assert_eq!(probe(&bytes), Err("data"));
    }
}
