//! Skills: what is listed, what is read, and what is neither lost in silence nor followed.

use brattice_protocol::skill::SkillRead;
use brattice_tests::{Reply, Session, World};
use serde_json::{Value, json};

use crate::{TOOLSETS, call, declares, opening};

/// The tool of a toolset.
fn tool(toolset: &str) -> &'static str {
    match toolset {
        "glrs" => "activate_skill",
        "minimal" => "read_skill",
        _ => "skill",
    }
}

fn with_skills(world: &World, toolset: &str) -> Session {
    opening(world, toolset).with("options", json!({"skills": ["skills"]})).open()
}

fn read(session: &Session, toolset: &str, name: &str) -> Reply {
    call(session, tool(toolset), json!({ "name": name }))
}

/// The lines of the catalogue.
fn catalogue(session: &Session, toolset: &str) -> Vec<String> {
    let listed = session.request("tools.list", json!({})).unwrap();
    let tools = listed["tools"].as_array().unwrap();
    let found = tools.iter().find(|declared| declared["name"] == tool(toolset)).unwrap();
    let description = found["description"].as_str().unwrap();
    let is_entry = |line: &&str| line.starts_with("- ") || line.starts_with(' ');
    description.lines().filter(is_entry).map(str::to_owned).collect()
}

fn facts(reply: &Reply) -> SkillRead {
    serde_json::from_value(reply.result.structured_content.clone()).unwrap()
}

#[test]
fn b114_a_faulty_header_loses_neither_the_skill_nor_its_restrictions() {
    for toolset in TOOLSETS {
        let world = World::new();
        world.setup(
            r"mkdir -p skills/good skills/colon skills/crlf; printf -- '---\nname: good\ndescription: Fine\n---\nbody\n' > skills/good/SKILL.md
printf -- '---\nname: colon\ndescription: Use when needed. Triggers: a, b\nallowed-tools: read\n---\nDo it: now\n' > skills/colon/SKILL.md
printf -- '\xef\xbb\xbf---\r\nname: crlf\r\ndescription: >\r\n  two\r\n  lines\r\n---\r\nbody\r\n' > skills/crlf/SKILL.md
echo 'just text' > skills/flat.md",
        );
        let session = with_skills(&world, toolset);
        let is_flat = toolset != "glrs";
        let mut names = vec!["colon", "crlf", "good"];
        let mut listed = vec![
            ("colon", "Use when needed. Triggers: a, b (its header has a fault)"),
            ("crlf", "two lines"),
            ("good", "Fine"),
        ];
        if is_flat {
            names.insert(2, "flat");
            listed.insert(2, ("flat", "(no description)"));
        }
        let line = |(name, words): (&str, &str)| match toolset {
            "minimal" => format!(" {name} — {words}"),
            _ => format!("- {name}: {words}"),
        };
        let listed: Vec<String> = listed.into_iter().map(line).collect();
        assert_eq!(catalogue(&session, toolset), listed, "{toolset}");
        assert!(world.log().contains("a skill's header has a fault"));

        let colon = read(&session, toolset, "colon");
        colon.holds("Do it: now").holds("allowed-tools: read");
        let told = facts(&colon);
        let folder = world.ws().join("skills/colon").display().to_string();
        assert_eq!(
            (told.folder.as_str(), told.path.as_str()),
            (folder.as_str(), format!("{folder}/SKILL.md").as_str())
        );
        assert_eq!(
            (told.restrictions[0].key.as_str(), told.restrictions[0].value.as_str()),
            ("allowed-tools", "read")
        );
        assert_eq!(told.faults.len(), 1, "{told:?}");
        if toolset != "minimal" {
            colon.holds(&format!(
                "Skill folder: {folder}\n[allowed-tools: read]\n[note: its header is no YAML"
            ));
        }
        read(&session, toolset, "crlf").holds("body");
        if is_flat {
            read(&session, toolset, "flat").holds("just text");
        }
        for name in ["Good", "nope"] {
            let refused = read(&session, toolset, name);
            assert!(refused.is_error());
            let prefix = match toolset {
                "dsh" => "Error: ",
                "glrs" => "ERROR: ",
                _ => "",
            };
            let known = names.join(", ");
            refused.says(&match toolset {
                "minimal" => format!("No skill named \"{name}\". Available skills: {known}"),
                _ => format!("{prefix}unknown skill \"{name}\": expected one of {known}"),
            });
        }
        world.finish();
    }
}

