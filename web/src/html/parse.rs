//! From a page's text to its tree, within a time and a number of nodes. What is beyond either is left out, and said.

use std::time::Instant;

use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

use super::sink::Sink;
use super::tree::Tree;

/// Bytes after which time and size are looked at. They stand for as many elements as are open, times eighty.
const PIECE: usize = 256;

/// Whether all of something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// Its beginning.
    Beginning,
}

/// The end of the last character that is whole within so many bytes.
fn boundary(text: &str, most: usize) -> usize {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Parses as much as the deadline and the cap allow.
pub(super) fn parse(text: &str, deadline: Instant) -> (Tree, Extent) {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let mut parser = parse_document(Sink::new(), options);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(boundary(rest, PIECE));
        parser.process(StrTendril::from_slice(piece));
        rest = after;
        if parser.tokenizer.sink.sink.is_full() || Instant::now() >= deadline {
            break;
        }
    }
    let is_whole = rest.is_empty() && !parser.tokenizer.sink.sink.is_full();
    (parser.finish(), if is_whole { Extent::Whole } else { Extent::Beginning })
}
