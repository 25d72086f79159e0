//! Live output: colours, huge output, both streams.

use std::fs;

use brattice_tests::{Process, World};

use crate::terminal::Terminal;
use crate::{attached, named, start};

#[test]
fn output_comes_live_in_its_colours() {
    let world = World::new();
    let session = named(&world, "build");
    let command = r"
        printf '\033[31mred\033[0m plain \033[1;38;5;208morange\033[0m\n'
        while [ ! -e $OUT/go ]; do sleep 0.1; done
        printf ' 10%%\r 50%%\r100%%\n'; echo problem >&2
        sleep 900";
    start(&session, command);
    let terminal = attached(&world);
    terminal.shows("red plain orange");
    let coloured = terminal.coloured();
    for piece in ["\u{1b}[38;5;1m\u{1b}[49mred", "\u{1b}[1m\u{1b}[38;5;208morange"] {
        assert!(coloured.contains(piece), "{piece:?} in {coloured:?}");
    }
    fs::write(world.out().join("go"), "").unwrap();
    terminal.shows("│100%\n");
    terminal.press(&["o"]);
    terminal.shows("│problem\n");
    assert!(!terminal.shows("stderr").contains("red plain"));
    drop(terminal);
    let plain = Terminal::showing(&world, &["NO_COLOR=1"], 80, 24);
    plain.shows("red plain orange");
    let text = plain.coloured();
    let sequences: Vec<&str> =
        text.split('\u{1b}').skip(1).map(|piece| &piece[..=piece.find('m').unwrap()]).collect();
    let is_coloured = |piece: &&&str| piece.contains("38;") || piece.contains("48;");
    assert_eq!(sequences.iter().find(is_coloured), None);
    drop(plain);
    world.finish();
}

#[test]
fn huge_output_is_read_near_where_somebody_looks() {
    let world = World::new();
    let session = named(&world, "build");
    start(&session, "seq 3000000; sleep 900");
    let terminal = attached(&world);
    terminal.shows("│3000000\n");
    terminal.press(&["Enter", "g"]);
    terminal.shows("│1\n");
    let screen = terminal.shows("│21\n");
    assert!(screen.contains("G: end") && !screen.contains("3000000\n"), "{screen}");
    terminal.press(&["NPage", "Down"]);
    terminal.shows("│42\n");
    terminal.press(&["G"]);
    terminal.shows("│3000000\n");
    terminal.press(&["PPage"]);
    let screen = terminal.shows("│2999979\n");
    assert!(screen.contains("G: end"), "{screen}");
    terminal.until("a line far above", |screen| {
        terminal.press(&["PPage"; 25]);
        let first = screen.lines().nth(2).and_then(|line| line.split('│').nth(1));
        first.and_then(|line| line.parse::<u64>().ok()).is_some_and(|line| line < 2_985_000)
    });
    let kib = Process::kib(terminal.pid(), "VmHWM");
    assert!(kib < 96 << 10, "{kib} KiB");
    drop(terminal);
    world.finish();
}

#[test]
fn a_command_that_prints_without_end_holds_up_nothing() {
    let world = World::new();
    let session = named(&world, "build");
    start(&session, "yes 'again and again'");
    let terminal = attached(&world);
    terminal.shows("│again and again\n");
    terminal.press(&["?"]);
    terminal.shows("An approval that waits");
    terminal.press(&["Escape"]);
    terminal.hides("An approval that waits");
    terminal.press(&["x"]);
    terminal.shows("Stop it?");
    terminal.press(&["Enter"]);
    terminal.shows("SIGTERM");
    let kib = Process::kib(terminal.pid(), "VmHWM");
    assert!(kib < 96 << 10, "{kib} KiB");
    drop(terminal);
    world.finish();
}
