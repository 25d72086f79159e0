//! The environment of a command, and its text, which stands in no argument list.

use brattice_tests::World;
use serde_json::json;

#[test]
fn t090_secrets_and_managed_names_of_the_daemon_do_not_reach_a_command() {
    let world = World::builder()
        .variable("API_TOKEN", "leaked")
        .variable("AWS_SECRET_ACCESS_KEY", "leaked")
        .variable("DB_PASSWORD", "leaked")
        .variable("BRATTICE_ANYTHING", "leaked")
        .variable("DSH_HOME", "leaked")
        .variable("PLAIN", "kept")
        .start();
    for toolset in ["standard", "dsh"] {
        let session = world.session("workspace-write").with("toolset", json!(toolset)).open();
        session.run("env | grep -c leaked; echo $PLAIN").exits(0).says("0\nkept");
    }
    world.finish();
}

#[test]
fn the_environment_says_where_a_command_is() {
    let world = World::new();
    let session = world.session("read-only").open();
    let reply = session.run(
        "echo $BRATTICE_SESSION_ID $BRATTICE_SANDBOX_MODE $BRATTICE_WORKSPACE $BRATTICE_TASK_ID",
    );
    let task = reply.exits(0).outcome().task.as_ref().map(|task| task.as_str().to_owned());
    let line = format!("{} read-only {} ", session.id(), world.ws().display());
    let text = reply.text();
    assert!(text.starts_with(&line) && text.len() > line.len(), "{text}");
    if let Some(task) = task {
        assert_eq!(text, format!("{line}{task}"));
    }
    session
        .run("echo $NO_COLOR $TERM $PAGER $GIT_PAGER $GIT_EDITOR $GIT_TERMINAL_PROMPT $PYTHONUNBUFFERED ${DSH_SHELL-unset}")
        .exits(0)
        .says("1 dumb cat cat true 0 1 unset");
    world.finish();
}

#[test]
fn dsh_adds_its_own_variables() {
    let world = World::new();
    let session = world.session("workspace-write").with("toolset", json!("dsh")).open();
    let expected = format!("1 {} {}/.dsh", session.id(), world.home().display());
    session.run("echo $DSH_SHELL $DSH_SESSION_ID $DSH_HOME").exits(0).says(&expected);
    let options = json!({"dsh_home": "/opt/dsh"});
    let session = world
        .session("workspace-write")
        .with("toolset", json!("dsh"))
        .with("options", options)
        .open();
    session.run("echo $DSH_HOME").exits(0).says("/opt/dsh");
    world.finish();
}

#[test]
fn t029_a_commands_text_stands_in_no_argument_list() {
    let world = World::new();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let marker = format!("zzz_{}", session.id().replace('-', "_"));
        session.run(&format!("pkill -f {marker}; echo alive")).exits(0).says("alive");
        session
            .run(&format!(
                "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '[z]{}'",
                &marker[1..]
            ))
            .exits(1);
    }
    world.finish();
}

#[test]
fn t091_the_daemons_own_processes_need_no_path() {
    let world = World::builder().variable("PATH", "/nonexistent").start();
    for mode in ["workspace-write", "danger-full-access"] {
        world.session(mode).open().run("echo $PATH").exits(0).says("/nonexistent");
    }
    world.finish();
}

#[test]
fn t092_a_shell_keeps_nothing_for_the_next_call_and_no_profile_is_read() {
    let world = World::new();
    world.setup("echo 'echo from-profile; x=profile' | tee $HOME/.bashrc $HOME/.bash_profile $HOME/.profile > /dev/null");
    let session = world.session("workspace-write").open();
    session.run("x=1; f() { :; }; cd /; set -f").exits(0).says("(no output)");
    session
        .run("echo ${x-unset} $PWD $-; type f")
        .exits(1)
        .holds(&format!("unset {} ", world.ws().display()))
        .lacks("from-profile");
    session.run("echo $0").exits(0).says("bash");
    world.finish();
}
