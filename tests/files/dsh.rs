//! The same tools in the words of `dsh`.

use brattice_tests::World;
use serde_json::json;

use crate::{call, content, edit, fails, opening, write};

#[test]
fn files_are_shown_in_tags_and_changes_told_in_short() {
    let world = World::new();
    world.file("f", "one\n\ttwo\nthree\n");
    let session = opening(&world).with("toolset", json!("dsh")).open();
    let path = world.ws().join("f").display().to_string();
    let shown = |body: &str| {
        format!("<path>{path}</path>\n<type>file</type>\n<content>\n{body}\n</content>")
    };
    call(&session, "read", json!({"file_path": "f", "limit": 2, "unknown": 1}))
        .says(&shown("1: one\n2: \ttwo\n\n(Showing lines 1-2 of 3. Use offset=3 to continue.)"));
    call(&session, "read", json!({"file_path": "f", "offset": 3}))
        .says(&shown("3: three\n\n(End of file - total 3 lines)"));
    edit(&session, "f", "two", "2").says(&format!("edited {path} (1 replacement)"));
    write(&session, "f", "new\n").says(&format!("updated {path}"));
    write(&session, "g", "new\n").says(&format!("created {}", world.ws().join("g").display()));
    assert_eq!(content(&world, "f"), b"new\n");
    world.finish();
}

#[test]
fn failures_begin_as_all_do_there() {
    let world = World::new();
    world.setup("mkdir d; echo x > f");
    let session = opening(&world).with("toolset", json!("dsh")).open();
    let ws = world.ws().display().to_string();
    fails(
        &call(&session, "read", json!({"file_path": "d"})),
        &format!("Error: {ws}/d is a directory, not a regular file; list it with `ls` in bash"),
    );
    fails(
        &write(&session, "f", "y"),
        &format!(
            "Error: {ws}/f exists and has not been read in this session, or not since the daemon was started: read it first"
        ),
    );
    let out = world.out().join("new").display().to_string();
    let reply = write(&session, &out, "y");
    assert!(reply.is_error());
    reply.says(&format!(
        "Error: {out}: cannot create: Permission denied (os error 13)\n\
         [sandbox: file access denied under workspace-write mode]\n{}",
        crate::hint("danger-full-access")
    ));
    fails(
        &call(&session, "grep", json!({"pattern": "x"})),
        "Error: unknown tool `grep`: expected one of `bash`, `edit`, `read`, `task_kill`, `task_list`, `task_output`, `todo_write`, `write`",
    );
    world.finish();
}
