//! A body as bytes: no longer compressed, counted after that, and cut with its beginning kept.

use std::io::{self, BufReader, Read};
use std::time::Instant;

use brotli_decompressor::Decompressor;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

use crate::fault::PageFault;
use crate::page::Cut;

/// Bytes read at once.
const PIECE: usize = 16 << 10;

/// The largest window that a zstd body may ask for (RFC 9659).
const ZSTD_WINDOW: u64 = 8 << 20;

/// Encodings one in the other that are undone.
const MOST_LAYERS: usize = 2;

/// What came of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: Option<Cut>,
}

/// Reads a body with this `Content-Encoding` up to `most` bytes, or until the time is over.
///
/// # Errors
/// [`PageFault::Encoding`], and [`PageFault::Body`] where not even its beginning can be read.
pub(crate) fn take(
    body: impl Read + 'static,
    encoding: Option<&str>,
    most: usize,
    until: Instant,
    seconds: u64,
) -> Result<Taken, PageFault> {
    let mut body = decoded(Box::new(body), encoding)?;
    let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE]);
    let cut = loop {
        if Instant::now() >= until {
            break Some(Cut::Time { seconds });
        }
        match body.read(&mut piece) {
            Ok(0) => break None,
            Ok(count) if bytes.len() + count > most => {
                bytes.extend_from_slice(&piece[..most - bytes.len()]);
                break Some(Cut::Size { kept: most as u64 });
            }
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_late(&error) => break Some(Cut::Time { seconds }),
            Err(error) if bytes.is_empty() => {
                return Err(PageFault::Body { reason: error.to_string() });
            }
            Err(_) => break Some(Cut::Broken),
        }
    };
    Ok(Taken { bytes, cut })
}

fn is_late(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    error.kind() == io::ErrorKind::TimedOut || matches!(inner, Some(ureq::Error::Timeout(_)))
}

fn decoded(body: Box<dyn Read>, encoding: Option<&str>) -> Result<Box<dyn Read>, PageFault> {
    let encoding = encoding.unwrap_or_default();
    let unknown = || PageFault::Encoding { encoding: encoding.to_owned() };
    let layers: Vec<_> =
        encoding.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if layers.len() > MOST_LAYERS {
        return Err(unknown());
    }
    // The last that was applied is named last, and undone first.
    layers.iter().rev().try_fold(body, |body, layer| match layer.to_ascii_lowercase().as_str() {
        "identity" => Ok(body),
        "gzip" | "x-gzip" => Ok(Box::new(MultiGzDecoder::new(BufReader::new(body))) as _),
        "deflate" => deflate(body),
        "br" => brotli(body),
        "zstd" => zstd(body),
        _ => Err(unknown()),
    })
}

/// `deflate` means zlib's format (RFC 9110), but servers that send it bare are about.
fn deflate(body: Box<dyn Read>) -> Result<Box<dyn Read>, PageFault> {
    let (first, body) = begun::<2>(body)?;
    let is_zlib = matches!(first[..], [method, flags]
        if method & 0x0f == 8 && u16::from_be_bytes([method, flags]).is_multiple_of(31));
    let body = BufReader::new(body);
    Ok(if is_zlib { Box::new(ZlibDecoder::new(body)) } else { Box::new(DeflateDecoder::new(body)) })
}

/// The format's large windows, up to a gigabyte, are no content coding (RFC 7932 ends at 16 MiB).
fn brotli(body: Box<dyn Read>) -> Result<Box<dyn Read>, PageFault> {
    let (first, body) = begun::<1>(body)?;
    if first.first().is_some_and(|byte| byte & 0x7f == 0x11) {
        let reason = "it asks for a window that web pages do not have".to_owned();
        return Err(PageFault::Body { reason });
    }
    Ok(Box::new(Decompressor::new(body, PIECE)))
}

fn zstd(body: Box<dyn Read>) -> Result<Box<dyn Read>, PageFault> {
    let decoder = StreamingDecoder::new_with_max_window_size(body, ZSTD_WINDOW);
    decoder
        .map(|decoder| Box::new(decoder) as _)
        .map_err(|error| PageFault::Body { reason: error.to_string() })
}

