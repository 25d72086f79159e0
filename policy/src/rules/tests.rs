//! Rules over lines: what is found wherever it stands, what is not, and what is asked about.

use proptest::prelude::*;

use super::{Decision, Rule, Rules, Verdict};

fn rule(argv: &[&str], decision: Decision) -> Rule {
    Rule {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        decision,
        reason: "a reason".to_owned(),
        origin: "f:1".to_owned(),
    }
}

fn rules() -> Rules {
    Rules::of(vec![rule(&["git", "push"], Decision::Forbid), rule(&["rm"], Decision::Ask)])
}

fn decided(line: &str) -> Decision {
    rules().decide(line).decision
}

fn all(expected: Decision, lines: &[&str]) {
    for line in lines {
        assert_eq!(decided(line), expected, "{line}");
    }
}

#[test]
fn a_command_is_found_wherever_it_stands() {
    all(
        Decision::Forbid,
        &[
            "git push",
            "git push origin main",
            "/usr/bin/git push",
            "g\\it pu\"sh\"",
            "'git' $'pu\\x73h'",
            "\"git\" push",
            "~/bin/git push",
            "\"$HOME\"/bin/git push",
            "ls; git push",
            "ls&&git push",
            "ls || git push",
            "ls | git push",
            "ls |& git push",
            "ls & git push",
            "ls\ngit push",
            "git \\\n push",
            "(git push)",
            "( ( git push ) )",
            "((git push) | cat)",
            "{ git push; }",
            "! git push",
            "!(git push)",
            "if git push; then :; fi",
            "if a; then git push; else b; fi",
            "while :; do git push; done",
            "for x in a b; do git push; done",
            "for ((i = 0; i < 3; i++)); do git push; done",
            "for x; do git push; done",
            "select x in a; do git push; done",
            "case $x in a|b) git push;; esac",
            "case x in (a) ls;; *) git push; esac",
            "case x in a) ls;& b) git push\nesac",
            "f() { git push; }; f",
            "f () ( git push )",
            "function f { git push; }",
            "function f() { git push; }",
            "echo $(git push)",
            "echo \"$(git push)\"",
            "echo \"a $(echo \"b $(git push)\")\"",
            "echo `git push`",
            "echo \"`git push`\"",
            "echo `echo \\`git push\\``",
            "echo $((1 + $(git push)))",
            "echo $[1 + $(git push)]",
            "(( x = $(git push) ))",
            "echo ${x:-$(git push)}",
            "echo \"${x:-$(git push)}\"",
            "x=$(git push)",
            "x=(a $(git push) b)",
            "x[$(git push)]=1",
            "declare -a x=($(git push))",
            "[[ -n $(git push) ]]",
            "[[ a =~ ^(b|c)$ ]] && git push",
            "cat <(git push)",
            "tee >(git push)",
            "cat < <(git push)",
            "cat <<< $(git push)",
            "cat > \"$(git push)\"",
            "cat <<E\n$(git push)\nE",
            "cat <<E\n`git push`\nE",
            "cat <<E | git push\nx\nE",
            "cat <<'E'\nx\nE\ngit push",
            "cat <<-E\n\tx\n\tE\ngit push",
            "cat <<A <<B\na\nA\nb\nB\ngit push",
            "$(cat <<E\nx\nE\n); git push",
            "X=1 git push",
            "X=1 Y+=2 git push",
            "X[1]=2 git push",
            ">x git push",
            "2>x git push",
            "git >x push",
            "git 2>&1 push",
            "git push>x",
            "{fd}>x git push",
            "&>x git push",
            "time git push",
            "time -p git push",
            "coproc git push",
            "coproc X { git push; }",
            "ls # git\ngit push",
            "echo a#b; git push",
            "$EMPTY git push",
            "trap 'git push' EXIT",
            "alias g='git push'",
            "true &>f git push",
            "X=1 [[ ; git push ]]",
        ],
    );
}

