//! Editing files: what is matched, what is kept, and that one bad edit changes nothing anywhere.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use brattice_files::edit::{Difference, Edit, Order, Reason, Rule};
use brattice_files::{Apply, EditFault, Expected, FileEdits, Outcome};
use proptest::prelude::*;

use crate::folder::Folder;

#[test]
fn b064_crlf_files_are_edited_as_lf() {
    let folder = Folder::new();
    folder.put("w.py", "def f():\r\n    a = 1\r\n    return a\r\n");
    let old = "    a = 1\n    return a";
    let edited = folder.replace("w.py", old, "    a = 2\n    b = 3\n    return a + b").unwrap();
    assert_eq!(
        (edited.changes.added, edited.changes.deleted, edited.changes.first_line),
        (3, 2, Some(2))
    );
    let expected = "def f():\r\n    a = 2\r\n    b = 3\r\n    return a + b\r\n";
    assert_eq!(folder.content("w.py"), expected);
}

#[test]
fn b065_untouched_bytes_stay() {
    let folder = Folder::new();
    folder.put("mix.txt", "alpha\r\nbeta\ngam\rma\r\ndelta");
    folder.replace("mix.txt", "beta", "BETA").unwrap();
    assert_eq!(folder.content("mix.txt"), "alpha\r\nBETA\ngam\rma\r\ndelta");
}

#[test]
fn b067_a_mark_survives_edits_and_writes() {
    let folder = Folder::new();
    folder.put("s.ps1", "\u{feff}Write-Host \"x\"\n# café\n");
    folder.replace("s.ps1", "Write-Host \"x\"", "Write-Host \"y\"").unwrap();
    assert_eq!(folder.content("s.ps1"), "\u{feff}Write-Host \"y\"\n# café\n");
    for content in ["Write-Host \"z\"\n", "\u{feff}Write-Host \"w\"\n"] {
        folder.write("s.ps1", content, Expected::Any).unwrap();
        let body = content.trim_start_matches('\u{feff}');
        assert_eq!(folder.content("s.ps1"), format!("\u{feff}{body}"));
    }
}

#[test]
fn b068_replacement_text_is_literal_in_every_form() {
    let folder = Folder::new();
    let new = r"$$ $& $` $' $1 ${x} \1 \0 %s & ~";
    for order in [Order::Original, Order::Sequence] {
        for rule in [Rule::Once, Rule::All] {
            folder.put("r.sh", "head\nv=[old]\ntail\n");
            let edit = Edit { old: "old".to_owned(), new: new.to_owned(), rule };
            let file = FileEdits {
                path: folder.path("r.sh"),
                edits: vec![edit],
                order,
                expected: Expected::Any,
            };
            folder.edit(&[file], Apply::Write).unwrap();
            assert_eq!(folder.content("r.sh"), format!("head\nv=[{new}]\ntail\n"));
        }
    }
}

#[test]
fn b075_what_is_unchanged_is_not_written() {
    let folder = Folder::new();
    let path = folder.put("t.md", "same\n");
    let before = fs::metadata(&path).unwrap();
    let written = folder.write("t.md", "same\n", Expected::Any).unwrap();
    assert_eq!(written.outcome, Outcome::Unchanged);
    let edits = [("same", "other"), ("other", "same")].map(|(old, new)| Edit {
        old: old.to_owned(),
        new: new.to_owned(),
        rule: Rule::Once,
    });
    let file =
        FileEdits { path, edits: edits.to_vec(), order: Order::Sequence, expected: Expected::Any };
    assert_eq!(folder.edit(&[file], Apply::Write).unwrap()[0].outcome, Outcome::Unchanged);
    let after = fs::metadata(folder.path("t.md")).unwrap();
    assert_eq!((before.ino(), before.ctime_nsec()), (after.ino(), after.ctime_nsec()));
}

#[test]
fn b076_empty_old_texts_are_refused_before_the_file_is_looked_at() {
    let folder = Folder::new();
    folder.put("e.txt", "pqr");
    folder.put("zero.txt", "");
    for name in ["e.txt", "zero.txt", "absent.txt"] {
        let faults = folder.replace(name, "", "X").unwrap_err();
        let EditFault::Refused { refusals, .. } = &faults[0].fault else {
            panic!("{faults:?}");
        };
        assert_eq!(refusals[0].reason, Reason::Empty);
    }
    let same = folder.replace("e.txt", "pqr", "pqr").unwrap_err();
    assert!(same[0].to_string().ends_with("nothing to change: old and new text are the same"));
    assert_eq!(folder.content("e.txt"), "pqr");
    assert_eq!(folder.names(), ["e.txt", "zero.txt"]);
}

