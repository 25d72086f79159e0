//! P20 to P24: what a command leaves behind, and how much it may take while it runs. All bombs here are bounded.

use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_tests::{CONFINED, World};

#[test]
fn p20_the_daemon_runs_nothing_that_a_workspace_says() {
    let world = World::builder()
        .variable("BASH_ENV", "/nonexistent")
        .variable("GIT_SSH_COMMAND", "false")
        .start();
    world.setup(
        "git init -q . && git config core.fsmonitor \"touch $OUT/pwned; false\" && git config core.sshCommand \"touch $OUT/pwned\" && \
         printf '#!/bin/sh\\ntouch $OUT/pwned\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout && echo x > f",
    );
    for mode in CONFINED {
        world.session(mode).open().run("true").exits(0);
    }
    world.session("danger-full-access").open().run("true").exits(0);
    assert!(!world.out().join("pwned").exists());
    world.native("git status --short");
    assert!(world.out().join("pwned").exists(), "the twin runs what the workspace says");
    world.finish();
}

/// Ends what a twin has left behind; how many processes that were.
fn end_strays(world: &World) -> usize {
    let left = world.strays();
    left.iter().for_each(brattice_tests::Process::kill);
    world.is_quiet();
    left.len()
}

#[test]
fn p21_whatever_a_command_becomes_it_ends_with_its_call() {
    let world = World::new();
    let beat = "while :; do echo x >> $TMPDIR/beat 2>/dev/null; sleep 0.05; done";
    let shapes = [
        format!("setsid nohup sh -c '{beat}' >/dev/null 2>&1 & sleep 0.3"),
        format!("(setsid sh -c '(setsid sh -c \"{}\" &) &' &) >/dev/null 2>&1; sleep 0.3", beat.replace('$', "\\$")),
        format!("sh -c '{beat}' & disown; sleep 0.3"),
        "python3 -c 'import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n[os.close(f) for f in (0, 1, 2)]\ntime.sleep(900)'".to_owned(),
        "trap '' TERM HUP; setsid bash -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & sleep 0.3".to_owned(),
    ];
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        // Sessions with the tools for it keep what is left as a task; these stop it.
        let options = serde_json::json!({"disable": ["task_kill"]});
        let session = world.session(mode).with("options", options).open();
        for shape in &shapes {
            let reply = session.run(shape);
            reply.exits(0).holds("left running]");
            assert_eq!(world.strays(), [], "{mode}: {shape}");
        }
    }
    for shape in &shapes {
        world.native(&format!("{{ {shape}\n}} >$OUT/said 2>&1")).succeeded();
        // What stays in its shell's group ends with that here; what left it stays.
        assert_eq!(end_strays(&world) > 0, !shape.contains("disown"), "the twin of {shape}");
    }
    world.finish();
}

/// Processes whose children become the keeper's: `CLONE_PARENT` makes a sibling. Most of the busy ones have children that
/// end at once, by a loop of bare calls, so that there is always one more to reap; others hop from process to process, so
/// that no number stays true. The 150 idle ones make each look at the children long. Bounded: 170 that live, some
/// thousands that wait to be reaped (by the kernel's count of threads), 25 seconds.
const HOP: &str = r#"
import ctypes, mmap, os, signal, struct, time
end = time.monotonic() + 25
libc = ctypes.CDLL(None)
CLONE, CLONE_VM, CLONE_PARENT = 56, 0x100, 0x8000
def threads(): return int(open("/proc/loadavg").read().split()[3].split("/")[1])
most = threads() + 3000
# push rbx; mov ebx, edi; again: clone(...); test eax, eax; jz child; dec ebx; jnz again; pop rbx; ret; child: exit(0)
code = (b"\x53\x89\xfb\xb8" + struct.pack("<I", CLONE) + b"\xbf" + struct.pack("<I", CLONE_VM | CLONE_PARENT | signal.SIGCHLD)
    + b"\x31\xf6\x31\xd2\x45\x31\xd2\x45\x31\xc0\x0f\x05\x85\xc0\x74\x06\xff\xcb\x75\xe2\x5b\xc3"
    + b"\x31\xff\xb8\x3c\x00\x00\x00\x0f\x05")
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
burst = ctypes.CFUNCTYPE(None, ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
def orphan(work):
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
            os.setsid()
            work()
        os._exit(0)
    os.waitpid(middle, 0)
def idle():
    while time.monotonic() < end: time.sleep(1)
def breed():
    while time.monotonic() < end:
        if threads() < most: burst(50)
        else: os.sched_yield()
def hop():
    while time.monotonic() < end:
        if libc.syscall(CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0) != 0: os._exit(0)
for _ in range(150): orphan(idle)
for work in (breed,) * 18 + (hop,) * 2: orphan(work)
print("hopping", flush=True)
idle()
"#;

#[test]
fn p21_processes_that_end_faster_than_they_are_reaped_end_at_the_deadline() {
    let world = World::new();
    std::fs::write(world.out().join("hop.py"), HOP).unwrap();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let reply = session.run_for(1000, "exec python3 -B $OUT/hop.py");
        assert_eq!(reply.cause(), Cause::TimedOut, "{mode}");
        // A second, the grace of five, and room; by itself the program ends after 25.
        let took = Duration::from_millis(reply.outcome().duration_ms);
        assert!(took < Duration::from_secs(20), "{mode}: {took:?}");
        assert_eq!(world.strays(), [], "{mode}");
        session.run("echo on").exits(0).says("on");
    }
    world.finish();
}

