//! F15: what is run later by somebody else. Protected paths keep their content and their names; hidden ones are not read.

use brattice_protocol::LayerState;
use brattice_tests::{CONFINED, World, WorldBuilder};
use serde_json::json;

use crate::attack::{assert_outcomes, program};

const REPOSITORY: &str = "rm -rf .git sub; git init -q .; git config user.email a@example.test; git config user.name A; \
    echo 'exit 0' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; mkdir sub; echo x > sub/Makefile";

const STATE: &str = "cat .git/hooks/pre-commit sub/Makefile; stat -c '%n %a %h' .git/hooks .git/hooks/pre-commit sub/Makefile";

const PROTECT: &str = "[session]\nprotect = [\".git/hooks\", \"sub/Makefile\"]\n";

/// Every way around that the threat model lists: rename onto, rename of an ancestor, hard link, symbolic link, metadata.
const STEPS: &str = r#"
os.chdir(WS)
H = ".git/hooks/pre-commit"
attempt("write", write, H)
attempt("absolute", write, WS + "/" + H)
attempt("root", write, "/proc/self/root" + WS + "/" + H)
attempt("append", write, "sub/Makefile", os.O_WRONLY | os.O_APPEND)
attempt("create", write, ".git/hooks/post-merge")
attempt("unlink", os.unlink, H)
attempt("chmod", os.chmod, H, 0o777)
attempt("times", os.utime, H)
open("evil", "w").close()
attempt("rename-onto", os.rename, "evil", "sub/Makefile")
attempt("exchange", call, 316, AT_FDCWD, b"evil", AT_FDCWD, b"sub/Makefile", 2)
attempt("rename-away", os.rename, "sub/Makefile", "Makefile")
attempt("rename-hooks", os.rename, ".git/hooks", ".git/hooks2")
attempt("rename-git", os.rename, ".git", ".git2")
attempt("rename-sub", os.rename, "sub", "sub2")
attempt("rmdir", os.rmdir, ".git/hooks")
attempt("link", os.link, H, "alias")
attempt("write-alias", write, "alias", os.O_WRONLY)
os.symlink(".git/hooks", "through")
attempt("through-link", write, "through/pre-commit")
def beneath(): return os.open("pre-commit", os.O_WRONLY, dir_fd=os.open(".git/hooks", os.O_RDONLY | os.O_DIRECTORY))
attempt("openat", beneath)
attempt("reopen", lambda: write("/proc/self/fd/%d" % os.open(H, os.O_RDONLY), os.O_WRONLY))
attempt("umount", lambda: in_child(lambda: call(166, b".git/hooks", 2)))
for name in ("evil", "through", "alias"):
    if os.path.lexists(name): os.unlink(name)
"#;

#[test]
fn f15_what_is_protected_keeps_its_content_and_its_name() {
    let world = World::builder().configured(PROTECT).start();
    let confined = "write EROFS\nabsolute EROFS\nroot EROFS\nappend EROFS\ncreate EROFS\nunlink EROFS\nchmod EROFS\n\
        times EROFS\nrename-onto EXDEV\nexchange EXDEV\nrename-away EXDEV\nrename-hooks EBUSY\nrename-git EBUSY\n\
        rename-sub EBUSY\nrmdir EBUSY\nlink EXDEV\nwrite-alias ENOENT\nthrough-link EROFS\nopenat EROFS\nreopen EROFS\n\
        umount EPERM";
    std::fs::write(world.out().join("attack.py"), program(STEPS)).unwrap();
    world.setup(REPOSITORY);
    let before = world.native(STATE).stdout;
    let session = world.session("workspace-write").open();
    let reply = session.run("python3 -B $OUT/attack.py");
    let told = reply.text();
    let outcomes = told.split("\n[sandbox: ").next().unwrap();
    assert_outcomes("confined", outcomes, confined);
    assert_eq!(world.native(STATE).stdout, before);
    let twin = world.native("python3 -B $OUT/attack.py");
    let native = "write ok\nabsolute ok\nroot ok\nappend ok\ncreate ok\nunlink ok\nchmod ENOENT\ntimes ENOENT\n\
        rename-onto ok\nexchange ENOENT\nrename-away ok\nrename-hooks ok\nrename-git ok\nrename-sub ok\nrmdir ENOENT\n\
        link ENOENT\nwrite-alias ENOENT\nthrough-link ENOENT\nopenat ENOENT\nreopen ENOENT";
    // The twin's later steps have nothing left to work on, and what the last one, of umount(2), says is the user's affair.
    let said: Vec<&str> = twin.stdout.lines().take(native.lines().count()).collect();
    assert_outcomes("native", &said.join("\n"), native);
    assert_ne!(world.native(STATE).stdout, before);
    world.finish();
}

