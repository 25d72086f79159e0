//! What bytes become as characters, and where they may be cut.

use brattice_protocol::session::ToolsetName;
use proptest::prelude::*;

use super::*;
use crate::toolset::Toolset;

fn rules(kept_bytes: usize, nul: Nul) -> OutputRules {
    OutputRules { kept_bytes, nul, ..Toolset::of(ToolsetName::Standard).output }
}

fn decode(data: &[u8], offset: u64, kept_bytes: usize) -> (String, u64, u64, u64) {
    let tail = decode_tail(Stretch { data, offset }, 0, &rules(kept_bytes, Nul::Symbol));
    (tail.shown().to_owned(), tail.from, tail.to, tail.invalid)
}

#[test]
fn b041_bytes_that_are_no_utf8_are_shown_and_counted() {
    assert_eq!(
        decode(b"caf\xe9 r\xe9sum\xe9\nend\n", 0, 100),
        ("caf\u{fffd} r\u{fffd}sum\u{fffd}\nend\n".to_owned(), 0, 16, 3)
    );
    assert_eq!(decode(b"\xe2\x82", 0, 100), ("\u{fffd}".to_owned(), 0, 2, 2));
}

#[test]
fn t047_a_character_that_was_written_in_halves_is_whole() {
    let halves = [b"\xe2".as_slice(), b"\x82\xac\n"].concat();
    assert_eq!(decode(&halves, 0, 100), ("€\n".to_owned(), 0, 4, 0));
}

#[test]
fn t049_nul_is_a_symbol_or_stays() {
    assert_eq!(decode(b"a\0b\n", 0, 100).0, "a␀b\n");
    let nul = Stretch { data: b"a\0b\n", offset: 0 };
    assert_eq!(decode_tail(nul, 0, &rules(100, Nul::Verbatim)).shown(), "a\0b\n");
}

#[test]
fn t045_a_cut_never_splits_a_character() {
    let euros = "€€€".as_bytes();
    assert_eq!(decode(euros, 0, 9), ("€€€".to_owned(), 0, 9, 0));
    assert_eq!(decode(euros, 0, 8), ("€€".to_owned(), 3, 9, 0));
    assert_eq!(decode(euros, 0, 6), ("€€".to_owned(), 3, 9, 0));
    assert_eq!(decode(euros, 0, 2), (String::new(), 9, 9, 0));
}

#[test]
fn a_torn_first_character_is_left_out_and_not_counted_as_invalid() {
    assert_eq!(decode(&"€€".as_bytes()[1..], 101, 100), ("€".to_owned(), 103, 106, 0));
    assert_eq!(decode(&"𝄞a".as_bytes()[1..], 1, 100), ("a".to_owned(), 4, 5, 0));
    assert_eq!(decode(b"\x80\x80\x80\x80", 1, 100), ("\u{fffd}".to_owned(), 4, 5, 1));
    assert_eq!(decode(b"\x80a", 0, 100), ("\u{fffd}a".to_owned(), 0, 2, 1));
}

#[test]
fn the_cap_holds_for_the_text_too() {
    let (text, from, to, invalid) = decode(&[0xff; 64_000], 0, 64_000);
    assert_eq!((text.len(), from, to, invalid), (63_999, 64_000 - 21_333, 64_000, 21_333));
    assert_eq!(decode(&[0; 10], 0, 9), ("␀␀␀".to_owned(), 7, 10, 0));
}

#[test]
fn an_empty_stream_shows_nothing() {
    assert_eq!(decode(b"", 0, 100), (String::new(), 0, 0, 0));
    assert_eq!(decode(b"", 7, 100), (String::new(), 7, 7, 0));
}

proptest! {
    #[test]
    fn any_bytes_decode_within_the_cap(
        data in proptest::collection::vec(any::<u8>(), 0..300),
        offset in prop_oneof![Just(0u64), 1u64..1_000_000],
        kept in 0usize..300,
    ) {
        let (text, from, to, invalid) = decode(&data, offset, kept);
        prop_assert!(text.len() <= kept);
        prop_assert!(offset <= from && from <= to);
        prop_assert!(to - from <= kept as u64);
        prop_assert_eq!(to, offset + data.len() as u64);
        prop_assert!(invalid <= to - from);
        prop_assert!(!text.contains('\0'));
        let shown = &data[(from - offset) as usize..];
        let whole = String::from_utf8_lossy(shown).replace('\0', "␀");
        prop_assert_eq!(text, whole);
    }

    #[test]
    fn any_text_survives_and_its_tail_is_as_long_as_the_cap_allows(
        text in "\\PC{0,120}",
        kept in 0usize..200,
    ) {
        let (shown, from, _, invalid) = decode(text.as_bytes(), 0, kept);
        prop_assert!(text.ends_with(&shown));
        prop_assert_eq!(from as usize, text.len() - shown.len());
        prop_assert_eq!(invalid, 0);
        prop_assert!(shown.len() == text.len() || shown.len() + 4 > kept);
    }
}

