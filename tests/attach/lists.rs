//! Sessions and tasks as they come, run and end.

use std::fs;

use brattice_tests::{Native, World, brattice};
use serde_json::json;

use crate::terminal::Terminal;
use crate::{attached, named, start};

#[test]
fn sessions_and_tasks_are_listed_with_the_output_of_what_runs() {
    let world = World::new();
    let first = named(&world, "first");
    let read_only = world.session("read-only").with("label", json!("two")).open();
    start(&read_only, "exit 3");
    world
        .file("step", "echo one; echo two; while [ ! -e $OUT/go ]; do sleep 0.1; done; echo three");
    start(&read_only, "sh step");
    let terminal = attached(&world);
    terminal.is("
 brattice  2 sessions, 1 task runs
─ Sessions 2 ─ │─ bash-2 runs · #s · 8B · sh step ─ following
▸SESSION2 read 1 runs two │one
 SESSION1 write first │two
─ Tasks 2 ─ │
▸bash-2 runs #s  sh step │
 bash-1 exit 3 #s  exit 3 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 Enter open  o stdout/stderr  x stop it  w what waits  Esc back  ? help  q quit
");
    fs::write(world.out().join("go"), "").unwrap();
    terminal.is("
 brattice  2 sessions, 0 tasks run
─ Sessions 2 ─ │─ bash-2 done · #s · 14B · sh step ─
▸SESSION2 read two │one
 SESSION1 write first │two
─ Tasks 2 ─ │three
▸bash-2 done #s  sh step │
 bash-1 exit 3 #s  exit 3 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 Enter open  o stdout/stderr  x stop it  w what waits  Esc back  ? help  q quit
");
    terminal.press(&["h", "Down"]);
    terminal.shows("│ It has no tasks.");
    terminal.is(&format!(
        "
 brattice  2 sessions, 0 tasks run
─ Sessions 2 ─ │─ Session ─
 SESSION2 read two │ session        SESSION1
▸SESSION1 write first │ label          first
─ Tasks 0 ─ │ workspace      {}
 none │ mode           workspace-write
 │ toolset        standard
 │ network        full
 │ state          attached: a client holds it
 │ running tasks  0
 │ opened         #s ago
 │
 │ It has no tasks.
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 Enter open  o stdout/stderr  x stop it  w what waits  Esc back  ? help  q quit
",
        shown_path(&world)
    ));
    drop(terminal);
    drop((first, read_only));
    world.finish();
}

/// The workspace, as much of it as there is room for.
fn shown_path(world: &World) -> String {
    world.ws().to_str().unwrap().chars().take(31).collect()
}

#[test]
fn nothing_is_said_to_be_nothing_until_something_comes() {
    let world = World::new();
    let terminal = attached(&world);
    terminal.is("
 brattice  0 sessions, 0 tasks run
─ Sessions 0 ─ │─ Nothing runs ─
 none │ No session is open. What an agent runtime
─ Tasks 0 ─ │ asks for is shown here, and what is started
 │ by
 │ brattice task start -- 'make test'
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 │
 Enter open  o stdout/stderr  x stop it  w what waits  Esc back  ? help  q quit
");
    let session = named(&world, "came later");
    terminal.shows("came later");
    session.request("session.close", json!({})).unwrap();
    terminal.hides("came later");
    drop(terminal);
    world.finish();
}

#[test]
fn a_task_is_stopped_by_a_key() {
    let world = World::new();
    let session = named(&world, "build");
    start(&session, "trap '' TERM; echo ready; while :; do sleep 0.1; done");
    let terminal = attached(&world);
    terminal.shows("ready");
    terminal.press(&["x"]);
    terminal.shows("bash-1 and all that it started:");
    terminal.press(&["Escape"]);
    terminal.hides("bash-1 and all that it started:");
    terminal.press(&["x"]);
    terminal.shows("Stop it?");
    terminal.press(&["f"]);
    terminal.shows("stopping bash-1");
    terminal.shows("SIGKILL");
    let audited = world.audited(&["kill"]);
    assert_eq!(
        (audited[0]["by"].as_str(), audited[0]["reason"].as_str()),
        (Some("operator"), Some("by an operator: in brattice attach"))
    );
    drop(terminal);
    world.finish();
}

#[test]
fn the_screen_follows_the_terminals_size() {
    let world = World::new();
    let session = named(&world, "build");
    world.file("step", "seq -s ' ' 40; sleep 900");
    start(&session, "sh step");
    let terminal = attached(&world);
    terminal.shows("following");
    terminal.tmux(&["resize-window", "-t", "0", "-x", "50", "-y", "7"]);
    terminal.is("
 brattice  1 session, 1 task runs
─ Tasks 1 ─
▸bash-1 runs #s  sh step



 Enter open  o stdout/stderr  x stop it
");
    terminal.press(&["Enter"]);
    terminal.is("
 brattice  1 session, 1 task runs
─ bash-1 runs · #s · 111B · sh step ─ following
1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 3
7 38 39 40

 o stdout/stderr  x stop it  w what waits
");
    terminal.tmux(&["resize-window", "-t", "0", "-x", "20", "-y", "4"]);
    terminal.is("
at least 24x6, pleas



");
    terminal.tmux(&["resize-window", "-t", "0", "-x", "160", "-y", "10"]);
    terminal.shows("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40");
    terminal.press(&["?"]);
    terminal.shows("An approval that waits");
    drop(terminal);
    world.finish();
}

#[test]
fn without_a_terminal_it_says_what_does_the_same() {
    let world = World::new();
    let mut command = world.command(brattice().to_str().unwrap());
    command.arg("attach").env("BRATTICE_CONTROL_SOCKET", world.control());
    let told = Native::run(&mut command);
    let hint = "  hint: `brattice approvals`, `brattice task list` and `brattice task output -f` show the same a line at a time\n";
    assert_eq!(
        (told.code, told.stdout.as_str(), told.stderr),
        (
            Some(125),
            "",
            format!(
                "brattice: attach shows a full screen, and standard input is no terminal\n{hint}"
            )
        )
    );
    let terminal = Terminal::with_shell(&world);
    terminal.type_in("TERM=dumb $BRATTICE attach; $BRATTICE attach --json; $BRATTICE attach | cat");
    terminal.press(&["Enter"]);
    let screen = terminal.shows("and standard output is no terminal");
    assert!(screen.contains("the terminal is none that a program can draw on (TERM)"), "{screen}");
    assert!(screen.contains("and there is no data"), "{screen}");
    drop(terminal);
    world.finish();
}
