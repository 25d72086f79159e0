//! `daemon.reload`: all or nothing, told to whoever asks and to the audit log.

use brattice_protocol::ErrorCode;
use brattice_protocol::audit::{Actor, Digest, Event};
use serde_json::json;

use crate::worlds::{configured, events, operator, root, users, write};

#[test]
fn a_reload_tells_what_it_read_or_what_is_wrong() {
    let world = configured("[limits]\nopen_files = 300\n").start();
    let path = users(&root(&world));
    let limit = |expected: &str| {
        world.session("workspace-write").open().run("ulimit -n").exits(0).says(expected);
    };
    limit("300");
    let good = "[limits]\nopen_files = 400\n";
    write(&path, good);
    assert_eq!(operator(&world, "daemon.reload").unwrap(), json!({"files": [path]}));
    limit("400");

    write(&path, "[limits]\nopen_files = 500\n[session]\nmode = \"rw\"\n");
    let error = operator(&world, "daemon.reload").unwrap_err();
    let reason = format!(
        "the configuration {} is faulty: line 4, column 8: [session] mode: expected one of \"read-only\", \
         \"workspace-write\", \"danger-full-access\", got \"rw\"",
        path.display()
    );
    assert!(error.is(ErrorCode::Invalid), "{error:?}");
    assert_eq!(error.message, reason);
    limit("400");

    let mut written = events(&world);
    written.retain(|event| {
        matches!(event, Event::ConfigurationLoaded { .. } | Event::ConfigurationRefused { .. })
    });
    let loaded = |text: &str| Event::ConfigurationLoaded {
        path: path.display().to_string(),
        sha256: Digest::of(text.as_bytes()),
    };
    assert_eq!(
        written,
        [
            loaded("[limits]\nopen_files = 300\n"),
            loaded(good),
            Event::ConfigurationRefused { by: Actor::Operator, reason },
        ]
    );
    world.finish();
}

#[test]
fn a_reload_is_the_operators_to_ask_for() {
    let world = configured("").start();
    let error = world.wire().request("daemon.reload", json!({})).unwrap_err();
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    world.finish();
}
