//! Changes as editors show them, and people who are asked: texts before and after, whole where they are short, else the places
//! that changed with the lines around them.

use std::path::Path;

use brattice_files::diff::{Changes, DiffLine, Sign};
use brattice_protocol::editor::{EditorContent, MOST_DIFF_BYTES};

/// Bytes of all texts of a result, with the signs that JSON escapes counted as one.
const MOST_BYTES: usize = 256 << 10;

/// A file that is changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedFile<'a> {
    /// Its path without links.
    pub(crate) path: &'a Path,
    /// Whether it was there before.
    pub(crate) standing: Before,
    /// What is changed; none where it could not be compared.
    pub(crate) changes: Option<&'a Changes>,
}

/// Whether a file was there before it was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It was.
    There,
    /// It was not.
    Absent,
}

/// What an editor is shown of these files, as far as there is room.
pub(crate) fn editor_diffs<'a>(files: impl Iterator<Item = ChangedFile<'a>>) -> Vec<EditorContent> {
    let mut room = MOST_BYTES;
    let mut shown = Vec::new();
    for content in files.flat_map(|file| diffs(file).0) {
        let EditorContent::Diff { old_text, new_text, .. } = &content;
        let bytes = old_text.as_ref().map_or(0, String::len) + new_text.len();
        if let Some(rest) = room.checked_sub(bytes) {
            room = rest;
            shown.push(content);
        }
    }
    shown
}

/// What a person who is asked is shown of these files: every place that changes.
///
/// # Errors
/// The path of the first file of which that cannot be shown.
pub(crate) fn whole_diffs<'a>(
    files: impl Iterator<Item = ChangedFile<'a>>,
) -> Result<Vec<EditorContent>, &'a Path> {
    let mut shown = Vec::new();
    for file in files {
        let (content, extent) = diffs(file);
        if extent == Extent::Part {
            return Err(file.path);
        }
        shown.extend(content);
    }
    Ok(shown)
}

/// How much of what changed is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    All,
    Part,
}

fn diffs(ChangedFile { path, standing, changes }: ChangedFile<'_>) -> (Vec<EditorContent>, Extent) {
    let Some(changes) = changes else {
        return (Vec::new(), Extent::Part);
    };
    let path = path.to_string_lossy();
    let diff = |old: String, new_text: String| EditorContent::Diff {
        path: path.clone().into_owned(),
        old_text: (standing == Before::There).then_some(old),
        new_text,
    };
    if let (Some(old), Some(new)) = (&changes.old, &changes.new) {
        return (vec![diff(old.clone(), new.clone())], Extent::All);
    }
    let is_all = changes.omitted == 0 && changes.lines.iter().all(|line| line.omitted == 0);
    let parts = changes.lines.split(|line| line.sign == Sign::Gap).map(|part| {
        let side = |left_out: Sign| -> String {
            let lines = part.iter().filter(|line| line.sign != left_out);
            lines.map(|DiffLine { text, end, .. }| format!("{text}{}", end.as_str())).collect()
        };
        diff(side(Sign::Added), side(Sign::Deleted))
    });
    (parts.collect(), if is_all { Extent::All } else { Extent::Part })
}

/// The lines of a diff have fewer bytes than an editor is to be shown of a side.
const _: () = assert!(
    brattice_files::diff::BYTES <= MOST_DIFF_BYTES
        && brattice_files::diff::WHOLE <= MOST_DIFF_BYTES
);

#[cfg(test)]
mod tests {
    use brattice_files::diff::{LineEnd, Precision};

    use super::*;

    fn line(sign: Sign, text: &str) -> DiffLine {
        DiffLine { sign, number: 1, text: text.to_owned(), end: LineEnd::Lf, omitted: 0 }
    }

    fn changes(whole: Option<[&str; 2]>, lines: Vec<DiffLine>) -> Changes {
        let [old, new] =
            whole.map_or([None, None], |texts| texts.map(|text| Some(text.to_owned())));
        let precision = Precision::Fine;
        Changes { added: 1, deleted: 1, first_line: None, lines, omitted: 0, precision, old, new }
    }

    fn diff(old: Option<&str>, new: &str) -> EditorContent {
        let (path, old_text) = ("/f".to_owned(), old.map(str::to_owned));
        EditorContent::Diff { path, old_text, new_text: new.to_owned() }
    }

    fn file(changes: &Changes, standing: Before) -> ChangedFile<'_> {
        ChangedFile { path: Path::new("/f"), standing, changes: Some(changes) }
    }

    #[test]
    fn short_texts_are_whole_and_a_new_file_has_none_before() {
        let changed = changes(Some(["", "b\n"]), Vec::new());
        for (standing, old) in [(Before::There, Some("")), (Before::Absent, None)] {
            let files = || [file(&changed, standing)].into_iter();
            assert_eq!(editor_diffs(files()), [diff(old, "b\n")]);
            assert_eq!(whole_diffs(files()), Ok(vec![diff(old, "b\n")]));
        }
    }

    #[test]
    fn of_long_texts_each_place_is_shown_and_a_cut_is_no_whole() {
        let lines = vec![
            line(Sign::Kept, "a"),
            line(Sign::Deleted, "b"),
            line(Sign::Added, "c"),
            line(Sign::Gap, ""),
            line(Sign::Added, "d"),
        ];
        let mut changed = changes(None, lines);
        let parts = vec![diff(Some("a\nb\n"), "a\nc\n"), diff(Some(""), "d\n")];
        assert_eq!(whole_diffs([file(&changed, Before::There)].into_iter()), Ok(parts.clone()));
        changed.omitted = 1;
        assert_eq!(editor_diffs([file(&changed, Before::There)].into_iter()), parts);
        let refused = whole_diffs([file(&changed, Before::There)].into_iter());
        assert_eq!(refused, Err(Path::new("/f")));
        let uncompared = ChangedFile { changes: None, ..file(&changed, Before::There) };
        assert_eq!(whole_diffs([uncompared].into_iter()), Err(Path::new("/f")));
        assert_eq!(editor_diffs([uncompared].into_iter()), []);
    }

    #[test]
    fn a_change_of_line_ends_alone_is_shown() {
        let ends = |from, to| {
            let gone = DiffLine { end: from, ..line(Sign::Deleted, "#!/bin/sh") };
            changes(None, vec![gone, DiffLine { end: to, ..line(Sign::Added, "#!/bin/sh") }])
        };
        let cases = [
            (LineEnd::Lf, LineEnd::CrLf, "#!/bin/sh\n", "#!/bin/sh\r\n"),
            (LineEnd::Lf, LineEnd::None, "#!/bin/sh\n", "#!/bin/sh"),
        ];
        for (from, to, old, new) in cases {
            let changed = ends(from, to);
            let shown = whole_diffs([file(&changed, Before::There)].into_iter());
            assert_eq!(shown, Ok(vec![diff(Some(old), new)]));
        }
    }

    #[test]
    fn all_diffs_of_a_result_share_their_room() {
        let (long, short) = ("x".repeat(MOST_BYTES - 2), "ab");
        let [long, short] = [&long, short].map(|text| changes(Some(["", text]), Vec::new()));
        let files = [&long, &short, &short].map(|changes| file(changes, Before::Absent));
        assert_eq!(editor_diffs(files.into_iter()).len(), 2);
    }
}
