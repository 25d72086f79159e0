//! Limits of the configuration that hold each command.

use brattice_protocol::outcome::Cause;
use brattice_protocol::{LayerName, LayerState};
use brattice_tests::World;

use crate::worlds::configured;

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