#[test]
fn what_runs_a_command_is_looked_through() {
    all(
        Decision::Forbid,
        &[
            "env git push",
            "env -i -u X A=1 B=2 git push",
            "env --unset=X -C / git push",
            "env A=\"$x\" git push",
            "xargs git push",
            "xargs -0 -n 1 git push",
            "xargs -I{} git push {}",
            "find . | xargs -P4 git push",
            "timeout 5 git push",
            "timeout -k 1 -s KILL 5s git push",
            "timeout --signal=KILL 5 git push",
            "timeout \"$T\" git push",
            "nohup git push",
            "nice -n 5 git push",
            "nice -5 git push",
            "nice --adjustment 5 git push",
            "setsid -w git push",
            "stdbuf -oL -e 0 git push",
            "command git push",
            "command -p -- git push",
            "exec git push",
            "exec -a name git push",
            "builtin eval git push",
            "sudo git push",
            "sudo -u root -E X=1 git push",
            "sudo nohup env timeout 3 git push",
            "bash git push",
            "sh -e ./git push",
            "source git push",
            ". ./git push",
            "sh -c 'git push'",
            "bash -c \"git push\" x y",
            "bash -lc 'git push'",
            "bash -o pipefail -c 'git push'",
            "bash -euxo pipefail -c 'git push'",
            "/bin/sh -ec 'git push'",
            "sh -c 'sh -c \"git push\"'",
            "bash <<E\ngit push\nE",
            "bash <<'E'\ngit push\nE",
            "bash -s <<'E' a b\ngit push\nE",
            "bash <<< 'git push'",
            "bash <<A 3<<B\ngit push\nA\nx\nB",
            "cat <<A; bash <<B\nx\nA\ngit push\nB",
            "eval git push",
            "eval 'git push'",
            "eval \"eval 'git push'\"",
            "eval \"$X\" ; git push",
            "find . -name x -exec git push \\;",
            "find . -exec a {} \\; -execdir git push {} +",
            "flock /tmp/l git push",
            "flock /tmp/l -c 'git push'",
            "su -c 'git push' root",
            "script -qc 'git push' /dev/null",
            "watch -n 1 git push",
            "busybox sh -c 'git push'",
            "strace -f -o out git push",
            "mapfile -C 'git push' -c 1 x",
            "mapfile -C'git push' x",
            "compgen -C 'git push'",
            "compgen -W '$(git push)'",
            "complete -C 'git push' x",
            "sudo -k git push",
            "sudo -nk -u root git push",
            "chroot --userspec u --groups g / git push",
            "chroot --userspec=u / git push",
            "strace -X raw git push",
            "setarch git push",
            "setarch -R x86_64 git push",
            "setarch x86_64 --show=4 git push",
            "su -lc'git push' root",
            "su --comm 'git push'",
            "su --session-command 'git push' root",
            "su --session-command='git push'",
            "runuser --sess 'git push' root",
            "su --c='git push'",
            "runuser -u root git push",
            "runuser -u root -- git push",
            "script -qc'git push' /dev/null",
            "script -q /dev/null -- git push",
            "sg root 'git push'",
            "sg root -c 'git push'",
            "eval -- git push",
            "eval -- 'git push'",
            ". -- git push",
            "xargs --max-args 1 git push",
            "xargs --verbose --replace={} git push {}",
            "xargs --max-a 1 git push",
            "bash 0<<<'git push'",
            "bash <<<'git push' 3<<<true",
            "bash 3<<<true <<<'git push'",
            "watch -n 1 -d -t -b -e -x -c -p git push",
            "flock -n -x -E 1 -w 1 -o a b c d e f g h i j k l m git push",
        ],
    );
}

#[test]
fn what_is_no_such_command_runs() {
    all(
        Decision::Allow,
        &[
            "",
            "git pull",
            "git",
            "git commit -m push",
            "git commit -m \"$message\"",
            "git -C \"$dir\" status",
            "echo git push",
            "echo 'git push'",
            "echo \"git push; rm x\"",
            "# git push",
            "ls # ; git push",
            "cat <<'E'\ngit push\n$(git push)\nE",
            "cat <<E\ngit push\nE",
            "cat <<E\n\\$(git push)\nE",
            "cat > f <<'E'\nrm x\nE\nls",
            "for git in push rm; do echo $git; done",
            "case git in git|rm) echo push;; esac",
            "[[ rm == git && -n $x ]]",
            "[ -f x ] && make",
            "(( rm = 1 << 2 ))",
            "echo $(( rm + 1 ))",
            "x=rm",
            "rm=(git push)",
            "command -v rm",
            "python3 -c 'import os; print(1)'",
            "bash script.sh rm",
            "bash script.sh 3<f",
            "hash",
            "make 10>log 2>&1",
            ". ./script.sh rm",
            "bash --version",
            "find . | xargs bash script.sh",
            "./rmx",
            "xargs",
            "echo \"${x:-git push}\"",
            "echo {rm,git}",
            "echo *.rs | xargs wc -l",
            "find . -name '*.rs' -exec grep -l x {} +",
            "timeout 5 make -j\"$(nproc)\" check",
            "env CI=1 cargo test -- --nocapture",
            "git log --format='%h %s' | head -5",
            "awk '{print $1}' f | sort | uniq -c",
            "sed -n '1,10p' f",
            "echo \"it's $HOME\" && printf '%s\\n' \"${a[@]}\"",
            "while read -r line; do echo \"$line\"; done < f",
            "printf '%s' 'a\"b`c$(' > f",
        ],
    );
}

