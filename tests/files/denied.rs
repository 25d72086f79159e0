//! What the sandbox refuses to the tools, how it is told and recorded, and the same where nothing is confined.

use std::fs;

use brattice_tests::{CONFINED, Reply, World};
use serde_json::{Value, json};

use crate::{call, edit, opening, read, write};

/// Operation and path of each denial of a call that the audit log has.
fn recorded(world: &World) -> Vec<(String, String)> {
    let told = |line: &Value, fact: &str| line[fact].as_str().unwrap().to_owned();
    let lines = world.audited(&["call_denial"]).into_iter();
    lines.map(|line| (told(&line, "operation"), told(&line, "path"))).collect()
}

/// Operation, path, narrowest mode and count of each denial of a result.
fn kinds(reply: &Reply) -> Value {
    let denials = reply.result.structured_content["denials"].as_array().unwrap().iter();
    denials
        .map(|told| json!([told["operation"], told["path"], told["needs"], told["count"]]))
        .collect()
}

/// The last lines of a refusal, all but what was wrong.
fn closing(mode: &str, operation: &str, path: &str) -> String {
    let needed = if mode == "read-only" { "workspace-write" } else { "danger-full-access" };
    let hint = crate::hint(needed);
    format!("\n[sandbox: file access denied under {mode} mode]\ndenied: {operation} {path}\n{hint}")
}

#[test]
fn b017_a_link_that_leads_out_lets_nothing_out() {
    let world = World::new();
    world.setup("echo original > \"$OUT/victim\"; ln -s \"$OUT/victim\" notes.md; ln -s \"$OUT/not-yet\" draft.md");
    let session = opening(&world).open();
    read(&session, "notes.md").holds("1|original");
    let (victim, absent) = (world.out().join("victim"), world.out().join("not-yet"));
    let (victim, absent) = (victim.to_str().unwrap(), absent.to_str().unwrap());
    let attempts = [
        (write(&session, "notes.md", "OWNED\n"), "write", victim),
        (write(&session, "draft.md", "OWNED\n"), "create", absent),
        (edit(&session, "notes.md", "original", "OWNED"), "write", victim),
    ];
    for (reply, operation, path) in &attempts {
        assert!(reply.is_error());
        assert!(
            reply.text().ends_with(&closing("workspace-write", operation, path)),
            "{}",
            reply.text()
        );
        assert_eq!(kinds(reply), json!([[operation, path, "danger-full-access", 1]]));
        let facts = &reply.result.structured_content;
        assert_eq!(
            (&facts["denials_total"], &facts["sandbox"]["mode"]),
            (&json!(1), &json!("workspace-write"))
        );
    }
    let expected = [("write", victim), ("create", absent), ("write", victim)];
    assert_eq!(
        recorded(&world),
        expected.map(|(operation, path)| (operation.to_owned(), path.to_owned()))
    );
    assert_eq!(fs::read_to_string(victim).unwrap(), "original\n");
    assert_eq!(fs::read_dir(world.out()).unwrap().count(), 1);
    assert!(world.ws().join("notes.md").is_symlink() && world.ws().join("draft.md").is_symlink());
    // The same where nothing is confined.
    let native = world.session("danger-full-access").open();
    read(&native, "notes.md");
    edit(&native, "notes.md", "original", "native").holds("1 replacement");
    write(&native, "draft.md", "made\n").says(&format!("created {absent}"));
    assert_eq!(fs::read_to_string(victim).unwrap(), "native\n");
    world.finish();
}

