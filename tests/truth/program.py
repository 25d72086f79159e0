"""Makes the folders of cases, or makes their calls.

    program.py build FILE WS OUT    as an ordinary program: every case's folders in WS and OUT
    program.py run FILE WS OUT      every case's call; a line each: its number and its errno, or 0

FILE holds a case a line: number, operation, path, second path, with tabs between.
"""
import ctypes, os, socket, stat, sys

libc = ctypes.CDLL(None, use_errno=True)
AT = -100
NUMBER = {"x86_64": dict(truncate=76, fchmodat=268, fchownat=260, utimensat=280, setxattr=188, lsetxattr=189,
                         fsetxattr=190, removexattr=197, mknodat=259, renameat2=316, linkat=265, mkdirat=258,
                         unlinkat=263, symlinkat=266, openat=257, fchmod=91),
          "aarch64": dict(truncate=45, fchmodat=53, fchownat=54, utimensat=88, setxattr=5, lsetxattr=6, fsetxattr=7,
                          removexattr=14, mknodat=33, renameat2=276, linkat=37, mkdirat=34, unlinkat=35, symlinkat=36,
                          openat=56, fchmod=52)}[os.uname().machine]
FLAG = {name: getattr(os, "O_" + name) for name in
        "WRONLY RDWR RDONLY TRUNC CREAT EXCL APPEND NOFOLLOW DIRECTORY TMPFILE PATH".split()}
FLAG["ACC3"] = 3


def call(name, *arguments):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(NUMBER[name]), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def cases(path):
    for line in open(path):
        number, operation, first, second = line.rstrip("\n").split("\t")
        yield int(number), operation, first, second


def write(path, mode=0o644):
    with open(path, "w") as file:
        file.write("data")
    os.chmod(path, mode)


def node(path, kind):
    os.mknod(path, kind | 0o644)


def folder(path, mode):
    os.mkdir(path)
    write(path + "/f")
    closed.append((path, mode))


closed = []


def make(here, there, name):
    """Makes what a name needs, once."""
    base = name.split("/")[0]
    path = here + "/" + base
    if base in ("nx", ".", "..") or os.path.lexists(path):
        return
    if base in ("f", "r", "z", "x"):
        write(path, {"f": 0o644, "r": 0o444, "z": 0, "x": 0o755}[base])
    elif base == "d":
        os.mkdir(path)
    elif base == "dn":
        os.mkdir(path)
        write(path + "/f")
    elif base == "p":
        node(path, stat.S_IFIFO)
    elif base == "s":
        node(path, stat.S_IFSOCK)
    elif base == "h":
        make(there, here, "f")
        os.link(there + "/f", path)
    elif base == "u":
        folder(path, 0o555)
    elif base == "k":
        folder(path, 0)
    elif base == "t":
        folder(path, 0o1777)
    elif base == "loop":
        os.symlink("loop", path)
    else:
        target, where = {"lf": ("f", here), "ld": ("d", here), "lx": ("nx", here), "lo": ("f", there),
                         "lod": ("d", there), "lox": ("nx", there)}[base]
        make(where, there if where == here else here, target)
        os.symlink(target if where == here else where + "/" + target, path)


def build(file, roots):
    for number, _, first, second in cases(file):
        ours = {side: f"{root}/c{number}" for side, root in roots.items()}
        for path in ours.values():
            os.mkdir(path)
        for place in (first, second):
            if place:
                side, name = place.split("/", 1)
                other = "out" if side == "ws" else "ws"
                make(ours[side], ours[other], name)
    for path, mode in closed:
        os.chmod(path, mode)


def opened(path, flags=os.O_RDONLY):
    return call("openat", AT, path, flags | os.O_NONBLOCK, 0)


def act(operation, path, second):
    time = (ctypes.c_long * 4)(1, 0, 2, 0)
    if operation.startswith("open "):
        flags = 0
        for name in operation[5:].split("|"):
            flags |= FLAG[name]
        os.close(call("openat", AT, path, flags | os.O_NONBLOCK, 0o644))
    elif operation == "creat":
        os.close(call("openat", AT, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK, 0o644))
    elif operation == "truncate":
        call("truncate", path, 1)
    elif operation == "mkdir":
        call("mkdirat", AT, path, 0o755)
    elif operation == "rmdir":
        call("unlinkat", AT, path, 0x200)
    elif operation == "unlink":
        call("unlinkat", AT, path, 0)
    elif operation in ("mkreg", "mkfifo", "mksock"):
        kind = {"mkreg": stat.S_IFREG, "mkfifo": stat.S_IFIFO, "mksock": stat.S_IFSOCK}[operation]
        call("mknodat", AT, path, kind | 0o644, 0)
    elif operation == "symlink":
        call("symlinkat", b"f", AT, path)
    elif operation == "bind":
        socket.socket(socket.AF_UNIX).bind(path)
    elif operation == "chmod":
        call("fchmodat", AT, path, 0o640)
    elif operation == "chmod_by_link":
        pinned = call("openat", AT, path, os.O_PATH, 0)
        call("fchmodat", AT, b"/proc/self/fd/%d" % pinned, 0o640)
    elif operation in ("chown", "lchown"):
        call("fchownat", AT, path, os.getuid(), os.getgid(), 0x100 if operation == "lchown" else 0)
    elif operation == "utimes":
        call("utimensat", AT, path, time, 0)
    elif operation == "utimes_now":
        call("utimensat", AT, path, None, 0)
    elif operation == "utimes_link":
        call("utimensat", AT, path, time, 0x100)
    elif operation in ("setxattr", "lsetxattr"):
        call(operation, path, b"user.a", b"v", 1, 0)
    elif operation == "removexattr":
        call("removexattr", path, b"user.none")
    elif operation == "fchmod":
        call("fchmod", opened(path), 0o640)
    elif operation == "futimes":
        call("utimensat", opened(path), None, time, 0)
    elif operation == "fsetxattr":
        call("fsetxattr", opened(path), b"user.a", b"v", 1, 0)
    elif operation in ("reopen", "reopen_trunc"):
        link = b"/proc/self/fd/%d" % opened(path)
        os.close(opened(link, os.O_WRONLY if operation == "reopen" else os.O_RDONLY | os.O_TRUNC))
    elif operation in ("rename", "rename_noreplace", "rename_exchange"):
        flags = {"rename": 0, "rename_noreplace": 1, "rename_exchange": 2}[operation]
        call("renameat2", AT, path, AT, second, flags)
    elif operation in ("link", "link_followed"):
        call("linkat", AT, path, AT, second, 0x400 if operation == "link_followed" else 0)
    else:
        sys.exit(f"unknown operation {operation}")


def run(file, roots):
    for number, operation, first, second in cases(file):
        def full(place):
            side, name = place.split("/", 1)
            return f"{roots[side]}/c{number}/{name}".encode()
        try:
            act(operation, full(first), full(second) if second else None)
            code = 0
        except OSError as error:
            code = error.errno
        print(number, code, flush=True)


what, file, ws, out = sys.argv[1:]
{"build": build, "run": run}[what](file, {"ws": ws, "out": out})