#[test]
fn b115_rules_in_a_body_end_nothing_and_a_cut_is_said() {
    for toolset in TOOLSETS {
        let world = World::new();
        let (ruled, long) = match toolset {
            "glrs" => ("ruled/SKILL.md", "long/SKILL.md"),
            _ => ("ruled.md", "long.md"),
        };
        world.setup(&format!(
            r#"mkdir -p skills/ruled skills/long; printf -- '---\nname: ruled\ndescription: Has rules\n---\npart one\n\n---\n\npart two\n---\nlast: line\n' > skills/{ruled}
python3 -c 'open("skills/{long}","w").write("---\nname: long\ndescription: L\n---\n" + "step\n"*20000 + "FINAL STEP\n")'
python3 -c 'open("skills/longer.md","w").write("step\n"*60000 + "FINAL STEP\n")'"#,
        ));
        let session = with_skills(&world, toolset);
        read(&session, toolset, "ruled").holds("part one\n\n---\n\npart two\n---\nlast: line");
        let told = read(&session, toolset, "long");
        let file = world.ws().join("skills").join(long).display().to_string();
        let lines = told.lines();
        match toolset {
            "glrs" => {
                assert!(lines[lines.len() - 2].starts_with("[truncated, 7"), "{lines:?}");
                assert_eq!(lines.last(), Some(&format!("[full text: {file}]")));
            }
            "minimal" => {
                let cut = &lines[lines.len() - 2];
                assert!(
                    cut.starts_with("[output truncated: 9")
                        && cut.ends_with(" characters omitted]"),
                    "{cut}"
                );
                assert_eq!(lines.last(), Some(&format!("[full text: {file}]")));
            }
            _ => {
                told.holds("\nFINAL STEP");
                let longer = read(&session, toolset, "longer");
                let last = longer.lines().pop().unwrap();
                assert!(
                    last.starts_with("[skill truncated: ") && last.ends_with("/skills/longer.md]"),
                    "{last}"
                );
            }
        }
        world.finish();
    }
}

#[test]
fn roots_are_the_sessions_the_workspaces_and_the_users_and_the_first_claim_counts() {
    let world = World::new();
    world.setup(
        "mkdir -p own .agents/skills .dsh/skills .glrs/skills/deploy $HOME/.agents/skills
        echo of-own > own/one.md
        for name in one two; do echo of-workspace > .agents/skills/$name.md; done
        for name in two three; do echo of-dsh > .dsh/skills/$name.md; done
        echo of-glrs > .glrs/skills/deploy/SKILL.md
        for name in one two three four; do echo of-home > $HOME/.agents/skills/$name.md; done",
    );
    let texts = |toolset: &str, names: &[&str]| -> Vec<String> {
        let opening = opening(&world, toolset).with("options", json!({"skills": ["own"]}));
        let session = opening.open();
        names.iter().map(|name| read(&session, toolset, name).lines().pop().unwrap()).collect()
    };
    let names = ["one", "two", "three", "four"];
    assert_eq!(texts("standard", &names), ["of-own", "of-workspace", "of-home", "of-home"]);
    assert_eq!(texts("dsh", &names), ["of-own", "of-dsh", "of-dsh", "of-home"]);
    assert_eq!(texts("glrs", &["deploy"]), ["of-glrs"]);
    let unknown = "No skill named \"two\". Available skills: one";
    assert_eq!(texts("minimal", &["one", "../x/one", "two"]), ["of-own", "of-own", unknown]);
    world.finish();
}

