//! F23, F24, M5: what the sandbox does not close, as `SECURITY.md` says under "What cannot be blocked for a process of
//! the same user". Held here so that the page says what is so.

use crate::attack::{Attack, Record};

#[test]
fn f23_f24_m5_what_is_said_to_be_open_is_open() {
    let open =
        "command-line ok\nstatus ok\nmounts ok\nmetadata ok\nwatch ok\nshared-lock ok\nlock ok";
    Attack {
        steps: r#"
import fcntl
def read(path):
    with open(path, "rb") as file: return file.read(1)
attempt("command-line", read, "/proc/1/cmdline")
attempt("status", read, "/proc/1/status")
attempt("mounts", read, "/proc/self/mounts")
attempt("metadata", os.stat, OUT + "/attack.py")
watcher = libc.inotify_init1(0)
attempt("watch", call, 254, watcher, (OUT + "/attack.py").encode(), 0xfff)
fd = os.open(OUT + "/attack.py", os.O_RDONLY)
attempt("shared-lock", fcntl.flock, fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
attempt("lock", fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
"#,
        confined: open,
        native: open,
        record: Record::Nothing,
        ..Attack::default()
    }
    .run();
}
