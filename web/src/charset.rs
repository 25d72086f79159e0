//! From bytes to text: the byte-order mark says how, else the header, else the page itself, else it is UTF-8 if it can be, and
//! windows-1252 if not, as browsers have it.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Bytes at a page's beginning in which it may say its charset (HTML, "prescan a byte stream").
const PRESCAN: usize = 1024;

/// A text, and how it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) charset: &'static str,
    /// Whether bytes were no characters.
    pub(crate) is_replaced: bool,
}

/// Whether the text may say its own charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declares {
    /// It is HTML or XML.
    Itself,
    /// It is not.
    Nothing,
}

/// Decodes a body. `label` is the header's charset; one that nobody knows counts as none. A character that the end of `bytes` cuts
/// through is left out where the end is not the page's own.
pub(crate) fn decode(bytes: &[u8], label: Option<&str>, declares: Declares, end: End) -> Decoded {
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, &bytes[length..]),
        None => (declared(bytes, label, declares).unwrap_or_else(|| guessed(bytes, end)), bytes),
    };
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let most = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
    let mut text = String::with_capacity(most.min(bytes.len() + bytes.len() / 2 + 64));
    let (mut read, mut is_replaced) = (0, false);
    loop {
        let last = end == End::Own;
        let (result, count, replaced) = decoder.decode_to_string(&bytes[read..], &mut text, last);
        read += count;
        is_replaced |= replaced;
        match result {
            encoding_rs::CoderResult::InputEmpty => break,
            encoding_rs::CoderResult::OutputFull => text.reserve(bytes.len() - read + 64),
        }
    }
    Decoded { text, charset: encoding.name(), is_replaced }
}

/// Where the bytes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Where the page ends.
    Own,
    /// Where it was cut.
    Cut,
}

fn declared(bytes: &[u8], label: Option<&str>, declares: Declares) -> Option<&'static Encoding> {
    let by_header = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    by_header.or_else(|| match declares {
        Declares::Itself => by_page(&bytes[..bytes.len().min(PRESCAN)]),
        Declares::Nothing => None,
    })
}

/// `charset=` in a meta tag or `encoding=` in an XML declaration. A page that says UTF-16 in bytes that can be read does not
/// mean it (HTML).
fn by_page(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let in_xml = head.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
    let xml = in_xml.and_then(|(declaration, _)| value(declaration, "encoding"));
    let mut tags = head.split("<meta").skip(1).map(|rest| rest.split('>').next().unwrap_or(rest));
    let label = xml.or_else(|| tags.find_map(|tag| value(tag, "charset")))?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    Some(if encoding == encoding_rs::UTF_16BE || encoding == encoding_rs::UTF_16LE {
        UTF_8
    } else {
        encoding
    })
}

fn value<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    rest.split(['"', '\'', ';', ' ', '/', '\n', '\r', '\t'])
        .next()
        .filter(|label| !label.is_empty())
}

fn guessed(bytes: &[u8], end: End) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        Err(error) if end == End::Cut && error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], label: Option<&str>) -> (String, &'static str, bool) {
        let Decoded { text, charset, is_replaced } =
            decode(bytes, label, Declares::Itself, End::Own);
        (text, charset, is_replaced)
    }

    #[test]
    fn mark_then_header_then_page_then_guess() {
        let text = |text: &str, charset| (text.to_owned(), charset, false);
        assert_eq!(read(b"\xef\xbb\xbfa", Some("gbk")), text("a", "UTF-8"));
        assert_eq!(read(b"\xff\xfea\0", None), text("a", "UTF-16LE"));
        assert_eq!(read(b"\xd6\xd0", Some("GBK")), text("中", "GBK"));
        let page = b"<meta charset=\"Shift_JIS\">\x93\xfa";
        assert_eq!(read(page, None).1, "Shift_JIS");
        assert_eq!(read(page, Some("utf-8")).1, "UTF-8");
        let old =
            b"<meta http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1251\">\xef";
        assert_eq!(read(old, None).1, "windows-1251");
        assert_eq!(read(b"<?xml version='1.0' encoding='iso-8859-2'?>", None).1, "ISO-8859-2");
        assert_eq!(read(b"<meta charset=utf-16>a", None).1, "UTF-8");
        assert_eq!(read("é".as_bytes(), Some("nonsense-9")), text("é", "UTF-8"));
        assert_eq!(read(b"caf\xe9", None), text("café", "windows-1252"));
    }

    #[test]
    fn what_is_no_character_is_replaced_and_told_but_not_where_the_page_was_cut() {
        assert_eq!(read(b"a\xff", Some("utf-8")), ("a\u{fffd}".to_owned(), "UTF-8", true));
        let cut = decode(b"a\xe4\xb8", None, Declares::Itself, End::Cut);
        assert_eq!(cut, Decoded { text: "a".to_owned(), charset: "UTF-8", is_replaced: false });
    }
}