#[test]
fn a_workspace_leads_nobody_out_and_holds_nobody_up() {
    let world = World::new();
    world.setup(
        "mkdir -p $OUT/secret .agents/skills/fine; echo secret > $OUT/secret/SKILL.md; echo secret > $OUT/flat.md
        echo fine > .agents/skills/fine/SKILL.md
        ln -s $OUT/secret .agents/skills/folder; ln -s $OUT/flat.md .agents/skills/flat.md
        mkfifo .agents/skills/fifo.md; truncate -s 5G .agents/skills/huge.md",
    );
    let session = opening(&world, "standard").open();
    assert_eq!(catalogue(&session, "standard"), ["- fine: (no description)"]);
    for (name, why) in [
        ("folder", "it leads out of its folder of skills"),
        ("flat", "it leads out of its folder of skills"),
        ("fifo", "it is no regular file"),
        ("huge", "it is 5368709120 bytes long, and a skill may have 1048576"),
    ] {
        let refused = read(&session, "standard", name);
        assert!(refused.is_error());
        refused.holds(why).lacks("secret\n");
        assert!(world.log().contains(why), "{why}");
    }
    for name in ["../../secret", "fine/../../secret", "..", "/etc/passwd"] {
        read(&session, "standard", name).holds("expected one of fine");
    }
    world.setup(
        "rm -r .agents && ln -s $OUT .agents && mkdir $OUT/skills && echo out > $OUT/skills/x.md",
    );
    assert!(!declares(&session, "skill"));
    world.finish();
}

#[test]
fn the_tool_comes_and_goes_with_the_skills_and_is_counted() {
    let world = World::new();
    let session = opening(&world, "standard").open();
    assert!(!declares(&session, "skill"));
    read(&session, "standard", "x").is_refused().says("unknown skill \"x\": there are none");
    world.setup("mkdir -p .agents/skills; echo text > .agents/skills/x.md");
    assert!(declares(&session, "skill"));
    let told = read(&session, "standard", "x");
    told.holds("text");
    let editor = &told.result.meta["dev.brattice/acp"];
    let path = world.ws().join(".agents/skills/x.md");
    assert_eq!((&editor["kind"], &editor["locations"][0]["path"]), (&json!("read"), &json!(path)));
    let counters = session.request("session.turn", json!({})).unwrap();
    assert_eq!(counters, json!({"counters": {"commands": 0, "file_ops": 0, "skills": 2}}));
    let disabled =
        opening(&world, "standard").with("options", json!({"disable": ["skill"]})).open();
    assert!(!declares(&disabled, "skill"));
    read(&disabled, "standard", "x").is_refused().holds("unknown tool `skill`");
    world.finish();
}

#[test]
fn configured_folders_of_skills_are_roots_of_every_session() {
    let builder = World::builder();
    let more = builder.root().join("more");
    std::fs::create_dir(&more).unwrap();
    std::fs::write(more.join("team.md"), "---\ndescription: Ours\n---\nbody\n").unwrap();
    let text = format!("[tools]\nskills = [{:?}]\n", more.display().to_string());
    let world = builder.configured(&text).start();
    let session = opening(&world, "minimal").open();
    assert_eq!(catalogue(&session, "minimal"), [" team — Ours"]);
    read(&session, "minimal", "team").says("---\ndescription: Ours\n---\nbody");
    world.finish();
}

#[test]
fn what_is_hidden_from_commands_is_no_skill() {
    let builder = World::builder();
    let hidden = builder.root().join("hidden");
    std::fs::create_dir(&hidden).unwrap();
    std::fs::write(hidden.join("x.md"), "secret").unwrap();
    let text = format!("[session]\ndeny_read = [{:?}]\n", hidden.display().to_string());
    let world = builder.configured(&text).start();
    let options: Value = json!({"skills": [hidden]});
    let session = opening(&world, "standard").with("options", options).open();
    assert!(!declares(&session, "skill"));
    read(&session, "standard", "x").is_refused().lacks("secret");
    world.finish();
}
