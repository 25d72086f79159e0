//! `grep` and `glob`: what is found, how it is shown, and what is said of what is not.

use std::os::unix::fs::PermissionsExt as _;

use brattice_tests::{Reply, Session, World, error_prefix};
use serde_json::json;

use crate::{call, fails, opening};

#[track_caller]
fn grep(session: &Session, pattern: &str) -> Reply {
    call(session, "grep", json!({"pattern": pattern}))
}

/// A session of each toolset that searches, and which it is.
fn both(world: &World) -> [(&'static str, Session); 2] {
    ["standard", "glrs"]
        .map(|toolset| (toolset, opening(world).with("toolset", json!(toolset)).open()))
}

/// Asserts that a call failed as one, with this text as the toolset has it.
#[track_caller]
fn fails_in(toolset: &str, reply: &Reply, text: &str) {
    fails(reply, &format!("{}{text}", error_prefix(toolset)));
}

#[track_caller]
fn glob(session: &Session, pattern: &str) -> Reply {
    call(session, "glob", json!({"pattern": pattern}))
}

#[test]
fn b096_a_pattern_that_begins_with_a_dash_is_a_pattern() {
    let world = World::new();
    world.file("d.c", "p->next = 1;\n-e flag\n--help me\n");
    for (toolset, session) in both(&world) {
        grep(&session, "->next").says("d.c:1:p->next = 1;");
        grep(&session, "-e flag").says("d.c:2:-e flag");
        grep(&session, "--help").says("d.c:3:--help me");
        let path = world.ws().join("-rf");
        fails_in(
            toolset,
            &call(&session, "grep", json!({"pattern": "x", "path": "-rf"})),
            &format!(
                "argument `path`: cannot search {}: No such file or directory (os error 2)",
                path.display()
            ),
        );
        glob(&session, "-*").says("no files");
    }
    world.finish();
}

#[test]
fn b098_a_bad_pattern_is_an_error_and_no_match_is_none() {
    let world = World::new();
    world.file("f.c", "call(a);\nint x[3];\n");
    for (toolset, session) in both(&world) {
        for bad in ["call(", "x["] {
            let reply = grep(&session, bad);
            assert!(reply.is_error(), "{bad}");
            let begins = format!("{}argument `pattern`: ", error_prefix(toolset));
            assert!(reply.text().starts_with(&begins), "{}", reply.text());
            reply.holds(bad).holds("^");
        }
        let reply = grep(&session, "zzz");
        reply.says("no matches");
        assert!(!reply.is_error());
        assert_eq!(
            reply.result.structured_content,
            json!({"matches": [], "truncated": false, "unreadable": []})
        );
        world.file("a.txt", &format!("{}b\n", "a".repeat(100_000)));
        grep(&session, "(a+)+$").says("no matches");
        assert!(call(&session, "grep", json!({"pattern": "a", "path": "missing"})).is_error());
        fails_in(
            toolset,
            &grep(&session, ""),
            "argument `pattern`: expected text that is not empty, got \"\"",
        );
        let fixed = json!({"pattern": "x[", "fixedString": true});
        call(&session, "grep", fixed).says("f.c:2:int x[3];");
    }
    world.finish();
}

#[test]
fn b099_names_with_colons_and_newlines_stay_whole() {
    let world = World::new();
    world.setup("mkdir 'a:b'; echo 'k: v::w' > 'a:b/c.txt'; echo zed > 'log:7:day.txt'; echo zed > $'new\\nline.txt'");
    for (_, session) in both(&world) {
        let reply = grep(&session, "v::w");
        reply.says("a:b/c.txt:1:k: v::w");
        assert_eq!(
            reply.result.structured_content["matches"],
            json!([{"path": "a:b/c.txt", "line": 1, "text": "k: v::w"}])
        );
        grep(&session, "zed").says("log:7:day.txt:1:zed\nnew\\nline.txt:1:zed");
        let mut found = glob(&session, "**/*.txt").lines();
        found.sort();
        assert_eq!(found, ["a:b/c.txt", "log:7:day.txt", "new\\nline.txt"]);
    }
    world.finish();
}

#[test]
fn b100_negations_hold_from_any_folder() {
    let world = World::new();
    world.setup(
        "git init -q .; printf 'out/\\n!/pkg/deep/out/\\n*.gen\\n!keep.gen\\n' > .gitignore\n\
         mkdir -p out pkg/deep/out pkg/out; for d in out pkg/deep/out pkg/out; do echo token > $d/f.txt; done; echo token > a.gen; \
         echo token > keep.gen",
    );
    for (_, session) in both(&world) {
        grep(&session, "token").says("keep.gen:1:token\npkg/deep/out/f.txt:1:token");
        for path in ["pkg", "pkg/deep"] {
            call(&session, "grep", json!({"pattern": "token", "path": path}))
                .says("pkg/deep/out/f.txt:1:token");
        }
        glob(&session, "**/*.txt").says("pkg/deep/out/f.txt");
        session
            .run("git add -A && git ls-files | grep -v gitignore")
            .says("keep.gen\npkg/deep/out/f.txt");
    }
    world.finish();
}

#[test]
fn b102_links_are_not_followed_and_cycles_end() {
    let world = World::new();
    world.setup(
        "mkdir -p a/b \"$OUT/ext\"; ln -s . a/self; ln -s ../../a a/b/up; ln -s \"$OUT/ext\" a/out; echo needle > a/b/n.txt; \
         echo needle > \"$OUT/ext/secret.txt\"; ln -s b/n.txt a/flink.txt",
    );
    for (_, session) in both(&world) {
        grep(&session, "needle").says("a/b/n.txt:1:needle");
        glob(&session, "**/*.txt").says("a/b/n.txt");
        let out = world.out().join("ext").display().to_string();
        call(&session, "glob", json!({"pattern": "*", "path": out}))
            .says(&format!("{out}/secret.txt"));
    }
    world.finish();
}

#[test]
fn b104_the_newest_come_first_and_the_cut_is_told() {
    let world = World::new();
    world.setup(
        "for i in $(seq -w 1 250); do touch -d \"@$((1704067200 + 60 * 10#$i))\" \"f$i.txt\"; done\n\
         touch -d '2024-06-01 12:00:00.000000001' z_old.txt; touch -d '2024-06-01 12:00:00.000000002' a_new.txt",
    );
    for (toolset, session) in both(&world) {
        let reply = glob(&session, "*.txt");
        let lines = reply.lines();
        assert_eq!(lines[..4], ["a_new.txt", "z_old.txt", "f250.txt", "f249.txt"]);
        let cut = if toolset == "glrs" { "" } else { " of 252" };
        let cut = format!("[truncated at 200 files{cut}]");
        assert_eq!((lines.len(), &lines[200]), (201, &cut));
        let facts = &reply.result.structured_content;
        assert_eq!((&facts["truncated"], &facts["total"]), (&json!(true), &json!(252)));
        let all = call(&session, "glob", json!({"pattern": "*.txt", "maxResults": 252}));
        assert_eq!((all.lines().len(), all.lines()[251].as_str()), (252, "f001.txt"));
        assert_eq!(
            call(&session, "glob", json!({"pattern": "f00*.txt", "maxResults": 9})).lines().len(),
            9
        );
        glob(&session, "nope*").says("no files");
        for wrong in [json!(0), json!(1001)] {
            fails_in(
                toolset,
                &call(&session, "glob", json!({"pattern": "*", "maxResults": wrong})),
                &format!(
                    "argument `maxResults`: expected a whole number from 1 to 1000, got {wrong}"
                ),
            );
        }
    }
    world.finish();
}

#[test]
fn b105_hidden_and_ignored_files_are_found_when_asked_for() {
    let world = World::new();
    world.setup(
        "git init -q .; git config user.email a@example.test; git config user.name A\n\
         echo TOKEN > README.md; mkdir -p .github/workflows sub; echo TOKEN > .github/workflows/ci.yml; echo TOKEN > .env; \
         echo TOKEN > sub/s.txt\ngit add -f README.md .github sub && git commit -qm b; printf '/*\\n!/*/\\n.env\\n' > .gitignore",
    );
    for (_, session) in both(&world) {
        // As ripgrep: rules win over git's index, and a rule that brings a hidden folder back does so.
        let found = grep(&session, "TOKEN").lines();
        let mut listed = glob(&session, "**/*").lines();
        listed.sort();
        let paths: Vec<String> =
            found.iter().map(|line| line.trim_end_matches(":1:TOKEN").to_owned()).collect();
        assert_eq!(paths, listed, "both tools agree");
        assert!(
            paths.contains(&"sub/s.txt".to_owned()) && !paths.contains(&"README.md".to_owned())
        );
        call(&session, "grep", json!({"pattern": "TOKEN", "includeIgnored": true})).says(
            ".env:1:TOKEN\n.github/workflows/ci.yml:1:TOKEN\nREADME.md:1:TOKEN\nsub/s.txt:1:TOKEN",
        );
        glob(&session, ".github/**/*.yml").says(".github/workflows/ci.yml");
        call(&session, "grep", json!({"pattern": "ref: ", "includeIgnored": true}))
            .says("no matches");
    }
    world.finish();
}

#[test]
fn b056_a_search_does_not_read_output_of_its_own() {
    let world = World::new();
    world.file("a.txt", "needle\n");
    let session = opening(&world).open();
    session.run("grep -rl needle . | sort").says("./a.txt");
    for _ in 0..2 {
        call(&session, "grep", json!({"pattern": "needle", "includeIgnored": true}))
            .says("a.txt:1:needle");
    }
    world.finish();
}

#[test]
fn the_modes_of_a_search_and_its_cuts() {
    let world = World::new();
    world.file("a.txt", "one\ntwo\nthree\nfour\nONE\n");
    world.file("b.txt", &format!("one {}\n", "x".repeat(2500)));
    world.setup("printf 'one\\0\\n' > bin.dat");
    let session = opening(&world).open();
    let grep = |arguments: serde_json::Value| call(&session, "grep", arguments);
    let cut = format!("b.txt:1:one {}… [504 characters omitted]", "x".repeat(1996));
    grep(json!({"pattern": "^one"}))
        .says(&format!("a.txt:1:one\n{cut}\n[1 binary file not searched]"));
    grep(json!({"pattern": "one", "glob": "a.*", "ignoreCase": true, "context": 1}))
        .says("a.txt:1:one\na.txt-2-two\n--\na.txt-4-four\na.txt:5:ONE");
    grep(json!({"pattern": "one", "outputMode": "files", "glob": "*.txt"})).says("a.txt\nb.txt");
    grep(json!({"pattern": "o", "outputMode": "count", "glob": "*.txt"})).says("a.txt:3\nb.txt:1");
    grep(json!({"pattern": "two\\nthree", "multiline": true, "glob": "*.txt"}))
        .says("a.txt:2:two\na.txt:3:three");
    grep(json!({"pattern": "o", "maxResults": 2, "path": "a.txt"}))
        .says("a.txt:1:one\na.txt:2:two\n[truncated at 2 matches]");
    fails(
        &grep(json!({"pattern": "o", "outputMode": "lines"})),
        "argument `outputMode`: expected one of \"content\", \"files\", \"count\", got \"lines\"",
    );
    world.finish();
}

#[test]
fn what_cannot_be_read_is_told_beside_the_matches() {
    // Root may read whatever a file's mode says.
    let is_root = rustix::process::geteuid().is_root();
    let world = World::new();
    world.setup("mkdir shut; echo x > shut/f; echo x > open");
    let shut = world.ws().join("shut");
    std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o000)).unwrap();
    let session = opening(&world).open();
    let (found, listed) = (grep(&session, "x"), glob(&session, "**/*"));
    let mut names = listed.lines();
    names.sort();
    if is_root {
        found.says("open:1:x\nshut/f:1:x");
        assert_eq!(names, ["open", "shut/f"]);
    } else {
        let line = "[cannot read shut: Permission denied (os error 13)]";
        found.says(&format!("open:1:x\n{line}"));
        listed.says(&format!("open\n{line}"));
    }
    std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o700)).unwrap();
    world.finish();
}
