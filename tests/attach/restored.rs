//! The terminal is given back as it was, however the view ends.

use brattice_tests::{World, eventually};

use crate::terminal::Terminal;
use crate::{named, start};

/// What must be as before.
fn facts(terminal: &Terminal) -> Vec<String> {
    ["alternate_on", "cursor_flag", "keypad_cursor_flag", "mouse_any_flag", "insert_flag"]
        .map(|name| terminal.fact(name))
        .to_vec()
}

/// The line's settings, as stty(1) tells them.
fn settings(terminal: &Terminal) -> String {
    terminal.press(&["C-l"]);
    terminal.type_in("clear; stty -a; echo e'n'd");
    terminal.press(&["Enter"]);
    terminal.until("stty", |screen| screen.contains("\nend\n"))
}

/// Has the shell show the view.
fn show(terminal: &Terminal) {
    terminal.type_in("clear; $BRATTICE attach; echo status $?");
    terminal.press(&["Enter"]);
    terminal.shows(" brattice  1 session");
    assert_eq!(terminal.fact("alternate_on"), "1");
}

#[test]
fn the_terminal_is_as_it_was_after_keys_and_signals() {
    let world = World::new();
    let session = named(&world, "build");
    let terminal = Terminal::with_shell(&world);
    let (line, before) = (settings(&terminal), facts(&terminal));
    let shell = terminal.pid();
    let view = || {
        let view = brattice_tests::Process::below(shell);
        view.into_iter().find(|process| process.arguments.ends_with(" attach")).unwrap()
    };
    for (name, status) in
        [("q", 0), ("C-c", 0), ("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)]
    {
        show(&terminal);
        match status {
            0 => terminal.press(&[name]),
            _ => {
                world.native(&format!("kill -{name} {}", view().pid)).succeeded();
            }
        }
        terminal.shows(&format!("status {status}\n"));
        assert_eq!(
            (settings(&terminal), facts(&terminal)),
            (line.clone(), before.clone()),
            "{name}"
        );
    }
    drop(terminal);
    drop(session);
    world.finish();
}

#[test]
fn a_stopped_view_gives_the_terminal_back_and_is_nobody_to_be_asked() {
    let world = World::new();
    let session = named(&world, "build");
    start(&session, "echo here it is; sleep 900");
    let terminal = Terminal::with_shell(&world);
    let (line, before) = (settings(&terminal), facts(&terminal));
    show(&terminal);
    terminal.shows("here it is");
    let connections = || {
        let status = brattice_tests::Wire::open(&world.control())
            .request("daemon.status", serde_json::json!({}));
        status.unwrap()["connections"].as_u64().unwrap()
    };
    // This test's session and the connection that asks are two.
    eventually("it is connected", || (connections() == 3).then_some(()));
    terminal.press(&["C-z"]);
    terminal.shows("Stopped");
    assert_eq!((settings(&terminal), facts(&terminal)), (line, before));
    eventually("its connection is closed", || (connections() == 2).then_some(()));
    terminal.type_in("fg");
    terminal.press(&["Enter"]);
    terminal.shows("here it is");
    terminal.shows(" brattice  1 session, 1 task runs\n");
    terminal.press(&["q"]);
    eventually("the view is left", || (terminal.fact("alternate_on") == "0").then_some(()));
    terminal.type_in("echo status $?");
    terminal.press(&["Enter"]);
    terminal.shows("status 0\n");
    drop(terminal);
    drop(session);
    world.finish();
}
