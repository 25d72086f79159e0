//! Edits of texts: what is replaced, what stays, and what is refused.

use proptest::prelude::*;

use super::*;

fn once(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), rule: Rule::Once }
}

fn all(old: &str, new: &str) -> Edit {
    Edit { rule: Rule::All, ..once(old, new) }
}

fn resolved(text: &str, edits: &[Edit], order: Order) -> Result<(String, usize), Vec<Reason>> {
    match resolve(text, edits, order, &Cancel::default()) {
        Ok(resolved) => Ok((resolved.text, resolved.replaced)),
        Err(Unresolved::Refused(refusals)) => {
            Err(refusals.into_iter().map(|refusal| refusal.reason).collect())
        }
        Err(Unresolved::Cancelled(_)) => panic!("nobody cancelled"),
    }
}

fn edited(text: &str, edit: Edit) -> String {
    resolved(text, &[edit], Order::Original).unwrap().0
}

#[test]
fn b064_inserted_lines_take_the_line_end_around_them() {
    let text = "def f():\r\n    a = 1\r\n    return a\r\n";
    let edit = once("    a = 1\n    return a", "    a = 2\n    b = 3\n    return a + b");
    assert_eq!(edited(text, edit), "def f():\r\n    a = 2\r\n    b = 3\r\n    return a + b\r\n");
    assert_eq!(edited("a\r\nb", once("b", "b\nc")), "a\r\nb\r\nc");
    assert_eq!(edited("a\nb\r\nc\n", once("a", "a\nx")), "a\nx\nb\r\nc\n");
    assert_eq!(edited("a\nb\n", once("a\r\nb", "a\r\nx\r\nb")), "a\nx\nb\n");
}

#[test]
fn b065_line_ends_of_untouched_lines_stay() {
    let text = "alpha\r\nbeta\ngam\rma\r\ndelta";
    assert_eq!(edited(text, once("beta", "BETA")), "alpha\r\nBETA\ngam\rma\r\ndelta");
    let whole = once("alpha\nbeta\ngam\rma\ndelta", "ALPHA\nbeta\ngam\rma\nDELTA");
    assert_eq!(edited(text, whole), "ALPHA\r\nbeta\ngam\rma\r\nDELTA");
}

#[test]
fn b067_the_mark_stays_once_and_first() {
    let text = "\u{feff}Write-Host \"x\"\n# café\n";
    let edit = once("Write-Host \"x\"", "\u{feff}Write-Host \"y\"");
    assert_eq!(edited(text, edit), "\u{feff}Write-Host \"y\"\n# café\n");
}

#[test]
fn b068_replacement_text_is_literal() {
    let new = r"$$ $& $` $' $1 ${x} \1 \0 %s & ~";
    let expected = format!("head\nv=[{new}]\ntail\n");
    for edit in [once("old", new), all("old", new)] {
        assert_eq!(edited("head\nv=[old]\ntail\n", edit), expected);
    }
    assert_eq!(edited("a $& $` b", once("$& $`", r"&& \n")), r"a && \n b");
    assert_eq!(edited("x\r\nold\r\n", once("old", new)), format!("x\r\n{new}\r\n"));
}

#[test]
fn b076_empty_and_identical_texts_are_refused() {
    for text in ["pqr", ""] {
        assert_eq!(resolved(text, &[once("", "X")], Order::Original), Err(vec![Reason::Empty]));
        assert_eq!(resolved(text, &[all("", "X")], Order::Sequence), Err(vec![Reason::Empty]));
    }
    assert_eq!(
        resolved("pqr", &[once("pqr", "pqr")], Order::Original),
        Err(vec![Reason::Identical])
    );
    let ends = once("a\nb", "a\r\nb");
    assert_eq!(resolved("a\nb", &[ends], Order::Original), Err(vec![Reason::Identical]));
}

