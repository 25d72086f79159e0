//! Nothing that a command prints or is called acts on the terminal.

use std::fs;

use brattice_tests::{World, eventually};
use serde_json::json;

use crate::{attached, start};

/// What a command may try: titles, the clipboard, questions that a terminal answers into somebody's input, other screens, moves
/// of the cursor, pasting, marks of direction, and 8-bit controls.
const HOSTILE: &str = concat!(
    r"\033]0;owned-title\007\033]2;owned-title\033\\\033]52;c;b3duZWQ=\007\033]8;;http://owned\033\\link\033]8;;\033\\",
    r"\033[6n\033[c\033[>c\033[5n\033Zowned-mark\033[?1049h\033[?1049l\033[?1000h\033[?2004l\033[?25h\033[H\033[2J\033[3J",
    r"\033P1$r0m\033\\\033P+q544e\033\\\033_owned-apc\033\\\033^owned-pm\033\\\033c\033(0\033#8\016\033[20h\033[4h",
    r"\233[31m\302\2332J\302\235owned-c1\302\234\342\200\256reversed\342\201\246\007",
);

#[test]
fn nothing_of_a_hostile_command_acts_on_the_terminal() {
    let world = World::new();
    let label = "evil\u{1b}]0;owned-title\u{7}\u{202e}label";
    let session = world.session("workspace-write").with("label", json!(label)).open();
    let terminal = attached(&world);
    let title = terminal.fact("pane_title");
    let raw = world.out().join("raw");
    terminal.tmux(&["pipe-pane", "-t", "0", &format!("cat > {}", raw.display())]);
    let command = format!(
        "printf '{HOSTILE}'; printf '\\n\\033[32mafter\\033[0m\\n'; printf '\\033]0;never ended'; printf '\\nlast\\n'; # \u{1b}[2J\u{9b}1m\u{202e}"
    );
    start(&session, &command);
    terminal.shows("│last\n");
    let screen = terminal.screen();
    for part in ["link", "owned-mark", "after", "\\u{202e}reversed\\u{", "evil\\u{1b"] {
        assert!(screen.contains(part), "{part:?} in\n{screen}");
    }
    assert!(terminal.coloured().contains("\u{1b}[38;5;2m\u{1b}[49mafter"));
    terminal.press(&["q"]);
    // Of what the program wrote, all is known: colours, moves of the cursor and the modes of its own.
    eventually("the program ended", || (!is_running(&world)).then_some(()));
    let written = String::from_utf8(fs::read(&raw).unwrap()).expect("it writes UTF-8");
    let own = ["[?2004h", "[?2004l", "[?1049h", "[?1049l", "[?25l", "[?25h", "[2J"];
    let mut sequences = written.split('\u{1b}').skip(1).map(sequence);
    let strange = sequences.find(|sequence| {
        let is_own = own.contains(sequence);
        let is_drawing = sequence.starts_with('[')
            && sequence.ends_with(['m', 'H'])
            && sequence[1..sequence.len() - 1].bytes().all(|sign| b"0123456789;".contains(&sign));
        !is_own && !is_drawing
    });
    assert_eq!(strange, None);
    let signs = written.chars().filter(|sign| sign.is_control() && *sign != '\u{1b}');
    let others: Vec<char> = signs.filter(|sign| !"\r\n".contains(*sign)).collect();
    assert_eq!(others, Vec::<char>::new());
    assert!(!written.contains(['\u{202e}', '\u{2066}']));
    assert!(!title.contains("owned"));
    drop(terminal);
    drop(session);
    world.finish();
}

/// A sequence up to its end: what follows the escape.
fn sequence(piece: &str) -> &str {
    let begin = usize::from(piece.starts_with('['));
    let end = piece[begin..].find(|sign: char| ('@'..='~').contains(&sign));
    end.map_or(piece, |end| &piece[..=begin + end])
}

fn is_running(world: &World) -> bool {
    let name = format!("BRATTICE_STATE={}", world.state().display());
    brattice_tests::Process::all()
        .iter()
        .any(|process| process.arguments.ends_with(" attach") && process.has_in_environment(&name))
}
