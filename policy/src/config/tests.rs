//! Whole configurations and whole faults, from text.

use std::time::Duration;

use proptest::prelude::*;

use super::{Author, Configuration, File, Layer, Setting, Source};
use crate::named::named;
use crate::rules::{Decision, Rule, Rules};
use crate::{
    Approval, Escalation, LeftoverRule, Limits, Mode, Namespaces, Network, Preset, RootKind,
};

named! {
    /// Toolsets of these tests.
    #[derive(Default)]
    enum Toolset {
        #[default]
        Standard = "standard",
        Dsh = "dsh",
    }
}

/// The example of the documentation, with a value for each key.
const WHOLE: &str = r#"
[ceiling]
max_mode = "workspace-write"
approval = "ask"
deny_read = ["~/.ssh", "~/.gnupg", "~/.aws"]
max_sessions = 8

[session]
mode = "read-only"
approval = "never"
toolset = "dsh"
network = "loopback"
writable = ["~/.cargo/registry", "/srv", "~"]
presets = ["cargo", "npm"]
protect = [".envrc", "./.git//hooks/", "~/.bashrc", "/srv/x"]
deny_read = ["/srv/secret"]
namespaces = "off"
devices = ["/dev/kvm"]
unix_sockets = ["/run/x.sock"]
detached_ttl = "10m"
leftovers = "stop"
escalation = "any"
approval_ttl = "90s"

[limits]
timeout = "60s"
max_timeout = "300s"
kill_grace = "1s"
memory = "1GiB"
pids = 100
cpu = 150
open_files = 1024
max_tasks = 3
spool = "16MiB"
state = "1GiB"

[environment]
keep = ["CARGO_HOME"]
drop = ["*TOKEN*"]
set = { CI = "1" }

[tools]
disable = ["web_fetch"]
skills = ["~/skills"]
web_allow = ["wiki.example:8080"]

[mcp]
trust_elicitation = true

[[rule]]
argv = ["git", "push"]
decision = "ask"
reason = "publishing"
examples = ["git push origin main"]
not_examples = ["git pull"]
"#;

fn source(author: Author) -> Source<'static> {
    let path = if author == Author::Operator { "/etc/o.toml" } else { "/u.toml" };
    Source { author, path, home: "/home/a" }
}

