//! What is refused before anybody is asked, each in its own words.

use std::fs;

use brattice_protocol::outcome::Cause;
use brattice_tests::{Session, World};
use serde_json::{Value, json};

use crate::{DANGER, asking, configured, world};

/// What `tools.list` says of `bash`: whether it declares the two fields, and its description.
fn bash(session: &Session) -> ([bool; 2], String) {
    let tools = session.request("tools.list", json!({})).unwrap();
    let bash = &tools["tools"][0];
    let properties = bash["inputSchema"]["properties"].as_object().unwrap();
    let declared =
        ["sandbox_permissions", "justification"].map(|name| properties.contains_key(name));
    (declared, bash["description"].as_str().unwrap().to_owned())
}

#[test]
fn c2_only_a_recorded_denial_is_a_ground_and_not_what_a_command_prints() {
    let world = World::new();
    let session = world.session("workspace-write").answering().open();
    let command = "echo 'bash: line 1: /etc/x: Permission denied' >&2; exit 126";
    session.run(command).exits(126);
    let reply = session.bash(asking(command, DANGER));
    reply.is_refused().says(
        "the sandbox has refused nothing to this command in this folder that danger-full-access would allow: run it \
         first, without `sandbox_permissions`, and ask once it was denied something; nothing ran",
    );
    assert_eq!(reply.cause(), Cause::Rejected);
    session.is_asked_nothing();
    let lines = world.audited(&["escalation_refused", "approval_asked"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((&lines[0]["from"], &lines[0]["to"]), (&json!("workspace-write"), &json!(DANGER)));
    assert_eq!(lines[0]["reason"], json!(reply.text()));
    world.finish();
}

#[test]
fn where_nobody_is_there_it_is_refused_at_once_and_may_be_sent_again() {
    let world = world();
    let session = world.session("workspace-write").open();
    // Somebody who looks at the daemon is not somebody who answers.
    let looking = brattice_tests::Wire::open(&world.control());
    let params = json!({"name": "bash", "call": "c", "arguments": asking("echo ran", DANGER)});
    let reply = session.end(session.begin_call(params.clone()));
    reply.is_refused().says(
        "this needs an approval and nobody is there to ask: the session's client answers no approvals, and no operator \
         is attached; nothing ran",
    );
    drop(looking);
    let operator = world.operator();
    let call = session.begin_call(params);
    let request = operator.pending();
    operator.respond(&request.id, brattice_protocol::approval::ApprovalChoice::AllowOnce).unwrap();
    session.end(call).exits(0).says("ran");
    world.finish();
}

#[test]
fn c6_a_mode_that_is_not_wider_is_a_fault_of_the_argument() {
    let world = world();
    for (mode, asked) in
        [("workspace-write", "workspace-write"), (DANGER, "workspace-write"), (DANGER, DANGER)]
    {
        let session = world.session(mode).answering().open();
        session.bash(asking("touch ran", asked)).is_refused().says(&format!(
            "argument `sandbox_permissions`: expected a mode wider than the session's, {mode}, got \"{asked}\""
        ));
        session.is_asked_nothing();
    }
    assert!(!world.ws().join("ran").exists());
    world.finish();
}

#[test]
fn c6_nobody_is_asked_for_what_is_beyond_the_ceiling() {
    let builder = configured("escalation = \"any\"\n");
    // A folder that stands in for the machine's.
    let etc = builder.root().join("etc");
    fs::create_dir_all(etc.join("brattice")).unwrap();
    fs::write(etc.join("brattice/config.toml"), "[ceiling]\nmax_mode = \"workspace-write\"\n")
        .unwrap();
    fs::copy("/etc/passwd", etc.join("passwd")).unwrap();
    let mount = format!("mount --bind '{}' /etc && exec {{}}", etc.display());
    let world = builder.wrapper(&["unshare", "-rm", "sh", "-c", &mount]).start();
    let session = world.session("workspace-write").answering().open();
    session.bash(asking("touch $OUT/ran", DANGER)).is_refused().says(
        "danger-full-access is beyond this machine's ceiling, workspace-write, and nobody is asked for it; nothing ran",
    );
    session.is_asked_nothing();
    let (declared, description) = bash(&session);
    assert_eq!(declared, [true; 2]);
    assert!(
        description.contains("Nothing beyond workspace-write can be asked for"),
        "{description}"
    );
    assert!(!world.out().join("ran").exists());
}

#[test]
fn with_approval_never_the_fields_are_gone_and_every_escalation_is_refused() {
    let world = world();
    for toolset in ["standard", "dsh"] {
        let session = world
            .session("workspace-write")
            .with("toolset", json!(toolset))
            .with("approval", json!("never"))
            .answering()
            .open();
        let (declared, description) = bash(&session);
        assert_eq!(declared, [false; 2]);
        assert!(description.contains("approval prompts are disabled"), "{description}");
        session
            .bash(asking("touch ran", DANGER))
            .is_refused()
            .holds("escalation is refused: approval prompts are disabled in this session");
        session.is_asked_nothing();
    }
    assert!(!world.ws().join("ran").exists());
    world.finish();
}

#[test]
fn approvals_can_be_switched_and_the_tools_change_with_them() {
    let mut world = world();
    let session = world.session("workspace-write").answering().open();
    let id = session.id().to_owned();
    let never = |session: &Session, approval: &str| {
        session.request("session.update", json!({"approval": approval})).unwrap();
        session.notice("tools.changed", |notice| match notice {
            brattice_client::Notice::ToolsChanged(changed) => Some(changed.session),
            _ => None,
        })
    };
    assert_eq!(bash(&session).0, [true; 2]);
    assert_eq!(never(&session, "never").as_str(), id);
    assert_eq!(bash(&session).0, [false; 2]);
    assert_eq!(never(&session, "ask").as_str(), id);
    assert_eq!(bash(&session).0, [true; 2]);
    never(&session, "never");
    let updates: Vec<Value> = world.audited(&["session_updated"]);
    let told: Vec<&Value> = updates.iter().map(|line| &line["approval"]).collect();
    assert_eq!(told, ["never", "ask", "never"]);
    // A restart widens nothing.
    session.start("sleep 900");
    world.restart();
    let session = world.resume(&id).answering().open();
    assert_eq!(bash(&session).0, [false; 2]);
    world.finish();
}

#[test]
fn a_folder_that_is_none_is_named_before_anybody_is_asked() {
    let world = world();
    world.file("file", "");
    let session = world.session("workspace-write").answering().open();
    for (workdir, fault) in [("gone", "does not exist"), ("file", "is not a directory")] {
        let mut arguments = asking("true", DANGER);
        arguments["workdir"] = json!(workdir);
        let path = world.ws().join(workdir);
        session
            .bash(arguments)
            .is_refused()
            .says(&format!("working directory {} {fault}", path.display()));
    }
    session.is_asked_nothing();
    world.finish();
}