#[test]
fn f15_what_is_refused_there_is_on_record() {
    let world = World::new();
    world.setup(REPOSITORY);
    let path = |name: &str| world.ws().join(name).display().to_string();
    let session = world.session("workspace-write").open();
    let hook = ".git/hooks/pre-commit";
    let cases = [
        ("echo x > .git/hooks/pre-commit", "write", hook, None),
        ("cd .git/hooks && echo x >> ./pre-commit", "write", hook, None),
        ("truncate -s 0 $WS/.git/hooks/pre-commit", "write", hook, None),
        ("echo x > .git/hooks/new", "create", ".git/hooks/new", None),
        ("mkdir .git/hooks/new", "create", ".git/hooks/new", None),
        ("ln -s x .git/hooks/new", "create", ".git/hooks/new", None),
        ("rm -f .git/hooks/pre-commit", "remove", hook, None),
        ("chmod +x .git/hooks/pre-commit", "metadata", hook, None),
        ("mv .git .git2", "rename", ".git", Some(".git2")),
        ("mv .git/hooks .git/h", "rename", ".git/hooks", Some(".git/h")),
        ("ln .git/hooks/pre-commit alias", "link", hook, Some("alias")),
    ];
    for (command, operation, first, second) in cases {
        let reply = session.run(command);
        assert_ne!(reply.code(), Some(0), "{command}");
        let mut expected = json!({
            "operation": operation, "path": path(first), "layer": "namespaces", "needs": "danger-full-access", "count": 1
        });
        if let Some(second) = second {
            expected["second_path"] = json!(path(second));
        }
        let denials = serde_json::to_value(&reply.outcome().denials).unwrap();
        assert_eq!(denials, json!([expected]), "{command}");
    }
    // What is not refused is not on record, nor is what is refused anyway.
    for command in [
        "cat .git/hooks/pre-commit; echo x > .git/description; echo x > file; rm file",
        "mkdir .git/hooks",
        "rm -f .git/hooks/absent",
    ] {
        assert_eq!(session.run(command).outcome().denials_total, Some(0), "{command}");
    }
    world.finish();
}

/// What is told of a command: in the text, as data and in the audit log.
fn changes(session: &brattice_tests::Session, command: &str) -> Vec<String> {
    let reply = session.run(command);
    let told = reply.outcome().git_changes.clone();
    let line = format!("[git runs later what was changed: {}]", told.join("; "));
    if told.is_empty() {
        reply.lacks("git runs later");
    } else {
        reply.holds(&line);
    }
    told
}

#[test]
fn f15_f16_what_git_would_run_later_is_told_where_it_was_changed() {
    let world = World::new();
    world.setup(REPOSITORY);
    let path = |name: &str| world.ws().join(name).display().to_string();
    let configuration = path(".git/config");
    let setting = |key: &str| format!("{key} in {configuration}");
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let told = |command: &str| changes(&session, command);
        assert_eq!(told("git config core.fsmonitor ./evil"), [setting("core.fsmonitor")]);
        assert_eq!(told("git status"), Vec::<String>::new());
        assert_eq!(told("git config user.name B"), Vec::<String>::new());
        assert_eq!(
            told("printf '[CORE] hooksPath = x\\n[filter \"f\"] clean = y' >> .git/config"),
            [setting("core.hookspath"), setting("filter.f.clean")]
        );
        assert_eq!(
            told("git config --unset core.fsmonitor; git config alias.st '!x'"),
            [setting("alias.st"), setting("core.fsmonitor")]
        );
        // What its user does in between is nobody's.
        world.setup(REPOSITORY);
        assert_eq!(told("true"), Vec::<String>::new());
        world.setup(REPOSITORY);
    }
    world.finish();
}

