//! F8 to F17: names. Nothing outside is made, moved or removed, and roots stay what they were.

use std::fs;
use std::os::unix::fs::symlink;

use brattice_tests::World;
use serde_json::json;

use crate::attack::{Attack, Record};

#[test]
fn f8_nothing_moves_across_the_border() {
    Attack {
        setup: "printf secret > $HOME/f; rm -rf $HOME/stolen in; mkdir $HOME/d 2>/dev/null || true",
        steps: r#"
def rename(flags, source, target):
    call(316, AT_FDCWD, source.encode(), AT_FDCWD, target.encode(), flags)
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
write(IN + "/in")
attempt("exchange-out", rename, EXCHANGE, IN + "/in", HOME + "/f")
attempt("exchange-in", rename, EXCHANGE, HOME + "/f", IN + "/in")
attempt("whiteout", rename, WHITEOUT, HOME + "/nosuch", IN + "/w")
attempt("noreplace", rename, NOREPLACE, IN + "/in", HOME + "/stolen")
attempt("out", os.rename, HOME + "/f", IN + "/taken")
attempt("in", os.rename, IN + "/taken" if os.path.exists(IN + "/taken") else IN + "/in", HOME + "/f")
attempt("folder", os.rename, HOME + "/d", IN + "/d")
if os.path.exists(IN + "/d"): os.rename(IN + "/d", HOME + "/d")
"#,
        victim: "cat $HOME/f; ls $HOME",
        confined: "exchange-out EACCES|EXDEV\nexchange-in EACCES|EXDEV\nwhiteout ENOENT|EACCES|EXDEV|EPERM\nnoreplace EACCES|EXDEV\nout EACCES|EXDEV\nin EACCES|EXDEV\nfolder EACCES|EXDEV",
        native: "exchange-out ok\nexchange-in ok\nwhiteout ENOENT|EPERM\nnoreplace ok\nout ok\nin ok\nfolder ok",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f10_nothing_is_made_or_removed_outside() {
    Attack {
        setup: "rm -rf $OUT/v; mkdir -p $OUT/v/empty; echo secret > $OUT/v/f",
        steps: r#"
V = OUT + "/v/"
attempt("mkdir", os.mkdir, V + "new")
attempt("rmdir", os.rmdir, V + "empty")
attempt("unlink", os.unlink, V + "f")
attempt("fifo", os.mkfifo, V + "fifo")
attempt("socket", os.mknod, V + "sock", stat.S_IFSOCK | 0o600)
attempt("file", os.mknod, V + "file", stat.S_IFREG | 0o600)
attempt("device", os.mknod, V + "null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
attempt("symlink", os.symlink, "/etc/passwd", V + "link")
attempt("link", os.link, V + "f" if os.path.exists(V + "f") else V + "file", V + "hard")
attempt("rename", os.rename, V + "f" if os.path.exists(V + "f") else V + "file", V + "g")
attempt("tmpfile", os.open, V, os.O_TMPFILE | os.O_RDWR, 0o600)
"#,
        victim: "find $OUT/v | sort",
        confined: "mkdir EACCES\nrmdir EACCES\nunlink EACCES\nfifo EACCES\nsocket EACCES\nfile EACCES\ndevice EACCES|EPERM\nsymlink EACCES\nlink EACCES\nrename EACCES\ntmpfile EACCES",
        native: "mkdir ok\nrmdir ok\nunlink ok\nfifo ok\nsocket ok\nfile ok\ndevice ok|EPERM\nsymlink ok\nlink ok\nrename ok\ntmpfile ok",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f11_the_workspace_itself_cannot_be_moved() {
    Attack {
        setup: "rm -rf $OUT/../moved",
        steps: r#"
attempt("rename", os.rename, WS, OUT + "/../moved")
if os.path.exists(OUT + "/../moved"): os.rename(OUT + "/../moved", WS); open(OUT + "/moved", "w")
"#,
        victim: "ls $OUT | grep moved",
        confined: "rename EACCES",
        native: "rename ok",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f11_a_workspace_that_was_replaced_is_not_followed() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("echo 1 > before").exits(0);
    let aside = world.out().join("aside");
    fs::rename(world.ws(), &aside).unwrap();
    symlink(world.out(), world.ws()).unwrap();
    session.run("touch escaped").is_refused().holds(world.ws().to_str().unwrap());
    assert!(!world.out().join("escaped").exists());
    fs::remove_file(world.ws()).unwrap();
    fs::create_dir(world.ws()).unwrap();
    session.run("echo 2 > after").exits(0);
    assert!(world.ws().join("after").exists() && !aside.join("after").exists());
    world.finish();
}

#[test]
fn f11_a_folder_above_the_workspace_that_was_replaced_is_not_followed() {
    let world = World::new();
    world.setup("mkdir -p sub $OUT/sub");
    let session =
        world.session("workspace-write").with("workspace", json!(world.ws().join("sub"))).open();
    session.run("echo 1 > before").exits(0);
    fs::rename(world.ws(), world.out().join("aside")).unwrap();
    symlink(world.out(), world.ws()).unwrap();
    session.run("touch escaped").is_refused();
    assert!(!world.out().join("sub/escaped").exists());
    fs::remove_file(world.ws()).unwrap();
    fs::create_dir(world.ws()).unwrap();
    world.finish();
}

#[test]
fn f14_nested_roots_of_two_sessions_share_nothing() {
    let world = World::new();
    world.setup("mkdir sub");
    let outer = world.session("workspace-write").open();
    let inner = |mode| world.session(mode).with("workspace", json!(world.ws().join("sub"))).open();
    let (reader, writer) = (inner("read-only"), inner("workspace-write"));
    reader.run("touch $WS/sub/reader").exits(1);
    writer.run("touch $WS/sub/writer").exits(0);
    writer.run("touch $WS/writer").exits(1);
    outer.run("touch $WS/sub/outer $WS/outer").exits(0);
    let temp = writer.run("echo $TMPDIR").text();
    outer.run(&format!("touch {temp}/x")).exits(1);
    world.native(&format!("touch {temp}/x")).succeeded();
    assert_eq!(
        world.native("find . -type f | sort").stdout,
        "./outer\n./sub/outer\n./sub/writer\n"
    );
    world.finish();
}

#[test]
fn f17_shared_temporary_folders_are_private_or_closed() {
    Attack {
        steps: r#"
name = "brattice-f17-" + os.path.basename(os.path.dirname(WS))
attempt("/tmp", write, "/tmp/" + name)
attempt("/var/tmp", write, "/var/tmp/" + name)
if os.path.exists("/var/tmp/" + name): os.unlink("/var/tmp/" + name)
attempt("shm", write, "/dev/shm/" + name)
attempt("private", write, IN + "/" + name)
os.unlink(IN + "/" + name)
"#,
        victim: "cd $WS/..; ls {/tmp,/dev/shm}/brattice-f17-$(basename $PWD) 2>/dev/null",
        confined: "/tmp ok\n/var/tmp EACCES\nshm ok\nprivate ok",
        native: "/tmp ok\n/var/tmp ok\nshm ok\nprivate ok",
        setup: "rm -f {/tmp,/dev/shm}/brattice-f17-$(basename $(dirname $WS))",
        record: Record::Some,
    }
    .run();
}

#[test]
fn f17_each_session_has_its_own_temporary_folder() {
    let world = World::new();
    let temp = || {
        let session = world.session("read-only").open();
        let path =
            session.run("echo x > $TMPDIR/f; stat -c %a $TMPDIR; echo $TMPDIR").exits(0).lines();
        (session, path)
    };
    let ((_one, first), (_two, second)) = (temp(), temp());
    assert_eq!((first[0].as_str(), second[0].as_str()), ("700", "700"));
    assert_ne!(first[1], second[1]);
    assert!(!std::path::Path::new(&first[1]).starts_with(world.ws()), "{}", first[1]);
    world.finish();
}
