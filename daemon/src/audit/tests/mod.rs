//! Tests of the log in a real folder: `harness` has one, the others are grouped by what happens to it.

mod changes;
mod crashes;
mod failures;
mod harness;
mod retention;
mod tail;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use brattice_protocol::audit::{DaemonEnd, Event};

use harness::{Place, call};

#[test]
fn events_are_written_as_they_come_and_hold_on_to_each_other() {
    let place = Place::new();
    let audit = place.open();
    audit.record(&call(1));
    audit.record_before(&call(2)).unwrap();
    let stopped = Event::DaemonStopped { end: DaemonEnd::InOrder };
    audit.record(&stopped);
    assert_eq!(place.events(), [call(1), call(2), stopped]);
    assert_eq!(place.verified().head, audit.standing().head);
    assert_eq!(*audit.written().borrow(), 3);
}

#[test]
fn the_next_daemon_goes_on_in_the_same_file() {
    let place = Place::new();
    for number in 1..4 {
        place.open().record(&call(number));
    }
    assert_eq!((place.files(), place.events()), (vec![1], vec![call(1), call(2), call(3)]));
    place.verified();
}

#[test]
fn the_folder_and_its_files_are_private_whoever_changed_that() {
    let place = Place::new();
    let mode = |path: std::path::PathBuf| path.metadata().unwrap().permissions().mode() & 0o7777;
    place.open().record(&call(1));
    assert_eq!((mode(place.folder()), mode(place.path(1))), (0o700, 0o600));
    for (path, open) in [(place.folder(), 0o755), (place.path(1), 0o644)] {
        std::fs::set_permissions(path, Permissions::from_mode(open)).unwrap();
    }
    place.open().record(&call(2));
    assert_eq!((mode(place.folder()), mode(place.path(1))), (0o700, 0o600));
}

#[test]
fn what_is_no_file_of_the_log_is_left_alone() {
    let place = Place::new();
    place.open().record(&call(1));
    let stray = place.folder().join("00000009.jsonl.bak");
    std::fs::write(&stray, "mine").unwrap();
    place.open().record(&call(2));
    assert_eq!(
        (place.files(), std::fs::read_to_string(stray).unwrap()),
        (vec![1], "mine".to_owned())
    );
}
