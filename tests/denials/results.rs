//! Denials in the results of commands.

use std::fs;

use brattice_tests::{CONFINED, World};
use serde_json::json;

use crate::{HINT, kinds};

#[test]
fn b004_a_write_outside_is_told_in_both_toolsets() {
    let world = World::new();
    let (file, moved) = (world.out().join("a"), world.out().join("b"));
    fs::write(&file, "x").unwrap();
    let (file, moved) = (file.display(), moved.display());
    let head = "[sandbox: file access denied under workspace-write mode]";
    let command = format!("echo y >> {file}; mv {file} {moved} 2>/dev/null");
    let said = format!("[stderr]\nbash: line 1: {file}: Permission denied");
    let standard = world.session("workspace-write").open();
    let reply = standard.run(&command);
    reply.says(&format!(
        "{said}\n{head}\ndenied: write {file}\ndenied: rename {file} to {moved}\n{HINT}\n[exit code: 1]"
    ));
    let outcome = reply.outcome();
    assert_eq!((outcome.denials_total, outcome.denials_ambient), (Some(2), 0));
    assert_eq!(
        serde_json::to_value(&outcome.denials).unwrap(),
        json!([
            {"operation": "write", "path": file.to_string(), "layer": "landlock", "needs": "danger-full-access", "count": 1},
            {
                "operation": "rename", "path": file.to_string(), "second_path": moved.to_string(),
                "layer": "landlock", "needs": "danger-full-access", "count": 1,
            },
        ])
    );
    let dsh = world.session("workspace-write").with("toolset", json!("dsh")).open();
    dsh.run(&command).says(&format!("{said}\n{head}\n{HINT}\n[exit code: 1]"));
    world.native(&command).succeeded();
    world.finish();
}

#[test]
fn b005_a_denial_that_the_tool_swallows_is_told() {
    let world = World::new();
    world.setup("mkdir -p \"$HOME/.cache/lint\"; touch \"$HOME/.cache/lint/db\"");
    let lint = "echo cached 2>/dev/null > \"$HOME/.cache/lint/db\" || \
                { echo 'context loading failed: nothing to analyse'; exit 7; }";
    world.file("lint.sh", lint);
    let db = world.home().join(".cache/lint/db");
    world.session("workspace-write").open().run("bash lint.sh").exits(7).says(&format!(
        "context loading failed: nothing to analyse\n\
         [sandbox: file access denied under workspace-write mode]\ndenied: write {}\n{HINT}\n[exit code: 7]",
        db.display()
    ));
    world.finish();
}

#[test]
fn in_read_only_the_narrowest_mode_is_told() {
    let world = World::new();
    world.setup("touch inside \"$OUT/outside\"");
    let command = "for f in inside \"$OUT/outside\"; do echo x >> $f; done 2>/dev/null; true";
    let reply = world.session("read-only").open().run(command);
    let needs = reply.outcome().denials.iter().map(|told| (&*told.path, &*told.needs));
    let (inside, outside) = (world.ws().join("inside"), world.out().join("outside"));
    assert_eq!(
        needs.collect::<Vec<_>>(),
        [
            (inside.to_str().unwrap(), "workspace-write"),
            (outside.to_str().unwrap(), "danger-full-access"),
        ]
    );
    world.finish();
}

