//! What of the log is told to whoever asks.

use brattice_protocol::audit::Event;
use brattice_protocol::{CallId, SessionId};
use serde_json::{Value, json};

use super::harness::{Place, call};
use crate::audit::writer::Bounds;
use crate::audit::{Audit, Told, Wanted};

fn numbers(told: &Told) -> Vec<u64> {
    told.lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect()
}

fn newest(audit: &Audit, lines: usize) -> Vec<u64> {
    numbers(&audit.tail(Wanted::Newest { lines }).unwrap())
}

fn long(bytes: usize) -> Event {
    Event::Call {
        session: SessionId::new("s"),
        call: CallId::new("long"),
        tool: "bash".to_owned(),
        arguments: json!({"command": "x".repeat(bytes)}),
    }
}

#[test]
fn the_newest_lines_come_oldest_first_from_as_many_files_as_it_takes() {
    let place = Place::new();
    let audit = place.open_with(Bounds { file: 400, ..Bounds::DEFAULT });
    assert_eq!(newest(&audit, 5), Vec::<u64>::new());
    for number in 1..=10 {
        audit.record(&call(number));
    }
    assert_eq!(newest(&audit, 5), [6, 7, 8, 9, 10]);
    assert_eq!(newest(&audit, 1_000), (1..=10).collect::<Vec<_>>());
    let last = *place.files().last().unwrap();
    assert!(last > 3);
    let told = audit.tail(Wanted::Newest { lines: 1 }).unwrap();
    let line: Value = serde_json::from_str(place.text(last).lines().last().unwrap()).unwrap();
    assert_eq!((told.lines, told.skipped), (vec![line], 0));
}

#[test]
fn lines_after_a_number_are_the_oldest_of_them() {
    let place = Place::new();
    let audit = place.open();
    for number in 1..=1_500 {
        audit.record(&call(number));
    }
    let after = |seq, lines| {
        let told = audit.tail(Wanted::After { seq, lines }).unwrap();
        (numbers(&told), told.skipped)
    };
    assert_eq!(after(1_495, 3), (vec![1_496, 1_497, 1_498], 0));
    assert_eq!(after(1_500, 3), (Vec::new(), 0));
    assert_eq!(after(9_000, 3), (Vec::new(), 0));
    let (lines, skipped) = after(10, 1);
    assert_eq!(lines[0] - skipped, 11);
    assert!(skipped >= 490, "{skipped}");
}

#[test]
fn an_answer_is_bounded_and_a_long_line_told_by_its_header() {
    let place = Place::new();
    let audit = place.open();
    for _ in 0..9 {
        audit.record(&long(50 << 10));
    }
    assert_eq!(newest(&audit, 100), [5, 6, 7, 8, 9]);
    audit.record(&long(100 << 10));
    let told = audit.tail(Wanted::Newest { lines: 1 }).unwrap().lines.remove(0);
    let length = place.text(1).lines().last().unwrap().len() + 1;
    assert_eq!(
        (&told["seq"], &told["event"], &told["cut"]),
        (&json!(10), &json!("call"), &json!(length))
    );
    assert_eq!(told.as_object().unwrap().len(), 5);
}

#[test]
fn what_is_no_line_is_left_out() {
    let place = Place::new();
    let audit = place.open();
    audit.record(&call(1));
    std::fs::write(place.path(1), place.text(1) + "no line\npart").unwrap();
    assert_eq!(newest(&audit, 10), [1]);
}