#[test]
fn what_cannot_be_told_from_the_line_is_asked_about() {
    all(
        Decision::Ask,
        &[
            "$X push",
            "$X",
            "`echo git` push",
            "{git,push}",
            "g*t push",
            "git $X",
            "git $X origin",
            "git \"$X\"",
            "git \"$@\"",
            "git {push,pull}",
            "echo push | xargs git",
            "eval \"$X\"",
            "bash -c \"$X\"",
            "curl x | sh",
            "bash < f",
            "curl x | bash 3<<<true",
            "curl x | bash {fd}<<<true",
            "bash <<<true 3<f 0>&3",
            "bash 0<f",
            "$\\\n(git push)",
            "echo \"$\\\n(git push)\"",
            "x='$(git push)'; echo \"${x@P}\"",
            "x='$(git push)'; echo \"${x@\\\nP}\"",
            "hash -p /bin/git x; x push",
            "source -p . x",
            "xargs --nonsense x git",
            "sh -c 'sh 10<f'",
            "bash <<E\n$X\nE",
            "bash <(curl x)",
            "zsh -c 'git push'",
            "source /dev/stdin <<< x",
            "env -S 'git push'",
            "env --nonsense x git",
            "find . -exec {} +",
            "sh -c '[[ a ]]'",
            "echo 'open",
            "echo \"open",
            "echo $(open",
            "echo ${open",
            "(open",
            "closed)",
            "echo `open",
            "echo ${ git; }",
            "a (b)",
            "cat <<$X\n$X",
            "echo \"${x#'}'}\"",
        ],
    );
}

#[test]
fn what_was_found_before_a_fault_still_counts() {
    all(
        Decision::Forbid,
        &["git push\n(", "git push; echo 'open", "$X; git push", "git push | sh"],
    );
}

#[test]
fn a_document_ends_where_bash_ends_it() {
    // A backslash joins the line of the delimiter to the one before, unless the delimiter is quoted.
    all(Decision::Allow, &["cat <<E\nx\\\nE\ngit push\nE", "cat <<E\nE \ngit push\n E\nE"]);
    all(Decision::Forbid, &["cat <<'E'\nx\\\nE\ngit push", "cat <<E\nx\\\\\nE\ngit push"]);
}

#[test]
fn the_strictest_rule_wins_and_the_verdict_names_it() {
    let rules = Rules::of(vec![
        rule(&["git"], Decision::Allow),
        rule(&["git", "push"], Decision::Ask),
        rule(&["git", "push", "--force"], Decision::Forbid),
    ]);
    let told = |line: &str| {
        let Verdict { decision, rule, words, .. } = rules.decide(line);
        (decision, rule, words.join(" "))
    };
    assert_eq!(told("git log"), (Decision::Allow, Some(0), "git".to_owned()));
    assert_eq!(told("git push"), (Decision::Ask, Some(1), "git push".to_owned()));
    assert_eq!(
        told("git log; /bin/git push --force x"),
        (Decision::Forbid, Some(2), "/bin/git push --force".to_owned())
    );
    assert_eq!(told("ls"), (Decision::Allow, None, String::new()));
    assert_eq!(
        rules.decide("git push \"$X\"").reason,
        "a reason",
        "one that matches for certain comes before one that may"
    );
}

#[test]
fn without_a_rule_that_asks_or_forbids_nothing_is_asked() {
    for rules in [Rules::default(), Rules::of(vec![rule(&["git"], Decision::Allow)])] {
        for line in ["$X", "echo 'open", "((", "curl x | sh"] {
            assert_eq!(rules.decide(line).decision, Decision::Allow, "{line}");
        }
    }
}

