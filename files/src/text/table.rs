//! How binary formats begin.

/// Whether the first bytes alone decide, or only together with a NUL somewhere in the probe: some are letters that a
/// text may begin with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    Enough,
    WithNul,
}

/// A name for people, the place, the bytes. The first that fits is taken.
pub(super) const FORMATS: [(&str, usize, &[u8], Evidence); 46] = [
    ("PNG image", 0, b"\x89PNG\r\n\x1a\n", Evidence::Enough),
    ("JPEG image", 0, b"\xff\xd8\xff", Evidence::Enough),
    ("GIF image", 0, b"GIF87a", Evidence::Enough),
    ("GIF image", 0, b"GIF89a", Evidence::Enough),
    ("WebP image", 8, b"WEBPVP8", Evidence::WithNul),
    ("WAV audio", 8, b"WAVEfmt ", Evidence::WithNul),
    ("AVI video", 8, b"AVI LIST", Evidence::WithNul),
    ("TIFF image", 0, b"II*\0", Evidence::Enough),
    ("TIFF image", 0, b"MM\0*", Evidence::Enough),
    ("BMP image", 0, b"BM", Evidence::WithNul),
    ("icon", 0, b"\0\0\x01\0", Evidence::Enough),
    ("AVIF image", 4, b"ftypavif", Evidence::WithNul),
    ("HEIC image", 4, b"ftypheic", Evidence::WithNul),
    ("MP4 video", 4, b"ftyp", Evidence::WithNul),
    ("Matroska video", 0, b"\x1a\x45\xdf\xa3", Evidence::Enough),
    ("Ogg audio", 0, b"OggS", Evidence::WithNul),
    ("FLAC audio", 0, b"fLaC", Evidence::WithNul),
    ("MP3 audio", 0, b"ID3", Evidence::WithNul),
    ("PDF document", 0, b"%PDF-", Evidence::Enough),
    ("OpenDocument file", 30, b"mimetypeapplication/vnd.oasis.opendocument", Evidence::Enough),
    ("EPUB book", 30, b"mimetypeapplication/epub+zip", Evidence::Enough),
    ("Office document", 30, b"[Content_Types].xml", Evidence::Enough),
    ("zip archive", 0, b"PK\x03\x04", Evidence::Enough),
    ("zip archive", 0, b"PK\x05\x06", Evidence::Enough),
    ("gzip data", 0, b"\x1f\x8b", Evidence::Enough),
    ("bzip2 data", 0, b"BZh", Evidence::WithNul),
    ("xz data", 0, b"\xfd7zXZ\0", Evidence::Enough),
    ("zstd data", 0, b"\x28\xb5\x2f\xfd", Evidence::Enough),
    ("7-Zip archive", 0, b"7z\xbc\xaf\x27\x1c", Evidence::Enough),
    ("RAR archive", 0, b"Rar!\x1a\x07", Evidence::Enough),
    ("tar archive", 257, b"ustar", Evidence::WithNul),
    ("ar archive", 0, b"!<arch>\n", Evidence::WithNul),
    ("Debian package", 0, b"!<arch>\ndebian-binary", Evidence::Enough),
    ("RPM package", 0, b"\xed\xab\xee\xdb", Evidence::Enough),
    ("ELF program", 0, b"\x7fELF", Evidence::Enough),
    ("Mach-O program", 0, b"\xcf\xfa\xed\xfe", Evidence::Enough),
    ("Java class", 0, b"\xca\xfe\xba\xbe", Evidence::Enough),
    ("Windows program", 0, b"MZ", Evidence::WithNul),
    ("WebAssembly module", 0, b"\0asm", Evidence::Enough),
    ("SQLite database", 0, b"SQLite format 3\0", Evidence::Enough),
    ("TrueType font", 0, b"\0\x01\0\0", Evidence::Enough),
    ("OpenType font", 0, b"OTTO", Evidence::WithNul),
    ("WOFF font", 0, b"wOFF", Evidence::WithNul),
    ("WOFF2 font", 0, b"wOF2", Evidence::WithNul),
    ("UTF-32 text", 0, b"\xff\xfe\0\0", Evidence::Enough),
    ("UTF-32 text", 0, b"\0\0\xfe\xff", Evidence::Enough),
];
