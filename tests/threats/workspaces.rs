//! F12, F19: a root is what was meant. Neither what a command leaves in its own workspace nor the layers of an overlay
//! widen a session.

use std::fs;
use std::path::{Path, PathBuf};

use brattice_protocol::ErrorCode;
use brattice_tests::{CONFINED, Opening, World};
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

/// A world whose daemon sees an overlay that nobody else sees, and the folder with its layers: `lower`, `own/upper`,
/// `own/work`, and `merged`, where it is mounted. It needs no root: in its user namespace, the daemon's user is one.
fn world_with_an_overlay() -> (World, PathBuf) {
    let builder = World::builder();
    let layers = builder.root().join("out/layers");
    // Not every file system can be an upper layer, an overlay for one; tmpfs can.
    let mount = format!(
        "set -e; mkdir {layers}; mount -t tmpfs -o mode=700 tmpfs {layers}; cd {layers}; \
         mkdir -p lower own/upper/sub own/work merged; echo lower > lower/f; \
         mount -t overlay -o lowerdir=$PWD/lower,upperdir=$PWD/own/upper,workdir=$PWD/own/work overlay merged; \
         cd /; exec {{}}",
        layers = layers.display()
    );
    (builder.wrapper(&["unshare", "-rm", "/bin/bash", "-c", &mount]).start(), layers)
}

/// Openings in each confined mode with a folder as the workspace and as a further root, by what messages call it.
fn openings_on(world: &World, folder: &Path) -> Vec<(&'static str, Opening)> {
    let roles = |mode| {
        [
            ("workspace", world.session(mode).with("workspace", json!(folder))),
            ("writable root", world.session(mode).with("writable", json!([folder]))),
        ]
    };
    CONFINED.into_iter().flat_map(roles).collect()
}

#[test]
fn f19_the_upper_layer_of_an_overlay_is_no_root() {
    let (world, layers) = world_with_an_overlay();
    let upper = layers.join("own/upper");
    // The layer itself, what lies in it, and what holds it.
    for folder in [&upper, &upper.join("sub"), &layers.join("own"), &layers] {
        for (role, opening) in openings_on(&world, folder) {
            let error = opening.try_open().err().unwrap();
            let pieces = [&format!("{role} {folder:?} "), "upper layer of an overlay"];
            let is_stated = pieces.iter().all(|piece| error.message.contains(piece));
            assert!(error.is(ErrorCode::Invalid) && is_stated, "{error:?}");
        }
    }
    let free = world.session("danger-full-access").open();
    let write = format!("cd {}; echo upper > own/upper/new; cat merged/new", layers.display());
    free.run(&write).exits(0).says("upper");
    // It is the mount that makes the difference.
    free.run(&format!("umount {}", layers.join("merged").display())).exits(0);
    for (_, opening) in openings_on(&world, &upper) {
        opening.open().run(&format!("cat {}/new", upper.display())).exits(0).says("upper");
    }
    world.finish();
}

#[test]
fn f19_an_overlay_is_open_by_the_name_that_is_a_root_only() {
    let (world, layers) = world_with_an_overlay();
    let on = |mode, root| world.session(mode).with("workspace", json!(layers.join(root))).open();
    let write = |name| {
        format!(
            "cd {}; for l in lower own/upper merged; do echo x > $l/{name}; echo $l $?; done 2>/dev/null",
            layers.display()
        )
    };
    let free = world.session("danger-full-access").open();
    let found = |expected| {
        let look = format!("cd {}; grep -r . lower own/upper merged | sort", layers.display());
        free.run(&look).exits(0).says(expected);
    };
    on("read-only", "merged").run(&write("a")).says("lower 1\nown/upper 1\nmerged 1");
    found("lower/f:lower\nmerged/f:lower");
    let merged = on("workspace-write", "merged");
    merged.run("cat f; echo merged > f; mv f g").exits(0).says("lower");
    found("lower/f:lower\nmerged/g:merged\nown/upper/g:merged");
    merged.run(&write("a")).says("lower 1\nown/upper 1\nmerged 0");
    on("workspace-write", "lower").run(&write("b")).says("lower 0\nown/upper 1\nmerged 1");
    free.run(&write("c")).says("lower 0\nown/upper 0\nmerged 0");
    world.finish();
}
