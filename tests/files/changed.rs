//! What must have been read before it is changed, and what came between.

use std::thread;

use brattice_tests::World;
use serde_json::json;

use crate::{call, content, edit, fails, opening, read, write};

#[test]
fn a_file_must_have_been_read_in_this_session() {
    let mut world = World::new();
    world.file("f", "one\ntwo\n");
    let session = opening(&world).open();
    let path = world.ws().join("f").display().to_string();
    let never = format!(
        "{path} exists and has not been read in this session, or not since the daemon was started: read it first"
    );
    session.run("cat f; grep -n one f").exits(0);
    call(&session, "grep", json!({"pattern": "one"})).says("f:1:one");
    fails(&write(&session, "f", "x\n"), &never);
    fails(&edit(&session, "f", "one", "1"), &never);
    let other = opening(&world).open();
    read(&other, "f");
    fails(&edit(&session, "f", "one", "1"), &never);
    // Any window counts, an empty one included; another name of the file is the same file.
    call(&session, "read", json!({"file_path": "../ws/./f", "offset": 99})).holds("past the end");
    edit(&session, "f", "one", "1").holds("1 replacement");
    write(&session, "f", "two\n").holds("updated");
    write(&session, "new", "1\n").holds("created");
    edit(&session, "new", "1", "2").holds("1 replacement");
    write(&session, "new", "3\n").holds("updated");
    write(&session, "new", "3\n").says(&format!(
        "unchanged {}: it has this content already, and nothing was written",
        world.ws().join("new").display()
    ));
    let id = session.id().to_owned();
    world.restart();
    let session = world.resume(&id).open();
    fails(&write(&session, "f", "x\n"), &never);
    assert_eq!(content(&world, "f"), b"two\n");
    world.finish();
}

#[test]
fn b074_what_somebody_else_changed_is_not_overwritten_and_edited_as_it_is() {
    let world = World::new();
    world.file("n.md", "alpha\nbeta\n");
    let session = opening(&world).open();
    read(&session, "n.md");
    world.file("n.md", "alpha\nbeta\nHUMAN LINE\n");
    let path = world.ws().join("n.md").display().to_string();
    fails(
        &write(&session, "n.md", "alpha\nBETA\n"),
        &format!("{path} changed since it was read in this session: read it again"),
    );
    assert_eq!(content(&world, "n.md"), b"alpha\nbeta\nHUMAN LINE\n");
    edit(&session, "n.md", "beta", "BETA").holds("1 replacement");
    assert_eq!(content(&world, "n.md"), b"alpha\nBETA\nHUMAN LINE\n");
    write(&session, "n.md", "mine\n").holds("updated");
    world.finish();
}

#[test]
fn b074_two_clients_lose_no_edit_of_one_file() {
    const EDITS: usize = 200;
    let world = World::new();
    world.file("f", "left 0\nmiddle\nright 0\n");
    thread::scope(|scope| {
        for side in ["left", "right"] {
            let session = opening(&world).open();
            scope.spawn(move || {
                read(&session, "f");
                for number in 0..EDITS {
                    let (old, new) =
                        (format!("{side} {number}\n"), format!("{side} {}\n", number + 1));
                    let reply = edit(&session, "f", &old, &new);
                    assert!(!reply.is_error(), "{side} {number}: {}", reply.text());
                }
            });
        }
    });
    let expected = format!("left {EDITS}\nmiddle\nright {EDITS}\n");
    assert_eq!(String::from_utf8(content(&world, "f")).unwrap(), expected);
    assert_eq!(crate::names(&world), ["f"]);
    world.finish();
}

#[test]
fn b075_a_time_stamp_is_no_change_and_hides_none() {
    let world = World::new();
    world.file("t.md", "same\n");
    let session = opening(&world).open();
    read(&session, "t.md");
    world.setup("touch -d '+1 hour' t.md");
    write(&session, "t.md", "new\n").holds("updated");
    world.setup("touch -r t.md stamp; printf 'newX' > t.md; touch -r stamp t.md; rm stamp");
    let path = world.ws().join("t.md").display().to_string();
    fails(
        &write(&session, "t.md", "newer\n"),
        &format!("{path} changed since it was read in this session: read it again"),
    );
    assert_eq!(content(&world, "t.md"), b"newX");
    world.finish();
}