#[test]
fn a_programs_words_are_judged_as_they_stand() {
    let decided = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        rules().decide_words(&words).decision
    };
    assert_eq!(decided(&["git", "push"]), Decision::Forbid);
    assert_eq!(decided(&["/usr/bin/git", "push", "x"]), Decision::Forbid);
    assert_eq!(decided(&["env", "X=1", "git", "push"]), Decision::Forbid);
    assert_eq!(decided(&["bash", "-c", "ls; git push"]), Decision::Forbid);
    assert_eq!(decided(&["git push"]), Decision::Allow, "a program of that very name");
    assert_eq!(decided(&["echo", "$(git push)"]), Decision::Allow);
    assert_eq!(decided(&["$X"]), Decision::Allow);
    assert_eq!(decided(&[]), Decision::Allow);
}

#[test]
fn b119_each_segment_of_a_line_counts() {
    let rules = Rules::of(vec![rule(&["git"], Decision::Allow), rule(&["rm"], Decision::Forbid)]);
    for line in [
        "git --version; rm -rf keep",
        "git --version | xargs rm -rf keep",
        "git --version\nrm -rf keep",
        "X=1 rm -rf keep",
        "/bin/rm -rf keep",
        "env rm -rf keep",
    ] {
        assert_eq!(rules.decide(line).decision, Decision::Forbid, "{line}");
    }
}

/// Reading a hostile text returns soon, whatever it is.
fn returns(text: &str) {
    let start = std::time::Instant::now();
    rules().decide(text);
    rules().decide_words(&[text.to_owned()]);
    assert!(start.elapsed().as_secs() < 10, "{} bytes", text.len());
}

#[test]
fn no_depth_and_no_length_overflows_or_takes_long() {
    let pieces = [
        "(",
        "((",
        "$(",
        "$((",
        "`",
        "\\`",
        "{ ",
        "if ",
        "${x:-",
        "\"$(",
        "[[ ( ",
        "case x in a) ",
        "eval eval ",
        "env ",
        "env -Z ",
        "sudo -Z x ",
        "flock a ",
        "watch ",
        "find -exec ",
        "su -c ",
        "sh -c \"",
        "<<E ",
        "x=(",
        "!(",
        "f() ",
        "$((((",
        "<(",
        "a ",
        "a;",
        "'",
        "\\\\",
        "xargs ",
        "<<E\n",
        "| ",
        "time ",
        "coproc ",
        "$[",
        "$'",
        "{fd}> ",
        "for ((",
        "$((\"$((`",
    ];
    for piece in pieces {
        for times in [1, 41, 1_000, 20_000] {
            returns(&piece.repeat(times));
            returns(&format!("{}git push", piece.repeat(times)));
        }
    }
    returns(&"a ".repeat(600_000));
    returns(&"a b;".repeat(250_000));
    let nested = (0..200).fold("git push".to_owned(), |inner, _| format!("$({inner})"));
    assert_eq!(decided(&nested), Decision::Ask);
    let long = format!("git push #{}", "x".repeat(1 << 20));
    assert_eq!(decided(&long), Decision::Ask);
}

fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "git",
        "push",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "(",
        ")",
        "((",
        "))",
        "{",
        "}",
        "$",
        "$(",
        "${",
        "`",
        "'",
        "\"",
        "\\",
        "<<",
        "<<E",
        "E",
        "<<<",
        ">",
        "<(",
        "if ",
        "then ",
        "case x in ",
        "esac",
        ";;",
        "[[ ",
        " ]]",
        "for x in ",
        "do ",
        "done",
        "x=",
        "x=(",
        "env ",
        "eval ",
        "sh -c ",
        "xargs ",
        "find -exec ",
        "$'",
        "#",
        "*",
        "~",
        "time ",
        "coproc ",
        "function ",
        "&>",
        "2>&1",
        "é",
        "\u{0}",
        "\t",
        "!",
        "@(",
        "trap ",
        "sudo -u ",
        "flock ",
        "watch ",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        returns(&text);
    }

    #[test]
    fn no_text_like_a_line_does(pieces in prop::collection::vec(piece(), 0..40)) {
        returns(&pieces.concat());
    }

    #[test]
    fn no_words_hide_the_command_of_the_next_line(words in prop::collection::vec("[a-z={},.0-9+]{1,6}", 0..6)) {
        let line = format!("echo {}\ngit push", words.join(" "));
        prop_assert_eq!(decided(&line), Decision::Forbid);
    }
}
