//! Files in words.

use brattice_files::diff::Excerpt;
use brattice_protocol::session::ToolsetName;

use super::*;

fn changes(lines: Vec<DiffLine>) -> Changes {
    Changes {
        added: 1,
        deleted: 2,
        first_line: Some(3),
        lines,
        omitted: 0,
        precision: Precision::Fine,
        old: Excerpt::default(),
        new: Excerpt::default(),
    }
}

fn line(sign: Sign, number: u64, text: &str) -> DiffLine {
    DiffLine { sign, number, text: text.to_owned(), omitted: 0 }
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

#[test]
fn what_was_done_is_said_in_each_toolsets_words() {
    let written = |outcome| Written {
        path: "/ws/f".into(),
        outcome,
        fingerprint: brattice_files::Fingerprint::of(b""),
        changes: Some(changes(vec![line(Sign::Added, 3, "x")])),
        lost_attributes: vec!["user.a\n".to_owned()],
    };
    let update = written(Outcome::Updated { method: Replacement::InPlace });
    let standard = render_written(Toolset::of(ToolsetName::Standard), &update);
    let remarks = "[written in place: its other names and its owner stay]\n[attributes that could not be kept: user.a?]";
    assert_eq!(
        standard.text,
        format!("updated /ws/f (+1 -2 lines, from line 3 on)\n+3|x\n{remarks}")
    );
    let dsh = render_written(Toolset::of(ToolsetName::Dsh), &update);
    assert_eq!(dsh.text, format!("updated /ws/f\n{remarks}"));
    assert_eq!(dsh.facts, standard.facts);
    let facts = &standard.facts.files[0];
    assert_eq!(
        (facts.outcome, facts.added, facts.first_line),
        (FileOutcome::Updated, Some(1), Some(3))
    );
}
