//! Git: clone, commit, rebase, worktree.

#[test]
fn git_clones_commits_rebases_and_adds_worktrees() {
    let world = super::world();
    world.setup(
        "printf '[user]\\n\\tname = A\\n\\temail = a@example.test\\n[init]\\n\\tdefaultBranch = main\\n' > $HOME/.gitconfig && \
         git init -q $OUT/origin && cd $OUT/origin && for i in $(seq 30); do echo $i >> f; git add f; git commit -qm \"change $i\"; done",
    );
    let session = world.session("workspace-write").open();
    session
        .run("git clone -q $OUT/origin clone && git -C clone rev-list --count HEAD")
        .undenied()
        .says("30");
    let work = "cd clone && git checkout -q -b side HEAD~5 && echo side > s && git add s && git commit -qm side && \
                git rebase -q main && git log -2 --format=%s && git worktree add -q ../tree -b other && cd ../tree && \
                echo t > t && git add t && git commit -qm tree && git stash list && git gc -q && git fsck 2>/dev/null && \
                git fetch -q origin && git merge -q side && git worktree list | wc -l";
    session.run_for(300_000, work).undenied().says("side\nchange 30\n2");
    session.run("git -C clone push -q origin side").exits(1).holds("unable to create");
    world.finish();
}

#[test]
fn git_works_in_a_submodule() {
    let world = super::world();
    world.setup(
        "printf '[user]\\n\\tname = A\\n\\temail = a@example.test\\n[init]\\n\\tdefaultBranch = main\\n[protocol \"file\"]\\n\\tallow = always\\n' > $HOME/.gitconfig && \
         git init -q $OUT/part && cd $OUT/part && echo 1 > p && git add p && git commit -qm part && \
         git init -q $OUT/whole && cd $OUT/whole && git submodule --quiet add $OUT/part part && git commit -qm whole",
    );
    let session = world.session("workspace-write").open();
    let work = "git clone -q --recurse-submodules $OUT/whole whole 2>/dev/null && cd whole/part && git checkout -q -b work && echo 2 > p && \
                git commit -qam inside && cd .. && git add part && git commit -qm bump && git submodule status | cut -c1 && \
                git log -1 --format=%s && git -C part log -1 --format=%s";
    session.run_for(300_000, work).undenied().says(" \nbump\ninside");
    world.finish();
}

/// A session whose workspace is the submodule alone: what git keeps of it lies outside, and is a root all the same.
#[test]
fn a_submodule_is_a_workspace_of_its_own() {
    let world = super::world();
    world.setup(
        "printf '[user]\\n\\tname = A\\n\\temail = a@example.test\\n[init]\\n\\tdefaultBranch = main\\n[protocol \"file\"]\\n\\tallow = always\\n' > $HOME/.gitconfig && \
         git init -q $OUT/part && cd $OUT/part && echo 1 > p && git add p && git commit -qm part && \
         git init -q $OUT/whole && cd $OUT/whole && git submodule --quiet add $OUT/part part && git commit -qm whole",
    );
    let session = world
        .session("workspace-write")
        .with("workspace", serde_json::json!(world.out().join("whole/part")))
        .open();
    session
        .run("echo 2 > p && git commit -qam inside && git log -1 --format=%s")
        .undenied()
        .says("inside");
    session.run("echo x > ../f").exits(1);
    world.finish();
}
