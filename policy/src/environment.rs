//! The environment of a command: the daemon's own, less secrets, plus what keeps programs from asking questions.

use std::collections::BTreeMap;

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

/// The session's base environment from the daemon's own.
pub fn base(ambient: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Environment {
    let mut environment: Environment =
        ambient.into_iter().filter(|(name, _)| is_kept(&String::from_utf8_lossy(name))).collect();
    for (name, value) in FIXED {
        environment.insert(name.into(), value.into());
    }
    environment
}

fn is_kept(name: &str) -> bool {
    !name.is_empty()
        && !looks_secret(name)
        && !MANAGED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !OF_THE_UNIT.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ambient: &[&str]) -> Vec<String> {
        base(ambient.iter().map(|name| (name.as_bytes().to_vec(), b"x".to_vec())))
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
        let environment =
            base([(b"TERM".to_vec(), b"xterm".to_vec()), (b"PAGER".to_vec(), b"less".to_vec())]);
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
}
