//! How a shell ended: code and signal as separate facts, never a made-up 0.

use brattice_protocol::outcome::Cause;
use brattice_tests::World;

#[test]
fn b035_a_shell_that_dies_by_a_signal_is_no_success() {
    let world = World::new();
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        for (number, name) in [(9, "SIGKILL"), (15, "SIGTERM")] {
            let reply =
                session.run(&format!("echo part-one; sh -c 'kill -{number} $PPID'; sleep 5"));
            let outcome = reply.outcome();
            assert_eq!(
                (outcome.cause, outcome.exit_code, outcome.signal.as_deref()),
                (Cause::Signaled, None, Some(name))
            );
            reply.holds("part-one\n").holds(&format!("[killed by signal: {name}]"));
        }
        session.run("bash -c 'kill -SEGV $$'; exit").exits(139).holds("[exit code: 139]");
    }
    world.finish();
}

#[test]
fn t074_a_pipe_has_the_code_that_bash_gives_it() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("exit 7").exits(7).says("(no output)\n[exit code: 7]");
    session.run("false | cat").exits(0).says("(no output)");
    session.run("set -o pipefail; false | cat").exits(1).says("(no output)\n[exit code: 1]");
    world.finish();
}

#[test]
fn t077_what_cannot_be_run_has_its_code_and_its_words() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session
        .run("nosuchcmd")
        .exits(127)
        .says("[stderr]\nbash: line 1: nosuchcmd: command not found\n[exit code: 127]");
    session
        .run("/etc")
        .exits(126)
        .says("[stderr]\nbash: line 1: /etc: Is a directory\n[exit code: 126]");
    world.finish();
}

#[test]
fn t079_a_signal_and_a_code_over_128_are_shown_differently() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let killed = session.run("kill -9 $$");
    assert_eq!((killed.cause(), killed.code()), (Cause::Signaled, None));
    killed.says("(no output)\n[killed by signal: SIGKILL]");
    session
        .run("bash -c 'kill -9 $$'; exit $?")
        .exits(137)
        .holds("[exit code: 137]")
        .lacks("killed by signal");
    world.finish();
}

#[test]
fn facts_of_a_command_are_told() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run(
        "python3 -c 'x = bytearray(60 << 20); s = sum(range(2000000))'; echo err >&2; echo out",
    );
    let outcome = reply.exits(0).outcome();
    assert!(outcome.max_rss_bytes >= 60 << 20, "{outcome:?}");
    assert!(outcome.user_ms + outcome.sys_ms > 0 && outcome.duration_ms > 0, "{outcome:?}");
    assert_eq!((outcome.stdout.bytes, outcome.stdout.shown), (4, [0, 4]));
    let stderr = outcome.stderr.as_ref().expect("streams are apart");
    assert_eq!((stderr.bytes, stderr.shown), (4, [0, 4]));
    assert_eq!(outcome.sandbox.mode.as_str(), "workspace-write");
    assert!(outcome.sandbox.landlock_abi >= 3);
    world.finish();
}