#[test]
fn p22_a_bomb_of_processes_ends_at_its_deadline_and_hurts_nobody() {
    let world = World::new();
    let bomb = "import os, time\nfor i in range(400):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass\ntime.sleep(900)";
    world.file("bomb.py", bomb);
    for mode in CONFINED {
        let (session, other) = (world.session(mode).open(), world.session(mode).open());
        let call =
            session.begin(serde_json::json!({"command": "python3 bomb.py", "timeoutMs": 5000}));
        other.run_for(300_000, "echo alive").exits(0).says("alive");
        let reply = session.end(call);
        assert_eq!(reply.cause(), Cause::TimedOut);
        assert_eq!(world.strays(), [], "{mode}");
    }
    // A smaller one, which a time limit outside ends as little as a large one.
    let twin =
        world.native("sed s/400/20/ bomb.py >few.py; timeout 1 python3 few.py >/dev/null 2>&1");
    assert_eq!(twin.code, Some(124), "{twin:?}");
    assert_eq!(end_strays(&world), 20);
    world.finish();
}

#[test]
fn p22_threads_descriptors_and_descriptors_in_flight_are_the_commands_own_trouble() {
    let world = World::new();
    world.file("threads.py", "import threading, time\nfor i in range(500): threading.Thread(target=time.sleep, args=(900,), daemon=True).start()\nprint('started'); time.sleep(900)");
    world.file("open.py", "import os\nn = 0\ntry:\n    while n < 100000: os.open('/dev/null', 0); n += 1\nexcept OSError as e: print(e.errno, n < 100000)");
    world.file(
        "flight.py",
        "import array, socket\na, b = socket.socketpair()\na.setblocking(False)\nf = open('/dev/null')\nn = 0\ntry:\n    while n < 20000: a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [f.fileno()] * 200))]); n += 1\nexcept OSError: pass\nprint('full')",
    );
    for mode in CONFINED {
        let session = world.session(mode).open();
        let reply = session.run_for(8000, "python3 threads.py");
        assert_eq!(reply.cause(), Cause::TimedOut);
        reply.holds("started\n");
        session.run_for(300_000, "python3 open.py").exits(0).says("24 True");
        session.run_for(300_000, "python3 flight.py").exits(0).says("full");
        session.run("echo on").exits(0).says("on");
        assert_eq!(world.strays(), [], "{mode}");
    }
    let twin = world.native("timeout 2 python3 -u threads.py; ulimit -n; python3 flight.py");
    let lines: Vec<&str> = twin.stdout.lines().collect();
    let most: u64 = lines[1].parse().unwrap_or(u64::MAX);
    assert_eq!((lines[0], lines[2]), ("started", "full"), "outside as well: {twin:?}");
    assert!(most != 4096, "the limit on descriptors is the sandbox's: {twin:?}");
    world.finish();
}

#[test]
fn p24_a_child_that_keeps_the_pipe_keeps_nobody_waiting() {
    let world = World::new();
    for mode in CONFINED {
        let session = world.session(mode).open();
        let reply = session.run_for(600_000, "sleep 900 & echo hi");
        reply.exits(0).says("hi\n[1 process still running: now task bash-1]");
        assert!(Duration::from_millis(reply.outcome().duration_ms) < Duration::from_secs(60));
    }
    let start = Instant::now();
    assert_eq!(
        world
            .native("setsid sh -c 'touch x; exec sleep 2' & until [ -e x ]; do :; done; echo hi")
            .stdout,
        "hi\n"
    );
    assert!(start.elapsed() > Duration::from_millis(1900), "whoever reads to the end waits");
    world.finish();
}