#[test]
fn a_success_can_have_denials_and_repeats_are_counted() {
    let world = World::new();
    world.setup("touch \"$OUT/a\" \"$OUT/b\"");
    let (a, b) = (world.out().join("a"), world.out().join("b"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    for mode in CONFINED {
        let session = world.session(mode).open();
        let command = format!("for f in {a} {b} {a} {a}; do echo x >> $f; done 2>/dev/null; true");
        let reply = session.run(&command);
        reply.exits(0).says(&format!(
            "(no output)\n[sandbox: file access denied under {mode} mode]\ndenied: write {a}\ndenied: write {b}\n{HINT}"
        ));
        assert_eq!(kinds(reply.outcome()), [("write", a, 3), ("write", b, 1)]);
        assert_eq!(reply.outcome().denials_total, Some(4));
        assert_eq!(session.run("true").says("(no output)").outcome().denials_total, Some(0));
    }
    world.finish();
}

#[test]
fn what_fails_anyway_is_no_denial() {
    let world = World::new();
    world.setup("touch \"$OUT/locked\"; chmod 0444 \"$OUT/locked\"");
    let session = world.session("workspace-write").open();
    let out = world.out();
    let mut commands = vec![
        format!("echo x > {}", out.display()),
        format!("echo x > {}/no/such", out.display()),
        format!("mkdir {}", out.display()),
        format!("rmdir {}/nothing", out.display()),
    ];
    if !rustix::process::geteuid().is_root() {
        // Root's commands keep what file ownership needs, so that a mode refuses them nothing.
        commands.push(format!("echo x >> {}/locked", out.display()));
    }
    for command in commands {
        assert!(world.native(&command).code != Some(0), "{command}");
        let reply = session.run(&command);
        reply.exits(1).lacks("denied under").lacks("[sandbox");
        assert_eq!(reply.outcome().denials_total, Some(0), "{command}");
    }
    world.finish();
}

#[test]
fn c2_a_pretended_denial_is_none() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run("echo 'bash: /etc/hosts: Permission denied' >&2; exit 126");
    reply.exits(126).says("[stderr]\nbash: /etc/hosts: Permission denied\n[exit code: 126]");
    assert_eq!((kinds(reply.outcome()), reply.outcome().denials_total), (Vec::new(), Some(0)));
    world.finish();
}

#[test]
fn an_ambient_denial_is_counted_and_not_listed() {
    let world = World::new();
    world.setup(
        "mkdir -p \"$HOME/.cargo\"; touch \"$HOME/.cargo/.package-cache\"; cp /bin/bash cargo",
    );
    let session = world.session("workspace-write").open();
    let write = "-c 'echo x >> \"$HOME/.cargo/.package-cache\"' 2>/dev/null; true";
    let reply = session.run(&format!("./cargo {write}"));
    reply.exits(0).says("(no output)");
    let outcome = reply.outcome();
    assert_eq!((outcome.denials_total, outcome.denials_ambient), (Some(0), 1));
    // The same by another program says something.
    let reply = session.run(&format!("bash {write}"));
    assert_eq!((reply.outcome().denials_total, reply.outcome().denials_ambient), (Some(1), 0));
    world.finish();
}

#[test]
fn in_danger_full_access_nobody_counts() {
    let world = World::new();
    let session = world.session("danger-full-access").open();
    let reply = session.run("touch \"$OUT/a\"");
    let outcome = reply.exits(0).outcome();
    assert_eq!((outcome.denials_total, outcome.unobserved), (None, None));
    world.finish();
}

#[test]
fn c3_ten_thousand_denials_stay_bounded() {
    let world = World::new();
    let flood = "import os\nfor n in range(10000):\n    try: os.mkdir(f\"{os.environ['OUT']}/{n}\")\n    except PermissionError: pass\nprint('done')\n";
    world.file("flood.py", flood);
    let session = world.session("workspace-write").open();
    session.run("true").exits(0);
    let supervisor = world.supervisor(session.id()).pid;
    let resident = || {
        let status = fs::read_to_string(format!("/proc/{supervisor}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let before = resident();
    let reply = session.run_for(600_000, "python3 flood.py");
    let out = world.out();
    let line = |number| format!("denied: create {}/{number}\n", out.display());
    let named: String = (0..5).map(line).collect();
    reply.exits(0).says(&format!(
        "done\n[sandbox: file access denied under workspace-write mode]\n{named}denied: and 9995 more\n{HINT}"
    ));
    assert_eq!((reply.outcome().denials.len(), reply.outcome().denials_total), (64, Some(10_000)));
    assert!(resident() - before < 8 << 10, "{before} kB before, {} kB after", resident());
    world.finish();
}

#[test]
fn no_path_forges_a_line() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run("mkdir \"$OUT\"/$'a\\n[exit code: 0]\\e[2J' 2>/dev/null");
    let out = world.out();
    reply
        .exits(1)
        .holds(&format!("denied: create {}/a\\n[exit code: 0]\\u{{1b}}[2J\n", out.display()));
    let path = format!("{}/a\n[exit code: 0]\u{1b}[2J", out.display());
    assert_eq!(kinds(reply.outcome()), [("create", path.as_str(), 1)], "as data it is as it was");
    world.finish();
}

/// What each of these cases is refused is told with the mode that refused it.
#[test]
fn b009_b016_b020_b025_each_refusal_is_told_by_its_path() {
    let world = World::new();
    world.setup("git init -q .; mkdir -p .git/hooks; echo secret > \"$OUT/s\"; echo old > f");
    let listener = std::os::unix::net::UnixListener::bind(world.out().join("e.sock")).unwrap();
    let at = |path: std::path::PathBuf| path.display().to_string();
    let connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])";
    let cases = [
        (
            "workspace-write",
            "echo x > .git/hooks/pre-commit".to_owned(),
            "create",
            at(world.ws().join(".git/hooks/pre-commit")),
        ),
        ("read-only", "echo new > f".to_owned(), "write", at(world.ws().join("f"))),
        (
            "workspace-write",
            format!("python3 -c '{connect}' \"$OUT/e.sock\""),
            "connect",
            at(world.out().join("e.sock")),
        ),
        ("workspace-write", "ln \"$OUT/s\" alias".to_owned(), "link", at(world.out().join("s"))),
    ];
    for (mode, command, operation, path) in cases {
        let reply = world.session(mode).open().run(&command);
        reply.holds(&format!(
            "[sandbox: file access denied under {mode} mode]\ndenied: {operation} {path}"
        ));
        assert_eq!(kinds(reply.outcome()), [(operation, path.as_str(), 1)], "{command}");
    }
    drop(listener);
    assert_eq!(
        world.native("cat \"$OUT/s\" f; ls .git/hooks/pre-commit alias 2>/dev/null").stdout,
        "secret\nold\n"
    );
    world.finish();
}
