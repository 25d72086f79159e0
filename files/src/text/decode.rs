//! Bytes to characters, piece by piece: a character may be cut by the end of a piece, never by the result.

use super::probe::Encoding;

/// Who takes the characters.
pub(crate) trait Sink {
    /// Characters as they stand in the file.
    fn text(&mut self, text: &str);
    /// A place where the file holds no character.
    fn replaced(&mut self);
}

/// Decodes one file. Bytes after the mark only.
pub(crate) struct Decoder {
    encoding: Encoding,
    /// The beginning of a character whose rest is still to come.
    held: Vec<u8>,
    /// A UTF-16 surrogate that waits for its second half.
    high: Surrogate,
}

enum Surrogate {
    None,
    High(u16),
}

impl Decoder {
    pub(crate) fn new(encoding: Encoding) -> Self {
        Decoder { encoding, held: Vec::new(), high: Surrogate::None }
    }

    pub(crate) fn piece(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        match self.encoding {
            Encoding::Utf8 | Encoding::Utf8WithMark => self.utf8(bytes, sink),
            Encoding::Utf16Little => self.utf16(bytes, u16::from_le_bytes, sink),
            Encoding::Utf16Big => self.utf16(bytes, u16::from_be_bytes, sink),
        }
    }

    /// The file is over: what is still held is no character.
    pub(crate) fn finish(self, sink: &mut impl Sink) {
        if let Surrogate::High(_) = self.high {
            sink.replaced();
        }
        if !self.held.is_empty() {
            sink.replaced();
        }
    }

    fn utf8(&mut self, mut bytes: &[u8], sink: &mut impl Sink) {
        while !self.held.is_empty() {
            // A character has four bytes at most, so this takes few turns.
            let Some((next, rest)) = bytes.split_first() else {
                return;
            };
            self.held.push(*next);
            match std::str::from_utf8(&self.held) {
                Ok(text) => {
                    sink.text(text);
                    self.held.clear();
                    bytes = rest;
                }
                Err(error) if error.error_len().is_none() => bytes = rest,
                Err(_) => {
                    // The byte that broke it may begin the next character.
                    self.held.clear();
                    sink.replaced();
                }
            }
        }
        loop {
            match std::str::from_utf8(bytes) {
                Ok(text) => return sink.text(text),
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    if let Ok(text) = std::str::from_utf8(valid) {
                        sink.text(text);
                    }
                    let Some(length) = error.error_len() else {
                        self.held.extend_from_slice(rest);
                        return;
                    };
                    sink.replaced();
                    bytes = &rest[length..];
                }
            }
        }
    }

    fn utf16(&mut self, bytes: &[u8], unit: fn([u8; 2]) -> u16, sink: &mut impl Sink) {
        let mut text = String::with_capacity(bytes.len());
        for byte in bytes {
            self.held.push(*byte);
            let [first, second] = self.held[..] else {
                continue;
            };
            self.held.clear();
            self.unit(unit([first, second]), &mut text, sink);
        }
        sink.text(&text);
    }

    fn unit(&mut self, unit: u16, text: &mut String, sink: &mut impl Sink) {
        let mut lost = |text: &mut String| {
            sink.text(text);
            text.clear();
            sink.replaced();
        };
        if let Surrogate::High(high) = std::mem::replace(&mut self.high, Surrogate::None) {
            match char::decode_utf16([high, unit]).next() {
                Some(Ok(character)) => return text.push(character),
                _ => lost(text),
            }
        }
        match unit {
            0xd800..0xdc00 => self.high = Surrogate::High(unit),
            0xdc00..0xe000 => lost(text),
            _ => text.extend(char::from_u32(u32::from(unit))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct Text(String, usize);

    impl Sink for Text {
        fn text(&mut self, text: &str) {
            self.0.push_str(text);
        }
        fn replaced(&mut self) {
            self.0.push('\u{fffd}');
            self.1 += 1;
        }
    }

    fn decoded(encoding: Encoding, pieces: &[&[u8]]) -> (String, usize) {
        let mut text = Text::default();
        let mut decoder = Decoder::new(encoding);
        for piece in pieces {
            decoder.piece(piece, &mut text);
        }
        decoder.finish(&mut text);
        (text.0, text.1)
    }

    #[test]
    fn half_a_surrogate_is_replaced() {
        let bytes =
            |units: &[u16]| units.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<_>>();
        let text = |units: &[u16]| decoded(Encoding::Utf16Big, &[&bytes(units)]);
        assert_eq!(text(&[0xd83d, 0xde00]), ("😀".to_owned(), 0));
        assert_eq!(text(&[0xd83d, 0x41]), ("\u{fffd}A".to_owned(), 1));
        assert_eq!(text(&[0x42, 0xde00, 0x41]), ("B\u{fffd}A".to_owned(), 1));
        assert_eq!(text(&[0xd83d]), ("\u{fffd}".to_owned(), 1));
        assert_eq!(decoded(Encoding::Utf16Little, &[b"a\0b"]), ("a\u{fffd}".to_owned(), 1));
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xe8), Just(0xaa), Just(0x9e)], 0..60), cut in 0_usize..60, second in 0_usize..60) {
            let cut = cut.min(bytes.len());
            let second = second.clamp(cut, bytes.len());
            let whole = decoded(Encoding::Utf8, &[&bytes]);
            prop_assert_eq!(&whole.0, &String::from_utf8_lossy(&bytes));
            prop_assert_eq!(&whole, &decoded(Encoding::Utf8, &[&bytes[..cut], &bytes[cut..second], &bytes[second..]]));
        }

        #[test]
        fn utf16_is_what_it_was(text in any::<String>(), cut in 0_usize..60) {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let (one, other) = little.split_at(cut.min(little.len()));
            prop_assert_eq!(decoded(Encoding::Utf16Little, &[one, other]), (text, 0));
        }
    }
}
