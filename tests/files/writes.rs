//! `write`: whole or not at all.

use std::fs;

use brattice_tests::{World, kits};

use crate::{opening, read, write};

#[test]
fn b081_a_full_disk_leaves_the_old_file_and_nothing_new() {
    let builder = World::builder();
    // The daemon's own mounts: what is there is looked at by its sessions.
    let mount = format!(
        "mount -t tmpfs -o size=300k,mode=700 tmpfs {}/ws && exec {{}}",
        builder.root().display()
    );
    let world = builder.wrapper(&["unshare", "-rm", "/bin/bash", "-c", &mount]).start();
    let session = opening(&world).open();
    session.run("yes important | head -n 100 > keep.txt; sha256sum keep.txt > sums").exits(0);
    read(&session, "keep.txt");
    let large = "x".repeat(1_000_000);
    for (name, lead) in [("keep.txt", "keep.txt"), ("new/dir/file.txt", "new/dir/file.txt")] {
        let reply = write(&session, name, &large);
        assert!(reply.is_error(), "{name}");
        reply.holds(lead).holds("No space left on device").lacks("[sandbox");
    }
    for kit in kits(&world) {
        assert!(!kit.read("keep.txt").is_error());
        for name in ["keep.txt", "new/dir/file.txt"] {
            let reply = kit.write(name, &large);
            assert!(reply.is_error(), "{}: {name}", kit.toolset);
            reply.holds(name).holds("No space left on device").lacks("[sandbox");
        }
    }
    session.run("sha256sum -c --quiet sums; ls -A").exits(0).says("keep.txt\nsums");
}

#[test]
fn a_write_makes_the_folders_on_its_way() {
    let world = World::new();
    let session = opening(&world).open();
    let path = world.ws().join("a/b/c.txt");
    write(&session, "a/b/c.txt", "x\n").says(&format!("created {}", path.display()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "x\n");
    write(&session, "a/b/c.txt", "x\ny\n")
        .says(&format!("updated {} (+1 -0 lines, from line 2 on)\n 1|x\n+2|y", path.display()));
    world.finish();
}

/// The rules that held the worker were about the folder that is gone.
#[test]
fn a_workspace_that_was_replaced_is_worked_in_as_by_commands() {
    let world = World::new();
    let session = opening(&world).open();
    assert!(!write(&session, "f", "one\n").is_error());
    world.native("mv $WS $OUT/old && mkdir $WS").succeeded();
    assert!(!write(&session, "g", "two\n").is_error());
    assert_eq!(std::fs::read_to_string(world.ws().join("g")).unwrap(), "two\n");
    assert_eq!(std::fs::read_dir(world.out().join("old")).unwrap().count(), 1);
    world.finish();
}