#[test]
fn b018_no_folder_is_made_outside_by_a_link_or_by_dots() {
    let world = World::new();
    world.setup("mkdir \"$OUT/real\"; ln -s \"$OUT/real\" link");
    let session = opening(&world).open();
    let deep = world.out().join("real/newdir/deeper/file.txt");
    let beside = world.ws().parent().unwrap().join("escape.txt");
    for (name, real) in [("link/newdir/deeper/file.txt", &deep), ("sub/../../escape.txt", &beside)]
    {
        let reply = write(&session, name, "x");
        assert!(reply.is_error(), "{name}");
        // With a missing folder before the dots there is no way there at all, as for the kernel.
        if name.starts_with("link") {
            let expected = closing("workspace-write", "create", real.to_str().unwrap());
            assert!(reply.text().ends_with(&expected), "{}", reply.text());
        }
    }
    world.setup("mkdir sub");
    let reply = write(&session, "sub/../../escape.txt", "x");
    let expected = closing("workspace-write", "create", beside.to_str().unwrap());
    assert!(reply.text().ends_with(&expected), "{}", reply.text());
    session
        .run("mkdir -p link/n2 && echo x > link/n2/f")
        .holds("[sandbox: file access denied under workspace-write mode]");
    assert_eq!(fs::read_dir(world.out().join("real")).unwrap().count(), 0);
    assert!(!beside.exists());
    world.finish();
}

#[test]
fn in_read_only_nothing_is_written_and_the_narrowest_mode_is_told() {
    let world = World::new();
    world.file("f", "old\n");
    let session = world.session("read-only").open();
    read(&session, "f");
    let (path, new) = (world.ws().join("f"), world.ws().join("new/g"));
    let (path, new) = (path.to_str().unwrap(), new.to_str().unwrap());
    for (reply, operation, path) in [
        (edit(&session, "f", "old", "new"), "write", path),
        (write(&session, "f", "new\n"), "write", path),
        (write(&session, "new/g", "new\n"), "create", new),
    ] {
        assert!(reply.is_error());
        assert!(reply.text().ends_with(&closing("read-only", operation, path)), "{}", reply.text());
        assert_eq!(kinds(&reply), json!([[operation, path, "workspace-write", 1]]));
    }
    let dry = json!({"file_path": "f", "old_string": "old", "new_string": "new", "dry_run": true});
    call(&session, "edit", dry).holds("would edit");
    assert_eq!(crate::names(&world), ["f"]);
    // What was read stays read when the session may do more.
    session.request("session.update", json!({"mode": "workspace-write"})).unwrap();
    edit(&session, "f", "old", "new").holds("1 replacement");
    world.finish();
}

#[test]
fn what_permissions_refuse_is_no_denial() {
    // Root's workers keep what file ownership needs, so that a mode of a file refuses them nothing.
    let is_root = rustix::process::geteuid().is_root();
    let world = World::new();
    world.setup("mkdir locked; echo x > locked/f; chmod 444 locked/f; chmod 555 locked; echo y > shut; chmod 000 shut");
    for mode in CONFINED {
        let session = world.session(mode).open();
        read(&session, "locked/f");
        let reply = call(&session, "read", json!({"file_path": "shut"}));
        let path = world.ws().join("shut").display().to_string();
        if is_root {
            assert_eq!((reply.text().lines().next(), reply.is_error()), (Some("1|y"), false));
        } else {
            let refused = format!("{path}: cannot read: Permission denied (os error 13)");
            crate::fails(&reply, &refused);
        }
    }
    let session = opening(&world).open();
    read(&session, "locked/f");
    let reply = write(&session, "locked/f", "z");
    assert_eq!(reply.is_error(), !is_root, "{}", reply.text());
    reply.lacks("[sandbox").holds(if is_root { "updated" } else { "Permission denied" });
    let left: &[u8] = if is_root { b"z" } else { b"x\n" };
    assert_eq!(crate::content(&world, "locked/f"), left);
    assert_eq!(recorded(&world), Vec::new());
    world.setup("chmod 755 locked");
    world.finish();
}

