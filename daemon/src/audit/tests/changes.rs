//! What others do to the log while a daemon runs, and between two of them.

use std::fs;

use brattice_protocol::audit::{Change, Event};

use super::harness::{Place, call};

fn changed(found: Change) -> Event {
    Event::LogChanged { file: "00000001.jsonl".parse().unwrap(), found }
}

/// What somebody does, what the log says of it, and what a reader finds.
type Case = (fn(&Place), Change, Option<&'static str>);

const CASES: [Case; 4] = [
    (
        |place| fs::remove_file(place.path(1)).unwrap(),
        Change::Removed,
        Some("00000002.jsonl:1: the log begins with line 3"),
    ),
    (
        |place| {
            fs::write(place.folder().join("copy"), place.text(1)).unwrap();
            fs::rename(place.folder().join("copy"), place.path(1)).unwrap();
        },
        Change::Replaced,
        None,
    ),
    (
        |place| fs::write(place.path(1), place.text(1) + "{}\n").unwrap(),
        Change::Resized,
        Some("00000001.jsonl:3: this is no line of the log"),
    ),
    (|place| place.cut(1, 4), Change::Resized, Some("00000001.jsonl:2: the file ends with ")),
];

#[test]
fn a_file_that_is_removed_replaced_or_resized_is_left_for_a_new_one_that_says_so() {
    for (change, found, fault) in CASES {
        let place = Place::new();
        let audit = place.open();
        audit.record(&call(1));
        audit.record(&call(2));
        change(&place);
        audit.record_before(&call(3)).unwrap();
        audit.record_before(&call(4)).unwrap();
        let events = place.events_of(2);
        assert_eq!(events, [changed(found), call(3), call(4)], "{found:?}");
        match fault {
            Some(begin) => assert!(place.fault().starts_with(begin), "{}", place.fault()),
            None => assert_eq!(place.verified().about.len(), 1),
        }
    }
}

#[test]
fn a_folder_that_was_moved_away_is_made_again() {
    let place = Place::new();
    let audit = place.open();
    audit.record(&call(1));
    fs::rename(place.folder(), place.state().join("elsewhere")).unwrap();
    audit.record_before(&call(2)).unwrap();
    assert_eq!(
        (place.files(), place.events_of(2)),
        (vec![2], vec![changed(Change::Removed), call(2)])
    );
    assert!(place.fault().starts_with("00000002.jsonl:1: the log begins with line 2"));
}

#[test]
fn a_last_line_that_is_none_is_told_and_not_gone_on_from() {
    let place = Place::new();
    let audit = place.open();
    audit.record(&call(1));
    audit.record(&call(2));
    let text = place.text(1);
    let (first, last) = text.split_once('\n').unwrap();
    fs::write(place.path(1), format!("{first}\n[{last}")).unwrap();
    place.open().record(&call(3));
    assert_eq!(place.events_of(2), [changed(Change::Damaged), call(3)]);
    assert!(place.fault().starts_with("00000001.jsonl:2: this is no line of the log"));
}