/// The supervisor looks at git's files from outside of the sandbox: what stands there is the command's to choose.
#[test]
fn f15_what_stands_in_the_configurations_place_holds_up_nobody_and_tells_nothing() {
    let world = World::new();
    world.setup(REPOSITORY);
    let path = |name: &str| world.ws().join(name).display().to_string();
    std::fs::write(world.out().join("hidden"), "[alias]\nsecretkey = x\n").unwrap();
    let session = world.session("workspace-write").open();
    for place in
        ["mkfifo .git/config", "ln -s /dev/zero .git/config", "ln -s $OUT/hidden .git/config"]
    {
        let told = changes(&session, &format!("rm -f .git/config; {place}"));
        assert!(
            !told.is_empty() && told.iter().all(|told| !told.contains("secretkey")),
            "{told:?}"
        );
        session.run(&format!("echo after {place}")).exits(0);
    }
    session.run("rm .git/config").exits(0);
    assert_eq!(changes(&session, "echo ../evil > .git/commondir"), [path(".git/commondir")]);
    world.finish();
}

#[test]
fn f15_hooks_that_nothing_holds_are_told_where_they_were_changed() {
    let world = World::builder().configured("[session]\nnamespaces = \"off\"\n").start();
    world.setup(REPOSITORY);
    let path = |name: &str| world.ws().join(name).display().to_string();
    let session = world.session("workspace-write").open();
    let told = |command: &str| changes(&session, command);
    assert_eq!(told("echo x >> .git/hooks/pre-commit"), [path(".git/hooks/pre-commit")]);
    assert_eq!(told("echo x > .git/hooks/post-merge"), [path(".git/hooks/post-merge")]);
    assert_eq!(
        told("rm .git/hooks/pre-commit; chmod +x .git/hooks/post-merge"),
        [path(".git/hooks/post-merge"), path(".git/hooks/pre-commit")]
    );
    assert_eq!(told("echo x > .git/hooks/a.sample; cat .git/hooks/*"), Vec::<String>::new());
    world.finish();
}

#[test]
fn f15_git_works_beside_its_protected_hooks() {
    let world = World::new();
    world.setup(REPOSITORY);
    let session = world.session("workspace-write").open();
    session
        .run("git add -A && git commit -qm one && git gc -q && git checkout -qb x && git branch -D master -q && git fsck && git log --oneline | wc -l")
        .exits(0)
        .says("1");
    session.run("git config core.abbrev 9 && git stash -q; git tag t && git worktree add -q wt && ls wt").exits(0).says("sub");
    session.run("rm -rf .git; ls .git/hooks").exits(0).holds("pre-commit");
    world.finish();
}

#[test]
fn f15_a_linked_worktrees_common_hooks_and_its_pointer_are_protected() {
    let world = World::new();
    world.setup(
        "git init -q $OUT/main; cd $OUT/main; git config user.email a@example.test; git config user.name A; \
         git commit -q --allow-empty -m base; mkdir -p .git/hooks; git worktree add -q $WS/wt",
    );
    let session =
        world.session("workspace-write").with("workspace", json!(world.ws().join("wt"))).open();
    let layers = &session.opened().sandbox.layers;
    assert!(
        layers.iter().all(|layer| layer.reason.as_deref().is_none_or(|it| !it.contains("protect"))),
        "{layers:?}"
    );
    for attempt in [
        "echo x > $OUT/main/.git/hooks/pre-commit",
        "mv $OUT/main/.git/hooks $OUT/main/.git/h",
        "echo gitdir: /x > .git",
        "rm .git",
        "mv .git .git2",
        "echo x > y; mv -f y .git",
    ] {
        assert_ne!(session.run(attempt).code(), Some(0), "{attempt}");
    }
    session
        .run("echo x > f && git add f && git commit -qm two && git log --oneline | wc -l")
        .exits(0)
        .says("2");
    world.native("echo gitdir: /x > wt/.git").succeeded();
    world.finish();
}

