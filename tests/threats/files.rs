//! F1 to F7: contents. No way of naming a file outside makes it writable.

use brattice_tests::World;

use crate::attack::Attack;

const VICTIM: &str = "printf secret > $HOME/f; printf secret > $OUT/f; rm -f $HOME/new $OUT/new";
const STATE: &str = "cat $HOME/f; echo; cat $OUT/f; ls $HOME $OUT";

#[test]
fn f1_writing_outside() {
    Attack {
        setup: VICTIM,
        steps: r#"
import shutil
attempt("open", write, HOME + "/f", os.O_WRONLY)
attempt("append", write, HOME + "/f", os.O_WRONLY | os.O_APPEND)
attempt("readwrite", write, OUT + "/f", os.O_RDWR)
attempt("create", write, HOME + "/new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
attempt("copy", shutil.copyfile, "/etc/passwd", OUT + "/new")
attempt("etc", write, "/etc/brattice-test", os.O_WRONLY | os.O_CREAT)
if os.path.exists("/etc/brattice-test"): os.unlink("/etc/brattice-test")
"#,
        victim: STATE,
        confined: "open EACCES\nappend EACCES\nreadwrite EACCES\ncreate EACCES\ncopy EACCES\netc EACCES",
        native: "open ok\nappend ok\nreadwrite ok\ncreate ok\ncopy ok\netc ok|EACCES",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f1_writing_outside_by_the_shells_own_means() {
    let world = World::new();
    world.setup(VICTIM);
    let before = world.native(STATE);
    let commands = [
        "echo x > $HOME/f",
        "echo x >> $HOME/f",
        "cp /etc/passwd $HOME/f",
        "dd if=/etc/passwd of=$HOME/f 2>/dev/null",
        "tee $HOME/new </etc/passwd >/dev/null",
        "sed -i s/secret/OWNED/ $HOME/f",
    ];
    for mode in ["read-only", "workspace-write"] {
        let session = world.session(mode).open();
        for command in commands {
            assert_ne!(session.run(command).code(), Some(0), "{mode}: {command}");
            assert_eq!(world.native(STATE), before, "{mode}: {command}");
        }
    }
    for command in commands {
        world.setup(VICTIM);
        world.native(command).succeeded();
        assert_ne!(world.native(STATE), before, "{command}");
    }
    world.finish();
}

#[test]
fn f2_truncating_outside() {
    Attack {
        setup: VICTIM,
        steps: r#"
attempt("truncating-open", os.open, HOME + "/f", os.O_RDONLY | os.O_TRUNC)
attempt("truncate", os.truncate, OUT + "/f", 0)
attempt("ftruncate", lambda: os.ftruncate(os.open(OUT + "/f", os.O_RDONLY), 0))
"#,
        victim: STATE,
        confined: "truncating-open EACCES\ntruncate EACCES\nftruncate EINVAL",
        native: "truncating-open ok\ntruncate ok\nftruncate EINVAL",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f3_other_names_of_the_same_file() {
    Attack {
        setup: VICTIM,
        steps: r#"
attempt("self-root", write, "/proc/self/root" + HOME + "/f")
attempt("thread-self-root", write, "/proc/thread-self/root" + HOME + "/f")
os.chdir(IN)
attempt("self-cwd", write, "/proc/self/cwd/" + "../" * 12 + HOME.lstrip("/") + "/f")
attempt("dots", write, IN + "/" + "../" * 12 + OUT.lstrip("/") + "/new")
folder = os.open(HOME, os.O_RDONLY | os.O_DIRECTORY)
attempt("dev-fd", write, "/dev/fd/%d/f" % folder)
attempt("openat", lambda: os.open("f", os.O_WRONLY, dir_fd=folder))
os.chdir(HOME)
attempt("relative", write, "f")
"#,
        victim: STATE,
        confined: "self-root EACCES\nthread-self-root EACCES\nself-cwd EACCES\ndots EACCES\ndev-fd EACCES\nopenat EACCES\nrelative EACCES",
        native: "self-root ok\nthread-self-root ok\nself-cwd ok\ndots ok\ndev-fd ok\nopenat ok\nrelative ok",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f4_a_descriptor_for_reading_does_not_become_one_for_writing() {
    Attack {
        setup: VICTIM,
        steps: r#"
import mmap
fd = os.open(HOME + "/f", os.O_RDONLY)
attempt("reopen", write, "/proc/self/fd/%d" % fd, os.O_WRONLY)
attempt("dev-fd", write, "/dev/fd/%d" % fd, os.O_RDWR)
path = os.open(OUT + "/f", os.O_PATH)
attempt("path-fd", write, "/proc/self/fd/%d" % path, os.O_WRONLY)
attempt("mmap", lambda: mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
"#,
        victim: STATE,
        confined: "reopen EACCES\ndev-fd EACCES\npath-fd EACCES\nmmap EACCES",
        native: "reopen ok\ndev-fd ok\npath-fd ok\nmmap EACCES",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f5_links_inside_lead_nowhere_outside() {
    Attack {
        setup: VICTIM,
        steps: r#"
def link(name, target):
    name = IN + "/" + name
    if os.path.islink(name): os.unlink(name)
    os.symlink(target, name)
    return name
attempt("file", write, link("file", HOME + "/f"))
attempt("folder", write, link("folder", HOME) + "/f")
attempt("dangling", write, link("dangling", HOME + "/new"))
attempt("chain", write, link("chain", link("middle", OUT) + "/new"))
attempt("loop", write, link("loop", IN + "/loop"))
"#,
        victim: STATE,
        confined: "file EACCES\nfolder EACCES\ndangling EACCES\nchain EACCES\nloop ELOOP",
        native: "file ok\nfolder ok\ndangling ok\nchain ok\nloop ELOOP",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f6_a_hard_link_to_a_file_outside_cannot_be_made_inside() {
    Attack {
        setup: "printf secret > $HOME/f; rm -f h",
        steps: r#"
attempt("link", os.link, HOME + "/f", IN + "/h")
attempt("write", write, IN + "/h", os.O_WRONLY)
fd = os.open(HOME + "/f", os.O_RDONLY)
FOLLOW = 0x400
attempt("linkat", call, 265, AT_FDCWD, b"/proc/self/fd/%d" % fd, AT_FDCWD, (IN + "/h2").encode(), FOLLOW)
if os.path.exists(IN + "/h2"): os.unlink(IN + "/h2")
"#,
        victim: "cat $HOME/f",
        confined: "link EXDEV\nwrite ENOENT\nlinkat EXDEV",
        native: "link ok\nwrite ok\nlinkat ok",
        ..Attack::default()
    }
    .run();
}

#[test]
fn f7_a_hard_link_that_already_stands_inside_is_inside() {
    let world = World::new();
    world.setup("echo old > $OUT/f; ln $OUT/f f");
    world.session("read-only").open().run("echo new > f").exits(1);
    world.session("workspace-write").open().run("echo new > f").exits(0);
    assert_eq!(
        std::fs::read_to_string(world.out().join("f")).unwrap(),
        "new\n",
        "documented: the inode is in a granted folder"
    );
    world.finish();
}
