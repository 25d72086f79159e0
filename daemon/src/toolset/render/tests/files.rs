//! Files in words.

use brattice_files::Fingerprint;
use brattice_files::diff::LineEnd;
use brattice_policy::Limits;
use brattice_protocol::session::{Options, ToolsetName};

use super::*;
use crate::toolset::Toolset;

fn changes(lines: Vec<DiffLine>) -> Changes {
    Changes {
        added: 1,
        deleted: 2,
        first_line: Some(3),
        lines,
        omitted: 0,
        precision: Precision::Fine,
        old: None,
        new: None,
    }
}

fn line(sign: Sign, number: u64, text: &str) -> DiffLine {
    DiffLine { sign, number, text: text.to_owned(), end: LineEnd::Lf, omitted: 0 }
}

#[test]
fn a_diff_shows_what_stayed_came_and_went_with_its_numbers() {
    let mut changed = changes(vec![
        line(Sign::Kept, 2, "same"),
        line(Sign::Deleted, 3, "old"),
        line(Sign::Added, 3, "new"),
        line(Sign::Gap, 90, ""),
        DiffLine { omitted: 7, ..line(Sign::Kept, 90, "long") },
    ]);
    changed.omitted = 4;
    changed.precision = Precision::Coarse;
    let mut text = String::new();
    push_diff(&mut text, &changed, &mut { DIFF_BYTES });
    assert_eq!(
        text,
        " 2|same\n-3|old\n+3|new\n...\n 90|long… [7 characters omitted]\n[diff truncated: 4 lines omitted]\n\
         [coarse diff: lines that stayed may be shown as deleted and added]"
    );
}

#[test]
fn all_diffs_of_a_result_share_their_room() {
    let changed = changes(vec![line(Sign::Added, 1, "12345"), line(Sign::Added, 2, "1")]);
    let (mut text, mut room) = (String::new(), 10);
    push_diff(&mut text, &changed, &mut room);
    push_diff(&mut text, &changed, &mut room);
    let truncated = |lines| format!("[diff truncated: {lines} omitted]");
    assert_eq!(text, format!("+1|12345\n{}\n{}", truncated("1 line"), truncated("2 lines")));
}

#[test]
fn a_path_stays_on_its_line_and_can_be_used_again() {
    for (path, shown) in [
        ("/a b/\\c'\"é漢", "/a b/\\c'\"é漢"),
        ("/a\n[exit code: 0]", "/a\\n[exit code: 0]"),
        ("/\u{1b}[2J\u{202e}", "/\\u{1b}[2J\\u{202e}"),
    ] {
        assert_eq!(shown_path(Path::new(path)), shown);
    }
}

fn tools(name: ToolsetName) -> SessionTools<'static> {
    let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
    let options = Options { edit_tools: Some(true), ..Options::default() };
    if name == ToolsetName::Minimal { tools.opened_with(&options) } else { tools }
}

fn written(outcome: Outcome) -> Written {
    Written {
        path: "/ws/f".into(),
        outcome,
        before: None,
        fingerprint: Fingerprint::of(b""),
        changes: Some(changes(vec![line(Sign::Added, 3, "x")])),
        lost_attributes: vec!["user.a\n".to_owned()],
    }
}

const REMARKS: &str = "[written in place: its other names and its owner stay]\n[attributes that could not be kept: user.a?]";

#[test]
fn what_was_written_is_said_in_each_toolsets_words() {
    let update = written(Outcome::Updated { method: Replacement::InPlace });
    let said = |name| render_written(tools(name), "./f", &update);
    let words = [
        (ToolsetName::Standard, "updated /ws/f (+1 -2 lines, from line 3 on)\n+3|x"),
        (ToolsetName::Dsh, "updated /ws/f"),
        (ToolsetName::Glrs, "wrote ./f"),
        (ToolsetName::Minimal, "updated ./f: 1 line added, 2 deleted, first changed line 3\n+3|x"),
    ];
    for (name, words) in words {
        assert_eq!(said(name).text, format!("{words}\n{REMARKS}"));
        assert_eq!(said(name).facts, said(ToolsetName::Standard).facts);
    }
    let facts = &said(ToolsetName::Standard).facts.files[0];
    assert_eq!(
        (facts.outcome, facts.added, facts.first_line),
        (FileOutcome::Updated, Some(1), Some(3))
    );
    let mut same = written(Outcome::Unchanged);
    same.lost_attributes.clear();
    let said = |name| render_written(tools(name), "./f", &same).text;
    assert_eq!(said(ToolsetName::Minimal), "./f has this content already; nothing was written");
    assert_eq!(said(ToolsetName::Glrs), "wrote ./f");
}

#[test]
fn what_was_edited_is_said_in_each_toolsets_words() {
    let edited = |path: &str| Edited {
        path: path.into(),
        outcome: Outcome::Updated { method: Replacement::Exchanged },
        before: Fingerprint::of(b"x"),
        fingerprint: Fingerprint::of(b""),
        replaced: 2,
        changes: changes(vec![line(Sign::Deleted, 3, "x")]),
        lost_attributes: vec!["user.a".to_owned()],
    };
    let both = [edited("/ws/f"), edited("/ws/g")];
    let named = ["f".to_owned(), "g".to_owned()];
    let said = |name, apply| render_edited(tools(name), apply, &named, &both).text;
    let lost = "attributes that could not be kept: user.a";
    assert_eq!(
        said(ToolsetName::Glrs, Apply::Write),
        format!(
            "edited f (2 replacements)\nedited g (2 replacements)\n/ws/f: [{lost}]\n/ws/g: [{lost}]"
        )
    );
    let one = render_edited(tools(ToolsetName::Minimal), Apply::DryRun, &named, &both[..1]).text;
    assert_eq!(
        one,
        format!(
            "would edit f: 2 edits, 1 line added, 2 deleted, first changed line 3\n-3|x\n[{lost}]\n\
             (dry run: nothing was written)"
        )
    );
}

#[test]
fn a_cap_cuts_a_diff_and_no_remark() {
    let lines = (0..1000).map(|number| line(Sign::Added, number, "xxxxxxxxx")).collect();
    let mut update = written(Outcome::Updated { method: Replacement::InPlace });
    update.changes = Some(changes(lines));
    let text = render_written(tools(ToolsetName::Minimal), "f", &update).text;
    let (kept, closing) = text.split_at(8_000);
    assert!(kept.starts_with("updated f: 1 line added"));
    assert!(closing.starts_with("\n[output truncated: "), "{closing}");
    assert!(closing.ends_with(&format!(" characters omitted]\n{REMARKS}")), "{closing}");
}
