//! M1, M4: modes that lend an identity, and attributes that no rule on paths judges.

use crate::attack::Attack;

#[test]
fn m1_no_file_gets_the_set_user_id_bit() {
    Attack {
        steps: r#"
CREATE, TMPFILE, SUID = os.O_CREAT | os.O_WRONLY, os.O_TMPFILE | os.O_WRONLY, 0o4755
os.umask(0)
def path(name):
    name = IN + "/m1-" + name
    if os.path.exists(name): os.unlink(name)
    return name.encode()
own = path("own")
write(own)
fd = os.open(own, os.O_RDWR)
attempt("chmod", call, 90, own, SUID)
attempt("fchmod", call, 91, fd, SUID)
attempt("fchmodat", call, 268, AT_FDCWD, own, SUID)
attempt("fchmodat2", call, 452, AT_FDCWD, own, SUID, 0)
attempt("both-bits", call, 90, own, 0o6755)
attempt("mknod", call, 133, path("mknod"), stat.S_IFREG | SUID, 0)
attempt("mknodat", call, 259, AT_FDCWD, path("mknodat"), stat.S_IFREG | SUID, 0)
attempt("open", call, 2, path("open"), CREATE, SUID)
attempt("openat", call, 257, AT_FDCWD, path("openat"), CREATE, SUID)
attempt("tmpfile", call, 257, AT_FDCWD, IN.encode(), TMPFILE, SUID)
attempt("creat", call, 85, path("creat"), SUID)
attempt("openat2", call, 437, AT_FDCWD, path("openat2"), struct.pack("QQQ", CREATE, SUID, 0), 24)
made = [name for name in os.listdir(IN) if name.startswith("m1-") and os.stat(IN + "/" + name).st_mode & stat.S_ISUID]
attempt("none-made", lambda: made and call(-1))
attempt("chmod-755", os.chmod, own, 0o755)
attempt("fchmod-755", os.fchmod, fd, 0o755)
attempt("chmod-2755", os.chmod, own, 0o2755)
attempt("chmod-1777", os.chmod, own, 0o1777)
attempt("create-755", os.open, path("plain"), CREATE, 0o755)
# Without O_CREAT the mode is noise.
attempt("open-with-noise", call, 257, AT_FDCWD, own, os.O_RDONLY, SUID)
for name in os.listdir(IN):
    if name.startswith("m1-"): os.unlink(IN + "/" + name)
"#,
        confined: "chmod EPERM\nfchmod EPERM\nfchmodat EPERM\nfchmodat2 EPERM\nboth-bits EPERM\nmknod EPERM\nmknodat EPERM\nopen EPERM\nopenat EPERM\ntmpfile EPERM\ncreat EPERM\nopenat2 EPERM|ENOSYS\nnone-made ok\nchmod-755 ok\nfchmod-755 ok\nchmod-2755 ok\nchmod-1777 ok\ncreate-755 ok\nopen-with-noise ok",
        native: "chmod ok\nfchmod ok\nfchmodat ok\nfchmodat2 ok|ENOSYS\nboth-bits ok\nmknod ok\nmknodat ok\nopen ok\nopenat ok\ntmpfile ok\ncreat ok\nopenat2 ok\nnone-made ENOSYS\nchmod-755 ok\nfchmod-755 ok\nchmod-2755 ok\nchmod-1777 ok\ncreate-755 ok\nopen-with-noise ok",
        ..Attack::default()
    }
    .run();
}

/// Steps on a readable file outside (`out`) and on an own one (`own`): flags are read and set again as they are.
const FLAGS: &str = r#"
GETFLAGS, SETFLAGS, FSGETXATTR, FSSETXATTR, UPPER = 0x80086601, 0x40086602, 0x801c581f, 0x401c5820, 1 << 32
write(IN + "/m4")
for path in (OUT + "/f", IN + "/m4"):
    fd = os.open(path, os.O_RDONLY)
    for name, getter, setter in (("setflags", GETFLAGS, SETFLAGS), ("fssetxattr", FSGETXATTR, FSSETXATTR)):
        value = ctypes.create_string_buffer(32)
        libc.ioctl(fd, ctypes.c_ulong(getter), value)
        attempt(name, call, 16, fd, setter, ctypes.addressof(value))
        attempt("upper-" + name, call, 16, fd, UPPER | setter, ctypes.addressof(value))
    value = ctypes.create_string_buffer(24)
    libc.syscall(468, AT_FDCWD, path.encode(), value, ctypes.c_long(24), 0)
    attempt("file_setattr", call, 469, AT_FDCWD, path.encode(), ctypes.addressof(value), 24, 0)
os.unlink(IN + "/m4")
"#;