#[test]
fn what_is_protected_is_denied_as_to_a_command_and_can_be_asked_for() {
    let world = World::builder()
        .configured("[session]\nprotect = [\".git/hooks\", \"sub/Makefile\"]\n")
        .start();
    world.setup(
        "git init -q .; echo 'exit 0' > .git/hooks/pre-commit; mkdir sub; echo all: > sub/Makefile; echo old > plain",
    );
    let session = opening(&world).answering().open();
    let path = |name: &str| world.ws().join(name).display().to_string();
    for name in [".git/hooks/pre-commit", "sub/Makefile", "plain"] {
        read(&session, name);
    }
    let (hook, made) = (path(".git/hooks/pre-commit"), path(".git/hooks/deep/new"));
    let makefile = path("sub/Makefile");
    let attempts = [
        (write(&session, ".git/hooks/pre-commit", "exit 1\n"), "write", &hook),
        (write(&session, ".git/hooks/deep/new", "x\n"), "create", &made),
        (edit(&session, "sub/Makefile", "all", "none"), "write", &makefile),
    ];
    for (reply, operation, path) in &attempts {
        assert!(reply.is_error());
        let text = reply.text();
        assert!(text.contains("Read-only file system"), "{text}");
        assert!(text.ends_with(&closing("workspace-write", operation, path)), "{text}");
        let facts = &reply.result.structured_content["denials"];
        assert_eq!(
            facts,
            &json!([{
                "operation": operation, "path": path, "layer": "namespaces", "needs": "danger-full-access", "count": 1,
            }])
        );
    }
    let expected = [("write", &hook), ("create", &made), ("write", &makefile)];
    assert_eq!(
        recorded(&world),
        expected.map(|(operation, path)| (operation.to_owned(), path.clone()))
    );
    // Of several files none is changed, whichever comes first.
    let one = |path: &str, old: &str| json!({"path": path, "edits": [{"old_string": old, "new_string": "x"}]});
    let both = json!({"files": [one("plain", "old"), one("sub/Makefile", "all")]});
    let reply = call(&session, "edit", both);
    assert!(reply.is_error());
    reply
        .holds("\nnothing was written\n[sandbox: file access denied under workspace-write mode]\n");
    assert_eq!(crate::content(&world, "plain"), b"old\n");
    // The folders around it are as writable as any.
    write(&session, ".git/description", "mine\n").holds("exists and has not been read");
    write(&session, "sub/other", "x\n").holds("created");
    // A person may allow it.
    let mut asked = json!({"file_path": ".git/hooks/pre-commit", "content": "exit 1\n"});
    asked["sandbox_permissions"] = json!("danger-full-access");
    asked["justification"] = json!("a hook");
    let pending = session.begin_call(json!({"name": "write", "arguments": asked}));
    let question = session.question();
    let denied: Vec<_> = question.request().denials.iter().map(|it| it.layer.clone()).collect();
    assert_eq!(denied, ["namespaces"]);
    question.choose(brattice_protocol::approval::ApprovalChoice::AllowOnce);
    session.end(pending).holds("updated");
    assert_eq!(crate::content(&world, ".git/hooks/pre-commit"), b"exit 1\n");
    world.finish();
}

#[test]
fn a_file_system_that_is_read_only_by_itself_is_no_denial() {
    let builder = World::builder();
    let mount = format!(
        "mkdir -p {0}/ws/ro && mount -t tmpfs tmpfs {0}/ws/ro && echo old > {0}/ws/ro/f && mount -o remount,bind,ro {0}/ws/ro && exec {{}}",
        builder.root().display()
    );
    let world = builder.wrapper(&["unshare", "-rm", "/bin/bash", "-c", &mount]).start();
    let session = opening(&world).open();
    read(&session, "ro/f");
    for reply in [write(&session, "ro/f", "x"), write(&session, "ro/new", "x")] {
        assert!(reply.is_error());
        reply.holds("Read-only file system").lacks("[sandbox");
    }
    assert_eq!(recorded(&world), Vec::new());
}

#[test]
fn what_is_hidden_is_told_to_be_refused_by_the_sandbox() {
    let builder = World::builder();
    let hidden = builder.root().join("out/hidden");
    let world =
        builder.configured(&format!("[session]\ndeny_read = [\"{}\"]\n", hidden.display())).start();
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("key"), "secret\n").unwrap();
    let session = opening(&world).open();
    let reply = call(&session, "read", json!({"file_path": hidden.join("key")}));
    assert!(reply.is_error());
    let text = reply.text();
    assert!(!text.contains("secret"), "{text}");
    assert!(text.ends_with("\n[sandbox: file access denied under workspace-write mode]"), "{text}");
    read(&world.session("danger-full-access").open(), hidden.join("key").to_str().unwrap())
        .holds("1|secret");
    world.finish();
}
