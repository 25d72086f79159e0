//! From bytes to text: what is no UTF-8, redrawn lines, escape sequences, NUL.

use brattice_tests::World;
use serde_json::json;

#[test]
fn b041_p23_what_is_no_utf8_is_shown_as_such_and_nothing_is_lost() {
    let world = World::new();
    world.setup(r"printf 'caf\xe9 r\xe9sum\xe9\nend\n' > latin.txt");
    let session = world.session("workspace-write").open();
    let reply = session.run("cat latin.txt; exit 3");
    reply.exits(3).says("caf\u{fffd} r\u{fffd}sum\u{fffd}\nend\n[exit code: 3]");
    assert_eq!(reply.outcome().stdout.invalid_utf8, 3);
    let reply = session.run(r"printf 'a\0b\n'; head -c 64 /dev/urandom");
    let text = reply.exits(0).text();
    assert!(text.starts_with('a') && text.lines().next().unwrap().ends_with('b'), "{text:?}");
    assert_eq!(reply.outcome().stdout.bytes, 68);
    session.run("echo on").exits(0).says("on");
    world.finish();
}

const BAR: &str = r#"import sys
for i in range(3000): sys.stdout.write("\r\x1b[K\x1b[?25lunpacking layer %d" % i)
sys.stdout.write("\x1b[?25h\nRESULT-MARK\n")
sys.stdout.write("one\r\ntwo\r\n\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07\n")
"#;

#[test]
fn b042_t051_p23_a_redrawn_line_is_shown_as_its_last_state() {
    let world = World::new();
    world.file("bar.py", BAR);
    let session = world.session("workspace-write").open();
    let reply = session.run("PYTHONUNBUFFERED= python3 bar.py");
    let lines = reply.exits(0).lines();
    assert_eq!(lines[..5], ["unpacking layer 2999", "RESULT-MARK", "one", "two", "red link"]);
    assert!(lines[5].starts_with("[stdout truncated: ") && lines.len() == 6, "{lines:?}");
    session.run(r"printf 'Fetching\rFetched!\nnext step\n'").exits(0).says("Fetched!\nnext step");
    session.run(r"printf 'first\rsecond\n'").exits(0).says("second");
    session.run(r"printf 'one\r'; sleep .3; printf '\ntwo\r\n'").exits(0).says("one\ntwo");
    let reply = session.run(r#"for i in $(seq 500); do printf "p %d%%\r" $i; done; echo done"#);
    reply.exits(0).says("p 500%\ndone");
    world.finish();
}

#[test]
fn b042_p23_the_file_keeps_every_byte() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run(r#"for i in $(seq 20000); do printf "frame %d\r" $i; done; echo"#);
    let stdout = reply.exits(0).outcome().stdout.clone();
    let kept = std::fs::read(stdout.file.expect("the whole is in a file")).unwrap();
    assert_eq!((kept.len() as u64, kept.starts_with(b"frame 1\rframe 2\r")), (stdout.bytes, true));
    world.finish();
}

#[test]
fn b042_p23_in_dsh_output_stays_verbatim() {
    let world = World::new();
    let session = world.session("workspace-write").with("toolset", json!("dsh")).open();
    session.run(r"printf 'a\rb\033[1mc\033[0m\r\n'").exits(0).holds("a\rb\u{1b}[1mc\u{1b}[0m\r");
    world.finish();
}

#[test]
fn t047_a_character_split_over_two_writes_is_one_character() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run(r"printf '\xe2'; sleep .5; printf '\x82\xac\n'");
    reply.exits(0).says("€");
    assert_eq!(reply.outcome().stdout.invalid_utf8, 0);
    world.finish();
}

#[test]
fn t049_p23_a_nul_is_valid_json_and_no_cut() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run(r"printf 'a\0b\n'");
    let text = reply.exits(0).text();
    assert!(["a\0b", "a␀b", "a\\0b", "a\\x00b"].contains(&text.as_str()), "{text:?}");
    assert_eq!(reply.outcome().stdout.bytes, 4);
    world.finish();
}