fn head(data: &[u8], offset: u64, from: u64, kept_bytes: usize) -> (String, u64, u64, u64) {
    let head = decode_head(Stretch { data, offset }, from, &rules(kept_bytes, Nul::Symbol));
    (head.shown().to_owned(), head.from, head.to, head.invalid)
}

#[test]
fn what_was_seen_before_is_context() {
    let bytes = Stretch { data: "old€new".as_bytes(), offset: 10 };
    let rules = rules(100, Nul::Symbol);
    for excerpt in [decode_tail(bytes, 16, &rules), decode_head(bytes, 16, &rules)] {
        assert_eq!((excerpt.context(), excerpt.shown()), ("old€", "new"));
        assert_eq!((excerpt.from, excerpt.to, excerpt.length()), (16, 19, 3));
        assert_eq!(excerpt.last_line(), "old€new");
    }
    let nothing = decode_tail(bytes, 19, &rules);
    assert_eq!((nothing.shown(), nothing.from, nothing.to), ("", 19, 19));
}

#[test]
fn the_head_is_cut_on_a_characters_border() {
    let euros = "€€€".as_bytes();
    assert_eq!(head(euros, 0, 0, 9), ("€€€".to_owned(), 0, 9, 0));
    assert_eq!(head(euros, 0, 0, 8), ("€€".to_owned(), 0, 6, 0));
    assert_eq!(head(euros, 0, 1, 8), ("€€".to_owned(), 3, 9, 0));
    assert_eq!(head(euros, 0, 9, 8), (String::new(), 9, 9, 0));
    assert_eq!(head(b"a\xff\xffb", 5, 6, 7), ("\u{fffd}\u{fffd}b".to_owned(), 6, 9, 2));
    assert_eq!(head(b"a\xff\xffb", 5, 6, 6), ("\u{fffd}\u{fffd}".to_owned(), 6, 8, 2));
}

#[test]
fn only_the_beginning_of_a_character_waits_for_its_rest() {
    let settled = |bytes: &[u8]| settled_length(bytes, Rest::MayCome);
    assert_eq!(settled(b""), 0);
    assert_eq!(settled(b"ab"), 2);
    assert_eq!(settled("a€".as_bytes()), 4);
    assert_eq!(settled(&"a€".as_bytes()[..3]), 1);
    assert_eq!(settled(&"𝄞".as_bytes()[..3]), 0);
    assert_eq!(settled(b"\xf0\xe2\x82"), 1);
    // Nothing can make a character of these.
    for bytes in
        [b"a\x80".as_slice(), b"\xff", b"\xc0", b"\xe0\x80", b"\xed\xa0", b"\x80\x80\x80\x80"]
    {
        assert_eq!(settled(bytes), bytes.len(), "{bytes:?}");
    }
    assert_eq!(settled_length(b"\xe2\x82", Rest::None), 2);
}

/// Bytes that are often the beginning of a character or the rest of one.
fn torn_bytes_often() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        Just(b'a'),
        0x80u8..0xc0,
        prop_oneof![Just(0xe2u8), Just(0xf0), Just(0xc3), Just(0xed), Just(0xe0)],
    ];
    proptest::collection::vec(byte, 0..40)
}

proptest! {
    #[test]
    fn what_is_settled_reads_the_same_whatever_follows(
        bytes in torn_bytes_often(),
        more in torn_bytes_often(),
    ) {
        let settled = settled_length(&bytes, Rest::MayCome);
        prop_assert!(bytes.len() - settled <= 3);
        prop_assert_eq!(settled_length(&bytes, Rest::None), bytes.len());
        let whole = [bytes.as_slice(), &more].concat();
        let (first, rest) = whole.split_at(settled);
        prop_assert_eq!(
            String::from_utf8_lossy(&whole),
            format!("{}{}", String::from_utf8_lossy(first), String::from_utf8_lossy(rest))
        );
    }

    #[test]
    fn any_head_decodes_within_the_cap(
        data in torn_bytes_often(),
        kept in 0usize..60,
    ) {
        let (text, from, to, invalid) = head(&data, 0, 0, kept);
        prop_assert!(text.len() <= kept && to <= kept as u64);
        prop_assert!(from == 0 || to == from);
        prop_assert!(invalid <= to - from);
        let whole = String::from_utf8_lossy(&data).replace('\0', "␀");
        prop_assert!(whole.starts_with(&text));
        prop_assert!(text == whole || text.len() + 4 > kept || to + 4 > kept as u64);
    }
}
