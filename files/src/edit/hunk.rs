//! What differs between two texts, as ranges of bytes: known from the edits themselves, so that no whole text is compared.

use std::ops::Range;

/// A part of the old text, and the part of the new one that stands in its place. What lies between two hunks is equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Hunks that are closer than this are joined, which bounds their number by the size of the text.
const JOINED: usize = 64;

/// Adds a hunk after the others.
pub(crate) fn push(hunks: &mut Vec<Hunk>, hunk: Hunk) {
    match hunks.last_mut() {
        Some(last) if hunk.old.start - last.old.end < JOINED => {
            last.old.end = hunk.old.end;
            last.new.end = hunk.new.end;
        }
        _ => hunks.push(hunk),
    }
}

/// From A to C, given the hunks from A to B and from B to C.
pub(super) fn composed(first: &[Hunk], second: &[Hunk]) -> Vec<Hunk> {
    let (mut first, mut second) = (first.iter().peekable(), second.iter().peekable());
    let mut hunks = Vec::new();
    // How far A and C are shifted against B.
    let (mut to_old, mut to_new) = (0_isize, 0_isize);
    loop {
        let starts =
            [first.peek().map(|hunk| hunk.new.start), second.peek().map(|hunk| hunk.old.start)];
        let Some(start) = starts.into_iter().flatten().min() else {
            return hunks;
        };
        let mut end = start;
        let (old_start, new_start) =
            (start.saturating_add_signed(to_old), start.saturating_add_signed(to_new));
        loop {
            if let Some(hunk) = first.next_if(|hunk| hunk.new.start <= end) {
                end = end.max(hunk.new.end);
                to_old += hunk.old.len().wrapping_sub(hunk.new.len()) as isize;
            } else if let Some(hunk) = second.next_if(|hunk| hunk.old.start <= end) {
                end = end.max(hunk.old.end);
                to_new += hunk.new.len().wrapping_sub(hunk.old.len()) as isize;
            } else {
                break;
            }
        }
        let old = old_start..end.saturating_add_signed(to_old);
        let new = new_start..end.saturating_add_signed(to_new);
        push(&mut hunks, Hunk { old, new });
    }
}

/// The one hunk between two texts of which nothing is known, if they differ.
pub(crate) fn difference(old: &str, new: &str) -> Vec<Hunk> {
    let prefix = common_prefix(old, new);
    let suffix = common_suffix(&old[prefix..], &new[prefix..]);
    if prefix == old.len() && prefix == new.len() {
        return Vec::new();
    }
    vec![Hunk { old: prefix..old.len() - suffix, new: prefix..new.len() - suffix }]
}

/// Bytes at the start that two texts share, at a border between characters.
pub(super) fn common_prefix(one: &str, other: &str) -> usize {
    let equal = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    (0..=equal)
        .rev()
        .find(|place| one.is_char_boundary(*place) && other.is_char_boundary(*place))
        .unwrap_or(0)
}

/// The same at the end.
pub(super) fn common_suffix(one: &str, other: &str) -> usize {
    let bytes = one.bytes().rev().zip(other.bytes().rev());
    let equal = bytes.take_while(|(one, other)| one == other).count();
    (0..=equal)
        .rev()
        .find(|length| {
            one.is_char_boundary(one.len() - length) && other.is_char_boundary(other.len() - length)
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The new text, by its hunks.
    fn applied(old: &str, new: &str, hunks: &[Hunk]) -> String {
        let (mut text, mut place) = (String::new(), 0);
        for hunk in hunks {
            text.push_str(&old[place..hunk.old.start]);
            text.push_str(&new[hunk.new.clone()]);
            place = hunk.old.end;
        }
        text + &old[place..]
    }

    #[test]
    fn common_parts_end_between_characters() {
        // é and è share their first byte, ö and ä as well; the last bytes of é and ũ are equal.
        assert_eq!((common_prefix("aé", "aè"), common_suffix("é", "ũ")), (1, 0));
        assert_eq!(difference("abc", "abc"), []);
        assert_eq!(difference("aa", "aaa"), [Hunk { old: 2..2, new: 2..3 }]);
    }

    proptest! {
        #[test]
        fn composition_is_what_both_steps_do(a in "[ab\n]{0,300}", cuts in prop::collection::vec((0_usize..300, 0_usize..5, "[xy]{0,4}"), 0..4)) {
            let mut text = a.clone();
            let mut hunks = Vec::new();
            for (start, length, piece) in cuts {
                let start = start.min(text.len());
                let end = (start + length).min(text.len());
                let mut next = text.clone();
                next.replace_range(start..end, &piece);
                let step = [Hunk { old: start..end, new: start..start + piece.len() }];
                prop_assert_eq!(&applied(&text, &next, &step), &next);
                hunks = composed(&hunks, &step);
                text = next;
            }
            prop_assert_eq!(applied(&a, &text, &hunks), text);
        }
    }
}
