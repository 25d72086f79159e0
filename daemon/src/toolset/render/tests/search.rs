//! Searches in words.

use std::path::PathBuf;

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;
use brattice_search::Line;

use super::*;
use crate::toolset::Toolset;

const SEARCHED: fn() -> Searched<'static> = || searched(ToolsetName::Standard);

fn searched(name: ToolsetName) -> Searched<'static> {
    let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
    Searched { tools, workspace: Path::new("/ws"), most: 2 }
}

fn line(number: u64, kind: LineKind, text: &str) -> Line {
    Line { number, kind, text: text.to_owned(), omitted_before: 0, omitted_after: 0 }
}

fn found(path: &str, lines: Vec<Line>) -> Found {
    Found {
        files: vec![FileHits { path: path.into(), matches: 2, lines }],
        stop: Stop::Complete,
        binary: 0,
        unreadable: UnreadableList::default(),
    }
}

#[test]
fn lines_near_matches_are_told_apart_and_gaps_are_shown() {
    let lines = vec![
        line(1, LineKind::Context, "a"),
        line(2, LineKind::Match, "b"),
        line(3, LineKind::Continued, "c"),
        line(9, LineKind::Match, "d"),
    ];
    let said =
        render_found(SEARCHED(), Output::Content { before: 1, after: 1 }, &found("/ws/x/y", lines));
    assert_eq!(said.text, "x/y-1-a\nx/y:2:b\nx/y:3:c\n--\nx/y:9:d");
    let context: Vec<bool> = said.facts.matches.iter().map(|told| told.context).collect();
    assert_eq!(context, [true, false, false, false]);
}

#[test]
fn cuts_and_what_could_not_be_read_are_said_after_the_matches() {
    let cut = Line { omitted_before: 1, omitted_after: 2, ..line(4, LineKind::Match, "x") };
    let mut hits = found("/other/f", vec![cut]);
    hits.stop = Stop::Results;
    hits.binary = 2;
    let unreadable = |number: usize| brattice_search::Unreadable {
        path: PathBuf::from(format!("/ws/{number}")),
        cause: Cause::Errno(13),
    };
    hits.unreadable = UnreadableList { first: (0..11).map(unreadable).collect(), more: 5 };
    let said = render_found(SEARCHED(), Output::Content { before: 0, after: 0 }, &hits);
    let named: String = (0..10)
        .map(|number| format!("[cannot read {number}: Permission denied (os error 13)]\n"))
        .collect();
    assert_eq!(
        said.text,
        format!(
            "/other/f:4:[1 character omitted] …x… [2 characters omitted]\n[truncated at 2 matches]\n\
             [2 binary files not searched]\n{named}[cannot read 6 more]"
        )
    );
    assert_eq!((said.facts.unreadable.len(), said.facts.unreadable_more), (11, 5));
    assert!(said.facts.truncated);
}

#[test]
fn no_file_is_said_and_a_cut_tells_how_many_there_are() {
    let listed = |files: &[&str], total| Listed {
        files: files.iter().map(PathBuf::from).collect(),
        total,
        unreadable: UnreadableList::default(),
    };
    assert_eq!(render_listed(SEARCHED(), &listed(&[], 0)).text, "no files");
    let said = render_listed(SEARCHED(), &listed(&["/ws/a", "/ws"], 7));
    assert_eq!(
        (said.text.as_str(), said.facts.total),
        ("a\n/ws\n[truncated at 2 files of 7]", Some(7))
    );
}

#[test]
fn a_list_of_long_paths_is_bounded_and_says_so() {
    let path = |number: usize| PathBuf::from(format!("/ws/{number:03}{}", "x".repeat(1021)));
    let listed = Listed {
        files: (0..200).map(path).collect(),
        total: 200,
        unreadable: UnreadableList::default(),
    };
    let said = render_listed(SEARCHED(), &listed);
    assert_eq!(said.facts.matches.len(), 95);
    assert!(said.text.ends_with("\n[truncated at 95 files of 200]"));
}