/// The first bytes of a body, and the whole of it again.
fn begun<const COUNT: u64>(mut body: Box<dyn Read>) -> Result<(Vec<u8>, Box<dyn Read>), PageFault> {
    let mut first = Vec::new();
    let read = body.by_ref().take(COUNT).read_to_end(&mut first);
    read.map_err(|error| PageFault::Body { reason: error.to_string() })?;
    Ok((first.clone(), Box::new(io::Cursor::new(first).chain(body))))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &[u8] = b"hello hello hello";

    /// The text as other programs compress it.
    const BROTLI: &str = "1b1000f88d946ede445586966c206f014f1c601c";
    const ZSTD: &str = "28b52ffd04586500003068656c6c6f200100314a11a2ed1e0c";

    fn bytes(hex: &str) -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(byte).collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn taken(bytes: Vec<u8>, encoding: &str, most: usize) -> Result<Taken, PageFault> {
        let until = Instant::now() + Duration::from_secs(60);
        take(io::Cursor::new(bytes), Some(encoding), most, until, 60)
    }

    #[test]
    fn every_encoding_that_is_asked_for_can_be_read() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(TEXT).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(TEXT).unwrap();
        let bodies = [
            ("identity", TEXT.to_vec()),
            ("", TEXT.to_vec()),
            ("gzip", gzip(TEXT)),
            ("X-GZIP", gzip(TEXT)),
            ("gzip, gzip", gzip(&gzip(TEXT))),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", bare.finish().unwrap()),
            ("br", bytes(BROTLI)),
            ("zstd", bytes(ZSTD)),
        ];
        for (encoding, body) in bodies {
            let whole = Taken { bytes: TEXT.to_vec(), cut: None };
            assert_eq!(taken(body, encoding, 1000), Ok(whole), "{encoding}");
        }
        let unknown = PageFault::Encoding { encoding: "compress".to_owned() };
        assert_eq!(taken(TEXT.to_vec(), "compress", 1000), Err(unknown));
        assert!(matches!(
            taken(gzip(TEXT), "gzip, gzip, gzip", 9),
            Err(PageFault::Encoding { .. })
        ));
    }

    #[test]
    fn bytes_are_counted_after_decompression_and_the_beginning_is_kept() {
        let bomb = gzip(&vec![b'A'; 64 << 20]);
        let Taken { bytes, cut } = taken(bomb, "gzip", 5 << 20).unwrap();
        assert_eq!((bytes.len(), cut), (5 << 20, Some(Cut::Size { kept: 5 << 20 })));
        let exact = Taken { bytes: TEXT.to_vec(), cut: None };
        assert_eq!(taken(TEXT.to_vec(), "", TEXT.len()), Ok(exact));
    }

    #[test]
    fn what_breaks_off_is_kept_and_what_never_began_is_a_fault() {
        let text: Vec<u8> =
            (0..200_000_u32).flat_map(|number| (number ^ number << 7).to_le_bytes()).collect();
        let mut broken = gzip(&text);
        broken.truncate(broken.len() / 2);
        let Taken { bytes, cut } = taken(broken, "gzip", 5 << 20).unwrap();
        assert_eq!((bytes == text[..bytes.len()], cut), (true, Some(Cut::Broken)));
        assert!(matches!(taken(TEXT.to_vec(), "gzip", 9), Err(PageFault::Body { .. })));
        assert!(matches!(taken(TEXT.to_vec(), "zstd", 9), Err(PageFault::Body { .. })));
    }

    #[test]
    fn windows_beyond_those_of_web_pages_are_refused() {
        assert!(matches!(taken(vec![0x11, 0x3e, 0, 0], "br", 9), Err(PageFault::Body { .. })));
        // A frame without content size that asks for 2^27 bytes.
        let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 1, 0, 0];
        assert!(matches!(taken(zstd.to_vec(), "zstd", 9), Err(PageFault::Body { .. })));
    }
}
