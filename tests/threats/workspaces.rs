//! F12: what a command leaves in its own workspace does not widen a session that is opened later.

use std::fs;

use brattice_protocol::ErrorCode;
use brattice_tests::World;
use serde_json::json;

#[test]
fn f12_a_link_into_proc_left_by_another_session_is_no_root() {
    let world = World::new();
    let outer = world.session("workspace-write").open();
    let targets = [
        ("/proc/self", "procfs"),
        ("/proc/self/task", "procfs"),
        ("/sys", "sysfs"),
        ("/dev/pts", "devpts"),
        ("/dev", "devtmpfs"),
    ];
    for (target, kind) in targets {
        outer.run(&format!("ln -sfn {target} sub")).exits(0);
        let sub = world.ws().join("sub");
        for opening in [
            world.session("workspace-write").with("workspace", json!(sub)),
            world.session("workspace-write").with("writable", json!([sub])),
        ] {
            let error = opening.try_open().err().unwrap();
            assert!(error.is(ErrorCode::Invalid), "{target}: {error:?}");
            let canonical = fs::canonicalize(target).unwrap();
            // A process sees its own number there, and the daemon's is another.
            let named = if kind == "procfs" { "/proc/" } else { canonical.to_str().unwrap() };
            assert!(error.message.contains(named) && error.message.contains(kind), "{error:?}");
        }
    }
    outer.run("rm sub && mkdir sub").exits(0);
    world.session("workspace-write").with("workspace", json!(world.ws().join("sub"))).open();
    world.finish();
}

#[test]
fn f12_a_worktree_that_was_moved_lends_its_repository_to_nobody() {
    let world = World::new();
    world.setup(
        "git init -q $OUT/main && cd $OUT/main && git config user.email a@example.test && git config user.name A \
         && echo 1 > f && git add f && git commit -qm base && mkdir $WS/wt \
         && git worktree add -q $WS/wt/feature -b feature && mkdir $WS/wt/other",
    );
    let folder = |name: &str| world.ws().join("wt").join(name);
    let on =
        |name: &str| world.session("workspace-write").with("workspace", json!(folder(name))).open();
    let hook = "echo x > $OUT/main/.git/hooks/pre-commit";
    let marker = world.out().join("main/.git/hooks/pre-commit");
    on("feature").run("git commit -q --allow-empty -m two").exits(0);
    let outer =
        world.session("workspace-write").with("workspace", json!(world.ws().join("wt"))).open();
    for attack in [
        "mv feature feature.old; ln -s other feature; cp feature.old/.git other/.git",
        "rm feature other/.git; mkdir feature; ln feature.old/.git feature/.git; ln feature.old/.git other/.git",
    ] {
        outer.run(attack).exits(0);
        for name in ["other", "feature.old"] {
            on(name).run(hook).exits(1);
            assert!(!marker.exists(), "{attack}: {name}");
        }
    }
    outer.run("rm -r feature; mv feature.old feature").exits(0);
    on("feature").run("git commit -q --allow-empty -m three").exits(0);
    world.native(hook).succeeded();
    world.finish();
}
