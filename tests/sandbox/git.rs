//! Git in plain clones and linked worktrees, and a workspace that the sandbox leaves as it was.

use std::fs;

use brattice_tests::{World, eventually};
use rustix::process::Signal;
use serde_json::json;

const REPOSITORY: &str =
    "git init -q . && git config user.email a@example.test && git config user.name A";

#[test]
fn b008_a_linked_worktree_commits() {
    let world = World::new();
    world.setup(
        "git init -q \"$OUT/main\" && cd \"$OUT/main\" && git config user.email a@example.test && git config user.name A \
         && echo 1 > f && git add f && git commit -qm base && git worktree add -q \"$WS/wt\" -b feat && echo 2 >> \"$WS/wt/f\"",
    );
    let session = |mode| world.session(mode).with("workspace", json!(world.ws().join("wt"))).open();
    let reader = session("read-only");
    let shown = " M f\n f | 1 +\n 1 file changed, 1 insertion(+)";
    let looked = reader.run("git status --short; git diff --stat");
    looked.exits(0).says(shown);
    assert_eq!(looked.outcome().denials_total, Some(0));
    let refused = reader.run("git add f");
    refused.exits(128);
    assert_eq!(refused.outcome().denials_total, Some(1), "what must be written is still told");
    let writer = session("workspace-write");
    writer
        .run("git status --short && git add f && git commit -qm two && git log --oneline | wc -l")
        .exits(0)
        .says(" M f\n2");
    writer.run("echo x > $OUT/main/f").exits(1);
    assert_eq!(
        fs::read_to_string(world.out().join("main/f")).unwrap(),
        "1\n",
        "the other work tree is no root"
    );
    assert!(!world.out().join("main/.git/worktrees/wt/index.lock").exists());
    world.finish();
}

#[test]
fn b009_a_plain_clone_commits() {
    let world = World::new();
    world.setup(&format!(
        "{REPOSITORY} && echo 1 > f && git add f && git commit -qm base && echo 2 >> f"
    ));
    let session = world.session("workspace-write").open();
    session.run("git commit -qam two && git rev-list --count HEAD").exits(0).says("2");
    session.run("git branch x && git checkout -q x && git tag t && git gc -q && git fsck").exits(0);
    world.finish();
}

#[test]
fn b010_everything_inside_is_replaced_unlinked_and_moved() {
    let world = World::new();
    world.setup(&format!("{REPOSITORY} && mkdir -p d && echo orig > d/f && git add . && git commit -qm base && echo changed > d/f"));
    let session = world.session("workspace-write").open();
    session
        .run(
            "git checkout -- d/f && cat d/f && rm d/f && mv .git/description d/g && ln -s g d/l && \
             rmdir_d=$(mktemp -d -p .) && rmdir $rmdir_d && ls d",
        )
        .exits(0)
        .says("orig\ng\nl");
    world.finish();
}

#[test]
fn b011_the_sandbox_leaves_no_file_behind_alive_or_killed() {
    let mut world = World::new();
    world.setup(&format!("{REPOSITORY} && echo x > a && git add a && git commit -qm base"));
    let home = world.native("find \"$HOME\" | sort").stdout;
    let session = world.session("workspace-write").open();
    session.run("git status --porcelain --untracked-files=all; ls -A").exits(0).says(".git\na");
    let call = session.begin(json!({"command": "sleep 900", "timeoutMs": 600_000}));
    eventually("the command runs", || (!world.strays().is_empty()).then_some(()));
    let is_clean = |world: &World, when: &str| {
        assert_eq!(
            world.native("git status --porcelain --untracked-files=all").stdout,
            "",
            "{when}"
        );
        assert_eq!(world.native("find \"$HOME\" | sort").stdout, home, "{when}");
    };
    is_clean(&world, "while it runs");
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    world.is_quiet();
    is_clean(&world, "after the daemon was killed");
    drop((call, session));
    world.start();
    world.finish();
}
