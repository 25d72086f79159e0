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
        .exits(0)
        .says("30");
    let work = "cd clone && git checkout -q -b side HEAD~5 && echo side > s && git add s && git commit -qm side && \
                git rebase -q main && git log -2 --format=%s && git worktree add -q ../tree -b other && cd ../tree && \
                echo t > t && git add t && git commit -qm tree && git stash list && git gc -q && git fsck 2>/dev/null && \
                git fetch -q origin && git merge -q side && git worktree list | wc -l";
    session.run_for(300_000, work).exits(0).says("side\nchange 30\n2");
    session.run("git -C clone push -q origin side").exits(1).holds("unable to create");
    world.finish();
}
