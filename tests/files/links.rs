//! Links that change while a tool works: the kernel judges what is opened, not what was looked at.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use brattice_tests::World;

use crate::{edit, read, write};

/// How often a tool is called against the race.
const CALLS: usize = 150;

/// Calls `write` and `edit` on a name that is the workspace's file and a link out of it in turns, as fast as can be.
fn race(world: &World, mode: &str) -> usize {
    world.setup("mkdir -p d; echo inside > d/f; echo outside > \"$OUT/f\"; rm -f t; ln -s d t");
    let session = world.session(mode).open();
    for name in ["d/f", "t/f"] {
        read(&session, name);
    }
    let (swapped, out) = (world.ws().join("t"), world.out());
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let next = world.ws().join("next");
            while !over.load(Ordering::Relaxed) {
                for target in [out.as_path(), std::path::Path::new("d")] {
                    std::os::unix::fs::symlink(target, &next).unwrap();
                    fs::rename(&next, &swapped).unwrap();
                }
            }
        });
        let mut done = 0;
        for number in 0..CALLS {
            // It is read before each call, so that only the sandbox stands in the way of the one that leads out.
            crate::call(&session, "read", serde_json::json!({"file_path": "t/f"}));
            let replies = [
                write(&session, "t/f", &format!("inside {number}\n")),
                edit(&session, "t/f", "side", "side!"),
            ];
            done += replies.iter().filter(|reply| !reply.is_error()).count();
        }
        over.store(true, Ordering::Relaxed);
        done
    })
}

#[test]
fn f5_a_link_that_is_swapped_meanwhile_lets_nothing_out() {
    let world = World::new();
    let done = race(&world, "workspace-write");
    assert!(done > 0, "the way inside is open at times");
    assert_eq!(fs::read_to_string(world.out().join("f")).unwrap(), "outside\n");
    assert_eq!(fs::read_dir(world.out()).unwrap().count(), 1, "no temporary file is left outside");
    // The same where nothing is confined.
    race(&world, "danger-full-access");
    assert_ne!(fs::read_to_string(world.out().join("f")).unwrap(), "outside\n");
    world.finish();
}

#[test]
fn f7_a_hard_link_into_the_workspace_is_the_file_itself() {
    let world = World::new();
    world.setup("echo outside > \"$OUT/f\"; ln \"$OUT/f\" h");
    let session = world.session("workspace-write").open();
    read(&session, "h");
    // The one thing that Landlock cannot tell apart: the name inside is as good as any (SECURITY.md). It is said.
    edit(&session, "h", "outside", "changed")
        .holds("[written in place: its other names and its owner stay]");
    assert_eq!(fs::read_to_string(world.out().join("f")).unwrap(), "changed\n");
    world.finish();
}