#[test]
fn b078_tabs_and_line_numbers_get_a_hint() {
    let folder = Folder::new();
    folder.put("Makefile", "all:\n\tgcc -c a.c\n\t\techo  two\n");
    folder.replace("Makefile", "\tgcc -c a.c", "\tgcc -O2 -c a.c").unwrap();
    let hint = |old: &str| {
        let faults = folder.replace("Makefile", old, "\tclang").unwrap_err();
        let EditFault::Refused { refusals, .. } = &faults[0].fault else {
            panic!("{faults:?}");
        };
        let Reason::NotFound { hint: Some(hint) } = &refusals[0].reason else {
            panic!("{refusals:?}");
        };
        (hint.difference, hint.line)
    };
    assert_eq!(hint("    gcc -O2"), (Difference::Whitespace, 2));
    assert_eq!(hint("     2|\tgcc"), (Difference::LineNumbers, 2));
    assert_eq!(folder.content("Makefile"), "all:\n\tgcc -O2 -c a.c\n\t\techo  two\n");
}

#[test]
fn b079_several_files_are_changed_together_or_not_at_all() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.put(&format!("{name}.txt"), format!("{name} one\n"));
    }
    let inode = |name| fs::metadata(folder.path(name)).unwrap().ino();
    let before = ["a.txt", "b.txt", "c.txt"].map(inode);
    let files = |b: &str| {
        [
            folder.edits("a.txt", "one", "1"),
            folder.edits("b.txt", b, "x"),
            folder.edits("c.txt", "one", "1"),
        ]
    };
    let faults = folder.edit(&files("missing"), Apply::Write).unwrap_err();
    let expected =
        format!("{}: edit 1: the old text was not found", folder.path("b.txt").display());
    assert_eq!((faults.len(), faults[0].file, faults[0].to_string()), (1, 1, expected));
    let planned = folder.edit(&files("one"), Apply::DryRun).unwrap();
    let outcomes: Vec<_> = planned.iter().map(|edited| &edited.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Planned; 3]);
    assert_eq!(planned[1].changes.lines.len(), 2);
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(inode), before);
    folder.edit(&files("one"), Apply::Write).unwrap();
    assert_eq!(
        ["a.txt", "b.txt", "c.txt"].map(|name| folder.content(name)),
        ["a 1\n", "b x\n", "c 1\n"]
    );
    assert_eq!(folder.names(), ["a.txt", "b.txt", "c.txt"]);
}

#[test]
fn b082_overlapping_places_are_ambiguous() {
    let folder = Folder::new();
    folder.put("o.txt", "tick();\ntick();\ntick();\n");
    folder.put("p.txt", "aaa");
    let refused = |name, old| folder.replace(name, old, "b").unwrap_err()[0].to_string();
    assert!(refused("o.txt", "tick();\ntick();\n").contains("occurs 2 times (lines 1, 2)"));
    assert!(refused("p.txt", "aa").contains("occurs 2 times (lines 1, 1)"));
    let mut all = folder.edits("p.txt", "aa", "b");
    all.edits[0].rule = Rule::All;
    assert_eq!(folder.edit(&[all], Apply::Write).unwrap()[0].replaced, 1);
    assert_eq!(
        (folder.content("o.txt").as_str(), folder.content("p.txt").as_str()),
        ("tick();\ntick();\ntick();\n", "ba")
    );
}

#[test]
fn one_file_named_twice_is_refused() {
    let folder = Folder::new();
    folder.put("a.txt", "one\ntwo\n");
    fs::hard_link(folder.path("a.txt"), folder.path("b.txt")).unwrap();
    let files = [folder.edits("a.txt", "one", "1"), folder.edits("b.txt", "two", "2")];
    let faults = folder.edit(&files, Apply::Write).unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        format!("{}: is named twice", folder.path("b.txt").display())
    );
    assert_eq!(folder.content("a.txt"), "one\ntwo\n");
}

/// What edits do, told in the plainest way: on characters, where a CRLF is one.
mod reference {
    pub(super) fn units(text: &str) -> Vec<String> {
        let mut units: Vec<String> = Vec::new();
        for sign in text.chars() {
            match units.last_mut() {
                Some(last) if sign == '\n' && last == "\r" => last.push(sign),
                _ => units.push(sign.to_string()),
            }
        }
        units
    }

    fn is_same(one: &str, other: &str) -> bool {
        one == other || (one.ends_with('\n') && other.ends_with('\n'))
    }

    pub(super) fn places(text: &[String], old: &[String]) -> Vec<usize> {
        let fits =
            |place: &usize| text[*place..].iter().zip(old).all(|(one, other)| is_same(one, other));
        (0..(text.len() + 1).saturating_sub(old.len())).filter(fits).collect()
    }

    /// Every place from the left that does not reach into the one before.
    pub(super) fn apart(places: &[usize], length: usize) -> Vec<usize> {
        let mut apart: Vec<usize> = Vec::new();
        for place in places {
            if apart.last().is_none_or(|last| last + length <= *place) {
                apart.push(*place);
            }
        }
        apart
    }
}

fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Edits one after the other, each on what the one before made of the text; none if one of them cannot be made.
fn in_turn(text: &str, edits: &[Edit]) -> Option<(String, usize)> {
    let (mut text, mut replaced) = (text.to_owned(), 0);
    for Edit { old, new, rule } in edits {
        if with_lf(old) == with_lf(new) {
            return None;
        }
        let (units, old) = (reference::units(&text), reference::units(old));
        let places = reference::places(&units, &old);
        let places = match rule {
            Rule::Once if places.len() == 1 => places,
            Rule::Once => return None,
            Rule::All => reference::apart(&places, old.len()),
        };
        let (mut made, mut from) = (String::new(), 0);
        for place in &places {
            made += &(units[from..*place].concat() + new);
            from = place + old.len();
        }
        if places.is_empty() {
            return None;
        }
        replaced += places.len();
        text = made + &units[from..].concat();
    }
    Some((text, replaced))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The same as one edit after the other, whichever line ends the text has.
    #[test]
    fn edits_in_turn_are_what_the_reference_says(
        mark in "\u{feff}?",
        body in "([ab語]|\n){0,24}",
        edits in prop::collection::vec(
            ("([ab語]|\n){1,3}", "([ab語x]|\n){0,3}", any::<bool>()), 1..5),
    ) {
        let edit = |(old, new, all)| Edit { old, new, rule: if all { Rule::All } else { Rule::Once } };
        let edits: Vec<Edit> = edits.into_iter().map(edit).collect();
        let text = format!("{mark}{body}");
        let cancel = brattice_files::Cancel::default();
        let answer = brattice_files::edit::resolve(&text, &edits, Order::Sequence, &cancel);
        let expected = in_turn(&body, &edits);
        prop_assert_eq!(
            answer.ok().map(|resolved| (resolved.text, resolved.replaced)),
            expected.map(|(text, replaced)| (format!("{mark}{text}"), replaced))
        );
        let crlf = text.replace('\n', "\r\n");
        let answer = brattice_files::edit::resolve(&crlf, &edits, Order::Sequence, &cancel);
        let expected = in_turn(&body, &edits).map(|(text, _)| format!("{mark}{text}"));
        prop_assert_eq!(answer.ok().map(|resolved| with_lf(&resolved.text)), expected);
    }

    /// Found and counted as the reference does; and the result is, with LF alone, what a replacement of that text is, while
    /// every line end outside of the places is as it was.
    #[test]
    fn edits_are_what_the_reference_says(
        mark in "\u{feff}?",
        body in prop_oneof![
            4 => "([ab語]|\n|\r\n){0,24}",
            1 => "([ab語]|\n|\r\n|\r[ab語]){0,24}",
        ],
        old in "([ab語]|\n|\r\n){1,3}",
        new in "([abé$]|\n|\r\n){0,4}",
        rule in prop_oneof![Just(Rule::Once), Just(Rule::All)],
        order in prop_oneof![Just(Order::Original), Just(Order::Sequence)],
    ) {
        prop_assume!(with_lf(&old) != with_lf(&new));
        let text = format!("{mark}{body}");
        let edit = Edit { old: old.clone(), new: new.clone(), rule };
        // Where a lone CR comes to stand before a line end, the two cannot be told from one any more.
        let has_lone_cr = body.replace("\r\n", "").contains('\r');
        prop_assume!(!has_lone_cr || !(new.is_empty() || new.starts_with(['\r', '\n'])));
        let answer = brattice_files::edit::resolve(&text, &[edit], order, &brattice_files::Cancel::default());
        let (units, old_units) = (reference::units(&body), reference::units(&old));
        let places = reference::places(&units, &old_units);
        let expected = match rule {
            Rule::Once if places.len() == 1 => places,
            Rule::Once => Vec::new(),
            Rule::All => reference::apart(&places, old_units.len()),
        };
        let Ok(resolved) = answer else {
            prop_assert!(expected.is_empty());
            return Ok(());
        };
        prop_assert_eq!(resolved.replaced, expected.len());
        prop_assert!(resolved.text.starts_with(&mark));
        let result = &resolved.text[mark.len()..];
        // Between the places stands what stood there, in order.
        let (mut rest, mut from) = (result, 0);
        for (index, place) in expected.iter().chain([&units.len()]).enumerate() {
            let kept = units[from..*place].concat();
            let found = if index == 0 { rest.starts_with(&kept).then_some(0) } else { rest.find(&kept) };
            prop_assert!(found.is_some(), "{:?} in {:?}", kept, rest);
            rest = &rest[found.unwrap_or(0) + kept.len()..];
            from = place + old_units.len();
        }
        let mut plain = String::new();
        let mut from = 0;
        for place in &expected {
            plain += &with_lf(&units[from..*place].concat());
            plain += &with_lf(&new);
            from = place + old_units.len();
        }
        plain += &with_lf(&units[from..].concat());
        prop_assert_eq!(with_lf(result), with_lf(&plain));
        // A file with one kind of line end keeps one kind.
        let (lf, crlf) = (units.iter().any(|unit| unit == "\n"), units.iter().any(|unit| unit == "\r\n"));
        if crlf && !lf && !units.contains(&"\r".to_owned()) {
            prop_assert!(reference::units(result).iter().all(|unit| unit != "\n"));
        }
    }
}
