//! A body as bytes: no longer compressed, counted after that, and cut with its beginning kept.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;
use std::time::Instant;

use brotli_decompressor::Decompressor;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::fault::PageFault;
use crate::page::{Cut, cut_at};
use crate::zstd::Frames;

/// Bytes read at once.
const PIECE: usize = 16 << 10;

/// Encodings one in the other that are undone.
const MOST_LAYERS: usize = 2;

/// Bytes of an encoding's name that are told.
const MOST_NAME: usize = 100;

/// What came of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: Option<Cut>,
}

/// A body as it comes. What became of it is known here, whatever a decoder above makes of a fault.
struct Wire<R> {
    body: R,
    until: Instant,
    is_late: Rc<Cell<bool>>,
}

impl<R: Read> Read for Wire<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        // A decoder may ask for more and more without having anything to give.
        let read = match Instant::now() >= self.until {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => self.body.read(piece),
        };
        if read.as_ref().is_err_and(is_late) {
            self.is_late.set(true);
        }
        read
    }
}

/// Reads a body with this `Content-Encoding` up to `most` bytes, or until the time is over. One of no bytes is empty in every encoding.
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
    let is_late = Rc::new(Cell::new(false));
    let wire = Wire { body, until, is_late: is_late.clone() };
    let opened = begun::<1>(Box::new(wire)).and_then(|(first, body)| match first.is_empty() {
        true => Ok(body),
        false => decoded(body, encoding),
    });
    let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE]);
    let mut body = match opened {
        Ok(body) => body,
        Err(_) if is_late.get() => return Ok(Taken { bytes, cut: Some(Cut::Time { seconds }) }),
        Err(fault) => return Err(fault),
    };
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
            Err(_) if is_late.get() => break Some(Cut::Time { seconds }),
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
    let unknown = || {
        let mut encoding = encoding.to_owned();
        cut_at(&mut encoding, MOST_NAME);
        PageFault::Encoding { encoding }
    };
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
        "zstd" => Ok(Box::new(Frames::new(body)) as _),
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
        let unknown = |name: &str| Err(PageFault::Encoding { encoding: name.to_owned() });
        assert_eq!(taken(TEXT.to_vec(), "compress", 1000), unknown("compress"));
        let long = "x".repeat(60_000);
        assert_eq!(taken(TEXT.to_vec(), &long, 1000), unknown(&long[..MOST_NAME]));
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

    /// Gives its bytes, and then nothing until the time is over.
    struct Stuck(io::Cursor<Vec<u8>>);

    impl Read for Stuck {
        fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
            match self.0.read(piece)? {
                0 => Err(io::Error::other(ureq::Error::Timeout(ureq::Timeout::Global))),
                count => Ok(count),
            }
        }
    }

    fn stuck(bytes: &[u8], encoding: &str) -> Result<Taken, PageFault> {
        let until = Instant::now() + Duration::from_secs(60);
        take(Stuck(io::Cursor::new(bytes.to_vec())), Some(encoding), 5 << 20, until, 60)
    }

    #[test]
    fn what_comes_too_slowly_is_cut_by_time_in_every_encoding() {
        let text: Vec<u8> =
            (0..200_000_u32).flat_map(|number| (number ^ number << 7).to_le_bytes()).collect();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(&text).unwrap();
        let late = Some(Cut::Time { seconds: 60 });
        let whole = |text: &[u8], body: Vec<u8>| (text.to_vec(), body);
        for (encoding, (text, body)) in [
            ("identity", whole(&text, text.clone())),
            ("gzip", whole(&text, gzip(&text))),
            ("gzip, gzip", whole(&text, gzip(&gzip(&text)))),
            ("deflate", whole(&text, zlib.finish().unwrap())),
            ("deflate", whole(&text, bare.finish().unwrap())),
            ("br", whole(TEXT, bytes(BROTLI))),
            ("zstd", whole(TEXT, bytes(ZSTD))),
        ] {
            for come in [0, 1, 2, 3, 5] {
                let Taken { bytes, cut } = stuck(&body[..come], encoding).unwrap();
                assert_eq!((text.starts_with(&bytes), cut), (true, late), "{encoding}, {come}");
            }
            let Taken { bytes, cut } = stuck(&body[..body.len() / 2], encoding).unwrap();
            assert_eq!((text.starts_with(&bytes), cut), (true, late), "{encoding}");
            // The two short ones are a block each.
            assert!(bytes.len() > 100_000 || text.len() < 100, "{encoding}: {}", bytes.len());
        }
    }

    #[test]
    fn no_bytes_are_an_empty_body_in_every_encoding() {
        for encoding in ["", "identity", "gzip", "gzip, gzip", "deflate", "br", "zstd", "compress"]
        {
            let empty = Taken { bytes: Vec::new(), cut: None };
            assert_eq!(taken(Vec::new(), encoding, 9), Ok(empty), "{encoding}");
        }
    }

    #[test]
    fn a_decoder_that_has_nothing_to_give_ends_with_the_time() {
        /// Frames that are to be skipped, without end.
        struct Endless(usize);
        impl Read for Endless {
            fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
                for byte in &mut *piece {
                    *byte = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0][self.0 % 8];
                    self.0 += 1;
                }
                Ok(piece.len())
            }
        }
        let until = Instant::now() + Duration::from_millis(50);
        let late = Taken { bytes: Vec::new(), cut: Some(Cut::Time { seconds: 1 }) };
        assert_eq!(take(Endless(0), Some("zstd"), 9, until, 1), Ok(late));
    }

    #[test]
    fn windows_beyond_those_of_web_pages_are_refused() {
        assert!(matches!(taken(vec![0x11, 0x3e, 0, 0], "br", 9), Err(PageFault::Body { .. })));
        // A frame without content size that asks for 2^27 bytes.
        let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 1, 0, 0];
        assert!(matches!(taken(zstd.to_vec(), "zstd", 9), Err(PageFault::Body { .. })));
    }
}
