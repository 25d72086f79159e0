//! Ordinary failures, and output that only talks of denials: codes and text as they are, nothing added.

use brattice_tests::World;

const T_SH: &str = r#"echo "tests/sandbox_test.py: Permission denied is rendered correctly ... ok"
echo "landlock docs: Operation not permitted" >&2
exit 1
"#;

#[test]
fn b013_words_in_the_output_are_no_denial() {
    let world = World::new();
    world.setup("mkdir -p demo/sandbox/unit && echo 'v = 1' > demo/sandbox/unit/conf.toml");
    world.file("t.sh", T_SH);
    let session = world.session("workspace-write").open();
    session.run("find . nosuchdir -name '*.toml'").exits(1).says(
        "./demo/sandbox/unit/conf.toml\n[stderr]\nfind: ‘nosuchdir’: No such file or directory\n[exit code: 1]",
    );
    session.run("bash t.sh").exits(1).says(
        "tests/sandbox_test.py: Permission denied is rendered correctly ... ok\n[stderr]\n\
         landlock docs: Operation not permitted\n[exit code: 1]",
    );
    world.finish();
}

#[test]
fn b014_ordinary_failures_keep_their_codes() {
    let world = World::new();
    world.setup("echo hello > a.txt; mkdir locked; echo x > locked/f; chmod 000 locked");
    let session = world.session("workspace-write").open();
    session.run("grep zzz a.txt").exits(1).says("(no output)\n[exit code: 1]");
    session
        .run("./a.txt")
        .exits(126)
        .says("[stderr]\nbash: line 1: ./a.txt: Permission denied\n[exit code: 126]");
    session.run("nosuchprogram").exits(127).holds("[exit code: 127]");
    let locked = session.run("cat locked/f");
    if rustix::process::geteuid().is_root() {
        // Root's confined commands keep what file ownership needs inside their roots.
        locked.exits(0).says("x");
    } else {
        locked.exits(1).says("[stderr]\ncat: locked/f: Permission denied\n[exit code: 1]");
    }
    world.finish();
}
