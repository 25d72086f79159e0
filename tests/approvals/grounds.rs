//! What an escalation stands on: a denial that was recorded of the same command in the same folder.

use std::fs;

use brattice_protocol::approval::ApprovalChoice;
use brattice_tests::World;

use crate::{DANGER, ask, asking};

#[test]
fn c2_a_denied_command_may_ask_shows_what_was_denied_and_no_other_command_may() {
    let world = World::new();
    let session = world.session("workspace-write").answering().open();
    let command = "echo data > $OUT/result";
    session.bash(asking(command, DANGER)).is_refused().holds("run it first");
    session.run(command).exits(1).holds("repeat this call once with sandbox_permissions");
    session.bash(asking("echo data > $OUT/other", DANGER)).is_refused().holds("run it first");
    session.is_asked_nothing();
    let call = ask(&session, command, DANGER);
    let question = session.question();
    let path = world.out().join("result").display().to_string();
    let denied = question.request().denials.clone();
    let told: Vec<_> = denied.iter().map(|denial| (&*denial.operation, &*denial.path)).collect();
    assert_eq!(told, [("create", path.as_str())]);
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).exits(0);
    assert_eq!(fs::read_to_string(path).unwrap(), "data\n");
    world.finish();
}
