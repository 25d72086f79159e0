//! Command rules against bash itself: whatever bash runs of a line made of pieces, the rules have found or asked about.
//!
//! A program `git` in a folder of its own leaves a mark when it is started with `push`. The other programs are links to the
//! system's that run others.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use brattice_policy::rules::{Decision, Rule, Rules};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A folder with the programs, removed with it.
struct Programs(PathBuf);

impl Programs {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("brattice-rules-{}", std::process::id()));
        fs::create_dir_all(path.join("bin")).unwrap();
        let git = path.join("bin/git");
        fs::write(&git, "#!/bin/bash\n[ \"$1\" = push ] && : > \"$MARK\"\n").unwrap();
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["bash", "sh", "env", "xargs", "timeout", "cat", "find", "nice"] {
            let found = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
            let program = found.into_iter().find(|path| path.exists()).unwrap();
            symlink(program, path.join("bin").join(name)).unwrap();
        }
        Programs(path)
    }

    /// Whether bash comes to `git push` by this line.
    fn pushes(&self, line: &str) -> bool {
        let (work, mark) = (self.0.join("work"), self.0.join("mark"));
        fs::create_dir_all(&work).unwrap();
        let mut command = Command::new(self.0.join("bin/timeout"));
        command.args(["-s", "KILL", "2", "bash", "-c", line]).current_dir(&work).env_clear();
        command.env("PATH", self.0.join("bin")).env("MARK", &mark);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap();
        fs::remove_dir_all(&work).unwrap();
        fs::remove_file(&mark).is_ok()
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn rules() -> Rules {
    Rules::of(vec![Rule {
        argv: ["git", "push"].map(str::to_owned).to_vec(),
        decision: Decision::Forbid,
        reason: "publishing".to_owned(),
        origin: "f:1".to_owned(),
    }])
}

/// Pieces of lines. Nothing that loops or calls itself is among them.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "git push",
        "git",
        "push",
        "git push",
        " ",
        " ",
        "\n",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "(",
        ")",
        "((",
        "))",
        "{ ",
        "; }",
        "$",
        "$(",
        "${x:-",
        "}",
        "`",
        "'",
        "\"",
        "\\",
        "<<E",
        "<<'E'",
        "<<-E",
        "\nE\n",
        "E",
        "<<< ",
        ">f ",
        "2>",
        "<(",
        "if ",
        "; then ",
        "; fi",
        "case x in ",
        "x) ",
        "*) ",
        ";;",
        "; esac",
        "[[ ",
        " ]]",
        "for i in a; do ",
        "; done",
        "x=",
        "x=(",
        "env ",
        "eval ",
        "sh -c ",
        "bash -c ",
        "bash ",
        "xargs ",
        "find . -maxdepth 0 -exec ",
        " \\;",
        "$'",
        "#",
        "*",
        "! ",
        "time ",
        "function f { ",
        "g() { ",
        "&>f ",
        "2>&1",
        "\t",
        "@(",
        "trap ",
        " EXIT",
        "timeout 1 ",
        "nice ",
        "echo ",
        "true ",
        "false ",
        "cat ",
        "$x ",
        "\"$x\" ",
        "{a,",
        "exec ",
        "command ",
        "-c ",
        "coproc ",
        "select i in a; do ",
        "]",
        "[",
        "$((",
        "1",
        "+",
        "\\\n",
        "''",
        "\"\"",
    ])
}

#[test]
fn what_bash_runs_of_a_line_was_found_or_is_asked_about() {
    let (programs, rules) = (Programs::new(), rules());
    assert!(programs.pushes("git push") && !programs.pushes("git pull"));
    let cases = std::env::var("BRATTICE_RULES_CASES").ok().and_then(|text| text.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(300), failure_persistence: None, ..Config::default() };
    let lines = prop::collection::vec(piece(), 1..14).prop_map(|pieces| pieces.concat());
    TestRunner::new(config)
        .run(&lines, |line| {
            let decision = rules.decide(&line).decision;
            prop_assert!(decision > Decision::Allow || !programs.pushes(&line), "{line:?}");
            Ok(())
        })
        .unwrap();
}
