//! Reads lines of bounded length, holding no more of one than the limit.
//!
//! What a line means is the codec's business.

use std::io;

use brattice_protocol::codec::MAX_MESSAGE;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextLine {
    /// A whole line, without its newline.
    Line(Vec<u8>),
    /// More than [`MAX_MESSAGE`] bytes without a newline. The rest of the line is not read.
    TooLong,
    /// The peer closed its side; half a line before that is no line.
    End,
}

/// A stream of lines.
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    partial: Vec<u8>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        LineReader { input: BufReader::new(input), partial: Vec::new() }
    }

    /// The next line. Cancel safe: what was read stays in `self`.
    pub(super) async fn next(&mut self) -> io::Result<NextLine> {
        loop {
            let chunk = self.input.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(NextLine::End);
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let taken = newline.unwrap_or(chunk.len());
            let length = self.partial.len() + taken;
            if length > MAX_MESSAGE {
                return Ok(NextLine::TooLong);
            }
            if length > self.partial.capacity() {
                // Doubling, as `Vec` does, but never past the limit.
                let capacity = (self.partial.capacity() * 2).clamp(length, MAX_MESSAGE);
                self.partial.reserve_exact(capacity - self.partial.len());
            }
            self.partial.extend_from_slice(&chunk[..taken]);
            self.input.consume(taken + usize::from(newline.is_some()));
            if newline.is_some() {
                return Ok(NextLine::Line(std::mem::take(&mut self.partial)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8]) -> Vec<NextLine> {
        let mut reader = LineReader::new(input);
        let mut seen = Vec::new();
        loop {
            let next = reader.next().await.unwrap();
            let last = !matches!(next, NextLine::Line(_));
            seen.push(next);
            if last {
                return seen;
            }
        }
    }

    #[tokio::test]
    async fn splits_at_newlines_and_drops_half_a_line_at_the_end() {
        assert_eq!(
            all(b"one\n\ntwo\nhal").await,
            [
                NextLine::Line(b"one".to_vec()),
                NextLine::Line(Vec::new()),
                NextLine::Line(b"two".to_vec()),
                NextLine::End
            ]
        );
    }

    #[tokio::test]
    async fn takes_a_line_of_exactly_the_limit_and_refuses_one_byte_more() {
        let mut input = vec![b'x'; MAX_MESSAGE];
        input.push(b'\n');
        let seen = all(&input).await;
        assert_eq!(seen, [NextLine::Line(vec![b'x'; MAX_MESSAGE]), NextLine::End]);

        input.insert(0, b'x');
        assert_eq!(all(&input).await, [NextLine::TooLong]);
    }

    #[tokio::test]
    async fn holds_no_more_of_an_endless_line_than_the_limit() {
        let mut reader = LineReader::new(tokio::io::repeat(b'x'));
        assert_eq!(reader.next().await.unwrap(), NextLine::TooLong);
        assert!(reader.partial.capacity() <= MAX_MESSAGE);
    }
}
