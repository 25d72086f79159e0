//! Files that are full, and files that are too old.

use brattice_protocol::audit::Event;

use super::harness::{Place, call};
use crate::audit::writer::Bounds;

/// Files of three or four lines, and three or four of them.
const SMALL: Bounds = Bounds { file: 700, kept: 2_500 };

#[test]
fn the_chain_goes_on_over_files_and_the_oldest_are_removed_and_told() {
    let place = Place::new();
    let audit = place.open_with(SMALL);
    for number in 1..=40 {
        audit.record_before(&call(number)).unwrap();
    }
    let files = place.files();
    assert!(files[0] > 5 && files.len() <= 5, "{files:?}");
    assert!(files.windows(2).all(|pair| pair[1] == pair[0] + 1), "{files:?}");
    let size: u64 = files.iter().map(|file| place.path(*file).metadata().unwrap().len()).sum();
    assert!(size < SMALL.kept + SMALL.file + 1_000, "{size}");
    let verified = place.verified();
    assert!(verified.first > 10, "{verified:?}");
    assert_eq!(verified.head, audit.standing().head);
    assert!(place.events().contains(&call(40)));

    std::fs::remove_file(place.path(files[0])).unwrap();
    assert!(place.fault().contains("the log begins with line"), "{}", place.fault());
}

#[test]
fn a_file_without_a_line_goes_with_those_before_it() {
    let place = Place::new();
    let audit = place.open_with(SMALL);
    audit.record(&call(1));
    drop(audit);
    place.cut(1, 1);
    std::fs::write(place.path(2), "part").unwrap();
    let audit = place.open_with(Bounds { file: 1, kept: 0 });
    audit.record(&call(2));
    audit.record(&call(3));
    let files = |numbers: &[u64]| {
        numbers.iter().map(|number| format!("{number:08}.jsonl").parse().unwrap()).collect()
    };
    let is_pruned = |event: &&Event| matches!(event, Event::Pruned { .. });
    let events = place.events();
    let Some(Event::Pruned { files: removed, through: 2, .. }) = events.iter().find(is_pruned)
    else {
        panic!("{events:?}");
    };
    assert_eq!((removed, place.files()), (&files(&[1, 2, 3]), vec![4]));
    place.verified();
}

#[test]
fn files_that_could_not_be_removed_go_the_next_time() {
    let place = Place::new();
    let tight = Bounds { file: 1, kept: 0 };
    let audit = place.open_with(tight);
    audit.record(&call(1));
    let first = std::fs::read(place.path(1)).unwrap();
    audit.record(&call(2));
    std::fs::write(place.path(1), first).unwrap();
    place.verified();
    audit.record(&call(3));
    assert_eq!(place.files(), [3]);
    place.verified();
}
