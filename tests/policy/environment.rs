//! `[environment]`: what commands get of the daemon's variables.

use serde_json::json;

use crate::worlds::configured;

#[test]
fn variables_are_kept_dropped_and_set_as_configured() {
    let text = "[environment]\n\
                keep = [\"NPM_TOKEN\", \"MY_*_KEY\"]\n\
                drop = [\"AWS_*\"]\n\
                set = { CI = \"1\", PAGER = \"less\" }\n";
    let world = configured(text)
        .variable("NPM_TOKEN", "a")
        .variable("MY_BUILD_KEY", "b")
        .variable("OTHER_KEY", "c")
        .variable("AWS_PROFILE", "d")
        .variable("CI", "0")
        .start();
    let echo = "echo $NPM_TOKEN/$MY_BUILD_KEY/${OTHER_KEY-none}/${AWS_PROFILE-none}/$CI/$PAGER";
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        session.run(echo).exits(0).says("a/b/none/none/1/less");
    }
    let session = world.session("workspace-write").open();
    let started =
        session.request("task.start", json!({"command": format!("{echo} > told")})).unwrap();
    let waiting = json!({"tasks": [started["task"]], "timeout_ms": 20000});
    session.request("task.wait", waiting).unwrap();
    session.run("cat told").says("a/b/none/none/1/less");
    world.finish();
}
