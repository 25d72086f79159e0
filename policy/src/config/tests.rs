//! Whole configurations and whole faults, from text.

use std::time::Duration;

use proptest::prelude::*;
use serde::Deserialize;

use super::{Author, Configuration, Fault, File, Position, SessionDefaults};
use crate::{LeftoverRule, Limits, Mode, Network};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Toolset {
    #[default]
    Standard,
    Dsh,
}

fn file(text: &str, author: Author) -> File<Toolset> {
    File::parse(text, author).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn of(operator: &str, user: &str) -> Configuration<Toolset> {
    let files = [file(operator, Author::Operator), file(user, Author::User)];
    Configuration::of(files, "/home/a")
}

fn fault(text: &str, author: Author) -> String {
    match File::<Toolset>::parse(text, author) {
        Ok(_) => panic!("no fault in {text}"),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn without_files_the_defaults_are_those_of_the_contract() {
    let none = Configuration::<Toolset>::of([], "/home/a");
    let defaults = SessionDefaults {
        mode: Mode::WorkspaceWrite,
        toolset: Toolset::Standard,
        network: Network::Full,
        writable: Vec::new(),
    };
    assert_eq!(
        none,
        Configuration {
            ceiling: Mode::DangerFullAccess,
            session: defaults,
            limits: Limits::default()
        }
    );
    let limits = none.limits;
    assert_eq!(
        (limits.open_files, limits.max_tasks, limits.spool, limits.state, limits.max_sessions),
        (4096, 64, 64 << 20, 4 << 30, 64)
    );
    assert_eq!(
        (limits.detached_ttl, limits.leftovers),
        (Duration::from_secs(3600), LeftoverRule::Adopt)
    );
    assert_eq!(of("", "# nothing\n[session]\n[limits]\n"), Configuration::of([], "/home/a"));
}

#[test]
fn every_key_has_its_effect() {
    let operator = "\
        [ceiling]\n\
        max_mode = \"workspace-write\"\n\
        max_sessions = 8\n";
    let user = "\
        [session]\n\
        mode = \"read-only\"\n\
        toolset = \"dsh\"\n\
        network = \"none\"\n\
        writable = [\"~/.cargo/registry\", \"/srv/cache\", \"~\"]\n\
        detached_ttl = \"10m\"\n\
        leftovers = \"stop\"\n\
        [limits]\n\
        open_files = 1024\n\
        max_tasks = 3\n\
        spool = \"16MiB\"\n\
        state = \"1GiB\"\n";
    let folders = ["/home/a/.cargo/registry", "/srv/cache", "/home/a"];
    let limits = Limits {
        open_files: 1024,
        max_tasks: 3,
        spool: 16 << 20,
        state: 1 << 30,
        max_sessions: 8,
        detached_ttl: Duration::from_secs(600),
        leftovers: LeftoverRule::Stop,
        ..Limits::default()
    };
    assert_eq!(
        of(operator, user),
        Configuration {
            ceiling: Mode::WorkspaceWrite,
            session: SessionDefaults {
                mode: Mode::ReadOnly,
                toolset: Toolset::Dsh,
                network: Network::None,
                writable: folders.map(str::to_owned).to_vec(),
            },
            limits,
        }
    );
}

#[test]
fn the_users_keys_win_over_the_operators_and_the_ceiling_over_both() {
    let operator = "\
        [ceiling]\n\
        max_mode = \"workspace-write\"\n\
        [session]\n\
        network = \"none\"\n\
        writable = [\"/srv\"]\n\
        [limits]\n\
        max_tasks = 5\n";
    let user = "\
        [session]\n\
        mode = \"danger-full-access\"\n\
        network = \"full\"\n\
        [limits]\n\
        open_files = 300\n";
    let both = of(operator, user);
    assert_eq!((both.ceiling, both.session.mode), (Mode::WorkspaceWrite, Mode::WorkspaceWrite));
    assert_eq!(
        (both.session.network, both.session.writable),
        (Network::Full, vec!["/srv".to_owned()])
    );
    assert_eq!((both.limits.max_tasks, both.limits.open_files), (5, 300));
    let narrow = of("[ceiling]\nmax_mode = \"read-only\"\n", "");
    assert_eq!(narrow.session.mode, Mode::ReadOnly, "the built-in default is bounded, too");
}

#[test]
fn the_home_of_root_makes_no_double_slash() {
    let files = [file("[session]\nwritable = [\"~/x\"]\n", Author::User)];
    assert_eq!(Configuration::of(files, "/").session.writable, ["/x"]);
}

#[test]
fn unknown_keys_are_refused_with_those_that_are_known() {
    let cases = [
        (
            "[sesion]\n",
            "line 1, column 2: unknown field `sesion`, expected one of `ceiling`, `session`, `limits`",
        ),
        (
            "mode = \"read-only\"\n",
            "line 1, column 1: unknown field `mode`, expected one of `ceiling`, `session`, `limits`",
        ),
        (
            "# é\n[session]\n  approval = \"ask\"\n",
            "line 3, column 3: unknown field `approval`, expected one of `mode`, `toolset`, `network`, `writable`, \
             `detached_ttl`, `leftovers`",
        ),
        (
            "[limits]\ntimeout = \"120s\"\n",
            "line 2, column 1: unknown field `timeout`, expected one of `open_files`, `max_tasks`, `spool`, `state`",
        ),
        (
            "[ceiling]\napproval = \"never\"\n",
            "line 2, column 1: unknown field `approval`, expected `max_mode` or `max_sessions`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text, Author::Operator), expected);
    }
}

#[test]
fn values_say_what_was_expected() {
    const DURATION: &str = "a duration from 1ms to 8760h, such as \"500ms\", \"90s\" or \"1h\"";
    const SPOOL: &str = "a size of at least 16MiB, such as \"64MiB\" or \"4GiB\"";
    let session = |line: &str| fault(&format!("[session]\n{line}\n"), Author::User);
    let limits = |line: &str| fault(&format!("[limits]\n{line}\n"), Author::User);
    let at = |column: usize, words: &str| format!("line 2, column {column}: {words}");
    assert_eq!(
        session("mode = \"rw\""),
        at(
            8,
            "unknown variant `rw`, expected one of `read-only`, `workspace-write`, `danger-full-access`"
        )
    );
    assert_eq!(session("mode = 3"), at(8, "invalid type: integer `3`, expected a string"));
    assert_eq!(
        session("toolset = \"glrs\""),
        at(11, "unknown variant `glrs`, expected `standard` or `dsh`")
    );
    assert_eq!(
        session("network = \"on\""),
        at(11, "unknown variant `on`, expected one of `full`, `loopback`, `none`")
    );
    assert_eq!(
        session("writable = [\"/a\", \"b\"]"),
        at(
            19,
            "invalid value: string \"b\", expected an absolute path, or one that begins with ~/"
        )
    );
    assert_eq!(
        session("writable = \"/a\""),
        at(12, "invalid type: string \"/a\", expected a sequence")
    );
    for (value, told) in [("3600", "type: integer `3600`"), ("\"0s\"", "value: string \"0s\"")] {
        assert_eq!(
            session(&format!("detached_ttl = {value}")),
            at(16, &format!("invalid {told}, expected {DURATION}"))
        );
    }
    assert_eq!(
        session("detached_ttl = \"8761h\""),
        at(16, &format!("invalid value: string \"8761h\", expected {DURATION}"))
    );
    assert_eq!(
        session("leftovers = \"keep\""),
        at(13, "unknown variant `keep`, expected `adopt` or `stop`")
    );
    for value in ["\"15MiB\"", "\"64MB\""] {
        assert_eq!(
            limits(&format!("spool = {value}")),
            at(9, &format!("invalid value: string {value}, expected {SPOOL}"))
        );
    }
    assert_eq!(
        limits("max_tasks = 0"),
        at(13, "invalid value: integer `0`, expected a whole number from 1 to 100000")
    );
    assert_eq!(
        limits("open_files = \"many\""),
        at(14, "invalid type: string \"many\", expected a whole number from 256 to 1048576")
    );
}

#[test]
fn what_is_no_toml_is_told_by_its_place() {
    let cases = [
        ("[session\n", "line 1, column 9: unclosed table, expected `]`"),
        ("[session]\nmode\n", "line 2, column 5: key with no value, expected `=`"),
        (
            "[limits]\nspool = 64MiB\n",
            "line 2, column 9: string values must be quoted, expected literal string",
        ),
        ("[limits]\nmax_tasks = 1\nmax_tasks = 2\n", "line 3, column 1: duplicate key"),
        ("session = 1\n", "line 1, column 11: invalid type: integer `1`, expected a table"),
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text, Author::User), expected);
    }
}

#[test]
fn a_ceiling_is_the_operators() {
    let text = "[limits]\n\n[ceiling]\nmax_mode = \"read-only\"\n";
    assert_eq!(
        File::<Toolset>::parse(text, Author::User).err(),
        Some(Fault::UsersCeiling { at: Position { line: 3, column: 1 } })
    );
    assert_eq!(
        fault(text, Author::User),
        "line 3, column 1: [ceiling] belongs into the operator's file"
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        holds(&text);
    }

    #[test]
    fn no_text_like_a_configuration_does(pieces in prop::collection::vec(piece(), 0..12)) {
        holds(&pieces.concat());
    }
}

/// Reading returns, and a fault points into the text and takes one line.
fn holds(text: &str) {
    for author in [Author::Operator, Author::User] {
        match File::<Toolset>::parse(text, author) {
            Ok(file) => {
                let whole = Configuration::of([file], "/home/a");
                assert!(whole.session.mode <= whole.ceiling);
            }
            Err(fault) => {
                let (Fault::Text { at, .. } | Fault::UsersCeiling { at }) = &fault;
                assert!(at.line <= text.split('\n').count() && at.column > 0, "{fault}");
                assert!(!fault.to_string().contains('\n'), "{fault}");
            }
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "[session]",
        "[limits]",
        "[ceiling]",
        "[session",
        "\n",
        "\r\n",
        " ",
        "=",
        "mode",
        "writable",
        "spool",
        "max_tasks",
        "detached_ttl",
        "max_mode",
        "\"read-only\"",
        "\"64MiB\"",
        "\"1h\"",
        "1",
        "-1",
        "0x10",
        "1e9",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\"",
        "'",
        "\"\"\"",
        "\\u",
        "#",
        ".",
        "\u{0}",
        "é",
        "true",
        "1979-05-27",
    ]);
    prop_oneof![3 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}