#[test]
fn b082_overlapping_places_count_separately() {
    let twice = |lines: [u64; 2]| {
        let places = Places { lines: lines.into(), count: 2, counted: Counted::All };
        Err(vec![Reason::Ambiguous { places }])
    };
    let text = "tick();\ntick();\ntick();\n";
    let edit = once("tick();\ntick();\n", "tock();\n");
    assert_eq!(resolved(text, &[edit], Order::Original), twice([1, 2]));
    assert_eq!(resolved("aaa", &[once("aa", "b")], Order::Original), twice([1, 1]));
    assert_eq!(resolved("aaa", &[all("aa", "b")], Order::Original), Ok(("ba".to_owned(), 1)));
}

#[test]
fn edits_of_the_original_do_not_meet() {
    let text = "one two three\n";
    let edits = [once("one", "two"), once("two", "one")];
    assert_eq!(resolved(text, &edits, Order::Original), Ok(("two one three\n".to_owned(), 2)));
    let overlap = [once("one two", "x"), once("two three", "y"), once("one two", "z")];
    assert_eq!(
        resolved(text, &overlap, Order::Original),
        Err(vec![Reason::Overlap { other: 0, line: 1 }, Reason::Repeated { first: 0 },])
    );
    let nested = [once("one two three", "x"), once("two", "y")];
    assert_eq!(
        resolved(text, &nested, Order::Original),
        Err(vec![Reason::Overlap { other: 0, line: 1 }])
    );
}

#[test]
fn edits_in_sequence_see_what_the_one_before_made() {
    let edits = [once("one", "two"), all("two", "2")];
    assert_eq!(resolved("one two", &edits, Order::Sequence), Ok(("2 2".to_owned(), 3)));
    let refused = resolve(
        "one two",
        &[once("none", "x"), once("one", "1"), once("one", "y")],
        Order::Sequence,
        &Cancel::default(),
    );
    let refusal = |edit| Refusal { edit, reason: Reason::NotFound { hint: None } };
    assert_eq!(refused, Err(Unresolved::Refused(vec![refusal(0), refusal(2)])));
}

#[test]
fn all_refusals_are_listed_in_words() {
    let edits = [once("gone", "x"), once("a", "b")];
    let Err(refused) = resolve("a a\na\n", &edits, Order::Original, &Cancel::default()) else {
        panic!("resolved");
    };
    assert_eq!(
        refused.to_string(),
        "edit 1: the old text was not found\n\
         edit 2: the old text occurs 3 times (lines 1, 1, 2); add lines around it, or replace all"
    );
}

#[test]
fn a_text_that_overlaps_itself_is_counted_in_bounded_time() {
    let text = "a".repeat(4 << 20);
    let edit = once(&"a".repeat(2 << 20), "b");
    let Err(refusals) = resolved(&text, &[edit], Order::Original) else {
        panic!("resolved");
    };
    let places = Places { lines: vec![1; 10], count: 32, counted: Counted::AtLeast };
    assert_eq!(refusals, [Reason::Ambiguous { places }]);
}

#[test]
fn a_raised_flag_stops() {
    let cancel = Cancel::default();
    cancel.cancel();
    let answer = resolve("a", &[once("a", "b")], Order::Original, &cancel);
    assert_eq!(answer, Err(Unresolved::Cancelled(Cancelled)));
}

proptest! {
    /// Between the hunks both texts are the same, whatever the edits were.
    #[test]
    fn hunks_tell_all_that_differs(
        text in "(\u{feff}|)([ab]|\n|\r\n){0,200}",
        edits in prop::collection::vec(("[ab\n]{1,2}", "[abc\n]{0,3}"), 1..4),
    ) {
        let edits: Vec<Edit> = edits.iter().map(|(old, new)| all(old, new)).collect();
        for order in [Order::Original, Order::Sequence] {
            let Ok(resolved) = resolve(&text, &edits, order, &Cancel::default()) else {
                continue;
            };
            let (mut old, mut new) = (0, 0);
            for hunk in &resolved.hunks {
                prop_assert_eq!(&text[old..hunk.old.start], &resolved.text[new..hunk.new.start]);
                (old, new) = (hunk.old.end, hunk.new.end);
            }
            prop_assert_eq!(&text[old..], &resolved.text[new..]);
        }
    }
}
