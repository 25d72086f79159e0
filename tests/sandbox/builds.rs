//! What builds need inside: moves across folders, temporary files, here-documents, loopback servers.

use brattice_tests::{CONFINED, World};

const MOVE: &str = r#"import os
os.makedirs("stage/new"); os.makedirs("final/deep")
open("stage/new/a.rmeta", "w").write("x")
os.rename("stage/new/a.rmeta", "final/deep/b.rmeta")
os.link("final/deep/b.rmeta", "stage/hard")
os.rename("stage/new", "final/moved")
print("moved", os.stat("stage/hard").st_nlink)
"#;

#[test]
fn b003_files_are_moved_and_linked_across_folders() {
    let world = World::new();
    world.file("move.py", MOVE);
    let session = world.session("workspace-write").open();
    session.run("python3 move.py").exits(0).says("moved 2");
    world.finish();
}

#[test]
fn b004_a_temporary_folder_exists_in_every_mode() {
    let world = World::new();
    for mode in CONFINED {
        let session = world.session(mode).open();
        session
            .run("d=$(mktemp -d) && echo x > $d/f && rm -r $d && echo tmp-ok")
            .exits(0)
            .says("tmp-ok");
    }
    let session = world.session("workspace-write").open();
    let reply = session.run("mkdir -p ~/.cache/go-build/00 && echo x > ~/.cache/go-build/00/a");
    assert_eq!(reply.exits(1).lines().pop().as_deref(), Some("[exit code: 1]"));
    assert!(!world.home().join(".cache").exists());
    world.finish();
}

const DAEMONISH: &str = r#"import os, socket
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        srv = socket.socket(); srv.bind(("127.0.0.1", 0)); srv.listen(1)
        os.write(w, str(srv.getsockname()[1]).encode())
        c, _ = srv.accept(); c.sendall(b"pong"); os._exit(0)
    os._exit(0)
os.wait(); port = int(os.read(r, 16))
c = socket.create_connection(("127.0.0.1", port), 30); print(c.recv(4).decode())
"#;

#[test]
fn b006_a_grandchild_serves_on_loopback() {
    let world = World::new();
    world.file("daemonish.py", DAEMONISH);
    for mode in CONFINED {
        let reply = world.session(mode).open().run("python3 daemonish.py");
        assert_eq!(reply.undenied().lines()[0], "pong", "{mode}");
    }
    world.finish();
}

/// A debugger of one's own programs, and limits of one's own children: what the sandbox refuses is others' processes.
#[test]
fn a_command_traces_and_limits_what_it_has_started() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let trace = "strace -f -qq -e trace=execve -o log sh -c '/bin/true; :' && grep -c 'execve(\"/bin/true' log";
    session.run(trace).undenied().says("1");
    let limit = "sleep 60 & prlimit --pid $! --nofile=123:123 && prlimit --pid $! --nofile --noheadings -o SOFT,HARD | xargs; \
                 kill $!";
    session.run(limit).undenied().says("123 123");
    let steer = "sleep 60 & renice -n 5 -p $! >/dev/null && taskset -cp 0 $! >/dev/null && ps -o ni= -p $! | tr -d ' '; kill $!";
    session.run(steer).undenied().says("5");
    world.finish();
}

#[test]
fn b023_a_here_document_of_any_size_has_its_scratch() {
    let world = World::new();
    let big = "line of text\n".repeat(9000);
    world.file("big.sh", &format!("cat > body.txt <<'EOF'\n{big}EOF\nwc -c < body.txt\n"));
    world.file("ro.sh", &format!("wc -c <<'EOF'\n{big}EOF\n"));
    world.file("body.txt", "keep\n");
    let reader = world.session("read-only").open();
    reader.run("bash big.sh; true");
    assert_eq!(std::fs::read_to_string(world.ws().join("body.txt")).unwrap(), "keep\n");
    world.session("workspace-write").open().run("bash big.sh").exits(0).says("117000");
    reader.run("bash ro.sh").exits(0).says("117000");
    reader.run("cat <<'EOF'\nsmall\nEOF").exits(0).says("small");
    world.finish();
}
