//! What a body is: by its header, and where that says nothing or anything, by its first bytes.

/// A kind of body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// Laid out as Markdown.
    Html,
    /// Shown as it is.
    Text,
    /// Named, not shown.
    Other {
        /// What people call it.
        name: &'static str,
    },
}

/// A `Content-Type`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentType {
    /// Type and subtype, in lower case; empty where there is none.
    pub(crate) essence: String,
    /// Its charset.
    pub(crate) charset: Option<String>,
}

impl ContentType {
    pub(crate) fn parse(value: &str) -> Self {
        let mut parts = value.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        ContentType { essence, charset: charset.filter(|label| !label.is_empty()) }
    }
}

/// Files by their first bytes.
const MAGIC: [(&[u8], &str); 10] = [
    (b"%PDF-", "PDF"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"\x7fELF", "ELF program"),
    (b"\0asm", "WebAssembly module"),
];

/// The same with first bytes that a text may begin with, too.
const WORDS: [(&[u8], &str); 6] = [
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"RIFF", "RIFF file (image, sound or video)"),
    (b"BZh", "bzip2 archive"),
    (b"OggS", "Ogg file"),
    (b"ID3", "MP3 sound"),
];

/// Bytes that are looked at.
const LOOK: usize = 1024;

/// What this body is.
pub(crate) fn media(essence: &str, bytes: &[u8]) -> Media {
    let head = &bytes[..bytes.len().min(LOOK)];
    let (kind, subtype) = essence.split_once('/').unwrap_or((essence, ""));
    let words = if kind == "text" && !holds_control(head) { &[][..] } else { &WORDS[..] };
    if let Some((_, name)) = MAGIC.iter().chain(words).find(|(magic, _)| head.starts_with(magic)) {
        return Media::Other { name };
    }
    match (kind, subtype) {
        ("text", "html") | ("application", "xhtml+xml") => Media::Html,
        ("image", "svg+xml") => Media::Text,
        ("image", _) => Media::Other { name: "image" },
        ("audio", _) => Media::Other { name: "sound" },
        ("video", _) => Media::Other { name: "video" },
        ("font", _) => Media::Other { name: "font" },
        _ if is_binary(head) => Media::Other { name: "binary file" },
        // A server that knows nothing better may still send a page.
        ("" | "application", "" | "octet-stream") if is_html(head) => Media::Html,
        _ => Media::Text,
    }
}

/// NUL is in no text, but for UTF-16's, which begins with its mark.
fn is_binary(head: &[u8]) -> bool {
    let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    !is_wide && head.contains(&0)
}

/// Control characters that are in no text. Escapes may be in one: of logs, and of charsets that shift.
fn holds_control(head: &[u8]) -> bool {
    head.iter().any(|byte| byte.is_ascii_control() && !b"\t\n\x0b\x0c\r\x0e\x0f\x1b".contains(byte))
}

fn is_html(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| text.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_type_is_read_whatever_its_case_and_quotes() {
        let read = |value| {
            let ContentType { essence, charset } = ContentType::parse(value);
            (essence, charset)
        };
        let html = |charset: Option<&str>| ("text/html".to_owned(), charset.map(str::to_owned));
        assert_eq!(read("Text/HTML; Charset=\"GBK\""), html(Some("GBK")));
        assert_eq!(read("text/html;level=1;charset=utf-8"), html(Some("utf-8")));
        assert_eq!(read("text/html; charset="), html(None));
        assert_eq!(ContentType::parse(""), ContentType::default());
    }

    #[test]
    fn bytes_count_more_than_what_a_server_says() {
        let other = |name| Media::Other { name };
        let kinds = [
            ("text/html", &b"<p>"[..], Media::Html),
            ("application/xhtml+xml", b"<html>", Media::Html),
            ("", b"  <!DOCTYPE html><p>", Media::Html),
            ("application/octet-stream", b"<html>", Media::Html),
            ("", b"plain", Media::Text),
            ("application/json", b"{}", Media::Text),
            ("image/svg+xml", b"<svg>", Media::Text),
            ("text/markdown", b"# x", Media::Text),
            ("text/plain", b"<html>", Media::Text),
            ("text/html", b"%PDF-1.7", other("PDF")),
            ("application/pdf", b"%PDF-1.7", other("PDF")),
            ("text/plain", b"PK\x03\x04", other("ZIP archive")),
            ("image/webp", b"RIFFxxxx", other("RIFF file (image, sound or video)")),
            ("image/x-unknown", b"abc", other("image")),
            ("text/plain", b"ID3 tags are read by\r\n\tall players", Media::Text),
            ("text/html", b"RIFFs of the year", Media::Html),
            ("text/markdown", b"OggS is the capture pattern", Media::Text),
            ("text/plain", b"BZh and \x1b[1mmore", Media::Text),
            ("text/plain", b"GIF89a, the format", Media::Text),
            ("text/plain", b"ID3\x04\0\0", other("MP3 sound")),
            ("text/html", b"BZh91AY&SY\x01", other("bzip2 archive")),
            ("", b"OggS", other("Ogg file")),
            ("application/octet-stream", b"RIFF", other("RIFF file (image, sound or video)")),
            ("text/plain", b"a\0b", other("binary file")),
            ("text/plain", b"\xff\xfea\0", Media::Text),
        ];
        for (essence, bytes, wanted) in kinds {
            assert_eq!(media(essence, bytes), wanted, "{essence}");
        }
    }
}
