//! The daemon dies under the view, and another one follows.

use brattice_tests::{Native, World, brattice};

use crate::{attached, named, start};

#[test]
fn a_daemon_that_dies_is_told_and_the_next_one_found() {
    let mut world = World::new();
    let session = named(&world, "build");
    start(&session, "for i in $(seq 1000); do echo line $i; sleep 0.2; done");
    let terminal = attached(&world);
    terminal.shows("│line 2\n");
    world.kill_daemon();
    let screen = terminal.shows("no daemon (none answers); tasks in the background go on");
    for part in ["│line 1\n", "▸bash-1 runs ", " S start a daemon  Enter open  Esc back"] {
        assert!(screen.contains(part), "{part:?} in\n{screen}");
    }
    let last = |screen: &str| {
        let lines = screen.lines().filter_map(|line| line.split('│').nth(1)?.strip_prefix("line "));
        lines.filter_map(|number| number.parse::<u64>().ok()).max().unwrap_or(0)
    };
    let before = last(&screen);
    world.start();
    let screen = terminal.until("output goes on", |screen| last(screen) > before + 3);
    assert!(screen.contains(" brattice  1 session, 1 task runs\n"), "{screen}");
    drop(terminal);
    drop(session);
    world.finish();
}

#[test]
fn a_daemon_is_started_by_a_key_and_not_before() {
    let mut world = World::new();
    let terminal = attached(&world);
    terminal.shows("0 sessions");
    world.kill_daemon();
    terminal.shows("no daemon (none answers)");
    terminal.press(&["S"]);
    terminal.shows("0 sessions, 0 tasks run");
    drop(terminal);
    let mut stop = world.command(brattice().to_str().unwrap());
    stop.args(["daemon", "stop"]).env("BRATTICE_CONTROL_SOCKET", world.control());
    Native::run(&mut stop).succeeded();
    world.start();
    world.finish();
}
