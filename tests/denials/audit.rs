//! Denials in the audit log, and for those who watch it.

use std::path::PathBuf;

use brattice_protocol::Message;
use brattice_protocol::audit::{DenialCounts, Event, Line, Repeated};
use brattice_tests::{Wire, World};
use serde_json::json;

fn events(world: &World) -> Vec<Event> {
    let answer =
        Wire::open(&world.control()).request("audit.tail", json!({"lines": 1000})).unwrap();
    let lines = answer["lines"].as_array().unwrap().clone();
    lines.into_iter().map(|line| serde_json::from_value::<Line>(line).unwrap().event).collect()
}

/// Number and path of each denial that the log has.
pub(crate) fn denied(world: &World) -> Vec<(u64, PathBuf)> {
    let denied = |event| match event {
        Event::Denial { number, denial, .. } => Some((number, denial.path.into())),
        _ => None,
    };
    events(world).into_iter().filter_map(denied).collect()
}

#[test]
fn each_kind_is_a_line_and_the_end_of_the_task_has_the_counts() {
    let world = World::new();
    world.setup("touch \"$OUT/a\" \"$OUT/b\"");
    let session = world.session("workspace-write").open();
    session.run("for f in a b a; do echo x 2>/dev/null >> \"$OUT/$f\"; done");
    session.run("echo x 2>/dev/null >> \"$OUT/a\"");
    let (a, b) = (world.out().join("a"), world.out().join("b"));
    assert_eq!(denied(&world), [(1, a.clone()), (2, b), (3, a)]);
    let told = events(&world);
    let first = told.iter().position(|event| matches!(event, Event::Denial { .. })).unwrap();
    let Event::Denial { session: of, task, denial, .. } = &told[first] else { unreachable!() };
    assert_eq!(
        (of.as_str(), task.as_str(), denial.program.as_str()),
        (session.id(), "bash-1", "bash")
    );
    assert_eq!((denial.errno.as_str(), denial.right.as_str()), ("EACCES", "write_file"));
    let Event::TaskFinished { denials: Some(counts), .. } = &told[first + 2] else {
        panic!("{:#?}", told[first + 2])
    };
    let repeated = vec![Repeated { number: 1, count: 2 }];
    let expected = DenialCounts { total: 3, ambient: 0, unobserved: 0, repeated };
    assert_eq!(*counts, expected);
    world.finish();
}

#[test]
fn a_denial_is_told_while_its_command_runs() {
    let world = World::new();
    world.setup("touch \"$OUT/a\"");
    let mut operator = Wire::open(&world.control());
    operator.request("events.watch", json!({"events": ["denial"]})).unwrap();
    let session = world.session("workspace-write").open();
    let call = session.begin(json!({"command": "echo x 2>/dev/null >> \"$OUT/a\"; until [ -e go ]; do sleep 0.02; done"}));
    let Some(Message::Notification(told)) = operator.read() else { panic!("no event") };
    assert_eq!(told.params["event"]["path"], json!(world.out().join("a")));
    world.file("go", "");
    session.end(call).exits(0);
    world.finish();
}
