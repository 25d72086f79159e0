//! A body of zstd as a stream: frames one after the other, those that are to be skipped left out (RFC 8878, 3.1). The decoder knows one
//! frame.
//!
//! A frame that breaks off is ended here, so that what had come of it is read before the fault is told: the decoder holds back as much
//! as its window is large, which may be a whole page.

use std::io::{self, BufRead as _, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window that a body may ask for (RFC 9659).
const WINDOW: u64 = 8 << 20;

/// A last block of no bytes, and four bytes for a checksum, which the decoder reads and does not look at.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// The frames of a body.
pub(crate) struct Frames<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    /// What is told once all that had come is read.
    fault: Option<io::Error>,
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Frames { source: BufReader::new(source), decoder, fault: None }
    }

    /// Goes on to the next frame that is to be read, or past one that is to be skipped.
    fn go_on(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => Ok(()),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                match skipped == length {
                    true => Ok(()),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                }
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Reads a block; where that fails, ends the frame.
    fn decode(&mut self) -> io::Result<()> {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        if let Err(error) = self.decoder.decode_blocks(&mut self.source, one) {
            let ended = self.decoder.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::All);
            ended.map_err(io::Error::other)?;
            self.fault = Some(io::Error::other(error));
        }
        Ok(())
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(piece);
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            if !self.decoder.is_finished() {
                self.decode()?;
            } else if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            } else {
                self.go_on()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

    /// A block as it stands.
    fn block(text: &str, is_last: u32) -> Vec<u8> {
        let head = (u32::try_from(text.len()).unwrap() << 3 | is_last).to_le_bytes();
        [&head[..3], text.as_bytes()].concat()
    }

    /// A frame with a window of 1 KiB.
    fn frame(blocks: &[Vec<u8>]) -> Vec<u8> {
        [&MAGIC[..], &[0, 0], &blocks.concat()].concat()
    }

    fn skipped(bytes: &[u8], kind: u8) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        [&[0x50 | kind, 0x2a, 0x4d, 0x18], &length[..], bytes].concat()
    }

    fn read(body: &[u8]) -> (String, Option<io::Error>) {
        let (mut frames, mut text) = (Frames::new(body), Vec::new());
        let fault = frames.read_to_end(&mut text).err();
        (String::from_utf8(text).unwrap(), fault)
    }

    #[test]
    fn all_frames_are_read_and_those_to_be_skipped_are() {
        let [one, two] = ["one, ", "two"].map(|text| frame(&[block(text, 1)]));
        let empty = frame(&[block("", 1)]);
        for body in [
            [one.clone(), two.clone()].concat(),
            [one.clone(), empty.clone(), two.clone()].concat(),
            [skipped(b"x", 0), one.clone(), skipped(b"", 15), two.clone()].concat(),
            [one, skipped(&[7; 100_000], 3), two, skipped(b"y", 1), empty].concat(),
        ] {
            let (text, fault) = read(&body);
            assert!(fault.is_none(), "{fault:?}");
            assert_eq!(text, "one, two");
        }
        assert_eq!(read(&skipped(b"x", 0)).0, "");
    }

    #[test]
    fn what_had_come_is_read_before_the_fault() {
        let whole = frame(&[block("one, ", 0), block("two", 1)]);
        let broken = [&whole[..], &whole[..whole.len() - 4]].concat();
        let (text, fault) = read(&broken);
        assert_eq!((text.as_str(), fault.is_some()), ("one, twoone, ", true));
        let (text, fault) = read(&[&whole[..], b"no frame"].concat());
        assert_eq!((text.as_str(), fault.is_some()), ("one, two", true));
        let skip = skipped(b"four", 0);
        let (text, fault) = read(&[&whole[..], &skip[..skip.len() - 1]].concat());
        let kind = fault.map(|fault| fault.kind());
        assert_eq!((text.as_str(), kind), ("one, two", Some(io::ErrorKind::UnexpectedEof)));
    }
}
