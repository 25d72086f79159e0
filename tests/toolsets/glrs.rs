//! `bash` in `glrs`: a login shell in the workspace, the beginning of long output, a limit that fails the call.

use brattice_protocol::outcome::Cause;
use brattice_tests::{Session, World, error_prefix};
use serde_json::json;

fn open(world: &World) -> Session {
    world.session("workspace-write").with("toolset", json!("glrs")).open()
}

fn with_limit(world: &World, milliseconds: u64) -> Session {
    let opening = world.session("workspace-write").with("toolset", json!("glrs"));
    opening.with("options", json!({"tool_timeout_ms": milliseconds})).open()
}

#[test]
fn its_words_are_its_own() {
    let world = World::new();
    let session = open(&world);
    session.run("printf 'out \\n\\n'; printf 'err\\n' >&2").exits(0).says("out\nerr");
    session.run("true").exits(0).says("[exit 0]");
    session.run("echo x; exit 3").exits(3).says("x\n[exit 3]");
    session.run("exit 3").exits(3).says("[exit 3]");
    session
        .bash(json!({"command": "echo a", "timeoutMs": "no number", "nosuch": 1}))
        .exits(0)
        .says("a");
    let fault = session.bash(json!({"command": 7}));
    assert!(fault.is_refused().holds("`command`").text().starts_with(error_prefix("glrs")));
    let unknown = session.call("task_list", json!({}));
    unknown.is_refused().says(
        "ERROR: unknown tool `task_list`: expected one of `bash`, `read`, `write`, `edit`, `grep`, `glob`, `web_fetch`",
    );
    world.finish();
}

#[test]
fn b035_a_signal_is_told_as_a_code_above_128() {
    let world = World::new();
    let session = open(&world);
    for (signal, code) in [("KILL", 137), ("TERM", 143)] {
        let reply = session.run(&format!("echo part-one; sh -c 'kill -{signal} $PPID'; sleep 5"));
        reply.says(&format!("part-one\n[exit {code}]"));
        assert_eq!((reply.cause(), reply.code(), reply.is_error()), (Cause::Signaled, None, false));
    }
    session.run("bash -c 'kill -SEGV $$'; exit").exits(139).holds("[exit 139]");
    world.finish();
}

#[test]
fn its_shell_is_a_login_shell_in_the_workspace() {
    let world = World::new();
    world.setup("mkdir sub; echo 'export FROM_PROFILE=yes' > \"$HOME/.bash_profile\"");
    let opening = world.session("workspace-write").with("toolset", json!("glrs"));
    let session = opening.with("cwd", json!("sub")).open();
    let ws = world.ws();
    session.run("pwd").exits(0).says(&ws.display().to_string());
    session.run("echo $FROM_PROFILE; shopt login_shell").exits(0).says("yes\nlogin_shell    \ton");
    session.run("echo \"$0 $LINENO\"; cat; echo end").exits(0).says("bash 1\nend");
    let plain = world.session("workspace-write").open();
    plain.run("echo \"<$FROM_PROFILE>\"").exits(0).says("<>");
    world.finish();
}

#[test]
fn t029_its_commands_stand_in_no_argument_list_either() {
    let world = World::new();
    let session = open(&world);
    let own = session.run("tr '\\0' ' ' < /proc/$$/cmdline | grep -c grep");
    own.exits(1).says("0\n[exit 1]");
    world.finish();
}

#[test]
fn b030_b033_a_limit_fails_the_call_and_keeps_what_was_printed() {
    let world = World::new();
    let session = with_limit(&world, 1_500);
    let reply = session.run("echo step-1; echo oops >&2; (sleep 300); echo never");
    reply.says("ERROR: the command timed out\nstep-1\noops\n[timed out after 1.5s]");
    assert_eq!((reply.cause(), reply.is_error()), (Cause::TimedOut, true));
    assert_eq!(world.strays(), []);
    let whole = with_limit(&world, 1_000).run("trap 'exit 0' TERM; sleep 300 & wait");
    whole.says("ERROR: the command timed out\n[timed out after 1s]");
    assert_eq!((whole.code(), whole.is_error()), (Some(0), true));
    world.finish();
}

#[test]
fn b043_the_beginning_of_long_output_is_shown_and_all_of_it_kept() {
    let world = World::new();
    let session = open(&world);
    let reply = session.run(
        "printf 'é%.0s' {1..20001}; printf 'ß%.0s' {1..9002} >&2; printf '%070000d' 0; exit 1",
    );
    reply.exits(1);
    let (stdout, stderr) = ("é".repeat(20_000), "ß".repeat(9_000));
    let file = reply.outcome().stdout.file.clone().expect("it outgrew memory");
    let expected = format!(
        "{stdout}\n{stderr}\n[stdout truncated: 70002 bytes omitted; full output: {file}]\n\
         [stderr truncated: 4 bytes omitted; file unavailable]\n[exit 1]"
    );
    assert_eq!(reply.text(), expected);
    assert_eq!(std::fs::read(&file).unwrap().len(), 110_002);
    world.finish();
}

#[test]
fn b027_t001_what_a_call_leaves_is_stopped() {
    let world = World::new();
    let session = open(&world);
    session
        .run("sleep 900 & echo started")
        .exits(0)
        .says("started\n[stopped 1 process left running]");
    session.run("setsid sleep 900 >/dev/null &").exits(0).holds("[stopped 1 process left running]");
    assert_eq!(world.strays(), []);
    world.finish();
}
