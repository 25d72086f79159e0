//! Package clients and runtimes: npm and node, pip and pytest, Go, the JVM.

use serde_json::json;

const WORKERS: &str = r#"
const { Worker, isMainThread, parentPort } = require('node:worker_threads');
const { fork } = require('node:child_process');
const net = require('node:net');
const semver = require('semver');
if (!isMainThread) { parentPort.postMessage('worker'); return; }
if (process.send && process.argv[2] === 'child') { process.send('child', () => process.exit(0)); return; }
const all = [
  new Promise(done => new Worker(__filename).on('message', done)),
  new Promise(done => fork(__filename, ['child']).on('message', done)),
  new Promise(done => {
    const server = net.createServer(socket => socket.end('loopback'));
    server.listen(0, '127.0.0.1', () => {
      let text = '';
      net.connect(server.address().port).on('data', data => text += data).on('end', () => { server.close(); done(text); });
    });
  }),
];
Promise.all(all).then(texts => console.log(texts.join(' '), semver.inc('1.2.3', 'minor')));
"#;

#[test]
fn npm_installs_and_node_runs_its_workers() {
    let world = super::world();
    world.setup("mkdir $HOME/.npm");
    world.file("package.json", r#"{"name": "app", "version": "1.0.0", "private": true}"#);
    world.file("main.js", WORKERS);
    let session = world
        .session("workspace-write")
        .with("writable", json!([world.home().join(".npm")]))
        .open();
    session
        .run_for(600_000, "npm install --no-audit --no-fund --silent semver@7 && ls node_modules")
        .undenied()
        .says("semver");
    session.run_for(300_000, "node main.js").undenied().says("worker child loopback 1.3.0");
    world.finish();
}

/// What npm would keep for itself in a home that is not open to it is nothing that the script misses.
#[test]
fn npm_runs_a_script_and_nothing_is_told_as_denied() {
    let world = super::world();
    let package = r#"{"name": "app", "version": "1.0.0", "scripts": {"test": "node -p 6*7"}}"#;
    world.file("package.json", package);
    let session = world.session("workspace-write").open();
    for (number, home) in
        ["rm -rf $HOME/.npm", "mkdir $HOME/.npm", "mkdir $HOME/.npm/_logs"].iter().enumerate()
    {
        world.setup(home);
        let run = session.run_for(300_000, &format!("npm test --silent && echo {number}"));
        run.undenied().says(&format!("42\n{number}"));
    }
    world.finish();
}

#[test]
fn python_makes_an_environment_and_runs_its_tests() {
    let world = super::world();
    world.file(
        "test_app.py",
        "import multiprocessing, tempfile\n\ndef square(x): return x * x\n\ndef test_pool():\n    with multiprocessing.get_context('fork').Pool(2) as pool:\n        \
         assert sum(pool.map(square, range(10))) == 285\n\ndef test_files(tmp_path):\n    (tmp_path / 'f').write_text('x')\n    \
         assert tempfile.TemporaryFile().write(b'x') == 1\n",
    );
    let session = world.session("workspace-write").open();
    session
        .run_for(
            600_000,
            "python3 -m venv v && v/bin/pip install -q pytest 2>/dev/null && echo made",
        )
        .undenied()
        .says("made");
    session.run_for(300_000, "v/bin/pytest -q 2>&1 | tail -1").undenied().holds("2 passed");
    let asyncio = "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec('echo', 'from asyncio', stdout=-1)\n    \
                   print((await p.communicate())[0].decode(), end='')\nasyncio.run(main())";
    session.run(&format!("v/bin/python -c \"{asyncio}\"")).undenied().says("from asyncio");
    world.finish();
}

const MAIN_JAVA: &str = r#"
import java.util.stream.*;
public class Main {
    public static void main(String[] arguments) throws Exception {
        var file = java.nio.file.Files.createTempFile("brattice", ".txt");
        java.nio.file.Files.writeString(file, "temp");
        var process = new ProcessBuilder("echo", "child").start();
        System.out.println(IntStream.range(0, 1000).parallel().sum() + " " + java.nio.file.Files.readString(file) + " "
            + new String(process.getInputStream().readAllBytes()).trim());
    }
}
"#;

#[test]
fn go_builds_vets_and_tests_a_module() {
    let world = super::world();
    world.file("go.mod", "module app\n\ngo 1.18\n");
    world.file("app.go", "package main\n\nimport \"fmt\"\n\nfunc answer() int { return 6 * 7 }\n\nfunc main() { fmt.Println(answer()) }\n");
    let test = "package main\n\nimport \"testing\"\n\nfunc TestAnswer(t *testing.T) {\n\tif answer() != 42 {\n\t\tt.Fatal()\n\t}\n}\n";
    world.file("app_test.go", test);
    let session = world.session("workspace-write").open();
    // Its caches are in the home otherwise, which is not open to it.
    let go = "export GOCACHE=$TMPDIR/cache GOFLAGS=-mod=mod GOTELEMETRY=off; go vet ./... && go build -o app . && ./app && go test ./... | cut -f1-2";
    session.run_for(600_000, go).undenied().says("42\nok  \tapp");
    world.finish();
}

#[test]
fn the_jvm_compiles_and_runs() {
    let world = super::world();
    world.file("Main.java", MAIN_JAVA);
    let session = world.session("workspace-write").open();
    session
        .run_for(300_000, "javac Main.java && java -Djava.io.tmpdir=$TMPDIR -cp . Main")
        .undenied()
        .says("499500 temp child");
    world.finish();
}