#[test]
fn m4_inode_flags_stay_as_they_are() {
    const ANSWERED: &str = "ok|ENOTTY|ENOTSUP|ENOSYS|EINVAL";
    let names = ["setflags", "upper-setflags", "fssetxattr", "upper-fssetxattr", "file_setattr"];
    Attack {
        setup: "echo x > $OUT/f",
        steps: FLAGS,
        confined: &names.map(|name| format!("{name} EPERM\n")).concat(),
        native: &names.map(|name| format!("{name} {ANSWERED}\n")).concat(),
        ..Attack::default()
    }
    .run();
}

#[test]
fn m4_ioctls_that_make_files_behind_landlock_are_refused_and_cloning_is_not() {
    Attack {
        setup: "echo x > $OUT/f",
        steps: r#"
SUBVOL_CREATE, SNAP_CREATE_V2, SNAP_DESTROY, FICLONE = 0x5000940e, 0x50009417, 0x5000940f, 0x40049409
outside = os.open(OUT, os.O_RDONLY)
arguments = ctypes.create_string_buffer(4096)
for name, request in (("subvolume", SUBVOL_CREATE), ("snapshot", SNAP_CREATE_V2), ("destroy", SNAP_DESTROY)):
    attempt(name, call, 16, outside, request, ctypes.addressof(arguments))
write(IN + "/m4")
attempt("clone", call, 16, os.open(IN + "/m4", os.O_RDWR), FICLONE, os.open(OUT + "/f", os.O_RDONLY))
os.unlink(IN + "/m4")
"#,
        confined: "subvolume EPERM\nsnapshot EPERM\ndestroy EPERM\nclone ok|ENOTSUP|EXDEV|EINVAL|ENOTTY",
        native: "subvolume ENOTTY|EINVAL|EEXIST\nsnapshot ENOTTY|EINVAL|EBADF\ndestroy ENOTTY|EINVAL|ENOENT\nclone ok|ENOTSUP|EXDEV|EINVAL|ENOTTY",
        ..Attack::default()
    }
    .run();
}

/// Landlock judges none of these: the observer carries them out on the file that it has judged, or refuses.
#[test]
fn m1_m2_m3_nothing_outside_changes_its_metadata() {
    Attack {
        setup: r#"rm -rf "$OUT/v" "$OUT/d"; echo x > "$OUT/v"; chmod 600 "$OUT/v"; mkdir -m 700 "$OUT/d"; python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.kept", b"1")' "$OUT/v""#,
        steps: r#"
path, folder, own = OUT + "/v", OUT + "/d", IN + "/m3"
write(own)
fd, pinned = os.open(path, os.O_RDONLY), os.open(path, os.O_PATH)
me = (os.getuid(), os.getgid())
attempt("chmod", os.chmod, path, 0o777)
attempt("chmod-folder", os.chmod, folder, 0o777)
attempt("fchmod", os.fchmod, fd, 0o777)
attempt("chmod-by-proc", os.chmod, "/proc/self/fd/%d" % pinned, 0o777)
attempt("fchmodat2", call, 452, fd, b"", 0o777, 0x1000)
attempt("chown", os.chown, path, *me)
attempt("lchown", os.lchown, path, *me)
attempt("fchown", os.fchown, fd, *me)
attempt("utime", os.utime, path, (1, 1))
attempt("utime-by-descriptor", os.utime, fd, (2, 2))
attempt("setxattr", os.setxattr, path, "user.new", b"1")
attempt("fsetxattr", os.setxattr, fd, "user.new", b"1")
attempt("removexattr", os.removexattr, path, "user.kept")
attempt("own", lambda: (os.chmod(own, 0o640), os.utime(own, (1, 1)), os.setxattr(own, "user.new", b"1"), os.unlink(own)))
"#,
        victim: r#"stat -c '%a %Y' "$OUT/v" "$OUT/d"; python3 -c 'import os, sys; print(sorted(os.listxattr(sys.argv[1])))' "$OUT/v""#,
        confined: "chmod EACCES\nchmod-folder EACCES\nfchmod EACCES\nchmod-by-proc EACCES\nfchmodat2 EACCES\nchown EACCES\nlchown EACCES\nfchown EACCES\nutime EACCES\nutime-by-descriptor EACCES\nsetxattr EACCES\nfsetxattr EACCES\nremovexattr EACCES\nown ok",
        native: "chmod ok\nchmod-folder ok\nfchmod ok\nchmod-by-proc ok\nfchmodat2 ok|ENOSYS\nchown ok\nlchown ok\nfchown ok\nutime ok\nutime-by-descriptor ok\nsetxattr ok\nfsetxattr ok\nremovexattr ok\nown ok",
        ..Attack::default()
    }
    .run();
}