fn file(text: &str, author: Author) -> File<Toolset> {
    File::parse(text, source(author)).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn of(operator: &str, user: &str) -> Configuration<Toolset> {
    Configuration::of([file(operator, Author::Operator), file(user, Author::User)])
}

fn fault(text: &str, author: Author) -> String {
    match File::<Toolset>::parse(text, source(author)) {
        Ok(_) => panic!("no fault in {text}"),
        Err(fault) => fault.to_string(),
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn without_files_the_defaults_are_those_of_the_contract() {
    let none = Configuration::<Toolset>::of([]);
    assert_eq!(none, Configuration::default());
    assert_eq!(none, of("", "# nothing\n[session]\n[limits]\n"));
    let session = &none.session;
    assert_eq!(
        (none.ceiling.mode(), none.ceiling.approval, session.mode, session.approval),
        (Mode::DangerFullAccess, Approval::Ask, Mode::WorkspaceWrite, Approval::Ask)
    );
    assert_eq!(
        (session.toolset, session.network, session.escalation, &session.writable),
        (Toolset::Standard, Network::Full, Escalation::Grounded, &Vec::new())
    );
    assert_eq!(
        (&session.protect, &session.deny_read, session.namespaces),
        (&texts(&[".git/hooks"]), &Vec::new(), Namespaces::Auto)
    );
    let limits = &none.limits;
    assert_eq!(*limits, Limits::default());
    assert_eq!(
        (limits.open_files, limits.max_tasks, limits.spool, limits.state, limits.max_sessions),
        (4096, 64, 64 << 20, 4 << 30, 64)
    );
    assert_eq!(
        (limits.memory, limits.pids, limits.detached_ttl, limits.leftovers),
        (Some(8 << 30), Some(1024), Duration::from_secs(3600), LeftoverRule::Adopt)
    );
}

#[test]
fn every_key_is_read() {
    let whole = File::<Toolset>::parse(WHOLE, source(Author::Operator)).unwrap();
    let Configuration { ceiling, session, limits, environment, tools, mcp, rules, .. } =
        Configuration::of([whole]);
    assert_eq!(
        (ceiling.max_mode, ceiling.approval, ceiling.deny_read),
        (
            Some(Mode::WorkspaceWrite),
            Approval::Ask,
            texts(&["/home/a/.ssh", "/home/a/.gnupg", "/home/a/.aws"])
        )
    );
    assert_eq!(
        (session.mode, session.approval, session.toolset, session.network, session.escalation),
        (Mode::ReadOnly, Approval::Never, Toolset::Dsh, Network::Loopback, Escalation::Any)
    );
    assert_eq!(
        (session.writable, session.presets, session.protect, session.deny_read),
        (
            texts(&["/home/a/.cargo/registry", "/srv", "/home/a"]),
            vec![Preset::Cargo, Preset::Npm],
            texts(&[".envrc", ".git/hooks", "/home/a/.bashrc", "/srv/x"]),
            texts(&["/srv/secret"])
        )
    );
    assert_eq!(
        (session.namespaces, session.devices, session.unix_sockets),
        (Namespaces::Off, texts(&["/dev/kvm"]), texts(&["/run/x.sock"]))
    );
    let seconds = Duration::from_secs;
    assert_eq!(
        limits,
        Limits {
            timeout: seconds(60),
            max_timeout: seconds(300),
            kill_grace: seconds(1),
            memory: Some(1 << 30),
            pids: Some(100),
            cpu: Some(150),
            open_files: 1024,
            max_tasks: 3,
            spool: 16 << 20,
            state: 1 << 30,
            max_sessions: 8,
            detached_ttl: Duration::from_secs(600),
            approval_ttl: Duration::from_secs(90),
            leftovers: LeftoverRule::Stop,
            ..Limits::default()
        }
    );
    assert_eq!(
        (environment.keep, environment.drop, environment.set),
        (texts(&["CARGO_HOME"]), texts(&["*TOKEN*"]), [("CI".to_owned(), "1".to_owned())].into())
    );
    assert_eq!(
        (tools.disable, tools.skills, tools.web_allow, mcp.trust_elicitation),
        (texts(&["web_fetch"]), texts(&["/home/a/skills"]), texts(&["wiki.example:8080"]), true)
    );
    let rule = Rule {
        argv: texts(&["git", "push"]),
        decision: Decision::Ask,
        reason: "publishing".to_owned(),
        origin: "/etc/o.toml:50".to_owned(),
    };
    assert_eq!(rules, Rules::of(vec![rule]));
}

#[test]
fn what_may_be_fetched_is_a_host_with_a_port() {
    let listed = [
        "wiki.example:8080",
        "127.0.0.1:1",
        "[fd00::7]:80",
        "[0:0::1]:80",
        "bücher.example:443",
        "a.example.:443",
    ];
    let text = |entries: &[&str]| format!("[tools]\nweb_allow = {entries:?}\n");
    assert_eq!(of(&text(&listed), "").tools.web_allow, listed);
    let faulty = [
        "wiki.example",
        "::1:80",
        "[::1]",
        "[x]:80",
        "a:0",
        "a:65536",
        "a:+1",
        ":80",
        "http://a:80",
        "u@a:80",
        "a b:80",
        "a..b:80",
        ".:80",
        "a%b:80",
        "a<b:80",
        "256.0.0.1:80",
        "10.0.0:80",
        "0x7f.1:80",
        "1.2.3.4.5:80",
    ];
    for entry in faulty {
        let expected = format!(
            "line 2, column 14: [tools] web_allow: expected a host and a port, such as \"wiki.example:8080\", got {entry:?}"
        );
        assert_eq!(fault(&text(&[entry]), Author::User), expected);
    }
}

#[test]
fn the_users_keys_win_over_the_operators_and_the_ceiling_over_both() {
    let operator = "\
        [ceiling]\n\
        max_mode = \"workspace-write\"\n\
        approval = \"never\"\n\
        [session]\n\
        network = \"none\"\n\
        writable = [\"/srv\"]\n\
        [limits]\n\
        max_tasks = 5\n";
    let user = "\
        [session]\n\
        mode = \"danger-full-access\"\n\
        approval = \"ask\"\n\
        network = \"full\"\n\
        [limits]\n\
        open_files = 300\n";
    let both = of(operator, user);
    assert_eq!(
        (both.ceiling.mode(), both.session.mode, both.session.approval),
        (Mode::WorkspaceWrite, Mode::WorkspaceWrite, Approval::Never)
    );
    assert_eq!((both.session.network, both.session.writable), (Network::Full, texts(&["/srv"])));
    assert_eq!((both.limits.max_tasks, both.limits.open_files), (5, 300));
    let narrow = of("[ceiling]\nmax_mode = \"read-only\"\n", "");
    assert_eq!(narrow.session.mode, Mode::ReadOnly, "the built-in default is bounded, too");
}

#[test]
fn lists_that_only_narrow_are_united_and_so_are_rules() {
    let rule =
        |word: &str| format!("[[rule]]\nargv = [\"{word}\"]\ndecision = \"ask\"\nreason = \"r\"\n");
    let operator =
        format!("[environment]\ndrop = [\"A\"]\n[tools]\ndisable = [\"bash\"]\n{}", rule("one"));
    let user = format!(
        "[environment]\ndrop = [\"B\", \"A\"]\n[tools]\ndisable = [\"read\"]\n{}",
        rule("two")
    );
    let both = of(&operator, &user);
    assert_eq!(both.environment.drop, ["A", "B"]);
    assert_eq!(both.tools.disable, ["bash", "read"]);
    let origins: Vec<&str> =
        both.rules.as_slice().iter().map(|rule| rule.origin.as_str()).collect();
    assert_eq!(origins, ["/etc/o.toml:5", "/u.toml:5"]);
}

#[test]
fn every_value_tells_where_it_comes_from() {
    let operator = "[ceiling]\nmax_mode = \"read-only\"\n[session]\nnetwork = \"none\"\n";
    let user =
        "[session]\nnetwork = \"full\"\nleftovers = \"stop\"\n[tools]\ndisable = [\"bash\"]\n";
    let settings = of(operator, user).settings;
    let told = |key: &str| {
        let found = settings.as_slice().iter().filter(|setting| setting.key == key);
        let [setting] = found.collect::<Vec<_>>()[..] else { panic!("{key}: {settings:?}") };
        let Setting { value, layer, place, .. } = setting.clone();
        (value, layer, place)
    };
    let at = |value: &str, layer, place: &str| (value.to_owned(), layer, Some(place.to_owned()));
    assert_eq!(told("[ceiling] max_mode"), at("read-only", Layer::Operator, "/etc/o.toml:2"));
    assert_eq!(told("[session] mode"), at("read-only", Layer::Operator, "/etc/o.toml:2"));
    assert_eq!(told("[session] network"), at("full", Layer::User, "/u.toml:2"));
    assert_eq!(told("[session] leftovers"), at("stop", Layer::User, "/u.toml:3"));
    assert_eq!(told("[tools] disable"), at("bash", Layer::User, "/u.toml:5"));
    assert_eq!(told("[limits] spool"), ("64MiB".to_owned(), Layer::BuiltIn, None));
}

#[test]
fn folders_are_told_with_the_rule_that_opens_them() {
    let folders = |operator: &str, user: &str| {
        of(operator, user)
            .folders("/home/a", |name| (name == "CARGO_HOME").then(|| "/c".to_owned()))
    };
    let writable = "[session]\nwritable = [\"/srv\"]\n";
    let at = |path: &str, kind| (path.to_owned(), kind);
    assert_eq!(folders(writable, ""), [at("/srv", RootKind::Operator)]);
    assert_eq!(
        folders("", &format!("{writable}presets = [\"cargo\"]\n")),
        [
            at("/srv", RootKind::Configured),
            at("/c/registry", RootKind::Preset(Preset::Cargo.into())),
            at("/c/git", RootKind::Preset(Preset::Cargo.into())),
        ]
    );
}

#[test]
fn the_home_of_root_makes_no_double_slash() {
    let source = Source { home: "/", ..source(Author::User) };
    let file = File::<Toolset>::parse("[session]\nwritable = [\"~/x\"]\n", source).unwrap();
    assert_eq!(Configuration::of([file]).session.writable, ["/x"]);
}

#[test]
fn unknown_keys_are_refused_with_those_that_are_known() {
    let cases = [
        (
            "[sesion]\n",
            "line 1, column 2: unknown key \"sesion\" in the file: expected one of ceiling, session, limits, \
             environment, tools, mcp, rule",
        ),
        (
            "# é\n[limits]\n  time = \"1s\"\n",
            "line 3, column 3: unknown key \"time\" in [limits]: expected one of timeout, max_timeout, kill_grace, \
             memory, pids, cpu, open_files, max_tasks, spool, state",
        ),
        (
            "[mcp]\ntrust = true\n",
            "line 2, column 1: unknown key \"trust\" in [mcp]: expected one of trust_elicitation",
        ),
        (
            "[[rule]]\nargv = [\"a\"]\ndecision = \"ask\"\nreason = \"r\"\nexample = []\n",
            "line 5, column 1: unknown key \"example\" in [[rule]]: expected one of argv, decision, reason, examples, \
             not_examples",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text, Author::Operator), expected);
    }
}

#[test]
fn values_say_what_was_expected_and_what_came() {
    const DURATION: &str = "a duration from 1ms to 8760h, such as \"500ms\", \"90s\" or \"2m\"";
    const SPOOL: &str = "a size of at least 16MiB, such as \"64MiB\" or \"4GiB\"";
    const PATH: &str = "an absolute path, or one that begins with ~/";
    let cases = [
        (
            "session",
            "mode = \"rw\"",
            8,
            "one of \"read-only\", \"workspace-write\", \"danger-full-access\"",
            "\"rw\"",
        ),
        (
            "session",
            "mode = 3",
            8,
            "one of \"read-only\", \"workspace-write\", \"danger-full-access\"",
            "the number 3",
        ),
        ("session", "toolset = \"glrs\"", 11, "one of \"standard\", \"dsh\"", "\"glrs\""),
        ("session", "writable = [\"/a\", \"b\"]", 19, PATH, "\"b\""),
        ("session", "writable = \"/a\"", 12, "a list, such as [\"…\", \"…\"]", "\"/a\""),
        ("session", "writable = [\"~b/x\"]", 13, PATH, "\"~b/x\""),
        ("session", "detached_ttl = 3600", 16, DURATION, "the number 3600"),
        ("session", "detached_ttl = \"0s\"", 16, DURATION, "\"0s\""),
        ("session", "detached_ttl = \"8761h\"", 16, DURATION, "\"8761h\""),
        ("session", "leftovers = true", 13, "one of \"adopt\", \"stop\"", "true"),
        ("session", "approval = []", 12, "one of \"never\", \"ask\"", "a list"),
        ("limits", "spool = \"15MiB\"", 9, SPOOL, "\"15MiB\""),
        ("limits", "spool = \"64MB\"", 9, SPOOL, "\"64MB\""),
        ("limits", "max_tasks = 0", 13, "a whole number from 1 to 100000", "the number 0"),
        ("limits", "max_tasks = -1", 13, "a whole number from 1 to 100000", "the number -1"),
        ("limits", "max_tasks = 1.5", 13, "a whole number from 1 to 100000", "the number 1.5"),
        ("limits", "pids = \"many\"", 8, "a whole number from 16 to 4194304", "\"many\""),
        (
            "environment",
            "drop = [\"A-B\"]",
            9,
            "the name of a variable, or a pattern such as \"*TOKEN*\"",
            "\"A-B\"",
        ),
        (
            "session",
            "protect = [\"a/../b\"]",
            12,
            "a path inside of a writable folder, such as \".git/hooks\", without \"..\"",
            "\"a/../b\"",
        ),
        ("tools", "disable = [\"bsh\"]", 12, "the name of a tool, such as \"bash\"", "\"bsh\""),
    ];
    for (section, line, column, expected, came) in cases {
        let key = line.split_once(' ').unwrap().0;
        assert_eq!(
            fault(&format!("[{section}]\n{line}\n"), Author::User),
            format!("line 2, column {column}: [{section}] {key}: expected {expected}, got {came}")
        );
    }
    assert_eq!(
        fault("[environment]\nset = { BRATTICE_X = \"1\" }\n", Author::User),
        "line 2, column 22: [environment] set BRATTICE_X: expected the name of a variable that Brattice does not set \
         itself, got \"1\""
    );
    assert_eq!(
        fault("session = 1\n", Author::User),
        "line 1, column 11: [session]: expected a table, got the number 1"
    );
}

#[test]
fn all_faults_are_told_in_their_order() {
    assert_eq!(
        fault("[limits]\nmax_tasks = 0\n[session]\nmode = 1\nx = 2\n", Author::User),
        "line 2, column 13: [limits] max_tasks: expected a whole number from 1 to 100000, got the number 0; \
         line 4, column 8: [session] mode: expected one of \"read-only\", \"workspace-write\", \"danger-full-access\", \
         got the number 1; \
         line 5, column 1: unknown key \"x\" in [session]: expected one of mode, approval, toolset, network, writable, \
         presets, protect, deny_read, namespaces, devices, unix_sockets, detached_ttl, leftovers, escalation, approval_ttl"
    );
}

#[test]
fn a_rule_is_whole_and_its_examples_are_what_they_say() {
    let rule = |more: &str| {
        let text = format!(
            "[[rule]]\nargv = [\"git\", \"push\"]\ndecision = \"ask\"\nreason = \"r\"\n{more}\n"
        );
        File::<Toolset>::parse(&text, source(Author::User))
            .map(|_| ())
            .map_err(|faults| faults.to_string())
    };
    assert_eq!(
        rule("examples = [\"ls; git push\"]\nnot_examples = [\"git pull\", \"git\"]"),
        Ok(())
    );
    assert_eq!(
        rule("examples = [\"git push\", \"git -C x push\"]"),
        Err("line 5, column 25: examples: \"git -C x push\" is not matched by the rule for git push".to_owned())
    );
    assert_eq!(
        rule("not_examples = [\"sh -c 'git push'\"]"),
        Err("line 5, column 17: not_examples: \"sh -c 'git push'\" is matched by the rule for git push".to_owned())
    );
    assert_eq!(
        fault("[[rule]]\nargv = []\n", Author::User),
        "line 1, column 1: [[rule]]: the key \"decision\" is missing: expected \"allow\", \"ask\" or \"forbid\"; \
         line 1, column 1: [[rule]]: the key \"reason\" is missing: expected a text for whoever is asked or refused; \
         line 2, column 8: [[rule]] argv: expected a list of at least one word, got a list"
    );
    assert_eq!(
        fault("[rule]\nargv = [\"a\"]\n", Author::User),
        "line 1, column 1: [[rule]]: expected tables, each written below a line [[rule]], got a table"
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
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text, Author::User), expected);
    }
}

#[test]
fn a_ceiling_is_the_operators() {
    assert_eq!(
        fault("[limits]\n\n[ceiling]\nmax_mode = \"read-only\"\n", Author::User),
        "line 3, column 1: [ceiling] belongs into the operator's file, /etc/brattice/config.toml"
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

/// Reading returns, and each fault points into the text and takes one line.
fn holds(text: &str) {
    for author in [Author::Operator, Author::User] {
        match File::<Toolset>::parse(text, source(author)) {
            Ok(file) => {
                let whole = Configuration::of([file]);
                assert!(whole.session.mode <= whole.ceiling.mode());
            }
            Err(faults) => {
                for fault in faults.iter() {
                    assert!(
                        fault.at.line <= text.split('\n').count() && fault.at.column > 0,
                        "{fault}"
                    );
                    assert!(!fault.to_string().contains('\n'), "{fault}");
                }
            }
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "[session]",
        "[limits]",
        "[ceiling]",
        "[[rule]]",
        "argv",
        "[environment]",
        "set",
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
