//! Standard input, prompts, pagers, editors and terminals: nothing waits for a person.

use brattice_tests::{World, WorldBuilder};

/// A world whose daemon was started from a terminal, which is recorded in `typescript`.
fn from_a_terminal() -> World {
    let builder: WorldBuilder = World::builder();
    let typescript = builder.root().join("typescript").to_str().unwrap().to_owned();
    builder.wrapper(&["script", "-qfec", "exec {}", &typescript]).start()
}

fn repository(world: &World) {
    world.setup("git init -q . && git config user.email a@example.test && git config user.name A && git config core.pager 'less -+F'");
}

#[test]
fn b037_a_redirection_elsewhere_does_not_open_standard_input() {
    let world = World::new();
    world.file("in.txt", "data\n");
    let session = world.session("workspace-write").open();
    session.run("wc -l < in.txt; cat; echo end").exits(0).says("1\nend");
    session.run("cat <<'E'\nhello\nE\nread -r x; echo rc=$?").exits(0).says("hello\nrc=1");
    session.run("readlink /proc/self/fd/0").exits(0).says("/dev/null");
    world.finish();
}

#[test]
fn b038_a_prompt_on_the_terminal_fails_at_once() {
    let world = from_a_terminal();
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let reply = session.run("bash -c 'read -p pw: x </dev/tty' ; echo rc=$?");
        reply.exits(0).says("rc=1\n[stderr]\nbash: line 1: /dev/tty: No such device or address");
        let reply = session.run("ps -o tty= -p $$; env | grep -c '^GIT_TERMINAL_PROMPT=0'");
        let lines: Vec<String> =
            reply.exits(0).lines().iter().map(|line| line.trim().to_owned()).collect();
        assert_eq!(lines, ["?", "1"]);
    }
    let typescript = std::fs::read(world.ws().join("../typescript")).unwrap();
    assert!(
        !String::from_utf8_lossy(&typescript).contains("pw:"),
        "the host's terminal shows nothing of a command"
    );
    world.finish();
}

#[test]
fn b039_no_pager_and_no_editor_waits_for_a_key() {
    let world = World::new();
    repository(&world);
    world
        .setup("for i in $(seq 60); do echo $i > f; git add f; git commit -qm \"change $i\"; done");
    let session = world.session("workspace-write").open();
    let reply = session.run("git -p log --oneline | cat; git --paginate log --oneline");
    assert_eq!(reply.exits(0).lines().len(), 120);
    let reply = session.run(
        "echo ${PAGER:-unset} ${GIT_PAGER:-unset}; git commit --amend 2>&1 | head -3; echo rc=$?",
    );
    let lines = reply.exits(0).lines();
    assert_eq!((lines[0].as_str(), lines[lines.len() - 1].as_str()), ("cat cat", "rc=0"));
    session.run("git log -1 --format=%s").exits(0).says("change 60");
    world.finish();
}

#[test]
fn t054_reading_standard_input_ends_at_once() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("python3 -c 'input()'").exits(1).holds("EOFError: EOF when reading a line");
    world.finish();
}

#[test]
fn t055_a_commit_without_a_message_aborts() {
    let world = World::new();
    repository(&world);
    world.setup("echo 1 > f && git add f");
    let session = world.session("workspace-write").open();
    session.run("git commit").exits(1).holds("Aborting commit due to empty commit message");
    world.finish();
}

#[test]
fn t055_a_rebase_that_would_open_an_editor_goes_on() {
    let world = World::new();
    repository(&world);
    world.setup(
        "git checkout -q -b main; echo base > f; git add f; git commit -qm base; git checkout -q -b side; echo side > f; \
         git commit -qam side; git checkout -q main; echo main > f; git commit -qam main; git checkout -q side",
    );
    let session = world.session("workspace-write").open();
    session.run("git rebase main").exits(1).holds("CONFLICT");
    session
        .run("echo both > f && git add f && git rebase --continue && git rev-list --count HEAD")
        .exits(0)
        .holds("3\n");
    world.finish();
}

#[test]
fn t057_an_interactive_shell_is_not_stopped_by_a_terminal() {
    let world = from_a_terminal();
    let session = world.session("workspace-write").open();
    assert_eq!(session.run("bash -ic 'echo hi'").exits(0).lines()[0], "hi");
    world.finish();
}

#[test]
fn t058_a_long_log_is_shown_without_waiting() {
    let world = World::new();
    repository(&world);
    world.setup(
        r#"for i in $(seq 500); do printf 'commit refs/heads/main\ncommitter A <a@example.test> %d +0000\ndata 3\n%03d\n' $i $i; done |
           git fast-import --quiet && git symbolic-ref HEAD refs/heads/main"#,
    );
    let session = world.session("workspace-write").open();
    assert_eq!(session.run("git log --format=%s").exits(0).lines().len(), 500);
    world.finish();
}
