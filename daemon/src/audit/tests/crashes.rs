//! Daemons that ended within a line, and what the next one makes of that.

use brattice_protocol::audit::{Digest, Event, TornTail};
use proptest::prelude::*;

use super::harness::{Place, call};
use crate::audit::writer::Bounds;

fn torn(file: u64, part: &str) -> TornTail {
    let file = format!("{file:08}.jsonl").parse().unwrap();
    TornTail { file, bytes: part.len() as u64, sha256: Digest::of(part.as_bytes()) }
}

#[test]
fn a_part_of_a_line_stays_and_the_next_file_accounts_for_it() {
    let place = Place::new();
    let audit = place.open();
    audit.record(&call(1));
    audit.record(&call(2));
    place.cut(1, 20);
    let left = place.text(1);
    let part = left.lines().last().unwrap();
    assert_eq!(place.verified().unfinished, part.len() as u64);

    place.open().record(&call(3));
    assert_eq!((place.files(), place.text(1)), (vec![1, 2], left.clone()));
    let recovered = Event::Recovered { tails: vec![torn(1, part)] };
    assert_eq!(place.events(), [call(1), recovered, call(3)]);
    assert_eq!(place.verified().about.len(), 1);
    place.open().record(&call(4));
    assert_eq!(place.files(), [1, 2], "it is accounted for once");
    place.verified();
}

#[test]
fn daemons_that_crash_in_their_first_line_are_accounted_for_together() {
    let place = Place::new();
    place.open().record(&call(1));
    place.cut(1, 1);
    let first = place.text(1);
    std::fs::write(place.path(2), "{\"seq\":1,").unwrap();
    place.open().record(&call(3));
    let tails = vec![torn(1, &first), torn(2, "{\"seq\":1,")];
    assert_eq!(place.events(), [Event::Recovered { tails }, call(3)]);
    assert_eq!((place.files(), place.verified().first), (vec![1, 2, 3], 1));
}

#[test]
fn a_file_that_was_only_made_is_gone_on_with() {
    let place = Place::new();
    place.open().record(&call(1));
    std::fs::write(place.path(2), "").unwrap();
    place.open().record(&call(2));
    assert_eq!((place.files(), place.events()), (vec![1, 2], vec![call(1), call(2)]));

    place.cut(2, 3);
    std::fs::write(place.path(3), "").unwrap();
    place.open().record(&call(3));
    assert_eq!(place.files(), [1, 2, 3]);
    place.verified();
}

#[test]
fn zeros_that_a_lost_page_left_are_a_part_of_a_line() {
    let place = Place::new();
    place.open().record(&call(1));
    let whole = place.text(1);
    std::fs::write(place.path(1), format!("{whole}{}", "\0".repeat(9_000))).unwrap();
    place.open().record(&call(2));
    assert_eq!(place.events().last(), Some(&call(2)));
    place.verified();
}

#[derive(Clone, Debug)]
enum Step {
    Write,
    Reopen,
    /// The last line loses so many bytes, or all but one, and the daemon ends.
    Crash(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Write),
        1 => Just(Step::Reopen),
        1 => (1_u64..200).prop_map(Step::Crash),
    ];
    proptest::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_happens_to_daemons_the_log_verifies(steps in steps()) {
        let place = Place::new();
        let bounds = Bounds { file: 700, kept: 2_000 };
        let mut audit = place.open_with(bounds);
        let (mut number, mut is_last_whole) = (0, false);
        for step in steps {
            match step {
                Step::Write => {
                    number += 1;
                    audit.record_before(&call(number)).unwrap();
                    is_last_whole = true;
                }
                Step::Reopen => {
                    audit = place.open_with(bounds);
                    is_last_whole = false;
                }
                Step::Crash(bytes) if is_last_whole => {
                    let last = place.files().pop().unwrap();
                    let line = place.text(last).lines().last().unwrap().len() as u64;
                    place.cut(last, bytes.min(line));
                    audit = place.open_with(bounds);
                    is_last_whole = false;
                }
                Step::Crash(_) => {}
            }
            prop_assert!(place.verify().is_ok(), "{:?}", place.verify());
        }
    }
}