#[test]
fn f15_a_path_that_comes_to_be_is_held_from_the_next_command_on() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("git init -q . && ls .git/hooks | head -1").exits(0);
    session.run("echo x > .git/hooks/pre-commit").exits(1).holds("Read-only file system");
    session.run("mv .git .git2").exits(1).holds("Device or resource busy");
    world.setup("mv .git/hooks .git/old; mkdir .git/hooks");
    session.run("echo x > .git/hooks/pre-commit").exits(1).holds("Read-only file system");
    world.finish();
}

#[test]
fn f15_a_link_in_the_path_is_told_and_leads_nobody_astray() {
    let world = World::new();
    world.setup("mkdir -p $OUT/g/hooks; ln -s $OUT/g .git");
    let session = world.session("workspace-write").open();
    let layers = &session.opened().sandbox.layers;
    let told = layers.iter().find(|layer| layer.state == LayerState::Partial).unwrap();
    assert!(
        told.reason.as_deref().unwrap().starts_with("not protected: a symbolic link leads to "),
        "{told:?}"
    );
    session.run("echo x > .git/hooks/pre-commit").exits(1);
    assert_eq!(world.native("ls $OUT/g/hooks").stdout, "");
    world.finish();
}

/// A world that hides a folder, a file and a file within the workspace.
fn hiding() -> WorldBuilder {
    let builder = World::builder();
    let ws = builder.root().join("ws/.env").display().to_string();
    builder.configured(&format!(
        "[session]\ndeny_read = [\"~/secrets\", \"~/token\", \"~/absent\", \"{ws}\"]\n"
    ))
}

const SECRETS: &str = "mkdir -p $HOME/secrets; echo s3cret > $HOME/secrets/key; echo s3cret > $HOME/token; \
    echo s3cret > .env; ln -sfn $HOME/secrets link";

#[test]
fn f15_hidden_files_are_not_read_by_any_name() {
    let world = hiding().start();
    world.setup(SECRETS);
    let ways = [
        "cat $HOME/secrets/key",
        "cat $HOME/token | grep .",
        "cat .env | grep .",
        "cat link/key",
        "cat /proc/self/root$HOME/secrets/key",
        "cat /proc/self/cwd/../home/token | grep .",
        "cat /proc/$PPID/root$HOME/secrets/key",
        "cp .env copy && grep . copy",
        "ln .env alias && grep . alias",
        "mv .env moved && cat moved | grep .",
        "rm -f .env && cat .env",
        "umount $HOME/secrets && cat $HOME/secrets/key",
        "unshare -rm sh -c 'umount $HOME/secrets; cat $HOME/secrets/key'",
    ];
    for mode in CONFINED {
        let session = world.session(mode).open();
        for way in ways {
            let reply = session.run(way);
            assert_ne!(reply.code(), Some(0), "{mode}: {way}");
            reply.lacks("s3cret");
        }
        let outside = format!("cat /proc/{}/root$HOME/secrets/key", std::process::id());
        session.run(&outside).exits(1).lacks("s3cret");
        session.run("ls -A $HOME/secrets 2>/dev/null; true").exits(0).says("(no output)");
    }
    for way in &ways[..5] {
        assert_eq!(world.native(way).succeeded().stdout, "s3cret\n", "{way}");
    }
    let danger = world.session("danger-full-access").open();
    danger.run("cat $HOME/secrets/key").exits(0).says("s3cret");
    world.finish();
}

#[test]
fn f15_what_comes_to_be_under_a_hidden_name_is_hidden_from_the_next_command_on() {
    let world = hiding().start();
    let session = world.session("read-only").open();
    session.run("cat $HOME/absent").exits(1).holds("No such file");
    world.setup("echo s3cret > $HOME/absent");
    session.run("grep . $HOME/absent").lacks("s3cret");
    world.finish();
}
