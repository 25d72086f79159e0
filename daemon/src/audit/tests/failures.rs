//! A log that cannot be written: what is refused, what is counted, and what it tells afterwards.

use std::fs;
use std::process::Command;

use brattice_protocol::audit::{Event, Head};
use brattice_protocol::{ErrorCode, RpcError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::harness::{Place, call};
use crate::audit::{Audit, AuditError};

/// The lines for what was lost: how many events, and why.
fn gaps(place: &Place) -> Vec<(u64, String)> {
    let events = place.events().into_iter();
    let gap = |event| match event {
        Event::Gap { lost, reason, .. } => Some((lost, reason)),
        _ => None,
    };
    events.filter_map(gap).collect()
}

#[test]
fn while_it_cannot_be_written_events_are_refused_or_counted_and_then_told() {
    let place = Place::new();
    let audit = place.open();
    audit.record(&call(1));
    let away = place.state().with_file_name("away");
    fs::rename(place.state(), &away).unwrap();

    let error = audit.record_before(&call(2)).unwrap_err();
    let path = place.folder();
    let reason = format!(
        "cannot make the folder of the audit log, {}: No such file or directory (os error 2)",
        path.display()
    );
    assert!(matches!(error, AuditError::Make { .. }), "{error:?}");
    let told = RpcError::from(error);
    assert!(told.is(ErrorCode::Unavailable) && told.message == reason, "{told:?}");
    audit.record(&call(3));
    audit.record(&call(4));
    let standing = audit.standing();
    assert_eq!(
        (standing.fault, standing.loss.map(|loss| loss.events)),
        (Some(reason.clone()), Some(2))
    );

    fs::rename(&away, place.state()).unwrap();
    audit.record_before(&call(5)).unwrap();
    audit.record(&call(6));
    assert_eq!(gaps(&place), [(2, reason)]);
    assert_eq!(place.events()[2..], [call(5), call(6)]);
    let standing = audit.standing();
    assert_eq!((standing.fault, standing.loss), (None, None));
    place.verified();
}

#[test]
fn a_log_that_could_not_even_be_opened_is_opened_later() {
    let place = Place::new();
    place.open().record(&call(1));
    let away = place.state().join("away");
    fs::rename(place.folder(), &away).unwrap();
    fs::write(place.folder(), "no folder").unwrap();

    let audit = place.open();
    assert!(matches!(audit.record_before(&call(2)), Err(AuditError::NoFolder { .. })));
    audit.record(&call(3));
    assert_eq!(audit.standing().head, None);

    fs::remove_file(place.folder()).unwrap();
    fs::rename(&away, place.folder()).unwrap();
    audit.record(&call(4));
    assert_eq!((place.events().len(), gaps(&place)[0].0), (3, 1));
    place.verified();
}

/// Runs in a process of its own, whose files may not grow and which is not ended for trying.
#[test]
fn a_line_that_has_no_room_leaves_nothing_of_itself() {
    const INSIDE: &str = "BRATTICE_TEST_FILES_MAY_NOT_GROW";
    if std::env::var_os(INSIDE).is_none() {
        let name = std::thread::current().name().unwrap().to_owned();
        let run = Command::new("bash")
            .args(["-c", "trap '' XFSZ; exec \"$@\"", "bash"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{run:?}");
        return;
    }
    let place = Place::new();
    let audit = place.open();
    audit.record(&call(1));
    let line = place.text(1);
    let head = audit.standing().head;

    let before = getrlimit(Resource::Fsize);
    let room = Some(line.len() as u64 + 30);
    setrlimit(Resource::Fsize, Rlimit { current: room, ..before }).unwrap();
    let refused = |audit: &Audit| match audit.record_before(&call(2)).unwrap_err() {
        AuditError::Write { source, .. } => source.raw_os_error(),
        other => panic!("{other:?}"),
    };
    assert_eq!([refused(&audit), refused(&audit)], [Some(27); 2]);
    audit.record(&call(3));
    assert_eq!((place.text(1), audit.standing().head), (line, head));

    setrlimit(Resource::Fsize, before).unwrap();
    audit.record_before(&call(4)).unwrap();
    let (lost, reason) = gaps(&place).remove(0);
    assert!(lost == 1 && reason.ends_with("File too large (os error 27)"), "{lost}: {reason}");
    assert_eq!(place.verified().head.map(|Head { seq, .. }| seq), Some(3));
}
