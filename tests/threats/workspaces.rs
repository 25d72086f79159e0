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

/// A world whose daemon sees mounts that nobody else sees, and the folder that they are in, where this text made them. It
/// needs no root: in its user namespace, the daemon's user is one.
fn world_with_mounts(script: &str) -> (World, PathBuf) {
    let builder = World::builder();
    let layers = builder.root().join("out/layers");
    // Not every file system can be an upper layer, an overlay for one; tmpfs can. A mount(8) that sets option by option
    // would split a name at its comma.
    let mount = format!(
        "set -e; export LIBMOUNT_FORCE_MOUNT2=always; mkdir {layers}; \
         mount -t tmpfs -o mode=700 tmpfs {layers}; cd {layers}; {script}; cd /; exec {{}}",
        layers = layers.display()
    );
    (builder.wrapper(&["unshare", "-rm", "/bin/bash", "-c", &mount]).start(), layers)
}

/// A world with an overlay, and the folder with its layers: `lower`, `own/upper`, `own/work`, and `merged`, where it is
/// mounted.
fn world_with_an_overlay() -> (World, PathBuf) {
    world_with_mounts(
        "mkdir -p lower own/upper/sub own/work merged; echo lower > lower/f; \
         mount -t overlay -o lowerdir=$PWD/lower,upperdir=$PWD/own/upper,workdir=$PWD/own/work overlay merged",
    )
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

/// Asserts that a folder is refused as a root for an overlay's sake.
#[track_caller]
fn assert_no_root(world: &World, folder: &Path, merged: &Path) {
    for (role, opening) in openings_on(world, folder) {
        let error = opening.try_open().err().unwrap();
        let fault = format!(
            "{role} {folder:?} is, holds or lies in the upper layer of the overlay on {merged:?}, \
             where what is written to it shows up"
        );
        let hint = "open the folder that the overlay is mounted on, or one apart from its layers";
        assert!(error.is(ErrorCode::Invalid), "{error:?}");
        assert_eq!((error.message, error.data.hint.as_deref()), (fault, Some(hint)));
    }
}

#[test]
fn f19_the_upper_layer_of_an_overlay_is_no_root() {
    let (world, layers) = world_with_an_overlay();
    let upper = layers.join("own/upper");
    // The layer itself, what lies in it, and what holds it.
    for folder in [&upper, &upper.join("sub"), &layers.join("own"), &layers] {
        assert_no_root(&world, folder, &layers.join("merged"));
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

/// Overlays by the folder of their layers, on `LAYERS.merged`, and other mounts of some layers.
const OVERLAYS: &str = r#"
mkdir lower at.upper at.sub at.holder at.covered
for name in linked relative 'odd, \b' bound covered apart; do
    mkdir -p "$name/upper/sub" "$name/work" "$name.merged"
done
ln -s linked link
mount --bind covered/upper at.covered
overlay() { mount -t overlay -o "lowerdir=lower,upperdir=$1/upper,workdir=$1/work" overlay "$2"; }
overlay "$PWD/link" linked.merged
overlay relative relative.merged
overlay "$PWD/"'odd\, \\b' 'odd, \b.merged'
overlay "$PWD/bound" bound.merged
overlay "$PWD/covered" covered/upper
mount --bind bound/upper at.upper
mount --bind bound/upper/sub at.sub
mount --bind bound at.holder
"#;

#[test]
fn f19_the_upper_layer_of_an_overlay_is_no_root_by_any_name() {
    let (world, layers) = world_with_mounts(OVERLAYS.trim());
    let free = world.session("danger-full-access").open();
    let odd = r"odd, \b";
    let names = ["linked", "relative", odd, "bound"];
    let mut cases: Vec<(String, String)> = Vec::new();
    for name in names {
        cases.push((format!("{name}/upper"), format!("{name}.merged")));
        cases.push((format!("{name}/upper/sub"), format!("{name}.merged/sub")));
    }
    for (name, merged) in [
        ("at.upper", "bound.merged"),
        ("at.upper/sub", "bound.merged/sub"),
        ("at.sub", "bound.merged/sub"),
        ("at.holder/upper", "bound.merged"),
        ("at.covered", "covered/upper"),
    ] {
        cases.push((name.to_owned(), merged.to_owned()));
    }
    for (number, (folder, shown)) in cases.iter().enumerate() {
        let merged = shown.strip_suffix("/sub").unwrap_or(shown);
        assert_no_root(&world, &layers.join(folder), &layers.join(merged));
        let write = format!("cd {}; echo x > '{folder}/{number}'", layers.display());
        free.run(&format!("{write}; cat '{shown}/{number}'")).exits(0).says("x");
    }
    for name in names {
        assert_no_root(&world, &layers.join(name), &layers.join(format!("{name}.merged")));
    }
    assert_no_root(&world, &layers.join("at.holder"), &layers.join("bound.merged"));
    // All are in it; the first in the kernel's table is named.
    assert_no_root(&world, &world.out(), &layers.join("linked.merged"));
    for folder in ["apart/upper", "apart", "lower", "bound.merged/sub", "covered/upper", "covered"]
    {
        for (_, opening) in openings_on(&world, &layers.join(folder)) {
            opening.open().run("true").exits(0);
        }
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
    on("read-only", "merged").run(&write("a")).prints("lower 1\nown/upper 1\nmerged 1");
    found("lower/f:lower\nmerged/f:lower");
    let merged = on("workspace-write", "merged");
    merged.run("cat f; echo merged > f; mv f g").exits(0).says("lower");
    found("lower/f:lower\nmerged/g:merged\nown/upper/g:merged");
    merged.run(&write("a")).prints("lower 1\nown/upper 1\nmerged 0");
    on("workspace-write", "lower").run(&write("b")).prints("lower 0\nown/upper 1\nmerged 1");
    free.run(&write("c")).prints("lower 0\nown/upper 0\nmerged 0");
    world.finish();
}
