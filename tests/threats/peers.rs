//! S7: no command answers its own question, by whatever road it comes to the daemon. The twin outside does.

use brattice_protocol::approval::ApprovalRequest;
use brattice_tests::{CONFINED, Session, World, bratticed, eventually};
use serde_json::{Value, json};

/// Says hello and allows an approval, and prints what the daemon made of both: `ROAD SOCKET APPROVAL`.
const ASK: &str = r#"
import errno, json, os, socket, sys, time
road, path, approval = sys.argv[1:4]

def message(id, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"

def verdict(line):
    if not line:
        return "end"
    answer = json.loads(line)
    if "error" in answer:
        return answer["error"]["data"]["code"]
    return answer["result"].get("outcome", "welcome")

def speak(stream):
    lines = stream.makefile()
    seen = []
    for id, method, params in (
        (1, "hello", {"protocol": 1, "client": {"name": "x", "version": "1"}}),
        (2, "approval.respond", {"id": approval, "option": "allow_once"}),
    ):
        try:
            stream.sendall(message(id, method, params))
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            seen.append(verdict(lines.readline()))
        except ConnectionResetError:
            seen.append("end")
    print(*seen, flush=True)

def connect():
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(path)
    return stream

try:
    if road == "own":
        speak(connect())
    elif road == "inherited":
        stream = connect()
        os.dup2(stream.fileno(), 0)
        os.execv(sys.executable, [sys.executable, sys.argv[0], "given", path, approval])
    elif road == "given":
        speak(socket.socket(fileno=0))
    elif road == "orphan":
        end, start = os.pipe()
        if os.fork() == 0:
            os.setsid()
            parent = os.getpid()
            if os.fork() == 0:
                os.close(end)
                while os.getppid() == parent:
                    time.sleep(0.01)
                os.dup2(start, 1)
                try:
                    speak(connect())
                except OSError as error:
                    print(errno.errorcode[error.errno], flush=True)
            os._exit(0)
        os.close(start)
        print(os.fdopen(end).read(), end="")
except OSError as error:
    print(errno.errorcode[error.errno])
"#;

/// Starts a daemon of its own and has a command of that one ask.
const NESTED: &str = r#"
n=$OUT/nested-$$; mkdir -m 700 $n $n/ws $n/run $n/state
"BRATTICED" --socket $n/run/b --control-socket $n/run/c --state $n/state --allow-root >$n/log 2>&1 &
daemon=$!
until [ -S $n/run/b ]; do kill -0 $daemon 2>/dev/null || break; sleep 0.02; done
"BRATTICE" --no-start --socket $n/run/b --control-socket $n/run/c run --workspace $n/ws --mode danger-full-access -- \
    "python3 $WS/ask.py own CONTROL APPROVAL" 2>/dev/null || echo none
kill $daemon 2>/dev/null; wait $daemon
rm -rf $n
"#;

/// The shell texts of all roads, by name.
fn roads(world: &World, approval: &str) -> Vec<(&'static str, String)> {
    let control = world.control().display().to_string();
    let ask = |road: &str, path: &str| format!("python3 -B $WS/ask.py {road} {path} {approval}");
    let nested = NESTED
        .replace("BRATTICED", bratticed().to_str().unwrap())
        .replace("\"BRATTICE\"", &format!("\"{}\"", brattice_tests::brattice().display()))
        .replace("CONTROL", &control)
        .replace("APPROVAL", approval);
    vec![
        ("own connection", ask("own", &control)),
        ("inherited descriptor", ask("inherited", &control)),
        ("orphan", ask("orphan", &control)),
        ("symbolic link", ask("own", "$WS/link.sock")),
        ("hard link", ask("own", "$WS/hard.sock")),
        ("nested daemon", nested),
    ]
}

/// A call that asks, in a session whose client leaves the answer to others.
fn open(world: &World, session: &Session) -> (brattice_tests::Pending, ApprovalRequest) {
    let call = session.begin(json!({
        "command": "true", "sandbox_permissions": "danger-full-access", "justification": "the test wants it",
    }));
    let operator = world.operator();
    let request = eventually("it asks", || operator.list().approvals.pop());
    (call, request)
}

#[test]
fn s7_no_command_answers_a_question_by_any_road_and_the_twin_does() {
    let world = World::builder().configured("[session]\nescalation = \"any\"\n").start();
    world.file("ask.py", ASK);
    world.setup(&format!("ln -s '{0}' link.sock; ln '{0}' hard.sock", world.control().display()));
    let session = world.session("workspace-write").answering().open();
    let count = roads(&world, "").len();
    let mut turned_away = 0;
    for index in 0..count {
        let (call, request) = open(&world, &session);
        let question = session.question();
        let (name, road) = roads(&world, request.id.as_str()).swap_remove(index);
        for mode in CONFINED {
            let text = world.session(mode).open().run(&road).text();
            // Without the observer no socket by path is to be had at all, which is another errno. With it those in a root
            // are, and the daemon turns the peer away.
            let answer: &[&str] = match name {
                "nested daemon" => &["none"],
                "hard link" if mode == "workspace-write" => &["refused end", "EPERM"],
                _ => &["EACCES", "EPERM"],
            };
            let found = text.lines().find(|line| answer.contains(line));
            assert!(found.is_some() && !text.contains("welcome"), "{name}, {mode}: {text}");
            turned_away += usize::from(found == Some("refused end"));
        }
        let unconfined = world.session("danger-full-access").open().run(&road);
        assert_eq!(unconfined.exits(0).text(), "refused end", "{name}");
        let listed: Vec<Value> = brattice_tests::Wire::open(&world.control())
            .request("approval.list", json!({}))
            .unwrap()["approvals"]
            .as_array()
            .unwrap()
            .clone();
        assert_eq!(listed.len(), 1, "{name}: it is still open");
        let twin = world.native(&road);
        let expected = "welcome allowed_once\n";
        assert_eq!(twin.stdout, expected, "{name}: {twin:?}");
        session.end(call).exits(0);
        drop(question);
    }
    assert_eq!(world.audited(&["peer_refused"]).len(), count + turned_away);
    world.finish();
}
