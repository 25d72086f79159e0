//! The environment of a command: the daemon's own, less secrets, plus what keeps programs from asking questions.

use std::collections::BTreeMap;

/// The variable in which a command finds the id of its task.
pub const TASK_ID: &str = "BRATTICE_TASK_ID";

/// A command's environment, sorted by name. Values are bytes: an environment need not be UTF-8.
pub type Environment = BTreeMap<Vec<u8>, Vec<u8>>;

/// Parts of names that look like secrets (tools, "Further rules").
const SECRET_PARTS: [&str; 4] = ["KEY", "SECRET", "TOKEN", "PASSWORD"];

/// Prefixes of names that belong to Brattice or to a runtime on top of it; ambient ones are dropped.
const MANAGED_PREFIXES: [&str; 2] = ["BRATTICE_", "DSH_"];

/// Settings that make programs print plainly and never wait for a person.
const FIXED: [(&str, &str); 7] = [
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PYTHONUNBUFFERED", "1"),
];

/// What systemd tells the daemon about its own unit: not the command's (systemd.exec(5), sd_listen_fds(3), sd_notify(3),
/// sd_watchdog_enabled(3)).
const OF_THE_UNIT: [&str; 15] = [
    "CREDENTIALS_DIRECTORY",
    "FDSTORE",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_PIDFDID",
    "MAINPID",
    "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE",
    "NOTIFY_SOCKET",
    "SYSTEMD_EXEC_PID",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];

/// Words that hold one of `SECRET_PARTS` and are none.
const NO_SECRETS: [&str; 5] = ["KEYBOARD", "KEYMAP", "MONKEY", "TURKEY", "TOKENIZERS"];

/// Whether a variable's name looks like a secret's: it holds one of `SECRET_PARTS` anywhere, but for the words of
/// `NO_SECRETS`. To drop one too many costs a setting, to keep one too many a secret.
pub fn looks_secret(name: &str) -> bool {
    let harmless = |name: String, word: &&str| name.replace(*word, "");
    let name = NO_SECRETS.iter().fold(name.to_ascii_uppercase(), harmless);
    SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// What configuration says of commands' variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRules {
    /// Names, or patterns with `*`, that are kept although they look like secrets'.
    pub keep: Vec<String>,
    /// Names, or patterns with `*`, that are not passed on. They win over those that are kept.
    pub drop: Vec<String>,
    /// Variables that are set, whatever the daemon's own environment has.
    pub set: BTreeMap<String, String>,
}

impl EnvironmentRules {
    /// The session's base environment from the daemon's own.
    pub fn base(&self, ambient: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Environment {
        let mut environment: Environment = ambient
            .into_iter()
            .filter(|(name, _)| self.passes_on(&String::from_utf8_lossy(name)))
            .collect();
        let set = self.set.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in FIXED.into_iter().chain(set) {
            environment.insert(name.into(), value.into());
        }
        environment
    }

    fn passes_on(&self, name: &str) -> bool {
        let is_one_of = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, name));
        !name.is_empty()
            && !is_managed(name)
            && !is_one_of(&self.drop)
            && (!looks_secret(name) || is_one_of(&self.keep))
    }
}

/// Whether a variable is Brattice's own, a runtime's on top of it, or its service manager's.
pub fn is_managed(name: &str) -> bool {
    MANAGED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || OF_THE_UNIT.contains(&name)
}

/// Whether a name fits a pattern, in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let (between, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in between.split('*') {
        // The earliest place leaves the most for what follows.
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.len() >= last.len() && left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ambient: &[&str]) -> Vec<String> {
        EnvironmentRules::default()
            .base(ambient.iter().map(|name| (name.as_bytes().to_vec(), b"x".to_vec())))
            .into_keys()
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .filter(|name| !FIXED.iter().any(|(fixed, _)| fixed == name))
            .collect()
    }

    #[test]
    fn drops_secrets_and_managed_names() {
        let ambient = [
            "PATH",
            "HOME",
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "DB_PASSWORD",
            "APIKEY",
            "TOKENS",
            "BRATTICE_SOCKET",
            "DSH_HOME",
            "KEYBOARD",
            "API_KEY2",
            "SECRETKEYBASE",
            "TOKENFILE",
            "TOKENIZERS_PARALLELISM",
            "MONKEYS_HOME",
            "NOTIFY_SOCKET",
            "LISTEN_FDS",
            "LISTEN_PID",
            "LISTEN_FDNAMES",
            "WATCHDOG_USEC",
            "JOURNAL_STREAM",
            "CARGO_HOME",
        ];
        assert_eq!(
            names(&ambient),
            ["CARGO_HOME", "HOME", "KEYBOARD", "MONKEYS_HOME", "PATH", "TOKENIZERS_PARALLELISM"]
        );
    }

    #[test]
    fn sets_what_keeps_programs_quiet() {
        let environment = EnvironmentRules::default()
            .base([(b"TERM".to_vec(), b"xterm".to_vec()), (b"PAGER".to_vec(), b"less".to_vec())]);
        let text: Vec<_> = environment
            .iter()
            .map(|(name, value)| {
                format!("{}={}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
            })
            .collect();
        assert_eq!(
            text,
            [
                "GIT_EDITOR=true",
                "GIT_PAGER=cat",
                "GIT_TERMINAL_PROMPT=0",
                "NO_COLOR=1",
                "PAGER=cat",
                "PYTHONUNBUFFERED=1",
                "TERM=dumb"
            ]
        );
    }

    #[test]
    fn what_is_kept_dropped_and_set_is_configured() {
        let text = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        let rules = EnvironmentRules {
            keep: text(&["NPM_TOKEN", "*_KEY_PATH", "BRATTICE_SOCKET"]),
            drop: text(&["AWS_*", "NPM_TOKEN_OLD", "TERM"]),
            set: [("CI".to_owned(), "1".to_owned()), ("NO_COLOR".to_owned(), "0".to_owned())]
                .into(),
        };
        let ambient = [
            "NPM_TOKEN",
            "NPM_TOKEN_OLD",
            "MY_KEY_PATH",
            "AWS_PROFILE",
            "GITHUB_TOKEN",
            "BRATTICE_SOCKET",
            "CI",
            "TERM",
        ];
        let environment = rules.base(ambient.map(|name| (name.into(), b"x".to_vec())));
        let get = |name: &str| {
            environment.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value))
        };
        let kept: Vec<_> = ambient.into_iter().filter(|name| get(name).is_some()).collect();
        assert_eq!(kept, ["NPM_TOKEN", "MY_KEY_PATH", "CI", "TERM"]);
        assert_eq!(get("CI").as_deref(), Some("1"));
        assert_eq!((get("NO_COLOR").as_deref(), get("TERM").as_deref()), (Some("0"), Some("dumb")));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        let cases = [
            ("A", "A", true),
            ("A", "AB", false),
            ("*", "", true),
            ("A*", "AB", true),
            ("*B", "AB", true),
            ("*AB*", "xABx", true),
            ("*AB*", "xAxB", false),
            ("A*B*C", "AxBxC", true),
            ("A*A", "A", false),
            ("**", "x", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
