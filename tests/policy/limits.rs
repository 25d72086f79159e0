//! Limits of the configuration that hold each command.

use std::os::unix::fs::MetadataExt as _;

use brattice_protocol::outcome::Cause;
use brattice_protocol::{LayerName, LayerState};
use brattice_tests::World;

use crate::worlds::configured;

#[test]
fn of_a_stream_as_much_is_kept_as_spool_says() {
    let world = configured("[limits]\nspool = \"16MiB\"\n").start();
    let session = world.session("workspace-write").open();
    let reply = session.run("head -c 20971520 /dev/zero | tr '\\0' x; echo end");
    let stdout = reply.exits(0).outcome().stdout.clone();
    let kept = stdout.bytes - stdout.dropped;
    // Half of it is the head; the tail gives way in pieces.
    assert_eq!(stdout.bytes, 20_971_524);
    assert!((9 << 20..=16 << 20).contains(&kept), "{kept}");
    let file = std::fs::metadata(stdout.file.expect("what was kept is in a file")).unwrap();
    assert!(file.blocks() * 512 <= 16 << 20, "{file:?}");
    reply.holds("xxend\n");
    world.finish();
}

/// Fills so many bytes, and says what came of it.
fn fill(bytes: usize) -> String {
    format!("python3 -c 'print(len(b\"x\" * {bytes}))' 2>&1 | tail -n 1")
}

#[test]
fn memory_is_limited_for_each_process_where_no_group_limits_the_command() {
    let world = configured("[limits]\nmemory = \"256MiB\"\n").start();
    assert_eq!(world.native(&fill(600_000_000)).stdout, "600000000\n");
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        session.run(&fill(100_000_000)).exits(0).says("100000000");
        let reply = session.run(&fill(600_000_000));
        match is_held_as_a_whole(&world) {
            true => assert_eq!(reply.outcome().cause, Cause::OomKilled, "{mode}"),
            false => drop(reply.exits(0).says("MemoryError")),
        }
    }
    world.finish();
}

/// Whether the machine lends its daemon groups that limit memory.
fn is_held_as_a_whole(world: &World) -> bool {
    let layers = world.hello().sandbox.layers;
    let group = layers.into_iter().find(|layer| layer.name == LayerName::Cgroup).unwrap();
    group.state == LayerState::On
}
