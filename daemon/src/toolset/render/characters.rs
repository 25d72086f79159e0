//! How many characters a stream has, read chunk after chunk: what a cut tells that leaves out the rest of it.

use super::decode::{Rest, count_characters, settled_length};
use crate::exec::spec::Chunk;

/// How long a stream is whose beginning is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamLength {
    /// As long as what was read of it to be shown.
    AsRead,
    /// So many characters.
    Characters(u64),
    /// More than so many: some of its bytes were not kept.
    MoreThan(u64),
}

/// Counts the characters of a stream that is read in order.
#[derive(Debug, Default)]
pub(crate) struct CharacterCount {
    characters: u64,
    /// A character's beginning at the end of what was read.
    torn: Vec<u8>,
    next: u64,
    missing: u64,
}

impl CharacterCount {
    /// Counts on.
    pub(crate) fn add(&mut self, chunk: &Chunk) {
        if chunk.offset > self.next {
            self.missing += chunk.offset - self.next;
            self.settle();
        }
        self.next = chunk.offset + chunk.data.len() as u64;
        let mut bytes = std::mem::take(&mut self.torn);
        bytes.extend_from_slice(&chunk.data);
        self.torn = bytes.split_off(settled_length(&bytes, Rest::MayCome));
        self.characters += count_characters(&bytes);
    }

    /// The offset up to which it was read.
    pub(crate) const fn end(&self) -> u64 {
        self.next
    }

    /// The length of the stream, which has so many bytes.
    pub(crate) fn finish(mut self, bytes: u64) -> StreamLength {
        self.settle();
        if self.missing == 0 && self.next >= bytes {
            StreamLength::Characters(self.characters)
        } else {
            StreamLength::MoreThan(self.characters)
        }
    }

    fn settle(&mut self) {
        self.characters += count_characters(&std::mem::take(&mut self.torn));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunk(data: &[u8], offset: u64) -> Chunk {
        Chunk { data: data.to_vec(), offset, skipped: 0 }
    }

    #[test]
    fn what_was_not_kept_is_not_counted_and_the_count_says_so() {
        let mut count = CharacterCount::default();
        count.add(&chunk("aé".as_bytes(), 0));
        count.add(&chunk("z".as_bytes(), 9));
        assert_eq!(count.end(), 10);
        assert_eq!(count.finish(10), StreamLength::MoreThan(3));
        let mut count = CharacterCount::default();
        count.add(&chunk("aé".as_bytes(), 0));
        assert_eq!(count.finish(4), StreamLength::MoreThan(2), "its end could not be read");
    }

    proptest! {
        #[test]
        fn a_count_is_that_of_the_whole_text(
            pieces in prop::collection::vec(prop_oneof![
                "\\PC{0,3}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..4),
            ], 0..12),
            step in 1_usize..7,
        ) {
            let bytes = pieces.concat();
            let mut count = CharacterCount::default();
            for data in bytes.chunks(step) {
                count.add(&chunk(data, count.end()));
            }
            let whole = String::from_utf8_lossy(&bytes).chars().count() as u64;
            prop_assert_eq!(count.finish(bytes.len() as u64), StreamLength::Characters(whole));
        }
    }
}