#[test]
fn a_cap_cuts_matches_and_no_marker() {
    let lines = (1..=400).map(|number| line(number, LineKind::Match, &"x".repeat(100))).collect();
    let mut hits = found("/ws/f", lines);
    hits.stop = Stop::Results;
    let output = Output::Content { before: 0, after: 0 };
    let whole = render_found(searched(ToolsetName::Standard), output, &hits).text;
    let whole = whole.strip_suffix("\n[truncated at 2 matches]").unwrap().to_owned();
    let cut = render_found(searched(ToolsetName::Glrs), output, &hits).text;
    let omitted = whole.len() - 30_000;
    let kept = &whole[..30_000];
    assert_eq!(
        cut,
        format!("{kept}\n[truncated, {omitted} chars omitted]\n[truncated at 2 matches]")
    );
}

#[test]
fn how_many_files_there_are_is_told_where_the_toolset_tells_it() {
    let files = vec![PathBuf::from("/ws/a"), PathBuf::from("/ws/b")];
    let listed = Listed { files, total: 9, unreadable: UnreadableList::default() };
    for (name, end) in [(ToolsetName::Standard, " of 9"), (ToolsetName::Glrs, "")] {
        let said = render_listed(searched(name), &listed);
        assert_eq!(said.text, format!("a\nb\n[truncated at 2 files{end}]"));
    }
}

#[test]
fn what_the_cap_cut_away_is_no_match_and_the_facts_say_so() {
    let lines = (1..=400).map(|number| line(number, LineKind::Match, &"x".repeat(100))).collect();
    let hits = found("/ws/f", lines);
    let output = Output::Content { before: 0, after: 0 };
    let said = render_found(searched(ToolsetName::Glrs), output, &hits);
    let (last, whole) = said.facts.matches.split_last().unwrap();
    assert!(whole.iter().all(|told| told.text.as_ref().is_some_and(|text| text.len() == 100)));
    let shown = said.text.split_once("\n[truncated, ").unwrap().0;
    assert_eq!(shown.lines().count(), said.facts.matches.len());
    let text = last.text.as_deref().unwrap();
    assert!(!text.is_empty() && text.len() < 100, "{text}");
    assert!(shown.ends_with(&format!("\nf:{}:{text}", last.line.unwrap())), "{shown}");
    assert!(said.facts.truncated);
    let all = render_found(searched(ToolsetName::Standard), output, &hits);
    assert_eq!((all.facts.matches.len(), all.facts.truncated), (400, false));

    let hit = |number: usize| FileHits {
        path: PathBuf::from(format!("/ws/{number:03}{}", "x".repeat(197))),
        matches: 1,
        lines: Vec::new(),
    };
    let hits = Found { files: (0..200).map(hit).collect(), ..found("/ws/f", Vec::new()) };
    for output in [Output::Files, Output::Count] {
        let said = render_found(searched(ToolsetName::Glrs), output, &hits);
        let shown = said.text.split_once("\n[truncated, ").unwrap().0;
        // The last of them is cut, and of no use.
        assert_eq!(said.facts.matches.len(), shown.lines().count() - 1);
        assert!(said.facts.truncated);
    }
}

#[test]
fn a_list_that_the_cap_cut_names_the_paths_that_it_shows_whole() {
    let path = |number: usize| PathBuf::from(format!("/ws/{number:03}{}", "é".repeat(96)));
    let listed = |files: usize| Listed {
        files: (0..files).map(path).collect(),
        total: files as u64,
        unreadable: UnreadableList::default(),
    };
    // 300 paths of 99 characters, each with its end but the last, have 29,999.
    let said = render_listed(searched(ToolsetName::Glrs), &listed(300));
    assert_eq!((said.facts.matches.len(), said.facts.truncated), (300, false));
    let said = render_listed(searched(ToolsetName::Glrs), &listed(301));
    assert!(said.text.ends_with("\n[truncated, 99 chars omitted]"), "{}", said.text);
    assert_eq!((said.facts.matches.len(), said.facts.truncated), (300, true));
    assert_eq!(said.facts.total, Some(301));
}
